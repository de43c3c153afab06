//! Handles commands.

use super::{Runner, Scratch};
use crate::engine::comparison::ComparisonRun;
use crate::engine::mirror::shown::Shown;
use crate::engine::mirror::signal::Watch;
use crate::engine::pacing::{Meter, TimeBudget};
use crate::engine::spectra::Spectra;
use crate::engine::{Change, Command, Engine, EngineError};
use crate::scene::Scenario;
use crate::solver::{Backend, FieldImage};
use std::sync::Arc;

impl Runner {
    pub(super) fn handle(&mut self, command: Command) {
        // Views come often and change nothing but the picture.
        if let Command::View(request) = command {
            if self.request.as_ref() != Some(&request) {
                self.request = Some(request);
                self.drawn = false;
                self.stale = true;
            }
            return;
        }
        if let Command::Volume(request) = command {
            if self.volume_request != request {
                self.volume_request = request;
                if request.is_none() {
                    self.forget_volume();
                }
                self.drawn = false;
                self.stale = true;
            }
            return;
        }
        if let Command::StateMeasures(wanted) = command {
            self.state.want(wanted);
            self.stale |= !self.is_stepping();
            return;
        }
        tracing::debug!(?command, "command");
        self.stale = true;
        match command {
            Command::Load(scenario) => self.load(scenario),
            Command::Update(scenario) => self.update(scenario),
            Command::Play => {
                self.playing = true;
                self.start_frame();
            }
            Command::Pause => {
                self.playing = false;
                self.by_hand = 0;
                self.left_in_frame = 0;
            }
            Command::Step(steps) => {
                self.playing = false;
                self.left_in_frame = 0;
                self.by_hand = self.by_hand.saturating_add(steps);
            }
            Command::Reset => self.reset(),
            Command::Snapshot => self.with_engine(|engine| engine.snapshot().map(|()| None)),
            Command::Restore => {
                self.rests = false;
                self.with_engine(|engine| engine.restore().map(|()| None));
                self.with_companion(ComparisonRun::adopt);
            }
            Command::Reverse => {
                self.rests = false;
                self.with_engine(|engine| engine.reverse().map(|()| None));
                self.with_companion(|companion, _| companion.reverse());
            }
            Command::Compare(scenario) => self.compare(scenario),
            Command::BackToTurn => {
                self.rests = false;
                self.with_engine(|engine| engine.back_to_turn().map(|()| None));
                self.with_companion(ComparisonRun::adopt);
            }
            Command::StepsPerFrame(steps) => {
                self.steps_per_frame = steps.map(|steps| steps.max(1));
                self.left_in_frame = 0;
            }
            Command::Rest(rests) => self.to_rest = rests,
            Command::Run(job) => {
                if let Some(engine) = &mut self.engine {
                    let done = job.run(engine);
                    // It may have changed the state.
                    self.drawn = false;
                    self.say_unless_empty(done.is_err(), done.unwrap_or_else(|text| text));
                }
            }
            Command::EachPicture(job) => self.each = job.map(|job| (job, None)),
            Command::Quit => self.quit = true,
            Command::View(_) | Command::Volume(_) | Command::StateMeasures(_) => {}
        }
    }

    /// Begins another run: plots start again, questions are asked again.
    pub(super) fn begin_run(&mut self) {
        self.run += 1;
        self.asked.clear();
        self.question = None;
        self.rests = false;
        self.rested_at = None;
    }

    fn load(&mut self, scenario: Arc<Scenario>) {
        self.begin_run();
        self.scenario = Some(Arc::clone(&scenario));
        // The old ones are dropped first: both might not fit into memory.
        self.companion = None;
        self.each = None;
        self.engine = None;
        self.report = None;
        self.failure = None;
        self.by_hand = 0;
        self.request = None;
        self.forget_volume();
        // The picture of the previous scene must not be shown under the name of this one.
        self.good = FieldImage::default();
        self.image_serial += 1;
        self.publish();
        match Engine::new(scenario) {
            Ok(mut engine) => {
                engine.set_watch(self.watch());
                self.engine = Some(engine);
                self.changed();
                self.fresh = true;
            }
            Err(error) => self.fail(error.to_string()),
        }
    }

    /// Shows the progress of a long task within a step, and cancels it if a command waits.
    fn watch(&self) -> Box<Watch> {
        let (watched, wake) = (Arc::clone(&self.watched), Arc::clone(&self.wake));
        Box::new(move |task, done| {
            wake();
            watched.note(task, done)
        })
    }

    fn update(&mut self, scenario: Arc<Scenario>) {
        let Some(before) = self.engine.as_ref().map(|engine| Arc::clone(engine.scenario())) else {
            self.load(scenario);
            return;
        };
        if before.grid() != scenario.grid() {
            // A large field takes a while to be made: the window says so.
            self.is_building = true;
            self.publish();
            self.is_building = false;
        }
        let Some(engine) = &mut self.engine else { return };
        match engine.update(Arc::clone(&scenario)) {
            Ok(change) => {
                self.failure = None;
                self.scenario = Some(Arc::clone(&scenario));
                if change == Change::Restarted {
                    self.begin_run();
                    // It is asked for again with the scene that it belongs to.
                    self.companion = None;
                }
                if change == Change::Restarted
                    && (before.grid() != scenario.grid() || before.model().equation() != scenario.model().equation())
                {
                    self.request = None;
                    self.forget_volume();
                }
                if change == Change::Kept {
                    self.drawn = false;
                } else {
                    self.changed();
                }
            }
            Err(error) => {
                let went_on = engine.failure().is_none();
                let text = error.to_string();
                if went_on {
                    self.say(true, text);
                } else {
                    self.fail(text);
                }
            }
        }
    }

    /// Another grid: the window asks again.
    pub(super) fn forget_volume(&mut self) {
        self.volume_request = None;
        self.volume = None;
        self.volumes.clear();
        self.scratch = Scratch::default();
    }

    fn reset(&mut self) {
        match (&mut self.engine, &self.scenario) {
            (Some(engine), _) => match engine.reset() {
                Ok(()) => {
                    self.begin_run();
                    self.failure = None;
                    self.changed();
                    self.with_companion(ComparisonRun::reset);
                }
                Err(error) => self.fail(error.to_string()),
            },
            (None, Some(scenario)) => self.load(Arc::clone(scenario)),
            (None, None) => {}
        }
    }

    /// A second run along with the first; an existing one continues if only the medium was edited.
    fn compare(&mut self, scenario: Option<Arc<Scenario>>) {
        self.drawn = false;
        self.pacing.forget();
        let kept = self.companion.take();
        let (Some(engine), Some(scenario)) = (&mut self.engine, scenario) else {
            return;
        };
        if let Some(mut companion) = kept.filter(|companion| companion.goes_on(&scenario)) {
            let done = companion.update(scenario);
            self.companion = Some(companion);
            self.with_companion(|_, _| done);
            return;
        }
        match ComparisonRun::new(engine, scenario) {
            Ok(companion) => self.companion = Some(companion),
            Err(error) => self.say(true, format!("the other run cannot start: {error}")),
        }
    }

    /// An action of the second run with the first; if it fails the second run ends.
    pub(super) fn with_companion(
        &mut self,
        act: impl FnOnce(&mut ComparisonRun, &mut Engine) -> Result<(), EngineError>,
    ) {
        let (Some(companion), Some(engine)) = (&mut self.companion, &mut self.engine) else {
            return;
        };
        if let Err(error) = act(companion, engine) {
            self.companion = None;
            self.say(true, format!("the other run has stopped: {error}"));
        }
    }

    /// An action that may change the state; its text becomes a notice.
    fn with_engine(&mut self, act: impl FnOnce(&mut Engine) -> Result<Option<String>, EngineError>) {
        let Some(engine) = &mut self.engine else { return };
        match act(engine) {
            Ok(text) => {
                self.drawn = false;
                if engine.failure().is_none() {
                    self.failure = None;
                }
                if let Some(text) = text {
                    self.say(false, text);
                }
            }
            Err(error) => self.say(true, error.to_string()),
        }
    }

    /// After a solver was built or edited: its report and its times are measured again.
    fn changed(&mut self) {
        self.report = self.engine.as_ref().map(|engine| Arc::new(engine.report()));
        if let Some(note) = self.report.as_ref().and_then(|report| report.note.clone()) {
            self.say(true, note);
        }
        self.pacing.forget();
        self.beside = false;
        self.rate = Meter::default();
        self.drawn = false;
        self.stale = true;
        self.left_in_frame = 0;
        self.spectra = Spectra::default();
        self.state.forget();
        self.mirror = Shown::default();
        // They stop the flow of batches to a device.
        let device = self
            .report
            .as_ref()
            .is_some_and(|report| report.backend != Backend::Cpu);
        self.observables = TimeBudget::new(10.0, if device { 0.02 } else { 0.05 });
        self.start_frame();
    }
}

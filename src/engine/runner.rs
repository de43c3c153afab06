//! The worker's side of the channel: hears commands, steps in pieces, shows frames.

use super::companion::Companion;
use super::expectations;
use super::frame::Notice;
use super::mirror::shown::Shown;
use super::pacing::{FRAME, Meter, Pacing, Ration};
use super::spectra::Spectra;
use super::{Change, Command, Engine, EngineError, Frame, Job, Status};
use crate::physics::Equation;
use crate::scene::Scenario;
use crate::solver::volume::Scratch;
use crate::solver::{Backend, Clock, FieldImage, FieldVolume, ImageRequest, Report, VolumeRequest};
use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// Most texels of a picture before the window asked for a view.
const FIRST_VIEW: [usize; 2] = [1024, 1024];

/// Records a detector keeps in a window that may stay open for days: 8 MiB each.
const MOST_RECORDS: usize = 1 << 20;

/// The state of the worker's thread.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each with its meaning")]
pub(super) struct Runner {
    commands: Receiver<Command>,
    frames: triple_buffer::Input<Frame>,
    wake: Box<dyn Fn() + Send>,
    start: Instant,

    scenario: Option<Arc<Scenario>>,
    /// None while there is no scene, or after its solver was lost in a panic.
    engine: Option<Engine>,
    report: Option<Arc<Report>>,
    /// The second run, where one was asked for.
    companion: Option<Companion>,
    /// Which expectations' questions were asked in this run, and the one that the run waits at.
    asked: Vec<bool>,
    question: Option<usize>,
    /// What is done with every state that is shown, and the step at which it was done last.
    each: Option<(Job, Option<u64>)>,
    playing: bool,
    /// Steps by hand still to take.
    by_hand: u64,
    /// Steps of the present frame still to take, where their number is fixed.
    left_in_frame: u64,
    steps_per_frame: Option<u64>,
    /// Until when the present frame lasts.
    deadline: Instant,
    request: Option<ImageRequest>,
    volume_request: Option<VolumeRequest>,
    failure: Option<Arc<str>>,
    notice: Option<Notice>,
    quit: bool,

    /// A scene was loaded: it is shown before its first step.
    fresh: bool,
    /// Something changed that the window has not seen.
    stale: bool,
    /// The last good picture, and the one being drawn.
    good: FieldImage,
    drawing: FieldImage,
    /// The last good volume, and those that frames may still hold; whichever only this list holds is drawn into next.
    volume: Option<Arc<FieldVolume>>,
    volumes: Vec<Arc<FieldVolume>>,
    scratch: Scratch,
    /// Whether `good` shows the present state.
    drawn: bool,
    /// The clock and the steps of a picture that the solver draws while it goes on.
    begun: Option<(Clock, u64)>,
    /// When the batch before this one was over, while pictures are drawn beside stepping.
    batch_end: Option<Instant>,
    /// Whether the solver draws while it goes on; when it may begin the next picture.
    beside: bool,
    next_picture: Instant,
    serial: u64,
    run: u64,
    image_serial: u64,
    steps_shown: u64,
    steps_in_frame: u64,

    pacing: Pacing,
    rate: Meter,
    pictures: Meter,
    last_picture: Instant,
    observables: Ration,
    spectra: Spectra,
    mirror: Shown,
}

impl Runner {
    pub(super) fn new(
        commands: Receiver<Command>,
        frames: triple_buffer::Input<Frame>,
        wake: Box<dyn Fn() + Send>,
    ) -> Self {
        let now = Instant::now();
        Self {
            commands,
            frames,
            wake,
            start: now,
            scenario: None,
            engine: None,
            report: None,
            companion: None,
            each: None,
            asked: Vec::new(),
            question: None,
            playing: false,
            by_hand: 0,
            left_in_frame: 0,
            steps_per_frame: None,
            deadline: now,
            request: None,
            volume_request: None,
            failure: None,
            notice: None,
            quit: false,
            fresh: false,
            stale: false,
            good: FieldImage::default(),
            drawing: FieldImage::default(),
            volume: None,
            volumes: Vec::new(),
            scratch: Scratch::default(),
            drawn: false,
            begun: None,
            batch_end: None,
            beside: false,
            next_picture: now,
            serial: 0,
            run: 0,
            image_serial: 0,
            steps_shown: 0,
            steps_in_frame: 0,
            pacing: Pacing::default(),
            rate: Meter::default(),
            pictures: Meter::default(),
            last_picture: now,
            observables: Ration::new(10.0, 0.05),
            spectra: Spectra::default(),
            mirror: Shown::default(),
        }
    }

    /// Until [`Command::Quit`] or the window is gone. A panic below ends the run, not the thread.
    pub(super) fn run(mut self) {
        while !self.quit {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.turn())) {
                // What was being changed is in an unknown state; the scene is not.
                let engine = self.engine.take();
                let _ = catch_unwind(AssertUnwindSafe(|| drop(engine)));
                self.fail(format!(
                    "the solver stopped with an internal error: {}; reset, or choose another variant of the method",
                    panic_text(panic.as_ref())
                ));
                self.publish();
            }
        }
    }

    /// Hears what there is to hear, takes a batch, shows a frame.
    fn turn(&mut self) {
        self.hear();
        if self.quit {
            return;
        }
        if self.is_stepping()
            && !self.fresh
            && let Err(error) = self.step()
        {
            self.fail(error.to_string());
        }
        if self.stale || !self.is_stepping() {
            // Whatever is shown next is the state as it then is.
            self.begun = None;
            self.batch_end = None;
        }
        // Asked before the next frame is handed over, so that the one after it is begun in the same turn.
        let consumed = self.frames.consumed();
        if let Some((clock, steps)) = self.begun.take() {
            self.take(clock, steps);
        }
        let whole_frame = self.left_in_frame == 0;
        let wanted = self.stale || (self.is_stepping() && whole_frame && consumed);
        // Batches of such a solver are shorter than a frame, and a picture costs all steps that it takes the place of: no more of them than are shown.
        let early = self.beside && !self.stale && Instant::now() < self.next_picture;
        if wanted && !early && (self.stale || !self.drawn) && !self.begin() {
            self.refresh_observables();
            self.draw();
            self.publish();
        }
        self.fresh = false;
    }

    /// Has the solver draw the present state while it takes the next batch, where it can; the frame follows after that batch.
    fn begin(&mut self) -> bool {
        // A volume is drawn at once, and its plane with it.
        if self.stale
            || !self.is_stepping()
            || self.volume_request.is_some()
            || self.companion.is_some()
            || self.each.is_some()
        {
            return false;
        }
        let (Some(engine), Some(request)) = (&mut self.engine, &self.request) else {
            return false;
        };
        // What cannot be begun is drawn at once, and says there what is wrong.
        self.beside = fits(request, engine.scenario()) && engine.begin_image(request).unwrap_or(false);
        if !self.beside {
            return false;
        }
        // A turn that came late does not make the next picture late as well.
        self.next_picture =
            (self.next_picture + FRAME).max(Instant::now().checked_sub(FRAME).unwrap_or(self.next_picture));
        self.begun = Some((engine.clock(), std::mem::take(&mut self.steps_in_frame)));
        self.drawn = true;
        true
    }

    /// The picture that was begun before the last batch.
    fn take(&mut self, clock: Clock, steps: u64) {
        let Some(engine) = &mut self.engine else { return };
        let begin = Instant::now();
        match engine.take_image(&mut self.drawing) {
            Ok(true) => {
                self.pacing.drawn(begin.elapsed());
                self.show_drawing(steps);
                if let Some(engine) = &self.engine {
                    self.mirror.note(engine);
                }
                self.publish_at(Some(clock));
            }
            Ok(false) => {}
            Err(error) => self.fail(error.to_string()),
        }
    }

    /// What was drawn becomes what is shown.
    fn show_drawing(&mut self, steps: u64) {
        std::mem::swap(&mut self.good, &mut self.drawing);
        self.image_serial += 1;
        self.steps_shown = steps;
        self.pictures.add(1.0, self.last_picture.elapsed());
        self.last_picture = Instant::now();
    }

    fn is_stepping(&self) -> bool {
        self.failure.is_none() && self.engine.is_some() && (self.playing || self.by_hand > 0)
    }

    /// Takes every command that waits. Without anything to do it waits for one; with a fixed number of steps per frame it
    /// waits until the frame is over.
    fn hear(&mut self) {
        loop {
            let waiting =
                self.is_stepping() && self.by_hand == 0 && self.left_in_frame == 0 && self.steps_per_frame.is_some();
            let next = if self.stale {
                self.commands.try_recv().map_err(|e| e == TryRecvError::Disconnected)
            } else if !self.is_stepping() {
                self.commands.recv().map_err(|_| true)
            } else if waiting {
                self.commands
                    .recv_deadline(self.deadline)
                    .map_err(|e| e == RecvTimeoutError::Disconnected)
            } else {
                self.commands.try_recv().map_err(|e| e == TryRecvError::Disconnected)
            };
            match next {
                Ok(command) => {
                    // A step by hand is taken before what was asked for after it.
                    let step = matches!(command, Command::Step(_));
                    self.obey(command);
                    if step {
                        return;
                    }
                }
                Err(disconnected) => {
                    self.quit |= disconnected;
                    return;
                }
            }
            if self.quit {
                return;
            }
        }
    }

    fn obey(&mut self, command: Command) {
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
                self.with_engine(|engine| engine.restore().map(|()| None));
                self.with_companion(Companion::adopt);
            }
            Command::Reverse => {
                self.with_engine(|engine| engine.reverse().map(|()| None));
                self.with_companion(|companion, _| companion.reverse());
            }
            Command::Compare(scenario) => self.compare(scenario),
            Command::BackToTurn => {
                self.with_engine(|engine| engine.back_to_turn().map(|()| None));
                self.with_companion(Companion::adopt);
            }
            Command::StepsPerFrame(steps) => {
                self.steps_per_frame = steps.map(|steps| steps.max(1));
                self.left_in_frame = 0;
            }
            Command::SaveCheckpoint(path) => self.with_engine(|engine| {
                engine.save_checkpoint(&path)?;
                Ok(Some(format!("checkpoint written to {}", path.display())))
            }),
            Command::Run(job) => {
                if let Some(engine) = &mut self.engine {
                    let done = job.run(engine);
                    self.say(done.is_err(), done.unwrap_or_else(|text| text));
                }
            }
            Command::EachPicture(job) => self.each = job.map(|job| (job, None)),
            Command::Quit => self.quit = true,
            Command::View(_) | Command::Volume(_) => {}
        }
    }

    /// Another run: plots begin anew, questions are asked again.
    fn begin_run(&mut self) {
        self.run += 1;
        self.asked.clear();
        self.question = None;
    }

    /// Waits at a question of the scene that is due; otherwise the most steps to the next one.
    fn at_question(&mut self) -> Option<u64> {
        let engine = self.engine.as_ref().filter(|_| self.by_hand == 0)?;
        let expectations = engine.scenario().expectations();
        let (steps, place) = expectations::next_question(expectations, &self.asked, &engine.clock())?;
        if steps > 0 {
            return Some(steps);
        }
        self.asked.resize(expectations.len(), false);
        self.asked[place] = true;
        self.question = Some(place);
        self.playing = false;
        self.left_in_frame = 0;
        self.stale = true;
        Some(0)
    }

    fn load(&mut self, scenario: Arc<Scenario>) {
        self.begin_run();
        self.scenario = Some(Arc::clone(&scenario));
        // The old ones go first: both might not fit into memory.
        self.companion = None;
        self.each = None;
        self.engine = None;
        self.report = None;
        self.failure = None;
        self.by_hand = 0;
        self.request = None;
        self.forget_volume();
        self.publish();
        match Engine::new(scenario) {
            Ok(engine) => {
                self.engine = Some(engine);
                self.changed();
                self.fresh = true;
            }
            Err(error) => self.fail(error.to_string()),
        }
    }

    fn update(&mut self, scenario: Arc<Scenario>) {
        let Some(engine) = &mut self.engine else {
            self.load(scenario);
            return;
        };
        let before = Arc::clone(engine.scenario());
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

    /// Another grid: the window asks anew.
    fn forget_volume(&mut self) {
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
                    self.with_companion(Companion::reset);
                }
                Err(error) => self.fail(error.to_string()),
            },
            (None, Some(scenario)) => self.load(Arc::clone(scenario)),
            (None, None) => {}
        }
    }

    /// A second run beside the first; one that is there goes on where only the medium was edited.
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
        let sound = scenario.model().equation() == Equation::Acoustic;
        if sound && scenario.solver().method != engine.scenario().solver().method && engine.clock().steps > 0 {
            self.say(
                false,
                "Two methods keep the motion of sound in different ways: both runs start at t = 0".to_owned(),
            );
            self.reset();
        }
        let Some(engine) = &mut self.engine else { return };
        match Companion::new(engine, scenario) {
            Ok(companion) => self.companion = Some(companion),
            Err(error) => self.say(true, format!("the other run cannot start: {error}")),
        }
    }

    /// Something that the second run does with the first; where it fails the second run ends.
    fn with_companion(&mut self, act: impl FnOnce(&mut Companion, &mut Engine) -> Result<(), EngineError>) {
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

    /// A solver that was built or edited: what it is, and what it costs, are to be found out again.
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
        self.mirror = Shown::default();
        // They stop the flow of batches to a device.
        let device = self
            .report
            .as_ref()
            .is_some_and(|report| report.backend != Backend::Cpu);
        self.observables = Ration::new(10.0, if device { 0.02 } else { 0.05 });
        self.start_frame();
    }

    fn start_frame(&mut self) {
        self.deadline = Instant::now() + FRAME;
    }

    /// One batch.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    fn step(&mut self) -> Result<(), EngineError> {
        let most = self.at_question();
        if most == Some(0) {
            return Ok(());
        }
        self.question = None;
        let Some(engine) = &mut self.engine else { return Ok(()) };
        let steps = if self.by_hand > 0 {
            self.by_hand.min(self.pacing.steps_per_frame())
        } else if let Some(fixed) = self.steps_per_frame {
            if self.left_in_frame == 0 {
                self.left_in_frame = fixed;
                // The next frame starts where this one ends, unless that is long past.
                self.deadline = (self.deadline + FRAME).max(Instant::now());
            }
            self.left_in_frame.min(self.pacing.steps_per_piece())
        } else {
            let batch = self.report.as_ref().map_or(1, |report| report.batch.max(1));
            let steps = self.pacing.steps_per_frame();
            whole_batches(if self.beside { steps.div_ceil(2) } else { steps }, batch)
        };
        let steps = most.map_or(steps, |most| steps.min(most));
        // While a picture is drawn beside it, a batch returns when the one before it is done: what counts is from end to end.
        let begin = self.batch_end.take().unwrap_or_else(Instant::now);
        engine.advance(steps)?;
        let followed = match &mut self.companion {
            Some(companion) => companion.follow(&engine.clock()),
            None => Ok(()),
        };
        engine.limit_records(MOST_RECORDS);
        let took = begin.elapsed();
        if self.begun.is_some() && self.steps_per_frame.is_none() {
            self.batch_end = Some(Instant::now());
        }
        self.pacing.stepped(steps, took);
        self.rate
            .add(steps as f64 * engine.scenario().grid().sites() as f64, took);
        self.drawn = false;
        self.steps_in_frame += steps;
        if self.by_hand > 0 {
            self.by_hand -= steps;
            self.stale |= self.by_hand == 0;
        } else {
            self.left_in_frame = self.left_in_frame.saturating_sub(steps);
        }
        let now = self.start.elapsed();
        if self.observables.allows(now) {
            let begin = Instant::now();
            engine.observables()?;
            self.observables.spent(self.start.elapsed(), begin.elapsed());
        }
        self.spectra.take(engine, now, false);
        self.with_companion(|companion, engine| {
            followed?;
            companion.compare(engine, now, false)
        });
        Ok(())
    }

    /// While the run waits, the numbers are those of the state shown.
    fn refresh_observables(&mut self) {
        if self.is_stepping() || self.failure.is_some() {
            return;
        }
        if let Some(engine) = self.engine.as_mut().filter(|engine| !engine.observables_are_current())
            && let Err(error) = engine.observables()
        {
            self.fail(error.to_string());
        }
        if let Some(engine) = &self.engine {
            self.spectra.take(engine, self.start.elapsed(), true);
        }
        let now = self.start.elapsed();
        self.with_companion(|companion, engine| companion.compare(engine, now, true));
    }

    /// Draws the present state, if it was not drawn yet.
    fn draw(&mut self) {
        let Some(engine) = &mut self.engine else { return };
        if self.drawn || self.failure.is_some() {
            return;
        }
        let scenario = engine.scenario();
        // A view of a grid that was there before must not reach a solver on a smaller one.
        let request = match &mut self.request {
            Some(request) if fits(request, scenario) => request,
            request => request.insert(whole_view(scenario)),
        };
        let begin = Instant::now();
        let done = engine.image(request, &mut self.drawing);
        let sites = engine.scenario().grid().size();
        let done = match self.volume_request.filter(|request| request.sites == sites) {
            Some(request) if done.is_ok() => draw_volume(engine, &request, (&mut self.volumes, &mut self.scratch))
                .map(|volume| self.volume = Some(volume)),
            _ => done,
        };
        let asked = request.clone();
        match done {
            Ok(()) => {
                self.with_companion(|companion, _| companion.draw(&asked));
                self.do_each();
                self.drawn = true;
                self.pacing.drawn(begin.elapsed());
                let steps = std::mem::take(&mut self.steps_in_frame);
                self.show_drawing(steps);
                self.see_mirror();
            }
            // A view that the method cannot draw is no reason to stop.
            Err(error) if engine.failure().is_none() => {
                self.drawn = true;
                self.say(true, error.to_string());
            }
            Err(error) => self.fail(error.to_string()),
        }
    }

    /// What there is to show of a mirror, beside the picture just drawn.
    fn see_mirror(&mut self) {
        let waits = !self.is_stepping();
        if let Some(engine) = &mut self.engine {
            self.mirror.see(engine, &self.good, self.start.elapsed(), waits);
        }
    }

    /// Does what is to be done with every state that is shown.
    fn do_each(&mut self) {
        let (Some(engine), Some((job, last))) = (&mut self.engine, &mut self.each) else {
            return;
        };
        let step = engine.clock().steps;
        if last.replace(step) == Some(step) {
            return;
        }
        if let Err(text) = job.run(engine) {
            self.each = None;
            self.say(true, text);
        }
    }

    /// Hands a frame of the present state to the window.
    fn publish(&mut self) {
        self.publish_at(None);
    }

    /// Hands a frame to the window, with the clock of its picture where that is an earlier one.
    fn publish_at(&mut self, clock: Option<Clock>) {
        self.serial += 1;
        self.stale = false;
        let frame = self.frames.input_buffer_mut();
        frame.serial = self.serial;
        frame.run = self.run;
        frame.scenario.clone_from(&self.scenario);
        frame.status = match (&self.failure, &self.engine) {
            (Some(reason), _) => Status::Failed(Arc::clone(reason)),
            (None, None) => Status::Starting,
            (None, Some(_)) if self.playing || self.by_hand > 0 => Status::Running,
            (None, Some(_)) => Status::Paused,
        };
        frame.report.clone_from(&self.report);
        if frame.image_serial != self.image_serial {
            frame.image.copy_from(&self.good);
            frame.image_serial = self.image_serial;
            frame.volume.clone_from(&self.volume);
        }
        frame.question = self.question;
        frame.compared = self.companion.as_ref().map(Companion::shown);
        frame.rate = self.rate.rate();
        frame.frames_per_second = self.pictures.rate();
        frame.steps_per_frame = self.steps_shown;
        frame.notice.clone_from(&self.notice);
        frame.detectors.clear();
        frame.spectra = self.spectra.latest();
        frame.verdicts.clear();
        frame.mirror = self.mirror.latest();
        if let Some(engine) = &self.engine {
            frame.clock = clock.unwrap_or_else(|| engine.clock());
            frame.observables = Some(engine.latest_observables());
            frame.drift = engine.drift();
            frame.has_snapshot = engine.has_snapshot();
            let detectors = 0..engine.taps().taps().len();
            frame
                .detectors
                .extend(detectors.filter_map(|place| engine.taps().values(place).last()));
            frame.verdicts.extend_from_slice(engine.verdicts());
        } else {
            frame.observables = None;
            frame.has_snapshot = false;
        }
        self.frames.publish();
        (self.wake)();
    }

    fn fail(&mut self, reason: String) {
        tracing::error!("{reason}");
        self.failure = Some(reason.into());
        self.playing = false;
        self.by_hand = 0;
        self.left_in_frame = 0;
        self.stale = true;
    }

    fn say(&mut self, is_error: bool, text: String) {
        let serial = self.notice.as_ref().map_or(0, |notice| notice.serial) + 1;
        self.notice = Some(Notice {
            serial,
            is_error,
            text: text.into(),
        });
        self.stale = true;
    }
}

/// Draws a volume into memory that no frame holds any more; a few volumes take turns.
fn draw_volume(
    engine: &mut Engine,
    request: &VolumeRequest,
    (volumes, scratch): (&mut Vec<Arc<FieldVolume>>, &mut Scratch),
) -> Result<Arc<FieldVolume>, EngineError> {
    let free = volumes.iter().position(|volume| Arc::strong_count(volume) == 1);
    let mut volume = free.map_or_else(Arc::default, |place| volumes.swap_remove(place));
    // Nobody else holds it.
    if let Some(volume) = Arc::get_mut(&mut volume) {
        std::mem::swap(&mut volume.scratch, scratch);
        let done = engine.volume(request, volume);
        std::mem::swap(&mut volume.scratch, scratch);
        done?;
    }
    volumes.push(Arc::clone(&volume));
    Ok(volume)
}

/// The most steps up to `steps` that are whole batches; `steps` where there is none.
fn whole_batches(steps: u64, batch: u64) -> u64 {
    if steps < batch { steps } else { steps - steps % batch }
}

/// The whole plane through the middle, before the window asked for anything.
fn whole_view(scenario: &Scenario) -> ImageRequest {
    let [nx, ny, nz] = scenario.grid().size();
    ImageRequest {
        quantity: scenario.view().quantity,
        x: 0..nx,
        y: 0..ny,
        z: nz / 2,
        max_size: FIRST_VIEW,
    }
}

/// Whether a view lies on the grid.
fn fits(request: &ImageRequest, scenario: &Scenario) -> bool {
    let [nx, ny, nz] = scenario.grid().size();
    !request.x.is_empty() && request.x.end <= nx && !request.y.is_empty() && request.y.end <= ny && request.z < nz
}

/// What a panic said.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown")
}

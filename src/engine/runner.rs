//! The worker's side of the channel: receives commands, steps in pieces, shows frames.

mod handle;
mod show;

use super::comparison::ComparisonRun;
use super::expectations;
use super::frame::Notice;
use super::mirror::shown::Shown;
use super::pacing::{FRAME, Meter, Pacing, TimeBudget};
use super::records::RecordBatches;
use super::spectra::Spectra;
use super::state_watch::StateWatch;
use super::task::Watched;
use super::trajectories::ShownPath;
use super::{Command, End, Engine, EngineError, Frame, Job};
use crate::platform::Instant;
use crate::scene::Scenario;
use crate::solver::volume::Scratch;
use crate::solver::{Clock, FieldImage, FieldVolume, ImageRequest, Report, VolumeRequest};
use crate::space::FlowMap;
use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Records a detector keeps in a window that may stay open for days: 8 MiB each.
const MOST_RECORDS: usize = 1 << 20;

/// Tells the window that there is a new frame.
pub(super) type Wake = dyn Fn() + Send + Sync;

/// The state of a worker, on its thread or without one.
pub(super) struct Runner {
    commands: Receiver<Command>,
    /// Those that were received and not handled yet.
    waiting: VecDeque<Command>,
    frames: triple_buffer::Input<Frame>,
    wake: Arc<Wake>,
    watched: Arc<Watched>,
    start: Instant,

    scenario: Option<Arc<Scenario>>,
    /// None while there is no scene, or after its solver was lost in a panic.
    engine: Option<Engine>,
    report: Option<Arc<Report>>,
    /// The second run, if one was requested.
    companion: Option<ComparisonRun>,
    /// Which expectations' questions were asked in this run, and the one that the run waits at.
    asked: Vec<bool>,
    question: Option<usize>,
    /// Whether the run is to pause at the end of its lesson, whether it pauses there, and the step at which it did so last.
    to_rest: bool,
    rests: bool,
    rested_at: Option<u64>,
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
    /// Whether it may wait for commands and for the end of a frame; without its own thread it must not.
    waits: bool,

    /// A scene was loaded: it is shown before its first step.
    fresh: bool,
    /// A run is being made in the place of one that is still shown.
    is_building: bool,
    /// Something changed since the last frame.
    stale: bool,
    /// The last good picture, and the one being drawn.
    good: FieldImage,
    drawing: FieldImage,
    /// The last good volume, and those that frames may still hold; whichever only this list holds is drawn into next.
    volume: Option<Arc<FieldVolume>>,
    volumes: Vec<Arc<FieldVolume>>,
    /// What is drawn over the last good picture.
    flow: Option<Arc<FlowMap>>,
    paths: Arc<[ShownPath]>,
    scratch: Scratch,
    /// Whether `good` shows the present state.
    drawn: bool,
    /// The clock and the steps of a picture that the solver draws while it continues stepping.
    begun: Option<(Clock, u64)>,
    /// When the previous batch ended, while pictures are drawn during stepping.
    batch_end: Option<Instant>,
    /// Whether the solver draws while it continues stepping; when it may begin the next picture.
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
    observables: TimeBudget,
    spectra: Spectra,
    /// What detectors recorded between pictures.
    records: RecordBatches,
    state: StateWatch,
    mirror: Shown,
}

impl Runner {
    pub(super) fn new(end: End) -> Self {
        let End {
            commands,
            frames,
            wake,
            watched,
        } = end;
        let now = Instant::now();
        Self {
            commands,
            waiting: VecDeque::new(),
            frames,
            wake,
            watched,
            start: now,
            scenario: None,
            engine: None,
            report: None,
            companion: None,
            each: None,
            asked: Vec::new(),
            question: None,
            to_rest: false,
            rests: false,
            rested_at: None,
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
            waits: true,
            fresh: false,
            is_building: false,
            stale: false,
            good: FieldImage::default(),
            drawing: FieldImage::default(),
            volume: None,
            volumes: Vec::new(),
            flow: None,
            paths: Arc::default(),
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
            observables: TimeBudget::new(10.0, 0.05),
            spectra: Spectra::default(),
            records: RecordBatches::default(),
            state: StateWatch::default(),
            mirror: Shown::default(),
        }
    }

    /// For an owner without a second thread, which calls [`Runner::run_for`] with slices of its own time.
    pub(super) fn without_thread(mut self, slice: Duration) -> Self {
        self.waits = false;
        self.pacing = Pacing::within(slice);
        self
    }

    /// Runs until [`Command::Quit`] or until the window is gone.
    pub(super) fn run(mut self) {
        while !self.quit {
            self.guarded_turn();
        }
    }

    /// Works until a frame is shown, `slice` is over or there is nothing to do; returns whether there is more to do. A step that takes longer is finished.
    pub(super) fn run_for(&mut self, slice: Duration) -> bool {
        let (begin, shown) = (Instant::now(), self.serial);
        loop {
            self.guarded_turn();
            let over = self.serial != shown || begin.elapsed() >= slice || !self.is_stepping() || self.is_early();
            if over || self.quit {
                return self.is_stepping() || self.stale;
            }
        }
    }

    /// A panic inside ends the run, not the worker.
    fn guarded_turn(&mut self) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.turn())) {
            // What was being changed is in an unknown state; the scene is intact.
            let engine = self.engine.take();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(engine)));
            self.fail(format!(
                "the solver stopped with an internal error: {}; reset, or choose another variant of the method",
                panic_text(panic.as_ref())
            ));
            self.publish();
        }
    }

    /// Handles commands, takes a batch, shows a frame.
    fn turn(&mut self) {
        self.hear();
        if self.quit {
            return;
        }
        if self.is_stepping()
            && !self.fresh
            && !self.is_early()
            && let Err(error) = self.step_and_ask()
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

    fn is_stepping(&self) -> bool {
        self.failure.is_none() && self.engine.is_some() && (self.playing || self.by_hand > 0)
    }

    /// Whether all steps of a frame of a fixed number were taken, and it lasts until its time is over.
    fn is_frame_done(&self) -> bool {
        self.is_stepping() && self.by_hand == 0 && self.left_in_frame == 0 && self.steps_per_frame.is_some()
    }

    /// Whether there is nothing to do before the present frame is over, where that is not waited for, or before a film's encoder has taken its pictures. The owner's own frames come as often: one that is a little
    /// early counts.
    fn is_early(&self) -> bool {
        let film = self.each.as_ref().is_some_and(|(job, _)| job.waits());
        film || (!self.waits && self.is_frame_done() && Instant::now() + FRAME / 2 < self.deadline)
    }

    /// Receives every command that was sent. Of edited scenes in a row, as a stroke of the brush sends them, only the last is kept: an edit may take longer than the window takes to send the next one.
    fn receive(&mut self) {
        while let Ok(command) = self.commands.try_recv() {
            let replaced = command.join(&mut self.waiting);
            if replaced.is_some_and(|command| !command.is_setting()) {
                self.watched.heard();
            }
        }
    }

    /// Takes every command that waits. Without anything to do it waits for one; with a fixed number of steps per frame it
    /// waits until the frame is over.
    fn hear(&mut self) {
        loop {
            self.receive();
            let next = if let Some(command) = self.waiting.pop_front() {
                Ok(command)
            } else if self.stale || !self.waits {
                self.commands.try_recv().map_err(|e| e == TryRecvError::Disconnected)
            } else if !self.is_stepping() {
                self.commands.recv().map_err(|_| true)
            } else if self.is_frame_done() {
                let rest = self.deadline.saturating_duration_since(Instant::now());
                self.commands
                    .recv_timeout(rest)
                    .map_err(|e| e == RecvTimeoutError::Disconnected)
            } else {
                self.commands.try_recv().map_err(|e| e == TryRecvError::Disconnected)
            };
            match next {
                Ok(command) => {
                    // A step by hand is taken before what was asked for after it.
                    let step = matches!(command, Command::Step(_));
                    if !command.is_setting() {
                        self.watched.heard();
                    }
                    self.handle(command);
                    self.watched.clear();
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

    /// Waits at a question of the scene if it is due; otherwise returns the number of steps up to the next one.
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

    /// Pauses at the end of the lesson; otherwise returns the number of steps up to it.
    fn at_rest(&mut self) -> Option<u64> {
        let engine = self.engine.as_ref().filter(|_| self.to_rest && self.by_hand == 0)?;
        let steps = engine.steps_to_rest()?;
        if steps > 0 {
            self.rested_at = None;
            return Some(steps);
        }
        let Clock {
            steps: here, time_step, ..
        } = engine.clock();
        // What begins backwards is at the start already.
        if (here == 0 && time_step > 0.0) || self.rested_at == Some(here) {
            return None;
        }
        self.rested_at = Some(here);
        self.rests = true;
        self.playing = false;
        self.left_in_frame = 0;
        self.stale = true;
        Some(0)
    }

    fn start_frame(&mut self) {
        self.deadline = Instant::now() + FRAME;
    }

    /// One batch. Single steps are not stopped by a question, but end at one that they have reached or passed; otherwise it would never be asked.
    fn step_and_ask(&mut self) -> Result<(), EngineError> {
        let by_hand = self.by_hand > 0;
        let before = self.engine.as_ref().filter(|_| by_hand).map(Engine::clock);
        self.step()?;
        let (Some(before), Some(engine)) = (before, &self.engine) else {
            return Ok(());
        };
        let expectations = engine.scenario().expectations();
        let taken = engine.clock().steps.abs_diff(before.steps);
        let next = expectations::next_question(expectations, &self.asked, &before);
        if let Some((_, place)) = next.filter(|(ahead, _)| taken > 0 && *ahead <= taken) {
            self.asked.resize(expectations.len(), false);
            self.asked[place] = true;
            self.question = Some(place);
            self.by_hand = 0;
            self.stale = true;
        }
        Ok(())
    }

    /// One batch.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    fn step(&mut self) -> Result<(), EngineError> {
        let mut most = self.at_question();
        if most != Some(0) {
            most = match (most, self.at_rest()) {
                (Some(question), Some(rest)) => Some(question.min(rest)),
                (question, rest) => question.or(rest),
            };
        }
        if most == Some(0) {
            return Ok(());
        }
        self.question = None;
        self.rests = false;
        let fused = self.report.as_ref().map_or(1, |report| report.batch.max(1));
        let Some(engine) = &mut self.engine else { return Ok(()) };
        let steps = if self.by_hand > 0 {
            self.by_hand.min(self.pacing.steps_per_frame())
        } else if let Some(fixed) = self.steps_per_frame {
            if self.left_in_frame == 0 {
                self.left_in_frame = fixed;
                // The next frame starts where this one ends, unless that is long past.
                self.deadline = (self.deadline + FRAME).max(Instant::now());
            }
            let steps = self.left_in_frame.min(self.pacing.steps_per_piece());
            self.pacing.whole_batches(steps, fused).min(self.left_in_frame)
        } else {
            let steps = self.pacing.steps_per_frame();
            let steps = if self.beside { steps.div_ceil(2) } else { steps };
            self.pacing.whole_batches(steps, fused)
        };
        let steps = most.map_or(steps, |most| steps.min(most));
        // While a picture is drawn beside it, a batch returns when the one before it is done: what counts is from end to end.
        let begin = self.batch_end.take().unwrap_or_else(|| {
            settle(self.report.as_deref().filter(|_| self.pacing.is_late()));
            Instant::now()
        });
        let advanced = engine.advance(steps);
        self.watched.clear();
        if let Err(EngineError::Cancelled(_)) = advanced {
            // The run is before its reversal; the command that cancelled the task is handled next.
            self.playing = false;
            self.by_hand = 0;
            self.left_in_frame = 0;
            self.drawn = false;
            self.stale = true;
            return Ok(());
        }
        advanced?;
        let followed = match &mut self.companion {
            Some(companion) => companion.follow(&engine.clock()),
            None => Ok(()),
        };
        engine.limit_records(MOST_RECORDS);
        let took = begin.elapsed();
        if self.begun.is_some() && self.steps_per_frame.is_none() {
            self.batch_end = Some(Instant::now());
        }
        self.pacing.stepped(steps, fused, took);
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
        self.state.take(engine, now, false)?;
        self.with_companion(|companion, engine| {
            followed?;
            companion.compare(engine, now, false)
        });
        Ok(())
    }

    fn fail(&mut self, reason: String) {
        tracing::error!("{reason}");
        self.failure = Some(reason.into());
        self.playing = false;
        self.by_hand = 0;
        self.left_in_frame = 0;
        self.stale = true;
    }

    /// Some work is reported elsewhere.
    fn say_unless_empty(&mut self, is_error: bool, text: String) {
        if !text.is_empty() {
            self.say(is_error, text);
        }
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

/// In a page the adapter that steps draws the window as well, and steps wait for that. Where it takes longer than steps it is waited for before these are timed: they would seem to take
/// as long, and one would be taken a frame.
fn settle(report: Option<&Report>) {
    #[cfg(all(feature = "gui", target_family = "wasm"))]
    if report.is_some_and(|report| report.backend == crate::solver::Backend::Wgpu) {
        crate::backend::wgpu::settle();
    }
    let _ = report;
}

/// The message of a panic.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown")
}

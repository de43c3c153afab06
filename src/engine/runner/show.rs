//! Pictures and frames of a run.

use super::{Runner, Scratch};
use crate::engine::comparison::ComparisonRun;
use crate::engine::pacing::FRAME;
use crate::engine::{Engine, EngineError, Status};
use crate::platform::Instant;
use crate::scene::Scenario;
use crate::scene::scenario::Flow;
use crate::solver::{Clock, FieldVolume, ImageRequest, VolumeRequest};
use std::sync::Arc;

/// The largest number of texels of a picture before the window has requested a view.
const FIRST_VIEW: [usize; 2] = [1024, 1024];

impl Runner {
    /// Makes the solver draw the present state while it takes the next batch, if it can; the frame follows after that batch.
    pub(super) fn begin(&mut self) -> bool {
        // A volume is drawn at once, and its plane with it.
        if self.stale
            || !self.is_stepping()
            || self.volume_request.is_some()
            || self.companion.is_some()
            || self.each.is_some()
            || self.scenario.as_ref().is_some_and(|scenario| draws_beside(scenario))
        {
            return false;
        }
        let (Some(engine), Some(request)) = (&mut self.engine, &self.request) else {
            return false;
        };
        // What cannot be begun is drawn at once, which reports the error.
        self.beside = fits(request, engine.scenario()) && engine.begin_image(request).unwrap_or(false);
        if !self.beside {
            return false;
        }
        // A late turn must not delay the next picture as well.
        self.next_picture =
            (self.next_picture + FRAME).max(Instant::now().checked_sub(FRAME).unwrap_or(self.next_picture));
        self.begun = Some((engine.clock(), std::mem::take(&mut self.steps_in_frame)));
        self.drawn = true;
        true
    }

    /// The picture that was begun before the last batch.
    pub(super) fn take(&mut self, clock: Clock, steps: u64) {
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

    /// Shows the picture that was drawn.
    fn show_drawing(&mut self, steps: u64) {
        std::mem::swap(&mut self.good, &mut self.drawing);
        self.image_serial += 1;
        self.steps_shown = steps;
        self.pictures.add(1.0, self.last_picture.elapsed());
        self.last_picture = Instant::now();
    }

    /// While the run waits, the numbers are those of the state shown.
    pub(super) fn refresh_observables(&mut self) {
        if self.is_stepping() || self.failure.is_some() {
            return;
        }
        if let Some(engine) = self.engine.as_mut().filter(|engine| !engine.observables_are_current())
            && let Err(error) = engine.observables()
        {
            self.fail(error.to_string());
        }
        if let Some(engine) = &mut self.engine {
            let now = self.start.elapsed();
            self.spectra.take(engine, now, true);
            if let Err(error) = self.state.take(engine, now, true) {
                self.fail(error.to_string());
            }
        }
        let now = self.start.elapsed();
        self.with_companion(|companion, engine| companion.compare(engine, now, true));
    }

    /// Draws the present state, if it was not drawn yet.
    pub(super) fn draw(&mut self) {
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
        let done = done.and_then(|()| {
            self.flow = engine.flow()?.map(Arc::new);
            self.paths = engine.paths().shown(PATH_POINTS).into();
            Ok(())
        });
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

    /// The part of a frame that shows a mirror.
    fn see_mirror(&mut self) {
        let waits = !self.is_stepping();
        if let Some(engine) = &mut self.engine {
            self.mirror.see(engine, &self.good, self.start.elapsed(), waits);
        }
    }

    /// Does the work for every state that is shown.
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
            self.say_unless_empty(true, text);
        }
    }

    /// Hands a frame of the present state to the window.
    pub(super) fn publish(&mut self) {
        self.publish_at(None);
    }

    /// Hands a frame to the window, with the clock of its picture if that is an earlier one.
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
            (None, Some(_)) if self.is_building => Status::Starting,
            (None, Some(_)) if self.playing || self.by_hand > 0 => Status::Running,
            (None, Some(_)) => Status::Paused,
        };
        frame.report.clone_from(&self.report);
        if frame.image_serial != self.image_serial {
            frame.image.copy_from(&self.good);
            frame.image_serial = self.image_serial;
            frame.volume.clone_from(&self.volume);
            frame.flow.clone_from(&self.flow);
            frame.paths = Arc::clone(&self.paths);
        }
        frame.question = self.question;
        frame.rests = self.rests;
        frame.compared = self.companion.as_ref().map(ComparisonRun::shown);
        frame.rate = self.rate.rate();
        frame.frames_per_second = self.pictures.rate();
        frame.steps_per_frame = self.steps_shown;
        frame.notice.clone_from(&self.notice);
        frame.detectors.clear();
        frame.records.clear();
        frame.spectra = self.spectra.latest();
        frame.state = self.state.latest();
        frame.verdicts.clear();
        frame.mirror = self.mirror.latest();
        if let Some(engine) = &self.engine {
            frame.clock = clock.unwrap_or_else(|| engine.clock());
            frame.observables = Some(engine.latest_observables());
            frame.drift = engine.drift();
            frame.has_snapshot = engine.has_snapshot();
            // Plots begin with the first step.
            let count = if frame.clock.steps > 0 {
                engine.taps().taps().len()
            } else {
                0
            };
            let detectors = 0..count;
            frame
                .detectors
                .extend(detectors.filter_map(|place| engine.taps().latest(place)));
            if count > 0 {
                let step = engine.clock().steps;
                let batches = self.records.take(engine.taps(), (self.run, step));
                frame.records.extend_from_slice(batches);
            }
            frame.verdicts.extend_from_slice(engine.verdicts());
        } else {
            frame.clock = Clock::default();
            frame.observables = None;
            frame.has_snapshot = false;
        }
        self.frames.publish();
        (self.wake)();
    }
}

/// Draws a volume into memory that no frame holds; a few volumes take turns.
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

/// The whole plane through the middle, before the window has requested anything.
fn whole_view(scenario: &Scenario) -> ImageRequest {
    let [nx, ny, nz] = scenario.grid().size();
    ImageRequest::new(scenario.view().quantity, [0..nx, 0..ny], nz / 2, FIRST_VIEW)
}

/// Points of each trajectory in a frame.
const PATH_POINTS: usize = 1024;

/// Whether something of the field is drawn over its picture, which has to be of the same state.
fn draws_beside(scenario: &Scenario) -> bool {
    scenario.view().flow != Flow::None || !scenario.trajectories().is_empty()
}

/// Whether a view lies on the grid.
fn fits(request: &ImageRequest, scenario: &Scenario) -> bool {
    let [nx, ny, nz] = scenario.grid().size();
    !request.x.is_empty() && request.x.end <= nx && !request.y.is_empty() && request.y.end <= ny && request.z < nz
}

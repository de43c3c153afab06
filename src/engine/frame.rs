//! Frames: what the worker shows of a run.

use super::trajectories::ShownPath;
use super::{Compared, MirrorFrame, Records, Verdict};
use crate::physics::{Observables, Spectrum, StateMeasures};
use crate::scene::Scenario;
use crate::solver::{Clock, FieldImage, FieldVolume, Report};
use crate::space::FlowMap;
use std::sync::Arc;

/// The state of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Status {
    /// No scene yet, or building the solver.
    #[default]
    Starting,
    /// Stepping.
    Running,
    /// Paused.
    Paused,
    /// Stopped with a reason and what to change; the last good state stays shown.
    Failed(Arc<str>),
}

/// A message that the user sees once.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Counts notices of one worker, so that a repeated text is shown again.
    pub serial: u64,
    /// Whether something went wrong.
    pub is_error: bool,
    /// One or more sentences.
    pub text: Arc<str>,
}

/// One state of the run, ready to draw; the window takes the latest and skips others.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Counts frames of one worker.
    pub serial: u64,
    /// Counts the runs of one worker: another scene, a reset, or an edit that starts again is the next one.
    pub run: u64,
    /// The scene that runs.
    pub scenario: Option<Arc<Scenario>>,
    /// Its state.
    pub status: Status,
    /// Its clock.
    pub clock: Clock,
    /// What runs.
    pub report: Option<Arc<Report>>,
    /// The picture.
    pub image: FieldImage,
    /// The volume, if one was requested; shared, not copied.
    pub volume: Option<Arc<FieldVolume>>,
    /// The flow in the plane, if the scene's view shows it; of the picture's state.
    pub flow: Option<Arc<FlowMap>>,
    /// Bohm's trajectories up to the picture's state, lengths; in the order of the scene.
    pub paths: Arc<[ShownPath]>,
    /// Counts pictures: the same number, the same picture.
    pub image_serial: u64,
    /// Whole-field sums, with the steps they were taken at (they are taken less often than pictures on large grids).
    pub observables: Option<(u64, Observables)>,
    /// Site-steps per second of stepping, over the last second.
    pub rate: f64,
    /// Steps of the last batch, i.e. between this picture and the one before.
    pub steps_per_frame: u64,
    /// Pictures per second over the last second.
    pub frames_per_second: f64,
    /// Norm over initial norm − 1 (energy for acoustic scenes).
    pub drift: f64,
    /// Latest value of each detector; empty before the first step.
    pub detectors: Vec<f64>,
    /// The records of the detectors up to this frame and of some frames before, in batches, so that a window which
    /// misses frames does not miss records.
    pub records: Vec<Arc<Records>>,
    /// The spectrum of each detector's record, at most twice per second; `None` for one that is too short.
    pub spectra: Arc<[Option<Spectrum>]>,
    /// Observables of ψ that need its phases, with step and time, if they were requested.
    pub state: Option<(u64, f64, StateMeasures)>,
    /// One verdict per expectation of the scene.
    pub verdicts: Vec<Verdict>,
    /// The place on the timeline of a mirror, if the scene has one.
    pub mirror: Option<Arc<MirrorFrame>>,
    /// The prediction whose question the run waits at; the next step continues from there.
    pub question: Option<usize>,
    /// Whether the run pauses at the end of its lesson; playing continues from there.
    pub rests: bool,
    /// A second run along with this one, if one was requested.
    pub compared: Option<Arc<Compared>>,
    /// Whether there is a snapshot.
    pub has_snapshot: bool,
    /// The last notice (checkpoint written, fell back to the CPU, …).
    pub notice: Option<Notice>,
}

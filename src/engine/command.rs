//! Commands for a running engine.

use super::Engine;
use crate::scene::Scenario;
use crate::solver::{ImageRequest, VolumeRequest};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Work that needs the engine, done on its thread between two batches, e.g. writing the field to a file in a format that the engine does
/// not know.
pub trait Work: Any + Send + Sync {
    /// Does the work. The text becomes the frame's notice, whether it succeeded (`Ok`) or failed (`Err`).
    ///
    /// # Errors
    /// What is wrong, and what to do.
    fn run(&self, engine: &mut Engine) -> Result<String, String>;

    /// Whether earlier results have not been taken yet: then the run waits.
    fn waits(&self) -> bool {
        false
    }
}

impl<F: Fn(&mut Engine) -> Result<String, String> + Send + Sync + 'static> Work for F {
    fn run(&self, engine: &mut Engine) -> Result<String, String> {
        self(engine)
    }
}

/// Work that is shared.
#[derive(Clone)]
pub struct Job {
    work: Arc<dyn Work>,
}

impl Job {
    /// A job of this process.
    pub fn new(work: impl Fn(&mut Engine) -> Result<String, String> + Send + Sync + 'static) -> Self {
        Self::of(work)
    }

    /// A job of a known type.
    pub fn of(work: impl Work) -> Self {
        Self { work: Arc::new(work) }
    }

    /// The work, if it is of this type: what can be sent to an engine on another machine is recognised by its type.
    pub fn of_kind<W: Work>(&self) -> Option<Arc<W>> {
        let work: Arc<dyn Any + Send + Sync> = Arc::<dyn Work>::clone(&self.work);
        work.downcast().ok()
    }

    /// Does it.
    pub(super) fn run(&self, engine: &mut Engine) -> Result<String, String> {
        self.work.run(engine)
    }

    /// Whether the run waits for its results.
    pub(super) fn waits(&self) -> bool {
        self.work.waits()
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}

/// Commands of the window for the worker. Commands travel through one bounded channel.
#[derive(Clone, Debug)]
pub enum Command {
    /// Starts another scene at t = 0; it runs or pauses like the one before.
    Load(Arc<Scenario>),
    /// The scene was edited. What can be changed live is (Δt, layers, constants, method, variant, precision: the state
    /// goes on); another grid, equation or initial state starts again.
    Update(Arc<Scenario>),
    /// Runs.
    Play,
    /// Stops after the current batch.
    Pause,
    /// Takes this many steps, then pauses.
    Step(u64),
    /// Back to t = 0.
    Reset,
    /// Takes a snapshot of the present state.
    Snapshot,
    /// Back to the snapshot.
    Restore,
    /// Reverses time: at the scene's mirror, or Δt → −Δt if there is none.
    Reverse,
    /// Returns to the moment of reversal, to repeat the way back.
    BackToTurn,
    /// Steps per shown frame; `None` = as many as fit into a frame.
    StepsPerFrame(Option<u64>),
    /// Whether a run pauses at the end of its lesson: with a mirror where the way back was as long as the way out, otherwise at the scene's end. Playing again continues from there.
    Rest(bool),
    /// What the frames show.
    View(ImageRequest),
    /// The volume that the frames carry in addition to the picture; `None` = no volume.
    Volume(Option<VolumeRequest>),
    /// Whether the frames contain the measures of ψ, which need a pass over the whole field.
    StateMeasures(bool),
    /// A second run of this scene, from the state of the present run and in step with it; `None` ends it. The grid, the equation and the
    /// initial state are those of the present scene, and Δt is a whole part of the present one.
    Compare(Option<Arc<Scenario>>),
    /// Work that needs the engine, e.g. an export of the field.
    Run(Job),
    /// Work to be done with every state that is shown while the run plays, e.g. a picture of a film: stepping waits for
    /// it. It ends with `None`, with the first failure, or with another scene.
    EachPicture(Option<Job>),
    /// Ends the thread.
    Quit,
}

impl Command {
    /// Whether it only affects the next frames.
    pub fn is_setting(&self) -> bool {
        matches!(
            self,
            Self::View(_) | Self::Volume(_) | Self::StepsPerFrame(_) | Self::Rest(_) | Self::StateMeasures(_)
        )
    }

    /// Joins commands that wait, in the place of one of the same kind with nothing in between that it affects, which is returned.
    pub(super) fn join(self, waiting: &mut VecDeque<Self>) -> Option<Self> {
        // Back over settings, which act on nothing but the next frame, to one that this command replaces.
        let mut replaced = None;
        for place in (0..waiting.len()).rev() {
            if waiting[place].is_replaced_by(&self) {
                replaced = waiting.remove(place);
                break;
            }
            if !waiting[place].is_setting() {
                break;
            }
        }
        waiting.push_back(self);
        replaced
    }

    /// Whether a later command of the same kind supersedes this one, with nothing in between that it affects.
    fn is_replaced_by(&self, later: &Self) -> bool {
        matches!(
            (self, later),
            (Self::View(_), Self::View(_))
                | (Self::Volume(_), Self::Volume(_))
                | (Self::StepsPerFrame(_), Self::StepsPerFrame(_))
                | (Self::Rest(_), Self::Rest(_))
                | (Self::StateMeasures(_), Self::StateMeasures(_))
                | (Self::Update(_), Self::Update(_) | Self::Load(_))
                | (Self::Load(_), Self::Load(_))
                | (Self::Compare(_), Self::Compare(_))
        )
    }
}

//! The engine on its own thread, or in slices of its owner's time where there are no threads: commands in, the latest frame out.

use super::runner::Runner;
use super::task::{Task, Watched};
use super::{Command, Frame, Link};
use crate::platform::{Instant, THREADS};
use crate::scene::Scenario;
use crossbeam_channel::{Receiver, Sender, TrySendError};
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Commands that may be under way.
const CAPACITY: usize = 64;

/// How long a [`Worker`] that ends waits for the step in progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// A running engine for the window. No call waits for the solver.
pub struct Worker {
    commands: Option<Sender<Command>>,
    /// Commands that do not fit into the channel yet.
    pending: VecDeque<Command>,
    frames: triple_buffer::Output<Frame>,
    watched: Arc<Watched>,
    place: Place,
    /// Wakes the other end when there is a command or room for a frame, if it also waits for other events.
    nudge: Option<Arc<dyn Fn() + Send + Sync>>,
    link: Option<Link>,
}

/// The other end of a worker: its owner receives the commands and sends the frames.
pub struct End {
    /// Commands.
    pub commands: Receiver<Command>,
    /// Frames.
    pub frames: triple_buffer::Input<Frame>,
    /// To be called after each frame.
    pub wake: Arc<dyn Fn() + Send + Sync>,
    /// Progress of a long task.
    pub watched: Arc<Watched>,
}

/// Where the work is done.
enum Place {
    /// On a thread of its own.
    Thread(Option<JoinHandle<()>>),
    /// In [`Worker::work`].
    Here(Box<Runner>),
}

/// The part of a window frame of 1/60 s that a worker without a thread takes: the rest is for the window and for drawing it.
const SLICE: Duration = Duration::from_millis(10);

impl Worker {
    /// Starts the thread, paused, with a scene or waiting for one. `wake` is called on that thread after each frame.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn spawn(scenario: Option<Arc<Scenario>>, wake: impl Fn() + Send + Sync + 'static) -> std::io::Result<Self> {
        let (mut worker, runner) = Self::new(wake);
        let thread = std::thread::Builder::new().name("ripplon-worker".to_owned());
        worker.place = Place::Thread(Some(thread.spawn(move || runner.run())?));
        Ok(worker.with(scenario))
    }

    /// The same without a thread: everything is done in [`Worker::work`], which the owner calls again and again.
    #[must_use]
    pub fn here(scenario: Option<Arc<Scenario>>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (mut worker, runner) = Self::new(wake);
        worker.place = Place::Here(Box::new(runner.without_thread(SLICE)));
        worker.with(scenario)
    }

    /// On a thread, if the system has threads.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn start(scenario: Option<Arc<Scenario>>, wake: impl Fn() + Send + Sync + 'static) -> std::io::Result<Self> {
        if THREADS {
            Self::spawn(scenario, wake)
        } else {
            Ok(Self::here(scenario, wake))
        }
    }

    /// A worker that does not work yet.
    fn new(wake: impl Fn() + Send + Sync + 'static) -> (Self, Runner) {
        let (worker, end) = Self::with_end(wake);
        (worker, Runner::new(end))
    }

    fn with_end(wake: impl Fn() + Send + Sync + 'static) -> (Self, End) {
        let (sender, commands) = crossbeam_channel::bounded(CAPACITY);
        let (input, frames) = triple_buffer::triple_buffer(&Frame::default());
        let watched = Arc::new(Watched::default());
        let end = End {
            commands,
            frames: input,
            wake: Arc::new(wake),
            watched: Arc::clone(&watched),
        };
        let worker = Self {
            commands: Some(sender),
            pending: VecDeque::new(),
            frames,
            watched,
            place: Place::Thread(None),
            nudge: None,
            link: None,
        };
        (worker, end)
    }

    /// A worker whose engine is on another machine: `work` runs on a thread until the commands end, and is told by `nudge` that there is one or that a
    /// frame was taken.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn over(
        link: Link,
        wake: impl Fn() + Send + Sync + 'static,
        nudge: impl Fn() + Send + Sync + 'static,
        work: impl FnOnce(End) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (mut worker, end) = Self::with_end(wake);
        let thread = std::thread::Builder::new().name("ripplon-link".to_owned());
        worker.place = Place::Thread(Some(thread.spawn(move || work(end))?));
        worker.nudge = Some(Arc::new(nudge));
        worker.link = Some(link);
        Ok(worker)
    }

    fn with(mut self, scenario: Option<Arc<Scenario>>) -> Self {
        if let Some(scenario) = scenario {
            self.send(Command::Load(scenario));
        }
        self
    }

    /// Without a thread: works for a part of a frame, and returns whether there is more to do. With one: does nothing.
    pub fn work(&mut self) -> bool {
        self.flush();
        match &mut self.place {
            Place::Thread(_) => false,
            Place::Here(runner) => runner.run_for(SLICE),
        }
    }

    /// Sends a command, in order. Never blocks: what the worker cannot take yet is queued; of several views, edited
    /// scenes or speeds in a row, only the last is kept. A long task within a step ([`Worker::task`]) is cancelled by all commands except settings.
    pub fn send(&mut self, command: Command) {
        command.join(&mut self.pending);
        self.flush();
    }

    /// The latest frame, without waiting or copying.
    pub fn frame(&mut self) -> &Frame {
        self.flush();
        let is_new = self.frames.update();
        if let Some(nudge) = self.nudge.as_ref().filter(|_| is_new) {
            nudge();
        }
        self.frames.output_buffer()
    }

    /// Whether [`Worker::frame`] would return a newer one.
    pub fn has_new_frame(&self) -> bool {
        self.frames.updated()
    }

    /// The frame that [`Worker::frame`] returned last.
    pub fn last_frame(&self) -> &Frame {
        self.frames.output_buffer()
    }

    /// The long task within the present step, where there is one.
    pub fn task(&self) -> Option<Task> {
        self.watched.task()
    }

    /// The link to the engine, if that is on another machine.
    pub fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    /// Whether commands are still waiting for a place in the channel; [`Worker::frame`] tries again.
    pub fn is_backed_up(&self) -> bool {
        !self.pending.is_empty()
    }

    fn flush(&mut self) {
        let Some(commands) = &self.commands else { return };
        let mut is_sent = false;
        while let Some(command) = self.pending.pop_front() {
            let setting = command.is_setting();
            match commands.try_send(command) {
                Ok(()) => {
                    is_sent = true;
                    if !setting {
                        self.watched.sent();
                    }
                }
                Err(TrySendError::Full(command)) => {
                    self.pending.push_front(command);
                    break;
                }
                Err(TrySendError::Disconnected(_)) => self.pending.clear(),
            }
        }
        if let Some(nudge) = self.nudge.as_ref().filter(|_| is_sent) {
            nudge();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.pending.clear();
        self.watched.sent();
        if let Some(commands) = self.commands.take() {
            // Should the channel be full, closing it ends the thread just as well.
            let _ = commands.try_send(Command::Quit);
        }
        if let Some(nudge) = &self.nudge {
            nudge();
        }
        let Place::Thread(thread) = &mut self.place else { return };
        let Some(thread) = thread.take() else { return };
        let start = Instant::now();
        while !thread.is_finished() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        // A step that takes longer must not keep the window open: the thread ends after it by itself.
        if thread.is_finished() && thread.join().is_err() {
            tracing::error!("the worker's thread ended in a panic");
        }
    }
}

//! What a window asks for, as commands to the worker, and what is made for it.

use super::{Memory, Workshop};
use crate::engine::{Command, Engine, Job, Work, Worker};
use crate::export::errand::{Maker, Product};
use crate::remote::frame::SceneId;
use crate::remote::wire::Order;
use crate::scene::Scenario;
use crate::solver::{ImageRequest, VolumeRequest};
use crossbeam_channel::Sender;
use polling::Poller;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Texels of a volume along its longest axis.
const MOST_TEXELS: usize = 256;

/// Texels of a picture along either axis.
const MOST_PIXELS: usize = 8192;

/// What came of work that a window asked for: its number, and the file and what there is to tell.
pub(super) struct Made {
    pub(super) window: u64,
    pub(super) job: u64,
    pub(super) result: Result<(Option<PathBuf>, String), String>,
}

impl Made {
    /// Nobody wants it any more.
    pub(super) fn discard(self) {
        if let Ok((Some(path), _)) = self.result {
            // What cannot be removed is in a folder that is.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// How a window sees the field.
#[derive(Default)]
pub(super) struct Look {
    request: Option<ImageRequest>,
    volume: Option<VolumeRequest>,
}

impl Look {
    /// Has pictures drawn with a part of the texels along each axis.
    pub(super) fn ask(&self, shrink: usize, worker: &mut Worker) {
        if let Some(request) = &self.request {
            worker.send(Command::View(ImageRequest {
                max_size: request
                    .max_size
                    .map(|most| most.min(MOST_PIXELS).div_ceil(shrink).max(1)),
                ..request.clone()
            }));
        }
        if let Some(request) = self.volume {
            worker.send(Command::Volume(Some(VolumeRequest {
                most: request.most.min(MOST_TEXELS).div_ceil(shrink).max(1),
                ..request
            })));
        }
    }
}

/// Does what a window asks for, whose pictures have a part of their texels now.
///
/// # Errors
/// Why not, in words for people.
pub(super) fn obey(
    order: Order,
    shrink: usize,
    worker: &mut Worker,
    memory: &mut Memory,
    workshop: &Workshop,
) -> Result<(), String> {
    let window = memory.window;
    let command = match order {
        Order::Load(id) => Command::Load(memory.scene(id)?),
        Order::Update(id) => Command::Update(memory.scene(id)?),
        Order::Compare(Some(id)) => Command::Compare(Some(memory.scene(id)?)),
        Order::Compare(None) => Command::Compare(None),
        Order::Play => Command::Play,
        Order::Pause => Command::Pause,
        Order::Step(steps) => Command::Step(steps),
        Order::Reset => Command::Reset,
        Order::Snapshot => Command::Snapshot,
        Order::Restore => Command::Restore,
        Order::Reverse => Command::Reverse,
        Order::BackToTurn => Command::BackToTurn,
        Order::StepsPerFrame(steps) => Command::StepsPerFrame(steps),
        Order::Rest(rests) => Command::Rest(rests),
        Order::StateMeasures(wanted) => Command::StateMeasures(wanted),
        Order::View(request) => {
            memory.look.request = Some(request);
            memory.look.ask(shrink, worker);
            return Ok(());
        }
        Order::Volume(None) => {
            memory.look.volume = None;
            Command::Volume(None)
        }
        Order::Volume(request) => {
            memory.look.volume = request;
            memory.look.ask(shrink, worker);
            return Ok(());
        }
        Order::Make(job, product) => Command::Run(workshop.job(window, job, product, &workshop.made.0)),
        Order::MakeEach(job) => {
            Command::EachPicture(job.map(|(job, product)| workshop.job(window, job, product, &workshop.filmed.0)))
        }
    };
    worker.send(command);
    Ok(())
}

impl Memory {
    /// The scene of a window's number.
    fn scene(&self, id: u64) -> Result<Arc<Scenario>, String> {
        let found = self.known.iter().find(|(known, _)| *known == SceneId::Window(id));
        let reason = match found {
            Some((_, Ok(scenario))) => return Ok(Arc::clone(scenario)),
            Some((_, Err(reason))) => reason.as_str(),
            None => "it is not known there any more; edit it again",
        };
        Err(format!("The machine of the run cannot take this scene: {reason}"))
    }
}

impl Workshop {
    fn job(&self, window: u64, job: u64, product: Product, made: &Sender<Made>) -> Job {
        Job::of(Ordered {
            window,
            job,
            maker: Maker::new(product),
            folder: self.folder.path().to_owned(),
            made: made.clone(),
            poller: Arc::clone(&self.poller),
            count: AtomicU64::new(0),
        })
    }
}

/// Work that a window asked for.
struct Ordered {
    window: u64,
    job: u64,
    maker: Maker,
    folder: PathBuf,
    made: Sender<Made>,
    poller: Arc<Poller>,
    count: AtomicU64,
}

impl Work for Ordered {
    fn run(&self, engine: &mut Engine) -> Result<String, String> {
        let Self { window, job, .. } = *self;
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let name = format!("made-{window:016x}-{job}-{count}{}", ending(&self.maker.product));
        let path = self.folder.join(name);
        let result = self.maker.make(engine, &path);
        let is_failed = result.is_err();
        let result = result.map(|told| (path.exists().then_some(path), told));
        let sent = self.made.send(Made { window, job, result });
        let _ = self.poller.notify();
        match sent {
            Ok(()) if !is_failed => Ok(String::new()),
            // Told to the window by its number; here it ends what is done again and again.
            _ => Err(String::new()),
        }
    }
}

/// How the name of its file ends: some are told by it what they hold.
fn ending(product: &Product) -> &'static str {
    match product {
        Product::Field => ".npy",
        Product::Records => ".csv",
        Product::Checkpoint => ".ripplon",
        Product::Sound { .. } => ".wav",
        Product::Picture { .. } | Product::FilmPicture { .. } => ".png",
        Product::Position { .. } => "",
    }
}

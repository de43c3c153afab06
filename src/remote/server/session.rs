//! One window's connection: what it asks for goes to the worker, what the worker shows goes to it.

use super::Memory;
use crate::engine::{Command, Engine, Frame, Job, Status, Task, Work, Worker};
use crate::export::errand::{Maker, Product};
use crate::remote::files::{Sending, name_on_the_way};
use crate::remote::frame::{self, FrameMessage, SceneId};
use crate::remote::quality::Quality;
use crate::remote::scenes;
use crate::remote::socket::{Line, Lost, PULSE};
use crate::remote::wire::{self, Order, Request, SceneMessage, ToServer, ToWindow};
use crate::scene::Scenario;
use crate::solver::{ImageRequest, VolumeRequest};
use crossbeam_channel::{Receiver, Sender};
use polling::Poller;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// From look to look at a long task.
const TASK: Duration = Duration::from_millis(250);

/// A run that stands for as long gets its picture exact.
const STILL: Duration = Duration::from_millis(250);

/// Bytes of files that may be under way, whatever the link: at least, and at most.
const FILES: [f64; 2] = [96e3, 4e6];

/// Seconds that a frame may have to wait for pieces of files before it.
const BEFORE: f64 = 0.15;

/// Scenes of a window that are kept though later ones are shown.
const KEPT: u64 = 16;

/// What came of work that a window asked for: its number, and the file and what there is to tell.
pub struct Made {
    job: u64,
    result: Result<(Option<PathBuf>, String), String>,
}

/// What waits to be sent, in order.
enum Out {
    File(PathBuf, String, bool),
    Message(Box<ToWindow>),
}

/// A connection.
pub struct Session {
    line: Line,
    poller: Arc<Poller>,
    folder: PathBuf,
    quality: Quality,
    /// The frame that was sent last; what the window knows.
    sent: Option<Frame>,
    sent_scene: Option<SceneId>,
    coarse: Option<Instant>,
    outgoing: VecDeque<Out>,
    sending: Sending,
    /// Bytes of pieces under way.
    pieces: u64,
    taken_pieces: u64,
    /// The scene that is on its way, which frames wait for.
    promised: bool,
    heard_told: u64,
    request: Option<ImageRequest>,
    volume: Option<VolumeRequest>,
    shrink: usize,
    task: (Option<Task>, Instant),
    pulse: Instant,
}

impl Session {
    pub(super) fn new(line: Line, folder: &Path, poller: &Arc<Poller>) -> Self {
        Self {
            line,
            poller: Arc::clone(poller),
            folder: folder.to_owned(),
            quality: Quality::default(),
            sent: None,
            sent_scene: None,
            coarse: None,
            outgoing: VecDeque::new(),
            sending: Sending::default(),
            pieces: 0,
            taken_pieces: 0,
            promised: false,
            heard_told: u64::MAX,
            request: None,
            volume: None,
            shrink: 1,
            task: (None, Instant::now()),
            pulse: Instant::now(),
        }
    }

    /// How long nothing has to be done unless something comes.
    pub(super) fn patience(&self) -> Duration {
        if self.coarse.is_some() { STILL / 4 } else { PULSE }
    }

    /// Says why it ends.
    pub(super) fn end(mut self, why: &str) {
        let said = self.line.send(wire::encode(&ToWindow::End(why.to_owned())));
        let begin = Instant::now();
        while said.is_ok() && !self.line.is_flushed() && begin.elapsed() < Duration::from_millis(500) {
            std::thread::sleep(Duration::from_millis(5));
            if self.line.flush().is_err() {
                break;
            }
        }
        self.sending.clear();
    }

    /// Hears, and sends what there is room for.
    pub(super) fn turn(
        &mut self,
        worker: &mut Worker,
        memory: &mut Memory,
        made: &(Sender<Made>, Receiver<Made>),
    ) -> Result<(), Lost> {
        while let Some(bytes) = self.line.read()? {
            let message = wire::decode(&bytes).ok_or_else(Lost::damaged)?;
            self.hear(message, worker, memory, &made.0)?;
        }
        self.line.flush()?;
        if self.outgoing.is_empty()
            && let Ok(made) = made.1.try_recv()
        {
            self.queue_made(made);
        }
        self.tell(worker, memory)?;
        self.show(worker, memory)?;
        self.send_outgoing()?;
        self.line.rearm()
    }

    fn hear(
        &mut self,
        message: ToServer,
        worker: &mut Worker,
        memory: &mut Memory,
        made: &Sender<Made>,
    ) -> Result<(), Lost> {
        match message {
            ToServer::Alive => {}
            ToServer::Taken(serial, pieces) => {
                self.quality.taken(serial, Instant::now());
                self.taken_pieces = pieces;
            }
            ToServer::Request(number, request) => {
                // What was sent again after a link that was lost.
                if number <= memory.heard {
                    return Ok(());
                }
                if number != memory.heard + 1 {
                    return Err(Lost::damaged());
                }
                memory.heard = number;
                match request {
                    Request::Piece(piece) => {
                        let taken = memory.store.take(&piece);
                        taken.map_err(|error| Lost(format!("a file of a scene cannot be kept: {error}")))?;
                    }
                    Request::Scene(scene) => {
                        let opened = scenes::unpack(&scene.text, &memory.store).map(|(_, scenario)| scenario);
                        memory.known.push((SceneId::Window(scene.id), opened));
                    }
                    Request::Command(order) => self.obey(order, worker, memory, made),
                }
            }
        }
        Ok(())
    }

    /// The scene of a window's number; what is wrong with it is told.
    fn scene(&mut self, id: u64, memory: &Memory) -> Option<Arc<Scenario>> {
        let found = memory.known.iter().find(|(known, _)| *known == SceneId::Window(id));
        let reason = match found {
            Some((_, Ok(scenario))) => return Some(Arc::clone(scenario)),
            Some((_, Err(reason))) => reason.as_str(),
            None => "it is not known there any more; edit it again",
        };
        let text = format!("The machine of the run cannot take this scene: {reason}");
        self.say(ToWindow::Made(0, Err(text)));
        None
    }

    fn say(&mut self, message: ToWindow) {
        self.outgoing.push_back(Out::Message(Box::new(message)));
    }

    fn obey(&mut self, order: Order, worker: &mut Worker, memory: &mut Memory, made: &Sender<Made>) {
        let command = match order {
            Order::Load(id) => match self.scene(id, memory) {
                Some(scenario) => Command::Load(scenario),
                None => return,
            },
            Order::Update(id) => match self.scene(id, memory) {
                Some(scenario) => Command::Update(scenario),
                None => return,
            },
            Order::Compare(Some(id)) => match self.scene(id, memory) {
                Some(scenario) => Command::Compare(Some(scenario)),
                None => return,
            },
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
                self.request = Some(request.clone());
                Command::View(smaller(&request, self.shrink))
            }
            Order::Volume(request) => {
                self.volume = request.map(|request| VolumeRequest {
                    most: request.most.min(MOST_TEXELS),
                    ..request
                });
                Command::Volume(self.volume.map(|request| coarser(request, self.shrink)))
            }
            Order::Make(job, product) => Command::Run(self.job(job, product, made)),
            Order::MakeEach(job) => Command::EachPicture(job.map(|(job, product)| self.job(job, product, made))),
        };
        worker.send(command);
    }

    fn job(&self, job: u64, product: Product, made: &Sender<Made>) -> Job {
        Job::of(Ordered {
            job,
            maker: Maker::new(product),
            folder: self.folder.clone(),
            made: made.clone(),
            poller: Arc::clone(&self.poller),
            count: AtomicU64::new(0),
        })
    }

    fn queue_made(&mut self, made: Made) {
        let result = made.result.map(|(file, told)| {
            let name = file.map(|path| {
                let name = name_on_the_way(0, &path);
                self.outgoing.push_back(Out::File(path, name.clone(), true));
                name
            });
            (name, told)
        });
        self.say(ToWindow::Made(made.job, result));
    }

    /// What was heard, how far a task is, that the server is there.
    fn tell(&mut self, worker: &Worker, memory: &Memory) -> Result<(), Lost> {
        if self.heard_told != memory.heard {
            self.heard_told = memory.heard;
            self.line.send(wire::encode(&ToWindow::Heard(memory.heard)))?;
        }
        if self.task.1.elapsed() > TASK || worker.task().is_some() != self.task.0.is_some() {
            let task = worker.task();
            if task != self.task.0 {
                let words = task.map(|task| (task.what.to_owned(), task.done, task.seconds_left));
                self.line.send(wire::encode(&ToWindow::Task(words)))?;
            }
            self.task = (task, Instant::now());
        }
        if self.pulse.elapsed() > PULSE {
            self.pulse = Instant::now();
            self.line.send(wire::encode(&ToWindow::Alive))?;
        }
        Ok(())
    }

    /// Sends the latest frame, if the window has taken those before it.
    fn show(&mut self, worker: &mut Worker, memory: &mut Memory) -> Result<(), Lost> {
        if !self.quality.has_room() || !self.line.is_flushed() || self.promised {
            return Ok(());
        }
        let known = self.sent.as_ref().map(|sent| sent.serial);
        let frame = worker.frame();
        if known == Some(frame.serial) {
            return self.refine();
        }
        // Before there is a scene there is nothing to show.
        let Some(scenario) = &frame.scenario else { return Ok(()) };
        let Some(scene) = self.number(scenario, memory) else {
            return Ok(());
        };
        let frame = frame.clone();
        let scene = Some(scene);
        let is_running = frame.status == Status::Running;
        if is_running {
            self.quality.choose();
        }
        let message = FrameMessage::of(&frame, self.sent.as_ref(), scene, self.quality.fineness());
        let picture = message.picture_length();
        if picture.is_some() {
            self.coarse = message.is_coarse().then(Instant::now);
        }
        let bytes = frame::bytes(ToWindow::Frame(Box::new(message)), picture.unwrap_or(0));
        self.quality.sent(frame.serial, bytes.len(), picture, Instant::now());
        self.line.send(bytes)?;
        self.sent = Some(frame);
        self.sent_scene = scene;
        // A run that stands is shown as fine as was asked for.
        let shrink = if is_running { self.quality.shrink() } else { 1 };
        if shrink != self.shrink {
            self.shrink = shrink;
            if let Some(request) = &self.request {
                worker.send(Command::View(smaller(request, shrink)));
            }
            if let Some(request) = self.volume {
                worker.send(Command::Volume(Some(coarser(request, shrink))));
            }
        }
        Ok(())
    }

    /// The exact picture of a run that stands.
    fn refine(&mut self) -> Result<(), Lost> {
        let Some(sent) = &self.sent else { return Ok(()) };
        let is_due = self.coarse.is_some_and(|since| since.elapsed() > STILL);
        if !is_due || sent.status == Status::Running || !self.quality.is_idle() {
            return Ok(());
        }
        self.coarse = None;
        if !self.quality.can_refine() {
            return Ok(());
        }
        let mut message = FrameMessage::of(sent, Some(sent), self.sent_scene, self.quality.fineness());
        message.refine(sent);
        let bytes = frame::bytes(ToWindow::Frame(Box::new(message)), usize::MAX / 4);
        self.quality.sent(sent.serial, bytes.len(), None, Instant::now());
        self.line.send(bytes)
    }

    /// The number under which the window knows a scene; one that it does not know is sent first.
    fn number(&mut self, scenario: &Arc<Scenario>, memory: &mut Memory) -> Option<SceneId> {
        let mut known = memory.known.iter();
        let is_it = |known: &Result<Arc<Scenario>, String>| known.as_ref().is_ok_and(|own| Arc::ptr_eq(own, scenario));
        if let Some(place) = known.position(|(_, own)| is_it(own)) {
            let id = memory.known[place].0;
            // Those before it are not shown again; the latest of them may still be asked for.
            let is_past = |other: &SceneId| match (*other, id) {
                (SceneId::Window(other), SceneId::Window(own)) | (SceneId::Server(other), SceneId::Server(own)) => {
                    other + KEPT < own
                }
                _ => false,
            };
            memory.known.retain(|(other, _)| !is_past(other));
            return Some(id);
        }
        memory.next_scene += 1;
        let id = memory.next_scene;
        match scenes::pack(scenario, &mut memory.names) {
            Ok((text, paths)) => {
                for (path, name) in paths {
                    self.outgoing.push_back(Out::File(path, name, false));
                }
                self.say(ToWindow::Scene(SceneMessage { id, text }));
                memory.known.push((SceneId::Server(id), Ok(Arc::clone(scenario))));
                self.promised = true;
            }
            Err(text) => self.say(ToWindow::End(text)),
        }
        None
    }

    /// Files and what waits behind them.
    fn send_outgoing(&mut self) -> Result<(), Lost> {
        let rate = self.quality.rate().unwrap_or(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between the two limits"
        )]
        let room = (rate * BEFORE).clamp(FILES[0], FILES[1]) as u64;
        while self.line.is_flushed() {
            if !self.sending.is_empty() {
                if self.pieces.saturating_sub(self.taken_pieces) > room {
                    return Ok(());
                }
                if let Some(piece) = self.sending.next() {
                    self.pieces += piece.bytes.len() as u64;
                    self.line.send(wire::encode(&ToWindow::Piece(piece)))?;
                }
                continue;
            }
            match self.outgoing.pop_front() {
                None => return Ok(()),
                Some(Out::File(path, name, is_temporary)) => {
                    let added = self.sending.add(&path, name, is_temporary);
                    added.map_err(|error| Lost(format!("{} cannot be sent: {error}", path.display())))?;
                }
                Some(Out::Message(message)) => {
                    if matches!(*message, ToWindow::Scene(_)) {
                        self.promised = false;
                        let _ = self.poller.notify();
                    }
                    self.line.send(wire::encode(&*message))?;
                }
            }
        }
        Ok(())
    }
}

/// Texels of a volume along its longest axis: more than any window asks for.
const MOST_TEXELS: usize = 512;

/// Texels of a picture along either axis.
const MOST_PIXELS: usize = 8192;

fn smaller(request: &ImageRequest, shrink: usize) -> ImageRequest {
    ImageRequest {
        max_size: request.max_size.map(|most| most.min(MOST_PIXELS).div_ceil(shrink)),
        ..request.clone()
    }
}

fn coarser(request: VolumeRequest, shrink: usize) -> VolumeRequest {
    VolumeRequest {
        most: request.most.div_ceil(shrink),
        ..request
    }
}

/// Work that a window asked for.
struct Ordered {
    job: u64,
    maker: Maker,
    folder: PathBuf,
    made: Sender<Made>,
    poller: Arc<Poller>,
    count: AtomicU64,
}

impl Work for Ordered {
    fn run(&self, engine: &mut Engine) -> Result<String, String> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let path = self
            .folder
            .join(format!("made-{}-{count}{}", self.job, ending(&self.maker.product)));
        let result = self.maker.make(engine, &path);
        let is_failed = result.is_err();
        let made = Made {
            job: self.job,
            result: result.map(|told| (path.exists().then_some(path), told)),
        };
        let sent = self.made.send(made);
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

//! One window's connection: what it asks for goes to the worker, what the worker shows goes to it.

use super::orders::{Made, obey};
use super::{Memory, Workshop};
use crate::engine::{Frame, Status, Task, Worker};
use crate::remote::files::{Sending, name_on_the_way};
use crate::remote::frame::{self, FrameMessage, SceneId};
use crate::remote::quality::Quality;
use crate::remote::scenes;
use crate::remote::socket::{Line, Lost, PULSE};
use crate::remote::wire::{self, Request, SceneMessage, ToServer, ToWindow};
use crate::scene::Scenario;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// From look to look at a long task.
const TASK: Duration = Duration::from_millis(250);

/// A run that stands for as long gets its picture exact.
const STILL: Duration = Duration::from_millis(250);

/// Messages that are heard in a turn: what is to be shown has its turn too.
const MOST_HEARD: usize = 256;

/// Bytes of files that may be under way, whatever the link: at least, and at most.
const FILES: [f64; 2] = [96e3, 4e6];

/// Seconds that a frame may have to wait for pieces of files before it.
const BEFORE: f64 = 0.15;

/// What waits to be sent, in order.
enum Out {
    File(PathBuf, String, bool),
    Message(Box<ToWindow>),
}

/// A connection.
pub(super) struct Session {
    line: Line,
    quality: Quality,
    /// The frame that was sent last, what the window knows, and its number in this connection.
    sent: Option<Frame>,
    sent_scene: Option<SceneId>,
    number: u64,
    coarse: Option<Instant>,
    outgoing: VecDeque<Out>,
    sending: Sending,
    /// Bytes of pieces under way.
    pieces: u64,
    taken_pieces: u64,
    /// The scene that is on its way, which frames wait for.
    promised: bool,
    heard_told: u64,
    /// By how much fewer texels are asked for; 0 = nothing was asked for yet.
    shrink: usize,
    task: (Option<Task>, Instant),
    pulse: Instant,
    /// Something is left that nothing will wake for.
    goes_on: bool,
}

impl Session {
    pub(super) fn new(line: Line, round_trip: Duration) -> Self {
        Self {
            line,
            quality: Quality::new(round_trip),
            sent: None,
            sent_scene: None,
            number: 0,
            coarse: None,
            outgoing: VecDeque::new(),
            sending: Sending::default(),
            pieces: 0,
            taken_pieces: 0,
            promised: false,
            heard_told: u64::MAX,
            shrink: 0,
            task: (None, Instant::now()),
            pulse: Instant::now(),
            goes_on: false,
        }
    }

    /// How long nothing has to be done unless something comes.
    pub(super) fn patience(&self) -> Duration {
        if self.goes_on {
            Duration::ZERO
        } else if self.coarse.is_some() {
            STILL / 4
        } else {
            PULSE
        }
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

    /// Hears, and sends what there is room for. It waits for nothing.
    pub(super) fn turn(&mut self, worker: &mut Worker, memory: &mut Memory, workshop: &Workshop) -> Result<(), Lost> {
        if self.shrink == 0 {
            // What this window asked for before its link was lost.
            self.shrink = 1;
            memory.look.ask(1, worker);
        }
        self.goes_on = false;
        for heard in 0.. {
            if heard == MOST_HEARD {
                self.goes_on = true;
                break;
            }
            let Some(bytes) = self.line.read()? else { break };
            let message = wire::decode(&bytes).ok_or_else(Lost::damaged)?;
            self.hear(message, worker, memory, workshop)?;
        }
        self.line.flush()?;
        if self.outgoing.is_empty() {
            let made = workshop.made.1.try_recv().or_else(|_| workshop.filmed.1.try_recv());
            if let Ok(made) = made {
                self.queue_made(made, memory.window);
            }
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
        workshop: &Workshop,
    ) -> Result<(), Lost> {
        let (number, request) = match message {
            ToServer::Alive => return Ok(()),
            ToServer::Came(came) => {
                self.quality.arrived(came.frame, Instant::now());
                self.quality.drawn(came.drawn);
                self.taken_pieces = came.pieces;
                return Ok(());
            }
            ToServer::Request(number, request) => (number, request),
        };
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
            Request::Command(order) => {
                if let Err(text) = obey(order, self.shrink, worker, memory, workshop) {
                    // No job has this number.
                    self.say(ToWindow::Made(0, Err(text)));
                }
            }
        }
        Ok(())
    }

    fn say(&mut self, message: ToWindow) {
        self.outgoing.push_back(Out::Message(Box::new(message)));
    }

    fn queue_made(&mut self, made: Made, window: u64) {
        if made.window != window {
            made.discard();
            return;
        }
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
        // What a window does not take is not piled up.
        if !self.line.is_flushed() {
            return Ok(());
        }
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

    /// Sends the latest frame, if the window has drawn those before it.
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
        let Some(scene) = self.scene(scenario, memory)? else {
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
        self.send_frame(message, picture.unwrap_or(0), picture)?;
        self.sent = Some(frame);
        self.sent_scene = scene;
        // A run that stands is shown as fine as was asked for.
        let shrink = if is_running { self.quality.shrink() } else { 1 };
        if shrink != self.shrink {
            self.shrink = shrink;
            memory.look.ask(shrink, worker);
        }
        Ok(())
    }

    /// `packed` bytes of it are compressed; `picture` is the length by which lengths are judged.
    fn send_frame(&mut self, message: FrameMessage, packed: usize, picture: Option<usize>) -> Result<(), Lost> {
        self.number += 1;
        let bytes = frame::bytes(&ToWindow::Frame(self.number, Box::new(message)), packed);
        self.quality.sent(self.number, bytes.len(), picture, Instant::now());
        self.line.send(bytes)
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
        let packed = message.picture_length().unwrap_or(0);
        self.send_frame(message, packed, None)
    }

    /// The number under which the window knows a scene; one that it does not know is sent first.
    fn scene(&mut self, scenario: &Arc<Scenario>, memory: &mut Memory) -> Result<Option<SceneId>, Lost> {
        let mut known = memory.known.iter();
        let is_it = |known: &Result<Arc<Scenario>, String>| known.as_ref().is_ok_and(|own| Arc::ptr_eq(own, scenario));
        if let Some(place) = known.position(|(_, own)| is_it(own)) {
            let id = memory.known[place].0;
            memory.known.retain(|(other, _)| !other.is_past(id));
            return Ok(Some(id));
        }
        memory.next_scene += 1;
        let id = memory.next_scene;
        let (text, paths) = match scenes::pack(scenario, &mut memory.names) {
            Ok(packed) => packed,
            Err(reason) => {
                // It would be no better the next time.
                self.line.send(wire::encode(&ToWindow::End(reason.clone())))?;
                return Err(Lost(reason));
            }
        };
        for (path, name) in paths {
            self.outgoing.push_back(Out::File(path, name, false));
        }
        self.say(ToWindow::Scene(SceneMessage { id, text }));
        memory.known.push((SceneId::Server(id), Ok(Arc::clone(scenario))));
        self.promised = true;
        Ok(None)
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
                if let Some(piece) = self.sending.next_piece() {
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
                        self.goes_on = true;
                    }
                    self.line.send(wire::encode(&*message))?;
                }
            }
        }
        Ok(())
    }
}

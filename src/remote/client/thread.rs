//! What the thread of a link does.

use super::Door;
use crate::engine::{Command, End, Frame, Job, Link, LinkState, Notice, Task};
use crate::export::errand::Errand;
use crate::remote::files::{Names, Sending, Store};
use crate::remote::frame::{SceneId, word};
use crate::remote::hello::Hello;
use crate::remote::scenes;
use crate::remote::socket::{self, Line, Lost, PULSE};
use crate::remote::wire::{self, Order, Request, SceneMessage, ToServer, ToWindow};
use crate::scene::Scenario;
use crossbeam_channel::TryRecvError;
use polling::Events;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// From one attempt to connect again to the next, at first and at last.
const RETRY: [Duration; 2] = [Duration::from_millis(300), Duration::from_secs(5)];

/// How long what was asked for last may take to leave when the window is closed.
const FAREWELL: Duration = Duration::from_millis(1500);

/// What it begins with.
pub(super) struct Start {
    pub(super) line: Line,
    pub(super) door: Door,
    pub(super) hello: Hello,
    pub(super) scene: (u64, Arc<Scenario>),
    pub(super) store: Store,
    pub(super) link: Link,
}

/// The state of a link.
struct Client {
    line: Option<Line>,
    door: Door,
    hello: Hello,
    store: Store,
    link: Link,
    end: End,

    /// The number of the last request, and those that were not heard yet.
    number: u64,
    unheard: VecDeque<(u64, Vec<u8>)>,
    scenes: Vec<(SceneId, Arc<Scenario>)>,
    next_scene: u64,
    names: Names,
    next_job: u64,
    errands: HashMap<u64, Arc<Errand>>,
    /// What is done with every picture.
    each: Option<(u64, Arc<Errand>)>,

    frame: Frame,
    /// The server's notice that was shown last, and the number of those shown in all.
    noticed: u64,
    notice: Option<Notice>,
    /// Serial of the last frame that came, and whether the server was told that it was taken.
    came: u64,
    told: (u64, u64),
    pieces: u64,

    pulse: Instant,
    rate: (Instant, u64),
    retry: (Instant, Duration),
    is_over: bool,
    quits: bool,
}

/// Until the window lets go of its worker.
pub(super) fn run(start: Start, end: End) {
    let now = Instant::now();
    let (id, scenario) = start.scene;
    let mut client = Client {
        line: Some(start.line),
        door: start.door,
        hello: start.hello,
        store: start.store,
        link: start.link,
        end,
        number: 0,
        unheard: VecDeque::new(),
        scenes: vec![(SceneId::Server(id), scenario)],
        next_scene: 0,
        names: Names::default(),
        next_job: 0,
        errands: HashMap::new(),
        each: None,
        frame: Frame::default(),
        noticed: 0,
        notice: None,
        came: 0,
        told: (0, 0),
        pieces: 0,
        pulse: now,
        rate: (now, 0),
        retry: (now, RETRY[0]),
        is_over: false,
        quits: false,
    };
    let mut events = Events::new();
    while !client.quits {
        client.ask();
        if client.line.is_some() {
            if let Err(lost) = client.turn() {
                client.lose(&lost);
            }
        } else if !client.is_over && client.retry.0 <= Instant::now() {
            client.connect_again();
        }
        let most = if client.line.is_some() {
            PULSE
        } else {
            Duration::from_millis(200)
        };
        if !client.quits {
            socket::wait(&client.door.poller, &mut events, most);
        }
    }
    client.leave();
}

impl Client {
    /// Numbers what the window asks for.
    fn ask(&mut self) {
        loop {
            match self.end.commands.try_recv() {
                Ok(Command::Quit) | Err(TryRecvError::Disconnected) => {
                    self.quits = true;
                    return;
                }
                Err(TryRecvError::Empty) => return,
                Ok(command) => {
                    if self.is_over {
                        continue;
                    }
                    match self.order(command) {
                        Ok(Some(order)) => self.request(Request::Command(order)),
                        Ok(None) => {}
                        Err(text) => self.say(true, text),
                    }
                }
            }
        }
    }

    fn request(&mut self, request: Request) {
        self.number += 1;
        let bytes = wire::encode(&ToServer::Request(self.number, request));
        if let Some(line) = &mut self.line
            && let Err(lost) = line.send(bytes.clone())
        {
            self.lose(&lost);
        }
        self.unheard.push_back((self.number, bytes));
    }

    fn order(&mut self, command: Command) -> Result<Option<Order>, String> {
        Ok(Some(match command {
            Command::Load(scenario) => {
                // A film of the run ends with it.
                self.each = None;
                Order::Load(self.scene(&scenario)?)
            }
            Command::Update(scenario) => Order::Update(self.scene(&scenario)?),
            Command::Compare(Some(scenario)) => Order::Compare(Some(self.scene(&scenario)?)),
            Command::Compare(None) => Order::Compare(None),
            Command::Play => Order::Play,
            Command::Pause => Order::Pause,
            Command::Step(steps) => Order::Step(steps),
            Command::Reset => Order::Reset,
            Command::Snapshot => Order::Snapshot,
            Command::Restore => Order::Restore,
            Command::Reverse => Order::Reverse,
            Command::BackToTurn => Order::BackToTurn,
            Command::StepsPerFrame(steps) => Order::StepsPerFrame(steps),
            Command::Rest(rests) => Order::Rest(rests),
            Command::View(request) => Order::View(request),
            Command::Volume(request) => Order::Volume(request),
            Command::StateMeasures(wanted) => Order::StateMeasures(wanted),
            Command::Run(job) => {
                let (id, errand) = self.errand(&job)?;
                let product = errand.maker.product.clone();
                self.errands.insert(id, errand);
                Order::Make(id, product)
            }
            Command::EachPicture(Some(job)) => {
                let (id, errand) = self.errand(&job)?;
                let product = errand.maker.product.clone();
                self.each = Some((id, errand));
                Order::MakeEach(Some((id, product)))
            }
            Command::EachPicture(None) => {
                self.each = None;
                Order::MakeEach(None)
            }
            Command::Quit => return Ok(None),
        }))
    }

    fn errand(&mut self, job: &Job) -> Result<(u64, Arc<Errand>), String> {
        let errand = job.of_kind::<Errand>();
        let errand = errand.ok_or("this cannot be done with a run on another machine")?;
        self.next_job += 1;
        Ok((self.next_job, errand))
    }

    /// The number of a scene; one that has none is sent.
    fn scene(&mut self, scenario: &Arc<Scenario>) -> Result<u64, String> {
        let known = self.scenes.iter().find_map(|(id, own)| match id {
            SceneId::Window(id) if Arc::ptr_eq(own, scenario) => Some(*id),
            _ => None,
        });
        if let Some(id) = known {
            return Ok(id);
        }
        let (text, files) = scenes::pack(scenario, &mut self.names)?;
        for (path, name) in files {
            let mut sending = Sending::default();
            let added = sending.add(&path, name, false);
            added.map_err(|error| format!("{} cannot be sent: {error}", path.display()))?;
            while let Some(piece) = sending.next() {
                self.request(Request::Piece(piece));
            }
        }
        self.next_scene += 1;
        let id = self.next_scene;
        self.request(Request::Scene(SceneMessage { id, text }));
        self.scenes.push((SceneId::Window(id), Arc::clone(scenario)));
        Ok(id)
    }

    /// Reads what came, and says what was taken.
    fn turn(&mut self) -> Result<(), Lost> {
        loop {
            let Some(line) = &mut self.line else { return Ok(()) };
            let Some(bytes) = line.read()? else { break };
            let message = wire::decode(&bytes).ok_or_else(Lost::damaged)?;
            self.hear(message)?;
        }
        // A window that has not drawn the last frame gets no other.
        let taken = if self.end.frames.consumed() {
            self.came
        } else {
            self.told.0
        };
        let now = Instant::now();
        let told = (taken, self.pieces);
        let pulse = now.duration_since(self.pulse) > PULSE;
        let Some(line) = &mut self.line else { return Ok(()) };
        if told != self.told {
            self.told = told;
            line.send(wire::encode(&ToServer::Taken(told.0, told.1)))?;
        }
        if pulse {
            self.pulse = now;
            line.send(wire::encode(&ToServer::Alive))?;
        }
        line.flush()?;
        let took = now.duration_since(self.rate.0).as_secs_f64();
        if took > 1.0 {
            #[expect(clippy::cast_precision_loss, reason = "a rate, for displays")]
            let rate = (line.received - self.rate.1) as f64 / took;
            self.rate = (now, line.received);
            self.link.set(LinkState::Connected(rate));
        }
        line.rearm()
    }

    fn hear(&mut self, message: ToWindow) -> Result<(), Lost> {
        match message {
            ToWindow::Alive => {}
            ToWindow::Heard(number) => {
                while self.unheard.front().is_some_and(|(own, _)| *own <= number) {
                    self.unheard.pop_front();
                }
            }
            ToWindow::Task(task) => {
                let task = task.map(|(what, done, seconds_left)| Task {
                    what: word(&what),
                    done,
                    seconds_left,
                });
                self.end.watched.show(task);
                (self.end.wake)();
            }
            ToWindow::Piece(piece) => {
                self.pieces += piece.bytes.len() as u64;
                let taken = self.store.take(&piece);
                taken.map_err(|error| Lost(format!("a file cannot be kept: {error}")))?;
            }
            ToWindow::Scene(scene) => {
                let opened = scenes::unpack(&scene.text, &self.store);
                let (_, scenario) =
                    opened.map_err(|reason| Lost(format!("the scene that runs cannot be opened here: {reason}")))?;
                self.scenes.push((SceneId::Server(scene.id), scenario));
            }
            ToWindow::Made(job, result) => self.take(job, result),
            ToWindow::End(why) => {
                self.line = None;
                self.finish(&why);
            }
            ToWindow::Frame(message) => {
                let scenario = match message.scene {
                    None => None,
                    Some(id) => {
                        let found = self.scenes.iter().position(|(known, _)| *known == id);
                        let place = found.ok_or_else(Lost::damaged)?;
                        let scenario = Arc::clone(&self.scenes[place].1);
                        self.scenes.retain(|(known, _)| !is_before(*known, id));
                        Some(scenario)
                    }
                };
                self.came = message.serial;
                message.apply(&mut self.frame, scenario).ok_or_else(Lost::damaged)?;
                let told = self.frame.notice.take();
                if let Some(notice) = told.filter(|notice| notice.serial != self.noticed) {
                    self.noticed = notice.serial;
                    self.note(notice.is_error, &notice.text);
                }
                self.publish();
            }
        }
        Ok(())
    }

    /// What came of work that was asked for.
    fn take(&mut self, job: u64, result: Result<(Option<String>, String), String>) {
        let each = self
            .each
            .as_ref()
            .filter(|(id, _)| *id == job)
            .map(|(_, errand)| Arc::clone(errand));
        let errand = each.clone().or_else(|| self.errands.remove(&job));
        let (name, done) = match result {
            Err(text) => (None, Err(text)),
            Ok((name, told)) => {
                let path = name.as_deref().and_then(|name| self.store.path(name));
                let done = match (errand, path) {
                    // What was given up meanwhile.
                    (None, _) => Ok(String::new()),
                    (Some(errand), path) => errand.deliver(&path.unwrap_or_default(), &told),
                };
                (name, done)
            }
        };
        if let Some(name) = name {
            // It was delivered, or nobody wants it; the folder goes with what is left.
            let _ = std::fs::remove_file(self.store.folder().join(&name));
            self.store.forget(&name);
        }
        match done {
            Ok(text) if text.is_empty() => {}
            Ok(text) => self.say(false, text),
            Err(text) => {
                if each.is_some() {
                    self.each = None;
                    self.request(Request::Command(Order::MakeEach(None)));
                }
                self.say(true, text);
            }
        }
    }

    fn note(&mut self, is_error: bool, text: &str) {
        let serial = self.notice.as_ref().map_or(0, |notice| notice.serial) + 1;
        self.notice = Some(Notice {
            serial,
            is_error,
            text: text.into(),
        });
    }

    fn say(&mut self, is_error: bool, text: impl AsRef<str>) {
        self.note(is_error, text.as_ref());
        self.publish();
    }

    fn publish(&mut self) {
        self.frame.notice.clone_from(&self.notice);
        self.end.frames.input_buffer_mut().clone_from(&self.frame);
        self.end.frames.publish();
        (self.end.wake)();
    }

    /// The link is gone; what was asked for and not heard waits.
    fn lose(&mut self, lost: &Lost) {
        if self.line.take().is_none() {
            return;
        }
        tracing::warn!("the link is lost: {}", lost.0);
        self.store.give_up();
        self.end.watched.show(None);
        // Its film ends here with what it has.
        self.each = None;
        let files = self.errands.len();
        self.errands.clear();
        self.link.set(LinkState::Lost(lost.0.clone()));
        self.retry = (Instant::now(), RETRY[0]);
        let arriving = if files > 0 {
            " What was being written did not arrive; ask for it again then."
        } else {
            ""
        };
        self.say(
            true,
            format!(
                "The link to {} is lost: {}. The run goes on there; the window connects again as soon as it can.{arriving}",
                self.link.host, lost.0
            ),
        );
    }

    /// It will not come back.
    fn finish(&mut self, why: &str) {
        self.is_over = true;
        self.each = None;
        self.errands.clear();
        self.end.watched.show(None);
        self.link.set(LinkState::Ended(why.to_owned()));
        self.say(
            true,
            format!(
                "The run on {} is out of reach: {why}. The scene is kept here: save it, or connect anew with `ripplon connect`.",
                self.link.host
            ),
        );
    }

    fn connect_again(&mut self) {
        match self.door.enter(self.hello) {
            Ok((_, welcome)) if welcome.session != self.hello.session => {
                self.finish("another server answers at its address, whose run is another one");
            }
            Ok((line, welcome)) => {
                self.line = Some(line);
                let now = Instant::now();
                self.rate = (now, 0);
                self.told = (0, 0);
                self.pieces = 0;
                self.link.set(LinkState::Connected(0.0));
                self.unheard.retain(|(number, _)| *number > welcome.heard);
                let rest: Vec<Vec<u8>> = self.unheard.iter().map(|(_, bytes)| bytes.clone()).collect();
                for bytes in rest {
                    let Some(line) = &mut self.line else { return };
                    if let Err(lost) = line.send(bytes) {
                        self.lose(&lost);
                        return;
                    }
                }
                self.say(false, format!("Connected to {} again", self.link.host));
            }
            Err(error) => {
                let is_final = matches!(
                    error,
                    super::ConnectError::WrongToken(_) | super::ConnectError::OtherVersion { .. }
                );
                if is_final {
                    self.finish("another server answers at its address");
                }
                let pause = self.retry.1;
                self.retry = (Instant::now() + pause, (pause * 2).min(RETRY[1]));
            }
        }
    }

    /// The window is closed: what it asked for last still goes.
    fn leave(&mut self) {
        let begin = Instant::now();
        while let Some(line) = &mut self.line {
            let is_heard = self.unheard.is_empty() && line.is_flushed();
            if is_heard || begin.elapsed() > FAREWELL || line.flush().is_err() {
                return;
            }
            match line.read() {
                Ok(Some(bytes)) => {
                    if let Some(ToWindow::Heard(number)) = wire::decode(&bytes) {
                        self.unheard.retain(|(own, _)| *own > number);
                    }
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Err(_) => return,
            }
        }
    }
}

/// Whether a scene was numbered before another one by the same end: it is not shown again.
fn is_before(id: SceneId, other: SceneId) -> bool {
    match (id, other) {
        (SceneId::Server(id), SceneId::Server(other)) | (SceneId::Window(id), SceneId::Window(other)) => id < other,
        _ => false,
    }
}

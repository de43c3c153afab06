//! What the thread of a link does.

use super::{ConnectError, Door};
use crate::engine::{Command, End, Frame, Link, LinkState, Notice, Task};
use crate::export::errand::Errand;
use crate::remote::files::{Names, Store};
use crate::remote::frame::{SceneId, word};
use crate::remote::hello::Hello;
use crate::remote::scenes;
use crate::remote::socket::{self, Line, Lost, PULSE};
use crate::remote::wire::{self, Came, Request, ToServer, ToWindow};
use crate::scene::Scenario;
use crossbeam_channel::TryRecvError;
use polling::Events;
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
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
pub(super) struct Client {
    pub(super) line: Option<Line>,
    door: Door,
    hello: Hello,
    pub(super) store: Store,
    link: Link,
    end: End,

    /// The number of the last request, and those that were not heard yet.
    pub(super) number: u64,
    pub(super) unheard: VecDeque<(u64, Vec<u8>)>,
    pub(super) scenes: Vec<(SceneId, Arc<Scenario>)>,
    pub(super) next_scene: u64,
    pub(super) names: Names,
    pub(super) next_job: u64,
    pub(super) errands: HashMap<u64, Arc<Errand>>,
    /// What is done with every picture.
    pub(super) each: Option<(u64, Arc<Errand>)>,

    frame: Frame,
    /// The server's notice that was shown last, and the number of those shown in all.
    noticed: u64,
    notice: Option<Notice>,
    /// What came over this connection, and what the server was told of it.
    came: Came,
    told: Came,

    pulse: Instant,
    rate: (Instant, u64),
    retry: (Instant, Duration),
    /// Why the link will not come back.
    over: Option<String>,
    quits: bool,
}

/// Until the window lets go of its worker. A fault of the program is told, like any other end of the link.
pub(super) fn run(start: Start, end: End) {
    let (link, wake) = (start.link.clone(), Arc::clone(&end.wake));
    if catch_unwind(AssertUnwindSafe(|| serve(start, end))).is_err() {
        link.set(LinkState::Ended(
            "a fault of the program; connect anew, and report it".to_owned(),
        ));
        wake();
    }
}

fn serve(start: Start, end: End) {
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
        came: Came::default(),
        told: Came::default(),
        pulse: now,
        rate: (now, 0),
        retry: (now, RETRY[0]),
        over: None,
        quits: false,
    };
    let mut events = Events::new();
    while !client.quits {
        client.ask();
        if client.line.is_some() {
            if let Err(lost) = client.turn() {
                client.lose(&lost);
            }
        } else if client.over.is_none() && client.retry.0 <= Instant::now() {
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
                    if let Some(why) = self.over.clone() {
                        // What has no effect any more is not taken in silence.
                        if !command.is_setting() {
                            self.say(true, self.out_of_reach(&why));
                        }
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

    /// Reads what came, and says what was taken.
    fn turn(&mut self) -> Result<(), Lost> {
        loop {
            let Some(line) = &mut self.line else { return Ok(()) };
            let Some(bytes) = line.read()? else { break };
            let message = wire::decode(&bytes).ok_or_else(Lost::damaged)?;
            self.hear(message)?;
        }
        // A window that does not draw, since it is hidden, gets no more frames.
        if self.end.frames.consumed() {
            self.came.drawn = self.came.frame;
        }
        let now = Instant::now();
        let pulse = now.duration_since(self.pulse) > PULSE;
        let Some(line) = &mut self.line else { return Ok(()) };
        if self.came != self.told {
            self.told = self.came;
            line.send(wire::encode(&ToServer::Came(self.came)))?;
        }
        if pulse {
            self.pulse = now;
            line.send(wire::encode(&ToServer::Alive))?;
        }
        line.flush()?;
        let took = now.duration_since(self.rate.0).as_secs_f64();
        if took > 1.0 {
            #[expect(clippy::cast_precision_loss, reason = "a rate, for displays")]
            let rate = (line.received() - self.rate.1) as f64 / took;
            self.rate = (now, line.received());
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
                self.came.pieces += piece.bytes.len() as u64;
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
            ToWindow::Frame(number, message) => {
                let scenario = match message.scene {
                    None => None,
                    Some(id) => {
                        let found = self.scenes.iter().position(|(known, _)| *known == id);
                        let place = found.ok_or_else(Lost::damaged)?;
                        let scenario = Arc::clone(&self.scenes[place].1);
                        self.scenes.retain(|(known, _)| !known.is_past(id));
                        Some(scenario)
                    }
                };
                self.came.frame = number;
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

    fn note(&mut self, is_error: bool, text: &str) {
        let serial = self.notice.as_ref().map_or(0, |notice| notice.serial) + 1;
        self.notice = Some(Notice {
            serial,
            is_error,
            text: text.into(),
        });
    }

    pub(super) fn say(&mut self, is_error: bool, text: impl AsRef<str>) {
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
    pub(super) fn lose(&mut self, lost: &Lost) {
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
        self.over = Some(why.to_owned());
        self.each = None;
        self.errands.clear();
        self.end.watched.show(None);
        self.link.set(LinkState::Ended(why.to_owned()));
        self.say(true, self.out_of_reach(why));
    }

    fn out_of_reach(&self, why: &str) -> String {
        format!(
            "The run on {} is out of reach: {why}. The scene is kept here: save it, run it on this machine (menu Run), or connect anew (menu File).",
            self.link.host
        )
    }

    fn connect_again(&mut self) {
        match self.door.enter(self.hello) {
            Ok((line, welcome)) => {
                self.line = Some(line);
                let now = Instant::now();
                self.rate = (now, 0);
                self.came = Came::default();
                self.told = Came::default();
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
            Err(ConnectError::Elsewhere(_)) => {
                self.finish("another window has connected to it, or it was started anew");
            }
            Err(ConnectError::WrongToken(_) | ConnectError::OtherVersion { .. }) => {
                self.finish("another server answers at its address");
            }
            Err(_) => {
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

//! The machine of the run: it steps whether or not a window is connected, and serves one window at a time, the latest that showed the token.

mod door;
mod orders;
mod session;

use super::files::{Names, Store};
use super::frame::SceneId;
use super::hello::{Hello, Token};
use super::socket::{self, Line, Lost};
use crate::engine::{Command, Status, Worker};
use crate::scene::Scenario;
use crate::solver::Backend;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use door::{Doorman, Guest, Handshakes, MOST_HANDSHAKES};
use orders::{Look, Made};
use polling::{Event, Events, Poller};
use session::Session;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const LISTENER: usize = 0;

/// What a window is told that is not served any more.
const TAKEN_OVER: &str = "another window has connected to this run; it goes on there";

/// Without anything to do, the loop looks as often whether it shall end.
const TURN: Duration = Duration::from_millis(200);

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Where to listen is no address of this machine.
    #[error("--listen {address}: {reason}; write ADDRESS:PORT, e.g. --listen 127.0.0.1:0 for any free port")]
    Address {
        /// What was written.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// Nobody can connect.
    #[error(
        "nothing can listen on {address}: {reason}; choose another address with --listen, e.g. --listen 127.0.0.1:0 for any free port"
    )]
    Listen {
        /// Where.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// A thread, a folder for files, or random numbers.
    #[error("the server cannot start: {0}")]
    System(#[from] io::Error),
}

/// A run and its door.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    poller: Arc<Poller>,
    worker: Worker,
    doorman: Arc<Doorman>,
    handshakes: Handshakes,
    let_in: Receiver<Guest>,
    workshop: Workshop,
    memory: Memory,
}

/// Where what windows ask for is made.
struct Workshop {
    folder: TempDir,
    poller: Arc<Poller>,
    /// Files.
    made: (Sender<Made>, Receiver<Made>),
    /// Pictures of a film: the run waits until one was taken from here.
    filmed: (Sender<Made>, Receiver<Made>),
}

/// What outlasts a connection.
struct Memory {
    window: u64,
    /// Requests of this window that were heard.
    heard: u64,
    known: Vec<(SceneId, Result<Arc<Scenario>, String>)>,
    store: Store,
    /// Files of scenes that were sent to it.
    names: Names,
    next_scene: u64,
    /// What it asked to see.
    look: Look,
}

impl Server {
    /// Listens, and builds the run of a scene, which waits at t = 0.
    ///
    /// # Errors
    /// If the address is none or taken, or the system has no thread or folder for it.
    #[expect(unsafe_code, reason = "the system's list of sockets that are waited for")]
    pub fn start(listen: &str, token: Token, scenario: Arc<Scenario>) -> Result<Self, ServeError> {
        let refused = |reason: String| ServeError::Listen {
            address: listen.to_owned(),
            reason,
        };
        let addresses: Vec<SocketAddr> = (listen.to_socket_addrs())
            .map_err(|error| ServeError::Address {
                address: listen.to_owned(),
                reason: error.to_string(),
            })?
            .collect();
        let listener = TcpListener::bind(&addresses[..]).map_err(|error| refused(error.to_string()))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let poller = Arc::new(Poller::new()?);
        // SAFETY: the listener is taken off the list in `drop`, before it is closed.
        unsafe { poller.add(&listener, Event::readable(LISTENER))? };
        let waker = Arc::clone(&poller);
        let worker = Worker::spawn(Some(scenario), move || {
            let _ = waker.notify();
        })?;
        let (sender, let_in) = bounded(MOST_HANDSHAKES);
        let workshop = Workshop {
            folder: tempfile::Builder::new().prefix("ripplon-serve-").tempdir()?,
            poller: Arc::clone(&poller),
            made: unbounded(),
            filmed: bounded(1),
        };
        let memory = Memory::of(0, workshop.folder.path())?;
        let doorman = Doorman {
            token,
            session: random()?,
            host: host(),
            backends: (Backend::ALL.into_iter())
                .filter(|backend| backend.availability().is_ok())
                .collect(),
            present: Mutex::new((0, 0)),
            let_in: sender,
            poller: Arc::clone(&poller),
        };
        Ok(Self {
            listener,
            address,
            poller,
            worker,
            doorman: Arc::new(doorman),
            handshakes: Handshakes::default(),
            let_in,
            workshop,
            memory,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The machine's name.
    pub fn host(&self) -> &str {
        &self.doorman.host
    }

    /// What its run is asked for, beside what windows ask.
    pub fn ask(&mut self, command: Command) {
        self.worker.send(command);
    }

    /// Serves until `stop`; `say` is told who comes and goes.
    pub fn run(&mut self, stop: &dyn Fn() -> bool, say: &mut dyn FnMut(String)) {
        let mut events = Events::new();
        let mut session: Option<Session> = None;
        let mut looked = Instant::now();
        let mut failure = None;
        while !stop() {
            let most = session.as_ref().map_or(TURN, |session| session.patience().min(TURN));
            socket::wait(&self.poller, &mut events, most);
            self.accept();
            while let Ok(guest) = self.let_in.try_recv() {
                session = self.receive(guest, session, say);
            }
            // What the worker had no room for.
            self.worker.work();
            if let Some(present) = &mut session {
                if let Err(lost) = self.turn(present) {
                    say(format!("the window is gone: {}; the run goes on", lost.0));
                    session = None;
                    self.worker.send(Command::EachPicture(None));
                }
            } else {
                // Whoever asked for it is gone.
                self.workshop.made.1.try_iter().for_each(Made::discard);
                self.workshop.filmed.1.try_iter().for_each(Made::discard);
                if looked.elapsed() > Duration::from_secs(1) {
                    looked = Instant::now();
                    self.worker.frame();
                }
            }
            let failed = match &self.worker.last_frame().status {
                Status::Failed(reason) => Some(Arc::clone(reason)),
                _ => None,
            };
            if let Some(reason) = failed.as_ref().filter(|_| failed != failure) {
                say(format!("the run has stopped: {reason}"));
            }
            failure = failed;
        }
        if let Some(session) = session {
            session.end("the server was stopped");
        }
    }

    /// Takes who has shaken hands, in the place of whoever is there.
    fn receive(&mut self, guest: Guest, old: Option<Session>, say: &mut dyn FnMut(String)) -> Option<Session> {
        let goes_on = self.doorman.goes_on(guest.hello);
        // Another window came while this one shook hands.
        let is_late = guest.hello.session != 0 && !goes_on;
        match Line::new(guest.socket, &self.poller, 1) {
            Ok(line) if is_late => {
                Session::new(line, guest.round_trip).end(TAKEN_OVER);
                return old;
            }
            Ok(line) => {
                if let Some(old) = old.filter(|_| !goes_on) {
                    old.end(TAKEN_OVER);
                    say("another window takes over".to_owned());
                }
                self.worker.send(Command::EachPicture(None));
                match self.remember(guest.hello, goes_on) {
                    Ok(()) => {
                        let again = if goes_on { " again" } else { "" };
                        say(format!("a window has connected{again}"));
                        return Some(Session::new(line, guest.round_trip));
                    }
                    Err(error) => say(format!("a window could not connect: {error}")),
                }
            }
            Err(error) => say(format!("a window could not connect: {error}")),
        }
        None
    }

    /// What is known of a window, or nothing yet.
    fn remember(&mut self, hello: Hello, goes_on: bool) -> io::Result<()> {
        if !goes_on {
            self.memory = Memory::of(hello.window, self.workshop.folder.path())?;
        }
        // What was on its way when the link was lost is sent again.
        self.memory.known.retain(|(id, _)| matches!(id, SceneId::Window(_)));
        self.memory.names.forget();
        *lock(&self.doorman.present) = (self.memory.window, self.memory.heard);
        Ok(())
    }

    /// A fault of the program in what is said to a window ends its connection, not the run.
    fn turn(&mut self, session: &mut Session) -> Result<(), Lost> {
        let (worker, memory, workshop) = (&mut self.worker, &mut self.memory, &self.workshop);
        let turn = catch_unwind(AssertUnwindSafe(|| session.turn(worker, memory, workshop)));
        lock(&self.doorman.present).1 = self.memory.heard;
        turn.unwrap_or_else(|_| Err(Lost("a fault of the program".to_owned())))
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            self.handshakes.begin(stream, &self.doorman);
        }
        self.handshakes.limit();
        // One event at a time is told of.
        let _ = self.poller.modify(&self.listener, Event::readable(LISTENER));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.poller.delete(&self.listener);
    }
}

impl Memory {
    fn of(window: u64, folder: &Path) -> io::Result<Self> {
        let folder = folder.join(format!("{window:016x}"));
        std::fs::create_dir_all(&folder)?;
        Ok(Self {
            window,
            heard: 0,
            known: Vec::new(),
            store: Store::new(folder),
            names: Names::default(),
            next_scene: 0,
            look: Look::default(),
        })
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A number that no other server or window has; never 0.
pub(super) fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(u64::from_le_bytes(bytes).max(1))
}

/// The machine's name, as far as it is known.
fn host() -> String {
    let named = std::env::var("SLURMD_NODENAME").or_else(|_| std::env::var("HOSTNAME"));
    let named = named.ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let name: String = (named.unwrap_or_default().trim().chars())
        .filter(|c| c.is_ascii_alphanumeric() || "-._".contains(*c))
        .take(64)
        .collect();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

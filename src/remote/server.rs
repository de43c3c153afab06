//! The machine of the run: it steps whether or not a window is connected, and serves one window at a time, the latest that showed the token.

mod session;

use super::files::{Names, Store};
use super::frame::SceneId;
use super::hello::{Answer, Hello, Token, Welcome, version};
use super::socket::{self, HANDSHAKE, Line};
use crate::engine::{Command, Status, Worker};
use crate::scene::Scenario;
use crate::solver::Backend;
use crossbeam_channel::{Receiver, Sender, bounded};
use polling::{Event, Events, Poller};
use session::{Made, Session};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tungstenite::protocol::WebSocket;
use tungstenite::{Message, accept_with_config};

const LISTENER: usize = 0;

/// Connections that may be shaking hands.
const MOST_HANDSHAKES: usize = 16;

/// Without anything to do, the loop looks as often whether it shall end.
const TURN: Duration = Duration::from_millis(200);

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
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
    let_in: Receiver<(WebSocket<TcpStream>, Hello)>,
    made: (Sender<Made>, Receiver<Made>),
    folder: TempDir,
    memory: Memory,
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
}

/// What those who shake hands need.
struct Doorman {
    token: Token,
    session: u64,
    host: String,
    backends: Vec<Backend>,
    busy: AtomicUsize,
    /// Window and requests heard, for the welcome.
    memory: std::sync::Mutex<(u64, u64)>,
    let_in: Sender<(WebSocket<TcpStream>, Hello)>,
    poller: Arc<Poller>,
}

impl Server {
    /// Listens, and builds the run of a scene, which waits at t = 0.
    ///
    /// # Errors
    /// If the address is taken, or the system has no thread or folder for it.
    #[expect(unsafe_code, reason = "the system's list of sockets that are waited for")]
    pub fn start(listen: &str, token: Token, scenario: Arc<Scenario>) -> Result<Self, ServeError> {
        let refused = |reason: String| ServeError::Listen {
            address: listen.to_owned(),
            reason,
        };
        let addresses: Vec<SocketAddr> = (listen.to_socket_addrs())
            .map_err(|error| refused(error.to_string()))?
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
        let folder = tempfile::Builder::new().prefix("ripplon-serve-").tempdir()?;
        let memory = Memory::of(0, folder.path())?;
        let doorman = Doorman {
            token,
            session: random()?,
            host: host(),
            backends: (Backend::ALL.into_iter())
                .filter(|backend| backend.availability().is_ok())
                .collect(),
            busy: AtomicUsize::new(0),
            memory: std::sync::Mutex::new((0, 0)),
            let_in: sender,
            poller: Arc::clone(&poller),
        };
        Ok(Self {
            listener,
            address,
            poller,
            worker,
            doorman: Arc::new(doorman),
            let_in,
            // The run waits until a picture of a film was taken from here.
            made: bounded(1),
            folder,
            memory,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The machine's name.
    #[must_use]
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
            while let Ok((socket, hello)) = self.let_in.try_recv() {
                if let Some(old) = session.take() {
                    old.end("another window has connected to this run; it goes on there");
                    say("another window takes over".to_owned());
                }
                self.worker.send(Command::EachPicture(None));
                match self.begin(socket, hello) {
                    Ok(new) => {
                        say("a window has connected".to_owned());
                        session = Some(new);
                    }
                    Err(error) => say(format!("a window could not connect: {error}")),
                }
            }
            if let Some(present) = &mut session {
                if let Err(lost) = present.turn(&mut self.worker, &mut self.memory, &self.made) {
                    say(format!("the window is gone: {}; the run goes on", lost.0));
                    session = None;
                    self.memory.store.give_up();
                    self.worker.send(Command::EachPicture(None));
                }
                *lock(&self.doorman.memory) = (self.memory.window, self.memory.heard);
            } else {
                // Whoever asked for it is gone.
                while self.made.1.try_recv().is_ok() {}
                if looked.elapsed() > Duration::from_secs(1) || self.worker.is_backed_up() {
                    looked = Instant::now();
                    self.worker.frame();
                }
            }
            let status = &self.worker.last_frame().status;
            if let Status::Failed(reason) = status
                && failure.as_ref() != Some(reason)
            {
                say(format!("the run has stopped: {reason}"));
            }
            failure = match status {
                Status::Failed(reason) => Some(Arc::clone(reason)),
                _ => None,
            };
        }
        if let Some(session) = session {
            session.end("the server was stopped");
        }
    }

    /// Shakes hands with whoever knocks, each on a thread of its own: one that says nothing holds nobody up.
    fn accept(&self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.doorman.busy.fetch_add(1, Ordering::Relaxed) >= MOST_HANDSHAKES {
                self.doorman.busy.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let doorman = Arc::clone(&self.doorman);
            let thread = std::thread::Builder::new().name("ripplon-door".to_owned());
            let begun = thread.spawn(move || {
                doorman.shake_hands(stream);
                doorman.busy.fetch_sub(1, Ordering::Relaxed);
            });
            if begun.is_err() {
                self.doorman.busy.fetch_sub(1, Ordering::Relaxed);
            }
        }
        // One event at a time is told of.
        let _ = self.poller.modify(&self.listener, Event::readable(LISTENER));
    }

    fn begin(&mut self, socket: WebSocket<TcpStream>, hello: Hello) -> io::Result<Session> {
        let goes_on = hello.session == self.doorman.session && hello.window == self.memory.window;
        if !goes_on {
            self.memory = Memory::of(hello.window, self.folder.path())?;
        }
        // What was on its way when the link was lost is sent again.
        self.memory.known.retain(|(id, _)| matches!(id, SceneId::Window(_)));
        self.memory.names.forget();
        let line = Line::new(socket, &self.poller, 1)?;
        Ok(Session::new(line, self.folder.path(), &self.poller))
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
        })
    }
}

impl Doorman {
    fn shake_hands(&self, stream: TcpStream) {
        let ready = stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_read_timeout(Some(HANDSHAKE)))
            .and_then(|()| stream.set_write_timeout(Some(HANDSHAKE)));
        if ready.is_err() {
            return;
        }
        let Ok(mut socket) = accept_with_config(stream, Some(socket::config_of_hello())) else {
            return;
        };
        let Ok(Message::Binary(bytes)) = socket.read() else {
            return;
        };
        let answer = match Hello::read(&bytes, &self.token) {
            Err(answer) => answer,
            Ok(hello) => {
                let (window, heard) = *lock(&self.memory);
                let goes_on = hello.session == self.session && hello.window == window;
                let welcome = Answer::Welcome(Welcome {
                    version: version(),
                    host: self.host.clone(),
                    session: self.session,
                    heard: if goes_on { heard } else { 0 },
                    backends: self.backends.clone(),
                });
                if socket.send(Message::binary(welcome.bytes())).is_ok() {
                    // The other end is the server itself, which may be at its end.
                    let _ = self.let_in.send((socket, hello));
                    let _ = self.poller.notify();
                }
                return;
            }
        };
        let bytes = answer.bytes();
        if !bytes.is_empty() {
            let _ = socket.send(Message::binary(bytes));
        }
        let _ = socket.close(None);
        // The answer is read before the socket goes.
        while socket.read().is_ok() {}
    }
}

fn lock<T>(shared: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
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

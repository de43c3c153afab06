//! The window's end: a worker whose engine is on another machine. Its thread sends what is asked for, shows what comes, and connects again where the link is lost.

mod orders;
mod thread;

use super::files::Store;
use super::hello::{Answer, Hello, PORT, Token, Welcome};
use super::scenes;
use super::server::random;
use super::socket::{self, Counted, HANDSHAKE, Line, Lost};
use super::wire::{self, Came, ToWindow};
use crate::engine::{Link, Worker};
use crate::scene::{Scenario, SceneFile};
use polling::{Events, Poller};
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tungstenite::{Message, client::client_with_config};

/// How long a machine may take to answer at all.
const ANSWER: Duration = Duration::from_secs(10);

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConnectError {
    /// No such machine, or nobody listens.
    #[error(
        "no connection to {address}: {reason}; start `ripplon serve SCENE` there, and where it is behind a login machine `ssh -N -L {PORT}:NODE:{PORT} LOGIN` \
         here"
    )]
    Unreachable {
        /// The address.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// Something else listens.
    #[error(
        "no server of Ripplon answers on {0}; check the address and the port, and that `ripplon serve` runs there (`ssh -L` takes connections even if nothing listens at its \
         other end)"
    )]
    Foreign(String),
    /// The token is another one.
    #[error(
        "{0} refuses the token; take the one that its `ripplon serve` has printed, which is another one after each start"
    )]
    WrongToken(String),
    /// Another window is served by now, or the run is another one.
    #[error("{0} serves another window by now, or another run; connect anew")]
    Elsewhere(String),
    /// Other messages are spoken there.
    #[error(
        "{address} runs Ripplon {version}, which speaks protocol {theirs}; this is {own}, which speaks {}; use the same version on both machines",
        super::hello::PROTOCOL
    )]
    OtherVersion {
        /// The address.
        address: String,
        /// Its version.
        version: String,
        /// Its protocol.
        theirs: u16,
        /// This program's version.
        own: String,
    },
    /// The link ended while the scene came.
    #[error("the link to {address} was lost: {reason}")]
    Lost {
        /// The address.
        address: String,
        /// Why.
        reason: String,
    },
    /// The scene that runs there cannot be read here.
    #[error("the scene that runs on {address} cannot be opened here: {reason}")]
    Scene {
        /// The address.
        address: String,
        /// Why.
        reason: String,
    },
    /// A thread or a folder.
    #[error("the window cannot connect: {0}")]
    System(String),
}

/// A run on another machine.
pub struct Remote {
    /// Its worker, as if it were here.
    pub worker: Worker,
    /// The scene that runs, as written: files that it names lie in the folder that was given to [`connect`].
    pub file: SceneFile,
    /// The scene that runs.
    pub scenario: Arc<Scenario>,
}

/// What every attempt to connect needs.
#[derive(Clone)]
struct Door {
    address: String,
    token: Token,
    poller: Arc<Poller>,
}

impl Door {
    /// Knocks, and is let in or not.
    fn enter(&self, hello: Hello) -> Result<(Line, Welcome), ConnectError> {
        let address = || self.address.clone();
        let unreachable = |reason: String| ConnectError::Unreachable {
            address: address(),
            reason,
        };
        let stream = self.reach().map_err(|error| unreachable(error.to_string()))?;
        let limited = stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(Some(HANDSHAKE)))
            .and_then(|()| stream.set_write_timeout(Some(HANDSHAKE)));
        limited.map_err(|error| unreachable(error.to_string()))?;
        let url = format!("ws://{}/", self.address);
        // An answer may be as long as a welcome.
        let shaken = client_with_config(url, Counted::new(stream), Some(socket::config_of_hello()));
        let (mut socket, _) = shaken.map_err(|_| ConnectError::Foreign(address()))?;
        let said = socket.send(Message::binary(hello.bytes(&self.token)));
        said.map_err(|error| unreachable(error.to_string()))?;
        let answer = match socket.read() {
            Ok(Message::Binary(bytes)) => Answer::read(&bytes),
            _ => Answer::Foreign,
        };
        match answer {
            Answer::Welcome(welcome) => {
                let line = Line::new(socket, &self.poller, 1);
                Ok((line.map_err(|error| ConnectError::System(error.to_string()))?, welcome))
            }
            Answer::WrongToken => Err(ConnectError::WrongToken(address())),
            Answer::OtherVersion(theirs, version) => Err(ConnectError::OtherVersion {
                address: address(),
                version,
                theirs,
                own: super::hello::version(),
            }),
            Answer::Elsewhere => Err(ConnectError::Elsewhere(address())),
            Answer::Foreign => Err(ConnectError::Foreign(address())),
        }
    }

    fn reach(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::other("this name belongs to no machine");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, ANSWER) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// HOST, HOST:PORT or PORT as an address.
pub fn full_address(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix("ws://").unwrap_or(text).trim_end_matches('/');
    if text.parse::<u16>().is_ok() {
        return format!("127.0.0.1:{text}");
    }
    let bare_v6 = text.matches(':').count() > 1 && !text.contains(']');
    if bare_v6 {
        format!("[{text}]:{PORT}")
    } else if text.rsplit(']').next().unwrap_or(text).contains(':') {
        text.to_owned()
    } else {
        format!("{text}:{PORT}")
    }
}

/// Connects to a server, and waits for the scene that it runs. Files that scenes name are kept in `folder`. `wake` is called after each frame.
///
/// # Errors
/// Why there is no connection.
pub fn connect(
    address: &str,
    token: Token,
    folder: &Path,
    wake: impl Fn() + Send + Sync + 'static,
) -> Result<Remote, ConnectError> {
    let system = |error: io::Error| ConnectError::System(error.to_string());
    let door = Door {
        address: full_address(address),
        token,
        poller: Arc::new(Poller::new().map_err(system)?),
    };
    let window = random().map_err(system)?;
    let (mut line, welcome) = door.enter(Hello { window, session: 0 })?;
    forget_old(folder);
    let folder = folder.join(format!("{:016x}-{window:016x}", welcome.session));
    std::fs::create_dir_all(&folder).map_err(system)?;
    let mut store = Store::new(folder);
    let lost = |Lost(reason): Lost| ConnectError::Lost {
        address: door.address.clone(),
        reason,
    };
    let (id, text) = first_scene(&mut line, &door.poller, &mut store).map_err(lost)?;
    crate::solver::run_elsewhere(Some(welcome.backends.clone()));
    let (file, scenario) = scenes::unpack(&text, &store).map_err(|reason| {
        crate::solver::run_elsewhere(None);
        ConnectError::Scene {
            address: door.address.clone(),
            reason,
        }
    })?;
    let link = Link::new(welcome.host.clone(), door.address.clone());
    let start = thread::Start {
        line,
        door: door.clone(),
        hello: Hello {
            window,
            session: welcome.session,
        },
        scene: (id, Arc::clone(&scenario)),
        store,
        link: link.clone(),
    };
    let poller = Arc::clone(&door.poller);
    let nudge = move || {
        let _ = poller.notify();
    };
    let worker = Worker::over(link, wake, nudge, move |end| thread::run(start, end)).map_err(system)?;
    Ok(Remote { worker, file, scenario })
}

/// Removes what came with scenes of other days. What is in use, or cannot be removed, is left.
fn forget_old(folder: &Path) {
    const KEPT: Duration = Duration::from_hours(24 * 30);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let changed = entry.metadata().and_then(|data| data.modified()).ok();
        let age = changed.and_then(|changed| changed.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The scene that runs, with its files before it.
fn first_scene(line: &mut Line, poller: &Poller, store: &mut Store) -> Result<(u64, String), Lost> {
    let mut events = Events::new();
    let mut pieces = 0;
    let mut pulse = Instant::now();
    loop {
        while let Some(bytes) = line.read()? {
            match wire::decode(&bytes).ok_or_else(Lost::damaged)? {
                ToWindow::Scene(scene) => return Ok((scene.id, scene.text)),
                ToWindow::Piece(piece) => {
                    pieces += piece.bytes.len() as u64;
                    let taken = store.take(&piece);
                    taken.map_err(|error| Lost(format!("a file of the scene cannot be kept: {error}")))?;
                    let came = Came {
                        pieces,
                        ..Came::default()
                    };
                    line.send(wire::encode(&wire::ToServer::Came(came)))?;
                }
                ToWindow::End(why) => return Err(Lost(why)),
                // Frames follow the scene.
                _ => {}
            }
        }
        if pulse.elapsed() > socket::PULSE {
            pulse = Instant::now();
            line.send(wire::encode(&wire::ToServer::Alive))?;
        }
        line.rearm()?;
        socket::wait(poller, &mut events, Duration::from_millis(500));
    }
}

#[cfg(test)]
mod tests {
    use super::full_address;

    #[test]
    fn addresses_may_be_short() {
        for (text, full) in [
            ("node17", "node17:7421"),
            ("node17:80", "node17:80"),
            ("8000", "127.0.0.1:8000"),
            ("ws://127.0.0.1:7421/", "127.0.0.1:7421"),
            ("::1", "[::1]:7421"),
            ("[::1]:80", "[::1]:80"),
            ("[::1]", "[::1]:7421"),
        ] {
            assert_eq!(full_address(text), full);
        }
    }
}

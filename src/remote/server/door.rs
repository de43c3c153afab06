//! Who is let in: handshakes, each on a thread of its own, so that one that says nothing holds nobody up.

use super::lock;
use crate::remote::hello::{Answer, Hello, Token, Welcome, version};
use crate::remote::socket::{self, Counted, HANDSHAKE};
use crate::solver::Backend;
use crossbeam_channel::Sender;
use polling::Poller;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tungstenite::protocol::WebSocket;
use tungstenite::{Message, accept_with_config};

/// Connections that may be shaking hands.
pub(super) const MOST_HANDSHAKES: usize = 16;

/// A window that was let in.
pub(super) struct Guest {
    pub(super) socket: WebSocket<Counted>,
    pub(super) hello: Hello,
    /// From an answer of the server's to the next word of the window's.
    pub(super) round_trip: Duration,
}

/// What those who shake hands need.
pub(super) struct Doorman {
    pub(super) token: Token,
    pub(super) session: u64,
    pub(super) host: String,
    pub(super) backends: Vec<Backend>,
    /// The window that is served, and how many of its requests were heard.
    pub(super) present: Mutex<(u64, u64)>,
    pub(super) let_in: Sender<Guest>,
    pub(super) poller: Arc<Poller>,
}

/// Handshakes that go on.
#[derive(Default)]
pub(super) struct Handshakes {
    begun: Vec<(Instant, TcpStream, Arc<AtomicBool>)>,
}

impl Handshakes {
    /// Shakes hands with whoever is at the other end, if not too many do.
    pub(super) fn begin(&mut self, stream: TcpStream, doorman: &Arc<Doorman>) {
        self.limit();
        if self.begun.len() >= MOST_HANDSHAKES {
            return;
        }
        let Ok(own) = stream.try_clone() else { return };
        let over = Arc::new(AtomicBool::new(false));
        self.begun.push((Instant::now(), own, Arc::clone(&over)));
        let doorman = Arc::clone(doorman);
        let thread = std::thread::Builder::new().name("ripplon-door".to_owned());
        // Without a thread the stream is closed, and its time ends it here.
        let _ = thread.spawn(move || doorman.shake_hands(stream, &over));
    }

    /// Ends those that take too long, however slowly they go on.
    pub(super) fn limit(&mut self) {
        self.begun.retain(|(since, stream, over)| {
            let is_over = over.load(Ordering::Acquire);
            if !is_over && since.elapsed() > HANDSHAKE {
                let _ = stream.shutdown(Shutdown::Both);
                return false;
            }
            !is_over
        });
    }
}

impl Doorman {
    /// Whether a window that was here before is still the one that is served.
    pub(super) fn goes_on(&self, hello: Hello) -> bool {
        hello.session == self.session && hello.window == lock(&self.present).0
    }

    fn shake_hands(&self, stream: TcpStream, over: &AtomicBool) {
        let guest = self.greet(stream);
        over.store(true, Ordering::Release);
        if let Some(guest) = guest {
            // The other end is the server itself, which may be at its end.
            let _ = self.let_in.send(guest);
            let _ = self.poller.notify();
        }
    }

    fn greet(&self, stream: TcpStream) -> Option<Guest> {
        stream.set_nonblocking(false).ok()?;
        stream.set_nodelay(true).ok()?;
        stream.set_read_timeout(Some(HANDSHAKE)).ok()?;
        stream.set_write_timeout(Some(HANDSHAKE)).ok()?;
        let mut socket = accept_with_config(Counted::new(stream), Some(socket::config_of_hello())).ok()?;
        let answered = Instant::now();
        let Ok(Message::Binary(bytes)) = socket.read() else {
            return None;
        };
        let round_trip = answered.elapsed();
        let answer = match Hello::read(&bytes, &self.token) {
            Err(answer) => answer,
            // One that has lost its link does not take the run from the window that came after it.
            Ok(hello) if hello.session != 0 && !self.goes_on(hello) => Answer::Elsewhere,
            Ok(hello) => {
                let heard = if hello.session == 0 { 0 } else { lock(&self.present).1 };
                let welcome = Answer::Welcome(Welcome {
                    version: version(),
                    host: self.host.clone(),
                    session: self.session,
                    heard,
                    backends: self.backends.clone(),
                });
                socket.send(Message::binary(welcome.bytes())).ok()?;
                return Some(Guest {
                    socket,
                    hello,
                    round_trip,
                });
            }
        };
        let bytes = answer.bytes();
        if !bytes.is_empty() {
            let _ = socket.send(Message::binary(bytes));
        }
        let _ = socket.close(None);
        // The answer is read before the socket goes.
        while socket.read().is_ok() {}
        None
    }
}

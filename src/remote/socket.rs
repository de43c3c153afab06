//! One end of a link: a WebSocket whose thread never waits for it alone. What is sent lies in memory until the socket takes it; what arrives is read when it is there.

use super::wire;
use polling::{Event, Events, Poller};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

/// How long a handshake may take.
pub const HANDSHAKE: Duration = Duration::from_secs(10);

/// A sign of life is sent as often.
pub const PULSE: Duration = Duration::from_secs(3);

/// Without one for this long, the link is lost.
pub const SILENCE: Duration = Duration::from_secs(20);

/// Why nothing more can be sent or read, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost(pub String);

impl Lost {
    /// What arrives is nothing that this version sends.
    #[must_use]
    pub fn damaged() -> Self {
        Self("what arrived was damaged".to_owned())
    }
}

/// A TCP connection that notes what arrives: a long message on a slow link is a sign of life while it comes.
#[derive(Debug)]
pub struct Counted {
    stream: TcpStream,
    heard: Instant,
    received: u64,
}

impl Counted {
    /// From now on.
    #[must_use]
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            heard: Instant::now(),
            received: 0,
        }
    }
}

impl Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(bytes)?;
        self.heard = Instant::now();
        self.received += read as u64;
        Ok(read)
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Limits on messages before anybody was let in.
pub fn config_of_hello() -> WebSocketConfig {
    limited(1 << 12)
}

fn limited(most: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(most))
        .max_frame_size(Some(most))
}

/// A connected socket.
pub struct Line {
    socket: WebSocket<Counted>,
    poller: Arc<Poller>,
    key: usize,
    is_flushed: bool,
}

impl Line {
    /// Of a socket whose handshake is done. `poller` wakes its thread with `key`.
    ///
    /// # Errors
    /// If the system refuses.
    #[expect(unsafe_code, reason = "the system's list of sockets that are waited for")]
    pub fn new(mut socket: WebSocket<Counted>, poller: &Arc<Poller>, key: usize) -> io::Result<Self> {
        socket.set_config(|config| *config = limited(wire::MOST));
        let stream = &socket.get_ref().stream;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        stream.set_nonblocking(true)?;
        // SAFETY: the socket is taken off the list in `drop`, before it is closed.
        unsafe { poller.add(stream, Event::readable(key))? };
        Ok(Self {
            socket,
            poller: Arc::clone(poller),
            key,
            is_flushed: true,
        })
    }

    /// Sends a message when the socket takes it.
    ///
    /// # Errors
    /// If the link is lost.
    pub fn send(&mut self, bytes: Vec<u8>) -> Result<(), Lost> {
        match self.socket.write(Message::binary(bytes)) {
            Ok(()) => {}
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(lost(error)),
        }
        self.flush()
    }

    /// Goes on sending.
    ///
    /// # Errors
    /// If the link is lost.
    pub fn flush(&mut self) -> Result<(), Lost> {
        self.is_flushed = match self.socket.flush() {
            Ok(()) => true,
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => return Err(lost(error)),
        };
        Ok(())
    }

    /// Whether the system has taken all that was sent.
    pub fn is_flushed(&self) -> bool {
        self.is_flushed
    }

    /// The next message, if one has arrived.
    ///
    /// # Errors
    /// If the link is lost.
    pub fn read(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        loop {
            match self.socket.read() {
                Ok(Message::Binary(bytes)) => return Ok(Some(bytes.to_vec())),
                Ok(Message::Close(_)) => return Err(Lost("the other end has closed it".to_owned())),
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                    return if self.socket.get_ref().heard.elapsed() > SILENCE {
                        Err(Lost(format!("nothing was heard for {} s", SILENCE.as_secs())))
                    } else {
                        Ok(None)
                    };
                }
                Err(error) => return Err(lost(error)),
            }
        }
    }

    /// Bytes that arrived.
    pub fn received(&self) -> u64 {
        self.socket.get_ref().received
    }

    /// Has the poller wake its thread once, when there is something to read, or room for what waits.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn rearm(&self) -> Result<(), Lost> {
        let interest = if self.is_flushed {
            Event::readable(self.key)
        } else {
            Event::all(self.key)
        };
        let armed = self.poller.modify(&self.socket.get_ref().stream, interest);
        armed.map_err(|error| Lost(error.to_string()))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let stream = &self.socket.get_ref().stream;
        let _ = self.poller.delete(stream);
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
}

/// Waits for any of the sockets, a wake-up or the time.
pub fn wait(poller: &Poller, events: &mut Events, most: Duration) {
    events.clear();
    // An interrupted wait is a short one.
    let _ = poller.wait(events, Some(most));
}

fn lost(error: Error) -> Lost {
    Lost(match error {
        Error::ConnectionClosed | Error::AlreadyClosed => "the other end has closed it".to_owned(),
        Error::Protocol(_) => "the other end is gone".to_owned(),
        Error::Capacity(_) => "a message was longer than any that is sent".to_owned(),
        other => other.to_string(),
    })
}

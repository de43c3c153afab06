//! A link to a server that can be slow and can be cut: a proxy between both ends.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a link is like.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Bytes a second, each way.
    pub rate: f64,
    /// From one end to the other.
    pub delay: Duration,
}

/// Without limits.
pub const FAST: Shape = Shape {
    rate: 1e12,
    delay: Duration::ZERO,
};

/// A proxy on a port of its own.
pub struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    to: SocketAddr,
    shape: Shape,
    is_up: AtomicBool,
    is_over: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
    /// Bytes that went to the window.
    down: AtomicU64,
}

impl Proxy {
    pub fn start(to: SocketAddr, shape: Shape) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            to,
            shape,
            is_up: AtomicBool::new(true),
            is_over: AtomicBool::new(false),
            streams: Mutex::default(),
            down: AtomicU64::new(0),
        });
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if own.is_over.load(Ordering::SeqCst) {
                    return;
                }
                // As `ssh -L`: it takes connections even if nothing is at the other end.
                if own.is_up.load(Ordering::SeqCst)
                    && let Ok(stream) = stream
                {
                    own.lead(stream);
                }
            }
        });
        Self { address, shared }
    }

    /// Cuts every connection, and takes no other.
    pub fn cut(&self) {
        self.shared.is_up.store(false, Ordering::SeqCst);
        self.shared.cut();
    }

    /// Takes connections again.
    pub fn mend(&self) {
        self.shared.is_up.store(true, Ordering::SeqCst);
    }

    /// Bytes that went to the window.
    pub fn down(&self) -> u64 {
        self.shared.down.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.cut();
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn cut(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn lead(self: &Arc<Self>, window: TcpStream) {
        let Ok(server) = TcpStream::connect(self.to) else {
            return;
        };
        let mut streams = self.streams.lock().unwrap();
        for stream in [&window, &server] {
            stream.set_nodelay(true).unwrap();
            streams.push(stream.try_clone().unwrap());
        }
        let ways = [
            (window.try_clone().unwrap(), server.try_clone().unwrap(), false),
            (server, window, true),
        ];
        for (from, to, is_down) in ways {
            let own = Arc::clone(self);
            std::thread::spawn(move || own.carry(from, to, is_down));
        }
    }

    /// Reads as fast as the link carries; what was read arrives after the delay.
    fn carry(&self, mut from: TcpStream, mut to: TcpStream, is_down: bool) {
        let (sender, receiver) = std::sync::mpsc::channel::<(Instant, Vec<u8>)>();
        let writer = std::thread::spawn(move || {
            for (due, bytes) in receiver {
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                if to.write_all(&bytes).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
        });
        let mut free = Instant::now();
        let mut buffer = [0; 4096];
        while let Ok(read) = from.read(&mut buffer) {
            if read == 0 {
                break;
            }
            free = free.max(Instant::now()) + Duration::from_secs_f64(read as f64 / self.shape.rate);
            std::thread::sleep(free.saturating_duration_since(Instant::now()));
            if is_down {
                self.down.fetch_add(read as u64, Ordering::SeqCst);
            }
            if sender.send((free + self.shape.delay, buffer[..read].to_vec())).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        drop(sender);
        let _ = writer.join();
    }
}

//! The window away from the machine: a server and a window in one process, and a link between them that is slow, cut or hostile.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "tests end where they cannot go on"
)]

mod link;
mod lost;
mod same;
mod slow;
mod strangers;

use ripplon::engine::{Command, Frame, LinkState, Worker};
use ripplon::remote::{Server, Token, connect};
use ripplon::scene::Scenario;
use ripplon::solver::{ImageRequest, read_scene_text};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A packet that runs into a barrier, seen by two detectors.
const SCENE: &str = r#"
format = 1
title = "Test"
[grid]
size = [48, 32]
spacing = 0.5
[quantum]
mass = 1.0
[time]
step = 0.02
[solver]
method = "trotter"
backend = "cpu"
variant = "naive"
precision = "single"
[[packet]]
center = [8.0, 8.0]
width = [2.0, 2.0]
momentum = [1.5, 0.3]
[[layer]]
sets = "potential"
shape = "box"
min = [12.0, 0.0]
max = [13.0, 16.0]
value = 1.5
[[detector]]
name = "right"
region = { min = [13.5, 0.0], max = [24.0, 16.0] }
measure = "probability"
[[detector]]
name = "point"
at = [12.0, 8.0]
measure = "value"
[[expect]]
observable = "norm"
at = 0.5
value = 1.0
tolerance = 1e-4
because = "Every step is unitary."
"#;

/// The scene with values set.
fn scene(text: &str, settings: &[&str]) -> Arc<Scenario> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match read_scene_text(text, None, &settings) {
        Ok((_, scenario)) => Arc::new(scenario),
        Err(faults) => panic!("{}", faults.render(false)),
    }
}

/// A server on a thread.
struct Served {
    address: SocketAddr,
    token: Token,
    said: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn start(scenario: Arc<Scenario>) -> Self {
        let token = Token::random().unwrap();
        let mut server = Server::start("127.0.0.1:0", token, scenario).unwrap();
        let address = server.address();
        let stop = Arc::new(AtomicBool::new(false));
        let said = Arc::new(Mutex::new(Vec::new()));
        let (asked, log) = (Arc::clone(&stop), Arc::clone(&said));
        let thread = std::thread::spawn(move || {
            server.run(&|| asked.load(Ordering::SeqCst), &mut |text| {
                log.lock().unwrap().push(text);
            });
        });
        Self {
            address,
            token,
            said,
            stop,
            thread: Some(thread),
        }
    }

    /// Whether somebody was told so.
    fn has_said(&self, what: &str) -> bool {
        self.said.lock().unwrap().iter().any(|text| text.contains(what))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
    }
}

/// A window's end, with the folder for files of scenes.
struct Window {
    worker: Worker,
    scenario: Arc<Scenario>,
    _folder: TempDir,
}

fn window(address: SocketAddr, token: Token) -> Window {
    let folder = tempfile::tempdir().unwrap();
    let remote = connect(&address.to_string(), token, folder.path(), || ()).unwrap();
    Window {
        worker: remote.worker,
        scenario: remote.scenario,
        _folder: folder,
    }
}

impl Window {
    fn link(&self) -> LinkState {
        self.worker.link().unwrap().state()
    }
}

/// Waits; hangs are failures, slowness is none.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < Duration::from_mins(5),
            "{what}: it did not come to that"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits for a frame.
fn wait(worker: &mut Worker, what: &str, wanted: impl Fn(&Frame) -> bool) -> Frame {
    until(what, || wanted(worker.frame()));
    worker.last_frame().clone()
}

/// The whole plane, with so many texels along each axis at most.
fn view(scenario: &Scenario, most: usize) -> Command {
    let size = scenario.grid().size();
    Command::View(ImageRequest::new(
        scenario.view().quantity,
        [0..size[0], 0..size[1]],
        0,
        [most, most],
    ))
}

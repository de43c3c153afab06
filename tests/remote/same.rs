//! What the window shows and writes is what it would be if the run were here.

use super::{SCENE, Served, scene, until, view, wait, window};
use ripplon::engine::{Command, Frame, Job, Phase, Status, Worker};
use ripplon::export::Look;
use ripplon::export::errand::{Errand, Product, To};
use ripplon::scene::Scenario;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The same scene here and there.
struct Both {
    here: Worker,
    there: super::Window,
    _server: Served,
}

impl Both {
    fn of(scenario: &Arc<Scenario>) -> Self {
        let server = Served::start(Arc::clone(scenario));
        let there = window(server.address, server.token);
        let here = Worker::spawn(Some(Arc::clone(scenario)), || ()).unwrap();
        let mut both = Self {
            here,
            there,
            _server: server,
        };
        both.ask(&view(scenario, 64));
        both
    }

    fn ask(&mut self, command: &Command) {
        self.here.send(command.clone());
        self.there.worker.send(command.clone());
    }

    /// Each step by hand is taken before what is asked for after it.
    fn step(&mut self, steps: usize) {
        for _ in 0..steps {
            self.ask(&Command::Step(1));
        }
    }

    /// Both have done what was asked for and show the same to the last bit: first a picture as fine as the link carries, then the exact one.
    fn compare(&mut self, what: &str) -> Frame {
        self.write(&Product::Field, "field.npy");
        let begin = Instant::now();
        let (own, other) = loop {
            let (own, other) = (self.here.frame(), self.there.worker.frame());
            let different = difference(own, other);
            if different.is_empty() && own.status == Status::Paused {
                break (own.clone(), other.clone());
            }
            let what = format!("{what}: {different} differs: {:?}, {:?}", own.clock, other.clock);
            assert!(begin.elapsed() < Duration::from_mins(5), "{what}");
            std::thread::sleep(Duration::from_millis(2));
        };
        assert_eq!(own.verdicts, other.verdicts, "{what}");
        // How records come in batches depends on the pictures; the last one is the same.
        let [last, arrived] = [&own, &other].map(|frame| {
            let batch = frame.records.last();
            batch.map(|batch| (batch.step, batch.times.last().copied()))
        });
        assert_eq!(last, arrived, "{what}");
        let reports = [&own, &other].map(|frame| frame.report.as_ref().unwrap().clone());
        assert_eq!(reports[0].method, reports[1].method, "{what}");
        assert_eq!(reports[0].variant, reports[1].variant, "{what}");
        other
    }

    /// Both write the same file.
    fn write(&mut self, product: &Product, name: &str) {
        let folder = tempfile::tempdir().unwrap();
        let files = ["here", "there"].map(|place| folder.path().join(format!("{place}-{name}")));
        for (worker, file) in [&mut self.here, &mut self.there.worker].into_iter().zip(&files) {
            let errand = Errand::new(product.clone(), To::File(file.clone()));
            worker.send(Command::Run(Job::of(errand)));
        }
        for (worker, file) in [&mut self.here, &mut self.there.worker].into_iter().zip(&files) {
            let told = |frame: &Frame| {
                let notice = frame.notice.as_ref();
                notice.is_some_and(|notice| notice.text.contains(&file.display().to_string()))
            };
            let frame = wait(worker, name, told);
            assert!(!frame.notice.unwrap().is_error);
        }
        let [own, other] = files.map(|file| fs::read(file).unwrap());
        let place = own.iter().zip(&other).position(|(a, b)| a != b);
        let lengths = [own.len(), other.len()];
        assert!(
            own == other,
            "{name}: {lengths:?} bytes, of which byte {place:?} differs"
        );
    }
}

/// What differs between two frames of the same state; nothing where they are the same.
fn difference(own: &Frame, other: &Frame) -> &'static str {
    let file = |frame: &Frame| frame.scenario.as_ref().map(|scenario| scenario.file().to_toml());
    // They are taken less often than pictures where they cost time: each says at which step.
    let taken = [own, other].map(|frame| frame.observables.map(|(step, _)| step));
    // Not all of them are numbers in every scene: their words are compared.
    let words = |frame: &Frame| format!("{:?} {:?}", frame.observables, frame.drift);
    let drift = words(own) == words(other);
    let measured = [own, other].map(|frame| frame.state.map(|(step, ..)| step));
    let checks = [
        ("status", own.status == other.status),
        ("scene", file(own) == file(other)),
        ("clock", own.clock == other.clock),
        ("picture", own.image == other.image && !own.image.value.is_empty()),
        ("detectors", own.detectors == other.detectors),
        ("observables", taken[0] != taken[1] || drift),
        (
            "measures of the state",
            measured[0] != measured[1] || own.state == other.state,
        ),
        ("snapshot", own.has_snapshot == other.has_snapshot),
    ];
    checks.iter().find(|(_, same)| !same).map_or("", |(name, _)| name)
}

#[test]
fn a_run_is_the_same_through_the_link() {
    let first = scene(SCENE, &[]);
    let mut both = Both::of(&first);
    assert_eq!(both.there.scenario.title(), "Test");
    both.ask(&Command::StateMeasures(true));
    both.step(40);
    both.compare("steps");
    both.ask(&Command::Snapshot);
    both.step(30);
    let frame = both.compare("a snapshot");
    assert!(frame.has_snapshot);
    // Back and forth in time.
    both.ask(&Command::Restore);
    both.compare("back to it");
    both.ask(&Command::Reverse);
    both.step(10);
    let frame = both.compare("backwards");
    assert!(frame.clock.time_step < 0.0);
    both.ask(&Command::Reverse);
    // Edits: a wall, a detector (a probe), another grid.
    let edited = scene(SCENE, &["layer.0.value=4.0", "detector.1.at=[10.0, 8.0]"]);
    both.ask(&Command::Update(edited));
    both.step(50);
    let frame = both.compare("an edit");
    assert!(frame.verdicts.len() == 1 && frame.detectors.len() == 2);
    let other = scene(
        SCENE,
        &[
            "grid.size=[64, 48]",
            "solver.method=\"split-step-fourier\"",
            "solver.variant=\"auto\"",
        ],
    );
    both.ask(&Command::Load(Arc::clone(&other)));
    both.ask(&view(&other, 64));
    both.step(20);
    let frame = both.compare("another scene");
    assert_eq!(frame.image.size, [64, 48]);
    both.ask(&Command::Reset);
    both.compare("a reset");
}

#[test]
fn a_run_plays_and_pauses_through_the_link() {
    let server = Served::start(scene(SCENE, &[]));
    let mut there = window(server.address, server.token);
    there.worker.send(Command::Play);
    let first = wait(&mut there.worker, "it runs", |frame| frame.status == Status::Running);
    let steps = first.clock.steps;
    wait(&mut there.worker, "it goes on", |frame| frame.clock.steps > steps + 100);
    there.worker.send(Command::StepsPerFrame(Some(3)));
    wait(&mut there.worker, "its speed", |frame| frame.steps_per_frame == 3);
    there.worker.send(Command::Pause);
    wait(&mut there.worker, "it stands", |frame| frame.status == Status::Paused);
}

#[test]
fn what_is_written_is_the_same_through_the_link() {
    let scenario = scene(SCENE, &[]);
    let mut both = Both::of(&scenario);
    both.step(64);
    both.compare("steps");
    let look = Look::of(&scenario);
    let text = scenario.file().to_toml();
    both.write(&Product::Field, "field.npy");
    both.write(&Product::Records, "records.csv");
    both.write(&Product::Checkpoint, "run.ripplon");
    both.write(&Product::Picture { look, scene: text }, "picture.png");
    let sound = Product::Sound {
        detector: "right".to_owned(),
        speed: 1.0,
    };
    both.write(&sound, "sound.wav");
    // A measurement is drawn with the seed that is sent, and changes the state there.
    let measure = Product::Position { width: 2.0, seed: 7 };
    both.ask(&Command::Run(Job::of(Errand::new(measure, To::Notice))));
    let told = |frame: &Frame| {
        frame
            .notice
            .as_ref()
            .is_some_and(|notice| notice.text.contains("The particle was"))
    };
    let texts =
        [&mut both.here, &mut both.there.worker].map(|worker| wait(worker, "it is told", told).notice.unwrap().text);
    assert_eq!(texts[0], texts[1]);
    both.compare("a measurement");
}

#[test]
fn films_come_picture_by_picture() {
    // Colours that go by the picture go on from the one before, of which there may be one more.
    let scenario = scene(SCENE, &["view.range=[0.0, 0.05]"]);
    let mut both = Both::of(&scenario);
    let film = |worker: &mut Worker| {
        let (sender, pictures) = crossbeam_channel::bounded(2);
        let product = Product::FilmPicture {
            look: Look::of(&scenario),
            time_step: 0.02,
            seconds: 1.0 / 30.0,
        };
        worker.send(Command::EachPicture(Some(Job::of(Errand::new(
            product,
            To::Film(sender),
        )))));
        pictures
    };
    let films = [film(&mut both.here), film(&mut both.there.worker)];
    let mut seen = [Vec::new(), Vec::new()];
    for _ in 0..8 {
        both.step(1);
        let before = seen.each_ref().map(Vec::len);
        until("a picture of the step", || {
            both.here.frame();
            both.there.worker.frame();
            for (pictures, seen) in films.iter().zip(&mut seen) {
                seen.extend(pictures.try_iter());
            }
            seen.iter().zip(before).all(|(seen, before)| seen.len() > before)
        });
    }
    // There may be one of t = 0 before them.
    until("the same last seven", || {
        both.here.frame();
        both.there.worker.frame();
        for (pictures, seen) in films.iter().zip(&mut seen) {
            seen.extend(pictures.try_iter());
        }
        let [own, other] = seen.each_ref().map(|seen| &seen[seen.len() - 7..]);
        let mut pairs = own.iter().zip(other);
        pairs.all(|(own, other)| own.rgb == other.rgb && own.width == other.width)
    });
    let own = &seen[0];
    assert!(own[own.len() - 7].rgb != own[own.len() - 1].rgb);
    drop(films);
}

/// Sound that a mirror hears and sends back.
const MIRROR: &str = r#"
format = 1
[grid]
size = [40, 40]
spacing = 1.0
[acoustic]
speed = 1.0
[time]
step = 0.5
[solver]
method = "fdtd"
backend = "cpu"
[[pulse]]
center = [20.0, 20.0]
width = 2.0
[mirror]
method = "reversal"
at = 30.0
transducers = { shape = "ring", center = [20.0, 20.0], radius = 12.0, count = 16 }
"#;

#[test]
fn a_mirror_turns_time_through_the_link() {
    let scenario = scene(MIRROR, &[]);
    let mut both = Both::of(&scenario);
    both.step(100);
    let shown = both.compare("the way back");
    let own = both.here.last_frame().mirror.clone().unwrap();
    let other = shown.mirror.unwrap();
    assert_eq!(own.status, other.status);
    assert_eq!(other.status.phase, Phase::Replay);
    assert_eq!((&own.sites, own.focus), (&other.sites, other.focus));
    assert_eq!(own.refocus, other.refocus);
    for n in 0..2 {
        assert_eq!(own.signals[n].value, other.signals[n].value);
    }
    assert_eq!(own.present.file().to_toml(), other.present.file().to_toml());
    both.ask(&Command::BackToTurn);
    both.compare("back to the turn");
}

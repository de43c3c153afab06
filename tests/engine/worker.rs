//! The engine on its thread.

use super::{same_bits, scene};
use ripplon::engine::{Command, Engine, Frame, Job, Status, Worker};
use ripplon::export::errand::{Errand, Product, To};
use ripplon::field::FieldData;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::ImageRequest;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn worker(overrides: &[&str]) -> Worker {
    let mut worker = Worker::spawn(None, || ()).unwrap();
    worker.send(Command::Load(scene(overrides)));
    wait(&mut worker, |frame| frame.status == Status::Paused);
    worker
}

/// Waits for a frame; hangs are failures, slowness is none.
fn wait(worker: &mut Worker, wanted: impl Fn(&Frame) -> bool) -> Frame {
    let start = Instant::now();
    loop {
        let frame = worker.frame();
        if wanted(frame) {
            return frame.clone();
        }
        assert!(
            start.elapsed() < Duration::from_mins(5),
            "the frame did not come; the last one: {:?}",
            frame.status
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Clock and field of the running engine, by a job.
fn field(worker: &mut Worker) -> (u64, FieldData) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let sender = Mutex::new(sender);
    worker.send(Command::Run(Job::new(move |engine: &mut Engine| {
        let field = engine.field().map_err(|error| error.to_string())?;
        let sent = sender.lock().unwrap().send((engine.clock().steps, field));
        sent.map_err(|error| error.to_string())?;
        Ok("taken".to_owned())
    })));
    receiver.recv_timeout(Duration::from_mins(5)).unwrap()
}

fn view(size: usize) -> ImageRequest {
    ImageRequest::new(Quantity::Density, [0..48, 0..32], 0, [size, size])
}

#[test]
fn it_plays_and_pauses() {
    let woken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&woken);
    let mut worker = Worker::spawn(Some(scene(&[])), move || {
        count.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    let first = wait(&mut worker, |frame| frame.status == Status::Paused);
    assert_eq!(first.clock.steps, 0);
    assert_eq!(first.image.size, [48, 32], "the first picture needs no request");
    worker.send(Command::Play);
    let later = wait(&mut worker, |frame| frame.clock.steps > 100);
    assert_eq!(later.status, Status::Running);
    assert!(later.rate > 0.0 && later.frames_per_second > 0.0 && later.steps_per_frame > 0);
    assert!(later.image_serial > first.image_serial && later.image != first.image);
    assert_eq!(later.detectors.len(), 2);
    assert!(later.report.as_ref().is_some_and(|report| report.method == "trotter"));
    worker.send(Command::Pause);
    let paused = wait(&mut worker, |frame| frame.status == Status::Paused);
    let (steps, _) = field(&mut worker);
    assert_eq!(steps, paused.clock.steps, "nothing moves after the frame that says so");
    assert!(woken.load(Ordering::Relaxed) >= 3);
}

#[test]
fn steps_by_hand_equal_steps_while_playing() {
    let mut played = worker(&[]);
    played.send(Command::StepsPerFrame(Some(7)));
    played.send(Command::Play);
    wait(&mut played, |frame| frame.clock.steps >= 30);
    played.send(Command::Pause);
    let (steps, moving) = field(&mut played);

    let mut by_hand = worker(&[]);
    for _ in 0..steps {
        by_hand.send(Command::Step(1));
    }
    let frame = wait(&mut by_hand, |frame| {
        frame.clock.steps == steps && frame.status == Status::Paused
    });
    let (stepped, still) = field(&mut by_hand);
    assert_eq!(stepped, steps);
    assert!(same_bits(&moving, &still));

    let mut alone = Engine::new(scene(&[])).unwrap();
    alone.advance(steps).unwrap();
    assert!(same_bits(&alone.field().unwrap(), &still));
    assert_eq!(frame.verdicts, alone.verdicts());
}

#[test]
fn a_paused_run_answers_views() {
    let mut worker = worker(&[]);
    for size in [8, 24, 16] {
        worker.send(Command::View(view(size)));
        let frame = wait(&mut worker, |frame| {
            frame.image.size[0] <= size && frame.image.size[0] > size / 2
        });
        assert_eq!((frame.clock.steps, &frame.status), (0, &Status::Paused));
    }
    // A view of another grid is not drawn.
    let mut outside = view(8);
    outside.x = 0..1000;
    worker.send(Command::View(outside));
    let frame = wait(&mut worker, |frame| frame.image.size == [48, 32]);
    assert_eq!(frame.status, Status::Paused);
}

#[test]
fn any_number_of_commands_is_taken_without_blocking() {
    let mut worker = worker(&[]);
    worker.send(Command::Play);
    for _ in 0..5000 {
        worker.send(Command::View(view(8)));
        worker.send(Command::StepsPerFrame(Some(3)));
        worker.send(Command::View(view(16)));
    }
    worker.send(Command::Pause);
    let frame = wait(&mut worker, |frame| {
        frame.status == Status::Paused && frame.image.size == [16, 11]
    });
    assert!(!worker.is_backed_up());
    assert!(frame.serial > 0);
}

#[test]
fn an_edit_while_playing_is_shown() {
    let mut worker = worker(&[]);
    worker.send(Command::Play);
    wait(&mut worker, |frame| frame.clock.steps > 10);
    worker.send(Command::Update(scene(&["layer.0.value=3.0", "title=Edited"])));
    let frame = wait(&mut worker, |frame| {
        frame.scenario.as_ref().is_some_and(|scene| scene.title() == "Edited")
    });
    assert!(frame.clock.steps > 10, "the state went on");
    assert_eq!(frame.status, Status::Running);
    worker.send(Command::Reset);
    worker.send(Command::Pause);
    let frame = wait(&mut worker, |frame| {
        frame.clock.steps == 0 && frame.status == Status::Paused
    });
    assert!(!frame.has_snapshot);
    worker.send(Command::Snapshot);
    worker.send(Command::Step(1));
    worker.send(Command::Restore);
    let frame = wait(&mut worker, |frame| frame.has_snapshot && frame.clock.steps == 0);
    assert_eq!(frame.status, Status::Paused);
}

#[test]
fn a_field_that_is_not_finite_stops_the_run_and_leaves_the_last_picture() {
    // The drive overflows at t = 0.071, and the phase of an infinite potential is NaN.
    let mut worker = worker(&["layer.0.drive=exp(10000*t)"]);
    worker.send(Command::StepsPerFrame(Some(1)));
    worker.send(Command::Play);
    let frame = wait(&mut worker, |frame| matches!(frame.status, Status::Failed(_)));
    let Status::Failed(reason) = &frame.status else {
        unreachable!()
    };
    assert!(
        reason.contains("no longer finite at step") && reason.contains("t = ") && reason.contains("formula"),
        "{reason}"
    );
    assert!(!frame.image.value.is_empty() && frame.image.value.iter().all(|value| value.is_finite()));
    // It does not go on by itself, and comes back with a sound scene.
    worker.send(Command::Play);
    wait(&mut worker, |frame| matches!(frame.status, Status::Failed(_)));
    worker.send(Command::Load(scene(&[])));
    worker.send(Command::Play);
    wait(&mut worker, |frame| {
        frame.status == Status::Running && frame.clock.steps > 20
    });
}

#[test]
fn a_panic_is_a_failed_run_not_a_dead_window() {
    let mut worker = worker(&[]);
    worker.send(Command::Run(Job::new(|_| panic!("something impossible"))));
    let frame = wait(&mut worker, |frame| matches!(frame.status, Status::Failed(_)));
    let Status::Failed(reason) = &frame.status else {
        unreachable!()
    };
    assert!(reason.contains("something impossible"), "{reason}");
    assert!(!frame.image.value.is_empty(), "the last picture stays");
    worker.send(Command::Reset);
    worker.send(Command::Play);
    wait(&mut worker, |frame| {
        frame.status == Status::Running && frame.clock.steps > 5
    });
}

#[test]
fn notices_say_what_was_written_and_what_was_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    let mut worker = worker(&[]);
    for _ in 0..5 {
        worker.send(Command::Step(1));
    }
    let write = |path: &Path| Job::of(Errand::new(Product::Checkpoint, To::File(path.to_owned())));
    worker.send(Command::Run(write(&path)));
    let frame = wait(&mut worker, |frame| frame.notice.is_some());
    let first = frame.notice.unwrap();
    assert!(!first.is_error && first.text.contains("run.ripplon"));
    let (resumed, _) = Engine::resume(scene(&[]), &path).unwrap();
    assert_eq!(resumed.clock().steps, 5, "steps asked for before are taken before");
    worker.send(Command::Run(write(&dir.path().join("no/such/place"))));
    let frame = wait(&mut worker, |frame| {
        frame.notice.as_ref().is_some_and(|notice| notice.is_error)
    });
    assert!(frame.notice.unwrap().serial > first.serial);
    assert_eq!(frame.status, Status::Paused);
}

/// A soft inverse filter asks for impulse responses when time turns: the window is told how far they are, a pause breaks them off, and the next step begins them anew.
#[test]
fn a_long_task_within_a_step_is_told_of_and_can_be_broken_off() {
    let text = "format = 1\n[grid]\nsize = [6000]\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.2\nend = 1200.0\n[solver]\nmethod = \"trotter\"\n\
                variant = \"naive\"\nbackend = \"cpu\"\nprecision = \"double\"\n[[packet]]\ncenter = [50.0]\nwidth = [5.0]\nmomentum = [1.0]\n[mirror]\nmethod = \
                \"inverse-filter\"\ndrive = \"soft\"\nat = 600.0\ntransducers = { shape = \"points\", points = [[100.0], [101.0]] }\n";
    let mut worker = Worker::spawn(Some(super::scene_from(text, &[])), || ()).unwrap();
    wait(&mut worker, |frame| frame.status == Status::Paused);
    assert_eq!(worker.task(), None);
    for _ in 0..2 {
        worker.send(Command::Play);
        // View commands are settings and break nothing off.
        let mut seen = None;
        let start = Instant::now();
        while seen.is_none() && start.elapsed() < Duration::from_mins(5) {
            worker.frame();
            seen = worker.task().filter(|task| task.what == "impulse responses");
            std::thread::sleep(Duration::from_millis(1));
        }
        let task = seen.expect("the task is told of");
        assert!((0.0..=1.0).contains(&task.done), "{task:?}");
        worker.send(Command::Pause);
        // The frame of before may say that the run stands: what counts is that the task has ended.
        let start = Instant::now();
        while worker.task().is_some() && start.elapsed() < Duration::from_mins(5) {
            worker.frame();
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(worker.task(), None);
        let frame = wait(&mut worker, |frame| frame.status == Status::Paused);
        assert_eq!(frame.clock.steps, 3000, "the run stands before its turn");
    }
    worker.send(Command::Step(3));
    let frame = wait(&mut worker, |frame| frame.clock.steps == 3003);
    assert!(matches!(frame.status, Status::Paused), "{:?}", frame.status);
    assert!(frame.mirror.is_some());
}

/// A second run by another method for sound begins where the first one is, at its time and with its motion: half of a pulse on a line runs on to the right in both. Without the motion it would part again, and
/// half of the field would be elsewhere; what the methods themselves differ by is bounded in [`super::carried`].
#[test]
fn a_second_method_for_sound_goes_on_with_the_motion() {
    let mut worker = Worker::spawn(None, || ()).unwrap();
    let own = |method: &str| super::scene_from(super::carried::SOUND, &[&format!("solver.method={method}")]);
    for [first, second] in [["fdtd", "oscillators"], ["oscillators", "fdtd"]] {
        worker.send(Command::Load(own(first)));
        worker.send(Command::Step(160));
        wait(&mut worker, |frame| frame.clock.steps == 160);
        worker.send(Command::Compare(Some(own(second))));
        let frame = wait(&mut worker, |frame| frame.compared.is_some());
        assert_eq!(frame.clock.steps, 160, "{first}: the first run begins anew");
        worker.send(Command::Step(40));
        let frame = wait(&mut worker, |frame| {
            let compared = frame.compared.as_ref();
            let apart = compared.and_then(|compared| compared.difference);
            frame.status == Status::Paused && apart.is_some_and(|(step, ..)| step == 200)
        });
        let compared = frame.compared.unwrap();
        assert_eq!(compared.report.method, second);
        // 200 steps of 1/4, which is exact.
        assert_eq!(compared.clock.time.to_bits(), 50.0f64.to_bits());
        let (.., apart) = compared.difference.unwrap();
        assert!(apart < 0.05, "{first} and {second}: {apart}");
    }
}

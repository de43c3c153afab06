//! The engine in slices of its owner's time, as in a page.

use super::{same_bits, scene};
use ripplon::engine::{Command, Engine, Frame, Job, Status, Worker};
use ripplon::field::FieldData;
use std::sync::{Arc, Mutex};

/// Works until a frame is as wanted; a worker that never gets there fails.
fn work_until(worker: &mut Worker, wanted: impl Fn(&Frame) -> bool) -> Frame {
    for _ in 0..100_000 {
        worker.work();
        let frame = worker.frame();
        if wanted(frame) {
            return frame.clone();
        }
        // A frame of a fixed number of steps lasts as long as one of a window.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("the frame did not come; the last one: {:?}", worker.last_frame().status);
}

fn field(worker: &mut Worker) -> (u64, FieldData) {
    let taken = Arc::new(Mutex::new(None));
    let to = Arc::clone(&taken);
    worker.send(Command::Run(Job::new(move |engine: &mut Engine| {
        let field = engine.field().map_err(|error| error.to_string())?;
        *to.lock().unwrap() = Some((engine.clock().steps, field));
        Ok("taken".to_owned())
    })));
    worker.work();
    taken.lock().unwrap().take().unwrap()
}

#[test]
fn nothing_is_done_outside_of_the_owners_calls_and_nothing_is_waited_for() {
    let mut worker = Worker::here(Some(scene(&[])), || ());
    assert_eq!(worker.frame().serial, 0);
    assert!(!worker.work(), "a scene that waits has nothing more to do");
    let first = work_until(&mut worker, |frame| frame.status == Status::Paused);
    assert_eq!((first.clock.steps, first.image.size), (0, [48, 32]));
    assert!(!worker.work());
    worker.send(Command::Play);
    assert!(worker.work(), "a scene that runs has");
    let later = work_until(&mut worker, |frame| frame.clock.steps > 100);
    assert_eq!(later.status, Status::Running);
    assert!(later.image != first.image && later.rate > 0.0);
    worker.send(Command::Pause);
    let paused = work_until(&mut worker, |frame| frame.status == Status::Paused);
    assert!(!worker.work());
    assert_eq!(field(&mut worker).0, paused.clock.steps);
}

#[test]
fn steps_are_those_of_an_engine_alone() {
    let mut worker = Worker::here(Some(scene(&[])), || ());
    worker.send(Command::StepsPerFrame(Some(7)));
    worker.send(Command::Play);
    let mut last = 0;
    while last < 70 {
        worker.work();
        let now = worker.frame().clock.steps;
        // After the one that says that it plays, a frame is as many steps, or nothing new.
        assert!(last < 7 || now == last || now == last + 7, "{last} to {now}");
        last = now;
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    worker.send(Command::Pause);
    worker.send(Command::Step(3));
    work_until(&mut worker, |frame| {
        frame.status == Status::Paused && frame.clock.steps == last + 3
    });
    let (steps, stepped) = field(&mut worker);
    let mut alone = Engine::new(scene(&[])).unwrap();
    alone.advance(steps).unwrap();
    assert!(same_bits(&alone.field().unwrap(), &stepped));
}

#[test]
fn a_scene_that_cannot_run_is_reported() {
    let mut worker = Worker::here(Some(scene(&[])), || ());
    worker.send(Command::Run(Job::new(|_: &mut Engine| Err("no room".to_owned()))));
    let frame = work_until(&mut worker, |frame| frame.notice.is_some());
    assert!(
        frame
            .notice
            .is_some_and(|notice| notice.is_error && &*notice.text == "no room")
    );
}

/// As a stroke of the brush sends them while the one before is made.
#[test]
fn of_edits_that_wait_only_the_last_is_made() {
    let mut worker = Worker::here(Some(scene(&[])), || ());
    work_until(&mut worker, |frame| frame.status == Status::Paused);
    worker.send(Command::Step(5));
    work_until(&mut worker, |frame| frame.clock.steps == 5);
    let last = scene(&["quantum.mass=0.7"]);
    // Another grid would begin again at t = 0.
    worker.send(Command::Update(scene(&["grid.size=[64, 32]"])));
    worker.send(Command::StateMeasures(false));
    worker.send(Command::Update(Arc::clone(&last)));
    let edited = work_until(&mut worker, |frame| {
        frame.scenario.as_ref().is_some_and(|now| Arc::ptr_eq(now, &last))
    });
    assert_eq!(edited.clock.steps, 5);
}

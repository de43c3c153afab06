//! Links that are lost, windows that go, windows that come.

use super::link::{FAST, Proxy, Shape};
use super::{SCENE, Served, Window, scene, until, view, wait, window};
use ripplon::engine::{Command, LinkState, Status};
use std::time::Duration;

#[test]
fn a_window_that_goes_does_not_end_the_run_and_another_finds_it() {
    let server = Served::start(scene(SCENE, &[]));
    let mut first = window(server.address, server.token);
    let edited = scene(SCENE, &["title=\"Edited\"", "layer.0.value=3.0"]);
    first.worker.send(Command::Update(edited));
    first.worker.send(Command::Play);
    let seen = wait(&mut first.worker, "it runs", |frame| frame.clock.steps > 50);
    drop(first);
    until("the window is gone", || server.has_said("the run goes on"));
    let mut second = window(server.address, server.token);
    assert_eq!(
        second.scenario.title(),
        "Edited",
        "the scene that runs is the one that opens"
    );
    let steps = seen.clock.steps;
    let found = wait(&mut second.worker, "it is found", |frame| frame.clock.steps > steps);
    assert_eq!(found.status, Status::Running);
}

#[test]
fn a_second_window_takes_over_and_the_first_says_so() {
    let server = Served::start(scene(SCENE, &[]));
    let mut first = window(server.address, server.token);
    wait(&mut first.worker, "a picture", |frame| frame.scenario.is_some());
    let mut second = window(server.address, server.token);
    second.worker.send(Command::Step(5));
    wait(&mut second.worker, "the second steps", |frame| frame.clock.steps == 5);
    until("the first is told", || matches!(first.link(), LinkState::Ended(_)));
    let told = wait(&mut first.worker, "its notice", |frame| frame.notice.is_some());
    let notice = told.notice.unwrap();
    assert!(
        notice.is_error && notice.text.contains("another window has connected"),
        "{}",
        notice.text
    );
    assert!(notice.text.contains("run it on this machine"), "{}", notice.text);
    // What is asked for there is answered, not swallowed; it reaches nothing.
    first.worker.send(Command::Step(3));
    wait(&mut first.worker, "another notice", |frame| {
        frame.notice.as_ref().is_some_and(|again| again.serial > notice.serial)
    });
    second.worker.send(Command::Step(1));
    let last = wait(&mut second.worker, "one step", |frame| frame.clock.steps > 5);
    assert_eq!(last.clock.steps, 6);
}

#[test]
fn a_link_that_is_cut_is_made_again_and_nothing_is_lost_or_done_twice() {
    let server = Served::start(scene(SCENE, &["grid.size=[256, 256]"]));
    // Slow enough that pictures are under way when it is cut.
    let slow = Shape {
        rate: 2e6,
        delay: Duration::from_millis(5),
    };
    let proxy = Proxy::start(server.address, slow);
    let mut there = window(proxy.address, server.token);
    there.worker.send(view(&there.scenario, 256));
    there.worker.send(Command::StepsPerFrame(Some(1)));
    for round in 0..4 {
        there.worker.send(Command::Play);
        let before = wait(&mut there.worker, "it runs", |frame| frame.status == Status::Running);
        let serial = before.serial + 3;
        wait(&mut there.worker, "pictures", |frame| frame.serial > serial);
        let bytes = proxy.down();
        until("the middle of a picture", || {
            there.worker.frame();
            proxy.down() > bytes + 4096 * round
        });
        proxy.cut();
        until("it is noticed", || matches!(there.link(), LinkState::Lost(_)));
        // The state of the link is told before the frame with the notice.
        let shown = wait(&mut there.worker, "it is told", |frame| {
            (frame.notice.as_ref()).is_some_and(|notice| notice.text.contains("is lost"))
        });
        assert!(!shown.image.value.is_empty(), "the picture stays");
        // What is asked for meanwhile is done once the link is there again.
        there.worker.send(Command::Pause);
        there.worker.send(Command::Reset);
        there.worker.send(Command::Step(7));
        there.worker.send(Command::Step(4));
        proxy.mend();
        let after = wait(&mut there.worker, "it is connected again", |frame| {
            frame.status == Status::Paused && frame.clock.steps == 11
        });
        assert!(after.run > shown.run && matches!(there.link(), LinkState::Connected(_)));
    }
}

#[test]
fn a_run_goes_on_while_the_link_is_lost() {
    let server = Served::start(scene(SCENE, &[]));
    let proxy = Proxy::start(server.address, FAST);
    let mut there = window(proxy.address, server.token);
    there.worker.send(Command::Play);
    wait(&mut there.worker, "it runs", |frame| frame.clock.steps > 10);
    // The first picture after the link is there again shows what was done without it. How many steps that are depends on the machine: longer waits follow until they
    // are many; a run that rests while nobody looks never gets there.
    let away = |pause: Duration, there: &mut Window| {
        proxy.cut();
        until("both have noticed", || {
            matches!(there.link(), LinkState::Lost(_)) && server.has_said("the run goes on")
        });
        let steps = there.worker.frame().clock.steps;
        std::thread::sleep(pause);
        proxy.mend();
        let found = wait(&mut there.worker, "it is found", |frame| frame.clock.steps > steps);
        found.clock.steps - steps
    };
    let pauses = (0..8).map(|n| Duration::from_millis(250 << n));
    let steps: Vec<u64> = pauses
        .map(|pause| away(pause, &mut there))
        .take_while(|steps| *steps < 100)
        .collect();
    assert!(steps.len() < 8, "{steps:?} steps while nobody looked: it went on");
    until("it says so", || server.has_said("connected again"));
}

#[test]
fn a_window_that_was_away_does_not_take_the_run_from_the_next_one() {
    let server = Served::start(scene(SCENE, &[]));
    let proxy = Proxy::start(server.address, FAST);
    let mut first = window(proxy.address, server.token);
    wait(&mut first.worker, "a picture", |frame| frame.scenario.is_some());
    proxy.cut();
    until("it is lost", || matches!(first.link(), LinkState::Lost(_)));
    let mut second = window(server.address, server.token);
    wait(&mut second.worker, "a picture", |frame| frame.scenario.is_some());
    proxy.mend();
    until("the first is told", || matches!(first.link(), LinkState::Ended(_)));
    second.worker.send(Command::Step(2));
    wait(&mut second.worker, "the second has the run", |frame| {
        frame.clock.steps == 2
    });
}

#[test]
fn a_server_that_ends_says_so() {
    let server = Served::start(scene(SCENE, &[]));
    let mut there = window(server.address, server.token);
    wait(&mut there.worker, "a picture", |frame| frame.scenario.is_some());
    drop(server);
    until("it is told", || matches!(there.link(), LinkState::Ended(_)));
    let last = wait(&mut there.worker, "a notice", |frame| frame.notice.is_some());
    assert!(last.notice.unwrap().text.contains("the server was stopped"));
}

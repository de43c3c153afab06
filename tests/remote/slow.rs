//! A link of 10 Mb/s whose ends are 50 ms apart.

use super::link::{Proxy, Shape};
use super::{SCENE, Served, Window, scene, until, view, wait, window};
use ripplon::engine::{Command, Job, Status};
use ripplon::export::errand::{Errand, Product, To};
use std::time::{Duration, Instant};

const SLOW: Shape = Shape {
    rate: 10e6 / 8.0,
    delay: Duration::from_millis(50),
};

/// Pictures a second at which motion is seen as one.
const USABLE: f64 = 8.0;

/// A scene whose exact picture, 1 MB in single precision, would take most of a second.
fn large() -> std::sync::Arc<ripplon::scene::Scenario> {
    let settings = [
        "grid.size=[512, 512]",
        "packet.0.width=[20.0, 20.0]",
        "packet.0.center=[100.0, 128.0]",
    ];
    scene(SCENE, &settings)
}

/// A server that plays it, the link, and a window behind that.
fn playing() -> (Served, Proxy, Window) {
    let server = Served::start(large());
    let proxy = Proxy::start(server.address, SLOW);
    let mut there = window(proxy.address, server.token);
    there.worker.send(view(&there.scenario, 512));
    there.worker.send(Command::StepsPerFrame(Some(1)));
    there.worker.send(Command::Play);
    (server, proxy, there)
}

#[test]
fn pictures_come_at_a_usable_rate_and_commands_do_not_wait_behind_them() {
    let (_server, proxy, mut there) = playing();
    wait(&mut there.worker, "it runs", |frame| frame.status == Status::Running);
    let mut pictures = Pictures::default();
    // The first ones find out what the link carries.
    pictures.take(&mut there, 10);
    in_a_quiet_moment("pictures as large as the link carries", || {
        let (bytes, begin) = (proxy.down(), Instant::now());
        pictures.take(&mut there, 30);
        let each = (proxy.down() - bytes) as f64 / 30.0;
        let measured = 30.0 / begin.elapsed().as_secs_f64();
        // What a picture takes on the link says how many come; the rate as measured here depends on what else the machine does.
        println!(
            "{each:.0} bytes a picture, {:.1} pictures a second would fit, {measured:.1} came, {} texels",
            SLOW.rate / each,
            pictures.texels
        );
        SLOW.rate / each >= USABLE && pictures.texels >= 128 * 128
    });
    // From the answer to a command at most those were sent before that were under way when it came: 1 + (0.1 s)/(1/12 s).
    in_a_quiet_moment("the answer to a command", || {
        there.worker.send(Command::Play);
        pictures.until(&mut there, |status| *status == Status::Running);
        pictures.take(&mut there, 10);
        there.worker.send(Command::Pause);
        let before = pictures.seen;
        pictures.until(&mut there, |status| *status == Status::Paused);
        println!("{} pictures before the answer", pictures.seen - before);
        pictures.seen - before <= 4
    });
    // A run that stands is shown exactly, with every texel.
    let exact = wait(&mut there.worker, "the exact picture", |frame| {
        frame.image.size == [512, 512]
    });
    assert_eq!(exact.image.reduction, 1);
}

#[test]
fn a_long_file_does_not_hold_up_pictures_and_commands() {
    let (_server, _proxy, mut there) = playing();
    let mut pictures = Pictures::default();
    pictures.take(&mut there, 10);
    let folder = tempfile::tempdir().unwrap();
    let mut number = 0;
    in_a_quiet_moment("pictures beside a file", || {
        number += 1;
        let file = folder.path().join(format!("field-{number}.npy"));
        let errand = Errand::new(Product::Field, To::File(file.clone()));
        there.worker.send(Command::Run(Job::of(errand)));
        let before = pictures.seen;
        // 2 MiB of noise-like numbers are under way for longer than a second.
        until("the file", || {
            pictures.look(&mut there);
            file.exists()
        });
        assert!(std::fs::metadata(&file).unwrap().len() > 2 << 20);
        println!("{} pictures while a file came", pictures.seen - before);
        pictures.seen - before >= 5
    });
    let notice = wait(&mut there.worker, "it is told", |frame| frame.notice.is_some())
        .notice
        .unwrap();
    assert!(notice.text.contains("Field written"), "{}", notice.text);
}

/// What other programs hold up now and then is so in one of twenty tries; what waits behind something else is so in none.
fn in_a_quiet_moment(what: &str, mut is_so: impl FnMut() -> bool) {
    assert!((0..20).any(|_| is_so()), "{what}: in none of twenty tries");
}

/// Counts pictures as a window that draws all the time.
#[derive(Default)]
struct Pictures {
    seen: u64,
    serial: u64,
    texels: usize,
}

impl Pictures {
    fn look(&mut self, there: &mut super::Window) -> Status {
        let frame = there.worker.frame();
        if frame.image_serial != self.serial {
            self.serial = frame.image_serial;
            self.seen += 1;
            self.texels = frame.image.value.len();
        }
        frame.status.clone()
    }

    fn take(&mut self, there: &mut super::Window, more: u64) {
        let end = self.seen + more;
        until("pictures", || {
            self.look(there);
            self.seen >= end
        });
    }

    fn until(&mut self, there: &mut super::Window, is_so: impl Fn(&Status) -> bool) {
        until("a status", || is_so(&self.look(there)));
    }
}

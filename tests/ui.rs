//! The window, driven without a display: software Vulkan draws it, AccessKit names find its controls.
#![cfg(feature = "gui")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use ripplon::app::{App, AppOptions};
use ripplon::engine::Status;
use ripplon::scene::presets;
use std::time::{Duration, Instant};

/// A small scene that is stepped in no time, with a wall, a driven potential, a detector and a prediction.
const SCENE: &str = r#"
format = 1
title = "Test scene"
about = "A **packet** in a box."
[grid]
size = [96, 64]
spacing = 0.5
[quantum]
mass = 1.0
[time]
step = 0.02
end = 4.0
[solver]
method = "trotter"
variant = "naive"
[[packet]]
center = [14.0, 16.0]
width = [3.0, 3.0]
momentum = [1.0, 0.0]
[[layer]]
sets = "wall"
shape = "slits"
x = 28.0
thickness = 1.0
centers = [12.0, 20.0]
opening = 3.0
[[layer]]
sets = "potential"
shape = "disk"
center = [38.0, 16.0]
radius = 4.0
value = 0.4
[[detector]]
name = "right"
region = { min = [30.0, 0.0], max = [48.0, 32.0] }
[view]
range = "locked"
[[expect]]
observable = "norm"
at = 1.0
value = 1.0
tolerance = 1e-3
because = "Every step is unitary."
"#;

struct Window {
    harness: Harness<'static, App>,
    _folder: tempfile::TempDir,
}

impl Window {
    /// A window with [`SCENE`], paused at t = 0.
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.toml");
        std::fs::write(&path, SCENE).unwrap();
        let mut window = Self::with(path.to_str().unwrap(), folder);
        window.wait("the first picture", |app| !app.frame().image.value.is_empty());
        // The medium's picture comes from another thread.
        window.settle();
        window
    }

    fn with(scene: &str, folder: tempfile::TempDir) -> Self {
        let options = AppOptions {
            scene: Some(scene.to_owned()),
            set: Vec::new(),
        };
        let harness = Harness::builder()
            .with_size([1280.0, 800.0])
            .wgpu()
            .build_eframe(move |cc| App::new(cc, options, Instant::now()).unwrap().paused());
        Self {
            harness,
            _folder: folder,
        }
    }

    fn app(&self) -> &App {
        self.harness.state()
    }

    /// Lets the window run until something is so; the threads behind it take their own time, a minute at most.
    fn wait(&mut self, what: &str, mut so: impl FnMut(&App) -> bool) {
        let start = Instant::now();
        loop {
            self.harness.step();
            if so(self.harness.state()) {
                return;
            }
            assert!(start.elapsed() < Duration::from_mins(1), "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Lets animations end and threads answer.
    fn settle(&mut self) {
        for _ in 0..10 {
            self.harness.step();
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn click(&mut self, label: &str) {
        self.harness.get_by_label(label).click();
        self.settle();
    }

    fn key(&mut self, key: Key) {
        self.harness.key_press(key);
        self.settle();
    }

    fn keys(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.settle();
    }

    fn steps(&self) -> u64 {
        self.app().frame().clock.steps
    }
}

#[test]
fn the_field_changes_while_it_plays_and_stays_while_it_waits() {
    let mut window = Window::open();
    assert_eq!((window.steps(), &window.app().frame().status), (0, &Status::Paused));
    let start = window.app().frame().image.value.clone();
    window.click("Play");
    window.wait("steps", |app| app.frame().clock.steps > 5);
    assert_ne!(window.app().frame().image.value, start);
    window.click("Pause");
    window.wait("the pause", |app| app.frame().status == Status::Paused);
    let held = (window.steps(), window.app().frame().image.value.clone());
    window.settle();
    assert_eq!(held, (window.steps(), window.app().frame().image.value.clone()));
    window.click("Reset");
    window.wait("the reset", |app| app.frame().clock.steps == 0);
    assert_eq!(window.app().frame().image.value, start);
}

#[test]
fn keys_do_what_the_help_says() {
    let mut window = Window::open();
    window.key(Key::Period);
    window.wait("one step", |app| app.frame().clock.steps == 1);
    window.key(Key::S);
    window.wait("a snapshot", |app| app.frame().has_snapshot);
    let kept = window.app().frame().image.value.clone();
    window.key(Key::Space);
    window.wait("steps", |app| app.frame().clock.steps > 3);
    window.key(Key::K);
    window.wait("the pause", |app| app.frame().status == Status::Paused);
    window.key(Key::C);
    window.wait("the snapshot", |app| app.frame().clock.steps == 1);
    assert_eq!(window.app().frame().image.value, kept);
    window.key(Key::T);
    window.wait("reversed time", |app| app.frame().clock.time_step < 0.0);
    window.key(Key::R);
    window.wait("the reset", |app| app.frame().clock.steps == 0);
    window.key(Key::H);
    assert!(window.app().is_bare());
    assert!(window.harness.query_by_label("Play").is_none(), "the panels are hidden");
    window.key(Key::H);
    assert!(window.harness.query_by_label("Play").is_some());
    window.key(Key::F1);
    assert!(window.harness.query_by_label("Keys and mouse").is_some());
    window.key(Key::Escape);
    assert!(window.harness.query_by_label("Keys and mouse").is_none());
}

#[test]
fn edits_reach_the_run_and_can_be_taken_back() {
    let mut window = Window::open();
    let step = |app: &App| app.frame().scenario.as_ref().and_then(|scenario| scenario.time().step);
    assert_eq!(step(window.app()), Some(0.02));
    window.key(Key::Period);
    window.wait("one step", |app| app.frame().clock.steps == 1);
    window.click("automatic Δt");
    window.wait("the edit", |app| step(app).is_none());
    assert_eq!(window.steps(), 1, "a live edit keeps the state");
    assert!(window.app().document().is_modified());
    window.keys(Modifiers::COMMAND, Key::Z);
    window.wait("undo", |app| step(app) == Some(0.02));
    assert!(!window.app().document().is_modified());
    window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
    window.wait("redo", |app| step(app).is_none());
    window.click("double");
    window.wait("double precision", |app| {
        app.frame()
            .report
            .as_ref()
            .is_some_and(|report| report.precision.word() == "double")
    });
}

#[test]
fn layers_are_added_and_removed() {
    let mut window = Window::open();
    window.click("Scene");
    let layers = |app: &App| {
        app.frame()
            .scenario
            .as_ref()
            .map_or(0, |scenario| scenario.medium().layers().len())
    };
    assert_eq!(layers(window.app()), 2);
    window.harness.get_by_label("Add wall").scroll_to_me();
    window.settle();
    window.click("Add wall");
    window.wait("another layer", |app| layers(app) == 3);
    window.click("Remove layer 1");
    window.wait("one less", |app| layers(app) == 2);
    window.keys(Modifiers::COMMAND, Key::Z);
    window.wait("undo", |app| layers(app) == 3);
}

#[test]
fn the_palette_finds_commands_and_presets() {
    let mut window = Window::open();
    window.keys(Modifiers::COMMAND, Key::P);
    window.harness.get_by_label("Command").type_text("one st");
    window.settle();
    window.key(Key::Enter);
    window.wait("one step", |app| app.frame().clock.steps == 1);
    window.keys(Modifiers::COMMAND, Key::P);
    window.harness.get_by_label("Command").type_text("preset free");
    window.settle();
    window.key(Key::Enter);
    window.wait("the preset", |app| app.document().preset() == Some("free-packet"));
}

#[test]
fn every_preset_loads_without_a_fault() {
    let mut window = Window::open();
    for preset in presets::all() {
        window.app().open(preset.name);
        let before = window.app().frame().image_serial;
        window.wait(preset.name, |app| {
            assert!(
                app.notices().list().iter().all(|notice| !notice.fault),
                "{:?}",
                app.notices().list()
            );
            let loaded = app.document().preset() == Some(preset.name);
            loaded && app.frame().image_serial > before && !app.frame().image.value.is_empty()
        });
        assert!(
            !matches!(window.app().frame().status, Status::Failed(_)),
            "{}",
            preset.name
        );
        window.harness.render().unwrap();
    }
}

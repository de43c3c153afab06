//! A window under test.

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use ripplon::app::{App, AppOptions};
use ripplon::engine::Status;
use std::time::{Duration, Instant};

/// A small scene that is stepped in no time, with a wall, a driven potential, a detector and a prediction.
pub const SCENE: &str = r#"
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
backend = "cpu"
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

pub struct Window {
    pub harness: Harness<'static, App>,
    pub folder: tempfile::TempDir,
}

impl Window {
    /// A window with [`SCENE`], paused at t = 0.
    pub fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.toml");
        std::fs::write(&path, SCENE).unwrap();
        let mut window = Self::with(path.to_str().unwrap(), folder);
        window.wait("the first picture", |app| !app.frame().image.value.is_empty());
        // The medium's picture comes from another thread.
        window.settle();
        window
    }

    /// The same with another size, in points, and that many pixels a point.
    pub fn sized(size: egui::Vec2, scale: f32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.toml");
        std::fs::write(&path, SCENE).unwrap();
        // As finely as the machine manages: millions of pixels in space take a software driver longer than a test may wait.
        let mut window = Self::with_size(path.to_str().unwrap(), folder, (size, scale), true);
        window.wait("the first picture", |app| !app.frame().image.value.is_empty());
        window.settle();
        window
    }

    pub fn with(scene: &str, folder: tempfile::TempDir) -> Self {
        Self::with_size(scene, folder, (egui::vec2(1280.0, 800.0), 1.0), false)
    }

    fn with_size(scene: &str, folder: tempfile::TempDir, (size, scale): (egui::Vec2, f32), hurried: bool) -> Self {
        let options = AppOptions {
            scene: Some(scene.to_owned()),
            ..AppOptions::default()
        };
        let own = folder.path().join("own");
        std::fs::create_dir(&own).unwrap();
        let harness = Harness::builder()
            .with_size(size)
            .with_pixels_per_point(scale)
            .wgpu()
            .build_eframe(move |cc| {
                // No test opens a dialogue of the system.
                let app = App::new(cc, options, Instant::now()).unwrap();
                let app = app.paused().with_own_dialogues().with_all_panels();
                // What is drawn shall not depend on how busy the machine is.
                let app = if hurried { app } else { app.unhurried() };
                app.with_own_scenes(&own).with_cache(&own.join("cache"))
            });
        Self { harness, folder }
    }

    /// The window as it is at the first start, of this size, with a scene.
    pub fn plain(scene: &str, size: [f32; 2]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = AppOptions {
            scene: Some(scene.to_owned()),
            ..AppOptions::default()
        };
        let kept = folder.path().join("unsaved");
        let harness = Harness::builder().with_size(size).wgpu().build_eframe(move |cc| {
            let app = App::new(cc, options, Instant::now()).unwrap();
            app.paused().with_own_dialogues().with_recovery(&kept)
        });
        let mut window = Self { harness, folder };
        window.wait("the first picture", |app| !app.frame().image.value.is_empty());
        window.settle();
        window
    }

    pub fn app(&self) -> &App {
        self.harness.state()
    }

    /// Lets the window run until something is so; the threads behind it take their own time, ten minutes at most: a busy machine is no fault.
    pub fn wait(&mut self, what: &str, mut so: impl FnMut(&App) -> bool) {
        let start = Instant::now();
        loop {
            self.harness.step();
            if so(self.harness.state()) {
                return;
            }
            if start.elapsed() > Duration::from_mins(10) {
                let frame = self.app().frame();
                let notices = self.app().notices().list();
                panic!(
                    "waited in vain for {what}: {:?}, {:?}, run {}, {notices:?}",
                    frame.status, frame.clock, frame.run
                );
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Lets animations end and threads answer.
    pub fn settle(&mut self) {
        for _ in 0..10 {
            self.harness.step();
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn click(&mut self, label: &str) {
        self.harness.get_by_label(label).click();
        self.settle();
    }

    pub fn key(&mut self, key: Key) {
        self.harness.key_press(key);
        self.settle();
    }

    pub fn keys(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.settle();
    }

    pub fn steps(&self) -> u64 {
        self.app().frame().clock.steps
    }

    /// As [`Window::click`], where other things have the same words.
    pub fn press(&mut self, role: Role, label: &str) {
        self.harness.get_by_role_and_label(role, label).click();
        self.settle();
    }

    /// Scrolls to a control.
    pub fn reveal(&mut self, role: Role, label: &str) {
        self.harness.get_by_role_and_label(role, label).scroll_to_me();
        self.settle();
    }

    /// Writes a scene into the window's folder and opens it.
    pub fn show_scene(&mut self, text: &str) {
        let path = self.file("other.toml", text);
        let before = self.app().frame().run;
        self.app().open(&path);
        self.wait("the other scene", |app| {
            // The run of before may still show pictures, and what is played then is not the other one.
            let frame = app.frame();
            app.document().path().is_some_and(|known| known.ends_with("other.toml"))
                && frame.run > before
                && frame.status != Status::Starting
                && frame.scenario.is_some()
        });
        self.settle();
    }

    /// Writes a file into the window's folder; its path.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

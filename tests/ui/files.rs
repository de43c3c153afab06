//! Files: opened, saved, dropped; what is kept from start to start.

use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{DroppedFile, Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use ripplon::app::settings::{KEY, Settings};
use ripplon::app::{App, AppOptions};
use ripplon::physics::Sets;
use ripplon::scene::file::ValueFile;
use ripplon::scene::lecture::{Lecture, Stop};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

impl Window {
    /// Answers the window's own question for a file.
    pub fn answer(&mut self, path: &str) {
        self.settle();
        let field = self.harness.get_by_role_and_label(Role::TextInput, "Path of the file");
        field.focus();
        self.settle();
        self.keys(Modifiers::COMMAND, Key::A);
        let field = self.harness.get_by_role_and_label(Role::TextInput, "Path of the file");
        field.type_text(path);
        self.settle();
        self.key(Key::Enter);
        self.settle();
    }

    pub fn drop_file(&mut self, path: &str) {
        #[derive(Debug)]
        struct Dropped(PathBuf);
        impl DroppedFile for Dropped {
            fn path(&self) -> &Path {
                &self.0
            }
            fn bytes(&self) -> Result<Vec<u8>, String> {
                std::fs::read(&self.0).map_err(|error| error.to_string())
            }
        }
        let file = Arc::new(Dropped(path.into()));
        self.harness.input_mut().dropped_files.push(file);
        self.settle();
    }

    fn says(&self, what: &str) -> bool {
        let notices = self.app().notices().list();
        notices
            .iter()
            .any(|notice| notice.title.contains(what) || notice.lines.iter().any(|line| line.contains(what)))
    }
}

#[test]
fn a_broken_scene_is_a_notice_with_all_its_faults() {
    let mut window = Window::open();
    let broken = SCENE
        .replace("mass = 1.0", "mass = -1.0")
        .replace("opening = 3.0", "opening = 0.0");
    let path = window.file("broken.toml", broken);
    let before = window.steps();
    window.app().open(&path);
    window.wait("the notice", |app| {
        app.notices().list().iter().any(|notice| notice.fault)
    });
    assert!(
        window.says("mass") && window.says("opening") && window.says("2 faults"),
        "{:?}",
        window.app().notices()
    );
    assert_eq!(window.steps(), before, "the run goes on");
    window.settle();
    window.click("Close notice");
    assert!(window.app().notices().list().is_empty());
}

#[test]
fn without_a_dialogue_of_the_system_the_window_asks_for_files() {
    let mut window = Window::open();
    let other = window.file("second.toml", SCENE.replace("Test scene", "Second scene"));
    window.keys(Modifiers::COMMAND, Key::O);
    window.answer(&other);
    window.wait("the other scene", |app| app.document().draft.title == "Second scene");

    // What is there already is not overwritten unasked.
    let place = window.file("third.toml", "precious");
    window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S);
    window.answer(&place);
    let warned = |window: &Window| window.harness.query_by_label("Replace").is_some();
    for _ in 0..200 {
        if warned(&window) {
            break;
        }
        window.settle();
    }
    assert!(warned(&window));
    assert_eq!(std::fs::read_to_string(&place).unwrap(), "precious");
    window.click("Replace");
    window.wait("the file", |app| !app.notices().list().is_empty());
    assert!(std::fs::read_to_string(&place).unwrap().contains("Second scene"));

    // A file that is not there is a notice, and giving up is nothing.
    window.keys(Modifiers::COMMAND, Key::O);
    window.answer("/nowhere/at-all.toml");
    window.wait("the notice", |app| {
        app.notices().list().iter().any(|notice| notice.fault)
    });
    assert!(window.says("no preset and no file"));
    window.keys(Modifiers::COMMAND, Key::E);
    window.settle();
    window.key(Key::Escape);
    assert!(window.harness.query_by_label("Path of the file").is_none());
}

/// Readers would take the file for what it is not.
#[test]
fn a_name_that_ends_as_another_format_is_refused() {
    let mut window = Window::open();
    let picture = window.folder.path().join("field.jpg");
    window.keys(Modifiers::COMMAND, Key::E);
    window.answer(picture.to_str().unwrap());
    let told = |app: &App, ending: &str| {
        let mut notices = app.notices().list().iter();
        notices.any(|notice| notice.fault && notice.lines.iter().any(|line| line.ends_with(ending)))
    };
    window.wait("the refusal", |app| told(app, "let it end in .png"));
    assert!(!picture.exists());
    let film = window.file("scene.mp4", "precious");
    window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S);
    window.answer(&film);
    window.wait("the other refusal", |app| told(app, "let it end in .toml"));
    assert_eq!(std::fs::read_to_string(&film).unwrap(), "precious");
}

#[test]
fn a_picture_of_the_field_is_exported_and_opens_as_its_scene() {
    let mut window = Window::open();
    let png = window.folder.path().join("field.png");
    window.keys(Modifiers::COMMAND, Key::E);
    window.answer(png.to_str().unwrap());
    window.wait("the picture", |app| {
        app.notices()
            .list()
            .iter()
            .any(|notice| notice.title.contains("written"))
    });
    window.app().open("free-packet");
    window.wait("another scene", |app| app.document().preset() == Some("free-packet"));
    window.drop_file(png.to_str().unwrap());
    window.wait("the scene of the picture", |app| {
        app.document().draft.title == "Test scene"
    });
    // Saving does not write over the picture.
    assert_eq!(window.app().document().scene_file(), None);
}

#[test]
fn dropped_pictures_and_arrays_become_layers() {
    let mut window = Window::open();
    let layers = |app: &App| -> Vec<Sets> {
        app.frame()
            .scenario
            .iter()
            .flat_map(|scenario| scenario.medium().layers())
            .map(|layer| layer.sets)
            .collect()
    };
    let before = layers(window.app()).len();
    let png = window.folder.path().join("mask.png");
    image::GrayImage::from_fn(96, 64, |x, _| image::Luma([if x > 80 { 255 } else { 0 }]))
        .save(&png)
        .unwrap();
    window.drop_file(png.to_str().unwrap());
    window.wait("the layer", |app| layers(app).len() == before + 1);
    assert_eq!(layers(window.app())[before], Sets::Potential);

    let npy = window.folder.path().join("potential.npy");
    ndarray_npy::write_npy(&npy, &ndarray::Array2::<f64>::from_elem((64, 96), 0.25)).unwrap();
    window.drop_file(npy.to_str().unwrap());
    window.wait("the other layer", |app| layers(app).len() == before + 2);

    let psi = window.folder.path().join("psi.npy");
    let wave = ndarray::Array2::from_elem((64, 96), num_complex::Complex64::new(0.0, 1.0));
    ndarray_npy::write_npy(&psi, &wave).unwrap();
    window.drop_file(psi.to_str().unwrap());
    window.wait("the start", |app| app.document().draft.initial.is_some());
    window.wait("a flat field", |app| {
        let values = &app.frame().image.value;
        app.frame().clock.steps == 0 && values.len() > 10 && (values[0] - values[10]).abs() < 1e-6 * values[0]
    });

    // What cannot be used is told, with what can.
    let text = window.file("notes.txt", "hello");
    window.drop_file(&text);
    window.wait("the notice", |app| {
        app.notices().list().iter().any(|notice| notice.fault)
    });
    assert!(window.says(".npy"));
    // What was wrong goes when another scene opens.
    let other = window.file("second.toml", SCENE.replace("Test scene", "Second scene"));
    window.app().open(&other);
    window.wait("the other scene", |app| app.document().draft.title == "Second scene");
    assert!(!window.app().notices().list().iter().any(|notice| notice.fault));
}

/// What eframe would write to a file.
#[derive(Default)]
pub struct Memory(HashMap<String, String>);

impl eframe::Storage for Memory {
    fn get_string(&self, key: &str) -> Option<String> {
        self.0.get(key).cloned()
    }
    fn set_string(&mut self, key: &str, value: String) {
        self.0.insert(key.to_owned(), value);
    }
    fn remove_string(&mut self, key: &str) {
        self.0.remove(key);
    }
    fn flush(&mut self) {}
}

#[test]
fn the_next_start_shows_the_last_scene_and_panels() {
    let mut storage = Memory::default();
    let mut window = Window::open();
    window.press(Role::Button, "Dark or light");
    window.click("Scene");
    window.keys(Modifiers::COMMAND, Key::Num3);
    let settings = window.app().settings().clone();
    eframe::App::save(window.harness.state_mut(), &mut storage);

    let storage: &'static Memory = Box::leak(Box::new(storage));
    let harness = egui_kittest::Harness::builder()
        .with_size([1280.0, 800.0])
        .wgpu()
        .build_eframe(move |cc| {
            cc.storage = Some(storage);
            let app = App::new(cc, AppOptions::default(), Instant::now()).unwrap();
            app.paused().with_own_dialogues()
        });
    let mut again = Window {
        harness,
        folder: tempfile::tempdir().unwrap(),
    };
    again.wait("the first picture", |app| !app.frame().image.value.is_empty());
    assert_eq!(again.app().document().draft.title, "Test scene");
    let kept = again.app().settings();
    assert_eq!((kept.dark, kept.tab, kept.plots), (false, settings.tab, false));
    assert_eq!(again.app().document().path(), window.app().document().path());
}

/// The whole screen that a lecture takes is not that of the next start; the one that its key takes is.
#[test]
fn a_lecture_leaves_no_full_screen_behind() {
    let mut storage = Memory::default();
    let mut window = Window::open();
    let mut kept = |window: &mut Window| {
        eframe::App::save(window.harness.state_mut(), &mut storage);
        let settings: Option<Settings> = eframe::get_value(&storage, KEY);
        settings.unwrap().full_screen
    };
    let stop = Stop {
        scene: window.app().document().path().unwrap().display().to_string(),
        ..Stop::default()
    };
    let lecture = Lecture {
        stops: vec![stop],
        ..Lecture::default()
    };
    let ctx = window.harness.ctx.clone();
    window.harness.state_mut().begin_lecture(&ctx, lecture);
    window.settle();
    assert!(window.app().demo().is_some());
    assert!(!kept(&mut window));
    window.key(Key::Escape);
    assert!(window.app().demo().is_none() && !kept(&mut window));
    window.key(Key::F);
    assert!(kept(&mut window));
    window.key(Key::F);
    assert!(!kept(&mut window));
}

#[test]
fn a_scene_is_read_again_when_another_program_writes_it() {
    let mut window = Window::open();
    let path = window.app().document().path().unwrap().to_owned();
    window.key(Key::Period);
    window.wait("one step", |app| app.frame().clock.steps == 1);
    std::fs::write(&path, SCENE.replace("value = 0.4", "value = 0.25")).unwrap();
    let potential = |app: &App| {
        let layer = &app.document().draft.layers[1];
        layer.value.clone()
    };
    window.wait("the new value", |app| potential(app) == Some(ValueFile::Number(0.25)));
    assert!(!window.app().document().is_modified());
    window.wait("the run", |app| {
        let scenario = app.frame().scenario.as_ref().unwrap();
        scenario.file().layers[1].value == Some(ValueFile::Number(0.25))
    });
    assert_eq!(window.steps(), 1, "the run goes on");
    // It can be taken back; then there are edits, and what others write does not replace them.
    window.keys(Modifiers::COMMAND, Key::Z);
    window.wait("the old value", |app| potential(app) == Some(ValueFile::Number(0.4)));
    assert!(window.app().document().is_modified());
    std::fs::write(&path, SCENE.replace("value = 0.4", "value = 0.125")).unwrap();
    window.wait("the notice", |app| {
        app.notices()
            .list()
            .iter()
            .any(|notice| notice.title.contains("your edits are kept"))
    });
    assert_eq!(potential(window.app()), Some(ValueFile::Number(0.4)));
    std::fs::write(&path, "format = 1\nnonsense").unwrap();
    window.wait("the fault", |app| {
        app.notices().list().iter().any(|notice| notice.fault)
    });
}

#[test]
fn own_scenes_and_recent_files_stand_in_the_gallery() {
    let mut window = Window::open();
    let own = window.folder.path().join("own");
    std::fs::write(own.join("mine.toml"), SCENE.replace("Test scene", "My own scene")).unwrap();
    for _ in 0..400 {
        if window.harness.query_by_label("My own scene").is_some() {
            break;
        }
        window.settle();
    }
    // Its picture is drawn beside the run, and kept.
    let path = own.join("mine.toml");
    window.wait("its picture", |app| app.gallery().has_cover(&path));
    let kept: Vec<_> = std::fs::read_dir(own.join("cache")).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1);
    let cover = image::open(kept[0].path()).unwrap().to_rgb8();
    assert_eq!(cover.dimensions(), (200, 112));
    let colors: std::collections::HashSet<_> = cover.pixels().collect();
    assert!(colors.len() > 100, "{} colours", colors.len());
    // Another content is another picture, in place of the first.
    let faster = SCENE
        .replace("Test scene", "My own scene")
        .replace("momentum = [1.0, 0.0]", "momentum = [2.0, 0.0]");
    std::fs::write(&path, faster).unwrap();
    window.wait("another picture", |_| {
        let now: Vec<_> = std::fs::read_dir(own.join("cache")).unwrap().flatten().collect();
        now.len() == 1 && now[0].file_name() != kept[0].file_name() && image::open(now[0].path()).is_ok()
    });
    window.click("My own scene");
    window.wait("the scene", |app| app.document().draft.title == "My own scene");
    window.settle();
    assert_eq!(window.app().settings().recent.len(), 2);
    let recent = window.harness.get_by_label("Recent file scene.toml");
    recent.scroll_to_me();
    window.settle();
    window.click("Recent file scene.toml");
    window.wait("the first scene", |app| app.document().draft.title == "Test scene");
    assert!(window.app().settings().recent[0].ends_with("scene.toml"));
}

#[test]
fn records_are_written_as_a_table() {
    let mut window = Window::open();
    for step in 1..=3 {
        window.key(Key::Period);
        window.wait("a step", |app| app.frame().clock.steps == step);
    }
    let table = window.folder.path().join("records.csv");
    window.keys(Modifiers::COMMAND, Key::P);
    window.harness.get_by_label("Command").type_text("export records");
    window.settle();
    window.key(Key::Enter);
    window.answer(table.to_str().unwrap());
    window.wait("the table", |app| {
        app.notices()
            .list()
            .iter()
            .any(|notice| notice.title.starts_with("Records written to"))
    });
    let text = std::fs::read_to_string(&table).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (5, "t,right"), "{text}");
    assert!(lines[1].starts_with("0,") && lines[4].starts_with("0.06,"), "{text}");
}

/// The question for a run on another machine: what is missing, who does not answer, and how one gives it up.
#[test]
fn a_run_on_another_machine_is_asked_for() {
    let mut window = Window::open();
    super::experiments::command(&mut window, "connect");
    let is_open = |window: &Window| window.harness.query_by_label("Connect to a run").is_some();
    assert!(is_open(&window));
    let button = |window: &Window| {
        let button = window.harness.get_by_role_and_label(Role::Button, "Connect");
        !button.accesskit_node().is_disabled()
    };
    assert!(!button(&window), "neither address nor token");
    let fill = |window: &mut Window, name: &str, text: &str| {
        window.harness.get_by_role_and_label(Role::TextInput, name).focus();
        window.settle();
        window
            .harness
            .get_by_role_and_label(Role::TextInput, name)
            .type_text(text);
        window.settle();
    };
    // A port that was free a moment ago, at which nobody listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    fill(&mut window, "Address", &port.to_string());
    assert!(!button(&window), "no token");
    fill(&mut window, "Token", &"0123456789abcdef".repeat(2));
    assert!(button(&window));
    window.press(Role::Button, "Connect");
    let started = std::time::Instant::now();
    while window.harness.query_by_label_contains(&port.to_string()).is_none() {
        assert!(started.elapsed() < std::time::Duration::from_mins(2), "no answer");
        window.settle();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(is_open(&window) && button(&window), "it can be tried again");
    window.key(Key::Escape);
    assert!(!is_open(&window));
    assert!(window.app().link().is_none());
}

/// Played from its start it goes as fast as it does here, and rests at its end.
#[test]
fn a_run_that_waits_on_another_machine_is_played_as_one_here() {
    let (_, scenario) = ripplon::solver::read_scene_text(SCENE, None, &[]).unwrap();
    let token = ripplon::remote::Token::random().unwrap();
    let mut server = ripplon::remote::Server::start("127.0.0.1:0", token, Arc::new(scenario)).unwrap();
    let port = server.address().port().to_string();
    let ended = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&ended);
    let serves = std::thread::spawn(move || server.run(&|| stop.load(Ordering::Relaxed), &mut |_| ()));
    let mut window = Window::open();
    super::experiments::command(&mut window, "connect");
    for (name, text) in [("Address", port), ("Token", token.digits())] {
        window.harness.get_by_role_and_label(Role::TextInput, name).focus();
        window.settle();
        window
            .harness
            .get_by_role_and_label(Role::TextInput, name)
            .type_text(&text);
        window.settle();
    }
    window.press(Role::Button, "Connect");
    window.wait("the link", |app| app.link().is_some());
    window.wait("its picture", |app| !app.frame().image.value.is_empty());
    window.settle();
    window.key(Key::Space);
    // At 4.0, after 200 steps.
    window.wait("the end", |app| app.frame().rests);
    assert_eq!(window.app().frame().clock.steps, 200);
    drop(window);
    ended.store(true, Ordering::Relaxed);
    serves.join().unwrap();
}

//! Teaching: questions before answers, the mode for lecture halls, the first steps.

use super::files::Memory;
use super::looks::{comparable, mask, tolerance};
use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use ripplon::app::{App, AppOptions};
use ripplon::engine::{Status, Verdict};
use std::time::Instant;

pub fn asked() -> String {
    SCENE.replace(
        "tolerance = 1e-3",
        "tolerance = 1e-3\nask = \"What will the norm be?\"\nask_at = 0.2",
    )
}

#[test]
fn the_run_waits_for_a_prediction_and_shows_it_beside_the_answer() {
    let mut window = Window::open();
    window.show_scene(&asked());
    assert!(
        window.harness.query_by_label("asked when it runs").is_some(),
        "the value is kept back"
    );
    window.click("Play");
    window.wait("the question", |app| app.frame().question == Some(0));
    let frame = window.app().frame();
    assert_eq!(
        (frame.clock.steps, &frame.status),
        (10, &Status::Paused),
        "exactly there"
    );
    // The text cursor blinks with the time that the steps took.
    window
        .harness
        .ctx
        .all_styles_mut(|style| style.visuals.text_cursor.blink = false);
    window.settle();
    if comparable() {
        mask(&mut window);
        window.harness.snapshot_options("question", &tolerance());
    }
    window
        .harness
        .get_by_role_and_label(Role::TextInput, "Your prediction")
        .type_text("0.75");
    window.settle();
    window.key(Key::Enter);
    assert_eq!(window.app().questions().guesses(0), [0.75]);
    window.wait("the answer", |app| matches!(app.frame().verdicts[0], Verdict::Right(_)));
    window.settle();
    assert!(window.harness.query_by_label("0.75").is_some());
    assert!(window.harness.query_by_label("asked when it runs").is_none());
    // Another run asks again; without an answer it goes on as well.
    window.key(Key::R);
    window.wait("the reset", |app| app.frame().clock.steps < 10);
    if window.app().frame().status == Status::Paused {
        window.click("Play");
    }
    window.wait("the question again", |app| app.frame().question == Some(0));
    window.settle();
    window.click("Skip");
    window.wait("it goes on", |app| app.frame().clock.steps > 10);
    assert!(window.app().questions().guesses(0).is_empty());
}

#[test]
fn steps_by_hand_are_not_held_up() {
    let mut window = Window::open();
    window.show_scene(&asked().replace("ask_at = 0.2", "ask_at = 0.0"));
    for step in 1..=3 {
        window.key(Key::Period);
        window.wait("a step", |app| app.frame().clock.steps == step);
    }
}

#[test]
fn a_clicker_goes_from_preset_to_preset() {
    let mut window = Window::open();
    let zoom = window.harness.ctx.zoom_factor();
    window.key(Key::F5);
    assert!(window.app().is_bare() && window.app().demo().is_some());
    let first = window.app().demo().unwrap().stop().scene.clone();
    window.wait("the first preset, playing", |app| {
        app.document().preset() == Some(first.as_str()) && app.frame().clock.steps > 0
    });
    assert!(window.harness.ctx.zoom_factor() > 1.2 * zoom);
    window.key(Key::PageDown);
    let second = window.app().demo().unwrap().stop().scene.clone();
    assert_ne!(first, second);
    window.wait("the second preset, playing", |app| {
        app.document().preset() == Some(second.as_str()) && app.frame().clock.steps > 0
    });
    window.key(Key::PageUp);
    window.wait("the first one again", |app| {
        app.document().preset() == Some(first.as_str())
    });
    window.key(Key::Escape);
    assert!(!window.app().is_bare() && window.app().demo().is_none());
    window.settle();
    assert!((window.harness.ctx.zoom_factor() - zoom).abs() < 1e-6);
    assert!(window.harness.query_by_label("Play").is_some() || window.harness.query_by_label("Pause").is_some());
}

/// The window of somebody who starts the program for the first time.
fn first_start(plays: bool) -> Window {
    let storage: &'static Memory = Box::leak(Box::new(Memory::default()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, SCENE.replace("end = 4.0", "end = 400.0")).unwrap();
    let options = AppOptions {
        scene: Some(path.display().to_string()),
        ..AppOptions::default()
    };
    let harness = egui_kittest::Harness::builder()
        .with_size([1280.0, 800.0])
        .wgpu()
        .build_eframe(move |cc| {
            cc.storage = Some(storage);
            let app = App::new(cc, options, Instant::now()).unwrap().with_own_dialogues();
            if plays { app } else { app.paused() }
        });
    Window { harness, folder }
}

fn tour(window: &Window) -> Option<(usize, bool)> {
    window.app().tour().map(|tour| (tour.place(), tour.is_done()))
}

/// The first scene runs by itself: that is not what the first step asks for.
#[test]
fn the_first_step_is_the_users() {
    let mut window = first_start(true);
    window.wait("it runs", |app| app.frame().clock.steps > 5);
    window.settle();
    assert_eq!(tour(&window), Some((0, false)));
    window.key(Key::Space);
    window.wait("the pause", |app| app.frame().status == Status::Paused);
    window.settle();
    assert_eq!(tour(&window), Some((0, true)));
}

/// All of it by the keyboard, as whoever starts the program for the first time would.
#[test]
fn the_first_start_shows_five_steps() {
    let mut window = first_start(false);
    window.wait("the first picture", |app| !app.frame().image.value.is_empty());
    window.settle();
    assert_eq!(tour(&window), Some((0, false)));
    if comparable() {
        mask(&mut window);
        window.harness.snapshot_options("first-steps", &tolerance());
    }
    window.key(Key::Space);
    window.wait("it runs", |app| app.frame().status == Status::Running);
    window.settle();
    assert_eq!(tour(&window), Some((0, true)));
    window.key(Key::Enter);
    window.key(Key::T);
    window.wait("time turned", |app| app.frame().clock.time_step < 0.0);
    window.settle();
    assert_eq!(tour(&window), Some((1, true)));
    window.key(Key::Enter);
    window.key(Key::B);
    assert_eq!(tour(&window), Some((2, true)));
    window.key(Key::V);
    window.key(Key::Enter);
    assert_eq!(tour(&window), Some((3, false)));
    window.keys(Modifiers::COMMAND, Key::P);
    window.key(Key::Escape);
    assert_eq!(tour(&window), Some((3, true)));
    window.key(Key::Enter);
    window.key(Key::F1);
    window.key(Key::Escape);
    assert_eq!(tour(&window), Some((4, true)));
    window.key(Key::Enter);
    assert_eq!(tour(&window), None);
    assert!(window.app().settings().toured);
}

#[test]
fn a_setting_in_a_lesson_is_tried_by_a_click() {
    use ripplon::scene::file::ValueFile;
    let mut window = Window::open();
    window.show_scene(&SCENE.replace(
        "A **packet** in a box.",
        "**Try** `layer.1.value = 0.7`: a higher hill. Or `layer.9.value = 1.0`, which is not there.",
    ));
    window.click("Lesson");
    let value = |app: &App| app.document().draft.layers[1].value.clone();
    window.click("layer.1.value = 0.7");
    assert_eq!(value(window.app()), Some(ValueFile::Number(0.7)));
    window.wait("the run with it", |app| app.frame().clock.steps > 3);
    window.keys(Modifiers::COMMAND, Key::Z);
    assert_eq!(value(window.app()), Some(ValueFile::Number(0.4)));
    window.click("layer.9.value = 1.0");
    assert_eq!(value(window.app()), Some(ValueFile::Number(0.4)));
    assert!(
        window
            .harness
            .query_by_label_contains("does not fit this scene")
            .is_some()
    );
}

#[test]
fn theory_and_notes_stand_over_the_picture() {
    let mut window = Window::open();
    let theory = "[[theory]]\ncenter = [14.0, 16.0]\nradius = \"9 + t\"\nlabel = \"r = 9 + t\"\n\
                  [[theory]]\nfrom = [14.0, 16.0]\nto = [\"40\", 25]\n\
                  [[note]]\nat = 0.0\ntext = \"Look at the ring around the packet.\"\n[view]";
    window.show_scene(&SCENE.replace("[view]", theory));
    assert_eq!(window.app().document().draft.theories.len(), 2);
    if comparable() {
        mask(&mut window);
        window.harness.snapshot_options("theory-and-note", &tolerance());
    }
}

/// What a scene says of itself is not said of another one: neither drawn, exported, nor judged.
#[test]
fn words_and_predictions_go_with_the_physics_and_come_back() {
    let mut window = Window::open();
    let words =
        "[[theory]]\ndetector = \"right\"\nvalue = \"0.1*t\"\n[[note]]\nat = 0.0\ntext = \"Two slits.\"\n[view]";
    window.show_scene(&SCENE.replace("[view]", words));
    let said = |app: &App| {
        let scenario = app.frame().scenario.clone().unwrap();
        [
            scenario.notes().len(),
            scenario.theories().len(),
            scenario.expectations().len(),
        ]
    };
    assert_eq!(said(window.app()), [1, 1, 1]);
    assert!(window.harness.query_by_label_contains("was edited").is_none());
    window.click("Scene");
    window.click("Remove layer 1");
    window.wait("the edit", |app| said(app) == [0, 0, 1]);
    window.settle();
    assert!(
        window
            .harness
            .query_by_label_contains("The scene was edited: its predictions, notes")
            .is_some()
    );
    assert!(window.harness.query_all_by_label_contains("does not apply").count() > 0);
    assert_eq!(window.app().document().draft.notes.len(), 1, "what is saved has them");
    window.keys(Modifiers::COMMAND, Key::Z);
    window.wait("undo", |app| said(app) == [1, 1, 1]);
    window.settle();
    assert!(window.harness.query_by_label_contains("was edited").is_none());
    assert!(window.harness.query_all_by_label_contains("does not apply").count() == 0);
    // Another look and another end leave them.
    window.click("automatic Δt");
    window.wait("the edit of Δt", |app| {
        app.frame()
            .scenario
            .as_ref()
            .is_some_and(|scenario| scenario.time().step.is_none())
    });
    assert_eq!(said(window.app()), [1, 1, 1]);
}

/// A note at the lower edge of the picture stands clear of the tour's card above it, and of the line at the end of a lesson.
#[test]
fn cards_leave_notes_free() {
    let storage: &'static Memory = Box::leak(Box::new(Memory::default()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    let note = "\n[[note]]\nat = 0.0\ntext = \"A note that is to be read.\"\n";
    std::fs::write(&path, format!("{SCENE}{note}")).unwrap();
    let options = AppOptions {
        scene: Some(path.display().to_string()),
        ..AppOptions::default()
    };
    let harness = egui_kittest::Harness::builder()
        .with_size([1280.0, 720.0])
        .wgpu()
        .build_eframe(move |cc| {
            cc.storage = Some(storage);
            App::new(cc, options, Instant::now())
                .unwrap()
                .with_own_dialogues()
                .paused()
        });
    let mut window = Window { harness, folder };
    window.wait("the first picture", |app| !app.frame().image.value.is_empty());
    window.settle();
    let card = window
        .harness
        .ctx
        .memory(|memory| memory.area_rect(egui::Id::unique("tour")).unwrap());
    let note = ripplon::app::widgets::above_cards(&window.harness.ctx, card.shrink(20.0));
    assert!(note.bottom() < card.top(), "{note:?} {card:?}");
    let drawn = window.harness.render().unwrap();
    window.key(Key::Escape);
    assert!(tour(&window).is_none());
    let below = ripplon::app::widgets::above_cards(&window.harness.ctx, card.shrink(20.0));
    assert_eq!(below, card.shrink(20.0), "without a card nothing moves");
    assert_ne!(drawn, window.harness.render().unwrap());
}

#[test]
fn a_class_calls_out_numbers_and_sees_them_beside_the_answer() {
    let mut window = Window::open();
    let scene = asked().replace("end = 4.0", "end = 1.2");
    let path = window.file("asked.toml", scene);
    let lecture = ripplon::scene::lecture::Lecture {
        stops: vec![ripplon::scene::lecture::Stop {
            scene: path,
            note: "Who is right?".to_owned(),
            minutes: Some(5.0),
            ..ripplon::scene::lecture::Stop::default()
        }],
        ..ripplon::scene::lecture::Lecture::default()
    };
    let ctx = window.harness.ctx.clone();
    window.harness.state_mut().begin_lecture(&ctx, lecture);
    window.wait("the question", |app| app.frame().question == Some(0));
    window.settle();
    assert!(window.harness.query_by_label("Who is right?").is_some());
    assert!(
        window.harness.query_by_label_contains("of 5:00").is_some(),
        "the time that is planned"
    );
    // What is no number keeps the keyboard, and is said.
    let field = window.harness.get_by_role_and_label(Role::TextInput, "Your prediction");
    field.focus();
    field.type_text("abc");
    window.settle();
    window.key(Key::Enter);
    assert!(ctx.text_edit_focused(), "what is typed next is no key of the window");
    assert!(window.harness.query_by_label_contains("This is no number").is_some());
    for _ in 0..3 {
        window.key(Key::Backspace);
    }
    assert!(window.harness.query_by_label_contains("This is no number").is_none());
    for guess in ["0.5", "0.9", "1,1"] {
        let field = window.harness.get_by_role_and_label(Role::TextInput, "Your prediction");
        field.focus();
        field.type_text(guess);
        window.settle();
        window.key(Key::Enter);
        assert_eq!(window.app().frame().question, Some(0), "the class goes on");
    }
    assert!(
        window
            .harness
            .query_all_by_label_contains("3 said, 0.9 in the middle")
            .next()
            .is_some()
    );
    window.click("Run");
    assert_eq!(window.app().questions().guesses(0), [0.5, 0.9, 1.1]);
    window.wait("the answer", |app| matches!(app.frame().verdicts[0], Verdict::Right(_)));
    window.settle();
    let told = |window: &Window| {
        let words = "3 said, 0.9 in the middle; measured 1";
        window.harness.query_all_by_label_contains(words).next().is_some()
    };
    assert!(told(&window));
    // It stays there until the lecturer goes on: forty frames are ten seconds of the window's clock.
    window.wait("the end", |app| app.frame().rests);
    for _ in 0..4 {
        window.settle();
    }
    assert!(window.app().frame().rests && told(&window));
    assert_eq!(window.app().questions().guesses(0), [0.5, 0.9, 1.1]);
    assert_eq!(window.app().frame().question, None);
}

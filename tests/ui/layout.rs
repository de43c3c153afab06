//! The wave is the picture: what it gets of the window, and how a lesson ends.

use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable;
use ripplon::app::settings::LeftTab;
use ripplon::engine::Status;

#[test]
fn the_field_has_most_of_the_window() {
    for (size, least, picture_least) in [
        ([1280.0, 720.0], 0.6, 0.5),
        ([1920.0, 1080.0], 0.7, 0.6),
        ([1024.0, 640.0], 0.5, 0.37),
    ] {
        let window = Window::plain("double-slit", size);
        let whole = size[0] * size[1];
        let (picture, area) = window.app().picture();
        let (area, picture) = (area.area() / whole, picture.area() / whole);
        assert!(area >= least, "{size:?}: the field's room is {area:.3} of the window");
        assert!(
            picture >= picture_least,
            "{size:?}: the picture is {picture:.3} of the window"
        );
        // The lesson is read beside it.
        assert_eq!(window.app().settings().tab, LeftTab::Lesson);
        assert!(window.harness.query_by_label("Is it right?").is_some());
        if let Some(folder) = std::env::var_os("SCREENS") {
            let mut window = window;
            let file = std::path::Path::new(&folder).join(format!("plain-{}x{}.png", size[0], size[1]));
            window.harness.render().unwrap().save(file).unwrap();
        }
    }
}

/// Numbers that a row has no room for stand below each other, and what is beside them stays where it is.
#[test]
fn long_numbers_push_nothing_aside() {
    let mut window = Window::open();
    window.show_scene(&SCENE.replace("momentum = [1.0, 0.0]", "momentum = [0.12345678, -0.87654321]"));
    window.click("Scene");
    let right = |window: &Window| {
        let section = window
            .harness
            .get_by_role_and_label(Role::DisclosureTriangle, "Detectors");
        section.rect().right()
    };
    window.press(Role::DisclosureTriangle, "Packets");
    let before = right(&window);
    window.harness.get_by_label_contains(" packet 1: ").click();
    window.settle();
    assert!((right(&window) - before).abs() < 0.5);
    let numbers: Vec<egui::Rect> = window
        .harness
        .get_all_by_role_and_label(Role::SpinButton, "Momentum k")
        .map(|field| field.rect())
        .collect();
    assert_eq!(numbers.len(), 2);
    assert!(
        numbers.iter().all(|field| field.right() < before),
        "{numbers:?} {before}"
    );
    window.reveal(Role::Button, " layer 2: Potential 0.4, disk");
    window.press(Role::Button, " layer 2: Potential 0.4, disk");
    let formula = window.harness.get_by_role_and_label(Role::Button, "formula").rect();
    assert!(formula.right() < before, "{formula:?} {before}");
}

#[test]
fn a_lesson_rests_at_its_end() {
    let mut window = Window::open();
    window.click("Play");
    window.wait("the end", |app| app.frame().rests);
    let frame = window.app().frame();
    assert_eq!(
        (frame.clock.steps, &frame.status),
        (200, &Status::Paused),
        "exactly there"
    );
    window.settle();
    window.click("Go on");
    window.wait("it goes on", |app| app.frame().clock.steps > 210);
    window.click("Reset");
    window.wait("the reset", |app| app.frame().clock.steps < 150);
    window.wait("the end again", |app| app.frame().rests);
    window.settle();
    window.click("Again");
    window.wait("from the start", |app| (1..150).contains(&app.frame().clock.steps));
    // What the line covers can be seen as well; the next end is told again.
    window.wait("the end once more", |app| app.frame().rests);
    window.settle();
    window.click("Hide this line");
    assert!(window.harness.query_by_label("Go on").is_none());
    assert!(window.app().frame().rests);
    window.click("Reset");
    window.wait("the start", |app| !app.frame().rests);
    window.click("Play");
    window.wait("its end", |app| app.frame().rests);
    window.settle();
    assert!(window.harness.query_by_label("Go on").is_some());
}

/// A low picture is not hidden by the line that says so.
#[test]
fn a_lesson_ends_without_words_over_a_low_picture() {
    for (height, told) in [(500.0, false), (800.0, true)] {
        let mut window = Window::sized(egui::vec2(700.0, height), 1.0);
        window.show_scene(&SCENE.replace("end = 4.0", "end = 0.4"));
        window.click("Play");
        window.wait("the end", |app| app.frame().rests);
        window.settle();
        let found = window.harness.query_by_label("Go on").is_some();
        assert_eq!(found, told, "{height}");
    }
}

#[test]
fn reversed_time_rests_at_the_start() {
    let mut window = Window::open();
    for _ in 0..6 {
        window.key(egui::Key::Period);
    }
    window.wait("six steps", |app| app.frame().clock.steps == 6);
    window.key(egui::Key::T);
    window.click("Play");
    window.wait("the start", |app| app.frame().rests);
    let frame = window.app().frame();
    assert!(
        frame.clock.time.abs() < 1e-12 && frame.status == Status::Paused,
        "{:?}",
        frame.clock
    );
    window.settle();
    assert!(window.harness.query_by_label("Back at the start.").is_some());
    // Whoever wants to know what was before may.
    window.click("Go on");
    window.wait("it goes on", |app| app.frame().clock.time < -0.1);
}

#[test]
fn a_mirrors_lesson_rests_at_its_focus() {
    let mut window = Window::open();
    window.show_scene(&super::mirror::ring("reversal"));
    window.click("Play");
    window.wait("the focus", |app| app.frame().rests);
    let frame = window.app().frame();
    let turn = frame.mirror.as_ref().unwrap().status.turn;
    assert_eq!(frame.clock.steps, 2 * turn);
    window.settle();
    // Whether the wave is at a focus then is for the scene to say.
    let said = "The way back ends here.";
    assert!(window.harness.query_by_label(said).is_some());
    // Back to the turn and played again it rests there again.
    window.harness.key_press(egui::Key::U);
    window.settle();
    window.wait("the turn", |app| app.frame().clock.steps <= turn);
    window.click("Play");
    window.wait("the focus again", |app| {
        app.frame().rests && app.frame().clock.steps == 2 * turn
    });
}

#[test]
fn runs_may_go_on_past_the_end() {
    let mut window = Window::open();
    window.show_scene(&SCENE.replace("end = 4.0", "end = 0.4"));
    window.keys(egui::Modifiers::COMMAND, egui::Key::P);
    window.harness.get_by_label("Command").type_text("rest at");
    window.settle();
    window.key(egui::Key::Enter);
    assert!(!window.app().settings().rests);
    window.click("Play");
    window.wait("steps past the end", |app| app.frame().clock.steps > 40);
}

/// Numbers whose unit does not say what they count have a name.
#[test]
fn the_status_line_names_the_memory() {
    let window = Window::open();
    let mut found = window.harness.query_all_by_label_contains("memory ");
    assert!(found.any(|node| node.rect().top() > 768.0));
}

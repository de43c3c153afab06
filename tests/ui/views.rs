//! Ways to look at a run: other quantities, the relief, the carpet, the last seconds again.

use super::looks::{comparable, mask, tolerance};
use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use ripplon::engine::Status;
use ripplon::scene::scenario::{Quantity, ViewMode};

fn steps(window: &mut Window, count: u64) {
    let first = window.steps();
    for step in first + 1..=first + count {
        window.key(Key::Period);
        window.wait("a step", |app| app.frame().clock.steps == step);
    }
}

/// Of a wavelength of 13 sites on 9 pixels no phases can be seen; the panel that asks for them says so.
#[test]
fn a_phase_that_is_not_shown_is_told() {
    let unseen = "Shown is the density; hues need 10 pixels per wavelength";
    let mut window = Window::open();
    window.press(Role::ComboBox, "Show");
    window.click("phase and |ψ|");
    assert!(window.harness.query_by_label_contains(unseen).is_none());
    let fine = SCENE.replace("size = [96, 64]", "size = [960, 640]");
    window.show_scene(&fine.replace("[view]", "[view]\nquantity = \"phase\""));
    window.harness.get_by_label_contains(unseen);
}

#[test]
fn every_quantity_of_psi_is_shown() {
    let mut window = Window::open();
    steps(&mut window, 3);
    for (words, quantity) in [
        ("energy density", Quantity::Energy),
        ("peak |ψ|²", Quantity::Peak),
        ("momentum |ψ(k)|²", Quantity::Momentum),
        ("real part Re ψ", Quantity::Real),
    ] {
        window.press(Role::ComboBox, "Show");
        window.click(words);
        window.wait(words, |app| app.frame().image.quantity == Some(quantity));
        window.settle();
        let image = &window.app().frame().image;
        assert!(image.value.iter().any(|value| *value > 0.0), "{words}");
        assert_eq!(window.steps(), 3, "the run goes on");
        assert!(window.app().document().faults.is_none());
    }
}

#[test]
fn the_last_pictures_are_seen_again() {
    let mut window = Window::open();
    steps(&mut window, 6);
    let kept = window.app().frame_history().len();
    assert!(kept >= 3, "{kept} pictures");
    let present = window.app().frame().image.value.clone();
    window.key(Key::OpenBracket);
    assert_eq!(window.app().frame_history().at(), Some(kept - 2));
    window.key(Key::OpenBracket);
    // What is said beside the picture is of its time.
    let shown = window.app().frame_history().time(kept - 3).unwrap();
    let node = window.harness.get_by_label("Picture of the field");
    let said = node.accesskit_node().value().unwrap_or_default();
    let step = (shown / 0.02).round();
    assert!(said.contains(&format!("step {step}.")), "{said}");
    assert!(
        window.harness.query_by_label(&format!("step {step}")).is_some(),
        "the status line"
    );
    let slider = window.harness.get_by_role_and_label(Role::Slider, "Look back");
    slider.focus();
    window.settle();
    window.key(Key::ArrowLeft);
    assert_eq!(
        window.app().frame_history().at(),
        Some(kept.saturating_sub(4)).filter(|_| kept > 3)
    );
    // The state is the one before; a step goes on from there.
    assert_eq!(window.app().frame().image.value, present);
    window.key(Key::Escape);
    window.key(Key::Period);
    window.wait("the next step", |app| app.frame().clock.steps == 7);
    assert_eq!(window.app().frame_history().at(), None);
    // While it runs, looking back pauses it.
    window.click("Play");
    window.wait("it runs", |app| app.frame().clock.steps > 12);
    window.key(Key::OpenBracket);
    window.wait("the pause", |app| app.frame().status == Status::Paused);
    assert!(window.app().frame_history().at().is_some());
    window.key(Key::R);
    window.wait("the reset", |app| app.frame().clock.steps == 0);
    assert_eq!(window.app().frame_history().at(), None);
}

#[test]
fn another_scene_leaves_no_point_of_the_one_before() {
    let mut window = Window::open();
    window.click("Play");
    window.wait("it runs", |app| app.frame().clock.steps > 20);
    let before = window.app().frame().run;
    window.show_scene(&SCENE.replace("Test scene", "Another"));
    window.wait("its picture", |app| {
        app.frame().run > before && !app.frame().image.value.is_empty()
    });
    window.key(Key::K);
    window.wait("the pause", |app| app.frame().status == Status::Paused);
    let steps = window.steps();
    window.settle();
    assert!(window.app().carpet().len() as u64 <= steps + 1);
}

#[test]
fn relief_and_carpet_look_as_they_did() {
    let mut window = Window::open();
    for plot in ["Position", "Detectors"] {
        window.press(Role::Button, plot);
    }
    window.press(Role::Button, "Carpet");
    for _ in 0..24 {
        steps(&mut window, 4);
    }
    window.settle();
    assert!(window.app().carpet().len() > 24);
    assert!(window.harness.query_by_label_contains("Space–time carpet of").is_some());
    window.key(Key::Num4);
    window.wait("the relief", |app| app.frame().image.reduction == 1);
    window.settle();
    assert!(window.harness.query_by_label("Relief of the field").is_some());
    let pictured = comparable();
    let snapshot = |window: &mut Window, name: &str| {
        if pictured {
            mask(window);
            window.harness.snapshot_options(name, &tolerance());
        }
    };
    snapshot(&mut window, "view-relief");
    window.key(Key::Num4);
    window.settle();
    assert!(window.harness.query_by_label("Picture of the field").is_some());
    window.press(Role::ComboBox, "Show");
    window.click("momentum |ψ(k)|²");
    window.wait("momenta", |app| app.frame().image.quantity == Some(Quantity::Momentum));
    window.settle();
    snapshot(&mut window, "view-momentum");
}

#[test]
fn a_relief_is_a_part_of_the_scene() {
    let mut window = Window::open();
    let mode = |window: &Window| window.app().document().draft.view.mode;
    window.key(Key::Num4);
    assert_eq!(mode(&window), ViewMode::Relief);
    window.keys(Modifiers::COMMAND, Key::Z);
    assert_eq!(mode(&window), ViewMode::Plane);
    window.click("relief");
    assert_eq!(mode(&window), ViewMode::Relief);
    window.harness.get_by_label("Relief of the field").focus();
    window.settle();
    window.key(Key::ArrowUp);
    let turned = window.app().orbit();
    assert!(turned.elevation > 26.0, "{turned:?}");
    window.keys(Modifiers::COMMAND, Key::S);
    let path = window.folder.path().join("scene.toml");
    window.wait("the saved file", |_| {
        std::fs::read_to_string(&path)
            .is_ok_and(|text| text.contains("mode = \"relief\"") && text.contains("camera = {"))
    });
    window.app().open("free-packet");
    window.wait("another scene", |app| app.document().preset() == Some("free-packet"));
    window.app().open(path.to_str().unwrap());
    window.wait("the scene as it was", |app| {
        (app.orbit().elevation - turned.elevation).abs() < 1e-3 && app.document().draft.title == "Test scene"
    });
    assert_eq!(mode(&window), ViewMode::Relief);
    // Slices need a third dimension.
    window.key(Key::Escape);
    window.key(Key::Num2);
    assert_eq!(mode(&window), ViewMode::Relief);
    assert!(
        window
            .app()
            .notices()
            .list()
            .iter()
            .any(|notice| notice.title.contains("three dimensions"))
    );
}

#[test]
fn a_scene_shows_its_part_first_and_the_whole_on_demand() {
    let mut window = Window::open();
    let whole = window.app().picture().0;
    window.show_scene(&SCENE.replace(
        "range = \"locked\"",
        "range = \"locked\"\nregion = { min = [10.0, 10.0], max = [30.0, 22.0] }",
    ));
    let (part, area) = window.app().picture();
    assert_eq!(part, area.intersect(part));
    assert!(part.area() >= whole.area(), "{part:?} {whole:?}");
    // The grid reaches beyond what is seen: the picture fills its room.
    assert!((part.width() - area.width()).abs() < 8.0 || (part.height() - area.height()).abs() < 8.0);
    window.key(Key::Num0);
    let again = window.app().picture().0;
    assert!((again.width() - whole.width()).abs() < 1.0, "{again:?} {whole:?}");
}

#[test]
fn the_camera_goes_its_path_until_a_hand_turns_it() {
    let mut window = Window::open();
    let path = "mode = \"relief\"\n[[camera]]\nat = 0.0\nazimuth = 0.0\n[[camera]]\nat = 0.1\nazimuth = 50.0\n";
    window.show_scene(&SCENE.replace("range = \"locked\"\n", path));
    window.wait("the path's start", |app| app.orbit().azimuth.abs() < 1e-9);
    // A key that comes before the run is ready is lost; steps beyond the last key of the path leave the camera there.
    while window.app().frame().clock.steps < 5 {
        window.key(Key::Period);
        window.settle();
    }
    window.settle();
    let end = window.app().orbit().azimuth;
    assert!((end - 50.0).abs() < 1e-6, "{end}");
    let relief = window.harness.get_by_label("Relief of the field").rect().center();
    window.harness.drag_at(relief);
    window.settle();
    window.harness.hover_at(relief + egui::vec2(20.0, 0.0));
    window.settle();
    window.harness.drop_at(relief + egui::vec2(40.0, 0.0));
    window.settle();
    assert_ne!(window.app().orbit().azimuth, end);
    let turned = window.app().orbit();
    window.key(Key::R);
    window.wait("the reset", |app| app.frame().clock.steps == 0);
    window.settle();
    assert_eq!(window.app().orbit(), turned, "and there it stays");
}

/// What is under the pointer has its unit, in scenes of sound the value as well as the place.
#[test]
fn values_under_the_pointer_have_units() {
    let mut window = Window::open();
    for preset in ["pond", "tube"] {
        window.app().open(preset);
        window.wait(preset, |app| {
            app.document().preset() == Some(preset) && !app.frame().image.value.is_empty()
        });
        window.settle();
        let (_, area) = window.app().picture();
        window.harness.hover_at(area.center());
        window.settle();
        let all = window.harness.root().children_recursive();
        let mut texts = all.filter_map(|node| node.accesskit_node().value());
        assert!(texts.any(|text| text.starts_with("p (Pa) ")), "{preset}");
    }
}

/// It would stand over the dialogue.
#[test]
fn a_dialogue_closes_what_the_pointer_at_rest_is_told() {
    let mut window = Window::open();
    let told = |window: &Window| {
        let all = window.harness.root().children_recursive();
        let mut texts = all.filter_map(|node| node.accesskit_node().value());
        texts.any(|text| text.contains("Shows the whole grid"))
    };
    // It has its word where there is room.
    let button = |name| window.harness.query_by_role_and_label(Role::Button, name);
    let fit = button("Fit")
        .or_else(|| button("Fit to window"))
        .unwrap()
        .rect()
        .center();
    window.harness.hover_at(fit);
    // The tooltip comes after a while.
    for _ in 0..120 {
        window.harness.step();
    }
    assert!(told(&window));
    window.keys(Modifiers::COMMAND, Key::P);
    assert!(!told(&window));
}

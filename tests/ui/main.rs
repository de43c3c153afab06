//! The window, driven without a display: software Vulkan draws it, AccessKit names find its controls.
#![cfg(feature = "gui")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

mod access;
mod editing;
mod experiments;
mod files;
mod films;
mod hands;
mod keeping;
mod layout;
mod lecture;
mod looks;
mod mirror;
mod pair;
mod questions;
mod sizes;
mod space;
mod tools;
mod views;
mod window;

use egui::accesskit::{Role, Toggled};
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use ripplon::app::App;
use ripplon::engine::Status;
use ripplon::physics::Initial;
use window::{SCENE, Window};

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
    // A key of a tool that the scene has not says why nothing happens.
    window.key(Key::O);
    let mut notices = window.app().notices().list().iter();
    assert!(notices.any(|notice| notice.title.contains("scenes of sound")));
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
            .is_some_and(|report| report.precision.as_str() == "double")
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

/// A menu says what is on of that which it turns on and off.
#[test]
fn menus_tell_what_is_on() {
    let mut window = Window::open();
    let told = |window: &mut Window| {
        window.press(Role::Button, "Run");
        let on = {
            let entry = window.harness.get_by_role_and_label(Role::Button, "Rest at the end");
            entry.click();
            entry.accesskit_node().toggled()
        };
        window.settle();
        on
    };
    assert_eq!(
        [told(&mut window), told(&mut window)],
        [Toggled::True, Toggled::False].map(Some)
    );
}

/// What the command line warns of stands in the window as well.
#[test]
fn what_a_scene_misses_is_told() {
    let mut window = Window::open();
    // Between the sites, which stand at whole and half lengths.
    window.show_scene(&SCENE.replace(
        "center = [38.0, 16.0]\nradius = 4.0",
        "center = [38.25, 16.25]\nradius = 0.3",
    ));
    let told = |window: &Window, words: &str| window.harness.query_all_by_label_contains(words).count() > 0;
    assert!(told(&window, "layer.1 (potential) holds no site of the grid"));
    let lossy = |value: &str| {
        format!(
            "format = 1\n[grid]\nsize = [40, 30]\nspacing = 1.0\n[acoustic]\nspeed = 340.0\nattenuation = {{ at = 17.0, value = {value}, band = [8.5, 17.0] }}\n[time]\nstep = 1e-3\n[[pulse]]\ncenter = [20.0, 15.0]\nwidth = 4.0\n"
        )
    };
    window.click("Scene");
    window.press(Role::DisclosureTriangle, "Grid");
    for (value, missed) in [("0.02", false), ("0.3", true)] {
        window.show_scene(&lossy(value));
        let words = [
            "The medium attenuates by up to",
            "What to change stands at “Is it right?”.",
        ];
        assert_eq!(words.map(|words| told(&window, words)), [missed; 2], "{value}");
    }
}

#[test]
fn the_palette_finds_commands_and_presets() {
    let mut window = Window::open();
    window.keys(Modifiers::COMMAND, Key::P);
    window.harness.get_by_label("Command").type_text("one st");
    window.settle();
    window.key(Key::Enter);
    window.wait("one step", |app| app.frame().clock.steps == 1);
    // Key and letters in one frame, as where a frame takes long.
    let key = Event::Key {
        key: Key::P,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::COMMAND,
    };
    window
        .harness
        .input_mut()
        .events
        .extend([key, Event::Text("one st".to_owned())]);
    window.settle();
    window.key(Key::Enter);
    window.wait("another step", |app| app.frame().clock.steps == 2);
    window.keys(Modifiers::COMMAND, Key::P);
    window.harness.get_by_label("Command").type_text("preset free");
    window.settle();
    window.key(Key::Enter);
    window.wait("the preset", |app| app.document().preset() == Some("free-packet"));
}

#[test]
fn every_panel_opens_and_closes() {
    let mut window = Window::open();
    for key in [Key::Num1, Key::Num2, Key::Num3] {
        let before = window.app().settings().clone();
        window.keys(Modifiers::COMMAND, key);
        assert_ne!(*window.app().settings(), before, "{key:?}");
        window.keys(Modifiers::COMMAND, key);
        assert_eq!(*window.app().settings(), before, "{key:?}");
    }
    window.click("Scene");
    for (section, inside) in [
        ("Grid", "Spacing a"),
        ("Packets", "Add packet"),
        ("Detectors", "Add detector"),
    ] {
        assert!(window.harness.query_by_label(inside).is_none(), "{section} is folded");
        window.reveal(Role::DisclosureTriangle, section);
        window.press(Role::DisclosureTriangle, section);
        assert!(window.harness.query_by_label(inside).is_some(), "{section} unfolds");
    }
    for plot in ["Spread", "Norm", "Energy"] {
        let before = window.app().settings().shown.len();
        window.press(Role::Button, plot);
        assert_eq!(window.app().settings().shown.len(), before + 1, "{plot}");
    }
    window.key(Key::Period);
    window.wait("one step", |app| app.frame().clock.steps == 1);
    window.press(Role::Button, "Dark or light");
    assert!(!window.app().settings().dark);
}

#[test]
fn detectors_are_added_renamed_and_removed() {
    let mut window = Window::open();
    window.click("Scene");
    window.reveal(Role::DisclosureTriangle, "Detectors");
    window.press(Role::DisclosureTriangle, "Detectors");
    window.reveal(Role::Button, "Add detector");
    window.press(Role::Button, "Add detector");
    let names = |app: &App| -> Vec<String> {
        app.frame()
            .scenario
            .iter()
            .flat_map(|scenario| scenario.detectors())
            .map(|detector| detector.name.clone())
            .collect()
    };
    window.wait("the detector", |app| names(app) == ["right", "detector"]);
    window.key(Key::Period);
    window.wait("its record", |app| app.frame().detectors.len() == 2);
    window.reveal(Role::Button, "Remove detector 1");
    window.press(Role::Button, "Remove detector 1");
    window.wait("one less", |app| names(app) == ["detector"]);
}

#[test]
fn sound_scenes_have_pulses_and_sources() {
    let mut window = Window::open();
    window.app().open("pond");
    window.wait("the preset", |app| app.document().preset() == Some("pond"));
    // What sound has not is said in passing, and is no fault.
    window.key(Key::X);
    let told = |notice: &ripplon::app::notice::Notice| notice.title.contains("not found at one place") && !notice.fault;
    assert!(window.app().notices().list().iter().any(told));
    window.click("Scene");
    for (section, add) in [("Pulses", "Add pulse"), ("Sources", "Add source")] {
        window.reveal(Role::DisclosureTriangle, section);
        window.press(Role::DisclosureTriangle, section);
        window.reveal(Role::Button, add);
        window.press(Role::Button, add);
    }
    window.wait("both", |app| {
        app.frame().scenario.as_ref().is_some_and(|scenario| {
            let pulses = matches!(scenario.initial(), Initial::Pulses(pulses) if pulses.len() == 2);
            pulses && scenario.sources().len() == 1
        })
    });
    assert!(window.app().document().faults.is_none());
    window.reveal(Role::Button, "Remove source 1");
    window.press(Role::Button, "Remove source 1");
    window.wait("one less", |app| {
        app.frame()
            .scenario
            .as_ref()
            .is_some_and(|scenario| scenario.sources().is_empty())
    });
}

#[test]
fn a_failed_run_says_why_and_keeps_its_last_picture() {
    let mut window = Window::open();
    // The square root of a negative number from t = 0.1 on: the field is no longer finite.
    let scene = SCENE.replace("value = 0.4", "value = 0.4\ndrive = \"sqrt(0.1 - t)\"");
    window.show_scene(&scene);
    window.press(Role::Button, "Play");
    window.wait("the end", |app| matches!(app.frame().status, Status::Failed(_)));
    window.settle();
    let frame = window.app().frame();
    let Status::Failed(reason) = frame.status.clone() else {
        panic!("{:?}", frame.status);
    };
    let image = &frame.image.value;
    assert!(
        !image.is_empty() && image.iter().all(|value| value.is_finite()),
        "the last good picture"
    );
    assert!(image.iter().any(|value| *value > 0.0));
    assert!(window.harness.query_by_label("The run has stopped").is_some());
    assert!(
        window.harness.query_by_label(&reason).is_some(),
        "the reason is shown: {reason}"
    );
    window.press(Role::Button, "Reset");
    window.wait("the reset", |app| !matches!(app.frame().status, Status::Failed(_)));
    window.settle();
    assert!(window.harness.query_by_label("The run has stopped").is_none());
    assert_eq!(window.steps(), 0);
}

#[test]
fn keys_are_found_by_what_they_do() {
    let mut window = Window::open();
    window.key(Key::F1);
    let field = window.harness.get_by_role_and_label(Role::TextInput, "Search keys");
    field.type_text("turn time");
    window.settle();
    assert!(
        window.app().frame().clock.steps == 0 && window.app().frame().clock.time_step >= 0.0,
        "letters are typed"
    );
    window.key(Key::Escape);
    window.key(Key::Escape);
    assert!(window.harness.query_by_label("Keys and mouse").is_none());
}

#[test]
fn home_and_end_take_a_slider_to_its_ends() {
    let mut window = Window::open();
    window.show_scene(space::SCENE);
    window.key(Key::Num2);
    window.reveal(Role::Slider, "Slice x");
    window.harness.get_by_role_and_label(Role::Slider, "Slice x").focus();
    window.settle();
    let value = |window: &Window| {
        let slider = window.harness.get_by_role_and_label(Role::Slider, "Slice x");
        slider.accesskit_node().numeric_value().unwrap()
    };
    let middle = value(&window);
    window.key(Key::End);
    let end = value(&window);
    assert!(end > middle, "{middle} {end}");
    window.key(Key::Home);
    assert_eq!(value(&window), 0.0);
    window.key(Key::ArrowRight);
    assert!(value(&window) > 0.0 && value(&window) < middle);
}

#[test]
fn plots_suit_the_scene_that_names_them() {
    use ripplon::app::plots::Kind;
    let mut window = Window::open();
    let own = window.app().settings().shown.clone();
    assert_eq!(window.app().scene_plots(), None);
    window.show_scene(&SCENE.replace("range = \"locked\"", "range = \"locked\"\nplots = [\"energy\"]"));
    window.wait("its plots", |app| app.scene_plots() == Some(&[Kind::Energy]));
    window.press(Role::Button, "Norm");
    assert_eq!(window.app().scene_plots(), Some(&[Kind::Energy, Kind::Norm][..]));
    assert!(!window.app().document().is_modified(), "another choice is no edit");
    assert_eq!(window.app().settings().shown, own, "and leaves the user's own alone");
    // Kept with the scene, as an edit that can be taken back.
    window.show_scene(&SCENE.replace("range = \"locked\"", "range = \"auto\""));
    window.press(Role::Button, "More");
    window.press(Role::CheckBox, "Keep with the scene");
    window.wait("the edit", |app| app.document().draft.view.plots == own);
    assert!(window.app().document().can_undo());
    window.key(Key::Escape);
    window.keys(Modifiers::COMMAND, Key::Z);
    window.wait("the edit taken back", |app| app.document().draft.view.plots.is_empty());
}

//! Scenes of three dimensions in the window: plane, slices, volume; all of it from the keyboard.

use super::looks::{comparable, mask, tolerance};
use super::window::Window;
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use ripplon::app::App;
use ripplon::scene::scenario::{Opacity, ViewMode};

/// A pulse in a box with a wall and faster air behind it.
pub const SCENE: &str = r#"
format = 1
title = "In space"
[grid]
size = [40, 32, 24]
spacing = 0.1
[acoustic]
speed = 340.0
[time]
step = 1e-4
[solver]
backend = "cpu"
[[pulse]]
center = [1.5, 1.5, 1.2]
width = 0.3
[[layer]]
sets = "wall"
shape = "box"
min = [2.5, 0.0, 0.0]
max = [2.6, 1.6, 2.3]
[[layer]]
sets = "speed"
shape = "box"
min = [3.0, 0.0, 0.0]
max = [3.9, 3.1, 2.3]
value = 500.0
[view]
mode = "volume"
# An automatic range falls with the time of the clock on the wall.
range = [-0.3, 0.3]
"#;

fn open() -> Window {
    let mut window = Window::open();
    window.show_scene(SCENE);
    window.wait("the volume", |app| app.frame().volume.is_some());
    window.settle();
    window
}

/// Until the picture is drawn with every pixel.
fn rest(window: &mut Window) {
    window.settle();
    window.wait("the picture at rest", App::is_space_full);
    window.settle();
}

fn mode(app: &App) -> ViewMode {
    app.document().draft.view.mode
}

#[test]
fn keys_and_panel_change_the_view() {
    let mut window = open();
    assert!(window.harness.query_by_label("Field in space").is_some());
    window.key(Key::Num2);
    assert_eq!(mode(window.app()), ViewMode::Slices);
    for slice in ["Slice x", "Slice y", "Slice z"] {
        window.reveal(Role::Slider, slice);
    }
    window.key(Key::Num1);
    assert_eq!(mode(window.app()), ViewMode::Plane);
    assert!(window.harness.query_by_label("Picture of the field").is_some());
    window.wait("no volume", |app| app.frame().volume.is_none());
    window.key(Key::Num3);
    window.wait("the volume again", |app| app.frame().volume.is_some());
    window.click("slices");
    assert_eq!(mode(window.app()), ViewMode::Slices);
    // Taken back like any other edit.
    window.keys(Modifiers::COMMAND, Key::Z);
    assert_eq!(mode(window.app()), ViewMode::Volume);
    // The palette knows it too.
    window.keys(Modifiers::COMMAND, Key::P);
    window.harness.get_by_label("Command").type_text("slices");
    window.settle();
    window.key(Key::Enter);
    assert_eq!(mode(window.app()), ViewMode::Slices);
}

#[test]
fn handles_of_the_opacity_move_with_the_arrow_keys() {
    let mut window = open();
    window.reveal(Role::Slider, "Opacity handle 2");
    window
        .harness
        .get_by_role_and_label(Role::Slider, "Opacity handle 2")
        .focus();
    window.settle();
    window.key(Key::ArrowUp);
    let opacity = window.app().document().draft.view.opacity.clone();
    let Opacity::Points(points) = opacity else {
        panic!("{opacity:?}");
    };
    let soft = Opacity::Soft.points();
    assert_eq!(points.len(), soft.len());
    assert!(
        (points[1][1] - 0.05).abs() < 1e-9 && (points[1][0] - soft[1][0]).abs() < 1e-9,
        "{points:?}"
    );
    assert!(window.app().document().faults.is_none());
}

#[test]
fn the_camera_is_turned_by_hand_and_by_keys_and_saved() {
    let mut window = open();
    let rect = window.harness.get_by_label("Field in space").rect();
    let start = rect.center();
    window.harness.drag_at(start);
    window.settle();
    window.harness.hover_at(start + egui::vec2(100.0, 0.0));
    window.settle();
    window.harness.drop_at(start + egui::vec2(100.0, 0.0));
    window.settle();
    let turned = window.app().orbit();
    // 0.4° a point to the left of where it was.
    assert!((turned.azimuth - (30.0 - 40.0)).abs() < 0.5, "{turned:?}");
    window.harness.get_by_label("Field in space").focus();
    window.settle();
    window.key(Key::ArrowUp);
    window.key(Key::PageUp);
    let keyed = window.app().orbit();
    assert!(
        (keyed.elevation - (turned.elevation + 5.0)).abs() < 1e-6 && keyed.zoom > 1.2,
        "{keyed:?}"
    );
    window.keys(Modifiers::COMMAND, Key::S);
    let path = window.folder.path().join("other.toml");
    window.wait("the saved file", |_| {
        std::fs::read_to_string(&path).is_ok_and(|text| text.contains("camera = {"))
    });
    window.app().open(path.to_str().unwrap());
    window.settle();
    window.wait("the camera", |app| (app.orbit().azimuth - keyed.azimuth).abs() < 1e-3);
    // The focus goes back to the window, and with it the keys.
    window.key(Key::Escape);
    window.key(Key::Num0);
    assert!((window.app().orbit().zoom - 1.0).abs() < 1e-9);
}

#[test]
fn space_looks_as_it_did() {
    if !comparable() {
        return;
    }
    let mut window = open();
    for step in 1..=8 {
        window.key(Key::Period);
        window.wait("a step", |app| app.frame().clock.steps == step);
    }
    rest(&mut window);
    mask(&mut window);
    window.harness.snapshot_options("space-volume", &tolerance());
    window.key(Key::Num2);
    rest(&mut window);
    mask(&mut window);
    window.harness.snapshot_options("space-slices", &tolerance());
}

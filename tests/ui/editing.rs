//! Scenes edited by a teacher: what a field starts as can be chosen anew, and no button leaves a scene that cannot run.

use super::experiments::command;
use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{Key, Modifiers, PointerButton};
use egui_kittest::kittest::Queryable;
use ripplon::app::App;
use ripplon::physics::{Initial, Sets};

/// [`SCENE`] on the lowest states of its box instead of a packet, with nothing in it.
fn states() -> String {
    let head = SCENE.split("[[packet]]").next().unwrap();
    format!("{head}\n[[eigenstate]]\nlevel = 0\n[[eigenstate]]\nlevel = 1\n")
}

/// A pulse in a box whose Δt would be unstable in water, and no source.
const PULSE: &str = "format = 1\ntitle = \"Pulse\"\n[grid]\nsize = [96, 64]\nspacing = 0.5\n[acoustic]\nspeed = 340.0\n\
    [time]\nstep = 0.0007\nend = 1.0\n[[pulse]]\ncenter = [20.0, 16.0]\nwidth = 2.0\n";

fn starts_with_packets(app: &App) -> bool {
    let scenario = app.frame().scenario.as_ref();
    scenario.is_some_and(|scenario| matches!(scenario.initial(), Initial::Packets(_)))
}

fn layers(app: &App) -> usize {
    let scenario = app.frame().scenario.as_ref();
    scenario.map_or(0, |scenario| scenario.medium().layers().len())
}

#[test]
fn a_packet_takes_the_place_of_eigenstates() {
    let mut window = Window::open();
    window.show_scene(&states());
    assert!(!starts_with_packets(window.app()));
    // By the tool.
    window.key(Key::P);
    window.drag(PointerButton::Primary, Modifiers::NONE, &[(30.0, 30.0), (40.0, 30.0)]);
    window.wait("the packet", starts_with_packets);
    let draft = &window.app().document().draft;
    assert!(draft.eigenstates.is_empty() && draft.packets.len() == 1);
    window.keys(Modifiers::COMMAND, Key::Z);
    window.wait("the states", |app| !starts_with_packets(app));
    assert_eq!(window.app().document().draft.eigenstates.len(), 2);
    // And by the panel, which had no way from the last state.
    window.click("Scene");
    window.press(Role::DisclosureTriangle, "Packets");
    window.reveal(Role::Button, "Start from a packet instead");
    window.press(Role::Button, "Start from a packet instead");
    window.wait("the packet", starts_with_packets);
    assert!(window.app().document().faults.is_none());
}

#[test]
fn a_dropped_wave_takes_the_place_of_eigenstates() {
    let mut window = Window::open();
    window.show_scene(&states());
    let psi = window.folder.path().join("psi.npy");
    let wave = ndarray::Array2::from_elem((64, 96), num_complex::Complex64::new(0.0, 1.0));
    ndarray_npy::write_npy(&psi, &wave).unwrap();
    window.drop_file(psi.to_str().unwrap());
    window.wait("the wave", |app| {
        let scenario = app.frame().scenario.as_ref();
        scenario.is_some_and(|scenario| matches!(scenario.initial(), Initial::Array(_)))
    });
    window.click("Scene");
    window.press(Role::DisclosureTriangle, "Packets");
    window.reveal(Role::Button, "Start from a packet instead");
    window.press(Role::Button, "Start from a packet instead");
    window.wait("the packet", starts_with_packets);
    assert_eq!(window.app().document().draft.initial, None);
}

#[test]
fn a_medium_that_is_added_runs_with_the_step_that_is_there() {
    let mut window = Window::open();
    window.show_scene(PULSE);
    window.click("Scene");
    window.reveal(Role::Button, "Add medium");
    window.press(Role::Button, "Add medium");
    window.wait("the medium", |app| layers(app) == 1);
    assert!(window.app().document().faults.is_none());
    let layer = &window.app().document().draft.layers[0];
    assert_eq!(layer.sets, Sets::Speed);
}

/// A source of amplitude 1 is a hundred thousand times fainter than a pulse of 1 Pa.
#[test]
fn the_first_source_is_as_loud_as_a_pulse() {
    let mut window = Window::open();
    window.show_scene(PULSE);
    window.key(Key::O);
    window.drag(PointerButton::Primary, Modifiers::NONE, &[(60.0, 30.0)]);
    window.wait("the source", |app| {
        let scenario = app.frame().scenario.as_ref();
        scenario.is_some_and(|scenario| scenario.sources().len() == 1)
    });
    // In a plane s(t) · 2πc² δ gives a pressure of the order of 1 Pa a wavelength away; to three figures.
    let loud = std::f64::consts::TAU * 340.0 * 340.0;
    let amplitude = window.app().document().draft.sources[0].amplitude;
    assert!((amplitude / loud - 1.0).abs() < 5e-3, "{amplitude} {loud}");
}

#[test]
fn waves_are_cleared_where_something_is_left_to_run() {
    let mut window = Window::open();
    window.show_scene(PULSE);
    command(&mut window, "clear waves");
    window.settle();
    let says = |window: &Window, words: &str| {
        let mut notices = window.app().notices().list().iter();
        notices.any(|notice| notice.title.contains(words))
    };
    assert!(says(&window, "placed with P"), "nothing else sounds");
    assert_eq!(window.app().document().draft.pulses.len(), 1);
    assert!(window.app().document().faults.is_none());
    // Of packets the first one stays.
    let two = SCENE.replace(
        "[[packet]]",
        "[[packet]]\ncenter = [30.0, 16.0]\nwidth = [2.0, 2.0]\n[[packet]]",
    );
    window.show_scene(&two);
    command(&mut window, "clear waves");
    window.wait("one packet", |app| app.document().draft.packets.len() == 1);
    assert_eq!(window.app().document().draft.packets[0].center, [30.0, 16.0]);
    window.settle();
    command(&mut window, "clear waves");
    window.settle();
    assert!(says(&window, "needs a state"));
}

#[test]
fn a_scene_gets_a_title_of_its_own() {
    let mut window = Window::open();
    window.step_to(2);
    window.click("Scene");
    window.harness.get_by_label("Title of the scene").focus();
    window.settle();
    window.keys(Modifiers::COMMAND, Key::A);
    window.harness.get_by_label("Title of the scene").type_text("Mine");
    window.wait("the title", |app| app.document().title() == "Mine");
    window.wait("the run's title", |app| {
        let scenario = app.frame().scenario.as_ref();
        scenario.is_some_and(|scenario| scenario.title() == "Mine")
    });
    assert_eq!(window.steps(), 2, "the run goes on");
}

//! Sweeps, levels, dispersion and room acoustics in the window.

use super::window::Window;
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use ripplon::physics::StateMeasures;

/// A packet on a line; what is measured at t = 0 needs no run.
const LINE: &str = r#"
format = 1
title = "Line"
[grid]
size = [64]
spacing = 1.0
[quantum]
mass = 0.5
[time]
step = 0.1
end = 1.0
[[packet]]
center = [30.0]
width = [4.0]
momentum = [0.5]
[sweep]
vary = ["packet.0.momentum.0=0.2..0.6/3"]
measure = ["px@0"]
theory = "x"
"#;

pub fn command(window: &mut Window, name: &str) {
    window.keys(Modifiers::COMMAND, Key::P);
    window.harness.get_by_label("Command").type_text(name);
    window.settle();
    window.key(Key::Enter);
}

/// Every panel of a run aside goes with Escape, one after the other.
#[test]
fn escape_closes_the_panels_of_runs_aside() {
    let mut window = Window::open();
    command(&mut window, "sweep");
    command(&mut window, "levels");
    assert!(window.app().sweep().open && window.app().levels().open);
    window.key(Key::Escape);
    let open = [window.app().sweep().open, window.app().levels().open];
    assert_eq!(open.iter().filter(|open| **open).count(), 1);
    window.key(Key::Escape);
    assert!(!window.app().sweep().open && !window.app().levels().open);
}

/// A panel of a run aside stands over the picture, and leaves the lesson to be read.
#[test]
fn panels_of_runs_aside_leave_the_lesson_free() {
    for (preset, name, button) in [
        ("tube", "dispersion", "Record the dispersion"),
        ("double-well", "levels", "Find levels"),
    ] {
        let size = [1280.0, 720.0];
        let mut window = Window::plain(preset, size);
        command(&mut window, name);
        let button = window.harness.get_by_role_and_label(Role::Button, button).rect();
        let (_, area) = window.app().picture();
        assert!(button.left() > area.left(), "{name}: {button:?} {area:?}");
        let close = window.harness.get_by_label("Close window").rect();
        assert!(close.right() < size[0] && close.top() > 0.0, "{name}: {close:?}");
    }
}

#[test]
fn a_sweep_grows_and_a_run_of_it_is_opened() {
    let mut window = Window::open();
    window.show_scene(LINE);
    command(&mut window, "sweep");
    window.wait("the panel", |app| app.sweep().open);
    window.press(Role::Button, "Run the sweep");
    window.wait("three runs", |app| {
        app.sweep().points().len() == 3 && !app.sweep().is_running()
    });
    for point in window.app().sweep().points() {
        // The theory is the momentum that was set.
        let theory = point.theory.unwrap();
        assert!((point.measured[0] - theory).abs() < 1e-4, "{point:?}");
    }
    // In the words of the scene's panel.
    let words = "Momentum k along x of packet 1 = 0.2: ";
    assert!(window.harness.query_all_by_label_contains(words).next().is_some());
    let before = window.app().document().draft.packets[0].momentum.clone();
    window.press(Role::Button, "Open this run");
    window.wait("the run", |app| app.document().draft.packets[0].momentum == [0.2]);
    window.keys(Modifiers::COMMAND, Key::Z);
    assert_eq!(window.app().document().draft.packets[0].momentum, before);
}

#[test]
fn a_state_of_the_list_becomes_the_first() {
    let mut window = Window::open();
    window.show_scene(LINE);
    command(&mut window, "levels");
    window.wait("the panel", |app| app.levels().open);
    window.press(Role::Button, "Find levels");
    window.wait("ten levels", |app| app.levels().energies().len() == 10);
    // A box of 64 sites: E = 2J(1 − cos(πn/65)).
    for (n, energy) in (1..).zip(window.app().levels().energies()) {
        let exact = 2.0 * (1.0 - (std::f64::consts::PI * f64::from(n) / 65.0).cos());
        assert!((energy - exact).abs() < 1e-10, "{energy} {exact}");
    }
    let hint = "A click on a picture makes that state the one at t = 0";
    assert!(window.harness.query_by_label_contains(hint).is_some());
    window.press(Role::Button, "Start with level 0");
    window.wait("the state", |app| {
        let states = &app.document().draft.eigenstates;
        states.len() == 1 && app.document().draft.packets.is_empty()
    });
    // The largest of the lowest state stands in the middle, with 2/65.
    window.wait("its density", |app| {
        let frame = app.frame();
        frame
            .observables
            .is_some_and(|(_, sums)| (sums.peak - 2.0 / 65.0).abs() < 1e-4)
    });
    window.keys(Modifiers::COMMAND, Key::Z);
    assert_eq!(window.app().document().draft.packets.len(), 1);
}

#[test]
fn momenta_are_taken_while_a_plot_shows_them() {
    let mut window = Window::open();
    window.show_scene(LINE);
    assert!(window.app().frame().state.is_none());
    window.press(Role::Button, "More");
    window.press(Role::Button, "Momentum");
    window.wait("the momentum", |app| {
        let found: Option<StateMeasures> = app.frame().state.map(|(_, _, found)| found);
        found.is_some_and(|found| (found.momentum[0] - 0.5).abs() < 1e-4 && (found.survival() - 1.0).abs() < 1e-5)
    });
    window.press(Role::Button, "Momentum");
    window.wait("rest", |app| app.frame().state.is_none());
}

/// A short tube with walls that take much: Z = 3 ρc at both ends, R = ½, T = 3 (L/c)/lg 2.
const TUBE: &str = r#"
format = 1
title = "Tube"
[grid]
size = [100]
spacing = 0.025
edges = "wall"
[acoustic]
speed = 343.0
[time]
step = 6.5e-5
end = 0.13
[solver]
method = "fdtd"
[[layer]]
sets = "impedance"
value = 3.0
[[source]]
at = [1.25]
signal = "ricker"
frequency = 400.0
amplitude = 1e5
[[detector]]
name = "listener"
at = [1.25]
"#;

/// Source and listener in the middle: an echo each L/c, 6.02 dB weaker; a line through a staircase of 6 dB over 20 dB is off by 3·3/20 at most.
#[test]
fn a_room_is_listened_to() {
    let mut window = Window::open();
    window.show_scene(TUBE);
    command(&mut window, "room acoustics");
    window.wait("the panel", |app| app.room().open);
    window.press(Role::Button, "Listen to the room");
    window.wait("the decay", |app| {
        app.room().report().is_some() || app.room().fault().is_some()
    });
    let app = window.app();
    assert_eq!(app.room().fault(), None);
    let decay = app.room().report().unwrap().bands[0].decay.clone().unwrap();
    let exact = 3.0 * (2.5 / 343.0) / 2.0f64.log10();
    let found = decay.t20.unwrap().time;
    assert!((found / exact - 1.0).abs() < 0.45, "{found} for {exact}");
    window.harness.get_by_label("Decay in dB over seconds");
}

/// A packet on a line: every wave number that runs has the frequency 2J(1 − cos k) of the lattice, to a twentieth of a bin.
#[test]
fn a_dispersion_is_recorded() {
    let mut window = Window::open();
    window.show_scene(
        "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\nedges = \"periodic\"\n[quantum]\nmass = 0.5\n[time]\nstep = 0.2\nend = 120.0\n\
         [solver]\nmethod = \"trotter\"\norder = 4\n[[packet]]\ncenter = [32.0]\nwidth = [1.0]\n",
    );
    command(&mut window, "dispersion");
    window.wait("the panel", |app| app.dispersion().open);
    window.press(Role::Button, "Record the dispersion");
    window.wait("the spectrum", |app| {
        app.dispersion().report().is_some() || app.dispersion().fault().is_some()
    });
    let app = window.app();
    assert_eq!(app.dispersion().fault(), None);
    let ridge = app.dispersion().report().unwrap().dispersion.ridge(1e-3);
    assert!(ridge.len() > 20, "{}", ridge.len());
    let bin = std::f64::consts::TAU / 120.0;
    for [k, omega, _] in ridge {
        let exact = 2.0 * (1.0 - k.cos());
        assert!((omega - exact).abs() < 0.06 * bin, "{omega} at {k}, not {exact}");
    }
    window.harness.get_by_label("Frequency over wave number");
    window.harness.get_by_label_contains("Colours: the power, over 50 dB");
    // The panel leaves the buttons of the run free.
    let plot = window.harness.get_by_label("Frequency over wave number").rect();
    let (_, area) = window.app().picture();
    assert!(plot.bottom() < area.bottom(), "{plot:?} {area:?}");
}

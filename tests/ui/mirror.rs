//! Time turned round in the window.

use super::looks::{comparable, mask, tolerance};
use super::window::{SCENE, Window};
use egui::{Event, Key, Modifiers, PointerButton};
use egui_kittest::kittest::Queryable;
use ripplon::app::App;
use ripplon::engine::Phase;
use ripplon::physics::MirrorMethod;
use ripplon::scene::file::TransducersFile;

fn phase(app: &App) -> Option<Phase> {
    app.frame().mirror.as_ref().map(|mirror| mirror.status.phase)
}

/// An open box with a ring around a small packet that leaves it; time turns after sixteen steps.
pub fn ring(method: &str) -> String {
    let open = SCENE.replace(
        "sets = \"wall\"\nshape = \"slits\"",
        "sets = \"potential\"\nvalue = 0.0\nshape = \"slits\"",
    );
    let open = open
        .replace("step = 0.02", "step = 0.25")
        .replace("width = [3.0, 3.0]", "width = [1.0, 1.0]")
        .replace("momentum = [1.0, 0.0]", "momentum = [1.5, 0.0]")
        .replace("range = \"locked\"", "range = \"auto\"");
    format!(
        "{open}\n[mirror]\nmethod = \"{method}\"\nat = 4.0\ntransducers = {{ shape = \"ring\", center = [14.0, 16.0], radius = 4.0, count = 40 }}\n"
    )
}

impl Window {
    pub fn step_to(&mut self, wanted: u64) {
        while self.steps() < wanted {
            let next = self.steps() + 1;
            self.key(Key::Period);
            self.wait("a step", move |app| app.frame().clock.steps == next);
        }
    }
}

#[test]
fn a_ring_is_placed_by_hand_and_time_is_turned_by_a_key() {
    let mut window = Window::open();
    window.key(Key::M);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        &[(28.0, 32.0), (36.0, 32.0), (44.0, 32.0)],
    );
    window.wait("the mirror", |app| app.frame().mirror.is_some());
    let mirror = window.app().document().draft.mirror.clone().unwrap();
    assert_eq!(
        (mirror.method, mirror.at),
        (MirrorMethod::Reversal, 2.0),
        "in the middle of the scene"
    );
    let Some(TransducersFile::Ring { center, radius, count }) = &mirror.transducers else {
        panic!("{mirror:?}")
    };
    assert!(
        (center[0] - 14.0).abs() < 0.01 && (center[1] - 16.0).abs() < 0.01,
        "{center:?}"
    );
    assert!((radius - 8.0).abs() < 0.05 && *count == 64, "{radius} {count}");
    assert_eq!(phase(window.app()), Some(Phase::Record));
    window.step_to(5);
    let before = window.app().frame().image.value.clone();
    window.key(Key::T);
    window.wait("the turn", |app| phase(app) == Some(Phase::Replay));
    assert_ne!(
        window.app().frame().image.value,
        before,
        "the way back begins with an empty field"
    );
    window.step_to(8);
    window.key(Key::U);
    window.wait("the moment of the turn", |app| app.frame().clock.steps == 5);
    assert_eq!(
        (phase(window.app()), &window.app().frame().image.value),
        (Some(Phase::Record), &before)
    );
    // Turned by hand at t = 0.1, the scene says 2: both are told, and one of them can be made the other without a new start.
    window.key(Key::T);
    window.wait("the second turn", |app| phase(app) == Some(Phase::Replay));
    window.click("Scene");
    window.press(egui::accesskit::Role::DisclosureTriangle, "Mirror");
    window.harness.get_by_label_contains("reversed by hand at t = 0.1.");
    assert_eq!(window.app().document().draft.mirror.as_ref().unwrap().at, 2.0);
    window.reveal(egui::accesskit::Role::Button, "Always reverse then");
    window.press(egui::accesskit::Role::Button, "Always reverse then");
    window.wait("the edit", |app| {
        let scenario = app.frame().scenario.as_ref().and_then(|scenario| scenario.mirror());
        scenario.is_some_and(|mirror| mirror.at == 0.1)
    });
    assert_eq!(
        (window.steps(), phase(window.app())),
        (5, Some(Phase::Replay)),
        "the run goes on"
    );
    assert!(window.harness.query_by_label("Always reverse then").is_none());
    window.keys(Modifiers::COMMAND, Key::Z);
    // The edit of the mirror is one that can be taken back.
    window.keys(Modifiers::COMMAND, Key::Z);
    window.wait("no mirror", |app| app.frame().mirror.is_none());
}

/// What a scene predicts, it predicts of a run that turns when it says, and of a wave that nobody measures.
#[test]
fn a_run_that_goes_another_way_is_not_judged() {
    let mut window = Window::open();
    window.show_scene(&ring("echo"));
    let judged = |window: &Window| window.harness.query_by_label_contains(": not judged").is_none();
    window.step_to(2);
    assert!(judged(&window));
    window.key(Key::T);
    window.wait("the turn", |app| phase(app) == Some(Phase::Replay));
    window.settle();
    assert!(!judged(&window));
    window.key(Key::R);
    window.wait("the start", |app| app.frame().clock.steps == 0);
    window.settle();
    assert!(judged(&window));
    window.key(Key::X);
    window.settle();
    assert!(!judged(&window));
}

#[test]
fn the_way_back_is_taken_again_with_another_method() {
    let mut window = Window::open();
    window.show_scene(&ring("reversal"));
    window.step_to(32);
    let found = |window: &Window| window.app().frame().mirror.as_ref().unwrap().refocus.unwrap().2;
    let plain = found(&window);
    assert!(plain.scaled_error > 1e-3, "{plain:?}");
    window.click("Scene");
    window.click("Mirror");
    window.reveal(egui::accesskit::Role::ComboBox, "Reversed by");
    window.press(egui::accesskit::Role::ComboBox, "Reversed by");
    window.click("perfect inverse filter");
    window.wait("the moment of the turn", |app| {
        app.frame().clock.steps == 16 && phase(app) == Some(Phase::Record)
    });
    window.step_to(32);
    let exact = found(&window);
    // Single precision; what was left inside at the reversal is what is missing.
    assert!(
        exact.error < 1.5 * exact.residual + 1e-4 && exact.residual == plain.residual,
        "{exact:?}"
    );
}

/// What is painted on the way back acts there only: the wave finds another medium, and does not come together.
#[test]
fn the_brush_perturbs_the_way_back() {
    let mut window = Window::open();
    window.show_scene(&ring("echo"));
    let layers = window.app().document().draft.layers.len();
    window.step_to(17);
    assert_eq!(phase(window.app()), Some(Phase::Replay));
    window.key(Key::B);
    let path = [(36.0, 24.0), (36.0, 32.0), (36.0, 40.0)];
    window.drag(PointerButton::Primary, Modifiers::SHIFT, &path);
    window.wait("the wall on the way back", |app| {
        (app.frame().mirror.as_ref()).is_some_and(|mirror| mirror.present.medium().layers().len() == layers + 1)
    });
    let draft = &window.app().document().draft;
    assert_eq!(
        (draft.layers.len(), draft.mirror.as_ref().unwrap().perturbation.len()),
        (layers, 1)
    );
    assert_eq!(window.steps(), 17, "the run goes on");
    window.step_to(32);
    let found = window.app().frame().mirror.as_ref().unwrap().refocus.unwrap().2;
    assert!(found.fidelity < 0.9, "{found:?}");
    window.click("Scene");
    window.click("Mirror");
    assert!(
        window.harness.query_by_label("Remove change 1").is_some(),
        "the panel lists it"
    );
    window.click("Gallery");
    // Without it, from the turn on.
    window.keys(Modifiers::COMMAND, Key::Z);
    window.wait("no wall", |app| {
        (app.frame().mirror.as_ref()).is_some_and(|mirror| mirror.present.medium().layers().len() == layers)
    });
    window.key(Key::U);
    window.wait("the turn", |app| app.frame().clock.steps == 16);
    window.step_to(32);
    let found = window.app().frame().mirror.as_ref().unwrap().refocus.unwrap().2;
    assert!(found.fidelity > 0.9999, "{found:?}");
}

/// A stroke that was begun before the turn stays one layer of the whole run, though time turns while it is drawn.
#[test]
fn a_stroke_stays_where_it_began() {
    let mut window = Window::open();
    window.show_scene(&ring("echo"));
    let layers = window.app().document().draft.layers.len();
    window.step_to(16);
    window.key(Key::B);
    let points = [(36.0, 24.0), (36.0, 32.0), (36.0, 40.0)].map(|(x, y)| window.site(x, y));
    let press = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    window.harness.event(Event::PointerMoved(points[0]));
    window.harness.step();
    window.harness.event(press(points[0], true));
    window.harness.step();
    window.harness.event(Event::PointerMoved(points[1]));
    window.settle();
    window.key(Key::Period);
    window.wait("the turn", |app| phase(app) == Some(Phase::Replay));
    window.harness.event(Event::PointerMoved(points[2]));
    window.settle();
    window.harness.event(press(points[2], false));
    window.settle();
    let draft = &window.app().document().draft;
    let painted = (draft.layers.len(), draft.mirror.as_ref().unwrap().perturbation.len());
    assert_eq!(painted, (layers + 1, 0));
    // What the file does not hold is said.
    window.keys(Modifiers::COMMAND, Key::S);
    window.wait("the notice", |app| {
        let mut notices = app.notices().list().iter();
        notices.any(|notice| notice.title.contains("while it ran"))
    });
}

#[test]
fn the_window_of_a_mirror_looks_as_it_did() {
    if !comparable() {
        return;
    }
    let mut window = Window::open();
    window.show_scene(&ring("reversal"));
    window.step_to(32);
    assert!(window.harness.query_by_label("Timeline of the mirror").is_some());
    window.settle();
    mask(&mut window);
    window.harness.snapshot_options("window-with-mirror", &tolerance());
}

/// Along a line a drag places a transducer on either side of where it began, a click one alone.
#[test]
fn transducers_are_placed_along_a_line() {
    let mut window = Window::open();
    window.show_scene(
        "format = 1\ntitle = \"Line\"\n[grid]\nsize = [400]\nspacing = 0.5\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.1\nend = 40.0\n[solver]\nmethod = \"trotter\"\n\
         backend = \"cpu\"\n[[packet]]\ncenter = [100.0]\nwidth = [3.0]\nmomentum = [1.0]\n",
    );
    let graph = window.harness.get_by_label("Graph of the field").rect();
    // The plot's own area, and the middle of a site in it.
    let (left, width) = (graph.left() + 72.0, graph.width() - 144.0);
    let at = |site: f32| egui::pos2(left + (site + 0.5) / 400.0 * width, graph.center().y);
    window.key(Key::M);
    window.drag_points(
        PointerButton::Primary,
        Modifiers::NONE,
        &[at(200.0), at(230.0), at(260.0)],
    );
    window.wait("the mirror", |app| app.frame().mirror.is_some());
    let placed = |window: &Window| window.app().document().draft.mirror.clone().unwrap().transducers;
    let Some(TransducersFile::Ring { center, radius, .. }) = placed(&window) else {
        panic!("{:?}", placed(&window))
    };
    // A site is some points wide: what is dragged is exact to a part of one.
    assert!(center.len() == 1 && (center[0] - 100.0).abs() < 0.3, "{center:?}");
    assert!((radius - 30.0).abs() < 0.3, "{radius}");
    window.wait("two transducers", |app| {
        app.frame()
            .mirror
            .as_ref()
            .is_some_and(|mirror| mirror.marked().len() == 2)
    });
    window.drag_points(PointerButton::Primary, Modifiers::NONE, &[at(320.0)]);
    window.wait("one transducer", |app| {
        app.frame()
            .mirror
            .as_ref()
            .is_some_and(|mirror| mirror.marked().len() == 1)
    });
    let Some(TransducersFile::Points { points }) = placed(&window) else {
        panic!("{:?}", placed(&window))
    };
    assert!(points.len() == 1 && (points[0][0] - 160.0).abs() < 0.3, "{points:?}");
}

/// Fewer transducers play the record that is there; the ways back are points of a plot.
#[test]
fn the_gain_is_plotted_from_one_record() {
    let mut window = Window::open();
    window.show_scene(&ring("reversal"));
    window.step_to(32);
    let replays = |window: &Window| window.app().frame().mirror.as_ref().unwrap().replays.clone();
    assert_eq!(replays(&window).len(), 1);
    assert!(
        window.harness.query_by_label("Gain").is_none(),
        "one point says nothing of a law"
    );
    window.click("Scene");
    window.click("Mirror");
    window.reveal(egui::accesskit::Role::SpinButton, "Playing");
    window.press(egui::accesskit::Role::SpinButton, "Playing");
    window.keys(Modifiers::COMMAND, Key::A);
    window.harness.event(egui::Event::Text("10".to_owned()));
    window.settle();
    window.key(Key::Enter);
    window.wait("the moment of the turn", |app| {
        app.frame().clock.steps == 16 && phase(app) == Some(Phase::Record)
    });
    window.step_to(32);
    let found = replays(&window);
    let playing: Vec<usize> = found.iter().map(|replay| replay.playing).collect();
    assert!(found.len() == 2 && playing[1] == 10 && playing[0] > 30, "{playing:?}");
    assert!(found[0].contrast > 0.0 && found[1].contrast > 0.0 && found[0].record == found[1].record);
    window.click("Gain");
    assert!(window.harness.query_by_label("Gain of the mirror").is_some());
}

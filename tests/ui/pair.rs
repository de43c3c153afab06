//! Two runs side by side.

use super::looks::{comparable, mask, tolerance};
use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{Key, Modifiers, PointerButton, Rect, vec2};
use egui_kittest::kittest::Queryable;
use ripplon::app::App;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::FieldImage;

/// The difference at the present step.
fn apart(app: &App) -> Option<f64> {
    let frame = app.frame();
    let compared = frame.compared.as_ref()?;
    let (step, _, difference) = compared.difference?;
    (step == frame.clock.steps).then_some(difference)
}

fn open(double: bool) -> Window {
    let mut window = Window::open();
    if double {
        window.show_scene(&SCENE.replace("variant = \"naive\"", "variant = \"naive\"\nprecision = \"double\""));
    }
    window.reveal(Role::DisclosureTriangle, "Compare");
    window.press(Role::DisclosureTriangle, "Compare");
    window.reveal(Role::CheckBox, "a second run from the present state");
    window.press(Role::CheckBox, "a second run from the present state");
    window.wait("the second run", |app| app.frame().compared.is_some());
    window.settle();
    window
}

fn steps(window: &mut Window, count: u64) -> f64 {
    let first = window.steps();
    for step in first + 1..=first + count {
        window.key(Key::Period);
        window.wait("a step", |app| app.frame().clock.steps == step);
    }
    window.wait("the difference", |app| apart(app).is_some());
    let frame = window.app().frame();
    let other = frame.compared.as_ref().unwrap().clock;
    assert!((other.time - frame.clock.time).abs() < 1e-9, "in step");
    apart(window.app()).unwrap()
}

/// Order 2: against Δt/2 the error is ¾ of C Δt², against Δt/4 15/16 of it.
#[test]
fn half_of_the_time_step_shows_the_order() {
    let mut window = open(true);
    // Closing a step of another Δt rounds.
    let rounding = |app: &App| apart(app).is_some_and(|apart| apart < 8.0 * f64::EPSILON);
    assert!(rounding(window.app()), "one state");
    let half = steps(&mut window, 20);
    window.reveal(Role::Button, "Δt/4");
    window.press(Role::Button, "Δt/4");
    window.wait("Δt/4", |app| {
        let compared = app.frame().compared.as_ref();
        compared.is_some_and(|compared| (compared.clock.time_step - 0.005).abs() < 1e-12)
    });
    window.key(Key::R);
    window.wait("the reset", |app| app.frame().clock.steps == 0 && rounding(app));
    let quarter = steps(&mut window, 20);
    // What is left of the next order is (Δt·E)² of these, E the largest energy of the packet: a few per cent.
    assert!((quarter / half - 1.25).abs() < 0.05, "{quarter} / {half}");
    assert!(half > 1e-7, "{half}");
}

#[test]
fn the_film_dialogue_says_which_run_it_shows() {
    let says = "both that are compared";
    let mut window = Window::open();
    window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E);
    assert!(window.harness.query_by_label(says).is_none());
    let mut window = open(false);
    window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E);
    window.harness.get_by_label(says);
    window.click("the run from now on");
    assert!(window.harness.query_by_label(says).is_none());
    window
        .harness
        .get_by_label("Of two runs that are compared the first one is shown.");
}

#[test]
fn methods_are_compared_and_edits_reach_both() {
    let mut window = open(false);
    window.reveal(Role::ComboBox, "2nd method");
    window.press(Role::ComboBox, "2nd method");
    window.click("Crank–Nicolson");
    window.wait("the other method", |app| {
        let compared = app.frame().compared.as_ref();
        compared.is_some_and(|compared| compared.report.method == "crank-nicolson")
    });
    let difference = steps(&mut window, 10);
    assert!(difference > 0.0 && difference < 0.01, "{difference}");
    // A wall painted over everything reaches both: nothing moves in either.
    let before = window.steps();
    window.click("Scene");
    window.reveal(Role::Button, "Add wall");
    window.press(Role::Button, "Add wall");
    window.wait("the edit", |app| {
        app.frame()
            .scenario
            .as_ref()
            .is_some_and(|scenario| scenario.medium().layers().len() == 3)
    });
    window.settle();
    assert_eq!(window.steps(), before, "the run goes on");
    let later = steps(&mut window, 5);
    assert!(later < 0.05, "{later}");
    window.reveal(Role::CheckBox, "a second run from the present state");
    window.press(Role::CheckBox, "a second run from the present state");
    window.wait("one run", |app| app.frame().compared.is_none());
}

/// A length is measured in whichever of the two pictures it is drawn.
#[test]
fn the_ruler_measures_in_both_pictures() {
    let mut window = open(false);
    window.key(Key::L);
    let panes: Vec<Rect> = window
        .harness
        .get_all_by_label("Picture of the field")
        .map(|picture| picture.rect())
        .collect();
    assert_eq!(panes.len(), 2);
    let mut measured = Vec::new();
    for pane in panes.iter().rev() {
        let at = |x: f32| pane.center() + vec2(x, 0.0);
        window.drag_points(PointerButton::Primary, Modifiers::NONE, &[at(-60.0), at(0.0), at(60.0)]);
        measured.push(window.app().ruler().unwrap());
    }
    let length = |[a, b]: [[f64; 2]; 2]| (b[0] - a[0]).hypot(b[1] - a[1]);
    assert!(length(measured[0]) > 1.0, "{measured:?}");
    // The middles of the panes may lie on half a point, a sixth of a site.
    for (first, second) in measured[0].iter().flatten().zip(measured[1].iter().flatten()) {
        assert!((first - second).abs() < 0.2, "{measured:?}");
    }
}

/// Under the pointer stands what a difference is of, in the space that it is of.
#[test]
fn a_difference_names_its_values() {
    let mut window = open(false);
    window.reveal(Role::ComboBox, "Show");
    window.press(Role::ComboBox, "Show");
    window.click("momentum |ψ(k)|²");
    window.wait("both", |app| {
        let frame = app.frame();
        let momenta = |image: &FieldImage| image.quantity == Some(Quantity::Momentum);
        momenta(&frame.image) && frame.compared.as_ref().is_some_and(|second| momenta(&second.image))
    });
    window.reveal(Role::Button, "difference");
    window.press(Role::Button, "difference");
    let picture = window.harness.get_by_label("Picture of the field").rect();
    window.harness.event(egui::Event::PointerMoved(picture.center()));
    window.settle();
    window.harness.get_by_label_contains("Δ|ψ(k)|² ");
    window.harness.get_by_label_contains("kx ");
    // A relief shows one run, which is said.
    let alone = "show the first run alone";
    assert!(window.harness.query_by_label_contains(alone).is_none());
    window.key(Key::Num4);
    window.harness.get_by_label_contains(alone);
}

#[test]
fn pairs_look_as_they_did() {
    let mut window = open(false);
    window.reveal(Role::ComboBox, "2nd method");
    window.press(Role::ComboBox, "2nd method");
    window.click("Crank–Nicolson");
    window.wait("the second method", |app| {
        let frame = app.frame();
        frame
            .compared
            .as_ref()
            .is_some_and(|compared| compared.report.method == "crank-nicolson")
    });
    window.press(Role::Button, "Difference");
    window.press(Role::Button, "Position");
    window.press(Role::Button, "Detectors");
    steps(&mut window, 30);
    window.settle();
    let pictured = comparable();
    assert_eq!(window.harness.get_all_by_label("Picture of the field").count(), 2);
    if pictured {
        mask_quietly(&mut window);
        window.harness.snapshot_options("pair-beside", &tolerance());
    }
    window.reveal(Role::Button, "difference");
    window.press(Role::Button, "difference");
    window.settle();
    assert_eq!(window.harness.get_all_by_label("Picture of the field").count(), 1);
    if pictured {
        mask_quietly(&mut window);
        window.harness.snapshot_options("pair-difference", &tolerance());
    }
}

/// The number of threads may be scrolled out of sight.
fn mask_quietly(window: &mut Window) {
    if window.harness.query_by_label_contains("Running: ").is_some() {
        mask(window);
    }
}

#[test]
fn one_of_two_runs_is_wrong_and_is_found() {
    let mut window = Window::open();
    let note = "[[note]]\nat = 0.0\ntext = \"Two slits.\"\n[view]";
    window.show_scene(&SCENE.replace("[view]", note));
    assert!(window.app().note().is_some());
    window.press(Role::Button, "Run");
    window.press(Role::Button, "Which is wrong?");
    // Whatever is wrong, the packet comes upon it; what rounding does to 96 x 64 sites stays below 1e-6.
    window.wait("the second run as another one", |app| {
        let compared = app.frame().compared.as_ref();
        let apart = compared.and_then(|compared| compared.difference);
        apart.is_some_and(|(.., apart)| apart > 1e-6) && app.frame().clock.steps > 10
    });
    window.settle();
    assert!(window.harness.query_by_label("Which is wrong?").is_some());
    assert_eq!(window.app().note(), None, "it would stand at the one that is right");
    assert!(
        window.harness.query_by_label("Is it right?").is_none(),
        "predictions are of the one that is right"
    );
    window.harness.get_by_label_contains("would tell which it is");
    assert!(
        window.harness.query_by_label_contains("is wrong:").is_none(),
        "nothing is told before"
    );
    window.click("A is wrong");
    let told = window.harness.query_by_label_contains("is wrong: its").is_some()
        || window.harness.query_by_label_contains("is wrong: the").is_some();
    assert!(told, "what was changed is told");
    window.settle();
    window.harness.get_by_label("Is it right?");
    assert!(
        window
            .harness
            .query_by_label_contains("would tell which it is")
            .is_none()
    );
    assert!(!window.app().document().is_modified(), "the scene is as it was");
    window.click("End");
    window.wait("one run", |app| app.frame().compared.is_none());
    assert!(window.harness.query_by_label("Which is wrong?").is_none());
}

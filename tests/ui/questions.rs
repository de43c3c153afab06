//! Questions of a scene: what leaves them open, and what stands beside them; the line below a lecture's picture.

use super::lecture::asked;
use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use ripplon::app::command::Action;
use ripplon::app::widgets::card_rect;
use ripplon::scene::lecture::{Lecture, Stop};
use ripplon::scene::scenario::ViewMode;

fn is_asking(window: &Window) -> bool {
    let (role, name) = (Role::TextInput, "Your prediction");
    window.harness.query_by_role_and_label(role, name).is_some()
}

/// The window that waits for an answer.
fn asking() -> Window {
    let mut window = Window::open();
    window.show_scene(&asked());
    window.click("Play");
    window.wait("the question", |app| app.frame().question == Some(0));
    window.settle();
    window
}

/// A step by hand from where the run was stopped for a question is no answer to it.
#[test]
fn a_step_leaves_the_question_open() {
    let mut window = asking();
    let ctx = window.harness.ctx.clone();
    window.harness.state_mut().act(&ctx, Action::Step);
    window.wait("a step", |app| app.frame().clock.steps == 11);
    window.settle();
    assert_eq!(window.app().frame().question, None);
    let field = window.harness.get_by_role_and_label(Role::TextInput, "Your prediction");
    field.focus();
    window.settle();
    let field = window.harness.get_by_role_and_label(Role::TextInput, "Your prediction");
    field.type_text("0.75");
    window.settle();
    window.key(Key::Enter);
    assert_eq!(window.app().questions().guesses(0), [0.75]);
    window.wait("it goes on", |app| app.frame().clock.steps > 11);
    window.settle();
    assert!(!is_asking(&window));
}

/// Steps by hand that come to a question, or begin where one is asked, put it as playing does.
#[test]
fn steps_by_hand_come_to_a_question() {
    let mut window = Window::open();
    // At the first step, and at the tenth.
    for (asked_at, steps) in [("0.0", 1), ("0.2", 10)] {
        window.show_scene(&asked().replace("ask_at = 0.2", &format!("ask_at = {asked_at}")));
        assert!(!is_asking(&window));
        for step in 1..=steps {
            window.key(Key::Period);
            window.wait("a step", |app| app.frame().clock.steps == step);
        }
        window.wait("the question", |app| app.frame().question == Some(0));
        window.settle();
        assert!(is_asking(&window), "asked at t = {asked_at}");
        assert_eq!(window.steps(), steps);
    }
}

/// Two runs of which one is wrong do not wait at a question, which their card would cover.
#[test]
fn a_riddle_is_not_held_up_by_a_question() {
    let mut window = Window::open();
    window.show_scene(&asked());
    let ctx = window.harness.ctx.clone();
    // A relief would show one of them alone.
    window.harness.state_mut().act(&ctx, Action::ShowRelief);
    assert_eq!(window.app().document().draft.view.mode, ViewMode::Relief);
    window.harness.state_mut().act(&ctx, Action::Riddle);
    assert_eq!(window.app().document().draft.view.mode, ViewMode::Plane);
    window.wait("steps past the question", |app| {
        app.frame().compared.is_some() && app.frame().clock.steps > 12
    });
    window.settle();
    assert!(!is_asking(&window));
}

/// What else the scene predicts may tell the answer: it is shown once that was given.
#[test]
fn other_predictions_wait_for_the_answer() {
    let mut window = Window::open();
    let other = "[[expect]]\nobservable = \"x\"\nat = 1.0\nvalue = 17.0\ntolerance = 9.0\nbecause = \"It moves.\"\n";
    window.show_scene(&format!("{}{other}", asked()));
    let told = |window: &Window| window.harness.query_by_label_contains("17 ±").is_some();
    window.harness.get_by_label("shown after the question");
    assert!(!told(&window));
    window.click("Play");
    window.wait("the question", |app| app.frame().question == Some(0));
    window.settle();
    window.click("Skip");
    window.wait("it goes on", |app| app.frame().clock.steps > 12);
    window.settle();
    assert!(told(&window) && window.harness.query_by_label("shown after the question").is_none());
}

/// Whoever plays on instead leaves the question behind.
#[test]
fn playing_on_passes_a_question() {
    let mut window = asking();
    let ctx = window.harness.ctx.clone();
    window.harness.state_mut().act(&ctx, Action::PlayPause);
    window.wait("it goes on", |app| app.frame().clock.steps > 12);
    window.settle();
    assert!(!is_asking(&window));
}

/// The card of a question is low, so that it hides little of the picture: what is answered stands in one row.
#[test]
fn a_question_hides_little_of_the_picture() {
    let window = asking();
    let field = window
        .harness
        .get_by_role_and_label(Role::TextInput, "Your prediction")
        .rect();
    for button in ["Predict and run", "Skip"] {
        let button = window.harness.get_by_role_and_label(Role::Button, button).rect();
        assert!(field.y_range().contains(button.center().y), "{field:?} {button:?}");
        assert!(button.left() > field.right());
    }
    let card = card_rect(&window.harness.ctx, "question").unwrap();
    assert!(card.height() < 125.0, "{card:?}");
}

/// Beside a field that leaves room in the window the card hides nothing of it.
#[test]
fn a_question_stands_beside_a_narrow_field() {
    let mut window = Window::open();
    window.show_scene(
        "format = 1\n[grid]\nsize = [24, 96]\nspacing = 0.5\n[quantum]\n[time]\nstep = 0.02\nend = 1.0\n\
         [[packet]]\ncenter = [6.0, 24.0]\nwidth = [1.5, 3.0]\n\
         [[expect]]\nobservable = \"norm\"\nat = 0.5\nvalue = 1.0\ntolerance = 1e-3\n\
         ask = \"What will the norm be?\"\nask_at = 0.2\n",
    );
    window.click("Play");
    window.wait("the question", |app| app.frame().question == Some(0));
    window.settle();
    let card = card_rect(&window.harness.ctx, "question").unwrap();
    let (picture, room) = window.app().picture();
    assert!(!card.intersects(picture), "{card:?} {picture:?}");
    assert!(room.contains_rect(card), "{card:?} {room:?}");
}

/// The first steps wait while a question of the scene does: Enter is for one of them alone.
#[test]
fn the_tour_waits_for_a_question() {
    let mut window = Window::open();
    window.show_scene(&asked());
    window.keys(Modifiers::COMMAND, Key::Num3);
    window.click("Play");
    window.wait("the question", |app| app.frame().question == Some(0));
    window.settle();
    let ctx = window.harness.ctx.clone();
    window.harness.state_mut().act(&ctx, Action::Tour);
    window.settle();
    let shown = || ["tour", "question"].map(|name| card_rect(&ctx, name).is_some());
    assert_eq!(shown(), [false, true]);
    window.click("Skip");
    window.settle();
    assert_eq!(shown(), [true, false]);
    // Above the plots and the buttons, which its steps name.
    window.keys(Modifiers::COMMAND, Key::Num3);
    window.settle();
    let tour = card_rect(&ctx, "tour").unwrap();
    let (_, room) = window.app().picture();
    assert!(tour.bottom() <= room.bottom(), "{tour:?} {room:?}");
}

/// A title that the line has no room for is read as a whole.
#[test]
fn long_titles_of_a_lecture_are_wrapped() {
    let mut window = Window::open();
    let path = window.file("titled.toml", SCENE);
    let title =
        "What a wave does at a wall that it cannot pass, and why some of it is found behind all the same: ".repeat(3);
    let lecture = Lecture {
        stops: vec![Stop {
            scene: path,
            title: title.clone(),
            ..Stop::default()
        }],
        ..Lecture::default()
    };
    let ctx = window.harness.ctx.clone();
    window.harness.state_mut().begin_lecture(&ctx, lecture);
    window.wait("its scene", |app| {
        app.document().path().is_some_and(|path| path.ends_with("titled.toml"))
    });
    window.settle();
    let place = window.harness.get_by_label_contains("What a wave does").rect();
    assert!(place.height() > 34.0, "lines of 15 points: {place:?}");
    assert!(ctx.content_rect().contains_rect(place), "{place:?}");
}

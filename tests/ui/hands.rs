//! Fingers on the picture, and the picture in a second window.

use super::window::Window;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, TouchDeviceId, TouchId, TouchPhase, vec2};
use egui_kittest::kittest::Queryable;
use ripplon::app::App;
use ripplon::scene::file::ShapeFile;

impl Window {
    fn touch(&mut self, finger: u64, phase: TouchPhase, pos: Pos2) {
        self.press_with(finger, phase, pos, None);
    }

    /// The same with a pressure, which pens tell.
    fn press_with(&mut self, finger: u64, phase: TouchPhase, pos: Pos2, force: Option<f32>) {
        self.harness.event(Event::Touch {
            device_id: TouchDeviceId(1),
            id: TouchId(finger),
            phase,
            pos,
            force,
        });
        // The first finger is a pointer with its left button, as systems report it.
        if finger == 0 {
            let button = |pressed| Event::PointerButton {
                pos,
                button: PointerButton::Primary,
                pressed,
                modifiers: Modifiers::NONE,
            };
            self.harness.event(Event::PointerMoved(pos));
            match phase {
                TouchPhase::Start => self.harness.event(button(true)),
                TouchPhase::End => {
                    self.harness.event(button(false));
                    self.harness.event(Event::PointerGone);
                }
                // No button goes up.
                TouchPhase::Cancel => self.harness.event(Event::PointerGone),
                TouchPhase::Move => {}
            }
        }
        self.harness.step();
    }

    /// Two fingers go apart, each by so many points, around the middle of the picture.
    fn spread(&mut self, points: f32) {
        let middle = self.harness.get_by_label("Picture of the field").rect().center();
        let at = |part: f32| [-1.0, 1.0].map(|side| middle + vec2(side * (40.0 + part * points), 0.0));
        for (finger, pos) in (0..).zip(at(0.0)) {
            self.touch(finger, TouchPhase::Start, pos);
        }
        for part in [0.1, 0.2, 0.4, 0.6, 0.8, 1.0] {
            for (finger, pos) in (0..).zip(at(part)) {
                self.touch(finger, TouchPhase::Move, pos);
            }
        }
        for (finger, pos) in (0..2).rev().zip(at(1.0).into_iter().rev()) {
            self.touch(finger, TouchPhase::End, pos);
        }
        self.settle();
    }
}

fn layers(app: &App) -> usize {
    app.document().draft.layers.len()
}

/// The brush is in the hand, and two fingers zoom all the same; one finger paints, or takes away.
#[test]
fn two_fingers_zoom_and_one_paints() {
    let mut window = Window::open();
    window.key(Key::B);
    let (before, drawn) = (window.app().picture().0, layers(window.app()));
    window.spread(80.0);
    let after = window.app().picture().0;
    // Three times as far apart: the grid is larger than its room now, in which it fitted by its width.
    assert!(after.height() > 1.1 * before.height(), "{before} {after}");
    assert_eq!(layers(window.app()), drawn, "nothing was painted");
    let middle = window.app().picture().1.center();
    let stroke = |window: &mut Window| {
        window.touch(0, TouchPhase::Start, middle);
        for right in [12.0, 24.0, 36.0, 48.0, 60.0] {
            window.touch(0, TouchPhase::Move, middle + vec2(right, 0.0));
        }
        window.touch(0, TouchPhase::End, middle + vec2(60.0, 0.0));
        window.settle();
    };
    stroke(&mut window);
    assert_eq!(layers(window.app()), drawn + 1, "one finger paints");
    window.click("take away");
    stroke(&mut window);
    let last = window.app().document().draft.layers.last().cloned().unwrap();
    assert_eq!(layers(window.app()), drawn + 2);
    assert_ne!(
        last.value,
        window.app().document().draft.layers[drawn].value,
        "and takes away"
    );
}

/// From left to right by so many points, with one finger (or a pen of this pressure), which is not lifted.
fn draw(window: &mut Window, from: Pos2, points: f32, force: Option<f32>) -> Pos2 {
    window.press_with(0, TouchPhase::Start, from, force);
    for part in [0.2, 0.4, 0.6, 0.8, 1.0] {
        window.press_with(0, TouchPhase::Move, from + vec2(part * points, 0.0), force);
    }
    from + vec2(points, 0.0)
}

/// Without a tool one finger moves the view, and two move it without zooming as long as they keep their distance.
#[test]
fn fingers_move_the_view() {
    let mut window = Window::open();
    let place = |window: &Window| window.app().picture().0;
    let before = place(&window);
    // Off the dashed line, which would be what a finger takes.
    let middle = window.app().picture().1.center() + vec2(0.0, 60.0);
    let end = draw(&mut window, middle, 60.0, None);
    window.touch(0, TouchPhase::End, end);
    window.settle();
    let after = place(&window);
    assert!(after.left() > before.left() + 30.0, "{before} {after}");
    assert!((after.height() - before.height()).abs() < 1.0, "{before} {after}");
    let pair = |window: &mut Window, phase: TouchPhase, right: f32| {
        for (finger, beside) in [(0, 0.0), (1, 50.0)] {
            window.touch(finger, phase, middle + vec2(beside + right, 0.0));
        }
    };
    pair(&mut window, TouchPhase::Start, 0.0);
    for right in [10.0, 20.0, 30.0, 40.0] {
        pair(&mut window, TouchPhase::Move, right);
    }
    pair(&mut window, TouchPhase::End, 40.0);
    window.settle();
    let moved = place(&window);
    assert!(moved.left() > after.left() + 20.0, "{after} {moved}");
    assert!((moved.height() / after.height() - 1.0).abs() < 0.1, "{after} {moved}");
}

/// With three fingers nothing is painted, in whatever order they go; a stroke that the system takes away ends there.
#[test]
fn no_stroke_is_left_hanging() {
    let mut window = Window::open();
    window.key(Key::B);
    let drawn = layers(window.app());
    let middle = window.app().picture().1.center();
    let beside = [0.0, 40.0, 80.0];
    let at = |finger: u64, down: f32| middle + vec2(beside[usize::try_from(finger).unwrap()], down);
    for finger in 0..3 {
        window.touch(finger, TouchPhase::Start, at(finger, 0.0));
    }
    for down in [10.0, 20.0] {
        for finger in 0..3 {
            window.touch(finger, TouchPhase::Move, at(finger, down));
        }
    }
    // The first finger stays the longest, and moves on alone.
    for finger in [2, 1] {
        window.touch(finger, TouchPhase::End, at(finger, 20.0));
    }
    for down in [30.0, 50.0] {
        window.touch(0, TouchPhase::Move, at(0, down));
    }
    window.touch(0, TouchPhase::End, at(0, 50.0));
    window.settle();
    assert_eq!(layers(window.app()), drawn, "three fingers paint nothing");
    let end = draw(&mut window, middle, 60.0, None);
    assert_eq!(layers(window.app()), drawn + 1);
    window.touch(0, TouchPhase::Cancel, end);
    let stroke = window.app().document().draft.layers.last().cloned();
    for right in [20.0, 60.0] {
        window.harness.event(Event::PointerMoved(end + vec2(right, 30.0)));
        window.harness.step();
    }
    assert_eq!(layers(window.app()), drawn + 1);
    assert_eq!(
        window.app().document().draft.layers.last().cloned(),
        stroke,
        "it is over"
    );
    let end = draw(&mut window, middle + vec2(0.0, 20.0), 60.0, None);
    window.touch(0, TouchPhase::End, end);
    window.settle();
    assert_eq!(layers(window.app()), drawn + 2, "and the next one is another");
}

/// A pen that is pressed hard draws a wider line.
#[test]
fn a_pen_draws_as_wide_as_it_is_pressed() {
    let mut window = Window::open();
    window.key(Key::B);
    let middle = window.app().picture().1.center();
    let mut radius = |down: f32, force: Option<f32>| {
        let end = draw(&mut window, middle + vec2(0.0, down), 60.0, force);
        window.press_with(0, TouchPhase::End, end, force);
        window.settle();
        match &window.app().document().draft.layers.last().unwrap().shape {
            ShapeFile::Stroke { radius, .. } => *radius,
            other => panic!("{other:?}"),
        }
    };
    let [finger, half, light, hard] = [None, Some(0.5), Some(0.1), Some(0.9)].map(|force| radius(0.0, force));
    assert!((half / finger - 1.0).abs() < 1e-3, "{half} {finger}");
    assert!(
        (light / finger - 0.52).abs() < 0.01 && (hard / finger - 1.48).abs() < 0.01,
        "{light} {hard}"
    );
}

/// Where the system gives no second window it stands inside the first one.
#[test]
fn the_picture_stands_in_a_second_window() {
    let mut window = Window::open();
    let pictures = |window: &Window| window.harness.query_all_by_label("Picture of the field").count();
    assert_eq!(pictures(&window), 1);
    window.key(Key::F6);
    assert!(window.app().projector().is_open());
    assert_eq!(pictures(&window), 2);
    window.key(Key::Period);
    window.wait("one step", |app| app.frame().clock.steps == 1);
    window.key(Key::F6);
    assert!(!window.app().projector().is_open());
    assert_eq!(pictures(&window), 1);
}

//! Fingers on the picture, and the picture in a second window.

use super::window::Window;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, TouchDeviceId, TouchId, TouchPhase, vec2};
use egui_kittest::kittest::Queryable;
use ripplon::app::App;

impl Window {
    fn touch(&mut self, finger: u64, phase: TouchPhase, pos: Pos2) {
        self.harness.event(Event::Touch {
            device_id: TouchDeviceId(1),
            id: TouchId(finger),
            phase,
            pos,
            force: None,
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
                _ => {}
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

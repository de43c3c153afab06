//! Everything by keyboard and by name: what a screen reader finds, sizes and contrast.

use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};

/// Controls without a name, of all that can be pressed, set or written into.
fn nameless(window: &Window) -> Vec<String> {
    let roles = [
        Role::Button,
        Role::CheckBox,
        Role::RadioButton,
        Role::Slider,
        Role::SpinButton,
        Role::TextInput,
        Role::MultilineTextInput,
        Role::ComboBox,
        Role::Link,
        Role::DisclosureTriangle,
        Role::Image,
    ];
    let all = window.harness.root().children_recursive();
    all.map(|node| node.accesskit_node())
        .filter(|node| roles.contains(&node.role()) && node.label().is_none_or(|label| label.trim().is_empty()))
        .map(|node| {
            format!(
                "{:?} at {:?}, value {:?}",
                node.role(),
                node.bounding_box(),
                node.value()
            )
        })
        .collect()
}

#[test]
fn every_control_has_a_name() {
    let mut window = Window::open();
    let mut found = nameless(&window);
    // All that unfolds.
    window.click("Scene");
    for section in ["Grid", "Packets", "Layers", "Detectors"] {
        if let Some(node) = window
            .harness
            .query_by_role_and_label(Role::DisclosureTriangle, section)
        {
            node.scroll_to_me();
            window.settle();
            window.press(Role::DisclosureTriangle, section);
        }
        found.extend(nameless(&window));
    }
    window.reveal(Role::DisclosureTriangle, "Compare");
    window.press(Role::DisclosureTriangle, "Compare");
    window.reveal(Role::CheckBox, "a second run from the present state");
    window.press(Role::CheckBox, "a second run from the present state");
    found.extend(nameless(&window));
    for key in [Key::B, Key::A] {
        window.key(key);
        found.extend(nameless(&window));
    }
    window.key(Key::Escape);
    window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E);
    found.extend(nameless(&window));
    window.key(Key::Escape);
    window.keys(Modifiers::COMMAND, Key::P);
    found.extend(nameless(&window));
    window.key(Key::Escape);
    window.show_scene(&SCENE.replace("[quantum]\nmass = 1.0", "[quantum]\nmass = 2.0"));
    window.click("Gallery");
    found.extend(nameless(&window));
    found.sort();
    found.dedup();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_picture_says_how_the_run_stands() {
    let mut window = Window::open();
    let value = |window: &Window| {
        let node = window.harness.get_by_label("Picture of the field");
        node.accesskit_node().value().unwrap_or_default()
    };
    assert!(
        value(&window).starts_with("Test scene, paused at t = 0, step 0."),
        "{}",
        value(&window)
    );
    window.key(Key::Period);
    window.wait("a step", |app| app.frame().clock.steps == 1);
    window.settle();
    let said = value(&window);
    assert!(
        said.contains("step 1.") && said.contains("Mean position x = 14") && said.contains("right: "),
        "{said}"
    );
}

#[test]
fn size_and_contrast_are_set_and_kept() {
    let mut window = Window::open();
    let zoom = |window: &Window| window.harness.ctx.zoom_factor();
    let before = zoom(&window);
    window.keys(Modifiers::COMMAND, Key::Plus);
    window.keys(Modifiers::COMMAND, Key::Plus);
    assert!((zoom(&window) / before - 1.21).abs() < 1e-3, "{}", zoom(&window));
    assert!(
        (window.app().settings().zoom - zoom(&window)).abs() < 1e-6,
        "kept for the next start"
    );
    window.keys(Modifiers::COMMAND, Key::Num0);
    assert!((zoom(&window) - 1.0).abs() < 1e-6);
    let text = |window: &Window| window.harness.ctx.global_style().visuals.panel_fill;
    let plain = text(&window);
    window.keys(Modifiers::COMMAND, Key::P);
    window.harness.get_by_label("Command").type_text("high contrast");
    window.settle();
    window.key(Key::Enter);
    assert!(window.app().settings().contrast);
    assert_ne!(text(&window), plain);
}

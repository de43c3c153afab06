//! The window at other sizes: nothing reaches beyond its edges. With SCREENS=folder every screen is written there, to be looked at.

use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{Key, Modifiers, Vec2};
use egui_kittest::kittest::NodeT;

/// Points, and pixels a point.
const SIZES: [(&str, [f32; 2], f32); 3] = [
    ("1280x720", [1280.0, 720.0], 1.0),
    ("1920x1080", [1920.0, 1080.0], 1.0),
    ("3840x2160-at-200", [1920.0, 1080.0], 2.0),
];

/// What stands across the left or right edge. Above and below there is what is scrolled to.
fn beyond(window: &Window, width: f32) -> Vec<String> {
    let all = window.harness.root().children_recursive();
    let roles = [
        Role::Button,
        Role::CheckBox,
        Role::Slider,
        Role::ComboBox,
        Role::TextInput,
        Role::Label,
    ];
    all.filter(|node| roles.contains(&node.accesskit_node().role()))
        .map(|node| (node.accesskit_node().label().unwrap_or_default(), node.rect()))
        .filter(|(_, rect)| rect.is_positive() && (rect.left() < -0.5 || rect.right() > width + 0.5))
        .map(|(label, rect)| format!("{label} at {rect:?}"))
        .collect()
}

#[test]
fn nothing_reaches_beyond_the_window() {
    for (name, size, scale) in SIZES {
        let mut window = Window::sized(Vec2::from(size), scale);
        let look = |window: &mut Window, screen: &str| {
            window.settle();
            let found = beyond(window, size[0]);
            assert!(found.is_empty(), "{name}, {screen}: {found:#?}");
            if let Some(folder) = std::env::var_os("SCREENS") {
                let file = std::path::Path::new(&folder).join(format!("{name}-{screen}.png"));
                window.harness.render().unwrap().save(file).unwrap();
            }
        };
        look(&mut window, "field");
        window.key(Key::B);
        window.click("Scene");
        look(&mut window, "scene-and-brush");
        window.key(Key::A);
        look(&mut window, "arrange");
        window.key(Key::Escape);
        window.key(Key::Num4);
        window.click("Carpet");
        look(&mut window, "relief-and-carpet");
        window.key(Key::Num4);
        window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E);
        look(&mut window, "film");
        window.key(Key::Escape);
        window.key(Key::F1);
        look(&mut window, "help");
        window.key(Key::Escape);
        window.keys(Modifiers::COMMAND, Key::P);
        look(&mut window, "palette");
        window.key(Key::Escape);
        window.reveal(Role::DisclosureTriangle, "Compare");
        window.press(Role::DisclosureTriangle, "Compare");
        window.reveal(Role::CheckBox, "a second run from the present state");
        window.press(Role::CheckBox, "a second run from the present state");
        window.wait("the second run", |app| app.frame().compared.is_some());
        look(&mut window, "compare");
        window.show_scene(&SCENE.replace("size = [96, 64]", "size = [96, 64]\nabsorb_width = 8"));
        window.click("Dark or light");
        look(&mut window, "light");
        window.key(Key::H);
        look(&mut window, "bare");
    }
}

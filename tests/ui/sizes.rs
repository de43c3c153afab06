//! The window at other sizes: nothing reaches beyond its edges. With SCREENS=folder every screen is written there, to be looked at.

use super::experiments::command;
use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{Key, Modifiers, Vec2};
use egui_kittest::kittest::{NodeT, Queryable};

/// Points, and pixels a point.
const SIZES: [(&str, [f32; 2], f32); 5] = [
    ("800x600", [800.0, 600.0], 1.0),
    ("1024x640", [1024.0, 640.0], 1.0),
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

/// One size of the window, and where its screens are written.
struct Screens {
    name: String,
    width: f32,
    folder: Option<std::ffi::OsString>,
}

impl Screens {
    /// Nothing of what is shown now stands beyond the edges.
    fn look(&self, window: &mut Window, screen: &str) {
        window.settle();
        let name = &self.name;
        let found = beyond(window, self.width);
        assert!(found.is_empty(), "{name}, {screen}: {found:#?}");
        self.draw(window, screen);
    }

    /// Writes what is shown, to be looked at.
    fn draw(&self, window: &mut Window, screen: &str) {
        window.settle();
        if let Some(folder) = &self.folder {
            let file = std::path::Path::new(folder).join(format!("{screen}-{}.png", self.name));
            window.harness.render().unwrap().save(file).unwrap();
        }
    }
}

/// What stands at every size of the window.
fn at_every_size(screens: impl Fn(&mut Window, &Screens)) {
    let folder = std::env::var_os("SCREENS");
    // Where things stand does not depend on the colours: both are drawn to be looked at only.
    let themes: &[&'static str] = if folder.is_some() { &["", "-light"] } else { &[""] };
    for ((name, size, scale), theme) in SIZES
        .into_iter()
        .flat_map(|size| themes.iter().map(move |theme| (size, theme)))
    {
        let mut window = Window::sized(Vec2::from(size), scale);
        if !theme.is_empty() {
            window.click("Dark or light");
        }
        let all = Screens {
            name: format!("{name}{theme}"),
            width: size[0],
            folder: folder.clone(),
        };
        screens(&mut window, &all);
    }
}

/// Opens a part of the panel at the left, which a narrow window folds beside the one at the right.
fn left(window: &mut Window, tab: &str) {
    if window.harness.query_by_label(tab).is_none() {
        window.keys(Modifiers::COMMAND, Key::Num1);
    }
    window.click(tab);
}

/// Opens the panel at the right.
fn right(window: &mut Window) {
    if window
        .harness
        .query_by_role_and_label(Role::DisclosureTriangle, "Method")
        .is_none()
    {
        window.keys(Modifiers::COMMAND, Key::Num2);
    }
}

/// Closes the window of an experiment.
fn close(window: &mut Window) {
    window.click("Close window");
}

fn step(window: &mut Window, count: u64) {
    let first = window.steps();
    for step in first + 1..=first + count {
        window.key(Key::Period);
        window.wait("a step", |app| app.frame().clock.steps == step);
    }
}

#[test]
fn nothing_reaches_beyond_the_window() {
    at_every_size(|window, all| {
        step(window, 12);
        all.look(window, "field");
        // More plots than there is room for are scrolled to: only looked at.
        let more = ["Spread", "Norm", "Energy", "Spectrum"];
        for plot in more {
            window.press(Role::Button, plot);
        }
        all.draw(window, "all-plots");
        for plot in more.into_iter().chain(["Position", "Detectors"]) {
            window.press(Role::Button, plot);
        }
        window.key(Key::B);
        left(window, "Scene");
        all.look(window, "scene-and-brush");
        window.key(Key::A);
        all.look(window, "arrange");
        window.key(Key::Escape);
        window.key(Key::Num4);
        window.press(Role::Button, "Carpet");
        all.look(window, "relief-and-carpet");
        window.key(Key::Num4);
        window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E);
        all.look(window, "film");
        window.key(Key::Escape);
        window.key(Key::F1);
        all.look(window, "help");
        window.key(Key::Escape);
        window.keys(Modifiers::COMMAND, Key::P);
        all.look(window, "palette");
        window.key(Key::Escape);
        command(window, "connect");
        all.look(window, "connect");
        window.key(Key::Escape);
        window.press(Role::Button, "View");
        all.look(window, "menu");
        window.key(Key::Escape);
        right(window);
        window.reveal(Role::DisclosureTriangle, "Compare");
        window.press(Role::DisclosureTriangle, "Compare");
        window.reveal(Role::CheckBox, "a second run from the present state");
        window.press(Role::CheckBox, "a second run from the present state");
        window.wait("the second run", |app| app.frame().compared.is_some());
        step(window, 4);
        all.look(window, "compare");
        window.show_scene(&SCENE.replace("size = [96, 64]", "size = [96, 64]\nabsorb_width = 8"));
        window.click("Dark or light");
        all.look(window, "light");
        window.key(Key::H);
        all.look(window, "bare");
    });
}

#[test]
fn nothing_of_other_scenes_reaches_beyond_the_window() {
    at_every_size(|window, all| {
        for (screen, preset) in [
            ("sound", "zone-plate"),
            ("line", "resonance-line"),
            ("mirror-preset", "ring-mirror"),
            ("sea-floor", "sea-floor"),
        ] {
            window.app().open(preset);
            window.wait(preset, |app| {
                app.document().preset() == Some(preset) && !app.frame().image.value.is_empty()
            });
            window.key(Key::Space);
            window.wait("it runs", |app| app.frame().clock.steps > 60);
            window.key(Key::Space);
            all.look(window, screen);
        }
        window.show_scene(super::space::SCENE);
        window.wait("the volume", |app| app.frame().volume.is_some());
        step(window, 8);
        all.look(window, "volume");
        window.key(Key::Num2);
        all.look(window, "slices");
        window.show_scene(&super::mirror::ring("reversal"));
        window.step_to(24);
        all.look(window, "mirror");
        left(window, "Scene");
        window.click("Mirror");
        all.look(window, "mirror-scene");
        window.click("Gallery");
        window.show_scene(&super::lecture::asked());
        window.click("Play");
        window.wait("the question", |app| app.frame().question == Some(0));
        all.look(window, "question");
        // The first steps wait for it.
        window.click("Skip");
        window.press(Role::Button, "Help");
        window.press(Role::Button, "First steps");
        all.look(window, "tour");
        window.key(Key::Escape);
        window.key(Key::F5);
        window.wait("a preset of the demo", |app| {
            app.frame().clock.steps > 100 && app.document().preset().is_some()
        });
        window.key(Key::Space);
        all.look(window, "demo");
    });
}

/// Runs aside and their results.
#[test]
fn nothing_of_experiments_reaches_beyond_the_window() {
    at_every_size(|window, all| {
        let open = |window: &mut Window, preset: &str| {
            window.app().open(preset);
            window.wait(preset, |app| {
                app.document().preset() == Some(preset) && !app.frame().image.value.is_empty()
            });
        };
        open(window, "double-well");
        command(window, "sweep");
        all.look(window, "sweep");
        close(window);
        command(window, "levels");
        all.look(window, "levels");
        close(window);
        open(window, "tube");
        command(window, "dispersion");
        window.press(Role::Button, "Record the dispersion");
        window.wait("the spectrum", |app| app.dispersion().report().is_some());
        all.look(window, "dispersion");
        close(window);
        open(window, "damped-tube");
        command(window, "room acoustics");
        window.press(Role::Button, "Listen to the room");
        window.wait("the decay", |app| app.room().report().is_some());
        all.look(window, "room");
        close(window);
        open(window, "doppler");
        step(window, 400);
        all.look(window, "theory");
        left(window, "Scene");
        for title in ["Medium", "Theory and notes", "Sources", "Detectors"] {
            if window
                .harness
                .query_by_role_and_label(Role::DisclosureTriangle, title)
                .is_some()
            {
                window.reveal(Role::DisclosureTriangle, title);
                window.press(Role::DisclosureTriangle, title);
            }
        }
        all.draw(window, "scene-of-sound");
        let broken = SCENE
            .replace("mass = 1.0", "mass = -1.0")
            .replace("opening = 3.0", "opening = 0.0");
        let broken = window.file("broken.toml", broken);
        window.app().open(&broken);
        window.wait("the notice", |app| {
            app.notices().list().iter().any(|notice| notice.fault)
        });
        all.look(window, "fault");
    });
}

/// The status line gives the place of its cells to what is under the pointer.
#[test]
fn what_is_under_the_pointer_covers_no_other_cell() {
    for size in [[640.0, 400.0], [800.0, 600.0], [1024.0, 600.0], [1280.0, 720.0]] {
        let mut window = Window::sized(Vec2::from(size), 1.0);
        step(&mut window, 2);
        let (picture, _) = window.app().picture();
        window.harness.hover_at(picture.center());
        window.settle();
        let all = window.harness.root().children_recursive();
        let cells: Vec<_> = all
            .filter(|node| node.accesskit_node().role() == Role::Label && node.rect().top() > size[1] - 31.0)
            .map(|node| (node.accesskit_node().label().unwrap_or_default(), node.rect()))
            .collect();
        assert!(cells.len() > 3, "{size:?}: {cells:?}");
        for (n, (name, cell)) in cells.iter().enumerate() {
            for (other, beside) in &cells[n + 1..] {
                assert!(!cell.shrink(0.5).intersects(*beside), "{size:?}: {name} and {other}");
            }
        }
    }
}

/// The least window, as large as a common one becomes with everything at twice its size.
#[test]
fn the_least_window_has_everything_within_reach() {
    let size = [640.0, 400.0];
    let mut window = Window::sized(Vec2::from(size), 2.0);
    let all = Screens {
        name: "1280x800-at-200".to_owned(),
        width: size[0],
        folder: std::env::var_os("SCREENS"),
    };
    step(&mut window, 4);
    all.look(&mut window, "field");
    let picture = window.harness.get_by_label("Picture of the field").rect();
    assert!(
        picture.height() > 110.0,
        "the picture beside everything else: {picture:?}"
    );
    // Plots end above the status line, with the numbers of their axes below them.
    let plot = window.harness.get_by_label_contains("Plot: Line cut").rect();
    assert!(
        plot.height() > 20.0 && plot.bottom() < size[1] - 24.0 - 14.0,
        "{plot:?}"
    );
    window.press(Role::Button, "More");
    window.press(Role::Button, "Norm");
    window.settle();
    assert!(window.harness.query_by_label_contains("Plot: Norm").is_some());
    window.press(Role::Button, "Norm");
    window.keys(Modifiers::COMMAND, Key::Num3);
    all.look(&mut window, "no-plots");
    window.keys(Modifiers::COMMAND, Key::Num2);
    all.look(&mut window, "gallery");
    window.click("Scene");
    all.look(&mut window, "scene");
    window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E);
    all.look(&mut window, "film");
    let reachable = window.harness.get_by_label("Choose the file…").rect();
    assert!(reachable.bottom() <= size[1], "{reachable:?}");
    window.key(Key::Escape);
    window.key(Key::F1);
    all.look(&mut window, "help");
    let reachable = window.harness.get_by_label("Close").rect();
    assert!(reachable.bottom() <= size[1], "{reachable:?}");
    window.key(Key::Escape);
    window.keys(Modifiers::COMMAND, Key::P);
    all.look(&mut window, "palette");
    window.key(Key::Escape);
    // A notice is there for a few seconds only, and a step of the test is a quarter of one.
    window.harness.key_press(Key::Num3);
    window.harness.run_steps(4);
    let words = window.harness.get_by_label_contains("needs a scene of three").rect();
    let close = window.harness.get_by_label("Close notice").rect();
    assert!(!words.intersects(close), "{words:?} {close:?}");
    window.key(Key::H);
    all.look(&mut window, "bare");
}

//! What the pointer does to the scene.

use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, vec2};
use egui_kittest::kittest::Queryable;
use ripplon::physics::{Measure, Sets};
use ripplon::scene::file::{RegionFile, ShapeFile, ValueFile};

/// Sites of [`SCENE`], and its spacing.
const SITES: [f32; 2] = [96.0, 64.0];
const SPACING: f64 = 0.5;

impl Window {
    /// Where a site's middle stands on the screen while the whole grid is shown: 2 points of room on every side.
    pub fn site(&self, x: f32, y: f32) -> Pos2 {
        let area = self.harness.get_by_label("Picture of the field").rect();
        let scale = ((area.width() - 4.0) / SITES[0]).min((area.height() - 4.0) / SITES[1]);
        area.center() + scale * vec2(x + 0.5 - SITES[0] / 2.0, SITES[1] / 2.0 - y - 0.5)
    }

    /// Points on the screen from site to site.
    fn scale(&self) -> f32 {
        self.site(1.0, 0.0).x - self.site(0.0, 0.0).x
    }

    /// Drags with a button along sites.
    pub fn drag(&mut self, button: PointerButton, modifiers: Modifiers, path: &[(f32, f32)]) {
        let points: Vec<Pos2> = path.iter().map(|&(x, y)| self.site(x, y)).collect();
        self.drag_points(button, modifiers, &points);
    }

    /// Drags with a button along points of the screen.
    pub fn drag_points(&mut self, button: PointerButton, modifiers: Modifiers, points: &[Pos2]) {
        let press = |pos: Pos2, pressed: bool| Event::PointerButton {
            pos,
            button,
            pressed,
            modifiers,
        };
        let last = *points.last().unwrap();
        self.harness.event(Event::ModifiersChanged(modifiers));
        self.harness.event(Event::PointerMoved(points[0]));
        self.harness.step();
        self.harness.event(press(points[0], true));
        self.harness.step();
        for point in points {
            self.harness.event(Event::PointerMoved(*point));
            self.harness.step();
        }
        self.harness.event(press(last, false));
        self.harness.step();
        self.harness.event(Event::ModifiersChanged(Modifiers::NONE));
        self.settle();
    }

    /// |ψ|² summed over the columns of the picture beyond a site.
    fn beyond(&self, site: usize) -> f32 {
        let image = &self.app().frame().image;
        let rows = image.value.chunks(image.size[0]);
        rows.map(|row| row[site / image.reduction..].iter().sum::<f32>()).sum()
    }
}

/// The wall has two slits; painted shut while it runs, what passes vanishes.
#[test]
fn a_painted_wall_stops_the_wave() {
    let through = |shut: bool| {
        let mut window = Window::open();
        // A box that is closed but for the slits, and no other potential.
        window.show_scene(
            &SCENE
                .replace("value = 0.4", "value = 0.0")
                .replace("end = 4.0", "end = 40.0"),
        );
        for _ in 0..3 {
            window.key(Key::Period);
        }
        window.wait("three steps", |app| app.frame().clock.steps == 3);
        if shut {
            window.key(Key::B);
            let wall = |app: &ripplon::app::App| app.document().draft.layers.len();
            let before = wall(window.app());
            window.drag(
                PointerButton::Primary,
                Modifiers::SHIFT,
                &[(56.0, -1.5), (56.0, 30.0), (56.0, 63.0)],
            );
            assert_eq!(wall(window.app()), before, "a stroke begins on the grid");
            window.drag(
                PointerButton::Primary,
                Modifiers::SHIFT,
                &[(56.0, 0.0), (56.0, 30.0), (56.0, 63.0)],
            );
            window.wait("the wall", |app| {
                app.frame().scenario.as_ref().unwrap().medium().layers().len() == before + 1
            });
            let layer = &window.app().document().draft.layers[before];
            let ShapeFile::Stroke { points, radius } = &layer.shape else {
                panic!("{layer:?}")
            };
            assert_eq!((layer.sets, points.len(), *radius), (Sets::Wall, 2, 2.0));
            assert!(
                (points[0][0] - 28.0).abs() < 0.01 && (points[1][1] - 31.5).abs() < 0.01,
                "{points:?}"
            );
            assert_eq!(window.steps(), 3, "the run goes on");
        }
        window.click("Play");
        window.wait("the passage", |app| app.frame().clock.time > 26.0);
        window.beyond(62)
    };
    let (open, shut) = (through(false), through(true));
    assert!(open > 1e-3, "{open}");
    // What a closed wall lets through is nothing: its bonds are gone.
    assert!(shut <= 1e-6 * open, "{shut} of {open}");
}

/// A drag of the arrow's length is the middle of the band, k = π/2a.
#[test]
fn a_dragged_packet_has_its_momentum() {
    let mut window = Window::open();
    window.key(Key::P);
    let start = window.site(20.0, 40.0);
    window.drag_points(
        PointerButton::Primary,
        Modifiers::NONE,
        &[start, start + vec2(40.0, 10.0), start + vec2(80.0, -40.0)],
    );
    let packets = &window.app().document().draft.packets;
    assert_eq!(packets.len(), 1);
    let quarter = std::f64::consts::FRAC_PI_2 / SPACING / 4.0;
    let (k, at) = (&packets[0].momentum, &packets[0].center);
    // Momenta are kept to a hundredth of 1/a.
    assert!(
        (k[0] - 2.0 * quarter).abs() < 0.02 && (k[1] - quarter).abs() < 0.02,
        "{k:?}"
    );
    assert!((at[0] - 10.0).abs() < 0.01 && (at[1] - 20.0).abs() < 0.01, "{at:?}");
    assert_eq!(packets[0].width, [3.0, 3.0], "as wide as the one before");
    window.wait("the new start", |app| {
        app.frame()
            .scenario
            .as_ref()
            .is_some_and(|scenario| scenario.file().packets[0].center[1] > 19.0)
            && app.frame().clock.steps == 0
    });
    // A second one joins it with Shift, and stands still where it was not dragged.
    let other = window.site(60.0, 20.0);
    window.drag_points(PointerButton::Primary, Modifiers::SHIFT, &[other, other]);
    let packets = &window.app().document().draft.packets;
    assert_eq!((packets.len(), &packets[1].momentum[..]), (2, &[0.0, 0.0][..]));
}

#[test]
fn ten_edits_are_taken_back_to_the_same_bytes() {
    let mut window = Window::open();
    let text = |window: &Window| window.app().document().draft.to_toml();
    let start = text(&window);
    window.key(Key::B);
    for x in [10.0, 18.0, 26.0, 34.0] {
        window.drag(
            PointerButton::Primary,
            Modifiers::NONE,
            &[(x, 10.0), (x + 3.0, 20.0), (x, 30.0)],
        );
        window.drag(
            PointerButton::Secondary,
            Modifiers::COMMAND,
            &[(x, 40.0), (x + 5.0, 50.0)],
        );
    }
    window.key(Key::D);
    window.drag(PointerButton::Primary, Modifiers::NONE, &[(70.0, 30.0)]);
    window.key(Key::P);
    window.drag(PointerButton::Primary, Modifiers::NONE, &[(30.0, 30.0), (40.0, 30.0)]);
    let draft = &window.app().document().draft;
    assert_eq!(draft.layers.len(), 10);
    assert!(matches!(&draft.layers[2].shape, ShapeFile::Stroke { points, .. } if points.len() == 3));
    assert!(matches!(draft.layers[3].shape, ShapeFile::Box { .. }));
    assert_eq!(
        draft.layers[3].value,
        Some(ValueFile::Number(0.0)),
        "the right button takes away"
    );
    let probe = draft.detectors.last().unwrap();
    assert_eq!((probe.name.as_str(), probe.measure), ("probe 1", Some(Measure::Value)));
    assert_eq!(probe.region, RegionFile::Point(vec![35.0, 15.0]));
    let end = text(&window);
    for _ in 0..10 {
        assert!(window.app().document().can_undo());
        window.keys(Modifiers::COMMAND, Key::Z);
    }
    assert_eq!(text(&window), start);
    assert!(!window.app().document().can_undo());
    for _ in 0..10 {
        window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
    }
    assert_eq!(text(&window), end);
    // With no tool in hand a drag moves the view and nothing else.
    window.key(Key::Escape);
    window.drag(PointerButton::Primary, Modifiers::NONE, &[(30.0, 30.0), (40.0, 30.0)]);
    assert_eq!(text(&window), end);
    assert!(window.scale() > 0.0);
}

/// `a = 0.5 in [0, 1]` in front of a formula is a slider that changes the run.
#[test]
fn constants_of_a_formula_are_sliders() {
    let mut window = Window::open();
    let scene = SCENE.replace(
        "value = 0.4",
        "value = \"strength = 0.5 in [0, 1]; strength*exp(-r^2)\"",
    );
    window.show_scene(&scene);
    window.click("Scene");
    window.reveal(Role::Button, " layer 2: Potential, disk");
    window.press(Role::Button, " layer 2: Potential, disk");
    window.reveal(Role::Slider, "strength");
    window.harness.get_by_role_and_label(Role::Slider, "strength").focus();
    window.settle();
    window.key(Key::ArrowLeft);
    let value = |app: &ripplon::app::App| app.document().draft.layers[1].value.clone();
    let expected = ValueFile::Formula("strength = 0.499 in [0, 1]; strength*exp(-r^2)".to_owned());
    window.wait("the formula", |app| value(app).as_ref() == Some(&expected));
    window.wait("the run", |app| {
        let scenario = app.frame().scenario.as_ref().unwrap();
        scenario.file().layers[1].value.as_ref() == Some(&expected)
    });
    assert!(window.app().document().faults.is_none());
}

/// A potential of 0.4 that is made a wall is one, and what a wall's formula says is seen and edited as well.
#[test]
fn walls_stand_where_the_panel_says() {
    let mut window = Window::open();
    window.click("Scene");
    window.reveal(Role::Button, " layer 2: Potential 0.4, disk");
    window.press(Role::Button, " layer 2: Potential 0.4, disk");
    let choose = |window: &mut Window, name: &str, word: &str| {
        window.reveal(Role::ComboBox, name);
        window.press(Role::ComboBox, name);
        window.click(word);
        window.settle();
        window.app().document().draft.layers[1].value.clone()
    };
    assert_eq!(choose(&mut window, "Sets", "wall"), None);
    let nowhere = choose(&mut window, "Stands", "nowhere: takes away");
    assert_eq!(nowhere, Some(ValueFile::Number(0.0)));
    window.harness.get_by_label(" layer 2: No wall, disk");
    let formula = choose(&mut window, "Stands", "by a formula");
    assert!(matches!(formula, Some(ValueFile::Formula(_))));
    window
        .harness
        .get_by_role_and_label(Role::TextInput, "Formula of the value");
    window.wait("the wall", |app| {
        let scenario = app.frame().scenario.as_ref().unwrap();
        scenario.file().layers[1].value == app.document().draft.layers[1].value
    });
    assert!(window.app().document().faults.is_none());
}

/// Handles move and size what stands in the scene; keys nudge it; Delete takes it away; each is one edit.
#[test]
fn parts_are_arranged_by_hand_and_by_keys() {
    let mut window = Window::open();
    let start = window.app().document().draft.to_toml();
    window.key(Key::A);
    // The disk stands at (38, 16) with radius 4: sites 76 and 32, its knob at site 84.
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        &[(76.0, 32.0), (72.0, 36.0), (70.0, 40.0)],
    );
    let disk = |window: &Window| match &window.app().document().draft.layers[1].shape {
        ShapeFile::Disk { center, radius } => (center.clone(), *radius),
        other => panic!("{other:?}"),
    };
    assert_eq!(disk(&window), (vec![35.0, 20.0], 4.0));
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        &[(78.0, 40.0), (80.0, 40.0), (82.0, 40.0)],
    );
    assert_eq!(disk(&window), (vec![35.0, 20.0], 6.0));
    window.key(Key::ArrowLeft);
    window.keys(Modifiers::SHIFT, Key::ArrowUp);
    assert_eq!(disk(&window), (vec![34.5, 20.05], 6.0));
    window.wait("the run", |app| {
        let scenario = app.frame().scenario.as_ref().unwrap();
        scenario.file().layers[1] == app.document().draft.layers[1]
    });
    window.key(Key::Delete);
    assert_eq!(window.app().document().draft.layers.len(), 1);
    for _ in 0..5 {
        window.keys(Modifiers::COMMAND, Key::Z);
    }
    assert_eq!(window.app().document().draft.to_toml(), start);
    assert!(!window.app().document().can_undo());
    // A region is recorded.
    window.key(Key::G);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        &[(10.0, 10.0), (30.0, 30.0), (50.0, 40.0)],
    );
    let detectors = &window.app().document().draft.detectors;
    assert_eq!((detectors.len(), detectors[1].name.as_str()), (2, "region 1"));
    let RegionFile::Box { min, max } = &detectors[1].region else {
        panic!("{:?}", detectors[1]);
    };
    assert_eq!((min.as_slice(), max.as_slice()), (&[5.0, 5.0][..], &[25.0, 20.0][..]));
    window.wait("its record", |app| {
        app.frame().scenario.as_ref().unwrap().detectors().len() == 2
    });
    // The ruler changes nothing.
    let before = window.app().document().draft.to_toml();
    window.key(Key::L);
    window.drag(PointerButton::Primary, Modifiers::NONE, &[(10.0, 10.0), (50.0, 40.0)]);
    assert_eq!(window.app().document().draft.to_toml(), before);
}

#[test]
fn a_probe_has_a_chart_of_its_own() {
    let mut window = Window::open();
    let chart = |window: &Window| window.harness.query_by_label_contains("Chart of probe 1").is_some();
    window.key(Key::D);
    window.drag(PointerButton::Primary, Modifiers::NONE, &[(24.0, 32.0)]);
    window.wait("the probe", |app| app.document().draft.detectors.len() == 2);
    window.key(Key::Escape);
    for step in 1..=3 {
        window.key(Key::Period);
        window.wait("a step", |app| app.frame().clock.steps == step);
    }
    window.settle();
    assert!(chart(&window), "it is shown at once");
    window.reveal(Role::CheckBox, "a chart beside each probe");
    window.press(Role::CheckBox, "a chart beside each probe");
    assert!(!chart(&window));
}

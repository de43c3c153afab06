//! What the pointer does over the picture: moves the view, sets a packet going, paints the medium, places pulses, sources and probes.
//!
//! A tool changes nothing by itself: it leaves [`Work`] for the window, which makes it an edit of the scene.

use super::arrange::{self, Hold};
use super::camera::Camera;
use super::handles::{self, Handle, Part};
use super::layers_panel::tidy;
use super::mirror_tool::{self, Placing};
use super::theme::{self, OVER_PICTURE};
use super::units::Unit;
use super::view_state::ViewState;
use super::widgets::figure;
use crate::physics::{Equation, Measure, Sets};
use crate::scene::SceneFile;
use crate::scene::file::{
    DetectorFile, LayerFile, PacketFile, PulseFile, RegionFile, ShapeFile, SignalFile, SourceFile, SourcePlace,
    TransducersFile, ValueFile,
};
use egui::{Align2, FontId, Painter, PointerButton, Pos2, Rect, Response, Stroke, Ui, vec2};
use lucide_icons::Icon;
use std::f64::consts::{FRAC_PI_2, PI};

/// Points that an arrow is long where its momentum reaches the middle of the band, π/2a.
const ARROW: f32 = 160.0;

/// What the pointer does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Moves the view.
    #[default]
    Move,
    /// Sets a wave packet going (quantum).
    Packet,
    /// Lets a pulse go (sound).
    Pulse,
    /// Places a source (sound).
    Source,
    /// Paints the medium.
    Brush,
    /// Places a detector.
    Probe,
    /// Places the transducers of a mirror.
    Mirror,
    /// Records a region.
    Region,
    /// Takes the parts of the scene by the hand.
    Arrange,
    /// Measures lengths.
    Ruler,
}

/// A tool's row.
pub struct Row {
    /// The tool.
    pub tool: Tool,
    /// Its name.
    pub title: &'static str,
    /// Its icon.
    pub icon: Icon,
    /// How it is used.
    pub about: &'static str,
    /// Whether quantum scenes and scenes of sound have it.
    pub fits: [bool; 2],
}

/// Every tool.
#[rustfmt::skip]
pub const TOOLS: &[Row] = &[
    Row { tool: Tool::Move, title: "Move", icon: Icon::Hand, about: "Drag moves the view, the wheel zooms, a double click shows the whole grid.", fits: [true, true] },
    Row { tool: Tool::Packet, title: "Packet", icon: Icon::MoveUpRight, about: "Press where a wave packet shall start, drag to give it momentum, let go to start it. With Shift it joins those that are there.", fits: [true, false] },
    Row { tool: Tool::Pulse, title: "Pulse", icon: Icon::CircleDot, about: "Click where a pulse of pressure shall start. With Shift it joins those that are there.", fits: [false, true] },
    Row { tool: Tool::Source, title: "Source", icon: Icon::Volume2, about: "Click where a source of sound shall stand.", fits: [false, true] },
    Row { tool: Tool::Brush, title: "Brush", icon: Icon::Brush, about: "The left button paints, the right one takes away; with Shift a straight line, with Ctrl a box. Works while it runs.", fits: [true, true] },
    Row { tool: Tool::Probe, title: "Probe", icon: Icon::Pipette, about: "Click where a detector shall stand; the plots show what it records.", fits: [true, true] },
    Row { tool: Tool::Mirror, title: "Mirror", icon: Icon::FlipHorizontal2, about: "Press and drag where the transducers of a time-reversal mirror shall stand. The wave is recorded and turned round; T turns it at once.", fits: [true, true] },
    Row { tool: Tool::Region, title: "Region", icon: Icon::SquareDashed, about: "Drag a rectangle: a detector records what is in it, probability of ψ or energy of sound.", fits: [true, true] },
    Row { tool: Tool::Arrange, title: "Arrange", icon: Icon::MousePointer2, about: "Drag the handles of shapes, packets, sources, detectors and mirrors: circles move, squares size, to half sites (Alt: freely). Arrow keys move what was taken last by a site, with Shift by a tenth; Delete takes it away.", fits: [true, true] },
    Row { tool: Tool::Ruler, title: "Ruler", icon: Icon::Ruler, about: "Drag from place to place: length, its parts along x and y, and the angle.", fits: [true, true] },
];

impl Tool {
    /// Whether a scene has it.
    #[must_use]
    pub fn fits(self, sound: bool) -> bool {
        TOOLS.iter().any(|row| row.tool == self && row.fits[usize::from(sound)])
    }
}

/// What the brush paints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint {
    /// The quantity.
    pub sets: Sets,
    /// Its value; nothing for walls.
    pub value: f64,
    /// Half the line's width, in sites.
    pub radius: f64,
}

/// What a tool leaves for the window to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// The brush paints a layer; `goes_on`: instead of the last one.
    Layer {
        /// The layer.
        layer: LayerFile,
        /// The gesture began in an earlier frame.
        goes_on: bool,
    },
    /// A packet starts; `joins`: beside those that are there.
    Packet(PacketFile, bool),
    /// As for packets.
    Pulse(PulseFile, bool),
    /// A source is placed.
    Source(SourceFile),
    /// A detector is placed.
    Probe(Vec<f64>),
    /// Transducers are placed.
    Mirror(TransducersFile),
    /// A detector of a rectangle, as lengths along x and y.
    Region([f64; 2], [f64; 2]),
    /// A handle is brought to a place.
    Bring(Handle, [f64; 2]),
    /// A part is moved by lengths.
    Shift(Part, [f64; 2]),
    /// A part is taken away.
    Remove(Part),
}

/// What the brush's gesture makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Free,
    Line,
    Box,
}

/// A gesture under way.
#[derive(Clone, Debug)]
enum Gesture {
    Packet {
        from: [f64; 2],
        joins: bool,
    },
    Paint {
        form: Form,
        erases: bool,
        points: Vec<[f64; 2]>,
        begun: bool,
    },
    Mirror {
        from: [f64; 2],
    },
}

/// The tools' state.
#[derive(Debug)]
pub struct Tools {
    /// The one in hand.
    pub tool: Tool,
    /// What the brush paints.
    pub paint: Paint,
    /// What the mirror tool places.
    pub placing: Placing,
    /// What is taken by the hand, or measured.
    pub hold: Hold,
    gesture: Option<Gesture>,
    pub(super) work: Vec<Work>,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            tool: Tool::Move,
            paint: Paint {
                sets: Sets::Wall,
                value: 0.5,
                radius: 4.0,
            },
            placing: Placing::default(),
            hold: Hold::default(),
            gesture: None,
            work: Vec::new(),
        }
    }
}

/// What the tools must know of the scene that runs.
pub struct Ground<'a> {
    /// The draft.
    pub file: &'a SceneFile,
    /// a.
    pub spacing: f64,
    /// J of a quantum scene.
    pub hopping: Option<f64>,
    /// Sites along x and y.
    pub sites: [usize; 2],
    /// The plane's z, for three dimensions.
    pub z: Option<f64>,
    /// The unit of lengths.
    pub length: Unit,
}

impl Ground<'_> {
    /// A place in sites (the middle of site n is n + ½) as a place of the scene, to a hundredth of a site.
    fn place(&self, site: [f64; 2]) -> [f64; 2] {
        site.map(|s| ((s - 0.5) * 100.0).round() / 100.0 * self.spacing)
    }

    /// The same with the plane's z, or x alone along a line.
    pub(super) fn point(&self, site: [f64; 2]) -> Vec<f64> {
        self.place(site).into_iter().take(self.rank()).chain(self.z).collect()
    }

    /// Dimensions of the grid.
    pub(super) fn rank(&self) -> usize {
        self.file.grid.size.len()
    }

    fn holds(&self, site: [f64; 2]) -> bool {
        (0..2).all(|axis| site[axis] >= 0.0 && site[axis] < self.sites[axis] as f64)
    }
}

impl Tools {
    /// Another scene: what the tool in hand cannot do there, it does not.
    pub fn start_over(&mut self, file: &SceneFile) {
        let sound = file.acoustic.is_some();
        if !self.tool.fits(sound) {
            self.tool = Tool::Move;
        }
        if !self.paint.sets.fits(equation(file)) {
            self.paint.sets = Sets::Wall;
        }
        self.gesture = None;
        self.hold = Hold::default();
    }

    /// What is left to do.
    pub fn take_work(&mut self) -> Vec<Work> {
        std::mem::take(&mut self.work)
    }

    /// Whether a button of the pointer belongs to the tool in hand rather than to the view.
    #[must_use]
    pub fn holds(&self, button: PointerButton) -> bool {
        match self.tool {
            Tool::Move => false,
            Tool::Brush => button != PointerButton::Middle,
            _ => button == PointerButton::Primary,
        }
    }

    /// What the brush leaves at a place, or its opposite.
    fn layer(&self, shape: ShapeFile, erases: bool, file: &SceneFile) -> LayerFile {
        let Paint { sets, value, .. } = self.paint;
        let nothing = match sets {
            Sets::Speed => file.acoustic.as_ref().map_or(0.0, |acoustic| acoustic.speed),
            Sets::Density => file.acoustic.as_ref().map_or(0.0, |acoustic| acoustic.density),
            Sets::Potential | Sets::Wall | Sets::Absorption => 0.0,
        };
        let value = match (erases, sets) {
            (true, _) => Some(ValueFile::Number(nothing)),
            (false, Sets::Wall) => None,
            (false, _) => Some(ValueFile::Number(value)),
        };
        LayerFile::new(sets, shape, value)
    }
}

/// The equation of a draft.
#[must_use]
pub fn equation(file: &SceneFile) -> Equation {
    if file.acoustic.is_some() {
        Equation::Acoustic
    } else {
        Equation::Schrodinger
    }
}

/// Lets the tool in hand work on the picture.
pub fn interact(ui: &Ui, view: &mut ViewState, area: Rect, ground: &Ground<'_>, response: &Response) {
    let camera = view.camera;
    let site_at = |pos: Pos2| {
        let [x, y] = camera.site_at(area, pos);
        // A line is as high as it is drawn.
        [x, if ground.rank() == 1 { 0.5 } else { y }]
    };
    let tools = &mut view.tools;
    if tools.tool == Tool::Move {
        return;
    }
    if response.hovered() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::Crosshair);
    }
    if matches!(tools.tool, Tool::Arrange | Tool::Ruler | Tool::Region) {
        arrange::interact(ui, tools, &camera, area, ground, response);
        return;
    }
    let modifiers = ui.input(|input| input.modifiers);
    let origin = ui.input(|input| input.pointer.press_origin());
    let pointer = response.interact_pointer_pos();
    match tools.tool {
        Tool::Move | Tool::Arrange | Tool::Ruler | Tool::Region => {}
        Tool::Pulse | Tool::Source | Tool::Probe => {
            if let Some(site) = pointer
                .map(site_at)
                .filter(|site| response.clicked() && ground.holds(*site))
            {
                tools.work.push(placed(tools.tool, ground, site, modifiers.shift));
            }
        }
        Tool::Packet => {
            let pressed = response.is_pointer_button_down_on() && ui.input(|input| input.pointer.primary_down());
            match (&tools.gesture, pointer, origin) {
                (None, Some(_), Some(origin)) if pressed => {
                    let from = site_at(origin);
                    if ground.holds(from) {
                        let joins = modifiers.shift;
                        tools.gesture = Some(Gesture::Packet { from, joins });
                    }
                }
                (Some(Gesture::Packet { from, joins }), at, _) if !pressed => {
                    let (from, joins) = (*from, *joins);
                    let end = at.or_else(|| ui.input(|input| input.pointer.latest_pos()));
                    let drag = end.map_or(egui::Vec2::ZERO, |end| end - camera.point_at(area, from));
                    tools.work.push(Work::Packet(packet(ground, from, drag), joins));
                    tools.gesture = None;
                }
                _ => {}
            }
        }
        Tool::Mirror => {
            let pressed = response.is_pointer_button_down_on() && ui.input(|input| input.pointer.primary_down());
            match (&tools.gesture, origin) {
                (None, Some(origin)) if pressed && ground.holds(site_at(origin)) => {
                    let from = site_at(origin);
                    tools.gesture = Some(Gesture::Mirror { from });
                }
                (Some(Gesture::Mirror { from }), _) if !pressed => {
                    let from = *from;
                    let end = pointer.or_else(|| ui.input(|input| input.pointer.latest_pos()));
                    let to = end.map_or(from, site_at);
                    let placed = mirror_tool::placed(tools.placing, ground, from, to);
                    tools.work.extend(placed.map(Work::Mirror));
                    tools.gesture = None;
                }
                _ => {}
            }
        }
        Tool::Brush => {
            if let Some(pointer) = pointer.filter(|_| brushes(ui, response)) {
                let form = match (modifiers.shift, modifiers.command) {
                    (true, _) => Form::Line,
                    (_, true) => Form::Box,
                    _ => Form::Free,
                };
                let erases = ui.input(|input| input.pointer.secondary_down());
                paint(
                    tools,
                    ground,
                    form,
                    erases,
                    site_at(origin.unwrap_or(pointer)),
                    site_at(pointer),
                );
            } else {
                tools.gesture = None;
            }
        }
    }
}

fn brushes(ui: &Ui, response: &Response) -> bool {
    response.is_pointer_button_down_on()
        && ui.input(|input| input.pointer.primary_down() || input.pointer.secondary_down())
}

/// One frame of the brush's gesture, which began at `from` and is at `to` now.
fn paint(tools: &mut Tools, ground: &Ground<'_>, form: Form, erases: bool, from: [f64; 2], to: [f64; 2]) {
    let Some(Gesture::Paint { .. }) = &tools.gesture else {
        if ground.holds(from) {
            tools.gesture = Some(Gesture::Paint {
                form,
                erases,
                points: vec![from],
                begun: false,
            });
            paint(tools, ground, form, erases, from, to);
        }
        return;
    };
    let Some(Gesture::Paint {
        form,
        erases,
        points,
        begun,
    }) = &mut tools.gesture
    else {
        return;
    };
    let step = (tools.paint.radius / 2.0).max(0.5);
    let apart = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let before = points.clone();
    match form {
        Form::Free => {
            if points.last().is_none_or(|last| apart(*last, to) >= step) {
                points.push(to);
            }
        }
        Form::Line | Form::Box => {
            points.truncate(1);
            if apart(points[0], to) >= 0.5 {
                points.push(to);
            }
        }
    }
    if *begun && *points == before {
        return;
    }
    let (goes_on, form, erases) = (std::mem::replace(begun, true), *form, *erases);
    let places: Vec<[f64; 2]> = points.iter().map(|site| ground.place(*site)).collect();
    let shape = match (form, &places[..]) {
        (Form::Box, [a, b]) => ShapeFile::Box {
            min: corner(ground, a, b, f64::min),
            max: corner(ground, a, b, f64::max),
        },
        _ => ShapeFile::Stroke {
            points: places,
            radius: tidy(tools.paint.radius * ground.spacing),
        },
    };
    let layer = tools.layer(shape, erases, ground.file);
    tools.work.push(Work::Layer { layer, goes_on });
}

/// A corner of a box in the plane; through all planes of a volume, as strokes are.
fn corner(ground: &Ground<'_>, a: &[f64; 2], b: &[f64; 2], pick: fn(f64, f64) -> f64) -> Vec<f64> {
    let mut corner: Vec<f64> = (0..2).map(|axis| pick(a[axis], b[axis])).collect();
    if ground.z.is_some() {
        let depth = ground.file.grid.size.get(2).copied().unwrap_or(1) as f64 * ground.spacing;
        corner.push(pick(0.0, depth));
    }
    corner
}

/// k of a drag: the middle of the band where the arrow is [`ARROW`] points long.
fn momentum(ground: &Ground<'_>, drag: egui::Vec2) -> [f64; 2] {
    let per_point = FRAC_PI_2 / ground.spacing / f64::from(ARROW);
    [f64::from(drag.x), -f64::from(drag.y)]
        .map(|points| (points * per_point * ground.spacing * 100.0).round() / 100.0 / ground.spacing)
}

fn packet(ground: &Ground<'_>, from: [f64; 2], drag: egui::Vec2) -> PacketFile {
    let momentum = if drag.length() < 4.0 {
        [0.0; 2]
    } else {
        momentum(ground, drag)
    };
    let width = ground.file.packets.first().map_or_else(
        || {
            let least = ground.sites.into_iter().min().unwrap_or(1) as f64;
            vec![tidy((least / 24.0).max(2.0) * ground.spacing)]
        },
        |packet| packet.width.clone(),
    );
    PacketFile {
        center: ground.point(from),
        width,
        momentum: momentum.into_iter().chain(ground.z.map(|_| 0.0)).collect(),
        weight: 1.0,
    }
}

fn placed(tool: Tool, ground: &Ground<'_>, site: [f64; 2], joins: bool) -> Work {
    let at = ground.point(site);
    let speed = ground.file.acoustic.as_ref().map_or(343.0, |acoustic| acoustic.speed);
    match tool {
        Tool::Pulse => {
            let width = ground
                .file
                .pulses
                .first()
                .map_or(tidy(4.0 * ground.spacing), |pulse| pulse.width);
            let amplitude = ground.file.pulses.first().map_or(1.0, |pulse| pulse.amplitude);
            let pulse = PulseFile {
                center: at,
                width,
                amplitude,
            };
            Work::Pulse(pulse, joins)
        }
        Tool::Source => {
            let like = ground.file.sources.first();
            // Sixteen sites a wavelength, where no other source says what is wanted.
            let frequency = tidy(speed / (16.0 * ground.spacing));
            Work::Source(SourceFile {
                place: SourcePlace::Point(at),
                signal: like.map_or(SignalFile::Sine { frequency }, |source| source.signal.clone()),
                amplitude: like.map_or(1.0, |source| source.amplitude),
                delay: 0.0,
                velocity: Vec::new(),
            })
        }
        _ => Work::Probe(at),
    }
}

/// Makes a tool's work part of a scene; `returning`: what the brush paints is for the way back from the scene's mirror alone.
pub fn apply(file: &mut SceneFile, work: Work, returning: bool) {
    match work {
        Work::Layer { layer, goes_on } => {
            let layers = match &mut file.mirror {
                Some(mirror) if returning => &mut mirror.perturbation,
                _ => &mut file.layers,
            };
            if goes_on {
                layers.pop();
            }
            layers.push(layer);
        }
        Work::Packet(packet, joins) => {
            file.initial = None;
            if !joins {
                file.packets.clear();
            }
            file.packets.push(packet);
        }
        Work::Pulse(pulse, joins) => {
            file.initial = None;
            if !joins {
                file.pulses.clear();
            }
            file.pulses.push(pulse);
        }
        Work::Source(source) => file.sources.push(source),
        Work::Mirror(transducers) => mirror_tool::apply(file, transducers),
        Work::Probe(at) => {
            let name = free_name(file, "probe");
            file.detectors.push(DetectorFile {
                name,
                region: RegionFile::Point(at),
                measure: Some(Measure::Value),
            });
        }
        Work::Region(min, max) => {
            let name = free_name(file, "region");
            let (mut min, mut max) = (min.to_vec(), max.to_vec());
            if let Some(planes) = file.grid.size.get(2) {
                min.push(0.0);
                max.push(planes.saturating_sub(1) as f64 * file.grid.spacing);
            }
            file.detectors.push(DetectorFile {
                name,
                region: RegionFile::Box { min, max },
                measure: None,
            });
        }
        Work::Bring(handle, to) => handles::bring(file, &handle, to),
        Work::Shift(part, by) => handles::shift(file, part, by),
        Work::Remove(part) => handles::remove(file, part),
    }
}

/// A name for a detector that none has.
fn free_name(file: &SceneFile, word: &str) -> String {
    let free = |name: &String| file.detectors.iter().all(|detector| detector.name != *name);
    (1..=file.detectors.len() + 1)
        .map(|n| format!("{word} {n}"))
        .find(free)
        .unwrap_or_default()
}

/// What the tool in hand shows over the picture.
pub fn draw(painter: &Painter, camera: &Camera, tools: &Tools, area: Rect, ground: &Ground<'_>, pointer: Option<Pos2>) {
    arrange::draw(painter, camera, tools, area, ground);
    let Some(pointer) = pointer else { return };
    match (&tools.tool, &tools.gesture) {
        (Tool::Brush, gesture) => {
            let radius = tools.paint.radius as f32 * camera.scale();
            let stroke = Stroke::new(1.5, OVER_PICTURE);
            match gesture {
                Some(Gesture::Paint {
                    form: Form::Box,
                    points,
                    ..
                }) => {
                    let rect = Rect::from_two_pos(camera.point_at(area, points[0]), pointer);
                    painter.rect_stroke(rect, 0.0, stroke, egui::StrokeKind::Middle);
                }
                _ => {
                    painter.circle_stroke(pointer, radius.max(2.0), stroke);
                }
            }
        }
        (Tool::Packet, Some(Gesture::Packet { from, .. })) => arrow(painter, camera, area, ground, *from, pointer),
        (Tool::Mirror, Some(Gesture::Mirror { from })) => {
            mirror_tool::draw(painter, camera, area, tools.placing.form, *from, pointer);
        }
        _ => {}
    }
}

/// The packet's arrow with k, wavelength and energy; red near the band's edge, where a packet no longer moves as it is pushed.
fn arrow(painter: &Painter, camera: &Camera, area: Rect, ground: &Ground<'_>, from: [f64; 2], pointer: Pos2) {
    let start = camera.point_at(area, from);
    let k = momentum(ground, pointer - start);
    let a = ground.spacing;
    let beyond = k.iter().any(|k| k.abs() * a > FRAC_PI_2);
    let color = if beyond { theme::of(true).wrong } else { OVER_PICTURE };
    painter.circle_filled(start, 3.0, color);
    painter.arrow(start, pointer - start, Stroke::new(2.0, color));
    let size = k[0].hypot(k[1]);
    let mut text = format!("k = {}", figure(size, 3));
    if size > 0.0 {
        text.push_str(&format!("   λ = {}", ground.length.show(2.0 * PI / size, 3)));
    }
    if let Some(hopping) = ground.hopping {
        // E = Σ 2J(1 − cos kᵢa) above the band's lower edge.
        let energy: f64 = k.iter().map(|k| 2.0 * hopping * (1.0 - (k * a).cos())).sum();
        text.push_str(&format!("   E = {}", figure(energy, 3)));
    }
    if beyond {
        text.push_str("   beyond the middle of the band: it will be slower, not faster");
    }
    let galley = painter.layout_no_wrap(text, FontId::proportional(13.0), color);
    let rect = Align2::LEFT_BOTTOM.anchor_size(start + vec2(12.0, -12.0), galley.size() + vec2(16.0, 8.0));
    let rect = rect.translate(vec2(
        (area.right() - 8.0 - rect.right()).min(0.0),
        (area.top() + 8.0 - rect.top()).max(0.0),
    ));
    painter.rect_filled(rect, 4.0, egui::Color32::from_black_alpha(190));
    painter.galley(rect.min + vec2(8.0, 4.0), galley, color);
}

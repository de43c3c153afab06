//! What a tool does while the pointer is down, and what it shows of it over the picture.

use super::arrange;
use super::camera::Camera;
use super::mirror_tool;
use super::number::tidy;
use super::pinch;
use super::sound_panel::loud;
use super::theme::{self, over_picture};
use super::tools::{Ground, Tool, Tools, Work};
use super::view_state::ViewState;
use super::widgets::figure;
use crate::scene::file::{PacketFile, PulseFile, ShapeFile, SignalFile, SourceFile, SourcePlace};
use egui::{Align2, Event, FontId, Painter, Pos2, Rect, Response, Stroke, TouchPhase, Ui, vec2};
use std::f64::consts::{FRAC_PI_2, PI};

/// Points that an arrow is long where its momentum reaches the middle of the band, π/2a.
const ARROW: f32 = 160.0;

/// What the brush's gesture makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Free,
    Line,
    Box,
}

/// A gesture under way.
#[derive(Clone, Debug)]
pub(super) enum Gesture {
    Packet {
        from: [f64; 2],
        joins: bool,
    },
    Paint {
        form: Form,
        erases: bool,
        points: Vec<[f64; 2]>,
        begun: bool,
        press: Press,
    },
    Mirror {
        from: [f64; 2],
    },
}

/// How hard a pen presses in the course of a stroke.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Press {
    sum: f64,
    count: u32,
}

impl Press {
    /// Takes over what the events of a frame say; screens and systems that tell no pressure leave it as it is.
    fn feel(&mut self, events: &[Event]) {
        for event in events {
            if let Event::Touch {
                force: Some(force),
                phase: TouchPhase::Start | TouchPhase::Move,
                ..
            } = event
            {
                self.sum += f64::from(force.clamp(0.0, 1.0));
                self.count += 1;
            }
        }
    }

    /// By how much the line is wider than it was set: half the pressure leaves it, none and all of it make it 0.4 and 1.6 times as wide.
    fn width(self) -> f64 {
        if self.count == 0 {
            return 1.0;
        }
        0.4 + 1.2 * self.sum / f64::from(self.count)
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
    let pinched = pinch::holds(ui, area, response);
    let tools = &mut view.tools;
    if tools.tool == Tool::Move {
        return;
    }
    if response.hovered() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::Crosshair);
    }
    if pinched || is_taken_away(ui, tools) {
        tools.gesture = None;
        arrange::let_go(tools);
        return;
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
                let erases = tools.paint.erases != ui.input(|input| input.pointer.secondary_down());
                let ends = [site_at(origin.unwrap_or(pointer)), site_at(pointer)];
                ui.input(|input| paint(tools, ground, (form, erases), ends, &input.events));
            } else {
                // A finger that was lifted before it moved.
                if let Some(pointer) = pointer.filter(|_| response.clicked() && tools.gesture.is_none()) {
                    let (erases, at) = (tools.paint.erases, site_at(pointer));
                    ui.input(|input| paint(tools, ground, (Form::Free, erases), [at, at], &input.events));
                }
                tools.gesture = None;
            }
        }
    }
}

/// Whether the system has taken the touch away that had the tool (a palm, a swipe from the edge): it lets no button go, so that what is under way
/// has no end of its own. It lasts until something is pressed anew.
fn is_taken_away(ui: &Ui, tools: &mut Tools) -> bool {
    let cancelled = |event: &Event| {
        let Event::Touch { phase, .. } = event else {
            return false;
        };
        *phase == TouchPhase::Cancel
    };
    ui.input(|input| {
        let goes = tools.taken_away && input.pointer.any_down() && !input.pointer.any_pressed();
        tools.taken_away = goes || input.events.iter().any(cancelled);
    });
    tools.taken_away
}

/// Whether the brush is on the picture. A finger paints once it moves: until then a second one may follow.
fn brushes(ui: &Ui, response: &Response) -> bool {
    response.is_pointer_button_down_on()
        && ui.input(|input| {
            let waits = input.any_touches() && !input.pointer.is_decidedly_dragging();
            (input.pointer.primary_down() && !waits) || input.pointer.secondary_down()
        })
}

/// One frame of the brush's gesture, which began at `from` and is at `to` now.
fn paint(
    tools: &mut Tools,
    ground: &Ground<'_>,
    (form, erases): (Form, bool),
    [from, to]: [[f64; 2]; 2],
    events: &[Event],
) {
    if !matches!(&tools.gesture, Some(Gesture::Paint { .. })) {
        if !ground.holds(from) {
            return;
        }
        tools.gesture = Some(Gesture::Paint {
            form,
            erases,
            points: vec![from],
            begun: false,
            press: Press::default(),
        });
    }
    let Some(Gesture::Paint {
        form,
        erases,
        points,
        begun,
        press,
    }) = &mut tools.gesture
    else {
        return;
    };
    press.feel(events);
    let width = press.width();
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
            radius: tidy(tools.paint.radius * width * ground.spacing),
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
            let mut source = SourceFile::new(
                SourcePlace::Point(at),
                like.map_or(SignalFile::Sine { frequency }, |source| source.signal.clone()),
                like.map_or_else(|| loud(speed, frequency, ground.rank()), |source| source.amplitude),
            );
            if let Some(like) = like {
                (source.pattern, source.direction) = (like.pattern, like.direction.clone());
            }
            Work::Source(source)
        }
        _ => Work::Probe(at),
    }
}

/// What the tool in hand shows over the picture.
pub fn draw(painter: &Painter, camera: &Camera, tools: &Tools, area: Rect, ground: &Ground<'_>, pointer: Option<Pos2>) {
    arrange::draw(painter, camera, tools, area, ground);
    let Some(pointer) = pointer else { return };
    match (&tools.tool, &tools.gesture) {
        (Tool::Brush, gesture) => {
            let radius = tools.paint.radius as f32 * camera.scale();
            let stroke = Stroke::new(1.5, over_picture());
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
    let color = if beyond { theme::marks().wrong } else { over_picture() };
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
    painter.rect_filled(rect, 4.0, theme::shade());
    painter.galley(rect.min + vec2(8.0, 4.0), galley, color);
}

//! The strip of tools at the left of the picture, and what the brush paints.

use super::layers_panel::{limits, meaning};
use super::mirror_tool;
use super::number::number_in;
use super::theme;
use super::tools::{Row, TOOLS, Tool, Tools, equation};
use super::widgets::{Explained, choice};
use crate::physics::Sets;
use crate::scene::SceneFile;
use egui::{Align2, DragValue, Rect, Ui, vec2};

/// Points of a tool's button, and between two of them.
const BUTTON: f32 = 30.0;
const GAP: f32 = 4.0;

/// Shows the tools as a strip at the left of what is left of the room: the picture begins beside it.
pub fn show(ui: &mut Ui, tools: &mut Tools, file: &SceneFile) {
    let sound = file.acoustic.is_some();
    let all: Vec<&Row> = TOOLS.iter().filter(|row| row.fits[usize::from(sound)]).collect();
    let height = ui.available_height();
    // As many as stand one below the other; in a low window the others stand beside them.
    let rows = (((height - GAP) / (BUTTON + GAP)) as usize).max(1);
    let columns = all.len().div_ceil(rows);
    egui::Panel::left("tools")
        .resizable(false)
        .exact_size(columns as f32 * (BUTTON + GAP) + GAP)
        .frame(egui::Frame::new().fill(theme::palette(ui).panel).inner_margin(GAP))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(GAP, GAP);
            ui.horizontal_top(|ui| {
                for column in all.chunks(rows) {
                    ui.vertical(|ui| {
                        for row in column {
                            button(ui, row, &mut tools.tool);
                        }
                    });
                }
            });
        });
}

/// Shows what the tool in hand can be told, over the top of `area`.
pub fn settings(ui: &mut Ui, area: Rect, tools: &mut Tools, file: &SceneFile) {
    let mut settings = |id, contents: &mut dyn FnMut(&mut Ui)| {
        // Below clock and colours.
        let at = area.center_top() + vec2(0.0, 40.0);
        plate(ui, id, Align2::CENTER_TOP, at, |ui| {
            ui.horizontal(contents);
        });
    };
    match tools.tool {
        Tool::Mirror => settings(MIRROR, &mut |ui| mirror_tool::settings(ui, &mut tools.placing)),
        Tool::Brush => settings(BRUSH, &mut |ui| brush(ui, tools, file)),
        _ => {}
    }
}

/// The plates of the tools that can be told something, by name.
const MIRROR: &str = "mirror";
const BRUSH: &str = "brush";

fn plate_id(name: &str) -> egui::Id {
    egui::Id::unique(("plate", name))
}

/// Where the plate of a tool stood in the frame before; nothing of a tool that has none.
#[must_use]
pub fn settings_rect(ctx: &egui::Context, tool: Tool) -> Option<Rect> {
    let name = match tool {
        Tool::Mirror => MIRROR,
        Tool::Brush => BRUSH,
        _ => return None,
    };
    let id = plate_id(name);
    ctx.memory(|memory| {
        let layer = egui::LayerId::new(egui::Order::Middle, id);
        let is_seen = memory.areas().visible_last_frame(&layer);
        memory.area_rect(id).filter(|_| is_seen)
    })
}

fn button(ui: &mut Ui, row: &Row, tool: &mut Tool) {
    let button =
        egui::Button::selectable(*tool == row.tool, theme::icon(row.icon, 17.0)).min_size(vec2(BUTTON, BUTTON));
    let response = ui.add(button).accessible_name(format!("Tool: {}", row.title));
    if response.clicked() {
        *tool = row.tool;
    }
    response.on_hover_ui(|ui| {
        ui.strong(row.title);
        ui.label(row.about);
    });
}

fn plate(ui: &mut Ui, name: &str, pivot: Align2, at: egui::Pos2, contents: impl FnOnce(&mut Ui)) {
    egui::Area::new(plate_id(name))
        .order(egui::Order::Middle)
        .pivot(pivot)
        .fixed_pos(at)
        .show(ui.ctx(), |ui| {
            let fill = theme::palette(ui).panel.gamma_multiply(0.92);
            egui::Frame::new()
                .fill(fill)
                .corner_radius(6)
                .inner_margin(4)
                .show(ui, contents);
        });
}

fn brush(ui: &mut Ui, tools: &mut Tools, file: &SceneFile) {
    let equation = equation(file);
    let paint = &mut tools.paint;
    let all = Sets::ALL
        .iter()
        .filter(|(_, sets)| sets.fits(equation))
        .map(|(word, sets)| (*sets, (*word).to_owned(), String::new()));
    let before = paint.sets;
    ui.scope(|ui| {
        ui.set_max_width(120.0);
        choice(ui, "What the brush paints", &mut paint.sets, all);
    });
    if paint.sets != before {
        // A value that shows: another one than the background's.
        paint.value = match paint.sets {
            Sets::Speed => file.acoustic.as_ref().map_or(343.0, |acoustic| 0.5 * acoustic.speed),
            Sets::Density => file.acoustic.as_ref().map_or(1.2, |acoustic| 4.0 * acoustic.density),
            Sets::Impedance | Sets::Attenuation => 10.0,
            Sets::Flux => 0.01,
            Sets::Interaction => 1.0,
            Sets::Potential | Sets::Absorption | Sets::Wall | Sets::Hopping => 0.5,
        };
    }
    if paint.sets != Sets::Wall {
        let speed = (paint.value.abs() / 100.0).max(1e-3);
        let (unit, about) = meaning(paint.sets, file.acoustic.is_none());
        let value = number_in(&mut paint.value, unit).speed(speed).range(limits(paint.sets));
        ui.add(value.prefix("value "))
            .accessible_name("Value that the brush paints")
            .explained(about);
    }
    let radius = DragValue::new(&mut paint.radius)
        .speed(0.1)
        .range(0.5..=256.0)
        .max_decimals(1);
    ui.add(radius.prefix("radius ").suffix(" sites"))
        .accessible_name("Radius of the brush in sites")
        .explained("Half the width of the line, 0.5 to 256 sites. Left paints, right takes away; Shift draws a straight line, Ctrl a box.");
    ui.checkbox(&mut paint.erases, "take away")
        .on_hover_text("For fingers and pens, which have no right button: the brush takes away what was painted.");
}

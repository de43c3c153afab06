//! The gain of a mirror among the plots: focus over rms for each way back that was taken, over transducers × record, and the law √(M·T).

use super::plots::still;
use super::theme;
use super::units::Units;
use crate::engine::mirror::gain::law;
use crate::engine::{Frame, Replay};
use crate::physics::MirrorMethod;
use egui::{FontId, Ui, vec2};
use egui_plot::{Line, LineStyle, Plot, PlotBounds, PlotPoints, Points};

/// Points of the dashed line.
const PIECES: u32 = 64;
/// Height of the caption.
const CAPTION: f32 = 18.0;

/// The ways back that turned time in the same way as the scene does now.
fn alike(frame: &Frame) -> Vec<Replay> {
    let now = frame.scenario.as_ref().and_then(|scenario| scenario.mirror());
    let method = now.map_or(MirrorMethod::Reversal, |mirror| mirror.method);
    let all = frame.mirror.iter().flat_map(|mirror| mirror.replays.iter());
    all.filter(|replay| replay.method == method).copied().collect()
}

/// Whether there is more than one point to compare.
#[must_use]
pub fn offered(frame: &Frame) -> bool {
    frame.mirror.as_ref().is_some_and(|mirror| mirror.replays.len() > 1)
}

/// Shows the plot.
pub fn show(ui: &mut Ui, frame: &Frame, units: &Units, size: egui::Vec2) {
    let palette = theme::palette(ui);
    let replays = alike(frame);
    let x = |replay: &Replay| replay.playing as f64 * replay.record * units.time.per;
    let points: Vec<[f64; 2]> = replays.iter().map(|replay| [x(replay), replay.contrast]).collect();
    let right = 1.08 * points.iter().fold(0.0f64, |most, point| most.max(point[0]));
    let mut top = points.iter().fold(0.0f64, |most, point| most.max(point[1]));
    // a√(M·T) with T in the scene's unit.
    let dashed: Option<Vec<[f64; 2]>> = law(&replays).filter(|_| right > 0.0).map(|a| {
        let at = |n: u32| f64::from(n) / f64::from(PIECES) * right;
        let value = |x: f64| a * (x / units.time.per).sqrt();
        (0..=PIECES).map(|n| [at(n), value(at(n))]).collect()
    });
    top = dashed.iter().flatten().fold(top, |most, point| most.max(point[1]));
    let heading = format!("Focus over rms over {}", units.time.after("M·T"));
    let heading = egui::RichText::new(heading).font(FontId::proportional(11.5));
    ui.add(egui::Label::new(heading.color(palette.weak)).truncate())
        .on_hover_text("M transducers play a record of length T. Dashed: as √(M·T), through these points.");
    let shown = still(Plot::new("gain"), size - vec2(0.0, CAPTION), palette).show(ui, |plot| {
        if let Some(dashed) = dashed {
            let line = Line::new("√(M·T)", PlotPoints::from(dashed)).color(palette.weak);
            plot.line(line.style(LineStyle::dashed_loose()).width(1.5));
        }
        let points = Points::new("ways back", PlotPoints::from(points));
        plot.points(points.radius(4.0).color(palette.accent));
        plot.set_plot_bounds(PlotBounds::from_min_max(
            [0.0, 0.0],
            [right.max(1e-12), 1.08 * top.max(1e-12)],
        ));
    });
    shown
        .response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Gain of the mirror"));
}

//! Pictures of a mirror among the plots: the transducers' signals (sensor × time), and the focus before and after.

use super::theme;
use super::units::{Unit, Units};
use super::widgets::figure;
use crate::colormap::{self, Colormap, Levels};
use crate::engine::{Frame, MirrorFrame, Moment, Phase, Signals};
use crate::physics::{Initial, Model, Signal};
use crate::scene::Scenario;
use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{Align2, Color32, ColorImage, FontId, Rect, TextureHandle, TextureOptions, Ui, pos2, vec2};
use std::sync::Arc;

/// Height of a caption.
const CAPTION: f32 = 18.0;

/// The focus now, in a line: how wide, also in wavelengths, where it has a width, and how much it stands out. Nothing before the turn, when a wave is only where it began.
#[must_use]
pub fn summary(frame: &Frame, unit: Unit) -> String {
    let back = frame
        .mirror
        .as_ref()
        .filter(|mirror| mirror.status.phase == Phase::Replay);
    let found = back.and_then(|mirror| mirror.refocus);
    let (Some((_, _, found)), Some(scenario)) = (found, &frame.scenario) else {
        return String::new();
    };
    let width = match (found.width, wavelength(scenario)) {
        (None, _) => String::new(),
        (Some(width), Some(wavelength)) => {
            format!("{} = {} λ wide, ", unit.show(width, 3), figure(width / wavelength, 2))
        }
        (Some(width), None) => format!("{} wide, ", unit.show(width, 3)),
    };
    format!("focus {width}{} × rms", figure(found.contrast, 3))
}

/// The wavelength of what a scene's wave begins with; `None` where it has none of its own.
fn wavelength(scenario: &Scenario) -> Option<f64> {
    match scenario.model() {
        Model::Acoustic(acoustic) => match scenario.sources().first()?.signal {
            Signal::Ricker { frequency } | Signal::Sine { frequency } | Signal::Burst { frequency, .. } => {
                Some(acoustic.speed / frequency)
            }
            Signal::Chirp { .. } | Signal::Recording(_) => None,
        },
        Model::Quantum(_) => match scenario.initial() {
            Initial::Packets(packets) => {
                let k = packets.first()?.momentum;
                let size = k.iter().map(|k| k * k).sum::<f64>().sqrt();
                (size > 0.0).then(|| std::f64::consts::TAU / size)
            }
            _ => None,
        },
    }
}

/// What is recorded and what is played, one below the other.
pub fn signals(ui: &mut Ui, frame: &Frame, size: egui::Vec2) {
    let Some(mirror) = &frame.mirror else { return };
    let (area, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Signals of the transducers"));
    let map = if theme::is_paper() {
        colormap::auto_on_paper(colormap::Kind::Diverging)
    } else {
        colormap::auto(colormap::Kind::Diverging)
    };
    let height = (area.height() - 2.0 * CAPTION).max(2.0) / 2.0;
    for (n, (name, signals)) in ["recorded", "played"].into_iter().zip(&mirror.signals).enumerate() {
        let top = area.top() + n as f32 * (height + CAPTION);
        let count = mirror.sites[n].len();
        let line = format!("{name}: {} over time", crate::units::counted(count as u64, "site"));
        caption(ui, pos2(area.left(), top), area.width(), &line);
        let rect = Rect::from_min_size(pos2(area.left(), top + CAPTION), vec2(area.width(), height - 4.0));
        ui.painter().rect_filled(rect, 0.0, ground(ui, map));
        if signals.value.is_empty() {
            continue;
        }
        if !signals.ends.is_empty() {
            bands(ui, signals, rect);
            continue;
        }
        let texture = texture(ui, ("signals", n, map.id), Arc::as_ptr(signals) as usize, || {
            picture_of(signals, map)
        });
        // The texture ends where the whole record would.
        draw(ui, &texture, rect, Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)));
    }
}

/// The signals of a few transducers, each at its own scale: what swings faster than a pixel is a band, not the beat of its period with the pixels.
fn bands(ui: &Ui, signals: &Signals, rect: Rect) {
    let (pixels, rows) = (rect.width().floor().max(1.0) as usize, signals.size[1]);
    let height = rect.height() / rows as f32;
    let color = theme::palette(ui).accent;
    let mut mesh = egui::Mesh::default();
    for (n, row) in signals.ends.chunks(signals.size[0].max(1)).enumerate() {
        let middle = rect.top() + (n as f32 + 0.5) * height;
        let swing = 0.5 * height - 1.0;
        for (x, ends) in columns(row, pixels).into_iter().enumerate() {
            let Some([low, high]) = ends else { continue };
            let [bottom, top] = [low, high].map(|value| middle - swing * value);
            let left = rect.left() + x as f32;
            // Silence is a line.
            let part = Rect::from_min_max(pos2(left, top - 0.5), pos2(left + 1.0, bottom + 0.5));
            mesh.add_colored_rect(part, color);
        }
    }
    ui.painter().add(mesh);
}

/// The least and the greatest value in each of so many columns, as parts of the largest of all; `None` where there is no record yet.
fn columns(row: &[[f32; 2]], count: usize) -> Vec<Option<[f32; 2]>> {
    let known = || row.iter().filter(|[low, high]| low <= high);
    let largest = known().fold(0.0f32, |top, [low, high]| top.max(-low).max(*high));
    let scale = if largest > 0.0 { largest.recip() } else { 0.0 };
    let column = |x: usize| {
        let first = x * row.len() / count;
        let last = ((x + 1) * row.len() / count).max(first + 1).min(row.len());
        let part = row[first..last].iter().filter(|[low, high]| low <= high);
        part.copied()
            .reduce(|[a, b], [low, high]| [a.min(low), b.max(high)])
            .map(|ends| ends.map(|value| scale * value))
    };
    (0..count).map(column).collect()
}

/// Where there is no picture yet: the colour of nothing.
fn ground(ui: &Ui, map: &Colormap) -> egui::Color32 {
    if map.is_light() {
        let [red, green, blue] = map.table()[if map.kind == colormap::Kind::Diverging { 128 } else { 0 }];
        egui::Color32::from_rgb(red, green, blue)
    } else {
        theme::palette(ui).canvas
    }
}

/// The wave at t = 0 and the best focus so far, around the place where it began.
pub fn focus(ui: &mut Ui, frame: &Frame, scenario: &Scenario, map: &'static Colormap, size: egui::Vec2) {
    let Some(mirror) = &frame.mirror else { return };
    let (area, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Focus before and after"));
    let unit = Units::of(scenario, frame.clock.time_step).time;
    let shown = moments(mirror);
    let width = (area.width() - 8.0 * (shown.len() - 1) as f32) / shown.len() as f32;
    for (place, (n, moment)) in shown.into_iter().enumerate() {
        let left = area.left() + place as f32 * (width + 8.0);
        let rect = Rect::from_min_max(pos2(left, area.top() + CAPTION), pos2(left + width, area.bottom()));
        let text = match (n, moment) {
            (0, _) => "before: t = 0".to_owned(),
            (_, Some(moment)) => format!("after: t = {}", unit.show(moment.time, 5)),
            (_, None) => "after: still to come".to_owned(),
        };
        caption(ui, pos2(left, area.top()), width, &text);
        ui.painter().rect_filled(rect, 0.0, ground(ui, map));
        let Some(moment) = moment else { continue };
        let Some((part, side)) = around(mirror, scenario, moment) else {
            continue;
        };
        let texture = texture(ui, ("focus", n, map.id), Arc::as_ptr(moment) as usize, || {
            field_of(moment, map)
        });
        // The part keeps its proportions.
        let scale = (rect.width() / side.x).min(rect.height() / side.y);
        let place = Align2::CENTER_CENTER.align_size_within_rect(side * scale, rect);
        draw(ui, &texture, place, part);
    }
}

/// The pictures that the focus is shown with: at t = 0, unless nothing was there, and at its best.
fn moments(mirror: &MirrorFrame) -> Vec<(usize, &Option<Arc<Moment>>)> {
    // A source has not played yet: an empty picture would only say so.
    let is_silent = |moment: &Moment| moment.image.value.iter().all(|value| *value == 0.0);
    let mut all: Vec<_> = mirror.pictures.iter().enumerate().collect();
    if mirror.pictures[0].as_deref().is_some_and(is_silent) {
        all.remove(0);
    }
    all
}

/// The part of a picture around the focus, in coordinates of the texture, and its size in texels.
fn around(mirror: &MirrorFrame, scenario: &Scenario, moment: &Moment) -> Option<(Rect, egui::Vec2)> {
    let image = &moment.image;
    let [width, height] = image.size.map(|n| n as f32);
    if image.value.is_empty() || width < 1.0 || height < 1.0 {
        return None;
    }
    let site = scenario.grid().site(mirror.focus);
    let at = |axis: usize| (site[axis] as f32 - image.origin[axis] as f32 + 0.5) / image.reduction.max(1) as f32;
    // A quarter of the picture's longer side, all of a line's height.
    let half = (width.max(height) / 8.0).max(8.0);
    let rows = if height < 2.0 { 0.5 } else { half };
    let middle = pos2(at(0).clamp(0.0, width), at(1).clamp(0.0, height));
    let part = Rect::from_center_size(middle, vec2(2.0 * half, 2.0 * rows));
    let part = part.intersect(Rect::from_min_size(pos2(0.0, 0.0), vec2(width, height)));
    if !part.is_positive() {
        return None;
    }
    // Row 0 stands at the bottom.
    let uv = Rect::from_min_max(
        pos2(part.left() / width, 1.0 - part.bottom() / height),
        pos2(part.right() / width, 1.0 - part.top() / height),
    );
    let size = if height < 2.0 {
        vec2(part.width(), part.width() / 2.0)
    } else {
        part.size()
    };
    Some((uv, size))
}

/// A line over a picture, cut off where that ends.
fn caption(ui: &Ui, at: egui::Pos2, width: f32, text: &str) {
    let color = theme::palette(ui).weak;
    let mut job = LayoutJob::single_section(text.to_owned(), TextFormat::simple(FontId::proportional(11.5), color));
    job.wrap = TextWrapping::truncate_at_width(width);
    let galley = ui.painter().layout_job(job);
    ui.painter().galley(at, galley, color);
}

fn draw(ui: &Ui, texture: &TextureHandle, rect: Rect, uv: Rect) {
    ui.painter().image(texture.id(), rect, uv, Color32::WHITE);
}

/// The texture of a picture, made anew where that is another one.
fn texture(
    ui: &Ui,
    name: (&'static str, usize, &'static str),
    key: usize,
    make: impl FnOnce() -> ColorImage,
) -> TextureHandle {
    let id = egui::Id::unique(("mirror", name));
    if let Some((known, handle)) = ui.data(|data| data.get_temp::<(usize, TextureHandle)>(id))
        && known == key
    {
        return handle;
    }
    let handle = ui.ctx().load_texture(name.0, make(), TextureOptions::LINEAR);
    ui.data_mut(|data| data.insert_temp(id, (key, handle.clone())));
    handle
}

fn color([r, g, b]: [u8; 3]) -> Color32 {
    Color32::from_rgb(r, g, b)
}

/// Each transducer at its own brightness: what one hears loudly must not hide what another hears at all.
fn picture_of(signals: &Signals, map: &Colormap) -> ColorImage {
    let pixels = signals
        .value
        .chunks(signals.size[0].max(1))
        .flat_map(|row| {
            let top = row.iter().fold(0.0f32, |top, value| top.max(value.abs()));
            let mapping = Levels { low: -top, high: top }.mapping(map.kind);
            row.iter().map(move |value| color(map.table()[mapping.entry(*value)]))
        })
        .collect();
    ColorImage::new(signals.size, pixels)
}

/// A field as the picture shows it, each at its own brightness.
fn field_of(moment: &Moment, map: &Colormap) -> ColorImage {
    let image = &moment.image;
    let top = image.value.iter().fold(0.0f32, |top, value| top.max(value.abs()));
    let low = if map.kind == colormap::Kind::Diverging {
        -top
    } else {
        0.0
    };
    let levels = Levels { low, high: top };
    let mapping = levels.mapping(map.kind);
    let pixels = image
        .value
        .chunks(image.size[0].max(1))
        .enumerate()
        .rev()
        .flat_map(|(row, values)| {
            let first = row * image.size[0];
            values
                .iter()
                .enumerate()
                .map(move |(n, value)| match image.phase.get(first + n) {
                    Some(phase) => color(colormap::phase_color(
                        if map.kind == colormap::Kind::Cyclic {
                            map
                        } else {
                            colormap::auto(colormap::Kind::Cyclic)
                        },
                        *phase,
                        levels.brightness(*value),
                    )),
                    None => color(map.table()[mapping.entry(*value)]),
                })
        });
    ColorImage::new(image.size, pixels.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wavelengths_are_those_of_sources_and_packets() {
        let of = |preset: &str| {
            let text = crate::scene::presets::find(preset).unwrap().text;
            wavelength(&crate::solver::read_scene_text(text, None, &[]).unwrap().1)
        };
        assert!((of("ring-mirror").unwrap() - 343.0 / 1072.0).abs() < 1e-12);
        assert!((of("echo").unwrap() - std::f64::consts::TAU / 0.7).abs() < 1e-12);
        assert_eq!(of("pond"), None);
    }

    /// A source has not played at t = 0: what comes together has the room of an empty picture beside it.
    #[test]
    fn a_silent_start_has_no_picture() {
        let text = crate::scene::presets::find("ring-mirror").unwrap().text;
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let moment = |value: f32| {
            let image = crate::solver::FieldImage {
                size: [2, 1],
                reduction: 1,
                value: vec![0.0, value],
                ..crate::solver::FieldImage::default()
            };
            let (time, score) = (0.0, 0.0);
            Some(Arc::new(Moment { time, score, image }))
        };
        let mut mirror = MirrorFrame {
            status: crate::engine::MirrorStatus {
                phase: Phase::Record,
                turn: 10,
                turned: false,
                heard: 0,
                playing: 0,
            },
            present: Arc::new(scenario),
            sites: [Arc::from([]), Arc::from([])],
            focus: 0,
            refocus: None,
            signals: <[Arc<Signals>; 2]>::default(),
            replays: Arc::from([]),
            pictures: [moment(0.0), moment(1.0)],
        };
        let places = |mirror: &MirrorFrame| moments(mirror).iter().map(|(n, _)| *n).collect::<Vec<_>>();
        assert_eq!(places(&mirror), [1]);
        mirror.pictures[0] = moment(1.0);
        assert_eq!(places(&mirror), [0, 1]);
        mirror.pictures[0] = None;
        assert_eq!(places(&mirror), [0, 1]);
    }

    /// A square wave of 2.02 texels a period, at any width of the plot: no beats of its period with texels and pixels.
    #[test]
    fn signals_that_are_too_fast_for_the_pixels_are_bands() {
        // Texels within a half period have one sign, those with a change of sign both.
        let sign = |at: f32| if (at / 1.01).floor() % 2.0 == 0.0 { 3.0 } else { -3.0 };
        let texel = |n: u16| {
            let [a, b] = [0.0, 0.999].map(|part| sign(f32::from(n) + part));
            [f32::min(a, b), f32::max(a, b)]
        };
        let row: Vec<[f32; 2]> = (0..512).map(texel).collect();
        for width in [120, 200, 250] {
            let columns = columns(&row, width);
            assert!(columns.iter().all(|ends| *ends == Some([-1.0, 1.0])), "{width}");
        }
        // A slow wave is a line, silence one in the middle, and what is still to come nothing.
        let none = [f32::INFINITY, f32::NEG_INFINITY];
        assert_eq!(
            columns(&[[2.0, 2.0], [-4.0, -4.0], [0.0, 0.0], none], 4),
            [Some([0.5, 0.5]), Some([-1.0, -1.0]), Some([0.0, 0.0]), None]
        );
        assert_eq!(columns(&[[0.0, 0.0]], 2), [Some([0.0, 0.0]); 2]);
    }

    #[test]
    fn every_transducer_has_its_own_brightness() {
        let signals = Signals {
            size: [2, 2],
            steps: 2,
            filled: 2,
            value: vec![1.0, -1.0, 1e-6, 0.0],
            ends: Vec::new(),
        };
        let map = colormap::auto(colormap::Kind::Diverging);
        let image = picture_of(&signals, map);
        assert_eq!(image.pixels[0], image.pixels[2]);
        assert_ne!(image.pixels[0], image.pixels[1]);
        assert_eq!(image.pixels[3], color(map.table()[128]));
    }
}

//! The space–time carpet: the line cut over the whole run, place across and time upwards.

use super::theme;
use super::units::{Along, Units};
use super::view_state::{Cut, ViewState};
use super::widgets::{axis_label, figure, round_above};
use crate::colormap::{Colormap, Kind, Levels, dimmed, phase_entry};
use crate::engine::Frame;
use crate::scene::scenario::Quantity;
use egui::{Align2, Color32, ColorImage, FontId, Rect, Stroke, TextureHandle, Ui, pos2, vec2};

/// Most columns; more sites share one.
const COLUMNS: usize = 512;

/// Rows kept; when there are more, each two become one.
const ROWS: usize = 512;

/// Room for the numbers of the axes.
const LEFT: f32 = 56.0;
const BELOW: f32 = 18.0;

/// What the rows are of.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Subject {
    run: u64,
    quantity: Option<Quantity>,
    cut: Cut,
    /// Row or column of sites.
    at: usize,
    /// Sites along the cut.
    sites: usize,
}

struct Row {
    /// Of its first picture.
    time: f64,
    /// NaN where the picture did not reach.
    values: Vec<f32>,
    phases: Vec<f32>,
}

impl Row {
    /// Keeps of each place the larger |value| with its sign and phase: a mean would extinguish waves, and a row left out those that pass between two others.
    fn join(&mut self, other: &Self) {
        for (n, (value, next)) in self.values.iter_mut().zip(&other.values).enumerate() {
            if value.is_nan() || next.abs() > value.abs() {
                *value = *next;
                if let (Some(phase), Some(next)) = (self.phases.get_mut(n), other.phases.get(n)) {
                    *phase = *next;
                }
            }
        }
    }
}

/// The rows of one run along one cut.
#[derive(Default)]
pub struct Carpet {
    subject: Option<Subject>,
    rows: Vec<Row>,
    /// Pictures that share a row.
    stride: usize,
    seen: usize,
    serial: u64,
    last_step: Option<u64>,
    texture: Option<TextureHandle>,
    /// Rows that the texture shows, the oldest first, and with which map and range.
    drawn: Option<(usize, &'static str, Levels)>,
}

impl Carpet {
    /// Takes over the line cut of a frame's picture, if it is a new one.
    pub fn record(&mut self, frame: &Frame, view: &ViewState) {
        let image = &frame.image;
        let Some(scenario) = &frame.scenario else { return };
        if frame.image_serial == self.serial || image.value.is_empty() || image.reduction == 0 {
            return;
        }
        self.serial = frame.image_serial;
        let size = scenario.grid().size();
        let cut = if scenario.grid().rank() == 1 {
            Cut::Row
        } else {
            view.cut
        };
        let along = usize::from(cut == Cut::Column);
        let across = 1 - along;
        let subject = Subject {
            run: frame.run,
            quantity: image.quantity,
            cut,
            at: (view.cut_at.max(0.0) as usize).min(size[across] - 1),
            sites: size[along],
        };
        if self.subject != Some(subject) {
            *self = Self {
                subject: Some(subject),
                stride: 1,
                serial: self.serial,
                texture: self.texture.take(),
                ..Self::default()
            };
        }
        let steps = frame.clock.steps;
        if self.last_step == Some(steps) {
            return;
        }
        self.last_step = Some(steps);
        self.seen += 1;
        let row = row(frame, &subject, [along, across]);
        match self.rows.last_mut() {
            Some(last) if !(self.seen - 1).is_multiple_of(self.stride) => {
                last.join(&row);
                let before = self.rows.len() - 1;
                if let Some((rows, ..)) = &mut self.drawn {
                    *rows = (*rows).min(before);
                }
            }
            _ => self.rows.push(row),
        }
        if self.rows.len() > ROWS {
            let mut rows = std::mem::take(&mut self.rows).into_iter();
            while let Some(mut row) = rows.next() {
                if let Some(next) = rows.next() {
                    row.join(&next);
                }
                self.rows.push(row);
            }
            self.stride *= 2;
            self.drawn = None;
        }
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The texture of the present rows, the oldest first. It is made once, and what is new is written into it.
    fn texture(&mut self, ui: &Ui, map: &'static Colormap, levels: Levels) -> Option<egui::TextureId> {
        let columns = self.rows.first()?.values.len();
        let same = |(_, id, of): &(usize, &'static str, Levels)| *id == map.id && alike(*of, levels);
        let fits = self
            .texture
            .as_ref()
            .is_some_and(|texture| texture.size()[0] == columns);
        let known = self.drawn.filter(|drawn| fits && same(drawn));
        // Rows that stand there keep the range that they were drawn with.
        let (from, levels) = known.map_or((0, levels), |(rows, _, of)| (rows, of));
        if from < self.rows.len() {
            let image = colored(&self.rows[from..], columns, (map, levels));
            let options = egui::TextureOptions::NEAREST;
            let texture = self.texture.take().filter(|_| fits).unwrap_or_else(|| {
                let empty = ColorImage::filled([columns, ROWS + 1], Color32::TRANSPARENT);
                ui.ctx().load_texture("carpet", empty, options)
            });
            self.texture.insert(texture).set_partial([0, from], image, options);
        }
        self.drawn = Some((self.rows.len(), map.id, levels));
        self.texture.as_ref().map(TextureHandle::id)
    }

    /// Draws the carpet with its axes into a rectangle.
    pub fn show(&mut self, ui: &mut Ui, rect: Rect, (map, levels): (&'static Colormap, Levels), frame: &Frame) {
        let (Some(subject), Some(scenario)) = (self.subject, &frame.scenario) else {
            return;
        };
        let levels = self.levels(map, levels);
        let Some(texture) = self.texture(ui, map, levels) else {
            return;
        };
        let plot = Rect::from_min_max(rect.min + vec2(LEFT, 4.0), rect.max - vec2(8.0, BELOW));
        if !plot.is_positive() {
            return;
        }
        let palette = theme::palette(ui);
        let painter = ui.painter_at(rect);
        painter.rect_filled(plot, 0.0, theme::of(true).canvas);
        let filled = self.rows.len() as f32 / (ROWS + 1) as f32;
        // Time goes upwards.
        let shown = Rect::from_min_max(pos2(0.0, filled), pos2(1.0, 0.0));
        painter.image(texture, plot, shown, Color32::WHITE);
        painter.rect_stroke(plot, 0.0, Stroke::new(1.0, palette.line), egui::StrokeKind::Outside);
        let units = Units::of(scenario, frame.clock.time_step);
        let font = FontId::proportional(11.0);
        // Times of the rows that stand there, whatever their distances.
        let marks = ((plot.height() / 28.0) as usize).clamp(2, 9).min(self.rows.len());
        let last = self.rows.last().map_or(0.0, |row| row.time * units.time.per);
        for n in 0..marks {
            let at = n * (self.rows.len() - 1) / (marks - 1).max(1);
            let y = plot.bottom() - (at as f32 + 0.5) / self.rows.len() as f32 * plot.height();
            painter.hline(plot.left() - 4.0..=plot.left(), y, Stroke::new(1.0, palette.weak));
            let text = time_label(self.rows[at].time * units.time.per, last);
            painter.text(
                pos2(plot.left() - 7.0, y),
                Align2::RIGHT_CENTER,
                text,
                font.clone(),
                palette.weak,
            );
        }
        let along = Along::of(
            scenario,
            subject.quantity,
            usize::from(subject.cut == Cut::Column),
            units.length,
        );
        let per = along.unit.per;
        let (low, high) = (along.at(-0.5) * per, along.at(subject.sites as f64 - 0.5) * per);
        let step = round_above((high - low) / f64::from((plot.width() / 64.0).max(1.0)));
        let mut tick = (low / step).ceil() * step;
        while step > 0.0 && tick <= high {
            let x = egui::remap(tick, low..=high, f64::from(plot.left())..=f64::from(plot.right())) as f32;
            painter.vline(x, plot.bottom()..=plot.bottom() + 4.0, Stroke::new(1.0, palette.weak));
            let text = axis_label(tick, step, low.abs().max(high.abs()));
            painter.text(
                pos2(x, plot.bottom() + 5.0),
                Align2::CENTER_TOP,
                text,
                font.clone(),
                palette.weak,
            );
            tick += step;
        }
        let response = ui.interact(rect, ui.scope_id().with("carpet"), egui::Sense::hover());
        let text = format!("Space–time carpet of {} rows", self.rows.len());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &text));
    }

    /// Graphs of |ψ|² come as |ψ| with its phase.
    fn levels(&self, map: &Colormap, levels: Levels) -> Levels {
        let by_phase = self
            .subject
            .is_some_and(|subject| subject.quantity == Some(Quantity::Phase));
        if by_phase && map.kind != Kind::Cyclic {
            Levels {
                low: 0.0,
                high: levels.high * levels.high,
            }
        } else {
            levels
        }
    }

    /// What the carpet shows over what, for its title.
    #[must_use]
    pub fn heading(view: &ViewState, frame: &Frame) -> String {
        let Some(scenario) = &frame.scenario else {
            return String::new();
        };
        let units = Units::of(scenario, frame.clock.time_step);
        let axis = usize::from(view.cut == Cut::Column && scenario.grid().rank() > 1);
        let along = Along::of(scenario, frame.image.quantity, axis, units.length);
        format!("{} across, {} upwards", along.title(), units.time.after("t"))
    }

    /// Squares the rows of a graph that is shown as |ψ|².
    fn squared(values: &mut [f32]) {
        for value in values {
            *value *= *value;
        }
    }
}

/// The label of a row's time: 0 where it is nothing beside the last one, as that of a first picture one step after the start.
fn time_label(time: f64, last: f64) -> String {
    let is_start = time.abs() < 1e-3 * last.abs();
    figure(if is_start { 0.0 } else { time }, 3)
}

/// Whether colours of two ranges differ by less than half a step of a map.
fn alike(a: Levels, b: Levels) -> bool {
    let step = (a.high - a.low).abs() / 512.0;
    (a.high - b.high).abs() <= step && (a.low - b.low).abs() <= step
}

/// Rows as pixels, in their order.
fn colored(rows: &[Row], columns: usize, (map, levels): (&'static Colormap, Levels)) -> ColorImage {
    let mapping = levels.mapping(map.kind);
    let table = map.table();
    let color = |value: f32, phase: Option<&f32>| {
        if value.is_nan() {
            return Color32::TRANSPARENT;
        }
        let [r, g, b] = match phase {
            Some(phase) if map.kind == Kind::Cyclic => {
                let step = (levels.brightness(value) * 255.0 + 0.5) as usize;
                dimmed(table[phase_entry(*phase)], step)
            }
            _ => table[mapping.entry(value)],
        };
        Color32::from_rgb(r, g, b)
    };
    let pixels = rows
        .iter()
        .flat_map(|row| (0..columns).map(move |n| color(row.values[n], row.phases.get(n))))
        .collect();
    ColorImage::new([columns, rows.len()], pixels)
}

/// The cut through a picture, one value a column.
fn row(frame: &Frame, subject: &Subject, [along, across]: [usize; 2]) -> Row {
    let image = &frame.image;
    let columns = subject.sites.min(COLUMNS);
    let texel = |axis: usize, site: usize| {
        let at = site.checked_sub(image.origin[axis])? / image.reduction;
        (at < image.size[axis]).then_some(at)
    };
    let other = texel(across, subject.at);
    let index = |column: usize| {
        let site = (2 * column + 1) * subject.sites / (2 * columns);
        let (here, other) = (texel(along, site)?, other?);
        Some(if along == 0 {
            here + image.size[0] * other
        } else {
            other + image.size[0] * here
        })
    };
    let pick = |values: &[f32]| -> Vec<f32> {
        (0..columns)
            .map(|column| index(column).and_then(|at| values.get(at).copied()).unwrap_or(f32::NAN))
            .collect()
    };
    let mut values = pick(&image.value);
    let flat = frame
        .scenario
        .as_ref()
        .is_some_and(|scenario| scenario.grid().rank() == 1);
    let shows_phase = frame
        .scenario
        .as_ref()
        .is_some_and(|scenario| scenario.view().quantity == Quantity::Phase);
    let phases = if image.phase.is_empty() {
        Vec::new()
    } else {
        pick(&image.phase)
    };
    if flat && image.quantity == Some(Quantity::Phase) && !shows_phase {
        Carpet::squared(&mut values);
    }
    Row {
        time: frame.clock.time,
        values,
        phases,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Clock, FieldImage};
    use std::sync::Arc;

    fn frame(step: u64) -> Frame {
        let text = "format = 1\n[grid]\nsize = [8, 4]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[[packet]]\ncenter = [3, 2]\nwidth = [1, 1]";
        let scenario = Arc::new(crate::solver::read_scene_text(text, None, &[]).unwrap().1);
        let value = (0..32).map(|n| n as f32 + 100.0 * step as f32).collect();
        Frame {
            scenario: Some(scenario),
            image_serial: step + 1,
            clock: Clock {
                steps: step,
                time: step as f64,
                time_step: 1.0,
            },
            image: FieldImage {
                size: [8, 4],
                reduction: 1,
                value,
                quantity: Some(Quantity::Density),
                ..FieldImage::default()
            },
            ..Frame::default()
        }
    }

    #[test]
    fn the_first_row_of_a_long_run_is_at_zero() {
        let labels = [3.2e-5, 0.424, 0.802].map(|time| time_label(time, 0.802));
        assert_eq!(labels, ["0", "0.424", "0.802"]);
        let short = [3.2e-5, 6.4e-5].map(|time| time_label(time, 6.4e-5));
        assert_eq!(short, ["3.2×10⁻⁵", "6.4×10⁻⁵"]);
    }

    #[test]
    fn rows_are_the_cut_at_each_picture() {
        let mut view = ViewState {
            cut_at: 2.0,
            ..ViewState::default()
        };
        let mut carpet = Carpet::default();
        for step in 0..3 {
            carpet.record(&frame(step), &view);
            carpet.record(&frame(step), &view);
        }
        assert_eq!(carpet.len(), 3);
        assert_eq!(carpet.rows[2].time, 2.0);
        let expected: Vec<f32> = (16..24).map(|n| n as f32 + 200.0).collect();
        assert_eq!(carpet.rows[2].values, expected);
        // Along y it begins anew.
        view.cut = Cut::Column;
        carpet.record(&frame(3), &view);
        assert_eq!(carpet.len(), 1);
        assert_eq!(carpet.rows[0].values, [302.0, 310.0, 318.0, 326.0]);
        // A picture of a part of the field leaves the rest open.
        let mut part = frame(4);
        part.image.origin = [0, 2];
        part.image.size = [8, 2];
        part.image.value.truncate(16);
        carpet.record(&part, &view);
        let values = &carpet.rows[1].values;
        assert!(values[0].is_nan() && values[1].is_nan());
        assert_eq!(values[2..], [402.0, 410.0]);
    }

    #[test]
    fn rows_of_long_runs_keep_the_largest_of_what_they_join() {
        let mut carpet = Carpet::default();
        let view = ViewState::default();
        let mut frame = frame(0);
        for step in 0..3000 {
            // A sudden wave in every 97th picture.
            frame.image.value.fill(if step % 97 == 3 { -5.0 } else { 2.0 });
            frame.image_serial = step + 1;
            frame.clock.steps = step;
            frame.clock.time = step as f64;
            carpet.record(&frame, &view);
        }
        assert!(carpet.len() <= ROWS && carpet.len() > ROWS / 3, "{}", carpet.len());
        let times: Vec<f64> = carpet.rows.iter().map(|row| row.time).collect();
        assert_eq!(times[0], 0.0);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
        for (n, row) in carpet.rows.iter().enumerate() {
            let begin = times[n] as u64;
            let end = times.get(n + 1).map_or(3000, |time| *time as u64);
            let waves = (begin..end).any(|step| step % 97 == 3);
            let expected = if waves { -5.0 } else { 2.0 };
            assert!(
                row.values.iter().all(|value| *value == expected),
                "row {n}: {:?}",
                row.values
            );
        }
    }
}

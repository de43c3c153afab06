//! What the plots draw: their lines and the words over them.

use super::detector_history::thinned;
use super::field_view::symbol;
use super::history::{FIXED, History};
use super::mirror_plots;
use super::plots::Kind;
use super::theory_view;
use super::units::{Along, Units};
use super::view_panel::{self, with_unit};
use super::view_state::{Cut, ViewState};
use crate::engine::Frame;
use crate::physics::{Equation, Measure};
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;

/// Powers below this share of the strongest line are not drawn: they are rounding and what the window leaves.
const LEAST_POWER: f64 = 1e-12;

/// What the plots are drawn from.
pub(super) struct Sources<'a> {
    pub(super) view: &'a ViewState,
    pub(super) history: &'a History,
    pub(super) frame: &'a Frame,
    pub(super) units: Units,
    pub(super) rank: usize,
}

/// A plot. An axis has one unit, and of ψ, whose records have none, one measure: detectors with different ones are drawn in several plots, and so are their spectra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) kind: Kind,
    /// What the detectors measure that it shows, with its unit in sound; empty in other plots.
    pub(super) scale: &'static str,
}

impl Part {
    /// What a kind of plot is drawn in, from left to right.
    pub(super) fn all(kind: Kind, scenario: &Scenario) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        if of_detectors(kind) {
            for scale in detector_scales(scenario) {
                let part = Self { kind, scale };
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        } else {
            parts.push(Self { kind, scale: "" });
        }
        parts
    }

    /// Whether it shows a line of this number.
    pub(super) fn shows(self, line: usize, sources: &Sources<'_>) -> bool {
        let scenario = sources.frame.scenario.as_deref();
        let scenario = scenario.filter(|_| of_detectors(self.kind));
        scenario.is_none_or(|scenario| detector_scales(scenario).nth(line) == Some(self.scale))
    }
}

/// Whether the lines of a plot are the scene's detectors.
fn of_detectors(kind: Kind) -> bool {
    matches!(kind, Kind::Detectors | Kind::Spectrum)
}

/// A line with its name.
pub(super) type Named = (String, Vec<[f64; 2]>);

/// The lines of a plot.
pub(super) fn lines(kind: Kind, sources: &Sources<'_>, most: usize) -> Vec<Named> {
    let Sources {
        view,
        history,
        frame,
        units,
        rank,
    } = sources;
    let over_time = |column: usize, scale: f64| {
        let mut points = history.points(column, most);
        for [t, value] in &mut points {
            *t *= units.time.per;
            *value *= scale;
        }
        points
    };
    let axes = ["x", "y", "z"];
    let of_state = |column: &str| {
        let mut points = history.state(column, most);
        for point in &mut points {
            point[0] *= units.time.per;
        }
        points
    };
    match kind {
        Kind::Cut => cut_lines(view, frame, units),
        Kind::Position => (0..*rank)
            .map(|n| (format!("mean {}", axes[n]), over_time(2 + n, units.length.per)))
            .collect(),
        Kind::Spread => (0..*rank)
            .map(|n| (format!("σ{}", axes[n]), over_time(5 + n, units.length.per)))
            .collect(),
        Kind::Norm => {
            let name = if sound(frame) { "energy drift" } else { "norm − 1" };
            vec![(name.to_owned(), over_time(0, 1.0))]
        }
        Kind::Energy => vec![("energy".to_owned(), over_time(1, 1.0))],
        Kind::Momentum => (0..*rank)
            .map(|n| (format!("mean p{}", axes[n]), of_state(&format!("p{}", axes[n]))))
            .collect(),
        Kind::Uncertainty => (0..*rank)
            .map(|n| {
                (
                    format!("Δ{0}·Δp{0}", axes[n]),
                    of_state(&format!("uncertainty_{}", axes[n])),
                )
            })
            .collect(),
        Kind::AngularMomentum => vec![("⟨L_z⟩".to_owned(), of_state("lz"))],
        Kind::Overlap => [
            ("|⟨ψ(0)|ψ⟩|²", "survival"),
            ("real", "overlap_re"),
            ("imaginary", "overlap_im"),
        ]
        .map(|(name, column)| (name.to_owned(), of_state(column)))
        .to_vec(),
        Kind::Participation => vec![("participation".to_owned(), of_state("participation"))],
        Kind::Purity => vec![("purity".to_owned(), of_state("purity"))],
        Kind::Marginals => (0..2)
            .map(|axis| (format!("P({})", axes[axis]), marginal(frame, axis)))
            .collect(),
        Kind::Detectors => frame
            .scenario
            .iter()
            .flat_map(|scenario| scenario.detectors())
            .enumerate()
            .map(|(n, detector)| (detector.name.clone(), over_time(FIXED + n, 1.0)))
            .collect(),
        Kind::Spectrum => spectra(frame, units, most),
        Kind::Fidelity => {
            let contrast = is_contrast(frame);
            let mut points = history.mirror(if contrast { 2 } else { 0 }, most);
            for point in &mut points {
                point[0] *= units.time.per;
            }
            vec![(mirror_plots::summary(frame, units.length), points)]
        }
        Kind::Difference => {
            let mut points = history.differences(most);
            for [t, _] in &mut points {
                *t *= units.time.per;
            }
            vec![("difference".to_owned(), points)]
        }
        // They have no lines.
        Kind::Signals | Kind::Focus | Kind::Carpet | Kind::Gain => Vec::new(),
    }
}

/// What theory says of a plot's lines, each with the number of the line that it is about.
pub(super) fn theory(kind: Kind, sources: &Sources<'_>, lines: &[Named]) -> Vec<(usize, Named)> {
    let Some(scenario) = sources.frame.scenario.as_deref().filter(|_| sources.view.show_theory) else {
        return Vec::new();
    };
    let units = sources.units;
    match kind {
        Kind::Cut => {
            let Some(quantity) = sources.frame.image.quantity else {
                return Vec::new();
            };
            let axis = usize::from(sources.view.cut == Cut::Column);
            let about = |(n, (_, points)): (usize, &Named)| {
                let (Some(first), Some(last)) = (points.first(), points.last()) else {
                    return Vec::new();
                };
                // Two lines are those of both rows.
                let row = if lines.len() > 1 {
                    n as f64
                } else {
                    sources.view.cut_at - 0.5
                };
                let across = row * scenario.grid().spacing();
                let ends = (first[0] / units.length.per, last[0] / units.length.per, points.len());
                let mut found =
                    theory_view::along_cut(scenario, (axis, quantity, across), sources.frame.clock.time, ends);
                for point in found.iter_mut().flat_map(|(_, points)| points) {
                    point[0] *= units.length.per;
                }
                found.into_iter().map(|line| (n, line)).collect()
            };
            lines.iter().enumerate().flat_map(about).collect()
        }
        Kind::Detectors => {
            let pairs = scenario.theories().iter().flat_map(|theory| {
                let about = lines.iter().enumerate();
                about.filter_map(move |(n, line)| Some((n, theory.of_detector(n)?, &theory.label, &line.1)))
            });
            let curves = pairs.map(|(n, value, label, points)| {
                let name = if label.is_empty() { "theory" } else { label };
                (n, (name.to_owned(), over_time(points, |t| value(t / units.time.per))))
            });
            curves.collect()
        }
        _ => Vec::new(),
    }
}

/// What theory says over the times of a line, as the line is drawn: finely, and where several values share a pixel the least and the greatest of them.
fn over_time(line: &[[f64; 2]], value: impl Fn(f64) -> f64) -> Vec<[f64; 2]> {
    /// Values for each point of the line, so that a fast wave has no beats that only the places of the points make.
    const FINE: usize = 16;
    let times = || line.iter().map(|point| point[0]);
    let (first, last) = (
        times().fold(f64::INFINITY, f64::min),
        times().fold(f64::NEG_INFINITY, f64::max),
    );
    if first >= last {
        let points = times().take(1).map(|t| [t, value(t)]);
        return points.filter(|point| point[1].is_finite()).collect();
    }
    let count = FINE * line.len();
    let at = |n: usize| first + (last - first) * n as f64 / (count - 1) as f64;
    let points = (0..count).map(|n| [at(n), value(at(n))]);
    thinned(
        points.filter(|point| point[1].is_finite()).collect(),
        line.len().max(64),
    )
}

/// Whether a mirror is judged by its contrast: a source leaves nothing at t = 0 to compare with.
fn is_contrast(frame: &Frame) -> bool {
    let found = frame.mirror.as_ref().and_then(|mirror| mirror.refocus);
    found.is_some_and(|(_, _, found)| !found.compares())
}

/// The title of a plot: what over what, with units.
pub(super) fn heading(Part { kind, scale }: Part, title: &str, sources: &Sources<'_>) -> String {
    let units = sources.units;
    let along = |axis| {
        let frame = sources.frame;
        let title = |scenario: &_| Along::of(scenario, frame.image.quantity, axis, units.length).title();
        frame.scenario.as_deref().map_or(String::new(), title)
    };
    let over = match (kind, sources.view.cut) {
        (Kind::Cut, Cut::Row) => along(0),
        (Kind::Cut, Cut::Column) => along(1),
        (Kind::Marginals, _) => "x, y".to_owned(),
        (Kind::Spectrum, _) if sound(sources.frame) => "f (Hz)".to_owned(),
        (Kind::Spectrum, _) => "ω".to_owned(),
        _ => units.time.after("t"),
    };
    let what = match kind {
        Kind::Position | Kind::Spread => units.length.after(title),
        Kind::Energy if sound(sources.frame) => {
            let rank = sources
                .frame
                .scenario
                .as_deref()
                .map_or(3, |scenario| scenario.grid().rank());
            format!("{title} ({})", Measure::Energy.unit(Equation::Acoustic, rank))
        }
        Kind::Spectrum => {
            let measure = scale.split(" (").next().unwrap_or(scale);
            format!("log₁₀ power of {measure}")
        }
        Kind::Cut => {
            let image = &sources.frame.image;
            let unit = image.quantity.zip(sources.frame.scenario.as_deref());
            let unit = unit.map_or("", |(quantity, scenario)| {
                view_panel::unit(scenario.model().equation(), quantity)
            });
            with_unit(&format!("{title} of {}", symbol(image)), unit)
        }
        Kind::Detectors => format!("{title}: {scale}"),
        Kind::Fidelity if is_contrast(sources.frame) => "Focus over rms".to_owned(),
        Kind::Difference => "log₁₀ difference".to_owned(),
        _ => title.to_owned(),
    };
    format!("{what} over {over}")
}

/// What the upright axis of each detector of a scene is: what it measures, with the unit of its record; those of ψ have none.
fn detector_scales(scenario: &Scenario) -> impl Iterator<Item = &'static str> {
    let (equation, rank) = (scenario.model().equation(), scenario.grid().rank());
    (scenario.detectors().iter()).map(move |detector| match (equation, detector.measure) {
        (Equation::Acoustic, _) => match detector.unit(equation, rank) {
            "Pa" => "pressure (Pa)",
            "dB" => "level (dB)",
            "m/s" => "velocity (m/s)",
            "J" => "energy (J)",
            "J/m" => "energy (J/m)",
            "J/m²" => "energy (J/m²)",
            "W" => "flux (W)",
            "W/m" => "flux (W/m)",
            "W/m²" => "flux (W/m²)",
            // Sums of p² have no shorter name than their unit.
            unit => unit,
        },
        (Equation::Schrodinger, Measure::Value) => "|ψ|",
        (Equation::Schrodinger, Measure::Flux) => "current",
        (Equation::Schrodinger, Measure::Peak) => "largest |ψ|²",
        (Equation::Schrodinger, measure) => measure.as_str(),
    })
}

/// The picture's |ψ|² summed along the other axis, times its spacing.
fn marginal(frame: &Frame, axis: usize) -> Vec<[f64; 2]> {
    let (image, Some(scenario)) = (&frame.image, &frame.scenario) else {
        return Vec::new();
    };
    let [width, height] = image.size;
    if image.value.len() != width * height || width == 0 || image.reduction == 0 {
        return Vec::new();
    }
    let (grid, squared) = (scenario.grid(), image.quantity == Some(Quantity::Phase));
    // The last texels may cover fewer sites.
    let sites = |axis: usize, n: usize| {
        let first = image.origin[axis] + n * image.reduction;
        grid.size()[axis].saturating_sub(first).min(image.reduction) as f64
    };
    let across = 1 - axis;
    (0..image.size[axis])
        .map(|n| {
            let sum: f64 = (0..image.size[across])
                .map(|m| {
                    let at = if axis == 0 { n + width * m } else { m + width * n };
                    let value = f64::from(image.value[at]);
                    sites(across, m) * if squared { value * value } else { value }
                })
                .sum();
            let middle = image.origin[axis] as f64 + n as f64 * image.reduction as f64 + (sites(axis, n) - 1.0) / 2.0;
            [middle * grid.spacing(), sum * grid.spacing()]
        })
        .collect()
}

fn sound(frame: &Frame) -> bool {
    let scenario = frame.scenario.as_deref();
    scenario.is_some_and(|scenario| scenario.model().equation() == Equation::Acoustic)
}

/// Decades of power over frequency, one line a detector, as far as any of them has something to say: f in sound, ω = 2πf in quantum scenes.
fn spectra(frame: &Frame, units: &Units, most: usize) -> Vec<Named> {
    let Some(scenario) = &frame.scenario else {
        return Vec::new();
    };
    let per_cycle = if units.time.name.is_empty() {
        std::f64::consts::TAU
    } else {
        1.0
    };
    let found = frame.spectra.iter().flatten();
    let highest = found
        .map(|one| one.reach(LEAST_POWER) as f64 * one.step)
        .fold(0.0, f64::max)
        * 1.1;
    let named = scenario.detectors().iter().zip(frame.spectra.iter());
    named
        .map(|(detector, spectrum)| {
            let points = spectrum.as_ref().map_or(Vec::new(), |spectrum| {
                let shown = ((highest / spectrum.step) as usize).min(spectrum.power.len());
                let together = shown.div_ceil(most).max(1);
                let largest = spectrum.power.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                let least = largest * LEAST_POWER;
                // Of frequencies that share a pixel the strongest is seen; below the floor there is a gap.
                let part = |(n, powers): (usize, &[f64])| {
                    let place = (n * together) as f64 + (powers.len() - 1) as f64 / 2.0;
                    let power = powers.iter().copied().fold(0.0, f64::max);
                    let seen = if power > least { power.log10() } else { f64::NAN };
                    [place * spectrum.step * per_cycle, seen]
                };
                spectrum.power[..shown].chunks(together).enumerate().map(part).collect()
            });
            (detector.name.clone(), points)
        })
        .collect()
}

/// Values along the cut, over lengths or momenta; of a grid of two rows, of which none is the middle, along both.
fn cut_lines(view: &ViewState, frame: &Frame, units: &Units) -> Vec<Named> {
    let image = &frame.image;
    let Some(scenario) = &frame.scenario else {
        return Vec::new();
    };
    let [width, height] = image.size;
    if image.value.len() != width * height || width == 0 || image.reduction == 0 {
        return Vec::new();
    }
    let (axis, across) = if view.cut == Cut::Row { (0, 1) } else { (1, 0) };
    let along = |axis: usize| Along::of(scenario, image.quantity, axis, units.length);
    let points = |at: usize| {
        let along = along(axis);
        let place = |n: usize| {
            along.at(image.origin[axis] as f64 + (n as f64 + 0.5) * image.reduction as f64 - 0.5) * along.unit.per
        };
        let value = |n: usize| image.value[if axis == 0 { n + width * at } else { at + width * n }];
        (0..image.size[axis]).map(|n| [place(n), f64::from(value(n))]).collect()
    };
    if scenario.grid().size()[across] == 2 && image.size[across] == 2 {
        let name = |n: usize| {
            let along = along(across);
            format!("{} = {}", along.name, along.unit.show(along.at(n as f64), 3))
        };
        return (0..2).map(|n| (name(n), points(n))).collect();
    }
    let at = (view.cut_at - image.origin[across] as f64) / image.reduction as f64;
    let seen = at >= 0.0 && at < image.size[across] as f64;
    // What it is stands in the title.
    vec![(String::new(), if seen { points(at as usize) } else { Vec::new() })]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::FieldImage;
    use std::sync::Arc;

    /// Of two components neither is the middle, and both are shown, each by its place.
    #[test]
    fn a_grid_of_two_rows_is_cut_along_both() {
        let text = "format = 1\n[grid]\nsize = [3, ROWS]\nspacing = 1.0\n[quantum]\n[[packet]]\ncenter = [1.0, 0.5]\nwidth = [1.0]\n";
        let lines = |rows: usize| {
            let text = text.replace("ROWS", &rows.to_string());
            let (_, scenario) = crate::solver::read_scene_text(&text, None, &[]).unwrap();
            let mut view = ViewState::default();
            view.start_over(&scenario);
            let frame = Frame {
                image: FieldImage {
                    size: [3, rows],
                    reduction: 1,
                    value: (0..3 * rows).map(|n| n as f32).collect(),
                    ..FieldImage::default()
                },
                scenario: Some(Arc::new(scenario)),
                ..Frame::default()
            };
            let units = Units::of(frame.scenario.as_deref().unwrap(), 1.0);
            cut_lines(&view, &frame, &units)
        };
        let row = |first: f64| (0..3).map(|n| [f64::from(n), first + f64::from(n)]).collect::<Vec<_>>();
        let both = [("y = 0".to_owned(), row(0.0)), ("y = 1".to_owned(), row(3.0))];
        assert_eq!(lines(2), both);
        assert_eq!(lines(4), [(String::new(), row(6.0))]);
    }

    /// What is plotted has its unit over the plot, or its measure of ψ; detectors with another one have another plot.
    #[test]
    fn plots_have_units_or_measures() {
        let told = |measures: &[&str], equation: &str| {
            let mut text = format!("format = 1\n[grid]\nsize = [40, 30]\nspacing = 0.1\n{equation}\n");
            for (n, measure) in measures.iter().enumerate() {
                text += &format!(
                    "[[detector]]\nname = \"d{n}\"\nregion = {{ min = [0.5, 0.5], max = [2.0, 2.0] }}\n{measure}\n"
                );
            }
            let (_, scenario) = crate::solver::read_scene_text(&text, None, &[]).unwrap();
            let quantity = match scenario.model().equation() {
                Equation::Acoustic => Quantity::Pressure,
                Equation::Schrodinger => Quantity::Density,
            };
            let frame = Frame {
                image: FieldImage {
                    quantity: Some(quantity),
                    ..FieldImage::default()
                },
                scenario: Some(Arc::new(scenario)),
                ..Frame::default()
            };
            let (view, history) = (ViewState::default(), History::default());
            let sources = Sources {
                view: &view,
                history: &history,
                frame: &frame,
                units: Units::of(frame.scenario.as_deref().unwrap(), 1.0),
                rank: 2,
            };
            let names: Vec<String> = (lines(Kind::Detectors, &sources, 64).into_iter())
                .map(|(name, _)| name)
                .collect();
            let told = |kind, title| {
                let parts = Part::all(kind, frame.scenario.as_deref().unwrap()).into_iter();
                let parts = parts.map(|part| {
                    let text = heading(part, title, &sources);
                    let shown = names.iter().enumerate().filter(|(n, _)| part.shows(*n, &sources));
                    let shown: Vec<&str> = shown.map(|(_, name)| name.as_str()).collect();
                    format!("{}: {}", text.split(" over ").next().unwrap(), shown.join(", "))
                });
                parts.collect::<Vec<_>>()
            };
            let cut = told(Kind::Cut, "Line cut");
            let cut = cut[0].split(": ").next().unwrap().to_owned();
            (told(Kind::Detectors, "Detectors"), cut)
        };
        let of = |detectors: &[&str], cut: &str| {
            let detectors: Vec<String> = detectors.iter().map(|&text| text.to_owned()).collect();
            (detectors, cut.to_owned())
        };
        let sound = "[acoustic]\n[[pulse]]\ncenter = [2.0, 1.5]\nwidth = 0.3";
        let (pressure, energy) = ("measure = \"pressure\"", "measure = \"energy\"");
        let alike = told(&[pressure, pressure], sound);
        let alone = "Detectors: pressure (Pa): d0, d1";
        assert_eq!(alike, of(&[alone], "Line cut of p (Pa)"));
        let differ = told(&[pressure, energy, pressure], sound);
        let parts = ["Detectors: pressure (Pa): d0, d2", "Detectors: energy (J/m): d1"];
        assert_eq!(differ, of(&parts, "Line cut of p (Pa)"));
        let quantum = "[quantum]\n[[packet]]\ncenter = [2.0, 1.5]\nwidth = [0.3]";
        let alone = of(&["Detectors: probability: d0"], "Line cut of |ψ|²");
        assert_eq!(told(&[""], quantum), alone);
        let differ = told(&["", "measure = \"peak\"", "as = \"mean\""], quantum);
        let parts = ["Detectors: probability: d0, d2", "Detectors: largest |ψ|²: d1"];
        assert_eq!(differ, of(&parts, "Line cut of |ψ|²"));
    }

    /// A line that is weaker than the others ends where it meets its floor, which is no value of its own; other measures have another plot.
    #[test]
    fn a_spectrum_has_gaps_below_its_floor() {
        let text = "format = 1\n[grid]\nsize = [40]\nspacing = 1.0\n[quantum]\n[[packet]]\ncenter = [20.0]\nwidth = [3.0]\n\
                    [[detector]]\nname = \"a\"\nregion = { min = [1.0], max = [4.0] }\n\
                    [[detector]]\nname = \"b\"\nmeasure = \"peak\"\nregion = { min = [1.0], max = [4.0] }\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let spectrum = |power: &[f64]| {
            let power = power.to_vec();
            Some(crate::physics::spectrum::Spectrum { step: 1.0, power })
        };
        let frame = Frame {
            spectra: Arc::from([
                spectrum(&[0.0, 1.0, 1e-14, 1e-3, 1e-5, 1e-13]),
                spectrum(&[1e-20, 1e-2, 1e-15, 0.0, 0.0, 0.0]),
            ]),
            scenario: Some(Arc::new(scenario)),
            ..Frame::default()
        };
        let scenario = frame.scenario.as_deref().unwrap();
        let units = Units::of(scenario, 1.0);
        let drawn: Vec<Vec<bool>> = spectra(&frame, &units, 64)
            .iter()
            .map(|(_, points)| points.iter().map(|point| point[1].is_finite()).collect())
            .collect();
        assert_eq!(drawn[0], [false, true, false, true, true]);
        assert_eq!(drawn[1], [false, true, false, false, false]);
        let (view, history) = (ViewState::default(), History::default());
        let sources = Sources {
            view: &view,
            history: &history,
            frame: &frame,
            units,
            rank: 1,
        };
        let headings: Vec<String> = (Part::all(Kind::Spectrum, scenario).into_iter())
            .map(|part| heading(part, "Spectrum", &sources))
            .collect();
        let told = [
            "log₁₀ power of probability over ω",
            "log₁₀ power of largest |ψ|² over ω",
        ];
        assert_eq!(headings, told);
    }

    /// A fast wave that theory predicts is drawn as a band, wherever the points of the line are.
    #[test]
    fn theory_has_no_beats_of_the_points_that_it_is_drawn_at() {
        // One point for each turn of the wave and a little: by them alone it would be a slow one.
        let line: Vec<[f64; 2]> = (0..300).map(|n| [f64::from(n), 0.0]).collect();
        let points = over_time(&line, |t| (t * 1.01 * std::f64::consts::TAU).cos());
        assert!(points.len() <= 302, "{}", points.len());
        for part in points.chunks_exact(4) {
            let ends = part.iter().fold([0.0_f64; 2], |[low, high], point| {
                [low.min(point[1]), high.max(point[1])]
            });
            assert!(ends[0] < -0.9 && ends[1] > 0.9, "{part:?}");
        }
        assert_eq!(over_time(&[[2.0, 0.0]], |t| t), [[2.0, 2.0]]);
        assert!(over_time(&[], |t| t).is_empty());
    }
}

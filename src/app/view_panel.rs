//! What is shown and in which colours.

use super::space_panel;
use super::strip_chart;
use super::units::Units;
use super::view_state::ViewState;
use super::widgets::{Explained, choice, figure, hint, row, section, typed};
use crate::app::icon::Icon;
use crate::colormap::{self, COLORMAPS, Kind};
use crate::engine::shown_quantity;
use crate::export::overlay::sign;
use crate::physics::Equation;
use crate::scene::scenario::{Brightness, ColorRange, Flow, Quantity, ViewMode};
use crate::scene::{Scenario, SceneFile};
use egui::Ui;

/// What can be shown of a quantum field, with its name and formula.
const QUANTUM: [(Quantity, &str, &str); 7] = [
    (
        Quantity::Density,
        "density |ψ|²",
        "The probability density, in 1/length per axis.",
    ),
    (
        Quantity::Phase,
        "phase and |ψ|",
        "arg ψ as hue (red: real and positive, cyan: real and negative), |ψ| as brightness. Where a wavelength has fewer than 10 pixels the density is shown instead: zoom in.",
    ),
    (Quantity::Real, "real part Re ψ", "Symmetric about zero."),
    (Quantity::Imaginary, "imaginary part Im ψ", "Symmetric about zero."),
    (
        Quantity::Energy,
        "energy density",
        "Kinetic and potential energy: ½J|ψ − ψ'|² for every bond of a site, and U|ψ|² + ½g|ψ|⁴. Its sum is ⟨H⟩.",
    ),
    (
        Quantity::Peak,
        "peak |ψ|²",
        "The largest |ψ|² of each site so far, taken after every step: it makes the run slower.",
    ),
    (
        Quantity::Momentum,
        "momentum |ψ(k)|²",
        "The Fourier transform's square, k from −π/a to π/a along each axis, k = 0 in the middle. Its integral is the norm.",
    ),
];

/// What can be shown of a sound field.
const ACOUSTIC: [(Quantity, &str, &str); 7] = [
    (Quantity::Pressure, "pressure p (Pa)", "Symmetric about zero."),
    (
        Quantity::Energy,
        "energy density (J/m³)",
        "Kinetic and potential energy.",
    ),
    (Quantity::Peak, "peak |p| (Pa)", "The largest |p| so far."),
    (
        Quantity::Rms,
        "rms pressure (Pa)",
        "The root of the mean square since it is watched; with fdtd on the processor, as the three below.",
    ),
    (
        Quantity::Level,
        "level (dB re 20 µPa)",
        "20 lg(p_rms/20 µPa), from 0 dB on.",
    ),
    (
        Quantity::Velocity,
        "velocity |v| (m/s)",
        "That of the medium at this moment.",
    ),
    (
        Quantity::Intensity,
        "intensity |I| (W/m²)",
        "The size of the mean of p·v since it is watched: what flows on, without what swings to and fro.",
    ),
];

/// The quantities of a scene.
#[must_use]
pub fn quantities(file: &SceneFile) -> &'static [(Quantity, &'static str, &'static str)] {
    if file.acoustic.is_some() { &ACOUSTIC } else { &QUANTUM }
}

/// The name of a scene's quantity with its formula.
#[must_use]
pub fn title(file: &SceneFile, quantity: Quantity) -> &'static str {
    quantities(file)
        .iter()
        .find(|(known, _, _)| *known == quantity)
        .map_or(quantity.as_str(), |(_, title, _)| title)
}

/// The unit of a quantity of sound; those of ψ have none.
#[must_use]
pub fn unit(equation: Equation, quantity: Quantity) -> &'static str {
    sign_and_unit(sign(quantity, equation)).1
}

/// `p (Pa)` in two.
#[must_use]
pub fn sign_and_unit(label: &'static str) -> (&'static str, &'static str) {
    let parts = label.rsplit_once(" (");
    parts.map_or((label, ""), |(sign, unit)| (sign, unit.trim_end_matches(')')))
}

/// Words with their unit, if there is one.
#[must_use]
pub fn with_unit(words: &str, unit: &str) -> String {
    if unit.is_empty() {
        words.to_owned()
    } else {
        format!("{words} ({unit})")
    }
}

/// The quantity that a scene shows.
#[must_use]
pub fn quantity(file: &SceneFile) -> Quantity {
    file.view.quantity.unwrap_or(if file.acoustic.is_some() {
        Quantity::Pressure
    } else {
        Quantity::Density
    })
}

/// The map with which a scene's picture shows a quantity, on white where `paper` says that it may stand there.
#[must_use]
pub fn map(file: &SceneFile, shown: Quantity, paper: bool) -> &'static colormap::Colormap {
    let equation = if file.acoustic.is_some() {
        Equation::Acoustic
    } else {
        Equation::Schrodinger
    };
    let kind = shown.auto_kind(equation);
    if paper && file.view.colormap == "auto" {
        return colormap::auto_on_paper(kind);
    }
    colormap::resolve(&file.view.colormap, kind).unwrap_or_else(|_| colormap::auto(kind))
}

/// Why a phase that is asked for is not shown; before an audience nothing that only who sits at the keys can mend.
#[must_use]
pub(super) fn no_hues(scenario: &Scenario, lecture: bool) -> &'static str {
    if scenario.time().imaginary {
        "in imaginary time there is one phase everywhere"
    } else if lecture {
        ""
    } else {
        "hues need 10 pixels per wavelength: zoom in for the phase"
    }
}

/// Shows the section; edits `file` and `view`.
pub fn show(ui: &mut Ui, file: &mut SceneFile, view: &mut ViewState, scenario: Option<&Scenario>, t: f64) {
    let rank = scenario.map_or(2, |scenario| scenario.grid().rank());
    section(ui, Icon::Eye, "View", true, |ui| {
        if rank == 3 {
            space_panel::mode_row(ui, file);
        }
        if rank == 2 {
            row(
                ui,
                "As",
                "A picture in colours, or a relief whose height is the value (4).",
                |ui| {
                    ui.selectable_value(&mut file.view.mode, ViewMode::Plane, "picture");
                    ui.selectable_value(&mut file.view.mode, ViewMode::Relief, "relief");
                },
            );
        }
        let mut shown = quantity(file);
        let all = quantities(file)
            .iter()
            .map(|(quantity, title, about)| (*quantity, (*title).to_owned(), (*about).to_owned()));
        if row(ui, "Show", "What the picture shows.", |ui| {
            choice(ui, "Show", &mut shown, all)
        }) {
            file.view.quantity = Some(shown);
            if shown == Quantity::Momentum && rank == 3 {
                // The box in space has lengths at its edges.
                file.view.mode = ViewMode::Plane;
            }
            let fits = colormap::resolve(&file.view.colormap, shown.map_kind()).is_ok();
            if !fits {
                "auto".clone_into(&mut file.view.colormap);
            }
        }
        let scale = f64::from(view.camera.scale() * ui.ctx().pixels_per_point());
        if let Some(scenario) = scenario.filter(|_| rank > 1 && file.view.mode == ViewMode::Plane)
            && shown_quantity(scenario, shown, scale) != shown
        {
            hint(ui, &format!("Shown is the density; {}.", no_hues(scenario, false)));
        }
        // A graph of |ψ|² is coloured by the phase, whatever the map.
        if rank > 1 || shown != Quantity::Density {
            map_row(ui, file, shown.map_kind());
        }
        range_rows(ui, file, view);
        if let Some(scenario) = scenario.filter(|_| rank == 3) {
            space_panel::rows(ui, file, view, scenario);
        }
        if let Some(scenario) = scenario.filter(|_| file.view.mode != ViewMode::Plane) {
            space_panel::path(ui, file, view, (t, Units::of(scenario, 1.0).time));
        }
        if rank > 1 && shown.map_kind() != Kind::Diverging {
            let about = "Linear: brightness in proportion to the value. Root: its square root, which shows faint waves beside strong ones; the colour bar is labelled accordingly.";
            row(ui, "Brightness", about, |ui| {
                ui.selectable_value(&mut file.view.brightness, Brightness::Linear, "linear");
                ui.selectable_value(&mut file.view.brightness, Brightness::Root, "root");
            });
        }
        if rank == 2 && file.view.mode == ViewMode::Plane {
            let about = if file.acoustic.is_some() {
                "Where sound flows: the mean intensity ⟨p v⟩ since the start, or since it is first shown (fdtd, on the processor). Arrows are as long as the root of its size."
            } else {
                "Where probability flows: j = Im(ψ* grad ψ)/m. Arrows are as long as the root of its size."
            };
            row(ui, "Flow", about, |ui| {
                ui.selectable_value(&mut file.view.flow, Flow::None, "none");
                ui.selectable_value(&mut file.view.flow, Flow::Arrows, "arrows");
                ui.selectable_value(&mut file.view.flow, Flow::Streamlines, "lines");
            });
        }
        overlay_row(ui, file, view, rank);
        let has_words = |scenario: &Scenario| !(scenario.theories().is_empty() && scenario.notes().is_empty());
        if scenario.is_some_and(has_words) {
            row(ui, "", "", |ui| {
                ui.checkbox(&mut view.show_theory, "theory and notes").on_hover_text(
                    "What theory says, as dashed lines over picture and plots, and notes at their times.",
                );
            });
        }
        let has_probes = scenario.is_some_and(|scenario| strip_chart::has_probes(scenario.detectors()));
        if rank > 1 && file.view.mode == ViewMode::Plane && has_probes && view.show_detectors {
            row(ui, "", "", |ui| {
                ui.checkbox(&mut view.show_charts, "a chart beside each probe")
                    .on_hover_text("What every probe recorded lately, each over a range of its own.");
            });
        }
    });
}

/// What is drawn over the field, of what this view draws.
fn overlay_row(ui: &mut Ui, file: &SceneFile, view: &mut ViewState, rank: usize) {
    row(ui, "Overlay", "What is drawn over the field.", |ui| {
        let flat = rank == 1 || file.view.mode == ViewMode::Plane;
        let (word, about) = if file.view.mode == ViewMode::Relief {
            ("walls", "Walls, in grey; the picture shows what else the medium is.")
        } else if !flat {
            (
                "medium",
                "Walls, and surfaces where the medium differs from the background by half of the most.",
            )
        } else if rank == 1 {
            (
                "medium",
                "Walls, and what else layers set, as lines over scales of their own.",
            )
        } else if file.acoustic.is_some() {
            (
                "medium",
                "Sound speed and density and the walls, as a veil with contour lines; where layers set both, the density shows where the speed is the background's.",
            )
        } else {
            (
                "potential",
                "The potential and the walls, as a veil with contour lines.",
            )
        };
        ui.checkbox(&mut view.show_medium, word).on_hover_text(about);
        ui.checkbox(&mut view.show_detectors, "detectors")
            .on_hover_text("Where detectors and the transducers of a mirror stand.");
    });
}

fn map_row(ui: &mut Ui, file: &mut SceneFile, kind: Kind) {
    let mut id = COLORMAPS
        .iter()
        .map(|map| map.id)
        .find(|id| *id == file.view.colormap)
        .unwrap_or("auto");
    let taken = if super::theme::is_paper() {
        colormap::auto_on_paper(kind)
    } else {
        colormap::auto(kind)
    };
    let auto = ("auto", format!("auto ({})", taken.id), String::new());
    let all = std::iter::once(auto).chain(
        COLORMAPS
            .iter()
            .filter(|map| colormap::resolve(map.id, kind).is_ok())
            .map(|map| (map.id, map.id.to_owned(), map.about.to_owned())),
    );
    if row(ui, "Colours", "The colour map.", |ui| {
        choice(ui, "Colours", &mut id, all)
    }) {
        id.clone_into(&mut file.view.colormap);
    }
}

fn range_rows(ui: &mut Ui, file: &mut SceneFile, view: &mut ViewState) {
    let levels = view.levels;
    row(
        ui,
        "Range",
        "Auto: follows the field, rising at once, falling slowly, and not below 1 % of the run's largest amplitude. Locked: stays as it is. Manual: by hand.",
        |ui| {
            let mode = file.view.range;
            if ui.selectable_label(mode == ColorRange::Auto, "auto").clicked() {
                file.view.range = ColorRange::Auto;
            }
            if ui.selectable_label(mode == ColorRange::Locked, "locked").clicked() {
                file.view.range = ColorRange::Locked;
            }
            let manual = matches!(mode, ColorRange::Fixed(..));
            if ui.selectable_label(manual, "manual").clicked() && !manual {
                file.view.range = ColorRange::Fixed(f64::from(levels.low), f64::from(levels.high));
            }
        },
    );
    let about = format!(
        "Where the colours begin and end, as {}; the end is above the beginning.",
        title(file, quantity(file))
    );
    if let ColorRange::Fixed(low, high) = &mut file.view.range {
        let speed = ((*high - *low).abs() / 200.0).max(1e-9);
        row(ui, "", "", |ui| {
            ui.name_inputs("Range from", |ui| ui.add(bound(low, speed)).explained(&about));
            ui.label("to");
            ui.name_inputs("Range to", |ui| ui.add(bound(high, speed)).explained(&about));
        });
        if *high <= *low {
            hint(ui, "The upper end must be above the lower one.");
            *high = *low + speed;
        }
    }
}

/// An end of the range, in as many figures as matter.
fn bound(value: &mut f64, speed: f64) -> egui::DragValue<'_> {
    egui::DragValue::new(value)
        .speed(speed)
        .custom_formatter(|value, _| figure(value, 4))
        .custom_parser(|text| typed(text.trim()).parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_of_sound_has_its_unit() {
        let of = |quantity| unit(Equation::Acoustic, quantity);
        let units = [
            Quantity::Pressure,
            Quantity::Level,
            Quantity::Energy,
            Quantity::Velocity,
        ]
        .map(of);
        assert_eq!(units, ["Pa", "dB", "J/m³", "m/s"]);
        assert_eq!(unit(Equation::Schrodinger, Quantity::Energy), "");
        assert_eq!(sign_and_unit("Δ|I| (W/m²)"), ("Δ|I|", "W/m²"));
        assert_eq!([with_unit("p", "Pa"), with_unit("|ψ|²", "")], ["p (Pa)", "|ψ|²"]);
    }
}

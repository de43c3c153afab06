//! Method, back end, precision, variant and the method's own parameters: all read off the solver table.

use super::theme;
use super::widgets::{Explained, choice, fault, hint, row, section};
use crate::app::icon::Icon;
use crate::field::Precision;
use crate::scene::scenario::{BackendChoice, Parameter};
use crate::scene::{Scenario, SceneFile};
use crate::solver::{self, EXACT, Kind, METHODS, Method, ParameterSpec, Report, Target};
use egui::Ui;

/// Shows the section; edits `file`.
pub fn show(ui: &mut Ui, file: &mut SceneFile, scenario: Option<&Scenario>, report: Option<&Report>) {
    section(ui, Icon::Settings2, "Method", true, |ui| {
        let Some(scenario) = scenario else {
            hint(ui, "Nothing runs yet.");
            return;
        };
        let Some(method) = solver::find(&scenario.solver().method) else {
            return;
        };
        method_row(ui, file, scenario, method);
        let target = target_of(method, file, report);
        backend_rows(ui, file, method, target);
        let variant = running_variant(file, report).map(ToOwned::to_owned);
        // Parts are for several processes, of which a window is none; devices are chosen from where there are several.
        let chosen = |spec: &&ParameterSpec| match spec.key {
            solver::PARTS => false,
            solver::DEVICES => solver::devices_here() > 1 || file.solver.parameters.contains_key(solver::DEVICES),
            _ => true,
        };
        let specs: Vec<&ParameterSpec> = method.parameters.iter().filter(chosen).collect();
        for spec in specs {
            if spec.variants.is_empty() || variant.as_deref().is_none_or(|id| spec.variants.contains(&id)) {
                parameter_row(ui, file, spec, scenario.grid().rank());
            }
        }
        if let Some(report) = report {
            hint(ui, &running(report));
        }
        for objection in (method.objections)(scenario) {
            fault(ui, &format!("{}; {}", objection.message, objection.remedy));
        }
    });
}

/// What runs, in one line.
#[must_use]
pub fn running(report: &Report) -> String {
    let threads = match report.threads {
        1 => "1 thread".to_owned(),
        n => format!("{n} threads"),
    };
    let order = if report.order == EXACT {
        "exact in time".to_owned()
    } else {
        format!("order {}", report.order)
    };
    let mut text = format!("Running: {}, {order}, {threads}", report.variant);
    if !report.details.is_empty() {
        text.push_str("; ");
        text.push_str(&report.details);
    }
    text
}

fn method_row(ui: &mut Ui, file: &mut SceneFile, scenario: &Scenario, method: &'static Method) {
    let equation = scenario.model().equation();
    let rank = scenario.grid().rank();
    let mut id = method.id;
    let all = METHODS
        .iter()
        .filter(|row| row.equation == equation && row.ranks.contains(&rank))
        .map(|row| (row.id, row.title.to_owned(), about(row)));
    if row(ui, "Method", &about(method), |ui| choice(ui, "Method", &mut id, all)) {
        file.solver.method = Some(id.to_owned());
        "auto".clone_into(&mut file.solver.variant);
        // Parameters are the method's own: another one has others.
        let known = solver::find(id).map_or(&[] as &[ParameterSpec], |row| row.parameters);
        file.solver
            .parameters
            .retain(|key, _| known.iter().any(|spec| spec.key == key));
    }
}

/// What a method's tooltip says: what it is and where it comes from.
fn about(method: &Method) -> String {
    let mut text = method.about.to_owned();
    for paper in method.papers {
        text.push_str("\n\n");
        text.push_str(paper.citation);
        if !paper.doi.is_empty() {
            text.push_str(" doi:");
            text.push_str(paper.doi);
        }
    }
    text
}

fn target_of(method: &'static Method, file: &SceneFile, report: Option<&Report>) -> Option<&'static Target> {
    let backend = (file.solver.backend.named()).or_else(|| report.map(|report| report.backend));
    method
        .targets
        .iter()
        .find(|target| Some(target.backend) == backend)
        .or_else(|| method.targets.first())
}

fn backend_rows(ui: &mut Ui, file: &mut SceneFile, method: &'static Method, target: Option<&'static Target>) {
    let mut backend = file.solver.backend;
    let offered = method.present_targets().map(|target| {
        let title = target.backend.title().to_owned();
        (BackendChoice::from(target.backend), title, String::new())
    });
    let all = std::iter::once((
        BackendChoice::Auto,
        "automatic".to_owned(),
        "The fastest that is there.".to_owned(),
    ))
    .chain(offered);
    let about = "Where the steps are computed. What this machine lacks is not listed.";
    if row(ui, "Back end", about, |ui| choice(ui, "Back end", &mut backend, all)) {
        file.solver.backend = backend;
    }
    let Some(target) = target else { return };
    let about = "Single: 7 digits, twice as fast, and its rounding adds up over millions of steps. Double: 16 digits.";
    row(ui, "Precision", about, |ui| {
        for &precision in target.precisions {
            let title = match precision {
                Precision::Single => "single",
                Precision::Double => "double",
            };
            let chosen = file.solver.precision == precision;
            if ui.selectable_label(chosen, title).clicked() {
                file.solver.precision = precision;
            }
        }
    });
    if target.variants.len() > 1 {
        let auto = ("auto", "automatic".to_owned(), "The fastest for this scene.".to_owned());
        let mut id = target
            .variants
            .iter()
            .map(|variant| variant.id)
            .find(|id| *id == file.solver.variant)
            .unwrap_or("auto");
        let all = std::iter::once(auto).chain(
            target
                .variants
                .iter()
                .map(|variant| (variant.id, variant.id.to_owned(), variant.about.to_owned())),
        );
        let about = "How the same steps are computed; the result does not depend on it beyond rounding.";
        if row(ui, "Variant", about, |ui| choice(ui, "Variant", &mut id, all)) {
            file.solver.variant = id.to_owned();
        }
    }
}

/// The variant whose parameters are shown: the one asked for, or the one that runs.
fn running_variant<'a>(file: &'a SceneFile, report: Option<&Report>) -> Option<&'a str> {
    if file.solver.variant == "auto" {
        report.map(|report| report.variant)
    } else {
        Some(&file.solver.variant)
    }
}

/// The first device, several, or all that the grid fills; a list of numbers is written in the file.
fn devices(ui: &mut Ui, now: Option<&Parameter>) -> Option<Parameter> {
    let words = |value: Option<&Parameter>| match value {
        None => "the first".to_owned(),
        Some(Parameter::Word(_)) => "all that the grid fills".to_owned(),
        Some(Parameter::Integers(list)) => format!("{list:?}"),
        Some(Parameter::Integer(count)) => count.to_string(),
        Some(Parameter::Number(number)) => number.to_string(),
    };
    let mut next = now.cloned();
    egui::ComboBox::from_id_salt(solver::DEVICES)
        .selected_text(words(now))
        .show_ui(ui, |ui| {
            let counts = (2..=solver::devices_here()).filter_map(|count| i64::try_from(count).ok());
            let several = counts.map(|count| Some(Parameter::Integer(count)));
            let all = Some(Parameter::Word("all".to_owned()));
            for value in [None].into_iter().chain(several).chain([all]) {
                let label = words(value.as_ref());
                ui.selectable_value(&mut next, value, label);
            }
        });
    next
}

fn parameter_row(ui: &mut Ui, file: &mut SceneFile, spec: &ParameterSpec, rank: usize) {
    let now = file.solver.parameters.get(spec.key).cloned();
    let next = row(ui, spec.title, spec.about, |ui| match spec.kind {
        Kind::OneOf { values, default } => one_of(ui, now.as_ref(), values, default),
        Kind::Count { min, max } => count(ui, spec.key, now.as_ref(), min, max),
        Kind::Sizes { min, max } => sizes(ui, spec.key, now.as_ref(), min, max, rank),
        Kind::Devices { .. } => devices(ui, now.as_ref()),
    });
    if next != now {
        match next {
            Some(value) => file.solver.parameters.insert(spec.key.to_owned(), value),
            None => file.solver.parameters.remove(spec.key),
        };
    }
}

fn one_of(ui: &mut Ui, now: Option<&Parameter>, values: &[i64], default: i64) -> Option<Parameter> {
    let mut chosen = match now {
        Some(Parameter::Integer(value)) => *value,
        _ => default,
    };
    let before = chosen;
    for &value in values {
        ui.selectable_value(&mut chosen, value, value.to_string());
    }
    if chosen == before {
        now.cloned()
    } else {
        Some(Parameter::Integer(chosen))
    }
}

/// A switch between automatic and a number by hand.
fn automatic(ui: &mut Ui, auto: bool) -> bool {
    let mut now = auto;
    ui.selectable_value(&mut now, true, "auto");
    ui.selectable_value(&mut now, false, "by hand");
    now
}

fn count(ui: &mut Ui, key: &str, now: Option<&Parameter>, min: i64, max: i64) -> Option<Parameter> {
    let value = match now {
        Some(Parameter::Integer(value)) => Some(*value),
        _ => None,
    };
    let by_hand = !automatic(ui, value.is_none());
    if !by_hand {
        return None;
    }
    let mut number = value.unwrap_or(min.max(4).min(max));
    ui.push_id(key, |ui| {
        ui.add(egui::DragValue::new(&mut number).range(min..=max).speed(0.05))
            .explained(format!("{min} to {max}"));
    });
    Some(Parameter::Integer(number))
}

fn sizes(ui: &mut Ui, key: &str, now: Option<&Parameter>, min: i64, max: i64, rank: usize) -> Option<Parameter> {
    let value = match now {
        Some(Parameter::Integers(values)) => Some(values.clone()),
        _ => None,
    };
    let by_hand = !automatic(ui, value.is_none());
    if !by_hand {
        return None;
    }
    let mut numbers = value.unwrap_or_default();
    numbers.resize(rank, 64.clamp(min, max));
    for (axis, number) in numbers.iter_mut().enumerate() {
        ui.push_id((key, axis), |ui| {
            ui.add(egui::DragValue::new(number).range(min..=max).speed(0.5))
                .explained(format!("Sites along {}: {min} to {max}", ["x", "y", "z"][axis.min(2)]));
        });
        if axis + 1 < rank {
            ui.label(egui::RichText::new("×").color(theme::palette(ui).weak));
        }
    }
    Some(Parameter::Integers(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method without an error in Δt has no order.
    #[test]
    fn what_runs_has_an_order_or_is_exact() {
        let of = |preset: &str| {
            let (_, scenario) = solver::read_scene(preset, &[]).unwrap();
            let method = solver::find(&scenario.solver().method).unwrap();
            running(&(method.build)(&scenario).unwrap().report())
        };
        assert!(of("step").contains("exact in time,"), "{}", of("step"));
        assert!(of("tube").contains("order 2,"), "{}", of("tube"));
    }
}

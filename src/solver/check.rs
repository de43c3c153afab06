//! Scene validation by the table of methods.

use super::{Backend, Kind, METHODS, Method, ParameterSpec, Target, find};
use crate::backend::host_memory::free as free_memory;
use crate::backend::ranks;
use crate::field::Precision;
use crate::grid::Grid;
use crate::physics::Equation;
use crate::scene::nearest;
use crate::scene::{Faults, Objection, Parameter, Scenario, SceneFile, SolverChoice, SolverTable};
use crate::units;
use std::path::Path;

/// Number of steps up to which a clock in double precision resolves each step.
pub const MOST_STEPS: f64 = 4.5e15;

/// [`METHODS`] for scene validation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Table;

/// Reads a preset by name, or else a file, with `key.path=value` overrides.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_scene(scene: &str, overrides: &[String]) -> Result<(SceneFile, Scenario), Faults> {
    crate::scene::read_file(scene, overrides, &Table)
}

/// Reads a scene from a text; files that it names are relative to `origin`.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_scene_text(
    text: &str,
    origin: Option<&Path>,
    overrides: &[String],
) -> Result<(SceneFile, Scenario), Faults> {
    crate::scene::read_text(text, origin, overrides, &Table)
}

/// Checks a scene that was edited rather than read.
///
/// # Errors
/// Everything that is wrong with it.
pub fn validate_scene(file: &SceneFile, origin: Option<&Path>) -> Result<Scenario, Faults> {
    crate::scene::validate(file, origin, &Table)
}

fn objection(key: &str, message: impl Into<String>, remedy: impl Into<String>) -> Objection {
    Objection {
        key: format!("solver.{key}"),
        message: message.into(),
        remedy: remedy.into(),
    }
}

/// A grid that does not fit into memory.
fn too_large(message: String, precision: Precision) -> Objection {
    let remedy = match precision {
        Precision::Single => "choose a smaller grid",
        Precision::Double => "choose a smaller grid, or precision = \"single\"",
    };
    Objection {
        key: "grid.size".to_owned(),
        message,
        remedy: remedy.to_owned(),
    }
}

fn listed(words: impl IntoIterator<Item = impl ToString>) -> String {
    let list: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    if list.is_empty() {
        "none".to_owned()
    } else {
        list.join(", ")
    }
}

impl SolverTable for Table {
    fn default_method(&self, equation: Equation) -> &'static str {
        METHODS
            .iter()
            .find(|method| method.equation == equation)
            .map_or("", |method| method.id)
    }

    fn choice(&self, choice: &SolverChoice, equation: Equation, rank: Option<usize>) -> Vec<Objection> {
        let fitting = || METHODS.iter().filter(|method| method.equation == equation);
        let Some(method) = find(&choice.method) else {
            let message = if fitting().next().is_none() {
                format!("this version has no method for the {} equation", equation.as_str())
            } else {
                format!("there is no method \"{}\"", choice.method)
            };
            let near = nearest(&choice.method, fitting().map(|method| method.id));
            return vec![objection("method", message, meant(near) + &methods_remedy(equation))];
        };
        if method.equation != equation {
            let message = format!(
                "\"{}\" is for the {} equation, and this scene's is {}",
                method.id,
                method.equation.as_str(),
                equation.as_str()
            );
            return vec![objection("method", message, methods_remedy(equation))];
        }
        let mut objections = Vec::new();
        if let Some(rank) = rank.filter(|rank| !method.ranks.contains(rank)) {
            let message = format!(
                "\"{}\" works in {} dimensions, not in {rank}",
                method.id,
                listed(method.ranks)
            );
            let others = fitting()
                .filter(|other| other.ranks.contains(&rank))
                .map(|other| other.id);
            objections.push(objection(
                "method",
                message,
                format!("use another grid or one of: {}", listed(others)),
            ));
        }
        target(method, choice, &mut objections);
        parameters(method, choice, rank, &mut objections);
        objections
    }

    fn room(&self, choice: &SolverChoice, grid: &Grid) -> Option<Objection> {
        // ψ, or two levels of the pressure; and a row of formulas' values, with their sum.
        let fields = 2 * grid.sites() as u64 * choice.precision.bytes() as u64;
        let rows = 2 * grid.size()[0] as u64 * size_of::<f64>() as u64;
        let needed = fields / ranks::world().map_or(1, |world| world.count() as u64) + rows;
        let free = free_memory().filter(|free| needed > *free)?;
        let message = format!(
            "{grid} sites need {} and more, and {} are free",
            units::bytes(needed),
            units::bytes(free)
        );
        Some(too_large(message, choice.precision))
    }

    fn scenario(&self, scenario: &Scenario) -> Vec<Objection> {
        let Some(method) = find(&scenario.solver().method) else {
            return Vec::new();
        };
        // Processes that share a run have a part of it each.
        let needed = (method.memory)(scenario) / ranks::world().map_or(1, |world| world.count() as u64);
        if let Some(free) = free_memory().filter(|free| needed > *free) {
            let message = format!(
                "{} sites need {} with \"{}\", and {} are free",
                scenario.grid(),
                units::bytes(needed),
                method.id,
                units::bytes(free)
            );
            // What follows may look at every site, so it is skipped for a grid that is too large.
            return vec![too_large(message, scenario.solver().precision)];
        }
        let own = (method.objections)(scenario);
        let mut objections = own.clone();
        objections.extend(super::setup::plan(method, scenario).err());
        let step = method.time_step(scenario);
        if !(step.is_finite() && step > 0.0) {
            // What the method objects to may be the reason.
            if objections.is_empty() {
                objections.push(Objection {
                    key: "time.step".to_owned(),
                    message: format!("there is no time step: \"auto\" is {step}, for nothing can move"),
                    remedy: "choose larger speeds, or write a number".to_owned(),
                });
            }
            return objections;
        }
        let most = scenario.solver().precision.most();
        if !(1.0 / most..=most).contains(&step) {
            objections.push(Objection {
                key: "time.step".to_owned(),
                message: format!("Δt = {step:e} is not between {:.0e} and {most:e}", 1.0 / most),
                remedy: "choose other units, or solver.precision = \"double\"".to_owned(),
            });
            return objections;
        }
        for (key, end) in [
            ("time.end", scenario.time().end),
            ("mirror.at", scenario.mirror().map(|own| own.at)),
        ] {
            if let Some(end) = end.filter(|end| end / step > MOST_STEPS) {
                objections.push(Objection {
                    key: key.to_owned(),
                    message: format!("up to t = {end:?} there are {:.1e} steps of {step:.6e}", end / step),
                    remedy: format!("choose an end or a step such that there are at most {MOST_STEPS:.1e}"),
                });
                return objections;
            }
        }
        objections.extend(super::placement::objections(scenario, method, step));
        objections.extend(way_back(scenario, method, step, &own));
        // Steppers of the Schrödinger equation here are stable for every Δt, and their advice reads the whole medium.
        if let Some(step) = scenario.time().step.filter(|_| method.equation == Equation::Acoustic) {
            let advice = (method.step_advice)(scenario);
            if let Some(limit) = advice.stability_limit.filter(|limit| step > *limit) {
                objections.push(Objection {
                    key: "time.step".to_owned(),
                    message: format!("{step} is unstable: the limit is {limit:.6e}"),
                    remedy: format!("write at most {limit:.6e}, or \"auto\" ({})", advice.because),
                });
            }
        }
        // As `steps_until` rounds it; a step that has faults may be the reason.
        if let Some(end) = (scenario.time().end).filter(|end| objections.is_empty() && *end > 0.0 && end / step < 0.5) {
            objections.push(Objection {
                key: "time.end".to_owned(),
                message: format!("t = {end} lies before the first step ends, at {step:.6e}: nothing would happen"),
                remedy: "choose a later end, or a smaller time.step".to_owned(),
            });
        }
        objections
    }
}

/// What the method cannot do on the way back of a mirror; `own` are its objections to the way there.
fn way_back(scenario: &Scenario, method: &Method, step: f64, own: &[Objection]) -> Vec<Objection> {
    const KEY: &str = "mirror.perturbation";
    if (scenario.mirror()).is_none_or(|mirror| mirror.medium == *scenario.medium()) {
        return Vec::new();
    }
    let back = scenario.returning();
    let mut objections = (method.objections)(&back);
    objections.retain(|objection| !own.contains(objection));
    if super::setup::plan(method, scenario).is_ok() {
        objections.extend(super::setup::plan(method, &back).err());
    }
    for objection in &mut objections {
        KEY.clone_into(&mut objection.key);
    }
    if objections.is_empty()
        && method.equation == Equation::Acoustic
        && let Some(limit) = (method.step_advice)(&back)
            .stability_limit
            .filter(|limit| step > *limit)
    {
        objections.push(Objection {
            key: KEY.to_owned(),
            message: format!("Δt = {step:.6e} is unstable on the way back, where the limit is {limit:.6e}"),
            remedy: format!(
                "write time.step = {:.6e} or less, or a slower perturbation",
                0.9 * limit
            ),
        });
    }
    objections
}

/// The beginning of a remedy where a word is close to a valid one.
fn meant(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "))
}

fn methods_remedy(equation: Equation) -> String {
    let own = METHODS
        .iter()
        .filter(|method| method.equation == equation)
        .map(|method| method.id);
    let all = METHODS
        .iter()
        .map(|method| format!("{} ({})", method.id, method.equation.as_str()));
    let own = listed(own);
    if own == "none" {
        format!("there are {}", listed(all))
    } else {
        format!("possible are {own}")
    }
}

fn target(method: &Method, choice: &SolverChoice, objections: &mut Vec<Objection>) {
    let wanted = choice.backend.named();
    // Looking for adapters loads their drivers: this is done only where a scene names them, or a variant that nothing else has.
    let there = |wanted: &dyn Fn(Backend) -> bool| {
        let all = method.targets.iter().filter(|target| wanted(target.backend));
        all.filter(|target| target.backend.offer().is_ok()).collect::<Vec<_>>()
    };
    let has = |targets: &[&Target], id: &str| {
        let mut variants = targets.iter().flat_map(|target| target.variants);
        variants.any(|variant| variant.id == id)
    };
    let mut targets = there(&|backend| wanted.map_or(backend != Backend::Wgpu, |wanted| wanted == backend));
    if wanted.is_none() && choice.variant != "auto" && !has(&targets, &choice.variant) {
        targets.extend(there(&|backend| backend == Backend::Wgpu));
    }
    if targets.is_empty() {
        let there = listed(method.present_targets().map(|target| target.backend.as_str()));
        let offered = method.targets.iter().find(|target| Some(target.backend) == wanted);
        let message = match offered.map(|target| target.backend.offer()) {
            Some(Err(reason)) => format!("\"{}\" is not there: {reason}", choice.backend.as_str()),
            _ => format!(
                "\"{}\" does not run on \"{}\" in this version",
                method.id,
                choice.backend.as_str()
            ),
        };
        objections.push(objection("backend", message, format!("possible are auto, {there}")));
        return;
    }
    if !targets
        .iter()
        .any(|target| target.precisions.contains(&choice.precision))
    {
        let there = listed(
            targets
                .iter()
                .flat_map(|target| target.precisions)
                .map(|precision| precision.as_str()),
        );
        let precision = choice.precision.as_str();
        let on = wanted.map_or_else(String::new, |wanted| format!(" on {}", wanted.as_str()));
        let message = format!("\"{}\" has no {precision} precision{on}", method.id);
        let other = method
            .present_targets()
            .find(|target| target.precisions.contains(&choice.precision));
        let other = other.map_or_else(String::new, |target| {
            format!(", or take solver.backend = \"{}\"", target.backend.as_str())
        });
        objections.push(objection("precision", message, format!("possible are {there}{other}")));
    }
    if choice.variant != "auto" && !has(&targets, &choice.variant) {
        let there = targets
            .iter()
            .flat_map(|target| target.variants)
            .map(|variant| variant.id);
        let elsewhere: Vec<&str> = (method.targets.iter())
            .filter(|target| has(&[*target], &choice.variant))
            .map(|target| target.backend.as_str())
            .collect();
        let message = match (elsewhere.is_empty(), wanted) {
            (true, _) => format!("\"{}\" has no variant \"{}\"", method.id, choice.variant),
            (false, Some(wanted)) => format!(
                "\"{}\" has the variant \"{}\" on {}, not on {}",
                method.id,
                choice.variant,
                listed(elsewhere),
                wanted.as_str()
            ),
            (false, None) => format!(
                "\"{}\" has the variant \"{}\" on {}, which cannot be used here (`ripplon info` says why)",
                method.id,
                choice.variant,
                listed(elsewhere)
            ),
        };
        objections.push(objection(
            "variant",
            message,
            format!("possible are auto, {}", listed(there)),
        ));
    }
}

fn parameters(method: &Method, choice: &SolverChoice, rank: Option<usize>, objections: &mut Vec<Objection>) {
    for (key, value) in &choice.parameters {
        let Some(spec) = method.parameters.iter().find(|spec| spec.key == key) else {
            if [super::PARTS, super::DEVICES].contains(&key.as_str()) && method.split.is_none() {
                objections.push(super::cut::refused(method, key));
                continue;
            }
            let keys = method.parameters.iter().map(|spec| spec.key);
            let known = ["method", "backend", "precision", "variant"].into_iter().chain(keys);
            let message = format!("\"{}\" has no such parameter", method.id);
            let remedy = meant(nearest(key, known.clone())) + &format!("possible are {}", listed(known));
            objections.push(objection(key, message, remedy));
            continue;
        };
        if choice.variant != "auto" && !spec.variants.is_empty() && !spec.variants.contains(&choice.variant.as_str()) {
            let message = format!("it has no effect with variant \"{}\"", choice.variant);
            objections.push(objection(
                key,
                message,
                format!("remove it, or use {}", listed(spec.variants)),
            ));
        }
        if let Some((message, remedy)) = parameter(spec, value, rank) {
            objections.push(objection(key, message, remedy));
        } else if key == super::DEVICES
            && choice.backend.named().is_none()
            && let Err(reason) = Backend::Cuda.offer()
        {
            let message = format!("no NVIDIA device can be used: {reason}");
            objections.push(objection(key, message, "remove it, and the processor takes the steps"));
        }
    }
}

/// What is wrong with a parameter's value: (message, remedy).
fn parameter(spec: &ParameterSpec, value: &Parameter, rank: Option<usize>) -> Option<(String, String)> {
    let shown = match value {
        Parameter::Integer(number) => number.to_string(),
        Parameter::Number(number) => number.to_string(),
        Parameter::Word(word) => format!("\"{word}\""),
        Parameter::Integers(list) => format!("[{}]", listed(list)),
    };
    let is_auto = matches!(value, Parameter::Word(word) if word == "auto");
    let outside = |number: i64, min: i64, max: i64| !(min..=max).contains(&number);
    match spec.kind {
        Kind::OneOf { values, default } => {
            let good = matches!(value, Parameter::Integer(number) if values.contains(number));
            let remedy = || format!("possible are {}; without it, {default}", listed(values));
            (!good).then(|| (format!("{shown} is not possible"), remedy()))
        }
        Kind::Count { min, max } => {
            let good = is_auto || matches!(value, Parameter::Integer(number) if !outside(*number, min, max));
            let remedy = || format!("write a whole number from {min} to {max}, or \"auto\"");
            (!good).then(|| (format!("{shown} is not possible"), remedy()))
        }
        Kind::Sizes { min, max } => {
            let axes = rank.unwrap_or(2);
            let good = match value {
                Parameter::Integers(list) => {
                    rank.is_none_or(|rank| rank == list.len()) && !list.iter().any(|number| outside(*number, min, max))
                }
                _ => is_auto,
            };
            let remedy = || format!("write a list of {axes} whole numbers from {min} to {max}, or \"auto\"");
            (!good).then(|| (format!("{shown} is not possible"), remedy()))
        }
        Kind::Devices { max } => {
            let good = match value {
                Parameter::Word(word) => word == "all",
                Parameter::Integer(number) => !outside(*number, 1, max),
                Parameter::Integers(list) => {
                    !list.is_empty() && !list.iter().any(|number| outside(*number, 0, max - 1))
                }
                Parameter::Number(_) => false,
            };
            let remedy = || format!("write how many, 1 to {max}, a list of their numbers, e.g. [0, 1], or \"all\"");
            (!good).then(|| (format!("{shown} is not possible"), remedy()))
        }
    }
}

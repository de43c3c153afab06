//! `ripplon sweep`: one run for each of several values, and its measured quantities.

use super::figures::short;
use super::named;
use super::sweep_table::{Table, unit_of};
use super::terminal::{self, all_told, say, tell};
use super::{InputError, Interrupt, SceneArgs, scene};
use crate::engine::sweep::{Stop, SweepError, SweepPlan, SweepPoint};
use crate::export::plot::{Curve, Plot, Shown};
use crate::export::{self, About};
use crate::scene::sweep::{Axis, Quantity, Sweep, SweepFault, Theory, has_two_meanings};
use crate::scene::{Faults, Scenario, key_unit};
use anyhow::bail;
use clap::Args;
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Seconds between two versions of the table during a sweep; the first is written after the first run.
const BETWEEN: Duration = Duration::from_secs(2);

/// Lines that a plot of two keys can tell apart.
const MOST_LINES: usize = 7;

/// What to vary and what to measure.
#[derive(Args, Debug)]
pub struct SweepArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// A key and its values: KEY=LOW..HIGH/COUNT (add `log` for even ratios) or KEY=A,B,C; ` & KEY=FORMULA` after it
    /// sets another key to a formula of the value x (repeatable: every combination) (default: [sweep] of the scene)
    #[arg(long, value_name = "KEY=VALUES")]
    vary: Vec<String>,
    /// A detector or an observable at a time: NAME@T, NAME (at the scene's end), or contrast(NAME | NAME)@T of two
    /// (repeatable) (default: [sweep] of the scene)
    #[arg(long, value_name = "NAME@T")]
    measure: Vec<String>,
    /// The theory for the first quantity: a formula of x (and y), the values that vary, or `transmission` (default: [sweep] of the scene)
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    theory: Option<String>,
    /// Write the table as CSV, one row per run; runs of the same scene that the table already has are not repeated
    #[arg(long, value_name = "F.csv")]
    csv: Option<PathBuf>,
    /// Draw the quantities against the first key, theory dashed; the axis is logarithmic if the values have even ratios
    #[arg(long, value_name = "F.png")]
    plot: Option<PathBuf>,
}

pub(super) fn run(args: &SweepArgs) -> anyhow::Result<()> {
    let scenario = scene::load(&args.scene)?;
    let sweep = sweep_of(args, scenario.sweep())?;
    let title = match scenario.title() {
        "" => args.scene.scene.clone(),
        title => title.to_owned(),
    };
    let plan = SweepPlan {
        text: scenario.file().to_toml(),
        origin: scenario.origin().map(Path::to_owned),
        sweep,
    };
    let outputs = named::given([("--csv", &args.csv), ("--plot", &args.plot)]);
    named::check(&outputs, &named::inputs(&args.scene, &scenario))?;
    let table = Table::of(&plan, &scenario, &scenario.file().files(scenario.origin()))?;
    if args.plot.is_some() && lines_of(&plan.sweep) > MOST_LINES {
        let message = format!(
            "--plot draws at most {MOST_LINES} lines, and these are {}; write --csv, or vary one key",
            lines_of(&plan.sweep)
        );
        return Err(InputError(message).into());
    }
    as_input(plan.check())?;
    tell_detectors(&scenario, &plan.sweep);
    let known = match &args.csv {
        Some(path) if path.exists() => table.read(path, &plan)?,
        _ => Vec::new(),
    };
    let runs = plan.runs();
    let counted = crate::units::counted(runs as u64, "run");
    say!("{title}: {counted}, {}", table.told().join(", "));
    if !known.is_empty() {
        say!("{} of them are in the table already", known.len());
    }
    let outcome = go(&plan, known, args.csv.as_deref().map(|path| (path, &table)), &table)?;
    let mut failed = Vec::new();
    if let Some(path) = &args.csv {
        failed.extend(table.write(path, &plan, &outcome.points).err());
    }
    if let Some(path) = &args.plot {
        failed.extend(draw(path, &plan, &scenario, &outcome.points, &title).err());
    }
    for line in nearest_steps(&plan, &outcome.points, scene::units_of(&scenario)[1]) {
        tell!("note: {line}");
    }
    failed.extend(conclude(&plan, &scenario, &outcome, runs).err());
    all_told(failed)
}

/// Notes names that could also mean an observable, which a detector takes.
fn tell_detectors(scenario: &Scenario, sweep: &Sweep) {
    let mut told: Vec<&str> = Vec::new();
    for name in sweep.measures.iter().flat_map(Quantity::names) {
        if has_two_meanings(scenario, name) && !told.contains(&name) {
            tell!(
                "note: `{name}` is measured by the detector of that name; for the observable, give the detector another name"
            );
            told.push(name);
        }
    }
}

/// For each quantity that runs measured beside its time, how far, and in which run furthest; `second` is the unit.
fn nearest_steps(plan: &SweepPlan, points: &[SweepPoint], second: &str) -> Vec<String> {
    let told = |(place, quantity): (usize, &Quantity)| {
        // Where figures do not tell the times apart there is nothing to say.
        let beside = points
            .iter()
            .filter_map(|point| Some((point, (*point.beside.get(place)?)?)))
            .filter(|(_, [at, own])| short(*at) != short(*own));
        let count = beside.clone().count();
        let apart = |[at, own]: &[f64; 2]| (own - at).abs();
        let (point, [at, own]) = beside.max_by(|one, other| apart(&one.1).total_cmp(&apart(&other.1)))?;
        let runs = crate::units::counted(count as u64, "run");
        let settings = plan.settings(&plan.values(point.number)).join(", ");
        Some(format!(
            "{}: no step of {runs} leads to t = {}{second}; it was measured at the nearest one, furthest at t = {}{second} with {settings}",
            quantity.text(),
            short(at),
            short(own)
        ))
    };
    plan.sweep.measures.iter().enumerate().filter_map(told).collect()
}

/// The outcome of a sweep.
struct Outcome {
    points: Vec<SweepPoint>,
    fresh: usize,
    seconds: f64,
    /// Whether it was interrupted, and what failed.
    whole: bool,
    failure: Option<anyhow::Error>,
}

/// Runs the remaining values.
fn go(
    plan: &SweepPlan,
    known: Vec<SweepPoint>,
    csv: Option<(&Path, &Table)>,
    table: &Table,
) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::listen()?;
    let runs = plan.runs();
    let mut done = vec![false; runs];
    for point in &known {
        done[point.number] = true;
    }
    let before = known.len();
    let bar = progress(runs, before);
    let state = Mutex::new((known, None::<Instant>));
    // Runs side by side end in any order; lines are printed in that of the values.
    let waiting = Mutex::new((0, BTreeMap::new()));
    let begun = Instant::now();
    let stop: Stop = Arc::new(move || interrupt.asked());
    let found = |point: SweepPoint| {
        let line = table.line(plan, &point);
        {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let (next, lines) = &mut *waiting;
            lines.insert(point.number, line);
            while done.get(*next).copied().unwrap_or_default() || lines.contains_key(next) {
                if let Some(line) = lines.remove(next) {
                    bar.suspend(|| say!("{line}"));
                }
                *next += 1;
            }
        }
        bar.inc(1);
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0.push(point);
        if let Some((path, table)) = csv.filter(|_| state.1.is_none_or(|last| last.elapsed() > BETWEEN)) {
            // What cannot be written now is said at the end.
            let _ = table.write(path, plan, &state.0);
            state.1 = Some(Instant::now());
        }
    };
    let ran = plan.run(&done, &stop, &found);
    bar.finish_and_clear();
    // What lies behind a value that failed or was not reached.
    for line in waiting
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .1
        .into_values()
    {
        say!("{line}");
    }
    let mut points = state.into_inner().unwrap_or_else(PoisonError::into_inner).0;
    points.sort_by_key(|point| point.number);
    let (whole, failure) = match ran {
        Ok(whole) => (whole, None),
        Err(error) => (false, as_input(Err::<(), _>(error)).err()),
    };
    Ok(Outcome {
        fresh: points.len() - before,
        points,
        seconds: begun.elapsed().as_secs_f64(),
        whole,
        failure,
    })
}

/// Prints the outcome.
fn conclude(plan: &SweepPlan, scenario: &Scenario, outcome: &Outcome, runs: usize) -> anyhow::Result<()> {
    say!(
        "{} of {runs} runs, {} of them now, in {:.1} s",
        outcome.points.len(),
        outcome.fresh,
        outcome.seconds
    );
    // Where theory has no value nothing is far from it.
    let off = |point: &SweepPoint| {
        let off = (point.measured.first()? - point.theory?).abs();
        (!off.is_nan()).then_some(off)
    };
    let worst = outcome
        .points
        .iter()
        .filter_map(|point| Some((point, off(point)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((point, off)) = worst {
        let settings = plan.settings(&plan.values(point.number)).join(", ");
        let off = format!("{off:.2e}");
        let off = off.strip_suffix("e0").unwrap_or(&off);
        let unit = plan.sweep.measures.first().map_or("", |first| unit_of(first, scenario));
        let off = format!("{off} {unit}");
        say!("furthest from theory: {}, at {settings}", off.trim_end());
    }
    if let Some(failure) = &outcome.failure {
        if let Some(faults) = failure.downcast_ref::<Faults>() {
            return Err(faults.clone().into());
        }
        if failure
            .chain()
            .any(|cause| cause.downcast_ref::<InputError>().is_some())
        {
            return Err(InputError(format!("{failure:#}")).into());
        }
        bail!("{failure:#}");
    }
    if !outcome.whole {
        bail!("interrupted; the same command with --csv goes on where the table ends");
    }
    Ok(())
}

/// The requested sweep: that of the scene, with the changes of the command line.
fn sweep_of(args: &SweepArgs, given: Option<&Sweep>) -> Result<Sweep, InputError> {
    let mut sweep = given.cloned().unwrap_or_default();
    let named = |option: &str, fault: &SweepFault| InputError(format!("{option}: {fault}"));
    if !args.vary.is_empty() {
        let axes = args.vary.iter().map(|text| Axis::parse(text)).collect::<Result<_, _>>();
        sweep.axes = axes.map_err(|fault| named("--vary", &fault))?;
    }
    if !args.measure.is_empty() {
        sweep.measures = args.measure.iter().map(|text| Quantity::parse(text)).collect();
    }
    if let Some(text) = &args.theory {
        sweep.theory = Some(Theory::parse(text).map_err(|fault| named("--theory", &fault))?);
    } else if !args.vary.is_empty() || !args.measure.is_empty() {
        // The scene's theory is about what the scene varies.
        sweep.theory = None;
    }
    if sweep.axes.is_empty() {
        let message = "nothing varies: give --vary KEY=LOW..HIGH/COUNT, or a scene with [sweep]";
        return Err(InputError(message.to_owned()));
    }
    if sweep.measures.is_empty() {
        let message = "nothing is measured: give --measure NAME@T, a detector or an observable at a time";
        return Err(InputError(message.to_owned()));
    }
    Ok(sweep)
}

/// Errors in the input exit with 2.
pub(super) fn as_input<T>(result: Result<T, SweepError>) -> anyhow::Result<T> {
    result.map_err(|error| {
        if let SweepError::Scene { setting, faults } = error {
            tell!("with {setting}:");
            // Every change is one of the values that vary.
            let changes: Vec<String> = (faults.list.iter())
                .filter_map(|fault| Some(fault.setting.as_ref()?.words.clone()))
                .collect();
            return faults.set_by("--vary", &changes).into();
        }
        if error.is_input() {
            InputError(error.to_string()).into()
        } else {
            error.into()
        }
    })
}

fn progress(runs: usize, done: usize) -> ProgressBar {
    let bar = terminal::bar(
        runs as u64,
        "{bar:32} {percent:>3} % run {human_pos} of {human_len}, {eta} left",
    )
    .with_position(done as u64);
    bar.reset_eta();
    bar
}

/// Lines of a plot: quantities, or values of the other keys.
fn lines_of(sweep: &Sweep) -> usize {
    let others: usize = sweep.axes[1..].iter().map(|axis| axis.values.len()).product();
    others * sweep.measures.len()
}

/// What stands beside the upright axis of a plot: the only quantity, and the unit that all have.
fn up(measures: &[Quantity], scenario: &Scenario) -> String {
    let unit = measures.first().map_or("", |first| unit_of(first, scenario));
    let alike = measures.iter().all(|other| unit_of(other, scenario) == unit);
    match (measures, unit) {
        ([only], "") => only.text(),
        ([only], unit) => format!("{} ({unit})", only.text()),
        (_, unit) if alike => unit.to_owned(),
        _ => String::new(),
    }
}

/// What a curve is called in the legend: with its unit, unless the upright axis has it for all.
fn in_legend(measures: &[Quantity], place: usize, scenario: &Scenario) -> String {
    let own = measures[place].text();
    match unit_of(&measures[place], scenario) {
        "" => own,
        unit if up(measures, scenario).is_empty() => format!("{own} ({unit})"),
        _ => own,
    }
}

/// What stands below the axis of a plot: the key with its unit.
fn along(axis: &Axis, scenario: &Scenario) -> String {
    match key_unit(&axis.key, scenario.file()) {
        "" => axis.key.clone(),
        unit => format!("{} ({unit})", axis.key),
    }
}

/// The plot of what was measured.
fn draw(path: &Path, plan: &SweepPlan, scenario: &Scenario, points: &[SweepPoint], title: &str) -> anyhow::Result<()> {
    let sweep = &plan.sweep;
    let first = sweep.axes[0].values.len().max(1);
    let unstopped: Stop = Arc::new(|| false);
    let mut curves = Vec::new();
    for (n, line) in as_input(plan.theory_lines(&unstopped))?.into_iter().enumerate() {
        curves.push(Curve {
            label: if n == 0 { "theory".to_owned() } else { String::new() },
            points: line,
            shown: Shown::Dashed,
            color: n * sweep.measures.len(),
        });
    }
    for line in 0..lines_of(sweep) {
        let (group, quantity) = (line / sweep.measures.len(), line % sweep.measures.len());
        let own = points.iter().filter(|point| point.number / first == group);
        let shown: Vec<[f64; 2]> = own
            .filter_map(|point| Some([*plan.values(point.number).first()?, *point.measured.get(quantity)?]))
            .collect();
        let values = plan.values(group * first);
        let beyond = sweep.axes.iter().zip(&values).skip(1);
        let others: Vec<String> = beyond.flat_map(|(axis, value)| axis.settings(*value)).collect();
        let name = in_legend(&sweep.measures, quantity, scenario);
        let label = if others.is_empty() {
            name
        } else {
            format!("{name}, {}", others.join(", "))
        };
        curves.push(Curve {
            label,
            points: shown,
            shown: Shown::Points,
            color: line,
        });
    }
    let plot = Plot {
        title: title.to_owned(),
        along: along(&sweep.axes[0], scenario),
        has_ratios: sweep.axes[0].is_logarithmic(),
        up: up(&sweep.measures, scenario),
        curves,
        ..Plot::default()
    };
    let about = About {
        title: title.to_owned(),
        scene: Some(plan.text.clone()),
        comment: String::new(),
    };
    export::png::save(path, &plot.draw(1360, 760), &about)?;
    tell!("plot written to {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pressure and an energy have no contrast; two pressures have one.
    #[test]
    fn a_contrast_is_of_one_unit() {
        let text = "format = 1\n[grid]\nsize = [64]\nspacing = 0.1\n[acoustic]\n[time]\nend = 0.01\n[[pulse]]\ncenter = [3.0]\nwidth = 0.4\n\
                    [[detector]]\nname = \"mic\"\nat = [5.0]\n[[detector]]\nname = \"far\"\nat = [6.0]\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let resolve = |text: &str| Quantity::parse(text).resolve(&scenario);
        assert!(resolve("contrast(mic | far)").is_ok());
        let fault = resolve("contrast(mic | energy)").unwrap_err();
        let said = "\"mic\" (Pa) and \"energy\" (J/m²), whose units differ";
        assert!(fault.message.contains(said), "{fault}");
    }

    /// The axis of a key has its unit, the upright one that which its quantities have in common.
    #[test]
    fn axes_have_units() {
        let text = "format = 1\n[grid]\nsize = [64]\nspacing = 0.1\n[acoustic]\n[time]\nend = 0.01\n[[pulse]]\ncenter = [3.0]\nwidth = 0.4\n\
                    [[detector]]\nname = \"ear\"\nat = [5.0]\n[[detector]]\nname = \"other\"\nat = [2.0]\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let up = |names: &[&str]| {
            let measures: Vec<Quantity> = names.iter().map(|name| Quantity::parse(name)).collect();
            up(&measures, &scenario)
        };
        assert_eq!(up(&["ear@0.005"]), "ear@0.005 (Pa)");
        assert_eq!(up(&["ear", "other"]), "Pa");
        assert_eq!(up(&["ear", "energy"]), "");
        assert_eq!(up(&["contrast(ear | other)"]), "contrast(ear | other)");
        // Where the axis has none, curves have their own.
        let legend = |names: &[&str]| -> Vec<String> {
            let measures: Vec<Quantity> = names.iter().map(|name| Quantity::parse(name)).collect();
            (0..names.len())
                .map(|place| in_legend(&measures, place, &scenario))
                .collect()
        };
        assert_eq!(legend(&["ear", "energy"]), ["ear (Pa)", "energy (J/m²)"]);
        assert_eq!(legend(&["ear", "other"]), ["ear", "other"]);
        let along = |text: &str| along(&Axis::parse(text).unwrap(), &scenario);
        assert_eq!(along("pulse.0.width=0.3,0.4"), "pulse.0.width (m)");
        assert_eq!(along("solver.order=2,4"), "solver.order");
    }
}

//! `ripplon sweep`: one run for each of several values, and what is measured of each.

use super::named;
use super::run::short;
use super::terminal::{all_told, say, tell};
use super::{InputError, Interrupt, SceneArgs, scene};
use crate::engine::sweep::{Stop, SweepError, SweepPlan, SweepPoint};
use crate::export::csv::CsvWriter;
use crate::export::plot::{Curve, Plot, Shown};
use crate::export::{self, About};
use crate::scene::Faults;
use crate::scene::sweep::{Axis, Quantity, Sweep, SweepFault, Theory};
use anyhow::bail;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Seconds between two versions of the table while a sweep goes on; the first is written after the first run.
const BETWEEN: Duration = Duration::from_secs(2);

/// Lines that a plot of two keys can tell apart.
const MOST_LINES: usize = 7;

/// What to vary and what to measure.
#[derive(Args, Debug)]
pub struct SweepArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// A key and its values: KEY=LOW..HIGH/COUNT, the same with `log` behind it, or KEY=A,B,C, with ` & KEY=FORMULA` behind it for keys that go with x (repeatable: every combination); without it what [sweep] of the scene says
    #[arg(long, value_name = "KEY=VALUES")]
    vary: Vec<String>,
    /// A detector or an observable at a time, NAME@T, NAME at the scene's end, or the contrast(NAME | NAME)@T of two (repeatable); without it what [sweep] says
    #[arg(long, value_name = "NAME@T")]
    measure: Vec<String>,
    /// What the first quantity is held against: a formula of x (and y), the values that vary, or `transmission`
    #[arg(long, value_name = "FORMULA")]
    theory: Option<String>,
    /// Write the table as CSV, a row a run; runs that a table there has already are not run again
    #[arg(long, value_name = "F.csv")]
    csv: Option<PathBuf>,
    /// Draw the quantities over the first key, theory dashed
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
    let table = Table::of(&plan);
    let outputs = named::given([("--csv", &args.csv), ("--plot", &args.plot)]);
    named::check(&outputs, &named::inputs(&args.scene, &scenario))?;
    if args.plot.is_some() && lines_of(&plan.sweep) > MOST_LINES {
        let message = format!(
            "--plot draws at most {MOST_LINES} lines, and these are {}; write --csv, or vary one key",
            lines_of(&plan.sweep)
        );
        return Err(InputError(message).into());
    }
    as_input(plan.check())?;
    let known = match &args.csv {
        Some(path) if path.exists() => table.read(path, &plan)?,
        _ => Vec::new(),
    };
    let runs = plan.runs();
    let counted = crate::units::counted(runs as u64, "run");
    say!("{title}: {counted}, {}", table.columns.join(", "));
    if !known.is_empty() {
        say!("{} of them are in the table already", known.len());
    }
    let outcome = go(&plan, known, args.csv.as_deref().map(|path| (path, &table)), &table)?;
    let mut failed = Vec::new();
    if let Some(path) = &args.csv {
        failed.extend(table.write(path, &plan, &outcome.points).err());
    }
    if let Some(path) = &args.plot {
        failed.extend(draw(path, &plan, &outcome.points, &title).err());
    }
    failed.extend(conclude(&plan, &outcome, runs).err());
    all_told(failed)
}

/// What a sweep came to.
struct Outcome {
    points: Vec<SweepPoint>,
    fresh: usize,
    seconds: f64,
    /// Whether it was interrupted, and what failed.
    whole: bool,
    failure: Option<anyhow::Error>,
}

/// Runs what is left.
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
    let begun = Instant::now();
    let stop: Stop = Arc::new(move || interrupt.asked());
    let found = |point: SweepPoint| {
        let line = table.line(plan, &point);
        bar.suspend(|| say!("{line}"));
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

/// Says what it came to.
fn conclude(plan: &SweepPlan, outcome: &Outcome, runs: usize) -> anyhow::Result<()> {
    say!(
        "{} of {runs} runs, {} of them now, in {:.1} s",
        outcome.points.len(),
        outcome.fresh,
        outcome.seconds
    );
    let off = |point: &SweepPoint| Some((point.measured.first()? - point.theory?).abs());
    let worst = outcome
        .points
        .iter()
        .filter_map(|point| Some((point, off(point)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((point, off)) = worst {
        let settings = plan.settings(&plan.values(point.number)).join(", ");
        let off = format!("{off:.2e}");
        say!(
            "furthest from theory: {}, at {settings}",
            off.strip_suffix("e0").unwrap_or(&off)
        );
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

/// The sweep that is asked for: that of the scene, with what the command line says instead.
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

/// What is wrong with the input exits with 2.
fn as_input<T>(result: Result<T, SweepError>) -> anyhow::Result<T> {
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
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(runs as u64).with_position(done as u64);
    if let Ok(style) =
        ProgressStyle::with_template("{bar:32} {percent:>3} % run {human_pos} of {human_len}, {eta} left")
    {
        bar.set_style(style);
    }
    bar.reset_eta();
    bar
}

/// The columns of a sweep: what varies, what is measured, theory.
struct Table {
    columns: Vec<String>,
    keys: usize,
    theory: bool,
}

impl Table {
    fn of(plan: &SweepPlan) -> Self {
        let sweep = &plan.sweep;
        let mut columns: Vec<String> = sweep.axes.iter().map(|axis| axis.key.clone()).collect();
        let keys = columns.len();
        columns.extend(sweep.measures.iter().map(Quantity::text));
        let theory = sweep.theory.is_some();
        columns.extend(theory.then(|| "theory".to_owned()));
        Self { columns, keys, theory }
    }

    fn row(&self, plan: &SweepPlan, point: &SweepPoint) -> Vec<f64> {
        let mut row = plan.values(point.number);
        row.extend(&point.measured);
        if self.theory {
            row.push(point.theory.unwrap_or(f64::NAN));
        }
        row
    }

    fn line(&self, plan: &SweepPlan, point: &SweepPoint) -> String {
        let row = self.row(plan, point);
        let named = self.columns.iter().zip(&row);
        let words: Vec<String> = named
            .map(|(name, value)| format!("{name} = {}", short(*value)))
            .collect();
        words.join(", ")
    }

    /// Writes what is done, in the order of the runs.
    fn write(&self, path: &Path, plan: &SweepPlan, points: &[SweepPoint]) -> anyhow::Result<()> {
        let mut csv = CsvWriter::create(path, &self.columns)?;
        let mut order: Vec<&SweepPoint> = points.iter().collect();
        order.sort_by_key(|point| point.number);
        for point in order {
            csv.row(&self.row(plan, point))?;
        }
        Ok(csv.finish()?)
    }

    /// The runs that a table has already.
    fn read(&self, path: &Path, plan: &SweepPlan) -> anyhow::Result<Vec<SweepPoint>> {
        let bytes = crate::input_file::read(path, 1 << 30)
            .map_err(|error| InputError(format!("--csv {}: {error}", path.display())))?;
        let text = String::from_utf8_lossy(&bytes);
        // Without its end a line may have lost digits of its last number: that run is done again.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        let Some(head) = lines.next() else {
            return Ok(Vec::new());
        };
        let own = self.columns.join(",");
        // Names with a quote or a comma are quoted; they are compared without.
        if head.replace('"', "") != own.replace('"', "") {
            return Err(InputError(format!(
                "--csv {}: this table has the columns {head}, and the sweep has {own}; name another file, or remove it",
                path.display()
            ))
            .into());
        }
        let places: std::collections::HashMap<Vec<u64>, usize> =
            (0..plan.runs()).map(|n| (bits(&plan.values(n)), n)).collect();
        let mut points = Vec::new();
        for (number, line) in lines.enumerate() {
            let row: Option<Vec<f64>> = line.split(',').map(|cell| cell.trim().parse().ok()).collect();
            let row = row.filter(|row| row.len() == self.columns.len()).ok_or_else(|| {
                InputError(format!(
                    "--csv {}: line {} is no row of {} numbers; mend or remove the file",
                    path.display(),
                    number + 2,
                    self.columns.len()
                ))
            })?;
            let Some(place) = places.get(&bits(&row[..self.keys])) else {
                return Err(InputError(format!(
                    "--csv {}: line {} is of values that this sweep does not have; name another file, or remove it",
                    path.display(),
                    number + 2
                ))
                .into());
            };
            let measured = row[self.keys..self.keys + plan.sweep.measures.len()].to_vec();
            points.push(SweepPoint {
                number: *place,
                measured,
                theory: row.last().copied().filter(|_| self.theory),
            });
        }
        points.sort_by_key(|point| point.number);
        points.dedup_by_key(|point| point.number);
        Ok(points)
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| (value + 0.0).to_bits()).collect()
}

/// Lines of a plot: quantities, or values of the other keys.
fn lines_of(sweep: &Sweep) -> usize {
    let others: usize = sweep.axes[1..].iter().map(|axis| axis.values.len()).product();
    others * sweep.measures.len()
}

/// The plot of what was measured.
fn draw(path: &Path, plan: &SweepPlan, points: &[SweepPoint], title: &str) -> anyhow::Result<()> {
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
        let name = sweep.measures[quantity].text();
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
        along: sweep.axes[0].key.clone(),
        up: if sweep.measures.len() == 1 {
            sweep.measures[0].text()
        } else {
            String::new()
        },
        ground: None,
        curves,
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

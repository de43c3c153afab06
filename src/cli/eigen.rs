//! `ripplon eigen`: the energies and eigenstates of a scene.

use super::figures::short;
use super::named;
use super::numbers::whole;
use super::terminal::{all_told, say, tell};
use super::{InputError, Interrupt, SceneArgs, scene};
use crate::engine::EngineError;
use crate::engine::eigen;
use crate::export::csv::CsvWriter;
use crate::export::npy;
use crate::physics::Autocorrelation;
use crate::physics::eigen::{EigenError, Levels};
use crate::scene::Scenario;
use crate::units;
use anyhow::bail;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where energies come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum From {
    /// The Hamiltonian: the lowest levels and their states
    Hamiltonian,
    /// A run: lines in the spectrum of ⟨ψ(0)|ψ(t)⟩, recorded at every step to the scene's end
    Autocorrelation,
}

/// Which scene, how many levels, and what to write.
#[derive(Args, Debug)]
pub struct EigenArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Number of levels, from the lowest
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole(1_u32, Some(500)))]
    levels: u32,
    /// Where the energies come from
    #[arg(long, value_enum, default_value_t = From::Hamiltonian)]
    from: From,
    /// Write energies, residuals and degeneracies as CSV (autocorrelation: energies and weights)
    #[arg(long, value_name = "F.csv")]
    csv: Option<PathBuf>,
    /// Write the states (NPY, complex128, shape (N, [nz,] [ny,] nx), Σ|φ|²aᵈ = 1)
    #[arg(long, value_name = "F.npy")]
    save: Option<PathBuf>,
}

pub(super) fn run(args: &EigenArgs) -> anyhow::Result<()> {
    let scenario = scene::load(&args.scene)?;
    let outputs = named::given([("--csv", &args.csv), ("--save", &args.save)]);
    named::check(&outputs, &named::inputs(&args.scene, &scenario))?;
    match args.from {
        From::Hamiltonian => of_hamiltonian(args, &scenario),
        From::Autocorrelation if args.save.is_some() => {
            let message = "--save: the autocorrelation has energies and no states; leave --from out";
            Err(InputError(message.to_owned()).into())
        }
        From::Autocorrelation => of_autocorrelation(args, scenario),
    }
}

fn spinner() -> ProgressBar {
    let bar = if std::io::stderr().is_terminal() {
        ProgressBar::new_spinner()
    } else {
        ProgressBar::hidden()
    };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn of_hamiltonian(args: &EigenArgs, scenario: &Scenario) -> anyhow::Result<()> {
    let interrupt = Interrupt::listen()?;
    let wanted = args.levels as usize;
    let bar = spinner();
    let found = eigen::levels(scenario, wanted, &mut |round| {
        bar.set_message(format!(
            "round {}, {} of {wanted} levels, residual {:.1e}",
            round.number, round.converged, round.residual
        ));
        bar.tick();
        interrupt.flow()
    });
    bar.finish_and_clear();
    let levels = found.map_err(|error| match error {
        EigenError::NoLevels { .. } | EigenError::Count { .. } => anyhow::Error::from(InputError(error.to_string())),
        EigenError::Cancelled => anyhow::anyhow!("interrupted; nothing was written"),
        error @ EigenError::OutOfMemory { .. } => error.into(),
    })?;
    print(scenario, &levels);
    if let Some(remark) = eigen::remark(scenario) {
        tell!("note: {remark}, or --from autocorrelation, the energies of the run");
    }
    let mut failed = Vec::new();
    if let Some(path) = &args.csv {
        failed.extend(write(path, &levels).err());
    }
    if let Some(path) = &args.save {
        let states = levels.list.iter().map(|level| &level.state[..]);
        let saved = npy::save_states(path, scenario.grid(), states);
        failed.extend(saved.err().map(anyhow::Error::from));
    }
    all_told(failed)?;
    if !levels.converged {
        bail!(
            "{} of {wanted} levels have converged after {} applications of H; the residuals say how far the others are off",
            levels.round.converged,
            levels.round.applications
        );
    }
    Ok(())
}

/// Writes the levels as CSV.
fn write(path: &Path, levels: &Levels) -> anyhow::Result<()> {
    let mut csv = CsvWriter::create(path, &["level", "energy", "residual", "degeneracy"])?;
    for (n, level) in levels.list.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "at most 500 levels")]
        let (number, times) = (n as f64, level.degeneracy as f64);
        let times = if level.converged { times } else { f64::NAN };
        csv.row(&[number, level.energy, level.residual, times])?;
    }
    Ok(csv.finish()?)
}

fn print(scenario: &Scenario, levels: &Levels) {
    let title = scenario.title_or("Scene");
    say!(
        "{title}: {} sites, {} levels after {} applications of H",
        scenario.grid(),
        levels.list.len(),
        levels.round.applications
    );
    say!("level  energy                residual");
    let highest = levels
        .list
        .iter()
        .fold(0.0f64, |most, level| most.max(level.energy.abs()));
    for (n, level) in levels.list.iter().enumerate() {
        let times = level.times().map_or(String::new(), |times| format!("  {times}"));
        say!(
            "{n:>5}  {:<20}  {:.1e}{times}",
            figure(level.energy, highest, 12),
            level.residual
        );
    }
}

/// An energy with digits behind the point, or in exponents where the greatest one shows few digits so, or many before the point.
fn figure(energy: f64, greatest: f64, digits: usize) -> String {
    if greatest == 0.0 || (1e-3..1e6).contains(&greatest) {
        format!("{energy:.digits$}")
    } else {
        format!("{energy:.digits$e}")
    }
}

fn of_autocorrelation(args: &EigenArgs, scenario: Arc<Scenario>) -> anyhow::Result<()> {
    if scenario.model().quantum().is_none() {
        return Err(InputError("a scene of sound has no levels of energy; take a quantum scene".to_owned()).into());
    }
    let Some(end) = scenario.time().end else {
        let message = "the scene has no end; say how long to record: --set time.end=T";
        return Err(InputError(message.to_owned()).into());
    };
    let notes = eigen::no_levels(&scenario, end);
    let interrupt = Interrupt::listen()?;
    let bar = spinner();
    let found = eigen::autocorrelation(scenario, end, &mut |step, steps| {
        bar.set_message(format!("step {step} of {steps}"));
        bar.tick();
        interrupt.flow()
    });
    bar.finish_and_clear();
    let found = found.map_err(|error| match error {
        EngineError::Cancelled(_) => anyhow::anyhow!("interrupted; nothing was written"),
        error => error.into(),
    })?;
    say!("{}", summary(&found));
    for note in notes {
        tell!("note: {note}");
    }
    if found.left_out > 0 {
        let parts = units::counted(found.left_out as u64, "part");
        tell!("note: {parts} of peaks wider than 2π/T, which the fit took for lines, left out");
    }
    note_range(&found);
    let most = args.levels as usize;
    let highest = (found.lines.iter().take(most)).fold(0.0f64, |most, line| most.max(line.energy.abs()));
    for (n, line) in found.lines.iter().enumerate().take(most) {
        say!(
            "{n:>5}  E = {:<16}  weight {:.6}",
            figure(line.energy, highest, 8),
            line.weight
        );
    }
    if found.lines.len() > most {
        tell!("note: {} more lines; --levels shows more", found.lines.len() - most);
    }
    if let Some(path) = &args.csv {
        let mut csv = CsvWriter::create(path, &["energy", "weight"])?;
        for line in &found.lines {
            csv.row(&[line.energy, line.weight])?;
        }
        csv.finish()?;
    }
    Ok(())
}

/// Notes which lines are uncertain, or do not belong to the scene.
fn note_range(found: &Autocorrelation) {
    let Some([low, high]) = found.range.map(|range| range.map(short)) else {
        return;
    };
    let span = std::f64::consts::TAU / found.time_step;
    let outside = found.outside().count();
    if found.folds() {
        tell!(
            "note: the scene can have energies from {low} to {high}, and steps of Δt = {} resolve them only modulo 2π/Δt = {}: lines may be aliased; take a shorter step with --set time.step=…",
            short(found.time_step),
            short(span)
        );
    } else if outside > 0 {
        tell!(
            "note: {outside} of the lines lie outside {low} to {high}, the range of the scene's energies: they come from the finite Δt or from rounding"
        );
    }
}

fn summary(found: &Autocorrelation) -> String {
    let [low, high] = found.shown().map(short);
    format!(
        "{} lines in {} steps of the autocorrelation, T = {}: Hann's window, lines {} wide at half their height (closer ones are not resolved), energies from {low} to {high}",
        found.lines.len(),
        found.overlap.len() - 1,
        short(found.time()),
        short(found.resolution())
    )
}

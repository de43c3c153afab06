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
use crate::grid::Edge;
use crate::physics::eigen::{EigenError, Levels};
use crate::physics::{Autocorrelation, Decay, SpectralLine};
use crate::rounding::truncated;
use crate::scene::Scenario;
use crate::units::four_digits;
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
    /// Write energies, residuals and degeneracies as CSV (autocorrelation: energies and weights, and of scenes that absorb decay rates, errors and phases)
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
    let grid = scenario.grid();
    let has_absorbing_edges = grid.edges()[..grid.rank()].contains(&Edge::Absorb);
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
    let eigen::Recorded { found, steps } = found;
    say!("{}", summary(&found));
    for note in notes.into_iter().map(str::to_owned).chain(steps) {
        tell!("note: {note}");
    }
    if has_absorbing_edges && found.lines.iter().any(|line| line.decay.is_some()) {
        tell!(
            "note: the errors leave out what the absorbing edges do: their layers reflect a part, which may shift energies and rates by more; a run with another grid.absorb_width shows by how much"
        );
    }
    note_fits(&found);
    note_range(&found);
    let most = args.levels as usize;
    let highest = (found.lines.iter().take(most)).fold(0.0f64, |most, line| most.max(line.energy.abs()));
    for (n, line) in found.lines.iter().enumerate().take(most) {
        let decay = match &line.decay {
            Some(decay) => decayed(decay),
            None if found.rest.is_some() => "  no rate was fitted".to_owned(),
            None if line.crowded => "  unresolved group".to_owned(),
            None => String::new(),
        };
        say!(
            "{n:>5}  E = {:<16}  weight {:<8}{decay}",
            figure(line.energy, highest, 8),
            share(line.weight)
        );
    }
    if found.lines.len() > most {
        tell!("note: {} more lines; --levels shows more", found.lines.len() - most);
    }
    if let Some(path) = &args.csv {
        write_lines(path, &found)?;
    }
    Ok(())
}

/// Notes what fits have left of the record, and lines that are no levels of their own.
fn note_fits(found: &Autocorrelation) {
    if let Some(rest) = found.rest.filter(|rest| *rest >= 1e-4) {
        let share = four_digits(100.0 * rest);
        tell!(
            "note: the lines leave {share} % of Σ|⟨ψ(0)|ψ(t)⟩|² over the steps: levels that the record does not tell apart, or what is no exponential decay"
        );
    }
    if found.dropped > 0 {
        tell!(
            "note: {} fits were dropped, because they left more of the record than there was",
            found.dropped
        );
    }
    let unfitted = |line: &&SpectralLine| found.rest.is_some() && line.decay.is_none();
    let unfitted = found.lines.iter().filter(unfitted).count();
    if unfitted > 0 {
        let width = short(found.resolution());
        tell!(
            "note: {unfitted} of the lines last and could not be fitted with a rate: they are those of Hann's window, {width} wide, and may be several levels each"
        );
    }
    let crowded = found.lines.iter().filter(|line| line.crowded).count();
    if crowded > 0 {
        tell!(
            "note: {crowded} of the lines stand in groups that the record does not resolve (unresolved group): their number, energies and weights are uncertain; set a later time.end"
        );
    }
}

/// A weight with four digits and more that count.
fn share(weight: f64) -> String {
    if weight == 0.0 || weight >= 1e-3 {
        format!("{weight:.6}")
    } else {
        format!("{weight:.3e}")
    }
}

/// A rate or a time with five digits, in exponents below a thousandth and from a million on.
fn five_digits(value: f64) -> String {
    if (1e-3..1e6).contains(&value) {
        let before = value.log10().floor();
        format!("{value:.*}", truncated((4.0 - before).max(0.0)))
    } else {
        format!("{value:.4e}")
    }
}

/// How a line decays: Γ, or that it is below what the record tells, life time and error.
fn decayed(decay: &Decay) -> String {
    let least = 2.0 * decay.error;
    if decay.rate > least {
        let life = five_digits(1.0 / decay.rate);
        format!(
            "  Γ = {:<10}  1/Γ = {life:<10}  error {:.0e}",
            five_digits(decay.rate),
            decay.error
        )
    } else {
        format!(
            "  Γ < {least:<10.0e}  1/Γ > {:<10.0e}  error {:.0e}",
            1.0 / least,
            decay.error
        )
    }
}

/// Writes lines as CSV, with their decay where that was fitted.
fn write_lines(path: &Path, found: &Autocorrelation) -> anyhow::Result<()> {
    let names = ["energy", "weight", "decay_rate", "error", "phase"];
    let columns = if found.rest.is_some() { &names[..] } else { &names[..2] };
    let mut csv = CsvWriter::create(path, columns)?;
    for line in &found.lines {
        let mut row = vec![line.energy, line.weight];
        match line.decay {
            Some(decay) => row.extend([decay.rate, decay.error, decay.phase]),
            None if found.rest.is_some() => row.extend([f64::NAN; 3]),
            None => {}
        }
        csv.row(&row)?;
    }
    Ok(csv.finish()?)
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
    let way = if found.rest.is_some() {
        "harmonic inversion, lines with their decay rates".to_owned()
    } else {
        let width = short(found.resolution());
        format!(
            "Hann's window, lines {width} wide at half their height (nearer ones are told apart by harmonic inversion, or marked)"
        )
    };
    format!(
        "{} lines in {} steps of the autocorrelation, T = {}: {way}, energies from {low} to {high}",
        found.lines.len(),
        found.overlap.len() - 1,
        short(found.time()),
    )
}

#[cfg(test)]
mod tests {
    use super::{five_digits, share};

    #[test]
    fn rates_and_weights_have_digits_enough() {
        for (value, text) in [
            (0.000_191_23, "1.9123e-4"),
            (0.001_170_24, "0.0011702"),
            (0.8, "0.80000"),
            (270_902.977, "270903"),
            (3.029_3e6, "3.0293e6"),
        ] {
            assert_eq!(five_digits(value), text);
        }
        for (weight, text) in [
            (0.933, "0.933000"),
            (0.001_038, "0.001038"),
            (0.000_049, "4.900e-5"),
            (0.0, "0.000000"),
        ] {
            assert_eq!(share(weight), text);
        }
    }
}

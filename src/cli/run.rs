//! `ripplon run`: a scene without a window.

use super::figures::short;
use super::numbers::whole;
use super::outputs::Outputs;
use super::phase_space::PhaseSpaceArgs;
#[cfg(feature = "hdf5")]
use super::series::SeriesArgs;
use super::sound::{self, SoundArgs, Sounds};
use super::terminal::{self, all_told, say, tell};
use super::{InputError, Interrupt, SceneArgs, gains, kept, named, scene, verdicts};
use crate::backend::ranks;
use crate::engine::{Engine, Phase, RunEnd, ends};
use crate::grid::Edge;
use crate::physics::Equation;
use crate::scene::Scenario;
use crate::solver::{Kind, order_word};
use crate::{solver, units};
use anyhow::bail;
use clap::Args;
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::sync::Arc;

/// What to run, how far, and what to write.
#[derive(Args, Debug)]
#[command(group(clap::ArgGroup::new("repeated").multiple(true)))]
pub struct RunArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Run to this time instead of the scene's end (units of the scene; seconds in sound)
    #[arg(long, value_name = "T", conflicts_with = "steps", value_parser = time)]
    until: Option<f64>,
    /// Take this many steps instead
    #[arg(long, value_name = "N", value_parser = whole(0_u64, None))]
    steps: Option<u64>,
    /// Write the field at the end (NPY, C order)
    #[arg(long, value_name = "F.npy")]
    pub(super) save: Option<PathBuf>,
    /// Write norm, energy, position, … as CSV
    #[arg(long, value_name = "F.csv")]
    pub(super) observables: Option<PathBuf>,
    /// Write the positions of Bohm's trajectories at every step as CSV
    #[arg(long, value_name = "F.csv")]
    pub(super) trajectories: Option<PathBuf>,
    /// Steps between rows of --observables; the last step always has a row (default: about 1000 rows)
    #[arg(long, value_name = "N", requires = "observables", value_parser = whole(1_u64, None))]
    sample: Option<u64>,
    /// With --observables: also momentum, its spread, Δx·Δp, angular momentum, overlap with the initial state,
    /// participation and purity (reads the whole field for each row)
    #[arg(long, requires = "observables")]
    pub(super) state: bool,
    /// Write the records of the detectors, a row per step, as CSV
    #[arg(long, value_name = "F.csv")]
    pub(super) detectors: Option<PathBuf>,
    /// Write the power spectra of the detectors' records as CSV, against angular frequency (quantum) or frequency in Hz (sound)
    #[arg(long, value_name = "F.csv")]
    pub(super) spectra: Option<PathBuf>,
    /// Repeat the way back from a mirror with fewer transducers and less of the record, and write the gain of each, focus over rms, as CSV
    #[arg(long, value_name = "F.csv")]
    pub(super) gains: Option<PathBuf>,
    #[command(flatten)]
    pub(super) phase_space: PhaseSpaceArgs,
    #[command(flatten)]
    pub(super) sounds: SoundArgs,
    /// Write a checkpoint at the end and when interrupted
    #[arg(long, value_name = "F", group = "repeated")]
    pub(super) checkpoint: Option<PathBuf>,
    #[cfg(feature = "hdf5")]
    #[command(flatten)]
    pub(super) series: SeriesArgs,
    /// Write the checkpoint and the snapshots of a series every N steps (default: the checkpoint at the end alone; about 100 snapshots)
    #[arg(long, value_name = "N", requires = "repeated", value_parser = whole(1_u64, None))]
    pub(super) every: Option<u64>,
    /// Continue from a checkpoint
    #[arg(long, value_name = "F")]
    pub(super) resume: Option<PathBuf>,
    /// Cut the grid into N parts along its slowest axis; like --set solver.parts=N. The result is the same bit for bit
    /// (crank-nicolson: up to rounding)
    #[arg(long, value_name = "N", value_parser = whole(1_u32, None))]
    parts: Option<u32>,
    /// Share the grid among NVIDIA devices: how many, their numbers (0,1), or all; like --set solver.devices=N. The
    /// field is the same bit for bit (crank-nicolson: up to rounding)
    #[arg(long, value_name = "N|0,1|all", value_parser = devices)]
    devices: Option<String>,
    /// Exit with code 1 if a prediction is wrong or was not reached
    #[arg(long)]
    strict: bool,
}

/// The value of `--devices` as in a scene file.
fn devices(text: &str) -> Result<String, String> {
    let numbers: Result<Vec<u8>, _> = text.split(',').map(|number| number.trim().parse::<u8>()).collect();
    match numbers {
        _ if text == "all" => Ok("\"all\"".to_owned()),
        Ok(numbers) if text.contains(',') => Ok(format!("{numbers:?}")),
        Ok(numbers) if numbers.len() == 1 => Ok(numbers[0].to_string()),
        _ => Err("write how many, the numbers of several (0,1), or all".to_owned()),
    }
}

/// Makes the run keep what `--observables` and `--state` need.
fn keep_records(args: &RunArgs, engine: &mut Engine, total: u64) -> anyhow::Result<()> {
    // Where the scene asks for it, resuming has said so.
    let begins_late = engine.clock().steps > 0 && !engine.knows_velocity() && !engine.scenario().asks_for_velocity();
    match (&args.observables, args.sample) {
        // A resumed run goes on as before unless it is told otherwise.
        (Some(_), None) if engine.log().is_some_and(|log| log.with_state == args.state) => {}
        (Some(_), sample) => {
            let kept = engine.log().map(|log| log.every);
            let every = sample.or(kept).unwrap_or_else(|| (total / 1000).max(1));
            if args.state {
                engine.keep_state_measures(every)?;
            } else {
                engine.keep_observables(every)?;
            }
        }
        (None, _) => {}
    }
    if begins_late && engine.knows_velocity() {
        tell!("note: {}", engine.velocity_counts_from_here());
    }
    Ok(())
}

/// The run at its start, or as a checkpoint left it.
fn begun(args: &RunArgs, scenario: &Arc<Scenario>) -> anyhow::Result<Engine> {
    let Some(path) = &args.resume else {
        return Ok(Engine::new(Arc::clone(scenario))?);
    };
    let (engine, remarks) = Engine::resume(Arc::clone(scenario), path)?;
    for remark in remarks {
        tell!("note: {remark}");
    }
    Ok(engine)
}

pub(super) fn run(args: &RunArgs) -> anyhow::Result<()> {
    let mut scene = args.scene.clone();
    scene
        .set
        .extend(args.parts.map(|parts| format!("solver.parts={parts}")));
    (scene.set).extend(args.devices.iter().map(|devices| format!("solver.devices={devices}")));
    let scenario = scene::load(&scene)?;
    // Found out now rather than after an hour.
    let sounds = sound::wanted(&args.sounds, &scenario)?;
    if args.gains.is_some() {
        gains::check(&scenario)?;
    }
    args.phase_space.check(&scenario)?;
    #[cfg(feature = "hdf5")]
    args.series.selection(&scenario)?;
    if args.state && scenario.model().equation() != Equation::Schrodinger {
        let message = "--state is for quantum scenes: sound has no momentum of this kind; leave it out";
        return Err(InputError(message.to_owned()).into());
    }
    check_files(args, &sounds, &scenario)?;
    let mut engine = begun(args, &scenario)?;
    let total = steps_to_take(args, &scenario, &engine)?;
    keep_records(args, &mut engine, total)?;
    kept::note(args, &engine, total);
    // From the first file on nothing ends the run without writing what was asked for.
    let interrupt = Interrupt::listen()?;
    let mut outputs = Outputs::create(args, total, &mut engine)?;
    say!("{}", headline(&scenario, &engine));
    if let Some(cut) = engine.report().cut() {
        say!("{cut}");
    }
    super::scene::print_note(&engine, Some(length(&engine, total)));

    let bar = progress_bar(total);
    engine.set_watch(Box::new({
        let bar = bar.clone();
        move |task, done| {
            bar.set_message(format!("{task}: {:.0} %", 100.0 * done));
            interrupt.flow()
        }
    }));
    let outcome = take_steps(args, &mut engine, &mut outputs, total, &bar, interrupt);
    bar.finish_and_clear();
    let (end, failed) = match outcome {
        Ok(end) => end,
        Err(error) => {
            // What was recorded up to here is of use; the field is not.
            let mut failed = outputs.finish_records(&mut engine);
            failed.push(error);
            return all_told(failed);
        }
    };
    // Everything is written, each file whatever becomes of the others, before anything is said: nobody may be there to hear it.
    let mut failed: Vec<anyhow::Error> = failed.into_iter().collect();
    failed.extend(outputs.finish(&mut engine));
    failed.extend(args.phase_space.write(&mut engine));
    let sounds = sound::write(&sounds, &engine);
    if let Some(path) = &args.checkpoint {
        failed.extend(engine.save_checkpoint(path).err().map(anyhow::Error::from));
    }
    say!("{}", summary(&engine, &end));
    if let Some(line) = mirror_line(&mut engine)? {
        say!("{line}");
    }
    for line in sounds {
        match line {
            Ok(line) => {
                say!("{line}");
            }
            Err(error) => failed.push(error.into()),
        }
    }
    let claims = verdicts::claims(&args.scene.scene, &args.scene.set, engine.scenario());
    let unsure = verdicts::print(&engine, &claims);
    all_told(failed)?;
    if let Some(path) = args.gains.as_ref().filter(|_| end.reached) {
        say!("{}", gains::write(path, &args.scene, &mut engine)?);
    }
    if !end.reached {
        let clock = engine.clock();
        bail!(
            "interrupted at step {}, t = {}{}; all requested files were written{}",
            clock.steps,
            short(clock.time),
            scene::units_of(&scenario)[1],
            match &args.checkpoint {
                Some(path) => format!("; go on with --resume {}", path.display()),
                None => String::new(),
            }
        );
    }
    if args.strict && unsure > 0 {
        bail!(not_right(unsure, scenario.expectations().len()));
    }
    Ok(())
}

/// Checks that every file can be written and that none is also read.
fn check_files(args: &RunArgs, sounds: &Sounds, scenario: &Scenario) -> Result<(), InputError> {
    let mut outputs = Outputs::named(args);
    outputs.extend(sounds.outputs());
    outputs.extend(args.phase_space.named());
    let inputs = named::inputs(&args.scene, scenario);
    named::check(&outputs, &inputs)?;
    #[cfg(feature = "hdf5")]
    args.series.check_place(scenario, args.resume.is_some())?;
    // A checkpoint may follow the one that the run went on from; nothing else may take its place.
    let others: Vec<_> = outputs
        .into_iter()
        .filter(|(option, _)| *option != "--checkpoint")
        .collect();
    named::check(&others, args.resume.as_slice())
}

/// The time of a run, its past included, that takes `total` more steps.
#[expect(clippy::cast_precision_loss, reason = "a clock counts fewer steps than 2^53")]
fn length(engine: &Engine, total: u64) -> f64 {
    let clock = engine.clock();
    clock.steps.saturating_add(total) as f64 * clock.time_step.abs()
}

/// The number of requested steps.
fn steps_to_take(args: &RunArgs, scenario: &Scenario, engine: &Engine) -> anyhow::Result<u64> {
    if let Some(steps) = args.steps {
        #[expect(clippy::cast_precision_loss, reason = "compared with a round number")]
        if steps as f64 > solver::MOST_STEPS {
            let message = format!(
                "--steps {steps}: a clock can count {:.1e} steps; take fewer",
                solver::MOST_STEPS
            );
            return Err(InputError(message).into());
        }
        return Ok(steps);
    }
    let Some(end) = args.until.or(scenario.time().end) else {
        return Err(InputError(
            "the scene has no end; say how far to run: --until T, --steps N, or --set time.end=T".to_owned(),
        )
        .into());
    };
    if !end.is_finite() {
        return Err(InputError(format!("--until {end} is not a time; give a number")).into());
    }
    let steps = engine.steps_until(end)?;
    note_end(scenario, engine, (end, steps));
    Ok(steps)
}

/// Notes where a run ends if no whole number of steps leads to the requested time.
#[expect(clippy::cast_precision_loss, reason = "steps are below 2^52")]
fn note_end(scenario: &Scenario, engine: &Engine, (asked, steps): (f64, u64)) {
    let clock = engine.clock();
    let end = clock.time + steps as f64 * clock.time_step;
    // With a mirror a step that is written leads to the focus rather than to the end.
    let counts = scenario.mirror().is_none() || scenario.time().step.is_none();
    let [_, second] = scene::units_of(scenario);
    let judged = if scenario.expectations().is_empty() {
        ""
    } else {
        ", where the predictions for the end are judged"
    };
    if counts && (end - asked).abs() > 1e-3 * clock.time_step.abs() {
        tell!(
            "note: no whole number of steps of Δt = {}{second} leads to t = {}{second}: the run ends at t = {}{second}{judged}",
            short(clock.time_step),
            short(asked),
            short(end)
        );
    }
}

/// Takes the steps, writes rows as they come and checkpoints when they are due. A table that cannot be written ends the run, and is named.
fn take_steps(
    args: &RunArgs,
    engine: &mut Engine,
    outputs: &mut Outputs,
    total: u64,
    bar: &ProgressBar,
    interrupt: Interrupt,
) -> anyhow::Result<(RunEnd, Option<anyhow::Error>)> {
    let mut sum = RunEnd {
        steps: 0,
        seconds: 0.0,
        reached: true,
    };
    while sum.steps < total {
        let left = total - sum.steps;
        let checkpoint = args.every.filter(|_| args.checkpoint.is_some());
        let piece = checkpoint.map_or(left, |every| left.min(every - engine.clock().steps % every));
        #[cfg(feature = "hdf5")]
        let piece = outputs.until_snapshot(engine).map_or(piece, |next| piece.min(next));
        let mut written = Ok(());
        let end = engine.run_steps(piece, &mut |engine, progress| {
            bar.set_position(sum.steps + progress.done);
            bar.set_message(rate(engine, sum.steps + progress.done, sum.seconds + progress.seconds));
            written = outputs.rows(engine);
            ends(interrupt.asked() || written.is_err())
        })?;
        sum.steps += end.steps;
        sum.seconds += end.seconds;
        sum.reached = end.reached;
        #[cfg(feature = "hdf5")]
        let written = written.and_then(|()| outputs.snapshot(engine));
        if let Err(error) = written {
            sum.reached = false;
            return Ok((sum, Some(error)));
        }
        let [asked] = ranks::agree([f64::from(u8::from(interrupt.asked()))]);
        if asked != 0.0 && sum.steps < total {
            sum.reached = false;
        }
        if !sum.reached {
            break;
        }
        let due = args
            .every
            .is_some_and(|every| engine.clock().steps.is_multiple_of(every));
        if let (Some(path), true, true) = (&args.checkpoint, due, sum.steps < total) {
            // Where there is no room now there may be some later; the run goes on.
            if let Err(error) = engine.save_checkpoint(path) {
                tell!("warning: {error}");
            }
        }
    }
    Ok((sum, None))
}

/// What is run, in one line.
fn headline(scenario: &Scenario, engine: &Engine) -> String {
    let report = engine.report();
    let clock = engine.clock();
    let title = scenario.title_or("Scene");
    let [_, second] = scene::units_of(scenario);
    let from = if clock.steps > 0 {
        format!(", from step {} (t = {}{second})", clock.steps, short(clock.time))
    } else {
        String::new()
    };
    format!(
        "{title}: {} sites, {}/{} on {} in {} precision, {}, Δt = {}{second}{from}",
        scenario.grid(),
        report.method,
        report.variant,
        report.backend.as_str(),
        report.precision.as_str(),
        order_of(engine),
        short(clock.time_step),
    )
}

/// The order in time and, if a method has one, in space.
fn order_of(engine: &Engine) -> String {
    let report = engine.report();
    let in_space = solver::find(report.method)
        .filter(|method| method.orders.len() == 1)
        .and_then(|method| method.parameters.iter().find(|known| known.key == "order"))
        .map(|known| match known.kind {
            Kind::OneOf { default, .. } => engine.scenario().solver().integer("order", default),
            _ => i64::from(report.order),
        });
    match in_space {
        Some(in_space) => format!("order {} in time, {in_space} in space", report.order),
        None => format!("order {}", order_word(report.order)),
    }
}

/// What was done, in one line.
fn summary(engine: &Engine, end: &RunEnd) -> String {
    format!(
        "{} to t = {}{} in {:.2} s, {}, {}",
        units::counted(end.steps, "step"),
        short(engine.clock().time),
        scene::units_of(engine.scenario())[1],
        end.seconds,
        rate(engine, end.steps, end.seconds),
        balance(engine),
    )
}

/// The change of norm or energy: it is a drift only if nothing absorbs and nothing plays.
fn balance(engine: &Engine) -> String {
    let scenario = engine.scenario();
    let sound = scenario.model().equation() == Equation::Acoustic;
    let what = if sound { "energy" } else { "norm" };
    let grid = scenario.grid();
    let absorbs =
        grid.edges()[..grid.rank()].contains(&Edge::Absorb) && grid.absorb_width() > 0 || scenario.takes_energy();
    let plays = !scenario.sources().is_empty()
        || engine
            .mirror()
            .is_some_and(|mirror| mirror.turned && mirror.playing > 0);
    if plays {
        let [first, last] = [engine.initial_observables(), engine.latest_observables().1];
        let (injected, unit) = if sound {
            (last.energy - first.energy, ["", " J/m²", " J/m", " J"][grid.rank()])
        } else {
            (last.norm - first.norm, "")
        };
        let less = if absorbs { ", net of absorption" } else { "" };
        return if injected.is_finite() {
            format!("{what} injected {injected:.2e}{unit}{less}")
        } else {
            // Σp² over the sites is at hand; the energy has a second half, which nobody keeps unless it is asked for.
            #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
            let rms = (last.norm / (grid.cell_volume() * grid.sites() as f64)).sqrt();
            format!("pressure {rms:.2e} Pa rms, {what} of the sources not computed (add --observables)")
        };
    }
    if absorbs && !scenario.time().imaginary {
        // Rounded first, and a zero without its sign: −0.00 % would be no amount.
        let percent = (-1e4 * engine.drift()).round() / 100.0 + 0.0;
        return format!("{what} absorbed {percent:.2} %");
    }
    format!("{what} drift {:.2e}", engine.drift())
}

/// The width of a focus, if it has one, and its contrast.
fn focus(scenario: &Scenario, width: Option<f64>, contrast: f64) -> String {
    let [metre, _] = scene::units_of(scenario);
    let width = width.map_or(String::new(), |width| format!("{}{metre} wide, ", short(width)));
    format!("{width}{} times the rms of the field", short(contrast))
}

/// What a mirror has made of the wave, in one line.
fn mirror_line(engine: &mut Engine) -> anyhow::Result<Option<String>> {
    let (Some(status), Some(found)) = (engine.mirror(), engine.refocus()?) else {
        return Ok(None);
    };
    if status.phase == Phase::Record {
        // One that reverses the whole field has no sites that record or play.
        let heard = if engine.scenario().listens() {
            let sites = units::counted(status.heard as u64, "site");
            format!("; {sites} recorded so far")
        } else {
            String::new()
        };
        return Ok(Some(format!("mirror: time is reversed at step {}{heard}", status.turn)));
    }
    let scenario = engine.scenario();
    // At the moment at which it is to come together, which a burst lets come before the end.
    let of_focus = match (engine.replays().last(), engine.focal_step()) {
        (Some(replay), Some(focal)) => {
            #[expect(clippy::cast_precision_loss, reason = "steps are far below 2^52")]
            let before = (engine.clock().steps as f64 - focal as f64) * engine.clock().time_step;
            let at = engine.clock().time - before;
            format!(
                "focus at t = {}{}: {}",
                short(at),
                scene::units_of(scenario)[1],
                focus(scenario, replay.width, replay.contrast)
            )
        }
        _ => format!("focus now {}", focus(scenario, found.width, found.contrast)),
    };
    let play = match status.playing {
        _ if !scenario.listens() => String::new(),
        1 => "1 site plays, ".to_owned(),
        sites => format!("{sites} sites play, "),
    };
    // A source leaves nothing at t = 0 to compare with.
    if !found.compares() {
        return Ok(Some(format!("mirror: {play}{of_focus}")));
    }
    Ok(Some(format!(
        "mirror: {play}residual inside {:.2e} at the reversal, fidelity {:.6}, error {:.2e} ({:.2e} after scaling), {of_focus}",
        found.residual, found.fidelity, found.error, found.scaled_error,
    )))
}

#[expect(clippy::cast_precision_loss, reason = "four digits are shown")]
fn rate(engine: &Engine, steps: u64, seconds: f64) -> String {
    if steps == 0 || seconds <= 0.0 {
        return "0 sites/s".to_owned();
    }
    let sites = engine.scenario().grid().sites() as f64;
    format!("{}sites/s", units::si(steps as f64 * sites / seconds))
}

/// How many of all predictions are not right.
fn not_right(unsure: usize, all: usize) -> String {
    let all = units::counted(all as u64, "prediction");
    format!("{unsure} of {all} {} not right", if unsure == 1 { "is" } else { "are" })
}

/// A time.
pub(super) fn time(text: &str) -> Result<f64, String> {
    (text.parse()).map_err(|_| "write a number alone; times are in the scene's units, in sound seconds".to_owned())
}

/// A progress bar on a terminal, nothing elsewhere.
pub(super) fn progress_bar(total: u64) -> ProgressBar {
    terminal::bar(
        total,
        "{bar:32} {percent:>3} % step {human_pos} of {human_len}, {msg}, {eta} left",
    )
}

#[cfg(test)]
mod tests {
    use super::not_right;

    #[test]
    fn one_is_and_several_are() {
        assert_eq!(not_right(1, 2), "1 of 2 predictions is not right");
        assert_eq!(not_right(2, 3), "2 of 3 predictions are not right");
        assert_eq!(not_right(1, 1), "1 of 1 prediction is not right");
    }
}

//! `ripplon run SCENE --gains F.csv`: the way back from a mirror, repeated with fewer transducers and with less of the record.

use super::figures::short;
use super::{InputError, Interrupt, SceneArgs, scene};
use crate::engine::mirror::gain::law;
use crate::engine::{Engine, Phase};
use crate::export::csv::CsvWriter;
use crate::physics::{Equation, MirrorMethod};
use crate::scene::Scenario;
use anyhow::bail;
use std::path::Path;

/// Parts of the record that are played.
const PARTS: [f64; 3] = [1.0, 0.5, 0.25];

/// Refuses, before the run, a scene that has no gain to measure.
///
/// # Errors
/// [`InputError`].
pub(super) fn check(scenario: &Scenario) -> Result<(), InputError> {
    let plays = |method| matches!(method, MirrorMethod::Reversal | MirrorMethod::OneBit);
    if !scenario.mirror().is_some_and(|mirror| plays(mirror.method)) {
        return Err(InputError(
            "--gains: the scene has no mirror whose transducers can be fewer; give it a [mirror] of method = \"reversal\" or \"one-bit\"".to_owned(),
        ));
    }
    Ok(())
}

/// Takes the way back with all transducers, half of them, a quarter, … one, and for each with all of the record, a half and a quarter; writes a row for each.
///
/// # Errors
/// If the run has not reversed time, its focus was not recorded, the back end fails, the user interrupts it, or the disk is full.
#[expect(clippy::cast_precision_loss, reason = "numbers of transducers are far below 2^52")]
pub(super) fn write(path: &Path, args: &SceneArgs, engine: &mut Engine) -> anyhow::Result<String> {
    let (Some(status), Some(focal)) = (engine.mirror(), engine.focal_step()) else {
        return Err(
            InputError("--gains: the source's signal outlasts the record; reverse time later".to_owned()).into(),
        );
    };
    if status.phase == Phase::Record {
        let turn = short(status.turn as f64 * engine.clock().time_step.abs());
        return Err(InputError(format!(
            "--gains: the run ended before the time reversal at t = {turn}; run longer"
        ))
        .into());
    }
    let recorded = status.turn as f64 * engine.clock().time_step.abs();
    let record = engine
        .scenario()
        .mirror()
        .map_or(recorded, |own| own.record.min(recorded));
    let interrupt = Interrupt::listen()?;
    let mut playing = status.playing;
    while playing > 0 {
        for part in PARTS {
            let mut own = args.clone();
            own.set.push(format!("mirror.playing={playing}"));
            own.set.push(format!("mirror.record={:e}", part * record));
            engine.update(scene::load(&own)?)?;
            // Settings that are those of the run itself leave it where it is, with its focus measured.
            if engine.clock().steps < focal {
                let left = focal - engine.clock().steps;
                let end = engine.run_steps(left, &mut |_, _| interrupt.flow())?;
                if !end.reached {
                    bail!("interrupted; --gains {} is not written", path.display());
                }
            }
        }
        playing /= 2;
    }
    let record = match engine.scenario().model().equation() {
        Equation::Acoustic => "record (s)",
        Equation::Schrodinger => "record",
    };
    let mut csv = CsvWriter::create(path, &["transducers", record, "contrast", "law"])?;
    let a = law(engine.replays()).unwrap_or(0.0);
    for replay in engine.replays() {
        let share = replay.playing as f64 * replay.record;
        csv.row(&[replay.playing as f64, replay.record, replay.contrast, a * share.sqrt()])?;
    }
    csv.finish()?;
    Ok(format!(
        "gain: {} ways back from one record written to {}",
        engine.replays().len(),
        path.display()
    ))
}

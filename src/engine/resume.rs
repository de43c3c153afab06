//! Writing a run's checkpoint, and continuing from one.

use super::checkpoint::{Checkpoint, CheckpointError, RunInfo};
use super::mirror::stored;
use super::{Change, Engine, EngineError, Verdict};
use crate::backend::simd::Level;
use crate::physics::Observables;
use crate::scene::Parameter;
use crate::scene::Scenario;
use crate::solver::{self, Report, SolverState};
use std::path::Path;
use std::sync::Arc;

impl Engine {
    /// Writes the run's whole state to a file; [`Engine::resume`] continues with the same bits.
    ///
    /// # Errors
    /// If the run has failed, the back end fails, or the file cannot be written; a file that was there is then unchanged.
    pub fn save_checkpoint(&mut self, path: &Path) -> Result<(), EngineError> {
        if let Some(failure) = self.failure() {
            return Err(failure.clone());
        }
        let mut state = self.solver.save()?;
        self.store_timeline(&mut state);
        self.paths.store(&mut state);
        self.taps.store(&mut state.arrays);
        let places = 0..self.taps.taps().len();
        Checkpoint {
            run: run_info(&self.scenario, &self.report()),
            state,
            times: self.taps.times().to_vec(),
            records: places.map(|place| self.taps.values(place).to_vec()).collect(),
            log: self.log.clone(),
            initial: self.initial,
            measured: self.verdicts.iter().map(|verdict| verdict.measured()).collect(),
        }
        .write(path)?;
        Ok(())
    }

    /// A run of `scenario` that continues from a checkpoint, with remarks on what differs from then.
    ///
    /// With the same scene it continues with the same bits (the end, view, texts may differ). The grid, equation and initial
    /// state must be those of the checkpoint; all other differences take effect from here on, like live edits.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged or belongs to another scene, or the solver cannot be built.
    pub fn resume(scenario: Arc<Scenario>, path: &Path) -> Result<(Self, Vec<String>), EngineError> {
        let mut checkpoint = Checkpoint::read(path)?;
        let timeline = stored::split(&mut checkpoint.state);
        let was = &checkpoint.run;
        let mismatch = |what: String| CheckpointError::Mismatch {
            path: path.to_owned(),
            what,
        };
        // The state belongs to the scene that it was written with: half steps that it leaves open are that scene's.
        let read = |overrides: &[String]| {
            solver::read_scene_text(&was.scene, scenario.origin(), overrides)
                .map(|(_, scenario)| Arc::new(scenario))
                .map_err(|faults| mismatch(format!("the scene in it can no longer be read:\n{faults}")))
        };
        // What the machine chose when the run began, and on which its bits depend, e.g. how a line is cut into blocks.
        let mut resolved = settings(&checkpoint.state);
        let then = read(&resolved)?;
        if let Some(what) = other_run(&then, &scenario) {
            return Err(mismatch(what).into());
        }
        let mut remarks = Vec::new();
        let mut scene_then = then.file().to_toml();
        let mut engine = Self::new(then)?;
        let chosen = engine.report().variant;
        let here = run_info(&engine.scenario, &engine.report());
        for (what, then, now) in [
            ("version", &was.program, &here.program),
            ("vectors", &was.vectors, &here.vectors),
        ] {
            // Checkpoints of format 1 do not say which vectors there were.
            if then != now && !then.is_empty() {
                remarks.push(format!(
                    "the checkpoint was written with {what} {then}, and this is {now}: the last bits may differ"
                ));
            }
        }
        if was.variant != chosen {
            // Chosen by a measurement, or on another machine: the run goes on as it began.
            resolved.push(format!("solver.variant={}", was.variant));
            let then = read(&resolved)?;
            scene_then = then.file().to_toml();
            engine = Self::new(then)?;
            let other = &scenario.solver().variant;
            if other != "auto" && *other != was.variant {
                remarks.push(format!(
                    "the checkpoint was written by the variant {}, and the scene asks for {other}: the last bits may differ",
                    was.variant
                ));
            }
        }
        engine.taps.restore(checkpoint.times, checkpoint.records);
        let measured = engine.scenario.expectations().iter().zip(&checkpoint.measured);
        for (verdict, (expectation, value)) in engine.verdicts.iter_mut().zip(measured) {
            *verdict = value.map_or(Verdict::Pending, |value| Verdict::of(expectation, value));
        }
        engine.log = checkpoint.log;
        engine.paths.restore(&mut checkpoint.state);
        engine.taps.take(&mut checkpoint.state.arrays);
        engine.restore_timeline(&timeline)?;
        engine.solver.load(&checkpoint.state)?;
        engine.watch_shown_peak()?;
        engine.initial = Observables {
            // Known from the start of the same run.
            invariant: engine.initial.invariant,
            ..checkpoint.initial
        };
        engine.observables()?;
        let scenario = with_settings(scenario, &resolved);
        let differ = differing(&scene_then, &scenario.file().to_toml());
        let velocity_known = engine.knows_velocity();
        if engine.update(scenario)? == Change::Restarted {
            // What is left of a scene is its end, from which an automatic Δt follows.
            let what = if differ.is_empty() {
                "time.end, which its automatic step leads to".to_owned()
            } else {
                differ.join(", ")
            };
            return Err(mismatch(format!(
                "a run with a mirror cannot continue with another {what}; give the scene that it was written with"
            ))
            .into());
        }
        if !differ.is_empty() {
            remarks.push(format!(
                "the scene is another one than in the checkpoint, from here on: {}",
                differ.join(", ")
            ));
        }
        if engine.scenario.asks_for_velocity() && !velocity_known {
            remarks.push(engine.velocity_counts_from_here());
        }
        Ok((engine, remarks))
    }
}

/// The resolved solver settings stored in a state, as overrides of a scene.
fn settings(state: &SolverState) -> Vec<String> {
    let all = state.scalars.iter();
    all.filter(|(name, _)| name.starts_with("solver."))
        .map(|(name, value)| format!("{name}={value:.0}"))
        .collect()
}

/// A scene in which the settings left to the machine are as they were resolved before.
fn with_settings(scenario: Arc<Scenario>, settings: &[String]) -> Arc<Scenario> {
    let own = &scenario.solver().parameters;
    let open: Vec<String> = settings
        .iter()
        .filter(|setting| {
            let key = setting.strip_prefix("solver.").and_then(|rest| rest.split_once('='));
            key.is_some_and(|(key, _)| match own.get(key) {
                _ if key == "variant" => scenario.solver().variant == "auto",
                Some(value) => *value == Parameter::Word("auto".to_owned()),
                None => true,
            })
        })
        .cloned()
        .collect();
    if open.is_empty() {
        return scenario;
    }
    let read = solver::read_scene_text(&scenario.file().to_toml(), scenario.origin(), &open);
    // A method that has no such setting has another state as well.
    read.map_or(scenario, |(_, scenario)| Arc::new(scenario))
}

fn run_info(scenario: &Scenario, report: &Report) -> RunInfo {
    RunInfo {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        vectors: Level::best().as_str().to_owned(),
        scene: scenario.file().to_toml(),
        method: report.method.to_owned(),
        variant: report.variant.to_owned(),
        backend: report.backend.as_str().to_owned(),
        precision: report.precision.as_str().to_owned(),
    }
}

/// The differences that make it another run, which cannot continue from the state.
fn other_run(was: &Scenario, now: &Scenario) -> Option<String> {
    let (old, new) = (was.grid(), now.grid());
    let sizes = (old.size(), old.rank()) != (new.size(), new.rank());
    if sizes {
        return Some(format!(
            "it holds {old} sites and the scene has {new}; give the scene that it was written with"
        ));
    }
    let key = if old != new {
        "[grid]"
    } else if was.model().equation() != now.model().equation() {
        "the equation"
    } else if was.initial() != now.initial() {
        "the initial state"
    } else {
        return None;
    };
    Some(format!("{key} is another one; give the scene that it was written with"))
}

/// The keys that differ and that determine what is simulated, how, or what is recorded.
fn differing(was: &str, now: &str) -> Vec<String> {
    const WHOLE: [&str; 9] = [
        "quantum",
        "acoustic",
        "layer",
        "source",
        "mirror",
        "solver",
        "detector",
        "trajectory",
        "expect",
    ];
    let table = |text: &str| text.parse::<toml::Table>().unwrap_or_default();
    let (was, now) = (table(was), table(now));
    let sections = WHOLE
        .into_iter()
        .filter(|section| was.get(*section) != now.get(*section));
    let time = |table: &toml::Table, key: &str| table.get("time")?.get(key).cloned();
    let times = ["step", "imaginary"]
        .into_iter()
        .filter(|key| time(&was, key) != time(&now, key));
    sections
        .map(|section| format!("[{section}]"))
        .chain(times.map(|key| format!("time.{key}")))
        .collect()
}

//! The timeline of a mirror in a checkpoint: arrays and numbers in addition to the solver's own, named `mirror.…`.

use super::{Leg, Phase};
use crate::engine::engine::Snapshot;
use crate::engine::{Engine, EngineError, Verdict};
use crate::field::FieldData;
use crate::physics::Refocus;
use crate::solver::transducers::{Act, Transducers};
use crate::solver::{Clock, Edit, SolverState, Taps};
use num_complex::Complex64;
use std::sync::Arc;

const PREFIX: &str = "mirror.";
const TURNED: &str = "mirror.turned.";
const ACTS: [Act; 3] = [Act::Record, Act::Add, Act::Overwrite];

/// Removes the timeline's part from a state.
pub(in crate::engine) fn split(state: &mut SolverState) -> SolverState {
    let mut own = SolverState {
        clock: state.clock,
        arrays: Vec::new(),
        scalars: Vec::new(),
    };
    let ours = |name: &str| name.starts_with(PREFIX);
    own.arrays = state.arrays.extract_if(.., |(name, _)| ours(name)).collect();
    own.scalars = state.scalars.extract_if(.., |(name, _)| ours(name)).collect();
    own
}

impl Engine {
    /// Adds the timeline to a state that is saved.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub(in crate::engine) fn store_timeline(&self, state: &mut SolverState) {
        let Some(timeline) = &self.timeline else { return };
        let mut array = |name: String, data: FieldData| state.arrays.push((name, data));
        let mut scalars: Vec<(String, f64)> = Vec::new();
        let mut scalar = |name: &str, value: f64| scalars.push((format!("{PREFIX}{name}"), value));
        scalar("turn", timeline.turn as f64);
        scalar("back", f64::from(u8::from(timeline.leg.phase == Phase::Replay)));
        scalar("residual", timeline.leg.residual);
        if let Some(own) = self.taps.transducers() {
            let act = ACTS.iter().position(|act| *act == own.act()).unwrap_or(0);
            scalar("act", act as f64);
            scalar("played", own.played() as f64);
            array("mirror.heard".into(), FieldData::Complex128(own.heard().to_vec()));
            array("mirror.signal".into(), FieldData::Complex128(own.signal().to_vec()));
        }
        if let Some(turned) = &timeline.leg.turned {
            let clock = turned.state.clock;
            scalar("turned.steps", clock.steps as f64);
            scalar("turned.time", clock.time);
            scalar("turned.records", turned.taps.times().len() as f64);
            for (name, value) in &turned.state.scalars {
                scalar(&format!("turned.own.{name}"), *value);
            }
            for (name, data) in &turned.state.arrays {
                array(format!("{TURNED}own.{name}"), data.clone());
            }
            let mut means = Vec::new();
            turned.taps.store(&mut means);
            for (name, data) in means {
                array(format!("{TURNED}{name}"), data);
            }
            let heard = turned.taps.transducers().map(|own| own.heard().to_vec());
            array(
                format!("{TURNED}heard"),
                FieldData::Complex128(heard.unwrap_or_default()),
            );
        }
        if let Some(log) = &self.log {
            let rows = log.rows.iter().flat_map(|row| row.refocus.unwrap_or_default().values());
            array("mirror.log".into(), FieldData::Float64(rows.collect()));
        }
        state.scalars.extend(scalars);
    }

    /// Continues the timeline of a checkpoint, before the solver's own state is loaded; detectors and verdicts are those of the checkpoint already.
    ///
    /// # Errors
    /// If the medium of the way back cannot be taken over.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts that were written from counts"
    )]
    pub(in crate::engine) fn restore_timeline(&mut self, own: &SolverState) -> Result<(), EngineError> {
        let scalar = |name: &str| {
            let name = format!("{PREFIX}{name}");
            own.scalars
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        };
        let complex = |name: &str| -> Vec<Complex64> {
            let found = own.arrays.iter().find(|(known, _)| known == name);
            found.map(|(_, data)| data.to_complex128()).unwrap_or_default()
        };
        let (Some(timeline), Some(turn)) = (&self.timeline, scalar("turn")) else {
            return Ok(());
        };
        let all = Arc::clone(&timeline.sites.all);
        let turned = scalar("turned.steps").map(|steps| {
            let prefix = format!("{TURNED}own.");
            let stripped = |name: &str| name.strip_prefix(&prefix).map(str::to_owned);
            let mut taps = Taps::of(&self.scenario);
            let records = (scalar("turned.records").unwrap_or(0.0) as usize).min(self.taps.times().len());
            let detectors = 0..self.taps.taps().len();
            taps.restore(
                self.taps.times()[..records].to_vec(),
                detectors.map(|n| self.taps.values(n)[..records].to_vec()).collect(),
            );
            let there =
                |(name, data): &(String, FieldData)| Some((name.strip_prefix(TURNED)?.to_owned(), data.clone()));
            taps.take(&mut own.arrays.iter().filter_map(there).collect());
            if !all.is_empty() {
                let heard = complex("mirror.turned.heard");
                *taps.transducers_mut() = Some(Transducers::listening(Arc::clone(&all), heard));
            }
            let clock = Clock {
                steps: steps as u64,
                time: scalar("turned.time").unwrap_or(0.0),
                time_step: own.clock.time_step,
            };
            let verdicts = self.scenario.expectations().iter().zip(&self.verdicts);
            Snapshot {
                state: SolverState {
                    clock,
                    arrays: (own.arrays.iter())
                        .filter_map(|(name, data)| Some((stripped(name)?, data.clone())))
                        .collect(),
                    scalars: (own.scalars.iter())
                        .filter_map(|(name, value)| Some((stripped(name)?, *value)))
                        .collect(),
                },
                taps,
                peak: Vec::new(),
                verdicts: verdicts
                    .map(|(expectation, verdict)| {
                        if expectation.at > clock.time + clock.time_step / 2.0 {
                            Verdict::Pending
                        } else {
                            *verdict
                        }
                    })
                    .collect(),
                paths: self.paths.until(clock.time),
                leg: Some(Leg {
                    phase: Phase::Record,
                    turned: None,
                    residual: 0.0,
                }),
            }
        });
        let phase = if scalar("back") == Some(1.0) {
            Phase::Replay
        } else {
            Phase::Record
        };
        let playing = self
            .scenario
            .mirror()
            .map_or(Vec::new(), |mirror| timeline.sites.playing(mirror));
        let sites: Arc<[usize]> = playing.iter().map(|&place| all[place]).collect();
        *self.taps.transducers_mut() = scalar("act").map(|act| match ACTS[(act as usize).min(2)] {
            Act::Record => Transducers::listening(all, complex("mirror.heard")),
            act => {
                let played = scalar("played").unwrap_or(0.0) as usize;
                Transducers::playing(sites, act, complex("mirror.signal").into(), played)
            }
        });
        if phase == Phase::Replay {
            let back = self.leg_scenario(Some(phase));
            self.solver.edit(&back, &Edit::Medium)?;
            self.taps.place(&back);
        }
        self.restore_refocus(own);
        if let Some(timeline) = &mut self.timeline {
            timeline.turn = turn as u64;
            timeline.leg = Leg {
                phase,
                turned: turned.map(Arc::new),
                residual: scalar("residual").unwrap_or(0.0),
            };
        }
        Ok(())
    }
    /// The mirror's values in the rows of observables.
    fn restore_refocus(&mut self, own: &SolverState) {
        let log = own.arrays.iter().find(|(name, _)| name == "mirror.log");
        if let (Some(log), Some((_, FieldData::Float64(values)))) = (&mut self.log, log) {
            for (row, values) in log.rows.iter_mut().zip(values.chunks_exact(6)) {
                row.refocus = values.try_into().ok().map(Refocus::from_values);
            }
        }
    }
}

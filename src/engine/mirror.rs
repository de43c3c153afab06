//! Time reversal: record, reverse, play, as one timeline along which the clock runs.
//!
//! At the reversal the largest values so far are reset, and the state is kept, so that the way back can be repeated with another method, noise or perturbation without recording
//! again ([`Engine::back_to_turn`]). An echo reverses the whole field: ψ → ψ*, or dp/dt → −dp/dt. The other methods begin with an empty field and play
//! the record backwards, see [`signal`].

pub mod gain;
mod refocus;
pub mod shown;
pub(super) mod signal;
pub(super) mod stored;

use super::engine::{Snapshot, differ_in_parts_only};
use super::{Change, Engine, EngineError};
use crate::field::FieldData;
use crate::physics::noise::Noise;
use crate::physics::{MirrorMethod, Refocus};
use crate::scene::Scenario;
use crate::solver::placement::MirrorSites;
use crate::solver::transducers::Transducers;
use crate::solver::{Edit, SolverState};
use num_complex::Complex64;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The name under which methods of sound save the largest pressures.
const PEAK: &str = "peak";

/// The direction of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Phase {
    /// Forwards, transducers recording.
    Record,
    /// Back: reversed, or played by the transducers.
    Replay,
}

/// The part of a run that belongs to a mirror.
pub(super) struct Timeline {
    /// The step of the reversal.
    pub(super) turn: u64,
    pub(super) sites: MirrorSites,
    /// The scene on the way back.
    pub(super) back: Arc<Scenario>,
    /// The field at t = 0.
    reference: Vec<Complex64>,
    pub(super) leg: Leg,
}

/// The part of a timeline that changes during the run.
#[derive(Clone, Debug)]
pub(super) struct Leg {
    pub(super) phase: Phase,
    /// The state at the reversal, once it was reached.
    pub(super) turned: Option<Arc<Snapshot>>,
    /// ‖ψ‖/‖ψ(0)‖ inside when time was reversed.
    pub(super) residual: f64,
}

/// The place of a run on its timeline, for displays.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MirrorStatus {
    /// Which way the wave goes.
    pub phase: Phase,
    /// Steps up to the reversal; as many lead back.
    pub turn: u64,
    /// Whether the reversal was reached, so that [`Engine::back_to_turn`] is possible.
    pub turned: bool,
    /// Sites that are recorded.
    pub heard: usize,
    /// Sites that play on the way back.
    pub playing: usize,
}

impl MirrorStatus {
    /// Whether sites play what they recorded.
    pub fn plays(&self) -> bool {
        self.phase == Phase::Replay && self.playing > 0
    }
}

impl Engine {
    /// Begins the timeline of a scene with a mirror, at t = 0.
    pub(super) fn begin_timeline(&mut self) -> Result<(), EngineError> {
        let Some(mirror) = self.scenario.mirror().cloned() else {
            return Ok(());
        };
        let method = super::build::method(&self.scenario)?;
        let Some(sites) = MirrorSites::new(&self.scenario, method) else {
            return Ok(());
        };
        let turn = super::build::steps_between(0.0, mirror.at, self.clock().time_step).max(1);
        let reference = self.solver.field()?.to_complex128();
        if !sites.all.is_empty() {
            *self.taps.transducers_mut() = Some(Transducers::listening(Arc::clone(&sites.all), Vec::new()));
            self.solver.apply_transducers(&mut self.taps)?;
        }
        self.timeline = Some(Timeline {
            turn,
            sites,
            back: Arc::new(self.scenario.returning()),
            reference,
            leg: Leg {
                phase: Phase::Record,
                turned: None,
                residual: 0.0,
            },
        });
        Ok(())
    }

    /// The place on the timeline; `None` without a mirror.
    pub fn mirror(&self) -> Option<MirrorStatus> {
        let timeline = self.timeline.as_ref()?;
        let mirror = self.scenario.mirror()?;
        Some(MirrorStatus {
            phase: timeline.leg.phase,
            turn: timeline.turn,
            turned: timeline.leg.turned.is_some(),
            heard: timeline.sites.all.len(),
            playing: timeline.sites.playing(mirror).len(),
        })
    }

    /// The sites of the mirror.
    pub fn mirror_sites(&self) -> Option<&MirrorSites> {
        self.timeline.as_ref().map(|timeline| &timeline.sites)
    }

    /// Steps that may be taken before the next event; reverses time first where that is due.
    pub(super) fn until_turn(&mut self) -> Result<u64, EngineError> {
        let steps = self.clock().steps;
        let Some(timeline) = self
            .timeline
            .as_ref()
            .filter(|timeline| timeline.leg.phase == Phase::Record)
        else {
            return Ok(self.until_focus());
        };
        if timeline.turn > steps {
            return Ok(timeline.turn - steps);
        }
        self.turn()?;
        Ok(self.until_focus())
    }

    /// Steps to the end of a lesson: with a mirror to the step of the focus ([`Engine::focal_step`]), where the way back was as long as the way out of what its source plays, else to the scene's `time.end`, and where time runs backwards to t = 0; `None`
    /// without one, and where it lies behind.
    pub fn steps_to_rest(&self) -> Option<u64> {
        let clock = self.clock();
        if clock.time_step == 0.0 {
            return None;
        }
        if clock.time_step < 0.0 {
            let ahead = super::build::nearest_step(clock.time, 0.0, clock.time_step) >= 0.0;
            return ahead.then(|| super::build::steps_between(clock.time, 0.0, clock.time_step));
        }
        if let Some(timeline) = &self.timeline {
            // What was not recorded does not come back.
            let focal = self.focal_step().unwrap_or(2 * timeline.turn);
            return focal.checked_sub(clock.steps);
        }
        let end = self.scenario.time().end?;
        let ahead = super::build::nearest_step(clock.time, end, clock.time_step) >= 0.0;
        ahead.then(|| super::build::steps_between(clock.time, end, clock.time_step))
    }

    /// Reverses time here, whatever the scene says; the clock keeps running.
    ///
    /// # Errors
    /// If there is no mirror, time was reversed already, nothing was recorded, or the back end fails.
    pub fn turn_now(&mut self) -> Result<(), EngineError> {
        let steps = self.clock().steps;
        let refuse = |text: &str| Err(EngineError::Mirror(text.to_owned()));
        match &mut self.timeline {
            None => refuse("the scene has no [mirror]"),
            Some(timeline) if timeline.leg.phase == Phase::Replay => {
                refuse("time was reversed already; go back to the reversal, or reset")
            }
            Some(_) if steps == 0 => refuse("nothing was recorded yet; let the wave run first"),
            Some(timeline) => {
                timeline.turn = steps;
                self.turn()
            }
        }
    }

    /// Back to the moment before the reversal: the next step reverses it again, with the scene's present settings.
    ///
    /// # Errors
    /// If the reversal was not reached, or the back end fails.
    pub fn back_to_turn(&mut self) -> Result<(), EngineError> {
        let turned = self.timeline.as_ref().and_then(|timeline| timeline.leg.turned.clone());
        let Some(turned) = turned else {
            return Err(EngineError::Mirror("time has not been turned yet".to_owned()));
        };
        if let Some(log) = &mut self.log {
            log.rows.retain(|row| row.step <= turned.state.clock.steps);
        }
        self.go_to(&turned)?;
        if let Some(timeline) = &mut self.timeline {
            timeline.leg.turned = Some(turned);
        }
        Ok(())
    }

    /// Keeps the state at the reversal, then begins the way back.
    fn turn(&mut self) -> Result<(), EngineError> {
        let snapshot = Arc::new(self.keep()?);
        let field = self.solver.field()?;
        let Some(timeline) = &mut self.timeline else {
            return Ok(());
        };
        let before = timeline.leg.clone();
        timeline.turn = snapshot.state.clock.steps;
        timeline.leg.residual = refocus::residual(&timeline.sites.inside, &timeline.reference, &field);
        timeline.leg.turned = Some(Arc::clone(&snapshot));
        timeline.leg.phase = Phase::Replay;
        self.current = false;
        let begun = self.begin_replay(&snapshot);
        if let (Err(EngineError::Cancelled(_)), Some(timeline)) = (&begun, &mut self.timeline) {
            // The solver has not changed yet: the run is before its reversal.
            timeline.leg = before;
        }
        begun
    }

    fn begin_replay(&mut self, turned: &Snapshot) -> Result<(), EngineError> {
        let (Some(mirror), Some(timeline)) = (self.scenario.mirror().cloned(), &self.timeline) else {
            return Ok(());
        };
        let back = Arc::clone(&timeline.back);
        let sites = timeline.sites.clone();
        let changes = back.medium() != self.scenario.medium()
            || back.model() != self.scenario.model()
            || back.sources() != self.scenario.sources();
        if mirror.method == MirrorMethod::Echo {
            self.taps.place(&back);
            self.maps.begin_peak();
            *self.taps.transducers_mut() = None;
            let noisy = (mirror.noise > 0.0).then(|| disturbed(&turned.state, mirror.noise, mirror.seed));
            let watched = turned.state.arrays.iter().any(|(name, _)| name == PEAK);
            if noisy.is_some() || watched {
                let mut state = noisy.unwrap_or_else(|| turned.state.clone());
                let peaks = state.arrays.iter_mut().filter(|(name, _)| name == PEAK);
                peaks.for_each(|(_, peak)| silence(peak));
                self.solver.load(&state)?;
            }
            if changes {
                self.solver.edit(&back, &Edit::Medium)?;
            }
            return Ok(self.solver.edit(&back, &Edit::Conjugate)?);
        }
        let heard = turned
            .taps
            .transducers()
            .map(|own| own.heard().to_vec())
            .unwrap_or_default();
        let mut unwatched = |_: &'static str, _: f64| ControlFlow::<()>::Continue(());
        let watch: &mut signal::Watch = match &mut self.watch {
            Some(watch) => watch.as_mut(),
            None => &mut unwatched,
        };
        let played = signal::played(&self.scenario, &sites, &heard, turned.state.clock.time_step, watch)?;
        // Detectors listen beside the walls that stand on the way back.
        self.taps.place(&back);
        self.maps.begin_peak();
        let mut empty = turned.state.clone();
        for (_, array) in &mut empty.arrays {
            silence(array);
        }
        empty.forget_norm();
        if changes {
            // An edit looks at how the field moves, of which nothing is left.
            self.solver.load(&empty)?;
            self.solver.edit(&back, &Edit::Medium)?;
        }
        self.solver.load(&empty)?;
        *self.taps.transducers_mut() = Some(played);
        Ok(self.solver.apply_transducers(&mut self.taps)?)
    }

    /// The present medium.
    pub(super) fn leg_scenario(&self, phase: Option<Phase>) -> Arc<Scenario> {
        match (&self.timeline, phase) {
            (Some(timeline), Some(Phase::Replay)) => Arc::clone(&timeline.back),
            _ => Arc::clone(&self.scenario),
        }
    }

    /// The direction of time; `None` without a mirror.
    pub(super) fn phase(&self) -> Option<Phase> {
        self.timeline.as_ref().map(|timeline| timeline.leg.phase)
    }

    /// Whether the reversal was reached and can be repeated.
    fn has_turned(&self) -> bool {
        self.timeline
            .as_ref()
            .is_some_and(|timeline| timeline.leg.turned.is_some())
    }

    /// The scene of the present steps: on the way back with the perturbed medium and without sources.
    pub fn present_scenario(&self) -> Arc<Scenario> {
        self.leg_scenario(self.phase())
    }

    /// Compares the wave with the one at t = 0; `None` without a mirror.
    ///
    /// # Errors
    /// If the back end fails.
    pub fn refocus(&mut self) -> Result<Option<Refocus>, EngineError> {
        let (Some(mirror), true) = (self.scenario.mirror().cloned(), self.timeline.is_some()) else {
            return Ok(None);
        };
        let field = self.solver.field()?;
        let Some(timeline) = &self.timeline else {
            return Ok(None);
        };
        let inside = (mirror.method != MirrorMethod::Echo).then_some(&timeline.sites.inside[..]);
        let turned = timeline.leg.phase == Phase::Replay;
        let mut found = refocus::measure(
            self.scenario.grid(),
            inside,
            &timeline.reference,
            &field,
            turned,
            (timeline.sites.focus, timeline.sites.open),
        );
        found.residual = if turned {
            timeline.leg.residual
        } else {
            refocus::residual(&timeline.sites.inside, &timeline.reference, &field)
        };
        Ok(Some(found))
    }

    /// Whether the wave is on its way back, and another scene has another medium there.
    pub(super) fn way_back_differs(&self, scenario: &Scenario) -> bool {
        let medium = |scenario: &Scenario| scenario.mirror().map(|mirror| Arc::clone(&mirror.medium));
        self.phase() == Some(Phase::Replay) && medium(&self.scenario) != medium(scenario)
    }

    /// Whether another scene has another Δt, its own or an automatic one: ways there and back are as many steps, of one length.
    fn steps_otherwise(&self, scenario: &Scenario) -> Result<bool, EngineError> {
        let method = super::build::method(scenario)?;
        Ok(method.time_step(&self.scenario) != method.time_step(scenario))
    }

    /// What an edited scene means for a run with a mirror; `None` if nothing of it concerns the mirror.
    pub(super) fn update_mirror(&mut self, scenario: &Arc<Scenario>) -> Result<Option<Change>, EngineError> {
        let old = Arc::clone(&self.scenario);
        let (was, is) = match (old.mirror(), scenario.mirror()) {
            (None, None) => return Ok(None),
            (Some(was), Some(is)) => (was, is),
            _ => return Ok(Some(Change::Restarted)),
        };
        // A reversal that is still ahead can be moved.
        let turn = super::build::steps_between(0.0, is.at, self.clock().time_step.abs()).max(1);
        let ahead = self.phase() == Some(Phase::Record) && turn > self.clock().steps && !self.has_turned();
        // A run that was turned by hand has what a scene asks for that turns then.
        let there = self.has_turned() && self.timeline.as_ref().is_some_and(|timeline| timeline.turn == turn);
        let again = was.placement != is.placement
            || (was.at != is.at && !ahead && !there)
            || old.time().imaginary != scenario.time().imaginary
            || !(old.solver() == scenario.solver() || differ_in_parts_only(&old, scenario))
            || self.steps_otherwise(scenario)?;
        if again {
            return Ok(Some(Change::Restarted));
        }
        let settings = |own: &crate::physics::Mirror| {
            (
                own.method,
                (own.playing, own.record.to_bits()),
                own.noise.to_bits(),
                own.seed,
                own.keep_flux,
                own.drive,
                own.regularization.to_bits(),
            )
        };
        let replayed = self.phase() == Some(Phase::Replay);
        let same_way_back = settings(was) == settings(is) && was.medium == is.medium;
        if replayed && settings(was) != settings(is) {
            self.back_to_turn()?;
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.back = Arc::new(scenario.returning());
            if was.at != is.at {
                timeline.turn = turn;
            }
        }
        Ok((!same_way_back).then_some(Change::Edited))
    }
}

/// The same array of zeros.
fn silence(array: &mut FieldData) {
    match array {
        FieldData::Complex64(values) => values.fill(num_complex::Complex::default()),
        FieldData::Complex128(values) => values.fill(Complex64::ZERO),
        FieldData::Float32(values) => values.fill(0.0),
        FieldData::Float64(values) => values.fill(0.0),
    }
}

/// A state with noise on every field in it, `part` of the rms of the first; the same noise on every level of a pressure, so that it begins at rest.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "noise")]
fn disturbed(state: &SolverState, part: f64, seed: u64) -> SolverState {
    let mut noisy = state.clone();
    noisy.forget_norm();
    let sites = state.arrays.first().map_or(0, |(_, data)| data.len());
    let square: f64 = state
        .arrays
        .first()
        .map_or(0.0, |(_, data)| (0..sites).map(|n| data.at(n).norm_sqr()).sum());
    let strength = part * (square / sites.max(1) as f64).sqrt();
    for (name, data) in &mut noisy.arrays {
        if data.len() != sites || name == PEAK {
            continue;
        }
        let mut noise = Noise::new(seed);
        let complex = strength / 2.0f64.sqrt();
        match data {
            FieldData::Complex64(values) => {
                for value in values {
                    value.re += (complex * noise.normal()) as f32;
                    value.im += (complex * noise.normal()) as f32;
                }
            }
            FieldData::Complex128(values) => {
                for value in values {
                    *value += Complex64::new(complex * noise.normal(), complex * noise.normal());
                }
            }
            FieldData::Float32(values) => values
                .iter_mut()
                .for_each(|value| *value += (strength * noise.normal()) as f32),
            FieldData::Float64(values) => values.iter_mut().for_each(|value| *value += strength * noise.normal()),
        }
    }
    noisy
}

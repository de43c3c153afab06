//! ∂p/∂t of sound: the form in which methods that keep the motion in different ways exchange it.
//!
//! Two levels, pⁿ and pⁿ⁻¹ (`fdtd`): with D = (pⁿ⁺¹ − pⁿ⁻¹)/2 and θ² = −Δt²c²∇² on the lattice, a step turns p by θ, so that D = sin θ/θ · Δt ∂p/∂t and
//! Δt ∂p/∂t = D + θ²D/6, off by 7θ⁴/360; the other way pⁿ⁻¹ = cos θ p − Δt (1 − θ²/6) ∂p/∂t, off by θ⁵/120. A field x at rest has x − θ²x/2 as its earlier level, and ½Δt²S where a source plays.
//! Momenta (`oscillators`): P = m̂ ∂p/∂t with m̂ = ρ₀c₀²/ρc². Where Φ = ∫p dt is kept, states of both hold Φ + ½Δt p.

use super::acoustic::edited::{self, Moment};
use super::clock::RunClock;
use super::setup::Setup;
use super::stepper::Stepper;
use super::{Motion, SolverError};
use crate::field::FieldData;
use crate::physics::{Acoustic, Medium, Model};
use crate::scene::Scenario;

/// Names of arrays of a state.
const BEFORE: &str = "p_before";
/// See [`BEFORE`].
const MOMENTUM: &str = "momentum";
/// See [`BEFORE`].
const POTENTIAL: &str = "potential";
/// See [`BEFORE`]: that Φ is what leapfrog has made of p since it stood still.
const OBEYS: &str = "potential_since_rest";

/// The array of a state with a name, if it has one.
fn place_of<S: Stepper>(stepper: &S, name: &str) -> Option<usize> {
    stepper.layout().iter().position(|plane| plane.name == name)
}

/// Half the order in space with which a method plays sources.
pub(super) fn half_order<S: Stepper>(stepper: &S, setup: &Setup) -> usize {
    match place_of(stepper, MOMENTUM) {
        Some(_) => 1,
        None => (setup.choice.order / 2).max(1) as usize,
    }
}

/// The numbers of an array.
fn numbers(data: &FieldData) -> Vec<f64> {
    (0..data.len()).map(|n| data.at(n).re).collect()
}

/// What stood at a place of a state.
fn taken(arrays: Vec<Option<FieldData>>, place: usize) -> Result<FieldData, SolverError> {
    let array = arrays.into_iter().nth(place).flatten();
    array.ok_or_else(|| SolverError::StateMismatch("a state without what moves in it".to_owned()))
}

fn loaded<S: Stepper>(stepper: &mut S, clock: &RunClock, state: &[Option<FieldData>]) -> Result<(), SolverError> {
    let arrays: Vec<Option<&FieldData>> = state.iter().map(Option::as_ref).collect();
    stepper.load(clock, &arrays)
}

/// The earlier level of a field at rest where no source plays; changes the state.
fn before_at_rest<S: Stepper>(
    stepper: &mut S,
    (setup, clock): (&Setup, &RunClock),
    (values, place): (Vec<f64>, usize),
) -> Result<Vec<f64>, SolverError> {
    let sites = values.len();
    let mut before = |values: Vec<f64>| -> Result<Vec<f64>, SolverError> {
        stepper.set_field(clock, &FieldData::Float64(values))?;
        Ok(numbers(&taken(stepper.save()?, place)?))
    };
    let mut turned = before(values)?;
    if !setup.scenario.sources().is_empty() {
        // In silence the earlier level is what sources add to all.
        let played = before(vec![0.0; sites])?;
        turned
            .iter_mut()
            .zip(played)
            .for_each(|(turned, played)| *turned -= played);
    }
    Ok(turned)
}

/// m̂ of every site.
fn masses(acoustic: &Acoustic, medium: &Medium) -> Vec<f64> {
    let [nx, ny, nz] = medium.grid().size();
    let modulus = acoustic.density * acoustic.speed.powi(2);
    let (mut speed, mut density) = (vec![0.0; nx], vec![0.0; nx]);
    let mut all = Vec::with_capacity(nx * ny * nz);
    for row in 0..ny * nz {
        medium.speed_row(acoustic.speed, row % ny, row / ny, 0..nx, &mut speed);
        medium.density_row(acoustic.density, row % ny, row / ny, 0..nx, &mut density);
        let masses = speed.iter().zip(&density);
        all.extend(masses.map(|(speed, density)| modulus / (density * speed.powi(2))));
    }
    all
}

/// The motion at the clock's time; `None` for ψ. The state does not change.
///
/// # Errors
/// If a back end fails or memory runs out.
pub(super) fn of<S: Stepper>(stepper: &mut S, setup: &Setup, clock: &RunClock) -> Result<Option<Motion>, SolverError> {
    let Model::Acoustic(acoustic) = *setup.scenario.model() else {
        return Ok(None);
    };
    let state = stepper.save()?;
    let array = |place: usize| state.get(place).and_then(Option::as_ref).map(numbers);
    let pressure = numbers(&stepper.field(clock)?);
    let half = clock.time_step() / 2.0;
    let potential = place_of(stepper, POTENTIAL).and_then(array).map(|mut potential| {
        for (phi, p) in potential.iter_mut().zip(&pressure) {
            *phi -= half * p;
        }
        potential
    });
    if let Some(mut rate) = place_of(stepper, MOMENTUM).and_then(array) {
        for (rate, mass) in rate.iter_mut().zip(masses(&acoustic, setup.scenario.medium())) {
            *rate /= mass;
        }
        return Ok(Some(Motion { rate, potential }));
    }
    let Some(place) = place_of(stepper, BEFORE) else {
        return Ok(None);
    };
    let before = array(place).unwrap_or_default();
    stepper.advance(clock, 1)?;
    let after = numbers(&stepper.field(&clock.after(1))?);
    let half: Vec<f64> = after
        .iter()
        .zip(&before)
        .map(|(after, before)| (after - before) / 2.0)
        .collect();
    let turned = before_at_rest(stepper, (setup, clock), (half.clone(), place))?;
    loaded(stepper, clock, &state)?;
    let step = clock.time_step();
    let rate = half
        .iter()
        .zip(&turned)
        .map(|(half, turned)| (half - (turned - half) / 3.0) / step);
    let rate = rate.collect();
    Ok(Some(Motion { rate, potential }))
}

/// Sets the motion of a pressure that is at rest at the clock's time.
///
/// # Errors
/// If a back end fails or memory runs out.
pub(super) fn give<S: Stepper>(
    stepper: &mut S,
    setup: &Setup,
    (clock, motion): (&RunClock, &Motion),
) -> Result<(), SolverError> {
    let Model::Acoustic(acoustic) = *setup.scenario.model() else {
        return Ok(());
    };
    let rate = &motion.rate;
    let pressure = numbers(&stepper.field(clock)?);
    let mut state = stepper.save()?;
    if let Some(place) = place_of(stepper, MOMENTUM) {
        let masses = masses(&acoustic, setup.scenario.medium());
        let momenta = rate.iter().zip(masses).map(|(rate, mass)| rate * mass);
        state[place] = Some(FieldData::Float64(momenta.collect()));
    } else if let Some(place) = place_of(stepper, BEFORE) {
        let at_rest = state[place].as_ref().map(numbers).unwrap_or_default();
        let turned = before_at_rest(stepper, (setup, clock), (rate.clone(), place))?;
        let step = clock.time_step();
        let before = at_rest.iter().zip(rate.iter().zip(&turned));
        let before = before.map(|(at_rest, (rate, turned))| at_rest - step * (rate + (turned - rate) / 3.0));
        state[place] = Some(FieldData::Float64(before.collect()));
    } else {
        return Ok(());
    }
    let half = clock.time_step() / 2.0;
    if let (Some(place), Some(potential)) = (place_of(stepper, POTENTIAL), &motion.potential) {
        let all = potential.iter().zip(&pressure).map(|(phi, p)| phi + half * p);
        state[place] = Some(FieldData::Float64(all.collect()));
    }
    if let Some(place) = place_of(stepper, OBEYS) {
        state[place] = None;
    }
    loaded(stepper, clock, &state)
}

/// What an edit from the scene of `setup` to another one adds to ∂p/∂t, Pa/s ([`edited`]); `None` where that stays, and for ψ. The state does not change.
///
/// # Errors
/// If a back end fails or memory runs out.
pub(super) fn added_by_edit<S: Stepper>(
    stepper: &mut S,
    setup: &Setup,
    (clock, next): (&RunClock, &Scenario),
) -> Result<Option<Vec<f64>>, SolverError> {
    let Model::Acoustic(acoustic) = *setup.scenario.model() else {
        return Ok(None);
    };
    let (momentum, before) = (place_of(stepper, MOMENTUM), place_of(stepper, BEFORE));
    let Some(place) = momentum.or(before) else {
        return Ok(None);
    };
    // Of two levels rate and Φ are those half a step ago.
    let step = clock.time_step();
    let ago = if momentum.is_some() { 0.0 } else { step / 2.0 };
    let half = half_order(stepper, setup);
    let moment = Moment {
        time: clock.time() - ago,
        step,
        half,
    };
    let motion = || {
        let mut pressure = numbers(&stepper.field(clock)?);
        let kept = place_of(stepper, POTENTIAL);
        let state = stepper.save()?;
        let array = |place: usize| state.get(place).and_then(Option::as_ref).map(numbers);
        let mut rate = array(place).unwrap_or_default();
        let mut potential = kept.and_then(array);
        if let Some(potential) = &mut potential {
            let values = potential.iter_mut().zip(&pressure);
            values.for_each(|(phi, p)| *phi -= (step / 2.0 + ago) * p);
        }
        if momentum.is_some() {
            let masses = masses(&acoustic, setup.scenario.medium());
            rate.iter_mut().zip(masses).for_each(|(rate, mass)| *rate /= mass);
        } else {
            for (before, p) in rate.iter_mut().zip(&mut pressure) {
                (*before, *p) = ((*p - *before) / step, f64::midpoint(*p, *before));
            }
        }
        Ok((Motion { rate, potential }, pressure))
    };
    edited::added(&setup.scenario, next, &moment, motion)
}

/// Adds to ∂p/∂t; `setup` has the present medium.
///
/// # Errors
/// If a back end fails or memory runs out.
pub(super) fn add<S: Stepper>(
    stepper: &mut S,
    setup: &Setup,
    (clock, added): (&RunClock, &[f64]),
) -> Result<(), SolverError> {
    let Model::Acoustic(acoustic) = *setup.scenario.model() else {
        return Ok(());
    };
    let mut state = stepper.save()?;
    let mut change = |place: usize, by: &mut dyn FnMut(usize) -> f64| {
        let mut values = state[place].as_ref().map(numbers).unwrap_or_default();
        values
            .iter_mut()
            .enumerate()
            .for_each(|(site, value)| *value += by(site));
        state[place] = Some(FieldData::Float64(values));
    };
    if let Some(place) = place_of(stepper, MOMENTUM) {
        let masses = masses(&acoustic, setup.scenario.medium());
        change(place, &mut |site| masses[site] * added[site]);
    } else if let Some(place) = place_of(stepper, BEFORE) {
        change(place, &mut |site| -clock.time_step() * added[site]);
    }
    loaded(stepper, clock, &state)
}

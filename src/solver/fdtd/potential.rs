//! Φ = ∫p dt, from which the velocity of the medium follows: ρv = −∇Φ.
//!
//! Kept where a scene asks for energy or its flux, and nowhere else. Held is Φ⁺ = Φ(tₙ + Δt/2), to which each step adds Δt pⁿ⁺¹; as far as nobody needs it in between, every second step adds what two
//! do ([`growth`]), with the same rounding and half of the loads and stores. Of two levels it is kept where detectors take energy or flux of successive steps. What begins
//! at rest begins with Φ = 0 at its own time, and so does a potential that is first asked for later: velocity counts from then on.

use super::energy::Levels;
use super::recorder::Recorder;
use super::run::{EVEN, Fdtd};
use super::share::View;
use super::stage::Growth;
use crate::backend::simd::Vectors;
use crate::solver::SolverError;
use crate::solver::acoustic::medium::allocate_aligned;

impl<T: Vectors> Fdtd<T> {
    /// Starts to keep Φ, unless it is kept already.
    pub(super) fn watch_potential(&mut self) -> Result<(), SolverError> {
        if self.potential.is_empty() {
            self.potential = allocate_aligned(self.now.len(), EVEN, "the velocity")?;
            self.rest();
            self.obeys = false;
        }
        Ok(())
    }

    /// Sets v = 0.
    pub(super) fn rest(&mut self) {
        let half = T::of(self.time_step / 2.0);
        for (phi, p) in self.potential.iter_mut().zip(self.now.iter()) {
            *phi = half * *p;
        }
    }

    /// Keeps the velocity, with another Δt.
    pub(super) fn shift_potential(&mut self, time_step: f64) {
        let half = T::of((time_step - self.time_step) / 2.0);
        for (phi, p) in self.potential.iter_mut().zip(self.now.iter()) {
            *phi += half * *p;
        }
    }

    /// Changes the sign of the velocity.
    pub(super) fn reverse_potential(&mut self) {
        let step = T::of(self.time_step);
        for (phi, p) in self.potential.iter_mut().zip(self.now.iter()) {
            *phi = step * *p - *phi;
        }
    }

    /// pⁿ and pⁿ⁻¹: their energy is the membrane's, which the scheme conserves as well.
    pub(super) fn levels(&self) -> Levels<'_, T> {
        Levels {
            newer: View::of(&self.now),
            other: View::of(&self.old),
            mix: [0.0, 1.0],
            spacing: self.scenario.grid().spacing(),
            time_step: self.time_step,
        }
    }

    /// Φ⁺ and Φ⁻; `None` where they are not kept.
    pub(super) fn sound(&self) -> Option<Levels<'_, T>> {
        (!self.potential.is_empty()).then(|| Levels {
            newer: View::of(&self.potential),
            other: View::of(&self.now),
            mix: [1.0, -self.time_step],
            ..self.levels()
        })
    }
}

/// By how much Φ⁺, kept in one place, grows in the steps of a pass that begins after `start` steps: in every second one, as far as nobody needs it after the others. `None` where it has to be kept in two places: a
/// detector takes Φ⁺ of a level in the step after it, in which it must not grow, and after the last step it is complete.
pub(super) fn growth<T: Vectors>(recorder: &Recorder<T>, start: u64) -> Option<Vec<Growth>> {
    let (steps, moves) = recorder.motion();
    let mut late = false;
    let mut growth = Vec::with_capacity(steps);
    for level in 1..=steps {
        let grows = if recorder.own() {
            // Two levels that have one sum begin after an even number of steps of the run ([`super::whole`]).
            (start + level as u64).is_multiple_of(2)
        } else {
            late || level == steps || moves(level)
        };
        if grows && moves(level - 1) {
            return None;
        }
        growth.push(match (grows, late) {
            (false, _) => Growth::Later,
            (true, false) => Growth::Once,
            (true, true) => Growth::Twice,
        });
        late = !grows;
    }
    Some(growth)
}

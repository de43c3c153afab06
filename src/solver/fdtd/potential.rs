//! Φ = ∫p dt, from which the velocity of the medium follows: ρv = −∇Φ.
//!
//! Kept where a scene asks for energy or its flux, and nowhere else: one more number a site is read and written in every step, and of two levels where detectors take the energy of
//! every step. Held is Φ⁺ = Φ(tₙ + Δt/2), to which each step adds Δt pⁿ⁺¹. What begins
//! at rest begins with Φ = 0 at its own time, and so does a potential that is first asked for later: velocity counts from then on.

use super::energy::Levels;
use super::run::{EVEN, Fdtd};
use super::share::View;
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

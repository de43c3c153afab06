//! Φ = ∫q dt, from which the velocity of the medium follows: ρv = −∇Φ.
//!
//! Kept where a scene asks for energy or its flux. Held is Φ⁺ = Φ + ½Δt q, to which each step adds Δt q of its end: the trapezoidal rule. What begins at rest begins with Φ = 0, and so does what is first
//! asked for later: velocity counts from then on.

use super::field::Field;
use super::run::Oscillators;
use crate::backend::simd::Vectors;
use crate::solver::SolverError;
use crate::solver::acoustic::medium::allocate;

impl<T: Vectors> Oscillators<T> {
    /// Starts to keep Φ, unless it is kept already.
    pub(super) fn watch_potential(&mut self) -> Result<(), SolverError> {
        if self.potential.is_empty() {
            self.potential = allocate(self.field.q.len(), "the velocity")?;
            self.rest();
        }
        Ok(())
    }

    /// Sets v = 0.
    pub(super) fn rest(&mut self) {
        let half = T::of(self.time_step / 2.0);
        for (phi, q) in self.potential.iter_mut().zip(&self.field.q) {
            *phi = half * *q;
        }
    }

    /// Keeps the velocity, with another Δt.
    pub(super) fn shift_potential(&mut self, time_step: f64) {
        let half = T::of((time_step - self.time_step) / 2.0);
        for (phi, q) in self.potential.iter_mut().zip(&self.field.q) {
            *phi += half * *q;
        }
    }

    /// Changes the sign of the velocity.
    pub(super) fn reverse_potential(&mut self) {
        let step = T::of(self.time_step);
        for (phi, q) in self.potential.iter_mut().zip(&self.field.q) {
            *phi = step * *q - *phi;
        }
    }

    /// Φ and its rate at the present time from Φ⁺ and q.
    pub(super) fn centred(&self, potential: f64, q: f64) -> (f64, f64) {
        (potential - self.time_step / 2.0 * q, q)
    }

    /// Φ and its rate at sites i.. of row `j`.
    pub(super) fn read_sound(&self, j: usize, i: usize, phi: &mut [f64], rate: &mut [f64]) {
        let layout = &self.springs.layout;
        let all = i..i + phi.len();
        Field::read(layout, &self.field.q, j, all.clone(), |n, value| rate[n] = value.wide());
        Field::read(layout, &self.potential, j, all, |n, value| {
            (phi[n], _) = self.centred(value.wide(), rate[n]);
        });
    }
}

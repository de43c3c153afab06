//! Keeps the symmetry of two particles in imaginary time.
//!
//! H commutes with the exchange of the particles, but rounding does not: if the other symmetry has the lower level, its
//! part added by rounding grows as e^{ΔE τ} relative to the state, and relaxing fermions would end as bosons. So that
//! part is removed after every few steps; what remains is that of rounding, times e^{ΔE Δt} per step.

use super::Engine;
use crate::engine::EngineError;
use crate::field::FieldData;
use crate::physics::Exchange;

/// Steps between two such corrections.
const STEPS: u64 = 8;

impl Engine {
    /// The symmetry that steps would lose.
    fn exchange_to_keep(&self) -> Option<Exchange> {
        let quantum = self.scenario.file().quantum.as_ref()?;
        quantum.exchange.filter(|_| self.scenario.time().imaginary)
    }

    /// Steps until the symmetry of the state is next restored; `None` if steps conserve it.
    pub(super) fn until_exchanged(&self) -> Option<u64> {
        self.exchange_to_keep().map(|_| STEPS - self.clock().steps % STEPS)
    }

    /// Restores the symmetry of the state, if that is due at the present step.
    pub(super) fn keep_exchange(&mut self) -> Result<(), EngineError> {
        let due = self.clock().steps.is_multiple_of(STEPS);
        let Some(exchange) = self.exchange_to_keep().filter(|_| due) else {
            return Ok(());
        };
        let sites = self.scenario.grid().size()[0];
        let changed = self.solver.change_field(&mut |field| match field {
            FieldData::Complex64(psi) => exchange.project(psi, sites),
            FieldData::Complex128(psi) => exchange.project(psi, sites),
            FieldData::Float32(_) | FieldData::Float64(_) => {}
        });
        self.guard(changed)
    }
}

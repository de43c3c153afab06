//! Keeps the symmetry of two particles in imaginary time.
//!
//! H commutes with the exchange of the particles, rounding does not: what it adds of the other symmetry grows as e^{ΔE τ} beside the state where the other symmetry has the lower level, and relaxing
//! fermions would end as bosons. So that part is taken away again after every few steps; it is then that of rounding, times e^{ΔE Δt} a step.

use super::Engine;
use crate::engine::EngineError;
use crate::field::FieldData;
use crate::physics::Exchange;

/// Steps from one time to the next.
const STEPS: u64 = 8;

impl Engine {
    /// The symmetry that steps would lose.
    fn exchange_to_keep(&self) -> Option<Exchange> {
        let quantum = self.scenario.file().quantum.as_ref()?;
        quantum.exchange.filter(|_| self.scenario.time().imaginary)
    }

    /// Steps until the state is next given its symmetry; `None` where it keeps it.
    pub(super) fn until_exchanged(&self) -> Option<u64> {
        self.exchange_to_keep().map(|_| STEPS - self.clock().steps % STEPS)
    }

    /// Gives the state its symmetry, if that is due at the present step.
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

//! Sums over the field: the present, the latest and the first ones, and the rows that are kept of them.

use super::Engine;
use super::undriven::Undriven;
use crate::engine::EngineError;
use crate::engine::log::ObservableLog;
use crate::physics::{Equation, Observables};
use crate::platform::Instant;
use crate::units::short;

impl Engine {
    /// Keeps the observables of every `every`-th step from now on; [`Engine::log`] gives them. Rows that were kept before stay.
    ///
    /// # Errors
    /// If the present ones cannot be taken.
    pub fn keep_observables(&mut self, every: u64) -> Result<(), EngineError> {
        self.solver.keep_velocity()?;
        match &mut self.log {
            Some(log) => log.every = every.max(1),
            None => self.log = Some(ObservableLog::new(every)),
        }
        self.measure()?;
        // Without the velocity the initial energy was not known.
        if self.clock().steps == 0 {
            self.initial = self.latest.1;
        }
        Ok(())
    }

    /// Whether the energy of sound is known, which needs the medium's velocity since t = 0 or since it was first requested.
    pub fn knows_velocity(&self) -> bool {
        !self.latest.1.energy.is_nan()
    }

    /// The note if the medium's velocity is first requested during a run.
    pub fn velocity_counts_from_here(&self) -> String {
        format!(
            "the medium's velocity was not recorded up to t = {}, and counts from 0 there: energies and fluxes are those of what moves after it; ask for it from the start, e.g. by --observables",
            short(self.clock().time)
        )
    }

    /// Drops all kept observables except the last row; returns how many are left.
    pub fn forget_rows(&mut self) -> usize {
        let Some(log) = &mut self.log else { return 0 };
        log.rows.drain(..log.rows.len().saturating_sub(1));
        log.rows.len()
    }

    /// The kept observables.
    pub fn log(&self) -> Option<&ObservableLog> {
        self.log.as_ref()
    }

    /// Sums over the field now.
    ///
    /// # Errors
    /// If the back end fails or the field is not finite.
    pub fn observables(&mut self) -> Result<Observables, EngineError> {
        let start = Instant::now();
        let result = self.solver.observables();
        let now = self.guard(result)?;
        self.observables_cost = start.elapsed().as_secs_f64();
        let energy = match self.scenario.model().equation() {
            Equation::Schrodinger => now.energy,
            // The energy itself may be unknown.
            Equation::Acoustic => now.invariant,
        };
        if !(now.norm.is_finite() && energy.is_finite()) {
            return Err(self.not_finite());
        }
        let undriven = self.undriven.filter(|_| self.current && !self.is_driven());
        if let Some(times) = undriven.and_then(|undriven| undriven.growth(&now)) {
            return Err(self.growing(times));
        }
        let since = undriven.map_or_else(|| Undriven::new(now), |undriven| undriven.with(now));
        self.undriven = (!self.is_driven()).then_some(since);
        self.latest = (self.clock().steps, now);
        self.current = true;
        Ok(now)
    }

    /// Whether the energy may grow: by sources and mirrors, and by a damping medium if time runs backwards. It says
    /// nothing about ψ, whose potential may change in time.
    fn is_driven(&self) -> bool {
        self.scenario.model().equation() != Equation::Acoustic
            || !self.scenario.sources().is_empty()
            || self.scenario.mirror().is_some()
            || self.clock().time_step < 0.0
    }

    /// Whether [`Engine::latest_observables`] are those of the present state.
    pub fn observables_are_current(&self) -> bool {
        self.current && self.latest.0 == self.clock().steps
    }

    /// The observables taken last, with their step.
    pub fn latest_observables(&self) -> (u64, Observables) {
        self.latest
    }

    /// The observables at t = 0.
    pub fn initial_observables(&self) -> Observables {
        self.initial
    }

    /// The relative change since t = 0 of what a closed run conserves, as of the observables taken last: the norm of ψ,
    /// of sound [`Observables::invariant`].
    pub fn drift(&self) -> f64 {
        let quantity = |observables: &Observables| match self.scenario.model().equation() {
            Equation::Schrodinger => observables.norm,
            Equation::Acoustic => observables.invariant,
        };
        let first = quantity(&self.initial);
        if first == 0.0 {
            0.0
        } else {
            quantity(&self.latest.1) / first - 1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::read_scene_text;
    use std::sync::Arc;

    /// Rows of every step are those that sums between steps give, and none is missing or there twice, however the run is cut; single precision is rounded once more.
    #[test]
    fn kept_observables_within_steps() {
        let text = "format = 1\ntitle = \"t\"\n[grid]\nsize = [96, 64]\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.1\n[solver]\nmethod = \"trotter\"\nvariant = \"blocked\"\n[[packet]]\ncenter = [40.0, 30.0]\nwidth = [8.0, 8.0]\nmomentum = [0.5, 0.2]\n";
        let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
        let scenario = Arc::new(scenario);
        let mut engine = Engine::new(Arc::clone(&scenario)).unwrap();
        assert!(engine.solver.sums_in_steps());
        engine.keep_observables(2).unwrap();
        for steps in [1, 5, 27, 3] {
            engine.advance(steps).unwrap();
        }
        let rows = engine.log().unwrap().rows.clone();
        assert_eq!(
            rows.iter().map(|row| row.step).collect::<Vec<_>>(),
            (0..=36).step_by(2).collect::<Vec<_>>()
        );
        // From the middle on: the same steps, with the same bits.
        let mut first = Engine::new(Arc::clone(&scenario)).unwrap();
        first.advance(7).unwrap();
        let mut resumed = Engine::new(Arc::clone(&scenario)).unwrap();
        resumed.solver.load(&first.solver.save().unwrap()).unwrap();
        resumed.keep_observables(2).unwrap();
        resumed.advance(12).unwrap();
        assert_eq!(resumed.log().unwrap().rows, rows[4..10]);
        let mut other = Engine::new(scenario).unwrap();
        for row in rows {
            other.advance(row.step - other.clock().steps).unwrap();
            let exact = other.observables().unwrap();
            assert_eq!(row.time, other.clock().time);
            // Sums of positive terms are off by a few ε/2 of 6e-8; |H| is below 8.
            assert!((row.observables.norm - exact.norm).abs() < 6e-7, "{row:?} {exact:?}");
            assert!(
                (row.observables.energy - exact.energy).abs() < 8.0 * 6e-7,
                "{row:?} {exact:?}"
            );
        }
    }
}

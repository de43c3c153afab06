//! Changes of a run that is under way: another Δt, another medium.

use super::material::Material;
use super::run::{Fdtd, sweep_of};
use super::sweep::Sweep;
use super::{half, objections, stability, step_advice};
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::scene::Scenario;
use crate::solver::SolverError;
use crate::solver::acoustic::emit::Emitters;

impl<T: Vectors> Fdtd<T> {
    /// Changes Δt at time tₙ: the level before becomes p(tₙ − Δt′) on the parabola through pⁿ⁻¹, pⁿ and pⁿ⁺¹, which is exactly pⁿ⁺¹ for
    /// Δt′ = −Δt. What the absorbing layers remember stays.
    pub(super) fn change_step(&mut self, time_step: f64) -> Result<(), SolverError> {
        let ratio = time_step / self.clock.time_step;
        #[expect(clippy::float_cmp, reason = "nothing to do")]
        if ratio == 1.0 {
            return Ok(());
        }
        let weights = [
            ratio * (ratio - 1.0) / 2.0,
            1.0 - ratio * ratio,
            ratio * (ratio + 1.0) / 2.0,
        ];
        self.combine(weights.map(T::of), true, weights[0]);
        self.shift_potential(time_step);
        self.clock.time_step = time_step;
        self.set_layer_step();
        let walls = std::mem::take(&mut self.sweep.walls);
        let mask = std::mem::take(&mut self.sweep.mask);
        let lattice = self.sweep.lattice.clone();
        // Frees the old medium before the new one is read.
        self.sweep.material.squares = Vec::new();
        self.sweep.material.density = Vec::new();
        let material = threads::run(|| Material::new(&self.scenario, &lattice, &mask, time_step))?;
        self.sweep = Sweep::new(lattice, material, mask, walls);
        self.sweep.settle(&self.now, &self.old, &mut self.layers);
        Ok(())
    }

    /// Reads the medium and the sources again.
    pub(super) fn read_medium(&mut self, scenario: &Scenario) -> Result<(), SolverError> {
        if let Some(objection) = objections(scenario).into_iter().next() {
            return Err(SolverError::Unsupported(objection));
        }
        if half(scenario) != self.sweep.lattice.half || scenario.grid() != self.scenario.grid() {
            return Err(SolverError::Unsupported(
                "another grid or order needs another solver".to_owned(),
            ));
        }
        // A faster medium may need a smaller step: the scene's own, if that is stable.
        let sign = self.clock.time_step.signum();
        let limit = stability::limit(scenario, half(scenario));
        if self.clock.time_step.abs() > limit {
            let wanted = scenario.time().step.unwrap_or_else(|| step_advice(scenario).auto);
            check_step(scenario, wanted)?;
            self.change_step(wanted * sign)?;
        }
        self.scenario = scenario.clone();
        let lattice = self.sweep.lattice.clone();
        let time_step = self.clock.time_step;
        self.sweep = threads::run(|| sweep_of(scenario, lattice, time_step))?;
        self.emitters = Emitters::new(scenario.grid(), scenario.sources(), &self.sweep.mask);
        self.set_layer_step();
        self.clear_walls();
        self.sweep.settle(&self.now, &self.old, &mut self.layers);
        Ok(())
    }

    /// Sites inside walls hold 0.
    fn clear_walls(&mut self) {
        let lattice = &self.sweep.lattice;
        let nx = lattice.size[0];
        for (row, walls) in self.sweep.mask.chunks_exact(nx).enumerate() {
            if !walls.contains(&true) {
                continue;
            }
            let potential = (!self.potential.is_empty()).then_some(&mut self.potential[..]);
            for level in [&mut self.now[..], &mut self.old[..]].into_iter().chain(potential) {
                let span = &mut level[lattice.span(row)];
                for (value, wall) in span[lattice.half..].iter_mut().zip(walls) {
                    if *wall {
                        *value = T::zero();
                    }
                }
                lattice.fill_ghosts(span, true);
            }
        }
    }
}

/// Refuses an unstable Δt.
pub(super) fn check_step(scenario: &Scenario, time_step: f64) -> Result<(), SolverError> {
    let limit = stability::limit(scenario, half(scenario));
    if time_step.abs() <= limit {
        return Ok(());
    }
    Err(SolverError::Unsupported(format!(
        "Δt = {time_step:e} is unstable in this medium: the limit is {limit:e}; choose at most {:e}, or step = \"auto\"",
        0.98 * limit
    )))
}

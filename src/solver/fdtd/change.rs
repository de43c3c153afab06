//! Changes during a run: another Δt, another medium.

use super::events::Players;
use super::material::Material;
use super::relaxing::Relaxing;
use super::run::{Fdtd, sweep_of};
use super::scheme::Sweep;
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::scene::Scenario;
use crate::solver::SolverError;
use crate::solver::acoustic::edited::changes_rates;
use crate::solver::acoustic::emit::Emitters;

impl<T: Vectors> Fdtd<T> {
    /// Changes Δt at the present `time` tₙ: the level before becomes p(tₙ − Δt′) on the parabola through pⁿ⁻¹, pⁿ and pⁿ⁺¹, which is exactly pⁿ⁺¹ for
    /// Δt′ = −Δt. Of the memory variables of absorbing layers ψ does not change. ζ is such that what rate pⁿ⁺¹ − pⁿ there is, and what memories add to it in time, together grow as Δt does:
    /// a rate that nothing takes back would stay as a drift. Where time turns, ζ is that of the two levels.
    pub(super) fn change_step(&mut self, time: f64, time_step: f64) -> Result<(), SolverError> {
        let ratio = time_step / self.time_step;
        if ratio == 1.0 {
            return Ok(());
        }
        if time_step < 0.0 && self.relaxing.is_some() {
            return Err(SolverError::Unsupported(
                "walls and media that remember do not run backwards: they would grow without end".to_owned(),
            ));
        }
        let weights = [
            ratio * (ratio - 1.0) / 2.0,
            1.0 - ratio * ratio,
            ratio * (ratio + 1.0) / 2.0,
        ];
        let scale = T::of(ratio);
        if ratio > 0.0 {
            let levels = [&self.now[..], &self.old[..]];
            let whole = |zeta: T, [_, weight]: [T; 2], rate: T| zeta * weight + rate;
            self.sweep.renew_memories(levels, &mut self.layers, whole);
        }
        self.combine(weights.map(T::of), true, (time, weights[0]));
        self.shift_potential(time_step);
        self.obeys = false;
        self.time_step = time_step;
        let walls = std::mem::take(&mut self.sweep.walls);
        let mask = std::mem::take(&mut self.sweep.mask);
        let lattice = self.sweep.lattice.clone();
        // Frees the old medium before the new one is read.
        self.sweep.material.squares = Vec::new();
        self.sweep.material.density = Vec::new();
        let material = threads::run(|| Material::new(&self.scenario, &lattice, &mask, time_step))?;
        self.sweep = Sweep {
            sums_wide: self.sweep.sums_wide,
            ..Sweep::new(lattice, material, mask, walls)
        };
        self.players = Players::of(&self.emitters, &self.sweep);
        self.make_memories(ratio)?;
        self.set_layer_step();
        if ratio > 0.0 {
            let levels = [&self.now[..], &self.old[..]];
            let left = |whole: T, [_, weight]: [T; 2], rate: T| (whole * scale - rate) / weight;
            self.sweep.renew_memories(levels, &mut self.layers, left);
        } else {
            self.sweep.settle(&self.now, &self.old, &mut self.layers);
        }
        Ok(())
    }

    /// Memories for another medium or Δt, `ratio` times the one before; those that there were go on.
    fn make_memories(&mut self, ratio: f64) -> Result<(), SolverError> {
        let Sweep {
            lattice,
            material,
            mask,
            ..
        } = &self.sweep;
        let before = self.relaxing.take();
        let mut new = Relaxing::new(&self.scenario, lattice, mask, material, self.time_step)?;
        if let Some(new) = &mut new {
            new.settle(lattice, &self.now, &self.old);
            if before.is_some_and(|before| new.take_over(before)) {
                new.scale(ratio);
            }
        }
        self.relaxing = new;
        Ok(())
    }

    /// Reads the medium and the sources again; the rate of the pressure stays. What memories of absorbing layers add to it changes as c², as rates there do in an edit
    /// ([`crate::solver::acoustic::edited`]), or stays as well.
    pub(super) fn read_medium(&mut self, scenario: &Scenario) -> Result<(), SolverError> {
        self.scenario = scenario.clone();
        self.recorder = None;
        self.obeys = false;
        let lattice = self.sweep.lattice.clone();
        let time_step = self.time_step;
        let mut sweep = threads::run(|| sweep_of(scenario, lattice, time_step))?;
        // What sources played before the edit is still there, as loud as it was.
        sweep.sums_wide |= self.sweep.sums_wide;
        let levels = [&self.now[..], &self.old[..]];
        let kind = usize::from(!changes_rates(scenario));
        let added = |zeta: T, weights: [T; 2], _: T| zeta * weights[kind];
        self.sweep.renew_memories(levels, &mut self.layers, added);
        self.sweep = sweep;
        self.emitters = Emitters::of(scenario, &self.sweep.mask, self.sweep.lattice.half);
        self.players = Players::of(&self.emitters, &self.sweep);
        self.set_layer_step();
        self.clear_walls();
        self.make_memories(1.0)?;
        let levels = [&self.now[..], &self.old[..]];
        let own = |added: T, weights: [T; 2], _: T| added / weights[kind];
        self.sweep.renew_memories(levels, &mut self.layers, own);
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

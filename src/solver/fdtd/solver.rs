//! The run's interface to the levels on the processor.

use super::averages::Averages;
use super::relaxing::Relaxing;
use super::run::{Fdtd, Way};
use crate::backend::simd::{Aligned, Level, Vectors};
use crate::backend::threads;
use crate::field::{FieldData, Real};
use crate::physics::Observables;
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::sums::numbers;
use crate::solver::clock::RunClock;
use crate::solver::method::Backend;
use crate::solver::parts::Cut;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::setup::Setup;
use crate::solver::stepper::{Parts, Plane, Stepper};
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};
use crate::units::counted;
use std::ops::Range;

/// Names of the saved arrays.
const NOW: &str = "p";
const OLD: &str = "p_before";
const PEAK: &str = "peak";
const POTENTIAL: &str = "potential";
/// There where Φ has been kept since the run was at rest: a number for each row along the last axis, so that it can be cut as the grid is.
const OBEYS: &str = "potential_since_rest";
const SQUARE: &str = "mean_square";
const FLOW: &str = "mean_flow";
const MEMORY: &str = "memory";
const CHANGE: &str = "memory_change";

impl<T: Vectors> Stepper for Fdtd<T> {
    fn parts(&self) -> Parts {
        let layers: usize = self.layers.iter().map(|layer| layer.psi.len() + layer.zeta.len()).sum();
        let values = self.now.len()
            + self.old.len()
            + self.peak.len()
            + self.potential.len()
            + self.other_potential.len()
            + self.averages.square.len()
            + self.averages.flow.len()
            + layers;
        let half = self.sweep.lattice.half;
        let simd = Level::best().title();
        let (variant, details, batch) = match &self.way {
            Way::Stepwise => (
                "stepwise",
                format!(
                    "order {} in space, blocks of {}, {simd}",
                    2 * half,
                    counted(self.sweep.block_rows() as u64, "row")
                ),
                1,
            ),
            Way::Towers { variant, plan, .. } => (
                *variant,
                format!(
                    "order {} in space, dts {}, towers of {} steps, {simd}",
                    2 * half,
                    plan.dts,
                    plan.tower
                ),
                plan.tower as u64,
            ),
        };
        Parts {
            variant,
            backend: Backend::Cpu,
            threads: threads::count(),
            details,
            batch,
            note: self.note.clone(),
            memory: (values * size_of::<T>()) as u64
                + self.sweep.bytes()
                + self.relaxing.as_ref().map_or(0, Relaxing::bytes),
        }
    }

    fn set_step(&mut self, clock: &RunClock, time_step: f64) -> Result<(), SolverError> {
        self.change_step(clock.time(), time_step)
    }

    fn set_medium(&mut self, setup: &Setup, _clock: &RunClock) -> Result<(), SolverError> {
        self.read_medium(&setup.scenario)
    }

    fn conjugate(&mut self, clock: &RunClock) -> Result<(), SolverError> {
        self.combine([T::one(), T::zero(), T::zero()], true, (clock.time(), 1.0));
        self.reverse_potential();
        self.sweep.settle(&self.now, &self.old, &mut self.layers);
        Ok(())
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) -> Result<(), SolverError> {
        self.advance_observed(clock, steps, &mut Taps::default())
    }

    fn advance_observed(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.keep_both_potentials()?;
        }
        self.take(clock, steps, taps);
        Ok(())
    }

    fn observe(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.keep_both_potentials()?;
        }
        self.see(clock, taps);
        Ok(())
    }

    fn apply_transducers(&mut self, _clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.drive_sites(taps);
        Ok(())
    }

    fn shows_beside_steps(&self) -> bool {
        true
    }

    fn mean_intensity(&mut self) -> Result<Option<Vec<f32>>, SolverError> {
        self.intensity().map(Some)
    }

    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        self.watch_potential()
    }

    fn image(&mut self, _clock: &RunClock, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        self.draw(request, image)
    }

    fn sums(&mut self, _clock: &RunClock) -> Result<Observables, SolverError> {
        Ok(self.total())
    }

    fn field(&mut self, _clock: &RunClock) -> Result<FieldData, SolverError> {
        Ok(self.data(&self.now))
    }

    fn set_field(&mut self, clock: &RunClock, field: &FieldData) -> Result<(), SolverError> {
        self.put(field);
        self.start_at_rest(clock.time());
        self.peak = Aligned::default();
        self.averages = Averages::default();
        self.watch_means(self.scenario.view().quantity)
    }

    fn layout(&self) -> Vec<Plane> {
        let sites = self.scenario.grid().sites();
        let mut planes = vec![Plane::new(NOW, sites), Plane::new(OLD, sites)];
        for layer in &self.layers {
            let axis = ["x", "y", "z"][layer.shape.axis];
            let last = layer.shape.axis + 1 == self.scenario.grid().rank();
            let rows = last.then(|| layer.shape.rows_of_whole());
            planes.push(Plane {
                blocks: 2,
                rows: rows.clone(),
                ..Plane::new(format!("psi_{axis}"), layer.psi.len())
            });
            planes.push(Plane {
                rows,
                ..Plane::new(format!("zeta_{axis}"), layer.zeta.len())
            });
        }
        if let Some(relaxing) = &self.relaxing {
            planes.push(Plane::new(MEMORY, relaxing.memory.len()));
            planes.push(Plane::new(CHANGE, relaxing.change.len()));
        }
        // The time that a mean holds stands behind it.
        planes.push(Plane::optional(SQUARE, sites + 1));
        planes.push(Plane::optional(FLOW, sites * self.sweep.lattice.rank + 1));
        planes.push(Plane::optional(PEAK, sites));
        planes.push(Plane::optional(POTENTIAL, sites));
        planes.push(Plane::optional(OBEYS, self.last_rows()));
        planes
    }

    fn save(&mut self) -> Result<Vec<Option<FieldData>>, SolverError> {
        let mut arrays = vec![Some(self.data(&self.now)), Some(self.data(&self.old))];
        for layer in &self.layers {
            arrays.push(Some(T::real_data(layer.psi.to_vec())));
            arrays.push(Some(T::real_data(layer.zeta.to_vec())));
        }
        if let Some(relaxing) = &self.relaxing {
            arrays.push(Some(T::real_data(relaxing.memory.clone())));
            arrays.push(Some(T::real_data(relaxing.change.clone())));
        }
        let [square, flow] = self.averages.passed;
        for (values, passed) in [(&self.averages.square, square), (&self.averages.flow, flow)] {
            arrays.push((!values.is_empty()).then(|| {
                let mut all = values.clone();
                all.push(T::of(passed));
                T::real_data(all)
            }));
        }
        arrays.push((!self.peak.is_empty()).then(|| self.data(&self.peak)));
        arrays.push((!self.potential.is_empty()).then(|| self.data(&self.potential)));
        let obeys = !self.potential.is_empty() && self.obeys;
        arrays.push(obeys.then(|| T::real_data(vec![T::one(); self.last_rows()])));
        Ok(arrays)
    }

    fn load(&mut self, _clock: &RunClock, arrays: &[Option<&FieldData>]) -> Result<(), SolverError> {
        let &[
            Some(now),
            Some(old),
            ref memories @ ..,
            square,
            flow,
            peak,
            potential,
            obeys,
        ] = arrays
        else {
            return Ok(());
        };
        for (layer, memories) in self.layers.iter_mut().zip(memories.chunks_exact(2)) {
            if let [Some(psi), Some(zeta)] = memories {
                copy(psi, &mut layer.psi);
                copy(zeta, &mut layer.zeta);
            }
        }
        if let (Some(relaxing), [Some(memory), Some(change)]) = (&mut self.relaxing, &memories[2 * self.layers.len()..])
        {
            copy(memory, &mut relaxing.memory);
            copy(change, &mut relaxing.change);
        }
        self.put(old);
        std::mem::swap(&mut self.now, &mut self.old);
        self.put(now);
        self.rest();
        self.averages = Averages::default();
        if let Some(square) = square {
            self.watch_means(Quantity::Rms)?;
            self.averages.passed[0] = filled(square, &mut self.averages.square);
        }
        if let Some(flow) = flow {
            self.watch_means(Quantity::Intensity)?;
            self.averages.passed[1] = filled(flow, &mut self.averages.flow);
        }
        self.peak = Aligned::default();
        if peak.is_some() {
            self.watch_peak()?;
        }
        if potential.is_some() {
            self.watch_potential()?;
        }
        let lattice = &self.sweep.lattice;
        for (from, to) in [(peak, &mut self.peak), (potential, &mut self.potential)] {
            let Some(from) = from else { continue };
            for row in 0..lattice.rows() {
                for (i, to) in to[lattice.sites(row)].iter_mut().enumerate() {
                    *to = T::of(from.at(row * lattice.size[0] + i).re);
                }
            }
        }
        if potential.is_some() {
            lattice.fill_all_ghosts(&mut self.potential, true);
        }
        self.obeys = obeys.is_some();
        Ok(())
    }
}

impl<T: Vectors> Cut for Fdtd<T> {
    fn read_rows(&mut self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<(), SolverError> {
        let lattice = &self.sweep.lattice;
        for row in rows {
            for all in [&self.now[..], &self.old[..], &self.potential[..]] {
                if !all.is_empty() {
                    out.extend_from_slice(bytemuck::cast_slice(lattice.row(all, row)));
                }
            }
            for layer in &self.layers {
                for memory in layer.of_row(lattice.size, row) {
                    out.extend_from_slice(bytemuck::cast_slice(memory));
                }
            }
        }
        Ok(())
    }

    fn write_rows(&mut self, rows: Range<usize>, bytes: &[u8]) -> Result<(), SolverError> {
        let lattice = &self.sweep.lattice;
        let values: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
        let mut rest = &values[..];
        let mut take = |to: &mut [T]| {
            let (own, others) = rest.split_at(to.len());
            to.copy_from_slice(own);
            rest = others;
        };
        for row in rows {
            for all in [&mut self.now[..], &mut self.old[..], &mut self.potential[..]] {
                if !all.is_empty() {
                    take(&mut all[lattice.sites(row)]);
                    lattice.fill_ghosts(&mut all[lattice.span(row)], true);
                }
            }
            for layer in &mut self.layers {
                layer.of_row_mut(lattice.size, row).into_iter().for_each(&mut take);
            }
        }
        Ok(())
    }

    fn row_sums(&mut self, _clock: &RunClock) -> Result<Vec<[f64; NUMBERS]>, SolverError> {
        Ok(numbers(&self.sums_of_rows()))
    }
}

/// Fills a mean from what was saved, and gives the time that it holds.
fn filled<T: Real>(from: &FieldData, to: &mut [T]) -> f64 {
    copy(from, to);
    from.at(to.len()).re
}

fn copy<T: Real>(from: &FieldData, to: &mut [T]) {
    for (i, to) in to.iter_mut().enumerate() {
        *to = T::of(from.at(i).re);
    }
}

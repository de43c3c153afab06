//! Maps of means over time, p² for rms and level, p·v for intensity, and of the velocity of the medium.
//!
//! Means are taken after every step, outside of the kernels, by one more pass over the grid; such runs go step by step. They start with the run, or when they are first asked for, and cover all of that time or have
//! the time constant `view.over`. v of a site is the mean of those through its two faces, v = −(Φ₊ − Φ) 2/(ρ + ρ₊)/a with Φ = ∫p dt ([`super::potential`]) and the density of a bond of the scheme: where ρ jumps v along
//! the jump's normal does not, and so neither does ⟨p v⟩ of a tone. In one density that is the central difference of Φ. Through a wall or a rigid edge nothing flows.
//! Layout: as [`Lattice::packed`], x fastest; of a flow one axis after the other.

use super::lattice::{Ghost, Lattice};
use super::run::Fdtd;
use super::scheme::Sweep;
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::field::Real;
use crate::physics::REFERENCE_PRESSURE;
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::medium::allocate;
use crate::solver::{FieldImage, ImageRequest, SolverError};
use rayon::prelude::*;

/// Means of a run.
#[derive(Default)]
pub(super) struct Averages<T> {
    /// ⟨p²⟩ of every site; empty while not needed.
    pub(super) square: Vec<T>,
    /// ⟨p v⟩ of every site, axis by axis; empty while not needed.
    pub(super) flow: Vec<T>,
    /// Seconds that they hold.
    pub(super) passed: [f64; 2],
}

impl<T> Averages<T> {
    /// Whether there are any.
    pub(super) fn follow(&self) -> bool {
        !(self.square.is_empty() && self.flow.is_empty())
    }
}

/// The share of a new value in a mean that holds `passed` seconds after it.
fn share(step: f64, passed: f64, over: Option<f64>) -> f64 {
    match over {
        Some(over) => -(-step / over).exp_m1(),
        None => (step / passed).min(1.0),
    }
}

/// What the velocity is read from.
struct Motion<'a, T> {
    sweep: &'a Sweep<T>,
    now: &'a [T],
    potential: &'a [T],
    spacing: f64,
    time_step: f64,
}

impl<T: Real> Motion<'_, T> {
    /// v along an axis at the sites of a row.
    fn row(&self, row: usize, axis: usize, out: &mut [f64]) {
        let lattice = &self.sweep.lattice;
        let [nx, ny, _] = lattice.size;
        let sites = lattice.sites(row);
        let phi = |place: usize| self.potential[place].wide() - 0.5 * self.time_step * self.now[place].wide();
        let wall = |row: usize, x: usize| self.sweep.mask.get(row * nx + x).copied().unwrap_or(false);
        let beside = |offset: isize| match axis {
            0 => None,
            _ => Some(lattice.neighbour_row(row % ny, row / ny, axis, offset)),
        };
        let (below, above) = (beside(-1), beside(1));
        // Φ beyond a face, and the place of the density there; a site's own where its mirror stands beyond.
        let beyond = |x: usize, offset: isize, other: &Option<Ghost>| -> (f64, usize) {
            let own = sites.start + x;
            let (sign, row, x) = match other {
                Some(Ghost::Same(other)) => (1.0, *other, x),
                Some(Ghost::Negative(other)) => (-1.0, *other, x),
                Some(Ghost::Zero) => return (0.0, own),
                None => match super::lattice::ghost(lattice.edges[0], nx, x.cast_signed() + offset) {
                    Ghost::Same(at) => (1.0, row, at),
                    Ghost::Negative(at) => (-1.0, row, at),
                    Ghost::Zero => return (0.0, own),
                },
            };
            if wall(row, x) {
                (phi(own), own)
            } else {
                let place = lattice.sites(row).start + x;
                (sign * phi(place), place)
            }
        };
        let material = &self.sweep.material;
        for (x, out) in out.iter_mut().enumerate() {
            if wall(row, x) {
                *out = 0.0;
                continue;
            }
            let [(low, before), (high, behind)] = [beyond(x, -1, &below), beyond(x, 1, &above)];
            *out = if material.density.is_empty() {
                -(high - low) / (2.0 * self.spacing * material.uniform_density)
            } else {
                let place = sites.start + x;
                let own = phi(place);
                let [lower, upper] = [before, behind].map(|other| self.sweep.bond(place, other));
                -(lower * (own - low) + upper * (high - own)) / (2.0 * self.spacing)
            };
        }
    }
}

impl<T: Vectors> Fdtd<T> {
    /// Starts to keep what a picture needs, unless it is kept already.
    pub(super) fn watch_means(&mut self, quantity: Quantity) -> Result<(), SolverError> {
        let sites = self.sweep.lattice.size[0] * self.sweep.lattice.rows();
        match quantity {
            Quantity::Rms | Quantity::Level if self.averages.square.is_empty() => {
                self.averages.square = allocate(sites, "the mean squares")?;
                self.averages.passed[0] = 0.0;
            }
            Quantity::Intensity if self.averages.flow.is_empty() => {
                self.watch_potential()?;
                self.averages.flow = allocate(sites * self.sweep.lattice.rank, "the mean intensity")?;
                self.averages.passed[1] = 0.0;
            }
            Quantity::Velocity => self.watch_potential()?,
            _ => {}
        }
        Ok(())
    }

    /// Takes a step into the means; in the pool.
    pub(super) fn follow_means(&mut self) {
        let mut averages = std::mem::take(&mut self.averages);
        let (over, step) = (self.scenario.view().over, self.time_step.abs());
        let lattice = &self.sweep.lattice;
        let nx = lattice.size[0];
        if !averages.square.is_empty() {
            averages.passed[0] += step;
            let share = T::of(share(step, averages.passed[0], over));
            let rows = averages.square.par_chunks_exact_mut(nx).enumerate();
            rows.for_each(|(row, means)| {
                for (mean, p) in means.iter_mut().zip(lattice.row(&self.now, row)) {
                    *mean += share * (*p * *p - *mean);
                }
            });
        }
        if !averages.flow.is_empty() {
            averages.passed[1] += step;
            let share = share(step, averages.passed[1], over);
            let motion = self.motion_of_sites();
            let rows = averages.flow.par_chunks_exact_mut(nx).enumerate();
            rows.for_each_init(
                || vec![0.0; nx],
                |velocity, (n, means)| {
                    let (axis, row) = (n / lattice.rows(), n % lattice.rows());
                    motion.row(row, axis, velocity);
                    for ((mean, p), v) in means.iter_mut().zip(lattice.row(&self.now, row)).zip(velocity) {
                        let before = mean.wide();
                        *mean = T::of(before + share * (p.wide() * *v - before));
                    }
                },
            );
        }
        self.averages = averages;
    }

    /// See [`crate::solver::Solver::mean_intensity`].
    pub(super) fn intensity(&mut self) -> Result<Vec<f32>, SolverError> {
        self.watch_means(Quantity::Intensity)?;
        let single = |value: &T| crate::solver::acoustic::sums::single(value.wide());
        Ok(self.averages.flow.par_iter().map(single).collect())
    }

    fn motion_of_sites(&self) -> Motion<'_, T> {
        Motion {
            sweep: &self.sweep,
            now: &self.now,
            potential: &self.potential,
            spacing: self.scenario.grid().spacing(),
            time_step: self.time_step,
        }
    }

    /// A picture of means or of the velocity.
    pub(super) fn draw_motion(&self, request: &ImageRequest, image: &mut FieldImage) {
        let lattice: &Lattice = &self.sweep.lattice;
        let [nx, ny, _] = lattice.size;
        let motion = self.motion_of_sites();
        let size = |row: usize, values: &mut [f64]| match request.quantity {
            Quantity::Velocity => {
                let mut velocity = vec![0.0; nx];
                for axis in 0..lattice.rank {
                    motion.row(row, axis, &mut velocity);
                    for (sum, v) in values.iter_mut().zip(&velocity) {
                        *sum += v * v;
                    }
                }
                for value in values.iter_mut() {
                    *value = value.sqrt();
                }
            }
            Quantity::Intensity => {
                let flow = &self.averages.flow;
                for (x, value) in values.iter_mut().enumerate() {
                    let along = |axis: usize| flow[(axis * lattice.rows() + row) * nx + x].wide().powi(2);
                    *value = (0..lattice.rank).map(along).sum::<f64>().sqrt();
                }
            }
            quantity => {
                for (value, mean) in values.iter_mut().zip(&self.averages.square[row * nx..]) {
                    let rms = mean.wide().sqrt();
                    *value = if quantity == Quantity::Level {
                        (20.0 * (rms / REFERENCE_PRESSURE).log10()).max(0.0)
                    } else {
                        rms
                    };
                }
            }
        };
        threads::run(|| {
            image.fill_real(request, |j, out| {
                let mut values = vec![0.0; nx];
                size(j + ny * request.z, &mut values);
                for (out, value) in out.iter_mut().zip(&values[request.x.start..]) {
                    *out = crate::solver::acoustic::sums::single(*value);
                }
            });
        });
    }
}

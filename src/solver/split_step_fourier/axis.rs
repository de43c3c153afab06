//! The kinetic half of the split step along one axis: line → Fourier → e^{−iε(k)τ} → back.
//!
//! A ring of N sites is transformed directly. N sites between walls are continued oddly onto a ring of 2(N+1) sites
//! (0, ψ₀ … ψ_{N−1}, 0, −ψ_{N−1} … −ψ₀): ε is even in k, so the ring stays odd and the walls stay nodes (a sine transform, DST-I).
//! The factors of the axes commute: doing a line there and back in cache before the next axis is exact, and saves every pass
//! over memory that a transform of the whole grid would need.

use crate::field::Real;
use crate::solver::quantum::rotation;
use num_complex::Complex;
use rayon::prelude::*;
use rustfft::{Fft, FftPlanner};
use std::sync::Arc;

/// Lines that are gathered together from a strided axis: 16 neighbours are one or two cache lines.
const LINES: usize = 16;

/// One axis, planned.
pub struct Axis<T: Real> {
    sites: usize,
    walls: bool,
    forward: Arc<dyn Fft<T>>,
    inverse: Arc<dyn Fft<T>>,
    /// ε of every bin of the ring.
    energies: Vec<f64>,
    /// For each kind of substep e^{−iετ}/M of every bin.
    factors: Vec<Vec<Complex<T>>>,
}

/// Buffers of one thread.
pub struct Work<T> {
    ring: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

impl<T: Real> Axis<T> {
    /// An axis of `sites` sites; `energy(q)` is the kinetic energy at momentum q per site, −π ≤ q ≤ π.
    pub fn new(planner: &mut FftPlanner<T>, sites: usize, walls: bool, energy: impl Fn(f64) -> f64) -> Self {
        let ring = if walls { 2 * (sites + 1) } else { sites };
        #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
        let energies = (0..ring)
            .map(|m| {
                let m = if 2 * m > ring { m as f64 - ring as f64 } else { m as f64 };
                energy(std::f64::consts::TAU * m / ring as f64)
            })
            .collect();
        Self {
            sites,
            walls,
            forward: planner.plan_fft_forward(ring),
            inverse: planner.plan_fft_inverse(ring),
            energies,
            factors: Vec::new(),
        }
    }

    /// Fixes the substeps: one table for each τ (−iτ where `imaginary`).
    pub fn set_steps(&mut self, taus: &[f64], imaginary: bool) {
        #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
        let scale = 1.0 / self.energies.len() as f64;
        self.factors = taus
            .iter()
            .map(|tau| {
                self.energies
                    .iter()
                    .map(|energy| {
                        if imaginary {
                            Complex::new(T::of(scale * (-energy * tau).exp()), T::zero())
                        } else {
                            rotation(scale, -energy * tau)
                        }
                    })
                    .collect()
            })
            .collect();
    }

    /// Sites of a line.
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// Buffers for [`Axis::step_line`].
    pub fn work(&self) -> Work<T> {
        let scratch = self
            .forward
            .get_inplace_scratch_len()
            .max(self.inverse.get_inplace_scratch_len());
        Work {
            ring: vec![Complex::default(); if self.walls { self.energies.len() } else { 0 }],
            scratch: vec![Complex::default(); scratch],
        }
    }

    /// The kinetic step of this kind on one line.
    pub fn step_line(&self, kind: usize, line: &mut [Complex<T>], work: &mut Work<T>) {
        let factors = &self.factors[kind];
        let Work { ring, scratch } = work;
        if self.walls {
            unfold(line, ring);
            self.round_trip(factors, ring, scratch);
            line.copy_from_slice(&ring[1..=self.sites]);
        } else {
            self.round_trip(factors, line, scratch);
        }
    }

    fn round_trip(&self, factors: &[Complex<T>], ring: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        self.forward.process_with_scratch(ring, scratch);
        for (value, factor) in ring.iter_mut().zip(factors) {
            *value *= factor;
        }
        self.inverse.process_with_scratch(ring, scratch);
    }

    /// Σ ε|ψ_k|² of one line, normalised like Σ|ψ|²; the line is lost.
    pub fn line_energy(&self, line: &mut [Complex<T>], work: &mut Work<T>) -> f64 {
        let Work { ring, scratch } = work;
        let (ring, copies) = if self.walls {
            unfold(line, ring);
            (&mut ring[..], 2.0)
        } else {
            (line, 1.0)
        };
        self.forward.process_with_scratch(ring, scratch);
        let sum: f64 = ring
            .iter()
            .zip(&self.energies)
            .map(|(value, energy)| energy * (value.re.wide().powi(2) + value.im.wide().powi(2)))
            .sum();
        #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
        let bins = ring.len() as f64;
        sum / (copies * bins)
    }
}

/// The odd continuation of a line.
fn unfold<T: Real>(line: &[Complex<T>], ring: &mut [Complex<T>]) {
    let n = line.len();
    ring[0] = Complex::default();
    ring[n + 1] = Complex::default();
    ring[1..=n].copy_from_slice(line);
    for (image, value) in ring[n + 2..].iter_mut().zip(line.iter().rev()) {
        *image = -value;
    }
}

/// Copies the lines of an axis (array seen as [outer][n][inner]) into `lines` as [outer][inner][n] and treats each line,
/// in parallel. What `treat` returns for each line comes back in the order of the lines.
pub fn gather<T: Real, S: Send>(
    field: &[Complex<T>],
    lines: &mut [Complex<T>],
    axis: &Axis<T>,
    inner: usize,
    treat: impl Fn(&mut [Complex<T>], &mut Work<T>) -> S + Sync,
) -> Vec<S> {
    let n = axis.sites();
    let plane = n * inner;
    let parts: Vec<Vec<S>> = lines
        .par_chunks_mut(plane)
        .zip(field.par_chunks(plane))
        .flat_map(|(lines, field)| {
            lines
                .par_chunks_mut(LINES * n)
                .enumerate()
                .map(move |(block, lines)| (block * LINES, lines, field))
        })
        .map_init(
            || axis.work(),
            |work, (first, lines, field)| {
                let count = lines.len() / n;
                for (j, row) in field.chunks_exact(inner).enumerate() {
                    for (l, value) in row[first..first + count].iter().enumerate() {
                        lines[l * n + j] = *value;
                    }
                }
                lines.chunks_exact_mut(n).map(|line| treat(line, work)).collect()
            },
        )
        .collect();
    parts.into_iter().flatten().collect()
}

/// Copies the lines back, and calls `after(first site, sites)` on each stretch of the field that is complete.
pub fn scatter<T: Real>(
    field: &mut [Complex<T>],
    lines: &[Complex<T>],
    n: usize,
    inner: usize,
    after: impl Fn(usize, &mut [Complex<T>]) + Sync,
) {
    let plane = n * inner;
    field
        .par_chunks_mut(plane)
        .zip(lines.par_chunks(plane))
        .enumerate()
        .flat_map(|(outer, (field, lines))| {
            field
                .par_chunks_mut(LINES * inner)
                .enumerate()
                .map(move |(block, rows)| (outer * plane, block * LINES, rows, lines))
        })
        .for_each(|(start, first, rows, lines)| {
            let count = rows.len() / inner;
            for (i, line) in lines.chunks_exact(n).enumerate() {
                for (j, value) in line[first..first + count].iter().enumerate() {
                    rows[j * inner + i] = *value;
                }
            }
            after(start + first * inner, rows);
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Edge, Grid};
    use crate::physics::noise::Noise;
    use crate::physics::reference::{distance, free};
    use num_complex::Complex64;

    const DISPERSION: free::Dispersion = free::Dispersion::Lattice {
        hopping: 1.0,
        diagonal: 0.0,
    };

    fn random(sites: usize) -> Vec<Complex64> {
        let mut noise = Noise::new(5);
        (0..sites)
            .map(|_| Complex64::new(noise.signed(), noise.signed()))
            .collect()
    }

    #[test]
    fn lines_of_every_axis_move_as_the_modes_do() {
        // Sizes that are no multiples of the 16 gathered lines; 16 = round-off of about log2(48) stages twice, in ulps of 1.
        let size = [19, 22, 5];
        let edges = [Edge::Wall, Edge::Periodic, Edge::Wall];
        let grid = Grid::new(&size, 1.0).with_edges(edges, 0);
        let start = random(grid.sites());
        let exact = free::evolve(&grid, &start, &DISPERSION, 1.7);
        let mut psi = start;
        let mut inner = 1;
        for (n, sites) in size.into_iter().enumerate() {
            let walls = edges[n] == Edge::Wall;
            let mut axis = Axis::<f64>::new(&mut FftPlanner::new(), sites, walls, |q| DISPERSION.energy(q));
            axis.set_steps(&[1.7], false);
            let mut lines = vec![Complex64::ZERO; psi.len()];
            gather(&psi, &mut lines, &axis, inner, |line, work| {
                axis.step_line(0, line, work);
            });
            scatter(&mut psi, &lines, sites, inner, |_, _| {});
            inner *= sites;
        }
        assert!(
            distance(&psi, &exact) < 16.0 * f64::EPSILON,
            "{}",
            distance(&psi, &exact)
        );
    }

    #[test]
    fn energy_of_a_line_is_that_of_the_hopping() {
        for walls in [true, false] {
            let axis = Axis::<f64>::new(&mut FftPlanner::new(), 12, walls, |q| DISPERSION.energy(q));
            let psi = random(12);
            let mut expected: f64 = (0..11).map(|n| -2.0 * (psi[n].conj() * psi[n + 1]).re).sum();
            if !walls {
                expected -= 2.0 * (psi[11].conj() * psi[0]).re;
            }
            let energy = axis.line_energy(&mut psi.clone(), &mut axis.work());
            assert!((energy - expected).abs() < 1e-13, "{energy} {expected}");
        }
    }

    #[test]
    fn factors_in_single_precision_keep_the_norm() {
        // The nearest pair is off by up to 6e-8 in |f|²; choosing among neighbours leaves 2.5e-8 at most, 1e-8 as a rule.
        let mut worst = 0.0f64;
        let mut mean = 0.0;
        for n in 0..1000 {
            let z = rotation::<f32>(1.0, f64::from(n) * 0.01);
            let miss = f64::from(z.re).powi(2) + f64::from(z.im).powi(2) - 1.0;
            worst = worst.max(miss.abs());
            mean += miss / 1000.0;
        }
        assert!(worst < 6e-8 && mean.abs() < 1e-8, "{worst} {mean}");
    }
}

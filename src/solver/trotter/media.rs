//! The medium at every site, in the run's precision, and phase factors from it.

use super::problem::Problem;
use super::scheme::PhaseKind;
use crate::field::angles::{cos_and_sin, reduce};
use crate::field::{Precision, Real};
use crate::grid::{Edge, Grid};
use crate::physics::{Expression, Sets};
use crate::solver::quantum;
use num_complex::Complex;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Sites that are turned at once, on the stack.
const CHUNK: usize = 64;

/// W τ beyond this has no effect: e^{−20} is below the last bit of a single, and its inverse, which closes a frame, stays finite.
pub(super) const LARGEST_DAMPING: f64 = 20.0;

/// E, W, driven parts of U, and walls; x fastest.
pub(super) struct Media<T> {
    /// Another one for every medium that is made.
    number: u64,
    grid: Grid,
    /// Diagonal of H without drives and interaction.
    pub(super) energy: Vec<T>,
    /// The potential that each drive multiplies.
    pub(super) driven: Vec<(Expression, Vec<T>)>,
    /// Sites of each row between the first and the last that a drive touches.
    driven_sites: Vec<Range<usize>>,
    /// W ≥ 0, where the scene has any.
    pub(super) absorption: Option<Vec<T>>,
    /// g at every site, where layers set it.
    strengths: Option<Arc<[f64]>>,
    /// Sites that are walls, where the scene has any.
    pub walls: Option<Vec<bool>>,
    /// Lowest energy: subtracted in imaginary time, so that no factor exceeds 1.
    pub(super) lowest: f64,
}

/// The number of the next medium.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The exponent of a phase: e^{−i(energy·E + Σ driven[g]·U_g)}, damped by e^{−damping·W}, times `fold`.
#[derive(Clone, Debug)]
pub(super) struct Exponent {
    /// Time that multiplies static energies.
    pub energy: f64,
    /// Time that multiplies absorption: positive forwards and backwards in time alike; negative takes absorption back.
    pub damping: f64,
    /// Time times drive, per drive.
    pub driven: Vec<f64>,
    /// Real factor.
    pub fold: f64,
    /// e^{−Eτ} instead of e^{−iEτ}.
    pub imaginary: bool,
    /// g τ, or τ where layers set g: what multiplies a density that is given, see [`Problem::has_mean_field`].
    pub mean_field: f64,
    /// g₁₂ τ, which multiplies that of the other component.
    pub cross: f64,
}

impl<T: Real> Media<T> {
    /// Reads the medium.
    pub(super) fn new(problem: &Problem) -> Self {
        let grid = problem.grid.clone();
        let [nx, ny, _] = grid.size();
        let medium = &problem.medium;
        let energy = quantum::at_sites(&grid, |j, k, row| {
            medium.potential_row(None, j, k, 0..nx, row);
            problem.add_diagonal(j + ny * k, row);
        });
        let driven: Vec<(Expression, Vec<T>)> = (medium.drives().iter().enumerate())
            .map(|(g, drive)| {
                let part = quantum::at_sites(&grid, |j, k, row| medium.potential_row(Some(g), j, k, 0..nx, row));
                (drive.clone(), part)
            })
            .collect();
        let driven_sites = (0..grid.rows())
            .into_par_iter()
            .map(|row| {
                if driven.is_empty() {
                    return nx..nx;
                }
                let touched = |i: &usize| driven.iter().any(|(_, part)| part[row * nx + i] != T::zero());
                let first = (0..nx).find(touched).unwrap_or(nx);
                let last = (first..nx).rfind(touched);
                first..last.map_or(first, |last| last + 1)
            })
            .collect();
        let absorbs = medium.has(Sets::Absorption)
            || (grid.absorb_width() > 0 && grid.edges()[..grid.rank()].contains(&Edge::Absorb));
        let scale = problem.quantum.absorption_scale();
        let absorption =
            absorbs.then(|| quantum::at_sites(&grid, |j, k, row| medium.absorption_row(scale, j, k, 0..nx, row)));
        let walls = medium.has(Sets::Wall).then(|| quantum::walls(medium));
        let lowest = if problem.imaginary && grid.is_window() {
            lowest_of::<T>(problem)
        } else {
            let wide = energy.par_iter().map(|e: &T| e.wide());
            wide.reduce(|| f64::INFINITY, f64::min)
        };
        Self {
            number: NEXT.fetch_add(1, Relaxed),
            grid,
            energy,
            driven,
            driven_sites,
            absorption,
            strengths: problem.strengths.clone(),
            walls,
            lowest,
        }
    }

    /// g at a site of a row, where layers set it.
    pub(super) fn strength(&self, row: usize, x: usize) -> Option<f64> {
        let nx = self.grid.size()[0];
        self.strengths.as_ref().map(|strengths| strengths[row * nx + x])
    }

    /// g at some sites, where layers set it.
    pub(super) fn strengths(&self, sites: Range<usize>) -> Option<&[f64]> {
        self.strengths.as_ref().map(|strengths| &strengths[sites])
    }

    /// The flat indices of `count` sites of a row from column x0 on.
    pub(super) fn sites(&self, row: usize, x0: usize, count: usize) -> Range<usize> {
        let start = row * self.grid.size()[0] + x0;
        start..start + count
    }

    /// Its number: that of no other medium.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        let reals = self.energy.len() * (1 + self.driven.len()) + self.absorption.as_ref().map_or(0, Vec::len);
        reals * size_of::<T>() + self.walls.as_ref().map_or(0, Vec::len)
    }

    /// Whether the potential changes with time.
    pub(super) fn is_driven(&self) -> bool {
        !self.driven.is_empty()
    }

    /// Whether a drive touches a row.
    pub(super) fn row_is_driven(&self, row: usize) -> bool {
        !self.driven_sites[row].is_empty()
    }

    /// Whether any site absorbs.
    pub(super) fn absorbs(&self) -> bool {
        self.absorption.is_some()
    }

    /// |ψ|²/|φ|² of a site, where φ has had `open_damping` of absorption that ψ has not.
    pub(super) fn closing_weight(&self, index: usize, open_damping: f64) -> T {
        let damping = self.absorption.as_ref().map_or(0.0, |absorption| {
            (open_damping * absorption[index].wide()).min(LARGEST_DAMPING)
        });
        T::of((2.0 * damping).exp())
    }

    /// An exponent for phase times at moments, (t, τ) for each contribution, and a time of absorption.
    pub(super) fn exponent(&self, parts: &[(f64, f64)], damping: f64, fold: f64, imaginary: bool) -> Exponent {
        Exponent {
            energy: parts.iter().map(|(_, length)| length).sum(),
            damping,
            driven: (self.driven.iter())
                .map(|(drive, _)| {
                    (parts.iter().filter(|(_, length)| *length != 0.0))
                        .map(|(at, length)| length * drive.eval(&[*at]))
                        .sum()
                })
                .collect(),
            fold,
            imaginary,
            mean_field: 0.0,
            cross: 0.0,
        }
    }

    /// Drive values at a time.
    pub(super) fn drives_at(&self, time: f64) -> Vec<f64> {
        self.driven.iter().map(|(drive, _)| drive.eval(&[time])).collect()
    }

    /// Factors of sites x0.. of a row; walls get 0.
    ///
    /// In single precision the modulus of the rounded factor is off by up to 6e-8, the same way at all sites of equal
    /// energy, which after 1e4 steps is a norm wrong by 6e-4. The error is therefore diffused along the row: the larger component is
    /// rounded to whichever neighbour brings the sum of |factor|² − fold² so far closer to zero.
    ///
    /// `corrections`, where given, multiplies the modulus site by site; `all`, where not empty, is |ψ|² of all sites for the mean field of imaginary time.
    pub(super) fn factors(
        &self,
        row: usize,
        x0: usize,
        exponent: &Exponent,
        corrections: Option<&[f64]>,
        all: &[T],
        out: &mut [Complex<T>],
    ) {
        let start = row * self.grid.size()[0] + x0;
        if exponent.imaginary {
            self.decays(start..start + out.len(), exponent, corrections, all, out);
            return;
        }
        let mut error = 0.0;
        // Chunks mostly have the angles of the one before.
        let (mut last, mut turned) = ([0.0f64.to_bits(); CHUNK], [(1.0, 0.0); CHUNK]);
        for (n, out) in out.chunks_mut(CHUNK).enumerate() {
            let first = n * CHUNK;
            let angles = self.angles(start + first..start + first + out.len(), exponent);
            if angles.map(f64::to_bits) != last {
                last = angles.map(f64::to_bits);
                turned = turns(angles);
            }
            for (i, (out, (cos, sin))) in out.iter_mut().zip(turned).enumerate() {
                let index = start + first + i;
                if self.walls.as_ref().is_some_and(|walls| walls[index]) {
                    *out = Complex::default();
                    continue;
                }
                let fold = corrections.map_or(exponent.fold, |corrections| exponent.fold * corrections[first + i]);
                let modulus = self.modulus(index, exponent.damping, fold);
                *out = diffuse(modulus * cos, -modulus * sin, modulus * modulus, &mut error);
            }
        }
    }
}

impl<T: Real> Media<T> {
    /// The angles by which up to [`CHUNK`] sites turn.
    fn angles(&self, sites: Range<usize>, exponent: &Exponent) -> [f64; CHUNK] {
        let mut angles = [0.0; CHUNK];
        for (angle, energy) in angles.iter_mut().zip(&self.energy[sites.clone()]) {
            *angle = exponent.energy * energy.wide();
        }
        for ((_, part), time) in self.driven.iter().zip(&exponent.driven) {
            for (angle, u) in angles.iter_mut().zip(&part[sites.clone()]) {
                *angle += time * u.wide();
            }
        }
        angles
    }

    /// fold · e^{−damping·W} at a site.
    fn modulus(&self, index: usize, damping: f64, fold: f64) -> f64 {
        let damping = self.absorption.as_ref().map_or(0.0, |absorption| {
            (damping * absorption[index].wide()).clamp(-LARGEST_DAMPING, LARGEST_DAMPING)
        });
        if damping == 0.0 { fold } else { fold * (-damping).exp() }
    }

    /// The modulus of the factors of a row, which a drive does not change; 0 on walls. `out` comes with what multiplies them site by site.
    pub(super) fn moduli(&self, row: usize, kind: &PhaseKind, out: &mut [f64]) {
        let start = row * self.grid.size()[0];
        for (index, out) in (start..).zip(out) {
            let wall = self.walls.as_ref().is_some_and(|walls| walls[index]);
            *out = if wall {
                0.0
            } else {
                self.modulus(index, kind.damping, kind.fold * *out)
            };
        }
    }

    /// Factors of the sites of a row that a drive touches, from their moduli; all others keep theirs, which do not change.
    ///
    /// They are rounded to the nearest: they change in every step, and so do their errors.
    pub(super) fn driven_factors(&self, row: usize, exponent: &Exponent, moduli: &[f64], out: &mut [Complex<T>]) {
        let start = row * self.grid.size()[0];
        let all = self.driven_sites[row].clone();
        for first in all.clone().step_by(CHUNK) {
            let here = first..(first + CHUNK).min(all.end);
            let sites = start + here.start..start + here.end;
            let turned = turns(self.angles(sites.clone(), exponent));
            for (n, (out, modulus)) in out[here.clone()].iter_mut().zip(&moduli[here]).enumerate() {
                if self.driven.iter().any(|(_, part)| part[sites.start + n] != T::zero()) {
                    let (cos, sin) = turned[n];
                    *out = Complex::new(T::of(modulus * cos), T::of(-modulus * sin));
                }
            }
        }
    }
}

/// Cosines and sines.
fn turns(mut angles: [f64; CHUNK]) -> [(f64, f64); CHUNK] {
    reduce(&mut angles);
    angles.map(cos_and_sin)
}

/// The lowest energy of the whole grid of a problem on a window.
fn lowest_of<T: Real>(problem: &Problem) -> f64 {
    let medium = problem.medium.over(problem.grid.whole());
    let [nx, ny, _] = medium.grid().size();
    (0..medium.grid().rows())
        .into_par_iter()
        .map_init(
            || vec![0.0; nx],
            |row, n| {
                medium.potential_row(None, n % ny, n / ny, 0..nx, row);
                let energies = row.iter().map(|value| T::of(value + problem.quantum.diagonal).wide());
                energies.fold(f64::INFINITY, f64::min)
            },
        )
        .reduce(|| f64::INFINITY, f64::min)
}

/// Rounds (re, im) so that the running sum of re² + im² − `square` stays near zero.
fn diffuse<T: Real>(re: f64, im: f64, square: f64, error: &mut f64) -> Complex<T> {
    let rounded = Complex::new(T::of(re), T::of(im));
    if T::PRECISION == Precision::Double {
        return rounded;
    }
    let (large, exact, small) = if re.abs() >= im.abs() {
        (rounded.re, re, rounded.im)
    } else {
        (rounded.im, im, rounded.re)
    };
    // The neighbour on the other side of the exact value.
    let half_gap = T::epsilon() * large.abs() / (T::one() + T::one());
    let other = if large.wide() > exact {
        large - half_gap
    } else {
        large + half_gap
    };
    let miss = |candidate: T| candidate.wide().powi(2) + small.wide().powi(2) - square;
    let chosen = if (*error + miss(large)).abs() <= (*error + miss(other)).abs() {
        large
    } else {
        other
    };
    *error += miss(chosen);
    if re.abs() >= im.abs() {
        Complex::new(chosen, small)
    } else {
        Complex::new(small, chosen)
    }
}

//! 2(H − c)/r on planes of real and imaginary parts, and one term of Chebyshev's recurrence with it.

#![allow(
    unsafe_code,
    reason = "a kernel compiled for the machine's vectors; what is in it is safe"
)]

use super::series::Spectrum;
use crate::backend::simd::{Kernel, Lanes, Level, Vectors};
use crate::field::Real;
use crate::grid::Grid;
use crate::physics::{Quantum, Sets};
use crate::scene::Scenario;
use crate::solver::quantum::{at_sites, walls};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Real and imaginary parts, x fastest.
pub(super) type Planes<T> = [Vec<T>; 2];
/// Sites of a line that a thread takes at a time, and at least in many rows.
const PART: usize = 8192;

/// 2(H − c)/r, H = −J Σ(e^{iϕ}|to⟩⟨from| + h.c.) + E − iW.
pub(super) struct Operator<T> {
    pub(super) spectrum: Spectrum,
    grid: Grid,
    /// −2J/r.
    hop: f64,
    /// Peierls phase of x bonds: ϕ = −2π · flux · y.
    flux: f64,
    /// 2(E − c)/r.
    diagonal: Vec<T>,
    /// 2W/r; empty where nothing absorbs.
    absorption: Vec<T>,
    /// Empty where no wall stands.
    pub(super) walls: Vec<bool>,
    /// Neighbours of the rows at walls.
    outside: Vec<T>,
    part: usize,
}

impl<T: Vectors> Operator<T> {
    pub(super) fn new(scenario: &Scenario, quantum: &Quantum, absorbs: bool) -> Self {
        let (grid, medium) = (scenario.grid().clone(), scenario.medium());
        let nx = grid.size()[0];
        let mut energy: Vec<f64> = at_sites(&grid, |j, k, row| medium.potential_row(None, j, k, 0..nx, row));
        let scale = quantum.absorption_scale();
        let absorption: Vec<f64> = if absorbs {
            at_sites(&grid, |j, k, row| medium.absorption_row(scale, j, k, 0..nx, row))
        } else {
            Vec::new()
        };
        let walls = if medium.has(Sets::Wall) {
            walls(medium)
        } else {
            Vec::new()
        };
        let free = energy.iter().enumerate().filter(|(n, _)| walls.get(*n) != Some(&true));
        let range = free.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, e)| {
            (low.min(*e), high.max(*e))
        });
        let spectrum = spectrum(&grid, quantum, range, absorption.iter().copied().fold(0.0, f64::max));
        let by = 2.0 / spectrum.radius();
        for (n, energy) in energy.iter_mut().enumerate() {
            let wall = walls.get(n) == Some(&true);
            *energy = if wall {
                0.0
            } else {
                (*energy + quantum.diagonal - spectrum.center()) * by
            };
        }
        let part = if grid.rows() == 1 { nx.min(PART) } else { nx };
        Self {
            hop: -quantum.hopping * by,
            flux: quantum.flux,
            diagonal: energy.into_iter().map(T::of).collect(),
            absorption: absorption.into_iter().map(|w| T::of(w * by)).collect(),
            walls,
            outside: vec![T::zero(); part],
            part,
            spectrum,
            grid,
        }
    }

    /// Tₙ₊₁ψ into `next`, which holds Tₙ₋₁ψ, from Tₙψ in `here`; half of it for the `first` term, T₁ψ, before which `next` is 0. Then adds both terms to `sum` with
    /// their weights. `back`: absorbs backwards in time.
    pub(super) fn term(
        &self,
        here: &Planes<T>,
        next: &mut Planes<T>,
        [first, back]: [bool; 2],
        sum: Option<(&mut [Complex<T>], [Complex64; 2])>,
    ) {
        let level = Level::best();
        let scale = T::of(if first { 0.5 } else { 1.0 });
        let of = |plane: usize, start: usize, len: usize| &here[plane][start..start + len];
        let [re, im] = next;
        let parts = re.par_chunks_mut(self.part).zip(im.par_chunks_mut(self.part));
        let parts = parts.enumerate().with_min_len(PART.div_ceil(self.part));
        let whole = |n: usize, next: [&mut [T]; 2], sum: Option<Sum<'_, T>>| {
            let (start, len) = (n * self.part, next[0].len());
            let here = [of(0, start, len), of(1, start, len)];
            level.run(Part {
                operator: self,
                planes: [of(0, 0, self.diagonal.len()), of(1, 0, self.diagonal.len())],
                start,
                here,
                next,
                sum,
                scale,
                back,
            });
        };
        match sum {
            None => parts.for_each(|(n, (re, im))| whole(n, [re, im], None)),
            Some((sum, weights)) => {
                let weights = weights.map(|w| Complex::new(T::of(w.re), T::of(w.im)));
                let sums = sum.par_chunks_mut(self.part);
                parts
                    .zip(sums)
                    .for_each(|((n, (re, im)), to)| whole(n, [re, im], Some(Sum { to, weights })));
            }
        }
    }

    /// ⟨H⟩ Σ|ψ|² from ψ and T₁ψ, summed by rows so that it does not depend on threads.
    pub(super) fn expectation(&self, psi: &Planes<T>, first: &Planes<T>) -> f64 {
        let (center, radius) = (self.spectrum.center(), self.spectrum.radius());
        let part = |plane: usize, n: usize| {
            let psi = psi[plane][n].wide();
            psi * (center * psi + radius * first[plane][n].wide())
        };
        let nx = self.grid.size()[0];
        let rows = (0..self.grid.rows()).into_par_iter();
        let rows = rows.map(|row| (row * nx..(row + 1) * nx).map(|n| part(0, n) + part(1, n)).sum());
        rows.collect::<Vec<f64>>().into_iter().sum()
    }

    /// Where the row or line that starts at `start` has its neighbour along an axis; `None` at a wall.
    #[inline(always)]
    fn beside(&self, start: usize, axis: usize, up: bool) -> Option<usize> {
        let size = self.grid.size();
        let stride: usize = size[..axis].iter().product();
        let (at, n) = (start / stride % size[axis], size[axis]);
        let ring = self.grid.is_periodic(axis) && n > 1;
        match (up, at) {
            (true, _) if at + 1 < n => Some(start + stride),
            (true, _) => ring.then(|| start - (n - 1) * stride),
            (false, 0) => ring.then(|| start + (n - 1) * stride),
            (false, _) => Some(start - stride),
        }
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        (self.diagonal.len() + self.absorption.len() + self.outside.len()) * size_of::<T>() + self.walls.len()
    }
}

/// The bounds of Gershgorin: potentials of `range` and 2J an axis to either side.
pub(super) fn spectrum(grid: &Grid, quantum: &Quantum, range: (f64, f64), absorption: f64) -> Spectrum {
    let axes = (0..3).filter(|axis| grid.size()[*axis] > 1).map(|_| 2.0).sum::<f64>();
    let (low, high) = if range.0 <= range.1 { range } else { (0.0, 0.0) };
    Spectrum {
        low: low + quantum.diagonal - axes * quantum.hopping.abs(),
        high: high + quantum.diagonal + axes * quantum.hopping.abs(),
        absorption,
    }
}

/// Where terms are added up, and with which weights those of `here` and `next`.
struct Sum<'a, T> {
    to: &'a mut [Complex<T>],
    weights: [Complex<T>; 2],
}

/// A row, or a part of a line.
struct Part<'a, T> {
    operator: &'a Operator<T>,
    /// Tₙψ of the whole grid and of the part.
    planes: [&'a [T]; 2],
    here: [&'a [T]; 2],
    start: usize,
    next: [&'a mut [T]; 2],
    sum: Option<Sum<'a, T>>,
    scale: T,
    back: bool,
}

impl<T: Vectors> Kernel<T> for Part<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let Self {
            operator, start, scale, ..
        } = self;
        let len = self.here[0].len();
        let [nx, ny, _] = operator.grid.size();
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let (sin, cos) = (-TAU * operator.flux * (start / nx % ny) as f64).sin_cos();
        let hops = [operator.hop * cos, operator.hop].map(T::of);
        let twist = T::of(operator.hop * sin) * scale;
        let ends = [
            operator.beside(start, 0, false),
            operator.beside(start + len - 1, 0, true),
        ];
        let diagonal = &operator.diagonal[start..start + len];
        for plane in 0..2 {
            let all = self.planes[plane];
            let end = ends.map(|end| end.map_or(T::zero(), |n| all[n]));
            let row = |axis, up| {
                operator
                    .beside(start, axis, up)
                    .map_or(&operator.outside[..len], |n| &all[n..n + len])
            };
            let (here, next) = (self.here[plane], &mut *self.next[plane]);
            match operator.grid.rank() {
                1 => stencil(next, here, end, [], diagonal, hops, scale),
                2 => stencil(next, here, end, [row(1, false), row(1, true)], diagonal, hops, scale),
                _ => {
                    let rows = [row(1, false), row(1, true), row(2, false), row(2, true)];
                    stencil(next, here, end, rows, diagonal, hops, scale);
                }
            }
            // What the other plane gives: −iW, and the sines of Peierls phases.
            let (all, other) = (self.planes[1 - plane], self.here[1 - plane]);
            let sign = if plane == 0 { T::one() } else { -T::one() };
            if let Some(absorption) = operator.absorption.get(start..start + len) {
                let scale = if self.back { -sign * scale } else { sign * scale };
                for ((next, other), w) in next.iter_mut().zip(other).zip(absorption) {
                    *next += scale * *w * *other;
                }
            }
            if operator.flux != 0.0 {
                let end = ends.map(|end| end.map_or(T::zero(), |n| all[n]));
                for (i, next) in next.iter_mut().enumerate() {
                    let left = if i == 0 { end[0] } else { other[i - 1] };
                    let right = if i + 1 == len { end[1] } else { other[i + 1] };
                    *next += sign * twist * (right - left);
                }
            }
            if let Some(walls) = operator.walls.get(start..start + len) {
                for (next, wall) in next.iter_mut().zip(walls) {
                    *next = if *wall { T::zero() } else { *next };
                }
            }
        }
        let Some(Sum { to, weights: [a, b] }) = self.sum else {
            return;
        };
        let ([re, im], [next_re, next_im]) = (self.here, self.next);
        let here = re.iter().zip(im);
        let next = next_re.iter().zip(&*next_im);
        for ((sum, (re, im)), (next_re, next_im)) in to.iter_mut().zip(here).zip(next) {
            sum.re += a.re * *re - a.im * *im + b.re * *next_re - b.im * *next_im;
            sum.im += a.re * *im + a.im * *re + b.re * *next_im + b.im * *next_re;
        }
    }
}

/// next ← scale·(diagonal·here + hops[0]·(left + right) + hops[1]·Σ rows) − next, with `ends` beyond the row's.
#[inline(always)]
fn stencil<T: Real, const N: usize>(
    next: &mut [T],
    here: &[T],
    ends: [T; 2],
    rows: [&[T]; N],
    diagonal: &[T],
    hops: [T; 2],
    scale: T,
) {
    let len = next.len();
    let (here, diagonal, rows) = (&here[..len], &diagonal[..len], rows.map(|row| &row[..len]));
    let at = |i: usize, beside: T| {
        let across = rows.iter().fold(T::zero(), |sum, row| sum + row[i]);
        scale * (diagonal[i] * here[i] + hops[0] * beside + hops[1] * across)
    };
    for i in 1..len.saturating_sub(1) {
        next[i] = at(i, here[i - 1] + here[i + 1]) - next[i];
    }
    let right = if len > 1 { here[1] } else { ends[1] };
    next[0] = at(0, ends[0] + right) - next[0];
    if len > 1 {
        next[len - 1] = at(len - 1, here[len - 2] + ends[1]) - next[len - 1];
    }
}

//! The coefficients of a line in blocks: q, B and C of every row, the joints' own system, and ζ of a ring.

#![allow(unsafe_code, reason = "entered with the target features of a level")]

use super::geometry::{Geometry, Place};
use super::rows::{Ends, Rows};
use super::{Partitioned, Ring};
use crate::backend::simd::{Aligned, Kernel, Lanes, Vectors};
use crate::field::{Precision, Real, narrow};
use crate::solver::crank_nicolson::pair::{Pair, WIDEST};
use crate::solver::crank_nicolson::partition::{Factorised, Tridiagonal};
use crate::solver::crank_nicolson::thomas::Coefficients;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// Rows after which B and C are compared with rounding.
const COMPARED: usize = 8;

/// The elimination of a vector of blocks, row by row and the blocks side by side in vectors of doubles, so that the divisions of all of them overlap.
struct Elimination<'a, T> {
    off: Complex64,
    /// Square of what counts as nothing.
    negligible: f64,
    drives: &'a [f64],
    /// Whether drives add to the real part.
    imaginary: bool,
    lanes: usize,
    rows: &'a mut Rows,
    /// q, B, C: \[row]\[re | im]\[lane].
    out: [&'a mut [T]; 3],
}

impl<T: Real> Kernel<f64> for Elimination<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Lanes<Element = f64>>(mut self) {
        let rows = self.rows.pivots.len() / (4 * self.lanes);
        assert!(self.rows.still.len() == 3 * self.lanes * rows && self.lanes.is_multiple_of(V::N));
        assert!(self.rows.driven.iter().all(|part| part.len() == self.lanes * rows));
        assert!(self.out.iter().all(|out| out.len() == 2 * self.lanes * rows));
        self.rows.reach = (0, rows);
        for first in (0..self.lanes).step_by(V::N) {
            // SAFETY: the vector lies within the lanes of every row, by the lines above; instructions as the caller promises.
            unsafe {
                self.down::<V>(rows, first);
                self.up::<V>(rows, first);
            }
        }
    }
}

impl<T: Real> Elimination<'_, T> {
    /// The pivots of a vector's rows, downwards, and what the joint before adds to each.
    ///
    /// # Safety
    /// The arrays of the rows have `first` + N lanes in each of `rows` rows; the processor has the instructions of `V`; for this and [`Self::up`].
    #[inline(always)]
    unsafe fn down<V: Lanes<Element = f64>>(&mut self, rows: usize, first: usize) {
        let lanes = self.lanes;
        let Rows {
            still, driven, pivots, ..
        } = &mut *self.rows;
        debug_assert!(first + V::N <= lanes && still.len() == 3 * lanes * rows, "lane {first}");
        debug_assert!(pivots.len() == 4 * lanes * rows, "{rows} rows");
        // SAFETY: the caller's.
        unsafe {
            let minus = Pair::<V>::splat(-self.off);
            let square = Pair::<V>::splat(-self.off * self.off);
            let zero = V::splat(0.0);
            let mut above = Pair::<V>::splat(Complex64::ZERO);
            let mut lower = Pair::<V>::splat(self.off);
            for k in 0..rows {
                let own = still.as_ptr().add(k * 3 * lanes + first);
                let mut diagonal = Pair::<V>::load_apart(own, own.add(lanes));
                for (drive, part) in self.drives.iter().zip(driven.iter()) {
                    let moved = V::splat(*drive).mul(V::load(part.as_ptr().add(k * lanes + first)));
                    if self.imaginary {
                        diagonal.re = diagonal.re.add(moved);
                    } else {
                        diagonal.im = diagonal.im.add(moved);
                    }
                }
                if k > 0 {
                    lower = minus.mul(above).mul(lower);
                }
                let pivot = square.mul_add(above, diagonal);
                let norm = pivot.im.mul_add(pivot.im, pivot.re.mul(pivot.re));
                let scale = V::load(own.add(2 * lanes)).div(norm);
                above = Pair {
                    re: pivot.re.mul(scale),
                    im: zero.sub(pivot.im.mul(scale)),
                };
                let to = pivots.as_mut_ptr().add(k * 4 * lanes + first);
                above.re.store(to);
                above.im.store(to.add(lanes));
                lower.re.store(to.add(2 * lanes));
                lower.im.store(to.add(3 * lanes));
            }
        }
    }

    /// q, B and C, upwards, what the block adds to the rows of its joints, and where B and C are above rounding.
    ///
    /// # Safety
    /// See [`Self::down`].
    #[inline(always)]
    unsafe fn up<V: Lanes<Element = f64>>(&mut self, rows: usize, first: usize) {
        let lanes = self.lanes;
        let Rows {
            pivots, ends, reach, ..
        } = &mut *self.rows;
        debug_assert!(
            first + V::N <= lanes && pivots.len() == 4 * lanes * rows,
            "lane {first}"
        );
        // SAFETY: the caller's.
        unsafe {
            let minus = Pair::<V>::splat(-self.off);
            let zero = Pair::<V>::splat(Complex64::ZERO);
            let mut after = zero;
            let mut lower = zero;
            let mut upper = Pair::<V>::splat(self.off);
            let mut sizes = [zero.re; 2];
            for k in (0..rows).rev() {
                let from = pivots.as_ptr().add(k * 4 * lanes + first);
                let own = Pair::<V>::load_apart(from.add(2 * lanes), from.add(3 * lanes));
                let ratio = minus.mul(Pair::load_apart(from, from.add(lanes)));
                lower = after.mul_add(lower, own);
                if k + 1 < rows {
                    upper = after.mul(upper);
                }
                let (b, c) = (ratio.mul(lower), ratio.mul(upper));
                after = ratio;
                if k + 1 == rows {
                    for (lane, end) in ends[first..first + V::N].iter_mut().enumerate() {
                        end.lower = lane_of(ratio.mul(own), lane);
                        end.below = lane_of(ratio, lane) * self.off;
                    }
                }
                let at = k * 2 * lanes + first;
                put(&mut self.out[0][at..], lanes, ratio);
                put(
                    &mut self.out[1][at..],
                    lanes,
                    Pair {
                        re: zero.re.sub(b.re),
                        im: zero.im.sub(b.im),
                    },
                );
                put(
                    &mut self.out[2][at..],
                    lanes,
                    Pair {
                        re: zero.re.sub(c.re),
                        im: zero.im.sub(c.im),
                    },
                );
                sizes[0] = b.im.mul_add(b.im, b.re.mul_add(b.re, sizes[0]));
                sizes[1] = c.im.mul_add(c.im, c.re.mul_add(c.re, sizes[1]));
                if k.is_multiple_of(COMPARED) {
                    if exceeds(sizes[0], self.negligible) {
                        reach.0 = reach.0.max((k + COMPARED).min(rows));
                    }
                    if exceeds(sizes[1], self.negligible) {
                        reach.1 = reach.1.min(k);
                    }
                    sizes = [zero.re; 2];
                }
            }
            for (lane, end) in ends[first..first + V::N].iter_mut().enumerate() {
                end.upper = lane_of(after.mul(upper), lane);
                end.above = lane_of(after.mul(lower), lane);
            }
        }
    }
}

/// A number of every lane.
#[inline(always)]
unsafe fn numbers<V: Lanes<Element = f64>>(vector: V) -> [f64; WIDEST] {
    let mut all = [0.0; WIDEST];
    debug_assert!(V::N <= WIDEST, "{} lanes", V::N);
    // SAFETY: no vector is wider; instructions as the caller promises, for this and the next three.
    unsafe { vector.store(all.as_mut_ptr()) };
    all
}

/// One lane.
#[inline(always)]
unsafe fn lane_of<V: Lanes<Element = f64>>(pair: Pair<V>, lane: usize) -> Complex64 {
    // SAFETY: the caller's.
    unsafe { Complex64::new(numbers(pair.re)[lane], numbers(pair.im)[lane]) }
}

/// Whether a lane is larger than `limit`, or no number.
#[inline(always)]
unsafe fn exceeds<V: Lanes<Element = f64>>(vector: V, limit: f64) -> bool {
    // SAFETY: the caller's.
    !unsafe { numbers(vector) }.iter().all(|value| *value <= limit)
}

/// Writes real parts, and imaginary parts `lanes` further, in the line's precision.
#[inline(always)]
unsafe fn put<T: Real, V: Lanes<Element = f64>>(to: &mut [T], lanes: usize, pair: Pair<V>) {
    // SAFETY: the caller's.
    let (re, im) = unsafe { (numbers(pair.re), numbers(pair.im)) };
    for (to, from) in to[..V::N].iter_mut().zip(&re) {
        *to = T::of(*from);
    }
    for (to, from) in to[lanes..lanes + V::N].iter_mut().zip(&im) {
        *to = T::of(*from);
    }
}

impl<T: Vectors> Partitioned<T> {
    /// All coefficients, in double precision, for drives worth `drives`.
    pub(super) fn factorise(&mut self, drives: &[f64]) {
        let geometry = self.geometry;
        let joints = geometry.blocks() + 1;
        let mut coefficients = std::mem::replace(&mut self.q, Aligned::zeros(0));
        let mut before = std::mem::replace(&mut self.before, Aligned::zeros(0));
        let mut after = std::mem::replace(&mut self.after, Aligned::zeros(0));
        let numbers = geometry.numbers();
        let mut kept = std::mem::take(&mut self.rows);
        if kept.is_empty() && self.hamiltonian.is_driven() {
            kept = (0..geometry.vectors)
                .into_par_iter()
                .map(|vector| self.rows(vector))
                .collect();
        }
        let this = &*self;
        let arrays = coefficients
            .par_chunks_mut(numbers)
            .zip(before.par_chunks_mut(numbers))
            .zip(after.par_chunks_mut(numbers));
        let ends: Vec<(Vec<Ends>, (usize, usize))> = if kept.is_empty() {
            arrays
                .enumerate()
                .map(|(vector, ((q, before), after))| {
                    let mut rows = this.rows(vector);
                    this.eliminate(drives, &mut rows, [q, before, after]);
                    (rows.ends, rows.reach)
                })
                .collect()
        } else {
            arrays
                .zip(kept.par_iter_mut())
                .map(|(((q, before), after), rows)| {
                    this.eliminate(drives, rows, [q, before, after]);
                    (rows.ends.clone(), rows.reach)
                })
                .collect()
        };
        self.rows = kept;
        self.q = coefficients;
        self.before = before;
        self.after = after;
        let mut reduced = Tridiagonal::zeros(joints);
        for w in 0..joints {
            reduced.diagonal[w] = self.diagonal(w * (geometry.rows + 1), drives).unwrap_or(Complex64::ONE);
        }
        let stands = |w: usize| self.diagonal(w * (geometry.rows + 1), drives).is_some();
        for (w, ends) in ends.iter().flat_map(|(ends, _)| ends).enumerate() {
            if stands(w) {
                reduced.upper[w] = ends.upper;
                reduced.diagonal[w] += ends.above;
            }
            if stands(w + 1) {
                reduced.lower[w + 1] = ends.lower;
                reduced.diagonal[w + 1] += ends.below;
            }
        }
        self.reach = ends.into_iter().map(|(_, reach)| reach).collect();
        self.reduced = Factorised::new(&reduced, self.levels - 1);
    }

    /// The diagonal of a vector of blocks, with room for its elimination.
    fn rows(&self, vector: usize) -> Rows {
        let Geometry { rows, lanes, .. } = self.geometry;
        let drives = self.hamiltonian.drives();
        let mut still = vec![0.0; rows * 3 * lanes];
        let mut driven = vec![vec![0.0; rows * lanes]; drives];
        for (k, still) in still.chunks_exact_mut(3 * lanes).enumerate() {
            for lane in 0..lanes {
                let site = self.geometry.site(vector, k, lane);
                let own = self.diagonal(site, &[]);
                let row = own.unwrap_or(Complex64::ONE);
                (still[lane], still[lanes + lane]) = (row.re, row.im);
                if own.is_some() {
                    still[2 * lanes + lane] = 1.0;
                    for (n, driven) in driven.iter_mut().enumerate() {
                        driven[k * lanes + lane] = self.step.dt / 2.0 * self.hamiltonian.driven_at(n, site).wide();
                    }
                }
            }
        }
        Rows {
            still,
            driven,
            pivots: vec![0.0; rows * 4 * lanes],
            ends: vec![Ends::default(); lanes],
            reach: (0, rows),
        }
    }

    /// q, B and C of a vector of blocks, what they add to the joints' rows, and where B and C are above rounding.
    fn eliminate(&self, drives: &[f64], rows: &mut Rows, out: [&mut [T]; 3]) {
        // What is below a hundredth of a unit in the last place of the largest possible term.
        let negligible = if T::PRECISION == Precision::Single {
            1e-12
        } else {
            1e-24
        } * self.step.off.norm().min(1.0);
        self.level.run(Elimination {
            off: self.step.off,
            negligible: negligible * negligible,
            drives,
            imaginary: self.step.imaginary,
            lanes: self.geometry.lanes,
            rows,
            out,
        });
    }

    /// ζ of a ring at every row, by elimination from end to end.
    pub(super) fn close_ring(&mut self, drives: &[f64]) {
        self.ring = None;
        if !self.hamiltonian.closes() {
            return;
        }
        let sites = self.geometry.sites;
        let hamiltonian = &self.hamiltonian;
        let coefficients = Coefficients::new(&self.step, sites, true, |site| {
            hamiltonian.row(&self.step, site, drives)
        });
        let mut ring = Ring {
            inside: Aligned::large(self.psi.len(), 7),
            joints: vec![Complex::default(); self.joint_psi.len()],
        };
        for (site, zeta) in coefficients.ring.into_iter().flatten().enumerate() {
            let zeta = narrow::<T>(zeta);
            match self.geometry.place(site) {
                Place::Joint(joint) => ring.joints[joint] = zeta,
                Place::Inside(at) => {
                    ring.inside[at] = zeta.re;
                    ring.inside[at + self.geometry.lanes] = zeta.im;
                }
            }
        }
        self.ring = Some(ring);
    }
}

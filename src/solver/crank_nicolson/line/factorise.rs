//! The coefficients of a line in blocks: q, B and C of every row, the joints' own system, and ζ of a ring.

#![allow(unsafe_code, reason = "entered with the target features of a level")]

use super::geometry::{Geometry, Place};
use super::{Partitioned, Ring};
use crate::backend::simd::{Aligned, Kernel, Lanes, Vectors};
use crate::field::{Precision, narrow};
use crate::solver::crank_nicolson::large;
use crate::solver::crank_nicolson::pair::WIDEST;
use crate::solver::crank_nicolson::partition::{Factorised, Tridiagonal};
use crate::solver::crank_nicolson::thomas::Coefficients;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// What a block adds to the rows of its joints.
#[derive(Clone, Copy, Default)]
struct Ends {
    /// Upper coefficient and addition to the diagonal of the joint before.
    upper: Complex64,
    above: Complex64,
    /// Lower coefficient and addition to the diagonal of the joint after.
    lower: Complex64,
    below: Complex64,
}

/// A number of every lane.
type Row = [f64; WIDEST];

/// What the elimination of a vector of blocks reads and what it leaves. Kept from step to step where drives change the diagonal.
pub(super) struct Rows {
    /// T's diagonal without drives, and 1 where a row couples, 0 where it does not: \[row]\[re | im | couples]\[lane].
    still: Vec<f64>,
    /// What a unit of each drive adds to the imaginary part, in imaginary time to the real one: \[row]\[lane].
    driven: Vec<Vec<f64>>,
    /// Inverse pivot of every row, and what the joint before adds to it: \[row]\[re | im | re | im]\[lane].
    pivots: Vec<f64>,
    /// One a lane.
    ends: Vec<Ends>,
    /// Rows before which B, and from which C, is above rounding.
    reach: (usize, usize),
}

/// The elimination of a vector of blocks, row by row and the blocks side by side, so that the divisions of all of them overlap.
struct Elimination<'a, T> {
    off: Complex64,
    /// Square of what counts as nothing.
    negligible: f64,
    drives: &'a [f64],
    /// Whether drives add to the real part.
    imaginary: bool,
    rows: &'a mut Rows,
    /// q, B, C: \[row]\[re | im]\[lane].
    out: [&'a mut [T]; 3],
}

/// a b.
#[inline(always)]
fn product(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

impl<T: Vectors> Kernel<T> for Elimination<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let Self {
            off,
            negligible,
            drives,
            imaginary,
            rows,
            mut out,
        } = self;
        let Rows {
            still,
            driven,
            pivots,
            ends,
            reach,
        } = rows;
        let off = (off.re, off.im);
        let minus = (-off.0, -off.1);
        let complex = |row: &[Row; 2], lane: usize| (row[0][lane], row[1][lane]);
        let mut above: [Row; 2] = [[0.0; WIDEST]; 2];
        let mut lower: [Row; 2] = [[off.0; WIDEST], [off.1; WIDEST]];
        for (k, (still, pivot)) in still
            .chunks_exact(3 * L::N)
            .zip(pivots.chunks_exact_mut(4 * L::N))
            .enumerate()
        {
            let mut moved: Row = [0.0; WIDEST];
            for (drive, part) in drives.iter().zip(driven.iter()) {
                let part = &part[k * L::N..][..L::N];
                for lane in 0..L::N {
                    moved[lane] += drive * part[lane];
                }
            }
            let moved = if imaginary {
                [moved, [0.0; WIDEST]]
            } else {
                [[0.0; WIDEST], moved]
            };
            for lane in 0..L::N {
                let ratio = product(minus, complex(&above, lane));
                let turned = product(ratio, off);
                let re = still[lane] + moved[0][lane] + turned.0;
                let im = still[L::N + lane] + moved[1][lane] + turned.1;
                let scale = still[2 * L::N + lane] / (re * re + im * im);
                (above[0][lane], above[1][lane]) = (re * scale, -im * scale);
                if k > 0 {
                    (lower[0][lane], lower[1][lane]) = product(ratio, complex(&lower, lane));
                }
            }
            for lane in 0..L::N {
                pivot[lane] = above[0][lane];
                pivot[L::N + lane] = above[1][lane];
                pivot[2 * L::N + lane] = lower[0][lane];
                pivot[3 * L::N + lane] = lower[1][lane];
            }
        }
        *reach = (0, pivots.len() / (4 * L::N));
        let last = reach.1 - 1;
        let mut upper: [Row; 2] = [[off.0; WIDEST], [off.1; WIDEST]];
        // The ratio of the row after the present one.
        let mut after: [Row; 2] = [[0.0; WIDEST]; 2];
        for (k, pivot) in pivots.chunks_exact(4 * L::N).enumerate().rev() {
            let [re, im, b_re, b_im] = [0, 1, 2, 3].map(|n| &pivot[n * L::N..][..L::N]);
            let mut largest: [Row; 2] = [[0.0; WIDEST]; 2];
            let mut own: [Row; 6] = [[0.0; WIDEST]; 6];
            for lane in 0..L::N {
                let ratio = product(minus, (re[lane], im[lane]));
                let added = product(complex(&after, lane), complex(&lower, lane));
                let b = (b_re[lane] + added.0, b_im[lane] + added.1);
                let c = product(
                    complex(&upper, lane),
                    if k < last { complex(&after, lane) } else { (1.0, 0.0) },
                );
                (lower[0][lane], lower[1][lane]) = b;
                (upper[0][lane], upper[1][lane]) = c;
                (after[0][lane], after[1][lane]) = ratio;
                let (b, c) = (product(ratio, b), product(ratio, c));
                largest[0][lane] = b.0 * b.0 + b.1 * b.1;
                largest[1][lane] = c.0 * c.0 + c.1 * c.1;
                (own[0][lane], own[1][lane]) = ratio;
                (own[2][lane], own[3][lane]) = (-b.0, -b.1);
                (own[4][lane], own[5][lane]) = (-c.0, -c.1);
            }
            if k == last {
                for (lane, end) in ends.iter_mut().enumerate() {
                    let ratio = Complex64::new(after[0][lane], after[1][lane]);
                    end.lower = ratio * Complex64::new(b_re[lane], b_im[lane]);
                    end.below = ratio * Complex64::new(off.0, off.1);
                }
            }
            for (out, own) in out.iter_mut().zip(own.as_chunks::<2>().0) {
                let (to_re, to_im) = out[k * 2 * L::N..][..2 * L::N].split_at_mut(L::N);
                for lane in 0..L::N {
                    (to_re[lane], to_im[lane]) = (T::of(own[0][lane]), T::of(own[1][lane]));
                }
            }
            if largest[0].iter().any(|square| *square > negligible) {
                reach.0 = reach.0.max(k + 1);
            }
            if largest[1].iter().any(|square| *square > negligible) {
                reach.1 = reach.1.min(k);
            }
        }
        for (lane, end) in ends.iter_mut().enumerate() {
            let of = |row: &[Row; 2]| Complex64::new(row[0][lane], row[1][lane]);
            end.upper = of(&after) * of(&upper);
            end.above = of(&after) * of(&lower);
        }
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
            inside: large(self.psi.len(), 7),
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

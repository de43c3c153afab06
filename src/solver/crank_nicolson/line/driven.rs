//! Steps of an open line whose diagonal changes in every step: each block is eliminated and solved in two sweeps, and no coefficient is kept for the next step.
//!
//! With α = (T's diagonal)/off, q and D as in [`super`], and λ the coupling of a row to the joint before its block:
//!     down: q_k = −1/(α_k + q_{k−1}), D_k = −2/off ψ_k + q_{k−1}D_{k−1}, λ_0 = 1, λ_{k+1} = q_kλ_k, S = Σ λ_{k+1}D_k, T = Σ λ_{k+1}λ_k
//!     up:   x_k = q_k(D_k + λ_kX_L + x_{k+1}), ψ_k ← x_k − ψ_k
//! T⁻¹ is symmetric, so that the downward sweep alone gives the response of the first row of a block to its right-hand side (S) and to both joints (T, λ_m): the upward elimination of a
//! static line is not needed. λ decays as B and C do; where it is below rounding it is not computed.
//! Joints: (−α_w − q_{m−1} − T) X_w − λ_m X_{w−1} − λ′_m X_{w+1} = −2/off ψ_w + q_{m−1}D_{m−1} + S, the block before and the one after; from end to end or in levels.
//! A pass takes group after group of blocks upwards and at once downwards for the next step, whose drives are known, while ψ is in cache. Lines whose q, D and λ fit the caches keep
//! them from the one pass to the next; for longer ones the pass computes them again, in a thread's own memory, before it goes upwards.
//! Work of a row and step: 12 operations and a division downwards, 8 upwards; downwards twice where nothing is kept. Bytes in single (double) with one drive: ψ, the diagonal and
//! the drive read, ψ written: 24 (48); 56 (112) where q and D are kept.

use super::Partitioned;
use super::geometry::Geometry;
use super::sweeps::{ANSWER, BESIDE, Down, Ends, FIRST, LAST, LINK, OWN, Swept, Up};
use crate::backend::simd::{Aligned, Level, Vectors};
use crate::backend::threads;
use crate::field::{Precision, wide};
use crate::solver::crank_nicolson::partition::{Factorised, Tridiagonal};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Bytes of q, D and λ that a thread keeps; more are made anew.
const KEPT: usize = 512 << 10;

/// The diagonal of a line in vectors of blocks, α = diagonal/off; all arrays of rows are \[vector]\[row]\[lane].
pub(super) struct Diagonal<T> {
    /// Re α without drives.
    real: Aligned<T>,
    /// Im α where something absorbs; otherwise empty.
    imaginary: Aligned<T>,
    /// Im α elsewhere.
    still: T,
    /// What a unit of each drive adds to Re α.
    driven: Vec<Aligned<T>>,
    /// 0 for walls and for rows beyond the line, 1 for others.
    open: Aligned<T>,
    joints: Vec<Joint>,
    /// Which vectors have rows that are not open.
    closed: Vec<bool>,
    ends: Vec<Ends<T>>,
    /// Of each group of vectors, if they are kept, otherwise of each thread.
    swept: Vec<Mutex<Swept<T>>>,
    kept: bool,
    /// Drives of the step that ψ has the downward sweep of behind it.
    ahead: Option<Vec<T>>,
}

/// α of a joint.
struct Joint {
    /// Without drives, `None` for walls and beyond the line.
    still: Option<Complex64>,
    /// What a unit of each drive adds.
    driven: Vec<f64>,
}

impl<T: Vectors> Diagonal<T> {
    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        let numbers = self.real.len() + self.imaginary.len() + self.open.len();
        let driven: usize = self.driven.iter().map(|part| part.len()).sum();
        let swept: usize = (self.swept.iter())
            .map(|swept| swept.lock().unwrap_or_else(PoisonError::into_inner).memory())
            .sum();
        (numbers + driven) * size_of::<T>() + swept
    }

    /// Drops the intermediate results that belong to ψ, which has changed.
    pub(super) fn forget(&mut self) {
        self.ahead = None;
    }

    /// The downward sweep of the vectors of `group`.
    fn down(
        &self,
        group: usize,
        sweep: &Sweep<T>,
        drives: &[T],
        psi: &[T],
        ends: &mut [Ends<T>],
        swept: Option<&mut Swept<T>>,
    ) {
        let first = group * BESIDE;
        let reals = psi.len() / 2 / ends.len();
        let own = |all: &[T]| -> *const T { all[first * reals..(first + ends.len()) * reals].as_ptr() };
        sweep.level.run(Down {
            rows: sweep.rows,
            drives,
            scale: sweep.scale,
            negligible: sweep.negligible,
            psi: psi.as_ptr(),
            real: own(&self.real),
            imaginary: (!self.imaginary.is_empty()).then(|| own(&self.imaginary)),
            still: self.still,
            driven: &self.driven.iter().map(|part| own(part)).collect::<Vec<_>>(),
            open: self.closed[first..first + ends.len()]
                .contains(&true)
                .then(|| own(&self.open)),
            swept,
            ends,
        });
    }
}

/// What all sweeps of a pass have in common.
struct Sweep<T> {
    level: Level,
    rows: usize,
    /// −2/off.
    scale: Complex<T>,
    /// Square of what counts as nothing.
    negligible: T,
}

impl<T: Vectors> Partitioned<T> {
    /// Takes a step with drives worth `drives`. `next`: those of the step after it, if ψ does not change in between.
    pub(super) fn driven_step(&mut self, drives: &[f64], next: Option<&[f64]>) {
        let mut diagonal = match self.diagonals.take() {
            Some(diagonal) => diagonal,
            None => self.read_diagonal(),
        };
        let narrow = |drives: &[f64]| -> Vec<T> { drives.iter().copied().map(T::of).collect() };
        let (drives, next) = (narrow(drives), next.map(narrow));
        if diagonal.ahead.as_ref() != Some(&drives) {
            self.sweep(&mut diagonal, None, Some(&drives));
        }
        self.solve_joints(&diagonal, &drives);
        self.sweep(&mut diagonal, Some(&drives), next.as_deref());
        diagonal.ahead = next;
        self.diagonals = Some(diagonal);
    }

    fn read_diagonal(&self) -> Box<Diagonal<T>> {
        let geometry = self.geometry;
        let Geometry {
            lanes, rows, vectors, ..
        } = geometry;
        let of_vector = rows * lanes;
        let site = |vector: usize, n: usize| geometry.site(vector, n / lanes, n % lanes);
        let alpha = |site: usize| self.diagonal(site, &[]).map(|diagonal| diagonal / self.step.off);
        let still = Complex64::ONE / self.step.off;
        // Re of what a unit of a drive adds to the diagonal, over off.
        let unit = if self.step.imaginary {
            Complex64::ONE
        } else {
            Complex64::I
        };
        let share = (unit * self.step.dt / 2.0 / self.step.off).re;
        let driven_at = |n: usize, site: usize| share * self.hamiltonian.driven_at(n, site).wide();
        let [mut real, mut imaginary, mut open] = [(); 3].map(|()| Aligned::zeros(of_vector * vectors));
        let closed = (real.par_chunks_mut(of_vector))
            .zip(imaginary.par_chunks_mut(of_vector))
            .zip(open.par_chunks_mut(of_vector))
            .enumerate()
            .map(|(vector, ((real, imaginary), open))| {
                let mut closed = false;
                for n in 0..of_vector {
                    let alpha = alpha(site(vector, n));
                    closed |= alpha.is_none();
                    open[n] = T::of(f64::from(u8::from(alpha.is_some())));
                    let alpha = alpha.unwrap_or(still);
                    (real[n], imaginary[n]) = (T::of(alpha.re), T::of(alpha.im));
                }
                closed
            })
            .collect();
        let driven = |drive: usize| {
            let mut all = Aligned::zeros(of_vector * vectors);
            (all.par_chunks_mut(of_vector)
                .zip(open.par_chunks(of_vector))
                .enumerate())
            .for_each(|(vector, (all, open))| {
                for (n, value) in all.iter_mut().enumerate().filter(|(n, _)| open[*n] != T::zero()) {
                    *value = T::of(driven_at(drive, site(vector, n)));
                }
            });
            all
        };
        let drives = self.hamiltonian.drives();
        let joint = |w: usize| {
            let site = w * (rows + 1);
            let still = alpha(site);
            Joint {
                driven: still.map_or_else(Vec::new, |_| (0..drives).map(|n| driven_at(n, site)).collect()),
                still,
            }
        };
        let still = T::of(still.im);
        if imaginary.iter().all(|im| *im == still) {
            imaginary = Aligned::zeros(0);
        }
        let (groups, numbers) = (vectors.div_ceil(BESIDE), BESIDE * geometry.numbers());
        let kept = 3 * groups * numbers * size_of::<T>() <= KEPT * threads::count();
        let places = if kept { groups } else { threads::count() };
        Box::new(Diagonal {
            driven: (0..drives).map(driven).collect(),
            joints: (0..self.joint_psi.len()).map(joint).collect(),
            real,
            imaginary,
            still,
            open,
            closed,
            ends: vec![Ends::new(rows); vectors],
            swept: (0..places).map(|_| Mutex::new(Swept::new(numbers))).collect(),
            kept,
            ahead: None,
        })
    }

    /// A pass over all blocks: the upward sweep of a step with drives worth `up`, whose joints are solved, then the downward one of a step with drives worth `down`.
    fn sweep(&mut self, diagonal: &mut Diagonal<T>, up: Option<&[T]>, down: Option<&[T]>) {
        let Geometry { lanes, rows, .. } = self.geometry;
        let numbers = self.geometry.numbers();
        // What is below a hundredth of a unit in the last place of the largest possible term.
        let negligible: f64 = if T::PRECISION == Precision::Single {
            1e-12
        } else {
            1e-24
        };
        let scale = self.step.scale();
        let sweep = Sweep {
            level: self.level,
            rows,
            scale: Complex::new(T::of(scale.re), T::of(scale.im)),
            negligible: T::of(negligible * negligible),
        };
        let joint = &self.joint;
        let mut ends = std::mem::take(&mut diagonal.ends);
        let this = &*diagonal;
        (self.psi.par_chunks_mut(BESIDE * numbers))
            .zip(ends.par_chunks_mut(BESIDE))
            .enumerate()
            .with_min_len((8192 / numbers / BESIDE).max(1))
            .for_each(|(group, (psi, ends))| {
                let place = if this.kept {
                    group
                } else {
                    rayon::current_thread_index().unwrap_or(0) % this.swept.len()
                };
                let mut swept = this.swept[place].lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(drives) = up {
                    if !this.kept {
                        this.down(group, &sweep, drives, psi, ends, Some(&mut swept));
                    }
                    let joints = group * BESIDE * lanes..(group * BESIDE + ends.len()) * lanes + 1;
                    sweep.level.run(Up {
                        rows,
                        ends,
                        swept: &swept,
                        joint: [&joint[0][joints.clone()], &joint[1][joints]],
                        psi,
                    });
                }
                if let Some(drives) = down {
                    let swept = if this.kept { Some(&mut *swept) } else { None };
                    this.down(group, &sweep, drives, psi, ends, swept);
                }
            });
        diagonal.ends = ends;
    }

    /// X of the joints, and their ψ.
    fn solve_joints(&mut self, diagonal: &Diagonal<T>, drives: &[T]) {
        let Geometry { lanes, .. } = self.geometry;
        let (joints, ends) = (&diagonal.joints, &diagonal.ends);
        let scale = self.step.scale();
        let drives: Vec<f64> = drives.iter().map(|drive| drive.wide()).collect();
        let mut reduced = Tridiagonal::zeros(joints.len());
        let mut x = vec![Complex64::ZERO; joints.len()];
        for (w, joint) in joints.iter().enumerate() {
            let Some(still) = joint.still else {
                reduced.diagonal[w] = Complex64::ONE;
                continue;
            };
            let driven: f64 = joint
                .driven
                .iter()
                .zip(&drives)
                .map(|(share, drive)| share * drive)
                .sum();
            let mut own = -still - driven;
            let mut right = scale * wide(self.joint_psi[w]);
            if w > 0 {
                let (block, lane) = (&ends[(w - 1) / lanes], (w - 1) % lanes);
                own -= block.of(LAST, lane);
                reduced.lower[w] = -block.of(LINK, lane);
                right += block.of(ANSWER, lane);
            }
            if w + 1 < joints.len() {
                let (block, lane) = (&ends[w / lanes], w % lanes);
                own -= block.of(OWN, lane);
                reduced.upper[w] = -block.of(LINK, lane);
                right += block.of(FIRST, lane);
            }
            (reduced.diagonal[w], x[w]) = (own, right);
        }
        Factorised::new(&reduced, self.levels - 1).solve(&mut x);
        for (w, x) in x.iter().enumerate() {
            self.joint[0][w] = T::of(x.re);
            self.joint[1][w] = T::of(x.im);
            let psi = wide(self.joint_psi[w]);
            self.joint_psi[w] = Complex::new(T::of(x.re - psi.re), T::of(x.im - psi.im));
        }
    }
}

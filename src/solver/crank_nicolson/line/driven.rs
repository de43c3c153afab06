//! Steps of an open line whose diagonal changes in every step: each block is eliminated and solved in two sweeps, and no coefficient is kept for the next step.
//!
//! With α = (T's diagonal)/off, q and D as in [`super`], and λ what a row owes to the joint before its block:
//!     down: q_k = −1/(α_k + q_{k−1}), D_k = −2/off ψ_k + q_{k−1}D_{k−1}, λ_0 = 1, λ_{k+1} = q_kλ_k, S = Σ λ_{k+1}D_k, T = Σ λ_{k+1}λ_k
//!     up:   x_k = q_k(D_k + λ_kX_L + x_{k+1}), ψ_k ← x_k − ψ_k
//! T⁻¹ is symmetric, so that the downward sweep alone says what the first row of a block answers to its right-hand side (S) and to both joints (T, λ_m): the upward elimination of a
//! static line is not needed. λ decays as B and C do; where it is below rounding it is not computed.
//! Joints: (−α_w − q_{m−1} − T) X_w − λ_m X_{w−1} − λ′_m X_{w+1} = −2/off ψ_w + q_{m−1}D_{m−1} + S, the block before and the one after; from end to end or in levels.
//! Work of a row and step: 12 operations and a division downwards, 8 upwards. Bytes in single (double): ψ, the diagonal and the drives read, q and D written, then all
//! three read and ψ written: 52 (104) with one drive, and what writing costs in reading lines.

#![allow(unsafe_code, reason = "entered with the target features of a level")]

use super::Partitioned;
use super::geometry::Geometry;
use crate::backend::simd::{Kernel, Lanes, Vectors};
use crate::field::{Precision, Real, wide};
use crate::solver::crank_nicolson::pair::{Pair, WIDEST};
use crate::solver::crank_nicolson::partition::{Factorised, Tridiagonal};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// Vectors of blocks that are eliminated side by side, so that a division of one overlaps those of the other.
const BESIDE: usize = 2;
/// Rows after which λ is compared with rounding.
const COMPARED: usize = 8;

/// The diagonal of a line in vectors of blocks, α = diagonal/off; all arrays are \[vector]\[row]\[lane].
pub(super) struct Diagonal<T> {
    /// Re α without drives.
    real: Vec<T>,
    /// Im α where something absorbs; otherwise empty.
    imaginary: Vec<T>,
    /// Im α elsewhere.
    still: T,
    /// What a unit of each drive adds to Re α.
    driven: Vec<Vec<T>>,
    /// 0 for walls and for rows beyond the line, 1 for others.
    open: Vec<T>,
    /// Which vectors have rows that are not open.
    closed: Vec<bool>,
    ends: Vec<Ends<T>>,
}

/// What the blocks of a vector leave for the joints, lane by lane.
#[derive(Clone, Copy)]
struct Ends<T> {
    /// q of the last row, q D of it, λ beyond it, S, T: real and imaginary parts.
    numbers: [[[T; WIDEST]; 2]; 5],
    /// Rows with λ above rounding.
    reach: usize,
}

impl<T> Diagonal<T> {
    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        let numbers = self.real.len() + self.imaginary.len() + self.open.len();
        let driven: usize = self.driven.iter().map(Vec::len).sum();
        (numbers + driven) * size_of::<T>()
    }
}

impl<T: Real> Ends<T> {
    fn of(&self, what: usize, lane: usize) -> Complex64 {
        let [re, im] = &self.numbers[what];
        wide(Complex::new(re[lane], im[lane]))
    }
}

const LAST: usize = 0;
const ANSWER: usize = 1;
const LINK: usize = 2;
const FIRST: usize = 3;
const OWN: usize = 4;

impl<T: Vectors> Partitioned<T> {
    /// Takes a step with drives worth `drives`.
    pub(super) fn driven_step(&mut self, drives: &[f64]) {
        let mut diagonal = match self.diagonals.take() {
            Some(diagonal) => diagonal,
            None => self.read_diagonal(),
        };
        let drives: Vec<T> = drives.iter().copied().map(T::of).collect();
        self.sweep_down(&mut diagonal, &drives);
        self.solve_joints(&diagonal.ends, &drives);
        self.sweep_up(&diagonal.ends);
        self.diagonals = Some(diagonal);
    }

    fn read_diagonal(&self) -> Box<Diagonal<T>> {
        let Geometry {
            lanes, rows, vectors, ..
        } = self.geometry;
        let sites: Vec<usize> = (0..vectors * rows * lanes)
            .map(|n| self.geometry.site(n / (rows * lanes), n / lanes % rows, n % lanes))
            .collect();
        let alpha = |site: usize| self.diagonal(site, &[]).map(|diagonal| diagonal / self.step.off);
        let still = Complex64::ONE / self.step.off;
        let all: Vec<Option<Complex64>> = sites.par_iter().map(|site| alpha(*site)).collect();
        let part = |part: fn(Complex64) -> f64| -> Vec<T> {
            all.iter().map(|alpha| T::of(part(alpha.unwrap_or(still)))).collect()
        };
        let imaginary = part(|alpha| alpha.im);
        let still = T::of(still.im);
        // Re of what a unit of a drive adds to the diagonal, over off.
        let unit = if self.step.imaginary {
            Complex64::ONE
        } else {
            Complex64::I
        };
        let share = (unit * self.step.dt / 2.0 / self.step.off).re;
        let driven = |n: usize| -> Vec<T> {
            (sites.iter().zip(&all))
                .map(|(site, alpha)| match alpha {
                    Some(_) => T::of(share * self.hamiltonian.driven_at(n, *site).wide()),
                    None => T::zero(),
                })
                .collect()
        };
        let ends = Ends {
            numbers: [[[T::zero(); WIDEST]; 2]; 5],
            reach: rows,
        };
        Box::new(Diagonal {
            real: part(|alpha| alpha.re),
            imaginary: if imaginary.iter().all(|im| *im == still) {
                Vec::new()
            } else {
                imaginary
            },
            still,
            driven: (0..self.hamiltonian.drives()).map(driven).collect(),
            open: all
                .iter()
                .map(|alpha| T::of(f64::from(u8::from(alpha.is_some()))))
                .collect(),
            closed: (all.chunks(rows * lanes))
                .map(|vector| vector.contains(&None))
                .collect(),
            ends: vec![ends; vectors],
        })
    }

    fn sweep_down(&mut self, diagonal: &mut Diagonal<T>, drives: &[T]) {
        let Geometry { lanes, rows, .. } = self.geometry;
        let numbers = self.geometry.numbers();
        let level = self.level;
        // What is below a hundredth of a unit in the last place of the largest possible term.
        let negligible: f64 = if T::PRECISION == Precision::Single {
            1e-12
        } else {
            1e-24
        };
        let scale = self.step.scale();
        let psi = &self.psi;
        let Diagonal {
            real,
            imaginary,
            still,
            driven,
            open,
            closed,
            ends,
        } = diagonal;
        (self.q.par_chunks_mut(BESIDE * numbers))
            .zip(self.right.par_chunks_mut(BESIDE * numbers))
            .zip(self.before.par_chunks_mut(BESIDE * numbers))
            .zip(ends.par_chunks_mut(BESIDE))
            .enumerate()
            .with_min_len((8192 / numbers / BESIDE).max(1))
            .for_each(|(group, (((q, right), left), ends))| {
                let first = group * BESIDE;
                let own = |all: &[T], numbers: usize| -> *const T { all[first * numbers..].as_ptr() };
                let reals = rows * lanes;
                level.run(Down {
                    rows,
                    drives,
                    scale: Complex::new(T::of(scale.re), T::of(scale.im)),
                    negligible: T::of(negligible * negligible),
                    psi: own(psi, numbers),
                    real: own(real, reals),
                    imaginary: (!imaginary.is_empty()).then(|| own(imaginary, reals)),
                    still: *still,
                    driven: &driven.iter().map(|part| own(part, reals)).collect::<Vec<_>>(),
                    open: closed[first..first + ends.len()]
                        .contains(&true)
                        .then(|| own(open, reals)),
                    q,
                    right,
                    left,
                    ends,
                });
            });
    }

    /// X of the joints, and their ψ.
    fn solve_joints(&mut self, ends: &[Ends<T>], drives: &[T]) {
        let Geometry { lanes, rows, .. } = self.geometry;
        let joints = self.joint_psi.len();
        let scale = self.step.scale();
        let drives: Vec<f64> = drives.iter().map(|drive| drive.wide()).collect();
        let mut reduced = Tridiagonal::zeros(joints);
        let mut x = vec![Complex64::ZERO; joints];
        for w in 0..joints {
            let site = w * (rows + 1);
            let Some(diagonal) = self.diagonal(site, &drives) else {
                reduced.diagonal[w] = Complex64::ONE;
                continue;
            };
            reduced.diagonal[w] = -diagonal / self.step.off;
            x[w] = scale * wide(self.joint_psi[w]);
            if w > 0 {
                let (block, lane) = (&ends[(w - 1) / lanes], (w - 1) % lanes);
                reduced.diagonal[w] -= block.of(LAST, lane);
                reduced.lower[w] = -block.of(LINK, lane);
                x[w] += block.of(ANSWER, lane);
            }
            if w + 1 < joints {
                let (block, lane) = (&ends[w / lanes], w % lanes);
                reduced.diagonal[w] -= block.of(OWN, lane);
                reduced.upper[w] = -block.of(LINK, lane);
                x[w] += block.of(FIRST, lane);
            }
        }
        Factorised::new(&reduced, self.levels - 1).solve(&mut x);
        for (w, x) in x.iter().enumerate() {
            self.joint[0][w] = T::of(x.re);
            self.joint[1][w] = T::of(x.im);
            let psi = wide(self.joint_psi[w]);
            self.joint_psi[w] = Complex::new(T::of(x.re - psi.re), T::of(x.im - psi.im));
        }
    }

    fn sweep_up(&mut self, ends: &[Ends<T>]) {
        let Geometry { lanes, rows, .. } = self.geometry;
        let numbers = self.geometry.numbers();
        let level = self.level;
        let (q, right, left, joint) = (&self.q, &self.right, &self.before, &self.joint);
        (self.psi.par_chunks_mut(BESIDE * numbers))
            .enumerate()
            .with_min_len((8192 / numbers / BESIDE).max(1))
            .for_each(|(group, psi)| {
                let vectors = psi.len() / numbers;
                let first = group * BESIDE;
                let own = first * numbers..(first + vectors) * numbers;
                let joints = first * lanes..(first + vectors) * lanes + 1;
                level.run(Up {
                    rows,
                    reach: ends[first].reach,
                    q: &q[own.clone()],
                    right: &right[own.clone()],
                    left: &left[own],
                    joint: [&joint[0][joints.clone()], &joint[1][joints]],
                    psi,
                });
            });
    }
}

/// The downward sweep of up to [`BESIDE`] vectors; pointers at the first number of the first.
struct Down<'a, T> {
    rows: usize,
    drives: &'a [T],
    scale: Complex<T>,
    /// Square of what counts as nothing.
    negligible: T,
    psi: *const T,
    real: *const T,
    imaginary: Option<*const T>,
    still: T,
    driven: &'a [*const T],
    /// If some row is a wall.
    open: Option<*const T>,
    q: &'a mut [T],
    right: &'a mut [T],
    left: &'a mut [T],
    ends: &'a mut [Ends<T>],
}

impl<T: Vectors> Kernel<T> for Down<'_, T> {
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    unsafe fn run<V: Lanes<Element = T>>(self) {
        debug_assert!(
            self.ends.len() <= BESIDE && self.driven.len() == self.drives.len(),
            "{} vectors",
            self.ends.len()
        );
        // SAFETY: the arrays hold as many vectors as there are ends, each of `rows` rows; instructions as the caller promises.
        unsafe {
            if self.ends.len() == BESIDE {
                self.sweep::<V, BESIDE>();
            } else {
                self.sweep::<V, 1>();
            }
        }
    }
}

impl<T: Vectors> Down<'_, T> {
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    unsafe fn sweep<V: Lanes<Element = T>, const G: usize>(self) {
        let rows = self.rows;
        assert!(self.ends.len() == G && self.q.len() == 2 * V::N * rows * G);
        assert!(self.right.len() == self.q.len() && self.left.len() == self.q.len());
        let (q_out, d_out, left_out) = (self.q.as_mut_ptr(), self.right.as_mut_ptr(), self.left.as_mut_ptr());
        // SAFETY: places are below those that were compared above.
        unsafe {
            let none = Pair::<V>::splat(Complex::new(T::zero(), T::zero()));
            let scale = Pair::<V>::splat(self.scale);
            let (zero, minus) = (V::splat(T::zero()), V::splat(-T::one()));
            let (mut q, mut d, mut first, mut own) = ([none; G], [none; G], [none; G], [none; G]);
            let mut left = [Pair::<V>::splat(Complex::new(T::one(), T::zero())); G];
            let (mut near, mut reach) = (true, rows);
            for k in 0..rows {
                for g in 0..G {
                    let at = (g * rows + k) * V::N;
                    let mut re = V::load(self.real.add(at));
                    for (drive, part) in self.drives.iter().zip(self.driven) {
                        re = V::splat(*drive).mul_add(V::load(part.add(at)), re);
                    }
                    let mut im = V::splat(self.still);
                    if let Some(imaginary) = self.imaginary {
                        im = V::load(imaginary.add(at));
                    }
                    let (re, im) = (re.add(q[g].re), im.add(q[g].im));
                    let mut scaled = minus.div(im.mul_add(im, re.mul(re)));
                    if let Some(open) = self.open {
                        scaled = scaled.mul(V::load(open.add(at)));
                    }
                    let next = Pair {
                        re: re.mul(scaled),
                        im: im.neg_mul_add(scaled, zero),
                    };
                    let psi = Pair::<V>::load(self.psi.add(2 * at));
                    d[g] = q[g].mul_add(d[g], scale.mul(psi));
                    q[g] = next;
                    next.store(q_out.add(2 * at));
                    d[g].store(d_out.add(2 * at));
                    if near {
                        left[g].store(left_out.add(2 * at));
                        let after = next.mul(left[g]);
                        first[g] = after.mul_add(d[g], first[g]);
                        own[g] = after.mul_add(left[g], own[g]);
                        left[g] = after;
                    }
                }
                if near && (k + 1).is_multiple_of(COMPARED) {
                    let mut small = true;
                    for left in &left {
                        small &= below::<V>(*left, self.negligible);
                    }
                    if small {
                        (near, reach) = (false, k + 1);
                        left = [none; G];
                    }
                }
            }
            for (g, ends) in self.ends.iter_mut().enumerate() {
                ends.reach = reach;
                for (all, value) in (ends.numbers.iter_mut()).zip([q[g], q[g].mul(d[g]), left[g], first[g], own[g]]) {
                    value.re.store(all[0].as_mut_ptr());
                    value.im.store(all[1].as_mut_ptr());
                }
            }
        }
    }
}

/// Whether |z|² of every lane is at most `limit`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
unsafe fn below<V: Lanes>(pair: Pair<V>, limit: V::Element) -> bool {
    let mut all = [V::Element::default(); WIDEST];
    // SAFETY: no vector is wider; instructions as the caller promises.
    unsafe { pair.im.mul_add(pair.im, pair.re.mul(pair.re)).store(all.as_mut_ptr()) };
    all[..V::N].iter().all(|square| *square <= limit)
}

/// The upward sweep of up to [`BESIDE`] vectors.
struct Up<'a, T> {
    rows: usize,
    reach: usize,
    q: &'a [T],
    right: &'a [T],
    left: &'a [T],
    /// X of the joints, from that before the first block on.
    joint: [&'a [T]; 2],
    psi: &'a mut [T],
}

impl<T: Vectors> Kernel<T> for Up<'_, T> {
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    unsafe fn run<V: Lanes<Element = T>>(self) {
        // SAFETY: as seen in the function; instructions as the caller promises.
        unsafe {
            if self.psi.len() == BESIDE * 2 * V::N * self.rows {
                self.sweep::<V, BESIDE>();
            } else {
                self.sweep::<V, 1>();
            }
        }
    }
}

impl<T: Vectors> Up<'_, T> {
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    unsafe fn sweep<V: Lanes<Element = T>, const G: usize>(self) {
        let rows = self.rows;
        let numbers = 2 * V::N * rows * G;
        assert!([self.q.len(), self.right.len(), self.left.len(), self.psi.len()] == [numbers; 4]);
        assert!(self.joint.iter().all(|joint| joint.len() > G * V::N));
        let psi_out = self.psi.as_mut_ptr();
        // SAFETY: places are below those that were compared above.
        unsafe {
            let [re, im] = self.joint.map(<[T]>::as_ptr);
            let mut before = [Pair::<V>::load_apart(re, im); G];
            let mut x = before;
            for g in 0..G {
                before[g] = Pair::load_apart(re.add(g * V::N), im.add(g * V::N));
                x[g] = Pair::load_apart(re.add(g * V::N + 1), im.add(g * V::N + 1));
            }
            for k in (0..rows).rev() {
                for g in 0..G {
                    let at = 2 * (g * rows + k) * V::N;
                    let d = Pair::<V>::load(self.right.as_ptr().add(at));
                    let mut sum = Pair {
                        re: d.re.add(x[g].re),
                        im: d.im.add(x[g].im),
                    };
                    if k < self.reach {
                        sum = Pair::load(self.left.as_ptr().add(at)).mul_add(before[g], sum);
                    }
                    x[g] = Pair::load(self.q.as_ptr().add(at)).mul(sum);
                    let psi = Pair::<V>::load(psi_out.add(at));
                    Pair {
                        re: x[g].re.sub(psi.re),
                        im: x[g].im.sub(psi.im),
                    }
                    .store(psi_out.add(at));
                }
            }
        }
    }
}

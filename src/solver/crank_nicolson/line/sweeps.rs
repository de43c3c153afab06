//! The sweeps of [`super::driven`] over the blocks of up to [`BESIDE`] vectors.

#![allow(unsafe_code, reason = "entered with the target features of a level")]

use crate::backend::simd::{Aligned, Kernel, Lanes, Vectors};
use crate::field::{Real, wide};
use crate::solver::crank_nicolson::pair::{Pair, WIDEST};
use num_complex::{Complex, Complex64};

/// Vectors of blocks that are eliminated side by side, so that a division of one overlaps those of the other.
pub(in super::super) const BESIDE: usize = 2;
/// Rows after which λ is compared with rounding.
const COMPARED: usize = 8;

/// The contribution of the blocks of a vector to the joints, lane by lane.
#[derive(Clone, Copy)]
pub(super) struct Ends<T> {
    /// q of the last row, q D of it, λ beyond it, S, T: real and imaginary parts.
    numbers: [[[T; WIDEST]; 2]; 5],
    /// Rows with λ above rounding.
    reach: usize,
}

impl<T: Real> Ends<T> {
    /// Of blocks of `rows` rows, before the first sweep.
    pub(super) fn new(rows: usize) -> Self {
        Self {
            numbers: [[[T::zero(); WIDEST]; 2]; 5],
            reach: rows,
        }
    }

    /// One of the five, at [`LAST`] to [`OWN`], of a block.
    pub(super) fn of(&self, what: usize, lane: usize) -> Complex64 {
        let [re, im] = &self.numbers[what];
        wide(Complex::new(re[lane], im[lane]))
    }
}

pub(super) const LAST: usize = 0;
pub(super) const ANSWER: usize = 1;
pub(super) const LINK: usize = 2;
pub(super) const FIRST: usize = 3;
pub(super) const OWN: usize = 4;

/// Results of a downward sweep for the upward one: q, D and λ of the rows of up to [`BESIDE`] vectors, \[vector]\[row]\[re | im]\[lane].
pub(super) struct Swept<T> {
    all: Aligned<T>,
    /// Numbers from q to D, and from D to λ.
    apart: usize,
}

impl<T: Real> Swept<T> {
    /// For `numbers` numbers of each.
    pub(super) fn new(numbers: usize) -> Self {
        // A sweep walks through all three side by side: they begin at different places of a page.
        let line = 64 / size_of::<T>();
        let apart = (numbers.div_ceil(line) + 13) * line;
        Self {
            all: Aligned::zeros(3 * apart),
            apart,
        }
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.all.memory()
    }
}

/// The downward sweep; pointers at the first number of the first vector.
pub(super) struct Down<'a, T> {
    pub rows: usize,
    pub drives: &'a [T],
    pub scale: Complex<T>,
    /// Square of the negligible size.
    pub negligible: T,
    pub psi: *const T,
    pub real: *const T,
    pub imaginary: Option<*const T>,
    pub still: T,
    pub driven: &'a [*const T],
    /// If some row is a wall.
    pub open: Option<*const T>,
    /// Takes q, D and λ, if they are asked for.
    pub swept: Option<&'a mut Swept<T>>,
    pub ends: &'a mut [Ends<T>],
}

impl<T: Vectors> Kernel<T> for Down<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Lanes<Element = T>>(self) {
        debug_assert!(
            self.ends.len() <= BESIDE && self.driven.len() == self.drives.len(),
            "{} vectors",
            self.ends.len()
        );
        // SAFETY: the arrays hold as many vectors as there are ends, each of `rows` rows; instructions as the caller promises.
        unsafe {
            match (self.ends.len() == BESIDE, self.swept.is_some()) {
                (true, true) => self.sweep::<V, BESIDE, true>(),
                (true, false) => self.sweep::<V, BESIDE, false>(),
                (false, true) => self.sweep::<V, 1, true>(),
                (false, false) => self.sweep::<V, 1, false>(),
            }
        }
    }
}

impl<T: Vectors> Down<'_, T> {
    #[inline(always)]
    unsafe fn sweep<V: Lanes<Element = T>, const G: usize, const KEEP: bool>(self) {
        let rows = self.rows;
        assert!(self.ends.len() == G && self.swept.is_some() == KEEP);
        let [mut q_out, mut d_out, mut left_out] = [std::ptr::null_mut(); 3];
        if let Some(swept) = self.swept {
            assert!(swept.apart >= 2 * V::N * rows * G);
            q_out = swept.all.as_mut_ptr();
            d_out = q_out.wrapping_add(swept.apart);
            left_out = d_out.wrapping_add(swept.apart);
        }
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
                    if KEEP {
                        next.store(q_out.add(2 * at));
                        d[g].store(d_out.add(2 * at));
                    }
                    if near {
                        if KEEP {
                            left[g].store(left_out.add(2 * at));
                        }
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
unsafe fn below<V: Lanes>(pair: Pair<V>, limit: V::Element) -> bool {
    let mut all = [V::Element::default(); WIDEST];
    // SAFETY: no vector is wider; instructions as the caller promises.
    unsafe { pair.im.mul_add(pair.im, pair.re.mul(pair.re)).store(all.as_mut_ptr()) };
    all[..V::N].iter().all(|square| *square <= limit)
}

/// The upward sweep.
pub(super) struct Up<'a, T> {
    pub rows: usize,
    /// The ends of the vectors, as the downward sweep has left them.
    pub ends: &'a [Ends<T>],
    pub swept: &'a Swept<T>,
    /// X of the joints, from that before the first block on.
    pub joint: [&'a [T]; 2],
    pub psi: &'a mut [T],
}

impl<T: Vectors> Kernel<T> for Up<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Lanes<Element = T>>(self) {
        // SAFETY: as seen in the function; instructions as the caller promises.
        unsafe {
            if self.ends.len() == BESIDE {
                self.sweep::<V, BESIDE>();
            } else {
                self.sweep::<V, 1>();
            }
        }
    }
}

impl<T: Vectors> Up<'_, T> {
    #[inline(always)]
    unsafe fn sweep<V: Lanes<Element = T>, const G: usize>(self) {
        let rows = self.rows;
        let numbers = 2 * V::N * rows * G;
        assert!(self.ends.len() == G && self.psi.len() == numbers && self.swept.apart >= numbers);
        let (reach, q) = (self.ends[0].reach, self.swept.all.as_ptr());
        let right = q.wrapping_add(self.swept.apart);
        let left = right.wrapping_add(self.swept.apart);
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
                    let d = Pair::<V>::load(right.add(at));
                    let mut sum = Pair {
                        re: d.re.add(x[g].re),
                        im: d.im.add(x[g].im),
                    };
                    if k < reach {
                        sum = Pair::load(left.add(at)).mul_add(before[g], sum);
                    }
                    x[g] = Pair::load(q.add(at)).mul(sum);
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

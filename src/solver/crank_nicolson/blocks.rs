//! The passes over one vector of blocks: RD, JD, RU, JU and SS in lanes. `line.rs` has the scheme and the layout.

#![allow(unsafe_code, reason = "entered with the target features of a level")]

use super::pair::Pair;
use crate::backend::simd::{Kernel, Lanes, Vectors};
use crate::field::Real;
use num_complex::Complex;
use std::ops::Range;

/// One vector of blocks.
pub(super) struct Blocks<'a, T> {
    pub psi: &'a mut [T],
    pub right: &'a mut [T],
    pub q: &'a [T],
    pub before: &'a [T],
    pub after: &'a [T],
    pub ring: &'a [T],
    pub down: &'a mut [T],
    pub up: &'a mut [T],
    /// First of the vector's joints.
    pub joint: [&'a [T]; 2],
    pub reach: (usize, usize),
}

/// The work of a pass over a vector of blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass<T> {
    /// SS of the step that ends.
    pub substitute: bool,
    /// RD and RU of the step that begins.
    pub eliminate: bool,
    pub scale: Complex<T>,
    /// Y_0 − Y_{n−1}, for a ring.
    pub turn: Option<Complex<T>>,
}

/// A pass over a vector of blocks, for the back end to enter.
pub(super) struct Work<'a, 'b, T> {
    pub pass: &'a Pass<T>,
    pub blocks: &'a mut Blocks<'b, T>,
}

impl<T: Vectors> Kernel<T> for Work<'_, '_, T> {
    #[inline(always)]
    unsafe fn run<V: Lanes<Element = T>>(self) {
        // SAFETY: the caller's.
        unsafe { self.blocks.run::<V>(self.pass) }
    }
}

impl<T: Real> Blocks<'_, T> {
    /// # Safety
    /// The machine has V's instruction set; the slices have the geometry's sizes for V::N lanes.
    #[inline(always)]
    unsafe fn run<V: Lanes<Element = T>>(&mut self, pass: &Pass<T>) {
        let rows = self.q.len() / (2 * V::N);
        debug_assert!(rows > 0 && self.psi.len() >= rows * 2 * V::N, "{rows} rows");
        debug_assert!(self.right.len() >= rows * 2 * V::N, "{rows} rows");
        debug_assert!(self.down.len() >= 2 * V::N && self.up.len() >= 2 * V::N, "joints");
        debug_assert!(self.reach.0.max(self.reach.1) <= rows, "{:?}", self.reach);
        // SAFETY: the caller's.
        unsafe {
            match (pass.substitute, pass.eliminate) {
                (false, _) => self.rd::<V>(pass, rows),
                (true, eliminate) => {
                    let mut last = Last::<V>::none();
                    let (b, c) = self.reach;
                    let (low, high) = (b.min(c), b.max(c));
                    let one = V::splat(T::one());
                    let mut part = |range, flags| self.ss::<V>(pass, range, flags, eliminate, one, &mut last);
                    part(0..low, (true, false));
                    part(low..high, (b > c, b > c));
                    part(high..rows, (false, true));
                }
            }
            if pass.eliminate {
                self.jd::<V>(rows);
                self.ru::<V>(rows);
                self.ju::<V>();
            }
        }
    }

    /// RD alone, for the first step of a batch.
    #[inline(always)]
    unsafe fn rd<V: Lanes<Element = T>>(&mut self, pass: &Pass<T>, rows: usize) {
        // SAFETY: row offsets stay below rows · 2N.
        unsafe {
            let scale = Pair::<V>::splat(pass.scale);
            let mut before = Last::<V>::none();
            for k in 0..rows {
                let at = k * 2 * V::N;
                let psi = Pair::load(self.psi.as_ptr().add(at));
                let d = before.q.mul_add(before.d, scale.mul(psi));
                d.store(self.right.as_mut_ptr().add(at));
                before = Last {
                    q: Pair::load(self.q.as_ptr().add(at)),
                    d,
                };
            }
        }
    }

    /// JD: what the joint below receives from the last row.
    #[inline(always)]
    unsafe fn jd<V: Lanes<Element = T>>(&mut self, rows: usize) {
        // SAFETY: as above; `down` has 2N numbers.
        unsafe {
            let at = (rows - 1) * 2 * V::N;
            let q = Pair::<V>::load(self.q.as_ptr().add(at));
            let d = Pair::load(self.right.as_ptr().add(at));
            q.mul(d).store(self.down.as_mut_ptr());
        }
    }

    /// RU.
    #[inline(always)]
    unsafe fn ru<V: Lanes<Element = T>>(&mut self, rows: usize) {
        // SAFETY: as above.
        unsafe {
            let at = (rows - 1) * 2 * V::N;
            let mut below = Last::<V> {
                q: Pair::load(self.q.as_ptr().add(at)),
                d: Pair::load(self.right.as_ptr().add(at)),
            };
            for k in (0..rows - 1).rev() {
                let at = k * 2 * V::N;
                let d = below.q.mul_add(below.d, Pair::load(self.right.as_ptr().add(at)));
                d.store(self.right.as_mut_ptr().add(at));
                below = Last {
                    q: Pair::load(self.q.as_ptr().add(at)),
                    d,
                };
            }
        }
    }

    /// JU: what the joint above receives from the first row.
    #[inline(always)]
    unsafe fn ju<V: Lanes<Element = T>>(&mut self) {
        // SAFETY: as above; `up` has 2N numbers.
        unsafe {
            let q = Pair::<V>::load(self.q.as_ptr());
            let d = Pair::load(self.right.as_ptr());
            q.mul(d).store(self.up.as_mut_ptr());
        }
    }

    /// SS, with RD of the next step where `eliminate`; `flags` say whether B and C are above rounding.
    #[inline(always)]
    unsafe fn ss<V: Lanes<Element = T>>(
        &mut self,
        pass: &Pass<T>,
        rows: Range<usize>,
        flags: (bool, bool),
        eliminate: bool,
        one: V,
        last: &mut Last<V>,
    ) {
        // SAFETY: as above; `joint` has N + 1 numbers.
        unsafe {
            let scale = Pair::<V>::splat(pass.scale);
            let turn = pass.turn.map(|turn| Pair::<V>::splat(turn));
            let left = Pair::<V>::load_apart(self.joint[0].as_ptr(), self.joint[1].as_ptr());
            let right = Pair::<V>::load_apart(self.joint[0].as_ptr().add(1), self.joint[1].as_ptr().add(1));
            let mut before = *last;
            for k in rows {
                let at = k * 2 * V::N;
                let psi = Pair::<V>::load(self.psi.as_ptr().add(at));
                let q = Pair::<V>::load(self.q.as_ptr().add(at));
                let d = Pair::load(self.right.as_ptr().add(at));
                let mut y = q.mul(d);
                if flags.0 {
                    y = Pair::load(self.before.as_ptr().add(at)).mul_add(left, y);
                }
                if flags.1 {
                    y = Pair::load(self.after.as_ptr().add(at)).mul_add(right, y);
                }
                if let Some(turn) = turn {
                    y = y.sub(Pair::load(self.ring.as_ptr().add(at)).mul(turn), one);
                }
                let psi = y.sub(psi, one);
                psi.store(self.psi.as_mut_ptr().add(at));
                if eliminate {
                    let d = before.q.mul_add(before.d, scale.mul(psi));
                    d.store(self.right.as_mut_ptr().add(at));
                    before = Last { q, d };
                }
            }
            *last = before;
        }
    }
}

/// q and D of the row before.
#[derive(Clone, Copy)]
struct Last<V> {
    q: Pair<V>,
    d: Pair<V>,
}

impl<V: Lanes> Last<V> {
    #[inline(always)]
    unsafe fn none() -> Self {
        // SAFETY: the caller has the features.
        unsafe {
            let zero = Pair::splat(Complex::default());
            Self { q: zero, d: zero }
        }
    }
}

//! The terms of the energy of a whole grid, site by site ([`super::whole`]): Σp² and ΣΦ⁺(pⁿ − pⁿ⁻¹).
//!
//! Lanes are added up in the field's precision, over [`RUN`] vectors first and then over these, and joined in double precision, in an order that depends on a row alone. A kernel that steps a row has all three
//! numbers of a site in registers; of other rows they are read before the step, with the same bits.

#![allow(unsafe_code, reason = "vector instructions")]

use super::stencil::load;
use crate::backend::simd::{self, Lanes, Level, Vectors};
use crate::field::Real;

/// Vectors that are added up in the field's precision.
pub(super) const RUN: usize = 16;
/// The most lanes of a vector.
const LANES: usize = 16;

/// Added to κ, which is 0 in walls.
const SMALLEST_KAPPA: f64 = 1e-30;

/// The sums of a row so far.
#[derive(Clone, Copy)]
pub(super) struct Tally<L> {
    /// Of the vectors of a run.
    lanes: [L; 2],
    /// Of the runs before.
    runs: [L; 2],
}

impl<L: Lanes> Tally<L> {
    /// # Safety
    /// The processor must have the instructions of `L`; for all.
    #[inline(always)]
    pub(super) unsafe fn new() -> Self {
        debug_assert!(L::N <= LANES, "{} lanes", L::N);
        // SAFETY: the caller's promise.
        let zero = unsafe { L::splat(L::Element::default()) };
        Self {
            lanes: [zero; 2],
            runs: [zero; 2],
        }
    }

    /// Adds a vector of sites with pⁿ, pⁿ⁻¹ and Φ⁺.
    #[inline(always)]
    pub(super) unsafe fn add(&mut self, [here, before, potential]: [L; 3]) {
        let [squares, products] = self.lanes;
        // SAFETY: the caller's promise.
        unsafe {
            self.lanes = [
                here.mul_add(here, squares),
                potential.mul_add(here.sub(before), products),
            ];
        }
    }

    /// The same, divided by κ, which is 0 in walls, where the pressure is 0.
    #[inline(always)]
    unsafe fn add_over(&mut self, [here, before, potential]: [L; 3], kappa: L) {
        let [squares, products] = self.lanes;
        // SAFETY: the caller's promise.
        unsafe {
            let least = L::splat(L::Element::of(SMALLEST_KAPPA));
            let weight = L::splat(L::Element::of(1.0)).div(kappa.add(least));
            self.lanes = [
                here.mul(weight).mul_add(here, squares),
                potential.mul(weight).mul_add(here.sub(before), products),
            ];
        }
    }

    /// Ends a run, after every [`RUN`] vectors.
    #[inline(always)]
    pub(super) unsafe fn pour(&mut self) {
        for n in 0..2 {
            // SAFETY: the caller's promise.
            unsafe {
                self.runs[n] = self.runs[n].add(self.lanes[n]);
                self.lanes[n] = L::splat(L::Element::default());
            }
        }
    }

    /// Both sums.
    #[inline(always)]
    pub(super) unsafe fn sums(mut self) -> [f64; 2] {
        let mut lanes = [[L::Element::default(); LANES]; 2];
        // SAFETY: the caller's promise; no vector has more than `LANES` lanes.
        unsafe {
            self.pour();
            for n in 0..2 {
                self.runs[n].store(lanes[n].as_mut_ptr());
            }
        }
        [joined(&lanes[0]), joined(&lanes[1])]
    }
}

/// The sum of some lanes. By itself: within a kernel the compiler spreads it over half of the registers.
#[inline(never)]
fn joined<T: Real>(lanes: &[T; LANES]) -> f64 {
    let mut parts = [0.0; 4];
    for four in lanes.chunks_exact(4) {
        for (part, lane) in parts.iter_mut().zip(four) {
            *part += lane.wide();
        }
    }
    (parts[0] + parts[1]) + (parts[2] + parts[3])
}

/// A row whose sums are asked for.
pub(super) struct TallyRow<'a, T> {
    /// pⁿ, pⁿ⁻¹ and Φ⁺ of its sites.
    pub(super) values: [&'a [T]; 3],
    /// Δt, if Φ⁺ is that of pⁿ⁻¹.
    pub(super) late: Option<T>,
    /// κ of each, by which its terms are divided.
    pub(super) kappa: Option<&'a [T]>,
}

/// Gives the sums of a row.
pub(super) type TallyKernel<T> = fn(&TallyRow<'_, T>) -> [f64; 2];

/// As the kernels that step rows add them up.
pub(super) fn tally<T: Vectors>(row: &TallyRow<'_, T>) -> [f64; 2] {
    let n = row.values[0].len();
    assert!(row.values.iter().all(|values| values.len() == n) && row.kappa.is_none_or(|kappa| kappa.len() == n));
    let mut sums = [0.0; 2];
    Level::best().run(Whole { row, sums: &mut sums });
    sums
}

struct Whole<'a, T> {
    row: &'a TallyRow<'a, T>,
    sums: &'a mut [f64; 2],
}

impl<T: Vectors> simd::Kernel<T> for Whole<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let sites = self.row.values[0].len();
        // SAFETY: vectors end with the row; instructions as the caller promises.
        unsafe {
            let mut tally = Tally::<L>::new();
            let mut i = 0;
            while i < sites {
                if sites - i >= L::N {
                    self.row.add::<L, true>(&mut tally, i, L::N);
                } else {
                    self.row.add::<L, false>(&mut tally, i, sites - i);
                }
                i += L::N;
                if (i / L::N).is_multiple_of(RUN) && i <= sites {
                    tally.pour();
                }
            }
            *self.sums = tally.sums();
        }
    }
}

impl<T: Vectors> TallyRow<'_, T> {
    /// Adds `count` sites from `i` on, all N if `WHOLE`.
    ///
    /// # Safety
    /// They are there; the processor must have the instructions of `L`.
    #[inline(always)]
    unsafe fn add<L: Lanes<Element = T>, const WHOLE: bool>(&self, tally: &mut Tally<L>, i: usize, count: usize) {
        debug_assert!(i + count <= self.values[0].len(), "site {i}");
        let [here, before, potential] = self.values.map(|values| values.as_ptr().wrapping_add(i));
        // SAFETY: the caller's promise.
        unsafe {
            let mut values = [
                load::<L, WHOLE>(here, count),
                load::<L, WHOLE>(before, count),
                load::<L, WHOLE>(potential, count),
            ];
            if let Some(step) = self.late {
                values[2] = L::splat(step).mul_add(values[0], values[2]);
            }
            if let Some(kappa) = self.kappa {
                tally.add_over(values, load::<L, WHOLE>(kappa.as_ptr().wrapping_add(i), count));
            } else {
                tally.add(values);
            }
        }
    }
}

//! The sums over a row of a region, from its closed sites and those beside them.

#![allow(unsafe_code, reason = "SIMD")]

use crate::backend::simd::{Kernel, Lanes, Level};
use crate::field::Real;
use crate::solver::lane_sums::{self, Parts};
use crate::solver::totals::Totals;
use num_complex::Complex64;

/// f e^{iϕ} of bonds along a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Couplings<'a> {
    /// The same along the row.
    Same(Complex64),
    /// Those from each site of the row to the next, from the region's first on, and that from the site before it.
    Each(&'a [Complex64], Complex64),
}

/// A row beside the row, to which bonds lead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside<'a> {
    pub psi: Parts<'a>,
    /// 2 for bonds inside the region, which no other row counts, and 1 for those that leave it.
    pub weight: f64,
    /// f e^{iϕ} of the bonds, from the lower row to the upper; all 1 where there are none.
    pub couplings: Option<&'a [Complex64]>,
    /// Whether it is the lower row of the two.
    pub below: bool,
}

/// The data for energy and current.
#[derive(Clone, Debug)]
pub(super) struct Energy<'a, T> {
    /// The diagonal of H without drives; drives and what they multiply.
    pub diagonal: &'a [T],
    pub driven: Vec<(&'a [T], f64)>,
    /// g, or g at every site.
    pub interaction: f64,
    pub strengths: Option<&'a [f64]>,
    /// g₁₂ and the other component.
    pub other: Option<(f64, Parts<'a>)>,
    /// J.
    pub hopping: f64,
    /// Whether the region's first and last site are joined inside it, and otherwise, whether a bond leaves it there.
    pub closed: bool,
    pub leaves: [bool; 2],
    /// Rows next to it.
    pub beside: [Option<Beside<'a>>; 4],
}

/// A row whose sums are taken.
#[derive(Clone, Debug)]
pub(super) struct RowOf<'a, T> {
    /// ψ at the sites of the region, with one site before and one behind them.
    pub psi: Parts<'a>,
    /// The column of the region's first site.
    pub x0: usize,
    pub along: Couplings<'a>,
    pub energy: Option<Energy<'a, T>>,
    /// ψ at the sites to which the bonds of the current lead, as many as there are; f e^{iϕ} of the bonds; 2J.
    pub current: Option<(Parts<'a>, Couplings<'a>, f64)>,
}

impl<T: Real> RowOf<'_, T> {
    /// Its sums, with moments along x alone.
    pub(super) fn totals(&self, level: Level) -> Totals {
        let mut totals = Totals::default();
        level.run::<f64>(Sum {
            row: self,
            totals: &mut totals,
        });
        totals
    }
}

struct Sum<'a, 'b, T> {
    row: &'a RowOf<'a, T>,
    totals: &'b mut Totals,
}

impl<T: Real> Kernel<f64> for Sum<'_, '_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = f64>>(self) {
        // SAFETY: the caller has the instructions of `L`.
        unsafe { self.totals::<L>() }
    }
}

impl<T: Real> Sum<'_, '_, T> {
    /// # Safety
    /// The machine must have the instructions of `L`, as for all below.
    #[inline(always)]
    unsafe fn totals<L: Lanes<Element = f64>>(self) {
        let (row, totals) = (self.row, self.totals);
        debug_assert!(row.psi[0].len() > 2 && row.psi[0].len() == row.psi[1].len());
        let count = row.psi[0].len() - 2;
        let psi = row.psi.map(|part| &part[1..=count]);
        let diagonal = row.energy.as_ref().map(|energy| energy.diagonal);
        // SAFETY: the caller has the instructions.
        unsafe {
            let (moments, on_sites) = lane_sums::moments::<L, T>(psi, row.x0, diagonal);
            (totals.norm, totals.peak) = (moments.norm, moments.peak);
            (totals.first[0], totals.second[0]) = (moments.first, moments.second);
            if let Some(energy) = &row.energy {
                let mut bonds = bonds_along::<L, T>(row, energy);
                for beside in energy.beside.iter().flatten() {
                    bonds += bonds_to::<L>(psi, beside);
                }
                totals.energy = on_sites + changing::<L, T>(energy, psi) - energy.hopping * bonds;
            }
            if let Some((next, couplings, twice)) = &row.current {
                let psi = psi.map(|part| &part[..next[0].len()]);
                let sum = match couplings {
                    Couplings::Same(coupling) => coupling.conj() * lane_sums::product::<L>(psi, *next),
                    Couplings::Each(all, _) => lane_sums::product_with::<L>(psi, *next, all),
                };
                totals.current = twice * sum.im;
            }
        }
    }
}

/// The energy of drives and interactions.
#[inline(always)]
unsafe fn changing<L: Lanes<Element = f64>, T: Real>(energy: &Energy<T>, psi: Parts) -> f64 {
    let mut sum = 0.0;
    // SAFETY: the caller has the instructions.
    unsafe {
        for (part, drive) in &energy.driven {
            sum += drive * lane_sums::weighted::<L, T>(psi, part);
        }
        if let Some(strengths) = energy.strengths {
            sum += 0.5 * lane_sums::weighted_squares::<L>(psi, strengths);
        } else if energy.interaction != 0.0 {
            sum += 0.5 * energy.interaction * lane_sums::densities::<L>(psi, psi);
        }
        if let Some((cross, other)) = energy.other {
            // Each of the two has half of g₁₂n₁n₂.
            sum += 0.5 * cross * lane_sums::densities::<L>(psi, other);
        }
    }
    sum
}

/// Σ Re ψₐ* f e^{−iϕ} ψ_b over the bonds along the row: twice those inside the region, once those that leave it.
#[inline(always)]
unsafe fn bonds_along<L: Lanes<Element = f64>, T: Real>(row: &RowOf<T>, energy: &Energy<T>) -> f64 {
    let count = row.psi[0].len() - 2;
    let lower = row.psi.map(|part| &part[1..count]);
    let upper = row.psi.map(|part| &part[2..=count]);
    // SAFETY: the caller has the instructions.
    let inside = unsafe {
        match row.along {
            Couplings::Same(coupling) if coupling == Complex64::ONE => lane_sums::dot::<L>(lower, upper),
            Couplings::Same(coupling) => (coupling.conj() * lane_sums::product::<L>(lower, upper)).re,
            Couplings::Each(all, _) => lane_sums::product_with::<L>(lower, upper, all).re,
        }
    };
    if energy.closed {
        return 2.0 * (inside + row.bond(count));
    }
    let [before, behind] = energy.leaves;
    let leaving = if behind { row.bond(count) } else { 0.0 } + if before { row.bond(0) } else { 0.0 };
    2.0 * inside + leaving
}

impl<T> RowOf<'_, T> {
    /// Re ψₐ* f e^{−iϕ} ψ_b of the bond behind site `lower`, of which 0 is that before the region.
    fn bond(&self, lower: usize) -> f64 {
        let coupling = match self.along {
            Couplings::Same(coupling) => coupling,
            Couplings::Each(_, before) if lower == 0 => before,
            Couplings::Each(all, _) => all[lower - 1],
        };
        let at = |n: usize| Complex64::new(self.psi[0][n], self.psi[1][n]);
        (at(lower).conj() * coupling.conj() * at(lower + 1)).re
    }
}

/// The same for the bonds to a row beside it.
#[inline(always)]
unsafe fn bonds_to<L: Lanes<Element = f64>>(psi: Parts, beside: &Beside) -> f64 {
    // SAFETY: the caller has the instructions.
    let sum = unsafe {
        match beside.couplings {
            None => lane_sums::dot::<L>(psi, beside.psi),
            Some(all) if beside.below => lane_sums::product_with::<L>(beside.psi, psi, all).re,
            Some(all) => lane_sums::product_with::<L>(psi, beside.psi, all).re,
        }
    };
    beside.weight * sum
}

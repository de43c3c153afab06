//! Sums over parts of rows, in vectors, for detectors, and per-site arrays beside the levels.
//!
//! A part is added up in the order of its sites: lanes in the field's precision over [`RUN`] sites, runs in double precision. A part is one row's or less, and every
//! variant adds up the same parts, so that records have the same bits however steps are fused.

#![allow(unsafe_code, reason = "vector instructions")]

use super::stencil::load;
use crate::backend::simd::{self, Lanes, Level, Vectors};
use crate::field::Real;

/// Sites that are added up in the field's precision.
const RUN: usize = 64;
/// The most lanes of a vector.
const LANES: usize = 16;

/// The reduction of the pressures of some sites of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    /// Σp.
    Sum,
    /// Σp².
    Squares,
    /// The largest |p|.
    Largest,
}

/// Some sites of a row and the bonds whose energy is added up with them.
pub(super) struct EnergyPart<'a, T> {
    /// pⁿ with `half` sites more at either end.
    pub(super) pressure: &'a [T],
    /// Φ⁺, as `pressure`.
    pub(super) potential: &'a [T],
    /// ρ, as `pressure`, if it differs from site to site.
    pub(super) density: Option<&'a [T]>,
    /// κ of each site, if it differs.
    pub(super) kappa: Option<&'a [T]>,
    /// ½/κ otherwise, or ½.
    pub(super) compression: T,
    /// Weights of the bonds to the sites 1, 2, … further along the row.
    pub(super) along: &'a [T],
    /// Bonds to other rows.
    pub(super) across: &'a [Bond<'a, T>],
    /// 1/Δt.
    pub(super) rate: T,
}

/// Bonds from the sites of a part to as many sites elsewhere.
#[derive(Clone, Copy, Default)]
pub(super) struct Bond<'a, T> {
    pub(super) pressure: &'a [T],
    pub(super) potential: &'a [T],
    /// ρ there, if it differs.
    pub(super) density: Option<&'a [T]>,
    pub(super) weight: T,
}

/// Bonds that cross a face, from as many sites to as many sites.
pub(super) struct FluxBond<'a, T> {
    /// pⁿ at both ends.
    pub(super) pressure: [&'a [T]; 2],
    /// Φ⁺ at both ends.
    pub(super) potential: [&'a [T]; 2],
    /// ρ at both ends, if it differs.
    pub(super) density: Option<[&'a [T]; 2]>,
    /// −C/2, over ρ where that is the same everywhere.
    pub(super) weight: T,
}

/// A row that was stepped, with its ghosts, and its per-site arrays.
pub(super) struct Follow<'a, T> {
    /// pⁿ⁺¹.
    pub(super) pressure: &'a [T],
    /// The largest |p| so far.
    pub(super) peak: Option<&'a mut [T]>,
    pub(super) potential: Option<Growing<'a, T>>,
}

/// Φ⁺, which grows by Δt pⁿ⁺¹: from where it is read if it is written elsewhere, where to, Δt, and pⁿ, where it has yet to grow by that.
pub(super) type Growing<'a, T> = (Option<&'a [T]>, &'a mut [T], T, Option<&'a [T]>);

/// The fastest kernels.
#[derive(Clone, Copy)]
pub(super) struct SumKernels<T> {
    /// Σ ½p²/κ + Σ C b g(g − Δp), g = ΔΦ⁺/Δt: the energy of a part, times a²/Δt² and per a^d.
    pub(super) energy: fn(&EnergyPart<'_, T>) -> f64,
    /// Σ −½C b (p + p′)(ΔΦ⁺ − ½Δt Δp): what flows through a face, times a and per a^(d−1). The last argument is ½Δt.
    pub(super) flux: fn(&[FluxBond<'_, T>], T) -> f64,
    pub(super) reduce: fn(&[T], Reduction) -> f64,
    pub(super) follow: fn(Follow<'_, T>),
}

impl<T: Vectors> SumKernels<T> {
    /// Those for a stencil of half width `half` (1 to 4).
    pub(super) fn new(half: usize) -> Self {
        Self {
            energy: match half {
                1 => energy::<T, 1>,
                2 => energy::<T, 2>,
                3 => energy::<T, 3>,
                _ => energy::<T, 4>,
            },
            flux,
            reduce,
            follow,
        }
    }
}

/// Terms that are added up site by site.
trait Terms<T> {
    /// The terms of `count` sites from `i` on, all N if `WHOLE`; lanes beyond them hold anything.
    ///
    /// # Safety
    /// The sites are there; the processor must have the instructions of `L`.
    unsafe fn at<L: Lanes<Element = T>, const WHOLE: bool>(&self, i: usize, count: usize) -> L;
}

/// A sum, in the order that the head of this file says.
struct Total<'a, S> {
    terms: &'a S,
    sites: usize,
    out: &'a mut f64,
}

impl<T: Vectors, S: Terms<T>> simd::Kernel<T> for Total<'_, S> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let whole = self.sites - self.sites % L::N;
        debug_assert!(L::N <= LANES, "{} lanes", L::N);
        // Lane by lane: to add up the lanes of every run would take longer than the run.
        let mut totals = [0.0; LANES];
        let mut i = 0;
        let mut lanes = [T::zero(); LANES];
        // SAFETY: i + N ≤ `sites` in whole vectors; instructions as the caller promises.
        unsafe {
            while i < whole {
                let end = (i + RUN).min(whole);
                let mut sum = L::splat(T::zero());
                while i < end {
                    sum = sum.add(self.terms.at::<L, true>(i, L::N));
                    i += L::N;
                }
                sum.store(lanes.as_mut_ptr());
                for n in 0..L::N {
                    totals[n] += lanes[n].wide();
                }
            }
            let rest = self.sites - whole;
            if rest > 0 {
                self.terms.at::<L, false>(whole, rest).store(lanes.as_mut_ptr());
                for n in 0..rest {
                    totals[n] += lanes[n].wide();
                }
            }
        }
        let mut half = LANES / 2;
        while half > 0 {
            for n in 0..half {
                totals[n] += totals[n + half];
            }
            half /= 2;
        }
        *self.out = totals[0];
    }
}

fn total<T: Vectors>(terms: &impl Terms<T>, sites: usize) -> f64 {
    let mut out = 0.0;
    Level::best().run(Total {
        terms,
        sites,
        out: &mut out,
    });
    out
}

fn energy<T: Vectors, const H: usize>(part: &EnergyPart<'_, T>) -> f64 {
    let n = part.pressure.len() - 2 * H;
    let with_ends = |slice: &[T]| slice.len() == n + 2 * H;
    assert!(with_ends(part.potential) && part.density.is_none_or(with_ends) && part.along.len() == H);
    assert!(part.kappa.is_none_or(|kappa| kappa.len() == n));
    for bond in part.across {
        assert!(bond.pressure.len() == n && bond.potential.len() == n);
        assert!(bond.density.is_some() == part.density.is_some() && bond.density.is_none_or(|all| all.len() == n));
    }
    if part.density.is_some() || part.kappa.is_some() {
        return total(&Energy::<T, H>(part), n);
    }
    // Where the medium is the same everywhere, a loop for each usual number of bonds.
    match part.across.len() {
        1 => total(&Alike::<T, H, 1>::new(part), n),
        2 => total(&Alike::<T, H, 2>::new(part), n),
        3 => total(&Alike::<T, H, 3>::new(part), n),
        4 => total(&Alike::<T, H, 4>::new(part), n),
        _ => total(&Energy::<T, H>(part), n),
    }
}

/// The energy of a part in one medium with B bonds to other rows; to the bit what [`Energy`] gives.
struct Alike<'a, T, const H: usize, const B: usize> {
    /// p and Φ⁺ of the first site, behind H others.
    own: [&'a [T]; 2],
    compression: T,
    rate: T,
    along: [T; H],
    across: [[&'a [T]; 2]; B],
    weights: [T; B],
}

impl<'a, T: Real, const H: usize, const B: usize> Alike<'a, T, H, B> {
    fn new(part: &EnergyPart<'a, T>) -> Self {
        Self {
            own: [part.pressure, part.potential],
            compression: part.compression,
            rate: part.rate,
            along: std::array::from_fn(|d| part.along[d]),
            across: std::array::from_fn(|n| [part.across[n].pressure, part.across[n].potential]),
            weights: std::array::from_fn(|n| part.across[n].weight),
        }
    }
}

impl<T: Real, const H: usize, const B: usize> Terms<T> for Alike<'_, T, H, B> {
    #[inline(always)]
    unsafe fn at<L: Lanes<Element = T>, const WHOLE: bool>(&self, i: usize, count: usize) -> L {
        // SAFETY: as for `Energy`.
        unsafe {
            let (pressure, potential) = (self.own[0].as_ptr().add(H + i), self.own[1].as_ptr().add(H + i));
            let own = [load::<L, WHOLE>(pressure, count), load::<L, WHOLE>(potential, count)];
            let rate = L::splat(self.rate);
            let mut sum = own[0].mul(own[0]).mul(L::splat(self.compression));
            for d in 1..=H {
                let other = [
                    load::<L, WHOLE>(pressure.add(d), count),
                    load::<L, WHOLE>(potential.add(d), count),
                ];
                sum = L::splat(self.along[d - 1]).mul_add(bond::<L>(own, other, rate), sum);
            }
            for n in 0..B {
                let other = [
                    load::<L, WHOLE>(self.across[n][0].as_ptr().add(i), count),
                    load::<L, WHOLE>(self.across[n][1].as_ptr().add(i), count),
                ];
                sum = L::splat(self.weights[n]).mul_add(bond::<L>(own, other, rate), sum);
            }
            sum
        }
    }
}

struct Energy<'a, 'b, T, const H: usize>(&'b EnergyPart<'a, T>);

impl<T: Real, const H: usize> Terms<T> for Energy<'_, '_, T, H> {
    #[inline(always)]
    unsafe fn at<L: Lanes<Element = T>, const WHOLE: bool>(&self, i: usize, count: usize) -> L {
        let part = self.0;
        debug_assert!(H + i + count <= part.pressure.len(), "site {i}");
        // SAFETY: `energy` has seen that all slices hold the part's sites, those with ends H more; the rest is the caller's promise.
        unsafe {
            let (pressure, potential) = (part.pressure.as_ptr().add(H + i), part.potential.as_ptr().add(H + i));
            let own = [load::<L, WHOLE>(pressure, count), load::<L, WHOLE>(potential, count)];
            let square = own[0].mul(own[0]).mul(L::splat(part.compression));
            let mut sum = square;
            if let Some(kappa) = part.kappa {
                sum = square.div(load::<L, WHOLE>(kappa.as_ptr().add(i), count));
            }
            let rate = L::splat(part.rate);
            let density = part.density.map(|density| density.as_ptr().add(H + i));
            let mut rho = rate;
            if let Some(density) = density {
                rho = load::<L, WHOLE>(density, count);
            }
            for d in 1..=H {
                let other = [
                    load::<L, WHOLE>(pressure.add(d), count),
                    load::<L, WHOLE>(potential.add(d), count),
                ];
                let mut weight = L::splat(part.along[d - 1]);
                if let Some(density) = density {
                    weight = weight.div(rho.add(load::<L, WHOLE>(density.add(d), count)));
                }
                sum = weight.mul_add(bond::<L>(own, other, rate), sum);
            }
            for across in part.across {
                let other = [
                    load::<L, WHOLE>(across.pressure.as_ptr().add(i), count),
                    load::<L, WHOLE>(across.potential.as_ptr().add(i), count),
                ];
                let mut weight = L::splat(across.weight);
                if let Some(density) = across.density {
                    weight = weight.div(rho.add(load::<L, WHOLE>(density.as_ptr().add(i), count)));
                }
                sum = weight.mul_add(bond::<L>(own, other, rate), sum);
            }
            sum
        }
    }
}

/// g(g − Δp), g = ΔΦ/Δt, of the bond between two sites' (p, Φ).
#[inline(always)]
unsafe fn bond<L: Lanes>(own: [L; 2], other: [L; 2], rate: L) -> L {
    // SAFETY: instructions as the caller promises.
    unsafe {
        let slope = other[1].sub(own[1]).mul(rate);
        slope.mul(slope.sub(other[0].sub(own[0])))
    }
}

fn flux<T: Vectors>(bonds: &[FluxBond<'_, T>], half_step: T) -> f64 {
    let n = bonds.first().map_or(0, |bond| bond.pressure[0].len());
    for bond in bonds {
        let all = bond.pressure.iter().chain(&bond.potential);
        assert!(all.chain(bond.density.iter().flatten()).all(|slice| slice.len() == n));
    }
    total(&Flow { bonds, half_step }, n)
}

struct Flow<'a, 'b, T> {
    bonds: &'b [FluxBond<'a, T>],
    half_step: T,
}

impl<T: Real> Terms<T> for Flow<'_, '_, T> {
    #[inline(always)]
    unsafe fn at<L: Lanes<Element = T>, const WHOLE: bool>(&self, i: usize, count: usize) -> L {
        debug_assert!(
            self.bonds.iter().all(|bond| i + count <= bond.pressure[0].len()),
            "site {i}"
        );
        // SAFETY: `flux` has seen that all slices are as long; the rest is the caller's promise.
        unsafe {
            let half_step = L::splat(self.half_step);
            let mut sum = L::splat(T::zero());
            for bond in self.bonds {
                let [p, q] = bond.pressure;
                let (p, q) = (
                    load::<L, WHOLE>(p.as_ptr().add(i), count),
                    load::<L, WHOLE>(q.as_ptr().add(i), count),
                );
                let [phi, psi] = bond.potential;
                let change =
                    load::<L, WHOLE>(psi.as_ptr().add(i), count).sub(load::<L, WHOLE>(phi.as_ptr().add(i), count));
                let slope = half_step.neg_mul_add(q.sub(p), change);
                let mut weight = L::splat(bond.weight);
                if let Some([here, there]) = bond.density {
                    weight = weight.div(
                        load::<L, WHOLE>(here.as_ptr().add(i), count)
                            .add(load::<L, WHOLE>(there.as_ptr().add(i), count)),
                    );
                }
                sum = weight.mul(p.add(q)).mul_add(slope, sum);
            }
            sum
        }
    }
}

fn reduce<T: Vectors>(sites: &[T], reduction: Reduction) -> f64 {
    match reduction {
        Reduction::Sum => total(&Plain(sites), sites.len()),
        Reduction::Squares => total(&Squares(sites), sites.len()),
        Reduction::Largest => {
            let mut out = 0.0;
            Level::best().run(Largest { sites, out: &mut out });
            out
        }
    }
}

struct Plain<'a, T>(&'a [T]);

impl<T: Real> Terms<T> for Plain<'_, T> {
    #[inline(always)]
    unsafe fn at<L: Lanes<Element = T>, const WHOLE: bool>(&self, i: usize, count: usize) -> L {
        debug_assert!(i + count <= self.0.len(), "site {i}");
        // SAFETY: the caller's promise.
        unsafe { load::<L, WHOLE>(self.0.as_ptr().add(i), count) }
    }
}

struct Squares<'a, T>(&'a [T]);

impl<T: Real> Terms<T> for Squares<'_, T> {
    #[inline(always)]
    unsafe fn at<L: Lanes<Element = T>, const WHOLE: bool>(&self, i: usize, count: usize) -> L {
        debug_assert!(i + count <= self.0.len(), "site {i}");
        // SAFETY: the caller's promise.
        unsafe {
            let value = load::<L, WHOLE>(self.0.as_ptr().add(i), count);
            value.mul(value)
        }
    }
}

struct Largest<'a, T> {
    sites: &'a [T],
    out: &'a mut f64,
}

impl<T: Vectors> simd::Kernel<T> for Largest<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let mut lanes = [T::zero(); LANES];
        let whole = self.sites.len() - self.sites.len() % L::N;
        // SAFETY: vectors end at `whole`, and none has more than `LANES` lanes; instructions as the caller promises.
        unsafe {
            let mut most = L::splat(T::zero());
            for i in (0..whole).step_by(L::N) {
                most = most.larger(L::load(self.sites.as_ptr().add(i)));
            }
            most.store(lanes.as_mut_ptr());
        }
        for (most, value) in lanes.iter_mut().zip(&self.sites[whole..]) {
            larger(most, *value);
        }
        *self.out = lanes.iter().fold(0.0, |most, value| value.wide().max(most));
    }
}

/// The larger of a number and |value|; one that is no number is passed over.
#[inline(always)]
fn larger<T: Real>(most: &mut T, value: T) {
    let value = value.abs();
    *most = if value > *most { value } else { *most };
}

fn follow<T: Vectors>(row: Follow<'_, T>) {
    let n = row.pressure.len();
    assert!(row.peak.as_ref().is_none_or(|peak| peak.len() == n));
    if let Some((from, to, _, late)) = &row.potential {
        let long = |all: Option<&[T]>| all.is_none_or(|all| all.len() == n);
        assert!(to.len() == n && long(*from) && long(*late));
    }
    Level::best().run(row);
}

impl<T: Vectors> simd::Kernel<T> for Follow<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let n = self.pressure.len();
        // Vectors begin where those of the pressure do not straddle cache lines: behind the ghosts.
        let head = self.pressure.as_ptr().align_offset(L::N * size_of::<T>()).min(n);
        let whole = head + (n - head) / L::N * L::N;
        if let Some(peak) = self.peak {
            // SAFETY: `follow` has seen that both are as long; instructions as the caller promises.
            unsafe {
                for i in (head..whole).step_by(L::N) {
                    let most = L::load(peak.as_ptr().add(i));
                    most.larger(L::load(self.pressure.as_ptr().add(i)))
                        .store(peak.as_mut_ptr().add(i));
                }
            }
            for i in (0..head).chain(whole..n) {
                larger(&mut peak[i], self.pressure[i]);
            }
        }
        let Some((from, to, step, late)) = self.potential else {
            return;
        };
        // SAFETY: `follow` has seen that all are as long; instructions as the caller promises.
        unsafe {
            let source = from.map_or(to.as_ptr(), <[T]>::as_ptr);
            let (pressure, to) = (self.pressure.as_ptr(), to.as_mut_ptr());
            let all = L::splat(step);
            for i in (head..whole).step_by(L::N) {
                let mut grown = L::load(source.add(i));
                if let Some(late) = late {
                    grown = all.mul_add(L::load(late.as_ptr().add(i)), grown);
                }
                grown = all.mul_add(L::load(pressure.add(i)), grown);
                grown.store(to.add(i));
            }
            for (i, count) in [(0, head), (whole, n - whole)] {
                if count > 0 {
                    let mut grown = L::load_some(source.add(i), count);
                    if let Some(late) = late {
                        grown = all.mul_add(L::load_some(late.as_ptr().add(i), count), grown);
                    }
                    grown = all.mul_add(L::load_some(pressure.add(i), count), grown);
                    grown.store_some(to.add(i), count);
                }
            }
        }
    }
}

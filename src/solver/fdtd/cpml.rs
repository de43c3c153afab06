//! Absorbing edges: perfectly matched layers for the equation of second order, their memory variables and coefficients.
//!
//! Per axis, with g the flux through a face, whose two-point divergence is the second difference of the scheme's order ([`super::stencil::FLUX`]),
//! depth ξ ∈ (0, 1], A = e^(−(σ + α)|Δt|) and B = (1 − A) α/(σ + α):
//! G = A(ψ + g) + Bg and ψ ← G − g on faces; u = DG, Z = A(ζ + u) + Bu and ζ ← Z − u on sites; Z stands for the axis' part of Lp. The layer is closed by a rigid
//! wall. This is the coordinate stretched by 1 + σ/(α + iω), with c the largest speed in the layer, in which the medium does not change along the normal
//! ([`crate::solver::acoustic::outward`]).
//!
//! Where all axes absorb, α = 0 and σ(ξ) = −5c ln R₀/(2La) ξ⁴: the wave that the wall reflects is damped to R₀, which is 10⁻¹⁶ from 15 sites on and larger in
//! thinner layers, where more would be reflected by the discretisation.
//!
//! In a guide, which is closed along an axis, waves below the cutoff decay and do not travel. A layer with α = 0 gives them energy: one that is bound to an obstacle
//! grew by 10⁻⁴ a step. There α(ξ) = 0.03 (1 − ξ²/2) c/a, which takes nearly all of that gain, and 0 at the outermost sites: they have infinite mass for
//! a static field, and keep the pressure to which the layer returns. σ(ξ) = 5.6 ξ³ c/a. Both are a compromise, in the model of
//! [`super::reflection`], of little gain with little reflection from 8 to 80 sites a wavelength; waves of more than some 200 sites (2πc/α) are hardly absorbed.
//!
//! In a guide with obstacles ([`Surroundings::GuideWithObstacles`]) no energy may be gained at all, since a bound wave would grow for ever. A layer takes power from every wave, travelling or
//! decaying, if Im F ≤ 0 for 0 < ω < π/Δt and all κ ≥ 0, where F = (p₀ − p₋₁)/p₋₁ is its answer to the first site outside. Three measures achieve this. Sites take σ from `lag` sites further
//! inside: in stretched coordinates the mass of the sites feeds decaying waves, and the flux through faces takes from them; for short waves the two must not
//! cancel to rounding at the border, where σ begins. α = 0.06 (1 − ξ³/5) c/a and σ = (2 + 0.55 L/a) ξᵖ c/a, p = 4 − 12a/L but at least 2.8: the part of long waves that the closed end reflects, e^(−2κL), has a
//! phase that is then bounded. And a damping of the pressure, γ = [`leak`], covers what is left next to the cutoff. It rises with ξ⁶, since waves next to the cutoff fill the layer and all others reach
//! it after σ has taken them; the same damping at all sites reflects long, grazing waves, −33 dB with 20 sites. The rest of the price is reflection in thin layers; it falls with the layer's width
//! (`ripplon bench --reflection`). `tests/acoustic/operator.rs` has the eigenvalues: none beyond 1 in guides with obstacles from 3 sites on, at every order.
//!
//! This is the staggered first-order system (velocity and pressure) with its memories, differenced once in time: pⁿ⁺¹ − 2pⁿ + pⁿ⁻¹ = λ²ΣZ.
//! Sums of what nearly cancels are formed before they are multiplied, and each in one place, so that a field at rest exerts no force but that of rounding.
//!
//! Rounding pⁿ⁺¹ by δ changes the rate pⁿ⁺¹ − pⁿ as well, and nothing restores a rate that is uniform along a layer: errors in proportion to the pressure would let it
//! grow as e^(3·10⁻⁶ n) in single precision. In the first-order system such an error would be one of the pressure that the layer damps. The rate is damped likewise with ζ ← ζ − δ(1 − A)/(Aλ²),
//! since λ²ΣA^k ζ = λ²ζA/(1 − A) is what a memory adds to it in time. The axes of a site share δ as their 1 − A. In single precision.
//! δ is of the whole step, in which the pressure is damped where it is: p′ = p + (s − γΔt (p − p₋₁))/(1 + γΔt), with s the step without damping.
//! Two levels that do not come out of this recursion need a matching ζ, or their difference persists as a drift
//! inside the layer, where nothing restores it: [`super::scheme::Sweep::settle`] takes Z = (A − 1)(pⁿ − pⁿ⁻¹)/λ². Another Δt keeps that sum instead, another medium as c² of it (`renew_memories`): a wave
//! is within the layer, and its rate along the layer is not damped.
//!
//! A site holds ψ of both its faces: with its own copy it continues from the pressure that its stencil reads, and layers have no further requirements on the order in
//! which sites are stepped.
//!
//! Δt enters by its size: the layer absorbs in both directions of time, since absorbed waves cannot be recovered.
//!
//! References: Komatitsch & Martin 2007, doi:10.1190/1.2757586 (CPML, κ = 1); Pasalic & McGarry 2010, doi:10.1190/1.3513453 (second-order form).

use super::lattice::Lattice;
use crate::backend::simd::Aligned;
use crate::field::Real;
use crate::solver::SolverError;
use crate::solver::acoustic::guides::Surroundings;
use crate::solver::acoustic::medium::allocate_aligned;
use std::ops::Range;

/// R₀ of a layer of `width` sites, where all axes absorb.
fn damped(width: f64) -> f64 {
    10f64.powf(-(4.0 + 0.8 * width).min(16.0))
}

/// Sites by which σ at a site lags behind that at faces, in a layer of `width` sites of a guide with obstacles.
fn lag(width: f64) -> f64 {
    (5.2 / width).powi(4).min(0.25)
}

/// γΔt of the sites of a layer of `width` sites for a Courant number, the outermost first: the damping of the pressure in a guide with obstacles.
///
/// At least a tenth more than the discrete layer of order 2 needs to take power from every wave, at any Δt, in guides up to 1000 sites wide. The second factor and the last part
/// are for small Δt: at large ones the memory variables of the layer have that loss by themselves.
#[expect(clippy::cast_precision_loss, reason = "widths are small")]
pub fn leak(surroundings: Surroundings, width: usize, courant: f64) -> Vec<f64> {
    let (own, courant) = (width as f64, courant.abs());
    if surroundings != Surroundings::GuideWithObstacles {
        return vec![0.0; width];
    }
    let small_steps = 1.0 + 3.0 * (-(courant / 0.15).powi(2)).exp();
    let most = (9.0 / (own.powi(3) + 1500.0) + 0.55 * (4.0 / own).powi(6)) * small_steps
        + 1.2e-4 * (-(courant / 0.05).powi(2)).exp();
    let least = (10.0 / (own * own)).min(1.0);
    let part = |site: usize| (own - 0.5 - site as f64) / own;
    (0..width)
        .map(|site| courant * most * (least + (1.0 - least) * part(site).powi(6)))
        .collect()
}

/// σ and α, in c/a, at a part of a layer's width; α is 0 at the `outermost` sites.
fn profile(part: f64, width: f64, outermost: bool, surroundings: Surroundings) -> [f64; 2] {
    let shift = |most: f64| {
        if outermost {
            0.0
        } else {
            most * (1.0 - part * part / 2.0)
        }
    };
    match surroundings {
        Surroundings::Open => [-5.0 * damped(width).ln() / (2.0 * width) * part.powi(4), 0.0],
        Surroundings::Guide => [5.6 * part.powi(3), shift(0.03)],
        Surroundings::GuideWithObstacles => {
            let rise = (4.0 - 12.0 / width).max(2.8);
            let alpha = if outermost {
                0.0
            } else {
                0.06 * (1.0 - part.powi(3) / 5.0)
            };
            [(2.0 + 0.55 * width) * part.powf(rise), alpha]
        }
    }
}

/// A and B at a depth in sites in a layer of `width`, for a Courant number; σ and α are those `lag` sites further inside.
fn factors(depth: f64, lag: f64, width: f64, surroundings: Surroundings, courant: f64) -> [f64; 2] {
    if depth <= lag {
        return [1.0, 0.0];
    }
    let [sigma, alpha] = profile((depth - lag) / width, width, depth >= width - 0.75, surroundings);
    let decay = (-(sigma + alpha) * courant.abs()).exp();
    [decay, (1.0 - decay) * alpha / (sigma + alpha)]
}

/// The two layers of one axis with their memory variables.
pub struct Layer<T> {
    /// Their place and coefficients.
    pub shape: Shape<T>,
    /// ψ of the face below each site of the slots, then ψ of the face above each.
    pub psi: Aligned<T>,
    /// ζ of each site. Slots of the x axis lie side by side, row by row; slots of y and z are rows.
    pub zeta: Aligned<T>,
}

/// The place and the coefficients of the two layers of one axis.
#[derive(Clone)]
pub struct Shape<T> {
    /// The axis.
    pub axis: usize,
    width: usize,
    /// Sites along the axis, here and in the whole grid, and the site of that which is the first one here.
    sites: usize,
    whole: usize,
    first: usize,
    /// Sites of each end of the whole grid for which there are slots: those of the layer and, along x, some more, for which A = 1 and B = 0.
    end: usize,
    /// How many of them are here.
    here: [usize; 2],
    /// A of the face below, of that above, and of the site itself, then B of these, one after the other, slot by slot.
    factors: [Vec<T>; 6],
    /// The same and (1 − A)/A of the sites of the slots, all in one: seven times as many as there are slots.
    together: Vec<T>,
}

/// Slots of each end of an axis of `sites` for layers of `width`: along x whole vectors, where the row is long enough.
pub fn slots_of_end(axis: usize, width: usize, sites: usize) -> usize {
    let padded = width.next_multiple_of(Lattice::FRONT);
    if axis == 0 && 2 * padded <= sites {
        padded
    } else {
        width
    }
}

/// Cache lines by which memories are shifted in their pages against the levels, and against one another ([`super::run::BESIDE`]).
const PSI: usize = 11;
const ZETA: usize = 49;

impl<T: Real> Layer<T> {
    /// Layers at rest.
    pub fn new(lattice: &Lattice, axis: usize, width: usize) -> Result<Self, SolverError> {
        let sites = lattice.size[axis];
        let (whole, first) = (lattice.whole[axis], lattice.first[axis]);
        let end = slots_of_end(axis, width, whole);
        let low = end.saturating_sub(first).min(sites);
        let high = (first + sites).saturating_sub((whole - end).max(first));
        let values = (low + high) * (lattice.size.iter().product::<usize>() / sites);
        Ok(Self {
            shape: Shape {
                axis,
                width,
                sites,
                whole,
                first,
                end,
                here: [low, high],
                factors: [const { Vec::new() }; 6],
                together: Vec::new(),
            },
            psi: allocate_aligned(2 * values, PSI, "the absorbing layers")?,
            zeta: allocate_aligned(values, ZETA, "the absorbing layers")?,
        })
    }
}

impl<T> Layer<T> {
    /// The memory variables of row j + ny·k: ψ of the faces below, then above, and ζ; empty where it has none.
    pub fn of_row(&self, size: [usize; 3], row: usize) -> [&[T]; 3] {
        let own = self.shape.row(size, [row % size[1], row / size[1]]).unwrap_or(0..0);
        let (below, above) = self.psi.split_at(self.zeta.len());
        [&below[own.clone()], &above[own.clone()], &self.zeta[own]]
    }

    /// The same, to be changed.
    pub fn of_row_mut(&mut self, size: [usize; 3], row: usize) -> [&mut [T]; 3] {
        let own = self.shape.row(size, [row % size[1], row / size[1]]).unwrap_or(0..0);
        let (below, above) = self.psi.split_at_mut(self.zeta.len());
        [&mut below[own.clone()], &mut above[own.clone()], &mut self.zeta[own]]
    }
}

impl<T: Real> Shape<T> {
    /// Sets A and B for Courant numbers cΔt/a of the low and the high end.
    #[expect(clippy::cast_precision_loss, reason = "widths are small")]
    pub fn set_step(&mut self, courants: [f64; 2], surroundings: Surroundings) {
        let width = self.width as f64;
        // Depth of site n from the outside, and of the faces outside and inside of it.
        let depth = |n: usize| width - 0.5 - n as f64;
        let end = 0..self.end;
        let [low, high] = courants;
        // Of the places `outer` sites outside of those of the low end, and as far inside of those of the high one.
        let slots = |which: usize, outer: f64| -> Vec<T> {
            let lag = match surroundings {
                Surroundings::GuideWithObstacles if outer == 0.0 => lag(width),
                _ => 0.0,
            };
            let place = |courant: f64, depth: f64| T::of(factors(depth, lag, width, surroundings, courant)[which]);
            let [below, above] = self.here_of_ends();
            let lower = end.clone().map(|n| place(low, depth(n) + outer));
            let upper = end.clone().rev().map(|n| place(high, depth(n) - outer));
            let (lower, upper) = (
                lower.skip(below.start).take(below.len()),
                upper.skip(above.start).take(above.len()),
            );
            lower.chain(upper).collect()
        };
        self.factors =
            [(0, 0.5), (0, -0.5), (0, 0.0), (1, 0.5), (1, -0.5), (1, 0.0)].map(|(which, outer)| slots(which, outer));
        self.together = self.factors.concat();
        let own = self.factors[2].iter();
        self.together.extend(own.map(|decay| (T::one() - *decay) / *decay));
    }
}

impl<T> Shape<T> {
    /// Slots of both ends: sites 0, 1, … of the low one, then those of the high one, in the order of the axis; of a window those that are in it.
    pub fn slots(&self) -> usize {
        self.here[0] + self.here[1]
    }

    /// The sites of each end that have slots.
    pub fn ends(&self) -> [Range<usize>; 2] {
        let [low, high] = self.here;
        [0..low, self.sites - high..self.sites]
    }

    /// Which slots of either end of the whole grid are here.
    fn here_of_ends(&self) -> [Range<usize>; 2] {
        let [low, high] = self.here;
        let above = self.first.saturating_sub(self.whole - self.end);
        [self.first..self.first + low, above..above + high]
    }

    /// The rows of the whole grid along the axis that have slots.
    pub fn rows_of_whole(&self) -> Vec<Range<usize>> {
        vec![0..self.end, self.whole - self.end..self.whole]
    }

    /// Sites of a layer.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The slot of a site, if it has one.
    pub fn slot(&self, at: usize) -> Option<usize> {
        let [low, high] = self.here;
        if at < low {
            Some(at)
        } else {
            (at + high).checked_sub(self.sites).map(|from| low + from)
        }
    }

    /// A of the faces below and above the site of each slot, and of the site; then B of these.
    pub fn factors(&self) -> &[Vec<T>; 6] {
        &self.factors
    }

    /// (1 − A)/A of the site of each slot, for the correction of ζ by the rounding of the pressure; precomputed, since a step must not divide by A.
    pub fn loss_ratios(&self) -> &[T] {
        &self.together[6 * self.slots()..]
    }

    /// [`Self::factors`] and [`Self::loss_ratios`], one after the other.
    pub fn together(&self) -> &[T] {
        &self.together
    }

    /// The place of the memories of row (j, k): along x its slots, otherwise a row of sites; `None` if it has none.
    pub fn row(&self, size: [usize; 3], [j, k]: [usize; 2]) -> Option<Range<usize>> {
        let [nx, ny, _] = size;
        let (first, count) = match self.axis {
            0 => ((j + ny * k) * self.slots(), self.slots()),
            1 => ((k * self.slots() + self.slot(j)?) * nx, nx),
            _ => ((self.slot(k)? * ny + j) * nx, nx),
        };
        Some(first..first + count)
    }

    /// Values from the memories of a row to those of the next along `along` (1 or 2), which the same layers cross.
    pub fn next_row(&self, size: [usize; 3], along: usize) -> usize {
        let [nx, ny, _] = size;
        let plane = |row: usize, rows: usize| if along == 1 { row } else { row * rows };
        match self.axis {
            0 => plane(self.slots(), ny),
            1 => plane(nx, self.slots()),
            _ => plane(nx, ny),
        }
    }

    /// The place of the memories of a site.
    pub fn place(&self, size: [usize; 3], [i, j, k]: [usize; 3]) -> Option<usize> {
        let row = self.row(size, [j, k])?;
        Some(row.start + if self.axis == 0 { self.slot(i)? } else { i })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;

    #[test]
    fn both_ends_absorb_alike() {
        let lattice = Lattice::new(&Grid::new(&[40, 9], 1.0), 1);
        use Surroundings::{Guide, GuideWithObstacles, Open};
        for (axis, width, surroundings) in [Open, Guide, GuideWithObstacles]
            .into_iter()
            .flat_map(|all| [(0, 5, all), (1, 4, all)])
        {
            let mut shape = Layer::<f64>::new(&lattice, axis, width).unwrap().shape;
            shape.set_step([0.5, 0.5], surroundings);
            let [below, above, own, shifts @ ..] = shape.factors();
            assert!(shifts.iter().flatten().all(|b| (0.0..0.05).contains(b)), "{shifts:?}");
            let n = shape.slots();
            for slot in 0..n {
                assert_eq!(below[slot], above[n - 1 - slot]);
                assert_eq!(own[slot], own[n - 1 - slot]);
                // The face above a site is the one below the next.
                if slot + 1 < n / 2 {
                    assert_eq!(above[slot], below[slot + 1]);
                }
            }
            // Nothing beyond the layer, and the face at its border is the first outside.
            assert_eq!(
                [above[width - 1], own[n / 2 - 1].min(1.0)],
                [1.0, if axis == 0 { 1.0 } else { own[width - 1] }]
            );
            assert!(own[0] < own[1] && own[width - 1] < 1.0);
            assert_eq!(shape.slot(lattice.size[axis] - 1), Some(n - 1));
        }
        assert_eq!(Layer::<f64>::new(&lattice, 1, 4).unwrap().shape.slot(4), None);
    }
}

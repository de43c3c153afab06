//! Energy and its flux, site by site.
//!
//! With Φ = ∫p dt, so that ρv = −∇Φ, the levels Φ⁺ = Φ(tₙ + Δt/2) and Φ⁻ = Φ⁺ − Δt pⁿ obey the same leapfrog as the pressure, and
//! E = ½ Σ p²/K a^d + ½ Σ_bonds C b (ΔΦ⁺)(ΔΦ⁻) a^(d−2), K = ρc², b = 1/ρ of the bond,
//! is what it conserves exactly, for every order, edge and medium without damping (a bond of length k has the weight Cₖ): the sound's energy ½∫ p²/K + ρv² at tₙ, in J; in two
//! dimensions in J per metre, in one per square metre of the other axes. A site is given its own pressure's part and half of each of its bonds. What flows through a face is the sum over
//! the bonds across it of −C b p ∂Φ, the energy that passes in the scheme itself: the mean of p and the difference of Φ between its ends. Within reach of a wall or an edge
//! wide stencils also bind a site to the images of sites on the other side of a face; those bonds carry energy across it as others do (an image in a soft edge with −p, −Φ).
//!
//! With (pⁿ, pⁿ⁻¹) instead of (Φ⁺, Φ⁻) the same sum is the energy of a membrane of displacement p, (2πf)² times the sound's for a tone: conserved as well, and known without Φ. Drift is taken from it.
//!
//! Source: the summation by parts of leapfrog, e.g. Joly 2003, doi:10.1007/978-3-642-55483-4_6, §3.

use super::lattice::{Ghost, ghost};
use super::scheme::Sweep;
use super::share::View;
use super::stencil::COEFFICIENTS;
use super::walls::Term;
use crate::field::Real;
use std::ops::Range;

/// Two neighbouring levels of a field that the scheme steps.
#[derive(Clone, Copy)]
pub(super) struct Levels<'a, T> {
    /// The newer level with ghosts: pⁿ, or Φ⁺.
    pub(super) newer: View<'a, T>,
    /// pⁿ⁻¹, or pⁿ beside Φ⁺.
    pub(super) other: View<'a, T>,
    /// The older level is `mix[0]` · newer + `mix[1]` · other.
    pub(super) mix: [f64; 2],
    /// a.
    pub(super) spacing: f64,
    /// Δt with its sign.
    pub(super) time_step: f64,
}

impl<'a, T: Real> Levels<'a, T> {
    /// The newer and the older level from their stored values.
    fn pair(&self, newer: T, other: T) -> (f64, f64) {
        let newer = newer.wide();
        (newer, self.mix[0] * newer + self.mix[1] * other.wide())
    }

    /// Newer and older level by index.
    pub(super) fn at(&self, index: usize) -> (f64, f64) {
        self.pair(self.newer.at(index), self.other.at(index))
    }

    /// What is stored of `count` values from an index on, all in one row.
    fn run(&self, index: usize, count: usize) -> (&'a [T], &'a [T]) {
        let places = index..index + count;
        (self.newer.slice(places.clone()), self.other.slice(places))
    }
}

impl<T: Real> Sweep<T> {
    /// Energy per a^d of some sites of row (j, k); 0 in walls and in absorbing layers, where the velocity does not follow from Φ.
    pub(super) fn energy_row(
        &self,
        levels: &Levels<'_, T>,
        [j, k]: [usize; 2],
        columns: Range<usize>,
        out: &mut [f64],
    ) {
        let lattice = &self.lattice;
        let [nx, ny, _] = lattice.size;
        if lattice.absorbs_at(1, j) || lattice.absorbs_at(2, k) {
            out.fill(0.0);
            return;
        }
        let row = j + ny * k;
        let first = lattice.index([columns.start, j, k]);
        let own: Vec<(f64, f64)> = {
            let (newer, other) = levels.run(first, columns.len());
            newer.iter().zip(other).map(|(a, b)| levels.pair(*a, *b)).collect()
        };
        for ((i, out), (p, q)) in out.iter_mut().enumerate().zip(&own) {
            let kappa = self.material.kappa(first + i);
            let change = p - q;
            *out = if kappa == 0.0 {
                0.0
            } else {
                change * change / (2.0 * kappa)
            };
        }
        for distance in 1..=lattice.half {
            let coefficient = COEFFICIENTS[lattice.half][distance] / 4.0;
            for offset in [-distance.cast_signed(), distance.cast_signed()] {
                let beside = first.wrapping_add_signed(offset);
                self.bonds(levels, (first, beside), (coefficient, 1.0), &own, out);
                if let Some(x) = self.node(offset).filter(|x| columns.contains(x)) {
                    let i = x - columns.start;
                    let (p, q) = own[i];
                    // No other site counts the bond to the zero outside a soft edge.
                    out[i] += coefficient * self.bond(first + i, first + i) * p * q;
                }
                for axis in 1..lattice.rank {
                    let (other, sign, share) = match lattice.neighbour_row(j, k, axis, offset) {
                        Ghost::Same(other) => (other, 1.0, 1.0),
                        Ghost::Negative(other) => (other, -1.0, 1.0),
                        Ghost::Zero => (row, 0.0, 2.0),
                    };
                    let other = lattice.sites(other).start + columns.start;
                    self.bonds(levels, (first, other), (share * coefficient, sign), &own, out);
                }
            }
        }
        if self.material.density.is_empty() {
            let density = self.material.uniform_density;
            self.walls.for_each(lattice, row, |x, terms| {
                let Some(i) = x.checked_sub(columns.start).filter(|i| *i < own.len()) else {
                    return;
                };
                for Term { from, sign, weight } in terms {
                    let ((p, q), (p1, q1)) = (own[i], levels.at(*from));
                    let share = if *sign == 0.0 { 2.0 } else { 1.0 };
                    out[i] += share * weight * (sign * p1 - p) * (sign * q1 - q) / (4.0 * density);
                }
            });
        }
        let square = levels.spacing * levels.spacing;
        let walls = self.mask.get(row * nx..(row + 1) * nx);
        let inside = lattice.inside[0][0]..lattice.inside[1][0];
        for (x, out) in columns.zip(out) {
            let counts = inside.contains(&x) && walls.is_none_or(|walls| !walls[x]);
            *out = if counts { *out / square } else { 0.0 };
        }
    }

    /// Adds to `out` the bonds from a row (its first site, `own` its levels) to another, whose values count with `sign`.
    fn bonds(
        &self,
        levels: &Levels<'_, T>,
        (first, other): (usize, usize),
        (weight, sign): (f64, f64),
        own: &[(f64, f64)],
        out: &mut [f64],
    ) {
        let (newer, older) = levels.run(other, own.len());
        let values = newer.iter().zip(older).map(|(a, b)| levels.pair(*a, *b));
        let sites = out.iter_mut().zip(own).zip(values);
        if self.material.density.is_empty() {
            let weight = weight / self.material.uniform_density;
            for ((out, (p, q)), (p1, q1)) in sites {
                *out += weight * (sign * p1 - p) * (sign * q1 - q);
            }
        } else {
            for (i, ((out, (p, q)), (p1, q1))) in sites.enumerate() {
                *out += weight * self.bond(first + i, other + i) * (sign * p1 - p) * (sign * q1 - q);
            }
        }
    }

    /// The site along x whose neighbour at `offset` is the node outside a soft edge.
    pub(super) fn node(&self, offset: isize) -> Option<usize> {
        let nx = self.lattice.size[0];
        // Nodes are nx + 1 apart; a wide stencil reaches several of a short row, and each from another site.
        let first = if offset < 0 { -1 } else { nx.cast_signed() };
        let near = (first - offset).rem_euclid(nx.cast_signed() + 1).cast_unsigned();
        let node = near < nx && ghost(self.lattice.edges[0], nx, near.cast_signed() + offset) == Ghost::Zero;
        node.then_some(near)
    }

    /// 1/ρ between two places of an array.
    pub(super) fn bond(&self, here: usize, there: usize) -> f64 {
        if self.material.density.is_empty() {
            1.0 / self.material.uniform_density
        } else {
            2.0 / (self.material.density[here].wide() + self.material.density[there].wide())
        }
    }
}

//! Energy and its flux, site by site, and sums over the field.
//!
//! With Φ = ∫q dt, so that ρv = −∇Φ, the sound's energy is E = a^d/K₀ (½ Σ m̂ q² + ½ Σ k̂ (ΔΦ)²) = ½∫ q²/K + ρv², in J; in two dimensions in J per metre, in one per square metre of the other axes.
//! A site is given its own pressure's part and half of each of its bonds; what flows to the next is −k̂ q̄ ΔΦ.
//!
//! With (q, p) instead of (Φ, Φ_t) the same sum, a^d/K₀ (Σ p²/2m̂ + ½ Σ k̂ (Δq)²), is the Hamiltonian that the sweeps split: the energy of a membrane of displacement q, (2πf)² times the sound's for a tone,
//! known without Φ. Drift is taken from it. The splitting conserves a Hamiltonian that differs from it by O(Δt^order): both swing and do not drift.

use super::springs::{Masses, Row};
use crate::grid::Grid;

/// q and p, or Φ and its rate, of the sites `x` of a row, in doubles: (row, first site, the first, the second).
pub(super) type Read<'a> = &'a (dyn Fn(usize, usize, &mut [f64], &mut [f64]) + Sync);

/// Scratch rows for formulas, kept from row to row.
#[derive(Default)]
pub(super) struct Rows {
    here: Row,
    below: Row,
    q: [Vec<f64>; 3],
    p: [Vec<f64>; 3],
}

/// Energies and fluxes of a field.
pub(super) struct EnergyProbe<'a> {
    pub grid: &'a Grid,
    /// The sites between absorbing layers ([`Domain::bounds`](crate::solver::acoustic::outward::Domain::bounds)): those in layers have no energy.
    pub inside: [[usize; 3]; 2],
    pub masses: &'a Masses,
    pub read: Read<'a>,
    /// Whether `read` gives Φ and its rate.
    pub sound: bool,
}

impl EnergyProbe<'_> {
    /// Reads sites lo − 1 .. hi + 1 (around a ring, or 0 outside) of row `j` into place `n`.
    fn load(&self, rows: &mut Rows, n: usize, j: usize, lo: usize, hi: usize) {
        let nx = self.grid.size()[0];
        let (q, p) = (&mut rows.q[n], &mut rows.p[n]);
        for all in [&mut *q, &mut *p] {
            all.clear();
            all.resize(hi - lo + 2, 0.0);
        }
        let (first, last) = (lo.saturating_sub(1), (hi + 1).min(nx));
        let skip = first + 1 - lo;
        (self.read)(
            j,
            first,
            &mut q[skip..skip + last - first],
            &mut p[skip..skip + last - first],
        );
        if self.grid.is_periodic(0) {
            for (at, site) in [(0, nx - 1), (hi - lo + 1, 0)] {
                if (at == 0 && lo == 0) || (at > 0 && hi == nx) {
                    (self.read)(j, site, &mut q[at..=at], &mut p[at..=at]);
                }
            }
        }
    }

    /// Energy per a^d of sites lo..hi of row `j`.
    pub(super) fn energy_row(&self, rows: &mut Rows, j: usize, lo: usize, hi: usize, out: &mut [f64]) {
        let [nx, ny, _] = self.grid.size();
        let [first, last] = self.inside;
        if !(first[1]..last[1]).contains(&j) {
            out.fill(0.0);
            return;
        }
        let ring = self.grid.is_periodic(1) && ny > 1;
        let above = if j + 1 < ny { Some(j + 1) } else { ring.then_some(0) };
        let below = if j > 0 { Some(j - 1) } else { ring.then_some(ny - 1) };
        let mut here = std::mem::take(&mut rows.here);
        let mut under = std::mem::take(&mut rows.below);
        self.masses.row(j, &mut here);
        self.load(rows, 0, j, lo, hi);
        if let Some(above) = above {
            self.load(rows, 1, above, lo, hi);
        }
        if let Some(below) = below {
            self.masses.row(below, &mut under);
            self.load(rows, 2, below, lo, hi);
        }
        let q = &rows.q;
        let part = |k: f64, other: f64, own: f64| if k == 0.0 { 0.0 } else { k * (other - own).powi(2) / 4.0 };
        for (n, out) in out.iter_mut().enumerate() {
            let (i, at) = (lo + n, n + 1);
            if !(first[0]..last[0]).contains(&i) {
                *out = 0.0;
                continue;
            }
            let (own, p) = (q[0][at], rows.p[0][at]);
            let mass = if self.sound { 1.0 / here.mass[i] } else { here.mass[i] };
            let mut sum = p * p / (2.0 * mass);
            let before = if i > 0 { here.x[i - 1] } else { here.x[nx - 1] };
            sum += part(before, q[0][at - 1], own) + part(here.x[i], q[0][at + 1], own);
            if above.is_some() {
                sum += part(here.y[i], q[1][at], own);
            }
            if below.is_some() {
                sum += part(under.y[i], q[2][at], own);
            }
            sum += here.soft.iter().map(|soft| soft[i]).sum::<f64>() * own * own / 2.0;
            *out = sum / self.masses.modulus();
        }
        rows.here = here;
        rows.below = under;
    }

    /// The energy that flows from a site to the next along `axis`, per a^(d−1) and unit of time, from Φ and its rate. 0 at walls and, unless the axis is periodic, at the last site.
    pub(super) fn flux(&self, rows: &mut Rows, [i, j]: [usize; 2], axis: usize) -> f64 {
        let Some([x, y, _]) = self.grid.next([i, j, 0], axis) else {
            return 0.0;
        };
        let next = [x, y];
        let mut here = std::mem::take(&mut rows.here);
        let mut there = std::mem::take(&mut rows.below);
        self.masses.row(j, &mut here);
        self.masses.row(next[1], &mut there);
        let at = |[i, j]: [usize; 2]| {
            let (mut q, mut p) = ([0.0], [0.0]);
            (self.read)(j, i, &mut q, &mut p);
            (q[0], p[0])
        };
        let ((q0, p0), (q1, p1)) = (at([i, j]), at(next));
        let rate = if self.sound {
            f64::midpoint(p0, p1)
        } else {
            f64::midpoint(p0 / here.mass[i], p1 / there.mass[next[0]])
        };
        let k = if axis == 0 { here.x[i] } else { here.y[i] };
        // b = k̂ a²/K₀, and ∂p = Δp/a.
        let flux = -k * self.grid.spacing() * rate * (q1 - q0) / self.masses.modulus();
        rows.here = here;
        rows.below = there;
        flux
    }
}

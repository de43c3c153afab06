//! ω of a wave of ψ along one axis as a method's steps have it, the waves of other axes at rest.
//!
//! - Pairs of sites: even bonds E and odd bonds O turn by the angle JΔt. By Bloch's theorem a step is a matrix of SU(2) on an even and an odd site, whose eigenphases are ±ΩΔt; of order 1 and 2
//!   sin(ΩΔt/2) = sin(JΔt) |cos ka|. The energy −2J cos ka becomes −Ω up to ka = π/2, and Ω beyond. Bonds of other axes turn alike what is alike, which is exact.
//! - Cayley factors: tan(ωΔt/2) = εΔt/2 of the whole energy ε on a line; in a plane x takes two factors of half a step, y one, and each the half of what the diagonal has.

use crate::physics::reference::trotter::SUZUKI;
use num_complex::Complex64;
use std::f64::consts::{PI, TAU};

/// How a method steps ψ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steps {
    /// Exactly, by the lattice's own H.
    Exact,
    /// Exactly, with the kinetic energy k²/2m of the continuum, |k| ≤ π/a.
    Continuum,
    /// Bond by bond, of order 1, 2 or 4.
    Pairs {
        /// The order.
        order: u32,
        /// Δt.
        step: f64,
    },
    /// By Cayley factors in so many axes, 1 or 2.
    Cayley {
        /// The axes.
        axes: usize,
        /// Δt.
        step: f64,
    },
}

impl Steps {
    /// ω of ka = `kappa` for the hopping J, where the wave at rest has the energy `rest`; `None` if a step turns neighbours by more than can be told apart.
    pub(super) fn omega(self, kappa: f64, hopping: f64, rest: f64) -> Option<f64> {
        let kappa = kappa - TAU * (kappa / TAU).round();
        let energy = 2.0 * hopping * (1.0 - kappa.cos());
        match self {
            Self::Exact => Some(rest + energy),
            Self::Continuum => Some(rest + hopping * kappa * kappa),
            Self::Pairs { order, step } => {
                let angle = hopping * step;
                let turn = turn(kappa, order, angle);
                (2.0 * angle.abs() <= PI).then(|| rest + 2.0 * hopping - (turn / step).copysign(hopping * kappa.cos()))
            }
            Self::Cayley { axes: 2, step } => {
                // What the wave at rest has is two halves, one per axis.
                let cayley = |energy: f64, tau: f64| 2.0 / tau * (energy * tau / 2.0).atan();
                Some(cayley(rest / 2.0 + energy, step / 2.0) + cayley(rest / 2.0, step))
            }
            Self::Cayley { step, .. } => Some(2.0 / step * ((rest + energy) * step / 2.0).atan()),
        }
    }
}

/// A matrix ((a, b), (−b*, a*)) of SU(2), by its first row.
type Turn = [Complex64; 2];

fn product([a, b]: Turn, [c, d]: Turn) -> Turn {
    [a * c - b * d.conj(), a * d + b * c.conj()]
}

/// ΩΔt, 0 to π, of steps with JΔt = `angle`.
fn turn(kappa: f64, order: u32, angle: f64) -> f64 {
    let bonds = |angle: f64, behind: Complex64| [angle.cos().into(), Complex64::I * angle.sin() * behind];
    let five = [SUZUKI, SUZUKI, 1.0 - 4.0 * SUZUKI, SUZUKI, SUZUKI];
    // Of order 1 a step is that of order 2 seen half a sweep earlier.
    let weights = if order == 4 { &five[..] } else { &[1.0] };
    let [a, b] = weights
        .iter()
        .fold([Complex64::ONE, Complex64::ZERO], |so_far, weight| {
            let even = bonds(weight * angle / 2.0, Complex64::ONE);
            let odd = bonds(weight * angle, Complex64::cis(-2.0 * kappa));
            product(so_far, product(even, product(odd, even)))
        });
    a.im.hypot(b.norm()).atan2(a.re)
}

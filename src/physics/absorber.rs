//! Absorbing edges of ψ: the transmission-free potential of Manolopoulos in lattice form, and what comes back from it.
//!
//! W of site n of a layer of N sites, n = 1 at its inner side and N beside the wall: W = J (κ/(N + 1))² y(cn/(N + 1)) with
//! y(x) = Ax − Bx³ + 4/(c − x)² − 4/(c + x)², A = 1 − 16/c³, B = (1 − 17/c³)/c², c = 2.62206 (the lemniscate constant). The
//! singularity stands on the wall, one site beyond the layer, so that nothing passes; W of the last site is 9.3 J whatever the width.
//!
//! Manolopoulos' k_min is κ/(N + 1) a site. κ = 4 sends back least over the widest band: at most 1e-4 of waves shorter than 0.7 of the layer, from 16 sites
//! on and up to ka = 2.6. A k_min that followed the packets of a scene would gain nothing: what it gives to fast waves, which come back with less than
//! 1e-5 already, it takes from the slow ones. Since N alone enters, the same layer on a finer grid sends back the same.
//!
//! D. E. Manolopoulos, J. Chem. Phys. 117 (2002) 9552, doi:10.1063/1.1517042.

use super::Packet;
use crate::grid::{Edge, Grid};
use num_complex::Complex64;
use std::f64::consts::PI;

/// c: K(1/√2)·√2, where y has its pole.
const LEMNISCATE: f64 = 2.622_057_554_292_119;
/// κ.
const SLOWEST: f64 = 4.0;
/// For waves up to this many times as long as the layer is wide, at most 1e-4 is reflected.
pub const LONGEST_WAVE: f64 = 0.7;

/// W/J of site `n` of a layer of `width` sites, counted from 1 at its inner side.
#[expect(clippy::cast_precision_loss, reason = "widths are far below 2^52")]
pub fn strength(n: usize, width: usize) -> f64 {
    let c = LEMNISCATE;
    let whole = (width + 1) as f64;
    let x = c * n as f64 / whole;
    let (a, b) = (1.0 - 16.0 / c.powi(3), (1.0 - 17.0 / c.powi(3)) / (c * c));
    let y = a * x - b * x.powi(3) + 4.0 / (c - x).powi(2) - 4.0 / (c + x).powi(2);
    (SLOWEST / whole).powi(2) * y
}

/// |r|² of a wave of momentum `k` per site (0 < k < π) at normal incidence on a layer of `width` sites, exactly on the
/// lattice and in continuous time.
///
/// ψ = 0 on the wall behind the layer; carried back through it by εψₙ = −J(ψₙ₊₁ + ψₙ₋₁) − iWₙψₙ it is Ae^{ikn} + Be^{−ikn} in front, and r = B/A.
pub fn reflection(width: usize, k: f64) -> f64 {
    let energy = -2.0 * k.cos();
    let (mut here, mut next) = (Complex64::ONE, Complex64::ZERO);
    for n in (1..=width).rev() {
        let before = here * Complex64::new(-energy, -strength(n, width)) - next;
        // Growth by some orders a site in strong layers: only the ratio matters.
        let scale = 1.0 / before.norm().max(here.norm());
        (here, next) = (before * scale, here * scale);
    }
    let incoming = here - next * Complex64::cis(k);
    let outgoing = here - next * Complex64::cis(-k);
    (outgoing.norm() / incoming.norm()).powi(2)
}

/// The share of packets, whose momentum is that of their motion ([`in_motion`](super::bonds::in_motion)), that the absorbing edges reflect: the mean of [`reflection`] over its momenta along an axis, the largest of all
/// axes and packets. Only axes count along which a packet moves faster than it spreads; `None` if there is none.
pub fn returned(grid: &Grid, packets: &[Packet]) -> Option<f64> {
    let a = grid.spacing();
    (0..grid.rank())
        .filter(|axis| grid.edges()[*axis] == Edge::Absorb && grid.absorb_width() > 0)
        .flat_map(|axis| packets.iter().map(move |packet| (packet, axis)))
        .filter_map(|(packet, axis)| {
            let deviation = a / (2.0 * packet.width[axis]);
            let k = packet.momentum[axis].abs() * a;
            (k > 2.0 * deviation).then(|| mean_reflection(grid.absorb_width(), k, deviation))
        })
        .reduce(f64::max)
}

/// The mean over a Gaussian of momenta, by trapezoids over ±4 deviations.
fn mean_reflection(width: usize, k: f64, deviation: f64) -> f64 {
    const HALF: i32 = 32;
    let (mut sum, mut weight) = (0.0, 0.0);
    for n in -HALF..=HALF {
        let z = 4.0 * f64::from(n) / f64::from(HALF);
        let density = (-z * z / 2.0).exp();
        // Momenta are the same modulo 2π, and −k is as fast as k.
        let turns = (k + z * deviation) / (2.0 * PI);
        let k = 2.0 * PI * (turns - turns.round()).abs();
        weight += density;
        sum += density * reflection(width, k.max(1e-6));
    }
    sum / weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_comes_back_from_any_width() {
        for width in [16_u8, 20, 24, 32, 48, 64, 96, 160] {
            let slowest = 2.0 * PI / (LONGEST_WAVE * f64::from(width));
            let most = (0..200)
                .map(|n| reflection(usize::from(width), slowest + (2.6 - slowest) * f64::from(n) / 199.0))
                .fold(0.0, f64::max);
            assert!(most <= 1e-4, "{width} sites: {most:.1e}");
        }
    }

    /// 16 lengths, k = 0.4 a length, on three grids: W = Jξ² sent back 0.6, 4.7 and 13.9 %.
    #[test]
    fn a_finer_grid_sends_back_no_more() {
        let found = [(16, 0.4), (32, 0.2), (64, 0.1)].map(|(width, k)| reflection(width, k));
        for r in found {
            assert!(r < 2e-3, "{found:?}");
        }
        assert!(found[2] / found[0] < 2.0, "{found:?}");
    }

    /// Waves at the top of the band are as slow as those at its bottom: a packet there comes back, and none of it is left out of the mean.
    #[test]
    fn the_top_of_the_band_comes_back() {
        let mean = mean_reflection(6, PI, 0.08);
        assert!(mean > 0.5, "{mean}");
        let [below, above] = [-0.3, 0.3].map(|aside| mean_reflection(16, PI + aside, 0.01));
        assert!((below / above - 1.0).abs() < 1e-9, "{below} {above}");
    }

    /// Without a layer all comes back.
    #[test]
    fn a_wall_reflects() {
        for k in [0.1, 1.0, 3.0] {
            assert!((reflection(0, k) - 1.0).abs() < 1e-12);
        }
    }
}

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
/// A larger share of packets than this is worth a wider layer.
pub const MOST_RETURNED: f64 = 1e-3;

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
/// axes and packets. Only axes count along which a packet moves faster than it spreads, and comes to the layer before it has gone into that of another axis; `None` if there is none.
pub fn returned(grid: &Grid, packets: &[Packet]) -> Option<f64> {
    let of_packet = |packet: &Packet| -> Option<f64> {
        let arriving: Vec<(Motion, [f64; 2])> = (0..grid.rank())
            .filter(|axis| grid.edges()[*axis] == Edge::Absorb && grid.absorb_width() > 0)
            .filter_map(|axis| Motion::along(grid, packet, axis))
            .map(|motion| (motion, motion.passage()))
            .collect();
        let gone = arriving
            .iter()
            .map(|(_, [_, last])| *last)
            .fold(f64::INFINITY, f64::min);
        arriving
            .iter()
            .filter(|(_, [first, _])| *first <= gone)
            .map(|(motion, _)| mean_reflection(grid.absorb_width(), motion.k, motion.deviation))
            .reduce(f64::max)
    };
    packets.iter().filter_map(of_packet).reduce(f64::max)
}

/// A packet on its way to the absorbing layer that it moves to along an axis; in sites.
#[derive(Clone, Copy)]
struct Motion {
    /// k of its motion, without its sign, and the standard deviation of it.
    k: f64,
    deviation: f64,
    /// The deviation of its places at t = 0.
    width: f64,
    /// From its centre to the layer; negative inside.
    way: f64,
}

impl Motion {
    /// `None` for a packet that spreads as fast as it moves.
    #[expect(clippy::cast_precision_loss, reason = "sites along an axis")]
    fn along(grid: &Grid, packet: &Packet, axis: usize) -> Option<Self> {
        let a = grid.spacing();
        let (k, width) = (packet.momentum[axis] * a, packet.width[axis] / a);
        let deviation = 1.0 / (2.0 * width);
        let (center, last) = (packet.center[axis] / a, (grid.size()[axis] - 1) as f64);
        // Momenta are the same modulo 2π; beyond π the lattice moves it the other way.
        let ahead = if k.sin() < 0.0 { center } else { last - center };
        (k.abs() > 2.0 * deviation).then(|| Self {
            k: k.abs(),
            deviation,
            width,
            way: ahead - grid.absorb_width() as f64,
        })
    }

    /// When its front and its end, two deviations before and behind its centre, come to the layer, in units of 1/2J: with v = sin k and its deviation s = |cos k|Δk the roots
    /// of (way − vt)² = 4(width² + s²t²).
    fn passage(&self) -> [f64; 2] {
        let (speed, spread) = (self.k.sin().abs(), self.k.cos().abs() * self.deviation);
        let (square, product) = (speed.powi(2) - 4.0 * spread.powi(2), self.way * speed);
        let rest = self.way.powi(2) - 4.0 * self.width.powi(2);
        let root = (product.powi(2) - square * rest).max(0.0).sqrt();
        let first = if self.way > 0.0 && rest > 0.0 {
            rest / (product + root)
        } else {
            0.0
        };
        let last = if square > 0.0 {
            ((product + root) / square).max(0.0)
        } else {
            f64::INFINITY
        };
        [first, last]
    }
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

    /// A packet that goes into the layer of x long before it comes to that of y sends nothing back there, however slow it is along y; one that starts beside the layer of y does.
    #[test]
    fn an_edge_that_is_not_reached_sends_nothing_back() {
        let grid = Grid::new(&[180, 201], 1.0).with_edges([Edge::Absorb, Edge::Absorb, Edge::Wall], 24);
        let share = |y: f64, k: f64| {
            let packet = Packet::new([52.0, y, 0.0], [12.0, 30.0, 1.0], [0.522, k, 0.0]);
            returned(&grid, &[packet]).unwrap()
        };
        for k in [0.039, -0.039] {
            assert!(share(100.0, k) < 1e-3, "{}", share(100.0, k));
        }
        assert!(share(140.0, 0.039) > 0.3, "{}", share(140.0, 0.039));
        // There it moves away from the layer of y.
        assert!(share(140.0, -0.039) < 1e-3, "{}", share(140.0, -0.039));
        // Walls at the ends of x take nothing.
        let tube = Grid::new(&[180, 201], 1.0).with_edges([Edge::Wall, Edge::Absorb, Edge::Wall], 24);
        let packet = Packet::new([52.0, 100.0, 0.0], [12.0, 30.0, 1.0], [0.522, 0.039, 0.0]);
        assert!(returned(&tube, &[packet]).unwrap() > 0.3);
    }

    /// Without a layer all comes back.
    #[test]
    fn a_wall_reflects() {
        for k in [0.1, 1.0, 3.0] {
            assert!((reflection(0, k) - 1.0).abs() < 1e-12);
        }
    }
}

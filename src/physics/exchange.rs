//! Two particles on a line as one wave in a plane: x is the place of the first, y that of the second.

use super::Packet;
use crate::field::Real;
use crate::words::worded;
use num_complex::Complex;

worded! {
    /// The effect of exchanging the two particles on ψ(x, y).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Exchange {
        /// ψ(y, x) = ψ(x, y): bosons, or fermions in a singlet.
        Symmetric = "symmetric",
        /// ψ(y, x) = −ψ(x, y): fermions of one spin.
        Antisymmetric = "antisymmetric",
    }
}

impl Exchange {
    /// Packets and, with the sign of the exchange, the same with the particles exchanged: a state of this symmetry, not normalised.
    #[must_use]
    pub fn of(self, packets: &[Packet]) -> Vec<Packet> {
        let sign = self.sign();
        let exchanged = packets.iter().map(|packet| Packet {
            center: swapped(packet.center),
            width: swapped(packet.width),
            momentum: swapped(packet.momentum),
            weight: sign * packet.weight,
        });
        packets.iter().copied().chain(exchanged).collect()
    }

    /// The factor of ψ when the particles are exchanged.
    #[must_use]
    pub fn sign(self) -> f64 {
        match self {
            Self::Symmetric => 1.0,
            Self::Antisymmetric => -1.0,
        }
    }

    /// The part of ψ on `sites` × `sites` sites, x fastest, that has this symmetry, [ψ(x, y) ± ψ(y, x)]/2, to the last bit.
    ///
    /// # Panics
    /// If ψ has fewer sites.
    pub fn project<T: Real>(self, psi: &mut [Complex<T>], sites: usize) {
        let (half, sign) = (T::of(0.5), T::of(self.sign()));
        for y in 0..sites {
            for x in 0..=y {
                let [here, there] = [x + sites * y, y + sites * x];
                let kept = (psi[here] + psi[there].scale(sign)).scale(half);
                psi[here] = kept;
                psi[there] = kept.scale(sign);
            }
        }
    }
}

fn swapped([x, y, z]: [f64; 3]) -> [f64; 3] {
    [y, x, z]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::physics::Initial;
    use crate::physics::reference::initial_state;
    use num_complex::Complex64;

    /// The two parts of any ψ add up to it, have their symmetry to the last bit, and are their own parts.
    #[test]
    fn a_wave_is_the_sum_of_its_symmetric_parts() {
        let value = |n: u32| Complex64::new(f64::from(n * n % 17), f64::from(n * 7 % 11));
        let whole: Vec<Complex64> = (0..25).map(value).collect();
        let parts = [(Exchange::Symmetric, 1.0), (Exchange::Antisymmetric, -1.0)].map(|(exchange, sign)| {
            let mut part = whole.clone();
            exchange.project(&mut part, 5);
            for n in 0..25 {
                assert_eq!(part[n], sign * part[n / 5 + 5 * (n % 5)]);
            }
            let once = part.clone();
            exchange.project(&mut part, 5);
            assert_eq!(part, once);
            part
        });
        // Halves of whole numbers are exact.
        for (n, value) in whole.iter().enumerate() {
            assert_eq!(parts[0][n] + parts[1][n], *value);
        }
    }

    #[test]
    fn exchanging_the_particles_gives_the_sign() {
        let packet = Packet {
            center: [5.0, 11.0, 0.0],
            width: [1.5, 2.5, 1.0],
            momentum: [0.4, -0.7, 0.0],
            weight: 1.3,
        };
        let grid = Grid::new(&[18, 18], 1.0);
        for (exchange, sign) in [(Exchange::Symmetric, 1.0), (Exchange::Antisymmetric, -1.0)] {
            let psi = initial_state(&grid, &Initial::Packets(exchange.of(&[packet])));
            for i in 0..18 {
                for j in 0..18 {
                    let (here, there) = (psi[i + 18 * j], psi[j + 18 * i]);
                    assert!((here - sign * there).norm() < 1e-15, "{exchange:?} ({i}, {j})");
                }
            }
            assert!(psi.iter().any(|value| value.norm() > 1e-3));
        }
    }
}

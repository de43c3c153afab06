//! Two particles on a line as one wave in a plane: x is the place of the first, y that of the second.

use super::Packet;
use crate::words::worded;

worded! {
    /// What exchanging the two particles does to ψ(x, y).
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
        let sign = match self {
            Self::Symmetric => 1.0,
            Self::Antisymmetric => -1.0,
        };
        let exchanged = packets.iter().map(|packet| Packet {
            center: swapped(packet.center),
            width: swapped(packet.width),
            momentum: swapped(packet.momentum),
            weight: sign * packet.weight,
        });
        packets.iter().copied().chain(exchanged).collect()
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

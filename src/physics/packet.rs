//! Initial states: Gaussian packets, pulses, arrays.

use super::Eigenstates;
use super::eigen::EigenError;
use crate::field::FieldData;
use crate::grid::Grid;
use num_complex::Complex64;
use std::sync::Arc;

/// A Gaussian packet, ψ ∝ exp(−Σ(x−c)²/(4w²)) exp(i k·(r−c)); `width` is the standard deviation of |ψ|². Along a periodic axis x − c is the
/// shorter way round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// Centre c, lengths.
    pub center: [f64; 3],
    /// Width w along each axis, lengths.
    pub width: [f64; 3],
    /// Momentum k, 1/length (ħ = 1).
    pub momentum: [f64; 3],
    /// Amplitude relative to the other packets before normalisation.
    pub weight: f64,
}

impl Packet {
    /// One of weight 1.
    pub fn new(center: [f64; 3], width: [f64; 3], momentum: [f64; 3]) -> Self {
        Self {
            center,
            width,
            momentum,
            weight: 1.0,
        }
    }
}

/// A Gaussian pressure pulse, p = amplitude · exp(−|r−c|²/(2w²)), dp/dt = 0. Along a periodic axis r − c is the shorter distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pulse {
    /// Centre, m.
    pub center: [f64; 3],
    /// Width w, m.
    pub width: f64,
    /// Amplitude, Pa.
    pub amplitude: f64,
}

/// The state at t = 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// Packets, summed, then normalised to Σ|ψ|² a^d = 1.
    Packets(Vec<Packet>),
    /// Pulses, summed.
    Pulses(Vec<Pulse>),
    /// An array of the grid's size, x fastest, not normalised.
    Array(Arc<FieldData>),
    /// Eigenstates of the scene's own Hamiltonian, summed with weights, then normalised.
    Eigenstates(Eigenstates),
}

/// The rows of a state on a grid, or on a window of it; what they have in common is computed once.
pub struct InitialRows<'a> {
    initial: &'a Initial,
    grid: &'a Grid,
    /// The grid that it is a window of, or the same: arrays have its sites.
    whole: Grid,
    /// The factor along x of each packet, from the grid's first column on.
    along: Vec<Vec<Complex64>>,
}

impl Packet {
    /// The factor of one axis at the coordinate `at`.
    fn factor(&self, grid: &Grid, axis: usize, at: f64) -> Complex64 {
        let d = grid.way(axis, self.center[axis], at);
        Complex64::from_polar((-(d / self.width[axis]).powi(2) / 4.0).exp(), self.momentum[axis] * d)
    }
}

#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn coordinate(grid: &Grid, axis: usize, n: usize) -> f64 {
    grid.global(axis, n) as f64 * grid.spacing()
}

impl InitialRows<'_> {
    /// One row of the state before normalisation, in a window the same as in the whole grid: sites (i, j, k) for i from
    /// 0, `out.len()` of them, at most the grid's columns.
    pub fn fill(&self, j: usize, k: usize, out: &mut [Complex64]) {
        let Self {
            initial,
            grid,
            whole,
            along,
        } = self;
        let rank = grid.rank();
        let [row, plane] = [grid.global(1, j), grid.global(2, k)];
        let (y, z) = (coordinate(grid, 1, j), coordinate(grid, 2, k));
        out.fill(Complex64::ZERO);
        match initial {
            Initial::Packets(packets) => {
                for (packet, along) in packets.iter().zip(along) {
                    let mut across = Complex64::from(packet.weight);
                    if rank > 1 {
                        across *= packet.factor(grid, 1, y);
                    }
                    if rank > 2 {
                        across *= packet.factor(grid, 2, z);
                    }
                    for (value, along) in out.iter_mut().zip(along) {
                        *value += across * along;
                    }
                }
            }
            Initial::Pulses(pulses) => {
                for pulse in pulses {
                    for (i, value) in out.iter_mut().enumerate() {
                        let at = [coordinate(grid, 0, i), y, z];
                        let square: f64 = (0..rank)
                            .map(|axis| grid.way(axis, pulse.center[axis], at[axis]).powi(2))
                            .sum();
                        *value += pulse.amplitude * (-(square.sqrt() / pulse.width).powi(2) / 2.0).exp();
                    }
                }
            }
            Initial::Eigenstates(states) => {
                // Where they could not be found the field stays empty; `prepare` says why.
                if let Ok(state) = states.state() {
                    for (before, x) in grid.stretches(0..out.len()) {
                        let start = whole.index([x.start, row, plane]);
                        out[before..before + x.len()].copy_from_slice(&state[start..start + x.len()]);
                    }
                }
            }
            Initial::Array(data) => {
                for (i, value) in out.iter_mut().enumerate() {
                    *value = data.at(whole.index([grid.global(0, i), row, plane]));
                }
            }
        }
    }
}

impl Initial {
    /// Its rows on a grid.
    #[must_use]
    pub fn rows<'a>(&'a self, grid: &'a Grid) -> InitialRows<'a> {
        let along = match self {
            Self::Packets(packets) => {
                let columns = 0..grid.size()[0];
                let factors = |packet: &Packet| {
                    let at = columns.clone().map(|i| coordinate(grid, 0, i));
                    at.map(|x| packet.factor(grid, 0, x)).collect()
                };
                packets.iter().map(factors).collect()
            }
            _ => Vec::new(),
        };
        InitialRows {
            initial: self,
            grid,
            whole: grid.whole(),
            along,
        }
    }

    /// Computes what the rows need if that takes long; otherwise rows compute it themselves.
    ///
    /// # Errors
    /// If the eigenstates could not be found.
    pub fn prepare(&self) -> Result<(), EigenError> {
        match self {
            Self::Eigenstates(states) => states.state().map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Whether the state is normalised to Σ|ψ|² a^d = 1 before it is used.
    pub fn normalised(&self) -> bool {
        matches!(self, Self::Packets(_) | Self::Eigenstates(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Edge;

    #[test]
    fn what_is_far_narrower_than_a_spacing_stands_on_its_site() {
        let grid = Grid::new(&[3, 3], 1.0);
        let (center, width) = ([1.0, 1.0, 0.0], 1e-300);
        let packet = Packet::new(center, [width; 3], [0.0; 3]);
        let pulse = Pulse {
            center,
            width,
            amplitude: 1.0,
        };
        for state in [Initial::Packets(vec![packet]), Initial::Pulses(vec![pulse])] {
            let mut row = [Complex64::ZERO; 3];
            for (j, here) in [0.0, 1.0, 0.0].into_iter().enumerate() {
                state.rows(&grid).fill(j, 0, &mut row);
                assert_eq!(row, [0.0, here, 0.0].map(Complex64::from), "{state:?}, row {j}");
            }
        }
    }
    /// Moved round a torus by whole sites, a packet and a pulse are what they were, moved; windows of the torus have them as the whole.
    #[test]
    fn a_seam_is_a_place_as_any_other() {
        const SIZE: [usize; 2] = [40, 24];
        let torus = Grid::new(&SIZE, 0.5).with_edges([Edge::Periodic, Edge::Periodic, Edge::Wall], 0);
        let states = |x: f64, y: f64| {
            let packet = Packet::new([x, y, 0.0], [1.2, 0.8, 1.0], [1.1, -0.7, 0.0]);
            let pulse = Pulse {
                center: [x, y, 0.0],
                width: 0.9,
                amplitude: 2.0,
            };
            [Initial::Packets(vec![packet]), Initial::Pulses(vec![pulse])]
        };
        let field = |state: &Initial, grid: &Grid| {
            let [nx, ny, _] = grid.size();
            let mut all = vec![Complex64::ZERO; nx * ny];
            let rows = state.rows(grid);
            for (j, row) in all.chunks_mut(nx).enumerate() {
                rows.fill(j, 0, row);
            }
            all
        };
        // In the middle no tail reaches the seam but below e^{−(10/2.4)²}, half a turn away.
        let middle = states(10.0, 6.0).map(|state| field(&state, &torus));
        for (right, up) in [(20u16, 12u16), (21, 12), (19, 13), (35, 0), (0, 23)] {
            let [x, y] = [(20 + right) % 40, (12 + up) % 24].map(|site| 0.5 * f64::from(site));
            for (state, middle) in states(x, y).iter().zip(&middle) {
                let moved = field(state, &torus);
                for (n, value) in middle.iter().enumerate() {
                    let [i, j] = [n % SIZE[0], n / SIZE[0]];
                    // At half a turn either way round is as long, and a phase has two values.
                    if i == 0 || j == 0 {
                        continue;
                    }
                    let at = (i + usize::from(right)) % SIZE[0] + SIZE[0] * ((j + usize::from(up)) % SIZE[1]);
                    assert!((moved[at] - value).norm() < 1e-14, "{state:?} at {i}, {j}");
                }
                let window = torus.window(1, 20, 9);
                for (n, value) in field(state, &window).iter().enumerate() {
                    assert_eq!(*value, moved[n % SIZE[0] + SIZE[0] * ((20 + n / SIZE[0]) % SIZE[1])]);
                }
            }
        }
    }
}

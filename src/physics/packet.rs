//! Initial states: Gaussian packets, pulses, arrays.

use super::Eigenstates;
use super::eigen::EigenError;
use crate::field::FieldData;
use crate::grid::Grid;
use num_complex::Complex64;
use std::sync::Arc;

/// A Gaussian packet, ψ ∝ exp(−Σ(x−c)²/(4w²)) exp(i k·(r−c)); `width` is the standard deviation of |ψ|².
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

/// A Gaussian pressure pulse, p = amplitude · exp(−|r−c|²/(2w²)), dp/dt = 0.
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
    /// An array of the grid's size, x fastest, taken as it is.
    Array(Arc<FieldData>),
    /// Eigenstates of the scene's own Hamiltonian, summed with weights, then normalised.
    Eigenstates(Eigenstates),
}

impl Initial {
    /// One row of the state before normalisation, a window's as the whole grid has it: sites (i, j, k) for i from 0, `out.len()` of them.
    pub fn fill_row(&self, grid: &Grid, j: usize, k: usize, out: &mut [Complex64]) {
        let a = grid.spacing();
        let rank = grid.rank();
        let (j, k) = (grid.global(1, j), grid.global(2, k));
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let (y, z) = (j as f64 * a, k as f64 * a);
        out.fill(Complex64::ZERO);
        match self {
            Self::Packets(packets) => {
                for packet in packets {
                    let gauss = |axis: usize, at: f64| {
                        let d = at - packet.center[axis];
                        Complex64::from_polar(
                            (-(d / packet.width[axis]).powi(2) / 4.0).exp(),
                            packet.momentum[axis] * d,
                        )
                    };
                    let mut across = Complex64::from(packet.weight);
                    if rank > 1 {
                        across *= gauss(1, y);
                    }
                    if rank > 2 {
                        across *= gauss(2, z);
                    }
                    for (i, value) in out.iter_mut().enumerate() {
                        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
                        let x = grid.global(0, i) as f64 * a;
                        *value += across * gauss(0, x);
                    }
                }
            }
            Self::Pulses(pulses) => {
                for pulse in pulses {
                    for (i, value) in out.iter_mut().enumerate() {
                        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
                        let at = [grid.global(0, i) as f64 * a, y, z];
                        let square: f64 = (0..rank).map(|axis| (at[axis] - pulse.center[axis]).powi(2)).sum();
                        *value += pulse.amplitude * (-(square.sqrt() / pulse.width).powi(2) / 2.0).exp();
                    }
                }
            }
            Self::Eigenstates(states) => {
                // Where they could not be found the field stays empty; `prepare` says why.
                if let Ok(state) = states.state() {
                    for (before, x) in grid.stretches(0..out.len()) {
                        let start = grid.index([x.start, j, k]);
                        out[before..before + x.len()].copy_from_slice(&state[start..start + x.len()]);
                    }
                }
            }
            Self::Array(data) => {
                for (i, value) in out.iter_mut().enumerate() {
                    *value = data.at(grid.index([grid.global(0, i), j, k]));
                }
            }
        }
    }

    /// Finds what the rows are made of, where that takes long; rows find it themselves otherwise.
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
    #[must_use]
    pub fn normalised(&self) -> bool {
        matches!(self, Self::Packets(_) | Self::Eigenstates(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_narrower_than_a_spacing_stands_on_its_site() {
        let grid = Grid::new(&[3, 3], 1.0);
        let (center, width) = ([1.0, 1.0, 0.0], 1e-300);
        let packet = Packet {
            center,
            width: [width; 3],
            momentum: [0.0; 3],
            weight: 1.0,
        };
        let pulse = Pulse {
            center,
            width,
            amplitude: 1.0,
        };
        for state in [Initial::Packets(vec![packet]), Initial::Pulses(vec![pulse])] {
            let mut row = [Complex64::ZERO; 3];
            for (j, here) in [0.0, 1.0, 0.0].into_iter().enumerate() {
                state.fill_row(&grid, j, 0, &mut row);
                assert_eq!(row, [0.0, here, 0.0].map(Complex64::from), "{state:?}, row {j}");
            }
        }
    }
}

//! One step as a product of sweeps.
//!
//! With E and O the even and odd bonds of an axis, a sub-step of length τ is a palindrome, the last axis innermost:
//! 1D `E½ O E½`, 2D `xE½ xO½ · yE½ yO yE½ · xO½ xE½`. The kinetic shares of x and y bonds are of the same masses, so sweeps of different axes do not commute.
//! Order 2 is one sub-step, order 4 five of lengths u, u, 1 − 4u, u, u (Suzuki 1990, doi:10.1016/0375-9601(90)90962-N).

use crate::physics::reference::trotter::SUZUKI;

/// The bonds of one parity along an axis, for half a sub-step or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sweep {
    /// 0 or 1.
    pub axis: usize,
    /// Whether bonds join odd sites with the even ones after them.
    pub odd: bool,
}

impl Sweep {
    /// Its share of the sub-step: only the innermost sweep, odd along the last axis, is done once.
    pub(super) fn share(self, rank: usize) -> f64 {
        if self.odd && self.axis + 1 == rank { 1.0 } else { 0.5 }
    }
}

/// The sweeps of a sub-step in order.
pub(super) fn sweeps(rank: usize) -> &'static [Sweep] {
    const fn sweep(axis: usize, odd: bool) -> Sweep {
        Sweep { axis, odd }
    }
    const LINE: [Sweep; 3] = [sweep(0, false), sweep(0, true), sweep(0, false)];
    const PLANE: [Sweep; 7] = [
        sweep(0, false),
        sweep(0, true),
        sweep(1, false),
        sweep(1, true),
        sweep(1, false),
        sweep(0, true),
        sweep(0, false),
    ];
    if rank == 1 { &LINE } else { &PLANE }
}

/// Lengths of sub-steps, and which of them each sub-step of a step has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scheme {
    /// Different lengths, in time.
    pub lengths: Vec<f64>,
    /// Per sub-step: the number of its length.
    pub substeps: Vec<usize>,
}

impl Scheme {
    /// A step of `time_step` of order 2 or 4.
    pub(super) fn new(order: u32, time_step: f64) -> Self {
        if order == 4 {
            Self {
                lengths: vec![SUZUKI * time_step, (1.0 - 4.0 * SUZUKI) * time_step],
                substeps: vec![0, 0, 1, 0, 0],
            }
        } else {
            Self {
                lengths: vec![time_step],
                substeps: vec![0],
            }
        }
    }
}

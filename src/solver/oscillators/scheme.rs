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

/// Equal sub-steps in a row that one launch on a device takes.
#[cfg(any(feature = "cuda", feature = "gui"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    /// The number of their length.
    pub length: usize,
    pub count: usize,
    /// Whether a step begins with the first.
    pub begins: bool,
    /// Bit n: a step ends with sub-step n.
    pub ends: u32,
}

#[cfg(any(feature = "cuda", feature = "gui"))]
impl Part {
    /// The next launch of at most `most` sub-steps, from sub-step `at` on, counted from the beginning of a step, of which `left` are to be taken. `substeps`: numbers of the
    /// lengths of a step's sub-steps.
    pub(super) fn next(substeps: &[usize], at: usize, left: usize, most: usize) -> Self {
        let all = substeps.len();
        let length = substeps[at % all];
        let like = |n: &usize| substeps[(at + n) % all] == length;
        let count = 1 + (1..most.min(left).min(32)).take_while(like).count();
        let ends = (0..count).filter(|n| (at + n + 1).is_multiple_of(all));
        Self {
            length,
            count,
            begins: at.is_multiple_of(all),
            ends: ends.fold(0, |bits, n| bits | 1 << n),
        }
    }

    /// The same where nothing happens between steps.
    #[cfg(feature = "gui")]
    pub(super) fn unmarked(self) -> Self {
        Self {
            begins: false,
            ends: 0,
            ..self
        }
    }
}

#[cfg(all(test, feature = "gui"))]
mod tests {
    use super::*;

    #[test]
    fn launches_take_equal_sub_steps_and_know_where_steps_end() {
        let order4 = Scheme::new(4, 0.1).substeps;
        let part = |at, left, most| {
            let part = Part::next(&order4, at, left, most);
            (part.length, part.count, part.begins, part.ends)
        };
        assert_eq!(part(0, 20, 4), (0, 2, true, 0));
        assert_eq!(part(2, 18, 4), (1, 1, false, 0));
        // The last two of a step and the first two of the next.
        assert_eq!(part(3, 17, 4), (0, 4, false, 0b10));
        assert_eq!(part(3, 2, 4), (0, 2, false, 0b10));
        assert_eq!(part(4, 16, 2), (0, 2, false, 0b01));
        let long = Part::next(&[0], 7, 9, 16);
        assert_eq!((long.count, long.begins, long.ends), (9, true, 0x1ff));
        let order2 = Part::next(&[0], 7, 9, 6);
        assert_eq!((order2.count, order2.begins, order2.ends), (6, true, 0b11_1111));
        assert_eq!(
            order2.unmarked(),
            Part::next(&[0, 0, 0, 0, 0, 0, 0], 0, 6, 6).unmarked()
        );
    }
}

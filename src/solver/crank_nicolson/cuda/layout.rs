//! The distribution of the rows of a line to threads of the device, and the joints of its blocks.

use super::shape::{FEW, PART_THREADS, PARTS, SOLVERS, THREADS};

/// The threads that solve for the joints of all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Solvers {
    /// Every block of a step by itself, which takes no launch.
    Every,
    One,
    /// [`PARTS`] blocks.
    Parts,
}

/// The distribution of rows to threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    /// Threads of a block: a power of two, none of a ring's without a row.
    pub threads: usize,
    pub blocks: usize,
    /// Rows with those behind the line's end.
    pub room: usize,
    pub solvers: Solvers,
    /// Threads of a block that solve for joints: a power of two, none without one.
    pub sharers: usize,
}

/// The largest power of two up to `most` (itself one) and `n`.
fn power_of_two(n: usize, most: usize) -> usize {
    most.min(1 << n.max(1).ilog2())
}

impl Layout {
    /// On a device of so many multiprocessors, with numbers of `bytes`.
    pub(super) fn new(sites: usize, rows: usize, closes: bool, multiprocessors: usize, bytes: usize) -> Self {
        let threads = if closes { power_of_two(sites, THREADS) } else { THREADS };
        let blocks = sites.div_ceil(rows * threads);
        // As measured: two blocks a multiprocessor in single precision, one in double. Whole warps have joints, or none.
        let solvers = if (32..=FEW * threads).contains(&blocks) && blocks * bytes <= 8 * multiprocessors {
            Solvers::Every
        } else if blocks <= FEW * SOLVERS {
            Solvers::One
        } else {
            Solvers::Parts
        };
        Self {
            threads,
            blocks,
            room: if closes { sites } else { blocks * threads * rows },
            sharers: match solvers {
                Solvers::Every => power_of_two(blocks, threads),
                Solvers::One => power_of_two(blocks, SOLVERS),
                Solvers::Parts => power_of_two(blocks / PARTS, PART_THREADS),
            },
            solvers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_a_row_and_none_too_many() {
        for (rows, bytes) in [(8, 4), (8, 8), (16, 4)] {
            for sites in [
                2,
                3,
                31,
                255,
                256,
                257,
                2047,
                2048,
                2049,
                100_000,
                500_000,
                2_100_000,
                16 << 20,
            ] {
                for closes in [false, true] {
                    let Layout {
                        threads,
                        blocks,
                        room,
                        solvers,
                        sharers,
                    } = Layout::new(sites, rows, closes, 132, bytes);
                    assert!(threads.is_power_of_two() && threads <= THREADS && sharers.is_power_of_two());
                    let (least, most) = match solvers {
                        Solvers::Parts => (blocks / PARTS, blocks.div_ceil(PARTS)),
                        _ => (blocks, blocks),
                    };
                    assert!(sharers <= least && most.div_ceil(sharers) <= FEW);
                    assert!(solvers == Solvers::One || sharers >= 32);
                    let short = (sites, rows) == (100_000, 8) || (sites, bytes) == (500_000, 4);
                    assert_eq!(solvers == Solvers::Every, short);
                    assert_eq!(solvers == Solvers::Parts, sites > 1024 * rows * THREADS);
                    assert!(room >= sites && sites.div_ceil(blocks * threads) <= rows);
                    if closes {
                        assert!(sites >= blocks * threads, "{sites} {blocks} {threads}");
                    }
                }
            }
        }
    }
}

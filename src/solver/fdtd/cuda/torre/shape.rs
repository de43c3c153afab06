//! The parameters of a kernel of towers, and its division of x.

use crate::field::Precision;

/// Maximum number of threads of a block where each has a column's diamond in registers: so few that a thread can have the maximum number of registers.
pub(in super::super) const BLOCK: usize = 256;
/// Columns of a block that has its diamonds in shared memory (`COLUMNS` of `kernels/fdtd_torre_shared.cu`).
const COLUMNS: usize = 64;
/// Bytes of a row there, with its ghosts.
const PITCH: usize = (COLUMNS + 8) * 4;

/// Where a block keeps both levels of a diamond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Room {
    /// A thread a column, everything in registers (`kernels/fdtd_torre.cu`).
    Registers,
    /// Shared memory, filled by bulk copies (`kernels/fdtd_torre_shared.cu`): single precision, diamonds that registers do not hold.
    Shared,
}

/// The parameters of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Shape {
    /// Half the order in space.
    pub half: usize,
    /// Size of a diamond.
    pub dts: usize,
    /// Blocks along x.
    pub cluster: usize,
    /// Whether the speed differs from site to site.
    pub sites: bool,
    /// Whether it supports absorbing layers: at order 2, diamonds in shared memory; it takes a speed per site or one for all.
    pub layers: bool,
    /// Where the diamond is.
    pub room: Room,
}

impl Shape {
    /// For a grid of `nx` sites along x.
    pub(super) fn new(precision: Precision, [half, dts, nx]: [usize; 3], sites: bool, layers: bool) -> Self {
        let room = match half * dts {
            6 | 8 if precision == Precision::Single => Room::Shared,
            _ => Room::Registers,
        };
        Self {
            half,
            dts,
            cluster: room.blocks_along_x(nx),
            sites: sites || layers,
            layers,
            room,
        }
    }

    /// Width of a diamond, W.
    pub(super) fn width(self) -> usize {
        2 * self.half * self.dts
    }

    /// Steps after which the code repeats.
    pub(in super::super) fn period(self) -> usize {
        2 * self.dts
    }

    /// Shared memory of a block in bytes: the diamond's centres, twice; or both levels of it and of what its stencils reach, in rings.
    pub(super) fn shared(self, precision: Precision) -> usize {
        match self.room {
            Room::Registers => self.width() * self.width() * (BLOCK + 2 * self.half) * precision.bytes(),
            Room::Shared => {
                let ring = self.width() + 2 * self.half;
                4 * (ring / 2).div_ceil(2) * ring * PITCH
            }
        }
    }

    /// Threads of a block for a grid of nx sites along x.
    pub(super) fn threads(self, nx: usize) -> usize {
        match self.room {
            Room::Registers => nx.div_ceil(self.cluster).next_multiple_of(32),
            Room::Shared => 2 * self.width() * self.width(),
        }
    }

    /// Why it does not support nx sites along x; `None` where it does.
    pub(super) fn objection(self, nx: usize) -> Option<String> {
        let (last, most) = (self.room.last_block(nx, self.cluster), self.room.most_sites());
        if nx > most {
            return Some(format!(
                "towers with dts = {} hold at most {most} sites along x",
                self.dts
            ));
        }
        match self.room {
            Room::Registers if self.layers => Some(format!(
                "towers with dts = {} know no absorbing edges; those with 6 or 8 do, in single precision",
                self.dts
            )),
            Room::Registers if (1..2 * self.half).contains(&(last % 32)) => Some(format!(
                "the last {} of {nx} sites along x fill no end of a warp; a multiple of 32 does",
                last % 32
            )),
            Room::Shared if !nx.is_multiple_of(4) => Some(format!(
                "towers with dts = {} take four sites along x at a time, and {nx} are no multiple of that",
                self.dts
            )),
            _ => None,
        }
    }
}

impl Room {
    /// Columns of a block at most.
    fn columns(self) -> usize {
        match self {
            Self::Registers => BLOCK,
            Self::Shared => COLUMNS,
        }
    }

    /// Blocks along x at most: 8 are the largest portable cluster, 16 the largest that there is.
    fn most_blocks(self) -> usize {
        match self {
            Self::Registers => 8,
            Self::Shared => 16,
        }
    }

    fn most_sites(self) -> usize {
        self.columns() * self.most_blocks()
    }

    /// Sites of each block but the last.
    fn share(self, nx: usize, cluster: usize) -> usize {
        nx.div_ceil(cluster).next_multiple_of(match self {
            Self::Registers => 32,
            Self::Shared => 4,
        })
    }

    /// Sites of the last block.
    fn last_block(self, nx: usize, cluster: usize) -> usize {
        nx.saturating_sub((cluster - 1) * self.share(nx, cluster))
    }

    /// Blocks along x for a grid of nx sites, none of them without sites.
    fn blocks_along_x(self, nx: usize) -> usize {
        let least = nx.div_ceil(self.columns());
        [1, 2, 4, 8, 16]
            .into_iter()
            .find(|count| (least..=self.most_blocks()).contains(count) && self.last_block(nx, *count) >= 8)
            .unwrap_or(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_along_x_all_have_sites() {
        for room in [Room::Registers, Room::Shared] {
            for nx in 8..=room.most_sites() {
                let count = room.blocks_along_x(nx);
                assert!(
                    room.share(nx, count) <= room.columns() && count <= room.most_blocks(),
                    "{nx}: {count}"
                );
                // Where no number of blocks does, [`Shape::objection`] refuses what the last one is too narrow for.
                assert!(
                    room.last_block(nx, count) >= 8 || nx.div_ceil(room.columns()) == count,
                    "{nx}: {count}"
                );
            }
        }
    }

    #[test]
    fn diamonds_in_shared_memory_fit_into_a_block() {
        for (half, dts) in [(1, 6), (1, 8), (2, 3), (2, 4), (3, 2), (4, 2)] {
            let shape = Shape::new(Precision::Single, [half, dts, 512], false, false);
            assert_eq!((shape.room, shape.cluster), (Room::Shared, 8));
            // What one block of an H100 or H200 may have, less a kilobyte that the system keeps.
            assert!(shape.shared(Precision::Single) <= 226 << 10, "{shape:?}");
            assert!(shape.threads(512) <= 512, "{shape:?}");
        }
    }
}

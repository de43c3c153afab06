//! Blocks: many steps a launch where a plane holds more than a speed or something is done at single sites (`kernels/fdtd_blocks.cu`), beside the tiles.

use super::Cuda;
use super::operations::Operations;
use super::params::{self, SiteOperation, unsigned, whole};
use super::sources::{self, Strips};
use super::store::{SEGMENT, numbers};
use crate::backend::cuda::{Buffer, CudaError, Kernel, Stream};
use crate::grid::Edge;
use crate::solver::device::OnCuda;
use crate::solver::device::rows::{grow, list};
use crate::solver::fdtd::lattice::Lattice;
use std::ffi::c_void;
use std::ops::Range;

/// Threads of a block: as many as there are registers for.
const fn threads(half: usize) -> u32 {
    if half > 2 { 1024 } else { 512 }
}

/// Columns of a block's region.
const COLUMNS: usize = 64;
/// For messages on memory.
const OPERATIONS: &str = "sites with sources and detectors";
/// Tiles write whole groups of columns.
const GROUP: usize = 4;

/// How an axis is cut: parts of the same width from either end, so that what lies along an edge, as absorbing layers do, fills them; the last one from the high
/// end may be narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Division {
    sites: usize,
    width: usize,
    /// Parts that are counted from the low end.
    low: usize,
    count: usize,
}

impl Division {
    fn new(sites: usize, width: usize) -> Self {
        let low = sites.div_ceil(2).div_ceil(width);
        let high = sites
            .next_multiple_of(GROUP)
            .saturating_sub(low * width)
            .div_ceil(width);
        Self {
            sites,
            width,
            low,
            count: low + high,
        }
    }

    /// The part of a site.
    fn part(&self, at: usize) -> usize {
        if at < self.low * self.width {
            at / self.width
        } else {
            self.count - 1 - (self.sites.next_multiple_of(GROUP) - 1 - at) / self.width
        }
    }

    /// The sites of a part.
    fn own(&self, part: usize) -> Range<usize> {
        let whole = self.sites.next_multiple_of(GROUP);
        let own = if part < self.low {
            part * self.width..((part + 1) * self.width).min(whole)
        } else {
            let end = whole - (self.count - 1 - part) * self.width;
            end.saturating_sub(self.width).max(self.low * self.width)..end
        };
        own.start..own.end.min(self.sites)
    }

    /// Where in the region of a part, whose own sites have `halo` others on either side up to the edges, a site stands, and whether it is the part's own; a small ring is
    /// seen several times. As `Span` of `kernels/fdtd_blocks.cuh` has it.
    fn positions(&self, part: usize, halo: usize, ring: bool, site: usize) -> Vec<(usize, bool)> {
        let (own, n) = (self.own(part), self.sites);
        let (first, end) = if ring {
            // One turn further on, so that nothing is below 0.
            let turns = halo.next_multiple_of(n);
            (own.start + turns - halo, own.end + turns + halo)
        } else {
            (own.start.saturating_sub(halo), (own.end + halo).min(n))
        };
        let step = if ring { n } else { usize::MAX };
        let nearest = if ring { first + (site + n - first % n) % n } else { site };
        let all = (nearest..end).step_by(step).filter(|at| *at >= first);
        let low = own.start + if ring { halo.next_multiple_of(n) } else { 0 };
        all.map(|at| (at - first, (low..low + own.len()).contains(&at)))
            .collect()
    }

    /// Parts with a site that is at most `reach` away from some of `sites`, around a ring too.
    fn near(&self, sites: Range<usize>, reach: usize, ring: bool) -> Vec<usize> {
        let n = self.sites;
        if ring && sites.len() + 2 * reach >= n {
            return (0..self.count).collect();
        }
        let (first, last) = (sites.start.saturating_sub(reach), (sites.end - 1 + reach).min(n - 1));
        let mut all: Vec<usize> = (self.part(first)..=self.part(last)).collect();
        if ring && sites.start < reach {
            all.extend(self.part(n + sites.start - reach)..self.count);
        }
        if ring && sites.end - 1 + reach >= n {
            all.extend(0..=self.part(sites.end - 1 + reach - n));
        }
        all
    }
}

/// Which blocks there are, and which sites they may not be left to tiles for.
#[derive(Clone, Debug)]
struct Cut {
    axes: [Division; 2],
    rings: [bool; 2],
    /// What a pass reaches.
    halo: usize,
}

impl Cut {
    fn new(lattice: &Lattice, strips: &Strips) -> Self {
        let halo = strips.half * strips.steps;
        let own = [COLUMNS - 2 * halo, strips.rows - 2 * halo];
        Self {
            axes: [0, 1].map(|axis| Division::new(lattice.size[axis], own[axis])),
            rings: [0, 1].map(|axis| lattice.edges[axis] == Edge::Periodic),
            halo,
        }
    }

    fn count(&self) -> usize {
        self.axes[0].count * self.axes[1].count
    }

    /// Marks the blocks that a pass from some sites reaches.
    fn mark(&self, taken: &mut [bool], columns: Range<usize>, row: usize) {
        let across = self.axes[0].near(columns, self.halo, self.rings[0]);
        for along in self.axes[1].near(row..row + 1, self.halo, self.rings[1]) {
            for column in &across {
                taken[along * self.axes[0].count + column] = true;
            }
        }
    }

    /// Where each block's operations begin, one more for the end, and the operations block by block.
    fn operations(&self, done: &Operations, pitch: usize) -> (Vec<u32>, Vec<u32>) {
        let mut all: Vec<(usize, SiteOperation)> = Vec::new();
        for site in done.by_sites() {
            let at = [site.place as usize % pitch, site.place as usize / pitch];
            let seen = [0, 1].map(|axis| {
                let (division, ring) = (&self.axes[axis], self.rings[axis]);
                let mut parts = division.near(at[axis]..at[axis] + 1, self.halo, ring);
                parts.sort_unstable();
                parts.dedup();
                let positions = |part: usize| division.positions(part, self.halo, ring, at[axis]);
                parts
                    .into_iter()
                    .flat_map(|part| positions(part).into_iter().map(move |position| (part, position)))
                    .collect::<Vec<_>>()
            });
            for (row, (y, own_row)) in &seen[1] {
                for (column, (x, own_column)) in &seen[0] {
                    let mut here = site;
                    here.here = whole(y * COLUMNS + x).unsigned_abs();
                    if !(*own_row && *own_column) {
                        here.gathers = [0; 2];
                    }
                    all.push((row * self.axes[0].count + column, here));
                }
            }
        }
        all.sort_by_key(|(block, _)| *block);
        let mut firsts = vec![0; self.count() + 1];
        for (block, _) in &all {
            firsts[block + 1] += 1;
        }
        for block in 0..self.count() {
            firsts[block + 1] += firsts[block];
        }
        (firsts, all.iter().flat_map(|(_, site)| site.words()).collect())
    }

    /// The blocks around segments of rows; none where `special` is empty.
    fn around(&self, special: &[bool], pitch: usize) -> Vec<bool> {
        let (segments, nx) = (pitch / SEGMENT, self.axes[0].sites);
        let columns: Vec<Vec<usize>> = (0..segments)
            .map(|segment| {
                let start = (segment * SEGMENT).min(nx - 1);
                self.axes[0].near(start..(start + SEGMENT).min(nx), self.halo, self.rings[0])
            })
            .collect();
        let mut taken = vec![false; self.count()];
        for (row, special) in special.chunks_exact(segments).enumerate() {
            if !special.contains(&true) {
                continue;
            }
            let rows = self.axes[1].near(row..row + 1, self.halo, self.rings[1]);
            for columns in special
                .iter()
                .zip(&columns)
                .filter_map(|(special, all)| special.then_some(all))
            {
                for along in &rows {
                    for column in columns {
                        taken[along * self.axes[0].count + column] = true;
                    }
                }
            }
        }
        taken
    }

    /// Whether some and whether all of the sites of a rectangle are in blocks that are taken.
    fn covers(&self, taken: &[bool], sites: &[Range<usize>; 2]) -> (bool, bool) {
        let parts = [0, 1].map(|axis| {
            let (axis, sites) = (&self.axes[axis], &sites[axis]);
            axis.part(sites.start)..axis.part(sites.end - 1) + 1
        });
        let (mut some, mut all) = (false, true);
        for along in parts[1].clone() {
            for is_taken in &taken[along * self.axes[0].count..][parts[0].clone()] {
                some |= is_taken;
                all &= is_taken;
            }
        }
        (some, all)
    }
}

/// The kernel, and the buffers of a pass beside the levels.
pub(super) struct Blocks<T: OnCuda> {
    cut: Cut,
    kernel: Kernel,
    threads: u32,
    /// What layers remember after the next pass, an axis each.
    memories: Vec<Memories<T>>,
    /// Blocks that the medium takes, and those of this batch.
    medium: Vec<bool>,
    taken: Vec<bool>,
    flags: Buffer<u8>,
    /// Numbers of a group of columns and of a row, whose sum is that of a block.
    columns: Buffer<u32>,
    rows: Buffer<u32>,
    list: Buffer<u32>,
    count: usize,
    /// Whether all blocks are taken where one is: the device steps those of the plane at once, and tiles would take longer beside them. Not where the scene asks for tiles.
    at_once: bool,
    /// What is done at single sites, block by block, and where each block's begins; nothing is done where `operates` is false.
    operations: Buffer<u32>,
    firsts: Buffer<u32>,
    operates: bool,
}

/// The memory variables of the two layers of an axis: psi below and above sites, then zeta.
pub(super) struct Memories<T: OnCuda> {
    pub psi: Buffer<T>,
    pub zeta: Buffer<T>,
}

impl<T: OnCuda> Blocks<T> {
    pub(super) fn new(run: &Cuda<T>, strips: &Strips) -> Result<Self, CudaError> {
        let (stream, lattice, medium) = (&run.stream, &run.host.sweep.lattice, &run.medium);
        let cut = Cut::new(lattice, strips);
        let memories = medium.more_memories(stream)?;
        let sites = COLUMNS * strips.rows;
        let arrays = 2 + 3 * memories.len() + usize::from(medium.has_density());
        // What stands before the first row; levels, memories and densities; of each row what its layers do, and 8 bytes; a mark of 2 bytes a site.
        let before = strips.half * COLUMNS;
        let shared = (before + sites * arrays + 8 * strips.rows) * size_of::<T>() + 8 * strips.rows + 2 * sites;
        let kernel = stream.kernel(sources::blocks(strips), "blocks", unsigned(shared))?;
        let [nx, ny, _] = lattice.size;
        let across = whole(cut.axes[0].count).unsigned_abs();
        let columns: Vec<u32> = (0..nx)
            .step_by(GROUP)
            .map(|x| whole(cut.axes[0].part(x)).unsigned_abs())
            .collect();
        let rows: Vec<u32> = (0..ny)
            .map(|y| whole(cut.axes[1].part(y)).unsigned_abs() * across)
            .collect();
        let what = "blocks";
        let special = cut.around(medium.special_segments(false), run.pitch);
        Ok(Self {
            kernel,
            threads: threads(strips.half),
            memories,
            taken: Vec::new(),
            flags: stream.zeros(what, cut.count())?,
            columns: list(stream, what, &columns)?,
            rows: list(stream, what, &rows)?,
            list: stream.zeros(what, cut.count())?,
            count: 0,
            at_once: run.choice.variant.is_none() && cut.count() <= stream.device().multiprocessors as usize,
            operations: stream.zeros(OPERATIONS, 1)?,
            firsts: stream.zeros(OPERATIONS, cut.count() + 1)?,
            operates: false,
            medium: special,
            cut,
        })
    }

    /// Sets the operations on single sites of the next batch.
    pub(super) fn mark(&mut self, stream: &Stream, pitch: usize, done: &Operations) -> Result<(), CudaError> {
        let mut taken = self.medium.clone();
        self.operates = false;
        let mut last = None;
        for place in [&done.adds, &done.sets, &done.gathers].into_iter().flatten() {
            let (x, y) = (*place as usize % pitch, *place as usize / pitch);
            self.operates = true;
            if last != Some(*place) {
                self.cut.mark(&mut taken, x..x + 1, y);
            }
            last = Some(*place);
        }
        if self.operates {
            let (firsts, all) = self.cut.operations(done, pitch);
            grow(stream, OPERATIONS, &mut self.operations, all.len())?;
            stream.upload(OPERATIONS, &all, &self.operations)?;
            stream.upload(OPERATIONS, &firsts, &self.firsts)?;
        }
        if self.at_once && taken.contains(&true) {
            taken.fill(true);
        }
        if taken != self.taken {
            let all = numbers(&taken);
            grow(stream, "blocks", &mut self.list, all.len())?;
            stream.upload("blocks", &all, &self.list)?;
            let flags: Vec<u8> = taken.iter().map(|taken| u8::from(*taken)).collect();
            stream.upload("blocks", &flags, &self.flags)?;
            self.count = all.len();
            self.taken = taken;
        }
        Ok(())
    }

    /// Addresses of the flags for sites that tiles must not write: a flag a block, numbers of columns and of rows.
    pub(super) fn flags(&self) -> [u64; 3] {
        [self.flags.address(), self.columns.address(), self.rows.address()]
    }

    /// Whether some and whether all of the sites of a rectangle are stepped in blocks.
    pub(super) fn covers(&self, sites: &[Range<usize>; 2]) -> (bool, bool) {
        self.cut.covers(&self.taken, sites)
    }

    /// Sites that blocks step.
    pub(super) fn sites(&self) -> usize {
        // Asked after every batch.
        if !self.taken.contains(&true) {
            return 0;
        }
        let widths = [0, 1].map(|axis| {
            let axis = &self.cut.axes[axis];
            let mut widths = vec![0; axis.count];
            (0..axis.sites).for_each(|at| widths[axis.part(at)] += 1);
            widths
        });
        let across = self.cut.axes[0].count;
        let taken = (0..self.taken.len()).filter(|block| self.taken[*block]);
        taken
            .map(|block| widths[0][block % across] * widths[1][block / across])
            .sum()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let memories: usize = self.memories.iter().map(|own| own.psi.bytes() + own.zeta.bytes()).sum();
        let lists = [&self.columns, &self.rows, &self.list, &self.firsts, &self.operations];
        memories + self.flags.bytes() + lists.map(Buffer::bytes).iter().sum::<usize>()
    }
}

impl<T: OnCuda> Cuda<T> {
    /// A pass of the blocks that are taken, from the levels to `[newer, older]`; its first step is step `n` of the batch. Returns whether there are any.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn step_blocks(
        &mut self,
        blocks: &mut Blocks<T>,
        levels: [u64; 2],
        n: usize,
    ) -> Result<bool, CudaError> {
        if blocks.count == 0 {
            return Ok(false);
        }
        let [across, along] = blocks.cut.axes;
        let mut parameters = params::Blocks {
            step: self.step_parameters(),
            newer: levels[0],
            older: levels[1],
            kept: self.kept_beside().map_or(0, Buffer::address),
            memories: [[0; 3]; 2],
            sites: self.events.parameters(),
            firsts: blocks.firsts.address(),
            operations: if blocks.operates {
                blocks.operations.address()
            } else {
                0
            },
            list: blocks.list.address(),
            across: whole(across.count),
            count: [across.count, along.count].map(whole),
            low: [across.low, along.low].map(whole),
            step_of_batch: whole(n),
            peaks: i32::from(self.peak.is_some()),
            time_step: T::of(self.host.time_step),
        };
        for (axis, own) in self.medium.layer_axes().zip(&blocks.memories) {
            let psi = own.psi.address();
            parameters.memories[axis] = [psi, psi + (own.psi.bytes() / 2) as u64, own.zeta.address()];
        }
        let count = unsigned(blocks.count);
        debug_assert!(
            blocks.count <= across.count * along.count,
            "{count} blocks of {} × {}",
            across.count,
            along.count
        );
        // SAFETY: the parameters are those of the kernel; the list holds blocks of the grid, levels and medium hold `pitch` × ny numbers, memories what layers have
        // slots for, and the operations hold every step of the batch. It reads its list
        // before it waits, which no launch writes.
        unsafe {
            let pointer = (&raw mut parameters).cast::<c_void>();
            self.stream
                .launch_early(&blocks.kernel, count, blocks.threads, &mut [pointer])?;
        }
        self.medium.swap_memories(&mut blocks.memories);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Precision;
    use crate::grid::Grid;

    #[test]
    fn every_site_belongs_to_one_part() {
        for sites in [1, 3, 20, 48, 49, 95, 96, 97, 250, 2960] {
            for width in [8, 40, 48] {
                let cut = Division::new(sites, width);
                let parts: Vec<usize> = (0..sites).map(|at| cut.part(at)).collect();
                assert!(parts.is_sorted_by(|a, b| *b == *a || *b == *a + 1), "{sites} {width}");
                assert_eq!((parts[0], parts[sites - 1]), (0, cut.count - 1));
                for part in 0..cut.count {
                    let own: Vec<usize> = (0..sites).filter(|at| parts[*at] == part).collect();
                    assert!((1..=width).contains(&own.len()));
                    assert_eq!(own[0] % GROUP, 0, "groups of columns are cut");
                }
            }
        }
    }

    /// A block finds a site where its region has it, as often as it has it, and as its own in one block alone.
    #[test]
    fn blocks_find_sites_in_their_regions() {
        for (sites, width, halo) in [(250, 40, 12), (97, 48, 8), (20, 48, 8), (5, 48, 8), (3, 40, 12)] {
            let cut = Division::new(sites, width);
            for ring in [false, true] {
                for site in 0..sites {
                    let mut own = 0;
                    for part in 0..cut.count {
                        // What the kernel does (`Span`, `in_ring`).
                        let range = cut.own(part);
                        let (start, end) = (whole(range.start) - whole(halo), whole(range.end) + whole(halo));
                        let first = if ring { start } else { start.max(0) };
                        let end = if ring { end } else { end.min(whole(sites)) };
                        let wanted: Vec<(usize, bool)> = (first..end)
                            .filter(|at| at.rem_euclid(whole(sites)) == whole(site))
                            .map(|at| {
                                let own = (whole(range.start)..whole(range.end)).contains(&at);
                                ((at - first).unsigned_abs() as usize, own)
                            })
                            .collect();
                        let found = cut.positions(part, halo, ring, site);
                        assert_eq!(found, wanted, "{sites} {width} {ring} {site} {part}");
                        assert_eq!(cut.near(site..site + 1, halo, ring).contains(&part), !found.is_empty());
                        own += found.iter().filter(|(_, own)| *own).count();
                        assert!(range.clone().all(|at| cut.part(at) == part));
                    }
                    assert_eq!(own, 1, "{sites} {width} {site}");
                }
            }
        }
    }

    /// Whatever lies as near to a site that is more than plain as a pass reaches is in a block that is taken.
    #[test]
    fn what_a_pass_reaches_is_taken() {
        let strips = sources::TILES
            .iter()
            .find(|strips| strips.half == 1 && strips.precision == Precision::Single)
            .unwrap();
        let (size, pitch) = ([1000, 300], 1024);
        for edge in [Edge::Wall, Edge::Periodic] {
            let grid = Grid::new(&size, 1.0).with_edges([edge; 3], 0);
            let cut = Cut::new(&Lattice::new(&grid, 1), strips);
            for (segment, row) in [(11, 150), (0, 0), (31, 299)] {
                let mut special = vec![false; pitch / SEGMENT * size[1]];
                special[row * pitch / SEGMENT + segment] = true;
                let taken = cut.around(&special, pitch);
                let mut free = 0;
                let away = |axis: usize, at: usize, from: usize| {
                    let straight = at.abs_diff(from);
                    if cut.rings[axis] {
                        straight.min(size[axis] - straight)
                    } else {
                        straight
                    }
                };
                for y in 0..size[1] {
                    for x in 0..size[0] {
                        let sites = segment * SEGMENT..((segment + 1) * SEGMENT).min(size[0]);
                        let across = sites.map(|site| away(0, x, site)).min().unwrap();
                        let near = across.max(away(1, y, row)) <= cut.halo;
                        let (_, all) = cut.covers(&taken, &[x..x + 1, y..y + 1]);
                        assert!(all || !near, "{edge:?} {segment} {row}: {x} {y}");
                        free += usize::from(!all);
                    }
                }
                assert!(free > size[0] * size[1] / 2);
            }
            assert!(
                !cut.around(&vec![false; pitch / SEGMENT * size[1]], pitch)
                    .contains(&true)
            );
        }
    }
}

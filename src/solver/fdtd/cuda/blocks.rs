//! Blocks: many steps a launch where a plane holds more than a speed or something is done at single sites (`kernels/fdtd_blocks.cu`), beside the tiles.

use super::Cuda;
use super::operations::Operations;
use super::params::{self, unsigned, whole};
use super::regions::{COLUMNS, Cut, GROUP};
use super::sources::{self, Strips};
use super::store::{Memories, numbers};
use crate::backend::cuda::{Buffer, CudaError, Kernel, Stream};
use crate::grid::Edge;
use crate::solver::device::OnCuda;
use crate::solver::device::rows::{grow, list};
use std::ffi::c_void;
use std::ops::Range;

/// For messages on memory.
const OPERATIONS: &str = "sites with sources and detectors";

/// The kernels, and the buffers of a pass beside the levels.
pub(super) struct Blocks<T: OnCuda> {
    cut: Cut,
    /// For blocks with walls, edges and operations at most, and for all.
    plain: Kernel,
    layered: Kernel,
    threads: u32,
    /// For blocks at one absorbing edge with nothing else but walls and speeds, the threads of those with most rows, and which blocks these are.
    edge: Option<Kernel>,
    edge_threads: u32,
    edges: Vec<Option<Edges>>,
    /// Steps of a batch after which two passes at least have gone by.
    two_passes: usize,
    /// Whether some sites are stepped one by one.
    by_sites: bool,
    /// Blocks that the plain kernel does not know.
    special: Vec<bool>,
    /// Blocks in corners of absorbing layers, which take longest.
    corners: Vec<bool>,
    /// Blocks that hold nothing but walls.
    walled: Vec<bool>,
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
    count: Listed,
    /// Whether all blocks are taken where one is: the device steps those of the plane at once, and tiles would take longer beside them. Not where the scene asks for tiles.
    at_once: bool,
    /// What is done at single sites, block by block, and where each block's begins; nothing is done where `operates` is false.
    operations: Buffer<u32>,
    firsts: Buffer<u32>,
    operates: bool,
}

/// The axis whose absorbing layer a block at one edge holds; the rows of its region lie along the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edges {
    /// Rows of the region are columns of the grid.
    OfX,
    OfY,
}

/// Bit of a block of the list whose region is turned.
const TURNED: u32 = 0x8000_0000;

/// How many blocks of the list each kernel steps, in the order of the list. Those that hold nothing but walls come last: once both pairs of levels are 0 there, nothing changes.
#[derive(Clone, Copy, Debug, Default)]
struct Listed {
    layered: usize,
    edges: usize,
    plain: usize,
    walled: usize,
}

/// The edge of every block that reaches the layers of one axis alone, where its region has no more than `rows` sites across them.
fn at_single_edges(cut: &Cut, reaches_layers: &[Vec<bool>; 2], rows: usize) -> Vec<Option<Edges>> {
    let edge = |block: usize| {
        let (axis, edge) = match [0, 1].map(|axis: usize| reaches_layers[axis][block]) {
            [true, false] => (0, Edges::OfX),
            [false, true] => (1, Edges::OfY),
            _ => return None,
        };
        (cut.region(axis, block) <= rows).then_some(edge)
    };
    (0..cut.count()).map(edge).collect()
}

impl<T: OnCuda> Blocks<T> {
    pub(super) fn new(run: &Cuda<T>, strips: &Strips) -> Result<Self, CudaError> {
        let (stream, lattice, medium) = (&run.stream, &run.host.sweep.lattice, &run.medium);
        let soft = lattice.edges[..2].contains(&Edge::Soft);
        let wide = strips.half > 2;
        let by_sites = medium.has_density() || medium.has_damping() || soft || wide;
        let has_edges = strips.edges && !by_sites;
        let widths = [0, 1].map(|axis| {
            let mut layers = run.host.layers.iter().filter(|layer| layer.shape.axis == axis);
            layers.next().map_or(0, |layer| layer.shape.slots() / 2)
        });
        let cut = Cut::new(lattice, strips, if has_edges { widths } else { [0; 2] });
        let memories = medium.more_memories(stream)?;
        let sites = COLUMNS * strips.rows;
        // What stands before the first row; levels; of each row what its layers do, 8 bytes and which of its sites are walls; a mark of 2 bytes a site.
        let before = strips.half * COLUMNS;
        let shared = (before + 2 * sites + 8 * strips.rows) * size_of::<T>() + 16 * strips.rows + 2 * sites;
        let arrays = if by_sites { 3 * memories.len() } else { 0 } + usize::from(medium.has_density());
        let source = sources::blocks(strips);
        let segments = cut.around(medium.special_segments(false), run.pitch);
        let reaches_layers = [0, 1].map(|of| {
            cut.with_some(|axis, at| {
                let mut layers = run.host.layers.iter().filter(|layer| layer.shape.axis == axis);
                axis == of && layers.any(|layer| layer.shape.slot(at).is_some())
            })
        });
        let at_edges = cut.with_some(|axis, at| {
            let open = lattice.edges[axis] == Edge::Periodic;
            !open && (at == 0 || at + 1 == lattice.size[axis])
        });
        let special = (0..cut.count())
            .map(|block| {
                let single = (wide || medium.has_damping()) && segments[block];
                let layered = reaches_layers.iter().any(|layers| layers[block]);
                medium.has_density() || single || layered || (wide || soft) && at_edges[block]
            })
            .collect();
        let edges = at_single_edges(&cut, &reaches_layers, if has_edges { strips.rows } else { 0 });
        let most_rows = (0..cut.count()).filter_map(|block| {
            let axis = usize::from(edges[block]? == Edges::OfY);
            Some(cut.region(axis, block))
        });
        let edge_warps = most_rows.max().unwrap_or(0).div_ceil(strips.each);
        let longest = sources::TILES
            .iter()
            .map(|tiles| tiles.steps)
            .max()
            .unwrap_or(strips.steps);
        let mask = &run.host.sweep.mask;
        let walled = if mask.is_empty() {
            vec![false; cut.count()]
        } else {
            cut.within(mask)
        };
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
        Ok(Self {
            plain: stream.kernel(source, "blocks", unsigned(shared))?,
            layered: stream.kernel(
                source,
                "layered_blocks",
                unsigned(shared + arrays * sites * size_of::<T>()),
            )?,
            threads: unsigned(strips.rows / strips.each * 32),
            edge: if edge_warps > 0 {
                // Speeds and what is kept lie there too.
                let beside = 2 * sites * size_of::<T>();
                Some(stream.kernel(source, "edge_blocks", unsigned(shared + beside))?)
            } else {
                None
            },
            edge_threads: unsigned(edge_warps * 32),
            edges,
            two_passes: 2 * longest,
            by_sites,
            special,
            corners: (0..cut.count())
                .map(|block| reaches_layers.iter().all(|layers| layers[block]))
                .collect(),
            walled,
            memories,
            taken: Vec::new(),
            flags: stream.zeros(what, cut.count())?,
            columns: list(stream, what, &columns)?,
            rows: list(stream, what, &rows)?,
            list: stream.zeros(what, cut.count())?,
            count: Listed::default(),
            at_once: run.choice.variant.is_none() && cut.count() <= stream.device().multiprocessors as usize,
            operations: stream.zeros(OPERATIONS, 1)?,
            firsts: stream.zeros(OPERATIONS, cut.count() + 1)?,
            operates: false,
            medium: segments,
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
        let (mut walled, mut edges) = (self.walled.clone(), self.edges.clone());
        if self.operates {
            let (firsts, all) = self.cut.operations(done, pitch);
            for ((walled, edges), firsts) in walled.iter_mut().zip(&mut edges).zip(firsts.windows(2)) {
                if firsts[0] != firsts[1] {
                    *walled = false;
                    *edges = None;
                }
            }
            grow(stream, OPERATIONS, &mut self.operations, all.len())?;
            stream.upload(OPERATIONS, &all, &self.operations)?;
            stream.upload(OPERATIONS, &firsts, &self.firsts)?;
        }
        if self.at_once && taken.contains(&true) {
            taken.fill(true);
        }
        if taken != self.taken || self.operates {
            let of = |kind: usize| {
                let is = |block: usize| match (walled[block], edges[block], self.special[block]) {
                    (true, ..) => 3,
                    (false, Some(_), _) => 1,
                    (false, None, true) => 0,
                    (false, None, false) => 2,
                };
                let all = (0..taken.len()).map(|block| taken[block] && is(block) == kind);
                numbers(&all.collect::<Vec<bool>>())
            };
            let [mut layered, mut at_edges, plain, still] = [of(0), of(1), of(2), of(3)];
            for block in &mut at_edges {
                if edges[*block as usize] == Some(Edges::OfX) {
                    *block |= TURNED;
                }
            }
            // Else all would wait for the last of them.
            layered.sort_by_key(|block| !self.corners[*block as usize]);
            self.count = Listed {
                layered: layered.len(),
                edges: at_edges.len(),
                plain: plain.len(),
                walled: still.len(),
            };
            let all = [layered, at_edges, plain, still].concat();
            grow(stream, "blocks", &mut self.list, all.len())?;
            stream.upload("blocks", &all, &self.list)?;
            let flags: Vec<u8> = taken.iter().map(|taken| u8::from(*taken)).collect();
            stream.upload("blocks", &flags, &self.flags)?;
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
        // The first two passes of a batch write all of both pairs of levels.
        let mut count = blocks.count;
        if n >= blocks.two_passes {
            count.walled = 0;
        }
        let edge = blocks.edge.as_ref().unwrap_or(&blocks.plain);
        let launches = [
            (&blocks.layered, blocks.threads, count.layered, blocks.by_sites),
            (edge, blocks.edge_threads, count.edges, false),
            (&blocks.plain, blocks.threads, count.plain + count.walled, false),
        ];
        if launches.iter().all(|launch| launch.2 == 0) {
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
            outer: [across.outer, along.outer].map(whole),
            step_of_batch: whole(n),
            peaks: i32::from(self.peak.is_some()),
            time_step: T::of(self.host.time_step),
            follows: 0,
            by_sites: 0,
        };
        for (axis, own) in self.medium.layer_axes().zip(&blocks.memories) {
            let psi = own.psi.address();
            parameters.memories[axis] = [psi, psi + (own.psi.bytes() / 2) as u64, own.zeta.address()];
        }
        let mut first = 0;
        for (kernel, threads, count, by_sites) in launches {
            if count == 0 {
                continue;
            }
            debug_assert!(
                first + count <= across.count * along.count,
                "{count} blocks from {first} on"
            );
            parameters.list = blocks.list.address() + (first * size_of::<u32>()) as u64;
            parameters.by_sites = i32::from(by_sites);
            // SAFETY: the parameters are those of the kernel; the list holds blocks of the grid, with no more rows at edges than there are threads for; levels and medium hold `pitch` × ny numbers, memories what layers
            // have slots for, and the operations hold every step of the batch. It reads its list and which operations are its own before it waits, which no launch
            // writes. Later launches write other sites than the first one.
            unsafe {
                let pointer = (&raw mut parameters).cast::<c_void>();
                self.stream
                    .launch_early(kernel, unsigned(count), threads, &mut [pointer])?;
            }
            first += count;
            parameters.follows = 1;
        }
        self.medium.swap_memories(&mut blocks.memories);
        Ok(true)
    }
}

//! Tiles that overlap, in two dimensions: many steps of a strip of columns in registers (`kernels/fdtd_tiles.cu`).
//!
//! A pass reads one pair of levels and writes another. Where the medium has more than a speed (walls, absorption, absorbing edges), or an operation acts on
//! single sites, and within reach of a pass around them, blocks write the sites ([`blocks`](super::blocks)) and tiles skip them. Steps that are left over are
//! taken one by one; all give the same bits. The integral of the pressure or its largest size is kept on the way; with both, steps go one by one.

use super::blocks::Blocks;
use super::operations::Operations;
use super::params::{self, unsigned, whole};
use super::sources::{self, Strips};
use super::{Cuda, LEAST_TILED};
use crate::backend::cuda::{Buffer, CudaError, Kernel, Stream};
use crate::grid::Edge;
use crate::solver::device::OnCuda;
use crate::solver::device::rows::{grow, list};
use crate::solver::fdtd::lattice::{Ghost, Lattice, ghost};
use std::ffi::c_void;
use std::ops::Range;

/// Threads of a block.
const THREADS: u32 = 128;
/// Tiles of a block: one a warp.
const WARPS: usize = 4;
/// The share of the grid, stepped in blocks, above which single steps are faster.
const MOST_TAKEN: f64 = 1.0;

/// The share of a large grid, stepped in blocks, above which passes are not the longest there are, if others are not much shorter: as measured at order 4 on an H200.
const MANY_BLOCKS: f64 = 0.05;

/// Steps that a pass takes at least on a small plane: shorter ones take as long there as single steps.
const LEAST_STEPS: usize = 4;

/// How a plane is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// Columns and rows of a tile that are its own.
    own: usize,
    chunk: usize,
    /// What a pass reaches.
    halo: usize,
    /// Tiles along x and y.
    tiles: [usize; 2],
}

impl Cut {
    /// Tiles over nx × ny sites for a device that works on `resident` at a time.
    fn new([nx, ny]: [usize; 2], strips: &Strips, resident: usize) -> Self {
        let halo = strips.half * strips.steps;
        let own = 32 * strips.columns - 2 * halo;
        let across = nx.div_ceil(own);
        // Rows are walked through by as many as the stencil has.
        let together = 2 * strips.half + 1;
        let cost = |parts: &usize| {
            let rounds = (across * parts).div_ceil(resident.max(1));
            rounds * (ny.div_ceil(*parts) + 2 * halo).next_multiple_of(together)
        };
        let parts = (1..=ny).min_by_key(cost).unwrap_or(1);
        let chunk = ny.div_ceil(parts);
        Self {
            own,
            chunk,
            halo,
            tiles: [across, ny.div_ceil(chunk)],
        }
    }

    fn count(&self) -> usize {
        self.tiles[0] * self.tiles[1]
    }

    /// Columns and rows that are a tile's own.
    fn own(&self, tile: usize, [nx, ny]: [usize; 2]) -> [Range<usize>; 2] {
        let (x, y) = (tile % self.tiles[0] * self.own, tile / self.tiles[0] * self.chunk);
        [x..(x + self.own).min(nx), y..(y + self.chunk).min(ny)]
    }

    /// Whether a tile reads images of sites.
    fn reaches_edges(&self, own: &[Range<usize>; 2], size: [usize; 2]) -> bool {
        own.iter()
            .zip(size)
            .any(|(own, n)| own.start < self.halo || own.end + self.halo > n)
    }
}

/// What stands for the sites of an axis, from `margin` below to `margin` above: 4 site + sign + 1.
#[expect(clippy::cast_possible_wrap, reason = "sizes are far below 2^29")]
fn images(lattice: &Lattice, axis: usize, margin: usize) -> Vec<i32> {
    let n = lattice.size[axis];
    (0..n + 2 * margin)
        .map(
            |at| match ghost(lattice.edges[axis], n, at as isize - margin as isize) {
                Ghost::Same(site) => 4 * whole(site) + 2,
                Ghost::Negative(site) => 4 * whole(site),
                Ghost::Zero => 1,
            },
        )
        .collect()
}

/// Passes of one number of steps: the kernels, and what they need beside the levels.
struct Pass<T: OnCuda> {
    strips: &'static Strips,
    cut: Cut,
    margin: usize,
    /// Whether images have signs, or those of a lane's columns do not all stand side by side.
    by_columns: bool,
    whole: Kernel,
    beside: Kernel,
    integrating: Kernel,
    with_peaks: Kernel,
    images: Buffer<i32>,
    blocks: Blocks<T>,
    /// The tiles, and whether none of their sites is in a block that is taken.
    list: Buffer<u32>,
    count: usize,
    all_whole: bool,
}

/// Passes of many steps.
pub(super) struct Tiles<T: OnCuda> {
    size: [usize; 2],
    /// Those of most steps first; shorter ones take what is left before something is summed.
    passes: Vec<Pass<T>>,
    /// The levels that the next pass writes.
    spare: [Buffer<T>; 2],
    marked: Option<Operations>,
}

/// Bit of a tile of the list some of whose sites are in blocks that are taken.
const BESIDE_BLOCKS: u32 = 0x8000_0000;

impl<T: OnCuda> Pass<T> {
    fn new(run: &Cuda<T>, strips: &'static Strips) -> Result<Self, CudaError> {
        let (stream, lattice) = (&run.stream, &run.host.sweep.lattice);
        let whole = stream.kernel(strips.source, "tiles", 0)?;
        let resident = stream.occupancy(&whole, THREADS)? as usize * WARPS * stream.device().multiprocessors as usize;
        let [nx, ny, _] = lattice.size;
        let cut = Cut::new([nx, ny], strips, resident);
        let stencil = 2 * strips.half + 1;
        let margin = cut.halo + 2 * stencil + 2;
        let all: Vec<i32> = [0, 1]
            .into_iter()
            .flat_map(|axis| images(lattice, axis, margin))
            .collect();
        let what = "tiles";
        Ok(Self {
            margin,
            by_columns: nx % strips.columns != 0 || lattice.edges[..2].contains(&Edge::Soft),
            whole,
            beside: stream.kernel(strips.source, "tiles_beside", 0)?,
            integrating: stream.kernel(strips.source, "tiles_integrating", 0)?,
            with_peaks: stream.kernel(strips.source, "tiles_with_peaks", 0)?,
            images: list(stream, what, &all)?,
            blocks: Blocks::new(run, strips)?,
            list: stream.zeros(what, cut.count())?,
            count: 0,
            all_whole: true,
            cut,
            strips,
        })
    }

    /// See [`Tiles::mark`].
    fn mark(
        &mut self,
        stream: &Stream,
        (pitch, size): (usize, [usize; 2]),
        done: &Operations,
    ) -> Result<(), CudaError> {
        self.blocks.mark(stream, pitch, done)?;
        // Those that take longest, at edges and beside blocks, come first: else all would wait for the last of them.
        let (mut all, mut others) = (Vec::with_capacity(self.cut.count()), Vec::new());
        self.all_whole = true;
        for (tile, number) in (0..self.cut.count()).zip(0_u32..) {
            let own = self.cut.own(tile, size);
            match self.blocks.covers(&own) {
                (_, true) => {}
                (true, false) => {
                    all.push(number | BESIDE_BLOCKS);
                    self.all_whole = false;
                }
                (false, false) if self.cut.reaches_edges(&own, size) => all.push(number),
                (false, false) => others.push(number),
            }
        }
        all.append(&mut others);
        grow(stream, "tiles", &mut self.list, all.len())?;
        stream.upload("tiles", &all, &self.list)?;
        self.count = all.len();
        Ok(())
    }
}

impl<T: OnCuda> Tiles<T> {
    /// Passes of all numbers of steps that there are, most first, or why there is none.
    fn new(run: &Cuda<T>, all: &[&'static Strips]) -> Result<Result<Self, String>, CudaError> {
        let (stream, pitch) = (&run.stream, run.pitch);
        let [nx, ny, _] = run.host.sweep.lattice.size;
        let passes: Result<_, _> = all.iter().map(|strips| Pass::new(run, strips)).collect();
        let mut tiles = Self {
            size: [nx, ny],
            passes: passes?,
            spare: [
                stream.zeros("the pressure", pitch * ny)?,
                stream.zeros("the pressure", pitch * ny)?,
            ],
            marked: None,
        };
        tiles.mark(stream, pitch, Operations::default())?;
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = tiles.passes[0].blocks.sites() as f64 / (nx * ny) as f64;
        // Blocks compute the less twice the fewer steps they take; that is worth more than what tiles lose.
        let longest = tiles.passes[0].strips.steps;
        let shorter = tiles
            .passes
            .get(1)
            .is_some_and(|pass| 3 * pass.strips.steps >= 2 * longest);
        if share > MANY_BLOCKS && nx * ny >= LEAST_TILED && shorter && run.choice.tower.is_none() {
            tiles.passes.remove(0);
        }
        if share > MOST_TAKEN {
            return Ok(Err(format!(
                "walls, absorption and absorbing edges leave tiles {:.0} % of the grid, too little",
                100.0 * (1.0 - share)
            )));
        }
        Ok(Ok(tiles))
    }

    /// Steps of the longest pass.
    pub(super) fn steps(&self) -> usize {
        self.passes[0].strips.steps
    }

    /// Steps of the shortest pass.
    pub(super) fn least_steps(&self) -> usize {
        self.passes.last().map_or(usize::MAX, |pass| pass.strips.steps)
    }

    /// Description for the report.
    pub(super) fn describe(&self) -> String {
        let Pass { cut, blocks, .. } = &self.passes[0];
        let blocks = match blocks.sites() {
            0 => String::new(),
            sites => format!(", {sites} sites in blocks"),
        };
        format!(
            "tiles of {} × {} sites, {} steps{blocks}",
            cut.own,
            cut.chunk,
            self.steps()
        )
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let levels = self.spare.iter().map(Buffer::bytes).sum::<usize>();
        let pass = |pass: &Pass<T>| pass.images.bytes() + pass.list.bytes() + pass.blocks.bytes();
        levels + self.passes.iter().map(pass).sum::<usize>()
    }

    /// Sets the operations on single sites of the next batch.
    pub(super) fn mark(&mut self, stream: &Stream, pitch: usize, done: Operations) -> Result<(), CudaError> {
        if self.marked.as_ref() == Some(&done) {
            return Ok(());
        }
        for pass in &mut self.passes {
            pass.mark(stream, (pitch, self.size), &done)?;
        }
        self.marked = Some(done);
        Ok(())
    }
}

/// The tiles for a run's grid and medium.
///
/// # Errors
/// Why there are none, as a text for the user.
pub(super) fn fitting<T: OnCuda>(run: &Cuda<T>) -> Result<Tiles<T>, String> {
    let lattice = &run.host.sweep.lattice;
    if lattice.rank != 2 {
        return Err("tiles lie in two dimensions".to_owned());
    }
    let mut all: Vec<&'static Strips> = sources::TILES
        .iter()
        .filter(|strips| strips.precision == T::PRECISION && strips.half == lattice.half)
        .filter(|strips| strips.speeds == run.medium.has_speeds())
        .collect();
    all.sort_by_key(|strips| std::cmp::Reverse(strips.steps));
    let least = all.last().ok_or("there are no tiles of this order")?.steps;
    let most = run.choice.tower.unwrap_or(usize::MAX);
    all.retain(|strips| strips.steps <= most);
    if run.choice.variant.is_none() && lattice.size[0] * lattice.size[1] < LEAST_TILED {
        all.retain(|strips| strips.steps >= LEAST_STEPS);
    }
    if all.is_empty() {
        let order = 2 * lattice.half;
        return Err(format!(
            "tower = {most}: tiles of order {order} take {least} steps at a time or more"
        ));
    }
    Tiles::new(run, &all).map_err(|error| error.to_string())?
}

impl<T: OnCuda> Cuda<T> {
    /// The per-site array that passes keep beside the levels: the largest pressures or the velocity's potential, not both.
    pub(super) fn kept_beside(&self) -> Option<&Buffer<T>> {
        self.peak.as_ref().or(self.potential.as_ref())
    }

    /// A pass of tiles, if there are as many as `most` steps left; its first step is step `n` of the batch. Returns how many it took.
    pub(super) fn tiled(&mut self, n: usize, most: usize) -> Result<usize, CudaError> {
        let Some(mut tiles) = self.tiles.take() else {
            return Ok(0);
        };
        let taken = self.tiled_by(&mut tiles, n, most);
        self.tiles = Some(tiles);
        taken
    }

    #[allow(unsafe_code, reason = "kernel launches")]
    fn tiled_by(&mut self, tiles: &mut Tiles<T>, n: usize, most: usize) -> Result<usize, CudaError> {
        let fits = |pass: &&mut Pass<T>| pass.strips.steps <= most;
        let Some(pass) = tiles.passes.iter_mut().find(fits) else {
            return Ok(0);
        };
        let steps = pass.strips.steps;
        if self.peak.is_some() && self.potential.is_some() {
            return Ok(0);
        }
        if self.kept_beside().is_some() {
            // A picture under way may read it.
            self.readback.before_any_writing(&self.stream)?;
        }
        for level in &tiles.spare {
            debug_assert!(level.bytes() == self.now.bytes(), "levels of one length");
            self.readback.before_writing(&self.stream, level.address())?;
        }
        let [newer, older] = tiles.spare.each_ref().map(Buffer::address);
        let follows_blocks = self.step_blocks(&mut pass.blocks, [newer, older], n)?;
        let count = pass.count;
        if count > 0 {
            let kernel = match self.kept_beside() {
                Some(_) if self.peak.is_some() => &pass.with_peaks,
                Some(_) => &pass.integrating,
                None if pass.all_whole && !pass.by_columns => &pass.whole,
                None => &pass.beside,
            };
            let [taken, block_columns, block_rows] = pass.blocks.flags();
            let mut parameters = params::Tiles {
                step: self.step_parameters(),
                newer,
                older,
                kept: self.kept_beside().map_or(0, Buffer::address),
                images: pass.images.address(),
                list: pass.list.address(),
                taken,
                block_columns,
                block_rows,
                count: whole(count),
                across: whole(pass.cut.tiles[0]),
                chunk: whole(pass.cut.chunk),
                margin: whole(pass.margin),
                follows_blocks: i32::from(follows_blocks),
                by_columns: i32::from(pass.by_columns),
                time_step: T::of(self.host.time_step),
            };
            let blocks = unsigned(count.div_ceil(WARPS));
            // SAFETY: the parameters are those of the kernel; the list holds tiles of the grid, the images reach as far as tiles do, and every group of columns and
            // every row has the number of its block. Before it waits it reads and writes what the blocks of the same pass neither write nor read.
            unsafe {
                let pointer = (&raw mut parameters).cast::<c_void>();
                self.stream.launch_early(kernel, blocks, THREADS, &mut [pointer])?;
            }
        }
        let [newer, older] = &mut tiles.spare;
        std::mem::swap(&mut self.now, newer);
        std::mem::swap(&mut self.old, older);
        Ok(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Precision;

    #[test]
    fn every_site_belongs_to_one_tile() {
        for precision in [Precision::Single, Precision::Double] {
            let all = sources::TILES.iter().filter(|strips| strips.precision == precision);
            assert!((1..=4).all(|half| all.clone().any(|strips| strips.half == half)));
            for strips in all {
                assert_eq!(strips.steps % 2, 0, "levels would change places");
                assert_eq!(strips.half * strips.steps % strips.columns, 0);
                for size in [[1, 1], [52, 38], [700, 3], [4096, 4096], [113, 20_000]] {
                    let cut = Cut::new(size, strips, 132 * 12);
                    assert!(cut.tiles[0] * cut.own >= size[0] && (cut.tiles[0] - 1) * cut.own < size[0]);
                    assert!(cut.tiles[1] * cut.chunk >= size[1] && (cut.tiles[1] - 1) * cut.chunk < size[1]);
                }
            }
        }
    }
}

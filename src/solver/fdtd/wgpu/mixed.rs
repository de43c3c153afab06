//! Several steps of tiles with anything in them (`kernels/fdtd_tiles.wgsl`): all tiles, or those that tiles in registers cannot be.

use super::Wgpu;
use super::medium::{Medium, Params, SOURCE};
use super::tiles::Cut;
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError, expanded};
use crate::solver::adapter::{blocks_of, whole};
use bytemuck::{Pod, Zeroable};

/// What is written out: the step of a site, and how tiles take it.
const TILES: &str = include_str!("../../../../kernels/fdtd_tiles.wgsl");
/// Constants, both levels, where they are written, the medium, layers, operations on single sites and where records go.
const BINDINGS: [Binding; 10] = [
    Binding::Uniform,
    Binding::Read,
    Binding::Read,
    Binding::Write,
    Binding::Write,
    Binding::Read,
    Binding::Write,
    Binding::Table(super::tiles::MOST as u64),
    Binding::Read,
    Binding::Write,
];

/// `Params` of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct TileParams {
    site: Params,
    first: [i32; 2],
    end: [i32; 2],
    tiles: [i32; 2],
    halo: [i32; 2],
    steps: i32,
    to: i32,
    begins: [i32; 3],
    unused: [i32; 3],
}

/// The medium in one array: speeds, densities, absorption and marks one after the other, as far as it has them.
pub(super) struct Planes {
    words: Buffer,
    /// Where densities, absorption and marks begin.
    begins: [i32; 3],
}

impl Planes {
    /// The array of these; `alone` are the same each in an array of its own. `None` where it is too large for the adapter.
    pub(super) fn new(
        stream: &Stream,
        numbers: [&[f32]; 3],
        marks: &[u32],
        alone: &[Buffer; 4],
    ) -> Result<Option<Self>, WgpuError> {
        let [squares, density, damping] = numbers.map(<[f32]>::len);
        let begins = [squares, squares + density, squares + density + damping];
        let total = begins[2] + marks.len();
        if (total * size_of::<u32>()) as u64 > stream.device().largest_buffer() {
            return Ok(None);
        }
        let places = [squares, density, marks.len(), damping];
        let words = match places.iter().position(|count| *count == total) {
            Some(place) => alone[place].clone(),
            None => {
                let bits = numbers.concat().into_iter().map(f32::to_bits);
                let all: Vec<u32> = bits.chain(marks.iter().copied()).collect();
                stream.list("the medium of tiles", &all)?
            }
        };
        Ok(Some(Self {
            words,
            begins: begins.map(whole),
        }))
    }

    /// The array.
    pub(super) fn words(&self) -> &Buffer {
        &self.words
    }
}

/// A launch of some steps.
struct Launch {
    /// Constants where the first pair of levels is read, and the second.
    params: [Buffer; 2],
    /// What the kernel is given for each pair, and each level of it that may be the newer one; none after an array was replaced.
    binds: [[Option<Bind>; 2]; 2],
    blocks: [usize; 3],
}

/// The kernel, and launches of it.
pub(super) struct Mixed {
    kernel: Kernel,
    /// Of each number of steps from one on; none where there is nothing to do.
    launches: Vec<Option<Launch>>,
    /// Lists and records of operations that are bound.
    bound: [Buffer; 2],
}

impl Mixed {
    /// The kernel for a medium and rows of a thread in registers, which say the size of tiles; of each number of steps from one on, how the grid is cut.
    pub(super) fn new(
        stream: &Stream,
        medium: &Medium,
        planes: &Planes,
        rows: usize,
        cuts: &[Cut],
    ) -> Result<Self, WgpuError> {
        let source = format!("{SOURCE}{TILES}");
        let written = [("TILES", 1), ("OPERATES", 0), ("ROWS", i64::from(whole(rows)))];
        let name = format!("fdtd_tiles of {rows} rows");
        let kernel = (stream.device()).kernel(
            (&name, &expanded(&source, &written)),
            "steps",
            &BINDINGS,
            medium.constants(),
        )?;
        let launch = |(n, cut): (usize, &Cut)| -> Result<Option<Launch>, WgpuError> {
            let count = cut.others();
            if count == 0 {
                return Ok(None);
            }
            let params = |pair: usize| {
                let [xs, ys] = &cut.plain;
                let params = TileParams {
                    site: medium.params(pair),
                    first: [xs.start, ys.start].map(whole),
                    end: [xs.end, ys.end].map(whole),
                    tiles: cut.tiles.map(whole),
                    halo: cut.halo.map(whole),
                    steps: whole(n + 1),
                    to: medium.params(1 - pair).memories,
                    begins: planes.begins,
                    unused: [0; 3],
                };
                stream.list("constants of the steps", &[params])
            };
            Ok(Some(Launch {
                params: [params(0)?, params(1)?],
                binds: Default::default(),
                blocks: blocks_of(stream.device(), count),
            }))
        };
        Ok(Self {
            kernel,
            launches: cuts.iter().enumerate().map(launch).collect::<Result<_, WgpuError>>()?,
            bound: [
                stream.zeros::<u32>("operations on sites", 1)?,
                stream.zeros::<f32>("records", 1)?,
            ],
        })
    }

    /// Queues a launch of `steps` steps, with the operations of the batch from its step `n` on, from the pair of levels `pair` with `newer` as pⁿ into the other.
    pub(super) fn launch(
        &mut self,
        run: &Wgpu,
        [pair, newer]: [usize; 2],
        n: usize,
        steps: usize,
    ) -> Result<(), WgpuError> {
        let arrays = [&run.operations.lists, &run.operations.record];
        if !arrays.iter().zip(&self.bound).all(|(array, bound)| array.is(bound)) {
            self.bound = arrays.map(Buffer::clone);
            for launch in self.launches.iter_mut().flatten() {
                launch.binds = Default::default();
            }
        }
        let (Some(Some(launch)), Some(planes)) = (self.launches.get_mut(steps - 1), run.medium.mixed()) else {
            return Ok(());
        };
        let bind = launch.binds[pair][newer].get_or_insert_with(|| {
            let (from, [now_out, old_out]) = (&run.pairs[pair], &run.pairs[1 - pair]);
            let buffers = [
                &launch.params[pair],
                &from[newer],
                &from[1 - newer],
                now_out,
                old_out,
                planes.words(),
                run.medium.layers().array(),
                &run.operations.moments,
                arrays[0],
                arrays[1],
            ];
            let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
            run.stream.device().bind(&self.kernel, &pairs)
        });
        run.stream.launch(&self.kernel, bind, Some(n), launch.blocks)
    }
}

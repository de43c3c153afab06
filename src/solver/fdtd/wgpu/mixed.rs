//! Several steps of tiles with anything in them (`kernels/fdtd_tiles.wgsl`): all tiles, or those that tiles in registers cannot be.

use super::medium::{Medium, Params, SOURCE};
use super::pass::{Cut, MOST, Pass};
use super::planes::Planes;
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError, expanded};
use crate::solver::adapter::{blocks_of, whole};
use bytemuck::{Pod, Zeroable};

/// What is written out: the step of a site, and how tiles take it.
const TILES: &str = concat!(
    include_str!("../../../../kernels/moment.wgsl"),
    include_str!("../../../../kernels/fdtd_tiles.wgsl"),
);
/// Constants, both levels, where they are written, the medium, layers, operations on single sites and where records go.
const BINDINGS: [Binding; 10] = [
    Binding::Uniform,
    Binding::Read,
    Binding::Read,
    Binding::Write,
    Binding::Write,
    Binding::Read,
    Binding::Write,
    Binding::Table(MOST as u64),
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

    /// Queues a launch of a pass.
    pub(super) fn launch(&mut self, pass: &Pass) -> Result<(), WgpuError> {
        let operations = pass.operations;
        let arrays = [&operations.lists, &operations.record];
        if !arrays.iter().zip(&self.bound).all(|(array, bound)| array.is(bound)) {
            self.bound = arrays.map(Buffer::clone);
            for launch in self.launches.iter_mut().flatten() {
                launch.binds = Default::default();
            }
        }
        let (Some(Some(launch)), Some(planes)) = (self.launches.get_mut(pass.steps - 1), pass.medium.mixed()) else {
            return Ok(());
        };
        let bind = launch.binds[pass.pair][pass.newer].get_or_insert_with(|| {
            let [now, old, now_out, old_out] = pass.levels();
            let buffers = [
                &launch.params[pass.pair],
                now,
                old,
                now_out,
                old_out,
                planes.words(),
                pass.medium.layers().array(),
                &operations.moments,
                arrays[0],
                arrays[1],
            ];
            let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
            pass.stream.device().bind(&self.kernel, &pairs)
        });
        (pass.stream).launch(&self.kernel, bind, Some(pass.first), launch.blocks)
    }
}

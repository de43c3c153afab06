//! The medium on the adapter, and the kernel that steps in it.

use super::super::lattice::Lattice;
use super::super::run::Fdtd;
use super::super::stencil::{COEFFICIENTS, FLUX};
use super::march::{self, Core};
use crate::backend::wgpu::Binding::{Read, Uniform, Write};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError, expanded};
use crate::grid::Edge;
use crate::solver::adapter::{blocks, whole};
use bytemuck::{Pod, Zeroable};

/// The text of the kernel, with or without operations on single sites.
pub(super) const SOURCE: &str = concat!(
    include_str!("../../../../kernels/fdtd.wgsl"),
    include_str!("../../../../kernels/fdtd_sites.wgsl"),
    include_str!("../../../../kernels/fdtd_step.wgsl"),
);
/// Its arguments in both cases: constants, both levels, speeds, densities, walls, absorption, layers.
pub(super) const STEP: [Binding; 8] = [Uniform, Read, Write, Read, Read, Read, Read, Write];
/// With a list of sites.
const BINDINGS: [Binding; 9] = {
    let [a, b, c, d, e, f, g, h] = STEP;
    [a, b, c, d, e, f, g, h, Read]
};
/// Threads of a block that works off a list of sites.
const LISTED: usize = 256;
/// Constants that say what every site has.
const SITES: usize = 5;
/// Marks of a word, two bits each, and their bits.
const PACKED: usize = 16;
const WALL: u8 = 1;
const BESIDE: u8 = 2;

/// `Params` of `kernels/fdtd_step.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
struct Params {
    size: [i32; 3],
    square: f32,
    ends: [i32; 3],
    rows_y: i32,
    bases: [i32; 3],
    unused: i32,
    edges: [i32; 3],
    listed: i32,
    coefficients: [f32; 4],
    fluxes: [f32; 4],
    widths: [i32; 3],
    unused_too: i32,
}

/// Where the memories of an axis' layers lie in the one array of all.
struct Memories {
    psi: usize,
    zeta: usize,
}

/// A launch of a step.
struct Launch {
    kernel: Kernel,
    /// Of each pair of levels: with its first as pⁿ, and with its second.
    binds: Vec<[Bind; 2]>,
    blocks: [usize; 3],
}

/// The medium, and the kernels for it.
pub(super) struct Medium {
    /// Of all sites, or of the core and of what is around it.
    launches: Vec<Launch>,
    /// What kernels are told of the medium that take a thread a site; the last two are for steps alone.
    constants: Vec<(&'static str, f64)>,
    planes: [Buffer; 5],
    /// Sites around the core.
    list: Buffer,
    /// Whether tiles do all that there is: speeds, and walls at order 2.
    plain: bool,
    /// (cΔt/a)² of each site, less than 0 in walls, where there are walls and tiles.
    walled: Option<Buffer>,
    square: f32,
    layers: Buffer,
    memories: Vec<Memories>,
}

/// Rows of a level without what lies around them on the host.
pub(super) fn packed(lattice: &Lattice, all: &[f32]) -> Vec<f32> {
    (0..lattice.rows())
        .flat_map(|row| lattice.row(all, row).iter().copied())
        .collect()
}

/// The inverse; what lies around follows from the edges.
pub(super) fn unpacked(lattice: &Lattice, from: &[f32], to: &mut [f32]) {
    let nx = lattice.size[0];
    for (row, from) in from.chunks_exact(nx).enumerate() {
        to[lattice.sites(row)].copy_from_slice(from);
    }
    lattice.fill_all_ghosts(to, true);
}

/// Walls, and where the stencil reaches one, of so many sites.
pub(super) fn marks(host: &Fdtd<f32>, sites: usize) -> Vec<u8> {
    let mask = &host.sweep.mask;
    let nx = host.sweep.lattice.size[0];
    let mut marks: Vec<u8> = mask.iter().map(|wall| if *wall { WALL } else { 0 }).collect();
    marks.resize(sites, 0);
    if !mask.is_empty() {
        for row in 0..host.sweep.lattice.rows() {
            for x in host.sweep.walls.beside(row) {
                marks[row * nx + x] |= BESIDE;
            }
        }
    }
    marks
}

/// The same, two bits a site; none where there are no walls.
fn packed_marks(host: &Fdtd<f32>) -> Vec<u32> {
    let mut words = vec![0; host.sweep.mask.len().div_ceil(PACKED)];
    for (site, mark) in marks(host, host.sweep.mask.len()).into_iter().enumerate() {
        words[site / PACKED] |= u32::from(mark) << (2 * (site % PACKED));
    }
    words
}

/// γΔt of each site; none where nothing absorbs.
fn damping(host: &Fdtd<f32>) -> Vec<f32> {
    let (lattice, material) = (&host.sweep.lattice, &host.sweep.material);
    let rows = || (0..lattice.rows()).map(|row| material.damping(lattice, row));
    if rows().all(|row| row.is_none()) {
        return Vec::new();
    }
    let values = |row: Option<&[f32]>| row.map_or_else(|| vec![0.0; lattice.size[0]], <[f32]>::to_vec);
    rows().flat_map(values).collect()
}

/// Factors and memories of all absorbing layers, and where the latter lie; says to the kernel where each axis' begin.
fn layers(host: &Fdtd<f32>, params: &mut Params) -> (Vec<f32>, Vec<Memories>) {
    let (mut all, mut memories) = (Vec::new(), Vec::new());
    for layer in &host.layers {
        let axis = layer.shape.axis;
        (params.ends[axis], params.bases[axis]) = (whole(layer.shape.slots() / 2), whole(all.len()));
        params.widths[axis] = whole(layer.shape.width());
        all.extend(layer.shape.factors().concat());
        let psi = all.len();
        all.extend_from_slice(&layer.psi);
        let zeta = all.len();
        all.extend_from_slice(&layer.zeta);
        memories.push(Memories { psi, zeta });
    }
    (all, memories)
}

/// (cΔt/a)² of each site, less than 0 in walls.
fn walled(host: &Fdtd<f32>, squares: &[f32]) -> Vec<f32> {
    let one = host.sweep.material.square;
    (host.sweep.mask.iter().enumerate())
        .map(|(site, wall)| {
            if *wall {
                -1.0
            } else {
                *squares.get(site).unwrap_or(&one)
            }
        })
        .collect()
}

/// The number of an edge in kernels; absorbing ones are closed by rigid ones.
pub(super) fn edge_number(edge: Edge) -> i32 {
    match edge {
        Edge::Wall | Edge::Absorb => 0,
        Edge::Soft => 1,
        Edge::Periodic => 2,
    }
}

impl Medium {
    /// The medium that `host` has read, with the memory variables of its layers. `steps`: whether it takes steps itself.
    pub(super) fn new(
        stream: &Stream,
        host: &Fdtd<f32>,
        pairs: &[[Buffer; 2]],
        steps: bool,
    ) -> Result<Self, WgpuError> {
        let (lattice, material) = (&host.sweep.lattice, &host.sweep.material);
        let rows = lattice.rows();
        let damping = damping(host);
        let damped = !damping.is_empty();
        let plane = |all: &[f32]| {
            if all.is_empty() {
                Vec::new()
            } else {
                packed(lattice, all)
            }
        };
        let squares = plane(&material.squares);
        let density = plane(&material.density);
        let marks = packed_marks(host);
        let half = lattice.half;
        let blocks = blocks(stream.device(), [lattice.size[0], rows]);
        let mut params = Params {
            size: lattice.size.map(whole),
            square: material.square,
            rows_y: whole(blocks[1]),
            edges: lattice.edges.map(edge_number),
            coefficients: single(&COEFFICIENTS[half][1..]),
            fluxes: single(&FLUX[half]),
            ..Params::default()
        };
        let (all, memories) = layers(host, &mut params);
        let has = |there: bool| f64::from(u8::from(there));
        #[expect(clippy::cast_precision_loss, reason = "1 to 4")]
        let sites: [_; SITES] = [
            ("HALF", half as f64),
            ("RANK", lattice.rank as f64),
            ("SQUARES", has(!squares.is_empty())),
            ("DENSITY", has(!density.is_empty())),
            ("MARKS", has(!marks.is_empty())),
        ];
        let beside = [("DAMPING", has(damped)), ("LAYERS", has(!all.is_empty()))];
        let constants = [&sites[..], &beside].concat();
        let core = Core::of(host).filter(|_| steps);
        let list = core.as_ref().map_or_else(Vec::new, |core| {
            core.others(lattice.size, |row| host.sweep.walls.beside(row).iter().copied())
        });
        params.listed = whole(list.len());
        let planes = [
            stream.list("constants of the step", &[params])?,
            stream.list("the sound speed", &squares)?,
            stream.list("the density", &density)?,
            stream.list("walls", &marks)?,
            stream.list("the absorption", &damping)?,
        ];
        let plain = density.is_empty() && (marks.is_empty() || half == 1) && all.is_empty() && !damped;
        let walled = (plain && !marks.is_empty() && pairs.len() > 1)
            .then(|| stream.list("the sound speed", &walled(host, &squares)))
            .transpose()?;
        let mut medium = Self {
            launches: Vec::new(),
            constants: constants.clone(),
            planes,
            list: stream.list("sites around the core", &list)?,
            plain,
            walled,
            square: material.square,
            layers: stream.list("the absorbing layers", &all)?,
            memories,
        };
        if !steps {
            return Ok(medium);
        }
        let source = ("fdtd_step", &*expanded(SOURCE, &[("OPERATES", 0)]));
        if let Some(core) = core {
            medium.march(stream, host, pairs, &core)?;
            let blocks = list.len().div_ceil(LISTED);
            let most = stream.device().most_blocks() as usize;
            let blocks = [blocks.min(most), blocks.div_ceil(most), 1];
            let kernel = stream.device().kernel(source, "step_listed", &BINDINGS, &constants)?;
            medium.add(stream, kernel, pairs, blocks);
        } else {
            let kernel = stream.device().kernel(source, "step", &BINDINGS, &constants)?;
            medium.add(stream, kernel, pairs, blocks);
        }
        Ok(medium)
    }

    /// Adds a launch of the kernel that does everything.
    fn add(&mut self, stream: &Stream, kernel: Kernel, pairs: &[[Buffer; 2]], blocks: [usize; 3]) {
        let bind = |pair: &[Buffer; 2], newer: usize| {
            let [params, medium @ ..] = &self.planes;
            let levels = [params, &pair[newer], &pair[1 - newer]];
            let buffers = levels.into_iter().chain(medium).chain([&self.layers, &self.list]);
            let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
            stream.device().bind(&kernel, &pairs)
        };
        let binds = pairs.iter().map(|pair| [bind(pair, 0), bind(pair, 1)]).collect();
        self.launches.push(Launch { kernel, binds, blocks });
    }

    /// Adds the launch of the core's kernel.
    fn march(
        &mut self,
        stream: &Stream,
        host: &Fdtd<f32>,
        pairs: &[[Buffer; 2]],
        core: &Core,
    ) -> Result<(), WgpuError> {
        let lattice = &host.sweep.lattice;
        let has = i64::from;
        let written = [
            ("HALF", i64::from(whole(lattice.half))),
            ("DEEP", has(lattice.rank == 3)),
            ("SQUARES", has(!host.sweep.material.squares.is_empty())),
            ("MARKS", has(!host.sweep.mask.is_empty())),
        ];
        let name = format!("fdtd_march {written:?}");
        let source = expanded(march::SOURCE, &written);
        let kernel = (stream.device()).kernel((&name, &source), "march", &march::BINDINGS, &[])?;
        let (params, blocks) = core.launch(host);
        let params = stream.list("constants of the step", &[params])?;
        let [_, squares, _, marks, _] = &self.planes;
        let bind = |pair: &[Buffer; 2], newer: usize| {
            let buffers = [&params, &pair[newer], &pair[1 - newer], squares, marks];
            let pairs: Vec<(Binding, &Buffer)> = march::BINDINGS.into_iter().zip(buffers).collect();
            stream.device().bind(&kernel, &pairs)
        };
        let binds = pairs.iter().map(|pair| [bind(pair, 0), bind(pair, 1)]).collect();
        self.launches.push(Launch { kernel, binds, blocks });
        Ok(())
    }

    /// Queues a step; `newer`: which level of the pair is pⁿ.
    pub(super) fn step(&self, stream: &Stream, [pair, newer]: [usize; 2]) -> Result<(), WgpuError> {
        (self.launches.iter())
            .try_for_each(|launch| stream.launch(&launch.kernel, &launch.binds[pair][newer], None, launch.blocks))
    }

    /// A description of how steps are taken.
    pub(super) fn how(&self) -> &'static str {
        if self.launches.len() > 1 {
            "4 sites a thread in the core, one around it"
        } else {
            "one thread a site"
        }
    }

    /// Constants of kernels that step a site a thread.
    pub(super) fn constants(&self) -> &[(&'static str, f64)] {
        &self.constants
    }

    /// Those of kernels that read a field.
    pub(super) fn sites(&self) -> &[(&'static str, f64)] {
        &self.constants[..SITES]
    }

    /// Factors and memories of absorbing layers.
    pub(super) fn layers(&self) -> &Buffer {
        &self.layers
    }

    /// Constants, speeds, densities, walls, absorption.
    pub(super) fn planes(&self) -> &[Buffer; 5] {
        &self.planes
    }

    /// Whether tiles suffice.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    /// (cΔt/a)²: of each site where there is an array with a value a site, with walls in it, and of all others.
    pub(super) fn squares_for_tiles(&self) -> (&Buffer, f32) {
        (self.walled.as_ref().unwrap_or(&self.planes[1]), self.square)
    }

    /// Copies the memory variables of absorbing layers to the host.
    pub(super) fn pull_layers(&self, stream: &Stream, host: &mut Fdtd<f32>) -> Result<(), WgpuError> {
        for (layer, at) in host.layers.iter_mut().zip(&self.memories) {
            stream.download("the absorbing layers", &self.layers, at.psi, &mut layer.psi)?;
            stream.download("the absorbing layers", &self.layers, at.zeta, &mut layer.zeta)?;
        }
        Ok(())
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        let planes = self.planes.iter().chain(&self.walled);
        let rest = [&self.layers, &self.list];
        planes.chain(rest).map(Buffer::bytes).sum::<u64>()
    }
}

pub(super) fn single(values: &[f64]) -> [f32; 4] {
    let mut all = [0.0; 4];
    for (all, value) in all.iter_mut().zip(values) {
        #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
        let rounded = *value as f32;
        *all = rounded;
    }
    all
}

//! The medium on the adapter, and the kernel that steps in it.

use super::super::lattice::Lattice;
use super::super::run::Fdtd;
use super::super::stencil::{COEFFICIENTS, FLUX};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError};
use crate::grid::Edge;
use crate::solver::adapter::{blocks, whole};
use bytemuck::{Pod, Zeroable};

/// The text of the kernel.
const SOURCE: (&str, &str) = (
    "fdtd_step",
    concat!(
        include_str!("../../../../kernels/fdtd.wgsl"),
        include_str!("../../../../kernels/fdtd_step.wgsl"),
    ),
);
/// What it is given.
const BINDINGS: [Binding; 8] = [
    Binding::Uniform,
    Binding::Read,
    Binding::Write,
    Binding::Read,
    Binding::Read,
    Binding::Read,
    Binding::Read,
    Binding::Write,
];
/// Marks of a word, two bits each, and their bits.
const PACKED: usize = 16;
const WALL: u32 = 1;
const BESIDE: u32 = 2;

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
    unused_too: i32,
    coefficients: [f32; 4],
    fluxes: [f32; 4],
}

/// Where the memories of an axis' layers lie in the one array of all.
struct Memories {
    psi: usize,
    zeta: usize,
}

/// The medium, and the kernel for it.
pub(super) struct Medium {
    kernel: Kernel,
    /// Of each pair of levels: with its first as pⁿ, and with its second.
    binds: Vec<[Bind; 2]>,
    blocks: [usize; 3],
    planes: [Buffer; 5],
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

/// The other way round; what lies around follows from the edges.
pub(super) fn unpacked(lattice: &Lattice, from: &[f32], to: &mut [f32]) {
    let nx = lattice.size[0];
    for (row, from) in from.chunks_exact(nx).enumerate() {
        to[lattice.sites(row)].copy_from_slice(from);
    }
    lattice.fill_all_ghosts(to, true);
}

/// Walls, and where the stencil reaches one, two bits a site; none where there are no walls.
fn marks(host: &Fdtd<f32>) -> Vec<u32> {
    let mask = &host.sweep.mask;
    let nx = host.sweep.lattice.size[0];
    let mut marks = vec![0; mask.len().div_ceil(PACKED)];
    let mut set = |site: usize, bits: u32| marks[site / PACKED] |= bits << (2 * (site % PACKED));
    for (site, _) in mask.iter().enumerate().filter(|(_, wall)| **wall) {
        set(site, WALL);
    }
    if !mask.is_empty() {
        for row in 0..host.sweep.lattice.rows() {
            for x in host.sweep.walls.beside(row) {
                set(row * nx + x, BESIDE);
            }
        }
    }
    marks
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

/// What kernels call an edge; absorbing ones are closed by rigid ones.
pub(super) fn edge_number(edge: Edge) -> i32 {
    match edge {
        Edge::Wall | Edge::Absorb => 0,
        Edge::Soft => 1,
        Edge::Periodic => 2,
    }
}

impl Medium {
    /// The medium that `host` has read, with what its layers remember.
    pub(super) fn new(stream: &Stream, host: &Fdtd<f32>, pairs: &[[Buffer; 2]]) -> Result<Self, WgpuError> {
        let (lattice, material) = (&host.sweep.lattice, &host.sweep.material);
        let rows = lattice.rows();
        let damped = (0..rows).any(|row| material.damping(lattice, row).is_some());
        let damping: Vec<f32> = (0..rows)
            .filter(|_| damped)
            .flat_map(|row| match material.damping(lattice, row) {
                Some(values) => values.to_vec(),
                None => vec![0.0; lattice.size[0]],
            })
            .collect();
        let plane = |all: &[f32]| {
            if all.is_empty() {
                Vec::new()
            } else {
                packed(lattice, all)
            }
        };
        let squares = plane(&material.squares);
        let density = plane(&material.density);
        let marks = marks(host);
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
        let (mut all, mut memories) = (Vec::new(), Vec::new());
        for layer in &host.layers {
            let axis = layer.shape.axis;
            (params.ends[axis], params.bases[axis]) = (whole(layer.shape.slots() / 2), whole(all.len()));
            all.extend(layer.shape.factors().concat());
            let psi = all.len();
            all.extend_from_slice(&layer.psi);
            let zeta = all.len();
            all.extend_from_slice(&layer.zeta);
            memories.push(Memories { psi, zeta });
        }
        let has = |there: bool| f64::from(u8::from(there));
        #[expect(clippy::cast_precision_loss, reason = "1 to 4")]
        let constants = [
            ("HALF", half as f64),
            ("RANK", lattice.rank as f64),
            ("SQUARES", has(!squares.is_empty())),
            ("DENSITY", has(!density.is_empty())),
            ("DAMPING", has(damped)),
            ("MARKS", has(!marks.is_empty())),
            ("LAYERS", has(!all.is_empty())),
        ];
        let kernel = stream.device().kernel(SOURCE, "step", &BINDINGS, &constants)?;
        let planes = [
            stream.list("constants of the step", &[params])?,
            stream.list("the sound speed", &squares)?,
            stream.list("the density", &density)?,
            stream.list("the absorption", &damping)?,
            stream.list("walls", &marks)?,
        ];
        let layers = stream.list("the absorbing layers", &all)?;
        let plain = density.is_empty() && (marks.is_empty() || half == 1) && all.is_empty() && !damped;
        let walled = (plain && !marks.is_empty() && pairs.len() > 1)
            .then(|| stream.list("the sound speed", &walled(host, &squares)))
            .transpose()?;
        let bind = |pair: &[Buffer; 2], newer: usize| {
            let [params, medium @ ..] = &planes;
            let buffers = [params, &pair[newer], &pair[1 - newer]];
            let buffers: Vec<&Buffer> = buffers.into_iter().chain(medium).chain([&layers]).collect();
            let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
            stream.device().bind(&kernel, &pairs)
        };
        let binds = pairs.iter().map(|pair| [bind(pair, 0), bind(pair, 1)]).collect();
        Ok(Self {
            kernel,
            binds,
            blocks,
            planes,
            plain,
            walled,
            square: material.square,
            layers,
            memories,
        })
    }

    /// Puts a step in; `newer`: which level of the pair is pⁿ.
    pub(super) fn step(&self, stream: &Stream, pair: usize, newer: usize) -> Result<(), WgpuError> {
        stream.launch(&self.kernel, &self.binds[pair][newer], None, self.blocks)
    }

    /// Whether tiles do all that there is.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    /// (cΔt/a)²: of each site where there is an array with a value a site, with walls in it, and of all others.
    pub(super) fn squares_for_tiles(&self) -> (&Buffer, f32) {
        (self.walled.as_ref().unwrap_or(&self.planes[1]), self.square)
    }

    /// What the absorbing layers remember, back to the host.
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
        planes.map(Buffer::bytes).sum::<u64>() + self.layers.bytes()
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

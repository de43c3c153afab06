//! One step over the whole grid, in place over the older level.

use super::cpml::Layer;
use super::lattice::{Ghost, Lattice};
use super::material::Material;
use super::stencil::{DensityKernel, Kernel, Rows, Speed, density_kernel, kernel};
use super::walls::Walls;
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::field::Real;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of the second-level cache that the planes of a block may fill.
const CACHE: usize = 512 * 1024;
/// Below this many sites one thread is faster than several.
const LEAST_SITES: usize = 16 * 1024;

/// The fixed part of a run: all that a step reads besides the two levels.
pub struct Sweep<T> {
    /// Rows in memory.
    pub lattice: Lattice,
    /// λ², density, damping.
    pub material: Material<T>,
    /// One value a site, x fastest; empty where there are no walls.
    pub mask: Vec<bool>,
    /// Corrections near walls.
    pub walls: Walls<T>,
    kernel: Kernel<T>,
    density_kernel: DensityKernel<T>,
    zero: Vec<T>,
    blocks: Vec<Block>,
}

/// Rows y of planes z, swept plane by plane, so that the planes that a stencil reads stay in cache.
struct Block {
    y: Range<usize>,
    z: Range<usize>,
}

/// What a sweep writes over the older level.
#[derive(Clone, Copy)]
pub enum Mode<T> {
    /// pⁿ⁺¹; absorbing layers and damping act.
    Step,
    /// w₀pⁿ⁺¹ + w₁pⁿ + w₂pⁿ⁻¹; absorbing layers are left alone.
    Combine {
        /// w₀, w₁, w₂.
        weights: [T; 3],
        /// Whether damping acts.
        damped: bool,
    },
}

/// Memory of one task.
struct Scratch<T> {
    before: Vec<T>,
    /// Negated rows beyond soft edges.
    negative: Vec<T>,
    /// u of a row in an absorbing layer.
    change: Vec<T>,
}

/// An array of which every task writes other parts.
pub(super) struct Shared<T> {
    start: *mut T,
    len: usize,
}

#[allow(unsafe_code, reason = "blocks of rows of one array are written by several threads")]
// SAFETY: only `slice` reaches the array, and its callers keep their ranges apart.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn new(all: &mut [T]) -> Self {
        Self {
            start: all.as_mut_ptr(),
            len: all.len(),
        }
    }

    /// A part of the array.
    ///
    /// # Safety
    /// No two slices that live at the same time may overlap, and the array must outlive them.
    #[allow(unsafe_code, clippy::mut_from_ref, reason = "see the type")]
    pub(super) unsafe fn slice(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in bounds by the line above; the caller keeps ranges apart.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

impl<T: Real> Sweep<T> {
    /// A sweep over `lattice`.
    pub fn new(lattice: Lattice, material: Material<T>, mask: Vec<bool>, walls: Walls<T>) -> Self
    where
        T: Vectors,
    {
        let blocks = blocks(&lattice, size_of::<T>(), threads::count());
        Self {
            kernel: kernel(lattice.half, lattice.rank),
            density_kernel: density_kernel(lattice.rank),
            zero: vec![T::zero(); lattice.stride],
            blocks,
            lattice,
            material,
            mask,
            walls,
        }
    }

    /// Rows of a block, for the report.
    pub fn block_rows(&self) -> usize {
        self.blocks.first().map_or(0, |block| block.y.len())
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.material.bytes() + self.walls.bytes() + self.mask.len() as u64
    }

    /// Steps: `old` holds pⁿ⁻¹ and gets what `mode` says; `now` is pⁿ, with ghosts along x filled. To be called in the pool.
    pub fn run(&self, now: &[T], old: &mut [T], layers: &mut [Layer<T>], peak: Option<&mut [T]>, mode: Mode<T>) {
        let absorbing = matches!(mode, Mode::Step);
        if absorbing {
            for layer in layers.iter_mut() {
                self.update_flux_memory(now, layer);
            }
        }
        let older = Shared::new(old);
        let peaks = peak.map(Shared::new);
        let memories: Vec<(&Layer<T>, Shared<T>, Shared<T>)> = if absorbing {
            layers
                .iter_mut()
                .map(|layer| {
                    let (psi, zeta) = (Shared::new(&mut layer.psi), Shared::new(&mut layer.zeta));
                    (&*layer, psi, zeta)
                })
                .collect()
        } else {
            Vec::new()
        };
        let scratch = || Scratch {
            before: vec![T::zero(); self.lattice.size[0]],
            negative: Vec::new(),
            change: vec![T::zero(); self.lattice.size[0]],
        };
        let work = |scratch: &mut Scratch<T>, block: &Block| {
            for k in block.z.clone() {
                for j in block.y.clone() {
                    let row = j + self.lattice.size[1] * k;
                    let range = row * self.lattice.stride..(row + 1) * self.lattice.stride;
                    #[allow(unsafe_code, reason = "see `Shared`")]
                    // SAFETY: every row belongs to one block, and a block to one task.
                    let out = unsafe { older.slice(range.clone()) };
                    self.row(now, out, j, k, mode, &memories, scratch);
                    if let Some(peaks) = &peaks {
                        #[allow(unsafe_code, reason = "see `Shared`")]
                        // SAFETY: as above.
                        let peak = unsafe { peaks.slice(range) };
                        for (largest, value) in peak.iter_mut().zip(&*out) {
                            *largest = largest.max(value.abs());
                        }
                    }
                }
            }
        };
        if let [block] = &self.blocks[..] {
            work(&mut scratch(), block);
        } else {
            self.blocks.par_iter().for_each_init(scratch, work);
        }
    }

    /// One row, with its ghosts.
    #[expect(clippy::too_many_arguments, reason = "one call site")]
    fn row(
        &self,
        now: &[T],
        out: &mut [T],
        j: usize,
        k: usize,
        mode: Mode<T>,
        memories: &[(&Layer<T>, Shared<T>, Shared<T>)],
        scratch: &mut Scratch<T>,
    ) {
        let lattice = &self.lattice;
        let (nx, front) = (lattice.size[0], lattice.front);
        let row = j + lattice.size[1] * k;
        let damping = match mode {
            Mode::Combine { damped: false, .. } => None,
            _ => self.material.damping(lattice, row),
        };
        let sites = &mut out[front..front + nx];
        if damping.is_some() || matches!(mode, Mode::Combine { .. }) {
            scratch.before.copy_from_slice(sites);
        }
        self.plain_row(now, sites, j, k, &mut scratch.negative);
        let squares = (!self.material.squares.is_empty()).then(|| lattice.row(&self.material.squares, row));
        let square = |i: usize| squares.map_or(self.material.square, |squares| squares[i]);
        for (layer, psi, zeta) in memories {
            self.absorb(now, sites, [j, k], layer, [psi, zeta], square, &mut scratch.change);
        }
        self.walls.apply(row, now, square, sites);
        if let Some(damping) = damping {
            for ((new, before), rate) in sites.iter_mut().zip(&scratch.before).zip(damping) {
                *new = (*new + *rate * *before) / (T::one() + *rate);
            }
        }
        if let Mode::Combine {
            weights: [w0, w1, w2], ..
        } = mode
        {
            let here = lattice.row(now, row);
            for ((new, here), before) in sites.iter_mut().zip(here).zip(&scratch.before) {
                *new = w0 * *new + w1 * *here + w2 * *before;
            }
        }
        lattice.fill_ghosts(out, true);
    }

    /// The step of a row without walls, layers and damping.
    fn plain_row(&self, now: &[T], sites: &mut [T], j: usize, k: usize, negative: &mut Vec<T>) {
        let lattice = &self.lattice;
        let row = j + lattice.size[1] * k;
        self.negate_ghosts(now, j, k, negative);
        let rows = self.neighbours(now, j, k, negative);
        if self.material.density.is_empty() {
            let speed = if self.material.squares.is_empty() {
                Speed::Uniform(self.material.square)
            } else {
                Speed::Sites(lattice.row(&self.material.squares, row))
            };
            (self.kernel)(sites, &rows, &speed);
        } else {
            let density = self.density_rows(j, k);
            let kappa = lattice.row(&self.material.squares, row);
            (self.density_kernel)(sites, &rows, &density, kappa);
        }
    }

    /// Collects −p of rows that an odd mirror puts beyond a soft edge, in the order in which `neighbours` wants them.
    fn negate_ghosts(&self, now: &[T], j: usize, k: usize, negative: &mut Vec<T>) {
        negative.clear();
        self.for_each_neighbour(j, k, |_, _, _, ghost| {
            if let Ghost::Negative(other) = ghost {
                negative.extend(self.lattice.row(now, other).iter().map(|value| -*value));
            }
        });
    }

    fn for_each_neighbour(&self, j: usize, k: usize, mut visit: impl FnMut(usize, usize, usize, Ghost)) {
        for axis in 1..self.lattice.rank {
            for distance in 1..=self.lattice.half {
                for (side, offset) in [-distance.cast_signed(), distance.cast_signed()]
                    .into_iter()
                    .enumerate()
                {
                    visit(axis, distance - 1, side, self.lattice.neighbour_row(j, k, axis, offset));
                }
            }
        }
    }

    fn neighbours<'a>(&'a self, now: &'a [T], j: usize, k: usize, negative: &'a [T]) -> Rows<'a, T> {
        let nx = self.lattice.size[0];
        let mut rows = Rows {
            x: self.lattice.row_with_ghosts(now, j + self.lattice.size[1] * k),
            y: [[&self.zero[..nx]; 2]; 4],
            z: [[&self.zero[..nx]; 2]; 4],
        };
        let mut negatives = negative.chunks_exact(nx);
        self.for_each_neighbour(j, k, |axis, distance, side, ghost| {
            let row = match ghost {
                Ghost::Same(other) => self.lattice.row(now, other),
                Ghost::Negative(_) => negatives.next().unwrap_or(&self.zero[..nx]),
                Ghost::Zero => &self.zero[..nx],
            };
            let rows = if axis == 1 { &mut rows.y } else { &mut rows.z };
            rows[distance][side] = row;
        });
        rows
    }

    /// The density around a row; beyond soft edges it is the last site's, so that the face has the density of the edge.
    fn density_rows(&self, j: usize, k: usize) -> Rows<'_, T> {
        let density = &self.material.density;
        let row = j + self.lattice.size[1] * k;
        let own = self.lattice.row(density, row);
        let mut rows = Rows {
            x: self.lattice.row_with_ghosts(density, row),
            y: [[own; 2]; 4],
            z: [[own; 2]; 4],
        };
        self.for_each_neighbour(j, k, |axis, distance, side, ghost| {
            if let Ghost::Same(other) = ghost {
                let rows = if axis == 1 { &mut rows.y } else { &mut rows.z };
                rows[distance][side] = self.lattice.row(density, other);
            }
        });
        rows
    }
}

/// Cuts the grid so that the planes which a block reads stay in a core's cache, and every thread has several blocks.
fn blocks(lattice: &Lattice, bytes: usize, threads: usize) -> Vec<Block> {
    let [nx, ny, nz] = lattice.size;
    let half = lattice.half;
    if threads == 1 && nz == 1 || nx * ny * nz < LEAST_SITES {
        return vec![Block { y: 0..ny, z: 0..nz }];
    }
    let (rows, planes) = if nz == 1 {
        (ny.div_ceil(4 * threads).max(2 * half), 1)
    } else {
        // 2h + 1 planes of the newer level and one of the older.
        let fitting = CACHE / ((2 * half + 2) * lattice.stride * bytes);
        (
            fitting.clamp(4 * half, ny.max(4 * half)),
            nz.div_ceil(2 * threads).max(8 * half),
        )
    };
    let mut blocks = Vec::new();
    for z in (0..nz).step_by(planes) {
        for y in (0..ny).step_by(rows) {
            blocks.push(Block {
                y: y..(y + rows).min(ny),
                z: z..(z + planes).min(nz),
            });
        }
    }
    blocks
}

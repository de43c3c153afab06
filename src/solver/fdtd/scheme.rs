//! The fixed part of a run: rows, medium, walls, and the kernels that step them.

use super::absorb::{AbsorbKernel, absorb_kernel};
use super::blocks::{Block, blocks};
use super::bundle::{BundleKernels, bundle_kernels};
use super::lattice::{Ghost, Lattice, Mirror};
use super::material::Material;
use super::row_sums::SumKernels;
use super::share::View;
use super::stencil::{Kernel, Rows, kernel};
use super::walls::Walls;
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::field::Real;

/// The fixed part of a run: all that a step reads besides the two levels.
pub struct Sweep<T> {
    /// Rows in memory.
    pub lattice: Lattice,
    /// λ², density, damping.
    pub material: Material<T>,
    /// One value a site, x fastest; empty where there are no walls.
    pub mask: Vec<bool>,
    /// Walls and what is beside them.
    pub walls: Walls,
    pub(super) kernel: Kernel<T>,
    pub(super) bundle_kernels: BundleKernels<T>,
    pub(super) absorb_kernel: AbsorbKernel<T>,
    pub(super) sums: SumKernels<T>,
    pub(super) zero: Vec<T>,
    pub(super) blocks: Vec<Block>,
    /// How each row is stepped.
    pub(super) ways: Vec<Way>,
    /// Where the ghosts of a row come from.
    pub(super) mirrors: Vec<Mirror>,
}

impl<T: Real> Sweep<T> {
    /// A sweep over `lattice`.
    pub fn new(lattice: Lattice, material: Material<T>, mask: Vec<bool>, walls: Walls) -> Self
    where
        T: Vectors,
    {
        let blocks = blocks(&lattice, size_of::<T>(), threads::count());
        let ways = ways(&lattice, &material);
        Self {
            kernel: kernel(lattice.half, lattice.rank),
            bundle_kernels: bundle_kernels(lattice.half, lattice.rank),
            absorb_kernel: absorb_kernel(lattice.half),
            sums: SumKernels::new(lattice.half),
            zero: vec![T::zero(); lattice.stride],
            blocks,
            ways,
            mirrors: lattice.mirrors(true),
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
        self.material.bytes() + self.walls.bytes() + (self.mask.len() + self.ways.len()) as u64
    }

    pub(super) fn for_each_neighbour(&self, j: usize, k: usize, mut visit: impl FnMut(usize, usize, usize, Ghost)) {
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

    pub(super) fn neighbours<'a>(&'a self, now: View<'a, T>, j: usize, k: usize, negative: &'a [T]) -> Rows<'a, T> {
        let nx = self.lattice.size[0];
        let mut rows = Rows {
            x: now.slice(self.lattice.span(j + self.lattice.size[1] * k)),
            y: [[&self.zero[..nx]; 2]; 4],
            z: [[&self.zero[..nx]; 2]; 4],
        };
        let mut negatives = negative.chunks_exact(nx);
        self.for_each_neighbour(j, k, |axis, distance, side, ghost| {
            let row = match ghost {
                Ghost::Same(other) => now.slice(self.lattice.sites(other)),
                Ghost::Negative(_) => negatives.next().unwrap_or(&self.zero[..nx]),
                Ghost::Zero => &self.zero[..nx],
            };
            let rows = if axis == 1 { &mut rows.y } else { &mut rows.z };
            rows[distance][side] = row;
        });
        rows
    }

    /// The density around a row; beyond soft edges it is the last site's, so that the face has the density of the edge.
    pub(super) fn density_rows(&self, j: usize, k: usize) -> Rows<'_, T> {
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

/// How a row is stepped. Rows beside one another that are stepped alike are stepped together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By itself: at the grid's edges, or damped.
    Alone,
    /// By the kernel of bundles, but for its ends in layers along x.
    Plain,
    /// By that of boxes: whether it lies in layers along y and z. Neither, where the density differs from site to site.
    Boxed([bool; 2]),
}

/// How the rows of a grid are stepped.
fn ways<T: Real>(lattice: &Lattice, material: &Material<T>) -> Vec<Way> {
    let half = lattice.half;
    (0..lattice.rows())
        .map(|row| {
            let at = [0, row % lattice.size[1], row / lattice.size[1]];
            let between = |axis: usize, width: usize| {
                let n = lattice.size[axis];
                (width..n.saturating_sub(width)).contains(&at[axis])
            };
            let crossed = [1, 2]
                .map(|axis| axis < lattice.rank && lattice.is_absorbing(axis) && !between(axis, lattice.absorb_width));
            if !(1..lattice.rank).all(|axis| between(axis, half)) || material.damping(lattice, row).is_some() {
                Way::Alone
            } else if crossed == [false; 2] && material.density.is_empty() {
                Way::Plain
            } else {
                Way::Boxed(crossed)
            }
        })
        .collect()
}

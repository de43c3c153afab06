//! The fixed part of a run: rows, medium, walls, and the kernels that step them.

use super::absorb::{AbsorbKernel, absorb_kernel};
use super::blocks::{Block, blocks};
use super::bundle::{BundleKernels, bundle_kernels};
use super::faces::Faces;
use super::lattice::{Ghost, Lattice, Mirror};
use super::material::Material;
use super::row_sums::SumKernels;
use super::segments::Segments;
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
    /// λ² of rows that have one of their own.
    pub(super) media: Vec<T>,
    pub(super) segments: Segments<T>,
    /// Walls as vectors see them, where they do.
    pub(super) faces: Option<Faces>,
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
        let faces = Faces::new(&lattice, &walls, &mask);
        let (ways, media) = Styles::new(&lattice, &material, &walls, faces.as_ref()).all();
        Self {
            segments: Segments::new(&lattice, &material, faces.as_ref(), &ways),
            media,
            faces,
            kernel: kernel(lattice.half, lattice.rank),
            bundle_kernels: bundle_kernels(lattice.half, lattice.rank),
            absorb_kernel: absorb_kernel(lattice.half, lattice.rank),
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
        let faces = self.faces.as_ref().map_or(0, Faces::bytes);
        let rows = self.mask.len() + size_of_val(&self.ways[..]);
        self.material.bytes() + self.walls.bytes() + self.segments.bytes() + faces + rows as u64
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
    /// By itself: at the grid's edges; what it would be as [`Way::Mixed`] inside, if it were.
    Alone(Option<[bool; 2]>),
    /// By the kernel of bundles, but for its ends in layers along x.
    Plain(Medium),
    /// By that of boxes: it lies in layers along y and z.
    Boxed([bool; 2], Medium),
    /// Part by part ([`Segments`]): walls, other densities or damping in some of it; whether it lies in layers along y and z.
    Mixed([bool; 2]),
}

impl Way {
    /// In which layers a row lies that has parts of its own.
    pub(super) fn mixed(self) -> Option<[bool; 2]> {
        match self {
            Self::Mixed(crossed) => Some(crossed),
            Self::Alone(mixed) => mixed,
            Self::Plain(_) | Self::Boxed(..) => None,
        }
    }
}

/// Which of [`Sweep::media`] a row's λ² is; `None` where it is the grid's, or differs from site to site.
pub(super) type Medium = Option<u8>;

/// Most media that rows share.
const MOST_MEDIA: usize = 16;

/// Decides how the rows of a grid are stepped.
struct Styles<'a, T> {
    lattice: &'a Lattice,
    material: &'a Material<T>,
    walls: &'a Walls,
    faces: Option<&'a Faces>,
    media: Vec<T>,
}

impl<'a, T: Real> Styles<'a, T> {
    fn new(lattice: &'a Lattice, material: &'a Material<T>, walls: &'a Walls, faces: Option<&'a Faces>) -> Self {
        Self {
            lattice,
            material,
            walls,
            faces,
            media: Vec::new(),
        }
    }

    fn all(mut self) -> (Vec<Way>, Vec<T>) {
        let mut ways: Vec<Way> = (0..self.lattice.rows()).map(|row| self.way(row)).collect();
        // In two dimensions no rows are bundled, and runs that nothing breaks are worth more than a kernel that looks for less.
        if self.lattice.rank < 3 && ways.iter().any(|way| matches!(way, Way::Mixed(_))) {
            for way in &mut ways {
                *way = match *way {
                    Way::Plain(_) => Way::Mixed([false; 2]),
                    Way::Boxed(crossed, _) => Way::Mixed(crossed),
                    other => other,
                };
            }
        }
        (ways, self.media)
    }

    fn way(&mut self, row: usize) -> Way {
        let (lattice, material) = (self.lattice, self.material);
        let at = [0, row % lattice.size[1], row / lattice.size[1]];
        let between = |axis: usize, width: usize| {
            let n = lattice.size[axis];
            (width..n.saturating_sub(width)).contains(&at[axis])
        };
        let walled = self.faces.is_some() && self.walls.concern(row);
        let mixed = walled || material.damping(lattice, row).is_some();
        let crossed = [1, 2].map(|axis| axis < lattice.rank && lattice.absorbs_at(axis, at[axis]));
        if !(1..lattice.rank).all(|axis| between(axis, lattice.half)) {
            return Way::Alone((mixed || !material.density.is_empty()).then_some(crossed));
        }
        if mixed {
            return Way::Mixed(crossed);
        }
        let square = material.uniform_square(lattice, row, &(0..lattice.size[0]));
        let medium = square.and_then(|square| self.medium(square));
        if medium.is_none() && !material.density.is_empty() {
            return Way::Mixed(crossed);
        }
        match crossed {
            [false, false] => Way::Plain(medium),
            _ => Way::Boxed(crossed, medium),
        }
    }

    /// The number of a medium, as long as there are few.
    #[expect(clippy::cast_possible_truncation, reason = "few")]
    fn medium(&mut self, square: T) -> Medium {
        let known = self.media.iter().position(|other| *other == square);
        if known.is_none() && self.media.len() < MOST_MEDIA {
            self.media.push(square);
            return Some((self.media.len() - 1) as u8);
        }
        known.map(|n| n as u8)
    }
}

//! The fixed part of a run: rows, medium, walls, and the kernels that step them.

use super::absorb::{
    AbsorbKernel, Beside, DampedKernel, LayeredKernels, MixedKernel, absorb_kernel, damped_kernel, layered_kernels,
    mixed_kernel,
};
use super::blocks::{Block, blocks};
use super::bundle::{BundleKernels, FollowKernels, bundle_kernels, follow_kernels};
use super::faces::Faces;
use super::lattice::{Ghost, Lattice, Mirror};
use super::material::Material;
use super::row_sums::SumKernels;
use super::segments::{Damped, Segments, damped_sites};
use super::share::View;
use super::stencil::{Kernel, Rows, kernel};
use super::tally::{TallyKernel, tally};
use super::walls::Walls;
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::field::Real;
use crate::grid::Edge;

/// The fixed part of a run: the input of a step beside the two levels.
pub struct Sweep<T> {
    /// Rows in memory.
    pub lattice: Lattice,
    /// λ², density, damping.
    pub material: Material<T>,
    /// One value a site, x fastest; empty where there are no walls.
    pub mask: Vec<bool>,
    /// Walls and the sites beside them.
    pub walls: Walls,
    pub(super) kernel: Kernel<T>,
    pub(super) bundle_kernels: BundleKernels<T>,
    pub(super) follow_kernels: FollowKernels<T>,
    pub(super) tally: TallyKernel<T>,
    pub(super) absorb_kernel: AbsorbKernel<T>,
    pub(super) layered_kernels: LayeredKernels<T>,
    pub(super) damped_kernel: DampedKernel<T>,
    pub(super) mixed_kernel: MixedKernel<T>,
    /// From rows to those around them along y and z, by their [`Place`].
    pub(super) beside: [Vec<Beside>; 2],
    pub(super) sums: SumKernels<T>,
    pub(super) zero: Vec<T>,
    pub(super) blocks: Vec<Block>,
    /// How each row is stepped.
    pub(super) ways: Vec<Way>,
    /// How many rows from each on, along y, are stepped as it is, and the number of that way.
    pub(super) alike: Vec<[u16; 2]>,
    /// λ² of rows that have one of their own.
    pub(super) media: Vec<T>,
    pub(super) segments: Segments<T>,
    /// Walls for vector kernels, where these handle them.
    pub(super) faces: Option<Faces>,
    /// The sites that the ghosts of a row repeat.
    pub(super) mirrors: Vec<Mirror>,
    /// Whether energies and fluxes are added up in double precision, site by site: products of pressures leave the field's precision.
    pub(super) sums_wide: bool,
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
            alike: alike(&lattice, &ways),
            media,
            faces,
            kernel: kernel(lattice.half, lattice.rank),
            bundle_kernels: bundle_kernels(lattice.half, lattice.rank),
            follow_kernels: follow_kernels(lattice.half, lattice.rank),
            tally,
            absorb_kernel: absorb_kernel(lattice.half, lattice.rank),
            layered_kernels: layered_kernels(lattice.half, lattice.rank),
            damped_kernel: damped_kernel(lattice.half, lattice.rank),
            mixed_kernel: mixed_kernel(lattice.half, lattice.rank),
            beside: [1, 2].map(|axis| beside(&lattice, axis)),
            sums: SumKernels::new(lattice.half),
            zero: vec![T::zero(); lattice.stride],
            blocks,
            ways,
            mirrors: lattice.mirrors(true),
            sums_wide: false,
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
        let rows = self.mask.len() + size_of_val(&self.ways[..]) + size_of_val(&self.alike[..]);
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
    /// By itself: beside an edge that turns signs, or to something else than the next level; in which layers it lies, if it has parts of its own.
    Alone(Option<[bool; 2]>),
    /// It has layers, or damping of its ends or of all of it, at most.
    Clean(Clean),
    /// Part by part ([`Segments`]): walls, other densities or damping in some of it; whether it lies in layers along y and z; its place.
    Mixed([bool; 2], Place),
}

/// See [`Sweep::alike`].
#[expect(clippy::cast_possible_truncation, reason = "few ways")]
fn alike(lattice: &Lattice, ways: &[Way]) -> Vec<[u16; 2]> {
    let mut known: Vec<Way> = Vec::new();
    let mut all = vec![[1; 2]; ways.len()];
    for row in (0..ways.len()).rev() {
        let number = known.iter().position(|way| *way == ways[row]).unwrap_or_else(|| {
            known.push(ways[row]);
            known.len() - 1
        }) as u16;
        let last = (row + 1).is_multiple_of(lattice.size[1]);
        let after = if last { None } else { all.get(row + 1) };
        let rows = match after {
            Some([rows, other]) if *other == number => u16::saturating_add(*rows, 1),
            _ => 1,
        };
        all[row] = [rows, number];
    }
    all
}

/// A row that has layers, or damping of its ends or of all of it, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clean {
    /// Whether it lies in layers along y and z.
    pub(super) crossed: [bool; 2],
    pub(super) medium: Medium,
    pub(super) place: Place,
    /// Which of its sites are damped; all of them or none in layers.
    pub(super) damped: Damped,
}

/// The place of a row along y and z: 0 inside the grid, otherwise a number for each place whose stencil reaches beyond an edge.
pub(super) type Place = [u8; 2];

impl Way {
    /// In which layers a row lies that has parts of its own.
    pub(super) fn mixed(self) -> Option<[bool; 2]> {
        match self {
            Self::Mixed(crossed, _) => Some(crossed),
            Self::Alone(mixed) => mixed,
            Self::Clean(_) => None,
        }
    }
}

impl Clean {
    /// Whether nothing but its ends, in layers along x or damped, differs from an empty grid's inside.
    pub(super) fn is_plain(&self) -> bool {
        self.crossed == [false; 2] && self.place == [0; 2]
    }
}

/// The place along `axis` of rows that stand at `at` ([`Place`]).
fn place(lattice: &Lattice, axis: usize, at: usize) -> u8 {
    let (n, half) = (lattice.size[axis], lattice.half);
    if axis >= lattice.rank || (half..n.saturating_sub(half)).contains(&at) {
        return 0;
    }
    // Fewer than twice 4 places, or a grid of fewer rows than that.
    let from_end = n - 1 - at;
    u8::try_from(if at < half { at } else { half + from_end }).map_or(0, |place| place + 1)
}

/// From the rows of each place along an axis to those around them; 0 to those that an edge takes the sign away of.
fn beside(lattice: &Lattice, axis: usize) -> Vec<Beside> {
    let [_, ny, _] = lattice.size;
    let next = if axis == 1 { 1 } else { ny };
    let mut all = vec![Beside::default(); 1 + 2 * lattice.half];
    if axis >= lattice.rank {
        return all;
    }
    let inner = std::array::from_fn(|k| {
        let distance = ((k + 1) * next * lattice.stride).cast_signed();
        [-distance, distance]
    });
    all[0] = inner;
    for at in 0..lattice.size[axis] {
        let place = usize::from(place(lattice, axis, at));
        if place == 0 {
            continue;
        }
        let row = at * next;
        all[place] = std::array::from_fn(|k| {
            let k = (k + 1).min(lattice.half).cast_signed();
            [-k, k].map(|offset| {
                let [j, k] = if axis == 1 { [at, 0] } else { [0, at] };
                match lattice.neighbour_row(j, k, axis, offset) {
                    Ghost::Same(other) => (other.cast_signed() - row.cast_signed()) * lattice.stride.cast_signed(),
                    Ghost::Negative(_) | Ghost::Zero => 0,
                }
            })
        });
    }
    all
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
        let ways = (0..self.lattice.rows()).map(|row| self.way(row)).collect();
        (ways, self.media)
    }

    fn way(&mut self, row: usize) -> Way {
        let (lattice, material) = (self.lattice, self.material);
        let at = [0, row % lattice.size[1], row / lattice.size[1]];
        let place = [1, 2].map(|axis| place(lattice, axis, at[axis]));
        let walled = self.faces.is_some() && self.walls.concern(row);
        let crossed = [1, 2].map(|axis| axis < lattice.rank && lattice.absorbs_at(axis, at[axis]));
        let open = crossed == [false; 2] && !walled && !lattice.is_absorbing(0);
        let damped = match material.damping(lattice, row) {
            None => Some(Damped::NONE),
            Some(rates) if open => damped_sites(rates).filter(|damped| place == [0; 2] || *damped == Damped::All),
            Some(_) => None,
        };
        let mixed = walled || damped.is_none();
        if (1..lattice.rank).any(|axis| place[axis - 1] > 0 && lattice.edges[axis] == Edge::Soft) {
            let parts = mixed || damped == Some(Damped::All) || !material.density.is_empty();
            return Way::Alone(parts.then_some(crossed));
        }
        if mixed {
            return Way::Mixed(crossed, place);
        }
        let square = material.uniform_square(lattice, row, &(0..lattice.size[0]));
        let medium = square.and_then(|square| self.medium(square));
        let differs = medium.is_none() && !material.squares.is_empty();
        if differs && (!material.density.is_empty() || damped == Some(Damped::All)) {
            return Way::Mixed(crossed, place);
        }
        Way::Clean(Clean {
            crossed,
            medium,
            place,
            damped: damped.unwrap_or(Damped::NONE),
        })
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

#[cfg(test)]
mod tests {
    use super::super::run::Fdtd;
    use super::*;
    use crate::solver::clock::RunClock;
    use crate::solver::setup::Setup;
    use crate::solver::{Taps, find, read_scene_text};

    /// Steps damped rows part by part.
    fn part_by_part<T: Vectors>(sweep: &mut Sweep<T>) {
        for way in &mut sweep.ways {
            if let Way::Clean(Clean {
                crossed, place, damped, ..
            }) = *way
                && damped != Damped::NONE
            {
                *way = Way::Mixed(crossed, place);
            }
        }
        let Sweep {
            lattice,
            material,
            faces,
            ways,
            ..
        } = sweep;
        sweep.segments = Segments::new(lattice, material, faces.as_ref(), ways);
        sweep.alike = alike(lattice, ways);
    }

    #[test]
    fn damped_rows_are_stepped_as_parts_are() {
        // Of rows of 44 sites one block at most lies between the ends.
        let cases: [(&[usize], u32); 6] = [
            (&[70, 9], 2),
            (&[64, 24], 4),
            (&[131, 12, 11], 2),
            (&[96, 9, 10], 8),
            (&[44, 9, 10], 2),
            (&[44, 24], 4),
        ];
        for ((size, order), one_side) in cases.into_iter().flat_map(|case| [(case, false), (case, true)]) {
            let corner =
                |x: f64| -> Vec<f64> { (0..size.len()).map(|axis| if axis == 0 { x } else { 200.0 }).collect() };
            let text = format!(
                "format = 1\n[grid]\nsize = {size:?}\nspacing = 1.0\nedges = \"wall\"\n[acoustic]\n[time]\nend = 1.0\n[solver]\nmethod = \"fdtd\"\norder = {order}\n\
                 [[layer]]\nsets = \"impedance\"\nvalue = 5.0\nshape = \"box\"\nmin = {:?}\nmax = {:?}\n\
                 [[pulse]]\ncenter = {:?}\nwidth = 4.0\n",
                vec![-1.0; size.len()],
                corner(if one_side { 3.0 } else { 200.0 }),
                vec![5.0; size.len()],
            );
            let (_, scenario) = read_scene_text(&text, None, &[]).unwrap();
            let setup = Setup::new(find("fdtd").unwrap(), &scenario).unwrap();
            let [mut new, mut other] = [(); 2].map(|()| Fdtd::<f32>::new(&setup).unwrap());
            let is_there = |damped: Damped| {
                let has = |way: &Way| matches!(way, Way::Clean(clean) if clean.damped == damped);
                new.sweep.ways.iter().any(has)
            };
            if size[0] > 44 {
                assert!(is_there(Damped::Ends([true, !one_side])), "{text}");
            }
            // Rows at edges across them, and short ones.
            assert!(one_side || is_there(Damped::All), "{text}");
            part_by_part(&mut other.sweep);
            for run in [&mut new, &mut other] {
                let clock = RunClock::new(setup.time_step);
                threads::run(|| run.take(&clock, 30, &mut Taps::of(&scenario)));
            }
            let alike = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
            assert!(new.now.iter().zip(other.now.iter()).all(alike), "{text}");
            assert!(new.now.iter().any(|value| value.abs() > 1e-3), "{text}");
        }
    }
}

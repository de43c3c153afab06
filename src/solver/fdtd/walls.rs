//! Walls inside the grid.
//!
//! A wall of any shape is rigid on every face of its sites: along each axis the field is continued as an even mirror at the face, for
//! every order. For order 2 this drops the face. A line of sites between two walls thus has the matrix of a line
//! between two rigid edges, which is symmetric with eigenvalues no larger than those of the free line: energy is conserved and the stability limit
//! does not change. Sites inside walls hold 0.
//!
//! Sites within reach of a wall are listed with the places of what their stencil reads, mirrors included. At orders 2 and 4 vectors choose by lanes what they read ([`super::faces`]); at
//! wider stencils, whose kernels know nothing of walls, the listed sites are stepped one by one. Either way what is constant up to the walls stays constant to the bit.

use super::lattice::{Ghost, Lattice, ghost};
use super::share::View;
use super::stencil::COEFFICIENTS;
use crate::field::Real;
use crate::grid::Edge;
use rayon::prelude::*;
use std::ops::Range;

/// A bond of a site that walls add or take away.
#[derive(Clone, Copy)]
pub(super) struct Term {
    /// Place in an array of the neighbour or its image.
    pub(super) from: usize,
    /// With which sign that counts; 0 for the zero outside a soft edge.
    pub(super) sign: f64,
    /// The bond's weight, negative where it is taken away.
    pub(super) weight: f64,
}

/// What stands for a neighbour: 1 + its place in an array, negative for an image that changes the sign, 0 for the zero outside a soft edge.
#[derive(Clone, Copy)]
struct Place(i64);

impl Place {
    #[expect(clippy::cast_possible_wrap, reason = "sizes are far below 2^63")]
    fn new(of: Ghost, index: impl Fn(usize) -> usize) -> Self {
        match of {
            Ghost::Same(at) => Self(index(at) as i64 + 1),
            Ghost::Negative(at) => Self(-(index(at) as i64) - 1),
            Ghost::Zero => Self(0),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "it was a usize")]
    fn index(self) -> Option<usize> {
        (self.0.unsigned_abs() as usize).checked_sub(1)
    }

    fn value<T: Real>(self, field: View<'_, T>) -> T {
        match self.index() {
            None => T::zero(),
            Some(place) if self.0 > 0 => field.at(place),
            Some(place) => -field.at(place),
        }
    }
}

/// The neighbours of a site: by axis and distance, from 1 on, the lower neighbour and the upper one.
pub(super) type Around<T> = [[[T; 2]; 4]; 3];

/// Wall sites and sites beside them, by rows.
#[derive(Default)]
pub struct Walls {
    /// Half width of the stencil.
    half: usize,
    /// Dimensions.
    rank: usize,
    /// Whether sites beside walls are listed.
    listed: bool,
    rows: Vec<Row>,
}

struct Row {
    /// Wall sites.
    spans: Vec<Range<usize>>,
    /// x of the sites whose stencil reaches into a wall.
    sites: Vec<usize>,
    /// What they read: for each site, distance from 1 on and axis, the lower neighbour and the upper one.
    places: Vec<Place>,
}

impl Walls {
    /// Lists the sites beside walls; `listed` is false where the kernel itself drops the faces of walls (density per site).
    pub fn new(lattice: &Lattice, walls: &[bool], listed: bool) -> Self {
        let mut all = Self {
            half: lattice.half,
            rank: lattice.rank,
            listed,
            rows: Vec::new(),
        };
        if !walls.is_empty() {
            all.rows = (0..lattice.rows())
                .into_par_iter()
                .map(|row| Row::new(lattice, walls, row, listed))
                .collect();
        }
        all
    }

    /// Neighbours that a site reads.
    fn reads(&self) -> usize {
        2 * self.half * self.rank
    }

    /// Calls `visit(x, around)` for the sites beside walls of a row.
    pub(super) fn for_each_beside<T: Real>(
        &self,
        row: usize,
        field: View<'_, T>,
        mut visit: impl FnMut(usize, &Around<T>),
    ) {
        let Some(row) = self.rows.get(row) else { return };
        let mut around = [[[T::zero(); 2]; 4]; 3];
        for (x, places) in row.sites.iter().zip(row.places.chunks_exact(self.reads())) {
            for (n, place) in places.iter().enumerate() {
                around[n / 2 % self.rank][n / (2 * self.rank)][n % 2] = place.value(field);
            }
            visit(*x, &around);
        }
    }

    /// Calls `visit(x, pⁿ, L pⁿ)` for the sites beside walls of a row, in the order of operations of the kernels; `first` is the place of the row's first site.
    pub(super) fn sums_beside<T: Real>(
        &self,
        row: usize,
        (field, first): (View<'_, T>, usize),
        visit: impl FnMut(usize, T, T),
    ) {
        let Some(row) = self.rows.get(row) else { return };
        match (self.half, self.rank) {
            (1, 1) => row.sums::<T, 1, 1>(field, first, visit),
            (1, 2) => row.sums::<T, 1, 2>(field, first, visit),
            (1, _) => row.sums::<T, 1, 3>(field, first, visit),
            (2, 1) => row.sums::<T, 2, 1>(field, first, visit),
            (2, 2) => row.sums::<T, 2, 2>(field, first, visit),
            (2, _) => row.sums::<T, 2, 3>(field, first, visit),
            (3, 1) => row.sums::<T, 3, 1>(field, first, visit),
            (3, 2) => row.sums::<T, 3, 2>(field, first, visit),
            (3, _) => row.sums::<T, 3, 3>(field, first, visit),
            (_, 1) => row.sums::<T, 4, 1>(field, first, visit),
            (_, 2) => row.sums::<T, 4, 2>(field, first, visit),
            _ => row.sums::<T, 4, 3>(field, first, visit),
        }
    }

    /// Puts the new values of the sites beside walls of a row into it, and clears wall sites; returns how many of `stepped` that took.
    pub(super) fn put<T: Real>(&self, row: usize, stepped: &[T], sites: &mut [T]) -> usize {
        let Some(row) = self.rows.get(row) else { return 0 };
        for (x, value) in row.sites.iter().zip(stepped) {
            sites[*x] = *value;
        }
        for span in &row.spans {
            sites[span.clone()].fill(T::zero());
        }
        row.sites.len()
    }

    /// Calls `visit(i, terms)` for every listed site of a row with the bonds that make the plain stencil that of the site.
    pub(super) fn for_each(&self, lattice: &Lattice, row: usize, mut visit: impl FnMut(usize, &[Term])) {
        let Some(walls) = self.rows.get(row) else { return };
        let [_, ny, _] = lattice.size;
        let mut terms = Vec::new();
        for (x, places) in walls.sites.iter().zip(walls.places.chunks_exact(self.reads())) {
            terms.clear();
            let site = [*x, row % ny, row / ny];
            for (n, place) in places.iter().enumerate() {
                let (k, axis, upper) = (n / (2 * self.rank) + 1, n / 2 % self.rank, n % 2 == 1);
                let plain = neighbour(
                    lattice,
                    site,
                    axis,
                    if upper { k.cast_signed() } else { -k.cast_signed() },
                );
                if plain.0 == place.0 {
                    continue;
                }
                for (place, share) in [(*place, 1.0), (plain, -1.0)] {
                    let sign = f64::from(i8::from(place.0 > 0) - i8::from(place.0 < 0));
                    terms.push(Term {
                        from: place.index().unwrap_or_else(|| lattice.index(site)),
                        sign,
                        weight: share * COEFFICIENTS[self.half][k],
                    });
                }
            }
            visit(*x, &terms);
        }
    }

    /// Calls `visit(x, [axis, side, distance])` for each neighbour of the sites beside walls of a row that is replaced by an image.
    pub(super) fn for_each_image(&self, lattice: &Lattice, row: usize, mut visit: impl FnMut(usize, [usize; 3])) {
        self.for_each_walk(lattice, row, |x, axis, [plain, walked]| {
            for (n, (plain, walked)) in plain.iter().zip(walked).enumerate() {
                for side in (0..2).filter(|side| plain[*side] != walked[*side]) {
                    visit(x, [axis, side, n + 1]);
                }
            }
        });
    }

    /// Calls `visit(x, axis, [plain, walked])` for the sites beside walls of a row: what the neighbours along an axis would be without walls, and what they are, by distance from 1 on and side.
    pub(super) fn for_each_walk(
        &self,
        lattice: &Lattice,
        row: usize,
        mut visit: impl FnMut(usize, usize, [&[[i64; 2]]; 2]),
    ) {
        let Some(walls) = self.rows.get(row) else { return };
        let [_, ny, _] = lattice.size;
        for (x, places) in walls.sites.iter().zip(walls.places.chunks_exact(self.reads())) {
            let site = [*x, row % ny, row / ny];
            for axis in 0..self.rank {
                let (mut plain, mut walked) = ([[0; 2]; 4], [[0; 2]; 4]);
                for (n, side) in (0..self.half).flat_map(|n| [(n, 0), (n, 1)]) {
                    let distance = (n + 1).cast_signed();
                    let offset = if side == 1 { distance } else { -distance };
                    plain[n][side] = neighbour(lattice, site, axis, offset).0;
                    walked[n][side] = places[2 * (n * self.rank + axis) + side].0;
                }
                visit(*x, axis, [&plain[..self.half], &walked[..self.half]]);
            }
        }
    }

    /// Whether sites beside walls are listed.
    pub(super) fn are_listed(&self) -> bool {
        self.listed
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether a row holds walls or sites beside one.
    pub fn concern(&self, row: usize) -> bool {
        self.rows
            .get(row)
            .is_some_and(|row| !row.spans.is_empty() || !row.sites.is_empty())
    }

    /// The listed sites of a row.
    pub fn beside(&self, row: usize) -> &[usize] {
        self.rows.get(row).map_or(&[], |row| &row.sites)
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let row = |row: &Row| {
            size_of::<Row>()
                + row.spans.capacity() * size_of::<Range<usize>>()
                + row.sites.capacity() * size_of::<usize>()
                + row.places.capacity() * size_of::<Place>()
        };
        self.rows.iter().map(row).sum::<usize>() as u64
    }
}

impl Row {
    /// See [`Walls::sums_beside`].
    fn sums<T: Real, const H: usize, const D: usize>(
        &self,
        field: View<'_, T>,
        first: usize,
        mut visit: impl FnMut(usize, T, T),
    ) {
        let weights: [T; H] = std::array::from_fn(|k| T::of(COEFFICIENTS[H][k + 1]));
        let alike = T::of([0.0, 2.0, 4.0, 6.0][D]);
        for (x, places) in self.sites.iter().zip(self.places.chunks_exact(2 * H * D)) {
            let here = field.at(first + x);
            let mut sum = T::zero();
            for (weight, places) in weights.iter().zip(places.as_chunks::<2>().0.chunks_exact(D)) {
                let pair = |[low, high]: [Place; 2]| low.value(field) + high.value(field);
                let mut pairs = pair(places[0]);
                for axis in &places[1..] {
                    pairs += pair(*axis);
                }
                sum += *weight * (pairs - alike * here);
            }
            visit(*x, here, sum);
        }
    }

    fn new(lattice: &Lattice, walls: &[bool], row: usize, listed: bool) -> Self {
        let [nx, ny, _] = lattice.size;
        let own = &walls[row * nx..][..nx];
        let mut new = Self {
            spans: Vec::new(),
            sites: Vec::new(),
            places: Vec::new(),
        };
        let mut x = 0;
        while x < nx {
            let length = own[x..].iter().take_while(|wall| **wall == own[x]).count();
            if own[x] {
                new.spans.push(x..x + length);
            }
            x += length;
        }
        if listed && (!new.spans.is_empty() || near_walls(lattice, walls, row)) {
            for x in (0..nx).filter(|x| !own[*x]) {
                let site = [x, row % ny, row / ny];
                if (0..lattice.rank).any(|axis| touched(lattice, walls, site, axis)) {
                    new.sites.push(x);
                    push_places(lattice, walls, site, &mut new.places);
                }
            }
        }
        new
    }
}

/// What stands `offset` sites from a site along an axis where there are no walls.
fn neighbour(lattice: &Lattice, site: [usize; 3], axis: usize, offset: isize) -> Place {
    let at = site[axis].cast_signed() + offset;
    Place::new(ghost(lattice.edges[axis], lattice.size[axis], at), |at| {
        let mut other = site;
        other[axis] = at;
        lattice.index(other)
    })
}

/// Whether a row that the stencil of this one reads holds a wall.
fn near_walls(lattice: &Lattice, walls: &[bool], row: usize) -> bool {
    let [nx, ny, _] = lattice.size;
    (1..lattice.rank).any(|axis| {
        let half = lattice.half.cast_signed();
        (-half..=half).any(|offset| match lattice.neighbour_row(row % ny, row / ny, axis, offset) {
            Ghost::Same(other) | Ghost::Negative(other) => walls[other * nx..][..nx].contains(&true),
            Ghost::Zero => false,
        })
    })
}

/// Whether site `at` of the line along `axis` through `site` is a wall.
pub(super) fn is_wall(lattice: &Lattice, walls: &[bool], mut site: [usize; 3], axis: usize, at: usize) -> bool {
    let [nx, ny, _] = lattice.size;
    site[axis] = at;
    walls[site[0] + nx * (site[1] + ny * site[2])]
}

/// Whether the stencil of a site along an axis reaches a wall.
fn touched(lattice: &Lattice, walls: &[bool], site: [usize; 3], axis: usize) -> bool {
    let (reach, start) = (lattice.half.cast_signed(), site[axis].cast_signed());
    (-reach..=reach).any(
        |offset| match ghost(lattice.edges[axis], lattice.size[axis], start + offset) {
            Ghost::Same(at) | Ghost::Negative(at) => is_wall(lattice, walls, site, axis, at),
            Ghost::Zero => false,
        },
    )
}

/// What the stencil of a site reads, in the order of [`Row::places`].
fn push_places(lattice: &Lattice, walls: &[bool], site: [usize; 3], places: &mut Vec<Place>) {
    let mut walkers: Vec<Walker> = (0..2 * lattice.rank)
        .map(|n| Walker {
            at: site[n / 2],
            direction: if n % 2 == 0 { -1 } else { 1 },
            sign: 1,
            on_node: false,
            shift: 0,
        })
        .collect();
    for _ in 0..lattice.half {
        for (n, walker) in walkers.iter_mut().enumerate() {
            let axis = n / 2;
            let wall = |at: usize| is_wall(lattice, walls, site, axis, at);
            let at = walker.step(lattice.edges[axis], lattice.size[axis], &wall);
            places.push(Place::new(at, |at| {
                let mut other = site;
                other[axis] = at;
                lattice.index(other)
            }));
        }
    }
}

/// A bond across a face, of the stencil of the site below it.
#[derive(Clone, Copy)]
pub(super) struct Crossing {
    /// Sites of the line, below and above the face.
    pub(super) ends: [usize; 2],
    /// −1 where the upper one is read as the image in a soft edge.
    pub(super) sign: f64,
    /// The bond's length, images counted where they stand.
    pub(super) length: usize,
}

/// Calls `visit` for the bonds across the face between a site and the next one along `axis`: those between sites, and those between a site and the image of
/// one on the other side, where a wall or an edge that is no ring stands within reach. `walls` is empty where there are none.
pub(super) fn for_each_crossing(
    lattice: &Lattice,
    walls: &[bool],
    site: [usize; 3],
    axis: usize,
    mut visit: impl FnMut(Crossing),
) {
    let (edge, n) = (lattice.edges[axis], lattice.size[axis]);
    let wall = |at: usize| !walls.is_empty() && is_wall(lattice, walls, site, axis, at);
    for below in 0..lattice.half.cast_signed() {
        let start = match (site[axis].cast_signed() - below, edge) {
            (start, Edge::Periodic) => start.rem_euclid(n.cast_signed()).cast_unsigned(),
            (start, _) if start < 0 => return,
            (start, _) => start.cast_unsigned(),
        };
        if wall(start) {
            continue;
        }
        for direction in [-1, 1] {
            let mut walker = Walker {
                at: start,
                direction,
                sign: 1,
                on_node: false,
                shift: 0,
            };
            for length in 1..=lattice.half {
                let (sign, at) = match walker.step(edge, n, &wall) {
                    Ghost::Same(at) => (1.0, at),
                    Ghost::Negative(at) => (-1.0, at),
                    Ghost::Zero => continue,
                };
                if walker.shift > below {
                    visit(Crossing {
                        ends: [start, at],
                        sign,
                        length,
                    });
                }
            }
        }
    }
}

/// Walks outwards along a line and turns round at walls and edges.
struct Walker {
    at: usize,
    direction: isize,
    sign: i8,
    /// On the zero one spacing outside a soft edge.
    on_node: bool,
    /// Sites between the first one and the present one, which a ring does not wrap.
    shift: isize,
}

impl Walker {
    /// What stands one site further.
    fn step(&mut self, edge: Edge, n: usize, wall: &impl Fn(usize) -> bool) -> Ghost {
        if self.on_node {
            // Back from the node to the last site, with the other sign.
            self.on_node = false;
        } else {
            let next = self.at.cast_signed() + self.direction;
            let inside = (0..n.cast_signed()).contains(&next);
            match ghost(edge, n, next) {
                Ghost::Zero => {
                    self.on_node = true;
                    self.direction = -self.direction;
                    self.sign = -self.sign;
                    return Ghost::Zero;
                }
                Ghost::Same(at) if (inside || edge == Edge::Periodic) && !wall(at) => {
                    self.at = at;
                    self.shift += self.direction;
                }
                // An even mirror: the site itself once more, and back.
                _ => self.direction = -self.direction,
            }
        }
        if self.sign > 0 {
            Ghost::Same(self.at)
        } else {
            Ghost::Negative(self.at)
        }
    }
}

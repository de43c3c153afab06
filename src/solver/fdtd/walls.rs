//! Walls inside the grid.
//!
//! A wall of any shape is rigid on every face of its sites: along each axis the field is continued as an even mirror at the face, for
//! every order. For order 2 this drops the face. A line of sites between two walls thus has the matrix of a line
//! between two rigid edges, which is symmetric with eigenvalues no larger than those of the free line: energy is conserved and the stability limit
//! does not change. Sites inside walls hold 0.
//!
//! The kernels know nothing of walls. Sites within reach of one are listed with the difference between the mirrored stencil and the plain
//! one.

use super::lattice::{Ghost, Lattice, ghost};
use super::share::View;
use super::stencil::COEFFICIENTS;
use crate::field::Real;
use crate::grid::Edge;
use rayon::prelude::*;
use std::ops::Range;

/// One term of a site's correction.
#[derive(Clone, Copy)]
pub struct Term<T> {
    /// Place of the neighbour in an array.
    pub from: usize,
    /// Its weight in L p, with a sign.
    pub weight: T,
}

/// A site whose stencil reaches into a wall.
struct Site {
    x: usize,
    terms: Range<usize>,
}

/// Corrections and wall sites by rows.
pub struct Walls<T> {
    rows: Vec<Row<T>>,
}

impl<T> Default for Walls<T> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

struct Row<T> {
    spans: Vec<Range<usize>>,
    sites: Vec<Site>,
    terms: Vec<Term<T>>,
}

impl<T: Real> Walls<T> {
    /// Lists the corrections; `dropped_faces` is false where the kernel itself drops the faces of walls (density per site).
    pub fn new(lattice: &Lattice, walls: &[bool], dropped_faces: bool) -> Self {
        if walls.is_empty() {
            return Self { rows: Vec::new() };
        }
        let rows = (0..lattice.rows())
            .into_par_iter()
            .map(|row| Row::new(lattice, walls, row, dropped_faces))
            .collect();
        Self { rows }
    }

    /// Adds square(i) · correction of L p to the sites of `out`, a row of `lattice.size[0]` sites, and clears wall sites.
    pub(super) fn apply(&self, row: usize, field: View<'_, T>, square: impl Fn(usize) -> T, out: &mut [T]) {
        let Some(row) = self.rows.get(row) else { return };
        for site in &row.sites {
            let sum: T = row.terms[site.terms.clone()]
                .iter()
                .map(|term| term.weight * field.at(term.from))
                .sum();
            out[site.x] += square(site.x) * sum;
        }
        for span in &row.spans {
            out[span.clone()].fill(T::zero());
        }
    }

    /// Calls `visit(i, terms)` for every corrected site of a row.
    pub fn for_each(&self, row: usize, mut visit: impl FnMut(usize, &[Term<T>])) {
        if let Some(row) = self.rows.get(row) {
            for site in &row.sites {
                visit(site.x, &row.terms[site.terms.clone()]);
            }
        }
    }

    /// Whether a row holds walls or sites that one corrects.
    pub fn concern(&self, row: usize) -> bool {
        self.rows
            .get(row)
            .is_some_and(|row| !row.spans.is_empty() || !row.sites.is_empty())
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let row = |row: &Row<T>| {
            size_of::<Row<T>>()
                + row.spans.capacity() * size_of::<Range<usize>>()
                + row.sites.capacity() * size_of::<Site>()
                + row.terms.capacity() * size_of::<Term<T>>()
        };
        self.rows.iter().map(row).sum::<usize>() as u64
    }
}

impl<T: Real> Row<T> {
    fn new(lattice: &Lattice, walls: &[bool], row: usize, dropped_faces: bool) -> Self {
        let [nx, ny, _] = lattice.size;
        let own = &walls[row * nx..][..nx];
        let mut new = Self {
            spans: Vec::new(),
            sites: Vec::new(),
            terms: Vec::new(),
        };
        let mut x = 0;
        while x < nx {
            let length = own[x..].iter().take_while(|wall| **wall == own[x]).count();
            if own[x] {
                new.spans.push(x..x + length);
            }
            x += length;
        }
        if dropped_faces && (!new.spans.is_empty() || near_walls(lattice, walls, row)) {
            for x in (0..nx).filter(|x| !own[*x]) {
                let first = new.terms.len();
                for axis in 0..lattice.rank {
                    line_terms(lattice, walls, [x, row % ny, row / ny], axis, &mut new.terms);
                }
                if new.terms.len() > first {
                    new.sites.push(Site {
                        x,
                        terms: first..new.terms.len(),
                    });
                }
            }
        }
        new
    }
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

/// The difference between the mirrored and the plain stencil of one site along one axis.
fn line_terms<T: Real>(lattice: &Lattice, walls: &[bool], site: [usize; 3], axis: usize, terms: &mut Vec<Term<T>>) {
    let [nx, ny, _] = lattice.size;
    let n = lattice.size[axis];
    let edge = lattice.edges[axis];
    let place = |at: usize| {
        let mut other = site;
        other[axis] = at;
        other
    };
    let wall = |at: usize| {
        let [i, j, k] = place(at);
        walls[i + nx * (j + ny * k)]
    };
    let reach = lattice.half.cast_signed();
    let start = site[axis].cast_signed();
    let touched = (-reach..=reach).any(|offset| match ghost(edge, n, start + offset) {
        Ghost::Same(at) | Ghost::Negative(at) => wall(at),
        Ghost::Zero => false,
    });
    if !touched {
        return;
    }
    let mut push = |at: Ghost, weight: f64| match at {
        Ghost::Same(at) => terms.push(Term {
            from: lattice.index(place(at)),
            weight: T::of(weight),
        }),
        Ghost::Negative(at) => terms.push(Term {
            from: lattice.index(place(at)),
            weight: T::of(-weight),
        }),
        Ghost::Zero => {}
    };
    for direction in [-1, 1] {
        let mut walker = Walker {
            at: site[axis],
            direction,
            sign: 1,
            on_node: false,
        };
        for (k, weight) in (1..=reach).zip(&COEFFICIENTS[lattice.half][1..]) {
            let plain = ghost(edge, n, start + direction * k);
            let mirrored = walker.step(edge, n, &wall);
            if plain != mirrored {
                push(mirrored, *weight);
                push(plain, -*weight);
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
                Ghost::Same(at) if (inside || edge == Edge::Periodic) && !wall(at) => self.at = at,
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

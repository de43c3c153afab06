//! Parts of rows that take the same kernel, found before the first step.
//!
//! Most of a row is like an empty grid: one medium and nothing beside it. Only blocks of sites with a wall, a change of density or a damped site take the kernel
//! that handles them. The step of a site depends on its own row alone, so that records and fields have the same bits in every variant.

use super::cpml::slots_of_end;
use super::faces::Faces;
use super::lattice::Lattice;
use super::material::Material;
use super::scheme::Way;
use crate::field::Real;
use std::ops::Range;

/// Sites that are looked at together: the most lanes of a vector.
const BLOCK: usize = Lattice::FRONT;
/// Plain parts that are shorter than so many blocks, between others, are stepped like those.
const SHORTEST: usize = 2;

/// A part of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment<T> {
    pub(super) sites: Range<usize>,
    /// What is added to a site's x for its slot of the layer along x (in wrapping arithmetic), if that absorbs here.
    pub(super) shift: Option<usize>,
    pub(super) look: Look<T>,
}

/// Contents of a part beyond those of an empty grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look<T> {
    /// Nothing: the kernel of an empty grid steps them.
    pub(super) plain: bool,
    /// Walls in reach of some.
    pub(super) walled: bool,
    /// Damping of some.
    pub(super) damped: bool,
    /// Other densities in reach of some.
    pub(super) dense: bool,
    /// λ² of all, if it is not that of the grid.
    pub(super) square: Option<T>,
}

/// The parts of every row.
pub(super) struct Segments<T> {
    own: Vec<Segment<T>>,
    /// Where those of a row begin, one more than there are rows; empty where no row has its own.
    first: Vec<u32>,
}

/// The ends of a row in layers along x, with their shifts, and what is between them.
pub(super) fn cut(nx: usize, ends: [Range<usize>; 2]) -> [(Range<usize>, Option<usize>); 3] {
    let [low, high] = ends;
    let (start, end) = (high.start.min(nx), high.end.min(nx));
    let shift = (low.end + (end - start)).wrapping_sub(nx);
    [
        (low.clone(), Some(0)),
        (low.end..start, None),
        (start..end, Some(shift)),
    ]
}

/// The first and the last block of a row.
pub(super) fn ends(nx: usize) -> [Range<usize>; 2] {
    [0..BLOCK.min(nx), nx.saturating_sub(1) / BLOCK * BLOCK..nx]
}

/// Which sites of a row are damped that has damping and nothing else, if they are its first and last blocks at most, or stretch over all of it.
pub(super) fn damped_sites<T: Real>(rates: &[T]) -> Option<Damped> {
    let [low, high] = ends(rates.len());
    let between = low.end..high.start;
    let damped = |sites: Range<usize>| rates[sites].iter().any(|rate| !rate.is_zero());
    if between.len() >= SHORTEST * BLOCK && !damped(between) {
        return Some(Damped::Ends([low, high].map(damped)));
    }
    // As [`join`] leaves it: undamped blocks that are no part of their own.
    let mut plain = SHORTEST;
    for block in rates.chunks(BLOCK) {
        plain = if block.iter().any(|rate| !rate.is_zero()) {
            0
        } else {
            plain + 1
        };
        if plain >= SHORTEST {
            return None;
        }
    }
    (plain == 0).then_some(Damped::All)
}

/// Which sites of a row are damped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damped {
    /// Its first block, its last one.
    Ends([bool; 2]),
    /// All, among which the damping of some may be 0.
    All,
}

impl Damped {
    /// None.
    pub(super) const NONE: Self = Self::Ends([false; 2]);
}

/// As the same in every row of a box: density and λ² as the box has them.
pub(super) fn alike<T: Copy>(
    cut: [(Range<usize>, Option<usize>); 3],
    middle: bool,
    [walled, damped]: [bool; 2],
) -> Vec<Segment<T>> {
    let look = Look {
        plain: false,
        walled,
        damped,
        dense: true,
        square: None,
    };
    let used = |(sites, shift): &(Range<usize>, Option<usize>)| !sites.is_empty() && (middle || shift.is_some());
    (cut.into_iter().filter(used))
        .map(|(sites, shift)| Segment { sites, shift, look })
        .collect()
}

impl<T: Real> Segments<T> {
    /// Of the rows of a lattice that are stepped in these ways.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32")]
    pub(super) fn new(lattice: &Lattice, material: &Material<T>, faces: Option<&Faces>, ways: &[Way]) -> Self {
        let nx = lattice.size[0];
        let ends = if lattice.is_absorbing(0) {
            let end = slots_of_end(0, lattice.absorb_width, nx);
            [0..end, nx - end..nx]
        } else {
            [0..0, usize::MAX..usize::MAX]
        };
        let parts = cut(nx, ends);
        let mut new = Self {
            own: Vec::new(),
            first: Vec::new(),
        };
        if ways.iter().any(|way| way.mixed().is_some()) {
            for (row, way) in ways.iter().enumerate() {
                new.first.push(new.own.len() as u32);
                if let Some(crossed) = way.mixed() {
                    let looks = Looks {
                        lattice,
                        material,
                        faces,
                        row,
                    };
                    looks.push(&parts, crossed != [false; 2], &mut new.own);
                }
            }
            new.first.push(new.own.len() as u32);
            new.own.shrink_to_fit();
        }
        new
    }

    /// Those of a row that has its own.
    pub(super) fn of(&self, row: usize) -> &[Segment<T>] {
        &self.own[self.first[row] as usize..self.first[row + 1] as usize]
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        (self.own.len() * size_of::<Segment<T>>() + self.first.len() * size_of::<u32>()) as u64
    }
}

/// A row that is looked at.
struct Looks<'a, T> {
    lattice: &'a Lattice,
    material: &'a Material<T>,
    faces: Option<&'a Faces>,
    row: usize,
}

impl<T: Real> Looks<'_, T> {
    fn push(&self, parts: &[(Range<usize>, Option<usize>); 3], crossed: bool, own: &mut Vec<Segment<T>>) {
        for (sites, shift) in parts {
            if sites.is_empty() {
                continue;
            }
            if shift.is_some() {
                let look = self.look(sites, true);
                own.push(Segment {
                    sites: sites.clone(),
                    shift: *shift,
                    look,
                });
                continue;
            }
            let begin = own.len();
            for start in sites.clone().step_by(BLOCK) {
                let block = start..(start + BLOCK).min(sites.end);
                if self.is_solid(&block) {
                    continue;
                }
                let look = self.look(&block, crossed);
                match own[begin..].last_mut() {
                    Some(last) if last.look == look && last.sites.end == block.start => last.sites.end = block.end,
                    _ => own.push(Segment {
                        sites: block,
                        shift: None,
                        look,
                    }),
                }
            }
            join(own, begin);
        }
    }

    /// What some sites of the row have; `boxed` where they lie in layers.
    fn look(&self, sites: &Range<usize>, boxed: bool) -> Look<T> {
        let walled = self.faces.is_some() && sites.clone().any(|x| self.concern(x));
        let damping = self.material.damping(self.lattice, self.row);
        let damped = damping.is_some_and(|rates| rates[sites.clone()].iter().any(|rate| !rate.is_zero()));
        let square = self.material.uniform_square(self.lattice, self.row, sites);
        let dense = !self.material.density.is_empty() && square.is_none();
        Look {
            plain: !(boxed || walled || damped || dense),
            walled,
            damped,
            dense,
            square,
        }
    }

    fn place(&self, x: usize) -> usize {
        self.lattice.sites(self.row).start + x
    }

    fn concern(&self, x: usize) -> bool {
        self.faces.is_some_and(|faces| faces.concern(self.place(x)))
    }

    /// Whether some sites are all wall: they hold 0 and are not stepped.
    fn is_solid(&self, sites: &Range<usize>) -> bool {
        self.faces
            .is_some_and(|faces| sites.clone().all(|x| faces.is_wall(self.place(x))))
    }
}

/// Joins what is too short to be worth a loop of its own to the part before it, from part `begin` on.
fn join<T: Real>(own: &mut Vec<Segment<T>>, begin: usize) {
    let mut n = begin + 1;
    while n + 1 < own.len() {
        let [before, here, after] = [n - 1, n, n + 1].map(|n| own[n].clone());
        let touch = before.sites.end == here.sites.start && here.sites.end == after.sites.start;
        let short = here.look.plain && here.sites.len() < SHORTEST * BLOCK;
        if touch && short && before.look == after.look && before.look.square == here.look.square {
            own[n - 1].sites.end = after.sites.end;
            own.drain(n..n + 2);
        } else {
            n += 1;
        }
    }
}

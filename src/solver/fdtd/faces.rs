//! Walls for vector kernels: which of the neighbours in the stencil of a site are replaced by images.
//!
//! A neighbour beyond a wall is an even mirror's image ([`super::walls`]). At half width 1 that is the site itself. At half width 2 the second neighbour beyond a wall is the
//! first on the same side where the wall stands between the two, otherwise the image of the site's first neighbour on the other side. Both are among what a vector has loaded, so
//! that walls cost choices by lanes. Wider stencils reach further into narrow gaps; their sites beside walls are listed instead.

use super::lattice::Lattice;
use super::walls::Walls;

/// The widest stencil whose walls are chosen by lanes.
pub(super) const WIDEST: usize = 2;

/// The bit of a site that is no wall, at distance 1.
pub(super) const SITE: u8 = 1 << 6;
/// No wall in reach.
const OPEN: u8 = SITE | 0b11_1111;

/// The bit of the lower neighbour along an axis, the upper one's is twice that: whether the neighbour is read directly, not through an image.
pub(super) const fn lower(axis: usize) -> u8 {
    1 << (2 * axis)
}

/// A byte a site and distance, laid out like the levels.
pub(super) struct Faces {
    bits: Vec<u8>,
    /// Bytes from those of distance 1 to those of distance 2.
    plane: usize,
}

impl Faces {
    /// Of listed walls, at the sites of `mask`; `None` where there are none or the stencil is too wide.
    pub(super) fn new(lattice: &Lattice, walls: &Walls, mask: &[bool]) -> Option<Self> {
        if mask.is_empty() || !walls.are_listed() || lattice.half > WIDEST {
            return None;
        }
        // Vectors may reach beyond the last row.
        let plane = lattice.values() + Lattice::FRONT;
        let mut bits = vec![OPEN; lattice.half * plane];
        let nx = lattice.size[0];
        for row in 0..lattice.rows() {
            let first = lattice.sites(row).start;
            walls.for_each_image(lattice, row, |x, [axis, side, distance]| {
                bits[(distance - 1) * plane + first + x] &= !(lower(axis) << side);
            });
            for (x, wall) in mask[row * nx..(row + 1) * nx].iter().enumerate() {
                if *wall {
                    bits.iter_mut()
                        .skip(first + x)
                        .step_by(plane)
                        .for_each(|bits| *bits = 0);
                }
            }
        }
        Some(Self { bits, plane })
    }

    /// The bits of some sites, by their places in an array, at distance 1.
    pub(super) fn of(&self, place: usize) -> *const u8 {
        self.bits[place..].as_ptr()
    }

    /// Bytes from the bits of a distance to those of the next.
    pub(super) fn plane(&self) -> usize {
        self.plane
    }

    /// Whether a site reads an image, or is a wall itself.
    pub(super) fn concern(&self, place: usize) -> bool {
        self.bits
            .iter()
            .skip(place)
            .step_by(self.plane)
            .any(|bits| *bits != OPEN)
    }

    /// Whether a site is a wall.
    pub(super) fn is_wall(&self, place: usize) -> bool {
        self.bits[place] & SITE == 0
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        self.bits.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::walls::Walls;
    use super::*;
    use crate::grid::{Edge, Grid};

    /// What the choices give is what the walks of [`Walls`] give, at every site of grids that are half wall.
    #[test]
    fn choices_are_the_images_of_the_walls() {
        let mut seed = 1u32;
        let mut next = || {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            seed >> 24
        };
        for edges in [Edge::Wall, Edge::Soft, Edge::Periodic, Edge::Absorb] {
            for (size, half) in [([9, 7], 1), ([9, 7], 2), ([3, 4], 2), ([2, 3], 2), ([1, 5], 1)] {
                let lattice = Lattice::new(&Grid::new(&size, 1.0).with_edges([edges; 3], 1), half);
                let mask: Vec<bool> = (0..size[0] * size[1]).map(|_| next() < 110).collect();
                let walls = Walls::new(&lattice, &mask, true);
                let faces = Faces::new(&lattice, &walls, &mask).unwrap();
                for row in 0..size[1] {
                    walls.for_each_walk(&lattice, row, |x, axis, [plain, walked]| {
                        let place = lattice.index([x, row, 0]);
                        let has = |k: usize, side: usize| {
                            faces.bits[(k - 1) * faces.plane + place] & (lower(axis) << side) != 0
                        };
                        // Distances 1, 2 on the lower and the upper side; the site itself is at its own place.
                        let here = i64::try_from(place).unwrap() + 1;
                        let first = [0, 1].map(|side| if has(1, side) { plain[0][side] } else { here });
                        assert_eq!(first, walked[0], "{edges:?} {size:?} {x} {row} {axis}");
                        for side in [0, 1].into_iter().filter(|_| half > 1) {
                            let second = if has(2, side) {
                                plain[1][side]
                            } else if has(1, side) {
                                plain[0][side]
                            } else {
                                first[1 - side]
                            };
                            assert_eq!(second, walked[1][side], "{edges:?} {size:?} {x} {row} {axis} {side}");
                        }
                    });
                }
            }
        }
    }
}

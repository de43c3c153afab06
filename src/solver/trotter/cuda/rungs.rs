//! Bonds that differ, for whole steps in a plane (`kernels/trotter_fused.cu` with OWN) and in three dimensions (`kernels/trotter_space.cu` with OWN).
//!
//! Where most bonds have the angle θ, the tangent form leaves cos θ to the phases. A bond of angle fθ and phase ϕ then owes its two sites cos fθ/cos θ, and adds t e^{∓iϕ}, t = tan fθ, of the one to
//! the other. Kept are t cos ϕ, t sin ϕ and d = cos fθ/cos θ − 1, with the cosines of the rounded tangents: rounding of 1 + d would change the norm in
//! every step. Bonds that leave the grid or touch a wall have t = 0.

use super::OnCuda;
use super::bonds::Layout;
use crate::backend::cuda::{Buffer, CudaError, Stream};
use crate::field::Real;
use crate::physics::Bonds;
use crate::solver::trotter::scheme::{Scheme, Substep};
use num_complex::Complex64;
use rayon::prelude::*;

/// Planes of a set: t cos ϕ, t sin ϕ, d of bonds along x, t and d of those along y, and of those along z; axis and number in [`turn`].
const PLANES: [(usize, usize); 7] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 2)];

/// Angles of even and odd bonds along each axis; as bits.
type Angles = [[u64; 2]; 3];

/// The bonds of a run.
pub(super) struct Rungs<T: OnCuda> {
    rank: usize,
    sets: Vec<(Angles, Buffer<T>)>,
    /// Bit 0: a wall; bit 1: a site one of whose bonds is not as most others. Of planes only.
    marks: Option<Buffer<u8>>,
}

/// t cos ϕ, t sin ϕ and d of a bond whose neighbours turn by `angle` times `alike`; `None`: there is no bond.
fn turn<T: Real>(angle: f64, alike: f64, coupling: Option<Complex64>) -> [T; 3] {
    let plain = T::of((alike * angle).tan()).wide();
    let (own, [a, b]) = match coupling {
        None => (0.0, [0.0; 2]),
        Some(coupling) if coupling.im == 0.0 => {
            let own = angle * coupling.re;
            (own, [own.tan(), 0.0])
        }
        Some(coupling) => {
            let factor = coupling.norm();
            let own = angle * factor;
            (own, [coupling.re, coupling.im].map(|part| own.tan() * part / factor))
        }
    };
    let [a, b] = [a, b].map(T::of);
    let ratio = ((1.0 + plain * plain) / (1.0 + a.wide().powi(2) + b.wide().powi(2))).sqrt();
    let d = ratio.copysign(own.cos() * (alike * angle).cos()) - 1.0;
    [a, b, T::of(d)]
}

/// d of a site without partner.
pub(super) fn alone<T: Real>(angle: f64, alike: f64) -> T {
    turn(angle, alike, None)[2]
}

/// The last axis is the innermost.
fn angles_of(substep: &Substep, rank: usize) -> [[f64; 2]; 3] {
    let [even, odd, _] = substep.angles;
    let [x_even, x_odd, ..] = substep.outer.unwrap_or([even, odd, 0.0, 0.0]);
    [0, 1, 2].map(|axis| if axis + 1 < rank { [x_even, x_odd] } else { [even, odd] })
}

impl Layout<'_> {
    /// The planes of a set, one after the other.
    fn rungs<T: Real>(&self, bonds: &Bonds, angles: &[[f64; 2]; 3], alike: [f64; 3]) -> Vec<T> {
        let nx = self.grid.size()[0];
        let rows = self.grid.rows();
        let planes = PLANES.iter().filter(|(axis, _)| *axis < self.grid.rank()).count();
        let mut all = vec![T::zero(); planes * self.pitch * rows];
        all.par_chunks_mut(self.pitch).enumerate().for_each(|(line, out)| {
            let ((axis, part), row) = (PLANES[line / rows], line % rows);
            // Neighbours are like each other for the most part.
            let mut last = (usize::MAX, None, T::zero());
            for (x, out) in out[..nx].iter_mut().enumerate() {
                let site = row * nx + x;
                let (joins, parity) = self.joins(axis, site);
                let coupling = joins.then(|| bonds.at(axis, site));
                if (last.0, last.1) != (parity, coupling) {
                    let number = turn(angles[axis][parity], alike[axis], coupling)[part];
                    last = (parity, coupling, number);
                }
                *out = last.2;
            }
        });
        all
    }

    /// Which sites are walls, and which have bonds unlike most others.
    fn unlike(&self, bonds: &Bonds, alike: [f64; 3]) -> Vec<u8> {
        let (size, rank) = (self.grid.size(), self.grid.rank());
        let is_unlike =
            |axis: usize, site: usize| bonds.at(axis, site) != Complex64::from(alike[axis]) && self.joins(axis, site).0;
        let beside_unlike = |axis: usize, site: usize| {
            let stride: usize = size[..axis].iter().product();
            let at = site / stride % size[axis];
            let below = if at > 0 {
                site - stride
            } else {
                site + (size[axis] - 1) * stride
            };
            is_unlike(axis, site) || is_unlike(axis, below)
        };
        let mark = |site: usize| {
            let wall = self.walls.is_some_and(|walls| walls[site]);
            u8::from(wall) | u8::from((0..rank).any(|axis| beside_unlike(axis, site))) << 1
        };
        (0..self.grid.sites()).into_par_iter().map(mark).collect()
    }
}

impl<T: OnCuda> Rungs<T> {
    /// What the sub-steps of a scheme need; and for every site whether it is a wall or has bonds unlike others.
    pub(super) fn new(
        stream: &Stream,
        layout: Layout,
        bonds: &Bonds,
        (scheme, alike): (&Scheme, [f64; 3]),
    ) -> Result<(Self, Vec<bool>), CudaError> {
        let rank = layout.grid.rank();
        let mut sets: Vec<(Angles, Buffer<T>)> = Vec::new();
        for substep in &scheme.substeps {
            let angles = angles_of(substep, rank);
            let key = angles.map(|parities| parities.map(f64::to_bits));
            if sets.iter().any(|(known, _)| *known == key) {
                continue;
            }
            let planes = layout.rungs::<T>(bonds, &angles, alike);
            let buffer = stream.zeros("bonds", planes.len())?;
            stream.upload("bonds", &planes, &buffer)?;
            sets.push((key, buffer));
        }
        let unlike = layout.unlike(bonds, alike);
        let mut marks = None;
        if rank == 2 {
            let nx = layout.grid.size()[0];
            let mut padded = vec![0; layout.pitch * layout.grid.rows()];
            for (to, from) in padded.chunks_mut(layout.pitch).zip(unlike.chunks(nx)) {
                to[..nx].copy_from_slice(from);
            }
            let plane = stream.zeros("bonds", padded.len())?;
            stream.upload("bonds", &padded, &plane)?;
            marks = Some(plane);
        }
        let rungs = Self { rank, sets, marks };
        Ok((rungs, unlike.iter().map(|mark| *mark != 0).collect()))
    }

    /// Addresses of the planes of a sub-step, and of the marks of a plane.
    pub(super) fn of(&self, substep: &Substep) -> Option<[u64; 2]> {
        let key = angles_of(substep, self.rank).map(|parities| parities.map(f64::to_bits));
        let (_, planes) = self.sets.iter().find(|(known, _)| *known == key)?;
        Some([planes.address(), self.marks.as_ref().map_or(0, Buffer::address)])
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.sets.iter().map(|(_, planes)| planes.bytes()).sum::<usize>() + self.marks.as_ref().map_or(0, Buffer::bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Edge, Grid};
    use crate::physics::{Layer, Medium, Quantum, Sets, Shape, Value};

    fn length(angle: f64, alike: f64, coupling: Option<Complex64>) -> f64 {
        let [a, b, d] = turn::<f64>(angle, alike, coupling);
        (1.0 + d) * (1.0 + a * a + b * b).sqrt() * (alike * angle).cos().abs()
    }

    /// Whatever a bond is like, its turn has determinant 1 once the phases have brought cos θ; one like all others is as these.
    #[test]
    fn turns_keep_the_norm() {
        for angle in [0.05, -0.3, 1.2, 2.0] {
            let phase = Complex64::from_polar(0.7, 1.1);
            for coupling in [
                None,
                Some(0.0.into()),
                Some((-1.3).into()),
                Some(2.2.into()),
                Some(phase),
            ] {
                for alike in [1.0, 0.0, -0.4] {
                    assert!(
                        (length(angle, alike, coupling).abs() - 1.0).abs() < 1e-14,
                        "{angle} {alike} {coupling:?}"
                    );
                }
            }
            for alike in [1.0, 0.0, -0.4] {
                let [t, b, d] = turn::<f32>(angle, alike, Some(alike.into()));
                assert!(
                    (t, b, d) == (<f32 as Real>::of((alike * angle).tan()), 0.0, 0.0),
                    "{t} {b} {d}"
                );
            }
            assert_eq!(alone::<f32>(angle, 0.0), 0.0);
            let [a, b, d] = turn::<f64>(angle, 1.0, Some(phase));
            let own = 0.7 * angle;
            let expected = Complex64::from_polar(own.sin() / angle.cos(), 1.1);
            let found = Complex64::new(a, b) * (1.0 + d);
            // The sign of cos θ goes with all bonds.
            assert!((found - expected).norm() < 1e-14, "{angle}: {found} {expected}");
        }
    }

    #[test]
    fn sites_beside_a_bond_unlike_others_are_marked() {
        let grid = Grid::new(&[8, 6], 1.0).with_edges([Edge::Periodic, Edge::Wall, Edge::Wall], 0);
        let quantum = Quantum {
            hopping: 1.0,
            ..Quantum::default()
        };
        let layer = Layer {
            axis: Some(0),
            ..Layer::new(
                Sets::Hopping,
                Shape::Box {
                    min: [7.0, 2.0, 0.0],
                    max: [7.0, 2.0, 0.0],
                },
                Value::Number(0.5),
            )
        };
        let bonds = Bonds::of(&quantum, &Medium::new(grid.clone(), vec![layer])).unwrap();
        let differing: Vec<usize> = (0..grid.sites())
            .filter(|site| bonds.at(0, *site) != Complex64::ONE)
            .collect();
        let mut walls = vec![false; grid.sites()];
        walls[0] = true;
        let layout = Layout {
            grid: &grid,
            pitch: 32,
            walls: Some(&walls),
        };
        let marks = layout.unlike(&bonds, [1.0; 3]);
        let mut expected = vec![0; grid.sites()];
        expected[0] = 1;
        for site in &differing {
            let [x, y, _] = grid.site(*site);
            expected[*site] |= 2;
            expected[grid.index([(x + 1) % 8, y, 0])] |= 2;
        }
        assert!(!differing.is_empty());
        assert_eq!(marks, expected);
        let planes = layout.rungs::<f64>(&bonds, &[[0.1, 0.2], [0.3, 0.4], [0.0; 2]], [1.0; 3]);
        let at = |plane: usize, [x, y]: [usize; 2]| planes[(plane * 6 + y) * 32 + x];
        for site in 0..grid.sites() {
            let [x, y, _] = grid.site(site);
            let angle: f64 = [0.1, 0.2][x % 2];
            let wall = walls[site] || walls[grid.index([(x + 1) % 8, y, 0])];
            let t = match (wall, differing.contains(&site)) {
                (true, _) => 0.0,
                (_, true) => (0.5 * angle).tan(),
                _ => angle.tan(),
            };
            assert_eq!([at(0, [x, y]), at(1, [x, y])], [t, 0.0]);
            let leaves = y == 5 || walls[site] || y < 5 && walls[site + 8];
            let angle: f64 = [0.3, 0.4][y % 2];
            let expected = if leaves {
                [0.0, alone(angle, 1.0)]
            } else {
                [angle.tan(), 0.0]
            };
            assert_eq!([at(3, [x, y]), at(4, [x, y])], expected, "{x} {y}");
        }
    }
}

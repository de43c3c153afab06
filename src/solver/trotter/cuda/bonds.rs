//! Bonds that differ from one another, on the device: the coefficients of each.
//!
//! A bond's coefficients are at the place of its lower site in a plane of the field's pitch. Those along x are separated by parity, a half row of bonds of even sites and then one of odd ones, so that
//! a sweep along any axis reads what it needs without gaps. A plane therefore holds one angle for even bonds and one for odd ones: one plane of tangents an axis for orders 1 and 2, two for order 4.
//! Bonds that leave the grid or touch a wall turn nothing, exactly, and the sweeps read no walls.

use super::Planes;
use crate::backend::cuda::{Buffer, CudaError, Stream};
use crate::field::Real;
use crate::grid::Grid;
use crate::physics::Bonds;
use crate::solver::device::OnCuda;
use crate::solver::trotter::naive::Turn;
use crate::solver::trotter::scheme::Sweep;
use num_complex::Complex;
use rayon::prelude::*;

/// Angles of the even and the odd bonds of a plane.
type Angles = [Option<f64>; 2];

/// The bonds of an axis.
struct AxisBonds<T: OnCuda> {
    /// f e^{iϕ} of the bond from every site, for sums.
    couplings: Planes<T>,
    /// e^{iϕ}, where some bond of the axis has a phase.
    gauge: Option<Planes<T>>,
    /// Tangents of half angles and sines.
    turns: Vec<(Angles, Planes<T>)>,
}

/// The bonds of a run.
pub(super) struct OwnBonds<T: OnCuda> {
    axes: Vec<AxisBonds<T>>,
}

/// The layout of planes on the device.
#[derive(Clone, Copy)]
pub(super) struct Layout<'a> {
    pub grid: &'a Grid,
    pub pitch: usize,
    pub walls: Option<&'a [bool]>,
}

impl Layout<'_> {
    /// Where the numbers of the bond from a site along an axis stand.
    fn place(&self, axis: usize, site: usize) -> usize {
        let nx = self.grid.size()[0];
        let (row, x) = (site / nx, site % nx);
        row * self.pitch + if axis == 0 { x % 2 * (self.pitch / 2) + x / 2 } else { x }
    }

    /// Whether a bond along an axis leads from a site to another one, and neither is a wall; and its parity.
    pub(super) fn joins(&self, axis: usize, site: usize) -> (bool, usize) {
        let size = self.grid.size();
        let stride: usize = size[..axis].iter().product();
        let (at, count) = (site / stride % size[axis], size[axis]);
        let next = if at + 1 < count {
            site + stride
        } else if self.grid.is_periodic(axis) && count > 1 {
            site - (count - 1) * stride
        } else {
            return (false, at % 2);
        };
        let open = self.walls.is_none_or(|walls| !walls[site] && !walls[next]);
        (open, at % 2)
    }

    /// Two planes of numbers of the bonds along an axis, `rest` where there is no bond.
    fn planes<T: Real>(
        &self,
        axis: usize,
        rest: [T; 2],
        of: impl Fn(usize, usize) -> Option<[T; 2]> + Sync,
    ) -> [Vec<T>; 2] {
        let nx = self.grid.size()[0];
        let mut planes = rest.map(|rest| vec![rest; self.pitch * self.grid.rows()]);
        let [first, second] = &mut planes;
        first
            .par_chunks_mut(self.pitch)
            .zip(second.par_chunks_mut(self.pitch))
            .enumerate()
            .for_each(|(row, (first, second))| {
                for site in row * nx..(row + 1) * nx {
                    let (joins, parity) = self.joins(axis, site);
                    if let Some(numbers) = of(site, parity).filter(|_| joins) {
                        let at = self.place(axis, site) - row * self.pitch;
                        [first[at], second[at]] = numbers;
                    }
                }
            });
        planes
    }

    /// tan (tanh) of half the angle and sin (sinh) of every bond along an axis.
    fn turns<T: Real>(&self, bonds: &Bonds, axis: usize, angles: Angles, imaginary: bool) -> [Vec<T>; 2] {
        self.planes(axis, [T::zero(); 2], |site, parity| {
            let (turn, _) = Turn::<T>::of_bond(angles[parity]?, imaginary, bonds.at(axis, site));
            Some([turn.t, turn.s])
        })
    }

    /// e^{iϕ} of every bond along an axis, if one of them has a phase.
    fn gauge<T: Real>(&self, bonds: &Bonds, axis: usize) -> Option<[Vec<T>; 2]> {
        let has_phase = |coupling: &num_complex::Complex64| coupling.im != 0.0;
        if !bonds.along(axis).par_iter().any(has_phase) {
            return None;
        }
        Some(self.planes(axis, [T::one(), T::zero()], |site, _| {
            let (_, gauge) = Turn::<T>::of_bond(0.0, false, bonds.at(axis, site));
            let Complex { re, im } = gauge?;
            Some([re, im])
        }))
    }

    /// f e^{iϕ} of every bond along an axis, each at its site also for x.
    fn couplings<T: Real>(&self, bonds: &Bonds, axis: usize) -> [Vec<T>; 2] {
        let nx = self.grid.size()[0];
        [0, 1].map(|part| {
            let mut plane = vec![T::zero(); self.pitch * self.grid.rows()];
            plane
                .par_chunks_mut(self.pitch)
                .zip(bonds.along(axis).par_chunks(nx))
                .for_each(|(to, from)| {
                    for (to, coupling) in to.iter_mut().zip(from) {
                        *to = T::of(if part == 0 { coupling.re } else { coupling.im });
                    }
                });
            plane
        })
    }
}

/// The angles of the sweeps of a scheme along an axis, in as few planes as hold them.
fn angles_along(sweeps: &[Sweep], axis: usize) -> Vec<Angles> {
    let distinct = |odd: bool| {
        let mut found: Vec<f64> = Vec::new();
        for sweep in sweeps.iter().filter(|sweep| sweep.axis == axis && sweep.odd == odd) {
            if !found.iter().any(|angle| angle.to_bits() == sweep.angle.to_bits()) {
                found.push(sweep.angle);
            }
        }
        found
    };
    let [even, odd] = [distinct(false), distinct(true)];
    (0..even.len().max(odd.len()))
        .map(|n| [even.get(n).copied(), odd.get(n).copied()])
        .collect()
}

impl<T: OnCuda> OwnBonds<T> {
    /// The buffers for single sweeps, if there are any, and for sums.
    pub(super) fn new(
        stream: &Stream,
        layout: Layout,
        bonds: &Bonds,
        (sweeps, imaginary): (&[Sweep], bool),
    ) -> Result<Self, CudaError> {
        let rank = layout.grid.rank();
        let put = |planes: [Vec<T>; 2]| -> Result<Planes<T>, CudaError> {
            let put = |plane: &[T]| {
                let buffer = stream.zeros("bonds", plane.len())?;
                stream.upload("bonds", plane, &buffer)?;
                Ok::<_, CudaError>(buffer)
            };
            Ok([put(&planes[0])?, put(&planes[1])?])
        };
        let mut axes = Vec::with_capacity(rank);
        for axis in 0..rank {
            let mut turns = Vec::new();
            for angles in angles_along(sweeps, axis) {
                turns.push((angles, put(layout.turns(bonds, axis, angles, imaginary))?));
            }
            let gauge = if sweeps.is_empty() {
                None
            } else {
                layout.gauge(bonds, axis)
            };
            axes.push(AxisBonds {
                couplings: put(layout.couplings(bonds, axis))?,
                gauge: gauge.map(put).transpose()?,
                turns,
            });
        }
        Ok(Self { axes })
    }

    /// Addresses of tangents and sines, and of phases (0 where there are none), for a sweep.
    pub(super) fn of(&self, sweep: &Sweep) -> Option<[[u64; 2]; 2]> {
        let axis = self.axes.get(sweep.axis)?;
        let is_here = |angles: &Angles| {
            let own = angles[usize::from(sweep.odd)];
            own.is_some_and(|angle| angle.to_bits() == sweep.angle.to_bits())
        };
        let (_, turns) = axis.turns.iter().find(|(angles, _)| is_here(angles))?;
        let address = |planes: &Planes<T>| [planes[0].address(), planes[1].address()];
        Some([address(turns), axis.gauge.as_ref().map_or([0; 2], address)])
    }

    /// Addresses of f cos ϕ and f sin ϕ by axes; 0 for axes that the grid has not.
    pub(super) fn couplings(&self) -> [[u64; 2]; 3] {
        [0, 1, 2].map(|axis| {
            let axis = self.axes.get(axis);
            axis.map_or([0; 2], |axis| axis.couplings.each_ref().map(Buffer::address))
        })
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        let planes = |planes: &Planes<T>| planes.iter().map(Buffer::bytes).sum::<usize>();
        let of_axis = |axis: &AxisBonds<T>| {
            planes(&axis.couplings)
                + axis.gauge.as_ref().map_or(0, planes)
                + axis.turns.iter().map(|(_, turns)| planes(turns)).sum::<usize>()
        };
        self.axes.iter().map(of_axis).sum()
    }
}

/// Planes that bonds take at most, see the module.
pub(super) fn most_planes(rank: usize, order: u32) -> u64 {
    let turns = if order == 4 { 4 } else { 2 };
    rank as u64 * (2 + 2 + turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Edge;
    use crate::physics::{Layer, Medium, Quantum, Sets, Shape, Value};

    fn layer(sets: Sets, value: f64) -> Layer {
        Layer::new(
            sets,
            Shape::Box {
                min: [1.0, 1.0, 0.0],
                max: [3.0, 2.0, 9.0],
            },
            Value::Number(value),
        )
    }

    fn bonds(grid: &Grid) -> Bonds {
        let quantum = Quantum {
            hopping: 1.0,
            flux: 0.05,
            ..Quantum::default()
        };
        let layers = vec![layer(Sets::Hopping, 0.3), layer(Sets::Flux, 0.2)];
        Bonds::of(&quantum, &Medium::new(grid.clone(), layers)).unwrap()
    }

    fn sweep(axis: usize, odd: bool, angle: f64) -> Sweep {
        Sweep { axis, odd, angle }
    }

    #[test]
    fn even_and_odd_angles_share_planes() {
        let second = [
            sweep(0, false, 0.1),
            sweep(0, true, 0.1),
            sweep(1, false, 0.1),
            sweep(1, true, 0.2),
            sweep(1, false, 0.1),
            sweep(0, true, 0.1),
        ];
        assert_eq!(angles_along(&second, 0), [[Some(0.1), Some(0.1)]]);
        assert_eq!(angles_along(&second, 1), [[Some(0.1), Some(0.2)]]);
        let fourth = [second.as_slice(), &[sweep(1, false, -0.3)]].concat();
        assert_eq!(angles_along(&fourth, 1), [[Some(0.1), Some(0.2)], [Some(-0.3), None]]);
        assert!(angles_along(&fourth, 2).is_empty());
    }

    /// Every bond turns as on the processor, in its own place; those that leave the grid, touch a wall or lie in the rest of a row turn nothing.
    #[test]
    fn bonds_stand_at_their_lower_sites() {
        for edges in [[Edge::Wall; 3], [Edge::Periodic, Edge::Wall, Edge::Periodic]] {
            let grid = Grid::new(&[6, 5, 4], 1.0).with_edges(edges, 0);
            let mut walls = vec![false; grid.sites()];
            walls[grid.index([2, 3, 1])] = true;
            let bonds = bonds(&grid);
            let layout = Layout {
                grid: &grid,
                pitch: 32,
                walls: Some(&walls),
            };
            for axis in 0..3 {
                let angles = [Some(0.2), Some(0.4)];
                let turns = layout.turns::<f64>(&bonds, axis, angles, false);
                let gauge = layout.gauge::<f64>(&bonds, axis);
                assert_eq!(gauge.is_some(), axis == 0, "the fluxes are in the bonds along x");
                let mut seen = vec![false; 32 * grid.rows()];
                for site in 0..grid.sites() {
                    let at = grid.site(site);
                    let mut to = at;
                    to[axis] += 1;
                    let inside = to[axis] < grid.size()[axis];
                    to[axis] %= grid.size()[axis];
                    let is_bond = (inside || edges[axis] == Edge::Periodic) && !walls[site] && !walls[grid.index(to)];
                    let row = at[1] + 5 * at[2];
                    let column = if axis == 0 { at[0] % 2 * 16 + at[0] / 2 } else { at[0] };
                    let place = 32 * row + column;
                    assert!(!std::mem::replace(&mut seen[place], true), "{axis} {at:?}");
                    let (turn, phase) = Turn::<f64>::of_bond([0.2, 0.4][at[axis] % 2], false, bonds.at(axis, site));
                    let phase = phase.unwrap_or(Complex::new(1.0, 0.0));
                    let (turn, phase) = if is_bond {
                        ([turn.t, turn.s], [phase.re, phase.im])
                    } else {
                        ([0.0; 2], [1.0, 0.0])
                    };
                    assert_eq!(turns.each_ref().map(|plane| plane[place]), turn, "{axis} {at:?}");
                    if let Some(gauge) = &gauge {
                        assert_eq!(gauge.each_ref().map(|plane| plane[place]), phase, "{axis} {at:?}");
                    }
                    let natural = 32 * row + at[0];
                    let coupling = bonds.at(axis, site);
                    let found = layout.couplings::<f64>(&bonds, axis).map(|plane| plane[natural]);
                    assert_eq!(found, [coupling.re, coupling.im]);
                }
                for (place, _) in seen.iter().enumerate().filter(|(_, seen)| !**seen) {
                    assert_eq!(turns.each_ref().map(|plane| plane[place]), [0.0; 2]);
                }
            }
        }
    }

    #[test]
    fn an_angle_that_is_not_asked_for_turns_nothing() {
        let grid = Grid::new(&[4, 4], 1.0);
        let layout = Layout {
            grid: &grid,
            pitch: 32,
            walls: None,
        };
        let turns = layout.turns::<f32>(&bonds(&grid), 1, [None, Some(0.1)], true);
        for (place, t) in turns[0].iter().enumerate() {
            // Bonds along y of odd sites.
            let odd = place / 32 == 1 && place % 32 < 4;
            assert_eq!(*t != 0.0, odd, "{place}");
        }
    }
}

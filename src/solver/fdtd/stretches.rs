//! The parts of a row that take different kernels: its ends in layers along x, what is between them, sites beside walls.

use super::absorb::{Axis, AxisLayer, Own, Stretch, site_change};
use super::cpml::Layer;
use super::lattice::Lattice;
use super::scheme::Sweep;
use super::stage::{Memory, Scratch, Stage};
use super::stencil::{Rows, site_sum};
use crate::field::Real;
use std::ops::Range;

impl<T: Real> Sweep<T> {
    /// pⁿ⁺¹ of the sites beside walls of a row whose pⁿ⁻¹ is `before`, and what layers will remember of them.
    pub(super) fn step_beside(&self, stage: &Stage<'_, T>, [j, k]: [usize; 2], before: &[T], scratch: &mut Scratch<T>) {
        let Lattice { half, rank, size, .. } = self.lattice;
        let row = j + size[1] * k;
        scratch.beside.clear();
        scratch.kept.clear();
        self.walls.for_each_beside(row, stage.now, |x, around| {
            let index = self.lattice.index([x, j, k]);
            let here = stage.now.at(index);
            let mut own: [Option<Own<T>>; 3] = [None; 3];
            let mut places = [0; 3];
            for memory in stage.memories {
                let Some(place) = memory.shape.place(size, [x, j, k]) else {
                    continue;
                };
                let axis = memory.shape.axis;
                let slot = memory.shape.slot([x, j, k][axis]).unwrap_or(0);
                #[allow(unsafe_code, reason = "see `Shared`")]
                // SAFETY: as where it is put back, in `row`.
                let remembered = unsafe { memory.slices(place..place + 1) };
                places[axis] = place;
                own[axis] = Some([0, 1, 2].map(|n| [memory.shape.factors()[n][slot], remembered[n][0]]));
            }
            let sum = if own.iter().all(Option::is_none) {
                site_sum(half, rank, here, around)
            } else {
                let axes = own[..rank].iter_mut().zip(around);
                axes.map(|(own, near)| site_change(half, here, near, own.as_mut()))
                    .sum()
            };
            for (n, memory) in stage.memories.iter().enumerate() {
                let axis = memory.shape.axis;
                if let Some(own) = own[axis] {
                    scratch.kept.push((n, places[axis], own.map(|[_, memory]| memory)));
                }
            }
            let square = if self.material.squares.is_empty() {
                self.material.square
            } else {
                self.material.squares[index]
            };
            scratch.beside.push(here + (square * sum + (here - before[x])));
        });
    }

    /// The step of a row without walls and damping, or of its ends alone; its ghosts may be wrong afterwards.
    pub(super) fn stretches(
        &self,
        stage: &Stage<'_, T>,
        span: &mut [T],
        [j, k]: [usize; 2],
        negative: &[T],
        whole: bool,
    ) {
        let lattice = &self.lattice;
        let (nx, half) = (lattice.size[0], lattice.half);
        let row = j + lattice.size[1] * k;
        let crossing =
            |memory: &Memory<'_, T>| memory.shape.axis > 0 && memory.shape.row(lattice.size, [j, k]).is_some();
        let crossed = stage.memories.iter().any(crossing);
        let rows = self.neighbours(stage.now, j, k, negative);
        let density = (!self.material.density.is_empty()).then(|| self.density_rows(j, k));
        let squares = (!self.material.squares.is_empty()).then(|| lattice.row(&self.material.squares, row));
        let [low, high] = stage.ends();
        for (part, end) in [(low.clone(), true), (low.end..high.start.min(nx), false), (high, true)] {
            if part.is_empty() || !(end || whole) {
                continue;
            }
            let rows = rows.part(part.clone(), half);
            let density = density.as_ref().map(|density| density.part(part.clone(), half));
            let squares = squares.map(|squares| &squares[part.clone()]);
            let out = &mut span[half + part.start..half + part.end];
            if end || crossed {
                self.absorb(stage, [j, k], part, &rows, density.as_ref(), squares, out);
            } else if let Some(density) = density {
                (self.density_kernel)(out, &rows, &density, squares.unwrap_or(&[]));
            } else {
                (self.kernel)(out, &rows, self.material.square, squares);
            }
        }
    }

    /// The step of a part of a row where layers absorb.
    #[expect(clippy::too_many_arguments, reason = "one call site")]
    fn absorb(
        &self,
        stage: &Stage<'_, T>,
        at: [usize; 2],
        part: Range<usize>,
        rows: &Rows<'_, T>,
        density: Option<&Rows<'_, T>>,
        squares: Option<&[T]>,
        out: &mut [T],
    ) {
        let (size, half, n) = (self.lattice.size, self.lattice.half, part.len());
        let mut axes: [Axis<'_, T>; 3] = std::array::from_fn(|axis| Axis {
            near: match axis {
                0 => std::array::from_fn(|k| {
                    let k = (k + 1).min(half);
                    [&rows.x[half - k..][..n], &rows.x[half + k..][..n]]
                }),
                1 => rows.y,
                _ => rows.z,
            },
            density: density.map(|density| match axis {
                0 => [&density.x[..n], &density.x[2..][..n]],
                1 => density.y[0],
                _ => density.z[0],
            }),
            layer: None,
        });
        for memory in stage.memories {
            let Some(places) = memory.shape.row(size, at) else {
                continue;
            };
            let (axis, columns) = (memory.shape.axis, memory.shape.axis == 0);
            let slots = if columns {
                let Some(slot) = memory.shape.slot(part.start) else {
                    continue;
                };
                slot..slot + n
            } else {
                let Some(slot) = memory.shape.slot(at[axis - 1]) else {
                    continue;
                };
                slot..slot + 1
            };
            let from = places.start + if columns { slots.start } else { part.start };
            axes[axis].layer = Some(AxisLayer {
                factors: [0, 1, 2].map(|n| &memory.shape.factors()[n][slots.clone()]),
                columns,
                #[allow(unsafe_code, reason = "see `Shared`")]
                // SAFETY: what is remembered of a row's sites belongs to the task that steps the row.
                memory: unsafe { memory.slices(from..from + n) },
            });
        }
        (self.absorb_kernel)(Stretch {
            here: &rows.x[half..][..n],
            out,
            squares,
            square: self.material.square,
            density: density.map(|density| &density.x[1..][..n]),
            axes: &mut axes[..self.lattice.rank],
        });
    }

    /// Sets ζ to what two levels that come from elsewhere need, so that their difference does not go on as a drift in the layers. Where layers
    /// of several axes overlap the first takes all of it.
    pub fn settle(&self, now: &[T], old: &[T], layers: &mut [Layer<T>]) {
        let size = self.lattice.size;
        if layers.is_empty() {
            return;
        }
        for layer in layers.iter_mut() {
            layer.zeta.fill(T::zero());
        }
        let sites = (0..size[2]).flat_map(|k| (0..size[1]).map(move |j| [j, k]));
        for (j, k, i) in sites.flat_map(|[j, k]| (0..size[0]).map(move |i| (j, k, i))) {
            let (site, index) = ([i, j, k], self.lattice.index([i, j, k]));
            let found = layers.iter_mut().find_map(|layer| {
                let place = layer.shape.place(size, site)?;
                let slot = layer.shape.slot(site[layer.shape.axis])?;
                let factor = layer.shape.factors()[2][slot];
                (factor < T::one()).then_some((&mut layer.zeta[place], factor))
            });
            let square = T::of(self.material.largest_courant(std::iter::once(index)).powi(2));
            if let Some((zeta, factor)) = found.filter(|_| square > T::zero()) {
                *zeta = (factor - T::one()) / factor * (now[index] - old[index]) / square;
            }
        }
    }

    /// The largest cΔt/a of the layers of `width` sites at both ends of an axis.
    pub(super) fn courants(&self, axis: usize, width: usize) -> [f64; 2] {
        let size = self.lattice.size;
        [width, size[axis] - 1 - width].map(|at| {
            let mut extent = size;
            extent[axis] = 1;
            let places = (0..extent.iter().product::<usize>()).map(|n| {
                let mut site = [n % extent[0], n / extent[0] % extent[1], n / (extent[0] * extent[1])];
                site[axis] = at;
                self.lattice.index(site)
            });
            self.material.largest_courant(places)
        })
    }
}

//! The parts of a row that take different kernels: its ends in layers along x, what is between them, sites beside walls.

use super::absorb::{
    Axis, Beyond, Damping, LayerBox, MixedRows, Own, RowBox, RowLayer, Strip, inverse, site_change, site_takes,
};
use super::cpml::Layer;
use super::lattice::Lattice;
use super::scheme::{Clean, Medium, Place, Sweep};
use super::segments::{Damped, alike, cut, ends};
use super::stage::{Memory, Mode, Scratch, Stage};
use super::stencil::site_sum;
use crate::field::{Precision, Real};
use std::ops::Range;

impl<T: Real> Sweep<T> {
    /// Appends pⁿ⁺¹ of the sites beside walls of a row whose pⁿ⁻¹ is `before`, and the new memory variables of their layers.
    pub(super) fn step_beside(&self, stage: &Stage<'_, T>, [j, k]: [usize; 2], before: &[T], scratch: &mut Scratch<T>) {
        let Lattice { half, rank, size, .. } = self.lattice;
        let row = j + size[1] * k;
        let damping = self.damping(stage, row);
        let damped = |x: usize, change: T, speed: T| match damping {
            Some(rates) => (change - rates[x] * speed) / (T::one() + rates[x]),
            None => change,
        };
        if !self.is_crossed(stage, [j, k]) && !self.ends_have_walls(stage, row) {
            let (uniform, squares) = (self.material.square, &self.material.squares);
            let first = self.lattice.sites(row).start;
            self.walls.sums_beside(row, (stage.now, first), |x, here, sum| {
                let square = squares.get(first + x).copied().unwrap_or(uniform);
                let speed = here - before[x];
                scratch.beside.push(here + damped(x, square * sum + speed, speed));
            });
            return;
        }
        self.walls.for_each_beside(row, stage.now, |x, around| {
            let index = self.lattice.index([x, j, k]);
            let here = stage.now.at(index);
            let mut own: [Option<Own<T>>; 3] = [None; 3];
            let mut ratios = [T::zero(); 3];
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
                let factors = memory.shape.factors();
                ratios[axis] = memory.shape.loss_ratios()[slot];
                own[axis] = Some([0, 1, 2].map(|n| [factors[n][slot], factors[n + 3][slot], remembered[n][0]]));
            }
            let sum = if own.iter().all(Option::is_none) {
                site_sum(half, rank, here, around)
            } else {
                let axes = own[..rank].iter_mut().zip(around);
                axes.map(|(own, near)| site_change(half, here, near, own.as_mut()))
                    .sum()
            };
            let square = if self.material.squares.is_empty() {
                self.material.square
            } else {
                self.material.squares[index]
            };
            let speed = here - before[x];
            let change = damped(x, square * sum + speed, speed);
            let next = here + change;
            scratch.beside.push(next);
            if T::PRECISION == Precision::Single && own.iter().any(Option::is_some) {
                site_takes(&mut own, ratios, ((next - here) - change) / square);
            }
            for (n, memory) in stage.memories.iter().enumerate() {
                let axis = memory.shape.axis;
                if let Some(own) = own[axis] {
                    scratch.kept.push((n, places[axis], own.map(|[.., memory]| memory)));
                }
            }
        });
    }

    /// γΔt of the sites of a row, if they are damped in this step.
    fn damping(&self, stage: &Stage<'_, T>, row: usize) -> Option<&[T]> {
        match stage.mode {
            Mode::Combine { damped: false, .. } => None,
            _ => self.material.damping(&self.lattice, row),
        }
    }

    /// Whether layers along y or z absorb in row (j, k).
    pub(super) fn is_crossed(&self, stage: &Stage<'_, T>, [j, k]: [usize; 2]) -> bool {
        let crosses =
            |memory: &Memory<'_, T>| memory.shape.axis > 0 && memory.shape.row(self.lattice.size, [j, k]).is_some();
        stage.memories.iter().any(crosses)
    }

    /// Whether sites beside walls of a row lie in layers along x.
    fn ends_have_walls(&self, stage: &Stage<'_, T>, row: usize) -> bool {
        let [low, high] = stage.ends();
        let beside = self.walls.beside(row);
        beside.first().is_some_and(|x| *x < low.end) || beside.last().is_some_and(|x| *x >= high.start)
    }

    /// The step of a row without listed walls, with any images for the rows around it; its ghosts may be wrong afterwards.
    pub(super) fn stretches(&self, stage: &Stage<'_, T>, span: &mut [T], at: [usize; 2], negative: &[T]) {
        let lattice = &self.lattice;
        let (nx, half) = (lattice.size[0], lattice.half);
        let [j, k] = at;
        let row = j + lattice.size[1] * k;
        let faces = self.faces.as_ref().filter(|_| self.walls.concern(row));
        let damping = self.damping(stage, row);
        let own = matches!(stage.mode, Mode::Step) && self.ways[row].mixed().is_some();
        let mixed = !self.material.density.is_empty() || faces.is_some() || damping.is_some();
        let boxed = self.is_crossed(stage, at) || mixed;
        let rows = self.neighbours(stage.now, j, k, negative);
        let density = (!self.material.density.is_empty()).then(|| self.density_rows(j, k));
        let squares = (!self.material.squares.is_empty()).then(|| lattice.row(&self.material.squares, row));
        let mut plain = |sites: Range<usize>, square: Option<T>| {
            let squares = squares
                .filter(|_| square.is_none())
                .map(|squares| &squares[sites.clone()]);
            let out = &mut span[half + sites.start..half + sites.end];
            let rows = rows.part(sites, half);
            (self.kernel)(out, &rows, square.unwrap_or(self.material.square), squares);
        };
        let [low, high] = stage.ends();
        let mut segments = if own {
            self.segments.of(row).to_vec()
        } else {
            alike(cut(nx, stage.ends()), boxed, [faces.is_some(), damping.is_some()])
        };
        if !own && !boxed && low.end < high.start.min(nx) {
            plain(low.end..high.start.min(nx), None);
        }
        for segment in segments.iter().filter(|segment| segment.look.plain) {
            plain(segment.sites.clone(), segment.look.square);
        }
        segments.retain(|segment| !segment.look.plain);
        if segments.is_empty() {
            return;
        }
        debug_assert!(
            rows.x.len() >= nx + 2 * half && span.len() >= nx + 2 * half,
            "{} values",
            span.len()
        );
        let start = |row: &[T]| row[..nx].as_ptr();
        let axes: [Axis<T>; 3] = std::array::from_fn(|axis| Axis {
            near: match axis {
                0 => std::array::from_fn(|k| {
                    let k = (k + 1).min(half);
                    [start(&rows.x[half - k..]), start(&rows.x[half + k..])]
                }),
                1 => rows.y.map(|pair| pair.map(start)),
                _ => rows.z.map(|pair| pair.map(start)),
            },
            density: density.as_ref().map(|density| match axis {
                0 => [start(density.x), start(&density.x[2..])],
                1 => density.y[0].map(start),
                _ => density.z[0].map(start),
            }),
            layer: self.layer(stage, axis, at, (1, 1)),
        });
        let beyond = Beyond {
            faces: faces.map(|faces| (faces.of(lattice.sites(row).start), faces.plane())),
            rates: damping.map(<[T]>::as_ptr),
            density: density.as_ref().map(|density| start(&density.x[1..])),
        };
        #[allow(unsafe_code, reason = "see `Shared`")]
        // SAFETY: every pointer is the start of a slice as long as the row or, in layers, was seen to reach as far; the row and what is remembered of its sites
        // belong to the task that steps the row.
        unsafe {
            (self.absorb_kernel)(&LayerBox {
                here: start(&rows.x[half..]),
                out: span[half..half + nx].as_mut_ptr(),
                squares: squares.map(start),
                square: self.material.square,
                axes,
                segments: &segments,
                beyond,
            });
        }
    }

    /// What rows read that stand at a place, `count` of them from (j, k) on, one behind the other along axis `along`, all in the same layers.
    fn row_box(
        &self,
        stage: &Stage<'_, T>,
        (place, medium): (Place, Medium),
        at: [usize; 2],
        (along, count): (usize, usize),
    ) -> RowBox<'_, T> {
        let lattice = &self.lattice;
        let [nx, ny, _] = lattice.size;
        let (square, uniform) = self.square_of(medium);
        let stride = lattice.stride * [1, ny][along - 1];
        let begin = lattice.index([0, at[0], at[1]]);
        let end = begin + (count - 1) * stride + nx;
        // All of the array: rows at edges read far ones.
        let here = stage.now.pointer(0..lattice.values(), begin);
        let squares =
            (!self.material.squares.is_empty() && !uniform).then(|| self.material.squares[begin..end].as_ptr());
        let mut layers = [RowLayer::NONE; 3];
        for (axis, layer) in layers.iter_mut().enumerate().take(lattice.rank) {
            if let Some(own) = self.layer(stage, axis, at, (along, count)) {
                *layer = own;
            }
        }
        RowBox {
            here,
            out: stage.old.pointer(begin..end, begin),
            squares,
            square,
            inverse: inverse(square),
            beside: [
                &self.beside[0][usize::from(place[0])],
                &self.beside[1][usize::from(place[1])],
            ],
            layers,
            stride,
        }
    }

    /// The step of `count` rows that have layers at most, from (j, k) on, one behind the other along axis `along`: of plain ones, of their ends in layers along x alone.
    ///
    /// # Safety
    /// As for [`Sweep::rows`].
    #[allow(unsafe_code, reason = "see `Shared`")]
    pub(super) unsafe fn layered(
        &self,
        stage: &Stage<'_, T>,
        clean: Clean,
        at: [usize; 2],
        (along, count): (usize, usize),
    ) {
        if clean.damped == Damped::All || clean.is_plain() && stage.layer_of(0).is_none() {
            return;
        }
        let nx = self.lattice.size[0];
        let rows = self.row_box(stage, (clean.place, clean.medium), at, (along, count));
        let across = usize::from(clean.crossed[0]) << 1 | usize::from(clean.crossed[1]) << 2;
        for (sites, shift) in cut(nx, stage.ends()) {
            if sites.is_empty() || shift.is_none() && clean.is_plain() {
                continue;
            }
            let strip = Strip {
                sites,
                shift: shift.unwrap_or(0),
                rows: 0..count,
            };
            // SAFETY: the box reaches all that the stencil reads, the rows themselves, and what is remembered of them, which belongs to the task that steps them.
            unsafe { (self.layered_kernels[usize::from(shift.is_some()) | across])(&rows, &strip) }
        }
    }

    /// The step of the sites that are damped of `count` rows, as above.
    ///
    /// # Safety
    /// As for [`Sweep::rows`].
    #[allow(unsafe_code, reason = "see `Shared`")]
    pub(super) unsafe fn damped(
        &self,
        stage: &Stage<'_, T>,
        clean: Clean,
        at: [usize; 2],
        (along, count): (usize, usize),
    ) {
        let [nx, ny, _] = self.lattice.size;
        let [first, last] = ends(nx);
        let strips = match clean.damped {
            Damped::NONE => return,
            Damped::Ends([below, above]) => [below.then_some(first), above.then_some(last)],
            Damped::All => [Some(0..nx), None],
        };
        let rows = self.row_box(stage, (clean.place, clean.medium), at, (along, count));
        let rates = self.rates((at[0] + ny * at[1], if along == 1 { 1 } else { ny }));
        for sites in strips.into_iter().flatten() {
            let strip = Strip {
                sites,
                shift: 0,
                rows: 0..count,
            };
            // SAFETY: as above; rates are as long as rows.
            unsafe { (self.damped_kernel)(&rows, &strip, &rates) }
        }
    }

    /// The step of `count` rows that have parts of their own, as above.
    ///
    /// # Safety
    /// As for [`Sweep::rows`].
    #[allow(unsafe_code, reason = "see `Shared`")]
    pub(super) unsafe fn mixed(
        &self,
        stage: &Stage<'_, T>,
        ([in_y, in_z], place): ([bool; 2], Place),
        at: [usize; 2],
        (along, count): (usize, usize),
    ) {
        let lattice = &self.lattice;
        let ny = lattice.size[1];
        let rows = self.row_box(stage, (place, None), at, (along, count));
        let first = at[0] + ny * at[1];
        let step = if along == 1 { 1 } else { ny };
        let begin = lattice.sites(first).start;
        let density = &self.material.density;
        // SAFETY: as above; arrays of the medium lie like the levels.
        unsafe {
            (self.mixed_kernel)(&MixedRows {
                rows: &rows,
                count,
                segments: &self.segments,
                first,
                step,
                absorbs: [stage.layer_of(0).is_some(), in_y, in_z],
                inner: (place == [0; 2]).then_some([lattice.stride, lattice.stride * ny]),
                density: (!density.is_empty()).then(|| density.as_ptr().wrapping_add(begin)),
                faces: self.faces.as_ref().map(|faces| (faces.of(begin), faces.plane())),
                damping: self.rates((first, step)),
                layered: &self.layered_kernels,
                general: self.absorb_kernel,
            });
        }
    }

    /// γΔt of the rows of a box: the first, and how many rows of the grid further the next one is.
    fn rates(&self, (first, step): (usize, usize)) -> Damping<'_, T> {
        Damping {
            first,
            step,
            rows: self.material.damped_rows(),
            rates: self.material.rates(),
            sites: self.lattice.size[0],
        }
    }

    /// λ² of rows with a medium, and whether it is theirs; otherwise that of the grid.
    pub(super) fn square_of(&self, medium: Medium) -> (T, bool) {
        let own = medium.and_then(|medium| self.media.get(usize::from(medium)));
        (own.copied().unwrap_or(self.material.square), own.is_some())
    }

    /// What `count` rows from `at` on along `along` have of the layers along `axis`.
    ///
    /// Inline: a copy of what was just written in smaller parts waits for it.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "once a run of rows")]
    fn layer(
        &self,
        stage: &Stage<'_, T>,
        axis: usize,
        at: [usize; 2],
        (along, count): (usize, usize),
    ) -> Option<RowLayer<T>> {
        let size = self.lattice.size;
        let memory = stage.layer_of(axis)?;
        let first = memory.shape.row(size, at)?;
        let slot = if axis == 0 { 0 } else { memory.shape.slot(at[axis - 1])? };
        let next_memory = memory.shape.next_row(size, along);
        let next_factor = usize::from(axis == along);
        let reads = if axis == 0 {
            first.len()
        } else {
            (count - 1) * next_factor + 1
        };
        let slots = memory.shape.slots();
        Some(RowLayer {
            factors: memory.shape.together()[slot..6 * slots + slot + reads].as_ptr(),
            apart: slots,
            next_factor,
            memory: memory.pointers(first.start..first.start + (count - 1) * next_memory + first.len()),
            next_memory,
        })
    }

    /// Sets ζ for two levels that are not the result of a step, so that their difference does not persist as a drift in the layers. Where layers
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

    /// Has `change` make every ζ from itself, from A/(1 − A) and λ² times that, which times ζ is what it adds to the rate pⁿ⁺¹ − pⁿ in time, and from the axis' share of the rate between two levels.
    /// Shares of axes that meet are as σ + α, whatever Δt. Where nothing is damped ζ becomes 0.
    pub(super) fn renew_memories(
        &self,
        [now, old]: [&[T]; 2],
        layers: &mut [Layer<T>],
        change: impl Fn(T, [T; 2], T) -> T,
    ) {
        let size = self.lattice.size;
        let ends = layers.iter().find(|layer| layer.shape.axis == 0);
        let ends = ends.map_or([0..0, 0..0], |layer| layer.shape.ends());
        for [j, k] in (0..size[2]).flat_map(|k| (0..size[1]).map(move |j| [j, k])) {
            let across = |layer: &Layer<T>| layer.shape.axis > 0 && layer.shape.row(size, [j, k]).is_some();
            let places = if layers.iter().any(across) {
                [0..size[0], 0..0]
            } else {
                ends.clone()
            };
            for i in places.into_iter().flatten() {
                let (site, index) = ([i, j, k], self.lattice.index([i, j, k]));
                let mut own = [None; 3];
                for (own, layer) in own.iter_mut().zip(layers.iter()) {
                    let slot = layer.shape.slot(site[layer.shape.axis]);
                    let factor = slot.map(|slot| layer.shape.factors()[2][slot]);
                    *own = layer.shape.place(size, site).zip(factor);
                }
                let together: T = own.iter().flatten().map(|(_, factor)| factor.ln()).sum();
                let square = T::of(self.material.largest_courant(std::iter::once(index)).powi(2));
                let rate = now[index] - old[index];
                for (layer, own) in layers.iter_mut().zip(own) {
                    let Some((place, factor)) = own else { continue };
                    let zeta = &mut layer.zeta[place];
                    let lasting = factor / (T::one() - factor);
                    let weight = square * lasting;
                    // Where next to nothing is left of a wave, a quotient could be beyond all numbers.
                    *zeta = if factor < T::one() && weight > T::of(1e-20) {
                        change(*zeta, [lasting, weight], rate * (factor.ln() / together))
                    } else {
                        T::zero()
                    };
                }
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

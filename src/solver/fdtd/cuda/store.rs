//! The memory of a run on the device, and copies to and from the host.
//!
//! Levels are `pitch` × ny × nz numbers, x fastest, pitch = nx rounded up to 32, without ghosts; the layers' memories lie as on the host.

use super::super::cpml;
use super::super::lattice::Lattice;
use super::super::run::Fdtd;
use super::params::{self, unsigned, whole};
use crate::backend::cuda::{Buffer, CudaError, Piece, Stream};
use crate::solver::device::OnCuda;
use crate::solver::device::rows::{address, list, pull_rows, push_rows};
use std::ops::Range;

/// The medium on the device.
pub(super) struct Medium<T: OnCuda> {
    squares: Option<Buffer<T>>,
    density: Option<Buffer<T>>,
    damping: Option<Buffer<T>>,
    mask: Option<Buffer<u8>>,
    layers: Vec<Layer<T>>,
    uniform_density: f64,
    square: T,
    /// Segments of rows, absorbing edges and density included, that take more than the plain kernels; empty: none.
    segments: Vec<bool>,
    /// The same but for absorbing edges; none where there are no such edges.
    inner: Option<Vec<bool>>,
    /// Which segments which kernel steps; none where the plain one steps all.
    shared: Option<Shared>,
}

/// How the segments of a grid are shared among kernels.
struct Shared {
    /// Those that are not plain, one value each.
    skip: Buffer<u8>,
    /// What the kernel for everything steps.
    listed: Option<Buffer<u32>>,
    /// What the kernel for absorbing layers, speeds and densities steps.
    layered: Option<Buffer<u32>>,
    /// Whether the plain kernel steps something.
    plain: bool,
}

impl Shared {
    /// `special`: segments that the plain kernel cannot step; `fit`: those that the kernel for layers can; `across` segments a row, `ny` rows a plane.
    fn new(
        stream: &Stream,
        special: &[bool],
        fit: &[bool],
        (across, ny): (usize, usize),
    ) -> Result<Option<Self>, CudaError> {
        if special.is_empty() {
            return Ok(None);
        }
        let what = "what the plain kernels skip";
        let of = |segments: &[bool]| {
            let numbers = in_blocks(segments, across, ny);
            (!numbers.is_empty()).then(|| list(stream, what, &numbers)).transpose()
        };
        let skip: Vec<u8> = special.iter().map(|special| u8::from(*special)).collect();
        let [listed, layered] = shares(special, fit, special.len() > across * ny);
        let plain = listed.iter().zip(&layered).any(|(listed, layered)| !listed && !layered);
        let [listed, layered] = [of(&listed)?, of(&layered)?];
        Ok(Some(Self {
            skip: list(stream, what, &skip)?,
            listed,
            layered,
            plain,
        }))
    }

    fn bytes(&self) -> usize {
        let lists = [&self.listed, &self.layered].into_iter().flatten().map(Buffer::bytes);
        self.skip.bytes() + lists.sum::<usize>()
    }
}

/// Columns of a row that are plain or not, as `kernels/fdtd.cuh` has them.
pub(super) const SEGMENT: usize = 32;
/// The share of segments with more than layers, speeds and densities above which one kernel for everything is faster than several.
const MOST_SHARED: f64 = 0.6;
/// Segments up to which one launch for everything is faster than two: a launch takes longer than so many plain sites in the kernel of the others.
const MOST_ALONE: usize = 1 << 13;
/// The same in space for the kernel of layers, which is faster: with layers at all edges 57.2 G in one launch and 49.4 in two at 160³, 74.3 and 129.9 at 512³ (order 2, single, H200).
const MOST_LAYERED: usize = 1 << 17;

/// What the kernel for everything steps, and what that for layers; the plain kernel steps the rest.
fn shares(special: &[bool], fit: &[bool], in_space: bool) -> [Vec<bool>; 2] {
    let mixed: Vec<bool> = special.iter().zip(fit).map(|(special, fit)| *special && !fit).collect();
    let count = mixed.iter().filter(|mixed| **mixed).count();
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let many = count as f64 >= MOST_SHARED * special.len() as f64;
    let most = if in_space { MOST_LAYERED } else { MOST_ALONE };
    if special.len() <= most && fit.iter().all(|fit| *fit) {
        return [mixed, fit.to_vec()];
    }
    if many || special.len() <= MOST_ALONE {
        return [vec![true; special.len()], vec![false; special.len()]];
    }
    let layered = special.iter().zip(fit).map(|(special, fit)| *special && *fit).collect();
    [mixed, layered]
}

/// Which segments have walls beside them or absorption.
fn marked_segments<T: OnCuda>(host: &Fdtd<T>, marks: &[u8], pitch: usize) -> Vec<bool> {
    let (lattice, material) = (&host.sweep.lattice, &host.sweep.material);
    let (nx, across) = (lattice.size[0], pitch / SEGMENT);
    let mut all = vec![false; across * lattice.rows()];
    for (row, segments) in all.chunks_exact_mut(across).enumerate() {
        if let Some(values) = material.damping(lattice, row) {
            for (segment, values) in segments.iter_mut().zip(values.chunks(SEGMENT)) {
                *segment |= values.iter().any(|value| *value != T::zero());
            }
        }
        if !marks.is_empty() {
            let marks = &marks[row * nx..(row + 1) * nx];
            for (segment, marks) in segments.iter_mut().zip(marks.chunks(SEGMENT)) {
                *segment |= marks.iter().any(|mark| *mark != 0);
            }
        }
    }
    all
}

/// Which segments take more than the plain kernels; empty: none. `marks`: one value a site, or none.
fn special_segments<T: OnCuda>(host: &Fdtd<T>, layers: &[cpml::Layer<T>], marks: &[u8], pitch: usize) -> Vec<bool> {
    let (lattice, material) = (&host.sweep.lattice, &host.sweep.material);
    let [nx, ny, _] = lattice.size;
    let across = pitch / SEGMENT;
    let mut all = marked_segments(host, marks, pitch);
    if !material.density.is_empty() {
        all.fill(true);
    }
    for (row, segments) in all.chunks_exact_mut(across).enumerate() {
        for layer in layers {
            let axis = layer.shape.axis;
            let touched = |at: usize| layer.shape.slot(at).is_some();
            match axis {
                0 => {
                    for (n, segment) in segments.iter_mut().enumerate() {
                        *segment |= (n * SEGMENT..((n + 1) * SEGMENT).min(nx)).any(touched);
                    }
                }
                1 if touched(row % ny) => segments.fill(true),
                2 if touched(row / ny) => segments.fill(true),
                _ => {}
            }
        }
    }
    if all.contains(&true) { all } else { Vec::new() }
}

/// Which segments hold nothing but absorbing layers, speeds and densities, as `kernels/fdtd_layers.cuh` takes them: out of reach of edges at which no layer ends.
fn fitting_segments<T: OnCuda>(host: &Fdtd<T>, marks: &[u8], pitch: usize) -> Vec<bool> {
    let lattice = &host.sweep.lattice;
    let ([nx, ny, _], half, across) = (lattice.size, lattice.half, pitch / SEGMENT);
    // Whether the kernel knows what stands beside a site along an axis.
    let knows = |axis: usize, at: usize| {
        let size = lattice.size[axis];
        let near = at < half || at + half >= size;
        let mut layers = host.layers.iter().filter(|layer| layer.shape.axis == axis);
        !near || size > half && layers.any(|layer| layer.shape.slot(at).is_some())
    };
    let mut all = marked_segments(host, marks, pitch);
    let dense_beyond_order_2 = half > 1 && !host.sweep.material.density.is_empty();
    for (row, segments) in all.chunks_exact_mut(across).enumerate() {
        let at = [0, row % ny, row / ny];
        let inside = !dense_beyond_order_2 && (1..lattice.rank).all(|axis| knows(axis, at[axis]));
        for (n, segment) in segments.iter_mut().enumerate() {
            let mut sites = n * SEGMENT..((n + 1) * SEGMENT).min(nx);
            *segment = inside && !*segment && sites.all(|at| knows(0, at));
        }
    }
    all
}

/// The numbers of those that are true.
pub(super) fn numbers(all: &[bool]) -> Vec<u32> {
    (0..all.len()).filter(|n| all[*n]).map(unsigned).collect()
}

/// Rows whose segments stand together in a list: a block of the kernels has as many warps, and rows share what they read of one another.
const ROWS: usize = 8;

/// The numbers of the segments that are true, `across` a row and `ny` rows a plane: of [`ROWS`] rows the first segments, then the second, and so on.
fn in_blocks(all: &[bool], across: usize, ny: usize) -> Vec<u32> {
    let mut numbers = Vec::new();
    for plane in 0..all.len() / (across * ny) {
        for first in (0..ny).step_by(ROWS) {
            for n in 0..across {
                let rows = (first..(first + ROWS).min(ny)).map(|j| n + across * (j + ny * plane));
                numbers.extend(rows.filter(|own| all[*own]).map(unsigned));
            }
        }
    }
    numbers
}

/// Where a list lies, and how long it is.
fn numbered(list: &Buffer<u32>) -> (u64, usize) {
    (list.address(), list.bytes() / size_of::<u32>())
}

struct Layer<T: OnCuda> {
    axis: usize,
    /// Slots of each end.
    end: usize,
    slots: Slots,
    factors: Buffer<T>,
    psi: Buffer<T>,
    zeta: Buffer<T>,
}

/// How the slots of a layer lie on the host and on the device, where both ends have as many: the kernels count on that. An end of a window at which the grid goes on has
/// none on the host, or fewer; what is missing there does nothing (A = 1, B = 0), and stands in ghost rows that nobody counts on ([`super::super::split`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slots {
    /// Of either end on the host.
    here: [usize; 2],
    /// Of each end on the device.
    end: usize,
}

impl Slots {
    fn new<T>(shape: &cpml::Shape<T>) -> Self {
        let here = shape.ends().map(|sites| sites.len());
        Self {
            here,
            end: here[0].max(here[1]),
        }
    }

    /// The slot on the device of one on the host.
    fn there(&self, slot: usize) -> usize {
        if slot < self.here[0] {
            slot
        } else {
            slot - self.here[0] + 2 * self.end - self.here[1]
        }
    }

    fn are_even(&self) -> bool {
        self.here[0] == self.here[1]
    }

    /// Blocks of the same number of values for each slot, as the device has them; what is missing is `rest`.
    fn spread<T: Copy>(&self, values: &[T], blocks: usize, rest: T) -> Vec<T> {
        if self.are_even() {
            return values.to_vec();
        }
        let [low, high] = self.here;
        let slot = values.len() / (blocks * (low + high));
        let block = |values: &[T]| {
            let (below, above) = values.split_at(low * slot);
            let missing = std::iter::repeat_n(rest, (2 * self.end - low - high) * slot);
            below
                .iter()
                .copied()
                .chain(missing)
                .chain(above.iter().copied())
                .collect::<Vec<T>>()
        };
        values.chunks_exact((low + high) * slot).flat_map(block).collect()
    }

    /// The inverse.
    fn gather<T: Copy>(&self, values: &[T], blocks: usize, to: &mut [T]) {
        let [low, high] = self.here;
        if self.are_even() || low + high == 0 {
            to.copy_from_slice(&values[..to.len()]);
            return;
        }
        let slot = values.len() / (blocks * 2 * self.end);
        let all = values.chunks_exact(2 * self.end * slot);
        for (to, from) in to.chunks_exact_mut((low + high) * slot).zip(all) {
            to[..low * slot].copy_from_slice(&from[..low * slot]);
            to[low * slot..].copy_from_slice(&from[(2 * self.end - high) * slot..]);
        }
    }
}

/// Copies a level into an array with the layout of `lattice`, ghosts included.
pub(super) fn pull_level<T: OnCuda>(
    stream: &Stream,
    what: &str,
    lattice: &Lattice,
    pitch: usize,
    from: &Buffer<T>,
    to: &mut [T],
) -> Result<(), CudaError> {
    let (nx, rows) = (lattice.size[0], lattice.rows());
    let all = &mut to[..rows * lattice.stride];
    pull_rows(stream, what, [pitch, lattice.stride], from, all, |from, to| {
        to[lattice.front..lattice.front + nx].copy_from_slice(&from[..nx]);
    })?;
    lattice.fill_all_ghosts(to, true);
    Ok(())
}

/// One value a site: 1 in walls, 2 beside them where the kernels look for them.
fn marks<T: OnCuda>(host: &Fdtd<T>) -> Vec<u8> {
    let nx = host.sweep.lattice.size[0];
    let mut marks: Vec<u8> = host.sweep.mask.iter().map(|wall| u8::from(*wall)).collect();
    for (row, marks) in marks.chunks_exact_mut(nx).enumerate() {
        for x in host.sweep.walls.beside(row) {
            marks[*x] |= 2;
        }
    }
    marks
}

/// The memory variables of the two layers of an axis: psi below and above sites, then zeta.
pub(super) struct Memories<T: OnCuda> {
    pub psi: Buffer<T>,
    pub zeta: Buffer<T>,
}

impl<T: OnCuda> Medium<T> {
    /// The medium that `host` has read.
    pub(super) fn new(stream: &Stream, host: &Fdtd<T>, pitch: usize) -> Result<Self, CudaError> {
        let (lattice, material) = (&host.sweep.lattice, &host.sweep.material);
        let [nx, rows] = [lattice.size[0], lattice.rows()];
        let shape = [nx, rows, pitch];
        let plane = |what: &str, all: &[T]| -> Result<Option<Buffer<T>>, CudaError> {
            if all.is_empty() {
                return Ok(None);
            }
            let buffer = stream.zeros(what, pitch * rows)?;
            push_rows(stream, what, shape, &buffer, 0, |row, out| {
                out.copy_from_slice(lattice.row(all, row));
            })?;
            Ok(Some(buffer))
        };
        let damped = (0..rows).any(|row| material.damping(lattice, row).is_some());
        let damping = if damped {
            let buffer = stream.zeros("the absorption", pitch * rows)?;
            push_rows(stream, "the absorption", shape, &buffer, 0, |row, out| {
                match material.damping(lattice, row) {
                    Some(values) => out.copy_from_slice(values),
                    None => out.fill(T::zero()),
                }
            })?;
            Some(buffer)
        } else {
            None
        };
        let mut mask = None;
        let all_marks = marks(host);
        if !all_marks.is_empty() {
            let buffer = stream.zeros("walls", pitch * rows)?;
            push_rows(stream, "walls", shape, &buffer, 0, |row, out| {
                out.copy_from_slice(&all_marks[row * nx..(row + 1) * nx]);
            })?;
            mask = Some(buffer);
        }
        let mut layers = Vec::new();
        for layer in &host.layers {
            let (slots, what) = (Slots::new(&layer.shape), "the absorbing layers");
            let (decays, shifts) = layer.shape.factors().split_at(3);
            let factors: Vec<T> = (decays.iter().map(|factors| slots.spread(factors, 1, T::one())))
                .chain(shifts.iter().map(|factors| slots.spread(factors, 1, T::zero())))
                .flatten()
                .collect();
            layers.push(Layer {
                axis: layer.shape.axis,
                end: slots.end,
                slots,
                factors: list(stream, what, &factors)?,
                psi: list(stream, what, &slots.spread(&layer.psi, 2, T::zero()))?,
                zeta: list(stream, what, &slots.spread(&layer.zeta, 1, T::zero()))?,
            });
        }
        let segments = special_segments(host, &host.layers, &all_marks, pitch);
        let inner = (!host.layers.is_empty()).then(|| special_segments(host, &[], &all_marks, pitch));
        let fit = fitting_segments(host, &all_marks, pitch);
        Ok(Self {
            shared: Shared::new(stream, &segments, &fit, (pitch / SEGMENT, lattice.size[1]))?,
            segments,
            inner,
            squares: plane("the sound speed", &material.squares)?,
            density: plane("the density", &material.density)?,
            damping,
            mask,
            layers,
            uniform_density: material.uniform_density,
            square: material.square,
        })
    }

    /// Copies the memory variables of absorbing layers to the host.
    pub(super) fn pull_layers(&self, stream: &Stream, host: &mut Fdtd<T>) -> Result<(), CudaError> {
        for (layer, there) in host.layers.iter_mut().zip(&self.layers) {
            for (from, blocks, to) in [
                (&there.psi, 2, &mut layer.psi[..]),
                (&there.zeta, 1, &mut layer.zeta[..]),
            ] {
                let mut values = vec![T::zero(); from.bytes() / size_of::<T>()];
                stream.download("the absorbing layers", from, &mut values)?;
                there.slots.gather(&values, blocks, to);
            }
        }
        Ok(())
    }

    /// Appends the pieces of the layers' memory variables of some rows: of the rows of a plane all or none, as parts of a grid are cut.
    pub(super) fn pieces_of_layers(&self, host: &Fdtd<T>, rows: Range<usize>, all: &mut Vec<Piece>) {
        let lattice = &host.sweep.lattice;
        let (size, lines) = (lattice.size, if lattice.rank == 3 { lattice.size[1] } else { 1 });
        for (layer, there) in host.layers.iter().zip(&self.layers) {
            let of = |row: usize| layer.shape.row(size, [row % size[1], row / size[1]]);
            // What is remembered of a plane lies in one piece: both its first and its last row are in a layer, or all of it is in none.
            let of_plane = |plane: usize| {
                let own = of(plane * lines)?.start..of((plane + 1) * lines - 1)?.end;
                // Along the axis that is cut it is a slot.
                let slot = if layer.shape.axis + 1 == lattice.rank {
                    layer.shape.slot(plane)?
                } else {
                    0
                };
                let further = (there.slots.there(slot) - slot) * own.len();
                Some((slot == there.slots.here[0], own.start + further..own.end + further))
            };
            let mut ranges: Vec<Range<usize>> = Vec::new();
            for (first_above, own) in (rows.start / lines..rows.end / lines).filter_map(of_plane) {
                match ranges.last_mut() {
                    Some(last) if last.end == own.start && !first_above => last.end = own.end,
                    _ => ranges.push(own),
                }
            }
            let real = size_of::<T>();
            let above = (there.psi.bytes() / 2) as u64;
            for range in ranges {
                debug_assert!(range.end * real <= there.zeta.bytes(), "{range:?}");
                for start in [there.psi.address(), there.psi.address() + above, there.zeta.address()] {
                    all.push(Piece {
                        address: start + (range.start * real) as u64,
                        bytes: range.len() * real,
                    });
                }
            }
        }
    }

    /// Axes with layers.
    pub(super) fn layer_axes(&self) -> impl Iterator<Item = usize> {
        self.layers.iter().map(|layer| layer.axis)
    }

    /// A second set of memory variables.
    pub(super) fn more_memories(&self, stream: &Stream) -> Result<Vec<Memories<T>>, CudaError> {
        let what = "the absorbing layers";
        let same = |buffer: &Buffer<T>| stream.zeros(what, buffer.bytes() / size_of::<T>());
        let of = |layer: &Layer<T>| {
            Ok(Memories {
                psi: same(&layer.psi)?,
                zeta: same(&layer.zeta)?,
            })
        };
        self.layers.iter().map(of).collect()
    }

    /// Exchanges the memory variables with those of another set.
    pub(super) fn swap_memories(&mut self, others: &mut [Memories<T>]) {
        for (layer, other) in self.layers.iter_mut().zip(others) {
            std::mem::swap(&mut layer.psi, &mut other.psi);
            std::mem::swap(&mut layer.zeta, &mut other.zeta);
        }
    }

    /// Whether every site has its own speed.
    pub(super) fn has_speeds(&self) -> bool {
        self.squares.is_some()
    }

    /// Whether every site has its own density.
    pub(super) fn has_density(&self) -> bool {
        self.density.is_some()
    }

    /// Whether some sites absorb.
    pub(super) fn has_damping(&self) -> bool {
        self.damping.is_some()
    }

    /// Whether the plain kernels suffice.
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain_but_for_layers() && self.layers.is_empty()
    }

    /// Whether there is nothing but speeds and absorbing edges.
    pub(super) fn is_plain_but_for_layers(&self) -> bool {
        self.density.is_none() && self.damping.is_none() && self.mask.is_none()
    }

    /// Segments where a step does more than the plain kernels, row by row; empty: none. `without_layers`: but for absorbing edges.
    pub(super) fn special_segments(&self, without_layers: bool) -> &[bool] {
        let inner = self.inner.as_ref().filter(|_| without_layers);
        inner.unwrap_or(&self.segments)
    }

    /// Whether the plain kernel steps something.
    pub(super) fn has_plain_steps(&self) -> bool {
        self.shared.as_ref().is_none_or(|shared| shared.plain)
    }

    /// The list of segments that the kernel for everything steps, with their number.
    pub(super) fn listed(&self) -> Option<(u64, usize)> {
        Some(numbered(self.shared.as_ref()?.listed.as_ref()?))
    }

    /// The same for the kernel of absorbing layers.
    pub(super) fn layered(&self) -> Option<(u64, usize)> {
        Some(numbered(self.shared.as_ref()?.layered.as_ref()?))
    }

    /// As the kernels take it.
    pub(super) fn parameters(&self) -> params::Medium<T> {
        let mut layer = [params::Layer::default(); 3];
        for from in &self.layers {
            layer[from.axis] = params::Layer {
                factors: from.factors.address(),
                lower: from.psi.address(),
                upper: from.psi.address() + (from.psi.bytes() / 2) as u64,
                zeta: from.zeta.address(),
                end: whole(from.end),
            };
        }
        params::Medium {
            squares: address(self.squares.as_ref()),
            density: address(self.density.as_ref()),
            damping: address(self.damping.as_ref()),
            mask: address(self.mask.as_ref()),
            skip: self.shared.as_ref().map_or(0, |shared| shared.skip.address()),
            uniform_density: self.uniform_density,
            square: self.square,
            layers: whole(self.layers.len()),
            layer,
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let planes = [&self.squares, &self.density, &self.damping];
        let layers = self.layers.iter().map(|layer| layer.psi.bytes() + layer.zeta.bytes());
        planes.into_iter().flatten().map(Buffer::bytes).sum::<usize>()
            + self.mask.as_ref().map_or(0, Buffer::bytes)
            + self.shared.as_ref().map_or(0, Shared::bytes)
            + layers.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_segment_is_stepped_once() {
        // What is special, and what the kernel for layers can step.
        for count in [100, MOST_ALONE, MOST_ALONE + 1, MOST_LAYERED, MOST_LAYERED + 1] {
            for (special, fit) in [(1, 1), (7, 1), (7, 3), (7, 0), (1, 3), (1, 0)] {
                let special: Vec<bool> = (0..count).map(|n| n % special == 0).collect();
                let fit: Vec<bool> = (0..count).map(|n| fit == 1 || fit > 0 && n % fit == 0).collect();
                for in_space in [false, true] {
                    let [listed, layered] = shares(&special, &fit, in_space);
                    for n in 0..count {
                        assert!(!(listed[n] && layered[n]), "{n} of {count} twice");
                        assert!(!layered[n] || fit[n], "{n} of {count} does not fit");
                        assert!(listed[n] || layered[n] || !special[n], "{n} of {count} is not stepped");
                    }
                }
            }
        }
    }
}

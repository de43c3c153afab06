//! The sums over ψ that need its phases, computed on the device (`kernels/state.cu`): momenta by transforms of all lines, the purity from products of all pairs of lines.
//!
//! ψ(0) is kept on the device from the first time on. Numbers of a row of measures are read back, not the field. Memory beside it: that of ψ(0), tables of a line along each axis, and
//! at most 32 MB of partial products where a state has many lines.

use super::rows::list;
use super::{OnCuda, unsigned, whole};
use crate::backend::cuda::{Buffer, CudaError, Kernel, Source, Stream, parameters};
use crate::field::{FieldData, Precision, narrow};
use crate::grid::Grid;
use crate::physics::StateSums;
use crate::physics::state::{SumsAlong, lines_of, wave_number};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use rustfft::FftPlanner;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// Columns that a block of `sites` takes at once.
const PIECE: usize = 1024;
/// Blocks that sum, at most.
const BLOCKS: usize = 1024;
/// Numbers in shared memory for which several short lines are transformed together.
const TOGETHER: usize = 2048;
/// Lines of a tile of products, and numbers of lines that are multiplied at once.
const TILE: usize = 64;
const DEPTH: usize = 16;
/// Pairs of tiles, each over a part of its lines, that keep a device busy.
const BUSY: usize = 512;
/// Numbers of lines below which they are not cut.
const SHORT: usize = 128;
/// Sums over sites and along an axis.
const OF_SITES: usize = 5;
const ALONG: usize = 4;
/// All that are read back: those of sites, of three axes, of products.
const SUMS: usize = OF_SITES + 3 * ALONG + 1;

parameters! {
    /// ψ on the device.
    pub(in crate::solver) struct Psi {
        parts: [u64; 2],
        /// Numbers from row to row.
        pitch: i64,
        /// Numbers from site to site.
        step: i32,
    }
}

impl Psi {
    /// Two planes whose rows lie `pitch` numbers apart.
    pub(in crate::solver) fn planes<T: OnCuda>(planes: &[Buffer<T>; 2], grid: &Grid, pitch: usize) -> Self {
        debug_assert!(pitch >= grid.size()[0]);
        debug_assert!((planes.iter()).all(|plane| plane.bytes() >= pitch * grid.rows() * size_of::<T>()));
        Self {
            parts: [planes[0].address(), planes[1].address()],
            pitch: i64::from(whole(pitch)),
            step: 1,
        }
    }

    /// One array, real and imaginary part of a site beside each other.
    pub(in crate::solver) fn interleaved<T: OnCuda>(psi: &Buffer<T>, grid: &Grid) -> Self {
        debug_assert!(psi.bytes() >= 2 * grid.sites() * size_of::<T>());
        Self {
            parts: [psi.address(), psi.address() + size_of::<T>() as u64],
            pitch: 2 * i64::from(whole(grid.size()[0])),
            step: 2,
        }
    }
}

parameters! {
    struct Both {
        psi: Psi,
        start: Psi,
        nx: i32,
        rows: i32,
        pieces: i32,
        parts: u64,
    }

    struct Lines {
        psi: Psi,
        size: [i32; 3],
        axis: i32,
        sites: i32,
        count: i32,
        length: i32,
        together: i32,
        chirped: i32,
        turns: u64,
        chirp: u64,
        filter: u64,
        momenta: u64,
        spacing: f64,
        parts: u64,
    }

    struct Products {
        psi: Psi,
        count: i32,
        length: i32,
        by_columns: i32,
        slices: i32,
        each: i32,
        tiles: u64,
        parts: u64,
    }
}

fn source(precision: Precision) -> Source {
    Source::of(precision, ["state_f32", "state_f64"])
}

/// Numbers of the transform of a line of so many sites.
fn length_of(sites: usize) -> usize {
    if sites.is_power_of_two() && sites > 1 {
        sites
    } else {
        (2 * sites - 1).next_power_of_two().max(2)
    }
}

/// The transform of every line along an axis.
struct Axis {
    parameters: Lines,
    kernel: Kernel,
    threads: u32,
    blocks: u32,
    tables: [Buffer<f64>; 4],
}

/// How lines are multiplied.
struct Pairs {
    parameters: Products,
    pairs: u32,
    tiles: Buffer<f64>,
}

/// Buffers and kernels for the sums of a run.
pub(in crate::solver) struct DeviceState<T: OnCuda> {
    grid: Grid,
    sites: Kernel,
    products: Kernel,
    squares: Kernel,
    total: Kernel,
    copy: Kernel,
    axes: Vec<Axis>,
    pairs: Option<Pairs>,
    start: Option<(Arc<FieldData>, Buffer<T>)>,
    parts: Buffer<f64>,
    sums: Buffer<f64>,
}

impl<T: OnCuda> DeviceState<T> {
    /// Whether the device can make them: lines fit into the shared memory of a block. Without momenta (`whole`) any line does.
    pub(in crate::solver) fn reaches(stream: &Stream, grid: &Grid, whole: bool) -> bool {
        let most = stream.device().most_shared() as usize;
        !whole || (grid.size()[..grid.rank()].iter()).all(|sites| shared_of(length_of(*sites), 1) + 1024 <= most)
    }

    pub(in crate::solver) fn new(stream: &Stream, grid: &Grid) -> Result<Self, CudaError> {
        let kernel = |entry| stream.kernel(source(T::PRECISION), entry, 0);
        let pairs = lines_of(grid).map_or(0, |[count, _]| pairs_of(count));
        Ok(Self {
            grid: grid.clone(),
            sites: kernel("sites")?,
            products: kernel("products")?,
            squares: kernel("squares")?,
            total: kernel("total")?,
            copy: kernel("copy")?,
            axes: Vec::new(),
            pairs: None,
            start: None,
            parts: stream.zeros("sums", (OF_SITES * BLOCKS).max(pairs))?,
            sums: stream.zeros("sums", SUMS)?,
        })
    }

    /// Bytes on the device.
    pub(in crate::solver) fn bytes(&self) -> usize {
        let tables: usize = (self.axes.iter().flat_map(|axis| &axis.tables))
            .map(Buffer::bytes)
            .sum();
        tables
            + self.pairs.as_ref().map_or(0, |pairs| pairs.tiles.bytes())
            + self.start.as_ref().map_or(0, |(_, start)| start.bytes())
            + self.parts.bytes()
            + self.sums.bytes()
    }

    /// Copies the planes, for changes that do not affect the field.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(in crate::solver) fn copy(
        &self,
        stream: &Stream,
        from: &[Buffer<T>; 2],
        to: &[Buffer<T>; 2],
    ) -> Result<(), CudaError> {
        for (from, to) in from.iter().zip(to) {
            debug_assert!(from.bytes() == to.bytes() && from.bytes().is_multiple_of(16));
            let count = unsigned(from.bytes() / 16);
            let (from, to) = (from.address(), to.address());
            // SAFETY: the arguments are those of the kernel; both planes have `count` times 16 bytes.
            unsafe {
                stream.launch(&self.copy, (count.div_ceil(256).min(4096), 1, 1), 256, |launch| {
                    launch.arg(&from).arg(&to).arg(&count);
                })?;
            }
        }
        Ok(())
    }

    /// The sums over ψ against `start`, ψ at t = 0; without those over momenta and lines unless `whole`, for which [`Self::reaches`] must hold.
    pub(in crate::solver) fn sums(
        &mut self,
        stream: &Stream,
        psi: Psi,
        start: &Arc<FieldData>,
        whole: bool,
    ) -> Result<StateSums, CudaError> {
        self.prepare(stream, start, whole)?;
        self.over_sites(stream, psi)?;
        let mut found = StateSums::default();
        let mut numbers = [0.0; SUMS];
        if whole {
            for place in 0..self.axes.len() {
                self.along(stream, psi, place)?;
            }
            self.over_pairs(stream, psi)?;
        }
        stream.download("sums", &self.sums, &mut numbers)?;
        let (sites, rest) = numbers.split_at(OF_SITES);
        if let [norm, quartic, first, re, im] = *sites {
            (found.norm, found.quartic, found.first) = (norm, quartic, first);
            found.product = Complex64::new(re, im);
        }
        if !whole {
            return Ok(found);
        }
        let along = rest.as_chunks::<ALONG>().0.iter();
        for ((found, axis), sums) in found.along.iter_mut().zip(&self.axes).zip(along) {
            let [norm, first, second, weighted] = sums.map(|sum| sum / axis.scale());
            *found = SumsAlong {
                norm,
                first,
                second,
                weighted,
            };
        }
        if self.grid.rank() > 1 && found.norm != 0.0 {
            found.squares = self.pairs.as_ref().map_or(f64::NAN, |_| numbers[SUMS - 1]);
        }
        Ok(found)
    }

    /// Allocates what is missing.
    fn prepare(&mut self, stream: &Stream, start: &Arc<FieldData>, whole: bool) -> Result<(), CudaError> {
        if self.start.as_ref().is_none_or(|(kept, _)| !Arc::ptr_eq(kept, start)) {
            self.start = None;
            let mut values = vec![T::zero(); 2 * self.grid.sites()];
            values.par_chunks_exact_mut(2).enumerate().for_each(|(site, value)| {
                let psi: Complex<T> = narrow(start.at(site));
                value.copy_from_slice(&[psi.re, psi.im]);
            });
            self.start = Some((Arc::clone(start), list(stream, "ψ at t = 0", &values)?));
        }
        if whole && self.axes.is_empty() {
            let mut axes = Vec::new();
            for axis in 0..self.grid.rank() {
                axes.push(Axis::new::<T>(stream, &self.grid, axis)?);
            }
            self.pairs = Pairs::new(stream, &self.grid)?;
            self.axes = axes;
        }
        Ok(())
    }

    #[allow(unsafe_code, reason = "a kernel launch")]
    fn over_sites(&self, stream: &Stream, psi: Psi) -> Result<(), CudaError> {
        let Some((_, start)) = &self.start else { return Ok(()) };
        let (nx, rows) = (self.grid.size()[0], self.grid.rows());
        let pieces = nx.div_ceil(PIECE);
        let parameters = Both {
            psi,
            start: Psi::interleaved(start, &self.grid),
            nx: whole(nx),
            rows: whole(rows),
            pieces: whole(pieces),
            parts: self.parts.address(),
        };
        let blocks = (rows * pieces).min(BLOCKS);
        debug_assert!(self.parts.bytes() >= blocks * OF_SITES * size_of::<f64>());
        // SAFETY: the argument is that of the kernel; both fields have the grid's sites, and there is room for the sums of every block.
        unsafe {
            stream.launch(&self.sites, (unsigned(blocks), 1, 1), 256, |launch| {
                launch.arg(&parameters);
            })?;
        }
        self.add_up(stream, unsigned(blocks), OF_SITES, 0)
    }

    #[allow(unsafe_code, reason = "a kernel launch")]
    fn along(&self, stream: &Stream, psi: Psi, place: usize) -> Result<(), CudaError> {
        let axis = &self.axes[place];
        let parameters = Lines {
            psi,
            parts: self.parts.address(),
            ..axis.parameters
        };
        debug_assert!(self.parts.bytes() >= axis.blocks as usize * ALONG * size_of::<f64>());
        // SAFETY: the argument is that of the kernel; ψ has the grid's sites, the tables those of a line, and there is room for the sums of every block.
        unsafe {
            stream.launch(&axis.kernel, (axis.blocks, 1, 1), axis.threads, |launch| {
                launch.arg(&parameters);
            })?;
        }
        self.add_up(stream, axis.blocks, ALONG, OF_SITES + place * ALONG)
    }

    #[allow(unsafe_code, reason = "kernel launches")]
    fn over_pairs(&self, stream: &Stream, psi: Psi) -> Result<(), CudaError> {
        let Some(pairs) = &self.pairs else { return Ok(()) };
        let parameters = Products {
            psi,
            parts: self.parts.address(),
            ..pairs.parameters
        };
        let blocks = pairs.pairs * parameters.slices.cast_unsigned();
        debug_assert!(self.parts.bytes() >= pairs.pairs as usize * size_of::<f64>());
        // SAFETY: the argument is that of both kernels; ψ has the grid's sites, and there is room for a number a pair and, where lines are cut, for a tile a block.
        unsafe {
            stream.launch(&self.products, (blocks, 1, 1), 256, |launch| {
                launch.arg(&parameters);
            })?;
            if parameters.slices > 1 {
                stream.launch(&self.squares, (pairs.pairs, 1, 1), 256, |launch| {
                    launch.arg(&parameters);
                })?;
            }
        }
        self.add_up(stream, pairs.pairs, 1, SUMS - 1)
    }

    /// Adds what `blocks` blocks left, `width` numbers each, to the sums from `place` on.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn add_up(&self, stream: &Stream, blocks: u32, width: usize, place: usize) -> Result<(), CudaError> {
        let (parts, count, width) = (self.parts.address(), blocks.cast_signed(), whole(width));
        debug_assert!(place + width.unsigned_abs() as usize <= SUMS);
        let to = self.sums.address() + (place * size_of::<f64>()) as u64;
        // SAFETY: the arguments are those of the kernel; `parts` has `width` numbers a block, and at `to` there is room for as many.
        unsafe {
            stream.launch(&self.total, (width.cast_unsigned(), 1, 1), 256, |launch| {
                launch.arg(&parts).arg(&count).arg(&width).arg(&to);
            })
        }
    }
}

/// Bytes of shared memory for lines of `length` numbers.
fn shared_of(length: usize, together: usize) -> usize {
    2 * together * (length + 1) * size_of::<f64>()
}

/// Pairs of tiles of so many lines.
fn pairs_of(count: usize) -> usize {
    let tiles = count.div_ceil(TILE);
    tiles * (tiles + 1) / 2
}

impl Axis {
    #[expect(clippy::cast_precision_loss, reason = "places in a line are far below 2^52")]
    fn new<T: OnCuda>(stream: &Stream, grid: &Grid, axis: usize) -> Result<Self, CudaError> {
        let sites = grid.size()[axis];
        let (length, count) = (length_of(sites), grid.sites() / sites);
        let chirped = length != sites;
        let together = (TOGETHER / length).clamp(1, count.next_power_of_two());
        let shared = shared_of(length, together);
        let phase = |part: f64| Complex64::from_polar(1.0, part);
        let turns = (0..length / 2).map(|n| phase(-TAU * n as f64 / length as f64));
        // n² modulo 2 N, so that angles stay small.
        let chirp = |n: usize| phase(-PI * (n * n % (2 * sites)) as f64 / sites as f64);
        let (chirp, filter) = if chirped {
            let mut filter = vec![Complex64::ZERO; length];
            for n in 0..sites {
                filter[n] = chirp(n).conj();
                filter[(length - n) % length] = chirp(n).conj();
            }
            FftPlanner::new().plan_fft_forward(length).process(&mut filter);
            ((0..sites).map(chirp).collect(), reversed(&filter))
        } else {
            (Vec::new(), Vec::new())
        };
        let momentum = |n: usize| {
            let k = wave_number(n, sites, grid.spacing());
            Complex64::new(if 2 * n == sites { 0.0 } else { k }, k * k)
        };
        let momenta: Vec<Complex64> = (0..sites).map(momentum).collect();
        let momenta = if chirped { momenta } else { reversed(&momenta) };
        let table = |numbers: Vec<Complex64>| {
            let flat: Vec<f64> = numbers.iter().flat_map(|z| [z.re, z.im]).collect();
            list(stream, "tables of transforms", &flat)
        };
        let tables = [table(turns.collect())?, table(chirp)?, table(filter)?, table(momenta)?];
        let [turns, chirp, filter, momenta] = tables.each_ref().map(Buffer::address);
        let bytes = unsigned(shared);
        Ok(Self {
            parameters: Lines {
                size: grid.size().map(whole),
                axis: whole(axis),
                sites: whole(sites),
                count: whole(count),
                length: whole(length),
                together: whole(together),
                chirped: i32::from(chirped),
                turns,
                chirp,
                filter,
                momenta,
                spacing: grid.spacing(),
                ..Lines::default()
            },
            kernel: stream.kernel(source(T::PRECISION), "lines", bytes)?,
            threads: unsigned((together * length / 8).next_power_of_two().clamp(32, 512)),
            blocks: unsigned(count.div_ceil(together).min(BLOCKS)),
            tables,
        })
    }

    /// The divisor of the kernel's sums.
    fn scale(&self) -> f64 {
        let length = f64::from(self.parameters.length);
        f64::from(self.parameters.sites)
            * if self.parameters.chirped != 0 {
                length * length
            } else {
                1.0
            }
    }
}

/// Numbers in reversed order of bits; as many as a power of two.
fn reversed(numbers: &[Complex64]) -> Vec<Complex64> {
    debug_assert!(numbers.len().is_power_of_two() && numbers.len() > 1);
    let shift = usize::BITS - numbers.len().trailing_zeros();
    let from = |n: usize| numbers[n.reverse_bits() >> shift];
    (0..numbers.len()).map(from).collect()
}

impl Pairs {
    /// `None` on a line and where there are too many products.
    fn new(stream: &Stream, grid: &Grid) -> Result<Option<Self>, CudaError> {
        let Some([count, length]) = lines_of(grid).filter(|_| grid.rank() > 1) else {
            return Ok(None);
        };
        let pairs = pairs_of(count);
        let each = (length.div_ceil((BUSY / pairs).clamp(1, (length / SHORT).max(1)))).next_multiple_of(DEPTH);
        let slices = length.div_ceil(each);
        let room = if slices > 1 { pairs * slices * TILE * TILE } else { 0 };
        let tiles = stream.zeros("products of lines", (2 * room).max(1))?;
        Ok(Some(Self {
            parameters: Products {
                count: whole(count),
                length: whole(length),
                by_columns: i32::from(count != grid.rows()),
                slices: whole(slices),
                each: whole(each),
                tiles: tiles.address(),
                ..Products::default()
            },
            pairs: unsigned(pairs),
            tiles,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::manifest;

    #[test]
    fn every_module_is_asked_for() {
        manifest::assert_asked("state", &[source(Precision::Single), source(Precision::Double)]);
    }

    #[test]
    fn structs_are_as_large_as_the_kernels_declare() {
        for source in [source(Precision::Single), source(Precision::Double)] {
            assert_eq!(source.declared("sites"), [size_of::<Both>()]);
            assert_eq!(source.declared("lines"), [size_of::<Lines>()]);
            for entry in ["products", "squares"] {
                assert_eq!(source.declared(entry), [size_of::<Products>()], "{entry}");
            }
        }
    }

    /// Lines that are no power of two long are convolved over at least twice their length less one.
    #[test]
    fn lengths_hold_a_convolution() {
        for sites in 1..400 {
            let length = length_of(sites);
            assert!(length.is_power_of_two() && length >= 2);
            assert!(length == sites || length > 2 * (sites - 1), "{sites} {length}");
        }
        assert_eq!([1, 2, 3, 64, 65].map(length_of), [2, 2, 8, 64, 256]);
    }

    /// Twice reversed is as it was, and 1 comes to the middle.
    #[test]
    fn bits_are_reversed() {
        let numbers: Vec<Complex64> = (0..16).map(|n| Complex64::from(f64::from(n))).collect();
        let once = reversed(&numbers);
        assert_eq!((once[8].re, once[1].re), (1.0, 8.0));
        assert_eq!(reversed(&once), numbers);
    }
}

//! Sums and pictures of sound beside the steps (`kernels/sums.cuh`): a stream of their own, so that a picture that was begun is reduced and copied while stepping
//! continues; steps that would overwrite what it reads wait on the device.

mod by_rows;

pub(in crate::solver) use by_rows::{observables_of_rows, sharing_of};

use super::events::MOST_GATHERED;
use super::rows::grow;
use super::{texels, unsigned, whole};
use crate::backend::cuda::{Buffer, CudaError, Device, DeviceRepr, Event, Kernel, PinnedBuffer, Source, Stream};
use crate::grid::Grid;
use crate::physics::{Measure, Observables};
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::sums::finished;
use crate::solver::clock::RunClock;
use crate::solver::gathered::is_gathered;
use crate::solver::taps::Tap;
use crate::solver::totals::in_strides;
use crate::solver::{FieldImage, ImageRequest, Taps};

/// Numbers of `measure_total`: Σp², energy, x, xx, y, yy, z, zz, peak, flux, Σp.
pub(in crate::solver) const SUMS: usize = 11;
/// Warps for whose sums memory is allocated at the start.
const WARPS: usize = 8 * 1056;

/// Warps that keep a device busy.
const ENOUGH: usize = 4096;
/// Maximum number of sums that stay on the device.
const KEPT: usize = 4096;

/// Whether a detector is summed, and records now.
pub(in crate::solver) fn is_kept(taps: &Taps, n: usize, clock: &RunClock) -> bool {
    !is_gathered(&taps.whole()[n], MOST_GATHERED) && taps.is_due(n, clock)
}

crate::backend::cuda::parameters! {
    /// The part of a field that becomes a picture, as kernels take it.
    pub(in crate::solver) struct Frame {
        pub x: [i32; 2],
        pub y: [i32; 2],
        pub z: i32,
        pub reduction: i32,
        pub size: [i32; 2],
        pub quantity: i32,
        pub value: u64,
    }
}

/// The region of a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solver) struct Region {
    pub lo: [usize; 3],
    pub hi: [usize; 3],
    /// The axis of a flux.
    pub across: Option<usize>,
    /// Whether energies are.
    pub energy: bool,
}

impl Region {
    /// The whole of a grid.
    pub(in crate::solver) fn everywhere(size: [usize; 3], energy: bool) -> Self {
        Self {
            lo: [0; 3],
            hi: size,
            across: None,
            energy,
        }
    }

    /// The region of a detector; `None` if it is empty.
    pub(in crate::solver) fn of(tap: &Tap) -> Option<Self> {
        tap.summed_sites().map(|[lo, hi]| Self {
            lo,
            hi,
            across: (tap.measure == Measure::Flux).then_some(tap.across),
            energy: tap.measure == Measure::Energy,
        })
    }

    /// Rows along x.
    fn rows(&self) -> usize {
        (self.hi[1] - self.lo[1]) * (self.hi[2] - self.lo[2])
    }

    /// Warps that share a row where the region, in a part of a grid that of all parts, is not cut: each has 128 columns at least.
    pub(in crate::solver) fn sharing(&self) -> usize {
        let rows = self.rows().max(1);
        let wanted = (ENOUGH / rows).clamp(1, (self.hi[0] - self.lo[0]).div_ceil(128).max(1));
        // As many as fill blocks of 8 warps.
        ((rows * wanted).next_multiple_of(8) / rows).max(1)
    }

    /// How it is launched where `sharing` warps share a row: blocks, warps of a block, and warps that count; those that fill the last block write beside.
    pub(in crate::solver) fn launch(&self, sharing: usize) -> (u32, usize, usize) {
        let warps = self.rows() * sharing;
        // Blocks of one warp where those of eight would share rows among more warps.
        let block = if self.rows() >= 8 || warps.is_multiple_of(8) {
            8
        } else {
            1
        };
        debug_assert!(
            (warps.next_multiple_of(block) / self.rows().max(1)).max(1) == sharing,
            "{warps} warps for {self:?}"
        );
        (unsigned(warps.div_ceil(block)), block, warps)
    }

    /// The value of a detector from the sums over its region.
    pub(in crate::solver) fn value(tap: &Tap, sums: &[f64; SUMS]) -> f64 {
        tap.acoustic_of(sums[Self::sum_of(tap.measure)])
    }

    /// The sum of which a detector makes its value.
    fn sum_of(measure: Measure) -> usize {
        match measure {
            Measure::Probability => 0,
            Measure::Energy => 1,
            Measure::Peak => 8,
            Measure::Flux => 9,
            Measure::Value | Measure::Velocity | Measure::Pressure => 10,
        }
    }

    /// The value of a detector from that sum over its parts of rows, added in the order in which `measure_total` does.
    pub(in crate::solver) fn value_of_parts(tap: &Tap, parts: &[f64]) -> f64 {
        let add = |sum: f64, next: f64| {
            if tap.measure == Measure::Peak {
                sum.max(next)
            } else {
                sum + next
            }
        };
        tap.acoustic_of(in_strides(parts.len(), |n| parts[n], add))
    }
}

/// Observables from the sums over the whole of a grid: with the energy that the scheme conserves, and with the sound's where the velocity is kept.
pub(in crate::solver) fn observables(sums: [f64; SUMS], sound: Option<[f64; SUMS]>, grid: &Grid) -> Observables {
    let [square, invariant, x, xx, y, yy, z, zz, peak, ..] = sums;
    let all = Observables {
        norm: square,
        energy: sound.map_or(f64::NAN, |[_, energy, ..]| energy),
        invariant,
        peak,
        ..Observables::default()
    };
    finished(all, [x, y, z], [xx, yy, zz], grid)
}

/// Kernels that sum and draw: those of a module that has `measure`, `measure_total` and `picture`.
pub(in crate::solver) struct Kernels {
    pub measure: Kernel,
    pub measure_total: Kernel,
    pub picture: Kernel,
    /// A faster kernel for energies alone, of a plane.
    pub energy: Option<Kernel>,
}

impl Kernels {
    /// Those of a module.
    pub(in crate::solver) fn of(stream: &Stream, source: Source) -> Result<Self, CudaError> {
        Ok(Self {
            measure: stream.kernel(source, "measure", 0)?,
            measure_total: stream.kernel(source, "measure_total", 0)?,
            picture: stream.kernel(source, "picture", 0)?,
            energy: None,
        })
    }
}

/// The stream beside the steps, and its buffers.
pub(in crate::solver) struct ReadbackStream {
    stream: Stream,
    kernels: Kernels,
    parts: Buffer<f64>,
    totals: Buffer<f64>,
    /// Sums of detectors that stay on the device until a batch ends: how many there are, and those that were fetched before.
    kept: Option<Buffer<f64>>,
    waiting: usize,
    fetched: Vec<f64>,
    /// The same for sums over parts of rows, which detectors of a part of a grid keep.
    kept_rows: Option<Buffer<f64>>,
    waiting_rows: usize,
    fetched_rows: Vec<f64>,
    value: Option<Buffer<f32>>,
    /// Whether a picture was begun and not taken.
    pending: bool,
    /// Its layout; the values arrive in `landing`.
    image: FieldImage,
    landing: Option<PinnedBuffer<f32>>,
    /// What it reads, until steps have been told to wait for it.
    reads: Option<(Vec<u64>, Event)>,
    /// Behind the last batch of steps.
    batch: Option<Event>,
}

impl ReadbackStream {
    /// A stream of its own.
    pub(in crate::solver) fn new(device: &'static Device, kernels: Kernels) -> Result<Self, CudaError> {
        let stream = Stream::new(device)?;
        Ok(Self {
            parts: stream.zeros("sums over rows", WARPS * SUMS)?,
            totals: stream.zeros("sums", SUMS)?,
            stream,
            kernels,
            kept: None,
            waiting: 0,
            fetched: Vec::new(),
            kept_rows: None,
            waiting_rows: 0,
            fetched_rows: Vec::new(),
            value: None,
            pending: false,
            image: FieldImage::default(),
            landing: None,
            reads: None,
            batch: None,
        })
    }

    /// Bytes held, and those that every run needs.
    pub(in crate::solver) fn bytes(&self) -> usize {
        self.parts.bytes() + self.kept_rows.as_ref().map_or(0, Buffer::bytes)
    }
    pub(in crate::solver) const BYTES: usize = WARPS * SUMS * 8;

    /// Waits for everything queued.
    pub(in crate::solver) fn finish(&self) -> Result<(), CudaError> {
        self.stream.finish()
    }

    /// Sums over a region, after everything queued in `stream`; `look` is what `measure` takes for the region.
    pub(in crate::solver) fn sums<L: DeviceRepr>(
        &mut self,
        stream: &Stream,
        region: &Region,
        look: &L,
    ) -> Result<[f64; SUMS], CudaError> {
        self.stream.wait_for(&stream.mark()?)?;
        let side = self.stream.clone();
        self.reduce(&side, (region, false), look, self.totals.address())?;
        let mut numbers = [0.0; SUMS];
        self.stream.download("sums", &self.totals, &mut numbers)?;
        Ok(numbers)
    }

    /// Allocates memory for the sums of so many warps, after both streams have ended their work.
    fn make_room(&mut self, stream: &Stream, warps: usize) -> Result<(), CudaError> {
        if self.parts.bytes() < warps.next_multiple_of(8) * SUMS * size_of::<f64>() {
            stream.finish()?;
            self.stream.finish()?;
            grow(
                &self.stream,
                "sums over rows",
                &mut self.parts,
                warps.next_multiple_of(8) * SUMS,
            )?;
            self.stream.finish()?;
        }
        Ok(())
    }

    /// Queues the sums over a region, a warp for each row and share of it, to the address `to`, where there is room for them and those that fill the last block; `alone`: those that
    /// a detector asks for, of others anything.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn measure<L: DeviceRepr>(
        &self,
        stream: &Stream,
        (region, sharing, alone): (&Region, usize, bool),
        look: &L,
        to: u64,
    ) -> Result<(), CudaError> {
        let energy = self.kernels.energy.as_ref().filter(|_| alone && region.energy);
        let kernel = energy.unwrap_or(&self.kernels.measure);
        let (blocks, block, _) = region.launch(sharing);
        let threads = if block == 8 { 256 } else { 32 };
        // SAFETY: the arguments are those of either kernel; at `to` there is room for every warp, and the region lies in the grid.
        unsafe {
            stream.launch(kernel, (blocks, 1, 1), threads, |launch| {
                launch.arg(look).arg(&to);
            })
        }
    }

    /// Queues sums over a region, to the address `totals`.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn reduce<L: DeviceRepr>(
        &mut self,
        stream: &Stream,
        (region, alone): (&Region, bool),
        look: &L,
        totals: u64,
    ) -> Result<(), CudaError> {
        let sharing = region.sharing();
        let warps = region.rows() * sharing;
        self.make_room(stream, warps)?;
        let parts = self.parts.address();
        self.measure(stream, (region, sharing, alone), look, parts)?;
        debug_assert!(
            self.parts.bytes() >= warps * SUMS * size_of::<f64>(),
            "sums of {warps} warps"
        );
        let count = whole(warps);
        // SAFETY: the arguments are those of the kernel; `parts` has the sums of every warp, and at `totals` there is room for one.
        unsafe {
            let sums = u32::try_from(SUMS).unwrap_or(1);
            stream.launch(&self.kernels.measure_total, (sums, 1, 1), 256, |launch| {
                launch.arg(&parts).arg(&count).arg(&totals);
            })
        }
    }

    /// Queues the sums of a detector ([`is_kept`]), after everything in `stream`; they stay on the device. `look` is what `measure` takes for the region.
    pub(in crate::solver) fn keep<L: DeviceRepr>(
        &mut self,
        stream: &Stream,
        region: &Region,
        look: &L,
    ) -> Result<(), CudaError> {
        if self.waiting == KEPT {
            self.fetch(stream)?;
        }
        if self.kept.is_none() {
            self.kept = Some(stream.zeros("records", KEPT * SUMS)?);
        }
        let Some(kept) = &self.kept else { return Ok(()) };
        let to = kept.address() + (self.waiting * SUMS * size_of::<f64>()) as u64;
        self.reduce(stream, (region, true), look, to)?;
        self.waiting += 1;
        Ok(())
    }

    /// Copies the sums that were kept to the host.
    fn fetch(&mut self, stream: &Stream) -> Result<(), CudaError> {
        let waiting = std::mem::take(&mut self.waiting) * SUMS;
        let before = self.fetched.len();
        self.fetched.resize(before + waiting, 0.0);
        match &self.kept {
            Some(kept) if waiting > 0 => stream.download("records", kept, &mut self.fetched[before..]),
            _ => Ok(()),
        }
    }

    /// The values of detectors that are summed at these moments, for each of which [`ReadbackStream::keep`] was called in order; NaN stands for the others, and 0
    /// where nothing was asked. `summed` says which they are.
    pub(in crate::solver) fn kept(
        &mut self,
        stream: &Stream,
        (taps, summed): (&Taps, impl Fn(usize) -> bool),
        clocks: &[RunClock],
    ) -> Result<Vec<Vec<f64>>, CudaError> {
        self.fetch(stream)?;
        let numbers = std::mem::take(&mut self.fetched);
        let mut sums = numbers.as_chunks::<SUMS>().0.iter();
        let value = |n: usize, tap: &Tap, clock: &RunClock, sums: &mut std::slice::Iter<[f64; SUMS]>| {
            if !summed(n) {
                return f64::NAN;
            }
            let region = Region::of(tap).filter(|_| taps.is_due(n, clock));
            region.map_or(0.0, |_| sums.next().map_or(f64::NAN, |sums| Region::value(tap, sums)))
        };
        let mut record = |clock: &RunClock| -> Vec<f64> {
            let all = taps.taps().iter().enumerate();
            all.map(|(n, tap)| value(n, tap, clock, &mut sums)).collect()
        };
        Ok(clocks.iter().map(&mut record).collect())
    }

    /// Queues a picture, behind everything in `stream`; `image` takes over its layout. `with` makes what `picture` takes from the frame.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn draw<P: DeviceRepr>(
        &mut self,
        stream: &Stream,
        request: &ImageRequest,
        image: &mut FieldImage,
        with: impl FnOnce(Frame) -> P,
    ) -> Result<(), CudaError> {
        image.prepare(request);
        let texels = image.value.len();
        let value = texels::room(&self.stream, "the picture", &mut self.value, texels)?;
        self.stream.wait_for(&stream.mark()?)?;
        let parameters = with(Frame {
            x: [whole(request.x.start), whole(request.x.end)],
            y: [whole(request.y.start), whole(request.y.end)],
            z: whole(request.z),
            reduction: whole(image.reduction),
            size: image.size.map(whole),
            quantity: match request.quantity {
                Quantity::Energy => 1,
                Quantity::Peak => 2,
                _ => 0,
            },
            value,
        });
        let (group, blocks) = texels::lanes(texels, image.reduction);
        // SAFETY: the arguments are those of `picture`; the output has room for every texel, and the region lies in the grid.
        unsafe {
            self.stream
                .launch(&self.kernels.picture, (blocks, 1, 1), 256, |launch| {
                    launch.arg(&parameters).arg(&group);
                })
        }
    }

    /// See [`crate::solver::Solver::image`].
    pub(in crate::solver) fn picture<P: DeviceRepr>(
        &mut self,
        stream: &Stream,
        request: &ImageRequest,
        image: &mut FieldImage,
        with: impl FnOnce(Frame) -> P,
    ) -> Result<(), CudaError> {
        self.draw(stream, request, image, with)?;
        match &self.value {
            Some(value) => self.stream.download("the picture", value, &mut image.value),
            None => Ok(()),
        }
    }

    /// Begins to draw, and to copy what was drawn; later steps wait on the device before they write to the buffers of addresses `reads`.
    pub(in crate::solver) fn begin<P: DeviceRepr>(
        &mut self,
        stream: &Stream,
        request: &ImageRequest,
        reads: Vec<u64>,
        with: impl FnOnce(Frame) -> P,
    ) -> Result<(), CudaError> {
        self.pending = false;
        let mut image = std::mem::take(&mut self.image);
        self.draw(stream, request, &mut image, with)?;
        self.reads = Some((reads, self.stream.mark()?));
        let count = image.value.len();
        self.image = image;
        let landing = match self.landing.take() {
            Some(landing) if landing.room() >= count => landing,
            _ => self.stream.pinned("the picture", count)?,
        };
        let landing = self.landing.insert(landing);
        if let Some(value) = &self.value {
            self.stream.send("the picture", value, count, landing)?;
        }
        self.pending = true;
        Ok(())
    }

    /// See [`crate::solver::Solver::take_image`].
    pub(in crate::solver) fn take(&mut self, image: &mut FieldImage) -> Result<bool, CudaError> {
        if !std::mem::take(&mut self.pending) {
            return Ok(false);
        }
        let Some(landing) = &self.landing else {
            return Ok(false);
        };
        let values = self.stream.landed(landing)?;
        image.copy_from(&self.image);
        image.value.copy_from_slice(values);
        Ok(true)
    }

    /// Before something is queued in `stream` that writes to a buffer: a picture under way that reads it comes first.
    pub(in crate::solver) fn before_writing(&mut self, stream: &Stream, buffer: u64) -> Result<(), CudaError> {
        match self.reads.take_if(|(reads, _)| reads.contains(&buffer)) {
            Some((_, mark)) => stream.wait_for(&mark),
            None => Ok(()),
        }
    }

    /// Before something is queued in `stream` that may write anywhere.
    pub(in crate::solver) fn before_any_writing(&mut self, stream: &Stream) -> Result<(), CudaError> {
        match self.reads.take() {
            Some((_, mark)) => stream.wait_for(&mark),
            None => Ok(()),
        }
    }

    /// Waits for the steps queued in `stream`; while a picture is under way, for those of the batch before.
    pub(in crate::solver) fn pace(&mut self, stream: &Stream) -> Result<(), CudaError> {
        if !self.pending {
            self.batch = None;
            return stream.finish();
        }
        let now = stream.mark()?;
        match self.batch.replace(now) {
            Some(before) => stream.reach(&before),
            None => Ok(()),
        }
    }
}

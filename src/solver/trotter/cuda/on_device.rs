//! Tables, sums and pictures on the device.

use super::bonds::OwnBonds;
use super::launch::addresses;
use super::params::{self, Closing, Factor, SUMS, filled, whole};
use super::{Ahead, Cuda, OnCuda, Planes, Sums};
use crate::backend::cuda::{Buffer, CudaError, Piece, Pieces, PushKernelArg, Stream};
use crate::field::FieldData;
use crate::physics::StateSums;
use crate::scene::scenario::Quantity;
use crate::solver::device::texels;
use crate::solver::device::transducers::DeviceTransducers;
use crate::solver::trotter::media::{Exponent, Media};
use crate::solver::trotter::run::{HalfPhase, KEPT, OnDevice, Region, Totals, Watched};
use crate::solver::{Backend, FieldImage, ImageRequest, SolverError, Taps};
use std::ops::Range;
use std::sync::{Arc, MutexGuard, PoisonError};

/// Sites of a row that a block adds instead of a warp, whose loads are too few at a time for it.
const LONG_ROW: usize = 1 << 14;

impl<T: OnCuda> Cuda<T> {
    pub(super) fn sums(&self) -> MutexGuard<'_, Sums<T>> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks for kernels with a thread a column and a stride over rows.
    fn by_rows(&self) -> (u32, u32, u32) {
        let across = self.grid.size()[0].div_ceil(128);
        let rows = self.grid.rows().min(32768);
        (
            u32::try_from(across).unwrap_or(u32::MAX),
            u32::try_from(rows).unwrap_or(u32::MAX),
            1,
        )
    }

    /// What closes or opens sites, for kernels.
    pub(super) fn closing(&self, half_phase: Option<&HalfPhase>) -> Closing {
        Closing::new(half_phase, self.own.strengths)
    }

    pub(super) fn medium(&self, sums: &Sums<T>) -> params::Medium {
        let address = |buffer: &Option<Buffer<T>>| buffer.as_ref().map_or(0, Buffer::address);
        let mut driven = [0; params::MOST_DRIVES];
        for (driven, buffer) in driven.iter_mut().zip(&sums.driven) {
            *driven = buffer.address();
        }
        params::Medium {
            energy: address(&sums.energy),
            absorption: address(&sums.absorption),
            driven,
            wall: self.walls.as_ref().map_or(0, Buffer::address),
            strength: address(&sums.strengths),
            drives: whole(sums.driven.len()),
        }
    }

    fn plane(&self, what: &str, values: &[T], room: &mut Option<Buffer<T>>) -> Result<(), CudaError> {
        let padded = self.padded(values, T::zero());
        if room.is_none() {
            *room = Some(self.stream.zeros(what, padded.len())?);
        }
        match room {
            Some(buffer) => self.stream.upload(what, &padded, buffer),
            None => Ok(()),
        }
    }

    /// Opens or closes planes of the field's size, or conjugates them; walls become zero.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn turn(
        &self,
        planes: &Planes<T>,
        half_phase: Option<&HalfPhase>,
        conjugate: bool,
    ) -> Result<(), CudaError> {
        let medium = self.medium(&self.sums());
        let closing = self.closing(half_phase);
        let conjugate = i32::from(conjugate);
        let [re, im] = addresses(planes);
        debug_assert!(planes.iter().all(|plane| plane.bytes() == self.field[0].bytes()));
        // SAFETY: the arguments are those of `turn_field`; all planes have the grid's rows and pitch.
        unsafe {
            self.stream
                .launch(self.kernel("turn_field"), self.by_rows(), 128, |launch| {
                    launch
                        .arg(&re)
                        .arg(&im)
                        .arg(&medium)
                        .arg(&closing)
                        .arg(&self.lattice)
                        .arg(&conjugate);
                })
        }
    }

    /// The stream of pictures and sums, behind every step put in so far.
    fn readback(&self) -> Result<&Stream, CudaError> {
        self.side.wait_for(&self.stream.mark()?)?;
        Ok(&self.side)
    }

    fn ahead(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What sums over the rows of a region are told; these stay in `sums.rows`.
    pub(super) fn measuring(
        &self,
        sums: &Sums<T>,
        region: &Region,
        (closing, drives): (Option<&HalfPhase>, &[f64]),
    ) -> params::Measure {
        params::Measure {
            field: addresses(&self.field),
            medium: self.medium(sums),
            closing: self.closing(closing),
            grid: self.lattice,
            lo: region.lo.map(whole),
            hi: region.hi.map(whole),
            across: region.across.map_or(-1, whole),
            energy: i32::from(region.energy),
            hopping: self.hopping,
            interaction: if self.own.strengths { 1.0 } else { self.interaction },
            drives: filled(drives),
            flux: self.flux,
            rows: sums.rows.address(),
            place: params::Place::new(&self.grid),
            cross: self.own.cross,
            bonds: self.own.bonds.as_ref().map_or([[0; 2]; 3], OwnBonds::couplings),
            copied: params::Copied::default(),
        }
    }

    /// Sums over every row of a region, which stay in `sums.rows`; returns how many rows there are.
    fn sum_rows(
        &self,
        stream: &Stream,
        sums: &Sums<T>,
        region: &Region,
        seen: (Option<&HalfPhase>, &[f64]),
    ) -> Result<usize, CudaError> {
        let rows = (region.hi[1] - region.lo[1]) * (region.hi[2] - region.lo[2]);
        debug_assert!(
            sums.rows.bytes() >= rows * SUMS * size_of::<f64>(),
            "sums of {rows} rows"
        );
        self.launch_rows(stream, &self.measuring(sums, region, seen), 1)?;
        Ok(rows)
    }

    /// Puts in sums over the rows of a region; of copies those of `steps` steps, at most 65535.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn launch_rows(
        &self,
        stream: &Stream,
        parameters: &params::Measure,
        steps: usize,
    ) -> Result<(), CudaError> {
        let [x, y, z] = [0, 1, 2].map(|axis| (parameters.hi[axis] - parameters.lo[axis]).unsigned_abs() as usize);
        // Which threads add a row depends on its length alone, so that its sum has the same bits in a part and in the whole.
        let (threads, at_once) = if x >= LONG_ROW { (1024, 1) } else { (128, 4) };
        let blocks = u32::try_from((y * z).div_ceil(at_once)).unwrap_or(u32::MAX).min(65535);
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        // SAFETY: the argument is that of the kernel; at `rows` there is room for every row of the region and step.
        unsafe {
            stream.launch(self.kernel("measure_rows"), (blocks, steps, 1), threads, |launch| {
                launch.arg(parameters);
            })
        }
    }

    /// Sums over a region, to the address `to` on the device.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn reduce(
        &self,
        stream: &Stream,
        sums: &Sums<T>,
        region: &Region,
        seen: (Option<&HalfPhase>, &[f64]),
        to: u64,
    ) -> Result<(), CudaError> {
        let (count, from) = (whole(self.sum_rows(stream, sums, region, seen)?), sums.rows.address());
        let apart = whole(SUMS);
        // SAFETY: the arguments are those of the kernel; at `from` there are `count` rows, and at `to` there is room for one.
        unsafe {
            stream.launch(self.kernel("measure_total"), (1, 1, 1), 256, |launch| {
                launch.arg(&from).arg(&count).arg(&to).arg(&apart);
            })
        }
    }

    /// Sums over a region, now.
    fn measure(
        &self,
        stream: &Stream,
        sums: &Sums<T>,
        region: &Region,
        closing: Option<&HalfPhase>,
        drives: &[f64],
    ) -> Result<[f64; SUMS], CudaError> {
        self.reduce(stream, sums, region, (closing, drives), sums.totals.address())?;
        let mut numbers = [0.0; SUMS];
        stream.download("sums", &sums.totals, &mut numbers)?;
        Ok(numbers)
    }

    /// Puts a picture in, into buffers of its own; `image` takes over its layout.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn draw(
        &self,
        sums: &mut Sums<T>,
        request: &ImageRequest,
        closing: Option<&HalfPhase>,
        image: &mut FieldImage,
    ) -> Result<(), CudaError> {
        let stream = self.readback()?;
        image.prepare(request);
        let texels = image.value.len();
        let value = texels::room(stream, "the picture", &mut sums.value, texels)?;
        let phase = texels::room(stream, "the picture's phase", &mut sums.phase, image.phase.len())?;
        let parameters = params::Picture {
            field: addresses(&self.field),
            medium: self.medium(sums),
            closing: self.closing(closing),
            grid: self.lattice,
            x: [whole(request.x.start), whole(request.x.end)],
            y: [whole(request.y.start), whole(request.y.end)],
            z: whole(request.z),
            reduction: whole(image.reduction),
            size: image.size.map(whole),
            quantity: texels::quantum(request.quantity),
            value,
            phase,
        };
        // Whole vectors a lane where the texels consist of them and nothing has to be closed.
        let vector = 16 / size_of::<T>();
        let in_vectors = request.quantity == Quantity::Density
            && closing.is_none()
            && image.reduction.is_multiple_of(vector)
            && request.x.start.is_multiple_of(vector);
        let loads = if in_vectors {
            image.reduction / vector
        } else {
            image.reduction
        };
        let (group, blocks) = texels::lanes(texels, loads);
        let in_vectors = i32::from(in_vectors);
        // SAFETY: the arguments are those of `picture`; both outputs have room for every texel, and the region lies in the grid.
        unsafe {
            stream.launch(self.kernel("picture"), (blocks, 1, 1), 256, |launch| {
                launch.arg(&parameters).arg(&group).arg(&in_vectors);
            })
        }
    }

    /// Begins to draw and to copy what was drawn; later steps wait on the device before they overwrite what it reads.
    fn draw_ahead(
        &self,
        sums: &mut Sums<T>,
        ahead: &mut Ahead,
        request: &ImageRequest,
        closing: Option<&HalfPhase>,
    ) -> Result<(), CudaError> {
        ahead.pending = false;
        let image = &mut ahead.image;
        self.draw(sums, request, closing, image)?;
        ahead.reads = Some((self.field[0].address(), self.side.mark()?));
        let parts = [
            ("the picture", &sums.value, &mut ahead.value, image.value.len()),
            ("the picture's phase", &sums.phase, &mut ahead.phase, image.phase.len()),
        ];
        for (what, from, landing, count) in parts {
            let Some(from) = from.as_ref().filter(|_| count > 0) else {
                continue;
            };
            if landing.as_ref().is_none_or(|landing| landing.room() < count) {
                *landing = Some(self.side.pinned(what, count)?);
            }
            if let Some(landing) = landing {
                self.side.send(what, from, count, landing)?;
            }
        }
        ahead.pending = true;
        Ok(())
    }
}

/// What `measure_total` gives, by name.
pub(super) fn totals_of([norm, energy, x, xx, y, yy, z, zz, peak, current]: [f64; SUMS]) -> Totals {
    Totals {
        norm,
        energy,
        first: [x, y, z],
        second: [xx, yy, zz],
        peak,
        current,
    }
}

impl<T: OnCuda> OnDevice<T> for Cuda<T> {
    fn backend(&self) -> Backend {
        Backend::Cuda
    }

    fn units(&self) -> usize {
        self.stream.device().multiprocessors as usize
    }

    fn set_media(&self, media: &Media<T>) {
        let mut sums = self.sums();
        sums.lowest = media.lowest;
        self.attempt(|| {
            // A picture under way may read what is replaced.
            self.side.finish()?;
            self.plane("energies", &media.energy, &mut sums.energy)?;
            match &media.absorption {
                Some(absorption) => self.plane("absorption", absorption, &mut sums.absorption)?,
                None => sums.absorption = None,
            }
            sums.strengths = None;
            if let Some(strengths) = media.strengths(0..self.grid.sites()) {
                let strengths: Vec<T> = strengths.iter().map(|g| T::of(*g)).collect();
                self.plane("interactions", &strengths, &mut sums.strengths)?;
            }
            sums.driven.clear();
            for (_, part) in &media.driven {
                let mut room = None;
                self.plane("driven parts", part, &mut room)?;
                sums.driven.extend(room);
            }
            Ok(())
        });
    }

    #[allow(unsafe_code, reason = "a kernel launch")]
    fn refill(&self, table: usize, exponent: &Exponent) {
        let mut sums = self.sums();
        sums.seed = sums.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (seed, medium) = (sums.seed, self.medium(&sums));
        let factor = Factor::new(exponent, sums.lowest);
        let [re, im] = addresses(&self.field);
        let (mean_field, cross) = (exponent.mean_field, exponent.cross);
        let place = params::Place::new(&self.grid);
        self.attempt(|| {
            let [pc, ps] = addresses(&self.tables[table]);
            // SAFETY: the arguments are those of `fill_table`; all planes have the grid's rows and pitch.
            unsafe {
                self.stream
                    .launch(self.kernel("fill_table"), self.by_rows(), 128, |launch| {
                        launch
                            .arg(&pc)
                            .arg(&ps)
                            .arg(&medium)
                            .arg(&factor)
                            .arg(&self.lattice)
                            .arg(&seed)
                            .arg(&re)
                            .arg(&im)
                            .arg(&mean_field)
                            .arg(&cross)
                            .arg(&place);
                    })
            }
        });
    }

    fn apply_half_phase(&self, half_phase: Option<&HalfPhase>, conjugate: bool) {
        self.changed();
        self.attempt(|| {
            self.before_writing(None)?;
            self.turn(&self.field, half_phase, conjugate)
        });
    }

    #[allow(unsafe_code, reason = "a kernel launch")]
    fn normalise(&self, weight: f64) {
        self.changed();
        let region = Region {
            lo: [0; 3],
            hi: self.grid.size(),
            across: None,
            energy: false,
        };
        let sums = self.sums();
        let [re, im] = addresses(&self.field);
        let (totals, count) = (sums.totals.address(), (self.pitch * self.grid.rows()) as u64);
        self.attempt(|| {
            self.before_writing(None)?;
            self.measure(&self.stream, &sums, &region, None, &[])?;
            // SAFETY: the arguments are those of `normalise`; the planes have `count` numbers.
            unsafe {
                self.stream
                    .launch(self.kernel("normalise"), (4096, 1, 1), 256, |launch| {
                        launch.arg(&re).arg(&im).arg(&totals).arg(&weight).arg(&count);
                    })
            }
        });
    }

    fn load_transducers(&self, taps: &Taps, steps: usize) {
        self.prepare_transducers(taps, steps);
    }

    fn step_transducers(&self, step: usize, phases: Option<&[HalfPhase; 2]>) {
        self.drive_sites(step, phases);
    }

    fn take_transducers(&self, taps: &mut Taps) {
        self.finish_transducers(taps);
    }

    fn most_transducer_steps(&self, taps: &Taps) -> u64 {
        DeviceTransducers::<T>::most(taps)
    }

    fn totals(&self, region: &Region, closing: Option<&HalfPhase>, drives: &[f64]) -> Totals {
        if (0..3).any(|axis| region.hi[axis] <= region.lo[axis]) {
            return Totals::default();
        }
        let sums = self.sums();
        let numbers = self
            .attempt(|| self.measure(self.readback()?, &sums, region, closing, drives))
            .unwrap_or([f64::NAN; SUMS]);
        totals_of(numbers)
    }

    fn row_totals(&self, region: &Region, closing: Option<&HalfPhase>, drives: &[f64]) -> Vec<Totals> {
        let sums = self.sums();
        let rows = (region.hi[1] - region.lo[1]) * (region.hi[2] - region.lo[2]);
        let mut numbers = vec![f64::NAN; rows * SUMS];
        self.attempt(|| {
            let stream = self.readback()?;
            self.sum_rows(stream, &sums, region, (closing, drives))?;
            stream.download("sums", &sums.rows, &mut numbers)
        });
        let rows = numbers.as_chunks::<SUMS>().0.iter();
        rows.map(|row| totals_of(*row)).collect()
    }

    #[allow(unsafe_code, reason = "a kernel launch")]
    fn scale_from(&self, now: f64, weight: f64) {
        self.changed();
        let sums = self.sums();
        let [re, im] = addresses(&self.field);
        let (totals, count) = (sums.totals.address(), (self.pitch * self.grid.rows()) as u64);
        self.attempt(|| {
            self.before_writing(None)?;
            self.stream.upload("sums", &[now], &sums.totals)?;
            // SAFETY: the arguments are those of `normalise`; the planes have `count` numbers.
            unsafe {
                self.stream
                    .launch(self.kernel("normalise"), (4096, 1, 1), 256, |launch| {
                        launch.arg(&re).arg(&im).arg(&totals).arg(&weight).arg(&count);
                    })
            }
        });
    }

    #[allow(unsafe_code, reason = "the pieces are those of the field")]
    fn pieces_of_rows(&self, rows: Range<usize>) -> Option<Pieces> {
        // Whoever asks may write.
        self.changed();
        self.attempt(|| self.before_writing(None));
        let row = self.pitch * size_of::<T>();
        debug_assert!(self.field[0].bytes() >= rows.end * row, "rows {rows:?}");
        let piece = |address: u64| Piece {
            address: address + (rows.start * row) as u64,
            bytes: rows.len() * row,
        };
        // SAFETY: the rows lie in both planes, which live as long as the run, and are written in its stream.
        Some(unsafe { Pieces::new(&self.stream, addresses(&self.field).map(piece).to_vec()) })
    }

    fn keep_totals(&self, place: usize, region: &Region, closing: Option<&HalfPhase>, drives: &[f64]) {
        let mut sums = self.sums();
        self.attempt(|| {
            if sums.kept.is_none() {
                sums.kept = Some(self.stream.zeros("records", KEPT * SUMS)?);
            }
            let Some(kept) = &sums.kept else { return Ok(()) };
            if place >= KEPT {
                return Err(CudaError::Call {
                    what: "keeping a record".into(),
                    message: format!("place {place} of {KEPT}"),
                });
            }
            let to = kept.address() + (place * SUMS * size_of::<f64>()) as u64;
            self.reduce(&self.stream, &sums, region, (closing, drives), to)
        });
    }

    fn kept_totals(&self, count: usize) -> Vec<Totals> {
        let sums = self.sums();
        let mut numbers = vec![f64::NAN; count * SUMS];
        if let Some(kept) = &sums.kept {
            self.attempt(|| self.stream.download("records", kept, &mut numbers));
        }
        let records = numbers.as_chunks::<SUMS>().0.iter();
        records.map(|record| totals_of(*record)).collect()
    }

    fn copied_steps(&self, regions: &[Region]) -> usize {
        self.most_copied_steps(regions)
    }

    fn begin_sums(
        &self,
        watched: &Watched,
        steps: usize,
        largest: f64,
        weight: Option<(u64, &(dyn Fn(usize) -> T + Sync))>,
    ) -> bool {
        let begun = self.attempt(|| self.begin_summing(watched, steps, largest, weight));
        begun.unwrap_or(false)
    }

    fn sum_others(&self) {
        self.sum_other_cells();
    }

    fn take_sums(&self, count: usize) -> Vec<f64> {
        self.attempt(|| self.take_summed(count))
            .unwrap_or_else(|| vec![f64::NAN; count])
    }

    fn take_copied(&self, steps: usize, closing: Option<&HalfPhase>) -> Vec<Totals> {
        self.attempt(|| self.take_copies(steps, closing)).unwrap_or_default()
    }

    fn state_sums(&self, start: &Arc<FieldData>, whole: bool, closing: Option<&HalfPhase>) -> Option<StateSums> {
        self.attempt(|| self.sum_state(start, whole, closing)).flatten()
    }

    fn picture(&self, request: &ImageRequest, closing: Option<&HalfPhase>, image: &mut FieldImage) {
        let mut sums = self.sums();
        self.attempt(|| {
            self.draw(&mut sums, request, closing, image)?;
            let parts = [
                ("the picture", &sums.value, &mut image.value),
                ("the picture's phase", &sums.phase, &mut image.phase),
            ];
            for (what, from, to) in parts {
                if let Some(from) = from.as_ref().filter(|_| !to.is_empty()) {
                    self.side.download(what, from, to)?;
                }
            }
            Ok(())
        });
    }

    fn begin_picture(&self, request: &ImageRequest, closing: Option<&HalfPhase>) {
        let (mut sums, mut ahead) = (self.sums(), self.ahead());
        self.attempt(|| self.draw_ahead(&mut sums, &mut ahead, request, closing));
    }

    fn take_picture(&self, image: &mut FieldImage) -> bool {
        let mut ahead = self.ahead();
        if !std::mem::take(&mut ahead.pending) {
            return false;
        }
        let copied = self.attempt(|| {
            for (landing, to) in [(&ahead.value, &mut image.value), (&ahead.phase, &mut image.phase)] {
                to.clear();
                if let Some(landing) = landing {
                    to.extend_from_slice(self.side.landed(landing)?);
                }
            }
            Ok(())
        });
        let layout = &ahead.image;
        if layout.phase.is_empty() {
            image.phase.clear();
        }
        image.size = layout.size;
        image.origin = layout.origin;
        image.reduction = layout.reduction;
        image.quantity = layout.quantity;
        copied.is_some()
    }

    fn paced(&self) -> Option<SolverError> {
        let before = {
            let mut ahead = self.ahead();
            if !ahead.pending {
                ahead.batch = None;
                drop(ahead);
                return self.fault();
            }
            let now = self.attempt(|| self.stream.mark());
            std::mem::replace(&mut ahead.batch, now)
        };
        self.attempt(|| before.map_or(Ok(()), |mark| self.stream.reach(&mark)));
        self.kept_fault()
    }

    fn fault(&self) -> Option<SolverError> {
        self.attempt(|| self.stream.finish());
        self.kept_fault()
    }
}

impl<T: OnCuda> Cuda<T> {
    fn kept_fault(&self) -> Option<SolverError> {
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.clone().map(SolverError::from)
    }
}

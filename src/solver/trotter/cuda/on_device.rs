//! The run's interface to the device: tables, half phases, records.

use super::launch::{addresses, striding};
use super::measures::totals_of;
use super::params::{self, Closing, Factor, SUMS, unsigned, whole};
use super::{Cuda, OnCuda, Planes, Sums};
use crate::backend::cuda::{Buffer, CudaError, Piece, Pieces};
use crate::field::FieldData;
use crate::physics::StateSums;
use crate::solver::device::Ending;
use crate::solver::device::rows::keep_rows;
use crate::solver::device::transducers::DeviceTransducers;
use crate::solver::trotter::media::{Exponent, Media};
use crate::solver::trotter::run::{HalfPhase, KEPT, OnDevice, Region, Totals, Watched};
use crate::solver::{Backend, FieldImage, ImageRequest, SolverError, Taps};
use std::ops::Range;
use std::sync::{Arc, MutexGuard, PoisonError};

impl<T: OnCuda> Cuda<T> {
    pub(super) fn sums(&self) -> MutexGuard<'_, Sums<T>> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks for kernels with a thread a column and a stride over rows.
    fn by_rows(&self) -> (u32, u32, u32) {
        let (across, rows) = (self.grid.size()[0].div_ceil(128), self.grid.rows().min(32768));
        (unsigned(across), unsigned(rows), 1)
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
        let nx = self.grid.size()[0];
        let row = |n: usize, out: &mut [T]| out.copy_from_slice(&values[n * nx..][..nx]);
        keep_rows(&self.stream, what, [nx, self.grid.rows(), self.pitch], room, Some(row))
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
        let sums = self.sums();
        let [re, im] = addresses(&self.field);
        let (totals, count) = (sums.totals.address(), (self.pitch * self.grid.rows()) as u64);
        self.attempt(|| {
            self.before_writing(None)?;
            // The norm stays on the device: nobody waits for it here.
            self.total_norm(&self.stream, &sums)?;
            // SAFETY: the arguments are those of `normalise`; the planes have `count` numbers.
            unsafe {
                self.stream
                    .launch(self.kernel("normalise"), striding(count), 256, |launch| {
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

    fn norm(&self, _everywhere: &Region) -> f64 {
        let sums = self.sums();
        let mut norm = [f64::NAN];
        self.attempt(|| {
            let stream = self.readback()?;
            self.total_norm(stream, &sums)?;
            stream.download_at("the norm", &sums.totals, 0, &mut norm)
        });
        norm[0]
    }

    fn row_norms(&self, _everywhere: &Region) -> Vec<f64> {
        debug_assert!(self.grid.rank() > 1, "the norms of a line are those of its pieces");
        let sums = self.sums();
        let mut norms = vec![f64::NAN; self.grid.rows()];
        self.attempt(|| {
            let stream = self.readback()?;
            self.norms_of_rows(stream, &sums)?;
            stream.download("norms of rows", &sums.norms, &mut norms)
        });
        norms
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
                    .launch(self.kernel("normalise"), striding(count), 256, |launch| {
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
        let early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = early.as_ref().and_then(|early| early.sent(&self.stream));
        // SAFETY: the rows lie in both planes, which live as long as the run, and are written in its stream.
        let pieces = unsafe { Pieces::new(&self.stream, addresses(&self.field).map(piece).to_vec()) };
        Some(pieces.sent(sent))
    }

    fn before_copies(&self, core: Range<usize>, sent: [usize; 2]) {
        let ending = self.grid.rank() == 3 && self.grid.is_window();
        *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = ending.then_some(Ending { core, sent });
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
        self.draw_now(request, closing, image);
    }

    fn begin_picture(&self, request: &ImageRequest, closing: Option<&HalfPhase>) {
        let (mut sums, mut ahead) = (self.sums(), self.ahead());
        self.attempt(|| self.draw_ahead(&mut sums, &mut ahead, request, closing));
    }

    fn take_picture(&self, image: &mut FieldImage) -> bool {
        self.take_drawn(image)
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

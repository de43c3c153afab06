//! The interface of a variant to a [`Run`](super::run::Run): a field in its own layout, and the sweeps over it.

use super::half_phase::HalfPhase;
use super::media::{Exponent, Media};
use super::problem::Problem;
use super::recorder::Recorder;
use super::scheme::Scheme;
use crate::field::{FieldData, Real};
use crate::physics::StateSums;
use crate::solver::totals::{Region, Totals};
use crate::solver::{Backend, FieldImage, ImageRequest, SolverError, Taps};
use num_complex::Complex;
use std::ops::Range;
use std::sync::Arc;

/// A function that changes the sites of a row: (row, sites).
pub(super) type RowChange<'a, T> = &'a (dyn Fn(usize, &mut [Complex<T>]) + Sync);

/// What makes ψ of φ, if they differ, and the medium.
pub(super) type Closed<'a, T> = (Option<&'a HalfPhase>, &'a Media<T>);

/// Writes the corrections of a row.
pub(super) type Correction = Box<dyn Fn(usize, &mut [f64]) + Sync>;

/// A variant: the open field φ and tables of phases in its own layout, and the sweeps over them.
///
/// Rows are numbered j + ny·k. All methods run inside the thread pool. Stepping one by one or many at once gives the
/// same bits.
pub(super) trait Sweeper<T: Real>: Send + Sync {
    /// The variant's id.
    fn variant(&self) -> &'static str;
    /// The choices that were made, for the user.
    fn details(&self) -> String;
    /// Bytes held.
    fn memory(&self) -> usize;
    /// Where it runs.
    fn backend(&self) -> Backend {
        self.device().map_or(Backend::Cpu, OnDevice::backend)
    }
    /// Waits for all of it; what went wrong since the run began.
    fn fault(&self) -> Option<SolverError> {
        self.device().and_then(OnDevice::fault)
    }
    /// Σ|φ|², where the variant does not leave that to those who read rows.
    fn weight(&self) -> Option<f64> {
        None
    }
    /// Multiplies the field with a number.
    fn scale(&mut self, factor: T) {
        self.change(&|_, sites| sites.iter_mut().for_each(|site| *site *= factor));
    }
    /// Draws the field, closed by what is given; `false` where that is left to those who read rows.
    fn draw(&self, _request: &ImageRequest, _seen: Closed<T>, _image: &mut FieldImage) -> bool {
        false
    }
    /// Sums over all sites of the field, closed by what is given, with these drives; `None` where that is left to those who read rows.
    fn totals(&self, _seen: Closed<T>, _drives: &[f64]) -> Option<Totals> {
        None
    }
    /// Whether the tables carry the cosines of the sweeps.
    fn tan_form(&self) -> bool;
    /// What multiplies the factors of a row in every table, to undo what rounding does to the modulus of single sites.
    fn corrections(&self, _scheme: &Scheme) -> Option<Correction> {
        None
    }
    /// Takes over constants, walls and coefficients of a scheme; tables are filled afterwards.
    fn prepare(&mut self, problem: &Problem, scheme: &Scheme, walls: Option<&[bool]>);
    /// Sites `x` of a row of the field.
    fn read(&self, row: usize, x: Range<usize>, out: &mut [Complex<T>]);
    /// Changes every row of the field, in parallel.
    fn change(&mut self, change: RowChange<T>);
    /// Writes every site of the field, in parallel; what is in the rows before says nothing.
    fn put(&mut self, rows: RowChange<T>) {
        self.change(rows);
    }
    /// Replaces sites from `x` on of a row of the field.
    fn write(&mut self, row: usize, x: usize, values: &[Complex<T>]) {
        self.change(&|other, sites| {
            if other == row {
                sites[x..x + values.len()].copy_from_slice(values);
            }
        });
    }
    /// Refills the rows of a table that `touched` names, in parallel.
    fn fill_table(&mut self, table: usize, touched: &(dyn Fn(usize) -> bool + Sync), fill: RowChange<T>);
    /// Multiplies the field with a table, without an interaction's phase.
    fn apply_table(&mut self, table: usize);
    /// Sweeps and phase of one sub-step.
    fn substep(&mut self, scheme: &Scheme, i: usize);
    /// What a device does by itself; `None` for a stepper whose field is on the host.
    fn device(&self) -> Option<&dyn OnDevice<T>> {
        None
    }
    /// Steps that [`Sweeper::recorded`] takes at once.
    fn fused(&self) -> usize {
        1
    }
    /// Steps that are taken at once where nobody watches; see [`Report::batch`](crate::solver::Report::batch).
    fn batch(&self) -> u64 {
        self.fused() as u64
    }
    /// Whole steps, at most [`Recorder::depth`]; `recorder` sees the field after each of them.
    fn recorded(&mut self, scheme: &Scheme, steps: u64, recorder: &Recorder<T>) {
        for step in 0..usize::try_from(steps).unwrap_or(usize::MAX) {
            self.steps(scheme, 1);
            recorder.see(step, &|row, x, out| self.read(row, x, out));
        }
    }
    /// Whether [`Self::recorded`] hands sums and maxima of regions over for whole steps ([`Partials::put_total`](crate::solver::events::Partials::put_total)).
    fn sums_regions(&self) -> bool {
        false
    }
    /// Numbers of the vectors in which it takes sums over all sites within steps ([`WholeSums`](super::whole_sums::WholeSums)), if it does.
    fn whole_lanes(&self) -> Option<usize> {
        None
    }
    /// Takes those of `recorder` from the present field, for step `step` of a batch.
    fn add_whole(&self, _step: usize, _recorder: &Recorder<T>) {}
    /// Whole steps, tables as they are.
    fn steps(&mut self, scheme: &Scheme, steps: u64) {
        for _ in 0..steps {
            for i in 0..scheme.substeps.len() {
                self.substep(scheme, i);
            }
        }
    }
}

/// Sums that a device keeps for [`OnDevice::kept_totals`].
pub(super) const KEPT: usize = 4096;

/// Regions of [`OnDevice::begin_sums`] that are summed by one kernel.
pub(super) const SUMMED: usize = 4;

/// The sums and copies that a device takes after every step of a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Watched {
    /// Where |ψ|² is summed.
    pub regions: Vec<Region>,
    /// `peaks[region]`: whether its largest value is taken instead.
    pub peaks: Vec<bool>,
    /// Regions of which norm, largest value and current are taken from copies of φ.
    pub copied: Vec<Region>,
}

/// The operations of a stepper whose field is on a device, without moving it to the host. A failure is kept until [`OnDevice::fault`] is asked.
pub(super) trait OnDevice<T: Real>: Sync {
    /// Where it runs.
    fn backend(&self) -> Backend;
    /// Multiprocessors.
    fn units(&self) -> usize;
    /// Takes over energies, absorption, driven parts and walls.
    fn set_media(&self, media: &Media<T>);
    /// A table from an exponent; a mean field is that of the present field.
    fn refill(&self, table: usize, exponent: &Exponent);
    /// Opens or closes the whole field, or conjugates it; walls become zero.
    fn apply_half_phase(&self, half_phase: Option<&HalfPhase>, conjugate: bool);
    /// Scales the field to Σ|φ|² = weight.
    fn normalise(&self, weight: f64);
    /// Takes over what the transducers do after each of the next `steps` steps.
    fn load_transducers(&self, taps: &Taps, steps: usize);
    /// Lets them do it after step `step` of those; `phases` close and open the field at its time, where that is needed.
    fn step_transducers(&self, step: usize, phases: Option<&[HalfPhase; 2]>);
    /// Hands over what they recorded, and notes what they played, in those steps.
    fn take_transducers(&self, taps: &mut Taps);
    /// Steps between two hand-overs at most.
    fn most_transducer_steps(&self, taps: &Taps) -> u64;
    /// Sums over a region.
    fn totals(&self, region: &Region, closing: Option<&HalfPhase>, drives: &[f64]) -> Totals;
    /// Those of every row of a region, with moments along x alone; NaN if the device failed. Asked of a back end on which grids are cut into parts.
    fn row_totals(&self, region: &Region, _closing: Option<&HalfPhase>, _drives: &[f64]) -> Vec<Totals> {
        let rows = (region.hi[1] - region.lo[1]) * (region.hi[2] - region.lo[2]);
        vec![Totals::none(); rows]
    }

    /// Σ|φ|²; NaN if the device failed.
    fn norm(&self, everywhere: &Region) -> f64 {
        self.totals(everywhere, None, &[]).norm
    }

    /// Σ|φ|² of every row, whose sum in strides is [`OnDevice::norm`].
    fn row_norms(&self, everywhere: &Region) -> Vec<f64> {
        let rows = self.row_totals(everywhere, None, &[]);
        rows.iter().map(|row| row.norm).collect()
    }
    /// Scales the field, whose Σ|φ|² is `now`, to Σ|φ|² = weight; asked there as well.
    fn scale_from(&self, _now: f64, _weight: f64) {}
    /// Where rows of the field lie, on an NVIDIA device.
    #[cfg(feature = "cuda")]
    fn pieces_of_rows(&self, _rows: Range<usize>) -> Option<crate::backend::cuda::Pieces> {
        None
    }
    /// See [`Cut::before_copies`](crate::solver::parts::Cut::before_copies); of the steps that follow at once.
    #[cfg(feature = "cuda")]
    fn before_copies(&self, _core: Range<usize>, _sent: [usize; 2]) {}
    /// The same, kept on the device at `place`, below [`KEPT`], until [`OnDevice::kept_totals`] asks for it. The region is not empty.
    fn keep_totals(&self, place: usize, region: &Region, closing: Option<&HalfPhase>, drives: &[f64]);
    /// The sums at the first `count` places; NaN if the device failed.
    fn kept_totals(&self, count: usize) -> Vec<Totals>;
    /// The most steps of which a device can copy φ at the sites that sums over `regions` read; 0 where steps copy nothing.
    fn copied_steps(&self, _regions: &[Region]) -> usize {
        0
    }
    /// Sums |ψ|² over regions, and copies what there is to copy, after each of the next `steps` whole steps, those from the [`SUMMED`]th on where [`OnDevice::sum_others`] says so; `false` where that cannot be, and nothing was begun. `largest`: Σ|φ|², 2⁸ times of
    /// which a sum may come to. `weight`: |ψ|²/|φ|² of a site, where that is not 1, and a number that is another one
    /// for other weights.
    fn begin_sums(
        &self,
        _watched: &Watched,
        _steps: usize,
        _largest: f64,
        _weight: Option<(u64, &(dyn Fn(usize) -> T + Sync))>,
    ) -> bool {
        false
    }
    /// Takes those of the regions from the [`SUMMED`]th on, after a step.
    fn sum_others(&self) {}
    /// Ends that: all `count` sums, in groups of [`SUMMED`] regions, in each of those step by step; NaN if the device failed.
    fn take_sums(&self, count: usize) -> Vec<f64> {
        vec![f64::NAN; count]
    }
    /// Sums over the copies of the last `steps` steps, which `closing` closes, step by step, in each the copied regions in their order; nothing if the device failed.
    fn take_copied(&self, _steps: usize, _closing: Option<&HalfPhase>) -> Vec<Totals> {
        Vec::new()
    }
    /// The sums over ψ against `start`, ψ at t = 0, without momenta and lines unless `whole`; `None` where they are not made, or the device failed.
    fn state_sums(&self, _start: &Arc<FieldData>, _whole: bool, _closing: Option<&HalfPhase>) -> Option<StateSums> {
        None
    }
    /// The picture of a field.
    fn picture(&self, request: &ImageRequest, closing: Option<&HalfPhase>, image: &mut FieldImage);
    /// Begins a picture that [`OnDevice::take_picture`] gives; later steps do not change it.
    fn begin_picture(&self, request: &ImageRequest, closing: Option<&HalfPhase>);
    /// The picture begun last; waits for it. `false` if none was begun since, or it failed.
    fn take_picture(&self, image: &mut FieldImage) -> bool;
    /// As [`OnDevice::fault`], but while a picture is under way it waits for the batch before the last only, so that the device has something to
    /// do while the caller shows that picture.
    fn paced(&self) -> Option<SolverError>;
    /// Waits for all of it; what went wrong since the run began.
    fn fault(&self) -> Option<SolverError>;
}

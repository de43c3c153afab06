//! The state: tables and steps around a [`Sweeper`], which holds the field in its own layout and sweeps it.

use super::closed;
use super::measure::ReadRow;
use super::media::{Exponent, Media};
use super::problem::Problem;
use super::recorder::Recorder;
use super::scheme::{PhaseKind, Scheme};
use super::whole_sums::WholeSums;
use crate::backend::simd::Level;
use crate::backend::threads;
use crate::field::{Real, filled, narrow, wide};
use crate::grid::SiteBox;
use crate::physics::Initial;
use crate::solver::SolverError;
use crate::solver::put_in::PutIn;
use crate::solver::setup::refusal;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::ops::Range;

pub(super) use super::half_phase::HalfPhase;
pub(super) use super::stepper::KEPT;
pub(super) use super::stepper::{Correction, RowChange, Sweeper};
#[cfg(feature = "cuda")]
pub(super) use super::stepper::{OnDevice, Watched};
pub(super) use crate::solver::totals::Region;
#[cfg(feature = "cuda")]
pub(super) use crate::solver::totals::Totals;

/// Fewest sites that a thread reads at once.
const SITES_OF_TASK: usize = 4096;

/// φ of one scenario, with the tables of its steps.
pub(super) struct Trotter<T: Real> {
    pub(super) problem: Problem,
    pub(super) scheme: Scheme,
    pub(super) media: Media<T>,
    pub(super) stepper: Box<dyn Sweeper<T>>,
    /// |ψ|² at the start of a step in imaginary time with an interaction, where the field is on the host; otherwise empty.
    density: Vec<T>,
    /// Moduli of the factors of each table, x fastest, where a drive changes their phases and the field is on the host; otherwise empty.
    moduli: Vec<Vec<f64>>,
    /// What multiplies the factors of all sites, where a mean field changes them in every step and the variant asks for it; otherwise empty.
    corrections: Vec<f64>,
    /// What reads the field after every step, kept from call to call.
    pub(super) recorder: Option<Recorder<T>>,
    /// What transducers have added to Σ|ψ|², where the field is on the host.
    pub(super) put_in: PutIn,
    /// The rows in which that counts: all, or those of a window that are its own.
    pub(super) core: Range<usize>,
    /// About Σ|φ|², once a device was asked for sums; the field grows only where it is written anew.
    pub(super) largest: Option<f64>,
}

impl<T: Real> Trotter<T> {
    /// The state at t = 0.
    pub(super) fn new(problem: Problem, initial: &Initial, stepper: Box<dyn Sweeper<T>>) -> Self {
        threads::run(|| {
            let media = Media::new(&problem);
            let scheme = Scheme::new::<T>(&problem, stepper.tan_form());
            let mut run = Self {
                scheme,
                media,
                stepper,
                density: Vec::new(),
                moduli: Vec::new(),
                corrections: Vec::new(),
                recorder: None,
                put_in: PutIn::new(&problem.grid, initial),
                problem,
                core: 0..usize::MAX,
                largest: None,
            };
            run.prepare();
            run.set_initial(initial);
            run
        })
    }

    fn set_initial(&mut self, initial: &Initial) {
        let grid = self.problem.grid.clone();
        let [nx, ny, _] = grid.size();
        let rows = initial.rows(&grid);
        let walls = self.media.walls.as_deref();
        self.stepper.put(&|row, sites| {
            let mut wide = vec![Complex64::default(); sites.len()];
            rows.fill(row % ny, row / ny, &mut wide);
            for (i, (site, value)) in sites.iter_mut().zip(&wide).enumerate() {
                *site = if walls.is_some_and(|walls| walls[row * nx + i]) {
                    Complex::default()
                } else {
                    narrow(*value)
                };
            }
        });
        // Of a window the sum over all parts is not known yet.
        if !grid.is_window() {
            self.begin(initial.normalised().then(|| self.sum_of_squares()));
        }
    }

    /// Normalises the state at t = 0, whose Σ|ψ|² is `weight`, and makes φ of it.
    pub(super) fn begin(&mut self, weight: Option<f64>) {
        if let Some(weight) = weight.filter(|weight| *weight > 0.0) {
            let norm = weight * self.problem.grid.cell_volume();
            self.stepper.scale(T::of(1.0 / norm.sqrt()));
        }
        self.phase_whole_field(0.0, 1.0);
    }

    /// Coefficients and tables anew.
    pub(super) fn prepare(&mut self) {
        self.recorder = None;
        self.largest = None;
        self.corrections = Vec::new();
        self.scheme = Scheme::new::<T>(&self.problem, self.stepper.tan_form());
        self.stepper
            .prepare(&self.problem, &self.scheme, self.media.walls.as_deref());
        if let Some(device) = self.stepper.device() {
            device.set_media(&self.media);
        }
        for (table, kind) in self.scheme.tables.clone().iter().enumerate() {
            let exponent = self
                .media
                .exponent(&[(0.0, kind.time)], kind.damping, kind.fold, self.scheme.imaginary);
            self.fill(table, &exponent, false);
        }
        self.density = Vec::new();
        self.moduli = Vec::new();
        if self.stepper.device().is_some() {
            return;
        }
        if self.media.is_driven() && !self.scheme.imaginary {
            self.moduli = self.scheme.tables.iter().map(|kind| self.moduli_of(kind)).collect();
        }
        if let Some(corrections) = (self.stepper.corrections(&self.scheme)).filter(|_| self.problem.has_mean_field()) {
            let nx = self.problem.grid.size()[0];
            self.corrections = vec![1.0; self.problem.grid.sites()];
            let rows = self.corrections.par_chunks_mut(nx).enumerate();
            rows.for_each(|(row, out)| corrections(row, out));
        }
    }

    /// Bytes of what is kept beside field, tables and medium.
    pub(super) fn held_bytes(&self) -> usize {
        let moduli: usize = self.moduli.iter().map(|moduli| size_of_val(moduli.as_slice())).sum();
        let sums = self.recorder.as_ref().and_then(Recorder::whole);
        let corrections = size_of_val(self.corrections.as_slice());
        moduli + corrections + size_of_val(self.density.as_slice()) + sums.map_or(0, WholeSums::memory)
    }

    fn moduli_of(&self, kind: &PhaseKind) -> Vec<f64> {
        let nx = self.problem.grid.size()[0];
        let corrections = self.stepper.corrections(&self.scheme);
        let mut all = vec![1.0; self.problem.grid.sites()];
        all.par_chunks_mut(nx).enumerate().for_each(|(row, out)| {
            if let Some(corrections) = &corrections {
                corrections(row, out);
            }
            self.media.moduli(row, kind, out);
        });
        all
    }

    /// Multiplies with the first half phase of the step from `time` (`direction` 1: ψ becomes φ) or its inverse (−1).
    pub(super) fn phase_whole_field(&mut self, time: f64, direction: f64) {
        if self.scheme.open == 0.0 {
            return;
        }
        let half_phase = self.first_half_phase(time, direction);
        if let Some(device) = self.stepper.device() {
            device.apply_half_phase(Some(&half_phase), false);
            return;
        }
        let media = &self.media;
        self.stepper
            .change(&|row, sites| half_phase.apply(media, row, 0, sites));
    }

    pub(super) fn first_half_phase(&self, time: f64, direction: f64) -> HalfPhase {
        let length = direction * self.scheme.open;
        let at = self.scheme.first_middle(time);
        let damping = direction * self.scheme.open_damping;
        HalfPhase {
            exponent: self.media.exponent(&[(at, length)], damping, 1.0, false),
            interaction: self.problem.quantum.interaction * length,
            length,
            direction,
        }
    }

    /// Something that closes rows at `time`.
    pub(super) fn last_half_phase(&self, time: f64) -> Option<HalfPhase> {
        (self.scheme.open != 0.0).then(|| self.first_half_phase(time, -1.0))
    }

    /// Sites `x` of a row of ψ.
    pub(super) fn closed_row(&self, closing: Option<&HalfPhase>, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        let x0 = x.start;
        self.stepper.read(row, x, out);
        if closing.is_some() {
            let [mut re, mut im] = [(); 2].map(|()| vec![0.0; out.len()]);
            closed::close(
                Level::best(),
                (closing, &self.media),
                (row, x0),
                out,
                [&mut re, &mut im],
            );
            for (out, (re, im)) in out.iter_mut().zip(re.iter().zip(&im)) {
                *out = Complex::new(T::of(*re), T::of(*im));
            }
        }
    }

    /// ψ at sites of a row, from site `first` on, of which φ is known; rounded to the run's precision.
    pub(super) fn closed_sites(
        &self,
        closing: Option<&HalfPhase>,
        first: usize,
        phi: &[Complex<T>],
    ) -> impl Iterator<Item = Complex64> + use<T> {
        let nx = self.problem.grid.size()[0];
        let [mut re, mut im] = [(); 2].map(|()| vec![0.0; phi.len()]);
        let psi = [&mut re[..], &mut im[..]];
        closed::close(
            Level::best(),
            (closing, &self.media),
            (first / nx, first % nx),
            phi,
            psi,
        );
        re.into_iter()
            .zip(im)
            .map(|(re, im)| wide(Complex::new(T::of(re), T::of(im))))
    }

    /// ψ in a box, x fastest. A site has the same bits in every box.
    pub(super) fn sites_in(&self, closing: Option<&HalfPhase>, sites: &SiteBox) -> Vec<Complex<T>> {
        let (grid, level) = (&self.problem.grid, Level::best());
        let (start, width) = (sites.first[0], sites.size[0]);
        // Those up to the seam of a ring, and those beyond.
        let before = width.min(grid.size()[0] - start);
        let mut phi = vec![Complex::default(); width];
        let [mut re, mut im] = [(); 2].map(|()| vec![0.0; width]);
        let mut all = Vec::with_capacity(sites.sites());
        for row in sites.rows(grid) {
            for (x0, at) in [(start, 0..before), (0, before..width)] {
                let phi = &mut phi[at.clone()];
                self.stepper.read(row, x0..x0 + at.len(), phi);
                let psi = [&mut re[at.clone()], &mut im[at]];
                closed::close(level, (closing, &self.media), (row, x0), phi, psi);
            }
            all.extend(re.iter().zip(&im).map(|(re, im)| Complex::new(T::of(*re), T::of(*im))));
        }
        all
    }

    /// Σ|φ|², row sums added in order.
    pub(super) fn sum_of_squares(&self) -> f64 {
        if let Some(device) = self.stepper.device() {
            return device.norm(&self.everywhere(false));
        }
        if let Some(weight) = self.stepper.weight() {
            return weight;
        }
        self.squares_of_rows().iter().sum()
    }

    /// Σ|φ|² of each row, for a field on the host.
    pub(super) fn squares_of_rows(&self) -> Vec<f64> {
        let read: ReadRow<T> = &|row, x, out| self.stepper.read(row, x, out);
        let rows = self.rows_of(read, &self.everywhere(false), None, &[]);
        rows.into_iter().map(|(_, row)| row.norm).collect()
    }

    /// All sites.
    pub(super) fn everywhere(&self, energy: bool) -> Region {
        Region {
            lo: [0; 3],
            hi: self.problem.grid.size(),
            across: None,
            energy,
        }
    }

    /// `value`, unless the device failed.
    pub(super) fn checked<R>(&self, value: R) -> Result<R, SolverError> {
        self.stepper.fault().map_or(Ok(value), Err)
    }

    /// Whether steps are alike, so that several can be taken at once.
    pub(super) fn is_steady(&self) -> bool {
        !self.media.is_driven() && !self.scheme.imaginary
    }

    /// Steps that are alike.
    pub(super) fn steady_steps(&mut self, steps: u64) {
        self.stepper.steps(&self.scheme, steps);
    }

    /// The same, seen by `recorder` after each: at most as many as it has room for.
    pub(super) fn recorded_steps(&mut self, steps: u64, recorder: &Recorder<T>) {
        self.stepper.recorded(&self.scheme, steps, recorder);
    }

    /// One step from `time` with everything that may happen inside it.
    pub(super) fn single_step(&mut self, time: f64) {
        if self.scheme.imaginary {
            self.relaxing_step(time);
        } else if self.media.is_driven() {
            for i in 0..self.scheme.substeps.len() {
                let table = self.scheme.substeps[i].table;
                let parts = self.scheme.phase_after(i, time);
                self.refill(table, &parts);
                self.stepper.substep(&self.scheme, i);
            }
        } else {
            self.stepper.steps(&self.scheme, 1);
        }
    }

    /// One step of imaginary time: half a phase, sweeps, the other half. Both tables come first, from the field of norm 1.
    fn relaxing_step(&mut self, time: f64) {
        let front = self.scheme.substeps[0].front;
        let last = self.scheme.tables.len() - 1;
        if self.problem.has_mean_field() && self.stepper.device().is_none() {
            self.hold_density();
        }
        self.refill(0, &self.scheme.phase_after(0, time));
        if front > 0.0 {
            self.refill(last, &[(self.scheme.first_middle(time), front)]);
            self.stepper.apply_table(last);
        }
        self.stepper.steps(&self.scheme, 1);
    }

    /// Scales the field to Σ|φ|² = `weight`.
    pub(super) fn rescale(&mut self, weight: f64) {
        self.largest = Some(weight);
        if let Some(device) = self.stepper.device() {
            device.normalise(weight);
            return;
        }
        self.rescale_from(self.sum_of_squares(), weight);
    }

    /// The same where Σ|φ|² is known to be `now`.
    pub(super) fn rescale_from(&mut self, now: f64, weight: f64) {
        if now > 0.0 {
            self.stepper.scale(T::of((weight / now).sqrt()));
        }
    }

    /// Keeps |ψ|² of every site for the mean field of a step.
    fn hold_density(&mut self) {
        let nx = self.problem.grid.size()[0];
        self.density.resize(self.problem.grid.sites(), T::zero());
        let stepper = &self.stepper;
        let rows = self.density.par_chunks_mut(nx).enumerate();
        rows.with_min_len((SITES_OF_TASK / nx).max(1)).for_each_init(
            || vec![Complex::default(); nx],
            |sites, (row, density)| {
                stepper.read(row, 0..nx, sites);
                for (density, site) in density.iter_mut().zip(sites) {
                    *density = site.norm_sqr();
                }
            },
        );
    }

    /// Refills what changes of a table: its driven rows, or all of it where a mean field does.
    fn refill(&mut self, table: usize, parts: &[(f64, f64)]) {
        let mean_field = self.problem.has_mean_field();
        if !self.media.is_driven() && !mean_field {
            return;
        }
        let kind = self.scheme.tables[table];
        let mut exponent = (self.media).exponent(parts, kind.damping, kind.fold, self.scheme.imaginary);
        exponent.energy = kind.time;
        if mean_field {
            let uniform = self.problem.strengths.is_none();
            exponent.mean_field = kind.time * if uniform { self.problem.quantum.interaction } else { 1.0 };
            exponent.cross = kind.time * self.problem.medium.cross_interaction();
        }
        self.fill(table, &exponent, !mean_field);
    }

    /// Fills a table, or its driven rows.
    fn fill(&mut self, table: usize, exponent: &Exponent, driven_only: bool) {
        if let Some(device) = self.stepper.device() {
            device.refill(table, exponent);
            return;
        }
        let (media, grid, scheme, density) = (&self.media, &self.problem.grid, &self.scheme, &self.density);
        if let (true, Some(moduli)) = (driven_only, self.moduli.get(table)) {
            let nx = grid.size()[0];
            self.stepper
                .fill_table(table, &|row| media.row_is_driven(row), &|row, out| {
                    media.driven_factors(row, exponent, &moduli[row * nx..][..nx], out);
                });
            return;
        }
        let (nx, kept) = (grid.size()[0], &self.corrections);
        let corrections = if kept.is_empty() {
            self.stepper.corrections(scheme)
        } else {
            None
        };
        self.stepper
            .fill_table(table, &|row| !driven_only || media.row_is_driven(row), &|row, out| {
                let mut of_row = Vec::new();
                let of_row = if let Some(corrections) = &corrections {
                    of_row.resize(nx, 1.0);
                    corrections(row, &mut of_row);
                    Some(&of_row[..])
                } else {
                    kept.get(row * nx..(row + 1) * nx)
                };
                media.factors(row, 0, exponent, of_row, density, out);
            });
    }

    pub(super) fn check(problem: &Problem) -> Result<(), SolverError> {
        problem
            .objections()
            .first()
            .map_or(Ok(()), |objection| Err(refusal(objection)))
    }

    pub(super) fn write_field(&mut self, at: &(dyn Fn(usize) -> Complex<T> + Sync)) {
        self.largest = None;
        let nx = self.problem.grid.size()[0];
        let walls = self.media.walls.as_deref();
        self.stepper.put(&|row, sites| {
            for (i, site) in sites.iter_mut().enumerate() {
                let index = row * nx + i;
                *site = if walls.is_some_and(|walls| walls[index]) {
                    Complex::default()
                } else {
                    at(index)
                };
            }
        });
    }

    pub(super) fn gather(&self, closing: Option<&HalfPhase>) -> Vec<Complex<T>> {
        let nx = self.problem.grid.size()[0];
        let mut all = filled(self.problem.grid.sites(), Complex::default());
        all.par_chunks_mut(nx)
            .enumerate()
            .for_each(|(row, out)| self.closed_row(closing, row, 0..nx, out));
        all
    }
}

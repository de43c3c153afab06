//! A run: clock, edits, frames and states around a [`Stepper`], which holds the field in a layout of its own and sweeps it.

use super::media::{Exponent, Media};
use super::problem::Problem;
use super::scheme::Scheme;
use crate::backend::threads;
use crate::field::{FieldData, Real};
use crate::physics::{Initial, Observables};
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::{Backend, Clock, Edit, FieldImage, ImageRequest, Report, Solver, SolverError, SolverState, Taps};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::ops::Range;

/// What changes the sites of a row: (row, sites).
pub(super) type RowChange<'a, T> = &'a (dyn Fn(usize, &mut [Complex<T>]) + Sync);

/// Writes the corrections of a row.
pub(super) type Correction = Box<dyn Fn(usize, &mut [f64]) + Sync>;

/// A variant: the open field φ and tables of phases in its own layout, and the sweeps over them.
///
/// Rows are numbered j + ny·k. All methods run inside the thread pool. Stepping one by one or many at once gives the
/// same bits.
pub(super) trait Stepper<T: Real>: Send + Sync {
    /// The variant's id.
    fn variant(&self) -> &'static str;
    /// What was chosen, for people.
    fn details(&self) -> String;
    /// Bytes held.
    fn memory(&self) -> usize;
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
    /// Refills the rows of a table that `touched` names, in parallel.
    fn fill_table(&mut self, table: usize, touched: &(dyn Fn(usize) -> bool + Sync), fill: RowChange<T>);
    /// Multiplies the field with a table, with the interaction's phase for `time`.
    fn apply_table(&mut self, table: usize, time: f64);
    /// Sweeps and phase of one sub-step.
    fn substep(&mut self, scheme: &Scheme, i: usize);
    /// What a device does by itself; `None` for a stepper whose field is on the host.
    fn device(&self) -> Option<&dyn OnDevice<T>> {
        None
    }
    /// Whole steps, tables as they are.
    fn steps(&mut self, scheme: &Scheme, steps: u64) {
        for _ in 0..steps {
            for i in 0..scheme.substeps.len() {
                self.substep(scheme, i);
            }
        }
    }
}

/// What a stepper whose field is on a device does without moving it to the host. A failure is kept until [`OnDevice::fault`] is asked.
pub(super) trait OnDevice<T: Real>: Sync {
    /// Where it runs.
    fn backend(&self) -> Backend;
    /// Multiprocessors.
    fn units(&self) -> usize;
    /// Takes over energies, absorption, driven parts and walls.
    fn set_media(&self, media: &Media<T>);
    /// A table from an exponent.
    fn refill(&self, table: usize, exponent: &Exponent);
    /// Opens or closes the whole field, or conjugates it; walls become zero.
    fn turn(&self, opening: Option<&Opening>, conjugate: bool);
    /// Scales the field to Σ|φ|² = weight.
    fn normalise(&self, weight: f64);
    /// Sums over a region.
    fn totals(&self, region: &Region, closing: Option<&Opening>, drives: &[f64]) -> Totals;
    /// The picture of a field.
    fn picture(&self, request: &ImageRequest, closing: Option<&Opening>, image: &mut FieldImage);
    /// Waits for all of it; what went wrong since the run began.
    fn fault(&self) -> Option<SolverError>;
}

/// Sites lo ≤ site < hi, and what is wanted of them beside norm and moments.
pub(super) struct Region {
    pub lo: [usize; 3],
    pub hi: [usize; 3],
    /// Current along this axis.
    pub across: Option<usize>,
    pub energy: bool,
}

/// Sums over a region, site numbers for positions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// Σ|ψ|².
    pub norm: f64,
    /// Σ Re ψ*(Hψ), bonds that leave the region counted half.
    pub energy: f64,
    /// Σ x|ψ|², …
    pub first: [f64; 3],
    /// Σ x²|ψ|², …
    pub second: [f64; 3],
    /// Largest |ψ|².
    pub peak: f64,
    /// Σ 2J Im(ψₐ* e^{−iϕ} ψ_b) over the bonds upwards along `across`.
    pub current: f64,
}

/// A trotter run.
pub(super) struct Run<T: Real> {
    pub(super) problem: Problem,
    pub(super) scheme: Scheme,
    pub(super) media: Media<T>,
    pub(super) stepper: Box<dyn Stepper<T>>,
    steps: u64,
    /// The time is `base_time` + Δt·(steps − base_steps), so that it doesn't depend on how steps were batched.
    base_time: f64,
    base_steps: u64,
    /// What imaginary time restores: Σ|ψ|² (no cell volume).
    weight: f64,
    /// Something to say beside what the stepper says of itself.
    note: Option<String>,
}

impl<T: Real> Run<T> {
    /// A run at t = 0.
    pub(super) fn new(problem: Problem, initial: &Initial, stepper: Box<dyn Stepper<T>>) -> Self {
        threads::run(|| {
            let media = Media::new(&problem);
            let scheme = Scheme::new::<T>(&problem, stepper.tan_form());
            let mut run = Self {
                problem,
                scheme,
                media,
                stepper,
                steps: 0,
                base_time: 0.0,
                base_steps: 0,
                weight: 0.0,
                note: None,
            };
            run.prepare();
            run.set_initial(initial);
            run
        })
    }

    /// The run with something to say in its report.
    pub(super) fn noting(mut self, note: Option<String>) -> Self {
        self.note = note;
        self
    }

    /// The run, unless its device failed while it was built.
    #[cfg(feature = "cuda")]
    pub(super) fn ready(self) -> Result<Self, SolverError> {
        self.checked(())?;
        Ok(self)
    }

    fn set_initial(&mut self, initial: &Initial) {
        let grid = self.problem.grid.clone();
        let [nx, ny, _] = grid.size();
        let walls = self.media.walls.as_deref();
        self.stepper.change(&|row, sites| {
            let mut wide = vec![Complex64::default(); sites.len()];
            initial.fill_row(&grid, row % ny, row / ny, &mut wide);
            for (i, (site, value)) in sites.iter_mut().zip(&wide).enumerate() {
                *site = if walls.is_some_and(|walls| walls[row * nx + i]) {
                    Complex::default()
                } else {
                    Complex::new(T::of(value.re), T::of(value.im))
                };
            }
        });
        self.weight = self.sum_of_squares();
        if initial.normalised() && self.weight > 0.0 {
            let scale = T::of(1.0 / (self.weight * grid.cell_volume()).sqrt());
            self.stepper
                .change(&|_, sites| sites.iter_mut().for_each(|site| *site *= scale));
            self.weight = 1.0 / grid.cell_volume();
        }
        self.phase_whole_field(1.0);
    }

    /// Time after `steps` steps.
    fn time_at(&self, steps: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "steps stay below 2^52")]
        let since = (steps - self.base_steps) as f64;
        self.base_time + since * self.scheme.time_step
    }

    pub(super) fn time(&self) -> f64 {
        self.time_at(self.steps)
    }

    /// Coefficients and tables anew.
    fn prepare(&mut self) {
        self.scheme = Scheme::new::<T>(&self.problem, self.stepper.tan_form());
        self.stepper
            .prepare(&self.problem, &self.scheme, self.media.walls.as_deref());
        if let Some(device) = self.stepper.device() {
            device.set_media(&self.media);
        }
        for (table, kind) in self.scheme.tables.clone().iter().enumerate() {
            let mut exponent = self
                .media
                .exponent(&[(0.0, kind.time)], kind.fold, self.scheme.imaginary);
            exponent.energy = kind.time;
            self.fill(table, &exponent, false);
        }
    }

    /// Multiplies with the first half phase (`direction` 1: ψ becomes φ) or its inverse (−1).
    fn phase_whole_field(&mut self, direction: f64) {
        if self.scheme.open == 0.0 {
            return;
        }
        let opening = self.opening(direction);
        if let Some(device) = self.stepper.device() {
            device.turn(Some(&opening), false);
            return;
        }
        let media = &self.media;
        self.stepper.change(&|row, sites| opening.apply(media, row, 0, sites));
    }

    fn opening(&self, direction: f64) -> Opening {
        let length = direction * self.scheme.open;
        let mut exponent = (self.media).exponent(&[(self.scheme.first_middle(self.time()), length)], 1.0, false);
        exponent.damping *= direction;
        Opening {
            exponent,
            interaction: self.problem.quantum.interaction * length,
            direction,
        }
    }

    /// Something that closes rows at the present time.
    pub(super) fn closing(&self) -> Option<Opening> {
        (self.scheme.open != 0.0).then(|| self.opening(-1.0))
    }

    /// Sites `x` of a row of ψ.
    pub(super) fn closed_row(&self, closing: Option<&Opening>, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        let x0 = x.start;
        self.stepper.read(row, x, out);
        if let Some(closing) = closing {
            closing.apply(&self.media, row, x0, out);
        }
    }

    /// Σ|φ|², row sums added in order.
    fn sum_of_squares(&self) -> f64 {
        if let Some(device) = self.stepper.device() {
            return device.totals(&self.everywhere(false), None, &[]).norm;
        }
        let nx = self.problem.grid.size()[0];
        let rows: Vec<f64> = (0..self.problem.grid.rows())
            .into_par_iter()
            .map_init(
                || vec![Complex::default(); nx],
                |sites, row| {
                    self.stepper.read(row, 0..nx, sites);
                    sites
                        .iter()
                        .map(|site| site.re.wide().powi(2) + site.im.wide().powi(2))
                        .sum()
                },
            )
            .collect();
        rows.iter().sum()
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
    fn checked<R>(&self, value: R) -> Result<R, SolverError> {
        match self.stepper.device().and_then(OnDevice::fault) {
            Some(fault) => Err(fault),
            None => Ok(value),
        }
    }

    /// One step with everything that may happen inside it.
    fn single_step(&mut self) {
        let time = self.time();
        let front = self.scheme.substeps[0].front;
        if self.scheme.imaginary && front > 0.0 {
            let table = self.scheme.tables.len() - 1;
            self.refill(table, &[(self.scheme.first_middle(time), front)]);
            self.stepper.apply_table(table, front);
        }
        if self.media.is_driven() {
            for i in 0..self.scheme.substeps.len() {
                let table = self.scheme.substeps[i].table;
                let parts = self.scheme.phase_after(i, time);
                self.refill(table, &parts);
                self.stepper.substep(&self.scheme, i);
            }
        } else {
            self.stepper.steps(&self.scheme, 1);
        }
        if let (true, Some(device)) = (self.scheme.imaginary, self.stepper.device()) {
            device.normalise(self.weight);
        } else if self.scheme.imaginary {
            let now = self.sum_of_squares();
            if now > 0.0 {
                let scale = T::of((self.weight / now).sqrt());
                self.stepper
                    .change(&|_, sites| sites.iter_mut().for_each(|site| *site *= scale));
            }
        }
        self.steps += 1;
    }

    /// Refills the driven rows of a table.
    fn refill(&mut self, table: usize, parts: &[(f64, f64)]) {
        if !self.media.is_driven() {
            return;
        }
        let kind = self.scheme.tables[table];
        let mut exponent = self.media.exponent(parts, kind.fold, self.scheme.imaginary);
        exponent.energy = kind.time;
        self.fill(table, &exponent, true);
    }

    /// Fills a table, or its driven rows.
    fn fill(&mut self, table: usize, exponent: &Exponent, driven_only: bool) {
        if let Some(device) = self.stepper.device() {
            device.refill(table, exponent);
            return;
        }
        let (media, grid, scheme) = (&self.media, &self.problem.grid, &self.scheme);
        let corrections = self.stepper.corrections(scheme);
        self.stepper
            .fill_table(table, &|row| !driven_only || media.row_is_driven(row), &|row, out| {
                let mut of_row = vec![1.0; grid.size()[0]];
                let of_row = corrections.as_ref().map(|corrections| {
                    corrections(row, &mut of_row);
                    &*of_row
                });
                media.factors(row, 0, exponent, of_row, out);
            });
    }

    fn check(problem: &Problem) -> Result<(), SolverError> {
        let objections = problem.objections();
        if objections.is_empty() {
            Ok(())
        } else {
            Err(SolverError::Unsupported(objections.join("; ")))
        }
    }

    fn set_clock(&mut self, clock: Clock) -> Result<(), SolverError> {
        let mut problem = self.problem.clone();
        problem.time_step = clock.time_step;
        Self::check(&problem)?;
        self.steps = clock.steps;
        self.base_steps = clock.steps;
        self.base_time = clock.time;
        if clock.time_step.to_bits() != self.problem.time_step.to_bits() {
            self.problem = problem;
            self.prepare();
        }
        Ok(())
    }

    fn write_field(&mut self, at: &(dyn Fn(usize) -> Complex<T> + Sync)) {
        let nx = self.problem.grid.size()[0];
        let walls = self.media.walls.as_deref();
        self.stepper.change(&|row, sites| {
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

    fn gather(&self, closing: Option<&Opening>) -> Vec<Complex<T>> {
        let nx = self.problem.grid.size()[0];
        let mut all = vec![Complex::default(); self.problem.grid.sites()];
        all.par_chunks_mut(nx)
            .enumerate()
            .for_each(|(row, out)| self.closed_row(closing, row, 0..nx, out));
        all
    }
}

/// The first half phase, or its inverse, at one moment.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub(super) exponent: Exponent,
    /// g τ.
    pub(super) interaction: f64,
    pub(super) direction: f64,
}

impl Opening {
    /// Applies it to sites x0.. of a row. The interaction's phase has |φ|² (after damping) for density, both ways.
    fn apply<T: Real>(&self, media: &Media<T>, row: usize, x0: usize, sites: &mut [Complex<T>]) {
        let mut factors = vec![Complex::default(); sites.len()];
        media.factors(row, x0, &self.exponent, None, &mut factors);
        for (site, factor) in sites.iter_mut().zip(&factors) {
            let mut value = *site * factor;
            if self.interaction != 0.0 {
                let damped = if self.direction > 0.0 { value } else { *site };
                let angle = -self.interaction * damped.norm_sqr().wide();
                value *= Complex::new(T::of(angle.cos()), T::of(angle.sin()));
            }
            *site = value;
        }
    }
}

impl<T: Real> Solver for Run<T> {
    fn report(&self) -> Report {
        Report {
            method: "trotter",
            variant: self.stepper.variant(),
            backend: self.stepper.device().map_or(Backend::Cpu, OnDevice::backend),
            precision: T::PRECISION,
            order: self.problem.order,
            threads: self.stepper.device().map_or_else(threads::count, OnDevice::units),
            details: match &self.note {
                Some(note) => format!("{}; {note}", self.stepper.details()),
                None => self.stepper.details(),
            },
            memory: (self.stepper.memory() + self.media.memory()) as u64,
        }
    }

    fn clock(&self) -> Clock {
        Clock {
            steps: self.steps,
            time: self.time(),
            time_step: self.scheme.time_step,
        }
    }

    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        threads::run(|| {
            if taps.is_empty() && !self.media.is_driven() && !self.scheme.imaginary {
                self.stepper.steps(&self.scheme, steps);
                self.steps += steps;
            } else {
                for _ in 0..steps {
                    self.single_step();
                    if !taps.is_empty() {
                        self.record(taps);
                    }
                }
            }
            self.checked(())
        })
    }

    fn edit(&mut self, scenario: &Scenario, edit: &Edit) -> Result<(), SolverError> {
        let mut problem = self.problem.clone();
        match edit {
            Edit::TimeStep(step) => problem.time_step = *step,
            Edit::Medium => {
                problem = Problem::new(scenario)?;
                problem.time_step = self.problem.time_step;
                if problem.grid != self.problem.grid {
                    return Err(SolverError::Unsupported("another grid needs a new run".into()));
                }
            }
            Edit::Conjugate => {}
        }
        self.apply_edit(problem, edit)
    }

    fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        if !matches!(
            request.quantity,
            Quantity::Density | Quantity::Phase | Quantity::Real | Quantity::Imaginary
        ) {
            return Err(SolverError::Unsupported(
                "this method shows density, phase, real and imaginary part".into(),
            ));
        }
        threads::run(|| {
            // |φ| = |ψ| unless half a step of absorption lies between them.
            let closing = if request.quantity == Quantity::Density && !self.media.absorbs() {
                None
            } else {
                self.closing()
            };
            if let Some(device) = self.stepper.device() {
                device.picture(request, closing.as_ref(), image);
                return self.checked(());
            }
            let first = request.z * self.problem.grid.size()[1];
            let run = &*self;
            image.fill_quantum(request, |j, out| {
                let mut sites = vec![Complex::<T>::default(); out.len()];
                run.closed_row(closing.as_ref(), first + j, request.x.clone(), &mut sites);
                for (out, site) in out.iter_mut().zip(&sites) {
                    *out = Complex::new(single(site.re), single(site.im));
                }
            });
            Ok(())
        })
    }

    fn observables(&mut self) -> Result<Observables, SolverError> {
        let sums = threads::run(|| self.measure());
        self.checked(sums)
    }

    fn field(&mut self) -> Result<FieldData, SolverError> {
        let data = threads::run(|| T::complex_data(self.gather(self.closing().as_ref())));
        self.checked(data)
    }

    fn set_field(&mut self, field: &FieldData, clock: Clock) -> Result<(), SolverError> {
        self.check_size(field)?;
        threads::run(|| {
            self.set_clock(clock)?;
            self.write_field(&|index| narrow(field.at(index)));
            self.weight = self.sum_of_squares();
            self.phase_whole_field(1.0);
            self.checked(())
        })
    }

    fn save(&mut self) -> Result<SolverState, SolverError> {
        let arrays = threads::run(|| vec![("open".to_owned(), T::complex_data(self.gather(None)))]);
        #[expect(clippy::cast_precision_loss, reason = "steps stay below 2^52")]
        let base_steps = self.base_steps as f64;
        self.checked(SolverState {
            clock: self.clock(),
            arrays,
            scalars: vec![
                ("base_time".into(), self.base_time),
                ("base_steps".into(), base_steps),
                ("weight".into(), self.weight),
            ],
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count that `save` wrote"
    )]
    fn load(&mut self, state: &SolverState) -> Result<(), SolverError> {
        let missing = |name: &str| SolverError::StateMismatch(format!("it has no `{name}`; was it saved by trotter?"));
        let (_, open) = (state.arrays.iter().find(|(name, _)| name == "open")).ok_or_else(|| missing("open"))?;
        let scalar = |name: &str| {
            (state.scalars.iter().find(|(known, _)| known == name))
                .map(|(_, value)| *value)
                .ok_or_else(|| missing(name))
        };
        let (base_time, base_steps, weight) = (scalar("base_time")?, scalar("base_steps")?, scalar("weight")?);
        self.check_size(open)?;
        threads::run(|| {
            self.set_clock(state.clock)?;
            self.base_time = base_time;
            self.base_steps = (base_steps as u64).min(state.clock.steps);
            self.weight = weight;
            self.write_field(&|index| narrow(open.at(index)));
            self.checked(())
        })
    }
}

impl<T: Real> Run<T> {
    fn check_size(&self, field: &FieldData) -> Result<(), SolverError> {
        let sites = self.problem.grid.sites();
        if field.len() == sites {
            Ok(())
        } else {
            Err(SolverError::StateMismatch(format!(
                "it has {} sites and this run {sites}; load it into a run on the same grid",
                field.len()
            )))
        }
    }

    /// Closes ψ with the old constants, changes them, and opens it with the new ones.
    pub(super) fn apply_edit(&mut self, problem: Problem, edit: &Edit) -> Result<(), SolverError> {
        Self::check(&problem)?;
        threads::run(|| {
            self.phase_whole_field(-1.0);
            self.base_time = self.time();
            self.base_steps = self.steps;
            self.problem = problem;
            match edit {
                Edit::TimeStep(_) => self.prepare(),
                Edit::Medium => {
                    self.media = Media::new(&self.problem);
                    self.prepare();
                    let nx = self.problem.grid.size()[0];
                    if let Some(device) = self.stepper.device() {
                        device.turn(None, false);
                    } else if let Some(walls) = self.media.walls.as_deref() {
                        self.stepper.change(&|row, sites| {
                            for (site, _) in sites.iter_mut().zip(&walls[row * nx..]).filter(|(_, wall)| **wall) {
                                *site = Complex::default();
                            }
                        });
                    }
                }
                Edit::Conjugate => {
                    if let Some(device) = self.stepper.device() {
                        device.turn(None, true);
                    } else {
                        self.stepper
                            .change(&|_, sites| sites.iter_mut().for_each(|site| *site = site.conj()));
                    }
                }
            }
            self.phase_whole_field(1.0);
        });
        self.checked(())
    }
}

fn single<T: Real>(value: T) -> f32 {
    value.to_f32().unwrap_or(f32::NAN)
}

fn narrow<T: Real>(value: Complex64) -> Complex<T> {
    Complex::new(T::of(value.re), T::of(value.im))
}

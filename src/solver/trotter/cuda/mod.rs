//! Trotter–Suzuki on an NVIDIA device.
//!
//! Layout: two planes, real and imaginary part, of `pitch` × ny × nz numbers, x fastest, pitch = nx rounded up to 32; columns beyond nx hold
//! zeros. As on the processor the field is kept open, φ = P½ψ, and checkpoints hold φ in natural order: they go from one to the other.
//!
//! - `fused`: up to six (single) or four (double) steps a launch, the state in registers (`kernels/trotter_fused.cu`) in two dimensions;
//!   up to sixteen in one (`kernels/trotter_line.cu`). Other numbers (`fused_steps`) are compiled where NVRTC is found.
//!   Two steps in three dimensions (`kernels/trotter_space.cu`).
//! - `full-step`: the same with one step a launch; in three dimensions, where nx is no multiple of 16 bytes or the device has little shared memory,
//!   two launches: x and y sweeps plane by plane, then z sweeps and phase in place along columns.
//! - `naive`: one kernel a sweep (Bederián and Dente 2011, section 4.2). One to three dimensions.
//!
//! Steps go into one stream; pictures and sums into a second one, so that a picture that was begun ([`OnDevice::begin_picture`]) is reduced and
//! copied while stepping goes on. Steps write to the planes that the picture does not read; those that would overwrite it wait on the device.
//!
//! Bound, 2D order 2 single: 16 instructions a site-step, so 2.0 T site-steps/s on an H200; a pass over memory moves 24 B (field in and out, phases),
//! so 178 G site-steps/s with one step a launch.

mod launch;
mod on_device;
mod params;
mod sources;

use super::problem::Problem;
use super::run::{OnDevice, RowChange, Run, Stepper};
use super::scheme::Scheme;
use crate::backend::cuda::{self, Buffer, CudaError, Kernel, Landing, Mark, Queue};
use crate::field::{Precision, Real};
use crate::grid::{Edge, Grid};
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::scene::scenario::BackendChoice;
use crate::solver::{Backend, FieldImage, Solver, SolverError, Target, Variant};
use num_complex::Complex;
use params::{Lattice, MOST_DRIVES, SUMS};
use rayon::prelude::*;
use sources::Flags;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A real that the device can hold.
pub(super) trait OnCuda: Real + cuda::Kind {}
impl OnCuda for f32 {}
impl OnCuda for f64 {}

/// Entries of `trotter_sweeps.cu`.
const ENTRIES: [&str; 10] = [
    "sweep_x",
    "sweep_rows",
    "sweep_columns",
    "phases",
    "fill_table",
    "turn_field",
    "measure_rows",
    "measure_total",
    "normalise",
    "picture",
];

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Cuda,
    precisions: &[Precision::Single, Precision::Double],
    variants: &[
        Variant {
            id: "naive",
            about: "one kernel a sweep; the simplest, and it does everything",
        },
        Variant {
            id: "full-step",
            about: "one whole step a pass over memory, in registers",
        },
        Variant {
            id: "fused",
            about: "several whole steps a pass over memory, in registers; the fastest",
        },
    ],
};

/// Below this a launch costs more than the sites it steps, and the processor is faster.
const FEWEST_SITES: usize = 1 << 16;

/// What [`build`] came to.
pub(super) enum Built {
    /// A run on the device.
    Device(Box<dyn Solver>),
    /// The processor is to do it, with something to say about it.
    Elsewhere(Option<String>),
}

/// A run on the device where the scene asks for it, or leaves it open and it is the better place.
pub(super) fn build(scenario: &Scenario) -> Result<Built, SolverError> {
    let choice = scenario.solver();
    let asked = choice.backend == BackendChoice::Cuda;
    let known = |id: &str| TARGET.variants.iter().any(|variant| variant.id == id);
    let only_here = known(&choice.variant) && choice.variant != "naive";
    let open = choice.backend == BackendChoice::Auto
        && (choice.variant == "auto" || only_here)
        && (only_here || scenario.grid().sites() >= FEWEST_SITES)
        && cuda::device().is_ok();
    if !asked && !open {
        return Ok(Built::Elsewhere(None));
    }
    if choice.variant != "auto" && !known(&choice.variant) {
        return Err(SolverError::Unsupported(format!(
            "trotter has no variant `{}` on cuda; take one of auto, naive, full-step, fused",
            choice.variant
        )));
    }
    let built = match choice.precision {
        Precision::Single => build_in::<f32>(scenario),
        Precision::Double => build_in::<f64>(scenario),
    };
    match built {
        Err(error) if !asked && !only_here => {
            tracing::warn!("on the processor instead of the NVIDIA device: {error}");
            Ok(Built::Elsewhere(Some(format!("not on the NVIDIA device: {error}"))))
        }
        built => built.map(Built::Device),
    }
}

fn build_in<T: OnCuda>(scenario: &Scenario) -> Result<Box<dyn Solver>, SolverError> {
    let problem = Problem::new(scenario)?;
    let steps = super::problem::sizes(scenario, "fused_steps").first().copied();
    let stepper = Cuda::<T>::new(&problem, &scenario.solver().variant, steps)?;
    let run = Run::new(problem, scenario.initial(), Box::new(stepper)).ready()?;
    Ok(Box::new(run))
}

/// Both planes.
type Planes<T> = [Buffer<T>; 2];
/// Both planes on the host.
type Mirror<T> = Arc<[Vec<T>; 2]>;

/// The field on the device.
pub(super) struct Cuda<T: OnCuda> {
    queue: Queue,
    /// Pictures and sums.
    side: Queue,
    grid: Grid,
    lattice: Lattice,
    pitch: usize,
    variant: &'static str,
    /// Steps a launch, if the scene says so.
    asked_steps: Option<usize>,
    /// Why another variant runs than was asked for.
    because: Option<String>,
    field: Planes<T>,
    /// Where fused steps write; the planes then change places.
    other: Option<Planes<T>>,
    tables: Vec<Planes<T>>,
    walls: Option<Buffer<u8>>,
    gauge: Option<Planes<T>>,
    flags: Flags,
    flux: f64,
    hopping: f64,
    interaction: f64,
    fused: Vec<launch::Fused>,
    /// Three dimensions: most steps first; empty where `fused` and columns do them.
    space: Vec<launch::Space>,
    /// One dimension.
    line: Option<Kernel>,
    kernels: [Kernel; ENTRIES.len()],
    sums: Mutex<Sums<T>>,
    mirror: Mutex<Option<Mirror<T>>>,
    fault: Mutex<Option<CudaError>>,
    ahead: Mutex<Ahead>,
}

/// A picture under way while steps go on.
#[derive(Default)]
struct Ahead {
    /// Whether one was begun and not taken.
    pending: bool,
    /// Its layout; the values arrive below.
    image: FieldImage,
    value: Option<Landing<f32>>,
    phase: Option<Landing<f32>>,
    /// The plane that it reads, until steps have been told to wait for it.
    reads: Option<(u64, Mark)>,
    /// Behind the last batch of steps.
    batch: Option<Mark>,
}

/// What changes behind a shared reference.
struct Sums<T: OnCuda> {
    energy: Option<Buffer<T>>,
    absorption: Option<Buffer<T>>,
    driven: Vec<Buffer<T>>,
    lowest: f64,
    rows: Buffer<f64>,
    totals: Buffer<f64>,
    value: Option<Buffer<f32>>,
    phase: Option<Buffer<f32>>,
    seed: u32,
}

impl<T: OnCuda> Drop for Cuda<T> {
    /// Buffers go with the queue that made them, whatever the other one still reads.
    fn drop(&mut self) {
        let _ = self.queue.finish();
        let _ = self.side.finish();
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Room for a field; `variant` is a variant's id or `auto`, `asked_steps` how many to fuse.
    pub(super) fn new(problem: &Problem, variant: &str, asked_steps: Option<usize>) -> Result<Self, SolverError> {
        let device = cuda::device().map_err(|reason| SolverError::Backend {
            backend: "cuda",
            message: reason.to_owned(),
        })?;
        let (variant, because) = chosen(problem, variant, T::PRECISION);
        check_room(problem, variant, T::PRECISION, device.free_memory())?;
        let grid = problem.grid.clone();
        let [nx, ny, nz] = grid.size();
        let pitch = nx.next_multiple_of(32);
        let count = pitch * ny * nz;
        let make = || -> Result<Self, CudaError> {
            let (queue, side) = (Queue::new(device)?, Queue::new(device)?);
            let source = sources::sweeps(T::PRECISION);
            let mut kernels = Vec::with_capacity(ENTRIES.len());
            for entry in ENTRIES {
                kernels.push(queue.kernel(source, entry, 0)?);
            }
            let planes = |what: &str| -> Result<Planes<T>, CudaError> {
                Ok([queue.zeros(what, count)?, queue.zeros(what, count)?])
            };
            let kernels = kernels.try_into().map_err(|_| CudaError::Call {
                what: "the table of kernels".into(),
                message: "has another length".into(),
            })?;
            Ok(Self {
                lattice: Lattice::new(&grid, pitch),
                field: planes("the field")?,
                other: if variant == "naive" {
                    None
                } else {
                    Some(planes("the field's second half")?)
                },
                sums: Mutex::new(Sums {
                    energy: None,
                    absorption: None,
                    driven: Vec::new(),
                    lowest: 0.0,
                    rows: queue.zeros("sums over rows", ny * nz * SUMS)?,
                    totals: queue.zeros("sums", SUMS)?,
                    value: None,
                    phase: None,
                    seed: 1,
                }),
                queue,
                side,
                grid,
                pitch,
                variant,
                asked_steps,
                because,
                tables: Vec::new(),
                walls: None,
                gauge: None,
                flags: Flags::default(),
                flux: 0.0,
                hopping: 0.0,
                interaction: 0.0,
                fused: Vec::new(),
                space: Vec::new(),
                line: None,
                kernels,
                mirror: Mutex::default(),
                fault: Mutex::default(),
                ahead: Mutex::default(),
            })
        };
        make().map_err(solver_error)
    }

    fn kernel(&self, entry: &str) -> &Kernel {
        let place = ENTRIES.iter().position(|known| *known == entry).unwrap_or(0);
        &self.kernels[place]
    }

    /// Runs `work`, unless something failed before, and keeps what fails.
    fn attempt<R>(&self, work: impl FnOnce() -> Result<R, CudaError>) -> Option<R> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if fault.is_some() {
            return None;
        }
        match work() {
            Ok(value) => Some(value),
            Err(error) => {
                *fault = Some(error);
                None
            }
        }
    }

    /// Before something is put in that writes to a plane: a picture under way that reads it comes first. `None`: whatever it reads.
    fn before_writing(&self, plane: Option<u64>) -> Result<(), CudaError> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let concerns = |reads: u64| plane.is_none_or(|plane| plane == reads);
        match ahead.reads.take_if(|(reads, _)| concerns(*reads)) {
            Some((_, mark)) => self.queue.wait_for(&mark),
            None => Ok(()),
        }
    }

    /// The host's copy is no longer the field.
    fn changed(&self) {
        *self.mirror.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The field on the host; NaN if the device failed.
    fn mirror(&self) -> Mirror<T> {
        let mut mirror = self.mirror.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(mirror.get_or_insert_with(|| {
            let mut planes = [0, 1].map(|_| vec![T::nan(); self.pitch * self.grid.rows()]);
            self.attempt(|| {
                for (host, plane) in planes.iter_mut().zip(&self.field) {
                    self.queue.download("the field", plane, host)?;
                }
                Ok(())
            });
            Arc::new(planes)
        }))
    }

    /// Rows made on the host, onto the device.
    fn upload_rows(&self, rows: RowChange<T>) -> Result<(), CudaError> {
        let nx = self.grid.size()[0];
        let mut planes = [0, 1].map(|_| vec![T::zero(); self.pitch * self.grid.rows()]);
        let [re, im] = &mut planes;
        re.par_chunks_mut(self.pitch)
            .zip(im.par_chunks_mut(self.pitch))
            .enumerate()
            .for_each_init(
                || vec![Complex::default(); nx],
                |sites, (row, (re, im))| {
                    sites.fill(Complex::default());
                    rows(row, sites);
                    for (site, (re, im)) in sites.iter().zip(re.iter_mut().zip(im)) {
                        (*re, *im) = (site.re, site.im);
                    }
                },
            );
        self.before_writing(None)?;
        for (host, plane) in planes.iter().zip(&self.field) {
            self.queue.upload("the field", host, plane)?;
        }
        Ok(())
    }

    /// A plane of the grid's sites with the device's pitch.
    fn padded<V: Copy + Send + Sync>(&self, values: &[V], rest: V) -> Vec<V> {
        let nx = self.grid.size()[0];
        let mut all = vec![rest; self.pitch * self.grid.rows()];
        all.par_chunks_mut(self.pitch)
            .zip(values.par_chunks(nx))
            .for_each(|(to, from)| to[..nx].copy_from_slice(from));
        all
    }

    fn take_over(&mut self, problem: &Problem, scheme: &Scheme, walls: Option<&[bool]>) -> Result<(), CudaError> {
        // Walls and tables may be replaced, and the picture under way may read them.
        self.side.finish()?;
        let count = self.pitch * self.grid.rows();
        while self.tables.len() < scheme.tables.len() {
            self.tables
                .push([self.queue.zeros("phases", count)?, self.queue.zeros("phases", count)?]);
        }
        self.tables.truncate(scheme.tables.len());
        self.walls = match walls {
            Some(walls) => {
                let bytes: Vec<u8> = self.padded(walls, false).into_iter().map(u8::from).collect();
                let buffer = self.queue.zeros("walls", count)?;
                self.queue.upload("walls", &bytes, &buffer)?;
                Some(buffer)
            }
            None => None,
        };
        let quantum = &problem.quantum;
        (self.flux, self.hopping, self.interaction) = (quantum.flux, quantum.hopping, quantum.interaction);
        self.flags = Flags {
            nested: scheme.substeps[0].outer.is_some(),
            flux: quantum.flux != 0.0,
            interaction: quantum.interaction != 0.0,
            imaginary: scheme.imaginary,
        };
        let ny = self.grid.size()[1];
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let gauge = |y: usize| (-std::f64::consts::TAU * quantum.flux * y as f64).sin_cos();
        let cosines: Vec<T> = (0..ny).map(|y| T::of(gauge(y).1)).collect();
        let sines: Vec<T> = (0..ny).map(|y| T::of(gauge(y).0)).collect();
        let planes = [
            self.queue.zeros("bond phases", ny)?,
            self.queue.zeros("bond phases", ny)?,
        ];
        self.queue.upload("bond phases", &cosines, &planes[0])?;
        self.queue.upload("bond phases", &sines, &planes[1])?;
        self.gauge = Some(planes);
        self.fused.clear();
        if self.variant != "naive" && self.grid.rank() == 1 {
            self.line = Some(self.queue.kernel(sources::line(T::PRECISION), "line_steps", 0)?);
        } else if self.variant != "naive" && self.grid.rank() == 3 {
            let [nx, ..] = self.grid.size();
            let most = self.queue.most_shared();
            let aligned = nx % (16 / T::PRECISION.bytes()) == 0;
            self.space.clear();
            for shape in sources::space(T::PRECISION, self.flags.interaction) {
                let asked = (shape.steps == 1 || self.variant == "fused")
                    && self.asked_steps.is_none_or(|steps| shape.steps as usize <= steps);
                if asked && aligned && shape.shared() <= most {
                    self.space.push(launch::Space::new(&self.queue, shape)?);
                }
            }
            if self.space.is_empty() {
                let shape = sources::bare(T::PRECISION);
                self.fused.push(launch::Fused::new(&self.queue, shape, T::PRECISION)?);
            }
        } else if self.variant != "naive" {
            let shapes = match self.asked_steps {
                Some(steps) if self.variant == "fused" => sources::shapes_of(T::PRECISION, self.flags, steps)?,
                _ => sources::shapes(T::PRECISION, self.flags),
            };
            for shape in shapes {
                if shape.steps == 1 || self.variant == "fused" {
                    self.fused.push(launch::Fused::new(&self.queue, shape, T::PRECISION)?);
                }
            }
        }
        Ok(())
    }
}

/// Whether the device can hold a run, found out before any of it is made: a device shared with others is not filled in vain.
fn check_room(problem: &Problem, variant: &str, precision: Precision, free: u64) -> Result<(), SolverError> {
    let grid = &problem.grid;
    let [nx, ny, nz] = grid.size().map(|n| n as u64);
    let medium = &problem.medium;
    if medium.drives().len() > MOST_DRIVES {
        return Err(SolverError::Unsupported(format!(
            "the device knows {MOST_DRIVES} different drives, and the scene has {}; take backend = \"cpu\"",
            medium.drives().len()
        )));
    }
    let count = nx.next_multiple_of(32).saturating_mul(ny).saturating_mul(nz);
    if u32::try_from(count).is_err() || ny * nz > i32::MAX as u64 / 2 {
        return Err(SolverError::Unsupported(format!(
            "the device counts sites in 32 bits, and {grid} has {}; take a smaller grid or backend = \"cpu\"",
            grid.sites()
        )));
    }
    let fields = if variant == "naive" { 1 } else { 2 };
    let tables = if problem.order == 4 || problem.imaginary { 2 } else { 1 };
    let absorbs = medium.has(Sets::Absorption) || grid.edges()[..grid.rank()].contains(&Edge::Absorb);
    let planes = 2 * (fields + tables) + 1 + u64::from(absorbs) + medium.drives().len() as u64;
    let walls = u64::from(medium.has(Sets::Wall));
    let needed = count * (planes * precision.bytes() as u64 + walls) + ny * nz * (8 * SUMS) as u64;
    if needed > free {
        return Err(SolverError::OutOfMemory {
            what: format!(
                "cuda: trotter {variant} on {grid} sites in {} precision",
                precision.word()
            ),
            needed,
            available: free,
        });
    }
    Ok(())
}

/// The variant that runs, and why it is not the one asked for.
fn chosen(problem: &Problem, asked: &str, precision: Precision) -> (&'static str, Option<String>) {
    let grid = &problem.grid;
    let lanes = 16 / precision.bytes();
    let asked = match asked {
        "naive" => return ("naive", None),
        "full-step" => "full-step",
        _ => "fused",
    };
    if grid.rank() == 1 {
        if problem.imaginary {
            let because = format!("{asked} has no imaginary time in one dimension, this is one kernel a sweep");
            return ("naive", Some(because));
        }
        return (asked, None);
    }
    let [nx, ny, nz] = grid.size();
    if grid.is_periodic(0) && nx % lanes != 0 {
        let because =
            format!("{asked} wants a multiple of {lanes} sites along a periodic x, this is one kernel a sweep");
        return ("naive", Some(because));
    }
    // Rows wrap once at most.
    if grid.is_periodic(1) && ny < 32 {
        let because = format!("{asked} wants 32 sites along a periodic y, this is one kernel a sweep");
        return ("naive", Some(because));
    }
    if grid.rank() == 3 {
        let commuting = problem.quantum.flux == 0.0 && !problem.medium.has(Sets::Wall);
        if !commuting || problem.imaginary || nz > 65535 {
            let because = "walls inside, flux and imaginary time run one kernel a sweep in three dimensions";
            return ("naive", Some(because.into()));
        }
        if asked == "fused" && (nx % lanes != 0 || nz < 8) {
            let because =
                format!("steps are fused in three dimensions where x has a multiple of {lanes} sites and z 8");
            return ("full-step", Some(because));
        }
    }
    (asked, None)
}

fn solver_error(error: CudaError) -> SolverError {
    match error {
        CudaError::OutOfMemory {
            what,
            needed,
            available,
        } => SolverError::OutOfMemory {
            what: format!("cuda: {what}"),
            needed,
            available,
        },
        CudaError::NotCompiled(message) => SolverError::Unsupported(message),
        CudaError::Call { .. } => SolverError::Backend {
            backend: "cuda",
            message: error.to_string(),
        },
    }
}

impl<T: OnCuda> Stepper<T> for Cuda<T> {
    fn variant(&self) -> &'static str {
        self.variant
    }

    fn details(&self) -> String {
        let mut words = vec![self.queue.device().name.clone()];
        if let Some(because) = &self.because {
            words.push(because.clone());
        } else if self.variant == "naive" {
            words.push("one kernel a sweep".into());
        } else if self.grid.rank() == 3 && self.space.is_empty() {
            words.push("two passes a step".into());
        } else if self.grid.rank() == 1 {
            words.push(match self.line_length() {
                1 => "one step a launch".to_owned(),
                steps => format!("{steps} fused steps"),
            });
        } else {
            words.push(match self.shape() {
                1 => "one step a launch".to_owned(),
                steps => format!("{steps} fused steps"),
            });
        }
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        if self.variant == "fused" && !sums.driven.is_empty() {
            words.push("one step a launch all the same: a drive changes the phases at every step".into());
        } else if self.variant == "fused" && self.flags.imaginary {
            words.push("one step a launch all the same: imaginary time restores the norm after every step".into());
        }
        words.join(", ")
    }

    fn batch(&self) -> u64 {
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        if self.flags.imaginary || !sums.driven.is_empty() || self.variant == "naive" {
            1
        } else if self.grid.rank() == 1 {
            self.line_length()
        } else {
            u64::from(self.shape())
        }
    }

    fn memory(&self) -> usize {
        let planes = |planes: &Planes<T>| planes.iter().map(Buffer::bytes).sum::<usize>();
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        planes(&self.field)
            + self.other.as_ref().map_or(0, planes)
            + self.tables.iter().map(planes).sum::<usize>()
            + self.walls.as_ref().map_or(0, Buffer::bytes)
            + [&sums.energy, &sums.absorption]
                .into_iter()
                .flatten()
                .map(Buffer::bytes)
                .sum::<usize>()
            + sums.driven.iter().map(Buffer::bytes).sum::<usize>()
            + sums.rows.bytes()
    }

    fn tan_form(&self) -> bool {
        self.variant != "naive"
    }

    fn prepare(&mut self, problem: &Problem, scheme: &Scheme, walls: Option<&[bool]>) {
        let result = self.take_over(problem, scheme, walls);
        self.attempt(|| result);
    }

    fn read(&self, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        let mirror = self.mirror();
        let at = row * self.pitch;
        let [re, im] = &*mirror;
        let sites = re[at + x.start..at + x.end].iter().zip(&im[at + x.start..at + x.end]);
        for (out, (re, im)) in out.iter_mut().zip(sites) {
            *out = Complex::new(*re, *im);
        }
    }

    fn change(&mut self, change: RowChange<T>) {
        let mirror = self.mirror();
        let nx = self.grid.size()[0];
        let pitch = self.pitch;
        let rows = |row: usize, sites: &mut [Complex<T>]| {
            let at = row * pitch;
            for (site, (re, im)) in sites
                .iter_mut()
                .zip(mirror[0][at..at + nx].iter().zip(&mirror[1][at..]))
            {
                *site = Complex::new(*re, *im);
            }
            change(row, sites);
        };
        self.changed();
        self.attempt(|| self.upload_rows(&rows));
    }

    fn fill_table(&mut self, _table: usize, _touched: &(dyn Fn(usize) -> bool + Sync), _fill: RowChange<T>) {
        // Tables are filled on the device, by OnDevice::refill.
    }

    fn apply_table(&mut self, table: usize, time: f64) {
        self.changed();
        self.phases(table, self.interaction * time, true);
    }

    fn substep(&mut self, scheme: &Scheme, i: usize) {
        self.changed();
        self.run(scheme, i, 1);
    }

    fn steps(&mut self, scheme: &Scheme, steps: u64) {
        self.changed();
        self.run(scheme, 0, steps * scheme.substeps.len() as u64);
    }

    fn device(&self) -> Option<&dyn OnDevice<T>> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::read_scene_text;

    fn problem(size: &str, layers: &str) -> Problem {
        let text = format!(
            "format = 1\ntitle = \"room\"\n[grid]\nsize = {size}\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.1\n\
             [[packet]]\ncenter = [4.0, 4.0]\nwidth = [2.0, 2.0]\n{layers}"
        );
        match read_scene_text(&text, None, &[]) {
            Ok((_, scenario)) => Problem::new(&scenario).unwrap(),
            Err(faults) => panic!("{faults}"),
        }
    }

    fn said(problem: &Problem, variant: &str, precision: Precision, free: u64) -> String {
        let refused = check_room(problem, variant, precision, free).err();
        refused.map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn room_is_counted_before_it_is_taken() {
        let plain = problem("[64, 32]", "");
        // Field, its second half, phases: 2 planes each; energies; ten sums a row.
        let needed = 64 * 32 * 4 * 7 + 32 * 80;
        assert_eq!(said(&plain, "fused", Precision::Single, needed), "");
        let short = said(&plain, "fused", Precision::Single, needed - 1);
        assert!(
            short.contains(&format!("{needed} bytes")) && short.contains("64 × 32"),
            "{short}"
        );
        assert_eq!(said(&plain, "naive", Precision::Single, needed - 64 * 32 * 8), "");
        assert!(!said(&plain, "fused", Precision::Double, needed).is_empty());
    }

    #[test]
    fn grids_and_drives_beyond_the_device_are_refused_with_a_remedy() {
        let mut huge = problem("[64, 32]", "");
        huge.grid = Grid::new(&[1 << 17, 1 << 16], 1.0);
        let text = said(&huge, "fused", Precision::Single, u64::MAX);
        assert!(text.contains("32 bits") && text.contains("smaller grid"), "{text}");
        let drive = |n: usize| {
            format!(
                "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = 0.1\nmode = \"add\"\ndrive = \"sin({n}*t)\"\n"
            )
        };
        let driven = problem("[64, 32]", &(1..=5).map(drive).collect::<String>());
        let text = said(&driven, "fused", Precision::Single, u64::MAX);
        assert!(text.contains("4 different drives") && text.contains("cpu"), "{text}");
    }
}

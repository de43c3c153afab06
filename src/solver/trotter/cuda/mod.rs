//! Trotter–Suzuki on an NVIDIA device.
//!
//! Layout: two planes, real and imaginary part, of `pitch` × ny × nz numbers, x fastest, pitch = nx rounded up to 32; columns beyond nx hold
//! zeros. As on the processor the field is kept open, φ = P½ψ, and checkpoints hold φ in natural order: they go from one to the other.
//!
//! - `fused`: up to six (single) or four (double) steps a launch, the state in registers (`kernels/trotter_fused.cu`) in two dimensions;
//!   up to sixteen in one (`kernels/trotter_line.cu`). Other numbers (`fused_steps`) are compiled where NVRTC is found.
//!   Two steps in three dimensions (`kernels/trotter_space.cu`); where a window's ghosts are copied after a launch, this steps what neighbours need first ([`space`]).
//! - `tiles`: the same in two dimensions with a tile of the plane a block, for planes too small for strips ([`tiles`], `kernels/trotter_tiles.cu`).
//! - `full-step`: the same with one step a launch; in three dimensions, where nx is no multiple of 16 bytes or the device has little shared memory,
//!   two launches: x and y sweeps plane by plane, then z sweeps and phase in place along columns.
//! - Probabilities of regions are summed inside the launches and their largest values taken, or where kernels take no whole steps by one that follows each ([`summing`]); sites at which
//!   values and currents are read are copied there ([`copies`]).
//!
//! - `naive`: one kernel a sweep (Bederián and Dente 2011, section 4.2). One to three dimensions. Layers of interaction, a frame that rotates, and coupled components are stepped by it alone, with numbers of each
//!   bond and site beside the field ([`bonds`], `kernels/trotter_bonds.cu`).
//! - Layers of hopping and flux in two and three dimensions, in real time and without interaction, are stepped by the variants of whole steps, too: kernels read single bonds where these differ from the others ([`rungs`]).
//!
//! Steps go into one stream; pictures and sums into a second one, so that a picture that was begun ([`begin_picture`](super::run::OnDevice::begin_picture)) is reduced and
//! copied while stepping continues. Steps write to the planes that the picture does not read; those that would overwrite it wait on the device.
//!
//! Bound, 2D order 2 single: 16 instructions a site-step, so 2.0 T site-steps/s on an H200; a pass over memory moves 24 B (field in and out, phases),
//! so 178 G site-steps/s with one step a launch.

mod bonds;
mod choice;
mod copies;
mod launch;
mod measures;
mod norms;
mod on_device;
mod params;
mod pictures;
mod pieces;
mod prepare;
mod rungs;
mod sources;
mod space;
mod stacks;
mod state;
mod stepper;
mod summing;
mod tiles;
mod transducers;

use super::problem::Problem;
use super::run::RowChange;
use crate::backend::cuda::{Buffer, CudaError, Early, Event, Kernel, PinnedBuffer, Stream};
use crate::field::Precision;
use crate::grid::Grid;
use crate::solver::device::Ending;
pub(super) use crate::solver::device::OnCuda;
use crate::solver::device::transducers::DeviceTransducers;
use crate::solver::{Backend, FieldImage, SolverError, Target, Variant};
use choice::{Schedule, check_room, chosen};
use norms::Norms;
use num_complex::Complex;
use params::{Lattice, SUMS};
use rayon::prelude::*;
use sources::Flags;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Entries of `trotter_sweeps.cu`.
const ENTRIES: [&str; 14] = [
    "sweep_x",
    "sweep_rows",
    "sweep_columns",
    "phases",
    "fill_table",
    "turn_field",
    "measure_rows",
    "measure_total",
    "norm_rows",
    "norm_total",
    "sum_cells",
    "normalise",
    "picture",
    "touch_sites",
];

/// Entries of `trotter_bonds.cu`.
const OWN_ENTRIES: [&str; 4] = ["sweep_x", "sweep_rows", "phases", "turn_components"];

/// Bytes of a plane that are made on the host before they are copied to the device.
const MOST_UPLOADED: usize = 128 << 20;

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Cuda,
    precisions: &[Precision::Single, Precision::Double],
    cut: true,
    variants: &[
        Variant {
            id: Schedule::Naive.as_str(),
            about: "one kernel a sweep; the simplest, and it does everything",
        },
        Variant {
            id: Schedule::FullStep.as_str(),
            about: "one whole step a pass over memory, in registers",
        },
        Variant {
            id: Schedule::Fused.as_str(),
            about: "several whole steps a pass over memory, in registers; the fastest on large grids",
        },
        Variant {
            id: Schedule::Tiles.as_str(),
            about: "several whole steps of a tile of the plane, in registers; the fastest on small planes",
        },
    ],
};

/// Both planes.
type Planes<T> = [Buffer<T>; 2];
/// Both planes on the host.
type Mirror<T> = Arc<[Vec<T>; 2]>;

/// The field on the device.
pub(super) struct Cuda<T: OnCuda> {
    stream: Stream,
    /// Pictures and sums.
    side: Stream,
    grid: Grid,
    lattice: Lattice,
    pitch: usize,
    schedule: Schedule,
    /// Whether the scene leaves the variant and the steps of a launch open.
    open: bool,
    /// Steps a launch, if the scene says so.
    asked_steps: Option<usize>,
    /// Why another variant runs than was asked for.
    because: Option<String>,
    field: Planes<T>,
    /// Where fused steps write; the planes then change places.
    other: Option<Planes<T>>,
    tables: Vec<Planes<T>>,
    walls: Option<Buffer<u8>>,
    /// Where they are, for cutting the plane.
    wall_map: Option<pieces::WallMap>,
    gauge: Option<Planes<T>>,
    flags: Flags,
    own: Own<T>,
    flux: f64,
    hopping: f64,
    /// g of the energy, and g of the phases that steps read off the field.
    interaction: f64,
    phase_interaction: f64,
    /// Most steps first.
    fused: Vec<launch::Fused>,
    /// Three dimensions: most steps first; empty where `fused` and columns do them.
    space: Vec<space::Loaded>,
    /// Small planes.
    tiles: Option<tiles::Tiles>,
    /// Seconds a step of kernels that were compared, by name and steps a launch.
    measured: HashMap<(&'static str, u32), f64>,
    /// One dimension: steps, and the same with sums over regions.
    line: Option<[Kernel; 2]>,
    kernels: [Kernel; ENTRIES.len()],
    sums: Mutex<Sums<T>>,
    mirror: Mutex<Option<Mirror<T>>>,
    fault: Mutex<Option<CudaError>>,
    ahead: Mutex<Ahead>,
    /// What neighbours of a window in three dimensions need is stepped first, while this says what that is.
    early: Mutex<Option<Early>>,
    ending: Mutex<Option<Ending>>,
    summing: Mutex<summing::Summing<T>>,
    /// What sums over a whole state need, once they were asked for.
    state: Mutex<state::Kept<T>>,
}

/// What differs from bond to bond, from site to site, or between components.
struct Own<T: OnCuda> {
    /// Bonds, where layers or the rotation set any.
    bonds: Option<bonds::OwnBonds<T>>,
    /// The same bonds for whole steps.
    rungs: Option<rungs::Rungs<T>>,
    /// What the angles of each axis are multiplied by for the bonds that these take for alike.
    alike: [f64; 3],
    /// Whether sites have their own g, and whether phases read the field with it in its present state.
    strengths: bool,
    phase_strengths: bool,
    /// g₁₂ of the energy, and that of the phases that read the present field.
    cross: f64,
    phase_cross: f64,
    /// Entries of `trotter_bonds.cu`, once something differs.
    kernels: Option<[Kernel; OWN_ENTRIES.len()]>,
}

impl<T: OnCuda> Own<T> {
    fn none() -> Self {
        Self {
            bonds: None,
            rungs: None,
            alike: [1.0; 3],
            strengths: false,
            phase_strengths: false,
            cross: 0.0,
            phase_cross: 0.0,
            kernels: None,
        }
    }
}

/// A picture under way while steps go on.
#[derive(Default)]
struct Ahead {
    /// Whether one was begun and not taken.
    pending: bool,
    /// Its layout; the values arrive below.
    image: FieldImage,
    value: Option<PinnedBuffer<f32>>,
    phase: Option<PinnedBuffer<f32>>,
    /// The plane that it reads, until steps have been told to wait for it.
    reads: Option<(u64, Event)>,
    /// Behind the last batch of steps.
    batch: Option<Event>,
}

/// What changes behind a shared reference.
struct Sums<T: OnCuda> {
    energy: Option<Buffer<T>>,
    absorption: Option<Buffer<T>>,
    driven: Vec<Buffer<T>>,
    /// g of every site, where layers set it.
    strengths: Option<Buffer<T>>,
    lowest: f64,
    rows: Buffer<f64>,
    /// Σ|φ|² of every row.
    norms: Buffer<f64>,
    totals: Buffer<f64>,
    /// Sums that stay there until they are asked for.
    kept: Option<Buffer<f64>>,
    value: Option<Buffer<f32>>,
    phase: Option<Buffer<f32>>,
    transducers: DeviceTransducers<T>,
    seed: u32,
}

impl<T: OnCuda> Drop for Cuda<T> {
    /// Buffers go with the stream that made them, whatever the other one still reads.
    fn drop(&mut self) {
        let _ = self.stream.finish();
        let _ = self.side.finish();
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Room for a field on the device with this number; `variant` is a variant's id, or none, `asked_steps` how many to fuse.
    pub(super) fn new(
        problem: &Problem,
        device: usize,
        variant: Option<&str>,
        asked_steps: Option<usize>,
    ) -> Result<Self, SolverError> {
        let device = crate::solver::device::device(device)?;
        let (mut schedule, mut because) = chosen(problem, variant, T::PRECISION);
        if schedule != Schedule::Naive && !space::holds_bonds(problem, T::PRECISION, device.most_shared()) {
            let short = "bonds differ, for which the device has too little shared memory, this is one kernel a sweep";
            (schedule, because) = (Schedule::Naive, Some(short.into()));
        }
        check_room(problem, schedule, T::PRECISION, device.free_memory())?;
        let grid = problem.grid.clone();
        let [nx, ny, nz] = grid.size();
        let pitch = nx.next_multiple_of(32);
        let count = pitch * ny * nz;
        let make = || -> Result<Self, CudaError> {
            let (stream, side) = (Stream::new(device)?, Stream::new(device)?);
            let source = sources::sweeps(T::PRECISION);
            let mut kernels = Vec::with_capacity(ENTRIES.len());
            for entry in ENTRIES {
                kernels.push(stream.kernel(source, entry, 0)?);
            }
            let planes = |what: &str| -> Result<Planes<T>, CudaError> {
                Ok([stream.zeros(what, count)?, stream.zeros(what, count)?])
            };
            let kernels = kernels.try_into().map_err(|_| CudaError::Call {
                what: "the table of kernels".into(),
                message: "has another length".into(),
            })?;
            let in_space = grid.is_window() && grid.rank() == 3;
            let early = in_space.then(|| Early::new(device)).transpose()?;
            Ok(Self {
                lattice: Lattice::new(&grid, pitch),
                field: planes("the field")?,
                other: if schedule == Schedule::Naive {
                    None
                } else {
                    Some(planes("the field's second half")?)
                },
                sums: Mutex::new(Sums {
                    energy: None,
                    absorption: None,
                    driven: Vec::new(),
                    strengths: None,
                    lowest: 0.0,
                    rows: stream.zeros("sums over rows", ny * nz * SUMS)?,
                    norms: stream.zeros("norms of rows", Norms::of(&grid, pitch).count)?,
                    totals: stream.zeros("sums", SUMS)?,
                    kept: None,
                    value: None,
                    phase: None,
                    transducers: DeviceTransducers::new(&stream)?,
                    seed: 1,
                }),
                stream,
                side,
                grid,
                pitch,
                schedule,
                open: variant.is_none() && asked_steps.is_none(),
                asked_steps,
                because,
                tables: Vec::new(),
                walls: None,
                wall_map: None,
                gauge: None,
                flags: Flags::default(),
                own: Own::none(),
                flux: 0.0,
                hopping: 0.0,
                interaction: 0.0,
                phase_interaction: 0.0,
                fused: Vec::new(),
                space: Vec::new(),
                tiles: None,
                measured: HashMap::new(),
                line: None,
                kernels,
                mirror: Mutex::default(),
                fault: Mutex::default(),
                ahead: Mutex::default(),
                early: Mutex::new(early),
                ending: Mutex::default(),
                summing: Mutex::new(summing::Summing::none()),
                state: Mutex::default(),
            })
        };
        make().map_err(SolverError::from)
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

    /// Before something that writes to a plane is queued: a picture under way that reads it comes first. `None`: whatever it reads.
    fn before_writing(&self, plane: Option<u64>) -> Result<(), CudaError> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let concerns = |reads: u64| plane.is_none_or(|plane| plane == reads);
        match ahead.reads.take_if(|(reads, _)| concerns(*reads)) {
            Some((_, mark)) => self.stream.wait_for(&mark),
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
            // By this thread alone: in the meantime another one's task, taken over while this one waits, may ask for the mirror.
            let mut planes = [0, 1].map(|_| vec![T::nan(); self.pitch * self.grid.rows()]);
            self.attempt(|| {
                for (host, plane) in planes.iter_mut().zip(&self.field) {
                    self.stream.download("the field", plane, host)?;
                }
                Ok(())
            });
            Arc::new(planes)
        }))
    }

    /// Rows made on the host, onto the device, some at a time: new memory for all of them takes longer than what they hold.
    fn upload_rows(&self, rows: RowChange<T>) -> Result<(), CudaError> {
        let (nx, count) = (self.grid.size()[0], self.grid.rows());
        let at_once = (MOST_UPLOADED / (self.pitch * size_of::<T>())).clamp(1, count);
        let mut planes = [0, 1].map(|_| vec![T::zero(); self.pitch * at_once]);
        self.before_writing(None)?;
        for first in (0..count).step_by(at_once) {
            let numbers = self.pitch * at_once.min(count - first);
            let [re, im] = &mut planes;
            re[..numbers]
                .par_chunks_mut(self.pitch)
                .zip(im[..numbers].par_chunks_mut(self.pitch))
                .enumerate()
                .for_each_init(
                    || vec![Complex::default(); nx],
                    |sites, (row, (re, im))| {
                        sites.fill(Complex::default());
                        rows(first + row, sites);
                        for (site, (re, im)) in sites.iter().zip(re.iter_mut().zip(im)) {
                            (*re, *im) = (site.re, site.im);
                        }
                    },
                );
            for (host, plane) in planes.iter().zip(&self.field) {
                self.stream
                    .upload_at("the field", &host[..numbers], plane, first * self.pitch)?;
            }
        }
        Ok(())
    }
}

//! Trotter–Suzuki on a graphics adapter, in single precision.
//!
//! Layout: complex sites, x fastest, as in variant `naive` of the processor; so are the tables of phases, which the host computes.
//!
//! - `naive`: one launch a sweep (`kernels/trotter_sweeps.wgsl`), in place. It supports everything, in one to three dimensions.
//! - `full-step`, `fused`: whole steps, one or several a launch, of tiles in registers (`kernels/trotter_block.wgsl`), in two dimensions, from one plane into another.
//!   They support everything that `naive` does.
//! - `strips`: whole steps, several a launch, row by row down strips of columns (`kernels/trotter_strips.wgsl`), where only edges cut bonds and lanes of a subgroup
//!   can exchange numbers, which browsers do not allow. Taken where it is faster than `fused`, as measured at the start.
//!
//! Observables, pictures, and probabilities and largest values of regions are made on the adapter (`kernels/trotter_looks.wgsl`, `kernels/trotter_sums.wgsl`); amplitudes that detectors read are
//! gathered there, many steps between two copies. A new field, detectors of very many amplitudes, and looks for which the adapter has no memory use a copy on the host, which is read back
//! on demand. The host computes the tables of drives, and of an interaction in imaginary time, in every step, and closing phases where drives change them.
//!
//! Bound, 2D order 2: of `naive` 7 passes over the field of 16 B a site and 8 B of phases, 120 B a site-step; of n steps a launch 24 B / n and their halo.

mod closing;
mod gathered;
mod launches;
mod looks;
mod regions;
mod shapes;
mod strips;
mod sweeper;
mod tiles;
mod whole_steps;

use super::problem::Problem;
use super::stepper::Closed;
use crate::backend::wgpu::{Buffer, Kernel, Stream, WgpuError};
use crate::field::Precision;
use crate::grid::Grid;
use crate::solver::SolverError;
use crate::solver::adapter::tile::{MOST_STEPS, tile};
use crate::solver::adapter::{self, Launches};
use crate::solver::method::{Backend, Target, Variant};
use gathered::Gathered;
use looks::{Looks, Seen};
use num_complex::Complex;
use regions::Regions;
use std::sync::{Arc, Mutex, PoisonError};
use whole_steps::{Ways, WholeSteps};

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Wgpu,
    precisions: &[Precision::Single],
    cut: false,
    variants: &[
        Variant {
            id: "naive",
            about: "one launch a sweep; the simplest, and it does everything",
        },
        Variant {
            id: "full-step",
            about: "two dimensions: one whole step a launch, in registers",
        },
        Variant {
            id: "fused",
            about: "two dimensions: several whole steps a launch, in registers",
        },
        Variant {
            id: "strips",
            about: "two dimensions, without walls or flux inside: several whole steps a launch, row by row down strips of columns; the fastest on large grids, where lanes exchange numbers",
        },
    ],
};

/// The field on the host.
type Mirror = Arc<Vec<Complex<f32>>>;

/// The field on the adapter.
pub(super) struct Wgpu {
    stream: Stream,
    grid: Grid,
    /// The field, and where whole steps write it; the two then change places.
    planes: [Buffer; 2],
    /// Which of them is the field.
    now: usize,
    variant: &'static str,
    /// Why another variant runs than was asked for.
    because: Option<&'static str>,
    /// Steps of a launch, most of them; 0: one launch a sweep.
    most: usize,
    whole_steps: Option<WholeSteps>,
    /// Which whole steps may be taken, and which of them were the fastest.
    ways: Ways,
    quickest: Option<usize>,
    tables: Vec<Buffer>,
    /// Tables on the host, where a drive changes rows of them.
    driven: Option<Vec<Vec<Complex<f32>>>>,
    walls: Buffer,
    gauge: Buffer,
    /// Of each sub-step: its sweeps, and the phases after them; none where whole steps are taken.
    substeps: Vec<Launches>,
    /// Of each plane and table: the field times it.
    products: [Vec<Launches>; 2],
    gather: Kernel,
    gathered: Option<Gathered>,
    reduce: Kernel,
    regions: Option<Regions>,
    looks: Looks,
    mirror: Mutex<Option<Mirror>>,
    fault: Mutex<Option<WgpuError>>,
}

impl Wgpu {
    /// Memory for a field.
    ///
    /// `asked`: a variant's id, if the scene names one; `steps`: how many to fuse, if it says so.
    pub(super) fn new(problem: &Problem, asked: Option<&str>, steps: Option<usize>) -> Result<Self, SolverError> {
        let stream = adapter::stream()?;
        let grid = problem.grid.clone();
        // Long strips have more tiles than a launch has blocks.
        let flat = grid.rank() == 2
            && grid
                .size()
                .iter()
                .all(|n| *n < 8 * stream.device().most_blocks() as usize);
        let (variant, most) = match asked {
            Some("naive") => ("naive", 0),
            _ if !flat => ("naive", 0),
            Some("full-step") => ("full-step", 1),
            // Strips are taken where they can be, see below.
            _ => ("fused", steps.unwrap_or(tile(stream.device()).1).clamp(1, MOST_STEPS)),
        };
        let other = if most > 0 { grid.sites() } else { 1 };
        Ok(Self {
            planes: [
                stream.zeros::<Complex<f32>>("the field", grid.sites())?,
                stream.zeros::<Complex<f32>>("the field's second half", other)?,
            ],
            now: 0,
            because: (asked.is_some_and(|asked| asked != variant && most == 0)).then_some(
                "tiles are for two dimensions and fewer than half a million sites a side, this is one launch a sweep",
            ),
            ways: match asked {
                None => Ways::All,
                Some("strips") => Ways::Strips,
                Some(_) => Ways::Tiles,
            },
            variant,
            most,
            whole_steps: None,
            quickest: None,
            gather: gathered::gather(&stream)?,
            reduce: regions::kernel(&stream)?,
            walls: stream.zeros::<u32>("walls", 1)?,
            gauge: stream.zeros::<Complex<f32>>("bond phases", 1)?,
            tables: Vec::new(),
            driven: None,
            substeps: Vec::new(),
            products: [Vec::new(), Vec::new()],
            gathered: None,
            regions: None,
            looks: Looks::new(&stream, grid.sites())?,
            mirror: Mutex::default(),
            fault: Mutex::default(),
            stream,
            grid,
        })
    }

    /// The plane that is the field.
    fn field(&self) -> &Buffer {
        &self.planes[self.now]
    }

    /// Runs `work`, unless something failed before, and keeps what fails.
    fn attempt<R>(&self, work: impl FnOnce() -> Result<R, WgpuError>) -> Option<R> {
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

    /// The same for work that can be done otherwise: `None` where memory for it is lacking, `failed` where something else failed.
    fn if_there_is_room<R>(&self, failed: R, work: impl FnOnce() -> Result<R, WgpuError>) -> Option<R> {
        let mut lacks = false;
        let found = self.attempt(|| match work() {
            Err(error) if error.lacks_memory() => {
                lacks = true;
                Ok(None)
            }
            other => other.map(Some),
        });
        (!lacks).then(|| found.flatten().unwrap_or(failed))
    }

    /// The field, with what closes it.
    fn seen<'a>(&'a self, (closing, media): Closed<'a, f32>) -> Seen<'a> {
        Seen {
            stream: &self.stream,
            grid: &self.grid,
            field: self.field(),
            gauge: &self.gauge,
            closing,
            media,
        }
    }

    /// The host's copy is no longer the field.
    fn changed(&mut self) {
        *self.mirror.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The field on the host; NaN if the adapter failed.
    fn mirror(&self) -> Mirror {
        let mut mirror = self.mirror.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(mirror.get_or_insert_with(|| {
            let mut sites = vec![Complex::new(f32::NAN, f32::NAN); self.grid.sites()];
            self.attempt(|| self.stream.download("the field", self.field(), 0, &mut sites));
            Arc::new(sites)
        }))
    }
}

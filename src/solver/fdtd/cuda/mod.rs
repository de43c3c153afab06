//! Finite differences on an NVIDIA device.
//!
//! The host's run ([`Fdtd`]) reads scenes, starts, changes Δt and medium, and saves; between such events its levels lie on the device, where they are
//! stepped, recorded, summed and drawn. States are those of the processor: checkpoints go from one to the other.
//!
//! - `stepwise`: one kernel a step (`kernels/fdtd_step.cu`), in place over the older level. Where neither walls, density, absorption nor absorbing
//!   edges ask for more, a warp walks along z with the planes of its stencil in registers; elsewhere a thread does a site.
//!
//! - `diamond-torre`: many steps a launch in three dimensions, in towers of diamonds ([`torre`]). Plain stretches of a tower are straight-line code in
//!   registers (`kernels/fdtd_torre.cu`), or, at order 8 and with absorbing edges at order 2, lie in shared memory (`kernels/fdtd_torre_shared.cu`);
//!   at walls, absorption, sources and detectors it goes on site by site. The same bits.
//!
//! - `tiled`: many steps a launch in two dimensions, strips of columns in registers that overlap ([`tiles`], `kernels/fdtd_tiles.cu`). It holds a second
//!   pair of levels. The same bits.
//!
//! Sources, and detectors that read single sites, are one list of operations on sites that a kernel works off after each step; regions, energy and
//! flux are summed on the device. Records come back once a batch.
//!
//! Pictures and sums have a stream of their own, so that a picture that was begun is reduced and copied while stepping goes on; the step that would
//! overwrite the level it reads waits on the device.
//!
//! Bound: a step moves 12 bytes a site in single precision (pⁿ and pⁿ⁻¹ read, pⁿ⁺¹ written), 16 with a speed per site: 355 G site-steps/s on an H200.

mod look;
mod params;
mod solver;
mod sources;
mod steps;
mod store;
mod tiles;
mod torre;

use super::half;
use super::lattice::Lattice;
use super::run::{BESIDE, Fdtd, level};
use crate::backend::cuda::{Buffer, CudaError, Kernel, Queue};
use crate::backend::simd::Aligned;
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::solver::device::aside::{self, Aside};
use crate::solver::device::operations::Operations;
use crate::solver::device::rows::{keep, push_rows};
use crate::solver::device::{Built, OnCuda, check_count, chosen, device};
use crate::solver::{Backend, Solver, SolverError, Target, Variant};

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Cuda,
    precisions: &[Precision::Single, Precision::Double],
    variants: &[
        Variant {
            id: "stepwise",
            about: "One kernel a step, in place over the older level; it does everything.",
        },
        Variant {
            id: "tiled",
            about: "Two dimensions: many steps a launch, strips that overlap in registers; a second pair of levels. The same to the bit.",
        },
        Variant {
            id: "diamond-torre",
            about: "Three dimensions: many steps a launch, a diamond of rows in registers or shared memory that slides through the grid. The same to the bit.",
        },
    ],
};

/// Below this a launch costs more than the sites it steps, and the processor is faster.
const FEWEST_SITES: usize = 1 << 16;
/// Below this in two dimensions, a pass of tiles does not fill the device.
const LEAST_TILED: usize = 1 << 20;

/// A run on the device where the scene asks for it, or leaves it open and it is the better place.
pub(super) fn build(scenario: &Scenario) -> Result<Built, SolverError> {
    chosen(scenario, "fdtd", &TARGET, FEWEST_SITES, || {
        match scenario.solver().precision {
            Precision::Single => Cuda::<f32>::boxed(scenario),
            Precision::Double => Cuda::<f64>::boxed(scenario),
        }
    })
}

/// Kernels of `fdtd_step.cu` for one order.
struct Kernels {
    plain: Kernel,
    general: Kernel,
    listed: Kernel,
    memories: Kernel,
    operate: Kernel,
    peaks: Kernel,
    potentials: Kernel,
}

impl Kernels {
    fn new(queue: &Queue, precision: Precision, half: usize) -> Result<Self, CudaError> {
        let source = sources::step(precision);
        let of_order = |all: [&'static str; 4]| queue.kernel(source, all[half - 1], 0);
        Ok(Self {
            plain: of_order(["plain_1", "plain_2", "plain_3", "plain_4"])?,
            general: of_order(["general_1", "general_2", "general_3", "general_4"])?,
            listed: of_order(["listed_1", "listed_2", "listed_3", "listed_4"])?,
            memories: of_order(["memories_1", "memories_2", "memories_3", "memories_4"])?,
            operate: queue.kernel(source, "operate", 0)?,
            peaks: queue.kernel(source, "peaks", 0)?,
            potentials: queue.kernel(source, "potentials", 0)?,
        })
    }
}

/// A run whose levels are on the device.
pub(super) struct Cuda<T: OnCuda> {
    /// Everything but the levels, which it holds only while something is changed.
    host: Fdtd<T>,
    queue: Queue,
    /// Pictures and sums.
    aside: Aside,
    kernels: Kernels,
    pitch: usize,
    now: Buffer<T>,
    old: Buffer<T>,
    peak: Option<Buffer<T>>,
    potential: Option<Buffer<T>>,
    medium: store::Medium<T>,
    operations: Operations<T>,
    torre: Option<torre::Torre<T>>,
    tiles: Option<tiles::Tiles<T>>,
    /// Why it is not stepped by towers or tiles though that was asked for.
    because: Option<String>,
}

impl<T: OnCuda> Drop for Cuda<T> {
    /// Buffers go with the queue that made them, whatever the other one still reads.
    fn drop(&mut self) {
        let _ = self.queue.finish();
        let _ = self.aside.finish();
    }
}

impl<T: OnCuda> Cuda<T> {
    fn boxed(scenario: &Scenario) -> Result<Box<dyn Solver>, SolverError> {
        Ok(Box::new(Self::new(scenario)?))
    }

    fn new(scenario: &Scenario) -> Result<Self, SolverError> {
        let device = device()?;
        check_room(scenario, device.free_memory())?;
        let host = Fdtd::<T>::new(scenario)?;
        let make = |host: Fdtd<T>| -> Result<Self, CudaError> {
            let queue = Queue::new(device)?;
            let looking = aside::Kernels::of(&queue, sources::step(T::PRECISION))?;
            let lattice = &host.sweep.lattice;
            let pitch = pitch(lattice.size[0]);
            let count = pitch * lattice.rows();
            let mut run = Self {
                kernels: Kernels::new(&queue, T::PRECISION, lattice.half)?,
                now: queue.zeros("the pressure", count)?,
                old: queue.zeros("the pressure", count)?,
                peak: None,
                potential: None,
                medium: store::Medium::new(&queue, &host, pitch)?,
                operations: Operations::new(&queue)?,
                torre: None,
                tiles: None,
                because: None,
                aside: Aside::new(device, looking)?,
                host,
                queue,
                pitch,
            };
            run.push_levels()?;
            Ok(run)
        };
        let mut run = make(host).map_err(SolverError::from)?;
        run.choose_pass();
        Ok(run)
    }

    /// Makes ready what takes many steps a launch, where the scene's variant and medium want it.
    fn choose_pass(&mut self) {
        (self.torre, self.tiles, self.because) = (None, None, None);
        let scenario = &self.host.scenario;
        let variant = scenario.solver().variant.as_str();
        let rank = scenario.grid().rank();
        let refused = match variant {
            "tiled" => tiles::fitting(self).map(|tiles| self.tiles = Some(tiles)),
            "auto" if rank == 2 && scenario.grid().sites() >= LEAST_TILED => {
                tiles::fitting(self).map(|tiles| self.tiles = Some(tiles))
            }
            "diamond-torre" => torre::fitting(self).map(|torre| self.torre = Some(torre)),
            "auto" if rank == 3 && self.medium.is_plain_but_for_layers() => {
                torre::fitting(self).map(|torre| self.torre = Some(torre))
            }
            _ => Ok(()),
        };
        self.because = refused.err().filter(|_| self.host.scenario.solver().variant != "auto");
    }

    /// The host's levels and largest values, to the device; the host lets go of them.
    fn push_levels(&mut self) -> Result<(), CudaError> {
        // A picture under way may read what is overwritten.
        self.aside.finish()?;
        let lattice = self.host.sweep.lattice.clone();
        let shape = [lattice.size[0], lattice.rows(), self.pitch];
        let push = |what: &str, from: &[T], to: &Buffer<T>| {
            push_rows(&self.queue, what, shape, to, 0, |row, out| {
                out.copy_from_slice(lattice.row(from, row));
            })
        };
        push("the pressure", &self.host.now, &self.now)?;
        push("the pressure", &self.host.old, &self.old)?;
        let (what, peak) = ("the largest pressures", &self.host.peak);
        let push_peak = (!peak.is_empty()).then_some(|to: &Buffer<T>| push(what, peak, to));
        keep(&self.queue, what, &mut self.peak, shape[2] * shape[1], push_peak)?;
        let (what, potential) = ("the velocity", &self.host.potential);
        let push_potential = (!potential.is_empty()).then_some(|to: &Buffer<T>| push(what, potential, to));
        keep(
            &self.queue,
            what,
            &mut self.potential,
            shape[2] * shape[1],
            push_potential,
        )?;
        self.let_go();
        Ok(())
    }

    /// Frees the host's levels.
    fn let_go(&mut self) {
        (self.host.now, self.host.old) = (Aligned::zeros(0), Aligned::zeros(0));
        self.host.peak = Vec::new();
        self.host.potential = Vec::new();
    }

    /// The state, to the host.
    fn pull(&mut self) -> Result<(), SolverError> {
        let lattice = self.host.sweep.lattice.clone();
        let pull = |from: &Buffer<T>, what: &str, to: &mut [T]| {
            store::pull_level(&self.queue, what, &lattice, self.pitch, from, to).map_err(SolverError::from)
        };
        (self.host.now, self.host.old) = (level(&lattice, 0)?, level(&lattice, BESIDE)?);
        pull(&self.now, "the pressure", &mut self.host.now)?;
        pull(&self.old, "the pressure", &mut self.host.old)?;
        self.host.peak = Vec::new();
        if let Some(peak) = &self.peak {
            self.host.peak = super::material::allocate(lattice.values(), "the largest pressures")?;
            pull(peak, "the largest pressures", &mut self.host.peak)?;
        }
        self.host.potential = Vec::new();
        if let Some(potential) = &self.potential {
            self.host.potential = super::material::allocate(lattice.values(), "the velocity")?;
            pull(potential, "the velocity", &mut self.host.potential)?;
        }
        self.medium
            .pull_layers(&self.queue, &mut self.host)
            .map_err(SolverError::from)
    }

    /// Changes the run on the host, and takes over what came of it; what fails there leaves the device as it was.
    fn on_host<R>(&mut self, change: impl FnOnce(&mut Fdtd<T>) -> Result<R, SolverError>) -> Result<R, SolverError> {
        self.pull()?;
        let result = change(&mut self.host);
        let mut push = || -> Result<(), CudaError> {
            self.aside.finish()?;
            self.medium = store::Medium::new(&self.queue, &self.host, self.pitch)?;
            self.push_levels()
        };
        push().map_err(SolverError::from)?;
        // Another medium may want another kernel.
        self.choose_pass();
        result
    }
}

/// Numbers from one row to the next: whole lines of 128 bytes.
fn pitch(nx: usize) -> usize {
    nx.next_multiple_of(32)
}

/// Whether the device can hold a run, found out before any of it is made: a device shared with others is not filled in vain.
fn check_room(scenario: &Scenario, free: u64) -> Result<(), SolverError> {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    let [nx, ny, nz] = grid.size();
    let count = (pitch(nx) as u64).saturating_mul(ny as u64).saturating_mul(nz as u64);
    check_count(grid, count)?;
    let precision = scenario.solver().precision;
    let mut planes = 2;
    for wanted in [
        medium.has(Sets::Speed) || medium.has(Sets::Density),
        medium.has(Sets::Density),
        medium.has(Sets::Absorption),
        scenario.view().quantity == crate::scene::scenario::Quantity::Peak,
        scenario.asks_for_velocity(),
    ] {
        planes += u64::from(wanted);
    }
    let layers: usize = (0..grid.rank())
        .filter(|axis| grid.edges()[*axis] == Edge::Absorb)
        .map(|axis| 4 * grid.absorb_width() * (grid.sites() / grid.size()[axis]))
        .sum();
    let walls = u64::from(medium.has(Sets::Wall));
    let needed = (count * planes + layers as u64) * precision.bytes() as u64 + count * walls + Aside::BYTES as u64;
    crate::solver::device::check_room(
        grid,
        precision,
        &format!("fdtd of order {}", 2 * half(scenario)),
        needed,
        free,
    )
}

/// As kernels take the grid.
fn grid_of(lattice: &Lattice, pitch: usize) -> params::Grid {
    params::Grid::new(lattice, pitch)
}

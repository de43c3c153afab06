//! Finite differences on an NVIDIA device.
//!
//! The host's run ([`Fdtd`]) reads scenes, starts, changes Δt and medium, and saves; between such events its levels are on the device, where they are
//! stepped, recorded, summed and drawn. States are those of the processor: checkpoints go from one to the other.
//!
//! - `stepwise`: one kernel a step (`kernels/fdtd_step.cu`), in place over the older level. Where neither walls, density, absorption nor absorbing
//!   edges ask for more, a warp walks along z with the planes of its stencil in registers; elsewhere a thread takes a site.
//!
//! - `diamond-torre`: many steps a launch in three dimensions, in towers of diamonds ([`torre`]). Plain stretches of a tower are straight-line code in
//!   registers (`kernels/fdtd_torre.cu`), or, at order 8 and with absorbing edges at order 2, lie in shared memory (`kernels/fdtd_torre_shared.cu`);
//!   at walls, absorption, sources and detectors it works site by site. The bits are the same.
//!
//! - `tiled`: many steps a launch in two dimensions, strips of columns in registers that overlap ([`tiles`], `kernels/fdtd_tiles.cu`), and around walls,
//!   absorbing layers, sources and detectors blocks in shared memory ([`blocks`], `kernels/fdtd_blocks.cu`). It holds a second pair of levels. The same bits.
//!
//! Sources that stay are a table of sites and shares on the device, for which the host sends the strength of each channel once a batch; sources that move are a list of
//! operations a step. Detectors that read single sites are gathered. Single steps have a kernel for all of it; tiles and towers do it on the way. Regions and energy
//! are summed on the device between launches, and so are fluxes but for those of single lines in two dimensions ([`follow`]). Records come back once a batch.
//!
//! Pictures and sums have a stream of their own, so that a picture that was begun is reduced and copied while stepping continues; the step that would
//! overwrite the level it reads waits on the device.
//!
//! Bound: a step moves 12 bytes a site in single precision (pⁿ and pⁿ⁻¹ read, pⁿ⁺¹ written), 16 with a speed per site: 355 G site-steps/s on an H200.

mod blocks;
mod follow;
mod look;
mod operations;
mod params;
mod regions;
mod solver;
mod sources;
mod steps;
mod store;
mod tiles;
mod torre;

use super::half;
use super::lattice::Lattice;
use super::run::Fdtd;
use crate::backend::cuda::{Buffer, CudaError, Early, Kernel, Stream};
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::solver::SolverError;
use crate::solver::device::events::SiteEvents;
use crate::solver::device::readback::{self, ReadbackStream};
use crate::solver::device::rows::{keep_rows, push_rows};
use crate::solver::device::{Ending, OnCuda, check_count, device};
use crate::solver::method::{Backend, Target, Variant};
use crate::solver::resident::Resident;
use crate::solver::setup::{Choice, Setup};

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Cuda,
    precisions: &[Precision::Single, Precision::Double],
    cut: true,
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

/// Below this in two dimensions, a pass of tiles does not fill the device.
const LEAST_TILED: usize = 1 << 20;
/// The same with a speed per site, in bytes of a level: `tiled` over `stepwise` is 0.96 at 512², 1.34 at 1024², 2.9 at 2048² in single precision (H200, 2026-11-30); in double a level has twice the bytes.
const LEAST_TILED_IN_MEDIUM: usize = 3 << 20;

/// Kernels of `fdtd_step.cu` for one order.
struct Kernels {
    plain: Kernel,
    listed: Kernel,
    layered: Kernel,
    /// With a density per site, at order 2.
    dense: Kernel,
    operate: Kernel,
    play: Kernel,
    peaks: Kernel,
    potentials: Kernel,
}

impl Kernels {
    fn new(stream: &Stream, precision: Precision, half: usize) -> Result<Self, CudaError> {
        let source = sources::step(precision);
        let of_order = |all: [&'static str; 4]| stream.kernel(source, all[half - 1], 0);
        Ok(Self {
            plain: of_order(["plain_1", "plain_2", "plain_3", "plain_4"])?,
            listed: of_order(["listed_1", "listed_2", "listed_3", "listed_4"])?,
            layered: of_order(["layered_1", "layered_2", "layered_3", "layered_4"])?,
            dense: stream.kernel(source, "dense_1", 0)?,
            operate: stream.kernel(source, "operate", 0)?,
            play: stream.kernel(source, "play", 0)?,
            peaks: stream.kernel(source, "peaks", 0)?,
            potentials: stream.kernel(source, "potentials", 0)?,
        })
    }
}

/// A run whose levels are on the device.
pub(super) struct Cuda<T: OnCuda> {
    /// Everything but the levels, which it holds only while something is changed.
    host: Fdtd<T>,
    choice: Choice,
    stream: Stream,
    /// Pictures and sums.
    readback: ReadbackStream,
    kernels: Kernels,
    pitch: usize,
    /// Planes that a block of a step walks through.
    chunk: usize,
    now: Buffer<T>,
    old: Buffer<T>,
    peak: Option<Buffer<T>>,
    potential: Option<Buffer<T>>,
    medium: store::Medium<T>,
    events: SiteEvents<T>,
    follow: follow::Follow<T>,
    torre: Option<torre::Torre>,
    tiles: Option<tiles::Tiles<T>>,
    /// Of a window in three dimensions: what neighbours need is stepped first, while `ending` says what that is.
    early: Option<Early>,
    ending: Option<Ending>,
    /// Why it is not stepped by towers or tiles though that was asked for.
    because: Option<String>,
}

impl<T: OnCuda> Drop for Cuda<T> {
    /// Buffers go with the stream that made them, whatever the other one still reads.
    fn drop(&mut self) {
        let _ = self.stream.finish();
        let _ = self.readback.finish();
    }
}

impl<T: OnCuda> Cuda<T> {
    /// The state at t = 0.
    pub(super) fn new(setup: &Setup) -> Result<Self, SolverError> {
        let device = device(setup.device)?;
        let choice = setup.choice.clone();
        check_room(&setup.scenario, &choice, device.free_memory())?;
        let host = Fdtd::<T>::new(setup)?;
        let make = |host: Fdtd<T>| -> Result<Self, CudaError> {
            let stream = Stream::new(device)?;
            let lattice = &host.sweep.lattice;
            let mut looking = readback::Kernels::of(&stream, sources::step(T::PRECISION))?;
            if lattice.rank == 2 {
                looking.energy = Some(stream.kernel(sources::step(T::PRECISION), "measure_energy", 0)?);
            }
            let pitch = pitch(lattice.size[0]);
            let count = pitch * lattice.rows();
            let kernels = Kernels::new(&stream, T::PRECISION, lattice.half)?;
            let resident = stream.occupancy(&kernels.plain, 256)? * device.multiprocessors;
            let in_space = host.scenario.grid().is_window() && lattice.rank == 3;
            let mut run = Self {
                kernels,
                chunk: steps::planes_of_block(lattice.size, resident as usize),
                now: stream.zeros("the pressure", count)?,
                old: stream.zeros("the pressure", count)?,
                peak: None,
                potential: None,
                medium: store::Medium::new(&stream, &host, pitch)?,
                events: SiteEvents::new(&stream)?,
                follow: follow::Follow::new(&stream, T::PRECISION)?,
                torre: None,
                tiles: None,
                early: in_space.then(|| Early::new(device)).transpose()?,
                ending: None,
                because: None,
                readback: ReadbackStream::new(device, looking)?,
                choice,
                host,
                stream,
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
        let grid = self.host.scenario.grid();
        let rank = grid.rank();
        let least = if self.medium.has_speeds() {
            LEAST_TILED_IN_MEDIUM / T::PRECISION.bytes()
        } else {
            LEAST_TILED
        };
        let tiled = rank == 2 && (grid.sites() >= least || self.is_quick_in_blocks());
        let refused = match self.choice.variant.as_deref() {
            Some("tiled") => tiles::fitting(self).map(|tiles| self.tiles = Some(tiles)),
            None if tiled => tiles::fitting(self).map(|tiles| self.tiles = Some(tiles)),
            Some("diamond-torre") => torre::fitting(self).map(|torre| self.torre = Some(torre)),
            // Towers go on site by site in absorbing layers: with layers along x, y, z, and all of them they reach 0.38, 0.60, 0.68 and 0.46 of the rate of single steps (H200, 512³, 20 sites).
            None if rank == 3 && self.medium.is_plain() => torre::fitting(self).map(|torre| self.torre = Some(torre)),
            _ => Ok(()),
        };
        self.because = refused.err().filter(|_| self.choice.variant.is_some());
    }

    /// Whether passes are faster than single steps on a plane too small for tiles, where something takes more than the plain kernel: all of it goes in blocks then, many steps
    /// a launch instead of two launches and more a step. As measured on an H100; wide stencils have short passes, and densities, absorption and soft edges are slow in blocks.
    fn is_quick_in_blocks(&self) -> bool {
        let (scenario, lattice) = (&self.host.scenario, &self.host.sweep.lattice);
        let events = !scenario.sources().is_empty() || !scenario.detectors().is_empty() || scenario.mirror().is_some();
        let slow = self.medium.has_density() || self.medium.has_damping() || lattice.edges[..2].contains(&Edge::Soft);
        lattice.half <= 2 && !slow && (events || !self.medium.is_plain())
    }

    /// The host's levels and largest values, to the device; the host lets go of them.
    fn push_levels(&mut self) -> Result<(), CudaError> {
        // A picture under way may read what is overwritten.
        self.readback.finish()?;
        let lattice = self.host.sweep.lattice.clone();
        let shape = [lattice.size[0], lattice.rows(), self.pitch];
        for (to, from) in [(&self.now, &self.host.now), (&self.old, &self.host.old)] {
            push_rows(&self.stream, "the pressure", shape, to, 0, rows_of(&lattice, from))?;
        }
        for (what, from, kept) in [
            ("the largest pressures", &self.host.peak, &mut self.peak),
            ("the velocity", &self.host.potential, &mut self.potential),
        ] {
            let row = (!from.is_empty()).then(|| rows_of(&lattice, from));
            keep_rows(&self.stream, what, shape, kept, row)?;
        }
        self.let_go();
        Ok(())
    }
}

/// Writes the rows of an array of the processor.
fn rows_of<'a, T: OnCuda>(lattice: &'a Lattice, from: &'a [T]) -> impl Fn(usize, &mut [T]) + Sync + 'a {
    move |row, out| out.copy_from_slice(lattice.row(from, row))
}

/// Numbers from one row to the next: whole lines of 128 bytes.
fn pitch(nx: usize) -> usize {
    nx.next_multiple_of(32)
}

/// Whether the device can hold a run, found out before any of it is made: a device shared with others is not filled in vain.
fn check_room(scenario: &Scenario, choice: &Choice, free: u64) -> Result<(), SolverError> {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    let [nx, ny, nz] = grid.size();
    let count = (pitch(nx) as u64).saturating_mul(ny as u64).saturating_mul(nz as u64);
    check_count(grid, count)?;
    let precision = choice.precision;
    let mut planes = 2;
    for wanted in [
        medium.has(Sets::Speed) || medium.has(Sets::Density),
        medium.has(Sets::Density),
        medium.absorbs(),
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
    let needed =
        (count * planes + layers as u64) * precision.bytes() as u64 + count * walls + ReadbackStream::BYTES as u64;
    crate::solver::device::check_room(
        grid,
        precision,
        &format!("fdtd of order {}", 2 * half(choice)),
        needed,
        free,
    )
}

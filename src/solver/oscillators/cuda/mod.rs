//! Coupled oscillators on an NVIDIA device.
//!
//! The host's run ([`Oscillators`]) reads scenes, changes Δt and medium, and saves; between such events the field and the coefficients are on the device, where they are
//! stepped, recorded, summed and drawn. States are those of the processor: checkpoints go from one to the other.
//!
//! - `naive`: one kernel a sweep (`kernels/oscillators_sweeps.cu`).
//! - `fused`: two equal sub-steps a launch in registers (`kernels/oscillators_fused.cu`; up to 4 in a medium, single precision, if the scene asks for them), along a line up to 16 (8 in double
//!   precision, `kernels/oscillators_line.cu`). The same bits. Equal sub-steps in a row are all of order 2, and four of five of order 4.
//!
//! Sources, and detectors that read single sites, are one list of operations on sites; transducers are another. In a plane, launches step the pieces around them a second time and do the
//! operations there ([`visits`]), and sum means and peaks of the pressure ([`summing`]). Along a line, and while the largest pressures or a velocity are kept, launches end with each step,
//! separate kernels carry out the lists in between, and sums of detectors are taken between steps. Damping is part of launches.
//!
//! Bound: a launch of n steps moves 16/n bytes a site and step in single precision: 267 n G site-steps/s on an H200 (4.27 TB/s copied); the sweeps' 39
//! instructions with both turns of the bonds between lanes: 33.4 T/s / 39 = 850 G. One of order 2 that plays sources: 267 G. In a medium 32 bytes of coefficients
//! are read with each launch.

mod launches;
mod look;
mod params;
mod solver;
mod sources;
mod steps;
mod store;
mod summing;
mod transducers;
mod visits;

use super::layout::Layout;
use super::run::Oscillators;
use super::varies;
use crate::backend::cuda::{Buffer, CudaError, Kernel, Stream};
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::SolverError;
use crate::solver::device::events::SiteEvents;
use crate::solver::device::readback::{self, ReadbackStream};
use crate::solver::device::rows::{keep_rows, push_rows};
use crate::solver::device::transducers::DeviceTransducers;
use crate::solver::device::{OnCuda, check_count, device};
use crate::solver::method::{Backend, Target, Variant};
use crate::solver::resident::Resident;
use crate::solver::setup::{Choice, Setup};
use launches::Launches;

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Cuda,
    precisions: &[Precision::Single, Precision::Double],
    cut: true,
    variants: &[
        Variant {
            id: "naive",
            about: "One kernel a sweep; the readable reference.",
        },
        Variant {
            id: "fused",
            about: "Several steps a launch in registers; the fastest. The same to the bit.",
        },
    ],
};

/// q and p.
type Planes<T> = [Buffer<T>; 2];

/// Kernels of `oscillators_sweeps.cu`.
struct Kernels {
    sweep: Kernel,
    damp: Kernel,
    operate: Kernel,
    touch: Kernel,
    peaks: Kernel,
    potentials: Kernel,
}

/// A run whose field is on the device.
pub(super) struct Cuda<T: OnCuda> {
    /// Everything but field and coefficients, which it holds only while something is changed.
    host: Oscillators<T>,
    choice: Choice,
    stream: Stream,
    /// Pictures and sums.
    readback: ReadbackStream,
    kernels: Kernels,
    launches: Launches,
    pitch: usize,
    field: Planes<T>,
    /// What a fused launch writes; none where sweeps work in place.
    other: Option<Planes<T>>,
    peak: Option<Buffer<T>>,
    potential: Option<Buffer<T>>,
    medium: store::Medium<T>,
    events: SiteEvents<T>,
    transducers: DeviceTransducers<T>,
    /// What launches with sums need, once one was taken.
    summing: Option<summing::Summing<T>>,
    /// What launches with sites of their own need, once one was taken.
    visits: Option<visits::Visits>,
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
        let host = Oscillators::<T>::naive(setup)?;
        let make = |host: Oscillators<T>| -> Result<Self, CudaError> {
            let stream = Stream::new(device)?;
            let source = sources::sweeps(T::PRECISION);
            let kernel = |entry| stream.kernel(source, entry, 0);
            let mut looking = readback::Kernels::of(&stream, source)?;
            if host.springs.layout.rank == 2 {
                looking.energy = Some(kernel("measure_energy")?);
            }
            let [nx, ny] = host.springs.layout.size;
            let pitch = store::pitch(nx);
            let plane = || stream.zeros("the field", pitch * ny);
            let medium = store::Medium::new(&stream, &host)?;
            let launches = Launches::new(&stream, host.scenario.grid(), &choice, medium.kind())?;
            let mut run = Self {
                kernels: Kernels {
                    sweep: kernel("sweep")?,
                    damp: kernel("damp")?,
                    operate: kernel("operate")?,
                    touch: kernel("touch_sites")?,
                    peaks: kernel("peaks")?,
                    potentials: kernel("potentials")?,
                },
                field: [plane()?, plane()?],
                other: if launches.is_naive() {
                    None
                } else {
                    Some([plane()?, plane()?])
                },
                launches,
                peak: None,
                potential: None,
                medium,
                events: SiteEvents::new(&stream)?,
                transducers: DeviceTransducers::new(&stream)?,
                summing: None,
                visits: None,
                readback: ReadbackStream::new(device, looking)?,
                choice,
                host,
                stream,
                pitch,
            };
            run.push_field()?;
            Ok(run)
        };
        make(host).map_err(SolverError::from)
    }

    /// The host's field and largest values, to the device; the host lets go of them and of its coefficients.
    fn push_field(&mut self) -> Result<(), CudaError> {
        // A picture under way may read what is overwritten.
        self.readback.finish()?;
        let layout = self.host.springs.layout.clone();
        let shape = [layout.size[0], layout.size[1], self.pitch];
        let field = &self.host.field;
        let q = rows_of(&layout, &field.q);
        push_rows(&self.stream, "the pressure", shape, &self.field[0], 0, q)?;
        let p = rows_of(&layout, &field.p);
        push_rows(&self.stream, "the momenta", shape, &self.field[1], 0, p)?;
        for (what, from, kept) in [
            ("the largest pressures", &self.host.peak, &mut self.peak),
            ("the velocity", &self.host.potential, &mut self.potential),
        ] {
            let row = (!from.is_empty()).then(|| rows_of(&layout, from));
            keep_rows(&self.stream, what, shape, kept, row)?;
        }
        self.let_go();
        Ok(())
    }
}

/// Writes the rows of an array of the processor.
fn rows_of<'a, T: OnCuda>(layout: &'a Layout, from: &'a [T]) -> impl Fn(usize, &mut [T]) + Sync + 'a {
    move |j, out| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = from[layout.index(i, j)];
        }
    }
}

/// Whether the device can hold a run, found out before any of it is made: a device shared with others is not filled in vain.
fn check_room(scenario: &Scenario, choice: &Choice, free: u64) -> Result<(), SolverError> {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    let [nx, ny, _] = grid.size();
    let count = (store::pitch(nx) as u64).saturating_mul(ny as u64 + 1);
    check_count(grid, count)?;
    let mut planes = if choice.is("naive") { 2 } else { 4 };
    if varies(scenario) {
        // Coefficients of each length of sub-step; masses and stiffnesses.
        let lengths = if choice.order == 4 { 2 } else { 1 };
        planes += 4 * grid.rank() * lengths + 3;
    }
    let absorbs = medium.has(Sets::Absorption) || grid.edges()[..grid.rank()].contains(&Edge::Absorb);
    planes += usize::from(absorbs) + usize::from(scenario.view().quantity == Quantity::Peak);
    planes += usize::from(scenario.asks_for_velocity());
    let precision = choice.precision;
    let needed = count * (planes * precision.bytes()) as u64 + ReadbackStream::BYTES as u64;
    crate::solver::device::check_room(
        grid,
        precision,
        &format!("oscillators of order {}", choice.order),
        needed,
        free,
    )
}

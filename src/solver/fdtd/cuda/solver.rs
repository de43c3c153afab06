//! A run on the device as the engine sees it.

use super::{Cuda, tiles, torre};
use crate::backend::cuda::Buffer;
use crate::field::{FieldData, Real};
use crate::physics::Observables;
use crate::scene::Scenario;
use crate::solver::device::OnCuda;
use crate::solver::device::rows::unpadded;
use crate::solver::{Backend, Clock, Edit, FieldImage, ImageRequest, Report, Solver, SolverError, SolverState, Taps};

impl<T: OnCuda> Solver for Cuda<T> {
    fn report(&self) -> Report {
        let device = self.queue.device();
        let levels = self.now.bytes()
            + self.old.bytes()
            + [&self.peak, &self.potential]
                .map(|all| all.as_ref().map_or(0, Buffer::bytes))
                .iter()
                .sum::<usize>();
        let (variant, kernel) = match (&self.torre, &self.tiles, &self.because) {
            (Some(torre), ..) => ("diamond-torre", torre.describe()),
            (None, Some(tiles), _) => ("tiled", tiles.describe()),
            (None, None, Some(because)) => ("stepwise", format!("one step a launch: {because}")),
            (None, None, None) if self.medium.is_plain() => ("stepwise", "planes in registers".to_owned()),
            (None, None, None) if self.medium.listed().is_some() => (
                "stepwise",
                "planes in registers, one thread a site where the medium needs it".to_owned(),
            ),
            (None, None, None) => ("stepwise", "one thread a site".to_owned()),
        };
        Report {
            method: "fdtd",
            variant,
            backend: Backend::Cuda,
            precision: T::PRECISION,
            order: 2,
            threads: device.multiprocessors as usize,
            details: format!(
                "{}, order {} in space, {kernel}",
                device.name,
                2 * self.host.sweep.lattice.half
            ),
            batch: self.steps_of_pass() as u64,
            note: None,
            memory: (levels
                + self.medium.bytes()
                + self.aside.bytes()
                + self.torre.as_ref().map_or(0, torre::Torre::bytes)
                + self.tiles.as_ref().map_or(0, tiles::Tiles::bytes)) as u64,
        }
    }

    fn clock(&self) -> Clock {
        self.host.clock
    }

    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.go(steps, taps)
    }

    fn touch(&mut self, taps: &mut Taps) -> Result<(), SolverError> {
        self.on_host(|host| host.touch(taps))
    }

    fn edit(&mut self, scenario: &Scenario, edit: &Edit) -> Result<(), SolverError> {
        self.on_host(|host| host.edit(scenario, edit))
    }

    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        self.watch_potential()
    }

    fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        self.picture(request, image)
    }

    fn begin_image(&mut self, request: &ImageRequest) -> Result<bool, SolverError> {
        self.begin_picture(request)?;
        Ok(true)
    }

    fn take_image(&mut self, image: &mut FieldImage) -> Result<bool, SolverError> {
        self.take_picture(image)
    }

    fn observables(&mut self) -> Result<Observables, SolverError> {
        self.sums()
    }

    fn field(&mut self) -> Result<FieldData, SolverError> {
        let lattice = &self.host.sweep.lattice;
        let shape = [lattice.size[0], lattice.rows(), self.pitch];
        Ok(<T as Real>::real_data(unpadded(
            &self.queue,
            "the pressure",
            shape,
            &self.now,
        )?))
    }

    fn set_field(&mut self, field: &FieldData, clock: Clock) -> Result<(), SolverError> {
        self.on_host(|host| host.set_field(field, clock))
    }

    fn save(&mut self) -> Result<SolverState, SolverError> {
        self.pull()?;
        let state = self.host.save();
        self.let_go();
        state
    }

    fn load(&mut self, state: &SolverState) -> Result<(), SolverError> {
        self.on_host(|host| host.load(state))
    }
}

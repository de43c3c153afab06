//! A run on the device as the engine sees it.

use super::Cuda;
use crate::backend::cuda::Buffer;
use crate::field::{FieldData, Real};
use crate::physics::Observables;
use crate::scene::Scenario;
use crate::solver::device::OnCuda;
use crate::solver::device::rows::unpadded;
use crate::solver::oscillators::order;
use crate::solver::{Backend, Clock, Edit, FieldImage, ImageRequest, Report, Solver, SolverError, SolverState, Taps};

impl<T: OnCuda> Solver for Cuda<T> {
    fn report(&self) -> Report {
        let device = self.queue.device();
        let planes = self
            .field
            .iter()
            .chain(self.other.iter().flatten())
            .chain(&self.peak)
            .chain(&self.potential);
        let substeps = self.host.springs.scheme.substeps.len();
        Report {
            method: "oscillators",
            variant: self.launches.variant(),
            backend: Backend::Cuda,
            precision: T::PRECISION,
            order: order(&self.host.scenario),
            threads: device.multiprocessors as usize,
            details: format!("{}, {}", device.name, self.launches.describe()),
            batch: (self.launches.most() / substeps).max(1) as u64,
            note: None,
            memory: (planes.map(Buffer::bytes).sum::<usize>() + self.medium.bytes() + self.aside.bytes()) as u64,
        }
    }

    fn clock(&self) -> Clock {
        self.host.clock
    }

    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.go(steps, taps)
    }

    fn touch(&mut self, taps: &mut Taps) -> Result<(), SolverError> {
        self.prepare_transducers(taps, 1)?;
        self.touch_sites(0)?;
        Ok(self.touching.finish(&self.queue, taps)?)
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
        let [nx, ny] = self.host.springs.layout.size;
        let all = unpadded(&self.queue, "the pressure", [nx, ny, self.pitch], &self.field[0])?;
        Ok(<T as Real>::real_data(all))
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

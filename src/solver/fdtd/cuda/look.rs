//! Sums, detectors and pictures on the device.

use super::Cuda;
use super::params::{self, whole};
use crate::backend::cuda::{Buffer, CudaError};
use crate::scene::scenario::Quantity;
use crate::solver::device::OnCuda;
use crate::solver::device::readback::Region;
use crate::solver::resident::Resident;
use crate::solver::{FieldImage, ImageRequest, SolverError};

impl<T: OnCuda> Cuda<T> {
    /// The argument of `measure`: energies are those of the sound, where the velocity is kept.
    pub(super) fn look(&self, region: &Region) -> params::Look<T> {
        params::Look {
            step: self.step_parameters(),
            potential: self.potential.as_ref().map_or(0, Buffer::address),
            lo: region.lo.map(whole),
            hi: region.hi.map(whole),
            inside: self.host.sweep.lattice.inside.map(|ends| ends.map(whole)),
            across: region.across.map_or(-1, whole),
            half: whole(self.host.sweep.lattice.half),
            energy: i32::from(region.energy),
            spacing: self.host.scenario.grid().spacing(),
            time_step: self.host.time_step,
        }
    }

    fn everywhere(&self, energy: bool) -> Region {
        Region::everywhere(self.host.sweep.lattice.size, energy)
    }

    /// Arguments of sums over the whole field: for the energy that the scheme conserves, and for the sound's where the velocity is kept.
    pub(super) fn looks(&self) -> (params::Look<T>, Option<params::Look<T>>) {
        let look = self.look(&self.everywhere(true));
        let sound = self.potential.is_some().then_some(look);
        (params::Look { potential: 0, ..look }, sound)
    }

    /// Starts to keep the largest |p| of every site.
    pub(super) fn watch_peak(&mut self) -> Result<(), SolverError> {
        if self.peak.is_none() {
            self.on_host(super::Fdtd::watch_peak)?;
        }
        Ok(())
    }

    /// What a picture needs beforehand.
    fn ready_for(&mut self, request: &ImageRequest) -> Result<(), SolverError> {
        match request.quantity {
            Quantity::Peak => self.watch_peak(),
            Quantity::Energy => self.watch_velocity(),
            _ => Ok(()),
        }
    }

    /// See [`crate::solver::Solver::image`].
    pub(super) fn draw(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        self.ready_for(request)?;
        let look = self.look(&self.everywhere(false));
        self.readback
            .picture(&self.stream, request, image, |frame| params::Picture { look, frame })
            .map_err(SolverError::from)
    }

    /// See [`crate::solver::Solver::begin_image`].
    pub(super) fn begin(&mut self, request: &ImageRequest) -> Result<(), SolverError> {
        self.ready_for(request)?;
        let look = self.look(&self.everywhere(false));
        // A step writes the level that energies need beside the newer one, and the largest values.
        let reads = vec![self.now.address(), self.old.address()];
        let begin = || -> Result<(), CudaError> {
            self.readback
                .begin(&self.stream, request, reads, |frame| params::Picture { look, frame })
        };
        begin().map_err(SolverError::from)
    }
}

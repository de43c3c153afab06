//! Sums and pictures on the device.

use super::{Cuda, params};
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::outward::Domain;
use crate::solver::device::readback::Region;
use crate::solver::device::rows::address;
use crate::solver::device::{OnCuda, whole};
use crate::solver::resident::Resident;
use crate::solver::{FieldImage, ImageRequest, SolverError};

impl<T: OnCuda> Cuda<T> {
    /// The grid as kernels take it.
    pub(super) fn plane(&self) -> params::Plane {
        let layout = &self.host.springs.layout;
        params::Plane {
            size: layout.size.map(whole),
            pitch: whole(self.pitch),
            rank: whole(layout.rank),
            periodic: layout.periodic.map(i32::from),
        }
    }

    pub(super) fn look(&self, region: &Region) -> params::Look {
        let inside = Domain::new(self.host.scenario.grid()).bounds();
        self.medium.look(params::Look {
            field: [self.field[0].address(), self.field[1].address()],
            peak: address(self.peak.as_ref()),
            potential: address(self.potential.as_ref()),
            time_step: self.host.time_step,
            plane: self.plane(),
            spacing: self.host.scenario.grid().spacing(),
            lo: region.lo.map(whole),
            hi: region.hi.map(whole),
            inside: inside.map(|ends| ends.map(whole)),
            across: region.across.map_or(-1, whole),
            energy: i32::from(region.energy),
            ..params::Look::default()
        })
    }

    fn everywhere(&self, energy: bool) -> Region {
        Region::everywhere(self.host.scenario.grid().size(), energy)
    }

    /// Arguments of sums over the whole field: for the energy that the scheme conserves, and for the sound's where the velocity is kept.
    pub(super) fn looks(&self) -> (params::Look, Option<params::Look>) {
        let look = self.look(&self.everywhere(true));
        let sound = self.potential.is_some().then_some(look);
        (params::Look { potential: 0, ..look }, sound)
    }

    /// What a picture needs beforehand.
    fn ready_for(&mut self, request: &ImageRequest) -> Result<(), SolverError> {
        if request.quantity == Quantity::Peak && self.peak.is_none() {
            self.on_host(super::Oscillators::watch_peak)?;
        }
        if request.quantity == Quantity::Energy {
            self.watch_velocity()?;
        }
        Ok(())
    }

    /// See [`crate::solver::Solver::image`].
    pub(super) fn draw(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        self.ready_for(request)?;
        let look = self.look(&self.everywhere(false));
        let with = |frame| params::Picture { look, frame };
        Ok(self.readback.picture(&self.stream, request, image, with)?)
    }

    /// See [`crate::solver::Solver::begin_image`].
    pub(super) fn begin(&mut self, request: &ImageRequest) -> Result<(), SolverError> {
        self.ready_for(request)?;
        let look = self.look(&self.everywhere(false));
        // Steps write both planes in one launch, and what is kept beside them after it.
        let reads = vec![self.field[0].address()];
        let with = |frame| params::Picture { look, frame };
        Ok(self.readback.begin(&self.stream, request, reads, with)?)
    }
}

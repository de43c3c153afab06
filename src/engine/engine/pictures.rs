//! Pictures of a run's field.

use super::Engine;
use crate::engine::mirror::Phase;
use crate::engine::{EngineError, maps};
use crate::scene::scenario::Quantity;
use crate::solver::{FieldImage, FieldVolume, ImageRequest, VolumeRequest};

impl Engine {
    /// Reduces the field to a picture.
    ///
    /// # Errors
    /// If the back end fails or the picture shows that the field is not finite; `image` is then undefined.
    pub fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), EngineError> {
        if self.has_map(request.quantity) {
            self.make_map(request.quantity)?;
            self.maps.draw(self.scenario.grid(), request, image);
        } else {
            self.solver.image(request, image)?;
        }
        self.check_image(image)
    }

    /// Whether a quantity is computed from the whole field rather than by the solver.
    fn has_map(&self, quantity: Quantity) -> bool {
        maps::has(quantity, self.scenario.model().equation())
    }

    /// Watches the largest |ψ|² from now on, if the scene shows it.
    pub(in crate::engine) fn watch_shown_peak(&mut self) -> Result<(), EngineError> {
        self.maps.forget_peak();
        let quantity = self.scenario.view().quantity;
        if quantity == Quantity::Peak && self.has_map(quantity) {
            self.maps.watch(&self.solver.field()?);
        }
        Ok(())
    }

    fn make_map(&mut self, quantity: Quantity) -> Result<(), EngineError> {
        let field = self.solver.field()?;
        // Behind a mirror another medium may stand.
        let back = self
            .timeline
            .as_ref()
            .filter(|timeline| timeline.leg.phase == Phase::Replay);
        let scenario = back.map_or(&self.scenario, |timeline| &timeline.back);
        let time = self.solver.clock().time;
        self.maps.make(quantity, scenario, time, &field);
        Ok(())
    }

    /// Begins a picture of the present state, which [`Engine::take_image`] returns while stepping continues; `false` if the run does not support this.
    ///
    /// # Errors
    /// If the back end fails.
    pub fn begin_image(&mut self, request: &ImageRequest) -> Result<bool, EngineError> {
        Ok(!self.has_map(request.quantity) && self.solver.begin_image(request)?)
    }

    /// The picture begun last, once; `false` if there is none.
    ///
    /// # Errors
    /// As [`Engine::image`].
    pub fn take_image(&mut self, image: &mut FieldImage) -> Result<bool, EngineError> {
        let result = self.solver.take_image(image);
        let taken = self.guard(result)?;
        if taken {
            self.check_image(image)?;
        }
        Ok(taken)
    }

    /// Reduces a field of three dimensions to a volume.
    ///
    /// # Errors
    /// As [`Engine::image`].
    pub fn volume(&mut self, request: &VolumeRequest, volume: &mut FieldVolume) -> Result<(), EngineError> {
        if self.has_map(request.quantity) {
            self.make_map(request.quantity)?;
            let (maps, grid) = (&self.maps, self.scenario.grid());
            volume.fill(request, |plane, image| {
                maps.draw(grid, plane, image);
                Ok(())
            })?;
        } else {
            self.solver.volume(request, volume)?;
        }
        if self.failure.is_none() && volume.top.is_nan() {
            return Err(self.not_finite());
        }
        Ok(())
    }

    fn check_image(&mut self, image: &FieldImage) -> Result<(), EngineError> {
        if self.failure.is_none() && !image.value.iter().all(|value| value.is_finite()) {
            return Err(self.not_finite());
        }
        Ok(())
    }
}

//! Pictures of a grid in parts: each part gives its rows site by site, and one place reduces them, so that a texel has the same bits whoever owns its
//! rows.

use super::Cut;
use super::whole::Whole;
use crate::scene::scenario::Quantity;
use crate::solver::clock::RunClock;
use crate::solver::{FieldImage, ImageRequest, SolverError};
use num_complex::Complex;

impl<S: Cut> Whole<S> {
    /// See [`Stepper::image`](crate::solver::stepper::Stepper::image).
    pub(super) fn draw(
        &mut self,
        clock: &RunClock,
        request: &ImageRequest,
        image: &mut FieldImage,
        quantum: bool,
    ) -> Result<(), SolverError> {
        let width = request.x.len();
        let first = request.y.start;
        let mut sites = |quantity: Quantity| {
            self.sites_of(
                clock,
                &ImageRequest {
                    quantity,
                    ..request.clone()
                },
            )
        };
        if quantum && request.quantity == Quantity::Phase {
            let (re, im) = (sites(Quantity::Real)?, sites(Quantity::Imaginary)?);
            image.fill_quantum(request, |j, out| {
                let from = (j - first) * width;
                for (n, out) in out.iter_mut().enumerate() {
                    *out = Complex::new(re[from + n], im[from + n]);
                }
            });
        } else {
            let all = sites(request.quantity)?;
            image.fill_real(request, |j, out| {
                let from = (j - first) * width;
                out.copy_from_slice(&all[from..from + width]);
            });
        }
        Ok(())
    }

    /// A quantity at every site of a request.
    fn sites_of(&mut self, clock: &RunClock, request: &ImageRequest) -> Result<Vec<f32>, SolverError> {
        let planes = self.plan.axis == 2;
        let asked = if planes {
            request.z..request.z + 1
        } else {
            request.y.clone()
        };
        let mut mine = Vec::new();
        let mut image = FieldImage::default();
        for member in &mut self.members {
            let part = &self.plan.parts[member.place];
            let common = asked.start.max(part.start)..asked.end.min(part.end);
            if common.is_empty() {
                // What a picture has a part keep, e.g. the largest pressures, all parts keep.
                let one = ImageRequest {
                    x: 0..1,
                    y: 0..1,
                    z: 0,
                    ..request.clone()
                };
                member.stepper.image(clock, &one, &mut image)?;
                continue;
            }
            let start = member.core.start + common.start - part.start;
            let rows = start..start + common.len();
            let mut own = ImageRequest {
                max_size: [usize::MAX; 2],
                ..request.clone()
            };
            if planes {
                own.z = start;
            } else {
                own.y = rows;
            }
            member.stepper.image(clock, &own, &mut image)?;
            mine.extend_from_slice(&image.value);
        }
        Ok(self.all(mine))
    }
}

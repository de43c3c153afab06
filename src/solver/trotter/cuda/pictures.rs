//! Pictures of the field, drawn in a stream of their own.

use super::launch::addresses;
use super::params::{self, whole};
use super::{Ahead, Cuda, OnCuda, Sums};
use crate::backend::cuda::{CudaError, Stream};
use crate::scene::scenario::Quantity;
use crate::solver::device::texels;
use crate::solver::trotter::run::HalfPhase;
use crate::solver::{FieldImage, ImageRequest};
use std::sync::{MutexGuard, PoisonError};

impl<T: OnCuda> Cuda<T> {
    /// The stream of pictures and sums, behind every step queued so far.
    pub(super) fn readback(&self) -> Result<&Stream, CudaError> {
        self.side.wait_for(&self.stream.mark()?)?;
        Ok(&self.side)
    }

    pub(super) fn ahead(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a picture in, into buffers of its own; `image` takes over its layout.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn draw(
        &self,
        sums: &mut Sums<T>,
        request: &ImageRequest,
        closing: Option<&HalfPhase>,
        image: &mut FieldImage,
    ) -> Result<(), CudaError> {
        let stream = self.readback()?;
        let [nx, ny, nz] = self.grid.size();
        debug_assert!(
            request.x.end <= nx && request.y.end <= ny && request.z < nz,
            "a region of the grid: {request:?}"
        );
        image.prepare(request);
        let texels = image.value.len();
        let value = texels::room(stream, "the picture", &mut sums.value, texels)?;
        let phase = texels::room(stream, "the picture's phase", &mut sums.phase, image.phase.len())?;
        let parameters = params::Picture {
            field: addresses(&self.field),
            medium: self.medium(sums),
            closing: self.closing(closing),
            grid: self.lattice,
            x: [whole(request.x.start), whole(request.x.end)],
            y: [whole(request.y.start), whole(request.y.end)],
            z: whole(request.z),
            reduction: whole(image.reduction),
            size: image.size.map(whole),
            quantity: texels::quantum(request.quantity),
            value,
            phase,
        };
        // Whole vectors a lane where the texels consist of them and nothing has to be closed.
        let vector = 16 / size_of::<T>();
        let in_vectors = request.quantity == Quantity::Density
            && closing.is_none()
            && image.reduction.is_multiple_of(vector)
            && request.x.start.is_multiple_of(vector);
        let loads = if in_vectors {
            image.reduction / vector
        } else {
            image.reduction
        };
        let (group, blocks) = texels::lanes(texels, loads);
        let in_vectors = i32::from(in_vectors);
        // SAFETY: the arguments are those of `picture`; both outputs have room for every texel, and the region lies in the grid.
        unsafe {
            stream.launch(self.kernel("picture"), (blocks, 1, 1), 256, |launch| {
                launch.arg(&parameters).arg(&group).arg(&in_vectors);
            })
        }
    }

    /// Begins to draw and to copy what was drawn; later steps wait on the device before they overwrite what it reads.
    pub(super) fn draw_ahead(
        &self,
        sums: &mut Sums<T>,
        ahead: &mut Ahead,
        request: &ImageRequest,
        closing: Option<&HalfPhase>,
    ) -> Result<(), CudaError> {
        ahead.pending = false;
        let image = &mut ahead.image;
        self.draw(sums, request, closing, image)?;
        ahead.reads = Some((self.field[0].address(), self.side.mark()?));
        let parts = [
            ("the picture", &sums.value, &mut ahead.value, image.value.len()),
            ("the picture's phase", &sums.phase, &mut ahead.phase, image.phase.len()),
        ];
        for (what, from, landing, count) in parts {
            let Some(from) = from.as_ref().filter(|_| count > 0) else {
                continue;
            };
            if landing.as_ref().is_none_or(|landing| landing.room() < count) {
                *landing = Some(self.side.pinned(what, count)?);
            }
            if let Some(landing) = landing {
                self.side.send(what, from, count, landing)?;
            }
        }
        ahead.pending = true;
        Ok(())
    }

    /// See [`OnDevice::picture`](super::super::run::OnDevice::picture).
    pub(super) fn draw_now(&self, request: &ImageRequest, closing: Option<&HalfPhase>, image: &mut FieldImage) {
        let mut sums = self.sums();
        self.attempt(|| {
            self.draw(&mut sums, request, closing, image)?;
            let parts = [
                ("the picture", &sums.value, &mut image.value),
                ("the picture's phase", &sums.phase, &mut image.phase),
            ];
            for (what, from, to) in parts {
                if let Some(from) = from.as_ref().filter(|_| !to.is_empty()) {
                    self.side.download(what, from, to)?;
                }
            }
            Ok(())
        });
    }

    /// See [`OnDevice::take_picture`](super::super::run::OnDevice::take_picture).
    pub(super) fn take_drawn(&self, image: &mut FieldImage) -> bool {
        let mut ahead = self.ahead();
        if !std::mem::take(&mut ahead.pending) {
            return false;
        }
        let copied = self.attempt(|| {
            for (landing, to) in [(&ahead.value, &mut image.value), (&ahead.phase, &mut image.phase)] {
                to.clear();
                if let Some(landing) = landing {
                    to.extend_from_slice(self.side.landed(landing)?);
                }
            }
            Ok(())
        });
        let layout = &ahead.image;
        if layout.phase.is_empty() {
            image.phase.clear();
        }
        image.size = layout.size;
        image.origin = layout.origin;
        image.reduction = layout.reduction;
        image.quantity = layout.quantity;
        copied.is_some()
    }
}

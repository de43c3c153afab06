//! The sums over ψ that need its phases, with the half phase closed in planes of their own.

use super::{Cuda, OnCuda, Planes};
use crate::backend::cuda::{Buffer, CudaError};
use crate::field::FieldData;
use crate::physics::StateSums;
use crate::solver::device::state::{DeviceState, Psi};
use crate::solver::trotter::run::HalfPhase;
use std::sync::{Arc, PoisonError};

/// Buffers that are kept from one row of measures to the next.
pub(super) struct Kept<T: OnCuda> {
    device: Option<DeviceState<T>>,
    /// ψ, where no step writes to other planes than it reads.
    closed: Option<Planes<T>>,
}

impl<T: OnCuda> Default for Kept<T> {
    fn default() -> Self {
        Self {
            device: None,
            closed: None,
        }
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Bytes of it.
    pub(super) fn bytes_of_state(&self) -> usize {
        let kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = kept.closed.iter().flatten().map(Buffer::bytes).sum::<usize>();
        closed + kept.device.as_ref().map_or(0, DeviceState::bytes)
    }

    /// The sums over ψ against `start`; `None` where lines are too long for the device, or it has not enough memory for them.
    pub(super) fn sum_state(
        &self,
        start: &Arc<FieldData>,
        whole: bool,
        closing: Option<&HalfPhase>,
    ) -> Result<Option<StateSums>, CudaError> {
        if !DeviceState::<T>::reaches(&self.stream, &self.grid, whole) {
            return Ok(None);
        }
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.sum_with(&mut kept, start, whole, closing);
        if matches!(found, Err(CudaError::OutOfMemory { .. })) {
            *kept = Kept::default();
            return Ok(None);
        }
        found.map(Some)
    }

    fn sum_with(
        &self,
        kept: &mut Kept<T>,
        start: &Arc<FieldData>,
        whole: bool,
        closing: Option<&HalfPhase>,
    ) -> Result<StateSums, CudaError> {
        let device = match &mut kept.device {
            Some(device) => device,
            none => none.insert(DeviceState::new(&self.stream, &self.grid)?),
        };
        let mut planes = &self.field;
        if closing.is_some() {
            // The planes that the next steps write are free until then.
            planes = match (&self.other, &mut kept.closed) {
                (Some(other), _) => other,
                (None, Some(closed)) => closed,
                (None, none) => {
                    let count = self.pitch * self.grid.rows();
                    let zeros = || self.stream.zeros("the closed field", count);
                    none.insert([zeros()?, zeros()?])
                }
            };
            self.before_writing(Some(planes[0].address()))?;
            device.copy(&self.stream, &self.field, planes)?;
            self.turn(planes, closing, false)?;
        }
        let psi = Psi::planes(planes, &self.grid, self.pitch);
        device.sums(&self.stream, psi, start, whole)
    }
}

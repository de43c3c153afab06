//! A propagator on the device, for lines and planes: a [`Scheme`] that steps, and the field, which is summed, drawn, read and changed.

use super::super::propagator::Propagator;
use super::field::{Energies, Field};
use crate::backend::cuda::{Buffer, CudaError, Pieces};
use crate::field::FieldData;
use crate::physics::StateSums;
use crate::solver::clock::RunClock;
use crate::solver::device::OnCuda;
use crate::solver::totals::{Region, Totals};
use crate::solver::{Backend, FieldImage, ImageRequest, SolverError};
use num_complex::Complex;
use std::ops::Range;
use std::sync::Arc;

/// The stepping of ψ.
pub(super) trait Scheme<T: OnCuda>: Send + Sync {
    /// The distribution of rows, for the user.
    fn details(&self) -> String;
    /// Bytes on the device beside the field.
    fn bytes(&self) -> usize;
    /// Fixes Δt.
    fn set_step(&mut self, field: &Field<T>, dt: f64) -> Result<(), CudaError>;
    /// Steps from `time`.
    fn advance(&mut self, field: &Field<T>, clock: &RunClock, steps: u64) -> Result<(), CudaError>;
    /// Says that ψ is another one than the last step left.
    fn field_changed(&mut self) {}
    /// g times half a step where the density at the start of a step multiplies it: in imaginary time. 0 elsewhere.
    fn mean_field(&self) -> f64;
    /// Whether ψ stays zero at a site.
    fn is_wall(&self, site: usize) -> bool;
    /// What energies at `time` are made of; `wanted` if anybody asks for them.
    fn energies(&mut self, field: &Field<T>, time: f64, wanted: bool) -> Result<Energies, CudaError>;
    /// The values of the drives at a time.
    fn drives_at(&self, time: f64) -> Vec<f64>;
    /// Diagonal of H at a site, without interaction.
    fn energy_at(&self, site: usize, drives: &[f64]) -> f64;
}

/// ψ on the device, and its scheme.
pub(super) struct OnDevice<T: OnCuda, S> {
    field: Field<T>,
    scheme: S,
    fault: Option<CudaError>,
}

impl<T: OnCuda, S: Scheme<T>> OnDevice<T, S> {
    pub(super) fn new((field, scheme): (Field<T>, S)) -> Self {
        Self {
            field,
            scheme,
            fault: None,
        }
    }

    /// Keeps the first error; what is asked for after it does nothing.
    fn attempt(&mut self, what: impl FnOnce(&mut Field<T>, &mut S) -> Result<(), CudaError>) {
        if self.fault.is_none() {
            self.fault = what(&mut self.field, &mut self.scheme).err();
        }
    }
}

impl<T: OnCuda, S: Scheme<T>> Propagator<T> for OnDevice<T, S> {
    fn variant(&self) -> &'static str {
        "n-partition"
    }

    fn backend(&self) -> Backend {
        Backend::Cuda
    }

    fn workers(&self) -> usize {
        self.field.stream.device().multiprocessors as usize
    }

    fn details(&self) -> String {
        format!("{}, {}", self.field.stream.device().name, self.scheme.details())
    }

    fn memory(&self) -> usize {
        self.field.bytes() + self.scheme.bytes()
    }

    fn set_step(&mut self, dt: f64) {
        self.attempt(|field, scheme| scheme.set_step(field, dt));
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) {
        self.attempt(|field, scheme| {
            field.changed();
            let strength = scheme.mean_field();
            if strength == 0.0 {
                return scheme.advance(field, clock, steps);
            }
            // The norm is restored between any two steps, so that there is one.
            debug_assert_eq!(steps, 1);
            field.hold_density()?;
            field.damp(strength)?;
            scheme.field_changed();
            scheme.advance(field, clock, steps)?;
            field.damp(strength)
        });
    }

    fn read(&self, first: usize, out: &mut [Complex<T>]) {
        self.field.read(first, out);
    }

    fn write(&mut self, first: usize, psi: &[Complex<T>]) {
        let sites = first..first + psi.len();
        self.attempt(|field, scheme| {
            scheme.field_changed();
            field.pieces(sites).write(bytemuck::cast_slice(psi))
        });
    }

    fn pieces(&mut self, sites: Range<usize>) -> Option<Pieces> {
        self.scheme.field_changed();
        Some(self.field.pieces(sites))
    }

    fn fetch(&mut self) {
        self.attempt(|field, _| field.fetch());
    }

    fn change(&mut self, change: &(dyn Fn(usize, &mut Complex<T>) + Sync)) {
        self.attempt(|field, scheme| {
            field.fetch()?;
            scheme.field_changed();
            field.change(|site| scheme.is_wall(site), change)
        });
    }

    fn scale_to(&mut self, weight: f64) -> bool {
        self.attempt(|field, scheme| {
            scheme.field_changed();
            field.rescale(weight)
        });
        true
    }

    fn scale_from(&mut self, now: f64, weight: f64) -> bool {
        self.attempt(|field, scheme| {
            scheme.field_changed();
            field.rescale_from(now, weight)
        });
        true
    }

    fn looks(&self) -> bool {
        true
    }

    fn keep_totals(&mut self, time: f64, regions: &[Region], place: usize) {
        self.attempt(|field, scheme| {
            let wanted = regions.iter().any(|region| region.energy);
            let energies = scheme.energies(field, time, wanted)?;
            field.keep_totals(regions, energies, place)
        });
    }

    fn kept_totals(&mut self, count: usize) -> Vec<Totals> {
        let mut kept = Vec::new();
        self.attempt(|field, _| {
            kept = field.kept_totals(count)?;
            Ok(())
        });
        kept
    }

    fn state_sums(&mut self, start: &Arc<FieldData>, whole: bool) -> Option<StateSums> {
        let mut sums = None;
        self.attempt(|field, _| {
            sums = field.state_sums(start, whole)?;
            Ok(())
        });
        sums
    }

    fn picture(&mut self, request: &ImageRequest, image: &mut FieldImage) {
        self.attempt(|field, _| field.picture(request, image));
    }

    fn fault(&mut self) -> Result<(), SolverError> {
        self.attempt(|field, _| field.stream.finish());
        self.fault.take().map_or(Ok(()), |fault| Err(SolverError::from(fault)))
    }

    fn drives_at(&self, time: f64) -> Vec<f64> {
        self.scheme.drives_at(time)
    }

    fn energy_at(&self, site: usize, drives: &[f64]) -> f64 {
        self.scheme.energy_at(site, drives)
    }
}

/// Bytes of buffers.
pub(super) fn bytes<'a, T: OnCuda>(buffers: impl IntoIterator<Item = &'a Buffer<T>>) -> usize {
    buffers.into_iter().map(Buffer::bytes).sum()
}

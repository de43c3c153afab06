//! The interface of a scheme on a back end: ψ in its own layout, and its steps. On a line this ψ is relative to E₀ (`reference.rs`).

use crate::backend::threads;
use crate::field::{FieldData, Real};
use crate::physics::StateSums;
use crate::solver::clock::RunClock;
use crate::solver::method::Backend;
use crate::solver::totals::{Region, Totals};
use crate::solver::{FieldImage, ImageRequest, SolverError};
use num_complex::Complex;
use std::ops::Range;
use std::sync::Arc;

/// Sites that one task sums.
pub(super) const PART: usize = 4096;
/// Sums that [`Propagator::keep_totals`] keeps.
pub(super) const KEPT: usize = 4096;

/// A field and the steps of it.
pub(super) trait Propagator<T: Real>: Send + Sync {
    /// The variant's id.
    fn variant(&self) -> &'static str;
    /// The choices that were made, for the user.
    fn details(&self) -> String;
    /// Blocks that a line is cut into, on which the last bits depend.
    fn blocks(&self) -> Option<usize> {
        None
    }
    /// Bytes held.
    fn memory(&self) -> usize;
    /// Fixes Δt and all that depends on it.
    fn set_step(&mut self, dt: f64);
    /// Steps from `time`; many at once give the same bits as one by one.
    fn advance(&mut self, clock: &RunClock, steps: u64);
    /// ψ of the sites from `first` on, x fastest.
    fn read(&self, first: usize, out: &mut [Complex<T>]);
    /// Σ|ψ|² of a range of sites, if it has a faster way than by [`Self::read`].
    fn density(&self, _sites: Range<usize>) -> Option<f64> {
        None
    }
    /// Overwrites ψ of the sites from `first` on with what another part of the grid has there.
    fn write(&mut self, first: usize, psi: &[Complex<T>]);
    /// Where ψ of some sites lies, if that is on an NVIDIA device, for whoever may overwrite it.
    #[cfg(feature = "cuda")]
    fn pieces(&mut self, _sites: Range<usize>) -> Option<crate::backend::cuda::Pieces> {
        None
    }
    /// Changes ψ site by site; walls become zero.
    fn change(&mut self, change: &(dyn Fn(usize, &mut Complex<T>) + Sync));
    /// The values of the drives at a time, as [`Self::energy_at`] needs them.
    fn drives_at(&self, time: f64) -> Vec<f64>;
    /// Diagonal of H at a site, without interaction.
    fn energy_at(&self, site: usize, drives: &[f64]) -> f64;
    /// The same of sites from `first` on.
    fn energies(&self, first: usize, drives: &[f64], out: &mut [f64]) {
        for (n, out) in out.iter_mut().enumerate() {
            *out = self.energy_at(first + n, drives);
        }
    }
    /// Where it steps.
    fn backend(&self) -> Backend {
        Backend::Cpu
    }
    /// How many work at it.
    fn workers(&self) -> usize {
        threads::count()
    }
    /// Makes the present ψ ready for [`Self::read`].
    fn fetch(&mut self) {}
    /// Scales ψ to Σ|ψ|² = `weight`, if it can do so where ψ lies.
    fn scale_to(&mut self, _weight: f64) -> bool {
        false
    }
    /// Scales ψ by the root of `weight` over `now`, if it can do so where ψ lies.
    fn scale_from(&mut self, _now: f64, _weight: f64) -> bool {
        false
    }
    /// Whether it sums and draws where ψ lies; otherwise that is done from [`Self::read`].
    fn looks(&self) -> bool {
        false
    }
    /// Sums over regions, none of them empty, with the energies of `time`, and keeps them from `place` on, below [`KEPT`].
    fn keep_totals(&mut self, _time: f64, _regions: &[Region], _place: usize) {}
    /// The first `count` of them; NaN after a fault.
    fn kept_totals(&mut self, _count: usize) -> Vec<Totals> {
        Vec::new()
    }
    /// The sums over ψ against `start`, ψ at t = 0, without momenta and lines unless `whole`; `None` where they are not made where ψ lies, or after a fault.
    fn state_sums(&mut self, _start: &Arc<FieldData>, _whole: bool) -> Option<StateSums> {
        None
    }
    /// Draws ψ.
    fn picture(&mut self, _request: &ImageRequest, _image: &mut FieldImage) {}
    /// What has gone wrong since it was asked last.
    fn fault(&mut self) -> Result<(), SolverError> {
        Ok(())
    }
}

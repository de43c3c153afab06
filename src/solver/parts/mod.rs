//! One run on a grid that is cut along its slowest axis: y in two dimensions, z in three, and a line itself.
//!
//! A part is the method itself on a window of the grid ([`Grid::window`](crate::grid::Grid::window)): its own rows (the core), and ghost rows beside
//! them, copies of its neighbours' rows. Each step invalidates ghost rows from outside inwards, at the rate at which values travel in the scheme; before this
//! reaches the core the ghost rows are copied again. Since a site is computed from the same numbers by the same instructions in every part, all bits are
//! those of a run that is not cut. Sums consist of the numbers of single rows, added in the order of rows, whichever part owns them.
//!
//! One process may hold several parts, and several processes may share them ([`Ranks`](crate::backend::ranks::Ranks)): each then makes the same calls. Parts may be on
//! NVIDIA devices, each on one of its own or several on one; neighbours then copy ghost rows from device to device, those in other processes where each has NCCL.

mod member;
mod mirrors;
mod outside;
mod pictures;
mod records;
#[cfg(test)]
mod tests;
mod whole;

use super::SolverError;
use super::acoustic::sums::total_of_numbers;
use super::clock::RunClock;
use super::row_numbers::NUMBERS;
use super::stepper::Stepper;
use super::taps::Tap;
use crate::grid::Grid;
use crate::physics::Observables;
use std::ops::Range;

pub(super) use whole::Whole;

/// A method that steps windows of a grid. Rows are numbered j + ny·k; on a line every site is a row.
pub(super) trait Cut: Stepper {
    /// Appends the state of some rows, bit by bit.
    fn read_rows(&mut self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<(), SolverError>;

    /// Takes over the state of some rows.
    fn write_rows(&mut self, rows: Range<usize>, bytes: &[u8]) -> Result<(), SolverError>;

    /// The pieces of these rows on an NVIDIA device, which neighbours copy without the host; `None` elsewhere.
    #[cfg(feature = "cuda")]
    fn pieces_of_rows(&mut self, _rows: Range<usize>) -> Option<crate::backend::cuda::Pieces> {
        None
    }

    /// Announces that ghost rows are copied directly after the next [`Stepper::advance`]: a stepper that can computes what neighbours need first, and leaves ghost rows unchanged.
    /// Counted along the axis that is cut: `core` are the window's own rows, and of these the lowest and highest `sent` are copied.
    #[cfg(feature = "cuda")]
    fn before_copies(&mut self, _core: Range<usize>, _sent: [usize; 2]) {}

    /// Sets the rows of a window that are its own: what transducers add ([`Stepper::put_in`]) counts only there.
    fn set_core(&mut self, _rows: Range<usize>) {}

    /// Whether all sums are of the core as a whole, as one row: then bits depend on where the grid is cut.
    fn sums_core(&self) -> bool {
        false
    }

    /// Steps after which `ghosts` ghost rows are used up with another Δt, 0 where they are too few for one; `None` where Δt makes no difference.
    fn steps_between(&self, _ghosts: usize, _time_step: f64) -> Option<u64> {
        None
    }

    /// Completes a window's state at t = 0. `weight` is Σ|ψ|² of the whole grid where the state is to be normalised.
    fn begin(&mut self, _weight: Option<f64>) -> Result<(), SolverError> {
        Ok(())
    }

    /// What every row adds to [`Stepper::weight`].
    fn weights(&mut self) -> Result<Vec<f64>, SolverError> {
        Ok(Vec::new())
    }

    /// [`Stepper::weight`] of the whole from what its rows add.
    fn weight_of(&self, rows: &[f64]) -> f64 {
        rows.iter().sum()
    }

    /// [`Stepper::scale_to`] for a whole whose weight is `now`.
    fn scale_from(&mut self, _now: f64, _weight: f64) {}

    /// What every row adds to [`Stepper::sums`].
    fn row_sums(&mut self, clock: &RunClock) -> Result<Vec<[f64; NUMBERS]>, SolverError>;

    /// [`Stepper::sums`] from those of all rows of the whole grid; as given here, of sound.
    fn sums_of(&self, grid: &Grid, rows: &[[f64; NUMBERS]]) -> Observables {
        total_of_numbers(rows, grid)
    }

    /// The value of a detector of the whole grid from the numbers of its rows, in their order, as steps keep them; as given here, of sound.
    fn record_of(&self, _grid: &Grid, tap: &Tap, rows: &[f64]) -> f64 {
        tap.value_of_rows(rows)
    }

    /// The same from those that [`Stepper::observe`] keeps.
    fn observed_of(&self, grid: &Grid, tap: &Tap, rows: &[f64]) -> f64 {
        self.record_of(grid, tap, rows)
    }
}

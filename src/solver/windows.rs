//! Windows of a grid of sound on devices, for grids in parts, the same for all methods.

use crate::backend::cuda::{CudaError, Pieces};
use crate::grid::Grid;
use crate::physics::Observables;
use crate::solver::SolverError;
use crate::solver::clock::RunClock;
use crate::solver::device::events::MOST_GATHERED;
use crate::solver::device::readback::{Region, observables_of_rows};
use crate::solver::gathered::{is_gathered, of_sites};
use crate::solver::parts::Cut;
use crate::solver::resident::Resident;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::taps::Tap;
use std::ops::Range;

/// A field of sound on an NVIDIA device of which windows are stepped.
pub(super) trait Windowed: Resident {
    /// The pieces that hold the state of some rows, in the order of [`Cut::read_rows`]; nothing that was queued before is still read there by a picture.
    fn rows_on_device(&mut self, rows: Range<usize>) -> Result<Pieces, CudaError>;

    /// See [`Cut::before_copies`].
    fn rows_follow(&mut self, _core: Range<usize>, _sent: [usize; 2]) {}

    /// See [`Cut::row_sums`].
    fn numbers_of_rows(&mut self) -> Result<Vec<[f64; NUMBERS]>, CudaError>;
}

impl<D: Windowed> Cut for D {
    fn read_rows(&mut self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<(), SolverError> {
        Ok(self.rows_on_device(rows)?.read(out)?)
    }

    fn write_rows(&mut self, rows: Range<usize>, bytes: &[u8]) -> Result<(), SolverError> {
        Ok(self.rows_on_device(rows)?.write(bytes)?)
    }

    /// Without pieces the rows go through the host, which gets the error.
    fn pieces_of_rows(&mut self, rows: Range<usize>) -> Option<Pieces> {
        self.rows_on_device(rows).ok()
    }

    fn before_copies(&mut self, core: Range<usize>, sent: [usize; 2]) {
        self.rows_follow(core, sent);
    }

    fn row_sums(&mut self, _clock: &RunClock) -> Result<Vec<[f64; NUMBERS]>, SolverError> {
        Ok(self.numbers_of_rows()?)
    }

    fn sums_of(&self, grid: &Grid, rows: &[[f64; NUMBERS]]) -> Observables {
        observables_of_rows(rows, grid)
    }

    fn record_of(&self, _grid: &Grid, tap: &Tap, rows: &[f64]) -> f64 {
        if is_gathered(tap, MOST_GATHERED) {
            return of_sites(tap, rows);
        }
        Region::of(tap).map_or(0.0, |_| Region::value_of_parts(tap, rows))
    }

    /// The host observes ([`Resident`]).
    fn observed_of(&self, _grid: &Grid, tap: &Tap, rows: &[f64]) -> f64 {
        tap.value_of_rows(rows)
    }
}

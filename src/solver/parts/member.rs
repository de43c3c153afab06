//! A part of a run, and how its ghost rows come from its neighbours.

use super::Cut;
#[cfg(feature = "cuda")]
use crate::backend::cuda::Pieces;
use crate::solver::{SolverError, Taps};
use std::ops::Range;

/// A part: a stepper on its window.
pub(super) struct Member<S> {
    pub(super) stepper: S,
    /// Its place among all parts.
    pub(super) place: usize,
    /// Its own rows along the axis that is cut, counted in its window.
    pub(super) core: Range<usize>,
    /// Rows of its window along that axis.
    pub(super) rows: usize,
    /// The detectors in its window.
    pub(super) taps: Taps,
}

impl<S: Cut> Member<S> {
    /// The state of some rows along the axis that is cut, of `lines` lines each, in place of what `bytes` hold.
    pub(super) fn read(&mut self, rows: Range<usize>, lines: usize, bytes: &mut Vec<u8>) -> Result<(), SolverError> {
        bytes.clear();
        self.stepper.read_rows(rows.start * lines..rows.end * lines, bytes)
    }

    pub(super) fn write(&mut self, rows: Range<usize>, lines: usize, bytes: &[u8]) -> Result<(), SolverError> {
        self.stepper.write_rows(rows.start * lines..rows.end * lines, bytes)
    }

    /// Where these rows lie on a device.
    #[cfg(feature = "cuda")]
    pub(super) fn pieces(&mut self, rows: Range<usize>, lines: usize) -> Option<Pieces> {
        self.stepper.pieces_of_rows(rows.start * lines..rows.end * lines)
    }

    /// Lets the next steps compute first what neighbours copy after them.
    #[cfg(feature = "cuda")]
    pub(super) fn before_copies(&mut self, ghosts: usize) {
        let cut = [self.core.start > 0, self.core.end < self.rows];
        let sent = cut.map(|cut| if cut { ghosts } else { 0 });
        self.stepper.before_copies(self.core.clone(), sent);
    }

    /// Where the ghost rows of two neighbours, of which `above` stands behind `below`, and the rows that they are copies of lie on devices: `[to, from]` upwards, then downwards.
    #[cfg(feature = "cuda")]
    pub(super) fn pieces_of_ghosts(
        members: &mut [Self],
        [below, above]: [usize; 2],
        [ghosts, lines]: [usize; 2],
    ) -> Option<Swap> {
        let [low, high] = [below, above].map(|n| members[n].core.clone());
        let rows = members[below].rows;
        let mut of = |n: usize, rows: Range<usize>| members[n].pieces(rows, lines);
        Some([
            [of(above, 0..high.start)?, of(below, low.end - ghosts..low.end)?],
            [of(below, low.end..rows)?, of(above, high.start..high.start + ghosts)?],
        ])
    }

    /// Copies these rows through the host.
    pub(super) fn swap_ghosts(
        members: &mut [Self],
        [below, above]: [usize; 2],
        [ghosts, lines]: [usize; 2],
    ) -> Result<(), SolverError> {
        let [low, high] = [below, above].map(|n| members[n].core.clone());
        let mut bytes = Vec::new();
        members[below].read(low.end - ghosts..low.end, lines, &mut bytes)?;
        members[above].write(0..high.start, lines, &bytes)?;
        members[above].read(high.start..high.start + ghosts, lines, &mut bytes)?;
        let rows = members[below].rows;
        members[below].write(low.end..rows, lines, &bytes)
    }
}

/// Copies both ways between two neighbours.
#[cfg(feature = "cuda")]
pub(super) type Swap = [[Pieces; 2]; 2];

//! Operations on single sites in a batch of steps, for tiles and towers: by rows and places.

use super::Cuda;
use super::params::{ADDS, GATHERS, SETS};
use super::store::SEGMENT;
use crate::backend::cuda::CudaError;
use crate::solver::device::OnCuda;

/// Rows with something in the medium beside a speed, and rows with operations on sites: bits of `special` of towers.
const MEDIUM: u8 = 1;
const OPERATIONS: u8 = 2;

/// Places with operations in a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Operations {
    /// Those that are added to, ascending.
    pub adds: Vec<u32>,
    /// Ascending.
    pub sets: Vec<u32>,
    /// Ascending.
    pub gathers: Vec<u32>,
}

impl Operations {
    /// What is done in each of `ny` rows, as `RowOperations` of `kernels/fdtd_blocks.cu` has it.
    pub(super) fn rows(&self, pitch: usize, ny: usize) -> Vec<u32> {
        let mut rows = vec![[0_u32; 8]; ny];
        for (bit, at, places) in [
            (ADDS, 1, &self.adds),
            (SETS, 3, &self.sets),
            (GATHERS, 5, &self.gathers),
        ] {
            for (n, place) in (0_u32..).zip(places) {
                let row = &mut rows[*place as usize / pitch];
                if row[0] & bit == 0 {
                    row[0] |= bit;
                    row[at] = n;
                }
                row[at + 1] = n + 1;
            }
        }
        rows.concat()
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Marks the rows in which the next batch does more than step; `added`: where signals are added, if steps differ in that.
    pub(super) fn mark_rows(&mut self, added: impl Iterator<Item = u32>) -> Result<(), CudaError> {
        let same = self.events.players().is_some();
        let mut adds: Vec<u32> = self.events.players().map_or_else(|| added.collect(), <[u32]>::to_vec);
        if let Some(tiles) = &mut self.tiles {
            if !same {
                adds.sort_unstable();
                adds.dedup();
            }
            let done = Operations {
                adds,
                sets: self.events.overwritten().to_vec(),
                gathers: self.events.gathers().to_vec(),
            };
            return tiles.mark(&self.stream, self.pitch, done);
        }
        let Some(torre) = &mut self.torre else { return Ok(()) };
        let segments = self.medium.special_segments(torre.shape.layers);
        let mut rows: Vec<u8> = segments
            .chunks_exact(self.pitch / SEGMENT)
            .map(|row| u8::from(row.contains(&true)) * MEDIUM)
            .collect();
        for place in adds.iter().chain(self.events.gathers()).copied() {
            if rows.is_empty() {
                rows = vec![0; self.host.sweep.lattice.rows()];
            }
            rows[place as usize / self.pitch] |= OPERATIONS;
        }
        torre.mark(&self.stream, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_know_their_operations() {
        let done = Operations {
            adds: vec![3, 70, 70, 90],
            sets: vec![64],
            gathers: vec![0, 1, 130],
        };
        let rows = done.rows(64, 3);
        assert_eq!(rows[..8], [ADDS | GATHERS, 0, 1, 0, 0, 0, 2, 0]);
        assert_eq!(rows[8..16], [ADDS | SETS, 1, 4, 0, 1, 0, 0, 0]);
        assert_eq!(rows[16..], [GATHERS, 0, 0, 0, 0, 2, 3, 0]);
    }
}

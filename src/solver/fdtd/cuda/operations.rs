//! Operations on single sites in a batch of steps, for tiles and towers: by rows and places.

use super::Cuda;
use super::params::{SEARCHED, SiteOperation};
use super::store::SEGMENT;
use crate::backend::cuda::CudaError;
use crate::solver::device::{OnCuda, whole};
use std::collections::BTreeMap;

/// Rows with something in the medium beside a speed, and rows with operations on sites: bits of `special` of towers.
const MEDIUM: u8 = 1;
const OPERATIONS: u8 = 2;

/// Places with operations in a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Operations {
    /// Those that are added to, ascending; with `same` after every step, each as often as something is added there.
    pub adds: Vec<u32>,
    pub same: bool,
    /// Ascending.
    pub sets: Vec<u32>,
    /// Ascending.
    pub gathers: Vec<u32>,
}

impl Operations {
    /// What is done at each of the places, by ascending place; `here` is left 0.
    pub(super) fn by_sites(&self) -> Vec<SiteOperation> {
        let mut all: BTreeMap<u32, SiteOperation> = BTreeMap::new();
        for (place, range) in runs(&self.adds) {
            all.entry(place).or_default().adds = if self.same { range } else { [SEARCHED, 0] };
        }
        for (n, place) in (1..).zip(&self.sets) {
            all.entry(*place).or_default().set = n;
        }
        for (place, range) in runs(&self.gathers) {
            all.entry(place).or_default().gathers = range;
        }
        all.into_iter()
            .map(|(place, site)| SiteOperation { place, ..site })
            .collect()
    }
}

/// The places of an ascending list, and where each begins and ends in it.
fn runs(places: &[u32]) -> impl Iterator<Item = (u32, [u32; 2])> {
    places.chunk_by(|a, b| a == b).scan(0, |end, run| {
        let first = *end;
        *end += whole(run.len()).unsigned_abs();
        Some((run[0], [first, *end]))
    })
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
                same,
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
    fn sites_know_their_operations() {
        let mut done = Operations {
            adds: vec![3, 70, 70, 90],
            same: true,
            sets: vec![64, 3],
            gathers: vec![0, 70, 70],
        };
        let site = |place, adds, set, gathers| SiteOperation {
            place,
            adds,
            set,
            gathers,
            ..SiteOperation::default()
        };
        assert_eq!(
            done.by_sites(),
            [
                site(0, [0, 0], 0, [0, 1]),
                site(3, [0, 1], 2, [0, 0]),
                site(64, [0, 0], 1, [0, 0]),
                site(70, [1, 3], 0, [1, 3]),
                site(90, [3, 4], 0, [0, 0]),
            ]
        );
        done.same = false;
        assert_eq!(done.by_sites()[3].adds, [SEARCHED, 0]);
    }
}

//! Operations on single sites of a plane of sound, done by the kernel that steps the site (`kernels/fdtd_step.wgsl`), without launches of their own.
//!
//! One array of words: for each site its marks in two bits and above them the index of its description, 0 where nothing happens; the descriptions; numbers of
//! records; values of the batch. 4 bytes a site; descriptions are rebuilt only when the set of sites changes.

use super::operations::{BATCH, SiteBatch};
use super::unsigned;
use crate::backend::wgpu::{Buffer, Stream, WgpuError};
use bytemuck::{Pod, Zeroable};
use std::collections::BTreeMap;

/// Bits of a word that hold a site's marks.
const MARKS: u32 = 2;
/// Of a site that is not overwritten, as the kernel has it.
const NONE: u32 = u32::MAX;
/// Words of a description.
const DESCRIPTION: usize = 5;

/// `Moment` of the kernel, in 256 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Moment {
    added: u32,
    overwritten: u32,
    record: u32,
    rest: [u32; 61],
}

/// The sites at which something happens: those that are added to, ascending, as often as there are signals; those that are overwritten; those of which there are records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asked {
    added: Vec<u32>,
    overwritten: Vec<u32>,
    gathered: Vec<u32>,
}

/// The arrays of a batch.
pub(in crate::solver) struct Places {
    /// Marks of the sites.
    marks: Vec<u8>,
    asked: Asked,
    /// Words before the values.
    described: usize,
    pub(in crate::solver) moments: Buffer,
    pub(in crate::solver) words: Buffer,
    pub(in crate::solver) record: Buffer,
}

impl Places {
    /// Nothing happens yet at sites with these marks.
    pub(in crate::solver) fn new(stream: &Stream, marks: Vec<u8>) -> Result<Self, WgpuError> {
        let asked = Asked::default();
        let words = words(&marks, &asked);
        Ok(Self {
            described: words.len(),
            words: stream.list("operations on sites", &words)?,
            moments: stream.zeros::<Moment>("operations on sites", BATCH)?,
            record: stream.zeros::<f32>("records", 1)?,
            marks,
            asked,
        })
    }

    /// Takes over a batch of steps.
    pub(in crate::solver) fn load(
        &mut self,
        stream: &Stream,
        batch: &mut SiteBatch,
        steps: usize,
    ) -> Result<(), WgpuError> {
        let (added, played) = if batch.players.is_empty() {
            every_step(&mut batch.added)
        } else {
            (batch.players.clone(), batch.played.clone())
        };
        let asked = Asked {
            added,
            overwritten: batch.set_places.clone(),
            gathered: batch.gathered.clone(),
        };
        let what = "operations on sites";
        let values: Vec<f32> = [&played[..], &batch.set_values].concat();
        let anew = asked != self.asked;
        let mut described = anew.then(|| words(&self.marks, &asked));
        if let Some(words) = &described {
            self.described = words.len();
        }
        let needed = self.described + values.len();
        if self.words.bytes() < (needed * size_of::<u32>()) as u64 {
            self.words = stream.zeros::<u32>(what, needed + needed / 4)?;
            described = Some(words(&self.marks, &asked));
        }
        if let Some(words) = described {
            stream.upload(what, &words, &self.words, 0)?;
        }
        self.asked = asked;
        super::grow::<f32>(stream, "records", &mut self.record, steps * self.asked.gathered.len())?;
        if !values.is_empty() {
            stream.upload(what, &values, &self.words, self.described)?;
        }
        if self.asked != Asked::default() {
            let moments: Vec<Moment> = (0..steps).map(|n| self.moment(n, batch)).collect();
            stream.upload(what, &moments, &self.moments, 0)?;
        }
        Ok(())
    }

    /// The moment of step `n` of a batch, for the kernel.
    fn moment(&self, n: usize, batch: &SiteBatch) -> Moment {
        let Asked {
            added,
            overwritten,
            gathered,
        } = &self.asked;
        let rows = batch.set_values.len().checked_div(overwritten.len()).unwrap_or(0);
        let steps = batch
            .added
            .len()
            .max(batch.played.len().checked_div(added.len()).unwrap_or(0));
        let values = self.described + steps * added.len();
        Moment {
            added: unsigned(self.described + n * added.len()),
            overwritten: if n < rows {
                unsigned(values + n * overwritten.len())
            } else {
                0
            },
            record: unsigned(n * gathered.len()),
            rest: [0; 61],
        }
    }

    /// What was gathered in `steps` steps of the batch.
    pub(in crate::solver) fn records(&self, stream: &Stream, steps: usize) -> Result<Vec<f32>, WgpuError> {
        let mut all = vec![0.0; steps * self.asked.gathered.len()];
        if !all.is_empty() {
            stream.download("records", &self.record, 0, &mut all)?;
        }
        Ok(all)
    }

    /// Bytes held.
    pub(in crate::solver) fn bytes(&self) -> u64 {
        [&self.moments, &self.words, &self.record]
            .map(Buffer::bytes)
            .iter()
            .sum()
    }
}

/// Lists that differ from step to step, as one of all sites, and its values step by step: 0 where a step adds nothing.
fn every_step(added: &mut [Vec<(u32, f32)>]) -> (Vec<u32>, Vec<f32>) {
    let mut most = BTreeMap::<u32, usize>::new();
    for step in added.iter_mut() {
        // Several signals at one site stay in their order.
        step.sort_by_key(|(place, _)| *place);
        for same in step.chunk_by(|a, b| a.0 == b.0) {
            let most = most.entry(same[0].0).or_default();
            *most = (*most).max(same.len());
        }
    }
    let mut first = BTreeMap::new();
    let mut places = Vec::new();
    for (place, count) in most {
        first.insert(place, places.len());
        places.extend(std::iter::repeat_n(place, count));
    }
    let mut values = vec![0.0; places.len() * added.len()];
    for (row, step) in values.chunks_exact_mut(places.len().max(1)).zip(added) {
        for same in step.chunk_by(|a, b| a.0 == b.0) {
            let row = &mut row[first[&same[0].0]..];
            row.iter_mut()
                .zip(same)
                .for_each(|(value, (_, signal))| *value = *signal);
        }
    }
    (places, values)
}

/// The operations at a site.
#[derive(Default)]
struct Part {
    added: [usize; 2],
    overwritten: Option<usize>,
    records: Vec<u32>,
}

/// The words of all sites, descriptions and numbers of records.
fn words(marks: &[u8], asked: &Asked) -> Vec<u32> {
    let mut parts = BTreeMap::<u32, Part>::new();
    let mut n = 0;
    for same in asked.added.chunk_by(|a, b| a == b) {
        parts.entry(same[0]).or_default().added = [n, n + same.len()];
        n += same.len();
    }
    for (n, place) in asked.overwritten.iter().enumerate() {
        parts.entry(*place).or_default().overwritten = Some(n);
    }
    for (n, place) in (0..).zip(&asked.gathered) {
        parts.entry(*place).or_default().records.push(n);
    }
    let mut words: Vec<u32> = marks.iter().map(|mark| u32::from(*mark)).collect();
    let mut record = words.len() + DESCRIPTION * parts.len();
    for (place, part) in &parts {
        let own = unsigned(words.len());
        words[*place as usize] |= own << MARKS;
        let records = [record, record + part.records.len()];
        words.extend(part.added.map(unsigned));
        words.push(part.overwritten.map_or(NONE, unsigned));
        words.extend(records.map(unsigned));
        record = records[1];
    }
    words.extend(parts.values().flat_map(|part| &part.records));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_signals_have_a_place_in_every_step() {
        let mut added = vec![vec![(7, 1.0), (3, 2.0), (7, 3.0)], vec![(4, 4.0), (7, 5.0)], Vec::new()];
        let (places, values) = every_step(&mut added);
        assert_eq!(places, [3, 4, 7, 7]);
        let rows = [[2.0, 0.0, 1.0, 3.0], [0.0, 4.0, 5.0, 0.0], [0.0; 4]];
        assert_eq!(values, rows.concat());
    }

    #[test]
    fn sites_know_what_happens_there() {
        let asked = Asked {
            added: vec![1, 1, 4],
            overwritten: vec![4, 2],
            gathered: vec![2, 0, 2],
        };
        let words = words(&[0, 1, 2, 3, 0], &asked);
        let of = |place: usize| {
            let own = (words[place] >> MARKS) as usize;
            let [from, to, value, first, last] = words[own..own + DESCRIPTION] else {
                unreachable!()
            };
            let records = &words[first as usize..last as usize];
            ([from, to], value, records.to_vec())
        };
        let marks: Vec<u32> = words[..5].iter().map(|word| word & 3).collect();
        assert_eq!(marks, [0, 1, 2, 3, 0]);
        assert_eq!(of(0), ([0, 0], NONE, vec![1]));
        assert_eq!(of(1), ([0, 2], NONE, vec![]));
        assert_eq!(of(2), ([0, 0], 1, vec![0, 2]));
        assert_eq!(words[3] >> MARKS, 0, "nothing happens there");
        assert_eq!(of(4), ([2, 3], 0, vec![]));
    }
}

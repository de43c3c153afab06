//! Operations on single sites of a plane of sound between two steps (`kernels/sound.wgsl`): signals are added, sites are overwritten, sites are gathered.

use super::{grow, unsigned};
use crate::backend::wgpu::Binding::{Read, Table, Write};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError};
use crate::solver::transducers::{Act, Transducers};
use bytemuck::{Pod, Zeroable};
use num_complex::Complex64;

/// The kernels for sound.
pub(super) const SOURCE: (&str, &str) = (
    "sound",
    concat!(
        include_str!("../../../kernels/moment.wgsl"),
        include_str!("../../../kernels/sound.wgsl")
    ),
);
/// The arguments of operations: the moment, a plane, records, places, values.
const OPERATE: [Binding; 5] = [Table(1), Write, Write, Read, Read];
/// Maximum number of steps of a batch.
pub(in crate::solver) const BATCH: usize = 256;
/// Maximum number of values that a batch reads back.
const MOST_RECORDS: usize = 1 << 22;
/// Sites of a detector that are gathered one by one; with larger regions the processor steps.
pub(in crate::solver) const MOST_GATHERED: usize = 1 << 16;

/// What happens after one step of a batch, in 256 bytes: `kernels/moment.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Moment {
    first: u32,
    last: u32,
    set_first: u32,
    set_values: u32,
    sets: u32,
    gather_first: u32,
    gathers: u32,
    record: u32,
    first_value: u32,
    rest: [u32; 55],
}

/// What happens at single sites in a batch of steps.
#[derive(Debug, Default)]
pub(in crate::solver) struct SiteBatch {
    /// Of each step, places and what is added there, in order.
    pub added: Vec<Vec<(u32, f32)>>,
    /// Places that are added to after every step, ascending, and what is added there, step by step; `added` is empty then.
    pub players: Vec<u32>,
    pub played: Vec<f32>,
    /// Sites that are overwritten, and their values, step by step, as long as there are any.
    pub set_places: Vec<u32>,
    pub set_values: Vec<f32>,
    /// Sites of which there is a record of every step.
    pub gathered: Vec<u32>,
}

impl SiteBatch {
    /// Adds what transducers do after each of the batch's steps; returns the steps in which they play. `silent`: whether a site is left out;
    /// `value`: what a signal adds to a site, or puts there.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "buffers of more than 2^32 numbers were refused; rounded to the precision of the run"
    )]
    pub(in crate::solver) fn join(
        &mut self,
        transducers: &Transducers,
        steps: usize,
        silent: impl Fn(usize) -> bool,
        value: impl Fn(usize, Complex64) -> f64,
    ) -> usize {
        let (sites, act) = (transducers.sites(), transducers.act());
        if act == Act::Record {
            self.gathered.extend(sites.iter().map(|site| *site as u32));
            return 0;
        }
        let row = sites.len().max(1);
        let playing = (transducers.ahead().len() / row).min(steps);
        let free: Vec<usize> = (0..sites.len()).filter(|n| !silent(sites[*n])).collect();
        let place = |n: &usize| sites[*n] as u32;
        let rows = transducers.ahead().chunks_exact(row).take(playing);
        if act == Act::Add {
            for (added, signals) in self.added.iter_mut().zip(rows) {
                added.extend(free.iter().map(|n| (place(n), value(sites[*n], signals[*n]) as f32)));
            }
        } else {
            self.set_places = free.iter().map(place).collect();
            let values = rows.flat_map(|signals| free.iter().map(|n| value(sites[*n], signals[*n]) as f32));
            self.set_values = values.collect();
        }
        playing
    }
}

/// The kernel, with the buffers of a batch.
pub(in crate::solver) struct Operations {
    kernel: Kernel,
    /// What happens after each step of the batch; records, places and values of it.
    pub(in crate::solver) moments: Buffer,
    pub(in crate::solver) record: Buffer,
    pub(in crate::solver) lists: [Buffer; 2],
    /// Numbers that a step of the batch records.
    gathered: usize,
    /// After which steps anything is done.
    acts: Vec<bool>,
    /// The bindings of the kernel for each plane of the batch.
    binds: Vec<(Buffer, Bind)>,
}

impl Operations {
    /// `most`: steps of which one launch sees the operations.
    pub(in crate::solver) fn new(stream: &Stream, most: usize) -> Result<Self, WgpuError> {
        let what = "operations on sites";
        Ok(Self {
            kernel: stream.device().kernel(SOURCE, "operate", &OPERATE, &[])?,
            moments: stream.zeros::<Moment>(what, BATCH + most)?,
            record: stream.zeros::<f32>("records", 1)?,
            lists: [stream.zeros::<u32>(what, 1)?, stream.zeros::<f32>(what, 1)?],
            gathered: 0,
            acts: Vec::new(),
            binds: Vec::new(),
        })
    }

    /// Steps of a batch of which so many numbers are recorded.
    pub(in crate::solver) fn most_steps(gathered: usize) -> u64 {
        (MOST_RECORDS / gathered.max(1)).clamp(1, BATCH) as u64
    }

    /// Whether anything is done in the batch.
    pub(in crate::solver) fn are_any(&self) -> bool {
        self.acts.contains(&true)
    }

    /// Takes over a batch of steps.
    pub(in crate::solver) fn load(&mut self, stream: &Stream, batch: &mut SiteBatch) -> Result<(), WgpuError> {
        self.binds.clear();
        let (mut places, mut values) = (Vec::new(), Vec::new());
        let mut moments = Vec::new();
        for step in &mut batch.added {
            // Several signals at one site stay in their order.
            step.sort_by_key(|(place, _)| *place);
            let first = places.len();
            places.extend(step.iter().map(|(place, _)| *place));
            values.extend(step.iter().map(|(_, value)| *value));
            moments.push([first, places.len(), first].map(unsigned));
        }
        if !batch.players.is_empty() {
            let players = batch.players.len();
            let steps = batch.played.len() / players;
            moments = (0..steps).map(|n| [0, players, n * players].map(unsigned)).collect();
            places.extend_from_slice(&batch.players);
            values.extend_from_slice(&batch.played);
        }
        let sets = batch.set_places.len();
        let [set_first, set_values] = [places.len(), values.len()];
        let rows = batch.set_values.len().checked_div(sets).unwrap_or(0);
        places.extend_from_slice(&batch.set_places);
        values.extend_from_slice(&batch.set_values);
        let gather_first = places.len();
        places.extend_from_slice(&batch.gathered);
        self.gathered = batch.gathered.len();
        let moments: Vec<Moment> = (moments.into_iter().enumerate())
            .map(|(n, [first, last, first_value])| Moment {
                first,
                last,
                set_first: unsigned(set_first),
                set_values: unsigned(set_values + n * sets),
                sets: if n < rows { unsigned(sets) } else { 0 },
                gather_first: unsigned(gather_first),
                gathers: unsigned(self.gathered),
                record: unsigned(n * self.gathered),
                first_value,
                rest: [0; 55],
            })
            .collect();
        let acts = |moment: &Moment| moment.first < moment.last || moment.sets > 0 || moment.gathers > 0;
        self.acts = moments.iter().map(acts).collect();
        if !self.are_any() {
            return Ok(());
        }
        grow::<u32>(stream, "operations on sites", &mut self.lists[0], places.len())?;
        grow::<f32>(stream, "operations on sites", &mut self.lists[1], values.len())?;
        grow::<f32>(stream, "records", &mut self.record, self.gathered * moments.len())?;
        stream.upload("operations on sites", &moments, &self.moments, 0)?;
        stream.upload("operations on sites", &places, &self.lists[0], 0)?;
        if !values.is_empty() {
            stream.upload("operations on sites", &values, &self.lists[1], 0)?;
        }
        Ok(())
    }

    /// The operations of step `n` of the batch, on a plane.
    pub(in crate::solver) fn operate(&mut self, stream: &Stream, plane: &Buffer, n: usize) -> Result<(), WgpuError> {
        if !self.acts.get(n).copied().unwrap_or(false) {
            return Ok(());
        }
        let known = self.binds.iter().position(|(known, _)| known.is(plane));
        let at = known.unwrap_or_else(|| {
            let [places, values] = &self.lists;
            let buffers = [&self.moments, plane, &self.record, places, values];
            let pairs: Vec<(Binding, &Buffer)> = OPERATE.into_iter().zip(buffers).collect();
            let bind = stream.device().bind(&self.kernel, &pairs);
            self.binds.push((plane.clone(), bind));
            self.binds.len() - 1
        });
        stream.launch(&self.kernel, &self.binds[at].1, Some(n), [1; 3])
    }

    /// What was gathered in `steps` steps of the batch.
    pub(in crate::solver) fn records(&self, stream: &Stream, steps: usize) -> Result<Vec<f32>, WgpuError> {
        let mut all = vec![0.0; steps * self.gathered];
        if !all.is_empty() {
            stream.download("records", &self.record, 0, &mut all)?;
        }
        Ok(all)
    }

    /// Bytes held.
    pub(in crate::solver) fn bytes(&self) -> u64 {
        let [places, values] = &self.lists;
        [&self.moments, &self.record, places, values]
            .map(Buffer::bytes)
            .iter()
            .sum()
    }
}

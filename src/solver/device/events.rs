//! Operations on single sites between steps: signals to add, sites to overwrite and to gather (`kernels/sites.cuh`). Signals are made, and records taken back, once for a batch of
//! steps.

use super::rows::grow;
use super::{OnCuda, whole};
use crate::backend::cuda::{Buffer, CudaError, Stream};
use crate::solver::Taps;
use crate::solver::clock::RunClock;
use crate::solver::gathered;

/// Steps between two visits of the host.
pub(in crate::solver) const BATCH: u64 = 256;
/// Sites of a detector that are gathered one by one; larger regions are summed where they lie.
pub(in crate::solver) const MOST_GATHERED: usize = 1024;

/// As kernels take them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::solver) struct Sites {
    pub steps: u64,
    pub places: u64,
    pub values: u64,
    pub gathers: u64,
    pub record: u64,
    pub set_places: u64,
    pub set_values: u64,
    pub count: i32,
    pub set_count: i32,
    pub set_rows: i32,
}

crate::backend::cuda::parameters!(Sites);

/// The operations of a batch.
pub(in crate::solver) struct SiteEvents<T: OnCuda> {
    steps: Buffer<u32>,
    places: Buffer<u32>,
    values: Buffer<T>,
    gathers: Buffer<u32>,
    record: Buffer<T>,
    set_places: Buffer<u32>,
    set_values: Buffer<T>,
    /// Sites that are overwritten in this batch, and in how many of its steps.
    sets: [usize; 2],
    /// Places that are gathered now: those of detectors, then those of transducers.
    gathered: Vec<u32>,
    /// Whether signals are added in this batch.
    adds: bool,
}

impl<T: OnCuda> SiteEvents<T> {
    /// None yet.
    pub(in crate::solver) fn new(stream: &Stream) -> Result<Self, CudaError> {
        Ok(Self {
            steps: stream.zeros("operations on sites", 1)?,
            places: stream.zeros("operations on sites", 1)?,
            values: stream.zeros("operations on sites", 1)?,
            gathers: stream.zeros("operations on sites", 1)?,
            record: stream.zeros("records", 1)?,
            set_places: stream.zeros("operations on sites", 1)?,
            set_values: stream.zeros("operations on sites", 1)?,
            sets: [0; 2],
            gathered: Vec::new(),
            adds: false,
        })
    }

    /// Whether there are none.
    pub(in crate::solver) fn is_empty(&self) -> bool {
        !self.adds && !self.overwrites() && self.gathered.is_empty()
    }

    /// Whether signals are added.
    pub(in crate::solver) fn adds(&self) -> bool {
        self.adds
    }

    /// Whether sites are overwritten.
    pub(in crate::solver) fn overwrites(&self) -> bool {
        self.sets.iter().all(|count| *count > 0)
    }

    /// Says what is overwritten in the first steps of a batch: `values[step * places + n]`.
    pub(in crate::solver) fn set(&mut self, stream: &Stream, places: &[u32], values: &[T]) -> Result<(), CudaError> {
        self.sets = [places.len(), values.len() / places.len().max(1)];
        if self.overwrites() {
            grow(stream, "operations on sites", &mut self.set_places, places.len())?;
            grow(stream, "operations on sites", &mut self.set_values, values.len())?;
            stream.upload("operations on sites", places, &self.set_places)?;
            stream.upload("operations on sites", values, &self.set_values)?;
        }
        Ok(())
    }

    /// Takes over a batch: `signals` holds, for each moment, places and values in the order in which they are added; `gathered` the places of which there are
    /// records, one a moment at most.
    pub(in crate::solver) fn load(
        &mut self,
        stream: &Stream,
        signals: &mut [Vec<(u32, T)>],
        gathered: &[u32],
    ) -> Result<(), CudaError> {
        let (mut steps, mut places, mut values) = (vec![0_u32], Vec::new(), Vec::new());
        for step in signals.iter_mut() {
            // Several signals at one site stay in their order.
            step.sort_by_key(|(place, _)| *place);
            places.extend(step.iter().map(|(place, _)| *place));
            values.extend(step.iter().map(|(_, value)| *value));
            steps.push(u32::try_from(places.len()).unwrap_or(u32::MAX));
        }
        self.adds = !places.is_empty();
        let gathers_changed = self.gathered != gathered;
        if self.adds || self.overwrites() || !gathered.is_empty() {
            grow(stream, "operations on sites", &mut self.steps, steps.len())?;
            stream.upload("operations on sites", &steps, &self.steps)?;
        }
        if self.adds {
            grow(stream, "operations on sites", &mut self.places, places.len())?;
            grow(stream, "operations on sites", &mut self.values, values.len())?;
            stream.upload("operations on sites", &places, &self.places)?;
            stream.upload("operations on sites", &values, &self.values)?;
        }
        if gathers_changed {
            self.gathered = gathered.to_vec();
            grow(stream, "operations on sites", &mut self.gathers, gathered.len())?;
            stream.upload("operations on sites", gathered, &self.gathers)?;
        }
        grow(stream, "records", &mut self.record, signals.len() * gathered.len())
    }

    /// As kernels take it.
    pub(in crate::solver) fn parameters(&self) -> Sites {
        Sites {
            steps: self.steps.address(),
            places: self.places.address(),
            values: self.values.address(),
            gathers: self.gathers.address(),
            record: self.record.address(),
            set_places: self.set_places.address(),
            set_values: self.set_values.address(),
            count: whole(self.gathered.len()),
            set_count: whole(self.sets[0]),
            set_rows: whole(self.sets[1]),
        }
    }

    /// Hands the records of a batch to the detectors, and what was gathered beside to transducers that listen: `clocks` of its steps, and for each the values of detectors that were summed on the device (of the
    /// others anything).
    pub(in crate::solver) fn record(
        &self,
        stream: &Stream,
        taps: &mut Taps,
        clocks: &[RunClock],
        summed: Vec<Vec<f64>>,
    ) -> Result<(), CudaError> {
        let count = self.gathered.len();
        let mut values = vec![T::zero(); count * summed.len()];
        if count > 0 {
            stream.download("records", &self.record, &mut values)?;
        }
        gathered::hand_over(taps, MOST_GATHERED, &values, clocks, summed);
        Ok(())
    }
}

//! Detectors of sound that sum over regions, or take their largest value: kernels leave a number for 64 × 64 sites after each step at which a detector is due, and these come back once a batch.

use super::operations::{BATCH, MOST_GATHERED};
use super::{blocks_of, whole};
use crate::backend::wgpu::{Bind, Buffer, Kernel, Stream, WgpuError};
use crate::physics::Measure;
use crate::solver::Taps;
use crate::solver::gathered::is_gathered;
use crate::solver::taps::Tap;
use bytemuck::Pod;

/// Columns and rows of a number.
pub(in crate::solver) const PATCH: usize = 64;
/// Numbers of a region that are kept until they are fetched, where one step has no more.
const MOST_NUMBERS: usize = 1 << 22;

/// What kernels call a measure.
pub(in crate::solver) fn kind(measure: Measure) -> i32 {
    match measure {
        Measure::Energy => 0,
        Measure::Flux => 1,
        Measure::Value | Measure::Velocity | Measure::Pressure => 2,
        Measure::Probability => 3,
        Measure::Peak => 4,
    }
}

/// A detector's region, for the table of a kernel.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct Extent {
    pub lo: [usize; 3],
    pub hi: [usize; 3],
    /// Numbers side by side, and from row to row of them.
    pub count: [usize; 2],
}

impl Extent {
    /// Sites from `lo` to before `hi`.
    pub(in crate::solver) fn new([lo, hi]: [[usize; 3]; 2]) -> Self {
        let rows = (hi[1] - lo[1]) * (hi[2] - lo[2]);
        let count = [(hi[0] - lo[0]).div_ceil(PATCH), rows.div_ceil(PATCH)];
        Self { lo, hi, count }
    }

    /// Numbers side by side, and all of them.
    pub(in crate::solver) fn counts(&self) -> [i32; 2] {
        [self.count[0], self.count[0] * self.count[1]].map(whole)
    }
}

/// A detector that sums, and its numbers of the steps of a batch.
struct Summed {
    tap: usize,
    region: Tap,
    /// Blocks, each of which has a number.
    count: usize,
    table: Buffer,
    numbers: Buffer,
    /// Steps of the batch that left numbers here, in order.
    steps: Vec<usize>,
    /// What the kernel is given where the field lies in one or another of its places, once it was asked for.
    binds: [Option<Bind>; 4],
}

/// Detectors that sum.
#[derive(Default)]
pub(in crate::solver) struct Detectors {
    taps: Vec<Tap>,
    all: Vec<Summed>,
    time_step: f64,
}

impl Detectors {
    /// Those of `taps` that do; `entry` is what the kernel's table has, in 256 bytes, of a detector whose numbers begin at the number that is given.
    pub(in crate::solver) fn new<P: Pod>(
        stream: &Stream,
        (taps, time_step): (&Taps, f64),
        entry: impl Fn(&Tap, &Extent, usize) -> P,
    ) -> Result<Self, WgpuError> {
        debug_assert_eq!(size_of::<P>(), 256);
        let mut all = Vec::new();
        let asked = |(_, tap): &(usize, &Tap)| !is_gathered(tap, MOST_GATHERED);
        for (n, tap) in taps.taps().iter().enumerate().filter(asked) {
            let Some(sites) = tap.summed_sites() else { continue };
            let extent = Extent::new(sites);
            let count = extent.count[0] * extent.count[1];
            let room = Self::room(count);
            let table: Vec<P> = (0..room).map(|step| entry(tap, &extent, step * count)).collect();
            all.push(Summed {
                tap: n,
                region: tap.clone(),
                count,
                table: stream.list("regions", &table)?,
                numbers: stream.zeros::<f32>("sums", room * count)?,
                steps: Vec::new(),
                binds: Default::default(),
            });
        }
        Ok(Self {
            taps: taps.taps().to_vec(),
            all,
            time_step,
        })
    }

    /// Steps of a batch of which there is room for `count` numbers each.
    fn room(count: usize) -> usize {
        (MOST_NUMBERS / count).clamp(1, BATCH)
    }

    /// Steps that a batch may have.
    pub(in crate::solver) fn most_steps(&self) -> u64 {
        let rooms = self.all.iter().map(|summed| Self::room(summed.count));
        rooms.min().unwrap_or(BATCH) as u64
    }

    /// Whether they are those of these detectors, at this Δt.
    pub(in crate::solver) fn are_of(&self, taps: &Taps, time_step: f64) -> bool {
        self.taps == taps.taps() && self.time_step.to_bits() == time_step.to_bits()
    }

    /// Queues what those that are due sum after step `n` of a batch. `place`: where the field lies now, below 4; `bind`: what the kernel is given there, with the numbers and the table of a
    /// detector, which asks for the sound's energy or flux or not.
    pub(in crate::solver) fn sum(
        &mut self,
        (stream, kernel): (&Stream, &Kernel),
        (n, place): (usize, usize),
        is_due: impl Fn(usize) -> bool,
        bind: impl Fn(bool, &Buffer, &Buffer) -> Bind,
    ) -> Result<(), WgpuError> {
        for summed in self.all.iter_mut().filter(|summed| is_due(summed.tap)) {
            let made = || bind(summed.region.moves(), &summed.numbers, &summed.table);
            let bind = summed.binds[place].get_or_insert_with(made);
            let blocks = blocks_of(stream.device(), summed.count);
            stream.launch(kernel, bind, Some(summed.steps.len()), blocks)?;
            summed.steps.push(n);
        }
        Ok(())
    }

    /// The sums in a batch: for each of its steps a value a detector, which is 0 where it does not sum, or not then. `scale`: what multiplies a kernel's sums of a measure.
    pub(in crate::solver) fn take(
        &mut self,
        stream: &Stream,
        steps: usize,
        scale: impl Fn(Measure) -> f64,
    ) -> Result<Vec<Vec<f64>>, WgpuError> {
        let mut records = vec![vec![0.0; self.taps.len()]; steps];
        for summed in &mut self.all {
            let count = summed.count;
            let mut numbers = vec![0.0f32; count * summed.steps.len()];
            if numbers.is_empty() {
                continue;
            }
            stream.download("sums", &summed.numbers, 0, &mut numbers)?;
            let measure = summed.region.measure;
            for (step, numbers) in summed.steps.drain(..).zip(numbers.chunks_exact(count)) {
                let numbers = numbers.iter().copied().map(f64::from);
                let sum = match measure {
                    Measure::Peak => numbers.fold(0.0, f64::max),
                    _ => scale(measure) * numbers.sum::<f64>(),
                };
                records[step][summed.tap] = summed.region.acoustic_of(sum);
            }
        }
        Ok(records)
    }

    /// Bytes held.
    pub(in crate::solver) fn bytes(&self) -> u64 {
        let own = |summed: &Summed| summed.table.bytes() + summed.numbers.bytes();
        self.all.iter().map(own).sum()
    }
}

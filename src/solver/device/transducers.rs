//! Transducers of fields that are two planes on the device (`kernels/touch.cuh`): what they play is computed, and what they recorded is read back, once a batch of steps.

use super::events::BATCH;
use super::rows::grow;
use super::whole;
use crate::backend::cuda::{Buffer, CudaError, Kind, Stream};
use crate::field::Real;
use crate::solver::Taps;
use crate::solver::transducers::Act;
use num_complex::Complex64;

/// Bytes of signals or records of a batch.
const ROOM: usize = 64 << 20;
/// Threads of a block of the kernels that touch sites.
pub(in crate::solver) const THREADS: u32 = 256;

crate::backend::cuda::parameters! {
    /// One step of transducers, as kernels take it.
    pub(in crate::solver) struct Touch {
        pub places: u64,
        pub signal: u64,
        pub record: u64,
        pub count: i32,
        pub act: i32,
    }
}

impl Touch {
    /// Blocks of [`THREADS`] with a thread a site.
    pub(in crate::solver) fn blocks(&self) -> (u32, u32, u32) {
        (self.count.unsigned_abs().div_ceil(THREADS), 1, 1)
    }
}

/// The work of transducers in a batch of steps.
pub(in crate::solver) struct DeviceTransducers<T: Real + Kind> {
    /// Those on the device.
    known: Vec<u32>,
    places: Buffer<u32>,
    signal: Buffer<T>,
    record: Buffer<T>,
    act: Act,
    /// Steps after which they do something, from the first on.
    steps: usize,
}

impl<T: Real + Kind> DeviceTransducers<T> {
    /// Without transducers.
    pub(in crate::solver) fn new(stream: &Stream) -> Result<Self, CudaError> {
        Ok(Self {
            known: Vec::new(),
            places: stream.zeros("transducers", 1)?,
            signal: stream.zeros("signals of transducers", 1)?,
            record: stream.zeros("records of transducers", 1)?,
            act: Act::Record,
            steps: 0,
        })
    }

    /// Maximum number of steps of a batch.
    pub(in crate::solver) fn most(taps: &Taps) -> u64 {
        let sites = taps.transducers().map_or(0, |own| own.sites().len());
        let step = 2 * sites.max(1) * size_of::<T>();
        BATCH.min((ROOM / step).max(1) as u64)
    }

    /// Prepares the next `steps` steps. `place`: the place of a site, `None` for one that is silent; `numbers`: the numbers of a value for both planes of its site.
    pub(in crate::solver) fn prepare(
        &mut self,
        stream: &Stream,
        taps: &Taps,
        steps: usize,
        place: impl Fn(usize) -> Option<u32>,
        numbers: impl Fn(usize, Complex64) -> [f64; 2],
    ) -> Result<(), CudaError> {
        self.steps = 0;
        let Some(own) = taps.transducers().filter(|own| !own.is_idle()) else {
            return Ok(());
        };
        let row = own.sites().len();
        let all: Vec<Option<u32>> = own.sites().iter().map(|site| place(*site)).collect();
        let places: Vec<u32> = all.iter().flatten().copied().collect();
        if self.known != places {
            if !places.is_empty() {
                grow(stream, "transducers", &mut self.places, places.len())?;
                stream.upload("transducers", &places, &self.places)?;
            }
            self.known = places;
        }
        self.act = own.act();
        if self.act == Act::Record {
            self.steps = steps;
            return grow(
                stream,
                "records of transducers",
                &mut self.record,
                2 * self.known.len() * steps,
            );
        }
        let ahead = own.ahead().chunks_exact(row).take(steps);
        self.steps = ahead.len();
        let values: Vec<T> = ahead
            .flat_map(|values| own.sites().iter().zip(&all).zip(values))
            .filter(|((_, place), _)| place.is_some())
            .flat_map(|((site, _), value)| numbers(*site, *value).map(T::of))
            .collect();
        if values.is_empty() {
            return Ok(());
        }
        grow(stream, "signals of transducers", &mut self.signal, values.len())?;
        stream.upload("signals of transducers", &values, &self.signal)
    }

    /// The work after step `step` of the batch; `None` if there is none.
    pub(in crate::solver) fn after(&self, step: usize) -> Option<Touch> {
        let count = self.known.len();
        let first = (2 * step * count * size_of::<T>()) as u64;
        let hears = self.act == Act::Record;
        (step < self.steps && count > 0).then(|| Touch {
            places: self.places.address(),
            signal: if hears { 0 } else { self.signal.address() + first },
            record: if hears { self.record.address() + first } else { 0 },
            count: whole(count),
            // As `kernels/touch.cuh` numbers them.
            act: match self.act {
                Act::Record => 0,
                Act::Add => 1,
                Act::Overwrite => 2,
            },
        })
    }

    /// The places of the batch, in the order of its numbers, and the steps after which they act.
    pub(in crate::solver) fn places(&self) -> (&[u32], usize) {
        (if self.steps > 0 { &self.known } else { &[] }, self.steps)
    }

    /// Whether anything is done after step `step` of the batch.
    pub(in crate::solver) fn acts(&self, step: usize) -> bool {
        step < self.steps
    }

    /// Notes what was recorded and played in the batch, once its steps are queued.
    pub(in crate::solver) fn finish(&mut self, stream: &Stream, taps: &mut Taps) -> Result<(), CudaError> {
        let steps = std::mem::take(&mut self.steps);
        let Some(own) = taps.transducers_mut().as_mut().filter(|_| steps > 0) else {
            return Ok(());
        };
        if self.act != Act::Record {
            own.pass(steps);
            return Ok(());
        }
        let mut numbers = vec![T::zero(); 2 * self.known.len() * steps];
        if !numbers.is_empty() {
            stream.download("records of transducers", &self.record, &mut numbers)?;
        }
        let pairs = numbers.as_chunks::<2>().0.iter();
        let heard: Vec<Complex64> = pairs.map(|[a, b]| Complex64::new(a.wide(), b.wide())).collect();
        own.hear(&heard);
        Ok(())
    }
}

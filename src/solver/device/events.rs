//! Operations on single sites between steps: signals to add, sites to overwrite and to gather (`kernels/sites.cuh`). Signals are computed, and records read back, once a batch of
//! steps.

use super::rows::grow;
use super::{OnCuda, unsigned, whole};
use crate::backend::cuda::{Buffer, CudaError, Kernel, PinnedBuffer, Stream};
use crate::solver::Taps;
use crate::solver::clock::RunClock;
use crate::solver::gathered;
use crate::solver::taps::RowNumbers;
use std::borrow::Cow;

/// What is added at the same sites after every step of a batch: site n plays `shares[n]` of what channel `channels[n]` does, times `factor`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::solver) struct Players {
    /// Ascending; several at one site stand in the order in which they are added.
    pub places: Vec<u32>,
    pub channels: Vec<u32>,
    pub shares: Vec<f64>,
    pub factor: f64,
}

impl Players {
    /// From place, channel and share of each, in the order in which they are added.
    pub(in crate::solver) fn new(mut all: Vec<(u32, u32, f64)>, factor: f64) -> Self {
        all.sort_by_key(|(place, ..)| *place);
        Self {
            places: all.iter().map(|(place, ..)| *place).collect(),
            channels: all.iter().map(|(_, channel, _)| *channel).collect(),
            shares: all.iter().map(|(.., share)| *share).collect(),
            factor,
        }
    }
}

/// Maximum number of steps of a batch.
pub(in crate::solver) const BATCH: u64 = 1024;
/// Sites of a detector that are gathered one by one; larger regions are summed on the device.
pub(in crate::solver) const MOST_GATHERED: usize = 1024;

crate::backend::cuda::parameters! {
    /// As kernels take them.
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
        pub adds: i32,
    }
}

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
    /// Places that are gathered, ascending, the position of each in the request, and the length of the request. What is gathered beside it goes no further than the records of a batch.
    gathered: Vec<u32>,
    order: Vec<u32>,
    asked: usize,
    /// Places that are gathered for kernels.
    beside: Vec<u32>,
    /// Places that are overwritten.
    overwritten: Vec<u32>,
    /// Whether signals are added in this batch.
    adds: bool,
    /// The players on the device, and whether they are used in this batch.
    players: Players,
    plays: bool,
    channels: Buffer<u32>,
    shares: Buffer<f64>,
    strengths: Buffer<f64>,
    played: Buffer<T>,
    played_places: Buffer<u32>,
    /// Host memory for records, free for the next batch.
    landings: Vec<PinnedBuffer<T>>,
}

/// Records of a batch on their way to the host, while the next one is stepped.
pub(in crate::solver) struct Sent<T: OnCuda> {
    landing: Option<PinnedBuffer<T>>,
    /// The position of each in the request and the request's length, where that is not all in ascending order.
    order: Option<(Vec<u32>, usize)>,
    clocks: Vec<RunClock>,
    /// For each moment the values of detectors that were summed on the device; of the others anything.
    summed: Vec<Vec<f64>>,
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
            order: Vec::new(),
            asked: 0,
            beside: Vec::new(),
            overwritten: Vec::new(),
            adds: false,
            players: Players::default(),
            plays: false,
            channels: stream.zeros("sources", 1)?,
            shares: stream.zeros("sources", 1)?,
            strengths: stream.zeros("sources", 1)?,
            played: stream.zeros("sources", 1)?,
            played_places: stream.zeros("sources", 1)?,
            landings: Vec::new(),
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

    /// Places at which the same players add after every step; `None` where every step has its own.
    pub(in crate::solver) fn players(&self) -> Option<&[u32]> {
        self.plays.then_some(&self.players.places)
    }

    /// Places that are gathered, ascending.
    pub(in crate::solver) fn gathers(&self) -> &[u32] {
        &self.gathered
    }

    /// Places that are overwritten, in the order of the request.
    pub(in crate::solver) fn overwritten(&self) -> &[u32] {
        if self.overwrites() { &self.overwritten } else { &[] }
    }

    /// Sets the places that the next batches gather for the device alone.
    pub(in crate::solver) fn gather_beside(&mut self, places: &[u32]) {
        self.beside = places.to_vec();
    }

    /// Sets the values that overwrite sites in the first steps of a batch: `values[step * places + n]`.
    pub(in crate::solver) fn set(&mut self, stream: &Stream, places: &[u32], values: &[T]) -> Result<(), CudaError> {
        self.sets = [places.len(), values.len() / places.len().max(1)];
        if self.overwrites() {
            grow(stream, "operations on sites", &mut self.set_values, values.len())?;
            stream.upload("operations on sites", values, &self.set_values)?;
            if self.overwritten != places {
                grow(stream, "operations on sites", &mut self.set_places, places.len())?;
                stream.upload("operations on sites", places, &self.set_places)?;
                self.overwritten = places.to_vec();
            }
        }
        Ok(())
    }

    /// Takes over a batch of `steps` steps in which `players` add; `strengths[step * channels + channel]`. `kernel` is `play`. Otherwise as [`SiteEvents::load`].
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(in crate::solver) fn load_players(
        &mut self,
        stream: &Stream,
        kernel: &Kernel,
        (players, strengths): (Players, &[f64]),
        steps: usize,
        gathered: &[u32],
    ) -> Result<(), CudaError> {
        let what = "sources";
        let adds = players.places.len();
        if self.players != players {
            grow(stream, what, &mut self.played_places, adds)?;
            grow(stream, what, &mut self.channels, adds)?;
            grow(stream, what, &mut self.shares, adds)?;
            stream.upload(what, &players.places, &self.played_places)?;
            stream.upload(what, &players.channels, &self.channels)?;
            stream.upload(what, &players.shares, &self.shares)?;
            self.players = players;
        }
        grow(stream, what, &mut self.strengths, strengths.len())?;
        grow(stream, what, &mut self.played, adds * steps)?;
        stream.upload(what, strengths, &self.strengths)?;
        (self.adds, self.plays) = (true, true);
        let [channels, shares, all, values] = [
            self.channels.address(),
            self.shares.address(),
            self.strengths.address(),
            self.played.address(),
        ];
        debug_assert!(
            self.players.channels.len() == adds && strengths.len().is_multiple_of(steps.max(1)),
            "{adds} sites"
        );
        let (count, total) = (whole(adds), unsigned(adds * steps));
        let (channel_count, factor) = (whole(strengths.len() / steps.max(1)), self.players.factor);
        // SAFETY: the arguments are those of `play`; every channel of a player has a strength in each step, and `played` has room for all values.
        unsafe {
            stream.launch(kernel, (total.div_ceil(256).min(4096), 1, 1), 256, |launch| {
                launch.arg(&channels).arg(&shares).arg(&all).arg(&channel_count);
                launch.arg(&factor).arg(&count).arg(&total).arg(&values);
            })?;
        }
        self.gather(stream, steps, gathered)
    }

    /// Sets the places that a batch gathers.
    #[expect(clippy::cast_possible_truncation, reason = "fewer sites than 2^32")]
    fn gather(&mut self, stream: &Stream, steps: usize, gathered: &[u32]) -> Result<(), CudaError> {
        self.asked = gathered.len();
        let gathered = &[gathered, &self.beside].concat();
        let mut order: Vec<u32> = (0..gathered.len() as u32).collect();
        order.sort_by_key(|n| gathered[*n as usize]);
        let places: Vec<u32> = order.iter().map(|n| gathered[*n as usize]).collect();
        if self.gathered != places {
            grow(stream, "operations on sites", &mut self.gathers, places.len())?;
            stream.upload("operations on sites", &places, &self.gathers)?;
        }
        (self.gathered, self.order) = (places, order);
        grow(stream, "records", &mut self.record, steps * gathered.len())
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
            steps.push(unsigned(places.len()));
        }
        self.adds = !places.is_empty();
        self.plays = false;
        if self.adds || self.overwrites() || !gathered.is_empty() || !self.beside.is_empty() {
            grow(stream, "operations on sites", &mut self.steps, steps.len())?;
            stream.upload("operations on sites", &steps, &self.steps)?;
        }
        if self.adds {
            grow(stream, "operations on sites", &mut self.places, places.len())?;
            grow(stream, "operations on sites", &mut self.values, values.len())?;
            stream.upload("operations on sites", &places, &self.places)?;
            stream.upload("operations on sites", &values, &self.values)?;
        }
        self.gather(stream, signals.len(), gathered)
    }

    /// As kernels take it.
    pub(in crate::solver) fn parameters(&self) -> Sites {
        Sites {
            steps: self.steps.address(),
            places: if self.plays {
                self.played_places.address()
            } else {
                self.places.address()
            },
            values: if self.plays {
                self.played.address()
            } else {
                self.values.address()
            },
            gathers: self.gathers.address(),
            record: self.record.address(),
            set_places: self.set_places.address(),
            set_values: self.set_values.address(),
            count: whole(self.gathered.len()),
            set_count: whole(self.sets[0]),
            set_rows: whole(self.sets[1]),
            adds: if self.plays {
                whole(self.players.places.len())
            } else {
                0
            },
        }
    }

    /// Begins to copy the records of a batch to the host, behind its steps: `clocks` of these, and for each the values of detectors that were summed on the device.
    pub(in crate::solver) fn send(
        &mut self,
        stream: &Stream,
        clocks: Vec<RunClock>,
        summed: Vec<Vec<f64>>,
    ) -> Result<Sent<T>, CudaError> {
        let count = self.gathered.len() * clocks.len();
        let mut landing = None;
        if count > 0 && self.asked > 0 {
            let free = self.landings.pop().filter(|free| free.room() >= count);
            let mut room = match free {
                Some(free) => free,
                None => stream.pinned("records", count.next_power_of_two())?,
            };
            stream.send("records", &self.record, count, &mut room)?;
            landing = Some(room);
        }
        let as_asked = self.order.is_sorted() && self.beside.is_empty();
        Ok(Sent {
            landing,
            order: (!as_asked).then(|| (self.order.clone(), self.asked)),
            clocks,
            summed,
        })
    }

    /// Waits for the records of a batch and hands them to the detectors, and what was gathered beside to transducers that record.
    pub(in crate::solver) fn receive(
        &mut self,
        stream: &Stream,
        taps: &mut Taps,
        sent: Sent<T>,
    ) -> Result<(), CudaError> {
        let landed = match &sent.landing {
            Some(landing) => stream.landed(landing)?,
            None => &[],
        };
        let values = match &sent.order {
            Some((order, asked)) => Cow::Owned(in_order(order, *asked, landed)),
            None => Cow::Borrowed(landed),
        };
        gathered::hand_over(taps, MOST_GATHERED, &values, &sent.clocks, sent.summed);
        self.landings.extend(sent.landing);
        Ok(())
    }

    /// Hands the records of a batch to the detectors, and what was gathered beside to transducers that record: `clocks` of its steps, and for each the values of detectors that were summed on the device (of the
    /// others anything).
    pub(in crate::solver) fn record(
        &self,
        stream: &Stream,
        taps: &mut Taps,
        clocks: &[RunClock],
        summed: Vec<Vec<f64>>,
    ) -> Result<(), CudaError> {
        let values = self.gathered_values(stream, summed.len())?;
        gathered::hand_over(taps, MOST_GATHERED, &values, clocks, summed);
        Ok(())
    }

    /// The same in a part of a grid of `ny` rows a plane: for each step the rows of detectors that were summed.
    pub(in crate::solver) fn record_rows(
        &self,
        stream: &Stream,
        taps: &mut Taps,
        clocks: &[RunClock],
        (summed, ny): (Vec<Vec<RowNumbers>>, usize),
    ) -> Result<(), CudaError> {
        let values = self.gathered_values(stream, summed.len())?;
        gathered::hand_over_rows(taps, (MOST_GATHERED, ny), &values, clocks, summed);
        Ok(())
    }

    /// The gathered values of so many steps, in the order of the request.
    fn gathered_values(&self, stream: &Stream, steps: usize) -> Result<Vec<T>, CudaError> {
        let mut sorted = vec![T::zero(); self.gathered.len() * steps];
        if !sorted.is_empty() {
            stream.download("records", &self.record, &mut sorted)?;
        }
        Ok(in_order(&self.order, self.asked, &sorted))
    }
}

/// Reorders the values of single moments from ascending places to the order of the request, which is `asked` long; `order`: the position of each in the request, or behind it.
fn in_order<T: Copy>(order: &[u32], asked: usize, sorted: &[T]) -> Vec<T> {
    let count = order.len().max(1);
    let mut places = vec![0; asked];
    for (place, n) in order.iter().enumerate() {
        if let Some(to) = places.get_mut(*n as usize) {
            *to = place;
        }
    }
    let of_step = |values: &[T]| places.iter().map(|place| values[*place]).collect::<Vec<T>>();
    sorted.chunks_exact(count).flat_map(of_step).collect()
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn values_come_in_the_order_in_which_they_were_asked_for() {
        assert_eq!(in_order(&[2, 0, 1], 3, &[1, 2, 3, 4, 5, 6]), [2, 3, 1, 5, 6, 4]);
        assert_eq!(in_order(&[2, 0, 1], 2, &[1, 2, 3, 4, 5, 6]), [2, 3, 5, 6]);
        assert!(in_order::<u8>(&[], 0, &[]).is_empty());
    }
}

//! Records the values of detectors after every step, also while several steps are fused.
//!
//! A stepper hands over rows of φ as they leave a step, piece by piece and in any order; two kinds of reading keep what a record needs of them:
//!
//! - *Sums* (probability) and *peaks* keep one number a row and [`CHUNK`] columns ([`Partials`]).
//! - *Copies* (value, flux, energy) keep the sites, and those of the neighbours, for formulas that need amplitudes.
//!
//! Memory: 8 B a row, chunk and step for sums, 16 B a site and step for copies; [`Recorder::depth`] limits the steps so that all of it
//! stays small beside the field. Sums over all sites ([`WholeSums`]) take 40 B a row, chunk and step, as much as the field at most, and tables 1.5 times that.

use super::measure::ReadRow;
use super::media::Media;
use super::whole_sums::WholeSums;
use crate::field::Real;
use crate::grid::Grid;
use crate::physics::Measure;
use crate::solver::Taps;
use crate::solver::events::{Partials, Reduction, Sites, reduce_chunk};
use crate::solver::taps::{RowNumbers, Tap};
use crate::solver::tiling::CHUNK;
use crate::solver::transducers::Act;
use num_complex::Complex;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Buffers may always be as large as this.
const LEAST_ROOM: usize = 4 << 20;
/// No weights for a chunk.
pub(super) const NONE: u32 = u32::MAX;

/// The detectors of a run, with buffers for a few steps.
pub(super) struct Recorder<T> {
    taps: Vec<Tap>,
    readings: Vec<Reading<T>>,
    /// Sums over all sites, where the stepper takes them within steps.
    whole: Option<WholeSums<T>>,
    depth: usize,
    /// Copies of even one step would be too large: amplitudes are read from the field itself, step by step.
    direct: bool,
    /// An adapter hands over sums and maxima of whole steps.
    summed: bool,
    heard: Heard,
    grid: Grid,
}

/// φ at the sites that transducers hear, after each of some steps.
struct Heard {
    /// Ascending.
    sites: Arc<[usize]>,
    /// Bits of doubles: `[2 * (step * sites + n)]`, re and im.
    slots: Vec<AtomicU64>,
}

/// The part of the sites of a tap that is kept.
pub(super) struct Reading<T> {
    tap: usize,
    /// Whether it records, for each step of the batch.
    due: Vec<bool>,
    kept: Kept,
    weights: Arc<Weights<T>>,
}

/// |ψ|²/|φ|² of the sites that absorb.
#[derive(Debug, Default)]
pub(super) struct Weights<T> {
    /// Of all chunks that have any, one after the other.
    pub(super) values: Vec<T>,
    /// Where those of each chunk begin, or [`NONE`]; empty where nothing absorbs.
    pub(super) at: Vec<u32>,
}

enum Kept {
    Reduced(Partials),
    Copy(Copies),
}

/// Amplitudes of sites after each of some steps: bits of doubles, re and im in turn. Blocks of a pass write different places.
struct Copies {
    sites: Sites,
    slots: Vec<AtomicU64>,
}

impl Copies {
    /// Numbers of a step.
    fn per_step(&self) -> usize {
        2 * self.sites.rows() * (self.sites.hi[0] - self.sites.lo[0])
    }
}

impl<T: Real> Recorder<T> {
    /// Buffers for the records of `taps` in at most `fused` steps; `open_damping` is the time of absorption that φ has had and ψ has not. `whole`: the sums over all sites that are asked for as
    /// well; `summed`: whether an adapter hands over those of regions, of whole steps.
    pub(super) fn new(
        grid: &Grid,
        media: &Media<T>,
        open_damping: f64,
        (taps, fused): (&Taps, usize),
        (mut whole, summed): (Option<WholeSums<T>>, bool),
    ) -> Self {
        let heard = listeners(taps);
        let taps = taps.taps();
        let mut readings: Vec<Reading<T>> = Vec::new();
        for (n, tap) in taps.iter().enumerate() {
            let sites = Sites { lo: tap.lo, hi: tap.hi };
            match tap.measure {
                Measure::Probability | Measure::Pressure => {
                    readings.push(Reading::new(n, Kept::Reduced(Partials::new(sites, Reduction::Squares))));
                }
                Measure::Peak => {
                    readings.push(Reading::new(n, Kept::Reduced(Partials::new(sites, Reduction::Largest))));
                }
                Measure::Value | Measure::Velocity | Measure::Flux | Measure::Energy => {
                    readings.extend(copied(grid, tap).into_iter().map(|(lo, hi)| {
                        let slots = Vec::new();
                        let sites = Sites { lo, hi };
                        Reading::new(n, Kept::Copy(Copies { sites, slots }))
                    }));
                }
            }
        }
        let room = (grid.sites() * size_of::<T>() / 2).max(LEAST_ROOM);
        let copies: usize = (readings.iter().filter(|reading| reading.copies().is_some()))
            .map(|reading| reading.per_step() * 8)
            .sum();
        let direct = copies > room;
        if direct {
            readings.retain(|reading| reading.copies().is_none());
        }
        let kept = |reading: &Reading<T>| {
            if summed && reading.copies().is_none() {
                1
            } else {
                reading.per_step()
            }
        };
        let bytes = readings.iter().map(kept).sum::<usize>() * 8 + heard.len() * 16;
        // Sums over all sites in all steps may become as large as the field: shorter passes would cost more.
        let field = 4 * room;
        let sums = whole.as_ref().map_or(1, |whole| 8 * whole.per_step().max(1));
        let depth = if direct {
            1
        } else {
            (room / bytes.max(1)).min(field / sums).clamp(1, fused.max(1))
        };
        for reading in &mut readings {
            reading.make_room(depth, summed);
            if media.absorbs() && reading.copies().is_none() {
                reading.weigh(grid, media, open_damping);
            }
        }
        if let Some(whole) = &mut whole {
            whole.make_room(depth);
        }
        Self {
            taps: taps.to_vec(),
            readings,
            whole,
            depth,
            direct,
            summed,
            heard: Heard {
                slots: (0..2 * depth * heard.len()).map(|_| AtomicU64::default()).collect(),
                sites: heard,
            },
            grid: grid.clone(),
        }
    }

    /// Whether it was made for these taps.
    pub(super) fn fits(&self, taps: &Taps) -> bool {
        let observes = self.whole.is_some() || taps.observed_every().is_none();
        observes && self.taps == taps.taps() && self.heard.sites == listeners(taps)
    }

    /// Columns from the first to the last that transducers record among those of a row.
    #[inline(always)]
    pub(super) fn heard_columns(&self, j: usize, k: usize, x: &Range<usize>) -> Option<Range<usize>> {
        let (first, sites) = self.heard_of(j, k, x);
        let last = sites.last()?;
        let nx = self.grid.size()[0];
        Some(self.heard.sites[first] % nx..last % nx + 1)
    }

    /// The number of the first site that is recorded among columns `x` of a row, and all of them.
    fn heard_of(&self, j: usize, k: usize, x: &Range<usize>) -> (usize, &[usize]) {
        let [nx, ny, _] = self.grid.size();
        let row = (j + ny * k) * nx;
        let sites = &self.heard.sites;
        let first = sites.partition_point(|site| *site < row + x.start);
        let count = sites[first..].partition_point(|site| *site < row + x.end);
        (first, &sites[first..first + count])
    }

    /// Takes what is recorded among sites x0.. of row (j, k) of φ after step `step` of a batch.
    pub(super) fn hear(&self, step: usize, j: usize, k: usize, x0: usize, re: &[T], im: &[T]) {
        let nx = self.grid.size()[0];
        let (first, sites) = self.heard_of(j, k, &(x0..x0 + re.len()));
        let place = 2 * (step * self.heard.sites.len() + first);
        for (slot, site) in self.heard.slots[place..].chunks_exact(2).zip(sites) {
            let at = site % nx - x0;
            slot[0].store(re[at].wide().to_bits(), Relaxed);
            slot[1].store(im[at].wide().to_bits(), Relaxed);
        }
    }

    /// The sites that are recorded, and φ there after step `step` of a batch.
    pub(super) fn heard(&self, step: usize) -> impl Iterator<Item = (usize, Complex<T>)> {
        let count = 2 * self.heard.sites.len();
        let slots = self.heard.slots[step * count..(step + 1) * count].chunks_exact(2);
        self.heard.sites.iter().copied().zip(slots.map(|slot| {
            let number = |n: usize| T::of(f64::from_bits(slot[n].load(Relaxed)));
            Complex::new(number(0), number(1))
        }))
    }

    /// Steps that the buffers hold.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether amplitudes must be read from the field.
    pub(super) fn direct(&self) -> bool {
        self.direct
    }

    /// Begins a batch of steps, see [`WholeSums::begin`]. `records`: whether a tap does after a step; what others read is left out.
    pub(super) fn begin(&mut self, steps: usize, due: impl Fn(usize) -> bool, records: impl Fn(usize, usize) -> bool) {
        for reading in &mut self.readings {
            reading.due.clear();
            reading.due.extend((0..steps).map(|step| records(step, reading.tap)));
        }
        if let Some(sums) = &mut self.whole {
            sums.begin(steps, due);
        }
    }

    /// Sums over all sites that are taken within steps.
    pub(super) fn whole(&self) -> Option<&WholeSums<T>> {
        self.whole.as_ref()
    }

    pub(super) fn readings(&self) -> &[Reading<T>] {
        &self.readings
    }

    /// Reads a whole field after step `step` of a batch.
    pub(super) fn see(&self, step: usize, read: ReadRow<T>) {
        self.see_some(step, read, |_| true);
    }

    /// Makes sums and maxima of the first `steps` steps of a batch NaN, which they stay where an adapter that was to hand them over fails.
    #[cfg(feature = "gui")]
    pub(super) fn await_totals(&self, steps: usize) {
        let partials = self.readings.iter().filter_map(Reading::partials);
        // What has no sites is handed over by nobody and is 0.
        for partials in partials.filter(|partials| partials.per_step() > 0) {
            (0..steps).for_each(|step| partials.put_total(step, Some(f64::NAN)));
        }
    }

    /// [`Self::see`] without sums and maxima, which an adapter has made.
    #[cfg(feature = "gui")]
    pub(super) fn see_amplitudes(&self, step: usize, read: ReadRow<T>) {
        self.see_some(step, read, |reading| reading.copies().is_some());
    }

    fn see_some(&self, step: usize, read: ReadRow<T>, is_read: impl Fn(&Reading<T>) -> bool) {
        let ny = self.grid.size()[1];
        for reading in self
            .readings
            .iter()
            .filter(|reading| reading.is_due(step) && is_read(reading))
        {
            let own = reading.sites();
            if let Some(partials) = reading.partials().filter(|_| self.summed) {
                partials.put_total(step, None);
            }
            (0..own.rows())
                .into_par_iter()
                .with_min_len(8)
                .for_each_init(Apart::default, |apart, n| {
                    let (j, k) = own.row(n);
                    let x = own.lo[0]..own.hi[0];
                    let [re, im] = apart.read(x.clone(), &|x, out| read(j + ny * k, x, out));
                    reading.take(step, j, k, x.start, re, im);
                });
        }
        if self.heard.sites.is_empty() {
            return;
        }
        let nx = self.grid.size()[0];
        let count = 2 * self.heard.sites.len();
        let slots = self.heard.slots[step * count..(step + 1) * count].chunks_exact(2);
        for (site, slot) in self.heard.sites.iter().zip(slots) {
            let mut phi = [Complex::default()];
            read(site / nx, site % nx..site % nx + 1, &mut phi);
            slot[0].store(phi[0].re.wide().to_bits(), Relaxed);
            slot[1].store(phi[0].im.wide().to_bits(), Relaxed);
        }
    }

    /// Reads a row as it leaves step `step` of a batch; `read` gives some of its sites.
    pub(super) fn see_row(&self, step: usize, row: usize, read: ReadSites<T>) {
        let [nx, ny, _] = self.grid.size();
        let (j, k) = (row % ny, row / ny);
        let mut apart = Apart::default();
        for reading in &self.readings {
            if let Some(x) = reading.overlap(step, j, k, &(0..nx)) {
                let [re, im] = apart.read(x.clone(), read);
                reading.take(step, j, k, x.start, re, im);
            }
        }
        if let Some(x) = self.heard_columns(j, k, &(0..nx)) {
            let [re, im] = apart.read(x.clone(), read);
            self.hear(step, j, k, x.start, re, im);
        }
    }

    /// The sum or peak of a tap after step `step` of a batch; `None` for one that needs amplitudes.
    pub(super) fn reduced(&self, step: usize, tap: usize) -> Option<f64> {
        let own = self.readings.iter().filter(|reading| reading.tap == tap);
        own.filter_map(Reading::partials)
            .map(|partials| partials.reduced(step))
            .next()
    }

    /// The same row by row, with the rows' numbers.
    pub(super) fn reduced_rows(&self, step: usize, tap: usize) -> Option<RowNumbers> {
        let mut own = self.readings.iter().filter(|reading| reading.tap == tap);
        let partials = own.find_map(Reading::partials)?;
        let ny = self.grid.size()[1];
        let number = |n: usize| {
            let (j, k) = partials.sites.row(n);
            j + ny * k
        };
        Some(
            partials
                .rows(step)
                .enumerate()
                .map(|(n, row)| (number(n), row))
                .collect(),
        )
    }

    /// Copied sites of a row after step `step` of a batch; 0 where nothing was copied.
    pub(super) fn read(&self, step: usize, tap: usize, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        let ny = self.grid.size()[1];
        let (j, k) = (row % ny, row / ny);
        out.fill(Complex::default());
        let own = self.readings.iter().filter(|reading| reading.tap == tap);
        for copies in own.filter_map(Reading::copies) {
            let sites = &copies.sites;
            let Some(common) = sites.overlap(j, k, &x) else {
                continue;
            };
            let first = step * copies.per_step() + 2 * sites.site(common.start, j, k);
            let slots = &copies.slots[first..first + 2 * common.len()];
            for (out, slot) in out[common.start - x.start..].iter_mut().zip(slots.chunks_exact(2)) {
                let number = |n: usize| T::of(f64::from_bits(slot[n].load(Relaxed)));
                *out = Complex::new(number(0), number(1));
            }
        }
    }
}

/// Gives sites of one row, in natural order.
type ReadSites<'a, T> = &'a dyn Fn(Range<usize>, &mut [Complex<T>]);

/// Sites of a row, real and imaginary parts apart.
#[derive(Default)]
struct Apart<T> {
    sites: Vec<Complex<T>>,
    parts: [Vec<T>; 2],
}

impl<T: Real> Apart<T> {
    /// Those of `x`.
    fn read(&mut self, x: Range<usize>, read: ReadSites<T>) -> [&[T]; 2] {
        let [re, im] = &mut self.parts;
        self.sites.resize(x.len(), Complex::default());
        read(x, &mut self.sites);
        re.clear();
        re.extend(self.sites.iter().map(|site| site.re));
        im.clear();
        im.extend(self.sites.iter().map(|site| site.im));
        [re, im]
    }
}

/// The sites that transducers hear.
fn listeners(taps: &Taps) -> Arc<[usize]> {
    let own = taps.transducers().filter(|own| own.act() == Act::Record);
    own.map_or_else(|| Arc::from([]), |own| Arc::clone(own.sites()))
}

/// Boxes that a tap which needs amplitudes reads: its own sites and the neighbours that its formula takes.
fn copied(grid: &Grid, tap: &Tap) -> Vec<([usize; 3], [usize; 3])> {
    let (mut lo, mut hi) = (tap.lo, tap.hi);
    if (0..3).any(|axis| lo[axis] >= hi[axis]) {
        return Vec::new();
    }
    if tap.measure == Measure::Value {
        return vec![(lo, lo.map(|at| at + 1))];
    }
    let size = grid.size();
    let mut boxes = Vec::new();
    for axis in 0..grid.rank() {
        let (first, last) = (tap.lo[axis] == 0, tap.hi[axis] == size[axis]);
        let energy = tap.measure == Measure::Energy;
        if !energy && axis != tap.across {
            continue;
        }
        if energy {
            lo[axis] = lo[axis].saturating_sub(1);
        }
        hi[axis] = (hi[axis] + 1).min(size[axis]);
        if grid.is_periodic(axis) && first != last {
            let slice = |at: usize| {
                let (mut lo, mut hi) = (tap.lo, tap.hi);
                (lo[axis], hi[axis]) = (at, at + 1);
                (lo, hi)
            };
            if last {
                boxes.push(slice(0));
            } else if energy {
                boxes.push(slice(size[axis] - 1));
            }
        }
    }
    boxes.push((lo, hi));
    boxes
}

impl<T: Real> Reading<T> {
    fn new(tap: usize, kept: Kept) -> Self {
        Self {
            tap,
            due: Vec::new(),
            kept,
            weights: Arc::new(Weights {
                values: Vec::new(),
                at: Vec::new(),
            }),
        }
    }

    fn copies(&self) -> Option<&Copies> {
        match &self.kept {
            Kept::Copy(copies) => Some(copies),
            Kept::Reduced(_) => None,
        }
    }

    /// Its sums or maxima, if it keeps those.
    pub(super) fn partials(&self) -> Option<&Partials> {
        match &self.kept {
            Kept::Reduced(partials) => Some(partials),
            Kept::Copy(_) => None,
        }
    }

    /// What each site's |φ|² is multiplied with.
    #[cfg(feature = "gui")]
    pub(super) fn weights(&self) -> &Arc<Weights<T>> {
        &self.weights
    }

    fn sites(&self) -> &Sites {
        match &self.kept {
            Kept::Reduced(partials) => &partials.sites,
            Kept::Copy(copies) => &copies.sites,
        }
    }

    /// Numbers of a step.
    fn per_step(&self) -> usize {
        match &self.kept {
            Kept::Reduced(partials) => partials.per_step(),
            Kept::Copy(copies) => copies.per_step(),
        }
    }

    fn make_room(&mut self, steps: usize, summed: bool) {
        match &mut self.kept {
            Kept::Reduced(partials) if summed => partials.make_room_for_totals(steps),
            Kept::Reduced(partials) => partials.make_room(steps),
            Kept::Copy(copies) => {
                let numbers = steps * copies.per_step();
                copies.slots.resize_with(numbers, AtomicU64::default);
            }
        }
    }

    /// Weights from the absorption between φ and ψ.
    fn weigh(&mut self, grid: &Grid, media: &Media<T>, open_damping: f64) {
        let [nx, ny, _] = grid.size();
        let own = *self.sites();
        let (mut values, mut at) = (Vec::new(), Vec::new());
        for n in 0..own.rows() {
            let (j, k) = own.row(n);
            for chunk in own.chunks() {
                let x = (chunk * CHUNK).max(own.lo[0])..((chunk + 1) * CHUNK).min(own.hi[0]);
                let row = (j + ny * k) * nx;
                let weights = x.map(|i| media.closing_weight(row + i, open_damping));
                let start = values.len();
                values.extend(weights);
                if values[start..].iter().all(|weight| *weight == T::one()) {
                    values.truncate(start);
                    at.push(NONE);
                } else {
                    at.push(u32::try_from(start).unwrap_or(NONE));
                }
            }
        }
        self.weights = Arc::new(Weights { values, at });
    }

    /// Whether its tap records after step `step` of the batch.
    fn is_due(&self, step: usize) -> bool {
        self.due.get(step).is_none_or(|due| *due)
    }

    /// The sites of row (j, k) that it shares with `x` and that are recorded after step `step`.
    pub(super) fn overlap(&self, step: usize, j: usize, k: usize, x: &Range<usize>) -> Option<Range<usize>> {
        if !self.is_due(step) {
            return None;
        }
        self.sites().overlap(j, k, x)
    }

    /// Where the sum of squares of chunk `chunk` of a row is kept, if it is no more than that: without weights, and all sites of the chunk belong to it.
    #[inline(always)]
    pub(super) fn plain_sum(&self, j: usize, k: usize, chunk: usize) -> Option<(&Partials, usize)> {
        let partials = self
            .partials()
            .filter(|partials| partials.reduction == Reduction::Squares)?;
        let [lo, hi] = [partials.sites.lo[0], partials.sites.hi[0]];
        let place = partials.place(j, k, chunk);
        let plain = self.weights.at.get(place).is_none_or(|start| *start == NONE);
        (plain && lo <= chunk * CHUNK && (chunk + 1) * CHUNK <= hi).then_some((partials, place))
    }

    /// Takes sites x0.. of row (j, k) of φ, all inside it: whole chunks, but for its own ends.
    #[inline(always)]
    pub(super) fn take(&self, step: usize, j: usize, k: usize, x0: usize, re: &[T], im: &[T]) {
        let partials = match &self.kept {
            Kept::Reduced(partials) => partials,
            Kept::Copy(copies) => {
                let first = step * copies.per_step() + 2 * copies.sites.site(x0, j, k);
                for ((slot, re), im) in copies.slots[first..].chunks_exact(2).zip(re).zip(im) {
                    slot[0].store(re.wide().to_bits(), Relaxed);
                    slot[1].store(im.wide().to_bits(), Relaxed);
                }
                return;
            }
        };
        let mut at = 0;
        while at < re.len() {
            let x = x0 + at;
            let chunk = x / CHUNK;
            let end = ((chunk + 1) * CHUNK - x0).min(re.len());
            let place = partials.place(j, k, chunk);
            let weights = match self.weights.at.get(place) {
                Some(&start) if start != NONE => Some(&self.weights.values[start as usize..]),
                _ => None,
            };
            let squares = squares(x % CHUNK, &re[at..end], &im[at..end], weights);
            partials.put(step, place, reduce_chunk(&squares, partials.reduction));
            at = end;
        }
    }
}

/// |φ|² times weight of the sites of a chunk from `first` on, 0 elsewhere.
#[inline(always)]
fn squares<T: Real>(first: usize, re: &[T], im: &[T], weights: Option<&[T]>) -> [T; CHUNK] {
    let mut out = [T::zero(); CHUNK];
    if let (Ok(re), Ok(im), None) = (<&[T; CHUNK]>::try_from(re), <&[T; CHUNK]>::try_from(im), weights) {
        for i in 0..CHUNK {
            out[i] = re[i] * re[i] + im[i] * im[i];
        }
        return out;
    }
    for ((out, re), im) in out[first..].iter_mut().zip(re).zip(im) {
        *out = *re * *re + *im * *im;
    }
    for (out, weight) in out[first..].iter_mut().zip(weights.unwrap_or_default()) {
        *out *= *weight;
    }
    out
}

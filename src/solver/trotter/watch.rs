//! What detectors read of the field after every step, also while several steps are fused.
//!
//! A stepper hands over rows of φ as they leave a step, piece by piece and in any order; two kinds of reading keep what a record needs of them:
//!
//! - *Sums* (probability) and *peaks* keep one number a row and [`CHUNK`] columns. Chunks begin at multiples of `CHUNK`, blocks are cut there too,
//!   and every chunk is added up in one fixed order: a record has the same bits however steps are fused and blocks are cut.
//! - *Copies* (value, flux, energy) keep the sites, and those of the neighbours, for formulas that need amplitudes.
//!
//! Memory: 8 B a row, chunk and step for sums, 16 B a site and step for copies; [`Watch::depth`] limits the steps so that all of it
//! stays small beside the field.

use super::measure::ReadRow;
use super::media::Media;
use crate::field::Real;
use crate::grid::Grid;
use crate::physics::Measure;
use crate::solver::taps::Tap;
use crate::solver::tiling::CHUNK;
use num_complex::Complex;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Buffers may always be as large as this.
const LEAST_ROOM: usize = 4 << 20;
/// No weights for a chunk.
const NONE: u32 = u32::MAX;

/// The detectors of a run, with buffers for a few steps.
pub(super) struct Watch<T> {
    taps: Vec<Tap>,
    views: Vec<View<T>>,
    depth: usize,
    /// Copies of even one step would be too large: amplitudes are read from the field itself, step by step.
    direct: bool,
    grid: Grid,
}

/// Sites lo ≤ site < hi that a tap reads.
pub(super) struct View<T> {
    tap: usize,
    lo: [usize; 3],
    hi: [usize; 3],
    reading: Reading,
    /// Bits of doubles: partial sums, or re and im in turn. Blocks of a pass write different places.
    slots: Vec<AtomicU64>,
    per_step: usize,
    /// |ψ|²/|φ|² of the chunks with absorption, and where each chunk's begin (empty without absorption).
    weights: Vec<T>,
    weight_at: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Sum,
    Peak,
    Copy,
}

impl<T: Real> Watch<T> {
    /// Buffers for `taps` and at most `fused` steps; `open_damping` is the time of absorption that φ has had and ψ has not.
    pub(super) fn new(grid: &Grid, media: &Media<T>, open_damping: f64, taps: &[Tap], fused: usize) -> Self {
        let mut views: Vec<View<T>> = Vec::new();
        for (n, tap) in taps.iter().enumerate() {
            let reading = match tap.measure {
                Measure::Probability | Measure::Pressure => Reading::Sum,
                Measure::Peak => Reading::Peak,
                Measure::Value | Measure::Flux | Measure::Energy => Reading::Copy,
            };
            let boxes = if reading == Reading::Copy {
                copied(grid, tap)
            } else {
                vec![(tap.lo, tap.hi)]
            };
            views.extend(boxes.into_iter().map(|(lo, hi)| View::new(n, lo, hi, reading)));
        }
        let room = (grid.sites() * size_of::<T>() / 2).max(LEAST_ROOM);
        let copies: usize = (views.iter().filter(|view| view.reading == Reading::Copy))
            .map(|view| view.per_step * 8)
            .sum();
        let direct = copies > room;
        if direct {
            views.retain(|view| view.reading != Reading::Copy);
        }
        let bytes: usize = views.iter().map(|view| view.per_step * 8).sum();
        let depth = if direct {
            1
        } else {
            (room / bytes.max(1)).clamp(1, fused.max(1))
        };
        for view in &mut views {
            view.slots.resize_with(depth * view.per_step, AtomicU64::default);
            if media.absorbs() && view.reading != Reading::Copy {
                view.weigh(grid, media, open_damping);
            }
        }
        Self {
            taps: taps.to_vec(),
            views,
            depth,
            direct,
            grid: grid.clone(),
        }
    }

    /// Whether it was made for these taps.
    pub(super) fn fits(&self, taps: &[Tap]) -> bool {
        self.taps == taps
    }

    /// Steps that the buffers hold.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether amplitudes must be read from the field.
    pub(super) fn direct(&self) -> bool {
        self.direct
    }

    pub(super) fn views(&self) -> &[View<T>] {
        &self.views
    }

    /// Reads a whole field after step `step` of a batch.
    pub(super) fn see(&self, step: usize, read: ReadRow<T>) {
        let ny = self.grid.size()[1];
        for view in &self.views {
            let rows = view.rows();
            (0..rows).into_par_iter().with_min_len(8).for_each_init(
                || (Vec::new(), Vec::new(), Vec::new()),
                |(sites, re, im), n| {
                    let (j, k) = view.row(n);
                    let x = view.lo[0]..view.hi[0];
                    sites.resize(x.len(), Complex::default());
                    read(j + ny * k, x.clone(), sites);
                    re.clear();
                    re.extend(sites.iter().map(|site| site.re));
                    im.clear();
                    im.extend(sites.iter().map(|site| site.im));
                    view.take(step, j, k, x.start, re, im);
                },
            );
        }
    }

    /// The sum or peak of a tap after step `step` of a batch; `None` for one that needs amplitudes.
    pub(super) fn reduced(&self, step: usize, tap: usize) -> Option<f64> {
        let view = (self.views.iter()).find(|view| view.tap == tap && view.reading != Reading::Copy)?;
        let chunks = view.chunks().len().max(1);
        let partials = &view.slots[step * view.per_step..(step + 1) * view.per_step];
        let rows = partials.chunks_exact(chunks).map(|row| {
            let values = row.iter().map(|bits| f64::from_bits(bits.load(Relaxed)));
            if view.reading == Reading::Peak {
                values.fold(0.0, f64::max)
            } else {
                values.sum()
            }
        });
        Some(if view.reading == Reading::Peak {
            rows.fold(0.0, f64::max)
        } else {
            rows.sum()
        })
    }

    /// Copied sites of a row after step `step` of a batch; 0 where nothing was copied.
    pub(super) fn read(&self, step: usize, tap: usize, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        let ny = self.grid.size()[1];
        let (j, k) = (row % ny, row / ny);
        out.fill(Complex::default());
        for view in (self.views.iter()).filter(|view| view.tap == tap && view.reading == Reading::Copy) {
            let Some(common) = view.overlap(j, k, &x) else { continue };
            let first = step * view.per_step + 2 * view.site(common.start, j, k);
            let slots = &view.slots[first..first + 2 * common.len()];
            for (out, slot) in out[common.start - x.start..].iter_mut().zip(slots.chunks_exact(2)) {
                let number = |n: usize| T::of(f64::from_bits(slot[n].load(Relaxed)));
                *out = Complex::new(number(0), number(1));
            }
        }
    }
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

impl<T: Real> View<T> {
    fn new(tap: usize, lo: [usize; 3], hi: [usize; 3], reading: Reading) -> Self {
        let mut view = Self {
            tap,
            lo,
            hi,
            reading,
            slots: Vec::new(),
            per_step: 0,
            weights: Vec::new(),
            weight_at: Vec::new(),
        };
        view.per_step = if reading == Reading::Copy {
            2 * view.rows() * (hi[0] - lo[0])
        } else {
            view.rows() * view.chunks().len()
        };
        view
    }

    fn rows(&self) -> usize {
        (self.hi[1] - self.lo[1]) * (self.hi[2] - self.lo[2])
    }

    /// y and z of its n-th row.
    fn row(&self, n: usize) -> (usize, usize) {
        let height = self.hi[1] - self.lo[1];
        (self.lo[1] + n % height, self.lo[2] + n / height)
    }

    /// Numbers of the chunks it touches.
    fn chunks(&self) -> Range<usize> {
        if self.lo[0] == self.hi[0] {
            0..0
        } else {
            self.lo[0] / CHUNK..self.hi[0].div_ceil(CHUNK)
        }
    }

    /// Number of a row among its own.
    fn row_number(&self, j: usize, k: usize) -> usize {
        j - self.lo[1] + (self.hi[1] - self.lo[1]) * (k - self.lo[2])
    }

    /// Number of a site among its own.
    fn site(&self, i: usize, j: usize, k: usize) -> usize {
        i - self.lo[0] + (self.hi[0] - self.lo[0]) * self.row_number(j, k)
    }

    /// Weights from the absorption between φ and ψ.
    fn weigh(&mut self, grid: &Grid, media: &Media<T>, open_damping: f64) {
        let [nx, ny, _] = grid.size();
        for n in 0..self.rows() {
            let (j, k) = self.row(n);
            for chunk in self.chunks() {
                let x = (chunk * CHUNK).max(self.lo[0])..((chunk + 1) * CHUNK).min(self.hi[0]);
                let row = (j + ny * k) * nx;
                let weights = x.map(|i| media.closing_weight(row + i, open_damping));
                let start = self.weights.len();
                self.weights.extend(weights);
                if self.weights[start..].iter().all(|weight| *weight == T::one()) {
                    self.weights.truncate(start);
                    self.weight_at.push(NONE);
                } else {
                    self.weight_at.push(u32::try_from(start).unwrap_or(NONE));
                }
            }
        }
    }

    /// The sites of row (j, k) that it shares with `x`.
    pub(super) fn overlap(&self, j: usize, k: usize, x: &Range<usize>) -> Option<Range<usize>> {
        let inside = (self.lo[1]..self.hi[1]).contains(&j) && (self.lo[2]..self.hi[2]).contains(&k);
        let common = self.lo[0].max(x.start)..self.hi[0].min(x.end);
        (inside && !common.is_empty()).then_some(common)
    }

    /// Takes sites x0.. of row (j, k) of φ, all inside it: whole chunks, but for its own ends.
    #[inline(always)]
    pub(super) fn take(&self, step: usize, j: usize, k: usize, x0: usize, re: &[T], im: &[T]) {
        if self.reading == Reading::Copy {
            let first = step * self.per_step + 2 * self.site(x0, j, k);
            for ((slot, re), im) in self.slots[first..].chunks_exact(2).zip(re).zip(im) {
                slot[0].store(re.wide().to_bits(), Relaxed);
                slot[1].store(im.wide().to_bits(), Relaxed);
            }
            return;
        }
        let chunks = self.chunks();
        let row = self.row_number(j, k) * chunks.len();
        let mut at = 0;
        while at < re.len() {
            let x = x0 + at;
            let chunk = x / CHUNK;
            let end = ((chunk + 1) * CHUNK - x0).min(re.len());
            let place = row + chunk - chunks.start;
            let weights = match self.weight_at.get(place) {
                Some(&start) if start != NONE => Some(&self.weights[start as usize..]),
                _ => None,
            };
            let squares = squares(x % CHUNK, &re[at..end], &im[at..end], weights);
            let value = if self.reading == Reading::Peak {
                largest(&squares)
            } else {
                sum(&squares)
            };
            self.slots[step * self.per_step + place].store(value.to_bits(), Relaxed);
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

/// A sum in a fixed order, in doubles from eight sites on: rounding of single squares stays at 1e-7 of each and averages out.
#[inline(always)]
fn sum<T: Real>(squares: &[T; CHUNK]) -> f64 {
    let mut sixteen = [T::zero(); 16];
    for i in 0..16 {
        sixteen[i] = (squares[i] + squares[i + 16]) + (squares[i + 32] + squares[i + 48]);
    }
    let mut eight = [0.0; 8];
    for i in 0..8 {
        eight[i] = sixteen[i].wide() + sixteen[i + 8].wide();
    }
    ((eight[0] + eight[4]) + (eight[2] + eight[6])) + ((eight[1] + eight[5]) + (eight[3] + eight[7]))
}

#[inline(always)]
fn largest<T: Real>(squares: &[T; CHUNK]) -> f64 {
    let mut sixteen = [T::zero(); 16];
    for part in squares.chunks_exact(16) {
        for (most, square) in sixteen.iter_mut().zip(part) {
            if *square > *most {
                *most = *square;
            }
        }
    }
    sixteen.iter().fold(0.0, |most, square| square.wide().max(most))
}

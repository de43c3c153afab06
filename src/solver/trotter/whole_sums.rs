//! Sums over all sites of a plane, taken in vectors and in the field's precision while blocks are in cache: norm, moments, the largest |ψ|², energy.
//!
//! A row is added up in chunks of [`CHUNK`] columns: lane by lane in T, chunks and rows in double precision, in their order. A chunk has its own sites and the bonds from these to the
//! right and upwards, also those to the next chunk. A block and a pass over memory add the same numbers in the same order.
//!
//! Layout of the tables: rows of vectors of 2N columns, N the lanes of a vector, each with c, s of its even and odd columns, by which φ is closed to ψ, and their diagonal of H: 6N numbers.
//! Behind the grid's last column they are 0, up to one whole vector more. Bytes: 3 numbers of T a site, and 8 B a number, row and chunk of each step that is kept.
//!
//! Rounding: ψ and each term are off by some ε of T of their size; the roundings of single terms do not add up the same way. An energy is off by a few ε times Σ|E||ψ|² + 2J Σ|ψₐ||ψ_b|.

use super::half_phase::HalfPhase;
use super::media::Media;
use crate::field::Real;
use crate::grid::Grid;
use crate::solver::tiling::CHUNK;
use crate::solver::totals::Totals;
use num_complex::Complex;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Numbers of a chunk: norm, Σi|ψ|², Σi²|ψ|² with i counted from the chunk's first column, the largest |ψ|², energy.
pub(super) const ALL: usize = 5;

/// What is added up, and the sums of some steps.
pub(super) struct WholeSums<T> {
    /// N.
    pub(super) lanes: usize,
    pub(super) nx: usize,
    pub(super) ny: usize,
    pub(super) periodic: [bool; 2],
    pub(super) hopping: f64,
    /// Places of a chunk's columns in it, in the order of vectors: even columns of a vector, then odd ones; and their squares.
    pub(super) columns: [[T; CHUNK]; 2],
    table: Vec<T>,
    /// Bits of doubles: `[((step * rows + row) * chunks + chunk) * numbers + n]`.
    slots: Vec<AtomicU64>,
    /// After which steps of the batch under way they are taken.
    due: Vec<bool>,
}

impl<T: Real> WholeSums<T> {
    /// For vectors of `lanes` numbers, without room for any step.
    pub(super) fn new(grid: &Grid, media: &Media<T>, closing: Option<&HalfPhase>, hopping: f64, lanes: usize) -> Self {
        let [nx, ny, _] = grid.size();
        let mut new = Self {
            lanes,
            nx,
            ny,
            periodic: [grid.is_periodic(0), grid.is_periodic(1)],
            hopping,
            columns: columns(lanes),
            table: Vec::new(),
            slots: Vec::new(),
            due: Vec::new(),
        };
        let numbers = new.row_numbers();
        new.table = vec![T::zero(); numbers * ny];
        new.table.par_chunks_mut(numbers).enumerate().for_each(|(row, out)| {
            let mut factors = vec![Complex::new(T::one(), T::zero()); nx];
            if let Some(closing) = closing {
                media.factors(row, 0, &closing.exponent, None, &[], &mut factors);
            }
            let energies = &media.energy[media.sites(row, 0, nx)];
            for (x, (factor, energy)) in factors.iter().zip(energies).enumerate() {
                let place = x / (2 * lanes) * 6 * lanes + x % 2 * lanes + x / 2 % lanes;
                out[place] = factor.re;
                out[place + 2 * lanes] = factor.im;
                out[place + 4 * lanes] = *energy;
            }
        });
        new
    }

    /// Vectors of a row, and one of zeros.
    fn vectors(&self) -> usize {
        self.nx.div_ceil(2 * self.lanes) + 1
    }

    fn row_numbers(&self) -> usize {
        6 * self.lanes * self.vectors()
    }

    /// The tables of a row from vector `first` on.
    pub(super) fn table(&self, row: usize, first: usize) -> &[T] {
        let numbers = self.row_numbers();
        &self.table[row * numbers + 6 * self.lanes * first..(row + 1) * numbers]
    }

    /// c and s of a row's first column.
    pub(super) fn first_factor(&self, row: usize) -> [T; 2] {
        let table = self.table(row, 0);
        [table[0], table[2 * self.lanes]]
    }

    /// The row above one.
    pub(super) fn above(&self, row: usize) -> Option<usize> {
        match row + 1 {
            next if next < self.ny => Some(next),
            _ => self.periodic[1].then_some(0),
        }
    }

    fn chunks(&self) -> usize {
        self.nx.div_ceil(CHUNK)
    }

    /// Numbers of a step.
    pub(super) fn per_step(&self) -> usize {
        self.ny * self.chunks() * ALL
    }

    /// Makes room for some steps.
    pub(super) fn make_room(&mut self, steps: usize) {
        self.slots.resize_with(steps * self.per_step(), AtomicU64::default);
    }

    /// Begins a batch of `steps` steps, after those of which that `due` names they are taken.
    pub(super) fn begin(&mut self, steps: usize, due: impl Fn(usize) -> bool) {
        self.due.clear();
        self.due.extend((0..steps).map(due));
    }

    /// Whether they are taken after a step of the batch.
    pub(super) fn is_due(&self, step: usize) -> bool {
        self.due.get(step).copied().unwrap_or(false)
    }

    /// Keeps the numbers of a chunk.
    pub(super) fn put(&self, (step, row, chunk): (usize, usize, usize), numbers: &[f64; ALL]) {
        let place = ((step * self.ny + row) * self.chunks() + chunk) * ALL;
        for (slot, number) in self.slots[place..place + ALL].iter().zip(numbers) {
            slot.store(number.to_bits(), Relaxed);
        }
    }

    /// The sums of the rows after step `step`, chunks added in order.
    #[expect(clippy::cast_precision_loss, reason = "columns are far below 2^52")]
    pub(super) fn rows(&self, step: usize) -> impl Iterator<Item = Totals> {
        let slots = &self.slots[step * self.per_step()..(step + 1) * self.per_step()];
        slots.chunks_exact(self.chunks() * ALL).map(|slots| {
            let mut totals = Totals::default();
            for (chunk, slots) in slots.chunks_exact(ALL).enumerate() {
                let [norm, first, second, peak, energy] =
                    std::array::from_fn(|n| f64::from_bits(slots[n].load(Relaxed)));
                let x0 = (chunk * CHUNK) as f64;
                totals.norm += norm;
                totals.first[0] += x0 * norm + first;
                totals.second[0] += x0 * (x0 * norm + 2.0 * first) + second;
                totals.peak = totals.peak.max(peak);
                totals.energy += energy;
            }
            totals
        })
    }

    /// The sums of step `step`, rows added in order.
    pub(super) fn totals(&self, step: usize) -> Totals {
        let rows: Vec<(usize, Totals)> = self.rows(step).enumerate().collect();
        Totals::of_rows(self.ny, &rows)
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        size_of_val(self.table.as_slice()) + size_of_val(self.slots.as_slice())
    }
}

/// See [`WholeSums::columns`].
fn columns<T: Real>(lanes: usize) -> [[T; CHUNK]; 2] {
    let column = |n: usize| {
        let (vector, parity, lane) = (n / (2 * lanes), n / lanes % 2, n % lanes);
        #[expect(clippy::cast_precision_loss, reason = "columns of a chunk")]
        let x = (2 * (vector * lanes + lane) + parity) as f64;
        x
    };
    [
        std::array::from_fn(|n| T::of(column(n))),
        std::array::from_fn(|n| T::of(column(n) * column(n))),
    ]
}

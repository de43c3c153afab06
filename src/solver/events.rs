//! What methods share of the events at sites and regions: sums of detectors that are taken piece by piece while the field is in cache.
//!
//! A method that steps blocks of the grid, several steps at a time, hands over rows as they leave a step, piece by piece and in any order. A [`Partials`] keeps one
//! number a row and [`CHUNK`] columns. Chunks begin at multiples of `CHUNK`, blocks are cut there too, and every chunk is added up in one fixed order: a record has the
//! same bits however steps are fused and blocks are cut.

use super::tiling::CHUNK;
use crate::field::Real;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How the numbers of a region are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    /// By their sum.
    Sum,
    /// By their sum; the caller has squared them.
    Squares,
    /// By the largest; none is negative.
    Largest,
}

/// Sites lo ≤ site < hi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sites {
    pub(super) lo: [usize; 3],
    pub(super) hi: [usize; 3],
}

impl Sites {
    /// Its rows.
    pub(super) fn rows(&self) -> usize {
        (self.hi[1] - self.lo[1]) * (self.hi[2] - self.lo[2])
    }

    /// y and z of its n-th row.
    pub(super) fn row(&self, n: usize) -> (usize, usize) {
        let height = self.hi[1] - self.lo[1];
        (self.lo[1] + n % height, self.lo[2] + n / height)
    }

    /// Number of a row among its own.
    pub(super) fn row_number(&self, j: usize, k: usize) -> usize {
        j - self.lo[1] + (self.hi[1] - self.lo[1]) * (k - self.lo[2])
    }

    /// Number of a site among its own.
    pub(super) fn site(&self, i: usize, j: usize, k: usize) -> usize {
        i - self.lo[0] + (self.hi[0] - self.lo[0]) * self.row_number(j, k)
    }

    /// The sites of row (j, k) that it shares with `x`.
    pub(super) fn overlap(&self, j: usize, k: usize, x: &Range<usize>) -> Option<Range<usize>> {
        let inside = (self.lo[1]..self.hi[1]).contains(&j) && (self.lo[2]..self.hi[2]).contains(&k);
        let common = self.lo[0].max(x.start)..self.hi[0].min(x.end);
        (inside && !common.is_empty()).then_some(common)
    }

    /// Numbers of the chunks it touches.
    pub(super) fn chunks(&self) -> Range<usize> {
        if self.lo[0] >= self.hi[0] {
            0..0
        } else {
            self.lo[0] / CHUNK..self.hi[0].div_ceil(CHUNK)
        }
    }
}

/// Sums or maxima over a region, one number a row and chunk, after each of some steps.
pub(super) struct Partials {
    pub(super) sites: Sites,
    pub(super) reduction: Reduction,
    /// Bits of doubles: blocks of a pass write different places.
    slots: Vec<AtomicU64>,
    /// The same of whole steps, where something else has reduced them; [`NO_TOTAL`] where it has not.
    totals: Vec<AtomicU64>,
}

/// A NaN that no arithmetic makes.
const NO_TOTAL: u64 = u64::MAX;

impl Partials {
    /// Without room for any step.
    pub(super) fn new(sites: Sites, reduction: Reduction) -> Self {
        Self {
            sites,
            reduction,
            slots: Vec::new(),
            totals: Vec::new(),
        }
    }

    /// Numbers of a step.
    pub(super) fn per_step(&self) -> usize {
        self.sites.rows() * self.sites.chunks().len()
    }

    /// Makes room for some steps.
    pub(super) fn make_room(&mut self, steps: usize) {
        self.slots.resize_with(steps * self.per_step(), AtomicU64::default);
    }

    /// Makes room for the sums or maxima of some steps that something else reduces, and for the numbers of one step that is handed over piece by piece.
    pub(super) fn make_room_for_totals(&mut self, steps: usize) {
        self.make_room(1);
        self.totals.resize_with(steps, || AtomicU64::new(NO_TOTAL));
    }

    /// Keeps the sum or maximum after step `step`; none: it is that of the pieces.
    pub(super) fn put_total(&self, step: usize, value: Option<f64>) {
        if let Some(total) = self.totals.get(step) {
            total.store(value.map_or(NO_TOTAL, f64::to_bits), Relaxed);
        }
    }

    /// Place of a chunk, by the number of its row and its own among those of the row.
    pub(super) fn place(&self, j: usize, k: usize, chunk: usize) -> usize {
        let chunks = self.sites.chunks();
        self.sites.row_number(j, k) * chunks.len() + chunk - chunks.start
    }

    /// Keeps what was made of the sites of a chunk after step `step`.
    pub(super) fn put(&self, step: usize, place: usize, value: f64) {
        self.slots[step * self.per_step() + place].store(value.to_bits(), Relaxed);
    }

    /// The sum or maximum of each row after step `step`.
    pub(super) fn rows(&self, step: usize) -> impl Iterator<Item = f64> {
        let chunks = self.sites.chunks().len().max(1);
        let count = self.per_step();
        let rows = self.slots[step * count..(step + 1) * count].chunks_exact(chunks);
        rows.map(|row| {
            let values = row.iter().map(|bits| f64::from_bits(bits.load(Relaxed)));
            match self.reduction {
                Reduction::Largest => values.fold(0.0, f64::max),
                Reduction::Sum | Reduction::Squares => values.sum(),
            }
        })
    }

    /// The sum or maximum after step `step`, row by row.
    pub(super) fn reduced(&self, step: usize) -> f64 {
        let total = self.totals.get(step).map(|total| total.load(Relaxed));
        if let Some(total) = total.filter(|total| *total != NO_TOTAL) {
            return f64::from_bits(total);
        }
        match self.reduction {
            Reduction::Largest => self.rows(step).fold(0.0, f64::max),
            Reduction::Sum | Reduction::Squares => self.rows(step).sum(),
        }
    }
}

/// The numbers of a chunk, 0 where it has no sites, reduced in a fixed order. A sum is in doubles from eight sites on: rounding of single numbers stays at 1e-7 of
/// each and averages out.
#[inline(always)]
pub(super) fn reduce_chunk<T: Real>(numbers: &[T; CHUNK], reduction: Reduction) -> f64 {
    match reduction {
        Reduction::Sum | Reduction::Squares => {
            let mut sixteen = [T::zero(); 16];
            for i in 0..16 {
                sixteen[i] = (numbers[i] + numbers[i + 16]) + (numbers[i + 32] + numbers[i + 48]);
            }
            let mut eight = [0.0; 8];
            for i in 0..8 {
                eight[i] = sixteen[i].wide() + sixteen[i + 8].wide();
            }
            ((eight[0] + eight[4]) + (eight[2] + eight[6])) + ((eight[1] + eight[5]) + (eight[3] + eight[7]))
        }
        Reduction::Largest => {
            let mut sixteen = [T::zero(); 16];
            for part in numbers.chunks_exact(16) {
                for (most, number) in sixteen.iter_mut().zip(part) {
                    if *number > *most {
                        *most = *number;
                    }
                }
            }
            sixteen.iter().fold(0.0, |most, number| number.wide().max(most))
        }
    }
}

/// [`reduce_chunk`] of a sum, to the bit, of a chunk whose numbers at even and at odd places lie apart.
#[inline(always)]
pub(super) fn sum_halves<T: Real>(even: &[T; CHUNK / 2], odd: &[T; CHUNK / 2]) -> f64 {
    let mut sums = [0.0; 2];
    for (sum, half) in sums.iter_mut().zip([even, odd]) {
        let mut eight = [T::zero(); 8];
        for i in 0..8 {
            eight[i] = (half[i] + half[i + 8]) + (half[i + 16] + half[i + 24]);
        }
        let mut four = [0.0; 4];
        for i in 0..4 {
            four[i] = eight[i].wide() + eight[i + 4].wide();
        }
        *sum = (four[0] + four[2]) + (four[1] + four[3]);
    }
    sums[0] + sums[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_add_up_to_the_same_bits() {
        let numbers: [f32; CHUNK] =
            std::array::from_fn(|n| f32::from(u16::try_from(n * 7919 % 1009).unwrap()).sin() * 1e3);
        let even = std::array::from_fn(|n| numbers[2 * n]);
        let odd = std::array::from_fn(|n| numbers[2 * n + 1]);
        let whole = reduce_chunk(&numbers, Reduction::Squares);
        assert_eq!(sum_halves(&even, &odd).to_bits(), whole.to_bits());
    }
}

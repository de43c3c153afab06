//! Sums over single rows, for observables of planes and for parts of a grid: added up in the same order, whichever part owns the rows, so that they have the same bits.

use super::{KEPT, ReadbackStream, Region, SUMS, is_kept, observables};
use crate::backend::cuda::{Buffer, CudaError, DeviceRepr, Stream};
use crate::grid::Grid;
use crate::physics::Observables;
use crate::solver::Taps;
use crate::solver::acoustic::sums::finished;
use crate::solver::clock::RunClock;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::taps::RowNumbers;
use crate::solver::totals::in_strides;

/// Rows whose sums are added on the host at most: 6 MB.
const ON_HOST: usize = 1 << 16;

/// Warps that share a row of a detector, in a part of a grid as in the whole.
pub(in crate::solver) fn sharing_of(taps: &Taps, n: usize) -> usize {
    Region::of(&taps.whole()[n]).map_or(1, |region| region.sharing())
}

/// The sums over rows of a grid as numbers of [`NUMBERS`] a row; `sound` are those with the energies of the sound, where the velocity is kept.
pub(in crate::solver) fn numbers_of_rows(rows: &[[f64; SUMS]], sound: Option<&[[f64; SUMS]]>) -> Vec<[f64; NUMBERS]> {
    let number = |(n, row): (usize, &[f64; SUMS])| {
        let [square, invariant, x, xx, .., peak, _, _] = *row;
        let energy = sound.map_or(f64::NAN, |rows| rows[n][1]);
        [square, x, xx, energy, invariant, peak, 0.0, 0.0]
    };
    rows.iter().enumerate().map(number).collect()
}

/// Observables from such numbers of all rows of a grid, added in the order in which `measure_total` adds.
pub(in crate::solver) fn observables_of_rows(rows: &[[f64; NUMBERS]], grid: &Grid) -> Observables {
    let ny = grid.size()[1];
    let sum = |number: &dyn Fn(usize) -> f64| in_strides(rows.len(), number, |sum, next| sum + next);
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    let place = |axis: usize, row: usize| (if axis == 1 { row % ny } else { row / ny }) as f64;
    let moment = |axis: usize, power: i32| sum(&|n| place(axis, n).powi(power) * rows[n][0]);
    let all = Observables {
        norm: sum(&|n| rows[n][0]),
        energy: sum(&|n| rows[n][3]),
        invariant: sum(&|n| rows[n][4]),
        peak: rows.iter().fold(0.0, |peak, row| f64::max(peak, row[5])),
        ..Observables::default()
    };
    let first = [sum(&|n| rows[n][1]), moment(1, 1), moment(2, 1)];
    let second = [sum(&|n| rows[n][2]), moment(1, 2), moment(2, 2)];
    finished(all, first, second, grid)
}

impl ReadbackStream {
    /// The same for every row; `sharing` warps share one.
    pub(in crate::solver) fn sums_of_rows<L: DeviceRepr>(
        &mut self,
        stream: &Stream,
        (region, sharing): (&Region, usize),
        look: &L,
    ) -> Result<Vec<[f64; SUMS]>, CudaError> {
        let warps = region.rows() * sharing;
        self.make_room(stream, warps)?;
        self.stream.wait_for(&stream.mark()?)?;
        self.measure(&self.stream, (region, sharing, false), look, self.parts.address())?;
        let mut numbers = vec![0.0; warps * SUMS];
        self.stream
            .download_at("sums over rows", &self.parts, 0, &mut numbers)?;
        let parts = numbers.as_chunks::<SUMS>().0;
        let row = |parts: &[[f64; SUMS]]| {
            let mut all = [0.0_f64; SUMS];
            for part in parts {
                for (q, (sum, next)) in all.iter_mut().zip(part).enumerate() {
                    *sum = if q == 8 { sum.max(*next) } else { *sum + next };
                }
            }
            all
        };
        Ok(parts.chunks_exact(sharing).map(row).collect())
    }

    /// Observables of a whole grid; `looks` are what `measure` takes for the energy that the scheme conserves, and for the sound's where the velocity is kept.
    ///
    /// Planes are added up on the host, row by row, as those of a grid in parts are; of large grids in space only what a device adds up comes back.
    pub(in crate::solver) fn observables<L: DeviceRepr>(
        &mut self,
        stream: &Stream,
        grid: &Grid,
        (invariant, sound): (&L, Option<&L>),
    ) -> Result<Observables, CudaError> {
        let region = Region::everywhere(grid.size(), true);
        if grid.rank() > 1 && grid.rows() <= ON_HOST {
            let rows = self.numbers(stream, (&region, region.sharing()), (invariant, sound))?;
            return Ok(observables_of_rows(&rows, grid));
        }
        let invariant = self.sums(stream, &region, invariant)?;
        let sound = sound.map(|look| self.sums(stream, &region, look)).transpose()?;
        Ok(observables(invariant, sound, grid))
    }

    /// What every row of a window adds to the observables of the whole grid.
    pub(in crate::solver) fn row_numbers<L: DeviceRepr>(
        &mut self,
        stream: &Stream,
        grid: &Grid,
        looks: (&L, Option<&L>),
    ) -> Result<Vec<[f64; NUMBERS]>, CudaError> {
        let region = Region::everywhere(grid.size(), true);
        let sharing = Region::everywhere(grid.whole().size(), true).sharing();
        self.numbers(stream, (&region, sharing), looks)
    }

    fn numbers<L: DeviceRepr>(
        &mut self,
        stream: &Stream,
        region: (&Region, usize),
        (invariant, sound): (&L, Option<&L>),
    ) -> Result<Vec<[f64; NUMBERS]>, CudaError> {
        let invariant = self.sums_of_rows(stream, region, invariant)?;
        let sound = match sound {
            Some(look) => Some(self.sums_of_rows(stream, region, look)?),
            None => None,
        };
        Ok(numbers_of_rows(&invariant, sound.as_deref()))
    }

    /// Queues the sums over the rows of a detector of a part of a grid, as [`ReadbackStream::keep`]; `sharing` is that of the whole detector.
    pub(in crate::solver) fn keep_rows<L: DeviceRepr>(
        &mut self,
        stream: &Stream,
        (region, sharing): (&Region, usize),
        look: &L,
    ) -> Result<(), CudaError> {
        let warps = (region.rows() * sharing).next_multiple_of(8);
        let room = self.kept_rows.as_ref().map_or(0, Buffer::bytes) / (SUMS * size_of::<f64>());
        if self.waiting_rows + warps > room {
            self.fetch_rows(stream)?;
            if warps > room {
                let count = warps.max(KEPT).next_power_of_two() * SUMS;
                self.kept_rows = Some(stream.zeros("records", count)?);
            }
        }
        let Some(kept) = &self.kept_rows else { return Ok(()) };
        let to = kept.address() + (self.waiting_rows * SUMS * size_of::<f64>()) as u64;
        self.measure(stream, (region, sharing, true), look, to)?;
        self.waiting_rows += warps;
        Ok(())
    }

    /// Copies them to the host.
    fn fetch_rows(&mut self, stream: &Stream) -> Result<(), CudaError> {
        let waiting = std::mem::take(&mut self.waiting_rows) * SUMS;
        let before = self.fetched_rows.len();
        self.fetched_rows.resize(before + waiting, 0.0);
        match &self.kept_rows {
            Some(kept) if waiting > 0 => stream.download_at("records", kept, 0, &mut self.fetched_rows[before..]),
            _ => Ok(()),
        }
    }

    /// The same as [`ReadbackStream::kept`] in a part of a grid of `ny` rows a plane: what the rows of detectors that are summed add at each moment, with the rows' numbers.
    pub(in crate::solver) fn rows_kept(
        &mut self,
        stream: &Stream,
        (taps, ny): (&Taps, usize),
        clocks: &[RunClock],
    ) -> Result<Vec<Vec<RowNumbers>>, CudaError> {
        self.fetch_rows(stream)?;
        let numbers = std::mem::take(&mut self.fetched_rows);
        let mut sums = numbers.as_chunks::<SUMS>().0;
        let mut rows_of = |n: usize, clock: &RunClock| -> RowNumbers {
            let tap = &taps.taps()[n];
            let Some(region) = Region::of(tap).filter(|_| is_kept(taps, n, clock)) else {
                return Vec::new();
            };
            let sharing = sharing_of(taps, n);
            let (own, rest) = sums.split_at((region.rows() * sharing).next_multiple_of(8).min(sums.len()));
            sums = rest;
            let rows_y = region.hi[1] - region.lo[1];
            let place = |part: usize| {
                let row = part / sharing;
                region.lo[1] + row % rows_y + ny * (region.lo[2] + row / rows_y)
            };
            let sum = Region::sum_of(tap.measure);
            (own.iter().take(region.rows() * sharing).enumerate())
                .map(|(part, sums)| (place(part), sums[sum]))
                .collect()
        };
        let detectors = taps.taps().len();
        let mut record = |clock: &RunClock| -> Vec<RowNumbers> { (0..detectors).map(|n| rows_of(n, clock)).collect() };
        Ok(clocks.iter().map(&mut record).collect())
    }
}

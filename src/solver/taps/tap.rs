//! One detector at its sites, and its value from theirs.

use crate::field::Real;
use crate::grid::Grid;
use crate::physics::{Detector, Measure, Region, axis_across};
use crate::scene::Scenario;
use crate::solver::acoustic::outward::Domain;
use crate::solver::acoustic::point::Shares;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// One detector at its sites.
#[derive(Clone, Debug, PartialEq)]
pub struct Tap {
    /// What it records.
    pub measure: Measure,
    /// Sites lo ≤ site < hi on every axis.
    pub lo: [usize; 3],
    /// See `lo`.
    pub hi: [usize; 3],
    /// For a flux: the axis across the line, along which the current is counted positive.
    pub across: usize,
    /// Whether it takes all sites of a grid, of which these may be a part.
    pub whole: bool,
    /// a^d for sums over a region, a^(d−1) for a flux.
    pub weight: f64,
    /// Sites and weights of a point between sites whose pressure is recorded, in the order of memory; `lo` and `hi` enclose them. Otherwise empty.
    pub shares: Shares,
    /// Of a mean pressure: the sites without a wall, where there are walls; `None`: all of them.
    pub open: Option<usize>,
}

impl Tap {
    #[expect(clippy::cast_precision_loss, reason = "clamped to the grid")]
    pub(super) fn new(grid: &Grid, detector: &Detector) -> Self {
        let a = grid.spacing();
        let size = grid.size();
        let rank = grid.rank();
        let mut lo = [0; 3];
        let mut hi = size;
        let mut across = 0;
        match &detector.region {
            Region::Everywhere => {}
            Region::Point(at) => {
                for axis in 0..rank {
                    lo[axis] = grid.nearest_on(axis, at[axis]);
                    hi[axis] = lo[axis] + 1;
                }
            }
            Region::Line { from, to } => {
                for axis in 0..rank {
                    let (p, q) = (grid.nearest_on(axis, from[axis]), grid.nearest_on(axis, to[axis]));
                    lo[axis] = p.min(q);
                    hi[axis] = p.max(q) + 1;
                }
                across = axis_across(&from[..rank], &to[..rank]);
                // Ends that are less than a spacing apart along it mean the same sites.
                let is_one = (to[across] - from[across]).abs() < a;
                if is_one && (rank > 1 || detector.measure == Measure::Flux) {
                    lo[across] = grid.nearest_on(across, f64::midpoint(from[across], to[across]));
                    hi[across] = lo[across] + 1;
                }
            }
            Region::Box { min, max } => {
                for axis in 0..rank {
                    let first = crate::rounding::truncated((min[axis] / a - 1e-9).ceil()).min(size[axis]);
                    let last = crate::rounding::truncated(
                        ((max[axis] / a + 1e-9).floor() + 1.0).clamp(0.0, size[axis] as f64),
                    );
                    lo[axis] = first;
                    hi[axis] = last.max(first);
                }
            }
        }
        let power = if detector.measure == Measure::Flux {
            rank - 1
        } else {
            rank
        };
        let mut new = Self {
            // A velocity is made of the pressures around its point, see [`Velocity`](super::velocity::Velocity).
            measure: if detector.measure == Measure::Velocity {
                Measure::Value
            } else {
                detector.measure
            },
            whole: lo == [0; 3] && hi == size,
            lo,
            hi,
            across,
            weight: a.powi(i32::try_from(power).unwrap_or(3)),
            shares: Vec::new(),
            open: None,
        };
        if new.measure == Measure::Energy {
            new.leave_out_layers(&Domain::new(grid));
        }
        new
    }

    /// Whether energy or its flux is recorded.
    pub fn moves(&self) -> bool {
        matches!(self.measure, Measure::Energy | Measure::Flux)
    }

    /// Reads no site of an absorbing layer, where the medium's velocity does not follow from ∫p dt.
    fn leave_out_layers(&mut self, domain: &Domain) {
        let [first, last] = domain.bounds();
        for axis in 0..3 {
            let (lo, hi) = (self.lo[axis], self.hi[axis]);
            self.lo[axis] = lo.max(first[axis]).min(hi);
            self.hi[axis] = hi.min(last[axis]).max(self.lo[axis]);
            self.whole &= (lo, hi) == (self.lo[axis], self.hi[axis]);
        }
    }

    /// Reads several sites instead of one.
    pub(super) fn interpolate(&mut self, shares: Shares) {
        if shares.len() >= 2 {
            self.read_shares(shares);
        }
    }

    /// Reads these sites, at least one.
    pub(super) fn read_shares(&mut self, shares: Shares) {
        for axis in 0..3 {
            let places = || shares.iter().map(|(site, _)| site[axis]);
            self.lo[axis] = places().min().unwrap_or(0);
            self.hi[axis] = places().max().unwrap_or(0) + 1;
        }
        self.shares = shares;
    }

    /// The value from the numbers of its rows, in their order.
    pub(in crate::solver) fn value_of_rows(&self, values: &[f64]) -> f64 {
        if !self.shares.is_empty() {
            return self.interpolated(values.iter().copied());
        }
        let sum = || values.iter().sum::<f64>();
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        match self.measure {
            Measure::Peak => values.iter().fold(0.0, |most: f64, value| most.max(*value)),
            Measure::Value | Measure::Velocity => values.first().copied().unwrap_or(0.0),
            Measure::Pressure => sum() / self.sites_of_mean().max(1) as f64,
            Measure::Probability | Measure::Energy | Measure::Flux => sum() * self.weight,
        }
    }

    /// The value of an acoustic detector between sites from those of [`Tap::shares`].
    pub fn interpolated(&self, values: impl Iterator<Item = f64>) -> f64 {
        let sum: f64 = self
            .shares
            .iter()
            .zip(values)
            .map(|((_, weight), value)| weight * value)
            .sum();
        if self.measure == Measure::Peak { sum.abs() } else { sum }
    }

    /// The value of a quantum detector; `psi` gives ψ at a site, `hopping` J of the bond from a site along `across`. Energy is
    /// not local on a lattice and is taken from the observables instead.
    ///
    /// The current through a bond from site n to n+1, round a ring from the last to the first, is 2 Im(Jψₙ* ψₙ₊₁) a^d, i.e. probability per unit of time.
    pub fn quantum(
        &self,
        grid: &Grid,
        hopping: impl Fn([usize; 3]) -> Complex64,
        psi: impl Fn([usize; 3]) -> Complex64,
    ) -> f64 {
        let mut sum = 0.0;
        let mut largest: f64 = 0.0;
        for k in self.lo[2]..self.hi[2] {
            for j in self.lo[1]..self.hi[1] {
                for i in self.lo[0]..self.hi[0] {
                    let here = psi([i, j, k]);
                    match self.measure {
                        Measure::Value => return here.norm(),
                        Measure::Flux => {
                            if let Some(next) = grid.next([i, j, k], self.across) {
                                sum += 2.0 * (hopping([i, j, k]) * (here.conj() * psi(next))).im;
                            }
                        }
                        Measure::Peak => largest = largest.max(here.norm_sqr()),
                        _ => sum += here.norm_sqr(),
                    }
                }
            }
        }
        match self.measure {
            Measure::Peak => largest,
            Measure::Flux => sum * grid.cell_volume(),
            _ => sum * self.weight,
        }
    }

    /// Σ|ψ|² a^d, or the largest |ψ|² of a peak. `read(j, k, out)` writes ψ at sites lo[0]..hi[0] of row (j, k); rows are read by all threads and added up in order.
    pub(in crate::solver) fn density<T: Real>(
        &self,
        read: impl Fn(usize, usize, &mut [Complex<T>]) + Sync + Send,
    ) -> f64 {
        let sites = self.hi[0].saturating_sub(self.lo[0]);
        let scratch = || vec![Complex::default(); sites];
        if self.measure == Measure::Peak {
            let rows = self.of_rows(scratch, |psi: &mut Vec<Complex<T>>, j, k| {
                read(j, k, psi);
                psi.iter().fold(0.0, |most: f64, site| most.max(site.norm_sqr().wide()))
            });
            return rows.into_iter().fold(0.0, f64::max);
        }
        self.sum_of_rows(scratch, |psi: &mut Vec<Complex<T>>, j, k| {
            read(j, k, psi);
            // Sums beside each other, which vectors take.
            let mut sums = [0.0; 8];
            for part in psi.chunks(8) {
                for (sum, site) in sums.iter_mut().zip(part) {
                    *sum += site.norm_sqr().wide();
                }
            }
            sums.iter().sum()
        })
    }

    /// a^d times the sum over rows (j, k) of a region, by all threads; the order of additions is always the same. `scratch` makes what `row` works with.
    pub(in crate::solver) fn sum_of_rows<S>(
        &self,
        scratch: impl Fn() -> S + Sync + Send,
        row: impl Fn(&mut S, usize, usize) -> f64 + Sync + Send,
    ) -> f64 {
        self.of_rows(scratch, row).iter().sum::<f64>() * self.weight
    }

    /// A number of each row of a region.
    fn of_rows<S>(
        &self,
        scratch: impl Fn() -> S + Sync + Send,
        row: impl Fn(&mut S, usize, usize) -> f64 + Sync + Send,
    ) -> Vec<f64> {
        /// Rows below which a task costs more than it gains.
        const FEWEST: usize = 16;
        let count = self.hi[1].saturating_sub(self.lo[1]);
        let rows = count * self.hi[2].saturating_sub(self.lo[2]);
        (0..rows)
            .into_par_iter()
            .with_min_len(FEWEST)
            .map_init(scratch, |scratch, n| {
                row(scratch, self.lo[1] + n % count, self.lo[2] + n / count)
            })
            .collect()
    }

    /// The value of an acoustic detector. `row(j, k, out)` writes, for sites `lo[0]..hi[0]` of row (j, k), what the measure needs: the pressure,
    /// the energy per a^d, or for a flux the energy that flows along `across` to the next site per a^(d−1).
    pub fn acoustic(&self, mut row: impl FnMut(usize, usize, &mut [f64])) -> f64 {
        let mut values = vec![0.0; self.hi[0].saturating_sub(self.lo[0])];
        if !self.shares.is_empty() {
            let mut read = None;
            return self.interpolated(self.shares.iter().map(|([i, j, k], _)| {
                if read.replace((*j, *k)) != Some((*j, *k)) {
                    row(*j, *k, &mut values);
                }
                values[i - self.lo[0]]
            }));
        }
        let (mut sum, mut squares, mut largest) = (0.0, 0.0, 0.0f64);
        for k in self.lo[2]..self.hi[2] {
            for j in self.lo[1]..self.hi[1] {
                row(j, k, &mut values);
                for value in &values {
                    if self.measure == Measure::Value {
                        return *value;
                    }
                    sum += value;
                    squares += value * value;
                    largest = largest.max(value.abs());
                }
            }
        }
        self.acoustic_of(match self.measure {
            Measure::Peak => largest,
            Measure::Probability => squares,
            _ => sum,
        })
    }

    /// The sites that an acoustic detector sums over; `None` where there are none.
    pub fn summed_sites(&self) -> Option<[[usize; 3]; 2]> {
        let hi = if self.measure == Measure::Value {
            self.lo.map(|at| at + 1)
        } else {
            self.hi
        };
        (0..3).all(|axis| hi[axis] > self.lo[axis]).then_some([self.lo, hi])
    }

    /// The sites that are no walls.
    pub(super) fn open_sites(&self, scenario: &Scenario) -> usize {
        let (grid, medium) = (scenario.grid(), scenario.medium());
        let domain = Domain::new(grid);
        let mut walls = vec![false; grid.size()[0]];
        let rows = (self.lo[2]..self.hi[2]).flat_map(|k| (self.lo[1]..self.hi[1]).map(move |j| [j, k]));
        rows.map(|[j, k]| {
            let [j, k] = domain.row(j, k);
            medium.wall_row(j, k, 0..grid.size()[0], &mut walls);
            domain.fill_ends(&mut walls);
            walls[self.lo[0]..self.hi[0]].iter().filter(|wall| !**wall).count()
        })
        .sum()
    }

    /// How many sites a mean pressure is taken over: walls have none.
    fn sites_of_mean(&self) -> usize {
        let [lo, hi] = self.summed_sites().unwrap_or_default();
        self.open
            .unwrap_or_else(|| (0..3).map(|axis| hi[axis] - lo[axis]).product())
    }

    /// The value of an acoustic detector from the sum over its sites of what its measure asks for ([`Tap::acoustic`]), for a peak from the largest.
    #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
    pub fn acoustic_of(&self, sum: f64) -> f64 {
        match self.measure {
            Measure::Peak => sum,
            Measure::Probability | Measure::Energy | Measure::Flux => sum * self.weight,
            Measure::Value | Measure::Velocity | Measure::Pressure => sum / self.sites_of_mean().max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::Reading;

    fn tap(size: &[usize], measure: Measure, from: [f64; 3], to: [f64; 3]) -> Tap {
        let detector = Detector {
            name: "line".to_owned(),
            region: Region::Line { from, to },
            measure,
            reading: Reading::Itself,
            over: None,
            every: 1,
            direction: [0.0; 3],
        };
        Tap::new(&Grid::new(size, 0.5), &detector)
    }

    /// A line whose ends stand less than a spacing apart is one column, that of the middle, whichever sites are nearest to its ends.
    #[test]
    fn lines_are_one_site_thick() {
        for measure in [Measure::Flux, Measure::Pressure] {
            let line = tap(&[20, 20], measure, [4.2, 1.0, 0.0], [4.6, 3.0, 0.0]);
            assert_eq!((line.lo, line.hi, line.across), ([9, 2, 0], [10, 7, 1], 0));
            let line = tap(&[20, 20], measure, [3.0, 4.3, 0.0], [1.0, 4.3, 0.0]);
            assert_eq!((line.lo, line.hi, line.across), ([2, 9, 0], [7, 10, 1], 1));
            let plane = tap(&[20, 20, 20], measure, [1.0, 4.0, 2.0], [2.0, 4.0, 5.0]);
            assert_eq!((plane.lo, plane.hi, plane.across), ([2, 8, 4], [5, 9, 11], 1));
        }
        // On a line of sites a flux goes through one of them; other measures take those between.
        let ends = [[4.2, 0.0, 0.0], [4.6, 0.0, 0.0]];
        assert_eq!(tap(&[20], Measure::Flux, ends[0], ends[1]).hi[0], 10);
        assert_eq!(tap(&[20], Measure::Peak, ends[0], ends[1]).lo[0], 8);
    }
}

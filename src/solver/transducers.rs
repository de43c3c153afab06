//! Transducers: single sites that are recorded or driven after every step, as a time-reversal mirror needs.
//!
//! A method calls [`Taps::apply_transducers`](super::Taps::apply_transducers) after each step (after the field is that of the new time, before detectors are recorded), with a [`Sites`]
//! through which single sites are read and written. Values are complex: ψ; sound has p, and methods with a momentum per site p + i·momentum,
//! so that time is reversed by the complex conjugate for all of them.

use crate::grid::Grid;
use num_complex::Complex64;
use rayon::prelude::*;
use std::sync::Arc;

/// Fewest values a thread.
const FEW: usize = 1 << 14;

/// What transducers do after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// They record.
    Record,
    /// They add their signal: a soft source. Quantum: ψ += s. Acoustic: Re s is a source density that acts for this step, p_tt = c²∇²p + s; methods with a
    /// momentum per site take Im s for a rate of displacement, p_t = … + Im s.
    Add,
    /// They overwrite the field with their signal: a hard source.
    Overwrite,
}

/// Single sites of a closed field, by flat index (x fastest).
pub trait Sites {
    /// The value at a site.
    fn read(&self, site: usize) -> Complex64;
    /// Replaces it.
    fn overwrite(&mut self, site: usize, value: Complex64);
    /// Adds a source for one step, see [`Act::Add`].
    fn add(&mut self, site: usize, value: Complex64);
}

/// The transducers with their records and signals.
#[derive(Clone, Debug, PartialEq)]
pub struct Transducers {
    /// Flat indices, ascending.
    sites: Arc<[usize]>,
    act: Act,
    /// `heard[record * sites + n]`.
    heard: Vec<Complex64>,
    /// `signal[row * sites + n]`, a row a step.
    signal: Arc<[Complex64]>,
    /// Rows played.
    played: usize,
}

impl Transducers {
    /// Transducers that record at `sites` (ascending) and continue earlier records.
    #[must_use]
    pub fn listening(sites: Arc<[usize]>, heard: Vec<Complex64>) -> Self {
        Self {
            sites,
            act: Act::Record,
            heard,
            signal: Arc::from([]),
            played: 0,
        }
    }

    /// Transducers that play `signal`, a row of all sites a step, from row `played` on, and are silent afterwards.
    #[must_use]
    pub fn playing(sites: Arc<[usize]>, act: Act, signal: Arc<[Complex64]>, played: usize) -> Self {
        Self {
            sites,
            act,
            heard: Vec::new(),
            signal,
            played,
        }
    }

    /// The sites, ascending.
    pub fn sites(&self) -> &Arc<[usize]> {
        &self.sites
    }

    /// What they do.
    pub fn act(&self) -> Act {
        self.act
    }

    /// What they have recorded, `[record * sites + n]`.
    pub fn heard(&self) -> &[Complex64] {
        &self.heard
    }

    /// Takes their records out.
    #[must_use]
    pub fn into_heard(self) -> Vec<Complex64> {
        self.heard
    }

    /// What they play, `[row * sites + n]`.
    pub fn signal(&self) -> &Arc<[Complex64]> {
        &self.signal
    }

    /// Rows of the signal that were played.
    pub fn played(&self) -> usize {
        self.played
    }

    /// Whether nothing is left to do.
    pub fn is_idle(&self) -> bool {
        self.sites.is_empty() || (self.act != Act::Record && self.played * self.sites.len() >= self.signal.len())
    }

    /// Rows of the signal that are still to be played; for methods that take several steps at once.
    pub fn ahead(&self) -> &[Complex64] {
        self.signal.get(self.played * self.sites.len()..).unwrap_or_default()
    }

    /// Appends rows that were recorded elsewhere, e.g. on a device.
    pub fn hear(&mut self, rows: &[Complex64]) {
        self.heard.extend_from_slice(rows);
    }

    /// The same for `count` values, by number: a mirror of a large grid records a hundred million of them, whose memory threads share out.
    pub fn hear_all(&mut self, count: usize, value: impl Fn(usize) -> Complex64 + Sync + Send) {
        let values = (0..count).into_par_iter().with_min_len(FEW).map(value);
        self.heard.par_extend(values);
    }

    /// Notes that rows were played elsewhere.
    pub fn pass(&mut self, rows: usize) {
        self.played += rows;
    }

    /// Records or plays after one step.
    pub fn apply(&mut self, field: &mut impl Sites) {
        if self.is_idle() {
            return;
        }
        if self.act == Act::Record {
            self.heard.extend(self.sites.iter().map(|&site| field.read(site)));
            return;
        }
        let first = self.played * self.sites.len();
        for (&site, &value) in self.sites.iter().zip(&self.signal[first..]) {
            if self.act == Act::Add {
                field.add(site, value);
            } else {
                field.overwrite(site, value);
            }
        }
        self.played += 1;
    }
}

/// Grows a set of sites by the partners of its sites in the bonds of one parity along an axis: what a sweep over those bonds makes them
/// depend on.
pub fn grow_by_pairs(grid: &Grid, set: &mut [bool], axis: usize, odd: bool) {
    let sites = grid.size()[axis];
    let stride: usize = grid.size()[..axis].iter().product();
    let before: Vec<usize> = (0..set.len()).filter(|&n| set[n]).collect();
    for n in before {
        let at = n / stride % sites;
        let partner = if (at % 2 == 1) == odd {
            at + 1
        } else {
            at.wrapping_sub(1)
        };
        if partner < sites {
            set[n + partner * stride - at * stride] = true;
        } else if odd && grid.is_periodic(axis) && sites > 1 {
            set[if at == 0 {
                n + (sites - 1) * stride
            } else {
                n - at * stride
            }] = true;
        }
    }
}

/// Grows a set of sites by their neighbours up to `reach` along each axis: what a star-shaped stencil depends on.
pub fn grow_by_star(grid: &Grid, set: &mut [bool], reach: usize) {
    let before: Vec<usize> = (0..set.len()).filter(|&n| set[n]).collect();
    for axis in 0..grid.rank() {
        let sites = grid.size()[axis];
        let stride: usize = grid.size()[..axis].iter().product();
        for &n in &before {
            let at = n / stride % sites;
            for far in 1..=reach.min(sites - 1) {
                for to in [at.checked_sub(far), Some(at + far)] {
                    match to {
                        Some(to) if to < sites => set[n - at * stride + to * stride] = true,
                        _ if grid.is_periodic(axis) => {
                            let to = to.map_or(at + sites - far, |to| to - sites);
                            set[n - at * stride + to * stride] = true;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Edge;

    fn set(sites: usize, of: &[usize]) -> Vec<bool> {
        (0..sites).map(|n| of.contains(&n)).collect()
    }

    #[test]
    fn what_was_heard_elsewhere_is_appended_in_order() {
        let mut own = Transducers::listening(Arc::from([1, 4]), vec![Complex64::ONE; 2]);
        let count = 3 * FEW;
        let value = |n: usize| Complex64::new(f64::from(u32::try_from(n).unwrap()), 0.0);
        own.hear_all(count, value);
        assert_eq!(own.heard().len(), count + 2);
        assert_eq!(own.heard()[1], Complex64::ONE);
        assert!((0..count).all(|n| own.heard()[n + 2] == value(n)));
    }

    #[test]
    fn pairs_and_stars_on_a_ring_and_a_line() {
        let line = Grid::new(&[8], 1.0);
        let ring = Grid::new(&[8], 1.0).with_edges([Edge::Periodic; 3], 0);
        for (grid, odd, start, grown) in [
            (&line, false, vec![2], vec![2, 3]),
            (&line, true, vec![2], vec![1, 2]),
            (&line, true, vec![0, 7], vec![0, 7]),
            (&ring, true, vec![7], vec![0, 7]),
            (&ring, true, vec![0], vec![0, 7]),
        ] {
            let mut found = set(8, &start);
            grow_by_pairs(grid, &mut found, 0, odd);
            assert_eq!(found, set(8, &grown), "{grid} odd {odd} {start:?}");
        }
        let mut found = set(8, &[1]);
        grow_by_star(&line, &mut found, 2);
        assert_eq!(found, set(8, &[0, 1, 2, 3]));
        let mut found = set(8, &[7]);
        grow_by_star(&ring, &mut found, 2);
        assert_eq!(found, set(8, &[0, 1, 5, 6, 7]));
        let plane = Grid::new(&[4, 4], 1.0);
        let mut found = set(16, &[5]);
        grow_by_star(&plane, &mut found, 1);
        assert_eq!(found, set(16, &[1, 4, 5, 6, 9]));
    }
}

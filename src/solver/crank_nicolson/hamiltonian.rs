//! H of a line at its sites, relative to E₀ in real time, and the matrix of its Crank–Nicolson step.

use super::reference::Reference;
use crate::field::Real;
use crate::physics::{Expression, Medium, Quantum, Sets};
use crate::scene::Scenario;
use num_complex::Complex64;
use rayon::prelude::*;

/// The tridiagonal T = 1 + iΔt/2·H, the same off-diagonal everywhere but at walls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Δt, signed.
    pub dt: f64,
    /// Whether time is imaginary: T = 1 + Δt/2·(H − lowest).
    pub imaginary: bool,
    /// Both off-diagonals.
    pub off: Complex64,
    /// Taken off the diagonal in imaginary time, so that H − lowest ≥ 0.
    lowest: f64,
}

impl Step {
    /// A step of H with these hoppings, no energy of which lies below `lowest`.
    pub(super) fn new(dt: f64, hopping: f64, imaginary: bool, lowest: f64) -> Self {
        let half = if imaginary {
            Complex64::new(dt / 2.0, 0.0)
        } else {
            Complex64::new(0.0, dt / 2.0)
        };
        Self {
            dt,
            imaginary,
            off: -half * hopping,
            lowest,
        }
    }

    /// The steps of a plane's lines along x, half as long, and along y, and what each has as the diagonal of T: the potential is not theirs.
    pub(super) fn of_plane(dt: f64, quantum: &Quantum, imaginary: bool) -> [(Self, Complex64); 2] {
        let own = quantum.diagonal / 2.0;
        let lowest = own - 2.0 * quantum.hopping.abs();
        [dt / 2.0, dt].map(|length| {
            let step = Self::new(length, quantum.hopping, imaginary, lowest);
            (step, step.diagonal(own, 0.0))
        })
    }

    /// The diagonal of T where H has `energy` − i·`absorption`. Absorption decreases ψ forwards and backwards in time.
    pub(super) fn diagonal(&self, energy: f64, absorption: f64) -> Complex64 {
        if self.imaginary {
            Complex64::new(1.0 + self.dt / 2.0 * (energy - self.lowest), 0.0)
        } else {
            Complex64::new(1.0 + self.dt.abs() / 2.0 * absorption, self.dt / 2.0 * energy)
        }
    }

    /// The energy that is subtracted from the diagonal of H in imaginary time.
    #[cfg(feature = "cuda")]
    pub(super) fn lowest(&self) -> f64 {
        self.lowest
    }

    /// −2/off, the factor of the right-hand side, so that one coefficient q = −off/pivot serves elimination and solution.
    pub(super) fn scale(&self) -> Complex64 {
        -2.0 / self.off
    }
}

/// The lowest diagonal element of H of the line that a scenario's is a window of: all parts of a line relax with respect to the same energy.
fn least_of_whole<T: Real>(scenario: &Scenario, quantum: Quantum) -> f64 {
    const PART: usize = 4096;
    let whole = scenario.grid().whole();
    let sites = whole.size()[0];
    let medium = scenario.medium().over(whole);
    let parts = (0..sites.div_ceil(PART)).into_par_iter().map(|part| {
        let x = part * PART..((part + 1) * PART).min(sites);
        let mut row = vec![0.0; x.len()];
        medium.potential_row(None, 0, 0, x, &mut row);
        let diagonal = |value: &f64| T::of(value + quantum.diagonal).wide();
        row.iter().map(diagonal).fold(f64::INFINITY, f64::min)
    });
    parts.reduce(|| f64::INFINITY, f64::min)
}

/// Energies, absorption, walls and driven parts of a line's sites.
pub(super) struct Hamiltonian<T> {
    pub quantum: Quantum,
    pub imaginary: bool,
    pub periodic: bool,
    /// E₀, which the energies and the driven parts are relative to.
    reference: Reference,
    energy: Vec<T>,
    /// Empty where nothing absorbs.
    absorption: Vec<T>,
    /// Empty where no wall stands.
    walls: Vec<bool>,
    driven: Vec<(Expression, Vec<T>)>,
    least: f64,
}

impl<T: Real> Hamiltonian<T> {
    /// Reads the medium of a line.
    pub(super) fn new(scenario: &Scenario, quantum: Quantum) -> Self {
        let grid = scenario.grid();
        let medium: &Medium = scenario.medium();
        let sites = grid.size()[0];
        let read = |fill: &(dyn Fn(std::ops::Range<usize>, &mut [f64]) + Sync)| -> Vec<T> {
            const PART: usize = 4096;
            let mut all = vec![T::zero(); sites];
            all.par_chunks_mut(PART).enumerate().for_each(|(part, out)| {
                let mut wide = vec![0.0; out.len()];
                fill(part * PART..part * PART + out.len(), &mut wide);
                for (value, wide) in out.iter_mut().zip(wide) {
                    *value = T::of(wide);
                }
            });
            all
        };
        let reference = Reference::of(scenario);
        let energy = read(&|x, row| {
            medium.potential_row(None, 0, 0, x, row);
            for value in row {
                *value = *value - reference.still + quantum.diagonal;
            }
        });
        let mut absorption = read(&|x, row| medium.absorption_row(quantum.absorption_scale(), 0, 0, x, row));
        if absorption.iter().all(T::is_zero) {
            absorption = Vec::new();
        }
        let mut walls = Vec::new();
        if medium.has(Sets::Wall) {
            walls = vec![false; sites];
            medium.wall_row(0, 0, 0..sites, &mut walls);
        }
        let driven: Vec<_> = medium
            .drives()
            .iter()
            .enumerate()
            .map(|(g, drive)| {
                let middle = reference.driven.get(g).copied().unwrap_or(0.0);
                let part = read(&|x, row| {
                    medium.potential_row(Some(g), 0, 0, x, row);
                    for value in row {
                        *value -= middle;
                    }
                });
                (drive.clone(), part)
            })
            .filter(|(_, part)| part.iter().any(|value| !value.is_zero()))
            .collect();
        let imaginary = scenario.time().imaginary;
        let least = if imaginary && grid.is_window() {
            least_of_whole::<T>(scenario, quantum)
        } else {
            energy.iter().fold(f64::INFINITY, |least, e| least.min(e.wide()))
        };
        Self {
            quantum,
            imaginary,
            periodic: grid.is_periodic(0),
            reference,
            energy,
            absorption,
            walls,
            driven,
            least,
        }
    }

    /// A line of `sites` without potential, open, J = 1: to measure on.
    pub(super) fn uniform(sites: usize) -> Self {
        Self {
            quantum: Quantum {
                hopping: 1.0,
                diagonal: 2.0,
                ..Quantum::default()
            },
            imaginary: false,
            periodic: false,
            reference: Reference::default(),
            energy: vec![T::of(2.0); sites],
            absorption: Vec::new(),
            walls: Vec::new(),
            driven: Vec::new(),
            least: 2.0,
        }
    }

    /// Sites.
    pub(super) fn sites(&self) -> usize {
        self.energy.len()
    }

    /// Whether the interaction acts by the density at the start of a step: in imaginary time, where half steps that read the present |ψ|² would
    /// use another norm and leave the ground state off by O(Δt).
    pub(super) fn has_mean_field(&self) -> bool {
        self.imaginary && self.quantum.interaction != 0.0
    }

    /// Whether E changes with time.
    pub(super) fn is_driven(&self) -> bool {
        !self.driven.is_empty()
    }

    /// The values of the drives at a time.
    pub(super) fn drives_at(&self, time: f64) -> Vec<f64> {
        self.driven.iter().map(|(drive, _)| drive.eval(&[time])).collect()
    }

    /// The same, and E₀ after them: what [`Self::energy_at`] needs.
    pub(super) fn drives_and_reference_at(&self, time: f64) -> Vec<f64> {
        let mut all = self.drives_at(time);
        all.push(self.reference.at(time));
        all
    }

    /// Diagonal of H at a site, with what [`Self::drives_and_reference_at`] gives.
    pub(super) fn energy_at(&self, site: usize, drives: &[f64]) -> f64 {
        let reference = drives.get(self.driven.len()).copied().unwrap_or(0.0);
        self.relative_at(site, drives) + reference
    }

    /// Diagonal of H − E₀ at a site.
    fn relative_at(&self, site: usize, drives: &[f64]) -> f64 {
        let driven = self.driven.iter().zip(drives);
        self.energy[site].wide() + driven.map(|((_, part), drive)| part[site].wide() * drive).sum::<f64>()
    }

    /// E₀ at a time.
    #[cfg(feature = "cuda")]
    pub(super) fn reference_at(&self, time: f64) -> f64 {
        self.reference.at(time)
    }

    /// Diagonal of H − E₀ at a site without drives.
    #[cfg(feature = "cuda")]
    pub(super) fn still_at(&self, site: usize) -> T {
        self.energy[site]
    }

    /// Drives.
    pub(super) fn drives(&self) -> usize {
        self.driven.len()
    }

    /// What a unit of drive `n` adds to the diagonal of H − E₀ at a site.
    pub(super) fn driven_at(&self, n: usize, site: usize) -> T {
        self.driven[n].1[site]
    }

    /// Whether something absorbs.
    #[cfg(feature = "cuda")]
    pub(super) fn absorbs(&self) -> bool {
        !self.absorption.is_empty()
    }

    /// Absorption at a site where something absorbs.
    #[cfg(feature = "cuda")]
    pub(super) fn absorption_at(&self, site: usize) -> T {
        self.absorption[site]
    }

    /// Whether the site is a wall.
    pub(super) fn is_wall(&self, site: usize) -> bool {
        self.walls.get(site).copied().unwrap_or(false)
    }

    /// The step's matrix.
    pub(super) fn step(&self, dt: f64) -> Step {
        let hopping = self.quantum.hopping;
        Step::new(dt, hopping, self.imaginary, self.least - 2.0 * hopping.abs())
    }

    /// The diagonal of T at a site, `None` for a wall: there ψ stays 0 and nothing couples.
    pub(super) fn row(&self, step: &Step, site: usize, drives: &[f64]) -> Option<Complex64> {
        if self.is_wall(site) {
            return None;
        }
        let absorption = self.absorption.get(site).map_or(0.0, |w| w.wide());
        Some(step.diagonal(self.relative_at(site, drives), absorption))
    }

    /// Whether the line is periodic.
    pub(super) fn closes(&self) -> bool {
        self.periodic && !self.is_wall(0) && !self.is_wall(self.sites() - 1)
    }

    /// Whether an open line's drives are eliminated in every step, with the step.
    pub(super) fn is_eliminated_in_steps(&self) -> bool {
        self.is_driven() && !self.closes()
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        let reals = self.energy.len() * (1 + self.driven.len()) + self.absorption.len();
        reals * size_of::<T>() + self.walls.len()
    }
}

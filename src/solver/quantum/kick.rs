//! The potential half of the split step: ψ ← e^{−i(U + g|ψ|² − iW)τ}ψ, site by site.

use super::{at_sites, rotation};
use crate::field::Real;
use crate::physics::{Expression, Medium, Sets};
use num_complex::Complex;
use rayon::prelude::*;

/// U, W and g of a scene at the sites, with the factors of its substeps.
pub struct Kick<T: Real> {
    /// Static potential; empty where it is 0 everywhere.
    potential: Vec<T>,
    /// W; empty where it is 0 everywhere.
    absorption: Vec<T>,
    driven: Vec<(Expression, Vec<T>)>,
    interaction: f64,
    /// g at the sites; empty where it is the same at all of them.
    strengths: Vec<T>,
    imaginary: bool,
    taus: Vec<f64>,
    /// e^{−i(U − iW)τ} of each kind of substep; empty where it is 1 everywhere.
    factors: Vec<Vec<Complex<T>>>,
}

impl<T: Real> Kick<T> {
    /// The potential of a medium.
    pub fn new(medium: &Medium, absorption_scale: f64, interaction: f64, imaginary: bool) -> Self {
        let nx = medium.grid().size()[0];
        let read = |fill: &(dyn Fn(usize, usize, &mut [f64]) + Sync)| -> Vec<T> {
            let all: Vec<T> = at_sites(medium.grid(), fill);
            if all.iter().all(T::is_zero) { Vec::new() } else { all }
        };
        Self {
            potential: read(&|j, k, row| medium.potential_row(None, j, k, 0..nx, row)),
            absorption: read(&|j, k, row| medium.absorption_row(absorption_scale, j, k, 0..nx, row)),
            driven: medium
                .drives()
                .iter()
                .enumerate()
                .map(|(g, drive)| {
                    let part = read(&|j, k, row| medium.potential_row(Some(g), j, k, 0..nx, row));
                    (drive.clone(), part)
                })
                .filter(|(_, part)| !part.is_empty())
                .collect(),
            interaction,
            strengths: if medium.has(Sets::Interaction) {
                at_sites(medium.grid(), |j, k, row| {
                    medium.interaction_row(interaction, j, k, 0..nx, row);
                })
            } else {
                Vec::new()
            },
            imaginary,
            taus: Vec::new(),
            factors: Vec::new(),
        }
    }

    /// Sets the substeps. Absorption decreases ψ forwards and backwards in time; with `absorbs` false it is left to [`Self::absorb`].
    pub fn set_steps(&mut self, taus: &[f64], absorbs: bool) {
        self.taus = taus.to_vec();
        let absorption: &[T] = if absorbs { &self.absorption } else { &[] };
        let sites = self.potential.len().max(absorption.len());
        let at = |values: &[T], n: usize| values.get(n).map_or(0.0, |value| value.wide());
        self.factors = taus
            .iter()
            .map(|tau| {
                (0..sites)
                    .into_par_iter()
                    .map(|n| {
                        let decay = (-at(absorption, n) * tau.abs()).exp();
                        let angle = -at(&self.potential, n) * tau;
                        if self.imaginary {
                            Complex::new(T::of(decay * angle.exp()), T::zero())
                        } else {
                            rotation(decay, angle)
                        }
                    })
                    .collect()
            })
            .collect();
    }

    /// e^{−i(U − iW)τ} of a kind of substep at the sites; empty where it is 1 everywhere.
    #[cfg(feature = "cuda")]
    pub fn factors(&self, kind: usize) -> &[Complex<T>] {
        &self.factors[kind]
    }

    /// U without drives at the sites; empty where it is 0 everywhere.
    #[cfg(feature = "cuda")]
    pub fn potential(&self) -> &[T] {
        &self.potential
    }

    /// What a unit of each drive adds to U at the sites.
    #[cfg(feature = "cuda")]
    pub fn driven(&self) -> impl Iterator<Item = &[T]> {
        self.driven.iter().map(|(_, part)| part.as_slice())
    }

    /// The values of the drives at a time.
    pub fn drive_values(&self, time: f64) -> Vec<f64> {
        self.driven.iter().map(|(drive, _)| drive.eval(&[time])).collect()
    }

    /// Whether [`Self::apply`] needs the density at the start of the step: imaginary time with an interaction.
    ///
    /// With the same density in both halves a state that a step does not change is an eigenvector of a symmetric product for H[n], so that the ground
    /// state is off by O(Δt²). Halves that read the present |ψ|² use the norm after the kinetic part, which differs, and are off by O(Δt).
    pub fn has_mean_field(&self) -> bool {
        self.imaginary && self.interacts()
    }

    fn interacts(&self) -> bool {
        self.interaction != 0.0 || !self.strengths.is_empty()
    }

    /// The substep of this kind on the sites from `first` on. `density`: |ψ|² of all sites at the start of the step where
    /// [`Self::has_mean_field`] says so, otherwise empty.
    pub fn apply(&self, kind: usize, drives: &[f64], first: usize, psi: &mut [Complex<T>], density: &[T]) {
        let factors = &self.factors[kind];
        let tau = self.taus[kind];
        if !self.driven.is_empty() || self.interacts() {
            let drives: Vec<T> = drives.iter().map(|drive| T::of(drive * tau)).collect();
            let strength = T::of(self.interaction * tau);
            let tau = T::of(tau);
            let half = T::of(0.5);
            for (n, value) in psi.iter_mut().enumerate() {
                // While W acts, |ψ|² falls from ρ to ρ|f|²: the trapezoid between keeps the substep symmetric and of second order.
                let own = self.strengths.get(first + n).map_or(strength, |g| *g * tau);
                let mut angle = own
                    * density.get(first + n).copied().unwrap_or_else(|| {
                        let decayed = factors.get(first + n).map_or(T::one(), Complex::norm_sqr);
                        value.norm_sqr() * (half * (T::one() + decayed))
                    });
                for ((_, part), drive) in self.driven.iter().zip(&drives) {
                    angle += *drive * part[first + n];
                }
                let factor = if self.imaginary {
                    Complex::new((-angle).exp(), T::zero())
                } else {
                    Complex::new(angle.cos(), -angle.sin())
                };
                *value *= factor;
            }
        }
        if !factors.is_empty() {
            for (value, factor) in psi.iter_mut().zip(&factors[first..]) {
                *value *= factor;
            }
        }
    }

    /// ψ ← e^{−Wτ}ψ at all sites, for compositions with absorption outside.
    pub fn absorb(&self, tau: f64, psi: &mut [Complex<T>]) {
        const PART: usize = 4096;
        let absorption = self.absorption.par_chunks(PART);
        psi.par_chunks_mut(PART).zip(absorption).for_each(|(psi, absorption)| {
            for (psi, w) in psi.iter_mut().zip(absorption).filter(|(_, w)| !w.is_zero()) {
                *psi = psi.scale(T::of((-w.wide() * tau.abs()).exp()));
            }
        });
    }

    /// U(r, t) + (g/2)|ψ|² at a site.
    pub fn energy(&self, drives: &[f64], site: usize, density: f64) -> f64 {
        let g = self.strengths.get(site).map_or(self.interaction, |g| g.wide());
        let mut energy = self.potential.get(site).map_or(0.0, |u| u.wide()) + 0.5 * g * density;
        for ((_, part), drive) in self.driven.iter().zip(drives) {
            energy += drive * part[site].wide();
        }
        energy
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let reals = self.potential.len() + self.absorption.len() + self.strengths.len();
        let driven: usize = self.driven.iter().map(|(_, part)| part.len()).sum();
        let factors: usize = self.factors.iter().map(Vec::len).sum();
        size_of::<T>() * (reals + driven + 2 * factors)
    }
}

//! Maps of ψ that need more than single sites: the density of its energy, its momenta, and the largest |ψ|² so far.
//!
//! They are computed from the closed field on the host, so they are the same for every method and back end. Energy and
//! momenta cost a pass over the field (momenta a Fourier transform, O(N log N)) per picture. The peak is taken after
//! every step, so that it does not depend on how steps are divided into batches; while it is watched, a step costs an
//! additional copy of the field.

use crate::field::FieldData;
use crate::grid::Grid;
use crate::physics::{Bonds, Equation, Quantum, Sets};
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::{FieldImage, ImageRequest};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use rustfft::FftPlanner;
use std::f64::consts::TAU;

/// Whether a quantity of an equation is computed here rather than by the solver.
pub(super) fn has(quantity: Quantity, equation: Equation) -> bool {
    equation == Equation::Schrodinger && matches!(quantity, Quantity::Energy | Quantity::Peak | Quantity::Momentum)
}

/// The values of the map made last, and the peak while it is watched.
#[derive(Default)]
pub(super) struct Maps {
    /// One value per site, x fastest.
    values: Vec<f32>,
    /// Largest |ψ|² of each site since it was first watched; empty = not watched.
    peak: Vec<f32>,
}

impl Maps {
    /// Whether every step needs a pass.
    pub(super) fn watches(&self) -> bool {
        !self.peak.is_empty()
    }

    /// Forgets the peak; it starts again with the next picture of it.
    pub(super) fn forget_peak(&mut self) {
        self.peak = Vec::new();
    }

    /// The peak so far; empty while it is not watched.
    pub(super) fn peak(&self) -> &[f32] {
        &self.peak
    }

    /// Continues from another peak, if one is watched; an empty one acts as [`Maps::forget_peak`].
    pub(super) fn go_on_from(&mut self, peak: &[f32]) {
        if self.watches() {
            self.peak = peak.to_vec();
        }
    }

    /// Without a map or a peak.
    pub(super) fn begin_peak(&mut self) {
        self.peak.fill(0.0);
    }

    /// Takes the peak over from a state.
    pub(super) fn watch(&mut self, field: &FieldData) {
        if self.peak.is_empty() {
            self.peak = vec![0.0; field.len()];
        }
        self.peak.par_iter_mut().enumerate().for_each(|(site, peak)| {
            let now = single(field.at(site).norm_sqr());
            // A value that is not a number stays one: the run must be seen to have failed.
            if now > *peak || now.is_nan() {
                *peak = now;
            }
        });
    }

    /// Makes the map of a state at `time`.
    pub(super) fn make(&mut self, quantity: Quantity, scenario: &Scenario, time: f64, field: &FieldData) {
        match quantity {
            Quantity::Momentum => momentum(scenario.grid(), field, &mut self.values),
            Quantity::Peak => {
                if self.peak.is_empty() {
                    self.watch(field);
                }
                self.values.clone_from(&self.peak);
            }
            _ => {
                if let Some(quantum) = scenario.model().quantum() {
                    energy(scenario, &quantum, time, field, &mut self.values);
                }
            }
        }
    }

    /// A picture of the map made last: means over a texel's sites, for the peak the largest value.
    pub(super) fn draw(&self, grid: &Grid, request: &ImageRequest, image: &mut FieldImage) {
        let [nx, ny, _] = grid.size();
        image.fill_real(request, |j, out| {
            let first = request.x.start + nx * (j + ny * request.z);
            out.copy_from_slice(&self.values[first..first + out.len()]);
        });
    }
}

#[expect(clippy::cast_possible_truncation, reason = "pictures are in single precision")]
fn single(value: f64) -> f32 {
    value as f32
}

/// The momentum that site `n` of an axis of a momentum map stands for: 2π(n − ⌊N/2⌋)/(N a), from −π/a on.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
pub fn wave_number(grid: &Grid, axis: usize, site: f64) -> f64 {
    let sites = grid.size()[axis];
    TAU * (site - (sites / 2) as f64) / (sites as f64 * grid.spacing())
}

/// |ψ(k)|² = (a²/2π)^d/a^d·|Σ ψ e^{−ik·r}|²·a^{d}: with Δk = 2π/(N a) along each axis Σ |ψ(k)|² Δk^d is the norm. The
/// field is treated as periodic; k = 0 is site ⌊N/2⌋ of each axis.
fn momentum(grid: &Grid, field: &FieldData, out: &mut Vec<f32>) {
    let size = grid.size();
    #[expect(clippy::cast_possible_truncation, reason = "32 bits are what pictures show")]
    let mut all: Vec<Complex<f32>> = match field {
        FieldData::Complex64(values) => values.clone(),
        other => (0..other.len())
            .into_par_iter()
            .map(|site| {
                let psi = other.at(site);
                Complex::new(psi.re as f32, psi.im as f32)
            })
            .collect(),
    };
    let mut planner = FftPlanner::new();
    let mut inner = 1;
    for sites in size.into_iter().take(grid.rank()) {
        if sites > 1 {
            transform(&mut all, sites, inner, &mut planner);
        }
        inner *= sites;
    }
    // a^{2d}/(2π)^d.
    let scale = (grid.spacing().powi(2) / TAU).powi(i32::try_from(grid.rank()).unwrap_or(3));
    let scale = single(scale);
    let [nx, ny, nz] = size;
    let turned = |n: usize, sites: usize| (n + sites - sites / 2) % sites;
    out.resize(all.len(), 0.0);
    out.par_chunks_mut(nx).enumerate().for_each(|(row, values)| {
        let (j, k) = (turned(row % ny, ny), turned(row / ny, nz));
        let line = &all[nx * (j + ny * k)..][..nx];
        for (i, value) in values.iter_mut().enumerate() {
            *value = scale * line[turned(i, nx)].norm_sqr();
        }
    });
}

/// Fourier transforms along an axis of `sites` sites whose neighbours lie `inner` apart.
fn transform(all: &mut [Complex<f32>], sites: usize, inner: usize, planner: &mut FftPlanner<f32>) {
    let fft = planner.plan_fft_forward(sites);
    let scratch = || vec![Complex::default(); fft.get_inplace_scratch_len()];
    if inner == 1 {
        all.par_chunks_mut(sites)
            .for_each_init(scratch, |scratch, line| fft.process_with_scratch(line, scratch));
        return;
    }
    let mut lines = vec![Complex::<f32>::default(); all.len()];
    lines
        .par_chunks_mut(sites)
        .enumerate()
        .for_each_init(scratch, |scratch, (number, line)| {
            let first = number / inner * inner * sites + number % inner;
            for (n, value) in line.iter_mut().enumerate() {
                *value = all[first + n * inner];
            }
            fft.process_with_scratch(line, scratch);
        });
    all.par_chunks_mut(inner).enumerate().for_each(|(row, values)| {
        let (outer, n) = (row / sites, row % sites);
        for (i, value) in values.iter_mut().enumerate() {
            *value = lines[(outer * inner + i) * sites + n];
        }
    });
}

/// The density of the energy: e = Σ_b (J/2)|ψ − e^{−iϕ}ψ_b|² + (D + U − J n)|ψ|² + (g/2)|ψ|⁴ over the n bonds of a site, each shared by its
/// two ends and counted as strongly as layers make it; D is the constant on the diagonal. Σ e a^d is ⟨ψ|H|ψ⟩ with the energy of the interaction. With a mass, e is nowhere negative where
/// U is not.
fn energy(scenario: &Scenario, quantum: &Quantum, time: f64, field: &FieldData, out: &mut Vec<f32>) {
    let grid = scenario.grid();
    let medium = scenario.medium();
    let [nx, ny, nz] = grid.size();
    let drives: Vec<f64> = medium.drives().iter().map(|drive| drive.eval(&[time])).collect();
    let mut walls = Vec::new();
    if medium.has(Sets::Wall) {
        walls = vec![false; grid.sites()];
        walls.par_chunks_mut(nx).enumerate().for_each(|(row, out)| {
            medium.wall_row(row % ny, row / ny, 0..nx, out);
        });
    }
    let own_bonds = Bonds::of(quantum, medium);
    let is_wall = |site: usize| walls.get(site).copied().unwrap_or(false);
    out.resize(grid.sites(), 0.0);
    out.par_chunks_mut(nx).enumerate().for_each_init(
        || [vec![0.0; nx], vec![0.0; nx], vec![quantum.diagonal; nx], vec![0.0; nx]],
        |[potential, part, diagonal, interaction], (row, values)| {
            let (j, k) = (row % ny, row / ny);
            medium.potential_row(None, j, k, 0..nx, potential);
            medium.interaction_row(quantum.interaction, j, k, 0..nx, interaction);
            if let Some(own) = &own_bonds {
                own.diagonal_row(quantum, row, diagonal);
            }
            for (group, drive) in drives.iter().enumerate() {
                medium.potential_row(Some(group), j, k, 0..nx, part);
                potential
                    .iter_mut()
                    .zip(&*part)
                    .for_each(|(all, part)| *all += drive * part);
            }
            #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
            let turn = Complex64::cis(TAU * quantum.flux * j as f64);
            for (i, value) in values.iter_mut().enumerate() {
                let site = row * nx + i;
                if is_wall(site) {
                    *value = 0.0;
                    continue;
                }
                let psi = field.at(site);
                let (mut kinetic, mut bonds) = (0.0, 0.0);
                // The bond upwards along x is ψ* e^{iϕ} ψ_b; downwards its conjugate.
                let mut bond = |other: usize, strength: f64, turn: Complex64| {
                    if !is_wall(other) {
                        kinetic += 0.5 * quantum.hopping * strength * (psi - turn * field.at(other)).norm_sqr();
                        bonds += strength;
                    }
                };
                if let Some(own) = &own_bonds {
                    own.beside(site, |other, coupling| {
                        let strength = coupling.norm();
                        if strength > 0.0 {
                            bond(other, strength, coupling / strength);
                        }
                    });
                }
                for (axis, (at, sites, stride)) in [(i, nx, 1), (j, ny, nx), (k, nz, nx * ny)]
                    .into_iter()
                    .enumerate()
                    .take(if own_bonds.is_some() { 0 } else { grid.rank() })
                {
                    let turn = if axis == 0 { turn } else { Complex64::ONE };
                    let closes = grid.is_periodic(axis) && sites > 1;
                    if at + 1 < sites {
                        bond(site + stride, 1.0, turn);
                    } else if closes {
                        bond(site - (sites - 1) * stride, 1.0, turn);
                    }
                    if at > 0 {
                        bond(site - stride, 1.0, turn.conj());
                    } else if closes {
                        bond(site + (sites - 1) * stride, 1.0, turn.conj());
                    }
                }
                let density = psi.norm_sqr();
                let local = diagonal[i] + potential[i] - quantum.hopping * bonds;
                let other = match medium.cross_interaction() {
                    0.0 => 0.0,
                    g => g * field.at(medium.other_component(site)).norm_sqr(),
                };
                *value = single(kinetic + density * (local + 0.5 * (interaction[i] * density + other)));
            }
        },
    );
}

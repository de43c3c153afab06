//! Exact solutions and independent double-precision references: what tests, presets, `selftest` and the app's "is it right?"
//! panel share.
//!
//! Nothing here uses the solvers: a wrong solver cannot make its own reference wrong. Everything is plain, slow and in
//! double precision. ħ = 1; H = −J Σ(|i⟩⟨j| + h.c.) + diagonal + U − iW.
//!
//! - [`Lattice`]: the Hamiltonian of any scene, applied, exponentiated, integrated.
//! - [`TrotterSplitting`]: the eight-sweep Trotter–Suzuki step, site by site.
//! - [`acoustics`]: closed forms of sound, and steady tones of the acoustic scheme.
//! - [`OscillatorLattice`]: sound as masses and springs, exactly and pair by pair.
//! - [`chain`]: closed forms on the infinite chain, on rings and boxes, with a field.
//! - [`continuum`]: closed forms of the continuum.
//! - [`elimination`]: dense systems of equations.
//! - [`transfer`]: transfer matrices in one dimension: transmission, averages over a packet, localisation length.
//! - [`leapfrog`]: the leapfrog step of sound, site by site.
//! - [`mirrors`]: what time-reversal mirrors leave, and how small and how clear their focus is.
//! - [`free`]: exact free evolution on boxes and tori.

pub mod acoustics;
pub mod chain;
pub mod continuum;
pub mod elimination;
pub mod free;
pub mod lattice;
pub mod leapfrog;
pub mod mirrors;
pub mod oscillators;
pub mod transfer;
pub mod trotter;

pub use lattice::Lattice;
pub use oscillators::OscillatorLattice;
pub use trotter::TrotterSplitting;

use super::Initial;
use crate::grid::Grid;
use num_complex::Complex64;

/// The state at t = 0, x fastest, normalised to Σ|ψ|² a^d = 1 if the scene requires it.
pub fn initial_state(grid: &Grid, initial: &Initial) -> Vec<Complex64> {
    let [nx, ny, _] = grid.size();
    let mut psi = vec![Complex64::ZERO; grid.sites()];
    let rows = initial.rows(grid);
    for (row, out) in psi.chunks_mut(nx).enumerate() {
        rows.fill(row % ny, row / ny, out);
    }
    if initial.normalised() {
        let norm = norm(&psi) * grid.cell_volume();
        if norm > 0.0 {
            let scale = 1.0 / norm.sqrt();
            for value in &mut psi {
                *value *= scale;
            }
        }
    }
    psi
}

/// Σ|ψ|².
pub fn norm(psi: &[Complex64]) -> f64 {
    psi.iter().map(Complex64::norm_sqr).sum()
}

/// ‖ψ − φ‖₂ / ‖φ‖₂: the error of ψ relative to φ.
pub fn distance(psi: &[Complex64], phi: &[Complex64]) -> f64 {
    debug_assert_eq!(psi.len(), phi.len());
    let difference: f64 = psi.iter().zip(phi).map(|(p, q)| (p - q).norm_sqr()).sum();
    (difference / norm(phi)).sqrt()
}

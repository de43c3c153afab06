//! One line from end to end: the serial elimination, the reference for the partition.
//!
//! Layout: x fastest. Scheme: D_i = −2/off · ψ_i + q_{i−1} D_{i−1} upwards; Y_i = q_i (D_i + Y_{i+1}) downwards, Y = 2T⁻¹ψ; ψ ← Y − ψ. 12 multiply-adds a row; the two
//! recurrences wait for every multiply-add before them, on one thread.

use super::hamiltonian::{Hamiltonian, Step};
use super::propagator::Propagator;
use crate::field::{Real, narrow};
use crate::solver::clock::RunClock;
use num_complex::{Complex, Complex64};

/// q = −off/pivot of every row (0 at walls), and for a ring ζ of the correction of rank one: Y −= ζ (Y_0 − Y_{n−1}).
pub(super) struct Coefficients {
    pub q: Vec<Complex64>,
    pub ring: Option<Vec<Complex64>>,
}

impl Coefficients {
    /// Of a line of `sites` rows with these diagonals of T (`None`: a wall), closed to a ring or open.
    pub(super) fn new(step: &Step, sites: usize, closed: bool, diagonal: impl Fn(usize) -> Option<Complex64>) -> Self {
        let off = step.off;
        let closed = closed && diagonal(0).is_some() && diagonal(sites - 1).is_some();
        let mut q = vec![Complex64::ZERO; sites];
        let mut above = Complex64::ZERO;
        for (i, q) in q.iter_mut().enumerate() {
            if let Some(mut pivot) = diagonal(i) {
                // T = T' − off (e_0 − e_{n−1})(e_0 − e_{n−1})ᵀ: T' is open and still 1 + i·Hermitian.
                if closed && i == 0 {
                    pivot += off;
                }
                if closed && i + 1 == sites {
                    pivot += off;
                }
                *q = -off / (pivot + above * off);
            }
            above = *q;
        }
        let mut coefficients = Self { q, ring: None };
        if closed {
            let mut z = vec![Complex64::ZERO; sites];
            z[0] += 1.0;
            z[sites - 1] -= 1.0;
            coefficients.solve(step, &mut z);
            let factor = -off / (1.0 - off * (z[0] - z[sites - 1]));
            for z in &mut z {
                *z *= factor;
            }
            coefficients.ring = Some(z);
        }
        coefficients
    }

    /// Replaces d by the open line's x.
    fn solve(&self, step: &Step, d: &mut [Complex64]) {
        let half_scale = step.scale() / 2.0;
        let mut above = Complex64::ZERO;
        for (d, q) in d.iter_mut().zip(&self.q) {
            *d = half_scale * *d + above;
            above = q * *d;
        }
        let mut below = Complex64::ZERO;
        for (d, q) in d.iter_mut().zip(&self.q).rev() {
            *d = q * (*d + below);
            below = *d;
        }
    }
}

/// A line.
pub(super) struct EndToEnd<T: Real> {
    hamiltonian: Hamiltonian<T>,
    step: Step,
    psi: Vec<Complex<T>>,
    right: Vec<Complex<T>>,
    q: Vec<Complex<T>>,
    /// Empty for an open line.
    ring: Vec<Complex<T>>,
    /// |ψ|² at the start of a step in imaginary time with an interaction; otherwise empty.
    density: Vec<T>,
}

impl<T: Real> EndToEnd<T> {
    /// A line with ψ = 0.
    pub(super) fn new(hamiltonian: Hamiltonian<T>) -> Self {
        let sites = hamiltonian.sites();
        Self {
            step: hamiltonian.step(1.0),
            hamiltonian,
            psi: vec![Complex::default(); sites],
            right: vec![Complex::default(); sites],
            q: Vec::new(),
            ring: Vec::new(),
            density: Vec::new(),
        }
    }

    fn factorise(&mut self, drives: &[f64]) {
        let hamiltonian = &self.hamiltonian;
        let coefficients = Coefficients::new(&self.step, self.psi.len(), hamiltonian.periodic, |site| {
            hamiltonian.row(&self.step, site, drives)
        });
        self.q = coefficients.q.iter().copied().map(narrow).collect();
        self.ring = coefficients.ring.iter().flatten().copied().map(narrow).collect();
    }

    fn step_once(&mut self) {
        let scale = narrow::<T>(self.step.scale());
        let mut above = Complex::default();
        for ((d, psi), q) in self.right.iter_mut().zip(&self.psi).zip(&self.q) {
            *d = scale * psi + above;
            above = q * *d;
        }
        let mut below = Complex::default();
        for (d, q) in self.right.iter_mut().zip(&self.q).rev() {
            *d = q * (*d + below);
            below = *d;
        }
        if !self.ring.is_empty() {
            let turn = self.right[0] - self.right[self.right.len() - 1];
            for (y, zeta) in self.right.iter_mut().zip(&self.ring) {
                *y -= zeta * turn;
            }
        }
        for (psi, y) in self.psi.iter_mut().zip(&self.right) {
            *psi = y - *psi;
        }
    }

    /// e^{−ig|ψ|²τ}, or e^{−gnτ} in imaginary time.
    fn interact(&mut self, tau: f64) {
        let strength = T::of(self.hamiltonian.quantum.interaction * tau);
        if strength.is_zero() {
            return;
        }
        for (site, psi) in self.psi.iter_mut().enumerate() {
            *psi *= interaction(strength, self.density.get(site), *psi);
        }
    }
}

/// e^{−i·strength·|ψ|²}, or e^{−strength·density} in imaginary time, where the density is that at the start of the step
/// ([`Hamiltonian::has_mean_field`]).
pub(super) fn interaction<T: Real>(strength: T, density: Option<&T>, psi: Complex<T>) -> Complex<T> {
    if let Some(density) = density {
        return Complex::new((-strength * *density).exp(), T::zero());
    }
    let angle = strength * psi.norm_sqr();
    Complex::new(angle.cos(), -angle.sin())
}

impl<T: Real> Propagator<T> for EndToEnd<T> {
    fn variant(&self) -> &'static str {
        "thomas"
    }

    fn details(&self) -> String {
        "from end to end on one thread".to_owned()
    }

    fn memory(&self) -> usize {
        let complex = 3 * self.psi.len() + self.ring.len();
        complex * size_of::<Complex<T>>() + size_of_val(self.density.as_slice()) + self.hamiltonian.memory()
    }

    fn set_step(&mut self, dt: f64) {
        self.step = self.hamiltonian.step(dt);
        if !self.hamiltonian.is_driven() {
            self.factorise(&[]);
        }
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) {
        let dt = self.step.dt;
        for n in 0..steps {
            if self.hamiltonian.has_mean_field() {
                self.density.clear();
                self.density.extend(self.psi.iter().map(Complex::norm_sqr));
            }
            self.interact(dt / 2.0);
            if self.hamiltonian.is_driven() {
                let drives = self.hamiltonian.drives_at(clock.after(n).time() + dt / 2.0);
                self.factorise(&drives);
            }
            self.step_once();
            self.interact(dt / 2.0);
        }
    }

    fn read(&self, first: usize, out: &mut [Complex<T>]) {
        out.copy_from_slice(&self.psi[first..first + out.len()]);
    }

    fn write(&mut self, first: usize, psi: &[Complex<T>]) {
        self.psi[first..first + psi.len()].copy_from_slice(psi);
    }

    fn change(&mut self, change: &(dyn Fn(usize, &mut Complex<T>) + Sync)) {
        for (site, psi) in self.psi.iter_mut().enumerate() {
            if self.hamiltonian.is_wall(site) {
                *psi = Complex::default();
            } else {
                change(site, psi);
            }
        }
    }

    fn drives_at(&self, time: f64) -> Vec<f64> {
        self.hamiltonian.drives_and_reference_at(time)
    }

    fn energy_at(&self, site: usize, drives: &[f64]) -> f64 {
        self.hamiltonian.energy_at(site, drives)
    }
}

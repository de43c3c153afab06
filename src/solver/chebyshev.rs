//! Chebyshev propagation: e^{−iHΔt} as a sum of polynomials of H, exact to rounding for every Δt.
//!
//! Equation: i ∂ψ/∂t = Hψ, H = −J Σ(e^{iϕ}|to⟩⟨from| + h.c.) + E(r) − iW(r), constant in time, ħ = 1.
//! Scheme: e^{−iHΔt} = e^{−icΔt} Σₙ (2 − δₙ₀)(−i)ⁿ Jₙ(rΔt) Tₙ((H − c)/r), Tₙ₊₁ψ = 2(H − c)/r Tₙψ − Tₙ₋₁ψ, with c and r the middle and half the width of an interval that holds the spectrum
//! (Gershgorin: potentials and 2J an axis to either side). Jₙ(rΔt) vanishes faster than any power beyond n = rΔt; terms that add up to less than a quarter of the
//! precision's ε are left out. With absorption Tₙ grows, and a step is cut into pieces so short that nothing cancels.
//! Layout: ψ as complex numbers, its polynomials as planes of real and of imaginary parts, x fastest: H is real but for absorption and flux.
//! Order: none; the error is rounding, ε times about the root of the number of terms. Stability: every Δt; unitary to rounding, and in single precision the norm
//! is restored every 16 steps.
//! Cost: about rΔt + 10·(rΔt)^⅓ + 10 terms a step, one application of H each: for large Δt 1 a unit of rΔt. Memory: ψ, two polynomials, E, W and walls.
//! Limits: linear and constant in time, no imaginary time.
//!
//! References: H. Tal-Ezer, R. Kosloff 1984, doi:10.1063/1.448136; C. Leforestier et al. 1991 (comparison), doi:10.1016/0021-9991(91)90137-A.

mod kernel;
mod series;

use super::method::{Backend, EXACT, Method, Paper, StepAdvice, Target, Variant, Work};
use super::placed;
use super::quantum::on_host::{OnHost, Propagator};
use super::quantum::{self, allocate};
use super::run::Run;
use super::setup::{Choice, absorbs, refusal};
use super::{Solver, SolverError};
use crate::backend::simd::Vectors;
use crate::field::Precision;
use crate::physics::{Equation, Quantum, Sets};
use crate::scene::{Objection, Scenario};
use kernel::{Operator, Planes};
use series::{Series, Spectrum};

use num_complex::Complex;
use rayon::prelude::*;

/// The row of the table.
pub static METHOD: Method = Method {
    id: "chebyshev",
    title: "Chebyshev propagation",
    about: "The exponential of the Hamiltonian as a sum of Chebyshev polynomials, as many as rounding requires: no error in Δt, however long the step. The standard for long times in a constant potential.",
    equation: Equation::Schrodinger,
    orders: &[EXACT],
    ranks: &[1, 2, 3],
    targets: &[Target {
        backend: Backend::Cpu,
        precisions: &[Precision::Single, Precision::Double],
        cut: false,
        variants: &[Variant {
            id: "rows",
            about: "A pass over the grid for each polynomial, rows side by side on threads.",
        }],
    }],
    parameters: &[],
    papers: &[
        Paper {
            citation: "H. Tal-Ezer, R. Kosloff 1984, An accurate and efficient scheme for propagating the time dependent Schrödinger equation",
            doi: "10.1063/1.448136",
        },
        Paper {
            citation: "C. Leforestier et al. 1991, A comparison of different propagation schemes for the time dependent Schrödinger equation",
            doi: "10.1016/0021-9991(91)90137-A",
        },
    ],
    step_advice,
    objections,
    memory,
    reach: None,
    split: None,
    transducers: &[Backend::Cpu],
    work,
    build,
};

/// rΔt of the automatic step, where about half of the terms are overhead; the value beyond which rounding shows in single precision; and the largest.
const USUAL: f64 = 10.0;
const SENSIBLE: f64 = 1e3;
const LARGEST: f64 = 1e5;

/// The spectrum of a scene, with potentials read on a part of the sites.
fn spectrum_of(scenario: &Scenario) -> Option<Spectrum> {
    let quantum = scenario.model().quantum()?;
    let range = quantum::potential_range(scenario.medium());
    let (medium, nx) = (scenario.medium(), scenario.grid().size()[0]);
    let (_, absorption) = quantum::sampled_range(scenario.grid(), |j, k, row| {
        medium.absorption_row(quantum.absorption_scale(), j, k, 0..nx, row);
    });
    Some(kernel::spectrum(scenario.grid(), &quantum, range, absorption))
}

fn step_advice(scenario: &Scenario) -> StepAdvice {
    let radius = spectrum_of(scenario).map_or(1.0, |spectrum| spectrum.radius());
    // Trajectories take the field as linear between steps, and a mirror's transducers play once a step.
    let between = !scenario.trajectories().is_empty() || scenario.listens();
    let hopping = scenario.model().quantum().map_or(0.0, |quantum| quantum.hopping);
    let carried = if between { hopping } else { 0.0 };
    let limit = |terms: f64, angle: f64| quantum::step_by(scenario, [(terms, radius), (angle, carried)]);
    StepAdvice {
        auto: limit(USUAL, 0.1),
        sensible: limit(SENSIBLE, 0.5),
        stability_limit: None,
        because: "Exact for every Δt. With r half the width of the spectrum (2J an axis, and half the potential's range) a step takes about rΔt + 10·(rΔt)^⅓ + 10 \
                  terms: auto is rΔt = 10, with some 35; beyond rΔt = 1000 rounding of single precision shows. Trajectories and transducers need JΔt = 0.1, and at most 0.5.",
    }
}

fn objections(scenario: &Scenario) -> Vec<Objection> {
    let Some(quantum) = scenario.model().quantum() else {
        let message = "chebyshev steps quantum scenes";
        return vec![Objection::new("solver.method", message, "take method = \"fdtd\"")];
    };
    let medium = scenario.medium();
    let mut all: Vec<Objection> = quantum::flux_objection(&quantum, medium).into_iter().collect();
    all.extend(quantum::bonds_objection("chebyshev", medium));
    all.extend(quantum::interaction_objection("chebyshev", medium));
    all.extend(quantum::components_objection("chebyshev", medium));
    let mut object = |key: &str, message: &str, remedy: &str| all.push(Objection::new(key, message, remedy));
    if quantum.interaction != 0.0 {
        let message = format!(
            "chebyshev is for linear equations, and interaction = {}",
            quantum.interaction
        );
        object(
            "quantum.interaction",
            &message,
            "set it to 0 or use solver.method = \"trotter\"",
        );
    }
    if !scenario.medium().drives().is_empty() {
        let message = "chebyshev needs a Hamiltonian that is constant in time, and a layer is driven";
        object(
            "solver.method",
            message,
            "use solver.method = \"trotter\", or remove the layer's `drive`",
        );
    }
    if scenario.time().imaginary {
        let message = "chebyshev has no imaginary time";
        object(
            "time.imaginary",
            message,
            "set it to false or use solver.method = \"trotter\"",
        );
    }
    let steps = scenario.time().step.zip(spectrum_of(scenario));
    all.extend(steps.and_then(|(step, spectrum)| objection_to(step, &spectrum)));
    all
}

fn objection_to(step: f64, spectrum: &Spectrum) -> Option<Objection> {
    let (terms, most) = (step.abs() * spectrum.radius(), LARGEST / spectrum.radius());
    let message = format!("a step of {step:e} takes {terms:.0e} terms, and {LARGEST:.0e} are the most");
    let remedy = format!("take at most {most:e}, or a lower potential where nothing is");
    // A potential without end gives terms that are no number.
    (terms.is_nan() || terms > LARGEST).then(|| Objection::new("time.step", message, remedy))
}

fn memory(scenario: &Scenario) -> u64 {
    let reals = 7 + u64::from(absorbs(scenario));
    let walls = u64::from(scenario.medium().has(Sets::Wall));
    (reals * Choice::of(scenario).real() as u64 + walls) * scenario.grid().sites() as u64
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn work(scenario: &Scenario) -> Work {
    let choice = Choice::of(scenario);
    let step = METHOD.time_step(scenario);
    let tolerance = tolerance(choice.precision);
    let terms = spectrum_of(scenario).map_or(1, |spectrum| Series::new(&spectrum, step, tolerance).terms()) as f64;
    Work {
        // Of each part: the neighbours' sum and five more; the sum of terms 4.
        instructions: terms * 2.0 * (2.0 * scenario.grid().rank() as f64 + 8.0),
        // Tₙ read, Tₙ₋₁ read and overwritten; the sum read and written every other term; E.
        bytes: terms * choice.real() as f64 * (2.0 * 3.0 + 2.0 + 1.0),
    }
}

/// Terms of the exponential that a step may leave out, in sum.
fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Single => f64::from(f32::EPSILON) / 4.0,
        Precision::Double => f64::EPSILON / 4.0,
    }
}

fn build(scenario: &Scenario) -> Result<Box<dyn Solver>, SolverError> {
    placed::build(&METHOD, scenario, usize::MAX, |setup, _| match setup.choice.precision {
        Precision::Single => Run::boxed(setup, OnHost::<f32, Chebyshev<f32>>::new),
        Precision::Double => Run::boxed(setup, OnHost::<f64, Chebyshev<f64>>::new),
    })
}

/// H, the series of a step, and two polynomials of H on ψ.
struct Chebyshev<T> {
    operator: Operator<T>,
    series: Series,
    back: bool,
    here: Planes<T>,
    next: Planes<T>,
}

impl<T: Vectors> Chebyshev<T> {
    /// T₀ψ = ψ into `here`, and 0 into `next`.
    fn begin(&mut self, psi: &[Complex<T>]) {
        let ([re, im], [next_re, next_im]) = (&mut self.here, &mut self.next);
        let next = next_re.par_iter_mut().zip(next_im);
        let sites = psi.par_iter().zip(re.par_iter_mut().zip(im)).zip(next);
        sites.for_each(|((psi, (re, im)), (next_re, next_im))| {
            (*re, *im) = (psi.re, psi.im);
            (*next_re, *next_im) = (T::zero(), T::zero());
        });
    }
}

impl<T: Vectors> Propagator<T> for Chebyshev<T> {
    fn new(scenario: &Scenario, quantum: &Quantum, _order: u32) -> Result<Self, SolverError> {
        let plane = || allocate(scenario.grid().sites(), "the polynomials of H on the field");
        Ok(Self {
            operator: Operator::new(scenario, quantum, absorbs(scenario)),
            series: Series::default(),
            back: false,
            here: [plane()?, plane()?],
            next: [plane()?, plane()?],
        })
    }

    fn set_step(&mut self, dt: f64) -> Result<(), SolverError> {
        if let Some(objection) = objection_to(dt, &self.operator.spectrum) {
            return Err(refusal(&objection));
        }
        self.series = Series::new(&self.operator.spectrum, dt, tolerance(T::PRECISION));
        self.back = dt < 0.0;
        Ok(())
    }

    fn step(&mut self, psi: &mut [Complex<T>], _time: f64) {
        for _ in 0..self.series.pieces {
            self.begin(psi);
            psi.par_iter_mut().for_each(|value| *value = Complex::default());
            for n in 1..self.series.weights.len() {
                let weights = [self.series.weights[n - 1], self.series.weights[n]];
                let sum = (n % 2 == 1).then_some((&mut *psi, weights));
                self.operator.term(&self.here, &mut self.next, [n == 1, self.back], sum);
                std::mem::swap(&mut self.here, &mut self.next);
            }
        }
    }

    fn energy(&mut self, psi: &[Complex<T>]) -> f64 {
        self.begin(psi);
        self.operator.term(&self.here, &mut self.next, [true, self.back], None);
        self.operator.expectation(&self.here, &self.next)
    }

    fn details(&self) -> (&'static str, String) {
        let Spectrum { low, high, .. } = self.operator.spectrum;
        let terms = self.series.terms();
        (
            "rows",
            format!("{terms} terms a step, energies from {low:.4} to {high:.4}"),
        )
    }

    fn memory(&self) -> usize {
        4 * self.here[0].len() * size_of::<T>() + self.operator.memory()
    }
}

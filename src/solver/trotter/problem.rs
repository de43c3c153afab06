//! The problem of a [`Scenario`]: everything that the steppers need, and why some scenes cannot be
//! built.

use crate::field::Real;
use crate::grid::{Edge, Grid};
use crate::physics::{Bonds, Medium, Quantum, Sets};
use crate::scene::{Objection, Scenario};
use crate::solver::quantum;
use crate::solver::setup::{Choice, Setup};
use crate::solver::tiling::ring_objections;
use crate::solver::{SolverError, StepAdvice};
use num_complex::Complex;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

/// Largest |J Δt| of a sub-step: tan(J Δt) has a pole at π/2 and rounding grows towards it.
const LARGEST_ANGLE: f64 = 1.2;
/// Sub-step of Suzuki's fourth-order product, u = 1/(4 − 4^(1/3)).
pub(super) const SUZUKI_U: f64 = 0.4144907717943757;

/// The problem of a scene.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// The lattice.
    pub grid: Grid,
    /// Constants of H.
    pub quantum: Quantum,
    /// Layers.
    pub medium: Arc<Medium>,
    /// Bonds that differ from one another, where layers set any.
    pub bonds: Option<Arc<Bonds>>,
    /// g at every site, x fastest, where layers set it.
    pub strengths: Option<Arc<[f64]>>,
    /// Δt, signed.
    pub time_step: f64,
    /// Relax towards the ground state.
    pub imaginary: bool,
    /// 1, 2 or 4.
    pub order: u32,
}

impl Problem {
    /// The problem of a resolved scenario.
    pub(super) fn new(setup: &Setup) -> Result<Self, SolverError> {
        let sound = || SolverError::Unsupported("trotter steps quantum scenes only".into());
        let problem = as_written(&setup.scenario).ok_or_else(sound)?;
        Ok(Self {
            time_step: setup.time_step,
            bonds: Bonds::of(&problem.quantum, &problem.medium).map(Arc::new),
            strengths: strengths(&problem.quantum, &problem.medium),
            ..problem
        })
    }

    /// Whether bonds of an axis differ from line to line, so that sweeps of different axes do not commute.
    pub(super) fn is_nested(&self) -> bool {
        self.quantum.flux != 0.0 || self.medium.has(Sets::Wall) || self.medium.sets_bonds()
    }

    /// The factor of J of most bonds of each axis, which whole steps in three dimensions take as the common one: 1 where all bonds are alike, or most of a sample have no common factor.
    pub(super) fn alike(&self) -> [f64; 3] {
        let mut alike = [1.0; 3];
        let Some(bonds) = self.bonds.as_deref().filter(|_| self.grid.rank() == 3) else {
            return alike;
        };
        for (axis, alike) in alike.iter_mut().enumerate() {
            let all = bonds.along(axis);
            // An odd distance goes through rows and planes of any even length.
            let sample: Vec<f64> = (all.iter().step_by((all.len() / 1024) | 1))
                .map(|coupling| if coupling.im == 0.0 { coupling.re } else { f64::NAN })
                .collect();
            let half = sample.len() / 2;
            let like = |own: &&f64| sample.iter().filter(|other| other == own).count() > half;
            if let Some(most) = sample.iter().find(like) {
                *alike = *most;
            }
        }
        alike
    }

    /// Adds to the sites of a row the diagonal of H beside U.
    pub(super) fn add_diagonal(&self, row: usize, values: &mut [f64]) {
        let Some(bonds) = &self.bonds else {
            for value in values {
                *value += self.quantum.diagonal;
            }
            return;
        };
        let mut own = vec![0.0; values.len()];
        bonds.diagonal_row(&self.quantum, row, &mut own);
        values.iter_mut().zip(&own).for_each(|(value, own)| *value += own);
    }

    /// The largest |J| of a bond.
    fn largest_hopping(&self) -> f64 {
        quantum::largest_hopping(&self.quantum, &self.medium)
    }

    /// Whether anything absorbs.
    pub(super) fn absorbs(&self) -> bool {
        self.medium.has(Sets::Absorption) || self.grid.edges()[..self.grid.rank()].contains(&Edge::Absorb)
    }

    /// Tables of phases that [`Scheme`](super::scheme::Scheme) has: those between sub-steps, and for order 4 one with absorption.
    pub(super) fn tables(&self) -> usize {
        match self.order {
            _ if self.imaginary => 2,
            4 => 2 + usize::from(self.absorbs()),
            _ => 1,
        }
    }

    /// Whether tables carry e^{−g n τ} with the density n that a step begins with, as imaginary time has it.
    ///
    /// With the same n in both half phases a state that a step does not change is an eigenvector of a symmetric product for H[n], so that the ground
    /// state is off by O(Δt²). Half phases that read the present |ψ|² use the norm after the sweeps, which differs, and are off by O(Δt).
    pub(super) fn has_mean_field(&self) -> bool {
        let cross = self.medium.cross_interaction() != 0.0;
        self.imaginary && (self.quantum.interaction != 0.0 || self.strengths.is_some() || cross)
    }

    /// g at every site of the phases e^{−ig|φ|²τ} that read the present field, where layers set it.
    pub(super) fn phase_strengths(&self) -> Option<Arc<[f64]>> {
        self.strengths.clone().filter(|_| !self.imaginary)
    }

    /// g of the phases e^{−ig|φ|²τ} that read the present field.
    pub(super) fn phase_interaction(&self) -> f64 {
        if self.imaginary { 0.0 } else { self.quantum.interaction }
    }

    /// g₁₂ of the phases of [`components`](super::components).
    pub(super) fn phase_cross_interaction(&self) -> f64 {
        if self.imaginary {
            0.0
        } else {
            self.medium.cross_interaction()
        }
    }

    /// e^{iϕ} of the x bonds, per y: Peierls phases of the flux in Landau gauge, ϕ = −2π · flux · y. Empty without flux.
    pub(super) fn peierls<T: Real>(&self) -> Vec<Complex<T>> {
        if self.quantum.flux == 0.0 {
            return Vec::new();
        }
        let phase = |y: usize| {
            #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
            let (sin, cos) = (-TAU * self.quantum.flux * self.grid.global(1, y) as f64).sin_cos();
            Complex::new(T::of(cos), T::of(sin))
        };
        (0..self.grid.size()[1]).map(phase).collect()
    }

    /// What is not supported, each with its key and a remedy.
    pub(super) fn objections(&self) -> Vec<Objection> {
        let mut found = ring_objections(&self.grid);
        found.extend(quantum::flux_objection(&self.quantum, &self.medium));
        if self.order == 4 && self.imaginary {
            let message = "order 4 has a backward sub-step, unstable in imaginary time";
            found.push(Objection::new("solver.order", message, "take order = 2"));
        }
        found.extend(quantum::relaxation_objection(self.imaginary, self.absorbs()));
        let most = LARGEST_ANGLE / self.largest_hopping().max(f64::MIN_POSITIVE);
        if !self.time_step.is_finite() || self.time_step.abs() > most {
            found.push(Objection::new(
                "time.step",
                format!(
                    "a step of {} is beyond J Δt = {LARGEST_ANGLE}, where the splitting means nothing",
                    self.time_step
                ),
                format!("take at most {most:.4}"),
            ));
        }
        found
    }
}

/// g at every site, x fastest, where layers of a medium set it.
pub(super) fn strengths(quantum: &Quantum, medium: &Medium) -> Option<Arc<[f64]>> {
    let nx = medium.grid().size()[0];
    let at_sites = || {
        quantum::at_sites::<f64>(medium.grid(), |j, k, row| {
            medium.interaction_row(quantum.interaction, j, k, 0..nx, row);
        })
    };
    medium.has(Sets::Interaction).then(|| at_sites().into())
}

/// The order that a scenario asks for.
pub(super) fn order(scenario: &Scenario) -> u32 {
    Choice::of(scenario).order
}

pub(super) fn objections(scenario: &Scenario) -> Vec<Objection> {
    let message = "trotter steps quantum scenes";
    let sound = || vec![Objection::new("solver.method", message, "take method = \"fdtd\"")];
    as_written(scenario).map_or_else(sound, |problem| problem.objections())
}

/// The problem of a scenario, whether supported or not, with Δt = 0 where the scene sets none; `None` for sound.
pub(super) fn as_written(scenario: &Scenario) -> Option<Problem> {
    Some(Problem {
        grid: scenario.grid().clone(),
        quantum: scenario.model().quantum()?,
        medium: Arc::clone(scenario.medium()),
        bonds: None,
        strengths: None,
        time_step: scenario.time().step.unwrap_or(0.0),
        imaginary: scenario.time().imaginary,
        order: order(scenario),
    })
}

/// Orders 2 and 4 err by what grows with (J Δt)² and (ΔU Δt)² per unit of time. A step of order 1 is one of order 2 between changes of basis, S₁ = X S X⁻¹ with X = 1 + O(Δt): beside that error ψ is off by
/// at most about 0.9 J Δt + 0.25 ΔU Δt, however long the run (packets in one to three dimensions, free, on slopes, at steps and among random potentials), which the automatic step keeps at some 2 %.
pub(super) fn step_advice(scenario: &Scenario) -> StepAdvice {
    let hopping = (scenario.model().quantum()).map_or(1.0, |own| quantum::largest_hopping(&own, scenario.medium()));
    let span = quantum::potential_span(scenario);
    let limit = |angle: f64, phase: f64| quantum::step_by(scenario, [(angle, hopping), (phase, span)]);
    let ([auto, sensible], because) = if order(scenario) == 1 {
        (
            [limit(0.025, 0.05), limit(0.1, 0.2)],
            "Unitary for every Δt; at order 1 ψ errs by about J Δt and a quarter of ΔU Δt. \
             auto: J Δt = 0.025 and ΔU Δt ≤ 0.05; recommended: J Δt ≤ 0.1 and ΔU Δt ≤ 0.2; drives count at their largest in ΔU, g|ψ|² at the start, and the W of absorbing layers",
        )
    } else {
        (
            [limit(0.1, 0.5), limit(0.4, FRAC_PI_2)],
            "Unitary for every Δt; the error of second order grows as (J Δt)² and (ΔU Δt)². \
             auto: J Δt = 0.1 and ΔU Δt ≤ 0.5; recommended: J Δt ≤ 0.4 and ΔU Δt ≤ π/2; drives count at their largest in ΔU, g|ψ|² at the start, and the W of absorbing layers",
        )
    };
    StepAdvice {
        auto,
        sensible,
        stability_limit: None,
        because,
    }
}

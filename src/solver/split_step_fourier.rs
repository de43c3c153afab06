//! Split-step Fourier, spectral in space.
//!
//! Equation: i ∂ψ/∂t = (T + U(r, t) + g|ψ|² − iW)ψ, ħ = 1.
//! Scheme: S₂(Δt) = e^{−i(U+g|ψ|²−iW)Δt/2} F⁻¹ e^{−iε(k)Δt} F e^{−i(U+g|ψ|²−iW)Δt/2}, driven layers at the middle of the step; order 4 is
//! Suzuki's composition of five S₂, with the absorption outside, e^{−WΔt/2} S₄ e^{−WΔt/2}, because its backward substep would amplify: of order 4 where nothing
//! absorbs, of order 2 where something does. ε(k) = k²/2m where the scene gives a mass (the continuum), −2J Σ cos(kᵢa) where it gives the
//! hopping (exactly the lattice: differences from `trotter` are then its splitting error alone).
//! Edges: periodic axes by FFT; walls and absorbing edges by the odd continuation (sine transform), zero one spacing outside.
//! Layout: one array of ψ, x fastest; y and z lines are gathered 16 at a time into a second one, transformed there and back in
//! cache, and scattered.
//! Order: 2 or 4 in Δt, spectral in a. Stability: unitary for every Δt; accurate for Δt ≲ 1/(πJ) = 2ma²/π, where neighbouring
//! Fourier modes begin to alias, and for |U|Δt ≲ 1.
//! Cost: two FFTs per axis, 10·log₂N flops a site each, doubled between walls. Memory: ψ, a second array in 2D and 3D, a
//! complex factor and a real potential per site where there is one.
//! Limits: no walls inside the grid and no magnetic flux.
//!
//! References: Fleck, Morris & Feit 1976, doi:10.1007/BF00896333; Feit, Fleck & Steiger 1982, doi:10.1016/0021-9991(82)90091-2;
//! Suzuki 1990, doi:10.1016/0375-9601(90)90962-N.

mod axis;

use super::method::{Backend, Kind, Method, Paper, ParameterSpec, StepAdvice, Target, Variant, Work};
use super::placed;
use super::quantum::kick::Kick;
use super::quantum::on_host::{OnHost, Propagator};
use super::quantum::{self, allocate, bonds_objection, components_objection, relaxation_objection};
use super::run::Run;
use super::setup::{Choice, absorbs};
use super::{Solver, SolverError};
use crate::field::{Precision, Real};
use crate::physics::reference::trotter::SUZUKI;
use crate::physics::{Equation, Initial, Measure, Quantum, Sets};
use crate::scene::{Objection, Scenario};
use axis::Axis;

use num_complex::Complex;
use rayon::prelude::*;
use rustfft::FftPlanner;

/// The row of the table.
pub static METHOD: Method = Method {
    id: "split-step-fourier",
    title: "Split-step Fourier",
    about: "Half a step of the potential, a whole step of the kinetic energy in Fourier space, where it is diagonal, and the other half. \
            Spectral in space: with a mass it has the continuum's dispersion, with a hopping exactly the lattice's, which makes it the \
            cross-check of everything else.",
    equation: Equation::Schrodinger,
    orders: &[2, 4],
    ranks: &[1, 2, 3],
    targets: &[Target {
        backend: Backend::Cpu,
        precisions: &[Precision::Single, Precision::Double],
        cut: false,
        variants: &[Variant {
            id: "lines",
            about: "Each line is transformed there and back in cache, axis after axis.",
        }],
    }],
    parameters: &[ParameterSpec {
        key: "order",
        title: "Order",
        about: "Error per unit of time ∝ Δt^order. 4 takes five substeps, one of them backwards (Suzuki 1990); still of order 2 where something absorbs; no imaginary time.",
        kind: Kind::OneOf {
            values: &[2, 4],
            default: 2,
        },
        variants: &[],
    }],
    papers: &[
        Paper {
            citation: "M. D. Feit, J. A. Fleck, A. Steiger 1982, Solution of the Schrödinger equation by a spectral method",
            doi: "10.1016/0021-9991(82)90091-2",
        },
        Paper {
            citation: "M. Suzuki 1990, Fractal decomposition of exponential operators",
            doi: "10.1016/0375-9601(90)90962-N",
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

fn order(scenario: &Scenario) -> u32 {
    Choice::of(scenario).order
}

fn step_advice(scenario: &Scenario) -> StepAdvice {
    let hopping = scenario.model().quantum().map_or(1.0, |q| q.hopping.abs());
    let span = quantum::potential_span(scenario);
    let limit = |part: f64| {
        let alias = part * std::f64::consts::FRAC_1_PI;
        quantum::step_by(scenario, [(alias, hopping), (part, span)])
    };
    StepAdvice {
        auto: limit(1.0 / 3.0),
        sensible: limit(1.0),
        stability_limit: None,
        because: "Unitary for every Δt. Accurate below 2ma²/π (= 1/πJ), where Fourier modes begin to alias, and while the potential turns \
                  the phase by less than 1 a step.",
    }
}

fn objections(scenario: &Scenario) -> Vec<Objection> {
    let Some(quantum) = scenario.model().quantum() else {
        let message = "split-step-fourier steps quantum scenes";
        return vec![Objection::new("solver.method", message, "take method = \"fdtd\"")];
    };
    let mut all: Vec<Objection> = bonds_objection("split-step-fourier", scenario.medium())
        .into_iter()
        .chain(components_objection("split-step-fourier", scenario.medium()))
        .chain(relaxation_objection(scenario.time().imaginary, absorbs(scenario)))
        .collect();
    if quantum.flux != 0.0 {
        all.push(Objection::new(
            "quantum.flux",
            format!(
                "split-step-fourier has no magnetic flux (flux = {}): momentum is no longer a good quantum number",
                quantum.flux
            ),
            "set quantum.flux = 0 or use solver.method = \"trotter\"",
        ));
    }
    if scenario.medium().has(Sets::Wall) {
        all.push(Objection::new(
            "solver.method",
            "split-step-fourier has no walls inside the grid, because plane waves pass through them",
            "let the layer set a high potential instead (sets = \"potential\"), or use solver.method = \"trotter\"",
        ));
    }
    if order(scenario) == 4 && scenario.time().imaginary {
        all.push(Objection::new(
            "solver.order",
            "order = 4 takes a substep backwards in time, which imaginary time does not allow",
            "set solver.order = 2",
        ));
    }
    all
}

fn memory(scenario: &Scenario) -> u64 {
    let real = Choice::of(scenario).real() as u64;
    let medium = scenario.medium();
    let fields = if scenario.grid().rank() > 1 { 2 } else { 1 };
    let kinds = if order(scenario) == 4 { 2 } else { 1 };
    let mut reals = 2 * fields;
    if medium.has(Sets::Potential) {
        reals += 1 + medium.drives().len() as u64;
    }
    if absorbs(scenario) {
        reals += 1;
    }
    if medium.has(Sets::Potential) || absorbs(scenario) {
        reals += 2 * kinds;
    }
    reals * real * scenario.grid().sites() as u64
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn work(scenario: &Scenario) -> Work {
    let grid = scenario.grid();
    let substeps = if order(scenario) == 4 { 5.0 } else { 1.0 };
    let transforms: f64 = (0..grid.rank())
        .map(|axis| {
            let n = grid.size()[axis];
            let ring = if grid.is_periodic(axis) { n } else { 2 * (n + 1) } as f64;
            // A complex radix-2 FFT takes 5 log₂N additions and multiplications a point; a multiply-add does two of them.
            ring / n as f64 * (2.0 * 2.5 * ring.log2() + 4.0)
        })
        .sum();
    let real = Choice::of(scenario).real() as f64;
    Work {
        instructions: substeps * (transforms + 8.0),
        bytes: substeps * real * 6.0,
    }
}

fn build(scenario: &Scenario) -> Result<Box<dyn Solver>, SolverError> {
    placed::build(&METHOD, scenario, usize::MAX, |mut setup, _| {
        setup.note = setup.note.or(of_the_lattice(&setup.scenario));
        match setup.choice.precision {
            Precision::Single => Run::boxed(setup, OnHost::<f32, SplitStepFourier<f32>>::new),
            Precision::Double => Run::boxed(setup, OnHost::<f64, SplitStepFourier<f64>>::new),
        }
    })
}

/// Notes for scenes that are stepped in the continuum: currents are those through the lattice's bonds, eigenstates those of the lattice's H.
fn of_the_lattice(scenario: &Scenario) -> Option<String> {
    scenario.model().quantum()?.mass?;
    let currents = scenario.detectors().iter().any(|own| own.measure == Measure::Flux);
    let all = [
        (currents, "currents"),
        (!scenario.trajectories().is_empty(), "trajectories"),
        (matches!(scenario.initial(), Initial::Eigenstates(_)), "eigenstates"),
    ];
    let words: Vec<&str> = all
        .into_iter()
        .filter(|(there, _)| *there)
        .map(|(_, word)| word)
        .collect();
    (!words.is_empty()).then(|| {
        format!(
            "{} are those of the lattice, and with `mass` this method steps the continuum: short waves differ, currents by sin(ka)/ka; take `hopping`, or another method",
            words.join(" and ")
        )
    })
}

/// The factors of a step.
struct SplitStepFourier<T: Real> {
    size: [usize; 3],
    imaginary: bool,
    continuum: bool,
    order: u32,
    /// Δt with its sign.
    time_step: f64,
    axes: Vec<Axis<T>>,
    kick: Kick<T>,
    /// Gathered lines; empty in 1D.
    lines: Vec<Complex<T>>,
    /// |ψ|² at the start of a step in imaginary time with an interaction; otherwise empty.
    density: Vec<T>,
}

impl<T: Real> SplitStepFourier<T> {
    /// S₂ of this kind with the drives at `middle`.
    fn substep(&mut self, kind: usize, middle: f64, psi: &mut [Complex<T>]) {
        if self.kick.has_mean_field() {
            psi.par_iter()
                .map(Complex::norm_sqr)
                .collect_into_vec(&mut self.density);
        }
        let (kick, axes, density) = (&self.kick, &self.axes, self.density.as_slice());
        let drives = kick.drive_values(middle);
        let [nx, ny, _] = self.size;
        psi.par_chunks_mut(nx).enumerate().for_each_init(
            || axes[0].work(),
            |work, (row, line)| {
                kick.apply(kind, &drives, row * nx, line, density);
                axes[0].step_line(kind, line, work);
            },
        );
        let mut inner = nx;
        for (n, axis) in axes.iter().enumerate().skip(1) {
            axis::gather(psi, &mut self.lines, axis, inner, |line, work| {
                axis.step_line(kind, line, work);
            });
            let last = n + 1 == axes.len();
            axis::scatter(psi, &self.lines, axis.sites(), inner, |first, sites| {
                if last {
                    kick.apply(kind, &drives, first, sites, density);
                }
            });
            inner *= ny;
        }
        if axes.len() == 1 {
            kick.apply(kind, &drives, 0, psi, density);
        }
    }
}

fn axes<T: Real>(scenario: &Scenario, quantum: &Quantum) -> Vec<Axis<T>> {
    let grid = scenario.grid();
    let mut planner = FftPlanner::new();
    (0..grid.rank())
        .map(|axis| {
            let walls = !grid.is_periodic(axis);
            Axis::new(&mut planner, grid.size()[axis], walls, dispersion(scenario, quantum))
        })
        .collect()
}

fn kick<T: Real>(scenario: &Scenario, quantum: &Quantum) -> Kick<T> {
    let scale = quantum.absorption_scale();
    Kick::new(scenario.medium(), scale, quantum.interaction, scenario.time().imaginary)
}

/// ε of one axis as a function of the momentum per site.
fn dispersion(scenario: &Scenario, quantum: &Quantum) -> impl Fn(f64) -> f64 + use<> {
    let spacing = scenario.grid().spacing();
    let mass = quantum.mass;
    let hopping = quantum.hopping;
    move |q: f64| match mass {
        Some(mass) => (q / spacing).powi(2) / (2.0 * mass),
        None => -2.0 * hopping * q.cos(),
    }
}

impl<T: Real> Propagator<T> for SplitStepFourier<T> {
    fn new(scenario: &Scenario, quantum: &Quantum, order: u32) -> Result<Self, SolverError> {
        let gathers = scenario.grid().rank() > 1;
        let sites = if gathers { scenario.grid().sites() } else { 0 };
        Ok(Self {
            size: scenario.grid().size(),
            imaginary: scenario.time().imaginary,
            continuum: quantum.mass.is_some(),
            axes: axes(scenario, quantum),
            kick: kick(scenario, quantum),
            order,
            time_step: 0.0,
            lines: allocate(sites, "the gathered lines")?,
            density: Vec::new(),
        })
    }

    fn set_step(&mut self, dt: f64) -> Result<(), SolverError> {
        self.time_step = dt;
        let kinds: Vec<f64> = if self.order == 4 {
            vec![SUZUKI * dt, (1.0 - 4.0 * SUZUKI) * dt]
        } else {
            vec![dt]
        };
        for axis in &mut self.axes {
            axis.set_steps(&kinds, self.imaginary);
        }
        let halves: Vec<f64> = kinds.iter().map(|tau| tau / 2.0).collect();
        self.kick.set_steps(&halves, self.order == 2);
        Ok(())
    }

    fn step(&mut self, psi: &mut [Complex<T>], time: f64) {
        let dt = self.time_step;
        if self.order != 4 {
            self.substep(0, time + dt / 2.0, psi);
            return;
        }
        let mut at = time;
        self.kick.absorb(dt / 2.0, psi);
        for (kind, weight) in [
            (0, SUZUKI),
            (0, SUZUKI),
            (1, 1.0 - 4.0 * SUZUKI),
            (0, SUZUKI),
            (0, SUZUKI),
        ] {
            self.substep(kind, at + weight * dt / 2.0, psi);
            at += weight * dt;
        }
        self.kick.absorb(dt / 2.0, psi);
    }

    /// Σ ε|ψ_k|² over all axes; uses `lines`.
    fn energy(&mut self, psi: &[Complex<T>]) -> f64 {
        let [nx, ny, _] = self.size;
        let axes = &self.axes;
        let rows: Vec<f64> = psi
            .par_chunks(nx)
            .map_init(
                || (axes[0].work(), vec![Complex::default(); nx]),
                |(work, line), row| {
                    line.copy_from_slice(row);
                    axes[0].line_energy(line, work)
                },
            )
            .collect();
        let mut total: f64 = rows.into_iter().sum();
        let mut inner = nx;
        for axis in &axes[1..] {
            let energies = axis::gather(psi, &mut self.lines, axis, inner, |line, work| {
                axis.line_energy(line, work)
            });
            total += energies.into_iter().sum::<f64>();
            inner *= ny;
        }
        total
    }

    fn energy_at(&self, drives: &[f64], site: usize, density: f64) -> f64 {
        self.kick.energy(drives, site, density)
    }

    fn drives(&self, time: f64) -> Vec<f64> {
        self.kick.drive_values(time)
    }

    fn details(&self) -> (&'static str, String) {
        let lines: Vec<String> = self.axes.iter().map(|axis| axis.sites().to_string()).collect();
        let dispersion = if self.continuum { "continuum" } else { "lattice" };
        (
            "lines",
            format!("lines of {}, {dispersion} dispersion", lines.join(" × ")),
        )
    }

    fn memory(&self) -> usize {
        size_of_val(self.lines.as_slice()) + size_of_val(self.density.as_slice()) + self.kick.memory()
    }
}

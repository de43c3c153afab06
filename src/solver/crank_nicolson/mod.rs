//! Crank–Nicolson: the implicit midpoint rule, its tridiagonal systems solved by the N-shaped partition.
//!
//! Equation: i ∂ψ/∂t = Hψ, H = −J Σ(|i⟩⟨j| + h.c.) + E(r, t) − iW + g|ψ|², ħ = 1.
//! Scheme in 1D, with E relative to E₀(t) (`reference.rs`): T ψ(t+Δt) = (2 − T) ψ(t), T = 1 + iΔt/2·H with E at the middle of the step, as ψ(t+Δt) = 2T⁻¹ψ(t) − ψ(t): no explicit half step. In 2D a
//! Strang product of Cayley factors, P½ · C_x(Δt/2) C_y(Δt) C_x(Δt/2) · P½, C_A(τ) = (1 + iτA/2)⁻¹(1 − iτA/2), P½ = e^{−i(E + g|ψ|² − iW)Δt/2}: each factor is
//! unitary. (Peaceman–Rachford's alternation of implicit and explicit halves is not, unless the two directions commute.) The interaction
//! is a phase e^{−ig|ψ|²Δt/2} before and after the step in 1D too.
//! Solvers: `thomas` eliminates from end to end; `n-partition` cuts the line at joint rows into blocks that are eliminated at the same time, from below (RD,
//! JD) and from above (RU, JU), solves for the joints (RS) and substitutes (SS). No pivots: every pivot is 1/2-definite, Re ≥ 1, for any Δt and E.
//! Layout: `thomas` and 2D: x fastest; `n-partition`: row k of a vector of blocks side by side, real parts then imaginary parts.
//! Order: 2 in Δt. Stability: unconditional; unitary to rounding. Frequencies are compressed: tan(ΩΔt/2) = εΔt/2; on a line with a potential tan((Ω − E₀)Δt/2) = (ε − E₀)Δt/2, see
//! `reference.rs` for E₀.
//! Cost: `n-partition` 24 multiply-adds a row and step, no division while H is constant; see `line.rs` for the bytes. 2D: three line solves of 14 each.
//! Memory: 1D ψ, the right-hand side, three complex coefficients a row, E; 2D ψ, phases and E.
//! Limits: 2D has no flux. In single precision the norm is restored every 64 steps, in 2D and 3D every 32: rounded coefficients change it by 1e-7 a step, always the same way. Where
//! something absorbs, the correct norm is not known and is not restored: it drifts by some 1e-4 in 1000 steps, in addition to the absorption; take
//! double precision where that matters.
//!
//! References: J. Crank, P. Nicolson 1947, doi:10.1017/S0305004100023197; Y. Lutsyshyn, F. Navarrete, D. Bauer 2023, The N-shaped partition method: A novel
//! parallel implementation of the Crank Nicolson algorithm (stages, nesting); G. Strang 1968, doi:10.1137/0705041.

mod blocks;
#[cfg(feature = "cuda")]
mod cuda;
mod delta;
mod hamiltonian;
mod line;
mod measure;
mod pair;
mod partition;
mod plane;
#[cfg(test)]
mod plane_tests;
mod propagator;
mod reference;
mod run;
#[cfg(test)]
mod tests;
mod thomas;
mod tile;
mod windows;

use super::method::{
    Backend, DEVICES_PARAMETER, Kind, Method, PARTS_PARAMETER, Paper, ParameterSpec, StepAdvice, Target, Variant, Work,
};
use super::placed;
use super::quantum::{
    bonds_objection, components_objection, interaction_objection, potential_span, relaxation_objection, step_by,
};
use super::run::Run;
use super::setup::{Choice, Number, Setup, absorbs};
use super::{Solver, SolverError};
use crate::field::Precision;
use crate::physics::Equation;
use crate::scene::scenario::BackendChoice;
use crate::scene::{Objection, Scenario};

/// The row of the table.
pub static METHOD: Method = Method {
    id: "crank-nicolson",
    title: "Crank–Nicolson",
    about: "The implicit midpoint rule: stable and unitary for every Δt. Each step solves tridiagonal systems, from end to end (Thomas) or divided into blocks that are eliminated side by side (N-shaped partition). In two dimensions one line after the other, in both directions.",
    equation: Equation::Schrodinger,
    orders: &[2],
    ranks: &[1, 2],
    targets: &[
        Target {
            backend: Backend::Cpu,
            precisions: &[Precision::Single, Precision::Double],
            cut: true,
            variants: &[
                Variant {
                    id: "thomas",
                    about: "Elimination from end to end; in 2D a vector of lines at a time.",
                },
                Variant {
                    id: "n-partition",
                    about: "The line is cut at joint rows into blocks, a vector of blocks at a time. In 2D the many lines are parallel already, and each is eliminated end to end.",
                },
            ],
        },
        #[cfg(feature = "cuda")]
        cuda::TARGET,
    ],
    parameters: &[
        ParameterSpec {
            key: "blocks",
            title: "Blocks",
            about: "Blocks that the line is cut into. Few blocks mean long recurrences on few lanes, many a long reduced system of joints: the optimum grows as √n. auto: δ√n with δ measured once on this machine, and at least so many that a vector of blocks stays in a core's cache.",
            kind: Kind::Count { min: 2, max: 1 << 24 },
            variants: &["n-partition"],
        },
        ParameterSpec {
            key: "levels",
            title: "Levels",
            about: "How many times the reduced system of joints is itself divided into blocks before it is solved end to end.",
            kind: Kind::Count { min: 1, max: 4 },
            variants: &["n-partition"],
        },
        ParameterSpec {
            about: "Parts that the grid is cut into along its slowest axis. Under an MPI launcher every process takes some of them, at least one. A cut changes ψ by less than 2⁻⁶⁰ of its norm, and so the last bits; the same number of parts gives the same bits in several processes and in one.",
            ..PARTS_PARAMETER
        },
        ParameterSpec {
            about: "How many NVIDIA devices share the grid, their numbers ([0, 1]), or \"all\": as many as the grid fills. Each steps a part, and neighbours copy ghost rows from \
                    device to device. A number may occur twice. A cut changes ψ by less than 2⁻⁶⁰ of its norm.",
            ..DEVICES_PARAMETER
        },
    ],
    papers: &[
        Paper {
            citation: "Y. Lutsyshyn, F. Navarrete, D. Bauer 2023, The N-shaped partition method: A novel parallel implementation of the Crank Nicolson algorithm",
            doi: "",
        },
        Paper {
            citation: "J. Crank, P. Nicolson 1947, A practical method for numerical evaluation of solutions of partial differential equations of the heat-conduction type",
            doi: "10.1017/S0305004100023197",
        },
        Paper {
            citation: "G. Strang 1968, On the construction and comparison of difference schemes",
            doi: "10.1137/0705041",
        },
    ],
    step_advice,
    objections,
    memory,
    reach: None,
    split: Some(windows::split),
    transducers: &[],
    work,
    build,
};

/// The number of blocks in which a line of `rows` rows is expected to be fastest on this machine's processor with `levels` levels: δ n^(levels/(levels+1)), δ measured once.
pub fn optimal_blocks(precision: Precision, rows: usize, levels: u32) -> f64 {
    let level = crate::backend::simd::Level::best();
    let delta = crate::backend::threads::run(|| match precision {
        Precision::Single => delta::delta::<f32>(level),
        Precision::Double => delta::delta::<f64>(level),
    });
    let levels = f64::from(levels);
    #[expect(clippy::cast_precision_loss, reason = "counts of rows")]
    let rows = rows as f64;
    delta * rows.powf(levels / (levels + 1.0))
}

/// E₀ of a scenario that this method steps on a line, and constant in time: tan((Ω − E₀)Δt/2) = (ε − E₀)Δt/2 of the frequencies Ω of its steps.
pub fn compressed_about(scenario: &Scenario) -> Option<f64> {
    let still = scenario.medium().drives().is_empty() && !scenario.time().imaginary;
    (scenario.grid().rank() == 1 && still).then(|| reference::Reference::of(scenario).still)
}

fn step_advice(scenario: &Scenario) -> StepAdvice {
    let hopping = scenario.model().quantum().map_or(1.0, |q| q.hopping.abs());
    // ε_max Δt ≲ 0.5 keeps the fastest components accurate, ε_max = 4J an axis. A ground state with an interaction is off by (4JΔt)²/100 in μ, which a quarter of
    // that step makes less than 1e-4.
    let relaxes = scenario.time().imaginary && scenario.model().quantum().is_some_and(|q| q.interaction != 0.0);
    // What a potential adds to ε counts as well: the phase of a step is off by (εΔt)³/12.
    let span = potential_span(scenario);
    // On a line E is in the Cayley factor: what moves at an end of its range is slow by (ΔUΔt/2)² at most. On a plane, and in imaginary time, it is not.
    let potential = if scenario.grid().rank() == 1 && !scenario.time().imaginary {
        0.2
    } else {
        0.5
    };
    let limit = |angle: f64, phase: f64| step_by(scenario, [(angle, hopping), (phase, span)]);
    StepAdvice {
        auto: limit(if relaxes { 0.031 } else { 0.125 }, potential),
        sensible: limit(0.5, std::f64::consts::FRAC_PI_2),
        stability_limit: None,
        because: "Unitary for every Δt. Frequencies are compressed as tan(ΩΔt/2) = εΔt/2: accurate for the whole band while 4JΔt ≲ 0.5, and for slow waves far beyond. \
                  auto: J Δt = 0.125 and ΔU Δt ≤ 0.5, on a line 0.2; recommended: J Δt ≤ 0.5 and ΔU Δt ≤ π/2; drives count at their largest in ΔU, g|ψ|² at the start, and the W of absorbing layers",
    }
}

fn objections(scenario: &Scenario) -> Vec<Objection> {
    let Some(quantum) = scenario.model().quantum() else {
        let message = "crank-nicolson steps quantum scenes";
        return vec![Objection::new("solver.method", message, "take method = \"fdtd\"")];
    };
    let mut all: Vec<Objection> = bonds_objection("crank-nicolson", scenario.medium())
        .into_iter()
        .chain(interaction_objection("crank-nicolson", scenario.medium()))
        .chain(components_objection("crank-nicolson", scenario.medium()))
        .chain(relaxation_objection(scenario.time().imaginary, absorbs(scenario)))
        .collect();
    if quantum.flux != 0.0 {
        all.push(Objection::new(
            "quantum.flux",
            format!("crank-nicolson has no magnetic flux (flux = {})", quantum.flux),
            "set quantum.flux = 0 or use solver.method = \"trotter\"",
        ));
    }
    all
}

fn memory(scenario: &Scenario) -> u64 {
    let real = Choice::of(scenario).real() as u64;
    let sites = scenario.grid().sites() as u64;
    // 1D: ψ, right-hand side, q, B, C, E; 2D: ψ, e^{−iEΔt/2}, E twice; on a device, driven, three planes of drives and one each.
    let on_device = Choice::of(scenario).backend == BackendChoice::Cuda;
    let drives = scenario.medium().drives().len() as u64;
    let reals = match scenario.grid().rank() {
        // ψ, right-hand side, q and λ; E and the drives, as they are and over the off-diagonal; which rows are open.
        1 if drives > 0 => 12 + 2 * drives,
        1 => 11,
        _ if on_device && drives > 0 => 9 + drives,
        _ => 6,
    };
    reals * real * sites
}

fn work(scenario: &Scenario) -> Work {
    #[expect(clippy::cast_precision_loss, reason = "4 or 8")]
    let real = Choice::of(scenario).real() as f64;
    if Choice::of(scenario).backend == BackendChoice::Cuda {
        // A line: ψ read and written, a factor read; of joints 10 numbers a thread of eight rows. A plane: ψ read and written for rows and for columns, and a phase.
        let (instructions, numbers) = if scenario.grid().rank() == 1 {
            (35.0, 7.25)
        } else {
            (80.0, 10.0)
        };
        return Work {
            instructions,
            bytes: numbers * real,
        };
    }
    if scenario.grid().rank() == 1 {
        // ψ and the right-hand side read and written, q, B and C read.
        Work {
            instructions: 24.0,
            bytes: 14.0 * real,
        }
    } else {
        // Three solves of 14 and two phases of 4; ψ read and written for rows and for columns, and a phase.
        Work {
            instructions: 50.0,
            bytes: 10.0 * real,
        }
    }
}

/// Below this launches on a device cost more than the sites they step.
const FEWEST_ON_DEVICE: usize = 1 << 15;

fn build(scenario: &Scenario) -> Result<Box<dyn Solver>, SolverError> {
    placed::build(&METHOD, scenario, FEWEST_ON_DEVICE, make)
}

fn make(setup: Setup, backend: Backend) -> Result<Box<dyn Solver>, SolverError> {
    match setup.choice.precision {
        Precision::Single => make_in::<f32>(setup, backend),
        Precision::Double => make_in::<f64>(setup, backend),
    }
}

fn make_in<T: Number>(mut setup: Setup, backend: Backend) -> Result<Box<dyn Solver>, SolverError> {
    let propagator: run::Make<T> = match backend {
        Backend::Cpu => run::on_processor::<T>,
        #[cfg(feature = "cuda")]
        Backend::Cuda => cuda::on_device::<T>,
        #[cfg(not(feature = "cuda"))]
        Backend::Cuda => return Err(placed::absent(&METHOD, backend)),
        Backend::Wgpu => return Err(placed::absent(&METHOD, backend)),
    };
    let line = setup.scenario.grid().rank() == 1 && backend == Backend::Cpu;
    if line && setup.plan.is_some() && !setup.choice.is("thomas") && setup.choice.blocks.is_none() {
        setup.choice.blocks = Some(run::blocks_of_parts::<T>(&setup.scenario));
    }
    Run::in_parts(setup, move |setup| run::CrankNicolson::new(setup, propagator))
}

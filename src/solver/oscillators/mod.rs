//! Pair partitioning of coupled oscillators: sound as a product of exact two-body motions.
//!
//! - Equation: p_tt = K∇·(ρ⁻¹∇p) + S − 2γp_t, K = ρc²; c, ρ and γ per site, as a lattice of masses a^d/K and springs a^(d−2)/ρ ([`springs`]).
//! - Scheme: H = Σ P²/2m + Σ ½k(q − q′)². Every bond is given an equal share of the kinetic energy of its two sites, and moves exactly, alone with masses 2d·m
//!   ([`pair`]); bonds of one parity along an axis touch no common site. A step is a palindrome of sweeps over them ([`scheme`]), between which
//!   single sites are visited ([`events`]). A site without a partner in a sweep still owns its share: it drifts (rigid) or swings (soft).
//! - Layout: two arrays, q (pressure) and p (momentum; dq/dt in the background), even columns of a row before odd ones ([`layout`]).
//! - Order: 2 or 4 in Δt, 2 in a; damping is split off to order 2. Symplectic and, for −Δt, its own inverse. Lattice: ω = 2(c/a)√(Σ sin²(kᵢa/2)).
//! - Stability: cΔt/a < 1.7207 in 1D, 1.1107 in 2D ([`stability`]): 1.6 to 1.7 times what finite differences of order 2 allow.
//! - Cost, 2D order 2: 7 sweeps of 5 instructions a site and step; 16 B (single) read and written a pass, and 16 B of coefficients a sweep in a medium.
//! - An NVIDIA device ([`cuda`]): one kernel a sweep, or several sub-steps a launch in registers. A graphics adapter ([`wgpu`]): the same, in planes of single precision.
//! - Limits: 1D and 2D; a periodic axis needs an even number of sites. An absorbing edge is a layer of damping, γ = 9c/L·ξ², not a CPML: waves that are long beside its
//!   width are reflected. Damping acts with Δt < 0 as well; slow waves meet tanh(γΔt)/Δt in place of γ, so that steps must follow layers ([`stability`]).
//!
//! H. L. Calvo, E. P. Danieli, H. M. Pastawski, Physica B 398 (2007) 317, cond-mat/0702301; M. Suzuki, Phys. Lett. A 146 (1990) 319.

mod blocked;
#[cfg(feature = "cuda")]
mod cuda;
mod events;
mod field;
mod layout;
mod measure;
mod naive;
mod pair;
mod plan;
mod potential;
mod rows;
mod run;
mod scheme;
mod solver;
mod springs;
mod stability;
mod transducers;
#[cfg(feature = "gui")]
mod wgpu;

use super::acoustic::acoustic_objections;
use super::cut::needs_rows;
use super::method::{
    Backend, DEVICES_PARAMETER, Kind, Method, PARTS_PARAMETER, Paper, ParameterSpec, Split, StepAdvice, Target,
    Variant, Work,
};
use super::placed;
use super::run::Run;
use super::setup::{Choice, Number, Setup, asks_for_devices};
use super::tiling::ring_objections;
use super::transducers::grow_by_pairs;
use super::{Solver, SolverError};
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::{Equation, Sets};
use crate::scene::{Objection, Scenario};

/// The row of the table.
pub static METHOD: Method = Method {
    id: "oscillators",
    title: "Coupled oscillators (pair partitioning)",
    about: "Sound as masses and springs, propagated pair by pair, each exactly: symplectic, exactly reversible, of order 2 or 4 in Δt, stable for steps 1.6 times as \
            long as those of finite differences. The choice for time reversal; finite differences are faster.",
    equation: Equation::Acoustic,
    orders: &[2, 4],
    ranks: &[1, 2],
    targets: &[
        Target {
            backend: Backend::Cpu,
            precisions: &[Precision::Single, Precision::Double],
            cut: true,
            variants: &[
                Variant {
                    id: "naive",
                    about: "one pass over memory per sweep; the readable reference",
                },
                Variant {
                    id: "blocked",
                    about: "several whole steps on blocks that stay in cache; the fastest",
                },
            ],
        },
        #[cfg(feature = "cuda")]
        cuda::TARGET,
        #[cfg(feature = "gui")]
        wgpu::TARGET,
    ],
    parameters: &[
        ParameterSpec {
            key: "order",
            title: "Order",
            about: "Error per unit of time ∝ Δt^order. 2: a palindrome of sweeps; 4: five of them (Suzuki 1990), five times the work. The lattice itself \
                    is of order 2 in a.",
            kind: Kind::OneOf {
                values: &[2, 4],
                default: 2,
            },
            variants: &[],
        },
        ParameterSpec {
            key: "block",
            title: "Block",
            about: "Sites of a block that stays in cache, per axis, halo included. Larger blocks have less halo (2 sites per sub-step and side), smaller ones fit a faster cache.",
            kind: Kind::Sizes { min: 16, max: 65536 },
            variants: &["blocked"],
        },
        ParameterSpec {
            key: "fused_steps",
            title: "Fused steps",
            about: "Steps that a block takes in cache, or in the registers of a device (at most 4, along a line 16; on a graphics adapter 6), before it is written to memory. Never \
                    changes the result, on processors and NVIDIA devices not by a bit.",
            kind: Kind::Count { min: 1, max: 64 },
            variants: &["blocked", "fused"],
        },
        PARTS_PARAMETER,
        DEVICES_PARAMETER,
    ],
    papers: &[
        Paper {
            citation: "H. L. Calvo, E. P. Danieli, H. M. Pastawski, Time reversal mirror and perfect inverse filter in a microscopic model for sound \
                       propagation, Physica B 398 (2007) 317, cond-mat/0702301",
            doi: "",
        },
        Paper {
            citation: "C. S. Bederián and A. D. Dente, Boosting quantum evolutions using Trotter-Suzuki algorithms on GPUs (2011)",
            doi: "",
        },
        Paper {
            citation: "M. Suzuki, Fractal decomposition of exponential operators, Phys. Lett. A 146 (1990) 319",
            doi: "10.1016/0375-9601(90)90962-N",
        },
    ],
    step_advice,
    objections,
    memory,
    reach: Some(reach),
    split: Some(split),
    transducers: Backend::BUILT,
    work,
    build,
};

/// The largest γ of the layers of a scene in 1/s, and the γΔt up to which steps resolve it.
pub fn absorption_and_bound(scenario: &Scenario) -> [f64; 2] {
    [stability::strongest_damping(scenario), stability::RESOLVED]
}

/// The order in Δt.
fn order(scenario: &Scenario) -> u32 {
    Choice::of(scenario).order
}

fn step_advice(scenario: &Scenario) -> StepAdvice {
    let order = order(scenario);
    let limit = stability::limit(scenario, order);
    let [auto, sensible] = stability::advised(scenario, order, limit);
    StepAdvice {
        auto,
        sensible,
        stability_limit: Some(limit),
        because: "Stable while ω₀Δt < 1.7207 in 1D (π/2 at order 4) and 1.1107 in 2D, ω₀ = c/a, at every site. The error per unit of time grows as Δt^order: at order 2 long \
                  waves are too fast by (ω₀Δt)²/24 in 1D, half that in 2D; automatic steps keep this at 0.5 %. Layers of absorption: auto γΔt ≤ 0.2, recommended ≤ 0.5.",
    }
}

fn objections(scenario: &Scenario) -> Vec<Objection> {
    let mut all = acoustic_objections(scenario);
    all.extend(ring_objections(scenario.grid()));
    let layers = scenario.medium().layers();
    if let Some(shown) = scenario.shown_beside_steps() {
        let key = if scenario.view().quantity.is_beside_steps() {
            "view.quantity"
        } else {
            "view.flow"
        };
        all.push(Objection::new(
            key,
            format!("the oscillators make no pictures of \"{shown}\""),
            "take method = \"fdtd\", or show the pressure, the energy or the peak",
        ));
    }
    if crate::solver::acoustic::relaxation::attenuates(scenario) {
        all.push(Objection::new(
            "acoustic.attenuation",
            "the oscillators do not attenuate by a power law",
            "take method = \"fdtd\", or remove it",
        ));
    }
    if let Some(number) = layers.iter().position(|layer| layer.sets == Sets::Impedance) {
        all.push(Objection::new(
            format!("layer.{number}.sets"),
            "sets = \"impedance\": the oscillators' walls are rigid",
            "set solver.method = \"fdtd\", whose walls take energy",
        ));
    }
    all
}

/// Partners in every sweep of a step, from the last to the first.
fn reach(scenario: &Scenario, set: &mut [bool]) {
    let substeps = scheme::Scheme::new(order(scenario), 1.0).substeps.len();
    for _ in 0..substeps {
        for sweep in scheme::sweeps(scenario.grid().rank()).iter().rev() {
            grow_by_pairs(scenario.grid(), set, sweep.axis, sweep.odd);
        }
    }
}

/// A value travels two rows a sub-step: an odd and an even bond.
fn split(scenario: &Scenario) -> Result<Split, Objection> {
    needs_rows(scenario)?;
    let fourth = order(scenario) == 4;
    Ok(Split {
        reach: if fourth { 10 } else { 2 },
        beside: 2,
        unit: 2,
        // On devices so many that copying takes little of the time.
        steps: match (asks_for_devices(scenario), fourth) {
            (true, false) => [24; 2],
            (true, true) => [4; 2],
            (false, false) => [8, 16],
            (false, true) => [2; 2],
        },
    })
}

/// Whether pairs differ from bond to bond.
fn varies(scenario: &Scenario) -> bool {
    [Sets::Speed, Sets::Density, Sets::Wall]
        .into_iter()
        .any(|sets| scenario.medium().has(sets))
}

/// Two copies of the field, coefficients per bond (two lengths of sub-steps at order 4), damping, walls.
fn memory(scenario: &Scenario) -> u64 {
    let grid = scenario.grid();
    let medium = scenario.medium();
    let absorbs = medium.has(Sets::Absorption) || grid.edges()[..grid.rank()].contains(&Edge::Absorb);
    let tables = if order(scenario) == 4 { 2 } else { 1 };
    let coefficients = if varies(scenario) { 4 * grid.rank() * tables } else { 0 };
    let reals = 4 + coefficients + usize::from(absorbs) + usize::from(scenario.asks_for_velocity());
    let walls = usize::from(medium.has(Sets::Wall));
    (grid.sites() * (reals * Choice::of(scenario).real() + walls)) as u64
}

/// Ten instructions a pair: five a site and sweep. q and p read and written; coefficients, where they differ, read once.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn work(scenario: &Scenario) -> Work {
    let rank = scenario.grid().rank();
    let (substeps, tables) = if order(scenario) == 4 { (5.0, 2.0) } else { (1.0, 1.0) };
    let coefficients = if varies(scenario) {
        4.0 * rank as f64 * tables
    } else {
        0.0
    };
    Work {
        instructions: substeps * 5.0 * scheme::sweeps(rank).len() as f64,
        bytes: (4.0 + coefficients) * Choice::of(scenario).real() as f64,
    }
}

fn build(scenario: &Scenario) -> Result<Box<dyn Solver>, SolverError> {
    placed::build(&METHOD, scenario, placed::FEWEST_SITES, make)
}

fn make(setup: Setup, backend: Backend) -> Result<Box<dyn Solver>, SolverError> {
    match setup.choice.precision {
        #[cfg(feature = "gui")]
        Precision::Single if backend == Backend::Wgpu => Run::boxed(setup, wgpu::Wgpu::new),
        Precision::Single => make_in::<f32>(setup, backend),
        Precision::Double => make_in::<f64>(setup, backend),
    }
}

fn make_in<T: Number>(setup: Setup, backend: Backend) -> Result<Box<dyn Solver>, SolverError> {
    match backend {
        Backend::Cpu => Run::in_parts(setup, run::Oscillators::<T>::new),
        #[cfg(feature = "cuda")]
        Backend::Cuda => Run::in_parts(setup, cuda::Cuda::<T>::new),
        #[cfg(not(feature = "cuda"))]
        Backend::Cuda => Err(placed::absent(&METHOD, backend)),
        Backend::Wgpu => Err(placed::absent(&METHOD, backend)),
    }
}

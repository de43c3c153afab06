//! Finite differences in time and space for sound.
//!
//! Equation: p_tt = K∇·(ρ⁻¹∇p) + S − 2γp_t, K = ρc²; c, ρ and γ per site. γ is the rate at which an amplitude falls, e^(−γt).
//! Scheme: pⁿ⁺¹ = 2pⁿ − pⁿ⁻¹ + Δt²(c²Lpⁿ + S(tₙ)/a^d), L of order 2, 4, 6 or 8 in a; with a density per site, order 2 in conservative form, faces
//! of density (ρ + ρ′)/2. Damping is centred: (1 + γΔt)pⁿ⁺¹ + (1 − γΔt)pⁿ⁻¹. At t = 0 p_t = 0: p¹ = p⁻¹ = p⁰ + ½Δt²(c²Lp⁰ + S(0)/a^d),
//! so that ∫S dt is the trapezoidal rule from t = 0 on.
//! Edges: rigid = even mirror half a spacing outside, soft = odd mirror one spacing outside, periodic, absorbing = CPML ([`cpml`]). Walls
//! inside the grid are rigid on every face, at every order ([`walls`]). In absorbing layers the medium and the walls of the inner border go on ([`crate::solver::acoustic::outward`]).
//! Layout: two levels, x fastest, rows padded to whole cache lines with ghost sites at both ends; pⁿ⁺¹ is written over pⁿ⁻¹, so
//! there is no third array. λ² per site only where a layer sets the speed.
//! Order: 2 in Δt; `order` is the order in a. Exact dispersion: sin²(ωΔt/2) = −(λ²/4) Σ σ(kᵢa), σ(κ) = 2C₀ + 2ΣCₖ cos kκ.
//! Stability: λ ≤ 2/√(d·S), S = 4, 16/3, 272/45, 2048/315, per site ([`stability`]).
//! Cost: 10, 18, 25, 32 instructions a site in 3D; two numbers read and one written a site and step.
//! Limits: a density per site at order 2 only. Absorbing layers do not run backwards: with Δt < 0 they absorb as well.
//!
//! References: Levchenko, Perepelkina & Zakirov 2016, doi:10.3390/computation4030029 (coefficients); Alford, Kelly & Boore 1974,
//! doi:10.1190/1.1440470 (dispersion); Cohen & Joly 1996, doi:10.1137/S0036142993246445 (heterogeneous media).

mod absorb;
mod averages;
mod blocks;
pub mod bundle;
mod change;
mod copies;
pub mod cpml;
#[cfg(feature = "cuda")]
mod cuda;
mod energy;
#[cfg(test)]
mod energy_tests;
mod events;
mod faces;
pub mod lattice;
pub mod material;
mod motion;
mod observe;
mod plan;
mod potential;
mod reading;
mod record;
mod recorder;
mod recording;
pub mod reflection;
mod relaxing;
mod row_sums;
mod run;
pub mod scheme;
mod segments;
mod share;
mod single_bonds;
mod solver;
pub mod stability;
mod stage;
pub mod stencil;
mod stretches;
mod sweep;
mod tally;
mod tiling;
mod torre;
mod transducers;
pub mod walls;
mod walls_at_start;
#[cfg(feature = "gui")]
mod wgpu;
mod whole;

use self::plan::{MOST_DTS, MOST_STEPS};
use super::cut::needs_rows;
use super::method::{
    Backend, DEVICES_PARAMETER, Kind, Method, PARTS_PARAMETER, Paper, ParameterSpec, Split, StepAdvice, Target,
    Variant, Work,
};
use super::placed;
use super::run::Run;
use super::setup::{Choice, Number, Setup, asks_for_devices};
use super::transducers::grow_by_star;
use super::{Solver, SolverError};
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::{Equation, Sets};
use crate::scene::scenario::Quantity;
use crate::scene::{Objection, Scenario};
use crate::solver::acoustic::acoustic_objections;
use crate::solver::acoustic::guides::Surroundings;
use crate::solver::acoustic::relaxation::{bulk, relaxes};

/// The row of the table.
pub static METHOD: Method = Method {
    id: "fdtd",
    title: "Finite differences (FDTD)",
    about: "Leapfrog in time, central differences of order 2 to 8 in space. The standard of wave acoustics: explicit, conserves a discrete energy \
            exactly, runs backwards by exchanging two time levels.",
    equation: Equation::Acoustic,
    orders: &[2],
    ranks: &[1, 2, 3],
    targets: &[
        Target {
            backend: Backend::Cpu,
            precisions: &[Precision::Single, Precision::Double],
            cut: true,
            variants: &[
                Variant {
                    id: "stepwise",
                    about: "One pass over the grid per step, in place over the older level, plane by plane through the cache.",
                },
                Variant {
                    id: "tiled",
                    about: "Two dimensions: diamonds of rows and steps that stay in a core's cache. The same bit for bit.",
                },
                Variant {
                    id: "diamond-torre",
                    about: "Three dimensions: many steps of a diamond of rows, which slides through the grid with time. The same bit for bit.",
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
            title: "Space order",
            about: "Error of a wave's speed ∝ (a/wavelength)^order, on top of an error ∝ Δt². Orders 4 to 8 pay off with a small Δt: at half the stability limit and 10 points per wavelength, order 2 is 1.4 % slow and order 4 within 0.1 %. Levchenko et al. 2016.",
            kind: Kind::OneOf {
                values: &[2, 4, 6, 8],
                default: 2,
            },
            variants: &[],
        },
        ParameterSpec {
            key: "dts",
            title: "Diamond size",
            about: "Rows of a diamond: its width is order · dts. Within a tower, memory traffic is 4/dts numbers per site and step instead of 3; the \
                    tile, 2 · order² · dts²/4 rows of both levels in three dimensions, should stay in a core's cache. Levchenko et al. 2016, §4.",
            kind: Kind::Count {
                min: 1,
                max: MOST_DTS as i64,
            },
            variants: &["tiled", "diamond-torre"],
        },
        ParameterSpec {
            key: "tower",
            title: "Tower height",
            about: "Steps that a tile takes before the next begins. Starting and ending a tower costs 4/steps numbers per site and step. Pictures and edits wait for the end of a tower; fewer steps at a time make shorter towers.",
            kind: Kind::Count {
                min: 1,
                max: MOST_STEPS as i64,
            },
            variants: &["tiled", "diamond-torre"],
        },
        PARTS_PARAMETER,
        DEVICES_PARAMETER,
    ],
    papers: &[
        Paper {
            citation: "V. Levchenko, A. Perepelkina, A. Zakirov 2016, DiamondTorre algorithm for high-performance wave modeling",
            doi: "10.3390/computation4030029",
        },
        Paper {
            citation: "R. M. Alford, K. R. Kelly, D. M. Boore 1974, Accuracy of finite-difference modeling of the acoustic wave equation",
            doi: "10.1190/1.1440470",
        },
        Paper {
            citation: "D. Komatitsch, R. Martin 2007, An unsplit convolutional perfectly matched layer",
            doi: "10.1190/1.2757586",
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

/// Half the order in space.
fn half(choice: &Choice) -> usize {
    (choice.order / 2).max(1) as usize
}

fn step_advice(scenario: &Scenario) -> StepAdvice {
    let half = half(&Choice::of(scenario));
    let limit = stability::limit(scenario, half);
    // At order 2 the errors of time and space have opposite signs: the largest step is the most accurate. Above it, the error of
    // time is what is left.
    let auto = if half == 1 { 0.9 } else { 0.5 } * limit;
    StepAdvice {
        auto,
        sensible: 0.98 * limit,
        stability_limit: Some(limit),
        because: "Stable while (cΔt/a)² · d · S ≤ 4 at every site, with the sound speed c, the spacing a and d axes; S = 4, 16/3, 272/45, 2048/315 at order 2, 4, 6, 8. At the limit itself the shortest \
                  wave grows linearly.",
    }
}

fn objections(scenario: &Scenario) -> Vec<Objection> {
    let mut all = acoustic_objections(scenario);
    let choice = Choice::of(scenario);
    if choice.order > 2 && scenario.medium().has(Sets::Density) {
        all.push(Objection::new(
            "solver.order",
            format!(
                "order = {}: a density that changes from site to site is stepped at order 2 only",
                choice.order
            ),
            "set solver.order = 2, or let the layers set the speed alone",
        ));
    }
    let elsewhere = choice.backend.named().filter(|backend| *backend != Backend::Cpu);
    if let Some((backend, shown)) = elsewhere.zip(scenario.shown_beside_steps()) {
        all.push(Objection::new(
            "solver.backend",
            format!(
                "backend = \"{}\": \"{shown}\" is shown by the processor",
                backend.as_str()
            ),
            "take \"auto\" or \"cpu\", or show the pressure without the flow",
        ));
    }
    if let Some(backend) = elsewhere.filter(|_| relaxes(scenario)) {
        all.push(Objection::new(
            "solver.backend",
            format!(
                "backend = \"{}\": walls whose impedance depends on the frequency and media that attenuate by a power law are stepped on the processor",
                backend.as_str()
            ),
            "take \"auto\" or \"cpu\"",
        ));
    }
    for (variant, rank) in [("tiled", 2), ("diamond-torre", 3)] {
        if choice.is(variant) && scenario.grid().rank() != rank {
            all.push(Objection::new(
                "solver.variant",
                format!(
                    "variant = \"{variant}\" works in {rank} dimensions, and the grid has {}",
                    scenario.grid().rank()
                ),
                "take \"auto\"",
            ));
        }
    }
    all
}

/// Neighbours along each axis, as far as the stencil goes.
fn reach(scenario: &Scenario, set: &mut [bool]) {
    grow_by_star(scenario.grid(), set, half(&Choice::of(scenario)));
}

/// A value travels half the order in rows a step.
fn split(scenario: &Scenario) -> Result<Split, Objection> {
    needs_rows(scenario)?;
    if scenario.shown_beside_steps().is_some() {
        return Err(Objection::new(
            "solver.parts",
            "pictures of means and of the velocity are made of a run in one part",
            "remove `parts`, or show the pressure without the flow",
        ));
    }
    if relaxes(scenario) {
        return Err(Objection::new(
            "solver.parts",
            "walls and media that remember are stepped in one part",
            "remove `parts`",
        ));
    }
    let half = half(&Choice::of(scenario));
    let grid = scenario.grid();
    // Devices step the outermost ghost rows beside a cut, as many as a layer is wide, as if they were in one: these are spoilt from the first step on.
    let last = grid.rank() - 1;
    let spoilt = if asks_for_devices(scenario) && grid.edges()[last] == Edge::Absorb {
        grid.absorb_width()
    } else {
        0
    };
    Ok(Split {
        reach: half,
        beside: half + spoilt,
        unit: 1,
        steps: steps_between_copies(scenario),
    })
}

/// Steps from one copy of ghost rows to the next. On devices a copy takes as long as several rows of steps: in planes so many that it takes little of the time, whole passes of tiles at
/// every order; in space as few as keep the ghost planes few, or what a pass of towers takes. On the processor towers are as high as the ghost rows of a part allow.
fn steps_between_copies(scenario: &Scenario) -> [u64; 2] {
    let choice = Choice::of(scenario);
    let (half, medium) = (half(&choice), scenario.medium());
    let layers = scenario.grid().edges().contains(&Edge::Absorb);
    let plain = !medium.has(Sets::Wall) && !medium.has(Sets::Density) && !medium.absorbs() && !layers;
    let towers = choice.is("diamond-torre") || choice.variant.is_none() && plain;
    match (asks_for_devices(scenario), scenario.grid().rank()) {
        (false, _) if choice.is("stepwise") => [2; 2],
        (false, 2) => [16, 64],
        (false, _) => [4, 16],
        (true, 2) => [24; 2],
        (true, _) if towers => [32; 2],
        (true, _) if half <= 2 => [6; 2],
        (true, _) => [4; 2],
    }
}

fn memory(scenario: &Scenario) -> u64 {
    let grid = scenario.grid();
    let medium = scenario.medium();
    let real = Choice::of(scenario).real() as u64;
    let sites = lattice::Lattice::new(grid, half(&Choice::of(scenario))).values() as u64;
    let mut reals = 2;
    if medium.has(Sets::Speed) || medium.has(Sets::Density) {
        reals += 1;
    }
    reals += u64::from(medium.has(Sets::Density));
    reals += u64::from(scenario.takes_energy() || Surroundings::may_have_obstacles(scenario));
    // Shares, q and d.
    let memories = bulk(scenario, 1.0).len();
    reals += if memories > 0 { 2 + 2 * memories as u64 } else { 0 };
    // Φ⁺ of two levels.
    reals += 2 * u64::from(scenario.asks_for_velocity());
    reals += u64::from(matches!(scenario.view().quantity, Quantity::Rms | Quantity::Level));
    if scenario.shows_intensity() {
        reals += grid.rank() as u64;
    }
    let layers: usize = (0..grid.rank())
        .filter(|axis| grid.edges()[*axis] == Edge::Absorb)
        .map(|axis| 6 * grid.absorb_width() * (grid.sites() / grid.size()[axis]))
        .sum();
    let half = half(&Choice::of(scenario));
    let bytes = if half > faces::WIDEST { 1 } else { 1 + half };
    let walls = if medium.has(Sets::Wall) {
        bytes * grid.sites()
    } else {
        0
    };
    (reals * sites + layers as u64) * real + walls as u64
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn work(scenario: &Scenario) -> Work {
    let half = half(&Choice::of(scenario)) as f64;
    let rank = scenario.grid().rank() as f64;
    let medium = scenario.medium();
    let real = Choice::of(scenario).real() as f64;
    let mut numbers = 3.0;
    for sets in [Sets::Speed, Sets::Density] {
        numbers += f64::from(u8::from(medium.has(sets)));
    }
    Work {
        // Per distance 2d − 1 additions, a difference and a multiply-add (order 2: none); the level; difference, multiply-add and addition at the end.
        instructions: half * (2.0 * rank + 1.0) + 4.0 - f64::from(u8::from(half == 1.0)),
        bytes: numbers * real,
    }
}

fn build(scenario: &Scenario) -> Result<Box<dyn Solver>, SolverError> {
    placed::build(&METHOD, scenario, placed::FEWEST_SITES, make)
}

fn make(setup: Setup, backend: Backend) -> Result<Box<dyn Solver>, SolverError> {
    if backend != Backend::Cpu && relaxes(&setup.scenario) {
        return Err(SolverError::Unsupported(
            "walls and media that remember are stepped on the processor".to_owned(),
        ));
    }
    if let Some(shown) = setup.scenario.shown_beside_steps().filter(|_| backend != Backend::Cpu) {
        return Err(SolverError::Unsupported(format!(
            "\"{shown}\" is shown by the processor"
        )));
    }
    match setup.choice.precision {
        #[cfg(feature = "gui")]
        Precision::Single if backend == Backend::Wgpu => Run::boxed(setup, wgpu::Wgpu::new),
        Precision::Single => make_in::<f32>(setup, backend),
        Precision::Double => make_in::<f64>(setup, backend),
    }
}

fn make_in<T: Number>(setup: Setup, backend: Backend) -> Result<Box<dyn Solver>, SolverError> {
    match backend {
        Backend::Cpu => Run::in_parts(setup, run::Fdtd::<T>::in_its_order),
        #[cfg(feature = "cuda")]
        Backend::Cuda => Run::in_parts(setup, cuda::Cuda::<T>::new),
        #[cfg(not(feature = "cuda"))]
        Backend::Cuda => Err(placed::absent(&METHOD, backend)),
        Backend::Wgpu => Err(placed::absent(&METHOD, backend)),
    }
}

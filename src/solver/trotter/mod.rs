//! Trotter–Suzuki: the Schrödinger equation on a lattice as a product of exact two-site evolutions.
//!
//! - Equation: i dψ/dt = Hψ, H = −J Σ(|i⟩⟨j| + h.c.) + E(r, t) − iW(r) + g|ψ|², ħ = 1; with flux the x bonds carry Peierls phases.
//! - Scheme: see [`scheme`]. Each bond evolves exactly, p' = cos(Jτ) p + i sin(Jτ) q; bonds of one parity along an axis touch no common
//!   site, so a sweep over them is exact as well; only the order of the sweeps is an approximation.
//! - Layout: per variant. `naive` complex, x fastest; `vector` planes by colour; `blocked` planes of real and imaginary parts.
//! - Order: 1, 2 or 4 in Δt. Unitary and therefore stable for every Δt (without absorption), reversible for orders 2 and 4; the error per unit of time
//!   grows as J(J Δt)^order.
//! - Cost, 2D order 2: 6 sweeps and one phase a step.
//! - Limits: hopping only along axes; layers of hopping, flux or interaction, rotation and coupled components ([`components`]) by `naive` and, on the processor, `vector`, layers of hopping and flux on NVIDIA devices also by whole steps; a periodic axis needs an even number of sites; order 4 has a
//!   backward sub-step, which excludes imaginary time and puts absorption outside the composition, see [`scheme`].
//!
//! H. De Raedt, Annu. Rev. Comput. Phys. IV (1996) 107; C. S. Bederián and A. D. Dente, "Boosting quantum evolutions using
//! Trotter-Suzuki algorithms on GPUs" (2011); M. Suzuki, Phys. Lett. A 146 (1990) 319.

mod blocked;
mod closed;
mod components;
#[cfg(feature = "cuda")]
mod cuda;
mod decays;
mod detectors;
mod half_phase;
mod interaction;
mod measure;
mod media;
mod naive;
mod problem;
mod recorder;
mod row_totals;
mod run;
mod scheme;
mod solver;
mod stepper;
mod summed;
mod transducers;
mod vector;
#[cfg(feature = "gui")]
mod wgpu;
mod whole_sums;

use super::cut::needs_rows;
use super::method::{
    Backend, DEVICES_PARAMETER, Kind, Method, PARTS_PARAMETER, Paper, ParameterSpec, Split, Target, Variant, Work,
};
use super::placed;
use super::run::Run;
use super::setup::{Choice, Number, Setup, asks_for_devices};
use super::transducers::grow_by_pairs;
use super::{Solver, SolverError};
use crate::backend::simd::Level;
use crate::field::Precision;
use crate::physics::{Equation, Medium, Sets};
use crate::scene::{Objection, Scenario};
use blocked::Way;
use problem::Problem;
use run::{Sweeper, Trotter};

/// The row of the table.
pub static METHOD: Method = Method {
    id: "trotter",
    title: "Trotter–Suzuki",
    about: "Splits the Hamiltonian into pairs of neighbouring sites and propagates each pair exactly: unitary for every step, reversible, local, and the fastest explicit method on a lattice. Potentials are exact phases.",
    equation: Equation::Schrodinger,
    orders: &[1, 2, 4],
    ranks: &[1, 2, 3],
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
                    id: "vector",
                    about: "sweep by sweep over fields split by colour, at the width of the machine's vectors",
                },
                Variant {
                    id: "blocked",
                    about: "several whole steps on blocks that stay in cache; the fastest on large planes",
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
            about: "Error per unit of time ∝ Δt^order. 1: E and O sweeps in turn; 2: their palindrome; \
                    4: five palindromes (Suzuki 1990), five times the work; still of order 2 where something absorbs; no imaginary time.",
            kind: Kind::OneOf {
                values: &[1, 2, 4],
                default: 2,
            },
            variants: &[],
        },
        ParameterSpec {
            key: "block",
            title: "Block",
            about: "Sites of a block that stays in cache, per axis, halo included. Larger blocks have less halo (2 sites per fused step and side), smaller ones fit a faster cache.",
            kind: Kind::Sizes { min: 16, max: 65536 },
            variants: &["blocked"],
        },
        ParameterSpec {
            key: "fused_steps",
            title: "Fused steps",
            about: "Steps that a block takes in cache, or in the registers of a device (at most 10), before it is written to memory. Never changes the result, not by a bit.",
            kind: Kind::Count { min: 1, max: 64 },
            variants: &["blocked", "fused", "tiles"],
        },
        PARTS_PARAMETER,
        DEVICES_PARAMETER,
    ],
    papers: &[
        Paper {
            citation: "H. De Raedt, Computer simulation of quantum phenomena in nanoscale devices, Annual Reviews of Computational Physics IV (1996) 107",
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
    step_advice: problem::step_advice,
    objections,
    memory,
    reach: Some(reach),
    split: Some(split),
    transducers: Backend::BUILT,
    work,
    build,
};

/// Partners in every sweep of a step, from the last to the first.
fn reach(scenario: &Scenario, set: &mut [bool]) {
    let Some(problem) = problem::as_written(scenario) else {
        return;
    };
    for substep in scheme::Scheme::new::<f64>(&problem, false).substeps.iter().rev() {
        for sweep in substep.sweeps(problem.grid.rank()).iter().rev() {
            grow_by_pairs(&problem.grid, set, sweep.axis, sweep.odd);
        }
    }
}

/// Whether bonds or interactions differ from site to site, or components act on each other, which the variants of [`steps_what_differs`] step.
fn differs(medium: &Medium) -> bool {
    medium.sets_bonds() || medium.sets_interaction()
}

/// The variants of a back end that step bonds and sites that differ; on a device those of whole steps do so in two and three dimensions, and where they cannot are one kernel a sweep.
fn steps_what_differs(backend: Backend) -> &'static [&'static str] {
    match backend {
        Backend::Cpu => &["vector", "naive"],
        Backend::Cuda => &["naive", "full-step", "fused"],
        Backend::Wgpu => &[],
    }
}

/// What the scene asks of the method that it cannot do, and of bonds and interactions that differ what only some variants can.
fn objections(scenario: &Scenario) -> Vec<Objection> {
    let mut found = problem::objections(scenario);
    let here = scenario.medium();
    if let Some(mirror) = scenario.mirror() {
        let back = &mirror.medium;
        debug_assert!(
            differs(back) || !differs(here),
            "a perturbation adds layers, and the way back rotates as the scene does"
        );
        if back.sets_bonds() != here.sets_bonds() {
            let message = "layers of hopping or flux stand on the way back only";
            let remedy = "put a layer of hopping with the value 1 into the scene too";
            found.push(Objection::new("mirror.perturbation", message, remedy));
        } else if back.has(Sets::Interaction) != here.has(Sets::Interaction) {
            let message = "layers of interaction stand on the way back only";
            let remedy = "put a layer of interaction with the scene's own value into the scene too";
            found.push(Objection::new("mirror.perturbation", message, remedy));
        }
    }
    if !differs(here) {
        return found;
    }
    let choice = Choice::of(scenario);
    let named = if asks_for_devices(scenario) {
        Some(Backend::Cuda)
    } else {
        choice.backend.named()
    };
    found.extend(objection_where_they_differ(named, choice.variant.as_deref()));
    found
}

/// What a back end or a variant that is named cannot step of bonds and sites that differ.
fn objection_where_they_differ(named: Option<Backend>, variant: Option<&str>) -> Option<Objection> {
    let able = steps_what_differs(named.unwrap_or(Backend::Cpu));
    if let (Some(backend), []) = (named, able) {
        let message = format!(
            "rotation, layers of hopping, flux and interaction, and a cross interaction are stepped on the processor and on NVIDIA devices, not on {}",
            backend.as_str()
        );
        let remedy = "take backend = \"cpu\", \"cuda\" or \"auto\"";
        return Some(Objection::new("solver.backend", message, remedy));
    }
    let variant = variant.filter(|variant| !able.contains(variant))?;
    let message = format!(
        "variant {variant} is for bonds and sites that are alike, and the rotation, a cross interaction or a layer of hopping, flux or interaction makes them differ"
    );
    let able = able.iter().map(|variant| format!("\"{variant}\"")).collect::<Vec<_>>();
    let remedy = format!("take variant = {} or \"auto\"", able.join(", "));
    Some(Objection::new("solver.variant", message, remedy))
}

/// A value travels two rows in the sweeps of a sub-step along the axis that is cut. Bonds join pairs of rows, so that windows begin at even ones.
fn split(scenario: &Scenario) -> Result<Split, Objection> {
    needs_rows(scenario)?;
    if scenario.medium().sets_bonds() {
        let message = "a grid that rotates, or whose layers set hopping or flux, is stepped as a whole";
        return Err(Objection::new(
            "solver.parts",
            message,
            "remove `parts` and `devices`, and use one process",
        ));
    }
    if scenario.medium().cross_interaction() != 0.0 {
        let message = "two components that act on each other are stepped as a whole";
        let remedy = "remove `parts` and `devices`, and use one process";
        return Err(Objection::new("solver.parts", message, remedy));
    }
    let fourth = problem::order(scenario) == 4;
    // On devices in two dimensions whole launches of fused steps (six, or four in double precision), and so many that copying takes little of the time; in three
    // dimensions ghosts are planes, which cost more to step. On the processor a pass in two dimensions takes as many as blocks fuse.
    let steps = match (asks_for_devices(scenario), scenario.grid().rank(), fourth) {
        (true, 2, false) => [24; 2],
        (true, 2, true) | (true, _, false) => [4; 2],
        (false, 2, false) => [8, 16],
        (false, ..) | (_, _, true) => [2; 2],
    };
    Ok(Split {
        reach: if fourth { 10 } else { 2 },
        beside: 2,
        unit: 2,
        steps,
    })
}

/// Field, phases (up to three tables for order 4) and energy; absorption, walls and driven parts where there are any.
fn memory(scenario: &Scenario) -> u64 {
    let real = Choice::of(scenario).real();
    let medium = scenario.medium();
    let (tables, absorbs) = problem::as_written(scenario).map_or((1, false), |p| (p.tables(), p.absorbs()));
    // Bonds in double precision, and the couplings of sweeps: of four angles an axis at most for order 4, of two else.
    let rank = scenario.grid().rank();
    let couplings = if medium.sets_bonds() {
        4 * rank * if tables > 1 { 4 } else { 2 }
    } else {
        0
    };
    let bonds = if medium.sets_bonds() { 16 * rank } else { 0 };
    let (strengths, wide) = if medium.has(Sets::Interaction) { (2, 8) } else { (0, 0) };
    let reals = 2 + 2 * tables + 1 + medium.drives().len() + usize::from(absorbs) + couplings + strengths;
    let walls = usize::from(medium.has(Sets::Wall));
    (scenario.grid().sites() * (real * reals + walls + bonds + wide)) as u64
}

/// Tan form: two multiply-adds a site and sweep, four operations for the phase. Field read and written, phases read.
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn work(scenario: &Scenario) -> Work {
    let rank = scenario.grid().rank() as f64;
    let (substeps, sweeps, tables) = match problem::order(scenario) {
        1 => (1.0, 2.0, 1.0),
        4 => (5.0, 3.0, 2.0),
        _ => (1.0, 3.0, 1.0),
    };
    Work {
        instructions: substeps * (2.0 * sweeps * rank + 4.0),
        bytes: (4.0 + 2.0 * tables) * Choice::of(scenario).real() as f64,
    }
}

fn build(scenario: &Scenario) -> Result<Box<dyn Solver>, SolverError> {
    placed::build(&METHOD, scenario, placed::FEWEST_SITES, make)
}

fn make(setup: Setup, backend: Backend) -> Result<Box<dyn Solver>, SolverError> {
    match setup.choice.precision {
        #[cfg(feature = "gui")]
        Precision::Single if backend == Backend::Wgpu => Run::boxed(setup, |setup| {
            let problem = without_differences(Problem::new(setup)?)?;
            let (variant, steps) = (setup.choice.variant.as_deref(), setup.choice.fused_steps);
            let sweeper = Box::new(wgpu::Wgpu::new(&problem, variant, steps)?);
            Ok(Trotter::new(problem, setup.scenario.initial(), sweeper))
        }),
        Precision::Single => make_in::<f32>(setup, backend),
        Precision::Double => make_in::<f64>(setup, backend),
    }
}

fn make_in<T: Number + blocked::Blockwise>(setup: Setup, backend: Backend) -> Result<Box<dyn Solver>, SolverError> {
    Run::in_parts(setup, move |setup| {
        let problem = Problem::new(setup)?;
        let sweeper: Box<dyn Sweeper<T>> = match backend {
            Backend::Cpu => on_processor(&problem, setup),
            #[cfg(feature = "cuda")]
            Backend::Cuda => Box::new(cuda::Cuda::<T>::new(
                &problem,
                setup.device,
                setup.choice.variant.as_deref(),
                setup.choice.fused_steps,
            )?),
            #[cfg(not(feature = "cuda"))]
            Backend::Cuda => return Err(placed::absent(&METHOD, backend)),
            Backend::Wgpu => return Err(placed::absent(&METHOD, backend)),
        };
        Ok(Trotter::new(problem, setup.scenario.initial(), sweeper))
    })
}

/// A problem that a graphics adapter can step.
#[cfg(feature = "gui")]
fn without_differences(problem: Problem) -> Result<Problem, SolverError> {
    if differs(&problem.medium) {
        let message = "layers, the rotation or a cross interaction make bonds or sites differ, which is stepped on the processor and on NVIDIA devices";
        return Err(SolverError::Unsupported(message.to_owned()));
    }
    Ok(problem)
}

fn on_processor<T: blocked::Blockwise>(problem: &Problem, setup: &Setup) -> Box<dyn Sweeper<T>> {
    let (choice, scenario) = (&setup.choice, &setup.scenario);
    // Only blocks are looked into between their steps, which is all the work of a line and much of that of a plane.
    let heard = !scenario.detectors().is_empty() || !scenario.trajectories().is_empty();
    let listens = match problem.grid.rank() {
        1 => heard || scenario.mirror().is_some(),
        2 => heard,
        _ => false,
    };
    let way = match choice.variant.as_deref() {
        Some("naive") => return Box::new(naive::Naive::new(&problem.grid)),
        Some("vector") => Way::Passes,
        // Blocks leave the cosines of sweeps to the phases, which only works where they are the same everywhere.
        _ if differs(&problem.medium) => Way::Passes,
        variant => {
            let open = variant.is_none() && !listens;
            blocked::fastest::<T>(problem, &choice.block, choice.fused_steps, open)
        }
    };
    match way {
        Way::Passes => Box::new(vector::Vector::new(&problem.grid, Level::best())),
        Way::Blocks(plan) => {
            let substeps = if problem.order == 4 { 5 } else { 1 };
            Box::new(blocked::Blocked::new(&problem.grid, plan, substeps))
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod choices {
    use super::*;

    #[test]
    fn what_differs_is_stepped_by_some_variants() {
        let (cpu, cuda) = (Some(Backend::Cpu), Some(Backend::Cuda));
        for (backend, variant) in [
            (cpu, None),
            (cpu, Some("naive")),
            (cpu, Some("vector")),
            (None, Some("vector")),
            (None, None),
            (cuda, None),
            (cuda, Some("naive")),
            (cuda, Some("full-step")),
            (cuda, Some("fused")),
        ] {
            let found = objection_where_they_differ(backend, variant);
            assert!(found.is_none(), "{backend:?} {variant:?}: {found:?}");
        }
        let here = "take variant = \"vector\", \"naive\" or \"auto\"";
        let there = "take variant = \"naive\", \"full-step\", \"fused\" or \"auto\"";
        for (backend, variant, key, remedy) in [
            (cpu, Some("blocked"), "solver.variant", here),
            (None, Some("fused"), "solver.variant", here),
            (cuda, Some("blocked"), "solver.variant", there),
            (cuda, Some("vector"), "solver.variant", there),
            (
                Some(Backend::Wgpu),
                None,
                "solver.backend",
                "take backend = \"cpu\", \"cuda\" or \"auto\"",
            ),
        ] {
            let found = objection_where_they_differ(backend, variant).unwrap();
            assert_eq!((found.key.as_str(), found.remedy.as_str()), (key, remedy));
        }
    }
}

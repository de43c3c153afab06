//! The plan for blocks, measured. No choice changes a bit of the result.

use super::blocked::Blocked;
use super::events::{Damping, SiteEvents};
use super::field::Field;
use super::layout::Layout;
use super::scheme::Scheme;
use super::springs::{Masses, Springs};
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::grid::Grid;
use crate::solver::tiling::{LEAST_MEASURED, Plan, cut, least_time, quickest, sample};
use std::sync::{Mutex, PoisonError};

/// What the speed of a plan depends on.
#[derive(Clone, PartialEq)]
struct Question {
    size: [usize; 3],
    periodic: [bool; 3],
    order: u32,
    real: usize,
    uniform: bool,
    given: (Vec<usize>, Option<usize>),
}

/// The plan for a grid: of what a scene leaves open, the candidate that took least time on a part of the grid. Asked once in a process for
/// problems of one shape.
pub(super) fn fastest<T: Vectors>(
    grid: &Grid,
    masses: &Masses,
    order: u32,
    block: &[usize],
    fused: Option<usize>,
) -> Plan {
    static ANSWERS: Mutex<Vec<(Question, Plan)>> = Mutex::new(Vec::new());
    let mut plans = Plan::candidates(grid, order, size_of::<T>(), block, fused);
    if plans.len() == 1 || grid.sites() < LEAST_MEASURED {
        return plans.swap_remove(0);
    }
    let question = Question {
        size: grid.size(),
        periodic: [0, 1, 2].map(|axis| grid.is_periodic(axis)),
        order,
        real: size_of::<T>(),
        uniform: masses.uniform,
        given: (block.to_vec(), fused),
    };
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, plan)) = answers.iter().find(|(known, _)| *known == question) {
        return plan.clone();
    }
    let plan = threads::run(|| measure::<T>(grid, masses, order, plans));
    answers.push((question, plan.clone()));
    plan
}

/// The fastest of some plans, on a part of the grid without layers.
fn measure<T: Vectors>(grid: &Grid, masses: &Masses, order: u32, plans: Vec<Plan>) -> Plan {
    let part = sample(grid, size_of::<T>());
    let masses = masses.blank(&part);
    // A tenth of the limit; any Δt takes the same time.
    let scheme = Scheme::new(order, 0.1 / masses.stiffness().sqrt());
    let substeps = scheme.substeps.len();
    let deepest = plans.iter().map(|plan| plan.fused * substeps).max().unwrap_or(1);
    let layout = Layout::new(&part, if part.is_periodic(0) { deepest } else { 0 });
    let springs = Springs::<T>::new(&masses, layout.clone(), scheme);
    let damping = Damping::none();
    let events = SiteEvents::new(&layout, &damping, None, &mut [], (&mut [], 0.0));
    let mut field = Field::new(&layout);
    let mut trial = Blocked::new(&part, plans[0].clone(), substeps, &layout);
    // The first pass of a plan fetches its own memory.
    quickest(plans, |plan, passes| {
        trial.set_plan(&part, plan.clone(), substeps);
        let least = least_time(passes, plan.fused, || {
            trial.pass(&mut field, &springs, &events, plan.fused);
        });
        // The sample's few rows make the halo along them weigh more than it does in the grid.
        let depth = plan.fused * substeps;
        least * cut(grid, plan, depth).redundancy(2 * depth) / trial.tiling().redundancy(2 * depth)
    })
}

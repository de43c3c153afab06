//! The plan for a problem, measured.
//!
//! No choice changes a bit of the result, so the measurement may decide differently every time.

use super::super::problem::Problem;
use super::super::scheme::Scheme;
use super::super::stepper::Sweeper;
use super::{Blocked, Blockwise};
use crate::backend::threads;
use crate::physics::Sets;
use crate::solver::tiling::{LEAST_MEASURED, Plan, cut, least_time, quickest, sample};
use std::sync::{Mutex, PoisonError};

/// What the speed of a plan depends on.
#[derive(Clone, PartialEq)]
struct Question {
    size: [usize; 3],
    periodic: [bool; 3],
    order: u32,
    real: usize,
    nested: bool,
    flux: bool,
    imaginary: bool,
    given: (Vec<usize>, Option<usize>),
}

/// The plan for a problem: of what a scene leaves open, the candidate that took least time on a part of the grid. Asked once in a process
/// for problems of one shape.
pub(in super::super) fn fastest<T: Blockwise>(problem: &Problem, block: &[usize], fused: Option<usize>) -> Plan {
    static ANSWERS: Mutex<Vec<(Question, Plan)>> = Mutex::new(Vec::new());
    let grid = &problem.grid;
    let mut plans = Plan::candidates(grid, problem.order, size_of::<T>(), block, fused);
    if plans.len() == 1 || grid.sites() < LEAST_MEASURED {
        return plans.swap_remove(0);
    }
    let question = Question {
        size: grid.size(),
        periodic: [0, 1, 2].map(|axis| grid.is_periodic(axis)),
        order: problem.order,
        real: size_of::<T>(),
        nested: problem.medium.has(Sets::Wall),
        flux: problem.quantum.flux != 0.0,
        imaginary: problem.imaginary,
        given: (block.to_vec(), fused),
    };
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, plan)) = answers.iter().find(|(known, _)| *known == question) {
        return plan.clone();
    }
    let plan = threads::run(|| measure::<T>(problem, plans));
    answers.push((question, plan.clone()));
    plan
}

/// The fastest of some plans.
fn measure<T: Blockwise>(problem: &Problem, plans: Vec<Plan>) -> Plan {
    let grid = sample(&problem.grid, size_of::<T>());
    let scheme = Scheme::new::<T>(problem, true);
    let mut trial = Blocked::<T>::new(&grid, plans[0].clone(), scheme.substeps.len());
    trial.prepare(problem, &scheme, None);
    // The first pass of a plan fetches its own memory.
    quickest(plans, |plan, passes| {
        trial.set_plan(plan.clone());
        let least = least_time(passes, plan.fused, || trial.steps(&scheme, plan.fused as u64));
        // The sample's few rows make the halo along them weigh more than it does in the grid.
        let depth = plan.fused * scheme.substeps.len();
        least * cut(&problem.grid, plan, depth).redundancy(2 * depth) / trial.tiling.redundancy(2 * depth)
    })
}

//! The plan for a problem, by measurement. Blocks of any size give the same bits, passes of `vector` give others: checkpoints name the variant.

use super::super::problem::Problem;
use super::super::scheme::Scheme;
use super::super::stepper::Sweeper;
use super::super::vector::Vector;
use super::{Blocked, Blockwise};
use crate::backend::simd::Level;
use crate::physics::Sets;
use crate::solver::tiling::{LEAST_MEASURED, LONGEST, Plan, cut, sample};
use crate::solver::tune::{self, Fastest, TuningKey, least_time, quickest};

/// Smaller grids stay in a core's caches, where blocks take less time than passes with registers of 64 bytes, and more with narrower ones.
const LEAST_OPEN: usize = 1 << 15;

/// Planes with walls up to here may be stepped faster by passes: blocks take their rows' walls one by one, and all fits into caches.
const LARGEST_WALLED: usize = 1 << 17;

/// Lines are timed whole up to here; a sample of a longer one would fit into caches into which the line does not.
const LONGEST_LINE: usize = 1 << 19;

/// How a problem is stepped on the processor.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Way {
    /// Several steps a block.
    Blocks(Plan),
    /// One pass over memory a sweep.
    Passes,
}

/// The way for a problem: of what a scene leaves open, the candidate that takes least time on a part of the grid. `open`: in three dimensions, where blocks are mostly halo, passes
/// compete, on lines in real time, and on small planes with walls (docs/experiments.md).
pub(in super::super) fn fastest<T: Blockwise>(
    problem: &Problem,
    block: &[usize],
    fused: Option<usize>,
    open: bool,
) -> Way {
    let grid = &problem.grid;
    let plans = Plan::candidates(grid, problem.order, size_of::<T>(), block, fused);
    let usual = Way::Blocks(plans[0].clone());
    let line = grid.rank() == 1;
    let walled = grid.rank() == 2 && problem.medium.has(Sets::Wall) && grid.sites() <= LARGEST_WALLED;
    let compete = grid.rank() == 3 || !problem.imaginary && (line && grid.sites() <= LONGEST_LINE || walled);
    let passes = open && compete && block.is_empty() && fused.is_none();
    let least = if passes { LEAST_OPEN } else { LEAST_MEASURED };
    if grid.sites() < least {
        let level = Level::best();
        let narrow = passes && !walled && (level == Level::Avx2 || level != Level::Avx512 && !line);
        return if narrow { Way::Passes } else { usual };
    }
    let what = (
        (grid.size(), [0, 1, 2].map(|axis| grid.is_periodic(axis))),
        (problem.order, T::PRECISION, problem.imaginary),
        (problem.medium.has(Sets::Wall), problem.quantum.flux != 0.0),
        (block, fused, passes),
    );
    // Beside the usual one, so that time does not run out before it is tried.
    let mut ways: Vec<Way> = plans.into_iter().map(Way::Blocks).collect();
    if passes {
        ways.insert(1, Way::Passes);
    }
    let key = TuningKey::new("trotter", &what);
    tune::fastest(&key, ways, |ways| measure::<T>(problem, ways)).unwrap_or(usual)
}

/// The fastest of some ways.
fn measure<T: Blockwise>(problem: &Problem, ways: Vec<Way>) -> Option<Fastest<Way>> {
    let grid = sample(&problem.grid, size_of::<T>());
    let (blocks, sweeps) = (Scheme::new::<T>(problem, true), Scheme::new::<T>(problem, false));
    let mut trial: Option<Blocked<T>> = None;
    // The first pass of a plan fetches its own memory.
    quickest(ways, LONGEST, |way, passes| {
        let Way::Blocks(plan) = way else {
            let mut trial = Vector::<T>::new(&grid, Level::best());
            trial.prepare(problem, &sweeps, None);
            return Some(least_time(passes, 1, || trial.steps(&sweeps, 1)));
        };
        let substeps = blocks.substeps.len();
        let trial = trial.get_or_insert_with(|| {
            let mut trial = Blocked::new(&grid, plan.clone(), substeps);
            trial.prepare(problem, &blocks, None);
            trial
        });
        trial.set_plan(plan.clone());
        let least = least_time(passes, plan.fused, || trial.steps(&blocks, plan.fused as u64));
        // The sample's few rows make the halo along them weigh more than it does in the grid.
        let depth = plan.fused * substeps;
        Some(least * cut(&problem.grid, plan, depth).redundancy(2 * depth) / trial.tiling.redundancy(2 * depth))
    })
}

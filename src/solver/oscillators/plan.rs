//! The plan for blocks, by measurement. No choice changes a bit of the result.

use super::blocked::Blocked;
use super::events::{Damping, SiteEvents};
use super::field::Field;
use super::layout::Layout;
use super::scheme::Scheme;
use super::springs::{Masses, Springs};
use crate::backend::simd::Vectors;
use crate::grid::Grid;
use crate::solver::tiling::{LEAST_MEASURED, LONGEST, Plan, cut, sample};
use crate::solver::tune::{self, Fastest, TuningKey, least_time, quickest};

/// The plan for a grid: of what a scene leaves open, the candidate that takes least time on a part of the grid.
pub(super) fn fastest<T: Vectors>(
    grid: &Grid,
    masses: &Masses,
    order: u32,
    block: &[usize],
    fused: Option<usize>,
) -> Plan {
    let plans = Plan::candidates(grid, order, size_of::<T>(), block, fused);
    let usual = plans[0].clone();
    if grid.sites() < LEAST_MEASURED {
        return usual;
    }
    let periodic = [0, 1, 2].map(|axis| grid.is_periodic(axis));
    let what = (
        grid.size(),
        periodic,
        order,
        T::PRECISION,
        masses.uniform,
        (block, fused),
    );
    let key = TuningKey::new("oscillators", &what);
    tune::fastest(&key, plans, |plans| measure::<T>(grid, masses, order, plans)).unwrap_or(usual)
}

/// The fastest of some plans, on a part of the grid without layers.
fn measure<T: Vectors>(grid: &Grid, masses: &Masses, order: u32, plans: Vec<Plan>) -> Option<Fastest<Plan>> {
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
    quickest(plans, LONGEST, |plan, passes| {
        trial.set_plan(&part, plan.clone(), substeps);
        let least = least_time(passes, plan.fused, || {
            trial.pass(&mut field, &springs, &events, plan.fused);
        });
        // The sample's few rows make the halo along them weigh more than it does in the grid.
        let depth = plan.fused * substeps;
        Some(least * cut(grid, plan, depth).redundancy(2 * depth) / trial.tiling().redundancy(2 * depth))
    })
}

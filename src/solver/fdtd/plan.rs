//! How towers are cut: what a scene says, else what a short measurement finds fastest.
//!
//! No choice changes a bit of the result, so the measurement may decide differently every time.

use super::events::{Played, SiteEvents};
use super::lattice::Lattice;
use super::material::Material;
use super::recorder::Recorder;
use super::scheme::Sweep;
use super::share::Shared;
use super::stage::Followed;
use super::tiling::Tiling;
use super::torre::Pass;
use super::walls::Walls;
use crate::backend::simd::{Aligned, Vectors};
use crate::backend::threads;
use crate::grid::Grid;
use crate::solver::Taps;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Size of the diamonds and steps of a tower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Half the width of a diamond over the slope of a tower.
    pub(super) dts: usize,
    /// Steps.
    pub(super) tower: usize,
}

/// Bytes of both levels that a tower may keep in a core's second-level cache; the first serves small grids without measurement.
const KEPT: [usize; 4] = [512 << 10, 256 << 10, 1 << 20, 128 << 10];
/// Largest values of the parameters.
pub(super) const MOST_DTS: u16 = 64;
pub(super) const MOST_STEPS: u16 = 1024;
/// No candidate begins after that.
const LONGEST: Duration = Duration::from_millis(250);
/// Smaller grids take so little time that the usual plan serves them.
const LEAST_MEASURED: usize = 1 << 18;
/// Sites of the sample that is timed: beyond the caches of a core.
const SAMPLE: usize = 4 << 20;

impl Plan {
    /// Plans worth trying with what a scene gives, all different.
    pub(super) fn candidates(lattice: &Lattice, real: usize, given: Given) -> Vec<Self> {
        let slope = lattice.half;
        let row = lattice.stride * real;
        let mut plans: Vec<Self> = Vec::new();
        for bytes in KEPT {
            // Two levels of 2s²D² rows in three dimensions; of at most 2sD, and sD on average, in two.
            let dts = if lattice.rank > 2 {
                (bytes / (4 * slope * slope * row)).isqrt()
            } else {
                bytes / (4 * slope * row)
            };
            let dts = given.dts.unwrap_or(dts.clamp(1, usize::from(MOST_DTS)));
            // Base and top cost a tenth to a quarter of the rest; in two dimensions diamonds end by themselves.
            let tower = (4 * dts).clamp(16, 64);
            let plan = Self {
                dts,
                tower: given.tower.unwrap_or(tower),
            };
            if !plans.contains(&plan) {
                plans.push(plan);
            }
        }
        plans
    }
}

/// What a scene sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) dts: Option<usize>,
    pub(super) tower: Option<usize>,
}

/// What the speed of a plan depends on.
#[derive(Clone, PartialEq)]
struct Question {
    lattice: Lattice,
    real: usize,
    given: Given,
}

/// The plan for a sweep: of what a scene leaves open, the candidate that took least time on a part of the grid. Asked once in a process for problems of
/// one shape.
pub(super) fn fastest<T: Vectors>(lattice: &Lattice, given: Given) -> Plan {
    static ANSWERS: Mutex<Vec<(Question, Plan)>> = Mutex::new(Vec::new());
    let mut plans = Plan::candidates(lattice, size_of::<T>(), given);
    let sites: usize = lattice.size.iter().product();
    if plans.len() == 1 || sites < LEAST_MEASURED {
        return plans.swap_remove(0);
    }
    let question = Question {
        lattice: lattice.clone(),
        real: size_of::<T>(),
        given,
    };
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, plan)) = answers.iter().find(|(known, _)| *known == question) {
        return *plan;
    }
    let plan = threads::run(|| measure::<T>(lattice, &plans)).unwrap_or(plans[0]);
    answers.push((question, plan));
    plan
}

/// The fastest of some plans on fewer rows of the same length, one speed and edges that reflect; `None` where the sample finds no memory.
fn measure<T: Vectors>(lattice: &Lattice, plans: &[Plan]) -> Option<Plan> {
    let trial = sample::<T>(lattice);
    let values = trial.lattice.values();
    let (mut now, mut old) = (
        Aligned::<T>::try_zeros(values, 0)?,
        Aligned::<T>::try_zeros(values, 37)?,
    );
    let quiet = vec![false; trial.lattice.rows()];
    let begun = Instant::now();
    let mut best: Option<(f64, Plan)> = None;
    for plan in plans {
        if best.is_some() && begun.elapsed() > LONGEST {
            break;
        }
        let Some(tiling) = Tiling::new(&trial.lattice, plan.dts) else {
            break;
        };
        let played: Vec<Played<T>> = (0..plan.tower).map(|_| Played::default()).collect();
        let mut recorder = Recorder::new(&trial, &Taps::default(), plan.tower);
        let events = SiteEvents {
            played: &played,
            rows: &quiet,
            recording: recorder.recording(1.0, 1.0),
        };
        for _ in 0..2 {
            let pass = Pass {
                levels: [Shared::new(&mut now), Shared::new(&mut old)],
                memories: &[],
                steps: plan.tower,
                followed: Followed::default(),
                events: &events,
            };
            let start = Instant::now();
            trial.towers(&tiling, &pass);
            #[expect(clippy::cast_precision_loss, reason = "a small number of steps")]
            let seconds = start.elapsed().as_secs_f64() / plan.tower as f64;
            if best.is_none_or(|(least, _)| seconds < least) {
                best = Some((seconds, *plan));
            }
        }
    }
    best.map(|(_, plan)| plan)
}

/// Fewer rows of the same length between walls, with one speed.
fn sample<T: Vectors>(lattice: &Lattice) -> Sweep<T> {
    let rows = (SAMPLE / lattice.size[0]).max(64);
    let ny = if lattice.rank > 2 {
        lattice.size[1].min(rows.isqrt())
    } else {
        lattice.size[1].min(rows)
    };
    let size = [lattice.size[0], ny, lattice.size[2].min(rows.div_ceil(ny))];
    let grid = Grid::new(&size[..lattice.rank], 1.0);
    let lattice = Lattice::new(&grid, lattice.half);
    Sweep::new(lattice, Material::uniform(T::of(0.1)), Vec::new(), Walls::default())
}

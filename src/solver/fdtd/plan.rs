//! Whether towers are used and how they are cut: as the scene says, or as a short measurement finds fastest. No choice changes a bit of the result.

use super::cpml::Layer;
use super::events::{Played, SiteEvents};
use super::lattice::Lattice;
use super::material::Material;
use super::recorder::Recorder;
use super::scheme::Sweep;
use super::share::Shared;
use super::stage::{Followed, Memory, Mode};
use super::tiling::Tiling;
use super::torre::Pass;
use super::walls::Walls;
use crate::backend::simd::{Aligned, Vectors};
use crate::grid::{Edge, Grid};
use crate::solver::Taps;
use crate::solver::tune::{self, Fastest, TuningKey, least_time, quickest};
use std::time::Duration;

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
/// No candidate begins to be timed after that.
const LONGEST: Duration = Duration::from_millis(250);
/// Smaller grids take so little time that the usual plan serves them.
const LEAST_MEASURED: usize = 1 << 18;
/// Smaller ones are stepped as a whole: they stay in a core's caches.
const LEAST_OPEN: usize = 1 << 13;
/// Steps of a pass that is timed step by step.
const STEPS: usize = 8;
/// What a step by itself is taken to cost over what it takes on an empty grid: sources, detectors and layers are made ready once a pass, of one step or of a tower's.
const READY: f64 = 1.05;
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

/// The settings of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) dts: Option<usize>,
    pub(super) tower: Option<usize>,
}

/// What is timed.
#[derive(Clone, Copy, Debug)]
enum Candidate {
    Stepwise,
    Towers(Plan),
}

/// How a sweep is taken: tower by tower, or, where a scene leaves that `open`, step by step if that takes less time on a part of the grid (`None`). A scene's dts and
/// steps are kept.
pub(super) fn fastest<T: Vectors>(lattice: &Lattice, given: Given, open: bool) -> Option<Plan> {
    let plans = Plan::candidates(lattice, size_of::<T>(), given);
    let usual = plans[0];
    let sites: usize = lattice.size.iter().product();
    if open && sites < LEAST_OPEN {
        return None;
    }
    if !open && sites < LEAST_MEASURED {
        return Some(usual);
    }
    // Last, as no large grid is faster that way.
    let stepwise = open.then_some(Candidate::Stepwise);
    let ways = plans.into_iter().map(Candidate::Towers).chain(stepwise).collect();
    let key = TuningKey::new("fdtd", &(lattice, T::PRECISION, given, open));
    match tune::fastest(&key, ways, |ways| measure::<T>(lattice, ways)) {
        Some(Candidate::Stepwise) => None,
        Some(Candidate::Towers(plan)) => Some(plan),
        None => Some(usual),
    }
}

/// The fastest of some ways on a sample of the grid; `None` where that finds no memory.
fn measure<T: Vectors>(lattice: &Lattice, ways: Vec<Candidate>) -> Option<Fastest<Candidate>> {
    let trial = sample::<T>(lattice);
    let mut layers = layers(&trial)?;
    let memories = Memory::of(&mut layers);
    let values = trial.lattice.values();
    let (mut now, mut old) = (
        Aligned::<T>::try_zeros(values, 0)?,
        Aligned::<T>::try_zeros(values, 37)?,
    );
    let quiet = vec![false; trial.lattice.rows()];
    quickest(ways, LONGEST, |way, passes| {
        let steps = match way {
            Candidate::Stepwise => 1,
            Candidate::Towers(plan) => plan.tower,
        };
        let played: Vec<Played<T>> = (0..steps).map(|_| Played::default()).collect();
        let mut recorder = Recorder::new(&trial, &Taps::default(), steps, false);
        let events = SiteEvents {
            played: &played,
            rows: &quiet,
            recording: recorder.recording(1.0, 1.0),
        };
        let Candidate::Towers(plan) = way else {
            let step = least_time(passes, STEPS, || {
                for _ in 0..STEPS {
                    trial.run(&now, &mut old, &memories, Mode::Step, Followed::default(), (&events, 1));
                    std::mem::swap(&mut now, &mut old);
                }
            });
            return Some(READY * step);
        };
        let tiling = Tiling::new(&trial.lattice, plan.dts)?;
        Some(least_time(passes - 1, plan.tower, || {
            let pass = Pass {
                levels: [Shared::new(&mut now), Shared::new(&mut old)],
                memories: &memories,
                steps: plan.tower,
                followed: Followed::default(),
                events: &events,
            };
            trial.towers(&tiling, &pass);
        }))
    })
}

/// Fewer rows of the same length, with one speed. Axes that are as long as those of the grid absorb where it does; all other edges are walls.
fn sample<T: Vectors>(lattice: &Lattice) -> Sweep<T> {
    let rows = (SAMPLE / lattice.size[0]).max(64);
    let ny = if lattice.rank > 2 {
        lattice.size[1].min(rows.isqrt())
    } else {
        lattice.size[1].min(rows)
    };
    let size = [lattice.size[0], ny, lattice.size[2].min(rows.div_ceil(ny))];
    let edges = [0, 1, 2].map(|axis| {
        if lattice.is_absorbing(axis) && size[axis] == lattice.whole[axis] {
            Edge::Absorb
        } else {
            Edge::Wall
        }
    });
    let grid = Grid::new(&size[..lattice.rank], 1.0).with_edges(edges, lattice.absorb_width);
    let lattice = Lattice::new(&grid, lattice.half);
    Sweep::new(lattice, Material::uniform(T::of(0.1)), Vec::new(), Walls::default())
}

/// The absorbing layers of a sample, at rest; `None` where they find no memory.
fn layers<T: Vectors>(trial: &Sweep<T>) -> Option<Vec<Layer<T>>> {
    let absorbing = (0..trial.lattice.rank).filter(|axis| trial.lattice.is_absorbing(*axis));
    absorbing
        .map(|axis| {
            let width = trial.lattice.absorb_width;
            let mut layer = Layer::new(&trial.lattice, axis, width).ok()?;
            layer
                .shape
                .set_step(trial.courants(axis, width), trial.material.surroundings);
            Some(layer)
        })
        .collect()
}

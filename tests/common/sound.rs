//! Acoustic rows of the table on small scenes that use every feature, started from noise.

use super::read;
use ripplon::field::{FieldData, Precision};
use ripplon::physics::reference::OscillatorLattice;
use ripplon::physics::{Equation, Model};
use ripplon::scene::Scenario;
use ripplon::solver::{self, Clock, Solver, Taps};

pub use super::Case;

#[path = "noise.rs"]
mod random;

/// Every acoustic combination of the table that runs on the processor.
pub fn cases() -> Vec<Case> {
    super::cases_of(Equation::Acoustic)
}

/// What a small scene has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    Rigid,
    Soft,
    Periodic,
    /// Speed and density from site to site.
    Media,
    Walls,
    Damped,
}

impl Feature {
    pub const ALL: [Self; 6] = [
        Self::Rigid,
        Self::Soft,
        Self::Periodic,
        Self::Media,
        Self::Walls,
        Self::Damped,
    ];
}

/// Odd and even sizes, larger than a vector and than a block's least core.
pub fn size(rank: usize, feature: Feature) -> &'static [usize] {
    match (rank, feature) {
        (1, Feature::Periodic | Feature::Soft) => &[200],
        (1, _) => &[201],
        (2, Feature::Periodic | Feature::Soft) => &[150, 36],
        (2, _) => &[149, 37],
        (_, _) => &[20, 12, 10],
    }
}

/// c = a = ρ = 1 in the background, so that the step is the Courant number.
pub fn scene(case: &Case, feature: Feature, step: f64, extra: &str) -> String {
    let size = size(case.rank, feature);
    let edges = match feature {
        Feature::Soft => "soft",
        Feature::Periodic => "periodic",
        _ => "wall",
    };
    let random = |k: f64| format!("1 + 0.4*sin({k}*x + 53.3*y*y + 17.9*z + {k})");
    let layer = match feature {
        Feature::Media => format!(
            "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"{}\"\n[[layer]]\nsets = \"density\"\nshape = \"everywhere\"\nvalue = \"{}\"\n",
            random(91.7),
            random(37.1)
        ),
        Feature::Walls => format!(
            "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = {:?}\nradius = 3.5\n[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = {:?}\nmax = {:?}\n",
            size.iter().map(|n| *n as f64 * 0.6).collect::<Vec<_>>(),
            vec![0.0; size.len()],
            vec![4.0; size.len()],
        ),
        Feature::Damped => {
            "[[layer]]\nsets = \"absorption\"\nshape = \"everywhere\"\nvalue = \"0.2 + 0.1*sin(x + 2*y)\"\n".to_owned()
        }
        _ => String::new(),
    };
    let order = if case.method.orders.len() > 1 {
        format!("order = {}\n", case.order)
    } else {
        String::new()
    };
    format!(
        "format = 1\n[grid]\nsize = {size:?}\nspacing = 1.0\nedges = \"{edges}\"\n[acoustic]\nspeed = 1.0\ndensity = 1.0\n[time]\nstep = {step:?}\nend = 2.0\n\
         [solver]\nmethod = {:?}\nbackend = \"cpu\"\nvariant = {:?}\nprecision = {:?}\n{order}{extra}[[pulse]]\ncenter = {:?}\nwidth = 2.0\n{layer}",
        case.method.id,
        case.variant,
        case.precision.as_str(),
        vec![3.0; size.len()],
    )
}

/// The scenario, or `None` for a variant that does not do this rank; everything else must be accepted.
pub fn scenario(case: &Case, feature: Feature, step: f64, extra: &str) -> Option<Scenario> {
    match read(&scene(case, feature, step, extra)) {
        Ok(scenario) => Some(scenario),
        Err(faults) => {
            assert!(
                case.method.id == "fdtd" && case.variant != "stepwise",
                "{case} {feature:?}: {faults}"
            );
            None
        }
    }
}

/// Seeded values from −1 to 1; 0 in walls.
pub fn noise(scenario: &Scenario) -> Vec<f64> {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    let [nx, ny, _] = grid.size();
    let mut values = random::noise(grid.sites(), 17);
    let mut walls = vec![false; nx];
    for (row, values) in values.chunks_mut(nx).enumerate() {
        medium.wall_row(row % ny, row / ny, 0..nx, &mut walls);
        for (value, wall) in values.iter_mut().zip(&walls) {
            if *wall {
                *value = 0.0;
            }
        }
    }
    values
}

/// A solver that starts from noise.
pub fn build(scenario: &Scenario) -> Box<dyn Solver> {
    let method = solver::find(&scenario.solver().method).unwrap();
    let mut solver = (method.build)(scenario).unwrap_or_else(|error| panic!("{error}"));
    let clock = Clock::at_start(solver.clock().time_step);
    solver.set_field(&FieldData::Float64(noise(scenario)), clock).unwrap();
    solver
}

pub fn values(solver: &mut dyn Solver) -> Vec<f64> {
    let field = solver.field().unwrap();
    (0..field.len()).map(|i| field.at(i).re).collect()
}

pub fn run(scenario: &Scenario, steps: u64) -> Vec<f64> {
    let mut solver = build(scenario);
    solver.advance(steps, &mut Taps::default()).unwrap();
    values(solver.as_mut())
}

pub fn lattice(scenario: &Scenario) -> OscillatorLattice {
    let Model::Acoustic(acoustic) = scenario.model() else {
        unreachable!("acoustic scenes only")
    };
    OscillatorLattice::new(scenario.grid(), acoustic, scenario.medium())
}

/// The pressure after a time, from noise at rest.
pub fn exact(scenario: &Scenario, time: f64) -> Vec<f64> {
    let start = noise(scenario);
    lattice(scenario).propagate(&start, &vec![0.0; start.len()], time).0
}

/// ‖p − q‖/‖q‖.
pub fn distance(p: &[f64], q: &[f64]) -> f64 {
    let difference: f64 = p.iter().zip(q).map(|(p, q)| (p - q).powi(2)).sum();
    (difference / q.iter().map(|q| q * q).sum::<f64>()).sqrt()
}

/// Rounding of a run. Double: 1e-12 for some thousand operations of 1e-16 each. Single: 3e-7·√(number of roundings), fewer than 12 a substep and axis;
/// leapfrog integrates its roundings twice, which makes 20 of √20.
pub fn rounding(case: &Case, steps: u32) -> f64 {
    let substeps = if case.order == 4 { 5.0 } else { 1.0 };
    let growth = if case.method.id == "fdtd" {
        f64::from(steps)
    } else {
        1.0
    };
    match case.precision {
        Precision::Double => 1e-12,
        Precision::Single => 3e-7 * growth * (f64::from(steps) * substeps * 12.0 * case.rank as f64).sqrt(),
    }
}

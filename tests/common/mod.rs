//! What the suites over the table of methods share: every combination of the table, and small scenes that use every feature.

#![allow(dead_code, reason = "each suite uses its part")]
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests on small grids")]

pub mod sound;

use num_complex::Complex64;
use ripplon::field::Precision;
use ripplon::physics::reference::{Lattice, initial_state, norm};
use ripplon::physics::{Equation, Model, Quantum};
use ripplon::scene::Scenario;
use ripplon::solver::{self, Backend, METHODS, Method, Solver, Taps};

/// One combination of the table, on the processor.
#[derive(Clone, Copy)]
pub struct Case {
    pub method: &'static Method,
    pub variant: &'static str,
    pub precision: Precision,
    pub order: u32,
    pub rank: usize,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            method,
            variant,
            precision,
            order,
            rank,
        } = self;
        write!(
            f,
            "{} {variant} {} order {order} rank {rank}",
            method.id,
            precision.as_str()
        )
    }
}

/// Every quantum combination of the table that runs on the processor.
pub fn cases() -> Vec<Case> {
    cases_of(Equation::Schrodinger)
}

/// Every combination of the table for an equation that runs on the processor.
fn cases_of(equation: Equation) -> Vec<Case> {
    let mut all = Vec::new();
    for method in METHODS.iter().copied().filter(|m| m.equation == equation) {
        for target in method.targets.iter().filter(|target| target.backend == Backend::Cpu) {
            for variant in target.variants {
                for &precision in target.precisions {
                    for &order in method.orders {
                        all.extend(method.ranks.iter().map(|&rank| Case {
                            method,
                            variant: variant.id,
                            precision,
                            order,
                            rank,
                        }));
                    }
                }
            }
        }
    }
    all
}

/// What a small scene has besides a random potential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Walls all round and a random potential.
    Plain,
    /// A torus.
    Periodic,
    /// An absorbing edge along x and an absorbing disk.
    Absorbing,
    /// Walls inside.
    Walls,
    /// A magnetic field.
    Flux,
    /// A potential that changes with time.
    Driven,
    /// g|ψ|².
    Interacting,
}

impl Feature {
    pub const ALL: [Self; 7] = [
        Self::Plain,
        Self::Periodic,
        Self::Absorbing,
        Self::Walls,
        Self::Flux,
        Self::Driven,
        Self::Interacting,
    ];

    /// Whether the method refuses a scene with this feature, by its own words.
    pub fn refused(self, case: &Case) -> bool {
        match self {
            Self::Walls => case.method.id == "split-step-fourier",
            Self::Flux => !["trotter", "chebyshev"].contains(&case.method.id) || case.rank == 1,
            Self::Driven | Self::Interacting => case.method.id == "chebyshev",
            _ => false,
        }
    }

    /// Whether e^{−iHt} of a constant matrix is the exact answer.
    pub fn is_linear_and_static(self) -> bool {
        !matches!(self, Self::Driven | Self::Interacting)
    }
}

/// Potentials between −1 and 1 that look random, the same on every machine.
const RANDOM: &str = "2*(43758.5453*sin(12.9898*x + 78.233*y + 37.719*z + 1) - floor(43758.5453*sin(12.9898*x + 78.233*y + 37.719*z + 1))) - 1";

/// Odd and even sizes, larger than a vector and no multiple of it.
pub fn size(rank: usize, feature: Feature) -> &'static [usize] {
    match (rank, feature) {
        (1, Feature::Periodic) => &[70],
        (1, _) => &[71],
        (2, Feature::Periodic) => &[38, 22],
        (2, _) => &[37, 23],
        (_, Feature::Periodic) => &[20, 10, 6],
        (_, Feature::Absorbing) => &[21, 10, 8],
        (_, _) => &[21, 10, 7],
    }
}

/// The scene of a case and a feature as text.
pub fn scene(case: &Case, feature: Feature, step: f64, extra: &str) -> String {
    scene_on(size(case.rank, feature), case, feature, step, extra)
}

/// The same on a grid of another size.
pub fn scene_on(size: &[usize], case: &Case, feature: Feature, step: f64, extra: &str) -> String {
    let rank = case.rank;
    let edges = match feature {
        Feature::Periodic => r#""periodic""#.to_owned(),
        Feature::Absorbing => format!("{:?}", &["absorb", "wall", "periodic"][..rank]),
        _ => r#""wall""#.to_owned(),
    };
    let center: Vec<f64> = size.iter().map(|n| *n as f64 * 0.4).collect();
    let width: Vec<f64> = size.iter().map(|n| (*n as f64 * 0.1).max(1.0)).collect();
    let momentum = &[0.9, -0.4, 0.6][..rank];
    let flux = if feature == Feature::Flux { 0.07 } else { 0.0 };
    let interaction = if feature == Feature::Interacting { 3.0 } else { 0.0 };
    let layer = match feature {
        Feature::Absorbing => format!("[[layer]]\nsets = \"absorption\"\nshape = \"disk\"\ncenter = {center:?}\nradius = 2.0\nvalue = 0.3\n"),
        Feature::Walls => format!("[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = {:?}\nradius = 2.5\n", size.iter().map(|n| *n as f64 * 0.6).collect::<Vec<_>>()),
        Feature::Driven => "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"0.4*sin(x)\"\nmode = \"add\"\ndrive = \"cos(3*t)\"\n".to_owned(),
        _ => String::new(),
    };
    let order = if case.method.parameters.iter().any(|p| p.key == "order") {
        format!("order = {}\n", case.order)
    } else {
        String::new()
    };
    format!(
        "format = 1\n[grid]\nsize = {size:?}\nspacing = 1.0\nedges = {edges}\nabsorb_width = 6\n[quantum]\nhopping = 1.0\nflux = {flux:?}\ninteraction = {interaction:?}\n\
         [time]\nstep = {step:?}\nend = {:?}\n[solver]\nmethod = {:?}\nbackend = \"cpu\"\nvariant = {:?}\nprecision = {:?}\n{order}\
         [[packet]]\ncenter = {center:?}\nwidth = {width:?}\nmomentum = {momentum:?}\n\
         [[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"{RANDOM}\"\n{layer}{extra}",
        step.max(2.0),
        case.method.id,
        case.variant,
        case.precision.as_str(),
    )
}

/// The scenario, or why it is refused.
pub fn read(text: &str) -> Result<Scenario, String> {
    solver::read_scene_text(text, None, &[])
        .map(|(_, scenario)| scenario)
        .map_err(|faults| faults.render(false))
}

/// The scenario of a case that must be accepted.
pub fn scenario(case: &Case, feature: Feature, step: f64, extra: &str) -> Scenario {
    read(&scene(case, feature, step, extra)).unwrap_or_else(|faults| panic!("{case} {feature:?}: {faults}"))
}

pub fn build(scenario: &Scenario) -> Box<dyn Solver> {
    let method = solver::find(&scenario.solver().method).unwrap();
    (method.build)(scenario).unwrap_or_else(|error| panic!("{error}"))
}

/// The field after `steps` steps.
pub fn run(scenario: &Scenario, steps: u64) -> Vec<Complex64> {
    let mut solver = build(scenario);
    let mut taps = Taps::new(scenario.grid(), scenario.detectors());
    solver.advance(steps, &mut taps).unwrap();
    solver.field().unwrap().to_complex128()
}

pub fn quantum(scenario: &Scenario) -> Quantum {
    match scenario.model() {
        Model::Quantum(quantum) => *quantum,
        Model::Acoustic(_) => unreachable!("quantum scenes only"),
    }
}

/// The Hamiltonian of a scenario.
pub fn lattice(scenario: &Scenario) -> Lattice {
    let quantum = quantum(scenario);
    Lattice::new(scenario.grid(), &quantum, scenario.medium(), quantum.absorption_scale())
}

/// The state at t = 0: nothing stands on walls, and the rest has norm 1.
pub fn start(scenario: &Scenario) -> Vec<Complex64> {
    let mut psi = initial_state(scenario.grid(), scenario.initial());
    for (value, wall) in psi.iter_mut().zip(lattice(scenario).walls()) {
        if *wall {
            *value = Complex64::ZERO;
        }
    }
    let scale = 1.0 / norm(&psi).sqrt();
    psi.iter().map(|value| value * scale).collect()
}

/// ψ(t) without any splitting: the exponential where H is constant, and Runge–Kutta of 1e-9 elsewhere.
pub fn exact(scenario: &Scenario, feature: Feature, time: f64) -> Vec<Complex64> {
    let (lattice, start) = (lattice(scenario), start(scenario));
    if feature.is_linear_and_static() {
        lattice.propagate(&start, time)
    } else {
        // t‖H‖⁵h⁴/120 with ‖H‖ ≤ 8.5 and h = 1e-3: 4e-10 for t = 1.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let steps = (time.abs() / 1e-3).ceil() as u32;
        lattice.integrate(&start, 0.0, time, steps)
    }
}

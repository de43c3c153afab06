//! The checks of `ripplon selftest`: every method compared with a double-precision reference on random data, on this machine.
//!
//! The reference is e^{−iHt}ψ by [`Lattice::propagate`], by [`Lattice::integrate`] where H changes with time or with ψ, and by a Taylor series in
//! imaginary time; it shares no code with the methods. A method of order p is run with Δt and with Δt/2. Its error e₂ with the smaller step must not exceed e₁/2^p times 1.5, where e₁ is the error with the larger one and 1.5 covers the
//! next order (nothing of e₁ where a method is exact for every Δt), plus what rounding explains: n operations per site, each off by at most ε/2 of the amplitude with random sign, add up to
//! ε/2·√n; eight times that covers factors that are rounded once and used in every step. An error of any lower order in Δt, a wrong
//! edge, coefficient or index, stays above.
//!
//! Finite differences for sound are compared with their own scheme written out site by site, which leaves rounding alone. With absorbing edges, a
//! density, or walls inside, every variant for sound is compared with the plainest one in double precision on the processor.
//!
//! Time is reversed in two ways. An echo must bring the state at t = 0 back, but for rounding. Transducers around it record, reverse and play: the field
//! that comes back is compared with that of the plainest variant in double precision, and with the state at t = 0, from which it differs by what was left
//! inside at the reversal.

#[cfg(test)]
mod tiny;
mod turned;

use super::EngineError;
use super::bench::{self, Case};
use crate::field::{FieldData, Precision};
use crate::physics::reference::leapfrog::leapfrog;
use crate::physics::reference::{Lattice, OscillatorLattice, distance, norm};
use crate::physics::{Equation, Model};
use crate::scene::Scenario;
use crate::solver::{self, Backend, EXACT, Kind, METHODS, Method, Solver, SolverError, Taps};
use crate::words::worded;
use num_complex::Complex64;
use std::collections::BTreeMap;

/// Δt·J of the larger step, and the number of steps.
const STEP: f64 = 0.1;
const STEPS: u32 = 16;
const SEED: u64 = 7;

worded! {
    /// What a check's scene has in addition to a random medium.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Trial {
        /// Walls all round.
        Wall = "wall",
        /// A ring or torus.
        Periodic = "periodic",
        /// Absorbing edges.
        Absorb = "absorb",
        /// A magnetic flux.
        Flux = "flux",
        /// g|ψ|².
        Interaction = "interaction",
        /// A layer driven in time.
        Driven = "driven",
        /// Imaginary time.
        Imaginary = "imaginary",
        /// A wall inside.
        Inside = "inside",
        /// A wall inside a grid that absorbs along x and is closed along the other axes.
        Guide = "guide",
        /// A density that differs from site to site.
        Density = "density",
        /// The whole field reversed.
        Echo = "echo",
        /// Transducers all round that record and play.
        Mirror = "mirror",
    }
}

impl Trial {
    /// What is asked of an equation.
    fn concerns(self, equation: Equation) -> bool {
        match self {
            Self::Wall | Self::Periodic | Self::Absorb | Self::Inside | Self::Echo | Self::Mirror => true,
            Self::Guide | Self::Density => equation == Equation::Acoustic,
            _ => equation == Equation::Schrodinger,
        }
    }

    /// The grid of a rank: large enough for several blocks, or small where the reference takes long.
    #[must_use]
    pub fn grid(self, rank: usize) -> &'static [usize] {
        const LARGE: [&[usize]; 3] = [&[200], &[70, 52], &[40, 36, 10]];
        const SMALL: [&[usize]; 3] = [&[200], &[40, 34], &[20, 18, 18]];
        match self {
            Self::Wall | Self::Periodic => LARGE[rank - 1],
            _ => SMALL[rank - 1],
        }
    }

    /// The order that is left of a method's.
    fn order(self, order: u32) -> u32 {
        if self == Self::Absorb { order.min(2) } else { order }
    }

    /// The scene of a case with Δt = `step`.
    fn scene(self, case: &Case, rank: usize, step: f64) -> String {
        let size = self.grid(rank);
        let edges = match self {
            Self::Periodic => "\"periodic\"",
            Self::Absorb => "\"absorb\"\nabsorb_width = 8",
            Self::Guide => [
                "\"absorb\"",
                "[\"absorb\", \"wall\"]",
                "[\"absorb\", \"wall\", \"wall\"]",
            ][rank - 1],
            _ => "\"wall\"",
        };
        let model = match self {
            Self::Flux => "hopping = 1.0\nflux = 0.07".to_owned(),
            // |ψ|² is 1/sites on average.
            Self::Interaction => format!("hopping = 1.0\ninteraction = {}.0", size.iter().product::<usize>()),
            _ => "hopping = 1.0".to_owned(),
        };
        let layer = match self {
            Self::Driven => {
                "[[layer]]\nshape = \"everywhere\"\nsets = \"potential\"\nvalue = \"0.4*sin(x)\"\nmode = \"add\"\ndrive = \"cos(3*t)\"\n"
            }
            Self::Inside | Self::Guide => {
                "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [5.0, 7.0, 2.0]\nmax = [9.0, 11.0, 5.0]\n"
            }
            Self::Density => {
                "[[layer]]\nshape = \"everywhere\"\nsets = \"density\"\nvalue = \"1 + 0.3*sin(37.1*x + 71.3*y)\"\n"
            }
            _ => "",
        };
        let layer = match rank {
            1 => layer.replace(", 7.0, 2.0]", "]").replace(", 11.0, 5.0]", "]"),
            2 => layer.replace(", 2.0]", "]").replace(", 5.0]", "]"),
            _ => layer.to_owned(),
        };
        let time = if self == Self::Imaginary {
            "\nimaginary = true"
        } else {
            ""
        };
        let text = bench::scene(case, size, &blocks(case, rank));
        if matches!(self, Self::Echo | Self::Mirror) {
            return turned::scene(self, case, rank, &text, step);
        }
        let edges = match self {
            Self::Guide => format!("{edges}\nabsorb_width = 8"),
            _ => edges.to_owned(),
        };
        text.replace("spacing = 1.0\n", &format!("spacing = 1.0\nedges = {edges}\n"))
            .replace("hopping = 1.0", &model)
            .replace("step = 0.1\nend = 1.0", &format!("step = {step}\nend = 1.0{time}"))
            + &layer
    }
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// ‖ψ − reference‖/‖reference‖ with the smaller step; NaN if the method failed.
    pub error: f64,
    /// The tolerance.
    pub tolerance: f64,
    /// What ran, or why it did not.
    pub details: String,
}

impl Check {
    /// Whether the error is within the tolerance; a NaN is not.
    pub fn passed(&self) -> bool {
        self.error <= self.tolerance
    }
}

/// Every combination of the table that has a reference, with each order, and the ranks and trials that it takes.
pub fn cases(wanted: impl Fn(Backend) -> bool) -> Vec<(Case, usize, Trial)> {
    cases_among(wanted, |case, rank, trial| Some(trial.scene(case, rank, STEP)))
}

/// As [`cases`], but only those whose scene is `written` and accepted.
fn cases_among(
    wanted: impl Fn(Backend) -> bool,
    written: impl Fn(&Case, usize, Trial) -> Option<String>,
) -> Vec<(Case, usize, Trial)> {
    let mut all = Vec::new();
    for method in METHODS.iter().filter(|method| has_reference(method)) {
        let mut known: Vec<Case> = Vec::new();
        for order in bench::orders(method) {
            known.extend(
                bench::cases(order, &wanted)
                    .into_iter()
                    .filter(|case| std::ptr::eq(case.method, *method)),
            );
        }
        for case in known {
            for &rank in case.method.ranks {
                let takes = |trial: &Trial| {
                    trial.concerns(method.equation)
                        && written(&case, rank, *trial)
                            .is_some_and(|text| solver::read_scene_text(&text, None, &[]).is_ok())
                };
                all.extend(Trial::values().filter(takes).map(|trial| (case, rank, trial)));
            }
        }
    }
    all
}

/// Whether there is a reference that shares no code with the method.
fn has_reference(method: &Method) -> bool {
    method.equation == Equation::Schrodinger || [SOUND, OSCILLATORS].contains(&method.id)
}

/// The method whose own scheme is written out ([`leapfrog`]).
const SOUND: &str = "fdtd";
/// The method whose own splitting is written out ([`OscillatorLattice::advance_pairs`]).
const OSCILLATORS: &str = "oscillators";

/// A field at the start and at the end.
#[derive(Debug)]
struct Exact {
    start: Vec<Complex64>,
    end: Vec<Complex64>,
}

/// Runs cases and keeps the exact results, which many cases share.
#[derive(Debug, Default)]
pub struct Selftest {
    exact: BTreeMap<(usize, Trial), Exact>,
}

impl Selftest {
    /// Runs one case.
    pub fn check(&mut self, case: &Case, rank: usize, trial: Trial) -> Check {
        let check = match case.method.equation {
            _ if trial == Trial::Echo => turned::echo(case, rank),
            _ if trial == Trial::Mirror => turned::mirror(case, rank),
            Equation::Schrodinger => self.compared(case, rank, trial),
            Equation::Acoustic if matches!(trial, Trial::Wall | Trial::Periodic) => sound(case, rank, trial),
            Equation::Acoustic => beside_the_plainest(case, rank, trial),
        };
        check.unwrap_or_else(|error| Check {
            error: f64::NAN,
            tolerance: 0.0,
            details: error.to_string(),
        })
    }

    fn compared(&mut self, case: &Case, rank: usize, trial: Trial) -> Result<Check, EngineError> {
        let (coarse, ..) = self.error_of(case, rank, trial, 1)?;
        let (error, rounding, details) = self.error_of(case, rank, trial, 2)?;
        let splitting = match i32::try_from(trial.order(case.order)) {
            Ok(order) if case.order != EXACT => 1.5 * coarse / 2f64.powi(order),
            _ => 0.0,
        };
        Ok(Check {
            error,
            tolerance: splitting + rounding,
            details,
        })
    }

    /// The error with Δt = `STEP`/`parts`, what rounding explains of it, and what ran.
    fn error_of(
        &mut self,
        case: &Case,
        rank: usize,
        trial: Trial,
        parts: u32,
    ) -> Result<(f64, f64, String), EngineError> {
        let text = trial.scene(case, rank, STEP / f64::from(parts));
        let (scenario, mut solver) = bench::prepare(case, &text, SEED)?;
        let exact = (self.exact.entry((rank, trial))).or_insert_with(|| reference(&scenario, trial));
        // Rounded to the precision of the run: a relative change of ε/√12, far below what is allowed.
        let clock = solver.clock();
        solver.set_field(&FieldData::Complex128(exact.start.clone()), clock)?;
        in_two_pieces(solver.as_mut(), STEPS * parts)?;
        let end = solver.field()?.to_complex128();
        let rounding = rounding(case, &scenario, f64::from(STEPS * parts));
        Ok((distance(&end, &exact.end), rounding, solver.report().details))
    }
}

/// Steps in two calls: closing and opening merged sweeps must not matter.
fn in_two_pieces(solver: &mut dyn Solver, steps: u32) -> Result<(), SolverError> {
    let mut taps = Taps::default();
    solver.advance(u64::from(steps / 3), &mut taps)?;
    solver.advance(u64::from(steps - steps / 3), &mut taps)
}

fn epsilon(precision: Precision) -> f64 {
    match precision {
        Precision::Single => f64::from(f32::EPSILON),
        Precision::Double => f64::EPSILON,
    }
}

/// Sound compared with its own scheme in double precision: only rounding is left.
fn sound(case: &Case, rank: usize, trial: Trial) -> Result<Check, EngineError> {
    let (scenario, mut solver) = bench::prepare(case, &trial.scene(case, rank, STEP), SEED)?;
    let Model::Acoustic(acoustic) = scenario.model() else {
        return Err(SolverError::Unsupported("a scene of sound is needed".to_owned()).into());
    };
    let (grid, clock) = (scenario.grid(), solver.clock());
    let start = bench::random_field(Equation::Acoustic, case.precision, grid.sites(), SEED);
    solver.set_field(&start, clock)?;
    let mut p: Vec<f64> = start.to_complex128().iter().map(|p| p.re).collect();
    in_two_pieces(solver.as_mut(), STEPS)?;
    if case.method.id == OSCILLATORS {
        let lattice = OscillatorLattice::new(grid, acoustic, scenario.medium());
        let mut rate = vec![0.0; p.len()];
        lattice.advance_pairs(&mut p, &mut rate, case.order, clock.time_step, STEPS);
    } else {
        p = leapfrog(grid, case.order, &courant(&scenario, clock.time_step), &p, STEPS);
    }
    let exact: Vec<Complex64> = p.into_iter().map(Complex64::from).collect();
    Ok(Check {
        error: distance(&solver.field()?.to_complex128(), &exact),
        tolerance: rounding(case, &scenario, f64::from(STEPS)),
        details: solver.report().details,
    })
}

/// Rounding of a run of so many steps. Eight times the estimate covers sums over the stencil, and coefficients that are rounded once and used in every step.
fn rounding(case: &Case, scenario: &Scenario, steps: f64) -> f64 {
    let roundings = if case.method.id == SOUND {
        // One rounding a step and as much in λ², both of a field of 1, integrated twice by leapfrog as a random walk: √2 · n^1.5/√3.
        (2.0f64 / 3.0).sqrt() * steps.powf(1.5)
    } else {
        // n operations per site and step, with random sign: √n.
        ((case.method.work)(scenario).instructions * steps).sqrt()
    };
    8.0 * epsilon(case.precision) / 2.0 * roundings
}

/// Sound compared with the first variant of its method on the processor, in double precision.
fn beside_the_plainest(case: &Case, rank: usize, trial: Trial) -> Result<Check, EngineError> {
    let plainest = plainest(case);
    let run = |case: &Case| -> Result<(Vec<Complex64>, f64, String), EngineError> {
        let (scenario, mut solver) = bench::prepare(case, &trial.scene(case, rank, STEP), SEED)?;
        let start = bench::random_field(Equation::Acoustic, Precision::Single, scenario.grid().sites(), SEED);
        let clock = solver.clock();
        solver.set_field(&start, clock)?;
        in_two_pieces(solver.as_mut(), STEPS)?;
        let details = solver.report().details;
        Ok((
            solver.field()?.to_complex128(),
            rounding(case, &scenario, f64::from(STEPS)),
            details,
        ))
    };
    let (exact, ..) = run(&plainest)?;
    let (found, tolerance, details) = run(case)?;
    Ok(Check {
        error: distance(&found, &exact),
        tolerance,
        details,
    })
}

/// The first variant of the same method on the processor, in double precision.
fn plainest(case: &Case) -> Case {
    let target = (case.method.targets.iter()).find(|target| target.backend == Backend::Cpu);
    Case {
        backend: Backend::Cpu,
        variant: target
            .and_then(|target| target.variants.first())
            .map_or("auto", |variant| variant.id),
        precision: Precision::Double,
        ..*case
    }
}

/// cΔt/a of every site.
fn courant(scenario: &Scenario, time_step: f64) -> Vec<f64> {
    let grid = scenario.grid();
    let [nx, ny, _] = grid.size();
    let mut all = vec![0.0; grid.sites()];
    if let Model::Acoustic(acoustic) = scenario.model() {
        for (row, out) in all.chunks_mut(nx).enumerate() {
            scenario
                .medium()
                .speed_row(acoustic.speed, row % ny, row / ny, 0..nx, out);
        }
    }
    for speed in &mut all {
        *speed *= time_step / grid.spacing();
    }
    all
}

/// A random field, 0 on walls, and what it has become after the whole time.
fn reference(scenario: &Scenario, trial: Trial) -> Exact {
    let sites = scenario.grid().sites();
    let mut start = bench::random_field(Equation::Schrodinger, Precision::Double, sites, SEED).to_complex128();
    let time = STEP * f64::from(STEPS);
    let end = match scenario.model() {
        Model::Quantum(quantum) => {
            let lattice = Lattice::new(scenario.grid(), quantum, scenario.medium(), quantum.absorption_scale());
            for (value, wall) in start.iter_mut().zip(lattice.walls()) {
                if *wall {
                    *value = Complex64::ZERO;
                }
            }
            match trial {
                // t‖H‖⁵h⁴/120 with ‖H‖ ≤ 9 and h = 2e-3: 1e-8, where methods err by 1e-4.
                Trial::Interaction | Trial::Driven => lattice.integrate(&start, 0.0, time, 800),
                Trial::Imaginary => relaxed(&lattice, &start, time),
                _ => lattice.propagate(&start, time),
            }
        }
        Model::Acoustic(_) => start.clone(),
    };
    Exact { start, end }
}

/// e^{−Ht}ψ with the norm of ψ, by a Taylor series on pieces with ‖H‖τ ≤ 1 (24 terms: a remainder of 1/25!).
fn relaxed(lattice: &Lattice, start: &[Complex64], time: f64) -> Vec<Complex64> {
    let (center, radius) = lattice.bounds(0.0);
    let tau = 1.0 / (center.abs() + radius);
    let pieces = (time / tau).ceil();
    let tau = time / pieces;
    let mut psi = start.to_vec();
    let mut left = pieces;
    while left > 0.0 {
        let mut term = psi.clone();
        for n in 1..=24 {
            term = lattice.apply(&term, 0.0);
            for (term, sum) in term.iter_mut().zip(&mut psi) {
                *term *= -tau / f64::from(n);
                *sum += *term;
            }
        }
        left -= 1.0;
    }
    let scale = (norm(start) / norm(&psi)).sqrt();
    psi.iter().map(|value| value * scale).collect()
}

/// Small blocks for variants that have them, so that the grid takes several. Devices choose for themselves: what else they could do may have to
/// be compiled.
fn blocks(case: &Case, rank: usize) -> String {
    if case.backend != Backend::Cpu {
        return String::new();
    }
    let parameters = case.method.parameters.iter();
    let lines = parameters
        .filter(|parameter| parameter.variants.contains(&case.variant))
        .filter_map(|parameter| match parameter.kind {
            Kind::Sizes { min, .. } => {
                let sizes = vec![min.max(32).to_string(); rank];
                Some(format!("{} = [{}]", parameter.key, sizes.join(", ")))
            }
            Kind::Count { min, .. } => Some(format!("{} = {}", parameter.key, min.max(3))),
            Kind::OneOf { .. } | Kind::Devices { .. } => None,
        });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every method takes every trial of its equation, except those that it refuses.
    #[test]
    fn no_trial_is_left_out() {
        let all = cases(|_| true);
        for method in METHODS.iter().filter(|method| has_reference(method)) {
            for trial in Trial::values().filter(|trial| trial.concerns(method.equation)) {
                let taken = all
                    .iter()
                    .any(|(case, _, own)| std::ptr::eq(case.method, *method) && *own == trial);
                let refuses = match trial {
                    Trial::Flux => !["trotter", "chebyshev"].contains(&method.id),
                    Trial::Interaction | Trial::Driven | Trial::Imaginary => method.id == "chebyshev",
                    Trial::Inside => method.id == "split-step-fourier",
                    Trial::Mirror => method.transducers.is_empty(),
                    _ => false,
                };
                assert_eq!(taken, !refuses, "{} {}", method.id, trial.as_str());
            }
        }
    }
}

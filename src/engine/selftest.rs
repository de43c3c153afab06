//! Every method beside a double-precision reference on random data, on this machine: the checks of `ripplon selftest`.
//!
//! The reference is e^{−iHt}ψ by [`Lattice::propagate`], which shares no code with the methods. A method of order p is run with Δt and with
//! Δt/2. Its error e₂ with the smaller step must not exceed e₁/2^p times 1.5, where e₁ is the error with the larger one and 1.5 covers the
//! next order, plus what rounding explains: n operations a site, each off by at most ε/2 of the amplitude with random sign, add up to
//! ε/2·√n; eight times that covers factors that are rounded once and used in every step. An error of any lower order in Δt, a wrong
//! edge, coefficient or index, stays above.
//!
//! Finite differences for sound are held against their own scheme written out site by site, which leaves rounding alone.

use super::EngineError;
use super::bench::{self, Case};
use crate::field::{FieldData, Precision};
use crate::physics::reference::leapfrog::leapfrog;
use crate::physics::reference::{Lattice, OscillatorLattice, distance};
use crate::physics::{Equation, Model};
use crate::scene::Scenario;
use crate::solver::{Backend, Kind, METHODS, Method, SolverError, Taps};
use num_complex::Complex64;
use std::collections::BTreeMap;

/// Δt·J of the larger step, and how many make the whole time.
const STEP: f64 = 0.1;
const STEPS: u32 = 16;
const SEED: u64 = 7;

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// ‖ψ − reference‖/‖reference‖ with the smaller step; NaN where the method failed.
    pub error: f64,
    /// The most that is right.
    pub tolerance: f64,
    /// What ran, or why it did not.
    pub details: String,
}

impl Check {
    /// Whether the error is within the tolerance; a NaN is not.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.error <= self.tolerance
    }
}

/// Every combination of the table that has a reference, with each order, and the grids to test it on.
#[must_use]
pub fn cases() -> Vec<(Case, &'static [usize], &'static str)> {
    const GRIDS: [&[usize]; 3] = [&[200], &[70, 52], &[40, 36, 10]];
    let mut all = Vec::new();
    for method in METHODS.iter().filter(|method| has_reference(method)) {
        let mut known: Vec<Case> = Vec::new();
        for order in bench::orders(method) {
            known.extend(
                bench::cases(order)
                    .into_iter()
                    .filter(|case| std::ptr::eq(case.method, *method)),
            );
        }
        for case in known {
            for rank in case.method.ranks {
                if bench::fits(&case, GRIDS[rank - 1]) {
                    all.extend(["wall", "periodic"].map(|edges| (case, GRIDS[rank - 1], edges)));
                }
            }
        }
    }
    all
}

/// Whether there is code that does not share a line with a method and says what is right.
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
    /// By size and edges.
    exact: BTreeMap<(Vec<usize>, &'static str), Exact>,
}

impl Selftest {
    /// Runs one case.
    pub fn check(&mut self, case: &Case, size: &[usize], edges: &'static str) -> Check {
        match self.compared(case, size, edges) {
            Ok(check) => check,
            Err(error) => Check {
                error: f64::NAN,
                tolerance: 0.0,
                details: error.to_string(),
            },
        }
    }

    fn compared(&mut self, case: &Case, size: &[usize], edges: &'static str) -> Result<Check, EngineError> {
        if case.method.equation == Equation::Acoustic {
            return sound(case, size, edges);
        }
        let (coarse, operations, _) = self.error_of(case, size, edges, 1)?;
        let (error, _, details) = self.error_of(case, size, edges, 2)?;
        let epsilon = match case.precision {
            Precision::Single => f64::from(f32::EPSILON),
            Precision::Double => f64::EPSILON,
        };
        let order = i32::try_from(case.order).unwrap_or(1);
        let rounding = 8.0 * epsilon / 2.0 * (operations * f64::from(2 * STEPS)).sqrt();
        Ok(Check {
            error,
            tolerance: 1.5 * coarse / 2f64.powi(order) + rounding,
            details,
        })
    }

    /// The error with Δt = `STEP`/`parts`, the operations of a site-step, and what ran.
    fn error_of(
        &mut self,
        case: &Case,
        size: &[usize],
        edges: &'static str,
        parts: u32,
    ) -> Result<(f64, f64, String), EngineError> {
        let extra = blocks(case, size.len());
        let text = bench::scene(case, size, &extra)
            .replace("spacing = 1.0\n", &format!("spacing = 1.0\nedges = \"{edges}\"\n"))
            .replace("step = 0.1\n", &format!("step = {}\n", STEP / f64::from(parts)));
        let (scenario, mut solver) = bench::prepare(case, &text, SEED)?;
        let exact = self
            .exact
            .entry((size.to_vec(), edges))
            .or_insert_with(|| reference(&scenario));
        // Rounded to the precision of the run: a relative change of ε/√12, far below what is allowed.
        let clock = solver.clock();
        solver.set_field(&FieldData::Complex128(exact.start.clone()), clock)?;
        let steps = STEPS * parts;
        // In two pieces: closing and opening merged sweeps must not matter.
        let mut taps = Taps::default();
        solver.advance(u64::from(steps / 3), &mut taps)?;
        solver.advance(u64::from(steps - steps / 3), &mut taps)?;
        let end = solver.field()?.to_complex128();
        let work = (case.method.work)(&scenario);
        Ok((distance(&end, &exact.end), work.instructions, solver.report().details))
    }
}

/// Sound beside its own scheme in double precision: nothing is left but rounding.
fn sound(case: &Case, size: &[usize], edges: &'static str) -> Result<Check, EngineError> {
    let text = bench::scene(case, size, &blocks(case, size.len()))
        .replace("spacing = 1.0\n", &format!("spacing = 1.0\nedges = \"{edges}\"\n"));
    let (scenario, mut solver) = bench::prepare(case, &text, SEED)?;
    let Model::Acoustic(acoustic) = scenario.model() else {
        return Err(SolverError::Unsupported("a scene of sound is needed".to_owned()).into());
    };
    let (grid, clock) = (scenario.grid(), solver.clock());
    let start = bench::random_field(Equation::Acoustic, case.precision, grid.sites(), SEED);
    solver.set_field(&start, clock)?;
    let mut p: Vec<f64> = start.to_complex128().iter().map(|p| p.re).collect();
    let mut taps = Taps::default();
    for steps in [STEPS / 3, STEPS - STEPS / 3] {
        solver.advance(u64::from(steps), &mut taps)?;
    }
    let epsilon = match case.precision {
        Precision::Single => f64::from(f32::EPSILON),
        Precision::Double => f64::EPSILON,
    };
    let steps = f64::from(STEPS);
    let roundings = if case.method.id == OSCILLATORS {
        let lattice = OscillatorLattice::new(grid, acoustic, scenario.medium());
        let mut rate = vec![0.0; p.len()];
        lattice.advance_pairs(&mut p, &mut rate, case.order, clock.time_step, STEPS);
        // n operations a site and step, with random sign: √n.
        ((case.method.work)(&scenario).instructions * steps).sqrt()
    } else {
        p = leapfrog(grid, case.order, &courant(&scenario, clock.time_step), &p, STEPS);
        // One rounding a step and as much in λ², both of a field of 1, integrated twice by leapfrog as a random walk: √2 · n^1.5/√3.
        (2.0f64 / 3.0).sqrt() * steps.powf(1.5)
    };
    let exact: Vec<Complex64> = p.into_iter().map(Complex64::from).collect();
    Ok(Check {
        error: distance(&solver.field()?.to_complex128(), &exact),
        // Eight times that covers sums over the stencil, and coefficients that are rounded once and used in every step.
        tolerance: 8.0 * epsilon / 2.0 * roundings,
        details: solver.report().details,
    })
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

/// A random field and what it has become after the whole time.
fn reference(scenario: &Scenario) -> Exact {
    let sites = scenario.grid().sites();
    let start = bench::random_field(Equation::Schrodinger, Precision::Double, sites, SEED).to_complex128();
    let end = match scenario.model() {
        Model::Quantum(quantum) => {
            let lattice = Lattice::new(scenario.grid(), quantum, scenario.medium(), 0.0);
            lattice.propagate(&start, STEP * f64::from(STEPS))
        }
        Model::Acoustic(_) => start.clone(),
    };
    Exact { start, end }
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
            Kind::OneOf { .. } => None,
        });
    lines.collect::<Vec<_>>().join("\n")
}

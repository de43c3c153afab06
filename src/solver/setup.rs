//! A scenario resolved once: `[solver]` and `[time]` as typed values, Δt decided, and what the method objects to.

use super::cut::{Devices, Plan};
use super::method::{DEVICES, Method, PARTS, StepAdvice};
use super::{Backend, SolverError};
use crate::field::Precision;
use crate::grid::Edge;
use crate::scene::scenario::{BackendChoice, Parameter};
use crate::scene::{Objection, Scenario};

/// A real number that every back end of this build computes with.
#[cfg(feature = "cuda")]
pub(super) use super::device::OnCuda as Number;
#[cfg(not(feature = "cuda"))]
pub(super) use crate::backend::simd::Vectors as Number;

/// `[solver]` as typed values; what the scene leaves open is `None`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub backend: BackendChoice,
    pub precision: Precision,
    /// A variant's id; `None` = the method chooses.
    pub variant: Option<String>,
    /// The parameter `order`: in Δt, or in space where the method's order in Δt is fixed.
    pub order: u32,
    /// Sites of a block along each axis; empty = the planner chooses.
    pub block: Vec<usize>,
    /// Steps that a block takes before the next begins.
    pub fused_steps: Option<usize>,
    /// Rows of a diamond, and steps of a tower of diamonds.
    pub dts: Option<usize>,
    pub tower: Option<usize>,
    /// Blocks that a line is cut into, and how often the system of their joints is cut again.
    pub blocks: Option<usize>,
    pub levels: usize,
}

impl Choice {
    /// Reads `[solver]` of a scene that was checked against the table.
    pub(super) fn of(scenario: &Scenario) -> Self {
        let solver = scenario.solver();
        let first = |key: &str| solver.sizes(key).first().copied().filter(|n| *n > 0);
        Self {
            backend: solver.backend,
            precision: solver.precision,
            variant: Some(solver.variant.clone()).filter(|variant| variant != "auto"),
            order: u32::try_from(solver.integer("order", 2)).unwrap_or(2),
            block: solver.sizes("block"),
            fused_steps: first("fused_steps"),
            dts: first("dts"),
            tower: first("tower"),
            blocks: first("blocks"),
            levels: first("levels").unwrap_or(1),
        }
    }

    /// Bytes of a real number.
    pub(super) fn real(&self) -> usize {
        self.precision.bytes()
    }

    /// Whether the scene asks for this variant.
    pub(super) fn is(&self, variant: &str) -> bool {
        self.variant.as_deref() == Some(variant)
    }
}

/// Everything that a stepper is made from.
#[derive(Clone)]
pub(super) struct Setup {
    pub method: &'static Method,
    pub scenario: Scenario,
    pub choice: Choice,
    /// Δt at t = 0.
    pub time_step: f64,
    /// How the grid is cut, if it is.
    pub plan: Option<Plan>,
    /// The NVIDIA devices that parts stand on, and the number of the one for this run or part.
    pub devices: Devices,
    pub device: usize,
    /// A note for the user, e.g. why the run is not where it would be fastest.
    pub note: Option<String>,
}

impl Setup {
    /// Resolves a scenario.
    ///
    /// # Errors
    /// [`SolverError::Unsupported`] with what the method objects to, or with the largest stable Δt.
    pub(super) fn new(method: &'static Method, scenario: &Scenario) -> Result<Self, SolverError> {
        if let Some(objection) = (method.objections)(scenario).first() {
            return Err(refusal(objection));
        }
        let devices = devices(scenario);
        let setup = Self {
            method,
            scenario: scenario.clone(),
            choice: Choice::of(scenario),
            plan: plan(method, scenario).map_err(|objection| refusal(&objection))?,
            time_step: method.time_step(scenario),
            note: None,
            device: devices.of_part(0),
            devices,
        };
        if scenario.time().step.is_some() {
            setup.check_step(setup.time_step)?;
        }
        Ok(setup)
    }

    /// The same run in another medium, with other sources and constants.
    ///
    /// # Errors
    /// If that needs a new run, or as [`Setup::new`].
    pub(super) fn with_medium(&self, scenario: &Scenario) -> Result<Self, SolverError> {
        let other = Choice::of(scenario);
        let same = scenario.grid() == self.scenario.grid() && other.order == self.choice.order;
        if !same || scenario.time().imaginary != self.is_imaginary() {
            return Err(SolverError::Unsupported(
                "another grid, order or kind of time needs a new run".to_owned(),
            ));
        }
        let next = Self::new(self.method, scenario)?;
        Ok(Self {
            note: self.note.clone(),
            device: self.device,
            ..next
        })
    }

    /// The method's advice about Δt.
    pub(super) fn advice(&self) -> StepAdvice {
        (self.method.step_advice)(&self.scenario)
    }

    /// Whether Δt is stable in this medium. Methods for the Schrödinger equation are stable for every Δt, and their advice would read the whole medium.
    pub(super) fn is_stable(&self, time_step: f64) -> bool {
        let bounded = self.scenario.model().quantum().is_none();
        !bounded
            || self
                .advice()
                .stability_limit
                .is_none_or(|limit| time_step.abs() <= limit)
    }

    /// Refuses a Δt that cannot be taken.
    ///
    /// # Errors
    /// [`SolverError::Unsupported`] with value, limit and remedy.
    pub(super) fn check_step(&self, time_step: f64) -> Result<(), SolverError> {
        if self.is_imaginary() && time_step < 0.0 {
            return Err(SolverError::Unsupported(
                "imaginary time does not run backwards; take a positive step".to_owned(),
            ));
        }
        if self.is_stable(time_step) {
            return Ok(());
        }
        let advice = self.advice();
        Err(SolverError::Unsupported(format!(
            "Δt = {time_step:e} is unstable in this medium: the limit is {:e}; choose at most {:e}, or step = \"auto\"",
            advice.stability_limit.unwrap_or(f64::INFINITY),
            advice.sensible
        )))
    }

    /// Whether the run relaxes towards the ground state.
    pub(super) fn is_imaginary(&self) -> bool {
        self.scenario.time().imaginary
    }

    /// Whether anything is absorbed, in a layer or at an edge.
    pub(super) fn absorbs(&self) -> bool {
        absorbs(&self.scenario)
    }

    /// The order in Δt.
    pub(super) fn order(&self) -> u32 {
        let orders = self.method.orders;
        if orders.contains(&self.choice.order) {
            self.choice.order
        } else {
            orders.first().copied().unwrap_or(2)
        }
    }

    /// Refuses a variant that the method lacks on `backend`.
    ///
    /// # Errors
    /// [`SolverError::Unsupported`] with the variants that there are.
    pub(super) fn check_variant(&self, backend: Backend) -> Result<(), SolverError> {
        let target = self.method.targets.iter().find(|target| target.backend == backend);
        let variants = target.map_or(&[][..], |target| target.variants);
        match &self.choice.variant {
            Some(asked) if variants.iter().all(|variant| variant.id != asked) => {
                let ids: Vec<&str> = variants.iter().map(|variant| variant.id).collect();
                Err(SolverError::Unsupported(format!(
                    "{} has no variant `{asked}` on {}; take one of auto, {}",
                    self.method.id,
                    backend.as_str(),
                    ids.join(", ")
                )))
            }
            _ => Ok(()),
        }
    }
}

/// How the grid of a scene is cut, `None` where it is stepped as a whole.
///
/// # Errors
/// Why it cannot be cut.
pub(super) fn plan(method: &Method, scenario: &Scenario) -> Result<Option<Plan>, Objection> {
    let solver = scenario.solver();
    let asked = usize::try_from(solver.integer(PARTS, 1)).unwrap_or(1);
    Plan::of(method, scenario, (asked, solver.backend.named()), &devices(scenario))
}

/// The NVIDIA devices of a scene.
fn devices(scenario: &Scenario) -> Devices {
    let solver = scenario.solver();
    let several = solver.sizes(DEVICES);
    let numbers = match solver.parameters.get(DEVICES) {
        Some(Parameter::Integers(_)) => several,
        Some(Parameter::Integer(_)) => (0..several.first().copied().unwrap_or(1)).collect(),
        Some(Parameter::Word(_)) => (0..Devices::worth(scenario.grid().sites())).collect(),
        _ => {
            let on_devices = solver.backend.named() == Some(Backend::Cuda);
            return Devices {
                named: false,
                numbers: vec![if on_devices { Devices::of_rank() } else { 0 }],
            };
        }
    };
    Devices { named: true, numbers }
}

/// Whether a scene asks for NVIDIA devices.
pub(super) fn asks_for_devices(scenario: &Scenario) -> bool {
    Choice::of(scenario).backend.named() == Some(Backend::Cuda) || devices(scenario).named
}

/// Whether anything of a scene is absorbed, in a layer or at an edge.
pub(super) fn absorbs(scenario: &Scenario) -> bool {
    let grid = scenario.grid();
    let edges = &grid.edges()[..grid.rank()];
    scenario.takes_energy() || (grid.absorb_width() > 0 && edges.contains(&Edge::Absorb))
}

/// An objection as an error.
pub(super) fn refusal(objection: &Objection) -> SolverError {
    SolverError::Unsupported(format!("{}; {}", objection.message, objection.remedy))
}

//! ω against k of a scene: the scene is run to its end, and the line along x is recorded and transformed in space and time.
//!
//! With several axes the mean over the others is taken: it contains the waves along x, to which the laws belong.

use super::eigen::resolving;
use super::{Engine, EngineError};
use crate::field::FieldData;
use crate::grid::Grid;
use crate::physics::dispersion::{Dispersion, Law, Sampling, Steps};
use crate::physics::{Equation, Model, Quantum, Sets};
use crate::scene::Scenario;
use crate::units;
use num_complex::Complex64;
use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Values of a record, 128 MiB.
const MOST_VALUES: u64 = 1 << 23;
/// With fewer records no frequency is resolved.
const FEWEST: u64 = 32;
/// Power below this fraction of the strongest is not counted as the wave's: a Hann window leaves 3e-4 in amplitude next to a line.
pub const WEAKEST: f64 = 1e-5;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct DispersionReport {
    /// Power by k and ω, as far as there is any.
    pub dispersion: Dispersion,
    /// The laws of a uniform medium.
    pub law: Law,
    /// What the scene has in addition to that medium, in words; none if there is nothing.
    pub unlike: Option<String>,
    /// Where the steps are too long to tell all frequencies apart, what that does, in words.
    pub folds: Option<String>,
    /// Records that were taken.
    pub records: u64,
    /// Steps from one to the next.
    pub stride: u64,
    /// T: from the first record to the last.
    pub time: f64,
}

/// Why a scene has no dispersion to show.
#[derive(Debug, thiserror::Error)]
pub enum DispersionError {
    /// The scene does not have what is needed.
    #[error("{0}")]
    Scene(String),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] EngineError),
}

impl DispersionError {
    /// Whether the input is at fault.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Scene(_) => true,
            Self::Run(error) => error.is_input(),
        }
    }
}

/// The laws of the scene's uniform medium; layers change it in places.
pub fn law(scenario: &Scenario, time_step: f64) -> Law {
    let grid = scenario.grid();
    match *scenario.model() {
        Model::Quantum(quantum) => {
            #[expect(clippy::cast_precision_loss, reason = "1 to 3")]
            let bonds = 2.0 * grid.rank() as f64;
            Law::Quantum {
                hopping: quantum.hopping,
                spacing: grid.spacing(),
                rest: quantum.diagonal - quantum.hopping * bonds,
                steps: steps(scenario, &quantum, time_step.abs()),
            }
        }
        Model::Acoustic(acoustic) => {
            let solver = scenario.solver();
            Law::Sound {
                speed: acoustic.speed,
                spacing: grid.spacing(),
                order: u32::try_from(solver.integer("order", 2)).unwrap_or(2),
                step: time_step.abs(),
                paired: (solver.method == "oscillators").then(|| grid.rank()),
            }
        }
    }
}

/// How the scene's method steps ψ.
fn steps(scenario: &Scenario, quantum: &Quantum, step: f64) -> Steps {
    let solver = scenario.solver();
    match solver.method.as_str() {
        "trotter" => Steps::Pairs {
            order: u32::try_from(solver.integer("order", 2)).unwrap_or(2),
            step,
        },
        "crank-nicolson" => Steps::Cayley {
            axes: scenario.grid().rank(),
            step,
        },
        "split-step-fourier" if quantum.mass.is_some() => Steps::Continuum,
        _ => Steps::Exact,
    }
}

/// What the scene has in addition to the uniform medium of the law.
fn unlike_the_law(scenario: &Scenario) -> Option<String> {
    let medium = scenario.medium();
    let set = [
        (Sets::Speed, "the speed of sound"),
        (Sets::Density, "the density"),
        (Sets::Potential, "the potential"),
        (Sets::Hopping, "the hopping"),
        (Sets::Interaction, "the interaction"),
        (Sets::Flux, "the flux"),
    ];
    let set = set.iter().filter(|(sets, _)| medium.has(*sets)).map(|(_, name)| *name);
    let constants = match scenario.model() {
        Model::Quantum(quantum) => vec![
            (quantum.interaction != 0.0, "an interaction"),
            (quantum.flux != 0.0, "a flux"),
            (medium.rotation() != 0.0, "a rotation"),
            (medium.cross_interaction() != 0.0, "a cross interaction"),
        ],
        Model::Acoustic(acoustic) => vec![(acoustic.attenuation.is_some(), "an attenuation")],
    };
    let has = constants.iter().filter(|(there, _)| *there).map(|(_, name)| *name);
    let parts: Vec<String> = [
        ("layers set", set.collect::<Vec<_>>()),
        ("the scene has", has.collect()),
    ]
    .into_iter()
    .filter(|(_, names)| !names.is_empty())
    .map(|(what, names)| format!("{what} {}", names.join(" and ")))
    .collect();
    (!parts.is_empty()).then(|| format!("{}: the curves are of the medium without them", parts.join(", ")))
}

/// The lowest and the highest finite value of the static potential, 0 included.
pub(super) fn potential(scenario: &Scenario) -> [f64; 2] {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    if !medium.has(Sets::Potential) {
        return [0.0; 2];
    }
    let [nx, ny, _] = grid.size();
    let mut row = vec![0.0; nx];
    let mut range = [0.0f64; 2];
    for n in 0..grid.rows() {
        medium.potential_row(None, n % ny, n / ny, 0..nx, &mut row);
        let finite = row.iter().filter(|u| u.is_finite());
        range = finite.fold(range, |[low, high], u| [low.min(*u), high.max(*u)]);
    }
    range
}

/// The range of frequencies: the band of the lattice and the potential, with some margin.
fn frequencies(scenario: &Scenario, law: &Law) -> [f64; 2] {
    let [low, high] = law.range();
    match scenario.model().equation() {
        // A real wave has as much at −ω.
        Equation::Acoustic => [-high, high],
        Equation::Schrodinger => {
            let [deep, tall] = potential(scenario);
            let air = 0.05 * (high - low);
            [low + deep - air, high + tall + air]
        }
    }
}

/// The mean over all axes but x.
fn line(grid: &Grid, field: &FieldData, out: &mut Vec<Complex64>) {
    let (nx, rows) = (grid.size()[0], grid.rows());
    #[expect(clippy::cast_precision_loss, reason = "rows")]
    let share = 1.0 / rows as f64;
    out.extend((0..nx).map(|i| (0..rows).map(|row| field.at(row * nx + i)).sum::<Complex64>() * share));
}

/// Runs a scene to its end and transforms the waves along x; `watch` is told of steps done and to do, and may cancel it.
///
/// # Errors
/// If the scene has no end, relaxes, reverses time, is too short or too large for a record, or the run fails or is cancelled.
pub fn measure(
    scenario: &Arc<Scenario>,
    watch: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<DispersionReport, DispersionError> {
    let fault = |text: &str| Err(DispersionError::Scene(text.to_owned()));
    let Some(end) = scenario.time().end else {
        return fault("the scene has no end; say how long to record: --set time.end=T");
    };
    if scenario.time().imaginary {
        return fault("imaginary time has no frequencies; set time.imaginary = false");
    }
    if scenario.mirror().is_some() {
        return fault("a scene that reverses time has two records, before and after; remove [mirror]");
    }
    let grid = scenario.grid().clone();
    let mut engine = Engine::new(Arc::clone(scenario))?;
    if scenario.model().equation() == Equation::Schrodinger {
        let [low, high] = frequencies(scenario, &law(scenario, engine.clock().time_step));
        engine = resolving(engine, TAU / (high - low), end)?;
    }
    let step = engine.clock().time_step;
    let law = law(scenario, step);
    let [low, high] = frequencies(scenario, &law);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 1, at most the steps"
    )]
    let stride = (TAU / ((high - low) * step)).floor().clamp(1.0, 1e9) as u64;
    let steps = engine.steps_until(end)?;
    let records = steps / stride + 1;
    if records < FEWEST {
        return fault(&format!(
            "{} of every {} are too few for a frequency: at least {FEWEST} are needed; set a later time.end, or a smaller time.step",
            units::counted(records, "record"),
            units::counted(stride, "step")
        ));
    }
    if records * grid.size()[0] as u64 > MOST_VALUES {
        return fault(&format!(
            "{records} records of {} sites are more than {MOST_VALUES} values; let time.end be earlier, e.g. --set time.end={:.4}",
            grid.size()[0],
            end * wide(MOST_VALUES / grid.size()[0] as u64) / wide(records)
        ));
    }
    let mut record = Vec::new();
    for n in 0..records {
        if n > 0 {
            engine.advance(stride)?;
        }
        line(&grid, &engine.field()?, &mut record);
        if watch(n * stride, (records - 1) * stride).is_break() {
            return Err(EngineError::Cancelled("the dispersion").into());
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    let sampling = Sampling {
        sites: grid.size()[0],
        spacing: grid.spacing(),
        step: stride as f64 * step,
        is_ring: grid.is_periodic(0),
    };
    // If the sampling is too coarse for the whole range, its lower part is shown.
    let all = TAU / sampling.step;
    let shown = match scenario.model().equation() {
        Equation::Acoustic => [0.0, high.min(all / 2.0)],
        Equation::Schrodinger => [low, high.min(low + all)],
    };
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    let time = (records - 1) as f64 * sampling.step;
    Ok(DispersionReport {
        dispersion: Dispersion::of(&record, sampling, shown).cropped(WEAKEST),
        law,
        unlike: unlike_the_law(scenario),
        folds: folded([low, high], all, scenario.model().equation()),
        records,
        stride,
        time,
    })
}
/// What is said where ψ can have more frequencies, `low` to `high`, than are told apart, `all`.
fn folded([low, high]: [f64; 2], all: f64, equation: Equation) -> Option<String> {
    // The range has some margin, see `frequencies`.
    let is_folded = equation == Equation::Schrodinger && all < 0.95 * (high - low);
    is_folded.then(|| {
        format!(
            "the scene can have frequencies from {low:.4} to {high:.4}, and the steps tell them apart only modulo {all:.4}: higher ones are seen at lower \
             places; take a shorter time.step"
        )
    })
}

#[expect(clippy::cast_precision_loss, reason = "a number in a message")]
fn wide(count: u64) -> f64 {
    count as f64
}

//! Room acoustics of a scene: the scene is run to its end, and the record of a pressure detector becomes a response with its decays.

use super::{Engine, EngineError};
use crate::grid::Edge;
use crate::physics::room::{self, BandDecay, Response, ResponseError};
use crate::physics::{Equation, Initial, Model, Region};
use crate::scene::Scenario;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The response of a place and its decays.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomReport {
    /// The detector's name.
    pub detector: String,
    /// Its response.
    pub response: Response,
    /// The whole first, then the octaves.
    pub bands: Vec<BandDecay>,
}

/// Why a scene has no room acoustics.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// The scene does not have what is needed.
    #[error("{0}")]
    Scene(String),
    /// The record has no response.
    #[error("detector {detector:?}: {error}")]
    Response {
        /// Its name.
        detector: String,
        /// Why.
        error: ResponseError,
    },
    /// The run failed.
    #[error(transparent)]
    Run(#[from] EngineError),
}

impl RoomError {
    /// Whether the input is at fault.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Scene(_) | Self::Response { .. } => true,
            Self::Run(error) => error.is_input(),
        }
    }
}

/// The names of the detectors that record the pressure.
pub fn listeners(scenario: &Scenario) -> Vec<&str> {
    if scenario.model().equation() != Equation::Acoustic {
        return Vec::new();
    }
    let all = scenario.detectors().iter().filter(|detector| detector.hears());
    all.map(|detector| detector.name.as_str()).collect()
}

/// The place of the detector with this name, of that which `[room]` names, or of the only one that records the pressure.
///
/// # Errors
/// [`RoomError::Scene`] with the existing names.
pub fn listener(scenario: &Scenario, name: Option<&str>) -> Result<usize, RoomError> {
    if scenario.model().equation() != Equation::Acoustic {
        return Err(RoomError::Scene(
            "a quantum scene has no sound; take a scene with [acoustic]".to_owned(),
        ));
    }
    if scenario.mirror().is_some() {
        return Err(RoomError::Scene(
            "a scene that reverses time has no decay; remove [mirror]".to_owned(),
        ));
    }
    let names = listeners(scenario);
    let name = name.or_else(|| scenario.room().and_then(|room| room.at.as_deref()));
    let chosen = match (name, &names[..]) {
        (_, []) => {
            return Err(RoomError::Scene(
                "no detector records the pressure at a place; add [[detector]] with `at = [..]`".to_owned(),
            ));
        }
        (Some(name), names) => names.iter().find(|own| **own == name).copied(),
        (None, [only]) => Some(*only),
        (None, _) => None,
    };
    let place = chosen.and_then(|chosen| scenario.detectors().iter().position(|own| own.name == chosen));
    place.ok_or_else(|| {
        let said = name.map_or("several places are heard".to_owned(), |name| {
            format!("no detector {name:?} records the pressure")
        });
        let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        RoomError::Scene(format!(
            "{said}; choose one of {} (`at` in [room], or --at NAME)",
            names.join(", ")
        ))
    })
}

/// Runs a scene to its end and takes the response of a detector; `watch` is told of steps done and to do, and may cancel the run.
///
/// # Errors
/// If the scene has no such detector or no end, the run fails or is cancelled, or the record has no response.
pub fn measure(
    scenario: &Arc<Scenario>,
    name: Option<&str>,
    watch: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<RoomReport, RoomError> {
    let place = listener(scenario, name)?;
    let Some(end) = scenario.time().end else {
        return Err(RoomError::Scene(
            "the scene has no end; say how long to listen: --set time.end=T".to_owned(),
        ));
    };
    let silent = matches!(scenario.initial(), Initial::Pulses(pulses) if pulses.is_empty());
    if !silent && !scenario.sources().is_empty() {
        return Err(RoomError::Scene(
            "the scene begins with a pulse and has sources, and one record cannot be divided by both; remove [[pulse]] or [[source]]".to_owned(),
        ));
    }
    let mut engine = Engine::new(Arc::clone(scenario))?;
    let ended = engine.run_until(end, &mut |_, progress| watch(progress.done, progress.total))?;
    if !ended.reached {
        return Err(EngineError::Cancelled("listening to the room").into());
    }
    let (times, values) = engine.taps().series(place);
    let detector = scenario.detectors()[place].name.clone();
    let response = Response::of_record(&times, &values, scenario.sources()).map_err(|error| RoomError::Response {
        detector: detector.clone(),
        error,
    })?;
    Ok(RoomReport {
        detector,
        bands: room::analyse(&response, echo(scenario, place)),
        response,
    })
}

/// The time that sound takes along the longest way to and fro in the room around a detector, s: along an axis from edge to edge, round a ring once, and where an edge absorbs between the walls beside the detector.
/// 0 where nothing returns.
#[expect(clippy::cast_precision_loss, reason = "sites along an axis")]
fn echo(scenario: &Scenario, detector: usize) -> f64 {
    let (Model::Acoustic(acoustic), Region::Point(at)) = (scenario.model(), &scenario.detectors()[detector].region)
    else {
        return 0.0;
    };
    let grid = scenario.grid();
    let site = grid.nearest(*at);
    let ways = (0..grid.rank()).map(|axis| match grid.edges()[axis] {
        Edge::Wall | Edge::Soft => 2 * grid.size()[axis],
        Edge::Periodic => grid.size()[axis],
        Edge::Absorb => 2 * between_walls(scenario, site, axis).unwrap_or(0),
    });
    ways.max().unwrap_or(0) as f64 * grid.spacing() / acoustic.speed
}

/// Sites between the walls on both sides of a site along an axis; `None` where a side has none.
fn between_walls(scenario: &Scenario, site: [usize; 3], axis: usize) -> Option<usize> {
    let is_wall = |at: usize| {
        let mut there = site;
        there[axis] = at;
        let mut wall = [false];
        let [i, j, k] = there;
        scenario.medium().wall_row(j, k, i..i + 1, &mut wall);
        wall[0]
    };
    let below = (0..site[axis]).rev().find(|at| is_wall(*at))?;
    let above = (site[axis] + 1..scenario.grid().size()[axis]).find(|at| is_wall(*at))?;
    Some(above - below - 1)
}

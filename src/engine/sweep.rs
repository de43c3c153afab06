//! Runs of one scene with other values: what is measured of each; runs on small grids are done side by side on threads.

use super::eigen::with_step;
use super::{Engine, EngineError, ends};
use crate::backend::threads;
use crate::grid::Grid;
use crate::physics::reference::transfer;
use crate::physics::{Initial, Packet, Sets};
use crate::scene::scenario::Subject;
use crate::scene::sweep::{Sweep, SweepFault, Theory, Wanted};
use crate::scene::{Faults, Scenario};
use crate::solver::{self, Backend};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Callback, from any thread: whether runs are to stop; it is also called within long tasks of a step.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// Sites up to which runs are done side by side: beyond, one run alone keeps all threads busy.
const SMALL: usize = 1 << 17;

/// The largest difference, as a share of its kinetic energy, of the potential behind a packet from that where it
/// starts, for the theory of transmission.
const MOST_BEHIND: f64 = 0.01;

/// Points of a line of theory.
const PIECES: usize = 240;

/// Why a sweep cannot run or continue.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The scene with these values has faults.
    #[error("with {setting}: {faults}")]
    Scene {
        /// The values.
        setting: String,
        /// What is wrong.
        faults: Faults,
    },
    /// A measured quantity or the theory does not fit the scene.
    #[error(transparent)]
    Fault(#[from] SweepFault),
    /// A run failed.
    #[error("with {setting}: {error}")]
    Run {
        /// The values.
        setting: String,
        /// Why.
        error: EngineError,
    },
}

impl SweepError {
    /// Whether the input is at fault.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Scene { .. } | Self::Fault(_) => true,
            Self::Run { error, .. } => error.is_input(),
        }
    }
}

/// A scene's text and the sweep over it.
#[derive(Clone, Debug)]
pub struct SweepPlan {
    /// The scene, TOML.
    pub text: String,
    /// The folder of its files.
    pub origin: Option<PathBuf>,
    /// The sweep.
    pub sweep: Sweep,
}

/// One run that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoint {
    /// Its number; the first key varies fastest.
    pub number: usize,
    /// What was measured, in the order of the sweep.
    pub measured: Vec<f64>,
    /// For each that was measured beside its time, which no step led to: that time, and the time of the nearest step.
    pub beside: Vec<Option<[f64; 2]>>,
    /// The theoretical value of the first.
    pub theory: Option<f64>,
}

impl SweepPlan {
    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.sweep.runs().unwrap_or(0)
    }

    /// The values of a run, one per key.
    pub fn values(&self, number: usize) -> Vec<f64> {
        let mut rest = number;
        let pick = |axis: &crate::scene::sweep::Axis| {
            let count = axis.values.len().max(1);
            let value = axis.values.get(rest % count).copied().unwrap_or(f64::NAN);
            rest /= count;
            value
        };
        self.sweep.axes.iter().map(pick).collect()
    }

    /// Values as overrides of the scene.
    pub fn settings(&self, values: &[f64]) -> Vec<String> {
        let pairs = self.sweep.axes.iter().zip(values);
        pairs.flat_map(|(axis, value)| axis.settings(*value)).collect()
    }

    /// The scene with these values.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn scenario(&self, values: &[f64]) -> Result<Scenario, SweepError> {
        let settings = self.settings(values);
        let read = solver::read_scene_text(&self.text, self.origin.as_deref(), &settings);
        let (_, scenario) = read.map_err(|faults| SweepError::Scene {
            setting: settings.join(", "),
            faults,
        })?;
        Ok(scenario)
    }

    /// Checks before the first run whether the sweep can run: its ends, its quantities, its theory.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), SweepError> {
        self.sweep.check()?;
        for number in [0, self.runs() - 1] {
            let values = self.values(number);
            let scenario = self.scenario(&values)?;
            for quantity in &self.sweep.measures {
                quantity.resolve(&scenario)?;
            }
            if self.sweep.theory == Some(Theory::Transmission) {
                Line::of(&scenario)?;
            }
        }
        Ok(())
    }

    /// The theoretical value of the first quantity at these values.
    ///
    /// # Errors
    /// If the scene has faults or the theory does not apply to it.
    pub fn theory(&self, values: &[f64]) -> Result<Option<f64>, SweepError> {
        Ok(match &self.sweep.theory {
            None => None,
            Some(Theory::Formula(formula)) => {
                let all = [values.first(), values.get(1)].map(|value| value.copied().unwrap_or(0.0));
                Some(formula.eval(&all))
            }
            Some(Theory::Transmission) => Some(Line::of(&self.scenario(values)?)?.transmission()),
        })
    }

    /// Lines of theory over the first key, one for each value of the second; none if there is no theory, or where a third key varies.
    ///
    /// # Errors
    /// As [`SweepPlan::theory`].
    #[expect(clippy::cast_precision_loss, reason = "a few hundred points")]
    pub fn theory_lines(&self, stop: &Stop) -> Result<Vec<Vec<[f64; 2]>>, SweepError> {
        let axes = &self.sweep.axes;
        let Some(first) = axes.first().filter(|_| self.sweep.theory.is_some() && axes.len() < 3) else {
            return Ok(Vec::new());
        };
        let ends = first
            .values
            .iter()
            .copied()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        // Where the key asks for whole numbers there is nothing between two of them.
        let whole =
            self.sweep.theory == Some(Theory::Transmission) && first.values.iter().all(|value| value.fract() == 0.0);
        let places: Vec<f64> = if whole || ends.0 >= ends.1 {
            first.values.clone()
        } else {
            let at = |part: f64| {
                if first.is_logarithmic() {
                    ends.0 * (ends.1 / ends.0).powf(part)
                } else {
                    ends.0 + (ends.1 - ends.0) * part
                }
            };
            (0..=PIECES).map(|n| at(n as f64 / PIECES as f64)).collect()
        };
        let others = axes
            .get(1)
            .map_or(vec![None], |axis| axis.values.iter().copied().map(Some).collect());
        let mut lines = Vec::new();
        for other in others {
            let mut line = Vec::with_capacity(places.len());
            for &x in &places {
                if stop() {
                    return Ok(lines);
                }
                let values: Vec<f64> = std::iter::once(x).chain(other).collect();
                line.extend(self.theory(&values)?.map(|y| [x, y]));
            }
            lines.push(line);
        }
        Ok(lines)
    }

    /// One run; `None` if it was stopped.
    ///
    /// # Errors
    /// If the scene has faults or the run fails.
    pub fn measure(&self, number: usize, stop: &Stop) -> Result<Option<SweepPoint>, SweepError> {
        let values = self.values(number);
        let scenario = self.scenario(&values)?;
        let mut wanted = Vec::new();
        for quantity in &self.sweep.measures {
            wanted.push(quantity.resolve(&scenario)?);
        }
        let failed = |error: EngineError| SweepError::Run {
            setting: self.settings(&values).join(", "),
            error,
        };
        let measured = run(scenario, &wanted, stop).map_err(failed)?;
        let Some((measured, beside)) = measured.map(|all| all.into_iter().unzip()) else {
            return Ok(None);
        };
        Ok(Some(SweepPoint {
            number,
            measured,
            beside,
            theory: self.theory(&values)?,
        }))
    }

    /// How many runs are done side by side.
    ///
    /// # Errors
    /// As [`SweepPlan::measure`].
    fn side_by_side(&self, number: usize) -> Result<usize, SweepError> {
        let values = self.values(number);
        let scenario = self.scenario(&values)?;
        if scenario.grid().sites() > SMALL {
            return Ok(1);
        }
        let engine = Engine::new(Arc::new(scenario)).map_err(|error| SweepError::Run {
            setting: self.settings(&values).join(", "),
            error,
        })?;
        // A device takes one run after the other.
        Ok(if engine.report().backend == Backend::Cpu {
            threads::count()
        } else {
            1
        })
    }

    /// All runs that are not in `done`, in order, small ones side by side; `found` is told of each, from any thread. `true` if all were run, `false` if `stop` said so.
    ///
    /// # Errors
    /// The first run that failed; those under way are stopped.
    pub fn run(&self, done: &[bool], stop: &Stop, found: &(dyn Fn(SweepPoint) + Sync)) -> Result<bool, SweepError> {
        let todo: Vec<usize> = (0..self.runs())
            .filter(|n| !done.get(*n).copied().unwrap_or(false))
            .collect();
        let Some(&first) = todo.first() else { return Ok(true) };
        let together = self.side_by_side(first)?.clamp(1, todo.len());
        let next = AtomicUsize::new(0);
        let failure: Mutex<Option<SweepError>> = Mutex::new(None);
        let ended = Arc::new(AtomicBool::new(false));
        let over: Stop = Arc::new({
            let (ended, stop) = (Arc::clone(&ended), Arc::clone(stop));
            move || ended.load(Ordering::Relaxed) || stop()
        });
        let work = || {
            while !over() {
                let Some(&number) = todo.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    return;
                };
                match self.measure(number, &over) {
                    Ok(Some(point)) => found(point),
                    Ok(None) => return,
                    Err(error) => {
                        ended.store(true, Ordering::Relaxed);
                        let mut kept = failure.lock().unwrap_or_else(PoisonError::into_inner);
                        kept.get_or_insert(error);
                        return;
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..together {
                scope.spawn(work);
            }
            work();
        });
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(!stop()),
        }
    }
}

/// The same run with a shorter Δt, if it is automatic and that of an exact method, so long that `times` may lie far from its steps.
fn on_steps(engine: Engine, times: &[f64]) -> Result<Engine, EngineError> {
    let last = times.iter().copied().fold(0.0, f64::max);
    let scenario = engine.scenario();
    let method = solver::find(&scenario.solver().method).filter(|_| scenario.time().step.is_none() && last > 0.0);
    let step = method.and_then(|method| {
        let least = (last / engine.clock().time_step - 1e-9).ceil().max(1.0);
        method.steps_through(last, least, times).map(|steps| last / steps)
    });
    let step = step.filter(|step| (step / engine.clock().time_step - 1.0).abs() > 1e-9);
    match step {
        Some(step) => with_step(&engine, step),
        None => Ok(engine),
    }
}

/// What was measured at the step nearest to a time; that time and the step's, where they differ.
type Measured = (f64, Option<[f64; 2]>);

/// The values of some subjects at their times.
fn run(scenario: Scenario, wanted: &[Wanted], stop: &Stop) -> Result<Option<Vec<Measured>>, EngineError> {
    let times: Vec<f64> = wanted.iter().map(|own| own.at).collect();
    let mut engine = on_steps(Engine::new(Arc::new(scenario))?, &times)?;
    engine.set_watch(Box::new({
        let stop = Arc::clone(stop);
        move |_, _| ends(stop())
    }));
    let is_energy = |subject: &Subject| matches!(subject, Subject::Observable(name) if name == "energy");
    if wanted.iter().flat_map(Wanted::subjects).any(is_energy) {
        engine.keep_velocity()?;
    }
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].at.total_cmp(&wanted[*b].at));
    let mut values = vec![(f64::NAN, None); wanted.len()];
    for place in order {
        let Wanted { subject, beside, at } = &wanted[place];
        let end = engine.run_until(*at, &mut |_, _| ends(stop()))?;
        if !end.reached || stop() {
            return Ok(None);
        }
        let mut value = engine.value_of(subject)?.unwrap_or(f64::NAN);
        if let Some(beside) = beside {
            let other = engine.value_of(beside)?.unwrap_or(f64::NAN);
            value = (value - other) / (value + other);
        }
        let clock = engine.clock();
        // What is left of rounding is no difference.
        let is_beside = (clock.time - at).abs() > 1e-6 * clock.time_step.abs();
        values[place] = (value, is_beside.then_some([*at, clock.time]));
    }
    Ok(Some(values))
}

/// A scene on a line for which the transmission of the potential is known.
struct Line {
    grid: Grid,
    hopping: f64,
    packet: Packet,
    /// The potential where the packet starts, at the end of the grid behind it, and at the end that it moves to.
    start: f64,
    leads: [f64; 2],
    /// Between those ends, in the order in which the packet reaches it.
    profile: Vec<f64>,
}

impl Line {
    /// # Errors
    /// If the scene is not a packet on a line with a potential that is constant in time.
    fn of(scenario: &Scenario) -> Result<Self, SweepFault> {
        let fault = |message: &str| SweepFault {
            message: format!("the theory \"transmission\" is for one packet on a line with a potential; {message}"),
            remedy: "write a formula, or leave `theory` out".to_owned(),
        };
        let Some(quantum) = scenario.model().quantum() else {
            return Err(fault("this is a scene of sound"));
        };
        if scenario.solver().method == "split-step-fourier" && quantum.mass.is_some() {
            return Err(fault(
                "it is the lattice's, and with `mass` split-step-fourier steps the continuum",
            ));
        }
        let grid = scenario.grid();
        let medium = scenario.medium();
        if grid.rank() != 1 {
            return Err(fault("this scene has more axes than one"));
        }
        let Initial::Packets(packets) = scenario.initial() else {
            return Err(fault("this scene begins otherwise"));
        };
        let [packet] = packets[..] else {
            return Err(fault("this scene has several packets"));
        };
        let interacts = quantum.interaction != 0.0 || medium.sets_interaction();
        let changes = medium.has(Sets::Wall) || medium.sets_bonds() || medium.absorbs();
        if interacts || changes || !medium.drives().is_empty() {
            return Err(fault(
                "this scene has an interaction, a driven layer, walls, or layers of hopping or absorption",
            ));
        }
        let mut potential = vec![0.0; grid.sites()];
        medium.potential_row(None, 0, 0, 0..grid.sites(), &mut potential);
        let mut site = grid.nearest(packet.center)[0];
        if packet.momentum[0] < 0.0 {
            potential.reverse();
            site = potential.len() - 1 - site;
        }
        let start = potential[site];
        let leads = [potential[0], potential[potential.len() - 1]];
        let kinetic = 4.0 * quantum.hopping * (packet.momentum[0] * grid.spacing() / 2.0).sin().powi(2);
        if (potential[..site].iter()).any(|u| (u - start).abs() > MOST_BEHIND * kinetic) {
            return Err(fault(
                "the potential behind this packet differs from that at its position",
            ));
        }
        let first = potential.iter().position(|u| *u != leads[0]);
        let last = potential.iter().rposition(|u| *u != leads[1]);
        let profile = first
            .zip(last)
            .and_then(|(first, last)| potential.get(first..=last))
            .map_or(Vec::new(), <[f64]>::to_vec);
        Ok(Self {
            grid: grid.clone(),
            hopping: quantum.hopping,
            packet,
            start,
            leads,
            profile,
        })
    }

    /// T(k) averaged over the packet's momenta.
    fn transmission(&self) -> f64 {
        let a = self.grid.spacing();
        let momentum = self.packet.momentum[0].abs() * a;
        transfer::packet_average(momentum, self.packet.width[0] / a, |k| {
            // In the lead it has the energy that it has where it starts.
            let k = transfer::momentum_on(self.leads[0] - self.start, self.hopping, k);
            k.map_or(0.0, |k| {
                transfer::transmission_between(&self.profile, self.leads, self.hopping, k)
            })
        })
    }
}

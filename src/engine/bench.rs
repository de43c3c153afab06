//! The measurements of `ripplon bench`: rates of the methods, compared with the limits of the machine.

pub mod auto;
pub mod scaling;
pub mod scenes;

use super::build;
use super::{Command, Engine, EngineError, Status, Worker};
use crate::backend::ceilings::Ceilings;
use crate::backend::ranks;
use crate::field::{FieldData, Precision, Real};
use crate::physics::Equation;
use crate::physics::noise::Noise;
use crate::platform::Instant;
use crate::scene::Scenario;
use crate::solver::{self, Backend, Clock, ImageRequest, Kind, METHODS, Method, Solver, SolverError, Taps, Work};
use num_complex::Complex;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// What is measured once.
#[derive(Clone, Copy)]
pub struct Case {
    /// The method.
    pub method: &'static Method,
    /// Where it runs.
    pub backend: Backend,
    /// A variant's id.
    pub variant: &'static str,
    /// In which precision.
    pub precision: Precision,
    /// The order that the method's parameter `order` chooses: in space for finite differences, in Δt elsewhere.
    pub order: u32,
}

impl Case {
    /// Whether its variant has this parameter.
    pub fn takes(&self, key: &str) -> bool {
        let parameters = self.method.parameters.iter();
        parameters
            .filter(|one| one.key == key)
            .any(|one| one.variants.is_empty() || one.variants.contains(&self.variant))
    }
}

/// The orders that a method's parameter chooses from, or the one it has.
pub fn orders(method: &Method) -> Vec<u32> {
    let parameter = method.parameters.iter().find(|parameter| parameter.key == "order");
    match parameter.map(|parameter| parameter.kind) {
        Some(Kind::OneOf { values, .. }) => values.iter().filter_map(|value| u32::try_from(*value).ok()).collect(),
        _ => method.orders.to_vec(),
    }
}

/// Every combination that the table offers, in its order; `order` is each method's own nearest to the requested one.
pub fn cases(order: u32, wanted: impl Fn(Backend) -> bool) -> Vec<Case> {
    let mut all = Vec::new();
    for method in METHODS {
        let nearest = orders(method).into_iter().min_by_key(|own| own.abs_diff(order));
        // Looking for a back end loads its driver: only for those that are asked for.
        let targets = method.targets.iter().filter(|target| wanted(target.backend));
        for target in targets.filter(|target| target.backend.availability().is_ok()) {
            for variant in target.variants {
                for &precision in target.precisions {
                    all.push(Case {
                        method,
                        backend: target.backend,
                        variant: variant.id,
                        precision,
                        order: nearest.unwrap_or(order),
                    });
                }
            }
        }
    }
    all
}

/// A figure of `ripplon bench`; the fields are the keys of `--json`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Entry {
    /// The method's id.
    pub method: &'static str,
    /// The variant's id.
    pub variant: &'static str,
    /// Where it ran.
    pub backend: &'static str,
    /// In which precision.
    pub precision: &'static str,
    /// The requested order: see [`Case::order`].
    pub order: u32,
    /// Sites along x, y, z.
    pub size: Vec<usize>,
    /// Threads at work.
    pub threads: usize,
    /// Site-steps per second: the median of the repetitions.
    pub site_steps_per_s: f64,
    /// Over what the in-place bandwidth allows if every step passes once over memory ([`Work::bytes`]); fused steps exceed 1.
    pub share_of_copy: f64,
    /// Over what the multiply-add rate allows ([`Work::instructions`]).
    pub share_of_fma: f64,
    /// The slowest repetition.
    pub min: f64,
    /// The fastest repetition.
    pub max: f64,
    /// Site-steps per second of `ripplon run` from its first step on, if that was requested: see [`measure_run`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_site_steps_per_s: Option<f64>,
    /// The rate while a window shows the run, if that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
}

/// The rate while a window shows the run.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Shown {
    /// Site-steps per second, with the time for everything that a window needs.
    pub site_steps_per_s: f64,
    /// Pictures that arrived, per second.
    pub pictures_per_s: f64,
}

/// What bounds a case: the ceilings of the machine that it runs on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Bytes per second, read and written.
    pub copy: f64,
    /// Multiply-adds per second and lane in the case's precision.
    pub fma: f64,
}

impl Bounds {
    /// Those of a processor.
    #[must_use]
    pub fn of(ceilings: &Ceilings, precision: Precision) -> Self {
        Self {
            copy: ceilings.in_place,
            fma: ceilings.fma(precision),
        }
    }
}

/// The scene of a case: walls, and a potential or speed that differs from site to site in no pattern that a method could use.
pub fn scene(case: &Case, size: &[usize], extra: &str) -> String {
    let list = |values: Vec<String>| format!("[{}]", values.join(", "));
    let sizes = list(size.iter().map(ToString::to_string).collect());
    let centers = list(size.iter().map(|n| format!("{:.1}", center(*n))).collect());
    let widths = list(size.iter().map(|n| format!("{:.1}", center(*n) / 4.0 + 1.0)).collect());
    let (model, state) = match case.method.equation {
        Equation::Schrodinger => (
            "[quantum]\nhopping = 1.0",
            format!("[[packet]]\ncenter = {centers}\nwidth = {widths}"),
        ),
        Equation::Acoustic => (
            "[acoustic]\nspeed = 1.0\ndensity = 1.0",
            format!("[[pulse]]\ncenter = {centers}\nwidth = 4.0\namplitude = 1.0"),
        ),
    };
    let medium = match case.method.equation {
        Equation::Schrodinger => "sets = \"potential\"\nvalue = \"0.5*sin(91.7*x + 53.3*y*y + 17.9*z*z)\"",
        Equation::Acoustic => "sets = \"speed\"\nvalue = \"1 + 0.2*sin(91.7*x + 53.3*y*y + 17.9*z*z)\"",
    };
    let order = if case.method.parameters.iter().any(|parameter| parameter.key == "order") {
        format!("order = {}", case.order)
    } else {
        String::new()
    };
    format!(
        "format = 1\ntitle = \"bench\"\n[grid]\nsize = {sizes}\nspacing = 1.0\n{model}\n[time]\nstep = 0.1\nend = 1.0\n\
         [solver]\nmethod = \"{}\"\nbackend = \"{}\"\nprecision = \"{}\"\nvariant = \"{}\"\n{order}\n{extra}\n{state}\n\
         [[layer]]\nshape = \"everywhere\"\n{medium}\n",
        case.method.id,
        case.backend.as_str(),
        case.precision.as_str(),
        case.variant
    )
}

/// Whether a case works on a grid of `size`.
pub fn fits(case: &Case, size: &[usize]) -> bool {
    let text = scene(case, size, "");
    case.method.ranks.contains(&size.len()) && solver::read_scene_text(without_medium(&text), None, &[]).is_ok()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
fn center(sites: usize) -> f64 {
    sites as f64 / 2.0
}

/// A field of independent random numbers, Σ|ψ|² = 1 on average; no value is subnormal. The same `seed` gives the same field.
pub fn random_field(equation: Equation, precision: Precision, sites: usize, seed: u64) -> FieldData {
    match precision {
        Precision::Single => random::<f32>(equation, sites, seed),
        Precision::Double => random::<f64>(equation, sites, seed),
    }
}

fn random<T: Real>(equation: Equation, sites: usize, seed: u64) -> FieldData {
    let mut noise = Noise::new(seed);
    let mut next = || 0.5 * noise.signed();
    // A uniform number in −1/2…1/2 has variance 1/12, a complex one 1/6.
    #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
    let scale = (6.0 / sites as f64).sqrt();
    match equation {
        Equation::Schrodinger => {
            let value = |_| Complex::new(T::of(scale * next()), T::of(scale * next()));
            T::complex_data((0..sites).map(value).collect())
        }
        Equation::Acoustic => T::real_data((0..sites).map(|_| T::of(scale * next())).collect()),
    }
}

/// The scenario of a text that [`scene`] made, and a solver of `case` loaded with a random field.
///
/// # Errors
/// What keeps the case from running, e.g. its memory.
pub fn prepare(case: &Case, text: &str, seed: u64) -> Result<(Scenario, Box<dyn Solver>), EngineError> {
    let (_, scenario) =
        solver::read_scene_text(text, None, &[]).map_err(|faults| SolverError::Unsupported(faults.render(false)))?;
    let mut solver = build::build(&scenario)?;
    let field = random_field(case.method.equation, case.precision, scenario.grid().sites(), seed);
    let clock = Clock::at_start(case.method.time_step(&scenario));
    solver.set_field(&field, clock)?;
    Ok((scenario, solver))
}

/// A text that [`scene`] made, with the same medium everywhere.
fn without_medium(text: &str) -> &str {
    text.split("[[layer]]").next().unwrap_or(text)
}

/// Measures a case on a grid of `size` for about `seconds`, warm, with `extra` lines in `[solver]`; `uniform`: with the same medium everywhere. Also gives what ran, as the method puts it.
///
/// # Errors
/// What keeps the case from running.
#[expect(clippy::cast_precision_loss, reason = "counts of site-steps")]
pub fn measure(
    case: &Case,
    size: &[usize],
    extra: &str,
    seconds: f64,
    bounds: Bounds,
    uniform: bool,
) -> Result<(Entry, String), EngineError> {
    const REPETITIONS: u32 = 7;
    let text = scene(case, size, extra);
    let text = if uniform { without_medium(&text) } else { &text };
    let (scenario, mut solver) = prepare(case, text, 1)?;
    let mut taps = Taps::default();
    let sites = scenario.grid().sites() as f64;
    // One repetition takes a ninth of the time, which leaves two for warming up.
    let share = seconds / f64::from(REPETITIONS + 2);
    let mut batch = solver.report().batch.max(1);
    loop {
        let start = Instant::now();
        solver.advance(batch, &mut taps)?;
        // Processes that share a run go by the clock of the first.
        let [took] = ranks::agree([start.elapsed().as_secs_f64()]);
        if took >= share / 2.0 {
            break;
        }
        batch *= 2;
    }
    let mut rates = Vec::new();
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        solver.advance(batch, &mut taps)?;
        rates.push(batch as f64 * sites / start.elapsed().as_secs_f64().max(1e-9));
    }
    rates.sort_by(f64::total_cmp);
    let median = rates[rates.len() / 2];
    let report = solver.report();
    let Work { instructions, bytes } = (case.method.work)(&scenario);
    let entry = Entry {
        method: report.method,
        variant: report.variant,
        backend: report.backend.as_str(),
        precision: report.precision.as_str(),
        order: case.order,
        size: size.to_vec(),
        threads: report.threads,
        site_steps_per_s: median,
        share_of_copy: median * bytes / bounds.copy,
        share_of_fma: median * instructions / bounds.fma,
        min: rates[0],
        max: rates[rates.len() - 1],
        run_site_steps_per_s: None,
        shown: None,
    };
    Ok((entry, report.details))
}

/// Steps a case as `ripplon run` does, in the batches that it chooses and with its observables, for as many steps as take about `seconds` at `rate` (site-steps per
/// second); `extra` and `uniform` as for [`measure`]. Site-steps per second from the first step on.
///
/// # Errors
/// What keeps the case from running.
pub fn measure_run(
    case: &Case,
    size: &[usize],
    extra: &str,
    (seconds, rate): (f64, f64),
    uniform: bool,
) -> Result<f64, EngineError> {
    let text = scene(case, size, extra);
    let text = if uniform { without_medium(&text) } else { &text };
    let (_, scenario) =
        solver::read_scene_text(text, None, &[]).map_err(|faults| SolverError::Unsupported(faults.render(false)))?;
    let mut engine = Engine::new(Arc::new(scenario))?;
    run_rate(&mut engine, seconds * rate, u64::MAX)
}

/// Site-steps per second of [`Engine::run_steps`] over about so many site-steps, at most `most` steps.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive numbers of site-steps"
)]
fn run_rate(engine: &mut Engine, site_steps: f64, most: u64) -> Result<f64, EngineError> {
    let sites = engine.scenario().grid().sites() as f64;
    let batch = engine.report().batch.max(1);
    let steps = ((site_steps / sites) as u64)
        .next_multiple_of(batch)
        .clamp(1, most.max(1));
    let start = Instant::now();
    let end = engine.run_steps(steps, &mut |_, _| ControlFlow::Continue(()))?;
    Ok(end.steps as f64 * sites / start.elapsed().as_secs_f64().max(1e-9))
}

/// Texels of the pictures of [`measure_shown`]: a large window's.
pub const SHOWN: [usize; 2] = [1920, 1080];

/// Steps a case on a worker's thread for about `seconds`, while `frames` times a second the latest frame is taken as a window would.
///
/// # Errors
/// What keeps the case from running.
#[expect(clippy::cast_precision_loss, reason = "counts of site-steps")]
pub fn measure_shown(case: &Case, size: &[usize], seconds: f64, frames: f64) -> Result<Shown, EngineError> {
    let failed = |message: String| SolverError::Backend {
        backend: case.backend.as_str(),
        message,
    };
    let (_, scenario) = solver::read_scene_text(&scene(case, size, ""), None, &[])
        .map_err(|faults| SolverError::Unsupported(faults.render(false)))?;
    let [nx, ny, nz] = scenario.grid().size();
    let sites = scenario.grid().sites() as f64;
    let request = ImageRequest::new(scenario.view().quantity, [0..nx, 0..ny], nz / 2, SHOWN);
    let mut worker = Worker::spawn(Some(Arc::new(scenario)), || {}).map_err(|error| failed(error.to_string()))?;
    let period = Duration::from_secs_f64(1.0 / frames.max(1e-3));
    while worker.frame().report.is_none() {
        if let Status::Failed(reason) = &worker.last_frame().status {
            return Err(failed(reason.to_string()).into());
        }
        std::thread::sleep(period);
    }
    worker.send(Command::View(request));
    worker.send(Command::Play);
    let mut next = Instant::now() + period;
    let mut watch = |seconds: f64| -> Result<(Instant, u64, u64), EngineError> {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        // A frame later than asked for counts as one, and at least one is waited for.
        let mut seen = None;
        while Instant::now() < end || seen.is_none() {
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            next = (next + period).max(Instant::now());
            if worker.has_new_frame() {
                let frame = worker.frame();
                if let Status::Failed(reason) = &frame.status {
                    return Err(failed(reason.to_string()).into());
                }
                seen = Some((Instant::now(), frame.clock.steps, frame.image_serial));
            }
        }
        seen.ok_or_else(|| failed("no frame arrived".to_owned()).into())
    };
    // Until the length of batches has settled.
    let from = watch((seconds / 3.0).max(0.3))?;
    let to = watch(seconds)?;
    let took = to.0.duration_since(from.0).as_secs_f64().max(1e-9);
    Ok(Shown {
        site_steps_per_s: (to.1 - from.1) as f64 * sites / took,
        pictures_per_s: (to.2 - from.2) as f64 / took,
    })
}

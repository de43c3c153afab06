//! The choice of the back end of a run, once for all methods.

use super::method::{Method, Target};
use super::setup::Setup;
use super::{Backend, Solver, SolverError};
#[cfg(feature = "gui")]
use super::{Taps, adapter, tune};
#[cfg(feature = "gui")]
use crate::physics::Sets;
#[cfg(feature = "gui")]
use crate::platform::Instant;
use crate::scene::Scenario;
#[cfg(feature = "gui")]
use std::time::Duration;

/// Below this many sites a launch of most methods on a device costs more than the sites it steps.
pub(super) const FEWEST_SITES: usize = 1 << 16;

/// Makes a run of a method on a back end.
pub(super) type Make = fn(Setup, Backend) -> Result<Box<dyn Solver>, SolverError>;

/// A run on the back end that the scene names. Where the scene names none, the run goes to the NVIDIA device if there is one and the grid has `fewest_sites` at least, or to
/// the only back end with the variant; in a web page, which has no NVIDIA device, to the adapter if that steps it faster than the processor. If the device refuses it, it goes to the
/// processor, with a note.
///
/// # Errors
/// Those of [`Setup::new`] and `make`, and if the back end has no such variant.
pub(super) fn build(
    method: &'static Method,
    scenario: &Scenario,
    fewest_sites: usize,
    make: Make,
) -> Result<Box<dyn Solver>, SolverError> {
    let mut setup = Setup::new(method, scenario)?;
    let knows = |backend: Backend, variant: &str| {
        let of = |target: &&Target| target.backend == backend;
        let target = method.targets.iter().find(of);
        target.is_some_and(|target| target.variants.iter().any(|known| known.id == variant))
    };
    let asked = if setup.devices.named {
        Some(Backend::Cuda)
    } else {
        setup.choice.backend.named()
    };
    let variant = setup.choice.variant.clone();
    let only_elsewhere = variant.as_deref().is_some_and(|variant| !knows(Backend::Cpu, variant));
    for backend in Backend::ALL.into_iter().filter(|backend| *backend != Backend::Cpu) {
        let only_there = only_elsewhere && variant.as_deref().is_some_and(|variant| knows(backend, variant));
        // Parts are stepped on the processor.
        let large =
            asked.is_none() && setup.plan.is_none() && variant.is_none() && scenario.grid().sites() >= fewest_sites;
        let offered = (method.targets.iter())
            .any(|target| target.backend == backend && target.precisions.contains(&setup.choice.precision));
        let fast = || large && (backend == Backend::Cuda || is_faster(&setup, backend, make));
        let open = asked.is_none() && offered && (only_there || fast()) && backend.availability().is_ok();
        if asked != Some(backend) && !open {
            continue;
        }
        setup.check_variant(backend)?;
        match make(setup.clone(), backend) {
            Err(error) if asked.is_none() && !only_there => {
                tracing::warn!("on the processor instead of the {}: {error}", device_words(backend));
                setup.note = Some(format!("not on the {}: {error}", device_words(backend)));
            }
            built => return built,
        }
    }
    setup.check_variant(Backend::Cpu)?;
    make(setup, Backend::Cpu)
}

/// Whether an adapter is taken where the scene names no back end. That depends on the adapter and on the processor, so both step the scene for a moment. Outside of a web page one is taken only where it is named, or where
/// only it has the variant.
#[cfg(feature = "gui")]
fn is_faster(setup: &Setup, backend: Backend, make: Make) -> bool {
    let Some(adapter) = adapter::for_the_page() else {
        return false;
    };
    let scenario = &setup.scenario;
    let sets = Sets::ALL.map(|(_, sets)| scenario.medium().has(sets));
    let what = (
        (adapter, scenario.grid().size(), scenario.grid().edges()),
        (&setup.choice, scenario.time().imaginary, sets),
        scenario.detectors().len(),
    );
    let key = tune::TuningKey::new(setup.method.id, &what);
    let chosen = tune::fastest(&key, vec![backend, Backend::Cpu], |all| {
        let times = all
            .into_iter()
            .filter_map(|backend| Some((backend, seconds_a_step(setup, backend, make)?)));
        let (plan, _) = times.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(tune::Fastest { plan, scatter: 0.0 })
    });
    chosen == Some(backend)
}

#[cfg(not(feature = "gui"))]
fn is_faster(_: &Setup, _: Backend, _: Make) -> bool {
    false
}

/// Seconds a step in batches that fill a slice of a frame; 0 if the run cannot be made, so that the caller makes it and gets the error; `None` if steps fail.
#[cfg(feature = "gui")]
fn seconds_a_step(setup: &Setup, backend: Backend, make: Make) -> Option<f64> {
    const SLICE: Duration = Duration::from_millis(8);
    let Ok(mut run) = make(setup.clone(), backend) else {
        return Some(0.0);
    };
    // Kernels are compiled on the way.
    run.advance(1, &mut Taps::default()).ok()?;
    let mut steps = 1_u32;
    loop {
        let begin = Instant::now();
        run.advance(u64::from(steps), &mut Taps::default()).ok()?;
        let took = begin.elapsed();
        if took >= SLICE || steps >= 1 << 14 {
            return Some(took.as_secs_f64() / f64::from(steps));
        }
        steps *= 2;
    }
}

/// The name of a back end's hardware in messages.
fn device_words(backend: Backend) -> &'static str {
    match backend {
        Backend::Cuda => "NVIDIA device",
        _ => backend.title(),
    }
}

/// The error of a scene that asks for a back end which the build or the method lacks.
pub(super) fn absent(method: &Method, backend: Backend) -> SolverError {
    SolverError::Backend {
        backend: backend.as_str(),
        message: format!(
            "{}: {}",
            method.id,
            backend
                .availability()
                .err()
                .unwrap_or("it does not run there in this version")
        ),
    }
}

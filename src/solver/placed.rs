//! On which back end a run goes, decided once for all methods.

use super::method::{Method, Target};
use super::setup::Setup;
use super::{Backend, Solver, SolverError};
use crate::scene::Scenario;

/// Makes a run of a method on a back end.
pub(super) type Make = fn(Setup, Backend) -> Result<Box<dyn Solver>, SolverError>;

/// A run where the scene asks for it. Where the scene leaves that open, it goes to the NVIDIA device if one is there and the grid has `fewest_sites` at least, or to
/// a back end that alone has the variant; if the device refuses it, to the processor, with a note.
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
        // Whether an adapter is faster than the processor depends on both: it is taken where it is named, or where only it has the variant.
        // Parts are stepped on the processor.
        let large = setup.plan.is_none()
            && backend == Backend::Cuda
            && variant.is_none()
            && scenario.grid().sites() >= fewest_sites;
        let offered = (method.targets.iter())
            .any(|target| target.backend == backend && target.precisions.contains(&setup.choice.precision));
        let open = asked.is_none() && (only_there || large) && offered && backend.availability().is_ok();
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

/// What messages call the hardware of a back end.
fn device_words(backend: Backend) -> &'static str {
    match backend {
        Backend::Cuda => "NVIDIA device",
        _ => backend.title(),
    }
}

/// What a build without a back end, or a method that has none there, says to a scene that asks for it.
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

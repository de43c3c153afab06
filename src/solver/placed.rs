//! On which back end a run goes, decided once for all methods.

use super::method::{Method, Target};
use super::setup::Setup;
use super::{Backend, Solver, SolverError};
use crate::scene::Scenario;
use crate::scene::scenario::BackendChoice;

/// Makes a run of a method on a back end.
pub(super) type Make = fn(Setup, Backend) -> Result<Box<dyn Solver>, SolverError>;

/// A run where the scene asks for it. Where the scene leaves that open, it goes to the device if one is there and the grid has `fewest_sites` at least, or only
/// the device has the variant; if the device refuses it, to the processor, with a note.
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
    let asked = setup.choice.backend == BackendChoice::Cuda;
    let only_there = setup
        .choice
        .variant
        .as_deref()
        .is_some_and(|variant| !knows(Backend::Cpu, variant) && knows(Backend::Cuda, variant));
    let offered = method.targets.iter().any(|target| target.backend == Backend::Cuda);
    let open = setup.choice.backend == BackendChoice::Auto
        && (only_there || setup.choice.variant.is_none() && scenario.grid().sites() >= fewest_sites)
        && offered
        && Backend::Cuda.availability().is_ok();
    if asked || open {
        setup.check_variant(Backend::Cuda)?;
        match make(setup.clone(), Backend::Cuda) {
            Err(error) if !asked && !only_there => {
                tracing::warn!("on the processor instead of the NVIDIA device: {error}");
                setup.note = Some(format!("not on the NVIDIA device: {error}"));
            }
            built => return built,
        }
    }
    setup.check_variant(Backend::Cpu)?;
    make(setup, Backend::Cpu)
}

/// What a build without the CUDA back end says to a scene that asks for it.
#[cfg(not(feature = "cuda"))]
pub(super) fn absent(method: &Method) -> SolverError {
    SolverError::Backend {
        backend: "cuda",
        message: format!(
            "{}: {}",
            method.id,
            Backend::Cuda.availability().err().unwrap_or_default()
        ),
    }
}

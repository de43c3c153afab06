//! Eigenstates of a scene's own Hamiltonian as the state at t = 0.

use super::eigen::{self, EigenError, Hamiltonian, Levels};
use super::{Medium, Quantum};
use crate::grid::Grid;
use num_complex::Complex64;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Levels of more than this many bytes are not kept for the next run of the same scene.
const MOST_KEPT: usize = 128 << 20;

/// The levels found last, with their Hamiltonian.
static KEPT: Mutex<Option<(Hamiltonian, Arc<Levels>)>> = Mutex::new(None);

/// The Hamiltonian of a sum, once the scene is complete.
type Of = (Grid, Quantum, Arc<Medium>);

/// A sum of eigenstates Σ wₙφₙ, computed when it is first needed, which takes seconds on large grids.
///
/// The Hamiltonian is the linear part that is constant in time: interaction, drives and absorption are left out. Two
/// sums are equal if levels and weights are, whatever the medium: a run continues when its potential is edited, and
/// starts with the new eigenstates when it is reset.
#[derive(Clone, Debug)]
pub struct Eigenstates {
    terms: Vec<(usize, Complex64)>,
    of: Option<Of>,
    state: Arc<OnceLock<Result<Vec<Complex64>, EigenError>>>,
}

impl PartialEq for Eigenstates {
    fn eq(&self, other: &Self) -> bool {
        self.terms == other.terms
    }
}

impl Eigenstates {
    /// Levels, counted from 0 in order of increasing energy, with their weights.
    #[must_use]
    pub fn new(terms: Vec<(usize, Complex64)>) -> Self {
        Self {
            terms,
            of: None,
            state: Arc::default(),
        }
    }

    /// Levels and weights.
    pub fn terms(&self) -> &[(usize, Complex64)] {
        &self.terms
    }

    /// Says what the eigenstates are of.
    pub fn belong_to(&mut self, grid: &Grid, quantum: &Quantum, medium: &Arc<Medium>) {
        self.of = Some((grid.clone(), *quantum, Arc::clone(medium)));
        self.state = Arc::default();
    }

    /// The sum before normalisation, x fastest.
    ///
    /// # Errors
    /// If the levels could not be found.
    pub fn state(&self) -> Result<&[Complex64], EigenError> {
        self.state.get_or_init(|| self.find()).as_deref().map_err(Clone::clone)
    }

    fn find(&self) -> Result<Vec<Complex64>, EigenError> {
        let Some((grid, quantum, medium)) = &self.of else {
            return Err(EigenError::NoLevels {
                what: "these eigenstates belong to no scene".to_owned(),
                remedy: "read the scene again".to_owned(),
            });
        };
        let hamiltonian = Hamiltonian::static_part(grid, quantum, medium)?;
        let highest = self.terms.iter().map(|(level, _)| *level).max().unwrap_or(0);
        let levels = levels(hamiltonian, highest + 1)?;
        let mut sum = vec![Complex64::ZERO; grid.sites()];
        for (level, weight) in &self.terms {
            for (sum, value) in sum.iter_mut().zip(&levels.list[*level].state) {
                *sum += weight * value;
            }
        }
        Ok(sum)
    }
}

/// The lowest levels; those found last are used if they are the same.
fn levels(hamiltonian: Hamiltonian, wanted: usize) -> Result<Arc<Levels>, EigenError> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, levels)) = &*kept
        && levels.list.len() >= wanted
        && *of == hamiltonian
    {
        return Ok(Arc::clone(levels));
    }
    let found = eigen::lowest(&hamiltonian, wanted, &mut |_| ControlFlow::Continue(()))?;
    if !found.converged {
        return Err(EigenError::NoLevels {
            what: format!(
                "{} of {wanted} levels have converged, and the largest residual is {:.1e}",
                found.round.converged, found.round.residual
            ),
            remedy: "take lower levels, or a potential that is less high where nothing is".to_owned(),
        });
    }
    let found = Arc::new(found);
    if found.list.len() * hamiltonian.sites() * size_of::<Complex64>() <= MOST_KEPT {
        *kept = Some((hamiltonian, Arc::clone(&found)));
    }
    Ok(found)
}

//! The lowest energies and eigenstates of a lattice's Hamiltonian, in double precision on the processor.
//!
//! Equation: Hφ = Eφ, H = −J Σ(e^{iϕ}|to⟩⟨from| + h.c.) + D + U(r), linear and constant in time, on grids of one to three axes with walls, closed or periodic edges and a magnetic
//! flux: the Hamiltonian that the methods step with.
//! Method: subspace iteration with a Chebyshev filter. A block of vectors, more than levels are wanted, is multiplied by a polynomial of H that is small on the part of the
//! spectrum above them and grows fast below it; then it is made orthonormal twice over and turned to the Ritz vectors of H. The degree follows from the distance of the highest
//! wanted level to the filter's edge. The block has a random part in every eigenvector, so that no level is left out, and degenerate ones appear as often as they are.
//! Error: the residual r = ‖Hφ − Eφ‖ bounds that of the energy, |E − E_exact| ≤ r; where the next level is δ away it is r²/δ. Levels no further apart than these errors and rounding count as one
//! that is degenerate.
//! Cost: a few hundred to some ten thousand applications of H a vector, more where levels lie close in a wide spectrum. Memory: four blocks of (levels + a half more, at least 6) vectors, 16 bytes per site.
//!
//! References: Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky 2006, Self-consistent-field calculations using Chebyshev-filtered subspace iteration, doi:10.1016/j.jcp.2006.03.017; Y. Saad 2011, Numerical
//! Methods for Large Eigenvalue Problems, chapter 5.

mod degeneracy;
mod dense;
mod hamiltonian;
mod subspace;

pub use hamiltonian::Hamiltonian;

use num_complex::Complex64;
use std::ops::ControlFlow;

/// Residuals that count as converged, over the width of the spectrum.
pub const TOLERANCE: f64 = 1e-11;

/// Most rounds of filtering.
const MOST_ROUNDS: usize = 300;

/// Why there are no levels.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EigenError {
    /// The scene has no levels: it is no linear, static Hamiltonian.
    #[error("{what}; {remedy}")]
    NoLevels {
        /// What stands against it.
        what: String,
        /// What to change.
        remedy: String,
    },
    /// More levels than there are sites, or none.
    #[error("{wanted} levels of {sites} sites free of walls: take from 1 to {most}")]
    Count {
        /// Levels asked for.
        wanted: usize,
        /// Sites that are no walls.
        sites: usize,
        /// The most.
        most: usize,
    },
    /// Memory ran out.
    #[error(
        "{needed} bytes for the states of {wanted} levels, and the host has no room for them; take fewer levels or a smaller grid"
    )]
    OutOfMemory {
        /// Bytes asked for.
        needed: u64,
        /// Levels asked for.
        wanted: usize,
    },
    /// Whoever watched it broke it off.
    #[error("cancelled")]
    Cancelled,
}

/// One level.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Its energy, the constant on the diagonal included, as the observable `energy` has it.
    pub energy: f64,
    /// ‖Hφ − Eφ‖ with ‖φ‖ = 1; the energy is not further off than this.
    pub residual: f64,
    /// How many levels have this energy, this one included, as far as they were looked for: the last energy's may be more than were asked for.
    pub degeneracy: usize,
    /// Whether there may be more of them: the search saw no higher energy.
    pub open: bool,
    /// Whether its residual is below the tolerance, and tells it from its neighbours: how often there are others is known then.
    pub converged: bool,
    /// Its state, x fastest, Σ|φ|² = 1; where it is largest it is real and positive.
    pub state: Vec<Complex64>,
}

impl Level {
    /// Its degeneracy in words; `None` where it is the only one, or has not converged.
    #[must_use]
    pub fn times(&self) -> Option<String> {
        if !self.converged {
            return None;
        }
        match (self.degeneracy, self.open) {
            (1, _) => None,
            (count, true) => Some(format!("at least {count}-fold")),
            (count, false) => Some(format!("{count}-fold")),
        }
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Rounds of filtering that were taken.
    pub number: usize,
    /// Levels that have converged.
    pub converged: usize,
    /// Applications of H to a vector so far.
    pub applications: u64,
    /// The largest residual of the levels that are wanted.
    pub residual: f64,
}

/// The levels found.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// In rising order.
    pub list: Vec<Level>,
    /// Whether all residuals are below the tolerance, and tell neighbouring levels apart.
    pub converged: bool,
    /// The last round.
    pub round: Round,
}

/// The lowest `wanted` levels; `watch` hears of every round and may break it off.
///
/// # Errors
/// If there are not as many, memory runs out, or it was broken off.
pub fn lowest(
    hamiltonian: &Hamiltonian,
    wanted: usize,
    watch: &mut dyn FnMut(Round) -> ControlFlow<()>,
) -> Result<Levels, EigenError> {
    let most = hamiltonian.states();
    if wanted == 0 || wanted > most {
        return Err(EigenError::Count {
            wanted,
            sites: hamiltonian.free(),
            most,
        });
    }
    let (low, high) = hamiltonian.bounds();
    let width = (high - low).max(f64::MIN_POSITIVE);
    let mut space = subspace::Subspace::new(hamiltonian, wanted)?;
    let mut round = Round {
        number: 0,
        converged: 0,
        applications: 0,
        residual: f64::INFINITY,
    };
    while round.number < MOST_ROUNDS {
        round.number += 1;
        space.filter(high, round.number);
        space.turn();
        let (energies, residuals) = space.found();
        let all = degeneracy::Energies::new(hamiltonian, wanted, energies, residuals);
        let converged = all.converged(wanted, TOLERANCE * width);
        round.converged = converged.iter().filter(|done| **done).count();
        round.residual = residuals[..wanted].iter().copied().fold(0.0, f64::max);
        round.applications = space.applications();
        if watch(round).is_break() {
            return Err(EigenError::Cancelled);
        }
        if round.converged == wanted {
            break;
        }
    }
    let (energies, residuals, states) = space.into_parts(wanted);
    // What the search carried along beyond the wanted levels. Ritz values lie above the energies they stand for, so that as many levels are as low as the last, if they are.
    let known = energies.len().min(most);
    let (last, all) = (
        wanted - 1,
        degeneracy::Energies::new(hamiltonian, wanted, &energies[..known], &residuals[..known]),
    );
    let of_last = (wanted..known).take_while(|n| all.same(*n, last)).count();
    let beyond = wanted + of_last;
    let open = if beyond < known {
        energies[beyond] - residuals[beyond] <= energies[last] + all.tolerance(last, last)
    } else {
        known < most
    };
    let done = all.converged(wanted, TOLERANCE * width);
    let list = states.into_iter().enumerate().map(|(n, state)| {
        let with_last = all.same(n, last);
        let beyond = if with_last { of_last } else { 0 };
        Level {
            energy: energies[n],
            residual: residuals[n],
            degeneracy: (0..wanted).filter(|other| all.same(*other, n)).count() + beyond,
            open: with_last && open,
            converged: done[n],
            state,
        }
    });
    Ok(Levels {
        list: list.collect(),
        converged: round.converged == wanted,
        round,
    })
}

#[cfg(test)]
mod tests;

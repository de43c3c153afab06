//! δ of this machine: a line of n rows is fastest in δ√n blocks.
//!
//! Model (Lutsyshyn, Navarrete & Bauer 2023, eq. 8): blocks are eliminated side by side, their joints from end to end, t = α n/n_b + β n_b, least at n_b = √(α/β) √n. Neither α nor β is known
//! beforehand on a processor with vectors, threads and caches, and only their ratio matters: δ = √(α/β) is measured on one line by the tuner, which keeps it, so that
//! later runs cut a line the same way.

use super::hamiltonian::Hamiltonian;
use super::line::{BESIDE, Partitioned};
use super::propagator::Propagator;
use crate::backend::simd::{Level, Vectors};
use crate::platform::Instant;
use crate::rounding::truncated;
use crate::solver::clock::RunClock;
use crate::solver::tune::{self, Fastest, TuningKey};

/// Rows of the line that is measured; its coefficients fill a second-level cache several times.
const ROWS: usize = 1 << 16;
/// What is tried, times √[`ROWS`].
const TRIED: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Bytes of a vector of blocks that should stay in a core's cache between RD and RU.
const CACHE: usize = 512 << 10;
/// Rows from which on it matters how many blocks there are.
const LONG: usize = 1 << 14;

/// δ√n blocks, but at least as many as fill a vector (two vectors where rows are driven, so that divisions overlap), and as keep the blocks that are eliminated side by side in a core's cache.
pub(super) fn best_blocks<T: Vectors>(line: &Hamiltonian<T>, level: Level) -> usize {
    blocks_of::<T>(line.sites(), line.is_eliminated_in_steps(), level)
}

/// The same of a line of so many sites, driven or not.
pub(super) fn blocks_of<T: Vectors>(sites: usize, driven: bool, level: Level) -> usize {
    let lanes = level.lanes::<T>();
    if sites < LONG {
        return if driven && sites > 64 * lanes { 2 * lanes } else { lanes };
    }
    let beside = if driven { BESIDE } else { 1 };
    let fits = CACHE / (10 * lanes * size_of::<T>()) / beside;
    #[expect(clippy::cast_precision_loss, reason = "counts of blocks")]
    let root = truncated((delta::<T>(level) * (sites as f64).sqrt()).round());
    root.max(lanes).max((sites - 1).div_ceil(fits))
}

/// δ of these vectors on this machine's threads; the first call of a machine measures it, in some tens of milliseconds.
pub(super) fn delta<T: Vectors>(level: Level) -> f64 {
    let key = TuningKey::new("crank-nicolson", &("delta", level.as_str(), T::PRECISION));
    tune::fastest(&key, TRIED.to_vec(), |_| measured::<T>(level)).unwrap_or(1.0)
}

/// The fastest of [`TRIED`], each by its best time; what the best times of the first and the second half of the turns differ by is their scatter.
fn measured<T: Vectors>(level: Level) -> Option<Fastest<f64>> {
    let mut lines: Vec<Partitioned<T>> = TRIED
        .iter()
        .map(|factor| {
            #[expect(clippy::cast_precision_loss, reason = "hundreds")]
            let blocks = truncated(factor * (ROWS as f64).sqrt());
            let mut line = Partitioned::new(Hamiltonian::uniform(ROWS), blocks, 1, level);
            line.set_step(0.1);
            line.change(&|_, psi| *psi = num_complex::Complex::new(T::one(), T::zero()));
            line
        })
        .collect();
    let mut halves = [[f64::INFINITY; TRIED.len()]; 2];
    // Turn by turn, so that what else runs on the machine hits all alike.
    for turn in 0..8 {
        for (line, best) in lines.iter_mut().zip(&mut halves[turn / 4]) {
            let start = Instant::now();
            line.advance(&RunClock::new(0.1), 2);
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let [early, late] = halves;
    let best = |place: usize| early[place].min(late[place]);
    let fastest = (0..TRIED.len()).min_by(|a, b| best(*a).total_cmp(&best(*b)));
    fastest.map(|place| Fastest {
        plan: TRIED[place],
        scatter: tune::apart(early[place], late[place]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asked_once_in_a_process() {
        let level = Level::best();
        let first = delta::<f64>(level);
        assert!(TRIED.contains(&first));
        assert_eq!(delta::<f64>(level).to_bits(), first.to_bits());
    }
}

//! δ of this machine: a line of n rows is fastest in δ√n blocks.
//!
//! Model (Lutsyshyn, Navarrete & Bauer 2023, eq. 8): blocks are eliminated side by side, their joints from end to end, t = α n/n_b + β n_b, least at n_b = √(α/β) √n. Neither α nor β is known
//! beforehand on a processor with vectors, threads and caches, and only their ratio matters: δ = √(α/β) is measured on one line, kept for the process and written to the user's cache, so that later
//! runs cut a line the same way.

use super::hamiltonian::Hamiltonian;
use super::line::Partitioned;
use super::propagator::Propagator;
use crate::backend::simd::{Level, Vectors};
use crate::backend::threads;
use crate::solver::clock::RunClock;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Rows of the line that is measured; its coefficients fill a second-level cache several times.
const ROWS: usize = 1 << 16;
/// What is tried, times √[`ROWS`].
const TRIED: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];

/// Known values by what they were measured on.
static KNOWN: Mutex<Vec<(String, f64)>> = Mutex::new(Vec::new());

/// δ of these vectors on this machine's threads; the first call of a machine measures it, in some tens of milliseconds.
pub(super) fn delta<T: Vectors>(level: Level) -> f64 {
    let key = format!(
        "{} {} {} {} threads {}",
        env!("CARGO_PKG_VERSION"),
        if cfg!(debug_assertions) { "debug" } else { "release" },
        level.as_str(),
        threads::count(),
        T::PRECISION.as_str()
    );
    if let Some(value) = recall(&key) {
        return value;
    }
    // Not under the lock: while a thread of the pool measures, it may be given another line to build.
    let found = read(&key).unwrap_or_else(|| {
        let value = measured::<T>(level);
        write(&key, value);
        value
    });
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, first)) = known.iter().find(|(other, _)| *other == key) {
        return *first;
    }
    known.push((key, found));
    found
}

fn recall(key: &str) -> Option<f64> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.iter().find(|(other, _)| other == key).map(|(_, value)| *value)
}

/// The fastest of [`TRIED`], each by its best time.
fn measured<T: Vectors>(level: Level) -> f64 {
    let mut lines: Vec<Partitioned<T>> = TRIED
        .iter()
        .map(|factor| {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "hundreds"
            )]
            let blocks = (factor * (ROWS as f64).sqrt()) as usize;
            let mut line = Partitioned::new(Hamiltonian::uniform(ROWS), Some(blocks), 1, level);
            line.set_step(0.1);
            line.change(&|_, psi| *psi = num_complex::Complex::new(T::one(), T::zero()));
            line
        })
        .collect();
    let mut best = [f64::INFINITY; TRIED.len()];
    // Turn by turn, so that what else runs on the machine hits all alike.
    for _ in 0..8 {
        for (line, best) in lines.iter_mut().zip(&mut best) {
            let start = Instant::now();
            line.advance(&RunClock::new(0.1), 2);
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let fastest = (0..TRIED.len()).min_by(|a, b| best[*a].total_cmp(&best[*b]));
    fastest.map_or(1.0, |place| TRIED[place])
}

/// The file that later runs read.
fn file() -> Option<PathBuf> {
    let place = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let cache = place("XDG_CACHE_HOME")
        .or_else(|| place("LOCALAPPDATA"))
        .or_else(|| place("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("ripplon").join("n-partition"))
}

fn read(key: &str) -> Option<f64> {
    let text = std::fs::read_to_string(file()?).ok()?;
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
    let value: f64 = value.parse().ok()?;
    TRIED.contains(&value).then_some(value)
}

/// A cache that cannot be written is no fault: the next run measures again.
fn write(key: &str, value: f64) {
    use std::io::Write;
    let Some(file) = file() else { return };
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(file) {
        let _ = writeln!(file, "{key} = {value}");
    }
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

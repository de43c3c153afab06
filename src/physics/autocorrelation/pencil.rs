//! A signal as a sum of few exponentials, growing or decaying: the matrix pencil method.
//!
//! y(m) = Σ_k b_k u_k^m makes Hankel's matrix y(i + j) of rank K, and its range is that of the columns (1, u_k, u_k², …). Without their first row they are those without their last one, times u_k: the u_k
//! are the eigenvalues of the matrix that turns one part of the range into the other. Noise raises the rank; singular values are kept where they stand out from the smallest quarter. Gauss–Newton steps on all b_k and
//! ln u_k take the rest out that least squares leave, and their matrix says how far noise of the size of the last rest moves each (Cramér and Rao's bound).
//!
//! References: Hua & Sarkar 1990, doi:10.1109/29.56027 (method); Roy & Kailath 1989, doi:10.1109/29.32276 (with the range alone).

use super::linear::{Column, LeastSquares, dot, eigenvalues, norm, range_of};
use num_complex::Complex64;

/// How far a singular value stands out from those of the noise.
const ABOVE: f64 = 5.0;

/// Singular values that rounding leaves, over the largest.
const ROUNDED: f64 = 1e-13;

/// What an exponential may do from one number to the next: less is gone after the second, more is no state.
const RATIOS: std::ops::Range<f64> = 1e-3..1.2;

/// Steps of the refinement at most.
const MOST_STEPS: usize = 4;

/// An exponential b e^{λm}.
pub(super) struct Pole {
    /// λ.
    pub(super) log: Complex64,
    /// b.
    pub(super) amplitude: Complex64,
    /// How far noise may have moved λ.
    pub(super) log_noise: f64,
    /// How far noise may have moved b.
    pub(super) amplitude_noise: f64,
}

/// The exponentials of a signal; none where they cannot be told.
pub(super) fn poles(signal: &[Complex64]) -> Vec<Pole> {
    let logs: Column = ratios(signal).iter().map(|ratio| ratio.ln()).collect();
    if logs.is_empty() {
        return Vec::new();
    }
    refined(signal, logs).unwrap_or_default()
}

/// The u of a signal.
fn ratios(signal: &[Complex64]) -> Column {
    let half = signal.len() / 2;
    if half < 4 {
        return Vec::new();
    }
    let hankel = signal.windows(signal.len() - half + 1).map(<[Complex64]>::to_vec);
    let range = range_of(hankel.collect());
    let least = (ROUNDED * range[0].0).max(ABOVE * range[half - half / 4].0);
    let most = signal.len() / 3;
    let kept: Vec<&Column> = (range.iter().take(most))
        .take_while(|(size, _)| *size > least)
        .map(|(_, vector)| vector)
        .collect();
    let end = signal.len() - half;
    // (U₁ᴴU₁)⁻¹ of the rows but the last, v, of orthonormal columns: 1 + vᴴv/(1 − |v|²).
    let last: Column = kept.iter().map(|vector| vector[end]).collect();
    let left = 1.0 - norm(&last).powi(2);
    if left < 1e-12 {
        return Vec::new();
    }
    let product = |a: &Column, b: &Column| dot(&a[..end], &b[1..]);
    let mut rows: Vec<Column> = (kept.iter())
        .map(|a| kept.iter().map(|b| product(a, b)).collect())
        .collect();
    let turned: Column = (0..kept.len())
        .map(|j| last.iter().zip(&rows).map(|(v, row)| v * row[j]).sum())
        .collect();
    for (row, v) in rows.iter_mut().zip(&last) {
        for (entry, turned) in row.iter_mut().zip(&turned) {
            *entry += v.conj() * turned / left;
        }
    }
    let mut found = eigenvalues(rows);
    found.retain(|ratio| RATIOS.contains(&ratio.norm()));
    found
}

/// What the powers of u are at 0 … `length` − 1.
#[expect(clippy::cast_precision_loss, reason = "numbers of a signal")]
fn powers(log: Complex64, length: usize) -> Column {
    (0..length).map(|m| (log * m as f64).exp()).collect()
}

/// One stage of the refinement.
struct Stage {
    logs: Column,
    amplitudes: Column,
    rest: f64,
    step: LeastSquares,
}

/// The exponentials whose sum comes nearest to a signal, from near ones on; `None` where they depend on each other.
fn refined(signal: &[Complex64], mut logs: Column) -> Option<Vec<Pole>> {
    let waves = |logs: &Column| -> Vec<Column> { logs.iter().map(|log| powers(*log, signal.len())).collect() };
    let mut amplitudes = LeastSquares::of(waves(&logs), signal.to_vec())?.factors;
    let mut best: Option<Stage> = None;
    for _ in 0..MOST_STEPS {
        let mut columns = waves(&logs);
        let mut rest = signal.to_vec();
        for (wave, amplitude) in columns.iter().zip(&amplitudes) {
            for (value, wave) in rest.iter_mut().zip(wave) {
                *value -= amplitude * wave;
            }
        }
        let size = norm(&rest);
        if !size.is_finite() || best.as_ref().is_some_and(|best| size >= best.rest) {
            break;
        }
        for k in 0..logs.len() {
            #[expect(clippy::cast_precision_loss, reason = "numbers of a signal")]
            let slope = (columns[k].iter().enumerate()).map(|(m, wave)| amplitudes[k] * wave * m as f64);
            columns.push(slope.collect());
        }
        let Some(step) = LeastSquares::of(columns, rest) else {
            break;
        };
        let (by, turn) = step.factors.split_at(logs.len());
        let sum = |a: &Column, b: &[Complex64]| -> Column { a.iter().zip(b).map(|(a, b)| a + b).collect() };
        let next = (sum(&logs, turn), sum(&amplitudes, by));
        best = Some(Stage {
            logs: std::mem::replace(&mut logs, next.0),
            amplitudes: std::mem::replace(&mut amplitudes, next.1),
            rest: size,
            step,
        });
    }
    let best = best?;
    #[expect(clippy::cast_precision_loss, reason = "numbers of a signal")]
    let free = signal.len().saturating_sub(2 * best.logs.len()).max(1) as f64;
    let noise = best.rest / free.sqrt();
    let spread = best.step.spread();
    let (of_amplitudes, of_logs) = spread.split_at(best.logs.len());
    let poles = (0..best.logs.len()).map(|k| Pole {
        log: best.logs[k],
        amplitude: best.amplitudes[k],
        log_noise: noise * of_logs[k],
        amplitude_noise: noise * of_amplitudes[k],
    });
    Some(poles.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without noise the exponentials are exact to rounding, over what separates them: ε/0.05² here.
    #[test]
    fn exponentials_come_back() {
        let exact = [(0.01, 0.30, 1.0), (0.02, 0.35, 0.5), (0.3, -2.0, 0.1), (0.0, 3.1, 2.0)];
        let signal: Column = (0..60u8)
            .map(|m| {
                let term = |(damping, theta, weight): (f64, f64, f64)| {
                    (Complex64::new(-damping, -theta) * f64::from(m)).exp() * weight
                };
                exact.into_iter().map(term).sum()
            })
            .collect();
        let found = poles(&signal);
        for (damping, theta, weight) in exact {
            let near = |pole: &&Pole| (pole.log - Complex64::new(-damping, -theta)).norm() < 1e-10;
            let pole = found.iter().find(near).unwrap();
            assert!((pole.amplitude - weight).norm() < 1e-9, "{}", pole.amplitude);
        }
        assert_eq!(found.len(), 4);
        assert!(poles(&signal[..6]).is_empty());
        assert!(poles(&[Complex64::ZERO; 40]).is_empty());
    }
}

//! ω of a wave along one axis that is stepped by pair partitioning.
//!
//! A step is a product of sweeps over bonds, even ones and odd ones, each of which moves its two sites exactly with masses 2d·m ([`crate::physics::reference::oscillators`]). By Bloch's theorem it acts on
//! (q, p) of an even and of an odd site as a matrix M of 4 × 4 numbers, with M⁻¹ = M with p → −p, since a step is a palindrome: eigenvalues are pairs λ, 1/λ with x = λ + 1/λ = 2 cos ΩΔt. From t = tr M and
//! t₂ = tr M² follow both x = (t ± √(2t₂ + 8 − t²))/2, those of κ = ka and of κ + π; up to κ = π/2 the slower one is that of κ. Bonds of other axes join what moves alike: their sweeps only drift.

use crate::physics::reference::trotter::SUZUKI;
use num_complex::Complex64;

/// (q, p) of the even and of the odd site: q even, q odd, p even, p odd.
type State = [Complex64; 4];

/// Moves the bonds from even sites to the odd ones behind them (`first` = 0), or from odd to even ones (1), for `tau` in units of a/c: m = k = 1.
fn sweep(state: &mut State, first: usize, behind: Complex64, axes: f64, tau: f64) {
    let second = 1 - first;
    let mass = 2.0 * axes;
    let omega = (2.0 / mass).sqrt();
    let (sine, cosine) = (omega * tau).sin_cos();
    let [q1, p1] = [state[first], state[2 + first]];
    let [q2, p2] = [state[second] * behind, state[2 + second] * behind];
    let (momentum, apart, parting) = (p1 + p2, q2 - q1, (p2 - p1) / 2.0);
    let middle = (q1 + q2) / 2.0 + momentum * (tau / (2.0 * mass));
    let half = (apart * cosine + parting * (2.0 / (mass * omega) * sine)) / 2.0;
    let parting = parting * cosine - apart * (mass * omega / 2.0 * sine);
    state[first] = middle - half;
    state[second] = (middle + half) * behind.conj();
    state[2 + first] = momentum / 2.0 - parting;
    state[2 + second] = (momentum / 2.0 + parting) * behind.conj();
}

/// What a step makes of a state.
fn step(mut state: State, kappa: f64, axes: usize, order: u32, angle: f64) -> State {
    #[expect(clippy::cast_precision_loss, reason = "1 or 2")]
    let d = axes as f64;
    let behind = Complex64::cis(kappa);
    let one = [angle];
    let [short, back] = [SUZUKI * angle, (1.0 - 4.0 * SUZUKI) * angle];
    let five = [short, short, back, short, short];
    for tau in if order == 4 { &five[..] } else { &one } {
        sweep(&mut state, 0, behind, d, tau / 2.0);
        sweep(&mut state, 1, behind, d, tau / 2.0);
        for site in 0..2 {
            let drift = state[2 + site] * (tau * (d - 1.0) / d);
            state[site] += drift;
        }
        sweep(&mut state, 1, behind, d, tau / 2.0);
        sweep(&mut state, 0, behind, d, tau / 2.0);
    }
    state
}

/// ΩΔt of κ = ka, −π to π, for steps with cΔt/a = `angle` in so many axes; `None` if they are not stable.
pub(super) fn turn(kappa: f64, axes: usize, order: u32, angle: f64) -> Option<f64> {
    let columns = [0, 1, 2, 3].map(|n| {
        let mut unit = [Complex64::ZERO; 4];
        unit[n] = Complex64::ONE;
        step(unit, kappa, axes, order, angle)
    });
    let trace: f64 = (0..4).map(|n| columns[n][n].re).sum();
    let products = (0..4).flat_map(|i| (0..4).map(move |j| (i, j)));
    let of_square: f64 = products.map(|(i, j)| (columns[i][j] * columns[j][i]).re).sum();
    let square = 2.0 * of_square + 8.0 - trace * trace;
    // Rounding where both meet.
    if square < -1e-9 {
        return None;
    }
    let root = square.max(0.0).sqrt();
    let is_slow = kappa.abs() <= std::f64::consts::FRAC_PI_2;
    let cosine = (trace + if is_slow { root } else { -root }) / 4.0;
    // Rounding of a wave that rests.
    (cosine.abs() < 1.0 + 1e-9).then(|| cosine.clamp(-1.0, 1.0).acos())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long waves of order 2 are too fast by (cΔt/a)²/24d, the next term a square of that with a factor of some units; those of order 4 are off by less than 5e-4 at two thirds of the largest step, as `stability` has it.
    #[test]
    fn long_waves_are_as_fast_as_the_scheme_makes_them() {
        for axes in [1, 2] {
            let kappa = 0.01;
            for angle in [0.1, 0.3, 0.6] {
                #[allow(clippy::cast_precision_loss, reason = "1 or 2")]
                let excess = angle * angle / (24.0 * axes as f64);
                let found = turn(kappa, axes, 2, angle).unwrap_or(f64::NAN) / (kappa * angle) - 1.0;
                assert!(
                    (found - excess).abs() < 4.0 * excess * excess + 1e-5,
                    "{axes}: {found} for {excess}"
                );
                let found = turn(kappa, axes, 4, angle).unwrap_or(f64::NAN) / (kappa * angle) - 1.0;
                assert!(found.abs() < 5e-4, "{axes}: {found}");
            }
        }
        // Beyond the stability limits of 1.72 and 1.11 some waves grow.
        assert_eq!((turn(1.5, 1, 2, 1.8), turn(3.0, 2, 2, 1.8)), (None, None));
        assert!((1..32).all(|n| turn(0.1 * f64::from(n), 1, 2, 1.72).is_some()));
    }
}

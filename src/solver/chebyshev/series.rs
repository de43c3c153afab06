//! The coefficients of e^{−iHΔt} in Chebyshev polynomials, and the number of them for a tolerance.

use num_complex::Complex64;

/// An interval that holds the spectrum of H, and the largest W of −iW beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spectrum {
    pub low: f64,
    pub high: f64,
    pub absorption: f64,
}

impl Spectrum {
    /// Middle of the interval that becomes −1 .. 1.
    pub(super) fn center(&self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    /// Half its width. With absorption it is W wider on either side, which keeps the numerical range of H − iW away from the foci ±1.
    pub(super) fn radius(&self) -> f64 {
        ((self.high - self.low) / 2.0 + self.absorption).max(f64::MIN_POSITIVE)
    }

    /// Smaller half axis b of the ellipse with foci ±1 through the corner x − iy of the numerical range: |Tₙ| ≤ (b + √(1 + b²))ⁿ on it.
    fn half_axis(&self) -> f64 {
        let y = self.absorption / self.radius();
        let x = 1.0 - y;
        let p = 1.0 - x * x - y * y;
        (((p * p + 4.0 * y * y).sqrt() - p) / 2.0).max(0.0).sqrt()
    }
}

/// e^{−iHΔt} = (Σₙ `weights[n]` Tₙ((H − c)/r))^`pieces`, all but `tolerance` of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Series {
    /// An even number of them.
    pub weights: Vec<Complex64>,
    pub pieces: usize,
}

impl Series {
    /// (2 − δₙ₀)(−i)ⁿ Jₙ(rτ)e^{−icτ}, τ = Δt/pieces. A piece is so short that no term exceeds e³: Tₙ grows off the real axis, and the sum would cancel.
    pub(super) fn new(spectrum: &Spectrum, dt: f64, tolerance: f64) -> Self {
        let b = spectrum.half_axis();
        let whole = spectrum.radius() * dt.abs();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let pieces = (whole * b / 3.0).ceil().max(1.0) as usize;
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let (z, tau) = (whole / pieces as f64, dt / pieces as f64);
        let growth = b + (1.0 + b * b).sqrt();
        // Crouzeix and Palencia 2017: ‖f(A)‖ ≤ (1 + √2) max |f| on the numerical range, doi:10.1137/17M1116672.
        let share = if b > 0.0 { 1.0 + std::f64::consts::SQRT_2 } else { 1.0 };
        let bessel = bessel_j(z);
        let mut rest = 0.0;
        let mut count = bessel.len();
        while count > 1 {
            rest += 2.0 * share * bessel[count - 1].abs() * growth.powf(real(count - 1));
            if rest > tolerance {
                break;
            }
            count -= 1;
        }
        let back = dt < 0.0;
        let mut power = Complex64::cis(-spectrum.center() * tau);
        let turn = Complex64::new(0.0, if back { 1.0 } else { -1.0 });
        let weights = (0..count.next_multiple_of(2)).map(|n| {
            let weight = power * bessel.get(n).copied().unwrap_or(0.0) * if n == 0 { 1.0 } else { 2.0 };
            power *= turn;
            weight
        });
        Self {
            weights: weights.collect(),
            pieces,
        }
    }

    /// Terms of a step.
    pub(super) fn terms(&self) -> usize {
        self.weights.len() * self.pieces
    }
}

/// J₀(z), J₁(z), … until they vanish, z ≥ 0, by Miller's recurrence downwards; the scale from J₀² + 2ΣJₙ² = 1, in which nothing cancels.
fn bessel_j(z: f64) -> Vec<f64> {
    const LARGE: f64 = 1e100;
    if z < 1e-20 {
        return vec![1.0];
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let last = (z + 20.0 * z.cbrt() + 50.0) as usize;
    let mut all = vec![0.0; last + 2];
    all[last] = 1.0 / LARGE;
    for n in (1..=last).rev() {
        all[n - 1] = 2.0 * real(n) / z * all[n] - all[n + 1];
        if all[n - 1].abs() > LARGE {
            all[n - 1..].iter_mut().for_each(|value| *value /= LARGE);
        }
    }
    let squares: f64 = all[1..].iter().map(|value| value * value).sum();
    let scale = (all[0] * all[0] + 2.0 * squares).sqrt();
    for value in &mut all {
        *value /= scale;
    }
    all
}

#[expect(clippy::cast_precision_loss, reason = "orders of Bessel functions")]
fn real(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz & Stegun, table 9.1 (10 digits there, more from the series).
    #[test]
    fn bessel_functions_are_the_tabulated_ones() {
        let known = [
            (1.0, 0, 0.765_197_686_557_966_6),
            (1.0, 1, 0.440_050_585_744_933_5),
            (1e-3, 1, 4.999_999_375_000_026e-4),
            (10.0, 0, -0.245_935_764_451_348_3),
            (10.0, 1, 0.043_472_746_168_861_44),
            (10.0, 10, 0.207_486_106_633_358_86),
        ];
        for (z, n, value) in known {
            assert!((bessel_j(z)[n] - value).abs() < 1e-15, "J{n}({z}) = {}", bessel_j(z)[n]);
        }
    }

    /// On every eigenvalue x − iy the sum is the exponential: a diagonal H shows it, forwards and back, with and without absorption.
    #[test]
    fn the_sum_is_the_exponential_on_the_whole_spectrum() {
        for (absorption, dt) in [(0.0, 0.01), (0.0, 300.0), (0.4, 3.0), (0.4, -30.0), (5.0, 7.0)] {
            let spectrum = Spectrum {
                low: -1.5,
                high: 6.0,
                absorption,
            };
            let series = Series::new(&spectrum, dt, f64::EPSILON);
            for n in 0..=40 {
                let energy = -1.5 + 7.5 * f64::from(n) / 40.0;
                for loss in [0.0, absorption / 2.0, absorption] {
                    let loss = loss.copysign(dt);
                    let x = Complex64::new(energy - spectrum.center(), -loss) / spectrum.radius();
                    let (mut before, mut here) = (Complex64::ONE, x);
                    let mut sum = series.weights[0] + series.weights[1] * x;
                    for weight in &series.weights[2..] {
                        (before, here) = (here, 2.0 * x * here - before);
                        sum += weight * here;
                    }
                    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "small")]
                    let power = sum.powi(series.pieces as i32);
                    let exact = Complex64::from_polar((-loss * dt).exp(), -energy * dt);
                    // e³ε of cancelling, a few ε an argument of 300 · 3.75 for phases and the recurrence.
                    let allowed = 1e-13 * (1.0 + dt.abs() / 10.0);
                    assert!(
                        (power - exact).norm() < allowed,
                        "{energy} − {loss}i, Δt = {dt}: {power} {exact}"
                    );
                }
            }
        }
    }
}

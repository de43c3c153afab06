//! What an absorbing layer reflects: the discrete scheme with its layer, solved exactly for a plane wave.
//!
//! On the half line x ≥ 0 that ends in a layer, p = e^(iωn + iκᵧj) pᵢ. Away from the layer pᵢ = e^(iκₓi) + R e^(−iκₓi); ω follows from the dispersion of the scheme.
//! With z = e^(iω) a memory's factor is A + B − A(1 − A − B)/(z − A), and 1 where A = 1.

use super::cpml::{Layer, leak};
use super::lattice::Lattice;
use super::stencil::{COEFFICIENTS, FLUX, courant_limit};
use crate::grid::{Edge, Grid};
use crate::solver::SolverError;
use crate::solver::acoustic::guides::Surroundings;
use num_complex::Complex64;

/// Sites between the layer and the place where the wave is prescribed: waves beside the plane one have died out by then.
const FREE: usize = 30;

/// |R| of a plane wave of `wavelength` sites at `angle` to the normal, in radians, for layers of `width` sites and a stencil of half width `half` in two
/// dimensions; `share` is Δt over the largest stable one.
///
/// # Errors
/// If there is no memory.
#[expect(clippy::cast_precision_loss, reason = "a few dozen sites")]
pub fn reflected(
    half: usize,
    width: usize,
    surroundings: Surroundings,
    share: f64,
    wavelength: f64,
    angle: f64,
) -> Result<f64, SolverError> {
    let n = width + FREE;
    let square = (share * courant_limit(half, 2)).powi(2);
    let grid = Grid::new(&[1, 2 * n], 1.0).with_edges([Edge::Wall, Edge::Absorb, Edge::Wall], width);
    let mut shape = Layer::<f64>::new(&Lattice::new(&grid, half), 1, width)?.shape;
    shape.set_step([square.sqrt(); 2], surroundings);
    let leak = leak(surroundings, width, square.sqrt());
    let kappa = std::f64::consts::TAU / wavelength;
    let [along, across] = [angle.cos(), angle.sin()].map(|part| kappa * part);
    let bend = symbol(half, across);
    let omega = 2.0 * (square * (symbol(half, along) + bend) / 4.0).sqrt().asin();
    let z = Complex64::cis(omega);
    let factor = |n: usize, slot: usize| {
        let [a, b] = [n, n + 3].map(|n| shape.factors()[n].get(slot).copied().unwrap_or_default());
        if slot < width && a < 1.0 {
            a + b - a * (1.0 - a - b) / (z - a)
        } else {
            Complex64::ONE
        }
    };
    let wave = |i: usize| Complex64::cis(along * i as f64);
    let mut system = vec![vec![Complex64::ZERO; n + 2]; n + 1];
    for (i, row) in system.iter_mut().enumerate() {
        // The last equations say that the wave is a plane one.
        if i + 1 >= n {
            let at = 2 * n - 2 - i;
            row[at] = Complex64::ONE;
            row[n] = -wave(at).conj();
            row[n + 1] = wave(at);
            continue;
        }
        let mut add = |at: isize, value: Complex64| {
            let at = if at < 0 { -1 - at } else { at }.unsigned_abs();
            if at < n {
                row[at] += value;
            } else {
                row[n] += value * wave(at).conj();
                row[n + 1] -= value * wave(at);
            }
        };
        let own = square * factor(2, i);
        for (m, weight) in FLUX[half][..half].iter().enumerate() {
            let (i, m) = (i.cast_signed(), m.cast_signed());
            let [below, above] = [0, 1].map(|n| own * *weight * factor(n, i.unsigned_abs()));
            add(i + 1 + m, above);
            add(i - m, -above);
            add(i + m, -below);
            add(i - 1 - m, below);
        }
        let damped = if i < width {
            leak[i] * (z - 1.0 / z)
        } else {
            Complex64::ZERO
        };
        let here = Complex64::from(-square * bend) - (z - 2.0 + 1.0 / z) - damped;
        add(i.cast_signed(), here);
    }
    Ok(solve(&mut system).norm())
}

/// −p″ on a wave of κ a site.
#[expect(clippy::cast_precision_loss, reason = "at most 4")]
fn symbol(half: usize, kappa: f64) -> f64 {
    let terms = COEFFICIENTS[half][1..=half].iter().enumerate();
    terms
        .map(|(k, c)| 2.0 * c * (1.0 - ((k + 1) as f64 * kappa).cos()))
        .sum()
}

/// The last unknown of a system whose rows end in their right-hand sides.
fn solve(rows: &mut [Vec<Complex64>]) -> Complex64 {
    let n = rows.len();
    for column in 0..n {
        let largest = (column..n).max_by(|a, b| rows[*a][column].norm().total_cmp(&rows[*b][column].norm()));
        rows.swap(column, largest.unwrap_or(column));
        let (done, rest) = rows.split_at_mut(column + 1);
        let pivot = &done[column];
        for row in rest {
            let ratio = row[column] / pivot[column];
            for (value, by) in row[column..].iter_mut().zip(&pivot[column..]) {
                *value -= ratio * by;
            }
        }
    }
    rows[n - 1][n] / rows[n - 1][n - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the documentation promises: at most −80 dB with 20 sites, from 8 to 80 sites a wavelength and up to 75°, at every order.
    #[test]
    fn twenty_sites_send_back_less_than_a_ten_thousandth() {
        use Surroundings::{Guide, Open};
        for (half, surroundings) in [1, 2, 3, 4].into_iter().flat_map(|half| [(half, Open), (half, Guide)]) {
            for wavelength in [8.0, 12.0, 20.0, 40.0, 80.0] {
                for angle in [0.0f64, 15.0, 30.0, 45.0, 60.0, 75.0] {
                    let share = if half == 1 { 0.9 } else { 0.5 };
                    let r = reflected(half, 20, surroundings, share, wavelength, angle.to_radians()).unwrap();
                    let limit = if surroundings == Guide { 3e-5 } else { 1e-5 };
                    assert!(
                        r < limit,
                        "half {half}, {surroundings:?}, {wavelength} sites, {angle}°: {r:e}"
                    );
                }
            }
        }
    }

    /// What stability costs in guides with obstacles, as the documentation says: −61 dB with 20 sites up to 60°, −49 dB up to 75°, and −94 dB with 64; in thin layers most of all.
    #[test]
    fn guides_with_obstacles_pay_with_reflection() {
        for half in [1, 2, 3, 4] {
            for (width, limits) in [
                (8, [0.08, 0.25]),
                (20, [9e-4, 3.5e-3]),
                (32, [8e-5, 5e-4]),
                (64, [3e-6, 2e-5]),
            ] {
                for wavelength in [8.0, 20.0, 80.0] {
                    for (angle, limit) in [
                        (0.0f64, limits[0]),
                        (30.0, limits[0]),
                        (60.0, limits[0]),
                        (75.0, limits[1]),
                    ] {
                        let share = if half == 1 { 0.9 } else { 0.5 };
                        let surroundings = Surroundings::GuideWithObstacles;
                        let r = reflected(half, width, surroundings, share, wavelength, angle.to_radians()).unwrap();
                        assert!(
                            r < limit,
                            "half {half}, {width} sites, {wavelength} sites, {angle}°: {r:e}"
                        );
                    }
                }
            }
        }
    }

    /// Without a layer worth the name everything comes back.
    #[test]
    fn a_closed_end_sends_everything_back() {
        let r = reflected(2, 0, Surroundings::Open, 0.5, 20.0, 0.3).unwrap();
        assert!((r - 1.0).abs() < 1e-9, "{r}");
    }
}

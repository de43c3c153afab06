//! Wigner's and Husimi's functions of a wave on a line: where it is and how fast it goes, in one picture.
//!
//! With ħ = 1 and ψ between the sites by the sum of its Fourier modes (outside the grid it is 0),
//!
//! W(x, k) = (1/π) ∫ ψ*(x + s) ψ(x − s) e^{2iks} ds,   ∫W dk = |ψ(x)|²,   ∫W dx = |ψ(k)|²,   −1/π ≤ W ≤ 1/π,
//!
//! Q(x, k) = (1/2π) |∫ g(x′ − x) e^{−ikx′} ψ(x′) dx′|²,   g the Gaussian of |g|² with the standard deviation σ:
//!
//! W smeared with the smallest cell that Heisenberg leaves, and nowhere negative.
//!
//! E. Wigner, Phys. Rev. 40 (1932) 749, doi 10.1103/PhysRev.40.749; K. Husimi, Proc. Phys.-Math. Soc. Jpn. 22 (1940) 264,
//! doi 10.11429/ppmsj1919.22.4_264.

use crate::field::FieldData;
use crate::grid::Grid;
use num_complex::Complex64;
use rayon::prelude::*;
use rustfft::FftPlanner;
use std::f64::consts::{PI, TAU};

/// Sites beyond which the N² values of a picture are more than anybody looks at.
pub const MOST_SITES: usize = 8192;

/// A function of place and momentum: of N sites, N momenta 2π(m − ⌊N/2⌋)/(N a), rows of places, the lowest momentum first.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSpace {
    /// N.
    pub sites: usize,
    /// a.
    pub spacing: f64,
    /// N² values, places fastest.
    pub values: Vec<f64>,
}

impl PhaseSpace {
    /// Wigner's function of a field on a line, not normalised again.
    ///
    /// # Panics
    /// If the field has another number of sites than the grid, or the grid is no line.
    #[must_use]
    pub fn wigner(grid: &Grid, field: &FieldData) -> Self {
        let sites = line(grid, field);
        let fine = between(&(0..sites).map(|n| field.at(n)).collect::<Vec<_>>());
        // Products ψ*(x + ma/2)ψ(x − ma/2) of −N < m < N, transformed over 2N: every second momentum is shown.
        let length = 2 * sites;
        let fft = FftPlanner::new().plan_fft_inverse(length);
        let scale = grid.spacing() / TAU;
        let mut columns = vec![0.0; sites * sites];
        columns.par_chunks_mut(sites).enumerate().for_each_init(
            || {
                (
                    vec![Complex64::ZERO; length],
                    vec![Complex64::ZERO; fft.get_inplace_scratch_len()],
                )
            },
            |(products, scratch), (n, column)| {
                products.fill(Complex64::ZERO);
                let here = 2 * n;
                let reach = here.min(fine.len() - 1 - here).min(sites - 1);
                for m in 0..=reach {
                    let product = fine[here + m].conj() * fine[here - m];
                    products[m] += product;
                    if m > 0 {
                        products[length - m] += product.conj();
                    }
                }
                fft.process_with_scratch(products, scratch);
                for (k, value) in column.iter_mut().enumerate() {
                    *value = scale * products[2 * turned(k, sites)].re;
                }
            },
        );
        Self::of_columns(grid, &columns)
    }

    /// Husimi's function of a field on a line, with coherent states of the width σ.
    ///
    /// # Panics
    /// As [`PhaseSpace::wigner`].
    #[must_use]
    pub fn husimi(grid: &Grid, field: &FieldData, sigma: f64) -> Self {
        let sites = line(grid, field);
        let spacing = grid.spacing();
        let fft = FftPlanner::new().plan_fft_forward(sites);
        // |g|² has the integral 1.
        let height = (TAU * sigma * sigma).powf(-0.25);
        let window: Vec<f64> = (0..sites)
            .map(|n| height * (-(distance(n, 0, spacing) / (2.0 * sigma)).powi(2)).exp())
            .collect();
        let scale = spacing * spacing / TAU;
        let mut columns = vec![0.0; sites * sites];
        columns.par_chunks_mut(sites).enumerate().for_each_init(
            || {
                (
                    vec![Complex64::ZERO; sites],
                    vec![Complex64::ZERO; fft.get_inplace_scratch_len()],
                )
            },
            |(seen, scratch), (n, column)| {
                for (m, value) in seen.iter_mut().enumerate() {
                    *value = field.at(m) * window[m.abs_diff(n)];
                }
                fft.process_with_scratch(seen, scratch);
                for (k, value) in column.iter_mut().enumerate() {
                    *value = scale * seen[turned(k, sites)].norm_sqr();
                }
            },
        );
        Self::of_columns(grid, &columns)
    }

    /// The width σ of coherent states that are round in a picture of N × N: σ over the line's length is 1/2σ over the band's width.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub fn round_width(grid: &Grid) -> f64 {
        grid.spacing() * (grid.size()[0] as f64 / (4.0 * PI)).sqrt()
    }

    /// The momentum of a row.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub fn momentum(&self, row: usize) -> f64 {
        TAU * (row as f64 - (self.sites / 2) as f64) / (self.sites as f64 * self.spacing)
    }

    /// The value at a site and row.
    pub fn at(&self, site: usize, row: usize) -> f64 {
        self.values[row * self.sites + site]
    }

    /// The least and the largest value.
    pub fn range(&self) -> [f64; 2] {
        let ends = self
            .values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(*value), high.max(*value))
            });
        [ends.0, ends.1]
    }

    /// ∬ of what is negative, without its sign: 0 for Gaussians and mixtures of them, and nothing else that is pure (R. L. Hudson 1974).
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub fn negativity(&self) -> f64 {
        let cell = TAU / self.sites as f64;
        self.values.iter().map(|value| (-value).max(0.0)).sum::<f64>() * cell
    }

    /// Rows of places from columns of momenta.
    fn of_columns(grid: &Grid, columns: &[f64]) -> Self {
        let sites = grid.size()[0];
        let mut values = vec![0.0; sites * sites];
        values.par_chunks_mut(sites).enumerate().for_each(|(row, out)| {
            for (n, value) in out.iter_mut().enumerate() {
                *value = columns[n * sites + row];
            }
        });
        Self {
            sites,
            spacing: grid.spacing(),
            values,
        }
    }
}

/// The sites of a field on a line.
fn line(grid: &Grid, field: &FieldData) -> usize {
    assert!(grid.rank() == 1, "a function of place and momentum needs a line");
    assert_eq!(field.len(), grid.sites(), "one value a site");
    grid.sites()
}

#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn distance(a: usize, b: usize, spacing: f64) -> f64 {
    a.abs_diff(b) as f64 * spacing
}

/// The place in a transform of N of row `k`, whose momentum is 2π(k − ⌊N/2⌋)/(N a).
fn turned(k: usize, sites: usize) -> usize {
    (k + sites - sites / 2) % sites
}

/// The field at half spacings, 2N − 1 values: the sum of the modes of the field among as many zeros again, so that its ends do not meet.
fn between(psi: &[Complex64]) -> Vec<Complex64> {
    let padded = 2 * psi.len();
    let mut planner = FftPlanner::new();
    let mut modes = psi.to_vec();
    modes.resize(padded, Complex64::ZERO);
    planner.plan_fft_forward(padded).process(&mut modes);
    let mut fine = vec![Complex64::ZERO; 2 * padded];
    let half = padded / 2;
    fine[..half].copy_from_slice(&modes[..half]);
    fine[2 * padded - half + 1..].copy_from_slice(&modes[half + 1..]);
    // The mode at the edge of the band goes both ways.
    fine[half] = modes[half] / 2.0;
    fine[2 * padded - half] = modes[half] / 2.0;
    planner.plan_fft_inverse(2 * padded).process(&mut fine);
    fine.truncate(2 * psi.len() - 1);
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    let by = 1.0 / padded as f64;
    for value in &mut fine {
        *value *= by;
    }
    fine
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITES: usize = 120;
    const SPACING: f64 = 0.25;

    fn place(n: usize) -> f64 {
        distance(n, 0, SPACING) - distance(SITES / 2, 0, SPACING)
    }

    fn grid() -> Grid {
        Grid::new(&[SITES], SPACING)
    }

    fn field(of: impl Fn(f64) -> Complex64) -> FieldData {
        FieldData::Complex128((0..SITES).map(|n| of(place(n))).collect())
    }

    /// A Gaussian at x₀ with momentum k₀: W = (1/π) exp(−(x − x₀)²/2w² − 2w²(k − k₀)²). What its tails leave out is below e^{−40}.
    #[test]
    fn wigner_of_a_gaussian() {
        let (x0, k0, w) = (1.5, -1.3, 0.9f64);
        let psi = field(|x| {
            Complex64::from_polar(
                (TAU * w * w).powf(-0.25) * (-((x - x0) / (2.0 * w)).powi(2)).exp(),
                k0 * x,
            )
        });
        let found = PhaseSpace::wigner(&grid(), &psi);
        for row in 0..SITES {
            for n in 0..SITES {
                let (x, k) = (place(n) - x0, found.momentum(row) - k0);
                let exact = (-x * x / (2.0 * w * w) - 2.0 * w * w * k * k).exp() / PI;
                assert!(
                    (found.at(n, row) - exact).abs() < 1e-12,
                    "{x} {k}: {} {exact}",
                    found.at(n, row)
                );
            }
        }
        assert!(found.negativity() < 1e-9, "{}", found.negativity());
    }

    /// The first excited state of an oscillator, with ρ² = x²/s² + s²k²: W = (2ρ² − 1) e^{−ρ²}/π, −1/π in the middle, and ∬ of its negative part 2e^{−½} − 1.
    #[test]
    fn wigner_of_the_first_excited_state() {
        let s = 1.1f64;
        let psi = field(|x| Complex64::from((4.0 / (PI * s.powi(6))).powf(0.25) * x * (-(x / s).powi(2) / 2.0).exp()));
        let found = PhaseSpace::wigner(&grid(), &psi);
        for row in 0..SITES {
            for n in 0..SITES {
                let square = (place(n) / s).powi(2) + (s * found.momentum(row)).powi(2);
                let exact = (2.0 * square - 1.0) * (-square).exp() / PI;
                assert!((found.at(n, row) - exact).abs() < 1e-12, "{} {exact}", found.at(n, row));
            }
        }
        assert!((found.at(SITES / 2, SITES / 2) + 1.0 / PI).abs() < 1e-12);
        assert!((found.range()[0] + 1.0 / PI).abs() < 1e-12);
        // The integral of |W|₋ of a kink at ρ² = ½, by cells of 0.05: off by their square.
        let exact = 2.0 * (-0.5f64).exp() - 1.0;
        assert!(
            (found.negativity() - exact).abs() < 2e-2 * exact,
            "{} {exact}",
            found.negativity()
        );
    }

    /// Sums over one give the density of the other, for any state in the band.
    #[test]
    fn marginals_are_densities() {
        let psi = field(|x| {
            (-(x - 0.4) * (x - 0.4) / 3.0).exp() * Complex64::new(1.0 + x, 0.3 * x * x - 0.7) * Complex64::cis(1.9 * x)
        });
        let found = PhaseSpace::wigner(&grid(), &psi);
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let step = TAU / (SITES as f64 * SPACING);
        for n in 0..SITES {
            let sum: f64 = (0..SITES).map(|row| found.at(n, row)).sum::<f64>() * step;
            assert!((sum - psi.at(n).norm_sqr()).abs() < 1e-12, "{n}: {sum}");
        }
        for row in 0..SITES {
            let k = found.momentum(row);
            let wave: Complex64 = (0..SITES)
                .map(|n| psi.at(n) * Complex64::cis(-k * place(n)))
                .sum::<Complex64>()
                * SPACING;
            let sum: f64 = (0..SITES).map(|n| found.at(n, row)).sum::<f64>() * SPACING;
            assert!(
                (sum - wave.norm_sqr() / TAU).abs() < 1e-11,
                "{k}: {sum} {}",
                wave.norm_sqr() / TAU
            );
        }
    }

    /// Of a Gaussian of the width w seen with σ: Q = exp(−x²/2S² − k²/2K²)/(2πSK), S² = w² + σ², K² = 1/4w² + 1/4σ². It is nowhere negative, and its integral is 1.
    #[test]
    fn husimi_of_a_gaussian() {
        let (w, sigma, k0) = (0.8f64, 1.2f64, 0.9);
        let psi =
            field(|x| Complex64::from_polar((TAU * w * w).powf(-0.25) * (-(x / (2.0 * w)).powi(2)).exp(), k0 * x));
        let found = PhaseSpace::husimi(&grid(), &psi, sigma);
        let (long, wide) = (w * w + sigma * sigma, 0.25 * (1.0 / (w * w) + 1.0 / (sigma * sigma)));
        for row in 0..SITES {
            for n in 0..SITES {
                let (x, k) = (place(n), found.momentum(row) - k0);
                let exact = (-x * x / (2.0 * long) - k * k / (2.0 * wide)).exp() / (TAU * (long * wide).sqrt());
                assert!((found.at(n, row) - exact).abs() < 1e-12, "{} {exact}", found.at(n, row));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let sum = found.values.iter().sum::<f64>() * TAU / SITES as f64;
        assert!((sum - 1.0).abs() < 1e-10 && found.range()[0] >= 0.0, "{sum}");
    }
}

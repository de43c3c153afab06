//! Sums over momenta: a Fourier transform of every line along an axis.

use super::SumsAlong;
use crate::field::{FieldData, Real, wide};
use crate::grid::Grid;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use rustfft::{Fft, FftPlanner};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Lines that are gathered together: neighbours in memory are read at once.
const TOGETHER: usize = 16;

/// The momentum of line `n` of a transform over `sites` sites; that at the edge of the band stands for both directions, half for each: 0 in the mean, k² in the spread.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
pub(crate) fn wave_number(n: usize, sites: usize, spacing: f64) -> f64 {
    let signed = if 2 * n > sites {
        n as f64 - sites as f64
    } else {
        n as f64
    };
    TAU * signed / (sites as f64 * spacing)
}

/// The sums along an axis. Lines along x are weighted with y − y₀, those along y with x − x₀.
pub(super) fn along(grid: &Grid, field: &FieldData, axis: usize, planner: &mut FftPlanner<f64>) -> SumsAlong {
    let size = grid.size();
    let sites = size[axis];
    let inner: usize = size[..axis].iter().product();
    let fft = planner.plan_fft_forward(sites);
    let momenta: Vec<f64> = (0..sites).map(|n| wave_number(n, sites, grid.spacing())).collect();
    // Lines whose sites lie `inner` apart, in groups of neighbours.
    let together = TOGETHER.min(inner);
    let groups = inner.div_ceil(together);
    let outer = grid.sites() / (inner * sites);
    let parts: Vec<SumsAlong> = (0..outer * groups)
        .into_par_iter()
        .map_init(
            || (Vec::new(), vec![Complex64::ZERO; fft.get_inplace_scratch_len()]),
            |(lines, scratch), group| {
                let first = group % groups * together;
                let count = together.min(inner - first);
                let base = group / groups * inner * sites + first;
                gather(field, base, inner, (count, sites), lines);
                lines
                    .chunks_mut(sites)
                    .enumerate()
                    .fold(SumsAlong::default(), |all, (n, line)| {
                        let mut site = grid.site(base + n);
                        site[axis] = 0;
                        all.and(&transformed(line, scratch, &fft, &momenta), weight(grid, axis, site))
                    })
            },
        )
        .collect();
    parts.iter().fold(SumsAlong::default(), |all, part| SumsAlong {
        norm: all.norm + part.norm,
        first: all.first + part.first,
        second: all.second + part.second,
        weighted: all.weighted + part.weighted,
    })
}

impl SumsAlong {
    /// These sums and those of a line of this weight.
    fn and(self, line: &Self, weight: f64) -> Self {
        Self {
            norm: self.norm + line.norm,
            first: self.first + line.first,
            second: self.second + line.second,
            weighted: self.weighted + weight * line.first,
        }
    }
}

/// How far a line along `axis` lies from the middle of the grid, along the other axis of the plane.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn weight(grid: &Grid, axis: usize, site: [usize; 3]) -> f64 {
    if axis > 1 {
        return 0.0;
    }
    let across = 1 - axis;
    (site[across] as f64 - (grid.size()[across] - 1) as f64 / 2.0) * grid.spacing()
}

/// `count` lines of `sites` sites, one behind the other.
fn gather(field: &FieldData, base: usize, inner: usize, (count, sites): (usize, usize), lines: &mut Vec<Complex64>) {
    lines.clear();
    lines.resize(count * sites, Complex64::ZERO);
    match field {
        FieldData::Complex64(psi) => scatter(psi, base, inner, (count, sites), lines),
        FieldData::Complex128(psi) => scatter(psi, base, inner, (count, sites), lines),
        FieldData::Float32(_) | FieldData::Float64(_) => {
            for n in 0..sites {
                for line in 0..count {
                    lines[line * sites + n] = field.at(base + n * inner + line);
                }
            }
        }
    }
}

fn scatter<T: Real>(
    psi: &[Complex<T>],
    base: usize,
    inner: usize,
    (count, sites): (usize, usize),
    lines: &mut [Complex64],
) {
    for n in 0..sites {
        for (line, psi) in psi[base + n * inner..][..count].iter().enumerate() {
            lines[line * sites + n] = wide(*psi);
        }
    }
}

/// The sums of one line, which is transformed in place. Parseval: Σ_k |ψ(k)|²/N is Σ|ψ|² of the line.
fn transformed(
    line: &mut [Complex64],
    scratch: &mut [Complex64],
    fft: &Arc<dyn Fft<f64>>,
    momenta: &[f64],
) -> SumsAlong {
    fft.process_with_scratch(line, scratch);
    const WIDE: usize = 4;
    let mut sums = [[0.0; WIDE]; 3];
    let edge = if line.len().is_multiple_of(2) {
        line.len() / 2
    } else {
        line.len()
    };
    for (n, (value, k)) in line.iter().zip(momenta).enumerate() {
        let (density, lane) = (value.norm_sqr(), n % WIDE);
        sums[0][lane] += density;
        sums[1][lane] += if n == edge { 0.0 } else { k * density };
        sums[2][lane] += k * k * density;
    }
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    let by = line.len() as f64;
    let [norm, first, second] = sums.map(|lanes| lanes.iter().sum::<f64>() / by);
    SumsAlong {
        norm,
        first,
        second,
        weighted: 0.0,
    }
}

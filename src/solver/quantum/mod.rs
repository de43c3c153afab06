//! What methods for the Schrödinger equation share.

pub(super) mod kick;
pub(super) mod on_host;
mod span;
mod sums;

pub(super) use span::potential_span;
pub use span::{interaction_energy, soliton};

use super::SolverError;
use super::clock::RunClock;
use super::taps::Taps;
use crate::backend::threads;
use crate::field::{FieldData, Precision, Real, narrow, wide};
use crate::grid::Grid;
use crate::physics::{Bonds, Measure, Medium, Quantum, Sets};
use crate::scene::{Objection, Scenario};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// `scale`·e^{i angle}, rounded so that in single precision the modulus is as near to `scale` as neighbouring numbers allow:
/// a factor that is applied every step must not drift.
pub fn rotation<T: Real>(scale: f64, angle: f64) -> Complex<T> {
    let exact = Complex::from_polar(scale, angle);
    let mut best = Complex::new(T::of(exact.re), T::of(exact.im));
    if T::PRECISION == Precision::Double {
        return best;
    }
    let miss = |z: &Complex<T>| (z.re.wide().powi(2) + z.im.wide().powi(2) - scale * scale).abs();
    let around = |x: f64| [T::of(x), T::of(x * (1.0 + 6e-8)), T::of(x * (1.0 - 6e-8))];
    for re in around(exact.re) {
        for im in around(exact.im) {
            let candidate = Complex::new(re, im);
            if miss(&candidate) < miss(&best) {
                best = candidate;
            }
        }
    }
    best
}

/// Zeros for as many sites.
///
/// # Errors
/// [`SolverError::OutOfMemory`].
pub fn allocate<V: Clone + Default + Send>(sites: usize, what: &str) -> Result<Vec<V>, SolverError> {
    let mut all = Vec::new();
    all.try_reserve_exact(sites).map_err(|_| SolverError::OutOfMemory {
        what: what.to_owned(),
        needed: (sites * size_of::<V>()) as u64,
        available: 0,
    })?;
    all.par_extend(rayon::iter::repeat_n(V::default(), sites));
    Ok(all)
}

/// A value a site, x fastest, read row by row: `fill(j, k, row)` writes those of row (j, k).
pub fn at_sites<T: Real>(grid: &Grid, fill: impl Fn(usize, usize, &mut [f64]) + Sync) -> Vec<T> {
    let [nx, ny, _] = grid.size();
    let mut all = vec![T::zero(); grid.sites()];
    all.par_chunks_mut(nx).enumerate().for_each_init(
        || vec![0.0; nx],
        |row, (n, out)| {
            fill(n % ny, n / ny, row);
            for (value, wide) in out.iter_mut().zip(row) {
                *value = T::of(*wide);
            }
        },
    );
    all
}

/// Whether a wall stands at each site, x fastest; empty where the medium has none.
pub fn walls(medium: &Medium) -> Vec<bool> {
    if !medium.has(Sets::Wall) {
        return Vec::new();
    }
    let [nx, ny, _] = medium.grid().size();
    let mut all = vec![false; medium.grid().sites()];
    all.par_chunks_mut(nx)
        .enumerate()
        .for_each(|(n, out)| medium.wall_row(n % ny, n / ny, 0..nx, out));
    all
}

/// The state at t = 0, x fastest, 0 on walls, normalised in double precision where the scene says so.
///
/// # Errors
/// [`SolverError::OutOfMemory`].
pub fn initial_field<T: Real>(scenario: &Scenario) -> Result<Vec<Complex<T>>, SolverError> {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    let [nx, ny, _] = grid.size();
    let initial = scenario.initial();
    let rows = initial.rows(grid);
    let mut psi: Vec<Complex<T>> = allocate(grid.sites(), "the field")?;
    let sums: Vec<f64> = psi
        .par_chunks_mut(nx)
        .enumerate()
        .map_init(
            || (vec![Complex64::ZERO; nx], vec![false; nx]),
            |(row, walls), (n, out)| {
                rows.fill(n % ny, n / ny, row);
                medium.wall_row(n % ny, n / ny, 0..nx, walls);
                for ((value, wide), wall) in out.iter_mut().zip(row.iter_mut()).zip(walls) {
                    if *wall {
                        *wide = Complex64::ZERO;
                    }
                    *value = narrow(*wide);
                }
                row.iter().map(Complex64::norm_sqr).sum()
            },
        )
        .collect();
    let norm = sums.into_iter().sum::<f64>() * grid.cell_volume();
    if initial.normalised() && norm > 0.0 {
        let scale = T::of(1.0 / norm.sqrt());
        psi.par_iter_mut().for_each(|value| *value = value.scale(scale));
    }
    Ok(psi)
}

/// ψ of a scene at t = 0, x fastest, as every method of this precision starts from it.
///
/// # Errors
/// [`SolverError::OutOfMemory`].
pub fn initial_state(scenario: &Scenario, precision: Precision) -> Result<FieldData, SolverError> {
    Ok(match precision {
        Precision::Single => FieldData::Complex64(threads::run(|| initial_field(scenario))?),
        Precision::Double => FieldData::Complex128(threads::run(|| initial_field(scenario))?),
    })
}

/// Records what the detectors measure of ψ, x fastest; `energy` is that of the whole field.
pub fn record<T: Real>(
    taps: &mut Taps,
    clock: &RunClock,
    grid: &Grid,
    quantum: &Quantum,
    energy: f64,
    psi: &[Complex<T>],
) {
    // J of the bond from a site along `axis`: those along x have the phase of the flux below them.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    let hopping = |axis: usize, [_, j, _]: [usize; 3]| {
        if axis == 0 && quantum.flux != 0.0 {
            Complex64::from_polar(quantum.hopping, TAU * quantum.flux * j as f64)
        } else {
            quantum.hopping.into()
        }
    };
    taps.record(clock, |_, tap| match tap.measure {
        Measure::Energy => energy,
        Measure::Probability | Measure::Peak => tap.density(|j, k, out| {
            let first = grid.index([tap.lo[0], j, k]);
            out.copy_from_slice(&psi[first..first + out.len()]);
        }),
        _ => tap.quantum(
            grid,
            |site| hopping(tap.across, site),
            |site| wide(psi[grid.index(site)]),
        ),
    });
}

/// The largest |J| of a bond.
pub fn largest_hopping(quantum: &Quantum, medium: &Medium) -> f64 {
    let factor = Bonds::of(quantum, medium).map_or(1.0, |bonds| bonds.largest());
    quantum.hopping.abs() * factor
}

/// The largest Δt in which no energy turns a phase by more than its angle, of pairs (angle, energy); where none turns, nothing moves, and the scene's end is as good as any (1 without one).
pub fn step_by<const N: usize>(scenario: &Scenario, turns: [(f64, f64); N]) -> f64 {
    let turning = turns.into_iter().filter(|(_, energy)| *energy > 0.0);
    let least = turning
        .map(|(angle, energy)| angle / energy)
        .fold(f64::INFINITY, f64::min);
    if least.is_finite() {
        least
    } else {
        scenario.time().end.unwrap_or(1.0)
    }
}

/// Objections to a magnetic flux on this grid.
pub fn flux_objection(quantum: &Quantum, medium: &Medium) -> Option<Objection> {
    let grid = medium.grid();
    let layer = medium.layers().iter().position(|layer| layer.sets == Sets::Flux);
    if quantum.flux == 0.0 && layer.is_none() {
        return None;
    }
    let key = layer.map_or_else(|| "quantum.flux".to_owned(), |n| format!("layer.{n}.sets"));
    if grid.rank() < 2 {
        let message = "a magnetic flux needs at least two axes";
        return Some(Objection::new(key, message, "remove it or add an axis"));
    }
    if !grid.is_periodic(1) {
        return None;
    }
    let [nx, ny, nz] = grid.size();
    let mut row = vec![0.0; nx];
    for k in 0..if layer.is_some() { nz } else { 1 } {
        #[expect(clippy::cast_precision_loss, reason = "sites of an axis are far below 2^52")]
        let mut through = vec![quantum.flux * ny as f64; nx];
        for j in 0..if layer.is_some() { ny } else { 0 } {
            medium.flux_row(j, k, 0..nx, &mut row);
            through.iter_mut().zip(&row).for_each(|(sum, own)| *sum += own);
        }
        let whole = |through: &f64| (through - through.round()).abs() <= 1e-9 * through.abs().max(1.0);
        if let Some((i, through)) = through.iter().enumerate().find(|(_, through)| !whole(through)) {
            #[expect(clippy::cast_precision_loss, reason = "sites of an axis are far below 2^52")]
            let (message, remedy) = if layer.is_some() {
                (
                    format!(
                        "on a periodic y axis the flux of all plaquettes along y must be whole, and at x site {i} it is {through}"
                    ),
                    "make grid.edges along y \"wall\", or add the opposite flux elsewhere in the column".to_owned(),
                )
            } else {
                (
                    format!("on a torus flux × sites along y must be whole, and it is {through}"),
                    format!("take flux = {}", through.round() / ny as f64),
                )
            };
            return Some(Objection::new(key, message, remedy));
        }
    }
    None
}

/// The objection of a method with uniform hopping and flux: the first layer that sets another value.
pub fn bonds_objection(method: &str, medium: &Medium) -> Option<Objection> {
    if medium.rotation() != 0.0 {
        return Some(Objection::new(
            "quantum.rotation",
            format!("{method} has no frame that rotates: bonds have no phases there"),
            "use solver.method = \"trotter\", or set it to 0",
        ));
    }
    let layer = medium
        .layers()
        .iter()
        .position(|layer| matches!(layer.sets, Sets::Hopping | Sets::Flux))?;
    Some(Objection::new(
        format!("layer.{layer}.sets"),
        format!(
            "{method} has the same hopping at every bond, and this layer sets \"{}\"",
            medium.layers()[layer].sets.as_str()
        ),
        "use solver.method = \"trotter\", or remove the layer",
    ))
}

/// The objection of a method without a cross interaction.
pub fn components_objection(method: &str, medium: &Medium) -> Option<Objection> {
    (medium.cross_interaction() != 0.0).then(|| {
        Objection::new(
            "quantum.cross_interaction",
            format!("{method} has no interaction between components"),
            "use solver.method = \"trotter\", or set it to 0",
        )
    })
}

/// The objection of a method with a uniform interaction: the first layer that sets another value.
pub fn interaction_objection(method: &str, medium: &Medium) -> Option<Objection> {
    let layer = (medium.layers().iter()).position(|layer| layer.sets == Sets::Interaction)?;
    Some(Objection::new(
        format!("layer.{layer}.sets"),
        format!("{method} has no interaction that differs from site to site"),
        "use solver.method = \"trotter\" or \"split-step-fourier\", or remove the layer",
    ))
}

/// The objection to a scene that absorbs, `absorbs`, where imaginary time would have to end in a ground state: H − iW has none, and what its
/// steps relax to has another energy than the ground state of H.
pub fn relaxation_objection(imaginary: bool, absorbs: bool) -> Option<Objection> {
    (imaginary && absorbs).then(|| {
        Objection::new(
            "time.imaginary",
            "imaginary time has no use for absorption",
            "take edges = \"wall\" and remove absorbing layers",
        )
    })
}

/// Smallest and largest static potential over at most 64 × 64 rows.
pub fn potential_range(medium: &Medium) -> (f64, f64) {
    if !medium.has(Sets::Potential) {
        return (0.0, 0.0);
    }
    let nx = medium.grid().size()[0];
    sampled_range(medium.grid(), |j, k, row| medium.potential_row(None, j, k, 0..nx, row))
}

/// Smallest and largest finite value over at most 64 × 64 rows; `fill(j, k, row)` writes those of row (j, k).
pub fn sampled_range(grid: &Grid, fill: impl Fn(usize, usize, &mut [f64])) -> (f64, f64) {
    let [nx, ny, nz] = grid.size();
    let mut row = vec![0.0; nx];
    let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
    for k in (0..nz).step_by(nz.div_ceil(64)) {
        for j in (0..ny).step_by(ny.div_ceil(64)) {
            fill(j, k, &mut row);
            for &value in row.iter().filter(|value| value.is_finite()) {
                lowest = lowest.min(value);
                highest = highest.max(value);
            }
        }
    }
    if lowest > highest {
        (0.0, 0.0)
    } else {
        (lowest, highest)
    }
}

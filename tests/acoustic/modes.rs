//! Modes of the scheme: exact to round-off.

use crate::{ORDERS, advance, build, largest_difference, scene, sections, start, values, variants};
use std::f64::consts::PI;

const COEFFICIENTS: [&[f64]; 4] = [
    &[-1.0, 1.0],
    &[-5.0 / 4.0, 4.0 / 3.0, -1.0 / 12.0],
    &[-49.0 / 36.0, 3.0 / 2.0, -3.0 / 20.0, 1.0 / 90.0],
    &[-205.0 / 144.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0],
];

/// σ(κ) of one axis.
fn symbol(order: usize, kappa: f64) -> f64 {
    let term = |(k, c): (usize, &f64)| 2.0 * c * (k as f64 * kappa).cos();
    COEFFICIENTS[order / 2 - 1].iter().enumerate().map(term).sum()
}

/// ωΔt of a mode: sin²(ωΔt/2) = −(λ²/4) Σσ.
fn phase_step(order: usize, courant: f64, kappas: &[f64]) -> f64 {
    let sum: f64 = kappas.iter().map(|kappa| symbol(order, *kappa)).sum();
    2.0 * (courant / 2.0 * (-sum).sqrt()).asin()
}

/// Lets a product of one function per axis run and compares it with cos(nωΔt) times itself.
fn check(size: &[usize], edges: &str, order: usize, kappas: &[f64], shape: impl Fn(f64, f64) -> f64) {
    for variant in variants(size.len()) {
        check_variant(variant, size, edges, order, kappas, &shape);
    }
}

fn check_variant(
    variant: &str,
    size: &[usize],
    edges: &str,
    order: usize,
    kappas: &[f64],
    shape: impl Fn(f64, f64) -> f64,
) {
    let courant = 0.4 / (size.len() as f64).sqrt();
    let text = sections(
        size,
        edges,
        courant,
        &format!(
            "precision = \"double\"\norder = {order}\nmethod = \"fdtd\"\nbackend = \"cpu\"\nvariant = \"{variant}\""
        ),
    );
    let scenario = scene(&text);
    let mut solver = build(&scenario);
    let grid = scenario.grid();
    let mode: Vec<f64> = (0..grid.sites())
        .map(|index| {
            let site = grid.site(index);
            kappas
                .iter()
                .zip(site)
                .map(|(kappa, at)| shape(*kappa, at as f64))
                .product()
        })
        .collect();
    start(solver.as_mut(), &mode);
    advance(solver.as_mut(), 500);
    let factor = (500.0 * phase_step(order, courant, kappas)).cos();
    let expected: Vec<f64> = mode.iter().map(|p| p * factor).collect();
    let error = largest_difference(&values(solver.as_mut()), &expected);
    // A rounding of 1e-16 a step moves the velocity; a mode of ωΔt turns it into at most 1/(ωΔt) of pressure, and 500 of them add up as
    // a random walk: 1e-16 · 22 · 10. Phases add 500 roundings of ωΔt: 5e-14.
    assert!(
        error < 3e-13,
        "{variant}, order {order}, {size:?} {edges}, {kappas:?}: {error:e}"
    );
}

#[test]
fn waves_on_a_torus_have_the_dispersion_of_every_order_and_angle() {
    let sizes: [&[usize]; 3] = [&[32], &[20, 12], &[12, 8, 10]];
    for order in ORDERS {
        for size in sizes {
            for turns in [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [3.0, 2.0, 4.0]] {
                let kappas: Vec<f64> = size.iter().zip(turns).map(|(n, m)| 2.0 * PI * m / *n as f64).collect();
                check(size, "\"periodic\"", order, &kappas, |kappa, at| (kappa * at).cos());
            }
        }
    }
}

#[test]
fn rigid_rooms_have_their_modes() {
    let sizes: [&[usize]; 3] = [&[24], &[24, 17], &[9, 7, 8]];
    for order in ORDERS {
        for size in sizes {
            let kappas: Vec<f64> = size
                .iter()
                .zip([3.0, 2.0, 1.0])
                .map(|(n, m)| PI * m / *n as f64)
                .collect();
            check(size, "\"wall\"", order, &kappas, |kappa, at| (kappa * (at + 0.5)).cos());
        }
    }
}

#[test]
fn soft_rooms_have_their_modes() {
    let sizes: [&[usize]; 3] = [&[23], &[23, 16], &[9, 7, 8]];
    for order in ORDERS {
        for size in sizes {
            let along = size.iter().zip([3.0, 2.0, 1.0]);
            let kappas: Vec<f64> = along.map(|(n, m)| PI * m / (*n + 1) as f64).collect();
            check(size, "\"soft\"", order, &kappas, |kappa, at| (kappa * (at + 1.0)).sin());
        }
    }
}

/// A site alone between its neighbours: rooms smaller than the stencil fold back several times.
#[test]
fn rooms_smaller_than_the_stencil_work() {
    for order in ORDERS {
        check(&[2, 3], "\"wall\"", order, &[PI / 2.0, PI / 3.0], |kappa, at| {
            (kappa * (at + 0.5)).cos()
        });
        check(&[2, 3], "\"soft\"", order, &[PI / 3.0, PI / 4.0], |kappa, at| {
            (kappa * (at + 1.0)).sin()
        });
    }
}

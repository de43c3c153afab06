//! Two components of a condensate that act on each other: `quantum.cross_interaction`.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small counts of steps"
)]

use crate::common;
use num_complex::Complex64;
use ripplon::physics::reference::norm;
use ripplon::solver::Taps;

/// Uniform components on a ring, all of them in the first; K = 0.4 couples them.
fn uniform(variant: &str, g: f64, cross: f64) -> String {
    format!(
        "format = 1\n[grid]\nsize = [10, 6, 2]\nspacing = 1.0\nedges = [\"periodic\", \"periodic\", \"wall\"]\n\
         [quantum]\nhopping = 1.0\ninteraction = {g:?}\ncross_interaction = {cross:?}\n[time]\nstep = 0.01\n\
         [solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\nvariant = \"{variant}\"\nprecision = \"double\"\n\
         [[packet]]\ncenter = [4.5, 2.5, 0.0]\nwidth = [1e6, 1e6, 0.02]\n\
         [[layer]]\nsets = \"hopping\"\naxis = \"z\"\nvalue = 0.4\n\
         [[detector]]\nname = \"second\"\nregion = {{ min = [0.0, 0.0, 1.0], max = [9.0, 5.0, 1.0] }}\n"
    )
}

/// i ċ₁ = (g|c₁|² + g₁₂|c₂|²)c₁ − K c₂ and the same with 1 and 2 exchanged, the densities those of one atom on 60 sites, by Runge and Kutta's scheme of order 4 in steps of 10⁻³.
fn two_modes(g: f64, cross: f64, coupling: f64, time: f64) -> f64 {
    let slope = |c: [Complex64; 2]| {
        let n = c.map(|c| c.norm_sqr() / 60.0);
        let h = |own: usize| c[own] * (g * n[own] + cross * n[1 - own]) - c[1 - own] * coupling;
        [-Complex64::I * h(0), -Complex64::I * h(1)]
    };
    let ahead = |c: [Complex64; 2], k: [Complex64; 2], by: f64| [c[0] + k[0] * by, c[1] + k[1] * by];
    let (mut c, h) = ([Complex64::ONE, Complex64::ZERO], 1e-3);
    for _ in 0..(time / h).round() as usize {
        let k1 = slope(c);
        let k2 = slope(ahead(c, k1, h / 2.0));
        let k3 = slope(ahead(c, k2, h / 2.0));
        let k4 = slope(ahead(c, k3, h));
        for n in 0..2 {
            c[n] += (k1[n] + 2.0 * k2[n] + 2.0 * k3[n] + k4[n]) * (h / 6.0);
        }
    }
    c[1].norm_sqr()
}

/// Josephson's oscillation between components: what one does to the other counts against what each does to itself, so that equal interactions leave Rabi's sine, and with g − g₁₂ beyond 4K of one
/// atom's density most atoms stay where they are (A. Smerzi et al., Phys. Rev. Lett. 79 (1997) 4950). The splitting is off by some t K (gn + K)²Δt²/12 < 2e-4.
#[test]
fn components_oscillate_as_two_modes_do() {
    for variant in ["naive", "vector"] {
        for (g, cross) in [(90.0, 90.0), (0.0, 60.0), (150.0, 30.0), (20.0, 140.0)] {
            let scenario = common::read(&uniform(variant, g, cross)).unwrap();
            let mut solver = common::build(&scenario);
            let before = solver.observables().unwrap();
            for quarter in 1..=4 {
                solver.advance(150, &mut Taps::default()).unwrap();
                let t = 1.5 * f64::from(quarter);
                let psi = solver.field().unwrap().to_complex128();
                let second: f64 = psi[60..].iter().map(Complex64::norm_sqr).sum();
                let expected = two_modes(g, cross, 0.4, t);
                let miss = (second - expected).abs();
                assert!(
                    miss < 2e-4,
                    "{variant}, g {g}, g12 {cross}, t {t}: {second} for {expected}"
                );
                let now = solver.observables().unwrap();
                // What is reported is ⟨H⟩ of the reference, and stays within what Δt² allows.
                let energy = common::lattice(&scenario).energy(&psi, 0.0);
                assert!((now.energy - energy).abs() < 1e-11, "{} for {energy}", now.energy);
                assert!(
                    (now.energy - before.energy).abs() < 2e-4,
                    "{} from {}",
                    now.energy,
                    before.energy
                );
            }
        }
    }
    assert!(two_modes(90.0, 90.0, 0.4, 1.5) - 0.6f64.sin().powi(2) < 1e-9);
}

/// Two components in a trap that repel each other more than themselves, at rest: Hψ = μψ up to O(Δt²), a quarter with half the step.
#[test]
fn imaginary_time_ends_where_both_components_rest() {
    for variant in ["naive", "vector"] {
        let residual = |step: f64| {
            let scenario = common::read(&format!(
                "format = 1\n[grid]\nsize = [29, 2]\nspacing = 0.5\nedges = \"wall\"\n\
                 [quantum]\nmass = 1.0\ninteraction = 8.0\ncross_interaction = 11.0\n[time]\nstep = {step:?}\nimaginary = true\n\
                 [solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\nvariant = \"{variant}\"\nprecision = \"double\"\n\
                 [[packet]]\ncenter = [6.5, 0.0]\nwidth = [1.2, 0.01]\n\
                 [[packet]]\ncenter = [7.5, 0.5]\nwidth = [1.2, 0.01]\nweight = 0.7\n\
                 [[layer]]\nsets = \"hopping\"\naxis = \"y\"\nvalue = 0.2\n\
                 [[layer]]\nsets = \"interaction\"\nshape = \"box\"\nmin = [0.0, 0.5]\nmax = [14.0, 0.5]\nvalue = 6.0\n\
                 [[layer]]\nsets = \"potential\"\nvalue = \"0.5*(x - 7.0)^2\"\n"
            ))
            .unwrap();
            let mut solver = common::build(&scenario);
            solver
                .advance((40.0 / step).round() as u64, &mut Taps::default())
                .unwrap();
            let psi = solver.field().unwrap().to_complex128();
            let h = common::lattice(&scenario).apply(&psi, 0.0);
            let mu = psi.iter().zip(&h).map(|(psi, h)| (psi.conj() * h).re).sum::<f64>() / norm(&psi);
            let off: Vec<Complex64> = psi.iter().zip(&h).map(|(psi, h)| h - psi * mu).collect();
            (norm(&off) / norm(&psi)).sqrt()
        };
        let (coarse, fine) = (residual(0.02), residual(0.01));
        assert!(coarse < 2e-3, "{variant}: {coarse:.2e}");
        // The next order is (Δt ‖H‖)² = 0.03 of it.
        assert!(
            (3.6..4.4).contains(&(coarse / fine)),
            "{variant}: {coarse:.2e}, {fine:.2e}"
        );
    }
}

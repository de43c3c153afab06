//! A frame that rotates, and interactions that differ from site to site.

use crate::common;
use num_complex::Complex64;
use ripplon::engine::eigen;
use ripplon::physics::reference::norm;
use ripplon::solver::Taps;
use std::ops::ControlFlow;

/// The lowest levels of a round trap, m = ω = 1, in a frame that rotates with Ω = 0.4.
fn levels(sites: usize, spacing: f64) -> Vec<f64> {
    let text = format!(
        "format = 1\n[grid]\nsize = [{sites}, {sites}]\nspacing = {spacing:?}\n[quantum]\nrotation = 0.4\n[time]\nstep = 0.001\n[solver]\nmethod = \"trotter\"\n\
         [[packet]]\ncenter = [4.0, 4.0]\nwidth = [1.0, 1.0]\n[[layer]]\nsets = \"potential\"\nvalue = \"0.5*r^2\"\n"
    );
    let scenario = common::read(&text).unwrap();
    let found = eigen::levels(&scenario, 7, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(found.converged);
    found.list.iter().map(|level| level.energy).collect()
}

/// E = 2n + |l| + 1 − Ωl (V. Fock, Z. Phys. 47 (1928) 446). On the lattice an energy is less by a²⟨π⁴⟩/24 and terms of a⁴: two spacings leave the latter, ⟨π⁶⟩a⁴/720 or some 1e-3 at ⟨π⁶⟩ of 100.
#[test]
fn a_trap_has_its_levels_less_omega_l() {
    let (coarse, fine) = (levels(33, 0.3), levels(49, 0.2));
    // l = 0, 1, 2, −1, 3, then n = 1 and l = 0, and l = 4.
    let exact = [1.0, 1.6, 2.2, 2.4, 2.8, 3.0, 3.4];
    for ((coarse, fine), exact) in coarse.iter().zip(&fine).zip(exact) {
        let limit = fine + (fine - coarse) * 0.04 / (0.09 - 0.04);
        assert!((limit - exact).abs() < 4e-3, "{coarse} and {fine} for {exact}");
        assert!((0.0..0.1).contains(&(exact - coarse)), "{coarse} for {exact}");
    }
}

/// In a harmonic trap the middle of a cloud moves as one particle, whatever its interaction (Kohn), and in the frame that rotates against Ω, i.e. clockwise for Ω > 0; L_z stays what it was.
#[test]
fn a_cloud_swings_as_foucaults_pendulum() {
    for (variant, interaction) in [("naive", 0.0), ("vector", 0.0), ("vector", 15.0)] {
        let text = format!(
            "format = 1\n[grid]\nsize = [56, 56]\nspacing = 0.2\n[quantum]\nrotation = 0.5\ninteraction = {interaction:?}\n[time]\nstep = 0.005\nend = 1.0\n\
             [solver]\nmethod = \"trotter\"\nvariant = \"{variant}\"\nbackend = \"cpu\"\nprecision = \"double\"\n\
             [[packet]]\ncenter = [6.5, 5.5]\nwidth = [0.8, 0.8]\n[[layer]]\nsets = \"potential\"\nvalue = \"0.5*r^2\"\n"
        );
        let scenario = common::read(&text).unwrap();
        let mut solver = common::build(&scenario);
        let before = solver.observables().unwrap();
        for quarter in 1..=4 {
            solver.advance(150, &mut Taps::default()).unwrap();
            let t = 0.75 * f64::from(quarter);
            let now = solver.observables().unwrap();
            let expected = [5.5 + t.cos() * (0.5 * t).cos(), 5.5 - t.cos() * (0.5 * t).sin()];
            for (axis, expected) in expected.into_iter().enumerate() {
                // ẋ = sin(ka)/a swings more slowly by a²(K²/16 + σ²/4), K the largest mean of k − A and σ its spread: 0.01 with K² = 1.25, σ² = 0.6, and 0.015 of the cloud that repulsion
                // makes breathe, σ² = 1. The same once more for what the lattice does to the turn.
                let miss = (now.position[axis] - expected).abs();
                assert!(
                    miss < 0.02 * t,
                    "{variant}, g = {interaction}, t = {t}, axis {axis}: off by {miss}"
                );
            }
            assert!((now.norm - 1.0).abs() < 1e-10);
            assert!(
                (now.energy - before.energy).abs() < 2e-3 * before.energy,
                "{} {}",
                now.energy,
                before.energy
            );
        }
    }
}

/// ψ of a line with g = 3 beyond the middle and 0.5 before it.
fn uneven(method: &str, variant: &str, layer: &str) -> Vec<Complex64> {
    let text = format!(
        "format = 1\n[grid]\nsize = [128]\nspacing = 0.1\n[quantum]\ninteraction = 0.5\n[time]\nstep = 0.0005\nend = 1.0\n\
         [solver]\nmethod = \"{method}\"\nvariant = \"{variant}\"\nbackend = \"cpu\"\nprecision = \"double\"\n\
         [[packet]]\ncenter = [6.3]\nwidth = [0.7]\n{layer}"
    );
    let scenario = common::read(&text).unwrap();
    let mut solver = common::build(&scenario);
    solver.advance(1600, &mut Taps::default()).unwrap();
    solver.field().unwrap().to_complex128()
}

/// Methods that share no kinetic part agree on an interaction of layers as far as the lattice does with the continuum: the phase k⁴a²t/24 = 5e-3 for k = 2, t = 0.8. A layer everywhere is the constant.
#[test]
fn layers_of_interaction_in_two_methods() {
    let step = "[[layer]]\nsets = \"interaction\"\nshape = \"box\"\nmin = [6.35]\nmax = [12.7]\nvalue = 3.0\n";
    let far = |a: &[Complex64], b: &[Complex64]| {
        let difference: Vec<Complex64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        (norm(&difference) / norm(b)).sqrt()
    };
    let [naive, vector] = ["naive", "vector"].map(|variant| uneven("trotter", variant, step));
    let spectral = uneven("split-step-fourier", "auto", step);
    let without = uneven("split-step-fourier", "auto", "");
    assert!(far(&naive, &vector) < 1e-12);
    assert!(far(&vector, &spectral) < 0.02, "{}", far(&vector, &spectral));
    assert!(far(&spectral, &without) > 0.2, "{}", far(&spectral, &without));
    for method in ["trotter", "split-step-fourier"] {
        let variant = if method == "trotter" { "vector" } else { "auto" };
        let everywhere = uneven(method, variant, "[[layer]]\nsets = \"interaction\"\nvalue = 0.5\n");
        let constant = uneven(method, variant, "");
        assert!(far(&everywhere, &constant) < 1e-12, "{method}");
    }
}

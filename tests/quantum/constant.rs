//! A constant added to the potential turns all phases alike: |ψ|² stays, with every method, static and driven.

use crate::common::{self, Case, Feature, build, cases};
use num_complex::Complex64;
use ripplon::field::Precision;
use ripplon::physics::reference::distance;
use ripplon::scene::Scenario;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Edit, FieldImage, ImageRequest, Taps};

const STEP: f64 = 0.05;
const STEPS: u64 = 60;
/// Many times the width of the band.
const HEIGHT: f64 = 700.0;

/// A layer everywhere.
fn added(drive: &str) -> String {
    format!("[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = {HEIGHT:?}\nmode = \"add\"\n{drive}")
}

fn doubles() -> impl Iterator<Item = Case> {
    cases().into_iter().filter(|case| case.precision == Precision::Double)
}

fn densities(psi: &[Complex64]) -> Vec<Complex64> {
    psi.iter().map(|psi| psi.norm_sqr().into()).collect()
}

/// Phases of 700·3 are rounded by 1e-13 of them, once a substep and step.
#[test]
fn a_static_constant_is_a_phase() {
    for case in doubles() {
        for feature in [Feature::Plain, Feature::Periodic, Feature::Driven, Feature::Interacting] {
            if feature.refused(&case) {
                continue;
            }
            let plain = common::run(&common::scenario(&case, feature, STEP, ""), STEPS);
            let raised = common::scenario(&case, feature, STEP, &added(""));
            let found = common::run(&raised, STEPS);
            let turn = Complex64::from_polar(1.0, -HEIGHT * STEP * STEPS as f64);
            let expected: Vec<Complex64> = plain.iter().map(|psi| psi * turn).collect();
            let miss = distance(&found, &expected);
            assert!(miss < 1e-9, "{case} {feature:?}: {miss:.1e}");
        }
    }
}

/// Drives act by their values within a step, so that only |ψ|² is the same to rounding.
#[test]
fn a_driven_constant_leaves_the_density() {
    for case in doubles() {
        for feature in [Feature::Plain, Feature::Periodic, Feature::Driven, Feature::Absorbing] {
            if feature.refused(&case) || Feature::Driven.refused(&case) {
                continue;
            }
            let plain = common::run(&common::scenario(&case, feature, STEP, ""), STEPS);
            let raised = common::scenario(&case, feature, STEP, &added("drive = \"1 + sin(2*t)\"\n"));
            let found = common::run(&raised, STEPS);
            let miss = distance(&densities(&found), &densities(&plain));
            assert!(miss < 1e-9, "{case} {feature:?}: {miss:.1e}");
        }
    }
}

/// Crank–Nicolson on a line, raised by a constant that is static and one that is driven.
fn lines() -> Vec<(Case, Scenario)> {
    let both = format!("{}{}", added(""), added("drive = \"1 + sin(2*t)\"\n"));
    let lines = cases()
        .into_iter()
        .filter(|case| case.method.id == "crank-nicolson" && case.rank == 1);
    let on = [Feature::Plain, Feature::Periodic, Feature::Driven];
    lines
        .flat_map(|case| on.map(|feature| (case, common::scenario(&case, feature, STEP, &both))))
        .collect()
}

/// A run that is stopped and one that is not end in the same bits, also after Δt and the direction of time have changed; energies contain the constants.
#[test]
fn a_stopped_run_goes_on_with_the_same_bits() {
    for (case, scenario) in lines() {
        let mut taps = Taps::default();
        let mut one = build(&scenario);
        one.advance(17, &mut taps).unwrap();
        one.edit(&scenario, &Edit::TimeStep(0.04)).unwrap();
        one.advance(9, &mut taps).unwrap();
        one.edit(&scenario, &Edit::Conjugate).unwrap();
        let saved = one.save().unwrap();
        let mut other = build(&scenario);
        other.load(&saved).unwrap();
        assert_eq!(one.field().unwrap(), other.field().unwrap(), "{case}: loaded");
        one.advance(20, &mut taps).unwrap();
        for _ in 0..4 {
            other.advance(5, &mut taps).unwrap();
        }
        assert_eq!(one.field().unwrap(), other.field().unwrap(), "{case}: gone on");
        let time = one.clock().time;
        let energy = one.observables().unwrap().energy - HEIGHT * (2.0 + (2.0 * time).sin());
        // The band and the potential of the scene are within −5 and 5, single precision within a thousandth.
        assert!(energy.abs() < 5.0, "{case}: {energy}");
    }
}

/// Changes of Δt, of the medium and of the direction of time do not turn ψ.
#[test]
fn edits_leave_the_phase() {
    for (case, scenario) in lines() {
        let allowed = if case.precision == Precision::Double {
            1e-9
        } else {
            1e-4
        };
        let mut taps = Taps::default();
        let mut solver = build(&scenario);
        solver.advance(23, &mut taps).unwrap();
        let before = solver.field().unwrap().to_complex128();
        solver.edit(&scenario, &Edit::TimeStep(0.03)).unwrap();
        let stepped = solver.field().unwrap().to_complex128();
        let miss = distance(&stepped, &before);
        assert!(miss < allowed, "{case}, another step: {miss:.1e}");
        let lower = common::scenario(&case, Feature::Plain, STEP, "");
        if lower.grid().edges() == scenario.grid().edges() {
            solver.edit(&lower, &Edit::Medium).unwrap();
            let miss = distance(&solver.field().unwrap().to_complex128(), &before);
            assert!(miss < allowed, "{case}, another medium: {miss:.1e}");
            solver.edit(&scenario, &Edit::Medium).unwrap();
        }
        solver.edit(&scenario, &Edit::Conjugate).unwrap();
        let back: Vec<Complex64> = before.iter().map(Complex64::conj).collect();
        let miss = distance(&solver.field().unwrap().to_complex128(), &back);
        assert!(miss < allowed, "{case}, conjugate: {miss:.1e}");
        let field = solver.field().unwrap();
        let clock = solver.clock();
        solver.set_field(&field, clock).unwrap();
        let miss = distance(&solver.field().unwrap().to_complex128(), &back);
        assert!(miss < allowed, "{case}, set: {miss:.1e}");
    }
}

/// A picture of Re ψ is that of the field.
#[test]
fn pictures_show_the_turned_field() {
    for (case, scenario) in lines() {
        let mut solver = build(&scenario);
        solver.advance(23, &mut Taps::default()).unwrap();
        let psi = solver.field().unwrap().to_complex128();
        let sites = psi.len();
        let request = ImageRequest::new(Quantity::Real, [0..sites, 0..1], 0, [sites, 1]);
        let mut image = FieldImage::default();
        solver.image(&request, &mut image).unwrap();
        assert_eq!(image.value.len(), sites);
        for (texel, psi) in image.value.iter().zip(&psi) {
            assert!((f64::from(*texel) - psi.re).abs() < 1e-5, "{case}: {texel} {psi}");
        }
    }
}

/// ω of a packet at the bottom of a deep well, as the automatic Δt has it, is that of `trotter` within 1 %: ((ε − E₀)Δt/2)² with ε − E₀ of three quarters of the
/// range and ΔUΔt = 0.2. It was 6 % before steps were taken relative to E₀.
#[test]
fn a_deep_well_keeps_its_frequency() {
    let omega = |method: &str| {
        let scenario = common::read(&format!(
            "format = 1\n[grid]\nsize = [161]\nspacing = 0.2\n[quantum]\n[time]\nend = 12.0\n[solver]\nmethod = \"{method}\"\nprecision = \"double\"\n\
             [[packet]]\ncenter = 15.5\nwidth = 0.42\n\
             [[layer]]\nsets = \"potential\"\nvalue = \"-200*exp(-(x-16)^2/50)\"\n"
        ))
        .unwrap();
        let mut solver = build(&scenario);
        let dt = solver.clock().time_step;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small counts")]
        let each = (0.02 / dt).ceil() as u64;
        let (mut before, mut through) = (None, Vec::new());
        while solver.clock().time < 12.0 {
            solver.advance(each, &mut Taps::default()).unwrap();
            let (time, x) = (solver.clock().time, solver.observables().unwrap().position[0] - 16.0);
            if let Some((earlier, old)) = before.replace((time, x))
                && old * x < 0.0
            {
                through.push(earlier + (time - earlier) * old / (old - x));
            }
        }
        assert!(through.len() > 6, "{method}: {through:?}");
        std::f64::consts::PI * (through.len() - 1) as f64 / (through[through.len() - 1] - through[0])
    };
    let split = omega("trotter");
    let found = omega("crank-nicolson");
    assert!((found / split - 1.0).abs() < 0.01, "{found} {split}");
}

//! The order of a method in Δt, observed: the error against the exact solution at two steps, halved, gives log₂ of the ratio.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use common::{Feature, cases, sound};
use num_complex::Complex64;
use ripplon::field::Precision;
use ripplon::physics::Equation;
use ripplon::physics::reference::distance;
use ripplon::scene::Scenario;
use ripplon::solver::{self, EXACT, Edit, METHODS, Taps};

/// Within 0.1 of the declared order for every feature. JΔt is small enough for the leading term to rule (the next is Δt or Δt² of
/// it: under 5 %, 0.07 in the logarithm) and large enough to stay far above rounding (1e-13).
#[test]
fn observed_orders_are_the_declared_ones() {
    let mut wrong = Vec::new();
    for case in cases().into_iter().filter(|case| case.precision == Precision::Double) {
        for feature in Feature::ALL {
            if feature.refused(&case) {
                continue;
            }
            let (step, steps) = match case.order {
                EXACT => continue,
                1 => (0.01, 100),
                2 => (0.05, 20),
                _ => (0.1, 10),
            };
            let coarse = common::scenario(&case, feature, step, "");
            let fine = common::scenario(&case, feature, step / 2.0, "");
            #[expect(clippy::cast_precision_loss, reason = "a small count")]
            let exact = common::exact(&coarse, feature, step * steps as f64);
            let error = distance(&common::run(&coarse, steps), &exact);
            let half = distance(&common::run(&fine, 2 * steps), &exact);
            let order = (error / half).log2();
            // Absorption stands outside the composition of order 4, to either side of it: a splitting of order 2.
            let declared = if feature == Feature::Absorbing {
                case.order.min(2)
            } else {
                case.order
            };
            if order.is_nan() || (order - f64::from(declared)).abs() > 0.1 {
                wrong.push(format!(
                    "{case} {feature:?}: order {order:.3} (errors {error:.2e}, {half:.2e})"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// An interaction and damping at the same sites, with absorbing edges across the packet: |ψ|² falls while a step takes its phase, and a step that reads it at one end only is of order 1.
#[test]
fn interaction_and_damping_at_the_same_sites_keep_order_2() {
    let damped = "[[layer]]\nsets = \"absorption\"\nshape = \"everywhere\"\nvalue = \"0.6 + 0.4*sin(x)\"\n";
    let mut wrong = Vec::new();
    for case in cases().into_iter().filter(|case| case.precision == Precision::Double) {
        if Feature::Interacting.refused(&case) {
            continue;
        }
        let (step, steps) = if case.order == 1 { (0.01, 100) } else { (0.05, 20) };
        let scenario = |step: f64| {
            let text = common::scene(&case, Feature::Absorbing, step, damped);
            common::read(&text.replace("interaction = 0.0", "interaction = 20.0")).unwrap()
        };
        let (coarse, fine) = (scenario(step), scenario(step / 2.0));
        let exact = common::exact(&coarse, Feature::Interacting, 1.0);
        let error = distance(&common::run(&coarse, steps), &exact);
        let half = distance(&common::run(&fine, 2 * steps), &exact);
        let order = (error / half).log2();
        // As above; damping stands outside the composition of order 4.
        if order.is_nan() || (order - f64::from(case.order.min(2))).abs() > 0.1 {
            wrong.push(format!("{case}: order {order:.3} (errors {error:.2e}, {half:.2e})"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Two components that act on each other and on themselves, turn into each other and are damped in places, against Runge–Kutta of 1e-9.
#[test]
fn components_that_act_on_each_other_keep_the_order() {
    let scene = |variant: &str, order: u32, step: f64| {
        common::read(&format!(
            "format = 1\n[grid]\nsize = [21, 14, 2]\nspacing = 1.0\nedges = [\"wall\", \"periodic\", \"wall\"]\n\
             [quantum]\nmass = 0.6\ninteraction = 20.0\ncross_interaction = 35.0\n[time]\nstep = {step:?}\n\
             [solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\nvariant = \"{variant}\"\nprecision = \"double\"\norder = {order}\n\
             [[packet]]\ncenter = [9.0, 6.0, 0.0]\nwidth = [2.0, 2.0, 0.5]\nmomentum = [0.7, 0.3, 0.0]\n\
             [[packet]]\ncenter = [11.0, 7.0, 1.0]\nwidth = [2.5, 1.8, 0.1]\nmomentum = [-0.4, 0.2, 0.0]\nweight = 0.8\n\
             [[layer]]\nsets = \"hopping\"\naxis = \"z\"\nvalue = 0.6\n\
             [[layer]]\nsets = \"interaction\"\nshape = \"box\"\nmin = [0.0, 0.0, 1.0]\nmax = [20.0, 13.0, 1.0]\nvalue = 12.0\n\
             [[layer]]\nsets = \"absorption\"\nvalue = \"0.3 + 0.2*sin(x)\"\n"
        ))
        .unwrap()
    };
    for variant in ["naive", "vector"] {
        for order in [1, 2, 4] {
            let (step, steps) = if order == 1 { (0.01, 100) } else { (0.05, 20) };
            let (coarse, fine) = (scene(variant, order, step), scene(variant, order, step / 2.0));
            let exact = common::exact(&coarse, Feature::Interacting, 1.0);
            let error = distance(&common::run(&coarse, steps), &exact);
            let half = distance(&common::run(&fine, 2 * steps), &exact);
            let observed = (error / half).log2();
            // Damping stands outside the composition of order 4.
            let declared = f64::from(order.min(2));
            assert!(
                (observed - declared).abs() < 0.1,
                "{variant}, order {order}: {observed:.3} (errors {error:.2e}, {half:.2e})"
            );
        }
    }
}

/// A row that is exact in Δt: one step and a hundred to the same time are what the exact solution says, in both precisions, with absorption, walls and flux.
#[test]
fn exact_rows_take_a_step_of_any_length() {
    let mut checked = 0;
    for case in cases().into_iter().filter(|case| case.order == EXACT) {
        for feature in Feature::ALL.into_iter().filter(|feature| !feature.refused(&case)) {
            for (step, steps) in [(40.0, 1), (0.4, 100), (-7.0, 3)] {
                let scenario = common::scenario(&case, feature, f64::abs(step), "");
                let mut solver = common::build(&scenario);
                solver.edit(&scenario, &Edit::TimeStep(step)).unwrap();
                solver.advance(steps, &mut Taps::default()).unwrap();
                let found = solver.field().unwrap().to_complex128();
                #[expect(clippy::cast_precision_loss, reason = "a small count")]
                let exact = backwards_too(&scenario, feature, step * steps as f64);
                // Some 600 applications of H at most, each off by a few ε of ψ at random, and phases of up to 8·40: 2⁻²⁴ or 2⁻⁵³ times √600 and 320.
                let allowed = match case.precision {
                    Precision::Single => 4e-5,
                    Precision::Double => 1e-12,
                };
                let error = distance(&found, &exact);
                assert!(error < allowed, "{case} {feature:?} {steps} × {step}: {error:.2e}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 2 * 3 * 3 * 4, "the table shrank to {checked} cases");
}

/// ψ(t); absorption takes away backwards in time too: e^{iH|t|−W|t|}ψ is the complex conjugate of e^{−iH*|t|−W|t|}ψ*.
fn backwards_too(scenario: &Scenario, feature: Feature, time: f64) -> Vec<Complex64> {
    if feature != Feature::Absorbing || time > 0.0 {
        return common::exact(scenario, feature, time);
    }
    // Without flux H* = H.
    let conjugate = |psi: Vec<Complex64>| psi.iter().map(Complex64::conj).collect::<Vec<_>>();
    conjugate(common::lattice(scenario).propagate(&conjugate(common::start(scenario)), -time))
}

/// Crank–Nicolson comes to what two other schemes say, as Δt². Those err by Δt⁴ (Trotter of order 4) and, with the smaller step, a sixteenth of the leading term
/// (split-step Fourier): a quarter of the step leaves a sixteenth of the difference, within a fifth.
#[test]
fn crank_nicolson_meets_trotter_and_fourier_as_the_step_falls() {
    let double = |method: &str, order: u32, rank: usize, variant: Option<&str>| {
        let found = cases().into_iter().find(|case| {
            case.precision == Precision::Double
                && case.method.id == method
                && case.order == order
                && case.rank == rank
                && variant.is_none_or(|variant| case.variant == variant)
        });
        found.unwrap_or_else(|| panic!("{method} of order {order} in {rank} dimensions"))
    };
    let at = |case: &common::Case, step: f64, steps: u64| {
        common::run(&common::scenario(case, Feature::Periodic, step, ""), steps)
    };
    for rank in [1, 2] {
        let fourier_order = if cases()
            .iter()
            .any(|case| case.method.id == "split-step-fourier" && case.order == 4)
        {
            4
        } else {
            2
        };
        let others = [
            at(&double("trotter", 4, rank, Some("naive")), 0.0125, 160),
            at(&double("split-step-fourier", fourier_order, rank, None), 0.003_125, 640),
        ];
        let variants: &[&str] = if rank == 1 {
            &["thomas", "n-partition"]
        } else {
            &["thomas"]
        };
        for variant in variants {
            let case = double("crank-nicolson", 2, rank, Some(variant));
            let (coarse, fine) = (at(&case, 0.05, 40), at(&case, 0.0125, 160));
            for (other, name) in others.iter().zip(["trotter", "split-step-fourier"]) {
                let ratio = distance(&coarse, other) / distance(&fine, other);
                assert!((ratio / 16.0 - 1.0).abs() < 0.2, "{case} against {name}: {ratio}");
            }
        }
    }
}

/// The same for acoustic rows, on the lattice of masses and springs; damping is split off to order 2.
#[test]
fn observed_orders_of_acoustic_rows_are_the_declared_ones() {
    let mut wrong = Vec::new();
    for case in sound::cases()
        .into_iter()
        .filter(|case| case.precision == Precision::Double)
    {
        for feature in sound::Feature::ALL {
            let order = if feature == sound::Feature::Damped {
                2
            } else {
                case.order
            };
            // Steps of the shortest waves' periods: 2π/2√d.
            let (step, steps) = if order == 2 { (0.04, 25) } else { (0.1, 10) };
            let Some(coarse) = sound::scenario(&case, feature, step, "") else {
                continue;
            };
            let Some(fine) = sound::scenario(&case, feature, step / 2.0, "") else {
                continue;
            };
            #[expect(clippy::cast_precision_loss, reason = "a small count")]
            let exact = sound::exact(&coarse, step * steps as f64);
            let error = sound::distance(&sound::run(&coarse, steps), &exact);
            let half = sound::distance(&sound::run(&fine, 2 * steps), &exact);
            let found = (error / half).log2();
            if found.is_nan() || (found - f64::from(order)).abs() > 0.1 {
                wrong.push(format!(
                    "{case} {feature:?}: order {found:.3} (errors {error:.2e}, {half:.2e})"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// ψ of automatic steps of trotter is off by less than 3 % after some units of 1/J, at every order, free and among potentials that differ from site to site.
#[test]
fn automatic_steps_are_as_accurate_at_every_order() {
    for (size, momentum) in [("[40]", "[1.5]"), ("[24, 20]", "[0.8, 0.8]")] {
        for strength in [0.0, 8.0] {
            for order in [1, 2, 4] {
                let axes = momentum.matches('.').count();
                let text = format!(
                    "format = 1\n[grid]\nsize = {size}\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[time]\nend = 2.5\n[solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\n\
                     precision = \"double\"\norder = {order}\n[[packet]]\ncenter = {:?}\nwidth = {:?}\nmomentum = {momentum}\n\
                     [[layer]]\nsets = \"potential\"\nvalue = \"{strength:?}*(43758.5453*sin(12.9898*x + 78.233*y + 1) - floor(43758.5453*sin(12.9898*x + 78.233*y + 1)))\"\n",
                    vec![10.0; axes],
                    vec![2.5; axes],
                );
                let scenario = common::read(&text).unwrap();
                let step = solver::find("trotter").unwrap().time_step(&scenario);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
                let steps = (2.5 / step).round() as u64;
                let error = distance(
                    &common::run(&scenario, steps),
                    &common::lattice(&scenario).propagate(&common::start(&scenario), 2.5),
                );
                assert!(
                    error < 0.03,
                    "{size}, {strength}, order {order}, Δt = {step}: {error:.3}"
                );
            }
        }
    }
}

/// The same scene in units of length that are a million times smaller, and of time 10¹² times: an automatic step is as large a part of the run, and a potential or a drive changes nothing about that.
#[test]
fn automatic_steps_do_not_depend_on_the_units() {
    let mut wrong = Vec::new();
    for method in METHODS.iter().filter(|method| method.equation == Equation::Schrodinger) {
        for driven in [false, true] {
            let steps = [1.0, 1e6].map(|unit: f64| {
                let time = unit * unit;
                let drive = if driven { format!("drive = \"cos(2*t/{time:e})\"") } else { String::new() };
                let text = format!(
                    "format = 1\n[grid]\nsize = [64]\nspacing = {unit:e}\n[quantum]\nmass = 1.0\n[time]\nend = {end:e}\n[solver]\nmethod = \"{id}\"\n[[packet]]\ncenter = [{center:e}]\nwidth = {width:e}\n\
                    [[layer]]\nsets = \"potential\"\nvalue = {value:e}\n{drive}\n",
                    end = 200.0 * time,
                    id = method.id,
                    center = 32.0 * unit,
                    width = 6.0 * unit,
                    value = 0.01 / time,
                );
                let scenario = common::read(&text).ok()?;
                Some((200.0 * time / method.time_step(&scenario)).round())
            });
            // Chebyshev has no drives.
            if steps[0] != steps[1] || steps[0].is_none() && !driven {
                wrong.push(format!("{} driven {driven}: {steps:?}", method.id));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

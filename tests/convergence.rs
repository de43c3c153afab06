//! The order of a method in Δt, observed: the error against the exact solution at two steps, halved, gives log₂ of the ratio.

mod common;

use common::{Feature, cases, sound};
use ripplon::field::Precision;
use ripplon::physics::reference::distance;

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

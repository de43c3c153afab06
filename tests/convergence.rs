//! The order of a method in Δt, observed: the error against the exact solution at two steps, halved, gives log₂ of the ratio.

mod common;

use common::{Feature, cases};
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
            if order.is_nan() || (order - f64::from(case.order)).abs() > 0.1 {
                wrong.push(format!(
                    "{case} {feature:?}: order {order:.3} (errors {error:.2e}, {half:.2e})"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

//! Numbers as commands print them.

use crate::rounding::truncated;
pub(super) use crate::units::short;

/// A number with two digits more than its tolerance, at least six decimals, so that the compared digits are visible.
pub(super) fn within(value: f64, tolerance: f64) -> String {
    /// Digits that a number in double precision has.
    const DIGITS: f64 = 16.0;
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-4..1e6).contains(&tolerance) && value.abs() < 1e9 {
        return format!("{value:.6}");
    }
    if (1e-4..1e6).contains(&value.abs()) {
        let known = DIGITS - value.abs().log10().floor().max(0.0) - 1.0;
        let decimals = if tolerance > 0.0 {
            // The logarithm of a power of ten may be rounded down.
            2.0 - (tolerance * (1.0 + 1e-9)).log10().floor()
        } else {
            6.0
        };
        return format!("{value:.*}", truncated(decimals.max(6.0).min(known)));
    }
    let size = value.abs().max(f64::MIN_POSITIVE);
    let digits = (size / tolerance.max(f64::MIN_POSITIVE)).log10().ceil() + 2.0;
    let text = format!("{value:.*e}", truncated(digits.clamp(2.0, 16.0)));
    text.strip_suffix("e0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn numbers_that_people_read_have_no_powers_of_ten() {
        for (value, tolerance, text) in [
            (1.0, 1e-4, "1.000000"),
            (1.0, 1e-6, "1.00000000"),
            (0.25, 3e-9, "0.25000000000"),
            (-343.0, 2e-6, "-343.00000000"),
            (5e5, 2e7, "500000.000000"),
            // No more digits than double precision has.
            (2.0, 1e-30, "2.000000000000000"),
            (2.0, 0.0, "2.000000"),
            (0.0, 1e-9, "0"),
            (3e-7, 1e-9, "3.00000e-7"),
            (3e7, 1e-2, "30000000.000000"),
        ] {
            assert_eq!(within(value, tolerance), text, "{value} ± {tolerance}");
        }
    }
}

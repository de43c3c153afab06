//! Numbers with units for people: SI prefixes, fixed width.
//!
//! Quantum scenes use ħ = 1 and any unit of length; acoustic scenes use SI units.

/// `value` with an SI prefix and three or four significant digits, e.g. `3.214 G`, followed by nothing else; the caller
/// appends the unit.
pub fn si(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value} ");
    }
    const PREFIXES: [(&str, f64); 11] = [
        ("P", 1e15),
        ("T", 1e12),
        ("G", 1e9),
        ("M", 1e6),
        ("k", 1e3),
        ("", 1.0),
        ("m", 1e-3),
        ("µ", 1e-6),
        ("n", 1e-9),
        ("p", 1e-12),
        ("f", 1e-15),
    ];
    let (prefix, scale) = PREFIXES
        .into_iter()
        .find(|(_, scale)| value.abs() >= *scale * 0.9995)
        .unwrap_or(("f", 1e-15));
    let scaled = value / scale;
    let digits = if scaled.abs() >= 99.95 {
        1
    } else if scaled.abs() >= 9.995 {
        2
    } else {
        3
    };
    format!("{scaled:.digits$} {prefix}")
}

/// A number without meaningless digits, as texts have it that commands print: 40.000000000001 is 40, and a millionth 1e-6.
pub fn short(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e6).contains(&magnitude) {
        let text = format!("{value:.4e}");
        let Some((digits, power)) = text.split_once('e') else {
            return text;
        };
        return format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    // Four digits that count, also of 0.0001234.
    let decimals = if magnitude != 0.0 && magnitude < 1e-3 { 7 } else { 6 };
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The same with four digits, for what is told in a sentence: 0.05, 12.35, 8.333e-5. Whole digits are all kept.
pub fn four_digits(value: f64) -> String {
    let rounded = if (1e4..1e6).contains(&value.abs()) {
        value.round()
    } else {
        format!("{value:.3e}").parse().unwrap_or(value)
    };
    if (1e-4..1e6).contains(&rounded.abs()) {
        rounded.to_string()
    } else {
        short(rounded)
    }
}

/// So many of what has a regular plural, e.g. `1 step`, `2 steps`.
pub fn counted(count: u64, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}

/// Decimals of a clock whose steps have this size, in the unit that it shows: down to the first digit of a step, and one more if that shows every step as it is, or nearly so.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub fn clock_decimals(step: f64) -> usize {
    if step == 0.0 || !step.is_finite() {
        return 2;
    }
    let fewest = (-step.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    let is_shown = |decimals: &usize| {
        let decimals = *decimals;
        let shown = format!("{step:.decimals$}").parse().unwrap_or(f64::NAN);
        (step - shown).abs() < 1e-9 * step.abs()
    };
    // A clock of whole numbers would be wrong at most steps of another length.
    let exact = (fewest..=fewest + 3).find(is_shown).unwrap_or(fewest.max(1));
    // More decimals would only flicker.
    exact.min(fewest + 1)
}

/// A number of bytes in binary units, e.g. `1.50 GiB`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{count} B")
    } else {
        format!("{value:.2} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_no_plural() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "step")), ["0 steps", "1 step", "2 steps"]);
    }

    #[test]
    fn zeros_that_say_nothing_are_left_out() {
        for (value, text) in [
            (1e-6, "1e-6"),
            (-2.5e-7, "-2.5e-7"),
            (6.00123e-5, "6.0012e-5"),
            (0.000_123_456_7, "0.0001235"),
            (-0.001_234_567, "-0.001235"),
            (1e10, "1e10"),
            (40.000_000_000_001, "40"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(value), text);
        }
        for (value, text) in [
            (1e-4, "0.0001"),
            (0.000_123_456, "0.0001235"),
            (0.02, "0.02"),
            (0.048_961, "0.04896"),
            (1.0 / 12_000.0, "8.333e-5"),
            (12.345_678, "12.35"),
            (54_321.4, "54321"),
            (3e30, "3e30"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(four_digits(value), text);
        }
    }

    /// Every step of 0.15 is seen; steps that more decimals show, or none, are told apart.
    #[test]
    fn a_clock_has_the_decimals_of_its_steps() {
        for (step, decimals) in [
            (0.15, 2),
            (-0.15, 2),
            (2.5, 1),
            (1.0, 0),
            (3.0, 0),
            (400.0, 0),
            (0.02, 2),
            (0.0175, 3),
            (0.0371, 3),
            (1.125, 1),
            (0.1 / 3.0, 2),
            (40.743_665_4, 1),
            (1e-9, 9),
            (0.0, 2),
        ] {
            assert_eq!(clock_decimals(step), decimals, "{step}");
        }
    }

    #[test]
    fn si_prefixes() {
        assert_eq!(si(3.2141e9), "3.214 G");
        assert_eq!(si(0.001), "1.000 m");
        assert_eq!(si(123.456), "123.5 ");
        assert_eq!(si(0.0), "0 ");
        assert_eq!(bytes(1536), "1.50 KiB");
        assert_eq!(bytes(12), "12 B");
    }
}

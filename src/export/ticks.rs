//! Round numbers along axes and bars.

/// Round values between two ends, with their labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    /// Value and label, rising.
    pub marks: Vec<(f64, String)>,
    /// Labels are in units of 10 to this power; 0 if plain numbers are enough.
    pub exponent: i32,
}

/// The largest of 1, 2, 5 times a power of ten that is at most `most`.
pub fn round_down(most: f64) -> f64 {
    let power = 10f64.powf(most.log10().floor());
    let lead = most / power * (1.0 + 1e-9);
    power
        * if lead >= 5.0 {
            5.0
        } else if lead >= 2.0 {
            2.0
        } else {
            1.0
        }
}

/// About `count` round values from `low` to `high`; none if that is no range.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a handful of ticks"
)]
pub fn ticks(low: f64, high: f64, count: usize) -> Ticks {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return Ticks {
            marks: Vec::new(),
            exponent: 0,
        };
    }
    let wanted = span / count.max(1) as f64;
    // The next of 1, 2, 5 above what would give exactly `count`.
    let below = round_down(wanted);
    let step = if wanted <= below * 1.000_001 {
        below
    } else if (below / 10f64.powf(below.log10().floor())).round() as i32 == 2 {
        below * 2.5
    } else {
        below * 2.0
    };
    let largest = low.abs().max(high.abs());
    let magnitude = largest.log10().floor() as i32;
    let exponent = if (-2..4).contains(&magnitude) { 0 } else { magnitude };
    let unit = 10f64.powi(exponent);
    let decimals = (-(step / unit * (1.0 + 1e-9)).log10().floor()).max(0.0) as usize;
    let first = (low / step - 1e-6).ceil() as i64;
    let last = (high / step + 1e-6).floor() as i64;
    let marks = (first..=last).map(|n| {
        let value = n as f64 * step;
        (value, number(value / unit, decimals))
    });
    Ticks {
        marks: marks.collect(),
        exponent,
    }
}

/// The same along a logarithmic axis, `low` above 0: powers of ten, with 2 and 5 times them if there is room; even differences if the ends are close.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a handful of ticks"
)]
pub fn ratio_ticks(low: f64, high: f64, count: usize) -> Ticks {
    let decades = (high / low).log10();
    if !decades.is_finite() || decades <= 0.0 {
        return ticks(low, high, count);
    }
    let leads: &[f64] = if 3.0 * decades <= count as f64 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let every = (decades / count.max(1) as f64).ceil().max(1.0) as i32;
    let powers = (low.log10().floor() as i32..=high.log10().ceil() as i32).filter(|power| power % every == 0);
    let all = powers.flat_map(|power| leads.iter().map(move |lead| (lead * 10f64.powi(power), *lead, power)));
    let marks: Vec<(f64, String)> = all
        .filter(|(value, ..)| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(value))
        .map(|(value, lead, power)| {
            let label = match power {
                -3..5 => number(value, (-power).max(0) as usize),
                _ if lead == 1.0 => power_of_ten(power).replacen('×', "", 1),
                _ => format!("{lead}{}", power_of_ten(power)),
            };
            (value, label)
        })
        .collect();
    // Even differences would crowd at the upper end of several powers of ten.
    if marks.len() < 2 || (marks.len() < 3 && decades < 1.0) {
        return ticks(low, high, count);
    }
    Ticks { marks, exponent: 0 }
}

/// A number with a true minus sign, and no minus before a zero.
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let zero = !text.contains(|c: char| c.is_ascii_digit() && c != '0');
    if value < 0.0 && !zero {
        format!("−{text}")
    } else {
        text
    }
}

/// `×10⁻⁴`, or nothing for an exponent of 0.
pub fn power_of_ten(exponent: i32) -> String {
    if exponent == 0 {
        return String::new();
    }
    let digits = exponent.to_string();
    let raised = digits.chars().map(|c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => digit
            .to_digit(10)
            .and_then(|d| char::from_u32(0x2070 + d))
            .unwrap_or(digit),
    });
    format!("×10{}", raised.collect::<String>())
}

/// A number of the command line as it is printed: −1.5 × 10⁻⁵ instead of -1.5e-5.
pub fn typeset(number: &str) -> String {
    let (digits, power) = number.split_once('e').unwrap_or((number, ""));
    let power = power_of_ten(power.parse().unwrap_or(0)).replace('×', " × ");
    format!("{digits}{power}").replace('-', "−")
}

/// Three significant digits, with a power of ten if there would be many digits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "logarithms of doubles"
)]
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if (-3..5).contains(&magnitude) {
        number(value, (2 - magnitude).max(0) as usize)
    } else {
        format!(
            "{}{}",
            number(value / 10f64.powi(magnitude), 2),
            power_of_ten(magnitude)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        ticks(low, high, 5).marks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn round_values() {
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(0.0, 512.0), ["0", "200", "400"]);
        assert_eq!(labels(-1.0, 1.0), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(0.0, 0.0), Vec::<String>::new());
        let small = ticks(0.0, 3.4e-5, 5);
        assert_eq!(small.exponent, -5);
        assert_eq!(small.marks.last().unwrap().1, "3");
        assert_eq!(power_of_ten(-12), "×10⁻¹²");
        assert_eq!(short(0.000123), "1.23×10⁻⁴");
        assert_eq!(short(12.345), "12.3");
        assert_eq!(number(-0.001, 1), "0.0");
        for (plain, text) in [("-0.25", "−0.25"), ("-1.5e-10", "−1.5 × 10⁻¹⁰"), ("2e0", "2"), ("", "")] {
            assert_eq!(typeset(plain), text);
        }
        assert!((round_down(49.0) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn round_values_of_even_ratios() {
        let labels = |low, high, count| -> Vec<String> {
            let marks = ratio_ticks(low, high, count).marks.into_iter();
            marks.map(|(_, label)| label).collect()
        };
        assert_eq!(labels(0.02, 1.0, 6), ["0.02", "0.05", "0.1", "0.2", "0.5", "1"]);
        assert_eq!(labels(0.9, 1100.0, 4), ["1", "10", "100", "1000"]);
        assert_eq!(labels(1e-7, 1e7, 5), ["10⁻⁶", "0.001", "1", "1000", "10⁶"]);
        assert_eq!(labels(2e5, 1e6, 6), ["2×10⁵", "5×10⁵", "10⁶"]);
        // Less than three round values: even differences.
        assert_eq!(labels(2.0, 7.0, 5), ["2", "3", "4", "5", "6", "7"]);
        assert_eq!(labels(1.0, 1.0, 5), Vec::<String>::new());
    }
}

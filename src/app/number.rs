//! Fields for numbers of a scene: a number that is not typed anew stays as the file has it, whatever room there is to show it.

use egui::DragValue;

/// Digits that are shown; what is typed is taken with all of its own.
const DIGITS: i32 = 8;

/// A field for a number, in place of [`DragValue::new`]: limits that a caller gives hold for what is typed and dragged, not for what stands there.
pub fn number(value: &mut f64) -> DragValue<'_> {
    let now = *value;
    DragValue::new(value)
        .clamp_existing_to_range(false)
        .custom_formatter(|value, _| written(value))
        .custom_parser(move |text| read(text, now))
}

/// A number as it is shown in a field: in full where that is short, else rounded.
fn written(value: f64) -> String {
    let size = value.abs();
    let text = if value == 0.0 {
        "0".to_owned()
    } else if (1e-5..1e9).contains(&size) {
        let full = value.to_string();
        let digits = full
            .trim_start_matches(['-', '0', '.'])
            .chars()
            .filter(char::is_ascii_digit);
        if i32::try_from(digits.count()).is_ok_and(|count| count <= DIGITS) {
            full
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "between −5 and 8")]
            let before = size.log10().floor() as i32 + 1;
            let decimals = usize::try_from(DIGITS - before).unwrap_or(0);
            let rounded = format!("{value:.decimals$}");
            if rounded.contains('.') {
                rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                rounded
            }
        }
    } else {
        let full = format!("{value:e}");
        let short = format!("{value:.7e}");
        if full.len() <= short.len() { full } else { short }
    };
    text.replace('-', "−")
}

/// The number of a text: the present one where that is what stands there.
fn read(text: &str, now: f64) -> Option<f64> {
    if text == written(now) {
        return Some(now);
    }
    let number: f64 = text.trim().replace('−', "-").parse().ok()?;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever walks through the fields of a scene leaves it as it is.
    #[test]
    fn numbers_that_are_not_typed_stay() {
        let all = [
            0.0,
            0.045_555,
            68.565_26,
            1.234_567_9,
            0.123_456,
            1.0 / 3.0,
            -2e5 / 7.0,
            1e-10,
            -4.25e-9,
            1e22,
            3.0,
            1e6 + 0.5,
            std::f64::consts::PI,
            123_456_789.123,
            1.234_567_891_234e-7,
        ];
        for value in all {
            assert_eq!(
                read(&written(value), value).map(f64::to_bits),
                Some(value.to_bits()),
                "{value}"
            );
        }
        // What is short is shown in full.
        for (value, text) in [
            (0.045_555, "0.045555"),
            (-68.565_26, "−68.56526"),
            (1e-10, "1e−10"),
            (1.0 / 3.0, "0.33333333"),
            (250.0, "250"),
        ] {
            assert_eq!(written(value), text);
        }
    }

    #[test]
    fn what_is_typed_is_taken_as_it_is() {
        assert_eq!(read("0.0456", 0.045_555), Some(0.0456));
        assert_eq!(read(" −1.5e-3 ", 2.0), Some(-1.5e-3));
        assert_eq!(read("abc", 2.0), None);
        assert_eq!(read("inf", 2.0), None);
    }
}

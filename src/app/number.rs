//! Fields for numbers of a scene: a number that is not typed anew stays as the file has it, whatever room there is to show it.

use super::widgets::{Explained, row, typed};
use egui::{DragValue, Response, Ui};
use std::ops::RangeInclusive;

/// Digits that are shown; what is typed is taken with all of its own.
const DIGITS: i32 = 8;

/// Limits of numbers.
pub const ANY: RangeInclusive<f64> = f64::MIN..=f64::MAX;
pub const POSITIVE: RangeInclusive<f64> = f64::MIN_POSITIVE..=f64::MAX;
pub const NOT_NEGATIVE: RangeInclusive<f64> = 0.0..=f64::MAX;

/// A number with three digits, as a person would write it.
pub fn tidy(value: f64) -> f64 {
    let scale = 10f64.powf(value.abs().max(1e-12).log10().floor() - 2.0);
    (value / scale).round() * scale
}

/// A field for a number, in place of [`DragValue::new`]: limits that a caller gives hold for what is typed and dragged, not for what stands there.
pub fn number(value: &mut f64) -> DragValue<'_> {
    number_in(value, "")
}

/// The same with its unit behind it, which may be typed or left out.
pub fn number_in<'a>(value: &'a mut f64, unit: &'static str) -> DragValue<'a> {
    let now = *value;
    DragValue::new(value)
        .clamp_existing_to_range(false)
        .custom_formatter(move |value, _| with_unit(&written(value), unit))
        .custom_parser(move |text| read_in(text, unit, now))
}

fn read_in(text: &str, unit: &str, now: f64) -> Option<f64> {
    let text = text.trim();
    read(text.strip_suffix(unit).unwrap_or(text).trim_end(), now)
}

fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() {
        number.to_owned()
    } else {
        format!("{number} {unit}")
    }
}

/// A row with one number in its unit; what it means is said at its name and at the field. `pace`: the change for a point of dragging.
pub fn number_row(
    ui: &mut Ui,
    (label, about): (&str, &str),
    value: &mut f64,
    (unit, pace): (&'static str, f64),
    range: RangeInclusive<f64>,
) -> Response {
    row(ui, label, about, |ui| {
        let field = number_in(value, unit).speed(pace).range(range);
        let response = ui.push_id(label, |ui| ui.add(field)).inner;
        if about.is_empty() {
            response
        } else {
            response.explained(about)
        }
    })
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
    let number: f64 = typed(text.trim()).parse().ok()?;
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

    /// A field with a unit reads what it shows as the number that stands there, and new ones with and without the unit.
    #[test]
    fn units_may_be_typed_or_left_out() {
        let third = 1.0 / 3.0;
        let shown = with_unit(&written(third), "m");
        assert_eq!(shown, "0.33333333 m");
        assert_eq!(read_in(&shown, "m", third).map(f64::to_bits), Some(third.to_bits()));
        assert_eq!(
            ["2.5 m", "2.5m", " −3 "].map(|text| read_in(text, "m", third)),
            [Some(2.5), Some(2.5), Some(-3.0)]
        );
        assert_eq!([with_unit("0.5", ""), with_unit("5", "Hz")], ["0.5", "5 Hz"]);
        assert_eq!(read_in("5 s", "Hz", third), None);
    }

    #[test]
    fn what_is_typed_is_taken_as_it_is() {
        assert_eq!(read("0.0456", 0.045_555), Some(0.0456));
        assert_eq!(read(" −1.5e-3 ", 2.0), Some(-1.5e-3));
        assert_eq!(read("abc", 2.0), None);
        assert_eq!(read("inf", 2.0), None);
    }
}

//! Named constants in front of a formula: `a = 0.5 in [0, 1]; a*x^2`. The window makes a slider of each.

use super::{ExpressionError, FUNCTIONS};

/// Most constants of a formula.
const MOST: usize = 16;

/// A named constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// The range of its slider; it may be set beyond.
    pub range: Option<[f64; 2]>,
    /// The characters of the value in the text: the first, and the one after the last.
    place: (usize, usize),
}

/// The constants of a formula, and its text with blanks in their place, so that places in it stay.
///
/// # Errors
/// If the text before the last `;` is not a list of constants, or a name is already used.
pub(super) fn split(text: &str, variables: &[&str]) -> Result<(Vec<Constant>, String), ExpressionError> {
    let Some(end) = text.rfind(';') else {
        return Ok((Vec::new(), text.to_owned()));
    };
    let mut constants: Vec<Constant> = Vec::new();
    let mut first = 0;
    for part in text[..end].split(';') {
        let length = part.chars().count();
        let place = (first, first + length);
        let constant = one(part, first).ok_or_else(|| ExpressionError::Syntax {
            reason: format!("`{}` names no constant", part.trim()),
            remedy: "write e.g. `a = 0.5 in [0, 1];` before the formula".to_owned(),
            place,
        })?;
        let taken = |name: &str| {
            variables.contains(&name)
                || ["pi", "π", "e"].contains(&name)
                || FUNCTIONS.iter().any(|(known, _)| *known == name)
                || constants.iter().any(|known| known.name == name)
        };
        if taken(&constant.name) {
            return Err(ExpressionError::Syntax {
                reason: format!("`{}` has a meaning already", constant.name),
                remedy: "choose another name".to_owned(),
                place,
            });
        }
        constants.push(constant);
        if constants.len() > MOST {
            return Err(ExpressionError::TooLarge {
                what: "full of constants",
                limit: format!("{MOST} of them"),
            });
        }
        first += length + 1;
    }
    let blanks = " ".repeat(first);
    Ok((constants, blanks + &text[end + 1..]))
}

/// `name = number` or `name = number in [low, high]`; `first` is the place of its first character.
fn one(part: &str, first: usize) -> Option<Constant> {
    let (name, rest) = part.split_once('=')?;
    let name = name.trim();
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if !begins || !letters.all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let (number, range) = match rest.split_once(" in ") {
        Some((number, range)) => {
            let inside = range.trim().strip_prefix('[')?.strip_suffix(']')?;
            let (low, high) = inside.split_once(',')?;
            let ends = [finite(low)?, finite(high)?];
            (number, Some(ends).filter(|[low, high]| low < high).map(Some)?)
        }
        None => (rest, None),
    };
    let value = finite(number)?;
    let before = part.find('=')? + 1 + (number.len() - number.trim_start().len());
    let start = first + part[..before].chars().count();
    Some(Constant {
        name: name.to_owned(),
        value,
        range,
        place: (start, start + number.trim().chars().count()),
    })
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

/// The constants of a formula; none if it has none or is not one.
pub fn constants(text: &str) -> Vec<Constant> {
    split(text, &[]).map_or(Vec::new(), |(constants, _)| constants)
}

/// The formula with another value of a constant.
pub fn with_value(text: &str, constant: &Constant, value: f64) -> String {
    let (from, to) = constant.place;
    let before: String = text.chars().take(from).collect();
    let after: String = text.chars().skip(to).collect();
    format!("{before}{value}{after}")
}

#[cfg(test)]
mod tests {
    use super::super::{Expression, SPACE};
    use super::*;

    #[test]
    fn constants_stand_in_the_formula() {
        let text = "a = 0.5 in [0, 1]; δ_2 =-2e0 ;a*x^2 + δ_2";
        let formula = Expression::parse(text, SPACE).unwrap();
        assert_eq!(formula.eval(&[3.0, 0.0, 0.0, 0.0]), 0.5 * 9.0 - 2.0);
        let found = constants(text);
        assert_eq!((found[0].name.as_str(), found[0].range), ("a", Some([0.0, 1.0])));
        assert_eq!(
            (found[1].name.as_str(), found[1].value, found[1].range),
            ("δ_2", -2.0, None)
        );
        let moved = with_value(text, &found[0], 0.75);
        assert_eq!(moved, "a = 0.75 in [0, 1]; δ_2 =-2e0 ;a*x^2 + δ_2");
        let moved = with_value(&moved, &constants(&moved)[1], 1.0);
        assert_eq!(moved, "a = 0.75 in [0, 1]; δ_2 =1 ;a*x^2 + δ_2");
        assert_eq!(
            Expression::parse(&moved, SPACE).unwrap().eval(&[2.0, 0.0, 0.0, 0.0]),
            4.0
        );
    }

    #[test]
    fn what_is_no_constant_is_said_where_it_stands() {
        for (text, place) in [
            ("a = ; a*x", (0, 4)),
            ("a = 1; 2b = 3; x", (6, 13)),
            ("a = 1 in [2, 1]; x", (0, 15)),
            ("x = 1; x", (0, 5)),
            ("sin = 1; x", (0, 7)),
            ("a = 1; a = 2; x", (6, 12)),
        ] {
            let error = Expression::parse(text, SPACE).unwrap_err();
            assert_eq!(error.place(), Some(place), "{text}: {error}");
        }
        // Places in the formula behind them stay.
        let error = Expression::parse("ä = 1; ä*q", SPACE).unwrap_err();
        assert_eq!(error.place(), Some((9, 10)), "{error}");
        assert!(constants("x + 1").is_empty() && constants("a = b; x").is_empty());
    }
}

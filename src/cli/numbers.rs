//! Whole numbers as options take them.

use std::fmt::Display;
use std::str::FromStr;

/// Reads a whole number from `least` to `most`; without `most` as large as its type holds.
pub(super) fn whole<T>(least: T, most: Option<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    move |text| {
        let fits = |number: &T| *number >= least && most.is_none_or(|most| *number <= most);
        text.parse().ok().filter(fits).ok_or_else(|| match most {
            Some(most) => format!("write a whole number from {least} to {most}"),
            None => format!("write a whole number from {least}"),
        })
    }
}

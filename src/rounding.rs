//! Numbers that become counts and places.

/// The whole number of a value, cut off towards zero: 0 of what is negative or no number, the largest of what is beyond.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such a cast saturates"
)]
pub(crate) fn truncated(value: f64) -> usize {
    value as usize
}

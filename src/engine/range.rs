//! The colour range of a sequence of pictures: one logic for the window and every export.

use crate::colormap::{Kind, Levels};
use crate::scene::scenario::{ColorRange, Quantity};
use crate::solver::FieldImage;

/// Seconds in which the levels of `auto` fall by a factor of e after a maximum has gone.
pub const FALL_SECONDS: f32 = 1.0;

/// Keeps the colour range of a sequence of pictures.
///
/// `locked` is the range of the first picture. `auto` follows the field: it rises with the largest value at once, so that
/// nothing is cut off, and falls slowly ([`FALL_SECONDS`]), so that nothing flickers. A picture alone has its own range. Quantities
/// that are never negative start at 0; signed ones are symmetric. An energy density that a negative potential makes negative starts at its least value.
#[derive(Clone, Debug)]
pub struct RangeKeeper {
    mode: ColorRange,
    quantity: Option<Quantity>,
    top: Option<f32>,
    /// The least value of quantities that are as a rule not negative; 0 or below.
    bottom: Option<f32>,
}

impl RangeKeeper {
    /// A keeper that has seen no picture.
    #[must_use]
    pub fn new(mode: ColorRange) -> Self {
        Self {
            mode,
            quantity: None,
            top: None,
            bottom: None,
        }
    }

    /// Changes the mode; `locked` keeps the range shown last.
    pub fn set_mode(&mut self, mode: ColorRange) {
        self.mode = mode;
    }

    /// Forgets what was seen: another scene, or back to its start.
    pub fn reset(&mut self) {
        self.top = None;
        self.bottom = None;
    }

    /// The levels for the next picture, `seconds` of viewing time after the last one.
    pub fn levels(&mut self, image: &FieldImage, seconds: f32) -> Levels {
        let now = image
            .value
            .iter()
            .map(|v| v.abs())
            .filter(|v| v.is_finite())
            .fold(0.0f32, f32::max);
        let below = image
            .value
            .iter()
            .copied()
            .filter(|v| v.is_finite())
            .fold(0.0f32, f32::min);
        let mut levels = self.levels_of(image.quantity, now, seconds);
        let one_sided = image.quantity.is_some_and(|q| q.map_kind() == Kind::Sequential);
        if one_sided && !matches!(self.mode, ColorRange::Fixed(..)) {
            let bottom = -follow(self.mode, self.bottom.map(|bottom| -bottom), -below, seconds);
            self.bottom = Some(bottom);
            levels.low = bottom;
        }
        levels
    }

    /// The same for a picture whose largest size of a value is `now`.
    pub fn levels_of(&mut self, quantity: Option<Quantity>, now: f32, seconds: f32) -> Levels {
        if self.quantity != quantity {
            self.quantity = quantity;
            self.top = None;
            self.bottom = None;
        }
        let signed = quantity.is_some_and(|q| q.map_kind() == Kind::Diverging);
        if let ColorRange::Fixed(low, high) = self.mode {
            #[expect(clippy::cast_possible_truncation, reason = "pictures are in single precision")]
            return Levels {
                low: low as f32,
                high: high as f32,
            };
        }
        let top = follow(self.mode, self.top, now, seconds);
        self.top = Some(top);
        Levels {
            low: if signed { -top } else { 0.0 },
            high: top,
        }
    }
}

/// The end of a range after `before`, where the largest size is `now`.
fn follow(mode: ColorRange, before: Option<f32>, now: f32, seconds: f32) -> f32 {
    match (mode, before) {
        (_, None | Some(0.0)) => now,
        (ColorRange::Locked, Some(before)) => before,
        (_, Some(before)) => now.max(now + (before - now) * (-seconds.max(0.0) / FALL_SECONDS).exp()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(quantity: Quantity, value: &[f32]) -> FieldImage {
        FieldImage {
            size: [value.len(), 1],
            value: value.to_vec(),
            quantity: Some(quantity),
            ..FieldImage::default()
        }
    }

    #[test]
    fn ranges_follow_lock_and_stay_symmetric() {
        let mut keeper = RangeKeeper::new(ColorRange::Auto);
        let bright = picture(Quantity::Density, &[0.0, 4.0]);
        let dim = picture(Quantity::Density, &[0.0, 1.0]);
        assert_eq!(keeper.levels(&bright, 0.0), Levels { low: 0.0, high: 4.0 });
        let later = keeper.levels(&dim, FALL_SECONDS).high;
        assert!(
            (later - (1.0 + 3.0 * (-1.0f32).exp())).abs() < 1e-6,
            "falls slowly: {later}"
        );
        assert_eq!(
            keeper.levels(&bright, 0.1),
            Levels { low: 0.0, high: 4.0 },
            "rises at once"
        );
        keeper.set_mode(ColorRange::Locked);
        assert_eq!(keeper.levels(&dim, 10.0), Levels { low: 0.0, high: 4.0 });
        let signed = picture(Quantity::Real, &[-2.0, 1.0, f32::NAN]);
        assert_eq!(keeper.levels(&signed, 0.0), Levels { low: -2.0, high: 2.0 });
        let energy = picture(Quantity::Energy, &[-2.0, 1.0]);
        assert_eq!(keeper.levels(&energy, 0.0), Levels { low: -2.0, high: 2.0 });
        let higher = picture(Quantity::Energy, &[0.5, 1.0]);
        assert_eq!(keeper.levels(&higher, 0.0), Levels { low: -2.0, high: 2.0 }, "locked");
        keeper.set_mode(ColorRange::Fixed(-1.0, 3.0));
        assert_eq!(keeper.levels(&signed, 0.0), Levels { low: -1.0, high: 3.0 });
    }
}

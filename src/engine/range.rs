//! The colour range of a sequence of pictures: one logic for the window and every export.

use crate::colormap::{Kind, Levels};
use crate::physics::Initial;
use crate::scene::Scenario;
use crate::scene::scenario::{ColorRange, Quantity};
use crate::solver::FieldImage;
use std::f64::consts::TAU;

/// Seconds in which the levels of `auto` fall by a factor of e after a maximum has gone.
pub const FALL_SECONDS: f32 = 0.6;

/// The share of the run's largest amplitude that the levels of `auto` do not fall below; its square for squares of amplitudes (densities,
/// energies). A wave that has left is then dark, and what remains of it is not made bright.
pub const LEAST_SHARE: f32 = 0.01;

/// Fewest pixels per wavelength at which a phase is visible as a hue: with fewer, the hues blend to grey.
pub const PIXELS_PER_HUES: f64 = 10.0;

/// What is shown of a field whose phase is requested, with `pixels_per_site` on the screen or in the picture: the
/// density, if the shortest wavelength 2π/k of the scene's packets has fewer than [`PIXELS_PER_HUES`] pixels. Other
/// quantities, graphs of a line and scenes without moving packets are shown as requested.
pub fn shown_quantity(scenario: &Scenario, asked: Quantity, pixels_per_site: f64) -> Quantity {
    let hues = asked != Quantity::Phase || scenario.grid().rank() == 1 || hues_have_room(scenario, pixels_per_site);
    if hues { asked } else { Quantity::Density }
}

/// Whether the shortest wavelength of the scene's packets has [`PIXELS_PER_HUES`] pixels, with `pixels_per_site`. A graph of a line that has less is
/// filled with one colour.
pub fn hues_have_room(scenario: &Scenario, pixels_per_site: f64) -> bool {
    // What relaxes in imaginary time has one phase everywhere.
    if scenario.time().imaginary {
        return false;
    }
    let Initial::Packets(packets) = scenario.initial() else {
        return true;
    };
    let largest = packets
        .iter()
        .map(|packet| packet.momentum.iter().map(|k| k * k).sum::<f64>().sqrt())
        .fold(0.0, f64::max);
    TAU / (largest * scenario.grid().spacing()) * pixels_per_site >= PIXELS_PER_HUES
}

/// The smallest upper end of a range of `auto`, as a share of the run's largest value of a quantity.
pub fn least_share(quantity: Option<Quantity>) -> f32 {
    match quantity {
        Some(Quantity::Density | Quantity::Energy | Quantity::Momentum | Quantity::Intensity) => {
            LEAST_SHARE * LEAST_SHARE
        }
        Some(Quantity::Peak | Quantity::Level) => 0.0,
        _ => LEAST_SHARE,
    }
}

/// Keeps the colour range of a sequence of pictures.
///
/// `locked` is the range of the first picture. `auto` follows the field: it rises with the largest value at once, so that
/// nothing is cut off, and falls slowly ([`FALL_SECONDS`]), so that nothing flickers, and never below a share of the run's largest value
/// ([`least_share`]), or of the largest value since a mirror's transducers began to play. A single picture has its own range. Quantities
/// that are never negative start at 0; signed ones are symmetric. An energy density that a negative potential makes negative starts at its least value.
#[derive(Clone, Debug)]
pub struct RangeKeeper {
    mode: ColorRange,
    quantity: Option<Quantity>,
    top: Option<f32>,
    /// The least value of quantities that are usually not negative; 0 or below.
    bottom: Option<f32>,
    /// The largest size of a value so far.
    largest: f32,
    /// `auto` ended at its least share.
    held: bool,
    /// The transducers of a mirror play.
    plays: bool,
}

impl RangeKeeper {
    /// Without a picture so far.
    #[must_use]
    pub fn new(mode: ColorRange) -> Self {
        Self {
            mode,
            quantity: None,
            top: None,
            bottom: None,
            largest: 0.0,
            held: false,
            plays: false,
        }
    }

    /// Changes the mode; `locked` keeps the range shown last.
    pub fn set_mode(&mut self, mode: ColorRange) {
        self.mode = mode;
    }

    /// Forgets all pictures, for another scene or a reset.
    pub fn reset(&mut self) {
        self.top = None;
        self.bottom = None;
        self.largest = 0.0;
        self.held = false;
    }

    /// Whether the transducers of a mirror play. Their waves are often a thousand times weaker than the earlier field: `auto` starts again when they begin.
    pub fn set_playing(&mut self, plays: bool) {
        if plays && !self.plays && self.mode == ColorRange::Auto {
            self.reset();
        }
        self.plays = plays;
    }

    /// Whether the field has become so faint that the range of the last picture was held at its least share of the run's largest value.
    pub fn is_held(&self) -> bool {
        self.held
    }

    /// The levels for the next picture, `seconds` of viewing time after the last one.
    pub fn levels(&mut self, image: &FieldImage, seconds: f32) -> Levels {
        let (now, below) = extremes(&image.value);
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
            self.reset();
        }
        let signed = quantity.is_some_and(|q| q.map_kind() == Kind::Diverging);
        self.held = false;
        if let ColorRange::Fixed(low, high) = self.mode {
            #[expect(clippy::cast_possible_truncation, reason = "pictures are in single precision")]
            return Levels {
                low: low as f32,
                high: high as f32,
            };
        }
        self.largest = self.largest.max(now);
        let least = self.largest * least_share(quantity);
        self.held = self.mode == ColorRange::Auto && now < least;
        let mut top = follow(self.mode, self.top, now, seconds);
        if self.mode == ColorRange::Auto {
            top = top.max(least);
        }
        self.top = Some(top);
        Levels {
            low: if signed { -top } else { 0.0 },
            high: top,
        }
    }
}

/// The largest size and the least value of those that are finite; 0 if there are none below or above.
fn extremes(values: &[f32]) -> (f32, f32) {
    /// Numbers that are compared side by side: a picture in the window has half a million.
    const SIDE: usize = 16;
    let (mut most, mut least) = ([0.0f32; SIDE], [0.0f32; SIDE]);
    let mut take = |n: usize, value: f32| {
        let value = if value.abs() < f32::INFINITY { value } else { 0.0 };
        let size = value.abs();
        most[n] = if size > most[n] { size } else { most[n] };
        least[n] = if value < least[n] { value } else { least[n] };
    };
    let (rows, rest) = values.as_chunks::<SIDE>();
    for row in rows {
        for n in 0..SIDE {
            take(n, row[n]);
        }
    }
    for (n, value) in rest.iter().enumerate() {
        take(n, *value);
    }
    let largest = most.into_iter().fold(0.0, f32::max);
    (largest, least.into_iter().fold(0.0, f32::min))
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
    fn extremes_are_those_of_finite_values_wherever_they_stand() {
        for count in [0, 1, 15, 16, 17, 40] {
            let mut values = vec![0.25f32; count];
            assert_eq!(extremes(&values), (if count == 0 { 0.0 } else { 0.25 }, 0.0));
            for n in 0..count {
                values[n] = -3.0;
                assert_eq!(extremes(&values), (3.0, -3.0), "{n} of {count}");
                values[n] = f32::NAN;
                assert!(extremes(&values).0 <= 0.25);
                values[n] = f32::NEG_INFINITY;
                assert_eq!(extremes(&values).1, 0.0);
                values[n] = 0.25;
            }
        }
    }

    #[test]
    fn what_a_mirror_plays_has_a_range_of_its_own() {
        let mut keeper = RangeKeeper::new(ColorRange::Auto);
        let high =
            |keeper: &mut RangeKeeper, value: f32| keeper.levels(&picture(Quantity::Pressure, &[value]), 0.1).high;
        keeper.set_playing(false);
        assert_eq!(high(&mut keeper, 1.0), 1.0);
        for _ in 0..200 {
            high(&mut keeper, 1e-6);
        }
        assert!(high(&mut keeper, 1e-6) > 1e-3, "what is left is not made bright");
        for value in [1e-6, 3e-6, 2e-6] {
            keeper.set_playing(true);
            assert!(high(&mut keeper, value) < 4e-6);
        }
        // A range that is locked stays.
        let mut locked = RangeKeeper::new(ColorRange::Locked);
        assert_eq!(high(&mut locked, 1.0), 1.0);
        locked.set_playing(true);
        assert_eq!(high(&mut locked, 1e-6), 1.0);
    }

    #[test]
    fn what_is_left_of_a_wave_is_not_made_bright() {
        let mut keeper = RangeKeeper::new(ColorRange::Auto);
        let sound = |size: f32| picture(Quantity::Pressure, &[size, -0.5 * size]);
        assert_eq!(keeper.levels(&sound(2.0), 0.0), Levels { low: -2.0, high: 2.0 });
        assert!(!keeper.is_held());
        // Long after: a hundredth of the largest value, though the field has a thousandth.
        let levels = keeper.levels(&sound(0.002), 100.0);
        assert!(
            (levels.high - 0.02).abs() < 1e-6 && (levels.low + 0.02).abs() < 1e-6,
            "{levels:?}"
        );
        assert!(keeper.is_held());
        // A wave that comes back is followed again.
        assert_eq!(keeper.levels(&sound(1.0), 0.1).high, 1.0);
        assert!(!keeper.is_held());
        // Squares of amplitudes: the square of the share.
        let density = |size: f32| picture(Quantity::Density, &[size, 0.0]);
        keeper.levels(&density(4.0), 0.0);
        assert_eq!(keeper.levels(&density(1e-3), 100.0).high, 1e-3);
        assert!((keeper.levels(&density(1e-6), 100.0).high - 4e-4).abs() < 1e-9);
        keeper.reset();
        assert_eq!(keeper.levels(&density(1e-6), 0.0).high, 1e-6, "another run");
    }

    #[test]
    fn phases_are_shown_where_a_wavelength_has_room() {
        let text = crate::scene::presets::find("double-slit").unwrap().text;
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        // A wavelength of 12 sites.
        for (pixels, shown) in [
            (0.5, Quantity::Density),
            (0.84, Quantity::Phase),
            (2.0, Quantity::Phase),
        ] {
            assert_eq!(shown_quantity(&scenario, Quantity::Phase, pixels), shown, "{pixels}");
        }
        assert_eq!(shown_quantity(&scenario, Quantity::Real, 0.1), Quantity::Real);
        let text = crate::scene::presets::find("step").unwrap().text;
        let (_, line) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        // Of a graph the fill changes, not the quantity; 9.7 sites per wavelength.
        assert_eq!(shown_quantity(&line, Quantity::Phase, 0.5), Quantity::Phase);
        assert!(!hues_have_room(&line, 1.0) && hues_have_room(&line, 1.1));
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

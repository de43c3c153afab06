//! How finely a volume is drawn: coarsely while it moves, fully once it rests.

use crate::colormap::Levels;
use crate::scene::scenario::Orbit;

/// Seconds that a picture with every pixel may take while things move.
const SMOOTH: f64 = 1.0 / 60.0;
/// Seconds that a picture may take while things move, where that is too little for every pixel.
const BUDGET: f64 = 1.0 / 30.0;
/// Seconds that a picture at rest may take; nothing answers meanwhile.
const PATIENCE: f64 = 1.5;
/// Seconds without a change after which a picture is drawn fully.
pub const REST: f64 = 0.2;
/// Steps of a ray in texels of the field, at rest and while moving.
const STEPS: [f32; 2] = [0.5, 1.5];
/// A picture before anything was measured.
const FIRST: f64 = 0.25;
/// The coarsest picture: this part of the pixels along each axis.
const COARSEST: f64 = 0.125;

/// What to draw with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fineness {
    /// Pixels of the picture per pixel of the window, along each axis.
    pub scale: f32,
    /// Texels of the field per step of a ray.
    pub texels_per_step: f32,
}

/// Everything that a picture shows: another one moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The picture of the run.
    pub serial: u64,
    /// From where.
    pub orbit: Orbit,
    /// The slices.
    pub slices: [usize; 3],
    /// The colours.
    pub map: &'static str,
    /// Their range.
    pub levels: Levels,
    /// The opacity's points.
    pub opacity: Vec<[f64; 2]>,
    /// Lit along gradients.
    pub shading: bool,
    /// Pixels.
    pub pixels: [f32; 2],
}

/// Learns what a picture costs and chooses how finely the next one is drawn.
#[derive(Clone, Debug, Default)]
pub struct Refinement {
    /// Pixels times steps a second; 0 = not known yet.
    rate: f64,
    /// When something moved last.
    moved: f64,
    shown: Option<Shown>,
    /// The largest scale at which what is shown was drawn at rest; 0 = not yet.
    rested: f32,
    /// A picture at rest may take as long as it takes.
    unhurried: bool,
}

impl Refinement {
    /// One that draws pictures at rest with every pixel on the slowest device.
    #[must_use]
    pub fn unhurried() -> Self {
        Self {
            unhurried: true,
            ..Self::default()
        }
    }

    /// A picture of `cost` pixels times steps took `seconds`.
    pub fn measured(&mut self, cost: f64, seconds: f64) {
        let now = cost / seconds.max(1e-6);
        self.rate = if self.rate == 0.0 {
            now
        } else {
            0.6 * self.rate + 0.4 * now
        };
    }

    /// Whether what is shown was drawn at rest with every pixel.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.rested >= 1.0
    }

    /// What is shown at `time` seconds; another picture than before counts as movement.
    pub fn shows(&mut self, shown: Shown, time: f64) {
        if self.shown.as_ref() != Some(&shown) {
            self.shown = Some(shown);
            self.moved = time;
            self.rested = 0.0;
        }
    }

    /// Seconds until things have rested for long enough; `None` if they have.
    #[must_use]
    pub fn until_rest(&self, time: f64) -> Option<f64> {
        let left = self.moved + REST - time;
        (left > 0.0).then_some(left)
    }

    /// What a picture of `pixels` at `time` is drawn with, of a field with `texels` along its longest side. At rest it only becomes finer:
    /// a small picture measured first makes a device look slower than it is.
    #[must_use]
    pub fn fineness(&mut self, pixels: f64, texels: usize, time: f64) -> Fineness {
        let full = pixels * texels as f64;
        let rate = self.rate;
        let fitting = |seconds: f64, texels_per_step: f32| {
            if rate == 0.0 {
                return FIRST;
            }
            let cost = full / f64::from(texels_per_step);
            (seconds * rate / cost).sqrt().clamp(COARSEST, 1.0)
        };
        let [fine, coarse] = STEPS;
        let whole = |scale: f64, texels_per_step| Fineness {
            // Steps of an eighth, so that small changes of the rate do not make a new picture of another size.
            scale: ((scale * 8.0).floor() / 8.0).max(COARSEST) as f32,
            texels_per_step,
        };
        if self.until_rest(time).is_none() {
            let scale = if self.unhurried { 1.0 } else { fitting(PATIENCE, fine) };
            let resting = whole(scale, fine);
            self.rested = self.rested.max(resting.scale);
            return Fineness {
                scale: self.rested,
                ..resting
            };
        }
        for step in STEPS {
            if fitting(SMOOTH, step) >= 1.0 {
                return whole(1.0, step);
            }
        }
        whole(fitting(BUDGET, coarse), coarse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(serial: u64) -> Shown {
        Shown {
            serial,
            orbit: Orbit::default(),
            slices: [0; 3],
            map: "tide",
            levels: Levels { low: -1.0, high: 1.0 },
            opacity: Vec::new(),
            shading: false,
            pixels: [1.0; 2],
        }
    }

    #[test]
    fn a_slow_device_draws_coarsely_while_things_move() {
        let mut refinement = Refinement::default();
        let pixels = 1e6;
        refinement.shows(shown(1), 10.0);
        assert!(
            refinement.fineness(pixels, 100, 10.1).scale < 0.3,
            "nothing is known yet"
        );
        // A picture of a million pixels at half a texel a step takes 1 s: 2e8 pixels × steps.
        refinement.measured(2e8, 1.0);
        let moving = refinement.fineness(pixels, 100, 10.1);
        assert!(moving.scale <= 0.3 && moving.texels_per_step > 1.0, "{moving:?}");
        // 1 s is within the patience.
        let resting = refinement.fineness(pixels, 100, 10.3);
        assert_eq!(
            resting,
            Fineness {
                scale: 1.0,
                texels_per_step: 0.5
            }
        );
        refinement.shows(shown(1), 10.3);
        assert!(refinement.is_full());
        // A slower picture makes the next one at rest no coarser.
        refinement.measured(2e8, 100.0);
        assert_eq!(refinement.fineness(pixels, 100, 10.4), resting);
        refinement.measured(2e8, 0.5);
        assert!(refinement.until_rest(10.1).is_some() && refinement.until_rest(10.3).is_none());
        refinement.shows(shown(2), 10.5);
        assert!(
            refinement.until_rest(10.5).is_some() && !refinement.is_full(),
            "another picture"
        );
        // Sixteen times as many pixels are not.
        assert!(refinement.fineness(16.0 * pixels, 100, 11.0).scale < 1.0);
        let mut unhurried = Refinement::unhurried();
        unhurried.shows(shown(1), 10.0);
        unhurried.measured(2e8, 100.0);
        assert!(
            unhurried.fineness(16.0 * pixels, 100, 10.1).scale < 0.2,
            "while things move"
        );
        assert_eq!(unhurried.fineness(16.0 * pixels, 100, 10.3).scale, 1.0);
    }

    #[test]
    fn a_fast_device_always_draws_fully() {
        let mut refinement = Refinement::default();
        refinement.shows(shown(1), 0.0);
        refinement.measured(5e8, 0.016);
        assert_eq!(
            refinement.fineness(1e6, 256, 0.1),
            Fineness {
                scale: 1.0,
                texels_per_step: 0.5
            }
        );
    }

    #[test]
    fn a_device_between_takes_longer_steps_before_it_leaves_pixels_out() {
        let mut refinement = Refinement::default();
        refinement.shows(shown(1), 0.0);
        // Two million pixels of 256 texels at half a texel a step: 23 ms, more than a sixtieth of a second; a third of that with long steps.
        refinement.measured(2e6 * 512.0, 0.023);
        let moving = Fineness {
            scale: 1.0,
            texels_per_step: 1.5,
        };
        assert_eq!(refinement.fineness(2e6, 256, 0.1), moving);
        assert_eq!(refinement.fineness(2e6, 256, 0.3).texels_per_step, 0.5, "at rest");
    }
}

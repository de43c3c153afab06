//! Rows of pixels, compiled for the widest vectors that the machine has: from values to places in a table of colours.

#![allow(
    unsafe_code,
    reason = "kernels are compiled for instructions that `Level::run` has seen to be there; nothing in them is unsafe by itself"
)]

use crate::backend::simd::{Kernel, Lanes};
use crate::colormap::{Levels, Mapping, direction_entry, whole};

/// Places in [`crate::colormap::shades`]: the hue by the direction of Re and Im, the step by the value, of which the brightness is left.
pub(super) struct Hues<'a> {
    pub(super) value: &'a mut [f32],
    pub(super) re: &'a [f32],
    pub(super) im: &'a [f32],
    pub(super) places: &'a mut [u16],
    /// The range, and the exponent of the brightness.
    pub(super) look: (Levels, f32),
}

impl Kernel<f32> for Hues<'_> {
    // SAFETY: safe on every machine; that it has the instructions is the caller's care.
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = f32>>(self) {
        bend(self.value, self.look);
        let parts = self.re.iter().zip(self.im);
        for ((place, bright), (re, im)) in self.places.iter_mut().zip(self.value).zip(parts) {
            #[expect(clippy::cast_possible_truncation, reason = "two entries of tables of 256")]
            let both = (direction_entry(*re, *im) << 8 | whole(255.0 * *bright) as usize) as u16;
            *place = both;
        }
    }
}

/// Entries of a map; `bent`: values are raised as brightnesses first, which are left of them.
pub(super) struct Entries<'a> {
    pub(super) value: &'a mut [f32],
    pub(super) entries: &'a mut [u8],
    pub(super) mapping: Mapping,
    pub(super) bent: Option<(Levels, f32)>,
}

impl Kernel<f32> for Entries<'_> {
    // SAFETY: as above.
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = f32>>(self) {
        let Mapping { offset, scale } = self.mapping;
        let mut mapping = self.mapping;
        if let Some(look) = self.bent {
            bend(self.value, look);
            // What is mapped is low + span · brightness.
            let Levels { low, high } = look.0;
            mapping = Mapping {
                offset: offset + scale * low,
                scale: scale * (high - low),
            };
        }
        mapping.entries(self.value, self.entries);
    }
}

/// Values become brightnesses, 0…1, raised to an exponent: the common roots without logarithms.
#[inline(always)]
fn bend(values: &mut [f32], (levels, gamma): (Levels, f32)) {
    #[inline(always)]
    fn each(values: &mut [f32], levels: Levels, raised: impl Fn(f32) -> f32) {
        for value in values {
            *value = raised(levels.brightness(*value));
        }
    }
    if gamma == 0.5 {
        each(values, levels, f32::sqrt);
    } else if gamma == 1.0 {
        each(values, levels, |x| x);
    } else {
        each(values, levels, |x| x.powf(gamma));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::simd::Level;
    use crate::colormap::{Kind, dimmed, find, shades};

    /// Every kind of vectors gives what the functions for one pixel do.
    #[test]
    fn rows_are_coloured_as_pixels_are() {
        let map = find("hue").unwrap();
        let shades = shades(map);
        let values: Vec<f32> = (0..999u16).map(|n| f32::from(n) / 900.0 - 0.05).collect();
        let angles = values.iter().map(|value| 7.0 * value);
        let (re, im): (Vec<f32>, Vec<f32>) = angles.map(|angle| (angle.cos(), angle.sin())).unzip();
        let levels = Levels { low: 0.0, high: 0.9 };
        for level in Level::available() {
            for gamma in [0.5, 1.0, 0.7] {
                let (mut value, mut places) = (values.clone(), vec![0; values.len()]);
                level.run(Hues {
                    value: &mut value,
                    re: &re,
                    im: &im,
                    places: &mut places,
                    look: (levels, gamma),
                });
                for (n, place) in places.iter().enumerate() {
                    let step = whole(255.0 * levels.brightness(values[n]).powf(gamma)) as usize;
                    let [lower, upper] = [step.saturating_sub(1), (step + 1).min(255)];
                    let hue = map.table()[direction_entry(re[n], im[n])];
                    let near = [lower, step, upper].map(|step| dimmed(hue, step));
                    // A root is rounded, and may fall on the other side of a half.
                    assert!(near.contains(&shades[usize::from(*place)]), "{n}: {gamma}");
                }
            }
            for kind in [Kind::Sequential, Kind::Diverging] {
                let mapping = levels.mapping(kind);
                let mut entries = vec![0; values.len()];
                level.run(Entries {
                    value: &mut values.clone(),
                    entries: &mut entries,
                    mapping,
                    bent: None,
                });
                let wanted: Vec<usize> = values.iter().map(|value| mapping.entry(*value)).collect();
                assert!(entries.iter().map(|entry| usize::from(*entry)).eq(wanted));
            }
        }
    }
}

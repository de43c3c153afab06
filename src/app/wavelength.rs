//! The wavelength along a line through a picture, as the ruler shows it.

use crate::scene::scenario::Quantity;
use crate::solver::FieldImage;
use std::f64::consts::{PI, TAU};

/// Most samples along a line.
const MOST: f64 = 4096.0;

/// The mean wavelength between two places, in sites, along the line between them; `None` where there is less than a whole wave, or nothing that has one.
///
/// Of phases it is 2π over their mean slope. Of what has a sign it is twice the mean distance of its zeros, each linear between samples.
#[must_use]
pub fn along(image: &FieldImage, [from, to]: [[f64; 2]; 2]) -> Option<f64> {
    let reduction = image.reduction.max(1) as f64;
    let length = (to[0] - from[0]).hypot(to[1] - from[1]);
    let count = (4.0 * length / reduction).ceil().min(MOST);
    if count < 8.0 || image.value.is_empty() || !(image.size.iter().all(|n| *n > 0)) {
        return None;
    }
    let samples = (0..=count as usize).map(|n| {
        let part = n as f64 / count;
        let at = [0, 1].map(|axis| from[axis] + part * (to[axis] - from[axis]));
        (part * length, at)
    });
    match image.quantity? {
        Quantity::Phase if image.phase.len() == image.value.len() => {
            let phases: Vec<f64> = samples.map(|(_, at)| nearest(image, &image.phase, at)).collect();
            let turned = |pair: &[f64]| (pair[1] - pair[0] + PI).rem_euclid(TAU) - PI;
            let sum: f64 = phases.windows(2).map(turned).sum();
            (sum.abs() >= TAU).then(|| TAU * length / sum.abs())
        }
        Quantity::Pressure | Quantity::Real | Quantity::Imaginary => {
            let values: Vec<(f64, f64)> = samples.map(|(way, at)| (way, between(image, at))).collect();
            let zeros: Vec<f64> = values
                .windows(2)
                .filter(|pair| pair[0].1 * pair[1].1 < 0.0)
                .map(|pair| {
                    let [(a, u), (b, v)] = [pair[0], pair[1]];
                    a + (b - a) * u / (u - v)
                })
                .collect();
            let (first, last) = (zeros.first()?, zeros.last()?);
            (zeros.len() > 2).then(|| 2.0 * (last - first) / (zeros.len() - 1) as f64)
        }
        _ => None,
    }
}

/// The texel's value at a place in sites.
fn nearest(image: &FieldImage, values: &[f32], at: [f64; 2]) -> f64 {
    let texel = [0, 1].map(|axis| {
        let place = (at[axis] - image.origin[axis] as f64) / image.reduction.max(1) as f64;
        (place.max(0.0) as usize).min(image.size[axis] - 1)
    });
    f64::from(values[texel[0] + image.size[0] * texel[1]])
}

/// The value at a place in sites, linear between the middles of texels.
fn between(image: &FieldImage, at: [f64; 2]) -> f64 {
    let (mut low, mut part) = ([0; 2], [0.0; 2]);
    for axis in 0..2 {
        let place = (at[axis] - image.origin[axis] as f64) / image.reduction.max(1) as f64 - 0.5;
        let place = place.clamp(0.0, (image.size[axis] - 1) as f64);
        low[axis] = place as usize;
        part[axis] = place - low[axis] as f64;
    }
    let value = |across: usize, up: usize| {
        let i = (low[0] + across).min(image.size[0] - 1);
        let j = (low[1] + up).min(image.size[1] - 1);
        f64::from(image.value[i + image.size[0] * j])
    };
    let row = |up: usize| value(0, up) + part[0] * (value(1, up) - value(0, up));
    row(0) + part[1] * (row(1) - row(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 120 × 80 sites in texels of 2, with a plane wave of 14 sites at an angle whose cosine is 0.8; site n stands at n + ½.
    fn image(quantity: Quantity) -> FieldImage {
        let mut image = FieldImage {
            size: [60, 40],
            reduction: 2,
            quantity: Some(quantity),
            ..FieldImage::default()
        };
        for j in 0..40 {
            for i in 0..60 {
                let [x, y] = [f64::from(2 * i + 1), f64::from(2 * j + 1)];
                let phase = TAU * (0.8 * x + 0.6 * y) / 14.0;
                image.value.push(if quantity == Quantity::Phase {
                    1.0
                } else {
                    phase.cos() as f32
                });
                image.phase.push((phase.sin()).atan2(phase.cos()) as f32);
            }
        }
        if quantity != Quantity::Phase {
            image.phase.clear();
        }
        image
    }

    /// Along the wave 14 sites, along x 14/0.8. Half a texel at either end of some 5 waves is 2 %.
    #[test]
    fn a_plane_wave_has_its_length_along_any_line() {
        for quantity in [Quantity::Phase, Quantity::Pressure] {
            let image = image(quantity);
            for (ends, wanted) in [
                ([[5.0, 5.0], [85.0, 65.0]], 14.0),
                ([[5.0, 40.0], [110.0, 40.0]], 14.0 / 0.8),
                ([[110.0, 40.0], [5.0, 40.0]], 14.0 / 0.8),
            ] {
                let found = along(&image, ends).expect("a wavelength");
                assert!(
                    (found / wanted - 1.0).abs() < 0.03,
                    "{quantity:?}: {found} is not {wanted}"
                );
            }
            // Along a crest there is none, nor within half a wave.
            assert_eq!(along(&image, [[60.0, 10.0], [30.0, 50.0]]), None);
            assert_eq!(along(&image, [[5.0, 40.0], [12.0, 40.0]]), None);
        }
        assert_eq!(along(&image(Quantity::Density), [[5.0, 40.0], [110.0, 40.0]]), None);
    }
}

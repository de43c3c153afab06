//! Colours and the curves through them: sRGB, Oklab, and the tables of maps that are made here.

use super::Table;
use colorgrad::Gradient;
use std::f64::consts::TAU;

/// sRGB value 0…1 to linear light (IEC 61966-2-1).
pub fn srgb_decode(value: f64) -> f64 {
    if value <= 0.04045 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

/// Linear light to sRGB value 0…1 (IEC 61966-2-1).
pub fn srgb_encode(light: f64) -> f64 {
    if light <= 0.0031308 {
        light * 12.92
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    }
}

/// Oklab (L, a, b) of an sRGB colour.
pub fn oklab(color: [u8; 3]) -> [f64; 3] {
    let [r, g, b] = color.map(|channel| srgb_decode(f64::from(channel) / 255.0));
    let l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b).cbrt();
    let m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b).cbrt();
    let s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b).cbrt();
    [
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    ]
}

/// Linear sRGB light of an Oklab colour; outside 0…1 where sRGB has no such colour.
pub(super) fn linear_from_oklab([lightness, a, b]: [f64; 3]) -> [f64; 3] {
    let l = (lightness + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let m = (lightness - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let s = (lightness - 0.0894841775 * a - 1.2914855480 * b).powi(3);
    [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    ]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "0…255 after clamping"
)]
pub(super) fn encode(light: [f64; 3]) -> [u8; 3] {
    light.map(|value| (srgb_encode(value.clamp(0.0, 1.0)) * 255.0).round() as u8)
}

/// Lightness and chroma of the circle of hues. At L = 0.75 sRGB holds every hue up to C = 0.1275, more than at any other lightness.
pub(super) const HUE_LIGHTNESS: f64 = 0.75;
pub(super) const HUE_CHROMA: f64 = 0.127;
/// Oklab hue of sRGB red, so that phase 0 (real, positive) is red; cyan is then opposite.
const HUE_OF_RED: f64 = 29.23 / 360.0 * TAU;

pub(super) fn hue(turn: f64) -> [f64; 3] {
    let angle = HUE_OF_RED + TAU * turn;
    [HUE_LIGHTNESS, HUE_CHROMA * angle.cos(), HUE_CHROMA * angle.sin()]
}

/// An ellipse in the plane of lightness and blue–yellow, the two that colour-blind eyes keep, at even steps of length.
pub(super) fn daynight(turn: f64) -> [f64; 3] {
    const YELLOW: f64 = 0.105;
    const LIGHT: f64 = 0.27;
    // The quarter arc from yellow to light as a table of lengths; the other quarters mirror it.
    const STEPS: u32 = 4096;
    let turn = turn - turn.floor();
    let quarter = (turn * 4.0).floor();
    let within = turn * 4.0 - quarter;
    let backwards = quarter.rem_euclid(2.0) > 0.5;
    let fraction = if backwards { 1.0 - within } else { within };
    let point = |n: u32| {
        let angle = f64::from(n) / f64::from(STEPS) * TAU / 4.0;
        (YELLOW * angle.cos(), LIGHT * angle.sin())
    };
    let length = |n: u32| {
        let ((b0, l0), (b1, l1)) = (point(n), point(n + 1));
        (b1 - b0).hypot(l1 - l0)
    };
    let target = fraction * (0..STEPS).map(length).sum::<f64>();
    let mut walked = 0.0;
    let mut n = 0;
    while n < STEPS && walked + length(n) / 2.0 < target {
        walked += length(n);
        n += 1;
    }
    let (b, l) = point(n);
    let b = if (1.0..3.0).contains(&quarter) { -b } else { b };
    let l = if quarter >= 2.0 { -l } else { l };
    [0.60 + l, 0.0, b]
}

/// From blue (−1) through near black (0) to amber (+1), with equal lightness on both sides.
pub(super) fn tide(s: f64) -> [f64; 3] {
    let size = s.abs();
    let lightness = 0.16 + 0.68 * size;
    // Chroma rises fast, so that the sign shows at small values, and stays inside sRGB at both ends.
    let chroma = 0.125 * (1.0 - (1.0 - size).powi(2)) * (1.0 - 0.25 * size * size);
    let angle = if s < 0.0 { 240.0 } else { 65.0_f64 }.to_radians();
    [lightness, chroma * angle.cos(), chroma * angle.sin()]
}

/// Oklab points that `dawn` passes: from the ground of dark views, #08090a, through blue and rose to pale yellow. Lightness rises all the way
/// and the hues that colour-blind eyes keep, blue and yellow, stand at its two sides.
pub(super) const DAWN: [[f64; 3]; 6] = [
    [0.1390, -0.0012, -0.0027],
    [0.31, 0.005, -0.105],
    [0.47, 0.055, -0.115],
    [0.64, 0.085, -0.005],
    [0.82, 0.045, 0.095],
    [0.97, -0.015, 0.075],
];

/// The same for white pages: from white through yellow and rose to dark blue.
pub(super) const DUSK: [[f64; 3]; 6] = [
    [1.0, 0.0, 0.0],
    [0.92, 0.0, 0.075],
    [0.78, 0.06, 0.085],
    [0.62, 0.085, 0.0],
    [0.45, 0.045, -0.105],
    [0.27, 0.0, -0.095],
];

/// A smooth curve through points of Oklab (Catmull–Rom), walked at even steps of its length, so that equal steps of the value look equally far
/// apart.
#[expect(clippy::cast_precision_loss, reason = "a few thousand pieces")]
pub(super) fn even(points: &[[f64; 3]]) -> Table {
    const PIECES: usize = 4096;
    let last = points.len() - 1;
    let at = |piece: usize| -> [f64; 3] {
        let place = piece as f64 / PIECES as f64 * last as f64;
        let n = (0..last).rev().find(|n| *n as f64 <= place).unwrap_or(0);
        let t = place - n as f64;
        let point = |offset: usize| points[(n + offset).saturating_sub(1).min(last)];
        std::array::from_fn(|axis| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|offset| point(offset)[axis]);
            let (bend, turn) = (2.0 * a - 5.0 * b + 4.0 * c - d, 3.0 * b - a - 3.0 * c + d);
            0.5 * (2.0 * b + t * (c - a + t * (bend + t * turn)))
        })
    };
    let apart = |p: [f64; 3], q: [f64; 3]| (0..3).map(|axis| (p[axis] - q[axis]).powi(2)).sum::<f64>().sqrt();
    let mut lengths = vec![0.0];
    for piece in 0..PIECES {
        lengths.push(lengths[piece] + apart(at(piece), at(piece + 1)));
    }
    std::array::from_fn(|entry| {
        let wanted = lengths[PIECES] * entry as f64 / 255.0;
        let piece = lengths.partition_point(|length| *length < wanted).min(PIECES);
        encode(linear_from_oklab(at(piece)))
    })
}

#[expect(clippy::cast_precision_loss, reason = "0…255")]
pub(super) fn cyclic(color: impl Fn(f64) -> [f64; 3]) -> Table {
    std::array::from_fn(|n| encode(linear_from_oklab(color(n as f64 / 256.0))))
}

#[expect(clippy::cast_precision_loss, reason = "0…255")]
pub(super) fn sequential(gradient: &impl Gradient) -> Table {
    std::array::from_fn(|n| gradient_color(gradient, n as f64 / 255.0))
}

/// Entry 128 at s = 0, 1 and 255 at s = ∓1; entry 0 repeats entry 1.
#[expect(clippy::cast_precision_loss, reason = "0…255")]
pub(super) fn diverging(color: impl Fn(f64) -> [u8; 3]) -> Table {
    std::array::from_fn(|n| color((n.max(1) as f64 - 128.0) / 127.0))
}

pub(super) fn gradient_color(gradient: &impl Gradient, at: f64) -> [u8; 3] {
    #[expect(clippy::cast_possible_truncation, reason = "the crate works in single precision")]
    let [r, g, b, _] = gradient.at(at as f32).to_rgba8();
    [r, g, b]
}

//! From a value to colour and opacity in space: a table of 256 entries, the same for shader and export.

use crate::colormap::{ENTRIES, Kind, Table};

/// An opacity is what a way of this length, in longest sides of the box, hides.
pub const REFERENCE: f32 = 0.05;

/// Red, green and blue in sRGB, 0…1, and the opacity of one step of a ray.
pub type Entry = [f32; 4];

/// The opacity at a part 0…1 of the range: straight lines through points of rising parts, level beyond the outermost.
pub fn opacity(points: &[[f64; 2]], part: f64) -> f64 {
    let Some(first) = points.first() else { return 0.0 };
    let mut last = *first;
    for point in points {
        if part <= point[0] {
            let width = point[0] - last[0];
            let along = if width > 0.0 { (part - last[0]) / width } else { 1.0 };
            return last[1] + (point[1] - last[1]) * along.clamp(0.0, 1.0);
        }
        last = *point;
    }
    last[1]
}

/// The table of a colour map: opacity against the size of the value. `step` is a ray's step in longest sides of the box.
///
/// Entry n stands for the value whose [`crate::colormap::Mapping`] gives n; of cyclic maps the colours are those of the phase n/256 and
/// the opacities those of the size n/255. `gamma` is the exponent of the brightness scale.
pub fn table(map: &Table, kind: Kind, points: &[[f64; 2]], gamma: f32, step: f32) -> Vec<Entry> {
    (0..ENTRIES)
        .map(|n| {
            let at = n as f64;
            let part = match kind {
                Kind::Sequential | Kind::Cyclic => at / 255.0,
                Kind::Diverging => ((at - 128.0) / 127.0).abs().min(1.0),
            };
            let color = match kind {
                Kind::Cyclic => map[n],
                Kind::Sequential => map[(part.powf(f64::from(gamma)) * 255.0 + 0.5) as usize],
                Kind::Diverging => {
                    let side = if at < 128.0 { -127.0 } else { 127.0 };
                    map[(128.5 + side * part.powf(f64::from(gamma))) as usize]
                }
            };
            let hidden = opacity(points, part).clamp(0.0, 0.999);
            let through = (1.0 - hidden).powf(f64::from(step / REFERENCE));
            let [r, g, b] = color.map(|channel| f32::from(channel) / 255.0);
            [r, g, b, (1.0 - through) as f32]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colormap::auto;
    use crate::scene::scenario::Opacity;

    #[test]
    fn zero_is_clear_and_the_way_adds_up() {
        let soft = Opacity::Soft.points();
        let of = |step| table(auto(Kind::Diverging).table(), Kind::Diverging, &soft, 1.0, step);
        let (whole, half) = (of(REFERENCE), of(REFERENCE / 2.0));
        assert_eq!(whole[128][3].to_bits(), 0f32.to_bits(), "nothing is nothing");
        for n in [1, 60, 200, 255] {
            // Two half steps hide what one whole step hides; single precision of numbers up to 1.
            let twice = 1.0 - (1.0 - half[n][3]).powi(2);
            assert!((twice - whole[n][3]).abs() < 1e-6, "{n}");
        }
        // Both signs alike.
        assert!((whole[1][3] - whole[255][3]).abs() < 1e-6);
        let neutral = auto(Kind::Diverging).table()[128].map(|channel| f32::from(channel) / 255.0);
        assert_eq!(whole[128][..3], neutral);
    }

    #[test]
    fn handles_are_joined_by_lines() {
        let points = [[0.0, 0.0], [0.5, 0.2], [0.5, 0.6], [1.0, 0.8]];
        for (part, wanted) in [(-1.0, 0.0), (0.25, 0.1), (0.75, 0.7), (2.0, 0.8)] {
            assert!((opacity(&points, part) - wanted).abs() < 1e-12, "{part}");
        }
        assert!(opacity(&[], 0.5).abs() < 1e-12);
    }
}

//! Drawing for charts, plots and pictures: lines, dashes, scales from values to pixels.

use super::picture::Picture;

// Colours that stay apart for every kind of sight (Okabe and Ito 2008).
pub(super) const BLUE: [u8; 3] = [0, 114, 178];
pub(super) const VERMILION: [u8; 3] = [213, 94, 0];
pub(super) const GREEN: [u8; 3] = [0, 158, 115];
pub(super) const PURPLE: [u8; 3] = [204, 121, 167];
pub(super) const ORANGE: [u8; 3] = [230, 159, 0];
pub(super) const SKY: [u8; 3] = [86, 180, 233];

/// Those of several curves on white, and grey.
pub(super) const COLORS: [[u8; 3]; 7] = [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, [90, 90, 90]];

/// Positions of values along an axis of pixels.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    /// Values at the ends.
    pub low: f64,
    pub high: f64,
    /// Pixels at the ends.
    pub from: f32,
    pub to: f32,
    /// Logarithmic instead of linear.
    pub is_logarithmic: bool,
}

impl Scale {
    pub fn at(self, value: f64) -> f32 {
        let place = |value: f64| if self.is_logarithmic { value.ln() } else { value };
        #[expect(clippy::cast_possible_truncation, reason = "a position in the picture")]
        let part = ((place(value) - place(self.low)) / (place(self.high) - place(self.low))) as f32;
        self.from + part * (self.to - self.from)
    }
}

/// A line with round ends, `thick` pixels wide: each pixel is covered by its distance from it. A point is a disc.
pub(super) fn line(picture: &mut Picture, from: (f32, f32), to: (f32, f32), color: [u8; 3], thick: f32, strength: f32) {
    let reach = thick / 2.0 + 1.0;
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let square = (dx * dx + dy * dy).max(1e-12);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "positions in the picture, clipped by `blend`"
    )]
    let whole = |value: f32| value as i64;
    for y in whole((from.1.min(to.1) - reach).floor())..=whole((from.1.max(to.1) + reach).ceil()) {
        for x in whole((from.0.min(to.0) - reach).floor())..=whole((from.0.max(to.0) + reach).ceil()) {
            #[expect(clippy::cast_precision_loss, reason = "positions in the picture")]
            let (px, py) = (x as f32 + 0.5 - from.0, y as f32 + 0.5 - from.1);
            let part = ((px * dx + py * dy) / square).clamp(0.0, 1.0);
            let (off_x, off_y) = (px - part * dx, py - part * dy);
            let distance = off_x * off_x + off_y * off_y;
            // Most pixels around a slanted line are not on it.
            if distance < reach * reach {
                let covered = (thick / 2.0 + 0.5 - distance.sqrt()).clamp(0.0, 1.0).min(thick);
                picture.blend(x, y, color, covered * strength);
            }
        }
    }
}

/// The part of a straight line within a rectangle (x, y, width, height); `None` if it lies outside.
pub(super) fn clipped([x, y, width, height]: [f32; 4], [from, to]: [[f32; 2]; 2]) -> Option<[[f32; 2]; 2]> {
    let (mut enters, mut leaves) = (0.0f32, 1.0f32);
    for (axis, [low, size]) in [[x, width], [y, height]].into_iter().enumerate() {
        let way = to[axis] - from[axis];
        if way == 0.0 {
            if !(low..=low + size).contains(&from[axis]) {
                return None;
            }
            continue;
        }
        let [a, b] = [low, low + size].map(|end| (end - from[axis]) / way);
        enters = enters.max(a.min(b));
        leaves = leaves.min(a.max(b));
    }
    let at = |part: f32| [0, 1].map(|axis| from[axis] + part * (to[axis] - from[axis]));
    (enters <= leaves).then(|| [at(enters), at(leaves)])
}

/// The edges of a polygon.
pub(super) fn outline(picture: &mut Picture, corners: &[(f32, f32)], color: [u8; 3], thick: f32) {
    for (n, corner) in corners.iter().enumerate() {
        line(picture, *corner, corners[(n + 1) % corners.len()], color, thick, 1.0);
    }
}

/// How a line with gaps is drawn.
#[derive(Clone, Copy)]
pub(super) struct Dashes {
    pub color: [u8; 3],
    pub thick: f32,
    /// Pixels of a dash and of the gap after it.
    pub dash: f32,
    pub gap: f32,
    pub strength: f32,
}

impl Dashes {
    /// A line through places, with gaps along its whole way, however short its pieces are; only where its ends are seen.
    pub fn draw(self, picture: &mut Picture, places: &[(f32, f32)], is_seen: impl Fn((f32, f32)) -> bool) {
        // Dashes are cut into pieces, so that one that leaves what is seen is drawn up to there.
        let piece = (self.dash / 3.0).max(1.0);
        let period = self.dash + self.gap;
        let mut way = 0.0;
        for pair in places.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            // Far outside of every picture there is nothing to see.
            if !length.is_finite() || length > 1e6 {
                continue;
            }
            let at = |along: f32| {
                let part = (along / length.max(1e-6)).clamp(0.0, 1.0);
                (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1))
            };
            let mut along = 0.0;
            while along < length {
                let place = (way + along) % period;
                let left = if place < self.dash {
                    self.dash - place
                } else {
                    period - place
                };
                let end = (along + left.clamp(1e-2, piece)).min(length);
                if place < self.dash && is_seen(at(along)) && is_seen(at(end)) {
                    line(picture, at(along), at(end), self.color, self.thick, self.strength);
                }
                along = end;
            }
            way += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_pass_rectangles_or_are_cut_at_them() {
        let plate = [10.0, 10.0, 20.0, 5.0];
        for (line, through) in [
            ([[0.0, 12.0], [50.0, 12.0]], true),
            ([[0.0, 16.0], [50.0, 16.0]], false),
            ([[0.0, 12.0], [9.0, 12.0]], false),
            ([[20.0, 0.0], [20.0, 50.0]], true),
            ([[15.0, 11.0], [16.0, 12.0]], true),
            ([[0.0, 20.0], [20.0, 40.0]], false),
        ] {
            assert_eq!(clipped(plate, line).is_some(), through, "{line:?}");
        }
        assert_eq!(
            clipped(plate, [[0.0, 12.0], [40.0, 12.0]]),
            Some([[10.0, 12.0], [30.0, 12.0]])
        );
    }
}

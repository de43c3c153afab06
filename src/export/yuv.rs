//! RGB to Y′CbCr 4:2:0 in limited range, rounded (the encoder's own conversion truncates, half a level too dark).

use super::Picture;
use rayon::prelude::*;

/// The matrices of ITU-R BT.601-7 and BT.709-6: luma weights of red and blue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matrix {
    red: f32,
    blue: f32,
}

impl Matrix {
    pub const BT601: Self = Self {
        red: 0.299,
        blue: 0.114,
    };
    pub const BT709: Self = Self {
        red: 0.2126,
        blue: 0.0722,
    };

    /// (Y′, Cb, Cr) before rounding, of R′G′B′ in 0…255; Y′ in 16…235, Cb and Cr in 16…240.
    fn convert(self, [r, g, b]: [f32; 3]) -> [f32; 3] {
        let luma = self.red * r + (1.0 - self.red - self.blue) * g + self.blue * b;
        [
            16.0 + luma * (219.0 / 255.0),
            128.0 + (b - luma) / (2.0 * (1.0 - self.blue)) * (224.0 / 255.0),
            128.0 + (r - luma) / (2.0 * (1.0 - self.red)) * (224.0 / 255.0),
        ]
    }
}

/// Planes of a picture whose sides are even.
#[derive(Debug, Default)]
pub struct Planes {
    pub y: Vec<u8>,
    pub cb: Vec<u8>,
    pub cr: Vec<u8>,
}

impl Planes {
    /// Converts `picture` into planes of `width` × `height` (even, at most one more than the picture's: its last column and row are
    /// then repeated). Cb and Cr are means of 2 × 2 pixels.
    pub fn fill(&mut self, picture: &Picture, width: usize, height: usize, matrix: Matrix) {
        self.y.resize(width * height, 0);
        self.cb.resize(width * height / 4, 0);
        self.cr.resize(width * height / 4, 0);
        let pixel = |x: usize, y: usize| {
            picture
                .at(x.min(picture.width - 1), y.min(picture.height - 1))
                .map(f32::from)
        };
        self.y
            .par_chunks_mut(2 * width)
            .zip(self.cb.par_chunks_mut(width / 2))
            .zip(self.cr.par_chunks_mut(width / 2))
            .enumerate()
            .for_each(|(pair, ((luma, cb), cr))| {
                for x in (0..width).step_by(2) {
                    let mut sums = [0.0; 2];
                    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                        let [y, b, r] = matrix.convert(pixel(x + dx, 2 * pair + dy));
                        luma[x + dx + width * dy] = rounded(y);
                        sums[0] += b;
                        sums[1] += r;
                    }
                    cb[x / 2] = rounded(sums[0] / 4.0);
                    cr[x / 2] = rounded(sums[1] / 4.0);
                }
            });
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16…240")]
fn rounded(value: f32) -> u8 {
    (value + 0.5) as u8
}

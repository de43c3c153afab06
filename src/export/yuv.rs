//! RGB to Y′CbCr 4:2:0 in limited range, rounded (the encoder's own conversion truncates, half a level too dark).

#![allow(
    unsafe_code,
    reason = "a kernel is compiled for instructions that `Level::run` has seen to be there; nothing in it is unsafe by itself"
)]

use super::Picture;
use crate::backend::simd::{Kernel, Lanes, Level};
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
        let weights = matrix.weights();
        let level = Level::best();
        let row = |y: usize| {
            let across = 3 * picture.width;
            picture.rgb[across * y.min(picture.height - 1)..][..across]
                .as_chunks::<3>()
                .0
        };
        self.y
            .par_chunks_mut(2 * width)
            .zip(self.cb.par_chunks_mut(width / 2))
            .zip(self.cr.par_chunks_mut(width / 2))
            .enumerate()
            .for_each(|(pair, ((luma, cb), cr))| {
                let rows = [row(2 * pair), row(2 * pair + 1)];
                let [above, below] = rows;
                // The last column of an odd width, which the planes have twice.
                let last = (above.len() < width).then(|| [above, below].map(|row| row[row.len() - 1]));
                let (upper, lower) = luma.split_at_mut(width);
                let of_last = last.map(|[above, below]| {
                    upper[width - 1] = weights.luma(above.map(i32::from));
                    lower[width - 1] = weights.luma(below.map(i32::from));
                    weights.chroma([0, 1, 2].map(|n| 2 * (i32::from(above[n]) + i32::from(below[n]))))
                });
                if let Some([blue, red]) = of_last {
                    (cb[width / 2 - 1], cr[width / 2 - 1]) = (blue, red);
                }
                level.run(Rows {
                    rows,
                    luma: [upper, lower],
                    cb,
                    cr,
                    weights,
                });
            });
    }
}

/// Two rows of pixels, and where they go.
struct Rows<'a> {
    rows: [&'a [[u8; 3]]; 2],
    luma: [&'a mut [u8]; 2],
    cb: &'a mut [u8],
    cr: &'a mut [u8],
    weights: Weights,
}

impl Kernel<f32> for Rows<'_> {
    // SAFETY: safe on every machine; that it has the instructions is the caller's care.
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = f32>>(self) {
        let weights = self.weights;
        for (luma, row) in self.luma.into_iter().zip(self.rows) {
            for (y, &[r, g, b]) in luma.iter_mut().zip(row) {
                *y = weights.luma([i32::from(r), i32::from(g), i32::from(b)]);
            }
        }
        let (above, below) = (self.rows[0].as_chunks::<2>().0, self.rows[1].as_chunks::<2>().0);
        for (((cb, cr), [a, b]), [c, d]) in self.cb.iter_mut().zip(self.cr).zip(above).zip(below) {
            let red = i32::from(a[0]) + i32::from(b[0]) + i32::from(c[0]) + i32::from(d[0]);
            let green = i32::from(a[1]) + i32::from(b[1]) + i32::from(c[1]) + i32::from(d[1]);
            let blue = i32::from(a[2]) + i32::from(b[2]) + i32::from(c[2]) + i32::from(d[2]);
            [*cb, *cr] = weights.chroma([red, green, blue]);
        }
    }
}

/// A matrix in whole numbers of 2⁻¹⁶, which round a picture in a quarter of the time: off by at most 3 · 255 · 2⁻¹⁷ before rounding.
#[derive(Clone, Copy)]
struct Weights {
    y: [i32; 3],
    cb: [i32; 3],
    cr: [i32; 3],
}

/// 2¹⁶ and a half of it.
const ONE: f32 = 65_536.0;
const SHIFT: i32 = 16;

impl Matrix {
    /// What each channel adds to Y′, Cb and Cr.
    fn weights(self) -> Weights {
        let [black, red, green, blue] =
            [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|color| self.convert(color));
        let of = |n: usize| [red, green, blue].map(|channel| whole(ONE * (channel[n] - black[n])));
        Weights {
            y: of(0),
            cb: of(1),
            cr: of(2),
        }
    }
}

impl Weights {
    #[inline(always)]
    fn luma(&self, pixel: [i32; 3]) -> u8 {
        byte((dot(self.y, pixel) + (16 << SHIFT) + (1 << (SHIFT - 1))) >> SHIFT)
    }

    /// Cb and Cr of sums over four pixels.
    #[inline(always)]
    fn chroma(&self, sums: [i32; 3]) -> [u8; 2] {
        // Four pixels: two bits more.
        let half = (128 << (SHIFT + 2)) + (1 << (SHIFT + 1));
        [
            byte((dot(self.cb, sums) + half) >> (SHIFT + 2)),
            byte((dot(self.cr, sums) + half) >> (SHIFT + 2)),
        ]
    }
}

#[inline(always)]
fn dot(weights: [i32; 3], values: [i32; 3]) -> i32 {
    weights[0] * values[0] + weights[1] * values[1] + weights[2] * values[2]
}

#[expect(clippy::cast_possible_truncation, reason = "weights below 2¹⁶")]
fn whole(value: f32) -> i32 {
    value.round() as i32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16…240")]
#[inline(always)]
fn byte(value: i32) -> u8 {
    value as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every fifth of all colours, each as a picture of one pixel: the planes hold what the formula says, rounded.
    #[test]
    fn whole_numbers_round_as_the_formula_does() {
        let mut planes = Planes::default();
        for matrix in [Matrix::BT601, Matrix::BT709] {
            for code in 0..52u32.pow(3) {
                let color = [code % 52, code / 52 % 52, code / 2704].map(|n| u8::try_from(5 * n).unwrap());
                planes.fill(&Picture::filled(1, 1, color), 2, 2, matrix);
                let wanted = matrix.convert(color.map(f32::from));
                let planes = [&planes.y, &planes.cb, &planes.cr].map(|plane| f32::from(plane[0]));
                for (wanted, got) in wanted.into_iter().zip(planes) {
                    // Half a level, and what the weights and single precision round: 3 · 255 · 2⁻¹⁷ and 255 · 2⁻²².
                    assert!((wanted - got).abs() <= 0.5 + 0.0065, "{color:?}: {got} for {wanted}");
                }
            }
        }
    }

    #[test]
    fn odd_sides_repeat_their_last_pixels() {
        let mut picture = Picture::filled(3, 3, [10, 200, 90]);
        picture.set(2, 2, [250, 20, 30]);
        let (mut odd, mut even) = (Planes::default(), Planes::default());
        odd.fill(&picture, 4, 4, Matrix::BT709);
        let mut wider = Picture::filled(4, 4, [10, 200, 90]);
        for (x, y) in [(2, 2), (3, 2), (2, 3), (3, 3)] {
            wider.set(x, y, [250, 20, 30]);
        }
        even.fill(&wider, 4, 4, Matrix::BT709);
        assert_eq!((odd.y, odd.cb, odd.cr), (even.y, even.cb, even.cr));
    }
}

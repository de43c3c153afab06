//! Pictures of few colours: those that have no more keep theirs; others get a palette by NeuQuant (A. Dekker, 1994,
//! doi:10.1088/0954-898X/5/3/003) on a sample of their pixels, improved by a few rounds of Lloyd's algorithm (S. Lloyd, 1982,
//! doi:10.1109/TIT.1982.1056489).

use super::Picture;
use rayon::prelude::*;

/// The palette of the picture at hand, and a table to look colours up in.
#[derive(Default)]
pub(super) struct Palette {
    colors: Vec<[u8; 3]>,
    /// Open addressing: colour and index + 1; 0 = empty.
    slots: Vec<(u32, u16)>,
}

const SLOTS: usize = 1 << 12;

impl Palette {
    /// The colours.
    pub(super) fn colors(&self) -> &[[u8; 3]] {
        &self.colors
    }

    /// Every pixel's index in a palette of at most `most` colours, 256 or less.
    pub(super) fn index(&mut self, picture: &Picture, most: usize) -> Vec<u8> {
        if let Some(pixels) = self.exact(picture, most) {
            return pixels;
        }
        let rgba: Vec<u8> = picture
            .rgb
            .chunks_exact(3)
            .flat_map(|p| [p[0], p[1], p[2], 255])
            .collect();
        // A sample of 100 000 pixels settles 256 colours.
        let every = i32::try_from(picture.width * picture.height / 100_000).unwrap_or(30);
        let network = color_quant::NeuQuant::new(every.clamp(1, 30), most.clamp(64, 256), &rgba);
        self.colors = network
            .color_map_rgb()
            .chunks_exact(3)
            .map(|c| [c[0], c[1], c[2]])
            .collect();
        // Pixels are counted in cells of six bits a channel: a few thousand of them, where a picture has a million pixels.
        let cell = |pixel: &[u8]| pixel.iter().fold(0usize, |cell, c| cell << 6 | usize::from(c >> 2));
        let mut places = vec![usize::MAX; 1 << 18];
        let mut cells: Vec<Cell> = Vec::new();
        for pixel in picture.rgb.chunks_exact(3) {
            let place = &mut places[cell(pixel)];
            if *place == usize::MAX {
                *place = cells.len();
                cells.push(Cell::default());
            }
            cells[*place].add(pixel);
        }
        for _ in 0..LLOYD_ROUNDS {
            self.settle(&mut cells);
        }
        self.assign(&mut cells);
        picture
            .rgb
            .chunks_exact(3)
            .map(|pixel| cells[places[cell(pixel)]].nearest)
            .collect()
    }

    /// Finds the nearest colour of every cell.
    fn assign(&self, cells: &mut [Cell]) {
        cells.par_iter_mut().for_each(|cell| {
            let mean = cell.mean();
            let distance = |color: &[u8; 3]| -> f32 { (0..3).map(|c| (mean[c] - f32::from(color[c])).powi(2)).sum() };
            let nearest =
                (0..self.colors.len()).min_by(|&a, &b| distance(&self.colors[a]).total_cmp(&distance(&self.colors[b])));
            cell.nearest = nearest.and_then(|n| u8::try_from(n).ok()).unwrap_or(0);
        });
    }

    /// Moves every colour to the mean of the pixels that are nearest to it.
    fn settle(&mut self, cells: &mut [Cell]) {
        self.assign(cells);
        let mut sums = vec![Cell::default(); self.colors.len()];
        for cell in cells.iter() {
            let sum = &mut sums[usize::from(cell.nearest)];
            sum.count += cell.count;
            for (total, part) in sum.sum.iter_mut().zip(cell.sum) {
                *total += part;
            }
        }
        for (color, sum) in self.colors.iter_mut().zip(&sums) {
            if sum.count > 0 {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0…255")]
                let mean = sum.mean().map(|value| value.round() as u8);
                *color = mean;
            }
        }
    }

    /// Every pixel's index in a palette of the picture's own colours, if there are at most this many.
    fn exact(&mut self, picture: &Picture, most: usize) -> Option<Vec<u8>> {
        self.colors.clear();
        self.slots.clear();
        self.slots.resize(SLOTS, (0, 0));
        let mut pixels = Vec::with_capacity(picture.width * picture.height);
        for pixel in picture.rgb.chunks_exact(3) {
            let color = u32::from_be_bytes([0, pixel[0], pixel[1], pixel[2]]);
            // Fibonacci hashing: the upper bits of a product with 2^32/φ.
            let mut slot = color.wrapping_mul(0x9E37_79B9) as usize >> 20;
            loop {
                let (known, index) = self.slots[slot];
                if index == 0 && self.colors.len() == most {
                    return None;
                }
                if index == 0 {
                    let next = u8::try_from(self.colors.len()).ok()?;
                    self.slots[slot] = (color, u16::from(next) + 1);
                    self.colors.push([pixel[0], pixel[1], pixel[2]]);
                    pixels.push(next);
                    break;
                }
                if known == color {
                    pixels.push(u8::try_from(index - 1).ok()?);
                    break;
                }
                slot = (slot + 1) % SLOTS;
            }
        }
        Some(pixels)
    }
}

/// Rounds after which a palette hardly changes.
const LLOYD_ROUNDS: usize = 4;

/// Pixels of nearly the same colour.
#[derive(Clone, Default)]
struct Cell {
    count: u32,
    sum: [u64; 3],
    nearest: u8,
}

impl Cell {
    fn add(&mut self, pixel: &[u8]) {
        self.count += 1;
        for (sum, value) in self.sum.iter_mut().zip(pixel) {
            *sum += u64::from(*value);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "means of 0…255, to be rounded")]
    fn mean(&self) -> [f32; 3] {
        self.sum.map(|sum| sum as f32 / self.count.max(1) as f32)
    }
}

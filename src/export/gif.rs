//! GIF films.
//!
//! A picture of at most 256 colours, as a colour map alone gives, is stored without loss. Others get a palette of their
//! own: NeuQuant (A. Dekker, 1994, doi:10.1088/0954-898X/5/3/003) on a sample of their pixels, improved by a few rounds of Lloyd's
//! algorithm (S. Lloyd, 1982, doi:10.1109/TIT.1982.1056489).
//!
//! Delays are whole hundredths of a second: at 30 pictures a second they alternate 3, 3, 4, so that the film keeps time.

use super::{ExportError, FilmWriter, Picture};
use crate::atomic_file::AtomicFile;
use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Browsers slow down films with delays under 2/100 s.
const MAX_FPS: f64 = 50.0;

/// Writes a film that repeats for ever.
pub struct GifWriter {
    encoder: Encoder<AtomicFile>,
    path: PathBuf,
    fps: f64,
    pictures: u32,
    palette: Palette,
}

impl GifWriter {
    /// A film of `size` pixels at `fps` pictures a second.
    ///
    /// # Errors
    /// If the size exceeds 65535, the rate 50, or the place cannot be written to.
    pub fn create(path: &Path, size: [usize; 2], fps: f64) -> Result<Self, ExportError> {
        let [width, height] = size;
        let (Ok(across), Ok(down)) = (u16::try_from(width), u16::try_from(height)) else {
            return Err(ExportError::Size {
                format: "GIF",
                width,
                height,
                limit: "at most 65535 × 65535",
            });
        };
        if !(0.1..=MAX_FPS).contains(&fps) {
            return Err(ExportError::Rate {
                format: "GIF",
                fps,
                limit: "0.1 to 50",
            });
        }
        let file = super::begin(path)?;
        let failed = failure(path);
        let mut encoder = Encoder::new(file, across, down, &[]).map_err(&failed)?;
        encoder.set_repeat(Repeat::Infinite).map_err(&failed)?;
        Ok(Self {
            encoder,
            path: path.to_owned(),
            fps,
            pictures: 0,
            palette: Palette::default(),
        })
    }
}

impl FilmWriter for GifWriter {
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
        let pixels = self.palette.index(picture);
        let frame = Frame {
            width: u16::try_from(picture.width).unwrap_or(u16::MAX),
            height: u16::try_from(picture.height).unwrap_or(u16::MAX),
            delay: delay(self.pictures, self.fps),
            dispose: DisposalMethod::Keep,
            palette: Some(self.palette.colors.concat()),
            buffer: Cow::Owned(pixels),
            ..Frame::default()
        };
        self.pictures += 1;
        self.encoder.write_frame(&frame).map_err(failure(&self.path))
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        let failed = failure(&self.path);
        super::complete(self.encoder.into_inner().map_err(failed)?)
    }
}

/// Hundredths of a second from picture `n` to the next, so that every picture begins within half a hundredth of its time.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most 1000, by the least rate"
)]
pub fn delay(n: u32, fps: f64) -> u16 {
    let start = |n: u32| (f64::from(n) * 100.0 / fps).round();
    (start(n + 1) - start(n)) as u16
}

fn failure(path: &Path) -> impl Fn(EncodingError) -> ExportError + use<> {
    let path = path.to_owned();
    move |error| match error {
        EncodingError::Io(source) => ExportError::Io {
            path: path.clone(),
            source,
        },
        other => ExportError::Encoder {
            format: "GIF",
            message: other.to_string(),
        },
    }
}

/// The palette of the picture at hand, and a table to look colours up in.
#[derive(Default)]
struct Palette {
    colors: Vec<[u8; 3]>,
    /// Open addressing: colour and index + 1; 0 = empty.
    slots: Vec<(u32, u16)>,
}

const SLOTS: usize = 1 << 12;

impl Palette {
    fn index(&mut self, picture: &Picture) -> Vec<u8> {
        if let Some(pixels) = self.exact(picture) {
            return pixels;
        }
        let rgba: Vec<u8> = picture
            .rgb
            .chunks_exact(3)
            .flat_map(|p| [p[0], p[1], p[2], 255])
            .collect();
        // A sample of 100 000 pixels settles 256 colours.
        let every = i32::try_from(picture.width * picture.height / 100_000).unwrap_or(30);
        let network = color_quant::NeuQuant::new(every.clamp(1, 30), 256, &rgba);
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

    /// Every pixel's place in a palette of the picture's own colours, if there are at most 256.
    fn exact(&mut self, picture: &Picture) -> Option<Vec<u8>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_keep_time() {
        let delays: Vec<u16> = (0..6).map(|n| delay(n, 30.0)).collect();
        assert_eq!(delays, [3, 4, 3, 3, 4, 3]);
        assert_eq!((0..300).map(|n| u32::from(delay(n, 30.0))).sum::<u32>(), 1000);
        assert!((0..50).all(|n| delay(n, 50.0) == 2));
    }
}

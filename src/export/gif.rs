//! GIF films.
//!
//! A picture of at most 256 colours, as a colour map alone gives, is stored without loss. Others get their own palette.
//!
//! Delays are whole hundredths of a second: at 30 pictures per second they alternate 3, 3, 4, so that the film keeps time.

use super::palette::Palette;
use super::{ExportError, FilmWriter, Picture};
use crate::atomic_file::AtomicFile;
use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Browsers slow down films with delays under 2/100 s.
const MAX_FPS: f64 = 50.0;

/// Colours of a picture.
const COLORS: usize = 256;

/// Writes a film that repeats forever.
pub struct GifWriter {
    encoder: Encoder<AtomicFile>,
    path: PathBuf,
    fps: f64,
    pictures: u32,
    palette: Palette,
}

impl GifWriter {
    /// A film of `size` pixels at `fps` pictures per second.
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
        let pixels = self.palette.index(picture, COLORS);
        let frame = Frame {
            width: u16::try_from(picture.width).unwrap_or(u16::MAX),
            height: u16::try_from(picture.height).unwrap_or(u16::MAX),
            delay: delay(self.pictures, self.fps),
            dispose: DisposalMethod::Keep,
            palette: Some(self.palette.colors().concat()),
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
        EncodingError::Io(reason) => ExportError::Io {
            path: path.clone(),
            reason,
        },
        other => ExportError::Encoder {
            format: "GIF",
            message: other.to_string(),
        },
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

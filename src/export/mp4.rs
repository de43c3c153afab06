//! MP4 films: H.264 by an encoder that this file feeds picture by picture, OpenH264 or that of the browser, in a container by muxide.
//!
//! No B-frames, a picture to start from every two seconds, colours marked as BT.709 (or BT.601 under 720 rows, where players
//! that ignore the mark expect it), limited range. A box at the end holds the scene.

#[cfg(not(feature = "h264"))]
mod browser;
#[cfg(feature = "h264")]
mod cisco;

use super::yuv::{Matrix, Planes};
use super::{About, ExportError, FilmWriter, Picture};
use crate::atomic_file::AtomicFile;
use crate::scene::embedded::mp4_box;
#[cfg(not(feature = "h264"))]
use browser::Encoder;
#[cfg(feature = "h264")]
use cisco::Encoder;
use muxide::api::{Metadata, Muxer, MuxerBuilder, MuxerError, VideoCodec};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The limit of level 5.2, long and short side.
const MAX_SIDES: [usize; 2] = [3840, 2160];

/// What an encoder has to know of a film.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Pixels, even.
    size: [usize; 2],
    fps: f64,
}

impl Shape {
    /// Whether players take the colours of a picture without a mark for those of BT.601.
    fn is_small(self) -> bool {
        self.size[1] < 720
    }

    /// Seconds from the start to a picture.
    fn time(self, picture: u32) -> f64 {
        f64::from(picture) / self.fps
    }

    /// Pictures from one that players can start from to the next.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are limited by who asks for a film"
    )]
    fn key_every(self) -> u32 {
        (2.0 * self.fps).ceil() as u32
    }
}

/// A picture from the encoder, with start codes (Annex B).
struct Coded {
    bits: Vec<u8>,
    /// Whether players can start from it.
    is_key: bool,
}

/// Whether this build, in this browser, has an encoder.
pub(super) fn has_encoder() -> bool {
    #[cfg(feature = "h264")]
    let is_there = true;
    #[cfg(not(feature = "h264"))]
    let is_there = crate::platform::video::is_there();
    is_there
}

/// Writes a film.
pub struct Mp4Writer {
    encoder: Encoder,
    muxer: Muxer<AtomicFile>,
    path: PathBuf,
    shape: Shape,
    matrix: Matrix,
    planes: Planes,
    /// Pictures that went to the encoder.
    pushed: u32,
    /// Pictures that came back from the encoder.
    written: u32,
    scene: Option<String>,
}

impl Mp4Writer {
    /// A film of pictures of `size` pixels at `fps` pictures per second. H.264 needs even sides: an odd one gets its last column or row
    /// twice.
    ///
    /// # Errors
    /// If the film is larger than the encoder can, the rate is out of range, or the place cannot be written to.
    pub fn create(path: &Path, size: [usize; 2], fps: f64, about: &About) -> Result<Self, ExportError> {
        let size = super::Format::Mp4.stored_size(size);
        let [width, height] = size;
        let (long, short) = (width.max(height), width.min(height));
        if long > MAX_SIDES[0] || short > MAX_SIDES[1] || short < 16 {
            return Err(ExportError::Size {
                format: "MP4",
                width,
                height,
                limit: "H.264 level 5.2 ends at 3840 × 2160 (or 2160 × 3840) and the encoder begins at 16; choose another --size or numbered PNGs",
            });
        }
        if !(0.5..=240.0).contains(&fps) {
            return Err(ExportError::Rate {
                format: "MP4",
                fps,
                limit: "0.5 to 240",
            });
        }
        let shape = Shape { size, fps };
        let encoder = Encoder::new(shape).map_err(failed)?;
        let mut metadata = Metadata::new();
        if !about.title.is_empty() {
            metadata = metadata.with_title(about.title.clone());
        }
        let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let muxer = MuxerBuilder::new(super::begin(path)?)
            .video(VideoCodec::H264, side(width), side(height), fps)
            .with_metadata(metadata)
            .build()
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            encoder,
            muxer,
            path: path.to_owned(),
            shape,
            matrix: if shape.is_small() { Matrix::BT601 } else { Matrix::BT709 },
            planes: Planes::default(),
            pushed: 0,
            written: 0,
            scene: about.scene.clone(),
        })
    }

    /// Writes what came back from the encoder.
    fn write_coded(&mut self) -> Result<(), ExportError> {
        while let Some(coded) = self.encoder.take().map_err(failed)? {
            let time = self.shape.time(self.written);
            let written = self.muxer.write_video(time, &coded.bits, coded.is_key);
            written.map_err(|error| self.muxed(error))?;
            self.written += 1;
        }
        Ok(())
    }

    fn encode(&mut self) -> Result<(), ExportError> {
        self.encoder.encode(&self.planes).map_err(failed)?;
        self.pushed += 1;
        self.write_coded()
    }

    /// A single picture lasts two seconds: players show nothing of a film without duration.
    fn hold(&mut self) -> Result<(), ExportError> {
        let still = if self.pushed == 1 {
            self.shape.key_every().max(2)
        } else {
            1
        };
        (1..still).try_for_each(|_| self.encode())
    }

    fn muxed(&self, error: MuxerError) -> ExportError {
        match error {
            MuxerError::Io(source) => ExportError::io(&self.path)(source),
            other => failed(other.to_string()),
        }
    }
}

impl FilmWriter for Mp4Writer {
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
        let [width, height] = self.shape.size;
        self.planes.fill(picture, width, height, self.matrix);
        self.encode()
    }

    fn is_busy(&mut self) -> Result<bool, ExportError> {
        self.write_coded()?;
        Ok(self.encoder.is_busy())
    }

    fn flush(&mut self) -> Result<bool, ExportError> {
        self.hold()?;
        let flushed = self.encoder.flush();
        self.write_coded()?;
        Ok(flushed)
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        self.hold()?;
        let finished = self.muxer.finish_in_place();
        finished.map_err(|error| self.muxed(error))?;
        let mut file = self.muxer.into_writer();
        if let Some(scene) = &self.scene {
            (file.seek(SeekFrom::End(0)))
                .and_then(|_| file.write_all(&mp4_box(scene)))
                .map_err(ExportError::io(&self.path))?;
        }
        super::complete(file)
    }
}

fn failed(message: String) -> ExportError {
    ExportError::Encoder { format: "MP4", message }
}

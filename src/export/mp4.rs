//! MP4 films: H.264 by OpenH264, which this file feeds picture by picture, in a container by muxide.
//!
//! No B-frames, a picture to start from every two seconds, colours marked as BT.709 (or BT.601 under 720 rows, where players
//! that ignore the mark expect it), limited range. A box at the end holds the scene.

use super::yuv::{Matrix, Planes};
use super::{About, ExportError, FilmWriter, Picture};
use crate::atomic_file::AtomicFile;
use crate::scene::embedded::mp4_box;
use muxide::api::{Metadata, Muxer, MuxerBuilder, MuxerError, VideoCodec};
use openh264::encoder::{
    Complexity, Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, RateControlMode, UsageType, VuiConfig,
};
use openh264::formats::YUVSlices;
use openh264::{OpenH264API, Timestamp};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// OpenH264's limit, level 5.2: long and short side.
const MAX_SIDES: [usize; 2] = [3840, 2160];

/// Writes a film.
pub struct Mp4Writer {
    encoder: Encoder,
    muxer: Muxer<AtomicFile>,
    path: PathBuf,
    size: [usize; 2],
    matrix: Matrix,
    planes: Planes,
    bits: Vec<u8>,
    fps: f64,
    pictures: u32,
    scene: Option<String>,
}

impl Mp4Writer {
    /// A film of pictures of `size` pixels at `fps` pictures a second. H.264 wants even sides: an odd one gets its last column or row
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
        let (matrix, vui) = if height < 720 {
            (Matrix::BT601, VuiConfig::bt601())
        } else {
            (Matrix::BT709, VuiConfig::bt709())
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "sizes and rates are limited above"
        )]
        let config = EncoderConfig::new()
            // Waves move smoothly: the search for scrolled text, which the kinds for screens make, took two thirds of a film's time.
            .usage_type(UsageType::CameraVideoRealTime)
            .complexity(Complexity::Medium)
            // The same quality all along (quantiser 26), whatever rate that takes.
            .rate_control_mode(RateControlMode::Off)
            .adaptive_quantization(false)
            .max_frame_rate(FrameRate::from_hz(fps as f32))
            .skip_frames(false)
            .background_detection(false)
            .intra_frame_period(IntraFramePeriod::from_num_frames((2.0 * fps).ceil() as u32))
            .vui(vui);
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config).map_err(|error| failed(&error))?;
        let mut metadata = Metadata::new();
        if !about.title.is_empty() {
            metadata = metadata.with_title(about.title.clone());
        }
        let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let muxer = MuxerBuilder::new(super::begin(path)?)
            .video(VideoCodec::H264, side(width), side(height), fps)
            .with_metadata(metadata)
            .build()
            .map_err(|error| failed(&error))?;
        Ok(Self {
            encoder,
            muxer,
            path: path.to_owned(),
            size,
            matrix,
            planes: Planes::default(),
            bits: Vec::new(),
            fps,
            pictures: 0,
            scene: about.scene.clone(),
        })
    }

    fn muxed(&self, error: MuxerError) -> ExportError {
        match error {
            MuxerError::Io(source) => ExportError::io(&self.path)(source),
            other => failed(&other),
        }
    }
}

impl FilmWriter for Mp4Writer {
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
        let [width, height] = self.size;
        self.planes.fill(picture, width, height, self.matrix);
        let source = YUVSlices::new(
            (&self.planes.y, &self.planes.cb, &self.planes.cr),
            (width, height),
            (width, width / 2, width / 2),
        );
        let time = f64::from(self.pictures) / self.fps;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "milliseconds of a film"
        )]
        let stamp = Timestamp::from_millis((time * 1000.0).round() as u64);
        let stream = self.encoder.encode_at(&source, stamp).map_err(|error| failed(&error))?;
        let key = matches!(stream.frame_type(), FrameType::IDR | FrameType::I);
        self.bits.clear();
        stream.write_vec(&mut self.bits);
        self.pictures += 1;
        let written = self.muxer.write_video(time, &self.bits, key);
        written.map_err(|error| self.muxed(error))
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
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

fn failed(error: &dyn std::error::Error) -> ExportError {
    ExportError::Encoder {
        format: "MP4",
        message: error.to_string(),
    }
}

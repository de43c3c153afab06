//! H.264 by OpenH264, which returns every picture at once.

use super::{Coded, Planes, Shape};
use openh264::encoder::{
    Complexity, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, RateControlMode, UsageType, VuiConfig,
};
use openh264::formats::YUVSlices;
use openh264::{OpenH264API, Timestamp};

/// The encoder of a film.
pub struct Encoder {
    encoder: openh264::encoder::Encoder,
    shape: Shape,
    pictures: u32,
    coded: Option<Coded>,
}

#[expect(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "as the encoder of a browser has them"
)]
impl Encoder {
    pub fn new(shape: Shape) -> Result<Self, String> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "rates are limited by who asks for a film"
        )]
        let rate = FrameRate::from_hz(shape.fps as f32);
        let vui = if shape.is_small() {
            VuiConfig::bt601()
        } else {
            VuiConfig::bt709()
        };
        let config = EncoderConfig::new()
            // Waves move smoothly: the search for scrolled text, which the kinds for screens make, took two thirds of a film's time.
            .usage_type(UsageType::CameraVideoRealTime)
            .complexity(Complexity::Medium)
            // The same quality all along (quantiser 26), whatever rate that takes.
            .rate_control_mode(RateControlMode::Off)
            .adaptive_quantization(false)
            .max_frame_rate(rate)
            .skip_frames(false)
            .background_detection(false)
            .intra_frame_period(IntraFramePeriod::from_num_frames(shape.key_every()))
            .vui(vui);
        let encoder = openh264::encoder::Encoder::with_api_config(OpenH264API::from_source(), config);
        Ok(Self {
            encoder: encoder.map_err(|error| error.to_string())?,
            shape,
            pictures: 0,
            coded: None,
        })
    }

    pub fn encode(&mut self, planes: &Planes) -> Result<(), String> {
        let [width, height] = self.shape.size;
        let source = YUVSlices::new(
            (&planes.y, &planes.cb, &planes.cr),
            (width, height),
            (width, width / 2, width / 2),
        );
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "milliseconds of a film"
        )]
        let stamp = Timestamp::from_millis((self.shape.time(self.pictures) * 1000.0).round() as u64);
        let stream = self.encoder.encode_at(&source, stamp);
        let stream = stream.map_err(|error| error.to_string())?;
        let is_key = matches!(stream.frame_type(), FrameType::IDR | FrameType::I);
        let mut bits = Vec::new();
        stream.write_vec(&mut bits);
        self.coded = Some(Coded { bits, is_key });
        self.pictures += 1;
        Ok(())
    }

    pub fn take(&mut self) -> Result<Option<Coded>, String> {
        Ok(self.coded.take())
    }

    /// It has nothing to wait for.
    pub fn is_busy(&self) -> bool {
        false
    }

    /// Nothing is left in it.
    pub fn flush(&mut self) -> bool {
        true
    }
}

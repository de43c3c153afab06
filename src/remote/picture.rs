//! Pictures on their way, as PNG: exact, or as fine as the eye needs.
//!
//! An exact picture has the four bytes of each single-precision value as the channels of an RGBA pixel. A quick one has 12 bits a value, s·round(2047·√(|v|/v_max)): steps of
//! a thousandth at the top, and waves 4·10⁶ times fainter are still there; phases have 256 hues, and none where the value is 0. PNG's filters take from every row what the one before it
//! tells; what is left of a smooth wave is short.

use crate::scene::scenario::Quantity;
use crate::solver::{FieldImage, FieldVolume};
use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Filter, Limits};
use serde::{Deserialize, Serialize};
use std::f32::consts::{PI, TAU};
use std::io::Cursor;

/// Texels of a picture or volume.
const MOST: usize = 1 << 26;

/// The largest number of a quick value.
const TOP: f32 = 2047.0;

/// What a quick value of 0 is.
const ZERO: u16 = 2048;

/// How much of a value travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Fineness {
    /// What is seen.
    Quick,
    /// Every bit.
    Exact,
}

/// A picture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PictureMessage {
    size: [usize; 2],
    origin: [usize; 2],
    reduction: usize,
    quantity: Option<Quantity>,
    /// Of the values.
    pub fineness: Fineness,
    /// The largest size of a value, for quick ones.
    top: f32,
    value: Vec<u8>,
    phase: Vec<u8>,
}

impl PictureMessage {
    /// Of a picture.
    #[must_use]
    pub fn of(image: &FieldImage, fineness: Fineness) -> Self {
        let top = image.value.iter().fold(0.0f32, |top, value| top.max(value.abs()));
        let finite = image.value.iter().chain(&image.phase).all(|value| value.is_finite());
        let fineness = if finite { fineness } else { Fineness::Exact };
        let (value, phase) = match fineness {
            Fineness::Exact => (exact(image.size, &image.value), exact(image.size, &image.phase)),
            Fineness::Quick => {
                let numbers: Vec<u16> = image.value.iter().map(|value| short(*value, top)).collect();
                let hues: Vec<u8> = image
                    .phase
                    .iter()
                    .zip(&numbers)
                    .map(|(phase, number)| if *number == ZERO { 0 } else { hue(*phase) })
                    .collect();
                (deep(image.size, &numbers), pack(image.size, Kind::Bytes, &hues))
            }
        };
        Self {
            size: image.size,
            origin: image.origin,
            reduction: image.reduction,
            quantity: image.quantity,
            fineness,
            top,
            value,
            phase,
        }
    }

    /// Bytes, about.
    pub fn length(&self) -> usize {
        self.value.len() + self.phase.len()
    }

    /// The picture; `None` if it is damaged.
    pub fn open(&self) -> Option<FieldImage> {
        let texels = texels(&[self.size[0], self.size[1]])?;
        let [value, phase] = match self.fineness {
            Fineness::Exact => [reals(self.size, &self.value)?, reals(self.size, &self.phase)?],
            Fineness::Quick => {
                let numbers = numbers(self.size, &self.value)?;
                let hues = unpack(self.size, Kind::Bytes, &self.phase)?;
                let value = numbers.into_iter().map(|number| long(number, self.top)).collect();
                [value, hues.into_iter().map(angle).collect()]
            }
        };
        let has_phase = self.quantity == Some(Quantity::Phase);
        let fits = value.len() == texels && phase.len() == if has_phase { texels } else { 0 };
        (fits && self.top.is_finite()).then(|| FieldImage {
            size: self.size,
            origin: self.origin,
            reduction: self.reduction.max(1),
            value,
            phase,
            quantity: self.quantity,
        })
    }
}

/// A volume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VolumeMessage {
    sites: [usize; 3],
    size: [usize; 3],
    reduction: usize,
    quantity: Option<Quantity>,
    top: f32,
    texels: Vec<u8>,
}

/// What of a half-precision number is left out of a quick volume: 6 of 10 bits stay.
const FAINT: u16 = 0xf;

impl VolumeMessage {
    /// Of a volume.
    #[must_use]
    pub fn of(volume: &FieldVolume, fineness: Fineness) -> Self {
        let kept = if fineness == Fineness::Exact { u16::MAX } else { !FAINT };
        let numbers: Vec<u16> = volume.texels.iter().map(|texel| texel & kept).collect();
        let [width, height, depth] = volume.size;
        Self {
            sites: volume.sites,
            size: volume.size,
            reduction: volume.reduction,
            quantity: volume.quantity,
            top: volume.top,
            texels: deep([width * volume.channels(), height * depth], &numbers),
        }
    }

    /// Bytes, about.
    pub fn length(&self) -> usize {
        self.texels.len()
    }

    /// The volume; `None` if it is damaged.
    pub fn open(&self) -> Option<FieldVolume> {
        let [width, height, depth] = self.size;
        let mut volume = FieldVolume {
            sites: self.sites,
            size: self.size,
            reduction: self.reduction.max(1),
            quantity: self.quantity,
            top: self.top,
            ..FieldVolume::default()
        };
        let all = texels(&[width, height, depth, volume.channels()])?;
        volume.texels = numbers([width * volume.channels(), height * depth], &self.texels)?;
        (volume.texels.len() == all).then_some(volume)
    }
}

/// Their number; `None` if nobody draws that many.
fn texels(sizes: &[usize]) -> Option<usize> {
    let all = sizes.iter().try_fold(1usize, |all, size| all.checked_mul(*size))?;
    (all <= MOST).then_some(all)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded numbers from 0 to 4095"
)]
fn short(value: f32, top: f32) -> u16 {
    if top == 0.0 {
        return ZERO;
    }
    let size = (value.abs() / top).sqrt() * TOP;
    (f32::from(ZERO) + size.round().copysign(value)) as u16
}

fn long(number: u16, top: f32) -> f32 {
    let number = f32::from(number) - f32::from(ZERO);
    let size = number.abs().min(TOP) / TOP;
    (size * size * top).copysign(number)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded numbers from 0 to 256"
)]
fn hue(phase: f32) -> u8 {
    (((phase + PI) / TAU * 256.0).round().max(0.0) as u32 % 256) as u8
}

/// In (−π, π].
fn angle(hue: u8) -> f32 {
    let turn = f32::from(hue) / 256.0;
    if hue == 0 { PI } else { turn * TAU - PI }
}

/// What a PNG holds.
#[derive(Clone, Copy)]
enum Kind {
    /// A byte a texel.
    Bytes,
    /// Two.
    Numbers,
    /// Four.
    Reals,
}

impl Kind {
    fn layout(self) -> (ColorType, BitDepth, usize) {
        match self {
            Self::Bytes => (ColorType::Grayscale, BitDepth::Eight, 1),
            Self::Numbers => (ColorType::Grayscale, BitDepth::Sixteen, 2),
            Self::Reals => (ColorType::Rgba, BitDepth::Eight, 4),
        }
    }
}

fn exact(size: [usize; 2], values: &[f32]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
    pack(size, Kind::Reals, &bytes)
}

fn reals(size: [usize; 2], packed: &[u8]) -> Option<Vec<f32>> {
    let bytes = unpack(size, Kind::Reals, packed)?;
    let (all, _) = bytes.as_chunks::<4>();
    Some(all.iter().map(|four| f32::from_be_bytes(*four)).collect())
}

fn deep(size: [usize; 2], numbers: &[u16]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    pack(size, Kind::Numbers, &bytes)
}

fn numbers(size: [usize; 2], packed: &[u8]) -> Option<Vec<u16>> {
    let bytes = unpack(size, Kind::Numbers, packed)?;
    let (all, _) = bytes.as_chunks::<2>();
    Some(all.iter().map(|two| u16::from_be_bytes(*two)).collect())
}

/// As PNG; empty where there is nothing.
fn pack(size: [usize; 2], kind: Kind, bytes: &[u8]) -> Vec<u8> {
    let (color, depth, each) = kind.layout();
    let [Ok(width), Ok(height)] = size.map(u32::try_from) else {
        return Vec::new();
    };
    if bytes.is_empty() || size[0] * size[1] * each != bytes.len() {
        return Vec::new();
    }
    let mut packed = Vec::new();
    let mut encoder = Encoder::new(&mut packed, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.set_compression(Compression::Fast);
    encoder.set_filter(Filter::Paeth);
    // Into memory, of a size that was looked at: nothing is left to fail.
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(bytes));
    if written.is_err() {
        packed.clear();
    }
    packed
}

/// Out of a PNG of this size and kind; empty from nothing.
fn unpack(size: [usize; 2], kind: Kind, packed: &[u8]) -> Option<Vec<u8>> {
    if packed.is_empty() {
        return Some(Vec::new());
    }
    let (color, depth, each) = kind.layout();
    let length = texels(&size)? * each;
    let limits = Limits {
        bytes: length + (1 << 20),
    };
    let mut reader = Decoder::new_with_limits(Cursor::new(packed), limits).read_info().ok()?;
    let info = reader.info();
    let found = [info.width as usize, info.height as usize];
    if found != size || info.color_type != color || info.bit_depth != depth || info.interlaced {
        return None;
    }
    let mut bytes = vec![0; length];
    reader.next_frame(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a phase, and a faint one beside it.
    fn image(size: [usize; 2]) -> FieldImage {
        let [nx, ny] = size;
        let mut image = FieldImage {
            size,
            origin: [3, 4],
            reduction: 2,
            quantity: Some(Quantity::Phase),
            ..FieldImage::default()
        };
        for n in 0..nx * ny {
            #[expect(clippy::cast_precision_loss, reason = "a few hundred texels")]
            let (x, y) = ((n % nx) as f32, (n / nx) as f32);
            let near = |x0: f32, y0: f32| (-((x - x0).powi(2) + (y - y0).powi(2)) / 800.0).exp();
            image.value.push(3.0 * near(60.0, 40.0) + 1e-3 * near(20.0, 10.0));
            image.phase.push((0.4 * x + 0.1 * y + PI).rem_euclid(TAU) - PI);
        }
        image
    }

    #[test]
    fn exact_pictures_arrive_bit_by_bit_and_quick_ones_within_half_a_step() {
        let mut image = image([120, 80]);
        image.phase[5] = PI;
        let exact = PictureMessage::of(&image, Fineness::Exact);
        assert_eq!(exact.open().unwrap(), image);
        let quick = PictureMessage::of(&image, Fineness::Quick);
        let seen = quick.open().unwrap();
        let top = 3.0;
        for n in 0..image.value.len() {
            // √ of the part is off by half of 1/2047: the value by √(v·top)/2047 and less.
            let within = (image.value[n] * top).sqrt() / 2047.0 * 1.01 + top / 2047.0f32.powi(2);
            assert!((seen.value[n] - image.value[n]).abs() <= within, "{n}");
            let off = (seen.phase[n] - image.phase[n]).abs();
            let hue = TAU / 512.0 * 1.01;
            assert!(off <= hue || off >= TAU - hue || seen.value[n] == 0.0, "{n}: {off}");
        }
        assert!(
            quick.length() * 3 < exact.length(),
            "{} of {}",
            quick.length(),
            exact.length()
        );
        image.value[7] = f32::NAN;
        let told = PictureMessage::of(&image, Fineness::Quick).open().unwrap();
        assert!(told.value[7].is_nan(), "what is not finite is not hidden");
        let nothing = FieldImage::default();
        assert_eq!(
            PictureMessage::of(&nothing, Fineness::Quick).open().unwrap().value,
            nothing.value
        );
    }

    #[test]
    fn damaged_pictures_are_refused() {
        let good = PictureMessage::of(&image([40, 30]), Fineness::Quick);
        let mut other = good.clone();
        other.size = [30, 40];
        assert!(other.open().is_none());
        other.size = [usize::MAX, 2];
        assert!(other.open().is_none());
        other = good.clone();
        other.phase.clear();
        assert!(other.open().is_none(), "half of it");
        other = good.clone();
        other.top = f32::NAN;
        assert!(other.open().is_none());
        other = good;
        other.value.truncate(60);
        assert!(other.open().is_none());
    }

    #[test]
    fn volumes_arrive() {
        let volume = FieldVolume {
            sites: [8, 6, 4],
            size: [4, 3, 2],
            reduction: 2,
            quantity: Some(Quantity::Density),
            top: 2.0,
            texels: (0..24).map(|n| 0x3000 + 7 * n).collect(),
            ..FieldVolume::default()
        };
        assert_eq!(VolumeMessage::of(&volume, Fineness::Exact).open().unwrap(), volume);
        let quick = VolumeMessage::of(&volume, Fineness::Quick).open().unwrap();
        for (seen, own) in quick.texels.iter().zip(&volume.texels) {
            assert_eq!(*seen, own & !FAINT);
        }
        let mut bad = VolumeMessage::of(&volume, Fineness::Exact);
        bad.size = [4, 3, 3];
        assert!(bad.open().is_none());
    }
}

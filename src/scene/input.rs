//! Files that a scene names: NPY arrays, PNG pictures, WAV sounds.

use crate::field::FieldData;
use crate::grid::Grid;
use crate::input_file::File;
use crate::physics::layer::Samples;
use num_complex::Complex;
use std::borrow::Cow;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Why a file of a scene cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It cannot be opened or read.
    #[error("{path} cannot be read: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// It is something else.
    #[error("{path} is no {wanted} file: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// NPY, PNG or WAV.
        wanted: &'static str,
        /// What does not fit.
        reason: String,
    },
    /// Its numbers are of an unsupported type.
    #[error("{path} holds {found}, and {wanted} belong here")]
    Type {
        /// The file.
        path: PathBuf,
        /// NumPy's name of the type.
        found: String,
        /// What would serve.
        wanted: &'static str,
    },
    /// It has another shape than the grid.
    #[error("{path} has the shape {found}, and the grid's is {wanted}")]
    Shape {
        /// The file.
        path: PathBuf,
        /// Its shape.
        found: String,
        /// The grid's, C order.
        wanted: String,
    },
    /// It would take too much memory.
    #[error("{path} has {found}, and at most {limit} are read")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        found: String,
        /// The limit.
        limit: &'static str,
    },
    /// A value is not finite.
    #[error("{path} holds {value} at index {index}")]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// NaN or inf.
        value: f64,
        /// NumPy's index.
        index: String,
    },
}

impl InputError {
    /// What to change.
    pub fn remedy(&self) -> Cow<'static, str> {
        let fixed = match self {
            Self::Unreadable { .. } => {
                "names of files are relative to the scene file; check the name and the permissions"
            }
            Self::Format { wanted: "NPY", .. } => "save it with numpy.save",
            Self::Format { wanted: "PNG", .. } => "save the picture as PNG",
            Self::Format { .. } => "save it as WAV with 16, 24 or 32 bits, or as a one-dimensional NPY",
            Self::Type { .. } => "convert it with numpy's astype before saving",
            Self::Shape { wanted, .. } => {
                let axes = wanted
                    .split(',')
                    .filter(|sites| sites.contains(|sign: char| sign.is_ascii_digit()));
                let names = ["(nx,)", "(ny, nx)", "(nz, ny, nx)"][axes.count().clamp(1, 3) - 1];
                return format!("save it with the shape {wanted}: {names}, x last; or change grid.size").into();
            }
            Self::TooLarge { .. } => "make it smaller before the scene names it",
            Self::NotFinite { .. } => "replace it, e.g. with numpy.nan_to_num",
        };
        fixed.into()
    }
}

/// Whether an NPY file holds complex numbers; reads its header only.
///
/// # Errors
/// If it cannot be read, or is not an NPY file of numbers that scenes use.
pub fn holds_complex(path: &Path) -> Result<bool, InputError> {
    Npy::open(path).map(|npy| npy.element.is_complex())
}

/// What an array must be.
pub(super) struct Wanted {
    /// C order, x last.
    pub shape: Vec<usize>,
    /// Whether complex numbers may be in it.
    pub complex: bool,
}

/// Most pixels of a picture: two to the 25th.
const MOST_PIXELS: u64 = 1 << 25;

/// Most samples of a signal: two to the 27th.
const MOST_SAMPLES: usize = 1 << 27;

/// The element types that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    F32,
    F64,
    C64,
    C128,
    U8,
}

/// An NPY file whose header has been read.
struct Npy {
    element: Element,
    fortran: bool,
    shape: Vec<usize>,
    reader: BufReader<File>,
    path: PathBuf,
}

fn unreadable(path: &Path, error: &std::io::Error) -> InputError {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    };
    InputError::Unreadable {
        path: path.to_owned(),
        reason,
    }
}

fn open(path: &Path) -> Result<(BufReader<File>, u64), InputError> {
    let (file, length) = crate::input_file::open(path).map_err(|error| unreadable(path, &error))?;
    Ok((BufReader::new(file), length))
}

/// Allocates space for this many values, if there is memory for them.
fn room<T>(path: &Path, count: usize) -> Result<Vec<T>, InputError> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| InputError::Unreadable {
        path: path.to_owned(),
        reason: format!("there is no memory for its {count} values"),
    })?;
    Ok(values)
}

impl Npy {
    /// Reads the header (versions 1 to 3 of the format) and compares the length of the file with it, before anything is allocated.
    fn open(path: &Path) -> Result<Self, InputError> {
        let format = |reason: &str| InputError::Format {
            path: path.to_owned(),
            wanted: "NPY",
            reason: reason.to_owned(),
        };
        let (mut reader, length) = open(path)?;
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(|_| format("it is too short"))?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(format("it does not begin with NumPy's mark"));
        }
        let mut size = [0; 4];
        let size_bytes = if start[6] == 1 { 2 } else { 4 };
        reader
            .read_exact(&mut size[..size_bytes])
            .map_err(|_| format("it is too short"))?;
        let header_length = u64::from(u32::from_le_bytes(size));
        if !(1..=3).contains(&start[6]) || header_length > 65_536 {
            return Err(format("its version or header is unknown"));
        }
        let mut header = String::new();
        reader
            .by_ref()
            .take(header_length)
            .read_to_string(&mut header)
            .map_err(|_| format("its header is not text"))?;
        let field = |name: &str| {
            header
                .split_once(&format!("'{name}':"))
                .map(|(_, rest)| rest.trim_start())
        };
        let descr = field("descr")
            .and_then(|rest| rest.strip_prefix('\''))
            .and_then(|rest| rest.split('\'').next());
        let fortran = field("fortran_order").map(|rest| rest.starts_with("True"));
        let shape = field("shape")
            .and_then(|rest| rest.strip_prefix('('))
            .and_then(|rest| rest.split_once(')'))
            .and_then(|(list, _)| {
                list.split(',')
                    .map(str::trim)
                    .filter(|number| !number.is_empty())
                    .map(|number| number.parse().ok())
                    .collect::<Option<Vec<usize>>>()
            });
        let (Some(descr), Some(fortran), Some(shape)) = (descr, fortran, shape) else {
            return Err(format("its header is incomplete, or it holds records"));
        };
        let element = match descr {
            "<f4" => Element::F32,
            "<f8" => Element::F64,
            "<c8" => Element::C64,
            "<c16" => Element::C128,
            "|u1" | "|b1" => Element::U8,
            other => {
                return Err(InputError::Type {
                    path: path.to_owned(),
                    found: format!("numbers of type {other}"),
                    wanted: "little-endian float32 or float64 ('<f4', '<f8'), for ψ complex64 or complex128 ('<c8', '<c16'), for layers uint8 or bool ('|u1', '|b1')",
                });
            }
        };
        let needed = shape
            .iter()
            .try_fold(element.bytes(), |all, sites| all.checked_mul(*sites))
            .and_then(|bytes| u64::try_from(bytes).ok());
        let there = length.saturating_sub(8 + size_bytes as u64 + header_length);
        if needed != Some(there) {
            return Err(format(&format!(
                "its header gives another length than the {there} bytes of the file"
            )));
        }
        Ok(Self {
            element,
            fortran,
            shape,
            reader,
            path: path.to_owned(),
        })
    }

    fn check_shape(&self, wanted: &[usize]) -> Result<(), InputError> {
        if self.shape == wanted {
            return Ok(());
        }
        Err(InputError::Shape {
            path: self.path.clone(),
            found: tuple(&self.shape),
            wanted: tuple(wanted),
        })
    }

    /// The bytes of all elements, C order.
    fn bytes(self) -> Result<(Vec<u8>, Vec<usize>), InputError> {
        let count = self.shape.iter().product::<usize>() * self.element.bytes();
        let mut bytes = room(&self.path, count)?;
        // A file that grows while it is read is read as far as its header says.
        self.reader
            .take(count as u64)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(&self.path, &error))?;
        if self.fortran && self.shape.len() > 1 {
            bytes = transposed(&bytes, &self.shape, self.element.bytes());
        }
        Ok((bytes, self.shape))
    }
}

impl Element {
    fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::F32 => 4,
            Self::F64 | Self::C64 => 8,
            Self::C128 => 16,
        }
    }

    fn is_complex(self) -> bool {
        matches!(self, Self::C64 | Self::C128)
    }
}

/// From Fortran order (first index fastest) to C order (last index fastest).
fn transposed(bytes: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0; shape.len()];
    for _ in 0..bytes.len() / size {
        let place = index
            .iter()
            .zip(shape)
            .rev()
            .fold(0, |place, (at, sites)| place * sites + at);
        out.extend_from_slice(&bytes[place * size..(place + 1) * size]);
        for (at, sites) in index.iter_mut().zip(shape).rev() {
            *at += 1;
            if *at < *sites {
                break;
            }
            *at = 0;
        }
    }
    out
}

/// A shape as NumPy writes it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!(
            "({})",
            shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ),
    }
}

fn reals(element: Element, bytes: &[u8]) -> Vec<f64> {
    match element {
        Element::U8 => bytes.iter().map(|byte| f64::from(*byte)).collect(),
        Element::F32 | Element::C64 => bytes
            .as_chunks()
            .0
            .iter()
            .map(|chunk| f64::from(f32::from_le_bytes(*chunk)))
            .collect(),
        Element::F64 | Element::C128 => bytes
            .as_chunks()
            .0
            .iter()
            .map(|chunk| f64::from_le_bytes(*chunk))
            .collect(),
    }
}

/// Finds the first value that is not finite; `parts` numbers make one element.
fn finite(path: &Path, values: impl Iterator<Item = f64>, parts: usize, shape: &[usize]) -> Result<(), InputError> {
    for (place, value) in values.enumerate() {
        if !value.is_finite() {
            let mut flat = place / parts;
            let mut index = vec![0; shape.len()];
            for (at, sites) in index.iter_mut().zip(shape).rev() {
                *at = flat % sites;
                flat /= sites;
            }
            return Err(InputError::NotFinite {
                path: path.to_owned(),
                value,
                index: tuple(&index),
            });
        }
    }
    Ok(())
}

/// Reads an initial state in its own precision.
pub(super) fn read_array(path: &Path, wanted: &Wanted) -> Result<FieldData, InputError> {
    let npy = Npy::open(path)?;
    npy.check_shape(&wanted.shape)?;
    let element = npy.element;
    if element == Element::U8 || (element.is_complex() && !wanted.complex) {
        let wanted = if wanted.complex {
            "complex64, complex128, float32 or float64"
        } else {
            "float32 or float64"
        };
        return Err(InputError::Type {
            path: path.to_owned(),
            found: if element.is_complex() {
                "complex numbers"
            } else {
                "bytes"
            }
            .to_owned(),
            wanted,
        });
    }
    let (bytes, shape) = npy.bytes()?;
    let singles = || bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk));
    let doubles = || bytes.as_chunks().0.iter().map(|chunk| f64::from_le_bytes(*chunk));
    let parts = if element.is_complex() { 2 } else { 1 };
    if matches!(element, Element::F32 | Element::C64) {
        finite(path, singles().map(f64::from), parts, &shape)?;
    } else {
        finite(path, doubles(), parts, &shape)?;
    }
    let zero = |re: f32| Complex::new(re, 0.0);
    Ok(match element {
        Element::F32 if wanted.complex => FieldData::Complex64(singles().map(zero).collect()),
        Element::F32 => FieldData::Float32(singles().collect()),
        Element::F64 if wanted.complex => FieldData::Complex128(doubles().map(|re| Complex::new(re, 0.0)).collect()),
        Element::F64 | Element::U8 => FieldData::Float64(doubles().collect()),
        Element::C64 => {
            let values: Vec<f32> = singles().collect();
            FieldData::Complex64(
                values
                    .as_chunks()
                    .0
                    .iter()
                    .map(|&[re, im]| Complex::new(re, im))
                    .collect(),
            )
        }
        Element::C128 => {
            let values: Vec<f64> = doubles().collect();
            FieldData::Complex128(
                values
                    .as_chunks()
                    .0
                    .iter()
                    .map(|&[re, im]| Complex::new(re, im))
                    .collect(),
            )
        }
    })
}

/// Reads an array layer.
pub(super) fn read_samples(path: &Path, name: &Path, grid: &Grid) -> Result<Samples, InputError> {
    let npy = Npy::open(path)?;
    npy.check_shape(&grid.shape())?;
    if npy.element.is_complex() {
        return Err(InputError::Type {
            path: path.to_owned(),
            found: "complex numbers".to_owned(),
            wanted: "float32, float64, uint8 or bool",
        });
    }
    let element = npy.element;
    let (bytes, shape) = npy.bytes()?;
    let values = reals(element, &bytes);
    finite(path, values.iter().copied(), 1, &shape)?;
    Ok(Samples {
        size: grid.size(),
        values,
        file: name.to_owned(),
    })
}

/// Reads a picture's grey levels, 0 (black or transparent) to 1 (white), first row at the top.
pub(super) fn read_image(path: &Path, name: &Path) -> Result<Samples, InputError> {
    let format = |reason: String| InputError::Format {
        path: path.to_owned(),
        wanted: "PNG",
        reason,
    };
    let (reader, _) = open(path)?;
    let reader = image::ImageReader::with_format(reader, image::ImageFormat::Png);
    // A few bytes can ask for a huge picture: its size stands before them.
    let (width, height) = reader.into_dimensions().map_err(|error| format(error.to_string()))?;
    let count = u64::from(width) * u64::from(height);
    if count > MOST_PIXELS {
        return Err(InputError::TooLarge {
            path: path.to_owned(),
            found: format!("{width} × {height} pixels"),
            limit: "33 million pixels, e.g. 7680 × 4320",
        });
    }
    let (reader, _) = open(path)?;
    let mut reader = image::ImageReader::with_format(reader, image::ImageFormat::Png);
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(16 * MOST_PIXELS);
    reader.limits(limits);
    let picture = reader.decode().map_err(|error| format(error.to_string()))?;
    let pixels = picture.to_luma_alpha16();
    let mut values = room(path, pixels.len() / 2)?;
    values.extend(
        pixels
            .pixels()
            .map(|pixel| f64::from(pixel.0[0]) / 65535.0 * (f64::from(pixel.0[1]) / 65535.0)),
    );
    Ok(Samples {
        size: [pixels.width() as usize, pixels.height() as usize, 1],
        values,
        file: name.to_owned(),
    })
}

/// Reads a signal: samples per second (`None` for NPY) and samples, the first channel of a WAV scaled to −1..1.
pub fn read_signal(path: &Path) -> Result<(Option<f64>, Vec<f64>), InputError> {
    if path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))
    {
        let npy = Npy::open(path)?;
        if npy.shape.len() != 1 || npy.element.is_complex() {
            return Err(InputError::Type {
                path: path.to_owned(),
                found: format!("an array of shape {}", tuple(&npy.shape)),
                wanted: "real numbers of shape (n,)",
            });
        }
        if npy.shape[0] > MOST_SAMPLES {
            return Err(InputError::TooLarge {
                path: path.to_owned(),
                found: format!("{} samples", npy.shape[0]),
                limit: "134 million samples",
            });
        }
        let element = npy.element;
        let (bytes, shape) = npy.bytes()?;
        let values = reals(element, &bytes);
        finite(path, values.iter().copied(), 1, &shape)?;
        return Ok((None, values));
    }
    let bytes = crate::input_file::read(path, 4 * MOST_SAMPLES as u64).map_err(|error| unreadable(path, &error))?;
    wav(&bytes)
        .map(|(rate, values)| (Some(rate), values))
        .ok_or_else(|| InputError::Format {
            path: path.to_owned(),
            wanted: "WAV",
            reason: "it is not RIFF/WAVE with PCM of 8, 16, 24 or 32 bits or floats of 32 bits".to_owned(),
        })
}

/// The first channel of a RIFF/WAVE file.
fn wav(bytes: &[u8]) -> Option<(f64, Vec<f64>)> {
    let riff = bytes.get(..4)? == b"RIFF" && bytes.get(8..12)? == b"WAVE";
    let mut rest = bytes.get(12..).filter(|_| riff)?;
    let mut format = None;
    loop {
        let size = u32::from_le_bytes(rest.get(4..8)?.try_into().ok()?) as usize;
        let body = rest.get(8..)?;
        let chunk = &body[..size.min(body.len())];
        match rest.get(..4)? {
            b"fmt " => {
                let word = |at: usize| chunk.get(at..at + 2).map(|two| u16::from_le_bytes([two[0], two[1]]));
                let rate = u32::from_le_bytes(chunk.get(4..8)?.try_into().ok()?);
                // An extensible header names the real format at the start of its sub-format.
                let tag = if word(0)? == 0xfffe { word(24)? } else { word(0)? };
                format = Some((tag, usize::from(word(2)?), rate, word(14)?));
            }
            b"data" => {
                let (tag, channels, rate, bits) = format?;
                let width = usize::from(bits / 8);
                if channels == 0 || width == 0 || rate == 0 {
                    return None;
                }
                let sample = |frame: &[u8]| -> Option<f64> {
                    Some(match (tag, frame) {
                        (1, &[byte]) => (f64::from(byte) - 128.0) / 128.0,
                        (1, &[a, b]) => f64::from(i16::from_le_bytes([a, b])) / 32768.0,
                        (1, &[a, b, c]) => f64::from(i32::from_le_bytes([0, a, b, c])) / 2147483648.0,
                        (1, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])) / 2147483648.0,
                        (3, &[a, b, c, d]) => {
                            Some(f64::from(f32::from_le_bytes([a, b, c, d]))).filter(|value| value.is_finite())?
                        }
                        _ => return None,
                    })
                };
                let values = chunk
                    .chunks_exact(width * channels)
                    .map(|frame| sample(&frame[..width]));
                return Some((f64::from(rate), values.collect::<Option<Vec<f64>>>()?));
            }
            _ => {}
        }
        // Chunks begin at even places.
        rest = body.get(size + size % 2..)?;
    }
}

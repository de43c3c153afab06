//! Pictures, films, sounds and data: one file per format.
//!
//! Everything is written to a temporary file and renamed when it is complete ([`AtomicFile`]): a cancelled or failed export leaves nothing
//! half-written. All formats share one [`Progress`], through which another thread can watch and cancel.

pub mod apng;
mod behind;
mod cards;
pub mod chart;
mod color_bar;
pub mod csv;
pub mod ending;
pub mod errand;
pub mod facts;
pub mod film;
pub mod flow;
pub mod gif;
pub mod graph;
pub mod heard;
pub mod html;
mod line;
pub mod look;
pub mod march;
pub mod markdown;
pub mod marks;
#[cfg(feature = "mp4")]
pub mod mp4;
pub mod npy;
#[cfg(feature = "hdf5")]
mod openpmd;
pub mod overlay;
pub mod paint;
pub mod pair;
mod palette;
pub mod picture;
mod pixels;
mod plane;
pub mod plot;
pub mod png;
pub mod progress;
pub mod relief;
pub mod resample;
pub mod sequence;
#[cfg(feature = "hdf5")]
pub mod series;
pub mod shade;
pub mod space;
mod strokes;
pub mod system_font;
pub mod text;
pub mod theme;
pub mod theory;
pub mod thumbnail;
pub mod ticks;
pub mod units;
mod upright;
pub mod wav;
#[cfg(feature = "mp4")]
mod yuv;

pub use look::{Look, LookError};
pub use paint::Painter;
pub use picture::Picture;
pub use progress::Progress;

use crate::atomic_file::AtomicFile;
use crate::file_error::explained;
use crate::scene::Scenario;
use std::io;
use std::path::{Path, PathBuf};

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file could not be written.
    #[error("{}: {}", path.display(), explained(reason))]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message; it is part of the text and therefore not a source, which chains of errors would repeat.
        reason: io::Error,
    },
    /// The name does not determine the format.
    #[error("{}: the name must end in {known}, or in / for numbered pictures in a directory", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
        /// The endings there are.
        known: &'static str,
    },
    /// The format cannot hold a picture of this size.
    #[error("{format} cannot hold {width} × {height} pixels: {limit}")]
    Size {
        /// The format.
        format: &'static str,
        /// Pixels.
        width: usize,
        /// Pixels.
        height: usize,
        /// The limit, and what to change.
        limit: &'static str,
    },
    /// The film's rate is out of range.
    #[error("{format} cannot show {fps} pictures a second: choose {limit}")]
    Rate {
        /// The format.
        format: &'static str,
        /// Pictures per second.
        fps: f64,
        /// The limit.
        limit: &'static str,
    },
    /// An encoder failed.
    #[error("{format}: {message}")]
    Encoder {
        /// The format.
        format: &'static str,
        /// What it said.
        message: String,
    },
    /// [`Progress::cancel`] was called.
    #[error("cancelled; nothing was written")]
    Cancelled,
}

impl ExportError {
    /// Whether the request is at fault, rather than something that failed during the export.
    pub fn is_input(&self) -> bool {
        matches!(self, Self::Extension { .. } | Self::Size { .. } | Self::Rate { .. })
    }

    /// For `map_err` on a path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |reason| Self::Io { path, reason }
    }
}

/// A text as a file, complete or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn save_text(path: &Path, text: &str) -> Result<(), ExportError> {
    use std::io::Write;
    let mut file = begin(path)?;
    file.write_all(text.as_bytes()).map_err(ExportError::io(path))?;
    complete(file)
}

/// Opens a file that appears when it is complete.
pub(crate) fn begin(path: &Path) -> Result<AtomicFile, ExportError> {
    AtomicFile::create(path).map_err(ExportError::io(path))
}

/// Puts a complete file in its place.
pub(crate) fn complete(file: AtomicFile) -> Result<(), ExportError> {
    let failed = ExportError::io(file.target());
    file.commit().map_err(failed)
}

/// What `render` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One picture.
    Png,
    /// A film that every browser shows; 256 colours a picture.
    Gif,
    /// A film without loss that browsers show.
    Apng,
    /// A film in H.264.
    Mp4,
    /// Numbered PNGs in a directory.
    Sequence,
}

#[cfg(feature = "mp4")]
const ENDINGS: &str = ".png, .apng, .gif or .mp4";
#[cfg(not(feature = "mp4"))]
const ENDINGS: &str = ".png, .apng or .gif (this build has no H.264)";

impl Format {
    /// The format of a path, by its extension; a directory, or a path that ends in a separator, means a sequence.
    ///
    /// # Errors
    /// If the ending is none of ours.
    pub fn of(path: &Path) -> Result<Self, ExportError> {
        let text = path.as_os_str().to_string_lossy();
        if text.ends_with(std::path::is_separator) || path.is_dir() {
            return Ok(Self::Sequence);
        }
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("png") => Ok(Self::Png),
            Some("gif") => Ok(Self::Gif),
            Some("apng") => Ok(Self::Apng),
            #[cfg(feature = "mp4")]
            Some("mp4") => Ok(Self::Mp4),
            _ => Err(ExportError::Extension {
                path: path.to_owned(),
                known: ENDINGS,
            }),
        }
    }
}

impl Format {
    /// Whether it can be written: MP4 needs an H.264 encoder, in the build or in the browser.
    #[must_use]
    pub fn is_offered(self) -> bool {
        #[cfg(feature = "mp4")]
        let encodes = mp4::has_encoder();
        #[cfg(not(feature = "mp4"))]
        let encodes = false;
        self != Self::Mp4 || encodes
    }

    /// The pixels of a file for pictures of `size`: H.264 needs even sides.
    #[must_use]
    pub fn stored_size(self, size: [usize; 2]) -> [usize; 2] {
        match self {
            Self::Mp4 => size.map(|side| side.next_multiple_of(2)),
            _ => size,
        }
    }

    /// Bytes that a film of so many pictures of `size` pixels takes at most: raw pixels (MP4: with colours at half the resolution; GIF: 12 bits
    /// for a pixel of 8, the worst of LZW), and a little for headers. Waves on a dark ground take a tenth of that or less.
    #[must_use]
    pub fn most_bytes(self, size: [usize; 2], pictures: u32) -> u64 {
        let pixels = size[0] as u64 * size[1] as u64;
        let one = match self {
            Self::Png | Self::Sequence | Self::Apng => 3 * pixels + pixels / 1000 + 4096,
            Self::Gif | Self::Mp4 => pixels + pixels / 2 + 4096,
        };
        one * if self == Self::Png { 1 } else { u64::from(pictures) }
    }

    /// Bytes that films of waves take: from smooth ones to those with fine patterns everywhere. Measured at 1920 × 1080 as MP4: `pond` a
    /// 300th of a byte a pixel, `snell` a 50th, a scattered wave three times as much.
    #[must_use]
    pub fn usual_bytes(self, size: [usize; 2], pictures: u32) -> [u64; 2] {
        let most = self.most_bytes(size, pictures);
        match self {
            Self::Mp4 => [most / 450, most / 25],
            _ => [most / 40, most / 3],
        }
    }
}

/// The free space in bytes where a file will be written; `None` if the system does not report it.
pub fn free_space(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let folder = if path.is_dir() { path } else { folder };
        let space = rustix::fs::statvfs(folder).ok()?;
        Some(space.f_bavail * space.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// The metadata of a film or a picture.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The scene's title.
    pub title: String,
    /// The scene as text, with everything that was overridden; embedded in PNG and MP4.
    pub scene: Option<String>,
    /// How to make it again, e.g. the command.
    pub comment: String,
}

impl About {
    /// Of a scene, without a comment.
    pub fn of(scenario: &Scenario) -> Self {
        Self {
            title: scenario.title().to_owned(),
            scene: Some(scenario.file().to_toml()),
            comment: String::new(),
        }
    }
}

/// Takes pictures of one size, one after the other. Dropped before [`FilmWriter::finish`], it leaves nothing behind.
pub trait FilmWriter: Send {
    /// Appends a picture.
    ///
    /// # Errors
    /// If it cannot be encoded or written.
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError>;

    /// Whether the browser's encoder is busy: then the next picture waits, and the caller continues later.
    ///
    /// # Errors
    /// If what it made cannot be written, or it failed.
    fn is_busy(&mut self) -> Result<bool, ExportError> {
        Ok(false)
    }

    /// Has an encoder beside the page give back what it keeps of the last pictures; whether it has, or else the caller asks again later. Until then the film cannot be
    /// finished.
    ///
    /// # Errors
    /// As [`FilmWriter::is_busy`].
    fn flush(&mut self) -> Result<bool, ExportError> {
        Ok(true)
    }

    /// Completes the file and puts it in place.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self: Box<Self>) -> Result<(), ExportError>;
}

/// A writer for `path` (see [`Format::of`]): pictures of `size` at `fps` pictures per second, all of it announced in `about`.
/// A PNG keeps the last picture that it is given.
///
/// # Errors
/// If the ending, the size or the rate does not fit a format, or the place cannot be written to.
pub fn create(path: &Path, size: [usize; 2], fps: f64, about: &About) -> Result<Box<dyn FilmWriter>, ExportError> {
    create_as(Format::of(path)?, path, size, fps, about)
}

/// The same in a format that is given.
///
/// # Errors
/// As [`create`].
pub fn create_as(
    format: Format,
    path: &Path,
    size: [usize; 2],
    fps: f64,
    about: &About,
) -> Result<Box<dyn FilmWriter>, ExportError> {
    let writer: Box<dyn FilmWriter> = match format {
        // One picture need not wait for another.
        Format::Png => return Ok(Box::new(png::PngWriter::create(path, about)?)),
        Format::Gif => Box::new(gif::GifWriter::create(path, size, fps)?),
        Format::Apng => Box::new(apng::ApngWriter::create(path, size, fps, about)?),
        #[cfg(feature = "mp4")]
        Format::Mp4 => Box::new(mp4::Mp4Writer::create(path, size, fps, about)?),
        #[cfg(not(feature = "mp4"))]
        Format::Mp4 => {
            return Err(ExportError::Extension {
                path: path.to_owned(),
                known: ENDINGS,
            });
        }
        Format::Sequence => Box::new(sequence::SequenceWriter::create(path, about)?),
    };
    if crate::platform::THREADS {
        return Ok(Box::new(behind::Behind::start(writer, path)?));
    }
    Ok(writer)
}

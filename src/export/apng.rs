//! Animated PNG: lossless films that browsers show, and that contain the scene as a PNG does.
//!
//! Every picture is whole (no differences between pictures). How many there are stands in the first kilobytes (chunk acTL of the PNG
//! specification, third edition, §11.3.6.1); it is filled in when the last one is written.

use super::{About, ExportError, FilmWriter, Picture, png};
use crate::atomic_file::AtomicFile;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rates that a delay of a 16-bit numerator over a 16-bit denominator says, and that viewers follow.
const RATES: std::ops::RangeInclusive<f64> = 0.5..=100.0;

/// The file, shared with the encoder, which does not give it back.
#[derive(Clone)]
struct Shared(Arc<Mutex<AtomicFile>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, AtomicFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lock().flush()
    }
}

/// Writes a film that repeats forever.
pub struct ApngWriter {
    encoder: ::png::Writer<Shared>,
    file: Arc<Mutex<AtomicFile>>,
    path: PathBuf,
    pictures: u32,
}

impl ApngWriter {
    /// A film of `size` pixels at `fps` pictures per second.
    ///
    /// # Errors
    /// If the rate is not within 0.5 to 100, or the place cannot be written to.
    pub fn create(path: &Path, size: [usize; 2], fps: f64, about: &About) -> Result<Self, ExportError> {
        if !RATES.contains(&fps) {
            return Err(ExportError::Rate {
                format: "APNG",
                fps,
                limit: "0.5 to 100",
            });
        }
        let file = Arc::new(Mutex::new(super::begin(path)?));
        let failed = png::failure(path);
        let begin = || {
            let mut encoder = png::encoder(Shared(Arc::clone(&file)), size, about)?;
            encoder.set_animated(i32::MAX.unsigned_abs(), 0)?;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "limited above")]
            let per_second = (fps * 100.0).round() as u16;
            encoder.set_frame_delay(100, per_second)?;
            encoder.write_header()
        };
        Ok(Self {
            encoder: begin().map_err(failed)?,
            file,
            path: path.to_owned(),
            pictures: 0,
        })
    }
}

impl FilmWriter for ApngWriter {
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
        self.pictures += 1;
        let written = self.encoder.write_image_data(&picture.rgb);
        written.map_err(png::failure(&self.path))
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        let Self {
            encoder,
            file,
            path,
            pictures,
        } = *self;
        encoder.finish().map_err(png::failure(&path))?;
        let file = Arc::try_unwrap(file).map_err(|_| ExportError::Encoder {
            format: "APNG",
            message: "the encoder holds on to the file".to_owned(),
        })?;
        let mut file = file.into_inner().unwrap_or_else(PoisonError::into_inner);
        count(&mut file, pictures).map_err(ExportError::io(&path))?;
        super::complete(file)
    }
}

/// Fills in how many pictures there are.
fn count(file: &mut AtomicFile, pictures: u32) -> io::Result<()> {
    let mut head = Vec::new();
    let mut reader = file.flushed()?;
    reader.seek(SeekFrom::Start(0))?;
    // Length and name of each chunk, from behind the signature on.
    let mut at = 8u64;
    loop {
        reader.seek(SeekFrom::Start(at))?;
        let mut start = [0; 8];
        reader.read_exact(&mut start)?;
        let length = u32::from_be_bytes([start[0], start[1], start[2], start[3]]);
        if &start[4..] == b"acTL" {
            break;
        }
        at += 12 + u64::from(length);
    }
    head.extend(b"acTL");
    head.extend(pictures.to_be_bytes());
    head.extend(0u32.to_be_bytes());
    let sum = crc32fast::hash(&head);
    file.seek(SeekFrom::Start(at + 4))?;
    file.write_all(&head)?;
    file.write_all(&sum.to_be_bytes())?;
    file.seek(SeekFrom::End(0))?;
    Ok(())
}

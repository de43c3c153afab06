//! PNG pictures that carry the scene they show.

use super::palette::Palette;
use super::{About, ExportError, FilmWriter, Picture};
use crate::scene::embedded::KEYWORD;
use std::io::Write;
use std::path::Path;

/// The keyword under which a picture names the program that wrote it.
const SOFTWARE: &str = "Software";

/// Writes a picture, complete or not at all; the scene goes into an iTXt chunk named [`KEYWORD`].
///
/// # Errors
/// If the file cannot be written.
pub fn save(path: &Path, picture: &Picture, about: &About) -> Result<(), ExportError> {
    let mut file = super::begin(path)?;
    write(&mut file, picture, about).map_err(failure(path))?;
    super::complete(file)
}

/// Writes a small picture with at most this many colours, 64 to 256.
///
/// # Errors
/// If the file cannot be written.
pub fn save_in_colors(path: &Path, picture: &Picture, about: &About, colors: usize) -> Result<(), ExportError> {
    let mut palette = Palette::default();
    let pixels = palette.index(picture, colors);
    let mut file = super::begin(path)?;
    let mut write = || {
        let mut encoder = encoder(&mut file, [picture.width, picture.height], about)?;
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette.colors().concat());
        encoder.set_compression(png::Compression::High);
        // Neighbours in a palette are not neighbours in colour: differences say nothing.
        encoder.set_filter(png::Filter::NoFilter);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        writer.finish()
    };
    write().map_err(failure(path))?;
    super::complete(file)
}

/// Whether a picture is marked as written by this program.
pub(super) fn is_own(path: &Path) -> bool {
    let Ok((file, _)) = crate::input_file::open(path) else {
        return false;
    };
    let limits = png::Limits { bytes: 1 << 20 };
    let decoder = png::Decoder::new_with_limits(std::io::BufReader::new(file), limits);
    let Ok(reader) = decoder.read_info() else { return false };
    let texts = &reader.info().uncompressed_latin1_text;
    texts
        .iter()
        .any(|chunk| chunk.keyword == SOFTWARE && chunk.text.starts_with("Ripplon "))
}

/// What an encoder's error means for a file.
pub(super) fn failure(path: &Path) -> impl Fn(png::EncodingError) -> ExportError + use<> {
    let path = path.to_owned();
    move |error| match error {
        png::EncodingError::IoError(reason) => ExportError::Io {
            path: path.clone(),
            reason,
        },
        other => ExportError::Encoder {
            format: "PNG",
            message: other.to_string(),
        },
    }
}

/// A picture as the bytes of a PNG, to be embedded.
///
/// # Errors
/// If it cannot be encoded.
pub fn bytes(picture: &Picture, about: &About) -> Result<Vec<u8>, ExportError> {
    let mut bytes = Vec::new();
    write(&mut bytes, picture, about).map_err(|error| ExportError::Encoder {
        format: "PNG",
        message: error.to_string(),
    })?;
    Ok(bytes)
}

/// Encodes a picture.
pub(super) fn write(file: impl Write, picture: &Picture, about: &About) -> Result<(), png::EncodingError> {
    let mut writer = encoder(file, [picture.width, picture.height], about)?.write_header()?;
    writer.write_image_data(&picture.rgb)?;
    writer.finish()
}

/// An encoder for RGB pictures of `size`, with their metadata.
pub(super) fn encoder<'a, W: Write>(
    file: W,
    size: [usize; 2],
    about: &About,
) -> Result<png::Encoder<'a, W>, png::EncodingError> {
    let [width, height] = size.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.add_text_chunk(
        SOFTWARE.to_owned(),
        concat!("Ripplon ", env!("CARGO_PKG_VERSION")).to_owned(),
    )?;
    for (keyword, text) in [("Title", &about.title), ("Comment", &about.comment)] {
        if !text.is_empty() {
            encoder.add_itxt_chunk(keyword.to_owned(), text.clone())?;
        }
    }
    if let Some(scene) = &about.scene {
        encoder.add_itxt_chunk(KEYWORD.to_owned(), scene.clone())?;
    }
    Ok(encoder)
}

/// One PNG: the last picture that it is given.
#[derive(Debug)]
pub struct PngWriter {
    path: std::path::PathBuf,
    about: About,
    last: Option<Picture>,
}

impl PngWriter {
    /// A writer for `path`.
    ///
    /// # Errors
    /// If the place cannot be written to.
    pub fn create(path: &Path, about: &About) -> Result<Self, ExportError> {
        // Found out now rather than after the run.
        drop(super::begin(path)?);
        Ok(Self {
            path: path.to_owned(),
            about: about.clone(),
            last: None,
        })
    }
}

impl FilmWriter for PngWriter {
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
        self.last = Some(picture.clone());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        match &self.last {
            Some(picture) => save(&self.path, picture, &self.about),
            None => Ok(()),
        }
    }
}

//! PNG pictures that carry the scene they show.

use super::{About, ExportError, FilmWriter, Picture, aside::Aside};
use crate::scene::embedded::KEYWORD;
use std::path::Path;

/// Writes a picture, aside, then in place; the scene goes into an iTXt chunk named [`KEYWORD`].
///
/// # Errors
/// If the file cannot be written.
pub fn save(path: &Path, picture: &Picture, about: &About) -> Result<(), ExportError> {
    let mut file = Aside::create(path)?;
    write(&mut file, picture, about).map_err(failure(path))?;
    file.commit()
}

/// What an encoder's error means for a file.
pub(super) fn failure(path: &Path) -> impl Fn(png::EncodingError) -> ExportError + use<> {
    let path = path.to_owned();
    move |error| match error {
        png::EncodingError::IoError(source) => ExportError::Io {
            path: path.clone(),
            source,
        },
        other => ExportError::Encoder {
            format: "PNG",
            message: other.to_string(),
        },
    }
}

fn write(file: &mut Aside, picture: &Picture, about: &About) -> Result<(), png::EncodingError> {
    let mut writer = encoder(file, [picture.width, picture.height], about)?.write_header()?;
    writer.write_image_data(&picture.rgb)?;
    writer.finish()
}

/// An encoder for RGB pictures of `size` that carry what there is to say about them.
pub(super) fn encoder<'a, W: std::io::Write>(
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
        "Software".to_owned(),
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
        drop(Aside::create(path)?);
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

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
    write(&mut file, picture, about).map_err(|error| match error {
        png::EncodingError::IoError(source) => ExportError::io(path)(source),
        other => ExportError::Encoder {
            format: "PNG",
            message: other.to_string(),
        },
    })?;
    file.commit()
}

fn write(file: &mut Aside, picture: &Picture, about: &About) -> Result<(), png::EncodingError> {
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut encoder = png::Encoder::new(file, side(picture.width), side(picture.height));
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
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&picture.rgb)?;
    writer.finish()
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

//! Numbered PNGs in a directory: `frame_00000.png`, `frame_00001.png`, …
//!
//! They are written to a directory aside. At the end it becomes the target, or, where the target exists, the pictures move into it,
//! and frames of an earlier film that are left over behind the last one are removed, so that the directory holds one film.

use super::{About, ExportError, FilmWriter, Picture, png};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Collects the pictures of a film.
#[derive(Debug)]
pub struct SequenceWriter {
    target: PathBuf,
    aside: TempDir,
    about: About,
    count: usize,
}

/// The name of picture `n`.
#[must_use]
pub fn name(n: usize) -> String {
    format!("frame_{n:05}.png")
}

impl SequenceWriter {
    /// Makes a directory aside of `target`.
    ///
    /// # Errors
    /// If the place cannot be written to.
    pub fn create(target: &Path, about: &About) -> Result<Self, ExportError> {
        // "frames/" and "frames" have the same parent.
        let target: PathBuf = target.components().collect();
        let parent = if target.is_dir() {
            target.clone()
        } else {
            match target.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
                _ => PathBuf::from("."),
            }
        };
        let aside = tempfile::Builder::new()
            .prefix(".ripplon-")
            .suffix(".part")
            .tempdir_in(&parent)
            .map_err(ExportError::io(&target))?;
        Ok(Self {
            target,
            aside,
            about: about.clone(),
            count: 0,
        })
    }

    fn put_in_place(&self) -> io::Result<()> {
        fs::create_dir_all(&self.target)?;
        for n in 0..self.count {
            fs::rename(self.aside.path().join(name(n)), self.target.join(name(n)))?;
        }
        let mut stale = self.count;
        while self.target.join(name(stale)).exists() {
            fs::remove_file(self.target.join(name(stale)))?;
            stale += 1;
        }
        Ok(())
    }
}

impl FilmWriter for SequenceWriter {
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
        png::save(&self.aside.path().join(name(self.count)), picture, &self.about)?;
        self.count += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        self.put_in_place().map_err(ExportError::io(&self.target))
    }
}

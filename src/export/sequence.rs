//! Numbered PNGs in a directory: `frame_00000.png`, `frame_00001.png`, …
//!
//! They are written to a temporary directory next to the target. At the end it becomes the target, in one move, or, where the target exists, the pictures move into it one by one,
//! and frames of an earlier film that are left over behind the last one are removed, so that the directory holds one film. A directory that holds frames of
//! other programs, or files and no frames, is left alone.

use super::{About, ExportError, FilmWriter, Picture, png};
use crate::atomic_file::{directory_of, faults, part_directory};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Collects the pictures of a film.
#[derive(Debug)]
pub struct SequenceWriter {
    target: PathBuf,
    part: TempDir,
    /// Says that this run lives.
    _lock: Option<File>,
    about: About,
    count: usize,
}

/// The name of picture `n`.
pub fn name(n: usize) -> String {
    format!("frame_{n:05}.png")
}

/// Whether a file is called as a picture of a film is.
fn is_name(name: &str) -> bool {
    let digits = name.strip_prefix("frame_").and_then(|rest| rest.strip_suffix(".png"));
    digits.is_some_and(|digits| digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

impl SequenceWriter {
    /// Makes a directory beside `target`.
    ///
    /// # Errors
    /// If the place cannot be written to, or `target` is a directory that is neither empty nor holds frames of this program.
    pub fn create(target: &Path, about: &About) -> Result<Self, ExportError> {
        // "frames/" and "frames" have the same parent.
        let target: PathBuf = target.components().collect();
        let name = target.file_name().unwrap_or_default().to_owned();
        let parent = if target.is_dir() {
            check_own(&target).map_err(ExportError::io(&target))?;
            target.clone()
        } else {
            directory_of(&target).to_owned()
        };
        let (part, lock) = part_directory(&parent, &name).map_err(ExportError::io(&target))?;
        Ok(Self {
            target,
            part,
            _lock: lock,
            about: about.clone(),
            count: 0,
        })
    }

    fn put_in_place(&mut self) -> io::Result<()> {
        if !self.target.exists() {
            faults::call()?;
            fs::rename(self.part.path(), &self.target)?;
            self.part.disable_cleanup(true);
            return Ok(());
        }
        for n in 0..self.count {
            faults::call()?;
            fs::rename(self.part.path().join(name(n)), self.target.join(name(n)))?;
        }
        let mut stale = self.count;
        while self.target.join(name(stale)).exists() {
            faults::call()?;
            fs::remove_file(self.target.join(name(stale)))?;
            stale += 1;
        }
        Ok(())
    }
}

/// Looks whether a directory is empty or this program's own: it holds frames, all of which this program wrote. Other files beside them stay as they are.
fn check_own(directory: &Path) -> io::Result<()> {
    let (mut frames, mut other) = (0, None);
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !is_name(&name) {
            // Parts of runs that live or were killed.
            other = other.or_else(|| (!name.starts_with(".ripplon-")).then(|| name.into_owned()));
        } else if png::is_own(&entry.path()) {
            frames += 1;
        } else {
            let text = format!("{name} in this directory is not from Ripplon; name a new or an empty directory");
            return Err(io::Error::other(text));
        }
    }
    match other {
        Some(other) if frames == 0 => Err(io::Error::other(format!(
            "this directory holds other files, e.g. {other}; name a new or an empty directory"
        ))),
        _ => Ok(()),
    }
}

impl FilmWriter for SequenceWriter {
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
        let path = self.part.path().join(name(self.count));
        faults::call().map_err(ExportError::io(&path))?;
        let mut file = BufWriter::new(File::create_new(&path).map_err(ExportError::io(&path))?);
        png::write(&mut file, picture, &self.about).map_err(png::failure(&path))?;
        file.flush().map_err(ExportError::io(&path))?;
        self.count += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        self.put_in_place().map_err(ExportError::io(&self.target))
    }
}

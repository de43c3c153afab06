//! Hearing a detector: its record as a WAV file, saved or opened with the system's player.
//!
//! The player is the system's own, since a library that plays by itself needs the headers of the system's sound library when it is built.

use super::background::file_name;
use crate::engine::Engine;
use crate::export::wav::{self, WavOptions};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What of a detector shall be heard.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundWish {
    /// Its name.
    pub detector: String,
    /// How many times as fast as in the scene.
    pub speed: f64,
    /// Played at once instead of saved.
    pub listens: bool,
}

impl SoundWish {
    /// Writes the record so far; returns what was written, in words.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn write(&self, engine: &Engine, path: &Path) -> Result<String, String> {
        let place = engine
            .scenario()
            .detectors()
            .iter()
            .position(|detector| detector.name == self.detector)
            .ok_or_else(|| {
                format!(
                    "{}: the running scene has no such detector yet; mend what is wrong with the edit",
                    self.detector
                )
            })?;
        let options = WavOptions {
            speed: self.speed,
            ..WavOptions::default()
        };
        let taps = engine.taps();
        let (times, values) = taps.series(place);
        wav::save(path, &times, &values, &options)
            .map(|written| written.words())
            .map_err(|error| error.to_string())
    }

    /// Opens the record so far with the system's player.
    pub(super) fn play(&self, engine: &Engine) -> Result<String, String> {
        let folder = folder().ok_or("there is no folder for temporary files; save the sound instead")?;
        let path = folder.join(file_name(&self.detector, "wav"));
        let written = self.write(engine, &path)?;
        open::that_detached(&path).map_err(|error| {
            format!("the system has no player for WAV files ({error}); save the sound and open it yourself")
        })?;
        Ok(format!("Playing {}: {written}", self.detector))
    }
}

/// Where sounds to be played lie; the system's player may read them for as long as it likes.
fn folder() -> Option<PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::Builder::new().prefix("ripplon-").tempdir().ok()?;
            Some(folder.keep())
        })
        .clone()
}

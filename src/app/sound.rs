//! Hearing a detector: its record as a WAV file, saved or opened with the system's player.
//!
//! The player is the system's own, since a library that plays by itself needs the headers of the system's sound library when it is built.

use super::background::file_name;
use super::system;
use crate::engine::Engine;
use crate::export::wav::{self, WavOptions};
use std::path::Path;

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

    /// Plays the record so far.
    pub(super) fn play(&self, engine: &Engine) -> Result<String, String> {
        let written = system::play(&file_name(&self.detector, "wav"), |path| self.write(engine, path))?;
        Ok(format!("Playing {}: {written}", self.detector))
    }
}

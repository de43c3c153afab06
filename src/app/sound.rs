//! Hearing a detector: its record as a WAV file, saved or opened with the system's player.
//!
//! The player is the system's own, since a library that plays by itself needs the headers of the system's sound library when it is built.

use super::system;
use crate::engine::Job;
use crate::export::errand::{Errand, Product, To};
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
    /// Writes the record so far.
    pub(super) fn save(self, path: &Path) -> Job {
        self.to(To::File(path.to_owned()))
    }

    /// Plays the record so far.
    pub(super) fn play(self) -> Job {
        self.to(To::Player(|name, write| system::play(name, write)))
    }

    fn to(self, to: To) -> Job {
        let product = Product::Sound {
            detector: self.detector,
            speed: self.speed,
        };
        Job::of(Errand::new(product, to))
    }
}

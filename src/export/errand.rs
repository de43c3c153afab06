//! What a window requests from a running engine: files, sounds, pictures of a film. The request is plain data
//! ([`Product`]), so that it can go to an engine on another machine; the destination ([`To`]) stays with the window.

use super::csv;
use super::npy;
use super::png;
use super::ticks::number;
use super::wav::{self, WavOptions};
use super::{About, Look, Painter, Picture};
use crate::atomic_file::AtomicFile;
use crate::engine::{Engine, Work};
use crate::physics::noise::Noise;
use crate::physics::{Measurement, Outcome};
use crossbeam_channel::Sender;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What is made of the present state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Product {
    /// The field, NPY.
    Field,
    /// The records of all detectors, CSV.
    Records,
    /// The whole state.
    Checkpoint,
    /// The record of a detector, WAV.
    Sound {
        /// Its name.
        detector: String,
        /// How many times as fast as in the scene.
        speed: f64,
    },
    /// The field as the scene shows it, PNG.
    Picture {
        /// How it is shown.
        look: Look,
        /// The scene as text, which the picture carries.
        scene: String,
    },
    /// The next picture of a film; colour ranges and paths go on from the one before.
    FilmPicture {
        /// How it is shown.
        look: Look,
        /// Δt when the film began.
        time_step: f64,
        /// Seconds of the film from picture to picture.
        seconds: f32,
    },
    /// Where the particle is found; no file.
    Position {
        /// Width of the measurement, a length.
        width: f64,
        /// Of the random numbers.
        seed: u64,
    },
}

/// Makes a product, repeatedly if it is the picture of a film.
pub struct Maker {
    /// What is made.
    pub product: Product,
    painter: Mutex<Option<Painter>>,
}

impl Maker {
    /// Of a product.
    #[must_use]
    pub fn new(product: Product) -> Self {
        Self {
            product,
            painter: Mutex::new(None),
        }
    }

    /// Writes the file; returns what to report.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn make(&self, engine: &mut Engine, path: &Path) -> Result<String, String> {
        match &self.product {
            Product::Field => {
                let field = engine.field().map_err(words)?;
                npy::save(path, engine.scenario().grid(), &field).map_err(words)?;
                Ok(String::new())
            }
            Product::Records => {
                let rows = csv::records(path, engine.scenario().detectors(), engine.taps()).map_err(words)?;
                Ok(format!("{rows} rows"))
            }
            Product::Checkpoint => engine.save_checkpoint(path).map(|()| String::new()).map_err(words),
            Product::Sound { detector, speed } => sound(engine, detector, *speed, path),
            Product::Picture { look, scene } => {
                let scenario = engine.scenario().clone();
                let clock = engine.clock();
                let mut painter = Painter::new(scenario.clone(), look, clock.time_step).map_err(words)?;
                let about = About {
                    title: scenario.title().to_owned(),
                    scene: Some(scene.clone()),
                    comment: format!("Ripplon, t = {}", crate::units::short(clock.time)),
                };
                let painted = painter.shoot(engine, 0.0).map_err(words)?;
                png::save(path, painted, &about).map_err(words)?;
                Ok(String::new())
            }
            Product::FilmPicture { .. } => {
                let picture = self.shoot(engine)?;
                png::save(path, &picture, &About::default()).map_err(words)?;
                Ok(String::new())
            }
            Product::Position { width, seed } => {
                let measurement = Measurement {
                    region: None,
                    width: *width,
                    // One particle: that it was not absorbed before is known, as the wave goes on.
                    left: 1.0,
                };
                let found = engine.measure_position(&measurement, &mut Noise::new(*seed));
                let (outcome, _) = found.map_err(words)?;
                let place = place_words(outcome, engine.scenario().grid().place_axes(), *width);
                let condition = if engine.share_left().map_err(words)? < MOST_WITH_CONDITION {
                    ", on the condition that it was not absorbed before"
                } else {
                    ""
                };
                Ok(format!("The particle was {place} (seed {seed}){condition}"))
            }
        }
    }

    /// The next picture of a film.
    ///
    /// # Errors
    /// If the look does not fit the scene, or the field cannot be drawn.
    pub fn shoot(&self, engine: &mut Engine) -> Result<Picture, String> {
        let Product::FilmPicture {
            look,
            time_step,
            seconds,
        } = &self.product
        else {
            return Err("this is not a picture of a film".to_owned());
        };
        let mut painter = self.painter.lock().unwrap_or_else(PoisonError::into_inner);
        let painter = match &mut *painter {
            Some(painter) => painter,
            none => none.insert(Painter::new(engine.scenario().clone(), look, *time_step).map_err(words)?),
        };
        painter.shoot(engine, *seconds).cloned().map_err(words)
    }
}

/// Writes a file by a function that is given its path, and plays it; returns what the function told. The name ends with the kind of file.
pub type Player = fn(&str, &mut dyn FnMut(&Path) -> Result<String, String>) -> Result<String, String>;

/// What becomes of a product.
#[derive(Clone, Debug)]
pub enum To {
    /// It is told.
    Notice,
    /// It is a file.
    File(PathBuf),
    /// It is heard.
    Player(Player),
    /// It is a picture of a film.
    Film(Sender<Picture>),
}

/// A requested product.
pub struct Errand {
    /// What is made.
    pub maker: Maker,
    /// What becomes of it.
    pub to: To,
}

impl Errand {
    /// A product and where it goes.
    #[must_use]
    pub fn new(product: Product, to: To) -> Self {
        Self {
            maker: Maker::new(product),
            to,
        }
    }

    /// Takes what was made on another machine: `file`, and what there is to tell of it.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn deliver(&self, file: &Path, told: &str) -> Result<String, String> {
        let copy = |to: &Path| copy(file, to).map(|()| told.to_owned());
        match &self.to {
            To::Notice => Ok(told.to_owned()),
            To::File(path) => copy(path).map(|told| self.written(path, &told)),
            To::Player(play) => play(&self.name(), &mut |path| copy(path)).map(|told| self.playing(&told)),
            To::Film(sender) => {
                let image = image::open(file).map_err(words)?.into_rgb8();
                let picture = Picture {
                    width: image.width() as usize,
                    height: image.height() as usize,
                    rgb: image.into_raw(),
                };
                send(sender, picture)
            }
        }
    }

    fn written(&self, path: &Path, told: &str) -> String {
        let what = match &self.maker.product {
            Product::Field => "Field",
            Product::Records => "Records",
            Product::Checkpoint => "Checkpoint",
            Product::Sound { .. } => "Sound",
            Product::Picture { .. } | Product::FilmPicture { .. } | Product::Position { .. } => "Picture",
        };
        let colon = if told.is_empty() { "" } else { ": " };
        format!("{what} written to {}{colon}{told}", path.display())
    }

    fn playing(&self, told: &str) -> String {
        match &self.maker.product {
            Product::Sound { detector, .. } => format!("Playing {detector}: {told}"),
            _ => format!("Playing: {told}"),
        }
    }

    /// What a file of it is called.
    fn name(&self) -> String {
        let detector = match &self.maker.product {
            Product::Sound { detector, .. } => detector.as_str(),
            _ => "sound",
        };
        let safe = |c: char| {
            if c.is_alphanumeric() || "-_ ".contains(c) {
                c
            } else {
                '-'
            }
        };
        format!("{}.wav", detector.chars().map(safe).collect::<String>())
    }
}

impl Work for Errand {
    fn run(&self, engine: &mut Engine) -> Result<String, String> {
        match &self.to {
            To::Notice => self.maker.make(engine, Path::new("")),
            To::File(path) => self.maker.make(engine, path).map(|told| self.written(path, &told)),
            To::Player(play) => {
                let told = play(&self.name(), &mut |path| self.maker.make(engine, path))?;
                Ok(self.playing(&told))
            }
            To::Film(sender) => send(sender, self.maker.shoot(engine)?),
        }
    }

    fn waits(&self) -> bool {
        // A queue without an end never holds up who sends.
        matches!(&self.to, To::Film(sender) if sender.capacity().is_none() && sender.len() >= WAITING)
    }
}

/// Pictures of a film that wait for its encoder where it works in turn with the run.
const WAITING: usize = 4;

/// To the encoder; waits while it has enough.
fn send(sender: &Sender<Picture>, picture: Picture) -> Result<String, String> {
    let sent = sender.send(picture);
    sent.map(|()| String::new())
        .map_err(|_| "the film has ended".to_owned())
}

/// Writes the record of a detector so far.
fn sound(engine: &Engine, detector: &str, speed: f64, path: &Path) -> Result<String, String> {
    let mut detectors = engine.scenario().detectors().iter();
    let place = detectors.position(|known| known.name == detector).ok_or_else(|| {
        format!("{detector}: the running scene has no such detector yet; mend what is wrong with the edit")
    })?;
    let options = WavOptions {
        speed,
        ..WavOptions::default()
    };
    let (times, values) = engine.taps().series(place);
    let written = wav::save(path, &times, &values, &options).map_err(words)?;
    Ok(written.words())
}

/// The file under another name, whole or not at all.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = || -> std::io::Result<()> {
        let (mut source, _) = crate::input_file::open(from)?;
        let mut file = AtomicFile::create(to)?;
        std::io::copy(&mut source, &mut file)?;
        file.commit()
    };
    copied().map_err(|error| format!("{} cannot be written: {error}", to.display()))
}

/// The share of the norm at t = 0 below which a position is told with its condition: what rounding takes is less.
const MOST_WITH_CONDITION: f64 = 0.999;

/// Where a particle was found, to the digits that the apparatus tells it by.
fn place_words(outcome: Outcome, axes: usize, width: f64) -> String {
    let Outcome::At(place) = outcome else {
        return outcome.words(axes);
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few decimals")]
    let decimals = (1.0 - width.log10().floor()).clamp(0.0, 9.0) as usize;
    let axes = ["x", "y", "z"].iter().zip(&place[..axes]);
    let places: Vec<String> = axes
        .map(|(name, at)| format!("{name} = {}", number(*at, decimals)))
        .collect();
    format!("found at {} ± {width:.decimals$}", places.join(", "))
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_no_more_digits_than_the_apparatus() {
        let at = Outcome::At([1432.4266, 7.0, 0.0]);
        assert_eq!(place_words(at, 1, 20.48), "found at x = 1432 ± 20");
        assert_eq!(place_words(at, 2, 0.5), "found at x = 1432.43, y = 7.00 ± 0.50");
        let below = Outcome::At([-1.4266, -0.001, 0.0]);
        assert_eq!(place_words(below, 2, 0.5), "found at x = −1.43, y = 0.00 ± 0.50");
        assert_eq!(place_words(Outcome::Elsewhere, 1, 0.5), Outcome::Elsewhere.words(1));
    }
}

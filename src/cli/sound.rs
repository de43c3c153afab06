//! Detectors as sound: `ripplon run SCENE --wav NAME=F.wav`.

use super::InputError;
use super::numbers::whole;
use crate::engine::Engine;
use crate::export::ExportError;
use crate::export::wav::{self, Encoding, WavOptions};
use crate::physics::{Equation, Reading};
use crate::scene::{Scenario, nearest};
use clap::Args;
use std::path::{Path, PathBuf};

/// Which detectors are written as sound, and how.
#[derive(Args, Debug)]
pub struct SoundArgs {
    /// Write the record of a detector as sound; repeatable (NAME= may be left out if the scene has one detector)
    #[arg(long, value_name = "NAME=F.wav")]
    pub(super) wav: Vec<String>,
    /// Playing speed: 2 is twice as fast, 0.01 a hundred times slower, which makes 100 kHz audible
    #[arg(long, value_name = "FACTOR", requires = "wav", default_value_t = 1.0, value_parser = positive)]
    wav_speed: f64,
    /// Samples per second of the file
    #[arg(long, value_name = "HZ", requires = "wav", default_value_t = 48_000, value_parser = whole(1000_u32, Some(768_000)))]
    wav_rate: u32,
    /// Bits per sample: 16, 24, 32 or float
    #[arg(long, value_name = "BITS", requires = "wav", default_value = "16", value_parser = encoding)]
    wav_bits: Encoding,
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| *number > 0.0 && number.is_finite())
        .ok_or_else(|| "write a number above 0, e.g. 0.01".to_owned())
}

fn encoding(text: &str) -> Result<Encoding, String> {
    Encoding::ALL
        .iter()
        .find(|(word, _)| *word == text)
        .map(|(_, encoding)| *encoding)
        .ok_or_else(|| "write 16, 24, 32 or float".to_owned())
}

/// Sounds to write: indices of detectors with their files.
#[derive(Debug)]
pub(super) struct Sounds {
    files: Vec<(usize, PathBuf)>,
    options: WavOptions,
}

impl Sounds {
    /// The files to be written.
    pub(super) fn outputs(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.files.iter().map(|(_, path)| ("--wav", path.as_path()))
    }
}

/// The requested sounds, checked before the run.
///
/// # Errors
/// [`InputError`] if there is no such detector, or if it records no sound.
pub(super) fn wanted(args: &SoundArgs, scenario: &Scenario) -> Result<Sounds, InputError> {
    let detectors = scenario.detectors();
    let mut files = Vec::new();
    for text in &args.wav {
        let named = detectors.iter().enumerate().find_map(|(place, detector)| {
            let file = text.strip_prefix(&detector.name)?.strip_prefix('=')?;
            Some((place, file))
        });
        let (place, file) = match named {
            Some(named) => named,
            None if detectors.len() == 1 && !text.contains('=') => (0, text.as_str()),
            None if detectors.is_empty() => {
                return Err(InputError(
                    "--wav: the scene has no detector; add a [[detector]] with `at = [..]`".to_owned(),
                ));
            }
            None => {
                let names: Vec<String> = detectors
                    .iter()
                    .map(|detector| format!("{:?}", detector.name))
                    .collect();
                let names = names.join(", ");
                let all = detectors.iter().map(|detector| detector.name.as_str());
                return Err(InputError(match text.rsplit_once('=') {
                    Some((name, _)) => {
                        let remedy = match nearest(name, all) {
                            Some(near) => format!("did you mean {near:?}? There are {names}"),
                            None => format!("there are {names}"),
                        };
                        format!("--wav {text}: there is no detector {name:?}; {remedy}")
                    }
                    None => format!("--wav {text}: begin with a detector's name and `=`; there are {names}"),
                }));
            }
        };
        let detector = &detectors[place];
        if scenario.model().equation() == Equation::Acoustic && !detector.is_sound() {
            let own = match detector.reading {
                Reading::Itself => detector.measure.as_str(),
                reading => reading.as_str(),
            };
            return Err(InputError(format!(
                "--wav {text}: the detector {:?} records \"{own}\", which is no sound; name one that records \"pressure\", \"velocity\" or the \"value\" at a point",
                detector.name
            )));
        }
        files.push((place, PathBuf::from(file)));
    }
    Ok(Sounds {
        files,
        options: WavOptions {
            rate: args.wav_rate,
            speed: args.wav_speed,
            encoding: args.wav_bits,
        },
    })
}

/// Writes each sound; returns a line about each, or why it could not be written.
pub(super) fn write(sounds: &Sounds, engine: &Engine) -> Vec<Result<String, ExportError>> {
    let taps = engine.taps();
    let one = |(place, path): &(usize, PathBuf)| {
        let (times, values) = taps.series(*place);
        let written = wav::save(path, &times, &values, &sounds.options)?;
        let name = &engine.scenario().detectors()[*place].name;
        Ok(format!("{}: detector {name}, {}", path.display(), written.words()))
    };
    sounds.files.iter().map(one).collect()
}

//! Detectors as sound: `ripplon run SCENE --wav NAME=F.wav`.

use super::InputError;
use crate::engine::Engine;
use crate::export::aside::Aside;
use crate::export::wav::{self, Encoding, WavOptions};
use crate::scene::Scenario;
use clap::Args;
use std::path::PathBuf;

/// Which detectors are written as sound, and how.
#[derive(Args, Debug)]
pub struct SoundArgs {
    /// Write what a detector recorded as sound; repeatable (NAME= may be left out where the scene has one detector)
    #[arg(long, value_name = "NAME=F.wav")]
    wav: Vec<String>,
    /// Play it this many times as fast; below 1 slower: 0.01 makes 100 kHz audible
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    wav_speed: f64,
    /// Samples a second of the file
    #[arg(long, value_name = "HZ", default_value_t = 48_000, value_parser = clap::value_parser!(u32).range(1000..=768_000))]
    wav_rate: u32,
    /// Bits a sample: 16, 24, 32, or float
    #[arg(long, value_name = "BITS", default_value = "16", value_parser = encoding)]
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

/// Sounds to write: places of detectors with their files.
#[derive(Debug)]
pub(super) struct Sounds {
    files: Vec<(usize, PathBuf)>,
    options: WavOptions,
}

/// What is asked for, found out to be possible before the run.
///
/// # Errors
/// [`InputError`] if there is no such detector, or the file cannot be written.
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
                return Err(InputError(format!(
                    "--wav {text}: begin with a detector's name and `=`; there are {}",
                    names.join(", ")
                )));
            }
        };
        let path = PathBuf::from(file);
        Aside::create(&path).map_err(|error| InputError(error.to_string()))?;
        files.push((place, path));
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

/// Writes them; returns a line about each.
pub(super) fn write(sounds: &Sounds, engine: &Engine) -> anyhow::Result<Vec<String>> {
    let taps = engine.taps();
    let mut lines = Vec::new();
    for (place, path) in &sounds.files {
        let written = wav::save(path, taps.times(), taps.values(*place), &sounds.options)?;
        let name = &engine.scenario().detectors()[*place].name;
        lines.push(format!("{}: detector {name}, {}", path.display(), written.words()));
    }
    Ok(lines)
}

//! The sound of a room: its response, or a dry sound played in it, as WAV.

use super::ExportError;
use super::wav::{self, WavOptions};
use crate::physics::room::{Response, convolved};
use crate::scene::input::read_signal;
use std::path::Path;

/// The rate in Hz and the samples of a dry sound: the first channel of a WAV file.
///
/// # Errors
/// What is wrong with the file.
pub fn read_dry(path: &Path) -> Result<(f64, Vec<f64>), String> {
    match read_signal(path).map_err(|error| error.to_string())? {
        (Some(rate), values) if !values.is_empty() => Ok((rate, values)),
        _ => Err(format!("{}: name a WAV file that holds sound", path.display())),
    }
}

/// Writes the response, or a dry sound convolved with it at the sound's own rate; returns what was written, in words.
///
/// # Errors
/// If the file cannot be written.
#[expect(clippy::cast_precision_loss, reason = "samples are far fewer than 2^52")]
pub fn save(path: &Path, response: &Response, dry: Option<(f64, Vec<f64>)>) -> Result<String, ExportError> {
    let own = 1.0 / response.step;
    let (step, sound) = match dry {
        None => (response.step, response.values.clone()),
        Some((rate, dry)) => {
            let heard = wav::resample(&response.values, own, rate);
            (1.0 / rate, convolved(&dry, &heard))
        }
    };
    let times: Vec<f64> = (0..sound.len()).map(|n| n as f64 * step).collect();
    let written = wav::save(path, &times, &sound, &WavOptions::default())?;
    let [low, high] = response.band;
    Ok(format!(
        "{}; the response holds {low:.0} to {high:.0} Hz",
        written.words()
    ))
}

//! Room acoustics from a recorded pressure (ISO 3382-1).
//!
//! Scheme: the record is divided by the spectrum of what the source played ([`Response::deconvolved`]), filtered by octaves if wanted ([`octaves`]), squared,
//! and summed from behind (Schroeder's backward integral): E(t) = ∫_t^∞ h² dt, L = 10 lg E(t)/E(−∞) from the arrival of the sound on. Reverberation times are 60 dB over the slope of
//! the straight line that fits L best: from 0 to −10 dB (EDT), −5 to −25 dB (T20), −5 to −35 dB (T30). What follows the end of the record is
//! added as the exponential that continues its last quarter, or its last two pieces of an echo's time where these are longer.
//!
//! Limits: a line needs 10 dB more of decay than its lower end (ISO 3382-1, 5.3.3); a shorter record is refused by name ([`TooShort`]), never fitted. So is one that ends before its energy can be seen to fall: a record needs four times the longest
//! way to and fro in the room, and twelve periods of a band, since between two echoes it is as silent as after the last. Octave filters ring:
//! below B·T = 16 (B: the band's width) a time is that of the filter as well (ISO 3382-2, 7.3).
//!
//! References: Schroeder 1965, doi:10.1121/1.1909343; ISO 3382-1:2009; ISO 3382-2:2008; Lundeby, Vigran, Bietz & Vorländer 1995, Acustica 81, 344 (noise
//! and truncation); IEC 61260-1:2014 (octaves).

mod decay;
mod octaves;
mod response;
mod walls;

pub use decay::{Balance, Decay, Line, Remedy, TooShort};
pub use octaves::{Octave, filtered, octaves};
pub use response::{Response, ResponseError, convolved};
pub use walls::{
    diffuse_absorption, impedance_at, normal_absorption, normal_absorption_of, random_absorption,
    random_absorption_in_plane, random_absorption_of, reflection,
};

/// What is told of one band.
#[derive(Clone, Debug, PartialEq)]
pub struct BandDecay {
    /// The octave; `None`: all that the response holds.
    pub octave: Option<Octave>,
    /// Its decay; `None` if it is silent.
    pub decay: Option<Decay>,
}

impl BandDecay {
    /// Whether the filter's own ringing is in a reverberation time of `seconds`: B·T < 16.
    pub fn rings(&self, seconds: f64) -> bool {
        self.octave.is_some_and(|octave| octave.width() * seconds < 16.0)
    }
}

/// Periods of an octave's middle that are taken together.
const PERIODS: f64 = 3.0;

/// The decays of a response: as a whole, then octave by octave. `echo`: the time between echoes, s; 0 where none are expected.
pub fn analyse(response: &Response, echo: f64) -> Vec<BandDecay> {
    let decay = |values: &[f64], piece: f64| Decay::with_echoes(values, response.step, response.arrival, piece);
    let whole = BandDecay {
        octave: None,
        decay: decay(&response.values, echo),
    };
    let bands = octaves(response).into_iter().map(|octave| BandDecay {
        octave: Some(octave),
        decay: decay(
            &filtered(&response.values, response.step, octave),
            echo.max(PERIODS / octave.middle()),
        ),
    });
    std::iter::once(whole).chain(bands).collect()
}

#[cfg(test)]
mod tests;

//! Time-reversal mirrors: where transducers stand, how time is reversed, and what is measured of it.
//!
//! Sources: M. Fink 1992, Time reversal of ultrasonic fields, doi:10.1109/58.156174; H. M. Pastawski, E. P. Danieli, H. L. Calvo, L. E. F. Foa Torres 2007,
//! Towards a time reversal mirror for quantum systems, doi:10.1209/0295-5075/77/40001 (perfect inverse filter).

use super::Medium;
use crate::words::worded;
use std::sync::Arc;

worded! {
    /// How time is reversed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    pub enum MirrorMethod {
        /// The whole field is turned round.
        Echo = "echo",
        /// What the transducers recorded is played backwards.
        Reversal = "reversal",
        /// The same with its sign only.
        OneBit = "one-bit",
        /// With the inverse of the propagation operator.
        InverseFilter = "inverse-filter",
    }
}

worded! {
    /// How the transducers of an inverse filter act on the field.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Drive {
        /// They hold it at the recorded values: the inverse filter in its discrete form, without any inversion.
        #[default]
        Hard = "hard",
        /// They add to it what the inverted matrix of impulse responses says: what a real array would have to play.
        Soft = "soft",
    }
}

/// Where transducers stand; lengths. The nearest sites hear and play.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// Evenly on a circle (1D: at its two ends; 3D: on a sphere).
    Ring {
        /// Centre.
        center: [f64; 3],
        /// Radius.
        radius: f64,
        /// How many.
        count: usize,
    },
    /// Evenly on a line.
    Line {
        /// One end.
        from: [f64; 3],
        /// The other.
        to: [f64; 3],
        /// How many.
        count: usize,
    },
    /// On every site along the edges, inside absorbing layers.
    Edges,
    /// One by one.
    Points(Vec<[f64; 3]>),
}

/// `[mirror]` of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    /// How time is reversed.
    pub method: MirrorMethod,
    /// When.
    pub at: f64,
    /// Where transducers stand, if there are any.
    pub placement: Option<Placement>,
    /// How many of the transducers of a plain or a one-bit mirror play, evenly chosen; all of them where there are not so many.
    pub playing: usize,
    /// How much of the record is played, from t = 0 on; all of it where there is not so much.
    pub record: f64,
    /// Noise added to what was recorded, as a fraction of its rms.
    pub noise: f64,
    /// The seed of that noise.
    pub seed: u64,
    /// The medium on the way back: the scene's layers, then the perturbation.
    pub medium: Arc<Medium>,
    /// Whether the magnetic field keeps its direction, which time reversal would turn round.
    pub keep_flux: bool,
    /// How an inverse filter drives the field.
    pub drive: Drive,
    /// λ of X = (G†G + λ)⁻¹G†Y for a soft inverse filter.
    pub regularization: f64,
}

impl Mirror {
    /// Whether single sites are heard.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.placement.is_some()
    }
}

/// What a mirror has made of a wave: the present field against the one at t = 0, complex conjugate once time has turned. An echo is judged over the
/// whole grid, other methods over the sites inside the mirror. Where the field was 0 at t = 0, as before sources play, all that compares is 0, see [`Refocus::compares`].
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Refocus {
    /// |⟨ψ(0)|ψ⟩|²/(⟨ψ(0)|ψ(0)⟩⟨ψ|ψ⟩), with p for ψ in sound.
    pub fidelity: f64,
    /// ‖ψ − ψ(0)‖/‖ψ(0)‖.
    pub error: f64,
    /// The same after ψ was multiplied by the number that makes it least.
    pub scaled_error: f64,
    /// ‖ψ‖/‖ψ(0)‖ inside the mirror at the reversal; before it the present one.
    pub residual: f64,
    /// Full width of |ψ|² or p at half its value in the focus, mean over the axes of three sites and more along which it falls to a half on both sides; a
    /// length, `None` if it falls along none. The focus is where the wave began.
    pub width: Option<f64>,
    /// |ψ| or |p| in the focus over its root mean square on all sites that are no walls.
    pub contrast: f64,
}

impl Refocus {
    /// Column names after those of the observables.
    pub const COLUMNS: [&'static str; 6] = [
        "fidelity",
        "mirror_error",
        "scaled_error",
        "residual",
        "focus_width",
        "focus_contrast",
    ];

    /// Whether there was a wave at t = 0 to compare with: sources leave none there.
    #[must_use]
    pub fn compares(&self) -> bool {
        self.fidelity != 0.0 || self.error != 0.0
    }

    /// The values of those columns; a width that there is not, and what compares with nothing, is no number.
    #[must_use]
    pub fn values(&self) -> [f64; 6] {
        let compared = |value: f64| if self.compares() { value } else { f64::NAN };
        [
            compared(self.fidelity),
            compared(self.error),
            compared(self.scaled_error),
            compared(self.residual),
            self.width.unwrap_or(f64::NAN),
            self.contrast,
        ]
    }

    /// From the values of those columns.
    #[must_use]
    pub fn from_values([fidelity, error, scaled_error, residual, width, contrast]: [f64; 6]) -> Self {
        let compared = |value: f64| if value.is_nan() { 0.0 } else { value };
        let [fidelity, error, scaled_error, residual] = [fidelity, error, scaled_error, residual].map(compared);
        Self {
            fidelity,
            error,
            scaled_error,
            residual,
            width: (width > 0.0).then_some(width),
            contrast,
        }
    }

    /// One of the columns by name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<f64> {
        let place = Self::COLUMNS.iter().position(|column| *column == name)?;
        Some(self.values()[place])
    }
}

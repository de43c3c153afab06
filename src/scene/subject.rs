//! What a prediction is about, in words.

use super::Scenario;
use super::scenario::Subject;
use crate::physics::{Detector, Equation, Observables};

impl Subject {
    /// What it is, for people.
    pub fn in_words(&self, detectors: &[Detector]) -> String {
        match self {
            Self::Detector(n) => detectors.get(*n).map_or_else(
                || format!("detector {n}"),
                |detector| format!("Detector “{}”", detector.name),
            ),
            Self::Observable(name) => match name.as_str() {
                "x" => "Mean position x".to_owned(),
                "y" => "Mean position y".to_owned(),
                "z" => "Mean position z".to_owned(),
                "spread_x" => "Width σ along x".to_owned(),
                "spread_y" => "Width σ along y".to_owned(),
                "spread_z" => "Width σ along z".to_owned(),
                "px" => "Mean momentum along x".to_owned(),
                "py" => "Mean momentum along y".to_owned(),
                "pz" => "Mean momentum along z".to_owned(),
                "spread_px" => "Spread of momentum along x".to_owned(),
                "spread_py" => "Spread of momentum along y".to_owned(),
                "spread_pz" => "Spread of momentum along z".to_owned(),
                "uncertainty_x" => "Δx·Δp along x".to_owned(),
                "uncertainty_y" => "Δx·Δp along y".to_owned(),
                "uncertainty_z" => "Δx·Δp along z".to_owned(),
                "lz" => "Angular momentum L_z".to_owned(),
                "overlap_re" => "Overlap with the start, real part".to_owned(),
                "overlap_im" => "Overlap with the start, imaginary part".to_owned(),
                "survival" => "Survival probability".to_owned(),
                "participation" => "Participation (sites covered)".to_owned(),
                "norm" => "Norm".to_owned(),
                "energy" => "Energy".to_owned(),
                "fidelity" => "Fidelity".to_owned(),
                "mirror_error" => "Error of the wave brought back".to_owned(),
                "scaled_error" => "Error after the best rescaling".to_owned(),
                "residual" => "Left inside at the reversal".to_owned(),
                "focus_width" => "Width of the focus".to_owned(),
                "focus_contrast" => "Focus over rms".to_owned(),
                // Only the coordinates of trajectories have a dot.
                other => match other.rsplit_once('.') {
                    Some((name, axis)) => format!("Position {axis} of trajectory “{name}”"),
                    None => other.to_owned(),
                },
            },
        }
    }

    /// The unit of its values; quantities of ψ have none.
    pub fn unit(&self, scenario: &Scenario) -> &'static str {
        let (equation, rank) = (scenario.model().equation(), scenario.grid().rank());
        match self {
            Self::Detector(n) => (scenario.detectors().get(*n)).map_or("", |detector| detector.unit(equation, rank)),
            Self::Observable(name) if name == "focus_width" && equation == Equation::Acoustic => "m",
            Self::Observable(name) => Observables::unit(equation, rank, name),
        }
    }
}

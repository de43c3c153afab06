//! Tolerances that bite: a prediction that nothing could miss predicts nothing.

use super::{read, subject};
use ripplon::scene::presets;

/// Predictions of nearly nothing, whose tolerances are held against what would be there instead: preset, subject, that size, and what it is.
const SILENCES: [(&str, &str, f64, &str); 12] = [
    ("beats", "ear", 2.0, "both forks in step"),
    ("curtain", "behind the loudspeaker", 0.4, "what the wall sends back"),
    ("echo", "mirror_error", 1.0, "no echo"),
    ("echo-in-a-field", "fidelity", 1.0, "an echo"),
    ("inverse-filter", "mirror_error", 1.0, "no echo"),
    ("mach", "ahead of the cone", 0.58, "the pressure within the cone"),
    ("piston", "last silence", 2.0, "the last maximum"),
    ("rabi", "state 1", 1.0, "all of it"),
    ("room-response", "deaf place", 0.42, "another place"),
    ("side-branch", "behind 333 Hz", 0.68, "what passes at 200 Hz"),
    ("two-site-mirror", "residual", 1.0, "all of it"),
    ("vortex", "middle", 0.25, "beside the axis"),
];

/// Predictions of a law that is itself an approximation, with the share of the value by which it may be off.
const APPROXIMATE: [(&str, &str, f64, f64); 2] = [
    // E = E₀ e^(−13.8 t/T): Sabine's and Eyring's T differ by 12 %, which is 20 and 40 % of E at these times.
    ("sabine", "energy", 0.05, 0.2),
    ("sabine", "energy", 0.1, 0.4),
];

#[test]
fn every_tolerance_bites() {
    let (mut wide, mut used) = (Vec::new(), 0);
    for preset in presets::all() {
        let scenario = read(preset.name);
        for expectation in scenario.expectations() {
            let name = subject(&scenario, expectation);
            let silence = SILENCES
                .iter()
                .find(|row| (row.0, row.1) == (preset.name, name.as_str()) && expectation.value.abs() < 0.1 * row.2);
            let law = APPROXIMATE
                .iter()
                .find(|row| (row.0, row.1, row.2) == (preset.name, name.as_str(), expectation.at));
            used += usize::from(silence.is_some()) + usize::from(law.is_some());
            let most = match (silence, law) {
                (Some(row), _) => 0.1 * row.2,
                (None, Some(row)) => row.3 * expectation.value.abs(),
                (None, None) => 0.1 * expectation.value.abs(),
            };
            if expectation.tolerance.is_nan() || expectation.tolerance > most {
                wide.push(format!(
                    "{}: {name} at {}: {} ± {}, and at most {most} bites",
                    preset.name, expectation.at, expectation.value, expectation.tolerance
                ));
            }
        }
    }
    assert!(wide.is_empty(), "\n{}", wide.join("\n"));
    assert_eq!(
        used,
        SILENCES.len() + APPROXIMATE.len(),
        "a row that no preset needs any more"
    );
}

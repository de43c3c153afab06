//! The verdicts on a scene's predictions at the end of a run.

use super::figures::{short, within};
use super::scene::units_of;
use super::terminal::say;
use crate::engine::expectations::judged_at;
use crate::engine::{Engine, Verdict};
use crate::scene::Scenario;
use crate::scene::scenario::{Claims, Subject};
use crate::solver;

/// Which predictions are made of the scene as `set` has changed it: not those that the file makes of other physics.
pub(super) fn claims(scene: &str, set: &[String], now: &Scenario) -> Claims {
    if set.is_empty() {
        return Claims::default();
    }
    // A file that is no scene without --set predicts nothing of one.
    let own = solver::read_scene(scene, &[]).ok();
    own.map_or_else(Claims::default, |(then, _)| Claims::of(now.file(), &then))
}

/// Says every expectation with its verdict; returns how many are not right.
pub(super) fn print(engine: &Engine, claims: &Claims) -> usize {
    let scenario = engine.scenario();
    let [_, second] = units_of(scenario);
    let mut unsure = 0;
    for (place, (expectation, verdict)) in scenario.expectations().iter().zip(engine.verdicts()).enumerate() {
        let subject = match &expectation.subject {
            Subject::Detector(place) => format!("detector {}", scenario.detectors()[*place].name),
            Subject::Observable(name) => name.clone(),
        };
        let unit = expectation.subject.unit(scenario);
        let unit = if unit.is_empty() {
            String::new()
        } else {
            format!(" {unit}")
        };
        let digits = |value: f64| within(value, expectation.tolerance);
        // A field that is 0 everywhere has no place.
        let found = |value: f64| {
            if value.is_nan() {
                "no value".to_owned()
            } else {
                digits(value) + &unit
            }
        };
        let (word, measured) = match verdict {
            Verdict::Right(value) => ("right      ", found(*value)),
            Verdict::Wrong(value) if !claims.expects(place) => ("not judged ", found(*value)),
            Verdict::Wrong(value) => ("WRONG      ", found(*value)),
            Verdict::Pending => ("not reached", "nothing".to_owned()),
        };
        unsure += usize::from(!matches!(verdict, Verdict::Right(_)));
        let time = |t: f64| short(t) + second;
        let at = match verdict {
            Verdict::Pending => time(expectation.at),
            _ => judged_at(expectation.at, &engine.clock(), time),
        };
        say!(
            "{word}  {subject} at t = {at}: predicted {} ± {}{unit}, measured {measured}",
            digits(expectation.value),
            short(expectation.tolerance),
        );
        if matches!(verdict, Verdict::Wrong(_)) && !claims.expects(place) {
            say!("             the prediction is of the scene without --set, and not of this one");
            continue;
        }
        let because = expectation.because.trim();
        if !because.is_empty() {
            say!("             because {because}");
        }
    }
    unsure
}

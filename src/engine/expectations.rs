//! Predictions, measured while a scene runs: each at the step nearest to its time, exactly.

use super::build::{nearest_step, steps_between};
use super::trajectories::Paths;
use crate::physics::{Observables, Refocus, StateMeasures};
use crate::scene::Expectation;
use crate::scene::scenario::Subject;
use crate::solver::{Clock, Taps};

/// The verdict on an `[[expect]]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Verdict {
    /// Its time has not come (or lies before the run's first step).
    #[default]
    Pending,
    /// Measured within the tolerance.
    Right(f64),
    /// Measured outside the tolerance.
    Wrong(f64),
}

impl Verdict {
    /// The measured value, once there is one.
    #[must_use]
    pub fn measured(self) -> Option<f64> {
        match self {
            Self::Pending => None,
            Self::Right(value) | Self::Wrong(value) => Some(value),
        }
    }

    /// The verdict on a value.
    #[must_use]
    pub fn of(expectation: &Expectation, value: f64) -> Self {
        // NaN is wrong: it compares false.
        if (value - expectation.value).abs() <= expectation.tolerance {
            Self::Right(value)
        } else {
            Self::Wrong(value)
        }
    }
}

/// Steps until the next pending prediction is due; `None` if there is none.
pub fn next_due(expectations: &[Expectation], verdicts: &[Verdict], clock: &Clock) -> Option<u64> {
    pending(expectations, verdicts)
        .map(|(_, expectation)| steps_between(clock.time, expectation.at, clock.time_step))
        .filter(|steps| *steps > 0)
        .min()
}

/// Steps until the next question that has not been asked yet, with its index; 0 if it is due now, `None` if there is none.
pub fn next_question(expectations: &[Expectation], asked: &[bool], clock: &Clock) -> Option<(u64, usize)> {
    let open = |(place, expectation): &(usize, &Expectation)| {
        !expectation.ask.is_empty() && !asked.get(*place).copied().unwrap_or(false)
    };
    expectations
        .iter()
        .enumerate()
        .filter(open)
        .filter(|(_, expectation)| nearest_step(clock.time, expectation.ask_at, clock.time_step) >= 0.0)
        .map(|(place, expectation)| (steps_between(clock.time, expectation.ask_at, clock.time_step), place))
        .min()
}

/// Whether the present step is the one nearest to a pending expectation's time.
pub fn is_due(expectation: &Expectation, clock: &Clock) -> bool {
    nearest_step(clock.time, expectation.at, clock.time_step) == 0.0
}

/// The time of a prediction in words: with that of the step nearest to it, at which it is judged, where figures tell the two apart. Steps are as long as the clock's.
#[must_use]
pub fn judged_at(at: f64, clock: &Clock, figure: impl Fn(f64) -> String) -> String {
    let steps = nearest_step(clock.time, at, clock.time_step);
    let own = clock.time + steps * clock.time_step;
    let (asked, judged) = (figure(at), figure(own));
    // What is left of rounding is no difference.
    if (own - at).abs() <= 1e-6 * clock.time_step.abs() || asked == judged {
        asked
    } else {
        format!("{asked} (measured at {judged})")
    }
}

/// The pending ones with their indices.
pub fn pending<'a>(
    expectations: &'a [Expectation],
    verdicts: &'a [Verdict],
) -> impl Iterator<Item = (usize, &'a Expectation)> {
    expectations
        .iter()
        .enumerate()
        .filter(|(place, _)| verdicts.get(*place) == Some(&Verdict::Pending))
}

/// Whether a subject is one of the measures of ψ, which need a pass over the whole field.
pub fn asks_for_state(subject: &Subject) -> bool {
    matches!(subject, Subject::Observable(name) if StateMeasures::has(name))
}

/// The value of a subject now: the latest record of a detector, or an observable, measure of a mirror or of ψ just taken.
pub fn measure(
    subject: &Subject,
    taps: &Taps,
    observables: &Observables,
    refocus: Option<&Refocus>,
    state: Option<&StateMeasures>,
    paths: &Paths,
) -> Option<f64> {
    match subject {
        Subject::Detector(place) => taps.latest(*place),
        Subject::Observable(name) => observables
            .by_name(name)
            .or_else(|| refocus.and_then(|refocus| refocus.by_name(name)))
            .or_else(|| state.and_then(|state| state.by_name(name)))
            .or_else(|| paths.by_name(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(at: f64) -> Expectation {
        Expectation {
            subject: Subject::Observable("norm".to_owned()),
            at,
            value: 1.0,
            tolerance: 0.01,
            because: String::new(),
            ask: String::new(),
            ask_at: 0.0,
        }
    }

    fn clock(steps: u64, time: f64, time_step: f64) -> Clock {
        Clock { steps, time, time_step }
    }

    #[test]
    fn the_nearest_step_is_due() {
        let all = [expectation(1.04), expectation(2.0)];
        let verdicts = [Verdict::Pending; 2];
        assert_eq!(next_due(&all, &verdicts, &clock(0, 0.0, 0.1)), Some(10));
        assert!(is_due(&all[0], &clock(10, 1.0, 0.1)));
        assert!(!is_due(&all[0], &clock(11, 1.1, 0.1)));
        assert_eq!(
            next_due(&all, &[Verdict::Right(1.0), Verdict::Pending], &clock(10, 1.0, 0.1)),
            Some(10)
        );
        // Behind, but ahead once time is reversed.
        assert_eq!(next_due(&all, &verdicts, &clock(30, 3.0, 0.1)), None);
        assert_eq!(next_due(&all, &verdicts, &clock(30, 3.0, -0.1)), Some(10));
    }

    /// Of long steps the one that a prediction is judged at is named; one that it falls on is not, whatever rounding leaves of it.
    #[test]
    fn the_step_that_judges_is_named() {
        let told = |at: f64, clock: Clock| judged_at(at, &clock, |time| format!("{time:.3}"));
        assert_eq!(told(7.3, clock(8, 20.0, 2.5)), "7.300 (measured at 7.500)");
        assert_eq!(told(7.5, clock(8, 20.0, 2.5)), "7.500");
        assert_eq!(told(0.0, clock(30, 3.0, 0.1)), "0.000");
        assert_eq!(told(1.00004, clock(30, 3.0, 0.1)), "1.000");
    }

    /// Between two steps it is the earlier one, from wherever it is counted and however the run is divided.
    #[test]
    fn a_time_between_two_steps_has_one_step() {
        // Steps of 0.00016: 0.05 is in the middle between the 312th and the 313th.
        let all = [expectation(0.05)];
        for now in [0_u32, 1, 7, 100, 307, 311] {
            let now_at = clock(now.into(), f64::from(now) * 0.00016, 0.00016);
            let due = next_due(&all, &[Verdict::Pending], &now_at);
            assert_eq!(due, Some(u64::from(312 - now)), "from {now}");
        }
        for (now, is) in [(311_u32, false), (312, true), (313, false)] {
            for step in [0.00016, -0.00016] {
                let now_at = clock(now.into(), f64::from(now) * 0.00016, step);
                assert_eq!(is_due(&all[0], &now_at), is, "{now} by {step}");
            }
        }
        for (now, step) in [(0_u32, 0.00016), (312, 0.00016), (625, 0.00016), (625, -0.00016)] {
            let now_at = clock(now.into(), f64::from(now) * 0.00016, step);
            let told = judged_at(0.05, &now_at, |time| format!("{time:.5}"));
            assert_eq!(told, "0.05000 (measured at 0.04992)", "from {now} by {step}");
        }
    }

    /// The step that judges is the same in batches of any length, and the one that a run up to that time ends at.
    #[test]
    fn batches_do_not_change_a_verdict() {
        let text = "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[quantum]\n[time]\nstep = 0.125\n[solver]\nmethod = \"trotter\"\n\
                    [[packet]]\ncenter = [20.0]\nwidth = 3.0\nmomentum = [1.0]\n\
                    [[detector]]\nname = \"here\"\nat = [24.0]\n[[expect]]\ndetector = \"here\"\nat = 1.5625\nvalue = 0.1\ntolerance = 1.0\nbecause = \"any\"\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let scenario = std::sync::Arc::new(scenario);
        let judged = |batch: u64| {
            let mut engine = crate::engine::Engine::new(std::sync::Arc::clone(&scenario)).unwrap();
            while engine.clock().steps < 100 {
                engine.advance(batch).unwrap();
            }
            engine.verdicts()[0].measured().unwrap()
        };
        let mut engine = crate::engine::Engine::new(std::sync::Arc::clone(&scenario)).unwrap();
        engine
            .run_until(1.5625, &mut |_, _| std::ops::ControlFlow::Continue(()))
            .unwrap();
        assert_eq!(engine.clock().steps, 12);
        // Rounding differs by the batch, and a step by some percent.
        let there = engine.verdicts()[0].measured().unwrap();
        for batch in [1, 5, 7, 100] {
            assert!(
                (judged(batch) - there).abs() <= 1e-3 * there.abs(),
                "batches of {batch}"
            );
        }
    }

    #[test]
    fn questions_come_at_their_step_and_once() {
        let ask = |ask_at: f64| Expectation {
            ask: "How much?".to_owned(),
            ask_at,
            ..expectation(9.0)
        };
        let all = [ask(1.0), expectation(2.0), ask(0.0)];
        let mut asked = [false; 3];
        assert_eq!(next_question(&all, &asked, &clock(0, 0.0, 0.1)), Some((0, 2)));
        asked[2] = true;
        assert_eq!(next_question(&all, &asked, &clock(0, 0.0, 0.1)), Some((10, 0)));
        assert_eq!(next_question(&all, &asked, &clock(10, 1.0, 0.1)), Some((0, 0)));
        assert_eq!(next_question(&all, &asked, &clock(11, 1.1, 0.1)), None);
        asked[0] = true;
        assert_eq!(next_question(&all, &asked, &clock(0, 0.0, 0.1)), None);
    }

    #[test]
    fn verdicts() {
        assert_eq!(Verdict::of(&expectation(0.0), 1.009), Verdict::Right(1.009));
        assert_eq!(Verdict::of(&expectation(0.0), 1.02), Verdict::Wrong(1.02));
        assert!(matches!(Verdict::of(&expectation(0.0), f64::NAN), Verdict::Wrong(_)));
    }
}

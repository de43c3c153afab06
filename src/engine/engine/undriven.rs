//! Detects unstable runs: the energy of an undriven field must not grow.

use crate::field::Precision;
use crate::physics::Observables;
use crate::scene::Scenario;
use crate::solver;
use crate::units::four_digits as figure;

/// Factors by which energy and largest pressure of an undriven field may grow before the run counts as unstable. Energy
/// alone may be that of rounding, if the field was nearly at rest; pressure alone grows where waves meet.
const MOST_ENERGY: f64 = 2.0;
const MOST_PEAK: f64 = 1.5;
/// The same relative to the time of least energy, as long as more than this fraction of the first energy is left: below it the field may be rounding.
const MOST_ENERGY_AGAIN: f64 = 10.0;
const MOST_PEAK_AGAIN: f64 = 3.0;
const LEAST_ENERGY: f64 = 1e-4;

/// Observables of a field that nothing drives: its energy may not grow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undriven {
    /// The first ones after the last edit.
    first: Observables,
    /// Those of the least energy since.
    least: Observables,
}

impl Undriven {
    pub(super) fn new(now: Observables) -> Self {
        Self { first: now, least: now }
    }

    /// The factor by which the energy has grown, if it is more than an undriven field allows.
    pub(super) fn growth(&self, now: &Observables) -> Option<f64> {
        let beyond = |of: &Observables, energy: f64, peak: f64| {
            now.invariant > energy * of.invariant && now.peak > peak * of.peak
        };
        if beyond(&self.first, MOST_ENERGY, MOST_PEAK) {
            return Some(now.invariant / self.first.invariant);
        }
        let counts = now.invariant > LEAST_ENERGY * self.first.invariant;
        let again = counts && beyond(&self.least, MOST_ENERGY_AGAIN, MOST_PEAK_AGAIN);
        again.then(|| now.invariant / self.least.invariant)
    }

    /// Takes the next observables.
    pub(super) fn with(self, now: Observables) -> Self {
        let least = if now.invariant < self.least.invariant {
            now
        } else {
            self.least
        };
        Self { least, ..self }
    }
}

/// Fraction of the stability limit below which a growing energy is not caused by the length of a step.
const FAR_BELOW: f64 = 0.1;

/// What to change if energy grows. Δt is compared with its limit in the scene's medium: in single precision rounding of
/// steps far below it feeds the field as well, and a smaller step would make that worse.
pub(super) fn remedy(scenario: &Scenario, time_step: f64) -> String {
    const REPORT: &str = "if that does not help report the scene as a fault of the program";
    let (choice, step) = (scenario.solver(), time_step.abs());
    let limit = solver::find(&choice.method).and_then(|method| (method.step_advice)(scenario).stability_limit);
    let Some(limit) = limit else {
        return format!("Make time.step smaller, and {REPORT}.");
    };
    let held = format!(
        "Δt = {} is {} of the stability limit in this medium, {}",
        figure(step),
        figure(step / limit),
        figure(limit)
    );
    if step > FAR_BELOW * limit {
        return format!("{held}: make time.step smaller, and {REPORT}.");
    }
    match choice.precision {
        Precision::Single => format!(
            "{held}, so that no step is too long: single precision rounds what such short steps change. Use solver.precision = \"double\", or a longer time.step; {REPORT}."
        ),
        Precision::Double => format!(
            "{held}, so that no step is too long, and a smaller one does not help: report the scene as a fault of the program."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 0.9 of the limit a/(c√2) of a plane a smaller step may help; at a hundredth of it a longer one, or more digits; in double precision neither.
    #[test]
    fn the_remedy_follows_from_the_limit_of_the_step() {
        let limit = 0.1 / (340.0 * 2.0f64.sqrt());
        for (precision, part, has, has_not) in [
            ("single", 0.9, "make time.step smaller", "rounds"),
            ("double", 0.9, "make time.step smaller", "rounds"),
            (
                "single",
                0.01,
                "Use solver.precision = \"double\", or a longer time.step",
                "smaller",
            ),
            ("double", 0.01, "a smaller one does not help", "longer"),
        ] {
            let text = format!(
                "format = 1\n[grid]\nsize = [16, 16]\nspacing = 0.1\n[acoustic]\nspeed = 340.0\n[solver]\nmethod = \"fdtd\"\nprecision = \"{precision}\"\n[[pulse]]\ncenter = [0.8, 0.8]\nwidth = 0.2\n"
            );
            let (_, scenario) = solver::read_scene_text(&text, None, &[]).unwrap();
            let said = remedy(&scenario, part * limit);
            assert!(said.contains(has) && !said.contains(has_not), "{said}");
            assert!(
                said.contains(&format!(" is {} of the stability limit", figure(part))),
                "{said}"
            );
            assert_eq!(remedy(&scenario, -part * limit), said);
        }
    }

    /// A field that had nearly left and grows again stops, too; the remainder of rounding does not.
    #[test]
    fn growing_again_is_growth() {
        let at = |energy: f64, peak: f64| Observables {
            invariant: energy,
            peak,
            ..Observables::default()
        };
        let since = Undriven::new(at(1.0, 1.0)).with(at(1e-3, 0.02)).with(at(2e-3, 0.03));
        assert_eq!(since.growth(&at(5e-3, 0.03)), None);
        assert_eq!(since.growth(&at(0.02, 0.03)), None);
        assert_eq!(since.growth(&at(0.02, 0.07)), Some(20.0));
        let gone = since.with(at(1e-9, 1e-5));
        assert_eq!(gone.growth(&at(9e-5, 1e-2)), None);
        assert_eq!(since.growth(&at(3.0, 2.0)), Some(3.0));
    }
}

//! Sweeps: which values of a scene vary, what is measured of each run, and the theory.

use super::scenario::{Scenario, Subject};
use crate::physics::{Equation, Expression, Observables, Refocus, StateMeasures};

/// Names that a formula of theory may use: the values of the first and the second key that vary.
pub const VARIED: &[&str] = &["x", "y"];

/// The word for the lattice's transmission instead of a formula.
pub const TRANSMISSION: &str = "transmission";

/// Most runs of a sweep.
const MOST: usize = 1_000_000;

/// Why a part of a sweep cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {remedy}")]
pub struct SweepFault {
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub remedy: String,
}

impl SweepFault {
    fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

/// A key of the scene and the values that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The key, as `--set` addresses it.
    pub key: String,
    /// Its values, in order.
    pub values: Vec<f64>,
}

impl Axis {
    /// Reads `key=low..high/count` (evenly, both ends included), the same with `log` behind it (even ratios), or `key=a,b,c`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, SweepFault> {
        let example = "write e.g. \"packet.0.momentum.0=0.2..1.4/60\" or \"solver.order=1,2,4\"";
        let Some((key, list)) = text.split_once('=') else {
            return Err(SweepFault::new(format!("`{text}` has no `=`"), example));
        };
        let key = key.trim();
        if key.is_empty() || key.split('.').any(|part| part.trim().is_empty()) {
            return Err(SweepFault::new(format!("`{key}` is not a key of a scene"), example));
        }
        let number = |text: &str| {
            let text = text.trim();
            (text.parse::<f64>().ok().filter(|number| number.is_finite()))
                .ok_or_else(|| SweepFault::new(format!("`{text}` is no number"), example))
        };
        let values = match list.split_once("..") {
            None => list.split(',').map(number).collect::<Result<Vec<f64>, _>>()?,
            Some((low, rest)) => {
                let (rest, log) = match rest.trim().strip_suffix("log") {
                    Some(rest) => (rest, true),
                    None => (rest, false),
                };
                let Some((high, count)) = rest.split_once('/') else {
                    return Err(SweepFault::new(
                        format!("`{list}` does not say how many values"),
                        example,
                    ));
                };
                let count = count.trim();
                let count: usize =
                    (count.parse().ok().filter(|count| (1..=MOST).contains(count))).ok_or_else(|| {
                        SweepFault::new(format!("`{count}` is no number of values from 1 to {MOST}"), example)
                    })?;
                spaced(number(low)?, number(high)?, count, log)?
            }
        };
        Ok(Self {
            key: key.to_owned(),
            values,
        })
    }

    /// A value as `--set` takes it: whole numbers without a point, so that keys of whole numbers take them too.
    #[must_use]
    pub fn setting(&self, value: f64) -> String {
        if value.fract() == 0.0 && value.abs() < 1e15 {
            format!("{}={value:.0}", self.key)
        } else {
            format!("{}={value:?}", self.key)
        }
    }
}

/// `count` values from `low` to `high`, evenly or in even ratios.
#[expect(clippy::cast_precision_loss, reason = "at most a million values")]
fn spaced(low: f64, high: f64, count: usize, log: bool) -> Result<Vec<f64>, SweepFault> {
    if log && !(low > 0.0 && high > 0.0) {
        let message = format!("even ratios from {low} to {high} do not exist");
        return Err(SweepFault::new(message, "give two numbers above 0, or leave `log` out"));
    }
    let last = (count - 1).max(1) as f64;
    let at = |n: usize| {
        let part = n as f64 / last;
        if n + 1 == count && count > 1 {
            high
        } else if log {
            low * (high / low).powf(part)
        } else {
            low + (high - low) * part
        }
    };
    // Decimals that a value of few digits would not have are rounding: 0.30000000000000004 is 0.3.
    let tidy = |value: f64| {
        let short: f64 = format!("{value:.12e}").parse().unwrap_or(value);
        if (short - value).abs() <= 4.0 * f64::EPSILON * value.abs() {
            short
        } else {
            value
        }
    };
    Ok((0..count).map(at).map(tidy).collect())
}

/// A detector or an observable at a time, `name@time`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The detector's or observable's name.
    pub name: String,
    /// When; `None` = at the scene's end.
    pub at: Option<f64>,
}

impl Quantity {
    /// Reads `name@time` or `name`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let timed = text
            .rsplit_once('@')
            .and_then(|(name, at)| Some((name, at.trim().parse().ok()?)));
        match timed {
            Some((name, at)) => Self {
                name: name.trim().to_owned(),
                at: Some(at),
            },
            None => Self {
                name: text.trim().to_owned(),
                at: None,
            },
        }
    }

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> String {
        match self.at {
            Some(at) => format!("{}@{at}", self.name),
            None => self.name.clone(),
        }
    }

    /// What is measured of a scene, and when.
    ///
    /// # Errors
    /// If the scene has nothing of that name, or no end where no time is given.
    pub fn resolve(&self, scenario: &Scenario) -> Result<(Subject, f64), SweepFault> {
        let subject = subject(scenario, &self.name).ok_or_else(|| {
            let names = names(scenario);
            let near = super::nearest(&self.name, names.iter().map(String::as_str));
            let hint = near.map_or(String::new(), |near| format!("did you mean \"{near}\"? "));
            let message = format!("there is no detector and no observable {:?}", self.name);
            SweepFault::new(message, format!("{hint}There are {}", names.join(", ")))
        })?;
        let at = self.at.or(scenario.time().end).ok_or_else(|| {
            let message = format!("`{}` does not say when, and the scene has no end", self.name);
            SweepFault::new(message, format!("write \"{}@40\", or give time.end", self.name))
        })?;
        if at >= 0.0 && at.is_finite() {
            Ok((subject, at))
        } else {
            Err(SweepFault::new(
                format!("{at} is no time"),
                "write 0 or a positive number",
            ))
        }
    }
}

/// Names of the observables of a scene.
pub(super) fn observables(equation: Option<Equation>, rank: usize, mirror: bool) -> Vec<&'static str> {
    let mut names = Observables::columns(equation.unwrap_or(Equation::Schrodinger), rank);
    if mirror {
        names.extend(Refocus::COLUMNS);
    }
    if equation != Some(Equation::Acoustic) {
        names.extend(StateMeasures::columns(rank));
    }
    names
}

/// Detectors and observables of a scene by name; detectors come first.
fn names(scenario: &Scenario) -> Vec<String> {
    let detectors = scenario.detectors().iter().map(|detector| detector.name.clone());
    let equation = Some(scenario.model().equation());
    let known = observables(equation, scenario.grid().rank(), scenario.mirror().is_some());
    detectors.chain(known.into_iter().map(str::to_owned)).collect()
}

/// The detector or observable of this name; a detector comes first.
#[must_use]
pub fn subject(scenario: &Scenario, name: &str) -> Option<Subject> {
    let detectors = scenario.detectors();
    if let Some(place) = detectors.iter().position(|detector| detector.name == name) {
        return Some(Subject::Detector(place));
    }
    let equation = Some(scenario.model().equation());
    let known = observables(equation, scenario.grid().rank(), scenario.mirror().is_some());
    known.contains(&name).then(|| Subject::Observable(name.to_owned()))
}

/// What a sweep is held against.
#[derive(Clone, Debug)]
pub enum Theory {
    /// A formula of the varied values, [`VARIED`].
    Formula(Expression),
    /// The transmission through a line's potential by transfer matrices of its lattice, averaged over the packet's momenta.
    Transmission,
}

impl PartialEq for Theory {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Theory {
    /// Reads a formula or [`TRANSMISSION`].
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(text: &str) -> Result<Self, SweepFault> {
        if text.trim() == TRANSMISSION {
            return Ok(Self::Transmission);
        }
        let formula = Expression::parse(text, VARIED);
        formula.map(Self::Formula).map_err(|error| {
            SweepFault::new(
                error.to_string(),
                format!("write a formula of x (and y), the values that vary, or \"{TRANSMISSION}\""),
            )
        })
    }

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Formula(formula) => formula.text(),
            Self::Transmission => TRANSMISSION,
        }
    }
}

/// `[sweep]`: one run for each combination of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// The keys that vary; the first varies fastest.
    pub axes: Vec<Axis>,
    /// What is measured; theory is about the first.
    pub measures: Vec<Quantity>,
    /// What it is held against.
    pub theory: Option<Theory>,
}

impl Sweep {
    /// How many runs there are; `None` beyond a million.
    #[must_use]
    pub fn runs(&self) -> Option<usize> {
        let product = self
            .axes
            .iter()
            .try_fold(1usize, |all, axis| all.checked_mul(axis.values.len()));
        product.filter(|runs| *runs <= MOST)
    }

    /// What is wrong with it as a whole.
    ///
    /// # Errors
    /// Nothing varies, nothing is measured, a key varies twice, or there are too many runs.
    pub fn check(&self) -> Result<(), SweepFault> {
        let vary = "write e.g. vary = [\"packet.0.momentum.0=0.2..1.4/60\"]";
        if self.axes.is_empty() {
            return Err(SweepFault::new("nothing varies", vary));
        }
        if self.measures.is_empty() {
            return Err(SweepFault::new(
                "nothing is measured",
                "write e.g. measure = [\"norm@40\"]",
            ));
        }
        for (n, axis) in self.axes.iter().enumerate() {
            if self.axes[..n].iter().any(|other| other.key == axis.key) {
                return Err(SweepFault::new(
                    format!("`{}` varies twice", axis.key),
                    "let each key vary once",
                ));
            }
        }
        if self.runs().is_none() {
            return Err(SweepFault::new(
                format!("these are more than {MOST} runs"),
                "take fewer values",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spaced_as_written() {
        let axis = Axis::parse("packet.0.momentum.0 = 0.1..0.5/5").unwrap();
        assert_eq!(axis.key, "packet.0.momentum.0");
        assert_eq!(axis.values, [0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!(axis.setting(0.3), "packet.0.momentum.0=0.3");
        assert_eq!(
            Axis::parse("a=1..1000/4 log").unwrap().values,
            [1.0, 10.0, 100.0, 1000.0]
        );
        assert_eq!(Axis::parse("a=3..9/1").unwrap().values, [3.0]);
        let listed = Axis::parse("solver.order=1,2, 4").unwrap();
        assert_eq!(listed.values, [1.0, 2.0, 4.0]);
        assert_eq!(listed.setting(4.0), "solver.order=4");
        for (text, word) in [
            ("a", "no `=`"),
            (".b=1", "not a key"),
            ("a=1..2", "how many"),
            ("a=1..2/0", "no number of values"),
            ("a=1..2/x", "no number of values"),
            ("a=0..2/3log", "even ratios"),
            ("a=1,b", "`b` is no number"),
            ("a=1..inf/3", "no number"),
        ] {
            let fault = Axis::parse(text).unwrap_err();
            assert!(fault.message.contains(word), "{text}: {fault}");
        }
    }

    #[test]
    fn quantities_are_named_with_their_time() {
        let quantity = Quantity::parse("behind@40");
        assert_eq!((quantity.name.as_str(), quantity.at), ("behind", Some(40.0)));
        assert_eq!(quantity.text(), "behind@40");
        // A name may have the sign itself.
        assert_eq!(
            Quantity::parse("at@home"),
            Quantity {
                name: "at@home".to_owned(),
                at: None
            }
        );
    }
}

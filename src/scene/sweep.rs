//! Sweeps: which values of a scene vary, what is measured of each run, and the theory.

use super::scenario::{Scenario, Subject};
use super::write::tidy;
use crate::physics::{Equation, Expression, Observables, Refocus, StateMeasures, axes_in_space};

/// Names that a formula of theory may use: the values of the first and the second varying key.
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
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key, as `--set` addresses it.
    pub key: String,
    /// Its values, in order.
    pub values: Vec<f64>,
    /// Keys that depend on it, each a formula of its value, x.
    pub followers: Vec<(String, Expression)>,
}

impl PartialEq for Axis {
    fn eq(&self, other: &Self) -> bool {
        let texts = |axis: &Self| -> Vec<String> {
            (axis.followers.iter())
                .map(|(key, formula)| format!("{key}={}", formula.text()))
                .collect()
        };
        self.key == other.key && self.values == other.values && texts(self) == texts(other)
    }
}

impl Axis {
    /// Reads `key=low..high/count` (even spacing, both ends included), the same followed by `log` (even ratios), or
    /// `key=a,b,c`; after it, dependent keys, ` & key=formula of x`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, SweepFault> {
        let mut parts = text.split('&');
        let mut axis = Self::parse_own(parts.next().unwrap_or_default())?;
        for part in parts {
            let example = "write e.g. \"layer.0.centers.1=30..60/31 & layer.0.centers.0=90 - x\"";
            let Some((key, formula)) = part.split_once('=') else {
                return Err(SweepFault::new(format!("`{}` has no `=`", part.trim()), example));
            };
            let key = key.trim();
            if !is_key(key) {
                return Err(SweepFault::new(format!("`{key}` is not a key of a scene"), example));
            }
            let formula = Expression::parse(formula.trim(), &VARIED[..1]).map_err(|error| {
                SweepFault::new(
                    error.to_string(),
                    format!("{}; x is the value that varies", error.remedy()),
                )
            })?;
            axis.followers.push((key.to_owned(), formula));
        }
        Ok(axis)
    }

    fn parse_own(text: &str) -> Result<Self, SweepFault> {
        let example = "write e.g. \"packet.0.momentum.0=0.2..1.4/60\" or \"solver.order=1,2,4\"";
        let Some((key, list)) = text.split_once('=') else {
            return Err(SweepFault::new(format!("`{text}` has no `=`"), example));
        };
        let key = key.trim();
        if !is_key(key) {
            return Err(SweepFault::new(format!("`{key}` is not a key of a scene"), example));
        }
        let number = |text: &str| {
            let text = text.trim();
            (text.parse::<f64>().ok().filter(|number| number.is_finite()))
                .ok_or_else(|| SweepFault::new(format!("`{text}` is not a number"), example))
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
                        SweepFault::new(format!("`{count}` is not a number of values from 1 to {MOST}"), example)
                    })?;
                spaced(number(low)?, number(high)?, count, log)?
            }
        };
        Ok(Self {
            key: key.to_owned(),
            values,
            followers: Vec::new(),
        })
    }

    /// Whether its values, three or more, have even ratios, as with `log`; over a decade or more nearly even ratios, like 1, 2, 5, 10, count.
    pub fn is_logarithmic(&self) -> bool {
        let steps: Vec<f64> = self.values.windows(2).map(|pair| (pair[1] / pair[0]).ln()).collect();
        let all: f64 = steps.iter().sum();
        let along = steps.iter().map(|step| step * all.signum());
        let (least, most) = along.fold((f64::INFINITY, 0.0_f64), |(least, most), step| {
            (least.min(step), most.max(step))
        });
        let evenness = if all.abs() >= 10f64.ln() * (1.0 - 1e-9) {
            1.5
        } else {
            1.0 + 1e-6
        };
        steps.len() > 1 && self.values.iter().all(|value| *value > 0.0) && least > 0.0 && most <= evenness * least
    }

    /// A value as `--set` takes it, and those of the dependent keys.
    pub fn settings(&self, value: f64) -> Vec<String> {
        let own = std::iter::once(setting(&self.key, value));
        let followers = self.followers.iter();
        own.chain(followers.map(|(key, formula)| setting(key, formula.eval(&[value]))))
            .collect()
    }
}

/// Whether a text could be a key.
fn is_key(key: &str) -> bool {
    !key.is_empty() && key.split('.').all(|part| !part.trim().is_empty())
}

/// A value as `--set` takes it: whole numbers without a decimal point, so that integer keys accept them.
fn setting(key: &str, value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{key}={value:.0}")
    } else {
        format!("{key}={value:?}")
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
    Ok((0..count).map(at).map(tidy).collect())
}

/// A detector or an observable at a time, `name@time`, or the contrast of two, `contrast(name | name)@time`: (a − b)/(a + b), Michelson's visibility of fringes.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The detector's or observable's name.
    pub name: String,
    /// What it is put in contrast with.
    pub beside: Option<String>,
    /// When; `None` = at the scene's end.
    pub at: Option<f64>,
}

impl Quantity {
    /// Reads `name@time` or `name`, or the contrast of two names.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let timed = text
            .rsplit_once('@')
            .and_then(|(name, at)| Some((name, at.trim().parse().ok()?)));
        let (name, at) = timed.map_or((text, None), |(name, at)| (name, Some(at)));
        let inside = (name.trim().strip_prefix("contrast(")).and_then(|rest| rest.strip_suffix(')'));
        let pair = inside.and_then(|inside| inside.split_once('|'));
        let (name, beside) = pair.map_or((name, None), |(name, beside)| (name, Some(beside)));
        Self {
            name: name.trim().to_owned(),
            beside: beside.map(|name| name.trim().to_owned()),
            at,
        }
    }

    /// The names in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.beside.as_deref())
    }

    /// As it is written.
    pub fn text(&self) -> String {
        let what = match &self.beside {
            Some(beside) => format!("contrast({} | {beside})", self.name),
            None => self.name.clone(),
        };
        self.at.map_or(what.clone(), |at| format!("{what}@{at}"))
    }

    /// What is measured of a scene, and when.
    ///
    /// # Errors
    /// If the scene has nothing of that name, no time is given and the scene has no end, or it is the contrast of two with different units.
    pub fn resolve(&self, scenario: &Scenario) -> Result<Wanted, SweepFault> {
        let find = |name: &str| {
            subject(scenario, name).ok_or_else(|| {
                let names = names(scenario);
                let near = super::nearest(name, names.iter().map(String::as_str));
                let hint = near.map_or("there".to_owned(), |near| format!("did you mean {near:?}? There"));
                let message = format!("there is no detector and no observable {name:?}");
                SweepFault::new(message, format!("{hint} are {}", quoted(&names)))
            })
        };
        let subject = find(&self.name)?;
        let beside = self.beside.as_deref().map(find).transpose()?;
        if let Some(beside) = &beside {
            let [first, second] = [&subject, beside].map(|own| own.unit(scenario));
            if first != second {
                let named = |name: &str, unit: &str| {
                    let unit = if unit.is_empty() { "no unit" } else { unit };
                    format!("{name:?} ({unit})")
                };
                let message = format!(
                    "there is no contrast of {} and {}, whose units differ",
                    named(&self.name, first),
                    named(self.beside.as_deref().unwrap_or_default(), second)
                );
                return Err(SweepFault::new(message, "take two of the same unit"));
            }
        }
        let at = self.at.or(scenario.time().end).ok_or_else(|| {
            let message = format!("`{}` does not say when, and the scene has no end", self.name);
            SweepFault::new(message, format!("write \"{}@40\", or give time.end", self.name))
        })?;
        if at >= 0.0 && at.is_finite() {
            Ok(Wanted { subject, beside, at })
        } else {
            Err(SweepFault::new(
                format!("{at} is not a time"),
                "write 0 or a positive number",
            ))
        }
    }
}

/// What is measured of one scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// What.
    pub subject: Subject,
    /// What it is put in contrast with.
    pub beside: Option<Subject>,
    /// When.
    pub at: f64,
}

impl Wanted {
    /// Both.
    pub fn subjects(&self) -> impl Iterator<Item = &Subject> {
        std::iter::once(&self.subject).chain(&self.beside)
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

/// What a scene has in addition to its detectors: its observables, and the coordinates of its trajectories.
fn own_observables(scenario: &Scenario) -> impl Iterator<Item = String> {
    let (equation, rank) = (Some(scenario.model().equation()), scenario.grid().rank());
    let known = observables(equation, rank, scenario.mirror().is_some());
    let space = axes_in_space(scenario.grid());
    let trajectories = scenario.trajectories().iter();
    let coordinates = trajectories.flat_map(move |one| one.coordinates(space));
    known.into_iter().map(str::to_owned).chain(coordinates)
}

/// Detectors and observables of a scene by name; detectors come first.
fn names(scenario: &Scenario) -> Vec<String> {
    let detectors = scenario.detectors().iter().map(|detector| detector.name.clone());
    detectors.chain(own_observables(scenario)).collect()
}

/// The detector or observable of this name; a detector comes first.
pub fn subject(scenario: &Scenario, name: &str) -> Option<Subject> {
    let detectors = scenario.detectors();
    if let Some(place) = detectors.iter().position(|detector| detector.name == name) {
        return Some(Subject::Detector(place));
    }
    own_observables(scenario)
        .find(|own| own == name)
        .map(Subject::Observable)
}

/// Whether a name is that of a detector and of an observable, which is then not measured.
pub fn has_two_meanings(scenario: &Scenario, name: &str) -> bool {
    matches!(subject(scenario, name), Some(Subject::Detector(_))) && own_observables(scenario).any(|own| own == name)
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
                format!(
                    "{}; x (and y) are the values that vary, and \"{TRANSMISSION}\" is that of a packet on a line",
                    error.remedy()
                ),
            )
        })
    }

    /// As it is written.
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
    /// What is measured; theory is for the first.
    pub measures: Vec<Quantity>,
    /// What it is held against.
    pub theory: Option<Theory>,
}

impl Sweep {
    /// How many runs there are; `None` beyond a million.
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
        let of_two = matches!(&self.theory, Some(Theory::Formula(formula)) if formula.uses(1));
        if of_two && self.axes.len() < 2 {
            return Err(SweepFault::new(
                "the theory is a formula of y, the second value that varies, and one key varies",
                "write a formula of x, or let a second key vary",
            ));
        }
        let mut keys: Vec<&str> = Vec::new();
        for axis in &self.axes {
            for key in std::iter::once(&axis.key).chain(axis.followers.iter().map(|(key, _)| key)) {
                if keys.contains(&key.as_str()) {
                    let message = format!("`{key}` varies twice");
                    return Err(SweepFault::new(message, "let each key vary once"));
                }
                keys.push(key);
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

/// Names that may contain blanks, one after the other.
fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fault of a formula is reported with what belongs there.
    #[test]
    fn faults_of_formulas_have_their_remedies() {
        for (text, part) in [("log(x)", "log10"), ("min(x)", "min takes two arguments or more")] {
            let theory = Theory::parse(text).unwrap_err();
            let follower = Axis::parse(&format!("a=1,2 & b={text}")).unwrap_err();
            assert!(
                theory.remedy.contains(part) && follower.remedy.contains(part),
                "{theory:?} {follower:?}"
            );
        }
    }

    #[test]
    fn values_are_spaced_as_written() {
        let axis = Axis::parse("packet.0.momentum.0 = 0.1..0.5/5").unwrap();
        assert_eq!(axis.key, "packet.0.momentum.0");
        assert_eq!(axis.values, [0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!(axis.settings(0.3), ["packet.0.momentum.0=0.3"]);
        assert_eq!(
            Axis::parse("a=1..1000/4 log").unwrap().values,
            [1.0, 10.0, 100.0, 1000.0]
        );
        assert_eq!(Axis::parse("a=3..9/1").unwrap().values, [3.0]);
        for (values, ratios) in [
            ("0.02..3/7log", true),
            ("1000..1/4 log", true),
            ("1,2,4", true),
            ("1,2,5,10,20", true),
            ("1,3,10", true),
            ("1..1000/4", false),
            ("2,3,4", false),
            ("1000,1001,1002", false),
            ("1,10", false),
            ("5,5,5", false),
            ("-1,-10,-100", false),
            ("1,10,1,10", false),
        ] {
            assert_eq!(
                Axis::parse(&format!("a={values}")).unwrap().is_logarithmic(),
                ratios,
                "{values}"
            );
        }
        let listed = Axis::parse("solver.order=1,2, 4").unwrap();
        assert_eq!(listed.values, [1.0, 2.0, 4.0]);
        assert_eq!(listed.settings(4.0), ["solver.order=4"]);
        let both = Axis::parse("layer.0.centers.1=60..70/3 & layer.0.centers.0 = 90 - x").unwrap();
        assert_eq!(both.settings(65.0), ["layer.0.centers.1=65", "layer.0.centers.0=25"]);
        assert_ne!(both, Axis::parse("layer.0.centers.1=60..70/3").unwrap());
        for (text, word) in [
            ("a", "no `=`"),
            (".b=1", "not a key"),
            ("a=1..2", "how many"),
            ("a=1..2/0", "not a number of values"),
            ("a=1..2/x", "not a number of values"),
            ("a=0..2/3log", "even ratios"),
            ("a=1,b", "`b` is not a number"),
            ("a=1..inf/3", "not a number"),
            ("a=1..2/3 & b", "`b` has no `=`"),
            ("a=1..2/3 & =x", "not a key"),
            ("a=1..2/3 & b=y", "y"),
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
                beside: None,
                at: None
            }
        );
        let contrast = Quantity::parse("contrast( bright fringe |dark fringe)@80");
        assert_eq!(contrast.names().collect::<Vec<_>>(), ["bright fringe", "dark fringe"]);
        assert_eq!(contrast.text(), "contrast(bright fringe | dark fringe)@80");
        assert_eq!(Quantity::parse(&contrast.text()), contrast);
    }
}

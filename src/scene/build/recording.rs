//! Detectors, predictions, and the mirror.

use super::super::file::{DetectorFile, RegionFile, TransducersFile};
use super::super::scenario::{Expectation, Subject};
use super::{Builder, OfAllLayers, article, possible};
use crate::grid::Grid;
use crate::physics::{
    Detector, Equation, Layer, Measure, Mirror, MirrorMethod, Placement, Reading, Region, axes_in_space, axis_across,
};
use std::sync::Arc;

/// Names of columns other than those of the detectors.
const COLUMNS: [&str; 4] = ["step", "t", "omega", "frequency"];

impl Builder<'_> {
    pub(super) fn detectors(&mut self, equation: Option<Equation>, grid: Option<&Grid>) -> Vec<Detector> {
        let given = &self.file.detectors;
        for (index, detector) in given.iter().enumerate() {
            let key = format!("detector.{index}.name");
            let name = &detector.name;
            if name.trim().is_empty() || name.contains([',', '"', '\n', '\r']) {
                let message = format!("{name:?} is not a name");
                self.found.value(
                    &key,
                    message,
                    "name it without commas and quotes; it heads a column of the CSV file",
                );
            } else if COLUMNS.contains(&name.as_str()) {
                let message = format!("{name:?} heads another column of the tables that are written");
                self.found.value(&key, message, "give it another name");
            } else if given[..index].iter().any(|other| other.name == *name) {
                let message = format!("there are two detectors {name:?}");
                self.found.value(&key, message, "give every detector a name of its own");
            }
        }
        let Some((equation, grid)) = equation.zip(grid) else {
            return Vec::new();
        };
        given
            .iter()
            .enumerate()
            .filter_map(|(index, detector)| self.detector(index, detector, equation, grid))
            .collect()
    }

    fn detector(&mut self, index: usize, given: &DetectorFile, equation: Equation, grid: &Grid) -> Option<Detector> {
        let key = |name: &str| format!("detector.{index}.{name}");
        let region = match &given.region {
            RegionFile::Everywhere => Some(Region::Everywhere),
            RegionFile::Point(at) => self.point(&key("at"), at, grid).map(Region::Point),
            RegionFile::Line { from, to } => {
                let from = self.point(&key("from"), from, grid);
                let to = self.point(&key("to"), to, grid);
                from.zip(to).map(|(from, to)| Region::Line { from, to })
            }
            RegionFile::Box { min, max } => self
                .corners(&key("region.min"), min, &key("region.max"), max, grid.rank())
                .map(|(min, max)| Region::Box { min, max }),
        };
        if let Some(Region::Box { min, max }) = &region
            && self.grid_is_own
            && !holds_a_site(min, max, grid)
        {
            self.found.key(
                key("region"),
                "no site lies in it",
                "enlarge it or move it into the grid",
            );
        }
        let measure = given.measure.unwrap_or(match (&given.region, equation) {
            (RegionFile::Point(_), _) => Measure::Value,
            (RegionFile::Line { .. }, _) => Measure::Flux,
            (_, Equation::Schrodinger) => Measure::Probability,
            (_, Equation::Acoustic) => Measure::Energy,
        });
        let quantum = equation == Equation::Schrodinger;
        let at_line = matches!(given.region, RegionFile::Line { .. });
        let at_point = matches!(given.region, RegionFile::Point(_));
        let word = measure.as_str();
        let fault = match measure {
            Measure::Energy if quantum => Some((
                "the energy of a part is not defined on a lattice".to_owned(),
                "measure \"probability\", or use `observable = \"energy\"` in [[expect]]",
            )),
            Measure::Pressure if quantum => Some((
                format!("\"{word}\" is nothing that a quantum scene has"),
                "use value, probability, flux or peak",
            )),
            Measure::Probability if !quantum => Some((
                format!("\"{word}\" is nothing that {} scene has", article(equation)),
                "use value, flux, energy, pressure or peak",
            )),
            Measure::Velocity if quantum => Some((
                format!("\"{word}\" is nothing that a quantum scene has"),
                "use value, probability, flux or peak; `[[trajectory]]` has velocities of ψ",
            )),
            Measure::Value | Measure::Velocity if !at_point => Some((
                format!("\"{word}\" is measured at a point"),
                "give `at = [..]`, or measure something of a region",
            )),
            Measure::Flux if !at_line && (grid.rank() > 1 || !at_point) => Some((
                format!("\"{word}\" is measured through a line"),
                "give `from = [..]` and `to = [..]` (in one dimension `at = ..`)",
            )),
            Measure::Velocity if self.file.mirror.is_some() => Some((
                "a velocity is added up from the start, and a mirror reverses time".to_owned(),
                "measure \"value\", or remove [mirror]",
            )),
            Measure::Velocity if given.every.is_some_and(|every| every > 1) => {
                Some(("a velocity is added up step by step".to_owned(), "leave `every` out"))
            }
            _ => None,
        };
        if let Some((message, remedy)) = fault {
            self.found.value(key("measure"), message, remedy);
            return None;
        }
        if let Some(Region::Line { from, to }) = &region
            && (grid.rank() > 1 || measure == Measure::Flux)
            && self.grid_is_own
        {
            self.stands_across(&key("to"), (from, to), equation, grid)?;
        }
        let direction = self.direction_of(index, given, measure, grid)?;
        self.reading(index, given, measure, quantum);
        let every = given.every.unwrap_or(1);
        if every == 0 {
            let message = "a detector that records every 0-th step never records";
            self.found
                .value(key("every"), message, "write a whole number from 1 on, or leave it out");
        }
        Some(Detector {
            name: given.name.clone(),
            region: region?,
            measure,
            reading: given.reading,
            over: given.over,
            every: every.max(1) as u64,
            direction,
        })
    }

    /// Notes a fault if a line, or in 3D a plane, is not normal to an axis.
    fn stands_across(
        &mut self,
        key: &str,
        (from, to): (&[f64; 3], &[f64; 3]),
        equation: Equation,
        grid: &Grid,
    ) -> Option<()> {
        let rank = grid.rank();
        let (from, to) = (&from[..rank], &to[..rank]);
        let across = axis_across(from, to);
        // Ends less than a spacing apart mean the same sites.
        if (to[across] - from[across]).abs() < grid.spacing() * (1.0 - 1e-9) {
            return Some(());
        }
        let shown = |at: &[f64]| {
            let numbers: Vec<String> = at.iter().map(|number| super::super::write::float(*number)).collect();
            format!("({})", numbers.join(", "))
        };
        let (message, remedy) = match rank {
            1 => (
                "in one dimension a flux goes through a point".to_owned(),
                match equation {
                    Equation::Schrodinger => {
                        "write `at = ..`, or, to measure \"probability\" or \"peak\" over an interval, `region = { min = [..], max = [..] }`"
                    }
                    Equation::Acoustic => {
                        "write `at = ..`, or, to measure \"energy\", \"pressure\" or \"peak\" over an interval, `region = { min = [..], max = [..] }`"
                    }
                },
            ),
            2 => (
                format!(
                    "the line from {} to {} runs along neither x nor y",
                    shown(from),
                    shown(to)
                ),
                "give both ends the same x or the same y",
            ),
            _ => (
                format!(
                    "{} and {} are ends of no line along an axis and of no plane across one",
                    shown(from),
                    shown(to)
                ),
                "give both the same x, y or z",
            ),
        };
        self.found.value(key, message, remedy);
        None
    }

    /// The direction of a velocity, of length 1; zeros for other measures.
    fn direction_of(&mut self, index: usize, given: &DetectorFile, measure: Measure, grid: &Grid) -> Option<[f64; 3]> {
        let key = format!("detector.{index}.direction");
        if measure != Measure::Velocity {
            if !given.direction.is_empty() {
                let message = format!("\"{}\" has no direction", measure.as_str());
                self.found.key(key, message, "remove it, or measure \"velocity\"");
            }
            return Some([0.0; 3]);
        }
        if given.direction.is_empty() {
            if grid.rank() > 1 {
                let remedy = "add one, e.g. `direction = [1.0, 0.0]`";
                self.found.key(key, "is missing: a velocity has a direction", remedy);
                return None;
            }
            return Some([1.0, 0.0, 0.0]);
        }
        let along = self.vector(&key, &given.direction, grid.rank())?;
        let length = along.iter().map(|part| part * part).sum::<f64>().sqrt();
        if length == 0.0 || !length.is_finite() {
            let message = "a direction of the length 0 points nowhere";
            self.found.value(key, message, "give another, e.g. [1.0, 0.0]");
            return None;
        }
        Some(along.map(|part| part / length))
    }

    /// Notes faults of a detector's `as` and `over`.
    fn reading(&mut self, index: usize, given: &DetectorFile, measure: Measure, quantum: bool) {
        let key = |name: &str| format!("detector.{index}.{name}");
        let word = given.reading.as_str();
        let pressure = matches!(measure, Measure::Value | Measure::Pressure) && !quantum;
        if given.reading == Reading::Level && !pressure {
            let message = format!(
                "a level in dB re 20 µPa is one of a pressure, and this detector measures \"{}\"",
                measure.as_str()
            );
            self.found.value(
                key("as"),
                message,
                "measure the value at a point, or the pressure of a region, of sound",
            );
        }
        if given.reading != Reading::Itself && measure == Measure::Peak {
            let message = format!("the largest value so far has no \"{word}\"");
            self.found
                .value(key("as"), message, "measure \"value\", or remove `as`");
        }
        let Some(over) = given.over else { return };
        self.positive(&key("over"), over);
        if given.reading == Reading::Itself {
            let message = "nothing is averaged that could fade";
            self.found.key(
                key("over"),
                message,
                "remove it, or add `as = \"rms\"`, \"level\" or \"mean\"",
            );
        }
    }

    pub(super) fn expectations(&mut self, equation: Option<Equation>, grid: Option<&Grid>) -> Vec<Expectation> {
        let mut expectations = Vec::new();
        for (index, given) in self.file.expectations.iter().enumerate() {
            let key = |name: &str| format!("expect.{index}.{name}");
            self.not_negative(&key("at"), given.at);
            self.finite(&key("value"), given.value);
            self.positive(&key("tolerance"), given.tolerance);
            self.not_negative(&key("ask_at"), given.ask_at);
            // A fault of `at` is no fault of a key that nobody wrote.
            if given.ask_at > given.at && given.at >= 0.0 {
                let message = format!(
                    "the question comes at {}, after the answer at {}",
                    given.ask_at, given.at
                );
                self.found
                    .value(key("ask_at"), message, "ask before `at`, or leave `ask_at` out");
            }
            let subject = match (&given.detector, &given.observable) {
                (Some(name), None) => {
                    let detectors = &self.file.detectors;
                    let place = detectors.iter().position(|detector| detector.name == *name);
                    if place.is_none() {
                        let remedy = possible(name, detectors.iter().map(|detector| detector.name.as_str()));
                        self.found
                            .value(key("detector"), format!("there is no detector {name:?}"), remedy);
                    }
                    place.map(Subject::Detector)
                }
                (None, Some(name)) => {
                    let rank = grid.map_or(3, Grid::rank);
                    let columns = super::super::sweep::observables(equation, rank, self.file.mirror.is_some());
                    let coordinates = self.coordinates(grid.map_or(3, axes_in_space));
                    let columns = columns.iter().copied().chain(coordinates.iter().map(String::as_str));
                    if columns.clone().any(|column| column == name) {
                        Some(Subject::Observable(name.clone()))
                    } else {
                        let remedy = possible(name, columns);
                        self.found
                            .value(key("observable"), format!("there is no observable {name:?}"), remedy);
                        None
                    }
                }
                (Some(_), Some(_)) => {
                    let message = "a prediction is about a detector or an observable, not both";
                    self.found.key(
                        key("observable"),
                        message,
                        "keep one of the two, and write another [[expect]]",
                    );
                    None
                }
                (None, None) => {
                    let message = "it does not say what is measured";
                    let remedy = "add `detector = \"name\"` or `observable = \"norm\"`";
                    self.found.key(format!("expect.{index}"), message, remedy);
                    None
                }
            };
            if let Some(subject) = subject {
                expectations.push(Expectation {
                    subject,
                    at: given.at,
                    value: given.value,
                    tolerance: given.tolerance,
                    because: given.because.clone(),
                    ask: given.ask.clone(),
                    ask_at: given.ask_at,
                });
            }
        }
        expectations
    }

    /// `[mirror]`; `layers` are the scene's own.
    pub(super) fn mirror(
        &mut self,
        equation: Option<Equation>,
        grid: Option<&Grid>,
        layers: &[Layer],
        whole: &OfAllLayers,
    ) -> Option<Mirror> {
        let mirror = self.file.mirror.as_ref()?;
        self.positive("mirror.at", mirror.at);
        self.not_negative("mirror.noise", mirror.noise);
        if let Some(record) = mirror.record {
            self.positive("mirror.record", record);
        }
        if mirror.playing == Some(0) {
            let (message, remedy) = ("0 transducers play nothing", "write at least 1, or remove it: all play");
            self.found.value("mirror.playing", message, remedy);
        }
        if let Some(number) = mirror.regularization {
            self.not_negative("mirror.regularization", number);
        }
        if self.file.time.imaginary {
            let message = "imaginary time cannot be turned round";
            self.found
                .key("mirror", message, "remove the section, or time.imaginary");
        }
        let placement = mirror
            .transducers
            .as_ref()
            .and_then(|transducers| self.placement(transducers, grid?));
        if mirror.transducers.is_none() && mirror.method != MirrorMethod::Echo {
            let message = format!(
                "\"{}\" plays through transducers, and there are none",
                mirror.method.as_str()
            );
            let remedy = "add e.g. `transducers = { shape = \"edges\" }`, or use method = \"echo\"";
            self.found.value("mirror.method", message, remedy);
        }
        let added = self.layers(equation, grid, "mirror.perturbation", &mirror.perturbation);
        let all = layers.iter().cloned().chain(added).collect();
        Some(Mirror {
            method: mirror.method,
            at: mirror.at,
            placement,
            playing: mirror.playing.unwrap_or(usize::MAX),
            record: mirror.record.unwrap_or(f64::INFINITY),
            noise: mirror.noise,
            seed: mirror.seed as u64,
            medium: Arc::new(whole.medium(grid?.clone(), all)),
            keep_flux: mirror.keep_flux,
            drive: mirror.drive,
            regularization: mirror.regularization.unwrap_or(0.0),
        })
    }

    fn placement(&mut self, given: &TransducersFile, grid: &Grid) -> Option<Placement> {
        let (placement, count) = match given {
            TransducersFile::Ring { center, radius, count } => {
                let center = self.point("mirror.transducers.center", center, grid);
                let good = self.positive("mirror.transducers.radius", *radius);
                let ring = center.filter(|_| good).map(|center| Placement::Ring {
                    center,
                    radius: *radius,
                    count: *count,
                });
                (ring, *count)
            }
            TransducersFile::Line { from, to, count } => {
                let from = self.point("mirror.transducers.from", from, grid);
                let to = self.point("mirror.transducers.to", to, grid);
                let line = from.zip(to).map(|(from, to)| Placement::Line {
                    from,
                    to,
                    count: *count,
                });
                (line, *count)
            }
            TransducersFile::Points { points } => {
                let found: Option<Vec<[f64; 3]>> = points
                    .iter()
                    .enumerate()
                    .map(|(index, point)| self.point(&format!("mirror.transducers.points.{index}"), point, grid))
                    .collect();
                (found.map(Placement::Points), points.len())
            }
            TransducersFile::Edges => (Some(Placement::Edges), 1),
        };
        if count == 0 {
            let (message, remedy) = ("0 transducers hear nothing", "write at least 1");
            self.found.value("mirror.transducers.count", message, remedy);
        }
        placement
    }
}

/// Whether a site lies between two corners.
fn holds_a_site(min: &[f64; 3], max: &[f64; 3], grid: &Grid) -> bool {
    (0..grid.rank()).all(|axis| {
        let a = grid.spacing();
        #[expect(clippy::cast_precision_loss, reason = "sites are far below 2^52")]
        let last = (grid.size()[axis] - 1) as f64;
        let first_inside = (min[axis] / a - 1e-9).ceil().max(0.0);
        let last_inside = (max[axis] / a + 1e-9).floor().min(last);
        first_inside <= last_inside
    })
}

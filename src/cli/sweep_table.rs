//! The table that `ripplon sweep` writes and continues.

use super::InputError;
use super::figures::short;
use super::sweep::as_input;
use crate::engine::sweep::{SweepPlan, SweepPoint};
use crate::export::csv::CsvWriter;
use crate::scene::sweep::{Axis, Quantity};
use crate::scene::{Scenario, key_unit};
use crate::solver::Taps;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The sections that determine how a scene is shown, explained or judged, and change none of its numbers.
const WORDS: [&str; 10] = [
    "title", "about", "tags", "view", "camera", "note", "theory", "expect", "sweep", "room",
];

/// Values at which formulas of the varying value are compared.
const PROBES: [f64; 2] = [0.731, 2.173];

/// The columns of a sweep: what varies, what is measured, theory, and the number of the scene.
pub(super) struct Table {
    columns: Vec<String>,
    keys: usize,
    theory: bool,
    /// The units of the columns that are printed, where they have some; the table has numbers alone.
    units: Vec<&'static str>,
    /// A checksum of everything that the numbers of a run depend on, except the values that vary: another checksum means another scene.
    scene: u32,
}

impl Table {
    /// The table of a sweep over a scene, which reads these files.
    ///
    /// # Errors
    /// If one of them can no longer be read.
    pub(super) fn of(plan: &SweepPlan, scenario: &Scenario, files: &[PathBuf]) -> Result<Self, InputError> {
        let sweep = &plan.sweep;
        let mut columns: Vec<String> = sweep.axes.iter().map(|axis| axis.key.clone()).collect();
        let keys = columns.len();
        columns.extend(sweep.measures.iter().map(Quantity::text));
        let theory = sweep.theory.is_some();
        columns.extend(theory.then(|| "theory".to_owned()));
        columns.push("scene".to_owned());
        let of_key = |axis: &Axis| key_unit(&axis.key, scenario.file());
        let mut units: Vec<&'static str> = sweep.axes.iter().map(of_key).collect();
        units.extend(sweep.measures.iter().map(|quantity| unit_of(quantity, scenario)));
        // Theory is of the first quantity.
        units.extend((sweep.measures.first().filter(|_| theory)).map(|quantity| unit_of(quantity, scenario)));
        Ok(Self {
            columns,
            keys,
            theory,
            units,
            scene: number_of(plan, files)?,
        })
    }

    /// The columns that are printed: all but the last.
    pub(super) fn told(&self) -> &[String] {
        &self.columns[..self.columns.len() - 1]
    }

    fn row(&self, plan: &SweepPlan, point: &SweepPoint) -> Vec<f64> {
        let mut row = plan.values(point.number);
        row.extend(&point.measured);
        if self.theory {
            row.push(point.theory.unwrap_or(f64::NAN));
        }
        row.push(f64::from(self.scene));
        row
    }

    /// A run in one line.
    pub(super) fn line(&self, plan: &SweepPlan, point: &SweepPoint) -> String {
        let row = self.row(plan, point);
        let named = self.told().iter().zip(&row).zip(&self.units);
        let words: Vec<String> = named
            .map(|((name, value), unit)| match *unit {
                // As the energy of a field that is 0 everywhere.
                _ if value.is_nan() => format!("{name}: no value"),
                "" => format!("{name} = {}", short(*value)),
                unit => format!("{name} = {} {unit}", short(*value)),
            })
            .collect();
        words.join(", ")
    }

    /// Writes what is done, in the order of the runs; cells without a value are empty.
    pub(super) fn write(&self, path: &Path, plan: &SweepPlan, points: &[SweepPoint]) -> anyhow::Result<()> {
        let mut csv = CsvWriter::create(path, &self.columns)?;
        let mut order: Vec<&SweepPoint> = points.iter().collect();
        order.sort_by_key(|point| point.number);
        for point in order {
            let known = |value: f64| if value.is_nan() { Taps::ABSENT } else { value };
            let row: Vec<f64> = self.row(plan, point).into_iter().map(known).collect();
            csv.row(&row)?;
        }
        Ok(csv.finish()?)
    }

    /// The runs that a table already has, with the present theory.
    pub(super) fn read(&self, path: &Path, plan: &SweepPlan) -> anyhow::Result<Vec<SweepPoint>> {
        let bytes = crate::input_file::read(path, 1 << 30)
            .map_err(|error| InputError(format!("--csv {}: {error}", path.display())))?;
        let text = String::from_utf8_lossy(&bytes);
        // Without its end a line may have lost digits of its last number: that run is done again.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        let Some(head) = lines.next() else {
            return Ok(Vec::new());
        };
        let own = self.columns.join(",");
        // Names with a quote or a comma are quoted; they are compared without.
        if head.replace('"', "") != own.replace('"', "") {
            return Err(InputError(format!(
                "--csv {}: this table has the columns {head}, and the sweep has {own}; name another file, or remove it",
                path.display()
            ))
            .into());
        }
        let places: std::collections::HashMap<Vec<u64>, usize> =
            (0..plan.runs()).map(|n| (bits(&plan.values(n)), n)).collect();
        let mut points = Vec::new();
        for (number, line) in lines.enumerate() {
            let value = |cell: &str| match cell.trim() {
                "" => Some(f64::NAN),
                cell => cell.parse().ok(),
            };
            let row: Option<Vec<f64>> = line.split(',').map(value).collect();
            let row = row.filter(|row| row.len() == self.columns.len()).ok_or_else(|| {
                InputError(format!(
                    "--csv {}: line {} is not a row of {} numbers; repair or remove the file",
                    path.display(),
                    number + 2,
                    self.columns.len()
                ))
            })?;
            let Some(place) = places.get(&bits(&row[..self.keys])) else {
                return Err(InputError(format!(
                    "--csv {}: line {} is of values that this sweep does not have; name another file, or remove it",
                    path.display(),
                    number + 2
                ))
                .into());
            };
            if row.last() != Some(&f64::from(self.scene)) {
                return Err(InputError(format!(
                    "--csv {}: line {} belongs to another scene: its keys, --set or a file that it reads differ; name another file, or remove it",
                    path.display(),
                    number + 2
                ))
                .into());
            }
            let measured = row[self.keys..self.keys + plan.sweep.measures.len()].to_vec();
            points.push(SweepPoint {
                number: *place,
                measured,
                // A table does not say.
                beside: Vec::new(),
                theory: as_input(plan.theory(&plan.values(*place)))?,
            });
        }
        points.sort_by_key(|point| point.number);
        points.dedup_by_key(|point| point.number);
        Ok(points)
    }
}

/// The unit of a quantity of a scene; of a contrast there is none.
pub(super) fn unit_of(quantity: &Quantity, scenario: &Scenario) -> &'static str {
    let wanted = quantity.resolve(scenario).ok().filter(|wanted| wanted.beside.is_none());
    wanted.map_or("", |wanted| wanted.subject.unit(scenario))
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| (value + 0.0).to_bits()).collect()
}

/// A checksum of the scene without its words and without the keys that vary, and of the files that it reads.
fn number_of(plan: &SweepPlan, files: &[PathBuf]) -> Result<u32, InputError> {
    let mut scene = toml::Value::Table(plan.text.parse().unwrap_or_default());
    for word in WORDS {
        forget(&mut scene, word);
    }
    for axis in &plan.sweep.axes {
        let settings = axis.settings(axis.values.first().copied().unwrap_or_default());
        for (key, _) in settings.iter().filter_map(|setting| setting.split_once('=')) {
            forget(&mut scene, key);
        }
    }
    let mut sum = crc32fast::Hasher::new();
    sum.update(scene.to_string().as_bytes());
    for axis in &plan.sweep.axes {
        // Keys that go with the one that varies: two values of each tell one formula from another.
        for setting in PROBES
            .iter()
            .flat_map(|value| axis.settings(*value).into_iter().skip(1))
        {
            sum.update(setting.as_bytes());
        }
    }
    for file in files {
        add(&mut sum, file).map_err(|error| InputError(format!("{}: {error}", file.display())))?;
    }
    Ok(sum.finalize())
}

/// Removes a key, as `--set` addresses it, from a scene; of an entry in a list of numbers only the value, so that the others keep their places.
fn forget(scene: &mut toml::Value, key: &str) {
    match (key.split_once('.'), scene) {
        (None, toml::Value::Table(table)) => {
            table.remove(key);
        }
        (None, toml::Value::Array(list)) => {
            let entry = key.parse().ok().and_then(|place: usize| list.get_mut(place));
            if let Some(entry) = entry {
                *entry = toml::Value::Integer(0);
            }
        }
        (Some((first, rest)), toml::Value::Table(table)) => {
            if let Some(inner) = table.get_mut(first) {
                forget(inner, rest);
            }
        }
        (Some((first, rest)), toml::Value::Array(list)) => {
            if let Some(inner) = first.parse().ok().and_then(|place: usize| list.get_mut(place)) {
                forget(inner, rest);
            }
        }
        // A number in place of a list of one.
        (_, value) => *value = toml::Value::Integer(0),
    }
}

/// Adds the bytes of a file.
fn add(sum: &mut crc32fast::Hasher, path: &Path) -> io::Result<()> {
    let (mut file, _) = crate::input_file::open(path)?;
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(()),
            bytes => sum.update(&part[..bytes]),
        }
    }
}

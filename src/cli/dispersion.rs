//! `ripplon dispersion`: ω against k of the waves in a run, with the curves of the lattice and the continuum.

use super::figures::short;
use super::named;
use super::terminal::{all_told, say, tell};
use super::{InputError, Interrupt, SceneArgs, scene};
use crate::engine::EngineError;
use crate::engine::dispersion::{self, DispersionError, DispersionReport};
use crate::export::csv::CsvWriter;
use crate::export::plot::{Curve, Ground, Plot, Shown};
use crate::export::{self, About};
use crate::physics::Equation;
use crate::physics::dispersion::Law;
use crate::scene::Scenario;
use clap::Args;
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

/// Points of a drawn curve.
const POINTS: u32 = 600;
/// Power below this is the picture's background, dB.
const RANGE: f64 = 50.0;
/// Columns weaker than this have no point in the table.
const COUNTED: f64 = 1e-3;

/// Which scene, and what to write.
#[derive(Args, Debug)]
pub struct DispersionArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Draw the power at each k and ω in dB, with the curves of the lattice (dashed) and the continuum (solid)
    #[arg(long, value_name = "F.png")]
    plot: Option<PathBuf>,
    /// Write, for each k with more than a thousandth of the largest power, the strongest ω, its power, and ω of the lattice and of the continuum
    #[arg(long, value_name = "F.csv")]
    csv: Option<PathBuf>,
}

pub(super) fn run(args: &DispersionArgs) -> anyhow::Result<()> {
    let scenario = scene::load(&args.scene)?;
    let outputs = named::given([("--plot", &args.plot), ("--csv", &args.csv)]);
    named::check(&outputs, &named::inputs(&args.scene, &scenario))?;
    let interrupt = Interrupt::listen()?;
    let bar = super::run::progress_bar(0);
    let found = dispersion::measure(&scenario, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        interrupt.flow()
    });
    bar.finish_and_clear();
    let report = found.map_err(|error| match error {
        DispersionError::Run(EngineError::Cancelled(_)) => anyhow::anyhow!("interrupted; nothing was written"),
        error if error.is_input() => anyhow::Error::from(InputError(error.to_string())),
        error => error.into(),
    })?;
    print(&scenario, &report);
    let mut failed = Vec::new();
    if let Some(path) = &args.csv {
        failed.extend(table(path, &scenario, &report).err());
    }
    if let Some(path) = &args.plot {
        failed.extend(draw(path, &scenario, &report).err());
    }
    all_told(failed)
}

fn print(scenario: &Scenario, report: &DispersionReport) {
    let title = scenario.title_or("Scene");
    say!(
        "{title}: {} records, {}, T = {}: lines {} wide in ω (4π/T, Hann's window)",
        report.records,
        every(report.stride),
        short(report.time),
        short(2.0 * TAU / report.time)
    );
    scene::note_step(scenario);
    for text in report.unlike.iter().chain(&report.folds) {
        tell!("note: {text}");
    }
    let ridge = report.dispersion.ridge(COUNTED);
    let Some(last) = ridge.iter().map(|point| point[0].abs()).reduce(f64::max) else {
        say!("nothing runs");
        return;
    };
    // A dozen rows show the course; the table has all.
    let every = ridge.len().div_ceil(12).max(1);
    let rows: Vec<[Option<f64>; 4]> = (ridge.iter().step_by(every))
        .map(|[k, omega, _]| {
            let law = &report.law;
            [Some(*k), Some(*omega), law.lattice(*k), Some(law.continuum(*k))]
        })
        .collect();
    for line in aligned(heads(scenario.model().equation()), &rows) {
        say!("{line}");
    }
    let unit = if scenario.model().equation() == Equation::Acoustic {
        " rad/m"
    } else {
        ""
    };
    say!(
        "{} wave numbers have power, up to |k| = {}{unit}",
        ridge.len(),
        short(last)
    );
}

/// The columns of the printed table, with their units in sound.
fn heads(equation: Equation) -> [&'static str; 4] {
    match equation {
        Equation::Acoustic => ["k (rad/m)", "measured (rad/s)", "lattice (rad/s)", "continuum (rad/s)"],
        Equation::Schrodinger => ["k", "measured", "lattice", "continuum"],
    }
}

/// The lines of a table: numbers of a column have one format, with six digits of its largest; `-` where there is none.
fn aligned(heads: [&str; 4], rows: &[[Option<f64>; 4]]) -> Vec<String> {
    let columns: Vec<Vec<String>> = (0..4)
        .map(|column| {
            let numbers = || {
                rows.iter()
                    .filter_map(|row| row[column])
                    .filter(|value| value.is_finite())
            };
            let largest = numbers().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            let places = decimals(largest);
            let cell = |row: &[Option<f64>; 4]| {
                row[column].map_or("-".to_owned(), |value| match places {
                    Some(places) => format!("{:.places$}", value + 0.0),
                    None => format!("{value:.5e}"),
                })
            };
            std::iter::once(heads[column].to_owned())
                .chain(rows.iter().map(cell))
                .collect()
        })
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| column.iter().map(String::len).fold(11, usize::max))
        .collect();
    let line = |n: usize| {
        let cells: Vec<String> = (columns.iter().zip(&widths))
            .map(|(column, width)| format!("{:>width$}", column[n]))
            .collect();
        cells.join(" ")
    };
    (0..=rows.len()).map(line).collect()
}

/// Decimals that leave six digits of a number; `None` where it is written with a power of ten.
fn decimals(largest: f64) -> Option<usize> {
    if largest == 0.0 {
        return Some(0);
    }
    let above = largest.log10().floor();
    (-4.0..9.0)
        .contains(&above)
        .then(|| crate::rounding::truncated((5.0 - above).max(0.0)))
}

/// How often it is recorded.
fn every(stride: u64) -> String {
    if stride == 1 {
        "one a step".to_owned()
    } else {
        format!("one every {stride} steps")
    }
}

fn table(path: &Path, scenario: &Scenario, report: &DispersionReport) -> anyhow::Result<()> {
    let columns = if scenario.model().equation() == Equation::Acoustic {
        [
            "k (rad/m)",
            "omega (rad/s)",
            "power",
            "lattice (rad/s)",
            "continuum (rad/s)",
        ]
    } else {
        ["k", "omega", "power", "lattice", "continuum"]
    };
    let mut csv = CsvWriter::create(path, &columns)?;
    for [k, omega, power] in report.dispersion.ridge(COUNTED) {
        let lattice = report.law.lattice(k).unwrap_or(f64::NAN);
        csv.row(&[k, omega, power, lattice, report.law.continuum(k)])?;
    }
    csv.finish()?;
    Ok(())
}

/// Points of a law over the picture.
fn curve(x: [f64; 2], law: impl Fn(f64) -> Option<f64>) -> Vec<[f64; 2]> {
    let place = |n: u32| x[0] + (x[1] - x[0]) * f64::from(n) / f64::from(POINTS);
    (0..=POINTS)
        .map(place)
        .map(|k| [k, law(k).unwrap_or(f64::NAN)])
        .collect()
}

fn draw(path: &Path, scenario: &Scenario, report: &DispersionReport) -> anyhow::Result<()> {
    let found = &report.dispersion;
    let [x, y] = found.bounds();
    let law: Law = report.law;
    let named = |label: &str, points, shown, color| Curve {
        label: label.to_owned(),
        points,
        shown,
        color,
    };
    let sound = scenario.model().equation() == Equation::Acoustic;
    let plot = Plot {
        title: scene::titled(scenario, "ω(k) of the run"),
        along: if sound { "k (rad/m)" } else { "k" }.to_owned(),
        up: if sound { "ω (rad/s)" } else { "ω" }.to_owned(),
        ground: Some(Ground {
            values: (found.power.iter())
                .map(|power| (10.0 * power.max(1e-300).log10()).max(-RANGE))
                .collect(),
            size: [found.wavenumbers.len(), found.frequencies.len()],
            x,
            y,
            levels: [-RANGE, 0.0],
            signed: false,
            sign: "power (dB)".to_owned(),
        }),
        curves: vec![
            named("continuum", curve(x, |k| Some(law.continuum(k))), Shown::Line, 1),
            named("lattice", curve(x, |k| law.lattice(k)), Shown::Dashed, 2),
        ],
        ..Plot::default()
    };
    let about = About::of(scenario);
    export::png::save(path, &plot.draw(1200, 900), &about)?;
    tell!("plot written to {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column has one format, and sound has its units over it.
    #[test]
    fn columns_have_units_and_one_format() {
        let rows = [
            [Some(0.65), Some(222.9), None, Some(223.0)],
            [Some(-31.4), Some(10_700.24), Some(5e-7), Some(0.0)],
        ];
        let lines = aligned(heads(Equation::Acoustic), &rows);
        assert_eq!(
            lines,
            [
                "  k (rad/m) measured (rad/s) lattice (rad/s) continuum (rad/s)",
                "     0.6500            222.9               -           223.000",
                "   -31.4000          10700.2      5.00000e-7             0.000",
            ]
        );
        assert_eq!(
            aligned(heads(Equation::Schrodinger), &[]),
            ["          k    measured     lattice   continuum"]
        );
    }
}

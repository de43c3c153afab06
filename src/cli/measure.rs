//! `ripplon measure`: where the particle of a scene is found, many times.

use super::figures::short;
use super::numbers::whole;
use super::run::time;
use super::terminal::{all_told, say};
use super::{InputError, Interrupt, SceneArgs, named, scene};
use crate::engine::Engine;
use crate::export::csv::CsvWriter;
use crate::export::plot::{Curve, Plot, Shown};
use crate::export::{self, About, npy};
use crate::grid::Grid;
use crate::physics::noise::Noise;
use crate::physics::{Equation, Measurement, Outcome};
use crate::rounding::truncated;
use crate::scene::Scenario;
use anyhow::bail;
use clap::Args;
use std::path::{Path, PathBuf};

/// When, where and how often.
#[derive(Args, Debug)]
pub struct MeasureArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// The time of the measurement (default: the scene's end)
    #[arg(long, value_name = "T", value_parser = time)]
    at: Option<f64>,
    /// Lower and upper corner of the region in which the apparatus can find the particle, e.g. 10,0:20,15 (default: everywhere)
    #[arg(long, value_name = "MIN:MAX", allow_hyphen_values = true, value_parser = region)]
    region: Option<[Vec<f64>; 2]>,
    /// The standard deviation of the apparatus' error, a length (0: one site)
    #[arg(long, value_name = "SIGMA", default_value_t = 0.0, value_parser = width)]
    width: f64,
    /// Number of particles that are measured, each prepared anew; one that was absorbed before is not found
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = whole(1_u32, Some(10_000_000)))]
    runs: u32,
    /// Seed of the random numbers: the same seed gives the same positions
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole(0_u64, None))]
    seed: u64,
    /// Write the positions, one row per particle (empty if it was not found)
    #[arg(long, value_name = "F.csv")]
    csv: Option<PathBuf>,
    /// Draw the histogram along x with the distribution of Born's rule
    #[arg(long, value_name = "F.png")]
    plot: Option<PathBuf>,
    /// Continue to this time with the field after the first measurement
    #[arg(long, value_name = "T", requires = "save", value_parser = time)]
    then: Option<f64>,
    /// Write the field after the first measurement, at once or at --then (NPY)
    #[arg(long, value_name = "F.npy")]
    save: Option<PathBuf>,
}

fn width(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &f64| *number >= 0.0 && number.is_finite())
        .ok_or_else(|| "write a length from 0".to_owned())
}

fn region(text: &str) -> Result<[Vec<f64>; 2], String> {
    let corner = |text: &str| -> Option<Vec<f64>> {
        let numbers = text
            .split(',')
            .map(|number| number.trim().parse().ok().filter(|number: &f64| number.is_finite()));
        numbers.collect()
    };
    let corners = text
        .split_once(':')
        .and_then(|(min, max)| Some([corner(min)?, corner(max)?]));
    corners.ok_or_else(|| "write two corners with one length per axis, e.g. 10,0:20,15".to_owned())
}

pub(super) fn run(args: &MeasureArgs) -> anyhow::Result<()> {
    let scenario = scene::load(&args.scene)?;
    let outputs = named::given([("--csv", &args.csv), ("--plot", &args.plot), ("--save", &args.save)]);
    named::check(&outputs, &named::inputs(&args.scene, &scenario))?;
    let mut measurement = apparatus(args, &scenario)?;
    let Some(at) = args.at.or(scenario.time().end) else {
        let message = "the scene has no end; say when to measure: --at T";
        return Err(InputError(message.to_owned()).into());
    };
    if let Some(then) = args.then.filter(|then| !then.is_finite() || *then < at) {
        return Err(InputError(format!(
            "--then {then} is before the measurement at t = {at}; give a later time"
        ))
        .into());
    }
    let mut engine = Engine::new(scenario.clone())?;
    let interrupt = Interrupt::listen()?;
    step_to(&mut engine, at, interrupt)?;
    measurement.left = engine.share_left()?;
    let field = engine.field()?;
    let measured_at = engine.clock().time;
    let grid = scenario.grid();
    let born = measurement.of(grid, &field);
    let mut noise = Noise::new(args.seed);
    let places: Vec<Option<[f64; 3]>> = (0..args.runs)
        .map(|_| match born.draw(&mut noise) {
            Outcome::At(place) => Some(place),
            Outcome::Elsewhere => None,
        })
        .collect();
    report(args, &engine, (born.probability(), measurement.left), &places);
    let mut failed = Vec::new();
    if let Some(path) = &args.csv {
        failed.extend(write(path, grid.place_axes(), &places).err());
    }
    if let Some(path) = &args.plot {
        failed.extend(draw(path, &scenario, &measurement, (&field, measured_at), &places).err());
    }
    if let Some(path) = &args.save {
        let saved = if measurement.region.is_none() && places.first().is_some_and(Option::is_none) {
            save_nothing(path, &measurement, grid, field)
        } else {
            save_after(args, path, &measurement, &mut engine, interrupt)
        };
        failed.extend(saved.err());
    }
    all_told(failed)
}

/// Writes the field of a particle that had been absorbed when it was looked for everywhere: 0, now and later.
fn save_nothing(
    path: &Path,
    measurement: &Measurement,
    grid: &Grid,
    mut field: crate::field::FieldData,
) -> anyhow::Result<()> {
    measurement.collapse(grid, &mut field, &Outcome::Elsewhere);
    npy::save(path, grid, &field)?;
    say!("first run: the particle had been absorbed; the field written is 0 everywhere");
    Ok(())
}

/// Writes the field after the first measurement of the seed, at once or at a later time.
fn save_after(
    args: &MeasureArgs,
    path: &Path,
    measurement: &Measurement,
    engine: &mut Engine,
    interrupt: Interrupt,
) -> anyhow::Result<()> {
    // The first of the same seed once more, this time with what it leaves.
    let (outcome, _) = engine.measure_position(measurement, &mut Noise::new(args.seed))?;
    if let Some(then) = args.then {
        step_to(engine, then, interrupt)?;
    }
    let field = engine.field()?;
    let grid = engine.scenario().grid();
    npy::save(path, grid, &field)?;
    say!(
        "first run: {}; the field at t = {} was written",
        outcome.words(grid.place_axes()),
        short(engine.clock().time)
    );
    Ok(())
}

/// Refuses a region outside the grid or between its sites: nothing is ever found there.
fn holds_a_site(grid: &Grid, [min, max]: [[f64; 3]; 2]) -> Result<(), InputError> {
    for axis in 0..grid.rank() {
        #[expect(clippy::cast_precision_loss, reason = "sites along an axis")]
        let last = (grid.size()[axis] - 1) as f64;
        let [first, end] = [min[axis], max[axis]].map(|at| at / grid.spacing());
        // A corner on a site is rounded by a few ulps.
        if (first - 1e-9).max(0.0).ceil() > (end + 1e-9).min(last).floor() {
            return Err(InputError(format!(
                "--region: from {} to {} along {} there is no site of the grid, whose sites are {} apart, from 0 to {}",
                short(min[axis]),
                short(max[axis]),
                ["x", "y", "z"][axis],
                short(grid.spacing()),
                short(last * grid.spacing())
            )));
        }
    }
    Ok(())
}

/// The requested measurement, on the scene's grid.
fn apparatus(args: &MeasureArgs, scenario: &Scenario) -> Result<Measurement, InputError> {
    if scenario.model().equation() != Equation::Schrodinger {
        let message = "sound is not found at one place; take a quantum scene, or a detector";
        return Err(InputError(message.to_owned()));
    }
    let rank = scenario.grid().rank();
    let region = match &args.region {
        None => None,
        Some([min, max]) => {
            if min.len() != rank || max.len() != rank || min.iter().zip(max).any(|(min, max)| min > max) {
                let message = format!(
                    "--region: the grid is {}; write {rank} lengths for each corner, the lower corner first",
                    scenario.grid()
                );
                return Err(InputError(message));
            }
            let mut corners = [[0.0; 3]; 2];
            corners[0][..rank].copy_from_slice(min);
            corners[1][..rank].copy_from_slice(max);
            holds_a_site(scenario.grid(), corners)?;
            Some(corners)
        }
    };
    Ok(Measurement {
        region,
        width: args.width,
        left: 1.0,
    })
}

fn step_to(engine: &mut Engine, time: f64, interrupt: Interrupt) -> anyhow::Result<()> {
    if !time.is_finite() || time < 0.0 {
        return Err(InputError(format!("{time} is not a time; give a number from 0")).into());
    }
    let steps = engine.steps_until(time)?;
    let end = engine.run_steps(steps, &mut |_, _| interrupt.flow())?;
    if !end.reached {
        bail!(
            "interrupted at t = {}; nothing was measured",
            short(engine.clock().time)
        );
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn report(args: &MeasureArgs, engine: &Engine, (probability, left): (f64, f64), places: &[Option<[f64; 3]>]) {
    let (runs, found) = (places.len() as f64, places.iter().flatten().count() as f64);
    let spread = (probability * (1.0 - probability) / runs).sqrt();
    say!(
        "t = {}: found in {found} of {runs} runs ({:.4}); Born's rule says {probability:.6} ± {spread:.6} (seed {})",
        short(engine.clock().time),
        found / runs,
        args.seed
    );
    if let Some(words) = absorbed(left) {
        say!("  {words}");
    }
    if found == 0.0 {
        return;
    }
    for (axis, name) in ["x", "y", "z"]
        .iter()
        .enumerate()
        .take(engine.scenario().grid().place_axes())
    {
        let mean = places.iter().flatten().map(|place| place[axis]).sum::<f64>() / found;
        let square = places
            .iter()
            .flatten()
            .map(|place| (place[axis] - mean).powi(2))
            .sum::<f64>()
            / found;
        // What chance leaves open of the mean; of the spread it is less.
        let open = square.sqrt() / found.sqrt();
        let [mean, spread, open_shown] = [mean, square.sqrt(), open].map(|value| rounded(value, open));
        say!("  {name}: mean {mean} ± {open_shown}, spread {spread}");
    }
}

/// What is left of the wave, where six decimals show that something is missing.
fn absorbed(left: f64) -> Option<String> {
    let rest = 1.0 - left;
    (rest > 5e-7).then(|| {
        format!(
            "{left:.6} of the wave is left; a particle of the rest ({rest:.6}) was absorbed before and is not found"
        )
    })
}

/// A number with the digits that an error of this size leaves it: two of the error's.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn rounded(value: f64, error: f64) -> String {
    if !(error > 0.0 && error.is_finite()) {
        return short(value);
    }
    format!("{value:.*}", (1.0 - error.log10().floor()).clamp(0.0, 12.0) as usize)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn write(path: &Path, axes: usize, places: &[Option<[f64; 3]>]) -> anyhow::Result<()> {
    let mut columns = vec!["run", "found"];
    columns.extend(&["x", "y", "z"][..axes]);
    let mut csv = CsvWriter::create(path, &columns)?;
    for (n, place) in places.iter().enumerate() {
        let mut row = vec![n as f64, f64::from(u8::from(place.is_some()))];
        let absent = [crate::solver::Taps::ABSENT; 3];
        row.extend(&place.unwrap_or(absent)[..axes]);
        csv.row(&row)?;
    }
    Ok(csv.finish()?)
}

/// How many positions there are, and how many were found if some were not.
fn how_many(places: &[Option<[f64; 3]>]) -> String {
    match (places.iter().flatten().count(), places.len()) {
        (found, all) if found < all => format!("{found} of {all} found"),
        (_, all) => format!("{all} positions"),
    }
}

/// What |ψ|² is summed over to stand over x alone: the other axes of a place, and components.
fn summed_over(grid: &Grid) -> String {
    let mut over = ["y", "z"][..grid.place_axes().saturating_sub(1)].to_vec();
    if grid.place_axes() < grid.rank() {
        over.push("components");
    }
    if over.is_empty() {
        String::new()
    } else {
        format!(" summed over {}", over.join(" and "))
    }
}

/// What was found, and what Born's rule says of it, summed over `over`, for an apparatus with an error.
fn curves(found: Vec<[f64; 2]>, born: Vec<[f64; 2]>, over: &str, error: f64) -> Vec<Curve> {
    let curve = |label: String, points, shown, color| Curve {
        label,
        points,
        shown,
        color,
    };
    let error = if error > 0.0 { " with the error" } else { "" };
    vec![
        curve("found".to_owned(), found, Shown::Line, 0),
        curve(format!("|ψ|²{over}{error}"), born, Shown::Dashed, 1),
    ]
}

/// Places a cell over their expected number, and Born's rule of the same cells: probabilities per length, as outlines of cells over the whole axis. `density` is of the
/// sites along x, `a` apart. Cells are of whole sites, on which places without an error lie, and as fine over what is seen as the number of places allows.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn histogram(a: f64, density: &[f64], places: &[Option<[f64; 3]>]) -> [Vec<[f64; 2]>; 2] {
    /// Cells that a plot can tell apart, the fewest, and the places a cell on average between these.
    const MOST: usize = 400;
    const FEWEST: usize = 40;
    const PLACES: usize = 5;
    /// Less of the largest density is not seen.
    const SEEN: f64 = 1e-3;
    let mut counts = vec![0_u32; density.len()];
    for place in places.iter().flatten() {
        let site = (place[0] / a + 0.5).floor();
        if (0.0..density.len() as f64).contains(&site) {
            counts[truncated(site)] += 1;
        }
    }
    let least = SEEN * density.iter().copied().fold(0.0, f64::max);
    let is_seen = |n: &usize| density[*n] > least || counts[*n] > 0;
    let seen = (0..density.len()).filter(is_seen);
    let (first, last) = seen.fold((density.len(), 0), |(first, last), n| (first.min(n), last.max(n + 1)));
    let cells = (places.len() / PLACES).clamp(FEWEST, MOST);
    let sites = last.saturating_sub(first).div_ceil(cells).max(1);
    // Beyond what is seen there are no counts, and cells of Born's rule are as wide.
    let before = first % sites;
    let ends = std::iter::once(0)
        .chain((before..density.len()).step_by(sites))
        .chain(std::iter::once(density.len()));
    let ends: Vec<usize> = ends.collect();
    let per_place = 1.0 / (places.len().max(1) as f64 * a);
    let mut outlines = [Vec::new(), Vec::new()];
    for pair in ends.windows(2).filter(|pair| pair[0] < pair[1]) {
        let (own, wide) = (pair[0]..pair[1], (pair[1] - pair[0]) as f64);
        let found = counts[own.clone()].iter().map(|count| f64::from(*count)).sum::<f64>() * per_place / wide;
        let born = density[own].iter().sum::<f64>() / wide;
        let [from, to] = [pair[0], pair[1]].map(|n| (n as f64 - 0.5) * a);
        outlines[0].extend([[from, found], [to, found]]);
        if sites > 1 {
            outlines[1].extend([[from, born], [to, born]]);
        } else {
            outlines[1].push([f64::midpoint(from, to), born]);
        }
    }
    outlines
}

/// The histogram along x beside what Born's rule says of it: |ψ|² of the region summed over the other axes, smeared with σ; measured at `time`.
fn draw(
    path: &Path,
    scenario: &Scenario,
    measurement: &Measurement,
    (field, time): (&crate::field::FieldData, f64),
    places: &[Option<[f64; 3]>],
) -> anyhow::Result<()> {
    let grid = scenario.grid();
    let density = measurement.density_along_x(grid, field);
    let [found, born] = histogram(grid.spacing(), &density, places);
    let title = scene::titled(scenario, &format!("{} at t = {}", how_many(places), short(time)));
    let plot = Plot {
        title: title.clone(),
        along: "x".to_owned(),
        up: "probability per length".to_owned(),
        curves: curves(found, born, &summed_over(grid), measurement.width),
        ..Plot::default()
    };
    let about = About {
        title,
        ..About::of(scenario)
    };
    Ok(export::png::save(path, &plot.draw(1360, 760), &about)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They run over each other: colours tell them apart, and the legend says which is which.
    #[test]
    fn what_was_found_and_what_was_expected_look_different() {
        for (over, error, rule) in [
            ("", 0.0, "|ψ|²"),
            ("", 0.5, "|ψ|² with the error"),
            (" summed over y", 0.0, "|ψ|² summed over y"),
        ] {
            let both = curves(vec![[0.0, 1.0]], vec![[0.0, 0.9]], over, error);
            let look = |n: usize| (both[n].label.as_str(), both[n].shown, both[n].color);
            assert_eq!(
                [look(0), look(1)],
                [("found", Shown::Line, 0), (rule, Shown::Dashed, 1)]
            );
        }
    }

    /// Peaks of a few sites that are far apart have the height of Born's rule, and few places have wide cells in which both are means.
    #[test]
    fn narrow_peaks_keep_their_height() {
        let peak =
            |n: i32, middle: i32| (-f64::from(n - middle).powi(2) / 2.0).exp() / (2.0 * std::f64::consts::TAU.sqrt());
        let density: Vec<f64> = (0..512).map(|n| peak(n, 200) + peak(n, 300)).collect();
        let drawn = |count: u32| {
            // The quantiles of the distribution stand for places.
            let place = |n: u32| {
                let mut left = (f64::from(n) + 0.5) / f64::from(count);
                let site = density.iter().position(|part| {
                    left -= part;
                    left < 0.0
                });
                Some([f64::from(u32::try_from(site.unwrap()).unwrap()), 0.0, 0.0])
            };
            histogram(1.0, &density, &(0..count).map(place).collect::<Vec<_>>())
        };
        let highest = |outline: &[[f64; 2]]| outline.iter().map(|point| point[1]).fold(0.0, f64::max);
        let [found, born] = drawn(1000);
        assert!((highest(&born) / density[200] - 1.0).abs() < 1e-9);
        assert!(
            (highest(&found) / density[200] - 1.0).abs() < 0.02,
            "{}",
            highest(&found)
        );
        for count in [100, 1000] {
            let [found, born] = drawn(count);
            assert!((highest(&found) / highest(&born) - 1.0).abs() < 0.1, "{count}");
            assert!((found[0][0] + 0.5).abs() < 1e-12 && (found[found.len() - 1][0] - 511.5).abs() < 1e-12);
            let area: f64 = found.chunks(2).map(|cell| (cell[1][0] - cell[0][0]) * cell[0][1]).sum();
            assert!((area - 1.0).abs() < 1e-9, "{area}");
        }
    }

    #[test]
    fn a_legend_says_what_is_summed() {
        for (size, over) in [
            (&[8][..], ""),
            (&[8, 8], " summed over y"),
            (&[8, 8, 8], " summed over y and z"),
        ] {
            assert_eq!(summed_over(&Grid::new(size, 1.0)), over);
        }
    }

    /// What rounding takes of the norm was not absorbed.
    #[test]
    fn what_is_left_is_told_where_figures_show_it() {
        assert_eq!(absorbed(1.0 - 4e-7), None);
        let some = absorbed(0.999).unwrap();
        assert!(
            some.contains("0.999000 of the wave") && some.contains("(0.001000)"),
            "{some}"
        );
    }

    #[test]
    fn a_plot_says_how_many_positions_were_found() {
        let place = Some([1.0, 0.0, 0.0]);
        assert_eq!(how_many(&[place, place]), "2 positions");
        assert_eq!(how_many(&[place, None, place]), "2 of 3 found");
    }

    #[test]
    fn numbers_have_the_digits_that_chance_leaves_them() {
        assert_eq!(rounded(240.9298, 1.826), "240.9");
        assert_eq!(rounded(1.826, 1.826), "1.8");
        assert_eq!(rounded(129.112, 18.2), "129");
        assert_eq!(rounded(0.123_456, 0.000_49), "0.12346");
        // One particle says nothing of its spread.
        assert_eq!(rounded(57.0, 0.0), "57");
    }
}

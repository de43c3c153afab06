//! What `ripplon run` can write of ψ at the end in addition to the field: Wigner's and Husimi's functions on a line, and the marginals of any grid.

use super::InputError;
use super::named::{self, Output};
use crate::engine::Engine;
use crate::export::csv::CsvWriter;
use crate::export::facts::figure;
use crate::export::plot::{Ground, Plot};
use crate::export::{self, About, npy};
use crate::field::FieldData;
use crate::grid::Grid;
use crate::physics::{Equation, PhaseSpace};
use crate::scene::Scenario;
use crate::solver::Taps;
use clap::Args;
use std::f64::consts::PI;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Which functions are written, and where.
#[derive(Args, Debug)]
pub struct PhaseSpaceArgs {
    /// Write Wigner's function of ψ at the end (scenes on a line; .png of the momenta at which something is seen, or .npy of shape (momenta, positions), −π/a first)
    #[arg(long, value_name = "F")]
    wigner: Option<PathBuf>,
    /// Write Husimi's function of ψ at the end (likewise .png or .npy)
    #[arg(long, value_name = "F")]
    husimi: Option<PathBuf>,
    /// Width σ of the coherent states of --husimi, a length (default: √(L a/4π), at which they are round in the picture)
    #[arg(long, value_name = "SIGMA", requires = "husimi", value_parser = width)]
    husimi_width: Option<f64>,
    /// Write the marginals at the end as CSV: for each axis the density Σ|ψ|² a^(d−1), summed over the other axes; for two particles on a line, the distribution of each
    #[arg(long, value_name = "F.csv")]
    marginals: Option<PathBuf>,
}

fn width(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| *number > 0.0 && number.is_finite())
        .ok_or_else(|| "write a length above 0".to_owned())
}

impl PhaseSpaceArgs {
    /// The requested files, with their options.
    pub(super) fn named(&self) -> Vec<Output<'_>> {
        named::given([
            ("--wigner", &self.wigner),
            ("--husimi", &self.husimi),
            ("--marginals", &self.marginals),
        ])
    }

    /// Refuses what the scene does not have, before the run instead of after it.
    pub(super) fn check(&self, scenario: &Scenario) -> Result<(), InputError> {
        for (option, path) in self.named() {
            if scenario.model().equation() != Equation::Schrodinger {
                let message = format!("{option} is for quantum scenes: sound has no wave function; leave it out");
                return Err(InputError(message));
            }
            if option == "--marginals" {
                continue;
            }
            let grid = scenario.grid();
            if grid.rank() > 1 {
                let message = format!(
                    "{option} is for scenes on a line, and this grid is {grid}; leave it out, or take one axis"
                );
                return Err(InputError(message));
            }
            if grid.sites() > crate::physics::phase_space::MOST_SITES {
                let most = crate::physics::phase_space::MOST_SITES;
                let message = format!(
                    "{option} has sites² values, and {} sites are more than {most}; take a coarser grid",
                    grid.sites()
                );
                return Err(InputError(message));
            }
            if !["png", "npy"].iter().any(|ending| has_ending(path, ending)) {
                let message = format!("{option} {}: the name must end in .png or .npy", path.display());
                return Err(InputError(message));
            }
        }
        Ok(())
    }

    /// Writes all of them, even if some fail; returns the errors.
    pub(super) fn write(&self, engine: &mut Engine) -> Vec<anyhow::Error> {
        if self.named().is_empty() {
            return Vec::new();
        }
        let field = match engine.field() {
            Ok(field) => field,
            Err(error) => return vec![error.into()],
        };
        let scenario = engine.scenario();
        let (grid, time) = (scenario.grid(), engine.clock().time);
        let written = [
            self.wigner.as_deref().map(|path| {
                let found = PhaseSpace::wigner(grid, &field);
                save(path, scenario, &found, &titled("W", time, None), true)
            }),
            self.husimi.as_deref().map(|path| {
                let sigma = self.husimi_width.unwrap_or_else(|| PhaseSpace::round_width(grid));
                let found = PhaseSpace::husimi(grid, &field, sigma);
                save(path, scenario, &found, &titled("Q", time, Some(sigma)), false)
            }),
            self.marginals.as_deref().map(|path| marginals(path, grid, &field)),
        ];
        written.into_iter().flatten().filter_map(Result::err).collect()
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

/// A picture with axes, or the numbers.
fn save(path: &Path, scenario: &Scenario, found: &PhaseSpace, what: &str, signed: bool) -> anyhow::Result<()> {
    if has_ending(path, "npy") {
        return Ok(npy::save_plane(path, [found.sites, found.sites], &found.values)?);
    }
    let plot = Plot {
        title: super::scene::titled(scenario, what),
        along: "x".to_owned(),
        up: "k".to_owned(),
        ground: Some(ground(found, signed)),
        ..Plot::default()
    };
    let about = About {
        comment: what.to_owned(),
        ..About::of(scenario)
    };
    Ok(export::png::save(path, &plot.draw(1200, 1000), &about)?)
}

/// The cells of a picture: all places, and the momenta at which something is seen.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn ground(found: &PhaseSpace, signed: bool) -> Ground {
    let [low, high] = found.range();
    // W is nowhere beyond 1/π, Q not beyond half of that.
    let largest = high.max(-low).clamp(0.0, 1.0 / PI);
    let rows = occupied(found, signed);
    let half = found.spacing / 2.0;
    let step = found.momentum(1) - found.momentum(0);
    let lowest = found.momentum(rows.start) - step / 2.0;
    Ground {
        values: found.values[found.sites * rows.start..found.sites * rows.end].to_vec(),
        size: [found.sites, rows.len()],
        x: [-half, found.sites as f64 * found.spacing - half],
        y: [lowest, lowest + rows.len() as f64 * step],
        levels: [if signed { -largest } else { 0.0 }, largest],
        signed,
        sign: if signed { "W" } else { "Q" }.to_owned(),
    }
}

/// The rows of momenta from the first to the last in which something is seen, with some air; all if nothing is. Colours of a signed function go from one side of 0 to the other.
fn occupied(found: &PhaseSpace, signed: bool) -> Range<usize> {
    /// A colour map has that many colours: values below one and a half of their steps look like 0.
    const COLORS: f64 = 256.0;
    /// Fewer rows would be bands rather than a picture.
    const LEAST: usize = 32;
    let [low, high] = found.range();
    let span = high.max(-low) * if signed { 2.0 } else { 1.0 };
    let least = 1.5 * span / COLORS;
    let is_seen = |row: &usize| {
        let values = &found.values[found.sites * row..found.sites * (row + 1)];
        values.iter().any(|value| value.abs() > least)
    };
    let all = 0..found.sites;
    let Some((first, last)) = all.clone().find(is_seen).zip(all.clone().rfind(is_seen)) else {
        return all;
    };
    let air = ((last - first) / 5).max(LEAST.saturating_sub(last - first) / 2);
    first.saturating_sub(air)..(last + 1 + air).min(found.sites)
}

/// The line above a picture: the function, when, and the width σ of the coherent states if it has them.
fn titled(sign: &str, time: f64, sigma: Option<f64>) -> String {
    // Four figures of a width that is rarely a round number.
    let rounded = |value: f64| format!("{value:.3e}").parse().unwrap_or(value);
    let sigma = sigma.map_or(String::new(), |sigma| format!(", σ = {}", figure(rounded(sigma))));
    format!("{sign}(x, k) at t = {}{sigma}", figure(time))
}

/// Columns x, P(x), y, P(y), …; those of shorter axes end before the others.
fn marginals(path: &Path, grid: &Grid, field: &FieldData) -> anyhow::Result<()> {
    let axes = &["x", "y", "z"][..grid.rank()];
    let names = axes.iter().flat_map(|axis| [(*axis).to_owned(), format!("P({axis})")]);
    let mut csv = CsvWriter::create(path, &names.collect::<Vec<_>>())?;
    let all: Vec<Vec<f64>> = (0..grid.rank())
        .map(|axis| crate::physics::state::marginal(grid, field, axis))
        .collect();
    let longest = all.iter().map(Vec::len).max().unwrap_or(0);
    for n in 0..longest {
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let place = n as f64 * grid.spacing();
        let row: Vec<f64> = (all.iter())
            .flat_map(|values| values.get(n).map_or([Taps::ABSENT; 2], |value| [place, *value]))
            .collect();
        csv.row(&row)?;
    }
    Ok(csv.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 256 momenta those from 140 to 180 have something that is seen: with a fifth of them on both sides, and no others.
    #[test]
    fn a_picture_spans_the_momenta_that_a_wave_has() {
        let mut found = PhaseSpace {
            sites: 256,
            spacing: 0.5,
            values: vec![0.0; 256 * 256],
        };
        assert_eq!(occupied(&found, true), 0..256, "nothing is seen");
        found.values[256 * 140 + 30] = 0.3;
        found.values[256 * 180 + 90] = -0.1;
        // Between one step and a half of 256 colours from 0 to 0.3, and of as many from −0.3 on.
        found.values[256 * 20 + 90] = 0.003;
        assert!(occupied(&found, false).contains(&20));
        let ground = super::ground(&found, true);
        assert_eq!((ground.size, ground.values.len()), ([256, 57], 256 * 57));
        assert!(ground.values[256 * 8 + 30] > 0.0, "the row of 140 is the ninth");
        let step = 2.0 * PI / (256.0 * 0.5);
        for (end, row) in ground.y.into_iter().zip([132.0, 189.0]) {
            assert!((end - (row - 0.5 - 128.0) * step).abs() < 1e-12, "{end}");
        }
        assert_eq!((ground.levels, ground.sign.as_str()), ([-0.3, 0.3], "W"));
        // A single momentum has neighbours.
        found.values.fill(0.0);
        found.values[256 * 3] = 0.1;
        assert_eq!(occupied(&found, true), 0..20);
        assert!(super::ground(&found, false).levels[0].abs() < 1e-15);
    }

    /// Numbers without needless zeros; the range stands beside the colours.
    #[test]
    fn titles_are_short() {
        assert_eq!(titled("W", 600.0, None), "W(x, k) at t = 600");
        assert_eq!(titled("Q", 897.6, Some(12.766_153)), "Q(x, k) at t = 897.6, σ = 12.77");
    }
}

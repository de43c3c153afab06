//! `[view]`: what is shown, in which colours, and from where.

use super::super::decode::Diagnostics;
use super::super::file::ViewFile;
use super::super::scenario::{ColorRange, Flow, Opacity, Orbit, Quantity, View, ViewMode};
use super::{Builder, article, count};
use crate::grid::Grid;
use crate::physics::Equation;
use crate::scene::camera_path::CameraKey;

impl Builder<'_> {
    pub(super) fn view(&mut self, equation: Option<Equation>, grid: Option<&Grid>) -> View {
        let given = &self.file.view;
        let quantity = given.quantity.unwrap_or(match equation {
            Some(Equation::Acoustic) => Quantity::Pressure,
            _ => Quantity::Density,
        });
        if let Some(equation) = equation.filter(|equation| !quantity.fits(*equation)) {
            let fitting: Vec<&str> = Quantity::ALL
                .iter()
                .filter(|(_, other)| other.fits(equation))
                .map(|(word, _)| *word)
                .collect();
            let message = format!(
                "\"{}\" cannot be shown of {} scene",
                quantity.as_str(),
                article(equation)
            );
            self.found
                .value("view.quantity", message, format!("possible are {}", fitting.join(", ")));
        }
        if let Err(error) = crate::colormap::resolve(&given.colormap, quantity.map_kind()) {
            let remedy = "`ripplon list colormaps` shows them";
            self.found.value("view.colormap", error.to_string(), remedy);
        }
        if let ColorRange::Fixed(low, high) = given.range
            && !(low < high && low.is_finite() && high.is_finite())
        {
            let (low, high) = (super::super::write::float(low), super::super::write::float(high));
            let message = format!("{low} is not below {high}");
            self.found
                .value("view.range", message, "write [low, high], \"auto\" or \"locked\"");
        }
        if quantity == Quantity::Momentum && given.mode.rank() == Some(3) {
            let message = format!("momenta are shown as a plane, not as \"{}\"", given.mode.as_str());
            self.found
                .value("view.mode", message, "write \"plane\", or show another quantity");
        }
        for cover in given
            .cover
            .iter()
            .filter(|cover| !(cover.is_finite() && **cover >= 0.0))
        {
            let message = format!("{} is not a time from 0 on", super::super::write::float(*cover));
            self.found
                .value("view.cover", message, "write the time of the picture, or remove it");
        }
        if let Some(over) = given.over {
            self.positive("view.over", over);
            let of_means = matches!(quantity, Quantity::Rms | Quantity::Level | Quantity::Intensity);
            if !of_means && (given.flow == Flow::None || equation != Some(Equation::Acoustic)) {
                let message = format!("\"{}\" is not a mean over time", quantity.as_str());
                let remedy = "remove it, or show rms, level or intensity";
                self.found.key("view.over", message, remedy);
            }
        }
        if given.flow != Flow::None && self.file.grid.size.len() != 2 {
            let message = format!("\"{}\" are drawn over a scene of two dimensions", given.flow.as_str());
            let remedy = "remove it, or give `grid.size` two numbers";
            self.found.value("view.flow", message, remedy);
        }
        self.space(given);
        // The sites of a picture of momenta are wave numbers, not places.
        let region = self.region_shown(grid).filter(|_| quantity != Quantity::Momentum);
        View {
            quantity,
            colormap: given.colormap.clone(),
            range: given.range,
            brightness: given.brightness,
            mode: given.mode,
            camera: given.camera.unwrap_or_default(),
            slices: <[f64; 3]>::try_from(given.slices.clone()).ok(),
            opacity: given.opacity.clone(),
            shading: given.shading,
            cover: given.cover.clone(),
            over: given.over,
            flow: given.flow,
            plots: given.plots.clone(),
            region,
        }
    }

    /// The part that is shown at first, as the corners of a rectangle that has an extent.
    fn region_shown(&mut self, grid: Option<&Grid>) -> Option<[[f64; 2]; 2]> {
        let [min, max] = self.file.view.region.as_ref()?;
        let grid = grid?;
        if grid.rank() == 3 && self.file.view.mode != ViewMode::Plane {
            let message = "a box in space is shown as a whole";
            self.found
                .key("view.region", message, "use `view.camera`, or remove it");
            return None;
        }
        // Every plane of a box shows the same part: its corners need no place along z.
        let corner = |given: &Vec<f64>| {
            let mut at = given.clone();
            if grid.rank() == 3 && at.len() == 2 {
                at.push(0.0);
            }
            at
        };
        let (low, high) = (
            self.point("view.region.min", &corner(min), grid)?,
            self.point("view.region.max", &corner(max), grid)?,
        );
        for axis in 0..grid.rank().min(2) {
            if high[axis] - low[axis] < grid.spacing() {
                let message = "the part that is shown has less than a site";
                self.found.value(
                    format!("view.region.max.{axis}"),
                    message,
                    "make `max` larger than `min`",
                );
                return None;
            }
        }
        Some([[low[0], low[1]], [high[0], high[1]]])
    }

    /// The camera's path, in order of time.
    pub(super) fn cameras(&mut self) -> Vec<CameraKey> {
        let rank = self.file.grid.size.len();
        let mut keys = self.file.cameras.clone();
        if keys.is_empty() {
            return keys;
        }
        if self.file.view.mode == ViewMode::Plane {
            let message = "a camera goes round a relief, slices or a volume, and this scene is shown as a plane";
            let remedy = "write `mode` in [view], or remove [[camera]]";
            self.found.key("camera.0", message, remedy);
        }
        for (n, key) in self.file.cameras.iter().enumerate() {
            let path = format!("camera.{n}");
            self.not_negative(&format!("{path}.at"), key.at);
            limits(&mut self.found, &path, &key.orbit, rank);
            if rank == 2 && key.orbit.target.is_some() {
                let message = "a relief is looked at as a whole";
                self.found.value(format!("{path}.target"), message, "remove it");
            }
        }
        keys.sort_by(|a, b| a.at.total_cmp(&b.at));
        if keys.windows(2).any(|pair| pair[0].at == pair[1].at) {
            let message = "two keys of the camera have the same time";
            self.found.key("camera", message, "give each a time of its own");
        }
        // A path that looks at a point for a part of the time looks at the middle before and after it.
        if keys.iter().any(|key| key.orbit.target.is_some()) {
            let spacing = self.file.grid.spacing;
            let middle: Vec<f64> = (self.file.grid.size.iter())
                .map(|&sites| {
                    #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
                    let last = sites.saturating_sub(1) as f64;
                    last / 2.0 * spacing
                })
                .collect();
            if let [x, y, z] = middle[..] {
                for key in &mut keys {
                    key.orbit.target.get_or_insert([x, y, z]);
                }
            }
        }
        keys
    }

    /// What is wrong with the view of two or three dimensions.
    fn space(&mut self, given: &ViewFile) {
        let rank = self.file.grid.size.len();
        let is_own = self.grid_is_own;
        let found = &mut self.found;
        if !given.mode.fits(rank) {
            let (word, needs) = (given.mode.as_str(), given.mode.needs());
            let message = format!("\"{word}\" needs {needs}, and this one has {rank}");
            let numbers = if given.mode == ViewMode::Relief { "two" } else { "three" };
            let remedy = format!("write \"plane\", or give `grid.size` {numbers} numbers");
            found.value("view.mode", message, remedy);
        }
        if let Some(camera) = given.camera {
            if rank == 1 {
                let message = "needs a scene of two or three dimensions";
                found.value("view.camera", message, "remove it, or give `grid.size` more numbers");
            }
            if rank == 2 && camera.target.is_some() {
                let message = "a relief is looked at as a whole";
                found.value("view.camera.target", message, "remove it");
            }
            limits(found, "view.camera", &camera, rank);
        }
        if !given.slices.is_empty() && (rank != 3 || given.slices.len() != 3) {
            let message = format!(
                "{} where 3 belong in a scene of three dimensions",
                count(given.slices.len(), "number")
            );
            found.value(
                "view.slices",
                message,
                "write the lengths along x, y and z, e.g. [1.0, 1.0, 0.5]",
            );
        } else {
            let spacing = self.file.grid.spacing;
            let slices = given.slices.iter().zip(&self.file.grid.size).enumerate();
            for (axis, (at, sites)) in slices.filter(|_| is_own) {
                #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
                let last = sites.saturating_sub(1) as f64 * spacing;
                // Half a spacing of tolerance: the cells of the outermost sites reach that far.
                if !(-0.5 * spacing..=last + 0.5 * spacing).contains(at) {
                    let (at, last) = (super::super::write::float(*at), super::super::write::tidy_float(last));
                    let message = format!("{at} is outside the grid, which reaches from 0 to {last}");
                    found.value(
                        format!("view.slices.{axis}"),
                        message,
                        "choose a length within the grid",
                    );
                }
            }
        }
        if let Opacity::Points(points) = &given.opacity {
            let most = Opacity::MOST_POINTS;
            let inside = points.iter().flatten().all(|number| (0.0..=1.0).contains(number));
            let rising = points.windows(2).all(|pair| pair[0][0] <= pair[1][0]);
            if !(2..=most).contains(&points.len()) || !inside || !rising {
                let message = format!("this is not a curve of 2 to {most} points from 0 to 1 whose first numbers rise");
                let remedy =
                    "write pairs of size and opacity, e.g. [[0, 0], [0.1, 0], [1, 0.6]], or a preset in quotes";
                found.value("view.opacity", message, remedy);
            }
        }
    }
}

/// Notes the values of an orbit that are out of range.
fn limits(found: &mut Diagnostics, path: &str, orbit: &Orbit, rank: usize) {
    let mut within = |key: &str, value: f64, low: f64, high: f64| {
        if !(low..=high).contains(&value) {
            let value = super::super::write::float(value);
            let message = format!("{value} is not between {low} and {high}");
            found.value(format!("{path}.{key}"), message, "choose a value in between");
        }
    };
    within("azimuth", orbit.azimuth, -360.0, 360.0);
    // From below a relief shows nothing that it does not show from above.
    let lowest = if rank == 2 { Orbit::LOWEST_OVER_RELIEF } else { -90.0 };
    within("elevation", orbit.elevation, lowest, 90.0);
    within("zoom", orbit.zoom, 0.25, 40.0);
}

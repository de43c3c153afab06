//! Layers: shapes, values, drives, files.

use super::super::file::{LayerFile, ShapeFile, ValueFile};
use super::super::input;
use super::{Builder, article, count};
use crate::grid::Grid;
use crate::physics::attenuation::STEEPEST;
use crate::physics::layer::Samples;
use crate::physics::{Attenuation, Equation, Expression, Layer, Sets, Shape, Value, expression};
use std::sync::Arc;

/// The largest ratio of speeds and densities in one scene: absorbing layers form the fourth power of the ratio, a number in single precision.
const MOST_RATIO: f64 = 1e6;

/// The range of Z/ρc of absorbing walls: outside it they are rigid or soft to all digits.
const IMPEDANCE: [f64; 2] = [0.01, 1e6];

impl Builder<'_> {
    pub(super) fn layers(
        &mut self,
        equation: Option<Equation>,
        grid: Option<&Grid>,
        list: &str,
        given: &[LayerFile],
    ) -> Vec<Layer> {
        given
            .iter()
            .enumerate()
            .filter_map(|(index, layer)| self.layer(equation, grid, &format!("{list}.{index}"), layer))
            .collect()
    }

    fn layer(
        &mut self,
        equation: Option<Equation>,
        grid: Option<&Grid>,
        path: &str,
        given: &LayerFile,
    ) -> Option<Layer> {
        let key = |name: &str| format!("{path}.{name}");
        if let Some(equation) = equation.filter(|equation| !given.sets.fits(*equation)) {
            let fitting: Vec<&str> = Sets::ALL
                .iter()
                .filter(|(_, sets)| sets.fits(equation))
                .map(|(word, _)| *word)
                .collect();
            let message = format!(
                "\"{}\" is nothing that {} scene has",
                given.sets.as_str(),
                article(equation)
            );
            self.found
                .value(key("sets"), message, format!("possible are {}", fitting.join(", ")));
        }
        let drive = given.drive.as_ref().and_then(|text| {
            if given.sets != Sets::Potential {
                let message = format!(
                    "a layer that sets \"{}\" cannot be driven; only a potential can",
                    given.sets.as_str()
                );
                self.found.key(key("drive"), message, "remove it");
            }
            let parsed = self.formula(&key("drive"), text, expression::TIME)?;
            let start = parsed.eval(&[0.0]);
            if !start.is_finite() {
                let message = format!("it is {start} at t = 0");
                self.found.value(
                    key("drive"),
                    message,
                    "write a function that is finite for all t from 0",
                );
            }
            Some(parsed)
        });
        self.axis_of_bonds(path, given, grid);
        self.wall_pole(path, given);
        let shape = grid.and_then(|grid| self.shape(path, &given.shape, grid));
        let value = self.layer_value(path, given)?;
        let layer = Layer {
            sets: given.sets,
            axis: given.axis,
            shape: shape?,
            value,
            mode: given.mode,
            drive,
            pole: given.pole,
        };
        let good = self.samples(path, &layer, grid?);
        good.then_some(layer)
    }

    /// Notes faults of the attenuation law of a medium.
    pub(super) fn attenuation(&mut self, law: &Attenuation) {
        let key = |name: &str| format!("acoustic.attenuation.{name}");
        self.positive(&key("at"), law.at);
        self.not_negative(&key("value"), law.value);
        if !(0.0..=STEEPEST).contains(&law.exponent) {
            let shown = super::super::write::float(law.exponent);
            let message = format!("{shown} is not between 0 and {STEEPEST}");
            self.found
                .value(key("exponent"), message, "write e.g. 1.1, as of tissue");
        }
        let [low, high] = law.band;
        let ratio = high / low;
        if !(low > 0.0 && (1.5..=1e4).contains(&ratio)) {
            let message = "the band is two rising frequencies in Hz, 1.5 to 10 000 times apart";
            self.found.value(key("band"), message, "write e.g. [2.5e5, 4e6]");
        } else if !(low..=high).contains(&law.at) {
            let message = "the frequency `at` lies outside of it";
            self.found.value(key("band"), message, "let the band hold it");
        }
    }

    /// Notes faults of an impedance's dependence on the frequency, and an attenuation without a law.
    fn wall_pole(&mut self, path: &str, given: &LayerFile) {
        let law = self.file.acoustic.as_ref().and_then(|acoustic| acoustic.attenuation);
        if given.sets == Sets::Attenuation && law.is_none() {
            let message = "an attenuation follows a law of the frequency, and the scene has none";
            let remedy = "add e.g. `attenuation = { at = 1e6, value = 0.0, exponent = 1.1 }` under [acoustic]";
            self.found.key(format!("{path}.sets"), message, remedy);
        }
        let Some(pole) = given.pole else { return };
        if given.sets != Sets::Impedance {
            let message = format!(
                "a layer that sets \"{}\" is the same at all frequencies; only an impedance has `high` and `corner`",
                given.sets.as_str()
            );
            self.found
                .key(format!("{path}.high"), message, "remove `high` and `corner`");
            return;
        }
        self.positive(&format!("{path}.corner"), pole.corner);
        let [low, high] = IMPEDANCE;
        if !(low..=high).contains(&pole.high) {
            let shown = super::super::write::float(pole.high);
            let message =
                format!("{shown} is not the Z/ρc of an absorbing wall, which lies between {low} and {high:e}");
            self.found
                .value(format!("{path}.high"), message, "write e.g. 1, or 1e6 for a rigid wall");
        }
    }

    /// Notes a fault if the axis of a layer has no meaning.
    fn axis_of_bonds(&mut self, path: &str, given: &LayerFile, grid: Option<&Grid>) {
        let Some(axis) = given.axis else { return };
        let key = format!("{path}.axis");
        if given.sets != Sets::Hopping {
            let message = format!(
                "a layer that sets \"{}\" has no axis; only hopping does",
                given.sets.as_str()
            );
            self.found.key(key, message, "remove it");
        } else if let Some(rank) = grid.map(Grid::rank).filter(|rank| axis >= *rank) {
            let (name, _) = LayerFile::AXES[axis.min(2)];
            let message = format!(
                "the grid has {}, and none is {name}",
                if rank == 1 {
                    "one axis".to_owned()
                } else {
                    format!("{rank} axes")
                }
            );
            self.found.value(
                key,
                message,
                "write an axis that the grid has, or remove it for all of them",
            );
        }
    }

    pub(super) fn formula(&mut self, key: &str, text: &str, variables: &'static [&'static str]) -> Option<Expression> {
        match Expression::parse(text, variables) {
            Ok(parsed) => Some(parsed),
            Err(error) => {
                self.found.value(key, error.to_string(), error.remedy());
                if let Some(fault) = self.found.faults.last_mut() {
                    fault.within = error.place();
                }
                None
            }
        }
    }

    fn layer_value(&mut self, path: &str, given: &LayerFile) -> Option<Value> {
        let key = format!("{path}.value");
        match &given.value {
            None => {
                let own = matches!(given.shape, ShapeFile::Image { .. } | ShapeFile::Array { .. });
                if !own && given.sets != Sets::Wall {
                    self.found
                        .key(key, "is missing", "add e.g. `value = 0.35` or `value = \"0.1*x\"`");
                    return None;
                }
                Some(Value::Number(1.0))
            }
            Some(ValueFile::Number(number)) => {
                let number = *number;
                if !self.finite(&key, number) {
                    return None;
                }
                let shown = super::super::write::float(number);
                match given.sets {
                    Sets::Speed | Sets::Density => {
                        let good = self.ordinary(&key, number) && self.is_like_background(&key, given.sets, number);
                        good.then_some(Value::Number(number))
                    }
                    Sets::Impedance if !(IMPEDANCE[0]..=IMPEDANCE[1]).contains(&number) => {
                        let [low, high] = IMPEDANCE;
                        let message = format!(
                            "{shown} is not the Z/ρc of an absorbing wall, which lies between {low} and {high:e}"
                        );
                        self.found.value(key, message, "write e.g. 20, or 1e6 for a rigid wall");
                        None
                    }
                    Sets::Attenuation if number < 0.0 => {
                        let message = format!("{shown} is below 0, and would amplify without end");
                        self.found.value(key, message, "write 0 or a positive number");
                        None
                    }
                    Sets::Absorption if number < 0.0 => {
                        let message =
                            format!("{shown} is below 0, and a negative absorption would amplify without end");
                        self.found.value(key, message, "write 0 or a positive number");
                        None
                    }
                    _ => Some(Value::Number(number)),
                }
            }
            Some(ValueFile::Formula(text)) => {
                let found = self.formula(&key, text, expression::SPACE);
                if found.is_none()
                    && given.sets == Sets::Potential
                    && Expression::parse(text, expression::SPACE_AND_TIME).is_ok()
                    && let Some(fault) = self.found.faults.last_mut()
                {
                    // The time is all that it lacks.
                    fault.remedy = format!(
                        "a value does not depend on t: write the factor that does as `drive`, e.g. `drive = \"sin(t)\"`; {}",
                        fault.remedy
                    );
                }
                found.map(Value::Expression)
            }
        }
    }

    /// The range of speeds or densities of layers, given the scene's own: methods use the ratio of the two.
    fn span(&self, sets: Sets) -> [f64; 2] {
        let most = self.largest();
        let acoustic = self.file.acoustic.as_ref();
        let background = acoustic.map(|own| if sets == Sets::Density { own.density } else { own.speed });
        match background.filter(|own| (1.0 / most..=most).contains(own)) {
            Some(own) => [(own / MOST_RATIO).max(1.0 / most), (own * MOST_RATIO).min(most)],
            None => [1.0 / most, most],
        }
    }

    /// Notes a fault if a layer's number is too far from the scene's own.
    fn is_like_background(&mut self, key: &str, sets: Sets, number: f64) -> bool {
        let [low, high] = self.span(sets);
        let good = (low..=high).contains(&number);
        if !good {
            let shown = super::super::write::float(number);
            let message = format!(
                "{shown} is not between {low:e} and {high:e}, a millionth and a million times the value under [acoustic]"
            );
            self.found
                .value(key, message, "choose numbers nearer to each other, or a wall");
        }
        good
    }

    fn shape(&mut self, path: &str, given: &ShapeFile, grid: &Grid) -> Option<Shape> {
        let key = |name: &str| format!("{path}.{name}");
        let rank = grid.rank();
        Some(match given {
            ShapeFile::Everywhere => Shape::Everywhere,
            ShapeFile::Box { min, max } => {
                let (min, max) = self.corners(&key("min"), min, &key("max"), max, rank)?;
                Shape::Box { min, max }
            }
            ShapeFile::Disk { center, radius } => {
                let center = self.vector(&key("center"), center, rank);
                let good = self.positive(&key("radius"), *radius);
                Shape::Disk {
                    center: center.filter(|_| good)?,
                    radius: *radius,
                }
            }
            ShapeFile::Ring { center, inner, outer } => {
                let center = self.vector(&key("center"), center, rank);
                self.not_negative(&key("inner"), *inner);
                let good = self.positive(&key("outer"), *outer);
                if good && inner >= outer {
                    let (inner, outer) = (super::super::write::float(*inner), super::super::write::float(*outer));
                    let message = format!("{inner} is not below the outer radius {outer}");
                    self.found.value(key("inner"), message, "choose inner < outer");
                    return None;
                }
                Shape::Ring {
                    center: center.filter(|_| good)?,
                    inner: *inner,
                    outer: *outer,
                }
            }
            ShapeFile::Polygon { points } => Shape::Polygon {
                points: self.points(path, "a polygon", points, 3, rank)?,
            },
            ShapeFile::Stroke { points, radius } => {
                let good = self.positive(&key("radius"), *radius);
                let points = self.points(path, "a stroke", points, 1, rank);
                Shape::Stroke {
                    points: points.filter(|_| good)?,
                    radius: *radius,
                }
            }
            ShapeFile::Slits {
                x,
                thickness,
                centers,
                opening,
            } => {
                if rank == 1 {
                    let message = "slits need a grid of at least two axes";
                    self.found.value(key("shape"), message, "use shape = \"box\"");
                    return None;
                }
                let mut good = self.finite(&key("x"), *x);
                good &= self.positive(&key("thickness"), *thickness);
                good &= self.positive(&key("opening"), *opening);
                for (index, center) in centers.iter().enumerate() {
                    good &= self.finite(&format!("{}.{index}", key("centers")), *center);
                }
                good.then(|| Shape::Slits {
                    x: *x,
                    thickness: *thickness,
                    centers: centers.clone(),
                    opening: *opening,
                })?
            }
            ShapeFile::Image { file } => {
                let samples = input::read_image(&self.base.join(file), file);
                Shape::Image(self.samples_or_fault(&key("file"), samples)?)
            }
            ShapeFile::Array { file } => {
                if !self.grid_is_own {
                    return None;
                }
                let samples = input::read_samples(&self.base.join(file), file, grid);
                Shape::Array(self.samples_or_fault(&key("file"), samples)?)
            }
        })
    }

    /// The points of a figure in the plane: at least `least`, finite, on a grid that has a plane.
    fn points(
        &mut self,
        path: &str,
        figure: &str,
        points: &[[f64; 2]],
        least: usize,
        rank: usize,
    ) -> Option<Vec<[f64; 2]>> {
        let key = format!("{path}.points");
        if rank == 1 {
            let message = format!("{figure} needs a grid of at least two axes");
            self.found
                .value(format!("{path}.shape"), message, "use shape = \"box\"");
        } else if points.len() < least {
            let message = format!("{} make no {}", count(points.len(), "point"), &figure[2..]);
            self.found
                .value(key, message, format!("write at least {}", count(least, "point")));
        } else if points.iter().flatten().any(|number| !number.is_finite()) {
            self.found.value(key, "a coordinate is not finite", "write numbers");
        } else {
            return Some(points.to_vec());
        }
        None
    }

    fn samples_or_fault(&mut self, key: &str, samples: Result<Samples, input::InputError>) -> Option<Arc<Samples>> {
        match samples {
            Ok(samples) => Some(Arc::new(samples)),
            Err(error) => {
                self.found.value(key, error.to_string(), error.remedy());
                None
            }
        }
    }

    pub(super) fn corners(
        &mut self,
        min_key: &str,
        min: &[f64],
        max_key: &str,
        max: &[f64],
        rank: usize,
    ) -> Option<([f64; 3], [f64; 3])> {
        let min = self.vector(min_key, min, rank);
        let max = self.vector(max_key, max, rank);
        let (min, max) = min.zip(max)?;
        for axis in 0..rank {
            if min[axis] > max[axis] {
                let (low, high) = (
                    super::super::write::float(min[axis]),
                    super::super::write::float(max[axis]),
                );
                let name = ["x", "y", "z"][axis];
                let message = format!("{high} is below the lower corner's {low} along {name}");
                self.found
                    .value(format!("{max_key}.{axis}"), message, "exchange the two");
                return None;
            }
        }
        Some((min, max))
    }

    /// Checks a layer's values at every site of its shape: each must be finite, and positive if required.
    fn samples(&mut self, path: &str, layer: &Layer, grid: &Grid) -> bool {
        let sampled = matches!(layer.shape, Shape::Image(_) | Shape::Array(_));
        if (!sampled && matches!(layer.value, Value::Number(_))) || !self.grid_is_own {
            return true;
        }
        let most = self.largest();
        let [low, high] = self.span(layer.sets);
        let limit = |level: f64| match layer.sets {
            _ if !level.is_finite() => Some("a finite number".to_owned()),
            Sets::Speed | Sets::Density if level <= 0.0 => Some("greater than 0".to_owned()),
            Sets::Speed | Sets::Density if !(low..=high).contains(&level) => {
                Some(format!("between {low:e} and {high:e}"))
            }
            Sets::Impedance if !(IMPEDANCE[0]..=IMPEDANCE[1]).contains(&level) => {
                Some(format!("between {} and {:e}", IMPEDANCE[0], IMPEDANCE[1]))
            }
            Sets::Absorption | Sets::Attenuation if level < 0.0 => Some("at least 0".to_owned()),
            _ if level.abs() > most => Some(format!("at most {most:e}")),
            _ => None,
        };
        let Some((site, level)) = layer.find_level(grid, |level| limit(level).is_some()) else {
            return true;
        };
        let limit = limit(level).unwrap_or_default();
        let shown = super::super::write::float(level);
        let message = format!("it is {shown} at site {:?}, and must be {limit}", &site[..grid.rank()]);
        let (key, remedy) = if matches!(layer.value, Value::Expression(_)) {
            (
                "value",
                "change the formula so that it holds at every site of the shape",
            )
        } else {
            ("file", "change the file, or the value that it is multiplied by")
        };
        self.found.value(format!("{path}.{key}"), message, remedy);
        false
    }
}

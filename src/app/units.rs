//! Units of the numbers that the window shows: none in quantum scenes (ħ = 1 and any length), SI in acoustic ones, with the
//! prefix that fits the scene.

use super::widgets::figure;
use crate::engine::maps::wave_number;
use crate::physics::Model;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;

/// One unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its name; empty where there is none.
    pub name: &'static str,
    /// How many of it are one of the scene file's.
    pub per: f64,
}

/// No unit.
pub const NONE: Unit = Unit { name: "", per: 1.0 };

impl Unit {
    /// A value with the unit.
    #[must_use]
    pub fn show(self, value: f64, digits: usize) -> String {
        format!("{}{}", figure(value * self.per, digits), self.suffix())
    }

    /// A number typed with or without the unit, in the scene file's unit.
    #[must_use]
    pub fn parse(self, text: &str) -> Option<f64> {
        let text = text.trim();
        let number = text.strip_suffix(self.name).unwrap_or(text);
        let number: f64 = number.trim().replace('−', "-").parse().ok()?;
        Some(number / self.per)
    }

    /// The unit behind a number.
    #[must_use]
    pub fn suffix(self) -> String {
        if self.name.is_empty() {
            String::new()
        } else {
            format!(" {}", self.name)
        }
    }

    /// The unit behind the name of a quantity.
    #[must_use]
    pub fn after(self, quantity: &str) -> String {
        if self.name.is_empty() {
            quantity.to_owned()
        } else {
            format!("{quantity} ({})", self.name)
        }
    }
}

/// The units of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// Of lengths.
    pub length: Unit,
    /// Of times.
    pub time: Unit,
}

impl Units {
    /// The units of `scenario`, which is stepped by `time_step`.
    #[must_use]
    pub fn of(scenario: &Scenario, time_step: f64) -> Self {
        if matches!(scenario.model(), Model::Quantum(_)) {
            return Self {
                length: NONE,
                time: NONE,
            };
        }
        let grid = scenario.grid();
        let longest = grid.size().into_iter().max().unwrap_or(1) as f64 * grid.spacing();
        // Times of interest are some hundred steps long.
        let time = 100.0 * time_step.abs();
        Self {
            length: pick(longest, ["m", "mm", "µm", "nm"]),
            time: pick(time, ["s", "ms", "µs", "ns"]),
        }
    }
}

/// What the sites along an axis of a picture stand for: lengths, or momenta where the picture shows |ψ(k)|².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Along {
    /// The name of the axis.
    pub name: &'static str,
    /// The unit of what `at` gives.
    pub unit: Unit,
    /// The value of site 0.
    first: f64,
    /// From site to site.
    step: f64,
}

impl Along {
    /// The axis of a picture of `quantity`; `length` is the unit of lengths.
    #[must_use]
    pub fn of(scenario: &Scenario, quantity: Option<Quantity>, axis: usize, length: Unit) -> Self {
        let grid = scenario.grid();
        if quantity == Some(Quantity::Momentum) {
            let first = wave_number(grid, axis, 0.0);
            return Self {
                name: ["kx", "ky", "kz"][axis],
                unit: NONE,
                first,
                step: wave_number(grid, axis, 1.0) - first,
            };
        }
        Self {
            name: ["x", "y", "z"][axis],
            unit: length,
            first: 0.0,
            step: grid.spacing(),
        }
    }

    /// The value at a site, in the scene file's unit.
    #[must_use]
    pub fn at(self, site: f64) -> f64 {
        self.first + self.step * site
    }

    /// The site of a value.
    #[must_use]
    pub fn site(self, value: f64) -> f64 {
        (value - self.first) / self.step
    }

    /// From site to site.
    #[must_use]
    pub fn step(self) -> f64 {
        self.step
    }

    /// Its name with the unit.
    #[must_use]
    pub fn title(self) -> String {
        self.unit.after(self.name)
    }
}

/// The largest unit of which `size` is at least one.
fn pick(size: f64, names: [&'static str; 4]) -> Unit {
    let mut per = 1.0;
    for name in names {
        if size * per >= 0.999 || name == names[3] || size == 0.0 {
            return Unit { name, per };
        }
        per *= 1e3;
    }
    NONE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_get_the_unit_that_fits() {
        let lengths = ["m", "mm", "µm", "nm"];
        assert_eq!(pick(68.6, lengths).name, "m");
        assert_eq!(pick(1.0, lengths).name, "m");
        assert_eq!(pick(0.02, lengths).show(0.0123, 3), "12.3 mm");
        assert_eq!(pick(1e-12, lengths).name, "nm");
        assert_eq!(NONE.after("x"), "x");
        let micro = Unit { name: "µs", per: 1e6 };
        assert_eq!(micro.parse(" 2.5 µs"), micro.parse("2.5"));
        assert!(micro.parse("2.5").is_some_and(|value| (value - 2.5e-6).abs() < 1e-20));
        assert_eq!(NONE.parse("−3"), Some(-3.0));
        assert_eq!(pick(5e-3, ["s", "ms", "µs", "ns"]).after("t"), "t (ms)");
    }
}

//! Units of the numbers that the window shows and reads, and of the axes of its pictures.

use super::widgets::{figure, typed};
use crate::engine::maps::wave_number;
pub use crate::export::units::{NONE, Unit, Units};
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;

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
        let number: f64 = typed(number.trim()).parse().ok()?;
        Some(number / self.per)
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

    /// Digits that tell neighbours among so many sites apart; at least four.
    #[must_use]
    pub fn digits(self, sites: usize) -> usize {
        let largest = self.first.abs().max(self.at(sites as f64).abs());
        let apart = (largest / self.step.abs()).max(1.0);
        (apart.log10().floor() as usize + 2).clamp(4, 9)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_on_long_lines_are_told_apart() {
        let along = |step: f64| Along {
            name: "x",
            unit: NONE,
            first: 0.0,
            step,
        };
        let long = along(0.5);
        let shown = |site: f64| long.unit.show(long.at(site), long.digits(262_144));
        assert_eq!([shown(262_143.0), shown(262_142.0)], ["131071.5", "131071"]);
        assert_eq!([along(1.0).digits(512), along(0.01).digits(96)], [4, 4]);
    }

    #[test]
    fn values_are_shown_and_typed_with_their_unit() {
        let milli = Unit { name: "mm", per: 1e3 };
        assert_eq!(milli.show(0.0123, 3), "12.3 mm");
        let micro = Unit { name: "µs", per: 1e6 };
        assert_eq!(micro.parse(" 2.5 µs"), micro.parse("2.5"));
        assert!(micro.parse("2.5").is_some_and(|value| (value - 2.5e-6).abs() < 1e-20));
        assert_eq!(NONE.parse("−3"), Some(-3.0));
    }
}

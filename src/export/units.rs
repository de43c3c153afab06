//! Units of the numbers that pictures and window show: none in quantum scenes (ħ = 1 and any length), SI in acoustic ones, with the
//! prefix that fits the scene.

use super::ticks::number;
use crate::physics::Equation;
use crate::scene::Scenario;
use crate::units::clock_decimals;

/// One unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its name; empty if there is none.
    pub name: &'static str,
    /// How many of it make one unit of the scene file.
    pub per: f64,
}

/// No unit.
pub const NONE: Unit = Unit { name: "", per: 1.0 };

impl Unit {
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
        if scenario.model().equation() == Equation::Schrodinger {
            return Self {
                length: NONE,
                time: NONE,
            };
        }
        let grid = scenario.grid();
        #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
        let longest = grid.size().into_iter().max().unwrap_or(1) as f64 * grid.spacing();
        // Where a scene has no end, times of interest are some hundred steps long.
        let time = scenario.time().end.unwrap_or(100.0 * time_step.abs());
        Self {
            length: pick(longest, ["m", "mm", "µm", "nm"]),
            time: pick(time, ["s", "ms", "µs", "ns"]),
        }
    }

    /// A time with its unit, as the clock of a run shows it whose steps have this size.
    #[must_use]
    pub fn clock(self, t: f64, time_step: f64) -> String {
        let decimals = clock_decimals((time_step * self.time.per).abs());
        format!("{}{}", number(t * self.time.per, decimals), self.time.suffix())
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
        assert_eq!(pick(0.02, lengths), Unit { name: "mm", per: 1e3 });
        assert_eq!(pick(1e-12, lengths).name, "nm");
        assert_eq!(NONE.after("x"), "x");
        assert_eq!(pick(5e-3, ["s", "ms", "µs", "ns"]).after("t"), "t (ms)");
    }

    #[test]
    fn times_have_the_unit_and_the_decimals_of_the_clock() {
        let milliseconds = Units {
            length: NONE,
            time: pick(4e-3, ["s", "ms", "µs", "ns"]),
        };
        assert_eq!(milliseconds.clock(0.00296, 2e-6), "2.960 ms");
        let none = Units {
            length: NONE,
            time: NONE,
        };
        assert_eq!(none.clock(224.4, 0.05), "224.40");
    }
}

//! Whole-field quantities that plots, summaries and CSV files show.

use super::{Equation, Measure};

/// Sums over the whole field, taken in double precision. Lengths in the scene's unit; axes that the grid lacks are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Observables {
    /// Quantum: Σ|ψ|² a^d. Acoustic: Σp² a^d.
    pub norm: f64,
    /// Quantum: ⟨H⟩/⟨ψ|ψ⟩ (with the nonlinear term's g/2|ψ|⁴). Acoustic: ∫ p²/2ρc² + ρv²/2 in J (per metre in 2D, per square metre in 1D); NaN if the run does not keep the velocity.
    pub energy: f64,
    /// Acoustic: what a closed run without sources conserves and is known without the velocity, ½ Σ p_t²/ρc² + ½ Σ (∂p)²/ρ in J/s² (per metre …). Quantum: 0.
    pub invariant: f64,
    /// ⟨x⟩, ⟨y⟩, ⟨z⟩, weighted with |ψ|² or p².
    pub position: [f64; 3],
    /// Standard deviation along each axis, with the same weight.
    pub spread: [f64; 3],
    /// Largest |ψ|² or |p|.
    pub peak: f64,
}

impl Observables {
    /// Column names of `--observables`, after `step` and `t`.
    pub fn columns(_equation: Equation, rank: usize) -> Vec<&'static str> {
        let mut names = vec!["norm", "energy"];
        names.extend(&["x", "y", "z"][..rank]);
        names.extend(&["spread_x", "spread_y", "spread_z"][..rank]);
        names.push("peak");
        names
    }

    /// The unit of a column in scenes of sound; those of ψ have none, and what is no column has none here.
    pub fn unit(equation: Equation, rank: usize, name: &str) -> &'static str {
        if equation == Equation::Schrodinger || !Self::columns(equation, rank).contains(&name) {
            return "";
        }
        match name {
            "norm" => Measure::Probability.unit(equation, rank),
            "energy" => Measure::Energy.unit(equation, rank),
            "peak" => Measure::Peak.unit(equation, rank),
            _ => "m",
        }
    }

    /// The header of a table of them: the names, those of sound with their units.
    pub fn headers(equation: Equation, rank: usize) -> Vec<String> {
        let header = |name: &str| match Self::unit(equation, rank, name) {
            "" => name.to_owned(),
            unit => format!("{name} ({unit})"),
        };
        Self::columns(equation, rank).into_iter().map(header).collect()
    }

    /// The same as users are told them: ⟨H⟩/⟨ψ|ψ⟩ of a ψ that is 0 everywhere is no number. (The energy of silence is 0.)
    #[must_use]
    pub fn told(mut self, equation: Equation) -> Self {
        if self.norm == 0.0 && equation == Equation::Schrodinger {
            self.energy = f64::NAN;
        }
        self
    }

    /// The values of those columns; NaN for the place and the spread of a field that is 0 everywhere, which has none.
    pub fn values(&self, rank: usize) -> Vec<f64> {
        let mut values = vec![self.norm, self.energy];
        let of_places = self.position[..rank].iter().chain(&self.spread[..rank]);
        values.extend(of_places.map(|value| if self.norm == 0.0 { f64::NAN } else { *value }));
        values.push(self.peak);
        values
    }

    /// One of [`Observables::columns`] by name.
    pub fn by_name(&self, name: &str) -> Option<f64> {
        let all = Self::columns(Equation::Schrodinger, 3);
        let place = all.iter().position(|column| *column == name)?;
        Some(self.values(3)[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is nowhere; what is there is where it is, at 0 too.
    #[test]
    fn a_field_of_zeros_has_no_place() {
        let silent = Observables::default();
        assert_eq!(silent.by_name("norm"), Some(0.0));
        assert_eq!(silent.by_name("peak"), Some(0.0));
        for name in ["x", "y", "z", "spread_x", "spread_z"] {
            assert!(silent.by_name(name).is_some_and(f64::is_nan), "{name}");
        }
        assert_eq!(silent.told(Equation::Acoustic).by_name("energy"), Some(0.0));
        let of_nothing = silent.told(Equation::Schrodinger);
        assert!(of_nothing.by_name("energy").is_some_and(f64::is_nan));
        let there = Observables { norm: 1e-300, ..silent };
        assert_eq!(
            there.told(Equation::Schrodinger).values(1),
            [1e-300, 0.0, 0.0, 0.0, 0.0]
        );
    }
}

//! Which levels have one energy.

use super::Hamiltonian;

/// What rounding does to an energy, in ε of the numbers that it is a sum of, beside that of sums over sites.
const ROUNDED: f64 = 64.0;

/// Residuals that rounding leaves, in ε of the same numbers.
const FLOOR: f64 = 16.0;

/// Ritz values in rising order with their residuals, as far as they tell energies apart.
pub(super) struct Energies<'a> {
    values: &'a [f64],
    residuals: &'a [f64],
    /// Residuals count up to this one: vectors in addition to the wanted ones have hardly converged, and those of the last energy as far as it.
    most: f64,
    /// [`Hamiltonian::reach`].
    reach: f64,
    /// √ of the number of sites: sums over them are rounded so many times.
    root: f64,
}

impl<'a> Energies<'a> {
    /// Those of a search for `wanted` levels.
    pub(super) fn new(hamiltonian: &Hamiltonian, wanted: usize, values: &'a [f64], residuals: &'a [f64]) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
        let root = (hamiltonian.sites() as f64).sqrt();
        Self {
            values,
            residuals,
            most: residuals[..wanted].iter().copied().fold(0.0, f64::max),
            reach: hamiltonian.reach(),
            root,
        }
    }

    /// Whether two of them may be one energy.
    pub(super) fn same(&self, a: usize, b: usize) -> bool {
        (self.values[a] - self.values[b]).abs() <= self.tolerance(a, b)
    }

    /// The largest distance of two Ritz values that may be one energy.
    pub(super) fn tolerance(&self, a: usize, b: usize) -> f64 {
        self.off(a, b) + self.rounded(a, b)
    }

    /// Which of the first `wanted` have residuals below `goal`, or as small as rounding lets them become, and are told apart from their neighbours or known to be one with them. (Where a few sites have a potential far above or
    /// below the others, a share of the spectrum's width may be more than levels elsewhere are apart.)
    pub(super) fn converged(&self, wanted: usize, goal: f64) -> Vec<bool> {
        let told = |n: usize, other: usize| {
            let gap = (self.values[n] - self.values[other]).abs();
            gap <= self.rounded(n, other) || gap >= 2.0 * self.off(n, other)
        };
        let is_done = |n: usize| {
            let residual = self.residuals[n];
            let neighbours = [n.checked_sub(1), (n + 1 < self.values.len()).then_some(n + 1)];
            let size = self.size(n, n);
            let sharp = residual <= super::TOLERANCE * size;
            // Far from 0, energies have fewer digits than the width of the spectrum asks for.
            let goal = goal.max(FLOOR * f64::EPSILON * size);
            residual <= goal && (sharp || neighbours.into_iter().flatten().all(|other| told(n, other)))
        };
        (0..wanted).map(is_done).collect()
    }

    /// How far two that are one energy can be apart but for rounding: each is off by no more than its residual r, and by no more than r²/δ where the next other energy is δ away (Saad 2011,
    /// section 3.2). Four times that, as energies beyond those at hand are not known.
    fn off(&self, a: usize, b: usize) -> f64 {
        let [low, high] = [self.values[a].min(self.values[b]), self.values[a].max(self.values[b])];
        let [r, s] = [a, b].map(|n| self.residuals[n].min(self.most));
        let away = self.values.iter().map(|other| (low - other).max(other - high));
        let next = away.filter(|away| *away > r + s).fold(f64::INFINITY, f64::min);
        if next.is_finite() {
            (r + s).min(4.0 * (r * r + s * s) / next)
        } else {
            r + s
        }
    }

    /// What rounding may leave between two that are one energy.
    fn rounded(&self, a: usize, b: usize) -> f64 {
        f64::EPSILON * (ROUNDED + self.root) * self.size(a, b)
    }

    /// The numbers that an energy is a sum of: up to twice the band, and the potential where the state is.
    fn size(&self, a: usize, b: usize) -> f64 {
        self.values[a].abs().max(self.values[b].abs()) + 2.0 * self.reach
    }
}

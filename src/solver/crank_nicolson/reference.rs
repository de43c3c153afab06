//! The energy E₀(t) that steps of a line in real time are taken relative to, and the phase that it turns ψ by.
//!
//! A Cayley factor compresses energies by their distance from zero, so that a constant added to the potential would change |ψ|². Steps therefore have H − E₀, and the field
//! that is kept is χ = e^{iΦ}ψ, Φ = ∫E₀ dt: ψ = e^{−iΦ}χ is made where somebody reads ψ itself. E₀(t) = m + Σ mₙ fₙ(t) with the median m of the static potential, and of
//! each driven part: it follows from scene and time alone, moves with a constant that is added to any part, and is that of free space where most of the line is free.
//! Φ counts drives at the middle of every step, as the steps do, from where Δt was set last.

use crate::physics::{Expression, Medium};
use crate::scene::Scenario;
use crate::solver::clock::RunClock;

/// Sites of a line that are looked at together.
const RUN: usize = 64;
/// Most of such runs; longer lines are looked at in as many, at equal distances.
const RUNS: usize = 1024;

/// E₀(t), and Φ as far as it has been counted.
#[derive(Clone, Default)]
pub(super) struct Reference {
    /// The median of the static potential.
    pub still: f64,
    /// Of each driven part, in the order of the medium's drives.
    pub driven: Vec<f64>,
    /// Drives of which it is not zero, with it.
    turning: Vec<(Expression, f64)>,
    counted: Option<Counted>,
}

/// Σ of the drives' share over steps of one length.
#[derive(Clone, Copy)]
struct Counted {
    /// Time and steps from which it was counted.
    base: (f64, u64),
    time_step: f64,
    /// Steps that it has.
    steps: u64,
    sum: f64,
}

impl Reference {
    /// That of a scenario, of a window that of the line it is a part of; zero on a plane, whose potential acts as a phase, and in imaginary time.
    pub(super) fn of(scenario: &Scenario) -> Self {
        let grid = scenario.grid();
        if grid.rank() > 1 || scenario.time().imaginary {
            return Self::default();
        }
        let whole;
        let medium = if grid.is_window() {
            whole = scenario.medium().over(grid.whole());
            &whole
        } else {
            scenario.medium()
        };
        let drives = medium.drives();
        let driven: Vec<f64> = (0..drives.len()).map(|n| median(medium, Some(n))).collect();
        let turning = drives.iter().cloned().zip(driven.iter().copied());
        Self {
            still: median(medium, None),
            turning: turning.filter(|(_, middle)| *middle != 0.0).collect(),
            driven,
            counted: None,
        }
    }

    /// Whether E₀ is always zero.
    pub(super) fn is_zero(&self) -> bool {
        self.still == 0.0 && self.turning.is_empty()
    }

    /// E₀ at a time.
    pub(super) fn at(&self, time: f64) -> f64 {
        let driven = self.turning.iter().map(|(drive, middle)| middle * drive.eval(&[time]));
        self.still + driven.sum::<f64>()
    }

    /// Φ at the time of a clock: the same number whether it was asked for before or not.
    pub(super) fn angle(&mut self, clock: &RunClock) -> f64 {
        let still = self.still * clock.time();
        if self.turning.is_empty() {
            return still;
        }
        let (base, time_step) = (clock.base(), clock.time_step());
        let goes_on = |counted: &Counted| {
            counted.base == base && counted.time_step == time_step && counted.steps <= clock.steps()
        };
        let mut counted = self.counted.filter(goes_on).unwrap_or(Counted {
            base,
            time_step,
            steps: base.1,
            sum: 0.0,
        });
        while counted.steps < clock.steps() {
            #[expect(clippy::cast_precision_loss, reason = "steps stay below 2^52")]
            let middle = base.0 + ((counted.steps - base.1) as f64 + 0.5) * time_step;
            counted.sum += self.at(middle) - self.still;
            counted.steps += 1;
        }
        self.counted = Some(counted);
        still + counted.sum * time_step
    }
}

/// The median of a part of a line's potential where no wall stands; 0 where none is finite.
fn median(medium: &Medium, drive: Option<usize>) -> f64 {
    let sites = medium.grid().size()[0];
    let apart = sites.div_ceil(RUNS * RUN) * RUN;
    let (mut potential, mut walls) = ([0.0; RUN], [false; RUN]);
    let mut values = Vec::new();
    for first in (0..sites).step_by(apart) {
        let x = first..(first + RUN).min(sites);
        let (potential, walls) = (&mut potential[..x.len()], &mut walls[..x.len()]);
        medium.potential_row(drive, 0, 0, x.clone(), potential);
        medium.wall_row(0, 0, x, walls);
        let open = potential.iter().zip(&*walls).filter(|(_, wall)| !**wall);
        values.extend(open.map(|(value, _)| *value).filter(|value| value.is_finite()));
    }
    if values.is_empty() {
        return 0.0;
    }
    let (above, even) = (values.len() / 2, values.len().is_multiple_of(2));
    let (below, middle, _) = values.select_nth_unstable_by(above, f64::total_cmp);
    if even {
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        lower / 2.0 + *middle / 2.0
    } else {
        *middle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::read_scene_text;

    fn reference(edges: &str, layers: &str) -> Reference {
        let text = format!(
            "format = 1\n[grid]\nsize = [100]\nspacing = 1.0\nedges = \"{edges}\"\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.1\n\
             [solver]\nmethod = \"crank-nicolson\"\n[[packet]]\ncenter = 50.0\nwidth = 5.0\n{layers}"
        );
        let (_, scenario) =
            read_scene_text(&text, None, &[]).unwrap_or_else(|faults| panic!("{}", faults.render(false)));
        Reference::of(&scenario)
    }

    fn layer(value: &str, more: &str) -> String {
        format!("[[layer]]\nsets = \"potential\"\nvalue = \"{value}\"\nmode = \"add\"\n{more}\n")
    }

    /// Where most of the line is free it is the energy there, whatever stands on the rest; it moves with what is added everywhere, and a wall does not count.
    #[test]
    fn the_reference_is_the_median() {
        let barrier = layer("1e6", "shape = \"box\"\nmin = [20.0]\nmax = [50.0]");
        assert_eq!(reference("wall", &barrier).at(3.0), 0.0);
        let both = format!("{barrier}{}", layer("5000", ""));
        assert_eq!(reference("wall", &both).at(3.0), 5000.0);
        let ramp = layer("x", "");
        let middle = reference("wall", &ramp).at(0.0);
        assert!((middle - 49.5).abs() <= 0.5, "{middle}");
        let wall = format!("{ramp}[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [0.0]\nmax = [49.0]\n");
        let open = reference("wall", &wall).at(0.0);
        assert!((open - 74.5).abs() <= 1.0, "{open}");
    }

    /// Φ is the sum over the middles of steps, the same asked for in parts or at once, and begins again where Δt changes.
    #[test]
    fn the_phase_follows_from_the_clock_alone() {
        let layers = format!("{}{}", layer("3", ""), layer("2", "drive = \"sin(t)\""));
        let mut often = reference("wall", &layers);
        let clock = RunClock::new(0.01);
        for steps in (0..=1000).step_by(7) {
            often.angle(&clock.after(steps));
        }
        let later = clock.after(1000);
        let once = reference("wall", &layers).angle(&later);
        assert_eq!(often.angle(&later).to_bits(), once.to_bits());
        let exact = 3.0 * 10.0 + 2.0 * (1.0 - 10.0_f64.cos());
        // The midpoint rule: Δt²/24 of the change of the slope.
        assert!((once - exact).abs() < 2.0 * 0.01_f64.powi(2) / 12.0, "{once} {exact}");
        assert_eq!(often.angle(&later.with_step(0.02)), 3.0 * later.time());
    }
}

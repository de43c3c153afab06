//! What the presets with bonds or walls of their own predict: the lattice propagated exactly, held against closed forms.

use super::{lattice, quantum, within};
use ripplon::physics::reference::{Lattice, initial_state};
use ripplon::scene::Scenario;

pub(super) fn predict(name: &str, scenario: &Scenario, at: &[f64]) -> Option<Vec<f64>> {
    match name {
        "ssh" => Some(ssh(scenario, at[0])),
        "two-particles" => Some(super::pairs::two_particles(scenario, at[0])),
        "vortex" => Some(super::condensate::vortex(scenario)),
        "vortex-lattice" => Some(super::condensate::vortex_lattice(scenario)),
        "foucault" => Some(super::condensate::foucault(scenario, at)),
        "interaction-step" => Some(super::condensate::interaction_step(scenario)),
        "stadium" => Some(stadium(scenario, at[0])),
        "aharonov-bohm" => Some(aharonov_bohm(scenario, at[0])),
        _ => None,
    }
}

/// Chains of v/w = ½ and 3/2, and what the edge state (−v/w)ⁿ on the sites 2n says about the first.
fn ssh(scenario: &Scenario, time: f64) -> Vec<f64> {
    let psi = lattice(scenario).propagate(&initial_state(scenario.grid(), scenario.initial()), time);
    let ratio: f64 = 0.5;
    let held = 1.0 - ratio.powi(2);
    let first_ten = |row: usize| within(scenario, &psi, 0..10, row..row + 1);
    let values = vec![within(scenario, &psi, 0..1, 20..21), first_ten(20), first_ten(60)];
    // The edge state holds `held` of the first site, and stands there with as much. What else is there are ripples of the band, which fall as t^−3/2.
    let edge = [held * held / 81.0, held * (1.0 - ratio.powi(10)) / 81.0];
    for (value, edge) in values.iter().zip(edge) {
        assert!((value / edge - 1.0).abs() < 0.01, "{value} is far from {edge}");
    }
    assert!(values[2] < 1e-3 * values[1]);
    values
}

/// Half a flux quantum: the sum and the difference of what two slits send, on the axis and beside it. Edges that do not absorb
/// change what is there at t = 150 by a thousandth (the packet's rim touches them), and leave a series of polynomials instead of one in powers.
fn aharonov_bohm(scenario: &Scenario, time: f64) -> Vec<f64> {
    let closed = Lattice::new(scenario.grid(), &quantum(scenario), scenario.medium(), 0.0);
    let psi = closed.propagate(&initial_state(scenario.grid(), scenario.initial()), time);
    let values = vec![
        within(scenario, &psi, 300..341, 126..130),
        within(scenario, &psi, 300..341, 138..142),
    ];
    assert!(values[0] < 0.2 * values[1], "the middle is not dark: {values:?}");
    values
}

/// A wave that has forgotten where it came from.
fn stadium(scenario: &Scenario, time: f64) -> Vec<f64> {
    let psi = lattice(scenario).propagate(&initial_state(scenario.grid(), scenario.initial()), time);
    let [nx, ny, _] = scenario.grid().size();
    let densities = || psi.iter().map(num_complex::Complex64::norm_sqr);
    let participation = densities().sum::<f64>().powi(2) / densities().map(|density| density * density).sum::<f64>();
    let left = within(scenario, &psi, 0..121, 0..ny);
    // A random wave has ½ in each half, and covers half of the sites.
    let mut walls = vec![false; nx];
    let free: usize = (0..ny)
        .map(|j| {
            scenario.medium().wall_row(j, 0, 0..nx, &mut walls);
            walls.iter().filter(|wall| !**wall).count()
        })
        .sum();
    #[expect(clippy::cast_precision_loss, reason = "sites")]
    let half = free as f64 / 2.0;
    assert!(
        (left - 0.5).abs() < 0.05 && (participation / half - 1.0).abs() < 0.1,
        "{left} {participation} {half}"
    );
    vec![left, participation]
}

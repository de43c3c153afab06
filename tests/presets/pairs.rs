//! Two particles on a line that do not act on each other: two waves on the line, each propagated exactly.

use super::{packets, quantum};
use num_complex::Complex64;
use ripplon::grid::Grid;
use ripplon::physics::reference::{Lattice, initial_state, transfer};
use ripplon::physics::{Initial, Packet};
use ripplon::scene::Scenario;

/// Σ|φ_a(x)φ_b(y) + φ_b(x)φ_a(y)|² over two ranges, of a start with Σ|ψ|² = 1; and the purity of one of them.
pub(super) fn two_particles(scenario: &Scenario, time: f64) -> Vec<f64> {
    const BARRIER: usize = 160;
    let sites = scenario.grid().size()[0];
    let grid = Grid::new(&[sites], 1.0);
    let mut potential = vec![0.0; sites];
    potential[BARRIER] = 2f64.sqrt();
    // The scene's diagonal is that of a plane.
    let mut line = quantum(scenario);
    line.diagonal /= 2.0;
    let lattice = Lattice::with_potential(&grid, &line, &potential);
    let packet = packets(scenario)[0];
    let [one, other] = [0, 1].map(|axis| {
        let along = Packet::new(
            [packet.center[axis], 0.0, 0.0],
            [packet.width[axis], 1.0, 1.0],
            [packet.momentum[axis], 0.0, 0.0],
        );
        lattice.propagate(&initial_state(&grid, &Initial::Packets(vec![along])), time)
    });
    let product = |sites: std::ops::Range<usize>, a: &[Complex64], b: &[Complex64]| -> Complex64 {
        sites.map(|n| a[n].conj() * b[n]).sum()
    };
    let norm = 2.0 * (1.0 + product(0..sites, &one, &other).norm_sqr());
    let within = |x: std::ops::Range<usize>, y: std::ops::Range<usize>| {
        let part = |range: &std::ops::Range<usize>, a, b| product(range.clone(), a, b);
        let direct = part(&x, &one, &one).re * part(&y, &other, &other).re
            + part(&x, &other, &other).re * part(&y, &one, &one).re;
        (direct + 2.0 * (part(&x, &one, &other) * part(&y, &other, &one)).re) / norm
    };
    let values = vec![
        within(0..BARRIER, 0..BARRIER),
        within(0..BARRIER, BARRIER + 1..sites),
        // Two orthonormal states in turn.
        0.5,
    ];
    // Plane waves: both on the same side with probability 2TR, on different sides with (T − R)².
    let passed = transfer::barrier_transmission(2f64.sqrt(), 1, line.hopping, packet.momentum[0]);
    assert!((passed - 0.5).abs() < 1e-6, "T = {passed}");
    assert!((values[0] - passed * (1.0 - passed) * 2.0).abs() < 1e-3);
    assert!(values[1] < 1e-3);
    values
}

//! What the layer of damping sends back of tones.

use crate::{SPACING, SPEED, build, scene, text};
use ripplon::solver::Taps;
use std::f64::consts::PI;

/// |R| of a chain with q_tt + 2γq_t = (c/a)²(q₊ − 2q + q₋), rigid at its end, γ = 9c/L ξ²: the recurrence from the end outwards for e^(−iωt), split into the wave that comes and the one that goes.
fn reflected(sites_a_wave: f64, width: usize) -> f64 {
    use num_complex::Complex64;
    let k = 2.0 * PI / sites_a_wave;
    let omega = 2.0 * (k / 2.0).sin();
    let [mut before, mut here] = [Complex64::ZERO, Complex64::ONE];
    for n in 0..width + 4 {
        let depth = (width as f64 - n as f64 - 0.5).max(0.0) / width as f64;
        let rate = 9.0 / width as f64 * depth * depth;
        let mirror = if n == 0 { here } else { before };
        let next = 2.0 * here - mirror - Complex64::new(omega * omega, 2.0 * omega * rate) * here;
        (before, here) = (here, next);
    }
    let turn = Complex64::from_polar(1.0, k);
    // Outwards n grows: what comes turns by e^(−ik), what goes by e^(ik).
    let gone = (here - before / turn) / (turn - 1.0 / turn);
    (gone / (before - gone)).norm()
}

/// The table of the scene format's reference: of waves of 10, 20, 40 and 80 sites 0.4, 2.8, 21, 48 % come back where the layer is 20 sites wide; 0.2, 0.6, 6, 30 % where 32; 0.2, 0.3, 0.6, 6 % where 64.
#[test]
fn the_absorbing_layer_sends_back_what_the_table_says() {
    let table = [
        (20, [0.0039, 0.0283, 0.211, 0.482]),
        (32, [0.0023, 0.0060, 0.0605, 0.304]),
        (64, [0.0019, 0.0028, 0.0062, 0.0603]),
    ];
    for (width, row) in table {
        for (sites, expected) in [10.0, 20.0, 40.0, 80.0].into_iter().zip(row) {
            // Digits of the table.
            let exact = reflected(sites, width);
            assert!(
                (exact / expected - 1.0).abs() < 0.02,
                "{width} sites, waves of {sites}: {exact}"
            );
            let frequency = SPEED / (sites * SPACING);
            let sounds = format!(
                "[[source]]\nat = [{}]\nsignal = \"burst\"\ncycles = 4.0\nfrequency = {frequency}\namplitude = 1.0e5\n\
                 [[detector]]\nname = \"a\"\nmeasure = \"value\"\nat = [{}]\n",
                1000.0 * SPACING,
                1100.0 * SPACING
            );
            let scene = scene(
                &text("oscillators", &[1700 + width], "\"absorb\"", 0.25, "", &sounds)
                    .replace("absorb_width = 20", &format!("absorb_width = {width}")),
            );
            let mut solver = build(&scene);
            let mut taps = Taps::of(&scene);
            solver.advance(8000, &mut taps).unwrap();
            // The pulse passes within 100 + 320 sites of way, the echo comes after 1300, that of the other end after 2100.
            let part = |range: std::ops::Range<usize>| {
                let (mut re, mut im) = (0.0, 0.0);
                for n in range {
                    let angle = 2.0 * PI * frequency * taps.times()[n];
                    re += taps.values(0)[n] * angle.cos();
                    im += taps.values(0)[n] * angle.sin();
                }
                re.hypot(im)
            };
            let measured = part(4400..8000) / part(0..4400);
            // A run is linear: the ratio at one frequency is that of a tone. The wave on the grid is (ka)²/24 · λ² shorter than its name, and R falls by up to its fifth power; below 1 % the tail of the pulse adds 2e-4.
            assert!(
                (measured - exact).abs() < 0.08 * exact + 3e-4,
                "{width} sites, waves of {sites}: {measured} for {exact}"
            );
        }
    }
}

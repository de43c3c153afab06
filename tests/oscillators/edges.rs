//! What the layer of damping sends back of tones.

use crate::{SPACING, SPEED, build, scene, step, text};
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

/// |R| of a layer without an end, γ in units of c/a, behind a free chain, for e^(−iωt): e^(iκn) + R e^(−iκn) up to its first site, z^n in it with z + 1/z = 2 − ω² − 2iωγ.
fn sent_back_by_a_layer(sites_a_wave: f64, rate: f64) -> f64 {
    use num_complex::Complex64;
    let k = 2.0 * PI / sites_a_wave;
    let omega = 2.0 * (k / 2.0).sin();
    let half = Complex64::new(1.0 - omega * omega / 2.0, -omega * rate);
    let root = (half * half - 1.0).sqrt();
    let inside = if (half + root).norm() < 1.0 {
        half + root
    } else {
        half - root
    };
    let turn = Complex64::from_polar(1.0, k);
    ((inside - turn) / (1.0 / turn - inside)).norm()
}

/// A strong layer sends most of a wave back, and in steps that do not follow it less: automatic ones do. At γΔt = 0.2 γ acts as tanh(γΔt)/Δt, 1.3 % less: |R| = 0.9086 for 0.9096. Steps 17 times as long, as
/// they are without the layer, would give 0.767.
#[test]
fn a_strong_layer_sends_back_what_it_should_in_automatic_steps() {
    let rate = 10.0;
    let sites = 20.0;
    let exact = sent_back_by_a_layer(sites, rate);
    let frequency = SPEED / (sites * SPACING);
    let more = format!(
        "[[source]]\nat = [{}]\nsignal = \"burst\"\ncycles = 4.0\nfrequency = {frequency}\namplitude = 1.0e5\n\
             [[detector]]\nname = \"a\"\nmeasure = \"value\"\nat = [{}]\n\
             [[layer]]\nsets = \"absorption\"\nshape = \"box\"\nmin = [{}]\nmax = [{}]\nvalue = {}\n",
        300.0 * SPACING,
        400.0 * SPACING,
        499.5 * SPACING,
        700.0 * SPACING,
        rate * SPEED / SPACING
    );
    let given = format!("step = {:e}", step(0.25));
    let text = text("oscillators", &[560], "\"wall\"", 0.25, "", &more);
    assert!(text.contains(&given));
    let scene = scene(&text.replace(&given, "step = \"auto\""));
    let mut solver = build(&scene);
    let mut taps = Taps::of(&scene);
    // a/c, in which a wave runs one site.
    let unit = SPACING / SPEED;
    let steps = (680.0 * unit / solver.clock().time_step).ceil() as u64;
    solver.advance(steps, &mut taps).unwrap();
    // The pulse passes within 100 + 80 sites of way, the echo comes after 300 and ends after 380, that of the other end comes after 700.
    let part = |from: f64, to: f64| {
        let (mut re, mut im) = (0.0, 0.0);
        let records = taps.times().iter().zip(taps.values(0));
        for (time, value) in records.filter(|(time, _)| (from * unit..to * unit).contains(*time)) {
            let angle = 2.0 * PI * frequency * time;
            re += value * angle.cos();
            im += value * angle.sin();
        }
        re.hypot(im)
    };
    let measured = part(290.0, 680.0) / part(0.0, 290.0);
    // The ratio at one frequency is that of a tone; the wave on the grid is (ka)²/24 shorter than its name.
    assert!((measured - exact).abs() < 0.005, "{measured} for {exact}");
}

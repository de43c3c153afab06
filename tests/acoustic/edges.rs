//! Absorbing edges.

use crate::{ORDERS, SPACING, SPEED, advance, build, noise, scene, start, step};
use ripplon::solver::Taps;

/// A Ricker of 20 sites a wavelength in the middle of `half`·2 + 1 sites, heard 25 sites away along and across.
fn heard(half: usize, edges: &str, width: usize, order: usize, steps: u64) -> Vec<f64> {
    let n = 2 * half + 1;
    let (center, near) = (half as f64 * SPACING, (half + 25) as f64 * SPACING);
    let frequency = SPEED / (20.0 * SPACING);
    // σ of 0.6 is beyond the limit of the higher orders in 2D.
    let courant = if order == 2 { 0.6 } else { 0.5 };
    let text = format!(
        "[grid]\nsize = [{n}, {n}]\nspacing = {SPACING}\nedges = \"{edges}\"\nabsorb_width = {width}\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = {:e}\n\
         [solver]\nprecision = \"double\"\norder = {order}\n[[source]]\nat = [{center}, {center}]\nsignal = \"ricker\"\nfrequency = {frequency}\n\
         amplitude = {:e}\n[[detector]]\nname = \"a\"\nmeasure = \"value\"\nat = [{near}, {center}]\n\
         [[detector]]\nname = \"b\"\nmeasure = \"value\"\nat = [{near}, {near}]\n",
        step(courant),
        SPEED * SPEED,
    );
    let scenario = scene(&text);
    let mut solver = build(&scenario);
    let mut taps = Taps::new(scenario.grid(), scenario.detectors());
    solver.advance(steps, &mut taps).unwrap();
    [taps.values(0), taps.values(1)].concat()
}

/// Reflections of CPML against a grid so large that nothing comes back: 7.8e-5 for 10 sites and 1.5e-5 for 20 at order 2, of the
/// reference implementation of the same profiles (Dirichlet outside; here rigid).
#[test]
fn absorbing_edges_reflect_little() {
    for order in ORDERS {
        let steps = 420;
        // 420 · 0.6 = 252 sites there and back: an edge 140 sites away is not heard 25 sites off the middle.
        let reference = heard(145, "wall", 0, order, steps);
        let peak = reference.iter().fold(0.0f64, |m, p| m.max(p.abs()));
        for (width, limit) in [(10, 1.0e-4), (20, 2.0e-5)] {
            let absorbed = heard(30 + width, "absorb", width, order, steps);
            let error = crate::largest_difference(&absorbed, &reference) / peak;
            // The face difference of order 4 is the coarsest beside its second difference (see `STAGGERED`): 2.6e-4 and 4.0e-5.
            let limit = if order == 4 { 3.0 * limit } else { limit };
            assert!(error < limit, "order {order}, {width} sites: {error:e}");
            assert!(error > 0.0);
        }
        let open = heard(50, "wall", 0, order, steps);
        assert!(
            crate::largest_difference(&open, &reference) / peak > 0.3,
            "without a layer it comes back"
        );
    }
}

/// Noise, walls that run into the layers, a density that does: nothing grows, for a long time.
#[test]
fn absorbing_edges_are_stable_for_long() {
    let walls = "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [0.3, 0.0]\nmax = [0.35, 0.4]\nvalue = 1\n";
    let heavy = "[[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [0.0, 0.3]\nmax = [2.0, 0.4]\nvalue = 5\n";
    for order in ORDERS {
        for layers in ["", walls, heavy] {
            if order > 2 && layers == heavy {
                continue;
            }
            let text = crate::sections(
                &[30, 26],
                "\"absorb\"",
                0.45,
                &format!("precision = \"double\"\norder = {order}"),
            );
            let mut solver = build(&scene(&(text + layers)));
            start(solver.as_mut(), &noise(780, 5));
            advance(solver.as_mut(), 1000);
            let early = solver.observables().unwrap();
            advance(solver.as_mut(), 10_000);
            let late = solver.observables().unwrap();
            // What starts inside the layers may stay there as a pattern at rest; nothing grows, and nothing drifts.
            assert!(early.peak < 2.0, "order {order}, {layers}: {early:?}");
            assert!(
                late.peak < 1.01 * early.peak,
                "order {order}, {layers}: {early:?} {late:?}"
            );
        }
    }
}

/// In 3D as in 2D, and one axis at a time.
#[test]
fn every_axis_absorbs() {
    for absorbing in 0..3 {
        let mut edges = ["\"wall\""; 3];
        edges[absorbing] = "\"absorb\"";
        let edges = format!("[{}]", edges.join(", "));
        let mut size = [10; 3];
        size[absorbing] = 50;
        let text = crate::sections(&size, &edges, 0.4, "precision = \"double\"");
        let mut solver = build(&scene(&text));
        // A wave that runs along the axis.
        let mode: Vec<f64> = (0..5000)
            .map(|n: usize| {
                let at = [n % size[0], n / size[0] % size[1], n / (size[0] * size[1])][absorbing] as f64;
                (-(at - 25.0f64).powi(2) / 8.0).exp()
            })
            .collect();
        start(solver.as_mut(), &mode);
        let before = solver.observables().unwrap().invariant;
        advance(solver.as_mut(), 200);
        let after = solver.observables().unwrap().invariant;
        // R₀ of 6 sites is 6e-4; the discrete layer reflects a few times as much of waves of 12 sites.
        assert!(after < 1e-4 * before, "axis {absorbing}: {}", after / before);
    }
}

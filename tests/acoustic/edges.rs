//! Absorbing edges.

use crate::{ORDERS, SPACING, SPEED, advance, build, noise, scene, start, step, values};
use ripplon::scene::Scenario;
use ripplon::solver::{Edit, Taps};

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

/// Reflections against a grid so large that nothing comes back. A wave model of the discrete layer gives less than 1e-5 for 20 sites from 8 sites a wavelength on and
/// up to 75°, and less than 1e-3 for 10; most of a Ricker of 20 sites a wavelength is longer than 8 by far.
#[test]
fn absorbing_edges_reflect_little() {
    for order in ORDERS {
        let steps = 420;
        // 420 · 0.6 = 252 sites there and back: an edge 140 sites away is not heard 25 sites off the middle.
        let reference = heard(145, "wall", 0, order, steps);
        let peak = reference.iter().fold(0.0f64, |m, p| m.max(p.abs()));
        for (width, limit) in [(10, 1.5e-4), (20, 5.0e-7)] {
            let absorbed = heard(30 + width, "absorb", width, order, steps);
            let error = crate::largest_difference(&absorbed, &reference) / peak;
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

/// Walls of every kind that run into the layers, and media that do: nothing grows, at a thousandth below the limit, for a long time, in both precisions.
#[test]
fn absorbing_edges_are_stable_for_long() {
    let wall = |shape: &str| format!("[[layer]]\nsets = \"wall\"\nshape = \"everywhere\"\nvalue = \"{shape}\"\n");
    let speed =
        "[[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [0.0, 0.3]\nmax = [2.0, 2.0]\nvalue = 17.15\n".to_owned();
    let heavy =
        "[[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [0.0, 0.25]\nmax = [2.0, 0.35]\nvalue = 5\n".to_owned();
    let media = [
        String::new(),
        wall("abs(y - 0.6*x - 0.05) < 0.03"),
        wall("(abs(x - 0.3) < 0.02)*(sin(300*y) < 0.5)"),
        wall("sin(9171*x + 5331*y*y) > 0.6"),
        speed,
        heavy.clone(),
    ];
    let size = [24, 22];
    for order in ORDERS {
        let symbol = [4.0, 16.0 / 3.0, 272.0 / 45.0, 2048.0 / 315.0][order / 2 - 1];
        let courant = 0.999 * 2.0 / (2.0f64 * symbol).sqrt();
        for media in &media {
            if order > 2 && *media == heavy {
                continue;
            }
            // Faces of unequal densities carry more than those of the uniform medium for which the limit is.
            let courant = if *media == heavy { 0.931 * courant } else { courant };
            for precision in ["single", "double"] {
                let solver = format!("precision = \"{precision}\"\norder = {order}");
                let text = crate::sections(&size, "\"absorb\"", courant, &solver);
                let mut solver = build(&scene(&(text + media)));
                start(solver.as_mut(), &noise(size[0] * size[1], 5));
                advance(solver.as_mut(), 200);
                let early = solver.observables().unwrap();
                advance(solver.as_mut(), STEPS_FOR_LONG);
                let late = solver.observables().unwrap();
                // What starts inside the layers may stay there as a pattern at rest. It starts at 1 at most, and of waves in rooms nothing exceeds a few times that.
                assert!(early.peak < 3.0, "order {order}, {precision}, {media}: {early:?}");
                assert!(
                    late.peak < 1.1 * early.peak.max(1.0),
                    "order {order}, {precision}, {media}: {early:?} {late:?}"
                );
            }
        }
    }
}

/// Unstable layers grew by powers of ten in so many steps.
const STEPS_FOR_LONG: u64 = 4_000;

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
        // Waves of 12 sites that run along the axis.
        let mode: Vec<f64> = (0..5000)
            .map(|n: usize| {
                let at = [n % size[0], n / size[0] % size[1], n / (size[0] * size[1])][absorbing] as f64;
                let away = at - 25.0f64;
                (std::f64::consts::TAU * away / 12.0).cos() * (-away * away / 50.0).exp()
            })
            .collect();
        start(solver.as_mut(), &mode);
        let before = solver.observables().unwrap().invariant;
        advance(solver.as_mut(), 200);
        let after = solver.observables().unwrap().invariant;
        // Six sites of a guide's layer send back some 40 dB less of waves of 12 sites.
        assert!(after < 1e-4 * before, "axis {absorbing}: {}", after / before);
    }
}

/// An edit while the wave is in the layers leaves nothing of it there: not of another Δt beyond what its errors are (in a model of the scheme 2.4e-3 of the pulse at most, and 4e-2 and more where ζ is set anew),
/// and of a medium that is the same nothing but rounding.
#[test]
fn edits_leave_nothing_in_the_layers() {
    let text = |courant: f64, more: &str| {
        format!(
            "[grid]\nsize = [70, 70]\nspacing = {SPACING}\nedges = \"absorb\"\nabsorb_width = 15\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = {:e}\n\
             [solver]\nprecision = \"double\"\n[[pulse]]\ncenter = [{}, {}]\nwidth = {}\n{more}",
            step(courant),
            35.0 * SPACING,
            31.0 * SPACING,
            4.0 * SPACING
        )
    };
    let plain = scene(&text(0.3, ""));
    let same = scene(&text(
        0.3,
        &format!("[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = {SPEED}\n"),
    ));
    let mut reference = build(&plain);
    advance(reference.as_mut(), 300);
    let reference = values(reference.as_mut());
    // The last of the pulse is on its way out, so that no comparison is one of zeros.
    assert!(
        reference.iter().any(|value| value.abs() > 1e-4),
        "nothing is left to compare"
    );
    for steps in [90, 110] {
        let after = |edit: Edit, of: &Scenario, left: u64| {
            let mut solver = build(&plain);
            advance(solver.as_mut(), steps);
            solver.edit(of, &edit).unwrap();
            advance(solver.as_mut(), left);
            crate::largest_difference(&values(solver.as_mut()), &reference)
        };
        let left = 300 - steps;
        let longer = after(Edit::TimeStep(step(0.6)), &plain, left / 2);
        assert!(longer < 5e-3, "{steps} steps, twice Δt: {longer:e}");
        let medium = after(Edit::Medium, &same, left);
        assert!(medium < 1e-12, "{steps} steps, the same medium: {medium:e}");
    }
}

/// A slower medium that reaches into a layer, painted while the wave is there, leaves with it: rates and what memories add to them change by one factor. With factors of their own half of the wave stays for ever as a
/// pressure of 0.066 and 0.021 Pa; what is left here has not yet left, and falls as 1/t².
#[test]
fn a_painted_medium_leaves_with_the_wave() {
    let text = |more: &str| {
        format!(
            "[grid]\nsize = [70, 70]\nspacing = {SPACING}\nedges = \"absorb\"\nabsorb_width = 15\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = {:e}\n\
             [solver]\nprecision = \"double\"\n[[pulse]]\ncenter = [{}, {}]\nwidth = {}\n{more}",
            step(0.3),
            35.0 * SPACING,
            31.0 * SPACING,
            4.0 * SPACING
        )
    };
    let slow = format!(
        "[[layer]]\nsets = \"speed\"\nshape = \"disk\"\ncenter = [{}, {}]\nradius = {}\nvalue = 150\n",
        54.0 * SPACING,
        35.0 * SPACING,
        8.5 * SPACING
    );
    for steps in [90, 110] {
        let mut solver = build(&scene(&text("")));
        advance(solver.as_mut(), steps);
        solver.edit(&scene(&text(&slow)), &Edit::Medium).unwrap();
        advance(solver.as_mut(), 2000);
        let left = values(solver.as_mut()).iter().fold(0.0f64, |most, p| most.max(p.abs()));
        assert!(left < 1e-3, "{steps} steps: {left:e}");
    }
}

//! Media: walls of any shape, speed and density per site, damping; energy; stability.

use crate::{
    ORDERS, SPACING, SPEED, advance, build, largest_difference, noise, scene, sections, start, step, try_scene, values,
};
use ripplon::field::FieldData;
use ripplon::solver::{Edit, find};
use std::f64::consts::PI;

/// A box with thick walls inside a larger grid is a rigid room: the same field, site by site.
#[test]
fn walls_inside_the_grid_are_rigid_edges_at_every_order() {
    let (outer, inner, corner): ([usize; 2], [usize; 2], [usize; 2]) = ([20, 17], [7, 6], [6, 5]);
    for order in ORDERS {
        let solver = format!("precision = \"double\"\norder = {order}");
        let mut small = build(&scene(&sections(&inner, "\"wall\"", 0.3, &solver)));
        let low = corner.map(|c| c as f64 * SPACING);
        let high = [0, 1].map(|n| (corner[n] + inner[n] - 1) as f64 * SPACING);
        let walls = format!(
            "{}[[layer]]\nsets = \"wall\"\nshape = \"everywhere\"\nvalue = 1\n[[layer]]\nsets = \"wall\"\nshape = \"box\"\n\
             min = {low:?}\nmax = {high:?}\nvalue = 0\n",
            sections(&outer, "\"periodic\"", 0.3, &solver)
        );
        let mut large = build(&scene(&walls));
        let pressure = noise(inner[0] * inner[1], 7);
        let mut padded = vec![0.0; outer[0] * outer[1]];
        for (n, p) in pressure.iter().enumerate() {
            padded[(n % inner[0] + corner[0]) + outer[0] * (n / inner[0] + corner[1])] = *p;
        }
        start(small.as_mut(), &pressure);
        start(large.as_mut(), &padded);
        advance(small.as_mut(), 200);
        advance(large.as_mut(), 200);
        let (small, large) = (values(small.as_mut()), values(large.as_mut()));
        let cut: Vec<f64> = (0..pressure.len())
            .map(|n| large[(n % inner[0] + corner[0]) + outer[0] * (n / inner[0] + corner[1])])
            .collect();
        let error = largest_difference(&small, &cut);
        // Sums in another order: 200 roundings that leapfrog integrates twice.
        assert!(error < 1e-12, "order {order}: {error:e}");
        let outside: f64 = large.iter().map(|p| p * p).sum::<f64>() - cut.iter().map(|p| p * p).sum::<f64>();
        assert!(outside.abs() < 1e-12, "nothing inside the walls");
    }
}

const SCATTERERS: &str = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [0.2, 0.15]\nradius = 0.07\nvalue = 1\n\
    [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [0.4, 0.0]\nmax = [0.4, 0.2]\nvalue = 1\n\
    [[layer]]\nsets = \"speed\"\nshape = \"disk\"\ncenter = [0.5, 0.4]\nradius = 0.1\nvalue = 500\n";
const HEAVY: &str = "[[layer]]\nsets = \"density\"\nshape = \"disk\"\ncenter = [0.3, 0.3]\nradius = 0.1\nvalue = 3.4\n";

/// Where the medium does not change over a stencil the step is that of an empty grid; where it does, in the same rows, it reads both sides of each face. A medium that differs by 10⁻¹³ from
/// site to site takes the second way everywhere, and gives the same field.
#[test]
fn uniform_parts_of_a_medium_step_as_others_do() {
    for (size, edges) in [
        (&[75][..], "\"wall\""),
        (&[75, 40], "\"wall\""),
        (&[75, 40], "\"absorb\""),
        (&[70, 24, 23], "[\"absorb\", \"periodic\", \"wall\"]"),
    ] {
        let run = |rough: f64| {
            let extent = |part: f64| size.iter().map(|n| *n as f64 * SPACING * part).collect::<Vec<f64>>();
            let noisy = |value: f64| format!("\"{value}*(1 + {rough:e}*sin(9171*x + 5331*y*y + 1791*z*z))\"");
            let text = format!(
                "{}[[layer]]\nsets = \"density\"\nshape = \"everywhere\"\nvalue = {}\n\
                 [[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = {:?}\nmax = {:?}\nvalue = {}\n\
                 [[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = {:?}\nmax = {:?}\nvalue = 420.0\n\
                 [[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = {:?}\nradius = {}\nvalue = 1\n\
                 [[layer]]\nsets = \"absorption\"\nshape = \"disk\"\ncenter = {:?}\nradius = {}\nvalue = 300\n",
                sections(size, edges, 0.3, "precision = \"double\""),
                noisy(1.2),
                extent(0.5),
                extent(1.0),
                noisy(3.4),
                extent(0.0),
                extent(0.3),
                extent(0.7),
                2.2 * SPACING,
                extent(0.2),
                3.2 * SPACING,
            );
            let mut solver = build(&scene(&text));
            start(solver.as_mut(), &noise(size.iter().product(), 5));
            advance(solver.as_mut(), 60);
            values(solver.as_mut())
        };
        let error = largest_difference(&run(0.0), &run(1e-13));
        // 60 steps, which leapfrog integrates twice, of changes by 10⁻¹³.
        assert!(error < 60.0 * 60.0 * 1e-13, "{size:?} {edges}: {error:e}");
    }
}

/// Densities that change next to absorbing edges along x, where rows fill up whole vectors, are stepped as along y: a scene and its mirror image in the diagonal give the same field.
#[test]
fn densities_beside_absorbing_edges_are_stepped_alike_along_both_axes() {
    let size = [61, 43];
    let field = noise(size[0] * size[1], 11);
    let turned = |values: &[f64], [nx, ny]: [usize; 2]| -> Vec<f64> {
        (0..nx * ny).map(|n| values[n % ny * nx + n / ny]).collect()
    };
    for variant in ["stepwise", "tiled"] {
        let run = |flip: bool| {
            let along = |[x, y]: [f64; 2]| if flip { [y, x] } else { [x, y] }.map(|at| at * SPACING);
            let slab = |x: [f64; 2], value: f64| {
                let (min, max) = (along([x[0], 0.0]), along([x[1], 60.0]));
                format!(
                    "[[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = {min:?}\nmax = {max:?}\nvalue = {value}\n"
                )
            };
            let wall = format!(
                "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = {:?}\nradius = {}\nvalue = 1\n",
                along([12.0, 21.0]),
                2.3 * SPACING
            );
            let (size, edges) = if flip {
                ([size[1], size[0]], "[\"wall\", \"absorb\"]")
            } else {
                (size, "[\"absorb\", \"wall\"]")
            };
            let solver = format!("precision = \"double\"\nvariant = \"{variant}\"");
            let text =
                sections(&size, edges, 0.3, &solver) + &slab([9.0, 30.0], 3.4) + &slab([47.0, 50.0], 0.7) + &wall;
            let mut solver = build(&scene(&text));
            let begin = if flip { turned(&field, [61, 43]) } else { field.clone() };
            start(solver.as_mut(), &begin);
            advance(solver.as_mut(), 60);
            values(solver.as_mut())
        };
        let error = largest_difference(&turned(&run(false), size), &run(true));
        // 60 steps of sums in another order, which leapfrog integrates twice.
        assert!(error < 60.0 * 60.0 * 1e-15, "{variant}: {error:e}");
    }
}

/// E of the scheme is conserved for every order, edge and medium; the field itself stays within the bound that E gives.
#[test]
fn energy_is_conserved() {
    for edges in ["\"wall\"", "\"soft\"", "\"periodic\"", "[\"soft\", \"periodic\"]"] {
        for (order, layers) in ORDERS
            .map(|order| (order, SCATTERERS.to_owned()))
            .into_iter()
            .chain([(2, format!("{SCATTERERS}{HEAVY}"))])
        {
            let solver = format!("precision = \"double\"\norder = {order}");
            let text = sections(&[30, 24], edges, 0.3, &solver) + &layers;
            let mut solver = build(&scene(&text));
            solver.keep_velocity().unwrap();
            start(solver.as_mut(), &noise(30 * 24, 3));
            let before = solver.observables().unwrap();
            let mut worst: f64 = 0.0;
            for _ in 0..10 {
                advance(solver.as_mut(), 200);
                let after = solver.observables().unwrap();
                worst = worst.max((after.energy / before.energy - 1.0).abs());
                worst = worst.max((after.invariant / before.invariant - 1.0).abs());
            }
            // 2000 steps of noise, each with roundings of 1e-16 in 720 sites: a random walk of 4e-15, and the sums' own 1e-14.
            assert!(
                before.energy > 0.0 && worst < 1e-12,
                "{edges}, order {order}: {worst:e}"
            );
        }
    }
}

/// Half the bonds of every site add up to the energy; so does a detector over everything.
#[test]
fn a_detector_over_everything_records_the_energy() {
    for edges in ["\"wall\"", "\"soft\""] {
        let text = sections(&[30, 24], edges, 0.3, "precision = \"double\"\norder = 6")
            + SCATTERERS
            + "[[detector]]\nname = \"all\"\nmeasure = \"energy\"\nregion = { min = [0.0, 0.0], max = [10.0, 10.0] }\n";
        let scenario = scene(&text);
        let mut solver = build(&scenario);
        let mut taps = ripplon::solver::Taps::of(&scenario);
        solver.advance(50, &mut taps).unwrap();
        let energy = solver.observables().unwrap().energy;
        let recorded = taps.values(0);
        assert_eq!(recorded.len(), 50);
        assert!((recorded[49] / energy - 1.0).abs() < 1e-13);
        assert!(
            (recorded[0] / energy - 1.0).abs() < 1e-12,
            "conserved from the first record on"
        );
    }
}

/// Reflection and transmission at a step of impedance Z = ρc: R = (Z₂ − Z₁)/(Z₂ + Z₁), T = 2Z₂/(Z₂ + Z₁).
#[test]
fn a_two_medium_wall_reflects_and_transmits() {
    let n = 1200;
    let middle = 600.0 * SPACING;
    for (speed, density) in [(SPEED, 2.88), (700.0, 1.2), (200.0, 4.0)] {
        let text = format!(
            "[grid]\nsize = [{n}]\nspacing = {SPACING}\nedges = \"soft\"\n[acoustic]\nspeed = {SPEED}\ndensity = 1.2\n[time]\nstep = {:e}\n\
             [solver]\nprecision = \"double\"\n[[pulse]]\ncenter = [{}]\nwidth = {}\namplitude = 2.0\n[[layer]]\nsets = \"density\"\nshape = \"box\"\n\
             min = [{middle}]\nmax = [100.0]\nvalue = {density}\n[[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [{middle}]\nmax = [100.0]\nvalue = {speed}\n",
            step(0.45),
            400.0 * SPACING,
            15.0 * SPACING,
        );
        let mut solver = build(&scene(&text));
        // The right-going half of amplitude 1 needs 200 sites to the wall; then 150 more for the reflected pulse to stand alone.
        advance(solver.as_mut(), (350.0 / 0.45) as u64);
        let p = values(solver.as_mut());
        let (z1, z2) = (SPEED * 1.2, speed * density);
        let extreme = |range: std::ops::Range<usize>| {
            p[range]
                .iter()
                .fold(0.0f64, |m, p| if p.abs() > m.abs() { *p } else { m })
        };
        let (reflected, transmitted) = (extreme(400..590), extreme(605..1190));
        // σ = 15 sites is 94 points a wavelength at the spectrum's edge: (ka)²/12 = 4e-4, and the face stands half a site aside.
        let (r, t) = ((z2 - z1) / (z2 + z1), 2.0 * z2 / (z2 + z1));
        assert!((reflected - r).abs() < 4e-3, "R = {reflected}, expected {r}");
        assert!((transmitted - t).abs() < 6e-3, "T = {transmitted}, expected {t}");
    }
}

/// p_tt + 2γp_t = c²∇²p: a standing wave falls as e^(−γt) and rings at √(ω² − γ²).
#[test]
fn absorption_damps_at_its_rate() {
    let error = |courant: f64| {
        let text = sections(&[24, 20], "\"periodic\"", courant, "precision = \"double\"")
            + "[[layer]]\nsets = \"absorption\"\nshape = \"everywhere\"\nvalue = 300\n";
        let mut solver = build(&scene(&text));
        let kappa = 2.0 * PI / 24.0;
        let mode: Vec<f64> = (0..24 * 20).map(|n| (kappa * f64::from(n % 24)).cos()).collect();
        start(solver.as_mut(), &mode);
        let steps = (60.0 / courant).round() as u64;
        advance(solver.as_mut(), steps);
        // The lattice in continuous time: ω = 2c/a |sin(κ/2)|.
        let omega = 2.0 * SPEED / SPACING * (kappa / 2.0).sin();
        let (gamma, t) = (300.0, steps as f64 * step(courant));
        let ringing = (omega * omega - gamma * gamma).sqrt();
        let factor = (-gamma * t).exp() * ((ringing * t).cos() + gamma / ringing * (ringing * t).sin());
        let expected: Vec<f64> = mode.iter().map(|p| p * factor).collect();
        largest_difference(&values(solver.as_mut()), &expected)
    };
    let (coarse, fine) = (error(0.4), error(0.2));
    let order = (coarse / fine).log2();
    assert!((order - 2.0).abs() < 0.1, "order {order} from {coarse:e} and {fine:e}");
}

/// Noise holds every mode, the worst included: bounded just below the limit that the table gives.
#[test]
fn noise_stays_bounded_below_the_limit_and_is_refused_beyond() {
    for order in ORDERS {
        for layers in ["", SCATTERERS, HEAVY] {
            if order > 2 && layers == HEAVY {
                continue;
            }
            let solver = format!("precision = \"double\"\norder = {order}");
            let with = |courant| sections(&[30, 24], "\"wall\"", courant, &solver) + layers;
            let limit = (find("fdtd").unwrap().step_advice)(&scene(&with(0.1)))
                .stability_limit
                .unwrap();
            let courant = limit * SPEED / SPACING;
            let mut solver = build(&scene(&with(0.98 * courant)));
            start(solver.as_mut(), &noise(720, 11));
            advance(solver.as_mut(), 1500);
            let peak = solver.observables().unwrap().peak;
            // cos(nθ)-like growth at most 1/sin(θ) with cos(θ/2) = 0.2 and 720 modes of random phase.
            assert!(peak < 100.0, "order {order}: {peak:e}");
            let message = try_scene(&with(1.001 * courant)).unwrap_err();
            assert!(message.contains("time.step"), "{message}");
            let refused = solver.edit(&scene(&with(0.98 * courant)), &Edit::TimeStep(1.001 * limit));
            assert!(refused.unwrap_err().to_string().contains("unstable"));
        }
    }
}

/// S = 4, 16/3, 272/45, 2048/315.
#[test]
fn the_limit_of_a_uniform_medium_is_the_textbook_s() {
    for (order, s) in ORDERS.into_iter().zip([4.0, 16.0 / 3.0, 272.0 / 45.0, 2048.0 / 315.0]) {
        for size in [&[20][..], &[20, 20], &[20, 20, 20]] {
            let scenario = scene(&sections(size, "\"wall\"", 0.1, &format!("order = {order}")));
            let limit = (find("fdtd").unwrap().step_advice)(&scenario).stability_limit.unwrap();
            let expected = 2.0 / (size.len() as f64 * s).sqrt() * SPACING / SPEED;
            assert!((limit / expected - 1.0).abs() < 1e-14);
        }
    }
}

/// A faster medium painted into a run with step = "auto" takes a smaller step by itself; with a fixed step it is refused and the run goes on.
#[test]
fn a_faster_medium_shortens_an_automatic_step() {
    let fast = "[[layer]]\nsets = \"speed\"\nshape = \"disk\"\ncenter = [0.3, 0.3]\nradius = 0.1\nvalue = 1500\n";
    let fixed = sections(&[30, 24], "\"wall\"", 0.5, "order = 2");
    let auto = fixed.replace(&format!("step = {:e}", step(0.5)), "step = \"auto\"");
    let mut solver = build(&scene(&auto));
    let before = solver.clock().time_step;
    advance(solver.as_mut(), 20);
    solver.edit(&scene(&(auto + fast)), &Edit::Medium).unwrap();
    assert!((solver.clock().time_step / before - SPEED / 1500.0).abs() < 1e-12);
    advance(solver.as_mut(), 2000);
    assert!(solver.observables().unwrap().peak < 10.0);
    assert!(try_scene(&(fixed.clone() + fast)).unwrap_err().contains("time.step"));
}

#[test]
fn what_cannot_be_done_is_said() {
    let text = sections(&[30, 24], "\"wall\"", 0.3, "order = 4") + HEAVY;
    assert!(try_scene(&text).unwrap_err().contains("order 2 only"));
    let mut solver = build(&scene(&sections(&[30, 24], "\"wall\"", 0.3, "order = 4")));
    let field = FieldData::Float32(vec![0.0; 3]);
    let clock = solver.clock();
    assert!(solver.set_field(&field, clock).is_err());
}

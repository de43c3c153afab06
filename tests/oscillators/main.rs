//! Sound by pairs of masses: ends, stability, sources, damping, media, edits.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests: small sizes"
)]

mod bloch;
mod blocks;
mod edges;
#[path = "../common/pressure.rs"]
mod pressure;

use pressure::{SPACING, SPEED, advance, largest_difference, noise, scene, start, step, try_scene, values};
use ripplon::physics::reference::oscillators::{lattice_frequency, one_displaced};
use ripplon::scene::Scenario;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{self, Edit, FieldImage, ImageRequest, Solver, Taps};
use std::f64::consts::PI;

const VARIANTS: [&str; 2] = ["naive", "blocked"];

/// A scene in double precision; `solver` holds more lines of `[solver]`, `more` follows.
fn text(method: &str, size: &[usize], edges: &str, courant: f64, solver: &str, more: &str) -> String {
    format!(
        "[grid]\nsize = {size:?}\nspacing = {SPACING}\nedges = {edges}\nabsorb_width = 20\n[acoustic]\nspeed = {SPEED}\ndensity = 1.2\n[time]\nstep = {:e}\n\
         [solver]\nmethod = \"{method}\"\nbackend = \"cpu\"\nprecision = \"double\"\n{solver}\n{more}",
        step(courant)
    )
}

fn oscillators(size: &[usize], edges: &str, courant: f64, solver: &str, more: &str) -> Scenario {
    let pulse = format!("[[pulse]]\ncenter = {:?}\nwidth = 0.06\n", vec![SPACING; size.len()]);
    scene(&text("oscillators", size, edges, courant, solver, &(pulse + more)))
}

fn build(scenario: &Scenario) -> Box<dyn Solver> {
    let method = solver::find(&scenario.solver().method).unwrap();
    (method.build)(scenario).unwrap_or_else(|error| panic!("{error}"))
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}

/// The free-end trap: a site at a rigid edge that is left out of the sweeps without a partner (the share p²/2M of its kinetic energy never drifts) has another mass, and the
/// lowest mode of a room another frequency, by O(1/sites) and not by O(Δt²). Room modes cos(πm(i+½)/n) at ω of the lattice, odd and even sizes, rigid and
/// soft (sin(πm(i+1)/(n+1))): the error is the splitting's, and falls as Δt².
#[test]
fn sites_at_edges_keep_their_share_of_the_kinetic_energy() {
    for variant in VARIANTS {
        for (size, edges) in [
            (vec![24], "wall"),
            (vec![25], "wall"),
            (vec![24], "soft"),
            (vec![25], "soft"),
            (vec![24, 17], "wall"),
            (vec![15, 18], "soft"),
        ] {
            let error = |courant: f64| {
                let mut solver = build(&oscillators(
                    &size,
                    &format!("\"{edges}\""),
                    courant,
                    &format!("variant = \"{variant}\""),
                    "",
                ));
                let soft = edges == "soft";
                let phase = |axis: usize| {
                    let n = size[axis] as f64 + f64::from(u8::from(soft));
                    PI * (3.0 - axis as f64) / n
                };
                let phases: Vec<f64> = (0..size.len()).map(phase).collect();
                let along = |axis: usize, at: usize| {
                    if soft {
                        (phases[axis] * (at as f64 + 1.0)).sin()
                    } else {
                        (phases[axis] * (at as f64 + 0.5)).cos()
                    }
                };
                let mode: Vec<f64> = (0..size.iter().product::<usize>())
                    .map(|n| along(0, n % size[0]) * if size.len() > 1 { along(1, n / size[0]) } else { 1.0 })
                    .collect();
                start(solver.as_mut(), &mode);
                let steps = (40.0 / courant).round();
                advance(solver.as_mut(), steps as u64);
                let factor = (lattice_frequency(SPEED, SPACING, &phases) * steps * step(courant)).cos();
                largest_difference(
                    &values(solver.as_mut()),
                    &mode.iter().map(|p| p * factor).collect::<Vec<_>>(),
                )
            };
            // Steps so short that the next order, (ω₀Δt)⁴, is small beside the first even where cos ωT is at a turning point.
            let (coarse, fine) = (error(0.1), error(0.05));
            // A phase of ωT(ω₀Δt)²/8 at most, ω < 0.6 c/a.
            assert!(coarse < 0.03, "{variant} {size:?} {edges}: {coarse:e}");
            let order = (coarse / fine).log2();
            assert!((order - 2.0).abs() < 0.15, "{variant} {size:?} {edges}: order {order}");
        }
    }
}

/// One displaced mass: J₂ₙ(2ω₀t) to the order of the splitting.
#[test]
fn one_displaced_mass_spreads_as_bessel_functions() {
    for (order, limit) in [(2, 2e-3), (4, 2e-6)] {
        let scenario = oscillators(&[301], "\"wall\"", 0.05, &format!("order = {order}"), "");
        let mut solver = build(&scenario);
        let mut pressure = vec![0.0; 301];
        pressure[150] = 1.0;
        start(solver.as_mut(), &pressure);
        advance(solver.as_mut(), 400);
        let p = values(solver.as_mut());
        for n in 0..60 {
            let exact = one_displaced(n, SPEED, SPACING, 400.0 * step(0.05));
            assert!(
                (p[150 + n] - exact).abs() < limit,
                "order {order}, {n}: {} {exact}",
                p[150 + n]
            );
        }
    }
}

const SCATTERERS: &str = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [0.2, 0.15]\nradius = 0.07\n\
    [[layer]]\nsets = \"speed\"\nshape = \"disk\"\ncenter = [0.5, 0.4]\nradius = 0.1\nvalue = 500\n\
    [[layer]]\nsets = \"density\"\nshape = \"disk\"\ncenter = [0.3, 0.3]\nradius = 0.1\nvalue = 3.4\n";
const RANDOM: &str = "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"343*(1 + 0.5*sin(3917*x + 5331*y*y))\"\n\
    [[layer]]\nsets = \"density\"\nshape = \"everywhere\"\nvalue = \"1.2*(1 + 0.8*sin(7713*x*y + 2331*y + 977*x))\"\n";

/// Noise holds every mode: bounded just below the limit that the table gives, in media and beside soft edges too, refused beyond, and unstable well beyond it.
#[test]
fn noise_stays_bounded_below_the_limit_and_is_refused_beyond() {
    for order in [2, 4] {
        for (size, edges, layers) in [
            (&[60][..], "\"periodic\"", ""),
            (
                &[61],
                "\"soft\"",
                "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"343*(1 + 0.5*sin(3917*x))\"\n",
            ),
            (&[30, 24], "\"wall\"", ""),
            (&[30, 24], "\"periodic\"", ""),
            (&[31, 24], "\"soft\"", SCATTERERS),
            (&[30, 25], "\"wall\"", RANDOM),
        ] {
            let solver = format!("order = {order}\nvariant = \"naive\"");
            let with = |courant| {
                text(
                    "oscillators",
                    size,
                    edges,
                    courant,
                    &solver,
                    &format!(
                        "[[pulse]]\ncenter = {:?}\nwidth = 0.06\n{layers}",
                        vec![0.1; size.len()]
                    ),
                )
            };
            let limit = (solver::find("oscillators").unwrap().step_advice)(&scene(&with(0.1)))
                .stability_limit
                .unwrap();
            let courant = limit * SPEED / SPACING;
            let sites = size.iter().product();
            let mut run = build(&scene(&with(0.98 * courant)));
            start(run.as_mut(), &noise(sites, 11));
            advance(run.as_mut(), 3000);
            let peak = run.observables().unwrap().peak;
            // Of the conserved neighbour of H nothing is left at the limit; 2 % below it amplitudes may be some ten times those of H.
            assert!(peak < 100.0, "order {order} {size:?} {edges} {layers}: {peak:e}");
            let message = try_scene(&with(1.001 * courant)).unwrap_err();
            assert!(message.contains("time.step"), "{message}");
            let refused = run.edit(&scene(&with(0.98 * courant)), &Edit::TimeStep(1.001 * limit));
            assert!(refused.unwrap_err().to_string().contains("unstable"));
        }
    }
}

/// A point source gives the pressure that finite differences give, uniform and in a medium: what is left is (ωΔt)² and (ka)² of either.
#[test]
fn sources_sound_as_with_finite_differences() {
    let n = 121;
    let frequency = SPEED / (24.0 * SPACING);
    let sounds = format!(
        "[[source]]\nat = [1.5, 1.5]\nsignal = \"ricker\"\nfrequency = {frequency}\namplitude = 5.0e4\n\
         [[detector]]\nname = \"a\"\nmeasure = \"value\"\nat = [2.2, 1.7]\n[[detector]]\nname = \"b\"\nmeasure = \"energy\"\nregion = {{ min = [1.8, 1.2], max = [2.4, 2.0] }}\n\
         [[detector]]\nname = \"c\"\nmeasure = \"flux\"\nfrom = [2.0, 1.0]\nto = [2.0, 2.0]\n"
    );
    for medium in [
        "",
        "[[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [1.2, 0.0]\nmax = [1.8, 3.0]\nvalue = 2.6\n",
    ] {
        let record = |method: &str, solver: &str| {
            let scenario = scene(&text(
                method,
                &[n, n],
                "\"wall\"",
                0.35,
                solver,
                &(sounds.clone() + medium),
            ));
            let mut solver = build(&scenario);
            let mut taps = Taps::new(scenario.grid(), scenario.detectors());
            for steps in [1, 7, 192] {
                solver.advance(steps, &mut taps).unwrap();
            }
            (0..3).map(|n| taps.values(n).to_vec()).collect::<Vec<_>>()
        };
        let (naive, blocked) = (
            record("oscillators", "variant = \"naive\""),
            record(
                "oscillators",
                "variant = \"blocked\"\nfused_steps = 5\nblock = [80, 40]",
            ),
        );
        assert_eq!(naive, blocked, "what is fused changes no record");
        let reference = record("fdtd", "");
        for (n, limit) in [(0, 0.03), (1, 0.06), (2, 0.06)] {
            let error = largest_difference(&naive[n], &reference[n]) / largest(&reference[n]);
            assert!(error < limit, "detector {n}, medium {medium:?}: {error}");
        }
    }
}

/// −Δt undoes sources as well: kicks stand at both ends of a step.
#[test]
fn a_run_with_sources_runs_back() {
    let frequency = SPEED / (12.0 * SPACING);
    let source =
        format!("[[source]]\nat = [0.5, 0.4]\nsignal = \"sine\"\nfrequency = {frequency}\namplitude = 1.0e5\n");
    let scenario = oscillators(&[40, 36], "\"wall\"", 0.5, "", &source);
    let mut solver = build(&scenario);
    let before = values(solver.as_mut());
    advance(solver.as_mut(), 90);
    solver.edit(&scenario, &Edit::TimeStep(-step(0.5))).unwrap();
    advance(solver.as_mut(), 90);
    // Pressures of 1 and some thousand roundings.
    assert!(largest_difference(&values(solver.as_mut()), &before) < 1e-12);
}

/// p_tt + 2γp_t = c²∇²p: a standing wave falls as e^(−γt) and rings at √(ω² − γ²).
#[test]
fn absorption_damps_at_its_rate() {
    let error = |courant: f64| {
        let layer = "[[layer]]\nsets = \"absorption\"\nshape = \"everywhere\"\nvalue = 300\n";
        let mut solver = build(&oscillators(&[24, 20], "\"periodic\"", courant, "", layer));
        let kappa = 2.0 * PI / 24.0;
        let mode: Vec<f64> = (0..480).map(|n| (kappa * f64::from(n % 24)).cos()).collect();
        start(solver.as_mut(), &mode);
        let steps = (60.0 / courant).round();
        advance(solver.as_mut(), steps as u64);
        let (omega, gamma, t) = (
            lattice_frequency(SPEED, SPACING, &[kappa]),
            300.0,
            steps * step(courant),
        );
        let ringing = (omega * omega - gamma * gamma).sqrt();
        let factor = (-gamma * t).exp() * ((ringing * t).cos() + gamma / ringing * (ringing * t).sin());
        largest_difference(
            &values(solver.as_mut()),
            &mode.iter().map(|p| p * factor).collect::<Vec<_>>(),
        )
    };
    let (coarse, fine) = (error(0.2), error(0.1));
    let order = (coarse / fine).log2();
    assert!((order - 2.0).abs() < 0.1, "order {order} from {coarse:e} and {fine:e}");
}

/// The absorbing layer: a Ricker pulse of 20 sites a wavelength in 1D, against a line so long that nothing comes back. The values are those of a script that
/// shares nothing with the method but the splitting, the pulse and γ(ξ).
#[test]
fn the_absorbing_layer_reflects_what_its_width_says() {
    let frequency = SPEED / (20.0 * SPACING);
    let heard = |sites: usize, source: usize, edges: &str, width: usize| {
        let sounds = format!(
            "[[source]]\nat = [{}]\nsignal = \"ricker\"\nfrequency = {frequency}\namplitude = 1.0e5\n[[detector]]\nname = \"a\"\nmeasure = \"value\"\nat = [{}]\n",
            source as f64 * SPACING,
            (source + 30) as f64 * SPACING
        );
        let text = text("oscillators", &[sites], edges, 1.0, "", &sounds)
            .replace("absorb_width = 20", &format!("absorb_width = {width}"));
        let scenario = scene(&text);
        let mut solver = build(&scenario);
        let mut taps = Taps::new(scenario.grid(), scenario.detectors());
        solver.advance(320, &mut taps).unwrap();
        taps.values(0).to_vec()
    };
    let reference = heard(1001, 500, "\"wall\"", 0);
    for (width, expected) in [(20, 0.144098), (32, 0.066624), (64, 0.018137)] {
        let absorbed = heard(121 + 2 * width, 60 + width, "\"absorb\"", width);
        let error = largest_difference(&absorbed, &reference) / largest(&reference);
        // Digits of the list.
        assert!((error - expected).abs() < 2e-6, "{width} sites: {error}");
    }
}

/// A wall painted into a run, a medium changed, a Δt: pressure and its rate go on.
#[test]
fn a_run_can_be_edited() {
    for variant in VARIANTS {
        let solver = format!("variant = \"{variant}\"");
        let mut run = build(&oscillators(&[40, 30], "\"wall\"", 0.3, &solver, ""));
        advance(run.as_mut(), 40);
        run.edit(
            &oscillators(&[40, 30], "\"wall\"", 0.3, &solver, SCATTERERS),
            &Edit::Medium,
        )
        .unwrap();
        let inside = 8 + 40 * 6;
        assert_eq!(values(run.as_mut())[inside], 0.0);
        advance(run.as_mut(), 400);
        let p = values(run.as_mut());
        assert_eq!(p[inside], 0.0);
        assert!(p.iter().any(|p| p.abs() > 1e-3) && largest(&p) < 10.0);
    }
    // A denser medium everywhere: the field goes on as one that had always been denser, from the same pressure and rate.
    let denser = "[[layer]]\nsets = \"density\"\nshape = \"everywhere\"\nvalue = 4.8\n";
    let (light, heavy) = (
        oscillators(&[40], "\"wall\"", 0.5, "", ""),
        oscillators(&[40], "\"wall\"", 0.5, "", denser),
    );
    let (mut changed, mut same) = (build(&light), build(&light));
    advance(changed.as_mut(), 30);
    advance(same.as_mut(), 30);
    changed.edit(&heavy, &Edit::Medium).unwrap();
    advance(changed.as_mut(), 30);
    advance(same.as_mut(), 30);
    // c is the same, so is the motion.
    assert!(largest_difference(&values(changed.as_mut()), &values(same.as_mut())) < 1e-12);
}

/// Pictures: pressure as a mean over a texel, energy that adds up, the peak of what passed, the same from both variants.
#[test]
fn pictures_show_pressure_energy_and_peak() {
    let mut peaks = Vec::new();
    for variant in VARIANTS {
        let scenario = oscillators(
            &[140, 30],
            "\"wall\"",
            0.3,
            &format!("variant = \"{variant}\""),
            SCATTERERS,
        );
        let mut solver = build(&scenario);
        let picture = |solver: &mut dyn Solver, quantity| {
            let mut image = FieldImage::default();
            let request = ImageRequest::new(quantity, [0..140, 0..30], 0, [70, 15]);
            solver.image(&request, &mut image).map(|()| image.value)
        };
        picture(solver.as_mut(), Quantity::Peak).unwrap();
        advance(solver.as_mut(), 30);
        let p = values(solver.as_mut());
        let shown = picture(solver.as_mut(), Quantity::Pressure).unwrap();
        let mean = (p[2 + 140 * 4] + p[3 + 140 * 4] + p[2 + 140 * 5] + p[3 + 140 * 5]) / 4.0;
        assert!((f64::from(shown[1 + 70 * 2]) - mean).abs() < 1e-7);
        let energies = picture(solver.as_mut(), Quantity::Energy).unwrap();
        let energy: f64 = energies.iter().map(|e| f64::from(*e)).sum::<f64>() * 4.0 * SPACING * SPACING;
        assert!((energy / solver.observables().unwrap().energy - 1.0).abs() < 1e-5);
        assert!(
            picture(solver.as_mut(), Quantity::Density).is_err(),
            "density is not a quantity of sound"
        );
        peaks.push(picture(solver.as_mut(), Quantity::Peak).unwrap());
    }
    assert!(peaks[0].iter().any(|p| *p > 0.1) && peaks[0] == peaks[1]);
}

#[test]
fn what_cannot_be_done_is_refused_with_a_remedy() {
    let odd = try_scene(&text(
        "oscillators",
        &[41],
        "\"periodic\"",
        0.5,
        "",
        "[[pulse]]\ncenter = [0.1]\nwidth = 0.1\n",
    ))
    .unwrap_err();
    assert!(odd.contains("41") && odd.contains("40 or 42"), "{odd}");
    let space = try_scene(&text(
        "oscillators",
        &[8, 8, 8],
        "\"wall\"",
        0.5,
        "",
        "[[pulse]]\ncenter = [0.1, 0.1, 0.1]\nwidth = 0.1\n",
    ))
    .unwrap_err();
    assert!(space.contains("fdtd"), "{space}");
}

//! Energy ½∫ p²/ρc² + ρv² and intensity p·v, against closed forms.

use crate::{ORDERS, SPACING, SPEED, advance, build, noise, scene, start, step, variants};
use ripplon::solver::{Edit, Taps};
use std::f64::consts::PI;

fn header(size: &[usize], edges: &str, courant: f64, density: f64, solver: &str) -> String {
    format!(
        "[grid]\nsize = {size:?}\nspacing = {SPACING}\nedges = {edges}\n[acoustic]\nspeed = {SPEED}\ndensity = {density}\n[time]\nstep = {:e}\n\
         [solver]\nprecision = \"double\"\n{solver}\n",
        step(courant)
    )
}

/// Something must sound; the tests replace it.
const PULSE: &str = "[[pulse]]\ncenter = [0.1, 0.1]\nwidth = 0.06\n";

/// A standing wave in a closed room: cos² turns into sin², and the sum stays ½ p²/ρc² times half the volume, in J per metre.
#[test]
fn a_standing_wave_has_its_energy() {
    for density in [1.2, 1000.0] {
        for order in ORDERS {
            let (nx, ny) = (48, 30);
            let text = header(&[nx, ny], "\"wall\"", 0.2, density, &format!("order = {order}"))
                + PULSE
                + "[[detector]]\nname = \"all\"\nmeasure = \"energy\"\n";
            let scenario = scene(&text);
            let mut solver = build(&scenario);
            let height = 3.0;
            let mode: Vec<f64> = (0..nx * ny)
                .map(|n| height * (PI * 2.0 * ((n % nx) as f64 + 0.5) / nx as f64).cos())
                .collect();
            start(solver.as_mut(), &mode);
            let mut taps = Taps::of(&scenario);
            // Some periods of 48 sites at 0.2 sites a step.
            solver.advance(1000, &mut taps).unwrap();
            let volume = (nx * ny) as f64 * SPACING * SPACING;
            let exact = height * height * volume / 4.0 / (density * SPEED * SPEED);
            let recorded = taps.values(0);
            let (least, most) = recorded
                .iter()
                .fold((f64::MAX, 0.0f64), |(l, m), e| (l.min(*e), m.max(*e)));
            // At rest E is less by (ωΔt)²/4 = (2π · 0.2/48)²/4 = 1.7e-4: v stands half a step away from p.
            assert!((least / exact - 1.0).abs() < 2e-4, "order {order}: {least} for {exact}");
            // 1000 steps of roundings of 1e-16, and sums over 1440 sites.
            assert!(
                most / least - 1.0 < 1e-12,
                "order {order}: swings by {:e}",
                most / least - 1.0
            );
        }
    }
}

/// A plane wave p = A/(2cω) sin carries p²/(2ρc) in the mean, for light and for heavy media.
#[test]
fn a_plane_wave_has_its_intensity() {
    for density in [1.2, 1000.0] {
        for (order, limit) in [(2, 2e-2), (4, 3e-3)] {
            let sites = 25.0;
            let frequency = SPEED / (sites * SPACING);
            let text = header(&[700], "\"soft\"", 0.5, density, &format!("order = {order}"))
                + &format!(
                    "[[source]]\nat = [{}]\nsignal = \"sine\"\nfrequency = {frequency}\namplitude = 5.0e6\n\
                     [[detector]]\nname = \"i\"\nmeasure = \"flux\"\nat = [{}]\n[[detector]]\nname = \"back\"\nmeasure = \"flux\"\nat = [{}]\n",
                    300.0 * SPACING,
                    400.0 * SPACING,
                    250.0 * SPACING
                );
            let scenario = scene(&text);
            let mut solver = build(&scenario);
            let mut taps = Taps::of(&scenario);
            // 450 sites of way: no edge has answered (300 + 350), the fade-in of two periods is past both.
            solver.advance(900, &mut taps).unwrap();
            let amplitude = 5.0e6 / (2.0 * SPEED * 2.0 * PI * frequency);
            let exact = amplitude * amplitude * 0.5 / (density * SPEED);
            for (n, sign) in [(0, 1.0), (1, -1.0)] {
                // Four periods of 50 steps.
                let mean = taps.values(n)[700..].iter().sum::<f64>() / 200.0;
                // On the grid a point sends 1/(dσ/dk), more by (ka)²(1 − λ²)/8 at order 2, 6e-3 here and twice that in the intensity; order 4 has time's (ωΔt)²/8 = 2e-3 alone.
                assert!(
                    (sign * mean / exact - 1.0).abs() < limit,
                    "order {order}: {mean} for {exact}"
                );
            }
        }
    }
}

/// What flows through the sides of a box is what its energy changes by; beside walls, in two media, at every order.
#[test]
fn energy_changes_by_what_flows() {
    let layers = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [0.6, 0.5]\nradius = 0.1\n\
                  [[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [0.7, 0.0]\nmax = [2.0, 2.0]\nvalue = 2.0\n";
    for (order, layers) in [(2, layers), (4, ""), (8, "")] {
        let n = 48;
        let at = |site: usize| site as f64 * SPACING;
        // The box is sites 14 to 33 of both axes; what leaves upwards passes from site 33, what enters from site 13.
        let side = |name: &str, from: [usize; 2], to: [usize; 2]| {
            format!(
                "[[detector]]\nname = {name:?}\nmeasure = \"flux\"\nfrom = [{}, {}]\nto = [{}, {}]\n",
                at(from[0]),
                at(from[1]),
                at(to[0]),
                at(to[1])
            )
        };
        let text = header(&[n, n], "\"wall\"", 0.05, 1.2, &format!("order = {order}"))
            + layers
            + &format!(
                "[[pulse]]\ncenter = [{}, {}]\nwidth = {}\n[[detector]]\nname = \"e\"\nmeasure = \"energy\"\nregion = {{ min = [{}, {}], max = [{}, {}] }}\n",
                at(20),
                at(22),
                4.0 * SPACING,
                at(14),
                at(14),
                at(33),
                at(33)
            )
            + &side("right", [33, 14], [33, 33])
            + &side("left", [13, 14], [13, 33])
            + &side("top", [14, 33], [33, 33])
            + &side("bottom", [14, 13], [33, 13]);
        let scenario = scene(&text);
        let mut solver = build(&scenario);
        let mut taps = Taps::of(&scenario);
        solver.advance(700, &mut taps).unwrap();
        let energy = taps.values(0);
        let out = |n: usize| taps.values(1)[n] - taps.values(2)[n] + taps.values(3)[n] - taps.values(4)[n];
        let time_step = taps.times()[1] - taps.times()[0];
        let mut passed = 0.0;
        let mut worst = 0.0f64;
        for n in 1..energy.len() {
            passed += time_step * (out(n) + out(n - 1)) / 2.0;
            worst = worst.max((energy[0] - energy[n] - passed).abs());
        }
        // The scheme's balance holds between two steps; the trapezoidal rule over steps of ωΔt ≤ 0.05 · 2π/10 adds (ωΔt)²/12 = 8e-5 of what flows. At higher orders
        // energies of bonds that cross the box's side are halved: the same sum.
        assert!(
            worst < 2e-3 * energy[0] && energy.last().unwrap() < &(0.7 * energy[0]),
            "order {order}: {:e}",
            worst / energy[0]
        );
    }
}

/// What absorbing edges have taken is gone, though ∫p dt stays behind in their layers: in the whole grid, in a part that reaches into them, in observables and in pictures.
#[test]
fn layers_keep_no_energy() {
    for method in ["fdtd", "oscillators"] {
        let text = format!(
            "[grid]\nsize = [160]\nspacing = {SPACING}\nedges = \"absorb\"\nabsorb_width = 32\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = {:e}\n\
             [solver]\nprecision = \"double\"\nmethod = {method:?}\n[[pulse]]\ncenter = [{}]\nwidth = {}\n\
             [[detector]]\nname = \"all\"\nmeasure = \"energy\"\n\
             [[detector]]\nname = \"most\"\nmeasure = \"energy\"\nregion = {{ min = [0.0], max = [{}] }}\n\
             [[detector]]\nname = \"layer\"\nmeasure = \"energy\"\nregion = {{ min = [0.0], max = [{}] }}\n",
            step(0.5),
            80.0 * SPACING,
            6.0 * SPACING,
            140.0 * SPACING,
            20.0 * SPACING,
        );
        let scenario = scene(&text);
        let mut solver = build(&scenario);
        let mut taps = Taps::of(&scenario);
        solver.advance(1, &mut taps).unwrap();
        let first = solver.observables().unwrap().energy;
        solver.advance(899, &mut taps).unwrap();
        let last = solver.observables().unwrap().energy;
        let of = |n: usize| (taps.values(n)[0], *taps.values(n).last().unwrap());
        // Layers as thick as five widths of the pulse: what they send back is below 1e-5 of its pressure at either end (`fdtd`), and what damping alone sends back e^(−12) of the energy.
        let rest = if method == "fdtd" { 1e-8 } else { 1e-4 };
        for (name, (before, after)) in [("all", of(0)), ("most", of(1)), ("observables", (first, last))] {
            assert!(
                before > 0.0 && after.abs() < rest * before,
                "{method}, {name}: {after:e} of {before:e} J/m²"
            );
        }
        assert!(
            (of(0).0 / first - 1.0).abs() < 1e-12,
            "{method}: {} and {first}",
            of(0).0
        );
        assert!(taps.values(2).iter().all(|energy| *energy == 0.0), "{method}");
    }
}

/// Turned back, the wave carries its energy the other way; a saved state goes on to the bit, and all variants record the same bits.
#[test]
fn velocity_follows_edits_states_and_variants() {
    let extra = format!(
        "[[detector]]\nname = \"e\"\nmeasure = \"energy\"\nregion = {{ min = [0.2, 0.2], max = [0.6, 0.9] }}\n\
         [[detector]]\nname = \"f\"\nmeasure = \"flux\"\nfrom = [0.5, 0.1]\nto = [0.5, {}]\n",
        30.0 * SPACING
    );
    let mut first: Option<Vec<Vec<f64>>> = None;
    for variant in variants(2) {
        let solver = format!("order = 4\nvariant = \"{variant}\"");
        let scenario = scene(&(header(&[60, 50], "[\"soft\", \"periodic\"]", 0.3, 1.2, &solver) + PULSE + &extra));
        let mut solver = build(&scenario);
        start(solver.as_mut(), &noise(3000, 7));
        let mut taps = Taps::of(&scenario);
        solver.advance(61, &mut taps).unwrap();
        let state = solver.save().unwrap();
        solver.edit(&scenario, &Edit::Conjugate).unwrap();
        solver.advance(60, &mut taps).unwrap();
        let (energy, flux) = (taps.values(0), taps.values(1));
        let scale = flux.iter().fold(0.0f64, |m, f| m.max(f.abs()));
        for n in 0..60 {
            // Round-off of 60 steps.
            assert!(
                (energy[60 + n] / energy[60 - n] - 1.0).abs() < 1e-11,
                "{variant}: step {n}"
            );
            if n > 0 {
                assert!(
                    (flux[60 + n] + flux[60 - n]).abs() < 1e-11 * scale,
                    "{variant}: step {n}"
                );
            }
        }
        let mut resumed = build(&scenario);
        resumed.load(&state).unwrap();
        resumed.edit(&scenario, &Edit::Conjugate).unwrap();
        let mut later = Taps::of(&scenario);
        resumed.advance(60, &mut later).unwrap();
        assert_eq!(&taps.values(0)[61..], later.values(0), "{variant}");
        let records = vec![energy.to_vec(), flux.to_vec()];
        match &first {
            Some(first) => assert_eq!(first, &records, "{variant}"),
            None => first = Some(records),
        }
    }
}

/// Plain runs keep no velocity, and say so.
#[test]
fn plain_runs_pay_nothing() {
    let text = header(&[40, 30], "\"wall\"", 0.3, 1.2, "") + PULSE;
    let mut plain = build(&scene(&text));
    let mut asked = build(&scene(&(text + "[view]\nquantity = \"energy\"\n")));
    start(plain.as_mut(), &noise(1200, 5));
    start(asked.as_mut(), &noise(1200, 5));
    advance(plain.as_mut(), 20);
    advance(asked.as_mut(), 20);
    assert!(plain.observables().unwrap().energy.is_nan());
    assert!(asked.observables().unwrap().energy > 0.0);
    assert!(plain.report().memory < asked.report().memory);
    assert_eq!(plain.field().unwrap(), asked.field().unwrap());
}

/// Squares of pressures of 1e-25 and 1e19 Pa are beyond single precision; energies and fluxes of such sound are not.
#[test]
fn weak_and_strong_sound_has_its_energy_in_single_precision() {
    let whole = "[[detector]]\nname = \"all\"\nmeasure = \"energy\"\n";
    let parts = format!(
        "[[detector]]\nname = \"part\"\nmeasure = \"energy\"\nregion = {{ min = [{:?}, {:?}], max = [{:?}, {:?}] }}\n\
         [[detector]]\nname = \"across\"\nmeasure = \"flux\"\nfrom = [{x:?}, {:?}]\nto = [{x:?}, {:?}]\n",
        5.0 * SPACING,
        4.0 * SPACING,
        22.0 * SPACING,
        20.0 * SPACING,
        2.0 * SPACING,
        28.0 * SPACING,
        x = 24.0 * SPACING,
    );
    for detectors in [whole, &parts] {
        let heard = |amplitude: f64| {
            let scenario = scene(&format!(
                "[grid]\nsize = [48, 32]\nspacing = {SPACING}\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = {:e}\n[solver]\nprecision = \"single\"\n\
                 [[pulse]]\ncenter = [{:?}, {:?}]\nwidth = {:?}\namplitude = {amplitude:e}\n{detectors}",
                step(0.5),
                16.0 * SPACING,
                12.0 * SPACING,
                3.0 * SPACING,
            ));
            let mut taps = Taps::of(&scenario);
            build(&scenario).advance(60, &mut taps).unwrap();
            let records = (0..scenario.detectors().len()).map(|n| taps.values(n).to_vec());
            records.collect::<Vec<_>>()
        };
        let expected = heard(1.0);
        for amplitude in [1e-25, 1e19] {
            for (found, expected) in heard(amplitude).iter().zip(&expected) {
                let most = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
                assert!(most > 0.0);
                for (a, b) in found.iter().zip(expected) {
                    // 60 steps of roundings of 6e-8 in other places, and their differences.
                    let off = a / amplitude / amplitude - b;
                    assert!(off.abs() < 1e-4 * most, "{amplitude:e}: {a:e} for {b:e}");
                }
            }
        }
    }
}

/// A source plays a millionth of its amplitude and less: squares of what a weak one plays are beyond single precision long before those of its amplitude.
#[test]
fn weak_and_strong_sources_have_their_energy_in_single_precision() {
    for (size, at, ends) in [
        ("[40, 30]", "[1.2, 0.9]", ("[0.5, 0.4]", "[3.0, 2.5]")),
        ("[60]", "[1.2]", ("[0.5]", "[3.0]")),
    ] {
        let heard = |amplitude: f64| {
            let scenario = scene(&format!(
                "[grid]\nsize = {size}\nspacing = 0.1\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = 1.4e-4\n[solver]\nprecision = \"single\"\n\
                 [[source]]\nat = {at}\nsignal = \"burst\"\ncycles = 2\nfrequency = 400.0\namplitude = {amplitude:e}\n\
                 [[detector]]\nname = \"part\"\nmeasure = \"energy\"\nregion = {{ min = {}, max = {} }}\n",
                ends.0, ends.1
            ));
            let mut taps = Taps::of(&scenario);
            build(&scenario).advance(60, &mut taps).unwrap();
            taps.values(0).to_vec()
        };
        let expected = heard(1.0);
        let most = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        assert!(most > 0.0);
        // Those of 1e-7 and 1 are added up in single precision.
        for amplitude in [1e-13, 1e-11, 1e-9, 1e-8, 1e-7, 1e24] {
            for (a, b) in heard(amplitude).iter().zip(&expected) {
                let off = a / amplitude / amplitude - b;
                assert!(off.abs() < 1e-4 * most, "{size}, {amplitude:e}: {a:e} for {b:e}");
            }
        }
    }
}

/// An edit of a source by 10²⁰ is followed by sums in single precision, and one that takes it back leaves the strong sound that is there its energy.
#[test]
fn edited_sources_have_their_energy_in_single_precision() {
    let text = |amplitude: f64, precision: &str| {
        format!(
            "[grid]\nsize = [40, 30]\nspacing = 0.1\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = 1.4e-4\n[solver]\nprecision = \"{precision}\"\n\
             [[source]]\nat = [1.2, 0.9]\nsignal = \"sine\"\nfrequency = 400.0\namplitude = {amplitude:e}\n\
             [[detector]]\nname = \"part\"\nmeasure = \"energy\"\nregion = {{ min = [0.5, 0.4], max = [3.0, 2.5] }}\n\
             [[detector]]\nname = \"all\"\nmeasure = \"energy\"\n"
        )
    };
    let heard = |precision: &str| {
        let begun = scene(&text(1e6, precision));
        let (mut run, mut taps) = (build(&begun), Taps::of(&begun));
        run.advance(20, &mut taps).unwrap();
        for amplitude in [1e26, 1e6] {
            run.edit(&scene(&text(amplitude, precision)), &Edit::Medium).unwrap();
            run.advance(20, &mut taps).unwrap();
        }
        [0, 1].map(|n| taps.values(n).to_vec())
    };
    for (single, double) in heard("single").iter().zip(&heard("double")) {
        let most = double.iter().fold(0.0_f64, |most, value| most.max(*value));
        assert!(most > 1e30, "{most:e}");
        for (found, expected) in single.iter().zip(double) {
            assert!((found - expected).abs() < 1e-4 * most, "{found:e} for {expected:e}");
        }
    }
}

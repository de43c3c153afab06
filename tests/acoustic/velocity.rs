//! Detectors of the velocity of the medium: `measure = "velocity"`.

use ripplon::engine::Engine;
use ripplon::scene::Scenario;
use ripplon::solver;
use std::ops::ControlFlow;
use std::sync::Arc;

fn read(text: &str) -> Result<Scenario, String> {
    let read = solver::read_scene_text(text, None, &[]);
    read.map(|(_, scenario)| scenario)
        .map_err(|faults| faults.render(false))
}

fn run(engine: &mut Engine, time: f64) {
    let end = engine.run_until(time, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert!(end.reached);
}

/// A pulse on a line, which goes apart, with a detector of each kind to both sides, between sites.
fn line(solver: &str) -> String {
    format!(
        "format = 1\n[grid]\nsize = [600]\nspacing = 0.01\nedges = \"absorb\"\n[acoustic]\nspeed = 343.0\ndensity = 1.2\n\
         [time]\nstep = 1.2e-5\nend = 0.012\n[solver]\n{solver}\n[[pulse]]\ncenter = 3.0\nwidth = 0.12\namplitude = 2.0\n\
         [[detector]]\nname = \"p right\"\nat = 4.1237\n[[detector]]\nname = \"v right\"\nat = 4.1237\nmeasure = \"velocity\"\n\
         [[detector]]\nname = \"p left\"\nat = 1.5\n[[detector]]\nname = \"v left\"\nat = 1.5\nmeasure = \"velocity\"\ndirection = [2.0]\n"
    )
}

/// What runs to the right has p = ρcv, what runs to the left p = −ρcv (d'Alembert). The pulse's wave numbers are k < 4/w = 1/3 a site: the lattice's Z is off by (ka)²/24, the integral by (ωΔt)²/12
/// with cΔt = 0.41 a; together 0.2 % of the largest pressure, single precision nothing beside it.
#[test]
fn plane_waves_have_the_impedance_of_the_medium() {
    for solver in [
        "method = \"fdtd\"",
        "method = \"fdtd\"\nvariant = \"stepwise\"\nprecision = \"double\"",
        "method = \"fdtd\"\norder = 4\nprecision = \"double\"",
        "method = \"oscillators\"",
    ] {
        let mut text = line(solver);
        if solver.contains("oscillators") {
            // Its edges damp what they turn back: the time ends before that.
            text = text.replace("end = 0.012", "end = 0.006");
        }
        let scenario = Arc::new(read(&text).unwrap());
        let end = scenario.time().end.unwrap();
        let mut engine = Engine::new(scenario).unwrap();
        run(&mut engine, end);
        let taps = engine.taps();
        for (pressure, velocity, sign) in [(0, 1, 1.0), (2, 3, -1.0)] {
            let (p, v) = (taps.series(pressure).1, taps.series(velocity).1);
            let largest = p.iter().fold(0.0, |most: f64, p| most.max(p.abs()));
            assert!((largest - 1.0).abs() < 0.01, "half of the pulse passes: {largest}");
            let off = (p.iter().zip(&*v)).fold(0.0, |most: f64, (p, v)| most.max((p - sign * 1.2 * 343.0 * v).abs()));
            // Oscillators move pair by pair: the pressures of a wave alternate by some (cΔt/a)² (ka)²/2, 1 %.
            let allowed = if solver.contains("oscillators") { 0.02 } else { 2e-3 };
            assert!(off < allowed, "{solver}, detector {velocity}: off by {off}");
        }
        assert_eq!(
            engine.scenario().detectors()[1]
                .measure
                .unit(ripplon::physics::Equation::Acoustic, 1),
            "m/s"
        );
    }
}

/// In a plane a velocity is that along its direction: of a wave along x the cosine of it, and across nothing.
#[test]
fn a_velocity_has_a_direction() {
    let text = "format = 1\n[grid]\nsize = [300, 24]\nspacing = 0.01\nedges = [\"absorb\", \"wall\"]\n[acoustic]\n[time]\nend = 0.006\n\
                [solver]\nmethod = \"fdtd\"\nprecision = \"double\"\n[[source]]\nfrom = [0.5, 0.0]\nto = [0.5, 0.23]\nsignal = \"ricker\"\nfrequency = 800.0\namplitude = 1e6\n\
                [[detector]]\nname = \"p\"\nat = [1.2, 0.104]\n[[detector]]\nname = \"oblique\"\nat = [1.2, 0.104]\nmeasure = \"velocity\"\ndirection = [3.0, 4.0]\n\
                [[detector]]\nname = \"across\"\nat = [1.2, 0.104]\nmeasure = \"velocity\"\ndirection = [0.0, 1.0]\n\
                [[detector]]\nname = \"rms\"\nat = [1.2, 0.104]\nmeasure = \"velocity\"\ndirection = [1.0, 0.0]\nas = \"rms\"\n";
    let mut engine = Engine::new(Arc::new(read(text).unwrap())).unwrap();
    run(&mut engine, 0.006);
    let series = |n: usize| engine.taps().series(n).1.into_owned();
    let (p, oblique, across) = (series(0), series(1), series(2));
    let largest = p.iter().fold(0.0, |most: f64, p| most.max(p.abs()));
    let z = 1.2 * 343.0;
    for ((p, oblique), across) in p.iter().zip(&oblique).zip(&across) {
        // A Ricker wavelet has waves of 14 sites: (ka)²/24 and (ωΔt)²/12 are 1 and 2 %.
        assert!((p - oblique * z / 0.6).abs() < 0.02 * largest, "{p} and {oblique}");
        assert!((across * z).abs() < 1e-6 * largest, "{across}");
    }
    let square = oblique.iter().map(|v| (v / 0.6).powi(2)).sum::<f64>() / oblique.len() as f64;
    let rms = *series(3).last().unwrap();
    assert!((rms / square.sqrt() - 1.0).abs() < 0.01, "{rms} for {}", square.sqrt());
}

/// A run that goes on from a checkpoint goes on with its velocities.
#[test]
fn a_checkpoint_keeps_velocities() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half.checkpoint");
    let scenario = Arc::new(read(&line("method = \"fdtd\"")).unwrap());
    let mut engine = Engine::new(Arc::clone(&scenario)).unwrap();
    run(&mut engine, 0.0033);
    engine.save_checkpoint(&path).unwrap();
    run(&mut engine, 0.006);
    let (mut resumed, _) = Engine::resume(scenario, &path).unwrap();
    run(&mut resumed, 0.006);
    assert_eq!(engine.taps().series(1).1, resumed.taps().series(1).1);
    assert_eq!(engine.taps().series(3).1, resumed.taps().series(3).1);
}

#[test]
fn what_has_no_velocity_says_so() {
    let good = line("method = \"fdtd\"");
    let refused = |text: &str, what: &str| {
        let faults = read(text).unwrap_err();
        assert!(faults.contains(what), "{faults}");
    };
    refused(
        &good.replace("direction = [2.0]", "direction = [0.0]"),
        "points nowhere",
    );
    refused(&good.replace("direction = [2.0]", "every = 3"), "step by step");
    refused(
        &good.replace("at = 1.5\nmeasure", "region = { min = [1.0], max = [2.0] }\nmeasure"),
        "at a point",
    );
    refused(
        &good.replace("measure = \"velocity\"\ndirection", "direction"),
        "has no direction",
    );
    refused(
        &format!("{good}[mirror]\nmethod = \"echo\"\nat = 0.005\n"),
        "reverses time",
    );
    refused(&good.replace("direction = [2.0]", "as = \"level\""), "of a pressure");
    // Written and read again.
    let (file, _) = solver::read_scene_text(&good, None, &[]).unwrap();
    assert!(file.to_toml().contains("direction = [2.0]"), "{}", file.to_toml());
    assert_eq!(solver::read_scene_text(&file.to_toml(), None, &[]).unwrap().0, file);
}

/// At a force the slope of the pressure is the force itself, and moves nothing: a dipole on a line sends ±A/2, and through its place v = A/2ρc goes on, whatever the spacing; the slope alone made 3 to 15 times as much,
/// twice as much with each halving. A one-way source puts in volume as well, so that v rises from 0 to A/ρc in its place, where it is half of that. Off are (ka)²/24 of the difference and (ωΔt)²/12, 0.4 % at 17 sites a
/// wavelength, and 0.6 % of the onset; a wave that begins in a site is sharper than the weights of three sites, 1 %.
#[test]
fn forces_are_no_acceleration() {
    let exact = 2.0 / (1.25 * 340.0) / 2f64.sqrt();
    for order in [2, 4, 8] {
        for spacing in [0.04, 0.02, 0.01_f64] {
            for (pattern, off, here, there) in [
                ("dipole", 0.0, 0.5, 0.5),
                ("one-way", 0.0, 0.5, 1.0),
                ("dipole", 0.3, 0.5, 0.5),
            ] {
                let at = 3.0 + off * spacing;
                let beyond = at + 5.0 * spacing;
                let step: f64 = 1e-3 * spacing;
                let text = format!(
                    "format = 1\n[grid]\nsize = [{:.0}]\nspacing = {spacing}\nedges = \"absorb\"\n[acoustic]\nspeed = 340.0\ndensity = 1.25\n[time]\nstep = {step}\nend = 0.012\n\
                     [solver]\nmethod = \"fdtd\"\norder = {order}\nprecision = \"double\"\n\
                     [[source]]\nat = [{at}]\nsignal = \"sine\"\nfrequency = 500.0\namplitude = 2.0\npattern = \"{pattern}\"\n\
                     [[detector]]\nname = \"here\"\nat = [{at}]\nmeasure = \"velocity\"\n[[detector]]\nname = \"there\"\nat = [{beyond}]\nmeasure = \"velocity\"\n",
                    6.0 / spacing
                );
                let mut engine = Engine::new(Arc::new(read(&text).unwrap())).unwrap();
                run(&mut engine, 0.012);
                // Two periods.
                let count = (0.004 / step).round() as usize;
                for (detector, share) in [(0, here), (1, there)] {
                    let values = engine.taps().series(detector).1;
                    let last = &values[values.len() - count..];
                    let rms = (last.iter().map(|v| v * v).sum::<f64>() / count as f64).sqrt();
                    assert!(
                        (rms / (share * exact) - 1.0).abs() < 0.02,
                        "{pattern}, order {order}, spacing {spacing}, detector {detector}: {rms} for {}",
                        share * exact
                    );
                }
            }
        }
    }
}

/// At a wall of Z = ξρc the medium moves with p/Z, and so it does at the last site, half a spacing before it: a slope that a mirror hides was read there, which made it 1.6 times as slow for ξ = 1. At 34 sites a wavelength
/// the polynomial is off by 1 %, and what wide stencils take for a mirror moves the pressure beside the face by some per cent of its slope.
#[test]
fn walls_that_take_energy_are_reached_by_the_velocity() {
    for order in [2, 4, 8] {
        for xi in [1.0, 3.0] {
            let text = format!(
                "format = 1\n[grid]\nsize = [200]\nspacing = 0.02\nedges = \"wall\"\n[acoustic]\nspeed = 340.0\ndensity = 1.25\n[time]\nstep = 2e-5\nend = 0.04\n\
                 [solver]\nmethod = \"fdtd\"\norder = {order}\nprecision = \"double\"\n[[layer]]\nsets = \"impedance\"\nvalue = {xi}\n\
                 [[source]]\nat = [1.0]\nsignal = \"sine\"\nfrequency = 500.0\namplitude = 2.0\npattern = \"one-way\"\n\
                 [[detector]]\nname = \"p\"\nat = [3.98]\n[[detector]]\nname = \"v\"\nat = [3.98]\nmeasure = \"velocity\"\n"
            );
            let mut engine = Engine::new(Arc::new(read(&text).unwrap())).unwrap();
            run(&mut engine, 0.04);
            // Two periods, about their mean.
            let rms = |detector: usize| {
                let values = engine.taps().series(detector).1;
                let last = &values[values.len() - 200..];
                let mean = last.iter().sum::<f64>() / 200.0;
                (last.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 200.0).sqrt()
            };
            let ratio = rms(0) / rms(1) / (1.25 * 340.0);
            assert!((ratio / xi - 1.0).abs() < 0.05, "order {order}, ξ = {xi}: {ratio}");
        }
    }
}

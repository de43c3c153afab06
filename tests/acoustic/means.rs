//! Maps of means over time and of the velocity, and readings of detectors, in plane waves and standing ones.

use crate::recorded::header;
use crate::{SPACING, SPEED, build, scene, try_scene};
use ripplon::physics::REFERENCE_PRESSURE;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{FieldImage, ImageRequest, Solver, Taps};

fn picture(solver: &mut dyn Solver, quantity: Quantity, size: [usize; 2]) -> Vec<f32> {
    let request = ImageRequest::new(quantity, [0..size[0], 0..size[1]], 0, size);
    let mut image = FieldImage::default();
    solver.image(&request, &mut image).unwrap();
    image.value
}

/// A plane wave of 3 Pa at 40 sites a wavelength: √⟨p²⟩ = 3/√2, its level, ⟨p v⟩ = 3²/2ρc and v = p/ρc. Means fade over 40 periods, so that the square's swing leaves 1/(2ωT) = 0.2 % and the onset e^(−5).
/// The central difference is sin(ka)/ka = 0.4 % small, and so is the intensity.
#[test]
fn a_plane_wave_carries_what_its_formula_says() {
    let frequency = SPEED / (40.0 * SPACING);
    let scene_of = |quantity: &str, over: &str| {
        header(&[500], "\"absorb\"", 0.9, 2)
            + &format!(
                "[view]\nquantity = \"{quantity}\"\n{over}[[source]]\nat = [{}]\nsignal = \"sine\"\nfrequency = {frequency}\namplitude = 3.0\n\
                 pattern = \"one-way\"\n[[detector]]\nname = \"rms\"\nat = [{x}]\nas = \"rms\"\nover = {over_of}\n[[detector]]\nname = \"level\"\nat = [{x}]\nas = \"level\"\nover = {over_of}\n\
                 [[detector]]\nname = \"flow\"\nat = [{x}]\nmeasure = \"flux\"\nas = \"mean\"\nover = {over_of}\n",
                60.0 * SPACING,
                x = 300.0 * SPACING,
                over_of = 40.0 / frequency,
            )
    };
    let steps = (250.0 * 40.0 / 0.9) as u64;
    let impedance = 1.2 * SPEED;
    let over = format!("over = {}\n", 40.0 / frequency);
    for (quantity, word, wanted, tolerance) in [
        (Quantity::Rms, "rms", 3.0 / 2f64.sqrt(), 0.01),
        (
            Quantity::Level,
            "level",
            20.0 * (3.0 / 2f64.sqrt() / REFERENCE_PRESSURE).log10(),
            0.001,
        ),
        (Quantity::Intensity, "intensity", 4.5 / impedance, 0.015),
    ] {
        let scenario = scene(&scene_of(word, &over));
        let mut solver = build(&scenario);
        let mut taps = Taps::of(&scenario);
        solver.advance(steps, &mut taps).unwrap();
        let values = picture(solver.as_mut(), quantity, [500, 1]);
        if quantity == Quantity::Intensity {
            // With its sign: it goes along +x.
            let flow = solver.mean_intensity().unwrap();
            assert!((f64::from(flow[200]) / wanted - 1.0).abs() < tolerance, "{}", flow[200]);
        }
        for x in [120, 200, 350] {
            let value = f64::from(values[x]);
            assert!(
                (value / wanted - 1.0).abs() < tolerance,
                "{word} at {x}: {value} for {wanted}"
            );
        }
        if quantity == Quantity::Level {
            // As the source begins, a part of its wave goes back that is 90 dB weaker; of that no less than 0 dB are shown.
            assert!((0.0..20.0).contains(&values[10]), "{} dB go back", values[10]);
        } else {
            assert!(f64::from(values[10]) < 0.01 * wanted, "{word}: nothing goes back");
        }
        let last = |n: usize| taps.latest(n).unwrap();
        assert!((last(0) / (3.0 / 2f64.sqrt()) - 1.0).abs() < 0.01, "{}", last(0));
        assert!((last(1) - 20.0 * (last(0) / REFERENCE_PRESSURE).log10()).abs() < 1e-9);
        assert!((last(2) / (4.5 / impedance) - 1.0).abs() < 0.015, "{}", last(2));
    }
    let mut solver = build(&scene(&scene_of("velocity", "")));
    solver.advance(steps, &mut Taps::default()).unwrap();
    let velocity = picture(solver.as_mut(), Quantity::Velocity, [500, 1]);
    let pressure = picture(solver.as_mut(), Quantity::Pressure, [500, 1]);
    // The time of both is tₙ; the difference is that of the lattice.
    for x in 120..350 {
        let wanted = f64::from(pressure[x].abs()) / impedance;
        assert!((f64::from(velocity[x]) - wanted).abs() < 0.01 * 3.0 / impedance, "{x}");
    }
}

/// Before a rigid wall a tone stands: its intensity is that of nothing, and its rms goes as |cos kx|. Saved and loaded the means go on to the bit.
#[test]
fn a_standing_wave_carries_nothing() {
    let frequency = SPEED / (40.0 * SPACING);
    let text = |quantity: &str| {
        header(&[420], "\"absorb\"", 0.9, 2)
            + &format!(
                "[view]\nquantity = \"{quantity}\"\nover = {}\n[[source]]\nat = [{}]\nsignal = \"sine\"\nfrequency = {frequency}\namplitude = 3.0\npattern = \"one-way\"\n\
                 [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [{}]\nmax = [100.0]\n",
                40.0 / frequency,
                60.0 * SPACING,
                319.5 * SPACING
            )
    };
    let steps = (250.0 * 40.0 / 0.9) as u64;
    let mut solver = build(&scene(&text("intensity")));
    solver.advance(steps, &mut Taps::default()).unwrap();
    let flow = picture(solver.as_mut(), Quantity::Intensity, [420, 1]);
    let carried = 4.5 / (1.2 * SPEED);
    assert!(flow[100..315].iter().all(|value| f64::from(*value) < 0.03 * carried));
    let mut solver = build(&scene(&text("rms")));
    solver.advance(steps / 2, &mut Taps::default()).unwrap();
    let saved = solver.save().unwrap();
    solver.advance(steps - steps / 2, &mut Taps::default()).unwrap();
    let rms = picture(solver.as_mut(), Quantity::Rms, [420, 1]);
    let mut loaded = build(&scene(&text("rms")));
    loaded.load(&saved).unwrap();
    loaded.advance(steps - steps / 2, &mut Taps::default()).unwrap();
    assert_eq!(picture(loaded.as_mut(), Quantity::Rms, [420, 1]), rms);
    for x in 100..320usize {
        // From the face, half a site beyond the last.
        let way = 319.5 - x as f64;
        let wanted = 6.0 / 2f64.sqrt() * (std::f64::consts::TAU * way / 40.0).cos().abs();
        assert!(
            (f64::from(rms[x]) - wanted).abs() < 0.08,
            "{x}: {} for {wanted}",
            rms[x]
        );
    }
}

/// A tone that crosses from ρ = 1.2 to 12 carries 4·10/11² of its power on, and what is left before the jump is the same: at every site, as at every face in the scheme itself, up to the onset
/// (e^(−5) of the means, 0.7 %), sin(ka)/ka, 0.4 %, and what a time constant of 40 periods leaves of p·v at twice the frequency: 1/(4π 40) of an amplitude that is (1 + R²)/(1 − R²) = 5 times the
/// intensity in the standing wave before the jump, R = 9/11, 1 %.
#[test]
fn a_jump_of_the_density_does_not_change_the_intensity() {
    let frequency = SPEED / (40.0 * SPACING);
    let wanted = 4.5 / (1.2 * SPEED) * 40.0 / 121.0;
    let steps = (250.0 * 40.0 / 0.6) as u64;
    for axis in [0, 1] {
        let (size, edges) = if axis == 0 {
            (vec![300], "\"absorb\"")
        } else {
            (vec![3, 300], "[\"periodic\", \"absorb\"]")
        };
        let point = |along: f64, across: f64| {
            if axis == 0 {
                vec![along]
            } else {
                vec![across * SPACING, along]
            }
        };
        let source = match axis {
            0 => format!("at = {:?}", point(60.0 * SPACING, 0.0)),
            _ => format!(
                "from = {:?}\nto = {:?}\ndirection = [0.0, 1.0]",
                point(60.0 * SPACING, 0.0),
                point(60.0 * SPACING, 2.0)
            ),
        };
        let text = header(&size, edges, 0.6, 2)
            + &format!(
                "[view]\nquantity = \"intensity\"\nover = {}\n[[source]]\n{source}\nsignal = \"sine\"\nfrequency = {frequency}\namplitude = 3.0\npattern = \"one-way\"\n\
                 [[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = {:?}\nmax = {:?}\nvalue = 12.0\n",
                40.0 / frequency,
                point(149.5 * SPACING, -1.0),
                point(1e3, 9.0)
            );
        let mut solver = build(&scene(&text));
        solver.advance(steps, &mut Taps::default()).unwrap();
        let flow = solver.mean_intensity().unwrap();
        let along = |at: usize| {
            f64::from(if axis == 0 {
                flow[at]
            } else {
                flow[3 * 300 + 3 * at + 1]
            })
        };
        for at in 120..200 {
            let off = along(at) / wanted - 1.0;
            assert!(off.abs() < 0.021, "axis {axis}, site {at}: off by {off}");
        }
    }
}

/// Rows of towers and rows step by step give the same picture, and no picture is made of what nobody averages.
#[test]
fn what_cannot_be_averaged_is_said() {
    let text =
        |more: &str| header(&[30, 20], "\"wall\"", 0.5, 2) + "[[pulse]]\ncenter = [0.3, 0.3]\nwidth = 0.1\n" + more;
    let said = |more: &str| try_scene(&text(more)).err().unwrap_or_default();
    assert!(said("[view]\nquantity = \"pressure\"\nover = 1.0\n").contains("not a mean over time"));
    assert!(said("[[detector]]\nname = \"a\"\nmeasure = \"energy\"\nas = \"level\"\n").contains("one of a pressure"));
    assert!(said("[[detector]]\nname = \"a\"\nat = [0.1, 0.1]\nover = 1.0\n").contains("nothing is averaged"));
    assert!(
        said("[[detector]]\nname = \"a\"\nat = [0.1, 0.1]\nmeasure = \"peak\"\nas = \"rms\"\n")
            .contains("so far has no")
    );
    let mut late = build(&scene(&text("")));
    let mut early = build(&scene(&text("[view]\nquantity = \"rms\"\n")));
    late.advance(3, &mut Taps::default()).unwrap();
    picture(late.as_mut(), Quantity::Rms, [30, 20]);
    late.advance(40, &mut Taps::default()).unwrap();
    early.advance(43, &mut Taps::default()).unwrap();
    let (late, early) = (
        picture(late.as_mut(), Quantity::Rms, [30, 20]),
        picture(early.as_mut(), Quantity::Rms, [30, 20]),
    );
    // The late one has 40 of 43 steps.
    for (late, early) in late.iter().zip(&early) {
        let (late, early) = (f64::from(late * late) * 40.0, f64::from(early * early) * 43.0);
        assert!(late <= early * (1.0 + 1e-5) + 1e-12);
    }
}

/// Walls have no pressure: in a room where it is 1 Pa everywhere it is 1 Pa in the mean, however many walls a region holds.
#[test]
fn a_mean_pressure_leaves_walls_out() {
    let detectors = [
        "",
        "region = { min = [0.0, 0.0], max = [0.9, 0.7] }\n",
        "from = [0.0, 0.5]\nto = [1.9, 0.5]\n",
        "region = { min = [1.2, 0.3], max = [1.3, 0.4] }\n",
    ];
    let named = |(n, place): (usize, &&str)| format!("[[detector]]\nname = \"{n}\"\nmeasure = \"pressure\"\n{place}");
    for (method, parts) in [("fdtd", ""), ("fdtd", "parts = 2\n"), ("oscillators", "")] {
        let text = format!(
            "[grid]\nsize = [20, 16]\nspacing = 0.1\nedges = \"wall\"\n[acoustic]\nspeed = 340.0\n[time]\nstep = 1e-5\n[solver]\nmethod = \"{method}\"\nprecision = \
             \"double\"\n{parts}[[pulse]]\ncenter = [1.0, 0.8]\nwidth = 1e7\n[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [0.5, 0.0]\nmax = [1.25, 1.6]\n{}",
            detectors.iter().enumerate().map(named).collect::<String>()
        );
        let scenario = scene(&text);
        let method = ripplon::solver::find(method).unwrap();
        let mut solver = (method.build)(&scenario).unwrap();
        let mut taps = Taps::of(&scenario);
        solver.advance(5, &mut taps).unwrap();
        for n in 0..detectors.len() {
            let last = *taps.values(n).last().unwrap();
            assert!((last - 1.0).abs() < 1e-9, "{}, {parts}detector {n}: {last}", method.id);
        }
    }
}

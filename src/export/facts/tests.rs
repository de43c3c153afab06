//! Rows of scenes: what is played, recorded and set, with its numbers; and how numbers are written.

use super::{figure, rows, within};
use crate::scene::{Scenario, SceneFile, presets};
use crate::solver;

/// Who is to foretell what a detector records reads what that is, in which unit, and where.
#[test]
fn detectors_say_what_they_record_and_where() {
    let preset = presets::find("pond").unwrap();
    let (file, scenario) = solver::read_scene_text(preset.text, None, &[]).unwrap();
    let told = rows(&file, &scenario, 5e-5);
    let detectors: Vec<&str> = told
        .iter()
        .filter(|(name, _)| name == "Detector")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(detectors.len(), 4);
    assert_eq!(detectors[0], "middle: pressure in Pa at (4.3904, 4.3904) m");
    assert_eq!(detectors[3], "all: energy in J/m everywhere, every 8 steps");
    let preset = presets::find("snell").unwrap();
    let (file, scenario) = solver::read_scene_text(preset.text, None, &[]).unwrap();
    let layer = "speed = 3000 m/s, box from (0, 0) to (1.845, 0.57) m";
    let layer = ("Layer".to_owned(), layer.to_owned());
    assert!(rows(&file, &scenario, 1e-6).contains(&layer));
    let preset = presets::find("doppler").unwrap();
    let (file, scenario) = solver::read_scene_text(preset.text, None, &[]).unwrap();
    let source = "sine, 245 Hz, amplitude 400000 Pa m²/s², at (4, 6) m at the start, moving with (171.5, 0) m/s";
    assert!(rows(&file, &scenario, 1e-5).contains(&("Source".to_owned(), source.to_owned())));
}

/// What a prediction of a sound needs: how strong a source is and which way it plays, which level is meant and over which time.
#[test]
fn sources_and_detectors_have_their_numbers() {
    let text = "format = 1\n[grid]\nsize = [40, 30]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\nend = 0.01\n\
                [[source]]\nfrom = [1.0, 0.0]\nto = [1.0, 2.9]\nsignal = \"sine\"\nfrequency = 200.0\namplitude = 2.5\n\
                pattern = \"dipole\"\ndirection = [1.0, 0.0]\ndelay = 0.002\n\
                [[source]]\nat = [3.0, 1.0]\nsignal = \"ricker\"\nfrequency = 300.0\n\
                [[detector]]\nname = \"ear\"\nat = [2.0, 1.0]\nas = \"level\"\nover = 0.005\nevery = 4\n\
                [[layer]]\nsets = \"wall\"\nshape = \"slits\"\nx = 2.0\nthickness = 0.2\ncenters = [1.0, 2.0]\nopening = 0.3\n\
                [[layer]]\nsets = \"wall\"\nshape = \"ring\"\ncenter = [3.0, 2.0]\ninner = 0.5\nouter = 0.7\n";
    let (file, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
    let told = rows(&file, &scenario, 1e-4);
    let of = |name: &str| -> Vec<&str> {
        let all = told.iter().filter(|(own, _)| own == name);
        all.map(|(_, value)| value.as_str()).collect()
    };
    assert_eq!(
        of("Source"),
        [
            "sine, 200 Hz, amplitude 2.5 Pa, dipole along (1, 0), 0.002 s late, from (1, 0) to (1, 2.9) m",
            "Ricker wavelet, 300 Hz, amplitude 1 Pa m²/s², at (3, 1) m"
        ]
    );
    assert_eq!(
        of("Detector"),
        ["ear: level in dB re 20 µPa at (2, 1) m, with a time constant of 0.005 s, every 4 steps"]
    );
    assert_eq!(
        of("Layer"),
        [
            "wall, screen at x = 2 m, 0.2 m thick, with openings of 0.3 m at y = 1, 2 m",
            "wall, ring of radii 0.5 to 0.7 m about (3, 2) m"
        ]
    );
}

/// A ball is no disk; a formula that is a number is told as one, and others in the signs of print.
#[test]
fn layers_say_what_they_are() {
    let told = |name: &str| {
        let (file, scenario) = solver::read_scene_text(presets::find(name).unwrap().text, None, &[]).unwrap();
        let rows = rows(&file, &scenario, 1e-4).into_iter();
        let layers = rows.filter(|(name, _)| name == "Layer").map(|(_, value)| value);
        layers.collect::<Vec<String>>()
    };
    let room = told("sabine");
    assert_eq!(room[0], "impedance = 31.3014, everywhere");
    assert_eq!(room[1], "wall, ball of radius 0.55 m about (1.3, 1.1, 0.9) m");
    let atom = told("laser-atom");
    assert_eq!(atom[0], "potential = −1/√((x − 255.875)^2 + 2), everywhere");
    let driven =
        ", times 0.055*max(0, min(1, min(t, 897.6 − t)/179.52))*sin(0.07*t), added to earlier values, everywhere";
    assert!(atom[1].ends_with(driven), "{}", atom[1]);
}

/// Bonds along one axis are not those along all, and what is added to earlier values does not replace them. On a line there is one axis.
#[test]
fn layers_say_their_axis_and_that_they_add() {
    let told = |text: &str| {
        let (file, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        let rows = rows(&file, &scenario, 1e-4).into_iter();
        let layers = rows.filter(|(name, _)| name == "Layer").map(|(_, value)| value);
        layers.collect::<Vec<String>>()
    };
    let scene = |size: &str, layers: &str| {
        format!(
            "format = 1\n[grid]\nsize = {size}\nspacing = 1.0\n[quantum]\n[solver]\nmethod = \"trotter\"\n\
             [[packet]]\ncenter = 5.0\nwidth = 2.0\n{layers}"
        )
    };
    let layers = "[[layer]]\nsets = \"hopping\"\naxis = \"x\"\nvalue = 0.5\n[[layer]]\nsets = \"hopping\"\nvalue = 0.25\n\
                  [[layer]]\nsets = \"potential\"\nvalue = 0.1\nmode = \"add\"\n\
                  [[layer]]\nsets = \"wall\"\nmode = \"add\"\nshape = \"disk\"\ncenter = [12.0, 5.0]\nradius = 2.0\n";
    assert_eq!(
        told(&scene("[16, 12]", layers).replace("center = 5.0", "center = [5.0, 5.0]")),
        [
            "hopping = 0.5, along x only, everywhere",
            "hopping = 0.25, everywhere",
            "potential = 0.1, added to earlier values, everywhere",
            "wall, disk of radius 2 about (12, 5)"
        ]
    );
    let line = "[[layer]]\nsets = \"hopping\"\naxis = \"x\"\nvalue = 0.5\n";
    assert_eq!(told(&scene("[16]", line)), ["hopping = 0.5, everywhere"]);
}

/// When time is reversed, by the clock of the run, and through which transducers; an echo reverses the field as it is.
#[test]
fn mirrors_say_when_and_through_what() {
    let read = |name: &str, settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        solver::read_scene_text(presets::find(name).unwrap().text, None, &settings).unwrap()
    };
    let told = |(file, scenario): (SceneFile, Scenario), step| {
        let mut rows = rows(&file, &scenario, step).into_iter();
        rows.find(|(name, _)| name == "Mirror").unwrap().1
    };
    let ring = "90 transducers on a ring of radius 1.8 m about (2.59, 2.59) m";
    assert_eq!(
        told(read("ring-mirror", &[]), 1e-4),
        format!("reversal at t = 18.0 ms, {ring}")
    );
    for (playing, words) in [
        ("mirror.playing=30", ", of which 30 play"),
        ("mirror.playing=1", ", of which 1 plays"),
        ("mirror.playing=90", ""),
    ] {
        assert_eq!(
            told(read("ring-mirror", &[playing]), 1e-4),
            format!("reversal at t = 18.0 ms, {ring}{words}")
        );
    }
    for (name, settings, words) in [
        (
            "ring-mirror",
            &["mirror.transducers={ shape = \"edges\" }"][..],
            "reversal at t = 18.0 ms, transducers on all sites at the edges",
        ),
        (
            "through-the-forest",
            &[],
            "reversal at t = 30.0 ms, 9 transducers on a line from (0.5, 1) to (0.5, 1.6) m",
        ),
        (
            "one-transducer",
            &[],
            "reversal at t = 105.0 ms, 1 transducer at (1.7, 0.4) m",
        ),
    ] {
        assert_eq!(told(read(name, settings), 1e-4), words);
    }
    for (name, words) in [
        ("echo", "echo at t = 80.0 of the whole field"),
        (
            "inverse-filter",
            "inverse-filter at t = 400.0, 2 transducers at 450, 451",
        ),
    ] {
        assert_eq!(told(read(name, &[]), 0.1), words);
    }
    // Of a ring an inverse filter takes all sites.
    let (mut file, scenario) = read("ring-mirror", &[]);
    file.mirror.as_mut().unwrap().method = crate::physics::MirrorMethod::InverseFilter;
    assert_eq!(
        told((file, scenario), 1e-4),
        "inverse-filter at t = 18.0 ms, transducers all along a ring of radius 1.8 m about (2.59, 2.59) m"
    );
}

/// What is predicted and what was measured have the same decimals: one more than the tolerance.
#[test]
fn values_have_one_decimal_more_than_their_tolerance() {
    for (value, tolerance, text) in [
        (255.4196, 0.005, "255.4196"),
        (255.419, 0.005, "255.4190"),
        (0.140502, 0.003, "0.1405"),
        (0.13864, 0.015, "0.1386"),
        (-0.25, 2e-5, "−0.250000"),
        (0.0, 0.01, "0.000"),
        (0.0, 1e-9, "0"),
        (343.0, 5.0, "343.0"),
        (34300.0, 200.0, "34300"),
        (3.0e-7, 1e-9, "3.000 × 10⁻⁷"),
        (0.5, 0.0, "0.5"),
        (f64::NAN, 0.1, "NaN"),
    ] {
        assert_eq!(within(value, tolerance), text, "{value} ± {tolerance}");
    }
}

#[test]
fn numbers_have_six_figures_at_most() {
    for (value, text) in [
        (0.5, "0.5"),
        (1.0, "1"),
        (0.0343, "0.0343"),
        (-2.5, "−2.5"),
        (343.0, "343"),
        (0.7234567, "0.723457"),
        (123456.7, "123457"),
        (0.0, "0"),
        (1.5e-5, "1.5 × 10⁻⁵"),
        (6e7, "6 × 10⁷"),
    ] {
        assert_eq!(figure(value), text);
    }
}

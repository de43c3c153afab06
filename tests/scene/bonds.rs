//! Layers of hopping and flux, and two particles that are exchanged: read, written back, and refused with place and remedy where a method or the grid cannot have them.

use super::{FREE, fault, read, with};
use ripplon::physics::{Bonds, Sets};

/// FREE with another layer behind its own.
fn layered(layer: &str) -> String {
    format!("{FREE}\n[[layer]]\n{layer}\n")
}

#[test]
fn an_axis_is_read_and_written() {
    let text = layered("sets = \"hopping\"\naxis = \"y\"\nvalue = 0.25");
    let (file, scenario) = read(&text).unwrap();
    let layer = file.layers.last().unwrap();
    assert_eq!((layer.sets, layer.axis), (Sets::Hopping, Some(1)));
    assert!(file.to_toml().contains("axis = \"y\""), "{}", file.to_toml());
    let (again, _) = read(&file.to_toml()).unwrap();
    assert_eq!(again, file);
    let bonds = Bonds::of(&scenario.model().quantum().unwrap(), scenario.medium()).unwrap();
    assert!((bonds.at(0, 5).re - 1.0).abs() < 1e-15 && (bonds.at(1, 5).re - 0.25).abs() < 1e-15);
    // Without an axis all bonds are set, and nothing is written.
    let (file, scenario) = read(&layered("sets = \"hopping\"\nvalue = 0.25")).unwrap();
    assert!(!file.to_toml().contains("axis"), "{}", file.to_toml());
    let bonds = Bonds::of(&scenario.model().quantum().unwrap(), scenario.medium()).unwrap();
    assert!([0, 1].iter().all(|axis| (bonds.at(*axis, 5).re - 0.25).abs() < 1e-15));
}

#[test]
fn what_has_no_axis_is_named() {
    let last = FREE.lines().count() + 4;
    fault(
        &layered("sets = \"potential\"\naxis = \"x\"\nvalue = 1"),
        &format!("{last}:1"),
        &["axis", "only hopping does", "remove it"],
    );
    fault(
        &layered("sets = \"hopping\"\naxis = \"z\"\nvalue = 1"),
        &format!("{last}:8"),
        &["the grid has 2 axes, and none is z"],
    );
    fault(
        &layered("sets = \"hopping\"\naxis = \"w\"\nvalue = 1"),
        &format!("{last}:8"),
        &["ossible are x, y, z"],
    );
}

/// Every method but one, every back end but the processor and every variant that has one hopping says so, and what to take.
#[test]
fn methods_refuse_what_they_cannot_step() {
    let layer = "sets = \"hopping\"\nvalue = 0.5";
    for method in ["crank-nicolson", "chebyshev", "split-step-fourier"] {
        let text = with(
            &layered(layer),
            "method = \"trotter\"",
            &format!("method = \"{method}\""),
        );
        let faults = read(&text).unwrap_err().render(false);
        assert!(
            faults.contains(&format!("{method} has the same hopping at every bond")),
            "{faults}"
        );
        assert!(faults.contains("use solver.method = \"trotter\""), "{faults}");
    }
    let chosen = |key: &str| {
        with(
            &layered(layer),
            "method = \"trotter\"",
            &format!("method = \"trotter\"\n{key}"),
        )
    };
    let faults = read(&chosen("variant = \"blocked\"")).unwrap_err().render(false);
    assert!(faults.contains("take variant = \"vector\""), "{faults}");
    let faults = read(&chosen("parts = 2")).unwrap_err().render(false);
    assert!(faults.contains("stepped as a whole"), "{faults}");
    for variant in ["naive", "vector"] {
        read(&chosen(&format!("variant = \"{variant}\""))).unwrap();
    }
}

/// The largest J of a bond limits Δt, not that of the scene.
#[test]
fn strong_bonds_need_short_steps() {
    let (_, scenario) = read(&layered("sets = \"hopping\"\nvalue = 2")).unwrap();
    let hopping = scenario.model().quantum().unwrap().hopping;
    let step = scenario.time().step.unwrap();
    // Up to J Δt = 1.2 sub-steps are taken.
    let most = 1.2 / (hopping * step);
    let good = layered(&format!("sets = \"hopping\"\nvalue = {}", 0.99 * most));
    read(&good).unwrap();
    let faults = read(&layered(&format!("sets = \"hopping\"\nvalue = {}", 1.01 * most))).unwrap_err();
    assert!(faults.render(false).contains("time.step"), "{}", faults.render(false));
}

#[test]
fn columns_of_a_torus_hold_whole_fluxes() {
    let torus = |layer: &str| with(&layered(layer), "edges = \"wall\"", "edges = \"periodic\"");
    let one =
        |value: &str| format!("sets = \"flux\"\nshape = \"box\"\nmin = [5.0, 5.0]\nmax = [6.0, 5.5]\nvalue = {value}");
    // Two plaquettes of each column.
    read(&torus(&one("0.5"))).unwrap();
    let faults = read(&torus(&one("0.3"))).unwrap_err().render(false);
    assert!(faults.contains("must be whole, and at x site 10 it is 0.6"), "{faults}");
    read(&layered(&one("0.3"))).unwrap();
}

#[test]
fn components_stand_on_the_two_sites_of_the_last_axis() {
    let both = with(FREE, "mass = 1.0", "mass = 1.0\ncross_interaction = 0.25");
    let (line, column) = (both.lines().position(|line| line.starts_with("cross")).unwrap() + 1, 21);
    let at = format!("{line}:{column}");
    fault(
        &both,
        &at,
        &["the two sites of the last axis, and y has", "take 2 sites along y"],
    );
    let two = "format = 1\n[grid]\nsize = [16, 12, 2]\nspacing = 1.0\nedges = \"wall\"\n[quantum]\ncross_interaction = 0.25\n\
               [solver]\nmethod = \"trotter\"\n[[packet]]\ncenter = [8.0, 6.0, 0.0]\nwidth = [2.0, 2.0, 0.1]\n";
    let (file, scenario) = read(two).unwrap();
    assert!((scenario.medium().cross_interaction() - 0.25).abs() < 1e-15);
    assert!(
        file.to_toml().contains("cross_interaction = 0.25"),
        "{}",
        file.to_toml()
    );
    assert_eq!(read(&file.to_toml()).unwrap().0, file);
    let ring = with(two, "\"wall\"", "\"periodic\"");
    fault(&ring, "7:21", &["neighbours twice", "let z end at walls"]);
    for method in ["crank-nicolson", "chebyshev", "split-step-fourier"] {
        let faults = read(&with(two, "\"trotter\"", &format!("\"{method}\"")))
            .unwrap_err()
            .render(false);
        assert!(
            faults.contains("no interaction between components") || faults.contains("dimensions"),
            "{faults}"
        );
    }
    for (key, value) in [("variant", "\"blocked\""), ("backend", "\"wgpu\""), ("parts", "2")] {
        let text = with(two, "\"trotter\"", &format!("\"trotter\"\n{key} = {value}"));
        let faults = read(&text).unwrap_err().render(false);
        assert!(
            faults.contains(&format!("solver.{key}")) || faults.contains(key),
            "{faults}"
        );
        // Where there is no adapter the scene is refused for that.
        let absent = key == "backend" && faults.contains("is not there");
        assert!(
            absent || faults.contains("cross interaction") || faults.contains("components"),
            "{faults}"
        );
    }
}

#[test]
fn a_frame_rotates_in_a_plane_with_a_middle() {
    let turning = |omega: &str| with(FREE, "mass = 1.0", &format!("mass = 1.0\nrotation = {omega}"));
    let (file, scenario) = read(&turning("0.25")).unwrap();
    assert!((scenario.medium().rotation() - 0.25).abs() < 1e-15);
    assert!(file.to_toml().contains("rotation = 0.25"), "{}", file.to_toml());
    assert_eq!(read(&file.to_toml()).unwrap().0, file);
    let refused = |text: &str, parts: &[&str]| {
        let line = text.lines().position(|line| line.starts_with("rotation")).unwrap() + 1;
        fault(text, &format!("{line}:12"), parts);
    };
    refused(
        &with(&turning("0.25"), "edges = \"wall\"", "edges = [\"wall\", \"periodic\"]"),
        &["no middle", "end at walls"],
    );
    refused(
        &format!("{}\n[[layer]]\nsets = \"hopping\"\nvalue = 0.5\n", turning("0.25")),
        &["one mass in the plane", "axis = \"z\""],
    );
    // Along z, about which it rotates, bonds may differ: of two components that do not turn into each other.
    let components = |layer: &str| {
        format!(
            "format = 1\n[grid]\nsize = [8, 8, 2]\nspacing = 1.0\n[quantum]\nmass = 1.0\nrotation = 0.2\ncross_interaction = 0.8\n\
             [[packet]]\ncenter = [3.0, 3.0, 0.0]\nwidth = [1.0, 1.0, 0.2]\n[[layer]]\nsets = \"hopping\"\n{layer}value = 0.0\n"
        )
    };
    let (_, scenario) = read(&components("axis = \"z\"\n")).unwrap();
    assert!((scenario.medium().rotation() - 0.2).abs() < 1e-15 && scenario.medium().has(Sets::Hopping));
    for axis in ["axis = \"x\"\n", ""] {
        let faults = read(&components(axis)).unwrap_err().render(false);
        assert!(faults.contains("one mass in the plane"), "{faults}");
    }
    // mΩra of half of 63 sites with a = 0.5: 0.25 · 31.5 · Ω.
    read(&turning("0.39")).unwrap();
    refused(&turning("0.41"), &["3.229 radians a site", "smaller spacing"]);
    for method in ["crank-nicolson", "chebyshev", "split-step-fourier"] {
        let text = with(
            &turning("0.25"),
            "method = \"trotter\"",
            &format!("method = \"{method}\""),
        );
        let faults = read(&text).unwrap_err().render(false);
        assert!(
            faults.contains(&format!("{method} has no frame that rotates")),
            "{faults}"
        );
    }
}

#[test]
fn layers_of_interaction_need_a_method_that_has_them() {
    let text = layered("sets = \"interaction\"\nvalue = \"2 + x\"");
    let (file, scenario) = read(&text).unwrap();
    assert_eq!(read(&file.to_toml()).unwrap().0, file);
    let mut row = [0.0; 3];
    scenario.medium().interaction_row(7.0, 1, 0, 0..3, &mut row);
    assert_eq!(row, [2.0, 2.5, 3.0]);
    for (method, steps) in [
        ("crank-nicolson", false),
        ("chebyshev", false),
        ("split-step-fourier", true),
    ] {
        let text = with(&text, "method = \"trotter\"", &format!("method = \"{method}\""));
        let found = read(&text);
        assert_eq!(found.is_ok(), steps, "{method}");
        if let Err(faults) = found {
            let faults = faults.render(false);
            assert!(
                faults.contains("no interaction that differs from site to site"),
                "{faults}"
            );
        }
    }
    let blocked = with(
        &text,
        "method = \"trotter\"",
        "method = \"trotter\"\nvariant = \"blocked\"",
    );
    assert!(
        read(&blocked)
            .unwrap_err()
            .render(false)
            .contains("take variant = \"vector\"")
    );
}

/// A plane of two particles.
const PAIR: &str = "format = 1\n[grid]\nsize = [24, 24]\nspacing = 0.5\nedges = \"wall\"\n[quantum]\nexchange = \"antisymmetric\"\n[time]\nstep = 0.01\n[[packet]]\ncenter = [3.0, 8.0]\nwidth = [1.0, 1.5]\nmomentum = [0.5, -1.0]\n";

#[test]
fn an_exchange_makes_a_state_of_its_symmetry() {
    use ripplon::physics::reference::initial_state;
    for (word, sign) in [("symmetric", 1.0), ("antisymmetric", -1.0)] {
        let (file, scenario) = read(&with(PAIR, "antisymmetric", word)).unwrap();
        assert!(
            file.to_toml().contains(&format!("exchange = \"{word}\"")),
            "{}",
            file.to_toml()
        );
        assert_eq!(read(&file.to_toml()).unwrap().0, file);
        let psi = initial_state(scenario.grid(), scenario.initial());
        for i in 0..24 {
            for j in 0..24 {
                let (here, there) = (psi[i + 24 * j], psi[j + 24 * i]);
                assert!((here - sign * there).norm() < 1e-14, "{word} ({i}, {j})");
            }
        }
    }
}

#[test]
fn an_exchange_needs_a_scene_that_is_the_same_for_both() {
    fault(
        &with(PAIR, "[24, 24]", "[24, 26]"),
        "7:12",
        &["x has 24 sites and y has 26", "size = [n, n]"],
    );
    fault(
        &with(PAIR, "\"wall\"", "[\"wall\", \"periodic\"]"),
        "7:12",
        &["the edges along x and y differ"],
    );
    fault(
        &with(PAIR, "[quantum]", "[quantum]\nflux = 0.1"),
        "8:12",
        &["turns the other way"],
    );
    fault(
        &with(PAIR, "\"antisymmetric\"", "\"anti\""),
        "7:12",
        &["symmetric, antisymmetric"],
    );
    // Two fermions in one packet.
    fault(
        &with(
            &with(PAIR, "[3.0, 8.0]", "[3.0, 3.0]"),
            "[1.0, 1.5]\nmomentum = [0.5, -1.0]",
            "1.0",
        ),
        "10:3",
        &["norm 0", "two fermions"],
    );
    let told = format!("{PAIR}[[layer]]\nsets = \"potential\"\nvalue = \"x\"\n");
    fault(&told, "7:12", &["the potential at site [0, 1]", "told apart"]);
    let alike = format!("{PAIR}[[layer]]\nsets = \"potential\"\nvalue = \"exp(-abs(x - y)) + 0.1*(x^2 + y^2)\"\n");
    read(&alike).unwrap();
    let wall = format!("{PAIR}[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [5.0, 1.0]\nmax = [6.0, 2.0]\n");
    fault(&wall, "7:12", &["the wall at site", "told apart"]);
    for (layer, what) in [
        ("sets = \"absorption\"\nvalue = \"0.1*(x > 6)\"", "absorption"),
        ("sets = \"interaction\"\nvalue = \"y\"", "interaction"),
        ("sets = \"hopping\"\naxis = \"x\"\nvalue = 0.5", "hopping along x"),
        ("sets = \"flux\"\nvalue = 0.05", "flux"),
    ] {
        fault(
            &format!("{PAIR}[[layer]]\n{layer}\n"),
            "7:12",
            &[&format!("the {what} at site"), "told apart"],
        );
    }
    fault(
        &format!(
            "{PAIR}[mirror]\nmethod = \"echo\"\nat = 1.0\n[[mirror.perturbation]]\nsets = \"potential\"\nvalue = \"0.5*x\"\n"
        ),
        "7:12",
        &["the potential at site", "told apart"],
    );
    fault(
        &format!("{PAIR}[[layer]]\nsets = \"hopping\"\naxis = \"x\"\nvalue = 0.5\n"),
        "7:12",
        &["the hopping along x at site [0, 0] is another one than along y at [0, 0]"],
    );
    for layer in [
        "sets = \"absorption\"\nvalue = \"0.1*abs(x - y)\"",
        "sets = \"hopping\"\nvalue = \"1 + 0.1*cos(x + y)\"",
    ] {
        read(&format!("{PAIR}[[layer]]\n{layer}\n")).unwrap();
    }
}

/// What a mirror plays at [i, j] it plays at [j, i], or the way back would be that of two different particles.
#[test]
fn mirrors_keep_the_symmetry_of_two_particles() {
    let mirror = |word: &str, method: &str, rest: &str| {
        let own = with(PAIR, "antisymmetric", word);
        format!("{own}[mirror]\nmethod = \"{method}\"\nat = 1.0\n{rest}\n")
    };
    let beside = "transducers = { shape = \"line\", from = [2.0, 1.0], to = [2.0, 8.0], count = 4 }";
    let ring = |center: [f64; 2], count: usize| {
        format!("transducers = {{ shape = \"ring\", center = {center:?}, radius = 4.9, count = {count} }}")
    };
    let points = "transducers = { shape = \"points\", points = [[2.0, 7.0], [4.0, 4.0], [7.0, 2.0]] }";
    let diagonal = "transducers = { shape = \"line\", from = [2.0, 2.0], to = [8.0, 8.0], count = 4 }";
    for (word, method, rest, said) in [
        ("symmetric", "reversal", beside, "a transducer plays at site [4, "),
        (
            "symmetric",
            "reversal",
            &ring([5.5, 6.0], 16),
            "so that the two particles are told apart",
        ),
        (
            "symmetric",
            "one-bit",
            &ring([5.5, 5.5], 6),
            "so that the two particles are told apart",
        ),
        (
            "symmetric",
            "inverse-filter",
            &ring([5.5, 6.0], 16),
            "so that the two particles are told apart",
        ),
        (
            "symmetric",
            "reversal",
            &format!("playing = 2\n{points}"),
            "so that the two particles are told apart",
        ),
        ("antisymmetric", "one-bit", points, "would play the phase of rounding"),
        (
            "antisymmetric",
            "reversal",
            diagonal,
            "they would play nothing but rounding",
        ),
    ] {
        let line = if rest.starts_with("playing") { 18 } else { 17 };
        fault(
            &mirror(word, method, rest),
            &format!("{line}:15"),
            &[said, "remove quantum.exchange"],
        );
    }
    fault(
        &mirror("symmetric", "echo", "noise = 0.1"),
        "17:9",
        &["noise is not the same"],
    );
    for (word, method, rest) in [
        ("symmetric", "echo", ""),
        ("symmetric", "one-bit", points),
        ("symmetric", "reversal", diagonal),
        ("antisymmetric", "reversal", points),
        ("antisymmetric", "reversal", &ring([5.5, 5.5], 16)),
        ("symmetric", "inverse-filter", &ring([5.5, 5.5], 6)),
        (
            "symmetric",
            "reversal",
            "transducers = { shape = \"line\", from = [2.0, 8.0], to = [8.0, 2.0], count = 5 }",
        ),
        ("antisymmetric", "reversal", "transducers = { shape = \"edges\" }"),
    ] {
        read(&mirror(word, method, rest)).unwrap_or_else(|fault| panic!("{word}, {method}, {rest}: {fault}"));
    }
}

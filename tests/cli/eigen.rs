//! `ripplon eigen`: levels, tables, states, energies of a run; and scenes that begin with eigenstates.

use super::Place;
use std::f64::consts::PI;
use std::fs;

/// A box of 30 × 20 sites.
const BOX: &str = r#"
format = 1
title = "Box"
[grid]
size = [30, 20]
spacing = 0.5
[quantum]
hopping = 1.0
[time]
step = 0.25
end = 400.0
[solver]
method = "chebyshev"
precision = "double"
[[eigenstate]]
level = 0
[[eigenstate]]
level = 2
weight = 2.0
phase = 0.5
"#;

/// The lowest energies of the box, −2J(cos k_x + cos k_y) with k = πn/(N + 1).
fn energies() -> Vec<f64> {
    let along = |sites: u32| (1..=sites).map(move |n| -2.0 * (PI * f64::from(n) / f64::from(sites + 1)).cos());
    let mut all: Vec<f64> = along(30).flat_map(|x| along(20).map(move |y| x + y)).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn column(text: &str, column: usize) -> Vec<f64> {
    text.lines()
        .skip(1)
        .map(|line| line.split(',').nth(column).unwrap().parse().unwrap())
        .collect()
}

fn place() -> Place {
    let place = Place::new();
    fs::write(place.path("box.toml"), BOX).unwrap();
    place
}

#[test]
fn levels_are_printed_and_written() {
    let place = place();
    place
        .ripplon("eigen box.toml --levels 6 --csv e.csv --save e.npy")
        .expect(0, &["Box", "6 levels", "residual"]);
    let text = place.text("e.csv");
    assert_eq!(text.lines().next(), Some("level,energy,residual,degeneracy"));
    for (found, exact) in column(&text, 1).iter().zip(energies()) {
        assert!((found - exact).abs() < 1e-10, "{found} {exact}");
    }
    assert_eq!(column(&text, 1).len(), 6);
    assert!(column(&text, 2).iter().all(|residual| *residual < 1e-9));
    // complex128 of shape (6, 20, 30) behind the header.
    let bytes = fs::read(place.path("e.npy")).unwrap();
    assert!(String::from_utf8_lossy(&bytes[..128]).contains("(6, 20, 30)"));
    let values = &bytes[bytes.len() - 6 * 600 * 16..];
    let norm: f64 = values[..600 * 16]
        .chunks(8)
        .map(|value| f64::from_le_bytes(value.try_into().unwrap()).powi(2))
        .sum();
    assert!((norm * 0.25 - 1.0).abs() < 1e-12, "{norm}");
    // In other units of energy there are as many digits: −2J(cos(π/31) + cos(π/21)) of the ground state.
    for hopping in ["1e-12", "1e12"] {
        let run = place.ripplon(&format!(
            "eigen box.toml --levels 2 --set time.step=auto --set quantum.hopping={hopping}"
        ));
        run.expect(0, &["0  -3.967400299234e"]);
    }
}

#[test]
fn a_run_contains_the_energies_that_it_began_with() {
    let place = place();
    place
        .ripplon("eigen box.toml --from autocorrelation --csv a.csv")
        .expect(0, &["Hann's window", "1600 steps"]);
    let text = place.text("a.csv");
    let all = energies();
    let strong: Vec<(f64, f64)> = column(&text, 0)
        .into_iter()
        .zip(column(&text, 1))
        .filter(|(_, weight)| *weight > 0.01)
        .collect();
    // Weights 1 : 4, energies to a hundredth of the resolution 2π/400.
    assert_eq!(strong.len(), 2, "{text}");
    for ((energy, weight), (exact, share)) in strong.iter().zip([(all[0], 0.2), (all[2], 0.8)]) {
        assert!((energy - exact).abs() < 2e-4, "{energy} {exact}");
        assert!((weight - share).abs() < 2e-3, "{weight} {share}");
    }
}

/// The automatic step of `chebyshev` is 10/4J, in which this band from −4 to 4 turns round three times: it is shortened until a level at 2.7 is told from one at
/// 2.7 − 2π/2.5.
#[test]
fn an_automatic_step_tells_the_energies_apart() {
    let place = Place::new();
    let text = BOX
        .replace("[30, 20]", "[30, 4]")
        .replace("step = 0.25\n", "")
        .replace("level = 2\n", "level = 110\n");
    fs::write(place.path("auto.toml"), text).unwrap();
    let run = place.ripplon("eigen auto.toml --from autocorrelation --csv a.csv");
    assert!(!run.expect(0, &["2 lines"]).err().contains("note"), "{}", run.err());
    let along = |sites: u32| (1..=sites).map(move |n| -2.0 * (PI * f64::from(n) / f64::from(sites + 1)).cos());
    let mut all: Vec<f64> = along(30).flat_map(|x| along(4).map(move |y| x + y)).collect();
    all.sort_by(f64::total_cmp);
    for (energy, exact) in column(&place.text("a.csv"), 0).iter().zip([all[0], all[110]]) {
        assert!((energy - exact).abs() < 2e-4, "{energy} {exact}");
    }
}

/// Δt = 0.3 tells energies apart modulo 20.9: the band of this box from 0 to 16 fits in, and a level beyond π/Δt = 10.5 stands where it is. In 0.5 it does not fit, which is said.
#[test]
fn energies_beyond_half_a_turn_a_step_stand_where_they_are() {
    let place = Place::new();
    let text = BOX
        .replace("[30, 20]", "[30, 4]")
        .replace("hopping = 1.0", "mass = 1.0")
        .replace("step = 0.25", "step = 0.3")
        .replace("level = 2\n", "level = 110\n");
    fs::write(place.path("high.toml"), text).unwrap();
    let run = place.ripplon("eigen high.toml --from autocorrelation --csv a.csv");
    assert!(!run.expect(0, &["2 lines"]).err().contains("note"), "{}", run.err());
    // J = 1/(2a²) = 2.
    let along = |sites: u32| (1..=sites).map(move |n| 4.0 - 4.0 * (PI * f64::from(n) / f64::from(sites + 1)).cos());
    let mut all: Vec<f64> = along(30).flat_map(|x| along(4).map(move |y| x + y)).collect();
    all.sort_by(f64::total_cmp);
    assert!(all[110] > 11.0);
    for (found, exact) in column(&place.text("a.csv"), 0).iter().zip([all[0], all[110]]) {
        assert!((found - exact).abs() < 2e-4, "{found} {exact}");
    }
    place
        .ripplon("eigen high.toml --from autocorrelation --set time.step=0.5")
        .expect(0, &["energies from 0 to 16", "modulo 2π/Δt = 12.566371"]);
}

#[test]
fn a_scene_that_begins_with_eigenstates_beats() {
    let place = place();
    let all = energies();
    // |0.2 + 0.8 e^{−iΔEt}|² at t = 3.
    let phase = (all[2] - all[0]) * 3.0;
    let survival = (0.2 + 0.8 * phase.cos()).powi(2) + (0.8 * phase.sin()).powi(2);
    let mean = 0.2 * all[0] + 0.8 * all[2];
    let expect = format!(
        "{BOX}[[expect]]\nobservable = \"survival\"\nat = 3.0\nvalue = {survival}\ntolerance = 1e-8\n[[expect]]\nobservable = \"energy\"\nat = 3.0\nvalue = {mean}\ntolerance = 1e-8\n"
    );
    fs::write(place.path("beat.toml"), expect).unwrap();
    place.ripplon("run beat.toml --until 3 --strict").expect(0, &["right"]);
    place
        .ripplon("run beat.toml --until 3 --strict --set eigenstate.1.phase=2.0")
        .expect(0, &["right"]);
    place
        .ripplon("run beat.toml --until 3 --strict --set eigenstate.1.level=3")
        .expect(1, &["not judged", "not right"]);
}

/// Of a method that steps the continuum the levels of the lattice are not those of its run, and that is said.
#[test]
fn levels_of_the_lattice_are_noted_where_the_continuum_is_stepped() {
    let place = place();
    let words = "levels are those of the lattice";
    let fourier = "eigen box.toml --levels 2 --set solver.method=split-step-fourier";
    let with_mass = format!("{fourier} --set quantum={{mass=1.0}}");
    place.ripplon(&with_mass).expect(0, &[words, "--from autocorrelation"]);
    for line in [fourier, "eigen box.toml --levels 2 --set quantum={mass=1.0}"] {
        let run = place.ripplon(line);
        run.expect(0, &["2 levels"]);
        assert!(!run.err().contains(words), "{line}");
    }
}

#[test]
fn what_has_no_levels_is_said() {
    let place = place();
    let walls = "format = 1\n[grid]\nsize = [10]\nspacing = 1.0\n[quantum]\n[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [4.0]\nmax = [9.0]\n[[eigenstate]]\nlevel = 4\n";
    fs::write(place.path("walls.toml"), walls).unwrap();
    place
        .ripplon("check walls.toml --set eigenstate.0.level=3")
        .expect(0, &["ok"]);
    for (line, words) in [
        (
            "eigen box.toml --set quantum.interaction=1 --set solver.method=trotter",
            &["interaction"][..],
        ),
        ("eigen tube", &["sound"]),
        ("eigen tube --from autocorrelation", &["sound"]),
        ("eigen box.toml --from autocorrelation --save a.npy", &["--save"]),
        ("eigen box.toml --levels 0", &["0"]),
        (
            "eigen small.toml --from autocorrelation --set time.imaginary=true",
            &["imaginary time", "time.imaginary = false"],
        ),
        (
            "eigen small.toml --from autocorrelation --set mirror={method=\"echo\",at=0.2}",
            &["mirror", "remove [mirror]"],
        ),
        ("check box.toml --set eigenstate.1.level=0", &["twice"]),
        ("check box.toml --set eigenstate.1.level=600", &["beyond 499"]),
        ("check walls.toml", &["level 4", "4 sites free of walls", "lower level"]),
        ("check walls.toml --set eigenstate.0.level=5", &["level 5", "4 sites"]),
        ("check small.toml --set eigenstate.0.level=0", &["[[packet]]"]),
        ("check tube --set eigenstate.0.level=0", &["no eigenstates"]),
    ] {
        place.ripplon(line).expect(2, words);
    }
}

/// An absorption W everywhere leaves all energies and lets all states decay with Γ = 2W, whether they last for the record or for a hundredth of it. What leaves through absorbing edges has the same lines in a shorter
/// record. Lines of a nonlinear or driven scene are noted as what they are.
#[test]
fn what_decays_has_its_rates() {
    let place = Place::new();
    let text = "format = 1\n[grid]\nsize = [24]\nspacing = 0.5\n[quantum]\nmass = 1.0\n[time]\nstep = 0.05\nend = 200.0\n[solver]\nprecision = \"double\"\n[[packet]]\ncenter = [4.0]\nwidth = 1.0\nmomentum = [0.5]\n";
    let layer = |value: f64| format!("{text}[[layer]]\nsets = \"absorption\"\nvalue = {value}\n");
    for (name, scene) in [
        ("fast.toml", layer(0.2)),
        (
            "open.toml",
            text.replace("0.5\n[quantum]", "0.5\nedges = \"absorb\"\nabsorb_width = 8\n[quantum]"),
        ),
        ("slow.toml", layer(0.001)),
        ("closed.toml", text.to_owned()),
    ] {
        fs::write(place.path(name), scene).unwrap();
    }
    // Lines of more than 2 %, with what stands behind their weight.
    let lines = |name: &str, setting: &str| {
        let run = place.ripplon(&format!("eigen {name} --from autocorrelation --csv a.csv{setting}"));
        let closed = name == "closed.toml";
        let noted = run.expect(0, &["lines", "E = "]).err().contains("states decay");
        assert_eq!(noted, !closed, "{}", run.err());
        // What absorbing edges reflect is not in the errors; an absorption of the medium reflects nothing that is not the scene's.
        let edges = run.err().contains("another grid.absorb_width");
        assert_eq!(edges, name == "open.toml", "{}", run.err());
        assert_eq!(run.out().contains("Hann's window"), closed, "{}", run.out());
        assert_eq!(run.out().contains("  Γ = "), !closed, "{}", run.out());
        let text = place.text("a.csv");
        let head = if closed {
            "energy,weight"
        } else {
            "energy,weight,decay_rate,error,phase"
        };
        assert_eq!(text.lines().next(), Some(head));
        let rows = text
            .lines()
            .skip(1)
            .map(|line| line.split(',').map(|number| number.parse().unwrap()));
        let rows = rows.map(Iterator::collect::<Vec<f64>>);
        rows.filter(|row| row[1] > 0.02).collect::<Vec<_>>()
    };
    let closed = lines("closed.toml", "");
    assert!(closed.len() > 3, "{closed:?}");
    for (name, rate) in [("fast.toml", 0.4), ("slow.toml", 0.002)] {
        let found = lines(name, "");
        assert_eq!(found.len(), closed.len(), "{found:?} {closed:?}");
        for (line, closed) in found.iter().zip(&closed) {
            // A tenth of the width 2π/200 of the lines that do not decay.
            assert!((line[0] - closed[0]).abs() < 3e-3, "{line:?} {closed:?}");
            assert!((line[2] - rate).abs() < 1e-3 * rate, "{line:?}");
            assert!(
                line[3] < 1e-3 && (line[1] - closed[1]).abs() < 1e-2,
                "{line:?} {closed:?}"
            );
        }
    }
    let (open, shorter) = (lines("open.toml", ""), lines("open.toml", " --set time.end=120"));
    assert!(!open.is_empty() && open[0][2] > 0.01, "{open:?}");
    for (line, other) in open.iter().zip(&shorter).take(2) {
        let aside = (line[0] - other[0]).hypot((line[2] - other[2]) / 2.0);
        assert!(aside < 1e-3 + 3.0 * (line[3] + other[3]), "{line:?} {other:?}");
    }
    let driven = "layer=[{sets=\"potential\",value=\"x\",drive=\"cos(t)\"}]";
    for (setting, words) in [("quantum.interaction=0.1", "nonlinear"), (driven, "driven layer")] {
        let line = format!("eigen closed.toml --from autocorrelation --set time.end=2 --set {setting}");
        place.ripplon(&line).expect(0, &[words, "no levels"]);
    }
}

/// An absorption of nothing, or next to nothing, leaves all lines, however near to one another.
#[test]
fn an_absorption_of_nothing_hides_no_lines() {
    let place = Place::new();
    let text = "format = 1\n[grid]\nsize = [40]\nspacing = 1.0\n[quantum]\n[time]\nend = 200.0\n[solver]\nprecision = \"double\"\n\
                [[packet]]\ncenter = [10.0]\nwidth = 2.0\nmomentum = [0.5]\n";
    fs::write(place.path("box.toml"), text).unwrap();
    let lines = |setting: &str| {
        let run = place.ripplon(&format!("eigen box.toml --from autocorrelation --csv a.csv{setting}"));
        assert!(!run.expect(0, &[]).err().contains("states decay"), "{setting}");
        column(&place.text("a.csv"), 0).len()
    };
    let all = lines("");
    assert!(all >= 12, "{all}");
    for value in ["0", "1e-12"] {
        assert_eq!(
            lines(&format!(" --set layer=[{{sets=\"absorption\",value={value}}}]")),
            all
        );
    }
}

/// Crank–Nicolson compresses energies on a line, in a known way: the lines of a record stand at those of the lattice, not 1 % and more beside them. The constant of −300 is exact anyway.
#[test]
fn energies_from_implicit_steps_are_those_of_the_lattice() {
    let place = Place::new();
    let text = "format = 1\n[grid]\nsize = [81]\nspacing = 0.4\n[quantum]\n[time]\nstep = 0.01\nend = 60.0\n[solver]\nmethod = \"crank-nicolson\"\nprecision = \"double\"\n\
                [[eigenstate]]\nlevel = 0\n[[eigenstate]]\nlevel = 1\n\
                [[layer]]\nsets = \"potential\"\nvalue = \"-60*exp(-(x-16)^2/50) - 300\"\n";
    fs::write(place.path("well.toml"), text).unwrap();
    place.ripplon("eigen well.toml --levels 2 --csv e.csv").expect(0, &[]);
    place
        .ripplon("eigen well.toml --from autocorrelation --csv a.csv")
        .expect(0, &["2 lines"]);
    let (exact, found) = (column(&place.text("e.csv"), 1), column(&place.text("a.csv"), 0));
    assert_eq!(found.len(), 2, "{found:?}");
    for (found, exact) in found.iter().zip(&exact) {
        // A hundredth of the resolution 2π/60.
        assert!((found - exact).abs() < 1e-3, "{found} {exact}");
    }
}

/// A well between absorbing layers, in single precision: its bound states cannot decay, and were lost where rounding let them grow. What rounding leaves of a rate is no rate, and `trotter` says what its steps do.
#[test]
fn bound_states_stay_in_scenes_that_absorb() {
    let place = Place::new();
    let text = "format = 1\n[grid]\nsize = [96]\nspacing = 0.25\nedges = \"absorb\"\nabsorb_width = 24\n[quantum]\nmass = 1.0\n[time]\nend = 60.0\n[solver]\nprecision = \"single\"\n\
                [[packet]]\ncenter = [12.0]\nwidth = 1.0\n[[layer]]\nsets = \"potential\"\nshape = \"box\"\nmin = [10.0]\nmax = [14.0]\nvalue = -2.0\n";
    fs::write(place.path("well.toml"), text).unwrap();
    for method in ["trotter", "chebyshev"] {
        let run = place.ripplon(&format!(
            "eigen well.toml --from autocorrelation --csv a.csv --set solver.method={method}"
        ));
        let noted = run.expect(0, &["Γ < "]).err().contains("steps of trotter");
        assert_eq!(noted, method == "trotter", "{}", run.err());
        let text = place.text("a.csv");
        // The ground state of the lattice; the automatic step of `trotter` moves it by less than a thousandth.
        assert!((column(&text, 0)[0] + 1.824).abs() < 2e-3, "{method}: {text}");
        assert!(column(&text, 1)[0] > 0.9, "{method}: {text}");
        let (rate, error) = (column(&text, 2)[0], column(&text, 3)[0]);
        assert!(error > 1e-7 && rate <= 2.0 * error, "{method}: {text}");
    }
}

/// Two sites of which one absorbs have lines at ±√(J² − W²/4) with Γ = W. An automatic step, which would be one of 15 of this record, is short enough for them; a given one that is not is told.
#[test]
fn records_of_few_steps_are_refused() {
    let place = Place::new();
    let text = "format = 1\n[grid]\nsize = [2]\nspacing = 1.0\n[quantum]\nhopping = 0.5\n[time]\nend = 40.0\n[solver]\nmethod = \"chebyshev\"\nprecision = \"double\"\n\
                [[packet]]\ncenter = [0.0]\nwidth = 0.2\n[[layer]]\nsets = \"absorption\"\nshape = \"box\"\nmin = [0.5]\nmax = [1.5]\nvalue = 0.8\n";
    fs::write(place.path("two.toml"), text).unwrap();
    let run = place.ripplon("eigen two.toml --from autocorrelation --csv a.csv");
    run.expect(0, &["2 lines", "Γ = 0.80000", "1/Γ = 1.2500"]);
    assert!(!run.err().contains("steps of"), "{}", run.err());
    for (found, exact) in column(&place.text("a.csv"), 0).iter().zip([-0.3, 0.3]) {
        assert!((found - exact).abs() < 1e-9, "{found}");
    }
    let error = column(&place.text("a.csv"), 3);
    assert!(error.iter().all(|error| (1e-15..1e-6).contains(error)), "{error:?}");
    place
        .ripplon("eigen two.toml --from autocorrelation --set time.step=2.5")
        .expect(2, &["too few steps (16)", "time.step"]);
}

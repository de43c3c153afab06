//! `ripplon sweep`: tables, what they go on with, faults; and the observables of ψ as columns.

use super::Place;
use std::fs;
use std::process::Stdio;

/// A packet on a line before a wall of three sites: its momentum varies.
const LINE: &str = r#"
format = 1
title = "Step by step"
[grid]
size = [600]
spacing = 1.0
[quantum]
mass = 0.5
[time]
step = 4.0
end = 240.0
[solver]
method = "chebyshev"
precision = "double"
[[packet]]
center = [200.0]
width = [20.0]
momentum = [1.0]
[[layer]]
sets = "potential"
shape = "box"
min = [300.0]
max = [302.0]
value = 0.6
[[detector]]
name = "behind"
region = { min = [303.0], max = [599.0] }
measure = "probability"
[sweep]
vary = ["packet.0.momentum.0=0.8..1.2/3"]
measure = ["behind", "px@0", "behind@4"]
theory = "transmission"
"#;

/// The rows of a table as numbers.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    text.lines().skip(1).map(row).collect()
}

fn place() -> Place {
    let place = Place::new();
    fs::write(place.path("line.toml"), LINE).unwrap();
    place
}

#[test]
fn a_sweep_measures_every_value_and_meets_its_theory() {
    let place = place();
    place.ripplon("sweep line.toml --csv s.csv --plot s.png").expect(
        0,
        &[
            "3 runs",
            "behind = ",
            "furthest from theory",
            "packet.0.momentum.0 = 0.8",
        ],
    );
    let text = place.text("s.csv");
    assert_eq!(
        text.lines().next().unwrap(),
        "packet.0.momentum.0,behind,px@0,behind@4,theory,scene"
    );
    let rows = rows(&text);
    assert_eq!(rows.len(), 3);
    for (row, k) in rows.iter().zip([0.8, 1.0, 1.2]) {
        assert_eq!(row[0].to_bits(), f64::to_bits(k));
        // Nothing is left between: the run is exact in time, and the packet's 8 standard deviations have passed.
        assert!((row[1] - row[4]).abs() < 1e-6, "{row:?}");
        assert!((row[2] - k).abs() < 1e-9 && row[3] < 1e-5, "{row:?}");
    }
    assert!(rows[0][1] < rows[1][1] && rows[1][1] < rows[2][1]);
    assert!(fs::metadata(place.path("s.png")).unwrap().len() > 2000);
}

/// Runs side by side end in any order: the first one here takes by far the longest.
#[test]
fn lines_are_in_the_order_of_the_values() {
    let place = place();
    let run = place.ripplon("sweep line.toml --vary time.step=0.02,4,2,1 --measure behind");
    let out = run.expect(0, &[]).out();
    let values: Vec<&str> = out
        .lines()
        .filter_map(|line| line.strip_prefix("time.step = "))
        .collect();
    let values: Vec<&str> = values.iter().filter_map(|line| line.split(',').next()).collect();
    assert_eq!(values, ["0.02", "4", "2", "1"], "{out}");
}

#[test]
fn a_table_is_gone_on_with_and_the_numbers_are_the_same() {
    let place = place();
    place.ripplon("sweep line.toml --csv whole.csv").expect(0, &[]);
    let whole = place.text("whole.csv");
    // The first and the last row are there, one of them as nobody would measure it.
    let lines: Vec<&str> = whole.lines().collect();
    let own: Vec<&str> = lines[1].split(',').collect();
    let first = format!("0.8,7,7,7,{},{}", own[4], own[5]);
    fs::write(place.path("part.csv"), format!("{}\n{first}\n{}\n", lines[0], lines[3])).unwrap();
    place
        .ripplon("sweep line.toml --csv part.csv")
        .expect(0, &["2 of them are in the table already", "3 of 3 runs, 1 of them now"]);
    let part = place.text("part.csv");
    let found: Vec<&str> = part.lines().collect();
    assert_eq!(found, [lines[0], &first, lines[2], lines[3]]);
    // A last line that was cut off within a number is no row.
    let cut = &lines[3][..lines[3].len() - 3];
    fs::write(place.path("cut.csv"), format!("{}\n{}\n{cut}", lines[0], lines[1])).unwrap();
    place
        .ripplon("sweep line.toml --csv cut.csv")
        .expect(0, &["1 of them are in the table already", "3 of 3 runs, 2 of them now"]);
    assert_eq!(place.text("cut.csv"), whole);
    #[cfg(target_os = "linux")]
    place
        .ripplon("sweep line.toml --csv /dev/full")
        .expect(2, &["a device or a pipe"]);
    // Side by side or one after the other: the same to the bit.
    let alone = place.ripplon("sweep line.toml --csv one.csv --vary packet.0.momentum.0=1.0 --theory transmission");
    alone.expect(0, &["1 run, packet"]);
    assert_eq!(place.text("one.csv").lines().nth(1), Some(lines[2]));
    // Another sweep has other columns, or other values.
    place
        .ripplon("sweep line.toml --csv whole.csv --vary packet.0.width.0=20")
        .expect(2, &["columns"]);
    place
        .ripplon("sweep line.toml --csv whole.csv --vary packet.0.momentum.0=0.8,0.9 --theory transmission")
        .expect(2, &["line 3", "does not have"]);
    assert_eq!(place.text("whole.csv"), whole);
}

/// A formula may begin with a sign, and speaks of what varies.
#[test]
fn theories_are_formulas_of_what_varies() {
    let place = place();
    let vary = "--vary packet.0.momentum.0=0.8,1.2 --measure behind";
    place
        .ripplon(&format!("sweep line.toml {vary} --theory -x^2 --csv s.csv"))
        .expect(0, &["furthest from theory"]);
    for row in rows(&place.text("s.csv")) {
        assert!((row[2] + row[0] * row[0]).abs() < 1e-12, "{row:?}");
    }
    place
        .ripplon(&format!("sweep line.toml {vary} --theory y"))
        .expect(2, &["formula of y", "second key"]);
}

/// What was measured of another scene is no row of this one: the table stays as it is, and the command says so. Words, and theory, may change.
#[test]
fn a_table_of_another_scene_is_not_gone_on_with() {
    let place = place();
    let vary = "--vary packet.0.momentum.0=0.8,1.2 --measure behind";
    place
        .ripplon(&format!("sweep line.toml {vary} --theory 0*x --csv s.csv"))
        .expect(0, &["2 of 2 runs"]);
    let before = place.text("s.csv");
    let same = "--set title=Another --set expect.0={observable=\"norm\",at=1,value=1,tolerance=1} --set packet.0.momentum=[0.7]";
    place
        .ripplon(&format!("sweep line.toml {vary} --theory 0*x+0.5 --csv s.csv {same}"))
        .expect(0, &["2 of them are in the table already", "theory"]);
    let after = rows(&place.text("s.csv"));
    for (row, then) in after.iter().zip(rows(&before)) {
        // Theory is said anew, the rest is what was measured.
        assert_eq!((row[2], then[2]), (0.5, 0.0));
        assert_eq!((row[0], row[1], row[3]), (then[0], then[1], then[3]));
    }
    let kept = place.text("s.csv");
    for other in [
        "--set quantum.mass=0.6",
        "--set time.step=2",
        "--set layer.0.value=0.7",
        "--set packet.0.width=[21.0]",
    ] {
        place
            .ripplon(&format!("sweep line.toml {vary} --theory 0*x+0.5 --csv s.csv {other}"))
            .expect(2, &["--csv s.csv", "line 2", "another scene"]);
        assert_eq!(place.text("s.csv"), kept, "{other}");
    }
    // Keys that go with x have no column.
    let with = |formula: &str| {
        let vary = format!("packet.0.momentum.0=0.8,1.2 & packet.0.weight={formula}");
        place.ripplon_with([
            "sweep",
            "line.toml",
            "--measure",
            "behind",
            "--csv",
            "f.csv",
            "--vary",
            vary.as_str(),
        ])
    };
    with("x").expect(0, &["2 of them now"]);
    with("x").expect(0, &["0 of them now"]);
    with("2*x").expect(2, &["another scene"]);
    // Nor is a file that the scene reads.
    let packet = "[[packet]]\ncenter = [200.0]\nwidth = [20.0]\nmomentum = [1.0]\n";
    assert!(LINE.contains(packet));
    let file = LINE.replace(packet, "[initial]\nfile = \"psi.npy\"\n");
    fs::write(place.path("file.toml"), file).unwrap();
    let sweep = "sweep file.toml --vary layer.0.value=0.5,0.6 --measure behind --csv file.csv";
    place.ripplon("run line.toml --steps 0 --save psi.npy").expect(0, &[]);
    place.ripplon(sweep).expect(0, &["2 of them now"]);
    place.ripplon(sweep).expect(0, &["0 of them now"]);
    place.ripplon("run line.toml --steps 1 --save psi.npy").expect(0, &[]);
    place.ripplon(sweep).expect(2, &["another scene"]);
}

/// A detector that records every seventh step is measured at the step that is asked for, which is none of them.
#[test]
fn seldom_records_are_no_old_values() {
    let place = place();
    let line =
        "sweep line.toml --vary packet.0.momentum.0=0.8,1.2 --measure behind@120 --measure contrast(behind|norm)@120";
    place.ripplon(&format!("{line} --csv each.csv")).expect(0, &[]);
    let seldom = "--csv seldom.csv --set detector.0.every=7";
    place.ripplon(&format!("{line} {seldom}")).expect(0, &[]);
    for (row, seldom) in rows(&place.text("each.csv"))
        .iter()
        .zip(rows(&place.text("seldom.csv")))
    {
        assert!(row[1] > 1e-3, "{row:?}");
        assert_eq!(row[..3], seldom[..3]);
    }
}

/// A theory that has no value somewhere is held against the runs where it has one.
#[test]
fn a_theory_without_a_value_is_far_from_nothing() {
    let place = place();
    let line = "sweep line.toml --vary packet.0.momentum.0=0.8,1.2 --measure px@0 --theory sqrt(1-x)";
    let run = place.ripplon(line);
    run.expect(0, &["furthest from theory: 3.5", "at packet.0.momentum.0=0.8"]);
}

/// How far a sound is from theory has the unit of what is measured.
#[test]
fn the_distance_from_theory_has_a_unit() {
    let place = place();
    let scene = "format = 1\n[grid]\nsize = [64]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\nend = 2e-3\n\
                 [[pulse]]\ncenter = [3.2]\nwidth = 0.4\n[[detector]]\nname = \"ear\"\nat = [3.2]\n";
    std::fs::write(place.path("ear.toml"), scene).unwrap();
    let run = place.ripplon("sweep ear.toml --vary pulse.0.amplitude=1,2 --measure ear@0 --theory 5*x");
    run.expect(0, &["furthest from theory: 8.00 Pa, at pulse.0.amplitude=2"]);
}

/// Killed outright, with no time to tidy up: the table has whole rows only, the same command goes on behind them, and the numbers are those of a sweep that nobody stopped.
#[cfg(unix)]
#[test]
fn a_killed_sweep_is_gone_on_with() {
    let place = place();
    let line = "sweep line.toml --vary packet.0.momentum.0=0.8..1.2/40 --theory transmission --set time.step=0.5 --csv";
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_ripplon"))
        .args(line.split_whitespace().chain(["killed.csv"]))
        .current_dir(place.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !place.path("killed.csv").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = rows(&place.text("killed.csv"));
    assert!(!left.is_empty() && left.iter().all(|row| row.len() == 6), "{left:?}");
    place
        .ripplon(&format!("{line} killed.csv"))
        .expect(0, &[&format!("{} of them are in the table already", left.len())]);
    place
        .ripplon(&format!("{line} whole.csv"))
        .expect(0, &["40 of 40 runs"]);
    assert_eq!(place.text("killed.csv"), place.text("whole.csv"));
    assert_eq!(place.files(), ["killed.csv", "line.toml", "small.toml", "whole.csv"]);
}

/// A sweep on a device that is not there says so before its first run, and leaves no table.
#[test]
fn a_sweep_on_a_device_that_is_missing_says_so() {
    let place = place();
    let line = "sweep line.toml --csv s.csv --set solver.method=trotter --set time.step=0.5 --set solver.backend=cuda";
    let run = place.without_devices(line);
    run.expect(2, &["solver.backend", "cuda"]);
    assert!(!place.path("s.csv").exists());
}

#[test]
fn two_keys_vary_and_formulas_are_theory() {
    let place = place();
    let line = "sweep line.toml --csv s.csv --plot s.png --vary packet.0.momentum.0=0.5,1.0 --vary packet.0.width.0=8,16,20 --measure uncertainty_x@0 --measure spread_px@0 --theory 0.5+0*x*y";
    place.ripplon(line).expect(0, &["6 runs"]);
    let rows = rows(&place.text("s.csv"));
    let values: Vec<(f64, f64)> = rows.iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(
        values,
        [
            (0.5, 8.0),
            (1.0, 8.0),
            (0.5, 16.0),
            (1.0, 16.0),
            (0.5, 20.0),
            (1.0, 20.0)
        ]
    );
    for row in rows {
        // A Gaussian: Δx·Δp = ½, Δp = 1/2w.
        assert!((row[2] - 0.5).abs() < 1e-9 && (row[4] - 0.5).abs() < 1e-15, "{row:?}");
        assert!((row[3] * row[1] - 0.5).abs() < 1e-9, "{row:?}");
    }
}

#[test]
fn what_is_wrong_is_said_before_the_first_run() {
    let place = place();
    for (options, words) in [
        (
            "--vary packet.0.momentum.0=1..9/3",
            &["packet.0.momentum.0=9", "band's edge"][..],
        ),
        ("--vary packet.9.weight=1,2", &["packet.9"]),
        ("--vary packet.0.weight", &["--vary", "no `=`"]),
        ("--measure behin@3", &["behin", "did you mean \"behind\""]),
        ("--theory sin(q)", &["--theory", "q"]),
        ("--csv line.toml", &["reads this file"]),
        (
            "--set packet.0.momentum=[1.0] --set layer.0.drive=sin(t) --set solver.method=trotter --set time.step=0.5",
            &["driven"],
        ),
    ] {
        place.ripplon(&format!("sweep line.toml {options}")).expect(2, words);
    }
    place
        .ripplon("sweep small.toml")
        .expect(2, &["nothing varies", "--vary"]);
    place
        .ripplon("sweep small.toml --vary packet.0.weight=1,2")
        .expect(2, &["nothing is measured"]);
    place
        .ripplon("check line.toml --set sweep.vary=[\"a\"] --set sweep.measure=[\"b\"] --set sweep.theory=q")
        .expect(2, &["no `=`", "no observable \"b\"", "sweep.theory"]);
}

#[test]
fn momenta_and_overlap_are_columns_where_they_are_asked_for() {
    let place = Place::new();
    place
        .ripplon("run small.toml --steps 20 --observables o.csv --state --sample 10 --checkpoint c.ripplon")
        .expect(0, &[]);
    let text = place.text("o.csv");
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    assert_eq!(
        head[9..],
        [
            "px",
            "py",
            "spread_px",
            "spread_py",
            "uncertainty_x",
            "uncertainty_y",
            "lz",
            "overlap_re",
            "overlap_im",
            "survival",
            "participation",
            "purity"
        ]
    );
    let rows = rows(&text);
    assert_eq!(rows.len(), 3);
    let column = |name: &str| head.iter().position(|known| *known == name).unwrap();
    // The packet of the scene: k = (1, 0), width 1.5; single precision, and tails cut off by the grid at e⁻¹¹ of the density.
    let first = &rows[0];
    for (name, value, tolerance) in [
        ("px", 1.0, 1e-3),
        ("py", 0.0, 1e-3),
        ("spread_px", 1.0 / 3.0, 1e-2),
        ("uncertainty_y", 0.5, 1e-2),
        ("survival", 1.0, 1e-6),
        // A product of x and y.
        ("purity", 1.0, 1e-5),
    ] {
        assert!((first[column(name)] - value).abs() < tolerance, "{name}: {first:?}");
    }
    // It has run 0.2 at speed ~1: |⟨ψ₀|ψ⟩|² ≈ exp(−d²/4w²)·… is below 1 and falls.
    let survival: Vec<f64> = rows.iter().map(|row| row[column("survival")]).collect();
    assert!(
        survival[0] > survival[1] && survival[1] > survival[2] && survival[2] > 0.9,
        "{survival:?}"
    );
    // A run that goes on writes the rows before the checkpoint as they were.
    place
        .ripplon("run small.toml --resume c.ripplon --observables p.csv --state --sample 10")
        .expect(0, &[]);
    let again = place.text("p.csv");
    assert!(again.starts_with(&text), "{text}\n{again}");
    assert_eq!(again.lines().count(), 6);
    place
        .ripplon("run tube --steps 1 --observables t.csv --state")
        .expect(2, &["--state is for quantum scenes"]);
    place.ripplon("run small.toml --state").expect(2, &["--observables"]);
}

/// A free packet, stepped by an exact method whose automatic Δt is 2.5.
const FREE: &str = r#"
format = 1
[grid]
size = [256]
spacing = 0.5
[quantum]
[time]
end = 20.0
[solver]
method = "chebyshev"
precision = "double"
[[packet]]
center = 30.0
width = 4.0
momentum = 0.6
[[expect]]
observable = "x"
at = 7.3
value = 34.0
tolerance = 5.0
"#;

/// The automatic Δt is shortened so that steps fall on the times that are asked for: the same place as with steps of 0.1.
#[test]
fn a_sweep_measures_at_the_times_that_it_was_asked_for() {
    let place = Place::new();
    fs::write(place.path("long.toml"), FREE).unwrap();
    let short = FREE.replace("end = 20.0", "step = 0.1\nend = 20.0");
    fs::write(place.path("short.toml"), short).unwrap();
    let measured = |scene: &str| {
        place
            .ripplon(&format!(
                "sweep {scene}.toml --vary packet.0.momentum=0.5,0.7 --measure x@7.3 --csv {scene}.csv"
            ))
            .expect(0, &["2 runs"]);
        rows(&place.text(&format!("{scene}.csv")))
    };
    for (long, short) in measured("long").iter().zip(measured("short")) {
        assert!((long[1] - short[1]).abs() < 1e-9, "{} {}", long[1], short[1]);
    }
}

/// Where eight times as many steps do not lead to a time either, the step that was measured at is named; a time that a step leads to is not.
#[test]
fn a_sweep_names_the_step_that_it_measured_at() {
    let place = Place::new();
    fs::write(place.path("long.toml"), FREE).unwrap();
    let sweep = "sweep long.toml --vary packet.0.momentum=0.5,0.7 --measure";
    place
        .ripplon(&format!("{sweep} x@7.3001 --measure x@20"))
        .expect(0, &["note: x@7.3001: no step of 2 runs leads to t = 7.3001; it was measured at the nearest one, furthest at t = 7.5 with packet.0.momentum="]);
    for met in ["x@7.3", "x"] {
        let run = place.ripplon(&format!("{sweep} {met}"));
        assert!(!run.expect(0, &[]).err().contains("nearest"), "{met}");
    }
}

/// A detector that is named like an observable is measured in its place, which is said; the observable is there under its name once the detector has another one.
#[test]
fn a_detector_comes_before_an_observable_of_its_name() {
    let place = place();
    let sweep = "sweep line.toml --vary packet.0.momentum.0=0.8,1.2 --measure norm@4 --csv";
    let note = "note: `norm` is measured by the detector of that name";
    place
        .ripplon(&format!(
            "{sweep} a.csv --set detector.0.name=norm --set sweep.measure=[\"norm\"]"
        ))
        .expect(0, &[note, "another name"]);
    let other = place.ripplon(&format!("{sweep} b.csv"));
    assert!(!other.expect(0, &[]).err().contains("of that name"));
    // Nothing is behind the wall yet, and all of it is somewhere.
    for (detector, whole) in rows(&place.text("a.csv")).iter().zip(rows(&place.text("b.csv"))) {
        assert!(
            detector[1] < 1e-5 && (whole[1] - 1.0).abs() < 1e-6,
            "{detector:?} {whole:?}"
        );
    }
}

/// A prediction whose time the long steps of an exact method do not meet names the step that judges it; one that a few more steps meet is measured there.
#[test]
fn a_prediction_names_the_step_that_judges_it() {
    let place = Place::new();
    fs::write(place.path("long.toml"), FREE).unwrap();
    place
        .ripplon("run long.toml")
        .expect(0, &["x at t = 7.3 (measured at 7.5): predicted"]);
    place
        .ripplon("run long.toml --set expect.0.at=7.0")
        .expect(0, &["x at t = 7: predicted", "20 steps to t = 20"]);
}

/// What varies and what is measured of sound is printed with its unit; the table has numbers alone.
#[test]
fn rows_of_sound_have_units() {
    const PIPE: &str = "format = 1\n[grid]\nsize = [64]\nspacing = 0.1\n[acoustic]\n[time]\nend = 0.001\n[[pulse]]\ncenter = [3.0]\nwidth = 0.4\n\
                        [[detector]]\nname = \"ear\"\nat = [3.0]\n";
    let place = Place::new();
    fs::write(place.path("pipe.toml"), PIPE).unwrap();
    let run = place.ripplon("sweep pipe.toml --vary pulse.0.amplitude=1,2 --measure ear@0.001 --theory x --csv s.csv");
    run.expect(0, &["pulse.0.amplitude = 1 Pa, ear@0.001 = ", " Pa, theory = 2 Pa"]);
    assert!(
        place
            .text("s.csv")
            .starts_with("pulse.0.amplitude,ear@0.001,theory,scene\n")
    );
}

//! What a name of a file that shall be written may be, and what becomes of what stands there.

use super::{Place, SCENE};
use std::fs;

#[test]
fn inputs_and_names_given_twice_are_refused_before_the_run() {
    let place = Place::new();
    let scene = place.text("small.toml");
    for line in [
        "run small.toml --save small.toml",
        "run small.toml --checkpoint ./small.toml",
        "run small.toml --observables a.csv --detectors a.csv",
        "run small.toml --save a --wav left=./a",
    ] {
        place.ripplon(line).expect(2, &["name another one"]);
    }
    assert_eq!(place.text("small.toml"), scene);
    assert_eq!(place.files(), ["small.toml"]);
    // A file that the scene names is an input, too.
    place.ripplon("run small.toml --save psi.npy").expect(0, &[]);
    let from_file = SCENE[..SCENE.find("[[packet]]").unwrap()].to_owned() + "[initial]\nfile = \"psi.npy\"\n";
    fs::write(place.path("again.toml"), from_file).unwrap();
    place
        .ripplon("run again.toml --save psi.npy")
        .expect(2, &["--save psi.npy", "the run reads this file"]);
    // A checkpoint may take the place of the one that the run went on from, and nothing else may.
    place
        .ripplon("run small.toml --steps 10 --checkpoint c.ripplon")
        .expect(0, &[]);
    place
        .ripplon("run small.toml --steps 10 --resume c.ripplon --checkpoint c.ripplon")
        .expect(0, &[]);
    place
        .ripplon("run small.toml --steps 10 --resume c.ripplon --save c.ripplon")
        .expect(2, &["the run reads this file"]);
}

#[cfg(unix)]
#[test]
fn devices_links_and_modes_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let place = Place::new();
    place
        .ripplon("run small.toml --save /dev/null --observables /dev/null")
        .expect(0, &[]);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    symlink("real.npy", place.path("link.npy")).unwrap();
    place.ripplon("run small.toml --save link.npy").expect(0, &[]);
    assert!(fs::symlink_metadata(place.path("link.npy")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(place.path("real.npy")).unwrap().is_file());
    fs::set_permissions(place.path("real.npy"), fs::Permissions::from_mode(0o600)).unwrap();
    place.ripplon("run small.toml --save real.npy").expect(0, &[]);
    let mode = fs::metadata(place.path("real.npy")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::set_permissions(place.path("real.npy"), fs::Permissions::from_mode(0o444)).unwrap();
    place
        .ripplon("run small.toml --save real.npy")
        .expect(2, &["real.npy", "read-only"]);
}

#[test]
fn films_of_frames_go_into_a_directory_of_their_own() {
    let place = Place::new();
    let film = "render small.toml film/ --frames 2";
    place.ripplon(film).expect(0, &[]);
    place.ripplon(film).expect(0, &[]);
    fs::create_dir(place.path("photos")).unwrap();
    fs::write(place.path("photos/frame_00000.png"), "mine").unwrap();
    place
        .ripplon("render small.toml photos/ --frames 2")
        .expect(2, &["photos", "not from Ripplon"]);
    assert_eq!(place.text("photos/frame_00000.png"), "mine");
    // Files beside frames of its own stay; a directory of other files is not its own.
    fs::write(place.path("film/notes.txt"), "mine").unwrap();
    place.ripplon(film).expect(0, &[]);
    assert_eq!(place.text("film/notes.txt"), "mine");
    fs::create_dir(place.path("papers")).unwrap();
    fs::write(place.path("papers/notes.txt"), "mine").unwrap();
    place
        .ripplon("render small.toml papers/ --frames 2")
        .expect(2, &["papers", "notes.txt"]);
    place
        .ripplon("render small.toml small.toml.png --at 0.1")
        .expect(0, &[]);
    place
        .ripplon("render small.toml.png small.toml.png --at 0.1")
        .expect(2, &["OUT", "name another one"]);
}

#[test]
fn rows_asked_for_again_are_sampled_as_asked() {
    let place = Place::new();
    let begun = "run small.toml --steps 20 --checkpoint c.ripplon --observables a.csv --sample 10";
    place.ripplon(begun).expect(0, &[]);
    place
        .ripplon("run small.toml --resume c.ripplon --observables b.csv --sample 5")
        .expect(0, &[]);
    let steps: Vec<String> = place
        .text("b.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap().to_owned())
        .collect();
    assert_eq!(steps, ["0", "10", "20", "25", "30", "35", "40"]);
}

/// A run of 37 steps sampled at every tenth ends with its own last row, which one that goes on from there has not.
#[test]
fn tables_of_observables_end_with_the_last_step() {
    let place = Place::new();
    let steps = |name: &str| -> Vec<String> {
        let text = place.text(name);
        let first = |line: &str| line.split(',').next().unwrap().to_owned();
        text.lines().skip(1).map(first).collect()
    };
    let begun = "run small.toml --steps 37 --observables a.csv --sample 10";
    place.ripplon(begun).expect(0, &[]);
    assert_eq!(steps("a.csv"), ["0", "10", "20", "30", "37"]);
    place
        .ripplon("run small.toml --steps 37 --observables b.csv --sample 10 --state --checkpoint c.ripplon")
        .expect(0, &[]);
    assert_eq!(steps("b.csv"), ["0", "10", "20", "30", "37"]);
    // With all its columns, and the numbers of a row of every step.
    let cells = |line: &str| line.split(',').filter(|cell| !cell.is_empty()).count();
    let last = place.text("b.csv").lines().last().unwrap().to_owned();
    assert_eq!(cells(&last), cells(place.text("b.csv").lines().next().unwrap()));
    place
        .ripplon("run small.toml --steps 37 --observables d.csv --sample 37")
        .expect(0, &[]);
    assert_eq!(steps("d.csv"), ["0", "37"]);
    assert_eq!(place.text("d.csv").lines().last(), place.text("a.csv").lines().last());
    place
        .ripplon("run small.toml --resume c.ripplon --observables e.csv --sample 10 --state")
        .expect(0, &[]);
    assert_eq!(steps("e.csv"), ["0", "10", "20", "30", "40"]);
    // Nothing to run: the state that the checkpoint left.
    place
        .ripplon("run small.toml --resume c.ripplon --steps 0 --observables f.csv --sample 10 --state")
        .expect(0, &[]);
    assert_eq!(steps("f.csv"), ["0", "10", "20", "30", "37"]);
}

#[test]
fn records_that_go_to_the_disk_are_those_that_stay_in_memory() {
    let place = Place::new();
    place
        .ripplon("run small.toml --detectors a.csv --observables o.csv")
        .expect(0, &[]);
    place
        .ripplon("run small.toml --detectors b.csv --observables p.csv --spectra s.csv --checkpoint c.ripplon")
        .expect(0, &[]);
    assert_eq!(place.text("a.csv"), place.text("b.csv"));
    // The first row is the state at t = 0.
    assert_eq!(place.text("a.csv").lines().count(), 42);
    assert!(place.text("a.csv").lines().nth(1).unwrap().starts_with("0,0,"));
    assert_eq!(place.text("o.csv"), place.text("p.csv"));
    place
        .ripplon("run small.toml --steps 1 --spectra s.csv")
        .expect(1, &["--spectra", "too short"]);
    place.ripplon("check small.toml").expect(0, &["records"]);
    // Rows of every eighth step alone, with the numbers that stand there in the table of all.
    for (options, file) in [("", "e.csv"), (" --checkpoint c.ripplon", "f.csv")] {
        place
            .ripplon(&format!(
                "run small.toml --set detector.0.every=8 --set detector.1.every=8 --detectors {file}{options}"
            ))
            .expect(0, &[]);
        let all = place.text("a.csv");
        let eighth: Vec<&str> = all.lines().take(1).chain(all.lines().skip(1).step_by(8)).collect();
        assert_eq!(place.text(file).lines().collect::<Vec<_>>(), eighth);
    }
}

/// Every second of 41 records: 21, 0.04 apart, and 11 frequencies 1/0.84 apart beside 21 of 1/0.82; they have only 0 in common.
/// Records of long steps, as `chebyshev` takes them (2.5 here), have frequencies up to 80/161 of 2π/2.5; the band of energies is 4J = 8 wide.
#[test]
fn spectra_say_which_frequencies_they_do_not_tell_apart() {
    let place = Place::new();
    let text = "format = 1\n[grid]\nsize = [40]\nspacing = 0.5\n[quantum]\nmass = 1.0\n[time]\nend = 400.0\n[solver]\nmethod = \"chebyshev\"\n\
                [[packet]]\ncenter = 8.0\nwidth = 2.0\n[[detector]]\nname = \"p\"\nat = 5.0\n";
    fs::write(place.path("long.toml"), text).unwrap();
    place
        .ripplon("run long.toml --spectra s.csv")
        .expect(0, &["energies of the scene differ by up to 8,", "up to 1.2488"]);
    let run = place.ripplon("run long.toml --spectra s.csv --set time.step=0.25");
    assert!(!run.expect(0, &[]).err().contains("note"), "{}", run.err());
}

#[test]
fn spectra_of_detectors_that_record_at_other_steps_stand_in_one_table() {
    let place = Place::new();
    let table = |file: &str| -> Vec<Vec<String>> {
        let text = place.text(file);
        let rows = text.lines().skip(1);
        rows.map(|row| row.split(',').map(str::to_owned).collect()).collect()
    };
    place.ripplon("run small.toml --spectra a.csv").expect(0, &[]);
    place
        .ripplon("run small.toml --set detector.0.every=2 --spectra b.csv")
        .expect(0, &[]);
    let rows = table("b.csv");
    assert_eq!(rows.len(), 11 + 21 - 1);
    let omegas: Vec<f64> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(omegas.windows(2).all(|pair| pair[0] < pair[1]), "{omegas:?}");
    let own: Vec<f64> = rows
        .iter()
        .zip(&omegas)
        .filter(|(row, _)| !row[1].is_empty())
        .map(|(_, omega)| *omega)
        .collect();
    assert_eq!(own.len(), 11);
    assert!((own[10] - 10.0 * std::f64::consts::TAU / 0.84).abs() < 1e-9, "{own:?}");
    let left = |rows: &[Vec<String>]| -> Vec<String> {
        let filled = rows.iter().filter(|row| !row[2].is_empty());
        filled.map(|row| format!("{} {}", row[0], row[2])).collect()
    };
    assert_eq!(left(&rows), left(&table("a.csv")));
    // Six records are too few; the other detector keeps its own.
    place
        .ripplon("run small.toml --set detector.0.every=8 --spectra c.csv")
        .expect(0, &["warning: --spectra", "right-half", "every"]);
    assert_eq!(left(&table("c.csv")), left(&table("a.csv")));
    assert!(table("c.csv").iter().all(|row| row[1].is_empty()));
}

/// How many blocks a line is cut into comes from a stopwatch whose answer is kept in the user's cache, and the last bits depend on it.
#[test]
fn a_resumed_run_cuts_its_line_as_before_whatever_the_cache_says() {
    let place = Place::new();
    let line = r#"
format = 1
[grid]
size = [20000]
spacing = 0.5
[quantum]
[time]
step = 0.1
[solver]
method = "crank-nicolson"
variant = "n-partition"
backend = "cpu"
[[packet]]
center = [5000.0]
width = [40.0]
momentum = [1.0]
"#;
    fs::write(place.path("line.toml"), line).unwrap();
    let run = |cache: &str, arguments: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ripplon"))
            .args(arguments.split(' '))
            .current_dir(place.dir.path())
            .env("XDG_CACHE_HOME", place.path(cache))
            .output()
            .unwrap();
        super::Run(output).expect(0, &[]).err()
    };
    // A plan is kept where its measurement was not disturbed.
    let is_kept = || place.path("a/ripplon/plans").exists();
    for _ in 0..10 {
        if !is_kept() {
            run("a", "run line.toml --steps 6 --save whole.npy");
        }
    }
    if !is_kept() {
        println!("skipped: this machine is too busy for a plan that is kept");
        return;
    }
    run("a", "run line.toml --steps 6 --save whole.npy");
    let known = place.text("a/ripplon/plans");
    let (machine, answer) = known.trim().rsplit_once(" = ").unwrap();
    let (factor, scatter) = answer.split_once(" ± ").unwrap();
    let other = if factor == "0.125" { 4.0 } else { 0.125 };
    fs::create_dir_all(place.path("b/ripplon")).unwrap();
    fs::write(
        place.path("b/ripplon/plans"),
        format!("{machine} = {other:?} ± {scatter}\n"),
    )
    .unwrap();
    run("b", "run line.toml --steps 6 --save other.npy");
    let field = |name: &str| fs::read(place.path(name)).unwrap();
    assert!(
        field("whole.npy") != field("other.npy"),
        "another cut has other bits, or this shows nothing"
    );
    run("a", "run line.toml --steps 3 --checkpoint c.ripplon");
    let remarks = run("b", "run line.toml --steps 2 --resume c.ripplon --checkpoint d.ripplon");
    assert_eq!(remarks, "", "the scene is the same one");
    let remarks = run("b", "run line.toml --steps 1 --resume d.ripplon --save resumed.npy");
    assert_eq!(remarks, "", "and still is");
    assert!(field("resumed.npy") == field("whole.npy"));
}

/// Where absorption leaves nothing of ψ, place, momentum and energy are empty cells; what covers no sites and has nothing in common with the start is 0.
#[test]
fn what_is_gone_has_neither_place_nor_momentum() {
    let place = Place::new();
    let text = "format = 1\n[grid]\nsize = [16]\nspacing = 1.0\n[quantum]\n[time]\nstep = 0.1\n[[packet]]\ncenter = [8.0]\nwidth = 2.0\n\
                [[layer]]\nsets = \"absorption\"\nvalue = 2000.0\n";
    fs::write(place.path("gone.toml"), text).unwrap();
    place
        .ripplon("run gone.toml --until 1 --observables o.csv --state")
        .expect(0, &["absorbed 100.00 %"]);
    let table = place.text("o.csv");
    let last = table.lines().last().unwrap();
    assert_eq!(last, "10,1,0,,,,0,,,,0,0,0,", "{}", table.lines().next().unwrap());
    // The same to a prediction and to a sweep, whose table is gone on with.
    let expects = "[[expect]]\nobservable = \"energy\"\nat = 1.0\nvalue = 0.0\ntolerance = 0.1\n";
    fs::write(place.path("expects.toml"), text.to_owned() + expects).unwrap();
    place
        .ripplon("run expects.toml --until 1")
        .expect(0, &["WRONG", "energy at t = 1", "measured no value"]);
    let sweep = "sweep gone.toml --vary packet.0.center.0=7,8 --measure energy@1 --measure norm@1 --csv s.csv";
    place.ripplon(sweep).expect(0, &["energy@1: no value, norm@1 = 0"]);
    let table = place.text("s.csv");
    assert!(table.lines().nth(1).unwrap().starts_with("7,,0,"), "{table}");
    place.ripplon(sweep).expect(0, &["in the table already"]);
    assert_eq!(place.text("s.csv"), table);
    place
        .ripplon("measure gone.toml --at 1 --runs 10")
        .expect(0, &["found in 0 of 10 runs", "Born's rule says 0.000000 ± 0.000000"]);
}

/// A table of trajectories: empty cells before they begin, a row a step, the same in one run and in two.
#[test]
fn trajectories_are_written_and_go_on() {
    let place = Place::new();
    let with = |line: &str| {
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        words.push("--set".to_owned());
        words.push("trajectory.0={name=\"p\", from=[2.0, 2.0], at=0.4}".to_owned());
        place.ripplon_with(words.iter().map(String::as_str))
    };
    with("run small.toml --trajectories whole.csv").expect(0, &[]);
    let whole = place.text("whole.csv");
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines[0], "t,p.x,p.y");
    assert_eq!(lines.len(), 42);
    assert!(lines[1].ends_with(",,") && lines[20].ends_with(",,"), "{}", lines[20]);
    assert!(lines[21].ends_with(",2,2"), "{}", lines[21]);
    with("run small.toml --until 0.6 --trajectories half.csv --checkpoint c.ripplon").expect(0, &[]);
    with("run small.toml --resume c.ripplon --trajectories resumed.csv").expect(0, &[]);
    assert_eq!(place.text("resumed.csv"), whole);
    place
        .ripplon("run small.toml --resume c.ripplon --steps 1")
        .expect(0, &["another one than in the checkpoint, from here on: [trajectory]"]);
    place
        .ripplon("run small.toml --trajectories none.csv")
        .expect(2, &["add a [[trajectory]]"]);
}

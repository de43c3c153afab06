//! Commands whose files and terminal fail at each of their calls to the system in turn.

use super::{Cli, Command, dispersion, eigen, measure, render, room, run, sweep};
use crate::atomic_file::faults;
use clap::Parser;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const SCENE: &str = r#"
format = 1
[grid]
size = [8]
spacing = 1.0
[quantum]
[time]
step = 0.1
end = 3.2
[solver]
method = "trotter"
variant = "naive"
backend = "cpu"
[[packet]]
center = [3.0]
width = [1.0]
[[detector]]
name = "all"
[[trajectory]]
name = "p"
from = [3.0]
"#;

const ROOM: &str = r#"
format = 1
[grid]
size = [40]
spacing = 0.5
edges = "wall"
[acoustic]
speed = 343.0
[time]
end = 2.0
[solver]
method = "fdtd"
variant = "stepwise"
backend = "cpu"
[[source]]
at = [5.0]
signal = "ricker"
frequency = 40.0
[[detector]]
name = "here"
measure = "value"
at = [12.0]
"#;

/// The contents of a folder: names of files, with their folder's, and bytes.
fn files(folder: &Path, under: &str) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{under}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            all.insert(format!("{name}/"), Vec::new());
            all.append(&mut files(&path, &format!("{name}/")));
        } else {
            all.insert(name, fs::read(path).unwrap());
        }
    }
    all
}

/// Runs a command within a folder, the call of this number failing; what came of it, and how many calls there were. Files have an ending that begins with a letter, folders a stroke.
fn command(folder: &Path, line: &str, failing: Option<u64>) -> (anyhow::Result<()>, u64) {
    let placed = |word: &str| {
        let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
        if !ending.starts_with(char::is_alphabetic) && !word.ends_with('/') {
            return word.to_owned();
        }
        match word.split_once('=') {
            Some((name, file)) => format!("{name}={}", folder.join(file).display()),
            None => folder.join(word).display().to_string(),
        }
    };
    let words = std::iter::once("ripplon".to_owned()).chain(line.split_whitespace().map(placed));
    let command = Cli::try_parse_from(words)
        .unwrap_or_else(|error| panic!("{error}"))
        .command;
    faults::fail_at(failing);
    let done = match &command {
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Render(args)) => render::run(args),
        Some(Command::Sweep(args)) => sweep::run(args),
        Some(Command::Eigen(args)) => eigen::run(args),
        Some(Command::Dispersion(args)) => dispersion::run(args),
        Some(Command::Measure(args)) => measure::run(args),
        Some(Command::Room(args)) => room::run(args),
        other => panic!("{other:?}"),
    };
    let calls = faults::calls();
    faults::fail_at(None);
    (done, calls)
}

/// For every call: no panic, every file there is whole, no part of one is left, and whoever is told that all went well has all of them. Returns how many of the `outputs` were
/// there for each call, and how many there are in all.
fn fails_in_turn(line: &str, scene: &str, before: &[(&str, &str)]) -> (Vec<usize>, usize) {
    let folder = tempfile::tempdir().unwrap();
    // One folder for all: a file may hold its scene's place.
    let begin = || {
        for entry in fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        fs::write(folder.path().join("scene.toml"), scene).unwrap();
        for (name, text) in before {
            fs::write(folder.path().join(name), text).unwrap();
        }
    };
    begin();
    let inputs = files(folder.path(), "");
    let (done, calls) = command(folder.path(), line, None);
    done.unwrap_or_else(|error| panic!("{line}: {error:#}"));
    let whole = files(folder.path(), "");
    let outputs =
        |all: &BTreeMap<String, Vec<u8>>| all.iter().filter(|(name, own)| inputs.get(*name) != Some(own)).count();
    assert!(outputs(&whole) > 0 && calls >= 2, "{line}: {calls} calls");
    let mut there = Vec::new();
    for call in 0..calls {
        begin();
        let (done, _) = command(folder.path(), line, Some(call));
        let left = files(folder.path(), "");
        for (name, bytes) in &left {
            let old = inputs.get(name) == Some(bytes);
            let begun = line.starts_with("sweep") && has_some_rows(bytes, whole.get(name));
            assert!(
                old || begun || whole.get(name) == Some(bytes),
                "{line}, call {call}: {name} is not whole"
            );
        }
        assert!(
            inputs.keys().all(|name| left.contains_key(name)),
            "{line}, call {call}: an input is gone"
        );
        if done.is_ok() {
            assert!(
                left == whole,
                "{line}, call {call}: said to be done, but {:?}",
                left.keys()
            );
        }
        there.push(outputs(&left));
    }
    (there, outputs(&whole))
}

/// Whether a table has whole rows of another one: a sweep writes its own after every run, and goes on with what is there.
fn has_some_rows(table: &[u8], whole: Option<&Vec<u8>>) -> bool {
    let rows = |bytes: &[u8]| -> Vec<String> { String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect() };
    let all = whole.map(|whole| rows(whole)).unwrap_or_default();
    table.ends_with(b"\n") && rows(table).iter().all(|row| all.contains(row))
}

#[test]
fn whatever_fails_every_other_file_of_a_run_is_written_whole() {
    for (scene, line) in [
        (
            SCENE,
            "run scene.toml --save psi.npy --observables o.csv --detectors d.csv --spectra s.csv --trajectories t.csv --wigner w.png --husimi h.npy --marginals m.csv --checkpoint c.ripplon",
        ),
        (ROOM, "run scene.toml --wav here=a.wav --detectors d.csv --save p.npy"),
    ] {
        let (there, all) = fails_in_turn(line, scene, &[]);
        // A call that fails before the run ends it with nothing written; a later one costs one file or a line on the terminal.
        assert!(
            there.iter().all(|count| *count == 0 || *count + 1 >= all),
            "{line}: {there:?}"
        );
        let survived = there.iter().filter(|count| **count > 0).count();
        assert!(survived >= 2 * all, "{line}: {there:?}");
    }
}

#[test]
fn whatever_fails_a_film_is_whole_or_not_there() {
    let films = [
        "f.png --at 0.3",
        "f.gif --frames 3",
        "f.apng --frames 3",
        "f.mp4 --frames 3",
    ];
    for out in films
        .into_iter()
        .filter(|out| cfg!(feature = "h264") || !out.contains("mp4"))
    {
        let line = format!("render scene.toml {out} --size 160x160");
        let (there, all) = fails_in_turn(&line, SCENE, &[]);
        assert!(all == 1 && there.contains(&0), "{line}: {there:?}");
    }
    // Frames in a folder of their own.
    let (there, all) = fails_in_turn("render scene.toml film/ --frames 3 --size 160x160", SCENE, &[]);
    assert!(
        all == 4 && there.iter().all(|count| [0, all].contains(count)),
        "{there:?}"
    );
}

#[test]
fn whatever_fails_tables_and_plots_are_whole_or_not_there() {
    // A frequency needs 32 records.
    let long = SCENE.replace("end = 3.2", "end = 120.0");
    for (scene, line) in [
        (
            SCENE,
            "sweep scene.toml --vary packet.0.width.0=1,2 --measure all --csv s.csv --plot s.png",
        ),
        (SCENE, "eigen scene.toml --levels 3 --csv e.csv --save e.npy"),
        (&long, "dispersion scene.toml --csv d.csv --plot d.png"),
        (
            SCENE,
            "measure scene.toml --runs 20 --csv m.csv --plot m.png --save m.npy",
        ),
        (ROOM, "room scene.toml --csv r.csv --plot r.png --wav r.wav"),
    ] {
        let (there, all) = fails_in_turn(line, scene, &[]);
        assert!(all >= 2 && there.contains(&0), "{line}: {there:?}");
        // What fails at the end costs one file, not those behind it.
        assert!(
            there.iter().all(|count| *count == 0 || *count + 1 >= all) && there.contains(&(all - 1)),
            "{line}: {there:?}"
        );
    }
}

/// What stood in the place of an output is still there, or the new file is.
#[test]
fn whatever_fails_what_stood_there_stays() {
    let line = "run scene.toml --save psi.npy --observables o.csv";
    let (there, all) = fails_in_turn(line, SCENE, &[("psi.npy", "old"), ("o.csv", "old, too")]);
    assert!(all == 2 && there.contains(&0) && there.contains(&1), "{there:?}");
}

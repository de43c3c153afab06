//! A run whose files and terminal fail at each of its calls to the system in turn.

use super::{Cli, Command, run};
use crate::atomic_file::faults;
use clap::Parser;
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
end = 0.5
[solver]
method = "trotter"
variant = "naive"
backend = "cpu"
[[packet]]
center = [3.0]
width = [1.0]
[[detector]]
name = "all"
region = "everywhere"
"#;

/// Runs the scene with every output, the call of this number failing; what came of it, and how many calls there were.
fn run_with(folder: &Path, failing: Option<u64>) -> (anyhow::Result<()>, u64) {
    let at = |name: &str| folder.join(name).display().to_string();
    let line = [
        "ripplon",
        "run",
        &at("scene.toml"),
        "--save",
        &at("psi.npy"),
        "--observables",
        &at("o.csv"),
        "--detectors",
        &at("d.csv"),
        "--checkpoint",
        &at("c.ripplon"),
    ]
    .map(str::to_owned);
    let Some(Command::Run(args)) = Cli::try_parse_from(line).unwrap().command else {
        panic!("this is `run`")
    };
    faults::fail_at(failing);
    let done = run::run(&args);
    let calls = faults::calls();
    faults::fail_at(None);
    (done, calls)
}

#[test]
fn whatever_fails_every_other_file_is_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("scene.toml"), SCENE).unwrap();
    let (done, calls) = run_with(folder.path(), None);
    done.unwrap();
    let files = ["c.ripplon", "d.csv", "o.csv", "psi.npy"];
    let whole = files.map(|name| fs::read(at(name)).unwrap());
    // Four files are tried, opened, written, synchronised and renamed, and two lines are printed.
    assert!(calls >= 4 * 5 + 2, "{calls} calls");
    let mut survivors = 0;
    for call in 0..calls {
        for name in files {
            drop(fs::remove_file(at(name)));
        }
        let (done, _) = run_with(folder.path(), Some(call));
        let mut there = 0;
        for (name, whole) in files.iter().zip(&whole) {
            if let Ok(bytes) = fs::read(at(name)) {
                assert!(bytes == *whole, "call {call}: {name} is not whole");
                there += 1;
            }
        }
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, there + 1, "call {call}: a part is left");
        // A call that fails before the run ends it with nothing written; a later one costs one file or a line on the terminal.
        match done {
            Ok(()) => assert_eq!(there, 4, "call {call}"),
            Err(_) => assert!(there == 0 || there == 3, "call {call}: {there} files"),
        }
        survivors += usize::from(there >= 3);
    }
    assert!(survivors >= 14, "{survivors}");
}

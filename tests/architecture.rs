//! The layers of the program: `use crate::` lines may point sideways within a layer or down, never up; what is below the
//! window knows neither egui nor wgpu.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

use std::fs;
use std::path::{Path, PathBuf};

/// Top-level modules from the bottom; those on one line may use each other only where `SIDEWAYS` says so.
const LAYERS: &[&[&str]] = &[
    &["units", "grid", "field", "colormap", "atomic_file", "input_file"],
    &["physics"],
    &["scene", "backend"],
    &["solver"],
    &["space"],
    &["engine"],
    &["render", "export"],
    &["app", "cli"],
];

/// Uses within one layer: (who, whom). The command line opens the app.
const SIDEWAYS: &[(&str, &str)] = &[
    ("cli", "app"),
    ("grid", "units"),
    ("field", "grid"),
    ("input_file", "atomic_file"),
];

/// Crates that only these modules may name.
const PRIVATE_CRATES: &[(&str, &[&str])] = &[
    ("egui", &["app", "render"]),
    ("eframe", &["app", "render"]),
    ("egui_plot", &["app"]),
    ("wgpu", &["app", "render", "cli"]),
    ("rfd", &["app"]),
    ("clap", &["cli"]),
    ("anyhow", &["cli", "app"]),
];

fn level(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// Every module that a text names after `crate::` (also in `use crate::{a, b::c}`, over several lines), with its line from 1.
fn named(text: &str) -> Vec<(usize, String)> {
    let word = |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let line = text[..at].matches('\n').count() + 1;
        let rest = &text[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut start = true;
            for (i, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => start = true,
                    c if start && c.is_alphabetic() => {
                        found.push((line, word(&list[i..])));
                        start = false;
                    }
                    _ => {}
                }
                if depth < 0 {
                    break;
                }
            }
        } else {
            found.push((line, word(rest)));
        }
    }
    found
}

/// The text with comment lines blanked, so that line numbers stay.
fn without_comments(text: &str) -> String {
    let keep = |line: &'_ str| !line.trim_start().starts_with("//");
    text.lines()
        .map(|line| if keep(line) { line } else { "" })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn arrows_point_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 20, "the sources are where this test looks");
    let mut faults = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let module = inside
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_string_lossy()
            .replace(".rs", "");
        if module == "lib" || module == "main" {
            continue;
        }
        let Some(own) = level(&module) else {
            faults.push(format!("{}: module `{module}` has no layer", inside.display()));
            continue;
        };
        let text = without_comments(&fs::read_to_string(&file).unwrap());
        for (line, name) in named(&text) {
            let Some(used) = level(&name) else { continue };
            let sideways = used == own && name != module && !SIDEWAYS.contains(&(&module, &name));
            if used > own || sideways {
                let place = format!("{}:{line}", inside.display());
                faults.push(format!("{place}: `{module}` uses `{name}`, which is not below it"));
            }
        }
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", inside.display(), number + 1);
            for (krate, owners) in PRIVATE_CRATES {
                let names_it = line.contains(&format!("{krate}::")) && !line.contains(&format!("_{krate}::"));
                let before = line.split(&format!("{krate}::")).next().unwrap_or("");
                let whole_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
                if names_it && whole_word && !owners.contains(&module.as_str()) {
                    faults.push(format!("{place}: `{module}` names the crate `{krate}`"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Files of the inner layers of `solver` that may name what else is private to a few: (word, files).
const PRIVATE_WORDS: &[(&str, &[&str])] = &[
    // The state of a checkpoint and what it holds.
    ("SolverState", &["mod.rs", "run.rs"]),
    // `[solver]` of a scene, read once.
    (".solver()", &["setup.rs", "check.rs", "placement.rs"]),
    // The only implementation of `Solver`.
    (" Solver for ", &["run.rs"]),
];

#[test]
fn runs_alone_know_clocks_and_checkpoints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/solver");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let texts: Vec<(String, String)> = files
        .iter()
        .map(|file| {
            let inside = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            (inside, without_comments(&fs::read_to_string(file).unwrap()))
        })
        .collect();
    for (word, allowed) in PRIVATE_WORDS {
        let naming: Vec<&str> = (texts.iter().filter(|(_, text)| text.contains(word)))
            .map(|(inside, _)| inside.as_str())
            .collect();
        let others: Vec<_> = naming.iter().filter(|file| !allowed.contains(file)).collect();
        assert!(others.is_empty(), "`{word}` is named in {others:?}");
        let idle: Vec<_> = allowed.iter().filter(|file| !naming.contains(file)).collect();
        assert!(
            idle.is_empty(),
            "{idle:?} may name `{word}` and do not: shorten the list"
        );
    }
}

#[test]
fn every_kernel_is_tied_to_a_source_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    let all: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for entry in fs::read_dir(root.join("kernels")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(all.contains(&name), "no source file names kernels/{name}");
    }
}

#[test]
fn names_are_found() {
    let names = |text| named(text).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    assert_eq!(names("use crate::grid::Grid;"), ["grid"]);
    assert_eq!(
        names("use crate::{field::Real,\n  solver::{Taps, image}, grid};"),
        ["field", "solver", "grid"]
    );
    assert_eq!(named("\nlet x = crate::units::si(1.0);"), [(2, "units".to_owned())]);
}

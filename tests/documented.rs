//! Every command that README.md, CONTRIBUTING.md, docs/ and --help print is one that the program takes and carries out.
//!
//! `run` is bounded to 3 steps, films to 2 pictures of the first moment; stills, `check` and `list` run as printed. What takes minutes (`bench`, `selftest`,
//! all thumbnails, the site) and what opens a window is asked for its help with the same options, which refuses options that do not exist. Placeholders stand for a
//! small scene or a preset.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use assert_cmd::Command;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

const SCENE: &str = "format = 1\n[grid]\nsize = [32]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nend = 1.0\n[[packet]]\ncenter = [12.0]\nwidth = [3.0]\n";

fn ripplon(place: &Path, arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ripplon"))
        .args(arguments)
        .current_dir(place)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .env_remove("RIPPLON_LOG")
        .output()
        .unwrap()
}

/// Commands of a Markdown text: lines of fenced blocks and spans of code that begin with the program's name.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            // A comment stands two spaces after its command.
            found.push(line.split("  #").next().unwrap_or(line).trim().to_owned());
        } else {
            // An example of --help stands alone on its line.
            if line.starts_with("  ripplon ") {
                found.push(line.trim().to_owned());
            }
            prose.push_str(line.trim());
            prose.push(' ');
        }
    }
    found.extend(prose.split('`').skip(1).step_by(2).map(|span| span.trim().to_owned()));
    found.retain(|command| command == "ripplon" || command.starts_with("ripplon "));
    found
}

/// Words as a shell splits them, double quotes only; without the program's name.
fn words(command: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (n, part) in command.split('"').enumerate() {
        if n % 2 == 1 {
            all.push(part.to_owned());
        } else {
            all.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    all.split_off(1)
}

/// The command as it is run here; `None` for a mere mention of options, which is looked up in the help.
fn bounded(mut words: Vec<String>) -> Option<Vec<String>> {
    let has = |words: &[String], word: &str| words.iter().any(|own| own == word);
    let sound = has(&words, "--wav");
    let mirror = has(&words, "--gains");
    let paths = has(&words, "--trajectories");
    let room = has(&words, "room");
    let dispersion = has(&words, "dispersion");
    for word in &mut words {
        *word = match word.as_str() {
            "SCENE" if room => "damped-tube".into(),
            "NAME" if room => "listener".into(),
            "SCENE" | "FILE" if sound || dispersion => "tube".into(),
            "SCENE" | "FILE" if paths => "bohm".into(),
            "SCENE" | "FILE" if mirror => "two-site-mirror".into(),
            "SCENE" | "FILE" | "scene.toml" => "my-scene.toml".into(),
            "PRESET" => "tunnelling".into(),
            "N" => "2".into(),
            "S" | "T" => "1".into(),
            "film.mp4" if cfg!(not(feature = "h264")) => "film.gif".into(),
            "NAME=F.wav" => "at the wall=F.wav".into(),
            other => other.into(),
        };
    }
    // Which machine has several devices, tests do not know.
    if has(&words, "--devices") {
        return None;
    }
    let first = words.first().cloned().unwrap_or_default();
    let whole = words.get(1).is_some_and(|word| !word.starts_with('-'));
    let mentions_options = !whole && words.iter().skip(1).any(|word| word.starts_with('-'));
    let still = has(&words, "--thumbnail") || has(&words, "--at") || words.iter().any(|word| word.contains(".png"));
    let more: &[&str] = match first.as_str() {
        "run" if whole && !mirror => &["--steps", "3"],
        "render" if whole && !still => &["--frames", "2", "--at", "1.0"],
        "run" | "render" | "check" | "sweep" | "eigen" | "room" if whole => &[],
        "list" if !has(&words, "--thumbnails") && !has(&words, "--site") => &[],
        "info" => &[],
        _ if mentions_options => return None,
        _ => &["--help"],
    };
    words.extend(more.iter().map(|word| (*word).to_owned()));
    Some(words)
}

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for entry in fs::read_dir(root.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            all.push(path);
        }
    }
    all
}

#[test]
fn every_documented_command_is_carried_out() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("my-scene.toml"), SCENE).unwrap();
    fs::create_dir_all(place.path().join("assets/thumbnails")).unwrap();
    let help = |words: &[&str]| {
        let words: Vec<String> = words.iter().chain(&["--help"]).map(|word| (*word).to_owned()).collect();
        String::from_utf8(ripplon(place.path(), &words).stdout).unwrap()
    };
    let mut all: BTreeSet<String> = BTreeSet::new();
    for path in documents() {
        all.extend(commands(&fs::read_to_string(path).unwrap()));
    }
    for words in [
        &[][..],
        &["run"],
        &["render"],
        &["sweep"],
        &["measure"],
        &["eigen"],
        &["dispersion"],
        &["room"],
        &["worksheet"],
        &["serve"],
        &["connect"],
        &["lecture"],
        &["list"],
        &["check"],
        &["bench"],
        &["info"],
        &["selftest"],
    ] {
        all.extend(commands(&help(words)));
    }
    assert!(
        all.contains("ripplon worksheet double-slit sheet.html --answers"),
        "the examples of --help are not among the commands"
    );
    // Pictures in space are drawn by the adapter of a window.
    all.retain(|command| cfg!(feature = "gui") || !(command.contains("--volume") || command.contains("--window")));
    assert!(all.len() >= 15, "the documents name {} commands only", all.len());
    let mut wrong = Vec::new();
    for command in &all {
        let printed = words(command);
        if let Some(words) = bounded(printed.clone()) {
            let output = ripplon(place.path(), &words);
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                wrong.push(format!("`{command}`, as {words:?}: {}\n{said}", output.status));
            }
        } else {
            let text = help(&[printed[0].as_str()]);
            for option in printed.iter().filter(|word| word.starts_with("--")) {
                if !text.contains(option.as_str()) {
                    wrong.push(format!("`{command}`: there is no {option}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Apostrophes of texts are all those of the keyboard: window, pictures and command line show the same ones, those of presets and methods among them.
#[test]
fn texts_have_one_kind_of_apostrophe() {
    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else if ["rs", "toml", "md", "html", "css"]
                .iter()
                .any(|own| path.extension().is_some_and(|end| end == *own))
            {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = vec![root.join("README.md")];
    for folder in ["src", "presets", "docs", "web"] {
        files(&root.join(folder), &mut all);
    }
    all.retain(|path| fs::read_to_string(path).unwrap().contains('\u{2019}'));
    assert!(all.is_empty(), "{all:?}");
}

//! Reading, checking, overriding and writing scene files.
//!
//! [`SceneFile`] is the file as written (public fields: what the app edits and saves); [`Scenario`] is the same
//! after validation, with files read, formulas parsed and lengths checked, and private fields. Only the functions here
//! make a [`Scenario`]. The objections of the solver table come in through [`SolverTable`]; callers above it use
//! `solver::read_scene` and its neighbours.

mod build;
pub mod camera_path;
pub mod claims;
mod codec;
mod declare;
mod decode;
mod document;
pub mod embedded;
mod fault;
pub mod file;
pub mod input;
mod key_unit;
pub mod lecture;
mod look;
pub mod presets;
mod read;
pub mod scenario;
pub mod schema;
mod subject;
pub mod sweep;
pub mod theory;
mod theory_file;
mod trajectories;
mod write;

pub use build::{Objection, SolverTable};
#[cfg(not(target_family = "wasm"))]
pub(crate) use fault::without_controls;
pub use fault::{Fault, Faults, Location, Setting};
pub use file::SceneFile;
pub use key_unit::key_unit;
pub use presets::Preset;
pub use scenario::{Expectation, Parameter, Scenario, SolverChoice, TimeSpec, View};
pub use sweep::{Sweep, SweepFault};

pub(crate) use decode::nearest;
use decode::{Diagnostics, KeyFault};
use document::{Document, Place};
use std::path::Path;

/// Reads a scene from a text; files that it names are relative to `origin`. Overrides are `key.path=value`, applied in
/// order.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_text(
    text: &str,
    origin: Option<&Path>,
    overrides: &[String],
    table: &dyn SolverTable,
) -> Result<(SceneFile, Scenario), Faults> {
    let name = origin.map_or_else(|| "scene".to_owned(), |path| path.display().to_string());
    read_named(text, &name, origin, overrides, table)
}

/// Reads a preset by name, or else a scene file, or else the scene that a picture or film written by Ripplon carries.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_file(scene: &str, overrides: &[String], table: &dyn SolverTable) -> Result<(SceneFile, Scenario), Faults> {
    if let Some(preset) = presets::find(scene) {
        return read_named(preset.text, preset.name, None, overrides, table);
    }
    let path = Path::new(scene);
    if embedded::may_carry(path) && crate::input_file::is_file(path) {
        return match embedded::scene_in(path) {
            Ok(Some(text)) => read_text(&text, Some(path), overrides, table),
            Ok(None) => {
                let message = "this file carries no scene";
                Err(Faults::one(
                    scene,
                    message,
                    "name a picture or film that Ripplon wrote, a preset or a scene file",
                ))
            }
            Err(error) => Err(Faults::one(
                scene,
                format!("it cannot be read: {error}"),
                "check the file",
            )),
        };
    }
    match crate::input_file::read(path, embedded::LONGEST) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => read_text(&text, Some(path), overrides, table),
            Err(error) => {
                if let Some((what, remedy)) = kind_of(error.as_bytes()) {
                    return Err(Faults::one(scene, format!("this is {what}, not a scene"), remedy));
                }
                let at = error.utf8_error().valid_up_to();
                let message = format!("this is not UTF-8 text; the first invalid byte is byte {at}");
                Err(Faults::one(scene, message, "save the file as UTF-8"))
            }
        },
        Err(error) => {
            let remedy = match error.kind() {
                std::io::ErrorKind::PermissionDenied => "change its permissions, or read a copy of it".to_owned(),
                _ => meant(scene),
            };
            let message = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no preset and no file of this name".to_owned(),
                std::io::ErrorKind::InvalidInput | std::io::ErrorKind::FileTooLarge => error.to_string(),
                _ => format!("it cannot be read: {error}"),
            };
            Err(Faults::one(scene, message, remedy))
        }
    }
}

/// A remedy for a name that no readable file has: what may have been meant.
fn meant(scene: &str) -> String {
    let path = Path::new(scene);
    if path.extension().is_some() || path.components().count() > 1 {
        // A path, where words that resemble it say nothing.
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        return match stem.and_then(presets::find) {
            Some(preset) => format!("look at its folder; the preset is written \"{}\" alone", preset.name),
            None => "look at its spelling and its folder".to_owned(),
        };
    }
    let names = presets::all().iter().map(|preset| preset.name);
    match decode::nearest(scene, names) {
        Some(near) => format!("did you mean the preset \"{near}\"? `ripplon list presets` shows all"),
        None => "`ripplon list presets` shows the presets".to_owned(),
    }
}

/// What kind of file was given as a scene, by its first bytes, and the remedy.
fn kind_of(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const CARRIER: &str =
        "name it with the ending .png or .mp4; pictures and films that Ripplon wrote carry their scene";
    const SCENE: &str = "name a scene (a text, .toml), a preset, or a picture (.png) or film (.mp4) that Ripplon wrote";
    let known: [(&[u8], &str, &str); 9] = [
        (b"GIF8", "a GIF picture", SCENE),
        (b"\xff\xd8\xff", "a JPEG picture", SCENE),
        (b"\x89PNG", "a PNG picture", CARRIER),
        (b"\x89HDF", "an HDF5 file", SCENE),
        (
            b"\x93NUMPY",
            "a NumPy array",
            "name it in a scene: [initial] with `file`, or a layer of shape = \"array\"",
        ),
        (b"RIFF", "a sound or film", "name a sound in a [[source]] of a scene"),
        (
            b"RIPPLON-CHECKPT",
            "a checkpoint",
            "give the scene, and the checkpoint with --resume",
        ),
        (b"\x1f\x8b", "a compressed file", "unpack it first"),
        (b"PK\x03\x04", "a compressed file", "unpack it first"),
    ];
    let film = bytes.get(4..8) == Some(b"ftyp");
    known
        .into_iter()
        .find(|(start, _, _)| bytes.starts_with(start))
        .map(|(_, what, remedy)| (what, remedy))
        .or(film.then_some(("an MP4 film", CARRIER)))
}

/// The scene as written in a text; files that it names are not read.
///
/// # Errors
/// If it is no scene file.
pub fn read_draft(text: &str) -> Result<SceneFile, Faults> {
    let unreadable = |message: String, remedy: String| Faults::one("scene", message, remedy);
    let document = Document::parse(text).map_err(|fault| unreadable(fault.message, fault.remedy))?;
    let mut found = Diagnostics::default();
    let file = read::scene(&document, &mut found);
    match found.faults.into_iter().next() {
        None => Ok(file),
        Some(fault) => Err(unreadable(fault.message, fault.remedy)),
    }
}

/// Checks a scene that was not read from a text, e.g. edited in the window; faults then have a key but no place.
///
/// # Errors
/// Everything that is wrong with it.
pub fn validate(file: &SceneFile, origin: Option<&Path>, table: &dyn SolverTable) -> Result<Scenario, Faults> {
    let (found, scenario) = build::Builder::new(file, origin, Diagnostics::default()).run(origin, table);
    scenario.ok_or_else(|| Faults {
        origin: origin.map_or_else(|| "scene".to_owned(), |path| path.display().to_string()),
        list: found
            .faults
            .into_iter()
            .map(|fault| Fault {
                key: fault.key,
                message: fault.message,
                remedy: fault.remedy,
                location: None,
                setting: None,
            })
            .collect(),
    })
}

fn read_named(
    text: &str,
    name: &str,
    origin: Option<&Path>,
    overrides: &[String],
    table: &dyn SolverTable,
) -> Result<(SceneFile, Scenario), Faults> {
    let located = |key: String, place: &Place, message: String, remedy: String| Fault {
        key,
        message,
        remedy,
        location: match place {
            Place::Text(range) => Some(Location::find(text, range)),
            Place::Setting(_) => None,
        },
        setting: match place {
            Place::Setting(number) => overrides.get(*number).map(|words| Setting {
                option: "--set",
                words: words.clone(),
            }),
            Place::Text(_) => None,
        },
    };
    let faults = |list: Vec<Fault>| Faults {
        origin: name.to_owned(),
        list,
    };
    let mut document = Document::parse(text)
        .map_err(|fault| faults(vec![located(String::new(), &fault.place, fault.message, fault.remedy)]))?;
    if read::is_lecture(&document) {
        let message = "this is a lecture, not a scene";
        let remedy = "show it with `ripplon lecture FILE`, or name one of its scenes";
        return Err(Faults::one(name, message, remedy));
    }
    let mut list = Vec::new();
    for (number, setting) in overrides.iter().enumerate() {
        if let Err(fault) = document.set(number, setting) {
            list.push(located(String::new(), &fault.place, fault.message, fault.remedy));
        }
    }
    let mut found = Diagnostics::default();
    let file = read::scene(&document, &mut found);
    // What is wrong in type or missing stands as a stand-in in `file`: what building says about it again is dropped.
    let reading = found.faults.len();
    let (found, scenario) = build::Builder::new(&file, origin, found).run(origin, table);
    let (first, second) = found.faults.split_at(reading);
    let repeats = |fault: &KeyFault| {
        first
            .iter()
            .any(|other| !other.key.is_empty() && covers(&other.key, &fault.key))
    };
    let mut faults_found: Vec<&KeyFault> = first
        .iter()
        .chain(second.iter().filter(|fault| !repeats(fault)))
        .collect();
    let place = |fault: &KeyFault| document.place_of(text, &fault.key, fault.on_key, fault.within);
    faults_found.sort_by_key(|fault| match place(fault) {
        Place::Text(range) => range.start,
        Place::Setting(_) => usize::MAX,
    });
    list.extend(faults_found.into_iter().map(|fault| {
        located(
            fault.key.clone(),
            &place(fault),
            fault.message.clone(),
            fault.remedy.clone(),
        )
    }));
    match scenario {
        Some(scenario) if list.is_empty() => Ok((file, scenario)),
        _ => Err(faults(list)),
    }
}

/// Whether a fault of one key makes a fault of the other (the key itself, a part of it, or what contains it) meaningless.
fn covers(key: &str, other: &str) -> bool {
    let within = |inner: &str, outer: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    within(other, key) || within(key, other)
}

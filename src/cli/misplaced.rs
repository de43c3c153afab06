//! Words in the place of a subcommand: what was meant.

use super::InputError;
use crate::scene::{nearest, presets};
use clap::error::{ContextKind, ErrorKind};
use std::path::Path;

/// What to write instead if words before a subcommand, or an unknown subcommand, conflict with what follows. `words`
/// are the program's arguments, `names` those of its subcommands. `None` for other errors, whose messages are clear.
pub(super) fn remedy(error: &clap::Error, words: &[String], names: &[String]) -> Option<String> {
    let conflicts = error.kind() == ErrorKind::ArgumentConflict && error.get(ContextKind::InvalidSubcommand).is_some();
    if !conflicts {
        return None;
    }
    if let Some(place) = words.iter().position(|word| names.contains(word)) {
        let (before, after) = words.split_at(place);
        let line: Vec<String> = after.iter().chain(before).map(|word| quoted(word)).collect();
        return Some(format!("the sub-command comes first: ripplon {}", line.join(" ")));
    }
    let word = words.first().filter(|word| !word.starts_with('-'))?;
    let remedy = match nearest(word, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`? `ripplon --help` lists all"),
        None => "`ripplon --help` lists all".to_owned(),
    };
    Some(format!("there is no sub-command `{word}`: {remedy}"))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) {
        format!("'{word}'")
    } else {
        word.to_owned()
    }
}

/// Refuses a word that is given as the window's scene, is not one, and looks more like a subcommand than like a preset.
///
/// # Errors
/// [`InputError`] with the subcommand.
pub(super) fn check(word: Option<&str>, names: &[String]) -> anyhow::Result<()> {
    let Some(word) = word.filter(|word| presets::find(word).is_none() && !Path::new(word).exists()) else {
        return Ok(());
    };
    let known = presets::all().iter().map(|preset| preset.name);
    match nearest(word, known.chain(names.iter().map(String::as_str))) {
        Some(near) if names.iter().any(|name| name == near) => Err(InputError(format!(
            "there is no preset, no file and no sub-command `{word}`: did you mean `ripplon {near}`? `ripplon --help` lists all"
        ))
        .into()),
        _ => Ok(()),
    }
}

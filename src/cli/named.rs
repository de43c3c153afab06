//! The files that a command line names: whether they can be written, and that none is an input or named twice.

use super::{InputError, SceneArgs};
use crate::atomic_file::AtomicFile;
use crate::input_file::Identity;
use crate::scene::{Scenario, presets};
use std::path::{Path, PathBuf};

/// A file to be written, with the option that names it.
pub(super) type Output<'a> = (&'a str, &'a Path);

/// The files that a run of a scene reads.
pub(super) fn inputs(args: &SceneArgs, scenario: &Scenario) -> Vec<PathBuf> {
    let mut files = scenario.file().files(scenario.origin());
    if presets::find(&args.scene).is_none() {
        files.push(PathBuf::from(&args.scene));
    }
    files
}

/// Finds out, before the run, whether every output can be written.
///
/// # Errors
/// [`InputError`] with the first that cannot, is one of `inputs`, or is named twice.
pub(super) fn check(outputs: &[Output<'_>], inputs: &[PathBuf]) -> Result<(), InputError> {
    let known: Vec<Identity> = inputs.iter().filter_map(|path| Identity::of(path)).collect();
    let mut named: Vec<(&str, Identity)> = Vec::new();
    for (option, path) in outputs {
        let shown = path.display();
        if let Some(own) = Identity::of(path) {
            if known.contains(&own) {
                return Err(InputError(format!(
                    "{option} {shown}: the run reads this file, and would replace it; name another one"
                )));
            }
            if let Some((other, _)) = named.iter().find(|(_, identity)| *identity == own) {
                return Err(InputError(format!(
                    "{option} {shown}: {other} writes this file already; name another one"
                )));
            }
            named.push((option, own));
        }
        AtomicFile::create(path)
            .map_err(|error| InputError(crate::export::ExportError::io(path)(error).to_string()))?;
    }
    Ok(())
}

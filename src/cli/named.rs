//! The files that a command line names: checks that they can be written and that none is an input or named twice.

use super::{InputError, SceneArgs};
use crate::atomic_file::AtomicFile;
use crate::export::ending;
use crate::input_file::Identity;
use crate::scene::{Scenario, presets};
use std::path::{Path, PathBuf};

/// A file to be written, with the option that names it.
pub(super) type Output<'a> = (&'a str, &'a Path);

/// Those of several options that name a file.
pub(super) fn given<'a, const N: usize>(options: [(&'a str, &'a Option<PathBuf>); N]) -> Vec<Output<'a>> {
    let files = options.into_iter();
    files
        .filter_map(|(option, path)| Some((option, path.as_deref()?)))
        .collect()
}

/// The files that a run of a scene reads.
pub(super) fn inputs(args: &SceneArgs, scenario: &Scenario) -> Vec<PathBuf> {
    let mut files = scenario.file().files(scenario.origin());
    if presets::find(&args.scene).is_none() {
        files.push(PathBuf::from(&args.scene));
    }
    files
}

/// What an option writes, and the file extensions of that format.
fn format(option: &str) -> Option<(&'static str, &'static [&'static str])> {
    Some(match option {
        "--save" => ("an NPY array", &["npy"]),
        "--observables" | "--detectors" | "--spectra" | "--trajectories" | "--gains" | "--marginals" | "--csv" => {
            ("a CSV table", &["csv"])
        }
        "--plot" | "--blocks-plot" => ("a PNG picture", &["png"]),
        "--series" => ("an HDF5 file", &["h5", "hdf5"]),
        "--json" => ("JSON", &["json"]),
        "--wav" => ("a WAV file", &["wav"]),
        _ => return None,
    })
}

/// Refuses a name with the extension of another format.
fn check_ending(option: &str, path: &Path) -> Result<(), InputError> {
    let Some((what, own)) = format(option) else {
        return Ok(());
    };
    if !ending::is_of_another(path, own) {
        return Ok(());
    }
    Err(InputError(format!(
        "{option} {}: it writes {what}, and the name ends as another format; let it end in .{}",
        path.display(),
        own[0]
    )))
}

/// Checks before the run that every output can be written.
///
/// # Errors
/// [`InputError`] for the first that cannot be written, is one of `inputs`, is named twice, or has the extension of another format.
pub(super) fn check(outputs: &[Output<'_>], inputs: &[PathBuf]) -> Result<(), InputError> {
    let known: Vec<Identity> = inputs.iter().filter_map(|path| Identity::of(path)).collect();
    let mut named: Vec<(&str, Identity)> = Vec::new();
    for (option, path) in outputs {
        let shown = path.display();
        if path.as_os_str() == "-" {
            return Err(InputError(format!("{option} -: it writes a file; name a file")));
        }
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
    outputs.iter().try_for_each(|(option, path)| check_ending(option, path))
}

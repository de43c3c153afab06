//! Scenes on their way: text, with the files that it names sent before it.

use super::files::{Names, Store};
use crate::scene::{Scenario, SceneFile};
use crate::solver;
use std::path::PathBuf;
use std::sync::Arc;

/// The text of a scene as it travels, and the files that have to go before it, with their names on the way.
///
/// # Errors
/// If a file that the scene names is gone.
pub fn pack(scenario: &Scenario, names: &mut Names) -> Result<(String, Vec<(PathBuf, String)>), String> {
    let mut file = SceneFile::clone(scenario.file());
    let base = scenario.origin().and_then(|origin| origin.parent());
    let mut new = Vec::new();
    for named in file.files_mut() {
        let path = base.map_or_else(|| named.clone(), |base| base.join(&*named));
        if !crate::input_file::is_file(&path) {
            return Err(format!("{} is not there any more; the scene needs it", path.display()));
        }
        let (name, is_new) = names.of(&path);
        if is_new {
            new.push((path, name.clone()));
        }
        *named = PathBuf::from(name);
    }
    Ok((file.to_toml(), new))
}

/// A scene that arrived, with the names of its files as they lie here. It may name nothing but files that came before it.
///
/// # Errors
/// What is wrong with it.
pub fn unpack(text: &str, store: &Store) -> Result<(SceneFile, Arc<Scenario>), String> {
    let mut file = crate::scene::read_draft(text).map_err(|faults| faults.to_string())?;
    for named in file.files_mut() {
        let path = named.to_str().and_then(|name| store.path(name));
        *named = path.ok_or_else(|| format!("the scene names {}, which did not come with it", named.display()))?;
    }
    let scenario = solver::validate_scene(&file, None).map_err(|faults| faults.to_string())?;
    Ok((file, Arc::new(scenario)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::files::Sending;

    #[test]
    fn a_scene_takes_its_files_along_and_reads_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let text =
            "format = 1\n[grid]\nsize = [16]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[initial]\nfile = \"psi.npy\"\n";
        let psi = ndarray::Array1::from_elem(16, num_complex::Complex64::new(0.25, 0.0));
        ndarray_npy::write_npy(dir.path().join("psi.npy"), &psi).unwrap();
        let origin = dir.path().join("scene.toml");
        let (_, scenario) = solver::read_scene_text(text, Some(&origin), &[]).unwrap();
        let (mut names, mut sending) = (Names::default(), Sending::default());
        let (sent, files) = pack(&scenario, &mut names).unwrap();
        let to = tempfile::tempdir().unwrap();
        let mut store = Store::new(to.path().to_owned());
        assert!(unpack(&sent, &store).is_err(), "the file is not there yet");
        for (path, name) in files {
            sending.add(&path, name, false).unwrap();
        }
        while let Some(piece) = sending.next_piece() {
            store.take(&piece).unwrap();
        }
        let (_, arrived) = unpack(&sent, &store).unwrap();
        assert_eq!(arrived.initial(), scenario.initial());
        // The second time nothing has to be sent.
        assert!(pack(&scenario, &mut names).unwrap().1.is_empty());
        let thief = text.replace("psi.npy", &dir.path().join("psi.npy").display().to_string());
        assert!(unpack(&thief, &store).unwrap_err().contains("did not come"));
    }
}

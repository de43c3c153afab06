//! `kernels/manifest.toml`, the one list of the kernels in the program.

use crate::field::Precision;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a source file is compiled to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    entries: Vec<String>,
    #[serde(default = "ampere")]
    capability: u32,
    modules: Vec<Row>,
}

fn ampere() -> u32 {
    80
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    defines: BTreeMap<String, Define>,
    #[serde(default, rename = "spills")]
    _spills: u32,
    entries: Option<Vec<String>>,
    capability: Option<u32>,
}

/// The value of a define.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Define {
    /// A number.
    Number(u32),
    /// A type or another word.
    Word(String),
}

/// A module of the manifest.
#[derive(Debug)]
pub(crate) struct Module {
    /// Its name, also in the archive.
    pub name: String,
    /// Its source file in `kernels`, without the ending.
    pub family: String,
    /// Its defines.
    pub defines: BTreeMap<String, Define>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the PTX"))]
    entries: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the PTX"))]
    capability: u32,
}

impl Module {
    /// A define that is a number; 0 where it is not given.
    pub(crate) fn number(&self, name: &str) -> u32 {
        match self.defines.get(name) {
            Some(Define::Number(value)) => *value,
            _ => 0,
        }
    }

    /// Whether a define is given and not 0.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.number(name) != 0
    }

    /// `REAL`.
    pub(crate) fn precision(&self) -> Precision {
        match self.defines.get("REAL") {
            Some(Define::Word(word)) if word == "double" => Precision::Double,
            _ => Precision::Single,
        }
    }
}

/// Every module; none if the text cannot be read, which a test excludes.
static MODULES: LazyLock<Vec<Module>> = LazyLock::new(|| read(TEXT).unwrap_or_default());

const TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/manifest.toml"));

fn read(text: &str) -> Result<Vec<Module>, toml::de::Error> {
    let families: BTreeMap<String, Family> = toml::from_str(text)?;
    let modules = families.into_iter().flat_map(|(family, table)| {
        table.modules.into_iter().map(move |row| Module {
            name: row.name,
            family: family.clone(),
            defines: row.defines,
            entries: row.entries.unwrap_or_else(|| table.entries.clone()),
            capability: row.capability.unwrap_or(table.capability),
        })
    });
    Ok(modules.collect())
}

/// The modules of a source file in `kernels`, named without the ending, in the manifest's order.
pub(crate) fn family(name: &str) -> impl Iterator<Item = &'static Module> {
    MODULES.iter().filter(move |module| module.family == name)
}

/// That the modules of a method, by the beginning of their names, are those that it asks for, no more and no fewer.
#[cfg(test)]
pub(crate) fn assert_asked(method: &str, asked: &[super::Source]) {
    use std::collections::BTreeSet;
    assert!(METHODS.contains(&method));
    let listed = modules().filter(|module| module.name.starts_with(method));
    let listed: BTreeSet<&str> = listed.map(|module| module.name.as_str()).collect();
    assert_eq!(asked.iter().map(|source| source.name).collect::<BTreeSet<_>>(), listed);
}

/// How names of modules begin: each beginning has a test with [`assert_asked`].
#[cfg(test)]
const METHODS: [&str; 6] = ["ceilings", "crank_nicolson", "fdtd", "oscillators", "state", "trotter"];

#[cfg(test)]
pub(crate) fn modules() -> impl Iterator<Item = &'static Module> {
    MODULES.iter()
}

#[cfg(test)]
impl Module {
    pub(super) fn entries(&self) -> &[String] {
        &self.entries
    }

    pub(super) fn capability(&self) -> u32 {
        self.capability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_can_be_read() {
        let modules = read(TEXT).unwrap();
        assert_eq!(modules.len(), MODULES.len());
        for (place, module) in modules.iter().enumerate() {
            assert!(module.name.starts_with(&module.family), "{}", module.name);
            assert!(
                METHODS.iter().any(|method| module.name.starts_with(method)),
                "{}",
                module.name
            );
            assert!(
                modules[..place].iter().all(|other| other.name != module.name),
                "{}",
                module.name
            );
        }
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
        for module in &modules {
            assert!(
                source.join(format!("{}.cu", module.family)).exists(),
                "{}",
                module.family
            );
        }
    }

    #[test]
    fn a_key_that_is_not_known_is_refused() {
        let text = "[a]\nentries = []\nmodules = [{ name = \"a_1\", defines = {}, spill = 4 }]";
        assert!(read(text).unwrap_err().to_string().contains("spill"));
    }
}

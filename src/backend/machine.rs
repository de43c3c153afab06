//! The processor's name, and the cache folder.

use std::path::PathBuf;

/// The processor's name where the system tells.
pub fn processor_name() -> String {
    cpuinfo("model name").unwrap_or_else(|| "unknown".to_owned())
}

/// A field of the first processor in `/proc/cpuinfo` on Linux; `None` elsewhere.
fn cpuinfo(key: &str) -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The folder of this program in the system's cache folder.
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let base = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        set("HOME").map(|home| home.join("Library/Caches"))
    } else {
        set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("ripplon"))
}

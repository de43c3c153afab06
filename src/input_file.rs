//! Files that are read: regular ones of a bounded size, and the question whether two names mean one file.

#[cfg(not(target_family = "wasm"))]
use crate::atomic_file::{directory_of, resolved};
#[cfg(target_family = "wasm")]
pub use crate::memory_files::File;
#[cfg(not(target_family = "wasm"))]
use std::fs;
#[cfg(not(target_family = "wasm"))]
pub use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a file and says how long it is. Devices, pipes and directories are refused before they are opened: they may have no end, or make whoever opens
/// them wait.
///
/// # Errors
/// If it is no regular file or cannot be opened.
#[cfg(not(target_family = "wasm"))]
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    let data = fs::metadata(path)?;
    if !data.is_file() {
        let text = if data.is_dir() {
            "this is a directory; name a file in it"
        } else {
            "this is a device or a pipe; name a regular file"
        };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

/// Opens a file of the page and says how long it is.
///
/// # Errors
/// If the page has no such file.
#[cfg(target_family = "wasm")]
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    File::open(path)
}

/// Bytes of a file that is there, or that a page has just written.
#[cfg(feature = "gui")]
pub fn length(path: &Path) -> Option<u64> {
    #[cfg(target_family = "wasm")]
    return crate::memory_files::length_written(path);
    #[cfg(not(target_family = "wasm"))]
    fs::metadata(path).ok().map(|data| data.len())
}

/// Whether a name stands for a regular file.
pub fn is_file(path: &Path) -> bool {
    #[cfg(target_family = "wasm")]
    return crate::memory_files::is_file(path);
    #[cfg(not(target_family = "wasm"))]
    path.is_file()
}

/// The bytes of a regular file of at most `most` bytes.
///
/// # Errors
/// If it is no regular file, cannot be read, is longer, or there is no memory for it.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open(path)?;
    let too_long = || {
        let text = format!("this file has {length} bytes, and at most {most} are read");
        io::Error::new(io::ErrorKind::FileTooLarge, text)
    };
    if length > most {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    let no_memory = |_| {
        io::Error::new(
            io::ErrorKind::OutOfMemory,
            format!("there is no memory for its {length} bytes"),
        )
    };
    bytes
        .try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))
        .map_err(no_memory)?;
    // A file that grows while it is read stays within the limit, as do those of /proc, which have no length.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_long());
    }
    Ok(bytes)
}

/// What tells a file from every other one.
#[cfg(not(target_family = "wasm"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Device and inode of a file that is there.
    #[cfg(unix)]
    Inode(u64, u64),
    /// The directory, without links, and the name in it.
    Name(std::path::PathBuf, std::ffi::OsString),
}

#[cfg(not(target_family = "wasm"))]
impl Identity {
    /// The identity of what a name stands for; `None` for devices and pipes, which may be named more than once, and where there is no such directory.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        if let Ok(data) = fs::metadata(path) {
            use std::os::unix::fs::MetadataExt;
            let ordinary = data.is_file() || data.is_dir();
            return ordinary.then(|| Self::Inode(data.dev(), data.ino()));
        }
        // A link may lead to a file that is not there yet.
        let path = fs::canonicalize(path)
            .or_else(|_| resolved(path))
            .unwrap_or_else(|_| path.to_owned());
        let directory = fs::canonicalize(directory_of(&path)).ok()?;
        Some(Self::Name(directory, path.file_name()?.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_bounded_length_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert_eq!(read(&path, 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(read(folder.path(), 9).is_err());
        #[cfg(unix)]
        {
            assert!(read(Path::new("/dev/zero"), 9).is_err());
            assert!(read(&crate::atomic_file::named_pipe(folder.path()), 9).is_err());
        }
    }

    #[test]
    fn names_of_one_file_are_equal() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("in")).unwrap();
        fs::write(at("a"), "").unwrap();
        let same = |p: &Path, q: &Path| Identity::of(p).unwrap() == Identity::of(q).unwrap();
        assert!(same(&at("a"), &at("in/../a")));
        assert!(same(&at("new"), &at("in/../new")));
        assert!(!same(&at("a"), &at("new")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a", at("link")).unwrap();
            assert!(same(&at("a"), &at("link")));
            std::os::unix::fs::symlink("new", at("dangling")).unwrap();
            std::os::unix::fs::symlink("../dangling", at("in/far")).unwrap();
            assert!(same(&at("new"), &at("dangling")) && same(&at("new"), &at("in/far")));
            assert!(!same(&at("a"), &at("dangling")));
            assert_eq!(Identity::of(Path::new("/dev/null")), None);
        }
    }
}

//! Files that appear complete or not at all, in a page: bytes that are handed to the browser when they are complete ([`crate::memory_files`]).

use std::ffi::OsStr;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file on its way to its place; [`AtomicFile::commit`] puts it there, dropping it removes it.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    bytes: Cursor<Vec<u8>>,
}

impl AtomicFile {
    /// Opens a file that will be handed out as `target`.
    ///
    /// # Errors
    /// None.
    pub fn create(target: &Path) -> io::Result<Self> {
        Ok(Self {
            target: target.to_owned(),
            bytes: Cursor::new(Vec::new()),
        })
    }

    /// The later place, as it was named.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Hands the file out.
    ///
    /// # Errors
    /// None.
    pub fn commit(self) -> io::Result<()> {
        crate::memory_files::write(&self.target, self.bytes.into_inner());
        Ok(())
    }

    /// The file itself, to be read.
    ///
    /// # Errors
    /// None.
    pub fn flushed(&mut self) -> io::Result<Cursor<&[u8]>> {
        Ok(Cursor::new(self.bytes.get_ref()))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// The directory that a file stands in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// A page has no directories.
pub(crate) fn part_directory(_: &Path, _: &OsStr) -> io::Result<(tempfile::TempDir, Option<std::fs::File>)> {
    Err(io::Error::other("a page has no folders; choose a film in one file"))
}

/// Calls to the system, which a page has none of.
pub(crate) mod faults {
    /// # Errors
    /// None.
    #[expect(clippy::unnecessary_wraps, reason = "the same as where there are files")]
    pub(crate) fn call() -> std::io::Result<()> {
        Ok(())
    }
}

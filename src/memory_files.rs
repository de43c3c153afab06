//! The files of a page: those that were dropped or chosen, and those that it has written and not handed to the browser yet. They lie in memory under their
//! names, and are gone with the page.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Every file that can be read.
static FILES: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// What was written since somebody took it, in order.
static WRITTEN: Mutex<Vec<(PathBuf, Arc<[u8]>)>> = Mutex::new(Vec::new());

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts a file there, in place of one of that name.
pub(crate) fn put(path: &Path, bytes: Vec<u8>) {
    lock(&FILES).insert(path.to_owned(), bytes.into());
}

/// Hands over what was written since the last call.
#[cfg(feature = "gui")]
pub(crate) fn take_written() -> Vec<(PathBuf, Arc<[u8]>)> {
    std::mem::take(&mut *lock(&WRITTEN))
}

/// Takes back what was written last under a name.
#[cfg(feature = "gui")]
pub(crate) fn take_back(path: &Path) -> Option<Arc<[u8]>> {
    let mut written = lock(&WRITTEN);
    let place = written.iter().rposition(|(name, _)| name == path)?;
    Some(written.remove(place).1)
}

/// Bytes of a file that was written and not handed over yet.
#[cfg(feature = "gui")]
pub(crate) fn length_written(path: &Path) -> Option<u64> {
    let written = lock(&WRITTEN);
    let file = written.iter().rfind(|(name, _)| name == path);
    file.map(|(_, bytes)| bytes.len() as u64)
}

/// A file is complete: whoever has the page hands it to the browser.
pub(crate) fn write(path: &Path, bytes: Vec<u8>) {
    lock(&WRITTEN).push((path.to_owned(), bytes.into()));
}

/// Whether there is such a file.
pub(crate) fn is_file(path: &Path) -> bool {
    lock(&FILES).contains_key(path)
}

/// A file that is read.
#[derive(Debug)]
pub struct File(Cursor<Arc<[u8]>>);

impl File {
    /// Opens one, and says how long it is.
    pub(crate) fn open(path: &Path) -> io::Result<(Self, u64)> {
        let bytes = lock(&FILES).get(path).cloned();
        let bytes = bytes.ok_or_else(|| {
            let text = "the page has no such file; drop it on the window";
            io::Error::new(io::ErrorKind::InvalidInput, text)
        })?;
        let length = bytes.len() as u64;
        Ok((Self(Cursor::new(bytes)), length))
    }
}

impl Read for File {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

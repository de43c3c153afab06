//! What keeps a file from being written, in words that say what to do.

use std::io;

/// The reason, and a remedy where there is one.
pub(crate) fn explained(error: &io::Error) -> String {
    let known = match error.kind() {
        io::ErrorKind::StorageFull => "the disk is full; free some space or write elsewhere",
        io::ErrorKind::PermissionDenied => "no permission to write here; choose another directory",
        io::ErrorKind::NotFound => "the directory does not exist; make it first or write elsewhere",
        io::ErrorKind::FileTooLarge => "files may not become as large here (see `ulimit -f`); write elsewhere, or less",
        io::ErrorKind::QuotaExceeded => "the quota is used up; free some space or write elsewhere",
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only; write elsewhere",
        _ => return error.to_string(),
    };
    known.to_owned()
}

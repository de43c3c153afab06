//! Files that appear complete or not at all.

use super::ExportError;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file beside its later place; [`Aside::commit`] renames it there, dropping it removes it.
#[derive(Debug)]
pub struct Aside {
    target: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl Aside {
    /// Opens a file in the directory of `target`, which stays as it is until [`Aside::commit`].
    ///
    /// # Errors
    /// If the directory does not exist or cannot be written to, or `target` is a directory.
    pub fn create(target: &Path) -> Result<Self, ExportError> {
        if target.is_dir() {
            return Err(ExportError::io(target)(io::Error::new(
                io::ErrorKind::IsADirectory,
                "this is a directory; name a file in it",
            )));
        }
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".ripplon-").suffix(".part");
        #[cfg(unix)]
        {
            // As any other new file: the umask decides.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(directory).map_err(ExportError::io(target))?;
        Ok(Self {
            target: target.to_owned(),
            file: BufWriter::with_capacity(1 << 16, file),
        })
    }

    /// The later place.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Writes out what is buffered, and puts the file in its place.
    ///
    /// # Errors
    /// If the disk is full or the place cannot be written to.
    pub fn commit(self) -> Result<(), ExportError> {
        let Self { target, file } = self;
        let finish = || -> io::Result<()> {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            file.persist(&target).map_err(|error| error.error)?;
            Ok(())
        };
        finish().map_err(ExportError::io(&target))
    }

    /// The file itself, everything buffered written.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn flushed(&mut self) -> io::Result<&File> {
        self.file.flush()?;
        Ok(self.file.get_ref().as_file())
    }
}

impl Write for Aside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Aside {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

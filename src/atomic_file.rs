//! Files that appear complete or not at all.
//!
//! A file is written beside its place under the name `.ripplon-NAME-XXXXXX.part`, synchronised with the disk and renamed. Mode and owner of the file
//! that it replaces stay; a symbolic link stays a link, and what it points to is replaced. What cannot be replaced by a rename (a character device such as
//! `/dev/null`, a named pipe) gets the bytes written to it when they are complete; a pipe that nobody reads is given up after some seconds. A run that was killed leaves its part behind; the next one that writes the same
//! file removes it. Parts of living runs are locked, and stay.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Random characters in the name of a part.
const RANDOM: usize = 6;
/// Bytes of a file's name that its part repeats: systems allow 255 in all.
const LONGEST_STEM: usize = 200;
/// Links that are followed, as many as Linux does.
const MOST_LINKS: usize = 40;

/// Whether files are thrown away when they are complete.
static NOWHERE: AtomicBool = AtomicBool::new(false);

/// Has this process write no file from here on: of several that do the same, one writes.
pub fn write_nowhere() {
    NOWHERE.store(true, Ordering::Relaxed);
}

/// A file on its way to its place; [`AtomicFile::commit`] puts it there, dropping it removes it.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    file: BufWriter<Storage>,
}

/// What is there where a file shall be written.
#[derive(Debug)]
enum Place {
    /// Nothing, or a file that a rename replaces.
    Replaced { path: PathBuf, before: Option<Metadata> },
    /// A device or pipe.
    Through,
}

/// Where the bytes lie until they are complete.
#[derive(Debug)]
enum Storage {
    /// Beside `path`, which it will replace.
    Named { file: NamedTempFile, path: PathBuf },
    /// Without a name; a device or pipe gets them in the end.
    Unnamed(File),
}

impl AtomicFile {
    /// Opens a file on its way to `target`, which stays as it is until [`AtomicFile::commit`].
    ///
    /// # Errors
    /// If the directory does not exist or cannot be written to, or `target` is a directory, read-only, or nothing that can be written to.
    pub fn create(target: &Path) -> io::Result<Self> {
        faults::call()?;
        let storage = match Place::of(target)? {
            _ if NOWHERE.load(Ordering::Relaxed) => Storage::Unnamed(tempfile::tempfile()?),
            Place::Through => Storage::Unnamed(tempfile::tempfile()?),
            Place::Replaced { path, before } => {
                let directory = directory_of(&path);
                let name = path.file_name().unwrap_or_default();
                remove_stale(directory, name);
                let file = part(directory, name, before.as_ref())?;
                Storage::Named { file, path }
            }
        };
        Ok(Self {
            target: target.to_owned(),
            file: BufWriter::with_capacity(1 << 16, storage),
        })
    }

    /// The later place, as it was named.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Writes out what is buffered, and puts the file in its place.
    ///
    /// # Errors
    /// If the disk is full or the place cannot be written to; what stood there is then still there.
    pub fn commit(self) -> io::Result<()> {
        let storage = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        faults::call()?;
        match storage {
            Storage::Named { file, path } => {
                file.as_file().sync_all()?;
                faults::call()?;
                file.persist(path).map_err(|error| error.error)?;
            }
            Storage::Unnamed(_) if NOWHERE.load(Ordering::Relaxed) => {}
            Storage::Unnamed(mut file) => {
                file.seek(SeekFrom::Start(0))?;
                let mut through = opened_through(&self.target)?;
                io::copy(&mut file, &mut through)?;
                through.flush()?;
            }
        }
        Ok(())
    }

    /// Where its bytes lie until they are complete, for a library that opens files by their names; `None` where no file of the name will be there in the end.
    ///
    /// # Errors
    /// If the target is a device or a pipe, which takes bytes one after the other.
    #[cfg(feature = "hdf5")]
    pub fn part(&self) -> io::Result<Option<PathBuf>> {
        match self.file.get_ref() {
            Storage::Named { file, .. } => {
                // Locks of Windows keep everybody from writing who has not asked for them.
                #[cfg(windows)]
                file.as_file().unlock()?;
                Ok(Some(file.path().to_owned()))
            }
            Storage::Unnamed(_) if NOWHERE.load(Ordering::Relaxed) => Ok(None),
            Storage::Unnamed(_) => Err(io::Error::other(
                "this is a device or a pipe, and a file of this kind is not written from its beginning to its end; name a file",
            )),
        }
    }

    /// The file itself, everything buffered written.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn flushed(&mut self) -> io::Result<&File> {
        self.file.flush()?;
        Ok(match self.file.get_ref() {
            Storage::Named { file, .. } => file.as_file(),
            Storage::Unnamed(file) => file,
        })
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Write for Storage {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        faults::call()?;
        match self {
            Self::Named { file, .. } => file.write(bytes),
            Self::Unnamed(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Named { file, .. } => file.flush(),
            Self::Unnamed(file) => file.flush(),
        }
    }
}

impl Seek for Storage {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Named { file, .. } => file.seek(to),
            Self::Unnamed(file) => file.seek(to),
        }
    }
}

impl Place {
    fn of(target: &Path) -> io::Result<Self> {
        let refused = |text: &str| Err(io::Error::other(text));
        let before = match fs::metadata(target) {
            Ok(data) => data,
            // A name that is free, or a link to one.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let path = resolved(target)?;
                return Ok(Self::Replaced { path, before: None });
            }
            Err(error) => return Err(error),
        };
        if before.is_dir() {
            return refused("this is a directory; name a file in it");
        }
        if !before.is_file() {
            return if takes_bytes(&before) {
                Ok(Self::Through)
            } else {
                refused("this is neither a file nor a device that takes bytes one after the other; name a file")
            };
        }
        if before.permissions().readonly() || !may_write(target) {
            return refused("this file is read-only; change its mode, remove it, or name another one");
        }
        Ok(Self::Replaced {
            path: resolved(target)?,
            before: Some(before),
        })
    }
}

/// How long a pipe is waited for that nobody reads: its reader may still be starting.
#[cfg(unix)]
const PATIENCE: Duration = if cfg!(test) {
    Duration::from_millis(100)
} else {
    Duration::from_secs(10)
};

/// Opens a device or pipe. A pipe without a reader would hold up whoever opens it for ever, deaf to every signal.
#[cfg(unix)]
fn opened_through(target: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use rustix::io::Errno;
    use std::os::unix::fs::FileTypeExt;
    if !fs::metadata(target)?.file_type().is_fifo() {
        return OpenOptions::new().write(true).open(target);
    }
    let since = Instant::now();
    loop {
        match rustix::fs::open(
            target,
            OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        ) {
            Ok(pipe) => {
                // From here on a full pipe waits for its reader.
                let flags = rustix::fs::fcntl_getfl(&pipe)?;
                rustix::fs::fcntl_setfl(&pipe, flags - OFlags::NONBLOCK)?;
                return Ok(File::from(pipe));
            }
            Err(Errno::NXIO) if since.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            Err(Errno::NXIO) => return Err(io::Error::other("nobody reads this pipe; start its reader first")),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
fn opened_through(target: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(target)
}

/// Whether bytes are written to it without a file being replaced: character devices and pipes.
#[cfg(unix)]
fn takes_bytes(data: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    data.file_type().is_char_device() || data.file_type().is_fifo()
}

#[cfg(not(unix))]
fn takes_bytes(_: &Metadata) -> bool {
    false
}

/// Whether this user may write to a file that is there.
#[cfg(unix)]
fn may_write(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn may_write(_: &Path) -> bool {
    true
}

/// What a name stands for when links are followed; the last of them may lead to nothing.
pub(crate) fn resolved(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(data) if data.is_symlink() => path = directory_of(&path).join(fs::read_link(&path)?),
            _ => return Ok(path),
        }
    }
    Err(io::Error::other(
        "these are links that go round in a circle; name a file",
    ))
}

/// The directory that a file stands in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// How names of the parts of `name` begin.
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".ripplon-");
    let bytes = name.as_encoded_bytes();
    if bytes.len() > LONGEST_STEM {
        prefix.push(format!("{:08x}", crc32fast::hash(bytes)));
    } else {
        prefix.push(name);
    }
    prefix.push("-");
    prefix
}

/// A part, locked, with mode and owner of the file that it will replace.
fn part(directory: &Path, name: &OsStr, before: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let prefix = prefix(name);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part").rand_bytes(RANDOM);
    #[cfg(unix)]
    {
        // As any other new file: the umask decides.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // Another run may take a part for a dead one between its birth and its lock.
    let file = loop {
        let file = builder.tempfile_in(directory)?;
        let locked = file.as_file().try_lock();
        if locked.is_err() || file.path().exists() {
            break file;
        }
    };
    if let Some(before) = before {
        keep_owner(file.as_file(), before)?;
        file.as_file().set_permissions(before.permissions())?;
    }
    Ok(file)
}

/// Gives a new file the owner of the one that it will replace.
#[cfg(unix)]
fn keep_owner(file: &File, before: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let now = file.metadata()?;
    if (now.uid(), now.gid()) == (before.uid(), before.gid()) {
        return Ok(());
    }
    std::os::unix::fs::fchown(file, Some(before.uid()), Some(before.gid())).map_err(|_| {
        let text = "this file belongs to another user or group, which replacing it would change; remove it, or name another one";
        io::Error::other(text)
    })
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same as on Unix")]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// A directory on its way to the place of the directory `name` in `directory`, with the lock that says that its run lives.
///
/// # Errors
/// If `directory` cannot be written to.
pub(crate) fn part_directory(directory: &Path, name: &OsStr) -> io::Result<(tempfile::TempDir, Option<File>)> {
    faults::call()?;
    remove_stale(directory, name);
    let made = tempfile::Builder::new()
        .prefix(&prefix(name))
        .suffix(".part")
        .rand_bytes(RANDOM)
        .tempdir_in(directory)?;
    // Only Unix opens directories.
    let lock = File::open(made.path()).ok().filter(|file| file.try_lock().is_ok());
    Ok((made, lock))
}

/// Removes what runs that were killed left of `name`; parts that a living run has locked stay.
fn remove_stale(directory: &Path, name: &OsStr) {
    let prefix = prefix(name);
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let own = entry.file_name();
        let random = own
            .as_encoded_bytes()
            .strip_prefix(prefix.as_encoded_bytes())
            .and_then(|rest| rest.strip_suffix(b".part"));
        if !random.is_some_and(|text| text.len() == RANDOM && text.iter().all(u8::is_ascii_alphanumeric)) {
            continue;
        }
        let Ok(kind) = entry.file_type() else { continue };
        if !kind.is_file() && !kind.is_dir() {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else { continue };
        match file.try_lock() {
            // Where there are no locks nobody knows whether its run lives.
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
            Ok(()) if kind.is_dir() => drop(fs::remove_dir_all(entry.path())),
            Ok(()) => drop(fs::remove_file(entry.path())),
        }
    }
}

/// Calls to the system that tests let fail: the n-th of a thread.
#[cfg(test)]
pub(crate) mod faults {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static CALLS: Cell<u64> = const { Cell::new(0) };
        static FAILING: Cell<Option<u64>> = const { Cell::new(None) };
    }

    /// From now on the call with this number, from 0, fails; `None` = none does.
    pub(crate) fn fail_at(call: Option<u64>) {
        CALLS.set(0);
        FAILING.set(call);
    }

    /// How many calls there were since.
    pub(crate) fn calls() -> u64 {
        CALLS.get()
    }

    pub(crate) fn call() -> io::Result<()> {
        let now = CALLS.replace(CALLS.get() + 1);
        if FAILING.get() == Some(now) {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "a test lets it fail"));
        }
        Ok(())
    }
}

/// Outside of tests nothing is made to fail.
#[cfg(not(test))]
pub(crate) mod faults {
    #[expect(clippy::unnecessary_wraps, reason = "a test lets it fail")]
    pub(crate) fn call() -> std::io::Result<()> {
        Ok(())
    }
}

/// A named pipe in a folder.
#[cfg(all(test, unix))]
pub(crate) fn named_pipe(folder: &Path) -> PathBuf {
    let pipe = folder.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo {}", pipe.display());
    pipe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        let mut file = AtomicFile::create(path)?;
        file.write_all(text.as_bytes())?;
        file.commit()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn whichever_call_fails_the_file_is_the_new_or_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let long = "x".repeat(200_000);
        faults::fail_at(None);
        write(&path, "old").unwrap();
        faults::fail_at(None);
        write(&path, &long).unwrap();
        let calls = faults::calls();
        assert!(calls >= 4, "{calls} calls");
        for call in 0..calls {
            faults::fail_at(None);
            write(&path, "old").unwrap();
            faults::fail_at(Some(call));
            write(&path, &long).unwrap_err();
            assert_eq!(fs::read_to_string(&path).unwrap(), "old", "call {call}");
            assert_eq!(names(folder.path()), ["a"], "call {call}");
        }
        faults::fail_at(None);
    }

    #[test]
    fn parts_of_dead_runs_are_removed_and_those_of_living_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        // What a killed run leaves: nobody holds its lock.
        fs::write(folder.path().join(".ripplon-a.npy-Zz09aB.part"), "half").unwrap();
        for kept in [
            ".ripplon-b.npy-Zz09aB.part",
            ".ripplon-a.npy-x-Zz09aB.part",
            "a.npy-Zz09aB.part",
        ] {
            fs::write(folder.path().join(kept), "other").unwrap();
        }
        let living = AtomicFile::create(&path).unwrap();
        let with_living = names(folder.path());
        assert_eq!(with_living.len(), 4, "{with_living:?}");
        write(&path, "whole").unwrap();
        let mut expected = with_living;
        expected.push("a.npy".to_owned());
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        drop(living);
        assert_eq!(names(folder.path()).len(), 4);
        // A name as long as the system allows has a part as well.
        write(&folder.path().join("n".repeat(255)), "long").unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_modes_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        for (link, to) in [("link", "deep/file"), ("dangling", "deep/new"), ("round", "round")] {
            symlink(to, at(link)).unwrap();
        }
        write(&at("deep/file"), "old").unwrap();
        fs::set_permissions(at("deep/file"), fs::Permissions::from_mode(0o640)).unwrap();
        for link in ["link", "dangling"] {
            write(&at(link), "new").unwrap();
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(at(link)).unwrap(), "new");
        }
        let mode = fs::metadata(at("deep/file")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o640);
        assert_eq!(names(&at("deep")), ["file", "new"]);
        write(&at("round"), "x").unwrap_err();
        // As root, too, who may write everything.
        fs::set_permissions(at("deep/file"), fs::Permissions::from_mode(0o444)).unwrap();
        let error = write(&at("deep/file"), "x").unwrap_err().to_string();
        assert!(error.contains("read-only"), "{error}");
        assert_eq!(fs::read_to_string(at("deep/file")).unwrap(), "new");
        write(Path::new("/dev/null"), "nothing").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let error = write(folder.path(), "x").unwrap_err().to_string();
        assert!(error.contains("directory"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_gets_the_bytes_when_they_are_complete() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let pipe = named_pipe(folder.path());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        let mut file = AtomicFile::create(&pipe).unwrap();
        file.write_all(b"1234").unwrap();
        // Formats fill in their lengths at the end.
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(b"9").unwrap();
        file.commit().unwrap();
        assert_eq!(reader.join().unwrap(), "9234");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_nobody_reads_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(&named_pipe(folder.path()), "1234").unwrap_err().to_string();
        assert!(error.contains("nobody reads this pipe"), "{error}");
    }
}

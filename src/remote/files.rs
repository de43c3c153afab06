//! Files on their way: cut into pieces at one end, put together in a folder at the other, under names that no machine reads anything into.

use super::wire::{PIECE, Piece};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of one file.
pub const LONGEST: u64 = 64 << 30;

/// Letters of a name on the way.
const NAME: usize = 96;

/// A name under which a file travels: a number, and what it was called as far as that is harmless.
pub fn name_on_the_way(number: u64, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(safe).collect();
    // The ending stays, whatever the length.
    let from = name.len().saturating_sub(NAME - 24);
    format!("{number}-{}", &name[from..])
}

/// Whether a name is one of those.
fn is_plain(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !name.is_empty() && name.len() <= NAME && !name.starts_with('.') && name.chars().all(fits)
}

/// A file that is being sent.
#[derive(Debug)]
struct Reading {
    file: File,
    name: String,
    length: u64,
    at: u64,
    /// Removed once it was read.
    temporary: Option<PathBuf>,
}

/// Files that wait to be sent, in order.
#[derive(Debug, Default)]
pub struct Sending {
    queue: VecDeque<Reading>,
}

impl Sending {
    /// Sends a file under a name.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn add(&mut self, path: &Path, name: String, is_temporary: bool) -> io::Result<()> {
        let (file, length) = crate::input_file::open(path)?;
        self.queue.push_back(Reading {
            file,
            name,
            length,
            at: 0,
            temporary: is_temporary.then(|| path.to_owned()),
        });
        Ok(())
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The next piece. A file that became shorter while it was read is filled up with zeros: its reader says what is wrong with it.
    pub fn next_piece(&mut self) -> Option<Piece> {
        let first = self.queue.front_mut()?;
        let room = usize::try_from(first.length - first.at).map_or(PIECE, |rest| rest.min(PIECE));
        let mut bytes = vec![0; room];
        let mut filled = 0;
        while filled < room {
            match first.file.read(&mut bytes[filled..]) {
                Ok(0) | Err(_) => break,
                Ok(read) => filled += read,
            }
        }
        let piece = Piece {
            name: first.name.clone(),
            length: first.length,
            at: first.at,
            bytes,
        };
        first.at += room as u64;
        if first.at == first.length {
            self.drop_first();
        }
        Some(piece)
    }

    fn drop_first(&mut self) {
        if let Some(path) = self.queue.pop_front().and_then(|first| first.temporary) {
            // What cannot be removed is in a folder that is.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Forgets what waits.
    pub fn clear(&mut self) {
        while !self.queue.is_empty() {
            self.drop_first();
        }
    }
}

/// What tells one content of a file from another.
type Stamp = (PathBuf, Option<SystemTime>, u64);

/// Names under which files of scenes were sent already.
#[derive(Debug, Default)]
pub struct Names {
    known: HashMap<Stamp, String>,
    next: u64,
}

impl Names {
    /// Nothing counts as sent any more; names go on.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// The name of a file, and whether it has to be sent first.
    pub fn of(&mut self, path: &Path) -> (String, bool) {
        let data = std::fs::metadata(path).ok();
        let stamp = (
            path.to_owned(),
            data.as_ref().and_then(|data| data.modified().ok()),
            data.map_or(0, |data| data.len()),
        );
        if let Some(name) = self.known.get(&stamp) {
            return (name.clone(), false);
        }
        self.next += 1;
        let name = name_on_the_way(self.next, path);
        self.known.insert(stamp, name.clone());
        (name, true)
    }
}

/// A folder in which files arrive.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    whole: HashSet<String>,
    arriving: Option<(String, File, u64, u64)>,
}

impl Store {
    /// In a folder that is there.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            whole: HashSet::new(),
            arriving: None,
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where a file lies that is whole.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.whole.contains(name).then(|| self.folder.join(name))
    }

    /// A file that was taken away.
    pub fn forget(&mut self, name: &str) {
        self.whole.remove(name);
    }

    /// Takes a piece; the first one of a file begins it.
    ///
    /// # Errors
    /// If it does not go on where the one before ended, has no proper name, or cannot be written.
    pub fn take(&mut self, piece: &Piece) -> io::Result<()> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        if piece.at == 0 {
            if !is_plain(&piece.name) || piece.length > LONGEST {
                return Err(wrong("a file with a name or length that no end sends"));
            }
            self.whole.remove(&piece.name);
            let file = File::create(self.folder.join(&piece.name))?;
            self.arriving = Some((piece.name.clone(), file, 0, piece.length));
        }
        let Some((name, file, at, length)) = &mut self.arriving else {
            return Err(wrong("a piece of no file"));
        };
        let end = piece.at.checked_add(piece.bytes.len() as u64);
        if *name != piece.name || *at != piece.at || *length != piece.length || end.is_none_or(|end| end > *length) {
            return Err(wrong("a piece that does not fit its file"));
        }
        file.write_all(&piece.bytes)?;
        *at += piece.bytes.len() as u64;
        if *at == *length {
            self.whole.insert(std::mem::take(name));
            self.arriving = None;
        }
        Ok(())
    }

    /// The link was lost in the middle of a file.
    pub fn give_up(&mut self) {
        if let Some((name, ..)) = self.arriving.take() {
            // What cannot be removed is overwritten by the next file of that name.
            let _ = std::fs::remove_file(self.folder.join(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_arrive_as_they_were_sent_and_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("ψ of t.npy");
        let content: Vec<u8> = (0..251).cycle().take(2 * PIECE + 17).collect();
        std::fs::write(&from, &content).unwrap();
        let empty = dir.path().join("empty");
        std::fs::write(&empty, "").unwrap();
        let mut names = Names::default();
        let (name, is_new) = names.of(&from);
        assert!(is_new && is_plain(&name) && name.ends_with("of_t.npy"), "{name}");
        assert_eq!(names.of(&from), (name.clone(), false), "sent once");
        let mut sending = Sending::default();
        sending.add(&from, name.clone(), false).unwrap();
        sending.add(&empty, "2-empty".to_owned(), true).unwrap();
        let to = tempfile::tempdir().unwrap();
        let mut store = Store::new(to.path().to_owned());
        let mut pieces = 0;
        while let Some(piece) = sending.next_piece() {
            pieces += 1;
            store.take(&piece).unwrap();
            assert_eq!(store.path(&name).is_some(), pieces >= 3);
        }
        assert_eq!(pieces, 4);
        assert_eq!(std::fs::read(store.path(&name).unwrap()).unwrap(), content);
        assert_eq!(std::fs::read(store.path("2-empty").unwrap()).unwrap(), b"");
        assert!(!empty.exists() && from.exists());
        let piece = |name: &str, at, bytes: &[u8]| Piece {
            name: name.to_owned(),
            length: 4,
            at,
            bytes: bytes.to_vec(),
        };
        for bad in ["../x", "/etc/x", ".x", "", "a b", &"x".repeat(200)] {
            assert!(store.take(&piece(bad, 0, b"1234")).is_err(), "{bad}");
        }
        assert!(store.take(&piece("3-x", 2, b"34")).is_err(), "it was not begun");
        store.take(&piece("3-x", 0, b"12")).unwrap();
        assert!(store.take(&piece("3-x", 2, b"345")).is_err(), "longer than it said");
        store.give_up();
        assert!(!to.path().join("3-x").exists());
    }
}

//! MPI, loaded when the program runs: one binary for Open MPI, for MPICH and what has its ABI (Intel MPI, Cray MPICH, MVAPICH), and for libraries with
//! the ABI of the MPI-5 standard. Without a launcher nothing of it is touched.
//!
//! Handles are addresses in Open MPI and in the standard, and 32-bit numbers in MPICH; the constants are those of their `mpi.h` (Open MPI 4.1, MPICH
//! 4.0, MPI 5.0 §20).

#![allow(unsafe_code, reason = "calls of a C library")]
#![allow(non_snake_case, reason = "the library's names")]

use super::Ranks;
use super::launcher::{Launcher, Wire};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW, Symbol};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What differs between libraries beside the type of their handles.
struct Constants<H> {
    world: H,
    byte: H,
    errors_return: H,
    /// `MPI_STATUSES_IGNORE`.
    no_status: *mut c_void,
    /// `MPI_THREAD_SERIALIZED`.
    serialized: c_int,
}

macro_rules! api {
    ($($name:ident: fn($($argument:ty),*);)*) => {
        /// The functions that are called.
        struct Api<H> {
            $($name: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl<H> Api<H> {
            /// # Safety
            /// `library` is an MPI whose handles are `H`.
            #[allow(clippy::undocumented_unsafe_blocks, reason = "the comment is not seen in a macro")]
            unsafe fn load(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    $($name: {
                        // SAFETY: the signature is that of the standard, with this library's handles.
                        let symbol: Symbol<unsafe extern "C" fn($($argument),*) -> c_int> =
                            unsafe { library.get(concat!(stringify!($name), "\0").as_bytes())? };
                        *symbol
                    },)*
                })
            }
        }
    };
}

api! {
    MPI_Init_thread: fn(*mut c_int, *mut c_void, c_int, *mut c_int);
    MPI_Finalize: fn();
    MPI_Comm_rank: fn(H, *mut c_int);
    MPI_Comm_size: fn(H, *mut c_int);
    MPI_Comm_set_errhandler: fn(H, H);
    MPI_Allgather: fn(*const c_void, c_int, H, *mut c_void, c_int, H, H);
    MPI_Bcast: fn(*mut c_void, c_int, H, c_int, H);
    MPI_Isend: fn(*const c_void, c_int, H, c_int, c_int, H, *mut H);
    MPI_Irecv: fn(*mut c_void, c_int, H, c_int, c_int, H, *mut H);
    MPI_Testall: fn(c_int, *mut H, *mut c_int, *mut c_void);
    MPI_Waitall: fn(c_int, *mut H, *mut c_void);
    MPI_Error_string: fn(c_int, *mut c_char, *mut c_int);
    MPI_Abort: fn(H, c_int);
}

/// Bytes of one message: counts are 32-bit numbers.
const MOST: usize = 1 << 30;
/// Exit code of processes that end because a call failed.
const FAILED: c_int = 1;

/// A count or the number of a process as MPI takes it.
fn number_of(count: usize) -> c_int {
    // Arrays go in pieces of `MOST`: a count that did not fit would say less than a buffer holds, or more.
    debug_assert!(c_int::try_from(count).is_ok(), "a count of {count}");
    c_int::try_from(count).unwrap_or(c_int::MAX)
}

struct Mpi<H> {
    api: Api<H>,
    constants: Constants<H>,
    rank: usize,
    count: usize,
    name: String,
    /// Keeps the functions alive.
    _library: Library,
}

// SAFETY: the library was initialised for calls from any thread, one at a time (`MPI_THREAD_SERIALIZED`), and a run asks for one thing after the other.
unsafe impl<H> Send for Mpi<H> {}
// SAFETY: as above.
unsafe impl<H> Sync for Mpi<H> {}

/// Opens the launcher's MPI and takes part in it.
///
/// # Errors
/// If there is no library, or it is not the launcher's; as a text for the user, with the remedy.
pub(super) fn open(launcher: &Launcher) -> Result<Box<dyn Ranks>, String> {
    let mut tried = Vec::new();
    let named = std::env::var("RIPPLON_MPI").ok();
    let names: Vec<&str> = match (&named, launcher.wire) {
        (Some(name), _) => vec![name],
        (None, Wire::Pmix) => vec![
            "libmpi.so.40",
            "libmpi_abi.so.1",
            "libmpi_abi.so.0",
            "libmpi.so.12",
            "libmpich.so.12",
        ],
        (None, Wire::Pmi) => vec![
            "libmpi.so.12",
            "libmpich.so.12",
            "libmpi_abi.so.1",
            "libmpi_abi.so.0",
            "libmpi.so.40",
        ],
    };
    for name in names {
        // SAFETY: constructors of a library that the user's launcher or the user names. Open MPI's components want its symbols global.
        match unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) } {
            Ok(library) => return start(library, name, launcher),
            Err(error) => tried.push(error.to_string()),
        }
    }
    Err(format!(
        "started by {} as one of {} processes, but no MPI library could be loaded ({}); install the launcher's (Debian, Ubuntu: `apt install \
         libopenmpi3` or `libmpich12`), or set RIPPLON_MPI to the path of its libmpi.so",
        launcher.name,
        launcher.count,
        tried.join("; ")
    ))
}

fn start(library: Library, name: &str, launcher: &Launcher) -> Result<Box<dyn Ranks>, String> {
    let missing =
        |error: libloading::Error| format!("{name} is no MPI library ({error}); set RIPPLON_MPI to the path of one");
    // SAFETY: a data symbol of Open MPI, whose address is a handle.
    let handle = |symbol: &str| unsafe {
        let found = library.get::<*mut c_void>(format!("{symbol}\0").as_bytes());
        found.map(|found| found.into_raw().cast::<c_void>())
    };
    let number = |value: usize| value as *mut c_void;
    if let Ok(world) = handle("ompi_mpi_comm_world") {
        let constants = Constants {
            world,
            byte: handle("ompi_mpi_byte").map_err(missing)?,
            errors_return: handle("ompi_mpi_errors_return").map_err(missing)?,
            no_status: null_mut(),
            serialized: 2,
        };
        return join::<*mut c_void>(library, name, launcher, constants);
    }
    if name.contains("mpi_abi") {
        let constants = Constants {
            world: number(0x101),
            byte: number(0x247),
            errors_return: number(0x143),
            no_status: null_mut(),
            serialized: 2048,
        };
        return join::<*mut c_void>(library, name, launcher, constants);
    }
    let constants = Constants::<c_int> {
        world: 0x4400_0000,
        byte: 0x4c00_010d,
        errors_return: 0x5400_0001,
        no_status: number(1),
        serialized: 2,
    };
    join(library, name, launcher, constants)
}

fn join<H: Copy + 'static>(
    library: Library,
    name: &str,
    launcher: &Launcher,
    constants: Constants<H>,
) -> Result<Box<dyn Ranks>, String> {
    // SAFETY: `start` found out which handles the library has.
    let api = unsafe { Api::load(&library) }
        .map_err(|error| format!("{name} is no MPI library ({error}); set RIPPLON_MPI to the path of one"))?;
    let mut mpi = Mpi {
        api,
        constants,
        rank: 0,
        count: 1,
        name: name.to_owned(),
        _library: library,
    };
    let (mut rank, mut count, mut level) = (0, 0, 0);
    let constants = &mpi.constants;
    // SAFETY: the standard allows null for both arguments of the program; all others point to numbers that live through the calls.
    unsafe {
        let began = (mpi.api.MPI_Init_thread)(null_mut(), null_mut(), constants.serialized, &raw mut level);
        if began != 0 {
            return Err(format!(
                "{name} could not be started (error {began}); is it the launcher's?"
            ));
        }
        mpi.check(
            "MPI_Comm_set_errhandler",
            (mpi.api.MPI_Comm_set_errhandler)(constants.world, constants.errors_return),
        );
        mpi.check("MPI_Comm_rank", (mpi.api.MPI_Comm_rank)(constants.world, &raw mut rank));
        mpi.check(
            "MPI_Comm_size",
            (mpi.api.MPI_Comm_size)(constants.world, &raw mut count),
        );
    }
    if level < constants.serialized {
        return Err(format!(
            "{name} cannot be called from more than one thread (level {level}); use another build of it"
        ));
    }
    (mpi.rank, mpi.count) = (rank.unsigned_abs() as usize, count.unsigned_abs() as usize);
    if mpi.count != launcher.count {
        mpi.leave();
        return Err(format!(
            "{} started {} processes, but {name} sees {}: this library is not this launcher's; set RIPPLON_MPI to the path of the launcher's libmpi.so",
            launcher.name, launcher.count, mpi.count
        ));
    }
    Ok(Box::new(mpi))
}

impl<H: Copy> Mpi<H> {
    /// Ends all processes where a call failed.
    fn check(&self, call: &str, code: c_int) {
        if code == 0 {
            return;
        }
        let mut text = vec![0 as c_char; 8192];
        let mut length = 0;
        // SAFETY: the buffer is longer than any MPI's `MPI_MAX_ERROR_STRING`, and begins as an empty string.
        let text = unsafe {
            (self.api.MPI_Error_string)(code, text.as_mut_ptr(), &raw mut length);
            CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
        };
        // The error stream may be closed.
        let _ = writeln!(std::io::stderr(), "error: {call} failed: {text}");
        self.end(FAILED);
    }
}

/// Tags of messages to the next process and to the one before.
const UPWARDS: c_int = 1;
const DOWNWARDS: c_int = 2;

/// How often messages are progressed during a calculation: most libraries move long ones only within their own calls.
const LOOK: Duration = Duration::from_micros(100);

/// Messages under way; the buffers outlive it.
struct UnderWay<'a, H: Copy> {
    mpi: &'a Mpi<H>,
    requests: Vec<H>,
}

// SAFETY: as for `Mpi`.
unsafe impl<H: Copy> Send for UnderWay<'_, H> {}

impl<H: Copy> UnderWay<'_, H> {
    fn send(&mut self, bytes: &[u8], to: usize, tag: c_int) {
        let Constants { world, byte, .. } = self.mpi.constants;
        for piece in bytes.chunks(MOST) {
            let mut request = world;
            // SAFETY: the piece stays as it is until `wait` has ended.
            let code = unsafe {
                let (count, to) = (number_of(piece.len()), number_of(to));
                (self.mpi.api.MPI_Isend)(piece.as_ptr().cast(), count, byte, to, tag, world, &raw mut request)
            };
            self.mpi.check("MPI_Isend", code);
            self.requests.push(request);
        }
    }

    fn receive(&mut self, into: &mut [u8], from: usize, tag: c_int) {
        let Constants { world, byte, .. } = self.mpi.constants;
        for piece in into.chunks_mut(MOST) {
            let mut request = world;
            // SAFETY: nobody looks at the piece until `wait` has ended.
            let code = unsafe {
                let (count, from) = (number_of(piece.len()), number_of(from));
                (self.mpi.api.MPI_Irecv)(
                    piece.as_mut_ptr().cast(),
                    count,
                    byte,
                    from,
                    tag,
                    world,
                    &raw mut request,
                )
            };
            self.mpi.check("MPI_Irecv", code);
            self.requests.push(request);
        }
    }

    /// Whether all have arrived.
    fn have_arrived(&mut self) -> bool {
        let mut all = 0;
        // SAFETY: the requests are those of this library; ended ones are marked as such and may be asked again.
        let code = unsafe {
            let count = number_of(self.requests.len());
            let statuses = self.mpi.constants.no_status;
            (self.mpi.api.MPI_Testall)(count, self.requests.as_mut_ptr(), &raw mut all, statuses)
        };
        self.mpi.check("MPI_Testall", code);
        all != 0
    }

    /// Runs `meanwhile`, then waits for all messages.
    fn end_after(mut self, meanwhile: &mut dyn FnMut()) {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (done, own) = (&done, &mut self);
            let look = std::thread::Builder::new().name("ripplon-messages".to_owned());
            // One thread at a time calls the library: this one while that of the calculation does not. Without a thread, messages wait for the end.
            let looking = look.spawn_scoped(scope, move || {
                while !done.load(Ordering::Acquire) && !own.have_arrived() {
                    std::thread::sleep(LOOK);
                }
            });
            let _end = Ends(done);
            meanwhile();
            drop(looking);
        });
    }

    fn wait(&mut self) {
        // SAFETY: as in `have_arrived`.
        let code = unsafe {
            let count = number_of(self.requests.len());
            (self.mpi.api.MPI_Waitall)(count, self.requests.as_mut_ptr(), self.mpi.constants.no_status)
        };
        self.mpi.check("MPI_Waitall", code);
    }
}

impl<H: Copy> Drop for UnderWay<'_, H> {
    fn drop(&mut self) {
        self.wait();
    }
}

/// Says that a calculation has ended, also where it panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl<H: Copy> Ranks for Mpi<H> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn describe(&self) -> String {
        self.name.clone()
    }

    fn gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let Constants { world, byte, .. } = self.constants;
        let own = mine.len() as u64;
        let mut lengths = vec![0u64; self.count];
        let size = number_of(size_of::<u64>());
        // SAFETY: one number is sent, and there is room for one of each process.
        let code = unsafe {
            let (from, to) = ((&raw const own).cast(), lengths.as_mut_ptr().cast());
            (self.api.MPI_Allgather)(from, size, byte, to, size, byte, world)
        };
        self.check("MPI_Allgather", code);
        // Arrays may be longer than a count can say: each comes from its owner, piece by piece.
        let mut all = Vec::with_capacity(self.count);
        for (rank, length) in lengths.iter().enumerate() {
            let mut bytes = if rank == self.rank {
                mine.to_vec()
            } else {
                vec![0; usize::try_from(*length).unwrap_or(0)]
            };
            for piece in bytes.chunks_mut(MOST) {
                // SAFETY: all processes give a buffer of the same length.
                let code = unsafe {
                    let (count, root) = (number_of(piece.len()), number_of(rank));
                    (self.api.MPI_Bcast)(piece.as_mut_ptr().cast(), count, byte, root, world)
                };
                self.check("MPI_Bcast", code);
            }
            all.push(bytes);
        }
        all
    }

    fn swap(
        &self,
        [down, up]: [&[u8]; 2],
        [from_before, from_after]: [&mut [u8]; 2],
        meanwhile: Option<&mut dyn FnMut()>,
    ) {
        let (before, after) = ((self.rank + self.count - 1) % self.count, (self.rank + 1) % self.count);
        let mut under_way = UnderWay {
            mpi: self,
            requests: Vec::new(),
        };
        under_way.receive(from_before, before, UPWARDS);
        under_way.receive(from_after, after, DOWNWARDS);
        under_way.send(up, after, UPWARDS);
        under_way.send(down, before, DOWNWARDS);
        match meanwhile {
            Some(meanwhile) => under_way.end_after(meanwhile),
            // Ends when it is dropped.
            None => drop(under_way),
        }
    }

    fn leave(&self) {
        // SAFETY: nothing is under way: calls return when they are done.
        let code = unsafe { (self.api.MPI_Finalize)() };
        self.check("MPI_Finalize", code);
    }

    fn end(&self, code: i32) -> ! {
        // SAFETY: it does not come back.
        unsafe { (self.api.MPI_Abort)(self.constants.world, code) };
        std::process::exit(code)
    }
}

//! Ghost rows between devices of several processes, by NCCL: from device to device over NVLink, PCIe or the network, in the order of a stream, past the host.
//!
//! The library is loaded when a run in several processes begins on NVIDIA devices. Types and numbers are those of `nccl.h`, the same from version 2.7 on, the first that
//! sends and receives.

#![allow(unsafe_code, reason = "calls of a C library")]

use super::{CudaError, Device, Pieces, Stream};
use crate::backend::ranks::Ranks;
use cudarc::driver::{result, sys};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The variable with the library's path, or `none` for messages through the host.
const NAMED: &str = "RIPPLON_NCCL";
/// Its name in the search path of the system.
const LIBRARY: &str = "libnccl.so.2";
/// Version 2.7.0, as the library writes it.
const OLDEST: c_int = 2700;
/// The type `ncclInt8`.
const BYTES: c_int = 0;

type Handle = *mut c_void;

/// What processes of one communicator know of each other.
#[repr(C)]
#[derive(Clone, Copy)]
struct UniqueId([u8; 128]);

/// The functions that are called.
struct Functions {
    version: c_int,
    unique_id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    join: unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int) -> c_int,
    leave: unsafe extern "C" fn(Handle) -> c_int,
    abort: unsafe extern "C" fn(Handle) -> c_int,
    begin: unsafe extern "C" fn() -> c_int,
    end: unsafe extern "C" fn() -> c_int,
    send: unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Handle, sys::CUstream) -> c_int,
    receive: unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Handle, sys::CUstream) -> c_int,
    words: unsafe extern "C" fn(c_int) -> *const c_char,
    /// The functions live as long as it does.
    _library: Library,
}

/// The library of this machine.
fn functions() -> Result<&'static Functions, String> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(find).as_ref().map_err(Clone::clone)
}

fn find() -> Result<Functions, String> {
    let named = std::env::var(NAMED).ok();
    let path = named.as_deref().unwrap_or(LIBRARY);
    if path == "none" {
        return Err(format!("{NAMED} is \"none\""));
    }
    // SAFETY: a library that the user names, or that of the system with NCCL's name; its initialisers have no preconditions.
    let library = unsafe { Library::new(path) }.map_err(|error| {
        format!("NCCL is not found ({error}); install it (Debian, Ubuntu: `apt install libnccl2`, or from PyPI nvidia-nccl-cu13), or set {NAMED} to the path of {LIBRARY}")
    })?;
    let functions = bind(library).map_err(|error| format!("{path} is no NCCL ({error})"))?;
    if functions.version < OLDEST {
        return Err(format!(
            "{path} is NCCL {}, and 2.7 is the oldest that serves",
            version_text(functions.version)
        ));
    }
    Ok(functions)
}

fn bind(library: Library) -> Result<Functions, libloading::Error> {
    let mut version = 0;
    // SAFETY: the types are those of nccl.h; the library is kept beside the functions.
    unsafe {
        let ask: libloading::Symbol<'_, unsafe extern "C" fn(*mut c_int) -> c_int> =
            library.get(b"ncclGetVersion\0")?;
        ask(&raw mut version);
        Ok(Functions {
            version,
            unique_id: *library.get(b"ncclGetUniqueId\0")?,
            join: *library.get(b"ncclCommInitRank\0")?,
            leave: *library.get(b"ncclCommDestroy\0")?,
            abort: *library.get(b"ncclCommAbort\0")?,
            begin: *library.get(b"ncclGroupStart\0")?,
            end: *library.get(b"ncclGroupEnd\0")?,
            send: *library.get(b"ncclSend\0")?,
            receive: *library.get(b"ncclRecv\0")?,
            words: *library.get(b"ncclGetErrorString\0")?,
            _library: library,
        })
    }
}

/// The digits of a version: thousands and hundreds up to 2.8, ten thousands and hundreds since.
fn version_text(version: c_int) -> String {
    let major = if version < 10_000 { 1000 } else { 10_000 };
    format!("{}.{}.{}", version / major, version % major / 100, version % 100)
}

impl Functions {
    fn check(&self, what: &str, code: c_int) -> Result<(), CudaError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the library's own text, which it keeps.
        let words = unsafe { CStr::from_ptr((self.words)(code)) };
        Err(CudaError::Call {
            what: what.to_owned(),
            message: format!("NCCL says: {}", words.to_string_lossy()),
        })
    }
}

/// NCCL on this machine in a few words, or why there is none.
pub fn describe() -> String {
    match functions() {
        Ok(functions) => version_text(functions.version),
        Err(reason) => format!("not used: {reason}"),
    }
}

/// The library's handle of a communicator.
struct Communicator(Handle);

// SAFETY: NCCL's calls may come from any thread, one at a time, for which `Nccl` has a lock.
unsafe impl Send for Communicator {}

/// A process's place among those that send ghost rows to each other.
pub struct Nccl {
    functions: &'static Functions,
    communicator: Mutex<Communicator>,
    device: &'static Device,
}

/// The devices on which a process has its parts.
#[derive(Clone, Copy)]
pub enum Devices {
    /// It steps on the processor.
    None,
    /// All are on one.
    One(&'static Device),
    /// They are on several.
    Several,
}

/// What a process says before all decide.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Offer {
    /// The version of its library, 0 without one.
    version: c_int,
    /// Its devices: 0, 1, or 2 for several.
    devices: u32,
    /// Whether it was in a communicator before, on the same device.
    joined: u32,
    device: [u8; 16],
}

/// Why processes with these do not use NCCL, the same in each of them.
fn refusal(offers: &[Offer]) -> Option<String> {
    if let Some(rank) = offers.iter().position(|offer| offer.devices == 0) {
        return Some(format!("process {rank} steps on no NVIDIA device"));
    }
    if let Some(rank) = offers.iter().position(|offer| offer.devices > 1) {
        return Some(format!("process {rank} has parts on several devices"));
    }
    if let Some(rank) = offers.iter().position(|offer| offer.version == 0) {
        return Some(format!(
            "process {rank} has no NCCL (`ripplon info` under the launcher says why)"
        ));
    }
    if let Some(other) = offers.iter().find(|offer| offer.version != offers[0].version) {
        return Some(format!(
            "processes have NCCL {} and {}",
            version_text(offers[0].version),
            version_text(other.version)
        ));
    }
    let shared = (offers.iter().enumerate()).any(|(n, one)| offers[..n].iter().any(|other| other.device == one.device));
    shared.then(|| "processes share a device".to_owned())
}

impl Nccl {
    /// Joins all processes, each on a device of its own. All come to this call.
    ///
    /// # Errors
    /// Why they do not use NCCL, the same in each of them.
    pub fn among(ranks: &dyn Ranks, devices: Devices) -> Result<Arc<Self>, String> {
        static JOINED: Mutex<Option<Arc<Nccl>>> = Mutex::new(None);
        let (device, number) = match devices {
            Devices::None => (None, 0),
            Devices::One(device) => (Some(device), 1),
            Devices::Several => (None, 2),
        };
        let mut joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
        let own = device.and_then(|device| Some((device, functions().ok()?)));
        let before = joined
            .as_ref()
            .filter(|nccl| device.is_some_and(|own| own.number == nccl.device.number));
        let offer = Offer {
            version: own.map_or(0, |(_, functions)| functions.version),
            devices: number,
            joined: u32::from(before.is_some()),
            device: device.map_or([0; 16], Device::identity),
        };
        let offers = ranks.gather(bytemuck::bytes_of(&offer));
        let offers: Vec<Offer> = offers.iter().map(|bytes| bytemuck::pod_read_unaligned(bytes)).collect();
        if let (Some(before), true) = (before, offers.iter().all(|offer| offer.joined != 0)) {
            return Ok(Arc::clone(before));
        }
        if let Some(reason) = refusal(&offers) {
            return Err(reason);
        }
        let Some((device, functions)) = own else {
            return Err("this process has no NCCL".to_owned());
        };
        let made = Self::join(functions, device, ranks);
        let failures = ranks.gather(made.as_ref().err().map_or(&[][..], |error| error.as_bytes()));
        if let Some(failure) = failures.iter().find(|failure| !failure.is_empty()) {
            if let Ok(own) = made {
                own.abort();
            }
            return Err(String::from_utf8_lossy(failure).into_owned());
        }
        let made = Arc::new(made?);
        *joined = Some(Arc::clone(&made));
        Ok(made)
    }

    fn join(functions: &'static Functions, device: &'static Device, ranks: &dyn Ranks) -> Result<Self, String> {
        const WHAT: &str = "joining the processes of a run";
        let bound = device.bind(WHAT);
        let mut id = UniqueId([0; 128]);
        // SAFETY: there is room for an identity.
        let begun = ranks.rank() > 0 || bound.is_ok() && unsafe { (functions.unique_id)(&raw mut id) } == 0;
        // Nobody joins unless all can: the others would wait for the one that does not come.
        let ready = bound.is_ok() && begun;
        let all = ranks.gather(if ready { &id.0 } else { &[] });
        if let Some(rank) = all.iter().position(|id| id.len() < 128) {
            return Err(format!("process {rank} cannot begin"));
        }
        id.0.copy_from_slice(&all[0]);
        let count = |number: usize| c_int::try_from(number).unwrap_or(c_int::MAX);
        let mut communicator: Handle = std::ptr::null_mut();
        // SAFETY: the identity is that of the first process, and each process comes here with its own number.
        let code = unsafe { (functions.join)(&raw mut communicator, count(ranks.count()), id, count(ranks.rank())) };
        functions.check(WHAT, code).map_err(|error| error.to_string())?;
        debug_assert!(!communicator.is_null(), "NCCL joined without a communicator");
        Ok(Self {
            functions,
            communicator: Mutex::new(Communicator(communicator)),
            device,
        })
    }

    /// Leaves a communicator that others did not come to.
    fn abort(self) {
        // SAFETY: it was joined in `join`, and nobody else has it; it is not left a second time.
        unsafe { (self.functions.abort)(self.lock().0) };
        std::mem::forget(self);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Communicator> {
        self.communicator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The library's version.
    pub fn version(&self) -> String {
        version_text(self.functions.version)
    }

    /// Sends `given` to the processes before and behind this one, and fills `come` with what these give upwards and downwards; `None` where there is no neighbour. Pieces are of this
    /// process's device. All this comes after what was queued in their streams, or after their marks where all have one ([`Pieces::sent`]), and before everything queued in the streams
    /// from now on; the host does not wait.
    ///
    /// # Errors
    /// If NCCL or the driver refuses, or something queued before has failed.
    pub fn swap(
        &self,
        given: &[Option<Pieces>; 2],
        come: &[Option<Pieces>; 2],
        [before, after]: [usize; 2],
    ) -> Result<(), CudaError> {
        const WHAT: &str = "sending ghost rows to other processes";
        let all: Vec<&Pieces> = given.iter().chain(come).flatten().collect();
        let Some(stream) = Pieces::stream_of(&all)? else {
            return Ok(());
        };
        self.device.bind(WHAT)?;
        let communicator = self.lock();
        // SAFETY: a group is a bracket around sends and receives.
        self.functions.check(WHAT, unsafe { (self.functions.begin)() })?;
        // Two processes on a ring have two messages each way: they are received in the order in which they were sent.
        let [down, up] = given;
        let [below, above] = come;
        let put = (self.put(up.as_ref(), after, (&communicator, &stream), false))
            .and_then(|()| self.put(down.as_ref(), before, (&communicator, &stream), false))
            .and_then(|()| self.put(below.as_ref(), before, (&communicator, &stream), true))
            .and_then(|()| self.put(above.as_ref(), after, (&communicator, &stream), true));
        // SAFETY: as above; the bracket is closed after errors too.
        let closed = self.functions.check(WHAT, unsafe { (self.functions.end)() });
        put.and(closed)?;
        Pieces::follow(&all, &stream)
    }

    /// Puts messages of these pieces into a stream, between this process and `peer`.
    fn put(
        &self,
        pieces: Option<&Pieces>,
        peer: usize,
        (communicator, stream): (&Communicator, &Stream),
        receives: bool,
    ) -> Result<(), CudaError> {
        const WHAT: &str = "sending ghost rows to another process";
        let Some(pieces) = pieces else { return Ok(()) };
        let peer = c_int::try_from(peer).unwrap_or(c_int::MAX);
        let queue = stream.stream()?.cu_stream();
        for piece in pieces.all() {
            // SAFETY: the piece lies in a living buffer (`Pieces::new`) of this communicator's device, and the stream is that device's.
            let code = unsafe {
                if receives {
                    let to = piece.address as *mut c_void;
                    (self.functions.receive)(to, piece.bytes, BYTES, peer, communicator.0, queue)
                } else {
                    let from = piece.address as *const c_void;
                    (self.functions.send)(from, piece.bytes, BYTES, peer, communicator.0, queue)
                }
            };
            self.functions.check(WHAT, code)?;
        }
        Ok(())
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        if self.device.bind("leaving the other processes").is_ok() {
            // SAFETY: it was joined in `join`, and nobody else has it.
            unsafe { (self.functions.leave)(self.lock().0) };
        }
    }
}

impl Device {
    /// Sixteen bytes that no other device in the world has.
    fn identity(&self) -> [u8; 16] {
        let uuid = result::device::get_uuid(self.context.cu_device());
        uuid.map_or([0; 16], |uuid| uuid.bytes.map(c_char::cast_unsigned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(version: c_int, device: u8) -> Offer {
        Offer {
            version,
            devices: 1,
            joined: 0,
            device: [device; 16],
        }
    }

    #[test]
    fn versions_are_written_as_nvidia_does() {
        assert_eq!(version_text(2708), "2.7.8");
        assert_eq!(version_text(22_809), "2.28.9");
    }

    #[test]
    fn processes_agree_whether_they_use_nccl() {
        assert_eq!(refusal(&[offer(22_809, 1), offer(22_809, 2)]), None);
        let without = refusal(&[offer(22_809, 1), offer(0, 0)]).unwrap();
        assert!(without.contains("process 1"), "{without}");
        for (devices, words) in [
            (0, "process 1 steps on no NVIDIA device"),
            (2, "process 1 has parts on several devices"),
        ] {
            let other = Offer { devices, ..offer(0, 0) };
            assert_eq!(refusal(&[offer(22_809, 1), other]).as_deref(), Some(words));
        }
        let others = refusal(&[offer(22_809, 1), offer(22_005, 2)]).unwrap();
        assert!(others.contains("2.28.9 and 2.20.5"), "{others}");
        assert_eq!(
            refusal(&[offer(22_809, 1), offer(22_809, 2), offer(22_809, 1)]).as_deref(),
            Some("processes share a device")
        );
    }
}

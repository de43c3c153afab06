//! Host memory that a device copies from and to by itself.

use super::Device;
use cudarc::driver::sys;
use std::ops::{Deref, DerefMut};

/// Bytes on the host, page-locked where the driver allows it: a device copies them at the full rate of its bus, while elsewhere the driver copies through a buffer of its own.
pub struct LockedBytes {
    bytes: Box<[u8]>,
    /// The device for which they are locked.
    device: Option<&'static Device>,
}

impl LockedBytes {
    /// Zeros. Where the driver does not lock them they serve all the same.
    #[allow(unsafe_code, reason = "the driver takes an address")]
    pub fn new(device: &'static Device, count: usize) -> Self {
        const PORTABLE: u32 = 1;
        let mut bytes = vec![0; count].into_boxed_slice();
        // SAFETY: `count` bytes, which keep their place until `drop` unlocks them.
        let mut locks = || unsafe { sys::cuMemHostRegister_v2(bytes.as_mut_ptr().cast(), count, PORTABLE).result() };
        let locked = count > 0 && device.context.bind_to_thread().and_then(|()| locks()).is_ok();
        debug_assert!(!locked || bytes.len() == count, "{count} bytes are locked");
        Self {
            bytes,
            device: locked.then_some(device),
        }
    }
}

impl Deref for LockedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for LockedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for LockedBytes {
    #[allow(unsafe_code, reason = "the driver takes an address")]
    fn drop(&mut self) {
        if self
            .device
            .is_some_and(|device| device.context.bind_to_thread().is_ok())
        {
            // SAFETY: locked in `new`; every copy from or to them was waited for (`Pieces::read_into`, `Pieces::write`).
            let _ = unsafe { sys::cuMemHostUnregister(self.bytes.as_mut_ptr().cast()) };
        }
    }
}

//! Computes what neighbours need first, and copies it to them while the rest is computed.

use super::{CudaError, Device, Event, Stream};
use std::sync::Arc;

/// A mark after which some buffers may be read and overwritten beside their cuts, though their stream goes on.
#[derive(Clone)]
pub struct Sent {
    pub(super) mark: Arc<Event>,
    /// The stream of these copies.
    pub(super) copies: Stream,
}

/// Two streams beside that of a field: one for what is not sent, and one for copies.
pub struct Early {
    rest: Stream,
    copies: Stream,
    /// What was sent last, and the number of things in the field's stream then.
    sent: Option<(Sent, u64)>,
}

impl Early {
    /// Streams of a device.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn new(device: &'static Device) -> Result<Self, CudaError> {
        Ok(Self {
            rest: Stream::new(device)?,
            // NCCL copies by kernels, which would wait for those of the rest otherwise.
            copies: Stream::urgent(device)?,
            sent: None,
        })
    }

    /// Queues `first`, which computes what is sent, in `stream`, and `rest` beside it, after everything queued before; what is queued in `stream` from now on waits for both. Neither
    /// writes what the other reads or writes; `rest` does not write what is sent, and neither reads nor writes the rows that copies from elsewhere overwrite.
    ///
    /// # Errors
    /// Theirs, and if the driver refuses.
    pub fn split(
        &mut self,
        stream: &Stream,
        first: impl FnOnce(&Stream) -> Result<(), CudaError>,
        rest: impl FnOnce(&Stream) -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        // `first` follows in its stream at once, so that its blocks come before those of `rest`, which waits for a mark.
        let before = stream.mark()?;
        first(stream)?;
        let mark = Arc::new(stream.mark()?);
        self.rest.wait_for(&before)?;
        rest(&self.rest)?;
        stream.wait_for(&self.rest.mark()?)?;
        let copies = self.copies.clone();
        self.sent = Some((Sent { mark, copies }, stream.puts()));
        Ok(())
    }

    /// What was sent, if nothing was queued in `stream` since then.
    pub fn sent(&self, stream: &Stream) -> Option<Sent> {
        let (sent, puts) = self.sent.as_ref()?;
        (*puts == stream.puts()).then(|| sent.clone())
    }
}

//! Pieces of buffers, copied from device to device, and to and from the host.

use super::{CudaError, Device, Sent, Stream, failed};
use cudarc::driver::{result, sys};

/// Contiguous bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Their address on the device.
    pub address: u64,
    /// Number of bytes.
    pub bytes: usize,
}

/// Pieces of living buffers, with the stream in which they are written.
pub struct Pieces {
    stream: Stream,
    all: Vec<Piece>,
    /// The mark after which they may be copied, before the stream has ended.
    sent: Option<Sent>,
}

impl Pieces {
    /// Pieces that are written in `stream`.
    ///
    /// # Safety
    /// Each lies in a buffer of that stream which lives until the next call that waits for the stream.
    #[must_use]
    #[allow(unsafe_code, reason = "the addresses are the caller's")]
    pub unsafe fn new(stream: &Stream, all: Vec<Piece>) -> Self {
        debug_assert!(all.iter().all(|piece| piece.address != 0), "{all:?}");
        Self {
            stream: stream.clone(),
            all,
            sent: None,
        }
    }

    /// The same, which may be read and overwritten as soon as the mark of `sent` is passed, though the stream goes on.
    #[must_use]
    pub fn sent(self, sent: Option<Sent>) -> Self {
        Self { sent, ..self }
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.all.iter().map(|piece| piece.bytes).sum()
    }

    fn bind(&self, what: &str) -> Result<(), CudaError> {
        self.stream.device.bind(what)
    }

    /// Two copies side by side, one each way: `[to, from]` of each, of the same sizes, on any device, where the first goes into the stream that the second comes from. No piece that
    /// is written is read by the other copy. They come after everything queued in either stream before, and before everything queued in either from now on; the host does not wait.
    ///
    /// # Errors
    /// If sizes differ, the driver refuses, or something queued before has failed.
    fn exchange([up, down]: &[[Self; 2]; 2]) -> Result<(), CudaError> {
        let [above, below] = [&up[0], &down[0]].map(|pieces| &pieces.stream);
        above.wait_for(&below.mark()?)?;
        // The copy from above waits for what was queued there, not for the copy to there.
        let ready = above.mark()?;
        up[0].put_copies(&up[1], above)?;
        below.wait_for(&ready)?;
        down[0].put_copies(&down[1], below)?;
        let both = [above.mark()?, below.mark()?];
        above.wait_for(&both[1])?;
        below.wait_for(&both[0])
    }

    /// Such copies between several pairs of neighbours. Where all four of a pair may be copied early, they are copied while their streams go on; what is queued in these from now on
    /// comes after all copies.
    ///
    /// # Errors
    /// If sizes differ, the driver refuses, or something queued before has failed.
    pub fn exchange_all(pairs: &[[[Self; 2]; 2]]) -> Result<(), CudaError> {
        let mut copied = Vec::new();
        let is_early = |pair: &&[[Self; 2]; 2]| pair.iter().flatten().all(|pieces| pieces.sent.is_some());
        for [to, from] in pairs.iter().filter(is_early).flatten() {
            if let (Some(own), Some(theirs)) = (&to.sent, &from.sent) {
                own.copies.wait_for(&own.mark)?;
                own.copies.wait_for(&theirs.mark)?;
                to.put_copies(from, &own.copies)?;
                copied.push((own.copies.mark()?, [to, from]));
            }
        }
        for (mark, both) in &copied {
            both.iter().try_for_each(|pieces| pieces.stream.wait_for(mark))?;
        }
        (pairs.iter().filter(|pair| !is_early(pair))).try_for_each(Self::exchange)
    }

    /// Puts the copies from pieces of the same sizes into a stream of this device; they wait for nothing but that.
    #[allow(unsafe_code, reason = "the driver copies through addresses")]
    fn put_copies(&self, other: &Self, stream: &Stream) -> Result<(), CudaError> {
        const WHAT: &str = "copying ghost rows between devices";
        let sizes = |pieces: &Self| pieces.all.iter().map(|piece| piece.bytes).collect::<Vec<_>>();
        if sizes(self) != sizes(other) {
            return Err(CudaError::Call {
                what: WHAT.to_owned(),
                message: format!("{} bytes stand against {}", other.bytes(), self.bytes()),
            });
        }
        self.bind(WHAT)?;
        let [to, from] = [self, other].map(|pieces| pieces.stream.device.context.cu_ctx());
        let stream = stream.stream()?.cu_stream();
        for (own, theirs) in self.all.iter().zip(&other.all) {
            // SAFETY: both pieces lie in living buffers (`Pieces::new`) of these contexts, and have the same size.
            unsafe { sys::cuMemcpyPeerAsync(own.address, to, theirs.address, from, own.bytes, stream) }
                .result()
                .map_err(|error| failed(WHAT, &error))?;
        }
        Ok(())
    }

    /// The device that holds them.
    pub fn device(&self) -> &'static Device {
        self.stream.device
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Piece] {
        &self.all
    }

    /// Where copies of pieces of one device are queued: after what was queued in their streams before, or in the stream of copies after their marks where all have one. `None` without
    /// pieces.
    pub(super) fn stream_of(all: &[&Self]) -> Result<Option<Stream>, CudaError> {
        let Some(first) = all.first() else { return Ok(None) };
        if let Some(early) = &first.sent
            && all.iter().all(|pieces| pieces.sent.is_some())
        {
            let marks = all.iter().filter_map(|pieces| pieces.sent.as_ref());
            marks
                .map(|sent| &sent.mark)
                .try_for_each(|mark| early.copies.wait_for(mark))?;
            return Ok(Some(early.copies.clone()));
        }
        let stream = first.stream.clone();
        for pieces in all.iter().filter(|pieces| !pieces.stream.is(&stream)) {
            stream.wait_for(&pieces.stream.mark()?)?;
        }
        Ok(Some(stream))
    }

    /// Lets what is queued from now on in their streams come after what is queued in `stream`.
    pub(super) fn follow(all: &[&Self], stream: &Stream) -> Result<(), CudaError> {
        let others = all.iter().filter(|pieces| !pieces.stream.is(stream));
        let mark = stream.mark()?;
        others
            .map(|pieces| &pieces.stream)
            .try_for_each(|other| other.wait_for(&mark))
    }

    /// Appends their bytes, one piece after the other, after everything queued in the stream before.
    ///
    /// # Errors
    /// If the copy or anything before it failed.
    pub fn read(&self, out: &mut Vec<u8>) -> Result<(), CudaError> {
        let start = out.len();
        out.resize(start + self.bytes(), 0);
        self.read_into(&mut out[start..])
    }

    /// The same into as many bytes as they have, after their mark where they have one.
    ///
    /// # Errors
    /// If there is not as much room, or the copy or anything before it failed.
    #[allow(unsafe_code, reason = "the driver copies through addresses")]
    pub fn read_into(&self, out: &mut [u8]) -> Result<(), CudaError> {
        const WHAT: &str = "copying rows from the device";
        self.expect(WHAT, out.len())?;
        self.bind(WHAT)?;
        let Some(stream) = Self::stream_of(&[self])? else {
            return Ok(());
        };
        let queue = stream.stream()?.cu_stream();
        let mut rest = out;
        let put = self.all.iter().try_for_each(|piece| {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(piece.bytes);
            rest = others;
            // SAFETY: the piece lies in a living buffer (`Pieces::new`), and `own`, as long as it, lives until `finish` has waited.
            unsafe { result::memcpy_dtoh_async(own, piece.address, queue) }.map_err(|error| failed(WHAT, &error))
        });
        // What was put in is waited for, also where something after it was refused.
        stream.finish().and(put)
    }

    /// Replaces their bytes, which stand one piece after the other in `bytes`, after everything queued in the stream before, or after their mark where they have one.
    ///
    /// # Errors
    /// If there are not as many, or the copy failed.
    #[allow(unsafe_code, reason = "the driver copies through addresses")]
    pub fn write(&self, bytes: &[u8]) -> Result<(), CudaError> {
        const WHAT: &str = "copying rows to the device";
        self.expect(WHAT, bytes.len())?;
        self.bind(WHAT)?;
        let Some(stream) = Self::stream_of(&[self])? else {
            return Ok(());
        };
        let queue = stream.stream()?.cu_stream();
        let mut rest = bytes;
        let put = self.all.iter().try_for_each(|piece| {
            let (own, others) = rest.split_at(piece.bytes);
            rest = others;
            // SAFETY: the piece lies in a living buffer (`Pieces::new`), and `own`, as long as it, lives until `finish` has waited.
            unsafe { result::memcpy_htod_async(piece.address, own, queue) }.map_err(|error| failed(WHAT, &error))
        });
        // As in `read_into`.
        stream.finish().and(put)?;
        Self::follow(&[self], &stream)
    }

    /// Refuses another number of bytes than theirs.
    fn expect(&self, what: &str, bytes: usize) -> Result<(), CudaError> {
        if bytes == self.bytes() {
            return Ok(());
        }
        Err(CudaError::Call {
            what: what.to_owned(),
            message: format!("{bytes} bytes stand against {}", self.bytes()),
        })
    }
}

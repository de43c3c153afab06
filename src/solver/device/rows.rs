//! Copies of planes between host and device: rows of `pitch` numbers on the device.

use crate::backend::cuda::{Buffer, CudaError, Kind, Stream};
use crate::field::filled;
use rayon::prelude::*;

/// Numbers that are copied at once.
const PIECE: usize = 16 << 20;

/// Copies rows that `row` writes (`nx` values each) to the places of the buffer from number `at` on.
pub(in crate::solver) fn push_rows<V: Kind + Default>(
    stream: &Stream,
    what: &str,
    [nx, rows, pitch]: [usize; 3],
    to: &Buffer<V>,
    at: usize,
    row: impl Fn(usize, &mut [V]) + Sync,
) -> Result<(), CudaError> {
    let piece = (PIECE / pitch).clamp(1, rows);
    let mut staged = vec![V::default(); piece * pitch];
    for first in (0..rows).step_by(piece) {
        let count = piece.min(rows - first);
        staged[..count * pitch]
            .par_chunks_mut(pitch)
            .enumerate()
            .for_each(|(n, out)| row(first + n, &mut out[..nx]));
        stream.upload_at(what, &staged[..count * pitch], to, at + first * pitch)?;
    }
    Ok(())
}

/// Copies rows into `to`, `stride` numbers each; `row` takes the `pitch` numbers that lie on the device for it.
pub(in crate::solver) fn pull_rows<V: Kind + Default>(
    stream: &Stream,
    what: &str,
    [pitch, stride]: [usize; 2],
    from: &Buffer<V>,
    to: &mut [V],
    row: impl Fn(&[V], &mut [V]) + Sync,
) -> Result<(), CudaError> {
    let rows = to.len() / stride;
    let piece = (PIECE / pitch).clamp(1, rows.max(1));
    let mut staged = vec![V::default(); piece * pitch];
    for first in (0..rows).step_by(piece) {
        let count = piece.min(rows - first);
        stream.download_at(what, from, first * pitch, &mut staged[..count * pitch])?;
        to[first * stride..(first + count) * stride]
            .par_chunks_exact_mut(stride)
            .zip(staged.par_chunks(pitch))
            .for_each(|(to, from)| row(from, to));
    }
    Ok(())
}

/// Rows of `nx` numbers each, without what fills them up to the pitch.
pub(in crate::solver) fn unpadded<V: Kind + Default>(
    stream: &Stream,
    what: &str,
    [nx, rows, pitch]: [usize; 3],
    from: &Buffer<V>,
) -> Result<Vec<V>, CudaError> {
    let mut all = filled(nx * rows, V::default());
    pull_rows(stream, what, [pitch, nx], from, &mut all, |from, to| {
        to.copy_from_slice(&from[..nx]);
    })?;
    Ok(all)
}

/// Copies rows as [`push_rows`] into an array that is on the device only while it is needed; without `row` it is freed.
pub(in crate::solver) fn keep_rows<V: Kind + Default>(
    stream: &Stream,
    what: &str,
    shape: [usize; 3],
    kept: &mut Option<Buffer<V>>,
    row: Option<impl Fn(usize, &mut [V]) + Sync>,
) -> Result<(), CudaError> {
    let Some(row) = row else {
        *kept = None;
        return Ok(());
    };
    let [_, rows, pitch] = shape;
    let buffer = match kept.take() {
        Some(buffer) => buffer,
        None => stream.zeros(what, pitch * rows)?,
    };
    push_rows(stream, what, shape, kept.insert(buffer), 0, row)
}

/// Makes a buffer larger if necessary.
pub(in crate::solver) fn grow<V: Kind>(
    stream: &Stream,
    what: &str,
    buffer: &mut Buffer<V>,
    count: usize,
) -> Result<(), CudaError> {
    if buffer.bytes() < count * size_of::<V>() {
        *buffer = stream.zeros(what, count.next_power_of_two())?;
    }
    Ok(())
}

/// A buffer with these values; one number where there is none.
pub(in crate::solver) fn list<V: Kind>(stream: &Stream, what: &str, values: &[V]) -> Result<Buffer<V>, CudaError> {
    let buffer = stream.zeros(what, values.len().max(1))?;
    stream.upload(what, values, &buffer)?;
    Ok(buffer)
}

/// The address of an optional buffer; 0 without one.
pub(in crate::solver) fn address<V: Kind>(buffer: Option<&Buffer<V>>) -> u64 {
    buffer.map_or(0, Buffer::address)
}

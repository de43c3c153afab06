//! What pictures of all kinds of fields on the device have in common (`kernels/reduce.cuh`).

use super::{unsigned, whole};
use crate::backend::cuda::{Buffer, CudaError, Stream};
use crate::scene::scenario::Quantity;

/// The address of a buffer for so many texels, which grows if necessary; 0 for none.
pub(in crate::solver) fn room(
    stream: &Stream,
    what: &str,
    buffer: &mut Option<Buffer<f32>>,
    texels: usize,
) -> Result<u64, CudaError> {
    if texels == 0 {
        return Ok(0);
    }
    let fits = |buffer: &Buffer<f32>| buffer.bytes() >= texels * size_of::<f32>();
    let found = match buffer.take().filter(fits) {
        Some(found) => found,
        None => stream.zeros(what, texels)?,
    };
    Ok(buffer.insert(found).address())
}

/// Lanes of a texel, which share its `loads`, and blocks of 256 threads for all `texels`.
pub(in crate::solver) fn lanes(texels: usize, loads: usize) -> (i32, u32) {
    let group = loads.next_power_of_two().min(32);
    let blocks = unsigned((texels * group).div_ceil(256));
    (whole(group), blocks)
}

/// The number of a quantity of ψ in kernels.
pub(in crate::solver) fn quantum(quantity: Quantity) -> i32 {
    match quantity {
        Quantity::Phase => 1,
        Quantity::Real => 2,
        Quantity::Imaginary => 3,
        _ => 0,
    }
}

//! The medium for tiles with anything in them, in one array: with what else their kernel reads and writes, adapters grant no more.

use crate::backend::wgpu::{Buffer, Stream, WgpuError};
use crate::solver::adapter::whole;

/// The medium in one array: speeds, densities, absorption and marks one after the other, as far as it has them.
pub(super) struct Planes {
    words: Buffer,
    /// Where densities, absorption and marks begin.
    pub begins: [i32; 3],
}

impl Planes {
    /// The array of these; `alone` are the same each in an array of its own. `None` where the adapter has no room for it.
    pub(super) fn new(
        stream: &Stream,
        numbers: [&[f32]; 3],
        marks: &[u32],
        alone: &[Buffer; 4],
    ) -> Result<Option<Self>, WgpuError> {
        let [squares, density, damping] = numbers.map(<[f32]>::len);
        let begins = [squares, squares + density, squares + density + damping];
        let total = begins[2] + marks.len();
        let places = [squares, density, marks.len(), damping];
        let words = if let Some(place) = places.iter().position(|count| *count == total) {
            alone[place].clone()
        } else {
            let bits = numbers.concat().into_iter().map(f32::to_bits);
            let all: Vec<u32> = bits.chain(marks.iter().copied()).collect();
            match stream.list("the medium of tiles", &all) {
                Ok(words) => words,
                Err(WgpuError::TooLarge { .. } | WgpuError::OutOfMemory { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        };
        Ok(Some(Self {
            words,
            begins: begins.map(whole),
        }))
    }

    /// The array.
    pub(super) fn words(&self) -> &Buffer {
        &self.words
    }
}

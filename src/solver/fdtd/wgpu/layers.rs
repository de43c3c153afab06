//! Absorbing layers on the adapter: factors and memory variables of all axes in one array, a copy for each pair of levels, since tiles read one pair and write the other.

use super::super::run::Fdtd;
use crate::backend::wgpu::{Buffer, Stream, WgpuError};
use crate::solver::adapter::whole;

/// Where the memories of an axis' layers lie in the array.
struct Memories {
    psi: usize,
    zeta: usize,
}

/// The array of all layers.
pub(super) struct Layers {
    /// Of each axis: slots of an end, where in the array it begins, sites of an end that absorb.
    pub ends: [i32; 3],
    pub bases: [i32; 3],
    pub widths: [i32; 3],
    array: Buffer,
    memories: Vec<Memories>,
    /// Numbers of a pair of levels.
    numbers: usize,
}

impl Layers {
    /// Those of `host`, for so many pairs of levels.
    pub(super) fn new(stream: &Stream, host: &Fdtd<f32>, pairs: usize) -> Result<Self, WgpuError> {
        let [mut ends, mut bases, mut widths] = [[0; 3]; 3];
        let (mut all, mut memories) = (Vec::new(), Vec::new());
        for layer in &host.layers {
            let axis = layer.shape.axis;
            (ends[axis], bases[axis]) = (whole(layer.shape.slots() / 2), whole(all.len()));
            widths[axis] = whole(layer.shape.width());
            all.extend(layer.shape.factors().concat());
            let psi = all.len();
            all.extend_from_slice(&layer.psi);
            let zeta = all.len();
            all.extend_from_slice(&layer.zeta);
            memories.push(Memories { psi, zeta });
        }
        Ok(Self {
            ends,
            bases,
            widths,
            numbers: all.len(),
            array: stream.list("the absorbing layers", &all.repeat(pairs))?,
            memories,
        })
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.memories.is_empty()
    }

    /// The array.
    pub(super) fn array(&self) -> &Buffer {
        &self.array
    }

    /// Where in it the copy of a pair of levels begins.
    pub(super) fn of_pair(&self, pair: usize) -> usize {
        pair * self.numbers
    }

    /// Copies the memory variables that belong to a pair of levels to the host.
    pub(super) fn pull(&self, stream: &Stream, pair: usize, host: &mut Fdtd<f32>) -> Result<(), WgpuError> {
        let (what, from) = ("the absorbing layers", self.of_pair(pair));
        for (layer, at) in host.layers.iter_mut().zip(&self.memories) {
            stream.download(what, &self.array, from + at.psi, &mut layer.psi)?;
            stream.download(what, &self.array, from + at.zeta, &mut layer.zeta)?;
        }
        Ok(())
    }
}

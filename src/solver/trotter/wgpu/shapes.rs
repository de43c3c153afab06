//! What launches of whole steps in a plane share.

use crate::backend::wgpu::Binding::{Read, Uniform, Write};
use crate::backend::wgpu::{Binding, Kernel};

/// Constants, the field, where it is written, phases, walls, bond phases.
pub(super) const BINDINGS: [Binding; 6] = [Uniform, Read, Write, Read, Read, Read];
/// Sites on every side that a step takes from what can be written.
pub(super) const HALO: usize = 2;
/// A kernel that takes so many steps of every kind of sub-step in one launch.
pub(super) struct Shape {
    pub kernel: Kernel,
    pub steps: usize,
    pub blocks: [usize; 3],
    /// Pairs of rows of a block of strips.
    pub chunk: usize,
}

//! The part of a field that a picture shows, for kernels.

use super::unsigned;
use crate::solver::{FieldImage, ImageRequest};
use bytemuck::{Pod, Zeroable};

/// `Frame` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(in crate::solver) struct Frame {
    size: [u32; 2],
    x: [u32; 2],
    y: [u32; 2],
    z: u32,
    reduction: u32,
    texels: [u32; 2],
    /// Whether a texel has the largest value of its sites, not their mean; densities have means only.
    largest: u32,
    rest: u32,
}

impl Frame {
    /// For an image that was prepared for the request, of a field with rows of nx sites and planes of ny rows.
    pub(in crate::solver) fn new(
        [nx, ny]: [usize; 2],
        request: &ImageRequest,
        image: &FieldImage,
        largest: bool,
    ) -> Self {
        Self {
            size: [nx, ny].map(unsigned),
            x: [request.x.start, request.x.end].map(unsigned),
            y: [request.y.start, request.y.end].map(unsigned),
            z: unsigned(request.z),
            reduction: unsigned(image.reduction),
            texels: image.size.map(unsigned),
            largest: u32::from(largest),
            rest: 0,
        }
    }
}

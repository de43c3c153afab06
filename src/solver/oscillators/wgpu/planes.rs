//! Planes of the adapter, x fastest, and arrays of the processor, whose rows have even columns before odd ones.

use super::super::layout::Layout;

/// Sites of a grid.
pub(super) fn sites(layout: &Layout) -> usize {
    layout.size.iter().product()
}

/// An array of the processor, reordered with x fastest.
pub(super) fn unsplit(layout: &Layout, from: impl Fn(usize) -> f32) -> Vec<f32> {
    let [nx, ny] = layout.size;
    let places = (0..ny).flat_map(|j| (0..nx).map(move |i| layout.index(i, j)));
    places.map(from).collect()
}

/// The inverse.
pub(super) fn split(layout: &Layout, from: &[f32], to: &mut [f32]) {
    for (j, row) in from.chunks_exact(layout.size[0]).enumerate() {
        for (i, value) in row.iter().enumerate() {
            to[layout.index(i, j)] = *value;
        }
    }
}

//! Fields as NPY: complex64, complex128, float32 or float64, C order, shape (nx,), (ny, nx) or (nz, ny, nx).

use super::ExportError;
use crate::field::FieldData;
use crate::grid::Grid;
use ndarray::{ArrayView, IxDyn};
use ndarray_npy::{WritableElement, WriteNpyError, WriteNpyExt};
use num_complex::Complex64;
use std::path::Path;

/// Writes a field of `grid`, complete or not at all.
///
/// # Errors
/// If the number of sites of the field differs from the grid, or the file cannot be written.
pub fn save(path: &Path, grid: &Grid, field: &FieldData) -> Result<(), ExportError> {
    match field {
        FieldData::Complex64(values) => write(path, grid, values),
        FieldData::Complex128(values) => write(path, grid, values),
        FieldData::Float32(values) => write(path, grid, values),
        FieldData::Float64(values) => write(path, grid, values),
    }
}

/// Writes states of `grid` as one array, shape (states, …), complex128, each with Σ|φ|²aᵈ = 1 where Σ|φ|² = 1 is given.
///
/// # Errors
/// As [`save`].
pub fn save_states<'a>(
    path: &Path,
    grid: &Grid,
    states: impl Iterator<Item = &'a [Complex64]>,
) -> Result<(), ExportError> {
    let scale = 1.0 / grid.cell_volume().sqrt();
    let (mut values, mut count) = (Vec::new(), 0);
    for state in states {
        values.extend(state.iter().map(|value| value * scale));
        count += 1;
    }
    let mut shape = vec![count];
    shape.extend(grid.shape());
    write_shaped(path, &shape, &values)
}

/// Writes a table of numbers, rows of `size[0]`, as an array of shape (rows, columns).
///
/// # Errors
/// As [`save`].
pub fn save_plane(path: &Path, size: [usize; 2], values: &[f64]) -> Result<(), ExportError> {
    write_shaped(path, &[size[1], size[0]], values)
}

fn write<T: WritableElement>(path: &Path, grid: &Grid, values: &[T]) -> Result<(), ExportError> {
    write_shaped(path, &grid.shape(), values)
}

fn write_shaped<T: WritableElement>(path: &Path, shape: &[usize], values: &[T]) -> Result<(), ExportError> {
    let encoder = |message: String| ExportError::Encoder { format: "NPY", message };
    let array = ArrayView::from_shape(IxDyn(shape), values).map_err(|_| {
        encoder(format!(
            "a field of {} sites does not fit an array of shape {shape:?}",
            values.len()
        ))
    })?;
    let mut file = super::begin(path)?;
    array.write_npy(&mut file).map_err(|error| match error {
        WriteNpyError::Io(source) => ExportError::io(path)(source),
        other => encoder(other.to_string()),
    })?;
    super::complete(file)
}

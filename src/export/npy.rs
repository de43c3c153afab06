//! Fields as NPY: complex64, complex128, float32 or float64, C order, shape (nx,), (ny, nx) or (nz, ny, nx).

use super::ExportError;
use crate::field::FieldData;
use crate::grid::Grid;
use ndarray::{ArrayView, IxDyn};
use ndarray_npy::{WritableElement, WriteNpyError, WriteNpyExt};
use std::path::Path;

/// Writes a field of `grid`, complete or not at all.
///
/// # Errors
/// If the field has another number of sites than the grid, or the file cannot be written.
pub fn save(path: &Path, grid: &Grid, field: &FieldData) -> Result<(), ExportError> {
    match field {
        FieldData::Complex64(values) => write(path, grid, values),
        FieldData::Complex128(values) => write(path, grid, values),
        FieldData::Float32(values) => write(path, grid, values),
        FieldData::Float64(values) => write(path, grid, values),
    }
}

fn write<T: WritableElement>(path: &Path, grid: &Grid, values: &[T]) -> Result<(), ExportError> {
    let encoder = |message: String| ExportError::Encoder { format: "NPY", message };
    let array = ArrayView::from_shape(IxDyn(&grid.shape()), values).map_err(|_| {
        encoder(format!(
            "a field of {} sites does not fit a grid of {grid}",
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

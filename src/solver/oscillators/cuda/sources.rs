//! The kernels in the binary, made by `kernels/build` from `kernels/oscillators_sweeps.cu`, `oscillators_fused.cu`, `oscillators_line.cu` and `oscillators.cuh`, with
//! `real.cuh`, `sites.cuh` and `sums.cuh`.

use crate::backend::cuda::{Source, source};
use crate::field::Precision;

/// What bonds and sites of a run have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    /// The same everywhere.
    Uniform,
    /// The same everywhere, and momenta are damped.
    Damped,
    /// Coefficients of their own, and perhaps damping.
    Sites,
}

/// Several sub-steps of two dimensions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub source: Source,
    /// Sub-steps of a launch.
    pub steps: usize,
}

/// Columns of a lane of `fused_steps`.
pub(super) const COLUMNS: usize = 4;

impl Shape {
    /// Columns of a strip that its neighbours compute as well, on either side.
    pub(super) fn halo(self) -> usize {
        (2 * self.steps).next_multiple_of(COLUMNS)
    }

    /// Columns that a strip writes.
    pub(super) fn core(self) -> usize {
        32 * COLUMNS - 2 * self.halo()
    }
}

/// Sub-steps that a launch of `line_steps` takes at most, and sites that a warp writes.
pub(super) fn line_shape(precision: Precision) -> (usize, usize) {
    let columns = 64 / precision.bytes();
    (columns, 28 * columns)
}

/// Sweeps, operations on sites, sums, pictures.
pub(super) fn sweeps(precision: Precision) -> Source {
    match precision {
        Precision::Single => source!("oscillators_sweeps_f32"),
        Precision::Double => source!("oscillators_sweeps_f64"),
    }
}

/// One dimension.
pub(super) fn line(precision: Precision, medium: Medium) -> Source {
    match (precision, medium) {
        (Precision::Single, Medium::Uniform) => source!("oscillators_line_f32"),
        (Precision::Single, Medium::Damped) => source!("oscillators_line_f32_damped"),
        (Precision::Single, Medium::Sites) => source!("oscillators_line_f32_medium"),
        (Precision::Double, Medium::Uniform) => source!("oscillators_line_f64"),
        (Precision::Double, Medium::Damped) => source!("oscillators_line_f64_damped"),
        (Precision::Double, Medium::Sites) => source!("oscillators_line_f64_medium"),
    }
}

const fn shape(source: Source, steps: usize) -> Shape {
    Shape { source, steps }
}

static SINGLE: [Shape; 3] = [
    shape(source!("oscillators_fused_f32_4"), 4),
    shape(source!("oscillators_fused_f32_2"), 2),
    shape(source!("oscillators_fused_f32_1"), 1),
];
static SINGLE_DAMPED: [Shape; 3] = [
    shape(source!("oscillators_fused_f32_4_damped"), 4),
    shape(source!("oscillators_fused_f32_2_damped"), 2),
    shape(source!("oscillators_fused_f32_1_damped"), 1),
];
static SINGLE_MEDIUM: [Shape; 3] = [
    shape(source!("oscillators_fused_f32_4_medium"), 4),
    shape(source!("oscillators_fused_f32_2_medium"), 2),
    shape(source!("oscillators_fused_f32_1_medium"), 1),
];
static DOUBLE: [Shape; 2] = [
    shape(source!("oscillators_fused_f64_2"), 2),
    shape(source!("oscillators_fused_f64_1"), 1),
];
static DOUBLE_DAMPED: [Shape; 2] = [
    shape(source!("oscillators_fused_f64_2_damped"), 2),
    shape(source!("oscillators_fused_f64_1_damped"), 1),
];
static DOUBLE_MEDIUM: [Shape; 2] = [
    shape(source!("oscillators_fused_f64_2_medium"), 2),
    shape(source!("oscillators_fused_f64_1_medium"), 1),
];

/// Two dimensions, most sub-steps first.
pub(super) fn fused(precision: Precision, medium: Medium) -> &'static [Shape] {
    match (precision, medium) {
        (Precision::Single, Medium::Uniform) => &SINGLE,
        (Precision::Single, Medium::Damped) => &SINGLE_DAMPED,
        (Precision::Single, Medium::Sites) => &SINGLE_MEDIUM,
        (Precision::Double, Medium::Uniform) => &DOUBLE,
        (Precision::Double, Medium::Damped) => &DOUBLE_DAMPED,
        (Precision::Double, Medium::Sites) => &DOUBLE_MEDIUM,
    }
}

//! The kernels of lines and planes, and the largest line of each.

use crate::backend::cuda::Source;
use crate::field::Precision;
use crate::solver::SolverError;

/// The kernels for one number of rows a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) source: Source,
    /// Rows of a thread.
    pub(super) rows: usize,
    /// Most threads of a block.
    pub(super) threads: usize,
    /// Sites of the longest line.
    pub(super) reach: usize,
}

/// Few rows are the fastest; more reach further.
pub(super) const SINGLE: [Shape; 2] = [of_rows("crank_nicolson_f32_8", 8), of_rows("crank_nicolson_f32_16", 16)];
pub(super) const DOUBLE: [Shape; 1] = [of_rows("crank_nicolson_f64_8", 8)];
/// The same for the lines of a plane, along x and along y. Threads of small blocks may have more registers; where those do not bind, many threads hide more.
pub(super) const PLANE_SINGLE: [[Shape; 2]; 2] = [
    [
        in_block("crank_nicolson_plane_f32_8_1024", 8, 1024),
        in_block("crank_nicolson_plane_f32_16_1024", 16, 1024),
    ],
    [
        in_block("crank_nicolson_plane_f32_16_512", 16, 512),
        in_block("crank_nicolson_plane_f32_16_1024", 16, 1024),
    ],
];
pub(super) const PLANE_DOUBLE: [[Shape; 2]; 2] = [[
    in_block("crank_nicolson_plane_f64_8_512", 8, 512),
    in_block("crank_nicolson_plane_f64_8_1024", 8, 1024),
]; 2];

pub(super) const fn of_rows(name: &'static str, rows: usize) -> Shape {
    Shape {
        source: Source::embedded(name),
        rows,
        threads: THREADS,
        reach: PARTS * PART_THREADS * FEW * THREADS * rows,
    }
}

/// A line is within one block.
pub(super) const fn in_block(name: &'static str, rows: usize, threads: usize) -> Shape {
    Shape {
        source: Source::embedded(name),
        rows,
        threads,
        reach: threads * rows,
    }
}

/// Threads of a block.
pub(super) const THREADS: usize = 256;
/// As in the kernels: most joints of blocks that a thread has, most threads that share them, and parts that many joints are divided into, with most threads of one.
pub(super) const FEW: usize = 2;
pub(super) const SOLVERS: usize = 512;
pub(super) const PARTS: usize = 32;
pub(super) const PART_THREADS: usize = 128;

/// The first shape that reaches over lines of so many sites; those along the slowest axis can be cut.
pub(super) fn shape(all: &[Shape], sites: usize, precision: Precision, slowest: bool) -> Result<Shape, SolverError> {
    (all.iter().find(|shape| sites <= shape.reach).copied()).ok_or_else(|| {
        let most = all.iter().map(|shape| shape.reach).max().unwrap_or(1);
        let parts = sites.div_ceil(most).max(2);
        let cut = if slowest && parts <= 16 {
            format!(", or devices = {:?} to cut it into {parts} parts", vec![0; parts])
        } else {
            String::new()
        };
        SolverError::Unsupported(format!(
            "crank-nicolson takes lines of at most {most} sites in {} precision on a device, and a line has {sites}; take backend = \"cpu\"{cut}",
            precision.as_str()
        ))
    })
}

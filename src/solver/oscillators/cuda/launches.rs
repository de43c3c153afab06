//! Launches of sub-steps: the kernels of a scene, and the strips of each.

use super::params;
use super::sources::{self, COLUMNS, Shape};
use crate::backend::cuda::{CudaError, Kernel, Stream};
use crate::grid::Grid;
use crate::solver::setup::Choice;

/// Bytes of the pressure in a plane with coefficients of its own for each bond up to which a kernel a sweep is faster: 4.9 G and 23 G at 256² and 1024², against 2.1 G and 18 G of one sub-step a launch, which has 26 G
/// at 4096² (H200, single; in double precision 9.1 against 6.0 at 512², 9.8 against 11.3 at 1024²).
const MOST_SWEPT: usize = 1 << 22;

/// The launches of sub-steps.
pub(super) enum Launches {
    /// A kernel a sweep.
    Naive,
    /// Up to `most` sub-steps of a line a launch, `core` sites a warp.
    Line { kernel: Kernel, most: usize, core: usize },
    /// Two dimensions, most sub-steps first.
    Fused(Vec<Fused>),
}

/// A shape, loaded.
pub(super) struct Fused {
    pub shape: Shape,
    pub kernel: Kernel,
    /// For strips whose ends stand inside a lane; none where `kernel` does those as well.
    pub edge: Option<Kernel>,
    /// The same with sums over regions.
    pub summing: Kernel,
    pub summing_edge: Option<Kernel>,
    /// For pieces with sites that have operations between steps.
    pub visiting: Kernel,
    /// Blocks of two warps that the device holds at once.
    pub capacity: u32,
}

/// Strips of one launch: `first` + n, from n = `skip_from` on `skip_by` further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strips {
    pub count: usize,
    pub first: usize,
    pub skip_from: usize,
    pub skip_by: usize,
}

impl Strips {
    pub fn from(first: usize, count: usize) -> Self {
        Self {
            count,
            first,
            skip_from: usize::MAX,
            skip_by: 0,
        }
    }

    /// All strips of a grid: those whose lanes hold whole columns or none, and the others.
    pub fn of(shape: Shape, nx: usize, ring: bool) -> (Self, Self) {
        let (core, halo, width) = (shape.core(), shape.halo(), 32 * COLUMNS);
        let all = nx.div_ceil(core);
        if nx.is_multiple_of(COLUMNS) {
            return (Self::from(0, all), Self::from(all, 0));
        }
        // Strip n covers columns n·core − halo on; what lies below 0 is nothing, or around a ring columns that no lane has in one piece.
        let first = usize::from(ring);
        let end = if nx + halo < width {
            0
        } else {
            ((nx + halo - width) / core + 1).min(all)
        };
        if end <= first {
            return (Self::from(0, 0), Self::from(0, all));
        }
        let others = Self {
            count: first + all - end,
            first: 0,
            skip_from: first,
            skip_by: end - first,
        };
        (Self::from(first, end - first), others)
    }
}

/// The work of a launch of a plane between the steps that end in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Between {
    /// Sums over regions.
    pub cells: Option<params::Cells>,
    /// Operations on single sites.
    pub visits: Option<params::Visits>,
}

impl Launches {
    /// The launches for a scene.
    pub(super) fn new(
        stream: &Stream,
        grid: &Grid,
        choice: &Choice,
        medium: sources::Medium,
    ) -> Result<Self, CudaError> {
        let precision = choice.precision;
        let each = medium == sources::Medium::Sites && grid.rank() == 2;
        if choice.is("naive") || choice.variant.is_none() && each && grid.sites() * precision.bytes() <= MOST_SWEPT {
            return Ok(Self::Naive);
        }
        // Sub-steps of so many whole steps.
        let substeps = if choice.order == 4 { 5 } else { 1 };
        // As measured on an H200: where every sub-step reads the coefficients of its bonds, two take 1.5 times as long a step as one, and four 2.4 times.
        let best = match (grid.rank(), medium) {
            (2, sources::Medium::Sites) => 1,
            _ => usize::MAX,
        };
        let asked = choice.fused_steps.map_or(best, |n| n * substeps);
        if grid.rank() == 1 {
            let (most, core) = sources::line_shape(precision);
            return Ok(Self::Line {
                kernel: stream.kernel(sources::line(precision, medium), "line_steps", 0)?,
                most: most.min(asked).max(1),
                core,
            });
        }
        let shapes = sources::fused(precision, medium).into_iter();
        let load = |shape: Shape| -> Result<Fused, CudaError> {
            let kernel = stream.kernel(shape.source, "fused_steps", 0)?;
            let capacity = stream.occupancy(&kernel, 64)? * stream.device().multiprocessors;
            let edge = |entry| match medium {
                sources::Medium::Sites => Ok(None),
                _ => stream.kernel(shape.source, entry, 0).map(Some),
            };
            Ok(Fused {
                shape,
                edge: edge("edge_steps")?,
                summing: stream.kernel(shape.source, "summing_steps", 0)?,
                summing_edge: edge("summing_edges")?,
                visiting: stream.kernel(shape.source, "visiting_steps", 0)?,
                capacity: capacity.max(1),
                kernel,
            })
        };
        let wanted = shapes.filter(|shape| shape.steps <= asked);
        Ok(Self::Fused(wanted.map(load).collect::<Result<_, _>>()?))
    }

    /// Shapes of a plane.
    pub(super) fn shapes(&self) -> impl Iterator<Item = Shape> {
        let all = if let Self::Fused(all) = self { &all[..] } else { &[] };
        all.iter().map(|fused| fused.shape)
    }

    pub(super) fn is_naive(&self) -> bool {
        matches!(self, Self::Naive)
    }

    pub(super) fn variant(&self) -> &'static str {
        if self.is_naive() { "naive" } else { "fused" }
    }

    /// Sub-steps of a launch at most.
    pub(super) fn most(&self) -> usize {
        match self {
            Self::Naive => 1,
            Self::Line { most, .. } => *most,
            Self::Fused(all) => all.first().map_or(1, |fused| fused.shape.steps),
        }
    }

    /// Description for the report.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Naive => "one kernel a sweep".to_owned(),
            _ => format!("up to {} equal sub-steps a launch", self.most()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Precision;

    #[test]
    fn every_strip_is_stepped_once_and_by_a_kernel_that_can() {
        for precision in [Precision::Single, Precision::Double] {
            for shape in sources::fused(precision, sources::Medium::Uniform) {
                for nx in 1..900 {
                    for ring in [false, true] {
                        let (core, halo) = (shape.core(), shape.halo());
                        let (plain, edges) = Strips::of(shape, nx, ring);
                        let mut seen = vec![0; nx.div_ceil(core)];
                        for (strips, is_plain) in [(plain, true), (edges, false)] {
                            for n in 0..strips.count {
                                let skip = if n >= strips.skip_from { strips.skip_by } else { 0 };
                                let strip = strips.first + n + skip;
                                seen[strip] += 1;
                                let fits = strip * core + 32 * COLUMNS <= nx + halo && (strip > 0 || !ring);
                                assert!(!is_plain || fits || nx.is_multiple_of(COLUMNS), "{nx} {ring} {strip}");
                            }
                        }
                        assert!(seen.iter().all(|times| *times == 1), "{nx} {ring}: {seen:?}");
                    }
                }
            }
        }
    }
}

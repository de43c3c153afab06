//! Parameters of the kernels, as `kernels/fdtd.cuh` and `kernels/fdtd_step.cu` declare them. Addresses are of the device; 0 = null.

use super::super::lattice::Lattice;
use crate::backend::cuda::parameters;
use crate::grid::Edge;
pub(super) use crate::solver::device::events::Sites;
pub(super) use crate::solver::device::readback::Frame;
pub(super) use crate::solver::device::{unsigned, whole};

parameters! {
    pub(super) struct Grid {
        pub size: [i32; 3],
        pub pitch: i32,
        pub rank: i32,
        pub edge: [i32; 3],
    }

    pub(super) struct Layer {
        pub factors: u64,
        pub lower: u64,
        pub upper: u64,
        pub zeta: u64,
        pub end: i32,
    }

    pub(super) struct Medium<T> {
        pub squares: u64,
        pub density: u64,
        pub damping: u64,
        pub mask: u64,
        pub skip: u64,
        pub uniform_density: f64,
        pub square: T,
        pub layers: i32,
        pub layer: [Layer; 3],
    }

    pub(super) struct Step<T> {
        pub now: u64,
        pub old: u64,
        pub peak: u64,
        pub grid: Grid,
        pub medium: Medium<T>,
        pub chunk: i32,
    }

    pub(super) struct Torre<T> {
        pub step: Step<T>,
        pub sites: Sites,
        pub special: u64,
        pub counter: u64,
        pub periods: i32,
        pub first: i32,
        pub towers: i32,
        pub even: i32,
        pub odd: i32,
        pub plain: i32,
        pub step_of_batch: i32,
    }

    pub(super) struct Tiles<T> {
        pub step: Step<T>,
        pub newer: u64,
        pub older: u64,
        pub kept: u64,
        pub images: u64,
        pub list: u64,
        pub taken: u64,
        pub block_columns: u64,
        pub block_rows: u64,
        pub count: i32,
        pub across: i32,
        pub chunk: i32,
        pub margin: i32,
        pub follows_blocks: i32,
        pub by_columns: i32,
        pub time_step: T,
    }

    pub(super) struct Blocks<T> {
        pub step: Step<T>,
        pub newer: u64,
        pub older: u64,
        pub kept: u64,
        pub memories: [[u64; 3]; 2],
        pub sites: Sites,
        pub firsts: u64,
        pub operations: u64,
        pub list: u64,
        pub across: i32,
        pub count: [i32; 2],
        pub low: [i32; 2],
        pub outer: [i32; 2],
        pub step_of_batch: i32,
        pub peaks: i32,
        pub time_step: T,
        pub follows: i32,
        pub by_sites: i32,
    }

    pub(super) struct Look<T> {
        pub step: Step<T>,
        pub potential: u64,
        pub lo: [i32; 3],
        pub hi: [i32; 3],
        pub inside: [[i32; 3]; 2],
        pub across: i32,
        pub half: i32,
        pub energy: i32,
        pub spacing: f64,
        pub time_step: f64,
    }

    pub(super) struct Picture<T> {
        pub look: Look<T>,
        pub frame: Frame,
    }

    pub(super) struct Gathered {
        pub places: u64,
        pub pressures: u64,
        pub potentials: u64,
        pub count: i32,
    }

    pub(super) struct Follow<T> {
        pub look: Look<T>,
        pub gathered: Gathered,
        pub first: i32,
        pub every: i32,
    }
}

impl Grid {
    pub(super) fn new(lattice: &Lattice, pitch: usize) -> Self {
        Self {
            size: lattice.size.map(whole),
            pitch: whole(pitch),
            rank: whole(lattice.rank),
            edge: lattice.edges.map(|edge| match edge {
                Edge::Wall | Edge::Absorb => 0,
                Edge::Soft => 1,
                Edge::Periodic => 2,
            }),
        }
    }
}

/// What is done at a site of a block's region after every step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SiteOperation {
    pub here: u32,
    pub place: u32,
    pub adds: [u32; 2],
    pub set: u32,
    pub gathers: [u32; 2],
}

impl SiteOperation {
    /// As `SiteOperation` of `kernels/fdtd_blocks.cuh` has it.
    pub(super) fn words(&self) -> [u32; 8] {
        let ([adds, adds_end], [gathers, gathers_end]) = (self.adds, self.gathers);
        [self.here, self.place, adds, adds_end, self.set, gathers, gathers_end, 0]
    }
}

/// First of [`SiteOperation::adds`] where steps have places of their own.
pub(super) const SEARCHED: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::super::sources;
    use super::*;
    use crate::field::{Precision, Real};

    fn check<T: Real>(precision: Precision) {
        let kernels = sources::step(precision);
        for half in 1..=4 {
            assert_eq!(kernels.declared(&format!("plain_{half}")), [size_of::<Step<T>>()]);
            assert_eq!(kernels.declared(&format!("listed_{half}"))[0], size_of::<Step<T>>());
            assert_eq!(kernels.declared(&format!("layered_{half}"))[0], size_of::<Step<T>>());
        }
        assert_eq!(kernels.declared("dense_1")[0], size_of::<Step<T>>());
        for shape in sources::TILES.iter().filter(|shape| shape.precision == precision) {
            for entry in ["tiles", "tiles_beside", "tiles_integrating", "tiles_with_peaks"] {
                assert_eq!(shape.source.declared(entry), [size_of::<Tiles<T>>()]);
            }
            let entries = ["blocks", "layered_blocks"].into_iter();
            for entry in entries.chain(shape.edges.then_some("edge_blocks")) {
                assert_eq!(sources::blocks(shape).declared(entry), [size_of::<Blocks<T>>()]);
            }
        }
        assert_eq!(kernels.declared("operate")[0], size_of::<Sites>());
        for entry in ["measure", "measure_energy"] {
            assert_eq!(kernels.declared(entry)[0], size_of::<Look<T>>());
        }
        assert_eq!(kernels.declared("picture")[0], size_of::<Picture<T>>());
        for entry in ["gather_potentials", "follow_potentials"] {
            assert_eq!(kernels.declared(entry)[0], size_of::<Gathered>());
        }
        assert_eq!(kernels.declared("measure_followed")[0], size_of::<Follow<T>>());
    }

    #[test]
    fn structs_are_as_large_as_the_kernels_declare() {
        check::<f32>(Precision::Single);
        check::<f64>(Precision::Double);
    }
}

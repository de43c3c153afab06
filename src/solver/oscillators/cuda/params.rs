//! Parameters of the kernels, as `kernels/oscillators.cuh`, `oscillators_sweeps.cu`, `oscillators_fused.cu`, `oscillators_visits.cuh` and `oscillators_line.cu` declare them. Addresses are of the
//! device; 0 = null.

use super::super::pair::{Lone, Pair};
use crate::backend::cuda::parameters;
use crate::solver::device::events::Sites;
use crate::solver::device::readback::Frame;
use crate::solver::device::transducers::Touch;

/// Regions whose pressures launches sum at most.
pub(super) const REGIONS: usize = 4;

parameters! {
    pub(super) struct Plane {
        pub size: [i32; 2],
        pub pitch: i32,
        pub rank: i32,
        pub periodic: [i32; 2],
    }

    pub(super) struct Springs<T> {
        /// By axis: κ, A, B, C.
        pub each: [[u64; 4]; 2],
        /// By axis and parity.
        pub same: [[Pair<T>; 2]; 2],
        /// By axis: the low end, the high end.
        pub ends: [[Lone<T>; 2]; 2],
        pub damping: u64,
    }

    pub(super) struct Sweep<T> {
        pub field: [u64; 2],
        pub plane: Plane,
        pub springs: Springs<T>,
        pub axis: i32,
        pub odd: i32,
    }

    pub(super) struct Fused<T> {
        pub field: [u64; 2],
        pub out: [u64; 2],
        pub plane: Plane,
        pub springs: Springs<T>,
        pub chunk: i32,
        pub strips: i32,
        pub first: i32,
        pub skip_from: i32,
        pub skip_by: i32,
        pub begins: i32,
        pub ends: u32,
    }

    /// As `kernels/oscillators_cells.cuh` declares it.
    pub(super) struct Cells {
        pub count: i32,
        /// Of x and y: from and to.
        pub bounds: [[[i32; REGIONS]; 2]; 2],
        pub first: [u32; REGIONS + 1],
        pub across: [i32; REGIONS],
        pub peaks: u32,
        pub ends: u32,
        pub cells: u64,
    }

    /// As `kernels/oscillators_visits.cuh` declares it.
    pub(super) struct Visits {
        pub sites: Sites,
        pub touch: Touch,
        pub numbers: u64,
        pub rows: u64,
        pub marks: u64,
        pub pieces: u64,
        pub count: i32,
        pub step: i32,
        pub steps: i32,
        pub touched: i32,
    }

    /// As `kernels/oscillators_sums.cu` declares it.
    pub(super) struct Adding {
        pub cells: u64,
        pub count: i32,
        pub first: [u32; REGIONS + 1],
        pub peaks: u32,
        pub parts: u64,
        pub done: u64,
        pub out: u64,
    }

    pub(super) struct Line<T> {
        pub field: [u64; 2],
        pub out: [u64; 2],
        pub plane: Plane,
        pub springs: Springs<T>,
        pub steps: i32,
        pub begins: i32,
        pub ends: u32,
    }

    pub(super) struct Look {
        pub field: [u64; 2],
        pub peak: u64,
        pub potential: u64,
        pub time_step: f64,
        pub plane: Plane,
        pub mass: u64,
        pub stiffnesses: [u64; 2],
        pub stiffness: f64,
        pub soft: [i32; 2],
        pub modulus: f64,
        pub spacing: f64,
        pub lo: [i32; 3],
        pub hi: [i32; 3],
        pub inside: [[i32; 3]; 2],
        pub across: i32,
        pub energy: i32,
    }

    pub(super) struct Picture {
        pub look: Look,
        pub frame: Frame,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sources::{self, Medium};
    use super::*;
    use crate::field::{Precision, Real};

    fn check<T: Real>(precision: Precision) {
        let sweeps = sources::sweeps(precision);
        assert_eq!(sweeps.declared("sweep"), [size_of::<Sweep<T>>()]);
        assert_eq!(sweeps.declared("operate")[0], size_of::<Sites>());
        assert_eq!(sweeps.declared("touch_sites"), [size_of::<Touch>()]);
        for entry in ["measure", "measure_energy"] {
            assert_eq!(sweeps.declared(entry)[0], size_of::<Look>(), "{entry}");
        }
        assert_eq!(sweeps.declared("picture")[0], size_of::<Picture>());
        assert_eq!(sources::sums(precision).declared("add_cells"), [size_of::<Adding>()]);
        for medium in [Medium::Uniform, Medium::Damped, Medium::Sites] {
            assert_eq!(
                sources::line(precision, medium).declared("line_steps"),
                [size_of::<Line<T>>()]
            );
            for shape in sources::fused(precision, medium) {
                let sums = [size_of::<Fused<T>>(), size_of::<Cells>()];
                assert_eq!(shape.source.declared("fused_steps"), [size_of::<Fused<T>>()]);
                assert_eq!(shape.source.declared("summing_steps"), sums);
                let visits = [sums[0], sums[1], size_of::<Visits>()];
                assert_eq!(shape.source.declared("visiting_steps"), visits);
                if medium != Medium::Sites {
                    assert_eq!(shape.source.declared("edge_steps"), [size_of::<Fused<T>>()]);
                    assert_eq!(shape.source.declared("summing_edges"), sums);
                }
            }
        }
    }

    #[test]
    fn structs_are_as_large_as_the_kernels_declare() {
        check::<f32>(Precision::Single);
        check::<f64>(Precision::Double);
    }
}

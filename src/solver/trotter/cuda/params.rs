//! Parameters of the kernels, as `kernels/trotter_fused.cu` and `kernels/trotter_sweeps.cu` declare them. Addresses are of the device; 0 = null.

use super::super::media::Exponent;
use super::super::run::HalfPhase;
use super::pieces::KINDS;
use crate::backend::cuda::parameters;
use crate::grid::Grid;
use crate::solver::device::transducers::Touch;
pub(super) use crate::solver::device::{unsigned, whole};

/// Drives that the device handles.
pub(super) const MOST_DRIVES: usize = 4;
/// Numbers of `measure_total`: norm, energy, x, xx, y, yy, z, zz, peak, current.
pub(super) const SUMS: usize = 10;
/// Regions that a kernel sums over at most.
pub(super) const REGIONS: usize = super::super::stepper::SUMMED;
/// Numbers of each sum: a whole number, and whether something was too large.
pub(super) const PARTS: usize = 2;

parameters! {
    pub(super) struct Fused<T> {
        pub field: [u64; 2],
        pub out: [u64; 2],
        pub table: [u64; 2],
        pub wall: u64,
        pub own: u64,
        pub gauge: [u64; 2],
        pub nx: i32,
        pub ny: i32,
        pub pitch: i32,
        pub periodic: [i32; 2],
        pub from: [i32; KINDS],
        pub chunk: [i32; KINDS],
        pub walled: i32,
        pub tangents: [T; 3],
        pub secants: [T; 3],
        pub outer_tangents: [T; 4],
        pub outer_secants: [T; 4],
        pub interaction: [T; 2],
    }

    /// As `kernels/trotter_sums.cuh` declares it.
    pub(super) struct Regions {
        pub count: i32,
        /// Of each axis, from and to.
        pub bounds: [[[i32; REGIONS]; 2]; 3],
        pub scale: f64,
        pub totals: u64,
        pub step: i32,
        /// Bit n: a step ends with sub-step n of the launch.
        pub ends: u32,
        pub weights: u64,
        /// Of each axis, from and to.
        pub ones: [[i32; 2]; 3],
        /// Bit n: the largest value of region n is wanted.
        pub peaks: u32,
        pub box_count: i32,
        pub sites: i32,
        pub boxes: u64,
        pub copies: u64,
    }

    /// A box of sites that are copied: of each axis, from and to; the number of its first site.
    pub(super) struct Boxed {
        pub bounds: [[i32; 2]; 3],
        pub first: i32,
        pub unused: i32,
    }

    /// Copies that `measure_rows` reads.
    pub(super) struct Copied {
        pub from: u64,
        pub boxes: [Boxed; 2],
        pub sites: i32,
    }

    /// What `sum_cells` reads.
    pub(super) struct Sum {
        pub field: [u64; 2],
        pub grid: Lattice,
        pub lo: [i32; 3],
        pub hi: [i32; 3],
        pub regions: Regions,
    }

    pub(super) struct Line<T> {
        pub field: [u64; 2],
        pub out: [u64; 2],
        pub table: [u64; 2],
        pub wall: u64,
        pub nx: i32,
        pub periodic: i32,
        pub steps: i32,
        pub tangents: [T; 3],
        pub secants: [T; 3],
        pub interaction: [T; 2],
    }

    /// As `kernels/trotter_space.cuh` declares it.
    pub(super) struct Space<T> {
        pub field: [u64; 2],
        pub out: [u64; 2],
        pub table: [u64; 2],
        pub pieces: u64,
        pub grid: Lattice,
        pub tangents: [T; 3],
        pub secants: [T; 3],
        pub interaction: [T; 2],
    }

    /// Bonds that differ in three dimensions, as `kernels/trotter_space_own.cuh` declares them.
    pub(super) struct SpaceBonds<T> {
        pub planes: u64,
        pub unlike: u64,
        /// Of x, then of y.
        pub tangents: [[T; 4]; 2],
        pub secants: [[T; 4]; 2],
        pub sweeps: u32,
    }

    pub(super) struct Lattice {
        pub size: [i32; 3],
        pub pitch: i32,
        pub periodic: [i32; 3],
    }

    /// The place of a window in its grid: the number of its row 0 there, and that grid's rows j + ny·k.
    pub(super) struct Place {
        pub first: i32,
        pub rows: i32,
    }

    pub(super) struct Sweep<T> {
        pub field: [u64; 2],
        pub wall: u64,
        pub gauge: [u64; 2],
        pub grid: Lattice,
        pub axis: i32,
        pub odd: i32,
        pub imaginary: i32,
        pub t: T,
        pub s: T,
    }

    /// Bonds of their own, as `kernels/trotter_sweeps.cuh` declares them.
    pub(super) struct Own {
        pub turns: [u64; 2],
        pub gauge: [u64; 2],
    }

    pub(super) struct Columns<T> {
        pub field: [u64; 2],
        pub table: [u64; 2],
        pub grid: Lattice,
        pub tangents: [T; 3],
        pub secants: [T; 3],
        pub interaction: [T; 2],
    }

    pub(super) struct Medium {
        pub energy: u64,
        pub absorption: u64,
        pub driven: [u64; MOST_DRIVES],
        pub wall: u64,
        pub strength: u64,
        pub drives: i32,
    }

    /// An exponent of phases.
    pub(super) struct Factor {
        pub energy: f64,
        pub damping: f64,
        pub driven: [f64; MOST_DRIVES],
        pub fold: f64,
        pub lowest: f64,
        pub imaginary: i32,
    }

    pub(super) struct Closing {
        pub exponent: Factor,
        pub interaction: f64,
        pub direction: i32,
    }

    pub(super) struct Measure {
        pub field: [u64; 2],
        pub medium: Medium,
        pub closing: Closing,
        pub grid: Lattice,
        pub lo: [i32; 3],
        pub hi: [i32; 3],
        pub across: i32,
        pub energy: i32,
        pub hopping: f64,
        pub interaction: f64,
        pub drives: [f64; MOST_DRIVES],
        pub flux: f64,
        pub rows: u64,
        pub place: Place,
        pub cross: f64,
        pub bonds: [[u64; 2]; 3],
        pub copied: Copied,
    }

    pub(super) struct Rows {
        pub field: [u64; 2],
        pub pitch: u64,
        pub end: u64,
        pub nx: i32,
        pub count: i32,
        pub norms: u64,
    }

    pub(super) struct Picture {
        pub field: [u64; 2],
        pub medium: Medium,
        pub closing: Closing,
        pub grid: Lattice,
        pub x: [i32; 2],
        pub y: [i32; 2],
        pub z: i32,
        pub reduction: i32,
        pub size: [i32; 2],
        pub quantity: i32,
        pub value: u64,
        pub phase: u64,
    }

    pub(super) struct TouchSites {
        pub field: [u64; 2],
        pub medium: Medium,
        pub closing: Closing,
        pub half_phase: Closing,
        pub touch: Touch,
    }
}

impl Lattice {
    pub(super) fn new(grid: &Grid, pitch: usize) -> Self {
        Self {
            size: grid.size().map(whole),
            pitch: whole(pitch),
            periodic: [0, 1, 2].map(|axis| i32::from(axis < grid.rank() && grid.is_periodic(axis))),
        }
    }
}

impl Place {
    pub(super) fn new(grid: &Grid) -> Self {
        let lines = if grid.rank() == 3 { grid.size()[1] } else { 1 };
        let axis = grid.rank().max(2) - 1;
        Self {
            first: whole(grid.global(axis, 0) * lines),
            rows: whole(grid.whole().rows()),
        }
    }
}

impl Factor {
    pub(super) fn new(exponent: &Exponent, lowest: f64) -> Self {
        Self {
            energy: exponent.energy,
            damping: exponent.damping,
            driven: filled(&exponent.driven),
            fold: exponent.fold,
            lowest,
            imaginary: i32::from(exponent.imaginary),
        }
    }
}

impl Closing {
    /// With `strengths` sites have their own g, which the kernels multiply with a time.
    pub(super) fn new(half_phase: Option<&HalfPhase>, strengths: bool) -> Self {
        half_phase.map_or_else(Self::default, |half_phase| Self {
            exponent: Factor::new(&half_phase.exponent, 0.0),
            interaction: if strengths {
                half_phase.length
            } else {
                half_phase.interaction
            },
            direction: if half_phase.direction > 0.0 { 1 } else { -1 },
        })
    }
}

/// The first values, zeros after them.
pub(super) fn filled(values: &[f64]) -> [f64; MOST_DRIVES] {
    let mut all = [0.0; MOST_DRIVES];
    for (all, value) in all.iter_mut().zip(values) {
        *all = *value;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::{sources, space};
    use super::*;
    use crate::field::{Precision, Real};

    fn check<T: Real>(precision: Precision) {
        let kernels = sources::sweeps(precision);
        for entry in ["sweep_x", "sweep_rows"] {
            assert_eq!(kernels.declared(entry), [size_of::<Sweep<T>>()]);
            let declared = sources::bonds(precision).declared(entry);
            assert_eq!(declared, [size_of::<Sweep<T>>(), size_of::<Own>()], "{entry}");
        }
        assert_eq!(kernels.declared("sweep_columns"), [size_of::<Columns<T>>()]);
        assert_eq!(kernels.declared("measure_rows"), [size_of::<Measure>()]);
        assert_eq!(kernels.declared("norm_rows"), [size_of::<Rows>()]);
        assert_eq!(kernels.declared("picture")[0], size_of::<Picture>());
        assert_eq!(kernels.declared("touch_sites"), [size_of::<TouchSites>()]);
        assert_eq!(kernels.declared("sum_cells"), [size_of::<Sum>()]);
        let (medium, grid) = (size_of::<Medium>(), size_of::<Lattice>());
        let filled = [medium, size_of::<Factor>(), grid, size_of::<Place>()];
        assert_eq!(kernels.declared("fill_table"), filled);
        assert_eq!(kernels.declared("turn_field"), [medium, size_of::<Closing>(), grid]);
        let (line, sums) = (sources::line(precision), size_of::<Regions>());
        assert_eq!(line.declared("line_steps"), [size_of::<Line<T>>()]);
        assert_eq!(line.declared("summing_steps"), [size_of::<Line<T>>(), sums]);
        for (interacts, own) in [(false, false), (true, false), (false, true)] {
            for shape in space::shapes(precision, interacts, own) {
                let mut sizes = vec![size_of::<Space<T>>()];
                sizes.extend(own.then_some(size_of::<SpaceBonds<T>>()));
                assert_eq!(shape.source.declared("space_steps"), sizes);
                sizes.push(sums);
                assert_eq!(shape.source.declared("summing_steps"), sizes);
            }
        }
        for shape in sources::shapes(precision, sources::Flags::default()) {
            let sizes = [size_of::<Fused<T>>(), sums];
            assert_eq!(shape.source.declared("fused_steps"), sizes[..1]);
            for entry in ["summing_steps", "peaking_steps"] {
                assert_eq!(shape.source.declared(entry), sizes);
            }
            assert_eq!(shape.source.declared("copying_steps")[..2], sizes);
        }
    }

    #[test]
    fn structs_are_as_large_as_the_kernels_declare() {
        check::<f32>(Precision::Single);
        check::<f64>(Precision::Double);
    }
}

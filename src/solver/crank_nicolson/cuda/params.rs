//! Parameters of the kernels, as `kernels/crank_nicolson.cu` declares them. Addresses are of the device; 0 = null.

use crate::backend::cuda::parameters;

parameters!(Line<T>, Blocks);

/// What the blocks leave to `rs`, and what it gives them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    pub a: u64,
    pub v: u64,
    pub d: u64,
    pub next_a: u64,
    pub next_d: u64,
    pub y: u64,
}

/// A line and a step of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line<T> {
    pub psi: u64,
    pub energy: u64,
    pub absorption: u64,
    pub sites: i64,
    pub each: i32,
    pub more: i32,
    pub imaginary: i32,
    pub top: Blocks,
    pub kept: u64,
    pub a_energy: T,
    pub a_shift: T,
    pub a_absorption: T,
    pub d_scale: T,
    pub interaction: T,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail where it stands")]
mod tests {
    use super::super::{DOUBLE, SINGLE};
    use super::*;
    use crate::backend::cuda::Source;
    use crate::field::Real;

    fn check<T: Real>(source: Source) {
        for kind in ["line", "ring"] {
            for stage in ["begin", "step", "end"] {
                let entry = format!("{kind}_{stage}");
                assert_eq!(source.declared(&entry), [size_of::<Line<T>>()], "{entry}");
            }
        }
        for entry in ["rs_begin", "rs_step"] {
            assert_eq!(source.declared(entry)[0], size_of::<Blocks>(), "{entry}");
        }
    }

    #[test]
    fn structs_are_as_large_as_the_kernels_declare() {
        for shape in SINGLE {
            check::<f32>(shape.source);
        }
        for shape in DOUBLE {
            check::<f64>(shape.source);
        }
    }
}

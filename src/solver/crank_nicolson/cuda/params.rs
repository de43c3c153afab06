//! Parameters of the kernels, as `kernels/crank_nicolson.cu` declares them. Addresses are of the device; 0 = null.

use crate::backend::cuda::DeviceRepr;
use crate::field::Real;

macro_rules! plain {
    ($($name:ident $(<$t:ident>)?),*) => {$(
        // SAFETY: `repr(C)`, `Copy`, and made of numbers only.
        #[allow(unsafe_code, reason = "promises that the bytes are what the kernel declares")]
        unsafe impl $(<$t: Real>)? DeviceRepr for $name $(<$t>)? {}
    )*};
}
plain!(Line<T>, Blocks);

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

    /// Bytes of the parameters of an entry.
    fn declared(source: Source, entry: &str) -> Vec<usize> {
        let ptx = source.ptx;
        let start = ptx.find(&format!(".entry {entry}(")).unwrap();
        let list = &ptx[start..start + ptx[start..].find(')').unwrap()];
        list.lines()
            .filter(|line| line.contains(".param") && line.contains('['))
            .map(|line| {
                let size = line.rsplit('[').next().unwrap();
                size[..size.find(']').unwrap()].parse().unwrap()
            })
            .collect()
    }

    fn check<T: Real>(source: Source) {
        for kind in ["line", "ring"] {
            for stage in ["begin", "step", "end"] {
                let entry = format!("{kind}_{stage}");
                assert_eq!(declared(source, &entry), [size_of::<Line<T>>()], "{entry}");
            }
        }
        for entry in ["rs_begin", "rs_step"] {
            assert_eq!(declared(source, entry)[0], size_of::<Blocks>(), "{entry}");
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

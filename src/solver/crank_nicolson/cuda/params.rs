//! Parameters of the kernels, as `kernels/crank_nicolson*.cu` and their header declare them. Addresses are of the device; 0 = null.

use crate::backend::cuda::parameters;

parameters! {
    /// Output of the blocks for `rs`, and input from it.
    pub(super) struct Blocks {
        pub a: u64,
        pub v: u64,
        pub d: u64,
        pub next_a: u64,
        pub next_d: u64,
        pub y: u64,
    }

    /// Further arguments of the solution for the joints of all blocks.
    pub(super) struct Solving {
        pub kept: u64,
        pub pivots: u64,
        pub blocks: i32,
        pub ring: i32,
        pub threads: i32,
        pub d: u64,
        pub next_d: u64,
    }

    /// Joints of all blocks in parts, and one joint of each part.
    pub(super) struct Parts {
        pub joints: Blocks,
        pub parts: Blocks,
        pub within: Solving,
        pub between: Solving,
    }

    /// A line and a step of it.
    pub(super) struct Line<T> {
        pub psi: u64,
        pub energy: u64,
        pub absorption: u64,
        pub factors: u64,
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
        pub solving: Solving,
    }

    /// One Cayley factor of all lines of a plane, and what stands between two of them.
    pub(super) struct Lines<T> {
        pub psi: u64,
        pub q: u64,
        pub ring: u64,
        pub factors: u64,
        pub ending: u64,
        pub beginning: u64,
        pub stride: i64,
        pub size: [i32; 2],
        pub threads: i32,
        pub pitch: i32,
        pub ends: i32,
        pub begins: i32,
        pub imaginary: i32,
        pub scale: [T; 2],
        pub tau: T,
        pub strength: T,
    }

    /// A field that is summed over.
    pub(super) struct Look {
        pub psi: u64,
        pub still: u64,
        pub driven: u64,
        pub regions: u64,
        pub parts: u64,
        pub size: [i32; 2],
        pub periodic: [i32; 2],
        pub diagonal: f64,
        pub hopping: f64,
        pub interaction: f64,
    }

    /// A picture of a field.
    pub(super) struct Picture {
        pub psi: u64,
        pub value: u64,
        pub phase: u64,
        pub nx: i32,
        pub x: [i32; 2],
        pub y: [i32; 2],
        pub reduction: i32,
        pub size: [i32; 2],
        pub quantity: i32,
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::{DOUBLE, PLANE_DOUBLE, PLANE_SINGLE, SINGLE};
    use super::*;
    use crate::backend::cuda::{Source, manifest};
    use crate::field::Real;

    fn check<T: Real>(source: Source) {
        for kind in ["line", "ring"] {
            for stage in ["begin", "again", "step", "short", "end"] {
                let entry = format!("{kind}_{stage}");
                assert_eq!(source.declared(&entry), [size_of::<Line<T>>()], "{entry}");
            }
        }
        for entry in ["rs_begin", "rs_step"] {
            assert_eq!(
                source.declared(entry),
                [size_of::<Blocks>(), size_of::<Solving>()],
                "{entry}"
            );
        }
        for entry in ["rs_up_begin", "rs_up_step", "rs_down_begin", "rs_down_step"] {
            assert_eq!(source.declared(entry), [size_of::<Parts>()], "{entry}");
        }
        check_looks(source);
    }

    fn check_plane<T: Real>(source: Source) {
        for entry in ["rows", "columns"] {
            assert_eq!(source.declared(entry), [size_of::<Lines<T>>()], "{entry}");
        }
        check_looks(source);
    }

    fn check_looks(source: Source) {
        assert_eq!(source.declared("measure"), [size_of::<Look>()]);
        assert_eq!(source.declared("picture"), [size_of::<Picture>()]);
    }

    /// Every module that these kernels are taken from.
    fn asked() -> Vec<Source> {
        let planes = PLANE_SINGLE.as_flattened().iter().chain(PLANE_DOUBLE.as_flattened());
        let all = SINGLE.iter().chain(&DOUBLE).chain(planes);
        all.map(|shape| shape.source).collect()
    }

    #[test]
    fn every_module_is_asked_for() {
        manifest::assert_asked("crank_nicolson", &asked());
    }

    #[test]
    fn shapes_are_as_the_manifest_has_them() {
        let planes = PLANE_SINGLE.as_flattened().iter().chain(PLANE_DOUBLE.as_flattened());
        for shape in SINGLE.iter().chain(&DOUBLE).chain(planes) {
            let mut modules = ["crank_nicolson", "crank_nicolson_plane"]
                .into_iter()
                .flat_map(manifest::family);
            let module = modules.find(|module| module.name == shape.source.name).unwrap();
            assert_eq!(module.number("ROWS") as usize, shape.rows, "{}", module.name);
            if module.family == "crank_nicolson_plane" {
                assert_eq!(module.number("THREADS") as usize, shape.threads, "{}", module.name);
            }
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
        for shape in PLANE_SINGLE.as_flattened() {
            check_plane::<f32>(shape.source);
        }
        for shape in PLANE_DOUBLE.as_flattened() {
            check_plane::<f64>(shape.source);
        }
    }
}

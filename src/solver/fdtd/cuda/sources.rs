//! The kernels in the binary, made by `kernels/build` from `kernels/fdtd_*.cu`, `kernels/fdtd.cuh` and `kernels/fdtd_vec.cuh`
//! (`fdtd_step.cu`, `fdtd_torre.cu`, `fdtd_torre_shared.cu`, `fdtd_tiles.cu`).

use super::torre::{BLOCK, Room, Shape};
use crate::backend::cuda::{Needs, Program, Source, source};
use crate::field::Precision;

/// Single steps, site operations, sums, pictures.
pub(super) fn step(precision: Precision) -> Source {
    match precision {
        Precision::Single => source!("fdtd_step_f32"),
        Precision::Double => source!("fdtd_step_f64"),
    }
}

/// Tiles that overlap, of one order and precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strips {
    pub precision: Precision,
    /// Half the order in space.
    pub half: usize,
    /// Steps of a pass: even, so that levels stay in their places.
    pub steps: usize,
    /// Columns of a lane.
    pub columns: usize,
    pub source: Source,
}

/// `kernels/build` has the same.
pub(super) static TILES: &[Strips] = &[
    strips(Precision::Single, 1, 8, 4, source!("fdtd_tiles_f32_1")),
    strips(Precision::Single, 2, 6, 4, source!("fdtd_tiles_f32_2")),
    strips(Precision::Single, 3, 4, 4, source!("fdtd_tiles_f32_3")),
    strips(Precision::Single, 4, 2, 4, source!("fdtd_tiles_f32_4")),
    strips(Precision::Double, 1, 8, 2, source!("fdtd_tiles_f64_1")),
    strips(Precision::Double, 2, 4, 2, source!("fdtd_tiles_f64_2")),
    strips(Precision::Double, 3, 4, 2, source!("fdtd_tiles_f64_3")),
    strips(Precision::Double, 4, 2, 2, source!("fdtd_tiles_f64_4")),
];

const fn strips(precision: Precision, half: usize, steps: usize, columns: usize, source: Source) -> Strips {
    Strips {
        precision,
        half,
        steps,
        columns,
        source,
    }
}

/// Towers of shapes that are in the binary: single precision, half the order, dts, blocks along x, speed per site; with absorbing layers.
static TOWERS: &[(Shape, Source)] = &[
    (in_registers(1, 4, 1, false), source!("fdtd_torre_f32_1_4_1")),
    (in_registers(1, 4, 2, false), source!("fdtd_torre_f32_1_4_2")),
    (in_registers(1, 4, 4, false), source!("fdtd_torre_f32_1_4_4")),
    (in_registers(1, 4, 1, true), source!("fdtd_torre_f32_1_4_1_sites")),
    (in_registers(1, 4, 2, true), source!("fdtd_torre_f32_1_4_2_sites")),
    (in_registers(1, 4, 4, true), source!("fdtd_torre_f32_1_4_4_sites")),
    (in_registers(2, 2, 1, false), source!("fdtd_torre_f32_2_2_1")),
    (in_registers(2, 2, 2, false), source!("fdtd_torre_f32_2_2_2")),
    (in_registers(2, 2, 4, false), source!("fdtd_torre_f32_2_2_4")),
    (with_layers(1, 8, 2), source!("fdtd_torre_shared_1_8_2_layers")),
    (with_layers(1, 8, 4), source!("fdtd_torre_shared_1_8_4_layers")),
    (with_layers(1, 8, 8), source!("fdtd_torre_shared_1_8_8_layers")),
    (in_shared(4, 2, 2, false), source!("fdtd_torre_shared_4_2_2")),
    (in_shared(4, 2, 4, false), source!("fdtd_torre_shared_4_2_4")),
    (in_shared(4, 2, 8, false), source!("fdtd_torre_shared_4_2_8")),
    (in_shared(4, 2, 16, false), source!("fdtd_torre_shared_4_2_16")),
    (in_shared(4, 2, 4, true), source!("fdtd_torre_shared_4_2_4_sites")),
    (in_shared(4, 2, 8, true), source!("fdtd_torre_shared_4_2_8_sites")),
];

const fn in_registers(half: usize, dts: usize, cluster: usize, sites: bool) -> Shape {
    shape(half, dts, cluster, sites, Room::Registers)
}

const fn in_shared(half: usize, dts: usize, cluster: usize, sites: bool) -> Shape {
    shape(half, dts, cluster, sites, Room::Shared)
}

const fn with_layers(half: usize, dts: usize, cluster: usize) -> Shape {
    Shape {
        layers: true,
        ..in_shared(half, dts, cluster, true)
    }
}

const fn shape(half: usize, dts: usize, cluster: usize, sites: bool, room: Room) -> Shape {
    Shape {
        half,
        dts,
        cluster,
        sites,
        layers: false,
        room,
    }
}

/// The towers of a shape, if they are in the binary.
pub(super) fn torre(precision: Precision, wanted: Shape) -> Option<Source> {
    let found = TOWERS.iter().find(|(shape, _)| *shape == wanted)?;
    (precision == Precision::Single).then_some(found.1)
}

/// Towers of any shape, as text and defines; `kernels/build` has the same.
pub(super) fn program(precision: Precision, shape: Shape) -> Program {
    let (real, short) = match precision {
        Precision::Single => ("float", "f32"),
        Precision::Double => ("double", "f64"),
    };
    let Shape {
        half,
        dts,
        cluster,
        sites,
        layers,
        room,
    } = shape;
    let words = match (layers, sites) {
        (true, _) => "_layers",
        (false, true) => "_sites",
        (false, false) => "",
    };
    let (start, file, source) = match room {
        Room::Registers => (
            format!("fdtd_torre_{short}"),
            "fdtd_torre.cu",
            include_str!("../../../../kernels/fdtd_torre.cu"),
        ),
        Room::Shared => (
            "fdtd_torre_shared".to_owned(),
            "fdtd_torre_shared.cu",
            include_str!("../../../../kernels/fdtd_torre_shared.cu"),
        ),
    };
    Program {
        name: format!("{start}_{half}_{dts}_{cluster}{words}"),
        file,
        source,
        headers: &[
            ("fdtd_absorb.cuh", include_str!("../../../../kernels/fdtd_absorb.cuh")),
            ("fdtd_rings.cuh", include_str!("../../../../kernels/fdtd_rings.cuh")),
            ("fdtd_towers.cuh", include_str!("../../../../kernels/fdtd_towers.cuh")),
            ("fdtd.cuh", include_str!("../../../../kernels/fdtd.cuh")),
            ("real.cuh", include_str!("../../../../kernels/real.cuh")),
            ("sites.cuh", include_str!("../../../../kernels/sites.cuh")),
        ],
        defines: vec![
            ("REAL", real.to_owned()),
            ("HALF", half.to_string()),
            ("DTS", dts.to_string()),
            ("CLUSTER", cluster.to_string()),
            ("SITES", u8::from(sites).to_string()),
            ("LAYERS", u8::from(layers).to_string()),
            ("BLOCK", BLOCK.to_string()),
        ],
        needs: if cluster > 1 || room == Room::Shared {
            Needs::Hopper
        } else {
            Needs::Ampere
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_carry_what_they_include() {
        for shape in [in_registers(2, 1, 1, false), in_shared(4, 2, 1, false)] {
            assert_eq!(program(Precision::Single, shape).missing(), [""; 0]);
        }
    }
}

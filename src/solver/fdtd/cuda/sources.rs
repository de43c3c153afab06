//! The kernels in the binary, made by `kernels/build` from `kernels/fdtd_*.cu`, `kernels/fdtd.cuh` and `kernels/fdtd_vec.cuh`
//! (`fdtd_step.cu`, `fdtd_torre.cu`, `fdtd_torre_shared.cu`, `fdtd_tiles.cu`, `fdtd_blocks.cu` with `fdtd_blocks.cuh`).

use super::torre::{BLOCK, Room, Shape};
use crate::backend::cuda::manifest::{self, Module};
use crate::backend::cuda::{Needs, Program, Source};
use crate::field::Precision;
use std::sync::LazyLock;

/// Single steps, site operations, sums, pictures.
pub(super) fn step(precision: Precision) -> Source {
    Source::of(precision, ["fdtd_step_f32", "fdtd_step_f64"])
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
    /// Whether each site has a speed of its own.
    pub speeds: bool,
    pub source: Source,
    /// Rows of a region of the blocks beside them, those of a thread, and their module.
    pub rows: usize,
    pub each: usize,
    /// Whether there is a kernel for blocks at one absorbing edge.
    pub edges: bool,
    blocks: Source,
}

/// The blocks beside tiles.
pub(super) fn blocks(strips: &Strips) -> Source {
    strips.blocks
}

/// Every tile in the program.
pub(super) static TILES: LazyLock<Vec<Strips>> = LazyLock::new(|| {
    let of = |module: &'static Module| {
        let blocks = manifest::family("fdtd_blocks").find(|other| {
            let same = |name| other.number(name) == module.number(name);
            other.precision() == module.precision() && same("STEPS") && same("HALF")
        })?;
        Some(Strips {
            precision: module.precision(),
            half: module.number("HALF") as usize,
            steps: module.number("STEPS") as usize,
            columns: module.number("COLUMNS") as usize,
            speeds: module.has("SPEEDS"),
            source: Source::embedded(&module.name),
            rows: blocks.number("ROWS") as usize,
            each: blocks.number("EACH") as usize,
            edges: blocks.has("EDGE_REGISTERS"),
            blocks: Source::embedded(&blocks.name),
        })
    };
    manifest::family("fdtd_tiles").filter_map(of).collect()
});

/// Every tower in the program: its precision, what it is made for, its module.
static TOWERS: LazyLock<Vec<(Precision, Shape, Source)>> = LazyLock::new(|| {
    let of = |family, room| {
        manifest::family(family).map(move |module| {
            let source = Source::embedded(&module.name);
            (module.precision(), tower(module, room), source)
        })
    };
    let registers = of("fdtd_torre", Room::Registers);
    registers.chain(of("fdtd_torre_shared", Room::Shared)).collect()
});

fn tower(module: &Module, room: Room) -> Shape {
    Shape {
        half: module.number("HALF") as usize,
        dts: module.number("DTS") as usize,
        cluster: module.number("CLUSTER") as usize,
        sites: module.has("SITES"),
        layers: module.has("LAYERS"),
        room,
    }
}

/// The towers of a shape, if they are in the binary.
pub(super) fn torre(precision: Precision, wanted: Shape) -> Option<Source> {
    let mut towers = TOWERS.iter();
    let found = towers.find(|(precise, shape, _)| (*precise, *shape) == (precision, wanted))?;
    Some(found.2)
}

/// Towers of any shape, as text and defines.
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
    use crate::backend::cuda::manifest::Define;

    /// Every module that these kernels are taken from.
    fn asked() -> Vec<Source> {
        let steps = [Precision::Single, Precision::Double].map(step);
        let tiles = TILES.iter().flat_map(|strips| [strips.source, strips.blocks]);
        let towers = (TOWERS.iter()).filter_map(|(precision, shape, _)| torre(*precision, *shape));
        steps.into_iter().chain(tiles).chain(towers).collect()
    }

    #[test]
    fn every_module_is_asked_for() {
        manifest::assert_asked("fdtd", &asked());
    }

    #[test]
    fn programs_carry_what_they_include() {
        for room in [Room::Registers, Room::Shared] {
            let (_, shape, _) = TOWERS.iter().find(|(_, shape, _)| shape.room == room).unwrap();
            assert_eq!(program(Precision::Single, *shape).missing(), [""; 0]);
        }
    }

    /// A tower that is compiled at run time is what would be in the program.
    #[test]
    fn programs_are_as_the_manifest_has_them() {
        for (precision, shape, source) in TOWERS.iter() {
            let program = program(*precision, *shape);
            let families = ["fdtd_torre", "fdtd_torre_shared"]
                .into_iter()
                .flat_map(manifest::family);
            let module = families.into_iter().find(|module| module.name == source.name).unwrap();
            assert_eq!(program.name, module.name);
            assert_eq!(program.file, format!("{}.cu", module.family));
            for (name, value) in &program.defines {
                match module.defines.get(*name) {
                    Some(Define::Number(number)) => assert_eq!(*value, number.to_string(), "{name}"),
                    Some(Define::Word(word)) => assert_eq!(value, word, "{name}"),
                    None => assert_eq!(value, "0", "{name} of {}", module.name),
                }
            }
        }
    }
}

//! The kernels in the binary, made by `kernels/build` from `kernels/trotter_fused.cu`, `kernels/trotter_tiles.cu`, `kernels/trotter_line.cu`,
//! `kernels/trotter_sweeps.cu` with `kernels/trotter_measures.cuh`, `kernels/trotter_bonds.cu` and their headers.

use crate::backend::cuda::manifest::{self, Module};
use crate::backend::cuda::{self, CudaError, Needs, Program, Source};
use crate::backend::machine;
use crate::field::Precision;

/// One shape of `fused_steps`.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub source: Source,
    /// Steps a launch.
    pub steps: u32,
    /// Columns a lane.
    pub columns: u32,
    /// What it can do beside plain steps.
    pub flags: Flags,
}

/// What a step asks of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub nested: bool,
    pub flux: bool,
    pub interaction: bool,
    pub imaginary: bool,
    /// Bonds that differ.
    pub own: bool,
}

/// Everything that a step in real time can ask, but for bonds that differ.
const ALL: Flags = Flags {
    nested: true,
    flux: true,
    interaction: true,
    imaginary: false,
    own: false,
};

impl Flags {
    fn of(module: &Module) -> Self {
        Self {
            nested: module.has("NESTED"),
            flux: module.has("FLUX"),
            interaction: module.has("INTERACTION"),
            imaginary: module.has("IMAGINARY"),
            own: module.has("OWN"),
        }
    }
}

impl Shape {
    fn new(module: &'static Module) -> Self {
        Self {
            source: Source::embedded(&module.name),
            steps: module.number("STEPS"),
            columns: module.number("COLUMNS"),
            flags: Flags::of(module),
        }
    }
}

/// One shape of `tile_steps`.
#[derive(Clone, Copy)]
pub(super) struct TileShape {
    pub source: Source,
    /// Columns a lane, rows a lane, and warps of a block.
    pub columns: u32,
    rows: u32,
    pub warps: u32,
    precision: Precision,
}

impl TileShape {
    /// Columns of a tile.
    pub(super) fn width(&self) -> u32 {
        32 * self.columns
    }

    /// Rows of a tile.
    pub(super) fn height(&self) -> u32 {
        self.rows * self.warps
    }

    /// Shared memory of a block, as `trotter_tiles.cu` counts it: phases of its rows, twice the rows that warps hand each other, and words of open sites.
    pub(super) fn shared(&self) -> u32 {
        let bytes = u32::try_from(self.precision.bytes()).unwrap_or(8);
        let slot = 2 * 32 * self.columns * bytes;
        self.warps * ((4 + self.rows) * slot + 2 * 128)
    }
}

impl TileShape {
    /// Shared memory in which the lanes of a block keep their sums of a region and step.
    pub(super) fn sums(&self) -> u32 {
        self.warps * 32 * 8
    }
}

/// Shapes of tiles of a precision that do what `asked` wants; empty where there are none.
pub(super) fn tile_shapes(precision: Precision, asked: Flags) -> Vec<TileShape> {
    let modules = manifest::family("trotter_tiles").filter(|module| module.precision() == precision);
    let lean = modules.filter(|module| Flags::of(module) == asked);
    lean.map(|module| TileShape {
        source: Source::embedded(&module.name),
        columns: module.number("COLUMNS"),
        rows: module.number("ROWS"),
        warps: module.number("TILE_WARPS"),
        precision,
    })
    .collect()
}

/// Every shape of a precision in the program, most steps first.
fn embedded(precision: Precision) -> Vec<Shape> {
    let modules = manifest::family("trotter_fused").filter(|module| module.precision() == precision);
    let mut all: Vec<Shape> = modules.filter(|module| !module.has("BARE")).map(Shape::new).collect();
    all.sort_by_key(|shape| std::cmp::Reverse(shape.steps));
    all
}

/// Shapes of a precision that do what `asked` wants, most steps first, down to one step. All of them do it with the same
/// operations in the same order, so that it does not matter by a bit which take part: where no lean kernel has exactly these flags, the one
/// that can do everything takes every step.
pub(super) fn shapes(precision: Precision, asked: Flags) -> Vec<Shape> {
    let all = embedded(precision);
    let with = |flags: Flags| {
        all.iter()
            .filter(|shape| shape.flags == flags)
            .copied()
            .collect::<Vec<_>>()
    };
    let lean = with(asked);
    debug_assert!(
        !asked.own || !lean.is_empty(),
        "{asked:?}: bonds that differ go with nested sweeps alone"
    );
    if lean.is_empty() {
        with(Flags {
            imaginary: asked.imaginary,
            ..ALL
        })
    } else {
        lean
    }
}

/// The most steps of a launch: the rows of so many stages fill the registers of a thread.
pub(super) const MOST_STEPS: usize = 10;

/// A shape with so many steps that does what `asked` wants, and the one of single steps for what is left over, with the same bits.
/// What is not in the binary is compiled.
///
/// # Errors
/// If there is no such shape, naming those that there are, or no compiler.
pub(super) fn shapes_of(precision: Precision, asked: Flags, steps: usize) -> Result<Vec<Shape>, CudaError> {
    let embedded = shapes(precision, asked);
    let Some(single) = embedded.iter().find(|shape| shape.steps == 1).copied() else {
        return Ok(embedded);
    };
    let there: Vec<String> = embedded.iter().rev().map(|shape| shape.steps.to_string()).collect();
    let refused = |why: &str| {
        CudaError::NotCompiled(format!(
            "fused_steps = {steps} in {} precision: {why}; take one of {}, which are in the program, or \"auto\"",
            precision.as_str(),
            there.join(", ")
        ))
    };
    if steps > MOST_STEPS {
        return Err(refused(&format!(
            "the registers of a device hold at most {MOST_STEPS} steps of a launch"
        )));
    }
    let wanted = if let Some(shape) = embedded.iter().find(|shape| shape.steps as usize == steps) {
        *shape
    } else {
        let program = program(precision, single.flags, steps);
        let source = cuda::compiled(&program, machine::cache_folder().as_deref())
            .map_err(|error| refused(&error.to_string()))?;
        let steps = u32::try_from(steps).unwrap_or(1);
        Shape {
            source,
            steps,
            ..single
        }
    };
    Ok(if steps == 1 { vec![wanted] } else { vec![wanted, single] })
}

/// A shape's text and defines, as `kernels/build` has them.
fn program(precision: Precision, flags: Flags, steps: usize) -> Program {
    let (real, short, columns) = match precision {
        Precision::Single => ("float", "f32", 4),
        Precision::Double => ("double", "f64", 2),
    };
    // Blocks of two warps on a multiprocessor: what the rows of the stages leave of its registers.
    let blocks = match steps {
        0..=1 => 8,
        2..=6 => 6,
        _ => 4,
    };
    let mut name = format!("trotter_fused_{short}_{steps}");
    let mut defines = vec![
        ("REAL", real.to_owned()),
        ("COLUMNS", columns.to_string()),
        ("STEPS", steps.to_string()),
        ("BLOCKS", blocks.to_string()),
    ];
    for (on, define) in [
        (flags.nested, "NESTED"),
        (flags.flux, "FLUX"),
        (flags.interaction, "INTERACTION"),
        (flags.imaginary, "IMAGINARY"),
        (flags.own, "OWN"),
    ] {
        if on {
            defines.push((define, "1".to_owned()));
            name.push('_');
            name.push_str(&define.to_lowercase());
        }
    }
    Program {
        name,
        file: "trotter_fused.cu",
        source: include_str!("../../../../kernels/trotter_fused.cu"),
        headers: &[
            ("trotter.cuh", include_str!("../../../../kernels/trotter.cuh")),
            (
                "trotter_fused.cuh",
                include_str!("../../../../kernels/trotter_fused.cuh"),
            ),
            ("trotter_own.cuh", include_str!("../../../../kernels/trotter_own.cuh")),
            ("trotter_sums.cuh", include_str!("../../../../kernels/trotter_sums.cuh")),
            ("real.cuh", include_str!("../../../../kernels/real.cuh")),
        ],
        defines,
        needs: Needs::Ampere,
    }
}

/// Sweeps, tables, sums, pictures.
pub(super) fn sweeps(precision: Precision) -> Source {
    Source::of(precision, ["trotter_sweeps_f32", "trotter_sweeps_f64"])
}

/// Sweeps and phases where bonds or sites differ.
pub(super) fn bonds(precision: Precision) -> Source {
    Source::of(precision, ["trotter_bonds_f32", "trotter_bonds_f64"])
}

/// The x and y sweeps of a step in three dimensions.
pub(super) fn bare(precision: Precision) -> Shape {
    let (name, columns) = match precision {
        Precision::Single => ("trotter_fused_f32_1_bare", 4),
        Precision::Double => ("trotter_fused_f64_1_bare", 2),
    };
    Shape {
        source: Source::embedded(name),
        steps: 1,
        columns,
        flags: Flags::default(),
    }
}

/// Steps of a line.
pub(super) fn line(precision: Precision) -> Source {
    Source::of(precision, ["trotter_line_f32", "trotter_line_f64"])
}

/// Sites that a warp of `trotter_line.cu` writes, and the most steps of a launch.
pub(super) const LINE_CORE: usize = 32 * 16 - 2 * 32;
/// See [`LINE_CORE`].
pub(super) const LINE_STEPS: u64 = 16;

impl Shape {
    /// Columns that a warp writes.
    pub(super) fn core(&self) -> u32 {
        32 * self.columns - 2 * (2 * self.steps).div_ceil(self.columns) * self.columns
    }

    /// Shared memory of a block of two warps, as `trotter_fused.cu` counts it: rings of row pairs, and words of open sites.
    pub(super) fn shared(&self, precision: Precision) -> u32 {
        let bytes = u32::try_from(precision.bytes()).unwrap_or(8);
        let slot = 4 * self.columns * bytes * 32;
        2 * ((self.steps + 2) * slot + (self.steps + 1) * 128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What bonds that differ ask.
    const OWN: Flags = Flags {
        nested: true,
        flux: false,
        interaction: false,
        imaginary: false,
        own: true,
    };

    /// Every module that these kernels are taken from.
    fn asked() -> Vec<Source> {
        let mut all = Vec::new();
        for precision in [Precision::Single, Precision::Double] {
            all.extend([
                sweeps(precision),
                bonds(precision),
                bare(precision).source,
                line(precision),
            ]);
            for bits in 0..16_u8 {
                let bit = |n: u8| bits >> n & 1 == 1;
                let flags = Flags {
                    nested: bit(0),
                    flux: bit(1),
                    interaction: bit(2),
                    imaginary: bit(3),
                    own: false,
                };
                all.extend(shapes(precision, flags).iter().map(|shape| shape.source));
                all.extend(tile_shapes(precision, flags).iter().map(|shape| shape.source));
            }
            all.extend(shapes(precision, OWN).iter().map(|shape| shape.source));
            for (interacts, own) in [(false, false), (true, false), (false, true)] {
                all.extend(
                    super::super::space::shapes(precision, interacts, own)
                        .iter()
                        .map(|shape| shape.source),
                );
            }
        }
        all
    }

    #[test]
    fn every_module_is_asked_for() {
        manifest::assert_asked("trotter", &asked());
    }

    #[test]
    fn programs_carry_what_they_include() {
        let program = program(Precision::Single, Flags::default(), 5);
        assert_eq!(program.missing(), [""; 0]);
        let without = Program {
            headers: &[],
            ..program
        };
        assert_eq!(without.missing(), ["trotter_fused.cuh", "trotter_sums.cuh"]);
    }

    #[test]
    fn every_demand_has_a_kernel_of_one_step() {
        for precision in [Precision::Single, Precision::Double] {
            for bits in 0..16_u8 {
                let bit = |n: u8| bits >> n & 1 == 1;
                let asked = Flags {
                    nested: bit(0) || bit(1),
                    flux: bit(1),
                    interaction: bit(2),
                    imaginary: bit(3),
                    own: false,
                };
                let found = shapes(precision, asked);
                assert_eq!(
                    found.last().map(|shape| shape.steps),
                    Some(1),
                    "{precision:?} {asked:?}"
                );
                for shape in &found {
                    assert_eq!(shape.flags.imaginary, asked.imaginary);
                    assert!(shape.flags.nested || !asked.nested);
                    assert!(shape.flags.flux || !asked.flux);
                    assert!(shape.flags.interaction || !asked.interaction);
                    assert!(!shape.flags.own);
                }
            }
            let steps: Vec<u32> = shapes(precision, OWN).iter().map(|shape| shape.steps).collect();
            assert!(steps.len() > 1 && steps.last() == Some(&1), "{steps:?}");
        }
    }

    #[test]
    fn steps_beyond_the_registers_are_refused_with_those_there_are() {
        let error = shapes_of(Precision::Single, Flags::default(), 11)
            .err()
            .map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(error.contains("at most 10") && error.contains("1, 2, 3, 6"), "{error}");
    }

    #[test]
    fn embedded_steps_need_no_compiler() {
        for (precision, flags, steps, count) in [
            (Precision::Single, Flags::default(), 3, 2),
            (
                Precision::Double,
                Flags {
                    interaction: false,
                    ..ALL
                },
                4,
                2,
            ),
            (Precision::Double, ALL, 1, 1),
        ] {
            let shapes = shapes_of(precision, flags, steps).unwrap();
            assert_eq!(shapes.len(), count);
            assert_eq!(shapes[0].steps as usize, steps);
            assert_eq!(shapes[0].flags, flags);
        }
    }

    #[test]
    fn entries_are_where_they_are_looked_for() {
        for precision in [Precision::Single, Precision::Double] {
            for shape in embedded(precision) {
                assert_eq!(shape.source.declared("fused_steps").len(), 1, "{}", shape.source.name);
                assert!(shape.core() > 0);
            }
            for entry in super::super::ENTRIES {
                let ptx = sweeps(precision).ptx().unwrap();
                assert!(ptx.contains(&format!(".entry {entry}(")), "{entry}");
            }
        }
    }

    #[test]
    fn shapes_are_as_the_manifest_has_them() {
        for precision in [Precision::Single, Precision::Double] {
            let bare = bare(precision);
            let module = manifest::family("trotter_fused")
                .find(|module| module.name == bare.source.name)
                .unwrap();
            assert_eq!(
                (module.number("STEPS"), module.number("COLUMNS")),
                (bare.steps, bare.columns)
            );
        }
    }
}

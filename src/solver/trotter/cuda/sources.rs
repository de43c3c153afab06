//! The kernels in the binary, made by `kernels/build` from `kernels/trotter_fused.cu`, `kernels/trotter_line.cu`,
//! `kernels/trotter_sweeps.cu` and `kernels/trotter.cuh`.

use crate::backend::cuda::{self, CudaError, Needs, Program, Source, source};
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
    /// Site-steps per second on an H200 in units of 1e9 where neither halo nor memory matter; only ratios are used, to choose.
    pub rate: f64,
}

/// What a step asks of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub nested: bool,
    pub flux: bool,
    pub interaction: bool,
    pub imaginary: bool,
}

const PLAIN: Flags = Flags {
    nested: false,
    flux: false,
    interaction: false,
    imaginary: false,
};
const NESTED: Flags = Flags { nested: true, ..PLAIN };
const INTERACTION: Flags = Flags {
    interaction: true,
    ..PLAIN
};
const NESTED_FLUX: Flags = Flags { flux: true, ..NESTED };
const NESTED_INTERACTION: Flags = Flags {
    interaction: true,
    ..NESTED
};
const ALL: Flags = Flags {
    nested: true,
    flux: true,
    interaction: true,
    imaginary: false,
};
const ALL_IMAGINARY: Flags = Flags { imaginary: true, ..ALL };

const fn shape(source: Source, steps: u32, columns: u32, flags: Flags, rate: f64) -> Shape {
    Shape {
        source,
        steps,
        columns,
        flags,
        rate,
    }
}

/// Most steps first.
static SINGLE: &[Shape] = &[
    shape(source!("trotter_fused_f32_6"), 6, 4, PLAIN, 910.0),
    shape(source!("trotter_fused_f32_6_nested"), 6, 4, NESTED, 700.0),
    shape(source!("trotter_fused_f32_6_interaction"), 6, 4, INTERACTION, 500.0),
    shape(source!("trotter_fused_f32_6_nested_flux"), 6, 4, NESTED_FLUX, 500.0),
    shape(
        source!("trotter_fused_f32_6_nested_interaction"),
        6,
        4,
        NESTED_INTERACTION,
        430.0,
    ),
    shape(source!("trotter_fused_f32_3"), 3, 4, PLAIN, 490.0),
    shape(source!("trotter_fused_f32_2"), 2, 4, PLAIN, 295.0),
    shape(source!("trotter_fused_f32_1"), 1, 4, PLAIN, 170.0),
    shape(source!("trotter_fused_f32_1_nested"), 1, 4, NESTED, 160.0),
    shape(source!("trotter_fused_f32_1_interaction"), 1, 4, INTERACTION, 160.0),
    shape(source!("trotter_fused_f32_1_nested_flux"), 1, 4, NESTED_FLUX, 155.0),
    shape(
        source!("trotter_fused_f32_1_nested_interaction"),
        1,
        4,
        NESTED_INTERACTION,
        155.0,
    ),
    shape(source!("trotter_fused_f32_1_nested_flux_interaction"), 1, 4, ALL, 150.0),
    shape(
        source!("trotter_fused_f32_1_nested_flux_interaction_imaginary"),
        1,
        4,
        ALL_IMAGINARY,
        150.0,
    ),
];
static DOUBLE: &[Shape] = &[
    shape(source!("trotter_fused_f64_4"), 4, 2, PLAIN, 354.0),
    shape(source!("trotter_fused_f64_4_nested"), 4, 2, NESTED, 270.0),
    shape(source!("trotter_fused_f64_4_interaction"), 4, 2, INTERACTION, 200.0),
    shape(source!("trotter_fused_f64_4_nested_flux"), 4, 2, NESTED_FLUX, 200.0),
    shape(
        source!("trotter_fused_f64_4_nested_interaction"),
        4,
        2,
        NESTED_INTERACTION,
        160.0,
    ),
    shape(source!("trotter_fused_f64_2"), 2, 2, PLAIN, 160.0),
    shape(source!("trotter_fused_f64_1"), 1, 2, PLAIN, 86.0),
    shape(source!("trotter_fused_f64_1_nested"), 1, 2, NESTED, 80.0),
    shape(source!("trotter_fused_f64_1_interaction"), 1, 2, INTERACTION, 80.0),
    shape(source!("trotter_fused_f64_1_nested_flux"), 1, 2, NESTED_FLUX, 78.0),
    shape(
        source!("trotter_fused_f64_1_nested_interaction"),
        1,
        2,
        NESTED_INTERACTION,
        78.0,
    ),
    shape(source!("trotter_fused_f64_1_nested_flux_interaction"), 1, 2, ALL, 75.0),
    shape(
        source!("trotter_fused_f64_1_nested_flux_interaction_imaginary"),
        1,
        2,
        ALL_IMAGINARY,
        75.0,
    ),
];

/// Shapes of a precision that do what `asked` wants, most steps first, down to one step. All of them do it with the same
/// operations in the same order, so that it does not matter by a bit which take part: where no lean kernel has exactly these flags, the one
/// that can do everything takes every step.
pub(super) fn shapes(precision: Precision, asked: Flags) -> Vec<Shape> {
    let all = match precision {
        Precision::Single => SINGLE,
        Precision::Double => DOUBLE,
    };
    let with = |flags: Flags| {
        all.iter()
            .filter(|shape| shape.flags == flags)
            .copied()
            .collect::<Vec<_>>()
    };
    let lean = with(asked);
    if lean.is_empty() {
        with(if asked.imaginary { ALL_IMAGINARY } else { ALL })
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
            precision.word(),
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
        let source = cuda::compiled(&program, cuda::cache().as_deref()).map_err(|error| refused(&error.to_string()))?;
        let steps = u32::try_from(steps).unwrap_or(1);
        shape(source, steps, single.columns, single.flags, single.rate)
    };
    // What was asked for is taken, whatever else would be faster.
    let wanted = Shape { rate: 1e6, ..wanted };
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
            ("real.cuh", include_str!("../../../../kernels/real.cuh")),
        ],
        defines,
        needs: Needs::Ampere,
    }
}

/// Sweeps, tables, sums, pictures.
pub(super) fn sweeps(precision: Precision) -> Source {
    match precision {
        Precision::Single => source!("trotter_sweeps_f32"),
        Precision::Double => source!("trotter_sweeps_f64"),
    }
}

/// The x and y sweeps of a step in three dimensions.
pub(super) fn bare(precision: Precision) -> Shape {
    let (source, columns) = match precision {
        Precision::Single => (source!("trotter_fused_f32_1_bare"), 4),
        Precision::Double => (source!("trotter_fused_f64_1_bare"), 2),
    };
    shape(source, 1, columns, PLAIN, 100.0)
}

/// Steps of a line.
pub(super) fn line(precision: Precision) -> Source {
    match precision {
        Precision::Single => source!("trotter_line_f32"),
        Precision::Double => source!("trotter_line_f64"),
    }
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

    #[test]
    fn programs_carry_what_they_include() {
        let program = program(Precision::Single, Flags::default(), 5);
        assert_eq!(program.missing(), [""; 0]);
        let without = Program {
            headers: &[],
            ..program
        };
        assert_eq!(without.missing(), ["trotter.cuh"]);
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
                }
            }
        }
    }

    #[test]
    fn steps_beyond_the_registers_are_refused_with_those_there_are() {
        let error = shapes_of(Precision::Single, PLAIN, 11)
            .err()
            .map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(error.contains("at most 10") && error.contains("1, 2, 3, 6"), "{error}");
    }

    #[test]
    fn embedded_steps_need_no_compiler() {
        for (precision, flags, steps, count) in [
            (Precision::Single, PLAIN, 3, 2),
            (Precision::Double, NESTED_FLUX, 4, 2),
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
        for shape in SINGLE.iter().chain(DOUBLE) {
            assert!(
                shape.source.ptx.contains(".entry fused_steps("),
                "{}",
                shape.source.name
            );
            assert!(shape.core() > 0);
        }
        for precision in [Precision::Single, Precision::Double] {
            for entry in super::super::ENTRIES {
                assert!(sweeps(precision).ptx.contains(&format!(".entry {entry}(")), "{entry}");
            }
        }
    }
}

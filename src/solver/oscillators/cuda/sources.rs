//! The kernels in the binary, made by `kernels/build` from `kernels/oscillators_sweeps.cu`, `oscillators_fused.cu`, `oscillators_line.cu`, `oscillators_sums.cu`,
//! `oscillators.cuh` and `oscillators_cells.cuh`, with `real.cuh`, `reduce.cuh`, `sites.cuh` and `sums.cuh`.

use crate::backend::cuda::Source;
use crate::backend::cuda::manifest::{self, Module};
use crate::field::Precision;

/// The kind of medium of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    /// The same everywhere.
    Uniform,
    /// The same everywhere, and momenta are damped.
    Damped,
    /// Coefficients of their own, and perhaps damping.
    Sites,
}

/// Several sub-steps of two dimensions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub source: Source,
    /// Sub-steps of a launch.
    pub steps: usize,
}

/// Columns of a lane of `fused_steps`.
pub(super) const COLUMNS: usize = 4;

impl Shape {
    /// Columns of a strip that its neighbours compute as well, on either side.
    pub(super) fn halo(self) -> usize {
        (2 * self.steps).next_multiple_of(COLUMNS)
    }

    /// Columns that a strip writes.
    pub(super) fn core(self) -> usize {
        32 * COLUMNS - 2 * self.halo()
    }
}

/// Sub-steps that a launch of `line_steps` takes at most, and sites that a warp writes.
pub(super) fn line_shape(precision: Precision) -> (usize, usize) {
    let columns = 64 / precision.bytes();
    (columns, 28 * columns)
}

/// Sweeps, operations on sites, sums, pictures.
pub(super) fn sweeps(precision: Precision) -> Source {
    Source::of(precision, ["oscillators_sweeps_f32", "oscillators_sweeps_f64"])
}

/// Kernels that add up the sums of launches.
pub(super) fn sums(precision: Precision) -> Source {
    Source::of(precision, ["oscillators_sums_f32", "oscillators_sums_f64"])
}

/// One dimension.
pub(super) fn line(precision: Precision, medium: Medium) -> Source {
    let modules = match medium {
        Medium::Uniform => ["oscillators_line_f32", "oscillators_line_f64"],
        Medium::Damped => ["oscillators_line_f32_damped", "oscillators_line_f64_damped"],
        Medium::Sites => ["oscillators_line_f32_medium", "oscillators_line_f64_medium"],
    };
    Source::of(precision, modules)
}

/// What a module of the manifest is for.
fn medium(module: &Module) -> Medium {
    match (module.has("MEDIUM"), module.has("DAMPED")) {
        (true, _) => Medium::Sites,
        (false, true) => Medium::Damped,
        (false, false) => Medium::Uniform,
    }
}

/// Two dimensions, most sub-steps first.
pub(super) fn fused(precision: Precision, wanted: Medium) -> Vec<Shape> {
    let modules = manifest::family("oscillators_fused");
    let mut all: Vec<Shape> = modules
        .filter(|module| module.precision() == precision && medium(module) == wanted)
        .map(|module| Shape {
            source: Source::embedded(&module.name),
            steps: module.number("STEPS") as usize,
        })
        .collect();
    all.sort_by_key(|shape| std::cmp::Reverse(shape.steps));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every module that these kernels are taken from.
    fn asked() -> Vec<Source> {
        let mut all = Vec::new();
        for precision in [Precision::Single, Precision::Double] {
            all.extend([sweeps(precision), sums(precision)]);
            for medium in [Medium::Uniform, Medium::Damped, Medium::Sites] {
                all.push(line(precision, medium));
                all.extend(fused(precision, medium).iter().map(|shape| shape.source));
            }
        }
        all
    }

    #[test]
    fn every_module_is_asked_for() {
        manifest::assert_asked("oscillators", &asked());
    }

    #[test]
    fn shapes_are_as_the_manifest_has_them() {
        for family in ["oscillators_line", "oscillators_fused"] {
            for module in manifest::family(family) {
                let (precision, medium) = (module.precision(), medium(module));
                if family == "oscillators_line" {
                    assert_eq!(line(precision, medium).name, module.name);
                } else {
                    assert_eq!(module.number("COLUMNS") as usize, COLUMNS, "{}", module.name);
                    assert!(
                        fused(precision, medium)
                            .iter()
                            .any(|shape| shape.source.name == module.name)
                    );
                }
            }
        }
    }
}

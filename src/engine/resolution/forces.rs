//! Energies and fluxes of sound beside sources with a direction.
//!
//! Such a source is a force, and holds up a step of the pressure that moves nothing. Detectors of the velocity know it; energies and fluxes read v from ∫p dt on the bonds of the scheme, and count what is held up as motion: the energy
//! of the bonds across the source grows as one over the spacing.

use crate::physics::source::{Pattern, Place};
use crate::physics::{Measure, Region, Source};
use crate::scene::Scenario;

/// Sites beside a force whose bonds reach across it, with the weights of a place between sites.
const REACH: f64 = 5.0;

/// A detector of energy or flux that reads bonds across a force.
pub(super) fn told(scenario: &Scenario) -> Option<String> {
    let grid = scenario.grid();
    let reach = REACH * grid.spacing();
    let meets = |[lo, hi]: [[f64; 3]; 2], region: &Region| {
        let Some([min, max]) = extent(region) else {
            return true;
        };
        (0..grid.rank()).all(|axis| lo[axis] - reach <= max[axis] && min[axis] <= hi[axis] + reach)
    };
    let sums = |measure: Measure| matches!(measure, Measure::Energy | Measure::Flux);
    let forces = (scenario.sources().iter().enumerate()).filter_map(|(n, source)| Some((n, place(source)?)));
    let mut found = forces.flat_map(|(n, place)| {
        let detectors = (scenario.detectors().iter()).filter(|own| sums(own.measure));
        detectors
            .filter(move |own| meets(place, &own.region))
            .map(move |own| (n, own))
    });
    let (source, detector) = found.next()?;
    Some(format!(
        "What detector {:?} tells counts the pressure that the force of source.{source} holds up as motion, the more the finer the grid is: energies and fluxes within {REACH} sites ({} m) of a source with a direction are not those of the sound. \
         Leave that place out of the region or line.",
        detector.name,
        crate::units::four_digits(reach)
    ))
}

/// The box of a source with a direction that rests, lengths.
fn place(source: &Source) -> Option<[[f64; 3]; 2]> {
    if matches!(source.pattern, Pattern::Monopole) || source.velocity != [0.0; 3] {
        return None;
    }
    let around = |points: &mut dyn Iterator<Item = [f64; 3]>| {
        points.fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[lo, hi], at| {
            let both = |axis: usize| [lo[axis].min(at[axis]), hi[axis].max(at[axis])];
            [0, 1].map(|side| [0, 1, 2].map(|axis| both(axis)[side]))
        })
    };
    Some(match &source.place {
        Place::Points(all) => around(&mut all.iter().map(|own| own.at)),
        Place::Line { from, to } => around(&mut [*from, *to].into_iter()),
        Place::Disk { center, radius, normal } => {
            let edge =
                |sign: f64| [0, 1, 2].map(|axis| center[axis] + if axis == *normal { 0.0 } else { sign * radius });
            around(&mut [edge(-1.0), edge(1.0)].into_iter())
        }
    })
}

/// The box of a region, lengths; `None`: everything.
fn extent(region: &Region) -> Option<[[f64; 3]; 2]> {
    match region {
        Region::Everywhere => None,
        Region::Point(at) => Some([*at; 2]),
        Region::Line { from, to } => {
            let ends = |least: fn(f64, f64) -> f64| [0, 1, 2].map(|axis| least(from[axis], to[axis]));
            Some([ends(f64::min), ends(f64::max)])
        }
        Region::Box { min, max } => Some([*min, *max]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::read_scene_text;

    #[test]
    fn detectors_beside_forces_are_named() {
        let said = |pattern: &str, detector: &str| {
            let text = format!(
                "format = 1\n[grid]\nsize = [300]\nspacing = 0.02\nedges = \"absorb\"\n[acoustic]\n[time]\nend = 0.01\n[solver]\nmethod = \"fdtd\"\n\
                 [[source]]\nat = [1.5]\nsignal = \"sine\"\nfrequency = 500.0\npattern = \"{pattern}\"\n[[detector]]\nname = \"own\"\n{detector}\n"
            );
            let (_, scenario) = read_scene_text(&text, None, &[]).unwrap_or_else(|faults| panic!("{faults}"));
            told(&scenario)
        };
        let region = |from: f64| format!("region = {{ min = [{from}], max = [4.0] }}");
        let flux = |at: f64| format!("at = [{at}]\nmeasure = \"flux\"");
        for pattern in ["one-way", "dipole"] {
            for near in [region(1.0), region(1.58), flux(1.42), "measure = \"energy\"".to_owned()] {
                let words = said(pattern, &near).unwrap_or_default();
                assert!(
                    words.contains("detector \"own\"") && words.contains("source.0"),
                    "{near}: {words}"
                );
            }
            for far in [region(1.62), flux(1.3), "at = [1.5]".to_owned()] {
                assert_eq!(said(pattern, &far), None, "{far}");
            }
        }
        assert_eq!(said("monopole", &region(1.0)), None);
    }
}

//! Whether `auto` takes the fastest variant: `ripplon bench --check-auto`.

use super::scenes::{Effort, Stepped, median, plain, scenario};
use super::{Case, scene};
use crate::engine::{EngineError, build};
use crate::field::Precision;
use crate::scene::SceneFile;
use crate::scene::scenario::BackendChoice;
use crate::solver::{self, Backend, METHODS, SolverError};
use std::path::Path;

/// The ratio by which another variant may be faster: the scatter of a pair of measurements.
pub const ALLOWED: f64 = 1.05;

/// A row of `ripplon bench --check-auto`; the fields are the keys of `--json`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct AutoEntry {
    /// The scene or shape.
    pub what: String,
    /// The method's id.
    pub method: &'static str,
    /// In which precision.
    pub precision: &'static str,
    /// Sites along x, y, z.
    pub size: Vec<usize>,
    /// The variant that `auto` took.
    pub auto: Taken,
    /// Site-steps per second of that.
    pub site_steps_per_s: f64,
    /// The others, each measured alternately with `auto`.
    pub others: Vec<Other>,
}

/// A back end and a variant of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Taken {
    /// Where it ran.
    pub backend: &'static str,
    /// The variant's id.
    pub variant: &'static str,
}

/// A variant measured alternately with `auto`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Other {
    /// Which.
    #[serde(flatten)]
    pub taken: Taken,
    /// Its rate over that of `auto`, median over the rounds.
    pub ratio: f64,
}

impl AutoEntry {
    /// The fastest of those that are more than [`ALLOWED`] times as fast as what `auto` took.
    pub fn faster(&self) -> Option<&Other> {
        let faster = self.others.iter().filter(|other| other.ratio > ALLOWED);
        faster.max_by(|a, b| a.ratio.total_cmp(&b.ratio))
    }
}

/// Shapes that are tried: sites along each axis.
pub fn shapes(quick: bool) -> Vec<Vec<usize>> {
    let (planes, boxes): (&[usize], &[usize]) = if quick {
        (&[256, 512, 1024], &[64, 128])
    } else {
        (&[64, 128, 256, 512, 1024, 2048, 4096], &[64, 96, 128, 160, 200, 256])
    };
    let lines = if quick {
        vec![1 << 14]
    } else {
        vec![1 << 12, 1 << 16, 1 << 20]
    };
    let lines = lines.into_iter().map(|sites| vec![sites]);
    let planes = planes.iter().map(|&side| vec![side, side]);
    lines
        .chain(planes)
        .chain(boxes.iter().map(|&side| vec![side; 3]))
        .collect()
}

/// Every case that [`shapes`] are tried with: a method and a precision, variant and back end left to `auto`.
pub fn cases() -> Vec<Case> {
    let precisions = [Precision::Single, Precision::Double];
    let all = METHODS.iter().flat_map(|method| {
        precisions.map(|precision| Case {
            method,
            backend: Backend::Cpu,
            variant: "auto",
            precision,
            order: 2,
        })
    });
    all.filter(|case| {
        let mut targets = case.method.present_targets();
        targets.any(|target| target.precisions.contains(&case.precision))
    })
    .collect()
}

/// The scene of a case on a grid of `size`; `None` if the method does not take it.
pub fn shape(case: &Case, size: &[usize]) -> Option<SceneFile> {
    if !case.method.ranks.contains(&size.len()) {
        return None;
    }
    let (mut file, _) = solver::read_scene_text(&scene(case, size, ""), None, &[]).ok()?;
    file.solver.backend = BackendChoice::Auto;
    Some(file)
}

/// Measures every variant that can run a scene, alternately with the one that `auto` takes, on the available back ends.
///
/// # Errors
/// What prevents the scene from running. A variant that refuses the scene is left out.
pub fn check(what: &str, file: &SceneFile, origin: Option<&Path>, effort: Effort) -> Result<AutoEntry, EngineError> {
    let asked = scenario(file, origin)?;
    let method = build::method(&asked)?;
    let mut file = plain(file, method.time_step(&asked));
    "auto".clone_into(&mut file.solver.variant);
    let mut auto = Stepped::new(scenario(&file, origin)?, effort.seconds)?;
    let report = auto.engine.report();
    let taken = Taken {
        backend: report.backend.as_str(),
        variant: report.variant,
    };
    let (mut others, mut rates) = (Vec::new(), Vec::new());
    for target in method.present_targets() {
        if !asked_for(file.solver.backend, target.backend) || !target.precisions.contains(&file.solver.precision) {
            continue;
        }
        for variant in target.variants {
            let other = Taken {
                backend: target.backend.as_str(),
                variant: variant.id,
            };
            if other == taken {
                continue;
            }
            let mut named = file.clone();
            named.solver.backend = target.backend.into();
            variant.id.clone_into(&mut named.solver.variant);
            let stepped = scenario(&named, origin).and_then(|scenario| Stepped::new(scenario, effort.seconds));
            let mut stepped = match stepped {
                Ok(stepped) => stepped,
                // Not every variant takes every scene.
                Err(EngineError::Solver(SolverError::Unsupported(_))) => continue,
                Err(error) => return Err(error),
            };
            // A scene that a variant leaves to another one says nothing about it.
            let report = stepped.engine.report();
            if (report.backend, report.variant) != (target.backend, variant.id) {
                continue;
            }
            let ratio = against(&mut auto, &mut stepped, effort.rounds, &mut rates)?;
            others.push(Other { taken: other, ratio });
        }
    }
    if rates.is_empty() {
        rates.push(auto.rate()?);
    }
    Ok(AutoEntry {
        what: what.to_owned(),
        method: report.method,
        precision: report.precision.as_str(),
        size: file.grid.size.clone(),
        auto: taken,
        site_steps_per_s: median(&mut rates),
        others,
    })
}

/// The second's rate over the first's; `rates` gets those of the first. A variant that is far slower is measured once only.
fn against(auto: &mut Stepped, other: &mut Stepped, rounds: usize, rates: &mut Vec<f64>) -> Result<f64, EngineError> {
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        let rate = auto.rate()?;
        rates.push(rate);
        let ratio = other.rate()? / rate;
        ratios.push(ratio);
        if ratios.len() >= 2 && ratios.iter().all(|ratio| *ratio < 0.8) {
            break;
        }
    }
    Ok(median(&mut ratios))
}

fn asked_for(choice: BackendChoice, backend: Backend) -> bool {
    choice.named().is_none_or(|named| named == backend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_shapes_in_each_of_its_dimensions() {
        for rank in 1..=3 {
            assert!(shapes(true).iter().any(|size| size.len() == rank));
            assert!(shapes(false).iter().any(|size| size.len() == rank));
        }
        for case in cases() {
            for size in [vec![64], vec![16, 16], vec![8, 8, 8]] {
                let fits = shape(&case, &size).is_some();
                assert_eq!(
                    fits,
                    case.method.ranks.contains(&size.len()),
                    "{} {size:?}",
                    case.method.id
                );
            }
        }
    }

    #[test]
    fn the_faster_one_is_named() {
        let other = |variant, ratio| Other {
            taken: Taken {
                backend: "cpu",
                variant,
            },
            ratio,
        };
        let mut entry = AutoEntry {
            what: "64x64".to_owned(),
            method: "trotter",
            precision: "single",
            size: vec![64, 64],
            auto: Taken {
                backend: "cpu",
                variant: "vector",
            },
            site_steps_per_s: 1e9,
            others: vec![other("naive", 0.2), other("blocked", 1.04)],
        };
        assert_eq!(entry.faster(), None);
        entry.others.push(other("fused", 1.3));
        entry.others.push(other("full-step", 1.2));
        assert_eq!(entry.faster().map(|other| other.taken.variant), Some("fused"));
    }

    #[test]
    fn each_variant_is_measured_beside_auto() {
        let effort = Effort {
            seconds: 1e-4,
            rounds: 1,
            run: false,
        };
        let case = cases().into_iter().find(|case| case.method.id == "trotter").unwrap();
        let mut file = shape(&case, &[24, 16]).unwrap();
        file.solver.backend = BackendChoice::Cpu;
        let entry = check("24x16", &file, None, effort).unwrap();
        let mut variants: Vec<&str> = entry.others.iter().map(|other| other.taken.variant).collect();
        variants.push(entry.auto.variant);
        variants.sort_unstable();
        assert_eq!(variants, ["blocked", "naive", "vector"]);
        assert!(
            entry
                .others
                .iter()
                .all(|other| other.ratio.is_finite() && other.ratio > 0.0)
        );
    }
}

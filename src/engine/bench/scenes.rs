//! A scene as it is written compared with its bare grid, and what each of its parts costs: `ripplon bench --scenes`.
//!
//! The bare grid has the same sites, method, precision, order and Δt, and nothing in it but the initial state. Rates of
//! two scenes are compared in pairs: each round steps one, then the other, and the ratio is the median over the rounds,
//! so that other work on the machine affects both.

use super::super::{Engine, EngineError};
use super::run_rate;
use crate::engine::build;
use crate::grid::Edge;
use crate::physics::Sets;
use crate::platform::Instant;
use crate::scene::file::{EdgesFile, GridFile, PulseFile};
use crate::scene::{Scenario, SceneFile};
use crate::solver::{self, SolverError};
use crate::words::worded;
use std::path::Path;
use std::sync::Arc;

worded! {
    /// Something that a scene has in addition to its grid.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Part {
        /// Absorbing edges; without them these edges are walls.
        Edges = "edges",
        /// Layers of walls.
        Walls = "walls",
        /// Layers of potential, speed, density and absorption.
        Medium = "medium",
        /// What depends on time in a layer; without it the layer stays as it is at `drive` = 1.
        Driven = "driven",
        /// The magnetic flux.
        Flux = "flux",
        /// The nonlinear term.
        Interaction = "interaction",
        /// Detectors.
        Detectors = "detectors",
        /// Sources; a pulse in the middle of the grid stands for them where there is no other sound.
        Sources = "sources",
        /// The transducers of a mirror, recording.
        Mirror = "mirror",
    }
}

impl Part {
    /// Whether a scene has it.
    #[must_use]
    pub fn is_in(self, file: &SceneFile) -> bool {
        let mut without = file.clone();
        self.remove(&mut without);
        without != *file
    }

    /// Removes it from a scene.
    pub fn remove(self, file: &mut SceneFile) {
        match self {
            Self::Edges => {
                let open = |edge: &mut Edge| {
                    if *edge == Edge::Absorb {
                        *edge = Edge::Wall;
                    }
                };
                match &mut file.grid.edges {
                    EdgesFile::All(edge) => open(edge),
                    EdgesFile::PerAxis(edges) => edges.iter_mut().for_each(open),
                }
            }
            Self::Walls => file.layers.retain(|layer| layer.sets != Sets::Wall),
            Self::Medium => file
                .layers
                .retain(|layer| layer.sets == Sets::Wall || layer.drive.is_some()),
            Self::Driven => file.layers.iter_mut().for_each(|layer| layer.drive = None),
            Self::Flux => {
                if let Some(quantum) = &mut file.quantum {
                    quantum.flux = 0.0;
                }
            }
            Self::Interaction => {
                if let Some(quantum) = &mut file.quantum {
                    quantum.interaction = 0.0;
                }
            }
            Self::Detectors => file.detectors.clear(),
            Self::Sources => {
                // A scene without any sound is refused.
                if !file.sources.is_empty() && file.pulses.is_empty() && file.initial.is_none() {
                    file.pulses.push(pulse(&file.grid));
                }
                file.sources.clear();
            }
            Self::Mirror => file.mirror = None,
        }
    }
}

/// A pulse in the middle of a grid.
#[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
fn pulse(grid: &GridFile) -> PulseFile {
    let middle = |sites: &usize| (*sites / 2) as f64 * grid.spacing;
    PulseFile {
        center: grid.size.iter().map(middle).collect(),
        width: 4.0 * grid.spacing,
        amplitude: 1.0,
    }
}

/// The scene with Δt as a number and without predictions, which are measured between the steps.
pub fn plain(file: &SceneFile, time_step: f64) -> SceneFile {
    let mut file = file.clone();
    file.expectations.clear();
    file.theories.clear();
    file.notes.clear();
    // They are followed between the steps as well.
    file.trajectories.clear();
    // They measure what a part may take away.
    (file.sweep, file.room) = (None, None);
    file.time.step = Some(time_step);
    file
}

/// The scene without everything that [`Part`] names.
pub fn bare(file: &SceneFile) -> SceneFile {
    let mut file = file.clone();
    // What is driven is static first, and then a medium.
    for part in [Part::Driven].into_iter().chain(Part::values()) {
        part.remove(&mut file);
    }
    file
}

/// The scene on a grid of `scale` times as many sites along each axis.
///
/// The spacing becomes a/`scale`, so that everything given as a length or as a formula of lengths stays where it is and
/// keeps its share of the sites. Δt is scaled with the spacing for sound and with its square for quantum waves (the
/// hopping grows as much, the flux of a plaquette falls as much), so that a step is as far from the limits of stability
/// and accuracy as before. The width of absorbing edges, which is counted in sites, stays: the width of a layer depends
/// on its reflection, not on the grid.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
pub fn enlarged(file: &SceneFile, scale: usize) -> SceneFile {
    let mut file = file.clone();
    let factor = scale as f64;
    for sites in &mut file.grid.size {
        *sites *= scale;
    }
    file.grid.spacing /= factor;
    let shorter = if file.acoustic.is_some() {
        factor
    } else {
        factor * factor
    };
    if let Some(quantum) = &mut file.quantum {
        quantum.hopping = quantum.hopping.map(|hopping| hopping * shorter);
        quantum.flux /= shorter;
    }
    file.time.step = file.time.step.map(|step| step / shorter);
    file
}

/// A scene that steps, always from the same state.
pub(super) struct Stepped {
    pub engine: Engine,
    /// Steps of a sample.
    pub steps: u64,
    /// Sites of its grid.
    sites: f64,
}

/// The scenario of a scene file.
///
/// # Errors
/// Everything that is wrong with it, as text.
pub(super) fn scenario(file: &SceneFile, origin: Option<&Path>) -> Result<Arc<Scenario>, EngineError> {
    let scenario = solver::validate_scene(file, origin);
    let scenario = scenario.map_err(|faults| SolverError::Unsupported(faults.render(false).trim_end().to_owned()))?;
    Ok(Arc::new(scenario))
}

impl Stepped {
    /// At t = 0, with samples of about `seconds`.
    #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
    pub(super) fn new(scenario: Arc<Scenario>, seconds: f64) -> Result<Self, EngineError> {
        let sites = scenario.grid().sites() as f64;
        let mut engine = Engine::new(scenario)?;
        engine.snapshot()?;
        let mut stepped = Self {
            engine,
            steps: 1,
            sites,
        };
        stepped.fit(seconds)?;
        Ok(stepped)
    }

    /// Doubles the steps of a sample until it takes long enough; a sample ends at the reversal of a mirror.
    fn fit(&mut self, seconds: f64) -> Result<(), EngineError> {
        let batch = self.engine.report().batch.max(1);
        let most = self.engine.mirror().map_or(u64::MAX, |mirror| mirror.turn);
        self.steps = batch.min(most);
        loop {
            let took = self.sample()?;
            if took >= 0.7 * seconds || self.steps >= most {
                return Ok(());
            }
            // The first sample warms up; none grows more than eightfold from one sample to the next.
            let more = (seconds / took.max(1e-9)).clamp(2.0, 8.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 2 and 8")]
            let more = more as u64;
            self.steps = self.steps.saturating_mul(more).min(most);
        }
    }

    /// The same scene on its way back: what the mirror recorded in the steps of a sample is played. `None` if it has no mirror.
    pub(super) fn way_back(&mut self) -> Result<bool, EngineError> {
        if self.engine.mirror().is_none() {
            return Ok(false);
        }
        self.engine.restore()?;
        self.engine.advance(self.steps)?;
        if self.engine.mirror().is_some_and(|mirror| !mirror.turned) {
            self.engine.turn_now()?;
        }
        self.engine.snapshot()?;
        Ok(true)
    }

    /// Seconds of a sample.
    fn sample(&mut self) -> Result<f64, EngineError> {
        self.engine.restore()?;
        let start = Instant::now();
        self.engine.advance(self.steps)?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Site-steps per second of about so many, taken as `ripplon run` takes them; a mirror is not turned.
    fn run(&mut self, site_steps: f64) -> Result<f64, EngineError> {
        let most = self.engine.mirror().map_or(u64::MAX, |mirror| mirror.turn);
        self.engine.restore()?;
        run_rate(&mut self.engine, site_steps, most)
    }

    /// Site-steps per second of a sample.
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    pub(super) fn rate(&mut self) -> Result<f64, EngineError> {
        let seconds = self.sample()?;
        Ok(self.steps as f64 * self.sites / seconds.max(1e-9))
    }
}

/// The median; NaN of nothing.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Two rates that were measured alternately.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    /// Median rate of the first.
    pub first: f64,
    /// Median rate of the second.
    pub second: f64,
    /// Median over the rounds of the second over the first.
    pub ratio: f64,
}

/// Measures two scenes alternately.
pub(super) fn paired(first: &mut Stepped, second: &mut Stepped, rounds: usize) -> Result<Pair, EngineError> {
    let (mut firsts, mut seconds, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (one, other) = (first.rate()?, second.rate()?);
        firsts.push(one);
        seconds.push(other);
        ratios.push(other / one);
    }
    Ok(Pair {
        first: median(&mut firsts),
        second: median(&mut seconds),
        ratio: median(&mut ratios),
    })
}

/// A row of `ripplon bench --scenes`; the fields are the keys of `--json`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SceneEntry {
    /// The preset's name or the file.
    pub scene: String,
    /// The method's id.
    pub method: &'static str,
    /// Where it ran.
    pub backend: &'static str,
    /// In which precision.
    pub precision: &'static str,
    /// The order in Δt.
    pub order: u32,
    /// Sites along x, y, z.
    pub size: Vec<usize>,
    /// Threads at work.
    pub threads: usize,
    /// Δt of all that is compared.
    pub time_step: f64,
    /// The variant that steps the scene.
    pub variant: &'static str,
    /// Site-steps per second as written.
    pub site_steps_per_s: f64,
    /// Site-steps per second of `ripplon run` from its first step on, if that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_site_steps_per_s: Option<f64>,
    /// The variant that steps the bare grid.
    pub bare_variant: &'static str,
    /// Site-steps per second of the bare grid.
    pub bare_site_steps_per_s: f64,
    /// How many times as long a step of the scene takes as one of its bare grid.
    pub ratio: f64,
    /// What each part costs.
    pub parts: Vec<PartEntry>,
    /// How many times as long a step takes on a mirror's way back as one of the bare grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub way_back_ratio: Option<f64>,
}

/// What a part costs.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PartEntry {
    /// The part.
    pub part: Part,
    /// The time per step with it over that without it, with everything else present.
    pub ratio: f64,
}

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Seconds of a sample.
    pub seconds: f64,
    /// Rounds of a pair.
    pub rounds: usize,
    /// Whether steps are also taken as `ripplon run` does.
    pub run: bool,
}

/// Measures a scene and its bare grid, and the scene without each of its parts.
///
/// # Errors
/// What prevents the scene or its bare grid from running. A part without which the scene does not run is left out.
#[expect(clippy::cast_precision_loss, reason = "a number of rounds")]
pub fn measure(name: &str, file: &SceneFile, origin: Option<&Path>, effort: Effort) -> Result<SceneEntry, EngineError> {
    let Effort { seconds, rounds, run } = effort;
    let asked = scenario(file, origin)?;
    let time_step = build::method(&asked)?.time_step(&asked);
    let file = plain(file, time_step);
    let mut written = Stepped::new(scenario(&file, origin)?, seconds)?;
    let mut empty = Stepped::new(scenario(&bare(&file), origin)?, seconds)?;
    let whole = paired(&mut written, &mut empty, rounds)?;
    let there: Vec<Part> = Part::values().filter(|part| part.is_in(&file)).collect();
    let mut parts = Vec::new();
    for &part in &there {
        let mut without = file.clone();
        part.remove(&mut without);
        let ratio = if without == bare(&file) {
            Some(whole.ratio)
        } else {
            let other = scenario(&without, origin).and_then(|scenario| Stepped::new(scenario, seconds));
            match other {
                Ok(mut other) => Some(paired(&mut written, &mut other, rounds)?.ratio),
                Err(error) => {
                    tracing::warn!("{name} without {}: {error}", part.as_str());
                    None
                }
            }
        };
        parts.extend(ratio.map(|ratio| PartEntry { part, ratio }));
    }
    let run_site_steps_per_s = if run {
        Some(written.run(seconds * rounds as f64 * whole.first)?)
    } else {
        None
    };
    let report = written.engine.report();
    let way_back_ratio = if written.way_back()? {
        Some(paired(&mut written, &mut empty, rounds)?.ratio)
    } else {
        None
    };
    Ok(SceneEntry {
        scene: name.to_owned(),
        method: report.method,
        backend: report.backend.as_str(),
        precision: report.precision.as_str(),
        order: report.order,
        size: file.grid.size.clone(),
        threads: report.threads,
        time_step,
        variant: report.variant,
        site_steps_per_s: whole.first,
        run_site_steps_per_s,
        bare_variant: empty.engine.report().variant,
        bare_site_steps_per_s: whole.second,
        ratio: whole.ratio,
        parts,
        way_back_ratio,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::presets;

    fn read(name: &str) -> SceneFile {
        solver::read_scene(name, &[]).unwrap().0
    }

    #[test]
    fn every_preset_has_a_bare_grid_and_runs_without_each_part() {
        for preset in presets::all() {
            let file = read(preset.name);
            let asked = scenario(&file, None).unwrap();
            let time_step = build::method(&asked).unwrap().time_step(&asked);
            let file = plain(&file, time_step);
            let bare = bare(&file);
            for part in Part::values() {
                assert!(!part.is_in(&bare), "{} keeps {}", preset.name, part.as_str());
                let mut without = file.clone();
                part.remove(&mut without);
                assert!(!part.is_in(&without));
                assert_eq!(part.is_in(&file), without != file);
                scenario(&without, None)
                    .unwrap_or_else(|error| panic!("{} without {}: {error}", preset.name, part.as_str()));
            }
            let empty = scenario(&bare, None).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            assert_eq!(empty.grid().size(), asked.grid().size());
            assert_eq!(empty.solver().method, asked.solver().method);
            assert_eq!(empty.solver().precision, asked.solver().precision);
            assert_eq!(empty.solver().parameters, asked.solver().parameters);
            assert_eq!(build::method(&empty).unwrap().time_step(&empty), time_step);
            assert!(empty.detectors().is_empty() && empty.mirror().is_none());
        }
    }

    #[test]
    fn a_part_takes_nothing_else_with_it() {
        let file = read("laser-atom");
        let parts: Vec<Part> = Part::values().filter(|part| part.is_in(&file)).collect();
        assert_eq!(parts, [Part::Edges, Part::Medium, Part::Driven, Part::Detectors]);
        let mut still = file.clone();
        Part::Driven.remove(&mut still);
        assert_eq!(still.layers.len(), file.layers.len());
        let mut without = file.clone();
        Part::Medium.remove(&mut without);
        assert_eq!(without.layers, file.layers[1..]);
        assert_eq!(without.detectors, file.detectors);
        assert_eq!(without.grid, file.grid);
        let forest: Vec<Part> = Part::values()
            .filter(|part| part.is_in(&read("through-the-forest")))
            .collect();
        assert!(forest.contains(&Part::Mirror) && forest.contains(&Part::Sources));
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "small numbers of sites")]
    fn a_larger_grid_keeps_lengths_and_the_share_of_a_step() {
        for name in ["pond", "coherent-state", "cyclotron", "tube"] {
            let file = read(name);
            let large = enlarged(&file, 2);
            let (one, two) = (scenario(&file, None).unwrap(), scenario(&large, None).unwrap());
            for axis in 0..one.grid().rank() {
                assert_eq!(two.grid().size()[axis], 2 * one.grid().size()[axis]);
            }
            let length = |scenario: &Scenario| scenario.grid().size()[0] as f64 * scenario.grid().spacing();
            // The spacing is halved, which is exact.
            assert_eq!(length(&one), length(&two));
            assert_eq!(one.grid().absorb_width(), two.grid().absorb_width());
            // Δt over the method's own advice, which follows from spacing, speed and hopping: within rounding, and for quantum waves where the potential, which does
            // not grow with the hopping, has little part in it.
            let share = |scenario: &Scenario| {
                let method = build::method(scenario).unwrap();
                method.time_step(scenario) / (method.step_advice)(scenario).auto
            };
            let ratio = share(&two) / share(&one);
            assert!((ratio - 1.0).abs() < 0.2, "{name}: {ratio}");
        }
    }

    #[test]
    fn a_scene_is_measured_with_each_part_that_it_has() {
        let effort = Effort {
            seconds: 1e-4,
            rounds: 1,
            run: true,
        };
        let mut file = read("ring-mirror");
        file.grid.absorb_width = Some(8);
        let entry = measure("ring-mirror", &file, None, effort).unwrap();
        let parts: Vec<Part> = entry.parts.iter().map(|entry| entry.part).collect();
        assert_eq!(parts, [Part::Edges, Part::Sources, Part::Mirror]);
        for ratio in entry.parts.iter().map(|entry| entry.ratio).chain(entry.way_back_ratio) {
            assert!(ratio.is_finite() && ratio > 0.0);
        }
        assert!(entry.way_back_ratio.is_some());
        assert!(
            entry
                .run_site_steps_per_s
                .is_some_and(|rate| rate.is_finite() && rate > 0.0)
        );
        assert_eq!(entry.size, [260, 260]);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert!(median(&mut []).is_nan());
    }
}

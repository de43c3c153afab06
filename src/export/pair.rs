//! Two runs of one scene in one picture: side by side, or the second minus the first.

use super::film::Shot;
use super::look::{Look, LookError};
use super::paint::Painter;
use super::picture::{Picture, Rect};
use super::progress::Progress;
use crate::colormap::{self, Kind};
use crate::engine::{Engine, EngineError, difference, ends};
use crate::scene::Scenario;
use crate::scene::scenario::{Claims, ColorRange, Quantity, ViewMode};
use crate::solver::{self, FieldImage};
use std::sync::Arc;

/// How two runs are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Both, side by side or one above the other.
    #[default]
    Beside,
    /// The second minus the first.
    Difference,
}

/// Pixels between two pictures.
const GAP: usize = 4;

/// A difference below this fraction of the field is shown as 0.
const ROUNDING: f32 = 1e-6;

/// Makes pictures of two runs. The second one has its own engine, which follows the first: each is at the step nearest
/// to a picture's time. For a difference both are at the same time.
pub struct Pair {
    first: Painter,
    second: Painter,
    other: Engine,
    show: Show,
    /// Whether the second stands to the right of the first rather than below it.
    is_beside: bool,
    picture: Picture,
    image: FieldImage,
}

impl Pair {
    /// A painter for `scenario`, whose time step is `time_step`, and another run of the same field.
    ///
    /// # Errors
    /// If a look does not fit, the runs are not of one field, or the second one cannot be made.
    pub fn new(
        scenario: &Arc<Scenario>,
        other: Arc<Scenario>,
        look: &Look,
        time_step: f64,
        show: Show,
    ) -> Result<Self, PairError> {
        let is_same = other.grid() == scenario.grid() && other.model().equation() == scenario.model().equation();
        if !is_same {
            return Err(PairError::Fields);
        }
        let mut engine = Engine::new(Arc::clone(&other))?;
        if show == Show::Difference {
            let own = engine.clock().time_step;
            let step = whole_part(time_step, own);
            let meets = (step - own).abs() <= 1e-9 * own;
            if !meets && other.time().step.is_some() {
                return Err(PairError::Steps {
                    first: time_step,
                    second: own,
                    step,
                });
            }
            let other = if meets { other } else { stepped(&other, step)? };
            if !meets {
                engine = Engine::new(Arc::clone(&other))?;
            }
            let first = Painter::new(Arc::clone(scenario), look, time_step)?;
            let second = of_difference(&first, other, look, time_step)?;
            return Ok(Self {
                picture: first.picture().clone(),
                first,
                second,
                other: engine,
                show,
                is_beside: false,
                image: FieldImage::default(),
            });
        }
        let (is_beside, half) = halves(scenario, look, time_step)?;
        let first = Painter::new(Arc::clone(scenario), &half, time_step)?;
        let second = Painter::new(other, &half, engine.clock().time_step)?;
        let [width, height] = match (look.size, first.size()) {
            (Some(size), _) => size,
            (None, [width, height]) if is_beside => [2 * width + GAP, height],
            (None, [width, height]) => [width, 2 * height + GAP],
        };
        Ok(Self {
            picture: Picture::filled(width, height, first.theme.line),
            first,
            second,
            other: engine,
            show,
            is_beside,
            image: FieldImage::default(),
        })
    }

    /// As [`Painter::with_claims`], for the first and the second run.
    #[must_use]
    pub fn with_claims(mut self, [first, second]: [Claims; 2]) -> Self {
        self.first.claims = first;
        self.second.claims = second;
        self
    }

    /// Puts both pictures where they belong, in a picture of the same size as before.
    fn join(&mut self) {
        let [width, height] = [self.picture.width, self.picture.height];
        self.picture = Picture::filled(width, height, self.first.theme.line);
        lay(&mut self.picture, self.first.picture(), [0, 0]);
        let [across, down] = self.second.size();
        let corner = if self.is_beside {
            [width - across, 0]
        } else {
            [0, height - down]
        };
        lay(&mut self.picture, self.second.picture(), corner);
    }

    fn shoot_both(&mut self, engine: &mut Engine, seconds: f32) -> Result<(), EngineError> {
        self.first.shoot(engine, seconds)?;
        // One range for both.
        self.second.keeper = self.first.keeper.clone();
        if self.first.look.range == ColorRange::Auto {
            self.second.keeper.set_mode(ColorRange::Locked);
        }
        self.second.shoot(&mut self.other, seconds)?;
        self.join();
        Ok(())
    }

    fn shoot_difference(&mut self, engine: &mut Engine, seconds: f32) -> Result<(), EngineError> {
        let request = self.first.request().clone();
        let mut other = FieldImage::default();
        engine.image(&request, &mut self.image)?;
        self.other.image(&request, &mut other)?;
        // Both were asked for the same.
        if let Some(mut apart) = difference(&self.image, &other) {
            let most = |image: &FieldImage| image.value.iter().fold(0.0f32, |most, value| most.max(value.abs()));
            // Rounding would be all that is seen: pictures have single precision.
            if most(&apart) < ROUNDING * most(&self.image) {
                apart.value.fill(0.0);
            }
            self.second.paint(&apart, &engine.clock(), seconds);
        }
        self.picture.clone_from(self.second.picture());
        Ok(())
    }
}

/// The largest whole part of a step that is no longer than another one.
fn whole_part(step: f64, most: f64) -> f64 {
    step / (step / most * (1.0 - 1e-9)).ceil().max(1.0)
}

/// The same run with steps of this length.
fn stepped(scenario: &Scenario, step: f64) -> Result<Arc<Scenario>, PairError> {
    let settings = [format!("time.step={step:?}")];
    let read = solver::read_scene_text(&scenario.file().to_toml(), scenario.origin(), &settings);
    let (_, other) = read.map_err(|faults| PairError::Scene(faults.to_string()))?;
    Ok(Arc::new(other.titled(scenario.title().to_owned())))
}

/// Why two runs cannot be shown together.
#[derive(Debug, thiserror::Error)]
pub enum PairError {
    /// They have other sites or another equation.
    #[error(
        "the two runs must be of one field: leave grid and equation as they are, and change solver, time or medium"
    )]
    Fields,
    /// There are times at which only one of them has a step.
    #[error(
        "the difference of two runs is that at one time, and Δt = {second:?} of the second is not a whole part of Δt = {first:?} of the first; choose time.step = {step:?} for the second, or \"auto\""
    )]
    Steps {
        /// Of the first run.
        first: f64,
        /// Of the second run.
        second: f64,
        /// What the second may have.
        step: f64,
    },
    /// The second run has faults with the step that it needs.
    #[error("{0}")]
    Scene(String),
    /// A volume has no difference.
    #[error("the difference of two runs is shown as a line, a plane or a relief; choose --view plane")]
    Volume,
    /// It cannot be shown so.
    #[error(transparent)]
    Look(#[from] LookError),
    /// The second run cannot be made.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Whether two pictures fit better beside than above each other, and the look of one of them.
fn halves(scenario: &Arc<Scenario>, look: &Look, time_step: f64) -> Result<(bool, Look), LookError> {
    let is_line = scenario.grid().rank() == 1;
    let Some([width, height]) = look.size else {
        let [nx, ny, _] = scenario.grid().size();
        return Ok((!is_line && nx < 2 * ny, look.clone()));
    };
    let with = |size: [usize; 2]| Look {
        size: Some(size),
        ..look.clone()
    };
    let beside = with([width.saturating_sub(GAP) / 2, height]);
    let above = with([width, height.saturating_sub(GAP) / 2]);
    let room = |look: &Look| {
        Painter::new(Arc::clone(scenario), look, time_step).map(|painter| {
            let Rect { width, height, .. } = painter.field();
            width * height
        })
    };
    match (room(&beside), room(&above)) {
        (Ok(wide), Ok(high)) if is_line || high >= wide => Ok((false, above)),
        (Ok(_), _) => Ok((true, beside)),
        (Err(_), Ok(_)) => Ok((false, above)),
        (Err(error), Err(_)) => Err(error),
    }
}

/// The painter of the difference, with a diverging map; of phases, whose difference is shown by its size, a sequential one.
fn of_difference(first: &Painter, other: Arc<Scenario>, look: &Look, time_step: f64) -> Result<Painter, PairError> {
    if first.space.is_some() {
        return Err(PairError::Volume);
    }
    let phases = first.request.quantity == Quantity::Phase;
    let kind = if phases { Kind::Sequential } else { Kind::Diverging };
    let look = Look {
        colormap: "auto".to_owned(),
        range: ColorRange::Auto,
        difference: true,
        mode: if first.relief {
            ViewMode::Relief
        } else {
            ViewMode::Plane
        },
        ..look.clone()
    };
    let mut painter = Painter::new(other, &look, time_step)?;
    painter.request = first.request.clone();
    painter.map = colormap::auto(kind);
    Ok(painter)
}

/// Copies a picture into another one.
fn lay(onto: &mut Picture, picture: &Picture, [left, top]: [usize; 2]) {
    let across = (onto.width - left).min(picture.width);
    for y in 0..picture.height.min(onto.height - top) {
        let from = 3 * picture.width * y;
        let to = 3 * (left + onto.width * (top + y));
        onto.rgb[to..to + 3 * across].copy_from_slice(&picture.rgb[from..from + 3 * across]);
    }
}

impl Shot for Pair {
    fn size(&self) -> [usize; 2] {
        [self.picture.width, self.picture.height]
    }

    fn picture(&self) -> &Picture {
        &self.picture
    }

    fn watch(&mut self, progress: &Progress) {
        self.first.watch(progress);
        self.second.watch(progress);
        let own = progress.clone();
        self.other.set_watch(Box::new(move |_, _| ends(own.is_cancelled())));
    }

    fn title_card(&mut self, engine: &Engine) {
        self.second.title_card(&self.other);
        if self.show == Show::Beside {
            self.first.title_card(engine);
        }
        self.join_cards();
    }

    fn end_card(&mut self, engine: &Engine) {
        self.second.end_card(&self.other);
        if self.show == Show::Beside {
            self.first.end_card(engine);
        }
        self.join_cards();
    }

    fn shoot(&mut self, engine: &mut Engine, seconds: f32) -> Result<(), EngineError> {
        let progress = self.first.progress.clone();
        self.other
            .run_until(engine.clock().time, &mut |_, _| ends(progress.is_cancelled()))?;
        match self.show {
            Show::Beside => self.shoot_both(engine, seconds),
            Show::Difference => self.shoot_difference(engine, seconds),
        }
    }
}

impl Pair {
    /// Each card where the pictures of its run stand; of a difference that of the second run, whose title says what differs.
    fn join_cards(&mut self) {
        match self.show {
            Show::Beside => self.join(),
            Show::Difference => self.picture.clone_from(self.second.picture()),
        }
    }
}

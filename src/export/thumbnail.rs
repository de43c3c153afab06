//! The small picture of a scene that a gallery shows.
//!
//! It is drawn from the scene alone, on the processor, at a time that the scene names: the same scene has the same picture wherever it is drawn,
//! but for the last bits in which kinds of processors differ.

use super::picture::{Picture, Rect};
use super::{Look, LookError, Painter};
use crate::engine::{Engine, EngineError, ends, hues_have_room};
use crate::scene::scenario::{BackendChoice, ColorRange, Quantity};
use crate::scene::{Faults, Scenario, SceneFile};
use crate::solver::{self, Backend};
use image::imageops::{self, FilterType};
use std::path::Path;
use std::sync::Arc;

/// Pixels of a picture in the gallery.
pub const SIZE: [usize; 2] = [200, 112];

/// The number of colours in its file: more cannot be distinguished at this size.
pub const COLORS: usize = 64;

/// It is drawn this many times as large, then averaged, so that lines and edges are smooth.
const FINE: usize = 2;

/// A graph is drawn at this size, and then shown without its axes.
const GRAPH: [usize; 2] = [520, 300];

/// Steps to the picture of a scene that has no end.
const STEPS: f64 = 100.0;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum ThumbnailError {
    /// The scene has faults, or cannot run on the processor.
    #[error(transparent)]
    Scene(#[from] Faults),
    /// The run failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The scene cannot be shown.
    #[error(transparent)]
    Look(#[from] LookError),
}

/// Draws the picture of a scene; `origin` is its file. Where `most` is given, the run ends after so many steps times sites, at an earlier time.
/// `goes_on` is called about twenty times per second; `None` once it returns `false`.
///
/// # Errors
/// If the scene has faults, cannot run on the processor, or fails.
pub fn thumbnail(
    file: &SceneFile,
    origin: Option<&Path>,
    most: Option<f64>,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Picture>, ThumbnailError> {
    let scenario = Arc::new(solver::validate_scene(&on_processor(file), origin)?);
    let mut engine = Engine::new(Arc::clone(&scenario))?;
    let time_step = engine.clock().time_step;
    let mut times = times_shown(&scenario, time_step);
    if let Some(most) = most {
        let sites: f64 = scenario.grid().size().into_iter().map(count).product();
        let last = (most / sites).floor() * time_step.abs();
        times = times.into_iter().map(|time| time.min(last)).collect();
    }
    let line = scenario.grid().rank() == 1;
    let mut look = Look::of(&scenario);
    look.size = Some(if line { GRAPH } else { SIZE.map(|n| FINE * n) });
    // At this size short waves blend to grey, and of several moments each has hues of its own.
    let per_site = count(SIZE[0]) / count(scenario.grid().size()[0]);
    if look.quantity == Quantity::Phase && !line && (times.len() > 1 || !hues_have_room(&scenario, per_site)) {
        look.quantity = Quantity::Density;
        look.range = ColorRange::Auto;
        "auto".clone_into(&mut look.colormap);
    }
    let mut painter = Painter::new(Arc::clone(&scenario), &look, time_step)?;
    let inside = painter.field();
    let mut whole: Option<Picture> = None;
    for time in times {
        let end = engine.run_until(time, &mut |_, _| ends(!goes_on()))?;
        if !end.reached {
            return Ok(None);
        }
        // Each at its own range: the wave of every moment is seen.
        painter.keeper.reset();
        painter.shoot(&mut engine, 0.0)?;
        match &mut whole {
            None => whole = Some(painter.picture().clone()),
            Some(whole) => expose(whole, &painter),
        }
    }
    let Some(picture) = whole else { return Ok(None) };
    let all = Rect::new(0, 0, picture.width, picture.height);
    Ok(reduced(&picture, if line { inside } else { all }))
}

/// Adds another moment to the same picture: of each pixel, what differs more from the background is kept.
fn expose(picture: &mut Picture, painter: &Painter) {
    let light = painter.theme.ground[0] > 127;
    for (own, new) in picture.rgb.iter_mut().zip(&painter.picture().rgb) {
        *own = if light { (*own).min(*new) } else { (*own).max(*new) };
    }
}

/// The times of a scene's picture, in order: those that it names, or the middle of its run.
fn times_shown(scenario: &Scenario, time_step: f64) -> Vec<f64> {
    let mut times = scenario.view().cover.clone();
    if times.is_empty() {
        times.push(scenario.time().end.map_or(STEPS * time_step.abs(), |end| end / 2.0));
    }
    times.sort_by(f64::total_cmp);
    times
}

/// The scene on the processor: settings for a device are left to the method.
fn on_processor(file: &SceneFile) -> SceneFile {
    let mut file = file.clone();
    file.solver.backend = BackendChoice::Cpu;
    let method = file.solver.method.as_deref().and_then(solver::find);
    let has = |variant: &str| {
        method.is_some_and(|method| {
            let mut targets = method.targets.iter().filter(|target| target.backend == Backend::Cpu);
            targets.any(|target| target.variants.iter().any(|known| known.id == variant))
        })
    };
    if !has(&file.solver.variant) {
        "auto".clone_into(&mut file.solver.variant);
        file.solver.parameters.retain(|key, _| key == "order");
    }
    file
}

#[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
fn count(sites: usize) -> f64 {
    sites as f64
}

/// A part of a picture at [`SIZE`]; `None` if the picture holds no pixels.
fn reduced(picture: &Picture, part: Rect) -> Option<Picture> {
    let pixels = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let whole = image::RgbImage::from_raw(pixels(picture.width), pixels(picture.height), picture.rgb.clone())?;
    let part = imageops::crop_imm(
        &whole,
        pixels(part.x),
        pixels(part.y),
        pixels(part.width),
        pixels(part.height),
    );
    let [width, height] = SIZE;
    let small = imageops::resize(&part.to_image(), pixels(width), pixels(height), FilterType::Triangle);
    Some(Picture {
        width,
        height,
        rgb: small.into_raw(),
    })
}

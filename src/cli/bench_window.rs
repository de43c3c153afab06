//! `ripplon bench --window`: what the window's frames cost, drawn into a texture instead of onto a display.

use super::terminal::say;
use crate::app::offscreen::{Cost, Offscreen};
use crate::engine::Status;
use crate::rounding::truncated;
use crate::units;
use anyhow::bail;
use std::time::{Duration, Instant};

/// Pixels of the window.
const SIZE: [u32; 2] = [1920, 1080];

/// The scenes: a plane with plots, a line, sound with a mirror, a box in space.
const SCENES: [&str; 4] = ["double-slit", "resonance-line", "ring-mirror", "clap-3d"];

/// Frames before anything is measured: fonts and shaders are loaded in them.
const FIRST: usize = 20;

/// Frames that are measured at most, with `--quick` and without.
const FRAMES: [usize; 2] = [120, 1000];

/// The longest that frames of a scene are measured, with `--quick` and without: where the processor draws, one may take a third of a
/// second.
const LONGEST: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(30)];

/// Fewer frames say nothing of the growth of memory: the pictures of the last seconds are kept.
const STEADY: usize = 300;

/// The longest that a scene is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// Measures and prints.
///
/// # Errors
/// If there is no adapter, or a scene never shows a picture.
pub fn run(quick: bool) -> anyhow::Result<()> {
    let most = (FRAMES[usize::from(!quick)], LONGEST[usize::from(!quick)]);
    for (n, scene) in SCENES.into_iter().enumerate() {
        let started = Instant::now();
        let mut window = Offscreen::open(scene, SIZE).map_err(anyhow::Error::msg)?;
        if n == 0 {
            say!(
                "{} × {} pixels with every panel, {}",
                SIZE[0],
                SIZE[1],
                window.adapter()
            );
            say!(
                "{:16} {:>11} {:>7} {:>10} {:>10} {:>14} {:>10} {:>7} {:>8} {:>14} {:>9}",
                "scene",
                "first (s)",
                "frames",
                "main (ms)",
                "95 % (ms)",
                "processor (ms)",
                "draw (ms)",
                "meshes",
                "corners",
                "growth/1000",
                "at rest"
            );
        }
        while window.app().frame().image.value.is_empty() {
            if started.elapsed() > PATIENCE {
                bail!("{scene} shows no picture within {} s", PATIENCE.as_secs());
            }
            draw(&mut window)?;
        }
        let first = started.elapsed().as_secs_f64();
        window.play_or_pause();
        let costs = played(&mut window, most)?;
        say!("{scene:16} {first:11.2} {} {:>9}", row(&costs), resting(&mut window)?);
    }
    Ok(())
}

fn draw(window: &mut Offscreen) -> anyhow::Result<Cost> {
    window.draw().map_err(anyhow::Error::msg)
}

/// The costs of frames while a scene plays, and by how much the process grew.
struct Played {
    costs: Vec<Cost>,
    growth: Option<f64>,
}

fn played(window: &mut Offscreen, (frames, longest): (usize, Duration)) -> anyhow::Result<Played> {
    for _ in 0..FIRST {
        draw(window)?;
    }
    let before = Offscreen::memory();
    let mut costs = Vec::with_capacity(frames);
    let begun = Instant::now();
    while costs.len() < frames && (costs.len() < FIRST || begun.elapsed() < longest) {
        costs.push(draw(window)?);
        // A lesson that is over starts again: what rests costs nothing.
        if window.app().frame().rests {
            window.again();
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "bytes of a process")]
    let growth = Offscreen::memory()
        .zip(before)
        .filter(|_| costs.len() >= STEADY)
        .map(|(after, before)| (after as f64 - before as f64) * 1000.0 / costs.len() as f64);
    Ok(Played { costs, growth })
}

fn row(played: &Played) -> String {
    let part = |of: &dyn Fn(&Cost) -> f64, share: f64| {
        let mut values: Vec<f64> = played.costs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        #[expect(clippy::cast_precision_loss, reason = "a place in a list")]
        let place = truncated((share * (values.len() - 1) as f64).round());
        1e3 * values[place]
    };
    let main = |cost: &Cost| cost.main;
    let last = played.costs.last().copied().unwrap_or_default();
    let processor = |cost: &Cost| cost.processor.unwrap_or(f64::NAN);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes of a process"
    )]
    let growth = played
        .growth
        .map_or("–".to_owned(), |bytes| units::bytes(bytes.max(0.0) as u64));
    format!(
        "{:7} {:10.2} {:10.2} {:14.2} {:10.2} {:7} {:8} {growth:>14}",
        played.costs.len(),
        part(&main, 0.5),
        part(&main, 0.95),
        part(&processor, 0.5),
        part(&|cost| cost.drawing, 0.5),
        last.meshes,
        last.corners
    )
}

/// How many of the frames of a second of pause want another one at once.
fn resting(window: &mut Offscreen) -> anyhow::Result<String> {
    let begun = Instant::now();
    if window.app().frame().status == Status::Running {
        window.play_or_pause();
    }
    while window.app().frame().status == Status::Running {
        if begun.elapsed() > PATIENCE {
            bail!("the run does not pause");
        }
        draw(window)?;
    }
    // Answers that were under way, and animations of buttons.
    for _ in 0..60 {
        draw(window)?;
        std::thread::sleep(Duration::from_millis(10));
    }
    let again = draw(window)?.again;
    Ok(if again < Duration::from_millis(200) {
        "repaints".to_owned()
    } else {
        "still".to_owned()
    })
}

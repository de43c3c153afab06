//! `ripplon render`: films and pictures without a window.

use super::figures::short;
use super::numbers::whole;
use super::run::time;
use super::terminal::{say, tell};
use super::{InputError, Interrupt, SceneArgs, named, verdicts};
use crate::engine::Engine;
use crate::export::film::{self, Script, Shot};
use crate::export::pair::{Pair, PairError, Show};
use crate::export::{self, About, Format, Look, Painter, Progress};
use crate::scene::scenario::{Quantity, ViewMode};
use crate::scene::{Faults, Scenario};
use crate::solver;
use crate::units;
use clap::Args;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Thread;
use std::time::Duration;

/// What to make.
#[derive(Args, Debug)]
pub struct RenderArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// A film (.mp4, .gif, .apng), a picture (.png), or a directory (DIR/) for numbered pictures
    out: PathBuf,
    /// Width and height in pixels, e.g. 1920x1080; MP4: rounded up to even numbers. The field keeps its proportions (default: a whole number of pixels per site)
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<[usize; 2]>,
    /// Pictures per second of the film
    #[arg(long, value_name = "N", default_value_t = 30.0)]
    fps: f64,
    /// Number of pictures, evenly spaced in time (default: ten seconds of film, at most one per step)
    #[arg(long, value_name = "N", value_parser = whole(1_u32, Some(1_000_000)))]
    frames: Option<u32>,
    /// The quantity to show instead of the scene's own, e.g. phase, energy or momentum (see `[view]` in docs/scene-format.md)
    #[arg(long, value_name = "Q", value_parser = parse_quantity)]
    quantity: Option<Quantity>,
    /// The colour map instead of the scene's own (see `ripplon list colormaps`)
    #[arg(long, value_name = "C")]
    colormap: Option<String>,
    /// The time of a picture, or the end of a film (default: the scene's end)
    #[arg(long, value_name = "T", value_parser = time)]
    at: Option<f64>,
    /// How to show the field instead of the scene's own view: plane, relief (2D), slices or volume (3D)
    #[arg(long, value_name = "V", value_parser = parse_view)]
    view: Option<ViewMode>,
    /// The plane of a 3D scene: its index along z, from 0 (default: the scene's own, or the middle one)
    #[arg(long, value_name = "K")]
    plane: Option<usize>,
    /// Add title, clock, colour bar and scale bar, notes and theory, and marks where sources and transducers stand
    #[arg(long)]
    overlay: bool,
    /// Show a second run beside the first: the same scene with KEY=VALUE, e.g. solver.method=split-step-fourier or time.step=0.01 (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    against: Vec<String>,
    /// Show the second run minus the first instead of both
    #[arg(long, requires = "against")]
    difference: bool,
    /// Begin a film with a card: title, grid and method
    #[arg(long)]
    title_card: bool,
    /// End a film with a card: predictions and measured values
    #[arg(long)]
    end_card: bool,
    /// Draw the small picture of the scene for the gallery: 200 × 112 pixels, at its `view.cover`, on the processor
    #[arg(long, conflicts_with_all = ["size", "fps", "frames", "quantity", "colormap", "at", "view", "plane", "overlay", "title_card", "end_card", "against"])]
    thumbnail: bool,
}

/// Seconds for which a card is shown.
const CARD: f64 = 3.0;

/// The largest number of pixels of a side: such a picture takes 800 MB.
const MOST_SIDE: usize = 16_384;

fn parse_size(text: &str) -> Result<[usize; 2], String> {
    let sides: Option<Vec<usize>> = text
        .split(['x', 'X', '×'])
        .map(|side| side.trim().parse().ok().filter(|n| *n > 0))
        .collect();
    match sides.as_deref() {
        Some([width, height]) if *width.max(height) <= MOST_SIDE => Ok([*width, *height]),
        _ => Err(format!(
            "width and height in pixels of at most {MOST_SIDE}, e.g. 1280x720"
        )),
    }
}

fn parse_view(text: &str) -> Result<ViewMode, String> {
    let all = ViewMode::ALL;
    let known = all.iter().find(|(word, _)| *word == text);
    known.map(|(_, mode)| *mode).ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|(word, _)| *word).collect();
        format!("there are {}", words.join(", "))
    })
}

fn parse_quantity(text: &str) -> Result<Quantity, String> {
    let all = Quantity::ALL;
    all.iter()
        .find(|(word, _)| *word == text)
        .map(|(_, quantity)| *quantity)
        .ok_or_else(|| {
            let words: Vec<&str> = all.iter().map(|(word, _)| *word).collect();
            format!("there are {}", words.join(", "))
        })
}

fn wrong(error: &impl std::fmt::Display) -> anyhow::Error {
    InputError(error.to_string()).into()
}

pub(super) fn run(args: &RenderArgs) -> anyhow::Result<()> {
    let format = Format::of(&args.out).map_err(|error| wrong(&error))?;
    if args.thumbnail {
        if format != Format::Png {
            let out = args.out.display();
            return Err(InputError(format!(
                "{out}: a thumbnail is one picture; name a file that ends in .png"
            ))
            .into());
        }
        named::check(&[("OUT", &args.out)], &[])?;
        let drawn = thumbnail(&args.scene.scene, &args.scene.set, &args.out, &Interrupt::listen()?)?;
        anyhow::ensure!(drawn, "cancelled; nothing was written");
        say!("{}", args.out.display());
        return Ok(());
    }
    let set = overrides(args)?;
    let (file, scenario) = solver::read_scene(&args.scene.scene, &set)?;
    let scenario = Arc::new(scenario);
    if format != Format::Sequence {
        named::check(&[("OUT", &args.out)], &named::inputs(&args.scene, &scenario))?;
    } else if let Some(file) = Some(args.out.components().as_path()).filter(|path| path.is_file()) {
        let file = file.display();
        return Err(InputError(format!(
            "{}: numbered pictures go into a directory, and {file} is a file; name another directory, or leave the slash out",
            args.out.display()
        ))
        .into());
    }
    let look = look(args, &scenario)?;
    let mut engine = Engine::new(Arc::clone(&scenario))?;
    super::scene::print_note(&engine, args.at.or(scenario.time().end));
    let clock = engine.clock();
    let mut painter = painter(args, &set, &scenario, &look, clock.time_step)?;
    let script = script(args, &scenario, format, clock.time_step)?;
    let about = About {
        title: scenario.title().to_owned(),
        scene: Some(file.to_toml()),
        comment: format!(
            "t = {}, quantity {}, colour map {}",
            short(script.to),
            look.quantity.as_str(),
            look.colormap
        ),
    };
    let size = painter.size();
    // A name that cannot be written to is found out now rather than after the run.
    let writer = export::create(&args.out, size, script.fps, &about).map_err(|error| wrong(&error))?;

    let interrupt = Interrupt::listen()?;
    let progress = Progress::new(u64::from(script.all_pictures()));
    let bar = super::terminal::bar(progress.total(), "{bar:40} {pos}/{len} pictures, {eta} left");
    let done = std::thread::scope(|scope| {
        let watching = scope.spawn({
            let (progress, bar) = (progress.clone(), bar.clone());
            move || watch(&progress, &bar, interrupt)
        });
        let _watched = Watched {
            bar: &bar,
            by: watching.thread(),
        };
        film::shoot(&mut engine, painter.as_mut(), writer, &script, &progress)
    });
    match done {
        Ok(()) => {}
        Err(error) if error.is_input() => return Err(wrong(&error)),
        Err(film::FilmError::Engine(error)) => return Err(error.into()),
        Err(film::FilmError::Export(error)) => return Err(error.into()),
    }
    say!("{}", summary(args, format.stored_size(size), &script, format, &engine));
    Ok(())
}

/// The painter of the pictures, for one run or for two.
fn painter(
    args: &RenderArgs,
    set: &[String],
    scenario: &Arc<Scenario>,
    look: &Look,
    time_step: f64,
) -> anyhow::Result<Box<dyn Shot>> {
    let claims = verdicts::claims(&args.scene.scene, set, scenario);
    if args.against.is_empty() {
        let painter = Painter::new(Arc::clone(scenario), look, time_step).map_err(|error| wrong(&error))?;
        return Ok(Box::new(painter.with_claims(claims)));
    }
    let set: Vec<String> = set.iter().chain(&args.against).cloned().collect();
    let read = solver::read_scene(&args.scene.scene, &set);
    let (_, other) = read.map_err(|faults| faults.set_by("--against", &args.against))?;
    // The change stands first: of a title that is too long the end is cut.
    let words = args.against.join(", ");
    if other.file().to_toml() == scenario.file().to_toml() {
        tell!("note: --against {words} changes nothing: the scene has it already, and both runs are alike");
    }
    let less = if args.difference { " minus as written" } else { "" };
    let title = match scenario.title() {
        "" => format!("{words}{less}"),
        title => format!("{words}{less}: {title}"),
    };
    let show = if args.difference {
        Show::Difference
    } else {
        Show::Beside
    };
    let claims = [claims, verdicts::claims(&args.scene.scene, &set, &other)];
    match Pair::new(scenario, Arc::new(other.titled(title)), look, time_step, show) {
        Ok(pair) => Ok(Box::new(pair.with_claims(claims))),
        Err(PairError::Engine(error)) => Err(error.into()),
        Err(error) => Err(wrong(&error)),
    }
}

/// Draws the gallery's picture of a scene; returns whether it was completed.
pub(super) fn thumbnail(scene: &str, set: &[String], out: &Path, interrupt: &Interrupt) -> anyhow::Result<bool> {
    let (file, _) = solver::read_scene(scene, set)?;
    let origin = crate::scene::presets::find(scene).is_none().then(|| Path::new(scene));
    let Some(picture) = export::thumbnail::thumbnail(&file, origin, None, &mut || !interrupt.asked())? else {
        return Ok(false);
    };
    let about = About {
        title: file.title.clone(),
        ..About::default()
    };
    export::png::save_in_colors(out, &picture, &about, export::thumbnail::COLORS)?;
    Ok(true)
}

/// The scene with its own look, beside which `--quantity` stands.
///
/// # Errors
/// Its faults, but not those of keys that are set for the quantity that is asked for, as the span of its means: they are judged together with it.
fn own_look(args: &RenderArgs) -> Result<Scenario, Faults> {
    let set = &args.scene.set;
    solver::read_scene(&args.scene.scene, set)
        .or_else(|faults| {
            let others = set.iter().filter(|set| !set.trim_start().starts_with("view."));
            let others: Vec<String> = others.cloned().collect();
            solver::read_scene(&args.scene.scene, &others).map_err(|_| faults)
        })
        .map(|(_, scenario)| scenario)
}

/// The keys that are set: the user's own, and those with which the scene shows `--quantity`, so that largest values,
/// means and the velocity are followed from the first step.
fn overrides(args: &RenderArgs) -> anyhow::Result<Vec<String>> {
    let mut set = args.scene.set.clone();
    let Some(quantity) = args.quantity else {
        return Ok(set);
    };
    let scenario = own_look(args)?;
    let equation = scenario.model().equation();
    if !quantity.fits(equation) {
        let there = Quantity::ALL.iter().filter(|(_, own)| own.fits(equation));
        let there: Vec<&str> = there.map(|(word, _)| *word).collect();
        return Err(InputError(format!(
            "--quantity {}: a scene of the equation `{}` does not have it; there are {}",
            quantity.as_str(),
            equation.as_str(),
            there.join(", ")
        ))
        .into());
    }
    set.push(format!("view.quantity={}", quantity.as_str()));
    // The scene's own range was chosen for another quantity, and its map for another kind of one; the user's stay.
    let is_given = |key: &str| {
        let keys = args.scene.set.iter().filter_map(|set| set.split_once('='));
        keys.into_iter().any(|(own, _)| own.trim() == key)
    };
    let own = scenario.view().quantity;
    let is_one_picture = scenario.grid().rank() == 1 && quantity.graphed() == own.graphed();
    if quantity != own && !is_one_picture && !is_given("view.range") {
        set.push("view.range=auto".to_owned());
    }
    if quantity.map_kind() != own.map_kind() && !is_given("view.colormap") {
        set.push("view.colormap=auto".to_owned());
    }
    Ok(set)
}

fn look(args: &RenderArgs, scenario: &Scenario) -> anyhow::Result<Look> {
    let mut look = Look::of(scenario);
    look.size = args.size;
    look.plane = args.plane;
    if args.plane.is_some() {
        look.mode = ViewMode::Plane;
    }
    if let Some(mode) = args.view {
        if let Some(plane) = args.plane.filter(|_| mode != ViewMode::Plane) {
            return Err(InputError(format!(
                "--plane {plane} is of --view plane, and --view {} shows the whole box; leave one of them out",
                mode.as_str()
            ))
            .into());
        }
        let rank = scenario.grid().rank();
        if !mode.fits(rank) {
            return Err(InputError(format!(
                "--view {} needs {}, and this one has {rank}; leave it out",
                mode.as_str(),
                mode.needs()
            ))
            .into());
        }
        look.mode = mode;
    }
    look.overlay = args.overlay;
    if let Some(colormap) = &args.colormap {
        look.colormap.clone_from(colormap);
    }
    Ok(look)
}

/// Which times are shown.
fn script(args: &RenderArgs, scenario: &Scenario, format: Format, time_step: f64) -> anyhow::Result<Script> {
    let Some(to) = args.at.or(scenario.time().end) else {
        return Err(InputError(
            "the scene has no end; say when the picture or the film's end is: --at T, or --set time.end=T".to_owned(),
        )
        .into());
    };
    if !to.is_finite() || to < 0.0 {
        return Err(InputError(format!("--at {to} is not a time; give a number from 0")).into());
    }
    if !args.fps.is_finite() || args.fps <= 0.0 {
        return Err(InputError(format!("--fps {} is not a rate; give a number above 0", args.fps)).into());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "limited to a million pictures"
    )]
    let natural = || {
        let steps = (to / time_step.abs()).round() + 1.0;
        (10.0 * args.fps).round().min(steps).clamp(1.0, 1e6) as u32
    };
    let pictures = match format {
        Format::Png => 1,
        _ => args.frames.unwrap_or_else(natural),
    };
    if let Some(frames) = args.frames.filter(|frames| *frames > 1 && format == Format::Png) {
        let message = format!(
            "{}: --frames {frames} is more than one picture; name a film (.mp4, .gif, .apng) or a directory (DIR/), or leave --frames out",
            args.out.display()
        );
        return Err(InputError(message).into());
    }
    if format == Format::Png && (args.title_card || args.end_card) {
        let message = format!(
            "{}: one picture has no cards; leave --title-card and --end-card out, or name a film",
            args.out.display()
        );
        return Err(InputError(message).into());
    }
    let card = |wanted: bool| if wanted { CARD } else { 0.0 };
    let script = Script {
        from: 0.0,
        to,
        pictures,
        fps: args.fps,
        title: card(args.title_card),
        end: card(args.end_card),
    };
    if format == Format::Mp4 && script.all_pictures() < 2 {
        let message = format!(
            "{}: one picture is no film; name a file that ends in .png, or take --frames 2 or more and a later --at",
            args.out.display()
        );
        return Err(InputError(message).into());
    }
    Ok(script)
}

/// Shows the progress and handles Ctrl-C until the bar is finished.
/// Ends the bar when it is dropped, also by a panic, and wakes the watcher, which ends with it: nobody waits for it forever.
struct Watched<'a> {
    bar: &'a ProgressBar,
    by: &'a Thread,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        self.by.unpark();
    }
}

fn watch(progress: &Progress, bar: &ProgressBar, interrupt: Interrupt) {
    while !bar.is_finished() {
        bar.set_position(progress.done());
        if interrupt.asked() {
            progress.cancel();
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

fn summary(args: &RenderArgs, [width, height]: [usize; 2], script: &Script, format: Format, engine: &Engine) -> String {
    let out = args.out.display();
    let report = engine.report();
    let by = format!("{} {}, {}", report.method, report.variant, report.precision.as_str());
    let bytes = std::fs::metadata(&args.out).map_or(0, |data| data.len());
    let clock = engine.clock();
    let steps = units::counted(clock.steps, "step");
    let pictures = units::counted(u64::from(script.all_pictures()), "picture");
    match format {
        Format::Png => format!(
            "{out}: {width} × {height} pixels at t = {}, {steps} ({by}), {}",
            short(clock.time),
            units::bytes(bytes)
        ),
        Format::Sequence => format!("{out}: {pictures} of {width} × {height} pixels, {steps} ({by})"),
        Format::Gif | Format::Apng | Format::Mp4 => format!(
            "{out}: {pictures} of {width} × {height} pixels, {:.1} s at {} a second, {steps} ({by}), {}",
            f64::from(script.all_pictures()) / script.fps,
            script.fps,
            units::bytes(bytes)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_quantities() {
        assert_eq!(parse_size("640x480"), Ok([640, 480]));
        assert_eq!(parse_size("640×480"), Ok([640, 480]));
        for text in ["", "640", "640x", "0x480", "-1x5", "1x2x3", "640.5x480"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
        assert_eq!(parse_quantity("phase"), Ok(Quantity::Phase));
        assert!(parse_quantity("Phase").unwrap_err().contains("density"));
    }
}

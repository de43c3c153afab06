//! `ripplon list presets --site DIR`: one page of all presets, made by running each of them.

use super::terminal::say;
use super::{InputError, Interrupt};
use crate::engine::expectations::judged_at;
use crate::engine::{Engine, Verdict};
use crate::export::facts::{figure, within};
use crate::export::film::{FilmError, Script, Shooting};
use crate::export::html::{escape, inline, lesson, page, table};
use crate::export::units::Units;
use crate::export::{self, About, Look, Painter, Picture, Progress};
use crate::file_error::explained;
use crate::scene::Scenario;
use crate::scene::presets::{self, Preset};
use crate::scene::scenario::Claims;
use crate::solver;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Pixels of a film.
const SIZE: [usize; 2] = [640, 360];

/// Pictures per second, and in all: six seconds.
const FPS: f64 = 25.0;
const PICTURES: u32 = 150;

/// The ending of films.
const FILM: &str = if cfg!(feature = "h264") { "mp4" } else { "gif" };

/// Makes the page of all presets, or of those named; with the pictures in `stills`, a folder relative to the page, instead of films.
///
/// # Errors
/// If a preset is unknown, a run fails, or something cannot be written.
pub(super) fn make(folder: &Path, only: &[String], stills: Option<&str>) -> anyhow::Result<()> {
    for name in only {
        if presets::find(name).is_none() {
            return Err(InputError(format!("there is no preset {name}; `ripplon list presets` names them")).into());
        }
    }
    let parts = if stills.is_some() {
        vec![""]
    } else {
        vec!["covers", "films"]
    };
    for part in parts {
        let part = folder.join(part);
        std::fs::create_dir_all(&part)
            .map_err(|error| InputError(format!("{}: {}", part.display(), explained(&error))))?;
    }
    let interrupt = Interrupt::listen()?;
    let (mut gallery, mut articles) = (String::new(), String::new());
    let wanted = |preset: &&Preset| only.is_empty() || only.iter().any(|name| name == preset.name);
    for preset in presets::all().iter().filter(wanted) {
        let article = of_preset(folder, preset, stills, interrupt)?;
        let (name, title) = (preset.name, escape(&article.title));
        let image = match stills {
            Some(stills) => still(stills, name),
            None => format!(
                "<img src=\"covers/{name}.png\" alt=\"\" loading=\"lazy\" width=\"{}\" height=\"{}\">",
                SIZE[0], SIZE[1]
            ),
        };
        writeln!(gallery, "<li><a href=\"#{name}\">{image}{title}</a></li>")?;
        articles.push_str(&article.html);
        say!("{name}");
    }
    let body = format!(
        "<h1>Ripplon: the presets</h1>\n<p>Every scene that comes with the program: {}, what it teaches, and what was predicted and measured in that run.</p>\n\
         <ul class=\"gallery\">\n{gallery}</ul>\n{articles}",
        if stills.is_some() {
            "a picture"
        } else {
            "a film of its run"
        }
    );
    let out = folder.join("index.html");
    export::save_text(&out, &page("Ripplon: the presets", &body))?;
    say!("{}", out.display());
    Ok(())
}

/// The picture of a preset in the folder `stills`, which the style of the page draws at its own size.
fn still(stills: &str, name: &str) -> String {
    let [width, height] = export::thumbnail::SIZE;
    format!(
        "<img class=\"still\" src=\"{stills}/{name}.png\" alt=\"\" loading=\"lazy\" width=\"{width}\" height=\"{height}\">"
    )
}

/// What the page says about a preset.
struct Article {
    title: String,
    html: String,
}

/// Runs a preset, films it, and records the verdicts on its predictions.
fn of_preset(folder: &Path, preset: &Preset, stills: Option<&str>, interrupt: Interrupt) -> anyhow::Result<Article> {
    let name = preset.name;
    let (file, scenario) = solver::read_scene(name, &[])?;
    let scenario = Arc::new(scenario);
    let mut engine = Engine::new(Arc::clone(&scenario))?;
    if stills.is_some() {
        run(&mut engine, &scenario, interrupt)?;
    } else {
        let film = folder.join("films").join(format!("{name}.{FILM}"));
        let cover = shoot(&mut engine, &scenario, &film, interrupt)?;
        let about = About {
            title: file.title.clone(),
            scene: Some(file.to_toml()),
            comment: String::new(),
        };
        export::png::save(&folder.join("covers").join(format!("{name}.png")), &cover, &about)?;
    }
    let title = if file.title.is_empty() { name } else { &file.title };
    let mut html = format!(
        "<article id=\"{name}\">\n<h2>{}</h2>\n<p class=\"quiet\"><code>ripplon {name}</code></p>\n",
        escape(title)
    );
    let source = format!("films/{name}.{FILM}");
    if let Some(stills) = stills {
        writeln!(html, "<div class=\"film\">{}</div>", still(stills, name))?;
    } else if FILM == "mp4" {
        writeln!(
            html,
            "<div class=\"film\"><video controls loop muted playsinline preload=\"none\" poster=\"covers/{name}.png\" src=\"{source}\" width=\"{}\" height=\"{}\"></video></div>",
            SIZE[0], SIZE[1]
        )?;
    } else {
        writeln!(
            html,
            "<div class=\"film\"><img src=\"{source}\" alt=\"\" loading=\"lazy\"></div>"
        )?;
    }
    html.push_str(&lesson(&file.about, 3));
    html.push_str(&verdicts(&engine, &Claims::default()));
    writeln!(
        html,
        "<p class=\"quiet\">The film: <code>ripplon render {name} {name}.{FILM} --size {}x{} --fps {FPS} --frames {PICTURES} --overlay</code></p>\n</article>",
        SIZE[0], SIZE[1]
    )?;
    Ok(Article {
        title: title.to_owned(),
        html,
    })
}

/// Runs to the end of the lesson, past all predictions.
fn run(engine: &mut Engine, scenario: &Scenario, interrupt: Interrupt) -> anyhow::Result<()> {
    let end = scenario.time().end.unwrap_or(100.0 * engine.clock().time_step.abs());
    engine.run_until(end, &mut |_, _| interrupt.flow())?;
    Ok(())
}

/// Films a run to its end; returns the picture at the time of its cover.
fn shoot(engine: &mut Engine, scenario: &Arc<Scenario>, film: &Path, interrupt: Interrupt) -> anyhow::Result<Picture> {
    let time_step = engine.clock().time_step;
    let mut look = Look::of(scenario);
    look.size = Some(SIZE);
    look.overlay = true;
    let mut painter = Painter::new(Arc::clone(scenario), &look, time_step)?;
    let to = scenario.time().end.unwrap_or(100.0 * time_step.abs());
    let script = Script {
        from: 0.0,
        to,
        pictures: PICTURES,
        fps: FPS,
        ..Script::default()
    };
    let about = About::of(scenario);
    let writer = export::create(film, painter.size(), FPS, &about)?;
    let progress = Progress::new(u64::from(PICTURES));
    let mut shooting = Shooting::new(engine, &mut painter, writer, script, &progress);
    let shown = scenario.view().last_cover().unwrap_or(to / 2.0);
    let mut cover = Picture::default();
    let mut covered = false;
    loop {
        if interrupt.asked() {
            progress.cancel();
        }
        let goes_on = match shooting.next(engine, &mut painter) {
            Ok(goes_on) => goes_on,
            Err(FilmError::Engine(error)) => return Err(error.into()),
            Err(FilmError::Export(error)) => return Err(error.into()),
        };
        if !covered {
            cover.clone_from(painter.picture());
            covered = engine.clock().time >= shown - 0.5 * time_step.abs();
        }
        if !goes_on {
            return Ok(cover);
        }
    }
}

/// What was predicted and measured; predictions that are made of another scene can be right, but not wrong.
pub(super) fn verdicts(engine: &Engine, claims: &Claims) -> String {
    let scenario = engine.scenario();
    if scenario.expectations().is_empty() {
        return String::new();
    }
    let clock = engine.clock();
    let units = Units::of(scenario, clock.time_step);
    let time = |t: f64| units.clock(t, clock.time_step);
    let head = ["What", "At t", "Predicted", "Measured", "Verdict", "Because"].map(ToOwned::to_owned);
    let mut rows = vec![head.to_vec()];
    for (place, (expectation, verdict)) in scenario.expectations().iter().zip(engine.verdicts()).enumerate() {
        let digits = |value: f64| within(value, expectation.tolerance);
        let own_unit = expectation.subject.unit(scenario);
        let with_unit = |value: String| format!("{value} {own_unit}").trim_end().to_owned();
        let (measured, word) = match verdict {
            Verdict::Right(value) => (with_unit(digits(*value)), "<span class=\"right\">agrees</span>"),
            Verdict::Wrong(value) if !claims.expects(place) => (with_unit(digits(*value)), "not judged"),
            Verdict::Wrong(value) => (with_unit(digits(*value)), "<span class=\"wrong\">disagrees</span>"),
            Verdict::Pending => (String::new(), "not reached"),
        };
        let at = match verdict {
            Verdict::Pending => time(expectation.at),
            _ => judged_at(expectation.at, &clock, time),
        };
        rows.push(vec![
            escape(&expectation.subject.in_words(scenario.detectors())),
            at,
            with_unit(format!(
                "{} ± {}",
                digits(expectation.value),
                figure(expectation.tolerance)
            )),
            measured,
            word.to_owned(),
            inline(expectation.because.trim()),
        ]);
    }
    format!("<h3>Predicted and measured</h3>\n{}", table(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The column of verdicts has a name, times are those of the clock in the film, values have the decimals of their tolerance.
    #[test]
    fn a_table_of_verdicts_is_in_the_units_of_its_film() {
        let text = "format = 1\n[grid]\nsize = [40]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\nend = 4e-3\n\
                    [solver]\nmethod = \"fdtd\"\n[[pulse]]\ncenter = [2.0]\nwidth = 0.5\n[[detector]]\nname = \"middle\"\nat = [2.0]\n\
                    [[expect]]\ndetector = \"middle\"\nat = 3e-3\nvalue = 0.25\ntolerance = 0.05\n";
        let (_, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        let engine = Engine::new(Arc::new(scenario)).unwrap();
        let html = verdicts(&engine, &Claims::default());
        for part in [
            "<th>Verdict</th>",
            "<td>3.0 ms</td>",
            "<td>0.250 ± 0.05 Pa</td>",
            "not reached",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    /// As `ripplon run` says it: what is predicted of other physics is not judged.
    #[test]
    fn predictions_of_another_scene_are_not_judged() {
        let text = "format = 1\n[grid]\nsize = [40]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\nend = 1e-4\n\
                    [solver]\nmethod = \"fdtd\"\n[[pulse]]\ncenter = [2.0]\nwidth = 0.5\n[[detector]]\nname = \"middle\"\nat = [2.0]\n\
                    [[expect]]\ndetector = \"middle\"\nat = 1e-4\nvalue = 99.0\ntolerance = 0.05\n";
        let (_, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        let mut engine = Engine::new(Arc::new(scenario)).unwrap();
        engine
            .run_until(1e-4, &mut |_, _| std::ops::ControlFlow::Continue(()))
            .unwrap();
        assert!(verdicts(&engine, &Claims::default()).contains(">disagrees<"));
        let of_another = Claims {
            expectations: vec![false],
            ..Claims::default()
        };
        let html = verdicts(&engine, &of_another);
        assert!(
            html.contains("<td>not judged</td>") && !html.contains("disagrees"),
            "{html}"
        );
    }
}

//! `ripplon worksheet`: a scene as a page of exercises that stands alone, to be printed or sent.

use super::terminal::say;
use super::{InputError, Interrupt, SceneArgs, named, site, verdicts};
use crate::engine::Engine;
use crate::export::facts;
use crate::export::html::{data_address, escape, inline, lesson, page, table};
use crate::export::markdown::{Block, blocks};
use crate::export::units::Units;
use crate::export::{self, About, Look, Painter};
use crate::scene::scenario::Claims;
use crate::scene::{Scenario, SceneFile, presets};
use crate::solver;
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// What to make.
#[derive(Args, Debug)]
pub struct WorksheetArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// The page to write (.html); it contains the picture and the scene
    out: PathBuf,
    /// Add a sheet of answers: the predictions and the measured values (runs the scene to its end)
    #[arg(long)]
    answers: bool,
    /// The address of a page built by `web/build`, for a link that opens the scene there
    #[arg(long, value_name = "URL")]
    page: Option<String>,
}

/// Pixels of the picture.
const SIZE: [usize; 2] = [1280, 720];

pub(super) fn run(args: &WorksheetArgs) -> anyhow::Result<()> {
    let ending = args.out.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    if ending.is_none_or(|ending| ending != "html" && ending != "htm") {
        return Err(InputError(format!("{}: the name must end in .html", args.out.display())).into());
    }
    if let Some(page) = args.page.as_ref().filter(|page| !page.starts_with("http")) {
        return Err(InputError(format!(
            "--page {page} is not an address; write e.g. https://example.org/ripplon/"
        ))
        .into());
    }
    let (file, scenario) = solver::read_scene(&args.scene.scene, &args.scene.set)?;
    let scenario = Arc::new(scenario);
    named::check(&[("OUT", &args.out)], &named::inputs(&args.scene, &scenario))?;
    let interrupt = Interrupt::listen()?;
    let mut engine = Engine::new(Arc::clone(&scenario))?;
    let time_step = engine.clock().time_step;
    let end = scenario.time().end.unwrap_or(100.0 * time_step.abs());
    let shown = scenario.view().last_cover().unwrap_or(end / 2.0);
    let goes_on = |to: f64, engine: &mut Engine| -> anyhow::Result<()> {
        let done = engine.run_until(to, &mut |_, _| interrupt.flow())?;
        anyhow::ensure!(done.reached, "cancelled; nothing was written");
        Ok(())
    };
    goes_on(shown, &mut engine)?;
    let claims = verdicts::claims(&args.scene.scene, &args.scene.set, &scenario);
    let picture = picture(&mut engine, &scenario, claims.clone())?;
    let answers = if args.answers {
        goes_on(end.max(shown), &mut engine)?;
        let solved = site::verdicts(&engine, &claims);
        format!("<section class=\"sheet\">\n<h2>Answers</h2>\n{solved}</section>\n")
    } else {
        String::new()
    };
    let body = sheet(args, &file, &scenario, (time_step, shown, &picture)) + &answers;
    export::save_text(&args.out, &page(title(&file), &body))?;
    let bytes = std::fs::metadata(&args.out).map_or(0, |data| data.len());
    say!("{}: {}", args.out.display(), crate::units::bytes(bytes));
    Ok(())
}

fn title(file: &SceneFile) -> &str {
    if file.title.is_empty() {
        "Worksheet"
    } else {
        &file.title
    }
}

/// The present state as the bytes of a picture that carries its scene.
fn picture(engine: &mut Engine, scenario: &Arc<Scenario>, claims: Claims) -> anyhow::Result<Vec<u8>> {
    let mut look = Look::of(scenario);
    look.size = Some(SIZE);
    look.overlay = true;
    let painter = Painter::new(Arc::clone(scenario), &look, engine.clock().time_step)?;
    let mut painter = painter.with_claims(claims);
    let about = About::of(scenario);
    Ok(export::png::bytes(painter.shoot(engine, 0.0)?, &about)?)
}

/// Everything but the answers.
fn sheet(
    args: &WorksheetArgs,
    file: &SceneFile,
    scenario: &Scenario,
    (time_step, shown, picture): (f64, f64, &[u8]),
) -> String {
    let units = Units::of(scenario, time_step);
    let time = |t: f64| units.clock(t, time_step);
    let mut html = format!(
        "<h1>{}</h1>\n<p class=\"quiet\">Name <span class=\"blank\">&nbsp;</span> &emsp; Date <span class=\"blank\">&nbsp;</span></p>\n",
        escape(title(file))
    );
    let _ = writeln!(
        html,
        "<img src=\"{1}\" alt=\"The scene at t = {0}\">\n<p class=\"quiet\">t = {0}</p>",
        time(shown),
        data_address("image/png", picture)
    );
    html.push_str(&lesson(without_tasks(&file.about), 2));
    html.push_str("<h2>What runs</h2>\n");
    let mut rows = vec![vec!["Quantity".to_owned(), "Value".to_owned()]];
    let facts = facts::rows(file, scenario, time_step);
    rows.extend(facts.iter().map(|(name, value)| vec![escape(name), escape(value)]));
    html.push_str(&table(&rows));
    html.push_str(&questions(scenario, time));
    html.push_str(&tasks(&file.about));
    html.push_str(&link(args, file));
    html
}

/// A place for a prediction and one for what is measured, for each prediction of the scene, without its value. `time` writes a time as the clock of the picture does.
fn questions(scenario: &Scenario, time: impl Fn(f64) -> String) -> String {
    if scenario.expectations().is_empty() {
        return String::new();
    }
    let mut html = "<h2>Predict, then run</h2>\n<p>Write down what you expect before the scene runs, and why. Then measure.</p>\n<ol>\n".to_owned();
    for expectation in scenario.expectations() {
        let asks = if expectation.ask.is_empty() {
            let what = expectation.subject.in_words(scenario.detectors());
            format!("{} at t = {}?", escape(&what), time(expectation.at))
        } else {
            inline(&expectation.ask)
        };
        let _ = writeln!(
            html,
            "<li>{asks}<br>I expect <span class=\"blank\">&nbsp;</span> &emsp; measured <span class=\"blank\">&nbsp;</span><div class=\"lines\"></div></li>"
        );
    }
    html.push_str("</ol>\n");
    html
}

/// The words that begin the tasks of a lesson.
const TRY: &str = "**Try**";

/// The lesson up to what is to be tried.
fn without_tasks(about: &str) -> &str {
    about.find(TRY).map_or(about, |at| &about[..at])
}

/// What the lesson says is to be tried, each with room for what was seen.
fn tasks(about: &str) -> String {
    let rest = &about[without_tasks(about).len()..];
    let mut entries: Vec<String> = Vec::new();
    for block in blocks(rest) {
        if let Block::Paragraph(text) | Block::Item(_, text) = block {
            let texts = text.split(TRY).map(str::trim).filter(|text| !text.is_empty());
            entries.extend(texts.map(inline));
        }
    }
    if entries.is_empty() {
        return String::new();
    }
    let mut html = "<h2>Try it</h2>\n<ol>\n".to_owned();
    for entry in entries {
        let _ = writeln!(html, "<li>{entry}<div class=\"lines\"></div></li>");
    }
    html.push_str("</ol>\n");
    html
}

/// How the scene is opened: by a command, by a file that is in the page, by an address.
fn link(args: &WorksheetArgs, file: &SceneFile) -> String {
    let scene = data_address("application/toml", file.to_toml().as_bytes());
    let is_preset = presets::find(&args.scene.scene).is_some();
    let name = if is_preset { &args.scene.scene } else { "scene" };
    let mut html = "<h2>Open it</h2>\n<ul>\n".to_owned();
    if is_preset {
        let mut command = format!("ripplon {name}");
        for set in &args.scene.set {
            let _ = write!(command, " --set '{set}'");
        }
        let _ = writeln!(html, "<li><code>{}</code></li>", escape(&command));
    }
    let name = escape(name);
    let _ = writeln!(
        html,
        "<li class=\"screen\"><a download=\"{name}.toml\" href=\"{scene}\">{name}.toml</a>, the scene as a file: drop it on the window.</li>"
    );
    html.push_str("<li class=\"screen\">Or save the picture above and drop that: it carries the scene.</li>\n");
    if let Some(page) = args.page.as_ref().filter(|_| is_preset && args.scene.set.is_empty()) {
        let _ = writeln!(
            html,
            "<li><a href=\"{0}?preset={name}\">{0}?preset={name}</a>, in a browser</li>",
            escape(page)
        );
    }
    html.push_str("</ul>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times are those of the clock in the picture.
    #[test]
    fn questions_are_in_the_units_of_the_picture() {
        let text = "format = 1\n[grid]\nsize = [40]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\nend = 4e-3\n\
                    [solver]\nmethod = \"fdtd\"\n[[pulse]]\ncenter = [2.0]\nwidth = 0.5\n\
                    [[expect]]\nobservable = \"peak\"\nat = 3e-3\nvalue = 0.25\ntolerance = 0.05\n";
        let (file, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        let end = ("Runs until".to_owned(), "t = 4.0 ms".to_owned());
        assert!(facts::rows(&file, &scenario, 1e-4).contains(&end));
        let units = Units::of(&scenario, 1e-4);
        let html = questions(&scenario, |t| units.clock(t, 1e-4));
        assert!(html.contains("at t = 3.0 ms?"), "{html}");
    }

    /// The name of an observable as scenes write it, `a.x`, is no question.
    #[test]
    fn questions_of_trajectories_are_in_words() {
        let text = "format = 1\n[grid]\nsize = [64]\nspacing = 0.5\n[quantum]\n[time]\nstep = 0.01\nend = 4.0\n\
                    [[packet]]\ncenter = [16.0]\nwidth = [2.0]\n[[trajectory]]\nname = \"a.b\"\nfrom = [15.0]\n\
                    [[expect]]\nobservable = \"a.b.x\"\nat = 3.0\nvalue = 15.0\ntolerance = 0.5\n";
        let (_, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        let html = questions(&scenario, |t| Units::of(&scenario, 0.01).clock(t, 0.01));
        let asked = "<li>Position x of trajectory “a.b” at t = 3.00?";
        assert!(html.contains(asked), "{html}");
    }

    #[test]
    fn what_is_to_be_tried_becomes_tasks_and_leaves_the_lesson() {
        let about = "# A\ntext\n\n**Try**\n- `a.b = 1`: more\n- less\n";
        assert_eq!(without_tasks(about).trim(), "# A\ntext");
        let html = tasks(about);
        assert_eq!(html.matches("<li>").count(), 2, "{html}");
        assert!(html.contains("<code>a.b = 1</code>: more"));
        let within = "**Look for** x. **Try** `a.b = 2`: wide. **Try** 3: **very** wide.";
        assert_eq!(without_tasks(within), "**Look for** x. ");
        assert_eq!(tasks(within).matches("<li>").count(), 2);
        assert!(tasks("nothing to do").is_empty());
    }
}

//! `ripplon bench --scenes` and `--check-auto`: scenes as users write them, and what `auto` takes.

use super::BenchArgs;
use crate::cli::InputError;
use crate::cli::terminal::{say, tell};
use crate::engine::bench::auto::{self, AutoEntry};
use crate::engine::bench::scenes::{self, Effort, Part, SceneEntry};
use crate::export;
use crate::field::Precision;
use crate::scene::scenario::BackendChoice;
use crate::scene::{SceneFile, presets};
use crate::solver;
use crate::units::si;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A scene to measure.
struct Named {
    name: String,
    file: SceneFile,
    /// The scene file, if it is not a preset.
    origin: Option<PathBuf>,
}

/// The requested scenes, or every preset, with the `[solver]` keys of other options.
fn named(names: &[String], args: &BenchArgs) -> anyhow::Result<Vec<Named>> {
    let all: Vec<String> = if names.is_empty() {
        presets::all().iter().map(|preset| preset.name.to_owned()).collect()
    } else {
        names.to_vec()
    };
    let settings = settings(args)?;
    let mut scenes = Vec::new();
    for name in all {
        let (mut file, _) = solver::read_scene(&name, &[])?;
        settings.apply(&mut file);
        if args.scale > 1 {
            file = scenes::enlarged(&file, args.scale);
        }
        let origin = presets::find(&name).is_none().then(|| PathBuf::from(&name));
        scenes.push(Named { name, file, origin });
    }
    Ok(scenes)
}

/// What overrides the scenes.
struct Settings {
    method: Option<String>,
    backend: Option<BackendChoice>,
    precision: Option<Precision>,
    variant: Option<String>,
}

impl Settings {
    fn apply(&self, file: &mut SceneFile) {
        if let Some(method) = &self.method {
            file.solver.method = Some(method.clone());
            file.solver.parameters.clear();
        }
        if let Some(backend) = self.backend {
            file.solver.backend = backend;
        }
        if let Some(precision) = self.precision {
            file.solver.precision = precision;
        }
        if let Some(variant) = &self.variant {
            file.solver.variant.clone_from(variant);
        }
    }
}

fn settings(args: &BenchArgs) -> Result<Settings, InputError> {
    fn word<T: Copy>(option: &str, asked: Option<&String>, all: &[(&'static str, T)]) -> Result<Option<T>, InputError> {
        let Some(asked) = asked else { return Ok(None) };
        let found = all.iter().find(|(word, _)| word == asked);
        let words: Vec<&str> = all.iter().map(|(word, _)| *word).collect();
        found
            .map(|(_, value)| Some(*value))
            .ok_or_else(|| InputError(format!("{option} {asked}: there are {}", words.join(", "))))
    }
    Ok(Settings {
        method: args.method.clone(),
        backend: word("--backend", args.backend.as_ref(), &BackendChoice::ALL)?,
        precision: word("--precision", args.precision.as_ref(), &Precision::ALL)?,
        variant: args.variant.clone(),
    })
}

fn effort(args: &BenchArgs) -> Effort {
    let run = args.run;
    if args.quick {
        Effort {
            seconds: 0.05,
            rounds: 3,
            run,
        }
    } else {
        Effort {
            seconds: 0.15,
            rounds: 7,
            run,
        }
    }
}

fn machine() -> String {
    let threads = crate::backend::threads::count();
    format!("{}, {threads} threads", crate::backend::machine::processor_name())
}

/// Checks that the file of `--json` can be written before anything is measured.
fn check_output(args: &BenchArgs) -> anyhow::Result<()> {
    let outputs: Vec<_> = args.json.iter().map(|path| ("--json", path.as_path())).collect();
    crate::cli::named::check(&outputs, &[])?;
    Ok(())
}

fn write<T: serde::Serialize>(path: Option<&Path>, entries: &[T]) -> anyhow::Result<()> {
    if let Some(path) = path {
        let mut file = export::begin(path)?;
        serde_json::to_writer_pretty(&mut file, entries)?;
        writeln!(file)?;
        export::complete(file)?;
    }
    Ok(())
}

/// `--scenes`.
pub(super) fn run(args: &BenchArgs, names: &[String]) -> anyhow::Result<()> {
    let scenes = named(names, args)?;
    check_output(args)?;
    say!("{}; scenes as written beside their bare grids, in turns", machine());
    say!(
        "ratio: time per step over that of the bare grid; each part: time per step with it over that without it; run: site-steps/s of `ripplon run` (`--run`)\n"
    );
    say!("{}", headings());
    let mut entries = Vec::new();
    for scene in &scenes {
        match scenes::measure(&scene.name, &scene.file, scene.origin.as_deref(), effort(args)) {
            Ok(entry) => {
                let read = say!("{}", line(&entry));
                entries.push(entry);
                // Nobody reads any more, and nothing is written.
                if !read && args.json.is_none() {
                    return Ok(());
                }
            }
            Err(error) => tell!("{}: {error}", scene.name),
        }
    }
    write(args.json.as_deref(), &entries)?;
    if entries.is_empty() {
        anyhow::bail!("no scene could be measured");
    }
    if entries.len() > 1 {
        say!("\n{}", summary(&entries));
    }
    Ok(())
}

/// `--check-auto`.
pub(super) fn check_auto(args: &BenchArgs) -> anyhow::Result<()> {
    let scenes = named(args.scenes.as_deref().unwrap_or_default(), args)?;
    let settings = settings(args)?;
    check_output(args)?;
    say!("{}; every variant beside what `auto` takes, in turns\n", machine());
    say!("{}", auto_headings());
    let mut entries = Vec::new();
    let mut check =
        |what: &str, scene: &SceneFile, origin: Option<&Path>| match auto::check(what, scene, origin, effort(args)) {
            Ok(entry) => {
                say!("{}", auto_line(&entry));
                entries.push(entry);
            }
            Err(error) => tell!("{what}: {error}"),
        };
    for scene in &scenes {
        check(&scene.name, &scene.file, scene.origin.as_deref());
    }
    let cases = if args.scenes.is_some() {
        Vec::new()
    } else {
        auto::cases()
    };
    let sizes: Vec<Vec<usize>> = if args.size.is_empty() {
        auto::shapes(args.quick)
    } else {
        args.size.iter().map(|size| size.0.clone()).collect()
    };
    for case in cases {
        let left_out = |asked: &Option<String>, word: &str| asked.as_ref().is_some_and(|asked| asked != word);
        let has_backend = |asked| {
            asked == BackendChoice::Auto
                || (case.method.present_targets()).any(|target| BackendChoice::from(target.backend) == asked)
        };
        if left_out(&args.method, case.method.id)
            || left_out(&args.precision, case.precision.as_str())
            || !settings.backend.is_none_or(has_backend)
        {
            continue;
        }
        for size in &sizes {
            if let Some(mut scene) = auto::shape(&case, size) {
                settings.apply(&mut scene);
                check(&super::side_label(size), &scene, None);
            }
        }
    }
    write(args.json.as_deref(), &entries)?;
    if entries.is_empty() {
        anyhow::bail!("nothing could be measured");
    }
    let slower = entries.iter().filter(|entry| entry.faster().is_some()).count();
    say!(
        "\n`auto` is beaten by more than 5% in {slower} of {} cases",
        entries.len()
    );
    Ok(())
}

fn headings() -> String {
    let parts: Vec<String> = Part::ALL.iter().map(|(word, _)| format!("{word:>11}")).collect();
    format!(
        "{:<20} {:<11} {:<18} {:<13} {:<9} {:>10} {:>10} {:>7} {} {:>9} {:>10}",
        "scene",
        "size",
        "method",
        "variant",
        "precision",
        "as written",
        "bare",
        "ratio",
        parts.join(" "),
        "way back",
        "run"
    )
}

fn line(entry: &SceneEntry) -> String {
    let size: Vec<String> = entry.size.iter().map(ToString::to_string).collect();
    let parts: Vec<String> = (Part::ALL.iter())
        .map(|(_, part)| {
            let found = entry.parts.iter().find(|entry| entry.part == *part);
            format!("{:>11}", found.map_or("-".to_owned(), |entry| factor(entry.ratio)))
        })
        .collect();
    format!(
        "{:<20} {:<11} {:<18} {:<13} {:<9} {:>10} {:>10} {:>7} {} {:>9} {:>10}",
        entry.scene,
        size.join("x"),
        entry.method,
        entry.variant,
        entry.precision,
        si(entry.site_steps_per_s).trim_end(),
        si(entry.bare_site_steps_per_s).trim_end(),
        factor(entry.ratio),
        parts.join(" "),
        entry.way_back_ratio.map_or("-".to_owned(), factor),
        (entry.run_site_steps_per_s).map_or("-".to_owned(), |rate| si(rate).trim_end().to_owned())
    )
}

/// Three digits.
fn factor(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 9.995 => format!("{ratio:.2}"),
        ratio if ratio < 99.95 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.0}"),
    }
}

/// The mean of the ratios, and how many are large.
#[expect(clippy::cast_precision_loss, reason = "a number of scenes")]
fn summary(entries: &[SceneEntry]) -> String {
    let mean = entries.iter().map(|entry| entry.ratio).sum::<f64>() / entries.len() as f64;
    let geometric = entries.iter().map(|entry| entry.ratio.ln()).sum::<f64>() / entries.len() as f64;
    let above = |limit: f64| entries.iter().filter(|entry| entry.ratio > limit).count();
    format!(
        "{} scenes: mean ratio {}, geometric mean {}; {} above 2, {} above 1.25",
        entries.len(),
        factor(mean),
        factor(geometric.exp()),
        above(2.0),
        above(1.25)
    )
}

fn auto_headings() -> String {
    format!(
        "{:<20} {:<18} {:<9} {:<19} {:>12}  others over it",
        "what", "method", "precision", "auto takes", "site-steps/s"
    )
}

fn auto_line(entry: &AutoEntry) -> String {
    let others: Vec<String> = (entry.others.iter())
        .map(|other| {
            let mark = if other.ratio > auto::ALLOWED { "!" } else { "" };
            let place = if other.taken.backend == entry.auto.backend {
                String::new()
            } else {
                format!("{} ", other.taken.backend)
            };
            format!("{place}{} {}{mark}", other.taken.variant, factor(other.ratio))
        })
        .collect();
    format!(
        "{:<20} {:<18} {:<9} {:<19} {:>12}  {}",
        entry.what,
        entry.method,
        entry.precision,
        format!("{} {}", entry.auto.backend, entry.auto.variant),
        si(entry.site_steps_per_s).trim_end(),
        others.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::bench::scenes::PartEntry;
    use clap::Parser;

    #[derive(Parser)]
    struct Wrapped {
        #[command(flatten)]
        args: BenchArgs,
    }

    fn parsed(words: &[&str]) -> Result<BenchArgs, clap::Error> {
        let all = ["bench"].iter().chain(words);
        Wrapped::try_parse_from(all).map(|wrapped| wrapped.args)
    }

    fn entry(scene: &str, ratio: f64) -> SceneEntry {
        SceneEntry {
            scene: scene.to_owned(),
            method: "fdtd",
            backend: "cpu",
            precision: "single",
            order: 2,
            size: vec![256, 256],
            threads: 2,
            time_step: 5e-5,
            variant: "stepwise",
            site_steps_per_s: 1e8,
            run_site_steps_per_s: None,
            bare_variant: "tiled",
            bare_site_steps_per_s: 1e8 * ratio,
            ratio,
            parts: vec![PartEntry {
                part: Part::Edges,
                ratio: 12.0,
            }],
            way_back_ratio: None,
        }
    }

    #[test]
    fn arguments_are_read() {
        assert_eq!(parsed(&[]).unwrap().scenes, None);
        assert_eq!(parsed(&["--scenes"]).unwrap().scenes, Some(Vec::new()));
        let args = parsed(&["--scenes", "pond", "a.toml", "--scale", "4", "--quick"]).unwrap();
        assert_eq!(args.scenes, Some(vec!["pond".to_owned(), "a.toml".to_owned()]));
        assert_eq!(args.scale, 4);
        assert!(parsed(&["--check-auto", "--scenes", "pond"]).unwrap().check_auto);
        for wrong in [
            &["--scale", "2"][..],
            &["--scenes", "--scale", "0"],
            &["--scenes", "--uniform"],
            &["--scenes", "--blocks", "3"],
            &["--check-auto", "--frames", "60"],
            &["--check-auto", "--run"],
        ] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn options_stand_over_what_scenes_say() {
        let args = parsed(&[
            "--scenes",
            "pond",
            "--precision",
            "double",
            "--backend",
            "cpu",
            "--scale",
            "2",
        ])
        .unwrap();
        let scenes = named(args.scenes.as_deref().unwrap(), &args).unwrap();
        assert_eq!(scenes.len(), 1);
        assert_eq!(scenes[0].file.solver.precision, Precision::Double);
        assert_eq!(scenes[0].file.solver.backend, BackendChoice::Cpu);
        assert_eq!(scenes[0].file.grid.size, [512, 512]);
        let all = parsed(&["--scenes"]).unwrap();
        assert_eq!(named(&[], &all).unwrap().len(), presets::all().len());
        let wrong = parsed(&["--scenes", "--precision", "half"]).unwrap();
        let error = named(&[], &wrong).err().unwrap().to_string();
        assert!(error.contains("single, double"), "{error}");
        assert!(named(&["no-such-scene".to_owned()], &all).is_err());
    }

    #[test]
    fn columns_stand_below_each_other() {
        let (head, row) = (headings(), line(&entry("through-the-forest", 34.25)));
        assert_eq!(head.chars().count(), row.chars().count(), "\n{head}\n{row}");
        let end = head.find("edges").unwrap() + "edges".len();
        assert!(row[..end].ends_with(" 12.0"), "\n{head}\n{row}");
        assert!(row.contains(" 34.2 ") || row.contains(" 34.3 "), "{row}");
    }

    #[test]
    fn a_summary_counts_what_is_slow() {
        let text = summary(&[entry("a", 1.0), entry("b", 4.0)]);
        assert!(
            text.contains("mean ratio 2.50, geometric mean 2.00; 1 above 2, 1 above 1.25"),
            "{text}"
        );
    }

    #[test]
    fn json_has_the_documented_keys() {
        let value = serde_json::to_value(entry("pond", 12.5)).unwrap();
        assert_eq!(value["scene"], "pond");
        assert_eq!(value["ratio"], 12.5);
        assert_eq!(value["parts"][0]["part"], "edges");
        assert_eq!(value["parts"][0]["ratio"], 12.0);
        assert!(value.get("way_back_ratio").is_none());
    }
}

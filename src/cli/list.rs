//! `ripplon list`: what there is.

use super::terminal::say;
use super::{InputError, Interrupt};
use crate::colormap::COLORMAPS;
use crate::file_error::explained;
use crate::scene::presets::{self, Preset};
use crate::solver::{Kind, METHODS, Method, ParameterSpec, order_word};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What to list.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// What to list
    what: What,
    /// Print a JSON array of objects
    #[arg(long)]
    json: bool,
    /// Presets: also draw the gallery picture of each into this directory, 200 × 112 pixels, on the processor
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    thumbnails: Option<PathBuf>,
    /// Presets: also make a page of them in this directory, each with cover, short film, lesson, predictions with verdicts, and command
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "thumbnails"])]
    site: Option<PathBuf>,
    /// With --site: instead of films and covers, show the pictures in this folder (a path relative to the page); the page is one small file
    #[arg(long, value_name = "FOLDER", requires = "site", conflicts_with = "thumbnails")]
    stills: Option<String>,
    /// With --site: only these presets (repeatable)
    #[arg(long, value_name = "NAME", requires = "site", conflicts_with = "thumbnails")]
    only: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Scenes that come with the program
    Presets,
    /// Numerical methods
    Methods,
    /// Colour maps
    Colormaps,
}

pub(super) fn run(args: &ListArgs) -> anyhow::Result<()> {
    for (option, folder) in [("thumbnails", &args.thumbnails), ("site", &args.site)] {
        if folder.is_some() && !matches!(args.what, What::Presets) {
            let text = format!("--{option} draws presets; write `ripplon list presets --{option} DIR`");
            return Err(InputError(text).into());
        }
    }
    if let Some(folder) = &args.thumbnails {
        return thumbnails(folder);
    }
    if let Some(folder) = &args.site {
        return super::site::make(folder, &args.only, args.stills.as_deref());
    }
    let mut out = std::io::stdout().lock();
    let done = if args.json {
        let list = match args.what {
            What::Presets => presets_json(),
            What::Methods => METHODS.iter().map(|method| method_json(method)).collect(),
            What::Colormaps => COLORMAPS
                .iter()
                .map(|map| json!({ "id": map.id, "kind": map.kind.as_str(), "about": map.about }))
                .collect(),
        };
        writeln!(out, "{}", serde_json::to_string_pretty(&Value::Array(list))?)
    } else {
        match args.what {
            What::Presets => presets(&mut out),
            What::Methods => METHODS.iter().try_for_each(|method| method_text(&mut out, method)),
            What::Colormaps => COLORMAPS
                .iter()
                .try_for_each(|map| writeln!(out, "{:12} {:12} {}", map.id, map.kind.as_str(), map.about)),
        }
    };
    super::ignore_closed_pipe(done)
}

/// Draws every preset's picture.
fn thumbnails(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|error| InputError(format!("{}: {}", folder.display(), explained(&error))))?;
    let interrupt = Interrupt::listen()?;
    for preset in presets::all() {
        let out = folder.join(format!("{}.png", preset.name));
        if !super::render::thumbnail(preset.name, &[], &out, &interrupt)? {
            anyhow::bail!("cancelled; pictures that were drawn stay in {}", folder.display());
        }
        say!("{}", out.display());
    }
    Ok(())
}

fn method_text(out: &mut impl Write, method: &Method) -> std::io::Result<()> {
    let join = |words: Vec<String>| words.join(", ");
    writeln!(out, "{}: {}", method.id, method.title)?;
    writeln!(out, "  {}", method.about)?;
    let ranks = method.ranks.iter().map(|rank| format!("{rank}D")).collect();
    let orders = method.orders.iter().copied().map(order_word).collect();
    writeln!(
        out,
        "  equation {}, {}, order {} in time",
        method.equation.as_str(),
        join(ranks),
        join(orders)
    )?;
    for target in method.present_targets() {
        let precisions = target.precisions.iter().map(|p| p.as_str().to_owned()).collect();
        writeln!(out, "  {} ({})", target.backend.as_str(), join(precisions))?;
        for variant in target.variants {
            writeln!(out, "    variant {}: {}", variant.id, variant.about)?;
        }
    }
    for spec in method.parameters {
        writeln!(out, "  {} = {}: {}", spec.key, limits(spec), spec.about)?;
    }
    for paper in method.papers {
        if paper.doi.is_empty() {
            writeln!(out, "  {}", paper.citation)?;
        } else {
            writeln!(out, "  {} https://doi.org/{}", paper.citation, paper.doi)?;
        }
    }
    writeln!(out)
}

fn presets(out: &mut impl Write) -> std::io::Result<()> {
    for preset in presets::all() {
        let scene = table(preset);
        let title = scene.get("title").and_then(toml::Value::as_str).unwrap_or_default();
        writeln!(out, "{:24} {title}", preset.name)?;
    }
    Ok(())
}

fn presets_json() -> Vec<Value> {
    presets::all()
        .iter()
        .map(|preset| {
            let scene = table(preset);
            let text = |key: &str| scene.get(key).and_then(toml::Value::as_str).unwrap_or_default();
            let tags: Vec<&str> = scene
                .get("tags")
                .and_then(toml::Value::as_array)
                .map(|tags| tags.iter().filter_map(toml::Value::as_str).collect())
                .unwrap_or_default();
            json!({ "name": preset.name, "title": text("title"), "about": text("about").trim(), "tags": tags })
        })
        .collect()
}

/// A preset's text as a table; whether it is a sound scene is not asked here.
fn table(preset: &Preset) -> toml::Table {
    preset.text.parse().unwrap_or_default()
}

/// What a parameter may be, as text.
fn limits(spec: &ParameterSpec) -> String {
    match spec.kind {
        Kind::OneOf { values, default } => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("{} (default {default})", values.join(" | "))
        }
        Kind::Count { min, max } => format!("{min} … {max} | \"auto\""),
        Kind::Sizes { min, max } => format!("[{min} … {max} per axis] | \"auto\""),
        Kind::Devices { max } => format!("1 … {max} | [numbers from 0] | \"all\""),
    }
}

fn method_json(method: &Method) -> Value {
    let parameters: Vec<Value> = method.parameters.iter().map(parameter_json).collect();
    let targets: Vec<Value> = method
        .present_targets()
        .map(|target| {
            let precisions: Vec<&str> = target.precisions.iter().map(|p| p.as_str()).collect();
            let variants: Vec<Value> = target
                .variants
                .iter()
                .map(|variant| json!({ "id": variant.id, "about": variant.about }))
                .collect();
            json!({ "backend": target.backend.as_str(), "precisions": precisions, "variants": variants })
        })
        .collect();
    let papers: Vec<Value> = method
        .papers
        .iter()
        .map(|paper| json!({ "citation": paper.citation, "doi": paper.doi }))
        .collect();
    json!({
        "id": method.id,
        "title": method.title,
        "about": method.about,
        "equation": method.equation.as_str(),
        "orders": method.orders,
        "ranks": method.ranks,
        "targets": targets,
        "parameters": parameters,
        "papers": papers,
    })
}

fn parameter_json(spec: &ParameterSpec) -> Value {
    let mut object = json!({ "key": spec.key, "title": spec.title, "about": spec.about, "variants": spec.variants });
    let (kind, more) = match spec.kind {
        Kind::OneOf { values, default } => ("one-of", json!({ "values": values, "default": default })),
        Kind::Count { min, max } => ("count", json!({ "min": min, "max": max, "default": "auto" })),
        Kind::Sizes { min, max } => ("sizes", json!({ "min": min, "max": max, "default": "auto" })),
        Kind::Devices { max } => ("devices", json!({ "min": 1, "max": max, "default": [0] })),
    };
    object["kind"] = json!(kind);
    if let Value::Object(more) = more {
        for (key, value) in more {
            object[key] = value;
        }
    }
    object
}

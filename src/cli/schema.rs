//! `ripplon schema`: the scene format for editors and for the reference.

use super::terminal::say;
use crate::colormap::COLORMAPS;
use crate::scene::schema;
use crate::solver::{Kind, METHODS, ParameterSpec};
use clap::Args;
use serde_json::{Map, Value, json};

/// Print the JSON schema of scene files, with which an editor completes, explains and checks them.
#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// Print the tables of docs/scene-format.md instead
    #[arg(long)]
    markdown: bool,
}

pub(super) fn run(args: &SchemaArgs) -> anyhow::Result<()> {
    if args.markdown {
        say!("{}", schema::markdown().trim_end());
    } else {
        say!("{}", serde_json::to_string_pretty(&filled())?);
    }
    Ok(())
}

/// The schema with what the tables of methods and colour maps know.
fn filled() -> Value {
    let mut schema = schema::json();
    let sections = &mut schema["properties"];
    let maps = COLORMAPS.iter().map(|map| map.id);
    sections["view"]["properties"]["colormap"]["enum"] = ["auto"].into_iter().chain(maps).collect();
    let solver = &mut sections["solver"];
    solver["additionalProperties"] = json!(false);
    let keys = &mut solver["properties"];
    keys["method"]["enum"] = METHODS.iter().map(|method| method.id).collect();
    let mut variants = vec!["auto"];
    for method in METHODS {
        for variant in method.targets.iter().flat_map(|target| target.variants) {
            if !variants.contains(&variant.id) {
                variants.push(variant.id);
            }
        }
    }
    keys["variant"]["enum"] = json!(variants);
    if let Value::Object(keys) = keys {
        keys.extend(parameters());
    }
    schema
}

/// The parameters of all methods; where several have one of the same name, what any of them takes.
fn parameters() -> Map<String, Value> {
    let mut all = Map::new();
    for method in METHODS {
        for spec in method.parameters {
            let about = format!("`{}`: {}", method.id, spec.about);
            let entry = all
                .entry(spec.key)
                .or_insert_with(|| json!({ "description": "", "anyOf": [] }));
            let before = entry["description"].as_str().unwrap_or_default();
            entry["description"] = json!(format!("{before}\n\n{about}").trim_start());
            if let (Value::Array(kinds), kind) = (&mut entry["anyOf"], kind(spec))
                && !kinds.contains(&kind)
            {
                kinds.push(kind);
            }
        }
    }
    all
}

fn kind(spec: &ParameterSpec) -> Value {
    let whole = |min: i64, max: i64| json!({ "type": "integer", "minimum": min, "maximum": max });
    let or = |word: &str, kinds: Vec<Value>| {
        let mut all = vec![json!({ "const": word })];
        all.extend(kinds);
        json!({ "anyOf": all })
    };
    match spec.kind {
        Kind::OneOf { values, default } => json!({ "enum": values, "default": default }),
        Kind::Count { min, max } => or("auto", vec![whole(min, max)]),
        Kind::Sizes { min, max } => or("auto", vec![json!({ "type": "array", "items": whole(min, max) })]),
        Kind::Devices { max } => or(
            "all",
            vec![
                whole(1, max),
                json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } }),
            ],
        ),
    }
}

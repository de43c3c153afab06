//! `ripplon schema`: every preset is valid under what it prints, and what is wrong is not.

use super::Place;
use serde_json::Value;

fn printed() -> Value {
    let run = Place::new().ripplon("schema");
    serde_json::from_str(&run.expect(0, &[]).out()).unwrap()
}

/// What is wrong with a value, by the keywords that the program's schema uses; another keyword fails the test.
fn faults(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut unless = |good: bool, what: &str| {
        if !good {
            wrong.push(format!("{at}: {value} is not {what}"));
        }
    };
    let mut inner = Vec::new();
    for (keyword, limit) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "default" => {}
            "type" => {
                let good = match limit.as_str().unwrap() {
                    "number" => value.is_number(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("type {other}"),
                };
                unless(good, &limit.to_string());
            }
            "enum" => unless(limit.as_array().unwrap().contains(value), "one of the words"),
            "const" => unless(limit == value, "the constant"),
            "minimum" => unless(
                value.as_f64().is_none_or(|own| own >= limit.as_f64().unwrap()),
                "large enough",
            ),
            "maximum" => unless(
                value.as_f64().is_none_or(|own| own <= limit.as_f64().unwrap()),
                "small enough",
            ),
            "exclusiveMinimum" => unless(value.as_f64().is_none_or(|own| own > limit.as_f64().unwrap()), "above"),
            "minLength" => unless(value.as_str().is_none_or(|own| !own.is_empty()), "a name"),
            "minItems" => unless(
                value
                    .as_array()
                    .is_none_or(|own| own.len() as u64 >= limit.as_u64().unwrap()),
                "long",
            ),
            "maxItems" => unless(
                value
                    .as_array()
                    .is_none_or(|own| own.len() as u64 <= limit.as_u64().unwrap()),
                "short",
            ),
            "anyOf" | "oneOf" => {
                let fitting = (limit.as_array().unwrap().iter()).filter(|one| faults(one, value, at).is_empty());
                let count = fitting.count();
                unless(count == 1 || (keyword == "anyOf" && count > 0), keyword);
            }
            "required" => {
                for key in limit.as_array().unwrap() {
                    unless(
                        value.get(key.as_str().unwrap()).is_some(),
                        &format!("complete: {key} is missing"),
                    );
                }
            }
            "properties" => {
                for (key, own) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = limit.get(key) {
                        inner.extend(faults(schema, own, &format!("{at}.{key}")));
                    }
                }
            }
            "additionalProperties" => {
                assert_eq!(limit, &Value::Bool(false));
                for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
                    unless(schema["properties"].get(key).is_some(), &format!("known: {key}"));
                }
            }
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    inner.extend(faults(limit, item, &format!("{at}.{n}")));
                }
            }
            other => panic!("{at}: the keyword {other} is not looked at"),
        }
    }
    wrong.extend(inner);
    wrong
}

fn of_text(schema: &Value, text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().unwrap();
    faults(schema, &serde_json::to_value(table).unwrap(), "scene")
}

#[test]
fn every_preset_is_valid_under_the_schema() {
    let schema = printed();
    for preset in ripplon::scene::presets::all() {
        assert_eq!(of_text(&schema, preset.text), Vec::<String>::new(), "{}", preset.name);
    }
}

#[test]
fn what_is_wrong_is_wrong_under_the_schema() {
    let schema = printed();
    let scene = super::SCENE;
    assert!(of_text(&schema, scene).is_empty());
    for (old, new) in [
        ("spacing = 0.5", "spacin = 0.5"),
        ("spacing = 0.5", "spacing = \"0.5\""),
        ("spacing = 0.5", "spacing = 0"),
        ("spacing = 0.5", ""),
        ("format = 1", "format = 2"),
        ("mass = 1.0", "mass = true"),
        ("[quantum]", "[quantun]"),
        ("[quantum]", "[acoustic]\n[quantum]"),
        ("method = \"trotter\"", "method = \"troter\""),
        ("method = \"trotter\"", "method = \"trotter\"\nordre = 2"),
        ("method = \"trotter\"", "method = \"trotter\"\norder = 3"),
        ("measure = \"probability\"", "measure = \"probabilty\""),
        ("center = [5.0, 6.0]", "center = [5.0, \"6.0\"]"),
        ("tolerance = 1e-4", "tolerance = 0"),
        ("max = [16.0, 12.0] }", "max = [16.0, 12.0], mid = 3 }"),
    ] {
        assert!(scene.contains(old), "{old}");
        let wrong = of_text(&schema, &scene.replacen(old, new, 1));
        assert!(!wrong.is_empty(), "`{new}` instead of `{old}` passes");
    }
}

#[test]
fn a_key_is_explained_with_unit_limits_and_default() {
    let schema = printed();
    let speed = &schema["properties"]["acoustic"]["properties"]["speed"];
    let about = speed["description"].as_str().unwrap();
    for part in ["sound speed", "Unit: m/s", "Limits: > 0", "Default: 343"] {
        assert!(about.contains(part), "{part} is missing in {about}");
    }
    assert_eq!(speed["default"], 343.0);
}

#[test]
fn the_tables_are_printed() {
    let text = Place::new().ripplon("schema --markdown").expect(0, &[]).out();
    assert!(text.contains("| `absorb_width` | 32 |"), "{text}");
    assert_eq!(text.matches("| key | default |").count(), 22, "{text}");
}

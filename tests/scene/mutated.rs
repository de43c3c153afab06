//! Awkward and mutated texts: a scene or a list of faults, never a panic.

use super::{FREE, SOUND, read, rendered};
use proptest::prelude::*;
use ripplon::scene::presets;
use ripplon::solver;

#[test]
fn awkward_texts_are_faults() {
    let deep = format!("x = {}{}", "[".repeat(5000), "]".repeat(5000));
    let tables = format!("x = {}1{}", "{a=".repeat(5000), "}".repeat(5000));
    let dotted = format!("{}x = 1", "a.".repeat(20_000));
    let heading = format!("[{}x]", "a.".repeat(20_000));
    let many = "[[packet]]\n".repeat(3000);
    let long = format!("title = \"{}\"\nx", "ä".repeat(100_000));
    for text in [
        &deep, &tables, &dotted, &heading, &many, &long, "", "\u{feff}", "\r\n\r\r", "=", "a.b.c",
    ] {
        let shown = rendered(text);
        assert!(!shown.is_empty());
    }
}

fn mutated() -> impl Strategy<Value = String> {
    let all: Vec<&'static str> = presets::all()
        .iter()
        .map(|preset| preset.text)
        .chain([FREE, SOUND])
        .collect();
    let insert = prop_oneof![
        Just("1e308"),
        Just("-1"),
        Just("0"),
        Just("nan"),
        Just("99999999999999999999999"),
        Just("\""),
        Just("[["),
        Just("]"),
        Just("{"),
        Just("= "),
        Just("ψ→"),
        Just("\u{0}"),
        Just("1e-320"),
        Just("[]"),
        Just("true"),
        Just("1979-05-27"),
        Just("\n"),
        Just("x^y"),
        Just("4000000000"),
        Just("\"\""),
        Just("."),
        Just("#")
    ];
    let edit = (
        0u8..6,
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        insert,
    );
    (prop::sample::select(all), prop::collection::vec(edit, 1..6)).prop_map(|(text, edits)| {
        let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        for (kind, first, second, insert) in edits {
            let (a, b) = (first.index(lines.len()), second.index(lines.len()));
            let cut = |line: &str, at: &prop::sample::Index| {
                let place = at.index(line.chars().count() + 1);
                line.char_indices().nth(place).map_or(line.len(), |(byte, _)| byte)
            };
            match kind {
                0 => lines.swap(a, b),
                1 if lines.len() > 1 => drop(lines.remove(a)),
                // A value by another one.
                2 => {
                    if let Some((key, _)) = lines[a].split_once('=') {
                        lines[a] = format!("{key}= {insert}");
                    }
                }
                3 => {
                    let at = cut(&lines[a], &second);
                    lines[a].insert_str(at, insert);
                }
                4 => {
                    let at = cut(&lines[a], &second);
                    lines[a].truncate(at);
                }
                _ => {
                    let value = lines[b].split_once('=').map(|(_, value)| value.to_owned());
                    let key = lines[a].split_once('=').map(|(key, _)| key.to_owned());
                    if let (Some(key), Some(value)) = (key, value) {
                        lines[a] = format!("{key}={value}");
                    }
                }
            }
        }
        lines.join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, rng_seed: prop::test_runner::RngSeed::Fixed(11), failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever becomes of a scene file, it is a scene or a list of faults with places inside the text.
    #[test]
    fn mutated_scenes_never_panic(text in mutated()) {
        match read(&text) {
            Ok((file, scenario)) => {
                let (again, other) = read(&file.to_toml()).map_err(|faults| TestCaseError::fail(format!("{}\n{faults}", file.to_toml())))?;
                prop_assert_eq!(file, again);
                prop_assert_eq!(scenario, other);
            }
            Err(faults) => {
                prop_assert!(!faults.list.is_empty());
                for fault in &faults.list {
                    let place = fault.location.as_ref().expect("a place");
                    prop_assert!(place.line <= text.matches('\n').count() + 1);
                    prop_assert!(place.column <= place.text.chars().count() + 1);
                }
                prop_assert!(!faults.render(true).is_empty());
            }
        }
    }

    /// The same for overrides.
    #[test]
    fn mutated_overrides_never_panic(path in "[a-z0-9.=\\[\\]\" ]{0,24}", key in prop::sample::select(vec!["grid.size", "grid.spacing", "packet.0.width", "layer.0.value", "time.step", "solver.order", "detector.0.region.min", "layer.0.sets"]), value in "[-0-9a-z.eE\\[\\],{}\"= ]{0,16}") {
        for setting in [path.clone(), format!("{key}={value}")] {
            if let Err(faults) = solver::read_scene_text(FREE, None, &[setting]) {
                prop_assert!(!faults.to_string().is_empty());
            }
        }
    }
}

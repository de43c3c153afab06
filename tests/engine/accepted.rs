//! What a check accepts runs, and stays finite.

use proptest::prelude::*;
use ripplon::engine::Engine;
use ripplon::solver::read_scene_text;
use std::fmt::Write;
use std::sync::Arc;

/// Numbers as people write them, and a few that they should not.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.1..8.0f64,
        1 => prop::sample::select(vec![0.0, -1.0, 1e-12, 1e-25, 1e6, 1e25, 1e31]),
    ]
}

fn layer(sound: bool) -> impl Strategy<Value = String> {
    let sets = if sound {
        vec!["speed", "density", "wall", "absorption"]
    } else {
        vec!["potential", "wall", "absorption"]
    };
    let value = prop_oneof![
        number().prop_map(|number| format!("{number:?}")),
        prop::sample::select(vec![
            "\"1 + x\"",
            "\"cos(x)\"",
            "\"1/(x - 3)\"",
            "\"exp(-r^2)\"",
            "\"2 + sin(3*y)\""
        ])
        .prop_map(str::to_owned),
    ];
    let shape = prop::sample::select(vec![
        "shape = \"everywhere\"".to_owned(),
        "shape = \"disk\"\ncenter = [2.0, 2.0]\nradius = 1.5".to_owned(),
        "shape = \"box\"\nmin = [1.0, 0.0]\nmax = [3.0, 9.0]".to_owned(),
    ]);
    let mode = prop::sample::select(vec!["set", "add"]);
    (prop::sample::select(sets), value, shape, mode).prop_map(|(sets, value, shape, mode)| {
        format!("[[layer]]\nsets = \"{sets}\"\n{shape}\nvalue = {value}\nmode = \"{mode}\"\n")
    })
}

fn scene() -> impl Strategy<Value = String> {
    any::<bool>().prop_flat_map(|sound| {
        let methods = if sound {
            vec!["fdtd", "oscillators"]
        } else {
            vec!["trotter", "crank-nicolson", "split-step-fourier", "chebyshev"]
        };
        (
            (prop::sample::select(methods), prop::sample::select(vec![1, 2, 4]), any::<bool>()),
            prop::sample::select(vec!["wall", "periodic", "absorb", "soft"]),
            (number(), number(), number()),
            prop::option::of(number()),
            prop::collection::vec(layer(sound), 0..3),
        )
            .prop_map(move |((method, order, double), edges, (spacing, constant, width), step, layers)| {
                let precision = if double { "double" } else { "single" };
                let (center, at) = (5.0 * spacing, 4.0 * spacing);
                let mut text = format!(
                    "format = 1\n[grid]\nsize = [12, 10]\nspacing = {spacing:?}\nedges = \"{edges}\"\nabsorb_width = 3\n\
                     [solver]\nbackend = \"cpu\"\nmethod = \"{method}\"\nprecision = \"{precision}\"\n"
                );
                // The others have one order.
                if !["crank-nicolson", "chebyshev"].contains(&method) {
                    writeln!(text, "order = {order}").unwrap();
                }
                if sound {
                    write!(text, "[acoustic]\nspeed = {constant:?}\n[[pulse]]\ncenter = [{center:?}, {at:?}]\nwidth = {width:?}\n").unwrap();
                } else {
                    write!(text, "[quantum]\nmass = {constant:?}\n[[packet]]\ncenter = [{center:?}, {at:?}]\nwidth = {width:?}\n").unwrap();
                }
                if let Some(step) = step {
                    write!(text, "[time]\nstep = {step:?}\n").unwrap();
                }
                text + &layers.concat()
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: prop::test_runner::RngSeed::Fixed(5), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_check_accepts_runs_and_stays_finite(text in scene()) {
        let Ok((_, scenario)) = read_scene_text(&text, None, &[]) else { return Ok(()) };
        let mut engine = Engine::new(Arc::new(scenario)).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let done = engine.advance(40).and_then(|()| engine.observables());
        prop_assert!(done.is_ok(), "{}\n{text}", done.unwrap_err());
    }
}

/// The generator is of use only while many of its scenes are accepted, of every method.
#[test]
fn many_generated_scenes_are_accepted() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut accepted = std::collections::BTreeMap::new();
    for _ in 0..300 {
        let text = scene().new_tree(&mut runner).unwrap().current();
        if let Ok((_, scenario)) = read_scene_text(&text, None, &[]) {
            *accepted.entry(scenario.solver().method.clone()).or_insert(0) += 1;
        }
    }
    assert!(
        accepted.len() == 6 && accepted.values().all(|count| *count >= 5),
        "{accepted:?}"
    );
}

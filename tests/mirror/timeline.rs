//! The timeline of a mirror: cut anywhere, kept, taken again; silence; refusals.

use super::{chain, engine, epsilon, oscillators, points, reached, read, there_and_back};
use ripplon::engine::Engine;
use ripplon::physics::Equation;
use ripplon::solver::{self, Backend};
use std::sync::Arc;

#[test]
fn the_timeline_does_not_depend_on_how_it_is_cut_and_can_be_taken_again() {
    for method in ["reversal", "one-bit", "inverse-filter", "echo"] {
        let mirror = |method: &str| format!("method = \"{method}\"\nnoise = 0.01\n{}", points(&[100.0, 101.0]));
        let text = chain(50.0, 5.0, 1.0, &[], 20.0, &mirror(method));
        let mut whole = engine(&text);
        whole.advance(230).unwrap();
        let mut cut = engine(&text);
        for _ in 0..230 {
            cut.advance(1).unwrap();
        }
        let field = whole.field().unwrap();
        assert_eq!(field, cut.field().unwrap(), "{method}");
        // A checkpoint in the middle of the way back.
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let mut early = engine(&text);
        early.advance(150).unwrap();
        early.save_checkpoint(&path).unwrap();
        let (mut resumed, remarks) = Engine::resume(Arc::new(read(&text)), &path).unwrap();
        assert!(remarks.is_empty(), "{remarks:?}");
        resumed.advance(80).unwrap();
        assert_eq!(field, resumed.field().unwrap(), "{method} resumed");
        // Back to the turn and the same way again, from the run itself and from the resumed one.
        for engine in [&mut whole, &mut resumed] {
            engine.back_to_turn().unwrap();
            assert_eq!(engine.clock().steps, 100);
            engine.advance(130).unwrap();
            assert_eq!(field, engine.field().unwrap(), "{method} again");
        }
        // With another method, as if it had been that from the start.
        let other = if method == "reversal" {
            "inverse-filter"
        } else {
            "reversal"
        };
        let edited = chain(50.0, 5.0, 1.0, &[], 20.0, &mirror(other));
        whole.update(Arc::new(read(&edited))).unwrap();
        assert_eq!(whole.clock().steps, 100, "{method} to {other}");
        whole.advance(130).unwrap();
        let mut fresh = engine(&edited);
        fresh.advance(230).unwrap();
        assert_eq!(whole.field().unwrap(), fresh.field().unwrap(), "{method} to {other}");
        // A snapshot on the way back, and a fresh start.
        whole.snapshot().unwrap();
        let kept = whole.field().unwrap();
        whole.reset().unwrap();
        whole.advance(7).unwrap();
        whole.restore().unwrap();
        assert_eq!(kept, whole.field().unwrap());
        whole.reset().unwrap();
        whole.advance(230).unwrap();
        assert_eq!(whole.field().unwrap(), fresh.field().unwrap(), "{method} reset");
    }
}

/// A mirror that heard nothing plays nothing: the field is empty, and that is no failure.
#[test]
fn silence_is_played_as_silence() {
    let far = points(&[3000.0]);
    let wave = chain(50.0, 5.0, 1.0, &[], 2.0, &format!("method = \"reversal\"\n{far}"));
    let sound = oscillators(4.0, "reversal")
        .replace(&points(&[120.0]), &far)
        .replace("at = 750.0", "at = 2.0");
    for (method, variant, precision) in reached(Backend::Cpu) {
        let (text, was) = match method.equation {
            Equation::Schrodinger => (
                &wave,
                "method = \"trotter\"\nbackend = \"cpu\"\nvariant = \"vector\"\nprecision = \"double\"",
            ),
            Equation::Acoustic => (&sound, "method = \"fdtd\"\nprecision = \"double\""),
        };
        if ["tiled", "diamond-torre"].contains(&variant) {
            continue;
        }
        let solver = format!(
            "method = \"{}\"\nbackend = \"cpu\"\nvariant = \"{variant}\"\nprecision = \"{}\"",
            method.id,
            precision.word()
        );
        assert!(text.contains(was));
        let mut engine = engine(&text.replace(was, &solver));
        let found = there_and_back(&mut engine);
        let norm = engine.observables().unwrap().norm;
        let name = format!("{} {variant} {}: {found:?}, norm {norm:e}", method.id, precision.word());
        // Fourier transforms leave their rounding everywhere.
        let rounding = if method.reach.is_none() {
            100.0 * epsilon(precision)
        } else {
            0.0
        };
        assert!((found.error - 1.0).abs() <= rounding && norm <= rounding, "{name}");
    }
}

#[test]
fn what_a_mirror_cannot_do_is_said() {
    let refused = |text: &str| match solver::read_scene_text(text, None, &[]) {
        Ok(_) => panic!("accepted: {text}"),
        Err(faults) => faults.render(false),
    };
    let mirror = format!("method = \"inverse-filter\"\n{}", points(&[100.0, 101.0]));
    let text = chain(50.0, 5.0, 1.0, &[], 20.0, &mirror).replace("variant = \"vector\"\n", "");
    let said = refused(&text.replace("\"trotter\"", "\"split-step-fourier\""));
    assert!(said.contains("every site depends on all others"), "{said}");
    let said = refused(&text.replace("\"trotter\"", "\"crank-nicolson\""));
    assert!(said.contains("does not reach single sites"), "{said}");
    let said = refused(&chain(50.0, 5.0, 1.0, &[], 20.0, "method = \"reversal\""));
    assert!(said.contains("plays through transducers"), "{said}");
}

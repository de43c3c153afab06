//! Runs that are kept in files and taken up again.

use super::{RUNS, engine, same_bits, scene};
use proptest::prelude::*;
use ripplon::engine::{Checkpoint, CheckpointError, Engine, EngineError};
use std::path::Path;
use std::sync::OnceLock;

/// A run of 50 steps with a checkpoint after 21, written to `path`.
fn checkpointed(overrides: &[&str], path: &Path) -> Engine {
    let mut run = engine(overrides);
    run.keep_observables(5).unwrap();
    run.advance(21).unwrap();
    run.save_checkpoint(path).unwrap();
    run.advance(29).unwrap();
    run
}

#[test]
fn a_resumed_run_is_the_uninterrupted_one_bit_by_bit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    for overrides in RUNS {
        let mut whole = checkpointed(overrides, &path);
        let (mut resumed, remarks) = Engine::resume(scene(overrides), &path).unwrap();
        assert!(remarks.is_empty(), "{remarks:?}");
        assert_eq!(resumed.clock().steps, 21);
        resumed.advance(29).unwrap();
        assert!(
            same_bits(&whole.field().unwrap(), &resumed.field().unwrap()),
            "{overrides:?}"
        );
        assert_eq!(whole.clock(), resumed.clock());
        assert_eq!(whole.taps(), resumed.taps());
        assert_eq!(whole.log(), resumed.log());
        assert_eq!(whole.log().unwrap().rows.len(), 11);
        assert_eq!(whole.verdicts(), resumed.verdicts());
        assert_eq!(whole.drift().to_bits(), resumed.drift().to_bits());
    }
}

/// `auto` may choose otherwise here than where the run began; the run goes on as it began.
#[test]
fn a_resumed_run_keeps_the_variant_that_was_chosen_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    let mut whole = checkpointed(&["solver.variant=naive"], &path);
    let mut checkpoint = Checkpoint::read(&path).unwrap();
    let open = checkpoint
        .run
        .scene
        .replace("variant = \"naive\"", "variant = \"auto\"");
    assert_ne!(open, checkpoint.run.scene);
    checkpoint.run.scene = open;
    checkpoint.write(&path).unwrap();
    let asked = scene(&["solver.variant=auto"]);
    assert_ne!(engine(&["solver.variant=auto"]).report().variant, "naive");
    let (mut resumed, remarks) = Engine::resume(asked, &path).unwrap();
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(resumed.report().variant, "naive");
    resumed.advance(29).unwrap();
    assert!(same_bits(&whole.field().unwrap(), &resumed.field().unwrap()));
    // Who asks for another one gets it, and is told.
    let (resumed, remarks) = Engine::resume(scene(&["solver.variant=vector"]), &path).unwrap();
    assert_eq!(resumed.report().variant, "vector");
    assert!(remarks.iter().any(|remark| remark.contains("naive")), "{remarks:?}");
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    checkpointed(&[], &path);
    let refused = |overrides: &[&str]| match Engine::resume(scene(overrides), &path) {
        Err(EngineError::Checkpoint(CheckpointError::Mismatch { what, .. })) => what,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{overrides:?} was taken"),
    };
    let what = refused(&["grid.size=[64, 32]"]);
    assert!(what.contains("48 × 32") && what.contains("64 × 32"), "{what}");
    assert!(refused(&["grid.spacing=0.4"]).contains("[grid]"));
    assert!(refused(&["packet.0.momentum=[0.0, 0.0]"]).contains("initial state"));
}

#[test]
fn what_differs_from_a_checkpoint_acts_from_there_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    let mut live = engine(&[]);
    live.keep_observables(5).unwrap();
    live.advance(21).unwrap();
    live.save_checkpoint(&path).unwrap();
    for (overrides, remark) in [
        (&["layer.0.value=2.0"][..], "[layer]"),
        (&["time.step=0.01"], "time.step"),
        (&["solver.precision=double"], "[solver]"),
        (&["detector.1.name=other"], "[detector]"),
    ] {
        let (mut resumed, remarks) = Engine::resume(scene(overrides), &path).unwrap();
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        assert!(remarks[0].ends_with(remark), "{remarks:?}");
        // The same as editing the running scene, bit by bit.
        let (mut edited, _) = Engine::resume(scene(&[]), &path).unwrap();
        edited.update(scene(overrides)).unwrap();
        resumed.advance(9).unwrap();
        edited.advance(9).unwrap();
        assert!(
            same_bits(&resumed.field().unwrap(), &edited.field().unwrap()),
            "{overrides:?}"
        );
        assert_eq!(resumed.taps(), edited.taps());
    }
    let (_, remarks) = Engine::resume(scene(&["time.end=5.0", "view.quantity=phase", "title=Longer"]), &path).unwrap();
    assert!(remarks.is_empty(), "{remarks:?}");
}

#[test]
fn a_file_that_is_no_checkpoint_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    assert!(matches!(Checkpoint::read(&path), Err(CheckpointError::Read { .. })));
    for content in [
        &b""[..],
        b"RIPPLON",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<c8', 'fortran_order': False",
        &[0; 4096],
    ] {
        std::fs::write(&path, content).unwrap();
        assert!(matches!(Checkpoint::read(&path), Err(CheckpointError::Foreign { .. })));
    }
    let mut newer = good_checkpoint().to_vec();
    newer[16] = 4;
    std::fs::write(&path, newer).unwrap();
    assert!(matches!(
        Checkpoint::read(&path),
        Err(CheckpointError::Version { found: 4, .. })
    ));
}

#[test]
fn a_checkpoint_that_cannot_be_written_leaves_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = engine(&[]);
    let error = run.save_checkpoint(&dir.path().join("no/such/directory")).unwrap_err();
    assert!(
        matches!(error, EngineError::Checkpoint(CheckpointError::Write { .. })),
        "{error}"
    );
    assert!(!error.is_input());
    assert!(error.to_string().contains("make it first"), "{error}");
    let path = dir.path().join("run.ripplon");
    run.save_checkpoint(&path).unwrap();
    let names: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["run.ripplon"], "nothing else is left behind");
}

/// The bytes of a sound checkpoint.
fn good_checkpoint() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.ripplon");
        checkpointed(
            &[
                "grid.size=[48]",
                "packet.0.center=[8.0]",
                "packet.0.width=[2.0]",
                "packet.0.momentum=[1.5]",
                "layer.0.min=[12.0]",
                "layer.0.max=[13.0]",
                "detector.0.region={ min = [13.5], max = [20.0] }",
                "detector.1.at=[12.0]",
            ],
            &path,
        );
        std::fs::read(&path).unwrap()
    })
}

fn read_bytes(bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    Checkpoint::read(file.path())
}

#[test]
fn a_sound_checkpoint_is_read() {
    let checkpoint = read_bytes(good_checkpoint()).unwrap();
    assert_eq!(checkpoint.state.clock.steps, 21);
    assert_eq!(checkpoint.records.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// A CRC-32 finds every burst of up to 32 bits, so a changed byte never passes, wherever it is.
    #[test]
    fn a_changed_byte_is_found(place in any::<prop::sample::Index>(), by in 1u8..=255) {
        let mut bytes = good_checkpoint().to_vec();
        let place = place.index(bytes.len());
        bytes[place] ^= by;
        prop_assert!(read_bytes(&bytes).is_err());
    }

    #[test]
    fn a_cut_is_found(place in any::<prop::sample::Index>()) {
        let bytes = good_checkpoint();
        prop_assert!(read_bytes(&bytes[..place.index(bytes.len())]).is_err());
    }

    #[test]
    fn more_bytes_are_found(place in any::<prop::sample::Index>(), more in prop::collection::vec(any::<u8>(), 1..40)) {
        let mut bytes = good_checkpoint().to_vec();
        let place = place.index(bytes.len() + 1);
        bytes.splice(place..place, more);
        prop_assert!(read_bytes(&bytes).is_err());
    }

    /// Digits of the header changed into others keep it valid JSON: lengths and counts that lie must not be believed.
    #[test]
    fn a_lying_header_is_found(place in any::<prop::sample::Index>(), digit in b'0'..=b'9') {
        let mut bytes = good_checkpoint().to_vec();
        let header = u32::from_le_bytes(bytes[20..24].try_into().unwrap()) as usize;
        let digits: Vec<usize> = (24..24 + header).filter(|&n| bytes[n].is_ascii_digit()).collect();
        let place = digits[place.index(digits.len())];
        prop_assume!(bytes[place] != digit);
        bytes[place] = digit;
        prop_assert!(read_bytes(&bytes).is_err());
    }
}

/// Every method on the processor, with walls, where zeros of both signs come about: all bits of the state, not of the field alone.
#[test]
fn signs_of_zero_survive_a_resume() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    let walls = "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [9.0, 0.0]\nmax = [10.0, 6.0]\n";
    let sound = format!(
        "format = 1\n[grid]\nsize = [24, 20]\nspacing = 1.0\n[acoustic]\nspeed = 1.0\n[time]\nend = 9.0\n[solver]\nbackend = \"cpu\"\n\
         [[pulse]]\ncenter = [5.0, 5.0]\nwidth = 0.7\n{walls}"
    );
    let quantum = format!(
        "format = 1\n[grid]\nsize = [24, 20]\nspacing = 1.0\n[quantum]\n[time]\nstep = 0.1\n[solver]\nbackend = \"cpu\"\n\
         [[packet]]\ncenter = [5.0, 5.0]\nwidth = 0.7\nmomentum = [0.5, 0.0]\n{walls}"
    );
    let mut tried = 0;
    for method in ripplon::solver::METHODS {
        let text = if method.equation == ripplon::physics::Equation::Acoustic {
            &sound
        } else {
            &quantum
        };
        for variant in method
            .present_targets()
            .filter(|target| target.backend == ripplon::solver::Backend::Cpu)
            .flat_map(|target| target.variants)
        {
            for precision in ["single", "double"] {
                let overrides = [
                    format!("solver.method={}", method.id),
                    format!("solver.variant={}", variant.id),
                    format!("solver.precision={precision}"),
                ];
                // Some have no walls, or work in one or three dimensions only.
                let Ok((_, scenario)) = ripplon::solver::read_scene_text(text, None, &overrides) else {
                    continue;
                };
                let scenario = std::sync::Arc::new(scenario);
                let mut whole = Engine::new(scenario.clone()).unwrap();
                whole.advance(7).unwrap();
                whole.save_checkpoint(&path).unwrap();
                whole.advance(6).unwrap();
                let (mut resumed, _) = Engine::resume(scenario, &path).unwrap();
                resumed.advance(6).unwrap();
                for run in [&mut whole, &mut resumed] {
                    run.save_checkpoint(&path.with_extension(if tried % 2 == 0 { "a" } else { "b" }))
                        .unwrap();
                    tried += 1;
                }
                let state = |ending: &str| Checkpoint::read(&path.with_extension(ending)).unwrap().state;
                let (own, other) = (state("a"), state("b"));
                for ((name, a), (_, b)) in own.arrays.iter().zip(&other.arrays) {
                    assert!(same_bits(a, b), "{overrides:?}: {name}");
                }
            }
        }
    }
    assert!(tried >= 2 * 2 * 6, "{tried}");
}

/// Bits may depend on the program and on the processor's vectors: where they are others, a resumed run says so.
#[test]
fn another_program_or_other_vectors_are_remarked_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    let mut run = checkpointed(&[], &path);
    run.save_checkpoint(&path).unwrap();
    assert_eq!(Engine::resume(scene(&[]), &path).unwrap().1, Vec::<String>::new());
    let mut checkpoint = Checkpoint::read(&path).unwrap();
    checkpoint.run.program = "0.0.1".to_owned();
    checkpoint.run.vectors = "ninety-nine".to_owned();
    checkpoint.write(&path).unwrap();
    let (_, remarks) = Engine::resume(scene(&[]), &path).unwrap();
    for words in ["version 0.0.1", "vectors ninety-nine"] {
        assert!(remarks.iter().any(|remark| remark.contains(words)), "{remarks:?}");
    }
    assert_eq!(remarks.len(), 2, "{remarks:?}");
}

/// Format 2 had one measure of ψ a row less; what it had not is no number, and all else is as it was.
#[test]
fn the_format_before_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    let mut run = engine(&[]);
    run.keep_state_measures(5).unwrap();
    run.advance(21).unwrap();
    run.save_checkpoint(&path).unwrap();
    let new = Checkpoint::read(&path).unwrap();
    let rows = new.log.as_ref().unwrap().rows.len();
    assert!(rows > 2);
    // A row: its step, time and nine observables, then 14 measures, the purity last. Rows end the file, but for the checksum.
    let bytes = std::fs::read(&path).unwrap();
    let (row, body) = (8 * (1 + 10 + 14), bytes.len() - 4);
    let first = body - rows * row;
    let mut old = bytes[..first].to_vec();
    for values in bytes[first..body].chunks(row) {
        old.extend(&values[..row - 8]);
    }
    old[16..20].copy_from_slice(&2u32.to_le_bytes());
    old.extend(crc32fast::hash(&old).to_le_bytes());
    std::fs::write(&path, &old).unwrap();
    let read = Checkpoint::read(&path).unwrap();
    assert!(read.state == new.state && read.times == new.times && read.records == new.records);
    for (old, new) in read.log.unwrap().rows.iter().zip(&new.log.as_ref().unwrap().rows) {
        let (old, new) = (old.state.unwrap(), new.state.unwrap());
        let pure = 0.1..1.0 + 1e-5;
        assert!(
            old.purity.is_nan() && pure.contains(&new.purity),
            "{} {}",
            old.purity,
            new.purity
        );
        assert_eq!((old.momentum, old.participation), (new.momentum, new.participation));
    }
}

/// Measures of a ψ that is 0 everywhere, of which only the overlap is a number, are kept; a row without measures has none.
#[test]
fn measures_of_an_empty_state_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    let mut run = engine(&[]);
    run.keep_state_measures(5).unwrap();
    run.advance(11).unwrap();
    run.save_checkpoint(&path).unwrap();
    let mut checkpoint = Checkpoint::read(&path).unwrap();
    let rows = &mut checkpoint.log.as_mut().unwrap().rows;
    rows[0].state = None;
    let state = rows[1].state.as_mut().unwrap();
    (state.participation, state.momentum) = (f64::NAN, [f64::NAN; 3]);
    (state.overlap.re, state.overlap.im) = (0.0, 0.0);
    checkpoint.write(&path).unwrap();
    let rows = Checkpoint::read(&path).unwrap().log.unwrap().rows;
    assert!(rows[0].state.is_none());
    let kept = rows[1].state.unwrap();
    assert!(kept.participation.is_nan() && kept.survival() == 0.0, "{kept:?}");
}

//! Runs that go on otherwise than they began: with another method for sound, and on the way back from a mirror.

use super::{SCENE, largest_difference, same_bits, scene_from};
use ripplon::engine::{Change, CheckpointError, Engine, EngineError};

/// Two pulses that run apart on a line, reflected at its ends; the energy of all is recorded.
pub const SOUND: &str = "format = 1\n[grid]\nsize = [240]\nspacing = 1.0\n[acoustic]\nspeed = 1.0\n[time]\nstep = 0.25\nend = 200.0\n[solver]\nmethod = \"fdtd\"\nprecision = \"double\"\n\
    [[pulse]]\ncenter = [100.0]\nwidth = 7.0\n[[detector]]\nname = \"all\"\nmeasure = \"energy\"\nregion = { min = [0.0], max = [239.0] }\n";

/// What sound is doing goes over to another method with its pressure: a wave that runs to the right goes on to the right. What may differ is what the methods themselves differ by on the way:
/// the same lattice of order 2, and steps that are off by some (kcΔt)²/24 of the phase velocity, 4e-4 at kΔx = 0.4, where the spectrum has fallen to e⁻⁴, one early and the other late.
#[test]
fn sound_keeps_its_motion_from_method_to_method() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    for [from, to] in [["fdtd", "oscillators"], ["oscillators", "fdtd"]] {
        let own = |method: &str| scene_from(SOUND, &[&format!("solver.method={method}")]);
        let mut whole = Engine::new(own(from)).unwrap();
        whole.advance(400).unwrap();
        for live in [true, false] {
            let mut run = Engine::new(own(from)).unwrap();
            run.advance(160).unwrap();
            let energy = run.observables().unwrap().energy;
            if live {
                assert_eq!(run.update(own(to)).unwrap(), Change::Rebuilt);
            } else {
                run.save_checkpoint(&path).unwrap();
                run = Engine::resume(own(to), &path).unwrap().0;
            }
            let carried = run.observables().unwrap().energy;
            assert!(
                (carried / energy - 1.0).abs() < 0.01,
                "{from} to {to}: {carried} of {energy}"
            );
            run.advance(240).unwrap();
            let off = largest_difference(&whole.field().unwrap(), &run.field().unwrap());
            // Without its motion the pulse of 0.5 would part into two of 0.25.
            assert!(off < 0.03, "{from} to {to}, live {live}: {off}");
        }
    }
}

/// Where a mirror has turned time, other parts go on with the same bits; what would begin anew at t = 0 is refused.
#[test]
fn a_way_back_is_gone_on_with_in_parts_and_never_begun_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    let with = |more: &[&str]| {
        let mut all = vec!["grid.size=[48, 64]", "mirror={method=\"echo\",at=0.4}"];
        all.extend(more);
        scene_from(SCENE, &all)
    };
    let mut whole = Engine::new(with(&[])).unwrap();
    whole.advance(30).unwrap();
    whole.save_checkpoint(&path).unwrap();
    whole.advance(15).unwrap();
    let (mut parted, _) = Engine::resume(with(&["solver.parts=2"]), &path).unwrap();
    assert_eq!(parted.clock().steps, 30);
    parted.advance(15).unwrap();
    assert!(same_bits(&whole.field().unwrap(), &parted.field().unwrap()));
    for other in ["time.step=0.01", "mirror.at=0.2", "solver.precision=double"] {
        match Engine::resume(with(&[other]), &path) {
            Err(EngineError::Checkpoint(CheckpointError::Mismatch { what, .. })) => {
                assert!(what.contains("mirror") && what.contains("written with"), "{what}");
            }
            Err(error) => panic!("{other}: {error}"),
            Ok((engine, _)) => panic!("{other} begins at step {}", engine.clock().steps),
        }
    }
    // 8 steps of 0.05 lead to the turn and 20 to t = 1; to t = 0.92 lead 23 of 0.04.
    let auto = |end: &str| with(&["time.step=auto", end]);
    let mut whole = Engine::new(auto("time.end=1.0")).unwrap();
    whole.advance(10).unwrap();
    whole.save_checkpoint(&path).unwrap();
    let refused = Engine::resume(auto("time.end=0.92"), &path)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("another time.end"), "{refused}");
}

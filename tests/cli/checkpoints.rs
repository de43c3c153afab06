//! Checkpoints: what a resumed run writes, those on the way, and those that are refused.

use super::Place;
use std::fs;

#[test]
fn a_resumed_run_writes_the_same_files() {
    for more in [
        "",
        " --set solver.order=4",
        " --set solver.precision=double",
        " --set solver.order=4 --set solver.precision=double",
    ] {
        let place = Place::new();
        let outputs =
            |name: &str| format!("--save {name}.npy --observables {name}.csv --sample 7 --detectors {name}_d.csv");
        place
            .ripplon(&format!("run small.toml{more} {}", outputs("whole")))
            .expect(0, &["right"]);
        place
            .ripplon(&format!(
                "run small.toml{more} {} --until 0.38 --checkpoint c.ripplon",
                outputs("half")
            ))
            .expect(0, &["19 steps", "not reached"]);
        let run = place.ripplon(&format!(
            "run small.toml{more} {} --resume c.ripplon",
            outputs("resumed")
        ));
        run.expect(0, &["from step 19 (t = 0.38)", "21 steps to t = 0.8", "right"]);
        assert!(!run.err().contains("note:"), "{}", run.err());
        for ending in [".npy", ".csv", "_d.csv"] {
            let whole = fs::read(place.path(&format!("whole{ending}"))).unwrap();
            let resumed = fs::read(place.path(&format!("resumed{ending}"))).unwrap();
            assert!(whole == resumed, "{more}: {ending} differs");
        }
    }
}

#[test]
fn checkpoints_are_written_on_the_way() {
    let place = Place::new();
    place
        .ripplon("run small.toml --checkpoint c.ripplon --every 15")
        .expect(0, &["40 steps"]);
    place.ripplon("run small.toml --until 1.0 --resume c.ripplon").expect(
        0,
        &["from step 40", "10 steps to t = 1,"].map(|s| s.trim_end_matches(',')),
    );
    // Behind the checkpoint there is nothing to run to.
    place
        .ripplon("run small.toml --until 0.2 --resume c.ripplon")
        .expect(2, &["t = 0.2 lies behind t = 0.8"]);
}

#[test]
fn bad_checkpoints_are_refused_with_the_reason() {
    let place = Place::new();
    place.ripplon("run small.toml --checkpoint c.ripplon").expect(0, &[]);
    place
        .ripplon("run small.toml --resume none.ripplon")
        .expect(2, &["none.ripplon", "cannot be read"]);
    place
        .ripplon("run small.toml --resume small.toml")
        .expect(2, &["not a checkpoint of Ripplon"]);
    place
        .ripplon("run small.toml --set grid.size=[64,24] --resume c.ripplon")
        .expect(2, &["32 × 24", "64 × 24"]);
    let mut bytes = fs::read(place.path("c.ripplon")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(place.path("bad.ripplon"), &bytes).unwrap();
    place
        .ripplon("run small.toml --resume bad.ripplon")
        .expect(2, &["damaged", "checksum"]);
    fs::write(place.path("short.ripplon"), &bytes[..middle]).unwrap();
    place
        .ripplon("run small.toml --resume short.ripplon")
        .expect(2, &["damaged", "cut off"]);
}

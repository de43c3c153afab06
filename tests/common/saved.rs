//! Checkpoints that go from one run to another.

use ripplon::solver::{Solver, Taps};

/// What a run in parts has saved goes on in one part, and the other way round, with the same bits.
pub fn goes_to_one_and_back(name: &str, mut cut: Box<dyn Solver>, mut whole: Box<dyn Solver>) {
    let mut none = Taps::default();
    cut.advance(17, &mut none).expect("the run steps");
    let state = cut.save().expect("the run saves");
    whole.load(&state).expect("the run goes on");
    for run in [&mut cut, &mut whole] {
        run.advance(31, &mut none).expect("the run steps");
    }
    let state = whole.save().expect("the run saves");
    assert!(cut.save().expect("the run saves").arrays == state.arrays, "{name}");
    cut.load(&state).expect("the run goes on");
    for run in [&mut cut, &mut whole] {
        run.advance(9, &mut none).expect("the run steps");
    }
    let end = whole.save().expect("the run saves").arrays;
    assert!(cut.save().expect("the run saves").arrays == end, "{name}");
}

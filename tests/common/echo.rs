//! A run there and back.

use crate::device::distance;
use ripplon::field::FieldData;
use ripplon::scene::Scenario;
use ripplon::solver::{Edit, Solver, Taps};

/// How far a run that stands at `start` is from there after 60 steps, turning round, and as many back; in between it must have moved.
pub fn echo(run: &mut dyn Solver, scenario: &Scenario, start: &FieldData) -> f64 {
    run.advance(60, &mut Taps::default()).unwrap();
    assert!(distance(&run.field().unwrap(), start) > 0.1, "it moves");
    run.edit(scenario, &Edit::Conjugate).unwrap();
    run.advance(60, &mut Taps::default()).unwrap();
    distance(&run.field().unwrap(), start)
}

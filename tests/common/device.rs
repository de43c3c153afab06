//! What tests of a device share.

use ripplon::field::FieldData;
use ripplon::scene::Scenario;
use ripplon::solver::{self, Backend, Solver};

/// Whether there is no device, which is said.
pub fn skip() -> bool {
    match Backend::Cuda.availability() {
        Ok(()) => false,
        Err(reason) => {
            println!("skipped: {reason}");
            true
        }
    }
}

/// Ends a test where there is no device, which is said.
#[allow(unused_macros, reason = "each suite uses its part")]
macro_rules! needs_device {
    () => {
        if $crate::device::skip() {
            return;
        }
    };
}
#[allow(unused_imports, reason = "each suite uses its part")]
pub(crate) use needs_device;

/// A run by the method that the scene names.
pub fn build(scenario: &Scenario) -> Box<dyn Solver> {
    let method = solver::find(&scenario.solver().method).expect("the method is in the table");
    (method.build)(scenario).unwrap_or_else(|error| panic!("{}: {error}", scenario.title()))
}

/// ‖a − b‖ / ‖b‖; ‖a − b‖ where b is zero.
pub fn distance(a: &FieldData, b: &FieldData) -> f64 {
    assert_eq!(a.len(), b.len());
    let (mut difference, mut size) = (0.0, 0.0);
    for i in 0..a.len() {
        difference += (a.at(i) - b.at(i)).norm_sqr();
        size += b.at(i).norm_sqr();
    }
    (difference / if size > 0.0 { size } else { 1.0 }).sqrt()
}

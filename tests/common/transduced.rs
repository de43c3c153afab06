//! Transducers of one run against those of another, e.g. on a device against those on the processor.

use crate::device::{build, distance};
use num_complex::Complex64;
use ripplon::field::FieldData;
use ripplon::scene::Scenario;
use ripplon::solver::transducers::{Act, Transducers};
use ripplon::solver::{Clock, Solver, Taps};
use std::sync::Arc;

pub const ACTS: [Act; 3] = [Act::Record, Act::Add, Act::Overwrite];

/// What transducers do in a run.
pub struct Score<'a> {
    /// Ascending.
    pub sites: &'a [usize],
    pub field: &'a FieldData,
    pub start: Clock,
    /// Steps of each call.
    pub steps: &'a [u64],
    /// Amplitude of the signals, which end before the last steps.
    pub loud: f64,
}

/// A run with what it recorded.
pub type Played = (Box<dyn Solver>, Taps);

impl Score<'_> {
    /// A run of a scene in which transducers do so.
    pub fn play(&self, scenario: &Scenario, act: Act) -> Played {
        let sites: Arc<[usize]> = Arc::from(self.sites);
        let total: u64 = self.steps.iter().sum();
        let count = u32::try_from(sites.len()).unwrap() * u32::try_from(total * 9 / 10).unwrap();
        let signal: Arc<[Complex64]> = (0..count)
            .map(|n| self.loud * Complex64::new((0.37 * f64::from(n)).sin(), (0.91 * f64::from(n)).cos()))
            .collect();
        let mut run = build(scenario);
        run.set_field(self.field, self.start).unwrap();
        let mut taps = Taps::new(scenario.grid(), scenario.detectors());
        *taps.transducers_mut() = Some(match act {
            Act::Record => Transducers::listening(sites, Vec::new()),
            _ => Transducers::playing(sites, act, signal, 3),
        });
        run.apply_transducers(&mut taps).unwrap();
        for steps in self.steps {
            run.advance(*steps, &mut taps).unwrap();
        }
        (run, taps)
    }
}

/// Fails unless field and records agree, relative to their sizes.
pub fn compare(name: &str, expected: &mut Played, found: &mut Played, tolerance: f64) {
    let off = distance(&found.0.field().unwrap(), &expected.0.field().unwrap());
    assert!(off < tolerance, "{name}: the field is off by {off:.1e}");
    let [(_, records), (_, taps)] = [&*expected, &*found];
    let [a, b] = [records, taps].map(|taps| taps.transducers().unwrap());
    assert_eq!(a.played(), b.played(), "{name}");
    assert_eq!(a.heard().len(), b.heard().len(), "{name}");
    let largest = a.heard().iter().fold(0.0, |most: f64, value| most.max(value.norm()));
    for (a, b) in a.heard().iter().zip(b.heard()) {
        assert!((a - b).norm() <= tolerance * largest, "{name}: {a} {b}");
    }
    for detector in 0..records.taps().len() {
        for (a, b) in records.values(detector).iter().zip(taps.values(detector)) {
            assert!((a - b).abs() < 100.0 * tolerance * a.abs().max(1.0), "{name}: {a} {b}");
        }
    }
}

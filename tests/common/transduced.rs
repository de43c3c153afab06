//! Transducers on a device against those on the processor.

use crate::device::{build, distance};
use num_complex::Complex64;
use ripplon::field::FieldData;
use ripplon::scene::Scenario;
use ripplon::solver::transducers::{Act, Transducers};
use ripplon::solver::{Clock, Taps};
use std::sync::Arc;

/// Transducers at `sites` (ascending) hear, add and overwrite the same on the processor and on the device, within `tolerance`.
pub fn check_transducers(
    name: &str,
    [on_host, on_device]: [&Scenario; 2],
    sites: &[usize],
    (field, start): (&FieldData, Clock),
    tolerance: f64,
) {
    let sites: Arc<[usize]> = Arc::from(sites);
    let signal: Arc<[Complex64]> = (0..u32::try_from(sites.len()).unwrap() * 300)
        .map(|n| Complex64::new((0.37 * f64::from(n)).sin(), (0.91 * f64::from(n)).cos()))
        .collect();
    for act in [Act::Record, Act::Add, Act::Overwrite] {
        let mut all = [on_host, on_device].map(|scenario| {
            let mut run = build(scenario);
            run.set_field(field, start).unwrap();
            let mut taps = Taps::new(scenario.grid(), scenario.detectors());
            *taps.transducers_mut() = Some(match act {
                Act::Record => Transducers::listening(Arc::clone(&sites), Vec::new()),
                // The signal ends within the last steps.
                _ => Transducers::playing(Arc::clone(&sites), act, Arc::clone(&signal), 3),
            });
            run.touch(&mut taps).unwrap();
            for steps in [40, 290] {
                run.advance(steps, &mut taps).unwrap();
            }
            (run, taps)
        });
        let [(reference, records), (run, taps)] = &mut all;
        let off = distance(&run.field().unwrap(), &reference.field().unwrap());
        assert!(off < tolerance, "{name}, {act:?}: the field is off by {off:.1e}");
        let [expected, found] = [&*records, &*taps].map(|taps| taps.transducers().unwrap());
        assert_eq!(expected.played(), found.played(), "{name}, {act:?}");
        assert_eq!(expected.heard().len(), found.heard().len(), "{name}, {act:?}");
        for (a, b) in expected.heard().iter().zip(found.heard()) {
            assert!((a - b).norm() < tolerance, "{name}, {act:?}: {a} {b}");
        }
        for detector in 0..on_host.detectors().len() {
            for (a, b) in records.values(detector).iter().zip(taps.values(detector)) {
                assert!(
                    (a - b).abs() < 100.0 * tolerance * a.abs().max(1.0),
                    "{name}, {act:?}: {a} {b}"
                );
            }
        }
    }
}

//! Single sites of every method, heard and driven.

use super::{epsilon, plane, reached, read};
use num_complex::Complex64;
use ripplon::physics::Equation;
use ripplon::solver::transducers::{Act, Transducers};
use ripplon::solver::{Backend, Taps};
use std::sync::Arc;

#[test]
fn sites_are_heard_and_driven_without_a_trace_elsewhere() {
    check(Backend::Cpu);
}

/// The same where there is a device.
#[test]
fn sites_are_heard_and_driven_on_a_device() {
    check(Backend::Cuda);
}

fn check(backend: Backend) {
    for (method, variant, precision) in reached(backend) {
        let name = format!("{} {variant} {} {}", method.id, backend.as_str(), precision.as_str());
        let text = plane(method, variant, precision).replace("\"cpu\"", &format!("\"{}\"", backend.as_str()));
        let scenario = read(&text);
        let sites: Arc<[usize]> = Arc::from([0, 22, 23 * 8 + 9, 23 * 8 + 10, 23 * 17 - 1]);
        // Heard: the field at those sites, after every step. Half a phase more or less costs rounding only.
        let mut solver = (method.build)(&scenario).unwrap();
        let mut taps = Taps::new(scenario.grid(), scenario.detectors());
        *taps.transducers_mut() = Some(Transducers::listening(Arc::clone(&sites), Vec::new()));
        solver.apply_transducers(&mut taps).unwrap();
        for step in 0..4 {
            let field = solver.field().unwrap();
            let heard = &taps.transducers().unwrap().heard()[step * sites.len()..];
            for (site, heard) in sites.iter().zip(heard) {
                assert!(
                    (field.at(*site).re - heard.re).abs() <= 4.0 * epsilon(precision),
                    "{name} step {step}"
                );
                if method.equation == Equation::Schrodinger {
                    assert!(
                        (field.at(*site).im - heard.im).abs() <= 4.0 * epsilon(precision),
                        "{name}"
                    );
                }
            }
            solver.advance(1, &mut taps).unwrap();
        }
        // Listening changes nothing, however steps are cut.
        let mut silent = (method.build)(&scenario).unwrap();
        let mut alone = Taps::new(scenario.grid(), scenario.detectors());
        silent.advance(4, &mut alone).unwrap();
        assert_eq!(silent.save().unwrap(), solver.save().unwrap(), "{name}");
        assert!(
            alone.values(0).len() == 4 && alone.values(0) == taps.values(0),
            "{name}"
        );
        // Overwritten: the new value there, and nothing else changes.
        let before = solver.field().unwrap();
        let signal: Vec<Complex64> = (0..sites.len()).map(|n| Complex64::new(0.1 * n as f64, 0.25)).collect();
        *taps.transducers_mut() = Some(Transducers::playing(
            Arc::clone(&sites),
            Act::Overwrite,
            signal.clone().into(),
            0,
        ));
        solver.apply_transducers(&mut taps).unwrap();
        assert!(!taps.transducers_act(), "{name}: the signal is over");
        let after = solver.field().unwrap();
        for site in 0..scenario.grid().sites() {
            match sites.iter().position(|own| *own == site) {
                Some(n) => assert!(
                    (after.at(site).re - signal[n].re).abs() <= 4.0 * epsilon(precision),
                    "{name}"
                ),
                None => assert_eq!(after.at(site), before.at(site), "{name}"),
            }
        }
    }
}

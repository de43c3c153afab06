//! A device without room, and one that is lost.

use super::cases::{Case, cases, scene};
use super::device::{build, distance, needs_device};
use super::programs::{ROLE, again};
use ripplon::backend::cuda;
use ripplon::solver::{self, Backend, Taps};

/// A device without room: an error with the sizes, or the processor where the scene leaves it open, which says so.
#[test]
fn without_room_the_processor_steps_in_where_it_may() {
    const NAME: &str = "faults::without_room_the_processor_steps_in_where_it_may";
    needs_device!();
    if std::env::var_os(ROLE).is_none() {
        again(NAME, &[("RIPPLON_CUDA_MEMORY", "1000000".as_ref())]);
        return;
    }
    let large = Case {
        size: &[512, 512],
        ..cases().swap_remove(0)
    };
    let method = solver::find("trotter").expect("the method is in the table");
    let refused = (method.build)(&scene(&large, 2, "cuda", "single", "auto"));
    let text = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(
        text.contains("cuda") && text.contains("1000000 are free") && text.contains("smaller grid"),
        "{text}"
    );
    let mut elsewhere = build(&scene(&large, 2, "auto", "single", "auto"));
    let report = elsewhere.report();
    assert_eq!(report.backend, Backend::Cpu);
    let note = report.note.unwrap_or_default();
    assert!(
        note.contains("not on the NVIDIA device") && note.contains("1000000"),
        "{note}"
    );
    elsewhere.advance(2, &mut Taps::default()).expect("steps");
}

/// A device lost in mid-run: an error that names the kernel, the snapshot kept; the processor goes on from it where the scene leaves that open.
#[test]
fn a_lost_device_costs_nothing_that_was_kept() {
    const NAME: &str = "faults::a_lost_device_costs_nothing_that_was_kept";
    needs_device!();
    if std::env::var_os(ROLE).is_none() {
        // In a process of its own: the other tests need the device.
        again(NAME, &[]);
        return;
    }
    let large = Case {
        size: &[320, 256],
        ..cases().swap_remove(0)
    };
    for (backend, goes_on) in [("auto", true), ("cuda", false)] {
        let scenario = std::sync::Arc::new(scene(&large, 2, backend, "double", "auto"));
        let mut engine = ripplon::engine::Engine::new(scenario).expect("the device is there");
        assert_eq!(engine.report().backend, Backend::Cuda);
        engine.advance(7).expect("steps");
        let before = engine.field().expect("a field");
        engine.snapshot().expect("a snapshot");
        cuda::lose_device_after(Some(3));
        let error = engine.advance(100).expect_err("the device is lost").to_string();
        assert!(error.contains("kernel") && error.contains("ECC"), "{error}");
        assert!(engine.failure().is_some() && engine.has_snapshot());
        assert!(engine.advance(1).is_err(), "it stays where it is");
        if goes_on {
            engine.restore().expect("the processor takes over");
            assert_eq!(engine.report().backend, Backend::Cpu);
            let note = engine.report().note.unwrap_or_default();
            assert!(note.contains("not on the NVIDIA device"), "{note}");
        } else {
            let refused = engine
                .restore()
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(refused.contains("cuda"), "{refused}");
            assert!(engine.has_snapshot());
            cuda::lose_device_after(None);
            engine.restore().expect("it is back");
            assert_eq!(engine.report().backend, Backend::Cuda);
        }
        assert_eq!(engine.clock().steps, 7);
        // Open and closed once more: a few roundings.
        assert!(distance(&engine.field().expect("a field"), &before) < 1e-14);
        engine.advance(5).expect("it goes on");
        cuda::lose_device_after(None);
    }
}

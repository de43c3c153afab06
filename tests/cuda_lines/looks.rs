//! What detectors, observables and pictures say of a field on the device is what they say of it on the processor.

use super::device::{build, needs_device};
use super::{CASES, Case, DRIVEN, POTENTIAL, random, start, watched};
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{FieldImage, ImageRequest, Solver, Taps};

pub const LINE: &str = "[[detector]]\nname = \"point\"\nat = [19.0]\nmeasure = \"value\"\n\
    [[detector]]\nname = \"current\"\nat = [40.0]\nmeasure = \"flux\"\n\
    [[detector]]\nname = \"part\"\nregion = { min = [3.0], max = [2900.5] }\nmeasure = \"probability\"\n\
    [[detector]]\nname = \"crest\"\nregion = { min = [3.0], max = [17.5] }\nmeasure = \"peak\"\n\
    [[detector]]\nname = \"all\"\nmeasure = \"probability\"\n";
pub const PLANE: &str = "[[detector]]\nname = \"point\"\nat = [9.0, 12.0]\nmeasure = \"value\"\n\
    [[detector]]\nname = \"current\"\nfrom = [15.0, 2.0]\nto = [15.0, 30.0]\nmeasure = \"flux\"\n\
    [[detector]]\nname = \"upwards\"\nfrom = [2.0, 15.0]\nto = [30.0, 15.0]\nmeasure = \"flux\"\n\
    [[detector]]\nname = \"crest\"\nregion = { min = [3.0, 4.0], max = [14.0, 17.5] }\nmeasure = \"peak\"\n\
    [[detector]]\nname = \"part\"\nregion = { min = [3.0, 4.0], max = [60.0, 27.5] }\nmeasure = \"probability\"\n\
    [[detector]]\nname = \"all\"\nmeasure = \"probability\"\n";
/// Twelve steps apart by 2e-13 (see `tolerance`) in amplitudes of a field of norm 1, squares and products of which are read.
pub const ALLOWED: f64 = 2e-12;

/// The worst of what two runs say, relative to the largest.
pub fn worst(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(0.0_f64, |most, b| most.max(b.abs()));
    let off = |(a, b): (&f64, &f64)| (a - b).abs();
    let most = a.iter().zip(b).map(off).fold(
        0.0,
        |most: f64, off| {
            if off.is_nan() { f64::NAN } else { most.max(off) }
        },
    );
    most / if size > 0.0 { size } else { 1.0 }
}

fn places() -> [(Case, &'static [usize], &'static str); 4] {
    [
        (CASES[0], &[3000], LINE),
        (
            ("driven line", "periodic", "interaction = 2.0\n", DRIVEN, ""),
            &[3000],
            LINE,
        ),
        (("plane", "wall", "", POTENTIAL, ""), &[70, 90], PLANE),
        (
            ("driven plane", "periodic", "interaction = 2.0\n", DRIVEN, ""),
            &[70, 90],
            PLANE,
        ),
    ]
}

/// A run of such a place at the start, and what its detectors will record.
fn begun(case: &Case, detectors: &str, size: &[usize], backend: &str) -> (Box<dyn Solver>, Taps) {
    // Through the last sites, where what flows goes round a ring or nothing does.
    let place = match size {
        [nx] => format!("at = [{}]", nx - 1),
        _ => format!("from = [2, {0}]\nto = [30, {0}]", size[1] - 1),
    };
    let detectors = &format!("{detectors}[[detector]]\nname = \"seam\"\n{place}\nmeasure = \"flux\"\n");
    let scenario = watched(case, detectors, size, backend, "double", 0.5);
    let mut run = build(&scenario);
    run.set_field(&random(size.iter().product()), start(0.5)).unwrap();
    let taps = Taps::new(scenario.grid(), scenario.detectors());
    assert_eq!(taps.taps().len(), detectors.matches("name").count());
    (run, taps)
}

/// Whether something passes a detector: between walls nothing does behind the last site, where the last one stands.
fn is_seen(case: &Case, detector: usize, taps: &Taps) -> bool {
    case.1 == "periodic" || detector + 1 < taps.taps().len()
}

#[test]
fn every_detector_has_something_to_see() {
    for (case, size, detectors) in places() {
        let (mut run, mut taps) = begun(&case, detectors, size, "cpu");
        run.advance(2, &mut taps).unwrap();
        for detector in 0..taps.taps().len() {
            let values = taps.values(detector);
            let sees = is_seen(&case, detector, &taps);
            assert!(
                values.iter().all(|value| (*value != 0.0) == sees),
                "{} {detector}",
                case.0
            );
        }
    }
}

#[test]
fn detectors_see_every_step_as_on_the_processor() {
    needs_device!();
    for (case, size, detectors) in places() {
        let [here, there] = ["cpu", "cuda"].map(|backend| {
            let (mut run, mut taps) = begun(&case, detectors, size, backend);
            run.advance(1, &mut taps).unwrap();
            run.advance(11, &mut taps).unwrap();
            taps
        });
        assert_eq!(there.times(), here.times(), "{}", case.0);
        assert_eq!(there.times().len(), 12);
        for detector in 0..here.taps().len() {
            let off = worst(there.values(detector), here.values(detector));
            println!("{}, detector {detector}: {off:.1e}", case.0);
            assert!(
                here.values(detector).iter().any(|value| *value != 0.0) == is_seen(&case, detector, &here),
                "{} {detector}",
                case.0
            );
            assert!(off < ALLOWED, "{}, detector {detector}: {off:.1e}", case.0);
        }
    }
}

#[test]
fn observables_and_pictures_are_those_of_the_processor() {
    needs_device!();
    for (case, size, detectors) in places() {
        let [here, there] = ["cpu", "cuda"].map(|backend| {
            let (mut run, _) = begun(&case, detectors, size, backend);
            run.advance(12, &mut Taps::default()).unwrap();
            let ny = size.get(1).copied().unwrap_or(1);
            let pictures = [Quantity::Density, Quantity::Phase, Quantity::Real, Quantity::Imaginary].map(|quantity| {
                let request = ImageRequest::new(quantity, [3..size[0], 0..ny], 0, [17, 20]);
                let mut image = FieldImage::default();
                run.image(&request, &mut image).unwrap();
                image
            });
            (run.observables().unwrap(), pictures)
        });
        let rank = size.len();
        for (a, b) in there.0.values(rank).iter().zip(here.0.values(rank)) {
            assert!(
                (a - b).abs() < ALLOWED * (1.0 + b.abs()),
                "{}: {a} instead of {b}",
                case.0
            );
        }
        for (a, b) in there.1.iter().zip(&here.1) {
            assert_eq!((a.size, a.origin, a.reduction), (b.size, b.origin, b.reduction));
            let wide = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<_>>();
            // The processor adds up a texel in single precision: some hundred sites of a line, a random walk of them.
            let off = worst(&wide(&a.value), &wide(&b.value));
            assert!(off < 1e-5, "{}, {:?}: {off:.1e}", case.0, a.quantity);
            // A phase is as uncertain as its texel's sum is small beside what was added up, and may turn over at π.
            for ((a, b), size) in a.phase.iter().zip(&b.phase).zip(&b.value) {
                let turn = f64::from(a - b);
                assert!(
                    turn.sin().abs() < 1e-2 && turn.cos() > 0.0,
                    "{}: {a} and {b}, {size}",
                    case.0
                );
            }
        }
    }
}

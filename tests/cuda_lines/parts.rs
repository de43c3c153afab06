//! Lines and planes that are cut into parts on devices: the field, records, sums and pictures of one part on the processor.

use super::device::{build, distance, needs_device};
use super::looks::{ALLOWED, LINE, PLANE, worst};
use super::{CASES, Case, on_devices, random, start, tolerance, watched};
use ripplon::field::Precision;
use ripplon::physics::Observables;
use ripplon::scene::Scenario;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Edit, FieldImage, ImageRequest, Solver, Taps};

/// Long and short ones: where a call of 64 steps has ghost rows for all of them, and where it has not.
const SIZES: &[&[usize]] = &[&[600], &[70_001], &[48, 300], &[40, 90]];
const CUT: &[&str] = &["devices = [0, 0]\n", "devices = [0, 0, 0]\n"];

fn even(case: &Case, size: &[usize]) -> Vec<usize> {
    size.iter().map(|sites| super::sites(case, *sites)).collect()
}

fn detectors(size: &[usize]) -> &'static str {
    if size.len() > 1 { PLANE } else { LINE }
}

/// Steps, edits and looks: the field, what detectors recorded, sums, a picture.
type Seen = (ripplon::field::FieldData, Vec<Vec<f64>>, Observables, Vec<f64>);

fn follow(scenario: &Scenario) -> Seen {
    let mut run: Box<dyn Solver> = build(scenario);
    let mut taps = Taps::of(scenario);
    let size = scenario.grid().size();
    let field = random(scenario.grid().sites());
    run.set_field(&field, start(0.25)).unwrap();
    for steps in [1, 40, 27] {
        run.advance(steps, &mut taps).unwrap();
    }
    run.edit(scenario, &Edit::TimeStep(0.2)).unwrap();
    run.advance(33, &mut Taps::default()).unwrap();
    if !scenario.time().imaginary {
        run.edit(scenario, &Edit::Conjugate).unwrap();
    }
    run.edit(scenario, &Edit::Medium).unwrap();
    run.advance(5, &mut taps).unwrap();
    let request = ImageRequest::new(Quantity::Density, [1..size[0], 0..size[1]], 0, [61, 31]);
    let mut image = FieldImage::default();
    run.image(&request, &mut image).unwrap();
    let records = (0..taps.taps().len()).map(|n| taps.values(n).to_vec()).collect();
    let texels = image.value.iter().map(|texel| f64::from(*texel)).collect();
    (run.field().unwrap(), records, run.observables().unwrap(), texels)
}

#[test]
fn parts_are_one_line_or_plane() {
    for case in CASES {
        for size in SIZES {
            // Also where there is no device, which refuses lines that name devices.
            let size = even(case, size);
            watched(case, detectors(&size), &size, "auto", "double", 0.25);
        }
    }
    needs_device!();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for case in CASES {
        for size in SIZES {
            let size = even(case, size);
            let whole = follow(&watched(case, detectors(&size), &size, "cpu", "double", 0.25));
            for (word, precision) in Precision::ALL {
                for devices in CUT {
                    let cut = follow(&on_devices(
                        case,
                        detectors(&size),
                        &size,
                        ["cuda", word, devices],
                        0.25,
                    ));
                    compared += 1;
                    let name = format!("{}, {size:?}, {word}, {}", case.0, devices.trim());
                    // 106 steps instead of 12.
                    let allowed = 3.0 * tolerance(precision);
                    let error = distance(&cut.0, &whole.0);
                    if error.is_nan() || error > allowed {
                        wrong.push(format!("{name}: the field is off by {error:e}"));
                    }
                    let looks = allowed * ALLOWED / tolerance(Precision::Double);
                    let records = cut.1.iter().zip(&whole.1).map(|(own, other)| worst(own, other));
                    let sums = [&cut.2, &whole.2].map(|sums| [sums.norm, sums.peak, sums.position[0], sums.spread[1]]);
                    let others = [worst(&sums[0], &sums[1]), worst(&cut.3, &whole.3)];
                    for (n, off) in records.chain(others).enumerate() {
                        // Texels are sums of up to 1200 sites in single precision.
                        let texels = n == cut.1.len() + 1;
                        if off.is_nan() || off > looks.max(if texels { 1e-5 } else { 0.0 }) {
                            wrong.push(format!("{name}: what was seen, number {n}, is off by {off:e}"));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(compared, CASES.len() * SIZES.len() * 4);
}

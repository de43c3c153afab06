//! Grids that are cut into parts on devices: the bits of a run in one part.

use super::cases::{Case, DRIVEN, cases, detectors, random_field, text};
use super::device::{build, needs_device};
use super::saved::goes_to_one_and_back;
use super::transduced::{ACTS, Played, Score, compare as played_alike};
use ripplon::scene::Scenario;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Clock, FieldImage, ImageRequest, Solver, Taps, read_scene_text};

const START: Clock = Clock::at_start(0.11);

/// The scene of a case on some devices, `None` where the grid has too few rows for that.
fn scenario(case: &Case, order: u32, precision: &str, variant: &str, devices: &str) -> Option<Scenario> {
    let text = text(case, order, ["cuda", precision, variant], detectors(case));
    let text = text.replace("[solver]\n", &format!("[solver]\ndevices = {devices}\n"));
    match read_scene_text(&text, None, &[]) {
        Ok((_, scenario)) => Some(scenario),
        Err(faults) if faults.to_string().contains("rows along") => None,
        Err(faults) => panic!("{faults}"),
    }
}

/// What is compared to the bit, and the detectors' records, whose sums may be added in another order.
struct Seen {
    bits: Vec<(String, Vec<u8>)>,
    records: Vec<Vec<f64>>,
}

fn look(run: &mut dyn Solver, name: &str, bits: &mut Vec<(String, Vec<u8>)>) {
    for (array, data) in run.save().expect("the run saves").arrays {
        bits.push((format!("{array} {name}"), data.bytes().to_vec()));
    }
    let sums = run.observables().expect("the run sums");
    let values = sums.values(3).into_iter();
    bits.push((
        format!("observables {name}"),
        values.flat_map(|value| value.to_bits().to_le_bytes()).collect(),
    ));
}

fn follow(scenario: &Scenario) -> Seen {
    let mut run = build(scenario);
    let mut taps = Taps::of(scenario);
    let mut bits = Vec::new();
    look(run.as_mut(), "at the start", &mut bits);
    run.set_field(&random_field(scenario.grid().sites()), START)
        .expect("the run takes a field");
    run.advance(29, &mut Taps::default()).expect("the run steps");
    look(run.as_mut(), "after 29 steps", &mut bits);
    for steps in [1, 7, 3] {
        run.advance(steps, &mut taps).expect("the run steps");
    }
    look(run.as_mut(), "after 40 steps", &mut bits);
    if !scenario.time().imaginary {
        let step = run.clock().time_step;
        run.edit(scenario, &ripplon::solver::Edit::TimeStep(0.9 * step))
            .expect("the run takes another step");
        run.edit(scenario, &ripplon::solver::Edit::Conjugate)
            .expect("the run turns back");
        run.advance(13, &mut Taps::default()).expect("the run steps");
        look(run.as_mut(), "after it turned", &mut bits);
    }
    let [nx, ny, nz] = scenario.grid().size();
    let request = ImageRequest::new(Quantity::Density, [0..nx, 0..ny], nz / 2, [nx, ny]);
    let mut image = FieldImage::default();
    run.image(&request, &mut image).expect("the run draws");
    bits.push((
        "the picture".to_owned(),
        image
            .value
            .iter()
            .flat_map(|texel| texel.to_bits().to_le_bytes())
            .collect(),
    ));
    let records = (0..taps.taps().len()).map(|n| taps.values(n).to_vec()).collect();
    Seen { bits, records }
}

/// `rounding`: how far sums over a region may differ, as a part of the largest.
fn compare(name: &str, (whole, cut): (&Seen, &Seen), rounding: f64, wrong: &mut Vec<String>) {
    for ((what, a), (_, b)) in whole.bits.iter().zip(&cut.bits) {
        let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
        if a.len() != b.len() || differ > 0 {
            wrong.push(format!("{name}: {differ} of {} bytes of {what} differ", a.len()));
            return;
        }
    }
    for (n, (a, b)) in whole.records.iter().zip(&cut.records).enumerate() {
        let largest = a.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= rounding * largest;
        if a.len() != b.len() || !a.iter().zip(b).all(near) {
            wrong.push(format!(
                "{name}: records of detector {n} differ: {:?} {:?}",
                a.first(),
                b.first()
            ));
        }
    }
}

/// Sums of at most 2^15 numbers, added in another order; launches that sum as they step add the |ψ|² of four sites in the field's precision first, each of at most 8 roundings.
fn rounding(precision: &str) -> f64 {
    if precision == "single" {
        8.0 * f64::from(f32::EPSILON)
    } else {
        1e-11
    }
}

#[test]
fn parts_on_one_device_have_the_bits_of_one() {
    needs_device!();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    let mut driven = cases()[0].clone();
    (driven.name, driven.layers, driven.orders) = ("driven", DRIVEN, &[2]);
    let large = |case: &Case| case.size.len() > 1 && case.size.iter().product::<usize>() > 1000;
    for case in cases().into_iter().chain([driven]).filter(large) {
        for &order in case.orders {
            for (precision, variant) in [
                ("single", "auto"),
                ("double", "auto"),
                ("single", "naive"),
                ("single", "tiles"),
                ("double", "full-step"),
            ] {
                let on = |devices: &str| Some(follow(&scenario(&case, order, precision, variant, devices)?));
                let Some(whole) = on("1") else { continue };
                for devices in ["[0, 0]", "[0, 0, 0]"] {
                    let name = format!("{}, order {order}, {precision}, {variant}, {devices}", case.name);
                    if let Some(cut) = on(devices) {
                        compared += 1;
                        compare(&name, (&whole, &cut), rounding(precision), &mut wrong);
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 40, "{compared} runs in parts");
}

/// What transducers hear, add and overwrite, sites at both ends of the axis that is cut and beside cuts among them.
#[test]
fn transducers_in_parts_have_the_bits_of_one() {
    needs_device!();
    let mut compared = 0;
    let mut driven = cases()[0].clone();
    (driven.name, driven.layers, driven.orders) = ("driven", DRIVEN, &[2]);
    let large = |case: &Case| case.size.len() > 1 && case.size.iter().product::<usize>() > 1000;
    for case in cases().into_iter().chain([driven]).filter(large) {
        let (row, all) = (case.size[0], case.size.iter().product::<usize>());
        let mut sites = vec![0, row + 3, all / 3, all / 2, all / 2 + row, all - row - 1, all - 1];
        sites.dedup();
        let field = random_field(all);
        let score = Score {
            sites: &sites,
            field: &field,
            start: START,
            steps: &[13, 40],
            loud: 0.02,
        };
        for (precision, variant) in [("single", "auto"), ("double", "naive")] {
            let order = case.orders[0];
            let on = |devices: &str| scenario(&case, order, precision, variant, devices);
            let Some(whole) = on("1") else { continue };
            for act in ACTS {
                let mut whole = score.play(&whole, act);
                let most = rounding(precision);
                for devices in ["[0, 0]", "[0, 0, 0]"] {
                    let Some(cut) = on(devices) else { continue };
                    compared += 1;
                    let name = format!("{}, {precision}, {variant}, {devices}, {act:?}", case.name);
                    let mut cut = score.play(&cut, act);
                    let bits =
                        |played: &mut Played| played.0.field().expect("the run gives its field").bytes().to_vec();
                    assert!(bits(&mut whole) == bits(&mut cut), "{name}: the field differs");
                    let heard = |played: &Played| played.1.transducers().map(|own| own.heard().to_vec());
                    assert!(heard(&whole) == heard(&cut), "{name}: what was heard differs");
                    played_alike(&name, &mut whole, &mut cut, most);
                }
            }
        }
    }
    assert!(compared > 100, "{compared} runs in parts");
}

#[test]
fn two_devices_have_the_bits_of_one() {
    needs_device!();
    if ripplon::solver::devices_here() < 2 {
        println!("skipped: this machine has one NVIDIA device");
        return;
    }
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for case in cases() {
        if case.size.len() < 2 || case.size.iter().product::<usize>() < 1000 {
            continue;
        }
        let on = |devices: &str| Some(follow(&scenario(&case, 2, "single", "auto", devices)?));
        let Some(whole) = on("1") else { continue };
        for devices in ["[1]", "2", "[1, 0]", "[0, 1, 0]"] {
            if let Some(cut) = on(devices) {
                compared += 1;
                let name = format!("{}, {devices}", case.name);
                compare(&name, (&whole, &cut), rounding("single"), &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 40, "{compared} runs in parts");
}

/// What three parts have saved goes on in one, and the other way round.
#[test]
fn a_state_goes_from_parts_to_one_and_back() {
    needs_device!();
    let case = &cases()[0];
    let on = |devices: &str| scenario(case, 2, "single", "auto", devices).expect("the grid is large enough");
    let (three, one) = (on("[0, 0, 0]"), on("1"));
    goes_to_one_and_back(case.name, build(&three), build(&one));
}

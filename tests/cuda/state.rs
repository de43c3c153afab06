//! Sums over ψ with its phases, made on the device, against those of the processor over the field that was read back.

use super::cases::{Case, cases, random_field, scene};
use super::device::{build, needs_device};
use num_complex::Complex64;
use ripplon::field::{FieldData, Precision};
use ripplon::grid::Grid;
use ripplon::physics::{Lines, StateMeasures, StateSums};
use ripplon::scene::Scenario;
use ripplon::solver::{Clock, Solver, Taps, read_scene_text};
use std::sync::Arc;

/// Σ|⟨a|b⟩|², pair by pair.
fn all_pairs(lines: &Lines) -> f64 {
    let line = |n: usize| {
        let at = n * lines.length..(n + 1) * lines.length;
        (&lines.re[at.clone()], &lines.im[at])
    };
    let mut sum = 0.0;
    for a in 0..lines.count {
        for b in 0..=a {
            let ((re_a, im_a), (re_b, im_b)) = (line(a), line(b));
            let (mut re, mut im) = (0.0, 0.0);
            for n in 0..lines.length {
                re += re_a[n] * re_b[n] + im_a[n] * im_b[n];
                im += re_a[n] * im_b[n] - im_a[n] * re_b[n];
            }
            sum += (re * re + im * im) * if a == b { 1.0 } else { 2.0 };
        }
    }
    sum
}

/// What sums may be off by, beside the size of what is added. Double: n ε of a sum one after the other on the processor, n < 9·10⁴. Single: ψ comes out of its half
/// phase with other roundings on both sides, 5 of 6·10⁻⁸ each, and enters twice.
fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Single => 1e-6,
        Precision::Double => 1e-11,
    }
}

/// Differences of all sums, each in parts of what is added at most.
fn distances(grid: &Grid, found: &StateSums, expected: &StateSums) -> Vec<(String, f64)> {
    let top = std::f64::consts::PI / grid.spacing();
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let extent = grid.size().iter().copied().max().unwrap() as f64 * grid.spacing();
    let norm = expected.norm;
    let mut all = vec![
        ("norm".to_owned(), (found.norm - norm) / norm),
        (
            "quartic".to_owned(),
            (found.quartic - expected.quartic) / expected.quartic,
        ),
        ("first".to_owned(), (found.first - expected.first) / expected.first),
        (
            "product".to_owned(),
            (found.product - expected.product).norm() / (norm * expected.first).sqrt(),
        ),
        ("squares".to_owned(), (found.squares - expected.squares) / (norm * norm)),
    ];
    for (axis, (a, b)) in found.along.iter().zip(&expected.along).enumerate() {
        all.push((format!("norm along {axis}"), (a.norm - b.norm) / norm));
        all.push((format!("k along {axis}"), (a.first - b.first) / (norm * top)));
        all.push((format!("k² along {axis}"), (a.second - b.second) / (norm * top * top)));
        let weighted = (a.weighted - b.weighted) / (norm * top * extent);
        all.push((format!("k along {axis}, weighted"), weighted));
    }
    all
}

/// Another random field.
fn other_field(sites: usize) -> Arc<FieldData> {
    let random = random_field(sites);
    let values = (0..sites).rev().map(|n| random.at(n).conj() + Complex64::new(0.3, 0.1));
    Arc::new(FieldData::Complex128(values.collect()))
}

/// Steps a random field and compares; the run goes on from there as one that nobody asked.
fn check(name: &str, scenario: &Scenario, precision: Precision) {
    let grid = scenario.grid();
    let start = other_field(grid.sites());
    let begun = || -> Box<dyn Solver> {
        let mut run = build(scenario);
        let clock = Clock::at_start(0.11);
        run.set_field(&random_field(grid.sites()), clock).expect("a field");
        run
    };
    let mut run = begun();
    for steps in [0, 3] {
        run.advance(steps, &mut Taps::default()).expect("steps");
        let found = run.state_sums(&start, true).expect("sums").expect("made on the device");
        let again = run.state_sums(&start, true).expect("sums");
        assert!(again == Some(found), "{name}: other bits");
        let part = run
            .state_sums(&start, false)
            .expect("sums")
            .expect("made on the device");
        assert!(
            part.product == found.product && part.norm == found.norm,
            "{name}: other bits"
        );
        let field = run.field().expect("a field");
        let expected = StateSums::of(grid, &field, &start, all_pairs);
        for (what, off) in distances(grid, &found, &expected) {
            assert!(off.abs() < tolerance(precision), "{name}, {what}: off by {off:.1e}");
        }
        let [of_device, of_host] =
            [found, expected].map(|sums| StateMeasures::from_sums(grid, &sums, [1.0; 3]).values(grid.rank()));
        println!("{name}, after {steps}: {of_device:.6?} {of_host:.6?}");
    }
    if name.contains("driven") {
        // Tables of driven layers are rounded at random.
        return;
    }
    let mut alone = begun();
    for run in [&mut run, &mut alone] {
        let steps = if run.clock().steps == 0 { 8 } else { 5 };
        run.advance(steps, &mut Taps::default()).expect("steps");
    }
    assert!(
        run.save().expect("a state").arrays == alone.save().expect("a state").arrays,
        "{name}: asking changed the field"
    );
}

#[test]
fn states_are_summed_where_they_lie() {
    needs_device!();
    let names = [
        "ragged",
        "torus",
        "tiny",
        "absorbing",
        "flux and obstacles",
        "interaction",
        "driven",
        "line with walls and interaction",
        "line",
        "ring",
        "cube",
        "interacting cube",
        "periodic cube",
    ];
    let wanted = |case: &Case| names.contains(&case.name);
    let mut seen = 0;
    for case in cases().into_iter().filter(wanted) {
        for (word, precision) in Precision::ALL {
            for variant in ["naive", "fused"] {
                let name = format!("{}, {word}, {variant}", case.name);
                check(&name, &scene(&case, 2, "cuda", word, variant), precision);
            }
        }
        seen += 1;
    }
    assert_eq!(seen, names.len());
}

/// A scene of `crank-nicolson`.
fn partitioned(size: &[usize], edges: &str, word: &str) -> Scenario {
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let center: Vec<f64> = size.iter().map(|n| (n / 2) as f64 * 0.5).collect();
    let width = vec![0.6; size.len()];
    let text = format!(
        "format = 1\ntitle = \"partitioned\"\n[grid]\nsize = {size:?}\nspacing = 0.5\nedges = {edges:?}\n[quantum]\nmass = 0.9\n[time]\nstep = 0.11\n\
         [solver]\nmethod = \"crank-nicolson\"\nbackend = \"cuda\"\nprecision = \"{word}\"\n[[packet]]\ncenter = {center:?}\nwidth = {width:?}\n"
    );
    match read_scene_text(&text, None, &[]) {
        Ok((_, scenario)) => scenario,
        Err(faults) => panic!("{faults}\n{text}"),
    }
}

#[test]
fn states_of_partitioned_lines_are_summed_where_they_lie() {
    needs_device!();
    for (word, precision) in Precision::ALL {
        for (size, edges) in [
            (&[1000][..], "wall"),
            (&[4096], "periodic"),
            (&[90, 77], "wall"),
            (&[64, 128], "periodic"),
        ] {
            check(
                &format!("{size:?}, {edges}, {word}"),
                &partitioned(size, edges, word),
                precision,
            );
        }
    }
}

/// A line that shared memory does not hold is left to the processor, but for its overlap.
#[test]
fn long_lines_are_left_to_the_processor() {
    needs_device!();
    let scenario = partitioned(&[20_001], "wall", "double");
    let (mut run, start) = (build(&scenario), other_field(20_001));
    assert_eq!(run.state_sums(&start, true).expect("sums"), None);
    let found = run
        .state_sums(&start, false)
        .expect("sums")
        .expect("made on the device");
    let expected = StateMeasures::overlap_of(scenario.grid(), &run.field().expect("a field"), &start);
    assert!((found.overlap() - expected).norm() < tolerance(Precision::Double));
}

//! What presets draw as theory is what they do, and what they show can be seen.
#![allow(clippy::cast_precision_loss, reason = "numbers of sites")]

use super::read;
use ripplon::engine::Engine;
use ripplon::export::{Look, Painter};
use ripplon::scene::presets;
use ripplon::scene::scenario::{ColorRange, Quantity};
use ripplon::solver::FieldImage;
use std::sync::Arc;

/// Runs a preset on a line to t and gives the greatest distance of its pressure from the theory over it, away from `but`.
fn farthest(name: &str, t: f64, but: Option<f64>) -> f64 {
    let scenario = Arc::new(read(name));
    let mut engine = Engine::new(Arc::clone(&scenario)).unwrap();
    let steps = engine.steps_until(t).unwrap();
    engine.advance(steps).unwrap();
    let t = engine.clock().time;
    let field = engine.field().unwrap().to_complex128();
    let theories: Vec<_> = scenario
        .theories()
        .iter()
        .filter_map(|theory| theory.over_cut(0, Quantity::Pressure, 0.0, t))
        .collect();
    assert_eq!(theories.len(), 1);
    let a = scenario.grid().spacing();
    let mut farthest = 0.0f64;
    for (n, value) in field.iter().enumerate() {
        let x = n as f64 * a;
        if but.is_none_or(|but| (x - but).abs() > 2.0 * a) {
            farthest = farthest.max((value.re - theories[0](x)).abs());
        }
    }
    farthest
}

/// Steps in time make waves faster by (kcΔt)²/24: after a way s a pulse f is off by s(cΔt)²/24·|f‴|, of a Gauss curve at most 1.38/w³ times its
/// height, twice as much where pulse and mirror image meet. The error of space, (ka)⁴, is smaller by a hundred.
#[test]
fn pulses_in_a_tube_are_where_theory_draws_them() {
    for t in [0.0, 0.03, 0.09995, 0.115] {
        let distance = farthest("tube", t, None);
        let (way, step, w) = (343.0 * t, 343.0 * 5e-5, 0.343_f64);
        let tolerance = 2.0 * way * step * step / 24.0 * 0.5 * 1.38 / w.powi(3) + 1e-5;
        assert!(distance < tolerance, "{t}: {distance} > {tolerance}");
    }
}

/// Beside the boundary a pulse is cut in the middle of its flank: the two sites there are left out.
#[test]
fn pulses_at_a_boundary_are_where_theory_draws_them() {
    for t in [0.0, 0.04, 0.07] {
        let distance = farthest("two-media", t, Some(48.00285));
        assert!(distance < 0.02, "{t}: {distance}");
    }
}

#[test]
fn what_is_drawn_in_pictures_is_seen_while_they_run() {
    for name in ["snell", "mach", "doppler", "pond", "double-slit"] {
        let scenario = read(name);
        let size = scenario.grid().size();
        let extent = [size[0], size[1]].map(|sites| sites as f64 * scenario.grid().spacing());
        for theory in scenario.theories() {
            let end = theory.until.min(scenario.time().end.unwrap());
            // Half way between its beginning and its end, or soon after its beginning, a point of it lies in the grid.
            let times = [0.5, 0.2].map(|part| theory.at + part * (end - theory.at));
            let seen = times.into_iter().filter_map(|t| theory.outline(t)).flatten();
            let within = |point: &[f64; 2]| (0..2).all(|axis| (0.0..extent[axis]).contains(&point[axis]));
            assert!(seen.into_iter().any(|point| within(&point)), "{name}: {theory:?}");
        }
    }
}

/// The notes of a run are spread over it: the last of several begins after a tenth of the run, and none after its end.
#[test]
fn notes_come_while_the_scene_runs() {
    for preset in presets::all() {
        let scenario = read(preset.name);
        let (Some(end), Some(last)) = (scenario.time().end, scenario.notes().last()) else {
            continue;
        };
        let whole = last.at / end;
        assert!(
            whole < 1.0,
            "{}: the last note comes at {whole} of the run",
            preset.name
        );
        let several = scenario.notes().len() > 1;
        assert!(
            !several || whole > 0.1,
            "{}: the last note comes at {whole} of the run",
            preset.name
        );
    }
}

/// The sound of the hall lives on until the scene ends, and is seen: in the mean over the picture a fifth of the range and more.
#[test]
fn a_decay_between_two_rooms_is_seen_to_its_end() {
    let scenario = Arc::new(read("coupled-rooms"));
    let mut engine = Engine::new(Arc::clone(&scenario)).unwrap();
    let steps = engine.steps_until(scenario.time().end.unwrap()).unwrap();
    engine.advance(steps).unwrap();
    let look = Look::of(&scenario);
    let painter = Painter::new(Arc::clone(&scenario), &look, engine.clock().time_step).unwrap();
    let mut image = FieldImage::default();
    engine.image(painter.request(), &mut image).unwrap();
    let ColorRange::Fixed(low, high) = scenario.view().range else {
        panic!("a range in decibels");
    };
    let mean = image.value.iter().map(|level| f64::from(*level)).sum::<f64>() / image.value.len() as f64;
    assert!((mean - low) / (high - low) > 0.2, "{mean} dB of {low} to {high}");
}

//! What rounding in single precision adds to sound whose steps are very short.
//!
//! `fdtd` keeps two levels of pressure, and a step changes p by what the last one did and by (ωΔt)² p. Rounding takes up to u = 2⁻²⁴ of p, which acts on the wave of
//! frequency ω as a kick that moves it by u/(ωΔt). Kicks keep their sign while (ωΔt)² p stays the same in units of the rounding, about u/(ωΔt)³ steps, so after n steps
//! they have added √n u^1.5/(ωΔt)^2.5. The mean pressure, which nothing returns to 0, walks on by n^1.5 u/(6√M) where M patches are rounded alike, of c/ω along each axis,
//! and by more where kicks keep their sign. The factors 0.1 and 0.2 are those of 343 runs beside double precision with errors around a per cent (pulses of 3 to 250 sites in
//! one and two dimensions, sines, ωΔt = 2·10⁻⁴ to 10⁻¹, 10³ to 2·10⁵ steps): of those told 10 % were off by less than 0.2 %, of those not told 7 % by more than 1 %, at most by
//! 2.4 %. `oscillators` keeps pressure and its rate apart and loses less than 10⁻³ even at ωΔt = 10⁻⁵; so does `trotter`.

use super::played;
use crate::field::Precision;
use crate::grid::{Edge, Grid};
use crate::physics::{Initial, Model, Pulse, Sets};
use crate::scene::Scenario;
use crate::solver;
use crate::units::four_digits as figure;
use std::f64::consts::TAU;

/// What rounding may add, of the largest pressure: half of a per cent, since the estimate may be too low.
const MOST_ADDED: f64 = 0.005;
/// u: what rounding takes of a number at most.
const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;

/// A scene whose sound single precision does not carry with steps of `time_step` until `end`, or where there is none until it has crossed the grid.
pub(super) fn told(scenario: &Scenario, time_step: f64, end: Option<f64>) -> Option<String> {
    let (choice, grid) = (scenario.solver(), scenario.grid());
    let Model::Acoustic(acoustic) = scenario.model() else {
        return None;
    };
    let (step, (omega, length)) = (time_step.abs(), slowest(scenario, acoustic.speed));
    if choice.method != "fdtd" || choice.precision != Precision::Single || step == 0.0 || !omega.is_finite() {
        return None;
    }
    let longest = grid.size().into_iter().max().unwrap_or(1);
    #[expect(clippy::cast_precision_loss, reason = "sites are far below 2^52")]
    let crossing = longest as f64 * grid.spacing() / acoustic.speed;
    let steps = end.filter(|end| end.is_finite()).unwrap_or(crossing) / step;
    let turn = omega * step;
    let error = added(grid, length / grid.spacing(), turn, steps);
    if error <= MOST_ADDED {
        return None;
    }
    let advice = solver::find(&choice.method).map(|method| method.advice(scenario));
    let longer = advice
        .filter(|advice| step < 0.5 * advice.auto)
        .map_or_else(String::new, |advice| {
            format!(", or a longer time.step: \"auto\" takes about {}", figure(advice.auto))
        });
    let much = if error < 1.0 {
        format!("up to about {:.1} % of the sound", 100.0 * error)
    } else {
        "as much as the sound itself".to_owned()
    };
    Some(format!(
        "Rounding in single precision adds {much} in {steps:.0} steps: a step changes the rate of a pressure by (ωΔt)² = {} of it, and rounds it by up to {ROUNDING:.0e} of it. \
         Use solver.precision = \"double\"{longer}.",
        figure(turn * turn)
    ))
}

/// The lowest ω of what a scene begins with or plays, and c/ω: c/w of pulses, with the lowest speed where they begin, and 2πf of sources; infinite where there is none, and of recordings and arrays.
fn slowest(scenario: &Scenario, speed: f64) -> (f64, f64) {
    let pulses = match scenario.initial() {
        Initial::Pulses(pulses) => pulses.as_slice(),
        _ => &[],
    };
    let begun = pulses.iter().filter(|pulse| pulse.amplitude != 0.0);
    let begun = begun.map(|pulse| (speed_of(scenario, speed, pulse) / pulse.width, pulse.width));
    let played = played(scenario).map(|own| TAU * own.heard[0]);
    begun
        .chain(played.map(|omega| (omega, speed / omega)))
        .fold(
            (f64::INFINITY, 0.0),
            |least, own| if own.0 < least.0 { own } else { least },
        )
}

/// The lowest speed in the middle of a pulse and a width beside it; `speed` where no layer sets it.
fn speed_of(scenario: &Scenario, speed: f64, pulse: &Pulse) -> f64 {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    if !medium.has(Sets::Speed) {
        return speed;
    }
    let beside = (0..grid.rank()).flat_map(|axis| {
        [-1.0, 1.0].map(|side| {
            let mut at = pulse.center;
            at[axis] += side * pulse.width;
            at
        })
    });
    let speed_at = |at: [f64; 3]| {
        let [i, j, k] = grid.nearest(at);
        let mut own = [speed];
        medium.speed_row(speed, j, k, i..i + 1, &mut own);
        own[0]
    };
    std::iter::once(pulse.center)
        .chain(beside)
        .map(speed_at)
        .filter(|own| *own > 0.0)
        .fold(f64::INFINITY, f64::min)
}

/// What rounding has added after `steps` steps to waves of c/ω = `patch` sites that turn by `turn` = ωΔt in each, as a part of the largest pressure.
#[expect(clippy::cast_precision_loss, reason = "sites are far below 2^52")]
fn added(grid: &Grid, patch: f64, turn: f64, steps: f64) -> f64 {
    let wave = 0.1 * steps.sqrt() * ROUNDING.powf(1.5) / turn.powf(2.5);
    if grid.edges()[..grid.rank()].contains(&Edge::Soft) {
        return wave;
    }
    let alike = (ROUNDING / turn.powi(3)).max(1.0);
    let patches = (grid.sites() as f64 / patch.max(1.0).powf(grid.rank() as f64)).max(1.0);
    let mean = 0.2 * (alike / patches).sqrt() * steps.powf(1.5) * ROUNDING / 6.0;
    wave.max(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::presets;

    /// 400 sites of a metre, c = 1 m/s, until `end`.
    fn text(end: f64, solver: &str, what: &str) -> String {
        format!(
            "format = 1\n[grid]\nsize = [400]\nspacing = 1.0\nedges = \"periodic\"\n[acoustic]\nspeed = 1.0\n[time]\nend = {end}\n[solver]\n{solver}\n{what}\n"
        )
    }

    fn said(end: f64, step: f64, solver: &str, what: &str) -> String {
        let (_, scenario) = solver::read_scene_text(&text(end, solver, what), None, &[]).unwrap();
        told(&scenario, step, scenario.time().end).unwrap_or_default()
    }

    const PULSE: &str = "[[pulse]]\ncenter = [200.0]\nwidth = 10.0";
    const FDTD: &str = "method = \"fdtd\"\nprecision = \"single\"";

    /// 100 s in steps of ωΔt = 9·10⁻⁴: 0.1 √n u^1.5/(ωΔt)^2.5 = 0.63 %; at 1·10⁻³ it is 0.46 %.
    #[test]
    fn steps_that_are_too_short_for_single_precision_are_told() {
        let sine = "[[source]]\nat = [200.0]\nsignal = \"sine\"\nfrequency = 0.015915494";
        let chirp = "[[source]]\nat = [200.0]\nsignal = \"chirp\"\nfrequency = 0.03\nto_frequency = 0.015915494\nduration = 50.0";
        for what in [PULSE, sine, chirp] {
            let short = said(100.0, 0.009, FDTD, what);
            assert!(
                short.starts_with("Rounding in single precision adds up to about 0.6 % of the sound in 11111 steps: a step changes the rate of a pressure by (ωΔt)² = 8.1e-7"),
                "{short}"
            );
            assert!(
                short.ends_with("Use solver.precision = \"double\", or a longer time.step: \"auto\" takes about 0.9."),
                "{short}"
            );
            assert_eq!(said(100.0, -0.009, FDTD, what), short);
            assert_eq!(said(100.0, 0.01, FDTD, what), "");
            assert_eq!(
                said(100.0, 0.009, "method = \"fdtd\"\nprecision = \"double\"", what),
                ""
            );
            assert_eq!(said(100.0, 0.009, "method = \"oscillators\"", what), "");
        }
        assert!(
            said(1000.0, 1e-3, FDTD, PULSE)
                .starts_with("Rounding in single precision adds as much as the sound itself")
        );
        let silent = format!("{PULSE}\namplitude = 0.0");
        assert_eq!(said(1000.0, 1e-3, FDTD, &silent), "");
    }

    /// 400 000 steps of any length move the mean, 0.2 n^1.5 u/(6√40) = 7.9 %, which a longer step would not mend here; soft edges hold it.
    #[test]
    fn runs_that_are_too_long_for_single_precision_are_told() {
        let long = said(2e5, 0.5, FDTD, PULSE);
        assert!(
            long.starts_with("Rounding in single precision adds up to about 7.9 % of the sound in 400000 steps")
                && long.ends_with("Use solver.precision = \"double\"."),
            "{long}"
        );
        assert_eq!(said(2.5e4, 0.5, FDTD, PULSE), "");
        let (_, soft) =
            solver::read_scene_text(&text(2e5, FDTD, PULSE).replace("periodic", "soft"), None, &[]).unwrap();
        assert_eq!(told(&soft, 0.5, soft.time().end), None);
    }

    /// A pulse turns as slowly as the medium is where it begins, not as fast as the one that sets the step: with a tenth of the speed, steps of 0.09 s are as short as 0.009 s are without the layer. A layer that the pulse does not touch changes nothing.
    #[test]
    fn pulses_turn_as_their_own_medium_lets_them() {
        let layer = |min: f64, max: f64| {
            format!(
                "{PULSE}\n[[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [{min:?}]\nmax = [{max:?}]\nvalue = 0.1"
            )
        };
        for slow in [layer(150.0, 250.0), layer(205.0, 250.0)] {
            let told = said(1000.0, 0.09, FDTD, &slow);
            assert!(
                told.starts_with("Rounding in single precision adds up to about 0.6 % of the sound in 11111 steps: a step changes the rate of a pressure by (ωΔt)² = 8.1e-7"),
                "{told}"
            );
        }
        assert_eq!(said(1000.0, 0.09, FDTD, &layer(250.0, 300.0)), "");
    }

    /// Runs may end elsewhere than their scene, and where it has no end: a hundred times as many steps add ten times as much.
    #[test]
    fn runs_are_told_of_their_own_end() {
        let scene = text(1.0, FDTD, PULSE);
        let (_, short) = solver::read_scene_text(&scene, None, &[]).unwrap();
        let (_, endless) = solver::read_scene_text(&scene.replace("end = 1\n", ""), None, &[]).unwrap();
        assert_eq!(endless.time().end, None);
        for scenario in [short, endless] {
            assert_eq!(told(&scenario, 0.009, Some(1.0)), None);
            let long = told(&scenario, 0.009, Some(100.0)).unwrap();
            assert!(long.contains("0.6 % of the sound in 11111 steps"), "{long}");
        }
    }

    /// No preset at its own steps; the tube with steps of a microsecond.
    #[test]
    fn presets_are_carried() {
        let read = |text: &str| solver::read_scene_text(text, None, &[]).unwrap().1;
        let sounds = presets::all()
            .iter()
            .filter(|preset| preset.text.contains("\n[acoustic]"));
        for preset in sounds {
            let scene = read(preset.text);
            let advice = solver::find(&scene.solver().method).map(|method| (method.step_advice)(&scene));
            let step = scene.time().step.or(advice.map(|advice| advice.auto)).unwrap();
            assert_eq!(told(&scene, step, scene.time().end), None, "{}", preset.name);
        }
        let tube = read(presets::find("tube").unwrap().text);
        let short = told(&tube, 1e-6, tube.time().end).unwrap();
        assert!(
            short.contains("up to about 4.5 % of the sound in 120000 steps"),
            "{short}"
        );
    }
}

//! Walls whose impedance depends on the frequency, and media that attenuate by a power law.

use crate::impedance::{COURANT, reflections};
use crate::recorded::{header, record};
use crate::{SPACING, SPEED, advance, build, noise, scene, start, step, values};
use num_complex::Complex64;
use ripplon::physics::attenuation::plane_wave;
use ripplon::physics::{Attenuation, Model};
use std::f64::consts::TAU;

/// A pulse against the end of a tube, in the frequency domain: R = (1 − Y C e^(−iθ))/(1 + Y C e^(iθ)), θ = ka/2, C = cos(ωΔt/2), with the admittance of the scheme, Y = Y∞ + (Y₀ − Y∞)/(1 + (2τ/Δt) i tan(ωΔt/2)).
/// Both ways round, corners far below, within and far above the pulse's band. The tolerance is that of walls without memory.
#[test]
fn an_end_sends_back_what_the_scheme_says() {
    for (low, high, points_of_corner) in [(40.0, 1.5, 30.0), (1.2, 50.0, 20.0), (8.0, 0.3, 60.0), (0.5, 5.0, 3.0)] {
        let corner = SPEED / (points_of_corner * SPACING);
        let impedance = format!("value = {low}\nhigh = {high}\ncorner = {corner}");
        for (points, theta, omega, measured) in reflections(&impedance, 2400) {
            let c = (omega / 2.0).cos();
            // Waves are e^(−iωt) here: i → −i.
            let tau = SPEED / (TAU * corner * SPACING) / COURANT;
            let slow = Complex64::new(1.0, -2.0 * tau * (omega / 2.0).tan());
            let y = 1.0 / high + (1.0 / low - 1.0 / high) / slow;
            let exact = (1.0 - y * c * Complex64::cis(-theta)) / (1.0 + y * c * Complex64::cis(theta));
            assert!(
                (measured - exact).norm() < 1e-5,
                "{low} to {high} at {points_of_corner}, {points} sites: {measured} for {exact}"
            );
        }
    }
}

/// Energy and store together never grow: noise between walls of the most extreme poles, at the stability limit, ends below where it began, in one to three dimensions, with a lossy medium and without.
#[test]
fn no_wall_and_no_medium_makes_noise_grow() {
    let extremes = [(0.01, 1e6), (1e6, 0.01), (0.01, 0.02), (1.0, 3.0)];
    for size in [vec![24], vec![13, 9], vec![7, 6, 5]] {
        for (low, high) in extremes {
            for (corner, law) in [(1e-3, false), (0.1, true), (10.0, true), (1e4, false)] {
                let corner = corner * SPEED / SPACING;
                let band = [0.01 * SPEED / SPACING, 0.3 * SPEED / SPACING];
                let attenuation = if law {
                    format!(
                        "attenuation = {{ at = {}, value = {}, exponent = 1.3, band = {band:?} }}\n",
                        0.1 * SPEED / SPACING,
                        2.0 / SPACING
                    )
                } else {
                    String::new()
                };
                let center = vec![SPACING; size.len()];
                let text = format!(
                    "[grid]\nsize = {size:?}\nspacing = {SPACING}\nedges = \"wall\"\n[acoustic]\nspeed = {SPEED}\n{attenuation}[time]\nstep = {:e}\n\
                     [solver]\nmethod = \"fdtd\"\nprecision = \"double\"\n[[pulse]]\ncenter = {center:?}\nwidth = 0.06\n\
                     [[layer]]\nsets = \"impedance\"\nvalue = {low}\nhigh = {high}\ncorner = {corner}\n",
                    step(0.999 / (size.len() as f64).sqrt())
                );
                let scenario = scene(&text);
                let mut run = build(&scenario);
                let pressure = noise(scenario.grid().sites(), 5);
                start(run.as_mut(), &pressure);
                let largest = |values: &[f64]| values.iter().fold(0.0f64, |most, p| most.max(p.abs()));
                advance(run.as_mut(), 4000);
                let (before, after) = (largest(&pressure), largest(&values(run.as_mut())));
                // Walls of slow poles hold much of the pressure before them, and fill the room with it again; waves meet between two of them. Growth by 0.1 % a step would be e⁴.
                assert!(
                    after < 2.0 * before,
                    "{size:?}, {low} to {high}, corner {corner}, law {law}: {after}"
                );
            }
        }
    }
}

/// The spectra of a pulse at two places: their ratio is e^(−αd) of the wanted law within 2 % and half a per cent, as half a decibel a wavelength is not quite weak, and of the relaxations' own formula within what Δt and a change, (ka)²/24 of 3 % each way at 20 sites.
#[test]
fn a_medium_attenuates_by_its_law() {
    let (close, far) = (300usize, 700usize);
    let top = SPEED / (20.0 * SPACING);
    for exponent in [0.6, 1.1, 1.5] {
        let law = Attenuation {
            at: top / 2.0,
            value: 3.0 / (400.0 * SPACING),
            exponent,
            band: [top / 8.0, top],
        };
        let text = header(&[1500], "\"soft\"", 0.98, 2).replace(
            "[time]",
            &format!(
                "attenuation = {{ at = {}, value = {}, exponent = {exponent}, band = {:?} }}\n[time]",
                law.at, law.value, law.band
            ),
        ) + &format!(
            "[[source]]\nat = [{}]\nsignal = \"ricker\"\nfrequency = {}\npattern = \"one-way\"\n\
             [[detector]]\nname = \"a\"\nat = [{}]\n[[detector]]\nname = \"b\"\nat = [{}]\n",
            200.0 * SPACING,
            top / 2.5,
            close as f64 * SPACING,
            far as f64 * SPACING
        );
        let made = law.relaxations();
        let (times, values) = record(&text, 1300);
        let spectrum = |values: &[f64], f: f64| -> Complex64 {
            times
                .iter()
                .zip(values)
                .map(|(t, p)| p * Complex64::cis(-TAU * f * t))
                .sum()
        };
        let way = (far - close) as f64 * SPACING;
        // And 0.05 dB of the whole way, half a per cent of the pressure, for what the record's end and the beginning of the pulse cut off.
        let near = |one: f64, other: f64, share: f64| (one - other).abs() * way < share * other * way + 0.05;
        for f in law.frequencies(7) {
            let ratio = spectrum(&values[1], f) / spectrum(&values[0], f);
            let measured = -20.0 * ratio.norm().log10() / way;
            let wanted = law.wanted(law.value, f);
            assert!(
                near(measured, wanted, 0.025),
                "y = {exponent}, {f} Hz: {measured} for {wanted} dB/m"
            );
            let [own, _] = plane_wave(&made, SPEED, law.value, f);
            assert!(
                near(measured, own, 0.01),
                "y = {exponent}, {f} Hz: {measured} for {own} dB/m"
            );
        }
    }
}

/// Steps in one call equal steps one by one to the bit, and a run that is saved and loaded goes on as if it had not been.
#[test]
fn memories_are_part_of_the_state() {
    let text = format!(
        "[grid]\nsize = [19, 14]\nspacing = {SPACING}\nedges = \"wall\"\n[acoustic]\nspeed = {SPEED}\n\
         attenuation = {{ at = 100.0, value = 1.0, exponent = 1.1, band = [20.0, 400.0] }}\n[time]\nstep = {:e}\n\
         [solver]\nmethod = \"fdtd\"\n[[pulse]]\ncenter = [0.2, 0.15]\nwidth = 0.05\n[[layer]]\nsets = \"impedance\"\nvalue = 9\nhigh = 1\ncorner = 300\n",
        step(0.6)
    );
    let scenario = scene(&text);
    assert!(matches!(scenario.model(), Model::Acoustic(own) if own.attenuation.is_some()));
    let mut whole = build(&scenario);
    advance(whole.as_mut(), 90);
    let mut single = build(&scenario);
    for _ in 0..40 {
        advance(single.as_mut(), 1);
    }
    let saved = single.save().unwrap();
    let mut loaded = build(&scenario);
    loaded.load(&saved).unwrap();
    advance(loaded.as_mut(), 50);
    assert_eq!(values(whole.as_mut()), values(loaded.as_mut()));
}

/// A layer's attenuation, a pole without an impedance, and a device that has no memories are told from a sound scene.
#[test]
fn what_cannot_be_is_said() {
    let head = format!("[grid]\nsize = [20]\nspacing = {SPACING}\n[acoustic]\n");
    let pulse = "[[pulse]]\ncenter = [1.0]\nwidth = 0.2\n";
    let said = |text: String| {
        crate::try_scene(&text)
            .err()
            .map_or(String::new(), |fault| format!("{fault:?}"))
    };
    let no_law = said(format!("{head}{pulse}[[layer]]\nsets = \"attenuation\"\nvalue = 3.0\n"));
    assert!(no_law.contains("follows a law"), "{no_law}");
    let no_pole = said(format!(
        "{head}{pulse}[[layer]]\nsets = \"speed\"\nvalue = 300.0\nhigh = 1.0\ncorner = 10.0\n"
    ));
    assert!(no_pole.contains("only an impedance"), "{no_pole}");
    let exponent = said(format!(
        "{head}attenuation = {{ at = 10.0, value = 1.0, exponent = 3.0 }}\n{pulse}"
    ));
    assert!(exponent.contains("between 0 and 2"), "{exponent}");
}

//! Sources with a direction, a phase or an area: what they send, and what they do not send.

use crate::recorded::{header, record, ricker};
use crate::{ORDERS, SPACING, SPEED, largest_difference};
use std::f64::consts::PI;

/// p = amplitude · s(t − x/c) ahead and nothing behind, and ±½ of it of a dipole. The dipole is exact on the lattice at every order but for the wave's own speed; the way back is half the difference of the lattice's k from ω/c.
#[test]
fn a_point_in_1d_sends_one_way_or_both_with_opposite_signs() {
    let points = 40.0;
    let frequency = SPEED / (points * SPACING);
    for order in ORDERS {
        // Order 2 at the limit is exact; the others have the error of time alone, (ωΔt)²/24 of k.
        let courant = if order == 2 { 0.999 } else { 0.25 };
        for (pattern, ahead, behind) in [("one-way", 3.0, 0.0), ("dipole", 1.5, -1.5)] {
            for (direction, sides) in [(1.0, [0, 1]), (-2.0, [1, 0])] {
                let at = 300.0 * SPACING;
                let text = header(&[640], "\"soft\"", courant, order)
                    + &format!(
                        "[[source]]\nat = [{at}]\nsignal = \"ricker\"\nfrequency = {frequency}\namplitude = 3.0\n\
                         pattern = \"{pattern}\"\ndirection = [{direction}]\n\
                         [[detector]]\nname = \"a\"\nmeasure = \"value\"\nat = [{}]\n\
                         [[detector]]\nname = \"b\"\nmeasure = \"value\"\nat = [{}]\n",
                        340.0 * SPACING,
                        260.0 * SPACING
                    );
                let (times, values) = record(&text, (220.0 / courant) as u64);
                let wave = |factor: f64| -> Vec<f64> {
                    let arrives = 40.0 * SPACING / SPEED;
                    times.iter().map(|t| factor * ricker(frequency, t - arrives)).collect()
                };
                // k of the strongest waves is off by (ωΔt)²/24 = 6e-5 at 0.25 (6e-7 at 0.999), which turns phases by 4e-4 a wavelength; twice that for the
                // pulse's higher half, and 2e-5 where a Ricker begins.
                let tolerance = 3.0 * 3e-3;
                for (side, factor) in sides.into_iter().zip([ahead, behind]) {
                    let error = largest_difference(&values[side], &wave(factor));
                    assert!(
                        error < tolerance,
                        "{pattern}, order {order}, {direction}, side {side}: {error}"
                    );
                }
            }
        }
    }
}

/// A line across a plane, periodic along itself, sends the plane wave of a point in one dimension, and a second one half a turn behind it silences it.
#[test]
fn lines_send_plane_waves_and_phases_cancel() {
    let (nx, ny) = (360, 6);
    let frequency = SPEED / (20.0 * SPACING);
    let line = |phase: f64| {
        format!(
            "[[source]]\nfrom = [{x}, 0.0]\nto = [{x}, {y}]\nsignal = \"burst\"\ncycles = 4\nfrequency = {frequency}\namplitude = 2.0\n\
             phase = {phase}\npattern = \"one-way\"\ndirection = [1.0, 0.0]\n",
            x = 150.0 * SPACING,
            y = (ny - 1) as f64 * SPACING
        )
    };
    let heard = |at: f64| {
        format!(
            "[[detector]]\nname = \"n{at}\"\nmeasure = \"value\"\nat = [{}, {}]\n",
            at * SPACING,
            2.0 * SPACING
        )
    };
    let text =
        |lines: &str| header(&[nx, ny], "[\"soft\", \"periodic\"]", 0.7, 2) + lines + &heard(180.0) + &heard(120.0);
    let (times, values) = record(&text(&line(0.4)), 250);
    let exact: Vec<f64> = times
        .iter()
        .map(|t| {
            let t = t - 30.0 * SPACING / SPEED;
            let window = (PI * frequency * t / 4.0).sin().powi(2);
            if (0.0..4.0 / frequency).contains(&t) {
                2.0 * window * (2.0 * PI * frequency * t + 0.4).sin()
            } else {
                0.0
            }
        })
        .collect();
    // (1 − λ²)/24 (ka)² = 0.2 % of k: 0.02 of a radian over 30 sites, 0.04 Pa, and as much again for the band's upper half; half of 0.2 % goes back.
    assert!(largest_difference(&values[0], &exact) < 0.08);
    let back = values[1].iter().fold(0.0f64, |most, p| most.max(p.abs()));
    assert!(back < 2.0 * 0.003, "{back}");
    let (_, values) = record(&text(&(line(0.4) + &line(0.4 + PI))), 250);
    assert!(values[0].iter().all(|p| p.abs() < 1e-12));
}

/// A point force: p = F cos θ/(4π) [s′(t − r/c)/(cr) + s(t − r/c)/r²]; nothing to the sides.
#[test]
fn a_dipole_in_space_sends_along_its_axis() {
    let n = 61;
    let middle = 30.0 * SPACING;
    let frequency = SPEED / (16.0 * SPACING);
    let far = 14.0;
    let text = header(&[n, n, n], "\"soft\"", 0.25, 4)
        + &format!(
            "[[source]]\nat = [{middle}, {middle}, {middle}]\nsignal = \"ricker\"\nfrequency = {frequency}\namplitude = 5.0\n\
             pattern = \"dipole\"\ndirection = [0.0, 3.0, 0.0]\n\
             [[detector]]\nname = \"a\"\nmeasure = \"value\"\nat = [{middle}, {}, {middle}]\n\
             [[detector]]\nname = \"b\"\nmeasure = \"value\"\nat = [{}, {middle}, {middle}]\n",
            middle + far * SPACING,
            middle + far * SPACING
        );
    // Until the echo of the edges, 61 − 14 sites later than the wave sets out.
    let (times, values) = record(&text, (46.0 / 0.25) as u64);
    let r = far * SPACING;
    let exact: Vec<f64> = times
        .iter()
        .map(|t| {
            let t = t - r / SPEED;
            let step = 1e-4 / frequency;
            let slope = if t > step {
                (ricker(frequency, t + step) - ricker(frequency, t - step)) / (2.0 * step)
            } else {
                0.0
            };
            5.0 / (4.0 * PI) * (slope / (SPEED * r) + ricker(frequency, t) / (r * r))
        })
        .collect();
    let peak = exact.iter().fold(0.0f64, |most, p| most.max(p.abs()));
    let error = largest_difference(&values[0], &exact) / peak;
    // As the point in space at order 4: the pulse's upper half has 8 to 12 sites a wavelength, whose k is off by up to 0.4 % over one and a half wavelengths, and a difference of order 4 by (ka)⁴/30 = 2 % at 10.
    assert!(error < 0.05, "{error}");
    assert!(values[1].iter().all(|p| p.abs() < 1e-12 * peak.max(1.0)));
}

/// A force between two media, wavelengths of both long beside its distance from the jump: the pressures to both sides differ by F, the velocities are the same, so that p₂ = F Z₂/(Z₁ + Z₂) and
/// p₁ = −F Z₁/(Z₁ + Z₂). Where its points stand in both media each of their sites has its own K: otherwise what is left over is a monopole, which is twenty times as loud here.
#[test]
fn a_force_beside_a_jump_pushes_both_media() {
    let frequency = SPEED / (400.0 * SPACING);
    let run = |layer: &str, at: f64, order: usize| {
        let heard = |name: &str, at: f64| {
            format!(
                "[[detector]]\nname = \"{name}\"\nmeasure = \"value\"\nat = [{}]\n",
                at * SPACING
            )
        };
        let text = header(&[2400], "\"soft\"", 0.25, order)
            + &format!(
                "[[source]]\nat = [{}]\nsignal = \"ricker\"\nfrequency = {frequency}\namplitude = 3.0\npattern = \"dipole\"\ndirection = [1.0]\n\
                 [[layer]]\nshape = \"box\"\nmin = [0.0]\nmax = [{}]\n{layer}\n",
                at * SPACING,
                1200.3 * SPACING
            )
            + &heard("ahead", 1300.0)
            + &heard("behind", 1100.0);
        // The pulse takes 960 sites' time, and 200 on its way in the slow medium; the echo of an edge comes after 2300.
        let (_, values) = record(&text, (1300.0 / 0.25) as u64);
        let strongest = |values: &[f64]| {
            values
                .iter()
                .fold(0.0f64, |most, p| if p.abs() > most.abs() { *p } else { most })
        };
        [strongest(&values[0]), strongest(&values[1])]
    };
    for order in ORDERS {
        for at in [1199.0, 1200.0, 1200.4, 1201.0] {
            let [ahead, behind] = run(&format!("sets = \"speed\"\nvalue = {}", SPEED / 2.0), at, order);
            // A site and a half from the jump the echo from there comes 3 sites later, of 200 a wavelength: 2π · 3/200 of the third that comes back, in quadrature and so less in the peak.
            assert!((ahead - 2.0).abs() < 0.06, "order {order}, {at}: {ahead}");
            assert!((behind + 1.0).abs() < 0.06, "order {order}, {at}: {behind}");
        }
    }
    // Four times as light: Z₂ = 4 Z₁.
    for at in [1199.0, 1200.0, 1201.0] {
        let [ahead, behind] = run("sets = \"density\"\nvalue = 0.3", at, 2);
        assert!(
            (ahead - 2.4).abs() < 0.06 && (behind + 0.6).abs() < 0.02,
            "{at}: {ahead} and {behind}"
        );
    }
}

/// A force that comes from another medium pushes the one in which it is: until the echo from there it is heard as if there were no other.
#[test]
fn a_force_that_moves_pushes_the_medium_where_it_is() {
    for (pattern, order) in [("dipole", 2), ("one-way", 2), ("one-way", 8)] {
        let run = |layer: &str| {
            let text = header(&[500], "\"soft\"", 0.25, order)
                + &format!(
                    "{layer}[[source]]\nat = [{}]\nvelocity = [{}]\ndelay = {}\nsignal = \"burst\"\ncycles = 2\nfrequency = {}\namplitude = 3.0\n\
                     pattern = \"{pattern}\"\ndirection = [1.0]\n[[detector]]\nname = \"a\"\nmeasure = \"value\"\nat = [{}]\n",
                    50.0 * SPACING,
                    0.25 * SPEED,
                    800.0 * SPACING / SPEED,
                    SPEED / (20.0 * SPACING),
                    400.0 * SPACING
                );
            // It plays from site 250 on; the other medium's echo takes 450 sites to the detector, the edge's 350.
            record(&text, (1050.0 / 0.25) as u64).1.remove(0)
        };
        let open = run("");
        let come = run(&format!(
            "[[layer]]\nsets = \"speed\"\nvalue = {}\nshape = \"box\"\nmin = [0.0]\nmax = [{}]\n",
            SPEED / 2.0,
            100.0 * SPACING
        ));
        let peak = open.iter().fold(0.0f64, |most, p| most.max(p.abs()));
        assert!(peak > 1.0, "{pattern}: {peak}");
        assert!(
            largest_difference(&come, &open) < 1e-6 * peak,
            "{pattern}, order {order}"
        );
    }
}

/// Beside a wall inside a source with a direction plays as beside a rigid edge in the same place, whose mirror image adds to it; so it does beside a wall of a single site, and whatever the wall
/// is made of.
#[test]
fn walls_mirror_sources_with_a_direction() {
    let frequency = SPEED / (40.0 * SPACING);
    for order in ORDERS {
        for pattern in ["dipole", "one-way"] {
            for before in [0.0, 0.3, 1.0, 2.6] {
                let run = |wall: usize, first: f64, density: Option<f64>| {
                    let place = |x: f64| (x + wall as f64) * SPACING;
                    let mut text = header(&[300 + wall], "\"wall\"", 0.25, order)
                        + &format!(
                            "[[source]]\nat = [{}]\nsignal = \"ricker\"\nfrequency = {frequency}\namplitude = 3.0\npattern = \"{pattern}\"\ndirection = [1.0]\n\
                             [[detector]]\nname = \"a\"\nmeasure = \"value\"\nat = [{}]\n",
                            place(before),
                            place(before + 60.0)
                        );
                    let mut layer = |sets: &str| {
                        text += &format!(
                            "[[layer]]\n{sets}\nshape = \"box\"\nmin = [{}]\nmax = [{}]\n",
                            place(first),
                            place(-0.7)
                        );
                    };
                    if wall > 0 {
                        layer("sets = \"wall\"");
                    }
                    if let Some(density) = density {
                        layer(&format!("sets = \"density\"\nvalue = {density}"));
                    }
                    record(&text, (200.0 / 0.25) as u64).1.remove(0)
                };
                let edge = run(0, 0.0, None);
                // A one-way source plays all of its amplitude; of a dipole the slope is left, 2π/40 · (1 + 2 · before) of half of it.
                let peak = edge.iter().fold(0.0f64, |most, p| most.max(p.abs()));
                assert!(peak > 0.1 && peak < 3.1, "order {order}, {pattern}, {before}: {peak}");
                let heavy = (-20.0, Some(7800.0));
                // Densities are stepped at order 2 alone.
                for (first, density) in
                    [(-20.0, None), (-1.3, None), heavy]
                        .into_iter()
                        .take(if order == 2 { 3 } else { 2 })
                {
                    let wall = run(20, first, density);
                    assert!(
                        largest_difference(&edge, &wall) < 1e-10 * peak,
                        "order {order}, {pattern}, {before}: wall from {first}, {density:?}"
                    );
                }
            }
        }
    }
}

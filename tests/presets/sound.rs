//! What the acoustic presets predict, from closed forms.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "sites and steps"
)]

use super::room;
use num_complex::Complex64;
use ripplon::physics::reference::acoustics::{self, Tone};
use ripplon::physics::reference::mirrors::{self, Room};
use ripplon::physics::source::Place;
use ripplon::physics::{Initial, Pulse, Region, Signal, Source};
use ripplon::scene::Scenario;
use std::f64::consts::{PI, TAU};

/// What the exact solutions say about each expectation, in the order of the file; `at` are their times.
pub fn predict(name: &str, scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let spacing = scenario.grid().spacing();
    match name {
        "tube" | "two-media" => in_a_tube(name, scenario, speed, at),
        "quarter-wave" => quarter_wave(scenario, at),
        "damped-tube" => damped_tube(scenario, speed, at),
        "side-branch" => super::arrays::side_branch(scenario),
        "line-array" => super::arrays::line_array(scenario, speed),
        "room-response" => super::arrays::room_response(scenario, speed, at),
        "sabine" => super::arrays::sabine(scenario, speed, at),
        "curtain" => curtain(scenario, speed, at),
        "tissue" => tissue(scenario, at),
        "piston" => piston(scenario, speed, at),
        "beats" => beats(scenario, speed, at),
        "stopped-pipe" => stopped_pipe(scenario, speed, at),
        "reciprocity" | "coupled-rooms" => (0..2).map(|n| room::heard(scenario, speed, n, at[n])).collect(),
        "pond" => {
            let pulse = pulse(scenario);
            (0..3)
                .map(|n| {
                    let r = distance(point(scenario, n), pulse.center);
                    acoustics::pulse_2d(r, speed * at[n], pulse.width)
                })
                .collect()
        }
        "flutter-echo" => flutter_echo(scenario, speed, at),
        "clap-3d" => {
            let pulse = pulse(scenario);
            (0..3)
                .map(|n| {
                    let r = distance(point(scenario, n), pulse.center);
                    acoustics::pulse_3d(r, speed * at[n], pulse.width)
                })
                .collect()
        }
        "room-modes" => room_modes(scenario, speed, at),
        "room-3d" => room_in_space(scenario, speed, at),
        "waveguide" => waveguide(scenario, speed, at),
        "talbot" => talbot(scenario, speed, at),
        "snell" => snell(scenario, speed, at),
        "zone-plate" => vec![zone_plate(scenario, speed)],
        "elliptic-room" => {
            let pulse = pulse(scenario);
            let focus = 2.0 * 8.5 / speed;
            at.iter()
                .map(|t| acoustics::elliptic_focus(0.6, speed * (t - focus), pulse.width))
                .collect()
        }
        "ring-mirror" => vec![mirrors::SPOT_2D * speed / burst(scenario)],
        // The last rods that no absorbing layer covers, 1.1 m to either side, seen from 0.6 m in front of them.
        "through-the-forest" => {
            vec![mirrors::spot_of_an_aperture((1.1f64 / 0.6).atan()) * speed / burst(scenario)]
        }
        "one-transducer" | "one-bit-mirror" | "moved-table" => {
            let found = room::contrast(scenario, speed, at[0]);
            let moved = name == "moved-table";
            let (stadium, table) = (4.0 * 0.6 * 0.885 + PI * 0.885f64.powi(2), PI * 0.2f64.powi(2));
            let law = Room {
                area: if moved { stadium - table } else { stadium },
                speed,
                record: scenario.mirror().unwrap().at,
                transducers: if moved { 3.0 } else { 1.0 },
                one_bit: name == "one-bit-mirror",
            };
            let left = if moved { law.left_after_moving(TAU * 0.2) } else { 1.0 };
            let law = left * law.contrast(2450.0, 2.0);
            // Modes at one place are a sample, a fifth; a speckle is a Gaussian of height 1.
            assert!(
                (found - law).abs() < 0.2 * law + 1.0,
                "{name}: {found}, and {law} by Weyl's law"
            );
            vec![found]
        }
        "doppler" | "mach" => at
            .iter()
            .enumerate()
            .map(|(n, t)| moving(scenario, speed, n, *t))
            .collect(),
        // The pulse comes back: 2√(2 ln 2) of its width.
        "autofocus" => vec![(8.0 * 2f64.ln()).sqrt() * 0.0003],
        "sea-floor" => {
            let source = &scenario.sources()[0];
            let [x, y, _] = element(source, 0);
            let offset = (point(scenario, 0)[0] - x).abs();
            // Boundaries lie half a spacing above the last site of a layer; impedances as the densities.
            let depths = [y - 2.1 - spacing / 2.0, y - 1.1 - spacing / 2.0];
            let (first, second) = (
                acoustics::interface(1000.0, 1500.0).0,
                acoustics::interface(1500.0, 2000.0).0,
            );
            let shares = [1.0, first, (1.0 - first * first) * second];
            let ways = [offset, offset.hypot(2.0 * depths[0]), offset.hypot(2.0 * depths[1])];
            at.iter()
                .map(|t| {
                    let echo = |n: usize| acoustics::point_3d(speed, ways[n], *t, |t| source.signal.at(t));
                    source.amplitude * (0..3).map(|n| shares[n] * echo(n)).sum::<f64>()
                })
                .collect()
        }
        other => panic!("no prediction of {other}"),
    }
}

/// The clap and its images behind two rigid walls along x, half a spacing outside of the first and the last row.
fn flutter_echo(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let (pulse, grid) = (pulse(scenario), scenario.grid());
    let (a, height) = (grid.spacing(), grid.size()[1] as f64 * grid.spacing());
    let heard = |t: &f64| -> f64 {
        let [x, y, _] = point(scenario, 0);
        let images = (-8..=8).flat_map(|n| {
            let shift = 2.0 * height * f64::from(n);
            [pulse.center[1] + shift, shift - a - pulse.center[1]]
        });
        let ways = images.map(|image| (x - pulse.center[0]).hypot(y - image));
        // What has not arrived is nothing.
        let arrived = ways.filter(|r| *r < speed * t + 8.0 * pulse.width);
        arrived.map(|r| acoustics::pulse_2d(r, speed * t, pulse.width)).sum()
    };
    at.iter().map(heard).collect()
}

fn zone_plate(scenario: &Scenario, speed: f64) -> f64 {
    // The wall's formula, again: open where the way is longer by 0 to ½, 1 to 3/2, … wavelengths.
    let source = &scenario.sources()[0];
    let frequency = source.signal.highest_frequency();
    let (wavelength, depth) = (speed / frequency, 2.2);
    let radius = |n: f64| (n * wavelength * depth + (n * wavelength / 2.0).powi(2)).sqrt();
    let mut openings = vec![[-radius(1.0), radius(1.0)]];
    for n in [2.0, 4.0] {
        openings.extend([[radius(n), radius(n + 1.0)], [-radius(n + 1.0), -radius(n)]]);
    }
    let (pressure, velocity) = acoustics::screen(wavelength, depth, &openings);
    let incident = source.amplitude / (2.0 * speed * TAU * frequency);
    incident * f64::midpoint(pressure.norm(), velocity.norm())
}

/// The frequency of the burst.
fn burst(scenario: &Scenario) -> f64 {
    match scenario.sources()[0].signal {
        Signal::Burst { frequency, .. } => frequency,
        ref other => panic!("a burst, not {other:?}"),
    }
}

fn pulse(scenario: &Scenario) -> Pulse {
    match scenario.initial() {
        Initial::Pulses(pulses) => pulses[0],
        other => panic!("pulses, not {other:?}"),
    }
}

fn point(scenario: &Scenario, detector: usize) -> [f64; 3] {
    match scenario.detectors()[detector].region {
        Region::Point(at) => at,
        ref other => panic!("a point, not {other:?}"),
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

fn element(source: &Source, n: usize) -> [f64; 3] {
    match &source.place {
        Place::Points(elements) => elements[n].at,
        Place::Line { .. } | Place::Disk { .. } => panic!("points, not a line or a disk"),
    }
}

fn site(scenario: &Scenario, length: f64) -> usize {
    (length / scenario.grid().spacing()).round() as usize
}

/// d'Alembert, with a rigid end half a spacing outside the last site, and with a boundary half a spacing before a layer.
fn in_a_tube(name: &str, scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let pulse = pulse(scenario);
    let spacing = scenario.grid().spacing();
    let gauss = |r: f64| pulse.amplitude * (-r * r / (2.0 * pulse.width * pulse.width)).exp();
    let tube = |x: f64, t: f64| {
        let d = x - pulse.center[0];
        f64::midpoint(gauss(d - speed * t), gauss(d + speed * t))
    };
    let place = |n: usize| point(scenario, n)[0];
    if name == "tube" {
        let wall = (scenario.grid().size()[0] as f64 - 0.5) * spacing;
        let x = place(1);
        return vec![tube(place(0), at[0]), tube(x, at[1]) + tube(2.0 * wall - x, at[1])];
    }
    let (back, on) = acoustics::interface(1.2, 2.88);
    let face = 1399.5 * spacing;
    vec![back * tube(2.0 * face - place(0), at[0]), on * tube(place(1), at[1])]
}

/// E₀ = 2/(ρc) ∫ p² dt of the two pulses of a Ricker, p = A/(2c) τe^(−(πfτ)²), ∫ τ²e^(−2(πfτ)²) dτ = √π/(2(2π²f²)^(3/2)); and R² for each length of the tube that they have gone.
fn damped_tube(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let (density, impedance, length) = (1.2, 30.0, 5.0);
    let source = &scenario.sources()[0];
    let Signal::Ricker { frequency } = source.signal else {
        panic!("a Ricker")
    };
    let square = PI.sqrt() / (2.0 * (2.0 * (PI * frequency).powi(2)).powf(1.5));
    let begin = 2.0 / (density * speed) * (source.amplitude / (2.0 * speed)).powi(2) * square;
    let kept = ((impedance - 1.0) / (impedance + 1.0f64)).powi(2);
    let passed = |t: f64| ((t - source.signal.middle()) * speed / length).round();
    at.iter().map(|t| begin * kept.powf(passed(*t))).collect()
}

/// What comes back of bursts from a wall of Y = Y∞ + (Y₀ − Y∞)/(1 + sτ), R = (1 − Y)/(1 + Y) = R∞ + κ/(s + λ): the convolution with κe^(−λt) by the midpoint rule.
fn curtain(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    const PARTS: u32 = 40_000;
    let (slow, fast, corner) = (1.0 / 40.0, 1.0 / 2.0, 400.0);
    let returned = |y: f64| (1.0 - y) / (1.0 + y);
    let rate = (1.0 + slow) / (1.0 + fast) * TAU * corner;
    let strength = (returned(slow) - returned(fast)) * rate;
    let played = |t: f64| -> f64 {
        let of = |source: &Source| source.amplitude * source.signal.at(t - source.delay);
        scenario.sources().iter().map(of).sum()
    };
    // From the source to the wall's face, half a site before its first one at 24 m, and back to the listener.
    let face = 24.0 - 0.5 * scenario.grid().spacing();
    let way = (face - element(&scenario.sources()[0], 0)[0]) + (face - point(scenario, 0)[0]);
    let back = |t: f64| {
        let part = t / f64::from(PARTS);
        let kept = (0..PARTS).map(|n| {
            let then = (f64::from(n) + 0.5) * part;
            (-rate * (t - then)).exp() * played(then)
        });
        returned(fast) * played(t) + strength * part * kept.sum::<f64>()
    };
    std::iter::once(0.0)
        .chain(at[1..].iter().map(|t| back(t - way / speed)))
        .collect()
}

/// The largest pressure of bursts whose spectra were multiplied by 10^(−α(f) d/20), α = 50 dB/m (f/1 MHz)^1.1: the first two expectations 1 cm deep, the others 5 cm.
fn tissue(scenario: &Scenario, at: &[f64]) -> Vec<f64> {
    const PARTS: u32 = 2000;
    const LINES: u32 = 400;
    let peak = |source: &Source, depth: f64| {
        let Signal::Burst { frequency, cycles } = source.signal else {
            panic!("a burst")
        };
        let (lasts, line) = (cycles / frequency, frequency / f64::from(LINES));
        let part = lasts / f64::from(PARTS);
        let spectrum: Vec<(f64, Complex64)> = (0..=LINES)
            .map(|n| {
                let f = 0.5 * frequency + f64::from(n) * line;
                let sum: Complex64 = (0..PARTS)
                    .map(|k| {
                        let t = f64::from(k) * part;
                        source.signal.at(t) * Complex64::cis(-TAU * f * t)
                    })
                    .sum();
                (f, sum * part * 10f64.powf(-50.0 * (f / 1e6).powf(1.1) * depth / 20.0))
            })
            .collect();
        let heard = |t: f64| -> f64 {
            let of = |(f, share): &(f64, Complex64)| (share * Complex64::cis(TAU * f * t)).re;
            2.0 * line * spectrum.iter().map(of).sum::<f64>()
        };
        (-100..=100)
            .map(|n| heard(lasts / 2.0 + f64::from(n) * 0.01 / frequency).abs())
            .fold(0.0, f64::max)
    };
    let sources = scenario.sources();
    let order = [(0, 0.01), (1, 0.01), (0, 0.05), (1, 0.05)];
    assert_eq!(at.len(), order.len());
    order.map(|(n, depth)| peak(&sources[n], depth)).to_vec()
}

/// Rayleigh's integral over the disk, p = A/(2πc²) ∫ s(t − R/c)/R dA, at the detectors, whose distances count from the rigid edge half a spacing outside.
fn piston(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    const RINGS: u32 = 160;
    const SPOKES: u32 = 120;
    let source = &scenario.sources()[0];
    let Place::Disk { center, radius, .. } = source.place else {
        panic!("a disk")
    };
    let pressure = |detector: usize, t: f64| {
        let heard = point(scenario, detector);
        let [x, y, z] = [0, 1, 2].map(|axis| heard[axis] - center[axis]);
        let (ring, spoke) = (radius / f64::from(RINGS), TAU / f64::from(SPOKES));
        let mut sum = 0.0;
        for n in 0..RINGS * SPOKES {
            let r = (f64::from(n / SPOKES) + 0.5) * ring;
            let angle = (f64::from(n % SPOKES) + 0.5) * spoke;
            let way = (x * x + (y - r * angle.cos()).powi(2) + (z - r * angle.sin()).powi(2)).sqrt();
            sum += source.signal.at(t - way / speed) / way * r;
        }
        source.amplitude * sum * ring * spoke / (TAU * speed * speed)
    };
    // The largest of a period at rest.
    let period = 1.0 / source.signal.highest_frequency();
    let times = (0..32).map(|n| at[0] - f64::from(n) * period / 32.0);
    let largest = times.map(|t| pressure(0, t).abs()).fold(0.0, f64::max);
    vec![largest, pressure(1, at[1])]
}

/// p = A/(2c) ∫ s dt of each source, by the midpoint rule.
fn beats(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    const PARTS: u32 = 100_000;
    let heard = |source: &Source, t: f64| {
        let way = (point(scenario, 0)[0] - element(source, 0)[0]).abs();
        let part = (t - way / speed) / f64::from(PARTS);
        let played = (0..PARTS).map(|n| source.signal.at((f64::from(n) + 0.5) * part));
        source.amplitude * part * played.sum::<f64>() / (2.0 * speed)
    };
    at.iter()
        .map(|t| scenario.sources().iter().map(|source| heard(source, *t)).sum())
        .collect()
}

/// Images of the source: upright in the face of the wall, half a site before the first free one, upside down in the zero one site beyond the last.
fn stopped_pipe(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    const PARTS: u32 = 20_000;
    let spacing = scenario.grid().spacing();
    let (closed, open) = (9.5 * spacing, 90.0 * spacing);
    let (source, length) = (&scenario.sources()[0], open - closed);
    let from = element(source, 0)[0] - closed;
    let whole = |t: f64| {
        let part = t.max(0.0) / f64::from(PARTS);
        let played = (0..PARTS).map(|n| source.signal.at((f64::from(n) + 0.5) * part));
        source.amplitude * part * played.sum::<f64>() / (2.0 * speed)
    };
    let one = |(n, t): (usize, &f64)| -> f64 {
        let x = point(scenario, n)[0] - closed;
        let image = |m: i32, side: f64| {
            let way = (x - side * from - 2.0 * f64::from(m) * length).abs();
            (-1.0f64).powi(m) * whole(t - way / speed)
        };
        (-30..=30).map(|m| image(m, 1.0) + image(m, -1.0)).sum()
    };
    at.iter().enumerate().map(one).collect()
}

/// A burst in water and behind a layer of 48 sites, summed over the ways to and fro in the layer. The faces lie half a site before and behind it.
fn quarter_wave(scenario: &Scenario, at: &[f64]) -> Vec<f64> {
    let spacing = scenario.grid().spacing();
    let source = &scenario.sources()[0];
    // The impedances are as 1 : 2 : 4, so that both faces reflect a third.
    let (water, layer, stone, r) = (1500.0, 2250.0, 3000.0, 1.0_f64 / 3.0);
    let incident = |t: f64| {
        const PARTS: u32 = 20_000;
        let part = t.max(0.0) / f64::from(PARTS);
        let middles = (0..PARTS).map(|n| source.signal.at((f64::from(n) + 0.5) * part));
        source.amplitude * part * middles.sum::<f64>() / (2.0 * water)
    };
    let (from, echo, behind) = (1280.0, 2560.0, 5800.0);
    let (front, back) = (3839.5, 3887.5);
    let through = spacing * (back - front) / layer;
    let ways = |first: f64| -> f64 {
        (0..8)
            .map(|n: i32| (-r * r).powi(n) * incident(first - 2.0 * f64::from(n) * through))
            .sum()
    };
    let returned = at[0] - spacing * (2.0 * front - from - echo) / water;
    let arrived = at[1] - spacing * ((front - from) / water + (behind - back) / stone) - through;
    vec![
        r * incident(returned) + r * (1.0 - r * r) * ways(returned - 2.0 * through),
        (1.0 + r) * (1.0 + r) * ways(arrived),
    ]
}

/// Δt and steps of a time.
fn steps(scenario: &Scenario, at: f64) -> (f64, f64) {
    let step = scenario.time().step.unwrap();
    (step, (at / step).round())
}

fn room_modes(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let [nx, ny, _] = scenario.grid().size();
    let spacing = scenario.grid().spacing();
    let source = &scenario.sources()[0];
    let heard: [&[[usize; 2]]; 3] = [&[[199, 159]], &[[199, 0]], &[[99, 40], [100, 40]]];
    at.iter()
        .zip(heard)
        .map(|(t, heard)| {
            let (step, count) = steps(scenario, *t);
            let weight = source.amplitude * (step / spacing).powi(2);
            acoustics::rigid_room([nx, ny], speed * step / spacing, [0, 0], heard, count as u32, |n| {
                weight * source.signal.at(f64::from(n) * step)
            })
        })
        .collect()
}

/// Each mode cos(πl(i+½)/N)… of a rigid room in space is an oscillator of its own, qⁿ⁺¹ = (2 − 4 sin²(ωΔt/2)) qⁿ − qⁿ⁻¹ + Δt²S; from the first site to two corners.
fn room_in_space(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let size = scenario.grid().size();
    let spacing = scenario.grid().spacing();
    let source = &scenario.sources()[0];
    let (step, count) = steps(scenario, at[0]);
    let weight = source.amplitude * step.powi(2) / spacing.powi(3);
    let played: Vec<f64> = (0..count as u32)
        .map(|n| weight * source.signal.at(f64::from(n) * step))
        .collect();
    let sine = |axis: usize, mode: usize| (PI * mode as f64 / (2.0 * size[axis] as f64)).sin().powi(2);
    let (mut far, mut next) = (0.0, 0.0);
    for mode in (0..size.iter().product()).map(|n: usize| [n % size[0], n / size[0] % size[1], n / size[0] / size[1]]) {
        // cos²(πm/2N) of the first site twice, to the last site with the sign of the mode.
        let along = |axis: usize| {
            let norm = if mode[axis] == 0 { 1.0 } else { 2.0 } / size[axis] as f64;
            norm * (1.0 - sine(axis, mode[axis]))
        };
        let sign = |axis: usize| if mode[axis] % 2 == 0 { 1.0 } else { -1.0 };
        let square: f64 = (0..3).map(|axis| sine(axis, mode[axis])).sum();
        let turn = 2.0 - 4.0 * (speed * step / spacing).powi(2) * square;
        let (mut now, mut before) = (0.0, 0.0);
        for s in &played {
            (now, before) = (turn * now - before + s, now);
        }
        let share = (0..3).map(along).product::<f64>() * now;
        far += share * (0..3).map(sign).product::<f64>();
        next += share * sign(0);
    }
    vec![far, next]
}

/// p of a tone sin(ωt) from the complex pressure of e^(−iωt).
fn sine(pressure: Complex64, phase: f64) -> f64 {
    (Complex64::i() * pressure * Complex64::cis(-phase)).re
}

/// Modes across the duct, cos(πm(i+½)/N), each a wave along it. While it lasts, a burst of n periods is three tones, of f and f ± f/n.
fn waveguide(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let (sites, source_x) = (24, 30);
    let spacing = scenario.grid().spacing();
    (0..at.len())
        .map(|n| {
            let (step, count) = steps(scenario, at[n]);
            let [x, y, _] = point(scenario, n);
            let source = &scenario.sources()[if n < 2 { 0 } else { 2 }];
            let Signal::Burst { frequency, cycles } = source.signal else {
                panic!("a burst")
            };
            let row = site(scenario, y) - if n < 2 { 0 } else { 26 };
            let way = site(scenario, x).abs_diff(source_x) as i32;
            // A line of amplitude A per metre plays A/a at each of its sites: + in the upper half, − in the lower.
            let strength = source.amplitude / spacing * step * step;
            let shape = |m: usize, j: usize| (PI * m as f64 * (j as f64 + 0.5) / sites as f64).cos();
            let tones = [(0.5, 1.0), (-0.25, 1.0 + 1.0 / cycles), (-0.25, 1.0 - 1.0 / cycles)];
            tones
                .iter()
                .map(|(weight, factor)| {
                    let turn = TAU * frequency * factor * step;
                    let tone = Tone {
                        turn: Complex64::from(turn),
                        courant: speed * step / spacing,
                    };
                    let pressure: Complex64 = (1..sites)
                        .map(|m| {
                            let part = (0..sites)
                                .map(|j| if j < sites / 2 { -shape(m, j) } else { shape(m, j) })
                                .sum::<f64>()
                                * 2.0
                                / sites as f64;
                            let z = tone.decay(4.0 * (PI * m as f64 / (2.0 * sites as f64)).sin().powi(2));
                            tone.amplitude(z) * z.powi(way) * (strength * part * shape(m, row))
                        })
                        .sum();
                    weight * sine(pressure, turn * count)
                })
                .sum()
        })
        .collect()
}

/// Orders of the grating, each a plane wave.
fn talbot(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let (period, half) = (66i32, 14i32);
    let spacing = scenario.grid().spacing();
    let source = &scenario.sources()[0];
    at.iter()
        .enumerate()
        .map(|(n, t)| {
            let (step, count) = steps(scenario, *t);
            let [x, y, _] = point(scenario, n);
            let turn = TAU * source.signal.highest_frequency() * step;
            let tone = Tone {
                turn: Complex64::from(turn),
                courant: speed * step / spacing,
            };
            let strength = source.amplitude / spacing * step * step;
            let way = site(scenario, x) as i32 - 35;
            let row = site(scenario, y) as i32 - 33;
            let pressure: Complex64 = (-period / 2 + 1..=period / 2)
                .map(|m| {
                    let angle = TAU * f64::from(m) / f64::from(period);
                    let part: f64 =
                        (-half..=half).map(|j| (angle * f64::from(j)).cos()).sum::<f64>() / f64::from(period);
                    let z = tone.decay(4.0 * (angle / 2.0).sin().powi(2));
                    tone.amplitude(z) * z.powi(way) * (strength * part * (angle * f64::from(row)).cos())
                })
                .sum();
            sine(pressure, turn * count)
        })
        .collect()
}

/// Every wave number along the boundary by itself. The tone swells a little, so that waves along the boundary, whose sum would go on for ever, come from a finite
/// past.
fn snell(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let spacing = scenario.grid().spacing();
    let (boundary, height) = (115, 225);
    at.iter()
        .enumerate()
        .map(|(n, t)| {
            let (step, count) = steps(scenario, *t);
            let [x, y, _] = point(scenario, n);
            let (i, j) = (site(scenario, x) as f64, site(scenario, y) as i32);
            let frequency = scenario.sources()[0].signal.highest_frequency();
            let turn = Complex64::from(TAU * frequency * step) * Complex64::new(1.0, 2e-5);
            let tone = |speed: f64| Tone {
                turn,
                courant: speed * step / spacing,
            };
            let (slow, fast) = (tone(speed), tone(2.0 * speed));
            let pieces = 1 << 18;
            let width = TAU / f64::from(pieces);
            let sum: Complex64 = (0..pieces)
                .map(|n| {
                    // Half a period of the sum's own, so that no wave number falls on a branch point.
                    let k = (f64::from(n) + 0.5) * width - PI;
                    let across = 4.0 * (k / 2.0).sin().powi(2);
                    let (z1, z2) = (slow.decay(across), fast.decay(across));
                    let (back, on) = acoustics::lattice_interface(z1, z2);
                    let there = slow.amplitude(z1) * z1.powi(height - boundary);
                    let along = if j < boundary {
                        there * on * z2.powi(boundary - 1 - j)
                    } else {
                        slow.amplitude(z1) * z1.powi((height - j).abs()) + there * back * z1.powi(j - boundary)
                    };
                    along * array(scenario, k, i, frequency) / f64::from(pieces)
                })
                .sum();
            let strength = scenario.sources()[0].amplitude * (step / spacing).powi(2);
            sine(sum * strength, TAU * frequency * step * count)
        })
        .collect()
}

/// Σ e^(ik(i − x)) e^(iω delay) over both arrays; elements and delays of a row are evenly spaced.
fn array(scenario: &Scenario, k: f64, i: f64, frequency: f64) -> Complex64 {
    scenario
        .sources()
        .iter()
        .map(|source| {
            let Place::Points(elements) = &source.place else {
                panic!("an array")
            };
            let phase = |n: usize| {
                k * (i - elements[n].at[0] / scenario.grid().spacing()) + TAU * frequency * elements[n].delay
            };
            let turn = Complex64::cis(phase(1) - phase(0));
            let mut wave = Complex64::cis(phase(0));
            let mut sum = Complex64::ZERO;
            for _ in elements {
                sum += wave;
                wave *= turn;
            }
            sum
        })
        .sum()
}

/// Retarded integral of each element of a moving source; of a region, the larger of its two corners.
fn moving(scenario: &Scenario, speed: f64, detector: usize, t: f64) -> f64 {
    let source = &scenario.sources()[0];
    let Place::Points(elements) = &source.place else {
        panic!("points")
    };
    let plane = |v: [f64; 3]| [v[0], v[1]];
    let (start, velocity) = (|n: usize| plane(elements[n].at), plane(source.velocity));
    let heard = |at: [f64; 3]| -> f64 {
        (0..elements.len())
            .map(|n| acoustics::moving_point_2d(speed, start(n), velocity, plane(at), t, |t| source.signal.at(t)))
            .sum::<f64>()
            * source.amplitude
    };
    match scenario.detectors()[detector].region {
        Region::Point(at) => heard(at),
        Region::Box { min, max } => heard(min).abs().max(heard(max).abs()),
        ref other => panic!("a point or a region, not {other:?}"),
    }
}

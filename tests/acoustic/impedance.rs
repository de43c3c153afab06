//! Walls that take energy.

use crate::{
    ORDERS, SPACING, SPEED, advance, build, largest_difference, noise, scene, sections, start, step, try_scene, values,
    variants,
};
use num_complex::Complex64;
use ripplon::solver::Taps;
use std::f64::consts::TAU;

/// The flux form, face by face: a face that is no air carries −(1/ξc)(pⁿ⁺¹ − pⁿ⁻¹)/2Δt.
struct Reference {
    size: [usize; 3],
    rank: usize,
    walls: Vec<bool>,
    xi: Vec<f64>,
    courant: f64,
    now: Vec<f64>,
    old: Vec<f64>,
}

impl Reference {
    fn site(&self, n: usize) -> [usize; 3] {
        let [nx, ny, _] = self.size;
        [n % nx, n / nx % ny, n / nx / ny]
    }

    /// What acts on a site, and σΣ1/2ξ of its faces; `soft` is the axis with soft edges.
    fn faces(&self, n: usize, soft: usize) -> (f64, f64) {
        let [nx, ny, _] = self.size;
        let (mut sum, mut taken) = (0.0, 0.0);
        for axis in 0..self.rank {
            for up in [false, true] {
                let mut at = self.site(n);
                let edge = if up {
                    at[axis] + 1 == self.size[axis]
                } else {
                    at[axis] == 0
                };
                if edge {
                    if axis == soft {
                        sum -= self.now[n];
                    } else {
                        taken += self.courant / (2.0 * self.xi[n]);
                    }
                    continue;
                }
                at[axis] = if up { at[axis] + 1 } else { at[axis] - 1 };
                let other = at[0] + nx * (at[1] + ny * at[2]);
                if self.walls[other] {
                    taken += self.courant / (2.0 * self.xi[other]);
                } else {
                    sum += self.now[other] - self.now[n];
                }
            }
        }
        (sum, taken)
    }

    fn step(&mut self, soft: usize, first: bool) {
        let square = self.courant * self.courant;
        let next = (0..self.now.len())
            .map(|n| {
                if self.walls[n] {
                    return 0.0;
                }
                let (sum, taken) = self.faces(n, soft);
                if first {
                    // Nothing flows but into the faces: their half of a step.
                    return ((1.0 - taken) * self.now[n] + 0.5 * square * sum) / (1.0 + taken);
                }
                (2.0 * self.now[n] - (1.0 - taken) * self.old[n] + square * sum) / (1.0 + taken)
            })
            .collect();
        self.old = std::mem::replace(&mut self.now, next);
    }
}

/// Every face of walls and edges, in every variant, by another program of the same formula: 60 steps of roundings, 1e-13.
#[test]
fn faces_take_what_the_flux_form_says() {
    let xi = |x: f64, y: f64, z: f64| 0.6 + 9.0 * x + 3.0 * y + 7.0 * z;
    let in_wall = |x: f64, y: f64| ((x - 0.3).powi(2) + (y - 0.2).powi(2)).sqrt() <= 0.1;
    for (size, soft) in [
        (vec![40], 3),
        (vec![37, 22], 3),
        (vec![24, 19], 1),
        (vec![20, 12, 9], 2),
    ] {
        let rank = size.len();
        let courant = 0.95 / (rank as f64).sqrt();
        let edges: Vec<&str> = (0..rank)
            .map(|axis| if axis == soft { "soft" } else { "wall" })
            .collect();
        let layers = format!(
            "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = {:?}\nradius = 0.1\n[[layer]]\nsets = \"impedance\"\nvalue = \"0.6 + 9*x + 3*y + 7*z\"\n",
            [0.3, 0.2, 0.1][..rank].to_vec()
        );
        for variant in variants(rank) {
            let solver =
                format!("method = \"fdtd\"\nbackend = \"cpu\"\nvariant = \"{variant}\"\nprecision = \"double\"");
            let scene = scene(&(sections(&size, &format!("{edges:?}"), courant, &solver) + &layers));
            let mut run = build(&scene);
            let grid = scene.grid();
            let sites = grid.sites();
            let place = |n: usize| {
                let [nx, ny, _] = grid.size();
                [n % nx, n / nx % ny, n / nx / ny].map(|at| at as f64 * SPACING)
            };
            let mut walls = vec![false; sites];
            for (n, wall) in walls.iter_mut().enumerate() {
                let [x, y, z] = place(n);
                *wall = match rank {
                    1 => (x - 0.3).abs() <= 0.1,
                    2 => in_wall(x, y),
                    _ => ((x - 0.3).powi(2) + (y - 0.2).powi(2) + (z - 0.1).powi(2)).sqrt() <= 0.1,
                };
            }
            // Sites on the ball's surface stand on either side of rounding; the scene's own answer counts.
            let mut own = vec![false; grid.size()[0]];
            for (row, part) in walls.chunks_mut(grid.size()[0]).enumerate() {
                scene
                    .medium()
                    .wall_row(row % grid.size()[1], row / grid.size()[1], 0..own.len(), &mut own);
                let different = part.iter().zip(&own).filter(|(a, b)| a != b).count();
                assert!(different <= 2, "{size:?}, row {row}");
                part.copy_from_slice(&own);
            }
            let mut pressure = noise(sites, 3);
            for (value, wall) in pressure.iter_mut().zip(&walls) {
                *value *= f64::from(u8::from(!wall));
            }
            let mut reference = Reference {
                size: grid.size(),
                rank,
                walls,
                xi: (0..sites).map(place).map(|[x, y, z]| xi(x, y, z)).collect(),
                courant,
                now: pressure.clone(),
                old: pressure.clone(),
            };
            start(run.as_mut(), &pressure);
            for n in 0..60 {
                reference.step(soft, n == 0);
            }
            advance(run.as_mut(), 60);
            let error = largest_difference(&values(run.as_mut()), &reference.now);
            assert!(error < 1e-13, "{size:?} {variant}: {error:e}");
            let left: f64 = reference.now.iter().map(|value| value * value).sum();
            assert!(
                left < 0.9 * pressure.iter().map(|value| value * value).sum::<f64>(),
                "it takes"
            );
        }
    }
}

pub const COURANT: f64 = 0.8;

/// What the end of a tube sends back of a pulse, where a layer of impedance with these keys stands: of some numbers of sites a wavelength, (the number, ka/2, ω in radians a step, R).
pub fn reflections(impedance: &str, steps: u16) -> [(f64, f64, f64, Complex64); 3] {
    let (sites, heard) = (1600usize, 1300usize);
    let text = format!(
        "[grid]\nsize = [{sites}]\nspacing = {SPACING}\nedges = \"wall\"\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = {:e}\n[solver]\nmethod = \"fdtd\"\nprecision = \"double\"\n\
         [[pulse]]\ncenter = [{}]\nwidth = {}\n[[layer]]\nsets = \"impedance\"\nshape = \"box\"\nmin = [{}]\nmax = [{}]\n{impedance}\n\
         [[detector]]\nname = \"a\"\nat = [{}]\n",
        step(COURANT),
        1000.0 * SPACING,
        8.0 * SPACING,
        1500.0 * SPACING,
        1600.0 * SPACING,
        heard as f64 * SPACING
    );
    let scenario = scene(&text);
    let mut taps = Taps::new(scenario.grid(), scenario.detectors());
    // The pulse passes after 300 sites, 375 steps, comes back after 300 sites more to the face and back, at 900 sites; what went left arrives after 2300.
    build(&scenario).advance(steps.into(), &mut taps).unwrap();
    let record = taps.values(0);
    let spectrum = |from: usize, to: usize, omega: f64| -> Complex64 {
        (from..to).map(|n| record[n] * Complex64::cis(omega * n as f64)).sum()
    };
    [12.0, 20.0, 40.0].map(|points| {
        let ka = TAU / points;
        // sin(ωΔt/2) = σ sin(ka/2).
        let omega = 2.0 * (COURANT * (ka / 2.0).sin()).asin();
        let back = spectrum(750, steps.into(), omega) / spectrum(0, 750, omega);
        // From the detector to the face, half a site beyond the last, and back.
        let way = 2.0 * ((sites - 1 - heard) as f64 + 0.5);
        (points, ka / 2.0, omega, back * Complex64::cis(-ka * way))
    })
}

/// A pulse in a tube against its end, in the frequency domain: R = (ξ − C e^(−iθ))/(ξ + C e^(iθ)), θ = ka/2, C = cos(ωΔt/2), of the scheme; and (ξ − 1)/(ξ + 1) within what that formula differs from it by. The pulse is
/// a Gaussian of 8 sites: its spectrum at 12 sites a wavelength is e^(−8.8) of its peak, and rounding 1e-12 of that.
#[test]
fn an_end_sends_back_what_the_scheme_says() {
    for xi in [0.2, 1.0, 5.0, 40.0] {
        for (points, theta, omega, measured) in reflections(&format!("value = {xi}"), 1500) {
            let c = (omega / 2.0).cos();
            let exact = (xi - c * Complex64::cis(-theta)) / (xi + c * Complex64::cis(theta));
            assert!(
                (measured - exact).norm() < 1e-6,
                "ξ = {xi}, {points} sites: {measured} for {exact}"
            );
            let plain = (xi - 1.0) / (xi + 1.0);
            // To second order, (ξ − 1 + iθ)/(ξ + 1 + iθ) and 1 − C cos θ.
            let off = 1.2 * (2.0 * theta + xi * (theta * theta + 0.25 * omega * omega)) / (1.0 + xi).powi(2);
            assert!(
                (measured - plain).norm() < off,
                "ξ = {xi}, {points} sites: {measured} for {plain}"
            );
        }
    }
}

/// In a tube of length L with both ends ξ every pulse meets an end each L/c and keeps R² of its energy: after m of them E = E₀R^(2m), exactly in the continuum. The pulse's mean ka is 1/8 (a Gaussian of 8 sites): R² is off by θ² of 1 − R² at most.
#[test]
fn a_tube_loses_its_energy_by_reflections() {
    let (sites, xi) = (400usize, 6.0f64);
    let text = format!(
        "[grid]\nsize = [{sites}]\nspacing = {SPACING}\nedges = \"wall\"\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = {:e}\n[solver]\nmethod = \"fdtd\"\nprecision = \"double\"\n\
         [[pulse]]\ncenter = [{}]\nwidth = {}\n[[layer]]\nsets = \"impedance\"\nvalue = {xi}\n[[detector]]\nname = \"all\"\nmeasure = \"energy\"\n",
        step(0.8),
        (sites - 1) as f64 / 2.0 * SPACING,
        8.0 * SPACING
    );
    let scenario = scene(&text);
    let mut solver = build(&scenario);
    let mut taps = Taps::new(scenario.grid(), scenario.detectors());
    // 500 steps are one length of the tube: pulses stand in the middle between two reflections.
    solver.advance(2500, &mut taps).unwrap();
    let energy = taps.values(0);
    let kept = ((xi - 1.0) / (xi + 1.0)).powi(2);
    for m in 1..=5 {
        let measured = energy[500 * m - 1] / energy[0];
        let exact = kept.powf(m as f64);
        let tolerance = m as f64 * (1.0 - kept) * (1.0f64 / 16.0).powi(2);
        assert!(
            (measured / exact - 1.0).abs() < tolerance,
            "{m}: {measured} for {exact}"
        );
    }
    assert!(
        energy.windows(2).all(|pair| pair[1] < pair[0] * (1.0 + 1e-12)),
        "it never grows"
    );
}

/// Just below the limit of rigid walls, from nearly soft to nearly rigid, every order, with walls inside and absorbing edges beside: nothing grows in 20 000 steps.
#[test]
fn it_is_as_stable_as_rigid_walls() {
    for order in ORDERS {
        let symbol = [4.0, 16.0 / 3.0, 272.0 / 45.0, 2048.0 / 315.0][order / 2 - 1];
        let courant = 0.999 * 2.0 / (2.0f64 * symbol).sqrt();
        for (edges, xi) in [
            ("\"wall\"", 0.02),
            ("\"wall\"", 1.0),
            ("\"wall\"", 100.0),
            ("[\"absorb\", \"wall\"]", 1.5),
        ] {
            let text = sections(&[26, 22], edges, courant, &format!("order = {order}"))
                + &format!(
                    "[[layer]]\nsets = \"wall\"\nvalue = \"(abs(x - 0.3) < 0.03)*(y < 0.3)\"\n[[layer]]\nsets = \"impedance\"\nvalue = {xi}\n"
                );
            let mut solver = build(&scene(&text));
            let start_values = noise(26 * 22, 5);
            start(solver.as_mut(), &start_values);
            advance(solver.as_mut(), 20_000);
            let most = values(solver.as_mut())
                .iter()
                .fold(0.0f64, |most, value| most.max(value.abs()));
            assert!(most < 1.0, "order {order}, ξ = {xi}, {edges}: {most}");
        }
    }
}

#[test]
fn what_is_no_impedance_is_refused() {
    let with = |solver: &str, value: &str| {
        try_scene(
            &(sections(&[20, 20], "\"wall\"", 0.3, solver)
                + &format!("[[layer]]\nsets = \"impedance\"\nvalue = {value}\n")),
        )
    };
    for value in ["0.0", "-3.0", "1e9", "\"x - 0.2\""] {
        let message = with("method = \"fdtd\"", value).unwrap_err();
        assert!(message.contains("between 0.01 and 1e6"), "{message}");
    }
    let message = with("method = \"oscillators\"", "4.0").unwrap_err();
    assert!(message.contains("rigid") && message.contains("fdtd"), "{message}");
    assert!(with("method = \"fdtd\"", "\"5 + x\"").is_ok());
}

/// Source and listener change places in a room with walls of all impedances and a part that absorbs: L and the damping are symmetric, so is the record, also beside walls, in corners and where the medium absorbs, where only
/// 1/(1 + γΔt) of a source is taken in. A burst begins at 0: what plays at t = 0 finds all at rest, whatever damps. Roundings of 500 steps in double precision.
#[test]
fn source_and_listener_may_change_places() {
    const OPEN: [f64; 2] = [0.7, 0.55];
    for (variant, other) in [
        ("stepwise", [0.25, 0.3]),
        ("tiled", [0.25, 0.3]),
        ("stepwise", [0.0, 0.0]),
        ("tiled", [0.0, 0.0]),
        ("stepwise", [0.4, 0.0]),
        ("tiled", [0.4, 0.0]),
        ("stepwise", [0.125, 0.5]),
        ("tiled", [0.125, 0.5]),
    ] {
        let record = |from: [f64; 2], to: [f64; 2]| {
            let text = sections(
                &[40, 30],
                "\"wall\"",
                0.6,
                &format!("precision = \"double\"\nvariant = \"{variant}\""),
            );
            let text = text.split("[[pulse]]").next().unwrap().to_owned();
            let text = format!(
                "{text}[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [0.5, 0.4]\nradius = 0.1\n[[layer]]\nsets = \"impedance\"\nvalue = \"2 + 30*x*y\"\n\
                 [[layer]]\nsets = \"absorption\"\nvalue = \"4000*x\"\nshape = \"box\"\nmin = [0.05, 0.4]\nmax = [0.2, 0.6]\n\
                 [[source]]\nat = {from:?}\nsignal = \"burst\"\nfrequency = 900.0\ncycles = 2.0\namplitude = 1e6\n[[detector]]\nname = \"a\"\nat = {to:?}\n"
            );
            let scenario = scene(&text);
            let mut solver = build(&scenario);
            let mut taps = Taps::new(scenario.grid(), scenario.detectors());
            solver.advance(500, &mut taps).unwrap();
            taps.values(0).to_vec()
        };
        // At sites: what is heard between two is not what is played between them.
        let [there, back] = [record(other, OPEN), record(OPEN, other)];
        let peak = there.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        assert!(peak > 0.1, "{variant}, {other:?}: {peak}");
        let off = largest_difference(&there, &back);
        assert!(off < 1e-12 * peak, "{variant}, {other:?}: {off:e} of {peak}");
    }
}

/// A pulse that touches walls drives them at once, v = p/Z, and nothing else flows: all of it goes, in tubes and corners, whatever the walls remember. (With ∂p/∂t = 0 at the walls the end of this tube kept 0.68 of the pulse's height.)
/// Exactly: p_t + 2γp + 2Δγq = c²LΦ holds without a constant, step by step, so that the mean goes. What is left are short waves of the sharp front that leaves the wall at t = 0, which the lattice makes slow: 0.3 % of the height on
/// the line. Energies of a passive room never exceed the first.
#[test]
fn what_presses_on_a_wall_at_the_start_goes() {
    for impedance in [
        "value = 1.0",
        "value = 1.0\nhigh = 5.0\ncorner = 100.0",
        "value = 0.2\nhigh = 0.4\ncorner = 3000.0",
    ] {
        for (size, center) in [
            (vec![60], vec![57.0]),
            (vec![30, 24], vec![1.0, 22.0]),
            (vec![14, 12, 10], vec![12.0, 1.0, 8.0]),
        ] {
            let center: Vec<f64> = center.iter().map(|site| site * SPACING).collect();
            let courant = 0.8 / (size.len() as f64).sqrt();
            let text = format!(
                "[grid]\nsize = {size:?}\nspacing = {SPACING}\nedges = \"wall\"\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = {:e}\n[solver]\nmethod = \"fdtd\"\nprecision = \"double\"\n\
                 [[pulse]]\ncenter = {center:?}\nwidth = {}\n[[layer]]\nsets = \"impedance\"\n{impedance}\n[[detector]]\nname = \"E\"\nmeasure = \"energy\"\n",
                step(courant),
                6.0 * SPACING
            );
            let scenario = scene(&text);
            let mut run = build(&scenario);
            let mut taps = Taps::new(scenario.grid(), scenario.detectors());
            run.advance(3000, &mut taps).unwrap();
            let left = values(run.as_mut());
            let most = left.iter().fold(0.0f64, |most, value| most.max(value.abs()));
            let mean = left.iter().sum::<f64>() / left.len() as f64;
            assert!(
                most < 0.02 && mean.abs() < 1e-4,
                "{size:?}, {impedance}: {most}, mean {mean:e}"
            );
            let energy = taps.values(0);
            let largest = energy.iter().copied().fold(0.0, f64::max);
            assert!(
                largest <= 1.01 * energy[0],
                "{size:?}, {impedance}: {largest} after {}",
                energy[0]
            );
        }
    }
}

//! Runs of many steps: what is conserved stays, and what is the same everywhere stays so to the bit.

use crate::{ORDERS, SPACING, SPEED, advance, build, noise, scene, start, values, variants};

/// A closed or open grid without sources at `share` of the largest stable step.
fn text(
    size: &[usize],
    edges: &str,
    [order, width]: [usize; 2],
    [precision, variant]: [&str; 2],
    more: &str,
) -> String {
    let symbol = [4.0, 16.0 / 3.0, 272.0 / 45.0, 2048.0 / 315.0][order / 2 - 1];
    let share = if order == 2 { 0.9 } else { 0.5 };
    let step = share * 2.0 / (size.len() as f64 * symbol).sqrt() * SPACING / SPEED;
    let center = vec![SPACING; size.len()];
    format!(
        "[grid]\nsize = {size:?}\nspacing = {SPACING}\nedges = \"{edges}\"\nabsorb_width = {width}\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = {step:e}\n\
         [solver]\nmethod = \"fdtd\"\nbackend = \"cpu\"\nprecision = \"{precision}\"\norder = {order}\nvariant = \"{variant}\"\n[[pulse]]\n\
         center = {center:?}\nwidth = 0.06\n{more}"
    )
}

/// The scheme adds differences alone, so that a pressure that is the same everywhere is a solution to the last bit: at every order, up to walls and
/// edges, in what absorbs.
#[test]
fn a_constant_pressure_stays_to_the_bit() {
    let walls = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [0.3, 0.2]\nradius = 0.06\nvalue = 1\n\
                 [[layer]]\nsets = \"absorption\"\nshape = \"disk\"\ncenter = [0.1, 0.1]\nradius = 0.06\nvalue = 300\n";
    for order in ORDERS {
        for (size, more) in [
            (&[19][..], ""),
            (&[21, 18], ""),
            (&[21, 18], walls),
            (&[17, 14, 15], ""),
        ] {
            for edges in ["wall", "periodic", "absorb"] {
                for precision in ["single", "double"] {
                    for variant in variants(size.len()) {
                        let text = text(size, edges, [order, 5], [precision, variant], more);
                        let mut solver = build(&scene(&text));
                        let sites = size.iter().product();
                        start(solver.as_mut(), &vec![0.7; sites]);
                        let before = values(solver.as_mut());
                        advance(solver.as_mut(), 40);
                        assert_eq!(before, values(solver.as_mut()), "{text}");
                    }
                }
            }
        }
    }
}

/// In a closed room the mean pressure and the energy stay what they were.
///
/// pⁿ⁺¹ = pⁿ + change is rounded once a step, by at most u = ε|p|/2, and the error goes on as a speed. Errors that look random, of deviation u/√3 a site,
/// give the mean of N sites after n steps a deviation of u n^(3/2)/(3√N); its size is allowed four times, and as much for the rounding of Lp, of which no
/// term exceeds |p|. Rounded weights whose sum is 10⁻⁷ instead of 0 would let the mean grow like e^(n√(4·10⁻⁸)), by e⁴ here.
#[test]
fn a_closed_room_keeps_its_mean_and_energy() {
    const STEPS: u64 = 20_000;
    let size = [24, 20];
    let sites = 480;
    for order in ORDERS {
        for (precision, epsilon) in [("single", f64::from(f32::EPSILON)), ("double", f64::EPSILON)] {
            for variant in variants(2) {
                let text = text(&size, "wall", [order, 0], [precision, variant], "");
                let mut solver = build(&scene(&text));
                let field: Vec<f64> = noise(sites, 3).iter().map(|p| 1.0 + 0.1 * p).collect();
                start(solver.as_mut(), &field);
                let mean = |solver: &mut dyn ripplon::solver::Solver| values(solver).iter().sum::<f64>() / sites as f64;
                let (mean_before, energy_before) = (mean(solver.as_mut()), solver.observables().unwrap().invariant);
                advance(solver.as_mut(), STEPS);
                let (mean_after, energy_after) = (mean(solver.as_mut()), solver.observables().unwrap().invariant);
                let n = STEPS as f64;
                let allowed = 8.0 * (1.2 * epsilon / 2.0) * n.powf(1.5) / (3.0 * (sites as f64).sqrt());
                assert!(
                    (mean_after - mean_before).abs() < allowed,
                    "order {order}, {precision}, {variant}: {mean_before} {mean_after}, {allowed:e} allowed"
                );
                // Speeds of the modes take errors of u a step each, a walk of u√n in all: against the field's 0.1 a share of 20u√n.
                let allowed = 20.0 * 1.2 * epsilon * n.sqrt();
                assert!(
                    (energy_after / energy_before - 1.0).abs() < allowed,
                    "order {order}, {precision}, {variant}: {energy_before:e} {energy_after:e}, {allowed:e} allowed"
                );
            }
        }
    }
}

/// A thousandth below the limit, between walls that reflect in any way, noise stays what it is. The highest modes swing at ωΔt close to π there, and a factor of
/// their energy is 1/(1 − 0.999²); the pressure may add up to its square root times what it was.
#[test]
fn closed_rooms_are_stable_at_the_limit() {
    let size = [24, 20];
    for order in ORDERS {
        let symbol = [4.0, 16.0 / 3.0, 272.0 / 45.0, 2048.0 / 315.0][order / 2 - 1];
        for edges in ["wall", "soft", "periodic"] {
            for precision in ["single", "double"] {
                let solver =
                    format!("method = \"fdtd\"\nbackend = \"cpu\"\nprecision = \"{precision}\"\norder = {order}");
                let courant = 0.999 * 2.0 / (2.0f64 * symbol).sqrt();
                let text = crate::sections(&size, &format!("\"{edges}\""), courant, &solver);
                let mut solver = build(&scene(&text));
                start(solver.as_mut(), &noise(480, 9));
                advance(solver.as_mut(), 20_000);
                let peak = solver.observables().unwrap().peak;
                let most = 1.0 / (1.0 - 0.999f64.powi(2)).sqrt();
                assert!(peak < most, "order {order}, {edges}, {precision}: {peak}");
            }
        }
    }
}

//! Absorbing edges: what comes back of packets, beside the reflection of the lattice (`physics::absorber`).

use crate::common;
use ripplon::engine::resolution::in_motion;
use ripplon::physics::reference::transfer::packet_average;
use ripplon::physics::{Initial, absorber};
use ripplon::solver::Taps;

/// A packet of momentum `k` a site that runs into the right one of two layers of `width` sites; J = 1.
fn scene(method: &str, order: u32, width: usize, k: f64, sigma: f64) -> String {
    let order = if order == 2 {
        String::new()
    } else {
        format!("order = {order}\n")
    };
    format!(
        "format = 1\n[grid]\nsize = [{}]\nspacing = 1.0\nedges = \"absorb\"\nabsorb_width = {width}\n[quantum]\nhopping = 1.0\n[time]\nend = 1.0\n\
         [solver]\nmethod = \"{method}\"\nbackend = \"cpu\"\nprecision = \"double\"\n{order}\
         [[packet]]\ncenter = [{:?}]\nwidth = [{sigma:?}]\nmomentum = [{k:?}]\n",
        400 + 2 * width,
        width as f64 + 250.0,
    )
}

/// What is left after the packet has run into the layer and its reflection is on the way back, short of the other layer.
fn left(text: &str, k: f64) -> f64 {
    let scenario = common::read(text).unwrap();
    let mut solver = common::build(&scenario);
    // 150 sites to the layer for the slowest part of it, and 400 back to the other layer for the fastest.
    let time = 480.0 / (2.0 * k.sin());
    let steps = (time / solver.clock().time_step).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "thousands")]
    solver.advance(steps as u64, &mut Taps::default()).unwrap();
    solver.observables().unwrap().norm
}

/// Every method and order sends back what the lattice in continuous time does: 1e-4 of a wave of 0.7 layers' widths, 1e-6 of short ones.
#[test]
fn packets_come_back_as_little_as_the_model_says() {
    for (width, k, sigma) in [(32, 0.35, 20.0), (32, 0.8, 12.0), (16, 0.7, 12.0), (64, 0.2, 28.0)] {
        let model = packet_average(k, sigma, |k| absorber::reflection(width, k));
        for (method, order) in [
            ("trotter", 2),
            ("trotter", 4),
            ("split-step-fourier", 2),
            ("split-step-fourier", 4),
            ("crank-nicolson", 2),
        ] {
            let found = left(&scene(method, order, width, k, sigma), k);
            // Steps of JΔt = 0.1 change what comes back by 1 to 2 % (a splitting written out apart from this code); Crank–Nicolson's change k by (JΔt)²/12 besides.
            assert!(
                (found - model).abs() < 0.1 * model,
                "{method} of order {order}, {width} sites, k = {k}: {found:.2e}, the lattice {model:.2e}"
            );
        }
    }
}

/// The same layer, 16 lengths wide, on grids of 1, 1/2 and 1/4: what comes back of k = 0.4 no longer grows.
#[test]
fn a_finer_grid_sends_back_no_more() {
    for (spacing, sites) in [(1.0, 16), (0.5, 32), (0.25, 64)] {
        let text = format!(
            "format = 1\n[grid]\nsize = [{}]\nspacing = {spacing:?}\nedges = \"absorb\"\nabsorb_width = {sites}\n[quantum]\nmass = 1.0\n\
             [time]\nend = 1.0\n[solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\nprecision = \"double\"\n\
             [[packet]]\ncenter = [{:?}]\nwidth = [20.0]\nmomentum = [0.4]\n",
            27 * sites,
            16.0 + 270.0,
        );
        let scenario = common::read(&text).unwrap();
        let mut solver = common::build(&scenario);
        // 130 lengths to the layer and back at a speed of 0.4.
        let steps = (700.0 / solver.clock().time_step).ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "thousands")]
        solver.advance(steps as u64, &mut Taps::default()).unwrap();
        let found = solver.observables().unwrap().norm;
        assert!(found < 1.5e-3, "a = {spacing}: {found:.1e} comes back");
        // The program says so before it runs.
        let Initial::Packets(packets) = scenario.initial() else {
            unreachable!()
        };
        let said = absorber::returned(scenario.grid(), packets).unwrap();
        assert!(
            (found / said - 1.0).abs() < 0.5,
            "a = {spacing}: {found:.1e}, said {said:.1e}"
        );
    }
}

/// Where a layer sets the hopping of the whole line, H is a multiple of the plain one, W included: as much comes back, and not a thousand times as much at a tenth or at tenfold.
#[test]
fn another_hopping_sends_back_no_more() {
    let k = 0.5;
    let model = packet_average(k, 16.0, |k| absorber::reflection(32, k));
    for factor in [0.1, 10.0] {
        let step = 0.1 / factor;
        let text = scene("trotter", 2, 32, k, 16.0).replace("[time]\n", &format!("[time]\nstep = {step:?}\n"));
        let layer = format!("[[layer]]\nsets = \"hopping\"\nvalue = {factor:?}\n");
        let scenario = common::read(&(text + &layer)).unwrap();
        let mut solver = common::build(&scenario);
        let steps = (480.0 / (2.0 * k.sin()) / 0.1).ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "thousands")]
        solver.advance(steps as u64, &mut Taps::default()).unwrap();
        let found = solver.observables().unwrap().norm;
        assert!(
            (found / model - 1.0).abs() < 0.2,
            "{factor}: {found:.2e}, the lattice {model:.2e}"
        );
    }
}

/// With a flux what counts is the momentum of the motion: at row 16 of 1/32 a packet of k = 0 has that of the band's top, which comes back, and one of k = 3.1 hardly moves.
#[test]
fn what_is_said_of_edges_follows_the_flux() {
    let said = |momentum: f64| {
        let text = format!(
            "format = 1\n[grid]\nsize = [64, 32]\nspacing = 1.0\nedges = \"absorb\"\nabsorb_width = 6\n[quantum]\nmass = 0.5\nflux = 0.03125\n\
             [[packet]]\ncenter = [32.0, 16.0]\nwidth = [6.0, 2.0]\nmomentum = [{momentum:?}, 0.0]\n"
        );
        let scenario = common::read(&text).unwrap();
        absorber::returned(scenario.grid(), &in_motion(&scenario))
    };
    assert!(said(0.0).is_some_and(|share| share > 0.5), "{:?}", said(0.0));
    assert_eq!(said(3.1), None);
}

/// Order 4 with absorbers: the norm only falls, and ψ is that of order 2 to order 2's error.
#[test]
fn order_4_absorbs_like_order_2() {
    for method in ["trotter", "split-step-fourier"] {
        let run = |order: u32| {
            let scenario = common::read(&scene(method, order, 24, 0.6, 15.0)).unwrap();
            let mut solver = common::build(&scenario);
            let mut last = 1.0 + 1e-12;
            for _ in 0..20 {
                solver.advance(100, &mut Taps::default()).unwrap();
                let norm = solver.observables().unwrap().norm;
                // 100 steps of five substeps, of which each rounds by ε on the way there and back.
                assert!(
                    norm <= last + 1000.0 * f64::EPSILON,
                    "{method} of order {order}: {last} then {norm}"
                );
                last = norm;
            }
            assert!(last < 1e-3, "{method} of order {order}: {last}");
            let scenario = common::read(&scene(method, order, 24, 0.6, 15.0)).unwrap();
            common::run(&scenario, 700)
        };
        let (second, fourth) = (run(2), run(4));
        // At JΔt = θ = 0.1 the splitting of order 2 has J tan(θ)/θ for J: (θ²/3) J k² t = 0.084 of phase after t = 70.
        let distance = ripplon::physics::reference::distance(&second, &fourth);
        assert!(distance < 0.09, "{method}: {distance:.2e}");
    }
}

//! The sign of `flux`.

use crate::common;
use ripplon::engine::Engine;
use ripplon::solver::Taps;
use std::sync::Arc;

/// Hops along +x in row j carry e^{−2πiφj}, so that ε = −2J cos(kₓ + 2πφy) − 2J cos k_y and dk_y/dt = −2πφ vₓ: with φ > 0 a packet that moves to +x turns towards −y.
/// In lengths this is a charge q in a field with qB = 2πφ/a² along +z.
#[test]
fn a_positive_flux_turns_packets_clockwise() {
    for (variant, sign) in [("naive", 1.0), ("vector", 1.0), ("blocked", -1.0)] {
        let flux = sign * 2e-3;
        // Around the middle row the gauge adds 2πφ·32 to kₓ, which the momentum takes off again: the packet's velocity is 2J sin 0.5.
        let momentum = 0.5 - std::f64::consts::TAU * flux * 32.0;
        let text = format!(
            "format = 1\n[grid]\nsize = [96, 65]\nspacing = 1.0\n[quantum]\nhopping = 1.0\nflux = {flux:?}\n[time]\nstep = 0.05\nend = 1.0\n\
             [solver]\nmethod = \"trotter\"\nvariant = \"{variant}\"\nbackend = \"cpu\"\nprecision = \"double\"\n\
             [[packet]]\ncenter = [30.0, 32.0]\nwidth = [8.0, 8.0]\nmomentum = [{momentum:?}, 0.0]\n"
        );
        let scenario = common::read(&text).unwrap();
        let mut solver = common::build(&scenario);
        let before = solver.observables().unwrap().position;
        solver.advance(400, &mut Taps::default()).unwrap();
        let after = solver.observables().unwrap().position;
        // v = 0.96, t = 20, ω = 2J·2πφ = 0.025 cos k: ⟨y⟩ falls by v ω t²/2 = 4.5 or so.
        let (right, up) = (after[0] - before[0], after[1] - before[1]);
        assert!(right > 10.0, "{variant}: {right} along x");
        assert!(
            (-6.0..-3.0).contains(&(sign * up)),
            "{variant}, flux {flux}: {up} along y"
        );
    }
}

/// In imaginary time a current is that of the state that is reached, of norm 1: what would flow in real time. It falls as the packet relaxes.
#[test]
fn a_current_in_imaginary_time_is_that_of_its_state() {
    for method in ["trotter", "crank-nicolson", "split-step-fourier"] {
        let text = format!(
            "format = 1\n[grid]\nsize = [96]\nspacing = 0.5\n[quantum]\nhopping = 0.7\n[time]\nstep = 0.05\nend = 1.0\nimaginary = true\n[solver]\nmethod = \"{method}\"\n\
             precision = \"double\"\n[[packet]]\ncenter = [24.0]\nwidth = [3.0]\nmomentum = [0.8]\n[[detector]]\nname = \"j\"\nat = 24.0\nmeasure = \"flux\"\n"
        );
        let mut run = Engine::new(Arc::new(common::read(&text).unwrap())).unwrap();
        run.advance(20).unwrap();
        let psi = run.field().unwrap();
        // 2J Im ψ*ψ′ a through the bond from site 48 to the next.
        let exact = 2.0 * 0.7 * 0.5 * (psi.at(48).conj() * psi.at(49)).im;
        let records = run.taps().values(0);
        assert!(
            (records[20] - exact).abs() < 1e-14,
            "{method}: {} for {exact}",
            records[20]
        );
        assert!(
            records[20] < 0.99 * records[0] && records[20] > 0.0,
            "{method}: {records:?}"
        );
    }
}

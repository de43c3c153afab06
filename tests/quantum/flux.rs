//! The sign of `flux`.

use crate::common;
use ripplon::solver::Taps;

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

//! Sound in a line: finite differences, masses and springs.

use super::{close, engine, oscillators, points, there_and_back};
use num_complex::Complex64;

/// Sound: the same in a line of finite differences, where the impulse response begins with Δt².
#[test]
fn a_soft_inverse_filter_of_sound_plays_what_the_hard_one_does() {
    let run = |drive: &str| {
        let text = oscillators(4.0, &format!("inverse-filter\"\ndrive = \"{drive}"));
        let mut engine = engine(&text);
        let found = there_and_back(&mut engine);
        assert!(found.error < 1e-9, "{drive}: {found:?}");
        engine.field().unwrap().to_complex128()
    };
    let apart = |a: &[Complex64], b: &[Complex64]| a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    // The pulse is 1 high; what wraps round is e^(−18) of the record's end, which is silent.
    let (hard, soft) = (run("hard"), run("soft"));
    assert!(
        apart(&hard[..121], &soft[..121]) < 1e-9,
        "{:e}",
        apart(&hard[..121], &soft[..121])
    );
}

#[test]
fn sound_in_a_chain_comes_back() {
    let run = |sigma, method: &str| there_and_back(&mut engine(&oscillators(sigma, method)));
    let found = run(4.0, "inverse-filter");
    assert!(found.error < 1e-13, "{found:?}");
    let found = run(4.0, "reversal");
    close(found.scaled_error, 2.44e-3, "plain, scaled");
    close(found.error, 3.05e-3, "plain: 2c dp/dt has the right size by itself");
    close(run(1.5, "inverse-filter").error, 4.81e-3, "dispersive");
    close(run(1.5, "reversal").scaled_error, 2.56e-2, "plain, dispersive");
    // Springs of 0.3 from site 95 to 105, all masses 1: a density of 1 and 17/3 in turns, c² = 1/ρ.
    let soft_layer = |method: &str| {
        let layers = "[[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [95.0]\nmax = [105.0]\nvalue = \"if(mod(x, 2) == 0, 17/3, 1)\"\n\
                      [[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [95.0]\nmax = [105.0]\nvalue = \"if(mod(x, 2) == 0, sqrt(3/17), 1)\"\n";
        let text = oscillators(4.0, method)
            .replace("[acoustic]\nspeed = 1.0", "[acoustic]\nspeed = 1.0\ndensity = 1.0")
            .replace("[mirror]", &format!("{layers}[mirror]"))
            .replace("at = 750.0", "at = 3500.0")
            .replace("end = 1500.0", "end = 7000.0");
        there_and_back(&mut engine(&text))
    };
    close(soft_layer("inverse-filter").error, 2.24e-3, "reverberant");
    close(soft_layer("reversal").scaled_error, 3.30e-3, "plain, reverberant");
    assert!(
        run(4.0, "one-bit").scaled_error > 0.3,
        "one bit is poor without reverberation"
    );
}

/// Masses and springs: displacements and momenta of a line are held, as thick as the sweeps reach. A splitting joins long waves to short ones, which hardly move,
/// by O(Δt^order): that is what is left inside, and the only error of the way back.
#[test]
fn oscillators_come_back_as_far_as_the_line_was_left() {
    for (order, variant, step, left) in [
        (2, "naive", "0.5", 2e-3),
        (2, "blocked", "0.5", 2e-3),
        (4, "blocked", "0.5", 2e-5),
        (4, "blocked", "0.1", 4e-8),
    ] {
        let solver = format!("method = \"oscillators\"\nvariant = \"{variant}\"\norder = {order}\n");
        let text = oscillators(4.0, "inverse-filter")
            .replace("method = \"fdtd\"\n", &solver)
            .replace("step = 0.5", &format!("step = {step}"))
            .replace(
                &points(&[120.0]),
                "transducers = { shape = \"line\", from = [120.0], to = [120.0], count = 1 }",
            );
        let found = there_and_back(&mut engine(&text));
        assert!(
            found.residual < left && found.error < 1.5 * found.residual,
            "order {order} {variant}: {found:?}"
        );
    }
    // Plain: a line of masses answers a force of 2c dp/dt with 1/cos(k/2), not 1, for Δt → 0. Over the pulse's momenta, ∝ exp(−8k²), that is k²/8 with
    // ⟨k²⟩ = 1/16 and ⟨k⁴⟩ = 3/256: √(3/256)/8 = 1.35e-2, and √(2/256)/8 = 1.10e-2 after scaling.
    let text = oscillators(4.0, "reversal")
        .replace("method = \"fdtd\"", "method = \"oscillators\"")
        .replace("step = 0.5", "step = 0.1");
    let found = there_and_back(&mut engine(&text));
    close(found.error, 1.35e-2, "plain");
    close(found.scaled_error, 1.10e-2, "plain, scaled");
}

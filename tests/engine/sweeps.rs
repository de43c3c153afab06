//! Sweeps: when they look whether they shall end, and what the theory of transmission says.

use super::scene_from;
use ripplon::engine::Engine;
use ripplon::engine::sweep::{Stop, SweepPlan};
use ripplon::physics::reference::transfer;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One step to the turn, one back, and impulse responses between them.
const FILTER: &str = r#"
format = 1
[grid]
size = [400]
spacing = 1.0
[quantum]
hopping = 1.0
[time]
step = 0.2
end = 0.4
[solver]
method = "trotter"
variant = "naive"
backend = "cpu"
[[packet]]
center = [100.0]
width = [5.0]
[mirror]
at = 0.2
method = "inverse-filter"
drive = "soft"
transducers = { shape = "line", from = [200.0], to = [219.0], count = 20 }
[sweep]
vary = ["packet.0.width.0=5,6"]
measure = ["norm@0.4"]
"#;

/// A run of a sweep looks within the impulse responses of a mirror, which may take minutes, and ends there: its two steps are four looks at most, the responses at least one each.
#[test]
fn a_sweep_looks_whether_it_shall_end_within_a_step() {
    let scenario = scene_from(FILTER, &[]);
    let plan = SweepPlan {
        text: scenario.file().to_toml(),
        origin: None,
        sweep: scenario.sweep().cloned().unwrap(),
    };
    let asked = Arc::new(AtomicUsize::new(0));
    let ends_at = |look: usize| -> Stop {
        let asked = Arc::clone(&asked);
        asked.store(0, Ordering::Relaxed);
        Arc::new(move || asked.fetch_add(1, Ordering::Relaxed) + 1 >= look)
    };
    let whole = plan.measure(0, &ends_at(usize::MAX)).unwrap();
    assert!(whole.is_some());
    let looks = asked.load(Ordering::Relaxed);
    assert!(looks >= 6, "{looks}");
    assert_eq!(plan.measure(0, &ends_at(5)).unwrap(), None);
    // The look that ends it, and one after it.
    assert!(asked.load(Ordering::Relaxed) <= 7);
}

/// A packet before a potential on a line of 1600 sites, J = 2.
fn line(center: f64, momentum: f64, layers: &str, measured: &str) -> SweepPlan {
    let text = format!(
        "format = 1\n[grid]\nsize = [1600]\nspacing = 0.5\n[quantum]\n[time]\nend = 340.0\n[solver]\nprecision = \"double\"\nmethod = \"chebyshev\"\n\
         [[packet]]\ncenter = {center:?}\nwidth = 20.0\nmomentum = {momentum:?}\n{layers}\
         [[detector]]\nname = \"T\"\nregion = {{ {measured} }}\n\
         [sweep]\nvary = [\"packet.0.width=20\"]\nmeasure = [\"T\"]\ntheory = \"transmission\"\n"
    );
    let scenario = scene_from(&text, &[]);
    SweepPlan {
        text,
        origin: None,
        sweep: scenario.sweep().cloned().unwrap(),
    }
}

fn layer(value: f64, min: f64, max: f64, mode: &str) -> String {
    format!(
        "[[layer]]\nsets = \"potential\"\nshape = \"box\"\nmin = [{min:?}]\nmax = [{max:?}]\nvalue = {value:?}\nmode = \"{mode}\"\n"
    )
}

/// Up a step and down it, from the left and from the right, and through a barrier on raised ground: theory, its closed form, and a run.
#[test]
fn transmission_is_of_the_medium_where_the_packet_starts_and_of_its_direction() {
    let stop: Stop = Arc::new(|| false);
    let (left, right) = ("min = [0.0], max = [399.5]", "min = [400.0], max = [799.5]");
    let theory = |plan: &SweepPlan| plan.theory(&plan.values(0)).unwrap().unwrap();
    // Sites 800 to 1599, 0.4 higher; the mirror image of site n is 1599 − n.
    let (step, mirrored) = (layer(0.4, 400.0, 800.0, "set"), layer(0.4, 0.0, 399.5, "set"));
    let closed = |rise: f64| {
        transfer::packet_average(0.5, 40.0, |k| {
            let q = transfer::momentum_on(rise, 2.0, k);
            q.map_or(0.0, |q| k.sin() * q.sin() / f64::midpoint(k, q).sin().powi(2))
        })
    };
    let cases = [
        (line(250.0, 1.0, &step, right), closed(0.4)),
        (line(549.5, -1.0, &mirrored, left), closed(0.4)),
        (line(549.5, -1.0, &step, left), closed(-0.4)),
    ];
    for (plan, closed) in &cases {
        assert!((theory(plan) - closed).abs() < 1e-12, "{}: {closed}", plan.text);
        // Waves just above the step, four deviations below the middle, are the slowest: less than e^{−8}/16 of the packet is still on its way.
        let measured = plan.measure(0, &stop).unwrap().unwrap().measured[0];
        assert!((measured - closed).abs() < 2e-5, "{measured} for {closed}");
    }
    // A barrier is the same on raised ground and from the other side.
    let barrier = |mode: &str| layer(0.6, 400.0, 402.0, mode);
    let plain = theory(&line(250.0, 1.0, &barrier("set"), right));
    let raised = layer(0.2, 0.0, 800.0, "set") + &barrier("add");
    let from_the_right = line(549.5, -1.0, &barrier("set"), left);
    assert!((0.01..0.99).contains(&plain));
    assert!((theory(&line(250.0, 1.0, &raised, right)) - plain).abs() < 1e-12);
    assert!((theory(&from_the_right) - plain).abs() < 1e-12);
    let measured = from_the_right.measure(0, &stop).unwrap().unwrap().measured[0];
    assert!((measured - plain).abs() < 2e-5, "{measured} for {plain}");
    // Before a packet lies what it meets; behind it nothing may.
    let between = line(450.0, 1.0, &(barrier("set") + &layer(0.6, 500.0, 502.0, "set")), right);
    assert!(between.check().unwrap_err().to_string().contains("behind this packet"));
}

/// Coordinates of trajectories are measured as `[[expect]]` predicts them: in the middle of a packet one goes with its group velocity 2Ja sin ka.
#[test]
fn sweeps_measure_where_trajectories_stand() {
    let text = "format = 1\n[grid]\nsize = [128]\nspacing = 0.5\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 2.0\n[solver]\nmethod = \"trotter\"\n\
                precision = \"double\"\norder = 4\n[[packet]]\ncenter = [20.0]\nwidth = [4.0]\n[[trajectory]]\nname = \"a\"\nfrom = [20.0]\n\
                [sweep]\nvary = [\"packet.0.momentum.0=0.4,0.8\"]\nmeasure = [\"a.x\"]\n";
    let scenario = scene_from(text, &[]);
    let plan = SweepPlan {
        text: scenario.file().to_toml(),
        origin: None,
        sweep: scenario.sweep().cloned().unwrap(),
    };
    for (number, k) in [0.4f64, 0.8].into_iter().enumerate() {
        let never: Stop = Arc::new(|| false);
        let found = plan.measure(number, &never).unwrap().unwrap().measured[0];
        // The packet's skew and linear interpolation are of the order of (a/4σ)² of the way.
        let expected = 20.0 + 2.0 * (0.5 * k).sin() / 0.5;
        assert!((found - expected).abs() < 0.02, "{found} {expected}");
    }
}

/// A sweep measures what a run and its predictions do: detectors record as seldom as the scene says, and as seldom as a value of the sweep says. Step 48 is one at which both record; at step 50 neither does, and a value at a point is that of the step.
#[test]
fn sweeps_measure_what_runs_record() {
    let detector = |name: &str, what: &str| format!("[[detector]]\nname = \"{name}\"\nat = [0.6]\nevery = 8\n{what}\n");
    let text = format!(
        "format = 1\n[grid]\nsize = [100]\nspacing = 0.01\n[acoustic]\n[time]\nstep = 2e-5\nend = 2e-3\n[solver]\nmethod = \"fdtd\"\nprecision = \"double\"\n\
         [[pulse]]\ncenter = [0.3]\nwidth = 0.05\n{}{}{}\
         [sweep]\nvary = [\"detector.0.every=1,8\"]\nmeasure = [\"loud@9.6e-4\", \"crest@9.6e-4\", \"loud@1e-3\", \"ear@1e-3\"]\n",
        detector("loud", "as = \"rms\""),
        detector("crest", "measure = \"peak\""),
        detector("ear", "measure = \"value\""),
    );
    let scenario = scene_from(&text, &[]);
    let plan = SweepPlan {
        text,
        origin: None,
        sweep: scenario.sweep().cloned().unwrap(),
    };
    let never: Stop = Arc::new(|| false);
    let measured = |number: usize| plan.measure(number, &never).unwrap().unwrap().measured;
    for (number, every) in [1, 8].into_iter().enumerate() {
        let mut engine = Engine::new(Arc::new(plan.scenario(&plan.values(number)).unwrap())).unwrap();
        let found = measured(number);
        let mut recorded = |steps: u64| {
            engine.advance(steps).unwrap();
            [0, 1, 2].map(|detector| *engine.taps().series(detector).1.last().unwrap())
        };
        let early = recorded(48);
        let late = recorded(2);
        assert_eq!(found[..3], [early[0], early[1], late[0]], "every = {every}");
        assert!((late[0] == early[0]) == (every == 8));
        assert!(found[3] != late[2], "the last record of the ear is that of step 48");
    }
    let (often, seldom) = (measured(0), measured(1));
    assert!((often[0] / seldom[0] - 1.0).abs() > 1e-6, "{often:?} {seldom:?}");
    assert_eq!([often[1], often[3]], [seldom[1], seldom[3]]);
}

//! Sweeps: when they look whether they shall end.

use super::scene_from;
use ripplon::engine::sweep::{Stop, SweepPlan};
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

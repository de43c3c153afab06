//! The adapter of the tests, and what happens when it is lost.

use super::cases::{cases, scene, tolerance};
use super::device::distance;
use ripplon::backend::wgpu;
use ripplon::field::Precision;
use ripplon::solver::{Backend, Taps};
use std::sync::Once;

/// Whether there is no adapter, which is said.
pub fn skip() -> bool {
    static NAMED: Once = Once::new();
    let all = wgpu::adapters();
    NAMED.call_once(|| {
        if all.iter().any(|adapter| adapter.software) {
            wgpu::name_adapter(wgpu::SOFTWARE);
        }
    });
    if all.is_empty() {
        println!(
            "skipped: no adapter with Vulkan, Metal or DirectX 12 (Debian, Ubuntu: apt install mesa-vulkan-drivers libvulkan1)"
        );
    }
    all.is_empty()
}

/// Ends a test where there is no adapter, which is said.
macro_rules! needs_adapter {
    () => {
        if $crate::adapter::skip() {
            return;
        }
    };
}
pub(crate) use needs_adapter;

#[test]
fn the_table_offers_what_the_adapter_does() {
    needs_adapter!();
    assert_eq!(Backend::Wgpu.availability(), Ok(()));
    let scenario = scene(&cases()[0], 2, "wgpu", "single", "auto");
    let report = super::device::build(&scenario).report();
    assert_eq!(report.backend, Backend::Wgpu);
    // Whichever is faster here.
    assert!(["fused", "strips"].contains(&report.variant), "{}", report.variant);
    let refused = ripplon::solver::read_scene_text(
        "format = 1\ntitle = \"double\"\n[grid]\nsize = [32, 32]\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[solver]\nbackend = \"wgpu\"\nprecision = \"double\"\n\
         [[packet]]\ncenter = [9.0, 9.0]\nwidth = [2.0, 2.0]\n",
        None,
        &[],
    );
    let text = refused.err().map(|faults| faults.render(false)).unwrap_or_default();
    assert!(
        text.contains("has no double precision on wgpu")
            && text.contains("possible are single, or take solver.backend = \"cpu\""),
        "{text}"
    );
}

/// What says that a test runs in a process of its own.
const ROLE: &str = "RIPPLON_TEST_ALONE";

/// Whether this process is the test's own; otherwise it has run there: the other tests need the device as it is.
fn runs_alone(name: &str) -> bool {
    if std::env::var_os(ROLE).is_some() {
        return true;
    }
    let own = std::env::current_exe().expect("a test has a file");
    let done = std::process::Command::new(own)
        .args([name, "--exact", "--nocapture"])
        .env(ROLE, "1")
        .output()
        .expect("the test runs once more");
    let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && text.contains("1 passed"), "{text}");
    false
}

/// With the limits that every browser grants, 16 KiB of workgroup memory among them, tiles are smaller and the field is the same.
#[test]
fn the_limits_of_browsers_are_enough() {
    if skip() || !runs_alone("adapter::the_limits_of_browsers_are_enough") {
        return;
    }
    wgpu::limit_to_browsers();
    let case = &cases()[0];
    let field = |backend: &str, variant: &str| {
        let mut run = super::device::build(&scene(case, 2, backend, "single", variant));
        run.advance(11, &mut Taps::default()).expect("steps");
        (run.field().expect("a field"), run.report().details)
    };
    let (expected, _) = field("cpu", "naive");
    for variant in ["naive", "full-step", "fused"] {
        let (found, details) = field("wgpu", variant);
        assert!(variant != "fused" || details.contains("2 fused steps"), "{details}");
        assert!(distance(&found, &expected) < tolerance(Precision::Single), "{variant}");
    }
    super::sound::tiles_agree_with_single_steps();
    // Single launches take eight arrays, as many as every browser grants.
    super::sound::transducers_act_as_on_the_processor();
    for name in ["odd plate", "small torus", "densities", "damped torus"] {
        super::oscillators::check_tiles(name, 2, "", "");
    }
}

/// A device lost in mid-run: an error, the snapshot kept, and the run goes on where the device is opened anew.
#[test]
fn a_lost_device_costs_nothing_that_was_kept() {
    if skip() || !runs_alone("adapter::a_lost_device_costs_nothing_that_was_kept") {
        return;
    }
    let scenario = std::sync::Arc::new(scene(&cases()[0], 2, "wgpu", "single", "fused"));
    let mut engine = ripplon::engine::Engine::new(scenario).expect("the device is there");
    engine.advance(7).expect("steps");
    let before = engine.field().expect("a field");
    engine.snapshot().expect("a snapshot");
    wgpu::lose_device();
    let error = engine.advance(100).expect_err("the device is lost").to_string();
    assert!(error.contains("wgpu") && error.contains("lost"), "{error}");
    assert!(engine.failure().is_some() && engine.has_snapshot());
    engine.restore().expect("the device is opened anew");
    assert_eq!((engine.report().backend, engine.clock().steps), (Backend::Wgpu, 7));
    // Open and closed once more: a few roundings of single precision.
    assert!(distance(&engine.field().expect("a field"), &before) < 1e-6);
    engine.advance(5).expect("it goes on");
}

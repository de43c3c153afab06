//! The adapter of the tests, and what happens when it is lost.

use super::cases::{cases, scene};
use super::device::distance;
use ripplon::backend::wgpu;
use ripplon::solver::Backend;
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

#[test]
fn the_table_offers_what_the_adapter_does() {
    if skip() {
        return;
    }
    assert_eq!(Backend::Wgpu.availability(), Ok(()));
    let scenario = scene(&cases()[0], 2, "wgpu", "single", "auto");
    let report = super::device::build(&scenario).report();
    assert_eq!((report.backend, report.variant), (Backend::Wgpu, "fused"));
    let refused = ripplon::solver::read_scene_text(
        "format = 1\ntitle = \"double\"\n[grid]\nsize = [32, 32]\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[solver]\nbackend = \"wgpu\"\nprecision = \"double\"\n\
         [[packet]]\ncenter = [9.0, 9.0]\nwidth = [2.0, 2.0]\n",
        None,
        &[],
    );
    let text = refused.err().map(|faults| faults.render(false)).unwrap_or_default();
    assert!(text.contains("precision") && text.contains("single"), "{text}");
}

/// The name of the test that runs in a process of its own, and what says that it does.
const NAME: &str = "adapter::a_lost_device_costs_nothing_that_was_kept";
const ROLE: &str = "RIPPLON_TEST_ALONE";

/// A device lost in mid-run: an error, the snapshot kept, and the run goes on where the device is opened anew.
#[test]
fn a_lost_device_costs_nothing_that_was_kept() {
    if skip() {
        return;
    }
    if std::env::var_os(ROLE).is_none() {
        // The other tests need the device.
        let own = std::env::current_exe().expect("a test has a file");
        let done = std::process::Command::new(own)
            .args([NAME, "--exact", "--nocapture"])
            .env(ROLE, "1")
            .output()
            .expect("the test runs once more");
        let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && text.contains("1 passed"), "{text}");
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

//! The wgpu back end against the processor, on Mesa's software Vulkan where it is installed, otherwise on whatever adapter there is. Without one the tests say so
//! and pass.
#![cfg(feature = "gui")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

mod adapter;
#[path = "../cuda/cases.rs"]
mod cases;
#[allow(dead_code, reason = "what tells of NVIDIA devices")]
#[path = "../common/device.rs"]
mod device;
#[path = "../common/echo.rs"]
mod echo;
mod oscillators;
#[path = "../common/pairs.rs"]
mod pairs;
mod quantum;
#[path = "../common/rooms.rs"]
mod rooms;
mod sound;
#[path = "../common/transduced.rs"]
mod transduced;

use ripplon::engine::selftest::{Selftest, cases as trials};
use ripplon::solver::Backend;

/// Every third of the checks of `ripplon selftest --backend wgpu`: methods, variants, orders, ranks and kinds of scenes beside double-precision references. All of them, and those in which
/// time turns round, take a quarter of an hour on a processor that plays the adapter.
#[test]
fn every_check_of_the_selftest_passes() {
    adapter::needs_adapter!();
    let mut selftest = Selftest::default();
    let mut wrong = Vec::new();
    let mut checked = 0;
    let straight = trials(|backend| backend == Backend::Wgpu)
        .into_iter()
        .filter(|(_, _, trial)| !["echo", "mirror"].contains(&trial.as_str()));
    for (case, rank, trial) in straight.step_by(3) {
        let check = selftest.check(&case, rank, trial);
        checked += 1;
        if !check.passed() {
            wrong.push(format!(
                "{} {} order {} rank {rank} {}: {:.1e} of {:.1e} ({})",
                case.method.id,
                case.variant,
                case.order,
                trial.as_str(),
                check.error,
                check.tolerance,
                check.details
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(checked > 60, "{checked}");
}

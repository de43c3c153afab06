//! Suppresses messages of drivers that mean nothing to the user.

/// If a session has no directory for its sockets (`XDG_RUNTIME_DIR`), as in containers and batch jobs, Mesa's layer
/// that orders Vulkan adapters still asks for a Wayland display, and the Wayland library prints a complaint for each
/// list of adapters. The layer is turned off there, unless the user gave it something to do: the program chooses among
/// adapters itself.
///
/// Called before the program has started a thread.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the layer is told by the environment alone")]
pub(super) fn graphics() {
    let is_given = |name| std::env::var_os(name).is_some();
    if ["XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "MESA_VK_DEVICE_SELECT", OFF]
        .into_iter()
        .any(is_given)
        || !is_alone()
    {
        return;
    }
    // SAFETY: no other thread reads or writes the environment meanwhile, since there is none.
    unsafe { std::env::set_var(OFF, "1") };
}

/// What turns Mesa's layer off.
#[cfg(target_os = "linux")]
const OFF: &str = "NODEVICE_SELECT";

/// Whether this process has only one thread; a library that was loaded earlier may have started others.
#[cfg(target_os = "linux")]
fn is_alone() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

/// Other systems have no such layer.
#[cfg(not(target_os = "linux"))]
pub(super) fn graphics() {}

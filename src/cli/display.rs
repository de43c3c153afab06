//! Whether a window can open, checked before anything that would end in a panic.

/// What to do if no window can open.
pub(super) const NO_WINDOW: &str = "the window could not be opened; without a display make a film with `ripplon render \
                                    SCENE film.mp4`, or run a scene with `ripplon run SCENE`";

/// Looks for a display, and for the library without which the window's backend panics.
///
/// # Errors
/// If there is none, with what to do.
#[cfg(target_os = "linux")]
pub(super) fn probe() -> anyhow::Result<()> {
    use anyhow::bail;
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_set("WAYLAND_DISPLAY") || is_set("WAYLAND_SOCKET") {
        return Ok(());
    }
    if !is_set("DISPLAY") {
        bail!(
            "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can open; make a film \
             with `ripplon render SCENE film.mp4`, or run a scene with `ripplon run SCENE`"
        );
    }
    #[expect(unsafe_code, reason = "dlopen is the way to ask whether a library is there")]
    // SAFETY: loading the X11 keyboard library runs its initialisers only; winit loads the same one a moment later.
    let opens = |name: &&str| unsafe { libloading::Library::new(*name) }.is_ok();
    let there = ["libxkbcommon-x11.so.0", "libxkbcommon-x11.so"].iter().any(opens);
    if !there {
        bail!(
            "libxkbcommon-x11 is missing, so no window can open; install it (Debian, Ubuntu: `apt install \
             libxkbcommon-x11-0`; Fedora: `dnf install libxkbcommon-x11`), or make a film with `ripplon render SCENE \
             film.mp4`"
        );
    }
    Ok(())
}

/// Elsewhere the window's own error is clear.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the same as on Linux")]
pub(super) fn probe() -> anyhow::Result<()> {
    Ok(())
}

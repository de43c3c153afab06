//! `ripplon bench --reflection`: the reflection of the absorbing edges of finite differences.

use crate::cli::terminal::say;
use crate::solver::acoustic::guides::Surroundings;
use crate::solver::fdtd::reflection::reflected;

/// Sites of a layer, and of a wavelength.
const WIDTHS: [usize; 3] = [10, 20, 32];
const WAVELENGTHS: [f64; 5] = [8.0, 12.0, 20.0, 40.0, 80.0];
/// Degrees to the normal.
const ANGLES: [f64; 6] = [0.0, 15.0, 30.0, 45.0, 60.0, 75.0];

/// Prints a table for each order and width, in dB, at the Δt of `step = "auto"`.
pub(super) fn run() -> anyhow::Result<()> {
    say!(
        "Absorbing edges of `fdtd` in two dimensions: reflected amplitude of plane waves, dB (a wave model of the discrete layer)"
    );
    let kinds = [
        (Surroundings::Open, "all edges absorb"),
        (Surroundings::Guide, "guide: closed along the other axis"),
        (Surroundings::GuideWithObstacles, "guide with obstacles"),
    ];
    let cases = (1..=4).flat_map(|half| kinds.map(|(surroundings, kind)| (half, surroundings, kind)));
    for (half, surroundings, kind) in cases {
        let share = if half == 1 { 0.9 } else { 0.5 };
        for width in WIDTHS {
            let angles = ANGLES.map(|angle| format!("{angle:>7.0}°")).concat();
            say!("\norder {}, {width} sites, {kind}", 2 * half);
            // Nobody reads on: nothing more has to be worked out.
            if !say!("{:>16}{angles}{:>8}", "sites/wavelength", "most") {
                return Ok(());
            }
            for wavelength in WAVELENGTHS {
                let mut line = format!("{wavelength:>16}");
                let mut most = f64::NEG_INFINITY;
                for angle in ANGLES {
                    let level =
                        20.0 * reflected(half, width, surroundings, share, wavelength, angle.to_radians())?.log10();
                    most = most.max(level);
                    line += &format!("{level:>8.1}");
                }
                say!("{line}{most:>8.1}");
            }
        }
    }
    Ok(())
}

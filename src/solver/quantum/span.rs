//! How far the potential of a scene differs from site to site: what steps that split it off from the hopping have to follow.

use super::{potential_range, sampled_range};
use crate::physics::{Initial, Medium, Sets};
use crate::scene::Scenario;

/// Times at which drives are looked at.
const TIMES: u32 = 4096;
/// Time for which they are looked at in a scene without an end, in units of 1/J.
const UNENDING: f64 = 100.0;
/// Sites of an array that are looked at, about.
const SITES: usize = 100_000;

/// Largest less least potential: that of the layers, of each driven part at the largest of its factor, and of the interaction at the densest place of the state at t = 0; and the largest W of layers that absorb, which
/// sends back what steps of many 1/W do not resolve.
pub fn potential_span(scenario: &Scenario) -> f64 {
    let medium = scenario.medium();
    let (low, high) = potential_range(medium);
    high - low + driven(scenario) + interaction_energy(scenario) + absorption(medium)
}

/// The largest W of layers; absorbing edges, whose W is a few J, are resolved by steps that resolve the hopping.
fn absorption(medium: &Medium) -> f64 {
    if !medium.has(Sets::Absorption) {
        return 0.0;
    }
    let nx = medium.grid().size()[0];
    sampled_range(medium.grid(), |j, k, row| medium.absorption_row(0.0, j, k, 0..nx, row)).1
}

/// What driven parts add.
fn driven(scenario: &Scenario) -> f64 {
    let (medium, time) = (scenario.medium(), scenario.time());
    let hopping = scenario.model().quantum().map_or(1.0, |own| own.hopping.abs());
    let there_and_back = scenario.mirror().map(|mirror| 2.0 * mirror.at);
    let end = (time.end.or(there_and_back)).unwrap_or(UNENDING / hopping.max(f64::MIN_POSITIVE));
    let nx = medium.grid().size()[0];
    let drives = medium.drives().iter().enumerate();
    drives
        .map(|(group, drive)| {
            let at = |n: u32| drive.eval(&[end * f64::from(n) / f64::from(TIMES)]).abs();
            let most = (0..=TIMES)
                .map(at)
                .filter(|factor| factor.is_finite())
                .fold(0.0, f64::max);
            let (low, high) = sampled_range(medium.grid(), |j, k, row| {
                medium.potential_row(Some(group), j, k, 0..nx, row);
            });
            most * (high - low)
        })
        .sum()
}

/// The largest |g||ψ|² of an interaction at t = 0, about: of packets by their widths, of eigenstates as if they filled the grid.
#[must_use]
pub fn interaction_energy(scenario: &Scenario) -> f64 {
    let medium = scenario.medium();
    let strength = strongest(scenario, medium) + medium.cross_interaction().abs();
    if strength == 0.0 {
        0.0
    } else {
        strength * densest(scenario)
    }
}

/// The width 2/(m|g|N) of the soliton 1/cosh(x/w) that the most attractive g of a line makes of its N = Σ|ψ|² a, and that g; `None` where nothing attracts, or without a mass.
/// V. E. Zakharov & A. B. Shabat 1972, Sov. Phys. JETP 34, 62.
#[must_use]
pub fn soliton(scenario: &Scenario) -> Option<[f64; 2]> {
    let (medium, grid) = (scenario.medium(), scenario.grid());
    let quantum = scenario.model().quantum()?;
    let mass = quantum.mass.filter(|_| grid.rank() == 1)?;
    let g = if medium.has(Sets::Interaction) {
        let nx = grid.size()[0];
        let fill = |j: usize, k: usize, row: &mut [f64]| medium.interaction_row(quantum.interaction, j, k, 0..nx, row);
        sampled_range(grid, fill).0
    } else {
        quantum.interaction
    };
    let norm = match scenario.initial() {
        Initial::Array(data) => (0..data.len()).map(|site| data.at(site).norm_sqr()).sum::<f64>() * grid.spacing(),
        _ => 1.0,
    };
    let width = 2.0 / (mass * -g * norm);
    (g < 0.0 && width.is_finite()).then_some([width, g])
}

/// The largest |g| of a site.
fn strongest(scenario: &Scenario, medium: &Medium) -> f64 {
    let g = scenario.model().quantum().map_or(0.0, |own| own.interaction);
    if !medium.has(Sets::Interaction) {
        return g.abs();
    }
    let nx = medium.grid().size()[0];
    let (low, high) = sampled_range(medium.grid(), |j, k, row| medium.interaction_row(g, j, k, 0..nx, row));
    low.abs().max(high.abs())
}

/// About the largest |ψ|² at t = 0; of eigenstates, which are not found for this, as if they filled the grid.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn densest(scenario: &Scenario) -> f64 {
    /// √2π: a Gaussian's width over that of a box as high.
    const BOX: f64 = 2.5;
    let grid = scenario.grid();
    let length = |axis: usize| grid.size()[axis] as f64 * grid.spacing();
    match scenario.initial() {
        Initial::Packets(packets) => {
            let along = |width: f64, axis: usize| (BOX * width).clamp(grid.spacing(), length(axis));
            let densities = packets.iter().map(|packet| {
                let volume: f64 = (0..grid.rank()).map(|axis| along(packet.width[axis], axis)).product();
                1.0 / volume
            });
            densities.fold(0.0, f64::max)
        }
        Initial::Array(data) => {
            let sites = (0..data.len()).step_by((data.len() / SITES).max(1));
            sites.map(|site| data.at(site).norm_sqr()).fold(0.0, f64::max)
        }
        _ => 1.0 / (0..grid.rank()).map(length).product::<f64>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{METHODS, read_scene_text};

    fn scene(more: &str) -> Scenario {
        let text = format!(
            "format = 1\n[grid]\nsize = [32, 16]\nspacing = 0.5\n[time]\nend = 10.0\n{more}\n[[packet]]\ncenter = [8.0, 4.0]\nwidth = [2.0, 1.0]\n"
        );
        read_scene_text(&text, None, &[]).unwrap().1
    }

    /// A layer that a factor of 1 drives is the layer without it; a factor counts at its largest, and one that is the same everywhere turns all phases alike.
    #[test]
    fn drives_count_at_their_largest() {
        let layer = |value: &str, drive: &str| {
            let text = format!("[quantum]\n[[layer]]\nsets = \"potential\"\nvalue = \"{value}\"\n{drive}");
            potential_span(&scene(&text))
        };
        let plain = layer("2*x", "");
        assert!((plain - 31.0).abs() < 1e-12, "{plain}");
        for (drive, times) in [("1", 1.0), ("-3*sin(t)", 3.0), ("t", 10.0)] {
            let found = layer("2*x", &format!("drive = \"{drive}\""));
            // The sine is looked at every 1/410 of a unit.
            assert!((found / (times * plain) - 1.0).abs() < 1e-5, "{drive}: {found}");
        }
        assert!(layer("7", "drive = \"sin(t)\"").abs() < 1e-12);
    }

    /// g|ψ|² of a Gaussian: g/(2π w_x w_y), within the factor of a box for it; the strongest site of a layer counts.
    #[test]
    fn interactions_count_at_the_densest_place() {
        let peak = 1.0 / (std::f64::consts::TAU * 2.0);
        for text in [
            "[quantum]\ninteraction = -40.0",
            "[quantum]\n[[layer]]\nsets = \"interaction\"\nvalue = \"2.5*(x + 0.5)\"",
        ] {
            let found = potential_span(&scene(text));
            assert!((found / (40.0 * peak) - 1.0).abs() < 0.01, "{text}: {found}");
        }
    }

    /// Steps of every method that splits the potential off become short where it does, whatever makes it.
    #[test]
    fn automatic_steps_follow_all_that_turns_phases() {
        for method in ["trotter", "crank-nicolson", "split-step-fourier"] {
            let row = METHODS.iter().find(|row| row.id == method).unwrap();
            let step = |quantum: &str, layer: &str| {
                let text = format!("[quantum]\n{quantum}\n[solver]\nmethod = \"{method}\"\n{layer}");
                (row.step_advice)(&scene(&text)).auto
            };
            let free = step("", "");
            let layer = "[[layer]]\nsets = \"potential\"\nvalue = \"20*x\"";
            let held = step("", layer);
            assert!(held < 0.1 * free, "{method}: {held} {free}");
            let driven = step("", &format!("{layer}\ndrive = \"2*cos(t)\""));
            assert!((driven / (0.5 * held) - 1.0).abs() < 1e-9, "{method}: {driven} {held}");
            let cloud = step("interaction = 5000.0", "");
            assert!(cloud < 0.1 * free, "{method}: {cloud} {free}");
            let absorber = step("", "[[layer]]\nsets = \"absorption\"\nvalue = \"20*x\"");
            assert!((absorber / held - 1.0).abs() < 1e-9, "{method}: {absorber} {held}");
        }
    }
}

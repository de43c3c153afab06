//! What a lattice does not carry of ψ: packets, clouds that interact, the symmetry of two particles.

use super::{SITES_PER_PULSE, SITES_PER_WAVELENGTH, figure, sites};
use crate::physics::{Initial, Packet, Sets, Shape, Value, absorber, bonds};
use crate::scene::Scenario;
use crate::solver::{interaction_energy, soliton};
use std::f64::consts::TAU;

/// The packets of a quantum scene with the momentum by which they move where they start, in place of the canonical one; none of other scenes.
pub fn in_motion(scenario: &Scenario) -> Vec<Packet> {
    match (scenario.initial(), scenario.model().quantum()) {
        (Initial::Packets(packets), Some(quantum)) => bonds::in_motion(&quantum, scenario.medium(), packets),
        _ => Vec::new(),
    }
}

/// The share of a quantum scene's packets that its absorbing edges reflect: [`absorber::returned`]. Axes do not count along which layers make the hopping differ from place to place: there a packet arrives
/// with another momentum than it starts with, and bonds reflect it.
pub fn sent_back(scenario: &Scenario) -> Option<f64> {
    let layers = scenario.medium().layers().iter();
    let uneven: Vec<Option<usize>> = layers
        .filter(|layer| layer.sets == Sets::Hopping)
        .filter(|layer| !matches!((&layer.shape, &layer.value), (Shape::Everywhere, Value::Number(_))))
        .map(|layer| layer.axis)
        .collect();
    let mut packets = in_motion(scenario);
    for packet in &mut packets {
        for (axis, k) in packet.momentum.iter_mut().enumerate() {
            if uneven.iter().any(|own| own.is_none_or(|own| own == axis)) {
                *k = 0.0;
            }
        }
    }
    absorber::returned(scenario.grid(), &packets)
}

/// Packets with few sites per wavelength.
pub(super) fn packets(scenario: &Scenario, spacing: f64) -> Vec<String> {
    let packets = in_motion(scenario);
    let lengths = packets.iter().map(|packet| {
        let k = packet.momentum.iter().map(|k| k * k).sum::<f64>().sqrt();
        TAU / (k * spacing)
    });
    // π/4 as scenes write it, with seven digits, is eight sites.
    (lengths.filter(|length| *length < SITES_PER_WAVELENGTH * (1.0 - 1e-6)))
        .map(|length| {
            format!(
                "Only {} sites per wavelength: the lattice slows the packet down (v = 2Ja sin ka). Use a finer spacing or a smaller momentum.",
                sites(length)
            )
        })
        .collect()
}

/// A cloud with a mass that interacts so strongly that what comes of it in real time is finer than the lattice: g|ψ|² = J(ka)² is the kinetic energy that it can turn into, and 1/k the healing
/// length.
pub(super) fn clouds(scenario: &Scenario, hopping: f64) -> Option<String> {
    /// Fewest sites of the shortest waves, of which there are few.
    const SITES_OF_THE_SHORTEST: f64 = SITES_PER_WAVELENGTH / 2.0;
    let quantum = scenario.model().quantum()?;
    let energy = interaction_energy(scenario);
    // Tight binding is a lattice by itself, and how dense a ground state is is not known at its beginning.
    if energy == 0.0 || quantum.mass.is_none() || scenario.time().imaginary {
        return None;
    }
    let healing = (hopping / energy).sqrt();
    if TAU * healing < SITES_OF_THE_SHORTEST {
        return Some(format!(
            "The interaction g|ψ|² is up to {} at t = 0, and its healing length 1/√(2mg|ψ|²) only {} sites: waves that it drives have {} sites per wavelength, and the lattice slows them \
             down. Use a finer spacing or a weaker interaction.",
            figure(energy),
            figure(healing),
            sites(TAU * healing)
        ));
    }
    focused(scenario)
}

/// A cloud on a line that draws itself together to less than the lattice carries, however dilute it begins.
fn focused(scenario: &Scenario) -> Option<String> {
    let [width, g] = soliton(scenario)?;
    let width = width / scenario.grid().spacing();
    (width < SITES_PER_PULSE).then(|| {
        format!(
            "The interaction g = {g} draws ψ together, and the soliton 1/cosh(x/w) of it has a width w = 2/(m|g|) of only {} sites: the lattice slows its waves down. Use a finer spacing \
             or a weaker interaction.",
            sites(width)
        )
    })
}

/// Two particles by a method whose steps do not treat x and y alike. In imaginary time the symmetry is restored.
pub(super) fn exchanged(scenario: &Scenario) -> Option<String> {
    let two = scenario.file().quantum.as_ref()?.exchange.is_some();
    let unlike = scenario.solver().method == "crank-nicolson" && !scenario.time().imaginary;
    (two && unlike).then(|| {
        "crank-nicolson keeps the symmetry of two particles only up to its error of order Δt² (its steps along x are half as long as those along y). Use trotter, which keeps it, or a \
         shorter Δt."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver;

    /// A packet of k = 0.12 comes to the edge with 0.04 where the hopping is nine times as large on the way: nothing is said of it. The same hopping everywhere, or another one across, changes nothing.
    #[test]
    fn nothing_is_said_of_edges_behind_another_hopping() {
        let said = |layer: &str| {
            let text = format!(
                "format = 1\n[grid]\nsize = [600, 4]\nspacing = 1.0\nedges = [\"absorb\", \"periodic\"]\nabsorb_width = 40\n[quantum]\nmass = 1.0\n\
                 [[packet]]\ncenter = [200.0, 2.0]\nwidth = [20.0, 4.0]\nmomentum = [0.12, 0.0]\n{layer}"
            );
            let (_, scenario) = solver::read_scene_text(&text, None, &[]).unwrap();
            sent_back(&scenario)
        };
        let plain = said("");
        assert!(plain.is_some());
        let layer = |rest: &str| format!("[[layer]]\nsets = \"hopping\"\n{rest}\n");
        let part = "shape = \"box\"\nmin = [350.0, 0.0]\nmax = [600.0, 4.0]";
        assert_eq!(said(&layer(&format!("value = 9.0\n{part}"))), None);
        assert_eq!(said(&layer("value = \"1 + 8*(x >= 350)\"")), None);
        assert_eq!(said(&layer("value = 9.0")), plain);
        assert_eq!(said(&layer(&format!("value = 9.0\naxis = \"y\"\n{part}"))), plain);
    }
}

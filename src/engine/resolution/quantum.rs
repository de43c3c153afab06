//! What a lattice does not carry of ψ: packets, clouds that interact, the symmetry of two particles.

use super::{SITES_PER_PULSE, SITES_PER_WAVELENGTH, sites};
use crate::physics::{Initial, Packet, Sets, Shape, Value, absorber, bonds as couplings};
use crate::scene::Scenario;
use crate::solver::{interaction_energy, soliton};
use crate::units::four_digits as figure;
use std::f64::consts::{PI, TAU};

/// The packets of a quantum scene with the momentum by which they move where they start, in place of the canonical one; none of other scenes.
pub fn in_motion(scenario: &Scenario) -> Vec<Packet> {
    match (scenario.initial(), scenario.model().quantum()) {
        (Initial::Packets(packets), Some(quantum)) => couplings::in_motion(&quantum, scenario.medium(), packets),
        _ => Vec::new(),
    }
}

/// The share of a quantum scene's packets that its absorbing edges reflect: [`absorber::returned`]. Along an axis where layers make the hopping negative or differ from place to place a packet counts with the momentum with which it
/// [comes to the edge](at_the_edge), and where there is none such axes do not count.
pub fn sent_back(scenario: &Scenario) -> Option<f64> {
    let layers = scenario.medium().layers().iter();
    let uneven: Vec<Option<usize>> = layers
        .filter(|layer| layer.sets == Sets::Hopping)
        .filter(|layer| !matches!((&layer.shape, &layer.value), (Shape::Everywhere, Value::Number(f)) if *f > 0.0))
        .map(|layer| layer.axis)
        .collect();
    let mut packets = in_motion(scenario);
    for packet in &mut packets {
        let begun = *packet;
        for axis in 0..scenario.grid().rank() {
            if uneven.iter().any(|own| own.is_none_or(|own| own == axis)) {
                let arriving = at_the_edge(scenario, &begun, axis);
                let [k, width] = arriving.unwrap_or([0.0, begun.width[axis]]);
                (packet.momentum[axis], packet.width[axis]) = (k, width);
            }
        }
    }
    absorber::returned(scenario.grid(), &packets)
}

/// The momentum along an axis, and the width there, with which a packet comes to the absorbing layer that it moves to. Its energy and its momenta across are kept, E = D + U − 2J Σ f cos ka at every site of its way with
/// the mean f of the two bonds of an axis, and so is the spread of the energy, 2Jf sin(ka) Δk. `None` where no wave goes all the way: E is outside of the band somewhere, the hopping is 0, or it
/// differs across, so that momenta across are not kept.
///
/// The sign of bonds along the axis is a gauge, as ψ may change its sign from site to site: with −f, k is π − k. The momentum is that of the gauge in which all of them are positive, in which absorbing
/// layers, which are the same in both, are judged.
fn at_the_edge(scenario: &Scenario, packet: &Packet, axis: usize) -> Option<[f64; 2]> {
    let (grid, quantum) = (scenario.grid(), scenario.model().quantum()?);
    let (rank, a) = (grid.rank(), grid.spacing());
    let k = packet.momentum.map(|k| k * a - TAU * (k * a / TAU).round());
    // It spreads as fast as it moves.
    if k[axis].abs() * packet.width[axis] <= a {
        return None;
    }
    let begin = grid.nearest(packet.center);
    let (last, width) = (grid.size()[axis] - 1, grid.absorb_width());
    let begun = mean(bonds(scenario, begin)[axis]);
    let is_back = begun * k[axis] < 0.0;
    let way = if is_back {
        width.min(begin[axis])..=begin[axis]
    } else {
        begin[axis]..=last.saturating_sub(width).max(begin[axis])
    };
    let along = |from: [usize; 3], n: usize| {
        let mut site = from;
        site[axis] = n;
        site
    };
    let aside = (0..rank).filter(|other| *other != axis).flat_map(|other| {
        [-2.0, 2.0].map(|widths| {
            let mut center = packet.center;
            center[other] += widths * packet.width[other];
            grid.nearest(center)
        })
    });
    let beside: Vec<[usize; 3]> = aside.collect();
    // The energy without the bonds along the axis, and |f| of those, at a site.
    let here = |n: usize| -> Option<[f64; 2]> {
        let site = along(begin, n);
        let factors = bonds(scenario, site);
        let alike = |other: &[usize; 3]| {
            let own = bonds(scenario, along(*other, n));
            let mut pairs = own.as_flattened().iter().zip(factors.as_flattened());
            pairs.all(|(own, here)| (own - here).abs() <= 1e-9 * here.abs())
        };
        let mut potential = [0.0];
        (scenario.medium()).potential_row(None, site[1], site[2], site[0]..site[0] + 1, &mut potential);
        let across = (0..rank).filter(|other| *other != axis);
        let bonds: f64 = across.map(|other| mean(factors[other]) * k[other].cos()).sum();
        let sizes = factors.map(|both| mean(both.map(f64::abs)));
        let diagonal: f64 = if quantum.mass.is_some() {
            sizes[..rank].iter().sum()
        } else {
            0.0
        };
        let rest = potential[0] + 2.0 * quantum.hopping * (diagonal - bonds);
        (sizes[axis] > 0.0 && beside.iter().all(alike)).then_some([rest, sizes[axis]])
    };
    let [rest, factor] = here(begin[axis])?;
    let energy = rest - 2.0 * quantum.hopping * begun * k[axis].cos();
    // cos k' and |f|.
    let cosine = |n: usize| -> Option<[f64; 2]> {
        let [rest, factor] = here(n)?;
        let cosine = (rest - energy) / (2.0 * quantum.hopping * factor);
        (cosine.abs() < 1.0).then_some([cosine.acos(), factor])
    };
    let end = if is_back { *way.start() } else { *way.end() };
    if !way.into_iter().all(|n| n == begin[axis] || cosine(n).is_some()) {
        return None;
    }
    let [arriving, there] = if end == begin[axis] {
        let turned = if begun < 0.0 { PI - k[axis].abs() } else { k[axis].abs() };
        [turned, factor]
    } else {
        cosine(end)?
    };
    let slower = there * arriving.sin() / (factor * k[axis].sin().abs());
    let way = if is_back { -1.0 } else { 1.0 };
    Some([way * arriving / a, packet.width[axis] * slower])
}

fn mean([below, above]: [f64; 2]) -> f64 {
    f64::midpoint(below, above)
}

/// What layers multiply the hopping of the two bonds of a site along each axis with; at an edge twice that of the inner one.
fn bonds(scenario: &Scenario, site: [usize; 3]) -> [[f64; 2]; 3] {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    let bond = |axis: usize, lower: [usize; 3]| {
        let mut factor = [0.0];
        medium.hopping_row(axis, lower[1], lower[2], lower[0]..lower[0] + 1, &mut factor);
        factor[0]
    };
    [0, 1, 2].map(|axis| {
        if axis >= grid.rank() {
            return [0.0; 2];
        }
        let mut below = site;
        below[axis] = site[axis].saturating_sub(1);
        let upper = if site[axis] + 1 < grid.size()[axis] {
            site
        } else {
            below
        };
        [bond(axis, below), bond(axis, upper)]
    })
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

    /// What edges send back of a packet of k = 0.12 with these layers, in a band of four rows.
    fn said(packet: &str, layer: &str) -> Option<f64> {
        let text = format!(
            "format = 1\n[grid]\nsize = [600, 4]\nspacing = 1.0\nedges = [\"absorb\", \"periodic\"]\nabsorb_width = 40\n[quantum]\nmass = 1.0\n\
             [[packet]]\ncenter = [200.0, 2.0]\n{packet}\n{layer}"
        );
        let (_, scenario) = solver::read_scene_text(&text, None, &[]).unwrap();
        sent_back(&scenario)
    }

    fn hopping(rest: &str) -> String {
        format!("[[layer]]\nsets = \"hopping\"\n{rest}\n")
    }

    const PACKET: &str = "width = [20.0, 4.0]\nmomentum = [0.12, 0.0]";
    const PART: &str = "shape = \"box\"\nmin = [350.0, 0.0]\nmax = [600.0, 4.0]";

    /// Where the hopping is nine times as large on the way a packet of k = 0.12 comes to the edge with the k' = 0.04 of the same energy, 1 − cos k = 9 (1 − cos k'), three times as long: it is judged by that. The same hopping everywhere,
    /// or another one across, changes nothing.
    #[test]
    fn edges_behind_another_hopping_are_judged_by_the_momentum_there() {
        let plain = said(PACKET, "").unwrap();
        let arriving = (1.0 - (1.0 - 0.12_f64.cos()) / 9.0).acos();
        let longer = 20.0 * 9.0 * arriving.sin() / 0.12_f64.sin();
        let there = said(
            &format!("width = [{longer:?}, 4.0]\nmomentum = [{arriving:?}, 0.0]"),
            "",
        )
        .unwrap();
        assert!(there > 0.1 && there > 3.0 * plain, "{there} {plain}");
        for layer in [
            hopping(&format!("value = 9.0\n{PART}")),
            hopping("value = \"1 + 8*(x >= 350)\""),
        ] {
            let found = said(PACKET, &layer).unwrap();
            assert!((found / there - 1.0).abs() < 1e-9, "{layer}: {found} is not {there}");
        }
        assert_eq!(said(PACKET, &hopping("value = 9.0")), Some(plain));
        assert_eq!(
            said(PACKET, &hopping(&format!("value = 9.0\naxis = \"y\"\n{PART}"))),
            Some(plain)
        );
        // To the left it moves away from that part.
        let left = "width = [20.0, 4.0]\nmomentum = [-0.12, 0.0]";
        let found = said(left, &hopping(&format!("value = 9.0\n{PART}"))).unwrap();
        assert!((found / said(left, "").unwrap() - 1.0).abs() < 1e-9);
    }

    /// A packet that comes into a layer of the hopping −12 with its absorbing edge is judged as with 12: ψ(−1)ⁿ has the energies of ψ there. Where the hopping is −1 everywhere a packet of
    /// momentum −π + k moves as one of k where it is 1.
    #[test]
    fn the_sign_of_the_hopping_changes_nothing_at_edges() {
        let line = |k: f64, layer: &str| {
            let text = format!(
                "format = 1\n[grid]\nsize = [400]\nspacing = 0.5\nedges = [\"absorb\"]\nabsorb_width = 16\n[quantum]\nmass = 1.0\n\
                 [[packet]]\ncenter = [60.0]\nwidth = [5.0]\nmomentum = [{k:?}]\n{layer}"
            );
            let (_, scenario) = solver::read_scene_text(&text, None, &[]).unwrap();
            sent_back(&scenario)
        };
        let behind = |f: f64| hopping(&format!("shape = \"box\"\nmin = [100.0]\nmax = [200.0]\nvalue = {f:?}"));
        let plain = line(1.0, &behind(12.0)).unwrap();
        assert!(plain > absorber::MOST_RETURNED, "{plain}");
        for k in [1.0, -1.0] {
            let [found, mirrored] = [12.0, -12.0].map(|f| line(k, &behind(f)).unwrap());
            assert!((mirrored / found - 1.0).abs() < 1e-9, "{mirrored} is not {found}");
        }
        // π/a is 2π.
        let turned = line(1.0 - TAU, &hopping("value = -1.0")).unwrap();
        assert!((turned / line(1.0, "").unwrap() - 1.0).abs() < 1e-9);
        let along = |f: f64| said(PACKET, &hopping(&format!("value = {f:?}\naxis = \"x\"\n{PART}"))).unwrap();
        assert!((along(-9.0) / along(9.0) - 1.0).abs() < 1e-9);
    }

    /// Nothing is said of edges that no wave of the packet's energy comes to, or where the hopping differs across its way.
    #[test]
    fn nothing_is_said_of_edges_that_no_wave_comes_to() {
        // 2J(1 − cos k) is 0.0144 J, and the band behind ends at 4Jf = 0.004 J.
        assert_eq!(said(PACKET, &hopping(&format!("value = 0.001\n{PART}"))), None);
        assert_eq!(said(PACKET, &hopping(&format!("value = 0.0\n{PART}"))), None);
        assert_eq!(said(PACKET, &hopping("value = \"1 + 8*(x >= 350)*(y > 1)\"")), None);
    }
}

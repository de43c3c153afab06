//! What begins, plays or listens where it is damped or silent: in absorbing layers and in walls.

use crate::grid::{Edge, Grid};
use crate::physics::source::Place;
use crate::physics::{Equation, Initial, Model, Region, Sets};
use crate::scene::Scenario;
use crate::units::four_digits as figure;

/// Which part of a pulse may begin in absorbing layers: sums of energy know nothing of it.
const MOST_UNCOUNTED: f64 = 0.01;
/// (2γw/c)² of a pulse that begins where layers absorb, beyond which the flow that it leaves there counts.
const MOST_FLOWING: f64 = 1e-3;
/// Which part of a packet may begin in absorbing layers: the tail of one that stands close to them.
const MOST_ABSORBED: f64 = 0.05;

/// All of it, each with a remedy.
pub(super) fn told(scenario: &Scenario) -> Vec<String> {
    let begun = uncounted(scenario).or_else(|| absorbed_at_once(scenario));
    (begun.into_iter())
        .chain(flowing_on(scenario))
        .chain(damped(scenario))
        .chain(walled(scenario))
        .collect()
}

/// Pulses that begin in absorbing layers, whose energy is not counted.
fn uncounted(scenario: &Scenario) -> Option<String> {
    let Initial::Pulses(pulses) = scenario.initial() else {
        return None;
    };
    let shares = pulses
        .iter()
        .map(|pulse| in_layers(scenario.grid(), pulse.center, [pulse.width; 3]));
    let most = shares.fold(0.0, f64::max);
    (most > MOST_UNCOUNTED).then(|| {
        format!(
            "{:.0} % of a pulse begins in absorbing layers, whose energy is not counted: energies, and what is said of them relative to the start, are those of the rest. \
             At most {:.0} % may: move the pulse inwards, or use a larger grid or a smaller grid.absorb_width.",
            100.0 * most,
            100.0 * MOST_UNCOUNTED
        )
    })
}

/// Pulses that begin where layers absorb. With ρ ∂v/∂t = −∇p and ∂p/∂t = 0 at t = 0 what p_tt + 2γ p_t = c²∇²p means is p_t + 2γ (p − p(0)) = −ρc²∇·v: once p is gone there is a v left, of the
/// divergence 2γ p(0)/ρc², whose energy is (2γ/ck)² of that of a wave of wave number k; of a Gaussian of width w in a tube of 33 widths eight times (2γw/c)².
fn flowing_on(scenario: &Scenario) -> Option<String> {
    let (Initial::Pulses(pulses), Model::Acoustic(acoustic)) = (scenario.initial(), scenario.model()) else {
        return None;
    };
    let (grid, medium) = (scenario.grid(), scenario.medium());
    if !medium.has(Sets::Absorption) {
        return None;
    }
    let damping = |at: [f64; 3]| {
        let [i, j, k] = grid.nearest(at);
        let mut row = [0.0];
        medium.damping_row(j, k, i..i + 1, &mut row);
        row[0]
    };
    let parts = pulses.iter().map(|pulse| {
        let beside = (0..grid.rank()).flat_map(|axis| {
            [-1.0, 1.0].map(|side| {
                let mut at = pulse.center;
                at[axis] += side * pulse.width;
                at
            })
        });
        let places = std::iter::once(pulse.center).chain(beside);
        let strongest = places.map(damping).fold(0.0, f64::max);
        (2.0 * strongest * pulse.width / acoustic.speed).powi(2)
    });
    let most = parts.fold(0.0, f64::max);
    (most > MOST_FLOWING).then(|| {
        format!(
            "A pulse begins where a layer absorbs: energies, fluxes and velocities count a flow there that does not die, (2γw/c)² = {} of the pulse's energy and several times that on a line. Keep it below {MOST_FLOWING:.0e}: let the pulse begin outside of the layer, or let a source play instead.",
            figure(most)
        )
    })
}

/// Packets a good part of which begins in absorbing layers.
fn absorbed_at_once(scenario: &Scenario) -> Option<String> {
    let Initial::Packets(packets) = scenario.initial() else {
        return None;
    };
    // |ψ|² falls as e^(−r²/2w²).
    let shares = packets.iter().map(|packet| {
        let width = packet.width.map(|width| std::f64::consts::SQRT_2 * width);
        in_layers(scenario.grid(), packet.center, width)
    });
    let most = shares.fold(0.0, f64::max);
    (most > MOST_ABSORBED).then(|| {
        format!(
            "{:.0} % of a packet begins in absorbing layers, which take it from the first step on. \
             At most {:.0} % should: move the packet inwards, or use a larger grid or a smaller grid.absorb_width.",
            100.0 * most,
            100.0 * MOST_ABSORBED
        )
    })
}

/// Sources that do not move, and detectors, for whose ends `hides` holds: a point has one, a line, a box or a disk two. Of several points one is enough.
fn hidden(scenario: &Scenario, hides: impl Fn(&[[f64; 3]]) -> bool) -> Option<String> {
    let plays = scenario.sources().iter().enumerate().filter(|(_, source)| {
        let hidden = match &source.place {
            Place::Points(points) => points.iter().any(|point| hides(&[point.at])),
            Place::Line { from, to } => hides(&[*from, *to]),
            Place::Disk { center, radius, normal } => {
                let end = |sign: f64| {
                    let mut end = center.map(|at| at + sign * radius);
                    end[*normal] = center[*normal];
                    end
                };
                hides(&[end(-1.0), end(1.0)])
            }
        };
        hidden && source.velocity == [0.0; 3]
    });
    let listens = scenario.detectors().iter().filter(|detector| match detector.region {
        Region::Point(at) => hides(&[at]),
        Region::Line { from, to } => hides(&[from, to]),
        // The outermost sites in it.
        Region::Box { min, max } => {
            let a = scenario.grid().spacing();
            let inwards = |n: f64| [(n - 1e-9).ceil() * a, (n + 1e-9).floor() * a];
            let ends = [0, 1, 2].map(|axis| [inwards(min[axis] / a)[0], inwards(max[axis] / a)[1]]);
            hides(&[ends.map(|[first, _]| first), ends.map(|[_, last]| last)])
        }
        Region::Everywhere => false,
    });
    let names: Vec<String> = (plays.map(|(number, _)| format!("source.{number}")))
        .chain(listens.map(|detector| format!("detector {:?}", detector.name)))
        .collect();
    let verb = if names.len() == 1 { "stands" } else { "stand" };
    (!names.is_empty()).then(|| format!("{} {verb}", names.join(", ")))
}

/// Sources and detectors that stand in an absorbing layer as a whole.
#[expect(clippy::cast_precision_loss, reason = "sites are far below 2^52")]
fn damped(scenario: &Scenario) -> Option<String> {
    let (grid, width) = (scenario.grid(), scenario.grid().absorb_width() as f64);
    let absorbs = |axis: &usize| grid.edges()[*axis] == Edge::Absorb;
    let who = hidden(scenario, |ends| {
        (0..grid.rank()).filter(absorbs).any(|axis| {
            let place = |end: &[f64; 3]| (end[axis] / grid.spacing()).round();
            let last = grid.size()[axis] as f64 - width;
            ends.iter().all(|end| place(end) < width) || ends.iter().all(|end| place(end) >= last)
        })
    })?;
    let length = match scenario.model().equation() {
        Equation::Acoustic => " m",
        Equation::Schrodinger => "",
    };
    Some(format!(
        "{who} in absorbing layers, where waves are damped: what is played or recorded there is not that of open space. \
         Stay at least {}{length} away from edges that absorb, or use a smaller grid.absorb_width.",
        figure(width * grid.spacing())
    ))
}

/// Sources and detectors in walls, all sites of them, which are silent and record 0.
fn walled(scenario: &Scenario) -> Option<String> {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    if !medium.has(Sets::Wall) {
        return None;
    }
    let who = hidden(scenario, |ends| {
        let sites = || ends.iter().map(|end| grid.nearest(*end));
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let along = || sites().map(|site| site[axis]);
            along().min().unwrap_or(0)..along().max().map_or(0, |last| last + 1)
        });
        let mut wall = vec![false; x.len()];
        let mut rows = z.flat_map(|k| y.clone().map(move |j| [j, k]));
        rows.all(|[j, k]| {
            medium.wall_row(j, k, x.clone(), &mut wall);
            wall.iter().all(|wall| *wall)
        })
    })?;
    Some(format!(
        "{who} in a wall, where sources are silent and detectors record 0. Move them to sites without a wall."
    ))
}

/// The part of Π exp(−((x − c)/w)²) that lies in absorbing layers.
#[expect(clippy::cast_precision_loss, reason = "sites are far below 2^52")]
fn in_layers(grid: &Grid, center: [f64; 3], width: [f64; 3]) -> f64 {
    let inside = |axis: usize| {
        let sites = grid.size()[axis];
        let square = |site: usize| {
            let way = site as f64 * grid.spacing() - center[axis];
            (-(way / width[axis]).powi(2)).exp()
        };
        let layer = grid.absorb_width();
        let all: f64 = (0..sites).map(square).sum();
        let own: f64 = (layer..sites.saturating_sub(layer)).map(square).sum();
        if all > 0.0 { own / all } else { 1.0 }
    };
    let absorbing = (0..grid.rank()).filter(|axis| grid.edges()[*axis] == Edge::Absorb);
    1.0 - absorbing.map(inside).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver;

    fn said(text: &str) -> String {
        let (_, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        told(&scenario).join("\n")
    }

    #[test]
    fn packets_and_pulses_that_begin_in_layers_are_told() {
        // A pulse that begins in the middle of a layer's border is half uncounted, and one three widths away not.
        let layered = |center: f64| {
            said(&format!(
                "format = 1\n[grid]\nsize = [201]\nspacing = 1.0\nedges = \"absorb\"\nabsorb_width = 20\n[acoustic]\n[[pulse]]\ncenter = [{center}]\nwidth = 4.0\n"
            ))
        };
        assert!(
            layered(19.5).starts_with("50 % of a pulse begins in absorbing layers"),
            "{}",
            layered(19.5)
        );
        assert_eq!(layered(31.5), "");
        // |ψ|² of a packet likewise, 13 % of which lie more than 1.125 widths to one side.
        let near = |center: f64| {
            said(&format!(
                "format = 1\n[grid]\nsize = [201]\nspacing = 1.0\nedges = \"absorb\"\nabsorb_width = 20\n[quantum]\n[[packet]]\ncenter = [{center}]\nwidth = 4.0\n"
            ))
        };
        assert!(near(19.5).starts_with("50 % of a packet begins"), "{}", near(19.5));
        assert!(near(24.0).starts_with("13 % of a packet begins"), "{}", near(24.0));
        assert_eq!(near(28.0), "");
    }

    /// What plays or listens where waves are damped is named: the layer has 20 sites of a metre.
    #[test]
    fn sources_and_detectors_in_layers_are_told() {
        let told = |what: &str| {
            said(&format!(
                "format = 1\n[grid]\nsize = [100, 80]\nspacing = 1.0\nedges = [\"absorb\", \"wall\"]\nabsorb_width = 20\n[acoustic]\n\
                 [[pulse]]\ncenter = [50.0, 40.0]\nwidth = 5.0\n{what}\n"
            ))
        };
        let source = |place: &str| told(&format!("[[source]]\n{place}\nsignal = \"sine\"\nfrequency = 10.0"));
        let detector = |place: &str| told(&format!("[[detector]]\nname = \"ear\"\n{place}"));
        for hidden in [
            source("at = [19.0, 40.0]"),
            source("points = [[50.0, 40.0], [80.0, 40.0]]"),
            source("from = [5.0, 0.0]\nto = [5.0, 79.0]"),
        ] {
            assert!(hidden.starts_with("source.0 stands in absorbing layers"), "{hidden}");
            assert!(hidden.contains("Stay at least 20 m away from edges"), "{hidden}");
        }
        for hidden in [
            detector("at = [85.0, 40.0]"),
            detector("region = { min = [0.0, 0.0], max = [15.0, 79.0] }"),
        ] {
            assert!(
                hidden.starts_with("detector \"ear\" stands in absorbing layers"),
                "{hidden}"
            );
        }
        for seen in [
            source("at = [20.0, 1.0]"),
            source("from = [0.0, 40.0]\nto = [99.0, 40.0]"),
            source("at = [5.0, 40.0]\nvelocity = [100.0, 0.0]"),
            detector("at = [79.0, 40.0]"),
            detector(""),
            detector("region = { min = [0.0, 0.0], max = [20.0, 79.0] }"),
        ] {
            assert_eq!(seen, "");
        }
    }

    /// γ = 400 per second and w = 0.3 m make (2γw/c)² = 0.49; a weak layer, and a strong one that the pulse does not begin in, are not told.
    #[test]
    fn pulses_that_begin_where_layers_absorb_are_told() {
        let told = |value: &str, shape: &str| {
            said(&format!(
                "format = 1\n[grid]\nsize = [200]\nspacing = 0.05\n[acoustic]\n[[pulse]]\ncenter = [5.0]\nwidth = 0.3\n[[layer]]\nsets = \"absorption\"\nvalue = {value}\n{shape}\n"
            ))
        };
        for strong in [
            told("400.0", ""),
            told("\"80*x\"", ""),
            told("400.0", "shape = \"box\"\nmin = [5.2]\nmax = [6.0]"),
        ] {
            assert!(strong.starts_with("A pulse begins where a layer absorbs"), "{strong}");
        }
        assert!(
            told("400.0", "").contains("(2γw/c)² = 0.4896 of") && !told("400.0", "").contains("  "),
            "{}",
            told("400.0", "")
        );
        assert_eq!(told("10.0", ""), "");
        assert_eq!(told("400.0", "shape = \"box\"\nmin = [7.0]\nmax = [9.0]"), "");
    }

    /// A point in a wall is silent and deaf; one beside it is not.
    #[test]
    fn points_in_walls_are_told() {
        let points = |source: f64, ear: f64| {
            said(&format!(
                "format = 1\n[grid]\nsize = [60, 50]\nspacing = 1.0\n[acoustic]\n[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [30.0, 25.0]\n\
                 radius = 5.0\n[[source]]\nat = [{source}, 25.0]\nsignal = \"sine\"\nfrequency = 10.0\n[[detector]]\nname = \"ear\"\nat = [{ear}, 25.0]\n"
            ))
        };
        assert!(points(30.0, 50.0).starts_with("source.0 stands in a wall"));
        assert!(points(10.0, 35.4).starts_with("detector \"ear\" stands in a wall"));
        assert!(points(30.0, 30.0).starts_with("source.0, detector \"ear\" stand in a wall"));
        assert_eq!(points(24.4, 35.6), "");
    }

    /// A line or a region records 0 where all of its sites are walls, here x from 20 to 40 and y from 10 to 30; one that reaches a site beside them does not.
    #[test]
    fn regions_in_walls_are_told() {
        let ear = |place: &str| {
            said(&format!(
                "format = 1\n[grid]\nsize = [60, 50]\nspacing = 1.0\n[quantum]\n[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [20.0, 10.0]\nmax = [40.0, 30.0]\n\
                 [[packet]]\ncenter = [10.0, 40.0]\nwidth = 2.0\n[[detector]]\nname = \"ear\"\n{place}\n"
            ))
        };
        for walled in [
            "from = [25.0, 10.0]\nto = [25.0, 30.0]",
            "region = { min = [19.6, 9.5], max = [40.4, 30.5] }",
        ] {
            assert!(ear(walled).starts_with("detector \"ear\" stands in a wall"), "{walled}");
        }
        for open in [
            "from = [25.0, 10.0]\nto = [25.0, 31.0]",
            "region = { min = [20.0, 10.0], max = [41.0, 30.0] }",
            "",
        ] {
            assert_eq!(ear(open), "", "{open}");
        }
    }
}

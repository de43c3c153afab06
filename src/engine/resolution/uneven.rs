//! Absorbing layers of `fdtd` that may feed waves where the medium is uneven along them.
//!
//! The speed at the inner border of a layer continues through it ([`crate::solver::acoustic::outward`]). Where it is uneven along the border, a thin layer is a bundle of short guides of different speeds, which bind waves of any
//! frequency; its decaying parts gain energy there as those of obstacles in guides do ([`crate::solver::acoustic::guides`]), and grids that absorb along all axes have layers that only stretch the coordinate.
//! Whatever the speeds inside are, nothing grows where those at the border are alike.

use crate::grid::Edge;
use crate::physics::{Model, Sets};
use crate::scene::Scenario;
use crate::solver::acoustic::outward::Domain;
use crate::units::four_digits as figure;

/// The largest ratio of two speeds along the layers that is not told: the mildest of those with which runs were seen to grow was 2.7.
const MOST_UNEVEN: f64 = 2.0;
/// Sites from which on layers are not told: the widest with which runs were seen to grow had 8.
const WIDE: usize = 12;

/// A scene in which waves may grow slowly in layers.
pub(super) fn told(scenario: &Scenario) -> Option<String> {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    let Model::Acoustic(acoustic) = scenario.model() else {
        return None;
    };
    let width = grid.absorb_width();
    let open = grid.rank() > 1 && (0..grid.rank()).all(|axis| grid.edges()[axis] == Edge::Absorb);
    if scenario.solver().method != "fdtd" || !open || !(1..WIDE).contains(&width) || !medium.has(Sets::Speed) {
        return None;
    }
    let domain = Domain::new(grid);
    let [first, end] = domain.bounds();
    let nx = grid.size()[0];
    let (mut speeds, mut walls) = (vec![0.0; nx], vec![false; nx]);
    // The slowest and the fastest site of either border along each axis.
    let mut extremes = [[[f64::INFINITY, 0.0f64]; 2]; 3];
    for (j, k) in (first[2]..end[2]).flat_map(|k| (first[1]..end[1]).map(move |j| (j, k))) {
        let across: Vec<(usize, usize)> = [(1, j), (2, k)]
            .into_iter()
            .take(grid.rank() - 1)
            .flat_map(|(axis, at)| [(axis, 0, at == first[axis]), (axis, 1, at + 1 == end[axis])])
            .filter_map(|(axis, side, beside)| beside.then_some((axis, side)))
            .collect();
        let mut read = |x: std::ops::Range<usize>, borders: &[(usize, usize)]| {
            let (speeds, walls) = (&mut speeds[..x.len()], &mut walls[..x.len()]);
            medium.speed_row(acoustic.speed, j, k, x.clone(), speeds);
            walls.fill(false);
            medium.wall_row(j, k, x, walls);
            for (speed, _) in speeds.iter().zip(walls.iter()).filter(|(_, wall)| !**wall) {
                for (axis, side) in borders {
                    let [slowest, fastest] = &mut extremes[*axis][*side];
                    *slowest = slowest.min(*speed);
                    *fastest = fastest.max(*speed);
                }
            }
        };
        read(first[0]..first[0] + 1, &[(0, 0)]);
        read(end[0] - 1..end[0], &[(0, 1)]);
        if !across.is_empty() {
            read(first[0]..end[0], &across);
        }
    }
    let ratios = extremes.iter().take(grid.rank()).map(|borders| {
        let uneven = |[slowest, fastest]: &[f64; 2]| if slowest < fastest { fastest / slowest } else { 1.0 };
        borders.iter().map(uneven).fold(1.0, f64::max)
    });
    // A medium that changes along one axis alone is the same all along a guide.
    let least = ratios.clone().fold(f64::INFINITY, f64::min);
    let ratio = ratios.fold(1.0, f64::max);
    (least > MOST_UNEVEN).then(|| {
        format!(
            "The speed of sound is uneven by a factor of {} along absorbing layers of {width} sites: so thin ones may give a wave energy that they should take, and a run that grows ends with an error. \
             Let the speed be the same along the inner border of the layers, or use a grid.absorb_width of {WIDE} or more in a grid as much larger.",
            figure(ratio)
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::solver;

    /// What counts is the border of the layers: what is even there, or stands inside, is not told, nor what the layers do not show.
    #[test]
    fn uneven_borders_of_thin_layers_are_told() {
        let told = |edges: &str, width: usize, layer: &str| {
            let text = format!(
                "format = 1\n[grid]\nsize = [60, 50]\nspacing = 1.0\nedges = {edges}\nabsorb_width = {width}\n[acoustic]\n[solver]\nmethod = \"fdtd\"\n[[pulse]]\ncenter = [30.0, 25.0]\nwidth = 3.0\n\
                 [[layer]]\nsets = \"speed\"\n{layer}\n"
            );
            let (_, scenario) = solver::read_scene_text(&text, None, &[]).unwrap();
            super::told(&scenario).unwrap_or_default()
        };
        let uneven = "value = \"343*8^(random(floor(x/3), floor(y/3), 1) - 0.5)\"";
        let inside = "shape = \"box\"\nmin = [12.0, 12.0]\nmax = [40.0, 40.0]\nvalue = 1500.0";
        let hidden = "shape = \"box\"\nmin = [0.0, 0.0]\nmax = [7.0, 20.0]\nvalue = 1500.0";
        let mild = "value = \"343 + 50*sin(x) + 50*sin(y)\"";
        let shown = told("\"absorb\"", 8, uneven);
        assert!(
            shown.contains("along absorbing layers of 8 sites") && shown.contains("grid.absorb_width of 12 or more"),
            "{shown}"
        );
        for (edges, width, layer) in [
            ("\"absorb\"", 12, uneven),
            ("[\"absorb\", \"wall\"]", 8, uneven),
            ("\"wall\"", 8, uneven),
            ("\"absorb\"", 8, inside),
            ("\"absorb\"", 8, hidden),
            ("\"absorb\"", 8, mild),
            ("\"absorb\"", 8, "value = \"if(y > 20, 343, 1500)\""),
        ] {
            assert_eq!(told(edges, width, layer), "", "{edges} {width} {layer}");
        }
    }
}

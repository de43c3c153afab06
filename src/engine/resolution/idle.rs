//! Layers that change nothing.

use crate::grid::{Edge, Grid};
use crate::physics::{Layer, Sets};
use crate::scene::Scenario;
use crate::solver::acoustic::medium::read_walls;

/// Layers that have no effect, each with a remedy: those that contain no site, and impedances that no rigid face takes.
pub fn layers(scenario: &Scenario) -> Vec<String> {
    let grid = scenario.grid();
    let layers = scenario.medium().layers();
    let impedes = layers.iter().any(|layer| layer.sets == Sets::Impedance);
    let walls = if impedes { read_walls(scenario) } else { Vec::new() };
    let told = |(number, layer): (usize, &Layer)| {
        let what = layer.sets.as_str();
        if !layer.shape.holds_a_site(grid) {
            return Some(format!(
                "layer.{number} ({what}) holds no site of the grid and changes nothing: sites are {} apart; enlarge it, or move it into the grid",
                grid.spacing()
            ));
        }
        (layer.sets == Sets::Impedance && !has_a_face(layer, grid, &walls)).then(|| {
            format!(
                "layer.{number} ({what}) holds no site behind a face of a wall, and none before a rigid edge of the grid: it changes nothing; give it the shape of a wall, or \"everywhere\" for the edges"
            )
        })
    };
    layers.iter().enumerate().filter_map(told).collect()
}

/// Whether a rigid face takes its impedance from a site of the layer: a site of a wall beside one without, or one without at a rigid edge. `walls` has one value a site, or none where there are no walls.
fn has_a_face(layer: &Layer, grid: &Grid, walls: &[bool]) -> bool {
    let is_wall = |site: [usize; 3]| walls.get(grid.index(site)).copied().unwrap_or(false);
    let is_face = |site: [usize; 3], axis: usize, up: bool| {
        let (at, sites) = (site[axis], grid.size()[axis]);
        let ends = if up { at + 1 == sites } else { at == 0 };
        if ends && !grid.is_periodic(axis) {
            return !is_wall(site) && grid.edges()[axis] == Edge::Wall;
        }
        let mut beside = site;
        beside[axis] = if up { (at + 1) % sites } else { (at + sites - 1) % sites };
        is_wall(site) && !is_wall(beside)
    };
    let faces = |site: [usize; 3]| (0..grid.rank()).any(|axis| is_face(site, axis, false) || is_face(site, axis, true));
    let [x, y, z] = layer.shape.sites(grid);
    let mut rows = z.flat_map(|k| y.clone().map(move |j| [j, k]));
    rows.any(|[j, k]| {
        let mut sites = x.clone().map(|i| [i, j, k]);
        sites.any(|site| faces(site) && layer.shape.contains(site, grid))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver;

    #[test]
    fn layers_between_sites_are_told() {
        let told = |shape: &str| {
            let text = format!(
                "format = 1\n[grid]\nsize = [64, 32]\nspacing = 0.5\n[quantum]\n[[packet]]\ncenter = [8.0, 8.0]\nwidth = 2.0\n[[layer]]\nsets = \"wall\"\n{shape}\n"
            );
            let (_, scenario) = solver::read_scene_text(&text, None, &[]).unwrap();
            layers(&scenario).join("\n")
        };
        for shape in [
            "shape = \"box\"\nmin = [200.0, 0.0]\nmax = [210.0, 9.0]",
            "shape = \"box\"\nmin = [20.1, 0.0]\nmax = [20.4, 9.0]",
            "shape = \"disk\"\ncenter = [20.25, 4.25]\nradius = 0.3",
        ] {
            assert!(told(shape).starts_with("layer.0 (wall) holds no site"), "{shape}");
        }
        for shape in [
            "shape = \"box\"\nmin = [20.1, 0.0]\nmax = [20.5, 9.0]",
            "shape = \"ring\"\ncenter = [20.0, 8.0]\ninner = 2.0\nouter = 3.0",
        ] {
            assert_eq!(told(shape), "", "{shape}");
        }
    }

    /// The room is 60 by 50 sites with a rigid edge along x alone, and a wall of 10 by 10 sites in its middle.
    #[test]
    fn impedances_that_no_face_takes_are_told() {
        let told = |edges: &str, wall: &str, shape: &str| {
            let text = format!(
                "format = 1\n[grid]\nsize = [60, 50]\nspacing = 1.0\nedges = {edges}\n[acoustic]\n[solver]\nmethod = \"fdtd\"\n[[pulse]]\ncenter = [10.0, 10.0]\nwidth = 3.0\n\
                 {wall}[[layer]]\nsets = \"impedance\"\nvalue = 5.0\n{shape}\n"
            );
            let (_, scenario) = solver::read_scene_text(&text, None, &[]).unwrap();
            layers(&scenario).join("\n")
        };
        let wall = "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [25.0, 20.0]\nmax = [34.0, 29.0]\n";
        let square = |min: [f64; 2], max: [f64; 2]| format!("shape = \"box\"\nmin = {min:?}\nmax = {max:?}");
        let rigid = "[\"wall\", \"periodic\"]";
        let all = String::new();
        for (edges, wall, shape) in [
            ("\"periodic\"", "", &all),
            (rigid, "", &square([1.0, 0.0], [58.0, 49.0])),
            // Before the wall, and in it behind its outermost sites.
            (rigid, wall, &square([5.0, 5.0], [24.0, 40.0])),
            (rigid, wall, &square([26.0, 21.0], [33.0, 28.0])),
        ] {
            let told = told(edges, wall, shape);
            assert!(
                told.contains("(impedance) holds no site behind a face"),
                "{edges} {shape}: {told}"
            );
        }
        for (edges, wall, shape) in [
            (rigid, "", &all),
            (rigid, "", &square([59.0, 10.0], [59.0, 11.0])),
            ("\"periodic\"", wall, &all),
            ("\"periodic\"", wall, &square([26.0, 21.0], [34.0, 28.0])),
        ] {
            assert_eq!(told(edges, wall, shape), "", "{edges} {shape}");
        }
    }
}

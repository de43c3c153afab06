//! Layers that change nothing.

use crate::grid::{Edge, Grid};
use crate::physics::{Layer, Sets};
use crate::scene::Scenario;
use crate::solver::acoustic::medium::read_walls;

/// Layers that have no effect, each with a remedy: those that contain no site, and impedances that no rigid face takes.
pub fn layers(scenario: &Scenario) -> Vec<String> {
    let grid = scenario.grid();
    let layers = scenario.medium().layers();
    let faces = Faces::of(scenario);
    let told = |(number, layer): (usize, &Layer)| {
        let what = layer.sets.as_str();
        if !layer.shape.holds_a_site(grid) {
            return Some(format!(
                "layer.{number} ({what}) holds no site of the grid and changes nothing: sites are {} apart; enlarge it, or move it into the grid",
                grid.spacing()
            ));
        }
        if layer.sets != Sets::Impedance || faces.any(number, true) {
            return None;
        }
        Some(if faces.any(number, false) {
            format!(
                "layer.{number} ({what}) changes nothing: later layers set the impedance of all faces that it holds; remove it, or let it come after them"
            )
        } else {
            format!(
                "layer.{number} ({what}) holds no site behind a face of a wall, and none before a rigid edge of the grid: it changes nothing; give it the shape of a wall, or \"everywhere\" for the edges"
            )
        })
    };
    layers.iter().enumerate().filter_map(told).collect()
}

/// The layers of impedance that a rigid face takes its value from, in their order.
pub fn impedances(scenario: &Scenario) -> Vec<&Layer> {
    let faces = Faces::of(scenario);
    let all = scenario.medium().layers().iter().enumerate();
    all.filter(|(number, layer)| layer.sets == Sets::Impedance && faces.any(*number, true))
        .map(|(_, layer)| layer)
        .collect()
}

/// The rigid faces of a scene, which take an impedance from a site.
struct Faces<'a> {
    grid: &'a Grid,
    layers: &'a [Layer],
    /// One value a site, or none where there are no walls, or no impedance.
    walls: Vec<bool>,
}

impl<'a> Faces<'a> {
    fn of(scenario: &'a Scenario) -> Self {
        let impedes = scenario.medium().has(Sets::Impedance);
        Self {
            grid: scenario.grid(),
            layers: scenario.medium().layers(),
            walls: if impedes { read_walls(scenario) } else { Vec::new() },
        }
    }

    /// Whether a rigid face takes its impedance from a site of a layer; with `last`, from one where no later layer sets another.
    fn any(&self, number: usize, last: bool) -> bool {
        let (shape, grid) = (&self.layers[number].shape, self.grid);
        let later: Vec<&Layer> = (self.layers[number + 1..].iter())
            .filter(|layer| last && layer.sets == Sets::Impedance)
            .collect();
        let counts = |site: [usize; 3]| {
            self.is_face(site)
                && shape.contains(site, grid)
                && !later.iter().any(|layer| layer.shape.contains(site, grid))
        };
        let [x, y, z] = shape.sites(grid);
        let mut rows = z.flat_map(|k| y.clone().map(move |j| [j, k]));
        rows.any(|[j, k]| {
            let mut sites = x.clone().map(|i| [i, j, k]);
            sites.any(counts)
        })
    }

    /// Whether a face takes its impedance from a site: from one of a wall beside one without, or from one without at a rigid edge.
    fn is_face(&self, site: [usize; 3]) -> bool {
        let grid = self.grid;
        let is_wall = |site: [usize; 3]| self.walls.get(grid.index(site)).copied().unwrap_or(false);
        let towards = |axis: usize, up: bool| {
            let (at, sites) = (site[axis], grid.size()[axis]);
            let ends = if up { at + 1 == sites } else { at == 0 };
            if ends && !grid.is_periodic(axis) {
                return !is_wall(site) && grid.edges()[axis] == Edge::Wall;
            }
            let mut beside = site;
            beside[axis] = if up { (at + 1) % sites } else { (at + sites - 1) % sites };
            is_wall(site) && !is_wall(beside)
        };
        (0..grid.rank()).any(|axis| towards(axis, false) || towards(axis, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::Value;
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

    /// What no face takes since a later layer covers it is told; what a later layer leaves a face of is not.
    #[test]
    fn impedances_under_others_are_told() {
        let text = |second: &str| {
            format!(
                "format = 1\n[grid]\nsize = [60, 50]\nspacing = 1.0\n[acoustic]\n[solver]\nmethod = \"fdtd\"\n[[pulse]]\ncenter = [10.0, 10.0]\nwidth = 3.0\n\
                 [[layer]]\nsets = \"impedance\"\nvalue = 3.0\nshape = \"everywhere\"\n[[layer]]\nsets = \"impedance\"\nvalue = 5.0\n{second}\n"
            )
        };
        let read = |second: &str| solver::read_scene_text(&text(second), None, &[]).unwrap().1;
        let all = read("shape = \"everywhere\"");
        let told = layers(&all).join("\n");
        assert!(
            told.starts_with("layer.0 (impedance) changes nothing: later layers set") && !told.contains("layer.1"),
            "{told}"
        );
        let values = |scenario: &Scenario| {
            impedances(scenario)
                .iter()
                .map(|layer| layer.value.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(values(&all), [Value::Number(5.0)]);
        let part = read("shape = \"box\"\nmin = [0.0, 0.0]\nmax = [59.0, 48.0]");
        assert_eq!(layers(&part).join("\n"), "");
        assert_eq!(values(&part), [Value::Number(3.0), Value::Number(5.0)]);
    }
}

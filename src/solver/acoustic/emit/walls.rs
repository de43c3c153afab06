//! Walls of the whole grid, for sources where a window of it is stepped.

use crate::grid::Grid;
use crate::physics::{Medium, Sets};
use crate::solver::acoustic::medium::marked;
use crate::solver::acoustic::outward::Domain;

/// Sites of a grid whose walls are all read at once, a byte each: sources that move ask for thousands of them at every step. Those of larger grids are read when they are asked for.
const MOST_MARKED: usize = 1 << 26;

/// Where walls of a scene stand.
pub(super) struct Walls {
    medium: Medium,
    domain: Domain,
    /// Of every site, x fastest; empty where the grid is larger than [`MOST_MARKED`].
    marks: Vec<bool>,
}

impl Walls {
    /// Those of the grid that `window` is a window of; `None` where there are none.
    pub(super) fn around(window: &Grid, medium: &Medium) -> Option<Self> {
        medium
            .has(Sets::Wall)
            .then(|| Self::of(medium.over(window.whole()), MOST_MARKED))
    }

    fn of(medium: Medium, most: usize) -> Self {
        Self {
            domain: Domain::new(medium.grid()),
            marks: if medium.grid().sites() <= most {
                marked(&medium)
            } else {
                Vec::new()
            },
            medium,
        }
    }

    /// Whether one stands at a site of the whole grid.
    pub(super) fn at(&self, [i, j, k]: [usize; 3]) -> bool {
        if let Some(mark) = self.marks.get(self.medium.grid().index([i, j, k])) {
            return *mark;
        }
        let ([j, k], i) = (self.domain.row(j, k), self.domain.at(0, i));
        let mut wall = [false];
        self.medium.wall_row(j, k, i..i + 1, &mut wall);
        wall[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::read_scene_text;

    /// Also in absorbing layers, into which walls go on.
    #[test]
    fn walls_read_at_once_are_those_of_single_sites() {
        let text = "format = 1\n[grid]\nsize = [12, 9]\nspacing = 1.0\nedges = [\"absorb\", \"wall\"]\nabsorb_width = 3\n[acoustic]\n[[pulse]]\ncenter = [5.0, 1.0]\nwidth = 1.0\n\
                    [[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [3.0, 5.0]\nradius = 2.0\n";
        let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
        let window = scenario.window(1, 2, 4);
        let once = Walls::around(window.grid(), window.medium()).unwrap();
        let single = Walls::of(scenario.medium().over(scenario.grid().clone()), 0);
        assert!(single.marks.is_empty() && once.marks.len() == 108);
        for n in 0..108 {
            let site = scenario.grid().site(n);
            assert_eq!(once.at(site), single.at(site), "{site:?}");
        }
        assert!(once.at([0, 5, 0]) && !once.at([0, 0, 0]));
    }
}

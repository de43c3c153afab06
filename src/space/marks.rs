//! Where sources, transducers and detectors stand in pictures with depth, in boxes and over reliefs. The window and the exports draw the same.

use super::{Mode, Stage, Vec3, dot, scaled, sum, unit};
use crate::grid::Grid;
use crate::physics::source::Place as Stands;
use crate::physics::{Region, Source};

/// A place in a picture: x to the right, y downwards.
pub type Place = [f32; 2];

/// Most transducers that are marked.
pub const MOST: usize = 512;

/// Of transducers, those that are marked: all, or every second, third, … of many.
pub fn some(sites: &[usize]) -> impl Iterator<Item = usize> {
    sites.iter().copied().step_by(sites.len().div_ceil(MOST).max(1))
}

/// What marks one source, or one transducer.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A source, or an element of one.
    Source(Place),
    /// A line of sources: the parts of it that are seen, each as places along it.
    Line(Vec<Vec<Place>>),
    /// A transducer of a mirror.
    Transducer(Place),
}

/// Pieces of a line that may be bent or hidden in part.
const PIECES: u32 = 32;

/// Marks of sources where they stand at time t, and of the transducers of a mirror, by flat index. `place` gives places in a picture for lengths where these are seen.
pub fn in_depth(
    ((sources, t), sites, grid): ((&[Source], f64), &[usize], &Grid),
    place: impl Fn([f64; 3]) -> Option<Place>,
) -> Vec<Mark> {
    let mut marks = Vec::new();
    for source in sources {
        let now = |at: [f64; 3]| source.moved(at, t, grid);
        match &source.place {
            Stands::Points(elements) => {
                let seen = elements.iter().filter_map(|element| place(now(element.at)));
                marks.extend(seen.map(Mark::Source));
            }
            Stands::Line { from, to } => marks.push(Mark::Line(parts([now(*from), now(*to)], &place))),
            Stands::Disk { .. } => {}
        }
    }
    let lengths = |n: usize| n as f64 * grid.spacing();
    let transducers = some(sites).filter_map(|site| place(grid.site(site).map(lengths)));
    marks.extend(transducers.map(Mark::Transducer));
    marks
}

/// What is seen of where a detector looks: a place alone, or lines along it. Of a box these are its edges, or, where planes at the lengths `slices` are shown, those of its sections.
/// Nothing where it looks everywhere.
pub fn of_detector(
    region: &Region,
    grid: &Grid,
    slices: Option<[f64; 3]>,
    place: impl Fn([f64; 3]) -> Option<Place>,
) -> Vec<Vec<Place>> {
    match region {
        Region::Everywhere => Vec::new(),
        Region::Point(at) => place(*at).map(|at| vec![at]).into_iter().collect(),
        Region::Line { from, to } => parts([*from, *to], &place),
        Region::Box { min, max } => {
            let half = 0.5 * grid.spacing();
            // Site n covers half a spacing on either side; what a region names beyond the grid holds no site.
            let within = |at: f64, axis: usize| at.clamp(-half, grid.size()[axis] as f64 * grid.spacing() - half);
            let low = std::array::from_fn(|axis| within(min[axis] - half, axis));
            let high = std::array::from_fn(|axis| within(max[axis] + half, axis));
            let edges = match slices {
                Some(slices) => (0..3)
                    .filter(|axis| (low[*axis]..=high[*axis]).contains(&slices[*axis]))
                    .flat_map(|axis| {
                        let (mut low, mut high) = (low, high);
                        (low[axis], high[axis]) = (slices[axis], slices[axis]);
                        outline(low, high, [(axis + 1) % 3, (axis + 2) % 3])
                    })
                    .collect(),
                None if grid.rank() < 3 => {
                    let flat = |at: [f64; 3]| [at[0], at[1], 0.0];
                    outline(flat(low), flat(high), [0, 1]).to_vec()
                }
                None => edges(low, high),
            };
            edges.into_iter().flat_map(|ends| parts(ends, &place)).collect()
        }
    }
}

/// The four sides of a rectangle along two axes, of which the corners have the third coordinate in common.
fn outline(low: [f64; 3], high: [f64; 3], [u, v]: [usize; 2]) -> [[[f64; 3]; 2]; 4] {
    let corner = |upper: [bool; 2]| {
        let mut at = low;
        at[u] = if upper[0] { high[u] } else { low[u] };
        at[v] = if upper[1] { high[v] } else { low[v] };
        at
    };
    let corners = [[false, false], [true, false], [true, true], [false, true]].map(corner);
    std::array::from_fn(|n| [corners[n], corners[(n + 1) % 4]])
}

/// The twelve edges of a box.
fn edges(low: [f64; 3], high: [f64; 3]) -> Vec<[[f64; 3]; 2]> {
    let corner = |n: usize| std::array::from_fn(|axis| if n >> axis & 1 == 1 { high[axis] } else { low[axis] });
    let along = |axis: usize| {
        (0..8)
            .filter(move |n| n >> axis & 1 == 0)
            .map(move |n| [n, n | 1 << axis])
    };
    (0..3).flat_map(along).map(|ends| ends.map(corner)).collect()
}

/// The parts of a straight line between two lengths that are seen.
fn parts([from, to]: [[f64; 3]; 2], place: &impl Fn([f64; 3]) -> Option<Place>) -> Vec<Vec<Place>> {
    let mut parts: Vec<Vec<Place>> = vec![Vec::new()];
    for n in 0..=PIECES {
        let part = f64::from(n) / f64::from(PIECES);
        let at = std::array::from_fn(|axis| from[axis] + part * (to[axis] - from[axis]));
        match place(at) {
            Some(at) => {
                if let Some(last) = parts.last_mut() {
                    last.push(at);
                }
            }
            None => parts.push(Vec::new()),
        }
    }
    parts.retain(|part| part.len() > 1);
    parts
}

/// Where a length of a box stands in the picture of a stage; of slices only what stands in one of them and is not behind another.
pub fn place_in_box(stage: &Stage, at: [f64; 3]) -> Option<Place> {
    let world = stage.shape.world(at);
    let world = match stage.mode {
        Mode::Volume => world,
        Mode::Slices => on_slices(stage, world)?,
    };
    stage.camera.project(world)
}

/// A place of the world on the slice whose sites are nearest to it, if there is one and it is seen.
fn on_slices(stage: &Stage, world: Vec3) -> Option<Vec3> {
    // Rounding in single precision of a picture a few units away.
    const ROUNDING: f32 = 1e-4;
    let half = (0.5 * stage.shape.spacing / stage.shape.unit()) as f32 + ROUNDING;
    let is_near = |axis: usize| (world[axis] - stage.slices[axis]).abs() <= half;
    let on: Vec3 = std::array::from_fn(|axis| if is_near(axis) { stage.slices[axis] } else { world[axis] });
    let away = |at: Vec3| sum(at, scaled(stage.camera.eye, -1.0));
    let distance = |at: Vec3| dot(away(at), away(at)).sqrt();
    let first = stage.slice(unit(away(on)));
    let hidden = first.is_some_and(|(_, met)| distance(met) < distance(on) - 10.0 * ROUNDING);
    ((0..3).any(is_near) && !hidden).then_some(on)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen along z: every length of a box or plane is at its x and y.
    #[expect(clippy::unnecessary_wraps, reason = "as the views project")]
    fn from_above([x, y, _]: [f64; 3]) -> Option<Place> {
        Some([x as f32, y as f32])
    }

    #[test]
    fn detectors_are_outlined_by_the_cells_of_their_sites() {
        let region = Region::Box {
            min: [2.0, 3.0, 1.0],
            max: [4.0, 9.0, 5.0],
        };
        let plane = of_detector(&region, &Grid::new(&[20, 8], 1.0), None, from_above);
        assert_eq!(plane.len(), 4);
        // The grid ends half a spacing after its last site.
        let ends: Vec<[Place; 2]> = plane.iter().map(|side| [side[0], side[side.len() - 1]]).collect();
        assert_eq!(ends[0], [[1.5, 2.5], [4.5, 2.5]]);
        assert_eq!(ends[2], [[4.5, 7.5], [1.5, 7.5]]);
        let space = Grid::new(&[20, 20, 20], 1.0);
        assert_eq!(of_detector(&region, &space, None, from_above).len(), 12);
        // Of three planes two cut it.
        let cut = of_detector(&region, &space, Some([3.0, 15.0, 5.0]), from_above);
        assert_eq!(cut.len(), 8);
        assert!(of_detector(&Region::Everywhere, &space, None, from_above).is_empty());
        let point = of_detector(&Region::Point([1.0, 2.0, 3.0]), &space, None, from_above);
        assert_eq!(point, [vec![[1.0, 2.0]]]);
    }

    /// A line that is hidden between two of its places is two lines.
    #[test]
    fn lines_are_seen_in_parts() {
        let place = |at: [f64; 3]| from_above(at).filter(|[x, _]| !(4.0..6.0).contains(x));
        let line = Region::Line {
            from: [0.0, 1.0, 0.0],
            to: [10.0, 1.0, 0.0],
        };
        let seen = of_detector(&line, &Grid::new(&[20, 8], 1.0), None, place);
        assert_eq!(seen.len(), 2);
        assert!(seen[0].iter().all(|[x, _]| *x < 4.0) && seen[1].iter().all(|[x, _]| *x >= 6.0));
    }
}

//! What flows over a plane, as arrows or as lines along it: the probability current of ψ, the mean intensity of sound.
//!
//! Window and exports draw the same shapes. Places are in sites; site n covers n to n + 1, as in pictures.
//! Arrows are centred where they are read, means over their cells, with lengths as the square root of the flow, so that weak flows show beside strong ones. Lines are spread evenly: each begins where
//! the flow is strongest among the cells that no line has reached, and ends before another one (after B. Jobard, W. Lefer, Visualization in Scientific Computing '97, 43–55,
//! doi 10.1007/978-3-7091-6876-9_5).

/// Most texels along an axis.
pub const MOST_TEXELS: usize = 512;
/// Flows weaker than this part of the strongest one in view are not drawn.
const LEAST: f32 = 0.01;
/// Most cells of arrows or lines along an axis.
const MOST_CELLS: usize = 200;

/// A flow over the whole plane of a grid.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FlowMap {
    /// Texels along x and y.
    pub size: [usize; 2],
    /// Sites that a texel covers along each axis (along x alone where rows are components); the last ones may cover fewer.
    pub reduction: usize,
    /// Whether rows are components of ψ: between them there is nothing, and each has arrows and lines of its own.
    pub components: bool,
    /// Means over the texels' sites along x and y, x fastest.
    pub values: Vec<[f32; 2]>,
}

/// A line through places, with its head at the last; that of a streamline stands in its middle.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    /// The places.
    pub points: Vec<[f64; 2]>,
    /// Where the head stands, and where it points to: a direction of length 1.
    pub head: ([f64; 2], [f64; 2]),
}

/// The middle of a square of sites, and the flow there.
type Cell = ([f64; 2], [f32; 2]);

impl FlowMap {
    /// The map of a plane of sites; `row(j, out)` writes the flow at the sites of row j.
    #[must_use]
    pub fn fill(sites: [usize; 2], row: impl Fn(usize, &mut [[f64; 2]]) + Sync) -> Self {
        use rayon::prelude::*;
        let n = sites[0].max(sites[1]).div_ceil(MOST_TEXELS).max(1);
        let size = sites.map(|count| count.div_ceil(n));
        let mut values = vec![[0.0; 2]; size[0] * size[1]];
        values.par_chunks_mut(size[0]).enumerate().for_each_init(
            || vec![[0.0; 2]; sites[0]],
            |line, (texel, out)| {
                let rows = texel * n..((texel + 1) * n).min(sites[1]);
                let mut sums = vec![[0.0; 2]; out.len()];
                for j in rows.clone() {
                    row(j, line);
                    for (i, flow) in line.iter().enumerate() {
                        sums[i / n][0] += flow[0];
                        sums[i / n][1] += flow[1];
                    }
                }
                for (i, (out, sum)) in out.iter_mut().zip(sums).enumerate() {
                    let count = (n.min(sites[0] - i * n) * rows.len()) as f64;
                    *out = sum.map(|sum| (sum / count) as f32);
                }
            },
        );
        Self {
            size,
            reduction: n,
            components: false,
            values,
        }
    }

    /// The map of components along a line of sites: `row(j, out)` writes the flow of component j.
    #[must_use]
    pub fn of_components([sites, components]: [usize; 2], row: impl Fn(usize, &mut [[f64; 2]]) + Sync) -> Self {
        let mut all = Self {
            size: [0, components],
            reduction: 1,
            components: true,
            values: Vec::new(),
        };
        for j in 0..components {
            let own = Self::fill([sites, 1], |_, out| row(j, out));
            (all.size[0], all.reduction) = (own.size[0], own.reduction);
            all.values.extend(own.values);
        }
        all
    }

    /// Sites that a texel covers along x and y.
    fn covered(&self) -> [f64; 2] {
        let along = self.reduction as f64;
        [along, if self.components { 1.0 } else { along }]
    }

    /// The sides of the cells of arrows and lines that are to be `step` sites apart.
    fn sides(&self, step: f64) -> [f64; 2] {
        [step, if self.components { 1.0 } else { step }]
    }

    fn texel(&self, [i, j]: [usize; 2]) -> [f32; 2] {
        self.values[i + self.size[0] * j]
    }

    /// The flow at a place, linear between the middles of texels; of components that of the one whose row it is.
    pub fn at(&self, place: [f64; 2]) -> [f32; 2] {
        let covered = self.covered();
        let mut low = [0; 2];
        let mut part = [0.0_f32; 2];
        for axis in 0..2 {
            let mut at = (place[axis] / covered[axis] - 0.5).clamp(0.0, self.size[axis].saturating_sub(1) as f64);
            if self.components && axis == 1 {
                at = at.round();
            }
            low[axis] = (at.floor() as usize).min(self.size[axis].saturating_sub(2));
            part[axis] = (at - low[axis] as f64) as f32;
        }
        let high: [usize; 2] = std::array::from_fn(|axis| (low[axis] + 1).min(self.size[axis] - 1));
        let corners = [
            (self.texel(low), (1.0 - part[0]) * (1.0 - part[1])),
            (self.texel([high[0], low[1]]), part[0] * (1.0 - part[1])),
            (self.texel([low[0], high[1]]), (1.0 - part[0]) * part[1]),
            (self.texel(high), part[0] * part[1]),
        ];
        std::array::from_fn(|axis| corners.iter().map(|(flow, weight)| flow[axis] * weight).sum())
    }

    /// The mean over a rectangle around a place.
    fn mean(&self, [x, y]: [f64; 2], sides: [f64; 2]) -> [f32; 2] {
        let covered = self.covered();
        let count = [0, 1].map(|axis| ((sides[axis] / covered[axis]).ceil() as usize).clamp(1, 8));
        let all = count[0] * count[1];
        let mut sum = [0.0; 2];
        for n in 0..all {
            let off = |n: usize, axis: usize| sides[axis] * ((n as f64 + 0.5) / count[axis] as f64 - 0.5);
            let flow = self.at([x + off(n % count[0], 0), y + off(n / count[0], 1)]);
            sum[0] += flow[0];
            sum[1] += flow[1];
        }
        sum.map(|sum| sum / all as f32)
    }

    /// The middles of squares of `step` sites that cover what is seen, with the flow of each; the same squares wherever the view stands. Of components each row has cells of its own.
    fn cells(&self, [from, to]: [[f64; 2]; 2], step: f64) -> (Vec<Cell>, [usize; 2]) {
        let (covered, sides) = (self.covered(), self.sides(step));
        let whole = [0, 1].map(|axis| self.size[axis] as f64 * covered[axis]);
        let ends = |axis: usize| {
            let first = (from[axis].max(0.0) / sides[axis]).floor();
            let last = (to[axis].min(whole[axis]) / sides[axis]).ceil();
            (first, ((last - first).max(0.0) as usize).min(MOST_CELLS))
        };
        let ((left, across), (low, up)) = (ends(0), ends(1));
        let places = (0..across * up).map(|n| {
            let place = [n % across, n / across];
            [
                (left + place[0] as f64 + 0.5) * sides[0],
                (low + place[1] as f64 + 0.5) * sides[1],
            ]
        });
        (places.map(|at| (at, self.mean(at, sides))).collect(), [across, up])
    }

    /// Arrows in what is seen (two corners), one in every square of `step` sites.
    pub fn arrows(&self, seen: [[f64; 2]; 2], step: f64) -> Vec<Stroke> {
        if self.values.is_empty() || step.is_nan() || step <= 0.0 {
            return Vec::new();
        }
        let (cells, _) = self.cells(seen, step);
        let strongest = strongest(&cells);
        let drawn = cells.into_iter().filter_map(|(at, flow)| {
            let size = length(flow);
            if size < LEAST * strongest || size == 0.0 {
                return None;
            }
            let along = flow.map(|part| f64::from(part / size));
            let half = 0.45 * step * f64::from(size / strongest).sqrt();
            let end = |sign: f64| std::array::from_fn(|axis| at[axis] + sign * half * along[axis]);
            Some(Stroke {
                points: vec![end(-1.0), end(1.0)],
                head: (end(1.0), along),
            })
        });
        drawn.collect()
    }

    /// Lines along the flow in what is seen (two corners), about `step` sites apart.
    pub fn streamlines(&self, seen: [[f64; 2]; 2], step: f64) -> Vec<Stroke> {
        if self.values.is_empty() || step.is_nan() || step <= 0.0 {
            return Vec::new();
        }
        let (cells, count) = self.cells(seen, step);
        let strongest = strongest(&cells);
        let Some((first, _)) = cells.first().filter(|_| strongest > 0.0) else {
            return Vec::new();
        };
        let sides = self.sides(step);
        let corner: [f64; 2] = std::array::from_fn(|axis| first[axis] - 0.5 * sides[axis]);
        let cell_of = |at: [f64; 2]| -> Option<usize> {
            let place: [f64; 2] = std::array::from_fn(|axis| ((at[axis] - corner[axis]) / sides[axis]).floor());
            let inside = (0..2).all(|axis| place[axis] >= 0.0 && place[axis] < count[axis] as f64);
            inside.then(|| place[0] as usize + count[0] * place[1] as usize)
        };
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.sort_by(|a, b| length(cells[*b].1).total_cmp(&length(cells[*a].1)));
        let mut taken = vec![false; cells.len()];
        let mut lines = Vec::new();
        for seed in order {
            if taken[seed] || length(cells[seed].1) < LEAST * strongest {
                continue;
            }
            let mut points = self.follow(cells[seed].0, -0.25 * step, (&taken, &cell_of), strongest);
            points.reverse();
            points.push(cells[seed].0);
            points.extend(self.follow(cells[seed].0, 0.25 * step, (&taken, &cell_of), strongest));
            let points = smooth(points);
            // A line keeps others out of its cells; one that is too short to be one keeps nothing but its own seed.
            taken[seed] = true;
            if points.len() < 8 {
                continue;
            }
            for cell in points.iter().filter_map(|at| cell_of(*at)) {
                taken[cell] = true;
            }
            lines.push(Stroke {
                head: self.head(&points),
                points,
            });
        }
        lines
    }

    /// The middle of a line by its length, and where the flow goes there.
    fn head(&self, points: &[[f64; 2]]) -> ([f64; 2], [f64; 2]) {
        let half = 0.5 * way(points);
        let mut gone = 0.0;
        let next = points.windows(2).position(|pair| {
            gone += way(pair);
            gone >= half
        });
        let n = next.map_or(0, |n| n + 1);
        let at = points[n];
        let along = self.at(at).map(f64::from);
        let size = along[0].hypot(along[1]);
        if size > 0.0 {
            return (at, along.map(|part| part / size));
        }
        let last = points[n.saturating_sub(1)];
        let size = (at[0] - last[0]).hypot(at[1] - last[1]).max(1e-300);
        (at, std::array::from_fn(|axis| (at[axis] - last[axis]) / size))
    }

    /// Places along the flow from a start, `step` sites apart (against it where that is negative), to where the flow ends, what is seen ends, or another line stands.
    fn follow(
        &self,
        start: [f64; 2],
        step: f64,
        (taken, cell_of): (&[bool], &dyn Fn([f64; 2]) -> Option<usize>),
        strongest: f32,
    ) -> Vec<[f64; 2]> {
        const MOST: usize = 4000;
        let direction = |at: [f64; 2]| {
            let flow = self.at(at);
            let size = length(flow);
            (size >= 0.3 * LEAST * strongest && size > 0.0).then(|| flow.map(|part| f64::from(part / size)))
        };
        let moved = |at: [f64; 2], by: f64, along: [f64; 2]| std::array::from_fn(|axis| at[axis] + by * along[axis]);
        let mut points = Vec::new();
        let mut at = start;
        let mut last: Option<[f64; 2]> = None;
        while points.len() < MOST {
            let Some(first) = direction(at) else { break };
            // Where it turns back within a step it comes from a source, or ends in a drain.
            if last.is_some_and(|last| last[0] * first[0] + last[1] * first[1] < 0.0) {
                points.pop();
                break;
            }
            last = Some(first);
            let Some(along) = direction(moved(at, 0.5 * step, first)) else {
                break;
            };
            // The same within a step, which would go to and fro.
            if along[0] * first[0] + along[1] * first[1] < 0.0 {
                break;
            }
            at = moved(at, step, along);
            let free = cell_of(at).is_some_and(|cell| !taken[cell]);
            // A closed line ends where it began.
            let closes = points.len() > 8 && (at[0] - start[0]).hypot(at[1] - start[1]) < 0.75 * step.abs();
            if !free || closes {
                break;
            }
            points.push(at);
        }
        points
    }
}

/// How long a line is.
fn way(points: &[[f64; 2]]) -> f64 {
    let pieces = points.windows(2);
    pieces
        .map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]))
        .sum()
}

/// The longest part of a line without a turn of more than a right angle: about sources and drains the flow has no direction.
fn smooth(points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let turns = |n: &usize| {
        let [a, b, c] = [points[n - 1], points[*n], points[n + 1]];
        (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]) < 0.0
    };
    let cuts: Vec<usize> = (1..points.len().saturating_sub(1)).filter(turns).collect();
    if cuts.is_empty() {
        return points;
    }
    let firsts = std::iter::once(0).chain(cuts.iter().copied());
    let lasts = cuts.iter().copied().chain(std::iter::once(points.len() - 1));
    let parts = firsts.zip(lasts).map(|(first, last)| &points[first..=last]);
    let longest = parts.max_by(|a, b| way(a).total_cmp(&way(b)));
    longest.map_or_else(Vec::new, <[[f64; 2]]>::to_vec)
}

fn length(flow: [f32; 2]) -> f32 {
    flow[0].hypot(flow[1])
}

fn strongest(cells: &[Cell]) -> f32 {
    cells.iter().map(|(_, flow)| length(*flow)).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rigid rotation about the middle of 40 × 40 sites.
    fn vortex() -> FlowMap {
        FlowMap::fill([40, 40], |j, out| {
            for (i, flow) in out.iter_mut().enumerate() {
                *flow = [20.0 - (j as f64 + 0.5), i as f64 + 0.5 - 20.0];
            }
        })
    }

    #[test]
    fn arrows_point_along_the_flow_with_the_root_of_its_size() {
        let map = vortex();
        let arrows = map.arrows([[0.0; 2], [40.0; 2]], 4.0);
        assert_eq!(arrows.len(), 100, "all of it flows but the middle");
        for arrow in arrows {
            let [from, to] = [arrow.points[0], arrow.points[1]];
            let middle = [0, 1].map(|axis| 0.5 * (from[axis] + to[axis]) - 20.0);
            let along = [to[0] - from[0], to[1] - from[1]];
            let (radius, size) = (middle[0].hypot(middle[1]), along[0].hypot(along[1]));
            assert!((middle[0] * along[0] + middle[1] * along[1]).abs() < 1e-4 * radius * size);
            // The strongest stands in a corner, 18 sites from the middle along each axis.
            let expected = 0.9 * 4.0 * (radius / 18.0_f64.hypot(18.0)).sqrt();
            assert!((size - expected).abs() < 1e-4, "{size} is not {expected}");
        }
    }

    /// Lines of a rotation are circles: each keeps its distance from the middle within a few percent of a step.
    #[test]
    fn streamlines_go_round() {
        let lines = vortex().streamlines([[0.0; 2], [40.0; 2]], 4.0);
        assert!(lines.len() > 3, "{}", lines.len());
        for line in lines {
            let radii: Vec<f64> = (line.points.iter()).map(|[x, y]| (x - 20.0).hypot(y - 20.0)).collect();
            let (least, most) = radii
                .iter()
                .fold((f64::MAX, 0.0_f64), |(a, b), r| (a.min(*r), b.max(*r)));
            assert!(most - least < 0.2, "from {least} to {most}");
        }
    }

    /// On both sides of a line of loudspeakers the energy goes away from it: heads stand in the middle of smooth lines, and point outwards.
    #[test]
    fn heads_of_streamlines_point_along_the_flow() {
        for middle in [30.2, 30.5, 31.0] {
            let map = FlowMap::fill([100, 12], |_, out| {
                for (i, flow) in out.iter_mut().enumerate() {
                    // A little weaker farther away: lines begin at the source.
                    let away = i as f64 + 0.5 - middle;
                    *flow = [away.signum() * (1.0 - 0.001 * away.abs()), 0.0];
                }
            });
            let lines = map.streamlines([[0.0; 2], [100.0, 12.0]], 3.0);
            assert!(lines.len() >= 4, "{}", lines.len());
            for line in &lines {
                let ([x, _], [along, _]) = line.head;
                assert!(along * (x - middle) > 0.0, "{along} at {x}");
                let ends = [line.points[0][0], line.points[line.points.len() - 1][0]];
                assert!((x - 0.5 * (ends[0] + ends[1])).abs() < 1.5, "{x} between {ends:?}");
                assert!(line.points.windows(2).all(|pair| pair[1][0] != pair[0][0]));
                let forth = (line.points.windows(2)).filter(|pair| pair[1][0] > pair[0][0]).count();
                assert!(forth == 0 || forth == line.points.len() - 1, "to and fro: {forth}");
            }
        }
    }

    /// Two components that flow against each other have their own arrows and lines in the middles of their rows, however far apart arrows are and however long the line is.
    #[test]
    fn components_do_not_mix() {
        for sites in [64, 1500] {
            let map = FlowMap::of_components([sites, 2], |j, out| out.fill([[1.0, -0.5][j], 0.0]));
            let seen = [[0.0; 2], [sites as f64, 2.0]];
            for step in [0.3, 1.4, 5.0, 26.0] {
                for strokes in [map.arrows(seen, step), map.streamlines(seen, step)] {
                    for row in [0.5, 1.5] {
                        assert!(strokes.iter().any(|line| line.head.0[1] == row), "{sites} {step}");
                    }
                    for line in strokes {
                        let row = line.points[0][1];
                        assert!(row == 0.5 || row == 1.5, "{row} with a step of {step}");
                        assert!(line.points.iter().all(|at| at[1] == row));
                        assert_eq!(line.head.1, [if row == 0.5 { 1.0 } else { -1.0 }, 0.0]);
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_flows_nothing_is_drawn() {
        let still = FlowMap::fill([30, 20], |_, out| out.fill([0.0; 2]));
        assert!(still.arrows([[0.0; 2], [30.0, 20.0]], 4.0).is_empty());
        assert!(still.streamlines([[0.0; 2], [30.0, 20.0]], 4.0).is_empty());
        assert!(FlowMap::default().arrows([[0.0; 2], [30.0, 20.0]], 4.0).is_empty());
    }

    #[test]
    fn large_planes_are_reduced_to_means() {
        let map = FlowMap::fill([1500, 3], |j, out| out.fill([1.0, j as f64]));
        assert_eq!((map.size, map.reduction), ([500, 1], 3));
        assert!(map.values.iter().all(|flow| *flow == [1.0, 1.0]));
    }
}

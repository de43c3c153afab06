//! Which sites belong to a shape: one by one ([`Shape::contains`]) and as ranges along a row ([`Shape::spans`]), which agree.

use super::Shape;
use super::layer::Samples;
use crate::grid::Grid;
use crate::rounding::truncated;
use std::ops::Range;

/// Where a site stands.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
pub(super) fn position(site: [usize; 3], grid: &Grid) -> [f64; 3] {
    site.map(|number| number as f64 * grid.spacing())
}

/// Distance of two points over the axes that the grid has.
pub(super) fn distance(at: [f64; 3], center: [f64; 3], rank: usize) -> f64 {
    (0..rank).map(|n| (at[n] - center[n]).powi(2)).sum::<f64>().sqrt()
}

/// A site that stands on a limit belongs to the shape, whatever the rounding of i·a.
fn slack(grid: &Grid) -> f64 {
    grid.spacing() * 1e-9
}

/// First and last site + 1 of an axis between two coordinates, one site wider on both sides than needed.
#[expect(clippy::cast_precision_loss, reason = "clamped to the axis")]
fn about(low: f64, high: f64, axis: usize, grid: &Grid) -> Range<usize> {
    let sites = grid.size()[axis] as f64;
    let a = grid.spacing();
    let first = ((low / a).floor() - 1.0).clamp(0.0, sites);
    let last = ((high / a).ceil() + 2.0).clamp(first, sites);
    // NaN becomes 0.
    truncated(first)..truncated(last)
}

/// A range without the sites at its ends that do not belong; a guess that is a little too wide becomes exact.
fn trimmed(mut sites: Range<usize>, belongs: impl Fn(usize) -> bool) -> Range<usize> {
    while !sites.is_empty() && !belongs(sites.start) {
        sites.start += 1;
    }
    while !sites.is_empty() && !belongs(sites.end - 1) {
        sites.end -= 1;
    }
    sites
}

impl Shape {
    /// Whether a site belongs to it. Pictures: where the grey level is not 0.
    pub fn contains(&self, site: [usize; 3], grid: &Grid) -> bool {
        let rank = grid.rank();
        let at = position(site, grid);
        let slack = slack(grid);
        match self {
            Self::Everywhere | Self::Array(_) => true,
            Self::Box { min, max } => (0..rank).all(|n| at[n] >= min[n] - slack && at[n] <= max[n] + slack),
            Self::Disk { center, radius } => distance(at, *center, rank) <= radius + slack,
            Self::Ring { center, inner, outer } => {
                let d = distance(at, *center, rank);
                d >= inner - slack && d <= outer + slack
            }
            Self::Polygon { points } => {
                crossings(points, at[1]).filter(|x| *x > at[0]).count() % 2 == 1
                    || edges(points).any(|edge| from_segment([at[0], at[1]], edge) <= slack)
            }
            Self::Stroke { points, radius } => {
                segments(points).any(|segment| from_segment([at[0], at[1]], segment) <= radius + slack)
            }
            Self::Slits {
                x,
                thickness,
                centers,
                opening,
            } => {
                let behind = centers
                    .iter()
                    .any(|center| (at[1] - center).abs() < opening / 2.0 - slack);
                (at[0] - x).abs() <= thickness / 2.0 + slack && !behind
            }
            Self::Image(samples) => samples.stretched(site, grid) > 0.0,
        }
    }

    /// Pictures and arrays: what the value is multiplied by at a site of the shape; `None` outside, and for other shapes.
    pub(super) fn factor(&self, site: [usize; 3], grid: &Grid) -> Option<f64> {
        match self {
            Self::Image(samples) => Some(samples.stretched(site, grid)).filter(|level| *level > 0.0),
            Self::Array(samples) => samples.values.get(grid.index(site)).copied(),
            _ => None,
        }
    }

    /// Whether its values come from a file.
    pub(super) fn is_sampled(&self) -> bool {
        matches!(self, Self::Image(_) | Self::Array(_))
    }

    /// The point that r in a formula is measured from.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub(super) fn center(&self, grid: &Grid) -> [f64; 3] {
        match self {
            Self::Disk { center, .. } | Self::Ring { center, .. } => *center,
            Self::Box { min, max } => [0, 1, 2].map(|n| f64::midpoint(min[n], max[n])),
            _ => grid.size().map(|n| (n - 1) as f64 * grid.spacing() / 2.0),
        }
    }

    /// Lower and upper corner of a box around it; `None` for shapes without limits.
    fn bounds(&self, grid: &Grid) -> Option<([f64; 3], [f64; 3])> {
        const FAR: f64 = f64::MAX;
        let around = |center: &[f64; 3], radius: f64| {
            let side = |sign: f64| {
                [0, 1, 2].map(|n| {
                    if n < grid.rank() {
                        center[n] + sign * radius
                    } else {
                        sign * FAR
                    }
                })
            };
            (side(-1.0), side(1.0))
        };
        Some(match self {
            Self::Everywhere | Self::Image(_) | Self::Array(_) => return None,
            Self::Box { min, max } => {
                let limit =
                    |corner: &[f64; 3], far: f64| [0, 1, 2].map(|n| if n < grid.rank() { corner[n] } else { far });
                (limit(min, -FAR), limit(max, FAR))
            }
            Self::Disk { center, radius } => around(center, *radius),
            Self::Ring { center, outer, .. } => around(center, *outer),
            Self::Polygon { points } => {
                let least = |n: usize| points.iter().map(|point| point[n]).fold(FAR, f64::min);
                let most = |n: usize| points.iter().map(|point| point[n]).fold(-FAR, f64::max);
                ([least(0), least(1), -FAR], [most(0), most(1), FAR])
            }
            Self::Stroke { points, radius } => {
                let least = |n: usize| points.iter().map(|point| point[n] - radius).fold(FAR, f64::min);
                let most = |n: usize| points.iter().map(|point| point[n] + radius).fold(-FAR, f64::max);
                ([least(0), least(1), -FAR], [most(0), most(1), FAR])
            }
            Self::Slits { x, thickness, .. } => ([x - thickness / 2.0, -FAR, -FAR], [x + thickness / 2.0, FAR, FAR]),
        })
    }

    /// A box of sites outside of which there is none of the shape.
    pub fn sites(&self, grid: &Grid) -> [Range<usize>; 3] {
        let Some((min, max)) = self.bounds(grid) else {
            return grid.size().map(|sites| 0..sites);
        };
        [0, 1, 2].map(|axis| about(min[axis], max[axis], axis, grid))
    }

    /// Whether a site of the grid belongs to it: row by row, and for a picture pixel by pixel.
    pub fn holds_a_site(&self, grid: &Grid) -> bool {
        if let Self::Image(samples) = self {
            return samples.shows(grid);
        }
        let [_, y, mut z] = self.sites(grid);
        if matches!(self, Self::Polygon { .. } | Self::Stroke { .. } | Self::Slits { .. }) {
            // Alike along z.
            z = 0..1;
        }
        let mut spans = Vec::new();
        z.flat_map(|k| y.clone().map(move |j| [j, k])).any(|row| {
            self.spans(grid, row, &mut spans);
            !spans.is_empty()
        })
    }

    /// Appends the ranges of sites along row (j, k) that belong to it. Pictures give the whole row, of which
    /// [`Shape::contains`] holds for a part.
    pub(super) fn spans(&self, grid: &Grid, [j, k]: [usize; 2], spans: &mut Vec<Range<usize>>) {
        let whole = 0..grid.size()[0];
        if self.bounds(grid).is_some_and(|(min, max)| {
            let (at, a) = (position([0, j, k], grid), grid.spacing());
            [1, 2].iter().any(|&n| at[n] < min[n] - a || at[n] > max[n] + a)
        }) {
            return;
        }
        let mut between = |low: f64, high: f64| {
            let sites = trimmed(about(low, high, 0, grid), |i| self.contains([i, j, k], grid));
            if !sites.is_empty() {
                spans.push(sites);
            }
        };
        let row = position([0, j, k], grid);
        // Half the length of a sphere's chord along the row; 0 if the row passes outside.
        let chord = |center: &[f64; 3], radius: f64| {
            let across: f64 = (1..grid.rank()).map(|n| (row[n] - center[n]).powi(2)).sum();
            (radius * radius - across).max(0.0).sqrt()
        };
        match self {
            Self::Everywhere | Self::Image(_) | Self::Array(_) => spans.push(whole),
            Self::Box { min, max } => between(min[0], max[0]),
            Self::Slits { x, thickness, .. } => between(x - thickness / 2.0, x + thickness / 2.0),
            Self::Disk { center, radius } => {
                let half = chord(center, *radius);
                between(center[0] - half, center[0] + half);
            }
            Self::Ring { center, inner, outer } => {
                let half = chord(center, *outer);
                between(center[0] - half, center[0] + half);
                self.split(grid, [j, k], chord(center, *inner), center[0], spans);
            }
            Self::Stroke { points, radius } => stroke_spans(grid, points, *radius, row[1], spans),
            Self::Polygon { points } => {
                let first = spans.len();
                let mut limits: Vec<f64> = crossings(points, row[1]).collect();
                limits.sort_by(f64::total_cmp);
                for pair in limits.as_chunks().0 {
                    let &[low, high] = pair;
                    // Inside is low ≤ x < high, as in `contains`; what lies on an edge comes from the edges.
                    let inside = |i: usize| (low..high).contains(&position([i, j, k], grid)[0]);
                    let sites = trimmed(about(low, high, 0, grid), inside);
                    if !sites.is_empty() {
                        spans.push(sites);
                    }
                }
                edge_spans(grid, points, row[1], spans);
                merge(spans, first);
            }
        }
    }

    /// Takes the hole of a ring, `half` to both sides of `middle`, out of the last span.
    fn split(&self, grid: &Grid, [j, k]: [usize; 2], half: f64, middle: f64, spans: &mut Vec<Range<usize>>) {
        let Some(outer) = spans.pop() else { return };
        let hole = about(middle - half, middle + half, 0, grid);
        let hole = hole.start.clamp(outer.start, outer.end)..hole.end.clamp(outer.start, outer.end);
        let hole = trimmed(hole, |i| !self.contains([i, j, k], grid));
        if hole.is_empty() {
            spans.push(outer);
            return;
        }
        spans.extend(
            [outer.start..hole.start, hole.end..outer.end]
                .into_iter()
                .filter(|span| !span.is_empty()),
        );
    }
}

impl Samples {
    /// The sample that covers a site when the picture is stretched over the grid; row 0 is at the largest y.
    fn stretched(&self, site: [usize; 3], grid: &Grid) -> f64 {
        let [nx, ny, _] = grid.size();
        let column = pixel_at(site[0], self.size[0], nx);
        let row = pixel_at(ny - 1 - site[1], self.size[1], ny);
        self.values.get(column + self.size[0] * row).copied().unwrap_or(0.0)
    }

    /// Whether a pixel above 0 covers a site when the picture is stretched over the grid: on a coarser grid some cover none.
    fn shows(&self, grid: &Grid) -> bool {
        let ([width, height, _], [nx, ny, _]) = (self.size, grid.size());
        let covers = |pixel: usize, pixels: usize, sites: usize| {
            // The first site that may lie in a pixel, and the next one where the first lies between that pixel and the one before it.
            let first = (2 * pixel * sites).saturating_sub(pixels).div_ceil(2 * pixels);
            (first..sites.min(first + 2)).any(|site| pixel_at(site, pixels, sites) == pixel)
        };
        let mut lit = self.values.iter().enumerate().filter(|(_, level)| **level > 0.0);
        lit.any(|(n, _)| covers(n % width, width, nx) && covers(n / width, height, ny))
    }
}

/// The pixel in which the middle of a site's cell lies where so many pixels are stretched over so many sites; between two pixels that nearer to the middle of the picture, so that what is
/// symmetric stays so.
fn pixel_at(site: usize, pixels: usize, sites: usize) -> usize {
    let (place, cells) = ((2 * site + 1) * pixels, 2 * sites);
    let pixel = place / cells;
    if place.is_multiple_of(cells) && 2 * site + 1 > sites {
        pixel - 1
    } else {
        pixel
    }
}

/// The segments of a line through points; a single point is one without length.
fn segments(points: &[[f64; 2]]) -> impl Iterator<Item = [[f64; 2]; 2]> {
    let dot = match points {
        [point] => Some([*point, *point]),
        _ => None,
    };
    dot.into_iter().chain(points.windows(2).map(|pair| [pair[0], pair[1]]))
}

/// Distance of a point from a segment.
fn from_segment([x, y]: [f64; 2], [[x0, y0], [x1, y1]]: [[f64; 2]; 2]) -> f64 {
    let (dx, dy) = (x1 - x0, y1 - y0);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 {
        (((x - x0) * dx + (y - y0) * dy) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (x - x0 - along * dx).hypot(y - y0 - along * dy)
}

/// The sites at height `y` within `radius` of a line, as ranges that do not overlap. What lies around one segment is convex: one range.
fn stroke_spans(grid: &Grid, points: &[[f64; 2]], radius: f64, y: f64, spans: &mut Vec<Range<usize>>) {
    let (first, slack) = (spans.len(), slack(grid));
    for segment in segments(points) {
        let [[x0, y0], [x1, y1]] = segment;
        if y < y0.min(y1) - radius - slack || y > y0.max(y1) + radius + slack {
            continue;
        }
        let near = |i: usize| from_segment([position([i, 0, 0], grid)[0], y], segment) <= radius + slack;
        let sites = trimmed(about(x0.min(x1) - radius, x0.max(x1) + radius, 0, grid), near);
        if !sites.is_empty() {
            spans.push(sites);
        }
    }
    merge(spans, first);
}

/// The sites at height `y` on the edges of a polygon, as ranges that may overlap.
fn edge_spans(grid: &Grid, points: &[[f64; 2]], y: f64, spans: &mut Vec<Range<usize>>) {
    let slack = slack(grid);
    for edge in edges(points) {
        let [[x0, y0], [x1, y1]] = edge;
        if y < y0.min(y1) - slack || y > y0.max(y1) + slack {
            continue;
        }
        let (dx, dy) = (x1 - x0, y1 - y0);
        let (low, high) = if dy.abs() > slack {
            let x = x0 + ((y - y0) / dy).clamp(0.0, 1.0) * dx;
            let wide = slack * dx.hypot(dy) / dy.abs();
            (x - wide, x + wide)
        } else {
            (x0.min(x1), x0.max(x1))
        };
        let on_edge = |i: usize| from_segment([position([i, 0, 0], grid)[0], y], edge) <= slack;
        let sites = trimmed(about(low, high, 0, grid), on_edge);
        if !sites.is_empty() {
            spans.push(sites);
        }
    }
}

/// Makes ranges from place `first` on such that do not overlap.
fn merge(spans: &mut Vec<Range<usize>>, first: usize) {
    let mut own = spans.split_off(first);
    own.sort_by_key(|sites| sites.start);
    for sites in own {
        match spans[first..].last_mut() {
            Some(last) if sites.start <= last.end => last.end = last.end.max(sites.end),
            _ => spans.push(sites),
        }
    }
}

/// The edges of a polygon, the first from its last point.
fn edges(points: &[[f64; 2]]) -> impl Iterator<Item = [[f64; 2]; 2]> {
    let before = points.iter().cycle().skip(points.len().saturating_sub(1));
    before.zip(points).map(|(from, to)| [*from, *to])
}

/// Where the edges of a polygon cross the line at height y, in no order; always an even number (even–odd rule).
fn crossings(points: &[[f64; 2]], y: f64) -> impl Iterator<Item = f64> {
    edges(points)
        .filter(move |[[_, y0], [_, y1]]| (*y1 > y) != (*y0 > y))
        .map(move |[[x0, y0], [x1, y1]]| (x0 - x1) * (y - y1) / (y0 - y1) + x1)
}

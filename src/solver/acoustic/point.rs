//! Points between sites: the weights of a point source and of a point receiver.
//!
//! A point at x (in sites) has on each axis the weights of a [windowed sinc](crate::physics::sinc) at i − x of the sites i around it; on a site they are 1 there and 0 elsewhere. A wave of
//! 4 or more sites keeps its amplitude within 0.13 % an axis (the worst place between two sites), of 6 or more within 0.11 %.
//! Sites beyond an edge or in a wall are reflected: their weight goes to the site that mirrors them, with the sign of the mirror. A source then emits what its
//! mirror image would add, and nothing is lost in walls. Beside a wall's corner the way to a site decides what mirrors it: a share goes to where all orders of the axes lead, in equal parts.
//!
//! Source: Hicks 2002, Arbitrary source and receiver positioning in finite-difference schemes using Kaiser windowed sinc functions, doi:10.1190/1.1451454.

use crate::grid::{Edge, Grid};
use crate::physics::sinc::{RADIUS, weight};

/// The orders of the axes, those of a plane first.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
/// A point closer to a site than this (in sites) is on it: positions are lengths, and rounded.
const ON_SITE: f64 = 1e-6;

/// Sites of a point with their weights, in the order of memory.
pub type Shares = Vec<([usize; 3], f64)>;

/// The sites of the point `at` (lengths) with their weights; `wall`: whether a site is a wall. Empty where the nearest site is a wall or lies outside the grid.
pub fn shares(grid: &Grid, at: &[f64; 3], wall: impl Fn([usize; 3]) -> bool) -> Shares {
    shares_beside(grid, at, [0.0; 3], wall)
}

/// The same of a place `beside` that point (lengths), which walls and edges in between mirror: half a spacing before a wall's first site is its face.
#[must_use]
pub(in crate::solver) fn shares_beside(
    grid: &Grid,
    at: &[f64; 3],
    beside: [f64; 3],
    wall: impl Fn([usize; 3]) -> bool,
) -> Shares {
    let Some((center, lists)) = axes(grid, at, beside) else {
        return Vec::new();
    };
    if wall(center) {
        return Vec::new();
    }
    let mut all = Vec::with_capacity(lists.iter().map(Vec::len).product());
    for &(z, wz) in &lists[2] {
        for &(y, wy) in &lists[1] {
            for &(x, wx) in &lists[0] {
                all.push(([x, y, z], wx * wy * wz));
            }
        }
    }
    let wrapped = |axis: usize, place: isize| {
        let sites = grid.size()[axis].cast_signed();
        let place = if grid.is_periodic(axis) {
            place.rem_euclid(sites)
        } else {
            place
        };
        (0..sites).contains(&place).then_some(place.cast_unsigned())
    };
    // A site at these offsets; `None` beyond an edge.
    let plain = |offsets: &[isize; 3]| -> Option<[usize; 3]> {
        let [x, y, z] = [0, 1, 2].map(|axis| wrapped(axis, center[axis].cast_signed() + offsets[axis]));
        Some([x?, y?, z?])
    };
    // Walks begin at the nearest site, which the sites of a place beside may leave out.
    let [x, y, z] = lists.each_ref().map(|list| {
        let ends = |[low, high]: [isize; 2], (n, _): &(isize, f64)| [low.min(*n), high.max(*n)];
        let [low, high] = list.iter().fold([0; 2], ends);
        low..=high
    });
    let walls = z.into_iter().any(|z| {
        let row = |y: isize| x.clone().any(|x| plain(&[x, y, z]).is_some_and(&wall));
        y.clone().any(row)
    });
    let orders = &ORDERS[..if walls { [1, 2, 6][grid.rank() - 1] } else { 1 }];
    let mut found = Shares::with_capacity(all.len());
    for (offsets, weight) in &all {
        if let (Some(site), false) = (plain(offsets), walls) {
            found.push((site, *weight));
            continue;
        }
        let ends = |order: &[usize; 3]| walk(grid, center, *offsets, *order, &wall);
        let first = ends(&orders[0]);
        if orders[1..].iter().all(|order| ends(order) == first) {
            found.extend(first.map(|(site, sign)| (site, sign * weight)));
        } else {
            #[expect(clippy::cast_precision_loss, reason = "at most 6")]
            let part = weight / orders.len() as f64;
            found.extend(orders.iter().filter_map(ends).map(|(site, sign)| (site, sign * part)));
        }
    }
    // Mirrored sites meet others.
    one_entry_a_site(&mut found);
    found
}

/// Sorts sites by their rows, and adds up the weights of those that are the same.
pub(in crate::solver) fn one_entry_a_site(all: &mut Shares) {
    all.sort_by_key(|(site, _)| [site[2], site[1], site[0]]);
    all.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

/// The nearest point between the first and the last site of every axis that ends; along a ring every place lies between sites.
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
pub fn clamped(grid: &Grid, at: [f64; 3]) -> [f64; 3] {
    let last = grid.size().map(|sites| (sites - 1) as f64 * grid.spacing());
    [0, 1, 2].map(|axis| {
        if grid.is_periodic(axis) {
            at[axis]
        } else {
            at[axis].clamp(0.0, last[axis])
        }
    })
}

/// The nearest point no further outside of the grid than a rigid edge, half a spacing outside of the last site, which that site still counts as its own; along a ring no place is outside.
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
#[must_use]
pub(in crate::solver) fn within(grid: &Grid, at: [f64; 3]) -> [f64; 3] {
    let half = 0.4999 * grid.spacing();
    let last = grid.size().map(|sites| (sites - 1) as f64 * grid.spacing());
    [0, 1, 2].map(|axis| {
        if grid.is_periodic(axis) {
            at[axis]
        } else {
            at[axis].clamp(-half, last[axis] + half)
        }
    })
}

/// Offsets along an axis with their weights.
type Weights = Vec<(isize, f64)>;

/// The site nearest to a point, and for each axis the offsets from it, with their weights, of a place beside the point; `None` outside the grid.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "places on a grid"
)]
fn axes(grid: &Grid, at: &[f64; 3], beside: [f64; 3]) -> Option<([usize; 3], [Weights; 3])> {
    let mut center = [0; 3];
    let mut lists = [vec![(0, 1.0)], vec![(0, 1.0)], vec![(0, 1.0)]];
    for axis in 0..grid.rank() {
        let sites = grid.size()[axis];
        let place = at[axis] / grid.spacing();
        let mut nearest = place.round();
        let off = place - nearest + beside[axis] / grid.spacing();
        if grid.is_periodic(axis) {
            nearest = nearest.rem_euclid(sites as f64);
        }
        if !(0.0..sites as f64).contains(&nearest) {
            return None;
        }
        center[axis] = (nearest as isize).cast_unsigned();
        if sites == 1 {
            continue;
        }
        lists[axis] = if (off - off.round()).abs() > ON_SITE {
            (off.floor() as isize - RADIUS..=off.ceil() as isize + RADIUS)
                .map(|offset| (offset, weight(offset as f64 - off)))
                .filter(|(_, weight)| *weight != 0.0)
                .collect()
        } else {
            vec![(off.round() as isize, 1.0)]
        };
    }
    Some((center, lists))
}

/// Where a walk by `offsets`, along one axis after the other, ends, reflected by walls and rigid edges (half a site before them) and by soft edges with the opposite sign (one site outside); `None` on the node of
/// a soft edge.
fn walk(
    grid: &Grid,
    from: [usize; 3],
    offsets: [isize; 3],
    order: [usize; 3],
    wall: &impl Fn([usize; 3]) -> bool,
) -> Option<([usize; 3], f64)> {
    let (mut at, mut sign) = (from, 1.0);
    for axis in order.into_iter().filter(|axis| *axis < grid.rank()) {
        let sites = grid.size()[axis].cast_signed();
        let mut up = offsets[axis].signum();
        // A place outside a soft edge is the node: −1 or `sites`.
        let mut place = at[axis].cast_signed();
        for _ in 0..offsets[axis].unsigned_abs() {
            let next = place + up;
            if (0..sites).contains(&next) || grid.is_periodic(axis) {
                let mut site = at;
                site[axis] = next.rem_euclid(sites).cast_unsigned();
                if wall(site) {
                    up = -up;
                } else {
                    (at, place) = (site, site[axis].cast_signed());
                }
                continue;
            }
            up = -up;
            if grid.edges()[axis] == Edge::Soft {
                (place, sign) = (next, -sign);
            }
        }
        if !(0..sites).contains(&place) {
            return None;
        }
    }
    Some((at, sign))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_precision_loss, reason = "small grids")]

    use super::*;
    use std::f64::consts::TAU;

    fn grid(size: &[usize], edges: [Edge; 3]) -> Grid {
        Grid::new(size, 0.5).with_edges(edges, 0)
    }

    /// Σ w f(site).
    fn sum(shares: &Shares, f: impl Fn([usize; 3]) -> f64) -> f64 {
        shares.iter().map(|(site, weight)| weight * f(*site)).sum()
    }

    #[test]
    fn a_point_on_a_site_is_that_site() {
        let grid = Grid::new(&[20, 9], 0.1);
        // 0.1 · 7 is no double.
        assert_eq!(shares(&grid, &[0.7, 0.3, 0.0], |_| false), [([7, 3, 0], 1.0)]);
    }

    /// A wave of 6 sites, wherever it is asked for: |Σ w e^(ik(i − x)) − 1| ≤ 1.1e-3 (numerically, 100 places between two sites).
    #[test]
    fn waves_keep_amplitude_and_phase() {
        let grid = Grid::new(&[40], 1.0);
        for sites in [6.0, 7.0, 10.0, 20.0] {
            for n in 0..=50 {
                let x = 18.0 + f64::from(n) / 50.0;
                let all = shares(&grid, &[x, 0.0, 0.0], |_| false);
                let part = |shift: f64| sum(&all, |[i, ..]| (TAU * (i as f64 - x) / sites + shift).cos());
                assert!((part(0.0) - 1.0).abs() < 1.2e-3, "{sites} sites, {x}: {}", part(0.0));
                assert!(
                    part(TAU / 4.0).abs() < 1.2e-3,
                    "{sites} sites, {x}: {}",
                    part(TAU / 4.0)
                );
            }
        }
    }

    /// A standing wave that fits the edges is read as well beside them as in the middle: even about −½ at rigid edges, odd about −1 at soft ones.
    #[test]
    fn edges_mirror_the_weights() {
        let lines = grid(&[32, 31, 30], [Edge::Wall, Edge::Soft, Edge::Periodic]);
        let wave = |axis: usize, x: f64| match axis {
            0 => (TAU / 2.0 * 3.0 * (x + 0.5) / 32.0).cos(),
            1 => (TAU / 2.0 * 3.0 * (x + 1.0) / 32.0).sin(),
            _ => (TAU * 2.0 * x / 30.0 + 0.3).sin(),
        };
        for axis in 0..3 {
            let last = lines.size()[axis] as f64 - 1.0;
            for x in [0.0, 0.2, 0.5, 0.9, 2.7, last - 1.4, last - 0.4] {
                // On the other axes the point stands on sites.
                let mut at = [2.0, 2.5, 3.0];
                at[axis] = 0.5 * x;
                let read = sum(&shares(&lines, &at, |_| false), |site| wave(axis, site[axis] as f64));
                assert!(
                    (read - wave(axis, x)).abs() < 1.2e-3,
                    "axis {axis}, {x}: {read} for {}",
                    wave(axis, x)
                );
            }
        }
    }

    #[test]
    fn walls_mirror_like_edges_and_take_nothing() {
        let open = grid(&[20, 20], [Edge::Wall; 3]);
        let larger = grid(&[30, 20], [Edge::Wall; 3]);
        let wall = |[i, ..]: [usize; 3]| i >= 20;
        for x in [15.6, 17.3, 18.9, 19.2] {
            let at = [0.5 * x, 4.7, 0.0];
            assert_eq!(shares(&open, &at, |_| false), shares(&larger, &at, wall));
        }
        // A screen of one site, and a corner: the total stays, none in walls, none behind the screen.
        let screen = |[i, j, _]: [usize; 3]| i == 12 || (i > 8 && j < 7);
        let all = shares(&larger, &[0.5 * 10.7, 0.5 * 8.4, 0.0], screen);
        assert!(all.iter().all(|(site, _)| !screen(*site) && site[0] < 12));
        assert!((sum(&all, |_| 1.0) - 1.0).abs() < 2e-3);
        assert!(
            shares(&larger, &[6.0, 2.0, 0.0], screen).is_empty(),
            "in the screen itself"
        );
    }
    /// Beside the corner of a wall no axis comes first: what is mirrored across the diagonal has the mirrored shares.
    #[test]
    fn corners_know_no_first_axis() {
        let swapped = |axes: [usize; 3], at: [usize; 3]| axes.map(|axis| at[axis]);
        for (size, axes) in [
            (&[20, 20][..], [1, 0, 2]),
            (&[20, 20, 20], [1, 2, 0]),
            (&[20, 20, 20], [0, 2, 1]),
        ] {
            let space = size.len() > 2;
            let corner = |[i, j, k]: [usize; 3]| i < 8 && j < 9 && (!space || k < 7);
            let here = [4.13, 4.68, if space { 3.72 } else { 0.0 }];
            let grid = Grid::new(size, 0.5);
            let mut there: Shares = shares(&grid, &here, corner)
                .into_iter()
                .map(|(site, weight)| (swapped(axes, site), weight))
                .collect();
            one_entry_a_site(&mut there);
            // The corner as it stands after the swap.
            let back = |at: [usize; 3]| {
                let mut old = [0; 3];
                (0..3).for_each(|axis| old[axes[axis]] = at[axis]);
                corner(old)
            };
            let found = shares(&grid, &axes.map(|axis| here[axis]), back);
            assert_eq!(found.len(), there.len());
            for ((site, weight), (other, expected)) in found.iter().zip(&there) {
                assert!(site == other && (weight - expected).abs() < 1e-14, "{site:?} {other:?}");
            }
            assert!((sum(&found, |_| 1.0) - 1.0).abs() < 5e-3);
        }
    }
}

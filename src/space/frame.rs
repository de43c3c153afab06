//! The box around a volume: its edges, behind and in front, and three scales with lengths.

use super::{Camera, Shape, Vec3, dot, sum};

/// An edge of the box as seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Its ends in pixels.
    pub ends: [[f32; 2]; 2],
    /// Whether it is in front of what the box holds.
    pub front: bool,
}

/// A scale along an edge of the box.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisScale {
    /// 0 for x, 1 for y, 2 for z.
    pub axis: usize,
    /// Away from the box, of length 1.
    pub outward: [f32; 2],
    /// Places of round lengths in pixels, with the lengths.
    pub ticks: Vec<([f32; 2], f64)>,
    /// The middle of the edge.
    pub middle: [f32; 2],
}

/// The names of the axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// Corner n of the box has the upper end of axis a where bit a of n is set.
fn corner(shape: &Shape, n: usize) -> Vec3 {
    std::array::from_fn(|axis| {
        if n >> axis & 1 == 1 {
            shape.half[axis]
        } else {
            -shape.half[axis]
        }
    })
}

/// Whether the face at the upper (or lower) end of an axis is turned to the eye.
fn faces(shape: &Shape, eye: Vec3, axis: usize, upper: bool) -> bool {
    if upper {
        eye[axis] > shape.half[axis]
    } else {
        eye[axis] < -shape.half[axis]
    }
}

struct Edge {
    axis: usize,
    corners: [usize; 2],
    front: bool,
    silhouette: bool,
}

fn edges(shape: &Shape, eye: Vec3) -> impl Iterator<Item = Edge> + '_ {
    (0..3).flat_map(move |axis| {
        (0..8usize).filter(move |n| n >> axis & 1 == 0).map(move |n| {
            let others = [(axis + 1) % 3, (axis + 2) % 3];
            let seen = others.map(|other| faces(shape, eye, other, n >> other & 1 == 1));
            Edge {
                axis,
                corners: [n, n | 1 << axis],
                front: seen[0] || seen[1],
                silhouette: seen[0] != seen[1],
            }
        })
    })
}

/// The twelve edges; those behind the camera are left out.
pub fn wires(shape: &Shape, camera: &Camera) -> Vec<Wire> {
    edges(shape, camera.eye)
        .filter_map(|edge| {
            let [from, to] = edge.corners.map(|n| camera.project(corner(shape, n)));
            Some(Wire {
                ends: [from?, to?],
                front: edge.front,
            })
        })
        .collect()
}

/// The outline of a slice at a place of the world.
pub fn outline(shape: &Shape, camera: &Camera, axis: usize, at: f32) -> Option<[[f32; 2]; 4]> {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut corners = [[0.0; 2]; 4];
    for (place, (su, sv)) in corners
        .iter_mut()
        .zip([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    {
        let mut point = [0.0; 3];
        point[axis] = at;
        point[u] = su * shape.half[u];
        point[v] = sv * shape.half[v];
        *place = camera.project(point)?;
    }
    Some(corners)
}

/// One scale an axis, along an edge of the silhouette: x and y below, z at the left. Lengths are multiplied by `per`; ticks stand at least
/// `gap` pixels apart, and closer where only one would be there.
pub fn scales(shape: &Shape, camera: &Camera, per: f64, gap: f32) -> Vec<AxisScale> {
    let Some(center) = camera.project([0.0; 3]) else {
        return Vec::new();
    };
    let mut scales = Vec::new();
    for axis in 0..3 {
        let outside = |edge: &Edge| {
            let middle = middle(shape, camera, edge)?;
            Some(if axis == 2 { -middle[0] } else { middle[1] })
        };
        let best = edges(shape, camera.eye)
            .filter(|edge| edge.axis == axis && edge.silhouette)
            .filter_map(|edge| Some((outside(&edge)?, edge)))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, edge)) = best
            && let Some(scale) = scale(shape, camera, &edge, center, per, gap)
        {
            scales.push(scale);
        }
    }
    scales
}

fn middle(shape: &Shape, camera: &Camera, edge: &Edge) -> Option<[f32; 2]> {
    let [a, b] = edge.corners.map(|n| corner(shape, n));
    camera.project(sum(a, b).map(|part| part / 2.0))
}

fn scale(shape: &Shape, camera: &Camera, edge: &Edge, center: [f32; 2], per: f64, gap: f32) -> Option<AxisScale> {
    let axis = edge.axis;
    let ends = edge.corners.map(|n| corner(shape, n));
    let [from, to] = [camera.project(ends[0])?, camera.project(ends[1])?];
    let length = (to[0] - from[0]).hypot(to[1] - from[1]);
    if length < 2.0 * gap {
        return None;
    }
    let along = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    let middle = middle(shape, camera, edge)?;
    let mut outward = [-along[1], along[0]];
    let away = [middle[0] - center[0], middle[1] - center[1]];
    if dot([outward[0], outward[1], 0.0], [away[0], away[1], 0.0]) < 0.0 {
        outward = outward.map(|part| -part);
    }
    let span = shape.sites[axis] as f64 * shape.spacing * per;
    let low = -0.5 * shape.spacing * per;
    let ticks_of = |step: f64| {
        let mut ticks = Vec::new();
        let mut n = (low / step).ceil();
        while n * step <= low + span {
            let mut point = ends[0];
            point[axis] = shape.along(axis, n * step / per);
            if let Some(at) = camera.project(point) {
                // Where two scales meet at a corner their numbers would stand on each other.
                let free = |end: [f32; 2]| (at[0] - end[0]).hypot(at[1] - end[1]) > 0.3 * gap;
                if free(from) && free(to) {
                    ticks.push((at, n * step));
                }
            }
            n += 1.0;
        }
        ticks
    };
    // One number is no scale: two stand closer together.
    let closer = [1.0, 0.6, 0.4].map(|part| round_up(span * f64::from(part * gap / length)));
    let ticks = closer.into_iter().map(ticks_of).find(|ticks| ticks.len() >= 2);
    let ticks = ticks.unwrap_or_else(|| ticks_of(closer[0]));
    Some(AxisScale {
        axis,
        outward,
        ticks,
        middle,
    })
}

/// The least of 1, 2, 5 times a power of ten that is at least `least`.
fn round_up(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    for lead in [1.0, 2.0, 5.0] {
        if lead * power >= least * (1.0 - 1e-9) {
            return lead * power;
        }
    }
    10.0 * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::scene::scenario::Orbit;

    #[test]
    fn three_edges_are_behind_and_each_axis_has_a_scale() {
        let shape = Shape::of(&Grid::new(&[97, 97, 97], 0.0343));
        let camera = Camera::new(&Orbit::default(), &shape, [900.0, 700.0]);
        let wires = wires(&shape, &camera);
        assert_eq!(wires.len(), 12);
        // From a corner three faces are seen, and the three edges of the far corner are hidden.
        assert_eq!(wires.iter().filter(|wire| !wire.front).count(), 3);
        let scales = scales(&shape, &camera, 1.0, 60.0);
        let axes: Vec<usize> = scales.iter().map(|scale| scale.axis).collect();
        assert_eq!(axes, [0, 1, 2]);
        for scale in &scales {
            assert!(scale.ticks.len() >= 2, "{scale:?}");
            assert!(scale.ticks.iter().all(|(_, value)| (-0.1..3.4).contains(value)));
            let from_center = [scale.middle[0] - 450.0, scale.middle[1] - 350.0];
            assert!(from_center[0] * scale.outward[0] + from_center[1] * scale.outward[1] > 0.0);
        }
        // A short axis has two numbers as well.
        let flat = Shape::of(&Grid::new(&[40, 30, 24], 0.1));
        let camera = Camera::new(&Orbit::default(), &flat, [1060.0, 850.0]);
        for scale in super::scales(&flat, &camera, 1.0, 99.0) {
            assert!(scale.ticks.len() >= 2, "{scale:?}");
        }
        // x and y below the box, z beside it.
        assert!(scales[0].middle[1] > 350.0 && scales[1].middle[1] > 350.0 && scales[2].middle[0] < 450.0);
        assert!(outline(&shape, &camera, 2, 0.1).is_some());
        assert!((round_up(0.11) - 0.2).abs() < 1e-12 && (round_up(5.1) - 10.0).abs() < 1e-12);
    }
}

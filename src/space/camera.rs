//! An orbit camera: it looks at a target from an azimuth and an elevation, in mild perspective.

use super::{Shape, Vec3, dot, scaled, sum, unit};
use crate::scene::scenario::Orbit;

/// Half the angle of view along the shorter side of the picture at zoom 1, in degrees.
const HALF_ANGLE: f64 = 13.0;
/// Room around the ball that holds the box, for axes and their labels.
const AIR: f64 = 1.1;
/// Limits of the zoom.
pub const ZOOM: [f64; 2] = [0.25, 40.0];

/// A camera over a viewport of pixels, x to the right and y down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands.
    pub eye: Vec3,
    /// Where it looks, of length 1.
    pub forward: Vec3,
    /// To the right edge of the picture at distance 1.
    pub right: Vec3,
    /// To the upper edge of the picture at distance 1.
    pub up: Vec3,
    /// Pixels along x and y.
    pub viewport: [f32; 2],
}

impl Camera {
    /// The camera of an orbit around a box.
    #[must_use]
    pub fn new(orbit: &Orbit, shape: &Shape, viewport: [f32; 2]) -> Self {
        let (sin_a, cos_a) = orbit.azimuth.to_radians().sin_cos();
        let (sin_e, cos_e) = orbit.elevation.to_radians().sin_cos();
        let back = [sin_a * cos_e, -cos_a * cos_e, sin_e].map(|part| part as f32);
        let right = [cos_a, sin_a, 0.0].map(|part| part as f32);
        let up = [-sin_a * sin_e, cos_a * sin_e, cos_e].map(|part| part as f32);
        let target = orbit.target.map_or([0.0; 3], |at| shape.world(at));
        let distance = f64::from(radius(shape)) * AIR / HALF_ANGLE.to_radians().sin();
        let tangent = (HALF_ANGLE.to_radians().tan() / orbit.zoom) as f32;
        let shorter = viewport[0].min(viewport[1]).max(1.0);
        Self {
            eye: sum(target, scaled(back, distance as f32)),
            forward: scaled(back, -1.0),
            right: scaled(right, tangent * viewport[0] / shorter),
            up: scaled(up, tangent * viewport[1] / shorter),
            viewport,
        }
    }

    /// The direction, of length 1, of the ray through a place in the viewport; pixel n covers n to n + 1.
    pub fn ray(&self, at: [f32; 2]) -> Vec3 {
        let x = 2.0 * at[0] / self.viewport[0] - 1.0;
        let y = 1.0 - 2.0 * at[1] / self.viewport[1];
        unit(sum(self.forward, sum(scaled(self.right, x), scaled(self.up, y))))
    }

    /// Where a point of the world stands in the viewport; `None` behind the camera.
    pub fn project(&self, point: Vec3) -> Option<[f32; 2]> {
        let from_eye = sum(point, scaled(self.eye, -1.0));
        let depth = dot(from_eye, self.forward);
        if depth < 1e-3 {
            return None;
        }
        let x = dot(from_eye, self.right) / (dot(self.right, self.right) * depth);
        let y = dot(from_eye, self.up) / (dot(self.up, self.up) * depth);
        Some([
            f32::midpoint(1.0, x) * self.viewport[0],
            f32::midpoint(1.0, -y) * self.viewport[1],
        ])
    }

    /// World lengths per pixel at the distance of a point.
    pub fn per_pixel(&self, point: Vec3) -> f32 {
        let depth = dot(sum(point, scaled(self.eye, -1.0)), self.forward);
        2.0 * depth * dot(self.up, self.up).sqrt() / self.viewport[1]
    }
}

fn radius(shape: &Shape) -> f32 {
    dot(shape.half, shape.half).sqrt()
}

/// Turns an orbit by degrees, azimuth first; it never goes over the poles.
pub fn turn(orbit: &mut Orbit, azimuth: f64, elevation: f64) {
    orbit.azimuth = (orbit.azimuth + azimuth + 180.0).rem_euclid(360.0) - 180.0;
    orbit.elevation = (orbit.elevation + elevation).clamp(-90.0, 90.0);
}

/// Comes closer by a factor, within limits.
pub fn zoom(orbit: &mut Orbit, factor: f64) {
    orbit.zoom = (orbit.zoom * factor).clamp(ZOOM[0], ZOOM[1]);
}

/// Moves the target so that the picture follows a drag of `delta` pixels; it stays within the box.
pub fn pan(orbit: &mut Orbit, shape: &Shape, viewport: [f32; 2], delta: [f32; 2]) {
    let camera = Camera::new(orbit, shape, viewport);
    let target = orbit.target.map_or([0.0; 3], |at| shape.world(at));
    let per_pixel = camera.per_pixel(target);
    let moved = sum(
        target,
        sum(
            scaled(unit(camera.right), -delta[0] * per_pixel),
            scaled(unit(camera.up), delta[1] * per_pixel),
        ),
    );
    let inside = std::array::from_fn(|axis| moved[axis].clamp(-shape.half[axis], shape.half[axis]));
    orbit.target = Some(shape.lengths(inside));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;

    fn shape() -> Shape {
        Shape::of(&Grid::new(&[64, 32, 16], 0.5))
    }

    fn orbit(azimuth: f64, elevation: f64) -> Orbit {
        Orbit {
            azimuth,
            elevation,
            ..Orbit::default()
        }
    }

    /// Rounding of a dozen operations in single precision on numbers of about a thousand pixels.
    const ROUNDING: f32 = 1e-2;

    #[test]
    fn rays_go_through_what_is_projected() {
        for (azimuth, elevation) in [(0.0, 0.0), (30.0, 25.0), (-140.0, 80.0), (90.0, -90.0)] {
            let camera = Camera::new(&orbit(azimuth, elevation), &shape(), [1000.0, 700.0]);
            for point in [[0.0; 3], [0.5, -0.25, 0.125], [-0.3, 0.2, -0.1]] {
                let pixel = camera.project(point).unwrap();
                let ray = camera.ray(pixel);
                let to = unit(sum(point, scaled(camera.eye, -1.0)));
                assert!(dot(ray, to) > 1.0 - 1e-6, "{azimuth} {elevation} {point:?}");
            }
            let middle = camera.project([0.0; 3]).unwrap();
            assert!((middle[0] - 500.0).abs() < ROUNDING && (middle[1] - 350.0).abs() < ROUNDING);
        }
    }

    #[test]
    fn axes_stand_as_in_a_plane() {
        // From above, x runs to the right and y upwards, as the picture of a plane does.
        let camera = Camera::new(&orbit(0.0, 90.0), &shape(), [800.0, 800.0]);
        let at = |point| camera.project(point).unwrap();
        assert!(at([0.3, 0.0, 0.0])[0] > at([0.0; 3])[0] + 50.0);
        assert!(at([0.0, 0.2, 0.0])[1] < at([0.0; 3])[1] - 30.0);
        // From the front, z runs upwards.
        let camera = Camera::new(&orbit(0.0, 0.0), &shape(), [800.0, 800.0]);
        let at = |point| camera.project(point).unwrap();
        assert!(at([0.0, 0.0, 0.1])[1] < at([0.0; 3])[1] - 10.0);
        assert!(at([0.3, 0.0, 0.0])[0] > at([0.0; 3])[0] + 50.0);
        // The eye goes to the right with the azimuth: what is in front moves to the left.
        let camera = Camera::new(&orbit(20.0, 0.0), &shape(), [800.0, 800.0]);
        assert!(camera.project([0.0, -0.2, 0.0]).unwrap()[0] < 400.0 - 10.0);
    }

    #[test]
    fn the_whole_box_is_in_view_whatever_the_window() {
        for viewport in [[1000.0, 300.0], [300.0, 1000.0], [640.0, 640.0]] {
            for azimuth in -6..6 {
                let camera = Camera::new(&orbit(f64::from(azimuth) * 30.0, 35.0), &shape(), viewport);
                for n in 0..8 {
                    let corner = std::array::from_fn(|axis| {
                        if n >> axis & 1 == 0 {
                            -shape().half[axis]
                        } else {
                            shape().half[axis]
                        }
                    });
                    let [x, y] = camera.project(corner).unwrap();
                    assert!(x > 0.0 && x < viewport[0] && y > 0.0 && y < viewport[1], "{x} {y}");
                }
            }
        }
    }

    #[test]
    fn a_drag_moves_what_is_under_the_pointer() {
        let mut view = orbit(30.0, 25.0);
        view.zoom = 2.0;
        let viewport = [900.0, 600.0];
        let before = Camera::new(&view, &shape(), viewport).project([0.0; 3]).unwrap();
        pan(&mut view, &shape(), viewport, [12.0, -7.0]);
        let after = Camera::new(&view, &shape(), viewport).project([0.0; 3]).unwrap();
        // The point in the middle is at the target's distance, where pan is exact but for the tilt of the new line of sight.
        assert!((after[0] - before[0] - 12.0).abs() < 0.1 && (after[1] - before[1] + 7.0).abs() < 0.1);
        turn(&mut view, 400.0, 100.0);
        assert!((view.azimuth - 70.0).abs() < 1e-9 && (view.elevation - 90.0).abs() < 1e-9);
        zoom(&mut view, 1e9);
        assert!((view.zoom - ZOOM[1]).abs() < 1e-9);
    }

    #[test]
    fn lengths_and_the_world_are_each_others_inverse() {
        let shape = shape();
        let there = shape.lengths(shape.world([3.25, 1.0, 7.5]));
        // 32 lengths in single precision.
        assert!((there[0] - 3.25).abs() < 1e-5 && (there[2] - 7.5).abs() < 1e-5);
        // The middle of sites 31 and 32 of 64.
        assert!((shape.middle()[0] - 15.75).abs() < 1e-6);
    }
}

//! Everything that a picture in space is made of, but the field itself.
//!
//! A ray starts at the eye and is followed through the box. **Slices**: the nearest of three planes that it meets shows the field's colour,
//! walls as in a plane. **Volume**: samples of the field, trilinear between texels and `step` apart from half a step behind the entry, are laid
//! over one another from the front: C += (1 − A) a c, A += (1 − A) a with colour c and opacity a of [`table`]. Where wall or level of
//! the medium passes 1/2 between two samples, a faint surface is laid over: 10 % seen from the front and 45 % where it is seen edge-on.
//! With shading, colours are dimmed by the angle between the ray and the gradient of the size of the field; there are no lamps.
//! Colours are laid over one another as sRGB values, as everywhere in this program.

use super::transfer::{Entry, table};
use super::{Camera, MediumVolume, Shape, Vec3, scaled, sum};
use crate::colormap::{Colormap, Kind, Levels};
use crate::scene::scenario::{Orbit, ViewMode};
use crate::solver::FieldVolume;

/// What a ray looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The nearest of three planes.
    Slices,
    /// The whole way through.
    Volume,
}

impl Mode {
    /// The mode in space of a view; `None` for the plane.
    #[must_use]
    pub fn of(view: ViewMode) -> Option<Self> {
        match view {
            ViewMode::Plane | ViewMode::Relief => None,
            ViewMode::Slices => Some(Self::Slices),
            ViewMode::Volume => Some(Self::Volume),
        }
    }
}

/// Colours of the medium, sRGB 0…1: they stand out from the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tints {
    /// Walls.
    pub wall: Vec3,
    /// Levels above the background.
    pub hill: Vec3,
    /// Levels below it.
    pub well: Vec3,
}

impl Tints {
    /// Those of a colour map that begins with black, or with white.
    #[must_use]
    pub fn on(light: bool) -> Self {
        if light {
            Self {
                wall: [0.36, 0.39, 0.44],
                hill: [0.24, 0.27, 0.33],
                well: [0.05, 0.36, 0.72],
            }
        } else {
            Self {
                wall: [0.62, 0.65, 0.69],
                hill: [0.93, 0.94, 0.96],
                well: [0.47, 0.75, 1.0],
            }
        }
    }
}

/// Opacity of a surface seen from the front, and what is added edge-on.
pub const SURFACE: [f32; 2] = [0.10, 0.35];
/// Light that stays where a gradient stands across the ray.
pub const AMBIENT: f32 = 0.3;
/// Where a ray ends: what is behind hardly shows.
pub const OPAQUE: f32 = 0.995;

/// A picture in space.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The box.
    pub shape: Shape,
    /// The camera over the picture's pixels.
    pub camera: Camera,
    /// What rays look for.
    pub mode: Mode,
    /// World coordinates of the three slices.
    pub slices: Vec3,
    /// Step of a ray in the world.
    pub step: f32,
    /// Colour and opacity of a step, by [`Stage::mapping`].
    pub table: Vec<Entry>,
    /// Entry of a value of 0, and entries per value of 1 of the field's texels.
    pub mapping: [f32; 2],
    /// The kind of the colour map; cyclic shows the phase as hue.
    pub kind: Kind,
    /// Whether the volume is lit along its gradients.
    pub shading: bool,
    /// Whether the medium is shown.
    pub medium: bool,
    /// In which colours.
    pub tints: Tints,
}

/// What a stage is made of.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The box.
    pub shape: Shape,
    /// From where.
    pub orbit: &'a Orbit,
    /// Pixels.
    pub viewport: [f32; 2],
    /// What rays look for.
    pub mode: Mode,
    /// Lengths at which the slices stand.
    pub slices: [f64; 3],
    /// Steps of a ray in texels of the field: 1/2 and less is smooth, 2 is coarse and quick.
    pub texels_per_step: f32,
    /// The colour map.
    pub map: &'a Colormap,
    /// The colour range.
    pub levels: Levels,
    /// Exponent of the brightness scale.
    pub gamma: f32,
    /// The opacity's points.
    pub opacity: &'a [[f64; 2]],
    /// See [`Stage::shading`].
    pub shading: bool,
}

impl Stage {
    /// The stage for a field.
    #[must_use]
    pub fn new(plan: &Plan<'_>, field: &FieldVolume, medium: Option<&MediumVolume>) -> Self {
        let shape = plan.shape;
        let longest = field.size.into_iter().max().unwrap_or(1).max(1) as f32;
        let step = plan.texels_per_step / longest;
        let kind = plan.map.kind;
        let mapping = plan.levels.mapping(kind);
        Self {
            shape,
            camera: Camera::new(plan.orbit, &shape, plan.viewport),
            mode: plan.mode,
            slices: std::array::from_fn(|axis| {
                shape
                    .along(axis, plan.slices[axis])
                    .clamp(-shape.half[axis], shape.half[axis])
            }),
            step,
            table: table(plan.map.table(), kind, plan.opacity, plan.gamma, step),
            mapping: [mapping.offset, mapping.scale * field.top],
            kind,
            shading: plan.shading,
            medium: medium.is_some_and(|medium| !medium.is_empty()),
            tints: Tints::on(plan.map.is_light()),
        }
    }

    /// Where a ray from the eye enters and leaves the box; `None` if it misses.
    pub fn span(&self, ray: Vec3) -> Option<[f32; 2]> {
        let (mut near, mut far) = (0.0f32, f32::INFINITY);
        for axis in 0..3 {
            let a = (-self.shape.half[axis] - self.camera.eye[axis]) / ray[axis];
            let b = (self.shape.half[axis] - self.camera.eye[axis]) / ray[axis];
            near = near.max(a.min(b));
            far = far.min(a.max(b));
        }
        (near < far).then_some([near, far])
    }

    /// The slice that a ray meets first: its axis and the place.
    pub fn slice(&self, ray: Vec3) -> Option<(usize, Vec3)> {
        let mut best: Option<(f32, usize, Vec3)> = None;
        for axis in 0..3 {
            let way = (self.slices[axis] - self.camera.eye[axis]) / ray[axis];
            let mut place = sum(self.camera.eye, scaled(ray, way));
            place[axis] = self.slices[axis];
            let inside = (0..3).all(|n| place[n].abs() <= self.shape.half[n]);
            if way > 0.0 && way.is_finite() && inside && best.is_none_or(|(nearest, _, _)| way < nearest) {
                best = Some((way, axis, place));
            }
        }
        best.map(|(_, axis, place)| (axis, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colormap::auto;
    use crate::grid::Grid;
    use crate::scene::scenario::Opacity;

    #[test]
    fn rays_meet_box_and_slices() {
        let shape = Shape::of(&Grid::new(&[40, 40, 40], 1.0));
        let field = FieldVolume {
            sites: [40; 3],
            size: [40; 3],
            reduction: 1,
            top: 2.0,
            ..FieldVolume::default()
        };
        let plan = Plan {
            shape,
            orbit: &Orbit {
                azimuth: 0.0,
                elevation: 0.0,
                ..Orbit::default()
            },
            viewport: [400.0, 400.0],
            mode: Mode::Slices,
            slices: [19.5, 9.5, 19.5],
            texels_per_step: 0.5,
            map: auto(Kind::Diverging),
            levels: Levels { low: -2.0, high: 2.0 },
            gamma: 1.0,
            opacity: &Opacity::Soft.points(),
            shading: false,
        };
        let stage = Stage::new(&plan, &field, None);
        let ray = stage.camera.ray([200.0, 200.0]);
        let [near, far] = stage.span(ray).unwrap();
        // Along y from a distance; the box is 1 deep.
        assert!((far - near - 1.0).abs() < 1e-4);
        // A little beside the middle, so that it does not run within the slices x and z.
        let (axis, place) = stage.slice(stage.camera.ray([230.0, 190.0])).unwrap();
        assert_eq!(axis, 1);
        assert!(
            (place[1] + 0.25).abs() < 1e-6,
            "y = 9.5 of −0.5…39.5 is a quarter of the way"
        );
        assert!(stage.span(stage.camera.ray([2.0, 2.0])).is_none());
        // A texel of 1 is the largest value, and that is the last entry.
        assert!((stage.mapping[0] + stage.mapping[1] - 255.0).abs() < 1e-4);
        assert!((stage.mapping[0] - 128.0).abs() < 1e-4);
    }
}

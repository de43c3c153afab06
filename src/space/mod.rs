//! How a scene of three dimensions is looked at: the box, the camera, what is opaque, the medium as a surface.
//!
//! This is the one description of a picture in space. The window's shader (`kernels/volume.wgsl`) and the exports' ray-marcher
//! (`export::march`) both draw a [`Stage`]; nothing about the look is decided in either.
//!
//! World coordinates: the box of the grid's cells has its middle at the origin and 1 as its longest side; axes as in the grid, z up.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "pixels, texels and sites are far below 2^24"
)]

pub mod camera;
pub mod flow;
pub mod frame;
pub mod marks;
pub mod medium;
pub mod relief;
pub mod stage;
pub mod transfer;

pub use camera::Camera;
pub use flow::FlowMap;
pub use frame::{AxisScale, Wire};
pub use medium::{MediumVolume, SteppedMedium, Subject};
pub use stage::{Mode, Stage};

use crate::grid::Grid;

/// A point or a direction.
pub type Vec3 = [f32; 3];

pub(crate) fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn sum(a: Vec3, b: Vec3) -> Vec3 {
    std::array::from_fn(|n| a[n] + b[n])
}

pub(crate) fn scaled(a: Vec3, factor: f32) -> Vec3 {
    a.map(|part| part * factor)
}

/// The direction of a vector; zero stays zero.
pub(crate) fn unit(a: Vec3) -> Vec3 {
    let length = dot(a, a).sqrt();
    if length > 0.0 { scaled(a, 1.0 / length) } else { a }
}

/// The box of a grid's cells: site n of an axis covers places n to n + 1, and a length l is the place l/a + 1/2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Half of each side, in the world.
    pub half: Vec3,
    /// Sites along each axis.
    pub sites: [usize; 3],
    /// The spacing a.
    pub spacing: f64,
}

impl Shape {
    /// The box of a grid.
    #[must_use]
    pub fn of(grid: &Grid) -> Self {
        let sites = grid.size();
        let longest = sites.into_iter().max().unwrap_or(1) as f32;
        Self {
            half: sites.map(|n| 0.5 * n as f32 / longest),
            sites,
            spacing: grid.spacing(),
        }
    }

    /// A length of the world's unit.
    pub fn unit(&self) -> f64 {
        self.sites.into_iter().max().unwrap_or(1) as f64 * self.spacing
    }

    /// From lengths to the world.
    pub fn world(&self, at: [f64; 3]) -> Vec3 {
        std::array::from_fn(|axis| self.along(axis, at[axis]))
    }

    /// A length along an axis in the world.
    pub fn along(&self, axis: usize, at: f64) -> f32 {
        ((at + 0.5 * self.spacing) / self.unit()) as f32 - self.half[axis]
    }

    /// From the world to lengths.
    pub fn lengths(&self, world: Vec3) -> [f64; 3] {
        std::array::from_fn(|axis| f64::from(world[axis] + self.half[axis]) * self.unit() - 0.5 * self.spacing)
    }

    /// The lengths at the middle of the grid.
    pub fn middle(&self) -> [f64; 3] {
        self.lengths([0.0; 3])
    }
}

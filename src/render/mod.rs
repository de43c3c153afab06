//! What is drawn by the graphics processor, one file and one `.wgsl` per drawable.
//!
//! A drawable owns its pipeline, textures and uniforms; the app uploads into it when a frame is new and asks it for a
//! paint callback. Nothing here knows panels, and nothing is allocated from frame to frame while sizes stay.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "texels and pixels are far below 2^24"
)]

#[cfg(not(target_family = "wasm"))]
pub mod adapter;
pub mod curve;
pub mod enlarge;
pub mod field;
pub mod gpu;
#[cfg(not(target_family = "wasm"))]
pub mod headless;
pub mod medium;
mod upload;
pub mod volume;

pub use curve::Curve;
pub use field::FieldPicture;
pub use medium::MediumPicture;
pub use volume::VolumePicture;

/// A map from framebuffer pixels to texels of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Texel coordinates of the framebuffer's corner.
    pub origin: [f32; 2],
    /// Texels per pixel; negative along y, where the field runs up and the screen down.
    pub step: [f32; 2],
}

impl Placement {
    /// The placement of a picture whose rectangle on screen is `rect` (points, y down; row 0 of the picture at the bottom)
    /// with `size` texels.
    #[must_use]
    pub fn new(rect: egui::Rect, size: [f32; 2], pixels_per_point: f32) -> Self {
        let step = [
            size[0] / (rect.width() * pixels_per_point),
            -size[1] / (rect.height() * pixels_per_point),
        ];
        Self {
            origin: [
                -rect.left() * pixels_per_point * step[0],
                -rect.bottom() * pixels_per_point * step[1],
            ],
            step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_the_rectangle_are_corners_of_the_picture() {
        let rect = egui::Rect::from_min_max(egui::pos2(10.0, 20.0), egui::pos2(110.0, 70.0));
        let p = Placement::new(rect, [200.0, 100.0], 2.0);
        let texel = |x: f32, y: f32| [p.origin[0] + p.step[0] * x, p.origin[1] + p.step[1] * y];
        // Pixels are points times two. Sums of a few exact products: single rounding errors of 200 · 2⁻²⁴ each.
        let near = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).abs() < 1e-3 && (a[1] - b[1]).abs() < 1e-3;
        assert!(near(texel(20.0, 140.0), [0.0, 0.0]), "lower left");
        assert!(near(texel(220.0, 40.0), [200.0, 100.0]), "upper right");
    }
}

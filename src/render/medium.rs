//! Walls and medium over the field, quiet enough that the wave stays the picture.

use super::Placement;
use super::gpu::{Pipeline, Sheet};
use eframe::egui_wgpu::RenderState;

/// The shader.
pub const SOURCE: &str = concat!(
    include_str!("../../kernels/drawn.wgsl"),
    include_str!("../../kernels/medium.wgsl")
);

/// Bytes of its uniforms.
pub const UNIFORM_BYTES: usize = size_of::<Uniforms>();

/// A quantity of the medium.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MediumPart {
    /// Its name.
    pub title: &'static str,
    /// Its unit, with a leading space where there is one.
    pub unit: &'static str,
    /// The value of level 0: that of the background.
    pub base: f64,
    /// Largest distance of a value from `base`.
    pub limit: f64,
    /// The least and the greatest value.
    pub ends: [f64; 2],
    /// Of a line its levels, `base + level · limit`, one a texel; of a plane they are in the texels.
    pub levels: Vec<f32>,
}

/// The medium as a picture: `[level, wall]` a texel, x fastest, row 0 at the smallest y.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MediumImage {
    /// Texels along x and y.
    pub size: [usize; 2],
    /// Sites along x and y that the picture covers.
    pub sites: [usize; 2],
    /// `[level in −1..1, wall 0 or 1]`.
    pub texels: Vec<[f32; 2]>,
    /// What the levels are, one for each quantity that layers set: of sound there may be two, and the texels then have both.
    pub parts: Vec<MediumPart>,
}

impl MediumImage {
    /// Whether there is something to show.
    pub fn is_empty(&self) -> bool {
        self.texels.iter().all(|[level, wall]| *level == 0.0 && *wall == 0.0)
    }
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    origin: [f32; 2],
    step: [f32; 2],
    size: [f32; 2],
    lines: f32,
    strength: f32,
    wall: [f32; 4],
    stone: [f32; 4],
    hill: [f32; 4],
    well: [f32; 4],
    linear_target: u32,
    unused: [u32; 3],
}

/// Texture and pipeline of the medium's picture.
pub struct MediumPicture(Sheet);

impl MediumPicture {
    /// Compiles the shader.
    #[must_use]
    pub fn new(render: &RenderState) -> Self {
        let blend = wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING;
        let pipeline = Pipeline::new(render, "medium", SOURCE, 1, UNIFORM_BYTES, blend);
        let texture = (wgpu::TextureFormat::Rg32Float, "medium");
        Self(Sheet::new(render, pipeline, &[texture]))
    }

    /// Takes over a new picture; an empty one hides the overlay.
    pub fn upload(&mut self, render: &RenderState, image: &MediumImage) {
        if image.is_empty() {
            self.0.set_size([0, 0]);
        } else {
            self.0.set_size(image.size);
            self.0.write(render, 0, image.size, &image.texels);
        }
    }

    /// The callback that draws into `clip`, over a picture on white where `paper` says so; `None` where there is nothing to show.
    pub fn callback(
        &self,
        render: &RenderState,
        clip: egui::Rect,
        placement: Placement,
        paper: bool,
    ) -> Option<egui::PaintCallback> {
        let size = self.0.size()?;
        let uniforms = Uniforms {
            origin: placement.origin,
            step: placement.step,
            size,
            lines: 8.0,
            strength: 1.0,
            wall: if paper {
                [0.55, 0.57, 0.60, 1.0]
            } else {
                [0.50, 0.52, 0.55, 1.0]
            },
            stone: if paper {
                [0.84, 0.85, 0.87, 1.0]
            } else {
                [0.17, 0.18, 0.20, 1.0]
            },
            hill: if paper {
                [0.15, 0.15, 0.15, 1.0]
            } else {
                [1.0, 1.0, 1.0, 1.0]
            },
            well: if paper {
                [0.0, 0.30, 0.75, 1.0]
            } else {
                [0.45, 0.75, 1.0, 1.0]
            },
            linear_target: self.0.linear_target(),
            unused: [0; 3],
        };
        Some(self.0.callback(render, clip, &uniforms))
    }
}

//! The field of a 2D scene or a plane of a 3D one, through a colour table.

use super::Placement;
use super::gpu::{Pipeline, Sheet};
use crate::colormap::{Kind, Levels, Table};
use crate::solver::FieldImage;
use eframe::egui_wgpu::RenderState;

/// The shader.
pub const SOURCE: &str = concat!(
    include_str!("../../kernels/drawn.wgsl"),
    include_str!("../../kernels/field.wgsl")
);

/// Bytes of its uniforms.
pub const UNIFORM_BYTES: usize = size_of::<Uniforms>();

/// How values become colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coloring {
    /// Values at the two ends of the table.
    pub levels: Levels,
    /// The kind of the table; [`Kind::Cyclic`] shows the phase as hue and the value as brightness.
    pub kind: Kind,
    /// Exponent of the brightness scale: 1 linear, 1/2 square root.
    pub gamma: f32,
    /// Interpolates between texels.
    pub smooth: bool,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    origin: [f32; 2],
    step: [f32; 2],
    size: [f32; 2],
    low: f32,
    high: f32,
    offset: f32,
    scale: f32,
    gamma: f32,
    mode: u32,
    smooth: u32,
    linear_target: u32,
    unused: [u32; 2],
}

/// Textures and pipeline of the field's picture.
pub struct FieldPicture(Sheet);

impl FieldPicture {
    /// Compiles the shader; nothing is shown until [`FieldPicture::upload`].
    #[must_use]
    pub fn new(render: &RenderState) -> Self {
        let textures = [
            (wgpu::TextureFormat::R32Float, "values"),
            (wgpu::TextureFormat::R32Float, "phases"),
            (wgpu::TextureFormat::Rgba8Unorm, "colour table"),
            (wgpu::TextureFormat::Rgba8Unorm, "phase table"),
        ];
        let pipeline = Pipeline::new(render, "field", SOURCE, 4, UNIFORM_BYTES, wgpu::BlendState::REPLACE);
        Self(Sheet::new(render, pipeline, &textures))
    }

    /// Takes over a frame's picture. Call it once per new frame.
    pub fn upload(&mut self, render: &RenderState, image: &FieldImage) {
        self.0.write_field(render, image);
    }

    /// Takes over colour tables of 256 sRGB entries; `hues` starts at phase 0 and closes on itself.
    pub fn set_tables(&mut self, render: &RenderState, table: &Table, hues: &Table) {
        self.0.write_table(render, 2, table);
        self.0.write_table(render, 3, hues);
    }

    /// The callback that draws into `clip`, the picture standing at `placement`; `None` before the first upload.
    pub fn callback(
        &self,
        render: &RenderState,
        clip: egui::Rect,
        placement: Placement,
        coloring: Coloring,
    ) -> Option<egui::PaintCallback> {
        let size = self.0.size()?;
        let mapping = coloring.levels.mapping(coloring.kind);
        let uniforms = Uniforms {
            origin: placement.origin,
            step: placement.step,
            size,
            low: coloring.levels.low,
            high: coloring.levels.high,
            offset: mapping.offset,
            scale: mapping.scale,
            gamma: coloring.gamma,
            mode: match coloring.kind {
                Kind::Sequential => 0,
                Kind::Cyclic => 1,
                Kind::Diverging => 2,
            },
            smooth: u32::from(coloring.smooth),
            linear_target: self.0.linear_target(),
            unused: [0; 2],
        };
        Some(self.0.callback(render, clip, &uniforms))
    }
}

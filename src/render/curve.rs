//! The field of a 1D scene over x, filled: |ψ|² coloured by the phase, other values by a colour table.

use super::Placement;
use super::gpu::{Pipeline, Sheet};
use crate::colormap::Table;
use crate::solver::FieldImage;
use eframe::egui_wgpu::RenderState;

/// The shader.
pub const SOURCE: &str = concat!(
    include_str!("../../kernels/drawn.wgsl"),
    include_str!("../../kernels/curve.wgsl")
);

/// Bytes of its uniforms.
pub const UNIFORM_BYTES: usize = size_of::<Uniforms>();

/// Where and how a curve stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawing {
    /// Framebuffer row of the value `low`.
    pub base: f32,
    /// Pixels between the values `low` and `high`.
    pub height: f32,
    /// Value at the base line.
    pub low: f32,
    /// Value at the top.
    pub high: f32,
    /// What is drawn below the line.
    pub fill: Fill,
    /// Place of the value 0 in the table: 1/2 where values have signs, else 0.
    pub zero: f32,
    /// Colour of the line, gamma-space, alpha as its strength.
    pub line: [f32; 4],
}

/// What is drawn of the values, and in which colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// The value, coloured by the table.
    Values = 0,
    /// Of |ψ| and phases: |ψ|², coloured by phase.
    Phases = 1,
    /// The same in one colour, where hues would be finer than the eye can tell.
    Plain = 2,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    origin: [f32; 2],
    step: [f32; 2],
    size: [f32; 2],
    low: f32,
    scale: f32,
    base: f32,
    mode: u32,
    linear_target: u32,
    zero: f32,
    line: [f32; 4],
}

/// Textures and pipeline of the curve.
pub struct Curve(Sheet);

impl Curve {
    /// Compiles the shader.
    #[must_use]
    pub fn new(render: &RenderState) -> Self {
        let blend = wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING;
        let textures = [
            (wgpu::TextureFormat::R32Float, "curve values"),
            (wgpu::TextureFormat::R32Float, "curve phases"),
            (wgpu::TextureFormat::Rgba8Unorm, "curve colour table"),
        ];
        let pipeline = Pipeline::new(render, "curve", SOURCE, 3, UNIFORM_BYTES, blend);
        Self(Sheet::new(render, pipeline, &textures))
    }

    /// Takes over a frame's picture of one row. Call it once per new frame.
    pub fn upload(&mut self, render: &RenderState, image: &FieldImage) {
        self.0.write_field(render, image);
    }

    /// Takes over a table of 256 sRGB entries: phases as hues, or values.
    pub fn set_table(&mut self, render: &RenderState, table: &Table) {
        self.0.write_table(render, 2, table);
    }

    /// The callback that draws into `clip`; `None` before the first upload.
    pub fn callback(
        &self,
        render: &RenderState,
        clip: egui::Rect,
        placement: Placement,
        drawing: Drawing,
    ) -> Option<egui::PaintCallback> {
        let size = self.0.size()?;
        let span = drawing.high - drawing.low;
        let uniforms = Uniforms {
            origin: placement.origin,
            step: [placement.step[0], drawing.height],
            size,
            low: drawing.low,
            scale: if span > 0.0 { 1.0 / span } else { 0.0 },
            base: drawing.base,
            mode: drawing.fill as u32,
            linear_target: self.0.linear_target(),
            zero: drawing.zero,
            line: drawing.line,
        };
        Some(self.0.callback(render, clip, &uniforms))
    }
}

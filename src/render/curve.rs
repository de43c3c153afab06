//! The field of a 1D scene: |ψ|² over x, filled and coloured by the phase.

use super::Placement;
use super::gpu::{Pipeline, Texture};
use crate::colormap::Table;
use crate::solver::FieldImage;
use eframe::egui_wgpu::RenderState;

/// The shader.
pub const SOURCE: &str = include_str!("../../kernels/curve.wgsl");

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
    /// The picture holds |ψ| and phases: draw |ψ|² coloured by phase. Otherwise the value in one colour.
    pub by_phase: bool,
    /// Colour of the line, gamma-space, alpha as its strength.
    pub line: [f32; 4],
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
    unused: u32,
    line: [f32; 4],
}

/// Textures and pipeline of the curve.
pub struct Curve {
    pipeline: Pipeline,
    values: Texture,
    phases: Texture,
    hues: Texture,
    bind_group: wgpu::BindGroup,
    size: [usize; 2],
}

impl Curve {
    /// Compiles the shader.
    #[must_use]
    pub fn new(render: &RenderState) -> Self {
        let pipeline = Pipeline::new(
            render,
            "curve",
            SOURCE,
            3,
            UNIFORM_BYTES,
            wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING,
        );
        let device = &render.device;
        let values = Texture::new(device, wgpu::TextureFormat::R32Float, "curve values");
        let phases = Texture::new(device, wgpu::TextureFormat::R32Float, "curve phases");
        let hues = Texture::new(device, wgpu::TextureFormat::Rgba8Unorm, "curve phase table");
        let bind_group = pipeline.bind(device, &[&values, &phases, &hues]);
        Self {
            pipeline,
            values,
            phases,
            hues,
            bind_group,
            size: [0, 0],
        }
    }

    /// Takes over a frame's picture of one row. Call it once per new frame.
    pub fn upload(&mut self, render: &RenderState, image: &FieldImage) {
        self.size = image.size;
        if image.value.is_empty() {
            return;
        }
        let mut anew = self.values.write(render, image.size, &image.value);
        if !image.phase.is_empty() {
            anew |= self.phases.write(render, image.size, &image.phase);
        }
        if anew {
            self.rebind(render);
        }
    }

    /// Takes over the phase table.
    pub fn set_hues(&mut self, render: &RenderState, hues: &Table) {
        if self.hues.write(render, [256, 1], &hues.map(|[r, g, b]| [r, g, b, 255])) {
            self.rebind(render);
        }
    }

    fn rebind(&mut self, render: &RenderState) {
        self.bind_group = self
            .pipeline
            .bind(&render.device, &[&self.values, &self.phases, &self.hues]);
    }

    /// The callback that draws into `clip`; `None` before the first upload.
    pub fn callback(
        &self,
        render: &RenderState,
        clip: egui::Rect,
        placement: Placement,
        drawing: Drawing,
    ) -> Option<egui::PaintCallback> {
        if self.size[0] == 0 {
            return None;
        }
        let span = drawing.high - drawing.low;
        let uniforms = Uniforms {
            origin: placement.origin,
            step: [placement.step[0], drawing.height],
            size: self.size.map(|n| n as f32),
            low: drawing.low,
            scale: if span > 0.0 { 1.0 / span } else { 0.0 },
            base: drawing.base,
            mode: u32::from(drawing.by_phase),
            linear_target: self.pipeline.linear_target(),
            unused: 0,
            line: drawing.line,
        };
        Some(self.pipeline.callback(render, clip, &self.bind_group, &uniforms))
    }
}

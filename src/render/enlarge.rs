//! A picture that was drawn at another resolution, laid over the window.

use super::Placement;
use super::gpu::{self, Pipeline};
use eframe::egui_wgpu::RenderState;

/// The shader.
pub const SOURCE: &str = concat!(
    include_str!("../../kernels/drawn.wgsl"),
    include_str!("../../kernels/enlarge.wgsl")
);

/// Bytes of its uniforms.
pub const UNIFORM_BYTES: usize = size_of::<Uniforms>();

/// Format of the pictures: gamma-space, premultiplied.
pub const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    origin: [f32; 2],
    step: [f32; 2],
    size: [f32; 2],
    linear_target: u32,
    unused: u32,
}

/// A target to draw into, and the pipeline that shows it.
pub struct Enlarged {
    pipeline: Pipeline,
    target: Option<(wgpu::TextureView, wgpu::BindGroup, [u32; 2])>,
}

impl Enlarged {
    /// Compiles the shader; there is no target yet.
    #[must_use]
    pub fn new(render: &RenderState) -> Self {
        let blend = wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING;
        Self {
            pipeline: Pipeline::new(render, "enlarge", SOURCE, 1, UNIFORM_BYTES, blend),
            target: None,
        }
    }

    /// The target's texture; `None` before there is one.
    pub fn picture(&self) -> Option<&wgpu::Texture> {
        self.target.as_ref().map(|(view, _, _)| view.texture())
    }

    /// The target of this size, made anew where the size is another one.
    pub fn target(&mut self, render: &RenderState, size: [u32; 2]) -> wgpu::TextureView {
        if let Some((view, _, known)) = &self.target
            && *known == size
        {
            return view.clone();
        }
        let usage = wgpu::TextureUsages::TEXTURE_BINDING
            | wgpu::TextureUsages::RENDER_ATTACHMENT
            | wgpu::TextureUsages::COPY_SRC;
        let texture = gpu::texture(&render.device, "picture in space", FORMAT, size, usage);
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let bind_group = self.pipeline.bind_views(&render.device, std::slice::from_ref(&view));
        self.target = Some((view.clone(), bind_group, size));
        view
    }

    /// The callback that lays the target over `rect`; `None` before there is one.
    pub fn callback(
        &self,
        render: &RenderState,
        rect: egui::Rect,
        pixels_per_point: f32,
    ) -> Option<egui::PaintCallback> {
        let (_, bind_group, size) = self.target.as_ref()?;
        let size = size.map(|n| n as f32);
        let upright = Placement::new(rect, size, pixels_per_point);
        // Rows of a placement run upwards, those of the target downwards.
        let uniforms = Uniforms {
            origin: [upright.origin[0], size[1] - upright.origin[1]],
            step: [upright.step[0], -upright.step[1]],
            size,
            linear_target: self.pipeline.linear_target(),
            unused: 0,
        };
        Some(self.pipeline.callback(render, rect, bind_group, &uniforms))
    }
}

//! The little that the drawables share: a textured full-screen pipeline, textures that grow but do not shrink, and both together.

use super::upload::Upload;
use crate::colormap::Table;
use crate::solver::FieldImage;
use bytemuck::Pod;
use eframe::egui_wgpu::{self, RenderState};
use egui::PaintCallbackInfo;

/// A texture whose room grows in coarse steps, so that zooming does not allocate.
struct Texture {
    texture: wgpu::Texture,
    format: wgpu::TextureFormat,
    label: &'static str,
    upload: Upload,
}

impl Texture {
    /// A texture with room for one texel.
    fn new(device: &wgpu::Device, format: wgpu::TextureFormat, label: &'static str) -> Self {
        Self {
            texture: texture(device, label, format, [1, 1], UPLOADED),
            format,
            label,
            upload: Upload::default(),
        }
    }

    /// Uploads rows of texels, x fastest; returns whether the texture had to be made anew (its view changed).
    fn write<T: Pod>(&mut self, render: &RenderState, size: [usize; 2], texels: &[T]) -> bool {
        let width = self.texture.width() as usize;
        let height = self.texture.height() as usize;
        let grows = size[0] > width || size[1] > height;
        if grows {
            let most = render.device.limits().max_texture_dimension_2d as usize;
            let room = |need: usize, have: usize| (need.max(have).next_multiple_of(256).min(most)) as u32;
            let room = [room(size[0], width), room(size[1], height)];
            self.texture = texture(&render.device, self.label, self.format, room, UPLOADED);
        }
        let rows = (bytemuck::cast_slice(texels), size[0] * size_of::<T>());
        let size = size.map(|side| side as u32);
        self.upload.write(render, &self.texture, size, rows);
        grows
    }

    fn view(&self) -> wgpu::TextureView {
        self.texture.create_view(&wgpu::TextureViewDescriptor::default())
    }
}

/// What a texture is used for that is uploaded into and read by shaders.
pub(super) const UPLOADED: wgpu::TextureUsages =
    wgpu::TextureUsages::TEXTURE_BINDING.union(wgpu::TextureUsages::COPY_DST);

/// A texture of this many texels across and down.
pub fn texture(
    device: &wgpu::Device,
    label: &str,
    format: wgpu::TextureFormat,
    [width, height]: [u32; 2],
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}

/// A pipeline that covers a rectangle with one triangle: binding 0 holds uniforms, the others textures read by
/// `textureLoad`.
pub struct Pipeline {
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    uniforms: wgpu::Buffer,
    label: &'static str,
    linear_target: bool,
}

impl Pipeline {
    /// Compiles `source` (entry points `vertex` and `fragment`) for `textures` textures and `uniform_size` bytes.
    #[must_use]
    pub fn new(
        render: &RenderState,
        label: &'static str,
        source: &str,
        textures: u32,
        uniform_size: usize,
        blend: wgpu::BlendState,
    ) -> Self {
        let device = &render.device;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty,
            count: None,
        };
        let mut entries = vec![entry(
            0,
            wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
        )];
        entries.extend((1..=textures).map(|binding| {
            entry(
                binding,
                wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Float { filterable: false },
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
            )
        }));
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(label),
            entries: &entries,
        });
        let pipeline = pipeline(device, label, &module, &layout, (render.target_format, Some(blend)));
        let uniforms = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: uniform_size as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self {
            pipeline,
            layout,
            uniforms,
            label,
            linear_target: render.target_format.is_srgb(),
        }
    }

    /// 1 where the target encodes sRGB by itself and wants linear colours.
    pub fn linear_target(&self) -> u32 {
        u32::from(self.linear_target)
    }

    /// Binds textures to bindings 1, 2, …
    fn bind(&self, device: &wgpu::Device, textures: &[Texture]) -> wgpu::BindGroup {
        let views: Vec<wgpu::TextureView> = textures.iter().map(Texture::view).collect();
        self.bind_views(device, &views)
    }

    /// The same for textures that are made elsewhere.
    pub fn bind_views(&self, device: &wgpu::Device, views: &[wgpu::TextureView]) -> wgpu::BindGroup {
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: self.uniforms.as_entire_binding(),
        }];
        entries.extend((1..).zip(views).map(|(binding, view)| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::TextureView(view),
        }));
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.label),
            layout: &self.layout,
            entries: &entries,
        })
    }

    /// The callback that draws into `rect`. One a frame: the uniforms are shared.
    pub fn callback<T: Pod>(
        &self,
        render: &RenderState,
        rect: egui::Rect,
        bind_group: &wgpu::BindGroup,
        uniforms: &T,
    ) -> egui::PaintCallback {
        render
            .queue
            .write_buffer(&self.uniforms, 0, bytemuck::bytes_of(uniforms));
        egui_wgpu::Callback::new_paint_callback(
            rect,
            Draw {
                pipeline: self.pipeline.clone(),
                bind_group: bind_group.clone(),
            },
        )
    }
}

/// A pipeline with textures of its own, bound to 1, 2, …
pub struct Sheet {
    pipeline: Pipeline,
    textures: Vec<Texture>,
    bind_group: wgpu::BindGroup,
    size: [usize; 2],
}

impl Sheet {
    /// Textures of these formats and names, each with room for one texel; nothing is shown yet.
    #[must_use]
    pub fn new(render: &RenderState, pipeline: Pipeline, textures: &[(wgpu::TextureFormat, &'static str)]) -> Self {
        let textures: Vec<Texture> = textures
            .iter()
            .map(|(format, label)| Texture::new(&render.device, *format, label))
            .collect();
        Self {
            bind_group: pipeline.bind(&render.device, &textures),
            pipeline,
            textures,
            size: [0, 0],
        }
    }

    /// Texels of the picture that is shown, if there is one.
    pub fn size(&self) -> Option<[f32; 2]> {
        (self.size[0] > 0).then(|| self.size.map(|n| n as f32))
    }

    /// Shows a picture of this size from now on.
    pub fn set_size(&mut self, size: [usize; 2]) {
        self.size = size;
    }

    /// Uploads rows of texels into a texture, x fastest.
    pub fn write<T: Pod>(&mut self, render: &RenderState, texture: usize, size: [usize; 2], texels: &[T]) {
        if self.textures[texture].write(render, size, texels) {
            self.bind_group = self.pipeline.bind(&render.device, &self.textures);
        }
    }

    /// Takes over a frame's picture: its values are the first texture, its phases the second.
    pub fn write_field(&mut self, render: &RenderState, image: &FieldImage) {
        self.size = image.size;
        if !image.value.is_empty() {
            self.write(render, 0, image.size, &image.value);
            if !image.phase.is_empty() {
                self.write(render, 1, image.size, &image.phase);
            }
        }
    }

    /// Uploads a table of 256 sRGB entries.
    pub fn write_table(&mut self, render: &RenderState, texture: usize, table: &Table) {
        self.write(render, texture, [256, 1], &table.map(|[r, g, b]| [r, g, b, 255]));
    }

    /// See [`Pipeline::linear_target`].
    pub fn linear_target(&self) -> u32 {
        self.pipeline.linear_target()
    }

    /// See [`Pipeline::callback`].
    pub fn callback<T: Pod>(&self, render: &RenderState, rect: egui::Rect, uniforms: &T) -> egui::PaintCallback {
        self.pipeline.callback(render, rect, &self.bind_group, uniforms)
    }
}

struct Draw {
    pipeline: wgpu::RenderPipeline,
    bind_group: wgpu::BindGroup,
}

impl egui_wgpu::CallbackTrait for Draw {
    fn paint(
        &self,
        _info: PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        _resources: &egui_wgpu::CallbackResources,
    ) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.draw(0..3, 0..1);
    }
}

/// A pipeline that a shader's `vertex` and `fragment` draw with, without vertex buffers, into a target of this format and blending.
pub(super) fn pipeline(
    device: &wgpu::Device,
    label: &str,
    module: &wgpu::ShaderModule,
    layout: &wgpu::BindGroupLayout,
    (format, blend): (wgpu::TextureFormat, Option<wgpu::BlendState>),
) -> wgpu::RenderPipeline {
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(label),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some("vertex"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some("fragment"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend,
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

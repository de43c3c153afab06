//! A field in space: three slices or a volume, drawn into a picture of its own that the window shows enlarged.
//!
//! The picture is drawn anew only where something that it shows has changed, at the resolution that the caller affords.

use super::enlarge::{Enlarged, FORMAT};
use super::gpu;
use crate::colormap::Kind;
use crate::platform::Instant;
use crate::solver::FieldVolume;
use crate::space::stage::{AMBIENT, OPAQUE, SURFACE};
use crate::space::{MediumVolume, Mode, Stage, Vec3};
use eframe::egui_wgpu::RenderState;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The shader.
pub const SOURCE: &str = concat!(
    include_str!("../../kernels/drawn.wgsl"),
    include_str!("../../kernels/volume.wgsl")
);

/// Bytes of its uniforms.
pub const UNIFORM_BYTES: usize = size_of::<Uniforms>();

#[repr(C)]
#[derive(Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    eye: [f32; 4],
    forward: [f32; 4],
    right: [f32; 4],
    up: [f32; 4],
    half_sides: [f32; 4],
    slices: [f32; 4],
    field: Placed,
    medium_place: Placed,
    wall: [f32; 4],
    hill: [f32; 4],
    well: [f32; 4],
    look: [f32; 4],
    viewport: [f32; 2],
    mode: u32,
    cyclic: u32,
    shading: u32,
    medium: u32,
    unused: [u32; 2],
}

/// From the world to a texture's coordinates.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
struct Placed {
    scale: [f32; 4],
    bias: [f32; 4],
    texel: [f32; 4],
}

impl Placed {
    fn new(half: Vec3, extent: [f32; 3], size: [usize; 3]) -> Self {
        let all = |of: &dyn Fn(usize) -> f32| [of(0), of(1), of(2), 0.0];
        Self {
            scale: all(&|axis| 0.5 * extent[axis] / half[axis]),
            bias: all(&|axis| 0.5 * extent[axis]),
            texel: all(&|axis| 1.0 / size[axis].max(1) as f32),
        }
    }
}

fn four(vector: Vec3, last: f32) -> [f32; 4] {
    [vector[0], vector[1], vector[2], last]
}

/// A texture of three dimensions.
struct Solid {
    texture: wgpu::Texture,
    size: [usize; 3],
    extent: [f32; 3],
}

impl Solid {
    fn new(device: &wgpu::Device, label: &str, format: wgpu::TextureFormat, size: [usize; 3]) -> Self {
        let [width, height, depth] = size.map(|n| n.max(1) as u32);
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some(label),
            size: wgpu::Extent3d {
                width,
                height,
                depth_or_array_layers: depth,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D3,
            format,
            usage: gpu::UPLOADED,
            view_formats: &[],
        });
        Self {
            texture,
            size,
            extent: [1.0; 3],
        }
    }

    fn write(&self, queue: &wgpu::Queue, bytes: &[u8], texel: usize) {
        queue.write_texture(
            self.texture.as_image_copy(),
            bytes,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some((self.size[0] * texel) as u32),
                rows_per_image: Some(self.size[1] as u32),
            },
            self.texture.size(),
        );
    }
}

/// Textures and pipeline of pictures in space.
pub struct VolumePicture {
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    uniforms: wgpu::Buffer,
    sampler: wgpu::Sampler,
    field: Solid,
    medium: Solid,
    table: wgpu::Texture,
    bind_group: wgpu::BindGroup,
    enlarged: Enlarged,
    /// What the picture shows: a counter of uploads, and the stage at its resolution.
    uploads: u64,
    drawn: Option<(u64, Stage)>,
    /// Nanoseconds of the picture drawn last; 0 while it is under way.
    took: Arc<AtomicU64>,
    cost: f64,
    awaited: bool,
}

impl VolumePicture {
    /// Compiles the shader; nothing is shown until a field is uploaded.
    #[must_use]
    pub fn new(render: &RenderState) -> Self {
        let device = &render.device;
        let (pipeline, layout) = pipeline(device);
        let uniforms = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("volume"),
            size: UNIFORM_BYTES as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("volume"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..wgpu::SamplerDescriptor::default()
        });
        let field = Solid::new(device, "volume", wgpu::TextureFormat::R16Float, [1; 3]);
        let medium = Solid::new(device, "medium in space", wgpu::TextureFormat::Rg8Snorm, [1; 3]);
        let format = wgpu::TextureFormat::Rgba32Float;
        let table = gpu::texture(device, "colour and opacity", format, [256, 1], gpu::UPLOADED);
        let bind_group = bind(
            device,
            &layout,
            &uniforms,
            &sampler,
            [&field.texture, &medium.texture, &table],
        );
        Self {
            pipeline,
            layout,
            uniforms,
            sampler,
            field,
            medium,
            table,
            bind_group,
            enlarged: Enlarged::new(render),
            uploads: 0,
            drawn: None,
            took: Arc::new(AtomicU64::new(0)),
            cost: 0.0,
            awaited: false,
        }
    }

    /// Takes over a field. Call it once per new frame.
    pub fn upload(&mut self, render: &RenderState, field: &FieldVolume) {
        let (format, texel) = match field.channels() {
            2 => (wgpu::TextureFormat::Rg16Float, 4),
            _ => (wgpu::TextureFormat::R16Float, 2),
        };
        let largest = render.device.limits().max_texture_dimension_3d as usize;
        if field.texels.is_empty() || field.size.iter().any(|n| *n > largest) {
            return;
        }
        if self.field.size != field.size || self.field.texture.format() != format {
            self.field = Solid::new(&render.device, "volume", format, field.size);
            self.rebind(render);
        }
        self.field.extent = field.extent();
        self.field
            .write(&render.queue, bytemuck::cast_slice(&field.texels), texel);
        self.uploads += 1;
    }

    /// Takes over the medium; an empty one is not shown.
    pub fn upload_medium(&mut self, render: &RenderState, medium: &MediumVolume) {
        let size = if medium.is_empty() { [1; 3] } else { medium.size };
        self.medium = Solid::new(&render.device, "medium in space", wgpu::TextureFormat::Rg8Snorm, size);
        if !medium.is_empty() {
            self.medium.extent = medium.extent();
            self.medium
                .write(&render.queue, bytemuck::cast_slice(&medium.texels), 2);
        }
        self.rebind(render);
        self.uploads += 1;
    }

    fn rebind(&mut self, render: &RenderState) {
        let textures = [&self.field.texture, &self.medium.texture, &self.table];
        self.bind_group = bind(&render.device, &self.layout, &self.uniforms, &self.sampler, textures);
    }

    /// Draws the picture of a stage over the stage's viewport, if it is not drawn yet.
    pub fn draw(&mut self, render: &RenderState, stage: &Stage) {
        let unchanged =
            (self.drawn.as_ref()).is_some_and(|(uploads, drawn)| *uploads == self.uploads && drawn == stage);
        if unchanged || self.uploads == 0 {
            return;
        }
        let size = stage.camera.viewport.map(|n| (n as u32).max(1));
        let target = self.enlarged.target(render, size);
        self.write(render, stage);
        let mut encoder = render
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("volume") });
        {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("volume"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &target,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                ..wgpu::RenderPassDescriptor::default()
            });
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.bind_group, &[]);
            pass.draw(0..3, 0..1);
        }
        self.took.store(0, Ordering::Relaxed);
        let (begin, took) = (Instant::now(), Arc::clone(&self.took));
        encoder.on_submitted_work_done(move || {
            let nanoseconds = begin.elapsed().as_nanos().max(1);
            took.store(u64::try_from(nanoseconds).unwrap_or(u64::MAX), Ordering::Relaxed);
        });
        render.queue.submit([encoder.finish()]);
        self.cost = f64::from(size[0]) * f64::from(size[1]) / f64::from(stage.step);
        self.drawn = Some((self.uploads, stage.clone()));
        self.awaited = true;
    }

    /// Whether it is not known yet what the picture drawn last took.
    pub fn is_awaited(&self) -> bool {
        self.awaited
    }

    /// Pixels × steps per longest side of the picture drawn last with the seconds that it took, once they are known.
    pub fn measured(&mut self, render: &RenderState) -> Option<(f64, f64)> {
        // Lets the device report what is done; a lost device is reported elsewhere.
        let _ = render.device.poll(wgpu::PollType::Poll);
        let nanoseconds = self.took.swap(0, Ordering::Relaxed);
        self.awaited &= nanoseconds == 0;
        (nanoseconds > 0).then_some((self.cost, nanoseconds as f64 * 1e-9))
    }

    /// The picture, premultiplied and gamma-space; `None` before the first one.
    pub fn picture(&self) -> Option<&wgpu::Texture> {
        self.enlarged.picture()
    }

    /// The callback that lays the picture over `rect`; `None` before the first one.
    pub fn callback(
        &self,
        render: &RenderState,
        rect: egui::Rect,
        pixels_per_point: f32,
    ) -> Option<egui::PaintCallback> {
        self.enlarged.callback(render, rect, pixels_per_point)
    }

    fn write(&self, render: &RenderState, stage: &Stage) {
        let camera = &stage.camera;
        let uniforms = Uniforms {
            eye: four(camera.eye, stage.step),
            forward: four(camera.forward, stage.mapping[0]),
            right: four(camera.right, stage.mapping[1]),
            up: four(camera.up, 0.0),
            half_sides: four(stage.shape.half, 0.0),
            slices: four(stage.slices, 0.0),
            field: Placed::new(stage.shape.half, self.field.extent, self.field.size),
            medium_place: Placed::new(stage.shape.half, self.medium.extent, self.medium.size),
            wall: four(stage.tints.wall, 1.0),
            hill: four(stage.tints.hill, 1.0),
            well: four(stage.tints.well, 1.0),
            look: [SURFACE[0], SURFACE[1], AMBIENT, OPAQUE],
            viewport: camera.viewport,
            mode: u32::from(stage.mode == Mode::Volume),
            cyclic: u32::from(stage.kind == Kind::Cyclic),
            shading: u32::from(stage.shading),
            medium: u32::from(stage.medium),
            unused: [0; 2],
        };
        render
            .queue
            .write_buffer(&self.uniforms, 0, bytemuck::bytes_of(&uniforms));
        render.queue.write_texture(
            self.table.as_image_copy(),
            bytemuck::cast_slice(&stage.table),
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(256 * 16),
                rows_per_image: None,
            },
            self.table.size(),
        );
    }
}

fn bind(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    uniforms: &wgpu::Buffer,
    sampler: &wgpu::Sampler,
    textures: [&wgpu::Texture; 3],
) -> wgpu::BindGroup {
    let [field, medium, table] = textures.map(|texture| texture.create_view(&wgpu::TextureViewDescriptor::default()));
    let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("volume"),
        layout,
        entries: &[
            entry(0, uniforms.as_entire_binding()),
            entry(1, wgpu::BindingResource::TextureView(&field)),
            entry(2, wgpu::BindingResource::TextureView(&medium)),
            entry(3, wgpu::BindingResource::Sampler(sampler)),
            entry(4, wgpu::BindingResource::TextureView(&table)),
        ],
    })
}

fn pipeline(device: &wgpu::Device) -> (wgpu::RenderPipeline, wgpu::BindGroupLayout) {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("volume"),
        source: wgpu::ShaderSource::Wgsl(SOURCE.into()),
    });
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty,
        count: None,
    };
    let texture = |filterable, view_dimension| wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable },
        view_dimension,
        multisampled: false,
    };
    let uniform = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("volume"),
        entries: &[
            entry(0, uniform),
            entry(1, texture(true, wgpu::TextureViewDimension::D3)),
            entry(2, texture(true, wgpu::TextureViewDimension::D3)),
            entry(3, wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering)),
            entry(4, texture(false, wgpu::TextureViewDimension::D2)),
        ],
    });
    let pipeline = gpu::pipeline(device, "volume", &module, &layout, (FORMAT, None));
    (pipeline, layout)
}

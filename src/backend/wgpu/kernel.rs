//! Kernels: WGSL with constants, compiled once a device.

use super::stream::ENTRY;
use super::{Buffer, Device, WgpuError};
use std::num::NonZero;
use std::sync::PoisonError;

/// What a kernel is given at one of its bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// A few numbers, the same in every launch.
    Uniform,
    /// A table of those, 256 bytes each, of which it sees so many; a launch says the first.
    Table(u64),
    /// An array that it reads.
    Read,
    /// An array that it writes as well.
    Write,
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(super) pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    pub(super) entry: &'static str,
}

/// A kernel's arrays.
#[derive(Clone, Debug)]
pub struct Bind {
    pub(super) group: wgpu::BindGroup,
    /// They are not freed before the launches that were queued.
    _buffers: Vec<Buffer>,
}

impl Device {
    /// An entry of a source, called `name` in messages, with its `override` constants; compiled on first use.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn kernel(
        &self,
        (name, source): (&str, &str),
        entry: &'static str,
        bindings: &[Binding],
        constants: &[(&str, f64)],
    ) -> Result<Kernel, WgpuError> {
        let key = format!("{name} {entry} {constants:?}");
        let mut known = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = known.get(&key) {
            return Ok(kernel.clone());
        }
        let filters = [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::Internal];
        let made = self.watched(&filters, || self.compiled((name, source), entry, bindings, constants));
        let kernel = made.map_err(|message| WgpuError::Call {
            what: key.clone(),
            message,
        })?;
        known.insert(key, kernel.clone());
        Ok(kernel)
    }

    fn compiled(
        &self,
        (name, source): (&str, &str),
        entry: &'static str,
        bindings: &[Binding],
        constants: &[(&str, f64)],
    ) -> Kernel {
        let module = self.raw.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let entries: Vec<wgpu::BindGroupLayoutEntry> = (0..)
            .zip(bindings)
            .map(|(binding, kind)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: match kind {
                        Binding::Uniform | Binding::Table(_) => wgpu::BufferBindingType::Uniform,
                        Binding::Read => wgpu::BufferBindingType::Storage { read_only: true },
                        Binding::Write => wgpu::BufferBindingType::Storage { read_only: false },
                    },
                    has_dynamic_offset: matches!(kind, Binding::Table(_)),
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        let layout = self.raw.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(name),
            entries: &entries,
        });
        let whole = self.raw.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(name),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = self.raw.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: Some(&whole),
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                // Every kernel writes before it reads.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        Kernel {
            pipeline,
            layout,
            entry,
        }
    }

    /// A kernel's arrays, in the order of its bindings.
    pub fn bind(&self, kernel: &Kernel, bindings: &[(Binding, &Buffer)]) -> Bind {
        let entries: Vec<wgpu::BindGroupEntry> = (0..)
            .zip(bindings)
            .map(|(binding, (kind, buffer))| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &buffer.raw,
                    offset: 0,
                    size: match kind {
                        Binding::Table(entries) => NonZero::new(entries * ENTRY),
                        _ => None,
                    },
                }),
            })
            .collect();
        Bind {
            group: self.raw.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(kernel.entry),
                layout: &kernel.layout,
                entries: &entries,
            }),
            _buffers: bindings.iter().map(|(_, buffer)| (*buffer).clone()).collect(),
        }
    }
}

//! Pictures on their way to a texture, through buffers that are kept from one picture to the next.
//!
//! `Queue::write_texture` makes a buffer for every picture. Where wgpu emulates mapped buffers (OpenGL) it is filled with zeros, in pages that are new each time: for 4 MiB that takes longer
//! than all else that the window does for a picture.

use eframe::egui_wgpu::RenderState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Pictures below this number of bytes are not worth a buffer of their own.
const LEAST: usize = 1 << 16;
/// Buffers of a texture: one that is being written, those that the adapter still reads.
const MOST: usize = 3;

/// The buffers of one texture.
#[derive(Default)]
pub(super) struct Upload {
    buffers: Vec<Kept>,
}

struct Kept {
    buffer: wgpu::Buffer,
    /// Whether it is mapped: the adapter has read what was in it.
    is_free: Arc<AtomicBool>,
}

impl Upload {
    /// Copies rows of `bytes`, each `across` bytes long, to the lower corner of a texture; `size` in texels.
    pub(super) fn write(
        &mut self,
        render: &RenderState,
        texture: &wgpu::Texture,
        size: [u32; 2],
        (bytes, across): (&[u8], usize),
    ) {
        let extent = wgpu::Extent3d {
            width: size[0],
            height: size[1],
            depth_or_array_layers: 1,
        };
        let kept = if bytes.len() < LEAST || cfg!(target_arch = "wasm32") {
            None
        } else {
            self.fill(render, bytes, across)
        };
        let layout = |across: usize| wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(across as u32),
            rows_per_image: None,
        };
        let Some(kept) = kept else {
            let target = texture.as_image_copy();
            render.queue.write_texture(target, bytes, layout(across), extent);
            return;
        };
        let source = wgpu::TexelCopyBufferInfo {
            buffer: &kept.buffer,
            layout: layout(padded(across)),
        };
        let mut encoder = render
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_texture(source, texture.as_image_copy(), extent);
        render.queue.submit([encoder.finish()]);
        let is_free = Arc::clone(&kept.is_free);
        kept.buffer.map_async(wgpu::MapMode::Write, .., move |result| {
            is_free.store(result.is_ok(), Ordering::Release);
        });
    }

    /// A buffer with these rows in it, unmapped; `None` where the adapter still reads all of them, or is lost.
    fn fill(&mut self, render: &RenderState, bytes: &[u8], across: usize) -> Option<&Kept> {
        let room = (padded(across) * bytes.len().div_ceil(across)) as u64;
        // A larger picture leaves no use for what was made for smaller ones.
        self.buffers.retain(|kept| kept.buffer.size() >= room);
        let is_free = |kept: &Kept| kept.is_free.swap(false, Ordering::Acquire);
        let place = match self.buffers.iter().position(is_free) {
            Some(place) => place,
            None if self.buffers.len() < MOST => {
                self.buffers.push(Kept {
                    buffer: render.device.create_buffer(&wgpu::BufferDescriptor {
                        label: Some("picture on its way"),
                        size: room,
                        usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                        mapped_at_creation: true,
                    }),
                    is_free: Arc::default(),
                });
                self.buffers.len() - 1
            }
            None => return None,
        };
        let kept = &self.buffers[place];
        let mut view = kept.buffer.get_mapped_range_mut(..room).ok()?;
        if padded(across) == across {
            view.slice(..bytes.len()).copy_from_slice(bytes);
        } else {
            for (row, texels) in bytes.chunks(across).enumerate() {
                let start = row * padded(across);
                view.slice(start..start + texels.len()).copy_from_slice(texels);
            }
        }
        drop(view);
        kept.buffer.unmap();
        Some(kept)
    }
}

/// Bytes from row to row in a buffer that is copied to a texture.
fn padded(across: usize) -> usize {
    across.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize)
}

//! The window without a display: laid out and drawn into a texture, for measuring what its frames cost.

use super::meter::{process_memory, thread_time};
use super::{App, AppOptions};
use crate::platform::Instant;
use crate::render::{gpu, headless};
use eframe::App as _;
use eframe::egui_wgpu::{RenderState, ScreenDescriptor, wgpu};
use egui::{Event, Pos2, Rect, Vec2};
use std::time::Duration;

/// What a frame cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Seconds on the clock of the thread that lays out, tessellates and hands over.
    pub main: f64,
    /// Seconds that this thread had a processor, where the system tells.
    pub processor: Option<f64>,
    /// Seconds until the adapter had drawn it after that.
    pub drawing: f64,
    /// How soon the window wants to be drawn again.
    pub again: Duration,
    /// Meshes that are drawn one by one: like their corners the same whatever else runs on the machine.
    pub meshes: usize,
    /// Corners of all meshes.
    pub corners: usize,
}

/// A window of a fixed size at one pixel a point.
pub struct Offscreen {
    ctx: egui::Context,
    app: App,
    frame: eframe::Frame,
    render: RenderState,
    target: wgpu::TextureView,
    size: [u32; 2],
    started: Instant,
    events: Vec<Event>,
}

impl Offscreen {
    /// Opens a scene on the adapter that a window would draw with, with every panel open.
    ///
    /// # Errors
    /// If there is no adapter, or the system gives no thread.
    pub fn open(scene: &str, size: [u32; 2]) -> Result<Self, String> {
        let render = headless::device()?;
        let ctx = egui::Context::default();
        let mut cc = eframe::CreationContext::_new_kittest(ctx.clone());
        let mut frame = eframe::Frame::_new_kittest();
        cc.wgpu_render_state = Some(render.clone());
        frame.wgpu_render_state = Some(render.clone());
        let started = Instant::now();
        let options = AppOptions {
            scene: Some(scene.to_owned()),
            ..AppOptions::default()
        };
        let app = App::new(&cc, options, started).map_err(|error| error.to_string())?;
        let (format, usage) = (render.target_format, wgpu::TextureUsages::RENDER_ATTACHMENT);
        let texture = gpu::texture(&render.device, "window without a display", format, size, usage);
        Ok(Self {
            ctx,
            app: app.paused().with_own_dialogues().with_all_panels(),
            frame,
            target: texture.create_view(&wgpu::TextureViewDescriptor::default()),
            render,
            size,
            started,
            events: Vec::new(),
        })
    }

    /// The window's state.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }

    /// What draws it, for people.
    #[must_use]
    pub fn adapter(&self) -> String {
        let info = self.render.adapter.get_info();
        format!("{} ({:?}, {:?})", info.name, info.device_type, info.backend)
    }

    /// Lets the run go on, or stops it, with the next frame.
    pub fn play_or_pause(&mut self) {
        self.press(egui::Key::Space);
    }

    /// Begins the run anew with the next frame.
    pub fn again(&mut self) {
        self.press(egui::Key::R);
        self.press(egui::Key::Space);
    }

    /// A key for the next frame.
    fn press(&mut self, key: egui::Key) {
        self.events.extend([true, false].map(|pressed| Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: egui::Modifiers::NONE,
        }));
    }

    /// One frame, laid out, handed over and drawn.
    ///
    /// # Errors
    /// If the adapter is lost.
    pub fn draw(&mut self) -> Result<Cost, String> {
        let [width, height] = self.size.map(|side| side as f32);
        let input = egui::RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, Vec2::new(width, height))),
            time: Some(self.started.elapsed().as_secs_f64()),
            focused: true,
            events: std::mem::take(&mut self.events),
            ..egui::RawInput::default()
        };
        let (begin, before) = (Instant::now(), thread_time());
        let (app, frame) = (&mut self.app, &mut self.frame);
        let output = self.ctx.run_ui(input, |ui| app.ui(ui, frame));
        let shapes = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        let corners = |shape: &egui::ClippedPrimitive| match &shape.primitive {
            egui::epaint::Primitive::Mesh(mesh) => mesh.vertices.len(),
            egui::epaint::Primitive::Callback(_) => 3,
        };
        let (meshes, corners) = (shapes.len(), shapes.iter().map(corners).sum());
        self.hand_over(output.textures_delta, &shapes);
        let main = begin.elapsed().as_secs_f64();
        let spent = thread_time()
            .zip(before)
            .map(|(now, before)| now.saturating_sub(before).as_secs_f64());
        let begin = Instant::now();
        let waited = self.render.device.poll(wgpu::PollType::wait_indefinitely());
        waited.map_err(|error| error.to_string())?;
        let root = output.viewport_output.get(&egui::ViewportId::ROOT);
        Ok(Cost {
            main,
            processor: spent,
            drawing: begin.elapsed().as_secs_f64(),
            again: root.map_or(Duration::MAX, |root| root.repaint_delay),
            meshes,
            corners,
        })
    }

    fn hand_over(&self, mut textures: egui::TexturesDelta, shapes: &[egui::ClippedPrimitive]) {
        let (device, queue) = (&self.render.device, &self.render.queue);
        let mut renderer = self.render.renderer.write();
        for (id, images) in textures.set.drain() {
            for image in images {
                renderer.update_texture(device, queue, id, &image);
            }
        }
        let screen = ScreenDescriptor {
            pixels_per_point: 1.0,
            size_in_pixels: self.size,
        };
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let buffers = renderer.update_buffers(device, queue, &mut encoder, shapes, &screen);
        let mut pass = encoder
            .begin_render_pass(&wgpu::RenderPassDescriptor {
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &self.target,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                        store: wgpu::StoreOp::Store,
                    },
                    depth_slice: None,
                })],
                ..wgpu::RenderPassDescriptor::default()
            })
            .forget_lifetime();
        renderer.render(&mut pass, shapes, &screen);
        drop(pass);
        queue.submit(buffers.into_iter().chain(std::iter::once(encoder.finish())));
        for id in textures.free.drain() {
            renderer.free_texture(&id);
        }
    }

    /// Bytes of the process that lie in memory, where the system tells.
    #[must_use]
    pub fn memory() -> Option<u64> {
        process_memory()
    }
}

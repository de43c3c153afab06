//! The drawables of one window, and what was uploaded into them.

use super::view_panel;
use crate::colormap::{self, Colormap, Kind};
use crate::engine::Frame;
use crate::render::{Curve, FieldPicture, MediumPicture, VolumePicture, medium::MediumImage};
use crate::scene::SceneFile;
use crate::space::MediumVolume;
use eframe::egui_wgpu::RenderState;

/// The drawables with the graphics device.
pub struct Pictures {
    /// The device.
    pub render: RenderState,
    /// 2D and 3D fields.
    pub field: FieldPicture,
    /// Walls and potential.
    pub medium: MediumPicture,
    /// 1D fields.
    pub curve: Curve,
    /// 3D fields in space.
    pub volume: VolumePicture,
    /// The picture that the volume was uploaded with.
    volume_serial: Option<u64>,
    serial: Option<(u64, usize)>,
    map: Option<(&'static str, bool)>,
}

impl Pictures {
    /// Compiles the shaders.
    #[must_use]
    pub fn new(render: &RenderState) -> Self {
        Self {
            field: FieldPicture::new(render),
            medium: MediumPicture::new(render),
            curve: Curve::new(render),
            volume: VolumePicture::new(render),
            volume_serial: None,
            render: render.clone(),
            serial: None,
            map: None,
        }
    }

    /// Uploads a frame's picture, once.
    pub fn take(&mut self, frame: &Frame, rank: usize) {
        let serial = Some((frame.image_serial, rank));
        if self.serial == serial {
            return;
        }
        self.serial = serial;
        if rank == 1 {
            self.curve.upload(&self.render, &frame.image);
        } else {
            self.field.upload(&self.render, &frame.image);
        }
    }

    /// Uploads a frame's volume, once.
    pub fn take_volume(&mut self, frame: &Frame) {
        let Some(volume) = &frame.volume else { return };
        if self.volume_serial != Some(frame.image_serial) {
            self.volume_serial = Some(frame.image_serial);
            self.volume.upload(&self.render, volume);
        }
    }

    /// Uploads the medium in space.
    pub fn take_medium_volume(&mut self, medium: &MediumVolume) {
        self.volume.upload_medium(&self.render, medium);
    }

    /// Whether the adapter is the processor itself.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.render.adapter.get_info().device_type == wgpu::DeviceType::Cpu
    }

    /// Uploads the medium.
    pub fn take_medium(&mut self, image: &MediumImage) {
        self.medium.upload(&self.render, image);
    }

    /// Uploads the colour map of a scene, once. `graph_of_phases`: the field is a graph that is coloured by the phase.
    pub fn take_map(&mut self, map: &'static Colormap, graph_of_phases: bool) {
        let key = Some((map.id, graph_of_phases));
        if self.map == key {
            return;
        }
        self.map = key;
        let hues = if map.kind == Kind::Cyclic {
            map
        } else {
            colormap::auto(Kind::Cyclic)
        };
        self.field.set_tables(&self.render, map.table(), hues.table());
        let curve = if graph_of_phases { hues } else { map };
        self.curve.set_table(&self.render, curve.table());
    }
}

/// The colour map as a texture for the colour bar.
#[derive(Default)]
pub struct Bar {
    texture: Option<(&'static str, egui::TextureHandle)>,
}

impl Bar {
    /// The texture of a scene's map.
    pub fn texture(&mut self, ctx: &egui::Context, file: &SceneFile) -> (&'static Colormap, egui::TextureId) {
        let map = view_panel::map(file);
        if let Some((id, handle)) = &self.texture
            && *id == map.id
        {
            return (map, handle.id());
        }
        let pixels = map
            .table()
            .iter()
            .map(|&[r, g, b]| egui::Color32::from_rgb(r, g, b))
            .collect();
        let image = egui::ColorImage::new([colormap::ENTRIES, 1], pixels);
        let handle = ctx.load_texture("colour bar", image, egui::TextureOptions::NEAREST);
        let id = handle.id();
        self.texture = Some((map.id, handle));
        (map, id)
    }
}

//! The drawables of one window, and what was uploaded into them.

use crate::colormap::{self, Colormap, Kind};
use crate::engine::Frame;
use crate::render::{Curve, FieldPicture, MediumPicture, VolumePicture, medium::MediumImage};
use crate::space::MediumVolume;
use eframe::egui_wgpu::RenderState;

/// The drawables of a second run.
pub struct Second {
    /// 2D fields.
    pub field: FieldPicture,
    /// 1D fields.
    pub curve: Curve,
    /// Walls and potential: each picture has a place of its own.
    pub medium: MediumPicture,
    /// The medium is another one than was uploaded.
    stale: bool,
    serial: Option<u64>,
    map: Option<&'static str>,
}

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
    /// A second run's field, or a difference, once there was one.
    pub second: Option<Box<Second>>,
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
            second: None,
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

    /// Uploads the picture of a second run, once, with its colours; `graph_of_phases` as in [`Pictures::take_map`].
    pub fn take_second(
        &mut self,
        frame: &Frame,
        medium: &MediumImage,
        rank: usize,
        (map, graph_of_phases): (&'static Colormap, bool),
    ) {
        let render = &self.render;
        let second = self.second.get_or_insert_with(|| {
            Box::new(Second {
                field: FieldPicture::new(render),
                curve: Curve::new(render),
                medium: MediumPicture::new(render),
                stale: true,
                serial: None,
                map: None,
            })
        });
        if std::mem::take(&mut second.stale) {
            second.medium.upload(render, medium);
        }
        let hues = if map.kind == Kind::Cyclic {
            map
        } else {
            colormap::auto(Kind::Cyclic)
        };
        if second.map != Some(map.id) {
            second.map = Some(map.id);
            second.field.set_tables(render, map.table(), hues.table());
            let curve = if graph_of_phases { hues } else { map };
            second.curve.set_table(render, curve.table());
        }
        if second.serial != Some(frame.image_serial) {
            second.serial = Some(frame.image_serial);
            if rank == 1 {
                second.curve.upload(render, &frame.image);
            } else {
                second.field.upload(render, &frame.image);
            }
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
        if let Some(second) = &mut self.second {
            second.stale = true;
        }
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
    /// That of a difference.
    second: Option<(&'static str, egui::TextureHandle)>,
}

impl Bar {
    /// The texture of a map.
    pub fn texture(&mut self, ctx: &egui::Context, map: &'static Colormap) -> egui::TextureId {
        bar_of(&mut self.texture, ctx, map)
    }

    /// The texture of a difference's map.
    pub fn of_difference(&mut self, ctx: &egui::Context, map: &'static Colormap) -> egui::TextureId {
        bar_of(&mut self.second, ctx, map)
    }
}

fn bar_of(
    known: &mut Option<(&'static str, egui::TextureHandle)>,
    ctx: &egui::Context,
    map: &'static Colormap,
) -> egui::TextureId {
    if let Some((id, handle)) = known
        && *id == map.id
    {
        return handle.id();
    }
    let pixels = map
        .table()
        .iter()
        .map(|&[r, g, b]| egui::Color32::from_rgb(r, g, b))
        .collect();
    let image = egui::ColorImage::new([colormap::ENTRIES, 1], pixels);
    let handle = ctx.load_texture("colour bar", image, egui::TextureOptions::NEAREST);
    let id = handle.id();
    *known = Some((map.id, handle));
    id
}

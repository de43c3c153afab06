//! Pictures and arrays dropped on the window become parts of the scene; and the veil that says so while one is held.

use super::background::Dropped;
use super::theme;
use crate::physics::Sets;
use crate::scene::SceneFile;
use crate::scene::file::{LayerFile, ShapeFile, ValueFile};
use std::path::Path;

/// Adds a dropped file to a scene; returns what became of it.
pub fn add(file: &mut SceneFile, dropped: Dropped) -> String {
    let sound = file.acoustic.is_some();
    match dropped {
        Dropped::Picture(path) => {
            let name = short(&path);
            // A picture of grey levels is a landscape for ψ; for sound its bright parts are walls.
            let (sets, value) = if sound {
                (Sets::Wall, None)
            } else {
                (Sets::Potential, Some(ValueFile::Number(0.5)))
            };
            file.layers
                .push(LayerFile::new(sets, ShapeFile::Image { file: path }, value));
            let what = if sound { "walls" } else { "a potential" };
            format!("{name} is now {what}: the last layer of the scene")
        }
        Dropped::Array(path) if !sound => {
            let name = short(&path);
            file.layers
                .push(LayerFile::new(Sets::Potential, ShapeFile::Array { file: path }, None));
            format!("{name} is now a potential: the last layer of the scene")
        }
        Dropped::Sound(path) if !sound => {
            format!("{} is a sound, and a quantum scene has no sources of it", short(&path))
        }
        Dropped::Sound(path) => {
            let name = short(&path);
            file.sources.push(super::sound_panel::player(file, path));
            format!("{name} is now a source in the middle: the last one of the scene")
        }
        Dropped::Array(path) | Dropped::Wave(path) => {
            let name = short(&path);
            file.packets.clear();
            file.eigenstates.clear();
            file.pulses.clear();
            file.initial = Some(path);
            format!("The field now starts as {name}")
        }
    }
}

fn short(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Files that were dropped on the window in this frame.
pub fn files(ctx: &egui::Context) -> Vec<egui::DroppedFileHandle> {
    ctx.input(|input| input.raw.dropped_files.clone())
}

/// While a file is held over the window: what will become of it.
pub fn veil(ctx: &egui::Context) {
    if ctx.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let rect = ctx.content_rect();
    let palette = theme::of(ctx.global_style().visuals.dark_mode);
    let painter = ctx.layer_painter(egui::LayerId::new(
        egui::Order::Foreground,
        egui::Id::unique("drop veil"),
    ));
    painter.rect_filled(rect, 0.0, palette.panel.gamma_multiply(0.85));
    painter.rect_stroke(
        rect.shrink(16.0),
        8.0,
        egui::Stroke::new(2.0, palette.accent),
        egui::StrokeKind::Inside,
    );
    painter.text(
        rect.center(),
        egui::Align2::CENTER_CENTER,
        "Drop a scene to open it, a picture for the medium, an array for the field or the medium",
        egui::FontId::proportional(17.0),
        palette.strong,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(preset: &str) -> SceneFile {
        super::super::background::read(preset, &[]).unwrap().file
    }

    #[test]
    fn what_is_dropped_becomes_what_the_equation_has_room_for() {
        let mut quantum = file("double-slit");
        let layers = quantum.layers.len();
        add(&mut quantum, Dropped::Picture("/a/b.png".into()));
        assert_eq!(quantum.layers.len(), layers + 1);
        assert_eq!(quantum.layers[layers].sets, Sets::Potential);
        add(&mut quantum, Dropped::Array("/a/b.npy".into()));
        assert_eq!(quantum.layers.len(), layers + 2);
        add(&mut quantum, Dropped::Wave("/a/c.npy".into()));
        assert!(quantum.packets.is_empty() && quantum.initial.is_some());

        let mut sound = file("pond");
        add(&mut sound, Dropped::Picture("/a/b.png".into()));
        assert_eq!(sound.layers[0].sets, Sets::Wall);
        add(&mut sound, Dropped::Array("/a/b.npy".into()));
        assert!(sound.pulses.is_empty() && sound.initial.is_some());
    }
}

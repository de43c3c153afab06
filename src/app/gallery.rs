//! The presets with their thumbnails.

use super::scene_library::{Header, OwnScene};
use super::{theme, widgets};
use crate::app::icon::Icon;
use crate::export::Picture;
use crate::scene::presets;
use egui::{ColorImage, Sense, TextureHandle, Ui, vec2};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Thumbnails by the names of their presets.
macro_rules! thumbnails {
    ($($name:literal,)*) => {
        &[$( ($name, include_bytes!(concat!("../../assets/thumbnails/", $name, ".png"))), )*]
    };
}

/// Pictures made by `ripplon list presets --thumbnails`, 200 × 112, by preset.
const THUMBNAILS: &[(&str, &[u8])] = thumbnails![
    "aharonov-bohm",
    "anderson",
    "autofocus",
    "beats",
    "bloch-oscillation",
    "bohm",
    "box-revival",
    "clap-3d",
    "coherent-state",
    "condensate",
    "corral",
    "coupled-rooms",
    "curtain",
    "cyclotron",
    "damped-tube",
    "doppler",
    "double-barrier",
    "double-slit",
    "double-well",
    "echo",
    "echo-in-a-field",
    "elliptic-room",
    "flutter-echo",
    "foucault",
    "free-packet",
    "interaction-step",
    "inverse-filter",
    "laser-atom",
    "laser-atom-long",
    "line-array",
    "loschmidt-echo",
    "mach",
    "michelson",
    "miscibility",
    "moved-table",
    "one-bit-mirror",
    "one-site",
    "one-transducer",
    "piston",
    "pond",
    "quarter-wave",
    "rabi",
    "reciprocity",
    "resonance-line",
    "ring",
    "ring-mirror",
    "room-3d",
    "room-modes",
    "room-response",
    "sabine",
    "sea-floor",
    "side-branch",
    "snell",
    "squeezed",
    "ssh",
    "stadium",
    "standing-flow",
    "step",
    "stern-gerlach",
    "stopped-pipe",
    "talbot",
    "through-the-forest",
    "tissue",
    "transmission",
    "tube",
    "tunnelling",
    "two-media",
    "two-particles",
    "two-site-mirror",
    "vortex",
    "vortex-lattice",
    "waveguide",
    "which-path",
    "zone-plate",
];

/// One entry.
struct Entry {
    /// A preset's name or a file's path.
    name: String,
    title: String,
    tags: Vec<String>,
    /// The lesson's text in small letters, to be searched.
    about: String,
    /// Decoded when the card is first seen.
    texture: OnceCell<Option<TextureHandle>>,
}

/// What can be found of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// It is one of the user's own, not a preset.
    pub own: bool,
    /// A preset's name or a file's path.
    pub name: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its tags.
    pub tags: &'a [String],
    /// Its lesson's text in small letters.
    pub about: &'a str,
}

/// The gallery's state.
pub struct Gallery {
    entries: Vec<Entry>,
    /// The user's own.
    own: Vec<Entry>,
    /// Pictures of the user's own, by path.
    covers: HashMap<String, ColorImage>,
    filter: String,
    /// The scene that was scrolled to.
    seen: Option<String>,
}

impl Default for Gallery {
    /// Every preset.
    fn default() -> Self {
        let entries = presets::all()
            .iter()
            .map(|preset| {
                // The tests read every preset: what stands here is there.
                let header: Header = toml::from_str(preset.text).unwrap_or_default();
                Entry {
                    name: preset.name.to_owned(),
                    title: header.title,
                    tags: header.tags,
                    about: header.about.to_lowercase(),
                    texture: OnceCell::new(),
                }
            })
            .collect();
        Self {
            entries,
            own: Vec::new(),
            covers: HashMap::new(),
            filter: String::new(),
            seen: None,
        }
    }
}

impl Gallery {
    /// Every scene, for the palette.
    pub fn scenes(&self) -> impl Iterator<Item = Known<'_>> {
        let own = self.own.iter().map(|entry| (entry, true));
        let presets = self.entries.iter().map(|entry| (entry, false));
        own.chain(presets).map(|(entry, own)| Known {
            own,
            name: &entry.name,
            title: &entry.title,
            tags: &entry.tags,
            about: &entry.about,
        })
    }

    /// What lies in the user's folder now.
    pub fn set_own(&mut self, scenes: Vec<OwnScene>) {
        let entry = |scene: OwnScene| Entry {
            name: scene.path.to_string_lossy().into_owned(),
            title: scene.title,
            tags: scene.tags,
            about: scene.about,
            texture: OnceCell::new(),
        };
        self.own = scenes.into_iter().map(entry).collect();
    }

    /// The picture of one of the user's own scenes.
    pub fn set_cover(&mut self, path: &Path, picture: &Picture) {
        let name = path.to_string_lossy().into_owned();
        for entry in self.own.iter_mut().filter(|entry| entry.name == name) {
            entry.texture = OnceCell::new();
        }
        let image = ColorImage::from_rgb([picture.width, picture.height], &picture.rgb);
        self.covers.insert(name, image);
    }

    /// Whether one of the user's own scenes has its picture.
    #[must_use]
    pub fn has_cover(&self, path: &Path) -> bool {
        self.covers.contains_key(&*path.to_string_lossy())
    }

    /// The tags that several scenes share, the commonest first: pressed, only scenes with such a tag are shown.
    fn tag_row(&mut self, ui: &mut Ui) {
        const MOST: usize = 7;
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for tag in self.own.iter().chain(&self.entries).flat_map(|entry| &entry.tags) {
            match counts.iter_mut().find(|(known, _)| known == tag) {
                Some((_, count)) => *count += 1,
                None => counts.push((tag, 1)),
            }
        }
        counts.retain(|(_, count)| *count > 1);
        // The sort is stable: tags as common as each other stay in the order of the scenes.
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut wanted = None;
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
            for (tag, count) in counts.into_iter().take(MOST) {
                let on = self.filter == tag;
                let words = egui::RichText::new(tag).size(11.5);
                let response = ui.add(egui::Button::selectable(on, words).min_size(vec2(0.0, 20.0)));
                let response = response.on_hover_text(format!("{count} scenes"));
                if response.accessible_name(format!("Tag {tag}")).clicked() {
                    wanted = Some(if on { String::new() } else { tag.to_owned() });
                }
            }
        });
        if let Some(wanted) = wanted {
            self.filter = wanted;
        }
    }

    /// Shows the gallery; returns the preset or file that was chosen. `present` is the one that is open.
    pub fn show(&mut self, ui: &mut Ui, present: Option<&str>, shelves: &Shelves) -> Option<String> {
        let mut chosen = None;
        ui.add(
            egui::TextEdit::singleline(&mut self.filter)
                .desired_width(f32::INFINITY)
                .margin(egui::Margin::symmetric(8, 6))
                .hint_text("Find a scene"),
        )
        .accessible_name("Find a scene");
        self.tag_row(ui);
        let wanted = self.filter.trim().to_lowercase();
        let fits = |entry: &&Entry| {
            wanted.is_empty()
                || entry.title.to_lowercase().contains(&wanted)
                || entry.name.to_lowercase().contains(&wanted)
                || entry.tags.iter().any(|tag| tag.to_lowercase().contains(&wanted))
                // Two letters stand in every text.
                || (wanted.chars().count() > 2 && entry.about.contains(&wanted))
        };
        let own: Vec<&Entry> = self.own.iter().filter(fits).collect();
        let presets: Vec<&Entry> = self.entries.iter().filter(fits).collect();
        if own.is_empty() && presets.is_empty() {
            widgets::hint(ui, "No scene has this in its name, tags or text.");
        }
        let (seen, covers) = (&mut self.seen, &self.covers);
        let mut list = |ui: &mut Ui, entries: &[&Entry]| {
            for entry in entries {
                let is_present = present == Some(&entry.name);
                let response = card(ui, entry, covers, is_present);
                if is_present && seen.as_ref() != Some(&entry.name) {
                    *seen = Some(entry.name.clone());
                    response.scroll_to_me(None);
                }
                if response.clicked() {
                    // It is in view.
                    *seen = Some(entry.name.clone());
                    chosen = Some(entry.name.clone());
                }
            }
        };
        if !own.is_empty() {
            let folder = shelves.folder.unwrap_or(Path::new(""));
            heading(ui, "Your scenes", Some(&folder.display().to_string()));
            list(ui, &own);
        }
        if !own.is_empty() && !presets.is_empty() {
            heading(ui, "Presets", None);
        }
        list(ui, &presets);
        if wanted.is_empty() && !shelves.recent.is_empty() {
            heading(ui, "Recent files", None);
            for path in shelves.recent {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let button = egui::Button::new((theme::icon(Icon::FileText, 15.0), name.clone(), egui::Atom::grow()))
                    .frame_when_inactive(false)
                    .truncate()
                    .min_size(vec2(ui.available_width(), 24.0));
                let response = ui.add(button).accessible_name(format!("Recent file {name}"));
                if response.on_hover_text(path.display().to_string()).clicked() {
                    chosen = Some(path.to_string_lossy().into_owned());
                }
            }
        }
        chosen
    }
}

/// What the gallery shows beside the presets.
pub struct Shelves<'a> {
    /// The folder of the user's own scenes.
    pub folder: Option<&'a Path>,
    /// Files that were open lately.
    pub recent: &'a [PathBuf],
}

fn heading(ui: &mut Ui, title: &str, about: Option<&str>) {
    ui.add_space(8.0);
    let response = ui.label(egui::RichText::new(title).size(12.0).color(theme::palette(ui).weak));
    if let Some(about) = about {
        response.on_hover_text(about);
    }
}

fn thumbnail(ctx: &egui::Context, name: &str, covers: &HashMap<String, ColorImage>) -> Option<TextureHandle> {
    let image = if let Some(cover) = covers.get(name) {
        cover.clone()
    } else {
        let (_, png) = THUMBNAILS.iter().find(|(known, _)| *known == name)?;
        let image = image::load_from_memory(png).ok()?.to_rgba8();
        let size = [image.width() as usize, image.height() as usize];
        ColorImage::from_rgba_unmultiplied(size, image.as_raw())
    };
    Some(ctx.load_texture(format!("thumbnail {name}"), image, egui::TextureOptions::LINEAR))
}

/// As many whole tags as fit into a line.
fn tags(painter: &egui::Painter, tags: &[String], color: egui::Color32, width: f32) -> std::sync::Arc<egui::Galley> {
    let layout =
        |count: usize| painter.layout_no_wrap(tags[..count].join(" · "), egui::FontId::proportional(11.5), color);
    let mut galley = layout(tags.len().min(1));
    for count in 2..=tags.len() {
        let next = layout(count);
        if next.size().x > width {
            break;
        }
        galley = next;
    }
    galley
}

fn card(ui: &mut Ui, entry: &Entry, covers: &HashMap<String, ColorImage>, present: bool) -> egui::Response {
    let palette = theme::palette(ui);
    let size = vec2(ui.available_width(), 72.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, present, &entry.title));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    // Cards share a clip, and with it drawing commands: what stands in one has its width.
    let painter = ui.painter().clone();
    let fill = if present {
        palette.accent_ground
    } else if response.hovered() || response.has_focus() {
        palette.hover
    } else {
        palette.surface.gamma_multiply(0.6)
    };
    painter.rect_filled(rect, 4.0, fill);
    let picture = egui::Rect::from_min_size(rect.min + vec2(8.0, 8.0), vec2(99.6, 56.0));
    painter.rect_filled(picture, 2.0, palette.canvas);
    let texture = entry.texture.get_or_init(|| thumbnail(ui.ctx(), &entry.name, covers));
    if let Some(texture) = texture {
        let whole = egui::Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
        painter.image(texture.id(), picture, whole, egui::Color32::WHITE);
    } else {
        painter.text(
            picture.center(),
            egui::Align2::CENTER_CENTER,
            char::from(Icon::Waves),
            egui::FontId::new(20.0, theme::icon_family()),
            theme::of(true).weak,
        );
    }
    let left = picture.right() + 12.0;
    let width = rect.right() - left - 8.0;
    let mut job = egui::text::LayoutJob::simple(
        entry.title.clone(),
        egui::FontId::proportional(13.0),
        palette.strong,
        width,
    );
    job.wrap.max_rows = 2;
    let title = painter.layout_job(job);
    let tags = tags(&painter, &entry.tags, palette.weak, width);
    let top = rect.center().y - (title.size().y + tags.size().y + 2.0) / 2.0;
    let below = top + title.size().y + 2.0;
    painter.galley(egui::pos2(left, top), title, palette.strong);
    painter.galley(egui::pos2(left, below), tags, palette.weak);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_has_its_thumbnail() {
        for preset in presets::all() {
            let (_, png) = THUMBNAILS.iter().find(|(name, _)| *name == preset.name).unwrap();
            let image = image::load_from_memory(png).unwrap();
            assert_eq!((image.width(), image.height()), (200, 112), "{}", preset.name);
        }
        assert_eq!(THUMBNAILS.len(), presets::all().len());
    }
}

//! Nothing is lost: edits are kept aside while they are not saved, offered again after the program ended without a word, and asked about
//! before it is closed.

use super::background::Opened;
use super::theme;
use super::window::App;
use crate::units;
use egui::{Key, Modifiers, ViewportCommand};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Seconds after an edit when it is kept aside.
const DELAY: f64 = 2.0;

/// How kept scenes begin: the file that they belong to follows, if there is one.
const HEAD: &str = "# kept by Ripplon; the scene's file: ";

/// What is kept aside.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Where; `None` = nothing is kept.
    pub folder: Option<PathBuf>,
    /// The draft's number that was kept last.
    kept: Option<u64>,
    /// The draft's number seen last, and since when.
    seen: (u64, f64),
    /// Scenes of earlier runs that ended without a word; the latest first.
    pub found: Vec<Kept>,
    /// The window shall be closed and waits for an answer.
    closing: bool,
    /// It was answered.
    confirmed: bool,
}

impl Recovery {
    /// Looks for what earlier runs left in `folder`.
    #[must_use]
    pub fn new(folder: Option<PathBuf>) -> Self {
        let found = folder.as_deref().map(left_behind).unwrap_or_default();
        Self {
            folder,
            found,
            ..Self::default()
        }
    }

    /// The file of this run.
    fn file(&self) -> Option<PathBuf> {
        let name = format!("{}.toml", std::process::id());
        self.folder.as_deref().map(|folder| folder.join(name))
    }

    /// The program ends as it should, or everything is saved.
    pub fn clear(&mut self) {
        if self.kept.take().is_some()
            && let Some(file) = self.file()
        {
            // A file that stays is offered at the next start.
            let _ = std::fs::remove_file(file);
        }
    }

    /// Whether a question is shown.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.closing
    }
}

/// A scene that an earlier run kept aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where.
    pub path: PathBuf,
    /// What it is called, and the file that it belongs to, if there is one.
    pub name: String,
    /// How long ago it was kept.
    pub age: Duration,
}

impl Kept {
    fn new(path: PathBuf, written: SystemTime) -> Self {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let table: toml::Table = text.parse().unwrap_or_default();
        let title = table.get("title").and_then(toml::Value::as_str).unwrap_or_default();
        let title = if title.is_empty() {
            "A scene without a title"
        } else {
            title
        };
        let name = match file_of(&text) {
            Some(file) => format!("“{title}” of {}", file.display()),
            None => format!("“{title}”"),
        };
        let age = written.elapsed().unwrap_or_default();
        Self { path, name, age }
    }
}

/// How long ago something was, in words.
fn ago(age: Duration) -> String {
    let minutes = age.as_secs() / 60;
    let of = |count, what| format!("{} ago", units::counted(count, what));
    match minutes {
        0 => "just now".to_owned(),
        1..60 => of(minutes, "minute"),
        60..2880 => of(minutes / 60, "hour"),
        _ => of(minutes / 1440, "day"),
    }
}

/// The file that a kept scene belongs to.
fn file_of(text: &str) -> Option<PathBuf> {
    let name = text.lines().next()?.strip_prefix(HEAD)?.trim();
    (!name.is_empty()).then(|| PathBuf::from(name))
}

/// Scenes in a folder whose programs do not run any more, the latest first.
fn left_behind(folder: &Path) -> Vec<Kept> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut all: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let process: u32 = path.file_stem()?.to_str()?.parse().ok()?;
            let ours = path.extension().is_some_and(|ending| ending == "toml");
            let written = path.metadata().ok()?.modified().ok()?;
            (ours && !runs(process, written)).then_some((written, path))
        })
        .collect();
    all.sort();
    all.into_iter()
        .rev()
        .map(|(written, path)| Kept::new(path, written))
        .collect()
}

/// Whether the program that keeps a file may still run.
fn runs(process: u32, written: SystemTime) -> bool {
    if process == std::process::id() {
        return false;
    }
    if cfg!(target_os = "linux") {
        // The number may be another program's by now.
        let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
        return name.trim().starts_with("ripplon");
    }
    // Elsewhere nobody is asked: a program that runs has written lately.
    written.elapsed().is_ok_and(|age| age.as_secs() < 600)
}

/// What is written for a scene.
fn text_of(scene: &str, file: Option<&Path>) -> String {
    let file = file.map(|path| path.display().to_string()).unwrap_or_default();
    format!("{HEAD}{file}\n{scene}")
}

/// The scene that was kept, and the file it belongs to.
///
/// # Errors
/// If it cannot be read, or is no scene.
pub fn read(path: &Path) -> Result<Opened, crate::scene::Faults> {
    let faults = |message: String| crate::scene::Faults::one("scene", message, "open another scene");
    let text = std::fs::read_to_string(path).map_err(|error| faults(format!("{}: {error}", path.display())))?;
    let origin = file_of(&text);
    let (file, scenario) = crate::solver::read_scene_text(&text, origin.as_deref(), &[])?;
    Ok(Opened {
        file,
        original: None,
        scenario: std::sync::Arc::new(scenario),
        path: origin,
        preset: None,
    })
}

impl App {
    /// Keeps the draft aside a little after an edit, and forgets it once it is saved.
    pub(super) fn keep_safe(&mut self, ctx: &egui::Context) {
        let now = ctx.input(|input| input.time);
        let revision = self.document.revision();
        if self.recovery.seen.0 != revision {
            self.recovery.seen = (revision, now);
        }
        if self.recovery.kept == Some(revision) || self.recovery.folder.is_none() {
            return;
        }
        if !self.document.is_modified() {
            self.recovery.clear();
            return;
        }
        let rest = DELAY - (now - self.recovery.seen.1);
        if rest > 0.0 {
            ctx.request_repaint_after_secs(rest as f32);
            return;
        }
        if let Some(file) = self.recovery.file() {
            self.background
                .keep(file, text_of(&self.document.draft.to_toml(), self.document.path()));
            self.recovery.kept = Some(revision);
        }
    }

    /// Holds the window open where something would be lost, until that is answered.
    pub(super) fn guard_close(&mut self, ctx: &egui::Context) {
        let wanted = ctx.input(|input| input.viewport().close_requested());
        if wanted && !self.recovery.confirmed && (self.document.is_modified() || self.filming.is_some()) {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.recovery.closing = true;
        }
        // Where the scene shall be saved is being asked.
        if !self.recovery.closing || self.prompt.is_open() {
            return;
        }
        let films = self.filming.is_some();
        let modified = self.document.is_modified();
        if !films && !modified {
            // It was saved, or the film is done.
            self.close(ctx);
            return;
        }
        let (mut save, mut discard, mut stay) = (false, false, false);
        let modal = egui::Modal::new(egui::Id::unique("closing"))
            .frame(theme::modal(ctx))
            .show(ctx, |ui| {
                ui.set_width(400.0_f32.min(ui.ctx().content_rect().width() - 64.0));
                let palette = theme::palette(ui);
                let title = if modified {
                    "Save the scene before quitting?"
                } else {
                    "A film is being made"
                };
                ui.heading(egui::RichText::new(title).color(palette.strong));
                ui.add_space(4.0);
                if modified {
                    let name = self.document.title();
                    ui.add(egui::Label::new(format!("“{name}” has edits that no file has.")).wrap());
                }
                if films {
                    ui.add(egui::Label::new("Quitting now gives up the film: nothing of it is written.").wrap());
                }
                ui.add_space(8.0);
                ui.horizontal(|ui| {
                    if modified {
                        save = ui.button("Save").clicked();
                    }
                    discard = ui
                        .button(if modified {
                            "Quit without saving"
                        } else {
                            "Quit without the film"
                        })
                        .clicked();
                    stay = ui.button("Cancel").clicked();
                });
            });
        let escape = ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        if save {
            self.act(ctx, super::command::Action::Save);
        }
        if discard {
            self.close(ctx);
        } else if stay || escape || modal.should_close() {
            self.recovery.closing = false;
        }
    }

    fn close(&mut self, ctx: &egui::Context) {
        self.recovery.closing = false;
        self.recovery.confirmed = true;
        ctx.send_viewport_cmd(ViewportCommand::Close);
    }

    /// Offers what an earlier run kept and could not save; not before a class, of whom it hides the picture.
    pub(super) fn offer_recovery(&mut self, ctx: &egui::Context) {
        let Some(kept) = self.recovery.found.first().filter(|_| self.demo.is_none()).cloned() else {
            return;
        };
        let (mut restore, mut discard) = (false, false);
        let at = (
            egui::Align2::CENTER_TOP,
            self.canvas_area.center_top() + egui::vec2(0.0, 24.0),
        );
        let width = 400.0_f32.min(self.canvas_area.width() - 32.0).max(160.0);
        super::widgets::card(ctx, "recovery", at, width, |ui| {
            let palette = theme::palette(ui);
            ui.label(egui::RichText::new("Unsaved edits were kept").color(palette.strong));
            let more = match self.recovery.found.len() {
                1 => String::new(),
                all => format!(" This is one of {all}."),
            };
            let text = format!(
                "{}, kept {}: the program ended before it was saved.{more}",
                kept.name,
                ago(kept.age)
            );
            ui.add(egui::Label::new(text).wrap());
            ui.horizontal(|ui| {
                restore = ui.button("Restore").clicked();
                discard = ui.button("Discard").clicked();
            });
        });
        if restore || discard {
            self.recovery.found.remove(0);
        }
        if restore {
            self.background.restore(kept.path);
        } else if discard {
            self.background.forget(kept.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_scenes_are_found_and_read_with_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let scene = crate::scene::presets::find("free-packet").unwrap().text;
        // No process has this number.
        let file = folder.path().join("4294967295.toml");
        std::fs::write(&file, text_of(scene, Some(Path::new("/scenes/mine.toml")))).unwrap();
        std::fs::write(folder.path().join("notes.toml"), "").unwrap();
        let found = left_behind(folder.path());
        if cfg!(target_os = "linux") {
            assert_eq!(found.len(), 1);
            assert_eq!(
                (&found[0].path, found[0].name.as_str()),
                (&file, "“A free packet” of /scenes/mine.toml")
            );
        }
        let opened = read(&file).unwrap();
        assert_eq!(opened.path.as_deref(), Some(Path::new("/scenes/mine.toml")));
        std::fs::write(&file, text_of(scene, None)).unwrap();
        assert_eq!(read(&file).unwrap().path, None);
        std::fs::write(&file, "no scene").unwrap();
        assert!(read(&file).is_err());
    }
}

//! Of a system with windows, files and other programs.

use super::super::background::Opened;
use super::super::background::{Ask, Outcome, Reporter};
use super::super::command::Action;
use super::super::connect::Connected;
use super::super::document::Document;
use super::super::{App, AppOptions, HeadStart};
use crate::platform::{self, Instant};
use crate::remote::{ConnectError, Remote, Token};
use crate::render::adapter;
use eframe::egui_wgpu::WgpuSetupCreateNew;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Whether the window is a page in a browser.
pub const IN_PAGE: bool = false;

/// Whether there are folders, and other programs that write into them.
pub const FOLDERS: bool = true;

/// The folder of the window's settings, and what eframe calls them.
const APP_ID: &str = "ripplon";

/// A dialogue that answers sooner than this was never seen by anybody: the system has none.
const BLINK: Duration = Duration::from_millis(150);

/// Opens the window and returns when it is closed.
///
/// # Errors
/// If there is no display, no graphics adapter or no thread.
pub fn run(options: AppOptions) -> anyhow::Result<()> {
    let head_start = HeadStart::new(&options, Instant::now())?;
    run_from(options, head_start)
}

/// The same with a worker that is there.
///
/// # Errors
/// If there is no display or no graphics adapter.
pub fn run_from(options: AppOptions, head_start: HeadStart) -> anyhow::Result<()> {
    let mut native = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_app_id(APP_ID)
            .with_title("Ripplon")
            .with_inner_size([1440.0, 900.0])
            .with_min_inner_size([640.0, 400.0])
            .with_icon(icon()),
        // What the program's own fonts lack it looks for itself (`fallback`).
        system_font_fallback: false,
        ..Default::default()
    };
    let mut setup = WgpuSetupCreateNew::without_display_handle();
    setup.device_descriptor = adapter::descriptor();
    setup.native_adapter_selector = Some(Arc::new(adapter::choose));
    native.wgpu_options.wgpu_setup = setup.into();
    eframe::run_native(
        APP_ID,
        native,
        Box::new(move |cc| Ok(Box::new(App::with_head_start(cc, options, head_start)?))),
    )
    .map_err(|error| anyhow::anyhow!("{error}"))
}

/// The icon in the window's title bar.
fn icon() -> egui::IconData {
    const PNG: &[u8] = include_bytes!("../../../assets/icon.png");
    // The file is part of the program; a test reads it. Without it the system's default is shown.
    image::load_from_memory(PNG).map_or_else(
        |_| egui::IconData::default(),
        |image| {
            let image = image.to_rgba8();
            egui::IconData {
                width: image.width(),
                height: image.height(),
                rgba: image.into_raw(),
            }
        },
    )
}

/// Whether settings of an earlier start are there.
pub fn has_settings() -> bool {
    eframe::storage_dir(APP_ID).is_some_and(|folder| folder.join("app.ron").exists())
}

/// Where pictures of the user's own scenes are kept while the user names no other folder.
pub fn usual_cache() -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "ripplon")?;
    Some(folders.cache_dir().join("covers"))
}

/// Connects to a run on another machine, and waits for its scene; `wake` is called after each frame.
///
/// # Errors
/// What is wrong, and what to do.
pub fn connect(address: &str, token: &str, wake: impl Fn() + Send + Sync + 'static) -> Result<Connected, String> {
    let token = Token::read(token)?;
    connect_with(address, token, wake).map_err(|error| error.to_string())
}

/// The same with a token that was read.
///
/// # Errors
/// Why there is no connection.
pub fn connect_with(
    address: &str,
    token: Token,
    wake: impl Fn() + Send + Sync + 'static,
) -> Result<Connected, ConnectError> {
    let Remote { worker, file, scenario } = crate::remote::connect(address, token, &remote_folder(), wake)?;
    let opened = Opened {
        file,
        original: None,
        scenario,
        path: None,
        preset: None,
    };
    Ok(Connected { worker, opened })
}

/// Runs are on this machine again.
pub fn disconnect() {
    crate::solver::run_elsewhere(None);
}

/// Where files lie that scenes on other machines name, for as long as those scenes are of interest.
fn remote_folder() -> PathBuf {
    directories::ProjectDirs::from("", "", "ripplon")
        .map_or_else(std::env::temp_dir, |folders| folders.cache_dir().to_owned())
        .join("remote")
}

/// Where scenes are kept while the user names no other folder: `Ripplon` among the documents, or in the home folder where there is none for those.
pub fn usual_folder() -> Option<PathBuf> {
    let user = directories::UserDirs::new()?;
    Some(user.document_dir().unwrap_or(user.home_dir()).join("Ripplon"))
}

/// Asks for a file by the system's dialogue.
pub fn choose(ask: Ask, suggestion: String, folder: Option<PathBuf>, reporter: Reporter) -> std::io::Result<()> {
    platform::aside("errand", move || {
        let (name, endings) = ask.filter();
        let mut dialogue = rfd::FileDialog::new().set_title(ask.title()).add_filter(name, endings);
        let scenes = matches!(ask, Ask::Open | Ask::Save | Ask::Folder);
        if let Some(folder) = folder.filter(|folder| scenes && folder.is_dir()) {
            dialogue = dialogue.set_directory(folder);
        }
        let asked = Instant::now();
        let path = match ask {
            Ask::Open => dialogue.pick_file(),
            Ask::Folder => dialogue.pick_folder(),
            _ => dialogue.set_file_name(&suggestion).save_file(),
        };
        match path {
            Some(path) => reporter.tell(Outcome::Chosen(ask, path)),
            None if asked.elapsed() < BLINK => reporter.tell(Outcome::NoDialogue(ask, suggestion)),
            // Given up.
            None => {}
        }
    })
}

/// Goes on with a file that was dropped on the window.
pub fn take_dropped(file: &egui::DroppedFileHandle, then: impl FnOnce(PathBuf) + 'static) {
    then(file.path().to_owned());
}

/// Opens a sound with the system's player, once `write` has written it.
///
/// # Errors
/// What is wrong, and what to do.
pub fn play(name: &str, write: impl FnOnce(&Path) -> Result<String, String>) -> Result<String, String> {
    let folder = sounds().ok_or("there is no folder for temporary files; save the sound instead")?;
    let path = folder.join(name);
    let written = write(&path)?;
    open::that_detached(&path).map_err(|error| {
        format!("the system has no player for WAV files ({error}); save the sound and open it yourself")
    })?;
    Ok(written)
}

/// Where sounds to be played lie; the system's player may read them for as long as it likes.
fn sounds() -> Option<PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::Builder::new().prefix("ripplon-").tempdir().ok()?;
            Some(folder.keep())
        })
        .clone()
}

/// Names the window.
pub fn set_title(ctx: &egui::Context, title: &str) {
    ctx.send_viewport_cmd(egui::ViewportCommand::Title(title.to_owned()));
}

/// Fills the screen, or not.
pub fn set_full_screen(ctx: &egui::Context, full: bool) {
    ctx.send_viewport_cmd(egui::ViewportCommand::Fullscreen(full));
}

/// A window has no address.
pub fn link_to(_preset: Option<&str>, _scene: &str) -> Option<String> {
    None
}

/// Whether an action makes sense here.
pub fn can(action: Action) -> bool {
    action != Action::CopyLink
}

/// Scenes lie in files.
pub fn keep_scene(_storage: &mut dyn eframe::Storage, _document: &Document) {}

/// Files lie where they were written.
pub fn hand_out() {}

#[cfg(test)]
mod tests {
    #[test]
    fn the_icon_is_a_square_picture() {
        let icon = super::icon();
        assert_eq!((icon.width, icon.height), (256, 256));
    }
}

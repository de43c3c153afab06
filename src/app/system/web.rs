//! Of a page in a browser: it starts in a canvas, files are dropped or chosen and handed out as downloads, all within the page's memory.

use super::super::background::{Ask, Outcome, Reporter};
use super::super::command::Action;
use super::super::connect::Connected;
use super::super::document::Document;
use super::super::link::{self, Link};
use super::super::{App, AppOptions, HeadStart};
use crate::memory_files;
use crate::platform::Instant;
use crate::scene::presets;
use eframe::egui_wgpu::{WgpuSetupCreateNew, wgpu};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// Whether the window is a page in a browser.
pub const IN_PAGE: bool = true;

/// Whether there are folders, and other programs that write into them.
pub const FOLDERS: bool = false;

/// The file that a scene from a link becomes.
const LINKED: &str = "scene.toml";

/// The key of edits in the browser's storage, and the file that they become.
const KEPT: &str = "ripplon scene";
const KEPT_FILE: &str = "kept.toml";

/// The element that the window is drawn into, and the one that says what goes on before it is there.
const CANVAS: &str = "ripplon";
const LINE: &str = "line";

/// What no font of the page has the browser draws.
pub fn fonts_with(_signs: &str) -> Vec<(String, Vec<u8>)> {
    Vec::new()
}

/// Starts the window in the page's canvas.
pub fn run() {
    let started = Instant::now();
    let found = read_address();
    let level = found.as_ref().ok().and_then(|link| link.log.as_deref()?.parse().ok());
    // A second start in one page has it already.
    let _ = eframe::WebLogger::init(level.unwrap_or(log::LevelFilter::Warn));
    spawn_local(async move {
        if let Err(error) = begin(found, started).await {
            say(&format!("Ripplon cannot start in this browser: {}", words(&error)));
        }
    });
}

async fn begin(found: Result<Link, String>, started: Instant) -> Result<(), JsValue> {
    let canvas = document()
        .and_then(|document| document.get_element_by_id(CANVAS))
        .and_then(|element| element.dyn_into::<web_sys::HtmlCanvasElement>().ok())
        .ok_or_else(|| JsValue::from_str("the page has no canvas named ripplon"))?;
    let mut options = eframe::WebOptions::default();
    let mut setup = WgpuSetupCreateNew::without_display_handle();
    // What the adapter has is enough for this window; WebGL2 has less than the default asks for.
    setup.device_descriptor = Arc::new(|adapter| wgpu::DeviceDescriptor {
        label: Some("ripplon"),
        required_limits: adapter.limits(),
        ..Default::default()
    });
    options.wgpu_options.wgpu_setup = setup.into();
    #[cfg(all(feature = "mp4", not(feature = "h264")))]
    crate::platform::video::ask();
    // A scene may ask for it at once, and then nobody could wait for it.
    crate::backend::wgpu::open().await;
    let runner = eframe::WebRunner::new();
    let create = move |cc: &eframe::CreationContext<'_>| Ok(Box::new(app(cc, found, started)?) as Box<dyn eframe::App>);
    runner.start(canvas, options, Box::new(create)).await?;
    say("");
    Ok(())
}

/// The window's state as the address asks for it.
fn app(cc: &eframe::CreationContext<'_>, found: Result<Link, String>, started: Instant) -> io::Result<App> {
    let (scene, complaint, link) = match found {
        Ok(link) => match chosen(&link) {
            Ok(scene) => (scene, None, Some(link)),
            Err(text) => (None, Some(text), Some(link)),
        },
        Err(text) => (None, Some(text), None),
    };
    let wants = scene.is_some() || complaint.is_some();
    let kept = cc
        .storage
        .filter(|_| !wants)
        .and_then(|storage| storage.get_string(KEPT));
    let kept = kept.filter(|text| !text.is_empty()).map(|text| {
        memory_files::put(Path::new(KEPT_FILE), text.into_bytes());
        KEPT_FILE.to_owned()
    });
    let options = AppOptions {
        scene: scene.or(kept),
        ..AppOptions::default()
    };
    let mut app = App::with_head_start(cc, options, HeadStart::idle(started)?)?;
    if let Some(link) = link {
        if !link.plays {
            app = app.paused();
        }
        app.bare = !link.panels;
        // Who follows a link wants to see what it leads to.
        if link.preset.is_some() || link.scene.is_some() {
            app.tour = None;
        }
    }
    if let Some(text) = complaint {
        // It is not covered.
        app.tour = None;
        app.notices.fault("The link cannot be opened", vec![text]);
    }
    Ok(app)
}

/// The scene that a link leads to, as it is opened.
fn chosen(link: &Link) -> Result<Option<String>, String> {
    if let Some(text) = &link.scene {
        crate::solver::read_scene_text(text, None, &[])
            .map_err(|faults| format!("The scene in the link is not valid: {faults}"))?;
        memory_files::put(Path::new(LINKED), text.clone().into_bytes());
        return Ok(Some(LINKED.to_owned()));
    }
    match &link.preset {
        Some(name) if presets::find(name).is_none() => Err(format!(
            "There is no preset named {name}; the gallery shows all of them"
        )),
        preset => Ok(preset.clone()),
    }
}

/// What the page's address asks for.
fn read_address() -> Result<Link, String> {
    let location = web_sys::window().map(|window| window.location());
    let part = |part: Option<Result<String, JsValue>>| part.and_then(Result::ok).unwrap_or_default();
    let search = part(location.as_ref().map(web_sys::Location::search));
    let hash = part(location.as_ref().map(web_sys::Location::hash));
    link::read(&search, &hash)
}

/// A link to a scene: of a preset as it is by its name, of any other with all of it.
pub fn link_to(preset: Option<&str>, scene: &str) -> Option<String> {
    let location = web_sys::window()?.location();
    let page = format!("{}{}", location.origin().ok()?, location.pathname().ok()?);
    Some(match preset {
        Some(name) => format!("{page}?preset={name}"),
        None => format!("{page}#scene={}", link::packed(scene)),
    })
}

fn document() -> Option<web_sys::Document> {
    web_sys::window()?.document()
}

/// Shows a line in the page, beside the canvas; an empty one takes it away.
fn say(text: &str) {
    if let Some(line) = document().and_then(|document| document.get_element_by_id(LINE)) {
        line.set_text_content(Some(text));
        let _ = line.toggle_attribute_with_force("hidden", text.is_empty());
    }
}

fn words(error: &JsValue) -> String {
    let message = js_sys::Reflect::get(error, &"message".into()).ok();
    let message = message.and_then(|message| message.as_string());
    message
        .or_else(|| error.as_string())
        .unwrap_or_else(|| format!("{error:?}"))
}

/// A page connects to nothing: its browser lets it reach the server that it came from alone.
///
/// # Errors
/// Always.
pub fn connect(_address: &str, _token: &str, _wake: impl Fn() + Send + Sync + 'static) -> Result<Connected, String> {
    Err("a page cannot be the window of a run on another machine; install the program".to_owned())
}

/// There was no link.
pub fn disconnect() {}

/// Whether an action makes sense here. Sweeps, levels and room acoustics take seconds at a time, in which a page without threads would stand still.
pub fn can(action: Action) -> bool {
    let long = matches!(action, Action::Sweep | Action::Levels | Action::Room);
    !long
        && !matches!(
            action,
            Action::SaveAs
                | Action::ScenesFolder
                | Action::Connect
                | Action::RunHere
                | Action::Projector
                | Action::Quit
        )
}

/// Keeps edits, which no file has, for the next time that the page is opened.
pub fn keep_scene(storage: &mut dyn eframe::Storage, document: &Document) {
    if document.is_modified() {
        storage.set_string(KEPT, document.draft.to_toml());
    } else if document.preset().is_some() {
        storage.remove_string(KEPT);
    }
}

/// Settings are read with the window.
pub fn has_settings() -> bool {
    true
}

/// A page has no folder for pictures.
pub fn usual_cache() -> Option<PathBuf> {
    None
}

/// A page has no folder of scenes.
pub fn usual_folder() -> Option<PathBuf> {
    None
}

/// Asks for a file to read by the browser's dialogue; what is written is handed out under the suggested name.
pub fn choose(ask: Ask, suggestion: String, _folder: Option<PathBuf>, reporter: Reporter) -> io::Result<()> {
    if ask != Ask::Open {
        reporter.tell(Outcome::Chosen(ask, suggestion.into()));
        return Ok(());
    }
    let (_, endings) = ask.filter();
    let accepted: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
    let failed = |error: JsValue| io::Error::other(words(&error));
    let input = document().ok_or_else(|| io::Error::other("the page is closed"))?;
    let input = input.create_element("input").map_err(failed)?;
    let input: web_sys::HtmlInputElement = input.unchecked_into();
    input.set_type("file");
    input.set_accept(&accepted.join(","));
    let field = input.clone();
    let chosen = Closure::once_into_js(move || {
        let Some(file) = field.files().and_then(|files| files.get(0)) else {
            return;
        };
        let bytes = JsFuture::from(file.array_buffer());
        take_in(
            file.name(),
            async move {
                bytes
                    .await
                    .map(|bytes| js_sys::Uint8Array::new(&bytes).to_vec())
                    .map_err(|error| words(&error))
            },
            move |result| match result {
                Ok(path) => reporter.tell(Outcome::Chosen(ask, path)),
                Err(text) => reporter.tell(Outcome::Failed("The file cannot be read".to_owned(), text)),
            },
        );
    });
    input
        .add_event_listener_with_callback("change", chosen.unchecked_ref())
        .map_err(failed)?;
    input.click();
    Ok(())
}

/// Takes a file into the page's memory.
fn take_in(
    name: String,
    bytes: impl Future<Output = Result<Vec<u8>, String>> + 'static,
    then: impl FnOnce(Result<PathBuf, String>) + 'static,
) {
    spawn_local(async move {
        let path = PathBuf::from(name);
        then(bytes.await.map(|bytes| {
            memory_files::put(&path, bytes);
            path
        }));
    });
}

/// Goes on with a file that was dropped on the window, once it is in the page's memory.
pub fn take_dropped(file: &egui::DroppedFileHandle, then: impl FnOnce(PathBuf) + 'static) {
    let (file, name) = (Arc::clone(file), file.path().to_string_lossy().into_owned());
    take_in(
        name,
        async move { file.bytes_async().await },
        move |result| match result {
            Ok(path) => then(path),
            Err(text) => tracing::error!("a dropped file cannot be read: {text}"),
        },
    );
}

/// Plays a sound, once `write` has written it.
///
/// # Errors
/// What is wrong, and what to do.
pub fn play(name: &str, write: impl FnOnce(&Path) -> Result<String, String>) -> Result<String, String> {
    let path = Path::new(name);
    let written = write(path)?;
    let bytes = memory_files::take_back(path).ok_or("the sound was not written")?;
    let failed = |error: JsValue| {
        format!(
            "the browser does not play it ({}); save the sound instead",
            words(&error)
        )
    };
    let address = address_of(&bytes, "audio/wav").map_err(failed)?;
    let sound = web_sys::HtmlAudioElement::new_with_src(&address).map_err(failed)?;
    // Whether it really plays is the browser's business: it says so beside its address.
    let _ = sound.play().map_err(failed)?;
    Ok(written)
}

/// An address within the page for some bytes.
fn address_of(bytes: &[u8], kind: &str) -> Result<String, JsValue> {
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes));
    let about = web_sys::BlobPropertyBag::new();
    about.set_type(kind);
    let blob = web_sys::Blob::new_with_u8_array_sequence_and_options(&parts, &about)?;
    web_sys::Url::create_object_url_with_blob(&blob)
}

/// Names the page.
pub fn set_title(_ctx: &egui::Context, title: &str) {
    if let Some(document) = document() {
        document.set_title(title);
    }
}

/// Fills the screen, or not.
pub fn set_full_screen(_ctx: &egui::Context, full: bool) {
    let Some(document) = document() else { return };
    if full {
        // Browsers refuse it where no key or button was pressed just before.
        let _ = document.document_element().map(|page| page.request_fullscreen());
    } else {
        document.exit_fullscreen();
    }
}

/// Hands what was written to the browser, as downloads.
pub fn hand_out() {
    for (path, bytes) in memory_files::take_written() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Err(error) = download(&name, &bytes) {
            tracing::error!("{name} cannot be handed to the browser: {}", words(&error));
        }
    }
}

fn download(name: &str, bytes: &[u8]) -> Result<(), JsValue> {
    let address = address_of(bytes, "application/octet-stream")?;
    let document = document().ok_or("the page is closed")?;
    let anchor: web_sys::HtmlAnchorElement = document.create_element("a")?.unchecked_into();
    anchor.set_href(&address);
    anchor.set_download(name);
    anchor.click();
    // The browser has taken the bytes over with the click.
    let free = Closure::once_into_js(move || web_sys::Url::revoke_object_url(&address));
    if let Some(window) = web_sys::window() {
        window.set_timeout_with_callback_and_timeout_and_arguments_0(free.unchecked_ref(), 60_000)?;
    }
    Ok(())
}

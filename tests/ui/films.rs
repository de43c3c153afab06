//! Films made in the window: every format of the dialogue, and the run from now on.

use super::window::Window;
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use ripplon::app::App;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

impl Window {
    /// Opens the dialogue and asks for a film of half a second, 320 × 240, in a format.
    fn ask_for_film(&mut self, format: &str) {
        self.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E);
        self.press(Role::ComboBox, "Format");
        // The format that is chosen already stands in the box as well.
        let choices = self.harness.get_all_by_label(format).collect::<Vec<_>>();
        choices[choices.len() - 1].click();
        self.settle();
        self.type_numbers(&[
            ("Width in pixels", "320"),
            ("Height in pixels", "240"),
            ("Seconds of film", "0.5"),
        ]);
    }

    fn type_numbers(&mut self, numbers: &[(&str, &str)]) {
        for (name, value) in numbers {
            self.harness.get_by_role_and_label(Role::SpinButton, name).click();
            self.settle();
            self.keys(Modifiers::COMMAND, Key::A);
            self.harness.event(egui::Event::Text((*value).to_owned()));
            self.settle();
            self.key(Key::Enter);
        }
    }

    fn written(&mut self, what: &str) {
        self.wait(what, |app| {
            !app.is_filming()
                && app
                    .notices()
                    .list()
                    .iter()
                    .any(|notice| notice.title.contains("Film written"))
        });
        self.settle();
    }
}

/// Pictures and pixels of a film, read from its file.
fn contents(film: &Path) -> (usize, [u32; 2]) {
    match film.extension().unwrap().to_str().unwrap() {
        "apng" => {
            let file = BufReader::new(File::open(film).unwrap());
            let reader = png::Decoder::new(file).read_info().unwrap();
            let control = reader.info().animation_control.unwrap();
            (control.num_frames as usize, reader.info().size().into())
        }
        "gif" => {
            let mut decoder = gif::DecodeOptions::new().read_info(File::open(film).unwrap()).unwrap();
            let size = [decoder.width(), decoder.height()].map(u32::from);
            let mut pictures = 0;
            while decoder.read_next_frame().unwrap().is_some() {
                pictures += 1;
            }
            (pictures, size)
        }
        _ => {
            let bytes = std::fs::read(film).unwrap();
            let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
            let named = |name: &[u8]| bytes.windows(4).position(|four| four == name).unwrap();
            // Sample sizes: name, version, the size of all (0), how many. Track header: width and height end it, in 1/65536.
            let samples = word(named(b"stsz") + 12);
            let track = named(b"tkhd");
            let end = track - 4 + word(track - 4) as usize;
            (samples as usize, [word(end - 8) >> 16, word(end - 4) >> 16])
        }
    }
}

#[test]
fn films_of_the_scene_are_made_while_the_run_goes_on() {
    let mut window = Window::open();
    let before = window.steps();
    let mut formats = vec![("animated PNG", "film.apng"), ("GIF", "film.gif")];
    if cfg!(feature = "h264") {
        formats.push(("MP4 (H.264)", "film.mp4"));
    }
    for (format, name) in formats {
        let film = window.folder.path().join(name);
        window.ask_for_film(format);
        assert!(window.harness.query_by_label_contains("15 pictures").is_some());
        assert!(window.harness.query_by_label_contains("on the disk").is_some());
        window.click("Choose the file…");
        window.answer(film.to_str().unwrap());
        window.wait("the film's end", |app| {
            let told = app.notices().list().iter().any(|notice| notice.title.contains(name));
            told && !app.is_filming()
        });
        assert_eq!(window.steps(), before, "the run in the window is another one");
        assert_eq!(contents(&film), (15, [320, 240]), "{format}");
        if format == "GIF" {
            continue;
        }
        // It opens as its scene.
        window.app().open("free-packet");
        window.wait("another scene", |app| app.document().preset() == Some("free-packet"));
        window.drop_file(film.to_str().unwrap());
        window.wait("the scene of the film", |app| {
            app.document().draft.title == "Test scene" && app.frame().clock.steps == before
        });
    }
}

#[test]
fn the_run_is_recorded_until_the_film_is_ended() {
    let mut window = Window::open();
    let folder = window.folder.path().join("pictures");
    window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E);
    window.click("the run from now on");
    window.press(Role::ComboBox, "Format");
    window.click("numbered PNGs");
    window.click("Choose the file…");
    window.answer(folder.to_str().unwrap());
    window.wait("the recording", App::is_filming);
    for step in 1..=3 {
        window.key(Key::Period);
        window.wait("a step", |app| app.frame().clock.steps == step);
    }
    // The run is led by its buttons meanwhile.
    let end = window.harness.get_by_label("End film").rect();
    let play = window.harness.get_by_role_and_label(Role::Button, "Play").rect();
    assert!(end.bottom() < play.top(), "{end:?} {play:?}");
    window.click("End film");
    window.written("the pictures");
    let count = std::fs::read_dir(&folder).unwrap().count();
    // Steps by hand: one picture each, and one of the state before them if it was drawn again.
    assert!((3..=4).contains(&count), "{count}");
    // A film that is given up leaves nothing.
    let gone = window.folder.path().join("gone");
    window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E);
    window.click("Choose the file…");
    window.answer(gone.to_str().unwrap());
    window.wait("the recording", App::is_filming);
    window.click("Cancel film");
    window.wait("the end", |app| !app.is_filming());
    assert!(!gone.exists());
}

#[test]
fn a_picture_of_the_run_as_it_is_has_any_size() {
    let mut window = Window::open();
    for step in 1..=2 {
        window.key(Key::Period);
        window.wait("a step", |app| app.frame().clock.steps == step);
    }
    let file = window.folder.path().join("still.png");
    window.keys(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E);
    window.press(Role::ComboBox, "Format");
    window.click("one PNG");
    window.click("the run as it is");
    window.type_numbers(&[("Width in pixels", "640"), ("Height in pixels", "400")]);
    window.click("Choose the file…");
    window.answer(file.to_str().unwrap());
    window.wait("the picture", |app| {
        let mut notices = app.notices().list().iter();
        notices.any(|notice| notice.title.contains("still.png"))
    });
    assert_eq!(window.steps(), 2, "the run stays where it is");
    assert_eq!(image::open(&file).unwrap().to_rgb8().dimensions(), (640, 400));
    let scene = ripplon::scene::embedded::scene_in(&file).unwrap().unwrap();
    assert!(scene.contains("Test scene"), "{scene}");
}

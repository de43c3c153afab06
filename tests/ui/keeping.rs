//! Nothing is lost: edits are asked about and kept, a measurement leaves nothing behind, a view is no edit.

use super::window::{SCENE, Window};
use egui::accesskit::Role;
use egui::{Key, Modifiers, ViewportEvent, ViewportId};
use egui_kittest::kittest::Queryable;

fn scene_file() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, SCENE).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

fn close(window: &mut Window) {
    let input = window.harness.input_mut();
    let root = input.viewports.entry(ViewportId::ROOT).or_default();
    root.events.push(ViewportEvent::Close);
    window.harness.step();
    window.settle();
}

fn edit(window: &mut Window) {
    window.click("Scene");
    window.harness.get_by_label("Add wall").scroll_to_me();
    window.settle();
    window.click("Add wall");
    window.wait("the edit", |app| app.document().is_modified());
}

#[test]
fn a_window_with_edits_asks_before_it_closes() {
    let (_folder, path) = scene_file();
    let mut window = Window::plain(&path, [1280.0, 800.0]);
    close(&mut window);
    assert!(
        window.harness.query_by_label("Quit without saving").is_none(),
        "nothing would be lost"
    );
    edit(&mut window);
    close(&mut window);
    assert!(window.harness.query_by_label("Quit without saving").is_some());
    window.click("Cancel");
    assert!(window.harness.query_by_label("Quit without saving").is_none());
    assert!(window.app().document().is_modified());
    close(&mut window);
    window.click("Save");
    window.wait("the file", |app| !app.document().is_modified());
    assert!(std::fs::read_to_string(&path).unwrap().matches("wall").count() > SCENE.matches("wall").count());
}

#[test]
fn edits_are_kept_and_offered_at_the_next_start() {
    let (_folder, path) = scene_file();
    let mut window = Window::plain(&path, [1280.0, 800.0]);
    edit(&mut window);
    let layers = window.app().document().draft.layers.len();
    let kept = window.folder.path().join("unsaved");
    window.wait("the kept scene", |_| {
        std::fs::read_dir(&kept).is_ok_and(|mut all| all.next().is_some())
    });
    // The program ends without a word.
    let folder = std::mem::replace(&mut window.folder, tempfile::tempdir().unwrap());
    drop(window);
    let mut next = Window::plain(&path, [1280.0, 800.0]);
    assert!(
        next.harness.query_by_label("Restore").is_none(),
        "another folder has nothing"
    );
    drop(std::mem::replace(&mut next.folder, folder));
    let kept = next.folder.path().join("unsaved");
    let app = next.harness.state_mut();
    app.look_for_unsaved(&kept);
    next.settle();
    assert!(next.harness.query_by_label("Restore").is_some());
    // Not while a class looks at the picture.
    next.key(Key::F5);
    next.wait("the lecture", |app| {
        app.demo().is_some() && app.document().preset().is_some()
    });
    assert!(next.harness.query_by_label("Restore").is_none());
    next.key(Key::Escape);
    next.wait("its end", |app| app.demo().is_none());
    next.settle();
    next.click("Restore");
    next.wait("the edits", |app| app.document().draft.layers.len() == layers);
    assert!(next.app().document().is_modified());
    assert_eq!(next.app().document().path(), Some(std::path::Path::new(&path)));
}

/// A scene with edits gives way to another one, and comes back with them, as it was saved before.
#[test]
fn a_scene_that_another_one_replaced_comes_back_by_undo() {
    let (_folder, path) = scene_file();
    let mut window = Window::plain(&path, [1280.0, 800.0]);
    let saved = window.app().document().draft.layers.len();
    edit(&mut window);
    let layers = window.app().document().draft.layers.len();
    assert!(layers > saved);
    window.app().open("free-packet");
    window.wait("the other scene", |app| app.document().preset() == Some("free-packet"));
    let told = |app: &ripplon::app::App| {
        let notices = app.notices().list();
        notices
            .iter()
            .any(|notice| notice.title.contains("Test scene") && notice.title.contains("Undo"))
    };
    assert!(told(window.app()));
    window.keys(Modifiers::COMMAND, Key::Z);
    window.wait("the edits", |app| app.document().draft.layers.len() == layers);
    assert_eq!(window.app().document().path(), Some(std::path::Path::new(&path)));
    assert!(window.app().document().is_modified());
    // A scene without edits goes without a word, and nothing is left to bring back.
    window.app().open("free-packet");
    window.wait("the other scene", |app| app.document().preset() == Some("free-packet"));
    window.app().open("ring");
    window.wait("the third scene", |app| app.document().preset() == Some("ring"));
    window.keys(Modifiers::COMMAND, Key::Z);
    window.wait("the edits again", |app| app.document().draft.layers.len() == layers);
}

/// The question before the end has the keys for itself.
#[test]
fn keys_do_not_reach_what_lies_behind_a_question() {
    let (_folder, path) = scene_file();
    let mut window = Window::plain(&path, [1280.0, 800.0]);
    window.key(Key::Period);
    window.wait("a step", |app| app.frame().clock.steps == 1);
    edit(&mut window);
    close(&mut window);
    window.key(Key::R);
    window.settle();
    assert_eq!(window.app().frame().clock.steps, 1, "the run behind was reset");
    window.key(Key::Escape);
    assert!(window.harness.query_by_label("Quit without saving").is_none());
}

#[test]
fn a_measurement_leaves_no_detector_and_a_view_is_no_edit() {
    let mut window = Window::open();
    let detectors = window.app().document().draft.detectors.len();
    window.key(Key::L);
    let area = window.app().picture().0;
    window.harness.drag_at(area.center());
    window.harness.step();
    window.harness.hover_at(area.center() + egui::vec2(80.0, 40.0));
    window.harness.step();
    window.harness.drop_at(area.center() + egui::vec2(80.0, 40.0));
    window.settle();
    window.key(Key::G);
    assert_eq!(window.app().document().draft.detectors.len(), detectors);
    window.key(Key::V);
    window.key(Key::Num4);
    assert!(!window.app().document().is_modified(), "a relief of the same scene");
    window.key(Key::Num4);
    window.keys(Modifiers::COMMAND, Key::N);
    window.wait("the new scene", |app| app.document().draft.title == "New scene");
    assert!(window.app().document().path().is_none());
    assert!(window.app().document().draft.acoustic.is_none());
    // One of sound is begun as easily.
    window.press(Role::Button, "File");
    window.press(Role::Button, "New scene of sound");
    window.wait("the new scene of sound", |app| {
        let draft = &app.document().draft;
        draft.title == "New scene" && draft.acoustic.is_some() && !app.frame().image.value.is_empty()
    });
    assert!(window.app().document().path().is_none() && window.app().document().faults.is_none());
}

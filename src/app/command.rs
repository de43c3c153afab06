//! What menus, keys and the command palette can do: one enum, one table.

use super::system;
use crate::app::icon::Icon;
use egui::{Key, KeyboardShortcut, Modifiers};

/// Everything that has a name in the window. The order is that of the menus and of the palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A scene with nothing but one packet.
    New,
    /// A scene with nothing but one pulse of sound.
    NewSound,
    /// Reads a scene file.
    Open,
    /// Writes the scene file.
    Save,
    /// Writes it elsewhere.
    SaveAs,
    /// Where the user's own scenes lie.
    ScenesFolder,
    /// The window of a run on another machine.
    Connect,
    /// Copies a link to the scene.
    CopyLink,
    /// Writes the picture.
    ExportPicture,
    /// Makes a film.
    ExportFilm,
    /// Writes the field.
    ExportField,
    /// Writes the detectors' records.
    ExportRecords,
    /// Writes a checkpoint.
    SaveCheckpoint,
    /// Ends the program.
    Quit,
    /// Takes back an edit.
    Undo,
    /// Does it again.
    Redo,
    /// The pointer moves the view.
    MoveTool,
    /// It starts packets or pulses.
    PacketTool,
    /// It places sources.
    SourceTool,
    /// It paints.
    BrushTool,
    /// It places detectors.
    ProbeTool,
    /// It places the transducers of a mirror.
    MirrorTool,
    /// It records a region.
    RegionTool,
    /// It moves the parts of the scene.
    ArrangeTool,
    /// It measures.
    RulerTool,
    /// Runs or pauses.
    PlayPause,
    /// One step.
    Step,
    /// Time runs the other way.
    Reverse,
    /// Back to where a mirror reversed time.
    BackToTurn,
    /// Back to t = 0.
    Reset,
    /// Keeps the state aside.
    Snapshot,
    /// Back to the kept state.
    Restore,
    /// The picture before.
    Earlier,
    /// The picture after.
    Later,
    /// A run rests at the end of its scene, or does not.
    Rest,
    /// From another machine back to this one.
    RunHere,
    /// Finds the particle somewhere.
    MeasurePosition,
    /// One run for each of several values.
    Sweep,
    /// Energies and eigenstates.
    Levels,
    /// Frequency against wave number.
    Dispersion,
    /// Reverberation and clarity of a place.
    Room,
    /// Two runs, one of them with a fault.
    Riddle,
    /// The field becomes nothing.
    ClearWaves,
    /// Fewer steps per frame.
    Slower,
    /// More steps per frame.
    Faster,
    /// The whole grid in view.
    Fit,
    /// One plane of a 3D field.
    ShowPlane,
    /// Three slices of a 3D field.
    ShowSlices,
    /// A 3D field as a volume.
    ShowVolume,
    /// A 2D field as a relief.
    ShowRelief,
    /// Arrows, streamlines or nothing of what flows over a plane.
    ShowFlow,
    /// The picture alone.
    HidePanels,
    /// Lessons and scene.
    LeftPanel,
    /// Settings: view, time, method.
    RightPanel,
    /// Plots.
    Plots,
    /// The whole screen.
    FullScreen,
    /// The picture in a second window.
    Projector,
    /// For lecture halls.
    Demo,
    /// Dark or light.
    Theme,
    /// High contrast, or not.
    Contrast,
    /// Everything larger.
    Larger,
    /// Everything smaller.
    Smaller,
    /// The system's size.
    NormalSize,
    /// Finds a command.
    Palette,
    /// The first steps.
    Tour,
    /// Lists the keys.
    Help,
}

/// Where an action stands in the menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    /// Scenes and files.
    File,
    /// Undo and redo.
    Edit,
    /// The run.
    Run,
    /// The window.
    View,
    /// How things are done.
    Help,
}

impl Menu {
    /// Every menu with its title.
    pub const ALL: [(&'static str, Self); 5] = [
        ("File", Self::File),
        ("Edit", Self::Edit),
        ("Run", Self::Run),
        ("View", Self::View),
        ("Help", Self::Help),
    ];
}

/// What an action looks like and listens to.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The action.
    pub action: Action,
    /// Its menu.
    pub menu: Menu,
    /// Its name.
    pub title: &'static str,
    /// One line: what it does.
    pub about: &'static str,
    /// Its icon.
    pub icon: Icon,
    /// Its keys; the first is shown.
    pub keys: &'static [KeyboardShortcut],
}

const NONE: Modifiers = Modifiers::NONE;
const CTRL: Modifiers = Modifiers::COMMAND;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

const fn key(modifiers: Modifiers, key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(modifiers, key)
}

const fn entry(
    action: Action,
    menu: Menu,
    title: &'static str,
    icon: Icon,
    keys: &'static [KeyboardShortcut],
    about: &'static str,
) -> Entry {
    Entry {
        action,
        menu,
        title,
        about,
        icon,
        keys,
    }
}

/// Every action.
#[rustfmt::skip]
pub const ACTIONS: &[Entry] = &[
    entry(Action::New, Menu::File, "New quantum scene", Icon::FilePlus, &[key(CTRL, Key::N)], "An empty scene with one packet in it, to build in."),
    entry(Action::NewSound, Menu::File, "New scene of sound", Icon::FilePlus, &[], "An empty scene with one pulse of sound in it, to build in."),
    entry(Action::Open, Menu::File, "Open scene…", Icon::FolderOpen, &[key(CTRL, Key::O)], "Reads a scene file (TOML). A file dropped on the window does the same."),
    entry(Action::Save, Menu::File, "Save scene", Icon::Save, &[key(CTRL, Key::S)], "Writes the scene file with all edits."),
    entry(Action::SaveAs, Menu::File, "Save scene as…", Icon::Save, &[key(CTRL_SHIFT, Key::S)], "Writes the scene to another file."),
    entry(Action::ScenesFolder, Menu::File, "Folder of your scenes…", Icon::FolderOpen, &[], "The scene files in this folder stand in the gallery."),
    entry(Action::Connect, Menu::File, "Connect…", Icon::Link, &[], "Becomes the window of a run that `ripplon serve` has on another machine; it goes on there when the window is closed."),
    entry(Action::CopyLink, Menu::File, "Copy link", Icon::Link, &[], "Copies an address that opens this page with the scene as it is, to be sent or put into a course."),
    entry(Action::ExportPicture, Menu::File, "Export picture…", Icon::Image, &[key(CTRL, Key::E)], "Writes the field as PNG without the panels, whole pixels a site. Export film makes one of any size."),
    entry(Action::ExportFilm, Menu::File, "Export film…", Icon::Film, &[key(CTRL_SHIFT, Key::E)], "A film (MP4, GIF, animated PNG, numbered PNGs) or a picture at any size, of the scene from its start or of the run."),
    entry(Action::ExportField, Menu::File, "Export field…", Icon::FileText, &[], "Writes the field as NPY (complex64 or complex128, C order)."),
    entry(Action::ExportRecords, Menu::File, "Export records…", Icon::FileText, &[], "Writes what the detectors recorded as CSV, one row a record. What a detector of sound heard is saved as WAV in its card (Scene, Detectors)."),
    entry(Action::SaveCheckpoint, Menu::File, "Save checkpoint…", Icon::Hourglass, &[], "Writes the whole state; `ripplon run --resume` continues it bit by bit."),
    entry(Action::Quit, Menu::File, "Quit", Icon::X, &[key(CTRL, Key::Q)], "Ends the program."),
    entry(Action::Undo, Menu::Edit, "Undo", Icon::Undo2, &[key(CTRL, Key::Z)], "Takes back the last edit of the scene."),
    entry(Action::Redo, Menu::Edit, "Redo", Icon::Redo2, &[key(CTRL_SHIFT, Key::Z), key(CTRL, Key::Y)], "Does the edit again."),
    entry(Action::MoveTool, Menu::Edit, "Tool: move the view", Icon::Hand, &[key(NONE, Key::V)], "Drag moves the view, the wheel zooms."),
    entry(Action::PacketTool, Menu::Edit, "Tool: packet or pulse", Icon::MoveUpRight, &[key(NONE, Key::P)], "Press where it shall start; a packet gets its momentum by dragging."),
    entry(Action::SourceTool, Menu::Edit, "Tool: source of sound", Icon::Volume2, &[key(NONE, Key::O)], "Click where it shall stand."),
    entry(Action::BrushTool, Menu::Edit, "Tool: brush", Icon::Brush, &[key(NONE, Key::B)], "Left paints, right takes away; Shift draws a line, Ctrl a box."),
    entry(Action::ProbeTool, Menu::Edit, "Tool: probe", Icon::Pipette, &[key(NONE, Key::D)], "Click where a detector shall stand."),
    entry(Action::MirrorTool, Menu::Edit, "Tool: mirror", Icon::FlipHorizontal2, &[key(NONE, Key::M)], "Press and drag where the transducers of a time-reversal mirror shall stand."),
    entry(Action::RegionTool, Menu::Edit, "Tool: region", Icon::SquareDashed, &[key(NONE, Key::G)], "Drag a rectangle that a detector shall record."),
    entry(Action::ArrangeTool, Menu::Edit, "Tool: arrange", Icon::MousePointer2, &[key(NONE, Key::A)], "Drag the handles of shapes, packets, sources and detectors; arrow keys move what was taken last, Shift finer."),
    entry(Action::RulerTool, Menu::Edit, "Tool: ruler", Icon::Ruler, &[key(NONE, Key::L)], "Drag from place to place to measure lengths, angles and the wavelength."),
    entry(Action::PlayPause, Menu::Run, "Play or pause", Icon::Play, &[key(NONE, Key::Space), key(NONE, Key::K)], "Lets time run, or stops it after the present batch of steps."),
    entry(Action::Step, Menu::Run, "One step", Icon::StepForward, &[key(NONE, Key::Period)], "Takes one step, bit for bit what playing does."),
    entry(Action::Reverse, Menu::Run, "Reverse time", Icon::ArrowLeftRight, &[key(NONE, Key::T)], "At the scene's mirror, where it has one; else Δt becomes −Δt, and a unitary scheme runs back to where it came from."),
    entry(Action::BackToTurn, Menu::Run, "Back to the reversal", Icon::ArrowLeftToLine, &[key(NONE, Key::U)], "To the moment when a mirror reversed time: the way back can be taken again, with other settings."),
    entry(Action::Reset, Menu::Run, "Reset", Icon::RotateCcw, &[key(NONE, Key::R)], "Back to t = 0."),
    entry(Action::Snapshot, Menu::Run, "Snapshot", Icon::Camera, &[key(NONE, Key::S)], "Keeps the present state aside."),
    entry(Action::Restore, Menu::Run, "Back to snapshot", Icon::History, &[key(NONE, Key::C)], "Returns to the state kept aside."),
    entry(Action::Earlier, Menu::Run, "Earlier picture", Icon::SkipBack, &[key(NONE, Key::OpenBracket)], "Looks back through the pictures of the last seconds; the run pauses and keeps its state."),
    entry(Action::Later, Menu::Run, "Later picture", Icon::SkipForward, &[key(NONE, Key::CloseBracket)], "Looks forward again, up to the present."),
    entry(Action::Rest, Menu::Run, "Rest at the end", Icon::Flag, &[], "A run pauses where its lesson is over: with a mirror where the way back was as long as the way out, else at the scene's end, and in reversed time at t = 0. Play goes on from there. Again to turn it off."),
    entry(Action::RunHere, Menu::Run, "Run on this machine", Icon::ArrowLeftToLine, &[], "Lets go of the run on another machine, which goes on there, and starts the scene here from t = 0."),
    entry(Action::MeasurePosition, Menu::Run, "Measure the position", Icon::Crosshair, &[key(NONE, Key::X)], "Finds the particle somewhere, by Born's rule, to within a hundredth of the grid; what runs on is what the measurement left of the wave."),
    entry(Action::Sweep, Menu::Run, "Sweep…", Icon::ChartScatter, &[], "Runs the scene once for each of several values, and plots what is measured beside the theory."),
    entry(Action::Levels, Menu::Run, "Levels…", Icon::ListOrdered, &[], "Finds the energies and standing states of a quantum scene; a click makes one the state at t = 0."),
    entry(Action::Dispersion, Menu::Run, "Dispersion…", Icon::ChartSpline, &[], "Runs the scene to its end and shows how much runs with each wave number and frequency, beside the lattice's and the continuum's law."),
    entry(Action::Room, Menu::Run, "Room acoustics…", Icon::AudioLines, &[], "Runs a scene of sound to its end and tells how it is heard at a detector: reverberation times, clarity, decay."),
    entry(Action::Riddle, Menu::Run, "Which is wrong?", Icon::CircleQuestionMark, &[], "Two runs of this scene side by side; in one of them something of the physics is changed. Find out which."),
    entry(Action::ClearWaves, Menu::Run, "Clear waves", Icon::Eraser, &[], "Takes the packets and pulses of the start out of the scene and begins anew: sources play into silence, and new waves are placed with P. In quantum scenes the first packet stays: a state needs one."),
    entry(Action::Slower, Menu::Run, "Slower", Icon::ChevronDown, &[key(NONE, Key::Minus)], "Half as many steps per frame; Δt stays."),
    entry(Action::Faster, Menu::Run, "Faster", Icon::ChevronUp, &[key(NONE, Key::Plus), key(NONE, Key::Equals)], "Twice as many steps per frame; Δt stays."),
    entry(Action::Fit, Menu::View, "Fit to window", Icon::Scan, &[key(NONE, Key::Num0), key(NONE, Key::Home)], "Shows the whole grid. A double click on the picture does the same."),
    entry(Action::ShowPlane, Menu::View, "Plane", Icon::Square, &[key(NONE, Key::Num1)], "Shows one plane of a scene of three dimensions."),
    entry(Action::ShowSlices, Menu::View, "Slices", Icon::Layers, &[key(NONE, Key::Num2)], "Shows three planes of a scene of three dimensions in its box."),
    entry(Action::ShowVolume, Menu::View, "Volume", Icon::Box, &[key(NONE, Key::Num3)], "Shows the whole field of a scene of three dimensions, seen through."),
    entry(Action::ShowRelief, Menu::View, "Relief", Icon::Mountain, &[key(NONE, Key::Num4)], "Shows a scene of two dimensions as a relief, or as a picture again."),
    entry(Action::ShowFlow, Menu::View, "Flow", Icon::MoveUpRight, &[key(NONE, Key::Num5)], "Draws over a plane where probability or sound flows: as arrows, as streamlines, or not at all."),
    entry(Action::HidePanels, Menu::View, "Hide panels", Icon::Eye, &[key(NONE, Key::H)], "Leaves the picture alone; again brings the panels back."),
    entry(Action::LeftPanel, Menu::View, "Lessons and scene", Icon::PanelLeft, &[key(CTRL, Key::Num1)], "Opens or folds the left panel: gallery, lesson, scene."),
    entry(Action::RightPanel, Menu::View, "Settings", Icon::PanelRight, &[key(CTRL, Key::Num2)], "Opens or folds the right panel: view, time, method, predictions, comparison."),
    entry(Action::Plots, Menu::View, "Plots", Icon::ChartLine, &[key(CTRL, Key::Num3)], "Opens or folds the plots."),
    entry(Action::FullScreen, Menu::View, "Full screen", Icon::Maximize, &[key(NONE, Key::F), key(NONE, Key::F11)], "The whole screen, and back."),
    entry(Action::Projector, Menu::View, "Second window", Icon::Projector, &[key(NONE, Key::F6)], "The picture alone in a window of its own, for the projector; it shows what this one shows, and the controls stay here. F in it fills its screen."),
    entry(Action::Demo, Menu::View, "Demo", Icon::Presentation, &[key(NONE, Key::F5)], "The picture alone on the whole screen in large type; Page Down and Page Up, or a clicker, go from preset to preset. Escape ends it."),
    entry(Action::Theme, Menu::View, "Dark or light", Icon::Contrast, &[], "Changes the theme."),
    entry(Action::Contrast, Menu::View, "High contrast", Icon::SunMoon, &[], "Stronger text and lines, in both themes."),
    entry(Action::Larger, Menu::View, "Larger", Icon::ZoomIn, &[key(CTRL, Key::Plus), key(CTRL, Key::Equals)], "Text and controls a tenth larger."),
    entry(Action::Smaller, Menu::View, "Smaller", Icon::ZoomOut, &[key(CTRL, Key::Minus)], "Text and controls a tenth smaller."),
    entry(Action::NormalSize, Menu::View, "Normal size", Icon::Search, &[key(CTRL, Key::Num0)], "Text and controls as large as the system has them."),
    entry(Action::Palette, Menu::Help, "Command palette…", Icon::Search, &[key(CTRL, Key::P)], "Finds a command or a preset by its name."),
    entry(Action::Tour, Menu::Help, "First steps", Icon::Footprints, &[], "A tour of five things to do by the keyboard."),
    entry(Action::Help, Menu::Help, "Keys and mouse", Icon::Keyboard, &[key(NONE, Key::F1), key(NONE, Key::Questionmark)], "Lists keys and gestures."),
];

/// What can be done here: a page in a browser has no folders, a window no address.
pub fn actions() -> impl Iterator<Item = &'static Entry> {
    ACTIONS.iter().filter(|entry| system::can(entry.action))
}

impl Action {
    /// Its row of the table.
    #[must_use]
    pub fn entry(self) -> &'static Entry {
        // The table has a row for each action; a test sees to it.
        ACTIONS.iter().find(|entry| entry.action == self).unwrap_or(&ACTIONS[0])
    }
}

/// A shortcut as it stands on the keys: `[` rather than `OpenBracket`.
#[must_use]
pub fn shown(ctx: &egui::Context, shortcut: &KeyboardShortcut) -> String {
    let text = ctx.format_shortcut(shortcut);
    let signs = [
        ("OpenBracket", "["),
        ("CloseBracket", "]"),
        ("Questionmark", "?"),
        ("Period", "."),
        ("Plus", "+"),
        ("Equals", "="),
        ("Minus", "−"),
    ];
    let named = signs.iter().find(|(name, _)| text.ends_with(name));
    named.map_or(text.clone(), |(name, sign)| {
        format!("{}{sign}", &text[..text.len() - name.len()])
    })
}

/// What the keys of this frame ask for. Letters are left to a text field that has the focus, and Space to any
/// control that has it.
pub fn pressed(ctx: &egui::Context) -> Option<Action> {
    let typing = ctx.text_edit_focused();
    let focused = ctx.egui_wants_keyboard_input();
    // Longer combinations first, so that Ctrl+Shift+Z is not taken for Ctrl+Z.
    let mut shortcuts: Vec<(KeyboardShortcut, Action)> = Vec::with_capacity(40);
    for entry in actions() {
        shortcuts.extend(entry.keys.iter().map(|&key| (key, entry.action)));
    }
    shortcuts
        .sort_by_key(|(key, _)| std::cmp::Reverse(u8::from(key.modifiers.shift) + u8::from(key.modifiers.command)));
    ctx.input_mut(|input| {
        if input.events.is_empty() {
            return None;
        }
        shortcuts.into_iter().find_map(|(shortcut, action)| {
            let bare = shortcut.modifiers.is_none();
            let function = matches!(shortcut.logical_key, Key::F1 | Key::F5 | Key::F6 | Key::F11);
            if bare && !function && (typing || (focused && is_control_key(shortcut.logical_key))) {
                return None;
            }
            let hit = if bare {
                // `?` and `+` need Shift on many keyboards.
                input.count_and_consume_key(NONE, shortcut.logical_key) > 0
                    || (matches!(shortcut.logical_key, Key::Questionmark | Key::Plus)
                        && input.count_and_consume_key(Modifiers::SHIFT, shortcut.logical_key) > 0)
            } else {
                input.consume_shortcut(&shortcut)
            };
            hit.then_some(action)
        })
    })
}

/// Keys that a focused control uses itself.
fn is_control_key(key: Key) -> bool {
    matches!(
        key,
        Key::Space | Key::Home | Key::Minus | Key::Plus | Key::Equals | Key::Num0 | Key::Period
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_listed_once_and_no_key_is_taken_twice() {
        let mut keys = Vec::new();
        for (n, entry) in ACTIONS.iter().enumerate() {
            assert!(
                ACTIONS[..n]
                    .iter()
                    .all(|other| other.action != entry.action && other.title != entry.title),
                "{} stands twice",
                entry.title
            );
            for key in entry.keys {
                assert!(!keys.contains(key), "{key:?} of {} is taken", entry.title);
                keys.push(*key);
            }
        }
        let ctx = egui::Context::default();
        assert_eq!(shown(&ctx, &key(NONE, Key::OpenBracket)), "[");
        assert!(shown(&ctx, &key(CTRL, Key::Plus)).ends_with("++"));
        assert_eq!(shown(&ctx, &key(NONE, Key::F5)), "F5");
        // Help is declared last: its number counts the actions.
        assert_eq!(ACTIONS.len(), Action::Help as usize + 1);
    }
}

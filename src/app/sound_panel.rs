//! What a sound field starts as and what feeds it: pulses and sources.

use super::array_panel;
use super::cards::List;
use super::layers_panel::{length, point, tidy};
use super::widgets::{button, choice, figure, hint, row};
use crate::app::icon::Icon;
use crate::scene::SceneFile;
use crate::scene::file::{LayerFile, PatternFile, PulseFile, SignalFile, SourceFile, SourcePlace};
use egui::Ui;
use std::path::PathBuf;

const PULSES: List = List {
    noun: "pulse",
    ordered: false,
    needed: false,
};

const SOURCES: List = List {
    noun: "source",
    ordered: false,
    needed: false,
};

fn extent(file: &SceneFile) -> Vec<f64> {
    file.grid.size.iter().map(|&n| n as f64 * file.grid.spacing).collect()
}

fn middle(extent: &[f64]) -> Vec<f64> {
    extent.iter().map(|length| tidy(length / 2.0)).collect()
}

/// A speed of dragging that crosses the grid in a few hundred points.
fn pace(extent: &[f64]) -> f64 {
    extent.iter().copied().fold(0.0, f64::max) / 400.0
}

/// Shows the pulses; edits `file`.
pub fn pulses(ui: &mut Ui, file: &mut SceneFile) {
    if let Some(path) = &file.initial {
        hint(ui, &format!("The pressure starts as {}.", path.display()));
        return;
    }
    let extent = extent(file);
    let speed = pace(&extent);
    PULSES.show(
        ui,
        &mut file.pulses,
        |pulse| format!("{} Pa, width {} m", figure(pulse.amplitude, 3), figure(pulse.width, 3)),
        |ui, pulse| {
            point(ui, "Centre", &mut pulse.center, speed);
            length(ui, "Width w", &mut pulse.width, speed / 4.0);
            number(ui, "Amplitude", "Height in Pa.", &mut pulse.amplitude);
        },
    );
    if file.pulses.is_empty() {
        hint(ui, "Silence at t = 0.");
    }
    if ui
        .add(button(Icon::Plus, "Pulse"))
        .accessible_name("Add pulse")
        .clicked()
    {
        let least = extent.iter().copied().fold(f64::INFINITY, f64::min);
        file.pulses.push(PulseFile {
            center: middle(&extent),
            width: tidy((least / 32.0).max(4.0 * file.grid.spacing)),
            amplitude: 1.0,
        });
    }
}

/// Shows the sources; edits `file`.
pub fn sources(ui: &mut Ui, file: &mut SceneFile) {
    let extent = extent(file);
    let speed = file.acoustic.as_ref().map_or(343.0, |acoustic| acoustic.speed);
    // Sixteen sites a wavelength: high enough to be seen, low enough for the grid.
    let frequency = tidy(speed / (16.0 * file.grid.spacing));
    SOURCES.show(ui, &mut file.sources, title, |ui, source| {
        place_rows(ui, &mut source.place, &extent, speed);
        signal_rows(ui, &mut source.signal, frequency);
        let before = source.pattern;
        pattern_rows(ui, source, extent.len());
        if (before == PatternFile::Monopole) != (source.pattern == PatternFile::Monopole) {
            // The two kinds have other units.
            source.amplitude = if before == PatternFile::Monopole {
                1.0
            } else {
                loud(speed, frequency, extent.len())
            };
        }
        let about = if source.pattern == PatternFile::Monopole {
            "Factor of the signal; a point plays amplitude · s(t) · δ(r − r₀)."
        } else {
            "Of the force on a metre or square metre of it; of a plane wave that goes one way its pressure in Pa."
        };
        number(ui, "Amplitude", about, &mut source.amplitude);
        number(ui, "Delay (s)", "When it starts.", &mut source.delay);
        if matches!(
            source.signal,
            SignalFile::Sine { .. } | SignalFile::Burst { .. } | SignalFile::Chirp { .. }
        ) {
            number(ui, "Phase (rad)", "What its sine is ahead.", &mut source.phase);
        } else {
            source.phase = 0.0;
        }
        velocity_row(ui, &mut source.velocity, extent.len(), speed);
    });
    if file.sources.is_empty() {
        hint(ui, "Nothing plays.");
    }
    if ui
        .add(button(Icon::Plus, "Source"))
        .accessible_name("Add source")
        .clicked()
    {
        file.sources.push(SourceFile::new(
            SourcePlace::Point(middle(&extent)),
            SignalFile::Ricker { frequency },
            loud(speed, frequency, extent.len()),
        ));
    }
}

/// An amplitude that gives about 1 Pa a wavelength away: of the order of ω c in 1D, c² in 2D and 4π c² λ in 3D.
fn loud(speed: f64, frequency: f64, rank: usize) -> f64 {
    let tau = std::f64::consts::TAU;
    tidy(match rank {
        1 => tau * frequency * speed,
        2 => tau * speed * speed,
        _ => 2.0 * tau * speed.powi(3) / frequency,
    })
}

fn title(source: &SourceFile) -> String {
    let signal = signal_word(&source.signal);
    let tone = match source.signal {
        SignalFile::Ricker { frequency }
        | SignalFile::Sine { frequency }
        | SignalFile::Burst { frequency, .. }
        | SignalFile::Chirp { frequency, .. } => format!(" {}Hz", crate::units::si(frequency)),
        SignalFile::File { .. } => String::new(),
    };
    format!("{signal}{tone}, {}", place_word(&source.place))
}

fn place_word(place: &SourcePlace) -> &'static str {
    match place {
        SourcePlace::Point(_) => "point",
        SourcePlace::Line { .. } => "line",
        SourcePlace::Points { .. } => "array",
        SourcePlace::Disk { .. } => "disk",
    }
}

fn place_rows(ui: &mut Ui, place: &mut SourcePlace, extent: &[f64], speed: f64) {
    let mut word = place_word(place);
    let mut all = vec![
        ("point", "One place."),
        ("line", "Sends the wave of a point in one dimension less."),
        ("array", "A row of points with delays, which steer its wave."),
    ];
    if extent.len() == 3 {
        all.push(("disk", "A piston; as wide as the grid, a plane."));
    }
    let all = all
        .into_iter()
        .map(|(word, about)| (word, word.to_owned(), about.to_owned()));
    if extent.len() > 1
        && row(ui, "Place", "Where it stands.", |ui| {
            choice(ui, "Place", &mut word, all)
        })
    {
        *place = if word == "line" {
            let (mut from, mut to) = (middle(extent), middle(extent));
            from[1] = tidy(extent[1] * 0.25);
            to[1] = tidy(extent[1] * 0.75);
            SourcePlace::Line { from, to }
        } else if word == "array" {
            array_panel::fresh(extent, speed)
        } else if word == "disk" {
            SourcePlace::Disk {
                center: middle(extent),
                radius: tidy(extent[0].min(extent[1]) / 4.0),
                normal: 2,
            }
        } else {
            SourcePlace::Point(middle(extent))
        };
    }
    let pace = pace(extent);
    match place {
        SourcePlace::Point(at) => point(ui, "At", at, pace),
        SourcePlace::Line { from, to } => {
            point(ui, "From", from, pace);
            point(ui, "To", to, pace);
        }
        SourcePlace::Points { .. } => array_panel::show(ui, place, speed, pace),
        SourcePlace::Disk { center, radius, normal } => {
            point(ui, "Centre", center, pace);
            length(ui, "Radius", radius, pace / 4.0);
            let axes = LayerFile::AXES.map(|(word, axis)| (axis, word.to_owned(), String::new()));
            row(ui, "Across", "The axis that the disk stands across.", |ui| {
                choice(ui, "Across", normal, axes)
            });
        }
    }
}

/// Where a source sends its sound, and along what.
fn pattern_rows(ui: &mut Ui, source: &mut SourceFile, rank: usize) {
    let all = [
        (PatternFile::Monopole, "Alike in all directions."),
        (
            PatternFile::Dipole,
            "A force: forwards and backwards with opposite signs, nothing to the sides.",
        ),
        (
            PatternFile::OneWay,
            "Forwards alone; across the whole grid a plane wave of this amplitude in Pa.",
        ),
    ]
    .map(|(pattern, about)| (pattern, pattern.as_str().to_owned(), about.to_owned()));
    let about = "Where it sends its sound.";
    let changed = row(ui, "Pattern", about, |ui| {
        choice(ui, "Pattern", &mut source.pattern, all)
    });
    if source.pattern == PatternFile::Monopole {
        source.direction.clear();
        return;
    }
    if changed && source.direction.is_empty() {
        source.direction = vec![0.0; rank];
        let along = match &source.place {
            SourcePlace::Disk { normal, .. } => *normal,
            _ => 0,
        };
        source.direction[along] = 1.0;
    }
    if rank > 1 && !source.direction.is_empty() {
        point(ui, "Direction", &mut source.direction, 0.01);
    }
}

fn signal_word(signal: &SignalFile) -> &'static str {
    match signal {
        SignalFile::Ricker { .. } => "ricker",
        SignalFile::Sine { .. } => "sine",
        SignalFile::Burst { .. } => "burst",
        SignalFile::Chirp { .. } => "chirp",
        SignalFile::File { .. } => "file",
    }
}

fn signal_rows(ui: &mut Ui, signal: &mut SignalFile, usual: f64) {
    let mut word = signal_word(signal);
    let all = [
        ("ricker", "One short wavelet."),
        ("sine", "A tone that goes on."),
        ("burst", "Some periods under a Hann window."),
        ("chirp", "From one frequency to another."),
        ("file", "A recording: WAV or NPY."),
    ]
    .map(|(word, about)| (word, word.to_owned(), about.to_owned()));
    let changed = row(ui, "Signal", "What it plays.", |ui| {
        choice(ui, "Signal", &mut word, all)
    });
    if changed {
        let frequency = match signal {
            SignalFile::Ricker { frequency }
            | SignalFile::Sine { frequency }
            | SignalFile::Burst { frequency, .. }
            | SignalFile::Chirp { frequency, .. } => *frequency,
            SignalFile::File { .. } => usual,
        };
        *signal = match word {
            "sine" => SignalFile::Sine { frequency },
            "burst" => SignalFile::Burst { frequency, cycles: 5.0 },
            "chirp" => SignalFile::Chirp {
                frequency: frequency / 4.0,
                to_frequency: frequency,
                duration: tidy(20.0 / frequency),
            },
            "file" => SignalFile::File {
                file: PathBuf::from("sound.wav"),
                rate: None,
            },
            _ => SignalFile::Ricker { frequency },
        };
    }
    match signal {
        SignalFile::Ricker { frequency } | SignalFile::Sine { frequency } => {
            number(ui, "Frequency", "In Hz.", frequency);
        }
        SignalFile::Burst { frequency, cycles } => {
            number(ui, "Frequency", "In Hz.", frequency);
            number(ui, "Periods", "Under the window.", cycles);
        }
        SignalFile::Chirp {
            frequency,
            to_frequency,
            duration,
        } => {
            number(ui, "From", "First frequency in Hz.", frequency);
            number(ui, "To", "Last frequency in Hz.", to_frequency);
            number(ui, "Duration (s)", "How long it lasts.", duration);
        }
        SignalFile::File { file, rate } => file_rows(ui, file, rate),
    }
}

/// A recording's file, and the rate that NPY files do not hold.
fn file_rows(ui: &mut Ui, file: &mut PathBuf, rate: &mut Option<f64>) {
    let about =
        "WAV, or NPY of one axis. Beside the scene, or a whole path; a WAV file can be dropped on the window as well.";
    let mut text = file.display().to_string();
    let changed = row(ui, "File", about, |ui| {
        ui.add(egui::TextEdit::singleline(&mut text).desired_width(f32::INFINITY))
            .accessible_name("File of the signal")
            .changed()
    });
    if changed {
        *file = PathBuf::from(text);
    }
    let own = file
        .extension()
        .is_none_or(|ending| !ending.eq_ignore_ascii_case("npy"));
    if own && rate.is_none() {
        hint(ui, "Played at the file's own rate.");
    } else {
        let mut samples = rate.unwrap_or(48_000.0);
        number(ui, "Rate (Hz)", "Samples per second.", &mut samples);
        *rate = Some(samples);
    }
}

/// A source in the middle that plays a recording.
#[must_use]
pub fn player(scene: &SceneFile, file: PathBuf) -> SourceFile {
    let extent = extent(scene);
    let speed = scene.acoustic.as_ref().map_or(343.0, |acoustic| acoustic.speed);
    let frequency = tidy(speed / (16.0 * scene.grid.spacing));
    SourceFile::new(
        SourcePlace::Point(middle(&extent)),
        SignalFile::File { file, rate: None },
        loud(speed, frequency, extent.len()),
    )
}

fn velocity_row(ui: &mut Ui, velocity: &mut Vec<f64>, rank: usize, speed: f64) {
    let mut moves = !velocity.is_empty();
    row(ui, "Motion", "Velocity from t = 0 on, in m/s.", |ui| {
        ui.checkbox(&mut moves, "moves")
    });
    if moves == velocity.is_empty() {
        *velocity = if moves { vec![0.0; rank] } else { Vec::new() };
        if let Some(first) = velocity.first_mut() {
            *first = tidy(speed / 4.0);
        }
    }
    if moves {
        point(ui, "Velocity", velocity, speed / 400.0);
    }
}

/// A number of any size: dragging changes it by a hundredth of itself.
pub(super) fn number(ui: &mut Ui, label: &str, about: &str, value: &mut f64) {
    let speed = (value.abs() / 100.0).max(1e-6);
    row(ui, label, about, |ui| {
        ui.push_id(label, |ui| ui.add(super::number::number(value).speed(speed)));
    });
}

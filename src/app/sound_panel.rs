//! What a sound field starts as and what feeds it: pulses and sources.

use super::array_panel;
use super::cards::List;
use super::layers_panel::{PLACE, length, point};
use super::number::{ANY, NOT_NEGATIVE, POSITIVE, number_row, tidy};
use super::widgets::{button, choice, figure, hint, row};
use crate::app::icon::Icon;
use crate::scene::SceneFile;
use crate::scene::file::{LayerFile, PatternFile, PulseFile, SignalFile, SourceFile, SourcePlace};
use egui::Ui;
use std::ops::RangeInclusive;
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
        let response = ui
            .add(button(Icon::Plus, "Pulse instead"))
            .accessible_name("Start from a pulse instead")
            .on_hover_text("The pressure starts as a pulse in the middle of the grid.");
        if response.clicked() {
            let pulse = fresh(&extent(file), file.grid.spacing);
            file.initial = None;
            file.pulses = vec![pulse];
        }
        return;
    }
    let extent = extent(file);
    let speed = pace(&extent);
    PULSES.show(
        ui,
        &mut file.pulses,
        |pulse| format!("{} Pa, width {} m", figure(pulse.amplitude, 3), figure(pulse.width, 3)),
        |ui, pulse| {
            point(ui, ("Centre", "m"), PLACE, &mut pulse.center, speed);
            let about = "p = amplitude · exp(−|r − c|²/2w²): at a distance of w it has fallen to 0.61. Above 0.";
            length(ui, ("Width w", about), &mut pulse.width, ("m", speed / 4.0));
            number(
                ui,
                ("Amplitude", "Pressure in the middle at t = 0."),
                &mut pulse.amplitude,
                "Pa",
                ANY,
            );
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
        file.pulses.push(fresh(&extent, file.grid.spacing));
    }
}

/// A pulse in the middle of the grid.
fn fresh(extent: &[f64], spacing: f64) -> PulseFile {
    let least = extent.iter().copied().fold(f64::INFINITY, f64::min);
    PulseFile {
        center: middle(extent),
        width: tidy((least / 32.0).max(4.0 * spacing)),
        amplitude: 1.0,
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
            "Factor of the signal s(t): a point plays amplitude · s(t) · δ(r − r₀), in Pa m/s² along a line, Pa m²/s² in a plane, Pa m³/s² in space."
        } else {
            "Factor of the force, in Pa where it stands across the whole grid, and of a plane wave that goes one way its pressure; of a point in Pa m in a plane, Pa m² in space."
        };
        number(ui, ("Amplitude", about), &mut source.amplitude, "", ANY);
        number(ui, ("Delay", "When it starts; 0 or later."), &mut source.delay, "s", NOT_NEGATIVE);
        if matches!(
            source.signal,
            SignalFile::Sine { .. } | SignalFile::Burst { .. } | SignalFile::Chirp { .. }
        ) {
            number(ui, ("Phase", "What its sine is ahead."), &mut source.phase, "rad", ANY);
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
pub(super) fn loud(speed: f64, frequency: f64, rank: usize) -> f64 {
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
        SourcePlace::Point(at) => point(ui, ("At", "m"), PLACE, at, pace),
        SourcePlace::Line { from, to } => {
            point(ui, ("From", "m"), PLACE, from, pace);
            point(ui, ("To", "m"), PLACE, to, pace);
        }
        SourcePlace::Points { .. } => array_panel::show(ui, place, speed, pace),
        SourcePlace::Disk { center, radius, normal } => {
            point(ui, ("Centre", "m"), PLACE, center, pace);
            length(ui, ("Radius", "Of the piston; above 0."), radius, ("m", pace / 4.0));
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
        let about = "Along what it sends: a vector of any length but 0.";
        point(ui, ("Direction", ""), about, &mut source.direction, 0.01);
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
            number(ui, ("Frequency", FREQUENCY), frequency, "Hz", POSITIVE);
        }
        SignalFile::Burst { frequency, cycles } => {
            number(ui, ("Frequency", FREQUENCY), frequency, "Hz", POSITIVE);
            number(
                ui,
                ("Periods", "Periods of the sine under its window; above 0."),
                cycles,
                "",
                POSITIVE,
            );
        }
        SignalFile::Chirp {
            frequency,
            to_frequency,
            duration,
        } => {
            number(ui, ("From", "First frequency; above 0."), frequency, "Hz", POSITIVE);
            number(ui, ("To", "Last frequency; above 0."), to_frequency, "Hz", POSITIVE);
            number(ui, ("Duration", "How long it lasts; above 0."), duration, "s", POSITIVE);
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
        number(
            ui,
            ("Rate", "Samples per second of the file; above 0."),
            &mut samples,
            "Hz",
            POSITIVE,
        );
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
        let about = "From t = 0 on. Slower than sound, or it outruns its waves.";
        point(ui, ("Velocity", "m/s"), about, velocity, speed / 400.0);
    }
}

/// What a frequency is, and its limits.
const FREQUENCY: &str = "Of the signal; above 0. The lattice carries waves of 8 sites and more well.";

/// A number of any size: dragging changes it by a hundredth of itself.
pub(super) fn number(
    ui: &mut Ui,
    words: (&str, &str),
    value: &mut f64,
    unit: &'static str,
    range: RangeInclusive<f64>,
) {
    let pace = (value.abs() / 100.0).max(1e-6);
    number_row(ui, words, value, (unit, pace), range);
}

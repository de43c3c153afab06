//! The detectors of the scene: where they look, what they record.

use super::cards::List;
use super::handles::straighten;
use super::layers_panel::{PLACE, point};
use super::names;
use super::number::{POSITIVE, tidy};
use super::sound::SoundWish;
use super::widgets::{button, choice, figure, hint, row, typed};
use crate::app::icon::Icon;
use crate::physics::{Measure, Reading};
use crate::scene::SceneFile;
use crate::scene::file::{DetectorFile, RegionFile};
use egui::{DragValue, Ui};

const LIST: List = List {
    noun: "detector",
    ordered: false,
    needed: false,
};

/// Shows the list; edits `file`, and returns what shall be heard.
pub fn show(ui: &mut Ui, file: &mut SceneFile) -> Option<SoundWish> {
    let extent: Vec<f64> = file.grid.size.iter().map(|&n| n as f64 * file.grid.spacing).collect();
    let sound = file.acoustic.is_some();
    let before = names_of(&file.detectors);
    let mut wish = None;
    LIST.show(ui, &mut file.detectors, title, |ui, detector| {
        body(ui, detector, &extent, sound);
        if sound {
            wish = sound_rows(ui, &detector.name).or(wish.take());
        }
    });
    unite_names(&mut file.detectors, &before);
    names::follow_detectors(file, &before);
    if file.detectors.is_empty() {
        hint(ui, "Nothing is recorded.");
    }
    if ui
        .add(button(Icon::Plus, "Detector"))
        .accessible_name("Add detector")
        .clicked()
    {
        let name = free_name(&file.detectors, "detector");
        file.detectors
            .push(DetectorFile::new(name, RegionFile::Point(middle(&extent))));
    }
    wish
}

/// What was recorded, as sound: how fast, into a file, or to be heard.
fn sound_rows(ui: &mut Ui, detector: &str) -> Option<SoundWish> {
    let id = egui::Id::unique("speed of sounds");
    let mut speed = ui.data(|data| data.get_temp(id)).unwrap_or(1.0);
    row(
        ui,
        "Heard at",
        "How many times as fast as in the scene: 1 is as it is; 0.01 makes 100 kHz a tone of 1 kHz, and 10 ms a second.",
        |ui| {
            let pace = speed / 50.0;
            let drag = DragValue::new(&mut speed)
                .range(1e-9..=1e9)
                .speed(pace)
                .suffix(" ×")
                .custom_formatter(|value, _| figure(value, 3))
                .custom_parser(|text| typed(text.trim().trim_end_matches('×').trim()).parse().ok());
            ui.name_inputs("Heard at", |ui| ui.add(drag));
        },
    );
    ui.data_mut(|data| data.insert_temp(id, speed));
    ui.horizontal(|ui| {
        let listens = ui
            .add(button(Icon::Play, "Listen"))
            .on_hover_text("Opens what was recorded so far with the system's player.")
            .clicked();
        let saves = ui
            .add(button(Icon::Save, "Save WAV…"))
            .on_hover_text("48 kHz, 16 bits, as loud as the file can hold; the factor is told.")
            .clicked();
        (listens || saves).then(|| SoundWish {
            detector: detector.to_owned(),
            speed,
            listens,
        })
    })
    .inner
}

fn names_of(detectors: &[DetectorFile]) -> Vec<String> {
    detectors.iter().map(|detector| detector.name.clone()).collect()
}

/// A name that no detector has: `stem`, `stem 2`, …
fn free_name(detectors: &[DetectorFile], stem: &str) -> String {
    names::free(stem, |name| detectors.iter().any(|detector| detector.name == name))
}

/// A copy gets a name of its own.
fn unite_names(detectors: &mut [DetectorFile], before: &[String]) {
    if detectors.len() <= before.len() {
        return;
    }
    for n in 1..detectors.len() {
        if detectors[..n].iter().any(|other| other.name == detectors[n].name) {
            detectors[n].name = free_name(detectors, &detectors[n].name.clone());
        }
    }
}

fn title(detector: &DetectorFile) -> String {
    format!("{}, {}", detector.name, word(&detector.region))
}

fn word(region: &RegionFile) -> &'static str {
    match region {
        RegionFile::Everywhere => "everywhere",
        RegionFile::Point(_) => "point",
        RegionFile::Line { .. } => "line",
        RegionFile::Box { .. } => "box",
    }
}

fn middle(extent: &[f64]) -> Vec<f64> {
    part(extent, 0.5)
}

fn part(extent: &[f64], share: f64) -> Vec<f64> {
    extent.iter().map(|length| tidy(length * share)).collect()
}

fn fresh(word: &str, extent: &[f64]) -> RegionFile {
    match word {
        "point" => RegionFile::Point(middle(extent)),
        "line" => {
            // Across the grid, along its last axis.
            let (mut from, mut to) = (middle(extent), middle(extent));
            let last = extent.len() - 1;
            from[last] = tidy(extent[last] * 0.25);
            to[last] = tidy(extent[last] * 0.75);
            RegionFile::Line { from, to }
        }
        "box" => RegionFile::Box {
            min: part(extent, 0.6),
            max: part(extent, 0.8),
        },
        _ => RegionFile::Everywhere,
    }
}

/// What can be measured in a region.
fn measures(region: &RegionFile, rank: usize, sound: bool) -> Vec<Measure> {
    let at_point = matches!(region, RegionFile::Point(_));
    let at_line = matches!(region, RegionFile::Line { .. });
    Measure::ALL
        .iter()
        .map(|(_, measure)| *measure)
        .filter(|measure| match measure {
            Measure::Value => at_point,
            Measure::Flux => at_line || (rank == 1 && at_point),
            Measure::Probability => !sound,
            Measure::Energy | Measure::Pressure => sound,
            Measure::Velocity => sound && at_point,
            Measure::Peak => true,
        })
        .collect()
}

fn body(ui: &mut Ui, detector: &mut DetectorFile, extent: &[f64], sound: bool) {
    let rank = extent.len();
    row(ui, "Name", "Heads its plot and its column of the CSV file.", |ui| {
        ui.add(egui::TextEdit::singleline(&mut detector.name).desired_width(f32::INFINITY));
    });
    let mut shape = word(&detector.region);
    let all: &[&'static str] = if rank == 1 {
        &["point", "box", "everywhere"]
    } else {
        &["point", "line", "box", "everywhere"]
    };
    let all = all.iter().map(|word| (*word, (*word).to_owned(), String::new()));
    if row(ui, "Region", "Where it looks.", |ui| {
        choice(ui, "Region", &mut shape, all)
    }) {
        detector.region = fresh(shape, extent);
    }
    let speed = extent.iter().copied().fold(0.0, f64::max) / 400.0;
    let unit = if sound { "m" } else { "" };
    match &mut detector.region {
        RegionFile::Everywhere => {}
        RegionFile::Point(at) => point(ui, ("At", unit), PLACE, at, speed),
        RegionFile::Line { from, to } => {
            let before = from.clone();
            point(ui, ("From", unit), PLACE, from, speed);
            let moved = *from != before;
            let before = to.clone();
            point(ui, ("To", unit), PLACE, to, speed);
            if moved {
                straighten(from, to);
            } else if *to != before {
                straighten(to, from);
            }
        }
        RegionFile::Box { min: a, max: b } => {
            point(ui, ("From", unit), PLACE, a, speed);
            point(ui, ("To", unit), PLACE, b, speed);
        }
    }
    let offered = measures(&detector.region, rank, sound);
    if detector.measure.is_some_and(|measure| !offered.contains(&measure)) {
        detector.measure = None;
    }
    let auto = (None, "automatic".to_owned(), "What fits the region.".to_owned());
    let all = std::iter::once(auto).chain(
        offered
            .into_iter()
            .map(|measure| (Some(measure), measure.as_str().to_owned(), String::new())),
    );
    row(ui, "Measure", "What it records at every step.", |ui| {
        choice(ui, "Measure", &mut detector.measure, all)
    });
    if detector.measure != Some(Measure::Velocity) {
        detector.direction.clear();
    } else if rank > 1 {
        if detector.direction.len() != rank {
            detector.direction = vec![0.0; rank];
            detector.direction[0] = 1.0;
        }
        let about = "Along what the velocity is taken: a vector of any length but 0.";
        point(ui, ("Direction", ""), about, &mut detector.direction, 0.01);
    }
    reading_rows(ui, detector, sound);
}

/// What a detector makes of what it measures.
fn reading_rows(ui: &mut Ui, detector: &mut DetectorFile, sound: bool) {
    if detector.measure == Some(Measure::Peak) {
        (detector.reading, detector.over) = (Reading::Itself, None);
        return;
    }
    let at_point = matches!(detector.region, RegionFile::Point(_));
    let pressure = match detector.measure {
        None | Some(Measure::Value) => at_point,
        Some(measure) => measure == Measure::Pressure,
    };
    let mut all = vec![
        (Reading::Itself, "The value of each moment."),
        (Reading::Mean, "The mean of all moments."),
        (Reading::Rms, "The root of the mean square."),
    ];
    if sound && pressure {
        all.push((Reading::Level, "That of the pressure in dB re 20 µPa."));
    } else if detector.reading == Reading::Level {
        detector.reading = Reading::Itself;
    }
    let all = all
        .into_iter()
        .map(|(reading, about)| (reading, reading.as_str().to_owned(), about.to_owned()));
    row(ui, "Read as", "What is made of what it measures.", |ui| {
        choice(ui, "Read as", &mut detector.reading, all)
    });
    if detector.reading == Reading::Itself {
        detector.over = None;
        return;
    }
    let mut fades = detector.over.is_some();
    row(
        ui,
        "Average",
        "Over all of the run, or fading with a time constant.",
        |ui| ui.checkbox(&mut fades, "fades"),
    );
    if fades {
        let over = detector.over.get_or_insert(0.125);
        let unit = if sound { "s" } else { "" };
        let about = "The time constant with which the past fades; above 0. Sound level meters have 0.125 and 1 s.";
        super::sound_panel::number(ui, ("Over", about), over, unit, POSITIVE);
    } else {
        detector.over = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_gets_a_name_of_its_own() {
        let mut all: Vec<DetectorFile> = ["a", "b"]
            .map(|name| DetectorFile::new(name.to_owned(), RegionFile::Everywhere))
            .into();
        let before = names_of(&all);
        all.insert(1, all[0].clone());
        unite_names(&mut all, &before);
        assert_eq!(names_of(&all), ["a", "a 2", "b"]);
        assert_eq!(free_name(&all, "a"), "a 3");
    }

    #[test]
    fn only_what_a_region_allows_is_offered() {
        let point = RegionFile::Point(vec![0.0]);
        assert!(measures(&point, 1, false).contains(&Measure::Flux));
        assert!(!measures(&point, 2, false).contains(&Measure::Flux));
        assert!(!measures(&RegionFile::Everywhere, 2, true).contains(&Measure::Value));
        assert!(!measures(&RegionFile::Everywhere, 2, true).contains(&Measure::Probability));
    }
}

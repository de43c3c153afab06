//! Notes and theory of the scene: what is said and drawn while it runs.

use super::cards::List;
use super::number::{NOT_NEGATIVE, number_in, number_row, tidy};
use super::widgets::{Explained, button, choice, hint, row};
use crate::app::icon::Icon;
use crate::scene::SceneFile;
use crate::scene::file::{DrawnFile, MarkFile, NoteFile, TheoryFile, ValueFile};
use egui::{TextEdit, Ui};

const NOTES: List = List {
    noun: "note",
    ordered: false,
    needed: false,
};

const THEORIES: List = List {
    noun: "theory",
    ordered: false,
    needed: false,
};

/// Shows both lists; edits `file`.
pub fn show(ui: &mut Ui, file: &mut SceneFile) {
    let end = file.time.end.unwrap_or(100.0);
    let unit = if file.acoustic.is_some() { "s" } else { "" };
    let extent: Vec<f64> = file.grid.size.iter().map(|&n| n as f64 * file.grid.spacing).collect();
    NOTES.show(ui, &mut file.notes, note_title, |ui, note| {
        time(ui, "From", &mut note.at, (end, unit));
        end_row(ui, &mut note.until, note.at, (end, unit));
        ui.add(
            TextEdit::multiline(&mut note.text)
                .desired_rows(2)
                .desired_width(f32::INFINITY),
        )
        .accessible_name("Words of the note");
        if extent.len() < 3 {
            mark(ui, &mut note.mark, &extent);
        }
    });
    let names: Vec<String> = file.detectors.iter().map(|detector| detector.name.clone()).collect();
    THEORIES.show(ui, &mut file.theories, theory_title, |ui, theory| {
        body(ui, theory, (&names, &extent), (end, unit));
    });
    if file.notes.is_empty() && file.theories.is_empty() {
        hint(ui, "No words appear while it runs, and no theory is drawn.");
    }
    ui.horizontal(|ui| {
        if ui.add(button(Icon::Plus, "Note")).accessible_name("Add note").clicked() {
            file.notes.push(NoteFile {
                at: 0.0,
                until: None,
                text: "Look at …".to_owned(),
                mark: None,
            });
        }
        if ui
            .add(button(Icon::Plus, "Theory"))
            .accessible_name("Add theory")
            .clicked()
        {
            file.theories.push(TheoryFile {
                drawn: fresh(if extent.len() == 2 { 2 } else { 1 }, (&names, &extent)),
                label: String::new(),
                at: None,
                until: None,
            });
        }
    });
}

fn note_title(note: &NoteFile) -> String {
    note.text.lines().next().unwrap_or("").to_owned()
}

fn theory_title(theory: &TheoryFile) -> String {
    let word = match &theory.drawn {
        DrawnFile::Detector { detector, .. } => format!("over {detector}"),
        DrawnFile::Cut { axis, .. } => format!("over the cut along {}", ["x", "y"][*axis]),
        DrawnFile::Line { .. } => "line".to_owned(),
        DrawnFile::Circle { .. } => "circle".to_owned(),
    };
    if theory.label.is_empty() {
        word
    } else {
        format!("{}, {word}", theory.label)
    }
}

/// What a note points at.
fn mark(ui: &mut Ui, mark: &mut Option<MarkFile>, extent: &[f64]) {
    row(ui, "Points at", "A ring in the picture, a band of a graph.", |ui| {
        let mut points = mark.is_some();
        if ui
            .checkbox(&mut points, "")
            .accessible_name("Points at a place")
            .changed()
        {
            let least = extent.iter().copied().fold(f64::INFINITY, f64::min);
            *mark = points.then(|| MarkFile {
                center: (extent.iter().map(|length| ValueFile::Number(tidy(length / 2.0)))).collect(),
                radius: ValueFile::Number(tidy(least / 10.0)),
            });
        }
    });
    if let Some(mark) = mark {
        place(ui, "Middle", &mut mark.center);
        amount(ui, "Radius", "A length: a number or a formula of t.", &mut mark.radius);
    }
}

/// What can be drawn, by its number in the list of words.
const KINDS: [&str; 4] = ["over a detector's plot", "over the line cut", "line", "circle"];

fn kind(drawn: &DrawnFile) -> usize {
    match drawn {
        DrawnFile::Detector { .. } => 0,
        DrawnFile::Cut { .. } => 1,
        DrawnFile::Line { .. } => 2,
        DrawnFile::Circle { .. } => 3,
    }
}

fn fresh(kind: usize, (names, extent): (&[String], &[f64])) -> DrawnFile {
    let part = |share: f64| {
        extent
            .iter()
            .take(2)
            .map(|length| ValueFile::Number(tidy(length * share)))
            .collect()
    };
    match kind {
        0 => DrawnFile::Detector {
            detector: names.first().cloned().unwrap_or_default(),
            value: ValueFile::Number(0.0),
        },
        1 => DrawnFile::Cut {
            axis: 0,
            quantity: None,
            value: ValueFile::Number(0.0),
        },
        2 => DrawnFile::Line {
            from: part(0.25),
            to: part(0.75),
        },
        _ => DrawnFile::Circle {
            center: part(0.5),
            radius: ValueFile::Number(tidy(extent.iter().copied().fold(f64::INFINITY, f64::min) / 4.0)),
        },
    }
}

fn body(ui: &mut Ui, theory: &mut TheoryFile, (names, extent): (&[String], &[f64]), end: (f64, &'static str)) {
    let mut chosen = kind(&theory.drawn);
    let words = KINDS
        .iter()
        .enumerate()
        .map(|(n, word)| (n, (*word).to_owned(), String::new()));
    let plane = extent.len() == 2;
    let words = words.filter(|(n, ..)| (plane || *n < 2) && (*n > 0 || !names.is_empty()));
    if row(ui, "Drawn", "Where theory is drawn, as a dashed line.", |ui| {
        choice(ui, "Drawn", &mut chosen, words)
    }) {
        theory.drawn = fresh(chosen, (names, extent));
    }
    match &mut theory.drawn {
        DrawnFile::Detector { detector, value } => {
            let mut n = names.iter().position(|name| name == detector).unwrap_or(0);
            let all = names
                .iter()
                .enumerate()
                .map(|(n, name)| (n, name.clone(), String::new()));
            if row(ui, "Detector", "Whose plot it is drawn over.", |ui| {
                choice(ui, "Detector", &mut n, all)
            }) {
                detector.clone_from(&names[n]);
            }
            amount(ui, "Value", "A number or a formula of t.", value);
        }
        DrawnFile::Cut { axis, value, .. } => {
            if plane {
                let all = [(0, "x".to_owned(), String::new()), (1, "y".to_owned(), String::new())];
                row(ui, "Along", "Which way the cut goes.", |ui| {
                    choice(ui, "Along", axis, all)
                });
            }
            amount(ui, "Value", "A number or a formula of x, y and t.", value);
        }
        DrawnFile::Line { from, to } => {
            for (label, ends) in [("From", from), ("To", to)] {
                place(ui, label, ends);
            }
        }
        DrawnFile::Circle { center, radius } => {
            place(ui, "Centre", center);
            amount(ui, "Radius", "A number or a formula of t.", radius);
        }
    }
    row(ui, "Label", "A word beside it.", |ui| {
        ui.add(TextEdit::singleline(&mut theory.label).desired_width(f32::INFINITY))
    });
    let mut at = theory.at.unwrap_or(0.0);
    time(ui, "From t", &mut at, end);
    theory.at = (at != 0.0).then_some(at);
    end_row(ui, &mut theory.until, at, end);
}

fn place(ui: &mut Ui, label: &str, values: &mut [ValueFile]) {
    for (axis, value) in ["x", "y"].into_iter().zip(values) {
        amount(
            ui,
            &format!("{label} {axis}"),
            "A length: a number or a formula of t.",
            value,
        );
    }
}

/// A field that takes a number or a formula; what is in it is judged with the whole scene.
fn amount(ui: &mut Ui, label: &str, about: &str, value: &mut ValueFile) {
    let mut text = match value {
        ValueFile::Number(number) => number.to_string(),
        ValueFile::Formula(text) => text.clone(),
    };
    let changed = row(ui, label, about, |ui| {
        let field = TextEdit::singleline(&mut text).desired_width(f32::INFINITY);
        ui.add(field).accessible_name(label).changed()
    });
    if changed {
        // "1." is on its way to 1.5: only what reads back as it stands becomes a number.
        let number = text
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite() && number.to_string() == text);
        *value = number.map_or(ValueFile::Formula(text), ValueFile::Number);
    }
}

fn time(ui: &mut Ui, label: &str, t: &mut f64, (end, unit): (f64, &'static str)) {
    number_row(
        ui,
        (label, "When it appears; 0 or later."),
        t,
        (unit, end / 400.0),
        NOT_NEGATIVE,
    );
}

fn end_row(ui: &mut Ui, until: &mut Option<f64>, at: f64, (end, unit): (f64, &'static str)) {
    let about = "When it goes, after it appears; otherwise it stays.";
    row(ui, "Until", about, |ui| {
        let mut goes = until.is_some();
        if ui.checkbox(&mut goes, "").accessible_name("Goes").changed() {
            *until = goes.then(|| tidy(f64::midpoint(at, end.max(at * 2.0))));
        }
        if let Some(until) = until {
            let field = number_in(until, unit).range(at..=f64::MAX).speed(end / 400.0);
            ui.name_inputs("Until", |ui| ui.add(field).explained(about));
        }
    });
}

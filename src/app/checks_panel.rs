//! "Is it right?": predictions with what was measured, and warnings.

use super::document::Checks;
use super::question::Questions;
use super::theme;
use super::time_panel;
use super::units::Units;
use super::widgets::{figure, grouped, hint, section, warning};
use crate::app::icon::Icon;
use crate::engine::expectations::judged_at;
use crate::engine::resolution::{idle_layers, sent_back, too_coarse};
use crate::engine::{Frame, Phase, Verdict};
use crate::field::Precision;
use crate::physics::{Model, absorber};
use crate::scene::Scenario;
use crate::scene::scenario::{Expectation, Subject};
use crate::solver::StepAdvice;
use egui::{Align, Color32, FontId, Id, Layout, Ui};
use std::sync::Arc;

/// Tolerances beyond which a value that is still on its way is not compared with them.
const FAR: f64 = 10.0;

/// Shows the section.
pub fn show(ui: &mut Ui, frame: &Frame, questions: &Questions, checks: &Checks) {
    section(ui, Icon::CircleCheck, "Is it right?", true, |ui| {
        let Some(scenario) = &frame.scenario else {
            hint(ui, "Nothing runs yet.");
            return;
        };
        if scenario.expectations().is_empty() {
            hint(ui, "This scene predicts nothing; add [[expect]] to its file.");
        }
        if let Some(text) = held_back(checks) {
            hint(ui, text);
        }
        for (n, expectation) in scenario.expectations().iter().enumerate() {
            let verdict = frame.verdicts.get(n).copied().unwrap_or_default();
            card(ui, scenario, (n, expectation, verdict), frame, (questions, checks));
        }
        let advice = time_panel::advice(ui, scenario);
        let of_scene = of_scene(ui, scenario, frame.clock.time_step);
        for text in of_scene.iter().chain(&warnings(scenario, frame, checks, advice)) {
            warning(ui, text);
        }
    });
}

/// Why something that the scene says of itself is neither drawn nor judged, if so.
fn held_back(checks: &Checks) -> Option<&'static str> {
    let claims = &checks.claims;
    let silent = |list: &[bool]| list.contains(&false);
    let words = silent(&claims.notes) || silent(&claims.theories);
    match (silent(&claims.expectations), words) {
        (true, true) => Some(
            "The scene was edited: its predictions, notes and theory do not apply to it as it is now, and are neither judged nor shown. Undo (Ctrl+Z) or open it again to check them.",
        ),
        (true, false) => Some(
            "The scene was edited: its predictions do not apply to it as it is now. Undo (Ctrl+Z) or open it again to check them.",
        ),
        (false, true) => Some(
            "The scene was edited: its notes and theory do not apply to it as it is now, and are not shown. Undo (Ctrl+Z) or open it again to see them.",
        ),
        (false, false) if checks.mixed => Some(
            "The run went partly through an edited scene, was measured, or was reversed by hand: its predictions are judged again once it starts anew (Reset).",
        ),
        (false, false) => None,
    }
}

/// What is measured of a subject now, before its time has come; nothing while there is nothing to measure, as no focus has a width yet.
fn live(subject: &Subject, frame: &Frame) -> Option<f64> {
    let value = match subject {
        Subject::Detector(place) => frame.detectors.get(*place).copied(),
        Subject::Observable(name) => {
            // What a mirror is measured by says something on the way back only.
            let mirror = frame
                .mirror
                .as_ref()
                .filter(|mirror| mirror.status.phase == Phase::Replay);
            let refocus = || mirror?.refocus.and_then(|(_, _, found)| found.by_name(name));
            let equation = frame.scenario.as_ref()?.model().equation();
            frame
                .observables
                .and_then(|(_, sums)| sums.told(equation).by_name(name))
                .or_else(refocus)
                .or_else(|| frame.state.as_ref()?.2.by_name(name))
                .or_else(|| on_its_way(name, frame))
        }
    };
    value.filter(|value| value.is_finite())
}

/// How far a value is from what is predicted; one that is no number is not compared.
fn error_of(value: Option<f64>, expectation: &Expectation) -> Option<f64> {
    let error = value? - expectation.value;
    error.is_finite().then_some(error)
}

/// Where a trajectory stands: `name` is that of one of its coordinates.
fn on_its_way(name: &str, frame: &Frame) -> Option<f64> {
    let trajectories = frame.scenario.as_ref()?.trajectories();
    let (trajectory, axis) = name.rsplit_once('.')?;
    let place = trajectories.iter().position(|one| one.name == trajectory)?;
    let [x, y] = *frame.paths.get(place)?.points.last()?;
    match axis {
        "x" => Some(x),
        "y" => Some(y),
        _ => None,
    }
}

fn card(
    ui: &mut Ui,
    scenario: &Scenario,
    (place, expectation, verdict): (usize, &Expectation, Verdict),
    frame: &Frame,
    (questions, checks): (&Questions, &Checks),
) {
    let edited = !checks.holds(place);
    let clock = frame.clock;
    let palette = theme::palette(ui);
    let (icon, color, word) = match verdict {
        _ if edited && checks.mixed => (Icon::Pencil, palette.weak, "not judged"),
        _ if edited => (Icon::Pencil, palette.weak, "does not apply"),
        Verdict::Pending => (Icon::Hourglass, palette.weak, "waits"),
        Verdict::Right(_) => (Icon::CircleCheck, palette.right, "agrees"),
        Verdict::Wrong(_) => (Icon::CircleX, palette.wrong, "disagrees"),
    };
    let time = Units::of(scenario, clock.time_step).time;
    let unit = expectation.subject.unit(scenario);
    let with_unit = |value: String| {
        if unit.is_empty() {
            value
        } else {
            format!("{value} {unit}")
        }
    };
    let name = expectation.subject.in_words(scenario.detectors());
    let response = egui::Frame::new()
        .fill(palette.surface)
        .corner_radius(4)
        .inner_margin(8)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 4.0;
            let standing = match verdict {
                _ if edited => word.to_owned(),
                Verdict::Pending if clock.time < expectation.at => {
                    format!("at t = {}", time.show(expectation.at, 4))
                }
                Verdict::Pending => "not measured".to_owned(),
                _ => word.to_owned(),
            };
            heading(ui, &name, (icon, color), &standing);
            if let Some(said) = questions.said(place) {
                value_row(ui, "you said", &said);
            }
            // A question first: the scene keeps its predictions to itself, also the others, from which the answer may be found.
            let asked = !expectation.ask.is_empty() && questions.hides(place);
            let hidden = verdict == Verdict::Pending && (asked || questions.is_open(scenario));
            let predicted = if hidden && asked {
                "asked when it runs".to_owned()
            } else if hidden {
                "shown after the question".to_owned()
            } else {
                let tolerance = figure(expectation.tolerance, 2);
                with_unit(format!("{} ± {tolerance}", figure(expectation.value, 5)))
            };
            value_row(ui, "predicted", &predicted);
            let (name, value) = match verdict.measured() {
                Some(value) => ("measured", Some(value)),
                None => ("now", live(&expectation.subject, frame)),
            };
            value_row(
                ui,
                name,
                &value.map_or("–".to_owned(), |value| with_unit(figure(value, 5))),
            );
            let judged = judged_at(expectation.at, &clock, |at| time.show(at, 4));
            if verdict.measured().is_some() && judged != time.show(expectation.at, 4) {
                value_row(ui, "at t", &judged);
            }
            if edited {
                return;
            }
            let Some(error) = error_of(value.filter(|_| !hidden), expectation) else {
                value_row(ui, "error", "–");
                return;
            };
            let share = error.abs() / expectation.tolerance;
            let error = with_unit(figure(error, 2));
            if matches!(verdict, Verdict::Wrong(_)) && checks.other_steps {
                let text = "Δt or the method is not that of the scene, for which its tolerance was made.";
                hint(ui, text);
            }
            if verdict == Verdict::Pending && share > FAR {
                // It is not time yet: how many tolerances there are on the way says nothing.
                value_row(ui, "error", &error);
                return;
            }
            let share = of_tolerance(share);
            // One row where it fits beside the name.
            if ui.available_width() < 240.0 {
                value_row(ui, "error", &error);
                value_row(ui, "", &share);
            } else {
                value_row(ui, "error", &format!("{error} ({share})"));
            }
        })
        .response;
    response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ListItem, true, format!("Prediction {name}: {word}")));
    let told = hover(&expectation.because, word);
    if !told.is_empty() {
        response.on_hover_text(told);
    }
}

/// What is told where a card is pointed at: where its prediction comes from, and the command line's word for its verdict.
fn hover(because: &str, word: &str) -> String {
    let other = match word {
        "agrees" => "On the command line: right.",
        "disagrees" => "On the command line: wrong.",
        _ => "",
    };
    format!("{}\n\n{other}", because.trim()).trim().to_owned()
}

/// The heading of a card: its subject, and how that stands at the right; below it where both have no room side by side, so that a long name is read whole.
fn heading(ui: &mut Ui, name: &str, (icon, color): (Icon, Color32), standing: &str) {
    const SIGN: f32 = 15.0;
    const SMALL: f32 = 12.0;
    let width = |text: &str, font| {
        let galley = ui.painter().layout_no_wrap(text.to_owned(), font, color);
        galley.size().x
    };
    let body = egui::TextStyle::Body.resolve(ui.style());
    let both = width(name, body) + width(standing, FontId::proportional(SMALL));
    let fits = SIGN + both + 2.0 * ui.spacing().item_spacing.x < ui.available_width();
    let sign = theme::icon(icon, SIGN).color(color);
    let name = egui::Label::new(egui::RichText::new(name).color(theme::palette(ui).strong)).wrap();
    let standing = egui::RichText::new(standing).size(SMALL).color(color);
    let at_right = |ui: &mut Ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(standing));
    };
    if fits {
        ui.horizontal(|ui| {
            ui.label(sign);
            ui.add(name);
            at_right(ui);
        });
    } else {
        ui.horizontal_top(|ui| {
            ui.label(sign);
            ui.add(name);
        });
        ui.horizontal(at_right);
    }
}

fn value_row(ui: &mut Ui, name: &str, value: &str) {
    let palette = theme::palette(ui);
    ui.horizontal(|ui| {
        ui.label(egui::RichText::new(name).size(12.0).color(palette.weak));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(egui::RichText::new(value).size(13.0).color(palette.text));
        });
    });
}

/// How large an error is beside the tolerance.
fn of_tolerance(share: f64) -> String {
    const MOST: f64 = 1000.0;
    if share > MOST {
        return format!("more than {MOST} times the tolerance");
    }
    format!("{} of tolerance", percent(share))
}

/// A share in percent, as people say it: 6 %, 0.03 %, 25 300 %.
fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let digits = if value < 1.0 { 1 } else { 2 };
    if value >= 100.0 {
        format!("{} %", grouped(value.round()))
    } else {
        format!("{} %", figure(value, digits))
    }
}

/// What the command line says of the scene as well. It is found once: the sites of layers and the losses of a medium take longer than a picture may.
fn of_scene(ui: &Ui, scenario: &Arc<Scenario>, time_step: f64) -> Arc<Vec<String>> {
    type Found = (Arc<Scenario>, u64, Arc<Vec<String>>);
    let (id, step) = (Id::unique("warnings of the scene"), time_step.to_bits());
    let known: Option<Found> = ui.data(|data| data.get_temp(id));
    if let Some((of, at, found)) = known
        && Arc::ptr_eq(&of, scenario)
        && at == step
    {
        return found;
    }
    let found: Vec<String> = (idle_layers(scenario).into_iter())
        .chain(too_coarse(scenario, time_step))
        .collect();
    let found = Arc::new(found);
    let kept: Found = (Arc::clone(scenario), step, Arc::clone(&found));
    ui.data_mut(|data| data.insert_temp(id, kept));
    found
}

/// What a critical eye would object to in the run, each with what to change.
fn warnings(scenario: &Scenario, frame: &Frame, checks: &Checks, advice: Option<StepAdvice>) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(share) = sent_back(scenario)
        && share > absorber::MOST_RETURNED
    {
        out.push(format!(
            "The absorbing edges send back {} % of the packets: their waves are longer than {} of the layer's width. Use a larger grid.absorb_width.",
            figure(100.0 * share, 2),
            figure(absorber::LONGEST_WAVE, 1)
        ));
    }
    if let Some(advice) = advice
        && let Some(step) = scenario.time().step
        && step > advice.sensible * 1.0001
        && !checks.own_step
    {
        let unit = Units::of(scenario, step).time;
        out.push(format!(
            "Δt = {} is larger than the recommended {}.",
            unit.show(step, 3),
            unit.show(advice.sensible, 3)
        ));
    }
    let absorbs = scenario.grid().edges()[..scenario.grid().rank()].contains(&crate::grid::Edge::Absorb)
        || scenario.takes_energy();
    // Transducers inject and take out what they replay.
    let replays = scenario.listens();
    let quantum = matches!(scenario.model(), Model::Quantum(_));
    // Rounding adds up to about ε·√steps; a thousand times ε is plainly more than that in a run of an hour.
    let allowed = match scenario.solver().precision {
        Precision::Single => 1e-3,
        Precision::Double => 1e-9,
    };
    if quantum && !absorbs && !replays && !scenario.time().imaginary && frame.drift.abs() > allowed {
        out.push(format!(
            "The norm has drifted by {}: use a smaller Δt or double precision.",
            figure(frame.drift, 2)
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::trajectories::ShownPath;

    #[test]
    fn errors_far_beyond_the_tolerance_are_no_percent() {
        let shown = [0.06, 253.0, 8.4e6].map(of_tolerance);
        assert_eq!(
            shown,
            [
                "6 % of tolerance",
                "25\u{2009}300 % of tolerance",
                "more than 1000 times the tolerance"
            ]
        );
    }

    #[test]
    fn verdicts_are_told_in_the_words_of_the_command_line() {
        assert_eq!(hover("x = kt", "agrees"), "x = kt\n\nOn the command line: right.");
        assert_eq!(hover("", "disagrees"), "On the command line: wrong.");
        assert_eq!(hover("x = kt\n", "waits"), "x = kt");
    }

    /// What cannot be measured yet is a dash, and no share of the tolerance.
    #[test]
    fn what_is_no_number_is_not_compared() {
        let frame = Frame {
            detectors: vec![f64::NAN, 0.5],
            ..Frame::default()
        };
        let of = |place| live(&Subject::Detector(place), &frame);
        assert_eq!([of(0), of(1)], [None, Some(0.5)]);
        let text = crate::scene::presets::find("bohm").unwrap().text;
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let expectation = &scenario.expectations()[0];
        assert_eq!(error_of(Some(f64::NAN), expectation), None);
        assert_eq!(
            error_of(Some(expectation.value + 1.0), expectation).map(f64::round),
            Some(1.0)
        );
    }

    #[test]
    fn long_names_are_read_whole_in_narrow_cards() {
        let (name, standing) = ("Overlap with the start, imaginary part", "at t = 300");
        for width in [150.0, 215.0, 300.0, 600.0] {
            let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(width, 200.0));
            let shapes = theme::drawn(screen, |ui| {
                heading(ui, name, (Icon::Hourglass, Color32::WHITE), standing);
            });
            let of = |words: &str| {
                let text = shapes.iter().find_map(|shape| match &shape.shape {
                    egui::Shape::Text(text) if text.galley.text() == words => Some(text),
                    _ => None,
                });
                let text = text.unwrap();
                assert!(!text.galley.elided, "{words}, {width}");
                text.visual_bounding_rect()
            };
            let (name, standing) = (of(name), of(standing));
            assert!(
                name.right() <= width && standing.right() <= width,
                "{name:?} {standing:?}"
            );
            assert!(!name.intersects(standing), "{name:?} {standing:?}");
            // Side by side where there is room.
            assert_eq!(standing.top() < name.bottom(), width == 600.0, "{width}");
        }
    }

    /// A trajectory is told while it goes, not only when its prediction is due.
    #[test]
    fn a_trajectory_is_seen_where_it_stands() {
        let text = crate::scene::presets::find("bohm").unwrap().text;
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let last = scenario.trajectories().len() - 1;
        let name = scenario.trajectories()[last].name.clone();
        let mut paths = vec![ShownPath::default(); last + 1];
        paths[last].points = vec![[1.0, 2.0], [3.0, 4.0]];
        let frame = Frame {
            scenario: Some(Arc::new(scenario)),
            paths: paths.into(),
            ..Frame::default()
        };
        let of = |axis: &str| live(&Subject::Observable(format!("{name}.{axis}")), &frame);
        assert_eq!([of("x"), of("y"), of("z")], [Some(3.0), Some(4.0), None]);
    }
}

//! "Which is wrong?": two runs side by side, one of them with a fault in its physics, to be found by looking and measuring.

use super::theme;
use super::widgets::card;
use crate::grid::Edge;
use crate::physics::Sets;
use crate::physics::noise::scramble;
use crate::scene::SceneFile;
use crate::scene::file::{EdgesFile, SignalFile, ValueFile};
use egui::{Align2, vec2};

/// A scene with a fault, and what the fault is.
type Faulty = (SceneFile, String);

/// Every fault that can be put into a scene.
#[must_use]
fn faults(file: &SceneFile) -> Vec<Faulty> {
    let mut all: Vec<Faulty> = Vec::new();
    let mut put = |words: &str, change: &dyn Fn(&mut SceneFile) -> bool| {
        let mut other = file.clone();
        if change(&mut other) {
            all.push((other, words.to_owned()));
        }
    };
    put("its mass is a quarter larger", &|file| {
        let quantum = file.quantum.as_mut();
        quantum.is_some_and(|quantum| {
            match quantum.hopping.as_mut() {
                Some(hopping) => *hopping /= 1.25,
                None => quantum.mass = Some(1.25 * quantum.mass.unwrap_or(1.0)),
            }
            true
        })
    });
    put("its magnetic field points the other way", &|file| {
        let quantum = file.quantum.as_mut().filter(|quantum| quantum.flux != 0.0);
        quantum.map(|quantum| quantum.flux = -quantum.flux).is_some()
    });
    put(
        "its waves attract each other where they should repel, or the other way round",
        &|file| {
            let quantum = file.quantum.as_mut().filter(|quantum| quantum.interaction != 0.0);
            quantum
                .map(|quantum| quantum.interaction = -quantum.interaction)
                .is_some()
        },
    );
    put("its sound is an eighth slower", &|file| {
        let sound = file.acoustic.as_mut();
        sound.map(|sound| sound.speed *= 0.875).is_some()
    });
    put("its sources play a fifth lower", &|file| {
        for source in &mut file.sources {
            match &mut source.signal {
                SignalFile::Ricker { frequency }
                | SignalFile::Sine { frequency }
                | SignalFile::Burst { frequency, .. } => *frequency *= 0.8,
                SignalFile::Chirp { .. } | SignalFile::File { .. } => return false,
            }
        }
        !file.sources.is_empty()
    });
    for (sets, factor, words) in [
        (Sets::Potential, 0.7, "its potential is a third too low"),
        (Sets::Speed, 0.8, "the sound in one of its media is a fifth slower"),
    ] {
        put(words, &|file| {
            let mut layers = file.layers.iter_mut().filter(|layer| layer.sets == sets);
            let number = layers.find_map(|layer| match &mut layer.value {
                Some(ValueFile::Number(number)) if *number != 0.0 => Some(number),
                _ => None,
            });
            number.map(|number| *number *= factor).is_some()
        });
    }
    put("its edges send back what reaches them", &|file| {
        let absorbs = file.grid.edges == EdgesFile::All(Edge::Absorb);
        file.grid.edges = EdgesFile::All(Edge::Wall);
        absorbs
    });
    put("its walls turn a push into a pull", &|file| {
        let rigid = file.acoustic.is_some() && file.grid.edges == EdgesFile::All(Edge::Wall);
        file.grid.edges = EdgesFile::All(Edge::Soft);
        rigid
    });
    all
}

/// A riddle that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Riddle {
    /// Which of the faults.
    fault: usize,
    /// Whether the faulty run stands at the left.
    pub left: bool,
    /// What the fault is.
    words: String,
    answer: Answer,
}

/// What was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing yet.
    Open,
    /// The left one is wrong.
    Left,
    /// The right one is.
    Right,
    /// No answer.
    GivenUp,
}

/// What the card of a riddle asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Another one.
    Another,
    /// No more.
    End,
}

impl Riddle {
    /// A riddle about a scene, drawn by a number; `None` where nothing of the scene can be wrong unseen.
    #[must_use]
    pub fn of(file: &SceneFile, draw: u64) -> Option<Self> {
        let all = faults(file);
        let count = all.len() as u64;
        // Bits of a number that was counted up are not evenly spread.
        let bits = scramble(draw);
        let fault = usize::try_from((bits >> 1).checked_rem(count)?).ok()?;
        Some(Self {
            fault,
            left: bits & 1 == 1,
            words: all[fault].1.clone(),
            answer: Answer::Open,
        })
    }

    /// The faulty scene.
    #[must_use]
    pub fn scene(&self, file: &SceneFile) -> Option<SceneFile> {
        faults(file).into_iter().nth(self.fault).map(|(scene, _)| scene)
    }

    /// What was answered, as whether it was right; `None` before.
    #[must_use]
    pub fn verdict(&self) -> Option<bool> {
        let right = if self.left { Answer::Left } else { Answer::Right };
        (self.answer != Answer::Open).then_some(self.answer == right)
    }

    /// Whether the answer is still to be found: what is measured of the first run would tell.
    #[must_use]
    pub fn hides(&self) -> bool {
        self.answer == Answer::Open
    }

    /// Names the left or the right one as the wrong one, or gives up; the first answer counts.
    pub fn answer(&mut self, answer: Answer) {
        if self.answer == Answer::Open {
            self.answer = answer;
        }
    }

    /// Shows its card over the lower edge of the picture; `score` is how many were right, of how many.
    pub fn show(&mut self, ctx: &egui::Context, area: egui::Rect, score: [u32; 2]) -> Option<Wish> {
        let mut wish = None;
        let width = 460.0_f32.min(area.width() - 32.0);
        let at = (Align2::CENTER_BOTTOM, area.center_bottom() - vec2(0.0, 16.0));
        card(ctx, "riddle", at, width, |ui| {
            let palette = theme::palette(ui);
            let heading = match self.verdict() {
                None => "Which is wrong?",
                Some(true) => "Found.",
                Some(false) if self.answer == Answer::GivenUp => "This one it was:",
                Some(false) => "The other one it was.",
            };
            ui.heading(egui::RichText::new(heading).color(palette.strong));
            let name = if self.left { "A" } else { "B" };
            let text = match self.verdict() {
                None => "One of the two runs is as the lesson says, in the other one something of the physics is changed. Watch, point at both to read their values, and say which.".to_owned(),
                Some(_) => format!("{name} is wrong: {}.", self.words),
            };
            ui.add(egui::Label::new(text).wrap());
            ui.add_space(4.0);
            ui.horizontal(|ui| {
                if self.verdict().is_none() {
                    for (answer, word) in [
                        (Answer::Left, "A is wrong"),
                        (Answer::Right, "B is wrong"),
                        (Answer::GivenUp, "I give up"),
                    ] {
                        if ui.button(word).clicked() {
                            self.answer(answer);
                        }
                    }
                } else {
                    if ui.button("Another one").clicked() {
                        wish = Some(Wish::Another);
                    }
                    if ui.button("End").clicked() {
                        wish = Some(Wish::End);
                    }
                }
                if score[1] > 0 {
                    let text = format!("{} of {} found", score[0], score[1]);
                    ui.label(egui::RichText::new(text).size(12.0).color(palette.weak));
                }
            });
        });
        wish
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::presets;
    use crate::solver;

    /// Every fault of every preset is a scene that can run, and another one than the preset.
    #[test]
    fn faulty_scenes_are_scenes() {
        let mut kinds: Vec<String> = Vec::new();
        for preset in presets::all() {
            let (file, scenario) = solver::read_scene(preset.name, &[]).unwrap();
            if scenario.mirror().is_some() {
                continue;
            }
            let all = faults(&file);
            assert!(!all.is_empty(), "{}", preset.name);
            for (other, words) in all {
                assert_ne!(other, file, "{}: {words}", preset.name);
                assert!(solver::validate_scene(&other, None).is_ok(), "{}: {words}", preset.name);
                if !kinds.contains(&words) {
                    kinds.push(words);
                }
            }
        }
        assert!(kinds.len() >= 7, "{kinds:?}");
    }

    #[test]
    fn both_sides_and_every_fault_are_drawn() {
        let (file, _) = solver::read_scene("double-slit", &[]).unwrap();
        let drawn: Vec<Riddle> = (0..40).map(|n| Riddle::of(&file, n).unwrap()).collect();
        let left = drawn.iter().filter(|riddle| riddle.left).count();
        assert!((8..=32).contains(&left), "{left} of 40 at the left");
        for fault in 0..faults(&file).len() {
            assert!(drawn.iter().any(|riddle| riddle.fault == fault), "{fault}");
        }
        let mut riddle = drawn[0].clone();
        assert_eq!(riddle.verdict(), None);
        let (right, wrong) = if riddle.left {
            (Answer::Left, Answer::Right)
        } else {
            (Answer::Right, Answer::Left)
        };
        riddle.answer(wrong);
        assert_eq!(riddle.verdict(), Some(false));
        riddle.answer(right);
        assert_eq!(riddle.verdict(), Some(false), "the first answer counts");
    }
}

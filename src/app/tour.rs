//! The first start's tour: five things to do by the keyboard, each done before the next is shown, or passed over.

use super::theme;
use super::widgets::card;
use egui::{Align2, Key, Modifiers, Rect, vec2};

/// What the window tells the tour, to see whether a step was done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// The run goes on.
    pub runs: bool,
    /// The run stopped by itself: at the end of its lesson, or at a question.
    pub waits: bool,
    /// Time runs backwards.
    pub backwards: bool,
    /// A tool other than the hand is held.
    pub tool: bool,
    /// The command palette is open.
    pub palette: bool,
    /// The keys are listed.
    pub help: bool,
    /// The steps taken.
    pub steps: u64,
}

/// One step.
struct Step {
    title: &'static str,
    text: &'static str,
    /// Whether it was done, given how the window was when the step began and how it is.
    done: fn(&Seen, &Seen) -> bool,
}

const STEPS: [Step; 5] = [
    Step {
        title: "Let it run, and stop it",
        text: "Press Space. A wave moves; Space pauses it. The dot (.) takes one step.",
        done: |then, now| (then.runs != now.runs && !now.waits) || (!now.runs && then.steps + 1 == now.steps),
    },
    Step {
        title: "Reverse time",
        text: "Press T. Every step is undone: the wave goes back to where it came from, except for what absorbing edges have swallowed. R restarts.",
        done: |then, now| then.backwards != now.backwards,
    },
    Step {
        title: "Take a tool",
        text: "Press B for the brush, P for a packet. Paint a wall into the running wave; Ctrl+Z takes it back, V puts the tool away.",
        done: |_, now| now.tool,
    },
    Step {
        title: "Find anything by its name",
        text: "Press Ctrl+P and type: commands, presets, exports. Enter does it, Escape leaves.",
        done: |_, now| now.palette,
    },
    Step {
        title: "All the keys",
        text: "Press F1 for the list. Every preset predicts numbers from exact formulas: “Is it right?” shows them measured.",
        done: |_, now| now.help,
    },
];

/// The tour under way.
#[derive(Debug, Default)]
pub struct Tour {
    place: usize,
    /// How the window was when the step began.
    then: Option<Seen>,
    done: bool,
}

impl Tour {
    /// What the window did by itself so far is not what the present step asks for.
    pub fn begin_anew(&mut self) {
        self.then = None;
        self.done = false;
    }

    /// The step, from 0.
    #[must_use]
    pub fn place(&self) -> usize {
        self.place
    }

    /// Whether the step was done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }

    fn go(&mut self, place: usize) {
        self.place = place;
        self.then = None;
        self.done = false;
    }

    /// Waits, unseen: what is done counts from here.
    pub fn hold(&mut self, now: Seen) {
        self.then = Some(now);
    }

    /// Shows the card at the lower edge of the room for the picture; false once the tour is over. `held` = something else listens to Enter and Escape.
    pub fn show(&mut self, ctx: &egui::Context, now: Seen, held: bool, room: Rect) -> bool {
        let then = *self.then.get_or_insert(now);
        let step = &STEPS[self.place];
        self.done |= (step.done)(&then, &now);
        if now.waits {
            // What is done counts from here.
            self.then = Some(now);
        }
        let key = |key| !held && ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        // A tool is put away by Escape first.
        let mut ends = !now.tool && key(Key::Escape);
        let mut next = key(Key::Enter);
        let mut back = false;
        let at = (Align2::CENTER_BOTTOM, room.center_bottom() - vec2(0.0, 8.0));
        // As wide as the room with the card's margins, and wide enough to be read where panels leave less.
        let width = 440.0_f32.min((room.width() - 50.0).max(280.0));
        card(ctx, "tour", at, width.min(ctx.content_rect().width() - 64.0), |ui| {
            let palette = theme::palette(ui);
            let count = format!("First steps, {} of {}", self.place + 1, STEPS.len());
            ui.label(egui::RichText::new(count).size(12.0).color(palette.accent));
            ui.heading(egui::RichText::new(step.title).color(palette.strong));
            ui.add(egui::Label::new(step.text).wrap());
            let (icon, word, color) = if self.done {
                (crate::app::icon::Icon::CircleCheck, "Done.", palette.right)
            } else {
                (crate::app::icon::Icon::Hourglass, "Try it, or go on.", palette.weak)
            };
            ui.horizontal(|ui| {
                ui.label(theme::icon(icon, 15.0).color(color));
                ui.label(egui::RichText::new(word).color(color));
            });
            ui.add_space(4.0);
            ui.horizontal(|ui| {
                back = self.place > 0 && ui.button("Back").clicked();
                let last = self.place + 1 == STEPS.len();
                next |= ui
                    .button(if last { "Finish (Enter)" } else { "Next (Enter)" })
                    .clicked();
                ends |= ui.button("End the tour (Esc)").clicked();
            });
        });
        if back {
            self.go(self.place - 1);
        } else if next {
            if self.place + 1 == STEPS.len() {
                return false;
            }
            self.go(self.place + 1);
        }
        !ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that comes to its end was not stopped by anybody.
    #[test]
    fn the_first_step_is_not_done_by_the_run_itself() {
        let done = STEPS[0].done;
        let runs = Seen {
            runs: true,
            steps: 100,
            ..Seen::default()
        };
        let paused = Seen {
            runs: false,
            steps: 120,
            ..runs
        };
        assert!(done(&runs, &paused) && done(&paused, &runs));
        let rests = Seen { waits: true, ..paused };
        assert!(!done(&runs, &rests), "it rests at its end");
        assert!(done(&rests, &runs), "and is played on from there");
        let stepped = Seen { steps: 121, ..rests };
        assert!(done(&rests, &stepped), "or stepped");
    }
}

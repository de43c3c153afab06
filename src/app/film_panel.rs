//! The dialogue for films, and the film under way.

use super::film::Filming;
use super::system;
use super::theme;
use super::units::Units;
use super::widgets::{Explained, card_rect, choice, figure, hint, row, warning};
use crate::engine::Frame;
use crate::export::{self, Format};
use crate::units;
use egui::{Align2, DragValue, Ui, vec2};
use std::path::Path;

/// Seconds for which a card stands.
pub const CARD: f64 = 3.0;

/// Every format with its name and what it is good for.
const FORMATS: &[(Format, &str, &str)] = &[
    #[cfg(feature = "mp4")]
    (
        Format::Mp4,
        "MP4 (H.264)",
        "Small; carries the scene. At most 3840 × 2160.",
    ),
    (Format::Gif, "GIF", "Shown everywhere; 256 colours a picture."),
    (
        Format::Apng,
        "animated PNG",
        "Without loss, shown by browsers; carries the scene.",
    ),
    (
        Format::Sequence,
        "numbered PNGs",
        "A folder of pictures, each of which carries the scene.",
    ),
    (
        Format::Png,
        "one PNG",
        "A picture of one time at any size; carries the scene.",
    ),
];

/// Points that the longest row takes beside its name; on a phone there are fewer.
const ONE_LINE: f32 = 330.0;

/// The formats that there are here.
fn offered() -> impl Iterator<Item = &'static (Format, &'static str, &'static str)> {
    let is_offered = |format: Format| format.is_offered() && (system::FOLDERS || format != Format::Sequence);
    FORMATS.iter().filter(move |(format, ..)| is_offered(*format))
}

/// Sizes that are asked for often.
const SIZES: [([usize; 2], &str); 5] = [
    ([1280, 720], "1280 × 720"),
    ([1920, 1080], "1920 × 1080"),
    ([2560, 1440], "2560 × 1440"),
    ([3840, 2160], "3840 × 2160"),
    ([1080, 1920], "1080 × 1920 (upright)"),
];

/// What a film shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The scene from its start to a time.
    Scene,
    /// What the run shows from now on, until it is ended.
    Now,
}

/// The film that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// What it shows.
    pub what: What,
    /// Its format.
    pub format: Format,
    /// Pixels.
    pub size: [usize; 2],
    /// Pictures a second.
    pub fps: f64,
    /// Seconds of film.
    pub seconds: f64,
    /// Time of the last picture.
    pub end: f64,
    /// Title, clock, colour bar, scale bar.
    pub overlay: bool,
    /// Only the part of the field that is in view.
    pub part: bool,
    /// A card with the title before it, and one with what was measured after it.
    pub cards: bool,
    /// Both of two runs that are compared.
    pub both: bool,
}

impl Wanted {
    /// Pictures of a film of the scene.
    #[must_use]
    pub fn pictures(&self) -> u32 {
        if self.format == Format::Png {
            1
        } else {
            (self.fps * self.seconds).round().clamp(1.0, 1e6) as u32
        }
    }
}

/// The dialogue's state.
#[derive(Debug, Default)]
pub struct FilmDialogue {
    open: bool,
    wanted: Option<Wanted>,
}

impl FilmDialogue {
    /// Opens it for the scene that runs.
    pub fn open(&mut self, frame: &Frame) {
        let end = frame.scenario.as_deref().and_then(|scenario| scenario.time().end);
        let known = self.wanted.take();
        let end = end.unwrap_or(1000.0 * frame.clock.time_step.abs());
        self.wanted = Some(known.map_or(
            Wanted {
                what: What::Scene,
                format: offered().next().map_or(Format::Png, |(format, ..)| *format),
                size: [1280, 720],
                fps: 30.0,
                seconds: 10.0,
                end,
                overlay: true,
                part: false,
                cards: false,
                both: true,
            },
            |known| Wanted { end, ..known },
        ));
        self.open = true;
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// What was asked for last.
    #[must_use]
    pub fn wanted(&self) -> Option<&Wanted> {
        self.wanted.as_ref()
    }

    /// Shows it; whether the place is to be asked for.
    pub fn show(&mut self, ctx: &egui::Context, frame: &Frame, folder: Option<&Path>) -> bool {
        let Some(wanted) = self.wanted.as_mut().filter(|_| self.open) else {
            return false;
        };
        let modal = egui::Modal::new(egui::Id::unique("film"))
            .frame(theme::modal(ctx))
            .show(ctx, |ui| {
                ui.set_width(480.0_f32.min(ui.ctx().content_rect().width() - 64.0));
                contents(ui, wanted, frame, folder)
            });
        let (goes_on, cancelled) = modal.inner;
        if goes_on || cancelled || modal.should_close() {
            self.open = false;
        }
        goes_on
    }
}

fn contents(ui: &mut Ui, wanted: &mut Wanted, frame: &Frame, folder: Option<&Path>) -> (bool, bool) {
    let palette = theme::palette(ui);
    ui.heading(egui::RichText::new("Export film or picture").color(palette.strong));
    ui.add_space(8.0);
    // In a low window what is asked is scrolled, and the buttons stay.
    let room = (ui.ctx().content_rect().height() - AROUND).max(120.0);
    egui::ScrollArea::vertical()
        .max_height(room)
        .min_scrolled_height(room)
        .show(ui, |ui| questions(ui, wanted, frame, folder));
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        let goes_on = ui.button("Choose the file…").clicked();
        let cancelled = ui.button("Cancel").clicked();
        (goes_on, cancelled)
    })
    .inner
}

/// What the dialogue takes beside what it asks: its heading, its buttons, its edge and some air around it.
const AROUND: f32 = 136.0;

/// What is asked of the film.
fn questions(ui: &mut Ui, wanted: &mut Wanted, frame: &Frame, folder: Option<&Path>) {
    row(
        ui,
        "Of",
        "The whole scene by a run of its own, or the run in the window.",
        |ui| {
            let now = if wanted.format == Format::Png {
                "the run as it is"
            } else {
                "the run from now on"
            };
            let mut choice = |ui: &mut Ui| {
                ui.selectable_value(&mut wanted.what, What::Scene, "the scene from its start");
                ui.selectable_value(&mut wanted.what, What::Now, now);
            };
            if ui.available_width() < ONE_LINE {
                ui.vertical(choice);
            } else {
                choice(ui);
            }
        },
    );
    let all = offered().map(|(format, title, about)| (*format, (*title).to_owned(), (*about).to_owned()));
    row(ui, "Format", "What kind of file.", |ui| {
        choice(ui, "Format", &mut wanted.format, all)
    });
    size_row(ui, wanted);
    if wanted.format != Format::Png {
        // What GIFs can say, and every screen can show.
        let most = if wanted.format == Format::Gif { 50.0 } else { 60.0 };
        let about = format!("Pictures per second: 1 to {most}.");
        row(ui, "Rate", &about, |ui| {
            let rate = DragValue::new(&mut wanted.fps)
                .range(1.0..=most)
                .speed(0.2)
                .max_decimals(1);
            ui.add(rate.suffix(" pictures/s")).explained(&about);
        });
    }
    if wanted.what == What::Scene {
        time_rows(ui, wanted, frame);
    } else if wanted.format != Format::Png {
        hint(
            ui,
            "Every picture that the run shows becomes one of the film, until you end it; the run waits for the encoder where it must.",
        );
    }
    if frame.compared.is_some() && wanted.what == What::Scene {
        row(
            ui,
            "Runs",
            "Both from the start, as the comparison shows them: side by side, or their difference.",
            |ui| {
                ui.checkbox(&mut wanted.both, "both that are compared");
            },
        );
    } else if frame.compared.is_some() {
        hint(ui, "Of two runs that are compared the first one is shown.");
    }
    row(ui, "Field", "All of it, or what the window shows of it.", |ui| {
        ui.checkbox(&mut wanted.part, "only the part in view");
    });
    row(ui, "Overlay", "Burned into the picture.", |ui| {
        ui.checkbox(&mut wanted.overlay, "title, clock, colours and scale");
    });
    if wanted.what == What::Scene && wanted.format != Format::Png {
        row(ui, "Cards", "Three seconds each, before and after the run.", |ui| {
            ui.checkbox(&mut wanted.cards, "title first, predictions last");
        });
    }
    space(ui, wanted, folder);
}

fn size_row(ui: &mut Ui, wanted: &mut Wanted) {
    row(
        ui,
        "Size",
        "Pixels of the film; the field keeps its proportions.",
        |ui| {
            if ui.available_width() < ONE_LINE {
                ui.vertical(|ui| {
                    size_choice(ui, wanted);
                    ui.horizontal(|ui| size_values(ui, wanted));
                });
            } else {
                size_choice(ui, wanted);
                size_values(ui, wanted);
            }
        },
    );
}

fn size_choice(ui: &mut Ui, wanted: &mut Wanted) {
    let mut known = SIZES
        .iter()
        .position(|(size, _)| *size == wanted.size)
        .unwrap_or(SIZES.len());
    let before = known;
    ui.scope(|ui| {
        ui.set_max_width(168.0);
        let all = SIZES
            .iter()
            .enumerate()
            .map(|(n, (_, title))| (n, (*title).to_owned(), String::new()));
        let own = std::iter::once((SIZES.len(), "other".to_owned(), String::new()));
        choice(ui, "Size", &mut known, all.chain(own));
    });
    if known != before {
        wanted.size = SIZES.get(known).map_or([1000, 1000], |(size, _)| *size);
    }
}

fn size_values(ui: &mut Ui, wanted: &mut Wanted) {
    for (axis, name) in ["Width in pixels", "Height in pixels"].into_iter().enumerate() {
        if axis == 1 {
            ui.label("×");
        }
        ui.add(DragValue::new(&mut wanted.size[axis]).range(160..=16384))
            .accessible_name(name)
            .explained(format!("{name}: 160 to 16384."));
    }
}

fn time_rows(ui: &mut Ui, wanted: &mut Wanted, frame: &Frame) {
    let unit = frame.scenario.as_deref().map_or(super::units::NONE, |scenario| {
        Units::of(scenario, frame.clock.time_step).time
    });
    let about = "The time of the last picture; 0 or later.";
    row(ui, "Until t", about, |ui| {
        let speed = (wanted.end / 200.0).max(1e-12);
        let value = DragValue::new(&mut wanted.end)
            .range(0.0..=f64::MAX)
            .speed(speed)
            .custom_formatter(move |value, _| unit.show(value, 5))
            .custom_parser(move |text| unit.parse(text));
        ui.add(value)
            .accessible_name("Time of the last picture")
            .explained(about);
    });
    if wanted.format != Format::Png {
        let about = "How long the film is: 0.1 to 3600 s.";
        row(ui, "Lasts", about, |ui| {
            let value = DragValue::new(&mut wanted.seconds)
                .range(0.1..=3600.0)
                .speed(0.1)
                .max_decimals(1);
            ui.add(value.suffix(" s"))
                .accessible_name("Seconds of film")
                .explained(about);
            ui.label(format!("{} pictures", wanted.pictures()));
        });
    }
}

/// The room that it takes on the disk.
fn space(ui: &mut Ui, wanted: &Wanted, folder: Option<&Path>) {
    let free = export::free_space(folder.unwrap_or(Path::new(".")));
    let left = free.map_or(String::new(), |free| format!("; {} are free", units::bytes(free)));
    let sizes = |pictures: u32, each: &str| {
        let most = units::bytes(wanted.format.most_bytes(wanted.size, pictures));
        let [low, high] = wanted.format.usual_bytes(wanted.size, pictures).map(units::bytes);
        format!("Usually {low} to {high}{each} on the disk, at most {most}{left}.")
    };
    if wanted.what == What::Now && wanted.format != Format::Png {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "pictures a second"
        )]
        let second = wanted.fps.ceil() as u32;
        hint(ui, &sizes(second, " a second"));
        return;
    }
    let most = wanted.format.most_bytes(wanted.size, wanted.pictures());
    let text = sizes(wanted.pictures(), "");
    if free.is_some_and(|free| free < most) {
        warning(ui, &text);
    } else {
        hint(ui, &text);
    }
}

/// What is to become of a film under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It is complete.
    End,
    /// Nothing is to be left of it.
    Cancel,
}

/// Shows the film under way over the lower edge of the picture, so that the run can be led while it is recorded; below it while something is asked there.
pub fn progress(ctx: &egui::Context, filming: &Filming, picture: egui::Rect) -> Option<Wish> {
    let mut wish = None;
    let rect = ctx.content_rect();
    let is_taken = ["tour", "question", "riddle"]
        .into_iter()
        .any(|card| card_rect(ctx, card).is_some());
    let at = if is_taken {
        rect.center_bottom() - vec2(0.0, 40.0)
    } else {
        picture.center_bottom() - vec2(0.0, 12.0)
    };
    egui::Area::new(egui::Id::unique("filming"))
        .order(egui::Order::Foreground)
        .pivot(Align2::CENTER_BOTTOM)
        .fixed_pos(at)
        .show(ctx, |ui| {
            let palette = theme::palette(ui);
            egui::Frame::popup(ui.style()).inner_margin(12).show(ui, |ui| {
                ui.set_width(420.0_f32.min(rect.width() - 64.0));
                let name = filming.path.file_name().unwrap_or_default().to_string_lossy();
                let (done, total) = (filming.progress.done(), filming.progress.total());
                let elapsed = filming.since.elapsed().as_secs_f64();
                let text = if filming.records {
                    format!("Recording {name}: {done} pictures")
                } else if done == 0 {
                    format!("Film {name}: picture 1 of {total}")
                } else {
                    let left = elapsed / done as f64 * total.saturating_sub(done) as f64;
                    format!(
                        "Film {name}: {done} of {total} pictures, {} s left",
                        figure(left.ceil(), 3)
                    )
                };
                ui.add(egui::Label::new(egui::RichText::new(text).color(palette.strong)).truncate());
                if !filming.records {
                    let part = done as f32 / total.max(1) as f32;
                    ui.add(egui::ProgressBar::new(part).desired_height(8.0));
                }
                ui.horizontal(|ui| {
                    if filming.records && ui.button("End film").clicked() {
                        wish = Some(Wish::End);
                    }
                    if ui.button("Cancel film").clicked() {
                        wish = Some(Wish::Cancel);
                    }
                });
            });
        });
    ctx.request_repaint_after_secs(0.1);
    wish
}

//! The little Markdown that scenes are explained in, in the window: settings in it are links.

use super::theme::{self, Palette};
use crate::export::markdown::{Block, Style, blocks, is_setting, spans};
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, FontId, Ui};

/// The smallest letters of formulas and links that would not fit.
const SMALLEST: f32 = 10.0;
/// The size of letters in text that flows, and in links in it.
const SIZE: f32 = 13.5;
const LINK_SIZE: f32 = SIZE - 1.5;
/// The height of rows with links in them.
const ROW: f32 = 17.0;

/// Shows a text; returns the setting, `key = value` in code, that was clicked.
pub fn show(ui: &mut Ui, text: &str) -> Option<String> {
    let mut clicked = None;
    let palette = theme::palette(ui);
    for block in blocks(text) {
        match block {
            Block::Heading(level, heading) => {
                let size = if level == 1 { 16.0 } else { 14.5 };
                ui.add(egui::Label::new(job(heading, palette, size, palette.strong)).wrap());
            }
            Block::Paragraph(paragraph) => {
                clicked = flow(ui, &paragraph, palette).or(clicked);
            }
            Block::Item(sign, item) => {
                ui.horizontal_top(|ui| {
                    ui.spacing_mut().item_spacing.x = 8.0;
                    // On one line with the first row beside it.
                    let height = has_links(&spans(&item)).then_some(ROW);
                    let sign = egui::RichText::new(sign).size(SIZE).line_height(height);
                    ui.label(sign.color(palette.weak));
                    clicked = flow(ui, &item, palette).or(clicked.take());
                });
            }
            Block::Code(code) => {
                egui::Frame::new()
                    .fill(palette.surface)
                    .corner_radius(4)
                    .inner_margin(8)
                    .show(ui, |ui| {
                        // What is too wide goes on in the next row: nothing of a formula is out of sight.
                        let one = !code.trim_end().contains('\n');
                        let code = if one { broken(ui, &code) } else { code };
                        let size = fitting(ui, &code);
                        let words = egui::RichText::new(code).monospace().size(size).color(palette.strong);
                        ui.add(egui::Label::new(words).selectable(true).wrap());
                    });
            }
        }
    }
    clicked
}

/// The size of letters in which rows fit, down to [`SMALLEST`].
fn fitting(ui: &Ui, code: &str) -> f32 {
    let font = egui::TextStyle::Monospace.resolve(ui.style());
    let (own, width) = (
        font.size,
        ui.painter()
            .layout_no_wrap(code.to_owned(), font, Color32::WHITE)
            .size()
            .x,
    );
    (own * (ui.available_width() / width.max(1.0)).min(1.0)).max(SMALLEST)
}

/// A formula of one row as it is shown: where it is too wide, what wide gaps part stands in rows of its own.
fn broken(ui: &Ui, code: &str) -> String {
    const GAP: &str = "   ";
    let font = egui::TextStyle::Monospace.resolve(ui.style());
    let width = ui
        .painter()
        .layout_no_wrap(code.to_owned(), font, Color32::WHITE)
        .size()
        .x;
    if width <= ui.available_width() {
        return code.to_owned();
    }
    let parts: Vec<&str> = code.split(GAP).map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Text that flows; settings in it are links.
fn flow(ui: &mut Ui, text: &str, palette: &Palette) -> Option<String> {
    let spans = spans(text);
    if !has_links(&spans) {
        let label = egui::Label::new(job(text, palette, SIZE, palette.text));
        ui.add(label.wrap().selectable(true));
        return None;
    }
    let mut clicked = None;
    // Links and words stand on one line: rows are as high as both. The first row is as high as this is where it begins.
    let usual = std::mem::replace(&mut ui.spacing_mut().interact_size.y, ROW);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let mut parts = spans.chunk_by(|a, b| is_link(a) == is_link(b)).peekable();
        while let Some(part) = parts.next() {
            if is_link(&part[0]) {
                let setting = part[0].1;
                let after = parts.peek().map_or("", |next| next[0].1);
                let words = egui::RichText::new(setting)
                    .monospace()
                    .size(link_size(ui, setting, after))
                    .line_height(Some(ROW))
                    .color(palette.accent);
                let link = ui
                    .add(egui::Link::new(words))
                    .on_hover_text("Try it: changes the scene, as an edit that can be undone.");
                if link.clicked() {
                    clicked = Some(setting.to_owned());
                }
            } else {
                let mut plain = LayoutJob::default();
                for run in part {
                    append(&mut plain, *run, palette, SIZE, palette.text);
                }
                for section in &mut plain.sections {
                    section.format.line_height = Some(ROW);
                    section.format.valign = egui::Align::Center;
                }
                ui.add(egui::Label::new(plain).wrap().selectable(true));
            }
        }
    });
    ui.spacing_mut().interact_size.y = usual;
    clicked
}

/// Whether a run of a text is a setting, which is a link.
fn is_link((style, run): &(Style, &str)) -> bool {
    *style == Style::Code && is_setting(run)
}

fn has_links(spans: &[(Style, &str)]) -> bool {
    spans.iter().any(is_link)
}

/// The size of a link's letters: so that a row takes the link with what follows it without a gap, as a colon, which would begin the next row.
fn link_size(ui: &Ui, setting: &str, after: &str) -> f32 {
    let width = |text: &str, font| {
        let galley = ui.painter().layout_no_wrap(text.to_owned(), font, Color32::WHITE);
        galley.size().x
    };
    let tail = after.split(char::is_whitespace).next().unwrap_or_default();
    // The gap behind it has to fit as well, and a point is for what is rounded when the row is laid out.
    let gap = width("n n", FontId::proportional(SIZE)) - width("nn", FontId::proportional(SIZE));
    let room = ui.available_width() - width(tail, FontId::proportional(SIZE)) - gap - 1.0;
    // One after the other: where letters are hinted, widths are not proportional to sizes.
    let mut sizes =
        std::iter::successors(Some(LINK_SIZE), |size| Some(size - 0.5)).take_while(|size| *size >= SMALLEST);
    // One that is wider is broken at its gaps.
    sizes
        .find(|size| width(setting, FontId::monospace(*size)) <= room)
        .unwrap_or(LINK_SIZE)
}

/// A text as it is laid out: its runs in their own letters.
pub(super) fn job(text: &str, palette: &Palette, size: f32, color: Color32) -> LayoutJob {
    let mut job = LayoutJob::default();
    for span in spans(text) {
        append(&mut job, span, palette, size, color);
    }
    job
}

fn append(job: &mut LayoutJob, (style, run): (Style, &str), palette: &Palette, size: f32, color: Color32) {
    let format = match style {
        Style::Plain => TextFormat::simple(FontId::proportional(size), color),
        Style::Bold => TextFormat::simple(FontId::new(size, theme::strong_family()), palette.strong),
        Style::Emphasis => TextFormat {
            italics: true,
            ..TextFormat::simple(FontId::proportional(size), palette.strong)
        },
        Style::Code => TextFormat::simple(FontId::monospace(size - 1.5), palette.strong),
    };
    job.append(run, 0.0, format);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In rows of any width, at any number of pixels a point.
    #[test]
    fn a_colon_stays_behind_its_link() {
        let ctx = egui::Context::default();
        theme::install(&ctx);
        let mut seen = 0;
        for (width, scale) in (160_u16..280).flat_map(|width| [(width, 1.0), (width, 2.0)]) {
            ctx.set_pixels_per_point(scale);
            // The scale counts from the next frame.
            for frame in 0..2 {
                let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                    ui.set_max_width(f32::from(width));
                    show(
                        ui,
                        "`packet.0.momentum = [0.8, 0.0]`: a shorter wave, narrower fringes.",
                    );
                });
                output.textures_delta.clear();
                let texts = output.shapes.iter().filter_map(|shape| match &shape.shape {
                    egui::Shape::Text(text) if text.galley.text().starts_with(": ") => Some(text),
                    _ => None,
                });
                for text in texts.filter(|_| frame == 1) {
                    seen += 1;
                    let first = &text.galley.rows[0];
                    assert!(!first.glyphs.is_empty(), "{width} points, {scale} pixels a point");
                }
            }
        }
        assert_eq!(seen, 240);
    }

    /// Where the rows of texts stand, in the order in which they were laid out: the first letters and the line that they stand on.
    fn lines(markdown: &str) -> Vec<(String, f32)> {
        let ctx = egui::Context::default();
        theme::install(&ctx);
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            ui.set_max_width(230.0);
            show(ui, markdown);
        });
        output.textures_delta.clear();
        let texts = output.shapes.iter().filter_map(|shape| match &shape.shape {
            egui::Shape::Text(text) => Some(text),
            _ => None,
        });
        let rows = texts.flat_map(|text| text.galley.rows.iter().map(move |row| (row, text.pos.y)));
        rows.filter_map(|(row, top)| {
            let glyph = row.glyphs.first()?;
            Some((row.text(), top + row.pos.y + glyph.pos.y))
        })
        .collect()
    }

    /// Its letters have a size of their own, and rows with links a height of their own.
    #[test]
    fn a_bullet_stands_on_the_line_of_its_item() {
        for item in ["- a plain item", "- some `solver.order = 4` words"] {
            let lines = lines(item);
            let [(_, bullet), (words, text)] = &lines[..2] else {
                panic!("{item}: {lines:?}")
            };
            assert!((bullet - text).abs() < 0.25, "{words}: {bullet} {text}");
        }
    }

    #[test]
    fn rows_below_a_link_are_as_far_apart_as_others() {
        let lines = lines(
            "Try `grid.edges = \"soft\"`, an open end: the pulse comes back upside down, and at the end itself there is \
             silence, and for short waves a little more or less.",
        );
        let mut rows: Vec<f32> = lines.iter().map(|(_, line)| *line).collect();
        rows.dedup_by(|a, b| (*a - *b).abs() < 3.0);
        assert!(rows.len() > 3, "{lines:?}");
        for pair in rows.windows(2) {
            assert!((pair[1] - pair[0] - ROW).abs() < 1.1, "{lines:?}");
        }
    }

    /// Rows of formulas below each other that are wrapped are not read; commands are longer.
    #[test]
    fn formulas_of_presets_fit_the_panel() {
        // The panel beside the picture, as wide as it is at first, less the frame.
        const ROOM: f32 = 214.0;
        let ctx = egui::Context::default();
        theme::install(&ctx);
        let mut wide = Vec::new();
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            for preset in crate::scene::presets::all() {
                let (file, _) = crate::solver::read_scene_text(preset.text, None, &[]).unwrap();
                for block in blocks(&file.about) {
                    let Block::Code(code) = block else { continue };
                    let rows = code.trim_end().lines().filter(|row| !row.starts_with("ripplon "));
                    if code.trim_end().contains('\n') {
                        let width = |row: &str| {
                            let font = FontId::monospace(SMALLEST);
                            let galley = ui.painter().layout_no_wrap(row.to_owned(), font, Color32::WHITE);
                            galley.size().x
                        };
                        wide.extend(rows.filter(|row| width(row) > ROOM).map(ToOwned::to_owned));
                    }
                }
            }
        });
        output.textures_delta.clear();
        assert!(wide.is_empty(), "{wide:#?}");
    }
}

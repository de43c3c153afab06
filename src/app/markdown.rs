//! The little Markdown that scenes are explained in, in the window: settings in it are links.

use super::theme::{self, Palette};
use crate::export::markdown::{Block, Style, blocks, is_setting, spans};
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, FontId, Ui};

/// The smallest letters of formulas that would not fit.
const SMALLEST: f32 = 10.0;

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
                    ui.label(egui::RichText::new(sign).color(palette.weak));
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
    const SIZE: f32 = 13.5;
    const ROW: f32 = 17.0;
    let spans = spans(text);
    let is_link = |(style, run): &(Style, &str)| *style == Style::Code && is_setting(run);
    if !spans.iter().any(is_link) {
        let label = egui::Label::new(job(text, palette, SIZE, palette.text));
        ui.add(label.wrap().selectable(true));
        return None;
    }
    let mut clicked = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        // Links and words stand on one line: rows are as high as both.
        ui.spacing_mut().interact_size.y = ROW;
        for part in spans.chunk_by(|a, b| is_link(a) == is_link(b)) {
            if is_link(&part[0]) {
                let setting = part[0].1;
                let words = egui::RichText::new(setting)
                    .monospace()
                    .size(SIZE - 1.5)
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
    clicked
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

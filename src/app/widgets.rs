//! Small things that every panel uses: sections, rows with aligned labels, buttons with an icon and words, numbers.

use super::command::Action;
use super::theme;
use crate::app::icon::Icon;
use crate::export::ticks::power_of_ten;
use egui::{Align2, Pos2, Rect, Response, Ui};

/// Width of the label column of a panel, in points.
const LABEL: f32 = 88.0;

/// A section of a panel that folds; its state is kept from start to start.
pub fn section(ui: &mut Ui, icon: Icon, title: &str, open: bool, contents: impl FnOnce(&mut Ui)) {
    let id = ui.make_persistent_id(("section", title));
    let palette = theme::palette(ui);
    let state = egui::collapsing_header::CollapsingState::load_with_default_open(ui.ctx(), id, open);
    let is_open = state.is_open();
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(egui::vec2(width, 32.0), egui::Sense::click());
    let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::DisclosureTriangle, true, title));
    let color = if response.hovered() || response.has_focus() {
        palette.strong
    } else {
        palette.text
    };
    let painter = ui.painter();
    painter.text(
        rect.left_center(),
        egui::Align2::LEFT_CENTER,
        char::from(icon),
        egui::FontId::new(16.0, theme::icon_family()),
        palette.weak,
    );
    painter.text(
        rect.left_center() + egui::vec2(24.0, 0.0),
        egui::Align2::LEFT_CENTER,
        title,
        egui::FontId::new(13.5, theme::strong_family()),
        palette.strong,
    );
    painter.text(
        rect.right_center(),
        egui::Align2::RIGHT_CENTER,
        char::from(if is_open { Icon::ChevronUp } else { Icon::ChevronDown }),
        egui::FontId::new(14.0, theme::icon_family()),
        color,
    );
    let mut state = state;
    if response.clicked() {
        state.toggle(ui);
    }
    state.show_body_unindented(ui, |ui| {
        // A row that is a little too wide pushes nothing aside.
        let mut room = ui.available_rect_before_wrap();
        let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(room));
        contents(&mut inner);
        room.max.y = inner.min_rect().bottom();
        ui.advance_cursor_after_rect(room);
        ui.add_space(8.0);
    });
    ui.painter().hline(
        rect.x_range(),
        ui.cursor().top() - 4.0,
        egui::Stroke::new(1.0, palette.line),
    );
}

/// A row: a label in a column of its own, then controls that take its name.
pub fn row<R>(ui: &mut Ui, label: &str, about: &str, controls: impl FnOnce(&mut Ui) -> R) -> R {
    ui.horizontal(|ui| {
        let (rect, response) = ui.allocate_exact_size(egui::vec2(LABEL, 24.0), egui::Sense::hover());
        let palette = theme::palette(ui);
        let galley = ui
            .painter()
            .layout(label.to_owned(), egui::FontId::proportional(13.0), palette.text, LABEL);
        ui.painter().galley(
            rect.left_center() - egui::vec2(0.0, galley.size().y / 2.0),
            galley,
            palette.text,
        );
        if !about.is_empty() {
            response.on_hover_text(about);
        }
        ui.name_inputs(label, controls)
    })
    .inner
}

/// What a field means, at the pointer and for screen readers beside its name: egui takes the text of a tooltip for the name of a field that a row has not named yet.
#[allow(clippy::return_self_not_must_use, reason = "most fields have nothing more to say")]
pub trait Explained {
    /// Says what it means; it keeps its name.
    fn explained(self, about: impl Into<String>) -> Self;
}

impl Explained for egui::Response {
    fn explained(self, about: impl Into<String>) -> Self {
        let about = about.into();
        let ctx = self.ctx.clone();
        ctx.accesskit_node_builder(self.id, |node| node.set_description(about.clone()));
        self.on_hover_ui(|ui| {
            ui.set_max_width(ui.spacing().tooltip_width);
            ui.label(about);
        })
    }
}

/// Fields beside a label that go on in another line where they have no room.
pub fn fields(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        add(ui);
    });
}

/// A short text of less weight under a control.
pub fn hint(ui: &mut Ui, text: &str) {
    let color = theme::palette(ui).weak;
    ui.add(egui::Label::new(egui::RichText::new(text).size(12.0).color(color)).wrap());
}

/// A fault under a control.
pub fn fault(ui: &mut Ui, text: &str) {
    let color = theme::palette(ui).wrong;
    ui.add(egui::Label::new(egui::RichText::new(text).size(12.0).color(color)).wrap());
}

/// A warning under a control.
pub fn warning(ui: &mut Ui, text: &str) {
    let color = theme::palette(ui).warning;
    ui.add(egui::Label::new(egui::RichText::new(text).size(12.0).color(color)).wrap());
}

/// A choice out of a few words; returns whether it changed.
pub fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    value: &mut T,
    all: impl IntoIterator<Item = (T, String, String)>,
) -> bool {
    let before = *value;
    let all: Vec<(T, String, String)> = all.into_iter().collect();
    let shown = all
        .iter()
        .find(|(item, _, _)| *item == before)
        .map_or(String::new(), |(_, title, _)| title.clone());
    let width = ui.available_width();
    egui::ComboBox::from_id_salt(name)
        .selected_text(shown)
        .width(width)
        // Eight words without a scroll bar.
        .height(320.0)
        .truncate()
        .show_ui(ui, |ui| {
            for (item, title, about) in all {
                let response = ui.selectable_value(value, item, title);
                if !about.is_empty() {
                    response.on_hover_text(about);
                }
            }
        });
    *value != before
}

/// A card above everything else, of a width of its own, with its `align` at a place of the window.
pub fn card(
    ctx: &egui::Context,
    id: &'static str,
    (align, at): (Align2, Pos2),
    width: f32,
    contents: impl FnOnce(&mut Ui),
) {
    let before = card_rect(ctx, id);
    let area = egui::Area::new(egui::Id::unique(id))
        .order(egui::Order::Foreground)
        .pivot(align)
        .fixed_pos(at)
        .show(ctx, |ui| {
            let frame = egui::Frame::popup(ui.style())
                .stroke(egui::Stroke::new(1.0, theme::palette(ui).accent))
                .inner_margin(16);
            frame.show(ui, |ui| {
                ui.set_width(width);
                contents(ui);
            });
        });
    if before != Some(area.response.rect) {
        // What keeps clear of it was drawn before it was there.
        ctx.request_repaint();
    }
}

/// The cards that stand over the lower part of the picture, by name.
const OVER_PICTURE: [&str; 4] = ["tour", "question", "filming", "riddle"];

/// Where a card stood in the frame before, if it was seen.
#[must_use]
pub fn card_rect(ctx: &egui::Context, name: &'static str) -> Option<Rect> {
    seen_rect(ctx, egui::Order::Foreground, name)
}

/// Where an area stood in the frame before, if it was seen.
#[must_use]
pub fn seen_rect(ctx: &egui::Context, order: egui::Order, name: &'static str) -> Option<Rect> {
    ctx.memory(|memory| {
        let id = egui::Id::unique(name);
        let layer = egui::LayerId::new(order, id);
        let is_seen = memory.areas().visible_last_frame(&layer);
        memory.area_rect(id).filter(|_| is_seen)
    })
}

/// A rectangle at the lower edge, moved up to where no card covers it.
#[must_use]
pub fn above_cards(ctx: &egui::Context, rect: Rect) -> Rect {
    let mut moved = rect;
    for card in OVER_PICTURE.into_iter().filter_map(|name| card_rect(ctx, name)) {
        if card.expand(4.0).intersects(moved) {
            moved = moved.translate(egui::vec2(0.0, card.top() - 8.0 - moved.bottom()));
        }
    }
    moved
}

/// A rectangle at the upper edge, moved down to where what a class said does not cover it.
#[must_use]
pub fn below_cards(ctx: &egui::Context, rect: Rect) -> Rect {
    match card_rect(ctx, "class").filter(|card| card.expand(4.0).intersects(rect)) {
        Some(card) => rect.translate(egui::vec2(0.0, card.bottom() + 8.0 - rect.top())),
        None => rect,
    }
}

/// Home and End take a slider that has the focus to its ends; call it with what adding the slider gave.
pub fn to_ends<T: Copy>(ui: &Ui, slider: &Response, value: &mut T, ends: std::ops::RangeInclusive<T>) -> bool {
    if !slider.has_focus() || ui.ctx().text_edit_focused() {
        return false;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, key));
    if pressed(egui::Key::Home) {
        *value = *ends.start();
    } else if pressed(egui::Key::End) {
        *value = *ends.end();
    } else {
        return false;
    }
    true
}

/// An icon with words.
pub fn button(icon: Icon, words: &str) -> egui::Button<'static> {
    egui::Button::new((theme::icon(icon, 15.0), words.to_owned()))
}

/// A square button with an icon alone; `name` is read out and shown as a tooltip.
pub fn icon_button(ui: &mut Ui, icon: Icon, name: &str, enabled: bool) -> Response {
    ui.add_enabled(
        enabled,
        egui::Button::new(theme::icon(icon, 14.0)).min_size(egui::vec2(24.0, 24.0)),
    )
    .accessible_name(name)
    .on_hover_text(name)
}

/// The button of an action, with its keys in the tooltip.
pub fn action_button(ui: &mut Ui, action: Action, icon: Icon, words: &str, enabled: bool) -> bool {
    let entry = action.entry();
    let content = if words.is_empty() {
        egui::Button::new(theme::icon(icon, 16.0)).min_size(egui::vec2(32.0, 28.0))
    } else {
        egui::Button::new((theme::icon(icon, 16.0), words.to_owned())).min_size(egui::vec2(32.0, 28.0))
    };
    let name = if words.is_empty() { entry.title } else { words };
    let response = ui.add_enabled(enabled, content).accessible_name(name);
    let clicked = response.clicked();
    response.on_hover_ui(|ui| {
        let palette = theme::palette(ui);
        ui.horizontal(|ui| {
            ui.label(egui::RichText::new(entry.title).color(palette.strong));
            if let Some(key) = entry.keys.first() {
                ui.label(
                    egui::RichText::new(super::command::shown(ui.ctx(), key))
                        .monospace()
                        .color(palette.accent),
                );
            }
        });
        ui.label(entry.about);
    });
    clicked
}

/// A number of at most `digits` significant digits, as people write it: 12.34, 0.00123, 1.23×10⁻⁷.
#[must_use]
pub fn figure(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return if value.is_nan() { "not a number" } else { "infinite" }.to_owned();
    }
    let size = value.abs().log10().floor() as i32;
    let digits_i = i32::try_from(digits).unwrap_or(4);
    let text = if (-4..digits_i.max(5)).contains(&size) {
        let decimals = usize::try_from(digits_i - 1 - size).unwrap_or(0);
        let text = format!("{value:.decimals$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    } else {
        let decimals = digits.saturating_sub(1);
        let text = format!("{value:.decimals$e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) if mantissa.contains('.') => {
                format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => text,
        }
    };
    typeset(&text)
}

/// A number as Rust prints it, as pictures write it: −1.5×10⁻⁵ instead of -1.5e-5.
fn typeset(number: &str) -> String {
    let (digits, power) = number.split_once('e').unwrap_or((number, ""));
    minus(&format!("{digits}{}", power_of_ten(power.parse().unwrap_or(0))))
}

/// The same back, for what a field shows and reads; other text stays as it is, a typographic minus apart.
#[must_use]
pub fn typed(text: &str) -> String {
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    let plain = |sign: char| match RAISED.chars().position(|raised| raised == sign) {
        Some(digit) => digit.to_string(),
        None if sign == '⁻' => "-".to_owned(),
        None => sign.to_string(),
    };
    let text = text.replace('−', "-");
    let parts = text.split_once('×');
    let parts = parts.and_then(|(digits, power)| Some((digits, power.trim_start().strip_prefix("10")?)));
    match parts {
        Some((digits, power)) => {
            let power: String = power.chars().map(plain).collect();
            format!("{}e{power}", digits.trim_end())
        }
        None => text,
    }
}

/// A whole number with thin spaces between thousands: 60 000.
#[must_use]
pub fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && digits.len() > 4 && (digits.len() - n).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("−{text}") } else { text }
}

/// The label of a mark at `value` on an axis with a mark at every `step`, whose values reach `largest` in size: all labels of an axis have the
/// same form and as many decimals as the marks differ by.
#[must_use]
pub fn axis_label(value: f64, step: f64, largest: f64) -> String {
    // Rounding noise at zero is zero.
    if value.abs() < 1e-6 * step {
        return "0".to_owned();
    }
    let decimals = |step: f64| (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 9.0) as usize;
    // A step of 2.5 has a decimal more than its size says.
    let whole = |step: f64| {
        let scaled = step * 10f64.powi(i32::try_from(decimals(step)).unwrap_or(9));
        decimals(step) + usize::from((scaled - scaled.round()).abs() > 1e-6)
    };
    if (1e-3..1e6).contains(&largest) {
        let decimals = whole(step);
        if decimals == 0 {
            return grouped(value);
        }
        return minus(&format!("{value:.decimals$}"));
    }
    let power = largest.log10().floor();
    let unit = 10f64.powf(power);
    let decimals = whole(step / unit);
    typeset(&format!("{:.decimals$}e{power}", value / unit))
}

/// A number whose width stays the same while it changes: always so many decimals.
#[must_use]
pub fn steady(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    // What rounds to zero has no sign.
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|sign| matches!(sign, '0' | '.')) => digits.to_owned(),
        _ => minus(&text),
    }
}

/// A small signed number as `+1.2×10⁻⁷`.
#[must_use]
pub fn signed(value: f64) -> String {
    if value.is_nan() {
        return "–".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    typeset(&format!("{value:+.1e}"))
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// The next of 1, 2, 5 times a power of ten that is at most `most`.
#[must_use]
pub fn round_below(most: f64) -> f64 {
    let power = 10f64.powf(most.log10().floor());
    let lead = most / power;
    let nice = if lead >= 5.0 {
        5.0
    } else if lead >= 2.0 {
        2.0
    } else {
        1.0
    };
    nice * power
}

/// The next of 1, 2, 5 times a power of ten that is at least `least`.
#[must_use]
pub fn round_above(least: f64) -> f64 {
    let below = round_below(least);
    // Rounding may have put `least` itself a little above a round number.
    if below >= least * (1.0 - 1e-9) {
        return below;
    }
    let lead = below / 10f64.powf(least.log10().floor());
    if lead > 1.5 && lead < 3.0 {
        below * 2.5
    } else {
        below * 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_labels_of_an_axis_have_one_form() {
        let labels = |step: f64, count: i32| -> Vec<String> {
            (0..=count)
                .map(|n| axis_label(f64::from(n) * step, step, f64::from(count) * step))
                .collect()
        };
        assert_eq!(labels(0.2, 5), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(2.5, 2), ["0", "2.5", "5.0"]);
        assert_eq!(
            labels(40000.0, 3),
            ["0", "40\u{2009}000", "80\u{2009}000", "120\u{2009}000"]
        );
        assert_eq!(labels(500.0, 2), ["0", "500", "1000"]);
        assert_eq!(labels(2e6, 2), ["0", "2×10⁶", "4×10⁶"]);
        assert_eq!(labels(5e-5, 2), ["0", "0.5×10⁻⁴", "1.0×10⁻⁴"]);
        assert_eq!(axis_label(-60000.0, 20000.0, 60000.0), "−60\u{2009}000");
    }

    /// Fields show what they read.
    #[test]
    fn powers_of_ten_are_read_as_they_are_written() {
        for value in [1.25e-7, -3.5e12, 2e-5, -0.25, 40.0] {
            let read = typed(&figure(value, 3)).parse::<f64>();
            assert_eq!(read, Ok(value), "{}", figure(value, 3));
        }
        assert_eq!(typed("2 × 10⁻³"), "2e-3");
        assert_eq!(typed("1e−5"), "1e-5");
        assert_eq!(typed("2 ×"), "2 ×");
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(figure(12.3456, 4), "12.35");
        assert_eq!(figure(-0.5, 4), "−0.5");
        assert_eq!(figure(1.234e-7, 3), "1.23×10⁻⁷");
        assert_eq!(figure(40.0, 4), "40");
        assert_eq!(figure(123456.0, 4), "1.235×10⁵");
        assert_eq!(figure(12345.0, 4), "12345");
        assert_eq!([steady(-0.001, 2), steady(-0.006, 2)], ["0.00", "−0.01"]);
        assert_eq!(steady(-0.4, 0), "0");
        assert_eq!(signed(1.23e-7), "+1.2×10⁻⁷");
        assert_eq!(signed(-2.0), "−2.0");
        assert_eq!([signed(0.0), signed(-1.5e-12)], ["0", "−1.5×10⁻¹²"]);
        assert_eq!(
            [figure(f64::INFINITY, 3), figure(f64::NAN, 3)],
            ["infinite", "not a number"]
        );
        assert!((round_below(7.3) - 5.0).abs() < 1e-12);
        assert!((round_below(0.019) - 0.01).abs() < 1e-12);
        for (least, round) in [
            (0.7, 1.0),
            (1.0, 1.0),
            (1.1, 2.0),
            (2.1, 5.0),
            (5.1, 10.0),
            (0.021, 0.05),
        ] {
            assert!((round_above(least) - round).abs() < 1e-12, "{least}");
        }
        assert_eq!(figure(2e-5, 3), "2×10⁻⁵");
    }
}

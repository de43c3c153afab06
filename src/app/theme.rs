//! Colours, type and spacing: near-black neutral ground, one accent, an 8-point grid.

use crate::app::icon::Icon;
use egui::{Color32, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle};
use epaint_default_fonts::HACK_REGULAR;
use std::sync::Arc;

/// The colours that the panels need beside egui's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Palette {
    /// Behind panels.
    pub panel: Color32,
    /// Behind pictures on a dark ground, in both themes.
    pub canvas: Color32,
    /// Behind cards and inputs.
    pub surface: Color32,
    /// The same under the pointer.
    pub hover: Color32,
    /// Lines between things.
    pub line: Color32,
    /// Text.
    pub text: Color32,
    /// Text of less weight.
    pub weak: Color32,
    /// Headings and values.
    pub strong: Color32,
    /// The one accent.
    pub accent: Color32,
    /// The accent as a ground for text.
    pub accent_ground: Color32,
    /// A prediction that came true.
    pub right: Color32,
    /// A prediction that did not.
    pub wrong: Color32,
    /// Something to look at.
    pub warning: Color32,
}

const DARK: Palette = Palette {
    panel: Color32::from_rgb(0x13, 0x14, 0x17),
    canvas: Color32::from_rgb(0x08, 0x09, 0x0a),
    surface: Color32::from_rgb(0x1e, 0x20, 0x24),
    hover: Color32::from_rgb(0x2a, 0x2d, 0x33),
    line: Color32::from_rgb(0x2a, 0x2c, 0x31),
    text: Color32::from_rgb(0xc9, 0xcc, 0xd2),
    weak: Color32::from_rgb(0x8d, 0x92, 0x9b),
    strong: Color32::from_rgb(0xf2, 0xf4, 0xf7),
    accent: Color32::from_rgb(0x5c, 0xb0, 0xff),
    accent_ground: Color32::from_rgb(0x16, 0x3a, 0x5c),
    right: Color32::from_rgb(0x5f, 0xcf, 0x94),
    wrong: Color32::from_rgb(0xff, 0x7b, 0x72),
    warning: Color32::from_rgb(0xe9, 0xb4, 0x4c),
};

const LIGHT: Palette = Palette {
    panel: Color32::from_rgb(0xf6, 0xf7, 0xf8),
    canvas: Color32::from_rgb(0x08, 0x09, 0x0a),
    surface: Color32::from_rgb(0xe8, 0xea, 0xed),
    hover: Color32::from_rgb(0xdb, 0xde, 0xe3),
    line: Color32::from_rgb(0xd4, 0xd7, 0xdc),
    text: Color32::from_rgb(0x33, 0x37, 0x3d),
    weak: Color32::from_rgb(0x63, 0x69, 0x73),
    strong: Color32::from_rgb(0x10, 0x12, 0x15),
    accent: Color32::from_rgb(0x0b, 0x63, 0xc4),
    accent_ground: Color32::from_rgb(0xc9, 0xe0, 0xfa),
    right: Color32::from_rgb(0x14, 0x7a, 0x43),
    wrong: Color32::from_rgb(0xc2, 0x2b, 0x22),
    warning: Color32::from_rgb(0x9a, 0x63, 0x00),
};

/// Text over a dark picture.
const OVER_PICTURE: Color32 = Color32::from_rgb(0xe6, 0xe8, 0xec);

/// Text over a picture on white.
const OVER_PAPER: Color32 = Color32::from_rgb(0x18, 0x1a, 0x1e);

/// Text and marks over the picture that is drawn now.
#[must_use]
pub fn over_picture() -> Color32 {
    if PAPER.get() { OVER_PAPER } else { OVER_PICTURE }
}

/// The ground of text over the picture that is drawn now.
#[must_use]
pub fn shade() -> Color32 {
    if PAPER.get() {
        Color32::from_rgba_premultiplied(230, 230, 230, 230)
    } else {
        Color32::from_rgba_premultiplied(7, 8, 9, 218)
    }
}

/// The ground of the picture that is drawn now.
#[must_use]
pub fn canvas() -> Color32 {
    if PAPER.get() { Color32::WHITE } else { DARK.canvas }
}

/// The colours of marks over the picture that is drawn now.
#[must_use]
pub fn marks() -> &'static Palette {
    of(!PAPER.get())
}

/// Says whether the picture stands on white from now on: in the light theme, with a map that begins there.
pub fn set_paper(paper: bool) {
    PAPER.set(paper);
}

/// Whether the picture stands on white.
#[must_use]
pub fn is_paper() -> bool {
    PAPER.get()
}

/// Colours of several lines in one plot: Okabe and Ito's set, told apart by colour-blind eyes too.
const LINES: [Color32; 6] = [
    Color32::from_rgb(0x56, 0xb4, 0xe9),
    Color32::from_rgb(0xe6, 0x9f, 0x00),
    Color32::from_rgb(0x00, 0x9e, 0x73),
    Color32::from_rgb(0xcc, 0x79, 0xa7),
    Color32::from_rgb(0xd5, 0x5e, 0x00),
    Color32::from_rgb(0xf0, 0xe4, 0x42),
];

/// The same for a light ground: darker, so that lines and names stand out, and black for the yellow.
const LINES_ON_LIGHT: [Color32; 6] = [
    Color32::from_rgb(0x00, 0x72, 0xb2),
    Color32::from_rgb(0xa8, 0x64, 0x00),
    Color32::from_rgb(0x00, 0x78, 0x58),
    Color32::from_rgb(0xa3, 0x4f, 0x82),
    Color32::from_rgb(0xb0, 0x47, 0x00),
    Color32::from_rgb(0x10, 0x12, 0x15),
];

/// The colour of line `n` of a plot with several.
#[must_use]
pub fn line(ui: &egui::Ui, n: usize) -> Color32 {
    let lines = if ui.visuals().dark_mode {
        &LINES
    } else {
        &LINES_ON_LIGHT
    };
    lines[n % lines.len()]
}

/// The palette of the present theme.
#[must_use]
pub fn palette(ui: &egui::Ui) -> &'static Palette {
    of(ui.visuals().dark_mode)
}

/// The palette of a theme, with the contrast that was set.
#[must_use]
pub fn of(dark: bool) -> &'static Palette {
    match (dark, HIGH.get()) {
        (true, false) => &DARK,
        (false, false) => &LIGHT,
        (true, true) => &DARK_HIGH,
        (false, true) => &LIGHT_HIGH,
    }
}

thread_local! {
    /// Whether the picture of this thread's window stands on white.
    static PAPER: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Whether this thread's window has high contrast; there is one window a thread.
    static HIGH: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Sets high contrast: text at least 7 : 1 against its ground (WCAG 2.2, 1.4.6), lines that stand out.
pub fn set_contrast(ctx: &egui::Context, high: bool) {
    HIGH.set(high);
    for (theme, dark) in [(egui::Theme::Dark, true), (egui::Theme::Light, false)] {
        ctx.style_mut_of(theme, |style| apply(style, of(dark), dark));
    }
}

const DARK_HIGH: Palette = Palette {
    panel: Color32::BLACK,
    surface: Color32::from_rgb(0x18, 0x1a, 0x1e),
    line: Color32::from_rgb(0x8a, 0x90, 0x9a),
    text: Color32::from_rgb(0xf4, 0xf5, 0xf7),
    weak: Color32::from_rgb(0xd2, 0xd6, 0xdc),
    strong: Color32::WHITE,
    accent: Color32::from_rgb(0x8c, 0xc8, 0xff),
    wrong: Color32::from_rgb(0xff, 0xa0, 0x98),
    right: Color32::from_rgb(0x86, 0xe6, 0xb2),
    warning: Color32::from_rgb(0xff, 0xcf, 0x70),
    ..DARK
};

const LIGHT_HIGH: Palette = Palette {
    panel: Color32::WHITE,
    line: Color32::from_rgb(0x5a, 0x60, 0x69),
    text: Color32::from_rgb(0x12, 0x14, 0x17),
    weak: Color32::from_rgb(0x35, 0x39, 0x40),
    strong: Color32::BLACK,
    accent: Color32::from_rgb(0x00, 0x3f, 0x8a),
    wrong: Color32::from_rgb(0x8c, 0x10, 0x0a),
    right: Color32::from_rgb(0x05, 0x4f, 0x28),
    warning: Color32::from_rgb(0x62, 0x3e, 0x00),
    ..LIGHT
};

/// Those icons of Lucide that the window uses.
const LUCIDE: &[u8] = include_bytes!("../../assets/fonts/lucide.ttf");
const INTER: &[u8] = include_bytes!("../../assets/fonts/Inter-Regular.otf");
const INTER_SEMIBOLD: &[u8] = include_bytes!("../../assets/fonts/Inter-SemiBold.otf");

/// The font family of titles.
#[must_use]
pub fn strong_family() -> FontFamily {
    FontFamily::Name("strong".into())
}

/// The font family of the icons.
#[must_use]
pub fn icon_family() -> FontFamily {
    FontFamily::Name("lucide".into())
}

/// The frame of what must be answered before anything else.
pub fn modal(ctx: &egui::Context) -> egui::Frame {
    egui::Frame::popup(&ctx.global_style()).inner_margin(16)
}

/// An icon as text.
#[must_use]
pub fn icon(icon: Icon, size: f32) -> egui::RichText {
    egui::RichText::new(char::from(icon)).font(FontId::new(size, icon_family()))
}

/// Fonts and both themes.
pub fn install(ctx: &egui::Context) {
    let mut fonts = FontDefinitions::empty();
    // It has Greek, Cyrillic, and ⟨, ⟩, ∝ and other signs that Inter lacks.
    fonts
        .font_data
        .insert("Hack".to_owned(), Arc::new(FontData::from_static(HACK_REGULAR)));
    fonts
        .families
        .insert(FontFamily::Monospace, vec!["Hack".to_owned(), "inter".to_owned()]);
    fonts
        .font_data
        .insert("lucide".to_owned(), Arc::new(FontData::from_static(LUCIDE)));
    fonts.families.insert(icon_family(), vec!["lucide".to_owned()]);
    // Inter has figures of equal width.
    for (name, family, bytes) in [
        ("inter", FontFamily::Proportional, INTER),
        ("inter-semibold", strong_family(), INTER_SEMIBOLD),
    ] {
        fonts
            .font_data
            .insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
        fonts.families.insert(family, vec![name.to_owned(), "Hack".to_owned()]);
    }
    ctx.set_fonts(fonts);
    for (theme, dark) in [(egui::Theme::Dark, true), (egui::Theme::Light, false)] {
        ctx.style_mut_of(theme, |style| apply(style, of(dark), dark));
    }
}

fn apply(style: &mut egui::Style, palette: &Palette, dark: bool) {
    style.text_styles = [
        (TextStyle::Heading, FontId::new(17.0, strong_family())),
        (TextStyle::Body, FontId::proportional(13.0)),
        (TextStyle::Button, FontId::proportional(13.0)),
        (TextStyle::Small, FontId::proportional(11.5)),
        (TextStyle::Monospace, FontId::monospace(12.0)),
    ]
    .into();
    let spacing = &mut style.spacing;
    spacing.item_spacing = egui::vec2(8.0, 8.0);
    spacing.button_padding = egui::vec2(8.0, 4.0);
    spacing.interact_size = egui::vec2(32.0, 24.0);
    spacing.window_margin = Margin::same(16);
    spacing.menu_margin = Margin::same(8);
    spacing.indent = 16.0;
    spacing.slider_rail_height = 4.0;
    spacing.combo_width = 96.0;
    spacing.tooltip_width = 360.0;
    spacing.icon_width = 16.0;
    spacing.icon_width_inner = 10.0;
    spacing.icon_spacing = 8.0;
    spacing.scroll.bar_width = 6.0;
    style.interaction.tooltip_delay = 0.4;
    style.animation_time = 0.1;
    style.interaction.selectable_labels = false;
    style.visuals = visuals(palette, dark);
}

fn visuals(palette: &Palette, dark: bool) -> egui::Visuals {
    let mut visuals = if dark {
        egui::Visuals::dark()
    } else {
        egui::Visuals::light()
    };
    let radius = CornerRadius::same(4);
    visuals.panel_fill = palette.panel;
    visuals.window_fill = palette.panel;
    visuals.window_stroke = Stroke::new(1.0, palette.line);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(8);
    visuals.extreme_bg_color = if dark {
        Color32::from_rgb(0x0c, 0x0d, 0x0f)
    } else {
        Color32::WHITE
    };
    visuals.faint_bg_color = palette.surface;
    visuals.code_bg_color = palette.surface;
    visuals.hyperlink_color = palette.accent;
    visuals.warn_fg_color = palette.warning;
    visuals.error_fg_color = palette.wrong;
    visuals.weak_text_color = Some(palette.weak);
    visuals.selection.bg_fill = palette.accent_ground;
    visuals.selection.stroke = Stroke::new(1.0, if dark { palette.strong } else { palette.accent });
    visuals.slider_trailing_fill = true;
    visuals.handle_shape = egui::style::HandleShape::Rect { aspect_ratio: 0.4 };
    visuals.indent_has_left_vline = false;
    visuals.popup_shadow = Shadow {
        offset: [0, 4],
        blur: 16,
        spread: 0,
        color: Color32::from_black_alpha(if dark { 128 } else { 40 }),
    };
    visuals.window_shadow = visuals.popup_shadow;
    let widgets = &mut visuals.widgets;
    let set = |visuals: &mut egui::style::WidgetVisuals, fill, stroke: Stroke, text, width| {
        visuals.bg_fill = fill;
        visuals.weak_bg_fill = fill;
        visuals.bg_stroke = stroke;
        visuals.fg_stroke = Stroke::new(width, text);
        visuals.corner_radius = radius;
        visuals.expansion = 0.0;
    };
    let line = Stroke::new(1.0, palette.line);
    let focus = Stroke::new(1.0, palette.accent);
    set(&mut widgets.noninteractive, palette.panel, line, palette.text, 1.0);
    set(&mut widgets.inactive, palette.surface, Stroke::NONE, palette.text, 1.0);
    set(&mut widgets.hovered, palette.hover, Stroke::NONE, palette.strong, 1.0);
    set(&mut widgets.active, palette.hover, focus, palette.strong, 1.5);
    set(&mut widgets.open, palette.hover, Stroke::NONE, palette.strong, 1.0);
    visuals
}

/// What is drawn on a screen with the program's fonts.
#[cfg(test)]
pub fn drawn(screen: egui::Rect, draw: impl FnMut(&mut egui::Ui)) -> Vec<egui::epaint::ClippedShape> {
    let ctx = egui::Context::default();
    install(&ctx);
    let input = egui::RawInput {
        screen_rect: Some(screen),
        ..egui::RawInput::default()
    };
    let mut output = ctx.run_ui(input, draw);
    output.textures_delta.clear();
    output.shapes
}

/// The texts among it, and where they stand.
#[cfg(test)]
pub fn texts(shapes: &[egui::epaint::ClippedShape]) -> Vec<(String, egui::Rect)> {
    let text = |clipped: &egui::epaint::ClippedShape| match &clipped.shape {
        egui::Shape::Text(text) => Some((text.galley.text().to_owned(), text.visual_bounding_rect())),
        _ => None,
    };
    shapes.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ab_glyph::{Font, FontRef};
    use std::path::Path;

    /// Contrast of two colours, WCAG 2.2: (L1 + 0.05)/(L2 + 0.05) of their relative luminances.
    fn contrast(a: Color32, b: Color32) -> f64 {
        let luminance = |color: Color32| {
            let [r, g, b, _] = color
                .to_array()
                .map(|c| crate::colormap::srgb_decode(f64::from(c) / 255.0));
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// A sign that no font has is shown as a box.
    #[test]
    fn every_sign_of_the_lessons_is_in_a_font() {
        let ctx = egui::Context::default();
        install(&ctx);
        ctx.begin_pass(egui::RawInput::default());
        for preset in crate::scene::presets::all() {
            for font in [
                FontId::proportional(13.0),
                FontId::monospace(13.0),
                FontId::new(13.0, strong_family()),
            ] {
                let lacking: String = ctx.fonts_mut(|fonts| {
                    let signs = preset.text.chars().filter(|sign| !sign.is_control());
                    signs.filter(|sign| !fonts.has_glyph(&font, *sign)).collect()
                });
                assert!(lacking.is_empty(), "{}, {:?}: {lacking}", preset.name, font.family);
            }
        }
        ctx.end_pass().textures_delta.clear();
    }

    /// The sources of the window, without the list of icons.
    fn sources(folder: &Path, found: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if !path.ends_with("icon.rs") {
                found.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }

    #[test]
    fn every_icon_is_in_the_font_and_used() {
        let mut window = String::new();
        sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/app")), &mut window);
        let font = FontRef::try_from_slice(LUCIDE).unwrap();
        let icons: Vec<(&str, &str)> = include_str!("icon.rs")
            .lines()
            .filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = 0x"))
            .collect();
        assert!(icons.len() > 50, "{icons:?}");
        for (name, code) in icons {
            let sign = u32::from_str_radix(code, 16).ok().and_then(char::from_u32).unwrap();
            // Glyph 0 stands for those that a font lacks.
            assert_ne!(
                font.glyph_id(sign).0,
                0,
                "run assets/fonts/subset.py: {name} is missing"
            );
            assert!(
                window.contains(&format!("Icon::{name}")),
                "run assets/fonts/subset.py: {name} is not used"
            );
        }
    }

    #[test]
    fn text_stands_out() {
        for (palette, least) in [(DARK, 4.5), (LIGHT, 4.5), (DARK_HIGH, 7.0), (LIGHT_HIGH, 7.0)] {
            for ground in [palette.panel, palette.surface] {
                for text in [palette.text, palette.weak, palette.strong] {
                    let found = contrast(text, ground);
                    assert!(found >= least, "{text:?} on {ground:?}: {found:.2}");
                }
            }
            for text in [palette.accent, palette.right, palette.wrong, palette.warning] {
                let found = contrast(text, palette.panel);
                assert!(found >= least, "{text:?} on {:?}: {found:.2}", palette.panel);
            }
        }
    }
}

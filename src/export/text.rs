//! Text on pictures, in Inter (SIL Open Font License 1.1, `assets/fonts/OFL.txt`), with figures of equal width.

use super::{Picture, system_font};
use ab_glyph::{Font, FontRef, ScaleFont, point};
use std::sync::OnceLock;

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// The point is at its left end.
    Left,
    /// The point is at its middle.
    Center,
    /// The point is at its right end.
    Right,
}

/// The weight of the letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// For labels.
    Regular,
    /// For titles.
    SemiBold,
}

fn font(weight: Weight) -> Option<&'static FontRef<'static>> {
    static REGULAR: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    static SEMI_BOLD: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    let (cell, bytes): (_, &'static [u8]) = match weight {
        Weight::Regular => (&REGULAR, include_bytes!("../../assets/fonts/Inter-Regular.otf")),
        Weight::SemiBold => (&SEMI_BOLD, include_bytes!("../../assets/fonts/Inter-SemiBold.otf")),
    };
    // The bytes are part of the program; a test reads both.
    cell.get_or_init(|| FontRef::try_from_slice(bytes).ok()).as_ref()
}

/// The font of letters that Inter's part here lacks, such as Cyrillic ones: that which the window takes for them.
fn second_font() -> Option<&'static FontRef<'static>> {
    #[cfg(feature = "gui")]
    {
        static SECOND: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
        let bytes = epaint_default_fonts::HACK_REGULAR;
        SECOND.get_or_init(|| FontRef::try_from_slice(bytes).ok()).as_ref()
    }
    #[cfg(not(feature = "gui"))]
    None
}

/// A font that has a letter and the letter itself, or one that looks like it, or a sign that something is missing.
fn drawn(own: &'static FontRef<'static>, letter: char) -> (&'static FontRef<'static>, char) {
    let letter = if letter.is_control() { ' ' } else { letter };
    let like = match letter {
        '⟨' => '<',
        '⟩' => '>',
        _ => letter,
    };
    let second = second_font();
    let choices = [(Some(own), letter), (Some(own), like), (second, letter)];
    let has = |(font, letter): (Option<&'static FontRef<'static>>, char)| {
        font.filter(|font| font.glyph_id(letter).0 != 0)
            .map(|font| (font, letter))
    };
    let of_system = || system_font::find(letter).map(|font| (font, letter));
    let found = choices.into_iter().find_map(has).or_else(of_system);
    found.or_else(|| has((second, '□'))).unwrap_or((own, '?'))
}

/// Whether a letter only says how others are joined, broken or drawn.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// A glyph of a font.
type Placed = (&'static FontRef<'static>, ab_glyph::Glyph);

/// A style of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Height of the em square, pixels.
    pub size: f32,
    /// Its colour.
    pub color: [u8; 3],
    /// Its weight.
    pub weight: Weight,
}

impl Style {
    /// Glyphs with their positions from 0, and the width in pixels.
    fn lay_out(self, text: &str) -> (Vec<Placed>, f32) {
        let Some(own) = font(self.weight) else {
            return (Vec::new(), 0.0);
        };
        let mut x = 0.0;
        let mut glyphs: Vec<Placed> = Vec::new();
        for letter in text.chars().filter(|letter| !is_unseen(*letter)) {
            let (font, drawn) = drawn(own, letter);
            let em = font.units_per_em().unwrap_or(1000.0);
            let scale = self.size * font.height_unscaled() / em;
            let scaled = font.as_scaled(scale);
            let id = font.glyph_id(drawn);
            if let Some((_, last)) = glyphs.last().filter(|(last, _)| std::ptr::eq(*last, font)) {
                x += scaled.kern(last.id, id);
            }
            // Every digit is as wide as a zero and stands in the middle of its place, so that a clock doesn't jump.
            let width = scaled.h_advance(id);
            let advance = if letter.is_ascii_digit() {
                scaled.h_advance(font.glyph_id('0'))
            } else {
                width
            };
            let glyph = id.with_scale_and_position(scale, point(x + (advance - width) / 2.0, 0.0));
            glyphs.push((font, glyph));
            x += advance;
        }
        (glyphs, x)
    }

    /// The width of a text, pixels.
    #[must_use]
    pub fn width(self, text: &str) -> f32 {
        self.lay_out(text).1
    }

    /// Draws a text as [`Style::draw`] does, with a rim of another colour around its letters: it can be read over anything, and hides little.
    pub fn draw_rimmed(self, picture: &mut Picture, (x, y): (f32, f32), align: Align, text: &str, rim: [u8; 3]) {
        // Base lines stand on whole pixels.
        let thick = (self.size * 0.09).round().max(1.0);
        let around = Self { color: rim, ..self };
        for (dx, dy) in [
            (-1.0, 0.0),
            (1.0, 0.0),
            (0.0, -1.0),
            (0.0, 1.0),
            (-1.0, -1.0),
            (1.0, -1.0),
            (-1.0, 1.0),
            (1.0, 1.0),
        ] {
            around.draw(picture, x + dx * thick, y + dy * thick, align, text);
        }
        self.draw(picture, x, y, align, text);
    }

    /// Draws a text whose base line is at y.
    #[expect(clippy::cast_possible_truncation, reason = "positions inside a picture")]
    pub fn draw(self, picture: &mut Picture, x: f32, y: f32, align: Align, text: &str) {
        let (glyphs, width) = self.lay_out(text);
        let left = match align {
            Align::Left => x,
            Align::Center => x - width / 2.0,
            Align::Right => x - width,
        };
        for (font, mut glyph) in glyphs {
            // The base line on a whole pixel keeps horizontal strokes crisp.
            glyph.position = point(glyph.position.x + left, y.round());
            if let Some(outline) = font.outline_glyph(glyph) {
                let bounds = outline.px_bounds();
                outline.draw(|dx, dy, coverage| {
                    let at = (bounds.min.x as i64 + i64::from(dx), bounds.min.y as i64 + i64::from(dy));
                    picture.blend(at.0, at.1, self.color, coverage);
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_fonts_have_every_sign_used_and_even_figures() {
        for weight in [Weight::Regular, Weight::SemiBold] {
            let font = font(weight).unwrap();
            for letter in "t = −0123456789.×⁰¹²³⁴⁵⁶⁷⁸⁹⁻|ψ|≤πRe Im p k arg".chars() {
                assert_ne!(font.glyph_id(letter).0, 0, "{letter}");
            }
            let style = Style {
                size: 20.0,
                color: [255; 3],
                weight,
            };
            assert_eq!(style.width("1111").to_bits(), style.width("8888").to_bits());
        }
    }

    /// What presets write into pictures: titles, notes, labels of theory, names of detectors.
    #[test]
    fn every_letter_of_presets_is_drawn() {
        for preset in crate::scene::presets::all() {
            let file = crate::scene::read_draft(preset.text).unwrap();
            let notes = file.notes.iter().map(|note| note.text.as_str());
            let theories = file.theories.iter().map(|theory| theory.label.as_str());
            let detectors = file.detectors.iter().map(|detector| detector.name.as_str());
            for words in notes.chain(theories).chain(detectors).chain([file.title.as_str()]) {
                for weight in [Weight::Regular, Weight::SemiBold] {
                    let font = font(weight).unwrap();
                    let missing = words
                        .chars()
                        .find(|letter| !std::ptr::eq(drawn(font, *letter).0, font) && *letter != '\n');
                    assert_eq!(missing, None, "{}: {words}", preset.name);
                }
            }
        }
    }

    /// Letters of other scripts come from the window's second font, or from one of the machine; what no font has is seen to be missing.
    #[test]
    #[cfg(feature = "gui")]
    fn no_letter_is_left_out() {
        let own = font(Weight::Regular).unwrap();
        for letter in "Волны в закрытой трубе".chars() {
            assert_eq!(drawn(own, letter).1, letter);
        }
        assert!(matches!(drawn(own, '波').1, '波' | '□'));
        assert_eq!(drawn(own, '\u{1fffe}').1, '□');
        let style = Style {
            size: 20.0,
            color: [255; 3],
            weight: Weight::Regular,
        };
        for text in ["Волны", "波"] {
            let mut picture = Picture::filled(100, 40, [0; 3]);
            style.draw(&mut picture, 2.0, 30.0, Align::Left, text);
            let lit = (0..100).any(|x| (0..40).any(|y| picture.at(x, y)[0] > 100));
            assert!(lit && style.width(text) > 8.0, "{text}");
        }
    }

    #[test]
    fn text_is_drawn_where_it_should_be() {
        let mut picture = Picture::filled(100, 40, [0; 3]);
        let style = Style {
            size: 20.0,
            color: [255; 3],
            weight: Weight::Regular,
        };
        style.draw(&mut picture, 98.0, 30.0, Align::Right, "H");
        let lit = |x0: usize, x1: usize| (x0..x1).any(|x| (0..40).any(|y| picture.at(x, y)[0] > 200));
        assert!(!lit(0, 80));
        assert!(lit(80, 98));
        // A capital stands on its base line.
        assert!((80..98).all(|x| (31..40).all(|y| picture.at(x, y) == [0; 3])));
    }
}

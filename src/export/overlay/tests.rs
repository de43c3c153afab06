//! Words and bars around a field: whole, apart, within the picture.

use super::*;
use crate::colormap;

/// A legend without words, from 0 to 1.
fn legend(map: &Colormap) -> Legend<'_> {
    Legend {
        title: "",
        time: 0.0,
        plane: String::new(),
        decimals: 0,
        sign: "",
        map,
        levels: Levels { low: 0.0, high: 1.0 },
        gamma: 1.0,
        length: 1.0,
        length_unit: String::new(),
        time_unit: String::new(),
    }
}

/// The longest signs, with a power of ten behind them.
#[test]
fn signs_of_colour_bars_end_within_the_picture() {
    let theme = Theme::light();
    let unit = 20.0;
    let margins = Margins::for_field(unit);
    for (sign, low) in [
        ("Δ|v| (m/s)", -2e-7),
        ("|I| (W/m²)", 0.0),
        ("Δ|ψ|²", -2e-12),
        ("Δ energy (J/m³)", -2e-7),
        (sign_of_difference(Quantity::Peak, Equation::Schrodinger), -2e-7),
    ] {
        let mut picture = Picture::filled(500, 400, theme.ground);
        let legend = Legend {
            sign,
            levels: Levels { low, high: 2e-7 },
            ..legend(colormap::auto(Kind::Diverging))
        };
        legend.draw(&mut picture, margins.inside(500, 400), unit, theme);
        let right = (494..500).flat_map(|x| (0..400).map(move |y| (x, y)));
        let above = (0..500).map(|x| (x, 0));
        let inked = right
            .chain(above)
            .filter(|(x, y)| picture.at(*x, *y) != theme.ground)
            .count();
        assert_eq!(inked, 0, "{sign}");
        // Letters are not half as large as others: as high as half a unit where nothing hangs below the line.
        let bar = 500 - margins.right + ceil(0.9 * unit);
        let inked = |y: usize| (bar..494).any(|x| picture.at(x, y) != theme.ground);
        let rows: Vec<bool> = (0..margins.top - 2).map(inked).collect();
        assert!(rows.iter().filter(|row| **row).count() >= 12, "{sign}");
        // What hangs below the first of two lines does not touch the raised figures of the second.
        let lines = rows.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        assert_eq!(lines, if sign.contains("energy") { 2 } else { lines }, "{sign}");
    }
}

/// Before a source plays the field is 0 everywhere: the bar has all its colours, and 0 stands where its colour is.
#[test]
fn the_bar_of_a_silent_field_has_its_colours_and_a_zero() {
    let (theme, unit, size) = (Theme::of(colormap::auto(Kind::Diverging)), 20.0, 400);
    let field = Margins::for_field(unit).inside(500, size);
    for (kind, place) in [(Kind::Diverging, 0.5), (Kind::Sequential, 0.0)] {
        let mut picture = Picture::filled(500, size, theme.ground);
        let legend = Legend {
            levels: Levels { low: 0.0, high: 0.0 },
            ..legend(colormap::auto(kind))
        };
        legend.draw(&mut picture, field, unit, theme);
        let bar = field.x + field.width + ceil(0.9 * unit) + 3;
        let colors: std::collections::HashSet<[u8; 3]> =
            (field.y..field.y + field.height).map(|y| picture.at(bar, y)).collect();
        assert!(colors.len() > 50, "{kind:?}: {} colours", colors.len());
        // The label, beside the bar.
        let first = bar + ceil(1.3 * unit);
        let inked = (0..size).filter(|y| (first..500).any(|x| picture.at(x, *y) != theme.ground));
        let inked: Vec<usize> = inked.collect();
        let middle = pixel(inked[0] + inked[inked.len() - 1]) / 2.0;
        let wanted = pixel(field.y) + (1.0 - place) * pixel(field.height);
        assert!((middle - wanted).abs() < unit, "{kind:?}: {inked:?}, wanted {wanted}");
        let label = picture.at(bar, field.y + field.height / 2);
        assert!(
            kind == Kind::Sequential || label == legend.map.table()[128],
            "{label:?}"
        );
    }
}

/// Over a field that is narrower than its title the title begins farther left, whole where it has room there.
#[test]
fn titles_of_narrow_fields_are_whole() {
    let theme = Theme::light();
    let words = "A title that is longer than its field is wide";
    for (letters, x) in (3..words.len()).flat_map(|letters| [300, 411, 523].map(|x| (letters, x))) {
        let legend = Legend {
            title: words[..letters].trim_end(),
            ..legend(colormap::auto(Kind::Sequential))
        };
        let field = Rect::new(x, 50, 150, 200);
        let (left, title) = legend.title_above(field, 10.3, theme);
        assert_eq!(title, legend.title);
        assert!(left >= 10.3);
    }
}

/// Beside a field of two rows the numbers of the bar stand one above the other, not on each other.
#[test]
fn bars_beside_low_fields_have_room_for_their_numbers() {
    let theme = Theme::light();
    let unit = 10.0;
    let field = Rect::new(12, 26, 300, 4);
    let mut picture = Picture::filled(380, 100, theme.ground);
    legend(colormap::auto(Kind::Sequential)).draw(&mut picture, field, unit, theme);
    let first = field.x + field.width + ceil(2.2 * unit);
    let inked: Vec<bool> = (field.y - 4..100)
        .map(|y| (first..380).any(|x| picture.at(x, y) != theme.ground))
        .collect();
    let lines = inked.windows(2).filter(|rows| !rows[0] && rows[1]).count();
    assert!(lines >= 2, "{inked:?}");
}

#[test]
fn titles_are_cut_until_they_fit() {
    let cut = |text: &str, room: usize| shortened(text, |shown| shown.chars().count() <= room);
    assert_eq!(cut("A lens", 6), "A lens");
    assert_eq!(cut("A lens made of holes", 15), "A lens made of…");
    // A blank before the dots goes, and so does a letter more than the dots take.
    assert_eq!(cut("A lens made of holes", 8), "A lens…");
    assert_eq!(cut("Too narrow", 4), "Too…");
    assert_eq!(cut("Too narrow", 3), "");
    assert_eq!(cut("ψφχω", 0), "");
    assert_eq!(cut("", 0), "");
}

/// Streamlines are seen through the ground of a scale bar, and its words can be read over every colour.
#[test]
fn what_lies_below_a_scale_bar_is_seen() {
    let theme = Theme::light();
    let field = Rect::new(0, 0, 400, 300);
    let legend = legend(colormap::auto(Kind::Sequential));
    let (_, _, ground) = legend.scale(field, 20.0, theme).unwrap();
    let mut picture = Picture::filled(400, 300, theme.text);
    // A line of the colour of the ground, which it crosses at its left end.
    let at = (ground.x + 2, ground.y + 2);
    picture.set(at.0, at.1, theme.ground);
    legend.scale_bar(&mut picture, field, 20.0, theme);
    let [line, beside] = [picture.at(at.0, at.1), picture.at(at.0 + 1, at.1)];
    assert!((0..3).all(|n| line[n].abs_diff(beside[n]) > 60), "{line:?} {beside:?}");
    let dark = (ground.x..ground.x + ground.width)
        .flat_map(|x| (ground.y..ground.y + ground.height).map(move |y| (x, y)))
        .filter(|(x, y)| picture.at(*x, *y) == theme.ground);
    assert!(dark.count() > 100);
}

/// Whatever the range, a bar has two numbers.
#[test]
fn low_bars_have_two_numbers() {
    for (low, high) in [(0.0, 0.99), (-1.4, 1.4), (9.0, 11.9), (0.0, 4.9e-4), (-80.0, 87.0)] {
        let legend = Legend {
            levels: Levels { low, high },
            ..legend(colormap::auto(Kind::Diverging))
        };
        let (_, ticks) = legend.color_bar().ticks(2);
        assert!((2..5).contains(&ticks.marks.len()), "{low} to {high}: {ticks:?}");
    }
}

/// Of a box that is cut the head says where.
#[test]
fn the_plane_of_a_box_stands_before_the_time() {
    let map = colormap::auto(Kind::Diverging);
    assert_eq!(legend(map).clock(), "t = 0");
    let plane = Legend {
        plane: "z = 1.2 m".to_owned(),
        ..legend(map)
    };
    assert_eq!(plane.clock(), "z = 1.2 m, t = 0");
}

//! Colours of what is drawn around a field.

use super::text::{Style, Weight};
use crate::colormap::Colormap;

/// Dark or light, as the colour map requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Behind everything.
    pub ground: [u8; 3],
    /// Titles and curves.
    pub text: [u8; 3],
    /// Labels.
    pub quiet: [u8; 3],
    /// Axes and frames.
    pub line: [u8; 3],
    /// The rim of walls.
    pub wall: [u8; 3],
    /// What lies inside them.
    pub stone: [u8; 3],
    /// Positive potential.
    pub hill: [u8; 3],
    /// Negative potential.
    pub well: [u8; 3],
}

const DARK: Theme = Theme {
    ground: [14, 16, 19],
    text: [232, 235, 239],
    quiet: [160, 167, 176],
    line: [92, 99, 108],
    wall: [128, 134, 142],
    stone: [43, 46, 51],
    hill: [255, 255, 255],
    well: [120, 190, 255],
};

const LIGHT: Theme = Theme {
    ground: [255, 255, 255],
    text: [20, 22, 26],
    quiet: [84, 90, 98],
    line: [150, 156, 164],
    wall: [110, 116, 124],
    stone: [214, 217, 222],
    hill: [40, 40, 40],
    well: [0, 80, 190],
};

impl Theme {
    /// Dark on light, as on paper.
    #[must_use]
    pub fn light() -> &'static Self {
        &LIGHT
    }

    /// The theme that a map belongs to: light where "nothing" is light, as white paper is.
    #[must_use]
    pub fn of(map: &Colormap) -> &'static Self {
        if map.is_light() { &LIGHT } else { &DARK }
    }

    /// Style of a title, `size` pixels.
    pub fn title(&self, size: f32) -> Style {
        Style {
            size,
            color: self.text,
            weight: Weight::SemiBold,
        }
    }

    /// Style of a label, `size` pixels.
    pub fn label(&self, size: f32) -> Style {
        Style {
            size,
            color: self.quiet,
            weight: Weight::Regular,
        }
    }
}

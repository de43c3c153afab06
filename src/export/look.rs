//! How a scene is shown, and where its field is in the picture.

use super::overlay::{self, Margins};
use super::picture::Rect;
use super::theme::Theme;
use super::upright::{self, is_upright};
use crate::colormap::ColormapError;
use crate::scene::Scenario;
use crate::scene::scenario::{ColorRange, Opacity, Orbit, Quantity, ViewMode};
use crate::scene::theory::Note;
use std::ops::Range;

/// The approximate longer side of a field in a picture whose size is not given, in pixels.
const NATURAL: usize = 1280;
/// Size of a graph whose size is not given.
const GRAPH: [usize; 2] = [1280, 640];
/// Size of a field in space whose size is not given.
const SPACE: [usize; 2] = [1280, 960];

/// How a scene is to be shown.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Look {
    /// What is shown.
    pub quantity: Quantity,
    /// A colour map's name, or `auto`.
    pub colormap: String,
    /// The colour range.
    pub range: ColorRange,
    /// Pixels; `None` = whole pixels a site, or whole sites per pixel.
    pub size: Option<[usize; 2]>,
    /// Sites along x and y of the part that is shown; `None` = the whole plane. Reliefs and fields in space are shown whole.
    pub region: Option<[Range<usize>; 2]>,
    /// The plane of a 3D field; `None` = that of `slices`.
    pub plane: Option<usize>,
    /// How a field of two or three dimensions is shown.
    pub mode: ViewMode,
    /// From where a relief or a box is looked at.
    pub orbit: Orbit,
    /// Whether the camera follows its path instead, if the scene has one.
    pub follows: bool,
    /// Lengths at which its slices stand.
    pub slices: [f64; 3],
    /// How opaque its values are.
    pub opacity: Opacity,
    /// Whether it is lit along its gradients.
    pub shading: bool,
    /// Exponent of the brightness: ½ shows faint waves next to strong ones. Maps with two sides have none.
    pub gamma: f32,
    /// Title, clock, colour bar and scale bar, theory and notes, sources and transducers.
    pub overlay: bool,
    /// Whether it is a difference of two runs.
    pub difference: bool,
}

impl Look {
    /// The scene's own look, without overlay, at its natural size.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let view = scenario.view();
        Self {
            quantity: view.quantity,
            colormap: view.colormap.clone(),
            range: view.range,
            size: None,
            region: view.region.map(|corners| sites_of(scenario, corners)),
            plane: None,
            mode: view.mode,
            orbit: view.camera,
            follows: !scenario.cameras().is_empty(),
            slices: view.slices.unwrap_or_else(|| {
                let grid = scenario.grid();
                // The middle site, where the window's slices stand at first.
                grid.size().map(|sites| index(sites / 2) * grid.spacing())
            }),
            opacity: view.opacity.clone(),
            shading: view.shading,
            gamma: view.brightness.exponent(),
            overlay: false,
            difference: false,
        }
    }
}

/// The sites along x and y of the part of a plane between two corners, lengths.
pub fn sites_of(scenario: &Scenario, [low, high]: [[f64; 2]; 2]) -> [Range<usize>; 2] {
    let grid = scenario.grid();
    std::array::from_fn(|axis| grid.nearest_on(axis, low[axis])..grid.nearest_on(axis, high[axis]) + 1)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
pub(super) fn index(sites: usize) -> f64 {
    sites as f64
}

/// Why a scene cannot be shown as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LookError {
    /// No such map, or of the wrong kind.
    #[error(transparent)]
    Colormap(#[from] ColormapError),
    /// A size without room for the field.
    #[error("a picture of {width} × {height} pixels has no room for the field; choose at least {least} × {least}")]
    TooSmall {
        /// Pixels.
        width: usize,
        /// Pixels.
        height: usize,
        /// The least that works.
        least: usize,
    },
    /// A picture that no memory holds.
    #[error("a picture of {width} × {height} pixels is too large; choose at most {most} on a side")]
    TooLarge {
        /// Pixels.
        width: usize,
        /// Pixels.
        height: usize,
        /// The limit.
        most: usize,
    },
    /// A plane outside the grid.
    #[error("there is no plane {plane}: the grid has planes 0 to {last} along z")]
    Plane {
        /// Asked for.
        plane: usize,
        /// The last one.
        last: usize,
    },
}

/// Longest side of a picture.
const MOST: usize = 32768;

/// Longer notes stand within the field.
const MOST_NOTE_LINES: usize = 4;

/// Units of text at both sides of a box that stands upright.
const BESIDE: f32 = 2.6;

/// Canvas, field and text size.
///
/// `notes` appear in the picture, with a strip of their own below it that has room for the longest.
pub(super) fn layout(
    [nx, ny]: [usize; 2],
    line: bool,
    in_space: bool,
    notes: &[Note],
    look: &Look,
) -> Result<([usize; 2], Rect, f32), LookError> {
    #[expect(clippy::cast_precision_loss, reason = "numbers of pixels")]
    let unit_of = |[width, height]: [usize; 2]| {
        let shorter = width.min(height).min(2 * width.max(height) / 3) as f32;
        let longer = width.max(height) as f32;
        (shorter / 32.0).max(longer / 64.0).clamp(9.0, 80.0)
    };
    // Around a field of this width, or in a picture of this width.
    let margins = |unit: f32, field: Option<usize>, picture: usize| {
        let mut room = match (line, look.overlay) {
            (true, titled) => Margins::for_graph(unit, titled),
            (false, true) => Margins::for_field(unit),
            (false, false) => Margins::default(),
        };
        if !notes.is_empty() && look.overlay && !in_space {
            let inner = field.unwrap_or(picture.saturating_sub(room.left + room.right));
            let across = overlay::pixel(inner + 2 * room.left.min(room.right)) - 2.0 * unit - 1.0;
            let lines = notes.iter().map(|note| note_lines(&note.text, across, unit)).max();
            let lines = lines.unwrap_or(1).clamp(1, MOST_NOTE_LINES);
            room.bottom = overlay::ceil(note_height(line, lines) * unit) + 1;
        }
        room
    };
    let longer = nx.max(ny);
    let natural = if line || in_space {
        None
    } else if longer <= NATURAL {
        Some([nx, ny].map(|n| n * (NATURAL / longer)))
    } else {
        Some([nx, ny].map(|n| n.div_ceil(longer.div_ceil(NATURAL))))
    };
    if let (None, Some([width, height])) = (look.size, natural) {
        let unit = unit_of([width, height]);
        let room = margins(unit, Some(width), 0);
        let field = Rect::new(room.left, room.top, width, height);
        // A wheel and its legend need some height of their own.
        let least = if look.overlay { overlay::ceil(unit * 9.0) } else { 0 };
        let canvas = [
            width + room.left + room.right,
            (height + room.top + room.bottom).max(least),
        ];
        if look.overlay && is_upright(canvas) {
            return Ok(upright::around([width, height]));
        }
        return Ok((canvas, field, unit));
    }
    let [width, height] = look.size.unwrap_or(if in_space { SPACE } else { GRAPH });
    if width.max(height) > MOST {
        return Err(LookError::TooLarge {
            width,
            height,
            most: MOST,
        });
    }
    if look.overlay && !line && is_upright([width, height]) && width >= upright::LEAST {
        let sites = if in_space { [1, 1] } else { [nx, ny] };
        let (unit, mut field) = upright::layout([width, height], sites);
        if in_space {
            // Axes and their numbers stand beside the box.
            let beside = overlay::ceil(BESIDE * unit);
            field.x += beside;
            field.width = field.width.saturating_sub(2 * beside).max(1);
        }
        return Ok(([width, height], field, unit));
    }
    // Where one side is far longer than the other, words that fit its length would fill the shorter one.
    let most = overlay::pixel(width.min(height)) / 20.0;
    let unit = unit_of([width, height]).min(most.max(9.0));
    let room = margins(unit, None, width);
    let least = if line || look.overlay { upright::LEAST } else { 16 };
    if width.min(height) < least {
        return Err(LookError::TooSmall { width, height, least });
    }
    let inside = room.inside(width, height);
    let field = if line || in_space {
        inside
    } else {
        fitted(inside, [nx, ny])
    };
    Ok(([width, height], field, unit))
}

/// Units of text from the lower edge of a field or of a graph's axes to where its notes begin.
pub(super) fn note_begins(line: bool) -> f32 {
    if line { 2.9 } else { 0.8 }
}

/// Units of text from the lower edge of a field or of a graph's axes to where a note of so many lines ends.
pub(super) fn note_height(line: bool, lines: usize) -> f32 {
    note_begins(line) + 0.8 + 1.4 * overlay::pixel(lines)
}

/// Lines of a note below the field in a width of so many pixels.
pub(super) fn note_lines(words: &str, across: f32, unit: f32) -> usize {
    super::cards::wrapped(Theme::light().title(unit), words, across).len()
}

/// The largest rectangle of the field's proportions in `room`, in its middle.
fn fitted(room: Rect, [nx, ny]: [usize; 2]) -> Rect {
    let wide = room.width * ny <= room.height * nx;
    let (width, height) = if wide {
        (
            room.width,
            ((2 * room.width * ny + nx) / (2 * nx)).clamp(1, room.height),
        )
    } else {
        (
            ((2 * room.height * nx + ny) / (2 * ny)).clamp(1, room.width),
            room.height,
        )
    };
    Rect {
        x: room.x + (room.width - width) / 2,
        y: room.y + (room.height - height) / 2,
        width,
        height,
    }
}

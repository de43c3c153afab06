//! What the window shows of the run: view, colours, line cut. Nothing here changes the simulation.

use super::camera::Camera;
use super::canvas::RangeKey;
use super::tools::Tools;
use crate::colormap::Levels;
use crate::engine::RangeKeeper;
use crate::scene::scenario::ColorRange;
use crate::solver::ImageRequest;

/// Along which axis the field is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// A row: y fixed.
    #[default]
    Row,
    /// A column: x fixed.
    Column,
}

/// The state of the view.
#[derive(Debug)]
pub struct ViewState {
    /// Pan and zoom.
    pub camera: Camera,
    /// The plane of a 3D field.
    pub plane: usize,
    /// What the pointer does.
    pub tools: Tools,
    /// Square root of the brightness scale.
    pub root: bool,
    /// Shows potential and walls.
    pub show_medium: bool,
    /// Shows the detectors' regions.
    pub show_detectors: bool,
    /// Direction of the line cut.
    pub cut: Cut,
    /// Place of the cut in sites.
    pub cut_at: f64,
    /// What the worker was asked for last.
    pub asked: Option<ImageRequest>,
    /// Keeps the colour range.
    pub range: RangeKeeper,
    /// The colour range of the picture shown.
    pub levels: Levels,
    /// The picture and range mode that `levels` belongs to.
    pub shown: Option<(u64, RangeKey)>,
    /// When it was shown first, in seconds of the window's clock.
    pub shown_at: f64,
}

impl Default for ViewState {
    fn default() -> Self {
        Self {
            camera: Camera::default(),
            plane: 0,
            tools: Tools::default(),
            root: false,
            show_medium: true,
            show_detectors: true,
            cut: Cut::Row,
            cut_at: 0.0,
            asked: None,
            range: RangeKeeper::new(ColorRange::Auto),
            levels: Levels { low: 0.0, high: 0.0 },
            shown: None,
            shown_at: 0.0,
        }
    }
}

impl ViewState {
    /// Another scene: the whole grid, its middle plane, a cut through the middle.
    pub fn start_over(&mut self, size: [usize; 3]) {
        self.camera = Camera::default();
        self.plane = size[2] / 2;
        self.cut = Cut::Row;
        self.cut_at = size[1] as f64 / 2.0;
        self.asked = None;
        self.range.reset();
        self.shown = None;
    }

    /// Exponent of the brightness scale.
    #[must_use]
    pub fn gamma(&self) -> f32 {
        if self.root { 0.5 } else { 1.0 }
    }
}

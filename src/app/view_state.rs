//! What the window shows of the run: view, colours, line cut. Nothing here changes the simulation.

use super::camera::Camera;
use super::canvas::RangeKey;
use super::overlay::{self, Room};
use super::refine::Refinement;
use super::tools::Tools;
use crate::colormap::Levels;
use crate::engine::RangeKeeper;
use crate::export::look::sites_of;
use crate::scene::Scenario;
use crate::scene::file::ViewFile;
use crate::scene::scenario::{Brightness, ColorRange, Orbit, ViewMode};
use crate::solver::{ImageRequest, VolumeRequest};

/// Along which axis the field is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// A row: y fixed.
    #[default]
    Row,
    /// A column: x fixed.
    Column,
}

/// What the worker is asked to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The picture: the field, or a plane of it.
    pub image: ImageRequest,
    /// The volume, where one is shown.
    pub volume: Option<VolumeRequest>,
}

/// The state of the view.
#[derive(Debug)]
pub struct ViewState {
    /// Pan and zoom.
    pub camera: Camera,
    /// Where the slices of a 3D field stand, in sites; the last is the plane.
    pub slices: [usize; 3],
    /// From where a 3D field is looked at.
    pub orbit: Orbit,
    /// Whether the camera goes the scene's path.
    pub follows: bool,
    /// How finely it is drawn.
    pub refinement: Refinement,
    /// What the pointer does.
    pub tools: Tools,
    /// How brightness grows with a value.
    pub brightness: Brightness,
    /// Shows potential and walls.
    pub show_medium: bool,
    /// Shows the detectors' regions.
    pub show_detectors: bool,
    /// Shows a small chart beside each probe.
    pub show_charts: bool,
    /// Shows what theory says, and notes.
    pub show_theory: bool,
    /// Direction of the line cut.
    pub cut: Cut,
    /// Place of the cut in sites.
    pub cut_at: f64,
    /// What the worker was asked for last.
    pub asked: Option<Wanted>,
    /// Keeps the colour range.
    pub range: RangeKeeper,
    /// The colour range of the picture shown.
    pub levels: Levels,
    /// The picture and range mode that `levels` belongs to.
    pub shown: Option<(u64, RangeKey)>,
    /// When it was shown first, in seconds of the window's clock, and the step it shows.
    pub shown_at: (f64, u64),
    /// Place and value under the pointer, for the status line: names with values.
    pub read_out: Vec<(String, String)>,
    /// Where a note of the scene stands over the picture.
    pub note: Option<egui::Rect>,
    /// Where the field's picture stands.
    pub picture: egui::Rect,
    /// The room that it has, beside the tools.
    pub area: egui::Rect,
    /// Between the axes of a graph, or of two; nothing where the picture is none.
    pub graph: egui::Rect,
}

/// Seconds for which a pointer at rest is told over a picture that stands alone.
const LINGERS: f32 = 5.0;

impl Default for ViewState {
    fn default() -> Self {
        Self {
            camera: Camera::default(),
            slices: [0; 3],
            orbit: Orbit::default(),
            follows: false,
            refinement: Refinement::default(),
            tools: Tools::default(),
            brightness: Brightness::Linear,
            show_medium: true,
            show_detectors: true,
            show_charts: false,
            show_theory: true,
            cut: Cut::Row,
            cut_at: 0.0,
            asked: None,
            range: RangeKeeper::new(ColorRange::Auto),
            levels: Levels { low: 0.0, high: 0.0 },
            shown: None,
            shown_at: (0.0, 0),
            read_out: Vec::new(),
            note: None,
            picture: egui::Rect::NOTHING,
            area: egui::Rect::NOTHING,
            graph: egui::Rect::NOTHING,
        }
    }
}

impl ViewState {
    /// Another scene: the whole grid, the planes and the camera that it names, a cut through the middle.
    pub fn start_over(&mut self, scenario: &Scenario) {
        let grid = scenario.grid();
        let size = grid.size();
        self.camera = Camera::default();
        if let Some(corners) = scenario.view().region {
            self.camera.fit_part(sites_of(scenario, corners));
        }
        self.orbit = scenario.view().camera;
        self.follows = !scenario.cameras().is_empty();
        self.slices = size.map(|sites| sites / 2);
        if let Some(lengths) = scenario.view().slices {
            self.slices = std::array::from_fn(|axis| {
                let site = (lengths[axis] / grid.spacing()).round().max(0.0) as usize;
                site.min(size[axis] - 1)
            });
        }
        self.cut = Cut::Row;
        self.cut_at = middle(size[1]);
        self.asked = None;
        self.range.reset();
        self.shown = None;
    }

    /// Shows what another view shows: the same part of a plane of so many sites, from the same side, in the same colours.
    pub fn show_as(&mut self, other: &Self, sites: [usize; 2]) {
        self.camera = other.camera;
        if !other.camera.fits() && other.area.is_positive() {
            self.camera.fit_part(other.camera.seen(other.area, sites));
        }
        self.slices = other.slices;
        self.orbit = other.orbit;
        self.brightness = other.brightness;
        self.show_medium = other.show_medium;
        self.show_detectors = other.show_detectors;
        self.show_charts = other.show_charts;
        self.show_theory = other.show_theory;
        (self.cut, self.cut_at) = (other.cut, other.cut_at);
        self.range.clone_from(&other.range);
        self.levels = other.levels;
        (self.shown, self.shown_at) = (other.shown, other.shown_at);
    }

    /// Has the camera go the scene's path, where it has one and nobody has turned it by hand.
    pub fn follow_path(&mut self, scenario: &Scenario, t: f64) {
        // The scene that still runs while another is made ready has no say in that one's path.
        if self.follows && !scenario.cameras().is_empty() {
            self.orbit = scenario.camera_at(t);
        }
    }

    /// Place and value under the pointer: in the status line, or in a corner over the picture where that stands alone, until the pointer has rested for
    /// [`LINGERS`].
    pub fn tell(
        &mut self,
        painter: &egui::Painter,
        (room, corner): (Room, egui::Align2),
        fields: Vec<(String, String)>,
        bare: bool,
    ) {
        if bare {
            // In a lecture hall nobody looks for what a pointer that was left lying points at.
            let left = LINGERS - painter.ctx().input(|input| input.pointer.time_since_last_movement());
            if left > 0.0 {
                overlay::fields(painter, (room, corner), self.note, &fields);
                painter.ctx().request_repaint_after_secs(left);
            }
        }
        self.read_out = fields;
    }

    /// The plane of a 3D field.
    #[must_use]
    pub fn plane(&self) -> usize {
        self.slices[2]
    }

    /// The whole box in view, from where it is looked at.
    pub fn fit_in_space(&mut self) {
        self.orbit.zoom = 1.0;
        self.orbit.target = None;
    }

    /// Writes camera and slices into a scene that is to be saved, where it is shown so that it has them.
    pub fn write_into(&self, file: &mut ViewFile, scenario: &Scenario) {
        let grid = scenario.grid();
        if grid.rank() != 3 && file.mode != ViewMode::Relief {
            return;
        }
        // Thousandths of a degree, so that the file has no needless digits.
        let short = |value: f64| (value * 1000.0).round() / 1000.0;
        let camera = Orbit {
            azimuth: short(self.orbit.azimuth),
            elevation: short(self.orbit.elevation),
            zoom: short(self.orbit.zoom),
            target: self.orbit.target,
        };
        // On its path the camera is nowhere for long.
        if !self.follows {
            file.camera = (camera != Orbit::default()).then_some(camera);
        }
        if grid.rank() != 3 {
            return;
        }
        let middle = grid.size().map(|sites| sites / 2);
        file.slices = if self.slices == middle {
            Vec::new()
        } else {
            self.slices.iter().map(|site| *site as f64 * grid.spacing()).collect()
        };
    }

    /// Exponent of the brightness scale.
    #[must_use]
    pub fn gamma(&self) -> f32 {
        self.brightness.exponent()
    }
}

/// Where a cut stands first across so many sites; of two in the first of them, as it could not stand between them.
#[must_use]
pub fn middle(sites: usize) -> f64 {
    if sites == 2 { 0.5 } else { sites as f64 / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::{Room, ViewState};
    use crate::scene::presets;
    use crate::solver;

    /// What the lesson of the free packet is about stays in view until it ends: three standard deviations about the mean.
    #[test]
    fn the_free_packet_stays_in_view() {
        let preset = presets::find("free-packet").unwrap();
        let (file, _) = solver::read_scene_text(preset.text, None, &[]).unwrap();
        let [min, max] = file.view.region.clone().unwrap();
        let told = |name: &str| {
            let mut expectations = file.expectations.iter();
            expectations
                .find(|one| one.observable.as_deref() == Some(name))
                .unwrap()
                .value
        };
        let packet = &file.packets[0];
        let at_end = [[told("x"), told("spread_x")], [packet.center[1], told("spread_y")]];
        for (axis, [mean, spread]) in at_end.into_iter().enumerate() {
            let start = packet.center[axis] - 3.0 * packet.width[axis];
            let low = start.min(mean - 3.0 * spread);
            assert!(low >= min[axis] && mean + 3.0 * spread <= max[axis], "axis {axis}");
        }
    }

    #[test]
    fn a_pointer_at_rest_is_told_over_a_bare_picture_for_a_while() {
        let ctx = egui::Context::default();
        crate::app::theme::install(&ctx);
        let area = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(400.0, 300.0));
        let mut view = ViewState::default();
        let mut told = |time: f64, moves: bool| {
            let to = egui::pos2(200.0, 100.0 + time as f32);
            let input = egui::RawInput {
                screen_rect: Some(area),
                time: Some(time),
                events: moves.then_some(egui::Event::PointerMoved(to)).into_iter().collect(),
                ..egui::RawInput::default()
            };
            let mut output = ctx.run_ui(input, |ui| {
                let fields = vec![("x".to_owned(), "12.5 m".to_owned())];
                let place = (Room::free(area), egui::Align2::RIGHT_BOTTOM);
                view.tell(ui.painter(), place, fields, true);
            });
            output.textures_delta.clear();
            crate::app::theme::texts(&output.shapes)
                .iter()
                .any(|(text, _)| text == "12.5 m")
        };
        assert!(told(1.0, true) && told(3.0, false));
        assert!(!told(9.0, false), "it rests");
        assert!(told(10.0, true), "it moves again");
        assert_eq!(view.read_out.len(), 1, "the status line has it in any case");
    }
}

//! The tool that places transducers: pressed and dragged, a ring or a row of as many as wanted; clicked, one by one. Along a line a drag places two, on either side of where it began, and a
//! click one.

use super::camera::Camera;
use super::number::tidy;
use super::theme::over_picture;
use super::tools::Ground;
use super::widgets::choice;
use crate::engine::MirrorFrame;
use crate::grid::Grid;
use crate::physics::MirrorMethod;
use crate::physics::mirror::Drive;
use crate::scene::SceneFile;
use crate::scene::file::{MirrorFile, TransducersFile};
use egui::{DragValue, Painter, Pos2, Rect, Stroke, Ui};

/// Most transducers that are marked in the picture.
const MARKS: usize = 512;

/// What a drag makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A ring around where it was pressed.
    #[default]
    Ring,
    /// A row from there to where it is let go.
    Row,
    /// One transducer a click, beside those that are there.
    Points,
}

/// The tool's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placing {
    /// What a drag makes.
    pub form: Form,
    /// How many transducers.
    pub count: usize,
}

impl Default for Placing {
    fn default() -> Self {
        Self {
            form: Form::Ring,
            count: 64,
        }
    }
}

/// What a drag from one site to another leaves; `None` where it is too short to be meant.
#[must_use]
pub fn placed(placing: Placing, ground: &Ground<'_>, from: [f64; 2], to: [f64; 2]) -> Option<TransducersFile> {
    let way = (to[0] - from[0]).hypot(to[1] - from[1]);
    let count = placing.count.max(1);
    let form = match (ground.rank(), way < 2.0) {
        (1, true) => Form::Points,
        (1, false) => Form::Ring,
        _ => placing.form,
    };
    match form {
        Form::Ring if way >= 2.0 => Some(TransducersFile::Ring {
            center: ground.point(from),
            radius: tidy(way * ground.spacing),
            count,
        }),
        Form::Row if way >= 1.0 => Some(TransducersFile::Line {
            from: ground.point(from),
            to: ground.point(to),
            count,
        }),
        Form::Points => {
            let mirror = ground.file.mirror.as_ref();
            let mut points = match mirror.and_then(|mirror| mirror.transducers.as_ref()) {
                Some(TransducersFile::Points { points }) => points.clone(),
                _ => Vec::new(),
            };
            points.push(ground.point(from));
            Some(TransducersFile::Points { points })
        }
        Form::Ring | Form::Row => None,
    }
}

/// Gives a scene these transducers; a scene without a mirror gets one that turns time in the middle of the scene.
pub fn apply(file: &mut SceneFile, transducers: TransducersFile) {
    let mirror = file.mirror.get_or_insert_with(|| fresh(file.time.end));
    if mirror.method == MirrorMethod::Echo {
        mirror.method = MirrorMethod::Reversal;
    }
    mirror.transducers = Some(transducers);
}

/// A mirror for a scene that ends then.
#[must_use]
pub fn fresh(end: Option<f64>) -> MirrorFile {
    MirrorFile {
        method: MirrorMethod::Echo,
        at: end.map_or(1.0, |end| tidy(end / 2.0)),
        transducers: None,
        playing: None,
        record: None,
        noise: 0.0,
        perturbation: Vec::new(),
        keep_flux: false,
        seed: 1,
        drive: Drive::Hard,
        regularization: None,
    }
}

/// The tool's settings, over the picture.
pub fn settings(ui: &mut Ui, placing: &mut Placing) {
    let all = [
        (Form::Ring, "ring", "Press in its middle and drag to its rim."),
        (Form::Row, "row", "Press at one end and drag to the other."),
        (Form::Points, "one by one", "Click where each shall stand."),
    ];
    ui.scope(|ui| {
        ui.set_max_width(120.0);
        let all = all.map(|(form, title, about)| (form, title.to_owned(), about.to_owned()));
        choice(ui, "What the drag places", &mut placing.form, all);
    });
    if placing.form != Form::Points {
        let count = DragValue::new(&mut placing.count).speed(0.2).range(1..=4096);
        ui.add(count.suffix(" transducers"))
            .accessible_name("Number of transducers")
            .on_hover_text("Half a wavelength apart or closer, or other spots appear beside the focus. A perfect inverse filter closes the ring by itself.");
    }
}

/// The ring or row under way.
pub fn draw(painter: &Painter, camera: &Camera, area: Rect, form: Form, from: [f64; 2], pointer: Pos2) {
    let start = camera.point_at(area, from);
    let stroke = Stroke::new(1.5, over_picture());
    match form {
        Form::Ring => {
            painter.circle_stroke(start, start.distance(pointer), stroke);
        }
        Form::Row => {
            painter.line_segment([start, pointer], stroke);
        }
        Form::Points => {}
    }
}

/// The transducers of a run, in the plane that is shown.
pub fn marks(painter: &Painter, area: Rect, camera: &Camera, grid: &Grid, mirror: &MirrorFrame, plane: usize) {
    let sites = mirror.marked();
    let stride = sites.len().div_ceil(MARKS).max(1);
    for site in sites.iter().step_by(stride) {
        let [i, j, k] = grid.site(*site);
        if grid.rank() == 3 && k != plane {
            continue;
        }
        let at = camera.point_at(area, [i as f64 + 0.5, j as f64 + 0.5]);
        if area.contains(at) {
            painter.circle_filled(at, 2.5, egui::Color32::from_black_alpha(160));
            painter.circle_filled(at, 1.75, over_picture());
        }
    }
}

//! The tool that places transducers: pressed and dragged, a ring or a row of as many as wanted; clicked, one by one. Along a line a drag places two, on either side of where it began, and a
//! click one.

use super::camera::Camera;
use super::number::tidy;
use super::theme::over_picture;
use super::tools::Ground;
use super::widgets::choice;
use crate::engine::MirrorFrame;
use crate::export::marks::some;
use crate::grid::Grid;
use crate::physics::MirrorMethod;
use crate::physics::mirror::Drive;
use crate::scene::SceneFile;
use crate::scene::file::{MirrorFile, PacketFile, TransducersFile};
use egui::{DragValue, Painter, Pos2, Rect, Stroke, Ui};

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

/// Gives a scene these transducers; a scene without a mirror gets one.
pub fn apply(file: &mut SceneFile, transducers: TransducersFile) {
    let at = turn(file);
    let mirror = file.mirror.get_or_insert_with(|| fresh(at));
    if mirror.method == MirrorMethod::Echo {
        mirror.method = MirrorMethod::Reversal;
    }
    mirror.transducers = Some(transducers);
}

/// When a mirror that is added to a scene turns time: in the middle of the scene; where that has no end, once its wave has crossed half of the grid.
#[must_use]
pub fn turn(file: &SceneFile) -> f64 {
    if let Some(end) = file.time.end {
        return tidy(end / 2.0);
    }
    let spacing = file.grid.spacing;
    let longest = file.grid.size.iter().copied().max().unwrap_or(0) as f64 * spacing;
    let speed = match (&file.acoustic, &file.quantum) {
        (Some(acoustic), _) => acoustic.speed,
        (None, Some(quantum)) => {
            let of_lattice = || quantum.hopping.map(|hopping| 0.5 / (hopping * spacing * spacing));
            let mass = quantum.mass.or_else(of_lattice).unwrap_or(1.0);
            // |k|, and what a packet at rest spreads by, 1/2w.
            let momentum = |packet: &PacketFile| {
                let k = packet.momentum.iter().map(|k| k * k).sum::<f64>().sqrt();
                k + 0.5 / packet.width.iter().copied().fold(f64::INFINITY, f64::min)
            };
            file.packets.iter().map(momentum).fold(0.0, f64::max) / mass
        }
        (None, None) => 0.0,
    };
    let time = tidy(longest / (2.0 * speed));
    if time > 0.0 && time.is_finite() { time } else { 1.0 }
}

/// A mirror that turns time at `at`.
#[must_use]
pub fn fresh(at: f64) -> MirrorFile {
    MirrorFile {
        method: MirrorMethod::Echo,
        at,
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
    for site in some(mirror.marked()) {
        let [i, j, k] = grid.site(site);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Time is turned while the wave is between the middle of the grid and its end, and not before it has moved.
    #[test]
    fn a_mirror_of_a_scene_without_an_end_turns_time_once_the_wave_has_run() {
        let scene = |more: &str| {
            let text = format!("format = 1\n[grid]\nsize = [400, 100]\nspacing = 0.5\n{more}");
            crate::solver::read_scene_text(&text, None, &[]).unwrap().0
        };
        let packet = "[[packet]]\ncenter = [60.0, 20.0]\nwidth = [5.0, 5.0]\n";
        // Half of 200 at k/m = 0.9 + 0.1, with what the packet's spread adds; at 340 m/s.
        let quantum = scene(&format!("[quantum]\nmass = 1.0\n{packet}momentum = [0.9, 0.0]\n"));
        assert!((turn(&quantum) - 100.0).abs() < 1e-9, "{}", turn(&quantum));
        // The same mass: J = 1/(2 m a²) = 2.
        let lattice = scene(&format!("[quantum]\nhopping = 2.0\n{packet}momentum = [0.0, 0.9]\n"));
        assert!((turn(&lattice) - 100.0).abs() < 1e-9, "{}", turn(&lattice));
        let pulse = "[[pulse]]\ncenter = [50.0, 20.0]\nwidth = 2.0\n";
        let sound = scene(&format!("[acoustic]\nspeed = 340.0\n{pulse}"));
        assert!((turn(&sound) - 0.294).abs() < 1e-9, "{}", turn(&sound));
        let ends = scene(&format!("[acoustic]\nspeed = 340.0\n{pulse}[time]\nend = 0.1\n"));
        assert!((turn(&ends) - 0.05).abs() < 1e-9);
        let mut placed = quantum.clone();
        apply(
            &mut placed,
            TransducersFile::Points {
                points: vec![vec![10.0, 10.0]],
            },
        );
        assert_eq!(placed.mirror.map(|mirror| mirror.at), Some(turn(&quantum)));
    }
}

//! The centre of the window: the picture of the field, the plane's slider, banners.

mod banner;
mod pair;

use super::compare::Second;
use super::document::Document;
use super::history::History;
use super::overlay::Legend;
use super::pictures::{Bar, Pictures};
use super::theme;
use super::units::{Unit, Units};
use super::view_state::{ViewState, Wanted};
use super::widgets::to_ends;
use super::{field_view, graph_view, relief_view, space_view, toolbar, view_panel};
use crate::engine::{Frame, Status, shown_quantity};
use crate::export::overlay::sign;
use crate::render::medium::MediumImage;
use crate::scene::scenario::{ColorRange, Quantity, ViewMode};
use crate::scene::{Scenario, SceneFile};
use crate::solver::{ImageRequest, VolumeRequest};
use crate::space::{MediumVolume, Mode, relief};
use banner::banners;
use egui::{Align2, Rect, Ui};
use pair::pair;

/// What the centre is drawn from.
pub struct Canvas<'a> {
    /// The run.
    pub frame: &'a Frame,
    /// A second run beside it, or the difference.
    pub second: Option<Second<'a>>,
    /// The draft, for colours and quantity.
    pub document: &'a Document,
    /// The medium over the field.
    pub medium: &'a MediumImage,
    /// The same in space.
    pub space: &'a MediumVolume,
    /// What the detectors recorded.
    pub history: &'a History,
    /// The panels are hidden.
    pub bare: bool,
    /// Pixels a site by which it is decided whether phases can be seen as hues; `None` = those of this picture.
    pub scale: Option<f32>,
    /// An audience looks on that cannot zoom.
    pub lecture: bool,
}

impl Canvas<'_> {
    fn rank(&self) -> usize {
        let scenario = self.frame.scenario.as_deref();
        scenario.map_or(2, |scenario| scenario.grid().rank())
    }

    /// What a picture of a run is drawn from, where it is the only one.
    fn sources<'a>(
        &'a self,
        render: Option<field_view::Device<'a>>,
        (frame, scenario): (&'a Frame, &'a Scenario),
        legend: Legend<'a>,
        units: Units,
    ) -> field_view::Sources<'a> {
        field_view::Sources {
            render,
            frame,
            scenario,
            draft: &self.document.draft,
            legend,
            medium: self.medium,
            units,
            history: self.history,
            bare: self.bare,
            passive: false,
            untold: false,
            difference: None,
        }
    }
}

/// The quantity that the worker is asked for: graphs want |ψ| with its phase, and draw |ψ|² coloured by it.
fn asked_quantity(document: &Document, rank: usize) -> Quantity {
    let quantity = view_panel::quantity(&document.draft);
    if rank == 1 && quantity == Quantity::Density {
        Quantity::Phase
    } else {
        quantity
    }
}

/// A plane as a relief.
fn in_relief(
    ui: &mut Ui,
    canvas: &Canvas<'_>,
    scenario: &Scenario,
    view: &mut ViewState,
    (legend, quantity): (Legend, Quantity),
) -> Wanted {
    let frame = canvas.frame;
    let area = ui.available_rect_before_wrap();
    let nothing = MediumImage::default();
    let shown = view.show_medium && quantity != Quantity::Momentum;
    let sources = relief_view::Sources {
        frame,
        scenario,
        legend,
        medium: if shown { canvas.medium } else { &nothing },
        units: Units::of(scenario, frame.clock.time_step),
    };
    relief_view::show(ui, view, &sources);
    banners(ui, area, frame, canvas.document);
    let image = relief::request(scenario.grid().size(), quantity, relief_view::MOST);
    Wanted { image, volume: None }
}

/// A line as a graph.
fn as_graph(
    ui: &mut Ui,
    canvas: &Canvas<'_>,
    scenario: &Scenario,
    view: &mut ViewState,
    pictures: Option<&Pictures>,
    quantity: Quantity,
) -> Wanted {
    let (area, frame) = (ui.max_rect(), canvas.frame);
    let sources = graph_view::Sources {
        render: pictures.map(|pictures| (&pictures.render, &pictures.curve)),
        frame,
        scenario,
        draft: (!canvas.bare).then_some(&canvas.document.draft),
        medium: canvas.medium,
        title: graph_title(&canvas.document.draft),
        asks_for_phase: view_panel::quantity(&canvas.document.draft) == Quantity::Phase
            && !view_panel::no_hues(scenario, canvas.lecture).is_empty(),
        levels: view.levels,
        units: Units::of(scenario, frame.clock.time_step),
        difference: None,
    };
    graph_view::show(ui, view, &sources);
    let strip = graph_view::strip(graph_view::plot_area(area));
    banners(ui, area, frame, canvas.document);
    let scale = ui.ctx().pixels_per_point();
    let image = (view.camera).request(strip, scale, [scenario.grid().size()[0], 1], 0, quantity);
    Wanted { image, volume: None }
}

/// Shows the centre; returns what the worker shall show from now on.
pub fn show(
    ui: &mut Ui,
    canvas: &Canvas<'_>,
    view: &mut ViewState,
    mut pictures: Option<&mut Pictures>,
    bar: &mut Bar,
) -> Option<Wanted> {
    let area = ui.max_rect();
    let light = !ui.visuals().dark_mode;
    // Until there is a picture the ground is that of the theme.
    theme::set_paper(light);
    let frame = canvas.frame;
    // Drawn once it is known on what ground the picture stands.
    let ground = ui.painter().add(egui::Shape::rect_filled(area, 0.0, theme::canvas()));
    let Some(scenario) = &frame.scenario else {
        waiting(ui, area);
        return None;
    };
    if frame.image.value.is_empty() && frame.status == Status::Starting {
        waiting(ui, area);
        return None;
    }
    let rank = scenario.grid().rank();
    update_levels(ui, view, canvas, scenario);
    view.read_out.clear();
    view.note = None;
    view.graph = egui::Rect::NOTHING;
    let asked = asked_quantity(canvas.document, rank);
    let flat = rank > 1 && canvas.document.draft.view.mode == ViewMode::Plane;
    let quantity = if flat {
        let own = view.camera.scale() * ui.ctx().pixels_per_point();
        shown_quantity(scenario, asked, f64::from(canvas.scale.unwrap_or(own)))
    } else {
        asked
    };
    // A graph of |ψ|² has the map of its file's quantity.
    let mapped = if rank == 1 {
        view_panel::quantity(&canvas.document.draft)
    } else {
        quantity
    };
    let map = view_panel::map(&canvas.document.draft, mapped, light);
    // The map of a graph only fills below its line: the ground is free.
    theme::set_paper(light && (rank == 1 || map.is_light()));
    ui.painter()
        .set(ground, egui::Shape::rect_filled(area, 0.0, theme::canvas()));
    let texture = bar.texture(ui.ctx(), map);
    let units = Units::of(scenario, frame.clock.time_step);
    let short = sign(quantity, scenario.model().equation());
    let legend = Legend {
        map,
        texture,
        levels: view.levels,
        gamma: view.gamma(),
        title: view_panel::title(&canvas.document.draft, quantity),
        short,
        note: if view.range.is_held() {
            "faint: the range ends at 1 % of the largest amplitude so far"
        } else if quantity != asked {
            view_panel::no_hues(scenario, canvas.lecture)
        } else {
            ""
        },
    };
    if let Some(mode) = mode(canvas.document, scenario) {
        return Some(in_space(ui, canvas, scenario, view, pictures, (mode, legend)));
    }
    if rank == 2 && canvas.document.draft.view.mode == ViewMode::Relief {
        return Some(in_relief(ui, canvas, scenario, view, (legend, quantity)));
    }
    if let Some(pictures) = pictures.as_deref_mut() {
        pictures.take_map(map, quantity == Quantity::Phase);
        pictures.take(frame, rank);
    }
    let size = scenario.grid().size();
    let scale = ui.ctx().pixels_per_point();
    if let Some(second) = &canvas.second {
        let image = pair(ui, canvas, view, (pictures, bar), (legend, *second), quantity);
        return Some(Wanted { image, volume: None });
    }
    let pictures = pictures.map(|pictures| &*pictures);
    if rank == 1 {
        return Some(as_graph(ui, canvas, scenario, view, pictures, quantity));
    }
    if rank == 3 {
        plane_slider(ui, view, scenario, units.length);
    }
    let has_tools = !canvas.bare && quantity != Quantity::Momentum;
    if has_tools {
        toolbar::show(ui, &mut view.tools, &canvas.document.draft);
    }
    let picture_area = ui.available_rect_before_wrap();
    let render = pictures.map(|pictures| (&pictures.render, &pictures.field, &pictures.medium));
    let sources = canvas.sources(render, (frame, scenario), legend, units);
    field_view::show(ui, view, &sources);
    if has_tools {
        toolbar::settings(ui, picture_area, &mut view.tools, &canvas.document.draft);
    }
    banners(ui, picture_area, frame, canvas.document);
    let plane = view.plane().min(size[2] - 1);
    let image = view
        .camera
        .request(picture_area, scale, [size[0], size[1]], plane, quantity);
    Some(Wanted { image, volume: None })
}

/// The mode in space that the scene is shown in; `None` for a plane.
fn mode(document: &Document, scenario: &Scenario) -> Option<Mode> {
    Mode::of(document.draft.view.mode).filter(|_| scenario.grid().rank() == 3)
}

/// Most texels of a volume along its longest side: on graphics hardware; in software at rest, and while it runs.
const TEXELS: [usize; 3] = [256, 192, 96];

/// Texels of the plane that the line cut is taken from while the field is shown in space.
const CUT_TEXELS: usize = 512;

/// Shows the field in its box.
fn in_space(
    ui: &mut Ui,
    canvas: &Canvas<'_>,
    scenario: &Scenario,
    view: &mut ViewState,
    mut pictures: Option<&mut Pictures>,
    (mode, legend): (Mode, Legend<'_>),
) -> Wanted {
    let frame = canvas.frame;
    if let Some(pictures) = pictures.as_deref_mut() {
        pictures.take_volume(frame);
    }
    let [hardware, resting, running] = TEXELS;
    let most = match &pictures {
        Some(pictures) if pictures.is_software() && frame.status == Status::Running => running,
        Some(pictures) if pictures.is_software() => resting,
        _ => hardware,
    };
    let area = ui.available_rect_before_wrap();
    let nothing = MediumVolume::default();
    let draft = &canvas.document.draft.view;
    let sources = space_view::Sources {
        frame,
        scenario,
        mode,
        legend,
        medium: if view.show_medium { canvas.space } else { &nothing },
        units: Units::of(scenario, frame.clock.time_step),
        opacity: &draft.opacity.points(),
        shading: draft.shading,
        bare: canvas.bare,
    };
    space_view::show(ui, view, pictures, &sources);
    banners(ui, area, frame, canvas.document);
    let quantity = asked_quantity(canvas.document, 3);
    let sites = scenario.grid().size();
    let [nx, ny, nz] = sites;
    Wanted {
        image: ImageRequest::new(quantity, [0..nx, 0..ny], view.plane().min(nz - 1), [CUT_TEXELS; 2]),
        volume: Some(VolumeRequest { quantity, sites, most }),
    }
}

fn graph_title(file: &SceneFile) -> &'static str {
    match view_panel::quantity(file) {
        Quantity::Density | Quantity::Phase => "|ψ|²",
        other => view_panel::title(file, other),
    }
}

/// The colour range of the picture shown, once per new picture.
fn update_levels(ui: &Ui, view: &mut ViewState, canvas: &Canvas<'_>, scenario: &Scenario) {
    let rank = scenario.grid().rank();
    let range = canvas.document.draft.view.range;
    view.brightness = canvas.document.draft.view.brightness;
    view.range.set_mode(range);
    let now = ui.input(|input| input.time);
    let serial = canvas.frame.image_serial;
    let changed = view.shown != Some((serial, RangeKey::of(range)));
    if !changed || canvas.frame.image.value.is_empty() {
        return;
    }
    // A run that waits keeps its range, whatever part of it is looked at.
    let steps = canvas.frame.clock.steps;
    let seconds = if steps == view.shown_at.1 {
        0.0
    } else {
        (now - view.shown_at.0).clamp(0.0, 1.0) as f32
    };
    let mirror = canvas.frame.mirror.as_ref();
    view.range
        .set_playing(mirror.is_some_and(|mirror| mirror.status.plays()));
    view.levels = match (&canvas.frame.volume, mode(canvas.document, scenario)) {
        (Some(volume), Some(_)) => view.range.levels_of(volume.quantity, volume.top, seconds),
        _ => view.range.levels(&canvas.frame.image, seconds),
    };
    // A graph is asked for as |ψ|; its range by hand is meant as |ψ|².
    if rank == 1 && canvas.frame.image.quantity == Some(Quantity::Phase) && matches!(range, ColorRange::Fixed(..)) {
        view.levels.high = view.levels.high.max(0.0).sqrt();
        view.levels.low = 0.0;
    }
    view.shown = Some((serial, RangeKey::of(range)));
    view.shown_at = (now, steps);
}

/// A colour range that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeKey(u64, u64, u8);

impl RangeKey {
    fn of(range: ColorRange) -> Self {
        match range {
            ColorRange::Auto => Self(0, 0, 0),
            ColorRange::Locked => Self(0, 0, 1),
            ColorRange::Fixed(low, high) => Self(low.to_bits(), high.to_bits(), 2),
        }
    }
}

fn plane_slider(ui: &mut Ui, view: &mut ViewState, scenario: &Scenario, unit: Unit) {
    let grid = scenario.grid();
    let last = grid.size()[2] - 1;
    let plane = &mut view.slices[2];
    *plane = (*plane).min(last);
    egui::Panel::right("plane")
        .resizable(false)
        .exact_size(72.0)
        .frame(egui::Frame::new().fill(theme::palette(ui).panel).inner_margin(8))
        .show(ui, |ui| {
            ui.vertical_centered(|ui| {
                ui.label("z");
                ui.spacing_mut().slider_width = (ui.available_height() - 72.0).max(64.0);
                ui.name_inputs("Plane", |ui| {
                    let slider = ui.add(egui::Slider::new(plane, 0..=last).vertical().show_value(false));
                    to_ends(ui, &slider, plane, 0..=last);
                });
                ui.label(unit.show(*plane as f64 * grid.spacing(), 3));
                let text = format!("{} of {}", *plane + 1, last + 1);
                ui.label(egui::RichText::new(text).size(11.0).color(theme::palette(ui).weak));
            });
        });
}

fn waiting(ui: &Ui, area: Rect) {
    ui.painter().text(
        area.center(),
        Align2::CENTER_CENTER,
        "Preparing the scene…",
        egui::FontId::proportional(15.0),
        theme::marks().weak,
    );
}

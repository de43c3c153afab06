//! The centre of the window: the picture of the field, the plane's slider, banners.

use super::compare::{self, Second, Show};
use super::document::Document;
use super::history::History;
use super::overlay::Legend;
use super::pictures::{Bar, Pictures};
use super::theme;
use super::units::{Unit, Units};
use super::view_state::{ViewState, Wanted};
use super::widgets::to_ends;
use super::{field_view, graph_view, relief_view, space_view, toolbar, view_panel};
use crate::app::icon::Icon;
use crate::colormap::Kind;
use crate::engine::{Frame, Status, shown_quantity};
use crate::render::medium::MediumImage;
use crate::scene::scenario::{ColorRange, Quantity, ViewMode};
use crate::scene::{Fault, Scenario, SceneFile};
use crate::solver::{ImageRequest, VolumeRequest};
use crate::space::{MediumVolume, Mode, relief};
use egui::{Align2, Rect, Ui, vec2};

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
    /// Points a site by which it is decided whether phases can be seen as hues; `None` = those of this picture.
    pub scale: Option<f32>,
}

impl Canvas<'_> {
    fn rank(&self) -> usize {
        let scenario = self.frame.scenario.as_deref();
        scenario.map_or(2, |scenario| scenario.grid().rank())
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

/// Why a phase that is asked for is not shown.
#[must_use]
pub(super) fn no_hues(scenario: &Scenario) -> &'static str {
    if scenario.time().imaginary {
        "in imaginary time there is one phase everywhere"
    } else {
        "hues need 10 pixels per wavelength: zoom in for the phase"
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
    let image = relief::request(scenario.grid().size(), quantity, relief::MOST);
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
        asks_for_phase: view_panel::quantity(&canvas.document.draft) == Quantity::Phase,
        levels: view.levels,
        units: Units::of(scenario, frame.clock.time_step),
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
    theme::set_paper(false);
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
    let asked = asked_quantity(canvas.document, rank);
    let flat = rank > 1 && canvas.document.draft.view.mode == ViewMode::Plane;
    let quantity = if flat {
        shown_quantity(scenario, asked, f64::from(canvas.scale.unwrap_or(view.camera.scale())))
    } else {
        asked
    };
    // A graph of |ψ|² has the map of its file's quantity.
    let mapped = if rank == 1 {
        view_panel::quantity(&canvas.document.draft)
    } else {
        quantity
    };
    let light = !ui.visuals().dark_mode;
    let map = view_panel::map(&canvas.document.draft, mapped, light);
    // The map of a graph only fills below its line: the ground is free.
    theme::set_paper(light && (rank == 1 || map.is_light()));
    ui.painter()
        .set(ground, egui::Shape::rect_filled(area, 0.0, theme::canvas()));
    let texture = bar.texture(ui.ctx(), map);
    let units = Units::of(scenario, frame.clock.time_step);
    let legend = Legend {
        map,
        texture,
        levels: view.levels,
        gamma: view.gamma(),
        title: view_panel::title(&canvas.document.draft, quantity),
        note: if view.range.is_held() {
            "faint: the range ends at 1 % of the largest amplitude so far"
        } else if quantity != asked {
            no_hues(scenario)
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
    let sources = field_view::Sources {
        render: pictures.map(|pictures| (&pictures.render, &pictures.field, &pictures.medium)),
        frame,
        scenario,
        draft: &canvas.document.draft,
        legend,
        medium: canvas.medium,
        units,
        history: canvas.history,
        bare: canvas.bare,
        passive: false,
        untold: false,
    };
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

/// Shows two runs side by side, or their difference; returns what the worker shall show from now on.
fn pair(
    ui: &mut Ui,
    canvas: &Canvas<'_>,
    view: &mut ViewState,
    (mut pictures, bar): (Option<&mut Pictures>, &mut Bar),
    (legend, second): (Legend<'_>, Second<'_>),
    quantity: Quantity,
) -> ImageRequest {
    let area = ui.available_rect_before_wrap();
    let apart = second.show == Show::Difference;
    let graph = !apart && quantity == Quantity::Phase;
    let map = if apart {
        let kind = second.frame.image.quantity.map_or(Kind::Diverging, Quantity::map_kind);
        if theme::is_paper() {
            crate::colormap::auto_on_paper(kind)
        } else {
            crate::colormap::auto(kind)
        }
    } else {
        legend.map
    };
    if let Some(pictures) = pictures.as_deref_mut() {
        pictures.take_second(second.frame, canvas.medium, canvas.rank(), (map, graph));
    }
    let pictures = pictures.map(|pictures| &*pictures);
    let other = Legend {
        map,
        texture: if apart {
            bar.of_difference(ui.ctx(), map)
        } else {
            legend.texture
        },
        levels: if apart { second.levels } else { legend.levels },
        gamma: if apart { 1.0 } else { legend.gamma },
        title: if apart { "second − first" } else { legend.title },
        note: if second.riddle { legend.note } else { "" },
    };
    let mut wanted = None;
    if apart {
        wanted = pane(ui, area, canvas, view, pictures, (second.frame, other, 1), quantity);
    } else {
        let half = vec2((area.width() - GAP) / 2.0, area.height());
        for (n, (frame, legend)) in [(canvas.frame, legend), (second.frame, other)].into_iter().enumerate() {
            let column = if second.swapped { 1 - n } else { n };
            let rect = Rect::from_min_size(area.min + vec2(column as f32 * (half.x + GAP), 0.0), half);
            wanted = pane(ui, rect, canvas, view, pictures, (frame, legend, n), quantity).or(wanted);
            if second.riddle {
                let below = Rect::from_min_max(rect.min + vec2(0.0, 36.0), rect.max);
                let (painter, font) = (ui.painter_at(rect), egui::FontId::proportional(20.0));
                let name = ["A", "B"][column].to_owned();
                super::overlay::plate(
                    &painter,
                    super::overlay::Room::free(below),
                    Align2::LEFT_TOP,
                    name,
                    font,
                );
            }
        }
    }
    banners(ui, area, canvas.frame, canvas.document);
    // Without room for a pane everything is asked for.
    wanted.unwrap_or_else(|| {
        let [nx, ny, _] = canvas
            .frame
            .scenario
            .as_ref()
            .map_or([1; 3], |scenario| scenario.grid().size());
        ImageRequest {
            quantity,
            x: 0..nx,
            y: 0..ny,
            z: 0,
            max_size: [CUT_TEXELS; 2],
        }
    })
}

/// Points between two panes.
const GAP: f32 = 4.0;

/// One picture of two, the first or the second; returns what the worker shall show for it.
fn pane(
    ui: &mut Ui,
    rect: Rect,
    canvas: &Canvas<'_>,
    view: &mut ViewState,
    pictures: Option<&Pictures>,
    (frame, legend, n): (&Frame, Legend<'_>, usize),
    quantity: Quantity,
) -> Option<ImageRequest> {
    let scenario = canvas.frame.scenario.as_ref()?;
    let size = scenario.grid().size();
    let scale = ui.ctx().pixels_per_point();
    let units = Units::of(scenario, canvas.frame.clock.time_step);
    let told = !canvas.second.is_some_and(|second| second.riddle);
    let second = pictures.and_then(|pictures| pictures.second.as_deref());
    let levels = legend.levels;
    let mut pane = ui.new_child(egui::UiBuilder::new().id_salt(("pane", n)).max_rect(rect));
    pane.set_clip_rect(rect.intersect(ui.clip_rect()));
    let request = if canvas.rank() == 1 {
        let curve = pictures.and_then(|pictures| {
            let curve = if n == 0 { &pictures.curve } else { &second?.curve };
            Some((&pictures.render, curve))
        });
        let sources = graph_view::Sources {
            render: curve,
            frame,
            scenario,
            draft: None,
            // A pane has no room for it.
            asks_for_phase: false,
            medium: canvas.medium,
            title: if levels.low < 0.0 && legend.title == "second − first" {
                "second − first"
            } else {
                graph_title(&canvas.document.draft)
            },
            levels,
            units,
        };
        graph_view::show(&mut pane, view, &sources);
        let strip = graph_view::strip(graph_view::plot_area(rect));
        view.camera.request(strip, scale, [size[0], 1], 0, quantity)
    } else {
        let field = pictures.and_then(|pictures| {
            Some(if n == 0 {
                (&pictures.render, &pictures.field, &pictures.medium)
            } else {
                let second = second?;
                (&pictures.render, &second.field, &second.medium)
            })
        });
        let sources = field_view::Sources {
            render: field,
            frame,
            scenario,
            draft: &canvas.document.draft,
            legend,
            medium: canvas.medium,
            units,
            history: canvas.history,
            bare: canvas.bare,
            passive: n > 0,
            untold: !told,
        };
        field_view::show(&mut pane, view, &sources);
        let plane = view.plane().min(size[2] - 1);
        view.camera.request(rect, scale, [size[0], size[1]], plane, quantity)
    };
    if let Some(report) = frame.report.as_ref().filter(|_| told) {
        // Under the clock, with its distance from the edge.
        let below = |all: Rect| Rect::from_min_max(all.min + vec2(0.0, 36.0), all.max);
        let mut room = super::overlay::Room::free(below(rect));
        if canvas.rank() > 1 {
            room.picture = below(view.camera.rect(rect, [0.0, 0.0], [size[0] as f64, size[1] as f64]));
        }
        let text = compare::title(scenario, report, frame.clock.time_step);
        let painter = pane.painter_at(rect);
        super::overlay::plate(&painter, room, Align2::LEFT_TOP, text, egui::FontId::proportional(12.0));
    }
    Some(request)
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
        image: ImageRequest {
            quantity,
            x: 0..nx,
            y: 0..ny,
            z: view.plane().min(nz - 1),
            max_size: [CUT_TEXELS; 2],
        },
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
        theme::of(true).weak,
    );
}

/// Faults of an edit that are shown over the picture.
const MOST_FAULTS: usize = 3;

/// Why a run stopped, or why an edit is not applied: over the picture, which stays.
fn banners(ui: &mut Ui, area: Rect, frame: &Frame, document: &Document) {
    let (icon, title, text) = if let Status::Failed(reason) = &frame.status {
        (Icon::CircleX, "The run has stopped", reason.to_string())
    } else if let Some(faults) = &document.faults {
        let mut lines: Vec<String> = faults.list.iter().take(MOST_FAULTS).map(Fault::in_words).collect();
        if faults.list.len() > MOST_FAULTS {
            lines.push(format!("… and {} more", faults.list.len() - MOST_FAULTS));
        }
        (Icon::TriangleAlert, "This edit is not applied", lines.join("\n"))
    } else {
        return;
    };
    let width = (area.width() - 64.0).clamp(160.0, 560.0);
    egui::Area::new(egui::Id::unique("banner"))
        // Below windows: the field that is at fault may stand in one.
        .order(egui::Order::Background)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(area.center_top() + vec2(0.0, 64.0))
        .show(ui.ctx(), |ui| {
            let palette = theme::palette(ui);
            egui::Frame::popup(ui.style())
                .stroke(egui::Stroke::new(1.0, palette.wrong))
                .inner_margin(12)
                .show(ui, |ui| {
                    ui.set_width(width);
                    ui.horizontal(|ui| {
                        ui.label(theme::icon(icon, 16.0).color(palette.wrong));
                        ui.label(egui::RichText::new(title).color(palette.strong));
                    });
                    ui.add(egui::Label::new(text).wrap().selectable(true));
                });
        });
}

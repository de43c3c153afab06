//! Two runs side by side, or their difference.

use super::banner::banners;
use super::{CUT_TEXELS, Canvas, graph_title};
use crate::app::compare::{self, Second, Show};
use crate::app::overlay::{self, Legend, Room};
use crate::app::pictures::{Bar, Pictures};
use crate::app::units::Units;
use crate::app::view_state::ViewState;
use crate::app::{field_view, graph_view, theme};
use crate::colormap::Kind;
use crate::engine::Frame;
use crate::scene::scenario::Quantity;
use crate::solver::ImageRequest;
use egui::{Align2, Rect, Ui, vec2};

/// Shows two runs side by side, or their difference; returns what the worker shall show from now on.
pub(super) fn pair(
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
        short: if apart { "second − first" } else { legend.short },
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
                let (_, below) = parts(rect, canvas.rank());
                let (painter, font) = (ui.painter_at(rect), egui::FontId::proportional(20.0));
                let name = ["A", "B"][column].to_owned();
                overlay::plate(&painter, Room::free(below), Align2::LEFT_TOP, name, font);
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
        ImageRequest::new(quantity, [0..nx, 0..ny], 0, [CUT_TEXELS; 2])
    })
}

/// Points between two panes.
const GAP: f32 = 4.0;

/// Room above a graph for what runs in it: the place under the clock is that of its title and its axis.
const ABOVE_GRAPH: f32 = 28.0;

/// What is under the clock of a pane.
fn below(all: Rect) -> Rect {
    Rect::from_min_max(all.min + vec2(0.0, 36.0), all.max)
}

/// Where the picture of a pane stands, and where the words about it begin: above a graph, under the clock of other pictures.
fn parts(rect: Rect, rank: usize) -> (Rect, Rect) {
    if rank == 1 {
        (rect.with_min_y(rect.top() + ABOVE_GRAPH), rect)
    } else {
        (rect, below(rect))
    }
}

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
    let apart = canvas.second.is_some_and(|second| second.show == Show::Difference);
    let difference = apart.then_some(quantity);
    let told = !canvas.second.is_some_and(|second| second.riddle);
    let second = pictures.and_then(|pictures| pictures.second.as_deref());
    let (inner, words) = parts(rect, canvas.rank());
    let mut pane = ui.new_child(egui::UiBuilder::new().id_salt(("pane", n)).max_rect(inner));
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
            title: if apart {
                legend.title
            } else {
                graph_title(&canvas.document.draft)
            },
            levels: legend.levels,
            units,
            difference,
        };
        graph_view::show(&mut pane, view, &sources);
        let strip = graph_view::strip(graph_view::plot_area(inner));
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
            passive: n > 0,
            untold: !told,
            difference,
            ..canvas.sources(field, (frame, scenario), legend, units)
        };
        field_view::show(&mut pane, view, &sources);
        let plane = view.plane().min(size[2] - 1);
        view.camera.request(rect, scale, [size[0], size[1]], plane, quantity)
    };
    if let Some(report) = frame.report.as_ref().filter(|_| told) {
        let mut room = Room::free(words);
        if canvas.rank() > 1 {
            room.picture = below(view.camera.rect(rect, [0.0, 0.0], [size[0] as f64, size[1] as f64]));
        }
        let text = compare::title(scenario, report, frame.clock.time_step);
        let painter = pane.painter_at(rect);
        overlay::plate(&painter, room, Align2::LEFT_TOP, text, egui::FontId::proportional(12.0));
    }
    Some(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    #[test]
    fn what_runs_stands_above_a_graph_and_under_the_clock_of_a_picture() {
        let rect = Rect::from_min_size(pos2(264.0, 33.0), vec2(344.0, 588.0));
        let plate = |words: Rect| Room::free(words).corner(Align2::LEFT_TOP, vec2(250.0, 23.0));
        let clock = |inner: Rect| Room::free(inner).corner(Align2::LEFT_TOP, vec2(90.0, 28.0));
        let (inner, words) = parts(rect, 1);
        assert!(plate(words).bottom() <= clock(inner).top(), "{:?}", plate(words));
        // The title of the graph stands on its plot.
        assert!(plate(words).bottom() < graph_view::plot_area(inner).top() - 24.0);
        let (inner, words) = parts(rect, 2);
        assert_eq!(inner, rect);
        assert!(plate(words).top() >= clock(inner).bottom());
    }
}

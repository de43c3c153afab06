//! The levels of a scene in the window: energies with small pictures of their states; a click makes a state the one that the scene begins with.

use super::document::Document;
use super::side_run::{LEVELS, SideRun, window};
use super::theme;
use super::widgets::{Explained, fault, figure, hint, row};
use crate::app::icon::Icon;
use crate::colormap::{self, Colormap, Kind};
use crate::engine::eigen;
use crate::grid::Grid;
use crate::physics::eigen::{Levels, Round};
use crate::scene::SceneFile;
use crate::scene::file::EigenstateFile;
use egui::{Color32, ColorImage, DragValue, Rect, TextureHandle, TextureOptions, Ui};
use num_complex::Complex64;

/// Pixels of a small picture's longer side.
const SIDE: usize = 56;

/// Most levels that the window looks for.
const MOST: usize = 60;

/// One level as it is shown.
struct Shown {
    energy: f64,
    residual: f64,
    /// Its degeneracy, where it has one.
    times: Option<String>,
    picture: ColorImage,
    texture: Option<TextureHandle>,
    weight: f64,
}

/// The panel's state.
pub struct LevelsPanel {
    /// Whether it is shown.
    pub open: bool,
    wanted: usize,
    run: SideRun<Round, (Grid, Levels, Option<&'static str>)>,
    /// How far the search is.
    round: Option<Round>,
    list: Vec<Shown>,
    /// The largest residual, where not all converged.
    unconverged: Option<f64>,
    /// What to know of them.
    remark: Option<&'static str>,
}

impl Default for LevelsPanel {
    fn default() -> Self {
        Self {
            open: false,
            wanted: 10,
            run: SideRun::default(),
            round: None,
            list: Vec::new(),
            unconverged: None,
            remark: None,
        }
    }
}

impl LevelsPanel {
    /// The energies found, rising.
    #[must_use]
    pub fn energies(&self) -> Vec<f64> {
        self.list.iter().map(|level| level.energy).collect()
    }

    /// Another scene has other levels.
    pub fn start_over(&mut self) {
        *self = Self {
            open: self.open,
            wanted: self.wanted,
            ..Self::default()
        };
    }

    /// Shows it; edits the draft where a state is chosen.
    pub fn show(&mut self, (ctx, picture): (&egui::Context, Rect), document: &mut Document) {
        self.collect(ctx, &document.draft.eigenstates);
        if !self.open {
            return;
        }
        let mut open = true;
        window((ctx, picture), LEVELS, [360.0, 480.0], &mut open, |ui| {
            if document.draft.quantum.is_none() {
                hint(ui, "Only quantum scenes have levels.");
                return;
            }
            self.controls(ui, document);
            if let Some(text) = self.run.fault() {
                fault(ui, text);
            }
            if let Some(residual) = self.unconverged {
                let text = format!("not all have converged: the largest residual is {residual:.1e}");
                fault(ui, &text);
            }
            if let Some(remark) = self.remark {
                hint(ui, remark);
            }
            self.levels(ui, &mut document.draft);
        });
        self.open = open;
    }

    /// Takes over what was found, each level with the weight that it has among those with which the scene starts.
    fn collect(&mut self, ctx: &egui::Context, start: &[EigenstateFile]) {
        let Some((grid, levels, remark)) = self.run.collect(|round| self.round = Some(round)) else {
            return;
        };
        let map = if ctx.global_style().visuals.dark_mode {
            colormap::auto(Kind::Sequential)
        } else {
            colormap::auto_on_paper(Kind::Sequential)
        };
        let weight_of = |n: usize| start.iter().find(|own| own.level == n).map_or(0.0, |own| own.weight);
        let shown = |(n, level): (usize, crate::physics::eigen::Level)| Shown {
            energy: level.energy,
            residual: level.residual,
            times: level.times(),
            picture: picture(&grid, &level.state, map),
            texture: None,
            weight: weight_of(n),
        };
        self.remark = remark;
        self.unconverged = (!levels.converged).then_some(levels.round.residual);
        self.list = levels.list.into_iter().enumerate().map(shown).collect();
    }

    fn controls(&mut self, ui: &mut Ui, document: &Document) {
        let about = format!("How many, from the lowest: 1 to {MOST}.");
        row(ui, "Levels", &about, |ui| {
            ui.add(DragValue::new(&mut self.wanted).range(1..=MOST))
                .explained(&about);
        });
        ui.horizontal(|ui| {
            if (self.run).button(ui, Icon::Search, "Find levels", "Find levels", "End the search") {
                self.begin(document, ui.ctx());
            }
            if let Some(round) = self.round.filter(|_| self.run.is_running()) {
                let (found, wanted) = (round.converged, self.wanted);
                ui.label(format!("{found} of {wanted}, residual {:.0e}", round.residual));
            }
        });
    }

    fn begin(&mut self, document: &Document, ctx: &egui::Context) {
        self.start_over();
        let wanted = self.wanted;
        self.run.begin("levels", document, ctx, move |scenario, reporter| {
            let levels = eigen::levels(&scenario, wanted, &mut |round| reporter.tell(round));
            let levels = levels.map_err(|error| error.to_string())?;
            Ok((scenario.grid().clone(), levels, eigen::remark(&scenario)))
        });
    }

    fn levels(&mut self, ui: &mut Ui, draft: &mut SceneFile) {
        if self.list.is_empty() {
            hint(
                ui,
                "The energies of standing states, with |φ|². A click makes one the state at t = 0: its density then stays as it is.",
            );
            return;
        }
        hint(
            ui,
            "A click on a picture makes that state the one at t = 0. Energies in units of the scene (ħ = 1).",
        );
        if self.list.iter().any(|level| level.times.is_some()) {
            hint(
                ui,
                "Several states share a level that is n-fold: the run may begin with another sum of them than is pictured.",
            );
        }
        let palette = theme::palette(ui);
        let mut chosen: Option<Vec<EigenstateFile>> = None;
        let room = (ui.available_height() - 40.0).max(120.0);
        // More of them than are seen: the bar says so before the pointer finds it.
        ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
        egui::ScrollArea::vertical()
            .auto_shrink([false, true])
            .max_height(room)
            .min_scrolled_height(room)
            .show(ui, |ui| {
                for (n, level) in self.list.iter_mut().enumerate() {
                    ui.horizontal(|ui| {
                        let make = || {
                            ui.ctx()
                                .load_texture("level", level.picture.clone(), TextureOptions::LINEAR)
                        };
                        let texture = level.texture.get_or_insert_with(make);
                        let size = texture.size_vec2();
                        let image = egui::Image::new((texture.id(), size)).sense(egui::Sense::click());
                        let response = ui.add(image).on_hover_text("Start with this state");
                        let name = format!("Start with level {n}");
                        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
                        if response.clicked() {
                            chosen = Some(vec![EigenstateFile {
                                level: n,
                                weight: 1.0,
                                phase: 0.0,
                            }]);
                        }
                        ui.vertical(|ui| {
                            let energy = egui::RichText::new(format!("E{n} = {}", figure(level.energy, 8)));
                            ui.label(energy.color(palette.strong))
                                .on_hover_text(format!("residual {:.1e}", level.residual));
                            if let Some(times) = &level.times {
                                ui.label(times);
                            }
                            ui.push_id(("weight", n), |ui| {
                                ui.add(
                                    DragValue::new(&mut level.weight)
                                        .speed(0.02)
                                        .max_decimals(3)
                                        .prefix("weight "),
                                )
                                .explained("Amplitude of this state in the sum that the button below starts with; 0 leaves it out.")
                            });
                        });
                    });
                }
            });
        // The phases that the scene gives stay.
        let phase_of = |n: usize| {
            draft
                .eigenstates
                .iter()
                .find(|own| own.level == n)
                .map_or(0.0, |own| own.phase)
        };
        let mixed: Vec<EigenstateFile> = (self.list.iter().enumerate())
            .filter(|(_, level)| level.weight != 0.0)
            .map(|(level, shown)| EigenstateFile {
                level,
                weight: shown.weight,
                phase: phase_of(level),
            })
            .collect();
        let clicked = ui
            .add_enabled(!mixed.is_empty(), egui::Button::new("Start with the weights"))
            .on_hover_text("The sum of the states with a weight, normalised.")
            .clicked();
        if clicked {
            chosen = Some(mixed);
        }
        if let Some(states) = chosen {
            draft.packets.clear();
            draft.initial = None;
            draft.eigenstates = states;
        }
    }
}

/// |φ|² as a small picture: a field of one axis as a curve, one of three summed along z.
fn picture(grid: &Grid, state: &[Complex64], map: &Colormap) -> ColorImage {
    let [nx, ny, nz] = grid.size();
    let table = map.rgba();
    let color = |share: f64| {
        let entry = (share.clamp(0.0, 1.0) * (table.len() - 1) as f64) as usize;
        let [r, g, b, _] = table[entry];
        Color32::from_rgb(r, g, b)
    };
    let rows = if grid.rank() == 1 { 1 } else { ny };
    let mut density = vec![0.0; nx * rows];
    for (site, value) in state.iter().enumerate() {
        density[site % (nx * rows)] += value.norm_sqr();
    }
    debug_assert_eq!(state.len(), nx * rows * if grid.rank() == 1 { 1 } else { nz });
    // The largest of the sites that share a pixel, so that thin lines are seen.
    let scale = (nx.max(rows) as f64 / SIDE as f64).max(1.0);
    let width = ((nx as f64 / scale) as usize).max(1);
    let height = if grid.rank() == 1 {
        SIDE * 2 / 3
    } else {
        ((rows as f64 / scale) as usize).max(1)
    };
    let most = |x: usize, y: usize, height: usize| {
        let across = x * nx / width..((x + 1) * nx / width).max(x * nx / width + 1);
        let up = y * rows / height..((y + 1) * rows / height).max(y * rows / height + 1);
        let all = up.flat_map(|j| across.clone().map(move |i| (i, j)));
        all.map(|(i, j)| density[i + nx * j]).fold(0.0, f64::max)
    };
    let peak = density.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let pixels = (0..height).flat_map(|row| {
        // y upwards.
        let y = height - 1 - row;
        (0..width).map(move |x| (x, y))
    });
    let pixels = pixels.map(|(x, y)| {
        if grid.rank() == 1 {
            let share = most(x, 0, 1) / peak;
            if (y as f64 + 0.5) / height as f64 <= share {
                color(0.75)
            } else {
                color(0.0)
            }
        } else {
            color(most(x, y, height) / peak)
        }
    });
    ColorImage::new([width, height], pixels.collect())
}

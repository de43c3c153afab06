//! From a reduced field to a finished picture: the same colours as in the window, with its medium, axes and legend.

use super::film::Shot;
use super::look::{self, Look, LookError, index, layout};
use super::marks;
use super::overlay::Legend;
use super::picture::{Picture, Rect};
use super::progress::Progress;
use super::resample::Axis;
use super::shade::Shade;
use super::space::Space;
use super::theme::Theme;
use super::theory::Stand;
use super::units::{NONE, Units};
use crate::colormap::{self, Colormap, Kind, Levels};
use crate::engine::maps::wave_number;
use crate::engine::trajectories::ShownPath;
use crate::engine::{Engine, EngineError, RangeKeeper, shown_quantity};
use crate::grid::Edge;
use crate::physics::Equation;
use crate::scene::Scenario;
use crate::scene::scenario::{Claims, Orbit, Quantity, ViewMode};
use crate::scene::theory::Note;
use crate::solver::{Clock, FieldImage, FieldVolume, ImageRequest};
use crate::space::FlowMap;
use crate::units::clock_decimals;
use std::ops::Range;
use std::sync::Arc;

/// The look with which a scene is shown, and its map: where a wavelength has too few pixels for its hues, the density instead of the phase, as
/// in the window.
fn legible(scenario: &Scenario, look: &Look) -> Result<(Look, &'static Colormap), LookError> {
    let kind = look.quantity.auto_kind(scenario.model().equation());
    let named = colormap::resolve(&look.colormap, kind);
    let grid = scenario.grid();
    let [nx, ny, _] = grid.size();
    if grid.rank() == 1 || look.mode != ViewMode::Plane || look.quantity != Quantity::Phase {
        return Ok((look.clone(), named?));
    }
    let sites = match &look.region {
        Some([x, y]) => [x.len(), y.len()].map(|count| count.max(1)),
        None => [nx, ny],
    };
    let (_, field, _) = layout(sites, false, false, scenario.notes(), look)?;
    let pixels_per_site = index(field.width) / index(sites[0]);
    let quantity = shown_quantity(scenario, look.quantity, pixels_per_site);
    if quantity == look.quantity {
        return Ok((look.clone(), named?));
    }
    let kind = quantity.map_kind();
    let look = Look {
        quantity,
        ..look.clone()
    };
    // A map that fits the phase is none of the density.
    let map = colormap::resolve(&look.colormap, kind).or_else(|_| named.map(|_| colormap::auto(kind)))?;
    Ok((look, map))
}

/// Points of each trajectory in a picture.
const PATH_POINTS: usize = 4096;

/// Makes the pictures of one scene, keeping the colour range from one to the next.
pub struct Painter {
    pub(super) scenario: Arc<Scenario>,
    pub(super) look: Look,
    pub(super) map: &'static Colormap,
    pub(super) theme: &'static Theme,
    /// The field or the graph in the picture.
    pub(super) field: Rect,
    pub(super) unit: f32,
    pub(super) request: ImageRequest,
    pub(super) keeper: RangeKeeper,
    pub(super) shade: Option<Shade>,
    /// Texels that are rigid walls, which sound is not interpolated across; empty where there are none.
    pub(super) walls: Vec<bool>,
    pub(super) space: Option<Space>,
    /// Whether the picture is a relief.
    pub(super) relief: bool,
    /// The picture before anything that changes.
    pub(super) picture: Picture,
    /// Decimals of the clock.
    pub(super) decimals: usize,
    /// Units of lengths and times.
    pub(super) units: Units,
    /// What the engine drew last.
    pub(super) image: FieldImage,
    pub(super) volume: FieldVolume,
    /// What its colours are worked out in.
    pub(super) room: super::plane::Room,
    /// What is drawn over it: what flows, and trajectories so far.
    pub(super) flow: Option<FlowMap>,
    pub(super) paths: Vec<ShownPath>,
    /// Flat indices of the transducers of a mirror that are marked.
    pub(super) transducers: Arc<[usize]>,
    /// Ends a long picture if it is cancelled.
    pub(super) progress: Progress,
    /// Which notes, theories and predictions are of the scene: the others are not shown, and not judged on its last card.
    pub(super) claims: Claims,
}

impl Painter {
    /// A painter for pictures of `scenario`, whose times are multiples of `time_step`.
    ///
    /// # Errors
    /// If the map, the size or the plane does not fit.
    pub fn new(scenario: Arc<Scenario>, look: &Look, time_step: f64) -> Result<Self, LookError> {
        let grid = scenario.grid();
        let [nx, ny, nz] = grid.size();
        let line = grid.rank() == 1;
        let (look, named) = legible(&scenario, look)?;
        let look = &look;
        // A graph of |ψ|² is coloured by phase, so both quantities are one picture there.
        let quantum = scenario.model().equation() == Equation::Schrodinger;
        let by_phase = line && quantum && matches!(look.quantity, Quantity::Density | Quantity::Phase);
        let shown = if by_phase { Quantity::Phase } else { look.quantity };
        let map = if by_phase && named.kind != Kind::Cyclic {
            colormap::auto(Kind::Cyclic)
        } else {
            named
        };
        let plane = look.plane.unwrap_or_else(|| grid.nearest_on(2, look.slices[2]));
        if plane >= nz {
            return Err(LookError::Plane { plane, last: nz - 1 });
        }
        // Momenta have no box of lengths.
        let in_space = grid.rank() == 3 && look.mode != ViewMode::Plane && look.quantity != Quantity::Momentum;
        let relief = grid.rank() == 2 && look.mode == ViewMode::Relief;
        let within = |range: &Range<usize>, sites: usize| {
            let end = range.end.clamp(1, sites);
            range.start.min(end - 1)..end
        };
        let [x, y] = match &look.region {
            Some([x, y]) if !in_space && !relief => [within(x, nx), within(y, ny)],
            _ => [0..nx, 0..ny],
        };
        let (size, field, unit) = layout([x.len(), y.len()], line, in_space || relief, scenario.notes(), look)?;
        let request = ImageRequest {
            quantity: shown,
            x,
            y,
            z: plane,
            // Up to twice the pixels, so that reducing to them averages evenly.
            max_size: if line {
                [2 * field.width, 1]
            } else if relief {
                [super::relief::texels(field); 2]
            } else {
                [2 * field.width, 2 * field.height]
            },
        };
        let theme = Theme::of(named);
        let units = Units::of(&scenario, time_step);
        let space = if in_space {
            Space::new(&scenario, look, field.width.max(field.height), units.length)
        } else {
            None
        };
        // The space of momenta holds nothing of the medium.
        let momenta = look.quantity == Quantity::Momentum;
        let shade = if line || momenta || relief || space.is_some() {
            None
        } else {
            Shade::new(&scenario, &request, [field.width, field.height])
        };
        let decimals = clock_decimals((time_step * units.time.per).abs());
        Ok(Self {
            keeper: RangeKeeper::new(look.range),
            walls: if momenta || space.is_some() {
                Vec::new()
            } else {
                super::plane::rigid(&scenario, &request)
            },
            look: look.clone(),
            map,
            theme,
            field,
            unit,
            request,
            shade,
            space,
            relief,
            picture: Picture::filled(size[0], size[1], theme.ground),
            decimals,
            units,
            image: FieldImage::default(),
            volume: FieldVolume::default(),
            room: super::plane::Room::default(),
            flow: None,
            paths: Vec::new(),
            transducers: Arc::default(),
            progress: Progress::default(),
            claims: Claims::default(),
            scenario,
        })
    }

    /// The same with what is known of the notes, theories and predictions of the scene: those that are of another one are not shown, and not judged on its last card. The picture keeps its room for notes.
    #[must_use]
    pub fn with_claims(self, claims: Claims) -> Self {
        Self { claims, ..self }
    }

    /// Ends a picture early, unfinished, if `progress` is cancelled.
    pub fn watch(&mut self, progress: &Progress) {
        self.progress = progress.clone();
    }

    /// Pixels of every picture.
    pub fn size(&self) -> [usize; 2] {
        [self.picture.width, self.picture.height]
    }

    /// The picture that was painted last.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// Where the field (or graph) stands in the picture.
    pub fn field(&self) -> Rect {
        self.field
    }

    /// What the solver shall reduce.
    pub fn request(&self) -> &ImageRequest {
        &self.request
    }

    /// Makes an engine draw its present state, and paints it, `seconds` of the film after the last picture.
    ///
    /// # Errors
    /// If the engine cannot draw it.
    pub fn shoot(&mut self, engine: &mut Engine, seconds: f32) -> Result<&Picture, EngineError> {
        let clock = engine.clock();
        self.follow(engine);
        self.keeper
            .set_playing(engine.mirror().is_some_and(|mirror| mirror.plays()));
        if self.look.overlay {
            self.transducers = engine.mirror_marks();
        }
        if let Some(space) = &mut self.space {
            let mut volume = std::mem::take(&mut self.volume);
            engine.volume(space.request(), &mut volume)?;
            self.paint_space(&volume, &clock, seconds);
            self.volume = volume;
            return Ok(&self.picture);
        }
        let mut image = std::mem::take(&mut self.image);
        engine.image(&self.request, &mut image)?;
        self.flow = engine.flow()?;
        self.paths = engine.paths().shown(PATH_POINTS);
        self.paint(&image, &clock, seconds);
        self.image = image;
        Ok(&self.picture)
    }

    /// Takes over the medium of the run: on the way back from a mirror it may be another one.
    fn follow(&mut self, engine: &Engine) {
        let present = engine.present_scenario();
        if Arc::ptr_eq(&present, &self.scenario) {
            return;
        }
        if present.medium() != self.scenario.medium() {
            let size = [self.field.width, self.field.height];
            let momenta = self.look.quantity == Quantity::Momentum;
            if self.shade.is_some() || (self.space.is_none() && !self.relief && !momenta && present.grid().rank() > 1) {
                self.shade = Shade::new(&present, &self.request, size);
            }
            if self.space.is_none() && !momenta {
                self.walls = super::plane::rigid(&present, &self.request);
            }
            if self.space.is_some() {
                self.space = Space::new(&present, &self.look, size[0].max(size[1]), self.units.length);
            }
        }
        self.scenario = present;
    }

    /// Paints a field in space.
    fn paint_space(&mut self, volume: &FieldVolume, clock: &Clock, seconds: f32) {
        let levels = self.keeper.levels_of(volume.quantity, volume.top, seconds);
        self.picture.clear(self.theme.ground);
        let field = self.field;
        let orbit = self.orbit(clock.time);
        if let Some(space) = &mut self.space {
            space.look_from(orbit);
            let of = (volume, self.map, levels);
            let words = (self.unit, self.theme);
            let stage = space.paint(&mut self.picture, field, of, words, &self.progress);
            if self.look.overlay {
                let marked = (
                    (self.scenario.sources(), clock.time),
                    &*self.transducers,
                    self.scenario.grid(),
                );
                let place = |at| marks::place_in_box(&stage, field, at);
                marks::in_depth(&mut self.picture, field, marked, place, words);
            }
        }
        if self.look.overlay {
            let scenario = Arc::clone(&self.scenario);
            let legend = self.legend(&scenario, levels, clock);
            if self.is_upright() {
                legend.draw_upright(&mut self.picture, field, self.unit, self.theme);
            } else {
                legend.draw_in_space(&mut self.picture, field, self.unit, self.theme);
            }
            self.note(clock.time, 0.0);
        }
    }

    /// Paints what the solver gave for [`Painter::request`], `seconds` of the film after the last picture.
    pub fn paint(&mut self, image: &FieldImage, clock: &Clock, seconds: f32) -> &Picture {
        self.picture.clear(self.theme.ground);
        if self.scenario.grid().rank() == 1 {
            self.paint_line(image, clock, seconds);
        } else if self.relief {
            self.paint_relief(image, clock, seconds);
        } else {
            self.paint_plane(image, clock, seconds);
        }
        &self.picture
    }

    fn paint_relief(&mut self, image: &FieldImage, clock: &Clock, seconds: f32) {
        let (field, unit, theme) = (self.field, self.unit, self.theme);
        let levels = self.keeper.levels(image, seconds);
        let covered = image.size.map(|texels| texels * image.reduction.max(1));
        let image = &super::relief::refined(image, field, &self.walls);
        let scenario = Arc::clone(&self.scenario);
        let walls = if self.look.quantity == Quantity::Momentum {
            Vec::new()
        } else {
            crate::space::relief::walls(&scenario, image.size)
        };
        let paint = crate::space::relief::Paint {
            map: self.map,
            levels,
            gamma: self.look.gamma,
            walls: &walls,
        };
        let orbit = self.orbit(clock.time);
        super::relief::paint(&mut self.picture, field, (image, &orbit, &paint), (unit, theme));
        if self.look.overlay {
            let words = (unit, self.units.length, theme);
            super::relief::axes(&mut self.picture, field, (image, &orbit, &scenario), words);
            if self.look.quantity != Quantity::Momentum {
                let marked = ((scenario.sources(), clock.time), &*self.transducers, scenario.grid());
                let spacing = scenario.grid().spacing();
                let standing = super::relief::standing(field, (image, covered, &orbit), levels);
                let place = |[x, y, _]: [f64; 3]| Some(standing([x / spacing + 0.5, y / spacing + 0.5]));
                marks::in_depth(&mut self.picture, field, marked, place, (unit, theme));
            }
            let legend = self.legend(&scenario, levels, clock);
            if self.is_upright() {
                legend.draw_upright(&mut self.picture, field, unit, theme);
            } else {
                legend.draw_in_space(&mut self.picture, field, unit, theme);
            }
            self.note(clock.time, 0.0);
        }
    }

    /// From where the scene is looked at at time t.
    fn orbit(&self, t: f64) -> Orbit {
        if self.look.follows {
            self.scenario.camera_at(t)
        } else {
            self.look.orbit
        }
    }

    /// Whether title, colours and note stand above and below the field.
    pub(super) fn is_upright(&self) -> bool {
        let is_line = self.scenario.grid().rank() == 1;
        !is_line && super::upright::is_upright([self.picture.width, self.picture.height])
    }

    /// Where a place of the plane stands in the picture; `[x, y]` are lengths.
    pub(super) fn place(&self, at: [f64; 2]) -> [f32; 2] {
        self.frame()(at)
    }

    /// The same as a function of its own.
    #[expect(clippy::cast_possible_truncation, reason = "positions in the picture")]
    pub(super) fn frame(&self) -> impl Fn([f64; 2]) -> [f32; 2] + use<> {
        let (field, spacing) = (self.field, self.scenario.grid().spacing());
        let (across, up) = (self.request.x.clone(), self.request.y.clone());
        let part = move |at: f64, sites: &Range<usize>| {
            let first = index(sites.start) - 0.5;
            ((at / spacing - first) / index(sites.len())) as f32
        };
        move |[x, y]| {
            [
                super::overlay::pixel(field.x) + part(x, &across) * super::overlay::pixel(field.width),
                super::overlay::pixel(field.y + field.height) - part(y, &up) * super::overlay::pixel(field.height),
            ]
        }
    }

    /// The note of time t, `lift` units of text above the lower edge: over a plane above the scale bar; in space at the upper edge. What it points at is drawn where the picture shows places.
    pub(super) fn note(&mut self, t: f64, lift: f32) {
        let scenario = Arc::clone(&self.scenario);
        let notes = self.claims.notes_of(scenario.notes());
        let Some(note) = Note::of_time(&notes, t) else {
            return;
        };
        let shows_places = self.space.is_none() && !self.relief && self.look.quantity != Quantity::Momentum;
        if let Some((center, radius)) = note.mark.as_ref().filter(|_| shows_places).and_then(|mark| mark.at(t)) {
            self.mark(&center, radius);
        }
        if self.is_upright() {
            super::upright::note(&mut self.picture, self.field, &note.text, (self.unit, self.theme));
            return;
        }
        // Below the field where there is room, beside what is seen; else within it, that many units above its lower edge. In space the axes' numbers stand below.
        let line = scenario.grid().rank() == 1;
        let below = self.picture.height.saturating_sub(self.field.y + self.field.height);
        let across = super::theory::across_below(&self.picture, self.field, self.unit);
        let lines = look::note_lines(&note.text, across, self.unit);
        let stand = if self.space.is_some() || self.relief {
            Stand::Top
        } else if super::overlay::pixel(below) >= look::note_height(line, lines) * self.unit {
            Stand::Below(look::note_begins(line) * self.unit)
        } else {
            Stand::Bottom(lift * self.unit)
        };
        super::theory::note(
            &mut self.picture,
            self.field,
            (&note.text, stand),
            (self.unit, self.theme),
        );
    }

    /// A ring in a plane, an interval of a line.
    fn mark(&mut self, center: &[f64], radius: f64) {
        let (field, words) = (self.field, (self.unit, self.theme));
        if let [x, y] = *center {
            let middle = self.place([x, y]);
            let rim = self.place([x + radius, y]);
            super::theory::ring(&mut self.picture, field, (middle, rim[0] - middle[0]), words);
        } else if let [x] = *center {
            let ends = [self.place([x - radius, 0.0])[0], self.place([x + radius, 0.0])[0]];
            super::theory::interval(&mut self.picture, field, ends, words);
        }
    }

    /// The sign of what is shown.
    pub(super) fn sign(&self, quantity: Quantity) -> &'static str {
        let equation = self.scenario.model().equation();
        if self.look.difference {
            super::overlay::sign_of_difference(quantity, equation)
        } else {
            super::overlay::sign(quantity, equation)
        }
    }

    /// Where a plane of a box stands, in words; empty for all else, also for momenta.
    fn plane(&self) -> String {
        let grid = self.scenario.grid();
        if grid.rank() != 3 || self.space.is_some() || self.look.quantity == Quantity::Momentum {
            return String::new();
        }
        let length = self.units.length;
        let at = super::overlay::plain(index(self.request.z) * grid.spacing() * length.per);
        format!("z = {at}{}", length.suffix())
    }

    pub(super) fn legend<'a>(&self, scenario: &'a Scenario, levels: Levels, clock: &Clock) -> Legend<'a> {
        let grid = self.scenario.grid();
        let sites = index(self.request.x.len());
        let (length, length_unit) = if self.look.quantity == Quantity::Momentum {
            (wave_number(grid, 0, sites) - wave_number(grid, 0, 0.0), NONE)
        } else {
            (sites * grid.spacing() * self.units.length.per, self.units.length)
        };
        Legend {
            title: scenario.title(),
            time: clock.time * self.units.time.per,
            plane: self.plane(),
            decimals: self.decimals,
            sign: self.sign(self.look.quantity),
            map: self.map,
            levels,
            gamma: if self.map.kind == Kind::Diverging || grid.rank() == 1 {
                1.0
            } else {
                self.look.gamma
            },
            length,
            length_unit: length_unit.suffix(),
            time_unit: self.units.time.suffix(),
        }
    }

    pub(super) fn axes(&self, image: &FieldImage) -> (Axis, Axis) {
        #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
        let extent = |sites: usize| sites as f64 / image.reduction.max(1) as f64;
        let rows = if self.scenario.grid().rank() == 1 {
            1
        } else {
            self.field.height
        };
        let grid = self.scenario.grid();
        // The pressure is 0 one spacing outside of soft edges, where they are seen.
        let is_pressure = image.quantity == Some(Quantity::Pressure) && image.reduction <= 1;
        let soft = |axis: usize, seen: &Range<usize>| {
            let is_soft = is_pressure && grid.edges()[axis] == Edge::Soft;
            [is_soft && seen.start == 0, is_soft && seen.end == grid.size()[axis]]
        };
        let (across, up) = (&self.request.x, &self.request.y);
        (
            Axis::between(image.size[0], extent(across.len()), self.field.width, soft(0, across)),
            Axis::between(image.size[1], extent(up.len()), rows, soft(1, up)),
        )
    }
}

impl Shot for Painter {
    fn size(&self) -> [usize; 2] {
        Self::size(self)
    }

    fn picture(&self) -> &Picture {
        Self::picture(self)
    }

    fn watch(&mut self, progress: &Progress) {
        Self::watch(self, progress);
    }

    fn title_card(&mut self, engine: &Engine) {
        Self::title_card(self, engine);
    }

    fn end_card(&mut self, engine: &Engine) {
        Self::end_card(self, engine);
    }

    fn shoot(&mut self, engine: &mut Engine, seconds: f32) -> Result<(), EngineError> {
        Self::shoot(self, engine, seconds).map(|_| ())
    }
}

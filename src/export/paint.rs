//! From a reduced field to a finished picture: the same colours as in the window, with its medium, axes and legend.

use super::graph::Graph;
use super::overlay::{self, Legend, Margins};
use super::picture::{Picture, Rect};
use super::resample::{Axis, resample};
use super::shade::Shade;
use super::space::Space;
use super::text::Align;
use super::theme::Theme;
use crate::colormap::{self, Colormap, ColormapError, Kind, Levels, dimmed, phase_entry};
use crate::engine::maps::wave_number;
use crate::engine::{Engine, EngineError, RangeKeeper};
use crate::physics::{Equation, Sets};
use crate::scene::Scenario;
use crate::scene::scenario::{ColorRange, Opacity, Orbit, Quantity, ViewMode};
use crate::solver::{Clock, FieldImage, FieldVolume, ImageRequest};
use crate::space::Subject;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// A field's longer side in a picture whose size is not given is about this many pixels.
const NATURAL: usize = 1280;
/// Size of a graph whose size is not given.
const GRAPH: [usize; 2] = [1280, 640];
/// Size of a field in space whose size is not given.
const SPACE: [usize; 2] = [1280, 960];

/// How a scene is to be shown.
#[derive(Clone, Debug)]
pub struct Look {
    /// What is shown.
    pub quantity: Quantity,
    /// A colour map's name, or `auto`.
    pub colormap: String,
    /// The colour range.
    pub range: ColorRange,
    /// Pixels; `None` = whole pixels a site, or whole sites a pixel.
    pub size: Option<[usize; 2]>,
    /// Sites along x and y of the part that is shown; `None` = the whole plane. Fields in space are shown whole.
    pub region: Option<[Range<usize>; 2]>,
    /// The plane of a 3D field; `None` = that of `slices`.
    pub plane: Option<usize>,
    /// How a 3D field is shown.
    pub mode: ViewMode,
    /// From where it is looked at.
    pub orbit: Orbit,
    /// Lengths at which its slices stand.
    pub slices: [f64; 3],
    /// How opaque its values are.
    pub opacity: Opacity,
    /// Whether it is lit along its gradients.
    pub shading: bool,
    /// Title, clock, colour bar and scale bar.
    pub overlay: bool,
}

impl Look {
    /// What the scene itself asks for, without overlay, at its natural size.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let view = scenario.view();
        Self {
            quantity: view.quantity,
            colormap: view.colormap.clone(),
            range: view.range,
            size: None,
            region: None,
            plane: None,
            mode: view.mode,
            orbit: view.camera,
            slices: view.slices.unwrap_or_else(|| {
                let grid = scenario.grid();
                // The middle site, where the window's slices stand at first.
                grid.size().map(|sites| index(sites / 2) * grid.spacing())
            }),
            opacity: view.opacity.clone(),
            shading: view.shading,
            overlay: false,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
fn index(sites: usize) -> f64 {
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

/// The unit of lengths.
fn length_unit(scenario: &Scenario) -> &'static str {
    match scenario.model().equation() {
        Equation::Schrodinger => "",
        Equation::Acoustic => "m",
    }
}

/// Longest side of a picture.
const MOST: usize = 32768;

/// Makes the pictures of one scene, keeping the colour range from one to the next.
pub struct Painter {
    scenario: Arc<Scenario>,
    look: Look,
    map: &'static Colormap,
    theme: &'static Theme,
    /// The field or the graph in the picture.
    field: Rect,
    unit: f32,
    request: ImageRequest,
    keeper: RangeKeeper,
    shade: Option<Shade>,
    space: Option<Space>,
    /// The picture before anything that changes.
    picture: Picture,
    /// Decimals of the clock.
    decimals: usize,
    /// What the engine drew last.
    image: FieldImage,
    volume: FieldVolume,
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
        // A graph of |ψ|² is coloured by phase, so both quantities are one picture there.
        let quantum = scenario.model().equation() == Equation::Schrodinger;
        let by_phase = line && quantum && matches!(look.quantity, Quantity::Density | Quantity::Phase);
        let shown = if by_phase { Quantity::Phase } else { look.quantity };
        let named = colormap::resolve(&look.colormap, look.quantity.map_kind())?;
        let map = if by_phase && named.kind != Kind::Cyclic {
            colormap::auto(Kind::Cyclic)
        } else {
            named
        };
        let of_slices = (look.slices[2] / grid.spacing()).round().clamp(0.0, index(nz - 1));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the grid"
        )]
        let plane = look.plane.unwrap_or(of_slices as usize);
        if plane >= nz {
            return Err(LookError::Plane { plane, last: nz - 1 });
        }
        // Momenta have no box of lengths.
        let in_space = grid.rank() == 3 && look.mode != ViewMode::Plane && look.quantity != Quantity::Momentum;
        let within = |range: &Range<usize>, sites: usize| {
            let end = range.end.clamp(1, sites);
            range.start.min(end - 1)..end
        };
        let [x, y] = match &look.region {
            Some([x, y]) if !in_space => [within(x, nx), within(y, ny)],
            _ => [0..nx, 0..ny],
        };
        let (size, field, unit) = layout([x.len(), y.len()], line, in_space, look)?;
        let request = ImageRequest {
            quantity: shown,
            x,
            y,
            z: plane,
            // Up to twice the pixels, so that reducing to them averages evenly.
            max_size: if line {
                [2 * field.width, 1]
            } else {
                [2 * field.width, 2 * field.height]
            },
        };
        let theme = Theme::of(named);
        let space = if in_space {
            Space::new(&scenario, look, field.width.max(field.height), length_unit(&scenario))
        } else {
            None
        };
        // The space of momenta holds nothing of the medium.
        let momenta = look.quantity == Quantity::Momentum;
        let shade = if line || momenta || space.is_some() {
            None
        } else {
            Shade::new(scenario.medium(), &request, [field.width, field.height])
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let decimals = (-time_step.abs().log10().floor()).clamp(0.0, 4.0) as usize;
        Ok(Self {
            keeper: RangeKeeper::new(look.range),
            look: look.clone(),
            map,
            theme,
            field,
            unit,
            request,
            shade,
            space,
            picture: Picture::filled(size[0], size[1], theme.ground),
            decimals,
            image: FieldImage::default(),
            volume: FieldVolume::default(),
            scenario,
        })
    }

    /// Pixels of every picture.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.picture.width, self.picture.height]
    }

    /// Where the field (or graph) stands in the picture.
    #[must_use]
    pub fn field(&self) -> Rect {
        self.field
    }

    /// What the solver shall reduce.
    #[must_use]
    pub fn request(&self) -> &ImageRequest {
        &self.request
    }

    /// Has an engine draw what is shown of its present state, and paints it, `seconds` of the film after the last picture.
    ///
    /// # Errors
    /// If the engine cannot draw it.
    pub fn shoot(&mut self, engine: &mut Engine, seconds: f32) -> Result<&Picture, EngineError> {
        let clock = engine.clock();
        self.follow(engine);
        if let Some(space) = &mut self.space {
            let mut volume = std::mem::take(&mut self.volume);
            engine.volume(space.request(), &mut volume)?;
            self.paint_space(&volume, &clock, seconds);
            self.volume = volume;
            return Ok(&self.picture);
        }
        let mut image = std::mem::take(&mut self.image);
        engine.image(&self.request, &mut image)?;
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
            if self.shade.is_some() || (self.space.is_none() && !momenta && present.grid().rank() > 1) {
                self.shade = Shade::new(present.medium(), &self.request, size);
            }
            if self.space.is_some() {
                self.space = Space::new(&present, &self.look, size[0].max(size[1]), length_unit(&present));
            }
        }
        self.scenario = present;
    }

    /// Paints a field in space.
    fn paint_space(&mut self, volume: &FieldVolume, clock: &Clock, seconds: f32) {
        let levels = self.keeper.levels_of(volume.quantity, volume.top, seconds);
        let (width, height) = (self.picture.width, self.picture.height);
        self.picture = Picture::filled(width, height, self.theme.ground);
        let field = self.field;
        if let Some(space) = &mut self.space {
            let of = (volume, self.map, levels);
            space.paint(&mut self.picture, field, of, (self.unit, self.theme));
        }
        if self.look.overlay {
            let scenario = Arc::clone(&self.scenario);
            let legend = self.legend(&scenario, levels, clock);
            legend.draw_in_space(&mut self.picture, field, self.unit, self.theme);
        }
    }

    /// Paints what the solver gave for [`Painter::request`], `seconds` of the film after the last picture.
    pub fn paint(&mut self, image: &FieldImage, clock: &Clock, seconds: f32) -> &Picture {
        let (width, height) = (self.picture.width, self.picture.height);
        self.picture = Picture::filled(width, height, self.theme.ground);
        if self.scenario.grid().rank() == 1 {
            self.paint_line(image, clock, seconds);
        } else {
            self.paint_plane(image, clock, seconds);
        }
        &self.picture
    }

    fn paint_plane(&mut self, image: &FieldImage, clock: &Clock, seconds: f32) {
        let field = self.field;
        let levels = self.keeper.levels(image, seconds);
        let colors = self.colors(image, levels);
        for (row, line) in colors.chunks(field.width).enumerate() {
            // Row 0 of the field is at the bottom.
            let y = field.y + field.height - 1 - row;
            for (x, color) in line.iter().enumerate() {
                self.picture.set(field.x + x, y, *color);
            }
        }
        if let Some(shade) = &self.shade {
            let drives = self.drives(clock.time);
            shade.draw(&mut self.picture, field, &drives, self.theme);
        }
        if self.look.overlay {
            let scenario = Arc::clone(&self.scenario);
            let legend = self.legend(&scenario, levels, clock);
            legend.draw(&mut self.picture, field, self.unit, self.theme);
        }
    }

    /// One colour a pixel of the field, bottom row first.
    fn colors(&self, image: &FieldImage, levels: Levels) -> Vec<[u8; 3]> {
        let (x, y) = self.axes(image);
        let values = resample(&image.value, image.size[0], &x, &y);
        if image.quantity == Some(Quantity::Phase) {
            let (re, im) = parts(image);
            let re = resample(&re, image.size[0], &x, &y);
            let im = resample(&im, image.size[0], &x, &y);
            let table = self.map.table();
            return values
                .par_iter()
                .zip(re.par_iter().zip(&im))
                .map(|(value, (re, im))| {
                    let step = byte(levels.brightness(*value));
                    dimmed(table[phase_entry(im.atan2(*re))], step)
                })
                .collect();
        }
        let mapping = levels.mapping(self.map.kind);
        let table = self.map.table();
        values.par_iter().map(|value| table[mapping.entry(*value)]).collect()
    }

    fn paint_line(&mut self, image: &FieldImage, clock: &Clock, seconds: f32) {
        let field = self.field;
        let (x, y) = self.axes(image);
        let phases = image.quantity == Some(Quantity::Phase);
        let mut shown = image.clone();
        if phases {
            for value in &mut shown.value {
                *value *= *value;
            }
        }
        let levels = self.keeper.levels(&shown, seconds);
        let mut values = resample(&shown.value, image.size[0], &x, &y);
        let table = self.map.table();
        let colors: Vec<[u8; 3]> = if phases {
            // The cubic may swing below 0 beside steep flanks; a density cannot.
            for value in &mut values {
                *value = value.max(0.0);
            }
            let (re, im) = parts(image);
            let re = resample(&re, image.size[0], &x, &y);
            let im = resample(&im, image.size[0], &x, &y);
            let hue = |(re, im): (&f32, &f32)| table[phase_entry(im.atan2(*re))];
            re.iter().zip(&im).map(hue).collect()
        } else {
            let mapping = levels.mapping(self.map.kind);
            values.iter().map(|value| table[mapping.entry(*value)]).collect()
        };
        // Some air above (and below) the curve.
        let air = 0.08 * (levels.high - levels.low);
        let bottom = if levels.low < 0.0 { levels.low - air } else { levels.low };
        let subject = Subject::of(&self.scenario, clock.time);
        let momenta = self.look.quantity == Quantity::Momentum;
        let (medium, walls) = if momenta {
            (Vec::new(), Vec::new())
        } else {
            self.line_medium(&subject)
        };
        let quantity = if phases { Quantity::Density } else { self.look.quantity };
        let grid = self.scenario.grid();
        let along = |site: f64| {
            if momenta {
                wave_number(grid, 0, site)
            } else {
                site * grid.spacing()
            }
        };
        let graph = Graph {
            values: &values,
            colors: &colors,
            range: [bottom, levels.high + air],
            span: [
                along(index(self.request.x.start) - 0.5),
                along(index(self.request.x.end) - 0.5),
            ],
            medium: &medium,
            medium_name: {
                let (_, sign, unit, base) = subject.name();
                (sign, unit, base)
            },
            walls: &walls,
            sign: overlay::sign(quantity),
            along: self.along(),
        };
        graph.draw(&mut self.picture, field, self.unit, self.theme);
        if self.look.overlay {
            let scenario = Arc::clone(&self.scenario);
            let legend = self.legend(&scenario, levels, clock);
            let base = overlay::pixel(field.y) - 2.75 * self.unit;
            legend.head(&mut self.picture, field, base, self.unit, self.theme);
            if phases {
                self.hue_strip();
            }
        }
    }

    fn along(&self) -> &'static str {
        match self.scenario.model().equation() {
            Equation::Schrodinger if self.look.quantity == Quantity::Momentum => "k",
            Equation::Schrodinger => "x",
            Equation::Acoustic => "x / m",
        }
    }

    /// A strip of hues with its phases, in the middle above a graph.
    fn hue_strip(&mut self) {
        let unit = self.unit;
        let field = self.field;
        let width = overlay::ceil(8.0 * unit).min(field.width / 2);
        let strip = Rect {
            x: field.x + (field.width - width) / 2,
            y: field.y - overlay::ceil(1.25 * unit),
            width,
            height: overlay::ceil(0.55 * unit),
        };
        let table = self.map.table();
        for x in 0..width {
            let turn = (overlay::pixel(x) + 0.5) / overlay::pixel(width) - 0.5;
            let color = table[phase_entry(turn * std::f32::consts::TAU)];
            self.picture.fill(
                Rect {
                    x: strip.x + x,
                    width: 1,
                    ..strip
                },
                color,
                1.0,
            );
        }
        let style = self.theme.label(0.85 * unit);
        let base = overlay::pixel(strip.y + strip.height);
        let (left, right) = (overlay::pixel(strip.x), overlay::pixel(strip.x + width));
        style.draw(&mut self.picture, left - 0.4 * unit, base, Align::Right, "arg ψ  −π");
        style.draw(&mut self.picture, right + 0.4 * unit, base, Align::Left, "π");
    }

    /// The medium less its background, and walls, per column of a graph.
    fn line_medium(&self, subject: &Subject) -> (Vec<f32>, Vec<bool>) {
        let medium = self.scenario.medium();
        let sites = self.request.x.len();
        let columns = self.field.width;
        let site = |x: usize| ((2 * x + 1) * sites / (2 * columns)).min(sites - 1);
        let mut levels = Vec::new();
        if subject.is_set(&self.scenario) {
            let (mut row, mut part) = (vec![0.0; sites], vec![0.0; sites]);
            subject.row(&self.scenario, [0, 0], self.request.x.clone(), &mut part, &mut row);
            #[expect(clippy::cast_possible_truncation, reason = "drawn in pixels")]
            levels.extend((0..columns).map(|x| row[site(x)] as f32));
        }
        let mut walls = Vec::new();
        if medium.has(Sets::Wall) {
            let mut row = vec![false; sites];
            medium.wall_row(0, 0, self.request.x.clone(), &mut row);
            walls.extend((0..columns).map(|x| row[site(x)]));
        }
        (levels, walls)
    }

    fn drives(&self, time: f64) -> Vec<f64> {
        let drives = self.scenario.medium().drives();
        drives.iter().map(|drive| drive.eval(&[time])).collect()
    }

    fn legend<'a>(&self, scenario: &'a Scenario, levels: Levels, clock: &Clock) -> Legend<'a> {
        let (length_unit, time_unit) = match self.scenario.model().equation() {
            Equation::Schrodinger => ("", ""),
            Equation::Acoustic => (" m", " s"),
        };
        let grid = self.scenario.grid();
        let sites = index(self.request.x.len());
        let length = if self.look.quantity == Quantity::Momentum {
            wave_number(grid, 0, sites) - wave_number(grid, 0, 0.0)
        } else {
            sites * grid.spacing()
        };
        Legend {
            title: scenario.title(),
            time: clock.time,
            decimals: self.decimals,
            quantity: self.look.quantity,
            map: self.map,
            levels,
            length,
            length_unit,
            time_unit,
        }
    }

    fn axes(&self, image: &FieldImage) -> (Axis, Axis) {
        #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
        let extent = |sites: usize| sites as f64 / image.reduction.max(1) as f64;
        let rows = if self.scenario.grid().rank() == 1 {
            1
        } else {
            self.field.height
        };
        (
            Axis::new(image.size[0], extent(self.request.x.len()), self.field.width),
            Axis::new(image.size[1], extent(self.request.y.len()), rows),
        )
    }
}

/// Re and Im of the unit phasors times |ψ|: what can be interpolated where a phase cannot.
fn parts(image: &FieldImage) -> (Vec<f32>, Vec<f32>) {
    let phasor = |(value, phase): (&f32, &f32)| (value * phase.cos(), value * phase.sin());
    image.value.iter().zip(&image.phase).map(phasor).unzip()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0…1 before")]
fn byte(brightness: f32) -> usize {
    (brightness * 255.0 + 0.5) as usize
}

/// Canvas, field and text size.
fn layout([nx, ny]: [usize; 2], line: bool, in_space: bool, look: &Look) -> Result<([usize; 2], Rect, f32), LookError> {
    #[expect(clippy::cast_precision_loss, reason = "numbers of pixels")]
    let unit_of = |[width, height]: [usize; 2]| {
        let shorter = width.min(height).min(2 * width.max(height) / 3) as f32;
        let longer = width.max(height) as f32;
        (shorter / 32.0).max(longer / 64.0).clamp(9.0, 80.0)
    };
    let margins = |unit: f32| match (line, look.overlay) {
        (true, titled) => Margins::for_graph(unit, titled),
        (false, true) => Margins::for_field(unit),
        (false, false) => Margins::default(),
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
        let room = margins(unit);
        let field = Rect {
            x: room.left,
            y: room.top,
            width,
            height,
        };
        // A wheel and its legend need some height of their own.
        let least = if look.overlay { overlay::ceil(unit * 9.0) } else { 0 };
        let canvas = [
            width + room.left + room.right,
            (height + room.top + room.bottom).max(least),
        ];
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
    let unit = unit_of([width, height]);
    let room = margins(unit);
    let least = if line || look.overlay { 160 } else { 16 };
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

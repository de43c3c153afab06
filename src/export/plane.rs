//! The picture of a plane: each row of pixels is resampled and coloured in one pass; then come the medium, what flows, and theory.

use super::look::index;
use super::marks;
use super::paint::Painter;
use super::picture::Rect;
use super::pixels::{Entries, Hues};
use super::resample::{Walls, Wide};
use super::shade::Shade;
use super::theory::Labelled;
use crate::backend::simd::Level;
use crate::colormap::{Kind, Levels, shades};
use crate::physics::{Equation, Sets};
use crate::scene::Scenario;
use crate::scene::scenario::{Flow, Quantity};
use crate::solver::{Clock, FieldImage, ImageRequest};
use crate::space::SteppedMedium;
use rayon::prelude::*;
use std::f32::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

/// Units of text from arrow to arrow.
const FLOW_STEP: f64 = 1.9;

impl Painter {
    pub(super) fn paint_plane(&mut self, image: &FieldImage, clock: &Clock, seconds: f32) {
        let field = self.field;
        let levels = self.keeper.levels(image, seconds);
        self.colors(image, levels);
        let drives = self.drives(clock.time);
        if let Some(shade) = &mut self.shade {
            shade.draw(&mut self.picture, field, &drives, self.theme);
        }
        if self.look.quantity != Quantity::Momentum {
            self.flow();
        }
        if self.look.overlay {
            let scenario = Arc::clone(&self.scenario);
            let legend = self.legend(&scenario, levels, clock);
            if self.is_upright() {
                legend.draw_upright(&mut self.picture, field, self.unit, self.theme);
            } else {
                legend.draw(&mut self.picture, field, self.unit, self.theme);
            }
            let tint = self.shade.as_ref().map_or("", Shade::meaning);
            // Without the word it would be taken for the title of the colours.
            let words = if self.keeper.is_held() {
                "faint: the range ends at 1 % of the largest amplitude so far".to_owned()
            } else {
                super::shade::tint(tint)
            };
            if self.is_upright() {
                super::upright::caption(&mut self.picture, field, &words, (self.unit, self.theme));
            } else {
                super::overlay::caption(&mut self.picture, field, self.unit, self.theme, &words);
            }
            if self.look.quantity != Quantity::Momentum {
                self.marks(clock.time);
                let scale = legend.scale(field, self.unit, self.theme);
                self.outlines(clock.time, scale.map(|(_, _, ground)| ground));
            }
            legend.scale_bar(&mut self.picture, field, self.unit, self.theme);
            self.note(clock.time, 3.4);
        }
    }

    /// What flows over a plane, and trajectories.
    fn flow(&mut self) {
        let (field, words) = (self.field, (self.unit, self.theme));
        let spacing = self.scenario.grid().spacing();
        let (x, y) = (self.request.x.clone(), self.request.y.clone());
        if let Some(map) = &self.flow {
            let pixels = f64::from(super::overlay::pixel(field.width)) / index(x.len());
            let step = FLOW_STEP * f64::from(self.unit) / pixels.max(1e-9);
            let seen = [[index(x.start), index(y.start)], [index(x.end), index(y.end)]];
            let strokes = match self.scenario.view().flow {
                Flow::Streamlines => map.streamlines(seen, 0.8 * step),
                _ => map.arrows(seen, step),
            };
            let frame = self.frame();
            let place = |[x, y]: [f64; 2]| frame([(x - 0.5) * spacing, (y - 0.5) * spacing]);
            super::flow::strokes(&mut self.picture, field, &strokes, place, words);
        }
        let frame = self.frame();
        super::flow::trajectories(&mut self.picture, field, &self.paths, frame, words);
    }

    /// Where sources and transducers stand.
    fn marks(&mut self, t: f64) {
        let (field, words, frame) = (self.field, (self.unit, self.theme), self.frame());
        let scenario = Arc::clone(&self.scenario);
        let (grid, plane) = (scenario.grid(), self.request.z);
        let at = (grid.rank() == 3).then(|| index(plane) * grid.spacing());
        let playing = (scenario.sources(), t);
        marks::sources(&mut self.picture, field, (playing, grid, at), &frame, words);
        let sites = (&*self.transducers, grid, plane);
        marks::transducers(&mut self.picture, field, sites, &frame, words);
    }

    /// Lines and circles of theory over a plane, whose labels leave the scale bar free.
    fn outlines(&mut self, t: f64, scale: Option<Rect>) {
        let (field, words) = (self.field, (self.unit, self.theme));
        let scenario = Arc::clone(&self.scenario);
        let theories = self.claims.theories_of(scenario.theories());
        let drawn = theories.iter().filter_map(|theory| {
            let points = theory.outline(t)?.into_iter().map(|at| self.place(at));
            Some((points.collect(), theory.label.as_str()))
        });
        let drawn: Vec<Labelled<'_>> = drawn.collect();
        super::theory::lines(&mut self.picture, field, (&drawn, scale), words);
    }

    /// Colours the pixels of the field.
    fn colors(&mut self, image: &FieldImage, levels: Levels) {
        let (x, y) = self.axes(image);
        let (width, axes, gamma) = (image.size[0], (&x, &y), self.look.gamma);
        let mut room = std::mem::take(&mut self.room);
        let [of_values, of_re, of_im] = &mut room.wide;
        let walls = Walls::new(&self.walls, width, &x);
        let walls = walls.as_ref();
        let values = Wide::new(&image.value, width, axes, walls, of_values);
        if image.quantity == Some(Quantity::Phase) {
            let [re, im] = &mut room.parts;
            parts_into(image, re, im);
            let (re, im) = (
                Wide::new(re, width, axes, walls, of_re),
                Wide::new(im, width, axes, walls, of_im),
            );
            let known = room.shades.take().filter(|(map, _)| *map == self.map.id);
            let (_, shades) = room
                .shades
                .insert(known.unwrap_or_else(|| (self.map.id, shades(self.map))));
            self.rows(|n, lent, row| {
                let [value, across, up] = &mut lent.numbers;
                values.row(n, value);
                re.row(n, across);
                im.row(n, up);
                let hues = Hues {
                    value,
                    re: across,
                    im: up,
                    places: &mut lent.places,
                    look: (levels, gamma),
                };
                lent.level.run(hues);
                for (pixel, place) in row.iter_mut().zip(&lent.places) {
                    *pixel = shades[usize::from(*place)];
                }
            });
        } else {
            let (table, mapping) = (self.map.table(), levels.mapping(self.map.kind));
            let bent = self.map.kind == Kind::Sequential && gamma != 1.0;
            self.rows(|n, lent, row| {
                let [value, ..] = &mut lent.numbers;
                values.row(n, value);
                let entries = Entries {
                    value,
                    entries: &mut lent.entries,
                    mapping,
                    bent: bent.then_some((levels, gamma)),
                };
                lent.level.run(entries);
                for (pixel, entry) in row.iter_mut().zip(&lent.entries) {
                    *pixel = table[usize::from(*entry)];
                }
            });
        }
        self.room = room;
    }

    /// Fills the rows of pixels of the field, which are counted from below, side by side.
    fn rows(&mut self, fill: impl Fn(usize, &mut Lent, &mut [[u8; 3]]) + Sync) {
        let field = self.field;
        let rows = self.picture.rgb.par_chunks_mut(3 * self.picture.width);
        let rows = rows.skip(field.y).take(field.height).enumerate();
        rows.for_each_init(
            || Lent::new(field.width),
            |lent, (n, row)| {
                let row = &mut row[3 * field.x..3 * (field.x + field.width)];
                fill(field.height - 1 - n, lent, row.as_chunks_mut().0);
            },
        );
    }

    fn drives(&self, time: f64) -> Vec<f64> {
        let drives = self.scenario.medium().drives();
        drives.iter().map(|drive| drive.eval(&[time])).collect()
    }
}

/// Which texels of a picture of sound are rigid walls, x fastest: every site of theirs is one. Empty where there are none, and for ψ, which goes to 0 at a wall.
pub(super) fn rigid(scenario: &Scenario, request: &ImageRequest) -> Vec<bool> {
    if scenario.model().equation() != Equation::Acoustic || !scenario.medium().has(Sets::Wall) {
        return Vec::new();
    }
    let (reduction, stepped) = (request.reduction(), SteppedMedium::new(scenario));
    let width = request.x.len().div_ceil(reduction);
    let mut walls = vec![true; width * request.y.len().div_ceil(reduction)];
    walls.par_chunks_mut(width.max(1)).enumerate().for_each_init(
        || vec![false; request.x.len()],
        |row, (texels, out)| {
            let first = request.y.start + texels * reduction;
            for j in first..(first + reduction).min(request.y.end) {
                stepped.wall_row([j, request.z], request.x.clone(), row);
                for (i, wall) in row.iter().enumerate() {
                    out[i / reduction] &= *wall;
                }
            }
        },
    );
    walls
}

/// What pictures of a plane are worked out in, kept from one to the next.
#[derive(Default)]
pub(super) struct Room {
    /// Re and Im of the samples.
    parts: [Vec<f32>; 2],
    /// Planes with pixels along x and samples along y.
    wide: [Vec<f32>; 3],
    /// The colours of a map of phases at every brightness.
    shades: Option<(&'static str, Vec<[u8; 3]>)>,
}

/// What is lent to a row of pixels.
struct Lent {
    level: Level,
    numbers: [Vec<f32>; 3],
    places: Vec<u16>,
    entries: Vec<u8>,
}

impl Lent {
    fn new(width: usize) -> Self {
        Self {
            level: Level::best(),
            numbers: [(); 3].map(|()| vec![0.0; width]),
            places: vec![0; width],
            entries: vec![0; width],
        }
    }
}

/// Re and Im of the unit phasors times |ψ|: what can be interpolated where a phase cannot.
pub(super) fn parts(image: &FieldImage) -> (Vec<f32>, Vec<f32>) {
    let (mut re, mut im) = (Vec::new(), Vec::new());
    parts_into(image, &mut re, &mut im);
    (re, im)
}

/// The same in memory that is there.
fn parts_into(image: &FieldImage, re: &mut Vec<f32>, im: &mut Vec<f32>) {
    let width = image.size[0].max(1);
    re.resize(image.value.len(), 0.0);
    im.resize(image.value.len(), 0.0);
    let rows = re.par_chunks_mut(width).zip(im.par_chunks_mut(width));
    let samples = image.value.par_chunks(width).zip(image.phase.par_chunks(width));
    rows.zip(samples).for_each(|((re, im), (value, phase))| {
        let parts = re.iter_mut().zip(im);
        for ((re, im), (value, phase)) in parts.zip(value.iter().zip(phase)) {
            let [cosine, sine] = direction(*phase);
            (*re, *im) = (value * cosine, value * sine);
        }
    });
}

/// Cosine and sine of an angle in −π…π, as close as a colour needs: a polynomial (odd powers to the 9th, least greatest error:
/// 3e-9) that the compiler makes vectors of.
fn direction(angle: f32) -> [f32; 2] {
    let half_turn = if angle < 0.0 { -PI } else { PI };
    let folded = if angle.abs() > FRAC_PI_2 {
        half_turn - angle
    } else {
        angle
    };
    [sine(FRAC_PI_2 - angle.abs()), sine(folded)]
}

/// The sine of an angle in −π/2…π/2.
fn sine(x: f32) -> f32 {
    let x2 = x * x;
    x * (0.999_999_98 + x2 * (-0.166_666_48 + x2 * (0.008_332_9 + x2 * (-0.000_198_009 + x2 * 2.590_49e-6))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texels are walls where all of their sites are; a painter of ψ, which is 0 at walls, has none.
    #[test]
    fn walls_of_sound_are_known_to_the_picture() {
        let painted = |equation: &str, begins: &str, size: usize| {
            let text = format!(
                "format = 1\n[grid]\nsize = [40, 20]\nspacing = 0.1\n[{equation}]\n[time]\nend = 0.001\n\
                 [[{begins}]]\ncenter = [3.0, 1.0]\nwidth = 0.3\n\
                 [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [1.0, 0.0]\nmax = [1.25, 1.9]\n"
            );
            let (_, scenario) = crate::solver::read_scene_text(&text, None, &[]).unwrap();
            let request = ImageRequest::new(Quantity::Pressure, [0..40, 0..20], 0, [size; 2]);
            rigid(&scenario, &request)
        };
        let columns = |walls: &[bool], width: usize| -> Vec<usize> {
            let row = walls.iter().take(width).enumerate();
            row.filter(|(_, wall)| **wall).map(|(x, _)| x).collect()
        };
        let fine = painted("acoustic", "pulse", 40);
        assert_eq!((fine.len(), columns(&fine, 40)), (800, vec![10, 11, 12]));
        let coarse = painted("acoustic", "pulse", 20);
        assert_eq!((coarse.len(), columns(&coarse, 20)), (200, vec![5]));
        assert!(painted("quantum", "packet", 40).is_empty());
    }

    #[test]
    fn directions_are_those_of_the_library() {
        for n in -4000i16..=4000 {
            let angle = f32::from(n) / 4000.0 * PI;
            let [cosine, sine] = direction(angle);
            // The polynomial's greatest error, and a few roundings of numbers below π.
            assert!(
                (cosine - angle.cos()).abs() < 1e-6 && (sine - angle.sin()).abs() < 1e-6,
                "{angle}"
            );
        }
    }
}

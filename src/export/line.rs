//! Lines of sites as graphs over them, with their medium below.

use super::graph::{Graph, GraphMedium, STRIP};
use super::look::index;
use super::marks;
use super::overlay;
use super::paint::Painter;
use super::picture::Rect;
use super::plane::parts;
use super::resample::resample;
use super::text::Align;
use super::units;
use crate::colormap::{direction_entry, phase_entry};
use crate::engine::hues_have_room;
use crate::engine::maps::wave_number;
use crate::engine::trajectories::ShownPath;
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::{Clock, FieldImage};
use crate::space::{SteppedMedium, Subject};
use std::sync::Arc;

/// The fill of |ψ|² where hues would be finer than the eye can tell, as in `kernels/curve.wgsl`.
const PLAIN: [u8; 3] = [74, 128, 199];

impl Painter {
    pub(super) fn paint_line(&mut self, image: &FieldImage, clock: &Clock, seconds: f32) {
        let field = self.field;
        let (x, y) = self.axes(image);
        let phases = image.quantity == Some(Quantity::Phase);
        let mut shown = image.clone();
        if phases {
            for value in &mut shown.value {
                *value *= *value;
            }
        }
        let per_site = index(field.width) / index(self.request.x.len());
        let hues = phases && hues_have_room(&self.scenario, per_site);
        let levels = self.keeper.levels(&shown, seconds);
        // Silence has an axis all the same.
        let spanned = levels.spread(self.map.kind);
        let mut values = resample(&shown.value, image.size[0], (&x, &y), &self.walls);
        let table = self.map.table();
        if phases {
            // The cubic may swing below 0 beside steep flanks; a density cannot.
            for value in &mut values {
                *value = value.max(0.0);
            }
        }
        let colors: Vec<[u8; 3]> = if phases && !hues {
            vec![PLAIN; values.len()]
        } else if phases {
            let (re, im) = parts(image);
            let re = resample(&re, image.size[0], (&x, &y), &[]);
            let im = resample(&im, image.size[0], (&x, &y), &[]);
            let hue = |(re, im): (&f32, &f32)| table[direction_entry(*re, *im)];
            re.iter().zip(&im).map(hue).collect()
        } else {
            let mapping = levels.mapping(self.map.kind);
            values.iter().map(|value| table[mapping.entry(*value)]).collect()
        };
        // Some air above (and below) the curve.
        let air = 0.08 * (spanned.high - spanned.low);
        let bottom = if spanned.low < 0.0 {
            spanned.low - air
        } else {
            spanned.low
        };
        let momenta = self.look.quantity == Quantity::Momentum;
        let (media, walls) = if momenta {
            (Vec::new(), Vec::new())
        } else {
            self.line_media(clock.time)
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
        let unit = if momenta { units::NONE } else { self.units.length };
        let graph = Graph {
            values: &values,
            colors: &colors,
            range: [bottom, spanned.high + air],
            span: [
                along(index(self.request.x.start) - 0.5) * unit.per,
                along(index(self.request.x.end) - 0.5) * unit.per,
            ],
            media: &media,
            walls: &walls,
            sign: self.sign(quantity),
            along: &self.along(),
            hues: hues && self.look.overlay,
        };
        graph.draw(&mut self.picture, field, self.unit, self.theme);
        let (range, span) = (graph.range, graph.span.map(|at| at / unit.per));
        let title = graph.title_width(field, self.unit, self.theme);
        if !momenta {
            self.path_marks(span);
        }
        if self.look.overlay {
            let scenario = Arc::clone(&self.scenario);
            if !momenta {
                let (frame, sites) = (self.frame(), Arc::clone(&self.transducers));
                let x_of = |site: usize| frame([index(site) * scenario.grid().spacing(), 0.0])[0];
                marks::transducers_of_line(&mut self.picture, field, &sites, x_of, (self.unit, self.theme));
            }
            // A theory is of a run, and not of how two differ.
            if !momenta && !self.look.difference {
                self.theory(&scenario, quantity, clock.time, (range, span));
            }
            self.note(clock.time, 0.6);
            let legend = self.legend(&scenario, levels, clock);
            let base = overlay::pixel(field.y) - 2.75 * self.unit;
            legend.head(&mut self.picture, field, base, self.unit, self.theme);
            if hues {
                self.hue_strip(title);
            }
        }
    }

    /// Where trajectories stand, as discs on the axis.
    fn path_marks(&mut self, span: [f64; 2]) {
        let (field, words) = (self.field, (self.unit, self.theme));
        let bottom = overlay::pixel(field.y + field.height) - 0.5 * self.unit;
        let last = |path: &ShownPath| ShownPath {
            group: path.group,
            points: path.points.last().copied().into_iter().collect(),
        };
        let marks: Vec<ShownPath> = self.paths.iter().map(last).collect();
        let place = |[x, _]: [f64; 2]| {
            #[expect(clippy::cast_possible_truncation, reason = "a position in the picture")]
            let part = ((x - span[0]) / (span[1] - span[0])) as f32;
            [overlay::pixel(field.x) + part * overlay::pixel(field.width), bottom]
        };
        super::flow::trajectories(&mut self.picture, field, &marks, place, words);
    }

    /// What theory says of the graph, dashed, with its labels.
    fn theory(&mut self, scenario: &Scenario, quantity: Quantity, t: f64, (range, span): ([f32; 2], [f64; 2])) {
        let (field, words) = (self.field, (self.unit, self.theme));
        let theories = self.claims.theories_of(scenario.theories());
        let drawn = theories.iter().filter_map(|theory| {
            let value = theory.over_cut(0, quantity, 0.0, t)?;
            let column = |x: usize| {
                let part = (index(x) + 0.5) / index(field.width);
                let value = value(span[0] + part * (span[1] - span[0]));
                #[expect(clippy::cast_possible_truncation, reason = "a position in the picture")]
                let up = (value as f32 - range[0]) / (range[1] - range[0]).max(f32::MIN_POSITIVE);
                let y = overlay::pixel(field.y) + (1.0 - up) * overlay::pixel(field.height);
                [overlay::pixel(field.x + x) + 0.5, y]
            };
            let points: Vec<[f32; 2]> = (0..field.width).map(column).filter(|[_, y]| y.is_finite()).collect();
            Some((points, theory.label.as_str()))
        });
        super::theory::lines(&mut self.picture, field, (&drawn.collect::<Vec<_>>(), None), words);
    }

    fn along(&self) -> String {
        if self.look.quantity == Quantity::Momentum {
            return "k".to_owned();
        }
        self.units.length.after("x")
    }

    /// A strip of hues with its phases, in the middle above a graph, where it has room beside the `title` of so many pixels at its left.
    fn hue_strip(&mut self, title: f32) {
        let unit = self.unit;
        let field = self.field;
        let width = overlay::ceil(STRIP * unit).min(field.width / 2);
        let style = self.theme.label(0.85 * unit);
        let room = overlay::pixel(field.width - width) / 2.0 - title - unit;
        let Some(low) = ["arg ψ  −π", "−π"].into_iter().find(|name| style.width(name) <= room) else {
            return;
        };
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
        let base = overlay::pixel(strip.y + strip.height);
        let (left, right) = (overlay::pixel(strip.x), overlay::pixel(strip.x + width));
        style.draw(&mut self.picture, left - 0.4 * unit, base, Align::Right, low);
        style.draw(&mut self.picture, right + 0.4 * unit, base, Align::Left, "π");
    }

    /// What layers set, and walls, per column of a graph.
    fn line_media(&self, time: f64) -> (Vec<GraphMedium>, Vec<bool>) {
        let sites = self.request.x.len();
        let columns = self.field.width;
        let site = |x: usize| ((2 * x + 1) * sites / (2 * columns)).min(sites - 1);
        let stepped = SteppedMedium::new(&self.scenario);
        let (mut row, mut part) = (vec![0.0; sites], vec![0.0; sites]);
        let of = |subject: &Subject| {
            stepped.row(subject, [0, 0], self.request.x.clone(), &mut part, &mut row);
            let (_, sign, unit, base) = subject.name();
            #[expect(clippy::cast_possible_truncation, reason = "drawn in pixels")]
            let levels = (0..columns).map(|x| row[site(x)] as f32).collect();
            GraphMedium {
                levels,
                sign,
                unit,
                base,
            }
        };
        let media = Subject::all(&self.scenario, time).iter().map(of).collect();
        let mut walls = Vec::new();
        if self.scenario.medium().has(Sets::Wall) {
            let mut row = vec![false; sites];
            stepped.wall_row([0, 0], self.request.x.clone(), &mut row);
            walls.extend((0..columns).map(|x| row[site(x)]));
        }
        (media, walls)
    }
}

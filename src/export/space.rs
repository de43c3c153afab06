//! A scene of three dimensions in its box: the result of [`super::march`], with edges, scales and the names of the surfaces.

use super::look::Look;
use super::march::{Marcher, Numbers};
use super::overlay::signed;
use super::picture::{Picture, Rect};
use super::progress::Progress;
use super::text::Align;
use super::theme::Theme;
use super::units::Unit;
use crate::colormap::{Colormap, Levels};
use crate::scene::Scenario;
use crate::solver::{FieldVolume, VolumeRequest};
use crate::space::frame::{AXES, outline, scales, wires};
use crate::space::medium::{SteppedMedium, Subject};
use crate::space::stage::Plan;
use crate::space::{Camera, MediumVolume, Mode, Shape, Stage};

/// Most texels of a field along its longest side.
const MOST: usize = 512;

/// Steps of a ray along the longest side at least: longer ones through coarse fields would make stairs of the rims of surfaces.
const STEPS: f32 = 256.0;

/// The picture in space of one scene.
pub struct Space {
    shape: Shape,
    mode: Mode,
    look: Look,
    medium: MediumVolume,
    /// What surfaces, or the tint of planes, stand for; empty where there are none.
    label: String,
    numbers: Numbers,
    request: VolumeRequest,
    /// Unit of lengths.
    length: Unit,
}

impl Space {
    /// The picture of a scene as `look` shows it; `None` if it is shown as a plane or has fewer dimensions. `longer` is the longer side of the
    /// picture in pixels.
    #[must_use]
    pub fn new(scenario: &Scenario, look: &Look, longer: usize, length: Unit) -> Option<Self> {
        let mode = Mode::of(look.mode).filter(|_| scenario.grid().rank() == 3)?;
        let medium = MediumVolume::of(scenario);
        let label = match mode {
            Mode::Slices if look.overlay => tint(scenario, look.slices),
            Mode::Slices => String::new(),
            Mode::Volume => medium.label(),
        };
        Some(Self {
            label,
            shape: Shape::of(scenario.grid()),
            mode,
            look: look.clone(),
            numbers: Numbers::of_medium(&medium),
            medium,
            request: VolumeRequest {
                quantity: look.quantity,
                sites: scenario.grid().size(),
                most: longer.clamp(64, MOST),
            },
            length,
        })
    }

    /// Looks at it from elsewhere.
    pub fn look_from(&mut self, orbit: crate::scene::scenario::Orbit) {
        self.look.orbit = orbit;
    }

    /// What the solver shall reduce.
    pub fn request(&self) -> &VolumeRequest {
        &self.request
    }

    /// The stage over a viewport of `pixels`.
    pub fn stage(&self, field: &FieldVolume, map: &Colormap, levels: Levels, pixels: [f32; 2]) -> Stage {
        let texels = super::overlay::pixel(field.size.into_iter().max().unwrap_or(1));
        let plan = Plan {
            shape: self.shape,
            orbit: &self.look.orbit,
            viewport: pixels,
            mode: self.mode,
            slices: self.look.slices,
            texels_per_step: (texels / STEPS).min(0.5),
            map,
            levels,
            gamma: self.look.gamma,
            opacity: &self.look.opacity.points(),
            shading: self.look.shading,
        };
        Stage::new(&plan, field, Some(&self.medium))
    }

    /// Paints the field into a rectangle of a picture, whose stage it returns; axes only where the look has an overlay. Where `progress` is cancelled the rest stays empty.
    pub fn paint(
        &mut self,
        picture: &mut Picture,
        rect: Rect,
        (field, map, levels): (&FieldVolume, &Colormap, Levels),
        (unit, theme): (f32, &Theme),
        progress: &Progress,
    ) -> Stage {
        let pixels = [super::overlay::pixel(rect.width), super::overlay::pixel(rect.height)];
        let stage = self.stage(field, map, levels, pixels);
        let camera = stage.camera;
        let thick = (unit / 14.0).max(1.0);
        self.edges(picture, rect, &camera, (thick, theme), false);
        self.numbers.take_field(field);
        let colors =
            Marcher::new(&stage, field, &self.medium, &self.numbers).picture_while(&|| !progress.is_cancelled());
        for (n, color) in colors.iter().enumerate() {
            let (x, y) = (rect.x + n % rect.width, rect.y + n / rect.width);
            let under = picture.at(x, y);
            picture.set(x, y, over(under, *color));
        }
        if self.mode == Mode::Slices {
            for axis in 0..3 {
                if let Some(corners) = outline(&self.shape, &camera, axis, stage.slices[axis]) {
                    for n in 0..4 {
                        segment(
                            picture,
                            rect,
                            [corners[n], corners[(n + 1) % 4]],
                            theme.line,
                            (thick, 0.8),
                        );
                    }
                }
            }
        }
        self.edges(picture, rect, &camera, (thick, theme), true);
        if self.look.overlay {
            self.axes(picture, rect, &camera, unit, theme);
            if !self.label.is_empty() {
                let (x, y) = (
                    super::overlay::pixel(rect.x),
                    super::overlay::pixel(rect.y + rect.height),
                );
                let style = theme.label(unit * 0.85);
                style.draw(picture, x + 0.5 * unit, y - 0.6 * unit, Align::Left, &self.label);
            }
        }
        stage
    }

    fn edges(&self, picture: &mut Picture, rect: Rect, camera: &Camera, (thick, theme): (f32, &Theme), front: bool) {
        let strength = if front { 0.75 } else { 0.35 };
        for wire in wires(&self.shape, camera)
            .into_iter()
            .filter(|wire| wire.front == front)
        {
            segment(picture, rect, wire.ends, theme.line, (thick, strength));
        }
    }

    fn axes(&self, picture: &mut Picture, rect: Rect, camera: &Camera, unit: f32, theme: &Theme) {
        let style = theme.label(unit * 0.8);
        let origin = [super::overlay::pixel(rect.x), super::overlay::pixel(rect.y)];
        let shorter = super::overlay::pixel(rect.width.min(rect.height));
        let right = super::overlay::pixel(picture.width) - 0.3 * unit;
        // Where a text of this width begins and ends within the picture.
        let within = |x: f32, width: f32| x.min(right - 0.5 * width).max(0.3 * unit + 0.5 * width);
        let bottom = super::overlay::pixel(picture.height) - 0.3 * unit;
        // Of a box that is larger than what is shown, places beyond are not seen.
        let is_seen = |at: [f32; 2]| is_in(rect, at);
        for scale in scales(&self.shape, camera, self.length.per, (3.3 * unit).min(shorter / 7.0)) {
            let [u, v] = scale.outward;
            let mut widest = 0.0f32;
            // The middle of a text of this width beside a place, and the base line for it.
            let beside = |at: [f32; 2], width: f32, height: f32, gap: f32| {
                let reach = gap + 0.5 * (u.abs() * width + v.abs() * height);
                [
                    origin[0] + at[0] + u * reach,
                    origin[1] + at[1] + v * reach + 0.36 * height,
                ]
            };
            let seen: Vec<&([f32; 2], f64)> = scale.ticks.iter().filter(|(at, _)| is_seen(*at)).collect();
            for (at, value) in &seen {
                let end = [at[0] + 0.3 * unit * u, at[1] + 0.3 * unit * v];
                segment(picture, rect, [*at, end], theme.quiet, ((unit / 16.0).max(1.0), 0.9));
                let text = super::overlay::plain(*value);
                let width = style.width(&text);
                widest = widest.max(u.abs() * width + v.abs() * 0.8 * unit);
                let [x, y] = beside(*at, width, 0.8 * unit, 0.5 * unit);
                style.draw(picture, within(x, width), y.min(bottom), Align::Center, &text);
            }
            let amid = || seen.get(seen.len() / 2).map(|(at, _)| *at);
            let Some(middle) = Some(scale.middle).filter(|at| is_seen(*at)).or_else(amid) else {
                continue;
            };
            let title = self.length.after(AXES[scale.axis]);
            let style = theme.label(unit * 0.95);
            let width = style.width(&title);
            let [x, y] = beside(middle, width, 0.95 * unit, 0.9 * unit + widest);
            style.draw(picture, within(x, width), y.min(bottom), Align::Center, &title);
        }
    }
}

/// What the tint of three planes through a medium stands for; empty where there is none, or where it moves.
fn tint(scenario: &Scenario, slices: [f64; 3]) -> String {
    let grid = scenario.grid();
    let [nx, ny, nz] = grid.size();
    let [x, y, z] = std::array::from_fn(|axis| grid.nearest_on(axis, slices[axis]));
    let stepped = SteppedMedium::new(scenario);
    let flat = (0..ny).map(|j| [j, z]).chain((0..nz).map(|k| [y, k]));
    let across = (0..ny * nz).map(|n| ([n % ny, n / ny], x..x + 1));
    let rows: Vec<_> = flat.map(|row| (row, 0..nx)).chain(across).collect();
    let still = Subject::all(scenario, 0.0).into_iter();
    let still = still.filter(|subject| !matches!(subject, Subject::Potential(drives) if !drives.is_empty()));
    let (mut values, mut part, mut walls) = (vec![0.0; nx], vec![0.0; nx], vec![false; nx]);
    let meanings = still.map(|subject| {
        let mut ends = [f32::INFINITY, f32::NEG_INFINITY];
        for (row, along) in &rows {
            let count = along.len();
            stepped.wall_row(*row, along.clone(), &mut walls[..count]);
            stepped.row(&subject, *row, along.clone(), &mut part[..count], &mut values[..count]);
            for (value, _) in values[..count].iter().zip(&walls).filter(|(_, wall)| !**wall) {
                #[expect(clippy::cast_possible_truncation, reason = "three figures are shown")]
                let value = *value as f32;
                ends = [ends[0].min(value), ends[1].max(value)];
            }
        }
        super::shade::meaning(&subject, &ends)
    });
    super::shade::tint(
        &meanings
            .filter(|words| !words.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
    )
}

/// Whether a place of a rectangle, pixels from its corner, lies within it.
pub(super) fn is_in(rect: Rect, [x, y]: [f32; 2]) -> bool {
    let [width, height] = [rect.width, rect.height].map(super::overlay::pixel);
    (0.0..=width).contains(&x) && (0.0..=height).contains(&y)
}

/// A premultiplied colour over another.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0…255")]
fn over(under: [u8; 3], color: [f32; 4]) -> [u8; 3] {
    std::array::from_fn(|n| {
        let value = 255.0 * color[n] + (1.0 - color[3]) * f32::from(under[n]);
        (value + 0.5).clamp(0.0, 255.0) as u8
    })
}

/// A line in a rectangle, `thick` pixels wide with soft sides: each pixel is covered by its distance from it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "positions inside a picture"
)]
pub(super) fn segment(
    picture: &mut Picture,
    rect: Rect,
    [from, to]: [[f32; 2]; 2],
    color: [u8; 3],
    (thick, strength): (f32, f32),
) {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let square = (dx * dx + dy * dy).max(1e-9);
    let reach = 0.5 * thick + 1.0;
    let (width, height) = (super::overlay::pixel(rect.width), super::overlay::pixel(rect.height));
    // Row by row, or column by column, only the pixels beside the line.
    let steep = dy.abs() > dx.abs();
    let (start, end, most) = if steep {
        (from[1], to[1], height)
    } else {
        (from[0], to[0], width)
    };
    let across = reach * square.sqrt() / (if steep { dy.abs() } else { dx.abs() }).max(1e-6);
    let first = (start.min(end) - reach).max(0.0).floor() as i64;
    let last = (start.max(end) + reach).min(most - 1.0).floor() as i64;
    for main in first..=last {
        let along = main as f32 + 0.5;
        let middle = if steep {
            from[0] + (along - from[1]) * dx / dy
        } else {
            from[1] + (along - from[0]) * dy / dx.abs().max(1e-6).copysign(dx)
        };
        for side in (middle - across).floor() as i64..=(middle + across).ceil() as i64 {
            let (x, y) = if steep { (side, main) } else { (main, side) };
            let (px, py) = (x as f32 + 0.5 - from[0], y as f32 + 0.5 - from[1]);
            let part = ((px * dx + py * dy) / square).clamp(0.0, 1.0);
            let distance = (px - part * dx).hypot(py - part * dy);
            let cover = (0.5 * thick + 0.5 - distance).clamp(0.0, 1.0);
            let inside = x >= 0 && y >= 0 && (x as f32) < width && (y as f32) < height;
            if inside && cover > 0.0 {
                picture.blend(x + signed(rect.x), y + signed(rect.y), color, cover * strength);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tint;

    /// Planes that cross a layer say what its tint stands for, in the words of a plane; others have none.
    #[test]
    fn slices_say_what_their_tint_stands_for() {
        let text = "format = 1\n[grid]\nsize = [12, 10, 8]\nspacing = 1.0\nedges = \"wall\"\n[acoustic]\nspeed = 343.0\ndensity = 1.2\n[time]\nend = 0.001\n[[pulse]]\ncenter = [3.0, 3.0, 3.0]\nwidth = 1.0\n\
                    [[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [7.5, 0.0, 0.0]\nmax = [9.5, 9.0, 2.5]\nvalue = 3.0\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let said = "tint: density 1.2 … 3 kg/m³";
        for slices in [[8.0, 5.0, 6.0], [2.0, 5.0, 6.0], [2.0, 5.0, 1.0]] {
            assert_eq!(tint(&scenario, slices), said, "{slices:?}");
        }
        let bare = text.replace("9.0, 2.5]", "3.0, 2.5]");
        let (_, scenario) = crate::solver::read_scene_text(&bare, None, &[]).unwrap();
        assert_eq!(tint(&scenario, [2.0, 5.0, 6.0]), "");
    }
}

//! A scene of two dimensions as a relief: the triangles of [`crate::space::relief`], filled without graphics hardware.

use super::overlay::{pixel, plain};
use super::picture::{Picture, Rect};
use super::plane::parts;
use super::resample::{Axis, resample};
use super::space::{is_in, segment};
use super::text::Align;
use super::theme::Theme;
use super::units::Unit;
use crate::colormap::Levels;
use crate::engine::maps::wave_number;
use crate::scene::Scenario;
use crate::scene::scenario::{Orbit, Quantity};
use crate::solver::FieldImage;
use crate::space::relief::{Paint, Projection, Surface, surface};

/// Samples a pixel, along each axis: the sides of the surface are smooth.
const FINE: usize = 2;

/// Texels along an axis for a field of so many pixels: quads of six pixels, at least those of the window.
pub fn texels(field: Rect) -> usize {
    (field.width.max(field.height) / 6).clamp(crate::space::relief::MOST, 512)
}

/// Pixels of a quad's side: a crest of a few sites is as smooth as the field's own cubic.
const QUAD: usize = 3;

/// Most quads along an axis, and most of them a texel.
const MOST_QUADS: usize = 720;
const MOST_A_TEXEL: usize = 12;

/// The picture at so many texels that triangles between them leave no teeth on crests: the cubic through its own (see [`Axis`]), on each side of rigid `walls` (one a texel; empty where there are none).
pub fn refined(image: &FieldImage, field: Rect, walls: &[bool]) -> FieldImage {
    let [nx, ny] = image.size;
    let longer = nx.max(ny).max(1);
    let wanted = (field.width.max(field.height) / QUAD)
        .min(MOST_QUADS)
        .min(MOST_A_TEXEL * longer);
    if wanted <= longer || nx < 2 || ny < 2 || image.value.len() != nx * ny {
        return image.clone();
    }
    let size = [nx, ny].map(|n| (n * wanted).div_ceil(longer));
    #[expect(clippy::cast_precision_loss, reason = "numbers of texels")]
    let [x, y] = [0, 1].map(|axis| Axis::new(image.size[axis], image.size[axis] as f64, size[axis]));
    let mut value = resample(&image.value, nx, (&x, &y), walls);
    if image.value.iter().all(|value| *value >= 0.0) {
        // Beside steep flanks the cubic swings below zero.
        for value in &mut value {
            *value = value.max(0.0);
        }
    }
    let mut phase = Vec::new();
    if !image.phase.is_empty() {
        let (re, im) = parts(image);
        let (re, im) = (resample(&re, nx, (&x, &y), walls), resample(&im, nx, (&x, &y), walls));
        phase = re.iter().zip(&im).map(|(re, im)| im.atan2(*re)).collect();
    }
    FieldImage {
        size,
        value,
        phase,
        ..image.clone()
    }
}

/// Paints the surface of a picture into a rectangle.
pub fn paint(
    picture: &mut Picture,
    rect: Rect,
    (image, orbit, colors): (&FieldImage, &Orbit, &Paint<'_>),
    (unit, theme): (f32, &Theme),
) {
    let projection = projection(rect, image, orbit);
    let ground = projection.ground();
    for n in 0..4 {
        let side = [ground[n], ground[(n + 1) % 4]];
        segment(picture, rect, side, theme.line, ((unit / 14.0).max(1.0), 0.8));
    }
    let [width, height] = image.size;
    if width > 1 && height > 1 && image.value.len() == width * height {
        fill(picture, rect, &surface(image, &projection, colors));
    }
}

fn projection(rect: Rect, image: &FieldImage, orbit: &Orbit) -> Projection {
    Projection::new(orbit, image.size, [[0.0; 2], [pixel(rect.width), pixel(rect.height)]])
}

/// Where a place stands on the surface of a picture of so many sites, from the places in sites (site n stands in the middle of n to n + 1).
pub(super) fn standing(
    rect: Rect,
    (image, sites, orbit): (&FieldImage, [usize; 2], &Orbit),
    levels: Levels,
) -> impl Fn([f64; 2]) -> [f32; 2] {
    let standing = crate::space::relief::standing(projection(rect, image, orbit), (image, sites), levels);
    move |at| {
        let [x, y] = standing(at);
        [pixel(rect.x) + x, pixel(rect.y) + y]
    }
}

/// Writes the ends and names of the axes beside the ground.
pub fn axes(
    picture: &mut Picture,
    rect: Rect,
    (image, orbit, scenario): (&FieldImage, &Orbit, &Scenario),
    (unit, length, theme): (f32, Unit, &Theme),
) {
    let projection = projection(rect, image, orbit);
    let grid = scenario.grid();
    let mut axes = Vec::new();
    let momenta = image.quantity == Some(Quantity::Momentum);
    for axis in 0..2 {
        let end = |site: f64| {
            let at = if momenta {
                wave_number(grid, axis, site)
            } else {
                site * grid.spacing() * length.per
            };
            // Three figures: they only say where the picture ends.
            let unit = 10f64.powf(at.abs().max(1e-12).log10().floor() - 2.0);
            plain((at / unit).round() * unit)
        };
        #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
        let last = grid.size()[axis].saturating_sub(1) as f64;
        let name = ["x", "y"][axis];
        let title = if momenta {
            format!("k{name}")
        } else {
            length.after(name)
        };
        axes.push(([end(0.0), end(last)], title));
    }
    for (at, size, text) in placed(rect, &projection, &axes, (unit, theme)) {
        // A wave that is negative hangs down before the ground: words are nearer, and have a rim to be read on.
        let style = theme.label(size * unit);
        style.draw_rimmed(picture, at, Align::Center, &text, theme.ground);
    }
}

/// Where words stand in a picture: the middle of their base line, their size in units of text, the words.
type Placed = ((f32, f32), f32, String);

/// The ends of both axes and their titles, apart from each other; what has no room, or a place that is not shown, is left out. Beside a short edge the
/// title has no room between the numbers, and stands farther out.
fn placed(
    rect: Rect,
    projection: &Projection,
    axes: &[([String; 2], String)],
    (unit, theme): (f32, &Theme),
) -> Vec<Placed> {
    let base = |at: [f32; 2]| (pixel(rect.x) + at[0], pixel(rect.y) + at[1] + 0.3 * unit);
    let own = |at: [f32; 2], size: f32, text: &str| plate(base(at), theme.label(size * unit).width(text), size * unit);
    let mut taken: Vec<[f32; 4]> = Vec::new();
    let mut words = Vec::new();
    let ends = axes.iter().enumerate().flat_map(|(axis, (ends, _))| {
        let places = projection.labels(axis, GAP * unit);
        ends.iter().zip(places).map(|(text, at)| (text, 0.85, vec![at]))
    });
    let titles = axes.iter().enumerate().map(|(axis, (_, title))| {
        let places = [GAP, 2.0, 2.6, 3.2, 4.0, 5.0].map(|gap| projection.labels(axis, gap * unit)[2]);
        (title, 0.95, places.to_vec())
    });
    for (text, size, places) in ends.chain(titles) {
        let is_free = |at: &[f32; 2]| taken.iter().all(|other| is_apart(own(*at, size, text), *other));
        let Some(at) = places.into_iter().filter(|at| is_in(rect, *at)).find(is_free) else {
            continue;
        };
        taken.push(own(at, size, text));
        words.push((base(at), size, text.clone()));
    }
    words
}

/// Units of text from an edge of the ground to the middle of its numbers.
const GAP: f32 = 1.4;

/// What words of a width and a size cover that stand amid a place on a base line: x, y, width, height.
fn plate((x, y): (f32, f32), width: f32, size: f32) -> [f32; 4] {
    let rim = 0.15 * size;
    [x - 0.5 * width - rim, y - 0.8 * size, width + 2.0 * rim, 1.05 * size]
}

/// Whether two plates do not touch.
fn is_apart(a: [f32; 4], b: [f32; 4]) -> bool {
    (0..2).any(|axis| a[axis] + a[axis + 2] <= b[axis] || b[axis] + b[axis + 2] <= a[axis])
}

/// Fills the triangles, each over those before it; colours run evenly between the corners.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions and colours inside a picture"
)]
fn fill(picture: &mut Picture, rect: Rect, surface: &Surface) {
    let (width, height) = (FINE * rect.width, FINE * rect.height);
    let mut samples: Vec<Option<[u8; 3]>> = vec![None; width * height];
    for corners in &surface.triangles {
        let [a, b, c] = corners.map(|n| surface.points[n as usize].map(|at| at * pixel(FINE)));
        let colors = corners.map(|n| surface.colors[n as usize].map(f32::from));
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area == 0.0 || !area.is_finite() {
            continue;
        }
        let ends = |axis: usize, most: usize| {
            let low = a[axis].min(b[axis]).min(c[axis]).max(0.0);
            let high = a[axis].max(b[axis]).max(c[axis]).min(pixel(most));
            low.floor() as usize..(high.ceil().max(0.0) as usize).min(most)
        };
        for y in ends(1, height) {
            for x in ends(0, width) {
                let at = [pixel(x) + 0.5, pixel(y) + 0.5];
                let part =
                    |p: [f32; 2], q: [f32; 2]| ((q[0] - p[0]) * (at[1] - p[1]) - (q[1] - p[1]) * (at[0] - p[0])) / area;
                let parts = [part(b, c), part(c, a), part(a, b)];
                // A little over the sides, so that no gap is left between two triangles.
                if parts.iter().all(|part| *part >= -1e-4) {
                    let mixed = |n: usize| (0..3).map(|corner| parts[corner] * colors[corner][n]).sum::<f32>();
                    let color = std::array::from_fn(|n| (mixed(n) + 0.5).clamp(0.0, 255.0) as u8);
                    samples[x + width * y] = Some(color);
                }
            }
        }
    }
    for y in 0..rect.height {
        for x in 0..rect.width {
            let at = (rect.x + x, rect.y + y);
            let under = picture.at(at.0, at.1);
            let mut sum = [0u32; 3];
            let mut any = false;
            for sample in 0..FINE * FINE {
                let place = FINE * x + sample % FINE + width * (FINE * y + sample / FINE);
                any |= samples[place].is_some();
                let color = samples[place].unwrap_or(under);
                for n in 0..3 {
                    sum[n] += u32::from(color[n]);
                }
            }
            if any {
                let count = (FINE * FINE) as u32;
                picture.set(at.0, at.1, sum.map(|sum| ((sum + count / 2) / count) as u8));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::overlay::floor;

    /// Beside the letters of an axis nothing is laid over what they stand on.
    #[test]
    fn words_of_axes_have_no_plates() {
        let text = "format = 1\n[grid]\nsize = [24, 24]\nspacing = 1.0\n[acoustic]\n[time]\nend = 0.001\n[[pulse]]\ncenter = [12.0, 12.0]\nwidth = 2.0\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let image = FieldImage {
            size: [24, 24],
            value: vec![0.0; 24 * 24],
            ..FieldImage::default()
        };
        let (orbit, theme, unit) = (Orbit::default(), Theme::light(), 20.0);
        let rect = Rect::new(0, 0, 600, 600);
        let bright = [250, 180, 110];
        let mut picture = Picture::filled(600, 600, bright);
        let words = (unit, crate::export::units::NONE, theme);
        axes(&mut picture, rect, (&image, &orbit, &scenario), words);
        let mut labels = 0;
        for axis in 0..2 {
            let places = projection(rect, &image, &orbit).labels(axis, 1.4 * unit);
            let words = ["0", "23", ["x", "y"][axis]].into_iter().zip([0.85, 0.85, 0.95]);
            for (at, (text, size)) in places.into_iter().zip(words).filter(|(at, _)| is_in(rect, *at)) {
                let wide = theme.label(size * unit).width(text);
                // Beyond the rim of the first letter, at the upper end of a capital.
                let (x, y) = (at[0] - 0.5 * wide - 0.2 * unit, at[1] + 0.3 * unit - 0.8 * size * unit);
                assert_eq!(picture.at(floor(x), floor(y)), bright, "{axis} {text}");
                labels += 1;
            }
        }
        assert!(labels > 3, "{labels}");
        assert!(
            picture.rgb.chunks(3).any(|pixel| pixel[2] > 200),
            "letters have a light rim"
        );
    }

    /// A narrow channel: the short edge has no room for its name between its numbers, and it stands farther out.
    #[test]
    fn words_of_axes_stand_apart() {
        let (orbit, theme) = (Orbit::default(), Theme::light());
        let rect = Rect::new(0, 0, 1060, 850);
        let axes = [("0.39", "x (mm)"), ("3.99", "y (mm)")]
            .map(|(end, title)| (["0", end].map(str::to_owned), title.to_owned()));
        for (size, unit) in [([16, 160], 30.0), ([160, 160], 30.0), ([160, 16], 20.0)] {
            let projection = Projection::new(&orbit, size, [[0.0; 2], [1060.0, 850.0]]);
            let words = placed(rect, &projection, &axes, (unit, theme));
            let titles: Vec<&str> = words.iter().map(|(.., text)| text.as_str()).collect();
            assert!(titles.contains(&"x (mm)") && titles.contains(&"y (mm)"), "{titles:?}");
            let plates: Vec<[f32; 4]> = words
                .iter()
                .map(|(at, size, text)| plate(*at, theme.label(size * unit).width(text), size * unit))
                .collect();
            for (n, one) in plates.iter().enumerate() {
                assert!(plates[..n].iter().all(|other| is_apart(*one, *other)), "{words:?}");
            }
        }
    }
}

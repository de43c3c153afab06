//! The medium of a scene as a picture: potential of quantum scenes, sound speed or density of acoustic ones, and walls.

use crate::render::medium::MediumImage;
use crate::scene::Scenario;
use crate::space::{SteppedMedium, Subject};

/// Texels along the longer side of the picture.
const TEXELS: usize = 1024;

/// Medium and walls of one plane, sampled at most [`TEXELS`] along an axis.
#[must_use]
pub fn medium(scenario: &Scenario, plane: usize) -> MediumImage {
    let [nx, ny, nz] = scenario.grid().size();
    let plane = plane.min(nz - 1);
    if scenario.medium().layers().is_empty() {
        return MediumImage::default();
    }
    let size = [nx.min(TEXELS), ny.min(TEXELS)];
    // Texel n shows the site under its middle.
    let site = |n: usize, texels: usize, sites: usize| (2 * n + 1) * sites / (2 * texels);
    // Drives stand at t = 0.
    let (subject, stepped) = (Subject::of(scenario, 0.0), SteppedMedium::new(scenario));
    let mut texels = Vec::with_capacity(size[0] * size[1]);
    let (mut sum, mut part, mut walls) = (vec![0.0; nx], vec![0.0; nx], vec![false; nx]);
    let mut limit: f64 = 0.0;
    for row in 0..size[1] {
        let at = [site(row, size[1], ny), plane];
        stepped.row(&subject, at, 0..nx, &mut part, &mut sum);
        stepped.wall_row(at, 0..nx, &mut walls);
        for column in 0..size[0] {
            let i = site(column, size[0], nx);
            let wall = f32::from(u8::from(walls[i]));
            if wall < 0.5 && sum[i].is_finite() {
                limit = limit.max(sum[i].abs());
            }
            texels.push([sum[i] as f32, wall]);
        }
    }
    if limit > 0.0 {
        for [level, _] in &mut texels {
            *level = (*level / limit as f32).clamp(-1.0, 1.0);
        }
    }
    let (title, _, unit, base) = subject.name();
    MediumImage {
        size,
        sites: [nx, ny],
        texels,
        limit,
        base,
        title,
        unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::read_scene_text;

    fn of(preset: &str) -> MediumImage {
        let text = crate::scene::presets::find(preset).unwrap().text;
        let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
        medium(&scenario, 0)
    }

    #[test]
    fn a_density_is_shown_against_its_background() {
        let image = of("two-media");
        assert_eq!((image.title, image.unit), ("density", " kg/m³"));
        // 1.2 outside, 2.88 in the layer: by subtraction and division in double precision.
        assert!((image.base - 1.2).abs() < 1e-12 && (image.limit - 1.68).abs() < 1e-12);
        assert_eq!(image.texels[0], [0.0, 0.0]);
        assert_eq!(image.texels[image.size[0] - 10], [1.0, 0.0]);
    }

    /// A wall goes on through the layer of `fdtd`, whatever the scene puts there.
    #[test]
    fn walls_go_on_through_layers_that_absorb() {
        let text = "format = 1\n[grid]\nsize = [20, 16]\nspacing = 1.0\nedges = \"absorb\"\nabsorb_width = 4\n[acoustic]\n[[pulse]]\ncenter = [6.0, 8.0]\nwidth = 1.5\n\
             [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [9.0, 4.0]\nmax = [10.0, 8.0]\n";
        let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
        let image = medium(&scenario, 0);
        let walls = |j: usize| image.texels[10 + 20 * j][1];
        assert_eq!([0, 3, 4, 8, 9, 15].map(walls), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn walls_and_potential_stand_where_the_scene_puts_them() {
        let image = of("double-slit");
        assert!(image.texels.iter().any(|[_, wall]| *wall > 0.5));
        assert!(!image.is_empty());
        assert!(of("free-packet").is_empty());
    }
}

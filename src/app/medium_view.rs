//! The medium of a scene as a picture: potential of quantum scenes, sound speed and density of acoustic ones, and walls.

use super::widgets::figure;
use crate::render::medium::{MediumImage, MediumPart};
use crate::scene::Scenario;
use crate::space::medium::combined;
use crate::space::{SteppedMedium, Subject};

/// Texels along the longer side of the picture.
const TEXELS: usize = 1024;
/// Sites that are looked at: of larger planes some rows are left out, evenly.
const MOST_SITES: usize = 1 << 24;

/// Medium and walls of one plane, at most [`TEXELS`] along an axis. A texel of several sites is a wall if one of them is, and shows the level that is furthest from the background: what is
/// thinner than a texel is seen.
#[must_use]
pub fn medium(scenario: &Scenario, plane: usize) -> MediumImage {
    let [nx, ny, nz] = scenario.grid().size();
    let plane = plane.min(nz - 1);
    if scenario.medium().layers().is_empty() {
        return MediumImage::default();
    }
    let size = [nx.min(TEXELS), ny.min(TEXELS)];
    let sites_of = |n: usize, texels: usize, sites: usize| n * sites / texels..(n + 1) * sites / texels;
    let stride = (nx * ny).div_ceil(MOST_SITES);
    // Drives stand at t = 0.
    let (subjects, stepped) = (Subject::all(scenario, 0.0), SteppedMedium::new(scenario));
    let mut walls = vec![false; size[0] * size[1]];
    let mut levels = vec![vec![0.0; size[0] * size[1]]; subjects.len()];
    let (mut sum, mut part, mut wall) = (vec![0.0; nx], vec![0.0; nx], vec![false; nx]);
    for (row, out) in walls.chunks_mut(size[0]).enumerate() {
        let texels = row * size[0]..(row + 1) * size[0];
        for y in sites_of(row, size[1], ny).step_by(stride) {
            let at = [y, plane];
            stepped.wall_row(at, 0..nx, &mut wall);
            for (column, out) in out.iter_mut().enumerate() {
                *out |= wall[sites_of(column, size[0], nx)].contains(&true);
            }
            for (subject, levels) in subjects.iter().zip(&mut levels) {
                stepped.row(subject, at, 0..nx, &mut part, &mut sum);
                for (column, out) in levels[texels.clone()].iter_mut().enumerate() {
                    *out = sum[sites_of(column, size[0], nx)].iter().copied().fold(*out, further);
                }
            }
        }
    }
    let mut parts = Vec::new();
    for (subject, levels) in subjects.iter().zip(&mut levels) {
        let mut own = scaled(subject, &walls, levels);
        if size[1] == 1 {
            own.levels = levels.iter().map(|level| *level as f32).collect();
        }
        parts.push(own);
    }
    let level = |n: usize| {
        let of = |place: usize| levels.get(place).map_or(0.0, |levels| levels[n] as f32);
        combined([of(0), of(1)])
    };
    MediumImage {
        size,
        sites: [nx, ny],
        texels: walls
            .iter()
            .enumerate()
            .map(|(n, wall)| [level(n), f32::from(u8::from(*wall))])
            .collect(),
        parts,
    }
}

/// The one of two levels that is further from the background; one that is no number only beside another.
fn further(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.abs() > a.abs() { b } else { a }
}

/// Divides levels by the largest that stands outside the walls; what they then are.
fn scaled(subject: &Subject, walls: &[bool], levels: &mut [f64]) -> MediumPart {
    let free = || {
        walls
            .iter()
            .zip(levels.iter())
            .filter(|(wall, level)| !**wall && level.is_finite())
    };
    let limit = free().fold(0.0_f64, |limit, (_, level)| limit.max(level.abs()));
    let ends = free().fold([0.0_f64; 2], |[low, high], (_, level)| {
        [low.min(*level), high.max(*level)]
    });
    let (title, _, unit, base) = subject.name();
    if limit > 0.0 {
        for level in levels {
            *level = (*level / limit).clamp(-1.0, 1.0);
        }
    }
    MediumPart {
        title,
        unit,
        base,
        limit,
        ends: ends.map(|level| base + level),
        levels: Vec::new(),
    }
}

/// What the veil of a picture stands for, where layers set two quantities of which it shows one where it is another than the background's, else the other; empty else.
#[must_use]
pub fn meaning(medium: &MediumImage) -> String {
    let seen = medium.parts.iter().filter(|part| part.limit > 0.0);
    let words: Vec<String> = seen
        .map(|part| {
            let [low, high] = part.ends.map(|value| figure(value, 4));
            format!("{} {low} to {high}{}", part.title, part.unit)
        })
        .collect();
    if words.len() > 1 {
        words.join(", ")
    } else {
        String::new()
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
        let part = &image.parts[0];
        assert_eq!((image.parts.len(), part.title, part.unit), (1, "density", " kg/m³"));
        // 1.2 outside, 2.88 in the layer: by subtraction and division in double precision.
        assert!((part.base - 1.2).abs() < 1e-12 && (part.limit - 1.68).abs() < 1e-12);
        assert_eq!(image.texels[0], [0.0, 0.0]);
        assert_eq!(image.texels[image.size[0] - 10], [1.0, 0.0]);
    }

    /// Where layers set both, each is over its largest, and both are named.
    #[test]
    fn speed_and_density_are_both_shown() {
        let text = "format = 1\n[grid]\nsize = [20]\nspacing = 1.0\n[acoustic]\n[[pulse]]\ncenter = [4.0]\nwidth = 1.5\n\
             [[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [5.0]\nmax = [8.0]\nvalue = 443.0\n\
             [[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [8.0]\nmax = [12.0]\nvalue = 0.2\n";
        let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
        let image = medium(&scenario, 0);
        let at = |i: usize| image.texels[i][0];
        assert_eq!([4, 5, 8, 9, 12, 13].map(at), [0.0, 1.0, 1.0, -1.0, -1.0, 0.0]);
        assert_eq!(image.parts[1].levels[8], -1.0, "a graph draws it beside the speed");
        assert_eq!(meaning(&image), "sound speed 343 to 443 m/s, density 0.2 to 1.2 kg/m³");
        assert_eq!(meaning(&of("two-media")), "");
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

    /// What is thinner than a texel is seen: a wall, and a well of one site.
    #[test]
    fn thin_things_are_seen_on_large_grids() {
        let text = "format = 1\n[grid]\nsize = [5000, 2]\nspacing = 1.0\n[quantum]\n[[packet]]\ncenter = [100.0, 0.5]\nwidth = 5.0\n\
             [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [2048.0, 0.0]\nmax = [2048.0, 1.0]\n\
             [[layer]]\nsets = \"potential\"\nshape = \"box\"\nmin = [4001.0, 0.0]\nmax = [4001.0, 1.0]\nvalue = -0.7\n";
        let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
        let image = medium(&scenario, 0);
        let row = &image.texels[..image.size[0]];
        assert_eq!(row.iter().filter(|[_, wall]| *wall == 1.0).count(), 1);
        assert_eq!(row.iter().filter(|[level, _]| *level == -1.0).count(), 1);
        assert_eq!((image.parts[0].ends[0], image.parts[0].limit), (-0.7, 0.7));
    }

    #[test]
    fn walls_and_potential_stand_where_the_scene_puts_them() {
        let image = of("double-slit");
        assert!(image.texels.iter().any(|[_, wall]| *wall > 0.5));
        assert!(!image.is_empty());
        assert!(of("free-packet").is_empty());
    }
}

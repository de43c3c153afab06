//! The medium of a scene as it is shown: potential of quantum scenes, sound speed or density of acoustic ones, and walls; in space as a
//! volume of which surfaces are drawn.

use crate::physics::{Model, Sets};
use crate::scene::Scenario;
use rayon::prelude::*;
use std::ops::Range;

/// What is shown beside the walls, and how its rows are read.
#[derive(Clone, Debug)]
pub enum Subject {
    /// The potential, with the drives' values.
    Potential(Vec<f64>),
    /// The sound speed, relative to the background.
    Speed(f64),
    /// The density, relative to the background.
    Density(f64),
}

impl Subject {
    /// What is shown of a scene at time `time`.
    #[must_use]
    pub fn of(scenario: &Scenario, time: f64) -> Self {
        match scenario.model() {
            Model::Quantum(_) => {
                let drives = scenario.medium().drives();
                Self::Potential(drives.iter().map(|drive| drive.eval(&[time])).collect())
            }
            // Where both vary the speed is shown: it bends and delays what is seen.
            Model::Acoustic(acoustic) if scenario.medium().has(Sets::Speed) => Self::Speed(acoustic.speed),
            Model::Acoustic(acoustic) => Self::Density(acoustic.density),
        }
    }

    /// Its name, its sign, its unit with a leading space, and the value that counts as nothing.
    #[must_use]
    pub fn name(&self) -> (&'static str, &'static str, &'static str, f64) {
        match self {
            Self::Potential(_) => ("potential", "U", "", 0.0),
            Self::Speed(base) => ("sound speed", "c", " m/s", *base),
            Self::Density(base) => ("density", "ρ", " kg/m³", *base),
        }
    }

    /// Whether any layer of the scene sets it.
    #[must_use]
    pub fn is_set(&self, scenario: &Scenario) -> bool {
        scenario.medium().has(match self {
            Self::Potential(_) => Sets::Potential,
            Self::Speed(_) => Sets::Speed,
            Self::Density(_) => Sets::Density,
        })
    }

    /// Values less the background, of sites `x` of row (j, k). `part` is scratch of the same length.
    pub fn row(&self, scenario: &Scenario, [j, k]: [usize; 2], x: Range<usize>, part: &mut [f64], out: &mut [f64]) {
        let medium = scenario.medium();
        match self {
            Self::Potential(drives) => {
                medium.potential_row(None, j, k, x.clone(), out);
                for (group, factor) in drives.iter().enumerate() {
                    medium.potential_row(Some(group), j, k, x.clone(), part);
                    for (sum, part) in out.iter_mut().zip(&*part) {
                        *sum += factor * part;
                    }
                }
            }
            Self::Speed(base) => medium.speed_row(*base, j, k, x, out),
            Self::Density(base) => medium.density_row(*base, j, k, x, out),
        }
        let base = self.name().3;
        for value in out {
            *value -= base;
        }
    }
}

/// Most texels along the longest axis: a faint surface needs no more.
const MOST: usize = 128;

/// A texel's number for 1.
pub const WHOLE: f32 = 127.0;

/// The medium of a scene in space. Surfaces are drawn at half of a wall, and at plus and minus half of the largest level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MediumVolume {
    /// The grid's sites.
    pub sites: [usize; 3],
    /// Texels along each axis; zeros where there is nothing to show.
    pub size: [usize; 3],
    /// Sites along each axis that a texel covers.
    pub reduction: usize,
    /// `[wall 0…127, level −127…127]`, x fastest, then y, then z.
    pub texels: Vec<[i8; 2]>,
    /// What the surfaces stand for, e.g. `U = 0.35`; empty where only walls are shown.
    pub meaning: String,
    /// Whether there are walls.
    pub walls: bool,
}

impl MediumVolume {
    /// The medium of a scene of three dimensions at t = 0; empty for others.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let grid = scenario.grid();
        let medium = scenario.medium();
        let subject = Subject::of(scenario, 0.0);
        let has_walls = medium.has(Sets::Wall);
        if grid.rank() != 3 || !(has_walls || subject.is_set(scenario)) {
            return Self::default();
        }
        let sites = grid.size();
        let longest = sites.into_iter().max().unwrap_or(1);
        let n = longest.div_ceil(MOST);
        let size = sites.map(|sites| sites.div_ceil(n));
        let rows = size[1] * size[2];
        let mut cells = vec![(false, 0.0f64); rows * size[0]];
        cells.par_chunks_mut(size[0]).enumerate().for_each_init(
            || (vec![0.0; sites[0]], vec![0.0; sites[0]], vec![false; sites[0]]),
            |(values, part, walls), (row, cells)| {
                let first = [row % size[1] * n, row / size[1] * n];
                let last = [(first[0] + n).min(sites[1]), (first[1] + n).min(sites[2])];
                for at in (first[1]..last[1]).flat_map(|k| (first[0]..last[0]).map(move |j| [j, k])) {
                    medium.wall_row(at[0], at[1], 0..sites[0], walls);
                    subject.row(scenario, at, 0..sites[0], part, values);
                    for (i, (wall, value)) in walls.iter().zip(&*values).enumerate() {
                        let cell = &mut cells[i / n];
                        cell.0 |= wall;
                        // What differs most from the background, so that thin sheets are not missed.
                        if !wall && value.is_finite() && value.abs() > cell.1.abs() {
                            cell.1 = *value;
                        }
                    }
                }
            },
        );
        let limit = cells.iter().map(|(_, level)| level.abs()).fold(0.0, f64::max);
        let walls = cells.iter().any(|(wall, _)| *wall);
        if limit == 0.0 && !walls {
            return Self::default();
        }
        let (_, sign, unit, base) = subject.name();
        let level = |value: f64| {
            if limit > 0.0 {
                (value / limit * f64::from(WHOLE)).round() as i8
            } else {
                0
            }
        };
        let seen = |sign: f64| {
            cells
                .iter()
                .any(|(_, value)| value * sign >= 0.5 * limit && limit > 0.0)
        };
        let values: Vec<String> = [1.0, -1.0]
            .into_iter()
            .filter(|side| seen(*side))
            .map(|side| format!("{}{unit}", rounded(base + side * 0.5 * limit)))
            .collect();
        let meaning = if values.is_empty() {
            String::new()
        } else {
            format!("{sign} = {}", values.join(" and "))
        };
        Self {
            sites,
            size,
            reduction: n,
            texels: cells
                .iter()
                .map(|(wall, value)| [if *wall { 127 } else { 0 }, level(*value)])
                .collect(),
            meaning,
            walls,
        }
    }

    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texels.is_empty()
    }

    /// As [`crate::solver::FieldVolume::extent`].
    #[must_use]
    pub fn extent(&self) -> [f32; 3] {
        std::array::from_fn(|axis| self.sites[axis] as f32 / (self.size[axis] * self.reduction).max(1) as f32)
    }

    /// What its surfaces are, for people; empty where there are none.
    #[must_use]
    pub fn label(&self) -> String {
        match (self.walls, self.meaning.is_empty()) {
            (true, true) => "surface: walls".to_owned(),
            (true, false) => format!("surfaces: walls, {}", self.meaning),
            (false, true) => String::new(),
            (false, false) => format!("surface: {}", self.meaning),
        }
    }
}

/// Three figures without needless zeros.
fn rounded(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (2.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::read_scene_text;

    fn of(layers: &str) -> MediumVolume {
        let text = format!(
            "format = 1\n[grid]\nsize = [20, 16, 12]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[[packet]]\ncenter = [5.0, 5.0, 5.0]\nwidth = [2.0]\n{layers}"
        );
        let (_, scenario) = read_scene_text(&text, None, &[]).unwrap();
        MediumVolume::of(&scenario)
    }

    #[test]
    fn walls_and_potential_stand_where_the_scene_puts_them() {
        assert!(of("").is_empty());
        let medium = of(
            "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [4.0, 0.0, 0.0]\nmax = [5.0, 15.0, 11.0]\n\
             [[layer]]\nsets = \"potential\"\nshape = \"box\"\nmin = [10.0, 2.0, 3.0]\nmax = [12.0, 4.0, 5.0]\nvalue = -0.5\n",
        );
        let at = |i: usize, j: usize, k: usize| medium.texels[i + 20 * (j + 16 * k)];
        assert_eq!((at(4, 7, 7), at(6, 7, 7)), ([127, 0], [0, 0]));
        assert_eq!((at(11, 3, 4), at(11, 3, 6)), ([0, -127], [0, 0]));
        assert_eq!(medium.label(), "surfaces: walls, U = −0.25");
    }
}

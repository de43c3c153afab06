//! The medium of a scene as it is shown: potential of quantum scenes, sound speed or density of acoustic ones, and walls; in space as a
//! volume of which surfaces are drawn.

use crate::physics::{Model, Sets};
use crate::scene::Scenario;
use crate::solver::acoustic::outward::Domain;
use crate::solver::fdtd;
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
    pub fn name(&self) -> (&'static str, &'static str, &'static str, f64) {
        match self {
            Self::Potential(_) => ("potential", "U", "", 0.0),
            Self::Speed(base) => ("sound speed", "c", " m/s", *base),
            Self::Density(base) => ("density", "ρ", " kg/m³", *base),
        }
    }

    /// Whether any layer of the scene sets it.
    pub fn is_set(&self, scenario: &Scenario) -> bool {
        scenario.medium().has(match self {
            Self::Potential(_) => Sets::Potential,
            Self::Speed(_) => Sets::Speed,
            Self::Density(_) => Sets::Density,
        })
    }

    /// All that layers of a scene set of it at time `time`.
    #[must_use]
    pub fn all(scenario: &Scenario, time: f64) -> Vec<Self> {
        let both = match scenario.model() {
            Model::Quantum(_) => vec![Self::of(scenario, time)],
            Model::Acoustic(acoustic) => vec![Self::Speed(acoustic.speed), Self::Density(acoustic.density)],
        };
        both.into_iter().filter(|subject| subject.is_set(scenario)).collect()
    }
}

/// The medium as the steps have it: what is outside the domain of sound goes on as it is at the domain's border.
#[derive(Clone, Debug)]
pub struct SteppedMedium<'a> {
    scenario: &'a Scenario,
    /// Where walls are those that the scene sets.
    walls: Domain,
    /// Where speed and density are.
    levels: Domain,
}

impl<'a> SteppedMedium<'a> {
    /// The medium of a scene.
    #[must_use]
    pub fn new(scenario: &'a Scenario) -> Self {
        let grid = scenario.grid();
        let sound = matches!(scenario.model(), Model::Acoustic(_));
        let domain = |goes_on: bool| {
            if goes_on {
                Domain::new(grid)
            } else {
                Domain::whole(grid)
            }
        };
        Self {
            scenario,
            walls: domain(sound),
            // The layers of the other method damp, and have the medium that the scene sets.
            levels: domain(sound && scenario.solver().method == fdtd::METHOD.id),
        }
    }

    /// Whether walls stand at the sites `x` of row (j, k).
    pub fn wall_row(&self, [j, k]: [usize; 2], x: Range<usize>, out: &mut [bool]) {
        let [j, k] = self.walls.row(j, k);
        let medium = self.scenario.medium();
        self.walls.read_row(x, out, |x, out| medium.wall_row(j, k, x, out));
    }

    /// Values of a subject less its background, of sites `x` of row (j, k). `part` is scratch of the same length.
    pub fn row(&self, subject: &Subject, [j, k]: [usize; 2], x: Range<usize>, part: &mut [f64], out: &mut [f64]) {
        let medium = self.scenario.medium();
        let [j, k] = self.levels.row(j, k);
        match subject {
            Subject::Potential(drives) => {
                medium.potential_row(None, j, k, x.clone(), out);
                for (group, factor) in drives.iter().enumerate() {
                    medium.potential_row(Some(group), j, k, x.clone(), part);
                    for (sum, part) in out.iter_mut().zip(&*part) {
                        *sum += factor * part;
                    }
                }
            }
            Subject::Speed(base) => self
                .levels
                .read_row(x, out, |x, out| medium.speed_row(*base, j, k, x, out)),
            Subject::Density(base) => self
                .levels
                .read_row(x, out, |x, out| medium.density_row(*base, j, k, x, out)),
        }
        let base = subject.name().3;
        for value in out {
            *value -= base;
        }
    }
}

/// Parts of a scale: a hill lower than the first is not seen, one lower than the second is rounding, and one that is made visible has the third.
const HIDDEN: f32 = 0.1;
const ROUNDING: f32 = 1e-4;
const SEEN: f32 = 1.0 / 3.0;

/// The ends of the scale on which the levels of a line are drawn, 0 among them: all levels, unless slopes that go on to the ends of the line hide the
/// hills between them, as those of a deep well do. Then the highest hill has a third of the scale, and the slopes leave it.
pub fn line_ends(levels: &[f32]) -> [f32; 2] {
    let ends =
        |levels: &[f32]| (levels.iter()).fold([0.0_f32; 2], |[low, high], level| [low.min(*level), high.max(*level)]);
    let [low, high] = ends(levels);
    let falls = |pair: &&[f32]| pair[1] <= pair[0];
    let first = levels.windows(2).take_while(falls).count();
    let rises = |pair: &&[f32]| pair[0] <= pair[1];
    let last = levels
        .len()
        .saturating_sub(levels.windows(2).rev().take_while(rises).count());
    let Some(between) = levels.get(first..last).filter(|between| !between.is_empty()) else {
        return [low, high];
    };
    let bottom = between.iter().copied().fold(f32::INFINITY, f32::min);
    let hill = between.iter().copied().fold(bottom, f32::max) - bottom;
    let share = hill / (high - low);
    // A valley that lies far from 0 leaves no scale for a hill in it that has 0 as well.
    if share > ROUNDING && share < HIDDEN && bottom - low <= hill {
        [low, high.min(bottom + hill / SEEN).max(0.0)]
    } else {
        [low, high]
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
        let subjects = Subject::all(scenario, 0.0);
        let has_walls = medium.has(Sets::Wall);
        if grid.rank() != 3 || !has_walls && subjects.is_empty() {
            return Self::default();
        }
        let stepped = SteppedMedium::new(scenario);
        let sites = grid.size();
        let longest = sites.into_iter().max().unwrap_or(1);
        let n = longest.div_ceil(MOST);
        let size = sites.map(|sites| sites.div_ceil(n));
        let rows = size[1] * size[2];
        // A wall, and what each subject differs most by.
        let mut cells = vec![(false, [0.0f64; 2]); rows * size[0]];
        cells.par_chunks_mut(size[0]).enumerate().for_each_init(
            || (vec![0.0; sites[0]], vec![0.0; sites[0]], vec![false; sites[0]]),
            |(values, part, walls), (row, cells)| {
                let first = [row % size[1] * n, row / size[1] * n];
                let last = [(first[0] + n).min(sites[1]), (first[1] + n).min(sites[2])];
                for at in (first[1]..last[1]).flat_map(|k| (first[0]..last[0]).map(move |j| [j, k])) {
                    stepped.wall_row(at, 0..sites[0], walls);
                    for (i, wall) in walls.iter().enumerate() {
                        cells[i / n].0 |= wall;
                    }
                    for (place, subject) in subjects.iter().enumerate() {
                        stepped.row(subject, at, 0..sites[0], part, values);
                        for (i, (wall, value)) in walls.iter().zip(&*values).enumerate() {
                            let level = &mut cells[i / n].1[place];
                            // What differs most from the background, so that thin sheets are not missed.
                            if !wall && value.is_finite() && value.abs() > level.abs() {
                                *level = *value;
                            }
                        }
                    }
                }
            },
        );
        let limits = [0, 1].map(|place| cells.iter().map(|(_, levels)| levels[place].abs()).fold(0.0, f64::max));
        let walls = cells.iter().any(|(wall, _)| *wall);
        if limits == [0.0; 2] && !walls {
            return Self::default();
        }
        let parts: Vec<[f64; 2]> = cells
            .iter()
            .map(|(_, levels)| [0, 1].map(|place| share(levels[place], limits[place])))
            .collect();
        let meanings = subjects.iter().enumerate().filter_map(|(place, subject)| {
            let (_, sign, unit, base) = subject.name();
            let is_seen = |side: f64| {
                parts
                    .iter()
                    .any(|of| of[place] * side >= 0.5 && combined(*of) == of[place])
            };
            let values: Vec<String> = [1.0, -1.0]
                .into_iter()
                .filter(|side| is_seen(*side))
                .map(|side| format!("{}{unit}", rounded(base + side * 0.5 * limits[place])))
                .collect();
            (!values.is_empty()).then(|| format!("{sign} = {}", values.join(" and ")))
        });
        let meaning = meanings.collect::<Vec<_>>().join(", ");
        Self {
            sites,
            size,
            reduction: n,
            texels: (cells.iter().zip(&parts))
                .map(|((wall, _), of)| {
                    let level = (combined(*of) * f64::from(WHOLE)).round() as i8;
                    [if *wall { 127 } else { 0 }, level]
                })
                .collect(),
            meaning,
            walls,
        }
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.texels.is_empty()
    }

    /// As [`crate::solver::FieldVolume::extent`].
    pub fn extent(&self) -> [f32; 3] {
        std::array::from_fn(|axis| self.sites[axis] as f32 / (self.size[axis] * self.reduction).max(1) as f32)
    }

    /// What its surfaces are, for people; empty where there are none.
    pub fn label(&self) -> String {
        match (self.walls, self.meaning.is_empty()) {
            (true, true) => "surface: walls".to_owned(),
            (true, false) => format!("surfaces: walls, and where {}", self.meaning),
            (false, true) => String::new(),
            (false, false) if self.meaning.contains(", ") || self.meaning.contains(" and ") => {
                format!("surfaces where {}", self.meaning)
            }
            (false, false) => format!("surface where {}", self.meaning),
        }
    }
}

/// A level over the largest; 0 where there is none.
fn share(level: f64, limit: f64) -> f64 {
    if limit > 0.0 { level / limit } else { 0.0 }
}

/// What is drawn where layers of two kinds stand, each over its largest: the first, which bends and delays what is seen; where it is the background's the second.
pub fn combined<T: Copy + Default + PartialEq>([first, second]: [T; 2]) -> T {
    if first == T::default() { second } else { first }
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
        assert_eq!(medium.label(), "surfaces: walls, and where U = −0.25");
        // Half of the most on either side.
        let tilted = of("[[layer]]\nsets = \"potential\"\nvalue = \"0.1*(x - 9.5)\"\n");
        assert_eq!(tilted.label(), "surfaces where U = 0.475 and −0.475");
    }

    fn sound(method: &str, layers: &str) -> Scenario {
        let text = format!(
            "format = 1\n[grid]\nsize = [20, 16, 12]\nspacing = 1.0\nedges = [\"absorb\", \"wall\", \"wall\"]\nabsorb_width = 4\n[acoustic]\n\
             [[pulse]]\ncenter = [12.0, 8.0, 6.0]\nwidth = 1.5\n[solver]\nmethod = \"{method}\"\n{layers}"
        );
        read_scene_text(&text, None, &[]).unwrap().1
    }

    /// The wall begins outside the domain, and the sheet at its border.
    #[test]
    fn layers_that_absorb_have_the_medium_of_their_inner_border() {
        let scenario = sound(
            "fdtd",
            "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [0.0, 0.0, 0.0]\nmax = [3.0, 15.0, 11.0]\n\
             [[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [15.0, 0.0, 0.0]\nmax = [15.0, 15.0, 11.0]\nvalue = 500.0\n",
        );
        let stepped = SteppedMedium::new(&scenario);
        let mut walls = [true; 20];
        stepped.wall_row([5, 5], 0..20, &mut walls);
        assert_eq!(walls, [false; 20]);
        let (mut part, mut speeds) = ([0.0; 3], [0.0; 3]);
        let subject = Subject::Speed(343.0);
        stepped.row(&subject, [5, 5], 14..17, &mut part, &mut speeds);
        assert_eq!(speeds, [0.0, 157.0, 157.0]);
        stepped.row(&subject, [5, 5], 17..20, &mut part, &mut speeds);
        assert_eq!(speeds, [157.0; 3]);
    }

    /// Hills between two slopes are seen, and everything else is shown as a whole.
    #[test]
    fn slopes_do_not_hide_what_lies_between_them() {
        let line = |value: &dyn Fn(f32) -> f32| (-80..=80).map(|x| value(x as f32)).collect::<Vec<f32>>();
        let double_well = line(&|x| 0.03 * ((x / 20.0).powi(2) - 1.0).powi(2));
        let [low, high] = line_ends(&double_well);
        // The hill is 0.03 high, and the slopes 6.75.
        assert!(low == 0.0 && (high - 0.09).abs() < 1e-6, "{high}");
        let well = line(&|x| 0.001 * x * x);
        assert_eq!(line_ends(&well), [0.0, well[0]]);
        // With 0 on the scale a hill far from it would be as small.
        let deep = line(&|x| -(0.5 - 0.03 * ((x / 20.0).powi(2) - 1.0).powi(2)).max(0.0));
        let [low, high] = line_ends(&deep);
        assert!(low < -0.4 && high == 0.0, "{low} {high}");
        let raised = line(&|x| 5.0 + 0.03 * ((x / 20.0).powi(2) - 1.0).powi(2));
        assert_eq!(line_ends(&raised), [0.0, raised[0]]);
        // Slopes alone, wherever 0 is.
        for slope in [&|x: f32| 0.01 * (x + 81.0), &|x: f32| 0.01 * (81.0 - x), &|x: f32| {
            2.0 + 0.001 * x * x
        }] as [&dyn Fn(f32) -> f32; 3]
        {
            let levels = line(slope);
            assert_eq!(line_ends(&levels), [0.0, levels.iter().copied().fold(0.0, f32::max)]);
        }
        let barrier = line(&|x| if x.abs() < 3.0 { 0.5 } else { 0.0 });
        assert_eq!(line_ends(&barrier), [0.0, 0.5]);
        let tilted = line(&|x| x + 8.0 * (x / 4.0).sin());
        let ends = line_ends(&tilted);
        assert!(ends[0] < -80.0 && ends[1] > 80.0, "{ends:?}");
        assert_eq!(line_ends(&line(&|x| -1.0 / (x * x + 1.0)))[1], 0.0);
        assert_eq!([line_ends(&[]), line_ends(&[2.0])], [[0.0; 2], [0.0, 2.0]]);
    }

    #[test]
    fn speed_and_density_are_both_shown() {
        let layers = "[[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [5.0, 0.0, 0.0]\nmax = [6.0, 15.0, 11.0]\nvalue = 443.0\n\
             [[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [8.0, 0.0, 0.0]\nmax = [9.0, 15.0, 11.0]\nvalue = 0.2\n";
        let medium = MediumVolume::of(&sound("fdtd", layers));
        let at = |i: usize| medium.texels[i + 20 * 16 * 5][1];
        assert_eq!([4, 5, 7, 8, 10].map(at), [0, 127, 0, -127, 0]);
        assert_eq!(medium.label(), "surfaces where c = 393 m/s, ρ = 0.7 kg/m³");
    }
}

//! Sources at their sites.
//!
//! A source with a direction consists of points beside its place: −n·∇δ is the central difference of the scheme's own order, which is the derivative of its Laplacian, i[x, L]/2, so that a layer across the
//! grid emits exactly ±½ amplitude · s(t − |x|/c) at every order and number of sites a wavelength. A force at x₀ is −K(x)ρ(x₀)⁻¹F·∇δ in p_tt, K = ρc², and a
//! monopole K(x)/K(x₀) δ: where the medium changes beside a place each of its sites has its own K, or what a force pushes to one side would not be what is missing on the other. The monopole of a one-way source is c²D of the plane wave s(t − n·r/c) at its place. The wave
//! backwards is then due to the scheme's dispersion over a site: (1 − c/c′)/2 of the wave, c′ the lattice's phase velocity, 0.5 % at 10 sites a wavelength at order 2 and 0.1 % at 20.

mod walls;

use super::material::Material;
use super::point::{Shares, clamped, shares_beside, within};
use crate::grid::Grid;
use crate::physics::Source;
use crate::physics::sinc::RADIUS;
use crate::physics::source::{Pattern, Place};
use crate::scene::Scenario;
use walls::Walls;

/// The sources of a scene at their sites.
pub struct Emitters {
    /// The grid that is stepped.
    window: Grid,
    /// The grid of the scene.
    grid: Grid,
    /// The walls of the whole scene where a window is stepped.
    beside: Option<Walls>,
    /// What sources push.
    material: Material,
    list: Vec<Emitter>,
}

struct Emitter {
    source: Source,
    points: Vec<Point>,
}

/// One point of a source.
struct Point {
    /// Position of its place, lengths; of a moving source at t = 0.
    at: [f64; 3],
    /// Its offset from the place, lengths.
    beside: [f64; 3],
    /// Delay in addition to that of the source, s; of a moving source as at t = 0.
    delay: f64,
    /// The part of the delay that is a way through the medium, times c, m.
    later: f64,
    /// c and ρ at its place; of a force its c² is in the weight.
    own: [f64; 2],
    /// The axis of the force whose part it is; `None`: a monopole.
    axis: Option<usize>,
    /// The length of a line or the area of a disk for which it stands, or 1; times the weight of the pattern.
    weight: f64,
    /// Its sites, if the source does not move.
    shares: Shares,
}

impl Emitters {
    /// The sources of a scene; `walls` has one value a site of its grid, x fastest, or is empty; `half` is half the scheme's order in space.
    #[must_use]
    pub fn of(scenario: &Scenario, walls: &[bool], half: usize) -> Self {
        let (window, medium) = (scenario.grid(), scenario.medium());
        let material = Material::of(scenario);
        let around = window.is_window() && !scenario.sources().is_empty();
        let beside = if around { Walls::around(window, medium) } else { None };
        Self::placed(window, scenario.sources(), (walls, half), beside, material)
    }

    #[cfg(test)]
    fn new(grid: &Grid, sources: &[Source], walls: &[bool]) -> Self {
        Self::placed(grid, sources, (walls, 1), None, Material::uniform([1.0; 2]))
    }

    fn placed(
        window: &Grid,
        sources: &[Source],
        (walls, half): (&[bool], usize),
        beside: Option<Walls>,
        material: Material,
    ) -> Self {
        let mut new = Self {
            grid: window.whole(),
            window: window.clone(),
            beside,
            material,
            list: Vec::new(),
        };
        let place = |(at, delay, weight): ([f64; 3], f64, f64), term: &Term, source: &Source| {
            let axis = (term.rate != 0.0).then_some(term.axis);
            let own = new
                .material
                .pushed(&new.grid, at, axis, |site| new.is_wall(walls, site));
            let c = if axis.is_some() { own[0] } else { 1.0 };
            // A disk on a rigid edge stays on it as it slides along; along its way a source leaves the grid where it does.
            let on = within(&new.grid, at);
            let at = [0, 1, 2].map(|axis| {
                if source.velocity[axis] == 0.0 {
                    on[axis]
                } else {
                    at[axis]
                }
            });
            Point {
                shares: if source.velocity == [0.0; 3] {
                    new.spread(walls, at, term.beside, own)
                } else {
                    Vec::new()
                },
                at,
                beside: term.beside,
                delay: delay + term.later / c,
                later: term.later,
                own,
                axis,
                weight: weight * if term.rate == 0.0 { 1.0 } else { term.rate * c * c },
            }
        };
        let list = (sources.iter())
            .map(|source| Emitter {
                points: {
                    let points = points(&new.grid, &source.place);
                    let terms = terms(&new.grid, source.pattern, half);
                    let of = |term: &Term| -> Vec<Point> {
                        points.iter().map(|point| place(*point, term, source)).collect()
                    };
                    terms.iter().flat_map(of).collect()
                },
                source: source.clone(),
            })
            .collect();
        new.list = list;
        new
    }

    /// The sites of a point beside a place, which edges and walls mirror, with their K over that of these c and ρ.
    fn spread(&self, walls: &[bool], at: [f64; 3], beside: [f64; 3], own: [f64; 2]) -> Shares {
        let mut all = shares_beside(&self.grid, &at, beside, |site| self.is_wall(walls, site));
        self.material.weigh(&mut all, own);
        all
    }

    /// Whether a wall stands at a site of the scene's grid.
    fn is_wall(&self, walls: &[bool], site: [usize; 3]) -> bool {
        match &self.beside {
            Some(all) => all.at(site),
            None => !walls.is_empty() && walls[self.grid.index(site)],
        }
    }

    /// The sites of sources that do not move, each with the number of its channel and its share of the channel's strength; `None` where a source moves. A channel is a run of points with the same signal.
    pub fn players(&self) -> Option<Vec<([usize; 3], usize, f64)>> {
        if self.list.iter().any(|emitter| emitter.source.velocity != [0.0; 3]) {
            return None;
        }
        let channels = self.list.iter().flat_map(Emitter::channels).enumerate();
        let shares = |(channel, points): (usize, &'_ [Point])| -> Vec<([usize; 3], usize, f64)> {
            let all = points.iter().flat_map(|point| &point.shares);
            all.flat_map(|(site, share)| self.here(*site).map(move |site| (site, channel, *share)))
                .collect()
        };
        Some(channels.flat_map(shares).collect())
    }

    /// The sites of the window that are a site of the whole grid.
    fn here(&self, [i, j, k]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
        let window = &self.window;
        (window.locals(1, j)).flat_map(move |j| window.locals(2, k).map(move |k| [i, j, k]))
    }

    /// Whether sites of a point beside a place may lie in the window: mirrors bring none further from it.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "places on a grid; a place beyond all numbers is outside"
    )]
    fn comes_near(&self, at: [f64; 3], beside: [f64; 3]) -> bool {
        let (grid, a) = (&self.grid, self.grid.spacing());
        let touches = |axis: usize| {
            let sites = grid.size()[axis].cast_signed();
            let center = (at[axis] / a).round() as isize;
            let reach = RADIUS + 2 + (beside[axis].abs() / a).ceil() as isize;
            let mut near = (center.saturating_sub(reach)..=center.saturating_add(reach)).filter_map(|place| {
                let place = if grid.is_periodic(axis) {
                    place.rem_euclid(sites)
                } else {
                    place
                };
                (0..sites).contains(&place).then_some(place.cast_unsigned())
            });
            near.any(|place| self.window.locals(axis, place).next().is_some())
        };
        !self.window.is_window() || (touches(1) && touches(2))
    }

    /// How many sites play, about: those of sources that move count once for each point.
    pub fn sites(&self) -> usize {
        let points = self.list.iter().flat_map(|emitter| &emitter.points);
        points.map(|point| point.shares.len().max(1)).sum()
    }

    /// The strength of every channel at time `t`: a site plays its share of it. As [`Emitters::play`] says.
    pub fn strengths(&self, t: f64) -> Vec<f64> {
        let mut all = Vec::new();
        self.put_strengths(t, &mut all);
        all
    }

    /// The same, appended to `all`.
    pub fn put_strengths(&self, t: f64, all: &mut Vec<f64>) {
        let cell = self.grid.cell_volume();
        for emitter in &self.list {
            let source = &emitter.source;
            all.extend(emitter.channels().map(|points| {
                let signal = source.signal_at(t, points[0].delay);
                source.amplitude * signal * points[0].weight / cell
            }));
        }
    }

    /// Calls `add(site, S)` for every site with a source at time `t`; S is already divided by a^d. Sites in walls never play. A source that moves off the grid is silent; where an
    /// axis is periodic it continues at the other end.
    pub fn play(&self, t: f64, walls: &[bool], mut add: impl FnMut([usize; 3], f64)) {
        let cell = self.grid.cell_volume();
        for Emitter { source, points } in &self.list {
            // The points of a line play the same at the same time.
            let mut last = None;
            for point in points {
                let now = [0, 1, 2].map(|axis| point.at[axis] + source.velocity[axis] * t);
                let (delay, own) = self.on_its_way(walls, source, point, now);
                let signal = match last {
                    Some((known, signal)) if known == delay => signal,
                    _ => source.signal_at(t, delay),
                };
                last = Some((delay, signal));
                let strength = source.amplitude * signal * point.weight / cell;
                if strength == 0.0 {
                    continue;
                }
                if source.velocity != [0.0; 3] && !self.comes_near(now, point.beside) {
                    continue;
                }
                let moved;
                let shares = if source.velocity == [0.0; 3] {
                    &point.shares
                } else {
                    moved = self.spread(walls, now, point.beside, own);
                    &moved
                };
                for (site, share) in shares {
                    for site in self.here(*site) {
                        add(site, strength * share);
                    }
                }
            }
        }
    }
}

/// Values of a source's signal that are added up for an edit: a fraction of a second.
const MOST_PLAYED: f64 = 1e7;

impl Emitters {
    /// Calls `add(site, Q)` for the sites of monopoles that do not move: Q in Pa/s is what they have played up to a time, step by step of `step`, and the rate of the pressure that they hold up by it. A force leaves
    /// its impulse in the medium and holds up nothing. A source is left out whose points have played more than [`MOST_PLAYED`] values by then.
    pub(in crate::solver) fn hold_up(&self, until: f64, step: f64, mut add: impl FnMut([usize; 3], f64)) {
        let cell = self.grid.cell_volume();
        for Emitter { source, points } in &self.list {
            let mut last = None;
            let runs = points
                .chunk_by(|one, next| one.delay == next.delay)
                .map(|_| 1.0)
                .sum::<f64>();
            let still = source.velocity == [0.0; 3] && runs * until / step <= MOST_PLAYED;
            for point in points.iter().filter(|point| still && point.axis.is_none()) {
                let played = match last {
                    Some((known, played)) if known == point.delay => played,
                    _ => played_until(until, step, |t| source.signal_at(t, point.delay)),
                };
                last = Some((point.delay, played));
                let strength = source.amplitude * played * point.weight / cell;
                for (site, share) in &point.shares {
                    self.here(*site).for_each(|site| add(site, strength * share));
                }
            }
        }
    }

    /// The delay of a point that stands at `now`, and the c and ρ that its sites are compared with: the weight of a force has the c² of where it began, and acts on the density where it is.
    fn on_its_way(&self, walls: &[bool], source: &Source, point: &Point, now: [f64; 3]) -> (f64, [f64; 2]) {
        if source.velocity == [0.0; 3] || self.material.is_uniform() {
            return (point.delay, point.own);
        }
        let wall = |site| self.is_wall(walls, site);
        let [c, density] = self.material.pushed(&self.grid, now, point.axis, wall);
        let first = point.own[0];
        if point.axis.is_none() || c == first {
            return (point.delay, [c, density]);
        }
        let delay = point.delay + point.later * (1.0 / c - 1.0 / first);
        (delay, [first, density])
    }
}

/// The integral of a signal from t = 0, where it counts half, over the steps before a time, each as long as `step`; one at the time itself counts half. Half a step before t = 0 it is −½ step s(0): the
/// rate of levels around t = 0 is half a step behind.
fn played_until(until: f64, step: f64, signal: impl Fn(f64) -> f64) -> f64 {
    let mut sum = -signal(0.0) / 2.0;
    let mut number = 0.0;
    while number * step < until - 1e-6 * step {
        sum += signal(number * step);
        number += 1.0;
    }
    if number * step <= until + 1e-6 * step {
        sum += signal(number * step) / 2.0;
    }
    sum * step
}

impl Emitter {
    /// Runs of points that play the same.
    fn channels(&self) -> impl Iterator<Item = &[Point]> {
        let alike = |a: &Point, b: &Point| a.delay == b.delay && a.weight == b.weight;
        self.points.chunk_by(alike)
    }
}

/// A point of a pattern, for each point of a place.
struct Term {
    /// The axis of the force whose part it is.
    axis: usize,
    /// Its offset from the place.
    beside: [f64; 3],
    /// Its delay against the place times c, m.
    later: f64,
    /// Its weight over c²; 0: a monopole, whose weight is 1.
    rate: f64,
}

/// The points of a pattern, in runs with the same delay.
fn terms(grid: &Grid, pattern: Pattern, half: usize) -> Vec<Term> {
    let (direction, one_way) = match pattern {
        Pattern::Monopole => {
            return vec![Term {
                axis: 0,
                beside: [0.0; 3],
                later: 0.0,
                rate: 0.0,
            }];
        }
        Pattern::Dipole(direction) => (direction, false),
        Pattern::OneWay(direction) => (direction, true),
    };
    let a = grid.spacing();
    let mut all = Vec::new();
    for axis in (0..grid.rank()).filter(|axis| direction[*axis] != 0.0) {
        for (distance, weight) in difference(half) {
            let rate = direction[axis] * weight / a;
            for sign in [1.0, -1.0] {
                let mut beside = [0.0; 3];
                beside[axis] = sign * distance * a;
                all.push(Term {
                    axis,
                    beside,
                    later: 0.0,
                    rate: sign * rate,
                });
            }
            for sign in [1.0, -1.0].into_iter().filter(|_| one_way) {
                all.push(Term {
                    axis,
                    beside: [0.0; 3],
                    later: -sign * distance * a * direction[axis],
                    rate: sign * rate,
                });
            }
        }
    }
    all
}

/// Distances in sites and weights of the central first difference of order 2h: (−1)^(k+1) h!²/(k (h − k)! (h + k)!).
fn difference(half: usize) -> impl Iterator<Item = (f64, f64)> {
    #[expect(clippy::cast_precision_loss, reason = "at most 4")]
    let h = half.max(1) as f64;
    (1..=half.max(1)).scan(1.0, move |product, k| {
        #[expect(clippy::cast_precision_loss, reason = "at most 4")]
        let k = k as f64;
        *product *= (h - k + 1.0) / (h + k);
        let sign = if k % 2.0 == 1.0 { 1.0 } else { -1.0 };
        Some((k, sign * *product / k))
    })
}

/// Parts of a cell's side for which a disk's edge is looked at.
const PARTS: u32 = 16;

/// The sites of a disk with the area that each stands for, those of the same area one after the other.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "places on a grid"
)]
fn disk(grid: &Grid, center: [f64; 3], radius: f64, normal: usize) -> Vec<([f64; 3], f64, f64)> {
    let a = grid.spacing();
    let across: Vec<usize> = (0..3).filter(|axis| *axis != normal).collect();
    let sites = |axis: usize| {
        let count = grid.size()[axis].cast_signed();
        let place = |x: f64| (x / a).round() as isize;
        let [low, high] = [place(center[axis] - radius), place(center[axis] + radius)];
        if !grid.is_periodic(axis) {
            low.max(0)..=high.min(count - 1)
        } else if high - low < count {
            low..=high
        } else {
            // Once round the ring.
            let first = place(center[axis]) - count / 2;
            first..=first + count - 1
        }
    };
    let on_ring = |axis: usize, place: isize| place.rem_euclid(grid.size()[axis].cast_signed()) as f64 * a;
    let mut all = Vec::new();
    for j in sites(across[1]) {
        for i in sites(across[0]) {
            let from = [i as f64 * a - center[across[0]], j as f64 * a - center[across[1]]];
            let part = |n: u32| ((f64::from(n) + 0.5) / f64::from(PARTS) - 0.5) * a;
            let within = (0..PARTS * PARTS)
                .filter(|n| (from[0] + part(n % PARTS)).hypot(from[1] + part(n / PARTS)) <= radius)
                .count();
            if within > 0 {
                let mut at = center;
                (at[across[0]], at[across[1]]) = (on_ring(across[0], i), on_ring(across[1], j));
                all.push((at, 0.0, a * a * within as f64 / f64::from(PARTS * PARTS)));
            }
        }
    }
    all.sort_by(|one, other| other.2.total_cmp(&one.2));
    all
}

/// The points of a place with delay and weight.
pub(in crate::solver) fn points(grid: &Grid, place: &Place) -> Vec<([f64; 3], f64, f64)> {
    match place {
        Place::Points(elements) => elements
            .iter()
            .map(|element| (element.at, element.delay, 1.0))
            .collect(),
        Place::Disk { center, radius, normal } => disk(grid, *center, *radius, *normal),
        Place::Line { from, to } => line(grid, *from, *to),
    }
}

/// What differs by less than this share is the same up to rounding: of a spacing, as for sites of shapes, or of a line's extent.
const ROUNDING: f64 = 1e-9;

/// Ends of lines that are closer than this share of a spacing to an outermost site lie on it: 1.333333 stands for 4/3.
const TYPED: f64 = 1e-4;

/// The sites of a line, one in every plane across its longest axis, with the length of its part in the site's cell, those of the same length one after the other. An end at the outermost
/// sites of that axis, or of another along which the line is as long, reaches to the walls, half a spacing beyond: a line across all of a grid plays a plane wave.
fn line(grid: &Grid, from: [f64; 3], to: [f64; 3]) -> Vec<([f64; 3], f64, f64)> {
    let a = grid.spacing();
    #[expect(clippy::cast_precision_loss, reason = "sites along an axis")]
    let last = |axis: usize| (grid.size()[axis] - 1) as f64;
    let placed = |end: [f64; 3]| {
        let end = clamped(grid, end);
        [0, 1, 2].map(|axis| {
            let outermost = [0.0, a * last(axis)];
            let near = outermost.into_iter().find(|at| (end[axis] - at).abs() <= TYPED * a);
            near.unwrap_or(end[axis])
        })
    };
    let [from, to] = [from, to].map(placed);
    let extent = |axis: usize| (to[axis] - from[axis]).abs();
    let along = (0..grid.rank()).fold(0, |best, axis| if extent(axis) > extent(best) { axis } else { best });
    if extent(along) == 0.0 {
        return Vec::new();
    }
    let on_edge = |end: &[f64; 3]| {
        let mut longest = (0..grid.rank()).filter(|&axis| extent(axis) >= extent(along) - 2.0 * TYPED * a);
        longest.any(|axis| end[axis] / a <= ROUNDING || end[axis] / a >= last(axis) - ROUNDING)
    };
    let [lower, upper] = if from[along] < to[along] {
        [&from, &to]
    } else {
        [&to, &from]
    };
    let beyond = |end: &[f64; 3]| if on_edge(end) { 0.5 } else { 0.0 };
    let (low, high) = (lower[along] / a - beyond(lower), upper[along] / a + beyond(upper));
    let last = last(along);
    let slope = [0, 1, 2].map(|axis| (to[axis] - from[axis]) / (to[along] - from[along]));
    let length = a * slope.iter().map(|s| s * s).sum::<f64>().sqrt();
    let mut all = Vec::new();
    let mut n = low.round().max(0.0);
    while n <= last && n - 0.5 < high {
        let share = (n + 0.5).min(high) - (n - 0.5).max(low);
        // Cells that an end only touches, up to rounding, have no part.
        if share > ROUNDING {
            let mut at = [0, 1, 2].map(|axis| from[axis] + slope[axis] * (a * n - from[along]));
            at[along] = a * n;
            // What is a whole cell up to rounding plays with all others.
            let share = if share > 1.0 - ROUNDING { 1.0 } else { share };
            all.push((clamped(grid, at), 0.0, length * share));
        }
        n += 1.0;
    }
    all.sort_by(|one, other| other.2.total_cmp(&one.2));
    all
}

#[cfg(test)]
mod tests;

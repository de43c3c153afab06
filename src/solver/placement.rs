//! The sites of a mirror's transducers, and the sites inside.
//!
//! Two lists: the sites where a *soft* source plays (as many as the scene says), and those that a *hard* one overwrites. The field inside stays exact if
//! every site outside on which it depends in one step is overwritten; with S inside and R(S) the sites that S depends on in a step
//! ([`Method::reach`]) these are R(S) \ S: one or several layers, as thick as the scheme needs there and not a site more.

use super::{METHODS, Method, free_memory};
use crate::grid::{Edge, Grid};
use crate::physics::mirror::Drive;
use crate::physics::{Exchange, Mirror, MirrorMethod, Placement, Sets};
use crate::scene::{Objection, Scenario};
use num_complex::Complex64;
use std::collections::{HashSet, VecDeque};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// Impulse responses of a soft inverse filter take a run for each transducer: site-steps that are refused beyond this.
const MOST_RESPONSES: f64 = 2e10;

/// The sites of a mirror.
#[derive(Clone, Debug, PartialEq)]
pub struct MirrorSites {
    /// Those that are recorded, ascending.
    pub all: Arc<[usize]>,
    /// Positions in `all` of those where a soft source plays, in the order in which they were placed: around a ring, along a line.
    pub soft: Vec<usize>,
    /// Positions in `all` of those that an inverse filter drives; empty where the method does not support it.
    pub hard: Vec<usize>,
    /// Sites inside.
    pub inside: Vec<bool>,
    /// Where the wave begins, and is focused again.
    pub focus: usize,
    /// Sites that are no walls.
    pub open: usize,
}

impl MirrorSites {
    /// The sites of a scene's mirror; `None` without one.
    #[must_use]
    pub fn new(scenario: &Scenario, method: &Method) -> Option<Self> {
        let mirror = scenario.mirror()?;
        let grid = scenario.grid();
        let walls = walls(scenario);
        let focus = focus(scenario);
        let placed = Placed {
            scenario,
            method,
            walls: &walls,
            focus,
        };
        let (soft, hard, inside) = match &mirror.placement {
            None => (Vec::new(), Vec::new(), vec![true; grid.sites()]),
            Some(placement) => placed.place(placement),
        };
        let open = |list: Vec<usize>| -> Vec<usize> {
            let mut known = HashSet::new();
            let free = list.into_iter().filter(|&site| !walls[site]);
            free.filter(|site| known.insert(*site)).collect()
        };
        let (soft, hard) = (open(soft), open(hard));
        let mut all: Vec<usize> = soft.iter().chain(&hard).copied().collect();
        all.sort_unstable();
        all.dedup();
        let positions = |list: &[usize]| list.iter().filter_map(|site| all.binary_search(site).ok()).collect();
        Some(Self {
            soft: positions(&soft),
            hard: positions(&sorted(hard)),
            all: all.into(),
            inside,
            focus,
            open: walls.iter().filter(|wall| !**wall).count(),
        })
    }

    /// Positions in `all` of those that play.
    pub fn playing(&self, mirror: &Mirror) -> Vec<usize> {
        match mirror.method {
            MirrorMethod::Echo => Vec::new(),
            MirrorMethod::Reversal | MirrorMethod::OneBit => {
                let (all, count) = (self.soft.len(), mirror.playing.min(self.soft.len()));
                sorted((0..count).map(|n| self.soft[n * all / count]).collect())
            }
            MirrorMethod::InverseFilter => self.hard.clone(),
        }
    }
}

fn sorted(mut list: Vec<usize>) -> Vec<usize> {
    list.sort_unstable();
    list
}

/// The remedy: the methods of the same equation that support what `method` does not.
fn others(method: &Method, or: &str) -> String {
    let able = METHODS
        .iter()
        .filter(|other| other.equation == method.equation && other.reach.is_some() && !other.transducers.is_empty());
    let ids: Vec<&str> = able.map(|other| other.id).collect();
    format!("use {}, or {or}", ids.join(" or "))
}

/// What a scene's mirror asks for that its method does not support.
pub(super) fn objections(scenario: &Scenario, method: &Method, time_step: f64) -> Vec<Objection> {
    let Some(mirror) = scenario.mirror().filter(|mirror| mirror.listens()) else {
        return Vec::new();
    };
    let object = |key: &str, message: String, remedy: &str| {
        vec![Objection {
            key: key.to_owned(),
            message,
            remedy: remedy.to_owned(),
        }]
    };
    let asked = scenario.solver().backend.named().unwrap_or(super::Backend::Cpu);
    if !method.transducers.contains(&asked) {
        return if method.transducers.is_empty() {
            let message = format!("\"{}\" does not reach single sites, which transducers need", method.id);
            object(
                "solver.method",
                message,
                &others(method, "a mirror of method = \"echo\" without transducers"),
            )
        } else {
            let message = format!(
                "\"{}\" reaches single sites on the processor only, which transducers need",
                method.id
            );
            object("solver.backend", message, "write backend = \"cpu\"")
        };
    }
    let inverse = mirror.method == MirrorMethod::InverseFilter;
    if inverse && method.reach.is_none() {
        let message = format!(
            "every site depends on all others in one step of \"{}\": no mirror of finite thickness separates inside and outside",
            method.id
        );
        return object("mirror.method", message, &others(method, "method = \"reversal\""));
    }
    let Some(sites) = MirrorSites::new(scenario, method) else {
        return Vec::new();
    };
    if mirror.method != MirrorMethod::Echo && sites.playing(mirror).is_empty() {
        let message = "no transducer is left between inside and outside".to_owned();
        return object(
            "mirror.transducers",
            message,
            "let the ring, line or edges enclose the wave at t = 0, away from walls",
        );
    }
    if let Some(message) = told_apart(scenario, mirror, &sites) {
        return object(
            "mirror.transducers",
            message,
            "let them be the same with x and y exchanged: a ring around a point of the line x = y with a count (and `playing`) that 4 divides, a line from [a, b] to [b, a], edges, or points in such pairs, and of an antisymmetric wave not on the line x = y; or remove quantum.exchange",
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    let (steps, total) = (mirror.at / time_step, scenario.grid().sites() as f64);
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    let record = 16.0 * steps * sites.all.len() as f64;
    #[expect(clippy::cast_precision_loss, reason = "a limit")]
    let free = free_memory().map(|bytes| bytes as f64);
    // Once as it was recorded and once as it is played.
    if free.is_some_and(|free| 2.0 * record > free) {
        let message = format!(
            "{} transducers record {record:.2e} bytes up to t = {}",
            sites.all.len(),
            mirror.at
        );
        return object("mirror.at", message, "reverse time earlier, or use fewer transducers");
    }
    if inverse && mirror.drive == Drive::Soft {
        if scenario
            .model()
            .quantum()
            .is_some_and(|quantum| quantum.interaction != 0.0 || scenario.medium().sets_interaction())
        {
            let message = "a nonlinear wave has no impulse response".to_owned();
            return object("mirror.drive", message, "write drive = \"hard\", or interaction = 0");
        }
        #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
        let work = steps * total * sites.hard.len() as f64;
        if work > MOST_RESPONSES {
            let message = format!(
                "{} impulse responses of {steps:.0} steps on {} sites take {work:.1e} site-steps, and {MOST_RESPONSES:.0e} are allowed",
                sites.hard.len(),
                scenario.grid()
            );
            return object("mirror.drive", message, "write drive = \"hard\", which needs none");
        }
    }
    Vec::new()
}

/// What is wrong with transducers that do not keep the symmetry of two particles: one plays at a site and none at that with x and y exchanged, or, of a state that is 0 for equal x and y, one plays the phase of
/// what it heard there, or all play what they heard there, which is rounding.
fn told_apart(scenario: &Scenario, mirror: &Mirror, sites: &MirrorSites) -> Option<String> {
    let exchange = scenario.file().quantum.as_ref()?.exchange?;
    let grid = scenario.grid();
    let playing: Vec<usize> = sites.playing(mirror).iter().map(|n| sites.all[*n]).collect();
    let mut places = playing.iter().map(|site| grid.site(*site));
    let alone = places.clone().find_map(|[i, j, k]| {
        let exchanged = grid.index([j, i, k]);
        playing.binary_search(&exchanged).is_err().then_some([i, j])
    });
    if let Some([i, j]) = alone {
        return Some(format!(
            "a transducer plays at site [{i}, {j}] and none at [{j}, {i}], so that the two particles are told apart"
        ));
    }
    if exchange != Exchange::Antisymmetric {
        return None;
    }
    let [i, j, _] = places.clone().find(|[i, j, _]| i == j)?;
    if mirror.method == MirrorMethod::OneBit {
        return Some(format!(
            "an antisymmetric wave is 0 at site [{i}, {j}], and a transducer there would play the phase of rounding"
        ));
    }
    places.all(|[i, j, _]| i == j).then(|| {
        format!(
            "an antisymmetric wave is 0 at all sites where transducers play, as at [{i}, {j}]: they would play nothing but rounding"
        )
    })
}

/// Which sites are walls.
fn walls(scenario: &Scenario) -> Vec<bool> {
    let grid = scenario.grid();
    let [nx, ny, _] = grid.size();
    let mut walls = vec![false; grid.sites()];
    if scenario.medium().has(Sets::Wall) {
        for (row, out) in walls.chunks_exact_mut(nx).enumerate() {
            scenario.medium().wall_row(row % ny, row / ny, 0..nx, out);
        }
    }
    walls
}

/// Where the wave begins: the first source, or else the site of the largest |ψ| or |p| at t = 0.
fn focus(scenario: &Scenario) -> usize {
    let grid = scenario.grid();
    if let Some(source) = scenario.sources().first() {
        let at = match &source.place {
            crate::physics::source::Place::Points(points) => points.first().map_or([0.0; 3], |point| point.at),
            crate::physics::source::Place::Line { from, to } => {
                [0, 1, 2].map(|axis| f64::midpoint(from[axis], to[axis]))
            }
            crate::physics::source::Place::Disk { center, .. } => *center,
        };
        return grid.index(grid.nearest(at));
    }
    let [nx, ny, _] = grid.size();
    let rows = scenario.initial().rows(grid);
    let mut row = vec![Complex64::ZERO; nx];
    let mut best = (0, -1.0);
    for n in 0..grid.rows() {
        rows.fill(n % ny, n / ny, &mut row);
        for (i, value) in row.iter().enumerate() {
            if value.norm_sqr() > best.1 {
                best = (n * nx + i, value.norm_sqr());
            }
        }
    }
    best.0
}

struct Placed<'a> {
    scenario: &'a Scenario,
    method: &'a Method,
    walls: &'a [bool],
    focus: usize,
}

impl Placed<'_> {
    /// Soft sites, hard sites, inside.
    fn place(&self, placement: &Placement) -> (Vec<usize>, Vec<usize>, Vec<bool>) {
        let grid = self.scenario.grid();
        match placement {
            Placement::Ring { center, radius, count } => {
                let inside: Vec<bool> = (0..grid.sites()).map(|n| distance(grid, n, center) < *radius).collect();
                (ring(grid, *center, *radius, *count), self.shell(&inside), inside)
            }
            Placement::Edges => {
                let margin = self.margins();
                let depth = |n: usize, more: usize| {
                    let site = grid.site(n);
                    (0..grid.rank())
                        .filter(|&axis| !grid.is_periodic(axis))
                        .any(|axis| site[axis].min(grid.size()[axis] - 1 - site[axis]) < margin[axis] + more)
                };
                let soft = (0..grid.sites()).filter(|&n| depth(n, 1) && !depth(n, 0)).collect();
                // As many layers as the scheme needs to stay out of the absorbing edges.
                let mut inside: Vec<bool> = Vec::new();
                let mut hard = Vec::new();
                for layers in 1..=16 {
                    inside = (0..grid.sites()).map(|n| !depth(n, layers)).collect();
                    hard = self.shell(&inside);
                    if hard.iter().all(|&n| !depth(n, 0)) {
                        break;
                    }
                }
                (soft, hard, inside)
            }
            Placement::Line { from, to, count } => {
                let soft = line(grid, *from, *to, *count);
                let inside = self.component(&stroke(grid, *from, *to));
                let hard = self.shell(&inside);
                (soft, hard, inside)
            }
            Placement::Points(points) => {
                let sites: Vec<usize> = points.iter().map(|&at| grid.index(grid.nearest(at))).collect();
                let inside = self.component(&sites);
                (sites.clone(), sites, inside)
            }
        }
    }

    /// Sites outside on which the inside depends in one step; none where the method does not support it.
    fn shell(&self, inside: &[bool]) -> Vec<usize> {
        let Some(reach) = self.method.reach else {
            return Vec::new();
        };
        let mut set = inside.to_vec();
        reach(self.scenario, &mut set);
        (0..set.len()).filter(|&n| set[n] && !inside[n]).collect()
    }

    /// Width of the absorbing edge of each axis.
    fn margins(&self) -> [usize; 3] {
        let grid = self.scenario.grid();
        grid.edges()
            .map(|edge| if edge == Edge::Absorb { grid.absorb_width() } else { 0 })
    }

    /// The sites that are joined to the focus without a step on `barrier` or a wall.
    fn component(&self, barrier: &[usize]) -> Vec<bool> {
        let grid = self.scenario.grid();
        let mut inside = vec![false; grid.sites()];
        let mut closed = self.walls.to_vec();
        for &site in barrier {
            closed[site] = true;
        }
        let mut waiting = VecDeque::from([self.focus]);
        inside[self.focus] = true;
        while let Some(n) = waiting.pop_front() {
            let site = grid.site(n);
            for axis in 0..grid.rank() {
                let sites = grid.size()[axis];
                for up in [false, true] {
                    let mut next = site;
                    next[axis] = match (up, site[axis]) {
                        (true, at) if at + 1 < sites => at + 1,
                        (false, at) if at > 0 => at - 1,
                        (up, _) if grid.is_periodic(axis) => {
                            if up {
                                0
                            } else {
                                sites - 1
                            }
                        }
                        _ => continue,
                    };
                    let next = grid.index(next);
                    if !inside[next] && !closed[next] {
                        inside[next] = true;
                        waiting.push_back(next);
                    }
                }
            }
        }
        inside
    }
}

#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn distance(grid: &Grid, n: usize, center: &[f64; 3]) -> f64 {
    let site = grid.site(n);
    (0..grid.rank())
        .map(|axis| (site[axis] as f64 * grid.spacing() - center[axis]).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// Evenly on a circle; the two ends in 1D; a spiral of equal areas on a sphere.
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn ring(grid: &Grid, center: [f64; 3], radius: f64, count: usize) -> Vec<usize> {
    let golden = PI * (3.0 - 5.0f64.sqrt());
    let directions: Vec<[f64; 3]> = match grid.rank() {
        1 => vec![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        2 => (0..count)
            .map(|n| {
                let (sin, cos) = (TAU * n as f64 / count as f64).sin_cos();
                [cos, sin, 0.0]
            })
            .collect(),
        _ => (0..count)
            .map(|n| {
                let z = 1.0 - (2 * n + 1) as f64 / count as f64;
                let (sin, cos) = (golden * n as f64).sin_cos();
                let across = (1.0 - z * z).max(0.0).sqrt();
                [across * cos, across * sin, z]
            })
            .collect(),
    };
    directions
        .iter()
        .map(|direction| {
            let at = [0, 1, 2].map(|axis| center[axis] + radius * direction[axis]);
            grid.index(grid.nearest(at))
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn line(grid: &Grid, from: [f64; 3], to: [f64; 3], count: usize) -> Vec<usize> {
    (0..count)
        .map(|n| {
            let part = if count > 1 { n as f64 / (count - 1) as f64 } else { 0.5 };
            grid.index(grid.nearest([0, 1, 2].map(|axis| from[axis] + part * (to[axis] - from[axis]))))
        })
        .collect()
}

/// Every site on a line, without gaps between neighbouring sites.
fn stroke(grid: &Grid, from: [f64; 3], to: [f64; 3]) -> Vec<usize> {
    let (first, last) = (grid.nearest(from), grid.nearest(to));
    let longest = (0..3).map(|axis| first[axis].abs_diff(last[axis])).max().unwrap_or(0);
    line(grid, from, to, 4 * longest + 1)
}

//! A closed room with a mirror, site by site in double precision: leapfrog of order 2 with rigid walls, a recording, and what it makes when it is played backwards. It shares the formulas of
//! `docs/scene-format.md` with the program, and no line of code.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sites and steps"
)]

use ripplon::physics::source::Place;
use ripplon::physics::{Medium, MirrorMethod, Placement, Region};
use ripplon::scene::Scenario;

/// Two levels of the pressure, and which sites are open.
struct Room {
    nx: usize,
    /// Sites that are no walls, and of their four neighbours those that are none either; a wall or an edge stands for the site itself.
    open: Vec<(usize, [usize; 4])>,
    /// cΔt/(2aξ) of the faces of each of them, Z = ξρc of walls and edges.
    taken: Vec<f64>,
    now: Vec<f64>,
    old: Vec<f64>,
    square: f64,
}

impl Room {
    fn new(size: [usize; 2], medium: &Medium, courant: f64) -> Self {
        let [nx, ny] = size;
        let mut walls = vec![false; nx * ny];
        for (j, row) in walls.chunks_exact_mut(nx).enumerate() {
            medium.wall_row(j, 0, 0..nx, row);
        }
        let open = (0..nx * ny).filter(|site| !walls[*site]);
        let open = open.map(|site| {
            let (i, j) = (site % nx, site / nx);
            let beside = [
                (i > 0).then(|| site - 1),
                (i + 1 < nx).then(|| site + 1),
                (j > 0).then(|| site - nx),
                (j + 1 < ny).then(|| site + nx),
            ];
            (
                site,
                beside.map(|other| other.filter(|other| !walls[*other]).unwrap_or(site)),
            )
        });
        let open: Vec<(usize, [usize; 4])> = open.collect();
        let mut xi = vec![0.0; nx * ny];
        for (j, row) in xi.chunks_exact_mut(nx).enumerate() {
            medium.impedance_row(j, 0, 0..nx, row);
        }
        let face = |site: usize, (axis, up): (usize, bool)| {
            let (at, last, step) = [(site % nx, nx - 1, 1), (site / nx, ny - 1, nx)][axis];
            if at == if up { last } else { 0 } {
                return courant / (2.0 * xi[site]);
            }
            let other = if up { site + step } else { site - step };
            if walls[other] { courant / (2.0 * xi[other]) } else { 0.0 }
        };
        let faces = [(0, false), (0, true), (1, false), (1, true)];
        let taken = open
            .iter()
            .map(|(site, _)| faces.map(|side| face(*site, side)).iter().sum());
        Self {
            nx,
            taken: taken.collect(),
            open,
            now: vec![0.0; nx * ny],
            old: vec![0.0; nx * ny],
            square: courant * courant,
        }
    }

    fn step(&mut self) {
        for ((site, beside), taken) in self.open.iter().zip(&self.taken) {
            let here = self.now[*site];
            let around: f64 = beside.iter().map(|other| self.now[*other] - here).sum();
            let kept = (1.0 - taken) * self.old[*site];
            self.old[*site] = (2.0 * here - kept + self.square * around) / (1.0 + taken);
        }
        std::mem::swap(&mut self.now, &mut self.old);
    }

    fn site(&self, at: [f64; 3], spacing: f64) -> usize {
        let [i, j] = [at[0], at[1]].map(|x| (x / spacing).round() as usize);
        i + self.nx * j
    }
}

/// p at a detector, at the step nearest to `at`, of all sources.
pub fn heard(scenario: &Scenario, speed: f64, detector: usize, at: f64) -> f64 {
    let grid = scenario.grid();
    let (a, dt) = (grid.spacing(), scenario.time().step.unwrap());
    let mut room = Room::new([grid.size()[0], grid.size()[1]], scenario.medium(), speed * dt / a);
    let Region::Point(ear) = scenario.detectors()[detector].region else {
        panic!("a point")
    };
    let ear = room.site(ear, a);
    let sources: Vec<_> = scenario.sources().iter().collect();
    for n in 0..(at / dt).round() as usize {
        room.step();
        for source in &sources {
            let Place::Points(elements) = &source.place else {
                panic!("a point, not {:?}", source.place)
            };
            let site = room.site(elements[0].at, a);
            room.now[site] += dt * dt * source.amplitude / (a * a) * source.signal.at(n as f64 * dt);
        }
    }
    room.now[ear]
}

/// |p| over its root mean square on open sites where the sound began, at the step nearest to `at`.
pub fn contrast(scenario: &Scenario, speed: f64, at: f64) -> f64 {
    let mirror = scenario.mirror().unwrap();
    let Some(Placement::Points(points)) = &mirror.placement else {
        panic!("points, not {:?}", mirror.placement)
    };
    let source = &scenario.sources()[0];
    let Place::Points(elements) = &source.place else {
        panic!("a point, not {:?}", source.place)
    };
    let grid = scenario.grid();
    let (a, dt) = (grid.spacing(), scenario.time().step.unwrap());
    let size = [grid.size()[0], grid.size()[1]];
    let turn = (mirror.at / dt).round() as usize;
    let last = (at / dt).round() as usize;

    let mut there = Room::new(size, scenario.medium(), speed * dt / a);
    let focus = there.site(elements[0].at, a);
    let sites: Vec<usize> = points.iter().map(|at| there.site(*at, a)).collect();
    let mut record: Vec<Vec<f64>> = vec![vec![0.0; sites.len()]];
    for n in 0..turn {
        there.step();
        there.now[focus] += dt * dt * source.amplitude / (a * a) * source.signal.at(n as f64 * dt);
        record.push(sites.iter().map(|site| there.now[*site]).collect());
    }
    record.reverse();
    let rows = played(&record, 2.0 * speed / (a * dt), mirror.method == MirrorMethod::OneBit);

    let mut back = Room::new(size, &mirror.medium, speed * dt / a);
    for (n, row) in rows.iter().enumerate().take(last - turn + 1) {
        if n > 0 {
            back.step();
        }
        for (site, value) in sites.iter().zip(row) {
            back.now[*site] += dt * dt * value;
        }
    }
    let mean = back.now.iter().map(|p| p * p).sum::<f64>() / there.open.len() as f64;
    back.now[focus].abs() / mean.sqrt()
}

/// What is played: `weight` times the change from the row before to the row after over two, and 0 beyond the ends; one bit of it, less its straight line.
fn played(record: &[Vec<f64>], weight: f64, one_bit: bool) -> Vec<Vec<f64>> {
    let count = record.len();
    let mut signals: Vec<Vec<f64>> = (0..record[0].len())
        .map(|site| {
            let at = |n: Option<usize>| n.and_then(|n| record.get(n)).map_or(0.0, |row| row[site]);
            (0..count)
                .map(|n| weight * (at(Some(n + 1)) - at(n.checked_sub(1))) / 2.0)
                .collect()
        })
        .collect();
    if one_bit {
        let largest = signals
            .iter()
            .flatten()
            .fold(0.0f64, |most, value| most.max(value.abs()));
        let bit = |value: f64| {
            if value.abs() > 1e-3 * largest {
                largest.copysign(value)
            } else {
                0.0
            }
        };
        for signal in &mut signals {
            let bits: Vec<f64> = signal.iter().map(|value| bit(*value)).collect();
            let middle = (count as f64 - 1.0) / 2.0;
            let mean = bits.iter().sum::<f64>() / count as f64;
            let square: f64 = (0..count).map(|n| (n as f64 - middle).powi(2)).sum();
            let moment: f64 = (0..count).map(|n| bits[n] * (n as f64 - middle)).sum();
            *signal = (0..count)
                .map(|n| bits[n] - mean - moment / square * (n as f64 - middle))
                .collect();
        }
    }
    (0..count)
        .map(|n| signals.iter().map(|signal| signal[n]).collect())
        .collect()
}

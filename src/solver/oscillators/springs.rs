//! The medium as masses and springs, and the coefficients of every pair.
//!
//! q is the pressure. Site i has the mass m = a^d/K, K = ρc², the bond of two sites the stiffness k = a^(d−2)/ρ_b with ρ_b = (ρ + ρ′)/2. Both are divided by the
//! mass of the background, so that in a uniform medium p = dq/dt: m̂ = ρ₀c₀²/(ρc²), k̂ = ρ₀c₀²/(ρ_b a²). In a pair a site has the mass 2d m̂.

use super::layout::Layout;
use super::pair::{Coefficients, Lone, Pair, lone, pair};
use super::scheme::{Scheme, Sweep};
use crate::backend::memory::zeros;
use crate::field::Real;
use crate::grid::{Edge, Grid};
use crate::physics::{Acoustic, Medium, Sets};
use crate::scene::Scenario;
use crate::solver::SolverError;
use crate::solver::acoustic::medium::{constants, read_walls};
use rayon::prelude::*;
use std::sync::Arc;

/// Masses and stiffnesses of a scene, row by row.
pub(super) struct Masses {
    grid: Grid,
    medium: Arc<Medium>,
    acoustic: Acoustic,
    /// One value a site, x fastest; empty where there are no walls.
    pub walls: Vec<bool>,
    /// Whether all masses and stiffnesses are the same, and no bond is missing.
    pub uniform: bool,
}

/// A row of masses with the stiffnesses of its bonds.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// m̂ per site.
    pub mass: Vec<f64>,
    /// k̂ of the bond to the next site along x; of the last site: around a ring, or 0.
    pub x: Vec<f64>,
    /// k̂ of the bond to the next row; of the last row: around a ring, or 0.
    pub y: Vec<f64>,
    /// k̂ of the springs at soft edges, per site: low and high x edge, low and high y edge.
    pub soft: [Vec<f64>; 4],
}

impl Masses {
    /// Reads a scene.
    pub(super) fn new(scenario: &Scenario) -> Result<Self, SolverError> {
        let Some(acoustic) = constants(scenario) else {
            return Err(SolverError::Unsupported(
                "oscillators step acoustic scenes only".to_owned(),
            ));
        };
        let walls = read_walls(scenario);
        let medium = scenario.medium().clone();
        Ok(Self {
            grid: scenario.grid().clone(),
            acoustic,
            uniform: walls.is_empty() && !medium.has(Sets::Speed) && !medium.has(Sets::Density),
            medium,
            walls,
        })
    }

    /// The same background on another grid, without layers and walls; coefficients are kept per bond where they are here.
    pub(super) fn blank(&self, grid: &Grid) -> Self {
        Self {
            grid: grid.clone(),
            medium: Arc::new(Medium::new(grid.clone(), Vec::new())),
            acoustic: self.acoustic,
            walls: Vec::new(),
            uniform: self.uniform,
        }
    }

    /// m̂ of a site.
    pub(super) fn mass(&self, i: usize, j: usize) -> f64 {
        if self.uniform {
            return 1.0;
        }
        let (mut speed, mut density) = ([0.0], [0.0]);
        self.medium.speed_row(self.acoustic.speed, j, 0, i..i + 1, &mut speed);
        self.medium
            .density_row(self.acoustic.density, j, 0, i..i + 1, &mut density);
        self.modulus() / (density[0] * speed[0].powi(2))
    }

    /// Whether a site is a wall.
    pub(super) fn is_wall(&self, i: usize, j: usize) -> bool {
        self.wall(i, j)
    }

    /// K₀ of the background: energies of hatted quantities times a^d/K₀ are energies.
    pub(super) fn modulus(&self) -> f64 {
        self.acoustic.density * self.acoustic.speed.powi(2)
    }

    /// k̂ between equal densities ρ₀: (c₀/a)².
    pub(super) fn stiffness(&self) -> f64 {
        (self.acoustic.speed / self.grid.spacing()).powi(2)
    }

    fn wall(&self, i: usize, j: usize) -> bool {
        !self.walls.is_empty() && self.walls[i + self.grid.size()[0] * j]
    }

    /// m̂ and ρ of row `j`.
    fn materials(&self, j: usize, mass: &mut Vec<f64>, density: &mut Vec<f64>) {
        let nx = self.grid.size()[0];
        mass.resize(nx, 0.0);
        density.resize(nx, 0.0);
        self.medium.speed_row(self.acoustic.speed, j, 0, 0..nx, mass);
        self.medium.density_row(self.acoustic.density, j, 0, 0..nx, density);
        for (mass, density) in mass.iter_mut().zip(density.iter()) {
            *mass = self.modulus() / (density * mass.powi(2));
        }
    }

    /// Row `j`. `row` keeps its allocations.
    pub(super) fn row(&self, j: usize, row: &mut Row) {
        let [nx, ny, _] = self.grid.size();
        let (mut density, mut above) = (Vec::new(), Vec::new());
        self.materials(j, &mut row.mass, &mut density);
        let next = if j + 1 < ny {
            Some(j + 1)
        } else {
            self.grid.is_periodic(1).then_some(0)
        };
        // One row closes on itself along no axis.
        let next = next.filter(|next| *next != j);
        if let Some(next) = next {
            self.materials(next, &mut Vec::new(), &mut above);
        }
        let scale = self.stiffness() * self.acoustic.density;
        let ring = self.grid.is_periodic(0);
        row.x.clear();
        row.x.extend((0..nx).map(|i| {
            let there = if i + 1 < nx { i + 1 } else { 0 };
            let joined = (i + 1 < nx || ring && nx > 1) && !self.wall(i, j) && !self.wall(there, j);
            if joined {
                2.0 * scale / (density[i] + density[there])
            } else {
                0.0
            }
        }));
        row.y.clear();
        row.y.extend((0..nx).map(|i| match next {
            Some(next) if !self.wall(i, j) && !self.wall(i, next) => 2.0 * scale / (density[i] + above[i]),
            _ => 0.0,
        }));
        for (n, soft) in row.soft.iter_mut().enumerate() {
            let axis = n / 2;
            let last = self.grid.size()[axis] - 1;
            soft.clear();
            soft.extend((0..nx).map(|i| {
                let at = if axis == 0 { i } else { j };
                let here = axis < self.grid.rank() && at == if n % 2 == 0 { 0 } else { last };
                if here && self.grid.edges()[axis] == Edge::Soft && !self.wall(i, j) {
                    scale / density[i]
                } else {
                    0.0
                }
            }));
        }
    }
}

/// Coefficients for one length of sub-step.
pub(super) struct Table<T> {
    /// Per axis, even and odd: of a uniform medium.
    pub same: [[Pair<T>; 2]; 2],
    /// Per axis: κ, A, B, C of the bond from each site to the next, laid out like a field; empty in a uniform medium.
    pub each: [[Vec<T>; 4]; 2],
    /// Low and high ends of x: per row.
    pub ends: [Vec<Lone<T>>; 2],
    /// First and last row: κ and A per column, laid out like a row.
    pub rims: [[Vec<T>; 2]; 2],
}

impl<T: Real> Table<T> {
    /// Coefficients of sub-steps of length `tau`.
    pub(super) fn new(masses: &Masses, layout: &Layout, tau: f64) -> Self {
        let rank = layout.rank;
        let factor = 2.0 * layout_rank(rank);
        let time = |axis: usize, odd: bool| Sweep { axis, odd }.share(rank) * tau;
        let narrow = |pair: Pair<f64>| pair.map(T::of);
        let uniform = |axis, odd| narrow(pair(factor, factor, masses.stiffness(), time(axis, odd)));
        let [nx, ny] = layout.size;
        let mut table = Self {
            same: [0, 1].map(|axis| [false, true].map(|odd| uniform(axis, odd))),
            each: Default::default(),
            ends: [vec![[T::zero(); 2]; ny], vec![[T::zero(); 2]; ny]],
            rims: [0, 1].map(|_| [zeros(layout.stride()), zeros(layout.stride())]),
        };
        if !masses.uniform {
            table.fill(masses, layout, &time);
        }
        // What a site at an end does in the sweep that leaves it alone: the odd one at low ends; at high ends the one whose pairs end
        // before it.
        let parity = |sites: usize| sites.is_multiple_of(2);
        let ends_only = |j: usize| j != 0 && j + 1 != ny && masses.uniform;
        let mut row = Row::default();
        for j in 0..ny {
            if !ends_only(j) || j == 1 {
                masses.row(j, &mut row);
            }
            let x = |i: usize, soft: &[f64], odd: bool| lone(factor * row.mass[i], soft[i], time(0, odd)).map(T::of);
            table.ends[0][j] = x(0, &row.soft[0], true);
            table.ends[1][j] = x(nx - 1, &row.soft[1], parity(nx));
            if rank < 2 {
                continue;
            }
            for (n, odd, at) in [(0, true, 0), (1, parity(ny), ny - 1)] {
                if j == at {
                    for i in 0..nx {
                        let [k, a] = lone(factor * row.mass[i], row.soft[2 + n][i], time(1, odd));
                        let place = layout.column(i);
                        (table.rims[n][0][place], table.rims[n][1][place]) = (T::of(k), T::of(a));
                    }
                    for all in &mut table.rims[n] {
                        repeat(layout, all);
                    }
                }
            }
        }
        table
    }

    fn fill(&mut self, masses: &Masses, layout: &Layout, time: &(impl Fn(usize, bool) -> f64 + Sync)) {
        let factor = 2.0 * layout_rank(layout.rank);
        let [nx, ny] = layout.size;
        let stride = layout.stride();
        for axis in 0..layout.rank {
            self.each[axis] = [0; 4].map(|_| zeros(layout.len()));
            let [k, a, b, c] = &mut self.each[axis];
            (k.par_chunks_mut(stride).zip(a.par_chunks_mut(stride)))
                .zip(b.par_chunks_mut(stride).zip(c.par_chunks_mut(stride)))
                .enumerate()
                .for_each_init(
                    || (Row::default(), Row::default(), Known::default()),
                    |(row, next, known), (j, ((k, a), (b, c)))| {
                        masses.row(j, row);
                        if axis == 1 {
                            masses.row((j + 1) % ny, next);
                        }
                        for i in 0..nx {
                            let (there, stiffness, odd) = if axis == 0 {
                                (row.mass[(i + 1) % nx], row.x[i], !i.is_multiple_of(2))
                            } else {
                                (next.mass[i], row.y[i], !j.is_multiple_of(2))
                            };
                            let (m1, m2) = (factor * row.mass[i], factor * there);
                            let found = known.pair(m1, m2, stiffness, time(axis, odd));
                            let place = layout.column(i);
                            for (out, value) in [&mut *k, &mut *a, &mut *b, &mut *c].into_iter().zip(found) {
                                out[place] = T::of(value);
                            }
                        }
                        for all in [k, a, b, c] {
                            repeat(layout, all);
                        }
                    },
                );
        }
    }

    /// Coefficients of pairs from a place (of the first site of the first pair) on.
    pub(super) fn of(&self, sweep: Sweep, place: usize) -> Coefficients<'_, T> {
        let each = &self.each[sweep.axis];
        if each[0].is_empty() {
            Coefficients::Same(&self.same[sweep.axis][usize::from(sweep.odd)])
        } else {
            Coefficients::Each([0, 1, 2, 3].map(|n| each[n].as_ptr().wrapping_add(place)))
        }
    }

    /// κ and A of a row at an edge, from a place within a row on.
    pub(super) fn rim(&self, high: bool, column: usize) -> [*const T; 2] {
        let rim = &self.rims[usize::from(high)];
        [0, 1].map(|n| rim[n].as_ptr().wrapping_add(column))
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.each.iter().flatten().map(Vec::len).sum::<usize>() * size_of::<T>()
    }
}

#[expect(clippy::cast_precision_loss, reason = "1 or 2")]
fn layout_rank(rank: usize) -> f64 {
    rank as f64
}

/// Around a ring, the columns beyond the ends of a row repeat those at the other end.
pub(super) fn repeat<T: Real>(layout: &Layout, row: &mut [T]) {
    if !layout.periodic[0] || layout.pad == 0 {
        return;
    }
    for (start, columns) in [(0, layout.columns(false)), (layout.half, layout.columns(true))] {
        let first = start + layout.pad;
        for n in 0..layout.pad {
            row[first - 1 - n] = row[first + (columns - 1 - n % columns)];
            row[first + columns + n] = row[first + n % columns];
        }
    }
}

/// The pair that was computed last: media are mostly the same from bond to bond.
#[derive(Default)]
struct Known {
    of: [f64; 4],
    found: Pair<f64>,
}

impl Known {
    fn pair(&mut self, m1: f64, m2: f64, k: f64, tau: f64) -> Pair<f64> {
        let of = [m1, m2, k, tau];
        if self.of != of {
            self.of = of;
            self.found = pair(m1, m2, k, tau);
        }
        self.found
    }
}

/// The medium for a step, except damping.
pub(super) struct Springs<T> {
    pub layout: Layout,
    pub scheme: Scheme,
    /// Per length of sub-step.
    pub tables: Vec<Table<T>>,
}

impl<T: Real> Springs<T> {
    /// Reads the masses for steps of `scheme`.
    pub(super) fn new(masses: &Masses, layout: Layout, scheme: Scheme) -> Self {
        let table = |tau: &f64| Table::new(masses, &layout, *tau);
        Self {
            tables: scheme.lengths.iter().map(table).collect(),
            layout,
            scheme,
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.tables.iter().map(Table::bytes).sum()
    }
}

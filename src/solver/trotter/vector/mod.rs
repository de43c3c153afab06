//! Variant `vector`: sweep by sweep over memory, at the width of the machine's vectors (Bederián and Dente 2011, section 4.3).
//!
//! Layout: red–black. Sites with even x + y + z are red, the others black; each colour has a plane of real and one of imaginary parts, rows of half
//! the grid's columns, padded to whole cache lines. Every bond joins a red and a black site, and the two stand at the same place of
//! their rows, or, for odd bonds along x, one place apart: a sweep is two streams of vectors whose lanes pair up, without any
//! shuffling. See [`layout`].
//!
//! Arithmetic: that of `naive`, three shears a bond, see [`kernel`]; bonds that walls and edges leave out have coefficients of 0. Deviations from the
//! paper: pairs along columns instead of the checkerboard's staggered ones (half the splitting error), six sweeps instead of eight,
//! shears instead of a sine and a cosine; sweeps along x go with one along y or z whose rows they stay in, and the phases with the last sweep.
//!
//! Per site-step in 2D, order 2: 6 sweeps of 3 multiply-adds a site and 4 operations for the phase, 22 instructions a vector of sites. Three passes over memory of
//! 16 B (single) each, one of them with 8 B of phases: 56 B, which bounds fields beyond the caches. In the caches stores bound it: 2 a
//! vector of sites and sweep. Memory: field 1, phases 1 (order 4: 2), in copies of the field; a byte a site with walls.

mod bonds;
mod kernel;
mod layout;
mod pass;
mod units;

use super::components::CrossPhase;
use super::naive::Turn;
use super::problem::Problem;
use super::run::{RowChange, Sweeper};
use super::scheme::{Scheme, Sweep};
use crate::backend::simd::{Level, Vectors};
use crate::grid::Grid;
use bonds::OwnBonds;
use layout::{Layout, Open, Planes};
use num_complex::Complex;
use pass::{Bonds, Pass, Phases, Work};
use std::ops::Range;
use units::passes;

/// The field by colours.
pub(super) struct Vector<T> {
    grid: Grid,
    layout: Layout,
    level: Level,
    field: Planes<T>,
    tables: Vec<Planes<T>>,
    open: Open,
    /// e^{iϕ} of the x bonds, per y; empty without flux.
    peierls: Vec<Complex<T>>,
    /// Couplings of bonds that differ from one another.
    own: Option<OwnBonds<T>>,
    interaction: f64,
    /// g at every site in the planes of real parts, where layers set it.
    strengths: Option<Planes<T>>,
    /// g₁₂ of two components.
    cross: f64,
}

impl<T: Vectors> Vector<T> {
    /// A field of zeros, stepped with a level that the machine has.
    pub(super) fn new(grid: &Grid, level: Level) -> Self {
        let layout = Layout::new(grid);
        Self {
            grid: grid.clone(),
            field: Planes::new(&layout),
            layout,
            level,
            tables: Vec::new(),
            open: Open::default(),
            peierls: Vec::new(),
            own: None,
            interaction: 0.0,
            strengths: None,
            cross: 0.0,
        }
    }

    /// One pass: stages of sweeps, then phases of a table and those of the interaction, g τ where g is the same at all sites, and τ, as
    /// [`Substep::interaction`](super::scheme::Substep::interaction) gives them.
    fn pass(&mut self, stages: &[&[Sweep]], imaginary: bool, phases: Option<(usize, [[f64; 2]; 2])>) {
        let bonds = |sweep: &Sweep| Bonds {
            axis: sweep.axis,
            odd: sweep.odd,
            periodic: self.grid.is_periodic(sweep.axis),
            turn: Turn::new(sweep.angle, imaginary),
            own: self.own.as_ref().and_then(|own| own.of(sweep)),
        };
        let work = |(n, sweeps): (usize, &&[Sweep])| {
            let between = sweeps.iter().position(|sweep| sweep.axis > 0).unwrap_or(sweeps.len());
            Work {
                before: sweeps[..between].iter().map(bonds).collect(),
                between: sweeps.get(between).map(bonds),
                after: sweeps.iter().skip(between + 1).map(bonds).collect(),
                phases: phases
                    .filter(|_| n + 1 == stages.len())
                    .map(|(table, [interaction, scale])| Phases {
                        factors: &self.tables[table],
                        interaction: interaction.map(T::of),
                        strengths: (self.strengths.as_ref().filter(|_| scale[0] != 0.0))
                            .map(|own| (own, scale.map(T::of))),
                    }),
            }
        };
        let work = stages.iter().enumerate().map(work).collect();
        Pass::new(&self.layout, &mut self.field, &self.open, &self.peierls, work).run(self.level);
    }
}

impl<T: Vectors> Sweeper<T> for Vector<T> {
    fn variant(&self) -> &'static str {
        "vector"
    }

    fn details(&self) -> String {
        format!("red–black, sweep by sweep, {}", self.level.title())
    }

    fn memory(&self) -> usize {
        self.field.memory()
            + self.tables.iter().map(Planes::memory).sum::<usize>()
            + self.open.memory()
            + self.own.as_ref().map_or(0, OwnBonds::memory)
            + self.strengths.as_ref().map_or(0, Planes::memory)
    }

    fn tan_form(&self) -> bool {
        false
    }

    fn prepare(&mut self, problem: &Problem, scheme: &Scheme, walls: Option<&[bool]>) {
        self.tables
            .resize_with(scheme.tables.len(), || Planes::new(&self.layout));
        self.open = Open::new(&self.layout, walls);
        self.peierls = problem.peierls();
        self.own = OwnBonds::new(&self.layout, problem, scheme, walls);
        self.interaction = problem.phase_interaction();
        self.cross = problem.phase_cross_interaction();
        self.strengths = problem.phase_strengths().map(|strengths| {
            let nx = self.grid.size()[0];
            let mut planes = Planes::new(&self.layout);
            planes.change(&|_| true, &|row, sites| {
                for (site, g) in sites.iter_mut().zip(&strengths[row * nx..]) {
                    *site = Complex::new(T::of(*g), T::zero());
                }
            });
            planes
        });
    }

    fn read(&self, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        self.field.read(row, x, out);
    }

    fn scale(&mut self, factor: T) {
        self.field.scale(factor);
    }

    fn change(&mut self, change: RowChange<T>) {
        self.field.change(&|_| true, change);
    }

    fn write(&mut self, row: usize, x: usize, values: &[Complex<T>]) {
        self.field.write(row, x, values);
    }

    fn fill_table(&mut self, table: usize, touched: &(dyn Fn(usize) -> bool + Sync), fill: RowChange<T>) {
        self.tables[table].change(touched, fill);
    }

    fn apply_table(&mut self, table: usize) {
        self.pass(&[&[]], false, Some((table, [[0.0; 2]; 2])));
    }

    fn substep(&mut self, scheme: &Scheme, i: usize) {
        let substep = &scheme.substeps[i];
        let mut phases = Some((
            substep.table,
            [substep.interaction(self.interaction), substep.interaction(1.0)],
        ));
        let ends = [substep.front, substep.back].map(|time| CrossPhase::new(self.cross, time));
        if let Some(phase) = ends[0] {
            self.field.turn_components(phase, self.level);
        }
        let sweeps = substep.sweeps(self.grid.rank());
        let mut passes = passes(&self.layout, &sweeps).into_iter().peekable();
        while let Some(stages) = passes.next() {
            let stages: Vec<&[Sweep]> = stages.into_iter().map(|stage| &sweeps[stage]).collect();
            let joins = |last: &&Sweep| ends[1].is_none() && Pass::<T>::joins_phases(&self.layout, last);
            let last = stages.last().and_then(|stage| stage.last()).filter(joins);
            let now = if passes.peek().is_none() && last.is_some() {
                phases.take()
            } else {
                None
            };
            self.pass(&stages, scheme.imaginary, now);
        }
        if let Some(phase) = ends[1] {
            self.field.turn_components(phase, self.level);
        }
        if phases.is_some() {
            self.pass(&[&[]], scheme.imaginary, phases);
        }
    }
}

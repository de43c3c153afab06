//! Variant `vector`: sweeps over the field at the width of the machine's vectors (Bederián and Dente 2011, section 4.3), several of them a pass over memory.
//!
//! Layout: red–black. Sites with even x + y + z are red, the others black; each colour has a plane of real and one of imaginary parts, rows of half
//! the grid's columns, padded to whole cache lines. Every bond joins a red and a black site, and the two stand at the same place of
//! their rows, or, for odd bonds along x, one place apart: a sweep is two streams of vectors whose lanes pair up, without any
//! shuffling. See [`layout`].
//!
//! Arithmetic: that of `naive`, three shears a bond, see [`kernel`]; bonds that walls and edges leave out have coefficients of 0. Deviations from the
//! paper: pairs along columns instead of the checkerboard's staggered ones (half the splitting error), six sweeps instead of eight,
//! shears instead of a sine and a cosine; sweeps and phases go together through rows or planes of a pair as long as they stay in it ([`units`]).
//!
//! Per site-step at order 2: 6 sweeps in 2D and 9 in 3D of 3 multiply-adds a site, and 4 operations for the phase: 22 and 31 instructions a vector of
//! sites. Two passes over memory of 16 B (single) each, one of them with 8 B of phases: 40 B, which
//! bounds fields beyond the caches; where some rows (planes) fit a core's cache, several passes go together ([`wave`]), and memory is read once for all of
//! them. In the caches stores bound it: 2 a vector of sites and sweep. Memory: field 1, phases 1 (order 4: 2), in copies of
//! the field; a byte a site with walls.

mod bonds;
mod kernel;
mod layout;
mod order;
mod pairing;
mod pass;
mod units;
mod wave;

use super::components::CrossPhase;
use super::naive::Turn;
use super::problem::Problem;
use super::recorder::Recorder;
use super::run::{RowChange, Sweeper};
use super::scheme::{Scheme, Sweep};
use crate::backend::simd::{Level, Vectors};
use crate::grid::Grid;
use bonds::OwnBonds;
use layout::{Layout, Open, Planes};
use num_complex::Complex;
use pass::{Bonds, Pass, Phases, Work};
use std::ops::Range;
use units::{Act, Stage, are_whole, passes};
use wave::Wave;

/// Steps whose passes are made out at once.
const MOST_STEPS: usize = 16;

/// The field by colours.
pub(super) struct Vector<T> {
    layout: Layout,
    level: Level,
    field: Planes<T>,
    open: Open,
    /// e^{iϕ} of the x bonds, per y; empty without flux.
    peierls: Vec<Complex<T>>,
    coefficients: Coefficients<T>,
    /// g₁₂ of two components.
    cross: f64,
}

/// What bonds and phases are turned by.
struct Coefficients<T> {
    grid: Grid,
    tables: Vec<Planes<T>>,
    /// Couplings of bonds that differ from one another.
    own: Option<OwnBonds<T>>,
    interaction: f64,
    /// g at every site in the planes of real parts, where layers set it.
    strengths: Option<Planes<T>>,
}

impl<T: Vectors> Coefficients<T> {
    /// A stage of a pass; `seen`: the step that its phases end, where it is read.
    fn work<'a>(&'a self, scheme: &Scheme, stage: &Stage, seen: Option<(usize, &'a Recorder<T>)>) -> Work<'a, T> {
        let bonds = |sweep: &Sweep| Bonds {
            axis: sweep.axis,
            odd: sweep.odd,
            periodic: self.grid.is_periodic(sweep.axis),
            turn: Turn::new(sweep.angle, scheme.imaginary),
            own: self.own.as_ref().and_then(|own| own.of(sweep)),
        };
        let phases = |substep: usize| {
            let substep = &scheme.substeps[substep];
            // g τ where g is the same at all sites, and τ.
            let [interaction, scale] = [self.interaction, 1.0].map(|g| substep.interaction(g));
            Phases {
                factors: &self.tables[substep.table],
                interaction: interaction.map(T::of),
                strengths: (self.strengths.as_ref().filter(|_| scale[0] != 0.0)).map(|own| (own, scale.map(T::of))),
            }
        };
        let sweeps = &stage.sweeps;
        let between = sweeps.iter().position(|sweep| sweep.axis > 0).unwrap_or(sweeps.len());
        Work {
            before: sweeps[..between].iter().map(bonds).collect(),
            between: sweeps.get(between).map(bonds),
            after: sweeps.iter().skip(between + 1).map(bonds).collect(),
            phases: stage.phases.map(phases),
            seen,
        }
    }

    /// What a sub-step does.
    fn acts(&self, scheme: &Scheme, substep: usize) -> Vec<Act> {
        let sweeps = scheme.substeps[substep].sweeps(self.grid.rank());
        sweeps
            .into_iter()
            .map(Act::Sweep)
            .chain([Act::Phases(substep)])
            .collect()
    }

    /// Bytes of a site that steps read: field, phases, and couplings where they differ.
    fn bytes_of_site(&self) -> usize {
        let pairs = if self.own.is_some() { 4 } else { 2 };
        2 * size_of::<T>() * pairs
    }

    fn memory(&self) -> usize {
        self.tables.iter().map(Planes::memory).sum::<usize>()
            + self.own.as_ref().map_or(0, OwnBonds::memory)
            + self.strengths.as_ref().map_or(0, Planes::memory)
    }
}

impl<T: Vectors> Vector<T> {
    /// A field of zeros, stepped with a level that the machine has.
    pub(super) fn new(grid: &Grid, level: Level) -> Self {
        let layout = Layout::new(grid);
        Self {
            field: Planes::new(&layout),
            layout,
            level,
            open: Open::default(),
            peierls: Vec::new(),
            coefficients: Coefficients {
                grid: grid.clone(),
                tables: Vec::new(),
                own: None,
                interaction: 0.0,
                strengths: None,
            },
            cross: 0.0,
        }
    }

    /// Sweeps and phases of a scheme, in as few passes as they fit into, several at once where that keeps rows in cache; `recorder` reads the field after every whole step.
    fn act(&mut self, scheme: &Scheme, acts: &[Act], recorder: Option<&Recorder<T>>) {
        let (layout, open, peierls) = (&self.layout, &self.open, &self.peierls);
        let (last, mut step) = (scheme.substeps.len() - 1, 0);
        let all = passes(layout, acts);
        for several in all.chunks(wave::depth(layout, self.coefficients.bytes_of_site())) {
            let mut made = Vec::with_capacity(several.len());
            for stages in several {
                let work = |stage: &Stage| {
                    let ends = stage.phases == Some(last);
                    let seen = recorder.filter(|_| ends).map(|recorder| (step, recorder));
                    step += usize::from(ends);
                    self.coefficients.work(scheme, stage, seen)
                };
                let work = stages.iter().map(work).collect();
                made.push(Pass::new(layout, &mut self.field, open, peierls, work));
            }
            Wave::new(made).run(self.level);
        }
    }

    /// Steps whose passes are made out at once.
    fn together(&self) -> usize {
        // The last pass of a step and the first of the next are one.
        if self.cross != 0.0 || !are_whole(&self.layout) {
            1
        } else {
            MOST_STEPS
        }
    }

    /// What a step does.
    fn acts_of_step(&self, scheme: &Scheme) -> Vec<Act> {
        let substeps = 0..scheme.substeps.len();
        substeps.flat_map(|i| self.coefficients.acts(scheme, i)).collect()
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
        self.field.memory() + self.open.memory() + self.coefficients.memory()
    }

    fn tan_form(&self) -> bool {
        false
    }

    fn prepare(&mut self, problem: &Problem, scheme: &Scheme, walls: Option<&[bool]>) {
        self.open = Open::new(&self.layout, walls);
        self.peierls = problem.peierls();
        self.cross = problem.phase_cross_interaction();
        let coefficients = &mut self.coefficients;
        let tables = &mut coefficients.tables;
        tables.resize_with(scheme.tables.len(), || Planes::new(&self.layout));
        coefficients.own = OwnBonds::new(&self.layout, problem, scheme, walls);
        coefficients.interaction = problem.phase_interaction();
        coefficients.strengths = problem.phase_strengths().map(|strengths| {
            let nx = self.layout.width();
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
        self.coefficients.tables[table].change(touched, fill);
    }

    fn apply_table(&mut self, table: usize) {
        let work = Work {
            before: Vec::new(),
            between: None,
            after: Vec::new(),
            phases: Some(Phases {
                factors: &self.coefficients.tables[table],
                interaction: [T::zero(); 2],
                strengths: None,
            }),
            seen: None,
        };
        Pass::new(&self.layout, &mut self.field, &self.open, &self.peierls, vec![work]).run(self.level);
    }

    fn substep(&mut self, scheme: &Scheme, i: usize) {
        let substep = &scheme.substeps[i];
        let acts = self.coefficients.acts(scheme, i);
        let [front, back] = [substep.front, substep.back].map(|time| CrossPhase::new(self.cross, time));
        if let Some(phase) = front {
            self.field.turn_components(phase, self.level);
        }
        let Some(phase) = back else {
            self.act(scheme, &acts, None);
            return;
        };
        self.act(scheme, &acts[..acts.len() - 1], None);
        self.field.turn_components(phase, self.level);
        self.act(scheme, &acts[acts.len() - 1..], None);
    }

    fn steps(&mut self, scheme: &Scheme, steps: u64) {
        if self.cross != 0.0 {
            for i in (0..steps).flat_map(|_| 0..scheme.substeps.len()) {
                self.substep(scheme, i);
            }
            return;
        }
        let step = self.acts_of_step(scheme);
        let mut left = usize::try_from(steps).unwrap_or(usize::MAX);
        while left > 0 {
            let now = left.min(self.together());
            self.act(scheme, &step.repeat(now), None);
            left -= now;
        }
    }

    fn fused(&self) -> usize {
        self.together()
    }

    fn recorded(&mut self, scheme: &Scheme, steps: u64, recorder: &Recorder<T>) {
        let steps = usize::try_from(steps).unwrap_or(usize::MAX);
        if self.together() > 1 {
            self.act(scheme, &self.acts_of_step(scheme).repeat(steps), Some(recorder));
            return;
        }
        for step in 0..steps {
            self.steps(scheme, 1);
            recorder.see(step, &|row, x, out| self.read(row, x, out));
        }
    }
}

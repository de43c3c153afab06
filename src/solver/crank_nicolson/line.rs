//! The N-shaped partition of one line in vectors: lane l of vector g holds block g·N + l, so that N blocks are eliminated at once and no lane waits for
//! another's recurrence.
//!
//! Layout: n rows are cut at joints 0, m+1, 2(m+1), …; the m rows between two joints are a block. `[vector][row of the block][re | im][lane]`; joints
//! apart. Rows beyond n are walls, q = 0, which couple to nothing.
//! Scheme: with q_i = −off/a'_i (a' after RD), right-hand side D = −2/off · ψ and both off-diagonals equal, elimination and substitution share q:
//!     RD  D_k += q_{k−1} D_{k−1}        RU  D_k += q_{k+1} D_{k+1}        JD, JU  joint += q D
//!     RS  joints X                      SS  ψ_k ← q_k D_k + B_k X_L + C_k X_R − ψ_k
//! SS of a step and RD of the next are one pass; RU follows while the block is in cache.
//! Work: a row and step takes 4 + 4 + 4 + 12 multiply-adds. Bytes in single (double): SS+RD read ψ, D, q, B, C and write ψ, D: 56 (112), of which B and C, which decay
//! away from the joints, are read only where they are above rounding: 40 (80) between.
//! An open line whose potential changes with time has no coefficients to keep; its steps are in [`driven`].
//! A ring is an open line and a correction of rank one (Sherman, Morrison 1950): T = T' − off (e_0 − e_{n−1})(e_0 − e_{n−1})ᵀ keeps T' = 1 + i·Hermitian.

mod driven;
mod factorise;
mod geometry;
mod rows;
mod sums;
mod sweeps;

use self::driven::Diagonal;
use self::geometry::{Geometry, Place};
use self::rows::Rows;
use self::sums::{LANES, LaneSums};
use super::blocks::{Blocks, Pass, Work};
use super::hamiltonian::{Hamiltonian, Step};
use super::partition::{Factorised, Thomas, Tridiagonal};
use super::propagator::{PART, Propagator};
use super::thomas::interaction;
use crate::backend::simd::{Aligned, Level, Vectors};
use crate::field::{Real, narrow, wide};
use crate::solver::clock::RunClock;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::ops::Range;
pub(super) use sweeps::BESIDE;

/// A line cut into blocks.
pub(super) struct Partitioned<T: Real> {
    hamiltonian: Hamiltonian<T>,
    step: Step,
    level: Level,
    levels: usize,
    /// Blocks that were asked for or chosen; the geometry rounds them to whole rows.
    blocks: usize,
    geometry: Geometry,
    psi: Aligned<T>,
    /// D.
    right: Aligned<T>,
    q: Aligned<T>,
    /// B and C.
    before: Aligned<T>,
    after: Aligned<T>,
    /// Per vector: rows before which B, and from which C, is above rounding.
    reach: Vec<(usize, usize)>,
    joint_psi: Vec<Complex<T>>,
    /// X, real parts and imaginary parts.
    joint: [Vec<T>; 2],
    /// What JD adds to the joint after a block, and JU to the one before; [re | im][lane] a vector.
    down: Vec<T>,
    up: Vec<T>,
    reduced: Factorised,
    ring: Option<Ring<T>>,
    /// The diagonals of a ring that drives add to, one a vector; empty where none is driven, and before the first step.
    rows: Vec<Rows>,
    /// The diagonal of an open line that drives add to; made in the first step.
    diagonals: Option<Box<Diagonal<T>>>,
    /// |ψ|² at the start of a step in imaginary time with an interaction; otherwise empty.
    density: Vec<T>,
}

/// ζ of the rank-one correction in the layout of the line: ψ −= ζ (Y_0 − Y_{n−1}), Y the solution of the open line.
struct Ring<T> {
    inside: Aligned<T>,
    joints: Vec<Complex<T>>,
}

impl<T: Vectors> Partitioned<T> {
    /// A line with ψ = 0, in at least `blocks` blocks.
    pub(super) fn new(hamiltonian: Hamiltonian<T>, blocks: usize, levels: usize, level: Level) -> Self {
        let lanes = level.lanes::<T>();
        let geometry = Geometry::new(hamiltonian.sites(), lanes, blocks);
        let numbers = geometry.numbers() * geometry.vectors;
        let zeros = |count: usize| vec![T::zero(); count];
        let joints = geometry.blocks() + 1;
        let kept = if hamiltonian.is_eliminated_in_steps() {
            0
        } else {
            numbers
        };
        Self {
            step: hamiltonian.step(1.0),
            hamiltonian,
            level,
            levels,
            blocks,
            geometry,
            // A pass walks through all five side by side: they begin at different places of a page.
            psi: Aligned::large(numbers, 0),
            right: Aligned::large(kept, 13),
            q: Aligned::large(kept, 26),
            before: Aligned::large(kept, 39),
            after: Aligned::large(kept, 52),
            reach: vec![(0, 0); geometry.vectors],
            joint_psi: vec![Complex::default(); joints],
            joint: [zeros(joints), zeros(joints)],
            down: zeros(2 * lanes * geometry.vectors),
            up: zeros(2 * lanes * geometry.vectors),
            reduced: Factorised::Thomas(Thomas::new(&Tridiagonal::default())),
            ring: None,
            rows: Vec::new(),
            diagonals: None,
            density: Vec::new(),
        }
    }

    /// The diagonal of the open line's T: a ring's ends lose what the correction of rank one brings back.
    fn diagonal(&self, site: usize, drives: &[f64]) -> Option<Complex64> {
        if site >= self.geometry.sites {
            return None;
        }
        let row = self.hamiltonian.row(&self.step, site, drives)?;
        let end = site == 0 || site + 1 == self.geometry.sites;
        Some(if end && self.hamiltonian.closes() {
            row + self.step.off
        } else {
            row
        })
    }

    /// RS, and ψ of the joints; returns Y_0 − Y_{n−1} of a ring.
    fn rs(&mut self) -> Option<Complex<T>> {
        let Geometry { lanes, rows, .. } = self.geometry;
        let joints = self.joint_psi.len();
        let scale = self.step.scale();
        let lane = |all: &[T], w: usize| {
            let at = w / lanes * 2 * lanes + w % lanes;
            Complex64::new(all[at].wide(), all[at + lanes].wide())
        };
        let mut x: Vec<Complex64> = self.joint_psi.iter().map(|psi| scale * wide(*psi)).collect();
        for (w, x) in x.iter_mut().enumerate() {
            if self.stands(w * (rows + 1)) {
                if w > 0 {
                    *x += lane(&self.down, w - 1);
                }
                if w + 1 < joints {
                    *x += lane(&self.up, w);
                }
            } else {
                *x = Complex64::ZERO;
            }
        }
        self.reduced.solve(&mut x);
        for (w, x) in x.iter().enumerate() {
            self.joint[0][w] = T::of(x.re);
            self.joint[1][w] = T::of(x.im);
        }
        let turn = self.turn(&x);
        let off = self.step.off;
        for (w, x) in x.iter().enumerate() {
            let mut twice = -off * x;
            if let (Some(ring), Some(turn)) = (&self.ring, turn) {
                twice -= wide(ring.joints[w]) * turn;
            }
            self.joint_psi[w] = narrow(twice - wide(self.joint_psi[w]));
        }
        turn.map(narrow)
    }

    fn stands(&self, site: usize) -> bool {
        site < self.geometry.sites && !self.hamiltonian.is_wall(site)
    }

    /// Y_0 − Y_{n−1} of a ring, from the joints and the last row.
    fn turn(&self, x: &[Complex64]) -> Option<Complex64> {
        self.ring.as_ref()?;
        let site = self.geometry.sites - 1;
        let off = self.step.off;
        let last = match self.geometry.place(site) {
            Place::Joint(joint) => -off * x[joint],
            Place::Inside(at) => {
                let block = site / (self.geometry.rows + 1);
                let read = |all: &[T]| Complex64::new(all[at].wide(), all[at + self.geometry.lanes].wide());
                read(&self.q) * read(&self.right) + read(&self.before) * x[block] + read(&self.after) * x[block + 1]
            }
        };
        Some(-off * x[0] - last)
    }

    /// A pass over all vectors of blocks.
    fn pass(&mut self, substitute: bool, eliminate: bool, turn: Option<Complex<T>>) {
        let pass = Pass {
            substitute,
            eliminate,
            scale: narrow(self.step.scale()),
            turn,
        };
        let Geometry { lanes, .. } = self.geometry;
        let numbers = self.geometry.numbers();
        let level = self.level;
        let (q, before, after, joint, reach) = (&self.q, &self.before, &self.after, &self.joint, &self.reach);
        let ring = self.ring.as_ref().map_or(&[][..], |ring| &ring.inside[..]);
        self.psi
            .par_chunks_mut(numbers)
            .zip(self.right.par_chunks_mut(numbers))
            .zip(self.down.par_chunks_mut(2 * lanes))
            .zip(self.up.par_chunks_mut(2 * lanes))
            .enumerate()
            .with_min_len((8192 / numbers).max(1))
            .for_each(|(vector, (((psi, right), down), up))| {
                let own = vector * numbers..(vector + 1) * numbers;
                let joints = vector * lanes..(vector + 1) * lanes + 1;
                level.run(Work {
                    pass: &pass,
                    blocks: &mut Blocks {
                        psi,
                        right,
                        q: &q[own.clone()],
                        before: &before[own.clone()],
                        after: &after[own.clone()],
                        ring: ring.get(own).unwrap_or(&[]),
                        down,
                        up,
                        joint: [&joint[0][joints.clone()], &joint[1][joints]],
                        reach: reach[vector],
                    },
                });
            });
    }

    fn static_steps(&mut self, steps: u64) {
        if steps == 0 {
            return;
        }
        self.pass(false, true, None);
        for step in 1..=steps {
            let turn = self.rs();
            self.pass(true, step < steps, turn);
        }
    }

    /// Σ|ψ|² of some sites, read one by one.
    fn density_of_ends(&self, sites: Range<usize>) -> f64 {
        let mut psi = vec![Complex::default(); sites.len()];
        self.read(sites.start, &mut psi);
        psi.iter().map(|psi| psi.norm_sqr().wide()).sum()
    }

    /// e^{−ig|ψ|²τ}, or e^{−gnτ} in imaginary time.
    fn interact(&mut self, tau: f64) {
        let strength = T::of(self.hamiltonian.quantum.interaction * tau);
        let density = std::mem::take(&mut self.density);
        self.change(&|site, psi| *psi *= interaction(strength, density.get(site), *psi));
        self.density = density;
    }

    /// Keeps |ψ|² of every site for the mean field of a step.
    fn hold_density(&mut self) {
        let mut density = std::mem::take(&mut self.density);
        density.resize(self.geometry.sites, T::zero());
        density.par_chunks_mut(PART).enumerate().for_each_init(
            || vec![Complex::default(); PART],
            |sites, (part, density)| {
                let sites = &mut sites[..density.len()];
                self.read(part * PART, sites);
                for (density, psi) in density.iter_mut().zip(sites) {
                    *density = psi.norm_sqr();
                }
            },
        );
        self.density = density;
    }
}

impl<T: Vectors> Propagator<T> for Partitioned<T> {
    fn variant(&self) -> &'static str {
        "n-partition"
    }

    fn details(&self) -> String {
        let Geometry { sites, rows, .. } = self.geometry;
        let levels = self.levels;
        format!(
            "{} blocks of {rows} rows, {levels} {}, {}",
            (sites - 1).div_ceil(rows + 1),
            if levels == 1 { "level" } else { "levels" },
            self.level.title()
        )
    }

    fn blocks(&self) -> Option<usize> {
        Some(self.blocks).filter(|blocks| *blocks >= 2)
    }

    fn memory(&self) -> usize {
        let kept = 4 * self.q.len() + self.ring.as_ref().map_or(0, |ring| ring.inside.len());
        let diagonals = self.diagonals.as_ref().map_or(0, |diagonals| diagonals.memory());
        let vectors = (self.psi.len() + kept) * size_of::<T>();
        vectors + diagonals + size_of_val(self.density.as_slice()) + self.hamiltonian.memory()
    }

    fn set_step(&mut self, dt: f64) {
        self.step = self.hamiltonian.step(dt);
        self.rows.clear();
        self.diagonals = None;
        if !self.hamiltonian.is_driven() {
            self.factorise(&[]);
            self.close_ring(&[]);
        }
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) {
        let interacts = self.hamiltonian.quantum.interaction != 0.0;
        let driven = self.hamiltonian.is_driven();
        if !interacts && !driven {
            self.static_steps(steps);
            return;
        }
        let dt = self.step.dt;
        for n in 0..steps {
            if self.hamiltonian.has_mean_field() {
                self.hold_density();
            }
            if interacts {
                self.interact(dt / 2.0);
            }
            if driven {
                let drives = self.hamiltonian.drives_at(clock.after(n).time() + dt / 2.0);
                if self.hamiltonian.closes() {
                    self.factorise(&drives);
                    self.close_ring(&drives);
                    self.static_steps(1);
                } else {
                    let next = (!interacts).then(|| self.hamiltonian.drives_at(clock.after(n + 1).time() + dt / 2.0));
                    self.driven_step(&drives, next.as_deref());
                }
            } else {
                self.static_steps(1);
            }
            if interacts {
                self.interact(dt / 2.0);
            }
        }
    }

    fn read(&self, first: usize, out: &mut [Complex<T>]) {
        let Geometry { lanes, rows, .. } = self.geometry;
        let (mut site, end) = (first, first + out.len());
        // Block by block: its rows lie a vector apart.
        while site < end {
            let stop = (site / (rows + 1) + 1) * (rows + 1);
            let out = &mut out[site - first..stop.min(end) - first];
            let (joint, inside) = match self.geometry.place(site) {
                Place::Joint(joint) => (Some(joint), site + 1),
                Place::Inside(_) => (None, site),
            };
            let (head, rest) = out.split_at_mut(usize::from(joint.is_some()));
            if let (Some(joint), [head]) = (joint, head) {
                *head = self.joint_psi[joint];
            }
            if let (false, Place::Inside(at)) = (rest.is_empty(), self.geometry.place(inside)) {
                for (out, row) in rest.iter_mut().zip(self.psi[at..].chunks(2 * lanes)) {
                    *out = Complex::new(row[0], row[lanes]);
                }
            }
            site = stop;
        }
    }

    fn density(&self, sites: Range<usize>) -> Option<f64> {
        let Geometry { lanes, rows, .. } = self.geometry;
        let block = rows + 1;
        // Blocks that lie in the range altogether, and the sites before and behind them.
        let whole = sites.start.div_ceil(block)..sites.end / block;
        if whole.start >= whole.end {
            return None;
        }
        let ends = [sites.start..whole.start * block, whole.end * block..sites.end];
        let mut sum: f64 = ends.into_iter().map(|sites| self.density_of_ends(sites)).sum();
        for psi in &self.joint_psi[whole.clone()] {
            sum += psi.norm_sqr().wide();
        }
        let of_vector = |vector: usize| {
            let numbers = self.geometry.numbers();
            let mut sums = [0.0; LANES];
            self.level.run(LaneSums {
                psi: &self.psi[vector * numbers..(vector + 1) * numbers],
                sums: &mut sums,
            });
            let own = vector * lanes..(vector + 1) * lanes;
            let inside = whole.start.max(own.start) - own.start..whole.end.min(own.end) - own.start;
            sums[inside].iter().sum::<f64>()
        };
        let vectors = whole.start / lanes..whole.end.div_ceil(lanes);
        // Few are added up before another thread would have begun.
        if vectors.len() <= 8 {
            sum += vectors.map(of_vector).sum::<f64>();
        } else {
            let parts: Vec<f64> = vectors.into_par_iter().map(of_vector).collect();
            sum += parts.iter().sum::<f64>();
        }
        Some(sum)
    }

    fn write(&mut self, first: usize, psi: &[Complex<T>]) {
        if let Some(diagonals) = &mut self.diagonals {
            diagonals.forget();
        }
        let lanes = self.geometry.lanes;
        for (site, psi) in (first..).zip(psi) {
            match self.geometry.place(site) {
                Place::Joint(joint) => self.joint_psi[joint] = *psi,
                Place::Inside(at) => (self.psi[at], self.psi[at + lanes]) = (psi.re, psi.im),
            }
        }
    }

    fn change(&mut self, change: &(dyn Fn(usize, &mut Complex<T>) + Sync)) {
        if let Some(diagonals) = &mut self.diagonals {
            diagonals.forget();
        }
        let geometry = self.geometry;
        let Geometry { lanes, sites, .. } = geometry;
        let hamiltonian = &self.hamiltonian;
        let change = |site: usize, psi: &mut Complex<T>| {
            if hamiltonian.is_wall(site) {
                *psi = Complex::default();
            } else {
                change(site, psi);
            }
        };
        self.psi
            .par_chunks_mut(geometry.numbers())
            .enumerate()
            .for_each(|(vector, psi)| {
                for (k, row) in psi.chunks_exact_mut(2 * lanes).enumerate() {
                    for lane in 0..lanes {
                        let site = geometry.site(vector, k, lane);
                        if site < sites {
                            let mut value = Complex::new(row[lane], row[lanes + lane]);
                            change(site, &mut value);
                            row[lane] = value.re;
                            row[lanes + lane] = value.im;
                        }
                    }
                }
            });
        for (joint, psi) in self.joint_psi.iter_mut().enumerate() {
            let site = joint * (geometry.rows + 1);
            if site < sites {
                change(site, psi);
            }
        }
    }

    fn drives_at(&self, time: f64) -> Vec<f64> {
        self.hamiltonian.drives_and_reference_at(time)
    }

    fn energy_at(&self, site: usize, drives: &[f64]) -> f64 {
        self.hamiltonian.energy_at(site, drives)
    }
}

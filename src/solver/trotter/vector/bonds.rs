//! Couplings of bonds that differ from one another, in the places of their lower sites.

use super::super::naive::Turn;
use super::super::problem::Problem;
use super::super::scheme::{Scheme, Sweep};
use super::kernel::{Coupling, Couplings};
use super::layout::{BLOCK, Layout};
use crate::backend::simd::Aligned;
use crate::backend::simd::Vectors;
use crate::physics::{Bonds, Sets};
use rayon::prelude::*;

/// Couplings of all bonds along an axis for one angle J τ.
struct Table<T> {
    axis: usize,
    angle: f64,
    /// w (re, im), s, s/t: `stride` numbers a row for the even columns, then for the odd ones.
    numbers: [Aligned<T>; 4],
    /// The coupling of most bonds of every line of `stride` numbers, and for each BLOCK of these whether all have it.
    most: Vec<Coupling<T>>,
    alike: Vec<bool>,
}

/// The tables of a scheme's sweeps.
pub(super) struct OwnBonds<T> {
    stride: usize,
    /// Whether any bond has a phase.
    phases: bool,
    tables: Vec<Table<T>>,
}

impl<T: Vectors> OwnBonds<T> {
    /// Couplings for every axis and angle that a scheme has; bonds that leave the grid or touch a wall turn nothing.
    pub(super) fn new(layout: &Layout, problem: &Problem, scheme: &Scheme, walls: Option<&[bool]>) -> Option<Self> {
        let bonds = problem.bonds.as_deref()?;
        let mut own = Self {
            stride: layout.stride,
            phases: problem.medium.has(Sets::Flux) || problem.medium.rotation() != 0.0 || problem.quantum.flux != 0.0,
            tables: Vec::new(),
        };
        let sweeps = scheme
            .substeps
            .iter()
            .flat_map(|substep| substep.sweeps(problem.grid.rank()));
        for sweep in sweeps {
            if own.find(&sweep).is_none() {
                let table = Table::new(layout, problem, (bonds, walls), (&sweep, scheme.imaginary));
                own.tables.push(table);
            }
        }
        Some(own)
    }

    fn find(&self, sweep: &Sweep) -> Option<usize> {
        let same = |table: &Table<T>| table.axis == sweep.axis && table.angle.to_bits() == sweep.angle.to_bits();
        self.tables.iter().position(same)
    }

    /// The couplings of a sweep.
    pub(super) fn of(&self, sweep: &Sweep) -> Option<OwnSweep<'_, T>> {
        self.find(sweep).map(|n| OwnSweep {
            table: &self.tables[n],
            stride: self.stride,
            phases: self.phases,
        })
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        let of_table = |table: &Table<T>| {
            table.numbers.iter().map(Aligned::memory).sum::<usize>() + size_of_val(&table.most[..]) + table.alike.len()
        };
        self.tables.iter().map(of_table).sum()
    }
}

impl<T: Vectors> Table<T> {
    fn new(
        layout: &Layout,
        problem: &Problem,
        (bonds, walls): (&Bonds, Option<&[bool]>),
        (sweep, imaginary): (&Sweep, bool),
    ) -> Self {
        let (grid, axis) = (&problem.grid, sweep.axis);
        let nx = layout.width();
        let mut numbers = [8, 24, 40, 56].map(|lines| Aligned::large(2 * layout.stride * layout.rows(), lines));
        let mut most = vec![Most::default(); 2 * layout.rows()];
        let mut stride = 1;
        for sites in &grid.size()[..axis] {
            stride *= sites;
        }
        let sites = grid.size()[axis];
        for site in 0..grid.sites() {
            let at = site / stride % sites;
            let next = match at + 1 < sites {
                true => site + stride,
                false if grid.is_periodic(axis) && sites > 1 => site - (sites - 1) * stride,
                false => continue,
            };
            if walls.is_some_and(|walls| walls[site] || walls[next]) {
                continue;
            }
            let (turn, gauge) = Turn::of_bond(sweep.angle, imaginary, bonds.at(axis, site));
            let (row, x) = (site / nx, site % nx);
            let place = (2 * row + x % 2) * layout.stride + x / 2;
            let coupling = Coupling::new(turn, gauge);
            most[place / layout.stride].vote(coupling);
            for (all, number) in numbers.iter_mut().zip(coupling.numbers()) {
                all[place] = number;
            }
        }
        let none = Coupling::new(Turn::new(0.0, imaginary), None);
        let most: Vec<Coupling<T>> = most.iter().map(|most| most.coupling.unwrap_or(none)).collect();
        let same = |block: usize| {
            let most = most[block * BLOCK / layout.stride].numbers();
            numbers.iter().zip(most).all(|(all, most)| {
                let block = &all[block * BLOCK..(block + 1) * BLOCK];
                block.iter().all(|number| *number == most)
            })
        };
        let blocks = 2 * layout.rows() * layout.stride / BLOCK;
        let alike = (0..blocks).into_par_iter().map(same).collect();
        Self {
            axis,
            angle: sweep.angle,
            numbers,
            most,
            alike,
        }
    }
}

/// Finds the coupling that more than half of some bonds have, if one has (R. S. Boyer, J. S. Moore, MJRTY, 1981).
#[derive(Clone)]
struct Most<T> {
    coupling: Option<Coupling<T>>,
    votes: usize,
}

impl<T> Default for Most<T> {
    fn default() -> Self {
        Self {
            coupling: None,
            votes: 0,
        }
    }
}

impl<T: Vectors> Most<T> {
    fn vote(&mut self, other: Coupling<T>) {
        match &self.coupling {
            Some(own) if own.numbers() == other.numbers() => self.votes += 1,
            Some(_) if self.votes > 0 => self.votes -= 1,
            _ => (self.coupling, self.votes) = (Some(other), 1),
        }
    }
}

/// The couplings of one sweep.
#[derive(Clone, Copy)]
pub(super) struct OwnSweep<'a, T> {
    table: &'a Table<T>,
    stride: usize,
    phases: bool,
}

impl<'a, T: Vectors> OwnSweep<'a, T> {
    /// Whether any bond of the grid has a phase; otherwise all w are real.
    pub(super) fn has_phases(&self) -> bool {
        self.phases
    }

    /// Those of the bonds from the even (0) or odd (1) columns of a row.
    pub(super) fn columns(&self, row: usize, odd: usize) -> Couplings<'a, T> {
        let (table, stride) = (self.table, self.stride);
        let start = (2 * row + odd) * stride;
        let [re, im, s, ratio] = &table.numbers;
        let from = |all: &Aligned<T>| all[start..start + stride].as_ptr();
        Couplings {
            numbers: [from(re), from(im), from(s), from(ratio)],
            most: &table.most[2 * row + odd],
            alike: table.alike[start / BLOCK..(start + stride) / BLOCK].as_ptr(),
        }
    }
}

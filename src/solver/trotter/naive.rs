//! Variant `naive`: one pass over memory per sweep, the readable reference (Bederián and Dente 2011, section 4.1).
//!
//! Layout: complex sites, x fastest. A pair (p, q) of a bond turns by the angle J τ: p' = c p + i s q, q' = i s p + c q. These are two real
//! rotations, (p_re, q_im) and (q_re, p_im), each done as three shears, a −= t b; b += s a; a −= t b with t = tan(Jτ/2), s = sin(Jτ):
//! of determinant 1 whatever the rounding, so that single precision does not drift. In imaginary time the shears are
//! a += t b; b += s a; a += t b with t = tanh(Jτ/2), s = sinh(Jτ), on (p_re, q_re) and (p_im, q_im).
//!
//! Per site-step in 2D, order 2: 6 sweeps and a phase; 40 flops; 7 passes over memory of 16 B (single), one of them with 8 B more for the phase.

use super::components::CrossPhase;
use super::interaction::interact_site;
use super::problem::Problem;
use super::run::{RowChange, Sweeper};
use super::scheme::Scheme;
use crate::field::{Real, narrow};
use crate::grid::Grid;
use crate::physics::Bonds;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Sites that a thread takes at once.
const PART: usize = 4096;

/// The field in natural order.
pub(super) struct Naive<T> {
    grid: Grid,
    field: Vec<Complex<T>>,
    tables: Vec<Vec<Complex<T>>>,
    walls: Option<Vec<bool>>,
    /// e^{iϕ} of the x bonds, per y; empty without flux.
    peierls: Vec<Complex<T>>,
    /// Bonds that differ from one another.
    bonds: Option<Arc<Bonds>>,
    interaction: f64,
    /// g at every site, where layers set it.
    strengths: Option<Arc<[f64]>>,
    /// g₁₂ of two components.
    cross: f64,
}

impl<T: Real> Naive<T> {
    pub(super) fn new(grid: &Grid) -> Self {
        Self {
            grid: grid.clone(),
            field: vec![Complex::default(); grid.sites()],
            tables: Vec::new(),
            walls: None,
            peierls: Vec::new(),
            bonds: None,
            interaction: 0.0,
            strengths: None,
            cross: 0.0,
        }
    }

    /// Turns every bond of one parity along an axis.
    fn sweep(&mut self, axis: usize, odd: bool, angle: f64, imaginary: bool) {
        let turn = Turn::new(angle, imaginary);
        let bonds = self.bonds.as_deref();
        let own = move |site: usize| bonds.map(|bonds| Turn::of_bond(angle, imaginary, bonds.at(axis, site)));
        let [nx, ny, nz] = self.grid.size();
        let (stride, count) = [(1, nx), (nx, ny), (nx * ny, nz)][axis];
        let walls = self.walls.as_deref();
        let start = usize::from(odd);
        if axis == 0 {
            let peierls = &self.peierls;
            let wrap = odd && self.grid.is_periodic(0);
            self.field.par_chunks_mut(nx).enumerate().for_each(|(row, sites)| {
                let gauge = peierls.get(row % ny).copied();
                let walls = walls.map(|walls| &walls[row * nx..(row + 1) * nx]);
                let open = |i: usize, j: usize| walls.is_none_or(|walls| !walls[i] && !walls[j]);
                let mut pair = |i: usize, j: usize| {
                    if open(i, j) {
                        let (p, q) = (sites[i], sites[j]);
                        let (turn, gauge) = own(row * nx + i).unwrap_or((turn, gauge));
                        (sites[i], sites[j]) = turn.pair(p, q, gauge);
                    }
                };
                for i in (start..nx.saturating_sub(1)).step_by(2) {
                    pair(i, i + 1);
                }
                if wrap {
                    pair(nx - 1, 0);
                }
            });
            return;
        }
        // Slabs of `stride` sites stand next to one another along the axis; a block holds all slabs of the axis.
        let slab_walls = |at: usize| walls.map(|walls| &walls[at..at + stride]);
        let both = |p: &mut [Complex<T>], q: &mut [Complex<T>], at_p: usize, at_q: usize| {
            const CHUNK: usize = 4096;
            let (walls_p, walls_q) = (slab_walls(at_p), slab_walls(at_q));
            (p.par_chunks_mut(CHUNK).zip(q.par_chunks_mut(CHUNK)).enumerate()).for_each(|(n, (p, q))| {
                for (i, (p, q)) in p.iter_mut().zip(q).enumerate() {
                    let at = n * CHUNK + i;
                    if walls_p.is_none_or(|walls| !walls[at]) && walls_q.is_none_or(|walls| !walls[at]) {
                        let (turn, gauge) = own(at_p + at).unwrap_or((turn, None));
                        (*p, *q) = turn.pair(*p, *q, gauge);
                    }
                }
            });
        };
        let wrap = odd && self.grid.is_periodic(axis);
        self.field
            .par_chunks_mut(stride * count)
            .enumerate()
            .for_each(|(block, slabs)| {
                let base = block * stride * count;
                slabs[start * stride..]
                    .par_chunks_exact_mut(2 * stride)
                    .enumerate()
                    .for_each(|(n, pair)| {
                        let (p, q) = pair.split_at_mut(stride);
                        let at = base + (start + 2 * n) * stride;
                        both(p, q, at, at + stride);
                    });
                if wrap {
                    let (first, rest) = slabs.split_at_mut(stride);
                    let last = rest.len() - stride;
                    both(&mut rest[last..], first, base + (count - 1) * stride, base);
                }
            });
    }

    /// The phases that two components give each other in a time.
    fn turn_components(&mut self, time: f64) {
        let Some(phase) = CrossPhase::new(self.cross, time) else {
            return;
        };
        let (first, second) = self.field.split_at_mut(self.grid.sites() / 2);
        let parts = first.par_chunks_mut(PART).zip(second.par_chunks_mut(PART));
        parts.for_each(|(first, second)| {
            let ([mut re, mut im], [mut other_re, mut other_im]) = (components(first), components(second));
            phase.turn([&mut re, &mut im], [&mut other_re, &mut other_im]);
            let turned = re.into_iter().zip(im).zip(other_re.into_iter().zip(other_im));
            for ((first, second), ((re, im), (other_re, other_im))) in first.iter_mut().zip(second).zip(turned) {
                (*first, *second) = (Complex::new(re, im), Complex::new(other_re, other_im));
            }
        });
    }

    /// Phases, then the interaction's: of `interaction`, or of `scale` times what layers set.
    fn phases(&mut self, table: usize, interaction: [f64; 2], scale: [f64; 2]) {
        let table = &self.tables[table];
        let strengths = self.strengths.as_deref();
        let interaction = interaction.map(T::of);
        self.field
            .par_chunks_mut(PART)
            .zip(table.par_chunks(PART))
            .enumerate()
            .for_each(|(part, (sites, factors))| {
                for (n, (site, factor)) in sites.iter_mut().zip(factors).enumerate() {
                    let own = strengths.map(|strengths| scale.map(|scale| T::of(scale * strengths[part * PART + n])));
                    *site = interact_site(*site * factor, *factor, own.unwrap_or(interaction));
                }
            });
    }
}

/// Real and imaginary parts.
fn components<T: Real>(sites: &[Complex<T>]) -> [Vec<T>; 2] {
    [
        sites.iter().map(|site| site.re).collect(),
        sites.iter().map(|site| site.im).collect(),
    ]
}

/// The turn of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn<T> {
    /// tan(angle/2) or tanh(angle/2).
    pub t: T,
    /// sin(angle) or sinh(angle).
    pub s: T,
    pub imaginary: bool,
}

impl<T: Real> Turn<T> {
    pub(super) fn new(angle: f64, imaginary: bool) -> Self {
        let (t, s) = if imaginary {
            ((angle / 2.0).tanh(), angle.sinh())
        } else {
            ((angle / 2.0).tan(), angle.sin())
        };
        Self {
            t: T::of(t),
            s: T::of(s),
            imaginary,
        }
    }

    /// The turn of a bond whose hopping is f e^{iϕ} times that of others, and e^{iϕ}.
    pub(super) fn of_bond(angle: f64, imaginary: bool, coupling: Complex64) -> (Self, Option<Complex<T>>) {
        if coupling.im == 0.0 {
            return (Self::new(angle * coupling.re, imaginary), None);
        }
        let factor = coupling.norm();
        (Self::new(angle * factor, imaginary), Some(narrow(coupling / factor)))
    }

    fn pair(&self, p: Complex<T>, mut q: Complex<T>, gauge: Option<Complex<T>>) -> (Complex<T>, Complex<T>) {
        // With q̃ = e^{−iϕ}q the bond has no phase.
        if let Some(gauge) = gauge {
            q *= gauge.conj();
        }
        let (p, mut q) = if self.imaginary {
            let (p_re, q_re) = self.shear(p.re, q.re, -self.t);
            let (p_im, q_im) = self.shear(p.im, q.im, -self.t);
            (Complex::new(p_re, p_im), Complex::new(q_re, q_im))
        } else {
            let (p_re, q_im) = self.shear(p.re, q.im, self.t);
            let (q_re, p_im) = self.shear(q.re, p.im, self.t);
            (Complex::new(p_re, p_im), Complex::new(q_re, q_im))
        };
        if let Some(gauge) = gauge {
            q *= gauge;
        }
        (p, q)
    }

    fn shear(&self, a: T, b: T, t: T) -> (T, T) {
        let a = a - t * b;
        let b = b + self.s * a;
        (a - t * b, b)
    }
}

impl<T: Real> Sweeper<T> for Naive<T> {
    fn variant(&self) -> &'static str {
        "naive"
    }

    fn details(&self) -> String {
        "one pass a sweep".into()
    }

    fn memory(&self) -> usize {
        let complex = self.field.len() + self.tables.iter().map(Vec::len).sum::<usize>();
        complex * size_of::<Complex<T>>() + self.walls.as_ref().map_or(0, Vec::len)
    }

    fn tan_form(&self) -> bool {
        false
    }

    fn prepare(&mut self, problem: &Problem, scheme: &Scheme, walls: Option<&[bool]>) {
        self.tables
            .resize_with(scheme.tables.len(), || vec![Complex::default(); problem.grid.sites()]);
        self.walls = walls.map(<[bool]>::to_vec);
        self.interaction = problem.phase_interaction();
        self.strengths = problem.phase_strengths();
        self.cross = problem.phase_cross_interaction();
        self.peierls = problem.peierls();
        self.bonds.clone_from(&problem.bonds);
    }

    fn read(&self, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        let start = row * self.grid.size()[0];
        out.copy_from_slice(&self.field[start + x.start..start + x.end]);
    }

    fn change(&mut self, change: RowChange<T>) {
        let nx = self.grid.size()[0];
        self.field
            .par_chunks_mut(nx)
            .enumerate()
            .for_each(|(row, sites)| change(row, sites));
    }

    fn write(&mut self, row: usize, x: usize, values: &[Complex<T>]) {
        let start = row * self.grid.size()[0] + x;
        self.field[start..start + values.len()].copy_from_slice(values);
    }

    fn fill_table(&mut self, table: usize, touched: &(dyn Fn(usize) -> bool + Sync), fill: RowChange<T>) {
        let nx = self.grid.size()[0];
        self.tables[table]
            .par_chunks_mut(nx)
            .enumerate()
            .filter(|(row, _)| touched(*row))
            .for_each(|(row, factors)| fill(row, factors));
    }

    fn apply_table(&mut self, table: usize) {
        self.phases(table, [0.0; 2], [0.0; 2]);
    }

    fn substep(&mut self, scheme: &Scheme, i: usize) {
        let substep = &scheme.substeps[i];
        self.turn_components(substep.front);
        for sweep in substep.sweeps(self.grid.rank()) {
            self.sweep(sweep.axis, sweep.odd, sweep.angle, scheme.imaginary);
        }
        self.turn_components(substep.back);
        self.phases(
            substep.table,
            substep.interaction(self.interaction),
            substep.interaction(1.0),
        );
    }
}

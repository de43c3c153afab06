//! Two dimensions: Strang's product of Cayley factors, a vector of lines at a time.
//!
//! Scheme: P½ · C_x(Δt/2) C_y(Δt) C_x(Δt/2) · P½ with the potential in P: each factor is unitary, the product symmetric, so −Δt runs it back exactly.
//! (Peaceman and Rachford's (1+iB)⁻¹(1−iA)(1+iA)⁻¹(1−iB) would save a solve and is unitary only where A and B commute.)
//! Layout: x fastest. N rows, or N columns, are gathered into `[site][re | im][lane]`, solved from end to end and scattered; the last x solve of a step, both
//! phases and the first x solve of the next are one pass over the rows, so that a step goes over the field twice.
//! Cost: 3 solves of 12 multiply-adds a site and step, the gathering, and the phases. Lines are parallel enough that no partition is wanted.

#![allow(unsafe_code, reason = "entered with the target features of a level")]

use super::hamiltonian::Step;
use super::pair::Pair;
use super::run::Propagator;
use super::thomas::Coefficients;
use crate::backend::simd::{Kernel, Lanes, Level, Vectors};
use crate::field::{Real, narrow};
use crate::grid::Grid;
use crate::physics::{Quantum, Sets};
use crate::scene::Scenario;
use crate::solver::split_step_fourier::kick::Kick;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// q and ζ of the lines along an axis.
enum Lines<T> {
    /// The same for all, spread over the lanes: `[site][re | im][lane]`.
    Alike { q: Vec<T>, ring: Vec<T> },
    /// Interior walls: per site, x fastest; ζ is empty for open lines.
    Each { q: Vec<Complex<T>>, ring: Vec<Complex<T>> },
}

/// A field on a plane.
pub(super) struct Plane<T: Real> {
    grid: Grid,
    quantum: Quantum,
    level: Level,
    kick: Kick<T>,
    walls: Vec<bool>,
    imaginary: bool,
    psi: Vec<Complex<T>>,
    /// x with half the step, y with the whole one.
    lines: [Lines<T>; 2],
    scales: [Complex<T>; 2],
    dt: f64,
}

/// N lines at work.
struct Tile<'a, T> {
    /// The site from which `place` counts.
    field: *mut Complex<T>,
    place: Place,
    psi: &'a mut [T],
    right: &'a mut [T],
    q: &'a [T],
    /// Empty for open lines.
    ring: &'a [T],
    scale: Complex<T>,
}

impl<T: Vectors> Kernel<T> for Tile<'_, T> {
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    unsafe fn run<V: Lanes<Element = T>>(mut self) {
        // SAFETY: the caller's.
        unsafe { self.solve::<V>() }
    }
}

impl<T: Real> Tile<'_, T> {
    /// # Safety
    /// The machine has V's instruction set; the slices hold 2·V::N numbers a site; the sites of `place` are good and nobody else's.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    unsafe fn solve<V: Lanes<Element = T>>(&mut self) {
        // SAFETY: the caller's.
        unsafe {
            self.gather::<V>();
            self.eliminate::<V>();
            self.substitute::<V>();
            self.scatter::<V>();
        }
    }

    /// D from ψ, from the first site to the last.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    unsafe fn eliminate<V: Lanes<Element = T>>(&mut self) {
        let (psi, right, q) = (self.psi.as_ptr(), self.right.as_mut_ptr(), self.q.as_ptr());
        // SAFETY: all offsets stay below sites · 2N.
        unsafe {
            let scale = Pair::<V>::splat(self.scale);
            let mut above = Pair::<V>::splat(Complex::default());
            for k in 0..self.place.sites {
                let at = k * 2 * V::N;
                let d = scale.times_plus(Pair::load(psi.add(at)), above);
                d.store(right.add(at));
                above = Pair::load(q.add(at)).times(d);
            }
        }
    }

    /// ψ ← Y − ψ with Y from D, from the last site to the first.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    unsafe fn substitute<V: Lanes<Element = T>>(&mut self) {
        let (psi, right, q) = (self.psi.as_mut_ptr(), self.right.as_mut_ptr(), self.q.as_ptr());
        let sites = self.place.sites;
        // SAFETY: as above.
        unsafe {
            let one = V::splat(T::one());
            let open = self.ring.is_empty();
            let mut below = Pair::<V>::splat(Complex::default());
            for k in (0..sites).rev() {
                let at = k * 2 * V::N;
                below = Pair::load(q.add(at)).times(Pair::load(right.add(at)).plus(below, one));
                if open {
                    below.minus(Pair::load(psi.add(at)), one).store(psi.add(at));
                } else {
                    below.store(right.add(at));
                }
            }
            if open {
                return;
            }
            let last = Pair::<V>::load(right.add((sites - 1) * 2 * V::N));
            let turn = below.minus(last, one);
            for k in 0..sites {
                let at = k * 2 * V::N;
                let zeta = Pair::<V>::load(self.ring.as_ptr().add(at));
                let y = Pair::load(right.add(at)).minus(zeta.times(turn), one);
                y.minus(Pair::load(psi.add(at)), one).store(psi.add(at));
            }
        }
    }

    /// Sites that go through whole squares of N lines and N sites; all sites of whole columns.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    fn squared<V: Lanes<Element = T>>(&self) -> usize {
        match (self.place.lines == V::N, self.place.along) {
            (false, _) => 0,
            (true, 1) => self.place.sites / V::N * V::N,
            (true, _) => self.place.sites,
        }
    }

    /// The field's sites into the lanes.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    unsafe fn gather<V: Lanes<Element = T>>(&mut self) {
        let squared = self.squared::<V>();
        let Place {
            first, along, across, ..
        } = self.place;
        let psi = self.psi.as_mut_ptr();
        // SAFETY: sites of the tile; offsets below sites · 2N.
        unsafe {
            if along == 1 {
                for start in (0..squared).step_by(V::N) {
                    let mut re = [V::splat(T::zero()); WIDEST];
                    let mut im = re;
                    for line in 0..V::N {
                        (re[line], im[line]) = load_complex::<V>(self.field.add(first + line * across + start));
                    }
                    transpose(&mut re);
                    transpose(&mut im);
                    for k in 0..V::N {
                        let at = (start + k) * 2 * V::N;
                        re[k].store(psi.add(at));
                        im[k].store(psi.add(at + V::N));
                    }
                }
            } else {
                for k in 0..squared {
                    let (re, im) = load_complex::<V>(self.field.add(first + k * along));
                    re.store(psi.add(k * 2 * V::N));
                    im.store(psi.add(k * 2 * V::N + V::N));
                }
            }
            self.place.each(squared, V::N, |at, n| {
                let value = *self.field.add(n);
                *psi.add(at) = value.re;
                *psi.add(at + V::N) = value.im;
            });
        }
    }

    /// The lanes back into the field.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    unsafe fn scatter<V: Lanes<Element = T>>(&mut self) {
        let squared = self.squared::<V>();
        let Place {
            first, along, across, ..
        } = self.place;
        let psi = self.psi.as_ptr();
        // SAFETY: as above.
        unsafe {
            if along == 1 {
                for start in (0..squared).step_by(V::N) {
                    let mut re = [V::splat(T::zero()); WIDEST];
                    let mut im = re;
                    for k in 0..V::N {
                        let at = (start + k) * 2 * V::N;
                        re[k] = V::load(psi.add(at));
                        im[k] = V::load(psi.add(at + V::N));
                    }
                    transpose(&mut re);
                    transpose(&mut im);
                    for line in 0..V::N {
                        store_complex(re[line], im[line], self.field.add(first + line * across + start));
                    }
                }
            } else {
                for k in 0..squared {
                    let at = k * 2 * V::N;
                    let (re, im) = (V::load(psi.add(at)), V::load(psi.add(at + V::N)));
                    store_complex(re, im, self.field.add(first + k * along));
                }
            }
            self.place.each(squared, V::N, |at, n| {
                *self.field.add(n) = Complex::new(*psi.add(at), *psi.add(at + V::N));
            });
        }
    }
}

/// Most lanes of any level.
const WIDEST: usize = 16;

/// N complex numbers that lie side by side.
///
/// # Safety
/// As [`Lanes`].
#[inline(always)]
#[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
unsafe fn load_complex<V: Lanes>(from: *const Complex<V::Element>) -> (V, V) {
    let from = from.cast::<V::Element>();
    // SAFETY: a complex number is its real and its imaginary part.
    unsafe { V::split(V::load(from), V::load(from.add(V::N))) }
}

/// The inverse of [`load_complex`].
///
/// # Safety
/// As [`Lanes`].
#[inline(always)]
#[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
unsafe fn store_complex<V: Lanes>(re: V, im: V, to: *mut Complex<V::Element>) {
    let to = to.cast::<V::Element>();
    // SAFETY: as above.
    unsafe {
        let (low, high) = V::join(re, im);
        low.store(to);
        high.store(to.add(V::N));
    }
}

/// Transposes N vectors of N numbers. Joining row i with row i + N/2 rotates the bits of every number's address, row then column, by one; log₂N of them
/// exchange row and column.
///
/// # Safety
/// As [`Lanes`].
#[inline(always)]
#[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
unsafe fn transpose<V: Lanes>(rows: &mut [V; WIDEST]) {
    for _ in 0..V::N.trailing_zeros() {
        let old = *rows;
        for i in 0..V::N / 2 {
            // SAFETY: the caller's.
            (rows[2 * i], rows[2 * i + 1]) = unsafe { V::join(old[i], old[i + V::N / 2]) };
        }
    }
}

/// One thread's tile.
struct Scratch<T> {
    psi: Vec<T>,
    right: Vec<T>,
    q: Vec<T>,
    ring: Vec<T>,
}

impl<T: Real> Scratch<T> {
    fn new(numbers: usize) -> Self {
        let zeros = || vec![T::zero(); numbers];
        Self {
            psi: zeros(),
            right: zeros(),
            q: zeros(),
            ring: zeros(),
        }
    }
}

/// Where the sites of a tile's lines are: site k of line l at `first` + k·`along` + l·`across`.
#[derive(Clone, Copy)]
struct Place {
    first: usize,
    sites: usize,
    along: usize,
    lines: usize,
    across: usize,
}

impl Place {
    /// Calls `visit(at, n)` for every number of the tile from site `from` of its lines on: at in `[site][re | im][lane]`, n in the field; in squares that
    /// stay in a core's first cache.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must be compiled with the caller's features")]
    fn each(&self, from: usize, lanes: usize, mut visit: impl FnMut(usize, usize)) {
        const SIDE: usize = 16;
        for start in (from..self.sites).step_by(SIDE) {
            let end = (start + SIDE).min(self.sites);
            if self.along == 1 {
                for line in 0..self.lines {
                    for k in start..end {
                        visit(k * 2 * lanes + line, self.first + k + line * self.across);
                    }
                }
            } else {
                for k in start..end {
                    for line in 0..self.lines {
                        visit(k * 2 * lanes + line, self.first + k * self.along + line);
                    }
                }
            }
        }
    }
}

/// The field, shared by threads that work on different lines.
struct Shared<T>(*mut Complex<T>);

// SAFETY: each thread reads and writes the sites of its own lines only.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut Complex<T> {
        self.0
    }
}

impl<T: Vectors> Plane<T> {
    /// A plane with ψ = 0.
    pub(super) fn new(scenario: &Scenario, quantum: Quantum, level: Level) -> Self {
        let grid = scenario.grid().clone();
        let medium = scenario.medium();
        let imaginary = scenario.time().imaginary;
        let [nx, ny, _] = grid.size();
        let mut walls = Vec::new();
        if medium.has(Sets::Wall) {
            walls = vec![false; nx * ny];
            for (j, row) in walls.chunks_mut(nx).enumerate() {
                medium.wall_row(j, 0, 0..nx, row);
            }
        }
        let empty = || Lines::Alike {
            q: Vec::new(),
            ring: Vec::new(),
        };
        Self {
            quantum,
            level,
            kick: Kick::new(medium, quantum.absorption_scale(), quantum.interaction, imaginary),
            walls,
            imaginary,
            psi: vec![Complex::default(); nx * ny],
            lines: [empty(), empty()],
            scales: [Complex::default(); 2],
            grid,
            dt: 0.0,
        }
    }

    /// Coefficients of the lines along an axis for a step of `dt`.
    fn lines(&self, axis: usize, step: &Step) -> Lines<T> {
        let [nx, ny, _] = self.grid.size();
        let sites = [nx, ny][axis];
        let closed = self.grid.is_periodic(axis);
        #[expect(clippy::cast_precision_loss, reason = "1 or 2")]
        let own = self.quantum.diagonal / self.grid.rank() as f64;
        let diagonal = step.diagonal(own, 0.0);
        if self.walls.is_empty() {
            let coefficients = Coefficients::new(step, sites, closed, |_| Some(diagonal));
            let lanes = self.level.lanes::<T>();
            let spread = |all: &[Complex64]| {
                let mut out = Vec::with_capacity(all.len() * 2 * lanes);
                for value in all {
                    out.extend(std::iter::repeat_n(T::of(value.re), lanes));
                    out.extend(std::iter::repeat_n(T::of(value.im), lanes));
                }
                out
            };
            return Lines::Alike {
                q: spread(&coefficients.q),
                ring: spread(&coefficients.ring.unwrap_or_default()),
            };
        }
        let mut q = vec![Complex::default(); nx * ny];
        let mut ring = if closed { q.clone() } else { Vec::new() };
        for line in 0..[ny, nx][axis] {
            let at = |k: usize| if axis == 0 { line * nx + k } else { k * nx + line };
            let coefficients = Coefficients::new(step, sites, closed, |k| (!self.walls[at(k)]).then_some(diagonal));
            for (k, value) in coefficients.q.iter().enumerate() {
                q[at(k)] = narrow(*value);
            }
            for (k, value) in coefficients.ring.iter().flatten().enumerate() {
                ring[at(k)] = narrow(*value);
            }
        }
        Lines::Each { q, ring }
    }

    /// One Cayley factor of the lines of a tile.
    ///
    /// # Safety
    /// `field` points at site `base`, all sites of `place`, counted from there, are good, and nobody else uses them meanwhile.
    unsafe fn cayley(&self, axis: usize, place: Place, base: usize, field: *mut Complex<T>, scratch: &mut Scratch<T>) {
        let lanes = self.level.lanes::<T>();
        let numbers = place.sites * 2 * lanes;
        let Scratch {
            psi,
            right,
            q: own_q,
            ring: own_ring,
        } = scratch;
        if place.lines < lanes {
            psi.fill(T::zero());
            own_q.fill(T::zero());
            own_ring.fill(T::zero());
        }
        let gather = |from: &[Complex<T>], to: &mut [T]| {
            place.each(0, lanes, |at, n| {
                to[at] = from[base + n].re;
                to[at + lanes] = from[base + n].im;
            });
        };
        let (q, ring): (&[T], &[T]) = match &self.lines[axis] {
            Lines::Alike { q, ring } => (q, ring),
            Lines::Each { q, ring } => {
                gather(q, own_q);
                if ring.is_empty() {
                    (&own_q[..numbers], &[])
                } else {
                    gather(ring, own_ring);
                    (&own_q[..numbers], &own_ring[..numbers])
                }
            }
        };
        self.level.run(Tile {
            field,
            place,
            psi: &mut psi[..numbers],
            right: &mut right[..numbers],
            q,
            ring,
            scale: self.scales[axis],
        });
    }

    /// A pass over the rows: the end of a step whose drives are `ending`, and the beginning of one whose drives are `beginning`.
    fn rows(&mut self, ending: Option<&[f64]>, beginning: Option<&[f64]>) {
        let nx = self.grid.size()[0];
        let lanes = self.level.lanes::<T>();
        let mut psi = std::mem::take(&mut self.psi);
        let this = &*self;
        psi.par_chunks_mut(nx * lanes).enumerate().for_each_init(
            || Scratch::new(nx * 2 * lanes),
            |scratch, (tile, sites)| {
                let place = Place {
                    first: 0,
                    sites: nx,
                    along: 1,
                    lines: sites.len() / nx,
                    across: nx,
                };
                let first = tile * lanes * nx;
                if let Some(drives) = ending {
                    // SAFETY: the chunk is this closure's and has the tile's sites.
                    unsafe { this.cayley(0, place, first, sites.as_mut_ptr(), scratch) };
                    this.kick.apply(0, drives, first, sites);
                }
                if let Some(drives) = beginning {
                    this.kick.apply(0, drives, first, sites);
                    // SAFETY: as above.
                    unsafe { this.cayley(0, place, first, sites.as_mut_ptr(), scratch) };
                }
            },
        );
        self.psi = psi;
    }

    /// The y factor of all columns.
    fn columns(&mut self) {
        let [nx, ny, _] = self.grid.size();
        let lanes = self.level.lanes::<T>();
        let field = Shared(self.psi.as_mut_ptr());
        let this = &*self;
        (0..nx.div_ceil(lanes)).into_par_iter().for_each_init(
            || Scratch::new(ny * 2 * lanes),
            |scratch, tile| {
                let place = Place {
                    first: tile * lanes,
                    sites: ny,
                    along: nx,
                    lines: lanes.min(nx - tile * lanes),
                    across: 1,
                };
                // SAFETY: tiles have different columns, and `self.psi` is used through `field` alone meanwhile.
                unsafe { this.cayley(1, place, 0, field.get(), scratch) };
            },
        );
    }
}

impl<T: Vectors> Propagator<T> for Plane<T> {
    fn variant(&self) -> &'static str {
        "thomas"
    }

    fn details(&self) -> String {
        let [nx, ny, _] = self.grid.size();
        format!(
            "lines of {nx} and {ny}, {} at a time, {}",
            self.level.lanes::<T>(),
            self.level.title()
        )
    }

    fn memory(&self) -> usize {
        let lines: usize = self
            .lines
            .iter()
            .map(|lines| match lines {
                Lines::Alike { q, ring } => (q.len() + ring.len()) * size_of::<T>(),
                Lines::Each { q, ring } => (q.len() + ring.len()) * size_of::<Complex<T>>(),
            })
            .sum();
        self.psi.len() * size_of::<Complex<T>>() + self.kick.memory() + self.walls.len() + lines
    }

    fn set_step(&mut self, dt: f64) {
        self.dt = dt;
        self.kick.set_steps(&[dt / 2.0]);
        #[expect(clippy::cast_precision_loss, reason = "1 or 2")]
        let own = self.quantum.diagonal / self.grid.rank() as f64;
        let lowest = own - 2.0 * self.quantum.hopping.abs();
        for (axis, length) in [dt / 2.0, dt].into_iter().enumerate() {
            let step = Step::new(length, self.quantum.hopping, self.imaginary, lowest);
            self.lines[axis] = self.lines(axis, &step);
            self.scales[axis] = narrow(step.scale());
        }
    }

    fn advance(&mut self, time: f64, steps: u64) {
        let mut ending = None;
        let mut now = time;
        for _ in 0..steps {
            let drives = self.kick.drive_values(now + self.dt / 2.0);
            self.rows(ending.as_deref(), Some(&drives));
            self.columns();
            ending = Some(drives);
            now += self.dt;
        }
        if ending.is_some() {
            self.rows(ending.as_deref(), None);
        }
    }

    fn read(&self, first: usize, out: &mut [Complex<T>]) {
        out.copy_from_slice(&self.psi[first..first + out.len()]);
    }

    fn change(&mut self, change: &(dyn Fn(usize, &mut Complex<T>) + Sync)) {
        let walls = &self.walls;
        self.psi.par_iter_mut().enumerate().for_each(|(site, psi)| {
            if walls.get(site).copied().unwrap_or(false) {
                *psi = Complex::default();
            } else {
                change(site, psi);
            }
        });
    }

    fn drives_at(&self, time: f64) -> Vec<f64> {
        self.kick.drive_values(time)
    }

    fn energy_at(&self, site: usize, drives: &[f64]) -> f64 {
        self.quantum.diagonal + self.kick.energy(drives, site, 0.0)
    }
}

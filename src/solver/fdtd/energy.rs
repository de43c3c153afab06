//! The scheme's energy, site by site, and its flux.
//!
//! With q = pⁿ⁻¹ and p = pⁿ the leapfrog scheme conserves
//! E = ½ Σ (p − q)²/(KΔt²) a^d + ½ Σ_bonds C b (Δp)(Δq) a^(d−2), K = ρc², b = 1/ρ of the bond,
//! exactly, for every order, edge and medium without damping (a bond of length k has the weight Cₖ). A site is given what moves there and half of each of its
//! bonds. E is the energy of a membrane of displacement p: the sound's energy if p is read as velocity potential, (2πf)² times
//! the sound's energy in Pa for a tone of frequency f.
//!
//! Source: the summation by parts of leapfrog, e.g. Joly 2003, doi:10.1007/978-3-642-55483-4_6, §3.

use super::lattice::{Ghost, Lattice};
use super::stencil::COEFFICIENTS;
use super::sweep::Sweep;
use crate::field::Real;

/// Two neighbouring levels of a run.
#[derive(Clone, Copy)]
pub struct Levels<'a, T> {
    /// pⁿ with ghosts.
    pub now: &'a [T],
    /// pⁿ⁻¹ with ghosts.
    pub old: &'a [T],
    /// Where only some rows are there: the place of each row in the arrays, which then begin with its first ghosts.
    pub slots: Option<&'a [u32]>,
    /// Values from one row to the next.
    pub stride: usize,
    /// a.
    pub spacing: f64,
    /// Δt with its sign.
    pub time_step: f64,
}

impl<T: Real> Levels<'_, T> {
    /// Where the value with this index of a whole array lies.
    fn place(&self, index: usize) -> usize {
        match self.slots {
            None => index,
            Some(slots) => {
                let from_first_ghost = index - Lattice::BETWEEN;
                let row = from_first_ghost / self.stride;
                slots[row] as usize * self.stride + from_first_ghost % self.stride
            }
        }
    }

    /// pⁿ and pⁿ⁻¹ by index of a whole array.
    pub fn at(&self, index: usize) -> (f64, f64) {
        let place = self.place(index);
        (self.now[place].wide(), self.old[place].wide())
    }

    /// pⁿ and pⁿ⁻¹ of `count` values from an index of a whole array on, all in one row.
    pub fn run(&self, index: usize, count: usize) -> (&[T], &[T]) {
        let place = self.place(index);
        (&self.now[place..place + count], &self.old[place..place + count])
    }
}

impl<T: Real> Sweep<T> {
    /// Energy per a^d of the sites of row (j, k).
    pub fn energy_row(&self, levels: &Levels<'_, T>, j: usize, k: usize, out: &mut [f64]) {
        let lattice = &self.lattice;
        let row = j + lattice.size[1] * k;
        let first = lattice.index([0, j, k]);
        let (now, old) = levels.run(first, lattice.size[0]);
        let moving = |i: usize| {
            let kappa = self.material.kappa(first + i);
            let change = (now[i] - old[i]).wide();
            if kappa == 0.0 {
                0.0
            } else {
                change * change / (2.0 * kappa)
            }
        };
        for (i, out) in out.iter_mut().enumerate() {
            *out = moving(i);
        }
        self.for_each_bond(
            j,
            k,
            |i, weight, (p, q), share| {
                let (dp, dq) = (p - now[i].wide(), q - old[i].wide());
                out[i] += share * weight * dp * dq / 4.0;
            },
            levels,
        );
        if self.material.density.is_empty() {
            let density = self.material.uniform_density;
            self.walls.for_each(lattice, row, |i, terms| {
                for term in terms {
                    let (p, q) = levels.at(term.from);
                    let (dp, dq) = (p - now[i].wide(), q - old[i].wide());
                    out[i] += term.weight * dp * dq / (4.0 * density);
                }
            });
        }
        let square = levels.spacing * levels.spacing;
        let nx = lattice.size[0];
        for (i, out) in out.iter_mut().enumerate() {
            let wall = self.mask.get(row * nx + i).copied().unwrap_or(false);
            *out = if wall { 0.0 } else { *out / square };
        }
    }

    /// Calls `visit(i, C/ρ, (p, q), share)` for every bond of every site of a row, with the values at its other end; `share` is 2 for the
    /// bond to the zero outside a soft edge, which no other site counts.
    fn for_each_bond(
        &self,
        j: usize,
        k: usize,
        mut visit: impl FnMut(usize, f64, (f64, f64), f64),
        levels: &Levels<'_, T>,
    ) {
        let lattice = &self.lattice;
        let [nx, ny, _] = lattice.size;
        let row = j + ny * k;
        let first = lattice.index([0, j, k]);
        let at = |index: usize| levels.at(index);
        for distance in 1..=lattice.half {
            let coefficient = COEFFICIENTS[lattice.half][distance];
            for offset in [-distance.cast_signed(), distance.cast_signed()] {
                for i in 0..nx {
                    let index = first + i;
                    let other = index.wrapping_add_signed(offset);
                    let ghost = super::lattice::ghost(lattice.edges[0], nx, i.cast_signed() + offset);
                    let share = if ghost == Ghost::Zero { 2.0 } else { 1.0 };
                    visit(i, coefficient * self.bond(index, other), at(other), share);
                }
                for axis in 1..lattice.rank {
                    let (other, sign, share) = match lattice.neighbour_row(j, k, axis, offset) {
                        Ghost::Same(other) => (other, 1.0, 1.0),
                        Ghost::Negative(other) => (other, -1.0, 1.0),
                        Ghost::Zero => (row, 0.0, 2.0),
                    };
                    let other = other * lattice.stride + lattice.front;
                    for i in 0..nx {
                        let (p, q) = at(other + i);
                        let weight = coefficient * self.bond(first + i, other + i);
                        visit(i, weight, (sign * p, sign * q), share);
                    }
                }
            }
        }
    }

    /// 1/ρ between two places of an array.
    fn bond(&self, here: usize, there: usize) -> f64 {
        if self.material.density.is_empty() {
            1.0 / self.material.uniform_density
        } else {
            2.0 / (self.material.density[here].wide() + self.material.density[there].wide())
        }
    }

    /// The energy that flows from a site to the next along `axis`, per a^(d−1) and unit of time: −b p_t ∂p, centred at the face and between the
    /// levels. 0 at the last site and at walls.
    pub fn flux(&self, levels: &Levels<'_, T>, site: [usize; 3], axis: usize) -> f64 {
        let lattice = &self.lattice;
        let mut next = site;
        next[axis] += 1;
        if next[axis] >= lattice.size[axis] {
            return 0.0;
        }
        let [nx, ny, _] = lattice.size;
        let wall = |[i, j, k]: [usize; 3]| self.mask.get(i + nx * (j + ny * k)).copied().unwrap_or(false);
        if wall(site) || wall(next) {
            return 0.0;
        }
        let (here, there) = (lattice.index(site), lattice.index(next));
        let at = |index: usize| levels.at(index);
        let ((p, q), (p1, q1)) = (at(here), at(there));
        let rate = ((p - q) + (p1 - q1)) / (2.0 * levels.time_step);
        let slope = ((p1 - p) + (q1 - q)) / (2.0 * levels.spacing);
        -self.bond(here, there) * rate * slope
    }
}

//! The coefficients of a line in blocks: q, B and C of every row, the joints' own system, and ζ of a ring.

use super::geometry::{Geometry, Place};
use super::{Partitioned, Ring};
use crate::backend::simd::{Aligned, Vectors};
use crate::field::{Precision, narrow};
use crate::solver::crank_nicolson::large;
use crate::solver::crank_nicolson::partition::{Factorised, Tridiagonal};
use crate::solver::crank_nicolson::thomas::Coefficients;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// What a block adds to the rows of its joints.
#[derive(Clone, Copy, Default)]
struct Ends {
    /// Upper coefficient and addition to the diagonal of the joint before.
    upper: Complex64,
    above: Complex64,
    /// Lower coefficient and addition to the diagonal of the joint after.
    lower: Complex64,
    below: Complex64,
}

impl<T: Vectors> Partitioned<T> {
    /// All coefficients, in double precision, for drives worth `drives`.
    pub(super) fn factorise(&mut self, drives: &[f64]) {
        let geometry = self.geometry;
        let joints = geometry.blocks() + 1;
        let mut coefficients = std::mem::replace(&mut self.q, Aligned::zeros(0));
        let mut before = std::mem::replace(&mut self.before, Aligned::zeros(0));
        let mut after = std::mem::replace(&mut self.after, Aligned::zeros(0));
        let numbers = geometry.numbers();
        let this = &*self;
        let ends: Vec<(Vec<Ends>, (usize, usize))> = coefficients
            .par_chunks_mut(numbers)
            .zip(before.par_chunks_mut(numbers))
            .zip(after.par_chunks_mut(numbers))
            .enumerate()
            .map(|(vector, ((q, before), after))| this.factorise_vector(vector, drives, q, before, after))
            .collect();
        self.q = coefficients;
        self.before = before;
        self.after = after;
        let mut reduced = Tridiagonal::zeros(joints);
        for w in 0..joints {
            reduced.diagonal[w] = self.diagonal(w * (geometry.rows + 1), drives).unwrap_or(Complex64::ONE);
        }
        let stands = |w: usize| self.diagonal(w * (geometry.rows + 1), drives).is_some();
        for (w, ends) in ends.iter().flat_map(|(ends, _)| ends).enumerate() {
            if stands(w) {
                reduced.upper[w] = ends.upper;
                reduced.diagonal[w] += ends.above;
            }
            if stands(w + 1) {
                reduced.lower[w + 1] = ends.lower;
                reduced.diagonal[w + 1] += ends.below;
            }
        }
        self.reach = ends.into_iter().map(|(_, reach)| reach).collect();
        self.reduced = Factorised::new(&reduced, self.levels - 1);
    }

    /// q, B and C of a vector of blocks, what they add to the joints' rows, and where B and C are above rounding.
    fn factorise_vector(
        &self,
        vector: usize,
        drives: &[f64],
        q: &mut [T],
        before: &mut [T],
        after: &mut [T],
    ) -> (Vec<Ends>, (usize, usize)) {
        let Geometry { rows, lanes, .. } = self.geometry;
        let off = self.step.off;
        // What is below a hundredth of a unit in the last place of the largest possible term.
        let negligible = if T::PRECISION == Precision::Single {
            1e-12
        } else {
            1e-24
        } * off.norm().min(1.0);
        let mut ends = Vec::with_capacity(lanes);
        let mut reach = (0, rows);
        let mut inverse = vec![Complex64::ZERO; rows];
        let mut lower = vec![Complex64::ZERO; rows];
        for lane in 0..lanes {
            let mut above = Complex64::ZERO;
            for k in 0..rows {
                let ratio = -off * above;
                inverse[k] = match self.diagonal(self.geometry.site(vector, k, lane), drives) {
                    Some(diagonal) => (diagonal + ratio * off).inv(),
                    None => Complex64::ZERO,
                };
                lower[k] = if k == 0 { off } else { ratio * lower[k - 1] };
                above = inverse[k];
            }
            let ratio = |k: usize| -off * inverse[k];
            let last = ratio(rows - 1);
            let mut end = Ends {
                lower: last * lower[rows - 1],
                below: last * off,
                ..Ends::default()
            };
            let mut upper = off;
            for k in (0..rows).rev() {
                if k + 1 < rows {
                    lower[k] = lower[k] + ratio(k + 1) * lower[k + 1];
                    upper *= ratio(k + 1);
                }
                let own = ratio(k);
                let (b, c) = (-own * lower[k], -own * upper);
                let at = k * 2 * lanes + lane;
                for (to, value) in [(&mut *q, own), (&mut *before, b), (&mut *after, c)] {
                    to[at] = T::of(value.re);
                    to[at + lanes] = T::of(value.im);
                }
                if b.norm() > negligible {
                    reach.0 = reach.0.max(k + 1);
                }
                if c.norm() > negligible {
                    reach.1 = reach.1.min(k);
                }
            }
            end.upper = ratio(0) * upper;
            end.above = ratio(0) * lower[0];
            ends.push(end);
        }
        (ends, reach)
    }

    /// ζ of a ring at every row, by elimination from end to end.
    pub(super) fn close_ring(&mut self, drives: &[f64]) {
        self.ring = None;
        if !self.hamiltonian.closes() {
            return;
        }
        let sites = self.geometry.sites;
        let hamiltonian = &self.hamiltonian;
        let coefficients = Coefficients::new(&self.step, sites, true, |site| {
            hamiltonian.row(&self.step, site, drives)
        });
        let mut ring = Ring {
            inside: large(self.psi.len(), 7),
            joints: vec![Complex::default(); self.joint_psi.len()],
        };
        for (site, zeta) in coefficients.ring.into_iter().flatten().enumerate() {
            let zeta = narrow::<T>(zeta);
            match self.geometry.place(site) {
                Place::Joint(joint) => ring.joints[joint] = zeta,
                Place::Inside(at) => {
                    ring.inside[at] = zeta.re;
                    ring.inside[at + self.geometry.lanes] = zeta.im;
                }
            }
        }
        self.ring = Some(ring);
    }
}

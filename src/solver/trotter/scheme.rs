//! One time step as a product of sweeps and phases.
//!
//! With E and O the even and odd bonds of an axis and P the phases e^{−iE(r)τ}, a symmetric sub-step of length τ is
//! `P½ · [E½ O E½ of x] · [E½ O E½ of y] · [E½ O E½ of z] · P½`: with pairs along columns and no flux sweeps of different axes commute,
//! so this equals the palindrome over all axes. With flux the phase of x bonds depends on y, and with walls inside the grid or layers of hopping the bonds of an
//! axis differ from line to line: sweeps of different axes then do not commute, and the step is *nested*:
//! `P½ · xE½ xO½ · yE½ yO½ · [E½ O E½ of z] · yO½ yE½ · xO½ xE½ · P½`, the last axis innermost.
//!
//! Order 1 is `P xE xO yE yO zE zO`, order 2 one symmetric sub-step, order 4 five of lengths u, u, 1 − 4u, u, u (Suzuki 1990,
//! doi 10.1016/0375-9601(90)90962-N).
//!
//! Absorption of orders 1 and 2 is part of the phases. The backward sub-step of order 4 would amplify, so there
//! absorption is outside of the composition, `e^{−WΔt/2} S₄ e^{−WΔt/2}`: of order 4 where nothing absorbs, and of order 2, with an error of the
//! commutators of W with H, where something does.
//!
//! The interaction reads |ψ|² next to the sweeps, `e^{−WΔt/2} P½ … P½ e^{−WΔt/2}`, so that a step is a palindrome: half of the phase between two steps has the
//! density before the damping, half that after it.
//!
//! The last half phase of a sub-step and the first of the next are one: between steps the field is kept *open*, φ = P½ψ.

use super::problem::{Problem, SUZUKI_U};
use crate::field::Real;

/// A sub-step: its sweeps, and the phase that follows them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Substep {
    /// Start, from the start of the step.
    pub start: f64,
    /// Length τ.
    pub length: f64,
    /// Phase time before the sweeps (part of what follows the sub-step before).
    pub front: f64,
    /// Phase time after the sweeps.
    pub back: f64,
    /// Angles J τ of the first even, the odd and the last even sweep of an axis.
    pub angles: [f64; 3],
    /// If nested: angles of every axis but the last, even and odd before, odd and even after the axes inside.
    pub outer: Option<[f64; 4]>,
    /// Phase time after the sweeps, the next sub-step's first half included.
    pub phase_time: f64,
    /// Which table of phases follows.
    pub table: usize,
    /// Amplitudes after the phase are this times the true ones (order 4 shares tables, see [`Scheme::new`]); 1 after the
    /// last sub-step.
    pub excess: f64,
    /// Shares of the density after the phase's factor and before it in the interaction that follows.
    pub shares: [f64; 2],
}

/// The bonds of one parity along an axis, turned by an angle J τ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sweep {
    /// 0 to 2.
    pub axis: usize,
    /// Whether bonds join odd sites with the even ones after them.
    pub odd: bool,
    /// J τ.
    pub angle: f64,
}

impl Substep {
    /// g τ of the interaction in the phase that follows: what multiplies |φ|² after the factor of the table, and what |φ|² before it. For amplitudes that carry
    /// the [`Substep::excess`].
    pub(super) fn interaction(&self, g: f64) -> [f64; 2] {
        (self.shares).map(|share| share * g * self.phase_time / (self.excess * self.excess))
    }

    /// Whether its sweeps and phase are those of another, to the bit.
    #[cfg(any(feature = "cuda", feature = "gui"))]
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.angles == other.angles
            && self.outer == other.outer
            && self.table == other.table
            && self.phase_time.to_bits() == other.phase_time.to_bits()
            && self.excess.to_bits() == other.excess.to_bits()
    }

    /// Its sweeps one by one, in order, without those of angle 0; for variants that take each over the whole grid.
    pub(super) fn sweeps(&self, rank: usize) -> Vec<Sweep> {
        let sweep = |axis, odd, angle| Sweep { axis, odd, angle };
        let [even, odd, even_again] = self.angles;
        let all = |axis| {
            [
                sweep(axis, false, even),
                sweep(axis, true, odd),
                sweep(axis, false, even_again),
            ]
        };
        let mut found = Vec::new();
        for axis in 0..rank - 1 {
            match self.outer {
                Some([even, odd, ..]) => found.extend([sweep(axis, false, even), sweep(axis, true, odd)]),
                None => found.extend(all(axis)),
            }
        }
        found.extend(all(rank - 1));
        if let Some([_, _, odd, even]) = self.outer {
            for axis in (0..rank - 1).rev() {
                found.extend([sweep(axis, true, odd), sweep(axis, false, even)]);
            }
        }
        found.retain(|sweep| sweep.angle != 0.0);
        found
    }
}

/// The contents of a phase table: e^{−iE·time − W·damping}·fold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PhaseKind {
    /// Time.
    pub time: f64,
    /// Time that multiplies absorption.
    pub damping: f64,
    /// Product of the cosines that the tan form leaves out (1 for forms that leave out none).
    pub fold: f64,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scheme {
    /// Sub-steps in order.
    pub substeps: Vec<Substep>,
    /// Tables of phases.
    pub tables: Vec<PhaseKind>,
    /// Phase time of the first half, which the open field has had.
    pub open: f64,
    /// Time of absorption that the open field has had.
    pub open_damping: f64,
    /// Δt.
    pub time_step: f64,
    /// Whether the sweeps are cosh/sinh and the phases e^{−Eτ}; then the field is kept closed, the first half is applied at the
    /// start of each step, and the norm restored at its end.
    pub imaginary: bool,
}

impl Substep {
    /// What sweeps in tan form leave out: the cosines of all bonds of a site, for bonds that `alike` multiplies.
    fn fold<T: Real>(&self, problem: &Problem, alike: [f64; 3]) -> f64 {
        let cosines = |angles: &[f64], alike: f64| -> f64 {
            let cosine = |angle: f64| 1.0 / alone::<T>(alike * angle, problem.imaginary);
            angles.iter().map(|&angle| cosine(angle)).product()
        };
        let last = problem.grid.rank() - 1;
        let outer = self.outer.as_ref().map_or(&self.angles[..], |outer| outer);
        (0..last).fold(cosines(&self.angles, alike[last]), |product, axis| {
            product * cosines(outer, alike[axis])
        })
    }
}

impl Scheme {
    /// The step of a problem; `tan_form` asks for folds, those of tangents rounded to `T`.
    pub(super) fn new<T: Real>(problem: &Problem, tan_form: bool) -> Self {
        let dt = problem.time_step;
        let lengths: Vec<f64> = match problem.order {
            4 => [SUZUKI_U, SUZUKI_U, 1.0 - 4.0 * SUZUKI_U, SUZUKI_U, SUZUKI_U]
                .map(|w| w * dt)
                .to_vec(),
            _ => vec![dt],
        };
        let symmetric = problem.order > 1;
        let mut start = 0.0;
        let mut substeps: Vec<Substep> = lengths
            .iter()
            .map(|&length| {
                let angle = problem.quantum.hopping * length;
                let half = angle / 2.0;
                let nested = problem.is_nested();
                let substep = Substep {
                    start,
                    length,
                    front: if symmetric { length / 2.0 } else { length },
                    back: if symmetric { length / 2.0 } else { 0.0 },
                    angles: if symmetric {
                        [half, angle, half]
                    } else {
                        [angle, angle, 0.0]
                    },
                    outer: nested.then_some(if symmetric { [half; 4] } else { [angle, angle, 0.0, 0.0] }),
                    phase_time: 0.0,
                    table: 0,
                    excess: 1.0,
                    shares: [1.0, 0.0],
                };
                start += length;
                substep
            })
            .collect();
        let fronts: Vec<f64> = substeps.iter().map(|substep| substep.front).collect();
        for (i, substep) in substeps.iter_mut().enumerate() {
            let next = if problem.imaginary {
                0.0
            } else {
                fronts[(i + 1) % fronts.len()]
            };
            substep.phase_time = substep.back + next;
        }
        let alike = if tan_form { problem.alike() } else { [1.0; 3] };
        let fold = |substep: &Substep| {
            if tan_form {
                substep.fold::<T>(problem, alike)
            } else {
                1.0
            }
        };
        let folds: Vec<f64> = substeps.iter().map(fold).collect();
        let imaginary = problem.imaginary;
        let kind = |time: f64, damping: f64, fold: f64| PhaseKind { time, damping, fold };
        let mut tables = Vec::new();
        if imaginary {
            tables.push(kind(substeps[0].back, 0.0, folds[0]));
            if substeps[0].front > 0.0 {
                tables.push(kind(substeps[0].front, 0.0, 1.0));
            }
        } else if substeps.len() == 1 {
            tables.push(kind(substeps[0].back + substeps[0].front, dt.abs(), folds[0]));
        } else {
            // Sub-steps u u v u u: the phases between are u, (u+v)/2, (u+v)/2, u, u long and follow sweeps with folds
            // K(u), K(u), K(v), K(u), K(u). Giving both middle ones √(K(u)K(v)) makes two tables do; between them the
            // amplitude is off by a known factor.
            let middle = (folds[0] * folds[2]).sqrt();
            tables.push(kind(lengths[0], 0.0, folds[0]));
            tables.push(kind(f64::midpoint(lengths[0], lengths[2]), 0.0, middle));
            for i in [1, 2] {
                substeps[i].table = 1;
            }
            if problem.absorbs() {
                tables.push(kind(lengths[0], dt.abs(), folds[0]));
                substeps[4].table = 2;
            }
            substeps[1].excess = middle / folds[0];
        }
        if symmetric && !imaginary && problem.absorbs() {
            for substep in &mut substeps {
                let table = &tables[substep.table];
                if table.damping > 0.0 {
                    // The sweeps have left out the fold, which the factor brings.
                    substep.shares = [0.5, 0.5 * table.fold * table.fold];
                }
            }
        }
        let (open, open_damping) = match problem.order {
            _ if imaginary => (0.0, 0.0),
            1 => (substeps[0].front, dt.abs()),
            _ => (substeps[0].front, dt.abs() / 2.0),
        };
        Self {
            open,
            open_damping,
            substeps,
            tables,
            time_step: dt,
            imaginary,
        }
    }

    /// The phase after sub-step `i` of a step that starts at `time`: times of the middle of this sub-step and of the next one with
    /// the phase time that each contributes.
    pub(super) fn phase_after(&self, i: usize, time: f64) -> [(f64, f64); 2] {
        let this = &self.substeps[i];
        let here = (time + this.start + this.length / 2.0, this.back);
        if self.imaginary {
            return [here, (here.0, 0.0)];
        }
        let (next, from) = match self.substeps.get(i + 1) {
            Some(next) => (next, time),
            None => (&self.substeps[0], time + self.time_step),
        };
        [here, (from + next.start + next.length / 2.0, next.front)]
    }

    /// Middle of the first sub-step of a step that starts at `time`.
    pub(super) fn first_middle(&self, time: f64) -> f64 {
        time + self.substeps[0].length / 2.0
    }
}

/// 1/cos (1/cosh) of the angle whose tangent (tanh) is that of `angle` rounded to `T`: the exact factor of a sweep in tan form. With the cosine of
/// the angle itself a single-precision run would drift by 1e-5 in 1e4 steps.
pub(super) fn alone<T: Real>(angle: f64, imaginary: bool) -> f64 {
    if imaginary {
        (1.0 - T::of(angle.tanh()).wide().powi(2)).sqrt()
    } else {
        (1.0 + T::of(angle.tan()).wide().powi(2)).sqrt()
    }
}

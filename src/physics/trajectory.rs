//! Bohm's trajectories: dx/dt = j/|ψ|², from chosen places.
//!
//! Each step takes them from one field to the next by the classical Runge–Kutta scheme of order 4, with |ψ|² and j linear in between ([`Currents::between`] in space, their mean in time):
//! of order 2 in Δt and in the spacing, as the fields themselves. Where there is nothing (|ψ|² aᵈ below a least value) a trajectory rests; at an edge that is no ring it stays on the grid.
//! Beside a zero of ψ the velocity grows without bound: a step goes no further than [`reach`], so that the field is needed in a [box](around) only.
//! Of two components it is one path in space, dx/dt = (j₁ + j₂)/(ρ₁ + ρ₂) ([`super::current`]); along their axis it stays where it began.
//! D. Bohm, Phys. Rev. 85 (1952) 166, doi 10.1103/PhysRev.85.166; C. Philippidis, C. Dewdney, B. J. Hiley, Nuovo Cimento B 52 (1979) 15, doi 10.1007/BF02743566.

use super::Currents;
use super::current::Psi;
use crate::grid::SiteBox;

/// |ψ|² aᵈ, the probability of a site, below which a trajectory rests: in single precision the phase has no significant digits there.
const LEAST: f64 = 1e-24;

/// The largest distance of a trajectory in a step, in units of that of the lattice's fastest wave.
const TIMES_THE_FASTEST: f64 = 4.0;

/// One trajectory's start.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Its name in tables and predictions.
    pub name: String,
    /// Where it begins, as lengths.
    pub from: [f64; 3],
    /// When.
    pub at: f64,
    /// The index of the `[[trajectory]]` that it belongs to; those of one entry are drawn alike.
    pub group: usize,
}

impl Trajectory {
    /// The names of its coordinates along so many axes ([`axes_in_space`](super::current::axes_in_space)), as predictions write them.
    pub fn coordinates(&self, space: usize) -> Vec<String> {
        let axes = ["x", "y", "z"].into_iter().take(space);
        axes.map(|axis| format!("{}.{axis}", self.name)).collect()
    }
}

/// The largest distance of a trajectory in a step along an axis, in sites: one site plus four times the distance of the lattice's fastest wave.
pub fn reach(currents: &Currents, time_step: f64) -> f64 {
    1.0 + (TIMES_THE_FASTEST * currents.fastest() * time_step.abs() / currents.grid().spacing()).ceil()
}

/// The sites that `steps` calls of [`step`] may read for a trajectory at `from`, a length. All sites of an axis if they may read as many.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "places on the grid, far below 2^52"
)]
pub fn around(currents: &Currents, time_step: f64, from: [f64; 3], steps: u64) -> SiteBox {
    let grid = currents.grid();
    let reach = steps as f64 * reach(currents, time_step);
    let (mut first, mut size) = ([0; 3], [1; 3]);
    for axis in 0..grid.rank() {
        let sites = grid.size()[axis];
        let place = from[axis] / grid.spacing();
        // Middles of bonds stand half a site behind a site, and a bond has a site further on.
        let (low, high) = ((place - reach - 0.5).floor(), (place + reach).floor() + 2.0);
        let last = (sites - 1) as f64;
        if high - low >= last {
            size[axis] = sites;
        } else if grid.is_periodic(axis) {
            first[axis] = low.rem_euclid(sites as f64) as usize % sites;
            size[axis] = (high - low) as usize + 1;
        } else {
            // Places beyond the ends count as the ends, between the two sites there.
            let low = low.clamp(0.0, (last - 1.0).max(0.0));
            first[axis] = low as usize;
            size[axis] = (high.clamp(low + 1.0, last) - low) as usize + 1;
        }
    }
    SiteBox { first, size }
}

/// The position of a trajectory after a step of `time_step` (with its sign) between two fields. Positions are lengths;
/// along a ring they may leave 0..L, so that a path is not broken.
pub fn step<P: Psi>(currents: &Currents, [before, after]: [&P; 2], time_step: f64, from: [f64; 3]) -> [f64; 3] {
    let grid = currents.grid();
    let (rank, a) = (grid.rank(), grid.spacing());
    let furthest = reach(currents, time_step) * a;
    let least = LEAST / grid.cell_volume();
    let velocity = |at: [f64; 3], part: f64| -> [f64; 3] {
        let sites = at.map(|length| length / a);
        let early = currents.between(before, sites);
        let late = if part == 0.0 {
            early
        } else {
            currents.between(after, sites)
        };
        let mix = |early: f64, late: f64| early + part * (late - early);
        let density = mix(early.0, late.0);
        if density.is_nan() || density < least {
            return [0.0; 3];
        }
        std::array::from_fn(|axis| mix(early.1[axis], late.1[axis]) / density)
    };
    let within = |way: f64| way.clamp(-furthest, furthest);
    let moved = |by: f64, v: [f64; 3]| std::array::from_fn(|axis| from[axis] + within(by * v[axis]));
    let k1 = velocity(from, 0.0);
    let k2 = velocity(moved(0.5 * time_step, k1), 0.5);
    let k3 = velocity(moved(0.5 * time_step, k2), 0.5);
    let k4 = velocity(moved(time_step, k3), 1.0);
    let mut to = from;
    for axis in 0..rank {
        let mean = (k1[axis] + 2.0 * (k2[axis] + k3[axis]) + k4[axis]) / 6.0;
        to[axis] += within(time_step * mean);
        if !grid.is_periodic(axis) {
            #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
            let last = (grid.size()[axis] - 1) as f64 * a;
            to[axis] = to[axis].clamp(0.0, last);
        }
    }
    to
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, reason = "tests")]
mod tests {
    use super::*;
    use crate::field::FieldData;
    use crate::grid::Grid;
    use crate::physics::noise::Noise;
    use crate::physics::reference::continuum;
    use crate::physics::{Medium, Quantum};
    use num_complex::Complex64;

    /// Of a free Gaussian at rest x(t) − c = (x(0) − c) σ(t)/σ(0) exactly (P. R. Holland, The Quantum Theory of Motion, 1993, section 4.7); at rest a lattice of a = σ/20 differs from the
    /// continuum by (a/σ)²/24 of the phase's curvature, some 1e-4, and linear interpolation by (a/σ)²/8 of |ψ|², which largely cancels in j/|ψ|². So in any unit of length, with its square as the unit of time.
    #[test]
    fn a_free_gaussian_takes_its_trajectories_apart() {
        for unit in [1.0, 1e26] {
            taken_apart(unit);
        }
    }

    fn taken_apart(unit: f64) {
        let (a, sigma, n) = (0.05 * unit, unit, 401);
        let grid = Grid::new(&[n], a);
        let center = 0.5 * (n - 1) as f64 * a;
        let quantum = Quantum {
            hopping: 1.0 / (2.0 * a * a),
            diagonal: 1.0 / (a * a),
            mass: Some(1.0),
            ..Quantum::default()
        };
        let currents = Currents::of(&quantum, &Medium::new(grid, Vec::new()));
        let at = |t: f64| {
            let psi = |site: usize| -> Complex64 { continuum::gaussian(site as f64 * a, t, center, sigma, 0.0, 1.0) };
            FieldData::Complex128((0..n).map(psi).collect())
        };
        let (dt, steps) = (0.02 * unit * unit, 100);
        let starts = [-1.5, -0.4, 0.0, 0.7, 1.9].map(|start| start * unit);
        let mut places = starts.map(|x| [center + x, 0.0, 0.0]);
        let mut before = at(0.0);
        for number in 1..=steps {
            let after = at(f64::from(number) * dt);
            for place in &mut places {
                *place = step(&currents, [&before, &after], dt, *place);
            }
            before = after;
        }
        let t = f64::from(steps) * dt;
        let growth = continuum::gaussian_spread(t, sigma, 1.0) / sigma;
        for (start, place) in starts.iter().zip(places) {
            let error = place[0] - center - start * growth;
            assert!(error.abs() < 2e-3 * unit, "from {start}: {error}");
        }
    }

    /// What a step looks at lies in its box, whatever the place, the edges and the velocity: a random field has zeros, beside which velocities are without bound. The same bits.
    #[test]
    fn a_box_is_all_that_a_step_looks_at() {
        use crate::grid::Edge;
        use crate::physics::current::PsiInBox;
        let ring = [Edge::Periodic, Edge::Wall, Edge::Wall];
        for (size, edges, time_step) in [
            (&[40][..], [Edge::Wall; 3], 0.3),
            (&[40][..], [Edge::Periodic; 3], -0.3),
            (&[31, 24][..], ring, 0.2),
            (&[31, 2][..], [Edge::Wall; 3], 0.2),
            (&[13, 14, 15][..], ring, 0.1),
        ] {
            let grid = Grid::new(size, 0.5).with_edges(edges, 0);
            let mut noise = Noise::new(1);
            let mut random = || 0.5 * noise.signed();
            let quantum = Quantum {
                hopping: 1.0,
                ..Quantum::default()
            };
            let currents = Currents::of(&quantum, &Medium::new(grid.clone(), Vec::new()));
            let mut field =
                || FieldData::Complex128((0..grid.sites()).map(|_| Complex64::new(random(), random())).collect());
            let fields = [field(), field()];
            for n in 0..200 {
                let mut from = [0.0; 3];
                for (axis, from) in from.iter_mut().enumerate().take(grid.rank()) {
                    let last = (grid.size()[axis] - 1) as f64 * 0.5;
                    // The ends themselves, and on a ring places that have gone round.
                    let share = if n < 20 { f64::from(n % 3) / 2.0 } else { random() + 0.5 };
                    *from = share * last
                        + if grid.is_periodic(axis) {
                            f64::from(n % 5 - 2) * (last + 0.5)
                        } else {
                            0.0
                        };
                }
                let sites = around(&currents, time_step, from, 1);
                let part = |field: &FieldData| {
                    let inside = (0..grid.sites()).filter(|index| sites.index(&grid, grid.site(*index)).is_some());
                    let mut values = vec![Complex64::ZERO; sites.sites()];
                    for index in inside {
                        values[sites.index(&grid, grid.site(index)).unwrap_or(0)] = field.at(index);
                    }
                    FieldData::Complex128(values)
                };
                let parts = fields.each_ref().map(part);
                let [first, second] = parts.each_ref().map(|values| PsiInBox { sites, values });
                let whole = step(&currents, [&fields[0], &fields[1]], time_step, from);
                let boxed = step(&currents, [&first, &second], time_step, from);
                assert_eq!(
                    whole.map(f64::to_bits),
                    boxed.map(f64::to_bits),
                    "{size:?} from {from:?}"
                );
                let furthest = reach(&currents, time_step) * 0.5 + 1e-9;
                assert!(
                    (0..3).all(|axis| (whole[axis] - from[axis]).abs() <= furthest),
                    "{whole:?} from {from:?}"
                );
            }
        }
    }
}

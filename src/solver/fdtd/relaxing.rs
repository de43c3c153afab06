//! Memories of walls and media beside the steps ([`crate::solver::acoustic::relaxation`]): their contribution to pⁿ⁺¹ is known before a step and is added in it like a source, and
//! they follow the pressure after it. Such runs go step by step; the kernels do not handle memories.
//!
//! Layout: q and d of the faces, then of each relaxation site after site, x fastest.

use super::events::Played;
use super::lattice::Lattice;
use super::material::Material;
use crate::field::Real;
use crate::scene::Scenario;
use crate::solver::SolverError;
use crate::solver::acoustic::impedance::Damping;
use crate::solver::acoustic::medium::{allocate, constants};
use crate::solver::acoustic::relaxation::{attenuates, attenuation_row, bulk, faces, relaxes};
use rayon::prelude::*;

/// All memories of a run.
pub(super) struct Relaxing<T> {
    faces: Vec<Face<T>>,
    /// Relaxations of the medium; empty where it has none.
    bulk: Vec<Bulk<T>>,
    /// dB/m · c∞ over 1 + γΔt of every site, x fastest; 0 in walls.
    shares: Vec<T>,
    /// q of all memories.
    pub(super) memory: Vec<T>,
    /// What q changed by in the last step.
    pub(super) change: Vec<T>,
}

struct Face<T> {
    /// Row and place in it.
    at: (u32, u32),
    /// Place in a level.
    place: usize,
    alpha: T,
    beta: T,
    /// −ΔγΔt(1 + α)/(1 + γΔt).
    gain: T,
}

struct Bulk<T> {
    alpha: T,
    beta: T,
    /// −ΔγΔt(1 + α) of a share of 1.
    gain: T,
}

impl<T: Real> Relaxing<T> {
    /// Those of a scene, in equilibrium with no pressure; `None` where nothing relaxes.
    ///
    /// # Errors
    /// [`SolverError::OutOfMemory`].
    pub(super) fn new(
        scenario: &Scenario,
        lattice: &Lattice,
        walls: &[bool],
        material: &Material<T>,
        time_step: f64,
    ) -> Result<Option<Self>, SolverError> {
        if !relaxes(scenario) {
            return Ok(None);
        }
        let mut new = Self {
            faces: face_memories(scenario, lattice, walls, material, time_step),
            bulk: Vec::new(),
            shares: Vec::new(),
            memory: Vec::new(),
            change: Vec::new(),
        };
        let (nx, ny) = (lattice.size[0], lattice.size[1]);
        if attenuates(scenario) {
            new.bulk = bulk(scenario, time_step)
                .iter()
                .map(|own| Bulk {
                    alpha: T::of(own.pole.alpha),
                    beta: T::of(own.pole.beta),
                    gain: T::of(own.rate * time_step * (1.0 + own.pole.alpha)),
                })
                .collect();
            new.shares = allocate(nx * lattice.rows(), "the attenuation")?;
            let mut values = vec![0.0; nx];
            for (row, shares) in new.shares.chunks_exact_mut(nx).enumerate() {
                attenuation_row(scenario, [row % ny, row / ny], &mut values);
                let damping = material.damping(lattice, row);
                for (x, (share, value)) in shares.iter_mut().zip(&values).enumerate() {
                    let wall = walls.get(row * nx + x).copied().unwrap_or(false);
                    let damped = damping.map_or(0.0, |rates| rates[x].wide());
                    *share = T::of(if wall { 0.0 } else { value / (1.0 + damped) });
                }
            }
        }
        let count = new.faces.len() + new.bulk.len() * new.shares.len();
        new.memory = allocate(count, "what walls and media remember")?;
        new.change = allocate(count, "what walls and media remember")?;
        Ok(Some(new))
    }

    /// Numbers held, as bytes.
    pub(super) fn bytes(&self) -> u64 {
        let values = self.shares.len() + self.memory.len() + self.change.len();
        (values * size_of::<T>() + self.faces.len() * size_of::<Face<T>>()) as u64
    }

    /// Sets walls at rest: nothing has flowed into them before t = 0 ([`super::walls_at_start`]).
    pub(super) fn rest_walls(&mut self) {
        self.memory[..self.faces.len()].fill(T::zero());
    }

    /// Sets everything in equilibrium half a step ago: with the mean of two levels the memories keep their own equation.
    pub(super) fn settle(&mut self, lattice: &Lattice, now: &[T], old: &[T]) {
        let half = T::of(0.5);
        self.change.fill(T::zero());
        let (faces, bulk) = self.memory.split_at_mut(self.faces.len());
        for (memory, face) in faces.iter_mut().zip(&self.faces) {
            *memory = half * (now[face.place] + old[face.place]);
        }
        let nx = lattice.size[0];
        if !self.shares.is_empty() {
            for one in bulk.chunks_exact_mut(self.shares.len()) {
                for (row, memory) in one.chunks_exact_mut(nx).enumerate() {
                    let levels = lattice.row(now, row).iter().zip(lattice.row(old, row));
                    for (memory, (now, old)) in memory.iter_mut().zip(levels) {
                        *memory = half * (*now + *old);
                    }
                }
            }
        }
    }

    /// Takes over the values of another one with the same memories.
    pub(super) fn take_over(&mut self, other: Self) -> bool {
        let place = |all: &Self| all.faces.iter().map(|face| face.place).collect::<Vec<_>>();
        let same = other.memory.len() == self.memory.len() && place(self) == place(&other);
        if same {
            (self.memory, self.change) = (other.memory, other.change);
        }
        same
    }

    /// Another Δt: what a memory changes by in a step, by their ratio.
    pub(super) fn scale(&mut self, ratio: f64) {
        let ratio = T::of(ratio);
        self.change.iter_mut().for_each(|change| *change *= ratio);
    }

    /// Adds the contribution of the memories to the next step, times `weight`.
    pub(super) fn join(&self, nx: usize, weight: T, played: &mut Played<T>) {
        let (faces, bulk) = self.change.split_at(self.faces.len());
        let sent = |(face, change): (&Face<T>, &T)| (face.at.0, face.at.1, weight * face.gain * *change);
        played.add(self.faces.iter().zip(faces).map(sent));
        if self.shares.is_empty() {
            return;
        }
        let mut everywhere = vec![T::zero(); self.shares.len()];
        let sites = self.shares.len();
        everywhere.par_chunks_exact_mut(nx).enumerate().for_each(|(row, out)| {
            let span = row * nx..(row + 1) * nx;
            for (own, change) in self.bulk.iter().zip(bulk.chunks_exact(sites)) {
                let gain = weight * own.gain;
                for (out, change) in out.iter_mut().zip(&change[span.clone()]) {
                    *out += gain * *change;
                }
            }
            for (out, share) in out.iter_mut().zip(&self.shares[span]) {
                *out *= *share;
            }
        });
        played.everywhere = everywhere;
    }

    /// Lets the memories follow a step from `old` to `now`.
    pub(super) fn follow(&mut self, lattice: &Lattice, now: &[T], old: &[T]) {
        let count = self.faces.len();
        let (faces, bulk) = self.memory.split_at_mut(count);
        let (face_changes, bulk_changes) = self.change.split_at_mut(count);
        for ((memory, change), face) in faces.iter_mut().zip(face_changes).zip(&self.faces) {
            *change = (face.alpha - T::one()) * *memory + face.beta * (now[face.place] + old[face.place]);
            *memory += *change;
        }
        let (nx, sites) = (lattice.size[0], self.shares.len().max(1));
        let pairs = bulk.chunks_exact_mut(sites).zip(bulk_changes.chunks_exact_mut(sites));
        for (own, (memory, changes)) in self.bulk.iter().zip(pairs) {
            let (decay, beta) = (own.alpha - T::one(), own.beta);
            let rows = memory.par_chunks_exact_mut(nx).zip(changes.par_chunks_exact_mut(nx));
            rows.enumerate().for_each(|(row, (memory, changes))| {
                let levels = lattice.row(now, row).iter().zip(lattice.row(old, row));
                for ((memory, change), (now, old)) in memory.iter_mut().zip(changes).zip(levels) {
                    *change = decay * *memory + beta * (*now + *old);
                    *memory += *change;
                }
            });
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a grid has far fewer than 2^32 rows")]
fn face_memories<T: Real>(
    scenario: &Scenario,
    lattice: &Lattice,
    walls: &[bool],
    material: &Material<T>,
    time_step: f64,
) -> Vec<Face<T>> {
    let speed = constants(scenario).map_or(0.0, |acoustic| acoustic.speed);
    let Some(damping) = Damping::of(scenario, walls, (speed, time_step)).filter(|_| scenario.medium().has_poles())
    else {
        return Vec::new();
    };
    let ny = lattice.size[1];
    let of_row = |row: usize| {
        let rates = material.damping(lattice, row);
        let first = lattice.sites(row).start;
        let own = faces(&damping, row % ny, row / ny).into_iter();
        own.map(move |face| {
            let damped = rates.map_or(0.0, |rates| rates[face.x].wide());
            Face {
                at: (row as u32, face.x as u32),
                place: first + face.x,
                alpha: T::of(face.pole.alpha),
                beta: T::of(face.pole.beta),
                gain: T::of(-face.rate * time_step * (1.0 + face.pole.alpha) / (1.0 + damped)),
            }
        })
    };
    (0..lattice.rows()).flat_map(of_row).collect()
}

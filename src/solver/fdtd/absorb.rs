//! What the absorbing layers add to a step ([`super::cpml`]).

use super::cpml::{Layer, Shape};
use super::lattice::{Ghost, ghost};
use super::share::View;
use super::stage::Memory;
use super::stencil::{COEFFICIENTS, STAGGERED};
use super::sweep::Sweep;
use crate::field::Real;
use rayon::prelude::*;
use std::ops::Range;

/// Most sites that a stencil reads along one axis.
const REACH: usize = 9;

/// The rows that stand −h … h sites along one axis from a row; along x, the row itself shifted.
type Lines<'a, T> = [&'a [T]; REACH];

impl<T: Real> Sweep<T> {
    fn lines<'a>(&self, all: View<'a, T>, axis: usize, j: usize, k: usize) -> Lines<'a, T> {
        let lattice = &self.lattice;
        let (nx, half) = (lattice.size[0], lattice.half);
        let row = j + lattice.size[1] * k;
        std::array::from_fn(|place| {
            if place > 2 * half {
                return all.slice(lattice.sites(row));
            }
            if axis == 0 {
                return &all.slice(lattice.span(row))[place..place + nx];
            }
            match lattice.neighbour_row(j, k, axis, place.cast_signed() - half.cast_signed()) {
                Ghost::Same(other) | Ghost::Negative(other) => all.slice(lattice.sites(other)),
                Ghost::Zero => all.slice(lattice.sites(row)),
            }
        })
    }

    /// Whether a wall stands `offset` sites along an axis.
    fn is_wall(&self, [i, j, k]: [usize; 3], axis: usize, offset: isize) -> bool {
        let lattice = &self.lattice;
        let [nx, ny, _] = lattice.size;
        let mut site = [i, j, k];
        match ghost(
            lattice.edges[axis],
            lattice.size[axis],
            site[axis].cast_signed() + offset,
        ) {
            Ghost::Same(at) | Ghost::Negative(at) => {
                site[axis] = at;
                self.mask[site[0] + nx * (site[1] + ny * site[2])]
            }
            Ghost::Zero => false,
        }
    }

    /// The largest order that fits between walls: the scheme's, 2 near a wall, or none at the wall itself.
    fn half_between(&self, site: [usize; 3], axis: usize, from: isize, to: isize) -> usize {
        let half = self.lattice.half;
        if self.mask.is_empty() || !(from..=to).any(|offset| self.is_wall(site, axis, offset)) {
            half
        } else {
            1
        }
    }

    /// g of the face above site `i` of a row: first difference, 1/ρ included where it varies, 0 at a wall.
    fn face_flux(&self, p: &Lines<'_, T>, rho: Option<&Lines<'_, T>>, site: [usize; 3], axis: usize) -> T {
        let (half, i) = (self.lattice.half, site[0]);
        if let Some(rho) = rho {
            let difference = p[half + 1][i] - p[half][i];
            return (difference + difference) / (rho[half][i] + rho[half + 1][i]);
        }
        let reach = half.cast_signed();
        let fitting = self.half_between(site, axis, 1 - reach, reach);
        if !self.mask.is_empty() && (self.is_wall(site, axis, 0) || self.is_wall(site, axis, 1)) {
            return T::zero();
        }
        let mut sum = T::zero();
        for m in 1..=fitting {
            sum += T::of(STAGGERED[fitting][m - 1]) * (p[half + m][i] - p[half + 1 - m][i]);
        }
        sum
    }

    /// Lp of one axis.
    fn axis_change(&self, p: &Lines<'_, T>, rho: Option<&Lines<'_, T>>, site: [usize; 3], axis: usize) -> T {
        let (half, i) = (self.lattice.half, site[0]);
        let here = p[half][i];
        if let Some(rho) = rho {
            let face = |n: usize| (p[n][i] - here) / (rho[n][i] + rho[half][i]);
            let sum = face(half - 1) + face(half + 1);
            return sum + sum;
        }
        let reach = half.cast_signed();
        let fitting = self.half_between(site, axis, -reach, reach);
        if fitting < half || (half == 1 && !self.mask.is_empty()) {
            let open = |offset| !self.is_wall(site, axis, 0) && !self.is_wall(site, axis, offset);
            let up = if open(1) { p[half + 1][i] - here } else { T::zero() };
            let down = if open(-1) { p[half - 1][i] - here } else { T::zero() };
            return up + down;
        }
        let mut sum = T::zero();
        for k in 1..=half {
            sum += T::of(COEFFICIENTS[half][k]) * ((p[half - k][i] + p[half + k][i]) - (here + here));
        }
        sum
    }

    /// ψ ← Aψ + Bg on the faces of a layer across y or z; along x this is done with the rest of the row.
    pub(super) fn update_flux_memory(&self, now: View<'_, T>, layer: &mut Layer<T>) {
        let Layer { shape, psi, .. } = layer;
        if shape.axis == 0 {
            return;
        }
        let [nx, ny, _] = self.lattice.size;
        let slots = shape.slots();
        psi.par_chunks_mut(nx).enumerate().for_each(|(place, psi)| {
            let (slot, beside) = if shape.axis == 1 {
                (place % slots, place / slots)
            } else {
                (place / ny, place % ny)
            };
            self.update_flux_row(now, shape, slot, beside, psi);
        });
    }

    /// ψ ← Aψ + Bg on one row of faces across y or z; `beside` is its place along the other of these axes.
    pub(super) fn update_flux_row(
        &self,
        now: View<'_, T>,
        shape: &Shape<T>,
        slot: usize,
        beside: usize,
        psi: &mut [T],
    ) {
        let (axis, face) = (shape.axis, shape.face_site(slot));
        let [j, k] = if axis == 1 { [face, beside] } else { [beside, face] };
        let p = self.lines(now, axis, j, k);
        let rho = self.density_lines(axis, j, k);
        let [a, b] = shape.face(slot);
        for (i, psi) in psi.iter_mut().enumerate() {
            *psi = a * *psi + b * self.face_flux(&p, rho.as_ref(), [i, j, k], axis);
        }
    }

    /// Where the values of a slot lie for a row of sites across y or z; `beside` as in [`Self::update_flux_row`].
    pub(super) fn slot_range(&self, shape: &Shape<T>, slot: usize, beside: usize) -> Range<usize> {
        let [nx, ny, _] = self.lattice.size;
        let place = if shape.axis == 1 {
            beside * shape.slots() + slot
        } else {
            slot * ny + beside
        };
        place * nx..(place + 1) * nx
    }

    fn density_lines(&self, axis: usize, j: usize, k: usize) -> Option<Lines<'_, T>> {
        (!self.material.density.is_empty()).then(|| self.lines(View::of(&self.material.density), axis, j, k))
    }

    /// Adds square · (Dψ + ζ) of one axis to a row. `change` is scratch as long as a row.
    pub(super) fn absorb(
        &self,
        now: View<'_, T>,
        sites: &mut [T],
        [j, k]: [usize; 2],
        memory: &Memory<'_, T>,
        square: impl Fn(usize) -> T,
        change: &mut [T],
    ) {
        let Memory {
            shape: layer,
            psi,
            zeta,
        } = memory;
        let ny = self.lattice.size[1];
        let (half, slots, axis) = (self.lattice.half, layer.slots(), layer.axis);
        if axis == 0 {
            let range = (j + ny * k) * slots..(j + ny * k + 1) * slots;
            #[allow(unsafe_code, reason = "see `Shared`")]
            // SAFETY: the slots of a row belong to the task that steps the row.
            let (psi, zeta) = unsafe { (psi.slice(range.clone()), zeta.slice(range)) };
            self.absorb_along_row(now, sites, [j, k], layer, psi, zeta, square);
            return;
        }
        let (at, beside) = if axis == 1 { (j, k) } else { (k, j) };
        if !layer.touches(at, half) {
            return;
        }
        let range = |slot: usize| self.slot_range(layer, slot, beside);
        change.fill(T::zero());
        for m in 1..=half {
            let weight = T::of(STAGGERED[half][m - 1]);
            let faces = [at + m - 1, at.wrapping_sub(m)].map(usize::cast_signed);
            for (face, weight) in faces.into_iter().zip([weight, -weight]) {
                let Some((slot, odd)) = layer.mirrored_face(face) else {
                    continue;
                };
                let weight = if odd { -weight } else { weight };
                #[allow(unsafe_code, reason = "see `Shared`")]
                // SAFETY: these ψ are written before the rows that read them are stepped, and again only after.
                let psi = unsafe { &*psi.slice(range(slot)) };
                for (change, psi) in change.iter_mut().zip(psi) {
                    *change += weight * *psi;
                }
            }
        }
        if let Some(slot) = layer.cell_slot(at) {
            #[allow(unsafe_code, reason = "see `Shared`")]
            // SAFETY: ζ of a slot belongs to the one row that stands in it.
            let zeta = unsafe { zeta.slice(range(slot)) };
            let [a, b] = layer.cell(slot);
            let p = self.lines(now, axis, j, k);
            let rho = self.density_lines(axis, j, k);
            for (i, (zeta, change)) in zeta.iter_mut().zip(&mut *change).enumerate() {
                let u = *change + self.axis_change(&p, rho.as_ref(), [i, j, k], axis);
                *zeta = a * *zeta + b * u;
                *change += *zeta;
            }
        }
        for (i, (site, change)) in sites.iter_mut().zip(&*change).enumerate() {
            *site += square(i) * *change;
        }
    }

    /// As [`Self::absorb`] for the layers at the two ends of a row.
    #[expect(clippy::too_many_arguments, reason = "one call site")]
    fn absorb_along_row(
        &self,
        now: View<'_, T>,
        sites: &mut [T],
        [j, k]: [usize; 2],
        layer: &Shape<T>,
        psi: &mut [T],
        zeta: &mut [T],
        square: impl Fn(usize) -> T,
    ) {
        let (nx, half) = (self.lattice.size[0], self.lattice.half);
        let p = self.lines(now, 0, j, k);
        let rho = self.density_lines(0, j, k);
        for (slot, psi) in psi.iter_mut().enumerate() {
            let [a, b] = layer.face(slot);
            *psi = a * *psi + b * self.face_flux(&p, rho.as_ref(), [layer.face_site(slot), j, k], 0);
        }
        let memory = |face: usize| match layer.mirrored_face(face.cast_signed()) {
            Some((slot, true)) => -psi[slot],
            Some((slot, false)) => psi[slot],
            None => T::zero(),
        };
        let end = (layer.slots() / 2 + half).min(nx);
        for i in (0..end).chain((nx - end).max(end)..nx) {
            let mut change = T::zero();
            for m in 1..=half {
                change += T::of(STAGGERED[half][m - 1]) * (memory(i + m - 1) - memory(i.wrapping_sub(m)));
            }
            if let Some(slot) = layer.cell_slot(i) {
                let [a, b] = layer.cell(slot);
                let u = change + self.axis_change(&p, rho.as_ref(), [i, j, k], 0);
                zeta[slot] = a * zeta[slot] + b * u;
                change += zeta[slot];
            }
            sites[i] += square(i) * change;
        }
    }

    /// Sets ζ to what two levels that come from elsewhere need, so that their difference does not go on as a drift in the layers. Where layers
    /// of several axes overlap the first takes all of it.
    pub fn settle(&self, now: &[T], old: &[T], layers: &mut [Layer<T>]) {
        let [nx, ny, nz] = self.lattice.size;
        if layers.is_empty() {
            return;
        }
        for layer in layers.iter_mut() {
            layer.zeta.fill(T::zero());
        }
        for k in 0..nz {
            for j in 0..ny {
                let row = j + ny * k;
                let (p, q) = (self.lattice.row(now, row), self.lattice.row(old, row));
                for i in 0..nx {
                    let site = [i, j, k];
                    let Some(layer) = layers
                        .iter_mut()
                        .find(|layer| layer.shape.cell_slot(site[layer.shape.axis]).is_some())
                    else {
                        continue;
                    };
                    let Some(slot) = layer.shape.cell_slot(site[layer.shape.axis]) else {
                        continue;
                    };
                    let square = if self.material.squares.is_empty() {
                        self.material.square
                    } else {
                        self.material.squares[self.lattice.index(site)]
                    };
                    if square > T::zero() {
                        let [a, b] = layer.shape.cell(slot);
                        let place = match layer.shape.axis {
                            0 => row * layer.shape.slots() + slot,
                            1 => (k * layer.shape.slots() + slot) * nx + i,
                            _ => (slot * ny + j) * nx + i,
                        };
                        layer.zeta[place] = b / a * (p[i] - q[i]) / square;
                    }
                }
            }
        }
    }
}

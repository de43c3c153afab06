//! What makes ψ of φ on the adapter, and the energies of sites for sums: planes of numbers that the host computes from the medium in double precision, and that stay on the
//! adapter until medium, Δt or drives are others. 8 and 4 bytes a site, from the first picture or sum on that needs them.

use crate::backend::wgpu::{Buffer, Stream, WgpuError};
use crate::field::Real;
use crate::grid::Grid;
use crate::solver::trotter::media::Media;
use crate::solver::trotter::run::HalfPhase;
use bytemuck::Pod;
use num_complex::Complex;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// What the numbers of a plane depend on.
#[derive(Clone, Debug, PartialEq)]
struct Made {
    /// Of the medium, and what is the same at all times.
    steady: (u64, [f64; 2]),
    drives: Vec<f64>,
}

/// A plane, once it was asked for.
#[derive(Default)]
struct Plane(Mutex<Option<(Made, Buffer)>>);

impl Plane {
    /// The plane for what is asked; `fill` writes a row of it. Where only drives are others, rows from the first that is driven to the last are written.
    fn of<V: Pod + Default + Send>(
        &self,
        (stream, what): (&Stream, &str),
        (grid, media): (&Grid, &Media<f32>),
        asked: Made,
        fill: impl Fn(usize, &mut [V]) + Sync,
    ) -> Result<Buffer, WgpuError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (nx, all) = (grid.size()[0], 0..grid.rows());
        let (rows, buffer) = match kept.take() {
            Some((made, buffer)) if made == asked => (0..0, buffer),
            Some((made, buffer)) if made.steady == asked.steady => {
                let driven = |row: &usize| media.row_is_driven(*row);
                let first = all.clone().find(driven).unwrap_or(all.end);
                let last = all.clone().rfind(driven).map_or(first, |last| last + 1);
                (first..last, buffer)
            }
            Some((_, buffer)) => (all, buffer),
            None => (all, stream.zeros::<V>(what, grid.sites())?),
        };
        if !rows.is_empty() {
            let mut values = vec![V::default(); rows.len() * nx];
            (values.par_chunks_mut(nx).enumerate()).for_each(|(n, values)| fill(rows.start + n, values));
            stream.upload(what, &values, &buffer, rows.start * nx)?;
        }
        *kept = Some((asked, buffer.clone()));
        Ok(buffer)
    }

    fn bytes(&self) -> u64 {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().map_or(0, |(_, buffer)| buffer.bytes())
    }
}

/// The planes of a run.
#[derive(Default)]
pub(super) struct Planes {
    factors: Plane,
    energies: Plane,
}

impl Planes {
    /// What φ is multiplied with at every site, without the interaction's phase; 0 on walls.
    pub(super) fn factors(
        &self,
        stream: &Stream,
        (grid, media): (&Grid, &Media<f32>),
        closing: &HalfPhase,
    ) -> Result<Buffer, WgpuError> {
        let exponent = &closing.exponent;
        let asked = Made {
            steady: (media.number(), [exponent.energy, exponent.damping]),
            drives: exponent.driven.clone(),
        };
        let fill = |row: usize, out: &mut [Complex<f32>]| media.factors(row, 0, exponent, None, &[], out);
        self.factors.of((stream, "closing phases"), (grid, media), asked, fill)
    }

    /// The diagonal of H at every site with these drives, without interaction, less J for each of its bonds.
    pub(super) fn energies(
        &self,
        stream: &Stream,
        (grid, media): (&Grid, &Media<f32>),
        (hopping, drives): (f64, &[f64]),
    ) -> Result<Buffer, WgpuError> {
        let asked = Made {
            steady: (media.number(), [hopping, 0.0]),
            drives: drives.to_vec(),
        };
        let [nx, ny, _] = grid.size();
        let bonds = |axis: usize, at: usize| -> f64 {
            let there = |is: bool| {
                if axis < grid.rank() && (is || grid.is_periodic(axis)) {
                    1.0
                } else {
                    0.0
                }
            };
            there(at > 0) + there(at + 1 < grid.size()[axis])
        };
        let fill = |row: usize, out: &mut [f32]| {
            let beside = bonds(1, row % ny) + bonds(2, row / ny);
            for (x, out) in out.iter_mut().enumerate() {
                let site = row * nx + x;
                let driven = media.driven.iter().zip(drives);
                let driven: f64 = driven.map(|((_, part), drive)| drive * part[site].wide()).sum();
                *out = f32::of(media.energy[site].wide() + driven - hopping * (bonds(0, x) + beside));
            }
        };
        self.energies.of((stream, "energies"), (grid, media), asked, fill)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        self.factors.bytes() + self.energies.bytes()
    }
}

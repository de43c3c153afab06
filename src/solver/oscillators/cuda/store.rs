//! The memory of a run on the device beside its field.
//!
//! Planes are `pitch` × ny numbers, x fastest; coefficients of bonds have a row more before the first, and the last place of a row, which no site has, belongs
//! to the bond before the next row's first site: ends are bonds to phantoms (`kernels/oscillators.cuh`).

use super::super::layout::Layout;
use super::super::run::Oscillators;
use super::super::springs::{Masses, Row, Table};
use super::params;
use super::sources;
use crate::backend::cuda::{Buffer, CudaError, Stream};
use crate::grid::Edge;
use crate::solver::device::OnCuda;
use crate::solver::device::rows::{address, push_rows};

/// Numbers from row to row: one more than there are sites at least.
pub(super) fn pitch(nx: usize) -> usize {
    (nx + 1).next_multiple_of(32)
}

/// The medium on the device.
pub(super) struct Medium<T: OnCuda> {
    /// Per length of sub-step.
    tables: Vec<Coefficients<T>>,
    damping: Option<Buffer<T>>,
    /// Masses, and stiffnesses along x and y; none where they are the same everywhere.
    masses: Option<[Buffer<T>; 3]>,
    stiffness: f64,
    soft: [i32; 2],
    modulus: f64,
    pitch: usize,
}

struct Coefficients<T: OnCuda> {
    /// Along each axis; empty where they are the same everywhere.
    each: Vec<[Buffer<T>; 4]>,
    /// As the kernels take it, without addresses.
    springs: params::Springs<T>,
}

/// A plane of bonds: `value(i, j)` for −1 ≤ i < nx and 0 ≤ j < ny along x (axis 0), 0 ≤ i and −1 ≤ j along y.
fn bonds<T: OnCuda>(
    stream: &Stream,
    layout: &Layout,
    pitch: usize,
    axis: usize,
    value: impl Fn(Option<usize>, Option<usize>) -> T + Sync,
) -> Result<Buffer<T>, CudaError> {
    let [nx, ny] = layout.size;
    let what = "coefficients of bonds";
    let buffer = stream.zeros(what, pitch * (ny + 1))?;
    push_rows(stream, what, [pitch, ny + 1, pitch], &buffer, 0, |row, out| {
        out.fill(T::zero());
        let j = row.checked_sub(1);
        if j.is_some() || axis == 1 {
            for (i, out) in out[..nx].iter_mut().enumerate() {
                *out = value(Some(i), j);
            }
        }
        if axis == 0 && row < ny {
            out[pitch - 1] = value(None, Some(row));
        }
    })?;
    Ok(buffer)
}

/// Coefficient `n` of κ, A, B, C of the bond from a site along an axis; `None` is the phantom before the first.
fn coefficient<T: OnCuda>(table: &Table<T>, layout: &Layout, axis: usize, n: usize, at: [Option<usize>; 2]) -> T {
    let last = layout.size[axis] - 1;
    let ring = layout.periodic[axis];
    let inside = |at: [usize; 2]| table.each[axis][n][layout.index(at[0], at[1])];
    // At ends the phantom is the first of the pair, or the second.
    let end = |high: usize, along: usize| {
        let [k, a] = if axis == 0 {
            table.ends[high][along]
        } else {
            let column = layout.column(along);
            [0, 1].map(|n| table.rims[high][n][column])
        };
        match (n, high) {
            (0, _) => k,
            (1, 1) | (3, 0) => a,
            _ => T::zero(),
        }
    };
    let along = at[1 - axis].unwrap_or(0);
    match at[axis] {
        None if ring => {
            let mut site = [along; 2];
            site[axis] = last;
            inside(site)
        }
        None => end(0, along),
        Some(here) if here == last && !ring => end(1, along),
        Some(here) => {
            let mut site = [along; 2];
            site[axis] = here;
            inside(site)
        }
    }
}

impl<T: OnCuda> Coefficients<T> {
    fn new(stream: &Stream, layout: &Layout, pitch: usize, table: &Table<T>, uniform: bool) -> Result<Self, CudaError> {
        let mut each = Vec::new();
        if !uniform {
            for axis in 0..layout.rank {
                let plane = |n| {
                    bonds(stream, layout, pitch, axis, |i, j| {
                        coefficient(table, layout, axis, n, [i, j])
                    })
                };
                each.push([plane(0)?, plane(1)?, plane(2)?, plane(3)?]);
            }
        }
        let rim = |high: usize| [0, 1].map(|n| table.rims[high][n][layout.column(0)]);
        Ok(Self {
            each,
            springs: params::Springs {
                each: [[0; 4]; 2],
                same: table.same,
                ends: [[table.ends[0][0], table.ends[1][0]], [rim(0), rim(1)]],
                damping: 0,
            },
        })
    }
}

/// Masses, and stiffnesses of the bonds along x and y.
fn masses<T: OnCuda>(
    stream: &Stream,
    masses: &Masses,
    layout: &Layout,
    pitch: usize,
) -> Result<[Buffer<T>; 3], CudaError> {
    let [nx, ny] = layout.size;
    let mass = stream.zeros("masses", pitch * ny)?;
    push_rows(stream, "masses", [nx, ny, pitch], &mass, 0, |j, out| {
        let mut row = Row::default();
        masses.row(j, &mut row);
        for (out, mass) in out.iter_mut().zip(&row.mass) {
            *out = T::of(*mass);
        }
    })?;
    let plane = |axis: usize| -> Result<Buffer<T>, CudaError> {
        let buffer = stream.zeros("stiffnesses", pitch * (ny + 1))?;
        if axis >= layout.rank {
            return Ok(buffer);
        }
        push_rows(
            stream,
            "stiffnesses",
            [pitch, ny + 1, pitch],
            &buffer,
            0,
            |place, out| {
                out.fill(T::zero());
                let mut row = Row::default();
                if axis == 0 {
                    if place > 0 {
                        masses.row(place - 1, &mut row);
                        row.x[nx - 1] += row.soft[1][nx - 1];
                        write(out, &row.x);
                    }
                    if place < ny {
                        masses.row(place, &mut row);
                        let ring = if layout.periodic[0] { row.x[nx - 1] } else { 0.0 };
                        out[pitch - 1] = T::of(row.soft[0][0] + ring);
                    }
                } else if place == 0 {
                    let before = if layout.periodic[1] { ny - 1 } else { 0 };
                    masses.row(before, &mut row);
                    write(out, if layout.periodic[1] { &row.y } else { &row.soft[2] });
                } else {
                    masses.row(place - 1, &mut row);
                    for (y, soft) in row.y.iter_mut().zip(&row.soft[3]) {
                        *y += soft;
                    }
                    write(out, &row.y);
                }
            },
        )?;
        Ok(buffer)
    };
    Ok([mass, plane(0)?, plane(1)?])
}

fn write<T: OnCuda>(out: &mut [T], values: &[f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = T::of(*value);
    }
}

impl<T: OnCuda> Medium<T> {
    /// The medium that `host` has read.
    pub(super) fn new(stream: &Stream, host: &Oscillators<T>) -> Result<Self, CudaError> {
        let layout = &host.springs.layout;
        let [nx, ny] = layout.size;
        let pitch = pitch(nx);
        let uniform = host.masses.uniform;
        let tables = (host.springs.tables.iter())
            .map(|table| Coefficients::new(stream, layout, pitch, table, uniform))
            .collect::<Result<Vec<_>, _>>()?;
        let damping = if host.damping.factor(layout.row(0)).is_some() {
            let buffer = stream.zeros("the damping", pitch * ny)?;
            push_rows(stream, "the damping", [nx, ny, pitch], &buffer, 0, |j, out| {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = host.damping.factor(layout.index(i, j)).unwrap_or(T::one());
                }
            })?;
            Some(buffer)
        } else {
            None
        };
        let grid = host.scenario.grid();
        Ok(Self {
            tables,
            damping,
            masses: if uniform {
                None
            } else {
                Some(masses(stream, &host.masses, layout, pitch)?)
            },
            stiffness: host.masses.stiffness(),
            soft: [0, 1].map(|axis| i32::from(grid.edges()[axis] == Edge::Soft)),
            modulus: host.masses.modulus(),
            pitch,
        })
    }

    /// Which kernels it needs.
    pub(super) fn kind(&self) -> sources::Medium {
        match (&self.masses, &self.damping) {
            (Some(_), _) => sources::Medium::Sites,
            (None, Some(_)) => sources::Medium::Damped,
            (None, None) => sources::Medium::Uniform,
        }
    }

    /// Whether momenta are damped.
    pub(super) fn damping(&self) -> Option<&Buffer<T>> {
        self.damping.as_ref()
    }

    /// The place of the first site of a plane of bonds.
    fn origin(&self, bonds: &Buffer<T>) -> u64 {
        bonds.address() + (self.pitch * size_of::<T>()) as u64
    }

    /// Coefficients of sub-steps of length number `length`, as the kernels take them.
    pub(super) fn springs(&self, length: usize) -> params::Springs<T> {
        let table = &self.tables[length];
        let mut springs = table.springs;
        for (to, from) in springs.each.iter_mut().zip(&table.each) {
            *to = [0, 1, 2, 3].map(|n: usize| self.origin(&from[n]));
        }
        springs.damping = address(self.damping.as_ref());
        springs
    }

    /// The arguments of sums and pictures.
    pub(super) fn look(&self, look: params::Look) -> params::Look {
        let (mass, stiffnesses) = match &self.masses {
            Some([mass, x, y]) => (mass.address(), [self.origin(x), self.origin(y)]),
            None => (0, [0; 2]),
        };
        params::Look {
            mass,
            stiffnesses,
            stiffness: self.stiffness,
            soft: self.soft,
            modulus: self.modulus,
            ..look
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let tables = self.tables.iter().flat_map(|table| &table.each).flatten();
        let all = tables.chain(&self.damping).chain(self.masses.iter().flatten());
        all.map(Buffer::bytes).sum()
    }
}

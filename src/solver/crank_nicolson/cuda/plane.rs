//! A plane on the device (`kernels/crank_nicolson_plane.cu`): the product of Cayley factors of the processor's plane, a block of threads a few whole lines.

use super::super::hamiltonian::Step;
use super::super::plane::walls;
use super::super::thomas::Coefficients;
use super::field::{Energies, Field};
use super::on_device::{Scheme, bytes};
use super::params;
use super::shape::Shape;
use crate::backend::cuda::{Buffer, CudaError, Device, Kernel, Stream};
use crate::field::{Real, narrow};
use crate::grid::Grid;
use crate::physics::Quantum;
use crate::scene::Scenario;
use crate::solver::clock::RunClock;
use crate::solver::device::OnCuda;
use crate::solver::device::rows::{address, list};
use crate::solver::device::{unsigned, whole};
use crate::solver::quantum::kick::Kick;
use num_complex::{Complex, Complex64};

/// Threads that a block should have if lines are short.
const THREADS: usize = 256;
/// Bytes of a row that a block should take of lines that stand side by side: what memory moves at once.
const SECTOR: usize = 32;
/// Bytes that all banks of shared memory hold in one row.
const BANKS: usize = 128;
/// Numbers in front of the lines that warps exchange what they carry by.
const SLOTS: usize = 64;

/// How the lines along an axis are dealt out to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    sites: usize,
    /// Rows of a thread.
    rows: usize,
    /// Threads of a line: a power of two.
    threads: usize,
    /// Lines of a block of threads: a power of two.
    group: usize,
    /// Numbers of a line in shared memory.
    pitch: usize,
    blocks: usize,
}

impl Layout {
    /// For `count` lines of `sites` sites of `bytes` each, which stand side by side or follow each other.
    fn new(sites: usize, count: usize, shape: &Shape, bytes: usize, side_by_side: bool) -> Self {
        let rows = shape.rows;
        let threads = sites.div_ceil(rows).next_power_of_two();
        let beside = if side_by_side { SECTOR / bytes } else { 1 };
        let group = (THREADS / threads).max(beside).min(shape.threads / threads).max(1);
        let banks = BANKS / bytes;
        // Lines begin so many banks apart that threads which take a few sites of each meet different ones.
        let apart = (banks / group).max(1) % banks;
        let numbers = threads * (rows + 1);
        Self {
            sites,
            rows,
            threads,
            group,
            pitch: numbers + (banks + apart - numbers % banks) % banks,
            blocks: count.div_ceil(group),
        }
    }

    /// Bytes of shared memory for numbers of `bytes` each.
    fn shared(&self, bytes: usize) -> u32 {
        unsigned((SLOTS + 2 * self.group + self.group * self.pitch) * bytes)
    }

    /// Where a site's coefficient stands among those of its line: threads read theirs side by side.
    fn place(&self, site: usize) -> usize {
        site % self.rows * self.threads + site / self.rows
    }
}

/// q and ζ of the lines along an axis, of one line where all are alike.
struct Lines<T: OnCuda> {
    layout: Layout,
    q: Buffer<T>,
    ring: Option<Buffer<T>>,
    scale: Complex<T>,
    alike: bool,
}

/// The step of a plane.
pub(super) struct Plane<T: OnCuda> {
    grid: Grid,
    quantum: Quantum,
    imaginary: bool,
    walls: Vec<bool>,
    kick: Kick<T>,
    dt: f64,
    kernels: [Kernel; 2],
    layouts: [Layout; 2],
    /// None before a step was set.
    lines: Option<[Lines<T>; 2]>,
    factors: Option<Buffer<T>>,
    potential: Option<Buffer<T>>,
    driven: Vec<Buffer<T>>,
    /// Driven part of U: for the step that ends and the one that begins, in turn; and zeros. None without drives.
    now: Option<[Buffer<T>; 3]>,
}

/// The parts of complex numbers, interleaved.
fn parts<T: Real>(values: &[Complex<T>]) -> &[T] {
    bytemuck::cast_slice(values)
}

/// A plane of numbers, if there are any.
fn plane<T: OnCuda>(stream: &Stream, values: &[T]) -> Result<Option<Buffer<T>>, CudaError> {
    if values.is_empty() {
        return Ok(None);
    }
    list(stream, "the potential", values).map(Some)
}

impl<T: OnCuda> Plane<T> {
    /// A plane with ψ = 0.
    pub(super) fn new(
        device: &'static Device,
        scenario: &Scenario,
        quantum: Quantum,
        shapes: [Shape; 2],
    ) -> Result<(Field<T>, Self), CudaError> {
        let stream = Stream::new(device)?;
        let grid = scenario.grid().clone();
        let imaginary = scenario.time().imaginary;
        let kick = Kick::new(
            scenario.medium(),
            quantum.absorption_scale(),
            quantum.interaction,
            imaginary,
        );
        let [nx, ny, _] = grid.size();
        let bytes = size_of::<Complex<T>>();
        let layouts = [
            Layout::new(nx, ny, &shapes[0], bytes, false),
            Layout::new(ny, nx, &shapes[1], bytes, true),
        ];
        let driven: Vec<_> = kick
            .driven()
            .map(|part| list(&stream, "the potential", part))
            .collect::<Result<_, _>>()?;
        let zeros = || stream.zeros("the potential", grid.sites());
        let plane = Self {
            kernels: [
                stream.kernel(shapes[0].source, "rows", layouts[0].shared(bytes))?,
                stream.kernel(shapes[1].source, "columns", layouts[1].shared(bytes))?,
            ],
            layouts,
            potential: plane(&stream, kick.potential())?,
            now: if driven.is_empty() {
                None
            } else {
                Some([zeros()?, zeros()?, zeros()?])
            },
            driven,
            walls: walls(scenario),
            lines: None,
            factors: None,
            dt: 0.0,
            kick,
            imaginary,
            quantum,
            grid: grid.clone(),
        };
        Ok((Field::new(stream, &grid, grid.sites(), shapes[0].source)?, plane))
    }

    /// Coefficients of the lines along an axis.
    fn lines(&self, stream: &Stream, axis: usize, step: &Step, diagonal: Complex64) -> Result<Lines<T>, CudaError> {
        let layout = self.layouts[axis];
        let [nx, ny, _] = self.grid.size();
        let (closed, alike) = (self.grid.is_periodic(axis), self.walls.is_empty());
        let count = if alike { 1 } else { [ny, nx][axis] };
        let room = layout.threads * layout.rows;
        let mut q = vec![Complex::<T>::default(); count * room];
        let mut ring = if closed { q.clone() } else { Vec::new() };
        for line in 0..count {
            let at = |k: usize| if axis == 0 { line * nx + k } else { k * nx + line };
            let is_wall = |k: usize| !alike && self.walls[at(k)];
            let coefficients = Coefficients::new(step, layout.sites, closed, |k| (!is_wall(k)).then_some(diagonal));
            let fill = |to: &mut [Complex<T>], from: &[Complex64]| {
                for (k, value) in from.iter().enumerate() {
                    to[line * room + layout.place(k)] = narrow(*value);
                }
            };
            fill(&mut q, &coefficients.q);
            fill(&mut ring, coefficients.ring.as_deref().unwrap_or_default());
        }
        Ok(Lines {
            layout,
            q: list(stream, "factors of lines", parts(&q))?,
            ring: if ring.is_empty() {
                None
            } else {
                Some(list(stream, "factors of lines", parts(&ring))?)
            },
            scale: narrow(step.scale()),
            alike,
        })
    }

    /// A pass over the lines along an axis; along x the end of a step whose drives are in plane `ending`, and the beginning of one whose drives are in
    /// plane `beginning`.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn pass(
        &self,
        field: &Field<T>,
        axis: usize,
        ending: Option<usize>,
        beginning: Option<usize>,
    ) -> Result<(), CudaError> {
        let Some(lines) = self.lines.as_ref().map(|lines| &lines[axis]) else {
            return Ok(());
        };
        let Layout {
            threads,
            group,
            pitch,
            blocks,
            rows,
            ..
        } = lines.layout;
        let now = |plane: Option<usize>| match (&self.now, plane) {
            (Some(now), Some(plane)) => now[plane].address(),
            _ => 0,
        };
        let [nx, ny, _] = self.grid.size();
        debug_assert!(
            field.psi.bytes() >= 2 * nx * ny * size_of::<T>(),
            "ψ of {nx} × {ny} sites"
        );
        let mut parameters = params::Lines {
            psi: field.psi.address(),
            q: lines.q.address(),
            ring: address(lines.ring.as_ref()),
            factors: address(self.factors.as_ref()),
            ending: now(ending),
            beginning: now(beginning),
            stride: if lines.alike {
                0
            } else {
                i64::from(whole(threads * rows))
            },
            size: [whole(nx), whole(ny)],
            threads: whole(threads),
            pitch: whole(pitch),
            ends: i32::from(ending.is_some()),
            begins: i32::from(beginning.is_some()),
            imaginary: i32::from(self.imaginary),
            scale: [lines.scale.re, lines.scale.im],
            tau: T::of(self.dt / 2.0),
            strength: T::of(if self.imaginary {
                0.0
            } else {
                self.quantum.interaction * self.dt / 2.0
            }),
        };
        let (blocks, threads) = (whole(blocks).cast_unsigned(), whole(group * threads).cast_unsigned());
        // SAFETY: the parameters are those of the kernel; ψ, phases and driven parts have a number for every site, q and ζ for every row of every thread of a
        // line, or of all lines `stride` apart. It waits before it reads any of them.
        unsafe {
            let pointer = (&raw mut parameters).cast();
            field
                .stream
                .launch_early(&self.kernels[axis], blocks, threads, &mut [pointer])
        }
    }

    /// The driven part of U at a time into one of the planes.
    fn drive(&self, field: &Field<T>, time: f64, plane: usize) -> Result<(), CudaError> {
        let Some(now) = &self.now else { return Ok(()) };
        let by = self.kick.drive_values(time);
        field.drive(
            now[plane].address(),
            now[2].address(),
            &self.driven,
            &by,
            self.grid.sites(),
        )
    }
}

impl<T: OnCuda> Scheme<T> for Plane<T> {
    fn details(&self) -> String {
        let [x, y] = self.layouts;
        format!(
            "lines of {} and {} on {} and {} threads, up to {} and {} rows each",
            x.sites, y.sites, x.threads, y.threads, x.rows, y.rows
        )
    }

    fn bytes(&self) -> usize {
        let planes = self.factors.iter().chain(&self.potential).chain(&self.driven);
        let lines = self.lines.iter().flatten();
        bytes(planes.chain(self.now.iter().flatten()))
            + bytes(lines.flat_map(|lines| lines.ring.iter().chain([&lines.q])))
    }

    fn set_step(&mut self, field: &Field<T>, dt: f64) -> Result<(), CudaError> {
        self.dt = dt;
        self.kick.set_steps(&[dt / 2.0], true);
        let factors = parts(self.kick.factors(0));
        match &self.factors {
            Some(buffer) => field.stream.upload("the potential", factors, buffer)?,
            None => self.factors = plane(&field.stream, factors)?,
        }
        let [x, y] = Step::of_plane(dt, &self.quantum, self.imaginary);
        let stream = &field.stream;
        self.lines = Some([self.lines(stream, 0, &x.0, x.1)?, self.lines(stream, 1, &y.0, y.1)?]);
        Ok(())
    }

    fn advance(&mut self, field: &Field<T>, clock: &RunClock, steps: u64) -> Result<(), CudaError> {
        let mut ending = None;
        for n in 0..steps {
            let beginning = ending.map_or(0, |plane: usize| 1 - plane);
            self.drive(field, clock.after(n).time() + self.dt / 2.0, beginning)?;
            self.pass(field, 0, ending, Some(beginning))?;
            self.pass(field, 1, None, None)?;
            ending = Some(beginning);
        }
        if ending.is_some() {
            self.pass(field, 0, ending, None)?;
        }
        Ok(())
    }

    fn mean_field(&self) -> f64 {
        if self.imaginary {
            self.quantum.interaction * self.dt / 2.0
        } else {
            0.0
        }
    }

    fn is_wall(&self, site: usize) -> bool {
        self.walls.get(site).copied().unwrap_or(false)
    }

    fn energies(&mut self, field: &Field<T>, time: f64, wanted: bool) -> Result<Energies, CudaError> {
        // Between steps both planes of drives are free.
        if wanted {
            self.drive(field, time, 0)?;
        }
        Ok(Energies {
            still: address(self.potential.as_ref()),
            driven: self.now.as_ref().map_or(0, |now| now[0].address()),
            diagonal: self.quantum.diagonal,
            hopping: self.quantum.hopping,
            interaction: self.quantum.interaction,
        })
    }

    fn drives_at(&self, time: f64) -> Vec<f64> {
        self.kick.drive_values(time)
    }

    fn energy_at(&self, site: usize, drives: &[f64]) -> f64 {
        self.quantum.diagonal + self.kick.energy(drives, site, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::{PLANE_DOUBLE, PLANE_SINGLE};
    use super::*;

    #[test]
    fn every_site_of_a_line_has_a_place_of_its_own() {
        let shapes = PLANE_SINGLE.map(|along| along.map(|shape| (shape, 8)));
        let double = PLANE_DOUBLE.map(|along| along.map(|shape| (shape, 16)));
        for (shape, bytes) in shapes.into_iter().chain(double).flatten() {
            let rows = shape.rows;
            for sites in [2, 3, 31, 64, 100, 2047, 2048, shape.reach] {
                for side_by_side in [false, true] {
                    let layout = Layout::new(sites, 77, &shape, bytes, side_by_side);
                    let block = layout.threads * layout.group;
                    assert!(
                        (32..=shape.threads).contains(&block) && block.is_power_of_two(),
                        "{layout:?}"
                    );
                    assert!(layout.threads * rows >= sites && layout.blocks * layout.group >= 77);
                    assert!(layout.pitch >= layout.threads * (rows + 1) && layout.shared(bytes) <= 227 << 10);
                    let mut taken = vec![false; layout.threads * rows];
                    for site in 0..sites {
                        assert!(!std::mem::replace(&mut taken[layout.place(site)], true));
                    }
                }
            }
        }
    }
}

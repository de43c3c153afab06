//! A line on the device (`kernels/crank_nicolson.cu`, `kernels/crank_nicolson_joints.cuh`).

use super::super::hamiltonian::{Hamiltonian, Step};
use super::field::{Energies, Field};
use super::layout::{Layout, Solvers};
use super::on_device::{Scheme, bytes};
use super::params;
use super::shape::{PART_THREADS, PARTS, Shape};
use crate::backend::cuda::{Buffer, CudaError, Device, Kernel, Stream};
use crate::grid::Grid;
use crate::solver::clock::RunClock;
use crate::solver::device::rows::address;
use crate::solver::device::{OnCuda, unsigned};
use std::ffi::c_void;

/// Numbers that a block exchanges joints by, as in the kernels.
const EXCHANGE: usize = 6 * 32 + 4;

struct Kernels {
    begin: Kernel,
    again: Kernel,
    step: Kernel,
    short: Kernel,
    end: Kernel,
    /// Of the matrix too, and without.
    rs: [Kernel; 2],
    rs_up: [Kernel; 2],
    rs_down: [Kernel; 2],
}

impl Kernels {
    fn new(stream: &Stream, shape: Shape, closes: bool, shared: u32) -> Result<Self, CudaError> {
        let line = |open, closed| stream.kernel(shape.source, if closes { closed } else { open }, shared);
        let plain = |entry| stream.kernel(shape.source, entry, 0);
        Ok(Self {
            begin: line("line_begin", "ring_begin")?,
            again: line("line_again", "ring_again")?,
            step: line("line_step", "ring_step")?,
            short: line("line_short", "ring_short")?,
            end: line("line_end", "ring_end")?,
            rs: [plain("rs_begin")?, plain("rs_step")?],
            rs_up: [plain("rs_up_begin")?, plain("rs_up_step")?],
            rs_down: [plain("rs_down_begin")?, plain("rs_down_step")?],
        })
    }
}

/// The step of a line.
pub(super) struct Line<T: OnCuda> {
    hamiltonian: Hamiltonian<T>,
    step: Step,
    rows: usize,
    layout: Layout,
    kernels: Kernels,
    energy: Buffer<T>,
    /// E without drives and what each drive adds; empty without drives.
    parts: Vec<Buffer<T>>,
    absorption: Option<Buffer<T>>,
    /// Inverse pivots of rows; none where the matrix changes in every step.
    factors: Option<Buffer<T>>,
    /// Eight numbers a block, and one more of each.
    top: Buffer<T>,
    kept: Buffer<T>,
    rs_kept: Buffer<T>,
    pivots: Buffer<T>,
    /// Six numbers a part, and one more of each; and what is kept between parts.
    top_parts: Buffer<T>,
    parts_kept: Buffer<T>,
    /// Whether the matrix is eliminated, and whether that of the joints of blocks is.
    eliminated: bool,
    factorised: bool,
    /// Whether the right-hand side of the next step is eliminated, and in which of two places blocks left it.
    ready: bool,
    place: usize,
}

/// A number for every row, `beyond` behind the line's end.
fn plane<T: OnCuda>(
    stream: &Stream,
    sites: usize,
    room: usize,
    value: &dyn Fn(usize) -> T,
    beyond: T,
) -> Result<Buffer<T>, CudaError> {
    let all: Vec<T> = (0..room)
        .map(|site| if site < sites { value(site) } else { beyond })
        .collect();
    let buffer = stream.zeros("the potential", room)?;
    stream.upload("the potential", &all, &buffer)?;
    Ok(buffer)
}

impl<T: OnCuda> Line<T> {
    /// A line with ψ = 0.
    pub(super) fn new(
        device: &'static Device,
        grid: &Grid,
        hamiltonian: Hamiltonian<T>,
        shape: Shape,
    ) -> Result<(Field<T>, Self), CudaError> {
        let stream = Stream::new(device)?;
        let sites = hamiltonian.sites();
        let closes = hamiltonian.periodic;
        let processors = device.multiprocessors as usize;
        let layout = Layout::new(sites, shape.rows, closes, processors, size_of::<T>());
        let numbers = 3 * (shape.rows + 1) * layout.threads + 2 * EXCHANGE;
        let shared = unsigned(numbers * size_of::<T>());
        let plane = |value: &dyn Fn(usize) -> T, beyond: T| plane(&stream, sites, layout.room, value, beyond);
        // What is infinite is a wall.
        let still = |site: usize| {
            if hamiltonian.is_wall(site) {
                T::infinity()
            } else {
                hamiltonian.still_at(site)
            }
        };
        let energy = plane(&still, T::infinity())?;
        let mut parts = Vec::new();
        if hamiltonian.is_driven() {
            parts.push(plane(&still, T::infinity())?);
            for n in 0..hamiltonian.drives() {
                parts.push(plane(&|site| hamiltonian.driven_at(n, site), T::zero())?);
            }
        }
        let absorption = if hamiltonian.absorbs() {
            Some(plane(&|site| hamiltonian.absorption_at(site), T::zero())?)
        } else {
            None
        };
        let complex = |what: &str, count: usize| stream.zeros::<T>(what, 2 * count);
        let line = Self {
            step: hamiltonian.step(0.0),
            rows: shape.rows,
            kernels: Kernels::new(&stream, shape, closes, shared)?,
            energy,
            parts,
            absorption,
            factors: if hamiltonian.is_driven() {
                None
            } else {
                Some(complex("factors", layout.blocks * layout.threads * shape.rows)?)
            },
            top: complex("the joints", 8 * (layout.blocks + 1))?,
            kept: complex("the joints", 4 * layout.blocks * (layout.threads + 32))?,
            rs_kept: complex("the joints", 4 * PARTS * (PART_THREADS + 32))?,
            pivots: complex("the joints", layout.blocks + 1)?,
            top_parts: complex("the joints", 6 * (PARTS + 1))?,
            parts_kept: complex("the joints", 4 * (32 + 32) + PARTS + 1)?,
            eliminated: false,
            factorised: false,
            ready: false,
            place: 0,
            hamiltonian,
            layout,
        };
        Ok((Field::new(stream, grid, layout.room, shape.source)?, line))
    }

    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_possible_truncation,
        reason = "at most 2^25 sites"
    )]
    /// For a launch that leaves right-hand sides in place `to`.
    fn parameters(&self, field: &Field<T>, to: usize) -> params::Line<T> {
        let Step { dt, imaginary, .. } = self.step;
        let quantum = &self.hamiltonian.quantum;
        let (hopping, half) = (quantum.hopping, dt / 2.0);
        let parts = self.layout.blocks * self.layout.threads;
        let sites = self.hamiltonian.sites();
        let joints = |plane: usize| self.top.address() + (2 * plane * (self.layout.blocks + 1) * size_of::<T>()) as u64;
        let sides = |place: usize| [joints(2 + 2 * place), joints(3 + 2 * place)];
        let [d, next_d] = sides(to);
        let [from_d, from_next_d] = sides(self.place);
        let shift = if imaginary {
            (1.0 / half - self.step.lowest()) / hopping
        } else {
            -1.0 / (half * hopping)
        };
        params::Line {
            psi: field.psi.address(),
            energy: self.energy.address(),
            absorption: match &self.absorption {
                Some(absorption) if !imaginary => absorption.address(),
                _ => 0,
            },
            factors: address(self.factors.as_ref()),
            sites: sites as i64,
            each: (sites / parts) as i32,
            more: (sites % parts) as i32,
            imaginary: i32::from(imaginary),
            top: params::Blocks {
                a: joints(0),
                v: joints(1),
                d,
                next_a: joints(6),
                next_d,
                y: joints(7),
            },
            kept: self.kept.address(),
            a_energy: T::of(1.0 / hopping),
            a_shift: T::of(shift),
            a_absorption: T::of(half.abs() / (half * hopping)),
            d_scale: T::of(2.0 / (half * hopping)),
            interaction: T::of(if imaginary { 0.0 } else { quantum.interaction * half }),
            solving: params::Solving {
                kept: self.rs_kept.address(),
                pivots: self.pivots.address(),
                blocks: self.layout.blocks as i32,
                ring: i32::from(self.hamiltonian.periodic),
                threads: self.layout.sharers as i32,
                d: from_d,
                next_d: from_next_d,
            },
        }
    }

    /// Puts a kernel of all blocks in, which leaves right-hand sides in place `to`; `early` if it may start while the one before runs.
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^25 sites")]
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn launch(&self, field: &Field<T>, kernel: &Kernel, to: usize, early: bool) -> Result<(), CudaError> {
        let mut parameters = self.parameters(field, to);
        debug_assert!(
            field.psi.bytes() >= 2 * self.layout.room * size_of::<T>(),
            "ψ of {} rows",
            self.layout.room
        );
        let (blocks, threads) = (self.layout.blocks as u32, self.layout.threads as u32);
        // SAFETY: the parameters are those of the kernel; ψ and E have room for all rows of all threads, the joints for all blocks and threads. Whoever says
        // `early` knows what the kernel reads before it waits.
        unsafe {
            if early {
                let pointer = (&raw mut parameters).cast::<c_void>();
                return field.stream.launch_early(kernel, blocks, threads, &mut [pointer]);
            }
            field.stream.launch(kernel, (blocks, 1, 1), threads, |launch| {
                launch.arg(&parameters);
            })
        }
    }

    /// RS; gives whether it had the matrix already.
    #[expect(clippy::cast_possible_truncation, reason = "at most 512 threads")]
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn solve_joints(&mut self, field: &Field<T>) -> Result<bool, CudaError> {
        let params::Line {
            mut top, mut solving, ..
        } = self.parameters(field, self.place);
        let had = std::mem::replace(&mut self.factorised, true);
        let (kind, threads) = (usize::from(had), self.layout.sharers as u32);
        if self.layout.solvers == Solvers::Parts {
            let mut parts = self.parts(top, solving);
            let mut arguments = [(&raw mut parts).cast::<c_void>()];
            let blocks = PARTS as u32;
            // SAFETY: as above; threads have a joint each, and at most two. Before they wait they read what an earlier `rs` kept, and `rs_down` what was
            // there before `rs_up`.
            unsafe {
                field
                    .stream
                    .launch_early(&self.kernels.rs_up[kind], blocks, threads, &mut arguments)?;
                let down = &self.kernels.rs_down[kind];
                if had {
                    field.stream.launch_early(down, blocks, threads, &mut arguments)?;
                } else {
                    field.stream.launch(down, (blocks, 1, 1), threads, |launch| {
                        launch.arg(&parts);
                    })?;
                }
            }
            return Ok(had);
        }
        let mut arguments = [(&raw mut top).cast::<c_void>(), (&raw mut solving).cast()];
        // SAFETY: as above.
        unsafe {
            field
                .stream
                .launch_early(&self.kernels.rs[kind], 1, threads, &mut arguments)?;
        }
        Ok(had)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "32 parts")]
    fn parts(&self, joints: params::Blocks, within: params::Solving) -> params::Parts {
        let number = 2 * size_of::<T>();
        let part = |plane: usize| self.top_parts.address() + (plane * (PARTS + 1) * number) as u64;
        params::Parts {
            joints,
            parts: params::Blocks {
                a: part(0),
                v: part(1),
                d: part(2),
                next_a: part(3),
                next_d: part(4),
                y: part(5),
            },
            within,
            between: params::Solving {
                kept: self.parts_kept.address(),
                pivots: self.parts_kept.address() + (4 * (32 + 32) * number) as u64,
                blocks: PARTS as i32,
                threads: PARTS as i32,
                ..within
            },
        }
    }

    /// RD, JD and JU: of the matrix too, unless that is done.
    fn begin(&mut self, field: &Field<T>) -> Result<(), CudaError> {
        self.place = 0;
        if self.eliminated {
            self.launch(field, &self.kernels.again, 0, false)?;
        } else {
            self.launch(field, &self.kernels.begin, 0, false)?;
            (self.eliminated, self.factorised) = (self.factors.is_some(), false);
        }
        self.ready = true;
        Ok(())
    }

    /// The launch after the first `rs` is not early: before it waits it would read what `rs` and `begin` have just kept, past caches that may hold older factors.
    fn static_steps(&mut self, field: &Field<T>, steps: u64) -> Result<(), CudaError> {
        for _ in 0..steps {
            if !self.ready {
                self.begin(field)?;
            }
            if self.layout.solvers != Solvers::Every {
                let early = self.solve_joints(field)?;
                self.launch(field, &self.kernels.step, self.place, early)?;
                continue;
            }
            let early = self.factorised || self.solve_joints(field)?;
            let to = 1 - self.place;
            self.launch(field, &self.kernels.short, to, early)?;
            self.place = to;
        }
        Ok(())
    }

    /// Steps with E of the middle of each.
    fn driven_steps(&mut self, field: &Field<T>, clock: &RunClock, steps: u64) -> Result<(), CudaError> {
        let dt = self.step.dt;
        for n in 0..steps {
            self.drive(field, clock.after(n).time() + dt / 2.0)?;
            self.begin(field)?;
            self.solve_joints(field)?;
            self.launch(field, &self.kernels.end, 0, false)?;
            self.ready = false;
        }
        Ok(())
    }

    /// E at a time.
    fn drive(&self, field: &Field<T>, time: f64) -> Result<(), CudaError> {
        let Some((still, driven)) = self.parts.split_first() else {
            return Ok(());
        };
        let by = self.hamiltonian.drives_at(time);
        field.drive(self.energy.address(), still.address(), driven, &by, self.layout.room)
    }
}

impl<T: OnCuda> Scheme<T> for Line<T> {
    fn details(&self) -> String {
        format!(
            "{} blocks of {} threads, up to {} rows each",
            self.layout.blocks, self.layout.threads, self.rows
        )
    }

    fn bytes(&self) -> usize {
        let joints = [
            &self.top,
            &self.kept,
            &self.rs_kept,
            &self.pivots,
            &self.top_parts,
            &self.parts_kept,
        ];
        bytes(
            joints
                .into_iter()
                .chain([&self.energy])
                .chain(&self.parts)
                .chain(&self.absorption)
                .chain(&self.factors),
        )
    }

    fn set_step(&mut self, _field: &Field<T>, dt: f64) -> Result<(), CudaError> {
        self.step = self.hamiltonian.step(dt);
        (self.ready, self.eliminated) = (false, false);
        Ok(())
    }

    fn advance(&mut self, field: &Field<T>, clock: &RunClock, steps: u64) -> Result<(), CudaError> {
        if self.hamiltonian.is_driven() {
            self.driven_steps(field, clock, steps)
        } else {
            self.static_steps(field, steps)
        }
    }

    fn field_changed(&mut self) {
        self.ready = false;
    }

    fn mean_field(&self) -> f64 {
        if self.step.imaginary {
            self.hamiltonian.quantum.interaction * self.step.dt / 2.0
        } else {
            0.0
        }
    }

    fn is_wall(&self, site: usize) -> bool {
        self.hamiltonian.is_wall(site)
    }

    fn energies(&mut self, field: &Field<T>, time: f64, wanted: bool) -> Result<Energies, CudaError> {
        // Between steps nobody needs E of the middle of one.
        if wanted {
            self.drive(field, time)?;
        }
        Ok(Energies {
            still: self.energy.address(),
            diagonal: self.hamiltonian.reference_at(time),
            hopping: self.hamiltonian.quantum.hopping,
            interaction: self.hamiltonian.quantum.interaction,
            ..Energies::default()
        })
    }

    fn drives_at(&self, time: f64) -> Vec<f64> {
        self.hamiltonian.drives_and_reference_at(time)
    }

    fn energy_at(&self, site: usize, drives: &[f64]) -> f64 {
        self.hamiltonian.energy_at(site, drives)
    }
}

//! Steps on the device.

use super::choice::Schedule;
use super::params::{self, unsigned, whole};
use super::pieces::{Cut, Load, Plane};
use super::sources::{LINE_CORE, LINE_STEPS, Shape};
use super::{Cuda, OWN_ENTRIES, OnCuda, rungs};
use crate::backend::cuda::{Buffer, CudaError, Kernel, Stream};
use crate::field::Precision;
use crate::solver::trotter::naive::Turn;
use crate::solver::trotter::scheme::{Scheme, Substep, Sweep};
use std::time::Instant;

/// Blocks at most of a kernel that goes through all sites with a stride.
pub(super) const BLOCKS: u32 = 4096;

/// Blocks of 256 threads of such a kernel for so many sites: no more than have work, since starting a block takes time.
pub(super) fn striding(count: u64) -> (u32, u32, u32) {
    let blocks = u32::try_from(count.div_ceil(256)).unwrap_or(u32::MAX);
    (blocks.clamp(1, BLOCKS), 1, 1)
}

/// A shape, loaded.
pub(super) struct Fused {
    pub shape: Shape,
    kernel: (Kernel, Cut),
    /// The same with sums over one region and more, and the blocks that the device holds of it; none in three dimensions.
    summing: Vec<(Kernel, usize)>,
    /// The same with largest values beside sums.
    peaking: Vec<(Kernel, usize)>,
    /// What steps pieces with boxes again, and copies these; none in three dimensions.
    copying: Option<Kernel>,
}

/// Bytes in which the two warps of a block keep the sums of a region and step, each lane its own.
const SUMS_OF_BLOCK: u32 = 2 * 32 * 8;

impl Fused {
    /// `planes` share the device.
    pub(super) fn new(
        stream: &Stream,
        shape: Shape,
        precision: Precision,
        plane: &Plane,
        planes: usize,
    ) -> Result<Self, CudaError> {
        let load = |entry: &'static str, room: u32| {
            let kernel = stream.kernel(shape.source, entry, room)?;
            let blocks = (stream.occupancy(&kernel, 64)? * stream.device().multiprocessors) as usize;
            Ok::<_, CudaError>((kernel, blocks))
        };
        let room = shape.shared(precision);
        let (kernel, blocks) = load("fused_steps", room)?;
        let kernel = (kernel, plane.cut(&shape, Load { blocks, planes }));
        let (mut summing, mut peaking, mut copying) = (Vec::new(), Vec::new(), None);
        if !shape.source.name.ends_with("_bare") {
            for regions in 1..=params::REGIONS {
                let sums = SUMS_OF_BLOCK * shape.steps * whole(regions).unsigned_abs();
                summing.push(load("summing_steps", room + sums)?);
                peaking.push(load("peaking_steps", room + sums)?);
            }
            copying = Some(stream.kernel(shape.source, "copying_steps", room)?);
        }
        Ok(Self {
            shape,
            kernel,
            summing,
            peaking,
            copying,
        })
    }

    /// The kernel that sums over so many regions, and with `peaks` takes largest values too, with the blocks that the device holds.
    fn with_sums(&self, regions: usize, peaks: bool) -> Option<&(Kernel, usize)> {
        let all = if peaks { &self.peaking } else { &self.summing };
        all.get(regions.checked_sub(1)?)
    }

    /// The cut of a plane for the kernel that sums over its regions, with `peaks` the one that takes largest values too.
    pub(super) fn cut_with_sums(&self, plane: &Plane, peaks: bool) -> Option<Cut> {
        let (_, blocks) = self.with_sums(plane.regions.len(), peaks)?;
        let load = Load {
            blocks: *blocks,
            planes: 1,
        };
        Some(plane.cut(&self.shape, load))
    }
}

/// Equal sub-steps in a row.
pub(super) struct Equal<'a> {
    pub substep: &'a Substep,
    /// How many there are.
    pub count: u64,
    /// The number of the first within its step, and those of a step.
    at: usize,
    of: usize,
}

impl<'a> Equal<'a> {
    /// Those from sub-step `at` of a step on, of which `left` are to be taken.
    fn next(scheme: &'a Scheme, at: usize, left: u64) -> Self {
        let of = scheme.substeps.len();
        let substep = |n: u64| &scheme.substeps[(at + usize::try_from(n).unwrap_or(0)) % of];
        let most = left.min(64);
        let count = (1..most).take_while(|n| substep(0).is_like(substep(*n))).count() as u64 + 1;
        Self {
            substep: substep(0),
            count,
            at,
            of,
        }
    }

    /// Bit n: a step ends with number n of the first `count`.
    pub(super) fn ends(&self, count: u32) -> u32 {
        let ends = (0..count).filter(|n| (self.at + *n as usize + 1).is_multiple_of(self.of));
        ends.fold(0, |bits, n| bits | 1_u32.checked_shl(n).unwrap_or(0))
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Steps a launch where many are asked for.
    pub(super) fn shape(&self) -> u32 {
        if !self.space.is_empty() {
            return self.best_space(u64::MAX).map_or(1, |space| space.shape.steps);
        }
        let strips = || self.best(u64::MAX).map_or(1, |fused| fused.shape.steps);
        self.steps_in_tiles().unwrap_or_else(strips)
    }

    /// The kernel to take for a run of `steps` equal steps: the fastest, or where none was measured the one with most steps.
    fn best(&self, steps: u64) -> Option<&Fused> {
        let seconds = |fused: &&Fused| {
            let known = self.measured.get(&(fused.shape.source.name, fused.shape.steps));
            known.copied().unwrap_or(1.0 / f64::from(fused.shape.steps))
        };
        (self.fused.iter())
            .filter(|fused| u64::from(fused.shape.steps) <= steps)
            .min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
    }

    /// Which number of steps a launch is the fastest on this device, for this grid and precision: each candidate steps the present field into the planes that
    /// the next step overwrites in any case. All of them give the same bits, so that it does not matter which one a run takes.
    pub(super) fn compare(&mut self, scheme: &Scheme) -> Result<(), CudaError> {
        if !self.schedule.fuses() || self.asked_steps.is_some() {
            return Ok(());
        }
        if self.fused.len() + self.space.len() < 2 {
            return self.compare_tiles(scheme, None);
        }
        let substep = &scheme.substeps[0];
        let mut measured = Vec::new();
        for fused in &self.fused {
            let name = (fused.shape.source.name, fused.shape.steps);
            if !self.measured.contains_key(&name) {
                let seconds = self.time(fused.shape.steps, || self.launch_fused(fused, substep, None))?;
                measured.push((name, seconds));
            }
        }
        for space in &self.space {
            let name = (space.shape.source.name, space.shape.steps);
            if !self.measured.contains_key(&name) {
                let seconds = self.time(space.shape.steps, || self.launch_space(space, substep, None))?;
                measured.push((name, seconds));
            }
        }
        self.measured.extend(measured);
        let seconds = |fused: &Fused| {
            self.measured
                .get(&(fused.shape.source.name, fused.shape.steps))
                .copied()
        };
        let strips = self.best(u64::MAX).and_then(seconds);
        self.compare_tiles(scheme, strips)
    }

    /// Seconds a step, waiting included, of launches of so many.
    pub(super) fn time(&self, steps: u32, launch: impl Fn() -> Result<(), CudaError>) -> Result<f64, CudaError> {
        launch()?;
        self.stream.finish()?;
        let mut count = 1;
        loop {
            let start = Instant::now();
            for _ in 0..count {
                launch()?;
            }
            self.stream.finish()?;
            let took = start.elapsed().as_secs_f64();
            // Long enough that waiting for the end does not count.
            if took > 1e-3 || count > 1000 {
                return Ok(took / f64::from(count * steps));
            }
            count *= 4;
        }
    }

    /// `count` sub-steps from sub-step `first` on.
    pub(super) fn run(&mut self, scheme: &Scheme, first: usize, count: u64) {
        let all = scheme.substeps.len();
        let mut at = first;
        let mut left = count;
        while left > 0 {
            // Equal sub-steps in a row go into one launch: all of them for orders 1 and 2, three of five for order 4.
            let equal = Equal::next(scheme, at, left);
            let done = if self.schedule == Schedule::Naive {
                self.sweeps(equal.substep);
                self.sum_cells(equal.ends(1));
                1
            } else if self.grid.rank() == 1 {
                self.line_steps(&equal)
            } else if self.grid.rank() == 3 && self.space.is_empty() {
                let done = self.step_in_space(&equal);
                self.sum_cells(equal.ends(1));
                done
            } else if self.grid.rank() == 3 {
                self.space_steps(&equal, left)
            } else {
                self.tile_steps(&equal).unwrap_or_else(|| self.fused_steps(&equal))
            };
            if done == 0 {
                return;
            }
            at = (at + usize::try_from(done).unwrap_or(1)) % all;
            left -= done;
        }
    }

    /// One sub-step in three dimensions in two passes; returns 1.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn step_in_space(&mut self, equal: &Equal) -> u64 {
        let substep = equal.substep;
        if self.planes_steps(substep, 1, None) == 0 {
            return 0;
        }
        let parameters = params::Columns {
            field: addresses(&self.field),
            table: addresses(&self.tables[substep.table]),
            grid: self.lattice,
            tangents: substep.angles.map(|angle| T::of(angle.tan())),
            secants: substep.angles.map(|angle| T::of(1.0 / angle.cos())),
            interaction: substep.interaction(self.phase_interaction).map(T::of),
        };
        let [nx, ny, _] = self.grid.size();
        let grid = (unsigned(nx.div_ceil(128)), unsigned(ny).min(65535), 1);
        let launched = self.attempt(|| {
            self.before_writing(Some(self.field[0].address()))?;
            // SAFETY: the parameters are those of `sweep_columns`, which stays on sites of the grid; each thread has a column of its own.
            unsafe {
                self.stream.launch(self.kernel("sweep_columns"), grid, 128, |launch| {
                    launch.arg(&parameters);
                })
            }
        });
        u64::from(launched.is_some())
    }

    /// Equal sub-steps in one launch; returns how many.
    fn fused_steps(&mut self, equal: &Equal) -> u64 {
        let Some(steps) = self.best(equal.count).map(|fused| fused.shape.steps) else {
            return 0;
        };
        let regions = self.next_sums(equal.ends(steps));
        self.planes_steps(equal.substep, equal.count, regions)
    }

    /// At most `most` equal sub-steps in one launch, which sums over `regions`; returns how many. In three dimensions the x and y sweeps of one.
    fn planes_steps(&mut self, substep: &Substep, most: u64, regions: Option<params::Regions>) -> u64 {
        let Some(out) = &self.other else { return 0 };
        let Some(fused) = self.best(most) else { return 0 };
        let steps = fused.shape.steps;
        let launched = self.attempt(|| {
            self.before_writing(Some(out[0].address()))?;
            self.launch_fused(fused, substep, regions)
        });
        self.after_launch(launched.is_some(), steps)
    }

    /// What kernels of whole steps in planes take for a sub-step; `cut` of those in strips.
    pub(super) fn fused_parameters(&self, substep: &Substep, out: [u64; 2], cut: Option<&Cut>) -> params::Fused<T> {
        let [nx, ny, _] = self.grid.size();
        let imaginary = self.flags.imaginary;
        let own = self.own.rungs.as_ref().and_then(|rungs| rungs.of(substep));
        let tangent = |angle: f64| T::of(if imaginary { angle.tanh() } else { angle.tan() });
        let secant = |angle: f64| match own {
            Some(_) => rungs::alone(angle, 1.0),
            None => T::of(1.0 / if imaginary { angle.cosh() } else { angle.cos() }),
        };
        let [even, odd, again] = substep.angles;
        // A kernel that nests can do a plain step: sweeps of different axes commute there.
        let outer = substep.outer.unwrap_or([even, odd, 0.0, again]);
        params::Fused {
            field: addresses(&self.field),
            out,
            table: addresses(&self.tables[substep.table]),
            wall: match own {
                Some([_, marks]) => marks,
                None => self.walls.as_ref().map_or(0, Buffer::address),
            },
            own: own.map_or(0, |[planes, _]| planes),
            gauge: self.gauge.as_ref().map_or([0; 2], addresses),
            nx: whole(nx),
            ny: whole(ny),
            pitch: whole(self.pitch),
            periodic: [self.lattice.periodic[0], self.lattice.periodic[1]],
            from: cut.map_or([0; _], |cut| cut.from),
            chunk: cut.map_or([0; _], |cut| cut.chunk),
            walled: cut.map_or(0, Cut::walled),
            tangents: substep.angles.map(tangent),
            secants: substep.angles.map(secant),
            outer_tangents: outer.map(tangent),
            outer_secants: outer.map(secant),
            interaction: substep.interaction(self.phase_interaction).map(T::of),
        }
    }

    /// Queues a launch of `fused`, which sums over `regions`.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn launch_fused(
        &self,
        fused: &Fused,
        substep: &Substep,
        regions: Option<params::Regions>,
    ) -> Result<(), CudaError> {
        let Some(out) = &self.other else { return Ok(()) };
        let planes = unsigned(self.grid.size()[2]);
        let sums = regions.and_then(|regions| {
            let count = usize::try_from(regions.count).ok()?;
            let (kernel, _) = fused.with_sums(count, regions.peaks != 0)?;
            let cut = self.summing().cut(fused.shape.source.name)?;
            Some((regions, kernel, cut))
        });
        let (kernel, cut) = match &sums {
            Some((_, kernel, cut)) => (*kernel, cut),
            None => (&fused.kernel.0, &fused.kernel.1),
        };
        let [across, along] = cut.blocks;
        let parameters = self.fused_parameters(substep, addresses(out), Some(cut));
        debug_assert_eq!(parameters.own != 0, fused.shape.flags.own, "bonds that differ");
        // SAFETY: the parameters are those of `fused_steps`, `summing_steps` and `peaking_steps`; all planes are pitch × ny, and the kernel reads and writes rows 0..ny and columns
        // 0..pitch of them only. There is room for the sums and copies of every step of the batch.
        unsafe {
            self.stream.launch(kernel, (across, along, planes), 64, |launch| {
                launch.arg(&parameters);
                if let Some((regions, ..)) = &sums {
                    launch.arg(regions);
                }
            })?;
        }
        let Some(regions) = regions.filter(|regions| regions.box_count > 0) else {
            return Ok(());
        };
        let summing = self.summing();
        let pieces = summing
            .copies
            .as_ref()
            .and_then(|copies| copies.pieces(fused.shape.source.name));
        let (Some((list, count)), Some(kernel)) = (pieces, &fused.copying) else {
            return Ok(());
        };
        let (list, pieces) = (list.address(), whole(count));
        let blocks = unsigned(count.div_ceil(2));
        // SAFETY: the parameters are those of `copying_steps`, which reads what the launch before reads, and writes copies only; the list has so many pieces of the plane. There is room
        // for the copies of every step of the batch.
        unsafe {
            self.stream.launch(kernel, (blocks, 1, 1), 64, |launch| {
                launch.arg(&parameters).arg(&regions).arg(&list).arg(&pieces);
            })
        }
    }

    /// Steps of a line that go into one launch.
    pub(super) fn line_length(&self) -> u64 {
        match self.asked_steps {
            _ if !self.schedule.fuses() => 1,
            Some(steps) => (steps as u64).clamp(1, LINE_STEPS),
            None => LINE_STEPS,
        }
    }

    /// Equal sub-steps of a line in one launch; returns how many.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn line_steps(&mut self, equal: &Equal) -> u64 {
        let (nx, substep) = (self.grid.size()[0], equal.substep);
        let (Some(out), Some([plain, summing])) = (&self.other, &self.line) else {
            return 0;
        };
        let steps = equal.count.min(self.line_length());
        let regions = self.next_sums(equal.ends(u32::try_from(steps).unwrap_or(1)));
        let kernel = if regions.is_some() { summing } else { plain };
        let parameters = params::Line {
            field: addresses(&self.field),
            out: addresses(out),
            table: addresses(&self.tables[substep.table]),
            wall: self.walls.as_ref().map_or(0, Buffer::address),
            nx: whole(nx),
            periodic: self.lattice.periodic[0],
            steps: i32::try_from(steps).unwrap_or(1),
            tangents: substep.angles.map(|angle| T::of(angle.tan())),
            secants: substep.angles.map(|angle| T::of(1.0 / angle.cos())),
            interaction: substep.interaction(self.phase_interaction).map(T::of),
        };
        let blocks = unsigned(nx.div_ceil(LINE_CORE).div_ceil(4));
        let launched = self.attempt(|| {
            self.before_writing(Some(out[0].address()))?;
            // SAFETY: the parameters are those of `line_steps` and `summing_steps`, which read and write sites 0..nx only. There is room for the sums and copies of every
            // step of the batch.
            unsafe {
                self.stream.launch(kernel, (blocks, 1, 1), 128, |launch| {
                    launch.arg(&parameters);
                    if let Some(regions) = &regions {
                        launch.arg(regions);
                    }
                })
            }
        });
        self.after_launch(launched.is_some(), u32::try_from(steps).unwrap_or(1))
    }

    /// One sub-step, a kernel a sweep.
    fn sweeps(&self, substep: &Substep) {
        self.turn_components(substep.front);
        for sweep in substep.sweeps(self.grid.rank()) {
            self.sweep(&sweep);
        }
        self.turn_components(substep.back);
        if self.own.phase_strengths {
            self.phases_by_strengths(substep.table, substep.interaction(1.0));
        } else {
            self.phases(substep.table, substep.interaction(self.phase_interaction));
        }
    }

    #[allow(unsafe_code, reason = "a kernel launch")]
    fn sweep(&self, sweep: &Sweep) {
        let (axis, imaginary) = (sweep.axis, self.flags.imaginary);
        let turn = Turn::<T>::new(sweep.angle, imaginary);
        let own = self.own.bonds.as_ref().map(|bonds| bonds.of(sweep));
        debug_assert!(own != Some(None), "{sweep:?} has bonds of its own");
        let own = own.flatten();
        let parameters = params::Sweep {
            field: addresses(&self.field),
            // Bonds of their own that touch a wall turn nothing.
            wall: self.walls.as_ref().filter(|_| own.is_none()).map_or(0, Buffer::address),
            gauge: match &self.gauge {
                Some(gauge) if self.flux != 0.0 && own.is_none() => addresses(gauge),
                _ => [0; 2],
            },
            grid: self.lattice,
            axis: whole(axis),
            odd: i32::from(sweep.odd),
            imaginary: i32::from(imaginary),
            t: turn.t,
            s: turn.s,
        };
        let own = own.map(|[turns, gauge]| params::Own { turns, gauge });
        let [nx, ny, nz] = self.grid.size();
        // A thread has 16 bytes of a row; blocks go along the lines.
        let across = nx.div_ceil(128 * (16 / T::PRECISION.bytes()));
        let (entry, lines, planes) = match axis {
            0 => ("sweep_x", self.grid.rows(), 1),
            1 => ("sweep_rows", ny.div_ceil(2), nz),
            _ => ("sweep_rows", ny, nz.div_ceil(2)),
        };
        let [across, lines, planes] = [across, lines, planes].map(unsigned);
        let grid = (across, lines.min(65535), planes.min(65535));
        let kernel = if own.is_some() {
            self.own_kernel(entry)
        } else {
            Some(self.kernel(entry))
        };
        self.attempt(|| {
            let Some(kernel) = kernel else { return Ok(()) };
            self.before_writing(Some(self.field[0].address()))?;
            // SAFETY: the parameters are those of `sweep_x` and `sweep_rows`, which stay on sites of the grid and the rest of their last 16 bytes; planes of bonds are as large
            // as those of the field.
            unsafe {
                self.stream.launch(kernel, grid, 128, |launch| {
                    launch.arg(&parameters);
                    if let Some(own) = &own {
                        launch.arg(own);
                    }
                })
            }
        });
    }

    /// A kernel of `trotter_bonds.cu`; there once something differs.
    fn own_kernel(&self, entry: &str) -> Option<&Kernel> {
        let place = OWN_ENTRIES.iter().position(|known| *known == entry)?;
        self.own.kernels.as_ref().map(|kernels| &kernels[place])
    }

    /// Two components turn each other for a time.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn turn_components(&self, time: f64) {
        let angle = self.own.phase_cross * time;
        if angle == 0.0 {
            return;
        }
        let [re, im] = addresses(&self.field);
        let rows = self.grid.rows();
        debug_assert!(rows.is_multiple_of(2), "components are halves of {rows} rows");
        let (strength, half) = (T::of(angle), (self.pitch * rows / 2) as u64);
        self.attempt(|| {
            let Some(kernel) = self.own_kernel("turn_components") else {
                return Ok(());
            };
            self.before_writing(Some(self.field[0].address()))?;
            // SAFETY: the arguments are those of `turn_components`; both planes have twice `half` numbers, whole rows of 32.
            unsafe {
                self.stream.launch(kernel, striding(half), 256, |launch| {
                    launch.arg(&re).arg(&im).arg(&strength).arg(&half);
                })
            }
        });
    }

    /// The field times a table and the interaction's phase; `times` multiply the strength of each site.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn phases_by_strengths(&self, table: usize, times: [f64; 2]) {
        let [re, im] = addresses(&self.field);
        let [pc, ps] = addresses(&self.tables[table]);
        let [after, before] = times.map(T::of);
        let count = (self.pitch * self.grid.rows()) as u64;
        let sums = self.sums();
        let Some(strengths) = &sums.strengths else { return };
        debug_assert!(
            strengths.bytes() >= self.pitch * self.grid.rows() * size_of::<T>(),
            "{count} strengths"
        );
        let strength = strengths.address();
        self.attempt(|| {
            let Some(kernel) = self.own_kernel("phases") else {
                return Ok(());
            };
            self.before_writing(Some(self.field[0].address()))?;
            // SAFETY: the arguments are those of `phases` of bonds and sites that differ; all planes have `count` numbers.
            unsafe {
                self.stream.launch(kernel, striding(count), 256, |launch| {
                    launch.arg(&re).arg(&im).arg(&pc).arg(&ps);
                    launch.arg(&after).arg(&before).arg(&strength).arg(&count);
                })
            }
        });
    }

    /// The field times a table and the interaction's phase.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn phases(&self, table: usize, interaction: [f64; 2]) {
        let [re, im] = addresses(&self.field);
        let [pc, ps] = addresses(&self.tables[table]);
        let [after, before] = interaction.map(T::of);
        let count = (self.pitch * self.grid.rows()) as u64;
        debug_assert!(
            self.field[0].bytes() >= self.pitch * self.grid.rows() * size_of::<T>(),
            "{count} numbers"
        );
        self.attempt(|| {
            self.before_writing(Some(self.field[0].address()))?;
            // SAFETY: the arguments are those of `phases`; all planes have `count` numbers.
            unsafe {
                self.stream
                    .launch(self.kernel("phases"), striding(count), 256, |launch| {
                        launch.arg(&re).arg(&im).arg(&pc).arg(&ps);
                        launch.arg(&after).arg(&before).arg(&count);
                    })
            }
        });
    }
}

/// Addresses of both planes.
pub(super) fn addresses<T: OnCuda>(planes: &super::Planes<T>) -> [u64; 2] {
    [planes[0].address(), planes[1].address()]
}

//! Steps on the device.

use super::launches::{Between, Fused, Launches, Strips};
use super::{Cuda, params, visits};
use crate::backend::cuda::{CudaError, Kernel};
use crate::solver::clock::RunClock;
use crate::solver::device::events::MOST_GATHERED;
use crate::solver::device::readback::{Region, is_kept, sharing_of};
use crate::solver::device::transducers::DeviceTransducers;
use crate::solver::device::{OnCuda, chunk_of, unsigned, whole};
use crate::solver::gathered::{gathered_places, is_gathered};
use crate::solver::oscillators::scheme::{Part, Sweep, sweeps};
use crate::solver::resident::Resident;
use crate::solver::{SolverError, Taps};

impl<T: OnCuda> Cuda<T> {
    /// Place of a site.
    fn place(&self, [i, j, _]: [usize; 3]) -> usize {
        j * self.pitch + i
    }

    /// Steps and records.
    pub(super) fn go(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.watch_velocity()?;
        }
        let gathered = gathered_places(taps, MOST_GATHERED, |at| self.place(at));
        let mut done = 0;
        while done < steps {
            let batch = (steps - done).min(DeviceTransducers::<T>::most(taps));
            let count = usize::try_from(batch).unwrap_or(1);
            self.go_batch(&clock.after(done), count, &gathered, taps)?;
            done += batch;
        }
        Ok(())
    }

    /// What sources add to momenta at the beginning of a batch and after each of its steps.
    fn signals(&self, clock: &RunClock, steps: usize) -> Vec<Vec<(u32, T)>> {
        if self.host.scenario.sources().is_empty() {
            return vec![Vec::new(); steps + 1];
        }
        (0..=steps as u64)
            .map(|n| {
                let kicks = self.host.kicks(clock.after(n).time()).into_iter();
                kicks
                    .map(|(j, i, change)| (unsigned(self.place([i, j, 0])), change))
                    .collect()
            })
            .collect()
    }

    fn go_batch(&mut self, clock: &RunClock, steps: usize, gathered: &[u32], taps: &mut Taps) -> Result<(), CudaError> {
        let mut signals = self.signals(clock, steps);
        let kicked = places_of(&signals);
        self.events.load(&self.stream, &mut signals, gathered)?;
        self.prepare_transducers(taps, steps)?;
        let substeps = self.host.springs.scheme.substeps.len();
        if self.events.is_empty() && taps.is_empty() && self.peak.is_none() && self.potential.is_none() {
            return self.run(steps * substeps);
        }
        if self.fused_batch(clock, steps, &kicked, taps)? {
            return Ok(());
        }
        let mut clocks = Vec::new();
        // Energies, fluxes and transducers belong between the kick that ends a step and the one that begins the next.
        let sums = taps.whole().iter().any(|tap| !is_gathered(tap, MOST_GATHERED));
        for n in 0..steps {
            if n == 0 && self.events.adds() {
                self.operate(0, 1, false)?;
            }
            self.run(substeps)?;
            let (apart, gathers) = (sums || self.transducers.acts(n), !gathered.is_empty());
            if !self.events.is_empty() {
                // The end of this step and the beginning of the next, which belongs to this batch or not.
                let kicks = if n + 1 < steps && !apart { 2 } else { 1 };
                self.operate(n + 1, if self.events.adds() { kicks } else { 0 }, gathers)?;
            }
            self.keep_peaks()?;
            if self.transducers.acts(n) {
                self.drive_sites(n)?;
                if gathers {
                    // Detectors see what transducers have done.
                    self.operate(n + 1, 0, true)?;
                }
            }
            self.add_to_potential(1.0)?;
            if !taps.is_empty() {
                let clock = clock.after(n as u64 + 1);
                self.keep_sums(taps, &clock)?;
                clocks.push(clock);
            }
            if apart && n + 1 < steps && self.events.adds() {
                self.operate(n + 1, 1, false)?;
            }
        }
        if !clocks.is_empty() {
            if taps.keeps_rows() {
                let ny = self.host.springs.layout.size[1];
                let rows = self.readback.rows_kept(&self.stream, (taps, ny), &clocks)?;
                self.events.record_rows(&self.stream, taps, &clocks, (rows, ny))?;
            } else {
                let summed = |n: usize| !is_gathered(&taps.whole()[n], MOST_GATHERED);
                let records = self.readback.kept(&self.stream, (taps, summed), &clocks)?;
                self.events.record(&self.stream, taps, &clocks, records)?;
            }
        }
        self.transducers.finish(&self.stream, taps)
    }

    /// Queues what detectors sum at a moment.
    fn keep_sums(&mut self, taps: &Taps, clock: &RunClock) -> Result<(), CudaError> {
        for (n, tap) in taps.taps().iter().enumerate() {
            if let Some(region) = Region::of(tap).filter(|_| is_kept(taps, n, clock)) {
                let look = self.look(&region);
                if taps.keeps_rows() {
                    let own = (&region, sharing_of(taps, n));
                    self.readback.keep_rows(&self.stream, own, &look)?;
                } else {
                    self.readback.keep(&self.stream, &region, &look)?;
                }
            }
        }
        Ok(())
    }

    /// The operations of moment `moment` of the batch: kicks so many times, gathers after the step that ends there.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn operate(&mut self, moment: usize, kicks: i32, gathers: bool) -> Result<(), CudaError> {
        let [q, p] = [0, 1].map(|n: usize| self.field[n].address());
        self.readback.before_writing(&self.stream, q)?;
        let (sites, moment, gathers) = (self.events.parameters(), whole(moment), i32::from(gathers));
        // SAFETY: the arguments are those of `operate`; the lists hold every moment of the batch, their places are sites.
        unsafe {
            self.stream.launch(&self.kernels.operate, (1, 1, 1), 1024, |launch| {
                launch.arg(&sites).arg(&q).arg(&p);
                launch.arg(&moment).arg(&kicks).arg(&gathers);
            })
        }
    }

    /// Blocks of 256 that go through all numbers of a plane, and how many these are.
    fn everything(&self) -> (u32, u32) {
        let count = unsigned(self.pitch * self.host.springs.layout.size[1]);
        (count.div_ceil(256).min(8192), count)
    }

    #[allow(unsafe_code, reason = "a kernel launch")]
    fn keep_peaks(&mut self) -> Result<(), CudaError> {
        let Some(peak) = &self.peak else { return Ok(()) };
        let (q, peak) = (self.field[0].address(), peak.address());
        // A picture under way may read them.
        self.readback.before_any_writing(&self.stream)?;
        let (blocks, count) = self.everything();
        debug_assert!(
            self.field[0].bytes() >= count as usize * size_of::<T>(),
            "{count} numbers"
        );
        // SAFETY: the arguments are those of `peaks`; both planes hold `count` numbers.
        unsafe {
            self.stream.launch(&self.kernels.peaks, (blocks, 1, 1), 256, |launch| {
                launch.arg(&q).arg(&peak).arg(&count);
            })
        }
    }

    /// Φ⁺ ← Φ⁺ + `sign` Δt q.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn add_to_potential(&mut self, sign: f64) -> Result<(), CudaError> {
        let Some(potential) = &self.potential else {
            return Ok(());
        };
        let (q, potential, step) = (
            self.field[0].address(),
            potential.address(),
            T::of(sign * self.host.time_step),
        );
        // A picture under way may read it.
        self.readback.before_any_writing(&self.stream)?;
        let (blocks, count) = self.everything();
        debug_assert!(
            self.field[0].bytes() >= count as usize * size_of::<T>(),
            "{count} numbers"
        );
        // SAFETY: the arguments are those of `potentials`; both planes hold `count` numbers.
        unsafe {
            self.stream
                .launch(&self.kernels.potentials, (blocks, 1, 1), 256, |launch| {
                    launch.arg(&q).arg(&potential).arg(&step).arg(&count);
                })
        }
    }

    /// So many sub-steps from the beginning of a step on.
    fn run(&mut self, count: usize) -> Result<(), CudaError> {
        let substeps = self.host.springs.scheme.substeps.clone();
        let mut at = 0;
        while at < count {
            let part = Part::next(&substeps, at, count - at, self.launches.most());
            at += self.launch(part, &Between::default())?;
        }
        Ok(())
    }

    /// Sub-steps of a part that [`Self::launch`] takes.
    pub(super) fn taken_at_once(&self, part: Part) -> usize {
        match &self.launches {
            Launches::Naive => 1,
            Launches::Line { .. } => part.count,
            Launches::Fused(all) => {
                let fused = all.iter().find(|fused| fused.shape.steps <= part.count);
                fused.map_or(part.count, |fused| fused.shape.steps)
            }
        }
    }

    /// Takes sub-steps of a part, in one launch if they are fused; returns how many. In a plane they also do the work between steps.
    pub(super) fn launch(&mut self, part: Part, between: &Between) -> Result<usize, CudaError> {
        let Some(out) = &self.other else {
            self.sweeps(part)?;
            return Ok(1);
        };
        let out = [0, 1].map(|n: usize| out[n].address());
        self.readback.before_writing(&self.stream, out[0])?;
        let done = match &self.launches {
            Launches::Fused(all) => {
                let Some(fused) = all.iter().find(|fused| fused.shape.steps <= part.count) else {
                    return Ok(part.count);
                };
                self.plane_steps(fused, part, out, between)?;
                fused.shape.steps
            }
            Launches::Line { kernel, core, .. } => {
                self.line_steps(kernel, *core, part, out)?;
                part.count
            }
            Launches::Naive => 1,
        };
        if let Some(other) = &mut self.other {
            std::mem::swap(&mut self.field, other);
        }
        Ok(done)
    }

    #[allow(unsafe_code, reason = "kernel launches")]
    fn plane_steps(&self, fused: &Fused, part: Part, out: [u64; 2], between: &Between) -> Result<(), CudaError> {
        let layout = &self.host.springs.layout;
        let [nx, ny] = layout.size;
        let all = nx.div_ceil(fused.shape.core());
        let (plain, edges) = match &fused.edge {
            Some(_) => Strips::of(fused.shape, nx, layout.periodic[0]),
            None => (Strips::from(0, all), Strips::from(all, 0)),
        };
        let pairs = unsigned(ny.div_ceil(2));
        let across = |strips: usize| unsigned(strips.div_ceil(2));
        let steps = u32::try_from(fused.shape.steps).unwrap_or(1);
        let chunk = chunk_of(pairs, fused.capacity / across(all), steps);
        let kernels = match &between.cells {
            None => [Some(&fused.kernel), fused.edge.as_ref()],
            Some(_) => [Some(&fused.summing), fused.summing_edge.as_ref()],
        };
        for (kernel, strips) in kernels.into_iter().zip([plain, edges]) {
            let Some(kernel) = kernel.filter(|_| strips.count > 0) else {
                continue;
            };
            let parameters = self.fused(part, out, chunk, strips);
            let grid = (across(strips.count), pairs.div_ceil(chunk), 1);
            // SAFETY: the parameters are those of `fused_steps` and `edge_steps`, or of those that sum; all planes are pitch × ny, those of bonds have a row more before them, and
            // the kernels stay on sites of the grid, the rest of a lane's columns, and the bonds before the first. There is room for the cells of every step that is summed.
            unsafe {
                self.stream.launch(kernel, grid, 64, |launch| {
                    launch.arg(&parameters);
                    if let Some(cells) = &between.cells {
                        launch.arg(cells);
                    }
                })?;
            }
        }
        let Some(visits) = &between.visits else { return Ok(()) };
        let parameters = self.fused(part, out, visits::CHUNK, Strips::from(0, 0));
        let cells = between.cells.unwrap_or_default();
        let grid = (visits.count.unsigned_abs().div_ceil(2), 1, 1);
        // SAFETY: the parameters are those of `visiting_steps`; as above, the pieces are of the grid, and the lists hold every moment of the batch.
        unsafe {
            self.stream.launch(&fused.visiting, grid, 64, |launch| {
                launch.arg(&parameters).arg(&cells).arg(visits);
            })
        }
    }

    fn fused(&self, part: Part, out: [u64; 2], chunk: u32, strips: Strips) -> params::Fused<T> {
        params::Fused {
            field: [self.field[0].address(), self.field[1].address()],
            out,
            plane: self.plane(),
            springs: self.medium.springs(part.length),
            chunk: i32::try_from(chunk).unwrap_or(i32::MAX),
            strips: whole(strips.count),
            first: whole(strips.first),
            skip_from: whole(strips.skip_from),
            skip_by: whole(strips.skip_by),
            begins: i32::from(part.begins),
            ends: part.ends,
        }
    }

    #[allow(unsafe_code, reason = "a kernel launch")]
    fn line_steps(&self, kernel: &Kernel, core: usize, part: Part, out: [u64; 2]) -> Result<(), CudaError> {
        let parameters = params::Line {
            field: [self.field[0].address(), self.field[1].address()],
            out,
            plane: self.plane(),
            springs: self.medium.springs(part.length),
            steps: whole(part.count),
            begins: i32::from(part.begins),
            ends: part.ends,
        };
        let warps = self.host.springs.layout.size[0].div_ceil(core);
        let blocks = unsigned(warps.div_ceil(4));
        // SAFETY: the parameters are those of `line_steps`, which stays on sites of the line and the bond before the first.
        unsafe {
            self.stream.launch(kernel, (blocks, 1, 1), 128, |launch| {
                launch.arg(&parameters);
            })
        }
    }

    /// One sub-step, a kernel a sweep.
    fn sweeps(&mut self, part: Part) -> Result<(), CudaError> {
        self.readback.before_writing(&self.stream, self.field[0].address())?;
        if part.begins {
            self.damp()?;
        }
        for sweep in sweeps(self.host.springs.layout.rank) {
            self.sweep(*sweep, part.length)?;
        }
        if part.ends & 1 != 0 {
            self.damp()?;
        }
        Ok(())
    }

    #[allow(unsafe_code, reason = "a kernel launch")]
    fn sweep(&self, sweep: Sweep, length: usize) -> Result<(), CudaError> {
        let [nx, ny] = self.host.springs.layout.size;
        let parameters = params::Sweep {
            field: [self.field[0].address(), self.field[1].address()],
            plane: self.plane(),
            springs: self.medium.springs(length),
            axis: whole(sweep.axis),
            odd: i32::from(sweep.odd),
        };
        // A bond more than pairs: the odd ones begin before the first site.
        let (threads, rows) = if sweep.axis == 0 {
            (nx / 2 + 1, ny)
        } else {
            (nx, ny / 2 + 1)
        };
        let blocks = unsigned(threads.div_ceil(256));
        let grid = (blocks, unsigned(rows).min(65535), 1);
        // SAFETY: the parameters are those of `sweep`, whose threads have a bond of the grid each.
        unsafe {
            self.stream.launch(&self.kernels.sweep, grid, 256, |launch| {
                launch.arg(&parameters);
            })
        }
    }

    #[allow(unsafe_code, reason = "a kernel launch")]
    fn damp(&self) -> Result<(), CudaError> {
        let Some(factors) = self.medium.damping() else {
            return Ok(());
        };
        let (blocks, count) = self.everything();
        debug_assert!(factors.bytes() >= count as usize * size_of::<T>(), "{count} factors");
        let (p, factors) = (self.field[1].address(), factors.address());
        // SAFETY: the arguments are those of `damp`; both planes hold `count` numbers.
        unsafe {
            self.stream.launch(&self.kernels.damp, (blocks, 1, 1), 256, |launch| {
                launch.arg(&p).arg(&factors).arg(&count);
            })
        }
    }
}

/// Places at which something is added at any of these moments, ascending.
fn places_of<T>(moments: &[Vec<(u32, T)>]) -> Vec<u32> {
    let mut all = Vec::new();
    let mut last: &[(u32, T)] = &[];
    for moment in moments {
        // Sources that rest are where they were.
        if !moment
            .iter()
            .map(|(place, _)| place)
            .eq(last.iter().map(|(place, _)| place))
        {
            all.extend(moment.iter().map(|(place, _)| *place));
        }
        last = moment;
    }
    all.sort_unstable();
    all.dedup();
    all
}

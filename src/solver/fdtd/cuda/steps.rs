//! Steps on the device, and what is done to single sites after each.

use super::params::{self, whole};
use super::{Cuda, grid_of};
use crate::backend::cuda::{Buffer, CudaError, PushKernelArg};
use crate::solver::clock::RunClock;
use crate::solver::device::OnCuda;
use crate::solver::device::events::{BATCH, MOST_GATHERED};
use crate::solver::gathered::{gathered_places, is_gathered};
use crate::solver::transducers::{Act, Transducers};
use crate::solver::{SolverError, Taps};

/// Planes that a block of a step walks through.
const CHUNK: usize = 64;

impl<T: OnCuda> Cuda<T> {
    /// What a step of the two levels is given.
    pub(super) fn step_parameters(&self) -> params::Step<T> {
        params::Step {
            now: self.now.address(),
            old: self.old.address(),
            peak: self.peak.as_ref().map_or(0, Buffer::address),
            grid: grid_of(&self.host.sweep.lattice, self.pitch),
            medium: self.medium.parameters(),
            chunk: whole(CHUNK),
        }
    }

    /// Place of a site.
    fn place(&self, [i, j, k]: [usize; 3]) -> usize {
        (j + self.host.sweep.lattice.size[1] * k) * self.pitch + i
    }

    /// Steps and records.
    pub(super) fn go(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.watch_potential()?;
        }
        let gathered = gathered_places(taps, MOST_GATHERED, |at| self.place(at));
        let mut done = 0;
        // Whole passes, so that none is cut short.
        let most = (BATCH / self.steps_of_pass() as u64).max(1) * self.steps_of_pass() as u64;
        while done < steps {
            let batch = (steps - done).min(most);
            self.go_batch(&clock.after(done), batch, &gathered, taps)?;
            done += batch;
        }
        Ok(())
    }

    /// What the sources add after each of the next steps.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "grids of more than 2^32 sites were refused"
    )]
    fn signals(&self, clock: &RunClock, steps: u64) -> Vec<Vec<(u32, T)>> {
        let square = self.host.time_step * self.host.time_step;
        let mut all = Vec::new();
        for n in 0..steps {
            let mut now = Vec::new();
            let (emitters, walls) = (&self.host.emitters, &self.host.sweep.mask);
            emitters.play(clock.after(n).time(), walls, |site, strength| {
                now.push((self.place(site) as u32, T::of(square * strength)));
            });
            all.push(now);
        }
        all
    }

    /// What the transducers do in the next steps: signals to add are appended to those of the sources, what is overwritten goes to the device, and places that
    /// are heard to `gathered`. Returns the steps in which they play.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "grids of more than 2^32 sites were refused"
    )]
    fn prepare_transducers(
        &mut self,
        transducers: &Transducers,
        signals: &mut [Vec<(u32, T)>],
        gathered: &mut Vec<u32>,
    ) -> Result<usize, CudaError> {
        let [nx, ny, _] = self.host.sweep.lattice.size;
        let sites = transducers.sites();
        let places: Vec<u32> = sites
            .iter()
            .map(|site| self.place([site % nx, site / nx % ny, site / (nx * ny)]) as u32)
            .collect();
        let row = sites.len().max(1);
        let playing = (transducers.ahead().len() / row).min(signals.len());
        // Walls stay silent.
        let mask = &self.host.sweep.mask;
        let free: Vec<usize> = (0..sites.len())
            .filter(|n| !mask.get(sites[*n]).copied().unwrap_or(false))
            .collect();
        match transducers.act() {
            Act::Record => {
                gathered.extend(places);
                return Ok(0);
            }
            Act::Add => {
                let square = self.host.time_step * self.host.time_step;
                for (signals, values) in signals.iter_mut().zip(transducers.ahead().chunks_exact(row)) {
                    signals.extend(free.iter().map(|n| (places[*n], T::of(square * values[*n].re))));
                }
            }
            Act::Overwrite => {
                let places: Vec<u32> = free.iter().map(|n| places[*n]).collect();
                let rows = transducers.ahead().chunks_exact(row).take(playing);
                let values: Vec<T> = rows
                    .flat_map(|values| free.iter().map(|n| T::of(values[*n].re)))
                    .collect();
                self.events.set(&self.stream, &places, &values)?;
            }
        }
        Ok(playing)
    }

    fn go_batch(&mut self, clock: &RunClock, steps: u64, gathered: &[u32], taps: &mut Taps) -> Result<(), CudaError> {
        let mut signals = self.signals(clock, steps);
        let mut gathered = gathered.to_vec();
        let touches = taps.transducers_act();
        self.events.set(&self.stream, &[], &[])?;
        if let Some(transducers) = taps.transducers_mut().as_mut().filter(|_| touches) {
            let played = self.prepare_transducers(transducers, &mut signals, &mut gathered)?;
            transducers.pass(played);
        }
        let gathered = &gathered[..];
        self.events.load(&self.stream, &mut signals, gathered)?;
        if self.torre.is_some() || self.tiles.is_some() {
            let signalled = signals.iter().flatten().map(|(place, _)| *place);
            self.mark_rows(signalled.chain(gathered.iter().copied()))?;
        }
        let passes = !touches && taps.taps().iter().all(|tap| is_gathered(tap, MOST_GATHERED));
        let mut clocks = Vec::new();
        // Of each step, the values of detectors that are summed.
        let mut records: Vec<Vec<f64>> = Vec::new();
        let steps = usize::try_from(steps).unwrap_or(usize::MAX);
        let mut n = 0;
        let records_any = !taps.taps().is_empty() || !gathered.is_empty();
        while n < steps {
            let done = match (passes, &self.torre) {
                (true, Some(_)) => self.pass(n, steps - n)?,
                (true, None) => self.tiled(n, steps - n)?,
                (false, _) => 0,
            };
            if done == 0 {
                self.step(n)?;
            }
            for past in 1..=done.max(1) {
                if records_any {
                    let clock = clock.after((n + past) as u64);
                    records.push(if taps.any_due(&clock) {
                        self.readback.summed(&self.stream, taps, |region| self.look(region))?
                    } else {
                        vec![0.0; taps.taps().len()]
                    });
                    clocks.push(clock);
                }
            }
            n += done.max(1);
        }
        if !records_any {
            return Ok(());
        }
        self.events.record(&self.stream, taps, &clocks, records)
    }

    /// Steps that one launch takes.
    pub(super) fn steps_of_pass(&self) -> usize {
        match (&self.torre, &self.tiles) {
            (Some(torre), _) => torre.steps,
            (None, Some(tiles)) => tiles.strips.steps,
            (None, None) => 1,
        }
    }

    /// What is done to single sites of a level after step `n` of the batch.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn operate(&self, level: u64, n: usize) -> Result<(), CudaError> {
        if self.events.is_empty() {
            return Ok(());
        }
        let (sites, n) = (self.events.parameters(), whole(n));
        // SAFETY: the arguments are those of the kernel, whose lists hold what their ends say.
        unsafe {
            self.stream.launch(&self.kernels.operate, (1, 1, 1), 1024, |launch| {
                launch.arg(&sites).arg(&level).arg(&n);
            })
        }
    }

    /// One step, with the operations of step `n` of the batch.
    #[allow(unsafe_code, reason = "kernel launches")]
    fn step(&mut self, n: usize) -> Result<(), CudaError> {
        self.readback.before_writing(&self.stream, self.old.address())?;
        let mut parameters = self.step_parameters();
        // What sources add to counts for the largest pressures, not what was there before.
        let peak = parameters.peak;
        let peaks_after = peak != 0 && (self.events.adds() || self.events.overwrites());
        if peaks_after {
            parameters.peak = 0;
        }
        let [nx, ny, nz] = self.host.sweep.lattice.size;
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let grid = match self.host.sweep.lattice.rank {
            1 => (count(nx.div_ceil(1024)), 1, 1),
            2 => (count(nx.div_ceil(128)), count(ny.div_ceil(8)), 1),
            _ => (
                count(nx.div_ceil(128)),
                count(ny.div_ceil(8)),
                count(nz.div_ceil(CHUNK)),
            ),
        };
        // SAFETY: the parameters are those of the kernels; all planes hold `pitch` × ny × nz numbers, the lists what their ends say, and the
        // kernels read and write sites of the grid, and the rest of the last four columns of a row.
        unsafe {
            let listed = self.medium.listed();
            if self.medium.is_plain() || listed.is_some() {
                self.stream.launch(&self.kernels.plain, grid, 256, |launch| {
                    launch.arg(&parameters);
                })?;
            }
            if let Some((list, segments)) = listed {
                let (blocks, segments) = (count(segments.div_ceil(8)).min(32768), whole(segments));
                self.stream
                    .launch(&self.kernels.listed, (blocks, 1, 1), 256, |launch| {
                        launch.arg(&parameters).arg(&list).arg(&segments);
                    })?;
            } else if !self.medium.is_plain() {
                let grid = (count(nx.div_ceil(32)), count((ny * nz).div_ceil(8)).min(32768), 1);
                self.stream.launch(&self.kernels.general, grid, 256, |launch| {
                    launch.arg(&parameters);
                })?;
            }
        }
        self.operate(parameters.old, n)?;
        // SAFETY: both hold that many numbers.
        unsafe {
            let numbers = count(self.pitch * ny * nz);
            let blocks = numbers.div_ceil(256).min(8192);
            if peaks_after {
                self.stream.launch(&self.kernels.peaks, (blocks, 1, 1), 256, |launch| {
                    launch.arg(&parameters.old).arg(&peak).arg(&numbers);
                })?;
            }
            if let Some(potential) = &self.potential {
                let (potential, step) = (potential.address(), T::of(self.host.time_step));
                // A picture under way may read it.
                self.readback.before_any_writing(&self.stream)?;
                self.stream
                    .launch(&self.kernels.potentials, (blocks, 1, 1), 256, |launch| {
                        launch.arg(&parameters.old).arg(&potential).arg(&step).arg(&numbers);
                    })?;
            }
        }
        std::mem::swap(&mut self.now, &mut self.old);
        Ok(())
    }
}

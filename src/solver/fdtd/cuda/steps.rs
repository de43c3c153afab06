//! Steps on the device, and operations on single sites after each.

use super::Cuda;
use super::params::{self, unsigned, whole};
use crate::backend::cuda::{Buffer, CudaError, Stream};
use crate::solver::clock::RunClock;
use crate::solver::device::events::{BATCH, MOST_GATHERED, Players, Sent};
use crate::solver::device::readback::{Region, sharing_of};
use crate::solver::device::{Ending, OnCuda};
use crate::solver::gathered::{gathered_places, is_gathered};
use crate::solver::resident::Resident;
use crate::solver::transducers::{Act, Transducers};
use crate::solver::{SolverError, Taps};
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of signals or records of a batch.
const ROOM: usize = 256 << 20;
/// Values of single sites that a batch brings to the host: few enough that those of the last batch, for which nothing is stepped meanwhile, take little time.
const BROUGHT: usize = 4 << 20;
/// Planes that a block of a step walks through at most.
const CHUNK: usize = 64;
/// Columns and rows of such a block.
const BLOCK: [usize; 2] = [128, 8];

/// Planes that a block of a step walks through where the device holds `resident` of them: so few that all blocks have work.
pub(super) fn planes_of_block([nx, ny, nz]: [usize; 3], resident: usize) -> usize {
    let across = nx.div_ceil(BLOCK[0]) * ny.div_ceil(BLOCK[1]);
    let parts = (resident / across.max(1)).max(1);
    nz.div_ceil(parts).min(CHUNK)
}

impl Ending {
    /// The planes to be stepped `after` steps of a stencil of `half` planes to either side before they are copied, of `nz`.
    fn planes(&self, after: usize, half: usize, nz: usize) -> Range<usize> {
        let reach = after.saturating_mul(half);
        self.core.start.saturating_sub(reach)..self.core.end.saturating_add(reach).min(nz)
    }

    /// The planes that are copied, and the others of the core.
    fn parts(&self) -> ([Range<usize>; 2], Range<usize>) {
        let Range { start, end } = self.core;
        let low = (start + self.sent[0]).min(end);
        let high = end.saturating_sub(self.sent[1]).max(low);
        ([start..low, high..end], low..high)
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Arguments of a step of the two levels.
    pub(super) fn step_parameters(&self) -> params::Step<T> {
        params::Step {
            now: self.now.address(),
            old: self.old.address(),
            peak: self.peak.as_ref().map_or(0, Buffer::address),
            grid: params::Grid::new(&self.host.sweep.lattice, self.pitch),
            medium: self.medium.parameters(),
            chunk: whole(self.chunk),
        }
    }

    /// Place of a site.
    pub(super) fn place(&self, [i, j, k]: [usize; 3]) -> usize {
        (j + self.host.sweep.lattice.size[1] * k) * self.pitch + i
    }

    /// Steps and records.
    pub(super) fn go(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.watch_velocity()?;
        }
        self.choose_followed(taps, steps);
        self.events.gather_beside(self.follow.places());
        let gathered = gathered_places(taps, MOST_GATHERED, |at| self.place(at));
        let ending = self.ending.take();
        let mut done = 0;
        // Whole passes, so that none is cut short, and no more values of single sites than there is room for.
        let pass = self.steps_of_pass() as u64;
        let brought =
            gathered.len() + self.follow.places().len() + taps.transducers().map_or(0, |own| own.sites().len());
        let sites = self.host.emitters.sites() + brought;
        let room = (ROOM / (sites.max(1) * size_of::<f64>())).min(BROUGHT / brought.max(1)) as u64;
        let most = (BATCH.min(room) / pass).max(1) * pass;
        // The host takes in what a batch has recorded while the device steps the next one.
        let mut before = None;
        while done < steps {
            let batch = (steps - done).min(most);
            let ending = ending.as_ref().filter(|_| done + batch == steps);
            let sent = self.go_batch(&clock.after(done), (batch, ending), &gathered, taps)?;
            self.take_in(std::mem::replace(&mut before, sent), taps)?;
            done += batch;
        }
        Ok(self.take_in(before, taps)?)
    }

    fn take_in(&mut self, sent: Option<Sent<T>>, taps: &mut Taps) -> Result<(), CudaError> {
        sent.map_or(Ok(()), |sent| self.events.receive(&self.stream, taps, sent))
    }

    /// What the sources add after each of the next steps.
    fn signals(&self, clock: &RunClock, steps: u64) -> Vec<Vec<(u32, T)>> {
        let square = self.host.time_step * self.host.time_step;
        let (emitters, sweep) = (&self.host.emitters, &self.host.sweep);
        let ([_, ny, _], pitch) = (sweep.lattice.size, self.pitch);
        let signals = |n: u64| {
            let mut now = Vec::new();
            sweep.play(emitters, clock.after(n).time(), |[i, j, k], strength| {
                now.push((unsigned((j + ny * k) * pitch + i), T::of(square * strength)));
            });
            now
        };
        (0..steps).into_par_iter().map(signals).collect()
    }

    /// Sources that stay, and transducers that add: the sites that play after every step, and the strength of every channel after each. `None` where a source moves.
    fn players(&self, clock: &RunClock, steps: u64, adding: Option<&Transducers>) -> Option<(Players, Vec<f64>)> {
        let emitters = &self.host.emitters;
        let sources = self.host.sweep.players(emitters)?.into_iter();
        let mut all: Vec<(u32, u32, f64)> = sources
            .map(|(site, channel, share)| (unsigned(self.place(site)), unsigned(channel), share))
            .collect();
        let mut strengths: Vec<Vec<f64>> = (0..steps)
            .into_par_iter()
            .map(|n| emitters.strengths(clock.after(n).time()))
            .collect();
        if let Some(transducers) = adding {
            let first = strengths.first().map_or(0, Vec::len);
            let places = self.places_of(transducers);
            let row = places.len().max(1);
            let free = self.free(transducers);
            let taken = self.taken(transducers);
            all.extend(
                (free.iter().enumerate()).map(|(channel, n)| (places[*n], unsigned(first + channel), taken[*n])),
            );
            let mut rows = transducers.ahead().chunks_exact(row);
            for strengths in &mut strengths {
                // They are silent after the last row.
                let values = rows.next();
                strengths.extend(free.iter().map(|n| values.map_or(0.0, |values| values[*n].re)));
            }
        }
        let square = self.host.time_step * self.host.time_step;
        Some((Players::new(all, square), strengths.concat()))
    }

    /// Places of the sites of transducers.
    fn places_of(&self, transducers: &Transducers) -> Vec<u32> {
        let [nx, ny, _] = self.host.sweep.lattice.size;
        let place = |site: &usize| unsigned(self.place([site % nx, site / nx % ny, site / (nx * ny)]));
        transducers.sites().iter().map(place).collect()
    }

    /// What is taken of the signals of transducers behind the damping of their sites.
    fn taken(&self, transducers: &Transducers) -> Vec<f64> {
        let sweep = &self.host.sweep;
        let nx = sweep.lattice.size[0];
        let of = |site: &usize| sweep.taken(site / nx, site % nx);
        transducers.sites().iter().map(of).collect()
    }

    /// Numbers of the transducers that do not stand in walls, which stay silent.
    fn free(&self, transducers: &Transducers) -> Vec<usize> {
        let (sites, mask) = (transducers.sites(), &self.host.sweep.mask);
        let is_free = |n: &usize| !mask.get(sites[*n]).copied().unwrap_or(false);
        (0..sites.len()).filter(is_free).collect()
    }

    /// Copies the operations on single sites of a batch to the device; notes what transducers have played.
    fn prepare_sites(
        &mut self,
        clock: &RunClock,
        steps: u64,
        gathered: &[u32],
        taps: &mut Taps,
    ) -> Result<(), CudaError> {
        let count = usize::try_from(steps).unwrap_or(usize::MAX);
        let mut gathered = gathered.to_vec();
        self.events.set(&self.stream, &[], &[])?;
        let (mut adding, mut played) = (None, 0);
        if let Some(transducers) = taps.transducers().filter(|own| !own.is_idle()) {
            let places = self.places_of(transducers);
            let row = places.len().max(1);
            let ahead = (transducers.ahead().len() / row).min(count);
            match transducers.act() {
                Act::Record => gathered.extend(places),
                Act::Add => (adding, played) = (Some(transducers), ahead),
                Act::Overwrite => {
                    played = ahead;
                    let free = self.free(transducers);
                    let places: Vec<u32> = free.iter().map(|n| places[*n]).collect();
                    let rows = transducers.ahead().chunks_exact(row).take(played);
                    let values: Vec<T> = rows
                        .flat_map(|values| free.iter().map(|n| T::of(values[*n].re)))
                        .collect();
                    self.events.set(&self.stream, &places, &values)?;
                }
            }
        }
        match self.players(clock, steps, adding) {
            Some((players, strengths)) if !players.places.is_empty() => {
                let loud = (players, &strengths[..]);
                self.events
                    .load_players(&self.stream, &self.kernels.play, loud, count, &gathered)?;
            }
            Some(_) => self
                .events
                .load(&self.stream, &mut vec![Vec::new(); count], &gathered)?,
            None => {
                let mut signals = self.signals(clock, steps);
                if let Some(transducers) = adding {
                    let square = self.host.time_step * self.host.time_step;
                    let (places, free) = (self.places_of(transducers), self.free(transducers));
                    let taken = self.taken(transducers);
                    let rows = transducers.ahead().chunks_exact(places.len().max(1));
                    for (signals, values) in signals.iter_mut().zip(rows) {
                        signals.extend(
                            free.iter()
                                .map(|n| (places[*n], T::of(square * values[*n].re * taken[*n]))),
                        );
                    }
                }
                self.events.load(&self.stream, &mut signals, &gathered)?;
                if self.torre.is_some() || self.tiles.is_some() {
                    self.mark_rows(signals.iter().flatten().map(|(place, _)| *place))?;
                }
                if let Some(transducers) = taps.transducers_mut().as_mut() {
                    transducers.pass(played);
                }
                return Ok(());
            }
        }
        if self.torre.is_some() || self.tiles.is_some() {
            self.mark_rows(std::iter::empty())?;
        }
        if let Some(transducers) = taps.transducers_mut().as_mut() {
            transducers.pass(played);
        }
        Ok(())
    }

    /// Puts the steps of a batch in, and what brings its records to the host, if there are any.
    fn go_batch(
        &mut self,
        clock: &RunClock,
        (steps, ending): (u64, Option<&Ending>),
        gathered: &[u32],
        taps: &mut Taps,
    ) -> Result<Option<Sent<T>>, CudaError> {
        self.prepare_sites(clock, steps, gathered, taps)?;
        self.begin_to_follow(usize::try_from(steps).unwrap_or(usize::MAX))?;
        let is_summed = |(n, tap)| !is_gathered(tap, MOST_GATHERED) && !self.follow.has(n);
        let summed: Vec<bool> = taps.whole().iter().enumerate().map(is_summed).collect();
        let records = !taps.taps().is_empty() || !self.events.gathers().is_empty();
        let mut n = 0;
        while n < steps {
            // What is summed is seen between two launches.
            let left = taps.until_due_of(&clock.after(n), steps - n, |tap| summed[tap]);
            let [first, left] = [n, left].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
            let done = if self.torre.is_some() {
                self.pass(first, left)?
            } else {
                self.tiled(first, left)?
            };
            if done == 0 {
                match ending.filter(|_| self.steps_planes_alone()) {
                    Some(ending) => self.step_of_window(ending, left - 1)?,
                    None => self.step(first)?,
                }
            }
            n += done.max(1) as u64;
            self.keep_sums((taps, &summed), &clock.after(n))?;
        }
        if !records {
            return Ok(None);
        }
        let clocks: Vec<RunClock> = (1..=steps).map(|n| clock.after(n)).collect();
        if taps.keeps_rows() {
            let ny = self.host.sweep.lattice.size[1];
            let rows = self.readback.rows_kept(&self.stream, (taps, ny), &clocks)?;
            self.events.record_rows(&self.stream, taps, &clocks, (rows, ny))?;
            return Ok(None);
        }
        let mut values = (self.readback).kept(&self.stream, (taps, |n| summed[n]), &clocks)?;
        self.sum_followed(taps, &clocks, &mut values)?;
        self.events.send(&self.stream, clocks, values).map(Some)
    }

    /// Queues what detectors sum at a moment.
    fn keep_sums(&mut self, (taps, summed): (&Taps, &[bool]), clock: &RunClock) -> Result<(), CudaError> {
        for (n, tap) in taps.taps().iter().enumerate() {
            if let Some(region) = Region::of(tap).filter(|_| summed[n] && taps.is_due(n, clock)) {
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

    /// Steps that one launch takes.
    pub(super) fn steps_of_pass(&self) -> usize {
        match (&self.torre, &self.tiles) {
            (Some(torre), _) => torre.steps,
            (None, Some(tiles)) => tiles.steps(),
            (None, None) => 1,
        }
    }

    /// Operations on single sites of a level after step `n` of the batch.
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

    /// Whether a step is that of the plain kernel in space, and nothing else happens.
    fn steps_planes_alone(&self) -> bool {
        let watched = self.peak.is_some() || self.potential.is_some();
        let plain = self.medium.is_plain();
        self.host.sweep.lattice.rank == 3 && plain && self.events.is_empty() && !watched
    }

    /// One step of a window, `after` steps before its ghosts are copied: of the planes that count until then, and in the last one what is sent first.
    fn step_of_window(&mut self, ending: &Ending, after: usize) -> Result<(), CudaError> {
        self.readback.before_writing(&self.stream, self.old.address())?;
        let lattice = &self.host.sweep.lattice;
        let planes = ending.planes(after, lattice.half, lattice.size[2]);
        match (after, self.early.take()) {
            (0, Some(mut early)) => {
                let (sent, rest) = ending.parts();
                let first = |stream: &Stream| sent.into_iter().try_for_each(|planes| self.step_planes(stream, planes));
                let done = early.split(&self.stream, first, |stream| self.step_planes(stream, rest));
                self.early = Some(early);
                done?;
            }
            (_, early) => {
                self.early = early;
                self.step_planes(&self.stream, planes)?;
            }
        }
        std::mem::swap(&mut self.now, &mut self.old);
        Ok(())
    }

    /// Puts one step of some planes into a stream, by the plain kernel.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn step_planes(&self, stream: &Stream, planes: Range<usize>) -> Result<(), CudaError> {
        if planes.is_empty() {
            return Ok(());
        }
        let [nx, ny, nz] = self.host.sweep.lattice.size;
        debug_assert!(planes.end <= nz && self.now.bytes() >= self.pitch * ny * nz * size_of::<T>());
        debug_assert!(self.old.bytes() == self.now.bytes(), "levels of one length");
        let grid = (
            unsigned(nx.div_ceil(BLOCK[0])),
            unsigned(ny.div_ceil(BLOCK[1])),
            unsigned(planes.len().div_ceil(self.chunk)),
        );
        let (parameters, bottom, top) = (self.step_parameters(), whole(planes.start), whole(planes.end));
        // SAFETY: as in `step`, of the planes from `bottom` to `top`.
        unsafe {
            stream.launch(&self.kernels.plain, grid, 256, |launch| {
                launch.arg(&parameters).arg(&bottom).arg(&top);
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
        let grid = match self.host.sweep.lattice.rank {
            1 => (unsigned(nx.div_ceil(1024)), 1, 1),
            _ => (
                unsigned(nx.div_ceil(BLOCK[0])),
                unsigned(ny.div_ceil(BLOCK[1])),
                unsigned(nz.div_ceil(self.chunk)),
            ),
        };
        debug_assert!(
            self.now.bytes() >= self.pitch * ny * nz * size_of::<T>(),
            "a level of {ny} × {nz} rows"
        );
        debug_assert!(self.old.bytes() == self.now.bytes(), "levels of one length");
        // SAFETY: the parameters are those of the kernels; all planes hold `pitch` × ny × nz numbers, the lists what their ends say, and the
        // kernels read and write sites of the grid, and the rest of the last four columns of a row.
        unsafe {
            if self.medium.has_plain_steps() {
                let (bottom, top) = (0, whole(nz));
                self.stream.launch(&self.kernels.plain, grid, 256, |launch| {
                    launch.arg(&parameters).arg(&bottom).arg(&top);
                })?;
            }
            let dense = self.medium.has_density();
            let layered = if dense {
                &self.kernels.dense
            } else {
                &self.kernels.layered
            };
            for (kernel, segments) in [
                (layered, self.medium.layered()),
                (&self.kernels.listed, self.medium.listed()),
            ] {
                if let Some((list, segments)) = segments {
                    let (blocks, segments) = (unsigned(segments.div_ceil(8)), whole(segments));
                    self.stream.launch(kernel, (blocks, 1, 1), 256, |launch| {
                        launch.arg(&parameters).arg(&list).arg(&segments);
                    })?;
                }
            }
        }
        self.operate(parameters.old, n)?;
        // SAFETY: both hold that many numbers.
        unsafe {
            let numbers = unsigned(self.pitch * ny * nz);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_steps_what_its_core_still_needs() {
        let ending = Ending {
            core: 14..50,
            sent: [14, 14],
        };
        assert_eq!(ending.planes(0, 2, 64), 14..50);
        assert_eq!(ending.planes(3, 2, 64), 8..56);
        assert_eq!(ending.planes(usize::MAX, 2, 64), 0..64);
        assert_eq!(ending.parts(), ([14..28, 36..50], 28..36));
        // A low window is copied as a whole.
        let low = Ending {
            core: 14..34,
            sent: [14, 14],
        };
        assert_eq!(low.parts(), ([14..28, 28..34], 28..28));
        let below = Ending {
            core: 0..36,
            sent: [0, 14],
        };
        assert_eq!(below.parts(), ([0..0, 22..36], 0..22));
    }

    #[test]
    fn blocks_are_short_where_there_are_few() {
        // A tower of blocks of all planes would leave most of 500 places empty.
        assert_eq!(planes_of_block([97, 97, 97], 500), 3);
        assert_eq!(planes_of_block([50, 40, 30], 500), 1);
        assert_eq!(planes_of_block([512, 512, 512], 500), CHUNK);
        for size in [[1, 1, 1], [400, 300, 1], [4096, 4096, 1], [64, 64, 64], [300, 7, 1000]] {
            for resident in [1, 132, 1056] {
                let planes = planes_of_block(size, resident);
                assert!(
                    (1..=CHUNK.min(size[2])).contains(&planes),
                    "{size:?} {resident}: {planes}"
                );
            }
        }
    }
}

//! Steps on the adapter, and operations on single sites after each.

use super::Wgpu;
use super::tiles::Tiles;
use crate::backend::wgpu::WgpuError;
use crate::solver::adapter::operations::{MOST_GATHERED, Operations, SiteBatch};
use crate::solver::adapter::sound_sums::Sounding;
use crate::solver::clock::RunClock;
use crate::solver::gathered::{gathered_places, hand_over, is_gathered};
use crate::solver::resident::Resident;
use crate::solver::transducers::Act;
use crate::solver::{SolverError, Taps};

impl Wgpu {
    /// Place of a site.
    fn place(&self, [i, j, k]: [usize; 3]) -> usize {
        let [nx, ny, _] = self.host.sweep.lattice.size;
        (k * ny + j) * nx + i
    }

    /// Steps and records.
    pub(super) fn go(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.watch_velocity()?;
        }
        self.prepare_detectors(taps)?;
        let gathered = gathered_places(taps, MOST_GATHERED, |at| self.place(at));
        let heard = taps.transducers().map_or(0, |own| own.sites().len());
        let most = Operations::most_steps(gathered.len() + heard).min(self.sums.most_steps());
        let mut done = 0;
        while done < steps {
            let batch = (steps - done).min(most);
            self.go_batch(&clock.after(done), batch, &gathered, taps)?;
            done += batch;
        }
        Ok(())
    }

    fn go_batch(&mut self, clock: &RunClock, steps: u64, gathered: &[u32], taps: &mut Taps) -> Result<(), SolverError> {
        let count = usize::try_from(steps).unwrap_or(usize::MAX);
        let acts = taps.transducers_act();
        let adds = taps.transducers().is_some_and(|own| own.act() == Act::Add) && acts;
        let mut batch = self.site_batch(clock, steps, gathered, adds);
        if let Some(transducers) = taps.transducers_mut().as_mut().filter(|_| acts) {
            // Walls stay silent.
            let sweep = &self.host.sweep;
            let (nx, square) = (sweep.lattice.size[0], self.host.time_step * self.host.time_step);
            let silent = |site: usize| sweep.mask.get(site).copied().unwrap_or(false);
            let adds = transducers.act() == Act::Add;
            let played = batch.join(transducers, count, silent, |site, signal| {
                let scale = if adds {
                    square * sweep.taken(site / nx, site % nx)
                } else {
                    1.0
                };
                scale * signal.re
            });
            transducers.pass(played);
        }
        let tiled = self.tiles().is_some();
        match &mut self.single {
            Some(single) if !tiled => single.places_mut().load(&self.stream, &mut batch, count)?,
            _ => self.operations.load(&self.stream, &mut batch)?,
        }
        let summed: Vec<bool> = (taps.taps().iter().map(|tap| !is_gathered(tap, MOST_GATHERED))).collect();
        let mut n = 0;
        while n < count {
            // What is summed is seen between two launches.
            let left = taps.until_due_of(&clock.after(n as u64), (count - n) as u64, |tap| summed[tap]);
            n += self.pass(n, usize::try_from(left).unwrap_or(usize::MAX))?;
            self.sum_regions(n - 1, |tap| taps.is_due(tap, &clock.after(n as u64)))?;
        }
        if !(taps.taps().is_empty() && batch.gathered.is_empty()) {
            let values = match &self.single {
                Some(single) if !tiled => single.records(&self.stream, count)?,
                _ => self.operations.records(&self.stream, count)?,
            };
            let clocks: Vec<RunClock> = (1..=steps).map(|n| clock.after(n)).collect();
            let sums = self.take_sums(count)?;
            hand_over(taps, MOST_GATHERED, &values, &clocks, sums);
        }
        Ok(())
    }

    /// What the sources add after each of the next steps, and what is recorded of them. `adds`: whether transducers add beside them.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "buffers of more than 2^32 numbers were refused; rounded to the precision of the run"
    )]
    fn site_batch(&self, clock: &RunClock, steps: u64, gathered: &[u32], adds: bool) -> SiteBatch {
        let square = self.host.time_step * self.host.time_step;
        let stay = self
            .host
            .sweep
            .players(&self.host.emitters)
            .filter(|all| !all.is_empty() && !adds);
        if let Some(mut players) = stay {
            // Several at one site stay in their order.
            players.sort_by_key(|(site, ..)| self.place(*site));
            let strengths = (0..steps).map(|n| self.host.emitters.strengths(clock.after(n).time()));
            let of_step = |strengths: Vec<f64>| {
                let played = (players.iter()).map(move |(_, channel, share)| square * (strengths[*channel] * share));
                played.map(|value| value as f32)
            };
            return SiteBatch {
                played: strengths.flat_map(of_step).collect(),
                players: players.iter().map(|(site, ..)| self.place(*site) as u32).collect(),
                // Nothing else is added.
                gathered: gathered.to_vec(),
                ..SiteBatch::default()
            };
        }
        let added = (0..steps).map(|n| {
            let mut now = Vec::new();
            let (emitters, sweep) = (&self.host.emitters, &self.host.sweep);
            sweep.play(emitters, clock.after(n).time(), |site, strength| {
                now.push((self.place(site) as u32, (square * strength) as f32));
            });
            now
        });
        SiteBatch {
            added: added.collect(),
            gathered: gathered.to_vec(),
            ..SiteBatch::default()
        }
    }

    /// At most `most` steps, with the operations of the batch from its step `n` on; returns how many.
    fn pass(&mut self, n: usize, most: usize) -> Result<usize, WgpuError> {
        let Some(tiles) = self.tiles() else {
            return self.step(n);
        };
        let steps = most.min(tiles.steps());
        tiles.launch(self, n, steps)?;
        (self.pair, self.newer) = (1 - self.pair, 0);
        Ok(steps)
    }

    /// Tiles, where they take the steps: what is kept of every site is asked after every step.
    fn tiles(&self) -> Option<&Tiles> {
        let tiles = self.tiles.as_ref();
        tiles.filter(|_| self.peak.is_none() && self.potential.is_none())
    }

    /// One step, with the operations of step `n` of the batch; returns 1.
    fn step(&mut self, n: usize) -> Result<usize, WgpuError> {
        let at = [self.pair, self.newer];
        self.newer = 1 - self.newer;
        let level = self.levels()[0].clone();
        if let Some(single) = &mut self.single {
            single.step(&self.stream, &self.medium, &self.pairs, at, n)?;
        } else {
            self.medium.step(&self.stream, at)?;
            self.operations.operate(&self.stream, &level, n)?;
        }
        let (sites, level) = (self.sites(), &level);
        if let Some(peak) = &self.peak {
            self.beside.keep_largest(&self.stream, [level, peak], sites)?;
        }
        if let Some(potential) = &self.potential {
            self.beside.integrate(&self.stream, [level, potential], sites)?;
        }
        Ok(1)
    }
}

//! Steps on the adapter, and operations on single sites between them.

use super::planes::sites;
use super::{Pass, Wgpu};
use crate::backend::wgpu::WgpuError;
use crate::solver::adapter::operations::{MOST_GATHERED, Operations, SiteBatch};
use crate::solver::adapter::sound_sums::Sounding;
use crate::solver::adapter::unsigned;
use crate::solver::clock::RunClock;
use crate::solver::gathered::{gathered_places, hand_over, is_gathered};
use crate::solver::resident::Resident;
use crate::solver::stepper::Stepper;
use crate::solver::transducers::{Act, Transducers};
use crate::solver::{SolverError, Taps};
use num_complex::Complex64;

/// What happens to momenta before each step of a batch; to them and to pressures after it.
#[derive(Default)]
struct Batch {
    kicks: SiteBatch,
    momenta: SiteBatch,
    pressures: SiteBatch,
}

impl Wgpu {
    /// Steps and records.
    pub(super) fn go(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.watch_velocity()?;
        }
        match self.prepare_sums(taps) {
            // Then energies and fluxes are measured where the processor steps.
            Err(error) if error.lacks_memory() => {
                return self.with_field(|host| host.advance_observed(clock, steps, taps));
            }
            prepared => prepared?,
        }
        let nx = self.host.springs.layout.size[0];
        let gathered = gathered_places(taps, MOST_GATHERED, |[i, j, _]| j * nx + i);
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
        let mut batch = self.batch(clock, count, gathered, acts);
        if let Some(transducers) = taps.transducers_mut().as_mut().filter(|_| acts) {
            let played = self.join(transducers, count, &mut batch);
            transducers.pass(played);
        }
        self.kicks.load(&self.stream, &mut batch.kicks)?;
        self.momenta.load(&self.stream, &mut batch.momenta)?;
        self.pressures.load(&self.stream, &mut batch.pressures)?;
        let operations = [&self.kicks, &self.momenta, &self.pressures];
        let kept = self.potential.is_some() || self.peak.is_some();
        let one_by_one = kept || operations.iter().any(|operations| operations.are_any());
        let summed: Vec<bool> = (taps.taps().iter().map(|tap| !is_gathered(tap, MOST_GATHERED))).collect();
        let mut n = 0;
        while n < count {
            if one_by_one {
                self.step(n)?;
                n += 1;
            } else {
                // What is summed is seen between two launches.
                let left = taps.until_due_of(&clock.after(n as u64), (count - n) as u64, |tap| summed[tap]);
                let left = usize::try_from(left).unwrap_or(usize::MAX);
                self.run(left)?;
                n += left;
            }
            self.sum_regions(n - 1, |tap| taps.is_due(tap, &clock.after(n as u64)))?;
        }
        let (own, all) = (gathered.len(), batch.pressures.gathered.len());
        if !(taps.taps().is_empty() && all == 0) {
            let values = self.pressures.records(&self.stream, count)?;
            let momenta = self.momenta.records(&self.stream, count)?;
            let rows = || values.chunks_exact(all.max(1));
            let detected: Vec<f32> = rows().flat_map(|row| &row[..own]).copied().collect();
            let clocks: Vec<RunClock> = (1..=steps).map(|n| clock.after(n)).collect();
            let sums = self.take_sums(count)?;
            hand_over(taps, MOST_GATHERED, &detected, &clocks, sums);
            let heard = rows().flat_map(|row| &row[own..]).zip(&momenta);
            let heard: Vec<Complex64> = heard.map(|(q, p)| Complex64::new((*q).into(), (*p).into())).collect();
            if let Some(transducers) = taps.transducers_mut() {
                transducers.hear(&heard);
            }
        }
        Ok(())
    }

    /// What sources add before and after each of the next steps, and what is recorded of them. `apart`: whether anything comes between the end of a step and the beginning of
    /// the next; otherwise what is added at both is added at once.
    fn batch(&self, clock: &RunClock, steps: usize, gathered: &[u32], apart: bool) -> Batch {
        let mut batch = Batch::default();
        let nothing = vec![Vec::new(); steps];
        batch.pressures.added.clone_from(&nothing);
        batch.pressures.gathered = gathered.to_vec();
        batch.momenta.added.clone_from(&nothing);
        batch.kicks.added = nothing;
        if self.host.scenario.sources().is_empty() {
            return batch;
        }
        let nx = self.host.springs.layout.size[0];
        let place = |j: usize, i: usize| unsigned(j * nx + i);
        for n in 0..=steps {
            let kicks = self.host.kicks(clock.after(n as u64).time()).into_iter();
            let kicks: Vec<(u32, f32)> = kicks.map(|(j, i, change)| (place(j, i), change)).collect();
            let together = n > 0 && n < steps && !apart;
            if n < steps {
                let begins = if together {
                    &mut batch.momenta.added[n - 1]
                } else {
                    &mut batch.kicks.added[n]
                };
                begins.extend_from_slice(&kicks);
            }
            if n > 0 {
                batch.momenta.added[n - 1].extend(kicks);
            }
        }
        batch
    }

    /// Adds to a batch what transducers do in it; returns the steps in which they play. Walls stay silent.
    fn join(&self, transducers: &Transducers, steps: usize, batch: &mut Batch) -> usize {
        let host = &self.host;
        let nx = host.springs.layout.size[0];
        let silent = |site: usize| host.masses.is_wall(site % nx, site / nx);
        let act = transducers.act();
        let change = |site: usize, signal: Complex64| match act {
            Act::Add => host.pushed(site, signal),
            _ => [signal.re, signal.im],
        };
        let momenta = &mut batch.momenta;
        momenta.join(transducers, steps, silent, |site, signal| change(site, signal)[1]);
        let pressures = &mut batch.pressures;
        pressures.join(transducers, steps, silent, |site, signal| change(site, signal)[0])
    }

    /// Whole steps, between which nothing happens.
    fn run(&mut self, steps: usize) -> Result<(), WgpuError> {
        let host = &self.host;
        match &mut self.pass {
            Pass::Sweeps(sweeps) => {
                for _ in 0..steps {
                    sweeps.step(&self.stream, &host.springs.scheme.substeps)?;
                }
            }
            Pass::Tiles(tiles) => {
                let from = (self.now, steps);
                self.now = tiles.steps(&self.stream, host, &self.medium, &self.planes, from)?;
            }
        }
        Ok(())
    }

    /// One step, with the operations of step `n` of the batch.
    fn step(&mut self, n: usize) -> Result<(), WgpuError> {
        let momenta = self.q_and_p()[1].clone();
        self.kicks.operate(&self.stream, &momenta, n)?;
        self.run(1)?;
        let [q, p] = self.q_and_p().clone();
        let (stream, q) = (&self.stream, &q);
        self.momenta.operate(stream, &p, n)?;
        self.pressures.operate(stream, q, n)?;
        let count = sites(&self.host.springs.layout);
        if let Some(potential) = &self.potential {
            self.beside.integrate(stream, [q, potential], count)?;
        }
        if let Some(peak) = &self.peak {
            self.beside.keep_largest(stream, [q, peak], count)?;
        }
        Ok(())
    }
}

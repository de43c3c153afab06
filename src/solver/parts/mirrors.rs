//! Transducers of a grid in parts. A part records in its own rows, so that every site is recorded once; it drives those in its ghost rows as well, which are stepped
//! like their owner's. The records of all parts are joined in the order of sites, whichever part owns them.

use super::Cut;
use super::whole::Whole;
use crate::physics::Model;
use crate::solver::Taps;
use crate::solver::put_in::PutIn;
use crate::solver::transducers::{Act, Transducers};
use num_complex::Complex64;
use std::ops::Range;
use std::sync::Arc;

/// The work of the transducers in the parts.
pub(super) struct Loan {
    act: Act,
    /// Times that transducers act, while their signal lasts.
    acts: usize,
}

impl<S: Cut> Whole<S> {
    /// Gives every part the transducers in its window for the next `steps` times that they act; `None` where none do.
    pub(super) fn lend_transducers(&mut self, steps: u64, taps: &Taps) -> Option<Loan> {
        let all = taps.transducers().filter(|all| !all.is_idle())?;
        let count = all.sites().len();
        let steps = usize::try_from(steps).unwrap_or(usize::MAX);
        let (act, mut acts) = (all.act(), steps);
        if act != Act::Record {
            acts = acts.min(all.ahead().len() / count);
        }
        for n in 0..self.members.len() {
            let own = if act == Act::Record {
                let core = self.in_core(self.members[n].place, all.sites());
                let numbers: Vec<usize> = core.collect();
                Transducers::listening(self.placed(n, all.sites(), &numbers), Vec::new())
            } else {
                let (places, numbers) = self.in_window(n, all.sites());
                let rows = all.ahead().chunks_exact(count).take(acts);
                let signal: Vec<Complex64> = rows.flat_map(|row| numbers.iter().map(|n| row[*n])).collect();
                Transducers::playing(places.into(), act, signal.into(), 0)
            };
            *self.members[n].taps.transducers_mut() = Some(own);
        }
        Some(Loan { act, acts })
    }

    /// Takes the transducers back, with their records or the number of rows played.
    pub(super) fn take_transducers(&mut self, loan: Option<Loan>, taps: &mut Taps) {
        let (Some(loan), Some(all)) = (loan, taps.transducers_mut()) else {
            return;
        };
        let own: Vec<Transducers> = (self.members.iter_mut())
            .filter_map(|member| member.taps.transducers_mut().take())
            .collect();
        if loan.act != Act::Record {
            all.pass(loan.acts);
            return;
        }
        // Of every part its record, row after row.
        let heard = self.all(own.iter().flat_map(|own| own.heard().iter().copied()).collect());
        let sites = all.sites();
        let mut rows = vec![Complex64::ZERO; loan.acts * sites.len()];
        let mut first = 0;
        for place in 0..self.plan.parts.len() {
            let core = self.in_core(place, sites);
            for act in 0..loan.acts {
                let from = &heard[first + act * core.len()..first + (act + 1) * core.len()];
                let to = act * sites.len();
                rows[to + core.start..to + core.end].copy_from_slice(from);
            }
            first += loan.acts * core.len();
        }
        all.hear(&rows);
    }

    /// Sites in a row of the axis that is cut.
    fn plane(&self) -> usize {
        self.setup.scenario.grid().size()[..self.plan.axis].iter().product()
    }

    /// Which of some sites of the whole grid, that ascend, a part owns.
    fn in_core(&self, place: usize, sites: &[usize]) -> Range<usize> {
        let (rows, plane) = (&self.plan.parts[place], self.plane());
        let before = |row: usize| sites.partition_point(|site| *site < row * plane);
        before(rows.start)..before(rows.end)
    }

    /// Where sites that a member owns stand in its window.
    fn placed(&self, member: usize, sites: &[usize], numbers: &[usize]) -> Arc<[usize]> {
        let member = &self.members[member];
        let (from, to) = (self.plan.parts[member.place].start, member.core.start);
        let plane = self.plane();
        numbers.iter().map(|n| sites[*n] + to * plane - from * plane).collect()
    }

    /// Where some sites of the whole grid stand in a member's window, ascending, and their numbers; around a ring one may stand there twice.
    fn in_window(&self, member: usize, sites: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (axis, plane) = (self.plan.axis, self.plane());
        let (first, _) = self.plan.window(self.members[member].place);
        let grid = self
            .setup
            .scenario
            .grid()
            .window(axis, first, self.members[member].rows);
        let mut found: Vec<(usize, usize)> = (sites.iter().enumerate())
            .flat_map(|(n, site)| {
                let rows = grid.locals(axis, site / plane);
                rows.map(move |row| (row * plane + site % plane, n))
            })
            .collect();
        found.sort_unstable();
        found.into_iter().unzip()
    }

    /// What transducers have added to Σ|ψ|² in the rows of all parts.
    pub(super) fn sum_put_in(&self) -> Option<PutIn> {
        let mut sum = self.members[0].stepper.put_in()?;
        let driven = self.setup.scenario.mirror().is_some_and(|mirror| mirror.listens());
        if !driven || matches!(self.setup.scenario.model(), Model::Acoustic(_)) {
            return Some(sum);
        }
        let own: Vec<i128> = (self.members.iter())
            .filter_map(|member| member.stepper.put_in())
            .map(|own| own.quanta())
            .collect();
        sum.set([0.0; 2]);
        self.all(own).into_iter().for_each(|quanta| sum.join(quanta));
        Some(sum)
    }
}

//! The energy of a whole grid from numbers of every site alone.
//!
//! Summed by parts, the bonds' part of the energy ([`super::energy`]) is −½ Σ Φ⁺ (LΦ⁻)/ρ a^(d−2), over all sites. Φ obeys the leapfrog that steps p: λ² LΦ⁻ = Δt (pⁿ − pⁿ⁻¹) in a medium that
//! neither damps nor absorbs, as long as nothing was played and Δt and the medium are those with which Φ began. So E = ½ Σ (p² − Φ⁺ (pⁿ − pⁿ⁻¹)/Δt)/K a^d, with any edges, walls, speeds and
//! densities: three numbers a site that its step has in registers, and no neighbours. Rounding of pⁿ leaves λ² LΦ⁻ and the difference of the levels apart by a random walk, which is what it does to the energy
//! that the field has.
//!
//! As well E = ½ Σ (p² − Φ⁻ (pⁿ⁺¹ − pⁿ)/Δt)/K a^d, since L is symmetric; and that, one level later, is the first sum again, term by term. So two levels, one after an even number of steps of the run and
//! the next, have one sum, which the step from the later one takes: every second step reads and writes Φ⁺, which grows by both, with four multiply-adds a site, and the others are plain steps.
//!
//! Where any of this does not hold, and for parts of a grid, bonds are added up one by one ([`super::motion`]).

use super::bundle::Follows;
use super::events::{Played, SiteEvents, visited};
use super::recorder::{Recorder, is_whole};
use super::row_sums::Follow;
use super::run::Fdtd;
use super::scheme::{Sweep, Way};
use super::share::View;
use super::stage::{Followed, Mode, Stage};
use super::tally::TallyRow;
use crate::backend::simd::Vectors;
use crate::field::Real;
use crate::solver::Taps;
use crate::solver::acoustic::relaxation::relaxes;
use crate::solver::transducers::Act;
use rayon::prelude::*;
use std::ops::Range;

impl<T: Real> Sweep<T> {
    /// The λ² that all sites of a row have in its sums, `None` where each is divided by its own κ.
    pub(super) fn square_in_sums(&self, row: usize) -> Option<T> {
        if self.material.squares.is_empty() {
            return Some(self.material.square);
        }
        match self.ways[row] {
            Way::Clean(clean) if self.material.density.is_empty() => {
                let (square, own) = self.square_of(clean.medium);
                own.then_some(square)
            }
            _ => None,
        }
    }

    /// The energy per a^d that a row adds, from its sums ([`super::tally`]), a and Δt.
    pub(super) fn energy_of_sums(
        &self,
        row: usize,
        [squares, products]: [f64; 2],
        [spacing, time_step]: [f64; 2],
    ) -> f64 {
        let ratio = time_step / spacing;
        let kappa = match self.square_in_sums(row) {
            Some(square) => square.wide() * self.material.uniform_density,
            None if self.material.density.is_empty() => self.material.uniform_density,
            None => 1.0,
        };
        ratio * ratio * (squares - products / time_step) / (2.0 * kappa)
    }

    /// The sums of a row of pⁿ, pⁿ⁻¹ and Φ⁺, which is that of pⁿ⁻¹ if it is `late`, by Δt.
    fn sums_of_row(&self, row: usize, values: [View<'_, T>; 3], late: Option<T>) -> [f64; 2] {
        let sites = self.lattice.sites(row);
        (self.tally)(&TallyRow {
            values: values.map(|values| values.slice(sites.clone())),
            late,
            kappa: (self.square_in_sums(row).is_none()).then(|| &self.material.squares[sites.clone()]),
        })
    }

    /// The levels of a pass whose energy a step from the one before `level` knows.
    fn known(level: usize) -> Range<usize> {
        level.saturating_sub(2)..level
    }

    /// Whether energies of the whole grid are taken in a step.
    fn takes_whole(stage: &Stage<'_, T>) -> bool {
        let recording = &stage.events.recording;
        Self::known(stage.level).any(|level| recording.takes_whole(level))
    }

    /// Takes the energies of rows that are about to be stepped.
    ///
    /// # Safety
    /// As for [`Sweep::rows`].
    #[allow(unsafe_code, reason = "see `Shared`")]
    pub(super) unsafe fn tally_rows(&self, stage: &Stage<'_, T>, rows: impl Iterator<Item = usize>) {
        let (Some(potential), true) = (&stage.followed.potential, Self::takes_whole(stage)) else {
            return;
        };
        debug_assert!(potential.odd.is_none(), "Φ⁺ of one level is kept");
        let late = potential.late.then_some(potential.step);
        // SAFETY: the rows belong to this task, and none is stepped yet.
        let values = unsafe { [stage.now, stage.old.view(), potential.even.view()] };
        self.take_sums(stage, rows.map(|row| (row, self.sums_of_row(row, values, late))));
    }

    /// Takes the energies of rows from their sums.
    pub(super) fn take_sums(&self, stage: &Stage<'_, T>, rows: impl Iterator<Item = (usize, [f64; 2])>) {
        if Self::takes_whole(stage) {
            let recording = &stage.events.recording;
            rows.for_each(|(row, sums)| recording.take_whole(self, Self::known(stage.level), row, sums));
        }
    }

    /// Φ⁺ of bundles of rows whose first site is at `begin`, all within `reach`, for the kernel that steps it with the pressure.
    pub(super) fn follows(
        stage: &Stage<'_, T>,
        reach: Range<usize>,
        begin: usize,
        sums: &mut [[f64; 2]],
    ) -> Option<Follows<T>> {
        let potential = stage.followed.potential.as_ref()?;
        let [from, to] = stage.followed.potentials(stage.level)?;
        Some(Follows {
            from: from.pointer(reach.clone(), begin),
            late: potential.late,
            to: to.pointer(reach, begin),
            step: potential.step,
            sums: sums.as_mut_ptr(),
        })
    }
}

impl<T: Vectors> Fdtd<T> {
    /// Whether energies of the whole grid can be added up from every site's own numbers: they are asked for, and nothing else uses Φ.
    pub(super) fn sums_own_numbers(&mut self, taps: &Taps) -> bool {
        let driven = taps.transducers().is_some_and(|own| own.act() != Act::Record);
        // What the scene has, not this part of its grid: all parts add up in one way.
        let damped = self.scenario.medium().absorbs() || relaxes(&self.scenario);
        let absorbing = (0..3).any(|axis| self.sweep.lattice.is_absorbing(axis));
        if driven || damped || absorbing || !self.scenario.sources().is_empty() {
            self.obeys = false;
        }
        let mut moving = taps.taps().iter().filter(|tap| tap.moves()).peekable();
        let whole = moving.peek().is_some() && moving.all(is_whole);
        self.obeys && whole && !self.averages.follow() && !self.sweep.sums_wide
    }

    /// Ends a pass after an odd number of steps: Φ takes the last one, and energies of that level, `level` of the pass, and of the one before are taken.
    pub(super) fn end_pair(&mut self, recorder: &mut Recorder<T>, level: usize) {
        let values = [&self.now, &self.old, &self.potential].map(|all| View::of(&all[..]));
        self.take_whole(recorder, level - 1..level + 1, values, true);
        let step = T::of(self.time_step);
        let (sums, stride) = (&self.sweep.sums, self.sweep.lattice.stride);
        let rows = self.potential.par_chunks_mut(stride).zip(self.now.par_chunks(stride));
        rows.for_each(|(potential, pressure)| {
            (sums.follow)(Follow {
                pressure,
                peak: None,
                potential: Some((None, potential, step, None)),
            });
        });
    }

    /// Takes the energy of the whole grid after `steps` steps of the run, as that of `level`.
    pub(super) fn take_now(&mut self, recorder: &mut Recorder<T>, level: usize, steps: u64) {
        if steps % 2 == 1 {
            let values = [&self.now, &self.old, &self.potential].map(|all| View::of(&all[..]));
            self.take_whole(recorder, level..level + 1, values, false);
            return;
        }
        // The step that comes is the other one that knows it.
        let mut next = std::mem::take(&mut self.other_potential);
        next.copy_from_slice(&self.old);
        let played = [Played::default()];
        let mut silent = Recorder::new(&self.sweep, &Taps::default(), 1, false);
        let events = SiteEvents {
            rows: &visited(&self.sweep, &played, &silent),
            played: &played,
            recording: silent.recording(1.0, 1.0),
        };
        self.sweep
            .run(&self.now, &mut next, &[], Mode::Step, Followed::default(), (&events, 1));
        let values = [&next, &self.now, &self.potential].map(|all| View::of(&all[..]));
        self.take_whole(recorder, level..level + 1, values, true);
        self.other_potential = next;
    }

    /// Takes the energies of two levels, in one of which Φ stands.
    fn take_whole(&self, recorder: &mut Recorder<T>, levels: Range<usize>, values: [View<'_, T>; 3], late: bool) {
        let recording = recorder.recording(self.scenario.grid().spacing(), self.time_step);
        let late = late.then(|| T::of(self.time_step));
        (0..self.sweep.lattice.rows()).into_par_iter().for_each(|row| {
            let sums = self.sweep.sums_of_row(row, values, late);
            recording.take_whole(&self.sweep, levels.clone(), row, sums);
        });
    }
}

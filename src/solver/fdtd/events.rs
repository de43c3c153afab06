//! Events at sites in a step ([`SiteEvents`]): sources and transducers play, detectors and transducers record.
//!
//! All of it is known by row before steps begin, so that every caller that steps a row (a sweep over the grid, or a tower that is many steps ahead of its
//! neighbours) does exactly the work of that row and that step.

use super::lattice::Lattice;
use super::material::Material;
use super::recorder::Recorder;
use super::recording::Recording;
use super::scheme::Sweep;
use crate::field::Real;
use crate::solver::acoustic::emit::Emitters;
use num_complex::Complex64;

/// Events at sites during some steps.
pub(super) struct SiteEvents<'a, T> {
    /// The signals played, one step after the other.
    pub(super) played: &'a [Played<T>],
    /// Rows where something is played or recorded.
    pub(super) rows: &'a [bool],
    pub(super) recording: Recording<'a, T>,
}

impl<T: Real> SiteEvents<'_, T> {
    /// Whether anything is played in the step to `level`.
    pub(super) fn play(&self, level: usize) -> bool {
        !self.played[level - 1].is_empty()
    }

    /// Whether anything is played in the step to `level`, or pressures are taken or copied after it.
    pub(super) fn act(&self, level: usize) -> bool {
        self.play(level) || self.recording.takes_pressures(level) || self.recording.copies.writes()
    }
}

/// The signals of sources and transducers in one step, by rows.
pub(super) struct Played<T> {
    /// Row, place in the row, what is added to pⁿ⁺¹ there; rows ascend, and in a row the sources keep their order.
    list: Vec<(u32, u32, T)>,
    /// The same for values that pⁿ⁺¹ is held at, after what is added.
    held: Vec<(u32, u32, T)>,
    /// The values added to pⁿ⁺¹ at every site, x fastest; empty: none.
    pub(super) everywhere: Vec<T>,
    /// Room for the strengths of channels.
    strengths: Vec<f64>,
}

/// The sites of sources that do not move, known before the first step.
pub(super) struct Players {
    /// Row, place in the row, channel and share of its strength, by rows; in a row the sources keep their order.
    list: Vec<(u32, u32, usize, f64)>,
}

impl Players {
    /// Those of a scene; `None` where a source moves.
    #[expect(clippy::cast_possible_truncation, reason = "a grid has far fewer than 2^32 rows")]
    pub(super) fn of<T: Real>(emitters: &Emitters, sweep: &Sweep<T>) -> Option<Self> {
        let ny = sweep.lattice.size[1];
        let place =
            |([i, j, k], channel, share): ([usize; 3], usize, f64)| ((j + ny * k) as u32, i as u32, channel, share);
        let mut list: Vec<_> = sweep.players(emitters)?.into_iter().map(place).collect();
        list.sort_by_key(|(row, ..)| *row);
        Some(Self { list })
    }
}

impl<T: Real> Sweep<T> {
    /// What the next level takes of Δt²S at a site, behind its damping: 1/(1 + γΔt).
    pub(super) fn taken(&self, row: usize, x: usize) -> f64 {
        let rates = self.material.damping(&self.lattice, row);
        rates.map_or(1.0, |rates| 1.0 / (1.0 + rates[x].wide()))
    }

    /// The sites of sources that do not move with their channels, as [`Emitters::players`] has them, and what is taken of their shares.
    pub(super) fn players(&self, emitters: &Emitters) -> Option<Vec<([usize; 3], usize, f64)>> {
        let mut all = emitters.players()?;
        for ([i, j, k], _, share) in &mut all {
            *share *= self.taken(*j + self.lattice.size[1] * *k, *i);
        }
        Some(all)
    }

    /// Calls `add(site, S)` for every site with a source at a time, as [`Emitters::play`] does, with what is taken of S.
    pub(super) fn play(&self, emitters: &Emitters, time: f64, mut add: impl FnMut([usize; 3], f64)) {
        emitters.play(time, &self.mask, |[i, j, k], strength| {
            add([i, j, k], strength * self.taken(j + self.lattice.size[1] * k, i));
        });
    }
}

/// The rows where something is played or recorded.
pub(super) fn visited<T: Real>(sweep: &Sweep<T>, played: &[Played<T>], recorder: &Recorder<T>) -> Vec<bool> {
    let mut rows = vec![false; sweep.lattice.rows()];
    if played.iter().any(|played| !played.everywhere.is_empty()) {
        rows.fill(true);
    }
    for row in played.iter().flat_map(Played::rows).chain(recorder.rows()) {
        rows[row] = true;
    }
    rows
}

impl<T> Default for Played<T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            held: Vec::new(),
            everywhere: Vec::new(),
            strengths: Vec::new(),
        }
    }
}

impl<T: Real> Played<T> {
    /// Resets it to the sources from tₙ to tₙ₊₁: `weight` · Δt² S(tₙ)/a^d, over 1 + γΔt where damping acts.
    #[expect(clippy::cast_possible_truncation, reason = "a grid has far fewer than 2^32 rows")]
    pub(super) fn renew(
        &mut self,
        (emitters, players): (&Emitters, Option<&Players>),
        sweep: &Sweep<T>,
        (time, time_step): (f64, f64),
        weight: f64,
    ) {
        let ny = sweep.lattice.size[1];
        let square = weight * time_step * time_step;
        self.list.clear();
        self.held.clear();
        self.everywhere.clear();
        if weight == 0.0 {
            return;
        }
        if let Some(players) = players {
            self.strengths.clear();
            emitters.put_strengths(time, &mut self.strengths);
            let strengths = &self.strengths;
            let sounding = players
                .list
                .iter()
                .filter(|(_, _, channel, _)| strengths[*channel] != 0.0);
            (self.list).extend(
                sounding.map(|(row, x, channel, share)| (*row, *x, T::of(square * (strengths[*channel] * share)))),
            );
            return;
        }
        sweep.play(emitters, time, |[i, j, k], strength| {
            self.list
                .push(((j + ny * k) as u32, i as u32, T::of(square * strength)));
        });
        self.sort();
    }

    /// By rows. Stable: in a row the sources keep their order.
    fn sort(&mut self) {
        if !self.list.is_sorted_by_key(|(row, _, _)| *row) {
            self.list.sort_by_key(|(row, _, _)| *row);
        }
    }

    /// Whether nothing is played.
    fn is_empty(&self) -> bool {
        self.list.is_empty() && self.held.is_empty() && self.everywhere.is_empty()
    }

    /// Adds values to pⁿ⁺¹ at some sites: row, place in it, value.
    pub(super) fn add(&mut self, more: impl Iterator<Item = (u32, u32, T)>) {
        self.list.extend(more);
        // Behind the sources of the same row.
        self.sort();
    }

    /// Adds what is played to the level before one at rest. p⁻ = p⁺ takes all of ½Δt²S, a step between two levels 1/(1 + γΔt) of Δt²S.
    pub(super) fn put_before(&self, lattice: &Lattice, material: &Material<T>, level: &mut [T]) {
        for (row, x, add) in &self.list {
            let (row, x) = (*row as usize, *x as usize);
            let damped = material.damping(lattice, row).map_or(T::zero(), |rates| rates[x]);
            level[lattice.sites(row)][x] += *add * (T::one() + damped);
            lattice.fill_ghosts(&mut level[lattice.span(row)], true);
        }
    }

    /// Adds the signals of transducers after this step: `signal` at `sites`, which ascend, a source density or, if `holds`, the pressure itself.
    #[expect(clippy::cast_possible_truncation, reason = "a grid has far fewer than 2^32 rows")]
    pub(super) fn join(
        &mut self,
        sweep: &Sweep<T>,
        (sites, signal): (&[usize], &[Complex64]),
        (time_step, holds): (f64, bool),
    ) {
        let (nx, mask) = (sweep.lattice.size[0], &sweep.mask);
        let open = (sites.iter().zip(signal)).filter(|(site, _)| !mask.get(**site).copied().unwrap_or(false));
        let place = |site: usize| ((site / nx) as u32, (site % nx) as u32);
        if holds {
            self.held.extend(open.map(|(&site, value)| {
                let (row, x) = place(site);
                (row, x, T::of(value.re))
            }));
            return;
        }
        let square = time_step * time_step;
        self.list.extend(open.map(|(&site, value)| {
            let (row, x) = place(site);
            (row, x, T::of(square * value.re * sweep.taken(site / nx, site % nx)))
        }));
        // Behind the sources of the same row.
        self.sort();
    }

    /// Played on the sites of a row; whether there was anything to add. `first` is where the row before ended in the list of sources: most rows are the next ones.
    pub(super) fn apply(&self, row: usize, sites: &mut [T], first: &mut usize) -> bool {
        let mut any = !self.everywhere.is_empty();
        if any {
            let nx = sites.len();
            for (site, add) in sites.iter_mut().zip(&self.everywhere[row * nx..]) {
                *site += *add;
            }
        }
        let before = |(other, _, _): &(u32, u32, T)| (*other as usize) < row;
        let follows = self.list.get(*first).is_none_or(|next| !before(next))
            && (*first == 0 || self.list.get(*first - 1).is_some_and(before));
        if !follows {
            *first = self.list.partition_point(before);
        }
        while let Some((_, x, add)) = self.list.get(*first).filter(|(other, _, _)| *other as usize == row) {
            sites[*x as usize] += *add;
            any = true;
            *first += 1;
        }
        let held = self.held.partition_point(before);
        for (_, x, value) in self.held[held..]
            .iter()
            .take_while(|(other, _, _)| *other as usize == row)
        {
            sites[*x as usize] = *value;
            any = true;
        }
        any
    }

    /// The rows where something is played.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        self.list.iter().chain(&self.held).map(|(row, _, _)| *row as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::Fdtd;
    use super::*;
    use crate::backend::threads;
    use crate::solver::clock::RunClock;
    use crate::solver::setup::Setup;
    use crate::solver::{Taps, find, read_scene_text};

    /// In silence ∂p/∂t = 0 at t = 0 whatever begins to play: the levels before and after are the same, ½Δt²S(0), also where damping acts, and where the places of a source are looked up at every step.
    #[test]
    fn what_plays_at_the_start_counts_half() {
        const ABSORBS: &str = "[[layer]]\nsets = \"absorption\"\nvalue = 300.0\n";
        for (layer, velocity) in [("", "0.0, 0.0"), (ABSORBS, "0.0, 0.0"), (ABSORBS, "3.0, -5.0")] {
            let text = format!(
                "format = 1\n[grid]\nsize = [30, 20]\nspacing = 0.1\nedges = \"wall\"\n[acoustic]\n[time]\nend = 1.0\n[solver]\nmethod = \"fdtd\"\norder = 4\n{layer}\
                 [[source]]\nat = [1.03, 0.91]\nvelocity = [{velocity}]\nsignal = \"ricker\"\nfrequency = 200.0\namplitude = 1e9\n"
            );
            let (_, scenario) = read_scene_text(&text, None, &[]).unwrap_or_else(|why| panic!("{why:?}"));
            let setup = Setup::new(find("fdtd").unwrap(), &scenario).unwrap();
            let mut run = Fdtd::<f64>::new(&setup).unwrap();
            let mut expected = vec![0.0; run.now.len()];
            run.emitters.play(0.0, &run.sweep.mask, |[i, j, k], strength| {
                let place = run.sweep.lattice.index([i, j, k]);
                expected[place] += 0.5 * setup.time_step.powi(2) * strength;
            });
            let most = expected.iter().fold(0.0f64, |most, p| most.max(p.abs()));
            let before = run.old.to_vec();
            threads::run(|| run.take(&RunClock::new(setup.time_step), 1, &mut Taps::default()));
            assert!(most > 1e-9, "{most:e}");
            for row in 0..20 {
                for place in run.sweep.lattice.sites(row) {
                    for found in [before[place], run.now[place]] {
                        let off = (found - expected[place]).abs();
                        assert!(off < 1e-14 * most, "{text}: off by {off:e} of {most:e}");
                    }
                }
            }
        }
    }

    /// Sites of sources that do not move play what the sources do.
    #[test]
    fn players_play_what_sources_do() {
        let text = "format = 1\n[grid]\nsize = [30, 20]\nspacing = 0.1\nedges = \"wall\"\n[acoustic]\n[time]\nend = 1.0\n[solver]\nmethod = \"fdtd\"\norder = 4\n\
            [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [1.0, 0.5]\nmax = [1.2, 0.9]\n\
            [[layer]]\nsets = \"speed\"\nvalue = \"343 + 20*x\"\n\
            [[source]]\nfrom = [0.95, 1.8]\nto = [0.95, 0.2]\nsignal = \"burst\"\nfrequency = 400.0\ncycles = 2.0\namplitude = 2e6\n\
            [[source]]\nat = [2.0, 0.73]\nsignal = \"ricker\"\nfrequency = 500.0\namplitude = 1e6\n\
            [[source]]\nat = [1.53, 1.11]\nsignal = \"sine\"\nfrequency = 300.0\namplitude = 1e5\npattern = \"dipole\"\ndirection = [1.0, 0.5]\n";
        let (_, scenario) = read_scene_text(text, None, &[]).unwrap_or_else(|why| panic!("{why:?}"));
        let setup = Setup::new(find("fdtd").unwrap(), &scenario).unwrap();
        let run = Fdtd::<f64>::new(&setup).unwrap();
        assert!(run.players.is_some());
        let [mut own, mut other] = [(); 2].map(|()| Played::<f64>::default());
        let mut most = 0;
        for step in 0..200 {
            let time = f64::from(step) * setup.time_step;
            own.renew(
                (&run.emitters, run.players.as_ref()),
                &run.sweep,
                (time, setup.time_step),
                0.5,
            );
            other.renew((&run.emitters, None), &run.sweep, (time, setup.time_step), 0.5);
            assert_eq!(own.list, other.list, "step {step}");
            most = most.max(own.list.len());
        }
        assert!(most > 20, "{most} sites");
        // A burst that is over plays no more.
        assert!(own.list.len() < most);
    }
}

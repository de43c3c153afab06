//! A run: two levels of pressure, the sweep, and the sources.

use super::averages::Averages;
use super::cpml::Layer;
use super::events::{Played, Players, SiteEvents, visited};
use super::half;
use super::lattice::Lattice;
use super::material::{Material, courants_of_whole};
use super::plan::{Given, Plan, fastest};
use super::potential::growth;
use super::record::Record;
use super::recorder::Recorder;
use super::relaxing::Relaxing;
use super::scheme::Sweep;
use super::share::{Shared, View};
use super::stage::{Followed, Memory, Mode};
use super::tiling::Tiling;
use super::torre::Pass;
use super::walls::Walls;
use super::walls_at_start::flow_into_walls;
use crate::backend::simd::{Aligned, Vectors};
use crate::backend::threads;
use crate::field::{FieldData, Precision};
use crate::grid::Edge;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::emit::Emitters;
use crate::solver::acoustic::loudness::Loudness;
use crate::solver::acoustic::medium::{allocate_aligned, read_walls};
use crate::solver::clock::RunClock;
use crate::solver::setup::{Choice, Setup};
use crate::solver::{SolverError, Taps};
use num_complex::Complex64;
use rayon::prelude::*;

/// The order in which rows and steps come; it changes speed only.
pub(super) enum Way {
    /// Step by step over the whole grid.
    Stepwise,
    /// Tower by tower.
    Towers {
        /// The variant's id.
        variant: &'static str,
        plan: Plan,
        tiling: Tiling,
    },
}

impl Way {
    /// What a scene asks for, or why that is not possible.
    fn new<T: Vectors>(choice: &Choice, lattice: &Lattice) -> Result<Self, String> {
        let variant = match (choice.variant.as_deref(), lattice.rank) {
            (Some(TORRE), _) | (None, 3) => TORRE,
            (Some(TILED), _) | (None, 2) => TILED,
            _ => return Ok(Self::Stepwise),
        };
        let given = Given {
            dts: choice.dts,
            tower: choice.tower,
        };
        let Some(plan) = fastest::<T>(lattice, given, choice.variant.is_none()) else {
            return Ok(Self::Stepwise);
        };
        match Tiling::new(lattice, plan.dts) {
            Some(tiling) => Ok(Self::Towers { variant, plan, tiling }),
            None => {
                Err("a torus in y and z has no place where towers could start: it is stepped as a whole".to_owned())
            }
        }
    }
}

/// Steps of a pass that goes step by step: what sources play and where detectors record is found out once a pass.
const STEPS: usize = 16;

/// Ids of the variants that take many steps of a part at a time.
const TORRE: &str = "diamond-torre";
const TILED: &str = "tiled";

/// A run of one scenario.
pub struct Fdtd<T: Vectors> {
    pub(super) scenario: Scenario,
    /// The order in which rows and steps come.
    pub(super) way: Way,
    /// Δt with its sign.
    pub(super) time_step: f64,
    pub(super) sweep: Sweep<T>,
    pub(super) layers: Vec<Layer<T>>,
    pub(super) emitters: Emitters,
    /// Where they play, unless they move.
    pub(super) players: Option<Players>,
    /// pⁿ with ghosts.
    pub(super) now: Aligned<T>,
    /// pⁿ⁻¹ with ghosts: the level that the next step overwrites.
    pub(super) old: Aligned<T>,
    /// Largest |p| so far, if it is kept; otherwise empty.
    pub(super) peak: Aligned<T>,
    /// Φ⁺ = ∫p dt up to tₙ + Δt/2 with ghosts, where energy or flux is asked for; otherwise empty.
    pub(super) potential: Aligned<T>,
    /// Φ⁺ of the earlier level, where detectors take energy or flux; otherwise empty.
    pub(super) other_potential: Aligned<T>,
    /// Whether λ² LΦ⁻ = Δt (pⁿ − pⁿ⁻¹) at all sites, apart from rounding ([`super::whole`]): Φ has been kept since the run was at rest, and nothing has changed since.
    pub(super) obeys: bool,
    /// Means over time, where they are shown.
    pub(super) averages: Averages<T>,
    /// The memory variables of walls and media, where there are any.
    pub(super) relaxing: Option<Relaxing<T>>,
    /// The latest recorder; it is rebuilt for another medium.
    pub(super) recorder: Option<Recorder<T>>,
    /// What was played last, whose room the next pass takes.
    played: Vec<Played<T>>,
    /// A note for the user.
    pub(super) note: Option<String>,
}

impl<T: Vectors> Fdtd<T> {
    /// A run at t = 0, step by step.
    pub(super) fn new(setup: &Setup) -> Result<Self, SolverError> {
        let (scenario, time_step) = (&setup.scenario, setup.time_step);
        let lattice = Lattice::new(scenario.grid(), half(&setup.choice));
        let (now, old) = (level(&lattice, 0)?, level(&lattice, BESIDE)?);
        let sweep = threads::run(|| sweep_of(scenario, lattice, time_step))?;
        let grid = scenario.grid();
        let mut layers = Vec::new();
        for axis in 0..grid.rank() {
            if grid.edges()[axis] == Edge::Absorb && grid.absorb_width() > 0 {
                layers.push(Layer::new(&sweep.lattice, axis, grid.absorb_width())?);
            }
        }
        let emitters = Emitters::of(scenario, &sweep.mask, sweep.lattice.half);
        let mut run = Self {
            averages: Averages::default(),
            relaxing: Relaxing::new(scenario, &sweep.lattice, &sweep.mask, &sweep.material, time_step)?,
            players: Players::of(&emitters, &sweep),
            emitters,
            way: Way::Stepwise,
            scenario: scenario.clone(),
            time_step,
            sweep,
            layers,
            now,
            old,
            peak: Aligned::default(),
            potential: Aligned::default(),
            other_potential: Aligned::default(),
            obeys: false,
            recorder: None,
            played: Vec::new(),
            note: None,
        };
        run.set_layer_step();
        run.fill_initial();
        run.start_at_rest(0.0);
        if scenario.view().quantity == Quantity::Peak {
            run.watch_peak()?;
        }
        if scenario.asks_for_velocity() {
            run.watch_potential()?;
            run.obeys = true;
        }
        run.watch_means(scenario.view().quantity)?;
        if scenario.shows_intensity() {
            run.watch_means(Quantity::Intensity)?;
        }
        Ok(run)
    }

    /// The same run, with the variant that its scene asks for.
    pub(super) fn in_its_order(setup: &Setup) -> Result<Self, SolverError> {
        let mut run = Self::new(setup)?;
        match Way::new::<T>(&setup.choice, &run.sweep.lattice) {
            Ok(way) => run.way = way,
            Err(why) => run.note = Some(why),
        }
        Ok(run)
    }

    pub(super) fn set_layer_step(&mut self) {
        for layer in &mut self.layers {
            let (axis, width) = (layer.shape.axis, layer.shape.width());
            let courants = if self.scenario.grid().is_window() {
                courants_of_whole::<T>(&self.scenario, axis, width, self.time_step)
            } else {
                self.sweep.courants(axis, width)
            };
            layer.shape.set_step(courants, self.sweep.material.surroundings);
        }
    }

    pub(super) fn fill_initial(&mut self) {
        let grid = self.scenario.grid().clone();
        let initial = self.scenario.initial().clone();
        let rows = initial.rows(&grid);
        self.fill(|j, k, out| {
            let mut complex = vec![Complex64::ZERO; out.len()];
            rows.fill(j, k, &mut complex);
            for (out, value) in out.iter_mut().zip(&complex) {
                *out = T::of(value.re);
            }
        });
    }

    /// Writes pⁿ row by row; walls hold 0.
    pub(super) fn fill(&mut self, row: impl Fn(usize, usize, &mut [T]) + Sync) {
        let (lattice, mask) = (&self.sweep.lattice, &self.sweep.mask);
        let [nx, ny, _] = lattice.size;
        let now = &mut self.now;
        threads::run(|| {
            now.par_chunks_exact_mut(lattice.stride)
                .enumerate()
                .for_each(|(n, all)| {
                    let out = &mut all[lattice.front..lattice.front + nx];
                    row(n % ny, n / ny, out);
                    if let Some(walls) = mask.get(n * nx..(n + 1) * nx) {
                        for (value, wall) in out.iter_mut().zip(walls) {
                            if *wall {
                                *value = T::zero();
                            }
                        }
                    }
                });
            lattice.fill_all_ghosts(now, true);
        });
    }

    /// The level before pⁿ, of a time, for dp/dt = 0: p⁻ = p + ½Δt²(a + S), which is p⁺ as well. Walls, layers and memories are at rest without S, which has not sounded yet.
    pub(super) fn start_at_rest(&mut self, time: f64) {
        self.old.copy_from_slice(&self.now);
        let half = T::of(0.5);
        self.combine([half, half, T::zero()], false, (0.0, 0.0));
        for layer in &mut self.layers {
            layer.psi.fill(T::zero());
        }
        if let Some(relaxing) = &mut self.relaxing {
            relaxing.settle(&self.sweep.lattice, &self.now, &self.old);
            relaxing.rest_walls();
        }
        let sweep = &self.sweep;
        let scene = (&self.scenario, &sweep.mask[..], self.time_step);
        flow_into_walls(scene, &sweep.lattice, &sweep.material, &self.now, &mut self.old);
        self.sweep.settle(&self.now, &self.old, &mut self.layers);
        let mut played = Played::default();
        self.play(&mut played, time, 0.5);
        played.put_before(&self.sweep.lattice, &self.sweep.material, &mut self.old);
        self.rest();
        self.obeys = true;
    }

    /// pⁿ⁻¹ ← w₀pⁿ⁺¹ + w₁pⁿ + w₂pⁿ⁻¹, sources of a time played with a weight.
    pub(super) fn combine(&mut self, weights: [T; 3], damped: bool, (time, weight): (f64, f64)) {
        let mut played = [Played::default()];
        self.play(&mut played[0], time, weight);
        if let Some(relaxing) = self.relaxing.as_ref().filter(|_| damped) {
            relaxing.join(self.sweep.lattice.size[0], weights[0], &mut played[0]);
        }
        let mut recorder = Recorder::new(&self.sweep, &Taps::default(), 1, false);
        let events = SiteEvents {
            rows: &visited(&self.sweep, &played, &recorder),
            played: &played,
            recording: recorder.recording(1.0, 1.0),
        };
        let sweep = &self.sweep;
        let (now, old) = (&self.now, &mut self.old);
        let mode = Mode::Combine { weights, damped };
        threads::run(|| sweep.run(now, old, &[], mode, Followed::default(), (&events, 1)));
    }

    /// Fills in what sources play in the step from `time`.
    fn play(&self, played: &mut Played<T>, time: f64, weight: f64) {
        let sources = (&self.emitters, self.players.as_ref());
        played.renew(sources, &self.sweep, (time, self.time_step), weight);
    }

    /// Makes room for Φ⁺ of two levels, for detectors that take energy or flux.
    pub(super) fn keep_both_potentials(&mut self) -> Result<(), SolverError> {
        self.watch_potential()?;
        if self.other_potential.is_empty() {
            self.other_potential = allocate_aligned(self.now.len(), ODD, "the velocity")?;
        }
        Ok(())
    }

    /// Steps and records; in the pool.
    pub(super) fn take(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) {
        let longest = match &self.way {
            // What relaxes is played step by step, and means are taken so.
            _ if self.relaxing.is_some() || self.averages.follow() => 1,
            Way::Towers { plan, .. } => plan.tower,
            Way::Stepwise => STEPS,
        };
        let own = self.sums_own_numbers(taps);
        let longest = if own { longest.max(2) } else { longest };
        let mut recorder = match self.recorder.take() {
            Some(recorder) if recorder.fits(taps, own) => recorder,
            _ => Recorder::new(&self.sweep, taps, longest, own),
        };
        let mut open: Option<Record> = None;
        let mut done = 0;
        while done < steps {
            let left = usize::try_from(steps - done).unwrap_or(longest);
            // What was kept may have been made for longer passes, before anybody asked for means.
            let mut now = recorder.depth().min(longest).min(left);
            let start = clock.after(done);
            if own && now < left && start.after(now as u64).steps() % 2 == 1 {
                // Pairs of levels stay together.
                now -= 1;
            } else if !own && ends_unread(&recorder, taps, &start, now) {
                now -= 1;
            }
            let ended = own && now == left && start.after(now as u64).steps() % 2 == 1;
            recorder.begin(now, |level, tap| {
                if level > 0 {
                    taps.is_due(tap, &start.after(level as u64))
                } else {
                    open.as_ref().is_some_and(|record| record.waits_for(tap))
                }
            });
            self.pass(&start, now, &mut recorder, taps);
            done += now as u64;
            if ended {
                self.end_pair(&mut recorder, now);
            }
            if let Some(record) = open.take() {
                record.close(&recorder, 0, taps);
            }
            for level in 1..=now {
                let clock = start.after(level as u64);
                if level == now && taps.ask_for_velocity() && !ended {
                    open = Some(Record::new(&recorder, level, clock, taps));
                } else {
                    recorder.record(level, clock, taps);
                }
            }
        }
        if let Some(record) = open {
            if record.waits() {
                recorder.begin(0, |_, tap| record.waits_for(tap));
                self.take_motion(&mut recorder, 0, clock.after(steps).steps());
            }
            record.close(&recorder, 0, taps);
        }
        self.recorder = Some(recorder);
    }

    /// Lets transducers act on the field, then detectors record it; in the pool.
    pub(super) fn see(&mut self, clock: &RunClock, taps: &mut Taps) {
        self.drive_sites(taps);
        let own = self.sums_own_numbers(taps);
        let mut recorder = Recorder::new(&self.sweep, taps, 1, own);
        // As at the end of a pass of one step.
        recorder.begin(1, |level, tap| level == 1 && taps.is_due(tap, clock));
        let recording = recorder.recording(self.scenario.grid().spacing(), self.time_step);
        let lattice = &self.sweep.lattice;
        (0..lattice.rows()).into_par_iter().for_each(|row| {
            recording.take_pressures(&self.sweep, 1, row, &self.now[lattice.sites(row)]);
        });
        self.take_motion(&mut recorder, 1, clock.steps());
        Record::new(&recorder, 1, *clock, taps).close(&recorder, 1, taps);
    }

    /// Records energies and fluxes of the present level, after `steps` steps of the run, as those of `level`; in the pool.
    fn take_motion(&mut self, recorder: &mut Recorder<T>, level: usize, steps: u64) {
        if recorder.own() {
            self.take_now(recorder, level, steps);
            return;
        }
        let spacing = self.scenario.grid().spacing();
        recorder.copy([&self.now, &self.potential]);
        recorder.take_flows(&self.sweep, (spacing, self.time_step), level..level + 1);
        let recording = recorder.recording(spacing, self.time_step);
        let motion = [View::of(&self.now), View::of(&self.potential)];
        (0..self.sweep.lattice.rows())
            .into_par_iter()
            .for_each(|row| recording.take_motion(&self.sweep, level, row, motion));
    }

    /// Some steps, in the order of the variant; in the pool.
    fn pass(&mut self, clock: &RunClock, steps: usize, recorder: &mut Recorder<T>, taps: &mut Taps) {
        let mut played = std::mem::take(&mut self.played);
        played.resize_with(steps, Played::default);
        for (n, played) in played.iter_mut().enumerate() {
            self.play(played, clock.after(n as u64).time(), 1.0);
        }
        if let Some(relaxing) = &self.relaxing {
            relaxing.join(self.sweep.lattice.size[0], T::one(), &mut played[0]);
        }
        self.join_transducers(&mut played, taps);
        let rows = visited(&self.sweep, &played, recorder);
        recorder.copy([&self.now, &self.potential]);
        let growth = if self.potential.is_empty() {
            Some(Vec::new())
        } else {
            growth(recorder, clock.steps())
        };
        let both = growth.is_none();
        let followed = Followed::of(
            &mut self.peak,
            &mut self.potential,
            both.then_some(&mut self.other_potential[..]),
            self.time_step,
        );
        let followed = followed.growing(growth.as_deref().unwrap_or_default());
        let events = SiteEvents {
            played: &played,
            rows: &rows,
            recording: recorder.recording(self.scenario.grid().spacing(), self.time_step),
        };
        let memories = Memory::of(&mut self.layers);
        match &self.way {
            Way::Towers { tiling, .. } if steps > 1 => {
                self.sweep.towers(
                    tiling,
                    &Pass {
                        levels: [Shared::new(&mut self.now), Shared::new(&mut self.old)],
                        memories: &memories,
                        steps,
                        followed,
                        events: &events,
                    },
                );
            }
            _ => {
                for level in 1..=steps {
                    let (now, old) = (&self.now, &mut self.old);
                    self.sweep
                        .run(now, old, &memories, Mode::Step, followed, (&events, level));
                    if level < steps {
                        std::mem::swap(&mut self.now, &mut self.old);
                    }
                }
            }
        }
        let swapped = match &self.way {
            Way::Towers { .. } => steps % 2 == 1,
            Way::Stepwise => true,
        };
        if swapped {
            std::mem::swap(&mut self.now, &mut self.old);
        }
        if both && steps % 2 == 1 {
            std::mem::swap(&mut self.potential, &mut self.other_potential);
        }
        if let Some(relaxing) = &mut self.relaxing {
            relaxing.follow(&self.sweep.lattice, &self.now, &self.old);
        }
        if self.averages.follow() {
            self.follow_means();
        }
        let spacing = self.scenario.grid().spacing();
        recorder.take_flows(&self.sweep, (spacing, self.time_step), 0..steps);
        recorder.hand_over(taps);
        self.played = played;
    }

    /// pⁿ from an array of the grid's size.
    pub(super) fn put(&mut self, field: &FieldData) {
        let [nx, ny, _] = self.sweep.lattice.size;
        self.fill(|j, k, out| {
            let first = nx * (j + ny * k);
            for (i, out) in out.iter_mut().enumerate() {
                *out = T::of(field.at(first + i).re);
            }
        });
    }
}

/// Whether detectors read Φ⁺ of the level before the last of a pass, and a pass without its last step would let it be kept in one place ([`growth`]).
fn ends_unread<T: Vectors>(recorder: &Recorder<T>, taps: &Taps, start: &RunClock, steps: usize) -> bool {
    let reads = |level: usize| {
        let clock = start.after(level as u64);
        (0..taps.taps().len()).any(|n| recorder.follows(n) && taps.is_due(n, &clock))
    };
    steps > 1 && reads(steps - 1) && !reads(steps) && !reads(steps - 2)
}

/// Cache lines by which the older level is shifted in its page against the newer one, so that stores into one never lie at the
/// places of a page that the next loads from the other read.
pub(super) const BESIDE: usize = 37;
/// The same of Φ⁺ of both levels and of the largest pressures.
pub(super) const EVEN: usize = 19;
const ODD: usize = 55;
pub(super) const PEAK: usize = 28;

/// A level of the pressure.
pub(super) fn level<T: Vectors>(lattice: &Lattice, lines: usize) -> Result<Aligned<T>, SolverError> {
    allocate_aligned(lattice.values(), lines, "the pressure")
}

/// A sweep with the medium of a scene.
pub(super) fn sweep_of<T: Vectors>(
    scenario: &Scenario,
    lattice: Lattice,
    time_step: f64,
) -> Result<Sweep<T>, SolverError> {
    let mask = read_walls(scenario);
    let material = Material::new(scenario, &lattice, &mask, time_step)?;
    let walls = Walls::new(&lattice, &mask, material.density.is_empty());
    Ok(Sweep {
        sums_wide: T::PRECISION == Precision::Single && Loudness::of(scenario, time_step).leaves_single(),
        ..Sweep::new(lattice, material, mask, walls)
    })
}

//! The signals of the transducers on the way back.
//!
//! With r(n) the record at step n of N, conjugated and backwards r̄(n) = r(N − n)*:
//! - *reversal*, quantum: r̄ is added to ψ. Sound: the additive response of a line is P = iS/(2ωc), so the source that sends p is s = 2c dp/dt (per a, for
//!   the site stands for δ/a); central differences of r̄, which is 0 beyond its ends.
//! - *one-bit*: the same with every value replaced by its sign (quantum: its phase) times the largest of all, and by 0 below a thousandth of it;
//!   of sound minus the straight line through it.
//! - *inverse filter*, hard: r̄ replaces the field. This is causal deconvolution without its arithmetic: with impulse responses `g[m]` between the sites
//!   the soft signal X with `Σ g[n − m] X[m] = r̄[n]` is what the overwriting adds.
//! - *inverse filter*, soft: X from G(ω)X(ω) = R̄(ω) at complex frequencies ω + iη, i.e. Fourier transforms of g and r̄ times e^(−ηn), padded to twice
//!   their length, ηN = 18: the poles of G near the real axis and the wrapping round of the transform are then both below e^(−18).
//!   With a regularisation λ, X = (G†G + λ)⁻¹G†R̄.
//!   Where a method keeps momenta as well, a site has two channels: what overwriting (q, p) adds, (Δq, Δp), is played by a displacement Δq/Δt and a force Δp/(m̂Δt) at
//!   the same site. A force alone could not hold both, whatever the force. `g[0]` is then diagonal but for the order of the channels, so X is as causal as for one.
//!
//! Source: Pastawski, Danieli, Calvo, Foa Torres 2007, doi:10.1209/0295-5075/77/40001.

use super::Noise;
use super::silence;
use crate::backend::ranks;
use crate::engine::EngineError;
use crate::engine::build;
use crate::physics::mirror::Drive;
use crate::physics::reference::elimination::solve_dense;
use crate::physics::{Equation, Mirror, MirrorMethod};
use crate::platform::Instant;
use crate::rounding::truncated;
use crate::scene::Scenario;
use crate::solver::Taps;
use crate::solver::placement::MirrorSites;
use crate::solver::transducers::{Act, Transducers};
use num_complex::Complex64;
use rustfft::FftPlanner;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// ηN of the complex frequencies.
const DAMPING: f64 = 18.0;
/// Below this fraction of the largest value a one-bit mirror plays nothing.
const SILENCE: f64 = 1e-3;

/// Time between two calls of the progress callback.
const PATIENCE: Duration = Duration::from_millis(50);

/// Progress callback: the name of a long task within a step and its progress from 0 to 1; `Break` cancels the task.
pub type Watch = dyn FnMut(&'static str, f64) -> ControlFlow<()> + Send;

/// A record, `[step][site]`.
type Rows = Vec<Vec<Complex64>>;

/// The transducers of the way back, from what all of them recorded.
pub(super) fn played(
    scenario: &Scenario,
    sites: &MirrorSites,
    heard: &[Complex64],
    time_step: f64,
    watch: &mut Watch,
) -> Result<Transducers, EngineError> {
    let Some(mirror) = scenario.mirror() else {
        return Ok(Transducers::listening(Arc::from([]), Vec::new()));
    };
    let chosen = sites.playing(mirror);
    let own: Arc<[usize]> = chosen.iter().map(|&place| sites.all[place]).collect();
    let recorded = heard.len() / sites.all.len().max(1);
    let used = used(mirror.record, time_step, recorded);
    let mut rows: Rows = heard
        .chunks_exact(sites.all.len().max(1))
        .take(used)
        .map(|row| chosen.iter().map(|&place| row[place]).collect())
        .collect();
    let sound = scenario.model().equation() == Equation::Acoustic;
    add_noise(&mut rows, mirror, sound);
    rows.reverse();
    rows.iter_mut().flatten().for_each(|value| *value = value.conj());
    let act = match (mirror.method, mirror.drive) {
        (MirrorMethod::InverseFilter, Drive::Hard) => Act::Overwrite,
        (MirrorMethod::InverseFilter, Drive::Soft) => {
            rows = filtered(scenario, &own, &rows, mirror.regularization, watch)?;
            Act::Add
        }
        _ => {
            if sound {
                rows = sources(scenario, &own, &rows, time_step);
            }
            if mirror.method == MirrorMethod::OneBit {
                one_bit(&mut rows);
                if sound {
                    balance(&mut rows);
                }
            }
            Act::Add
        }
    };
    // Before the remaining part of the record they are silent.
    let silent = vec![Complex64::ZERO; (recorded - used) * own.len()];
    let signal: Vec<Complex64> = silent.into_iter().chain(rows.into_iter().flatten()).collect();
    Ok(Transducers::playing(own, act, signal.into(), 0))
}

/// How many of the recorded rows lie within the first `record` of the run; at least two, so that there is a change from one to the next.
fn used(record: f64, time_step: f64, recorded: usize) -> usize {
    let last = (record / time_step.abs()).round();
    if last.is_finite() {
        truncated(last).saturating_add(1).max(2).min(recorded)
    } else {
        recorded
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean")]
fn add_noise(rows: &mut [Vec<Complex64>], mirror: &Mirror, sound: bool) {
    let count = rows.iter().map(Vec::len).sum::<usize>();
    if mirror.noise == 0.0 || count == 0 {
        return;
    }
    let square: f64 = rows.iter().flatten().map(Complex64::norm_sqr).sum();
    let strength = mirror.noise * (square / count as f64).sqrt();
    let mut noise = Noise::new(mirror.seed);
    for value in rows.iter_mut().flatten() {
        if sound {
            value.re += strength * noise.normal();
        } else {
            let part = strength / 2.0f64.sqrt();
            *value += Complex64::new(part * noise.normal(), part * noise.normal());
        }
    }
}

/// s = (2c/a) dp/dt at every site.
fn sources(scenario: &Scenario, sites: &[usize], rows: &[Vec<Complex64>], time_step: f64) -> Rows {
    let grid = scenario.grid();
    let background = match scenario.model() {
        crate::physics::Model::Acoustic(acoustic) => acoustic.speed,
        crate::physics::Model::Quantum(_) => 0.0,
    };
    let weights: Vec<f64> = sites
        .iter()
        .map(|&n| {
            let [i, j, k] = grid.site(n);
            let mut speed = [background];
            scenario.medium().speed_row(background, j, k, i..i + 1, &mut speed);
            2.0 * speed[0] / (grid.spacing() * time_step)
        })
        .collect();
    // Before and after the record nothing is played: the jump at its start belongs to it, or Σ s would change the mean pressure of a closed room for good.
    let pressure = |n: Option<usize>, site: usize| {
        n.and_then(|n| rows.get(n))
            .map_or(0.0, |row: &Vec<Complex64>| row[site].re)
    };
    (0..rows.len())
        .map(|n| {
            let rise = |site| pressure(Some(n + 1), site) - pressure(n.checked_sub(1), site);
            (weights.iter().enumerate())
                .map(|(site, weight)| Complex64::from(weight * rise(site) / 2.0))
                .collect()
        })
        .collect()
}

fn one_bit(rows: &mut [Vec<Complex64>]) {
    let largest = rows.iter().flatten().map(|value| value.norm()).fold(0.0, f64::max);
    for value in rows.iter_mut().flatten() {
        let own = value.norm();
        *value = if own > SILENCE * largest {
            *value * (largest / own)
        } else {
            Complex64::ZERO
        };
    }
}

/// Subtracts the straight line through each signal: in a closed room Σs and Σt·s only change the mean pressure, which cannot radiate.
#[expect(clippy::cast_precision_loss, reason = "steps are far below 2^52")]
fn balance(rows: &mut [Vec<Complex64>]) {
    let count = rows.len() as f64;
    let (middle, square) = ((count - 1.0) / 2.0, count * (count * count - 1.0) / 12.0);
    if square <= 0.0 {
        return;
    }
    for site in 0..rows[0].len() {
        let mean = rows.iter().map(|row| row[site]).sum::<Complex64>() / count;
        let moments = rows.iter().enumerate().map(|(n, row)| row[site] * (n as f64 - middle));
        let slope = moments.sum::<Complex64>() / square;
        for (n, row) in rows.iter_mut().enumerate() {
            row[site] -= mean + slope * (n as f64 - middle);
        }
    }
}

/// What a single transducer records and drives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// ψ: responses are complex-linear.
    Whole,
    /// The pressure, and forces.
    Real,
    /// The momentum next to it, and displacements.
    Imaginary,
}

/// A part of the transducer at a place of their list.
type Channel = (usize, Part);

impl Part {
    /// Its record.
    fn of(self, heard: Complex64) -> Complex64 {
        match self {
            Self::Whole => heard,
            Self::Real => heard.re.into(),
            Self::Imaginary => heard.im.into(),
        }
    }

    /// The source that drives it with `strength`.
    fn source(self, strength: Complex64) -> Complex64 {
        match self {
            Self::Whole => strength,
            Self::Real => strength.re.into(),
            Self::Imaginary => Complex64::new(0.0, strength.re),
        }
    }
}

/// The soft signal whose response at the transducers is `rows`.
#[expect(clippy::cast_precision_loss, reason = "steps are far below 2^52")]
fn filtered(
    scenario: &Scenario,
    sites: &Arc<[usize]>,
    rows: &[Vec<Complex64>],
    regularization: f64,
    watch: &mut Watch,
) -> Result<Rows, EngineError> {
    let steps = rows.len();
    let (channels, responses) = responses(scenario, sites, steps, watch)?;
    let count = channels.len();
    let length = (2 * steps).next_power_of_two();
    let mut planner = FftPlanner::new();
    let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
    let damping: Vec<f64> = (0..steps).map(|n| (-DAMPING * n as f64 / steps as f64).exp()).collect();
    let transformed = |series: &dyn Fn(usize) -> Complex64| {
        let mut all = vec![Complex64::ZERO; length];
        for (n, out) in all[..steps].iter_mut().enumerate() {
            *out = damping[n] * series(n);
        }
        forward.process(&mut all);
        all
    };
    let target: Vec<Vec<Complex64>> = (channels.iter())
        .map(|(place, part)| transformed(&|n| part.of(rows[n][*place])))
        .collect();
    // matrix[j][i]: what channel i records of channel j.
    let matrix: Vec<Vec<Vec<Complex64>>> = (responses.iter())
        .map(|heard| {
            let of = |(place, part): &Channel| transformed(&|n| part.of(heard[n * sites.len() + place]));
            channels.iter().map(of).collect()
        })
        .collect();
    let mut found = vec![vec![Complex64::ZERO; length]; count];
    for at in 0..length {
        look(watch, "solving for the signal", at as f64 / length as f64)?;
        let system = system(count, regularization, |i, j| matrix[j][i][at], |i| target[i][at]);
        for (own, value) in found.iter_mut().zip(solve_dense(system)) {
            own[at] = value;
        }
    }
    for own in &mut found {
        inverse.process(own);
    }
    Ok((0..steps)
        .map(|n| {
            let scale = 1.0 / (length as f64 * damping[n]);
            let mut row = vec![Complex64::ZERO; sites.len()];
            for ((place, part), own) in channels.iter().zip(&found) {
                row[*place] += part.source(scale * own[n]);
            }
            row
        })
        .collect())
}

/// Rows of G with the target behind them, or of G†G + λ with G† times the target.
fn system(
    count: usize,
    regularization: f64,
    g: impl Fn(usize, usize) -> Complex64,
    target: impl Fn(usize) -> Complex64,
) -> Vec<Vec<Complex64>> {
    if regularization == 0.0 {
        return (0..count)
            .map(|i| (0..count).map(|j| g(i, j)).chain([target(i)]).collect())
            .collect();
    }
    (0..count)
        .map(|i| {
            let product = |j: usize| -> Complex64 { (0..count).map(|k| g(k, i).conj() * g(k, j)).sum() };
            let mut row: Vec<Complex64> = (0..count).map(product).collect();
            row[i] += regularization;
            row.push((0..count).map(|k| g(k, i).conj() * target(k)).sum());
            row
        })
        .collect()
}

/// Reports the progress of a task; an error if the watcher cancels it.
fn look(watch: &mut Watch, task: &'static str, done: f64) -> Result<(), EngineError> {
    match watch(task, done) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(EngineError::Cancelled(task)),
    }
}

/// The channels of the transducers, and for each of them the record of all sites, `[step * sites + site]`, after a source of 1 in step 0.
#[expect(clippy::cast_precision_loss, reason = "steps are far below 2^52")]
fn responses(
    scenario: &Scenario,
    sites: &Arc<[usize]>,
    steps: usize,
    watch: &mut Watch,
) -> Result<(Vec<Channel>, Vec<Vec<Complex64>>), EngineError> {
    let mut quiet = scenario.clone();
    quiet.silence_sources();
    let mut solver = build::build(&quiet)?;
    let mut empty = solver.save()?;
    empty.arrays.iter_mut().for_each(|(_, array)| silence(array));
    empty.forget_norm();
    let parts: &[Part] = match scenario.model().equation() {
        Equation::Schrodinger => &[Part::Whole],
        Equation::Acoustic => &[Part::Real, Part::Imaginary],
    };
    let (mut channels, mut all) = (Vec::new(), Vec::new());
    let runs = (sites.len() * parts.len()) as f64;
    // As many steps as fit between two calls of the callback.
    let mut piece = 1;
    for (place, &site) in sites.iter().enumerate() {
        for part in parts {
            solver.load(&empty)?;
            let mut taps = Taps::default();
            let source = Arc::from([part.source(Complex64::ONE)]);
            *taps.transducers_mut() = Some(Transducers::playing(Arc::from([site]), Act::Add, source, 0));
            solver.apply_transducers(&mut taps)?;
            *taps.transducers_mut() = Some(Transducers::listening(Arc::clone(sites), Vec::new()));
            solver.apply_transducers(&mut taps)?;
            let hears = |taps: &Taps| taps.transducers().map(|own| own.heard().to_vec()).unwrap_or_default();
            // Without momenta a displacement has no meaning, and the response is 0.
            if *part == Part::Imaginary && hears(&taps).iter().all(|value| *value == Complex64::ZERO) {
                continue;
            }
            let total = (steps as u64).saturating_sub(1);
            let mut left = total;
            while left > 0 {
                let run = (place * parts.len()) as f64 + (total - left) as f64 / total as f64;
                look(watch, "impulse responses", run / runs)?;
                let start = Instant::now();
                solver.advance(piece.min(left), &mut taps)?;
                left -= piece.min(left);
                // Processes that share a run take the same pieces.
                let [took] = ranks::agree([start.elapsed().as_secs_f64()]);
                piece = if took < PATIENCE.as_secs_f64() {
                    piece * 2
                } else {
                    (piece / 2).max(1)
                };
            }
            channels.push((place, *part));
            all.push(hears(&taps));
        }
    }
    Ok((channels, all))
}

//! Lines that Hann's window does not tell apart, and lines that no fit has found.

use super::{Autocorrelation, SpectralLine, apart, decaying};
use num_complex::Complex64;
use std::f64::consts::TAU;

/// Widths 2π/T between neighbours of a group.
const NEAR: f64 = 2.0;

/// The most of a group's largest value that exponentials may leave of the spectrum there.
const LEFT: f64 = 1e-2;

/// How far a level that lasts may seem to have decayed at the end of the record, and how far its phase may be from 0.
const LASTS: f64 = 0.05;

/// The share of a record that exponentials may leave if they are to stand for all of it.
const NOTHING: f64 = 1e-6;

/// The share by which the height of a line that lasts may differ between the whole record and its first half.
const CHANGES: f64 = 0.25;

/// Lines nearer than twice their width are replaced by the exponentials of [harmonic inversion](decaying) if these last, and leave less than a hundredth of the spectrum where the lines are. Others are
/// marked as a group that is not resolved. If exponentials that last leave nothing of the record, they are all its lines.
pub(super) fn settle(found: &mut Autocorrelation) {
    let near = NEAR * found.resolution();
    let groups: Vec<Vec<SpectralLine>> = (found.lines)
        .chunk_by(|a, b| b.energy - a.energy < near)
        .map(<[SpectralLine]>::to_vec)
        .collect();
    if groups.iter().all(|group| group.len() == 1) {
        return;
    }
    let fitted = decaying::lines_of(&found.overlap, 0.0);
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    let lasts = |line: &decaying::Decaying| lasts(line, found.overlap.len() as f64);
    if fitted.share < NOTHING && fitted.lines.iter().all(lasts) {
        found.lines = fitted.lines.iter().map(|line| level(line, found.time_step)).collect();
        found.lines.sort_by(|a, b| a.energy.total_cmp(&b.energy));
        return;
    }
    let rest = Autocorrelation::unread(fitted.rest, found.time_step);
    let strongest = found.lines.iter().map(|line| line.weight).fold(0.0, f64::max);
    let mut lines = Vec::new();
    for group in groups {
        if group.len() == 1 {
            lines.extend(group);
            continue;
        }
        match told(&group, &fitted.lines, found, &rest) {
            Some(all) => lines.extend(all.into_iter().filter(|line| line.weight > super::WEAKEST * strongest)),
            None => lines.extend(group.into_iter().map(|line| SpectralLine { crowded: true, ..line })),
        }
    }
    lines.sort_by(|a, b| a.energy.total_cmp(&b.energy));
    found.lines = lines;
}

/// Whether an exponential is a level, that lasts over so many steps.
fn lasts(line: &decaying::Decaying, steps: f64) -> bool {
    (line.damping * steps).abs() < LASTS && line.amplitude.arg().abs() < LASTS && line.error * steps < LASTS
}

fn level(line: &decaying::Decaying, time_step: f64) -> SpectralLine {
    SpectralLine {
        energy: line.theta / time_step,
        weight: line.amplitude.norm(),
        decay: None,
        crowded: false,
    }
}

/// The levels of a group, if exponentials that last explain what is there.
fn told(
    group: &[SpectralLine],
    fitted: &[decaying::Decaying],
    found: &Autocorrelation,
    rest: &Autocorrelation,
) -> Option<Vec<SpectralLine>> {
    let (first, last) = (group.first()?.energy, group.last()?.energy);
    let width = found.resolution();
    let middle = f64::midpoint(first, last);
    let inside = |line: &&decaying::Decaying| {
        apart(line.theta, middle * found.time_step).abs() / found.time_step < (last - first) / 2.0 + width
    };
    let inside: Vec<&decaying::Decaying> = fitted.iter().filter(inside).collect();
    let steps = TAU / (width * found.time_step);
    let most = group.iter().map(|line| line.weight).fold(0.0, f64::max);
    let places = (last - first) / width * 4.0 + 8.0;
    let mut place = 0.0;
    let mut left = 0.0f64;
    while place <= places {
        left = left.max(rest.spectrum(first - width + place * width / 4.0).abs());
        place += 1.0;
    }
    (!inside.is_empty() && inside.iter().all(|line| lasts(line, steps)) && left < LEFT * most)
        .then(|| inside.iter().map(|line| level(line, found.time_step)).collect())
}

/// The lines heavier than `least` in what fits have left of a record, if they last: that of a state that has decayed, or of a continuum, is twice as high in the first half.
pub(super) fn left_behind(rest: Vec<Complex64>, time_step: f64, least: f64) -> Vec<SpectralLine> {
    let mean = rest.iter().map(Complex64::norm_sqr).sum::<f64>();
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    let steps = rest.len() as f64;
    // A line of this weight alone has this mean square; beside others it may have less, not a hundredth of it.
    if rest.len() < 16 || mean <= 1e-2 * least * least * steps {
        return Vec::new();
    }
    let half = Autocorrelation::unread(rest[..rest.len() / 2].to_vec(), time_step);
    let mut found = Autocorrelation::unread(rest, time_step);
    found.lines = found.find();
    let lasts = |line: &SpectralLine| {
        line.weight > least && (half.spectrum(line.energy) - line.weight).abs() < CHANGES * line.weight
    };
    found.lines.retain(lasts);
    found.lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::noise::Noise;

    /// Lines e^{−iEt − Γt/2} of (E, Γ, weight), with noise of this size.
    fn record(exact: &[[f64; 3]], step: f64, steps: u16, size: f64) -> Vec<Complex64> {
        let mut noise = Noise::new(3);
        let mut noise = || size * noise.normal();
        (0..=steps)
            .map(|n| {
                let t = step * f64::from(n);
                let term = |line: &[f64; 3]| (Complex64::new(-line[1] / 2.0, -line[0]) * t).exp() * line[2];
                exact.iter().map(term).sum::<Complex64>() + Complex64::new(noise(), noise())
            })
            .collect()
    }

    /// A doublet 0.35 widths apart beside other lines, as a double well has it, was lines with wrong energies and weights, and hid weak ones.
    #[test]
    fn doublets_are_two_lines() {
        let width = TAU / 300.0;
        let exact = [
            [1.154, 0.0, 0.5],
            [5.413, 0.0, 0.15],
            [5.413 + 0.35 * width, 0.0, 0.145],
            [8.862, 0.0, 0.2],
            [8.9, 0.0, 4e-3],
            [12.0, 0.0, 1e-3],
        ];
        for size in [0.0, 3e-8] {
            let found = Autocorrelation::of(record(&exact, 0.2, 1500, size), 0.2);
            assert_eq!(found.lines.len(), exact.len(), "{:?}", found.lines);
            for (line, [energy, _, weight]) in found.lines.iter().zip(exact) {
                let off = (line.energy - energy).abs() / width;
                assert!(off < 1e-2 && !line.crowded && line.decay.is_none(), "{line:?} {energy}");
                assert!((line.weight - weight).abs() < 1e-2 * weight, "{line:?} {weight}");
            }
        }
    }

    /// Levels half a width apart, with noise of a hundredth, are no lines of their own: what stands there is marked.
    #[test]
    fn what_is_not_resolved_is_marked() {
        let width = TAU / 50.0;
        let levels: Vec<[f64; 3]> = (0..12u8)
            .map(|n| [1.0 + 0.5 * width * f64::from(n), 0.0, 0.08])
            .collect();
        let found = Autocorrelation::of(record(&levels, 0.2, 250, 1e-2), 0.2);
        assert!(
            found.lines.len() > 1 && found.lines.iter().all(|line| line.crowded),
            "{:?}",
            found.lines
        );
    }

    /// Rounding of single precision lets states grow by 10⁻⁸ a step; they are lines that do not decay, with errors that say so.
    #[test]
    fn states_that_seem_to_grow_are_lines() {
        let (step, growth) = (0.05, 2e-8);
        let exact = [
            [-1.824, -2.0 * growth / step, 0.93],
            [-1.311, 0.0, 0.055],
            [-0.3, 1.0, 0.02],
        ];
        let found = Autocorrelation::decaying(record(&exact, step, 8000, 1e-9), step, 1.2e-7);
        assert_eq!(found.lines.len(), 3, "{:?}", found.lines);
        for (line, [energy, rate, weight]) in found.lines.iter().zip(exact) {
            let decay = line.decay.unwrap();
            assert!(
                (line.energy - energy).abs() < 1e-6 && (line.weight - weight).abs() < 1e-4,
                "{line:?}"
            );
            assert!(
                decay.error >= 1.2e-7 / step && (decay.rate - rate).abs() < 2.0 * decay.error,
                "{line:?}"
            );
        }
        assert!(found.lines[0].decay.unwrap().rate < 1e-12);
        assert!(found.rest.is_some_and(|rest| rest < 1e-6));
    }

    /// What no fit has found and lasts is a line without a rate; what falls as a power of the time is none.
    #[test]
    fn lines_that_were_not_fitted_are_listed() {
        let rest = record(&[[0.7, 0.0, 0.4], [2.0, 0.5, 0.4]], 0.1, 500, 1e-3);
        let [line] = left_behind(rest, 0.1, 1e-2)[..] else {
            panic!("one line");
        };
        assert!(
            (line.energy - 0.7).abs() < 1e-3 && (line.weight - 0.4).abs() < 1e-2,
            "{line:?}"
        );
        let spreads: Vec<Complex64> = (0..400u16)
            .map(|n| Complex64::new(1.0, 0.05 * f64::from(n)).powf(-1.5))
            .collect();
        assert!(left_behind(spreads, 0.1, 1e-2).is_empty());
    }
}

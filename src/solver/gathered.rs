//! Detectors of sound whose sites a device gathers one by one, read by the host once a batch.

use super::Taps;
use super::clock::RunClock;
use super::counts::unsigned;
#[cfg(feature = "cuda")]
use super::taps::RowNumbers;
use super::taps::Tap;
use crate::field::Real;
use crate::physics::Measure;
use num_complex::Complex64;

/// Whether a detector reads single sites of the pressure, `most` of them at most.
pub(super) fn is_gathered(tap: &Tap, most: usize) -> bool {
    let sites: usize = (0..3).map(|axis| tap.hi[axis].saturating_sub(tap.lo[axis])).product();
    !tap.shares.is_empty() || !matches!(tap.measure, Measure::Energy | Measure::Flux) && sites <= most
}

/// Places of the sites of all detectors that are gathered, one after the other.
pub(super) fn gathered_places(taps: &Taps, most: usize, place: impl Fn([usize; 3]) -> usize) -> Vec<u32> {
    let mut all = Vec::new();
    let of_part = taps.taps().iter().zip(taps.whole());
    for (tap, _) in of_part.filter(|(_, whole)| is_gathered(whole, most)) {
        if !tap.shares.is_empty() {
            all.extend(tap.shares.iter().map(|(site, _)| unsigned(place(*site))));
            continue;
        }
        for k in tap.lo[2]..tap.hi[2] {
            for j in tap.lo[1]..tap.hi[1] {
                all.extend((tap.lo[0]..tap.hi[0]).map(|i| unsigned(place([i, j, k]))));
            }
        }
    }
    all
}

/// Hands the values of a batch to the detectors, and what was gathered beside to transducers that record. `values`: as many a step, in the order of [`gathered_places`];
/// `clocks` of the steps, and for each the values of detectors that are not gathered (of the others anything).
pub(super) fn hand_over<T: Real>(
    taps: &mut Taps,
    most: usize,
    values: &[T],
    clocks: &[RunClock],
    summed: Vec<Vec<f64>>,
) {
    let count = values.len() / clocks.len().max(1);
    // Values of a step that are those of detectors; the others transducers have recorded.
    let mut detected = 0;
    for (n, (clock, mut record)) in clocks.iter().zip(summed).enumerate() {
        let mut here = &values[n * count..(n + 1) * count];
        for (tap, value) in taps.taps().iter().zip(&mut record) {
            if !tap.shares.is_empty() {
                let own;
                (own, here) = here.split_at(tap.shares.len());
                *value = tap.interpolated(own.iter().map(|value| value.wide()));
            } else if is_gathered(tap, most) {
                *value = tap.acoustic(|_, _, out| {
                    for (out, value) in out.iter_mut().zip(here) {
                        *out = value.wide();
                    }
                    here = &here[out.len()..];
                });
            }
        }
        taps.push(clock, &record);
        detected = count - here.len();
    }
    hand_to_transducers(taps, values, clocks.len(), detected);
}

/// Hands what was gathered in so many steps, behind what detectors have taken of each, to transducers that record.
fn hand_to_transducers<T: Real>(taps: &mut Taps, values: &[T], steps: usize, detected: usize) {
    let count = values.len() / steps.max(1);
    let row = count - detected;
    if let Some(transducers) = taps.transducers_mut().as_mut().filter(|_| row > 0) {
        let value = |n: usize| Complex64::from(values[n / row * count + detected + n % row].wide());
        transducers.hear_all(row * steps, value);
    }
}

/// The same for detectors of a part of a grid, which keep the values of single sites with the numbers j + `ny`·k of their rows; `summed` holds the rows of the others.
#[cfg(feature = "cuda")]
pub(super) fn hand_over_rows<T: Real>(
    taps: &mut Taps,
    (most, ny): (usize, usize),
    values: &[T],
    clocks: &[RunClock],
    summed: Vec<Vec<RowNumbers>>,
) {
    let count = values.len() / clocks.len().max(1);
    let mut detected = 0;
    for (n, (clock, mut record)) in clocks.iter().zip(summed).enumerate() {
        let mut here = values[n * count..(n + 1) * count].iter().map(|value| value.wide());
        for ((tap, whole), rows) in taps.taps().iter().zip(taps.whole()).zip(&mut record) {
            if !is_gathered(whole, most) {
                continue;
            }
            let places: Vec<usize> = if tap.shares.is_empty() {
                let lines = (tap.lo[2]..tap.hi[2]).flat_map(|k| (tap.lo[1]..tap.hi[1]).map(move |j| j + ny * k));
                let width = tap.hi[0].saturating_sub(tap.lo[0]);
                lines.flat_map(|row| std::iter::repeat_n(row, width)).collect()
            } else {
                tap.shares.iter().map(|([_, j, k], _)| j + ny * k).collect()
            };
            *rows = places.into_iter().zip(here.by_ref()).collect();
        }
        detected = count - here.len();
        taps.push_rows(clock, |tap, _| std::mem::take(&mut record[tap]));
    }
    hand_to_transducers(taps, values, clocks.len(), detected);
}

/// The value of a detector whose sites were gathered in parts of a grid, from those of all its sites in their order.
#[cfg(feature = "cuda")]
pub(super) fn of_sites(tap: &Tap, values: &[f64]) -> f64 {
    if !tap.shares.is_empty() {
        return tap.interpolated(values.iter().copied());
    }
    let mut values = values.iter().copied();
    tap.acoustic(|_, _, out| {
        for out in out {
            // A detector of one value has no more than its first row.
            *out = values.next().unwrap_or(0.0);
        }
    })
}

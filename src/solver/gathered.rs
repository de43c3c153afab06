//! Detectors of sound whose sites a device gathers one by one, between two visits of the host.

use super::Taps;
use super::clock::RunClock;
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
#[expect(
    clippy::cast_possible_truncation,
    reason = "grids of more than 2^32 sites were refused"
)]
pub(super) fn gathered_places(taps: &Taps, most: usize, place: impl Fn([usize; 3]) -> usize) -> Vec<u32> {
    let mut all = Vec::new();
    for tap in taps.taps().iter().filter(|tap| is_gathered(tap, most)) {
        if !tap.shares.is_empty() {
            all.extend(tap.shares.iter().map(|(site, _)| place(*site) as u32));
            continue;
        }
        for k in tap.lo[2]..tap.hi[2] {
            for j in tap.lo[1]..tap.hi[1] {
                all.extend((tap.lo[0]..tap.hi[0]).map(|i| place([i, j, k]) as u32));
            }
        }
    }
    all
}

/// Hands the values of a batch to the detectors, and what was gathered beside to transducers that listen. `values`: as many a step, in the order of [`gathered_places`];
/// `clocks` of the steps, and for each the values of detectors that are not gathered (of the others anything).
pub(super) fn hand_over<T: Real>(
    taps: &mut Taps,
    most: usize,
    values: &[T],
    clocks: &[RunClock],
    summed: Vec<Vec<f64>>,
) {
    let count = values.len() / clocks.len().max(1);
    let mut heard = Vec::new();
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
        heard.extend(here.iter().map(|value| Complex64::from(value.wide())));
    }
    if let Some(transducers) = taps.transducers_mut() {
        transducers.hear(&heard);
    }
}

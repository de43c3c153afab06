//! Planes of values at another size: smooth when enlarged, averaged when reduced.

use rayon::prelude::*;

/// From this many pixels a site, sites are shown as squares.
const SQUARES: f64 = 16.0;

/// How one axis goes from samples to pixels: for each pixel the first sample and the weights from there.
#[derive(Clone, Debug)]
pub struct Axis {
    taps: Vec<(usize, Vec<f32>)>,
    /// Whether every pixel is a sample.
    exact: bool,
}

impl Axis {
    /// `samples` cover `extent` sample widths (the last one may be cut off), shown in `pixels`.
    ///
    /// Enlarged with the cubic of Catmull and Rom (E. Catmull, R. Rom, 1974, doi:10.1016/B978-0-12-079050-0.50020-5), which goes
    /// through the samples; reduced by means over what a pixel covers.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of pixels, clamped to the samples"
    )]
    pub fn new(samples: usize, extent: f64, pixels: usize) -> Self {
        if samples == pixels && extent == samples as f64 {
            let taps = (0..pixels).map(|pixel| (pixel, vec![1.0])).collect();
            return Self { taps, exact: true };
        }
        let scale = extent / pixels.max(1) as f64;
        let last = samples.saturating_sub(1);
        let smooth = |pixel: usize| {
            let at = (pixel as f64 + 0.5) * scale - 0.5;
            let first = at.floor();
            let t = at - first;
            let weights = [
                ((-0.5 * t + 1.0) * t - 0.5) * t,
                (1.5 * t - 2.5) * t * t + 1.0,
                ((-1.5 * t + 2.0) * t + 0.5) * t,
                (0.5 * t - 0.5) * t * t,
            ];
            // Samples beyond the ends repeat the ends.
            let lowest = (first - 1.0).clamp(0.0, last as f64) as usize;
            let highest = (first + 2.0).clamp(0.0, last as f64) as usize;
            let mut folded = vec![0.0f32; highest - lowest + 1];
            for (n, weight) in weights.iter().enumerate() {
                let sample = (first - 1.0 + n as f64).clamp(0.0, last as f64) as usize;
                folded[sample - lowest] += *weight as f32;
            }
            (lowest, folded)
        };
        let mean = |pixel: usize| {
            let (start, end) = (pixel as f64 * scale, ((pixel + 1) as f64 * scale).min(extent));
            let first = (start.floor() as usize).min(last);
            let end_sample = (end.ceil() as usize).clamp(first + 1, samples);
            let overlap = |n: usize| (((n + 1) as f64).min(end) - (n as f64).max(start)).max(0.0);
            let total: f64 = (first..end_sample).map(overlap).sum();
            let weights = (first..end_sample).map(|n| if total > 0.0 { (overlap(n) / total) as f32 } else { 1.0 });
            (first, weights.collect())
        };
        let nearest = |pixel: usize| ((((pixel as f64 + 0.5) * scale) as usize).min(last), vec![1.0]);
        let taps = (0..pixels).map(|pixel| {
            if scale > 1.0 {
                mean(pixel)
            } else if scale > 1.0 / SQUARES {
                smooth(pixel)
            } else {
                nearest(pixel)
            }
        });
        Self {
            taps: taps.collect(),
            exact: false,
        }
    }

    /// Whether every pixel is a sample.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Pixels along this axis.
    #[must_use]
    pub fn pixels(&self) -> usize {
        self.taps.len()
    }
}

/// `values` (x fastest, `width` samples a row) at x.pixels() × y.pixels().
#[must_use]
pub fn resample(values: &[f32], width: usize, x: &Axis, y: &Axis) -> Vec<f32> {
    if x.exact && y.exact {
        return values.to_vec();
    }
    let columns = x.pixels();
    let rows = values.len() / width.max(1);
    let mut wide = vec![0.0f32; columns * rows];
    wide.par_chunks_mut(columns)
        .zip(values.par_chunks(width))
        .for_each(|(out, row)| {
            for (value, (first, weights)) in out.iter_mut().zip(&x.taps) {
                *value = weights.iter().zip(&row[*first..]).map(|(w, v)| w * v).sum();
            }
        });
    let mut out = vec![0.0f32; columns * y.pixels()];
    out.par_chunks_mut(columns)
        .zip(&y.taps)
        .for_each(|(out, (first, weights))| {
            for (weight, row) in weights.iter().zip(wide.chunks(columns).skip(*first)) {
                for (value, sample) in out.iter_mut().zip(row) {
                    *value += weight * sample;
                }
            }
        });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Single precision, four weights of size 1.
    const EPSILON: f32 = 4.0 * f32::EPSILON;

    #[test]
    fn enlarging_keeps_constants_and_lines() {
        let line: Vec<f32> = (0u8..10).map(f32::from).collect();
        let x = Axis::new(10, 10.0, 35);
        let y = Axis::new(1, 1.0, 1);
        let out = resample(&line, 10, &x, &y);
        for (n, value) in (0u8..).zip(&out) {
            let at = (f32::from(n) + 0.5) * 10.0 / 35.0 - 0.5;
            // The cubic is exact on a line where its four samples lie inside.
            if (1.0..8.0).contains(&at) {
                assert!((value - at).abs() < 10.0 * EPSILON, "{value} at {at}");
            }
        }
        let ones = resample(&[1.0; 10], 10, &x, &y);
        assert!(ones.iter().all(|v| (v - 1.0).abs() < EPSILON));
    }

    #[test]
    fn samples_of_the_same_size_stay_as_they_are() {
        let values: Vec<f32> = (0u8..12).map(|n| f32::from(n * n) / 7.0).collect();
        let (x, y) = (Axis::new(4, 4.0, 4), Axis::new(3, 3.0, 3));
        assert!(x.is_exact() && y.is_exact() && !Axis::new(4, 3.5, 4).is_exact());
        assert_eq!(resample(&values, 4, &x, &y), values);
    }

    #[test]
    fn reducing_keeps_the_mean() {
        let values: Vec<f32> = (0u8..12).map(|n| f32::from(n * n)).collect();
        let out = resample(&values, 12, &Axis::new(12, 12.0, 5), &Axis::new(1, 1.0, 1));
        let (before, after) = (values.iter().sum::<f32>() / 12.0, out.iter().sum::<f32>() / 5.0);
        assert!((after - before).abs() < before * 12.0 * f32::EPSILON);
    }

    #[test]
    fn few_sites_are_squares() {
        let out = resample(&[1.0, 2.0], 2, &Axis::new(2, 2.0, 40), &Axis::new(1, 1.0, 20));
        let count = |wanted: f32| out.iter().filter(|v| v.to_bits() == wanted.to_bits()).count();
        assert_eq!([count(1.0), count(2.0)], [400, 400]);
    }
}

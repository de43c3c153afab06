//! Planes of values at another size: smooth when enlarged, averaged when reduced.

use rayon::prelude::*;

/// From this many pixels a site, sites are shown as squares.
const SQUARES: f64 = 16.0;

/// How one axis goes from samples to pixels: for each pixel the first sample and the weights from there, as many for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    first: Vec<usize>,
    /// `taps` of each pixel.
    weights: Vec<f32>,
    taps: usize,
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
            let taps = (0..pixels).map(|pixel| (pixel, vec![1.0]));
            return Self::of(taps.collect(), samples, true);
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
        Self::of(taps.collect(), samples, false)
    }

    /// The same number of weights for each pixel, zeros where it has fewer.
    fn of(pixels: Vec<(usize, Vec<f32>)>, samples: usize, exact: bool) -> Self {
        let taps = pixels.iter().map(|(_, weights)| weights.len()).max().unwrap_or(1);
        let mut padded = vec![0.0; taps * pixels.len()];
        let first = pixels.into_iter().zip(padded.chunks_exact_mut(taps));
        let first = first.map(|((first, weights), padded)| {
            // The last ones begin earlier instead of reaching beyond the samples.
            let start = first.min(samples.saturating_sub(taps));
            padded[first - start..][..weights.len()].copy_from_slice(&weights);
            start
        });
        Self {
            first: first.collect(),
            weights: padded,
            taps,
            exact,
        }
    }

    /// Whether every pixel is a sample.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Pixels along this axis.
    pub fn pixels(&self) -> usize {
        self.first.len()
    }

    /// One row of samples at the pixels of this axis.
    fn along(&self, row: &[f32], out: &mut [f32]) {
        // A number of weights that the compiler knows takes a third of the time.
        match self.taps {
            1 => self.sums::<1>(row, out),
            2 => self.sums::<2>(row, out),
            3 => self.sums::<3>(row, out),
            4 => self.sums::<4>(row, out),
            taps => {
                let weights = self.weights.chunks_exact(taps);
                for ((value, first), weights) in out.iter_mut().zip(&self.first).zip(weights) {
                    *value = weights.iter().zip(&row[*first..]).map(|(w, v)| w * v).sum();
                }
            }
        }
    }

    fn sums<const TAPS: usize>(&self, row: &[f32], out: &mut [f32]) {
        let (weights, _) = self.weights.as_chunks::<TAPS>();
        for ((value, first), weights) in out.iter_mut().zip(&self.first).zip(weights) {
            let samples = &row[*first..*first + TAPS];
            *value = weights.iter().zip(samples).map(|(w, v)| w * v).sum();
        }
    }
}

/// A plane that has its pixels along x, and its samples along y.
pub struct Wide<'a> {
    values: &'a [f32],
    columns: usize,
    y: &'a Axis,
}

impl<'a> Wide<'a> {
    /// Of `values`, x fastest, `width` samples a row; what has to be worked out is kept in `room`, so that a film takes its memory once.
    #[must_use]
    pub fn new(values: &'a [f32], width: usize, (x, y): (&Axis, &'a Axis), room: &'a mut Vec<f32>) -> Self {
        let columns = x.pixels();
        if x.exact {
            return Self { values, columns, y };
        }
        room.resize(columns * (values.len() / width.max(1)), 0.0);
        room.par_chunks_mut(columns.max(1))
            .zip(values.par_chunks(width.max(1)))
            .for_each(|(out, row)| x.along(row, out));
        Self {
            values: room,
            columns,
            y,
        }
    }

    /// Row `n` of pixels, from below.
    pub fn row(&self, n: usize, out: &mut [f32]) {
        let rows = self.values.chunks_exact(self.columns.max(1)).skip(self.y.first[n]);
        let weights = &self.y.weights[n * self.y.taps..][..self.y.taps];
        for (tap, (weight, row)) in weights.iter().zip(rows).enumerate() {
            if tap == 0 {
                for (value, sample) in out.iter_mut().zip(row) {
                    *value = weight * sample;
                }
            } else {
                for (value, sample) in out.iter_mut().zip(row) {
                    *value += weight * sample;
                }
            }
        }
    }
}

/// `values` (x fastest, `width` samples a row) at x.pixels() × y.pixels().
pub fn resample(values: &[f32], width: usize, x: &Axis, y: &Axis) -> Vec<f32> {
    let mut room = Vec::new();
    let wide = Wide::new(values, width, (x, y), &mut room);
    let mut out = vec![0.0f32; x.pixels() * y.pixels()];
    let rows = out.par_chunks_mut(x.pixels().max(1)).enumerate();
    rows.for_each(|(n, row)| wide.row(n, row));
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

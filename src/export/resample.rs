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
    /// The sample in which each pixel lies.
    near: Vec<usize>,
    /// Whether a pixel is the mean over what it covers, instead of a value between samples.
    means: bool,
    /// Whether every pixel is a sample.
    exact: bool,
}

/// Ends of an axis beyond which a value is 0, one spacing from the last sample, as the pressure is beyond soft edges.
pub type SoftEnds = [bool; 2];

impl Axis {
    /// `samples` cover `extent` sample widths (the last one may be cut off), shown in `pixels`.
    ///
    /// Enlarged with the cubic of Catmull and Rom (E. Catmull, R. Rom, 1974, doi:10.1016/B978-0-12-079050-0.50020-5), which goes
    /// through the samples; reduced by means over what a pixel covers.
    #[must_use]
    pub fn new(samples: usize, extent: f64, pixels: usize) -> Self {
        Self::between(samples, extent, pixels, [false; 2])
    }

    /// The same between two ends; beyond those that are soft the wave goes on upside down.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of pixels, clamped to the samples"
    )]
    pub fn between(samples: usize, extent: f64, pixels: usize, soft: SoftEnds) -> Self {
        if samples == pixels && extent == samples as f64 {
            let taps = (0..pixels).map(|pixel| (pixel, vec![1.0]));
            return Self {
                exact: true,
                near: (0..pixels).collect(),
                ..Self::of(taps.collect(), samples)
            };
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
            // Samples beyond the ends repeat the ends; beyond a soft one the first is 0, and the next the last with the other sign.
            let lowest = (first - 1.0).clamp(0.0, last as f64) as usize;
            let highest = (first + 2.0).clamp(0.0, last as f64) as usize;
            let mut folded = vec![0.0f32; highest - lowest + 1];
            for (n, weight) in weights.iter().enumerate() {
                let place = first - 1.0 + n as f64;
                let sample = place.clamp(0.0, last as f64) as usize;
                let beyond = (sample as f64 - place).abs();
                let is_soft = beyond > 0.0 && soft[usize::from(place > 0.0)];
                let sign = match is_soft {
                    true if beyond < 1.5 => 0.0,
                    true => -1.0,
                    false => 1.0,
                };
                folded[sample - lowest] += sign * *weight as f32;
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
        let own = |pixel: usize| (((pixel as f64 + 0.5) * scale) as usize).min(last);
        Self {
            near: (0..pixels).map(own).collect(),
            means: scale > 1.0,
            ..Self::of(taps.collect(), samples)
        }
    }

    /// The same number of weights for each pixel, zeros where it has fewer.
    fn of(pixels: Vec<(usize, Vec<f32>)>, samples: usize) -> Self {
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
            near: Vec::new(),
            means: false,
            exact: false,
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

    /// The value of a pixel of samples of which some are walls: `sample` and `is_wall` are asked for places along the axis.
    ///
    /// Means leave walls out. Between samples each side of a wall has its own values, which are mirrored at its face as a rigid wall mirrors the sound (an image source);
    /// a pixel in a wall has 0.
    fn beside_walls(&self, pixel: usize, sample: impl Fn(usize) -> f32, is_wall: impl Fn(usize) -> bool) -> f32 {
        let first = self.first[pixel];
        let weights = &self.weights[pixel * self.taps..][..self.taps];
        if self.means {
            let open = weights.iter().zip(first..).filter(|(_, at)| !is_wall(*at));
            let sums = |[sum, all]: [f32; 2], (weight, at): (&f32, usize)| [sum + weight * sample(at), all + weight];
            let [sum, all] = open.fold([0.0; 2], sums);
            return if all > 0.0 { sum / all } else { 0.0 };
        }
        let near = self.near[pixel];
        if is_wall(near) {
            return 0.0;
        }
        let is_open = |at: &usize| !is_wall(*at);
        let low = (first..near).rev().take_while(is_open).last().unwrap_or(near);
        let high = (near + 1..first + self.taps).take_while(is_open).last().unwrap_or(near);
        let mirrored = |at: usize| {
            if at < low {
                (2 * low - 1 - at).min(high)
            } else if at > high {
                (2 * high + 1).saturating_sub(at).max(low)
            } else {
                at
            }
        };
        weights
            .iter()
            .zip(first..)
            .map(|(weight, at)| weight * sample(mirrored(at)))
            .sum()
    }

    /// Whether a pixel is in a wall: no part of what it covers is open.
    fn is_walled(&self, pixel: usize, walls: &[bool]) -> bool {
        if !self.means {
            return walls[self.near[pixel]];
        }
        let first = self.first[pixel];
        let weights = &self.weights[pixel * self.taps..][..self.taps];
        let mut covered = weights.iter().zip(&walls[first..]);
        covered.all(|(weight, wall)| *weight == 0.0 || *wall)
    }

    fn sums<const TAPS: usize>(&self, row: &[f32], out: &mut [f32]) {
        let (weights, _) = self.weights.as_chunks::<TAPS>();
        for ((value, first), weights) in out.iter_mut().zip(&self.first).zip(weights) {
            let samples = &row[*first..*first + TAPS];
            *value = weights.iter().zip(samples).map(|(w, v)| w * v).sum();
        }
    }
}

/// Which samples of a plane are rigid walls, that hold no sound: their values are not those of the air beside them.
#[derive(Clone, Debug, Default)]
pub struct Walls {
    /// Of each sample, x fastest.
    samples: Vec<bool>,
    /// At pixels along x, and samples along y.
    wide: Vec<bool>,
    /// Whether a row of samples has any.
    rows: Vec<bool>,
}

impl Walls {
    /// Of `samples` (x fastest, `width` a row), seen at the pixels of x; `None` where there are none.
    #[must_use]
    pub fn new(samples: &[bool], width: usize, x: &Axis) -> Option<Self> {
        if !samples.contains(&true) {
            return None;
        }
        let rows = samples.chunks_exact(width.max(1));
        let wide = rows.clone().flat_map(|row| {
            let is_walled = move |pixel| x.is_walled(pixel, row);
            (0..x.pixels()).map(is_walled)
        });
        Some(Self {
            wide: wide.collect(),
            rows: rows.map(|row| row.contains(&true)).collect(),
            samples: samples.to_vec(),
        })
    }
}

/// A plane that has its pixels along x, and its samples along y.
pub struct Wide<'a> {
    values: &'a [f32],
    columns: usize,
    y: &'a Axis,
    walls: Option<&'a Walls>,
}

impl<'a> Wide<'a> {
    /// Of `values`, x fastest, `width` samples a row; what has to be worked out is kept in `room`, so that a film takes its memory once.
    #[must_use]
    pub fn new(
        values: &'a [f32],
        width: usize,
        (x, y): (&Axis, &'a Axis),
        walls: Option<&'a Walls>,
        room: &'a mut Vec<f32>,
    ) -> Self {
        let columns = x.pixels();
        let walls = walls.filter(|walls| walls.samples.len() == values.len());
        if x.exact {
            return Self {
                values,
                columns,
                y,
                walls,
            };
        }
        let width = width.max(1);
        room.resize(columns * (values.len() / width), 0.0);
        let rows = room.par_chunks_mut(columns.max(1)).zip(values.par_chunks(width));
        rows.enumerate().for_each(|(n, (out, row))| {
            if let Some(walls) = walls.filter(|walls| walls.rows[n]) {
                let walls = &walls.samples[n * width..][..width];
                for (pixel, value) in out.iter_mut().enumerate() {
                    *value = x.beside_walls(pixel, |at| row[at], |at| walls[at]);
                }
            } else {
                x.along(row, out);
            }
        });
        Self {
            values: room,
            columns,
            y,
            walls,
        }
    }

    /// Row `n` of pixels, from below.
    pub fn row(&self, n: usize, out: &mut [f32]) {
        let first = self.y.first[n];
        if let Some(walls) = self
            .walls
            .filter(|walls| walls.rows[first..][..self.y.taps].contains(&true))
        {
            for (column, value) in out.iter_mut().enumerate() {
                let place = |at: usize| at * self.columns + column;
                *value = (self.y).beside_walls(n, |at| self.values[place(at)], |at| walls.wide[place(at)]);
            }
            return;
        }
        let rows = self.values.chunks_exact(self.columns.max(1)).skip(first);
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

/// `values` (x fastest, `width` samples a row) at x.pixels() × y.pixels(), between `walls` (one a sample; empty where there are none).
pub fn resample(values: &[f32], width: usize, (x, y): (&Axis, &Axis), walls: &[bool]) -> Vec<f32> {
    let mut room = Vec::new();
    let walls = Walls::new(walls, width, x);
    let wide = Wide::new(values, width, (x, y), walls.as_ref(), &mut room);
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
        let out = resample(&line, 10, (&x, &y), &[]);
        for (n, value) in (0u8..).zip(&out) {
            let at = (f32::from(n) + 0.5) * 10.0 / 35.0 - 0.5;
            // The cubic is exact on a line where its four samples lie inside.
            if (1.0..8.0).contains(&at) {
                assert!((value - at).abs() < 10.0 * EPSILON, "{value} at {at}");
            }
        }
        let ones = resample(&[1.0; 10], 10, (&x, &y), &[]);
        assert!(ones.iter().all(|v| (v - 1.0).abs() < EPSILON));
    }

    #[test]
    fn samples_of_the_same_size_stay_as_they_are() {
        let values: Vec<f32> = (0u8..12).map(|n| f32::from(n * n) / 7.0).collect();
        let (x, y) = (Axis::new(4, 4.0, 4), Axis::new(3, 3.0, 3));
        assert!(x.is_exact() && y.is_exact() && !Axis::new(4, 3.5, 4).is_exact());
        assert_eq!(resample(&values, 4, (&x, &y), &[]), values);
    }

    #[test]
    fn reducing_keeps_the_mean() {
        let values: Vec<f32> = (0u8..12).map(|n| f32::from(n * n)).collect();
        let out = resample(&values, 12, (&Axis::new(12, 12.0, 5), &Axis::new(1, 1.0, 1)), &[]);
        let (before, after) = (values.iter().sum::<f32>() / 12.0, out.iter().sum::<f32>() / 5.0);
        assert!((after - before).abs() < before * 12.0 * f32::EPSILON);
    }

    #[test]
    fn few_sites_are_squares() {
        let out = resample(&[1.0, 2.0], 2, (&Axis::new(2, 2.0, 40), &Axis::new(1, 1.0, 20)), &[]);
        let count = |wanted: f32| out.iter().filter(|v| v.to_bits() == wanted.to_bits()).count();
        assert_eq!([count(1.0), count(2.0)], [400, 400]);
    }

    /// Between two walls, and on both sides of a thin one, no value leaves the range of the sites of its side, and walls have none; along y as along x.
    #[test]
    fn walls_give_nothing_to_the_air_beside_them() {
        let values = [0.0f32, 0.0, 9.0, 9.0, 9.0, 0.0, -4.0, -4.0, -4.0, -4.0];
        let walls = values.map(|value| value == 0.0);
        let (long, short) = (Axis::new(10, 10.0, 70), Axis::new(1, 1.0, 1));
        let across = resample(&values, 10, (&long, &short), &walls);
        let up = resample(&values, 1, (&short, &long), &walls);
        for out in [across, up] {
            for (pixel, value) in out.iter().enumerate() {
                let site = pixel / 7;
                assert!((value - values[site]).abs() < 9.0 * EPSILON, "{value} at site {site}");
            }
        }
    }

    /// A crest at a rigid wall is level there: the cubic goes on with the image of the wave.
    #[test]
    fn a_wave_is_mirrored_at_a_wall() {
        // cos at half sites from the face, which is at site 2.
        let wave = |at: f32| (0.1 * (at - 2.0)).cos();
        let values: Vec<f32> = (0u8..12)
            .map(|n| if n < 2 { 0.0 } else { wave(f32::from(n) + 0.5) })
            .collect();
        let walls: Vec<bool> = (0..12).map(|n| n < 2).collect();
        let (x, y) = (Axis::new(12, 12.0, 96), Axis::new(1, 1.0, 1));
        let out = resample(&values, 12, (&x, &y), &walls);
        for (pixel, value) in (0u8..).zip(&out).filter(|(pixel, _)| (16..80).contains(pixel)) {
            // The cubic is of third order: (0.1)³ times less than 1/4.
            let at = (f32::from(pixel) + 0.5) / 8.0;
            assert!((value - wave(at)).abs() < 2.5e-4, "{value} at {at}");
        }
        // Means over what a pixel covers leave walls out.
        let out = resample(&values, 12, (&Axis::new(12, 12.0, 4), &y), &walls);
        assert!((out[0] - values[2]).abs() < EPSILON, "{out:?}");
    }

    /// One spacing beyond a soft edge the pressure is 0, and half a spacing beyond half of the last one.
    #[test]
    fn soft_ends_are_zero_outside() {
        let line: Vec<f32> = (0u8..8).map(|n| f32::from(8 - n)).collect();
        let x = Axis::between(8, 8.0, 72, [false, true]);
        let out = resample(&line, 8, (&x, &Axis::new(1, 1.0, 1)), &[]);
        let at = |pixel: f32| (pixel + 0.5) / 9.0 - 0.5;
        assert!((out[71] - (8.0 - at(71.0))).abs() < 8.0 * EPSILON, "{}", out[71]);
        // The other end goes on as it is.
        assert!(out[0] > 7.9 && out[0] < 8.1, "{}", out[0]);
    }
}

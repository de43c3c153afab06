//! From a field of three dimensions to a volume that is drawn in space.
//!
//! A texel covers `reduction` × `reduction` × `reduction` sites. Texels are half-precision numbers relative to the largest value, so that
//! graphics processors filter them; 11 bits are more than the 256 colours of a map show.

use super::{FieldImage, ImageRequest, SolverError};
use crate::scene::scenario::Quantity;

/// The quantity of a volume, and its resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct VolumeRequest {
    /// What it shows.
    pub quantity: Quantity,
    /// The grid's sites.
    pub sites: [usize; 3],
    /// Most texels along the longest axis.
    pub most: usize,
}

impl VolumeRequest {
    /// Sites per texel along each axis.
    pub fn reduction(&self) -> usize {
        let longest = self.sites.into_iter().max().unwrap_or(1);
        longest.div_ceil(self.most.max(1)).max(1)
    }

    /// Texels along each axis.
    pub fn size(&self) -> [usize; 3] {
        let n = self.reduction();
        self.sites.map(|sites| sites.div_ceil(n))
    }
}

/// A volume: x fastest, then y, then z.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldVolume {
    /// The grid's sites.
    pub sites: [usize; 3],
    /// Texels along each axis.
    pub size: [usize; 3],
    /// Sites along each axis that one texel covers (the last ones may cover fewer).
    pub reduction: usize,
    /// What it shows.
    pub quantity: Option<Quantity>,
    /// The value of a texel of 1: the largest size of all values. NaN where the field is not finite.
    pub top: f32,
    /// IEEE binary16, sizes at most 1. [`Quantity::Phase`] has two a texel, √⟨|ψ|²⟩ times cosine and sine of the phase; others one.
    pub texels: Vec<u16>,
    /// Memory for the next filling, which may be moved to another volume.
    pub scratch: Scratch,
}

/// Memory that is needed while a volume is filled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scratch {
    /// Values before they are divided by the largest one.
    wide: Vec<f32>,
    plane: FieldImage,
}

/// Values that are turned into half precision by one thread at a time.
const PIECE: usize = 1 << 14;

impl FieldVolume {
    /// Numbers a texel.
    pub fn channels(&self) -> usize {
        if self.quantity == Some(Quantity::Phase) { 2 } else { 1 }
    }

    /// Sites over the sites that the texels would cover if all were whole: how far along each axis the grid reaches.
    #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
    pub fn extent(&self) -> [f32; 3] {
        std::array::from_fn(|axis| self.sites[axis] as f32 / (self.size[axis] * self.reduction).max(1) as f32)
    }

    /// The numbers of the texel that holds a site.
    pub fn at(&self, site: [usize; 3]) -> Option<[f32; 2]> {
        let n = self.reduction.max(1);
        let [i, j, k] = site.map(|site| site / n);
        if i >= self.size[0] || j >= self.size[1] || k >= self.size[2] {
            return None;
        }
        let first = self.channels() * (i + self.size[0] * (j + self.size[1] * k));
        let of = |n: usize| self.texels.get(n).map(|half| self.top * wide(*half));
        Some([of(first)?, of(first + self.channels() - 1)?])
    }

    /// All texels in single precision, relative to `top`.
    pub fn widened(&self) -> Vec<f32> {
        use rayon::prelude::*;
        self.texels
            .par_iter()
            .with_min_len(PIECE)
            .map(|half| wide(*half))
            .collect()
    }

    /// Fills the volume out of pictures of its planes, averaged over the sites of a texel; of the peak the largest is taken. The phase is
    /// that of the sum over a texel's planes.
    ///
    /// # Errors
    /// If a picture fails.
    pub fn fill(
        &mut self,
        request: &VolumeRequest,
        mut image: impl FnMut(&ImageRequest, &mut FieldImage) -> Result<(), SolverError>,
    ) -> Result<(), SolverError> {
        let n = request.reduction();
        self.sites = request.sites;
        self.size = request.size();
        self.reduction = n;
        self.quantity = Some(request.quantity);
        let [width, height, depth] = self.size;
        let channels = self.channels();
        let per_plane = width * height * channels;
        let Scratch { wide, plane } = &mut self.scratch;
        wide.resize(per_plane * depth, 0.0);
        let mut asked = ImageRequest::new(
            request.quantity,
            [0..request.sites[0], 0..request.sites[1]],
            0,
            [width, height],
        );
        for (k, out) in wide.chunks_mut(per_plane).enumerate() {
            let first = k * n;
            let last = (first + n).min(request.sites[2]);
            for z in first..last {
                asked.z = z;
                image(&asked, plane)?;
                add(out, plane, z == first);
            }
            finish(out, request.quantity, last - first);
        }
        self.narrow();
        Ok(())
    }

    /// Finds the largest size and stores everything relative to it.
    fn narrow(&mut self) {
        use rayon::prelude::*;
        let channels = self.channels();
        let wide = &self.scratch.wide;
        let sizes = wide.par_chunks(PIECE).map(|piece| {
            // Of a complex number each part is at most its size; its size is at most √2 of that, so the scale is that of the parts'
            // sum of squares.
            if channels == 2 {
                let squares = piece.chunks_exact(2).map(|z| z[0] * z[0] + z[1] * z[1]);
                largest(squares).sqrt()
            } else {
                largest(piece.iter().map(|value| value.abs()))
            }
        });
        let top = sizes.reduce(
            || 0.0,
            |a, b| if a.is_nan() || b.is_nan() { f32::NAN } else { a.max(b) },
        );
        self.top = if top.is_finite() { top } else { f32::NAN };
        let scale = if top > 0.0 && top.is_finite() { 1.0 / top } else { 0.0 };
        self.texels.resize(wide.len(), 0);
        self.texels
            .par_chunks_mut(PIECE)
            .zip(wide.par_chunks(PIECE))
            .for_each(|(halves, values)| {
                for (half, value) in halves.iter_mut().zip(values) {
                    *half = narrow(value * scale);
                }
            });
    }
}

/// The largest of sizes, NaN if one is not a number.
fn largest(sizes: impl Iterator<Item = f32>) -> f32 {
    sizes.fold(
        0.0,
        |most: f32, size| if most.is_nan() || size <= most { most } else { size },
    )
}

/// Adds a picture to a plane of texels: values, or squares and phasors.
fn add(out: &mut [f32], plane: &FieldImage, first: bool) {
    if first {
        out.fill(0.0);
    }
    match plane.quantity {
        Some(Quantity::Phase) => {
            for ((z, value), phase) in out.chunks_exact_mut(2).zip(&plane.value).zip(&plane.phase) {
                z[0] += value * phase.cos();
                z[1] += value * phase.sin();
            }
        }
        Some(Quantity::Peak) => {
            for (most, value) in out.iter_mut().zip(&plane.value) {
                *most = most.max(*value);
            }
        }
        _ => {
            for (sum, value) in out.iter_mut().zip(&plane.value) {
                *sum += value;
            }
        }
    }
}

/// From sums over `planes` planes to means.
#[expect(clippy::cast_precision_loss, reason = "planes of a texel")]
fn finish(out: &mut [f32], quantity: Quantity, planes: usize) {
    if planes > 1 && quantity != Quantity::Peak {
        for value in out {
            *value /= planes as f32;
        }
    }
}

/// The nearest half-precision number of a size of at most 1, ties to even; 0 for what is not a number.
pub fn narrow(value: f32) -> u16 {
    if value.is_nan() {
        return 0;
    }
    // A power of two that shifts the exponent's bias from 127 to 15; subnormals come out right by themselves.
    let bits = (value.abs().min(1.0) * f32::from_bits(0x0780_0000)).to_bits();
    let rounded = (bits + 0x0fff + ((bits >> 13) & 1)) >> 13;
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    #[expect(clippy::cast_possible_truncation, reason = "at most that of 1.0, 0x3c00")]
    let half = rounded as u16;
    sign | half
}

/// A half-precision number in single precision, exactly.
pub fn wide(half: u16) -> f32 {
    let size = f32::from_bits(u32::from(half & 0x7fff) << 13) * f32::from_bits(0x7780_0000);
    if half & 0x8000 == 0 { size } else { -size }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "small numbers of sites")]
mod tests {
    use super::*;

    #[test]
    fn halves_are_the_nearest() {
        // Every half up to 1 comes back as itself, and the middle between two goes to the even one.
        for half in 0..=0x3c00_u16 {
            let value = wide(half);
            assert_eq!(narrow(value), half);
            assert_eq!(narrow(-value), half | 0x8000);
            if half < 0x3c00 {
                let between = f32::midpoint(value, wide(half + 1));
                assert_eq!(narrow(between), half + (half & 1), "{half:x}");
            }
        }
        assert_eq!(wide(0x3c00).to_bits(), 1f32.to_bits());
        assert_eq!(narrow(f32::NAN), 0);
    }

    #[test]
    fn planes_are_averaged_where_texels_are_coarser() {
        let request = VolumeRequest {
            quantity: Quantity::Pressure,
            sites: [5, 4, 3],
            most: 3,
        };
        assert_eq!((request.reduction(), request.size()), (2, [3, 2, 2]));
        let mut volume = FieldVolume::default();
        // p = −z over every plane: the texels' means are −1/2 of planes 0 and 1, and −2 of plane 2.
        let fill = |request: &ImageRequest, image: &mut FieldImage| {
            assert_eq!(request.reduction(), 2);
            image.fill_real(request, |_, out| out.fill(-(request.z as f32)));
            Ok(())
        };
        volume.fill(&request, fill).unwrap();
        assert!((volume.top - 2.0).abs() < 1e-6);
        assert_eq!(volume.at([4, 3, 1]).map(|[p, _]| p), Some(-0.5));
        assert_eq!(volume.at([0, 0, 2]).map(|[p, _]| p), Some(-2.0));
        assert_eq!(volume.at([6, 0, 0]), None);
        let [x, y, z] = volume.extent();
        assert!((x - 5.0 / 6.0).abs() < 1e-6 && (y - 1.0).abs() < 1e-6 && (z - 0.75).abs() < 1e-6);
        // One site that is not a number is found among finite ones.
        let broken = |request: &ImageRequest, image: &mut FieldImage| {
            image.fill_real(request, |j, out| {
                out.fill(1.0);
                if (j, request.z) == (1, 0) {
                    out[1] = f32::NAN;
                }
            });
            Ok(())
        };
        volume.fill(&request, broken).unwrap();
        assert!(volume.top.is_nan());
    }

    #[test]
    fn a_phase_keeps_its_angle_and_the_size() {
        use num_complex::Complex;
        let request = VolumeRequest {
            quantity: Quantity::Phase,
            sites: [4, 4, 4],
            most: 4,
        };
        let mut volume = FieldVolume::default();
        let psi = |i: usize| Complex::from_polar(0.3, i as f32);
        let fill = |request: &ImageRequest, image: &mut FieldImage| {
            image.fill_quantum(request, |_, out| {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = psi(i);
                }
            });
            Ok(())
        };
        volume.fill(&request, fill).unwrap();
        assert_eq!(volume.texels.len(), 128);
        for i in 0..4 {
            let [re, im] = volume.at([i, 2, 3]).unwrap();
            // Half precision: 2⁻¹² of 0.3 twice, and the rounding of sine and cosine.
            assert!((Complex::new(re, im) - psi(i)).norm() < 3e-4, "{i}");
        }
    }
}

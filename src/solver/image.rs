//! From a field to a picture of at most the view's resolution.
//!
//! A texel covers `reduction` × `reduction` sites; a field larger than the view therefore costs the window no more than
//! one of the view's size.

use super::SolverError;
use crate::physics::Equation;
use crate::scene::scenario::Quantity;
use num_complex::Complex;
use std::ops::Range;

/// The part of a field that becomes a picture, and its largest size.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ImageRequest {
    /// What it shows.
    pub quantity: Quantity,
    /// Sites along x.
    pub x: Range<usize>,
    /// Sites along y (1D: 0..1).
    pub y: Range<usize>,
    /// The plane of a 3D field.
    pub z: usize,
    /// Most texels along x and y.
    pub max_size: [usize; 2],
}

/// A picture: one value a texel, x fastest, row 0 at the smallest y.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldImage {
    /// Texels along x and y.
    pub size: [usize; 2],
    /// First site along x and y.
    pub origin: [usize; 2],
    /// Sites along x and y that one texel covers, per axis (the last column and row may cover fewer).
    pub reduction: usize,
    /// The quantity: a mean over the texel's sites for density, real, imaginary and pressure; √⟨|ψ|²⟩ for phase.
    pub value: Vec<f32>,
    /// arg Σψ of the texel in (−π, π], for [`Quantity::Phase`] only; otherwise empty.
    pub phase: Vec<f32>,
    /// What it shows.
    pub quantity: Option<Quantity>,
}

impl ImageRequest {
    /// A picture of the sites along x and y in plane `z`, of at most `max_size` texels.
    pub fn new(quantity: Quantity, [x, y]: [Range<usize>; 2], z: usize, max_size: [usize; 2]) -> Self {
        Self {
            quantity,
            x,
            y,
            z,
            max_size,
        }
    }

    /// Sites per texel along each axis so that the picture fits `max_size`.
    pub fn reduction(&self) -> usize {
        let along = |sites: usize, most: usize| sites.div_ceil(most.max(1));
        along(self.x.len(), self.max_size[0])
            .max(along(self.y.len(), self.max_size[1]))
            .max(1)
    }

    /// Refuses a quantity that a field of this equation cannot be shown as.
    ///
    /// # Errors
    /// [`SolverError::Unsupported`] with what can be shown.
    pub fn require(&self, equation: Equation) -> Result<(), SolverError> {
        match equation {
            Equation::Schrodinger => self.require_quantum(),
            Equation::Acoustic => match self.quantity {
                Quantity::Pressure | Quantity::Energy | Quantity::Peak => Ok(()),
                quantity if quantity.is_beside_steps() => Ok(()),
                other => Err(SolverError::Unsupported(format!(
                    "view.quantity = \"{}\" is not a quantity of sound; choose pressure, energy, peak, rms, level, velocity or intensity",
                    other.as_str()
                ))),
            },
        }
    }

    /// Refuses a quantity that a quantum field cannot be shown as.
    ///
    /// # Errors
    /// [`SolverError::Unsupported`] with what can be shown.
    pub fn require_quantum(&self) -> Result<(), SolverError> {
        match self.quantity {
            Quantity::Density | Quantity::Phase | Quantity::Real | Quantity::Imaginary => Ok(()),
            _ => Err(SolverError::Unsupported(
                "a quantum field is shown as density, phase, real or imaginary part; set view.quantity to one of them"
                    .to_owned(),
            )),
        }
    }
}

impl FieldImage {
    /// Takes over the layout of a request, keeping allocations.
    pub fn prepare(&mut self, request: &ImageRequest) {
        self.prepare_by(request.reduction(), request);
    }

    /// The same with texels of `n` × `n` sites.
    fn prepare_by(&mut self, n: usize, request: &ImageRequest) {
        self.size = [request.x.len().div_ceil(n), request.y.len().div_ceil(n)];
        self.origin = [request.x.start, request.y.start];
        self.reduction = n;
        self.quantity = Some(request.quantity);
        let texels = self.size[0] * self.size[1];
        self.value.resize(texels, 0.0);
        self.phase
            .resize(if request.quantity == Quantity::Phase { texels } else { 0 }, 0.0);
    }

    /// Becomes equal to another picture, keeping allocations.
    pub fn copy_from(&mut self, other: &Self) {
        self.size = other.size;
        self.origin = other.origin;
        self.reduction = other.reduction;
        self.quantity = other.quantity;
        self.value.clone_from(&other.value);
        self.phase.clone_from(&other.phase);
    }

    /// Fills the picture of a quantum field on the host, in parallel over its rows. `row(j, out)` writes sites `x` of
    /// row j (of the requested plane), closed.
    pub fn fill_quantum(&mut self, request: &ImageRequest, row: impl Fn(usize, &mut [Complex<f32>]) + Sync) {
        self.fill_quantum_by(request.reduction(), request, row);
    }

    /// The same with texels of `n` × `n` sites.
    #[expect(clippy::cast_precision_loss, reason = "counts of sites in a texel")]
    pub(super) fn fill_quantum_by(
        &mut self,
        n: usize,
        request: &ImageRequest,
        row: impl Fn(usize, &mut [Complex<f32>]) + Sync,
    ) {
        use rayon::prelude::*;
        self.prepare_by(n, request);
        let n = self.reduction;
        let width = self.size[0];
        let with_phase = !self.phase.is_empty();
        let mut no_phase = vec![0.0; if with_phase { 0 } else { self.value.len() }];
        let phases = if with_phase { &mut self.phase } else { &mut no_phase };
        self.value
            .par_chunks_mut(width)
            .zip(phases.par_chunks_mut(width))
            .enumerate()
            .for_each_init(
                || {
                    let sites = vec![Complex::<f32>::default(); request.x.len()];
                    (sites, [(); 3].map(|()| vec![0.0f32; width]))
                },
                |(sites, [squares, re, im]), (texel_row, (values, phases))| {
                    for sums in [&mut *squares, re, im] {
                        sums.fill(0.0);
                    }
                    let first = request.y.start + texel_row * n;
                    let last = (first + n).min(request.y.end);
                    for j in first..last {
                        row(j, sites);
                        let sums = squares.iter_mut().zip(re.iter_mut().zip(im.iter_mut()));
                        for ((square, (re, im)), sites) in sums.zip(sites.chunks(n)) {
                            for psi in sites {
                                *square += psi.norm_sqr();
                                *re += psi.re;
                                *im += psi.im;
                            }
                        }
                    }
                    let sums = match request.quantity {
                        Quantity::Real => &re,
                        Quantity::Imaginary => &im,
                        _ => &squares,
                    };
                    for (i, (value, sum)) in values.iter_mut().zip(sums.iter()).enumerate() {
                        let columns = n.min(request.x.len() - i * n);
                        let mean = sum / (columns * (last - first)) as f32;
                        *value = match request.quantity {
                            Quantity::Phase => mean.sqrt(),
                            _ => mean,
                        };
                    }
                    if with_phase {
                        for (phase, (re, im)) in phases.iter_mut().zip(re.iter().zip(im.iter())) {
                            *phase = angle(*re, *im);
                        }
                    }
                },
            );
    }

    /// Fills the picture of a real field on the host, in parallel over its rows. `row(j, out)` writes sites `x` of row j (of the requested
    /// plane): pressure and energy are averaged over a texel, of the peak the largest is taken.
    pub fn fill_real(&mut self, request: &ImageRequest, row: impl Fn(usize, &mut [f32]) + Sync) {
        self.fill_real_by(request.reduction(), request, row);
    }

    /// The same with texels of `n` × `n` sites.
    #[expect(clippy::cast_precision_loss, reason = "counts of sites in a texel")]
    pub(super) fn fill_real_by(&mut self, n: usize, request: &ImageRequest, row: impl Fn(usize, &mut [f32]) + Sync) {
        use rayon::prelude::*;
        self.prepare_by(n, request);
        let n = self.reduction;
        let width = self.size[0];
        let largest = request.quantity == Quantity::Peak;
        self.value.par_chunks_mut(width).enumerate().for_each_init(
            || vec![0.0f32; request.x.len()],
            |sites, (texel_row, values)| {
                values.fill(0.0);
                let first = request.y.start + texel_row * n;
                let last = (first + n).min(request.y.end);
                for j in first..last {
                    row(j, sites);
                    for (value, sites) in values.iter_mut().zip(sites.chunks(n)) {
                        for site in sites {
                            *value = if largest { value.max(*site) } else { *value + site };
                        }
                    }
                }
                if !largest {
                    for (i, value) in values.iter_mut().enumerate() {
                        let columns = n.min(request.x.len() - i * n);
                        *value /= (columns * (last - first)) as f32;
                    }
                }
            },
        );
    }
}

/// The angle of a complex number, −π…π, to 5·10⁻⁷ without a branch, so that a row of them becomes vectors; 0 of 0.
///
/// Source: Abramowitz & Stegun (1964), eq. 4.4.49.
pub fn angle(re: f32, im: f32) -> f32 {
    use std::f32::consts::{FRAC_PI_2, PI};
    const TERMS: [f32; 8] = [
        -0.016_165_737,
        0.042_909_614,
        -0.075_289_64,
        0.106_562_64,
        -0.142_089,
        0.199_935_51,
        -0.333_331_45,
        1.0,
    ];
    let (x, y) = (re.abs(), im.abs());
    let (less, more) = if x < y { (x, y) } else { (y, x) };
    let tangent = if more > 0.0 { less / more } else { 0.0 };
    let square = tangent * tangent;
    let polynomial = TERMS.iter().fold(0.002_866_225_7, |sum, term| sum * square + term);
    let within = tangent * polynomial;
    let steep = if x < y { FRAC_PI_2 - within } else { within };
    let whole = if re < 0.0 { PI - steep } else { steep };
    whole.copysign(im)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "parts in single precision are what is asked for"
    )]
    fn angles_are_those_of_the_library() {
        for n in 0..100_000u32 {
            let exact = (f64::from(n) / 50_000.0 - 1.0) * std::f64::consts::PI;
            for size in [1e-20, 1.0, 3e15] {
                let [re, im] = [exact.cos() * size, exact.sin() * size].map(|part| part as f32);
                let (found, known) = (angle(re, im), im.atan2(re));
                // 2·10⁻⁸ of the polynomial, and a few roundings of at most π.
                assert!((found - known).abs() < 5e-7, "{re} {im}: {found} {known}");
            }
        }
        assert_eq!(
            [angle(0.0, 0.0), angle(2.0, 0.0), angle(-2.0, 0.0)],
            [0.0, 0.0, std::f32::consts::PI]
        );
        assert_eq!(
            [angle(0.0, 1.0), angle(0.0, -1.0)],
            [1.0, -1.0].map(|sign| sign * std::f32::consts::FRAC_PI_2)
        );
    }
}

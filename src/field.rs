//! Host arrays of a wave, and the two floating-point types a method can run in.

pub mod angles;
pub mod exponential;

use crate::words::worded;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::ops::Range;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

worded! {
    /// The floating-point type of a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    pub enum Precision {
        /// IEEE binary32.
        Single = "single",
        /// IEEE binary64.
        Double = "double",
    }
}

impl Precision {
    /// The largest number that a scene may give, and the inverse of the smallest: far enough from the largest of the precision for what is made of them.
    #[must_use]
    pub fn most(self) -> f64 {
        match self {
            Self::Single => 1e30,
            Self::Double => 1e150,
        }
    }

    /// Bytes of one real number.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Single => 4,
            Self::Double => 8,
        }
    }
}

/// `f32` or `f64`, and nothing else.
pub trait Real:
    sealed::Sealed
    + num_traits::Float
    + num_traits::FloatConst
    + num_traits::NumAssign
    + rustfft::FftNum
    + bytemuck::Pod
    + Default
    + std::fmt::Display
    + std::iter::Sum
{
    /// Which of the two it is.
    const PRECISION: Precision;

    /// The nearest value.
    #[must_use]
    fn of(value: f64) -> Self;

    /// As a double, exactly.
    #[must_use]
    fn wide(self) -> f64;

    /// A complex field of this type as [`FieldData`].
    fn complex_data(values: Vec<Complex<Self>>) -> FieldData;

    /// A real field of this type as [`FieldData`].
    fn real_data(values: Vec<Self>) -> FieldData;
}

impl Real for f32 {
    const PRECISION: Precision = Precision::Single;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to the nearest single is the purpose"
    )]
    fn of(value: f64) -> Self {
        value as Self
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
    fn complex_data(values: Vec<Complex<Self>>) -> FieldData {
        FieldData::Complex64(values)
    }
    fn real_data(values: Vec<Self>) -> FieldData {
        FieldData::Float32(values)
    }
}

impl Real for f64 {
    const PRECISION: Precision = Precision::Double;
    fn of(value: f64) -> Self {
        value
    }
    fn wide(self) -> f64 {
        self
    }
    fn complex_data(values: Vec<Complex<Self>>) -> FieldData {
        FieldData::Complex128(values)
    }
    fn real_data(values: Vec<Self>) -> FieldData {
        FieldData::Float64(values)
    }
}

/// A complex number in double precision, exactly.
pub fn wide<T: Real>(value: Complex<T>) -> Complex64 {
    Complex64::new(value.re.wide(), value.im.wide())
}

/// `len` times the same value. All threads write: in a large array the first touch of its pages takes longest.
#[must_use]
pub fn filled<V: Clone + Send>(len: usize, value: V) -> Vec<V> {
    let mut all = Vec::new();
    all.par_extend(rayon::iter::repeat_n(value, len));
    all
}

/// The nearest complex number of a precision.
pub fn narrow<T: Real>(value: Complex64) -> Complex<T> {
    Complex::new(T::of(value.re), T::of(value.im))
}

/// A whole field on the host, x fastest, then y, then z. The variants are named after NPY's types.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldData {
    /// ψ in single precision.
    Complex64(Vec<Complex<f32>>),
    /// ψ in double precision.
    Complex128(Vec<Complex<f64>>),
    /// A real field in single precision.
    Float32(Vec<f32>),
    /// A real field in double precision.
    Float64(Vec<f64>),
}

impl FieldData {
    /// Number of sites.
    pub fn len(&self) -> usize {
        match self {
            Self::Complex64(v) => v.len(),
            Self::Complex128(v) => v.len(),
            Self::Float32(v) => v.len(),
            Self::Float64(v) => v.len(),
        }
    }

    /// Some of its values.
    #[must_use]
    pub fn part(&self, values: Range<usize>) -> Self {
        match self {
            Self::Complex64(v) => Self::Complex64(v[values].to_vec()),
            Self::Complex128(v) => Self::Complex128(v[values].to_vec()),
            Self::Float32(v) => Self::Float32(v[values].to_vec()),
            Self::Float64(v) => Self::Float64(v[values].to_vec()),
        }
    }

    /// Appends what [`FieldData::bytes`] gave of an array of the same kind.
    pub fn append(&mut self, bytes: &[u8]) {
        match self {
            Self::Complex64(v) => v.extend(bytemuck::pod_collect_to_vec::<u8, Complex<f32>>(bytes)),
            Self::Complex128(v) => v.extend(bytemuck::pod_collect_to_vec::<u8, Complex<f64>>(bytes)),
            Self::Float32(v) => v.extend(bytemuck::pod_collect_to_vec::<u8, f32>(bytes)),
            Self::Float64(v) => v.extend(bytemuck::pod_collect_to_vec::<u8, f64>(bytes)),
        }
    }

    /// Its values as they lie in memory.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Complex64(v) => bytemuck::cast_slice(v),
            Self::Complex128(v) => bytemuck::cast_slice(v),
            Self::Float32(v) => bytemuck::cast_slice(v),
            Self::Float64(v) => bytemuck::cast_slice(v),
        }
    }

    /// Whether it holds no site.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at a flat index as a complex double.
    pub fn at(&self, index: usize) -> Complex<f64> {
        match self {
            Self::Complex64(v) => Complex::new(f64::from(v[index].re), f64::from(v[index].im)),
            Self::Complex128(v) => v[index],
            Self::Float32(v) => Complex::new(f64::from(v[index]), 0.0),
            Self::Float64(v) => Complex::new(v[index], 0.0),
        }
    }

    /// Every value as a complex double.
    pub fn to_complex128(&self) -> Vec<Complex<f64>> {
        (0..self.len()).map(|i| self.at(i)).collect()
    }
}

//! Sines and cosines of many angles, without branches or calls, so that loops over them become vector code.
//!
//! The quadrant n = round(2x/π), the rest x − nπ/2 with π/2 in three parts of 33 bits (W. J. Cody, W. Waite, Software Manual for the Elementary Functions, 1980), and on ±π/4 minimax
//! polynomials of degree 13 and 14 (S. L. Moshier, Cephes, 1989), or for single precision Taylor's of degree 9 and 10. All in double precision: off by at most 1 in 2⁵² there, and by half
//! a unit of the last place and 2·10⁻⁹ in single, for angles below [`LARGEST`].

use crate::field::{Precision, Real};
use std::f64::consts::TAU;

/// Angles from here on would lose digits: [`reduce`] brings them below.
pub const LARGEST: f64 = 1e6;

/// Takes whole turns off the angles that are too large for [`cos_and_sin`]; what stands beside an angle does not change its rounding.
#[inline(always)]
pub fn reduce<T: Real>(angles: &mut [T]) {
    let large = |angle: &T| angle.abs() >= T::of(LARGEST);
    if angles.iter().fold(false, |any, angle| any | large(angle)) {
        for angle in angles.iter_mut().filter(|angle| large(angle)) {
            *angle = T::of(angle.wide() % TAU);
        }
    }
}

/// (cos, sin) of an angle below [`LARGEST`].
#[inline(always)]
pub fn cos_and_sin<T: Real>(angle: T) -> (T, T) {
    let x = angle.wide();
    // Adding 1.5·2⁵² rounds to a whole number, whose last bits are then the sum's.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    const HALF_PI: [f64; 3] = [
        1.570_796_326_734_125_6,
        6.077_100_506_303_966e-11,
        2.022_266_248_795_950_7e-21,
    ];
    let shifted = x * std::f64::consts::FRAC_2_PI + WHOLE;
    let quadrant = shifted.to_bits();
    let n = shifted - WHOLE;
    let r = ((x - n * HALF_PI[0]) - n * HALF_PI[1]) - n * HALF_PI[2];
    let (sine, cosine) = match T::PRECISION {
        Precision::Single => short(r),
        Precision::Double => long(r),
    };
    // Odd quadrants change sine and cosine over; the second and third turn the sine's sign, the first and second the cosine's.
    let odd = (quadrant & 1).wrapping_neg();
    let (sine, cosine) = (sine.to_bits(), cosine.to_bits());
    let swapped = (sine ^ cosine) & odd;
    let sine = (sine ^ swapped) ^ ((quadrant & 2) << 62);
    let cosine = (cosine ^ swapped) ^ ((quadrant.wrapping_add(1) & 2) << 62);
    (T::of(f64::from_bits(cosine)), T::of(f64::from_bits(sine)))
}

/// (sin, cos) on ±π/4 to single precision.
#[inline(always)]
fn short(r: f64) -> (f64, f64) {
    let z = r * r;
    let s = 1.0 / 362_880.0 * z - 1.0 / 5040.0;
    let s = s * z + 1.0 / 120.0;
    let s = s * z - 1.0 / 6.0;
    let c = -1.0 / 3_628_800.0 * z + 1.0 / 40_320.0;
    let c = c * z - 1.0 / 720.0;
    let c = c * z + 1.0 / 24.0;
    (r + r * z * s, 1.0 - 0.5 * z + z * z * c)
}

/// (sin, cos) on ±π/4 to double precision.
#[inline(always)]
fn long(r: f64) -> (f64, f64) {
    let z = r * r;
    let s = 1.589_623_015_765_465_7e-10 * z - 2.505_074_776_285_780_7e-8;
    let s = s * z + 2.755_731_362_138_572_5e-6;
    let s = s * z - 1.984_126_982_958_954e-4;
    let s = s * z + 8.333_333_333_322_118e-3;
    let s = s * z - 0.166_666_666_666_666_3;
    let c = -1.135_853_652_138_768_2e-11 * z + 2.087_570_084_197_473e-9;
    let c = c * z - 2.755_731_417_929_674e-7;
    let c = c * z + 2.480_158_728_885_170_5e-5;
    let c = c * z - 1.388_888_888_887_305_6e-3;
    let c = c * z + 4.166_666_666_666_659e-2;
    (r + r * z * s, 1.0 - 0.5 * z + z * z * c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_library_says() {
        for scale in [1e-9, 0.1, 1.0, 30.0, 9e5, 3e9] {
            let angles: Vec<f64> = (-32..=32).map(|n| scale * f64::from(n) / 31.7).collect();
            let mut reduced = angles.clone();
            reduce(&mut reduced);
            for (angle, reduced) in angles.iter().zip(reduced) {
                let (cos, sin) = cos_and_sin(reduced);
                // 2⁻⁵², and what the remainder by a rounded 2π costs angles beyond 10⁶: |x| ε/2π.
                let allowed = 2.5e-16 + if scale > 1e6 { scale * 5e-17 } else { 0.0 };
                assert!((cos - angle.cos()).abs() <= allowed, "cos {angle}");
                assert!((sin - angle.sin()).abs() <= allowed, "sin {angle}");
            }
        }
    }

    #[test]
    fn single_precision_rounds_what_double_says() {
        for n in -30_000..30_000i16 {
            let angle = f32::from(n) * 0.004_57;
            let (cos, sin) = cos_and_sin(angle);
            for (ours, exact) in [(cos, f64::from(angle).cos()), (sin, f64::from(angle).sin())] {
                // Half a unit of the last place of numbers up to 1, and what the series leave.
                assert!((f64::from(ours) - exact).abs() <= 3.2e-8, "{angle}: {ours}, {exact}");
            }
        }
    }

    #[test]
    fn what_is_no_angle_turns_to_no_number() {
        let mut angles = [f32::INFINITY, f32::NAN, 1.0];
        reduce(&mut angles);
        assert!(angles[..2].iter().all(|angle| cos_and_sin(*angle).0.is_nan()));
        assert_eq!(angles[2], 1.0);
    }
}

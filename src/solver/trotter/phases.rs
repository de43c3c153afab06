//! Phases of sites that a drive touches, anew in every step.
//!
//! Sine and cosine of whole rows without branches or calls, so that they become vector code: the quadrant n = round(2x/π), the rest x − nπ/2 with π/2 in three
//! parts of 33 bits (W. J. Cody, W. Waite, Software Manual for the Elementary Functions, 1980), minimax polynomials of degree 13 and 14 on ±π/4
//! (S. L. Moshier, Cephes, 1989). Off by at most 1 in 2⁵² for |x| < 10⁶; larger angles are reduced by the library before.

/// Sites that are turned at once, on the stack.
pub(super) const CHUNK: usize = 64;
/// Angles beyond this would lose digits in the reduction.
const LARGEST: f64 = 1e6;

/// (cos, sin) of every angle.
#[inline]
pub(super) fn cos_and_sin(angles: &[f64; CHUNK], cos: &mut [f64; CHUNK], sin: &mut [f64; CHUNK]) {
    let mut angles = *angles;
    if angles.iter().any(|angle| angle.abs() >= LARGEST) {
        for angle in &mut angles {
            *angle %= std::f64::consts::TAU;
        }
    }
    for n in 0..CHUNK {
        (cos[n], sin[n]) = cis(angles[n]);
    }
}

#[inline(always)]
fn cis(x: f64) -> (f64, f64) {
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
    let z = r * r;
    let s = 1.589_623_015_765_465_7e-10 * z - 2.505_074_776_285_780_7e-8;
    let s = s * z + 2.755_731_362_138_572_5e-6;
    let s = s * z - 1.984_126_982_958_954e-4;
    let s = s * z + 8.333_333_333_322_118e-3;
    let s = s * z - 0.166_666_666_666_666_3;
    let sine = r + r * z * s;
    let c = -1.135_853_652_138_768_2e-11 * z + 2.087_570_084_197_473e-9;
    let c = c * z - 2.755_731_417_929_674e-7;
    let c = c * z + 2.480_158_728_885_170_5e-5;
    let c = c * z - 1.388_888_888_887_305_6e-3;
    let c = c * z + 4.166_666_666_666_659e-2;
    let cosine = 1.0 - 0.5 * z + z * z * c;
    // Odd quadrants change sine and cosine over; the second and third turn the sine's sign, the first and second the cosine's.
    let odd = (quadrant & 1).wrapping_neg();
    let (sine, cosine) = (sine.to_bits(), cosine.to_bits());
    let swapped = (sine ^ cosine) & odd;
    let sine = (sine ^ swapped) ^ ((quadrant & 2) << 62);
    let cosine = (cosine ^ swapped) ^ ((quadrant.wrapping_add(1) & 2) << 62);
    (f64::from_bits(cosine), f64::from_bits(sine))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_library_says() {
        let mut angles = [0.0; CHUNK];
        let (mut cos, mut sin) = ([0.0; CHUNK], [0.0; CHUNK]);
        for scale in [1e-9, 0.1, 1.0, 30.0, 9e5, 3e9] {
            for (n, angle) in (-32..32).zip(&mut angles) {
                *angle = scale * f64::from(n) / 31.7;
            }
            cos_and_sin(&angles, &mut cos, &mut sin);
            for n in 0..CHUNK {
                // 2⁻⁵², and what the remainder by a rounded 2π costs angles beyond 10⁶: |x| ε/2π.
                let allowed = 2.5e-16 + if scale > 1e6 { scale * 5e-17 } else { 0.0 };
                assert!((cos[n] - angles[n].cos()).abs() <= allowed, "cos {}", angles[n]);
                assert!((sin[n] - angles[n].sin()).abs() <= allowed, "sin {}", angles[n]);
            }
        }
    }
}

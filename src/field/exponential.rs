//! Exponentials of many numbers, without branches or calls, so that loops over them become vector code.

use std::f64::consts::LOG2_E;

/// Beyond ± this the exponential of a double, or its inverse, is no normal number.
const LARGEST: f64 = 708.0;

/// eˣ: 2ⁿ eʳ with |r| ≤ ln 2/2, by Taylor's series to r¹³ (1e-17 is left out); off by 3 in 2⁵³ for |x| ≤ 708, 0 below that and e⁷⁰⁸ above.
#[inline(always)]
pub fn exponential(x: f64) -> f64 {
    // Adding 1.5·2⁵² rounds to a whole number, whose last bits are then the sum's. ln 2 in two parts, the first of 33 bits.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    const SERIES: [f64; 12] = [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
    ];
    let least = if x < -LARGEST { 0.0 } else { 1.0 };
    let x = if x < -LARGEST { -LARGEST } else { x };
    let x = if x > LARGEST { LARGEST } else { x };
    let shifted = x * LOG2_E + WHOLE;
    let n = shifted - WHOLE;
    let r = (x - n * LN_2[0]) - n * LN_2[1];
    let series = (SERIES.iter()).fold(1.0 / 6_227_020_800.0, |sum, term| sum * r + term);
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    (1.0 + r * series) * power * least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_library_says() {
        for scale in [0.005, 0.177] {
            for n in -4000..=4000 {
                let x = f64::from(n) * scale;
                let (found, exact) = (exponential(x), x.exp());
                assert!((found / exact - 1.0).abs() <= 4.5e-16, "{x}: {found} {exact}");
            }
        }
        assert_eq!(exponential(0.0), 1.0);
        assert!(exponential(f64::NAN).is_nan());
    }

    #[test]
    fn what_no_number_holds_is_the_nearest() {
        for x in [-708.5, -1e9, f64::NEG_INFINITY] {
            assert_eq!(exponential(x), 0.0, "{x}");
        }
        for x in [709.0, 1e300, f64::INFINITY] {
            assert_eq!(exponential(x), exponential(LARGEST), "{x}");
        }
    }
}

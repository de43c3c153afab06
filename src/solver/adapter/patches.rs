//! Sums over a whole field from those of its patches, 64 x 64 sites of a plane each, which kernels take in single precision.
//!
//! Of a patch a block of 256 threads adds up 16 sites a thread and then half of the threads what the other half has: a term passes through 24 additions at most, which are off by half
//! of ε = 1.2e-7 each. So a sum is off by less than 1.5e-6 of the sum of its terms' moduli; with random signs by about 3e-7, and that of many patches by less. Patches are added in double
//! precision. Moments are taken from a patch's first site on, so that those about the field's middle do not cancel.

use super::summed::PATCH;

/// The patches of a grid, x fastest.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct Patches {
    pub across: usize,
    pub down: usize,
    pub count: usize,
}

/// Σ|ψ|² or Σp², its moments in site numbers, and the largest |ψ|² or |p|.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::solver) struct Moments {
    pub square: f64,
    pub first: [f64; 3],
    pub second: [f64; 3],
    pub peak: f64,
}

impl Patches {
    /// Those of a grid.
    pub(in crate::solver) fn of([nx, ny, nz]: [usize; 3]) -> Self {
        let [across, down] = [nx, ny].map(|n| n.div_ceil(PATCH));
        Self {
            across,
            down,
            count: across * down * nz,
        }
    }

    /// From `each` numbers a patch, of which the first are Σ, Σx, Σx², Σy, Σy² from its first site on, and the largest.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub(in crate::solver) fn moments(&self, numbers: &[f32], each: usize) -> Moments {
        let mut all = Moments::default();
        for (patch, numbers) in numbers.chunks_exact(each).enumerate() {
            let [square, x, xx, y, yy, peak] = std::array::from_fn(|n| f64::from(numbers[n]));
            let [column, row] = [patch % self.across, patch / self.across % self.down].map(|n| (n * PATCH) as f64);
            let plane = (patch / (self.across * self.down)) as f64;
            all.square += square;
            // As the processor has it: NaN is not the largest.
            all.peak = all.peak.max(peak);
            let axes = [(column, x, xx), (row, y, yy), (plane, 0.0, 0.0)];
            for (axis, (from, once, twice)) in axes.into_iter().enumerate() {
                all.first[axis] += from * square + once;
                all.second[axis] += from * from * square + 2.0 * from * once + twice;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_sites() {
        let patches = Patches::of([70, 3, 2]);
        assert_eq!((patches.across, patches.down, patches.count), (2, 1, 4));
        // One site of value 2 in the second patch of plane 1: column 64 + 5, row 1.
        let mut numbers = [0.0f32; 24];
        numbers[18..].copy_from_slice(&[2.0, 10.0, 50.0, 2.0, 2.0, 2.0]);
        let found = patches.moments(&numbers, 6);
        let expected = Moments {
            square: 2.0,
            first: [138.0, 2.0, 2.0],
            second: [9522.0, 2.0, 2.0],
            peak: 2.0,
        };
        assert_eq!(found, expected);
    }
}

//! Limits of this machine: memory bandwidth and arithmetic, measured with all threads of the pool that the methods use.
//!
//! Every figure is the best of several runs, since other programs can only lower it.

use super::simd::{Kernel, Lanes, Level, Vectors};
use super::threads;
use crate::field::Precision;
use crate::platform::Instant;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Duration;

/// The ceilings of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceilings {
    /// Bytes per second read and written in place, as by a method that passes once over its field.
    pub in_place: f64,
    /// Bytes per second of a ← b + s·c, 24 bytes an element of 8 bytes; stores go past the caches where the processor has
    /// such an instruction.
    pub triad: f64,
    /// Multiply-adds per second and lane in single precision: a vector of 16 numbers counts 16.
    pub fma_single: f64,
    /// The same in double precision.
    pub fma_double: f64,
    /// The instruction set of the multiply-adds.
    pub instructions: &'static str,
    /// Threads at work.
    pub threads: usize,
    /// Bytes of the arrays of the bandwidth runs.
    pub array: usize,
}

impl Ceilings {
    /// Multiply-adds per second and lane in a precision.
    pub fn fma(&self, precision: Precision) -> f64 {
        match precision {
            Precision::Single => self.fma_single,
            Precision::Double => self.fma_double,
        }
    }

    /// Measures for about `seconds` in all, on arrays of `array` bytes, which should be several times the last-level cache.
    #[must_use]
    pub fn measure(seconds: f64, array: usize) -> Self {
        let part = Duration::from_secs_f64(seconds / 4.0);
        let (in_place, triad) = bandwidth(part, array);
        let (fma_single, fma_double) = (fma_rate(part, Precision::Single), fma_rate(part, Precision::Double));
        Self {
            in_place,
            triad,
            fma_single,
            fma_double,
            instructions: instruction_set(),
            threads: threads::count(),
            array,
        }
    }
}

/// The best rate of `work` (units per call) within a time; at least three calls after one to warm up.
#[expect(clippy::cast_precision_loss, reason = "bytes and operations of one call")]
fn best_rate(limit: Duration, units: usize, mut work: impl FnMut()) -> f64 {
    work();
    let begin = Instant::now();
    let mut best: f64 = 0.0;
    let mut calls = 0;
    while calls < 3 || begin.elapsed() < limit {
        let start = Instant::now();
        work();
        best = best.max(units as f64 / start.elapsed().as_secs_f64().max(1e-9));
        calls += 1;
    }
    best
}

fn bandwidth(limit: Duration, array: usize) -> (f64, f64) {
    // A piece of whole pages for each thread, several per thread where they run unevenly.
    let length = (array / 8 / 3).next_multiple_of(1 << 16);
    let piece = (length / (4 * threads::count())).next_multiple_of(512);
    let mut a = vec![1.0f64; length];
    let b = vec![2.0f64; length];
    let c = vec![0.5f64; length];
    let in_place = best_rate(limit, 2 * 8 * length, || {
        threads::run(|| {
            a.par_chunks_mut(piece).for_each(|part| {
                for value in part {
                    *value = 2.0 - *value;
                }
            });
        });
        black_box(&mut a);
    });
    let triad = best_rate(limit, 3 * 8 * length, || {
        threads::run(|| {
            a.par_chunks_mut(piece)
                .zip(b.par_chunks(piece).zip(c.par_chunks(piece)))
                .for_each(|(a, (b, c))| add_scaled(a, b, c));
        });
        black_box(&mut a);
    });
    (in_place, triad)
}

/// a ← b + 3c.
fn add_scaled(a: &mut [f64], b: &[f64], c: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") {
        #[expect(unsafe_code, reason = "a function compiled for AVX, and its streaming stores")]
        // SAFETY: the processor has AVX.
        unsafe {
            x86::add_scaled_past_caches(a, b, c);
        }
        return;
    }
    for (a, (b, c)) in a.iter_mut().zip(b.iter().zip(c)) {
        *a = b + 3.0 * c;
    }
}

/// Vectors in flight in the loop of multiply-adds: at least the latency (4 to 6 cycles) times two a cycle, and with the two constants
/// within 16 registers.
const CHAINS: usize = 12;
/// Rounds of the loop in one call: a few milliseconds.
const ROUNDS: usize = 1 << 20;

/// Multiply-adds per second and lane, all threads together.
fn fma_rate(limit: Duration, precision: Precision) -> f64 {
    let lanes = match precision {
        Precision::Single => level().lanes::<f32>(),
        Precision::Double => level().lanes::<f64>(),
    };
    best_rate(limit, CHAINS * ROUNDS * lanes * threads::count(), || {
        threads::run(|| {
            rayon::broadcast(|_| black_box(multiply_add(precision)));
        });
    })
}

/// What [`multiply_add`] runs on: the widest vectors of the machine.
fn level() -> Level {
    Level::available().first().copied().unwrap_or(Level::Portable)
}

/// Its name.
fn instruction_set() -> &'static str {
    match level() {
        Level::Avx2 => "AVX2 + FMA",
        Level::Portable => "portable (multiply, then add)",
        level => level.title(),
    }
}

/// `CHAINS · ROUNDS` multiply-adds of whole vectors; the sum keeps the compiler from removing them.
fn multiply_add(precision: Precision) -> f64 {
    let mut sum = 0.0;
    match precision {
        Precision::Single => level().run::<f32>(MultiplyAdds(&mut sum)),
        Precision::Double => level().run::<f64>(MultiplyAdds(&mut sum)),
    }
    sum
}

/// The loop of multiply-adds, and where their sum goes. Values stay near 1: x ← 0.999999 x + 1e-6, so that nothing overflows or falls into subnormals.
struct MultiplyAdds<'a>(&'a mut f64);

#[expect(unsafe_code, reason = "vector instructions")]
impl<T: Vectors> Kernel<T> for MultiplyAdds<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let mut numbers = vec![T::zero(); L::N];
        // SAFETY: the machine has the instructions of `L`, and `numbers` has room for a vector.
        unsafe {
            let factor = L::splat(black_box(T::of(0.999_999)));
            let term = L::splat(black_box(T::of(1e-6)));
            let mut chains = [L::splat(T::one()); CHAINS];
            for _ in 0..ROUNDS {
                for chain in &mut chains {
                    *chain = chain.mul_add(factor, term);
                }
            }
            for chain in chains {
                chain.store(numbers.as_mut_ptr());
                *self.0 += numbers.iter().map(|number| number.wide()).sum::<f64>();
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256d, _mm_sfence, _mm256_add_pd, _mm256_loadu_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_stream_pd,
    };

    /// a ← b + 3c with stores that do not read a's lines into the caches first.
    #[target_feature(enable = "avx")]
    #[expect(unsafe_code, reason = "loads and streaming stores through pointers")]
    pub fn add_scaled_past_caches(a: &mut [f64], b: &[f64], c: &[f64]) {
        debug_assert!(a.len() <= b.len() && a.len() <= c.len(), "{} values", a.len());
        let three = _mm256_set1_pd(3.0);
        // SAFETY: a vector is four plain numbers, and every pattern of bits is a number.
        let (head, middle, tail) = unsafe { a.align_to_mut::<__m256d>() };
        let first = head.len();
        let last = first + 4 * middle.len();
        for (n, value) in head.iter_mut().enumerate() {
            *value = b[n] + 3.0 * c[n];
        }
        for (n, value) in tail.iter_mut().enumerate() {
            *value = b[last + n] + 3.0 * c[last + n];
        }
        let sources = b[first..last].chunks_exact(4).zip(c[first..last].chunks_exact(4));
        for (out, (b, c)) in middle.iter_mut().zip(sources) {
            debug_assert!(b.len() == 4 && c.len() == 4 && std::ptr::from_ref(out).is_aligned());
            // SAFETY: both chunks hold four numbers (unaligned loads); `out` is one vector on its own boundary.
            unsafe {
                let (b, c) = (_mm256_loadu_pd(b.as_ptr()), _mm256_loadu_pd(c.as_ptr()));
                _mm256_stream_pd(
                    std::ptr::from_mut(out).cast(),
                    _mm256_add_pd(b, _mm256_mul_pd(three, c)),
                );
            }
        }
        // Orders the streaming stores before whatever reads them.
        _mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triad_is_right_at_any_start() {
        let b: Vec<f64> = (0..1001).map(f64::from).collect();
        let c: Vec<f64> = (0..1001).map(|n| f64::from(n % 7)).collect();
        for start in 0..5 {
            let mut a = vec![0.0; 1001];
            add_scaled(&mut a[start..], &b[start..], &c[start..]);
            for n in start..1001 {
                assert_eq!(a[n].to_bits(), (b[n] + 3.0 * c[n]).to_bits(), "{start} {n}");
            }
        }
    }

    #[test]
    fn multiply_adds_are_done() {
        // x ← 0.999999 x + 1e-6 keeps 1 within the rounding of its rounds; if the loop were removed or overflowed, the result would not be 1.
        for precision in [Precision::Single, Precision::Double] {
            let sum = multiply_add(precision);
            assert!(sum.is_finite() && sum > 1.0, "{sum}");
        }
    }
}

//! Every level compared with plain arrays.

#![allow(unsafe_code, reason = "the trait's functions are unsafe")]

use super::*;

fn agrees<L: Lanes>() {
    let n = L::N;
    let number = |i: usize| L::Element::of(f64::from(u32::try_from(i).unwrap()) + 0.5);
    let a: Vec<L::Element> = (0..n).map(number).collect();
    let b: Vec<L::Element> = (n..2 * n).map(number).collect();
    let both: Vec<L::Element> = a.iter().chain(&b).copied().collect();
    let bits: Vec<u8> = (0..n).map(|i| u8::try_from(i % 4).unwrap()).collect();
    let out = |x: L| {
        let mut values = vec![L::Element::default(); n];
        // SAFETY: N elements; callers check the level.
        unsafe { x.store(values.as_mut_ptr()) };
        values
    };
    // SAFETY: N elements each; callers check the level.
    unsafe {
        let (x, y) = (L::load(a.as_ptr()), L::load(b.as_ptr()));
        assert_eq!(out(x.next(y)), both[1..=n]);
        assert_eq!(out(y.previous(x)), both[n - 1..2 * n - 1]);
        for by in 0..=n {
            assert_eq!(out(x.shifted(y, by)), both[by..by + n]);
        }
        for count in 0..=n {
            let (some, none) = (&a[..count], vec![L::Element::default(); n - count]);
            assert_eq!(out(L::load_some(some.to_vec().as_ptr(), count)), [some, &none].concat());
            let mut written = b.clone();
            x.store_some(written.as_mut_ptr(), count);
            assert_eq!(written, [some, &b[count..]].concat());
        }
        let (even, odd) = L::split(x, y);
        assert_eq!(out(even), both.iter().step_by(2).copied().collect::<Vec<_>>());
        assert_eq!(out(odd), both.iter().skip(1).step_by(2).copied().collect::<Vec<_>>());
        let (p, q) = L::join(even, odd);
        assert_eq!((out(p), out(q)), (a.clone(), b.clone()));
        let two = L::splat(number(2));
        assert_eq!(out(x.mul(two)), a.iter().map(|v| *v * number(2)).collect::<Vec<_>>());
        let pairs = || a.iter().zip(&b);
        assert_eq!(out(x.add(y)), pairs().map(|(v, w)| *v + *w).collect::<Vec<_>>());
        assert_eq!(out(x.sub(y)), pairs().map(|(v, w)| *v - *w).collect::<Vec<_>>());
        assert_eq!(out(x.div(y)), pairs().map(|(v, w)| *v / *w).collect::<Vec<_>>());
        assert_eq!(
            out(x.mul_add(two, y)),
            a.iter().zip(&b).map(|(v, w)| *v * number(2) + *w).collect::<Vec<_>>()
        );
        assert_eq!(
            out(x.neg_mul_add(two, y)),
            a.iter().zip(&b).map(|(v, w)| *w - *v * number(2)).collect::<Vec<_>>()
        );
        let expected: Vec<f64> = (bits.iter())
            .map(|bits| match bits {
                0 | 2 => 0.0,
                1 => 2.5,
                _ => 1.0,
            })
            .collect();
        let seen: Vec<f64> = out(L::multiplier(bits.as_ptr(), 1, 2, two))
            .iter()
            .map(|v| v.wide())
            .collect();
        assert_eq!(seen, expected);
        for bit in [1, 2] {
            let chosen = out(L::choose(bits.as_ptr(), bit, x, y));
            let from = |i: usize| if bits[i] & bit == 0 { b[i] } else { a[i] };
            assert_eq!(chosen, (0..n).map(from).collect::<Vec<_>>());
        }
    }
}

#[test]
fn every_level_agrees_with_arrays() {
    agrees::<Array<f32, 8>>();
    agrees::<Array<f64, 4>>();
    #[cfg(target_arch = "x86_64")]
    {
        agrees::<Sse2F32>();
        agrees::<Sse2F64>();
    }
    for level in Level::available() {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                agrees::<Avx512F32>();
                agrees::<Avx512F64>();
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                agrees::<Avx2F32>();
                agrees::<Avx2F64>();
            }
            #[cfg(target_arch = "aarch64")]
            Level::Neon => {
                agrees::<NeonF32>();
                agrees::<NeonF64>();
            }
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128 => {
                agrees::<WasmF32>();
                agrees::<WasmF64>();
            }
            _ => {}
        }
    }
}

#[test]
fn a_level_runs_kernels_with_its_own_vectors() {
    struct Width<'a>(&'a mut usize);
    impl<T: Vectors> Kernel<T> for Width<'_> {
        unsafe fn run<L: Lanes<Element = T>>(self) {
            *self.0 = L::N * size_of::<T>();
        }
    }
    for level in Level::available() {
        let (mut single, mut double) = (0, 0);
        level.run::<f32>(Width(&mut single));
        level.run::<f64>(Width(&mut double));
        let bytes = match level {
            Level::Avx512 => 64,
            Level::Avx2 => 32,
            Level::Neon | Level::Simd128 => 16,
            Level::Portable => {
                if cfg!(all(target_arch = "x86_64", not(miri))) {
                    16
                } else {
                    32
                }
            }
        };
        assert_eq!((single, double), (bytes, bytes), "{level:?}");
    }
}

#[test]
#[cfg(not(target_arch = "aarch64"))]
#[should_panic(expected = "this machine has no NEON")]
fn a_level_that_the_machine_lacks_is_refused() {
    struct Nothing;
    impl<T: Vectors> Kernel<T> for Nothing {
        unsafe fn run<L: Lanes<Element = T>>(self) {}
    }
    Level::Neon.run::<f32>(Nothing);
}

//! Numbers that start on a cache line.

use crate::backend::memory;
use crate::field::Real;
use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest vector.
const LINE: usize = 64;
const PAGE: usize = 4096;

/// A slice whose first number stands at the start of a cache line, so that vectors at multiples of their length never straddle
/// two.
#[derive(Debug, Default)]
pub struct Aligned<T> {
    numbers: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Real> Aligned<T> {
    /// `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        let spare = LINE / size_of::<T>();
        // The system maps zero pages on first touch, by the thread that works on them.
        let numbers = vec![T::zero(); len + spare];
        let start = numbers.as_ptr().align_offset(LINE).min(spare);
        Self { numbers, start, len }
    }

    /// `len` zeros in large pages that begin `lines` cache lines behind the start of a page of 4096 bytes, or `None` where there is no memory for them.
    ///
    /// Arrays that a loop reads in parallel should not begin at equal offsets in a page: a load that follows
    /// a store with the same lowest 12 bits of the address waits for it (4K aliasing).
    #[must_use]
    pub fn try_zeros(len: usize, lines: usize) -> Option<Self> {
        let numbers = memory::try_zeros(Self::room(len, lines))?;
        Some(Self::placed(numbers, len, lines))
    }

    /// The same, for arrays without which nothing can be done. As with [`Aligned::zeros`], the thread that works on a page maps it.
    #[must_use]
    pub fn large(len: usize, lines: usize) -> Self {
        Self::placed(memory::zeros(Self::room(len, lines)), len, lines)
    }

    /// Numbers to ask for.
    fn room(len: usize, lines: usize) -> usize {
        len + (PAGE + lines * LINE) / size_of::<T>()
    }

    /// `len` of some numbers, from `lines` cache lines behind the start of a page on.
    fn placed(numbers: Vec<T>, len: usize, lines: usize) -> Self {
        let start = numbers.as_ptr().align_offset(PAGE) + lines * LINE / size_of::<T>();
        let start = start.min(numbers.len() - len);
        Self { numbers, start, len }
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.numbers.len() * size_of::<T>()
    }
}

impl<T: Real> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let mut new = Self::zeros(self.len);
        new.copy_from_slice(self);
        new
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.numbers[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.numbers[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_start_on_a_cache_line() {
        for len in [0, 1, 5, 1000] {
            let singles = Aligned::<f32>::zeros(len);
            let doubles = Aligned::<f64>::zeros(len);
            assert_eq!((singles.len(), doubles.len()), (len, len));
            assert!(singles.as_ptr().addr().is_multiple_of(LINE));
            assert!(doubles.as_ptr().addr().is_multiple_of(LINE));
            for lines in [0, 5, 32] {
                for numbers in [
                    Aligned::<f32>::try_zeros(len, lines).unwrap(),
                    Aligned::large(len, lines),
                ] {
                    assert_eq!(numbers.len(), len);
                    assert_eq!(numbers.as_ptr().addr() % PAGE, lines * LINE);
                }
            }
        }
    }
}

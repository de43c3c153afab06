//! Arrays that several tasks read and write at once, each its own rows at its own time.
//!
//! Rust's slices forbid that a part of an array is read while another part is written through a slice of the whole. These two hold a pointer
//! and hand out rows; that no row is written while it is read follows from the order of the work ([`super::sweep`] for single steps,
//! [`super::tiling`] for towers) and is the responsibility of the callers.

#![allow(unsafe_code, reason = "rows of one array are read and written by several threads")]

use std::marker::PhantomData;
use std::ops::Range;

/// An array of which every task writes other parts.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    array: PhantomData<&'a mut [T]>,
}

// SAFETY: parts are reached through `slice` alone, whose callers keep them apart.
unsafe impl<T: Send> Sync for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    pub(super) fn new(all: &'a mut [T]) -> Self {
        Self {
            start: all.as_mut_ptr(),
            len: all.len(),
            array: PhantomData,
        }
    }

    /// Values of the array.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// A part of the array, to be written.
    ///
    /// # Safety
    /// No other task may read or write the part while the slice lives.
    #[allow(clippy::mut_from_ref, reason = "see the type")]
    pub(super) unsafe fn slice(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in bounds by the line above; the caller keeps parts apart.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }

    /// The place of value `at` of the array, from where all of `range` may be reached.
    pub(super) fn pointer(&self, range: Range<usize>, at: usize) -> *mut T {
        assert!(range.start <= at && at < range.end && range.end <= self.len);
        self.start.wrapping_add(at)
    }

    /// The place of value `at`, wherever that is, to be prefetched only.
    pub(super) fn place(&self, at: usize) -> *const T {
        self.start.wrapping_add(at)
    }

    /// The array, to be read.
    ///
    /// # Safety
    /// No task may write what is read through the view while a slice of it lives.
    pub(super) unsafe fn view(&self) -> View<'a, T> {
        View {
            start: self.start,
            len: self.len,
            array: PhantomData,
        }
    }
}

/// An array that is read here while others may write parts of it that are not read.
#[derive(Clone, Copy)]
pub(super) struct View<'a, T> {
    start: *const T,
    len: usize,
    array: PhantomData<&'a [T]>,
}

// SAFETY: whoever made the view has promised that what is read is not written ([`Shared::view`]).
unsafe impl<T: Sync> Sync for View<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Send for View<'_, T> {}

impl<'a, T: Copy> View<'a, T> {
    /// Reads an array that nobody writes.
    pub(super) fn of(all: &'a [T]) -> Self {
        Self {
            start: all.as_ptr(),
            len: all.len(),
            array: PhantomData,
        }
    }

    /// A part of the array.
    pub(super) fn slice(&self, range: Range<usize>) -> &'a [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in bounds by the line above; not written meanwhile, as promised where the view was made.
        unsafe { std::slice::from_raw_parts(self.start.add(range.start), range.len()) }
    }

    /// The place of value `at` of the array, from where all of `range` may be reached.
    pub(super) fn pointer(&self, range: Range<usize>, at: usize) -> *const T {
        assert!(range.start <= at && at < range.end && range.end <= self.len);
        self.start.wrapping_add(at)
    }

    /// The place of value `at`, wherever that is, to be prefetched only.
    pub(super) fn place(&self, at: usize) -> *const T {
        self.start.wrapping_add(at)
    }

    /// One value.
    pub(super) fn at(&self, index: usize) -> T {
        assert!(index < self.len);
        // SAFETY: as in `slice`.
        unsafe { *self.start.add(index) }
    }
}

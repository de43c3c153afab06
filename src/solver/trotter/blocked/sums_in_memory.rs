//! Sums over all sites of the field in memory, see [`sums`](super::sums): after the last step of a pass, and between steps.

#![allow(unsafe_code, reason = "SIMD, on row buffers")]

use super::super::whole_sums::WholeSums;
use super::sums::{Closed, Source, close_first, close_row, closed_numbers};
use super::tile::Blockwise;
use crate::backend::simd::{Kernel, Lanes, Level};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that are taken together.
const ROWS: usize = 16;

/// Adds up rows of the field as it lies in memory.
struct FromMemory<'a, T> {
    sums: &'a WholeSums<T>,
    field: [&'a [T]; 2],
    stride: usize,
    rows: Range<usize>,
    step: usize,
    scratch: &'a mut Vec<T>,
}

impl<T: Blockwise> Kernel<T> for FromMemory<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let sums = self.sums;
        let vectors = 0..sums.nx.div_ceil(2 * L::N);
        let numbers = closed_numbers(sums.nx, L::N);
        let padded = 2 * L::N * vectors.end;
        debug_assert!(padded >= sums.nx && L::N == sums.lanes, "{padded} columns");
        self.scratch.clear();
        self.scratch.resize(2 * (numbers + padded), T::zero());
        let (closed_rows, natural) = self.scratch.split_at_mut(2 * numbers);
        let (re, im) = natural.split_at_mut(padded);
        let closed_rows = [closed_rows.as_mut_ptr(), closed_rows[numbers..].as_mut_ptr()];
        let mut round = [None; 2];
        let mut rows = self.rows.clone().chain(sums.above(self.rows.end - 1));
        for n in 0..=self.rows.len() {
            let (here, last) = (n % 2, 1 - n % 2);
            if let Some(row) = rows.next() {
                let first = row * self.stride;
                // What stands behind the row is multiplied with 0.
                let [re, im] = if first + padded <= self.field[0].len() {
                    self.field.map(|plane| &plane[first..first + padded])
                } else {
                    for (part, plane) in [&mut *re, &mut *im].into_iter().zip(self.field) {
                        part[..sums.nx].copy_from_slice(&plane[first..first + sums.nx]);
                    }
                    [&*re, &*im]
                };
                let source = Source::Natural([re.as_ptr(), im.as_ptr()]);
                // SAFETY: a closed row has room for its vectors, as many as the natural ones have.
                unsafe {
                    close_row::<L>(source, sums.table(row, 0), vectors.end, closed_rows[here]);
                    round[here] = sums.periodic[0].then(|| close_first::<L>(sums, row, [re[0], im[0]]));
                }
            }
            let Some(below) = n.checked_sub(1).map(|n| self.rows.start + n) else {
                continue;
            };
            let closed = Closed {
                row: below,
                vectors: vectors.clone(),
                own: closed_rows[last].cast_const(),
                above: sums.above(below).map(|_| closed_rows[here].cast_const()),
                goes_on: false,
                round: round[last],
                sums,
            };
            // SAFETY: both rows are closed.
            unsafe { closed.add::<L>(self.step) };
        }
    }
}

/// Adds up a field, re and im with rows `stride` apart, for step `step` of a batch.
pub(super) fn add_field<T: Blockwise>(
    sums: &WholeSums<T>,
    step: usize,
    (field, stride): ([&[T]; 2], usize),
    level: Level,
) {
    let blocks: Vec<Range<usize>> = (0..sums.ny)
        .step_by(ROWS)
        .map(|first| first..(first + ROWS).min(sums.ny))
        .collect();
    blocks.into_par_iter().for_each_init(Vec::new, |scratch, rows| {
        level.run(FromMemory {
            sums,
            field,
            stride,
            rows,
            step,
            scratch,
        });
    });
}

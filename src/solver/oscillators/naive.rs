//! Variant `naive`: one pass over memory a sweep, the readable reference.
//!
//! Per site-step in 2D, order 2: 7 sweeps of 5 instructions, 7 passes of 16 B (single) over q and p.

#![allow(unsafe_code, reason = "runs the row kernels")]

use super::events::SiteEvents;
use super::field::Field;
use super::rows::{Row, Stretch, Turns};
use super::scheme::{Sweep, sweeps};
use super::springs::Springs;
use crate::backend::simd::{Kernel, Lanes, Level, Vectors};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that a task takes at least: fewer than that cost more to hand out than to step.
const LEAST: usize = 16;

/// Takes `steps` steps.
pub(super) fn steps<T: Vectors>(field: &mut Field<T>, springs: &Springs<T>, events: &SiteEvents<T>, steps: usize) {
    let field = field.shared();
    for step in 0..steps {
        let work = |kind| Work {
            field,
            springs,
            events,
            step,
            kind,
        };
        work(Kind::Before).run();
        for &length in &springs.scheme.substeps {
            for &sweep in sweeps(springs.layout.rank) {
                work(Kind::Sweep { length, sweep }).run();
            }
        }
        work(Kind::After).run();
    }
}

/// One pass over the field.
struct Work<'a, T> {
    field: [*mut T; 2],
    springs: &'a Springs<T>,
    events: &'a SiteEvents<'a, T>,
    step: usize,
    kind: Kind,
}

// SAFETY: tasks work on different rows.
unsafe impl<T: Send + Sync> Sync for Work<'_, T> {}

#[derive(Clone, Copy)]
enum Kind {
    Before,
    Sweep { length: usize, sweep: Sweep },
    After,
}

impl<T: Vectors> Work<'_, T> {
    fn run(&self) {
        let ny = self.springs.layout.size[1];
        // Rows along x by themselves; along y in pairs, which begin at even or odd rows, each task whole pairs.
        let offset = match self.kind {
            Kind::Sweep {
                sweep: Sweep { axis: 1, odd: true },
                ..
            } => 1,
            _ => 0,
        };
        let tasks = (ny + offset).div_ceil(LEAST);
        let level = Level::best();
        (0..tasks).into_par_iter().for_each(|n| {
            let rows = (n * LEAST).max(offset) - offset..((n + 1) * LEAST - offset).min(ny);
            level.run(Rows { work: self, rows });
        });
    }
}

/// Rows of a pass.
struct Rows<'a, T> {
    work: &'a Work<'a, T>,
    rows: Range<usize>,
}

impl<T: Vectors> Kernel<T> for Rows<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let Work {
            field,
            springs,
            events,
            step,
            kind,
        } = *self.work;
        let layout = &springs.layout;
        let stretch = Stretch::whole(layout);
        let row = |j: usize| -> Row<T> { Field::row(field, layout, j) };
        let [nx, ny] = layout.size;
        debug_assert!(self.rows.end <= ny, "rows {:?} of {ny}", self.rows);
        for j in self.rows {
            // SAFETY: as for `Work`; rows of the field are as long as the stretch.
            unsafe {
                match kind {
                    Kind::Before => events.before::<L>(step, row(j), &stretch),
                    Kind::After => events.after::<L>(step, row(j), &stretch, &(0..nx)),
                    Kind::Sweep { length, sweep } => {
                        let turns = Turns {
                            layout,
                            table: &springs.tables[length],
                            stretch,
                        };
                        if sweep.axis == 0 {
                            turns.along::<L>(row(j), sweep.odd);
                            continue;
                        }
                        let lower = j.is_multiple_of(2) != sweep.odd;
                        if lower && j + 1 < ny {
                            turns.between::<L>(row(j), row(j + 1), sweep.odd);
                        } else if lower && layout.periodic[1] {
                            turns.between::<L>(row(j), row(0), sweep.odd);
                        } else if lower {
                            turns.rim::<L>(row(j), true);
                        } else if j == 0 && !layout.periodic[1] {
                            turns.rim::<L>(row(0), false);
                        }
                    }
                }
            }
        }
    }
}

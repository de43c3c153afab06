//! Many steps of a part of the grid at a time: the towers of [`super::tiling`], on all threads.

use super::events::SiteEvents;
use super::scheme::Sweep;
use super::share::Shared;
use super::stage::{Followed, Memory, Mode, Scratch, Stage};
use super::tiling::{Tiling, Tower};
use crate::backend::threads;
use crate::field::Real;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A pass of several steps.
pub(super) struct Pass<'a, T> {
    /// The levels: pⁿ, then pⁿ⁻¹; step t writes level t mod 2.
    pub(super) levels: [Shared<'a, T>; 2],
    pub(super) memories: &'a [Memory<'a, T>],
    pub(super) steps: usize,
    pub(super) followed: Followed<'a, T>,
    pub(super) events: &'a SiteEvents<'a, T>,
}

/// Whether a tower is done.
#[derive(Default)]
struct Done(AtomicBool);

impl Done {
    /// Returns when it is. Whoever works at it took it earlier, so that it will be.
    fn wait(&self) {
        const SPINS: u32 = 1000;
        let mut spins = 0;
        while !self.0.load(Ordering::Acquire) {
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// Says that a tower is done, also where it panicked: nobody shall wait for it forever.
struct Finally<'a>(&'a Done);

impl Drop for Finally<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Release);
    }
}

impl<T: Real> Sweep<T> {
    /// Takes all steps of a pass, tower by tower: a free thread takes the next one and waits for those that it needs. To be called in the pool.
    pub(super) fn towers(&self, tiling: &Tiling, pass: &Pass<'_, T>) {
        let towers = tiling.towers(pass.steps);
        let next = AtomicUsize::new(0);
        let done: Vec<Done> = towers.iter().map(|_| Done::default()).collect();
        (0..threads::count()).into_par_iter().with_max_len(1).for_each(|_| {
            let mut scratch = Scratch::new();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                let Some(tower) = towers.get(n) else { return };
                let _done = Finally(&done[n]);
                for needed in &tower.needs {
                    done[*needed].wait();
                }
                self.tower(tiling, pass, tower, &mut scratch);
            }
        });
    }

    /// All steps of a tower.
    fn tower(&self, tiling: &Tiling, pass: &Pass<'_, T>, tower: &Tower, scratch: &mut Scratch<T>) {
        for t in tower.steps.clone() {
            let Ok(step) = usize::try_from(t) else { continue };
            let [newer, older] = [(step + 1) % 2, step % 2].map(|n| pass.levels[n]);
            #[allow(unsafe_code, reason = "see `Shared`")]
            let stage = Stage {
                // SAFETY: what a tower reads of either level no other tower writes at the same time (head of this file).
                now: unsafe { newer.view() },
                old: older,
                mode: Mode::Step,
                memories: pass.memories,
                followed: pass.followed.of_step(step),
                events: pass.events,
                level: step,
            };
            let (mut parts, mut ahead) = (std::mem::take(&mut scratch.parts), std::mem::take(&mut scratch.ahead));
            tiling.parts(tower, t, &mut parts);
            let mut coming = std::mem::take(&mut scratch.coming);
            ahead.clear();
            coming.clear();
            if t + 1 < tower.steps.end {
                tiling.coming(tower, t, self.lattice.half.cast_signed() as i64, |c, w| {
                    let row = if tiling.cross == 1 {
                        c + self.lattice.size[1] * w
                    } else {
                        w + self.lattice.size[1] * c
                    };
                    ahead.push(older.place(self.lattice.sites(row).start));
                    if !pass.memories.is_empty() || !pass.followed.is_empty() {
                        coming.push(row);
                    }
                });
            }
            let bundles: usize = parts.iter().map(|part| part.count).sum();
            let share = ahead.len().div_ceil(bundles.max(1));
            let (mut asked, next) = (0, pass.followed.of_step(step + 1));
            for part in &parts {
                let end = (asked + share * part.count).min(ahead.len());
                for row in coming.get(asked..end).into_iter().flatten() {
                    pass.memories
                        .iter()
                        .for_each(|memory| memory.ask(self.lattice.size, *row));
                    next.ask(&self.lattice.sites(*row));
                }
                debug_assert!(asked <= end, "{asked} of {} rows", ahead.len());
                #[allow(unsafe_code, reason = "see `Shared`")]
                // SAFETY: as above; rows of a step belong to one tower.
                unsafe {
                    self.rows(&stage, *part, &ahead[asked..end], scratch);
                };
                asked = end;
            }
            (scratch.parts, scratch.ahead, scratch.coming) = (parts, ahead, coming);
        }
    }
}

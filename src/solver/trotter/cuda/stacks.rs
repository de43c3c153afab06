//! How the tiles of three dimensions are cut along z into the pieces of `kernels/trotter_space.cu`, one a block.
//!
//! All tiles are cut at the same planes, into pieces that differ by a pair of planes at most, and the pieces of the same planes follow each other: neighbouring tiles share a third of
//! the rows that they read, and move through the planes together, so that these rows come from the second-level cache. Fewer pieces of unequal
//! lengths, with which every multiprocessor would end at the same time, step up to 8 % less, but were slower by 5 % on an H200.
//! The device starts blocks in their order as places become free; there are so many pieces that the last places end soonest.
//!
//! Where planes beside a cut are to be sent while others are still stepped, the pieces that hold such planes come first: [`Stacks::early`] of them.

use crate::solver::device::whole;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Times of a pair of planes that a block writes, and of one that it steps beside these, as measured on an H200.
const WRITTEN: usize = 3;
const BESIDE: usize = 2;
/// Pieces of a tile at most.
const MOST: usize = 64;
/// The part of a launch's time that sending ten planes takes at most, where devices reach one another.
const SENDING: usize = 8;

/// The planes to step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Work {
    /// Pairs of planes that are written.
    pub pairs: Range<usize>,
    /// How many of them at the lower and the upper end come first; 0 for an end from which nothing is sent.
    pub sent: [usize; 2],
}

impl Work {
    /// Pairs of planes of a whole field, in no special order.
    pub(super) fn whole(pairs: usize) -> Self {
        Self {
            pairs: 0..pairs,
            sent: [0; 2],
        }
    }

    fn is_sent(&self, pairs: &Range<usize>) -> bool {
        pairs.start < self.pairs.start + self.sent[0] || pairs.end > self.pairs.end.saturating_sub(self.sent[1])
    }

    /// `count` pieces of a tile, those that are sent first, and how many these are.
    fn cut(&self, count: usize) -> (Vec<Range<usize>>, usize) {
        let at = |n: usize| self.pairs.start + n * self.pairs.len() / count;
        let mut pieces: Vec<Range<usize>> = (0..count).map(|n| at(n)..at(n + 1)).collect();
        pieces.sort_by_key(|piece| !self.is_sent(piece));
        let sent = pieces.iter().filter(|piece| self.is_sent(piece)).count();
        (pieces, sent)
    }
}

/// The device, and the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// Blocks that the device holds at once.
    pub count: usize,
    /// Pairs of planes that a block steps beside its own.
    pub run_up: usize,
}

/// The pieces of a launch in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stacks {
    /// Of each the tile along x and y and the pairs of planes, from and to, as the kernel reads them.
    pub list: Vec<[i32; 4]>,
    /// How many come first, with everything that is sent. 0 where nothing is.
    pub early: usize,
}

impl Places {
    /// When what is sent is done, and when all is, if `tiles` blocks of each of some pieces start as places become free. In thirds of what a pair of planes takes.
    fn time(self, pieces: &[Range<usize>], sent: usize, tiles: usize) -> [usize; 2] {
        let mut free: BinaryHeap<_> = vec![Reverse(0); self.count].into();
        let (mut first, mut last) = (0, 0);
        for (n, piece) in pieces.iter().enumerate() {
            for _ in 0..tiles {
                let Reverse(time) = free.pop().unwrap_or(Reverse(0));
                let end = time + WRITTEN * piece.len() + BESIDE * self.run_up;
                free.push(Reverse(end));
                last = last.max(end);
            }
            if n < sent {
                first = last;
            }
        }
        [first, last]
    }

    /// The pieces of a grid of `across` × `along` tiles.
    pub(super) fn stacks(self, work: &Work, [across, along]: [usize; 2]) -> Stacks {
        let tiles = across * along;
        let takes = |count: &usize| {
            let (pieces, sent) = work.cut(*count);
            let [first, last] = self.time(&pieces, sent, tiles);
            if sent == 0 {
                last
            } else {
                last.max(first + last / SENDING)
            }
        };
        let count = (1..=work.pairs.len().min(MOST)).min_by_key(takes).unwrap_or(1);
        let (pieces, sent) = work.cut(count);
        let list = pieces.iter().flat_map(|pairs| {
            let piece = move |tile: usize| [tile % across, tile / across, pairs.start, pairs.end].map(whole);
            (0..tiles).map(piece)
        });
        Stacks {
            list: list.collect(),
            early: sent * tiles,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = (Work, [usize; 2], Stacks)> {
        let works = [
            ([5, 22], 256, [0, 0]),
            ([5, 22], 128, [0, 5]),
            ([5, 22], 128, [5, 5]),
            ([9, 43], 256, [5, 0]),
            ([3, 11], 128, [0, 5]),
            ([1, 1], 9, [0, 3]),
            ([2, 3], 16, [5, 5]),
            ([40, 50], 7, [0, 3]),
            ([1, 2], 1, [1, 0]),
            ([4, 4], 10, [5, 5]),
        ];
        works.into_iter().flat_map(|(tiles, pairs, sent)| {
            [(132, 4), (264, 2), (8, 4)].into_iter().map(move |(count, run_up)| {
                let work = Work {
                    pairs: 3..3 + pairs,
                    sent,
                };
                let stacks = Places { count, run_up }.stacks(&work, tiles);
                (work, tiles, stacks)
            })
        })
    }

    #[test]
    fn pieces_cover_every_tile_once() {
        for (work, [across, along], stacks) in all() {
            let mut seen = vec![0; across * along * work.pairs.len()];
            for [x, y, from, to] in (stacks.list.iter()).map(|piece| piece.map(|n| usize::try_from(n).unwrap())) {
                assert!(
                    from < to && from >= work.pairs.start && to <= work.pairs.end,
                    "{work:?}"
                );
                for pair in from..to {
                    seen[(y * across + x) * work.pairs.len() + pair - work.pairs.start] += 1;
                }
            }
            assert!(seen.iter().all(|count| *count == 1), "{work:?}");
        }
    }

    #[test]
    fn what_is_sent_comes_first() {
        for (work, _, stacks) in all() {
            for (n, piece) in stacks.list.iter().enumerate() {
                let pairs = usize::try_from(piece[2]).unwrap()..usize::try_from(piece[3]).unwrap();
                assert_eq!(n < stacks.early, work.is_sent(&pairs), "{work:?}, {n} {piece:?}");
            }
        }
    }

    #[test]
    fn places_are_filled_and_what_is_sent_is_done_early() {
        let places = Places { count: 132, run_up: 4 };
        // Six pieces of 110 tiles are five rounds of 132 places.
        let whole = places.stacks(&Work::whole(256), [5, 22]);
        assert_eq!((whole.list.len(), whole.early), (660, 0));
        let window = Work {
            pairs: 5..133,
            sent: [5, 0],
        };
        let sent = places.stacks(&window, [5, 22]);
        assert_eq!((sent.list.len(), sent.early), (660, 110));
        let (pieces, early) = window.cut(6);
        let [first, last] = places.time(&pieces, early, 110);
        assert!(first < last / 4 && last < WRITTEN * 125, "{first} of {last}");
    }
}

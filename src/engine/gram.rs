//! Σ|⟨a|b⟩|² over all pairs of lines of a complex array: the sum behind the purity of a state.
//!
//! Lines are taken in blocks; a pair of blocks stays in a core's caches while all products between them are added up. Registers hold four products, of two lines with two others: 16 multiply-adds for 8
//! loads. A product of two numbers takes 8 operations, and every pair is taken once: 4 n² m for n lines of m numbers. Bound: the rate of multiply-adds, 2 n² m of them.
//!
//! Where vectors fuse multiplication and addition all of them give the same bits; others round once more.

#![allow(unsafe_code, reason = "SIMD")]

use crate::backend::simd::{Kernel, Lanes, Level};
use crate::physics::Lines;
use rayon::prelude::*;

/// Products that are added side by side: as many as the widest vector has.
const LANES: usize = 8;
/// Lines of a block, an even number.
const BLOCK: usize = 8;
/// Numbers of a line that are taken at once, a multiple of the lanes: those of a block and of two lines more fit into a first cache.
const PIECE: usize = 128;

/// Real and imaginary parts of the products of the lines of two blocks, in lanes.
type Tile = [[[[f64; LANES]; 2]; BLOCK]; BLOCK];

/// Σ|⟨a|b⟩|² over all lines a and b.
pub(super) fn sum_of_squares(lines: &Lines) -> f64 {
    let level = Level::best();
    let padded = Padded::new(lines);
    let blocks = lines.count.div_ceil(BLOCK);
    let pairs: Vec<[usize; 2]> = (0..blocks).flat_map(|a| (0..=a).map(move |b| [a, b])).collect();
    let sums: Vec<f64> = (pairs.par_iter())
        .map(|pair| {
            let (lines, mut tile) = (&padded, [[[[0.0; LANES]; 2]; BLOCK]; BLOCK]);
            level.run(OfBlocks {
                lines,
                pair: *pair,
                tile: &mut tile,
            });
            squares(&tile, pair[0] == pair[1])
        })
        .collect();
    sums.iter().sum()
}

/// Lines, each padded with zeros to whole pieces, and their number to whole blocks.
struct Padded {
    stride: usize,
    parts: [Vec<f64>; 2],
}

impl Padded {
    fn new(lines: &Lines) -> Self {
        let stride = lines.length.next_multiple_of(PIECE);
        let padded = |numbers: &[f64]| {
            let mut all = vec![0.0; lines.count.next_multiple_of(BLOCK) * stride];
            (all.par_chunks_mut(stride).zip(numbers.par_chunks(lines.length.max(1))))
                .for_each(|(to, from)| to[..from.len()].copy_from_slice(from));
            all
        };
        Self {
            stride,
            parts: [padded(&lines.re), padded(&lines.im)],
        }
    }

    /// Where a piece of a line begins.
    fn piece(&self, line: usize, first: usize) -> [*const f64; 2] {
        let at = line * self.stride + first;
        debug_assert!(at + PIECE <= self.parts[0].len() && at + PIECE <= self.parts[1].len());
        self.parts.each_ref().map(|part| part.as_ptr().wrapping_add(at))
    }
}

/// Σ|⟨a|b⟩|² of the products of two blocks and those of b with a; of a block with itself those on one side and the diagonal have been taken.
fn squares(tile: &Tile, same: bool) -> f64 {
    let mut sum = 0.0;
    for (i, row) in tile.iter().enumerate() {
        for (j, product) in row.iter().enumerate().take(if same { i + 1 } else { BLOCK }) {
            let [re, im] = product.map(|[a, b, c, d, e, f, g, h]| ((a + e) + (c + g)) + ((b + f) + (d + h)));
            let times = if same && i == j { 1.0 } else { 2.0 };
            sum += times * (re * re + im * im);
        }
    }
    sum
}

/// The products of two blocks.
struct OfBlocks<'a, 'b> {
    lines: &'a Padded,
    pair: [usize; 2],
    tile: &'b mut Tile,
}

impl Kernel<f64> for OfBlocks<'_, '_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = f64>>(self) {
        let [a, b] = self.pair;
        for first in (0..self.lines.stride).step_by(PIECE) {
            for i in (0..BLOCK).step_by(2) {
                let own = [i, i + 1].map(|i| self.lines.piece(a * BLOCK + i, first));
                let end = if a == b { i + 2 } else { BLOCK };
                for j in (0..end).step_by(2) {
                    let others = [j, j + 1].map(|j| self.lines.piece(b * BLOCK + j, first));
                    let [one, two] = &mut self.tile[i..i + 2] else { return };
                    let ([aa, ab], [ba, bb]) = (&mut one[j..j + 2], &mut two[j..j + 2]) else {
                        return;
                    };
                    // SAFETY: the caller has the instructions; a piece lies at each place.
                    unsafe { add::<L>(&mut [aa, ab, ba, bb], own, others) };
                }
            }
        }
    }
}

/// Adds the products of pieces of two lines with two others: first with first, first with second, second with first, second with second.
///
/// # Safety
/// The machine must have the instructions of `L`, and a piece must lie at each place.
#[inline(always)]
unsafe fn add<L: Lanes<Element = f64>>(
    sums: &mut [&mut [[f64; LANES]; 2]; 4],
    own: [[*const f64; 2]; 2],
    others: [[*const f64; 2]; 2],
) {
    // SAFETY: the caller's; a sum has eight lanes.
    unsafe {
        for v in 0..LANES / L::N {
            let at = v * L::N;
            let mut all = [Pair::<L>::load([sums[0][0].as_ptr(), sums[0][1].as_ptr()], at); 4];
            for n in 1..4 {
                all[n] = Pair::load([sums[n][0].as_ptr(), sums[n][1].as_ptr()], at);
            }
            let [mut aa, mut ab, mut ba, mut bb] = all;
            for n in (at..PIECE).step_by(LANES) {
                let (a, b) = (Pair::<L>::load(own[0], n), Pair::<L>::load(own[1], n));
                let c = Pair::load(others[0], n);
                (aa, ba) = (aa.add_product(a, c), ba.add_product(b, c));
                let d = Pair::load(others[1], n);
                (ab, bb) = (ab.add_product(a, d), bb.add_product(b, d));
            }
            for (n, total) in [aa, ab, ba, bb].into_iter().enumerate() {
                let sum = &mut *sums[n];
                total.re.store(sum[0].as_mut_ptr().add(at));
                total.im.store(sum[1].as_mut_ptr().add(at));
            }
        }
    }
}

/// Complex numbers, as many as a vector has.
#[derive(Clone, Copy)]
struct Pair<L> {
    re: L,
    im: L,
}

impl<L: Lanes<Element = f64>> Pair<L> {
    #[inline(always)]
    unsafe fn load([re, im]: [*const f64; 2], at: usize) -> Self {
        // SAFETY: the caller's.
        unsafe {
            Self {
                re: L::load(re.add(at)),
                im: L::load(im.add(at)),
            }
        }
    }

    /// Adds a*b.
    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe {
            Self {
                re: a.im.mul_add(b.im, a.re.mul_add(b.re, self.re)),
                im: a.im.neg_mul_add(b.re, a.re.mul_add(b.im, self.im)),
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, reason = "tests")]
mod tests {
    use super::*;

    /// Against all pairs one by one: both are off by n ε at most, of terms that are not negative.
    #[test]
    fn all_pairs_are_added() {
        for (count, length) in [(1, 1), (3, 70), (16, 64), (17, 5), (40, 130)] {
            let value = |n: usize, by: f64| ((n + 1) as f64 * by).sin();
            let part = |by: f64| (0..count * length).map(|n| value(n, by)).collect::<Vec<f64>>();
            let lines = Lines {
                count,
                length,
                re: part(0.7),
                im: part(1.9),
            };
            let mut exact = 0.0;
            for a in 0..count {
                for b in 0..count {
                    let (mut re, mut im) = (0.0, 0.0);
                    for n in 0..length {
                        let [x, y] = [0.7, 1.9].map(|by| value(a * length + n, by));
                        let [u, v] = [0.7, 1.9].map(|by| value(b * length + n, by));
                        re += x * u + y * v;
                        im += x * v - y * u;
                    }
                    exact += re * re + im * im;
                }
            }
            let found = sum_of_squares(&lines);
            assert!(
                (found / exact - 1.0).abs() < 1e-12,
                "{count} × {length}: {found} {exact}"
            );
        }
    }

    /// The same bits at every level of vectors that fuse; those of others are off by ε of each of the terms, which are at most 1.
    #[test]
    fn levels_agree() {
        let part = |by: f64| (0..32 * 100).map(|n| (f64::from(n) * by).sin()).collect::<Vec<f64>>();
        let lines = Padded::new(&Lines {
            count: 32,
            length: 100,
            re: part(0.7),
            im: part(1.9),
        });
        let tile = |level: Level, pair: [usize; 2]| {
            let mut tile = [[[[0.0; LANES]; 2]; BLOCK]; BLOCK];
            level.run(OfBlocks {
                lines: &lines,
                pair,
                tile: &mut tile,
            });
            tile
        };
        for pair in [[0, 0], [1, 0]] {
            let best = tile(Level::best(), pair);
            assert!(squares(&best, pair[0] == pair[1]) > 0.0);
            for level in Level::available() {
                let own = tile(level, pair);
                if level == Level::Portable {
                    let (all, found) = (best.as_flattened(), own.as_flattened());
                    let numbers = |tile: &[[[f64; LANES]; 2]]| tile.as_flattened().as_flattened().to_vec();
                    for (a, b) in numbers(all).into_iter().zip(numbers(found)) {
                        assert!((a - b).abs() <= 100.0 * 2.0 * f64::EPSILON, "{level:?}: {a} {b}");
                    }
                } else {
                    assert!(own == best, "{level:?}");
                }
            }
        }
    }
}

//! The cut of a plane for `kernels/trotter_fused.cu`: strips of columns, cut along y into pieces of equal time, one for each warp of the device.
//!
//! All warps of a launch run at once, so that a launch takes as long as its slowest piece. Row pairs near walls are stepped by a body that reads every bond:
//! strips with walls are cut into shorter pieces, and so are, beside these, strips that sum over regions. Strips are taken in a few ranges, and pieces of a range
//! equally long, so that the loop over a piece is the same for all warps of a block.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sites of a plane are fewer than 2^31, times are not negative"
)]

use super::sources::Shape;
use crate::solver::device::{unsigned, whole};
use crate::solver::totals::Region;
use rayon::prelude::*;

/// Time of a row pair stepped bond by bond over that of a plain one, among warps that wait for it; the same beside sums. Measured on an H100, 4096² and 8192 × 4096, with a body that chose factors; the one that skips instructions was not.
const MASKED: [f64; 2] = [5.0, 2.6];
/// The same where bonds differ, and each is read. Not measured.
const OWN: [f64; 2] = [8.0, 4.0];
/// Time that a row pair takes more for each region that is summed over.
const SUMMED: f64 = 0.25;
/// Time that a row pair takes more where what is summed has weights; from what `double-slit` at 8192 × 4096 lost to the strips at its right edge on an H200.
const WEIGHED: f64 = 0.7;
/// Row pairs of a piece of one step that is not worth cutting: its halo is a sixteenth.
const SHORT: usize = 32;
/// Pieces of fewer times the steps of a launch are mostly halo: none is made shorter than the others.
const LONG: usize = 4;
/// Columns that the map of walls tells apart; strips begin at multiples of two of any precision, so that it may say too much.
const GROUP: usize = 4;

/// Ranges of strips that a launch tells apart.
pub(super) const KINDS: usize = 4;

/// Where walls are: row pairs of groups of columns.
pub(super) struct WallMap {
    groups: usize,
    near: Vec<bool>,
}

impl WallMap {
    /// Of the sites of a plane of `nx` columns.
    pub(super) fn new(nx: usize, walls: &[bool]) -> Self {
        let groups = nx.div_ceil(GROUP);
        let pairs = walls.par_chunks(2 * nx);
        let near = pairs.flat_map_iter(|pair| {
            let group = move |n: usize| {
                let columns = n * GROUP..((n + 1) * GROUP).min(nx);
                pair.chunks_exact(nx)
                    .any(|row| row[columns.clone()].iter().any(|wall| *wall))
            };
            (0..groups).map(group)
        });
        Self {
            groups,
            near: near.collect(),
        }
    }
}

/// The plane that is cut.
#[derive(Clone, Copy)]
pub(super) struct Plane<'a> {
    pub size: [usize; 2],
    pub periodic: [bool; 2],
    pub walls: Option<&'a WallMap>,
    /// Whether the kernel is one that sums or copies.
    pub sums: bool,
    /// What is summed over.
    pub regions: &'a [Region],
    /// Columns, from and to, whose sites have the weight 1, at least in most rows; `None`: all have.
    pub plain: Option<[usize; 2]>,
}

/// The kernel that steps a plane.
#[derive(Clone, Copy)]
pub(super) struct Load {
    /// Blocks that the device holds at once.
    pub blocks: usize,
    pub planes: usize,
}

/// Blocks along x that lie side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    first: usize,
    count: usize,
    /// Time of their slowest row pair over that of a plain one.
    cost: f64,
    walled: bool,
}

impl Range {
    /// Both, the next one taken for as slow as this one or the other way round.
    fn with(self, next: Self) -> Self {
        Self {
            first: self.first,
            count: self.count + next.count,
            cost: self.cost.max(next.cost),
            walled: self.walled || next.walled,
        }
    }

    fn time(&self) -> f64 {
        self.count as f64 * self.cost
    }
}

/// How a launch cuts the plane.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    /// Of each range: its first block along x, the row pairs of a piece, and whether walls are near.
    pub from: [i32; KINDS],
    pub chunk: [i32; KINDS],
    walled: [bool; KINDS],
    /// Blocks of two warps along x and y.
    pub blocks: [u32; 2],
}

impl Cut {
    /// Whether walls are near, a bit a range.
    pub(super) fn walled(&self) -> i32 {
        let bits = self.walled.iter().enumerate();
        bits.map(|(kind, walled)| i32::from(*walled) << kind).sum()
    }
}

impl Plane<'_> {
    fn pairs(&self) -> usize {
        self.size[1].div_ceil(2)
    }

    /// Whether a wall stands among `columns` (which may be beyond the edges) in a row pair.
    fn has_wall(&self, map: &WallMap, columns: [i64; 2], pair: usize) -> bool {
        let nx = self.size[0] as i64;
        let row = &map.near[pair * map.groups..(pair + 1) * map.groups];
        (columns[0]..columns[1]).step_by(GROUP / 2).any(|x| {
            let x = if self.periodic[0] { x.rem_euclid(nx) } else { x };
            usize::try_from(x).is_ok_and(|x| row.get(x / GROUP).is_some_and(|near| *near))
        })
    }

    /// What both strips of a block need.
    fn column(&self, shape: &Shape, number: usize) -> Range {
        let [nx, _] = self.size;
        let (core, columns) = (shape.core() as usize, shape.columns as usize);
        let halo = (32 * columns - core) / 2;
        let mut range = Range {
            first: number,
            count: 1,
            cost: 1.0,
            walled: false,
        };
        let masked = if shape.flags.own { OWN } else { MASKED }[usize::from(self.sums)];
        for strip in [2 * number, 2 * number + 1]
            .into_iter()
            .filter(|strip| strip * core < nx)
        {
            let low = (strip * core) as i64 - halo as i64;
            let reach = [low, low + 32 * columns as i64];
            let near = |map: &WallMap| (0..self.pairs()).any(|pair| self.has_wall(map, reach, pair));
            let walled = self.walls.is_some_and(near);
            let ragged = !nx.is_multiple_of(columns) && !self.periodic[0] && reach[1] > nx as i64;
            let summed = |region: &&Region| region.lo[0] < (strip + 1) * core && region.hi[0] > strip * core;
            let regions = self.regions.iter().filter(summed).count();
            let beside = |[from, to]: [usize; 2]| strip * core < from || ((strip + 1) * core).min(nx) > to;
            let weighed = if regions > 0 && self.plain.is_some_and(beside) {
                WEIGHED
            } else {
                0.0
            };
            let sums = SUMMED * regions as f64 + weighed;
            range.walled |= walled;
            range.cost = range.cost.max(if walled || ragged { masked } else { 1.0 } + sums);
        }
        range
    }

    /// Ranges from left to right, at most [`KINDS`]: where there are more, those are joined that gain least by being apart.
    fn ranges(&self, shape: &Shape) -> Vec<Range> {
        let count = self.size[0].div_ceil(2 * shape.core() as usize);
        let mut ranges: Vec<Range> = (0..count).into_par_iter().map(|n| self.column(shape, n)).collect();
        loop {
            let loss = |n: &usize| ranges[*n].with(ranges[n + 1]).time() - ranges[*n].time() - ranges[n + 1].time();
            let least = (0..ranges.len() - 1).min_by(|a, b| loss(a).total_cmp(&loss(b)));
            match least.filter(|n| ranges.len() > KINDS || ranges[*n].cost == ranges[n + 1].cost) {
                Some(n) => {
                    ranges[n] = ranges[n].with(ranges[n + 1]);
                    ranges.remove(n + 1);
                }
                None => return ranges,
            }
        }
    }

    /// The cut of a plane for a kernel.
    pub(super) fn cut(&self, shape: &Shape, load: Load) -> Cut {
        let (pairs, steps) = (self.pairs(), shape.steps as usize);
        let count = self.size[0].div_ceil(2 * shape.core() as usize);
        let blocks = (load.blocks / load.planes.max(1)).max(count);
        // All pieces equally long; one step is bound by memory, and several pieces one after the other even out what single ones wait for.
        let even = if steps == 1 {
            let whole = pairs.div_ceil(blocks / count);
            pairs.div_ceil(4 * (blocks / count)).max(SHORT).min(whole)
        } else {
            pairs.div_ceil(blocks / count).max(steps)
        };
        let by_range = !self.sums || (shape.flags.nested && !shape.flags.flux);
        let ranges = if by_range && steps > 1 && even >= LONG * steps {
            self.ranges(shape)
        } else {
            vec![Range {
                first: 0,
                count,
                cost: 1.0,
                walled: by_range && self.walls.is_some(),
            }]
        };
        // Row pairs of a piece that takes as long as `time` plain ones, with what it steps at both ends for others' sake.
        let chunk = |range: &Range, time: f64| {
            let pairs = pairs.max(steps);
            ((time / range.cost) as usize)
                .saturating_sub(2 * steps)
                .clamp(steps, pairs)
        };
        let number = |time: f64| -> usize {
            let of_range = |range: &Range| range.count * pairs.div_ceil(chunk(range, time));
            ranges.iter().map(of_range).sum()
        };
        let slowest = ranges.iter().map(|range| range.cost).fold(1.0, f64::max);
        let (mut low, mut high) = (0.0, slowest * (pairs + 2 * steps + 1) as f64);
        for _ in 0..32 {
            let middle = f64::midpoint(low, high);
            if number(middle) <= blocks {
                high = middle;
            } else {
                low = middle;
            }
        }
        let mut cut = Cut {
            from: [i32::MAX; KINDS],
            chunk: [0; KINDS],
            walled: [false; KINDS],
            blocks: [unsigned(count), 1],
        };
        for (kind, range) in ranges.iter().enumerate() {
            let chunk = if ranges.len() == 1 {
                even
            } else {
                // As few as there must be, equally long.
                pairs.div_ceil(pairs.div_ceil(chunk(range, high)))
            };
            (cut.from[kind], cut.chunk[kind], cut.walled[kind]) = (whole(range.first), whole(chunk), range.walled);
            cut.blocks[1] = cut.blocks[1].max(unsigned(pairs.div_ceil(chunk)));
        }
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::super::sources::{Flags, shapes};
    use super::*;
    use crate::field::Precision;

    fn plane(walls: Option<&WallMap>) -> Plane<'_> {
        Plane {
            size: [4000, 3001],
            periodic: [false, false],
            walls,
            sums: false,
            regions: &[],
            plain: None,
        }
    }

    fn walls_at(columns: &[usize]) -> WallMap {
        let mut walls = vec![false; 4000 * 3001];
        for row in walls.chunks_exact_mut(4000) {
            for x in columns {
                row[*x] = true;
            }
        }
        WallMap::new(4000, &walls)
    }

    const WITHOUT: Load = Load { blocks: 792, planes: 1 };

    fn nested() -> Flags {
        Flags {
            nested: true,
            ..Flags::default()
        }
    }

    /// The range of a block, as the kernel finds it.
    fn kind(cut: &Cut, block: usize) -> usize {
        (1..KINDS)
            .filter(|kind| whole(block) >= cut.from[*kind])
            .max()
            .unwrap_or(0)
    }

    const REGION: Region = Region {
        lo: [2500, 0, 0],
        hi: [4000, 3001, 1],
        across: None,
        energy: false,
    };

    #[test]
    fn pieces_take_equally_long_and_know_their_walls() {
        let map = walls_at(&[2000]);
        for precision in [Precision::Single, Precision::Double] {
            for shape in shapes(precision, nested()).into_iter().filter(|shape| shape.steps > 1) {
                for regions in [&[][..], &[REGION], &[REGION; 3]] {
                    let plane = Plane {
                        sums: !regions.is_empty(),
                        regions,
                        ..plane(Some(&map))
                    };
                    let cut = plane.cut(&shape, WITHOUT);
                    let [columns, along] = cut.blocks.map(|count| count as usize);
                    let (mut number, mut longest, mut sum) = (0, 0.0_f64, 0.0);
                    for block in 0..columns {
                        let kind = kind(&cut, block);
                        let column = plane.column(&shape, block);
                        assert_eq!(cut.walled[kind], column.walled, "{cut:?}");
                        let chunk = usize::try_from(cut.chunk[kind]).unwrap();
                        let pieces = plane.pairs().div_ceil(chunk);
                        assert!(pieces <= along);
                        let time = column.cost * (chunk + 2 * shape.steps as usize) as f64;
                        number += pieces;
                        longest = longest.max(time);
                        sum += time * pieces as f64;
                    }
                    assert!(number <= 792, "{number}");
                    assert!(longest < 1.25 * sum / number as f64, "{longest}, {sum}, {number}");
                }
            }
        }
    }

    /// Strips with weights have shorter pieces, those that sum nothing or without weights have not.
    #[test]
    fn weights_cost_where_they_are_summed() {
        let shape = shapes(Precision::Single, nested())[0];
        let map = walls_at(&[300]);
        let of = |plain, block: usize| {
            let plane = Plane {
                sums: true,
                regions: &[REGION],
                plain,
                ..plane(Some(&map))
            };
            (plane.column(&shape, block).cost, plane.cut(&shape, WITHOUT))
        };
        let inner = Some([40, 3960]);
        let (last, cut) = of(inner, 19);
        let (without, plain) = of(None, 19);
        assert!((last - without - WEIGHED).abs() < 1e-12);
        for block in [4, 15] {
            assert_eq!(of(inner, block).0, of(None, block).0, "{block}");
        }
        let chunk = |cut: &Cut| cut.chunk[kind(cut, 19)];
        assert!(chunk(&cut) < chunk(&plain), "{cut:?} {plain:?}");
    }

    #[test]
    fn planes_without_walls_have_pieces_of_one_length() {
        let shape = shapes(Precision::Single, Flags::default())[0];
        let cut = plane(None).cut(&shape, WITHOUT);
        // 4000 columns are 20 blocks of 2 × 104, so that 39 pieces of 39 row pairs each fit.
        assert_eq!(
            (cut.from, cut.blocks, cut.walled()),
            ([0, i32::MAX, i32::MAX, i32::MAX], [20, 39], 0)
        );
        assert_eq!(cut.chunk[0], 39);
        let map = walls_at(&(0..4000).step_by(90).collect::<Vec<_>>());
        let everywhere = plane(Some(&map)).cut(&shape, WITHOUT);
        assert_eq!((everywhere.chunk, everywhere.walled()), (cut.chunk, 1));
    }

    #[test]
    fn more_ranges_than_a_launch_knows_are_joined() {
        let shape = shapes(Precision::Single, nested())[0];
        let map = walls_at(&[300, 900, 1000, 1700, 2600, 3999]);
        let plane = plane(Some(&map));
        let ranges = plane.ranges(&shape);
        assert!(
            ranges.len() <= KINDS && ranges.iter().any(|range| range.cost < 2.0),
            "{ranges:?}"
        );
        let all: usize = ranges.iter().map(|range| range.count).sum();
        assert_eq!(all, 20);
        for range in &ranges {
            for block in range.first..range.first + range.count {
                assert!(range.cost >= plane.column(&shape, block).cost);
                assert!(range.walled || !plane.column(&shape, block).walled);
            }
        }
    }

    #[test]
    fn walls_are_seen_across_a_periodic_edge_and_in_the_halo() {
        let shape = shapes(Precision::Single, Flags::default())[0];
        let map = walls_at(&[3998]);
        let closed = plane(Some(&map));
        let ring = Plane {
            periodic: [true, false],
            ..closed
        };
        assert!(!closed.column(&shape, 0).walled && ring.column(&shape, 0).walled);
        let core = 2 * shape.core() as usize;
        assert!(closed.column(&shape, 3998 / core).walled);
        assert!(plane(Some(&walls_at(&[core + 1]))).column(&shape, 0).walled);
        assert!(!plane(Some(&walls_at(&[core + 40]))).column(&shape, 0).walled);
    }

    #[test]
    fn a_small_plane_has_pieces_of_no_fewer_pairs_than_steps() {
        let shape = shapes(Precision::Single, Flags::default())[0];
        let plane = Plane {
            size: [64, 96],
            periodic: [true, true],
            walls: None,
            sums: false,
            regions: &[],
            plain: None,
        };
        let cut = plane.cut(&shape, WITHOUT);
        assert_eq!(cut.blocks, [1, 48 / shape.steps]);
    }
}

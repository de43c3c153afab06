//! How a plane is cut for `kernels/trotter_fused.cu`: strips of columns, cut along y into pieces that take equally long, one for each warp that the device holds.
//!
//! All warps of a launch run at once, so that a launch takes as long as its slowest piece. Row pairs near walls are stepped by a body that looks at every bond,
//! and sums over regions come on top: strips with such pairs are cut into shorter pieces. Strips are of a few kinds, and pieces of a kind equally long, so that
//! the loop over a piece is the same for all warps of a block.

use super::params::whole;
use super::sources::Shape;
use crate::backend::cuda::{Buffer, CudaError, Stream};
use crate::solver::totals::Region;
use rayon::prelude::*;
use std::cmp::Ordering;

/// Time of a row pair stepped bond by bond, over that of a plain one.
const MASKED: f64 = 2.6;
/// Time that a row pair takes more for each region that is summed over.
const SUMMED: f64 = 0.4;
/// Row pairs of a piece of one step that is not worth cutting: its halo is a sixteenth.
const SHORT: usize = 32;
/// Columns that the map of walls tells apart; strips begin at multiples of two of any precision, so that it may say too much.
const GROUP: usize = 4;

/// Kinds of strips that a launch tells apart.
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

/// The plane that is cut, for a kernel.
#[derive(Clone, Copy)]
pub(super) struct Plane<'a> {
    pub size: [usize; 2],
    pub periodic: [bool; 2],
    pub walls: Option<&'a WallMap>,
    /// What is summed over.
    pub regions: &'a [Region],
}

/// What two strips, a block's, have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    /// Time of its slowest row pair, over that of a plain one.
    cost: f64,
    walled: bool,
}

/// How a launch cuts the plane.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    /// Which two strips the blocks of a number along x step.
    pub order: Vec<i32>,
    /// Of each kind: its first block along x, the row pairs of a piece, and whether walls are near.
    pub from: [i32; KINDS],
    pub chunk: [i32; KINDS],
    pub walled: [bool; KINDS],
    /// Pieces along y, of the kind that has most.
    pub pieces: u32,
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

    /// The slowest row pair of both strips of a block.
    fn column(&self, shape: &Shape, number: usize) -> Column {
        let [nx, _] = self.size;
        let (core, columns) = (shape.core() as usize, shape.columns as usize);
        let halo = (32 * columns - core) / 2;
        let strips = [2 * number, 2 * number + 1]
            .into_iter()
            .filter(|strip| strip * core < nx);
        let cost = strips.map(|strip| {
            let low = (strip * core) as i64 - halo as i64;
            let reach = [low, low + 32 * columns as i64];
            let ragged = !nx.is_multiple_of(columns) && !self.periodic[0] && reach[1] > nx as i64;
            let walled = self
                .walls
                .is_some_and(|map| (0..self.pairs()).any(|pair| self.has_wall(map, reach, pair)));
            let regions = self.regions.iter().filter(|region| {
                let own = [strip * core, (strip + 1) * core];
                region.lo[0] < own[1] && region.hi[0] > own[0]
            });
            let body = if ragged || walled { MASKED } else { 1.0 };
            // A single step is bound by memory.
            let body = if shape.steps == 1 { body.sqrt() } else { body };
            (body + SUMMED * regions.count() as f64, walled)
        });
        cost.fold(
            Column {
                cost: 1.0,
                walled: false,
            },
            |column, (cost, walled)| Column {
                cost: column.cost.max(cost),
                walled: column.walled || walled,
            },
        )
    }

    /// The cut for a device that holds `blocks` blocks at once; `planes` share it.
    pub(super) fn cut(&self, shape: &Shape, blocks: usize, planes: usize) -> Cut {
        let count = self.size[0].div_ceil(2 * shape.core() as usize);
        let columns: Vec<Column> = (0..count).into_par_iter().map(|n| self.column(shape, n)).collect();
        let mut order: Vec<usize> = (0..count).collect();
        let weight = |column: &Column| (column.cost, column.walled);
        order.sort_by(|a, b| {
            weight(&columns[*b])
                .partial_cmp(&weight(&columns[*a]))
                .unwrap_or(Ordering::Equal)
        });
        // The first of each kind; those with most strips of their own cost stay, whatever is over joins the kind before, whose pieces are shorter.
        let mut firsts = vec![0];
        for (n, two) in order.windows(2).enumerate() {
            if firsts.len() < KINDS && weight(&columns[two[0]]) != weight(&columns[two[1]]) {
                firsts.push(n + 1);
            }
        }
        let ends = firsts[1..].iter().copied().chain([count]);
        let kinds: Vec<(usize, usize, Column)> = (firsts.iter().zip(ends))
            .map(|(first, end)| {
                let walled = order[*first..end].iter().any(|n| columns[*n].walled);
                let cost = columns[order[*first]].cost;
                (*first, end - first, Column { cost, walled })
            })
            .collect();
        let (pairs, steps) = (self.pairs(), shape.steps as usize);
        let blocks = (blocks / planes.max(1)).max(count);
        // One step is bound by memory: several pieces one after the other even out what single ones wait for.
        let (blocks, least) = if steps == 1 {
            (4 * blocks, SHORT.min(pairs.div_ceil((blocks / count).max(1))))
        } else {
            (blocks, steps)
        };
        // Row pairs of a piece that takes as long as `time` plain ones, with what it steps at both ends for others' sake.
        let chunk = |cost: f64, time: f64| {
            ((time / cost) as usize)
                .saturating_sub(2 * steps)
                .clamp(least, pairs.max(least))
        };
        let number = |time: f64| -> usize {
            let of_kind =
                |(_, count, column): &(usize, usize, Column)| count * pairs.div_ceil(chunk(column.cost, time));
            kinds.iter().map(of_kind).sum()
        };
        let most = kinds[0].2.cost * (pairs + 2 * steps + 1) as f64;
        let (mut low, mut high) = (0.0, most);
        for _ in 0..32 {
            let middle = f64::midpoint(low, high);
            if number(middle) <= blocks {
                high = middle;
            } else {
                low = middle;
            }
        }
        let mut cut = Cut {
            order: order.into_iter().map(whole).collect(),
            from: [i32::MAX; KINDS],
            chunk: [0; KINDS],
            walled: [false; KINDS],
            pieces: 1,
        };
        for (kind, (first, _, column)) in kinds.iter().enumerate() {
            // As few as there must be, equally long.
            let number = pairs.div_ceil(chunk(column.cost, high));
            let chunk = pairs.div_ceil(number).max(1);
            (cut.from[kind], cut.chunk[kind], cut.walled[kind]) = (whole(*first), whole(chunk), column.walled);
            cut.pieces = cut.pieces.max(u32::try_from(pairs.div_ceil(chunk)).unwrap_or(u32::MAX));
        }
        cut
    }
}

/// A cut, the order of strips on the device.
pub(super) struct Pieces {
    pub cut: Cut,
    order: Buffer<i32>,
}

impl Pieces {
    pub(super) fn new(stream: &Stream, cut: Cut) -> Result<Self, CudaError> {
        let order = stream.zeros("order of strips", cut.order.len())?;
        stream.upload("order of strips", &cut.order, &order)?;
        Ok(Self { cut, order })
    }

    pub(super) fn order(&self) -> u64 {
        self.order.address()
    }

    /// Whether walls are near, a bit a kind.
    pub(super) fn walled(&self) -> i32 {
        let bits = self.cut.walled.iter().enumerate();
        bits.map(|(kind, walled)| i32::from(*walled) << kind).sum()
    }

    /// Blocks of two warps along x and y.
    pub(super) fn blocks(&self) -> [u32; 2] {
        [u32::try_from(self.cut.order.len()).unwrap_or(u32::MAX), self.cut.pieces]
    }
}

#[cfg(test)]
mod tests {
    use super::super::sources::{Flags, shapes};
    use super::*;
    use crate::field::Precision;

    fn plane(walls: Option<&WallMap>) -> Plane<'_> {
        Plane {
            size: [1000, 2001],
            periodic: [false, false],
            walls,
            regions: &[],
        }
    }

    fn wall_at(x: usize) -> WallMap {
        let mut walls = vec![false; 1000 * 2001];
        for row in walls.chunks_exact_mut(1000) {
            row[x] = true;
        }
        WallMap::new(1000, &walls)
    }

    /// The kind of a block, as the kernel finds it.
    fn kind(cut: &Cut, block: usize) -> usize {
        (1..KINDS)
            .filter(|kind| whole(block) >= cut.from[*kind])
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn pieces_cover_the_plane_and_take_equally_long() {
        let map = wall_at(500);
        for precision in [Precision::Single, Precision::Double] {
            for shape in shapes(precision, Flags::default()) {
                for walls in [None, Some(&map)] {
                    let plane = plane(walls);
                    let cut = plane.cut(&shape, 200, 1);
                    let mut strips = cut.order.clone();
                    strips.sort_unstable();
                    let count = 1000_usize.div_ceil(2 * shape.core() as usize);
                    assert_eq!(strips, (0..whole(count)).collect::<Vec<_>>());
                    let (mut number, mut longest, mut mean) = (0, 0.0_f64, 0.0);
                    for block in 0..count {
                        let kind = kind(&cut, block);
                        let column = plane.column(&shape, usize::try_from(cut.order[block]).unwrap());
                        assert_eq!(cut.walled[kind], column.walled, "{}", shape.source.name);
                        let pieces = (plane.pairs() as i32 + cut.chunk[kind] - 1) / cut.chunk[kind];
                        assert!(pieces as u32 <= cut.pieces);
                        let time = column.cost * f64::from(cut.chunk[kind] + 2 * shape.steps as i32);
                        number += pieces;
                        longest = longest.max(time);
                        mean += time * f64::from(pieces);
                    }
                    assert!(shape.steps == 1 || number <= 200, "{number}");
                    if shape.steps > 1 {
                        let mean = mean / f64::from(number);
                        assert!(longest < 1.15 * mean, "{}: {longest}, {mean}", shape.source.name);
                    }
                }
            }
        }
    }

    #[test]
    fn walls_are_seen_across_a_periodic_edge_and_in_the_halo() {
        let shape = shapes(Precision::Single, Flags::default())[0];
        let map = wall_at(998);
        let closed = plane(Some(&map));
        let ring = Plane {
            periodic: [true, false],
            ..closed
        };
        assert!(!closed.column(&shape, 0).walled && ring.column(&shape, 0).walled);
        let core = 2 * shape.core() as usize;
        assert!(closed.column(&shape, 998 / core).walled);
        assert!(plane(Some(&wall_at(core + 1))).column(&shape, 0).walled);
        assert!(!plane(Some(&wall_at(core + 40))).column(&shape, 0).walled);
    }

    #[test]
    fn strips_that_sum_have_shorter_pieces() {
        let shape = shapes(Precision::Single, Flags::default())[0];
        let region = Region {
            lo: [0, 0, 0],
            hi: [100, 2001, 1],
            across: None,
            energy: false,
        };
        let plane = Plane {
            regions: &[region],
            ..plane(None)
        };
        let cut = plane.cut(&shape, 200, 1);
        assert_eq!((cut.order[0], cut.from[1]), (0, 1));
        assert!(cut.chunk[0] < cut.chunk[1]);
    }

    #[test]
    fn more_kinds_than_a_launch_knows_are_joined() {
        let shape = shapes(Precision::Single, Flags::default())[0];
        let mut regions = Vec::new();
        for n in 0..6 {
            regions.push(Region {
                lo: [0, 0, 0],
                hi: [1000 - 160 * n, 2001, 1],
                across: None,
                energy: false,
            });
        }
        let plane = Plane {
            regions: &regions,
            ..plane(None)
        };
        let cut = plane.cut(&shape, 200, 1);
        assert!(cut.chunk.windows(2).all(|two| two[0] <= two[1]), "{:?}", cut.chunk);
    }

    #[test]
    fn a_small_plane_has_pieces_of_no_fewer_pairs_than_steps() {
        let shape = shapes(Precision::Single, Flags::default())[0];
        let plane = Plane {
            size: [64, 96],
            periodic: [true, true],
            walls: None,
            regions: &[],
        };
        let cut = plane.cut(&shape, 10_000, 1);
        assert_eq!(cut.pieces, 48 / shape.steps);
    }
}

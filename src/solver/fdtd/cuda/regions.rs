//! How blocks cut a plane, and which of them something reaches (`kernels/fdtd_blocks.cuh`).

use super::operations::Operations;
use super::params::{SiteOperation, whole};
use super::sources::Strips;
use super::store::SEGMENT;
use crate::grid::Edge;
use crate::solver::fdtd::lattice::Lattice;
use std::ops::Range;

/// Columns of a block's region.
pub(super) const COLUMNS: usize = 64;
/// Tiles write whole groups of columns.
pub(super) const GROUP: usize = 4;

/// How an axis is cut: parts of the same width from either end but for the outer ones, which hold what lies along an edge, as absorbing layers do, and no more; the
/// last one from the high end may be narrower, and on a short axis the one from the low end is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Division {
    pub sites: usize,
    width: usize,
    /// Sites of the first and the last part.
    pub outer: usize,
    /// Parts that are counted from the low end.
    pub low: usize,
    pub count: usize,
}

impl Division {
    fn new(sites: usize, width: usize, outer: usize) -> Self {
        let parts = |sites: usize| match sites {
            0 => 0,
            sites => 1 + sites.saturating_sub(outer).div_ceil(width),
        };
        let low = parts(sites.div_ceil(2));
        let mut cut = Self {
            sites,
            width,
            outer,
            low,
            count: low,
        };
        cut.count += parts(sites.next_multiple_of(GROUP).saturating_sub(cut.end(low)));
        cut
    }

    /// Sites of so many parts from an end.
    fn end(&self, parts: usize) -> usize {
        match parts {
            0 => 0,
            parts => self.outer + (parts - 1) * self.width,
        }
    }

    /// The part of a site.
    pub(super) fn part(&self, at: usize) -> usize {
        let from_end = |at: usize| match at.checked_sub(self.outer) {
            None => 0,
            Some(beyond) => 1 + beyond / self.width,
        };
        if at < self.end(self.low) {
            from_end(at)
        } else {
            self.count - 1 - from_end(self.sites.next_multiple_of(GROUP) - 1 - at)
        }
    }

    /// The sites of a part.
    fn own(&self, part: usize) -> Range<usize> {
        let whole = self.sites.next_multiple_of(GROUP);
        let own = if part < self.low {
            self.end(part)..self.end(part + 1).min(whole)
        } else {
            let beyond = self.count - 1 - part;
            let start = whole.saturating_sub(self.end(beyond + 1));
            start.max(self.end(self.low))..whole - self.end(beyond)
        };
        own.start..own.end.min(self.sites)
    }

    /// Where in the region of a part, whose own sites have `halo` others on either side up to the edges, a site stands, and whether it is the part's own; a small ring is
    /// seen several times. As `Span` of `kernels/fdtd_blocks.cuh` has it.
    fn positions(&self, part: usize, halo: usize, ring: bool, site: usize) -> Vec<(usize, bool)> {
        let (own, n) = (self.own(part), self.sites);
        let (first, end) = if ring {
            // One turn further on, so that nothing is below 0.
            let turns = halo.next_multiple_of(n);
            (own.start + turns - halo, own.end + turns + halo)
        } else {
            (own.start.saturating_sub(halo), (own.end + halo).min(n))
        };
        let step = if ring { n } else { usize::MAX };
        let nearest = if ring { first + (site + n - first % n) % n } else { site };
        let all = (nearest..end).step_by(step).filter(|at| *at >= first);
        let low = own.start + if ring { halo.next_multiple_of(n) } else { 0 };
        all.map(|at| (at - first, (low..low + own.len()).contains(&at)))
            .collect()
    }

    /// Parts with a site that is at most `reach` away from some of `sites`, around a ring too.
    fn near(&self, sites: Range<usize>, reach: usize, ring: bool) -> Vec<usize> {
        let n = self.sites;
        if ring && sites.len() + 2 * reach >= n {
            return (0..self.count).collect();
        }
        let (first, last) = (sites.start.saturating_sub(reach), (sites.end - 1 + reach).min(n - 1));
        let mut all: Vec<usize> = (self.part(first)..=self.part(last)).collect();
        if ring && sites.start < reach {
            all.extend(self.part(n + sites.start - reach)..self.count);
        }
        if ring && sites.end - 1 + reach >= n {
            all.extend(0..=self.part(sites.end - 1 + reach - n));
        }
        all
    }
}

/// Which blocks there are, and which sites they may not be left to tiles for.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub axes: [Division; 2],
    rings: [bool; 2],
    /// What a pass reaches.
    halo: usize,
}

impl Cut {
    /// Outer parts hold the sites that a pass reaches from absorbing layers of `widths` sites, if they have the room.
    pub(super) fn new(lattice: &Lattice, strips: &Strips, widths: [usize; 2]) -> Self {
        let halo = strips.half * strips.steps;
        let own = [COLUMNS - 2 * halo, strips.rows - 2 * halo];
        let outer = [0, 1].map(|axis| match widths[axis] {
            0 => own[axis],
            width => (width + halo).next_multiple_of(GROUP).min(own[axis]),
        });
        Self {
            axes: [0, 1].map(|axis| Division::new(lattice.size[axis], own[axis], outer[axis])),
            rings: [0, 1].map(|axis| lattice.edges[axis] == Edge::Periodic),
            halo,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.axes[0].count * self.axes[1].count
    }

    /// Sites of a block's region along an axis that is no ring.
    pub(super) fn region(&self, axis: usize, block: usize) -> usize {
        let across = self.axes[0].count;
        let (division, part) = (&self.axes[axis], [block % across, block / across][axis]);
        let own = division.own(part);
        (own.end + self.halo).min(division.sites) - own.start.saturating_sub(self.halo)
    }

    /// Blocks in whose region, which is their own sites and what a pass reaches, one of an axis' sites `is` something, up to edges that are no ring's.
    pub(super) fn with_some(&self, is: impl Fn(usize, usize) -> bool) -> Vec<bool> {
        let parts = [0, 1].map(|axis| {
            let division = &self.axes[axis];
            let has = |part: usize| {
                let own = division.own(part);
                let mut region = own.start.saturating_sub(self.halo)..(own.end + self.halo).min(division.sites);
                region.any(|at| is(axis, at))
            };
            (0..division.count).map(has).collect::<Vec<_>>()
        });
        let across = self.axes[0].count;
        (0..self.count())
            .map(|block| parts[0][block % across] || parts[1][block / across])
            .collect()
    }

    /// Blocks all of whose own sites are `some` of the plane's, which are given row by row.
    pub(super) fn within(&self, some: &[bool]) -> Vec<bool> {
        let [across, along] = &self.axes;
        let mut all = vec![true; self.count()];
        for (row, some) in some.chunks_exact(across.sites).enumerate() {
            let first = along.part(row) * across.count;
            for (at, _) in some.iter().enumerate().filter(|(_, some)| !**some) {
                all[first + across.part(at)] = false;
            }
        }
        all
    }

    /// Marks the blocks that a pass from some sites reaches.
    pub(super) fn mark(&self, taken: &mut [bool], columns: Range<usize>, row: usize) {
        let across = self.axes[0].near(columns, self.halo, self.rings[0]);
        for along in self.axes[1].near(row..row + 1, self.halo, self.rings[1]) {
            for column in &across {
                taken[along * self.axes[0].count + column] = true;
            }
        }
    }

    /// Where each block's operations begin, one more for the end, and the operations block by block.
    pub(super) fn operations(&self, done: &Operations, pitch: usize) -> (Vec<u32>, Vec<u32>) {
        let mut all: Vec<(usize, SiteOperation)> = Vec::new();
        for site in done.by_sites() {
            let at = [site.place as usize % pitch, site.place as usize / pitch];
            let seen = [0, 1].map(|axis| {
                let (division, ring) = (&self.axes[axis], self.rings[axis]);
                let mut parts = division.near(at[axis]..at[axis] + 1, self.halo, ring);
                parts.sort_unstable();
                parts.dedup();
                let positions = |part: usize| division.positions(part, self.halo, ring, at[axis]);
                parts
                    .into_iter()
                    .flat_map(|part| positions(part).into_iter().map(move |position| (part, position)))
                    .collect::<Vec<_>>()
            });
            for (row, (y, own_row)) in &seen[1] {
                for (column, (x, own_column)) in &seen[0] {
                    let mut here = site;
                    here.here = whole(y * COLUMNS + x).unsigned_abs();
                    if !(*own_row && *own_column) {
                        here.gathers = [0; 2];
                    }
                    all.push((row * self.axes[0].count + column, here));
                }
            }
        }
        all.sort_by_key(|(block, _)| *block);
        let mut firsts = vec![0; self.count() + 1];
        for (block, _) in &all {
            firsts[block + 1] += 1;
        }
        for block in 0..self.count() {
            firsts[block + 1] += firsts[block];
        }
        (firsts, all.iter().flat_map(|(_, site)| site.words()).collect())
    }

    /// The blocks around segments of rows; none where `special` is empty.
    pub(super) fn around(&self, special: &[bool], pitch: usize) -> Vec<bool> {
        let (segments, nx) = (pitch / SEGMENT, self.axes[0].sites);
        let columns: Vec<Vec<usize>> = (0..segments)
            .map(|segment| {
                let start = (segment * SEGMENT).min(nx - 1);
                self.axes[0].near(start..(start + SEGMENT).min(nx), self.halo, self.rings[0])
            })
            .collect();
        let mut taken = vec![false; self.count()];
        for (row, special) in special.chunks_exact(segments).enumerate() {
            if !special.contains(&true) {
                continue;
            }
            let rows = self.axes[1].near(row..row + 1, self.halo, self.rings[1]);
            for columns in special
                .iter()
                .zip(&columns)
                .filter_map(|(special, all)| special.then_some(all))
            {
                for along in &rows {
                    for column in columns {
                        taken[along * self.axes[0].count + column] = true;
                    }
                }
            }
        }
        taken
    }

    /// Whether some and whether all of the sites of a rectangle are in blocks that are taken.
    pub(super) fn covers(&self, taken: &[bool], sites: &[Range<usize>; 2]) -> (bool, bool) {
        let parts = [0, 1].map(|axis| {
            let (axis, sites) = (&self.axes[axis], &sites[axis]);
            axis.part(sites.start)..axis.part(sites.end - 1) + 1
        });
        let (mut some, mut all) = (false, true);
        for along in parts[1].clone() {
            for is_taken in &taken[along * self.axes[0].count..][parts[0].clone()] {
                some |= is_taken;
                all &= is_taken;
            }
        }
        (some, all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sources;
    use super::*;
    use crate::field::Precision;
    use crate::grid::Grid;

    fn strips() -> &'static Strips {
        let mut all = sources::TILES.iter();
        all.find(|strips| strips.half == 1 && strips.precision == Precision::Single)
            .unwrap()
    }

    #[test]
    fn every_site_belongs_to_one_part() {
        for sites in [1, 3, 20, 48, 49, 95, 96, 97, 250, 2960] {
            for (width, outer) in [(8, 8), (40, 40), (48, 48), (48, 28), (40, 12)] {
                let cut = Division::new(sites, width, outer);
                let parts: Vec<usize> = (0..sites).map(|at| cut.part(at)).collect();
                assert!(parts.is_sorted_by(|a, b| *b == *a || *b == *a + 1), "{sites} {width}");
                assert_eq!((parts[0], parts[sites - 1]), (0, cut.count - 1));
                for part in 0..cut.count {
                    let own: Vec<usize> = (0..sites).filter(|at| parts[*at] == part).collect();
                    assert!((1..=width).contains(&own.len()));
                    // A short axis may end with a part that is counted from the low end.
                    let at_high_end = part >= cut.low && part + 1 == cut.count;
                    assert!(
                        own.len() <= outer || !(part == 0 || at_high_end),
                        "{sites} {width} {outer}"
                    );
                    assert_eq!(own[0] % GROUP, 0, "groups of columns are cut");
                }
            }
        }
    }

    /// A block finds a site where its region has it, as often as it has it, and as its own in one block alone.
    #[test]
    fn blocks_find_sites_in_their_regions() {
        let all = [
            (250, 40, 40, 12),
            (251, 48, 28, 8),
            (97, 48, 48, 8),
            (97, 48, 32, 8),
            (20, 48, 48, 8),
            (20, 48, 12, 8),
            (5, 48, 48, 8),
            (3, 40, 40, 12),
        ];
        for (sites, width, outer, halo) in all {
            let cut = Division::new(sites, width, outer);
            for ring in [false, true] {
                for site in 0..sites {
                    let mut own = 0;
                    for part in 0..cut.count {
                        // What the kernel does (`Span`, `in_ring`).
                        let range = cut.own(part);
                        let (start, end) = (whole(range.start) - whole(halo), whole(range.end) + whole(halo));
                        let first = if ring { start } else { start.max(0) };
                        let end = if ring { end } else { end.min(whole(sites)) };
                        let wanted: Vec<(usize, bool)> = (first..end)
                            .filter(|at| at.rem_euclid(whole(sites)) == whole(site))
                            .map(|at| {
                                let own = (whole(range.start)..whole(range.end)).contains(&at);
                                ((at - first).unsigned_abs() as usize, own)
                            })
                            .collect();
                        let found = cut.positions(part, halo, ring, site);
                        assert_eq!(found, wanted, "{sites} {width} {ring} {site} {part}");
                        assert_eq!(cut.near(site..site + 1, halo, ring).contains(&part), !found.is_empty());
                        own += found.iter().filter(|(_, own)| *own).count();
                        assert!(range.clone().all(|at| cut.part(at) == part));
                    }
                    assert_eq!(own, 1, "{sites} {width} {site}");
                }
            }
        }
    }

    #[test]
    fn blocks_know_what_they_reach_and_what_fills_them() {
        let strips = strips();
        let cut = Cut::new(&Lattice::new(&Grid::new(&[200, 150], 1.0), 1), strips, [0, 20]);
        let (halo, [across, along]) = (cut.halo, cut.axes);
        let reached = cut.with_some(|axis, at| axis == 1 && at == 60);
        let walls: Vec<bool> = (0..200 * 150)
            .map(|site| (50..170).contains(&(site % 200)) && site / 200 < 100)
            .collect();
        let within = cut.within(&walls);
        for block in 0..cut.count() {
            let own = [across.own(block % across.count), along.own(block / across.count)];
            assert_eq!(
                reached[block],
                own[1].start <= 60 + halo && 60 < own[1].end + halo,
                "{own:?}"
            );
            let inside = own[0].start >= 50 && own[0].end <= 170 && own[1].end <= 100;
            assert_eq!(within[block], inside, "{own:?}");
        }
        assert!(within.contains(&true) && within.contains(&false) && reached.contains(&false));
    }

    /// Whatever lies as near to a site that is more than plain as a pass reaches is in a block that is taken.
    #[test]
    fn what_a_pass_reaches_is_taken() {
        let strips = strips();
        let (size, pitch) = ([1000, 300], 1024);
        for edge in [Edge::Wall, Edge::Periodic] {
            let grid = Grid::new(&size, 1.0).with_edges([edge; 3], 0);
            let cut = Cut::new(&Lattice::new(&grid, 1), strips, [0; 2]);
            for (segment, row) in [(11, 150), (0, 0), (31, 299)] {
                let mut special = vec![false; pitch / SEGMENT * size[1]];
                special[row * pitch / SEGMENT + segment] = true;
                let taken = cut.around(&special, pitch);
                let mut free = 0;
                let away = |axis: usize, at: usize, from: usize| {
                    let straight = at.abs_diff(from);
                    if cut.rings[axis] {
                        straight.min(size[axis] - straight)
                    } else {
                        straight
                    }
                };
                for y in 0..size[1] {
                    for x in 0..size[0] {
                        let sites = segment * SEGMENT..((segment + 1) * SEGMENT).min(size[0]);
                        let across = sites.map(|site| away(0, x, site)).min().unwrap();
                        let near = across.max(away(1, y, row)) <= cut.halo;
                        let (_, all) = cut.covers(&taken, &[x..x + 1, y..y + 1]);
                        assert!(all || !near, "{edge:?} {segment} {row}: {x} {y}");
                        free += usize::from(!all);
                    }
                }
                assert!(free > size[0] * size[1] / 2);
            }
            assert!(
                !cut.around(&vec![false; pitch / SEGMENT * size[1]], pitch)
                    .contains(&true)
            );
        }
    }
}

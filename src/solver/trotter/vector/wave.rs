//! Several passes over bands of rows or planes that stay in cache (split tiling: T. Grosser et al. 2013, doi:10.1145/2458523.2458526).
//!
//! A unit of a pass can be taken as soon as the rows that it joins have had the pass before. The grid is cut into bands. In each of them the passes follow each other over what
//! does not depend on its neighbours, which shrinks by a row at each end with every pass. The triangle of rows and passes between two bands follows when both are done. Each bond is
//! turned once in each pass, by the operations of the pass, in place: the bits are those of passes one by one.
//!
//! Bytes: field, phases and couplings are read and written once a wave and not once a pass. Threads wait for one another twice a wave.

use super::layout::Layout;
use super::order::{Ends, between, inside, within};
use super::pass::{FEWEST_SITES, Item, Pass, take};
use crate::backend::simd::{Level, Vectors};
use crate::backend::threads;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of the rows, or planes, between the first pass and the last that should stay in a core's cache.
const CACHE: [usize; 2] = [512 << 10, 1280 << 10];
/// Bytes of a thread's part of a grid from which on memory bounds passes one by one. Tests go through bands on small grids as well.
const LARGE: usize = if cfg!(test) { 0 } else { 4 << 20 };
/// Passes below which a wave over rows, or planes, is not worth its triangles.
const FEWEST: [usize; 2] = [4, 2];
/// Rows or planes of a band, for each pass.
const LENGTH: usize = 4;

/// Passes of a wave over lines (rows, or planes) of `bytes` each; 1 where passes go one by one.
pub(super) fn depth(layout: &Layout, bytes_of_site: usize) -> usize {
    let planes = layout.planes() > 1;
    let lines = if planes { layout.planes() } else { layout.rows() };
    let bytes = bytes_of_site * layout.width() * if planes { layout.rows_of_plane() } else { 1 };
    if lines * bytes < LARGE * threads::count() {
        return 1;
    }
    // Each thread has a band, of twice as many lines as its passes take away at both ends.
    let (cache, fewest) = (CACHE[usize::from(planes)], FEWEST[usize::from(planes)]);
    let fits = (cache / bytes.max(1)).min(lines / threads::count() / LENGTH);
    if fits < fewest { 1 } else { fits }
}

/// Passes over a field, one after the other.
pub(super) struct Wave<'a, T> {
    passes: Vec<Pass<'a, T>>,
    /// The lines of their units.
    lines: Vec<Vec<Ends>>,
    /// Of every band, the units of each pass that need nothing of another one.
    bands: Vec<Vec<Range<usize>>>,
}

impl<'a, T: Vectors> Wave<'a, T> {
    /// Some passes.
    pub(super) fn new(passes: Vec<Pass<'a, T>>) -> Self {
        let ends = |pass: &Pass<'a, T>| (0..pass.units()).map(|unit| ends(pass, unit)).collect();
        let lines = if passes.len() > 1 {
            passes.iter().map(ends).collect()
        } else {
            Vec::new()
        };
        let bands = bands(&passes, &lines).unwrap_or_default();
        Self { passes, lines, bands }
    }

    /// Takes all of them: one by one where they have no bands.
    pub(super) fn run(&self, level: Level) {
        match self.bands.len() {
            0 => self.passes.iter().for_each(|pass| pass.run(level)),
            count => {
                let bands = || (0..count).into_par_iter().with_max_len(1);
                bands().for_each(|band| self.take(&within(&self.lines, &self.bands[band]), level));
                bands().for_each(|band| self.take(&between(&self.lines, &self.bands, band), level));
            }
        }
    }

    /// Takes units of passes.
    fn take(&self, units: &[[usize; 2]], level: Level) {
        let items: Vec<Item> = units.iter().map(|[pass, unit]| Item::new(*pass, *unit)).collect();
        take(&self.passes, &items, level);
    }
}

/// The lines that a unit begins and ends with.
fn ends<T: Vectors>(pass: &Pass<'_, T>, unit: usize) -> Ends {
    let [lower, upper] = pass.members(unit);
    let first = lower.or(upper).unwrap_or(0);
    [first, upper.unwrap_or(first)]
}

/// Bands for some passes over units of these lines, the units of each pass in every one; `None` for a single pass, and where units are not whole rows or planes.
fn bands<T: Vectors>(passes: &[Pass<'_, T>], units: &[Vec<Ends>]) -> Option<Vec<Vec<Range<usize>>>> {
    if passes.len() < 2 {
        return None;
    }
    let lines = passes.iter().try_fold(0, |_, pass| pass.lines())?;
    let work: usize = passes.iter().map(Pass::work).sum();
    let most = (lines / (LENGTH * passes.len())).min(4 * threads::count());
    let count = (work / FEWEST_SITES).min(most).max(1);
    // Bands begin at even lines.
    let start = |band: usize| band * (lines / 2) / count * 2;
    (0..count)
        .map(|band| {
            let end = if band + 1 < count { start(band + 1) } else { lines };
            inside(units, start(band)..end)
        })
        .collect()
}

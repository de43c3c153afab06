//! Orders in which units of lines (rows, or planes) are taken by passes that follow each other.
//!
//! A unit of a pass can be taken as soon as the lines that it joins have had the pass before. Taken as early as that, few lines lie between the first pass and the last, and stay in
//! cache.

use std::ops::Range;

/// The first and the last line of a unit: a last one below the first is joined across the grid's edge.
pub(super) type Ends = [usize; 2];

/// The units of every pass that find their lines in a band, and there behind the pass before; `None` if one finds nothing.
pub(super) fn inside(passes: &[Vec<Ends>], band: Range<usize>) -> Option<Vec<Range<usize>>> {
    let mut ready = band;
    let mut all = Vec::with_capacity(passes.len());
    for units in passes {
        let is_within = |unit: usize| {
            let [first, last] = units[unit];
            first <= last && ready.contains(&first) && ready.contains(&last)
        };
        // Units follow their lines, but for one that joins the last line with the first, and have one line or two.
        let near = (ready.start / 2).saturating_sub(1)..ready.end.min(units.len());
        let mut own = near
            .skip_while(|unit| !is_within(*unit))
            .take_while(|unit| is_within(*unit));
        let first = own.next();
        let last = own.last().or(first);
        let (first, last) = (first?, last?);
        ready = units[first][0]..units[last][1] + 1;
        all.push(first..last + 1);
    }
    Some(all)
}

/// What passes do within a band, as pass and unit, in an order in which few lines lie between the first of them and the last.
pub(super) fn within(passes: &[Vec<Ends>], own: &[Range<usize>]) -> Vec<[usize; 2]> {
    let mut items = Vec::with_capacity(own.iter().map(Range::len).sum());
    let mut next: Vec<usize> = own.iter().map(|units| units.start).collect();
    // The first line that a pass has not had yet.
    let mut had = vec![0; passes.len()];
    for lead in own[0].clone() {
        items.push([0, lead]);
        had[0] = passes[0][lead][1] + 1;
        for n in 1..passes.len() {
            while next[n] < own[n].end && passes[n][next[n]][1] < had[n - 1] {
                items.push([n, next[n]]);
                had[n] = passes[n][next[n]][1] + 1;
                next[n] += 1;
            }
        }
    }
    items
}

/// What they do between a band and the next, behind the last one also before the first.
pub(super) fn between(passes: &[Vec<Ends>], bands: &[Vec<Range<usize>>], band: usize) -> Vec<[usize; 2]> {
    let mut items = Vec::new();
    for (n, units) in passes.iter().enumerate() {
        let start = bands[band][n].end;
        let (end, first) = match bands.get(band + 1) {
            Some(after) => (after[n].start, 0),
            None => (units.len(), bands[0][n].start),
        };
        items.extend((start..end).chain(0..first).map(|unit| [n, unit]));
    }
    items
}

/// All that passes do over some lines, in such an order.
pub(super) fn whole(passes: &[Vec<Ends>], lines: usize) -> Vec<[usize; 2]> {
    match inside(passes, 0..lines) {
        Some(own) => {
            let after = between(passes, std::slice::from_ref(&own), 0);
            within(passes, &own).into_iter().chain(after).collect()
        }
        None => (passes.iter().enumerate())
            .flat_map(|(pass, units)| (0..units.len()).map(move |unit| [pass, unit]))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units of lines: 0 one by one, 1 even pairs, 2 odd ones, 3 odd ones of a ring.
    fn units(kind: usize, lines: usize) -> Vec<Ends> {
        match kind {
            0 => (0..lines).map(|line| [line; 2]).collect(),
            1 => (0..lines)
                .step_by(2)
                .map(|line| [line, (line + 1).min(lines - 1)])
                .collect(),
            2 => (0..=lines / 2)
                .map(|unit| [(2 * unit).saturating_sub(1), (2 * unit).min(lines - 1)])
                .collect(),
            _ => (0..lines / 2)
                .map(|unit| [2 * unit + 1, (2 * unit + 2) % lines])
                .collect(),
        }
    }

    #[test]
    fn every_line_has_its_passes_one_after_the_other() {
        for lines in [2, 4, 6, 10, 24] {
            for kinds in [
                &[1, 2, 0, 2, 1][..],
                &[1, 3, 0, 3, 1, 0],
                &[0, 3, 1],
                &[3],
                &[3, 1, 3, 1, 3, 1, 3],
            ] {
                let passes: Vec<_> = kinds.iter().map(|kind| units(*kind, lines)).collect();
                let mut had = vec![0; lines];
                let order = whole(&passes, lines);
                for [pass, unit] in &order {
                    let [first, last] = passes[*pass][*unit];
                    had[first] += 1;
                    assert_eq!(had[first], pass + 1, "{lines} lines, {kinds:?}: line {first}");
                    if last != first {
                        had[last] += 1;
                        assert_eq!(had[last], pass + 1, "{lines} lines, {kinds:?}: line {last}");
                    }
                }
                assert_eq!(had, vec![kinds.len(); lines], "{lines} lines, {kinds:?}");
            }
        }
    }

    #[test]
    fn few_lines_lie_between_the_first_pass_and_the_last() {
        let passes: Vec<_> = [1, 2, 0, 2, 1].iter().map(|kind| units(*kind, 100)).collect();
        let mut newest = 0;
        for [pass, unit] in whole(&passes, 100) {
            let [first, last] = passes[pass][unit];
            newest = newest.max(last);
            assert!(newest - first <= 6, "line {first} after {newest}");
        }
    }
}

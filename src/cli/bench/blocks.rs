//! `ripplon bench --blocks-plot`: the time per step of the N-shaped partition against the number of blocks, as in its authors' figure of the optimum.

use super::{BenchArgs, Bounds, Chart, InputError, Series, Size, bench, keep};
use crate::backend::machine::processor_name;
use crate::backend::threads;
use crate::cli::terminal::say;
use crate::export::{self, About};
use crate::field::Precision;
use crate::solver::{Backend, crank_nicolson};
use crate::units::si;
use std::path::Path;

/// The authors' line: 3·10⁵ rows.
const ROWS: usize = 300_000;

/// Measures and draws.
pub(super) fn run(args: &BenchArgs, path: &Path) -> anyhow::Result<()> {
    let rows = match args.size.as_slice() {
        [] => ROWS,
        [Size(size)] if size.len() == 1 && size[0] >= 64 => size[0],
        _ => {
            return Err(
                InputError("--blocks-plot: one line of at least 64 rows, e.g. --size 300000".to_owned()).into(),
            );
        }
    };
    let mut cases = bench::cases(2, |backend| backend == Backend::Cpu);
    cases.retain(|case| case.backend == Backend::Cpu && case.takes("blocks"));
    keep(&mut cases, "--precision", args.precision.as_ref(), |case| {
        case.precision.as_str()
    })?;
    let Some(case) = cases.first() else {
        return Err(InputError("--blocks-plot: no method has blocks".to_owned()).into());
    };
    let seconds = if args.quick { 0.2 } else { 0.6 };
    let nothing = Bounds {
        copy: f64::INFINITY,
        fma: f64::INFINITY,
    };
    let mut series = Vec::new();
    let mut marks: Vec<(f64, String)> = Vec::new();
    let all = candidates(rows);
    for level in 1..=3u32 {
        let predicted = crank_nicolson::optimal_blocks(case.precision, rows, level);
        let power = ["1/2", "2/3", "3/4"][level as usize - 1];
        marks.push((predicted, format!("δn^{power}: {predicted:.0}")));
        say!("levels = {level}, predicted optimum: {predicted:.0} blocks");
        let mut points = Vec::new();
        for &blocks in &all {
            let extra = format!("blocks = {blocks}\nlevels = {level}\n");
            let (entry, _) = bench::measure(case, &[rows], &extra, seconds, nothing, false)?;
            #[expect(clippy::cast_precision_loss, reason = "counts of rows")]
            let (across, step) = (blocks as f64, rows as f64 / entry.max);
            say!("{blocks:>10} blocks {:>10}s a step", si(step));
            points.push((across, step));
        }
        series.push(Series {
            label: if level == 1 {
                "1 level".to_owned()
            } else {
                format!("{level} levels")
            },
            points,
            broken: false,
        });
    }
    // The predictions, then the ends of the axis, where these leave them room.
    for blocks in [all.first(), all.last()].into_iter().flatten() {
        #[expect(clippy::cast_precision_loss, reason = "counts of rows")]
        marks.push((*blocks as f64, blocks.to_string()));
    }
    let word = match case.precision {
        Precision::Single => "single",
        Precision::Double => "double",
    };
    let title = format!("A step of {rows} rows against the number of blocks, {word} precision");
    let chart = Chart {
        title: title.clone(),
        subtitle: format!(
            "{}, {} threads; best of seven repetitions; below: predicted optima",
            processor_name(),
            threads::count()
        ),
        marks,
        along: "blocks".to_owned(),
        up: "seconds a step".to_owned(),
        series,
    };
    let about = About {
        title,
        comment: processor_name(),
        scene: None,
    };
    export::png::save(path, &chart.draw(1360, 760), &about)?;
    Ok(())
}

/// Powers of two from 16 blocks to blocks of four rows.
fn candidates(rows: usize) -> Vec<usize> {
    (4..usize::BITS)
        .map(|power| 1usize << power)
        .take_while(|blocks| *blocks <= rows / 4)
        .collect()
}

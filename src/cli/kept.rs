//! The parts of the tables of `ripplon run` that stay in memory.

use super::outputs::Outputs;
use super::run::RunArgs;
use super::terminal::tell;
use crate::engine::log::Row;
use crate::engine::{Engine, path_bytes, record_bytes, records_of};
use crate::{solver, units};

/// Warns of tables that do not fit into memory until the end; what no checkpoint, spectrum or sound needs is written to the disk as it comes.
pub(super) fn note(args: &RunArgs, engine: &Engine, total: u64) {
    let kept = tables(args, engine, total);
    let needed = kept.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let Some(free) = solver::free_memory().filter(|free| needed > *free) else {
        return;
    };
    let parts: Vec<String> = (kept.iter())
        .map(|(what, bytes)| format!("{what} {}", units::bytes(*bytes)))
        .collect();
    tell!(
        "note: {total} steps keep {} in memory ({}), and {} are free; without --checkpoint, --spectra and --wav tables need not stay in memory",
        units::bytes(needed),
        parts.join(", "),
        units::bytes(free)
    );
}

/// The tables that stay in memory until the end of a run of `total` more steps, with their bytes.
fn tables(args: &RunArgs, engine: &Engine, total: u64) -> Vec<(&'static str, u64)> {
    let scenario = engine.scenario();
    let rows_of = |known: usize, every: u64| (known as u64).saturating_add(total / every);
    let detectors = if Outputs::keeps_records(args) {
        let all = scenario.detectors();
        let records = (engine.taps().times().len() as u64).saturating_add(records_of(all, total));
        record_bytes(all.len() as u64, records)
    } else {
        0
    };
    // A checkpoint holds the rows that were written.
    let checkpoint = args.checkpoint.is_some();
    let paths = if checkpoint && args.trajectories.is_some() {
        path_bytes(
            scenario.trajectories().len() as u64,
            rows_of(engine.paths().times().len(), 1),
        )
    } else {
        0
    };
    let rows = match engine.log().filter(|_| checkpoint) {
        Some(log) => rows_of(log.rows.len(), log.every).saturating_mul(size_of::<Row>() as u64),
        None => 0,
    };
    let all = [
        ("records of detectors", detectors),
        ("trajectories", paths),
        ("observables", rows),
    ];
    all.into_iter().filter(|(_, bytes)| *bytes > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use std::sync::Arc;

    /// Two detectors, which record at every fourth and every fifth step, three trajectories and rows of every tenth of 10⁹ steps, beside those of t = 0: what a checkpoint, a spectrum and a sound keep, and nothing else.
    #[test]
    fn checkpoints_keep_all_tables_in_memory() {
        let text = "format = 1\n[grid]\nsize = [8]\nspacing = 1.0\n[quantum]\n[time]\nstep = 0.1\n[[packet]]\ncenter = [3.0]\nwidth = 1.0\n[[detector]]\nname = \"a\"\nevery = 4\n[[detector]]\nname = \"b\"\nevery = 5\n\
            [[trajectory]]\nname = \"p\"\nfrom = [2.0]\nto = [4.0]\ncount = 3\n";
        let steps = 1_000_000_000;
        let records = ("records of detectors", 3 * 8 * (steps / 4 + steps / 5 + 1));
        let paths = ("trajectories", (3 * 3 + 1) * 8 * (steps + 1));
        let rows = ("observables", (steps / 10 + 1) * size_of::<Row>() as u64);
        for (options, expected) in [
            ("--detectors d.csv --trajectories t.csv --observables o.csv", vec![]),
            (
                "--spectra s.csv --trajectories t.csv --observables o.csv",
                vec![records],
            ),
            ("--checkpoint c --observables o.csv", vec![records, rows]),
            ("--checkpoint c --trajectories t.csv", vec![records, paths]),
            (
                "--checkpoint c --trajectories t.csv --observables o.csv",
                vec![records, paths, rows],
            ),
        ] {
            let line = format!("ripplon run s.toml {options}");
            let Some(Command::Run(args)) = Cli::try_parse_from(line.split_whitespace()).unwrap().command else {
                panic!("{line}");
            };
            let (_, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
            let mut engine = Engine::new(Arc::new(scenario)).unwrap();
            if args.observables.is_some() {
                engine.keep_observables(10).unwrap();
            }
            assert_eq!(tables(&args, &engine, steps), expected, "{options}");
        }
    }
}
